/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Builds, indexes and searches a fabric; fabric.h has the contracts.
 *
 * NodeInfo, PortInfo and SwitchInfo (14.2.5) come from devices: they are stored as received, and
 * the fields decoded from them are clamped to the range that the rest of the program relies on.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/mad.h>

#include "fabric/fabric.h"
#include "lib/base/alloc.h"
#include "lib/base/clean.h"
#include "lib/base/search.h"
#include "lib/iba/units.h"

struct fabric *fabric_new(void)
{
	struct fabric *f = xcalloc(1, sizeof(*f));

	map64_init(&f->node_by_guid, 64);
	f->self = FABRIC_NONE;
	return f;
}

void fabric_free(struct fabric *f)
{
	if (!f)
		return;
	map64_free(&f->by_guid);
	map64_free(&f->node_by_guid);
	free(f->nodes);
	free(f->ports);
	free(f->switches);
	free(f->routes);
	free(f->fixed);
	name_map_unref(f->names);
	free(f);
}

struct fabric *fabric_clone(const struct fabric *f)
{
	struct fabric *c = xmemdup(f, sizeof(*f));

	c->nodes = xmemdup(f->nodes, f->n_nodes * sizeof(*f->nodes));
	c->ports = xmemdup(f->ports, f->n_ports * sizeof(*f->ports));
	c->switches = xmemdup(f->switches, f->n_switches * sizeof(*f->switches));
	c->routes = xmemdup(f->routes, f->n_routes);
	c->fixed = f->n_fixed ? xmemdup(f->fixed, f->n_fixed * sizeof(*f->fixed)) : NULL;
	c->cap_nodes = f->n_nodes;
	c->cap_ports = f->n_ports;
	c->cap_switches = f->n_switches;
	c->cap_routes = f->n_routes;
	map64_clone(&c->by_guid, &f->by_guid);
	map64_clone(&c->node_by_guid, &f->node_by_guid);
	name_map_ref(c->names);
	return c;
}

void fabric_set_names(struct fabric *f, struct name_map *names)
{
	name_map_ref(names);
	name_map_unref(f->names);
	f->names = names;
}

/* Makes room for `more` elements after the n that an array has. */
static void grow(void **v, uint32_t n, uint32_t more, uint32_t *cap, size_t size)
{
	if (*cap - n >= more)
		return;
	/* by half: the arrays are large, and fabric_finish() returns the spare room */
	*cap = n + more + n / 2;
	*v = xrealloc(*v, *cap, size);
}

static uint32_t add_route(struct fabric *f, const uint8_t *route, unsigned hops)
{
	uint32_t at = f->n_routes;

	grow((void **)&f->routes, at, hops, &f->cap_routes, 1);
	if (hops)
		memcpy(f->routes + at, route, hops);
	f->n_routes += hops;
	return at;
}

static uint32_t add_port_slots(struct fabric *f, uint32_t node, unsigned nports)
{
	uint32_t port0 = f->n_ports;

	grow((void **)&f->ports, port0, nports + 1, &f->cap_ports, sizeof(*f->ports));
	for (unsigned num = 0; num <= nports; num++)
		f->ports[port0 + num] = (struct fabric_port){
			.node = node, .peer = FABRIC_NONE, .num = (uint8_t)num,
		};
	f->n_ports += nports + 1;
	return port0;
}

static uint32_t add_switch(struct fabric *f, uint32_t node, const uint8_t *switch_info)
{
	uint32_t sw = f->n_switches;

	grow((void **)&f->switches, sw, 1, &f->cap_switches, sizeof(*f->switches));
	f->n_switches++;
	f->switches[sw] = (struct fabric_switch){ .node = node };
	fabric_switch_store(&f->switches[sw], switch_info);
	return sw;
}

static bool node_makes_sense(const struct fabric_node *n, const uint8_t *switch_info,
			     unsigned hops)
{
	return n->type >= IB_NODE_CA_T && n->type <= IB_NODE_ROUTER_T && n->guid != 0 &&
	       n->nports >= 1 && n->nports <= IB_PORT_NUM_MAX && n->local_port <= n->nports &&
	       (!node_is_switch(n) || switch_info) && hops <= IB_DR_HOPS_MAX;
}

uint32_t fabric_add_node(struct fabric *f, const uint8_t *node_info,
			 const char *desc, const uint8_t *switch_info,
			 const uint8_t *route, unsigned hops)
{
	struct fabric_node n = { .sw = FABRIC_NONE, .hops = (uint8_t)hops };
	uint32_t node = f->n_nodes;

	memcpy(n.info, node_info, sizeof(n.info));
	memcpy(n.desc, desc, strnlen(desc, sizeof(n.desc) - 1));
	n.type = (uint8_t)mad_get_field(n.info, 0, IB_NODE_TYPE_F);
	n.nports = (uint8_t)mad_get_field(n.info, 0, IB_NODE_NPORTS_F);
	n.local_port = (uint8_t)mad_get_field(n.info, 0, IB_NODE_LOCAL_PORT_F);
	n.partition_cap = (uint16_t)mad_get_field(n.info, 0, IB_NODE_PARTITION_CAP_F);
	n.guid = mad_get_field64(n.info, 0, IB_NODE_GUID_F);
	n.sysimg_guid = mad_get_field64(n.info, 0, IB_NODE_SYSTEM_GUID_F);
	if (!node_makes_sense(&n, switch_info, hops) ||
	    map64_get(&f->node_by_guid, n.guid) != MAP64_NONE)
		return FABRIC_NONE;
	n.port0 = add_port_slots(f, node, n.nports);
	n.route = add_route(f, route, hops);
	if (node_is_switch(&n))
		n.sw = add_switch(f, node, switch_info);
	grow((void **)&f->nodes, node, 1, &f->cap_nodes, sizeof(*f->nodes));
	f->nodes[node] = n;
	f->n_nodes++;
	map64_put(&f->node_by_guid, n.guid, node);
	return node;
}

#define NODE_INFO_OF_WAY 36	/* from this offset on NodeInfo depends on the port that was asked */

bool fabric_node_store(struct fabric *f, uint32_t node, const uint8_t *node_info)
{
	struct fabric_node *n = &f->nodes[node];

	if (!memcmp(n->info, node_info, NODE_INFO_OF_WAY))
		return false;
	memcpy(n->info, node_info, NODE_INFO_OF_WAY);
	n->partition_cap = (uint16_t)mad_get_field(n->info, 0, IB_NODE_PARTITION_CAP_F);
	n->sysimg_guid = mad_get_field64(n->info, 0, IB_NODE_SYSTEM_GUID_F);
	return true;
}

/* The port's slot, or NULL if the node or port does not exist. */
static struct fabric_port *slot(const struct fabric *f, uint32_t node, unsigned num)
{
	if (node >= f->n_nodes || num > f->nodes[node].nports)
		return NULL;
	return fabric_port(f, node, num);
}

bool fabric_set_port(struct fabric *f, uint32_t node, unsigned num, uint64_t guid,
		     const uint8_t *port_info)
{
	struct fabric_port *p = slot(f, node, num);

	if (!p || (num == 0 && !node_is_switch(&f->nodes[node])))
		return false;
	p->guid = guid;
	fabric_port_store(p, port_info);
	p->plain = true;	/* libibnetdisc never sets the bit */
	return true;
}

bool fabric_link(struct fabric *f, uint32_t node_a, unsigned num_a,
		 uint32_t node_b, unsigned num_b)
{
	struct fabric_port *a = slot(f, node_a, num_a), *b = slot(f, node_b, num_b);

	if (!a || !b || a == b || num_a == 0 || num_b == 0)
		return false;
	uint32_t ia = (uint32_t)(a - f->ports), ib = (uint32_t)(b - f->ports);

	if (a->peer == ib && b->peer == ia)
		return true;
	if (a->peer != FABRIC_NONE || b->peer != FABRIC_NONE)
		return false;
	a->peer = ib;
	b->peer = ia;
	return true;
}

static void index_end_ports(struct fabric *f, struct buf *err)
{
	char a[FABRIC_NAME_MAX], b[FABRIC_NAME_MAX];

	map64_init(&f->by_guid, f->n_nodes + f->n_nodes / 4);
	f->n_nameless = 0;
	for (uint32_t i = 0; i < f->n_ports; i++) {
		uint64_t guid = f->ports[i].guid;

		if (!port_is_end(f, i))
			continue;
		uint32_t first = map64_get(&f->by_guid, guid);

		f->n_nameless += first != MAP64_NONE || !guid;
		if (first != MAP64_NONE)
			buf_printf(err, "%s has the port GUID of %s\n",
				   fabric_port_name(f, i, a, sizeof(a)),
				   fabric_port_name(f, first, b, sizeof(b)));
		else if (!guid)
			buf_printf(err, "%s has no port GUID\n",
				   fabric_port_name(f, i, a, sizeof(a)));
		else
			map64_put(&f->by_guid, guid, i);
	}
}

void fabric_keep_owners(struct fabric *f, const struct fabric *before)
{
	for (uint32_t i = 0; f->n_nameless && i < f->n_ports; i++) {
		uint32_t owner;

		if (!port_is_end(f, i) || fabric_owns_guid(f, i))
			continue;
		owner = fabric_find_port(before, f->ports[i].guid);
		if (owner != FABRIC_NONE && before->ports[owner].num == f->ports[i].num &&
		    port_node(before, owner)->guid == port_node(f, i)->guid)
			map64_put(&f->by_guid, f->ports[i].guid, i);
	}
}

void fabric_keep_switch_info(struct fabric *f, const struct fabric *before)
{
	for (uint32_t sw = 0; sw < f->n_switches; sw++) {
		uint32_t node = f->switches[sw].unread ?
				fabric_same_node(before, &f->nodes[f->switches[sw].node]) : FABRIC_NONE;

		if (node != FABRIC_NONE)
			fabric_switch_store(&f->switches[sw], before->switches[before->nodes[node].sw].info);
	}
}

/*
 * Recognizes the SHARP aggregation node that Switch-IB 2, Quantum and later switches expose: a
 * channel adapter with one port that is linked to its own switch and has that switch's system image
 * GUID.  A gateway, which carries host traffic, can look the same, so the device id or the name
 * must match, too.  The node that the SM runs on always counts as a host.
 */
static bool is_aggregation(const struct fabric *f, uint32_t node, uint32_t self_node)
{
	struct fabric_node *n = &f->nodes[node];
	uint32_t peer;

	if (n->type != IB_NODE_CA_T || n->nports != 1 || node == self_node)
		return false;
	peer = f->ports[n->port0 + 1].peer;
	if (peer == FABRIC_NONE || !node_is_switch(port_node(f, peer)) ||
	    !n->sysimg_guid || n->sysimg_guid != port_node(f, peer)->sysimg_guid)
		return false;
	return (mad_get_field(n->info, 0, IB_NODE_VENDORID_F) == IB_VENDOR_MELLANOX &&
		mad_get_field(n->info, 0, IB_NODE_DEVID_F) == IB_DEVICE_AGGREGATION) ||
	       strstr(n->desc, "Aggregation Node");
}

static void *shrink(void *v, uint32_t n, uint32_t *cap, size_t size)
{
	*cap = n;
	return xrealloc(v, n, size);
}

bool fabric_finish(struct fabric *f, uint32_t self_node, unsigned self_num, struct buf *err)
{
	f->nodes = shrink(f->nodes, f->n_nodes, &f->cap_nodes, sizeof(*f->nodes));
	f->ports = shrink(f->ports, f->n_ports, &f->cap_ports, sizeof(*f->ports));
	f->routes = shrink(f->routes, f->n_routes, &f->cap_routes, 1);
	f->switches = shrink(f->switches, f->n_switches, &f->cap_switches, sizeof(*f->switches));
	/* A link with an end that did not answer cannot be configured: cut it. */
	for (uint32_t i = 0; i < f->n_ports; i++) {
		struct fabric_port *p = &f->ports[i];

		if (p->peer == FABRIC_NONE || (p->present && f->ports[p->peer].present))
			continue;
		f->unanswered++;
		f->ports[p->peer].peer = FABRIC_NONE;
		p->peer = FABRIC_NONE;
	}
	index_end_ports(f, err);
	for (uint32_t i = 0; i < f->n_nodes; i++)
		f->nodes[i].aggregation = is_aggregation(f, i, self_node);

	const struct fabric_port *self = self_node == 0 ? slot(f, self_node, self_num) : NULL;
	if (!self || !port_is_end(f, (uint32_t)(self - f->ports))) {
		buf_puts(err, "the SM's own port is missing\n");
		return false;
	}
	f->self = (uint32_t)(self - f->ports);
	return true;
}

/* An invalid capability code becomes 1, the minimum that every port has. */
static uint8_t at_least_one(uint32_t code)
{
	return code >= 1 && code <= 5 ? (uint8_t)code : 1;
}

static uint8_t known_or_zero(uint32_t code)
{
	return code <= 5 ? (uint8_t)code : 0;
}

static uint8_t arb_entries(uint32_t cap)
{
	return cap <= VLARB_ENTRIES_MAX ? (uint8_t)cap : VLARB_ENTRIES_MAX;
}

/*
 * LinkSpeedExtActive counts only if the CapabilityMask says so.  External switch ports have no
 * CapabilityMask (all zero); for them the field counts by itself.  A link that is up gets a rate
 * even if its codes are unknown.
 */
static void decode_rate(struct fabric_port *p)
{
	bool has_ext = !p->capmask || (p->capmask & IB_CAP_EXT_SPEEDS);
	unsigned width = mad_get_field(p->info, 0, IB_PORT_LINK_WIDTH_ACTIVE_F);
	unsigned speed = mad_get_field(p->info, 0, IB_PORT_LINK_SPEED_ACTIVE_F);
	unsigned ext = has_ext ? ib_ext_active(p->info) : 0;
	bool up = p->num && p->state >= IB_PORT_INIT_S;

	p->rate = (uint8_t)rate_from_link(width, speed, ext, p->fdr10);
	p->rate_guessed = !p->rate && up;
	if (p->rate_guessed)
		p->rate = (uint8_t)rate_at_least(width, speed, ext, p->fdr10);
}

static uint8_t known_state(uint32_t state)
{
	return state <= IB_PORT_ACTIVE_S ? (uint8_t)state : IB_PORT_NOP;
}

void fabric_port_store(struct fabric_port *p, const uint8_t *port_info)
{
	uint8_t *info = memcpy(p->info, port_info, sizeof(p->info));

	p->present = true;
	p->unsure = p->plain = false;
	p->capmask = mad_get_field(info, 0, IB_PORT_CAPMASK_F);
	p->lid = (uint16_t)mad_get_field(info, 0, IB_PORT_LID_F);
	p->sm_lid = (uint16_t)mad_get_field(info, 0, IB_PORT_SMLID_F);
	p->lmc = (uint8_t)mad_get_field(info, 0, IB_PORT_LMC_F);
	p->state = known_state(mad_get_field(info, 0, IB_PORT_STATE_F));
	p->phys_state = (uint8_t)mad_get_field(info, 0, IB_PORT_PHYS_STATE_F);
	p->mtu_cap = at_least_one(mad_get_field(info, 0, IB_PORT_MTU_CAP_F));
	p->neighbor_mtu = known_or_zero(mad_get_field(info, 0, IB_PORT_NEIGHBOR_MTU_F));
	p->vl_cap = at_least_one(mad_get_field(info, 0, IB_PORT_VL_CAP_F));
	p->op_vls = known_or_zero(mad_get_field(info, 0, IB_PORT_OPER_VLS_F));
	p->vlarb_high_cap = arb_entries(mad_get_field(info, 0, IB_PORT_VL_ARBITRATION_HIGH_CAP_F));
	p->vlarb_low_cap = arb_entries(mad_get_field(info, 0, IB_PORT_VL_ARBITRATION_LOW_CAP_F));
	decode_rate(p);
}

void fabric_set_fdr10(struct fabric *f, uint32_t port, bool fdr10)
{
	struct fabric_port *p = &f->ports[port];

	p->fdr10 = fdr10;
	decode_rate(p);
	if (p->peer != FABRIC_NONE) {
		f->ports[p->peer].fdr10 = fdr10;
		decode_rate(&f->ports[p->peer]);
	}
}

void fabric_switch_store(struct fabric_switch *s, const uint8_t *switch_info)
{
	static const uint8_t none[sizeof(s->info)];
	uint8_t *info = memcpy(s->info, switch_info, sizeof(s->info));

	s->unread = !memcmp(info, none, sizeof(none));
	s->lft_cap = (uint16_t)mad_get_field(info, 0, IB_SW_LINEAR_FDB_CAP_F);
	s->lft_top = (uint16_t)mad_get_field(info, 0, IB_SW_LINEAR_FDB_TOP_F);
	s->mcast_cap = (uint16_t)mad_get_field(info, 0, IB_SW_MCAST_FDB_CAP_F);
	if (s->mcast_cap > IB_MLIDS)	/* never trust the device */
		s->mcast_cap = IB_MLIDS;
	s->mcast_top = (uint16_t)mad_get_field(info, 0, IB_SW_MCAST_FDB_TOP_F);
	s->enforce_cap = (uint16_t)mad_get_field(info, 0, IB_SW_PARTITION_ENFORCE_CAP_F);
	s->lifetime = (uint8_t)mad_get_field(info, 0, IB_SW_LIFE_TIME_F);
	s->enhanced_port0 = mad_get_field(info, 0, IB_SW_ENHANCED_PORT0_F);
	s->port_change = mad_get_field(info, 0, IB_SW_STATE_CHANGE_F);
	s->optimized_sl2vl = mad_get_field(info, 0, IB_SW_OPT_SLTOVL_MAPPING_F);
	s->enforces_in = mad_get_field(info, 0, IB_SW_PARTITION_ENF_INB_F);
	s->enforces_out = mad_get_field(info, 0, IB_SW_PARTITION_ENF_OUTB_F);
}

uint32_t fabric_count_unread(const struct fabric *f)
{
	uint32_t n = 0;

	for (uint32_t sw = 0; sw < f->n_switches; sw++)
		n += f->switches[sw].unread;
	return n;
}

bool fabric_has_mcast_top(const struct fabric *f, uint32_t sw)
{
	const struct fabric_switch *s = &f->switches[sw];
	const struct fabric_port *port0 = &f->ports[f->nodes[s->node].port0];

	return s->mcast_cap && port0->present && (port0->capmask & IB_CAP_MCAST_FDB_TOP);
}

unsigned fabric_switch_mlids(const struct fabric *f, uint32_t sw)
{
	const struct fabric_switch *s = &f->switches[sw];

	if (!s->mcast_top || !fabric_has_mcast_top(f, sw) ||
	    s->mcast_top >= IB_LID_MCAST_FIRST + s->mcast_cap)
		return s->mcast_cap;
	return s->mcast_top < IB_LID_MCAST_FIRST ? 0 :
	       s->mcast_top - IB_LID_MCAST_FIRST + 1u;
}

void fabric_keep_blocks(struct fabric *f, struct lft_fixed *list, uint32_t n)
{
	free(f->fixed);
	f->fixed = list;
	f->n_fixed = n;
}

/* Index of the first entry at or after this switch and block. */
static uint32_t find_fixed(const struct fabric *f, uint32_t sw, uint32_t block)
{
	const struct lft_fixed *k = f->fixed;
	uint32_t i;

	LOWER_BOUND(i, 0, f->n_fixed, k[i].sw < sw || (k[i].sw == sw && k[i].block < block));
	return i;
}

bool fabric_keeps_any(const struct fabric *f, uint32_t sw)
{
	uint32_t i = find_fixed(f, sw, 0);

	return i < f->n_fixed && f->fixed[i].sw == sw;
}

const uint8_t *fabric_fixed_block(const struct fabric *f, uint32_t sw, uint32_t block)
{
	uint32_t i = find_fixed(f, sw, block);

	return i < f->n_fixed && f->fixed[i].sw == sw && f->fixed[i].block == block ?
	       f->fixed[i].entries : NULL;
}

uint32_t fabric_switch_of(const struct fabric *f, uint32_t port)
{
	const struct fabric_port *p = &f->ports[port];

	if (f->nodes[p->node].sw != FABRIC_NONE || p->peer == FABRIC_NONE)
		return f->nodes[p->node].sw;
	return port_node(f, p->peer)->sw;
}

uint32_t fabric_same_node(const struct fabric *f, const struct fabric_node *n)
{
	uint32_t i = map64_get(&f->node_by_guid, n->guid);

	return i != MAP64_NONE && f->nodes[i].nports == n->nports && f->nodes[i].type == n->type ?
	       i : FABRIC_NONE;
}

uint32_t fabric_find_port(const struct fabric *f, uint64_t guid)
{
	return map64_get(&f->by_guid, guid);
}

/* Parses all of text[0 .. n - 1] as a number in this base; false if it is not one. */
static bool parse_number(const char *text, size_t n, int base, uint64_t *value)
{
	const char *digits = base == 16 ? "0123456789abcdefABCDEF" : "0123456789";

	if (n < 1 || n > (base == 16 ? 16 : 9) || strspn(text, digits) < n)
		return false;
	*value = strtoull(text, NULL, base);
	return true;
}

/* Parses "0x…", or 16 hex digits as ibstat and GIDs show them. */
static bool parse_guid(const char *text, size_t n, uint64_t *guid)
{
	if (n > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
		return parse_number(text + 2, n - 2, 16, guid);
	return n == 16 && parse_number(text, n, 16, guid);
}

/* The port, or FABRIC_NONE if no PortInfo was read for it. */
static uint32_t present_port(const struct fabric *f, uint32_t node, uint64_t num)
{
	const struct fabric_port *p = num <= IB_PORT_NUM_MAX ? slot(f, node, (unsigned)num) : NULL;

	return p && p->present ? (uint32_t)(p - f->ports) : FABRIC_NONE;
}

/* Records a matching port; sets *ambiguous if a different one was found before. */
static void answer(uint32_t port, uint32_t *found, bool *ambiguous)
{
	if (port == FABRIC_NONE || port == *found)
		return;
	if (*found != FABRIC_NONE)
		*ambiguous = true;
	else
		*found = port;
}

const char *fabric_node_desc(const struct fabric *f, const struct fabric_node *n)
{
	const char *name = name_map_get(f->names, n->guid);

	return name ? name : n->desc;
}

static bool is_named(const char *node, const char *name, size_t n)
{
	return strncmp(node, name, n) == 0 && !node[n];
}

uint32_t fabric_find_node(const struct fabric *f, const char *name, bool *several)
{
	size_t n = strlen(name);
	uint32_t found = FABRIC_NONE;
	uint64_t guid;

	*several = false;
	if (parse_guid(name, n, &guid) && map64_get(&f->node_by_guid, guid) != MAP64_NONE)
		return map64_get(&f->node_by_guid, guid);
	for (uint32_t i = 0; i < f->n_nodes; i++)
		if (is_named(fabric_node_desc(f, &f->nodes[i]), name, n))
			answer(i, &found, several);
	for (uint32_t i = 0; found == FABRIC_NONE && f->names && i < f->n_nodes; i++)
		if (is_named(f->nodes[i].desc, name, n))
			answer(i, &found, several);
	return *several ? FABRIC_NONE : found;
}

static uint32_t find_by_desc(const struct fabric *f, const char *desc, size_t n, uint64_t num,
			     bool *ambiguous)
{
	uint32_t found = FABRIC_NONE;

	for (uint32_t i = 0; i < f->n_nodes; i++)
		if (is_named(fabric_node_desc(f, &f->nodes[i]), desc, n))
			answer(present_port(f, i, num), &found, ambiguous);
	/* as the map may give one node the description of another, its names come first */
	for (uint32_t i = 0; found == FABRIC_NONE && f->names && i < f->n_nodes; i++)
		if (is_named(f->nodes[i].desc, desc, n))
			answer(present_port(f, i, num), &found, ambiguous);
	return found;
}

static uint32_t find_by_lid(const struct fabric *f, uint64_t lid, bool *ambiguous)
{
	uint32_t found = FABRIC_NONE;

	for (uint32_t i = 0; i < f->n_ports; i++) {
		const struct fabric_port *p = &f->ports[i];

		if (port_is_end(f, i) && p->lid && lid >= p->lid && lid < p->lid + (1u << p->lmc))
			answer(i, &found, ambiguous);
	}
	return found;
}

uint32_t fabric_find_port_by_text(const struct fabric *f, const char *text, bool *ambiguous)
{
	size_t n = strlen(text);
	const char *slash = strrchr(text, '/');
	uint64_t value, num;

	*ambiguous = false;
	if (parse_guid(text, n, &value))
		return fabric_find_port(f, value);
	if (parse_number(text, n, 10, &value))
		return find_by_lid(f, value, ambiguous);
	if (!slash || slash[1] != 'P' || !parse_number(slash + 2, strlen(slash + 2), 10, &num))
		return FABRIC_NONE;
	n = (size_t)(slash - text);
	if (parse_guid(text, n, &value)) {
		uint32_t node = map64_get(&f->node_by_guid, value);

		if (node != MAP64_NONE)
			return present_port(f, node, num);
	}
	return n < sizeof(f->nodes->desc) ? find_by_desc(f, text, n, num, ambiguous) : FABRIC_NONE;
}

/* A printable name: without characters that a terminal obeys, and never empty. */
static void readable_desc(const struct fabric *f, const struct fabric_node *n, char *out)
{
	const char *desc = fabric_node_desc(f, n);

	if (!*desc)
		sprintf(out, "0x%016llx", (unsigned long long)n->guid);
	else
		strcpy(out, desc);
	clean_text(out);
}

const char *fabric_type_name(const struct fabric_node *n)
{
	static const char *const names[] = {
		[IB_NODE_CA_T] = "ca", [IB_NODE_SWITCH_T] = "switch", [IB_NODE_ROUTER_T] = "router",
	};

	return n->aggregation ? "aggregation" : names[n->type];
}

char *fabric_port_name(const struct fabric *f, uint32_t port, char *out, unsigned n)
{
	const struct fabric_port *p = &f->ports[port];
	char desc[sizeof(f->nodes->desc)];

	readable_desc(f, &f->nodes[p->node], desc);
	snprintf(out, n, "%s/P%u (0x%016llx)", desc, p->num, (unsigned long long)p->guid);
	return out;
}

char *fabric_node_name(const struct fabric *f, uint32_t node, char *out, unsigned n)
{
	char desc[sizeof(f->nodes->desc)];

	readable_desc(f, &f->nodes[node], desc);
	snprintf(out, n, "%s (0x%016llx)", desc, (unsigned long long)f->nodes[node].guid);
	return out;
}
