/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Fabrics to compare routes on, as dumps in ibnetdiscover's format with the LIDs that qosd would
 * give; so every subnet manager that keeps LIDs which ports have routes the same.
 *
 *	topology BASE[+CHANGE]...
 *
 * BASE is a topology of qosd-sim (a generator's words, or a file), or one of the families below;
 * CHANGE is what became of it (see usage).  The same words make the same fabric.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fabric/fabric.h"
#include "lib/base/alloc.h"
#include "plan/plan.h"
#include "plan/published_state.h"
#include "qos/policy.h"
#include "sim/topo/topo.h"
#include "unit/load_fabric.h"

#define PORTS_MAX 254
#define NOBODY UINT32_MAX

struct end {
	uint32_t node;		/* NOBODY: no cable */
	uint8_t port;
	struct cable_speed speed;
};

struct node {
	uint8_t type, nports;
	uint16_t device;
	uint32_t vendor;
	uint64_t guid, sysimg, port_guid[PORTS_MAX + 1];
	uint16_t lid[PORTS_MAX + 1];	/* a switch's is that of port 0 */
	char desc[65];
	struct end *ends;	/* [nports + 1] */
};

struct topology {
	VEC(struct node) nodes;
	uint32_t made[4];	/* nodes of each type, of those made here */
	uint64_t chance;
};

__attribute__((noreturn, format(printf, 1, 2)))
static void die(const char *fmt, ...)
{
	va_list ap;

	fputs("topology: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(1);
}

static uint32_t chance(struct topology *t, uint32_t n)
{
	t->chance += 0x9e3779b97f4a7c15ULL;
	return (uint32_t)((hash64(t->chance) >> 32) * n >> 32);
}

/* --- building --- */

static uint32_t add_node(struct topology *t, unsigned type, uint64_t guid, unsigned nports,
			 const char *desc)
{
	struct node *n = vec_push(&t->nodes);

	if (nports > PORTS_MAX)
		die("a switch would need %u ports", nports);
	*n = (struct node){ .type = (uint8_t)type, .nports = (uint8_t)nports, .guid = guid,
			    .sysimg = guid, .vendor = IB_VENDOR_MELLANOX,
			    .device = type == SIM_SWITCH ? 0xcf08 : 0x1019 };
	snprintf(n->desc, sizeof(n->desc), "%s", desc);
	n->ends = xcalloc(nports + 1, sizeof(*n->ends));
	for (unsigned p = 0; p <= nports; p++)
		n->ends[p].node = NOBODY;
	return (uint32_t)t->nodes.n - 1;
}

__attribute__((format(printf, 4, 5)))
static uint32_t make_node(struct topology *t, unsigned type, unsigned nports, const char *fmt, ...)
{
	char desc[65];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(desc, sizeof(desc), fmt, ap);
	va_end(ap);
	return add_node(t, type, 0x0251540000000000ULL | (uint64_t)type << 32 |
			(uint64_t)++t->made[type] << 8, nports, desc);
}

static void cable(struct topology *t, uint32_t a, unsigned pa, uint32_t b, unsigned pb)
{
	struct end *ea = &t->nodes.v[a].ends[pa], *eb = &t->nodes.v[b].ends[pb];

	if (pa > t->nodes.v[a].nports || pb > t->nodes.v[b].nports || ea->node != NOBODY ||
	    eb->node != NOBODY)
		die("%s port %u and %s port %u can't be linked", t->nodes.v[a].desc, pa,
		    t->nodes.v[b].desc, pb);
	*ea = (struct end){ b, (uint8_t)pb, { 0 } };
	*eb = (struct end){ a, (uint8_t)pa, { 0 } };
	cable_speed_parse("4xEDR", &ea->speed);
	eb->speed = ea->speed;
}

/* The first port that has no cable, a new one if need be. */
static unsigned free_port(struct topology *t, uint32_t node)
{
	struct node *n = &t->nodes.v[node];

	for (unsigned p = 1; p <= n->nports; p++)
		if (n->ends[p].node == NOBODY)
			return p;
	if (n->nports == PORTS_MAX)
		die("%s has no free port", n->desc);
	n->nports++;
	n->ends = xrealloc(n->ends, n->nports + 1u, sizeof(*n->ends));
	n->ends[n->nports].node = NOBODY;
	return n->nports;
}

static void cable_free(struct topology *t, uint32_t a, uint32_t b)
{
	unsigned pa = free_port(t, a), pb = free_port(t, b);

	cable(t, a, pa, b, pb);
}

static uint32_t add_host(struct topology *t, uint32_t sw)
{
	uint32_t h = make_node(t, SIM_CA, 1, "host-%05u HCA-1", t->made[SIM_CA] + 1);

	cable(t, h, 1, sw, free_port(t, sw));
	return h;
}

static bool is_sw(const struct topology *t, uint32_t node)
{
	return t->nodes.v[node].type == SIM_SWITCH;
}

/* --- words --- */

struct words {
	char *text;		/* "a=1,b=2" */
};

/* The number after KEY=, or `otherwise`; UINT32_MAX: the key is required. */
static uint32_t number(const struct words *w, const char *key, uint32_t otherwise)
{
	size_t n = strlen(key);

	for (const char *p = w->text; p; p = strchr(p, ',')) {
		p += *p == ',';
		if (!strncmp(p, key, n) && p[n] == '=')
			return (uint32_t)strtoul(p + n + 1, NULL, 10);
	}
	if (otherwise == UINT32_MAX)
		die("%s= is missing", key);
	return otherwise;
}

static void two_numbers(const struct words *w, uint32_t *a, uint32_t *b)
{
	if (sscanf(w->text, "%" SCNu32 "x%" SCNu32, a, b) != 2 || !*a || !*b)
		die("%s: two numbers are expected, as in 12x8", w->text);
}

/* --- families --- */

static uint32_t add_switches(struct topology *t, uint32_t n, unsigned nports, const char *name)
{
	uint32_t first = (uint32_t)t->nodes.n;

	for (uint32_t i = 0; i < n; i++)
		make_node(t, SIM_SWITCH, nports, "%s-%03u", name, i + 1);
	return first;
}

static void add_hosts(struct topology *t, uint32_t first, uint32_t n, uint32_t each)
{
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t h = 0; h < each; h++)
			add_host(t, first + i);
}

/* Every switch has a link to all of its row and of its column. */
static void make_hyperx(struct topology *t, const struct words *w)
{
	uint32_t a, b, hosts = number(w, "hosts", 8);

	two_numbers(w, &a, &b);
	add_switches(t, a * b, a + b - 2 + hosts, "switch");
	for (uint32_t i = 0; i < a * b; i++)
		for (uint32_t j = i + 1; j < a * b; j++)
			if (i / b == j / b || i % b == j % b)
				cable_free(t, i, j);
	add_hosts(t, 0, a * b, hosts);
}

/* Leaves and spines; a leaf has 0 to most cables to each spine, at random. */
static void make_uneven(struct topology *t, const struct words *w)
{
	uint32_t leaves, spines, hosts = number(w, "hosts", 12), most = number(w, "most", 2);

	two_numbers(w, &leaves, &spines);
	t->chance = number(w, "seed", 1);
	add_switches(t, leaves, hosts, "leaf");
	add_switches(t, spines, 1, "spine");
	for (uint32_t l = 0; l < leaves; l++)
		for (uint32_t s = 0; s < spines; s++)
			for (uint32_t n = chance(t, most + 1); n; n--)
				cable_free(t, l, leaves + s);
	add_hosts(t, 0, leaves, hosts);
}

static bool linked(const struct topology *t, uint32_t a, uint32_t b)
{
	for (unsigned p = 1; p <= t->nodes.v[a].nports; p++)
		if (t->nodes.v[a].ends[p].node == b)
			return true;
	return false;
}

/* A ring with chords whose ends were exchanged at random, often: each switch has as many links. */
static void make_regular(struct topology *t, const struct words *w)
{
	uint32_t n = number(w, "switches", UINT32_MAX), degree = number(w, "degree", 6);
	uint32_t hosts = number(w, "hosts", 4);

	t->chance = number(w, "seed", 1);
	if (degree % 2 || degree >= n)
		die("degree= must be even, and less than switches=");
	add_switches(t, n, degree + hosts, "switch");
	for (uint32_t k = 1; k <= degree / 2; k++)
		for (uint32_t i = 0; i < n; i++)
			cable_free(t, i, (i + k) % n);
	for (uint32_t i = 0; i < 100 * n * degree; i++) {
		uint32_t a = chance(t, n), c = chance(t, n);
		unsigned pa = 1 + chance(t, degree), pc = 1 + chance(t, degree);
		struct end b = t->nodes.v[a].ends[pa], d = t->nodes.v[c].ends[pc];

		if (a == c || a == d.node || b.node == c || b.node == d.node ||
		    linked(t, a, c) || linked(t, b.node, d.node))
			continue;
		t->nodes.v[a].ends[pa].node = t->nodes.v[c].ends[pc].node = NOBODY;
		t->nodes.v[b.node].ends[b.port].node = t->nodes.v[d.node].ends[d.port].node = NOBODY;
		cable(t, a, pa, c, pc);
		cable(t, b.node, b.port, d.node, d.port);
	}
	add_hosts(t, 0, n, hosts);
}

/* Switches whose line boards and spines are inside. */
struct chassis {
	uint32_t first;		/* line boards, then spines */
	uint32_t lines, used;	/* … and ports in front of those in use */
	uint32_t in_a_row;	/* ports of a board that are used before the next one's */
};

static struct chassis add_chassis(struct topology *t, const struct words *w, const char *name,
				  uint32_t number_of, uint32_t spines)
{
	struct chassis c = { .lines = number(w, "lines", 12) };
	uint32_t parallel = number(w, "parallel", 2), front = number(w, "front", 12);
	char text[32];

	c.in_a_row = number(w, "by-board", 0) ? front : 1;
	snprintf(text, sizeof(text), "%s%u line", name, number_of);
	c.first = add_switches(t, c.lines, front + spines * parallel, text);
	snprintf(text, sizeof(text), "%s%u spine", name, number_of);
	add_switches(t, spines, c.lines * parallel, text);
	for (uint32_t l = 0; l < c.lines; l++)
		for (uint32_t s = 0; s < spines * parallel; s++)
			cable(t, c.first + l, front + s + 1, c.first + c.lines + s / parallel,
			      l * parallel + s % parallel + 1);
	return c;
}

/* The board of the next port in front. */
static uint32_t next_board(struct chassis *c)
{
	return c->first + c->used++ / c->in_a_row % c->lines;
}

static void add_tors(struct topology *t, const struct words *w, struct chassis *c, uint32_t n,
		     uint32_t tors)
{
	uint32_t up = number(w, "tor-up", 4), hosts = number(w, "tor-hosts", 12);

	for (uint32_t i = 0; i < tors; i++) {
		uint32_t tor = make_node(t, SIM_SWITCH, hosts + up, "tor-%03u", i + 1);

		for (uint32_t h = 0; h < hosts; h++)
			add_host(t, tor);
		for (uint32_t k = 0; k < n; k++)
			for (uint32_t u = 0; u < up; u++)
				cable_free(t, tor, next_board(&c[k]));
	}
}

/*
 * n chassis with hosts and tors at them; with tops, each of the n has `up` cables to as many
 * chassis above, spread in blocks; without, each tor has tor-up cables to every chassis.  The last
 * one lacks some spines.  by-board: the ports of a board are used before those of the next, so that
 * hosts and cables to other chassis are apart; else those of the same place on each board.
 */
static void make_chassis(struct topology *t, const struct words *w)
{
	uint32_t n = number(w, "n", 1), tops = number(w, "tops", 0), tors = number(w, "tors", 0);
	uint32_t hosts = number(w, "hosts", 0), up = number(w, "up", 64);
	uint32_t spines = number(w, "spines", 6), less = number(w, "less", 0);
	struct chassis *c = xcalloc(n + tops + 1, sizeof(*c));

	for (uint32_t i = 0; i < n + tops; i++)
		c[i] = add_chassis(t, w, i < n ? "chassis" : "top", i < n ? i + 1 : i - n + 1,
				   spines - (i == n + tops - 1 ? less : 0));
	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t h = 0; h < hosts; h++)
			add_host(t, next_board(&c[i]));
		if (tops)
			add_tors(t, w, &c[i], 1, tors);
		for (uint32_t u = 0; tops && u < up; u++)
			cable_free(t, next_board(&c[i]),
				   next_board(&c[n + (uint64_t)u * tops / up]));
	}
	if (!tops)
		add_tors(t, w, c, n, tors);
	for (uint32_t i = 0; i < tops; i++)
		for (uint32_t h = 0; h < number(w, "top-hosts", 0); h++)
			add_host(t, next_board(&c[n + i]));
	free(c);
}

static const struct family {
	const char *name;
	void (*make)(struct topology *t, const struct words *w);
} families[] = {
	{ "hyperx", make_hyperx }, { "uneven", make_uneven }, { "regular", make_regular },
	{ "chassis", make_chassis },
};

/* --- the simulator's --- */

static void import(struct topology *t, const char *spec)
{
	struct sim_fabric *f = simfab_new();
	struct findings found = { 0 };
	struct buf err = { 0 };
	bool ok = topo_is_generated(spec) ? topo_generate(spec, f, &err)
					  : topo_load(spec, NULL, f, &found);

	if (!ok)
		die("%s", err.n ? err.s : found.v[found.n - 1].text);
	findings_free(&found);
	for (uint32_t i = 0; i < f->n_nodes; i++) {
		const struct sim_node *s = &f->nodes[i];
		uint32_t at = add_node(t, s->type, s->guid, s->nports, s->desc);
		struct node *n = &t->nodes.v[at];

		n->sysimg = s->sysimg_guid;
		if (s->vendor_id)
			n->vendor = s->vendor_id;
		if (s->device_id)
			n->device = s->device_id;
		for (unsigned p = 1; p <= n->nports; p++) {
			const struct sim_port *from = &f->ports[s->port0 + p];

			n->port_guid[p] = from->guid;
			if (from->peer == SIM_NONE)
				continue;
			n->ends[p].node = f->ports[from->peer].node;
			n->ends[p].port = f->ports[from->peer].num;
			n->ends[p].speed = cable_speed_of_masks(from->cable_width, from->cable_speed,
							       from->cable_ext);
			if (!n->ends[p].speed.lanes || !n->ends[p].speed.rate)
				cable_speed_parse("4xEDR", &n->ends[p].speed);
		}
	}
	simfab_free(f);
	buf_free(&err);
}

/* --- changes --- */

static uint32_t root_of(uint32_t *up, uint32_t i)
{
	while (up[i] != i)
		i = up[i] = up[up[i]];
	return i;
}

struct place {
	uint32_t node;
	uint8_t port;
};
struct places {
	VEC(struct place) at;
};

/* Cables between switches, each by its end at the lower node (of a node's own: the lower port). */
static struct places switch_cables(const struct topology *t)
{
	struct places all = { 0 };

	for (uint32_t i = 0; i < t->nodes.n; i++)
		for (unsigned p = 1; is_sw(t, i) && p <= t->nodes.v[i].nports; p++) {
			const struct end *e = &t->nodes.v[i].ends[p];

			if (e->node != NOBODY && is_sw(t, e->node) &&
			    (i < e->node || (i == e->node && p < e->port)))
				*vec_push(&all.at) = (struct place){ i, (uint8_t)p };
		}
	return all;
}

static void unplug(struct topology *t, struct place c)
{
	struct end *e = &t->nodes.v[c.node].ends[c.port];

	t->nodes.v[e->node].ends[e->port].node = NOBODY;
	e->node = NOBODY;
}

/* P per cent of the cables between switches; one without which the fabric would be in two stays. */
static void lose(struct topology *t, const char *how)
{
	struct places all = switch_cables(t);
	uint32_t n = (uint32_t)all.at.n, percent, seed = 1, wanted;
	uint32_t *up = xcalloc(t->nodes.n, sizeof(*up));

	if (sscanf(how, "%" SCNu32 "@%" SCNu32, &percent, &seed) < 1 || percent > 100)
		die("lose=%s: PERCENT or PERCENT@SEED is expected", how);
	t->chance = seed;
	wanted = (n * percent + 50) / 100;
	for (uint32_t i = 0; i < t->nodes.n; i++)
		up[i] = i;
	for (uint32_t i = n; i > 1; i--) {
		uint32_t j = chance(t, i);
		struct place c = all.at.v[j];

		all.at.v[j] = all.at.v[i - 1];
		all.at.v[i - 1] = c;
	}
	/* Later cables stay, as do earlier ones that connect parts which would fall apart. */
	for (uint32_t i = n; i-- > 0;) {
		struct place c = all.at.v[i];
		uint32_t a = root_of(up, c.node);
		uint32_t b = root_of(up, t->nodes.v[c.node].ends[c.port].node);

		if (i >= wanted || a != b)
			up[a] = b;
		else
			unplug(t, c);
	}
	vec_free(&all.at);
	free(up);
}

static void add_aggregation(struct topology *t)
{
	uint32_t n = (uint32_t)t->nodes.n;

	for (uint32_t i = 0; i < n; i++) {
		if (!is_sw(t, i))
			continue;
		uint32_t node = add_node(t, SIM_CA, t->nodes.v[i].guid + 8, 1,
					 "Mellanox Technologies Aggregation Node");
		unsigned port = ++t->nodes.v[i].nports;

		t->nodes.v[i].ends = xrealloc(t->nodes.v[i].ends, port + 1, sizeof(struct end));
		t->nodes.v[i].ends[port].node = NOBODY;
		t->nodes.v[node].sysimg = t->nodes.v[i].sysimg;
		t->nodes.v[node].port_guid[1] = t->nodes.v[node].guid;
		t->nodes.v[node].device = SIM_AGGREGATION_NODE;
		cable(t, node, 1, i, port);
	}
}

static bool has_hosts(const struct topology *t, uint32_t sw)
{
	for (unsigned p = 1; p <= t->nodes.v[sw].nports; p++) {
		const struct end *e = &t->nodes.v[sw].ends[p];

		if (e->node != NOBODY && !is_sw(t, e->node) &&
		    t->nodes.v[e->node].device != SIM_AGGREGATION_NODE)
			return true;
	}
	return false;
}

/* On as many of the last switches without hosts, one on each: tops of trees come last. */
static void add_at_spines(struct topology *t, unsigned type, uint32_t n)
{
	for (uint32_t i = (uint32_t)t->nodes.n; i-- > 0 && n;) {
		if (!is_sw(t, i) || has_hosts(t, i))
			continue;
		uint32_t h = make_node(t, type, 1, "%s-of-spine-%u",
				       type == SIM_CA ? "host" : "router", n);
		cable(t, h, 1, i, free_port(t, i));
		n--;
	}
	if (n)
		die("there are not so many switches without hosts");
}

static void change(struct topology *t, const char *word)
{
	const char *value = strchr(word, '=') ? strchr(word, '=') + 1 : "1";

	if (!strncmp(word, "lose=", 5))
		lose(t, value);
	else if (!strcmp(word, "aggregation"))
		add_aggregation(t);
	else if (!strncmp(word, "spine-host", 10))
		add_at_spines(t, SIM_CA, (uint32_t)atoi(value));
	else if (!strncmp(word, "spine-router", 12))
		add_at_spines(t, SIM_ROUTER, (uint32_t)atoi(value));
	else
		die("%s: there is no such change", word);
}

/* --- printing --- */

static uint64_t port_guid(const struct node *n, unsigned port)
{
	return n->port_guid[port] ? n->port_guid[port] : n->guid + port;
}

static void print_id(FILE *out, const struct node *n)
{
	static const char letters[] = { [SIM_CA] = 'H', [SIM_SWITCH] = 'S', [SIM_ROUTER] = 'R' };

	fprintf(out, "\"%c-%016" PRIx64 "\"", letters[n->type], n->guid);
}

static void print_port(FILE *out, const struct topology *t, const struct node *n, unsigned port)
{
	const struct end *e = &n->ends[port];
	const struct node *far = &t->nodes.v[e->node];
	char speed[CABLE_SPEED_MAX];

	fprintf(out, "[%u]", port);
	if (n->type != SIM_SWITCH)
		fprintf(out, "(%" PRIx64 ") ", port_guid(n, port));
	fputc('\t', out);
	print_id(out, far);
	fprintf(out, "[%u]", e->port);
	if (far->type != SIM_SWITCH)
		fprintf(out, "(%" PRIx64 ") ", port_guid(far, e->port));
	fputs("\t\t# ", out);
	if (n->type != SIM_SWITCH)
		fprintf(out, "lid %u lmc 0 ", n->lid[port]);
	fprintf(out, "\"%s\" lid %u %s\n", far->desc, far->lid[far->type == SIM_SWITCH ? 0 : e->port],
		cable_speed_name(e->speed, speed));
}

/* Nodes that have a cable. */
static void print(FILE *out, const struct topology *t)
{
	static const char *const kinds[] = { [SIM_CA] = "Ca", [SIM_SWITCH] = "Switch",
					     [SIM_ROUTER] = "Rt" };
	static const char *const guids[] = { [SIM_CA] = "ca", [SIM_SWITCH] = "switch",
					     [SIM_ROUTER] = "rt" };

	for (uint32_t i = 0; i < t->nodes.n; i++) {
		const struct node *n = &t->nodes.v[i];
		bool any = false;

		for (unsigned p = 1; p <= n->nports; p++)
			any = any || n->ends[p].node != NOBODY;
		if (!any)
			continue;
		fprintf(out, "\nvendid=0x%x\ndevid=0x%x\nsysimgguid=0x%" PRIx64 "\n"
			"%sguid=0x%" PRIx64, n->vendor, n->device, n->sysimg, guids[n->type], n->guid);
		if (n->type == SIM_SWITCH)
			fprintf(out, "(%" PRIx64 ")", n->guid);
		fprintf(out, "\n%s\t%u ", kinds[n->type], n->nports);
		print_id(out, n);
		fprintf(out, "\t\t# \"%s\"", n->desc);
		if (n->type == SIM_SWITCH)
			fprintf(out, " base port 0 lid %u lmc 0", n->lid[0]);
		fputc('\n', out);
		for (unsigned p = 1; p <= n->nports; p++)
			if (n->ends[p].node != NOBODY)
				print_port(out, t, n, p);
	}
}

/* LIDs as qosd gives them on a fabric that has none. */
static void give_lids(struct topology *t)
{
	struct shared_policy *policy = shared_policy_new(policy_builtin());
	struct settings *settings = settings_default();
	struct buf err = { 0 };
	FILE *file = tmpfile();
	char path[32];

	if (!file)
		die("there is no temporary file");
	print(file, t);
	fflush(file);
	snprintf(path, sizeof(path), "/dev/fd/%d", fileno(file));
	rewind(file);
	struct fabric *f = fabric_load(path, 0, false, &err);

	if (!f)
		die("%s", err.s);
	struct plan plan = { .f = f, .policy = policy->p, .settings = settings };

	plan_assign_lids(&plan, NULL, NULL);
	for (uint32_t i = 0; i < t->nodes.n; i++) {
		struct node *n = &t->nodes.v[i];
		uint32_t node = map64_get(&f->node_by_guid, n->guid);

		if (node == MAP64_NONE)
			continue;	/* not reached */
		for (unsigned p = 0; p <= n->nports; p++)
			n->lid[p] = plan.lid[f->nodes[node].port0 + p];
	}
	fclose(file);
}

static void make(struct topology *t, char *base)
{
	char *colon = strchr(base, ':');

	for (unsigned i = 0; colon && i < ARRAY_SIZE(families); i++)
		if (!strncmp(base, families[i].name, (size_t)(colon - base)) &&
		    !families[i].name[colon - base]) {
			families[i].make(t, &(struct words){ colon + 1 });
			return;
		}
	import(t, base);
}

int main(int argc, char **argv)
{
	struct topology t = { 0 };

	if (argc != 2 || argv[1][0] == '-') {
		printf("usage: topology BASE[+CHANGE]...\n"
		       "bases:\n"
		       "hyperx:AxB[,hosts=PER-SWITCH]\n"
		       "uneven:LEAVESxSPINES[,hosts=PER-LEAF][,most=CABLES][,seed=N]\n"
		       "regular:switches=N[,degree=N][,hosts=PER-SWITCH][,seed=N]\n"
		       "chassis:n=N[,lines=N][,spines=N][,parallel=N][,front=PORTS][,hosts=EACH]\n"
		       "       [,tops=CHASSIS][,up=CABLES][,top-hosts=EACH]\n"
		       "       [,tors=N][,tor-up=CABLES][,tor-hosts=EACH]\n"
		       "       [,by-board=1][,less=SPINES]\n"
		       "%schanges:\nlose=PERCENT[@SEED]\naggregation\nspine-host[=N]\n"
		       "spine-router[=N]\n", topo_generators_help);
		return argc == 2 ? 0 : 2;
	}
	char *base = xstrdup(argv[1]), *next = strchr(base, '+');

	if (next)
		*next++ = 0;
	make(&t, base);
	for (char *word = next; word; word = next) {
		next = strchr(word, '+');
		if (next)
			*next++ = 0;
		change(&t, word);
	}
	give_lids(&t);
	printf("# topology %s\n", argv[1]);
	print(stdout, &t);
	for (uint32_t i = 0; i < t.nodes.n; i++)
		free(t.nodes.v[i].ends);
	vec_free(&t.nodes);
	free(base);
	return fflush(stdout) ? 1 : 0;
}
