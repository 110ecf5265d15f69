/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * gentopo: prints made-up fabrics in ibnetdiscover's format, for ibsim and for
 * every other reader of it.  Stands alone; the same arguments always give the
 * same text.
 *
 * ibsim numbers a CA's ports node GUID + 1, + 2 …: so are they printed.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SWITCH_GUIDS	0x0002c90200000000ULL
#define CA_GUIDS	0x0002c90300000000ULL
#define PORTS_MAX	254
#define DIMS_MAX	8

struct end {
	unsigned node;
	unsigned port;		/* 0: nothing linked */
};

struct node {
	bool is_switch;
	unsigned nports;
	uint64_t guid;
	char desc[64];
	struct end *ends;	/* [1 .. nports] */
};

static struct node *nodes;
static unsigned n_nodes, n_switches, n_hosts;

static struct {
	unsigned levels, radix, hosts, hosts_per_switch, switches, links;
	uint64_t seed;
	unsigned dims[DIMS_MAX], n_dims;
	const char *speed;
} opt = { .speed = "4xQDR", .hosts = UINT32_MAX, .hosts_per_switch = 1, .seed = 1 };

__attribute__((format(printf, 1, 2), noreturn))
static void die(const char *fmt, ...)
{
	va_list ap;

	fputs("gentopo: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(2);
}

static void *must(void *p)
{
	if (!p)
		die("out of memory");
	return p;
}

/* --- the model --- */

static unsigned add_node(bool is_switch, unsigned nports, uint64_t guid)
{
	if (nports > PORTS_MAX)
		die("a device has at most %d ports", PORTS_MAX);
	/* doubles at the powers of two */
	if (!(n_nodes & (n_nodes - 1)))
		nodes = must(realloc(nodes, sizeof(*nodes) * (n_nodes ? 2 * (size_t)n_nodes : 1)));
	nodes[n_nodes] = (struct node){
		.is_switch = is_switch, .nports = nports, .guid = guid,
		.ends = must(calloc(nports + 1, sizeof(struct end))),
	};
	return n_nodes++;
}

__attribute__((format(printf, 2, 3)))
static unsigned add_switch(unsigned nports, const char *fmt, ...)
{
	unsigned sw = add_node(true, nports, SWITCH_GUIDS + ++n_switches * 0x10ULL);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(nodes[sw].desc, sizeof(nodes[sw].desc), fmt, ap);
	va_end(ap);
	return sw;
}

static void link_ports(unsigned a, unsigned port_a, unsigned b, unsigned port_b)
{
	nodes[a].ends[port_a] = (struct end){ b, port_b };
	nodes[b].ends[port_b] = (struct end){ a, port_a };
}

/* The first port of a node that nothing is linked to; 0 if none. */
static unsigned free_port(unsigned node)
{
	for (unsigned p = 1; p <= nodes[node].nports; p++)
		if (!nodes[node].ends[p].port)
			return p;
	return 0;
}

/* Two different nodes, both with a free port. */
static void link_free(unsigned a, unsigned b)
{
	link_ports(a, free_port(a), b, free_port(b));
}

static void add_host(unsigned sw, unsigned port)
{
	unsigned host = add_node(false, 1, CA_GUIDS + ++n_hosts * 0x10ULL);

	snprintf(nodes[host].desc, sizeof(nodes[host].desc), "node%04u HCA-1", n_hosts);
	link_ports(sw, port, host, 1);
}

/* --- kinds of fabric --- */

/* Hosts fill the leaves in order until there are opt.hosts of them. */
static void add_leaf_hosts(unsigned leaf, unsigned n)
{
	for (unsigned p = 1; p <= n && n_hosts < opt.hosts; p++)
		add_host(leaf, p);
}

/* radix leaves with radix/2 hosts each below radix/2 spines. */
static void make_fat_tree2(void)
{
	unsigned half = opt.radix / 2;
	unsigned leaf0 = n_nodes;

	for (unsigned i = 0; i < opt.radix; i++)
		add_switch(opt.radix, "leaf%03u", i + 1);
	for (unsigned s = 0; s < half; s++) {
		unsigned spine = add_switch(opt.radix, "spine%03u", s + 1);

		for (unsigned i = 0; i < opt.radix; i++)
			link_ports(leaf0 + i, half + s + 1, spine, i + 1);
	}
	for (unsigned i = 0; i < opt.radix; i++)
		add_leaf_hosts(leaf0 + i, half);
}

/* radix pods of radix/2 leaves and radix/2 spines below (radix/2)^2 cores. */
static void make_fat_tree3(void)
{
	unsigned half = opt.radix / 2, pods = opt.radix;
	unsigned core0, leaf0, spine0;

	leaf0 = n_nodes;
	for (unsigned i = 0; i < pods * half; i++)
		add_switch(opt.radix, "leaf%03u-%02u", i / half + 1, i % half + 1);
	spine0 = n_nodes;
	for (unsigned i = 0; i < pods * half; i++)
		add_switch(opt.radix, "spine%03u-%02u", i / half + 1, i % half + 1);
	core0 = n_nodes;
	for (unsigned i = 0; i < half * half; i++)
		add_switch(opt.radix, "core%04u", i + 1);

	for (unsigned pod = 0; pod < pods; pod++)
		for (unsigned a = 0; a < half; a++) {
			unsigned spine = spine0 + pod * half + a;

			for (unsigned b = 0; b < half; b++) {
				link_ports(leaf0 + pod * half + b, half + a + 1, spine, b + 1);
				link_ports(spine, half + b + 1, core0 + a * half + b, pod + 1);
			}
		}
	for (unsigned i = 0; i < pods * half; i++)
		add_leaf_hosts(leaf0 + i, half);
}

static void make_fat_tree(void)
{
	if (opt.radix < 2 || opt.radix % 2)
		die("--radix must be even");
	if (opt.levels == 2)
		make_fat_tree2();
	else if (opt.levels == 3)
		make_fat_tree3();
	else
		die("--levels must be 2 or 3");
}

/* Switch at (c0, c1, …) is number c0 + dims0 * (c1 + dims1 * …). */
static void make_grid(bool wrap)
{
	unsigned total = 1, stride = 1;

	if (!opt.n_dims)
		die("--dims is missing");
	for (unsigned d = 0; d < opt.n_dims; d++)
		total *= opt.dims[d];
	for (unsigned i = 0; i < total; i++)
		add_switch(2 * opt.n_dims + opt.hosts_per_switch, "switch%04u", i + 1);
	for (unsigned d = 0; d < opt.n_dims; stride *= opt.dims[d++])
		for (unsigned i = 0; i < total; i++) {
			unsigned c = i / stride % opt.dims[d];
			bool last = c + 1 == opt.dims[d];
			unsigned next = last ? i - c * stride : i + stride;

			if (next != i && (wrap || !last))
				link_ports(i, 2 * d + 1, next, 2 * d + 2);
		}
	for (unsigned i = 0; i < total; i++)
		for (unsigned h = 1; h <= opt.hosts_per_switch; h++)
			add_host(i, 2 * opt.n_dims + h);
}

static uint64_t random_below(uint64_t n)
{
	uint64_t x = opt.seed += 0x9e3779b97f4a7c15ULL;	/* splitmix64 */

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return (x ^ x >> 31) % n;
}

/* A switch among the first n, other than `but`, that has a free port. */
static unsigned random_switch(unsigned n, unsigned but)
{
	unsigned start = (unsigned)random_below(n);

	for (unsigned i = 0; i < n; i++) {
		unsigned sw = (start + i) % n;

		if (sw != but && free_port(sw))
			return sw;
	}
	die("not enough ports for so many links and hosts");
}

/* One more link; every fourth is parallel to an existing one. */
static void add_random_link(unsigned count)
{
	unsigned a = random_switch(opt.switches, UINT32_MAX);
	unsigned b = nodes[a].ends[1].node;

	if (count % 4 || !nodes[a].ends[1].port || !free_port(b))
		b = random_switch(opt.switches, a);
	link_free(a, b);
}

static void make_random(void)
{
	if (opt.switches < 1 || opt.radix < 2 || opt.links + 1 < opt.switches ||
	    (opt.switches == 1 && opt.links))
		die("--switches N, --radix R and --links L (at least N - 1) are needed");
	if (opt.hosts == UINT32_MAX)
		opt.hosts = opt.switches;
	for (unsigned i = 0; i < opt.switches; i++) {
		add_switch(opt.radix, "switch%04u", i + 1);
		if (i)
			link_free(i, random_switch(i, i));
	}
	for (unsigned i = opt.switches - 1; i < opt.links; i++)
		add_random_link(i);
	for (unsigned i = 0; i < opt.hosts; i++) {
		unsigned sw = random_switch(opt.switches, UINT32_MAX);

		add_host(sw, free_port(sw));
	}
}

/* --- printing --- */

static void print_id(const struct node *n)
{
	printf("\"%c-%016" PRIx64 "\"", n->is_switch ? 'S' : 'H', n->guid);
}

static void print_end(const struct node *n, unsigned port)
{
	const struct end *e = &n->ends[port];
	const struct node *far = &nodes[e->node];

	printf("[%u]", port);
	if (!n->is_switch)
		printf("(%" PRIx64 ") ", n->guid + port);
	putchar('\t');
	print_id(far);
	printf("[%u]", e->port);
	if (!far->is_switch)
		printf("(%" PRIx64 ") ", far->guid + e->port);
	printf("\t\t# %s\"%s\" lid 0 %s\n", n->is_switch ? "" : "lid 0 lmc 0 ", far->desc,
	       opt.speed);
}

static void print_node(const struct node *n)
{
	printf("\nvendid=0x2c9\ndevid=0x%x\nsysimgguid=0x%" PRIx64 "\n",
	       n->is_switch ? 0xc738 : 0x1003, n->guid);
	if (n->is_switch)
		printf("switchguid=0x%" PRIx64 "(%" PRIx64 ")\nSwitch", n->guid, n->guid);
	else
		printf("caguid=0x%" PRIx64 "\nCa", n->guid);
	printf("\t%u ", n->nports);
	print_id(n);
	printf("\t\t# \"%s\"%s\n", n->desc, n->is_switch ? " base port 0 lid 0 lmc 0" : "");
	for (unsigned p = 1; p <= n->nports; p++)
		if (n->ends[p].port)
			print_end(n, p);
}

static void usage(void)
{
	fputs("usage: gentopo fat-tree --levels 2|3 --radix R [--hosts N]\n"
	      "       gentopo torus|mesh --dims AxBxC [--hosts-per-switch N]\n"
	      "       gentopo ring --switches N [--hosts-per-switch N]\n"
	      "       gentopo random --switches N --radix R --links N [--hosts N] [--seed S]\n"
	      "each with [--speed 4xQDR]\n", stderr);
	exit(2);
}

static uint64_t number(const char *text, uint64_t min, uint64_t max, char **end)
{
	char *rest;

	errno = 0;
	uint64_t v = strtoull(text, &rest, 0);

	if (rest == text || errno || *text == '-' || v < min || v > max || (!end && *rest))
		die("bad number '%s'", text);
	if (end)
		*end = rest;
	return v;
}

static void parse_dims(const char *text)
{
	char *end;

	for (uint64_t total = 1;; text = end + 1) {
		if (opt.n_dims == DIMS_MAX)
			die("at most %d dimensions", DIMS_MAX);
		opt.dims[opt.n_dims] = (unsigned)number(text, 1, 1000, &end);
		total *= opt.dims[opt.n_dims++];
		if (total > 100000 || (*end && *end != 'x'))
			die("bad dimensions");
		if (!*end)
			return;
	}
}

static void parse_options(int argc, char **argv)
{
	static const struct option options[] = {
		{ "levels", 1, NULL, 'l' }, { "radix", 1, NULL, 'r' },
		{ "hosts", 1, NULL, 'n' }, { "hosts-per-switch", 1, NULL, 'p' },
		{ "switches", 1, NULL, 's' }, { "links", 1, NULL, 'k' },
		{ "dims", 1, NULL, 'd' }, { "seed", 1, NULL, 'e' },
		{ "speed", 1, NULL, 'w' }, { NULL, 0, NULL, 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1)
		switch (c) {
		case 'l': opt.levels = (unsigned)number(optarg, 2, 3, NULL); break;
		case 'r': opt.radix = (unsigned)number(optarg, 2, PORTS_MAX, NULL); break;
		case 'n': opt.hosts = (unsigned)number(optarg, 0, 1000000, NULL); break;
		case 'p':
			opt.hosts_per_switch = (unsigned)number(optarg, 0, PORTS_MAX, NULL);
			break;
		case 's': opt.switches = (unsigned)number(optarg, 1, 100000, NULL); break;
		case 'k': opt.links = (unsigned)number(optarg, 0, 10000000, NULL); break;
		case 'd': parse_dims(optarg); break;
		case 'e': opt.seed = number(optarg, 0, UINT64_MAX, NULL); break;
		case 'w': opt.speed = optarg; break;
		default: usage();
		}
}

int main(int argc, char **argv)
{
	parse_options(argc, argv);
	if (optind != argc - 1)
		usage();
	const char *kind = argv[optind];

	if (!strcmp(kind, "fat-tree")) {
		make_fat_tree();
	} else if (!strcmp(kind, "torus") || !strcmp(kind, "mesh")) {
		make_grid(kind[0] == 't');
	} else if (!strcmp(kind, "ring")) {
		opt.dims[0] = opt.switches;
		opt.n_dims = opt.switches != 0;
		make_grid(true);
	} else if (!strcmp(kind, "random")) {
		make_random();
	} else {
		usage();
	}

	printf("# gentopo %s: %u hosts, %u switches\n", kind, n_hosts, n_switches);
	for (unsigned i = 0; i < n_nodes; i++)
		print_node(&nodes[i]);
	if (fflush(stdout) || ferror(stdout))
		die("can't write: %s", strerror(errno));
	for (unsigned i = 0; i < n_nodes; i++)
		free(nodes[i].ends);
	free(nodes);
	return 0;
}
