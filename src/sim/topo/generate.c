/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Generates fabrics: parses their specification, and has what all generators share.
 *
 * GUIDs are EUI-64 with a locally administered prefix: prefix, node type, number, and a byte that
 * is 0 for the node (and port 0 of a switch), 1 and up for its ports, and the next value for the
 * system image.
 */
#include "sim/topo/generate.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GUID_PREFIX	(0x025153ULL << 40)
#define HOST_PORTS_MAX	8

#define MELLANOX_ID		0x2c9

/* name, function, parameters and options */
#define FAMILIES(family) \
	family("fat-tree", gen_fat_tree, \
	       ":k=PORTS[,levels=2..4][,taper=N][,pods=N][,hosts=PER-LEAF]") \
	family("clos", gen_clos, ":LEAVESxSPINES[,hosts=PER-LEAF][,parallel=N]") \
	family("torus", gen_torus, ":AxBxC...[,hosts=PER-SWITCH][,parallel=N]") \
	family("mesh", gen_mesh, ":AxBxC...[,hosts=PER-SWITCH][,parallel=N]") \
	family("hyperx", gen_hyperx, ":AxBxC...[,hosts=PER-SWITCH][,parallel=N]") \
	family("hypercube", gen_hypercube, ":d=DIMENSIONS[,hosts=PER-SWITCH][,parallel=N]") \
	family("dragonfly", gen_dragonfly, ":a=PER-GROUP,h=GLOBAL-LINKS[,p=HOSTS][,g=GROUPS]") \
	family("ring", gen_ring, ":SWITCHES[,hosts=PER-SWITCH][,parallel=N]") \
	family("random", gen_random, \
	       ":switches=N[,hosts=N][,ports=N][,links=AT-MOST][,parallel=N][,seed=N]") \
	family("switch", gen_single_switch, ":PORTS[,hosts=N]")

#define OPTIONS_OF_ALL \
	"[,hosts-ports=N][,routers=N][,dangling=N][,aggregation=1][,speed=4xEDR]" \
	"\n       [,lose=PERCENT[@SEED]][,slow=PERCENT[@SEED]:4xQDR]"

#define FAMILY_ENTRY(name, make, takes) { name, make, name takes OPTIONS_OF_ALL },
static const struct gen_family families[] = { FAMILIES(FAMILY_ENTRY) };

#define FAMILY_LINE(name, make, takes) name takes "\n"
const char topo_generators_help[] =
	FAMILIES(FAMILY_LINE)
	"all of them: " OPTIONS_OF_ALL "\n";

/* --- options --- */

void gen_refuse(struct gen *g, const char *fmt, ...)
{
	va_list ap;

	g->bad = true;
	buf_printf(g->err, "%s: ", g->family->name);
	va_start(ap, fmt);
	buf_vprintf(g->err, fmt, ap);
	va_end(ap);
	buf_puts(g->err, "\n");
}

const char *gen_text(struct gen *g, const char *key)
{
	for (unsigned i = 0; i < g->n_options; i++) {
		if (strcmp(g->options[i].key, key) == 0) {
			g->options[i].used = true;
			return g->options[i].value;
		}
	}
	return NULL;
}

uint32_t gen_number(struct gen *g, const char *key, uint32_t otherwise, uint32_t min, uint32_t max)
{
	const char *text = gen_text(g, key), *equals = *key ? "=" : "";
	unsigned long long n;
	char *end;

	if (!text && otherwise != GEN_NEEDED)
		return otherwise;
	if (!text) {
		gen_refuse(g, "%s%sN is missing: %u to %u", key, equals, min, max);
		return min;
	}
	n = strtoull(text, &end, 10);
	if (!isdigit((unsigned char)*text) || *end || n < min || n > max) {
		gen_refuse(g, "%s%s%s: expected a number from %u to %u", key, equals, text, min,
			   max);
		return min;
	}
	return (uint32_t)n;
}

static void read_common(struct gen *g)
{
	const char *speed = gen_text(g, "speed");

	g->host_ports = gen_number(g, "hosts-ports", 1, 1, HOST_PORTS_MAX);
	g->routers = gen_number(g, "routers", 0, 0, TOPO_PORTS_MAX);
	g->dangling = gen_number(g, "dangling", 0, 0, TOPO_PORTS_MAX);
	g->aggregation = gen_number(g, "aggregation", 0, 0, 1);
	if (speed && !cable_speed_parse(speed, &g->speed))
		gen_refuse(g, "speed=%s: %s", speed, CABLE_SPEEDS_TEXT);
	gen_read_flaws(g);
}

static uint32_t hosts_at(const struct gen *g, uint64_t cables)
{
	return (uint32_t)((cables + g->host_ports - 1) / g->host_ports);
}

bool gen_ready(struct gen *g, uint64_t switches, uint64_t ports, uint64_t host_cables)
{
	uint64_t all;

	ports += g->aggregation;
	if (g->bad)
		return false;	/* the generator may not have asked for all options */
	for (unsigned i = 0; i < g->n_options; i++)
		if (!g->options[i].used)
			gen_refuse(g, "%s%s%s: no such option", g->options[i].key,
				   *g->options[i].key ? "=" : "", g->options[i].value);
	if (g->bad)
		return false;
	if (ports > SIM_PORTS_MAX)
		gen_refuse(g, "a switch would need %llu ports; the maximum is %u",
			   (unsigned long long)ports, SIM_PORTS_MAX);
	if (switches > TOPO_PORTS_MAX || host_cables > TOPO_PORTS_MAX)
		all = UINT32_MAX;
	else
		all = switches * (ports + 1 + 2ULL * g->aggregation) +
		      hosts_at(g, host_cables) * (g->host_ports + 1ULL);
	if (all > TOPO_PORTS_MAX)
		gen_refuse(g, "the fabric would have more than %u ports", TOPO_PORTS_MAX);
	else if (g->routers + g->dangling > hosts_at(g, host_cables))
		gen_refuse(g, "routers and dangling replace hosts, of which there are %u",
			   hosts_at(g, host_cables));
	return !g->bad;
}

/* Splits "KIND:VALUE,KEY=VALUE,…" in place. */
static void split_options(struct gen *g, char *text)
{
	for (char *next, *word = text; word && *word; word = next) {
		struct gen_option o = { "", word, false };
		char *equals;

		next = strchr(word, ',');
		if (next)
			*next++ = 0;
		equals = strchr(word, '=');
		if (equals) {
			*equals = 0;
			o.key = word;
			o.value = equals + 1;
		}
		for (unsigned i = 0; i < g->n_options; i++)
			if (strcmp(g->options[i].key, o.key) == 0)
				gen_refuse(g, "\"%s\" is given twice", *o.key ? o.key : o.value);
		if (g->n_options == GEN_OPTIONS_MAX) {
			gen_refuse(g, "more than %u options", GEN_OPTIONS_MAX);
			return;
		}
		g->options[g->n_options++] = o;
	}
}

static const struct gen_family *find_family(const char *word)
{
	size_t n = strcspn(word, ":");

	for (size_t i = 0; i < ARRAY_SIZE(families); i++)
		if (strlen(families[i].name) == n && memcmp(families[i].name, word, n) == 0)
			return &families[i];
	return NULL;
}

bool topo_is_generated(const char *word)
{
	size_t n = 0;

	while (islower((unsigned char)word[n]) || word[n] == '-')
		n++;
	return n && word[n] == ':' && !strchr(word, '/');
}

/* Adds a node with the id that ibnetdiscover would print. */
static uint32_t add_spec(struct gen *g, struct sim_node_spec *s)
{
	static const char letters[] = { [SIM_CA] = 'H', [SIM_SWITCH] = 'S', [SIM_ROUTER] = 'R' };
	struct buf why = { 0 };
	char id[24];
	uint32_t node;

	snprintf(id, sizeof(id), "%c-%016llx", letters[s->type], (unsigned long long)s->guid);
	s->id = id;
	node = simfab_add_node(g->f, s, &why);
	if (node == SIM_NONE)
		gen_refuse(g, "%s", why.s);
	buf_free(&why);
	return node;
}

/*
 * Adds an aggregation node inside a switch, as in Switch-IB 2 and later: a channel adapter with one
 * port and the switch's system image GUID.  It uses an extra port of the switch, after all others.
 * Node and port have the same GUID, 8 above the switch's.
 */
static void add_aggregation_node(struct gen *g, uint32_t sw)
{
	const struct sim_node *n = &g->f->nodes[sw];
	uint64_t guid = n->guid + 8;
	struct sim_node_spec s = {
		.type = SIM_CA, .nports = 1, .guid = guid, .sysimg_guid = n->sysimg_guid,
		.port_guid = { [1] = guid }, .vendor_id = MELLANOX_ID,
		.device_id = SIM_AGGREGATION_NODE, .desc = "Mellanox Technologies Aggregation Node",
	};
	unsigned port = n->nports;
	uint32_t node = add_spec(g, &s);

	if (node != SIM_NONE)
		gen_link(g, node, 1, sw, port);
}

/* Comes last, so that switches and hosts are the same as without aggregation nodes. */
static void add_aggregation_nodes(struct gen *g)
{
	uint32_t n = g->f->n_nodes;

	for (uint32_t i = 0; g->aggregation && i < n && !g->bad; i++)
		if (is_switch(&g->f->nodes[i]))
			add_aggregation_node(g, i);
}

bool topo_generate(const char *spec, struct sim_fabric *f, struct buf *err)
{
	struct gen g = { .f = f, .err = err, .family = find_family(spec) };
	const char *colon = strchr(spec, ':');
	char *text;

	if (!g.family) {
		buf_printf(err, "%s: no such generator; there are:\n%s", spec,
			   topo_generators_help);
		return false;
	}
	text = xstrdup(colon ? colon + 1 : "");
	split_options(&g, text);
	read_common(&g);
	g.family->make(&g);
	add_aggregation_nodes(&g);
	if (!g.bad)
		gen_add_flaws(&g);
	free(text);
	if (g.bad)
		buf_printf(err, "usage: %s\n", g.family->help);
	return !g.bad;
}

/* --- building --- */

int gen_digits(uint32_t n, int min)
{
	int digits = 1;

	for (uint64_t ten = 10; ten < n; ten *= 10)
		digits++;
	return digits > min ? digits : min;
}

uint32_t gen_chance(uint64_t *state, uint32_t n)
{
	*state += 0x9e3779b97f4a7c15ULL;
	return (uint32_t)((hash64(*state) >> 32) * n >> 32);
}

static uint32_t add_node(struct gen *g, enum sim_node_type type, unsigned nports, const char *desc)
{
	uint64_t guid = GUID_PREFIX | (uint64_t)type << 32 | (uint64_t)++g->made[type] << 8;
	struct sim_node_spec s = {
		.type = (uint8_t)type, .nports = (uint8_t)nports, .guid = guid,
		.sysimg_guid = guid + 1 + (type == SIM_SWITCH ? 0 : nports), .desc = desc,
	};

	return add_spec(g, &s);
}

uint32_t gen_switch(struct gen *g, unsigned nports, const char *fmt, ...)
{
	char desc[65];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(desc, sizeof(desc), fmt, ap);
	va_end(ap);
	return add_node(g, SIM_SWITCH, nports + g->aggregation, desc);
}

void gen_link(struct gen *g, uint32_t node_a, unsigned port_a, uint32_t node_b, unsigned port_b)
{
	struct buf why = { 0 };
	uint32_t a, b;

	if (g->bad)
		return;		/* a node is missing */
	a = g->f->nodes[node_a].port0 + port_a;
	b = g->f->nodes[node_b].port0 + port_b;
	if (simfab_connect(g->f, a, b, &why))
		cable_speed_apply(g->f, a, g->speed);
	else
		gen_refuse(g, "%s", why.s);
	buf_free(&why);
}

/* The last hosts have no power; those before them are routers. */
static uint32_t add_host(struct gen *g, uint32_t i, uint32_t n)
{
	char desc[65];
	bool off = i >= n - g->dangling;
	uint32_t node;

	if (!off && i >= n - g->dangling - g->routers) {
		snprintf(desc, sizeof(desc), "router-%0*u", gen_digits(g->routers + 1, 2),
			 g->made[SIM_ROUTER] + 1);
		return add_node(g, SIM_ROUTER, g->host_ports, desc);
	}
	snprintf(desc, sizeof(desc), "host-%0*u HCA-1", gen_digits(n + 1, 4), g->made[SIM_CA] + 1);
	node = add_node(g, SIM_CA, g->host_ports, desc);
	if (node != SIM_NONE)
		g->f->nodes[node].off = off;
	return node;
}

void gen_hosts(struct gen *g, const struct gen_place *places, uint32_t n)
{
	uint32_t hosts = hosts_at(g, n), host = SIM_NONE;

	for (uint32_t i = 0; i < n && !g->bad; i++) {
		unsigned port = i % g->host_ports + 1;

		if (port == 1)
			host = add_host(g, i / g->host_ports, hosts);
		gen_link(g, host, port, places[i].node, places[i].port);
	}
}

void gen_hosts_evenly(struct gen *g, uint32_t first_switch, uint32_t n, unsigned per_switch)
{
	struct gen_place *places = xcalloc((size_t)n * per_switch + 1, sizeof(*places));
	uint32_t filled = 0;

	/* groups of as many switches as a host has ports, and the rest */
	for (uint32_t group = 0; group < n; group += g->host_ports) {
		uint32_t size = n - group < g->host_ports ? n - group : g->host_ports;

		for (uint32_t i = 0; i < size * per_switch; i++)
			places[filled++] = (struct gen_place){
				first_switch + group + i % size, (uint8_t)(i / size + 1)
			};
	}
	gen_hosts(g, places, filled);
	free(places);
}
