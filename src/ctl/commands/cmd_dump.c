/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writes OpenSM's dump files (cmd_dump.h), and streams them for the `dump` command.
 *
 * Each file is a list of items in OpenSM's order (nodes, switches or end ports), and a writer that
 * emits the next piece of an item and says whether the item is complete.
 */
#include "ctl/commands/cmd_dump.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/mad.h>

#include "ctl/command.h"
#include "fabric/device_kinds.h"
#include "lib/base/alloc.h"
#include "lib/base/bytes.h"

#define FDB_PIECE 256		/* LIDs that the writer of opensm.fdbs takes at a time */
#define PATHS_PIECE 256	/* the same, of opensm-path-sls.dump */
#define GOALS_PIECE 8	/* switches that are prepared for it at a time */
#define PIECE (32u << 10)	/* bytes of text gathered before they are returned */
#define NO_HOPS UINT16_MAX

struct dump {
	const struct subnet_state *s;
	const struct ctl_env *env;
	unsigned file;			/* index into files */
	bool begun;			/* the file's empty first piece was returned */
	uint32_t *items, n_items;	/* of this file */
	uint32_t item, sub;		/* next item, and the writer's position in it */
	bool item_begun;
	uint16_t *dist;			/* [switch]: hops from this item's switch, */
	uint8_t *first;			/* and egress port there */
	uint32_t *queue;
	uint32_t ports;			/* most ports of a switch, with port 0 */
	uint32_t *next_sw;		/* [switch × ports + port]: switch at the far end, or FABRIC_NONE */
	struct goal *goals;		/* [LID]: where routes to it end */
	uint16_t *lids;			/* those of a switch and its CAs: [lids_of[switch], lids_of[switch + 1]) */
	uint32_t *lids_of;
	uint32_t prepared;		/* switches whose LIDs' goals are complete */
	struct device_kinds kinds;	/* those of the nodes, for qosd-devices.yaml */
};

/* The end of all routes to a LID; both FABRIC_NONE if no port has it. */
struct goal {
	uint32_t sw;			/* the last switch */
	uint32_t exit;			/* its port that leads to the LID, as in next_sw; FABRIC_NONE: itself has it */
	bool far;			/* some switch does not send there by the fewest hops */
};

struct dump_file {
	const char *name;
	bool (*wanted)(const struct subnet_state *s);	/* NULL: always */
	void (*collect)(struct dump *d);	/* fills items */
	/* does a part of what must be done before the first piece; returns false when done; or NULL */
	bool (*prepare)(struct dump *d);
	/* writes a piece; returns false when the item is complete */
	bool (*piece)(struct dump *d, uint32_t item, struct buf *out);
};

/* --- parts shared by several files --- */

/* Prints a NodeDescription as OpenSM does: characters that are not printable become spaces. */
static void put_desc(struct buf *out, const struct fabric_node *n)
{
	char clean[sizeof(n->desc)];
	size_t i;

	for (i = 0; n->desc[i]; i++)
		clean[i] = n->desc[i] >= ' ' && n->desc[i] <= '~' ? n->desc[i] : ' ';
	clean[i] = '\0';
	buf_puts(out, clean);
}

/* The slot that holds a port's LID and capabilities: port 0 for ports of a switch. */
static uint32_t lid_slot(const struct fabric *f, uint32_t slot)
{
	const struct fabric_node *n = port_node(f, slot);

	return node_is_switch(n) ? n->port0 : slot;
}

static uint32_t info_field(const struct fabric_port *p, enum MAD_FIELDS field)
{
	uint8_t info[sizeof(p->info)];

	memcpy(info, p->info, sizeof(info));	/* mad_get_field() takes no const */
	return mad_get_field(info, 0, field);
}

/* --- items --- */

/*
 * OpenSM keeps GUIDs in network byte order in maps that compare them as integers: on a
 * little-endian machine their last byte decides first.
 */
struct keyed {
	uint64_t key;
	uint32_t item;
};

static int compare_keys(const void *a, const void *b)
{
	const struct keyed *x = a, *y = b;

	return x->key < y->key ? -1 : x->key > y->key;
}

static void set_items(struct dump *d, struct keyed *k, uint32_t n)
{
	if (n > 0)
		qsort(k, n, sizeof(*k), compare_keys);
	for (uint32_t i = 0; i < n; i++)
		d->items[i] = k[i].item;
	d->n_items = n;
	free(k);
}

static void collect_nodes(struct dump *d)
{
	const struct fabric *f = d->s->f;
	struct keyed *k = xcalloc(f->n_nodes, sizeof(*k));

	for (uint32_t i = 0; i < f->n_nodes; i++)
		k[i] = (struct keyed){ __builtin_bswap64(f->nodes[i].guid), i };
	set_items(d, k, f->n_nodes);
}

static void collect_switches(struct dump *d)
{
	const struct fabric *f = d->s->f;
	struct keyed *k = xcalloc(f->n_switches, sizeof(*k));

	for (uint32_t i = 0; i < f->n_switches; i++)
		k[i] = (struct keyed){
			__builtin_bswap64(f->nodes[f->switches[i].node].guid), i };
	set_items(d, k, f->n_switches);
}

static void collect_end_ports(struct dump *d)
{
	const struct fabric *f = d->s->f;
	struct keyed *k = xcalloc(f->n_ports, sizeof(*k));
	uint32_t n = 0;

	for (uint32_t i = 0; i < f->n_ports; i++)
		if (port_is_end(f, i) && d->s->plan->lid[i])
			k[n++] = (struct keyed){ __builtin_bswap64(f->ports[i].guid), i };
	set_items(d, k, n);
}

/* Prints numbers of known width, of which some files have millions; each returns the place behind. */
static char *put_hex4(char *to, unsigned n)
{
	static const char digits[] = "0123456789ABCDEF";

	for (int shift = 12; shift >= 0; shift -= 4)
		*to++ = digits[n >> shift & 15];
	return to;
}

static char *put_decimal(char *to, unsigned n, unsigned width)
{
	for (unsigned i = width; i-- > 0; n /= 10)
		to[i] = (char)('0' + n % 10);
	return to + width;
}

/* Left-justified in a field of so many characters, of which n needs no more. */
static char *put_left(char *to, unsigned n, unsigned width)
{
	unsigned digits = n < 10 ? 1 : n < 100 ? 2 : 3;

	put_decimal(to, n, digits);
	memset(to + digits, ' ', width - digits);
	return to + width;
}

/* --- opensm-subnet.lst: each link from both its ends --- */

static const char *type_tag(const struct fabric_node *n)
{
	return node_is_switch(n) ? "SW" : n->type == IB_NODE_ROUTER_T ? "Rt" : "CA";
}

/* OpenSM prints the far end's ids wider, with DevID in the upper 16 of 32 bits. */
static void put_end(struct buf *out, const struct subnet_state *s, uint32_t slot, bool far)
{
	const struct fabric_port *p = &s->f->ports[slot];
	const struct fabric_node *n = port_node(s->f, slot);
	uint16_t lid = s->plan->lid[lid_slot(s->f, slot)];
	bool is_sm = lid != 0 && lid == s->plan->lid[lid_slot(s->f, s->f->self)];
	uint32_t vendor = get_be32(n->info + 36) & 0xffffff, device = get_be16(n->info + 30);

	buf_printf(out, "{ %s%s Ports:%02X SystemGUID:%016llx NodeGUID:%016llx PortGUID:%016llx",
		   type_tag(n), is_sm ? "-SM" : "", n->nports,
		   (unsigned long long)n->sysimg_guid, (unsigned long long)n->guid,
		   (unsigned long long)p->guid);
	buf_printf(out, far ? " VenID:%08X DevID:%04X" : " VenID:%06X DevID:%04X", vendor,
		   far ? device << 16 : device);
	buf_printf(out, " Rev:%08X {", get_be32(n->info + 32));
	put_desc(out, n);
	buf_printf(out, "} LID:%04X PN:%02X } ", lid, p->num);
}

static const char *width_text(unsigned width)
{
	switch (width) {
	case 1: return "1x";
	case 2: return "4x";
	case 4: return "8x";
	case 8: return "12x";
	case 16: return "2x";
	default: return "??";
	}
}

static const char *speed_text(const struct fabric_port *p, bool extended)
{
	unsigned speed = info_field(p, IB_PORT_LINK_SPEED_ACTIVE_F);

	if (extended && ib_ext_active(p->info)) {
		switch (ib_ext_active(p->info)) {
		case IB_EXT_FDR: return "14";
		case IB_EXT_EDR: return "25";
		case IB_EXT_HDR: return "50";
		case IB_EXT_NDR: return "100";
		case IB_EXT_XDR: return "200";
		default: return "??";
		}
	}
	if (p->fdr10)
		return "FDR10";
	return speed == 1 ? "2.5" : speed == 2 ? "5" : speed == 4 ? "10" : "??";
}

static const char *link_state_text(unsigned state)
{
	return state == IB_PORT_ACTIVE_S ? "ACT" : state == IB_PORT_ARMED_S ? "ARM" :
	       state == IB_PORT_INIT_S ? "INI" : "DWN";
}

static void put_link(struct buf *out, const struct subnet_state *s, uint32_t slot)
{
	const struct fabric_port *p = &s->f->ports[slot];
	uint32_t capmask = s->f->ports[lid_slot(s->f, slot)].capmask;

	put_end(out, s, slot, false);
	put_end(out, s, p->peer, true);
	buf_printf(out, "PHY=%s LOG=%s SPD=%s\n",
		   width_text(info_field(p, IB_PORT_LINK_WIDTH_ACTIVE_F)),
		   link_state_text(p->state), speed_text(p, capmask & IB_CAP_EXT_SPEEDS));
}

static bool subnet_piece(struct dump *d, uint32_t node, struct buf *out)
{
	const struct fabric_node *n = &d->s->f->nodes[node];

	if (d->sub == n->nports)
		return false;
	d->sub++;
	if (d->s->f->ports[n->port0 + d->sub].peer != FABRIC_NONE)
		put_link(out, d->s, n->port0 + d->sub);
	return true;
}

/* --- opensm.fdbs: the LFT of each switch, with hops --- */

static uint32_t port_place(const struct dump *d, uint32_t slot)
{
	const struct fabric_port *p = &d->s->f->ports[slot];

	return port_node(d->s->f, slot)->sw * d->ports + p->num;
}

/* The links between switches.  All tables are followed to all LIDs, so they lie close together. */
static void collect_links(struct dump *d)
{
	const struct fabric *f = d->s->f;

	d->ports = 0;
	for (uint32_t sw = 0; sw < f->n_switches; sw++)
		if (f->nodes[f->switches[sw].node].nports >= d->ports)
			d->ports = f->nodes[f->switches[sw].node].nports + 1u;
	d->next_sw = xcalloc((size_t)f->n_switches * d->ports, sizeof(*d->next_sw));
	memset(d->next_sw, 0xff, (size_t)f->n_switches * d->ports * sizeof(*d->next_sw));
	for (uint32_t sw = 0; sw < f->n_switches; sw++) {
		const struct fabric_node *n = &f->nodes[f->switches[sw].node];

		for (unsigned port = 1; port <= n->nports; port++) {
			uint32_t peer = f->ports[n->port0 + port].peer;

			if (peer != FABRIC_NONE)
				d->next_sw[port_place(d, n->port0 + port)] = port_node(f, peer)->sw;
		}
	}
}

/* Where routes end, and the LIDs by the switch where they do. */
static void collect_goals(struct dump *d)
{
	const struct fabric *f = d->s->f;
	const struct plan *p = d->s->plan;

	d->goals = xcalloc(p->lid_top + 1u, sizeof(*d->goals));
	d->lids = xcalloc(p->lid_top + 1u, sizeof(*d->lids));
	d->lids_of = xcalloc(f->n_switches + 2u, sizeof(*d->lids_of));
	for (uint32_t lid = 0; lid <= p->lid_top; lid++) {
		uint32_t dst = p->port_by_lid[lid];

		d->goals[lid] = (struct goal){ .sw = FABRIC_NONE, .exit = FABRIC_NONE };
		if (dst == FABRIC_NONE)
			continue;
		d->goals[lid].sw = fabric_switch_of(f, dst);
		if (!node_is_switch(port_node(f, dst)))
			d->goals[lid].exit = port_place(d, f->ports[dst].peer);
		d->lids_of[d->goals[lid].sw + 2]++;
	}
	for (uint32_t sw = 0; sw < f->n_switches; sw++)
		d->lids_of[sw + 2] += d->lids_of[sw + 1];
	for (uint32_t lid = 0; lid <= p->lid_top; lid++)
		if (d->goals[lid].sw != FABRIC_NONE)
			d->lids[d->lids_of[d->goals[lid].sw + 1]++] = (uint16_t)lid;
}

static void collect_routes(struct dump *d)
{
	collect_switches(d);
	collect_links(d);
	collect_goals(d);
}

/* Hops from the switch to all others over links, regardless of tables, breadth first. */
static void measure(struct dump *d, uint32_t from)
{
	uint32_t head = 0, tail = 0;

	for (uint32_t sw = 0; sw < d->s->f->n_switches; sw++)
		d->dist[sw] = NO_HOPS;
	d->dist[from] = 0;
	d->first[from] = 0;
	d->queue[tail++] = from;
	while (head < tail) {
		uint32_t sw = d->queue[head++];

		for (unsigned out = 1; out < d->ports; out++) {
			uint32_t next = d->next_sw[sw * d->ports + out];

			if (next == FABRIC_NONE || d->dist[next] != NO_HOPS)
				continue;
			d->dist[next] = (uint16_t)(d->dist[sw] + 1);
			d->first[next] = sw == from ? (uint8_t)out : d->first[sw];
			d->queue[tail++] = next;
		}
	}
}

/* True if the switch's entry leads one hop nearer to the LID; dist is from the LID's switch. */
static bool is_nearer(const struct dump *d, uint32_t sw, uint16_t lid)
{
	const struct goal *goal = &d->goals[lid];
	uint8_t out = lft_get(d->s->plan->lfts, sw, lid);
	uint32_t next;

	if (sw == goal->sw)
		return goal->exit == FABRIC_NONE || sw * d->ports + out == goal->exit;
	next = out < d->ports ? d->next_sw[sw * d->ports + out] : FABRIC_NONE;
	return next != FABRIC_NONE && d->dist[next] + 1 == d->dist[sw];
}

/*
 * Finds the LIDs that all tables lead to by the fewest hops, usually all of them: then no route to
 * them need be followed.  Does so for a few switches at a time, and returns false when done.
 */
static bool prepare_routes(struct dump *d)
{
	uint32_t n = d->s->f->n_switches, end = d->prepared + GOALS_PIECE;

	for (; d->prepared < end && d->prepared < n; d->prepared++) {
		const uint16_t *lids = d->lids + d->lids_of[d->prepared];
		uint32_t n_lids = d->lids_of[d->prepared + 1] - d->lids_of[d->prepared];

		measure(d, d->prepared);
		for (uint32_t sw = 0; sw < n; sw++)
			for (uint32_t i = 0; i < n_lids; i++)
				d->goals[lids[i]].far |= !is_nearer(d, sw, lids[i]);
	}
	return d->prepared < n;
}

/* The fewest hops from this item's switch. */
static unsigned best_hops(const struct dump *d, const struct goal *goal)
{
	return d->dist[goal->sw] + (goal->exit != FABRIC_NONE);
}

/* Hops that the tables take from a switch to a LID; NO_HOPS if they do not lead there. */
static unsigned table_hops(const struct dump *d, uint32_t sw, uint16_t lid)
{
	const struct goal *goal = &d->goals[lid];

	if (goal->sw == FABRIC_NONE)
		return NO_HOPS;
	if (!goal->far && best_hops(d, goal) < PATH_HOPS_MAX)
		return best_hops(d, goal);
	for (unsigned hops = 0; hops < PATH_HOPS_MAX && sw != FABRIC_NONE; hops++) {
		uint8_t out;

		if (sw == goal->sw && goal->exit == FABRIC_NONE)
			return hops;
		out = lft_get(d->s->plan->lfts, sw, lid);
		if (out >= d->ports)
			break;
		if (sw * d->ports + out == goal->exit)
			return hops + 1 < PATH_HOPS_MAX ? hops + 1 : NO_HOPS;
		sw = d->next_sw[sw * d->ports + out];
	}
	return NO_HOPS;
}

/* As put_fdb_entry() prints most entries. */
static void put_good_entry(uint16_t lid, uint8_t port, unsigned hops, struct buf *out)
{
	char line[32] = "0x", *to = put_hex4(line + 2, lid);

	memcpy(to, " : ", 3);
	to = put_decimal(to + 3, port, 3);
	memcpy(to, "  : ", 4);
	to = put_decimal(to + 4, hops, 2);
	memcpy(to, "   : yes\n", 9);
	buf_add(out, line, (size_t)(to + 9 - line));
}

static void put_fdb_entry(struct dump *d, uint32_t sw, uint16_t lid, struct buf *out)
{
	const struct plan *p = d->s->plan;
	const struct goal *goal = &d->goals[lid];
	uint8_t port = lft_get(p->lfts, sw, lid);
	unsigned hops = port == LFT_DROP ? NO_HOPS : table_hops(d, sw, lid);
	unsigned best = hops == NO_HOPS ? 0 : best_hops(d, goal);

	if (port == LFT_DROP)
		buf_printf(out, "0x%04X : UNREACHABLE\n", lid);
	else if (hops == NO_HOPS)	/* or a missing port keeps its routes (plan/routes/base_routes.h) */
		buf_printf(out, "0x%04X : %03u  : HOPS UNKNOWN\n", lid, port);
	else if (hops <= best)
		put_good_entry(lid, port, hops, out);
	else
		buf_printf(out, "0x%04X : %03u  : %02u   : No %u hop path possible via port %u!\n", lid, port,
			   hops, best, goal->sw == sw ? goal->exit % d->ports : d->first[goal->sw]);
}

static bool fdb_piece(struct dump *d, uint32_t sw, struct buf *out)
{
	const struct fabric *f = d->s->f;
	uint32_t top = d->s->plan->lid_top, lid = d->sub + 1, end = lid + FDB_PIECE;

	if (d->sub == 0) {
		measure(d, sw);
		buf_printf(out, "dump_ucast_routes: Switch 0x%016llx\n"
			   "LID    : Port : Hops : Optimal\n",
			   (unsigned long long)f->nodes[f->switches[sw].node].guid);
	}
	for (; lid <= top && lid < end; lid++)
		put_fdb_entry(d, sw, (uint16_t)lid, out);
	d->sub = lid - 1;
	return d->sub < top;
}

/* --- opensm.mcfdbs: the multicast entries of each switch that has any --- */

static bool mcfdb_piece(struct dump *d, uint32_t sw, struct buf *out)
{
	const struct fabric *f = d->s->f;
	uint64_t ports[4];
	uint16_t mlid;
	bool begin = !d->item_begun;

	if (!d->env->mft_next || !d->env->mft_next(d->env->sm, d->s, sw, &d->sub, &mlid, ports))
		return false;
	if (begin)
		buf_printf(out, "\nSwitch 0x%016llx\nLID    : Out Port(s)\n",
			   (unsigned long long)f->nodes[f->switches[sw].node].guid);
	buf_printf(out, "0x%04X :", mlid);
	for (unsigned port = 0; port <= IB_PORT_NUM_MAX; port++)
		if (ports[port >> 6] >> (port & 63) & 1)
			buf_printf(out, " 0x%03X ", port);
	buf_puts(out, "\n");
	return true;
}

/* --- opensm-sl2vl.dump: each end port; for a switch all its linked out ports --- */

#define SL2VL_RULE "#--------------------------------------------------------\n"

static void put_map(struct buf *out, const struct subnet_state *s, const struct fabric_node *n,
		    unsigned in, unsigned port, unsigned shown_as)
{
	const struct qos_tables *t = s->plan->tables;
	uint16_t id = qos_sl2vl_in_force(t, s->f, (uint32_t)(n - s->f->nodes), in, port);
	char line[80], *to;

	if (id == TABLE_NONE)
		return;
	to = put_left(line, in, 4);
	to = put_left(to, shown_as, 4);
	*to++ = ':';
	for (unsigned sl = 0; sl < IB_SL_COUNT; sl++) {
		*to++ = ' ';
		to = put_left(to, t->maps[id].vl[sl], 2);
	}
	*to++ = '\n';
	buf_add(out, line, (size_t)(to - line));
}

static void put_out_port(struct buf *out, const struct subnet_state *s,
			 const struct fabric_node *n, unsigned port)
{
	if (s->f->ports[n->port0 + port].peer == FABRIC_NONE)
		return;
	for (unsigned in = 0; in <= n->nports; in++)
		put_map(out, s, n, in, port, port);
}

/* "Switch 0x…, base LID 3, "leaf01"", without a newline. */
static void put_owner(struct buf *out, const struct subnet_state *s, uint32_t slot)
{
	static const char *const types[] = { "UNKNOWN", "Channel Adapter", "Switch", "Router" };
	const struct fabric_node *n = port_node(s->f, slot);

	buf_printf(out, "%s 0x%016llx, base LID %u, \"", types[n->type & 3],
		   (unsigned long long)s->f->ports[slot].guid, s->plan->lid[slot]);
	put_desc(out, n);
	buf_puts(out, "\"");
}

static bool sl2vl_piece(struct dump *d, uint32_t slot, struct buf *out)
{
	const struct subnet_state *s = d->s;
	const struct fabric_node *n = port_node(s->f, slot);
	unsigned last = node_is_switch(n) ? n->nports : 0;

	if (d->sub == 0) {
		put_owner(out, s, slot);
		buf_puts(out, "\n#in out : 0  1  2  3  4  5  6  7  8  9  10 11 12 13 14 15\n"
			 SL2VL_RULE);
	}
	if (node_is_switch(n))
		put_out_port(out, s, n, d->sub);
	else
		put_map(out, s, n, 0, s->f->ports[slot].num, 0);
	if (d->sub++ < last)
		return true;
	buf_puts(out, SL2VL_RULE "\n");
	return false;
}

/* --- opensm-path-sls.dump: the SL from each end port to all LIDs, for the level `default` --- */

static bool has_layers(const struct subnet_state *s)
{
	return s->plan->layers && s->plan->layers->n > 1;
}

static bool path_sls_piece(struct dump *d, uint32_t slot, struct buf *out)
{
	const struct plan *p = d->s->plan;
	uint8_t sl = p->policy->levels[p->policy->default_level].sl;
	uint32_t lid = d->sub + 1, end = lid + PATHS_PIECE;

	if (d->sub == 0) {
		put_owner(out, d->s, slot);
		buf_puts(out, "\n");
	}
	for (; lid <= p->lid_top && lid < end; lid++)
		if (p->port_by_lid[lid] != FABRIC_NONE)
			buf_printf(out, "0x%04x : %u\n", lid, plan_sl(p, sl, slot, p->port_by_lid[lid]));
	d->sub = lid - 1;
	return d->sub < p->lid_top;
}

/* --- qosd-devices.yaml: kinds of device, each with its nodes --- */

static const char *type_of(const struct fabric_node *n)
{
	return node_is_switch(n) ? "switch" : n->type == IB_NODE_ROUTER_T ? "router" : "ca";
}

/* The kind of a node, which is added if it is new. */
static uint32_t kind_of_node(struct dump *d, uint32_t node)
{
	struct device_values v = device_values_of(d->s->f, node);
	const char *type = type_of(&d->s->f->nodes[node]);
	size_t n_type = strlen(type);

	for (size_t i = 0; i < d->kinds.kinds.n; i++)
		if (!strncmp(d->kinds.kinds.v[i].name, type, n_type) &&
		    !memcmp(&d->kinds.kinds.v[i].v, &v, sizeof(v)))
			return (uint32_t)i;
	*vec_push(&d->kinds.kinds) = (struct device_kind){
		.name = xasprintf("%s-%zu", type, d->kinds.kinds.n + 1), .v = v,
	};
	return (uint32_t)d->kinds.kinds.n - 1;
}

static void collect_devices(struct dump *d)
{
	collect_nodes(d);
	for (uint32_t i = 0; i < d->n_items; i++)
		kind_of_node(d, d->items[i]);
}

static void put_kinds(const struct dump *d, struct buf *out)
{
	buf_puts(out, "# The devices of this subnet, for qosd --check --topology --devices and qosd-sim --profiles.\n"
		 "profiles:\n");
	for (size_t i = 0; i < d->kinds.kinds.n; i++) {
		buf_printf(out, "  %s: ", d->kinds.kinds.v[i].name);
		device_values_put(&d->kinds.kinds.v[i].v, out);
		buf_puts(out, "\n");
	}
	buf_puts(out, "nodes:\n");
}

static bool device_piece(struct dump *d, uint32_t node, struct buf *out)
{
	if (d->item_begun)
		return false;
	if (!d->item)
		put_kinds(d, out);
	buf_printf(out, "  - {guid: 0x%016" PRIx64 ", profile: %s}\n", d->s->f->nodes[node].guid,
		   d->kinds.kinds.v[kind_of_node(d, node)].name);
	return true;
}

static const struct dump_file files[] = {
	{ "opensm-subnet.lst", NULL, collect_nodes, NULL, subnet_piece },
	{ "opensm.fdbs", NULL, collect_routes, prepare_routes, fdb_piece },
	{ "opensm.mcfdbs", NULL, collect_switches, NULL, mcfdb_piece },
	{ "opensm-sl2vl.dump", NULL, collect_end_ports, NULL, sl2vl_piece },
	{ "opensm-path-sls.dump", has_layers, collect_end_ports, NULL, path_sls_piece },
	{ "qosd-devices.yaml", NULL, collect_devices, NULL, device_piece },
};

/* --- all files --- */

struct dump *dump_new(const struct subnet_state *s, const struct ctl_env *env)
{
	struct dump *d = xcalloc(1, sizeof(*d));

	d->s = s;
	d->env = env;
	d->items = xcalloc(s->f->n_ports, sizeof(*d->items));	/* no file has more */
	d->dist = xcalloc(s->f->n_switches, sizeof(*d->dist));
	d->first = xcalloc(s->f->n_switches, 1);
	d->queue = xcalloc(s->f->n_switches, sizeof(*d->queue));
	return d;
}

/* Makes pieces until there is enough text, or until the items of this file are done. */
static void file_piece(struct dump *d, struct buf *out)
{
	size_t before = out->n;

	while (d->item < d->n_items && out->n - before < PIECE) {
		if (files[d->file].piece(d, d->items[d->item], out)) {
			d->item_begun = true;
			continue;
		}
		d->item++;
		d->sub = 0;
		d->item_begun = false;
	}
}

bool dump_next(struct dump *d, const char **file, struct buf *out)
{
	size_t before = out->n;

	while (d->file < ARRAY_SIZE(files)) {
		*file = files[d->file].name;
		if (files[d->file].wanted && !files[d->file].wanted(d->s)) {
			d->file++;
			continue;
		}
		if (!d->begun) {
			d->begun = true;
			d->item = 0;
			files[d->file].collect(d);
			return true;
		}
		if (files[d->file].prepare && files[d->file].prepare(d))
			return true;
		file_piece(d, out);
		if (out->n > before)
			return true;
		d->file++;
		d->begun = false;
	}
	return false;
}

double dump_done(const struct dump *d)
{
	return d->n_items ? (double)d->item / d->n_items : 0;
}

void dump_free(struct dump *d)
{
	if (!d)
		return;
	free(d->items);
	free(d->dist);
	free(d->first);
	free(d->queue);
	free(d->next_sw);
	free(d->goals);
	free(d->lids);
	free(d->lids_of);
	for (size_t i = 0; i < d->kinds.kinds.n; i++)
		free(d->kinds.kinds.v[i].name);
	vec_free(&d->kinds.kinds);
	free(d);
}

/* --- the command --- */

static bool next_piece(void *rows, struct file_piece *piece)
{
	if (!dump_next(rows, &piece->file, &piece->text))
		return false;
	piece->done = dump_done(rows);
	return true;
}

static void release_dump(void *rows)
{
	dump_free(rows);
}

void cmd_dump(const struct ctl_call *c, struct reply *r)
{
	reply_result(r, NULL);
	reply_files(c, r, next_piece, release_dump, dump_new(c->state, c->env));
}
