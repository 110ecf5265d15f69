/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Finds ports by NodeDescription and host name; host_names.h has the contracts. */
#include "fabric/host_names.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/spelling.h"

size_t fabric_host_length(const char *name)
{
	return strcspn(name, " /");
}

static bool is_host(const struct fabric_node *n)
{
	return n->type != IB_NODE_SWITCH_T && !n->aggregation;
}

static bool has_host_name(const struct fabric_node *n, const char *desc, const char *name, size_t length)
{
	return is_host(n) && fabric_host_length(desc) == length && !memcmp(desc, name, length);
}

/* --- one port --- */

/* Records the end ports of a node; sets *ambiguous if there are several in all. */
static void take_ends(const struct fabric *f, uint32_t node, uint32_t *found, bool *ambiguous)
{
	const struct fabric_node *n = &f->nodes[node];

	for (uint32_t port = n->port0; port <= n->port0 + n->nports; port++) {
		if (!port_is_end(f, port))
			continue;
		*ambiguous |= *found != FABRIC_NONE;
		*found = port;
	}
}

/* By names of the map or, for those that have none, by NodeDescription; with_map false: by NodeDescription. */
static uint32_t find_port(const struct fabric *f, const char *name, bool with_map, bool *ambiguous)
{
	size_t length = strlen(name);
	uint32_t found = FABRIC_NONE;

	*ambiguous = false;
	for (uint32_t i = 0; length && i < f->n_nodes; i++)
		if (!strcmp(with_map ? fabric_node_desc(f, &f->nodes[i]) : f->nodes[i].desc, name))
			take_ends(f, i, &found, ambiguous);
	if (found != FABRIC_NONE)
		return *ambiguous ? FABRIC_NONE : found;
	for (uint32_t i = 0; length && i < f->n_nodes; i++)
		if (has_host_name(&f->nodes[i], with_map ? fabric_node_desc(f, &f->nodes[i]) : f->nodes[i].desc,
				  name, length))
			take_ends(f, i, &found, ambiguous);
	return *ambiguous ? FABRIC_NONE : found;
}

uint32_t fabric_find_port_by_host(const struct fabric *f, const char *name, bool *ambiguous)
{
	uint32_t found = find_port(f, name, true, ambiguous);

	return found == FABRIC_NONE && !*ambiguous && f->names ? find_port(f, name, false, ambiguous) : found;
}

/* --- the name that may be meant --- */

/* Compares n bytes of a node's description with a name; keeps the closest in best. */
static void compare(const char *desc, size_t n, const char *name, unsigned *least, char *best)
{
	char text[sizeof(((struct fabric_node *)0)->desc)];
	unsigned mistakes;

	memcpy(text, desc, n);
	text[n] = '\0';
	mistakes = spelling_mistakes(text, name);
	if (mistakes >= *least)
		return;
	*least = mistakes;
	strcpy(best, text);
}

bool fabric_put_meant(const struct fabric *f, const char *name, struct buf *out)
{
	char best[sizeof(f->nodes->desc)] = "", *node;
	const char *slash = strrchr(name, '/');
	unsigned least = SPELLING_MAX + 1;

	/* the names of ports are right or wrong; only the node's may be mistyped */
	if (slash && (slash[1] != 'P' || !slash[2]))
		slash = NULL;
	node = xstrndup(name, slash ? (size_t)(slash - name) : strlen(name));
	for (uint32_t i = 0; i < f->n_nodes; i++) {
		const struct fabric_node *n = &f->nodes[i];
		const char *desc = fabric_node_desc(f, n);

		compare(desc, strlen(desc), node, &least, best);
		if (!slash && is_host(n))
			compare(desc, fabric_host_length(desc), node, &least, best);
	}
	free(node);
	if (least > SPELLING_MAX)
		return false;
	buf_printf(out, "%s%s", best, slash ? slash : "");
	return true;
}

/* --- all hosts --- */

static uint64_t host_hash(const char *name, size_t length)
{
	uint64_t hash = 0;

	for (size_t i = 0; i < length; i++)
		hash = hash64(hash * 31 + (unsigned char)name[i]);
	return hash;
}

void fabric_hosts_init(struct fabric_hosts *h, const struct fabric *f)
{
	h->f = f;
	h->next = xcalloc(f->n_nodes + 1, sizeof(*h->next));
	map64_init(&h->first, f->n_nodes);
	/* backwards, so that each list is in the order of nodes */
	for (uint32_t i = f->n_nodes; i-- > 0;) {
		const char *desc = f->nodes[i].desc;
		uint64_t hash = host_hash(desc, fabric_host_length(desc));

		h->next[i] = map64_get(&h->first, hash);
		if (is_host(&f->nodes[i]))
			map64_put(&h->first, hash, i);
	}
}

void fabric_hosts_free(struct fabric_hosts *h)
{
	map64_free(&h->first);
	free(h->next);
	*h = (struct fabric_hosts){ 0 };
}

uint32_t fabric_hosts_next(const struct fabric_hosts *h, const char *host, uint32_t node)
{
	size_t length = strlen(host);

	node = node == FABRIC_NONE ? map64_get(&h->first, host_hash(host, length)) : h->next[node];
	while (node != MAP64_NONE && !has_host_name(&h->f->nodes[node], h->f->nodes[node].desc, host, length))
		node = h->next[node];
	return node == MAP64_NONE ? FABRIC_NONE : node;
}
