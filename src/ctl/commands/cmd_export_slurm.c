/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Answers `export slurm`: the topology.conf by which Slurm places jobs near each other.
 *
 * Slurm knows a tree, or blocks, and a node in one place of it.  So a host stands at the switch of
 * its first port, and parallel switches are one: all switches that are as far from the nearest host
 * as each other and that connect the same lower ones, whose name is that of the first of them.
 * What adds no connection is left out, such as switches without hosts below them.  The names come
 * from the fabric: one that Slurm would read as anything but a name is not written.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/command.h"
#include "fabric/host_names.h"
#include "lib/base/alloc.h"
#include "lib/base/hostlist.h"

#define SLURM_NAME 64
#define FAR UINT32_MAX

struct place {			/* of a host's port */
	char name[SLURM_NAME];
	uint32_t port, sw;
};

struct entry {			/* a line of the tree */
	char name[SLURM_NAME];
	struct hostlist children, same;	/* lower entries; the switches that this one stands for */
};

struct tree {
	const struct fabric *f;
	struct place *hosts;
	uint32_t n_hosts;
	uint32_t unnamed;		/* ports of hosts without a name for Slurm */
	char (*names)[SLURM_NAME];	/* [switch] */
	uint32_t *rank;			/* [switch]: hops from the nearest switch with hosts, or FAR */
	uint32_t *up;			/* [switch]: union-find: another one of its component, or itself */
	uint32_t *top;			/* [root of a component]: its entry, or FAR */
	struct entry *entries;		/* from the leaves up */
	uint32_t n_entries, n_leaves, n_groups;
	struct buf text;
	size_t at;			/* how much of the text was returned */
};

/* --- names --- */

static bool take_name(char *to, const char *from, size_t n)
{
	if (!n || n >= SLURM_NAME)
		return false;
	for (size_t i = 0; i < n; i++)
		if (!strchr("-._", from[i]) && !(from[i] >= '0' && from[i] <= '9') &&
		    !((from[i] | 32) >= 'a' && (from[i] | 32) <= 'z'))
			return false;
	memcpy(to, from, n);
	to[n] = '\0';
	return true;
}

/* A managed switch says "MF0;leaf01:MQM8700/U1", others have a name, or only a model. */
static void name_switch(struct tree *t, uint32_t sw)
{
	const struct fabric_node *n = &t->f->nodes[t->f->switches[sw].node];
	const char *mark = strchr(n->desc, ';'), *from = mark ? mark + 1 : n->desc;

	if (!take_name(t->names[sw], from, strcspn(from, mark ? ":" : " ")))
		t->names[sw][0] = '\0';
}

static void name_by_guid(struct tree *t, uint32_t sw)
{
	snprintf(t->names[sw], SLURM_NAME, "S-%016" PRIx64,
		 t->f->nodes[t->f->switches[sw].node].guid);
}

static int compare_switches(const void *a, const void *b, void *arg)
{
	const struct tree *t = arg;

	return strcmp(t->names[*(const uint32_t *)a], t->names[*(const uint32_t *)b]);
}

/* Switches whose names do not tell them apart are named by their GUIDs. */
static void name_switches(struct tree *t)
{
	uint32_t n = t->f->n_switches, *order = xcalloc(n, sizeof(*order));

	for (uint32_t i = 0; i < n; i++) {
		name_switch(t, i);
		order[i] = i;
	}
	qsort_r(order, n, sizeof(*order), compare_switches, t);
	for (uint32_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && !compare_switches(&order[i], &order[end], t);)
			end++;
		for (uint32_t k = i; k < end; k++)
			if (end - i > 1 || !t->names[order[k]][0])
				name_by_guid(t, order[k]);
	}
	free(order);
}

/* --- hosts --- */

static int compare_hosts(const void *pa, const void *pb, void *arg)
{
	const struct place *a = pa, *b = pb;
	const struct fabric *f = arg;
	int by_name = strcmp(a->name, b->name);
	int by_desc = by_name ? by_name : strcmp(port_node(f, a->port)->desc,
						 port_node(f, b->port)->desc);

	return by_desc ? by_desc : a->port < b->port ? -1 : a->port > b->port;
}

static void collect_hosts(struct tree *t, const struct plan *p)
{
	const struct fabric *f = t->f;
	uint32_t n = 0;

	t->hosts = xcalloc(f->n_ports, sizeof(*t->hosts));
	for (uint32_t port = 0; port < f->n_ports; port++) {
		struct place *h = &t->hosts[n];
		const char *desc = port_node(f, port)->desc;
		uint32_t peer = f->ports[port].peer;

		if (!port_is_host(f, port) || port_node(f, port)->type != IB_NODE_CA_T ||
		    peer == FABRIC_NONE || port_node(f, peer)->sw == FABRIC_NONE || !p->lid[port])
			continue;
		if (!take_name(h->name, desc, fabric_host_length(desc))) {
			t->unnamed++;
			continue;
		}
		h->port = port;
		h->sw = port_node(f, peer)->sw;
		n++;
	}
	qsort_r(t->hosts, n, sizeof(*t->hosts), compare_hosts, (void *)(uintptr_t)f);
	for (uint32_t i = 0; i < n; i++)
		if (!t->n_hosts || strcmp(t->hosts[t->n_hosts - 1].name, t->hosts[i].name) != 0)
			t->hosts[t->n_hosts++] = t->hosts[i];
}

/* --- the tree --- */

static uint32_t root_of(struct tree *t, uint32_t sw)
{
	while (t->up[sw] != sw)
		sw = t->up[sw] = t->up[t->up[sw]];
	return sw;
}

/* The switch that a switch's port leads to, or FABRIC_NONE. */
static uint32_t neighbor(const struct tree *t, uint32_t sw, unsigned port)
{
	const struct fabric_node *n = &t->f->nodes[t->f->switches[sw].node];
	uint32_t peer = t->f->ports[n->port0 + port].peer;

	return peer == FABRIC_NONE ? FABRIC_NONE : port_node(t->f, peer)->sw;
}

static unsigned ports_of(const struct tree *t, uint32_t sw)
{
	return t->f->nodes[t->f->switches[sw].node].nports;
}

static uint32_t rank_switches(struct tree *t)
{
	uint32_t *queue = xcalloc(t->f->n_switches, sizeof(*queue)), head = 0, tail = 0, last = 0;

	for (uint32_t i = 0; i < t->f->n_switches; i++)
		t->rank[i] = FAR;
	for (uint32_t i = 0; i < t->n_hosts; i++)
		if (t->rank[t->hosts[i].sw] == FAR) {
			t->rank[t->hosts[i].sw] = 0;
			queue[tail++] = t->hosts[i].sw;
		}
	while (head < tail) {
		uint32_t sw = queue[head++];

		last = t->rank[sw];
		for (unsigned port = 1; port <= ports_of(t, sw); port++) {
			uint32_t next = neighbor(t, sw, port);

			if (next == FABRIC_NONE || t->rank[next] != FAR)
				continue;
			t->rank[next] = last + 1;
			queue[tail++] = next;
		}
	}
	free(queue);
	return last;
}

static void make_leaves(struct tree *t)
{
	for (uint32_t i = 0; i < t->f->n_switches; i++) {
		t->up[i] = i;
		t->top[i] = FAR;
		if (t->rank[i] != 0)
			continue;
		t->top[i] = t->n_entries;
		memcpy(t->entries[t->n_entries++].name, t->names[i], SLURM_NAME);
	}
	t->n_leaves = t->n_entries;
	for (uint32_t i = 0; i < t->n_hosts; i++)
		hostlist_add(&t->entries[t->top[t->hosts[i].sw]].children, t->hosts[i].name);
}

/* The entry above those of one component, when it has more than one. */
static void join_entries(struct tree *t, uint32_t root, uint32_t *below, uint32_t n, uint32_t rank)
{
	struct entry *e = &t->entries[t->n_entries];

	if (n == 1) {
		t->top[root] = below[0];
		return;
	}
	for (uint32_t i = 0; i < n; i++)
		hostlist_add(&e->children, t->entries[below[i]].name);
	for (uint32_t sw = 0; sw < t->f->n_switches; sw++)
		if (rank && t->rank[sw] == rank && root_of(t, sw) == root)
			hostlist_add(&e->same, t->names[sw]);
	hostlist_sort(&e->same);
	if (e->same.n)
		snprintf(e->name, sizeof(e->name), "%s", e->same.v[0]);
	else
		snprintf(e->name, sizeof(e->name), "linked%u", ++t->n_groups);
	t->top[root] = t->n_entries++;
}

struct belongs {
	uint32_t root, entry;
};

static int compare_belongs(const void *pa, const void *pb)
{
	const struct belongs *a = pa, *b = pb;

	return a->root != b->root ? (a->root < b->root ? -1 : 1) :
	       a->entry < b->entry ? -1 : a->entry > b->entry;
}

/* Adds the switches of a rank, with their links to those of this rank and of lower ones. */
static void add_rank(struct tree *t, uint32_t rank)
{
	uint32_t n_switches = t->f->n_switches, n = 0;
	struct belongs *m = xcalloc(n_switches, sizeof(*m));
	uint32_t *below = xcalloc(n_switches, sizeof(*below));

	for (uint32_t sw = 0; sw < n_switches; sw++)
		if (t->up[sw] == sw && t->top[sw] != FAR)
			m[n++] = (struct belongs){ sw, t->top[sw] };
	for (uint32_t sw = 0; sw < n_switches; sw++)
		for (unsigned port = 1; t->rank[sw] == rank && port <= ports_of(t, sw); port++) {
			uint32_t next = neighbor(t, sw, port);

			if (next != FABRIC_NONE && t->rank[next] <= rank)
				t->up[root_of(t, next)] = root_of(t, sw);
		}
	for (uint32_t i = 0; i < n; i++)
		m[i].root = root_of(t, m[i].root);
	if (n)
		qsort(m, n, sizeof(*m), compare_belongs);
	for (uint32_t i = 0, k = 0; i < n; i++) {
		below[k++] = m[i].entry;
		if (i + 1 < n && m[i + 1].root == m[i].root)
			continue;
		join_entries(t, m[i].root, below, k, rank);
		k = 0;
	}
	free(below);
	free(m);
}

static void build(struct tree *t, const struct plan *p)
{
	uint32_t n = t->f->n_switches, last;

	t->names = xcalloc(n, sizeof(*t->names));
	t->rank = xcalloc(n, sizeof(*t->rank));
	t->up = xcalloc(n, sizeof(*t->up));
	t->top = xcalloc(n, sizeof(*t->top));
	t->entries = xcalloc(2 * (size_t)n, sizeof(*t->entries));	/* an inner one joins two */
	name_switches(t);
	collect_hosts(t, p);
	last = rank_switches(t);
	make_leaves(t);
	for (uint32_t rank = 0; t->n_leaves > 1 && rank <= last; rank++)
		add_rank(t, rank);
}

/* --- the file --- */

static void put_head(struct tree *t, const char *plugin)
{
	buf_printf(&t->text, "# TopologyPlugin=topology/%s\n# %u nodes at %u switches\n", plugin,
		   t->n_hosts, t->n_leaves);
	if (t->unnamed)
		buf_printf(&t->text, "# %u ports belong to hosts without a name that Slurm takes\n",
			   t->unnamed);
}

static void put_tree(struct tree *t)
{
	put_head(t, "tree");
	for (uint32_t i = 0; i < t->n_entries; i++) {
		struct entry *e = &t->entries[i];

		if (e->same.n > 1) {
			buf_puts(&t->text, "# ");
			hostlist_put(&e->same, &t->text);
			buf_puts(&t->text, ":\n");
		}
		buf_printf(&t->text, "SwitchName=%s %s=", e->name,
			   i < t->n_leaves ? "Nodes" : "Switches");
		hostlist_put(&e->children, &t->text);
		buf_puts(&t->text, "\n");
	}
}

/* No block may have fewer nodes than the least size. */
static void put_blocks(struct tree *t)
{
	size_t least = SIZE_MAX;

	put_head(t, "block");
	for (uint32_t i = 0; i < t->n_leaves; i++) {
		struct entry *e = &t->entries[i];

		buf_printf(&t->text, "BlockName=%s Nodes=", e->name);
		hostlist_put(&e->children, &t->text);
		buf_puts(&t->text, "\n");
		if (e->children.n < least)
			least = e->children.n;
	}
	if (t->n_leaves)
		buf_printf(&t->text, "BlockSizes=%zu\n", least);
}

static bool next_line(void *rows, struct file_piece *piece)
{
	struct tree *t = rows;
	const char *from = t->text.s + t->at;
	size_t n = t->text.n - t->at;
	const char *end = n ? memchr(from, '\n', n) : NULL;

	if (!end)
		return false;
	n = (size_t)(end - from) + 1;
	t->at += n;
	piece->file = "topology.conf";
	buf_add(&piece->text, from, n);
	return true;
}

static void release_tree(void *rows)
{
	struct tree *t = rows;

	for (uint32_t i = 0; i < t->n_entries; i++) {
		hostlist_free(&t->entries[i].children);
		hostlist_free(&t->entries[i].same);
	}
	free(t->entries);
	free(t->top);
	free(t->up);
	free(t->rank);
	free(t->names);
	free(t->hosts);
	buf_free(&t->text);
	free(t);
}

void cmd_export_slurm(const struct ctl_call *c, struct reply *r)
{
	const char *plugin = arg_text(c, "plugin");
	bool blocks = plugin && !strcmp(plugin, "block");
	struct tree *t;

	if (plugin && !blocks && strcmp(plugin, "tree") != 0) {
		reply_error(r, NULL, "plugin: is neither tree nor block");
		return;
	}
	t = xcalloc(1, sizeof(*t));
	t->f = c->state->f;
	build(t, c->state->plan);
	if (blocks)
		put_blocks(t);
	else
		put_tree(t);
	reply_result(r, NULL);
	reply_files(c, r, next_line, release_tree, t);
}
