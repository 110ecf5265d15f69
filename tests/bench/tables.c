/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What forwarding tables make of a fabric, whoever made them.  Independent of what qosd itself
 * thinks of routes: it follows each packet.
 *
 *	tables gauge TOPOLOGY TABLES...	figures, a line for each
 *	tables opensm <opensm-lfts.dump	OpenSM's tables as the first takes them
 *
 * TOPOLOGY is a dump with LIDs (see topology.c); TABLES a file, or "qosd" or "qosd/ENGINE", whose
 * tables are made here; "qosd/ENGINE:8" for ports of eight data VLs (1, 2, 4, 8, or 15).  A file of tables has a line for each switch: its GUID, and a port in two
 * digits for each LID from 0 on; one that has none of them tells of nothing.
 *
 * The first line has switches, hosts, aggregation nodes, and cables between switches.  The others:
 *
 *	name		tables
 *	eBB		effective bisection bandwidth as ORCS has it: hosts are split at random, one of the
 *			one half sends to one of the other; a pair has 1 / the most packets on any cable
 *			of its way.  The mean of 1,000, the same ones for all tables.
 *	EFI		routes between hosts on one direction of a cable between switches, most
 *	mean		… of all
 *	cut		pairs of CA and router ports, aggregation nodes too, that are not connected
 *	detour		hops beyond the shortest way, on average
 *	longest		… at most
 *	loop		1: routes wait for each other in a cycle, on one VL; 2: on as many as the next says
 *	VLs		that routes are spread over, as qosd has it; 1 for those of a file
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "plan/plan.h"
#include "plan/published_state.h"
#include "routing/route.h"
#include "unit/load_fabric.h"

#define BISECTIONS 1000
#define LIDS (IB_LID_UCAST_MAX + 1)
#define FAR UINT16_MAX

/* A CA or router port with a LID. */
struct host {
	uint32_t port, sw;
	uint16_t lid;
	bool runs;		/* programs: it is no aggregation node */
};

struct net {
	const struct fabric *f;
	VEC(struct host) ends;		/* by switch */
	uint32_t n_hosts;		/* … that run */
	uint32_t *hosts;		/* places in ends of those */
	uint32_t *all_at, *hosts_at;	/* [switch]: so many of them there */
	uint32_t cables;
};

struct table {
	const char *name;
	uint8_t *entries;	/* [switch * LIDS + lid] */
	unsigned vls;
	bool loop;		/* with these VLs, if there are several */
};

struct figures {
	double ebb, mean, detour;
	uint64_t efi, cut;
	unsigned longest, loop;
};

/* --- the fabric --- */

/* The switch at the other end of a switch's port, or FABRIC_NONE. */
static uint32_t next_switch(const struct fabric *f, uint32_t port)
{
	return f->ports[port].peer == FABRIC_NONE ? FABRIC_NONE
						  : port_node(f, f->ports[port].peer)->sw;
}

static int compare_ends(const void *a, const void *b)
{
	const struct host *x = a, *y = b;

	return x->sw != y->sw ? (x->sw > y->sw) - (x->sw < y->sw)
			      : (x->port > y->port) - (x->port < y->port);
}

static void read_net(struct net *net, const char *path)
{
	struct buf err = { 0 };
	struct fabric *f = fabric_load(path, 0, true, &err);

	if (!f) {
		fputs(err.s, stderr);
		exit(1);
	}
	*net = (struct net){ .f = f, .all_at = xcalloc(f->n_switches, sizeof(uint32_t)),
			     .hosts_at = xcalloc(f->n_switches, sizeof(uint32_t)) };
	for (uint32_t p = 0; p < f->n_ports; p++) {
		uint32_t far = f->ports[p].peer;

		if (far == FABRIC_NONE)
			continue;
		if (node_is_switch(port_node(f, p)))
			net->cables += p < far && node_is_switch(port_node(f, far));
		else if (f->ports[p].lid && node_is_switch(port_node(f, far)))
			*vec_push(&net->ends) = (struct host){
				p, port_node(f, far)->sw, f->ports[p].lid, port_is_host(f, p)
			};
	}
	qsort(net->ends.v, net->ends.n, sizeof(*net->ends.v), compare_ends);
	net->hosts = xcalloc(net->ends.n, sizeof(*net->hosts));
	for (uint32_t i = 0; i < net->ends.n; i++) {
		net->all_at[net->ends.v[i].sw]++;
		if (net->ends.v[i].runs) {
			net->hosts[net->n_hosts++] = i;
			net->hosts_at[net->ends.v[i].sw]++;
		}
	}
}

/* --- tables --- */

/* "ENGINE:VLS" or "ENGINE", or NULL. */
static void take_engine(const struct net *net, struct settings *settings, const char *what)
{
	static const unsigned vls[] = { 0, 1, 2, 4, 8, 15 };
	const char *colon = what ? strchr(what, ':') : NULL;
	char *only[] = { NULL, NULL };
	unsigned n = colon ? (unsigned)atoi(colon + 1) : 0, code = 0;

	if (!what)
		return;
	only[0] = xstrndup(what, colon ? (size_t)(colon - what) : strlen(what));
	memcpy(settings->engines, only, sizeof(only));
	while (code < ARRAY_SIZE(vls) && vls[code] != n)
		code++;
	if (code == ARRAY_SIZE(vls)) {
		fprintf(stderr, "tables: %s: 1, 2, 4, 8, or 15 data VLs are expected\n", what);
		exit(1);
	}
	for (uint32_t i = 0; i < net->f->n_ports && code; i++)
		net->f->ports[i].vl_cap = (uint8_t)code;
}

static void make_tables(const struct net *net, struct table *t, const char *engine)
{
	struct shared_policy *policy = shared_policy_new(policy_builtin());
	struct settings *settings = settings_default();

	take_engine(net, settings, engine);
	struct plan *p = plan_begin(net->f, policy->p, settings, NULL, NULL, NULL);

	for (uint32_t i = 0; i < net->ends.n; i++)
		if (p->lid[net->ends.v[i].port] != net->ends.v[i].lid) {
			fprintf(stderr, "tables: LID %u of the dump is not kept\n",
				net->ends.v[i].lid);
			exit(1);
		}
	for (uint32_t sw = 0; sw < net->f->n_switches; sw++)
		for (uint32_t lid = 0; lid <= p->lfts->top; lid++)
			t->entries[(size_t)sw * LIDS + lid] = lft_get(p->lfts, sw, (uint16_t)lid);
	if (p->layers) {
		t->vls = p->layers->n_vl_sets;
		t->loop = p->report.credit_loop;
	}
}

static bool read_tables(const struct net *net, struct table *t, const char *path)
{
	FILE *in = fopen(path, "r");
	uint32_t n = 0;
	char *line = NULL;
	size_t size = 0;

	if (!in) {
		perror(path);
		exit(1);
	}
	while (getline(&line, &size, in) > 0) {
		char *at;
		uint32_t node = map64_get(&net->f->node_by_guid, strtoull(line, &at, 16));

		if (node == MAP64_NONE || !node_is_switch(&net->f->nodes[node]) || *at++ != ' ')
			continue;
		uint8_t *row = &t->entries[(size_t)net->f->nodes[node].sw * LIDS];

		n++;
		for (uint32_t lid = 0; lid < LIDS && at[0] > ' ' && at[1] > ' '; lid++, at += 2) {
			char digits[3] = { at[0], at[1], 0 };

			row[lid] = (uint8_t)strtoul(digits, NULL, 16);
		}
	}
	free(line);
	fclose(in);
	return n == net->f->n_switches;
}

/* From "… of switch Lid 4 guid 0x…" and lines "0x0001 007 # …". */
static void convert_opensm(void)
{
	static uint8_t row[LIDS];
	unsigned lid, port, top = 0;
	char *line = NULL, *guid = NULL;
	size_t size = 0;

	for (;;) {
		bool more = getline(&line, &size, stdin) > 0;
		char *at = more ? strstr(line, " guid 0x") : NULL;

		if ((at || !more) && guid) {
			fputs(guid, stdout);
			putchar(' ');
			for (unsigned i = 0; i <= top; i++)
				printf("%02x", row[i]);
			putchar('\n');
		}
		if (!more)
			break;
		if (at) {
			free(guid);
			guid = xstrndup(at + 6, 18);
			memset(row, LFT_DROP, sizeof(row));
			top = 0;
		} else if (sscanf(line, "0x%x %u", &lid, &port) == 2 && lid < LIDS) {
			row[lid] = (uint8_t)port;
			top = lid;
		}
	}
	free(line);
	free(guid);
}

/* --- figures --- */

struct walk {
	const struct net *net;
	const struct table *t;
	uint16_t *dist;		/* [switch]: links to the switch of the destination; FAR: it does not arrive */
	uint32_t *seen;		/* [switch]: destination plus 1 of which dist is */
	uint32_t *order, n;	/* visited switches, each after those that its packets pass */
	uint32_t *senders;	/* [switch]: hosts whose packets pass */
	uint16_t *shortest;	/* [switch]: to that of the destination */
	uint32_t *load;		/* [port]: routes of hosts that leave by it */
	uint64_t (*deps)[4];	/* [port]: ports by which routes go on at the other end, by number */
};

static uint32_t out_port(const struct walk *w, uint32_t sw, uint16_t lid)
{
	const struct fabric_node *n = &w->net->f->nodes[w->net->f->switches[sw].node];
	unsigned num = w->t->entries[(size_t)sw * LIDS + lid];

	return num && num <= n->nports ? n->port0 + num : FABRIC_NONE;
}

/* From a switch to destination d; the switches that are new come in the order of the way. */
static void follow(struct walk *w, uint32_t sw, uint32_t d)
{
	const struct host *end = &w->net->ends.v[d];
	uint32_t first = w->n;
	uint16_t dist = FAR;

	while (sw != FABRIC_NONE) {
		if (w->seen[sw] == d + 1) {
			/* a switch on this route has no dist yet: a cycle */
			dist = w->dist[sw];
			break;
		}
		w->seen[sw] = d + 1;
		w->dist[sw] = FAR;
		w->order[w->n++] = sw;
		uint32_t out = out_port(w, sw, end->lid);

		if (out == FABRIC_NONE)
			break;
		if (w->net->f->ports[out].peer == end->port) {
			dist = UINT16_MAX;	/* the next one's plus 1 is 0 */
			goto back;
		}
		sw = next_switch(w->net->f, out);
	}
	if (dist == FAR)
		return;
back:
	for (uint32_t i = w->n; i-- > first;)
		w->dist[w->order[i]] = ++dist;
}

static void find_shortest(struct walk *w, uint32_t to)
{
	const struct fabric *f = w->net->f;
	uint32_t *queue = w->senders, head = 0, tail = 0;	/* not in use yet */

	memset(w->shortest, 0xff, f->n_switches * sizeof(*w->shortest));
	w->shortest[to] = 0;
	queue[tail++] = to;
	while (head < tail) {
		uint32_t sw = queue[head++];
		const struct fabric_node *n = &f->nodes[f->switches[sw].node];

		for (unsigned p = 1; p <= n->nports; p++) {
			uint32_t next = next_switch(f, n->port0 + p);

			if (next != FABRIC_NONE && w->shortest[next] == FAR) {
				w->shortest[next] = (uint16_t)(w->shortest[sw] + 1);
				queue[tail++] = next;
			}
		}
	}
}

static const struct walk *sorting;
static int compare_dist(const void *a, const void *b)
{
	return (int)sorting->dist[*(const uint32_t *)b] - (int)sorting->dist[*(const uint32_t *)a];
}

/* Follows routes to destination d: the load of cables, and which channel waits for which. */
static void add_routes(struct walk *w, uint32_t d)
{
	const struct host *end = &w->net->ends.v[d];
	const struct fabric *f = w->net->f;

	sorting = w;
	qsort(w->order, w->n, sizeof(*w->order), compare_dist);
	for (uint32_t i = 0; i < w->n; i++)
		w->senders[w->order[i]] = w->net->hosts_at[w->order[i]];
	for (uint32_t i = 0; i < w->n; i++) {
		uint32_t sw = w->order[i], out, next, then;

		if (w->dist[sw] == FAR || !w->dist[sw])
			continue;
		out = out_port(w, sw, end->lid);
		next = next_switch(f, out);
		if (end->runs) {
			w->load[out] += w->senders[sw];
			w->senders[next] += w->senders[sw];
		}
		if (w->dist[next]) {
			then = f->ports[out_port(w, next, end->lid)].num;
			w->deps[out][then / 64] |= 1ULL << then % 64;
		}
	}
}

static void walk_all(struct walk *w, struct figures *out)
{
	const struct net *net = w->net;
	uint64_t pairs = 0, extra = 0;
	uint32_t last = FABRIC_NONE;

	for (uint32_t d = 0; d < net->ends.n; d++) {
		const struct host *end = &net->ends.v[d];

		if (end->sw != last)
			find_shortest(w, last = end->sw);
		w->n = 0;
		for (uint32_t sw = 0; sw < net->f->n_switches; sw++) {
			unsigned more;

			if (!net->all_at[sw])
				continue;
			if (w->seen[sw] != d + 1)
				follow(w, sw, d);
			if (w->dist[sw] == FAR) {
				out->cut += net->all_at[sw] - (sw == end->sw);
				continue;
			}
			if (!end->runs || !net->hosts_at[sw])
				continue;
			more = w->dist[sw] - w->shortest[sw];
			pairs += net->hosts_at[sw] - (sw == end->sw);
			extra += (uint64_t)more * net->hosts_at[sw];
			if (more > out->longest)
				out->longest = more;
		}
		add_routes(w, d);
	}
	out->detour = pairs ? (double)extra / (double)pairs : 0;
}

static void sum_loads(const struct walk *w, struct figures *out)
{
	uint64_t all = 0;

	for (uint32_t p = 0; p < w->net->f->n_ports; p++) {
		all += w->load[p];
		if (w->load[p] > out->efi)
			out->efi = w->load[p];
	}
	out->mean = w->net->cables ? (double)all / (2.0 * w->net->cables) : 0;
}

/* Searches depth first over waiting channels; a port that is reached again closes a cycle. */
static bool find_loop(const struct walk *w)
{
	const struct fabric *f = w->net->f;
	uint8_t *state = xcalloc(f->n_ports, 1);	/* 1: on the way, 2: done */
	uint16_t *next = xcalloc(f->n_ports, sizeof(*next));
	uint32_t *stack = xcalloc(f->n_ports, sizeof(*stack));
	bool found = false;

	for (uint32_t start = 0; start < f->n_ports && !found; start++) {
		uint32_t depth = 0;

		if (state[start])
			continue;
		stack[depth++] = start;
		state[start] = 1;
		while (depth && !found) {
			uint32_t p = stack[depth - 1], to;

			while (next[p] < 256 && !(w->deps[p][next[p] / 64] >> next[p] % 64 & 1))
				next[p]++;
			if (next[p] == 256) {
				state[p] = 2;
				depth--;
				continue;
			}
			to = port_node(f, f->ports[p].peer)->port0 + next[p]++;
			found = state[to] == 1;
			if (!state[to]) {
				state[to] = 1;
				stack[depth++] = to;
			}
		}
	}
	free(state);
	free(next);
	free(stack);
	return found;
}

static uint64_t random_state;
static uint32_t chance(uint32_t n)
{
	random_state += 0x9e3779b97f4a7c15ULL;
	return (uint32_t)((hash64(random_state) >> 32) * n >> 32);
}

#define HOPS_MAX 64
/* The ports between switches by which packets leave; their number, or -1: it does not arrive. */
static int find_way(const struct walk *w, const struct host *from, const struct host *to,
		    uint32_t *ports)
{
	uint32_t sw = from->sw;

	for (int n = 0; n < HOPS_MAX && sw != FABRIC_NONE; n++) {
		uint32_t out = out_port(w, sw, to->lid);

		if (out == FABRIC_NONE)
			break;
		if (w->net->f->ports[out].peer == to->port)
			return n;
		ports[n] = out;
		sw = next_switch(w->net->f, out);
	}
	return -1;
}

static double bisect(const struct walk *w, uint32_t *hosts, uint32_t (*ways)[HOPS_MAX], int *hops)
{
	uint32_t half = w->net->n_hosts / 2;
	double sum = 0;

	for (uint32_t i = w->net->n_hosts; i > 1; i--) {
		uint32_t j = chance(i), h = hosts[j];

		hosts[j] = hosts[i - 1];
		hosts[i - 1] = h;
	}
	for (uint32_t i = 0; i < half; i++) {
		hops[i] = find_way(w, &w->net->ends.v[hosts[i]], &w->net->ends.v[hosts[half + i]],
				   ways[i]);
		for (int k = 0; k < hops[i]; k++)
			w->load[ways[i][k]]++;
	}
	for (uint32_t i = 0; i < half; i++) {
		uint32_t most = 1;

		for (int k = 0; k < hops[i]; k++)
			if (w->load[ways[i][k]] > most)
				most = w->load[ways[i][k]];
		sum += hops[i] < 0 ? 0 : 1.0 / most;
	}
	for (uint32_t i = 0; i < half; i++)
		for (int k = 0; k < hops[i]; k++)
			w->load[ways[i][k]] = 0;
	return half ? sum / half : 0;
}

static double bisect_often(struct walk *w)
{
	uint32_t n = w->net->n_hosts, half = n / 2;
	uint32_t *hosts = xmemdup(w->net->hosts, n * sizeof(*hosts));
	uint32_t (*ways)[HOPS_MAX] = xcalloc(half + 1, sizeof(*ways));
	int *hops = xcalloc(half + 1, sizeof(*hops));
	double sum = 0;

	random_state = 1;
	memset(w->load, 0, w->net->f->n_ports * sizeof(*w->load));
	for (unsigned i = 0; i < BISECTIONS; i++)
		sum += bisect(w, hosts, ways, hops);
	free(hosts);
	free(ways);
	free(hops);
	return sum / BISECTIONS;
}

static void gauge(const struct net *net, const struct table *t)
{
	uint32_t n = net->f->n_switches;
	struct walk w = {
		.net = net, .t = t, .dist = xcalloc(n, sizeof(*w.dist)),
		.seen = xcalloc(n, sizeof(*w.seen)), .order = xcalloc(n, sizeof(*w.order)),
		.senders = xcalloc(n, sizeof(*w.senders)),
		.shortest = xcalloc(n, sizeof(*w.shortest)),
		.load = xcalloc(net->f->n_ports, sizeof(*w.load)),
		.deps = xcalloc(net->f->n_ports, sizeof(*w.deps)),
	};
	struct figures out = { 0 };

	walk_all(&w, &out);
	sum_loads(&w, &out);
	out.loop = find_loop(&w) + (t->vls > 1 && t->loop);
	out.ebb = bisect_often(&w);
	printf("%s\t%.4f\t%" PRIu64 "\t%.1f\t%" PRIu64 "\t%.4f\t%u\t%u\t%u\n", t->name, out.ebb, out.efi,
	       out.mean, out.cut, out.detour, out.longest, out.loop, t->vls);
	free(w.dist);
	free(w.seen);
	free(w.order);
	free(w.senders);
	free(w.shortest);
	free(w.load);
	free(w.deps);
}

static void gauge_one(const struct net *net, const char *what)
{
	const char *name = strrchr(what, '/');
	struct table t = { .name = name && strncmp(what, "qosd/", 5) ? name + 1 : what, .vls = 1 };
	size_t size = (size_t)net->f->n_switches * LIDS;
	bool good = true;

	t.entries = xmalloc(size);
	memset(t.entries, LFT_DROP, size);
	if (!strcmp(what, "qosd") || !strncmp(what, "qosd/", 5))
		make_tables(net, &t, what[4] ? what + 5 : NULL);
	else
		good = read_tables(net, &t, what);
	if (good)
		gauge(net, &t);
	else
		printf("%s\t-\n", t.name);
	free(t.entries);
}

int main(int argc, char **argv)
{
	struct net net;

	if (argc == 2 && !strcmp(argv[1], "opensm")) {
		convert_opensm();
		return fflush(stdout) ? 1 : 0;
	}
	if (argc < 3 || strcmp(argv[1], "gauge")) {
		fputs("usage: tables gauge TOPOLOGY [qosd|qosd/ENGINE|FILE]...\n"
		      "       tables opensm <opensm-lfts.dump\n", stderr);
		return 2;
	}
	read_net(&net, argv[2]);
	printf("fabric\t%u\t%u\t%u\t%u\n", net.f->n_switches, net.n_hosts,
	       (unsigned)net.ends.n - net.n_hosts, net.cables);
	for (int i = 3; i < argc; i++)
		gauge_one(&net, argv[i]);
	return fflush(stdout) ? 1 : 0;
}
