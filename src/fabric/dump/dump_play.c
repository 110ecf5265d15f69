/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The second step of loading a dump: a discovery is played on its records, breadth first
 * from the SM's node, which feeds the fabric builder with the NodeInfo, PortInfo and
 * SwitchInfo that stock ibsim's devices would answer.
 */
#include <stdlib.h>
#include <string.h>

#include <infiniband/mad.h>

#include "fabric/dump/read_dump.h"
#include "lib/base/alloc.h"

/* --- what ibsim's devices answer (14.2.5) --- */

#define PHYS_POLLING 2

struct field {
	enum MAD_FIELDS field;
	uint32_t value;
};

static void set_fields(uint8_t *attr, const struct field *fields, size_t n)
{
	for (size_t i = 0; i < n; i++)
		mad_set_field(attr, 0, fields[i].field, fields[i].value);
}
#define SET_FIELDS(attr, ...) do { \
		const struct field fields_[] = { __VA_ARGS__ }; \
		set_fields(attr, fields_, ARRAY_SIZE(fields_)); \
	} while (0)

static uint64_t port_guid(const struct dump_node *n, const struct dump_port *p, unsigned num)
{
	if (n->type == IB_NODE_SWITCH_T)
		return n->guid;
	return p && p->guid ? p->guid : n->guid + num;
}

static void make_node_info(const struct dump *d, const struct dump_node *n, unsigned local_port,
			   uint8_t *info)
{
	uint32_t port = dump_find_port(d, n, local_port);
	const struct dump_port *p = port == FABRIC_NONE ? NULL : &d->ports.v[port];

	memset(info, 0, 40);
	SET_FIELDS(info,
		   { IB_NODE_BASE_VERS_F, 1 }, { IB_NODE_CLASS_VERS_F, 1 },
		   { IB_NODE_TYPE_F, n->type }, { IB_NODE_NPORTS_F, n->nports },
		   { IB_NODE_PARTITION_CAP_F, n->type == IB_NODE_SWITCH_T ? 8 : 64 },
		   { IB_NODE_DEVID_F, n->device }, { IB_NODE_REVISION_F, 0xa1 },
		   { IB_NODE_LOCAL_PORT_F, local_port }, { IB_NODE_VENDORID_F, n->vendor });
	mad_set_field64(info, 0, IB_NODE_GUID_F, n->guid);
	mad_set_field64(info, 0, IB_NODE_SYSTEM_GUID_F, n->sysimg_guid ? n->sysimg_guid : n->guid);
	mad_set_field64(info, 0, IB_NODE_PORT_GUID_F, port_guid(n, p, local_port));
}

static void make_switch_info(const struct dump_node *n, uint8_t *info)
{
	memset(info, 0, 20);
	SET_FIELDS(info,
		   { IB_SW_LINEAR_FDB_CAP_F, 48 * 1024 }, { IB_SW_MCAST_FDB_CAP_F, 1024 },
		   { IB_SW_STATE_CHANGE_F, 1 },
		   { IB_SW_PARTITION_ENFORCE_CAP_F, 64 },
		   /* unlike ibsim's: real switches can, and a dump does not say */
		   { IB_SW_PARTITION_ENF_INB_F, 1 }, { IB_SW_PARTITION_ENF_OUTB_F, 1 },
		   { IB_SW_FILTER_RAW_INB_F, 1 }, { IB_SW_FILTER_RAW_OUTB_F, 1 },
		   { IB_SW_ENHANCED_PORT0_F, n->enhanced_port0 });
}

static void set_link(uint8_t *info, const struct link_speed *l)
{
	SET_FIELDS(info,
		   { IB_PORT_LINK_WIDTH_SUPPORTED_F, 0x1f },
		   { IB_PORT_LINK_WIDTH_ENABLED_F, l->width | 1u },
		   { IB_PORT_LINK_WIDTH_ACTIVE_F, l->width },
		   { IB_PORT_LINK_SPEED_SUPPORTED_F, 7 },
		   { IB_PORT_LINK_SPEED_ENABLED_F, 7 }, { IB_PORT_LINK_SPEED_ACTIVE_F, l->speed });
	if (l->speed_ext)
		SET_FIELDS(info,
			   { IB_PORT_LINK_SPEED_EXT_SUPPORTED_F, 15 },
			   { IB_PORT_LINK_SPEED_EXT_ENABLED_F, (2u * l->speed_ext - 1) & 15 },
			   { IB_PORT_LINK_SPEED_EXT_ACTIVE_F, l->speed_ext & 15u });
	if (l->speed_ext == IB_EXT_XDR)		/* LinkSpeedExtActive2, -Supported2, -Enabled2 */
		info[56] = 1 << 5 | 1 << 3 | 1;
}

/* Of any port but port 0 of a switch.  p: NULL if nothing is linked to it. */
static void make_port_info(const struct dump_node *n, const struct dump_port *p, unsigned num,
			   bool keep_lids, uint8_t *info)
{
	struct link_speed idle;

	memset(info, 0, 64);
	SET_FIELDS(info,
		   { IB_PORT_STATE_F, p ? IB_PORT_INIT_S : IB_PORT_DOWN_S },
		   { IB_PORT_PHYS_STATE_F, p ? IB_PHYS_LINK_UP : PHYS_POLLING },
		   { IB_PORT_LINK_DOWN_DEF_F, PHYS_POLLING },
		   { IB_PORT_NEIGHBOR_MTU_F, 4 }, { IB_PORT_MTU_CAP_F, 4 },
		   { IB_PORT_VL_CAP_F, 4 }, { IB_PORT_OPER_VLS_F, 4 },
		   { IB_PORT_VL_ARBITRATION_HIGH_CAP_F, 8 },
		   { IB_PORT_VL_ARBITRATION_LOW_CAP_F, 8 },
		   { IB_PORT_VL_STALL_COUNT_F, 7 });
	link_parse("4xSDR", &idle);
	set_link(info, p ? &p->speed : &idle);
	if (n->type == IB_NODE_SWITCH_T)
		return;
	SET_FIELDS(info,
		   { IB_PORT_LOCAL_PORT_F, num }, { IB_PORT_CAPMASK_F, 0x0040c048 },
		   { IB_PORT_GUID_CAP_F, 32 }, { IB_PORT_SUBN_TIMEOUT_F, 31 },
		   { IB_PORT_LID_F, p && keep_lids ? p->lid : 0u },
		   { IB_PORT_LMC_F, p && keep_lids ? p->lmc : 0u });
	mad_set_field64(info, 0, IB_PORT_GID_PREFIX_F, IB_DEFAULT_PREFIX);
}

static void make_port0_info(const struct dump_node *n, bool keep_lids, uint8_t *info)
{
	struct link_speed idle;

	memset(info, 0, 64);
	SET_FIELDS(info,
		   { IB_PORT_STATE_F, IB_PORT_ACTIVE_S }, { IB_PORT_PHYS_STATE_F, IB_PHYS_LINK_UP },
		   { IB_PORT_LINK_DOWN_DEF_F, PHYS_POLLING },
		   { IB_PORT_CAPMASK_F, 0x0000c048 }, { IB_PORT_NEIGHBOR_MTU_F, 1 },
		   { IB_PORT_MTU_CAP_F, 3 }, { IB_PORT_VL_CAP_F, 4 }, { IB_PORT_OPER_VLS_F, 4 },
		   { IB_PORT_VL_ARBITRATION_HIGH_CAP_F, 8 },
		   { IB_PORT_VL_ARBITRATION_LOW_CAP_F, 8 },
		   { IB_PORT_GUID_CAP_F, 1 }, { IB_PORT_SUBN_TIMEOUT_F, 31 },
		   { IB_PORT_LID_F, keep_lids ? n->lid : 0u },
		   { IB_PORT_LMC_F, keep_lids ? n->lmc : 0u });
	mad_set_field64(info, 0, IB_PORT_GID_PREFIX_F, IB_DEFAULT_PREFIX);
	link_parse("4xSDR", &idle);
	set_link(info, &idle);
}

/* --- the discovery that is played --- */

static bool add_to_fabric(struct dump *d, struct fabric *f, struct dump_node *n,
			  unsigned local_port, const uint8_t *route, unsigned hops)
{
	uint8_t node_info[40], switch_info[20];

	make_node_info(d, n, local_port, node_info);
	make_switch_info(n, switch_info);
	n->index = fabric_add_node(f, node_info, n->desc, switch_info, route, hops);
	return n->index != FABRIC_NONE ||
	       dump_fail_at(d, n->pos, "node \"%s\" makes no sense", n->id);
}

/* Adds what is one hop further than n.  order: fabric node -> node record. */
static bool visit_neighbours(struct dump *d, struct fabric *f, const struct dump_node *n,
			     unsigned self_num, uint32_t *order)
{
	uint8_t route[IB_DR_HOPS_MAX];
	unsigned hops = f->nodes[n->index].hops;

	/* end nodes pass nothing on, and the SM sends by its own port only */
	if (hops == IB_DR_HOPS_MAX || (n->type != IB_NODE_SWITCH_T && n->index != 0))
		return true;
	if (hops)
		memcpy(route, f->routes + f->nodes[n->index].route, hops);
	for (uint32_t i = n->port; i < n->port + n->n_ports; i++) {
		const struct dump_port *p = &d->ports.v[i], *q = &d->ports.v[p->peer];
		struct dump_node *far = &d->nodes.v[q->node];

		if (far->index != FABRIC_NONE ||
		    (n->type != IB_NODE_SWITCH_T && p->num != self_num))
			continue;
		route[hops] = p->num;
		order[f->n_nodes] = q->node;
		if (!add_to_fabric(d, f, far, q->num, route, hops + 1))
			return false;
	}
	return true;
}

static void add_ports(const struct dump *d, struct fabric *f, const struct dump_node *n,
		      bool keep_lids)
{
	uint8_t info[64];

	if (n->type == IB_NODE_SWITCH_T) {
		make_port0_info(n, keep_lids, info);
		fabric_set_port(f, n->index, 0, n->guid, info);
	}
	for (unsigned num = 1; num <= n->nports; num++) {
		uint32_t port = dump_find_port(d, n, num);
		const struct dump_port *p = port == FABRIC_NONE ? NULL : &d->ports.v[port];

		make_port_info(n, p, num, keep_lids, info);
		fabric_set_port(f, n->index, num, port_guid(n, p, num), info);
		if (p && p->speed.fdr10)
			fabric_set_fdr10(f, f->nodes[n->index].port0 + num, true);
	}
}

static void add_links(const struct dump *d, struct fabric *f)
{
	for (uint32_t i = 0; i < d->ports.n; i++) {
		const struct dump_port *p = &d->ports.v[i], *q = &d->ports.v[p->peer];

		/* fabric_link() refuses what was not reached */
		if (i < p->peer)
			fabric_link(f, d->nodes.v[p->node].index, p->num,
				    d->nodes.v[q->node].index, q->num);
	}
}

/* What is_aggregation() of fabric.c would say, so far as a node's own lines tell. */
static bool looks_like_aggregation(const struct dump_node *n)
{
	return n->nports == 1 && ((n->vendor == IB_VENDOR_MELLANOX &&
				   n->device == IB_DEVICE_AGGREGATION) ||
				  strstr(n->desc, "Aggregation Node"));
}

/* The first channel adapter that may be a host, or the first one; n_nodes if there is none. */
static uint32_t find_host(const struct dump *d)
{
	uint32_t first = (uint32_t)d->nodes.n;

	for (uint32_t i = 0; i < d->nodes.n; i++) {
		if (d->nodes.v[i].type != IB_NODE_CA_T)
			continue;
		if (!looks_like_aggregation(&d->nodes.v[i]))
			return i;
		if (first == d->nodes.n)
			first = i;
	}
	return first;
}

static struct dump_node *find_sm_node(struct dump *d, uint64_t sm_guid)
{
	uint32_t n = sm_guid ? map64_get(&d->by_guid, sm_guid) : find_host(d);

	if (n < d->nodes.n)
		return &d->nodes.v[n];
	if (sm_guid)
		fail(d, "no node with GUID 0x%llx to put the SM on", (unsigned long long)sm_guid);
	else
		fail(d, "no channel adapter to put the SM on");
	return NULL;
}

static unsigned first_linked_port(const struct dump *d, const struct dump_node *n)
{
	unsigned num = 1;

	if (n->type == IB_NODE_SWITCH_T)
		return 0;
	while (num < n->nports && dump_find_port(d, n, num) == FABRIC_NONE)
		num++;
	return num;
}

/* Everything in the file must be sound: what discovery only warns of is an error here. */
static bool finish(struct dump *d, struct fabric *f, unsigned self_num)
{
	struct buf why = { 0 };
	bool ok = fabric_finish(f, 0, self_num, &why) && !why.n;

	if (!ok)
		buf_printf(d->err, "%s: %.*s", d->path, (int)strcspn(why.s, "\n"), why.s);
	buf_free(&why);
	return ok;
}

static bool play_discovery(struct dump *d, struct fabric *f, struct dump_node *sm, bool keep_lids)
{
	uint32_t *order = xcalloc(d->nodes.n, sizeof(*order));
	unsigned self_num = first_linked_port(d, sm);
	bool ok = add_to_fabric(d, f, sm, self_num, NULL, 0);

	order[0] = (uint32_t)(sm - d->nodes.v);
	for (uint32_t i = 0; ok && i < f->n_nodes; i++)
		ok = visit_neighbours(d, f, &d->nodes.v[order[i]], self_num, order);
	if (ok) {
		for (uint32_t i = 0; i < f->n_nodes; i++)
			add_ports(d, f, &d->nodes.v[order[i]], keep_lids);
		add_links(d, f);
		ok = finish(d, f, self_num);
	}
	free(order);
	return ok;
}

struct fabric *dump_play(struct dump *d, uint64_t sm_guid, bool keep_lids)
{
	struct dump_node *sm = find_sm_node(d, sm_guid);
	struct fabric *f = fabric_new();

	if (!sm || !play_discovery(d, f, sm, keep_lids)) {
		fabric_free(f);
		f = NULL;
	}
	return f;
}
