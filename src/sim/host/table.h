/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Two intrusive containers, a list and a hash table of chains.
 *
 * Adding and removing need no memory and no search.
 */
#ifndef QOSD_SIM_HOST_TABLE_H
#define QOSD_SIM_HOST_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The struct that has `ptr` as its member. */
#define container_of(ptr, type, member) ((type *)(void *)((char *)(ptr) - offsetof(type, member)))

/* A link in a list; alone, it points to itself.  A list's head is a link, too. */
struct link {
	struct link *next, *prev;
};

static inline void link_init(struct link *l)
{
	l->next = l->prev = l;
}

static inline bool link_alone(const struct link *l)
{
	return l->next == l;
}

static inline void link_append(struct link *head, struct link *l)
{
	l->next = head;
	l->prev = head->prev;
	head->prev->next = l;
	head->prev = l;
}

static inline void link_remove(struct link *l)
{
	l->prev->next = l->next;
	l->next->prev = l->prev;
	link_init(l);
}

/* key is a hash already; different nodes may have the same key. */
struct node {
	struct node *next;
	uint64_t key;
};

struct table {
	struct node **chains;
	uint32_t mask, n;
};

void table_init(struct table *t);
void table_free(struct table *t);	/* frees the chains; the caller owns the nodes */
void table_add(struct table *t, struct node *node, uint64_t key);
void table_remove(struct table *t, struct node *node);
/* The first node with the key, and the next one after a node; NULL at the end. */
struct node *table_find(const struct table *t, uint64_t key);
struct node *node_next(const struct node *node);

#endif
