/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Implements the hash table: a power of two of chains, at least as many as nodes. */
#include <stdlib.h>

#include "lib/base/alloc.h"
#include "sim/host/table.h"

#define CHAINS_MIN 64

void table_init(struct table *t)
{
	t->chains = xcalloc(CHAINS_MIN, sizeof(*t->chains));
	t->mask = CHAINS_MIN - 1;
	t->n = 0;
}

void table_free(struct table *t)
{
	free(t->chains);
	t->chains = NULL;
}

static void put(struct table *t, struct node *node)
{
	struct node **chain = &t->chains[node->key & t->mask];

	node->next = *chain;
	*chain = node;
}

static void grow(struct table *t)
{
	struct node **old = t->chains;
	uint32_t n = t->mask + 1;

	t->chains = xcalloc(2 * (size_t)n, sizeof(*t->chains));
	t->mask = 2 * n - 1;
	for (uint32_t i = 0; i < n; i++)
		for (struct node *node = old[i], *next; node; node = next) {
			next = node->next;
			put(t, node);
		}
	free(old);
}

void table_add(struct table *t, struct node *node, uint64_t key)
{
	if (t->n++ > t->mask)
		grow(t);
	node->key = key;
	put(t, node);
}

void table_remove(struct table *t, struct node *node)
{
	struct node **at = &t->chains[node->key & t->mask];

	while (*at != node)
		at = &(*at)->next;
	*at = node->next;
	t->n--;
}

static struct node *same_key(struct node *node, uint64_t key)
{
	while (node && node->key != key)
		node = node->next;
	return node;
}

struct node *table_find(const struct table *t, uint64_t key)
{
	return same_key(t->chains[key & t->mask], key);
}

struct node *node_next(const struct node *node)
{
	return same_key(node->next, node->key);
}
