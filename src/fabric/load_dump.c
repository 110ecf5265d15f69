/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Makes a fabric from a topology file.  It simulates a discovery, breadth first from the SM's node,
 * and feeds the fabric builder with the NodeInfo, PortInfo and SwitchInfo that stock ibsim's
 * devices would return, except for what the kinds of device state (device_kinds.h).
 */
#include <stdlib.h>
#include <string.h>

#include <infiniband/mad.h>

#include "fabric/dump/dump.h"
#include "fabric/device_kinds.h"
#include "fabric/fabric.h"
#include "lib/base/alloc.h"
#include "lib/iba/units.h"

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

/* The port's GUID; ports of a switch have the switch's. */
static uint64_t port_guid(const struct dump *d, const struct dump_node *n, unsigned num)
{
	return n->type == DUMP_SWITCH ? n->guid : d->ports[n->port0 + num].guid;
}

static void make_node_info(const struct dump *d, const struct dump_node *n,
			   const struct device_values *v, unsigned local_port, uint8_t *info)
{
	memset(info, 0, 40);
	SET_FIELDS(info,
		   { IB_NODE_BASE_VERS_F, 1 }, { IB_NODE_CLASS_VERS_F, 1 },
		   { IB_NODE_TYPE_F, n->type }, { IB_NODE_NPORTS_F, n->nports },
		   { IB_NODE_PARTITION_CAP_F, (uint32_t)v->pkeys },
		   { IB_NODE_DEVID_F, n->device }, { IB_NODE_REVISION_F, 0xa1 },
		   { IB_NODE_LOCAL_PORT_F, local_port }, { IB_NODE_VENDORID_F, n->vendor });
	mad_set_field64(info, 0, IB_NODE_GUID_F, n->guid);
	mad_set_field64(info, 0, IB_NODE_SYSTEM_GUID_F, n->sysimg_guid ? n->sysimg_guid : n->guid);
	mad_set_field64(info, 0, IB_NODE_PORT_GUID_F, port_guid(d, n, local_port));
}

static void make_switch_info(const struct dump_node *n, const struct device_values *v, uint8_t *info)
{
	memset(info, 0, 20);
	SET_FIELDS(info,
		   { IB_SW_LINEAR_FDB_CAP_F, (uint32_t)v->lft },
		   { IB_SW_MCAST_FDB_CAP_F, (uint32_t)v->mft },
		   { IB_SW_STATE_CHANGE_F, 1 },
		   { IB_SW_PARTITION_ENFORCE_CAP_F, (uint32_t)v->enforce_pkeys },
		   /*
		    * unlike ibsim's: real switches can enforce partitions, and a dump does not say
		    */
		   { IB_SW_PARTITION_ENF_INB_F, 1 }, { IB_SW_PARTITION_ENF_OUTB_F, 1 },
		   { IB_SW_FILTER_RAW_INB_F, 1 }, { IB_SW_FILTER_RAW_OUTB_F, 1 },
		   { IB_SW_ENHANCED_PORT0_F, n->enhanced_port0 });
}

/* Defaults to 4x and SDR, the minimum, for what the file does not give. */
static struct link_speed speed_of(struct cable_speed cable)
{
	struct link_speed speed;
	char word[CABLE_SPEED_MAX];

	cable.lanes = cable.lanes ? cable.lanes : 4;
	cable.rate = cable.rate ? cable.rate : RATE_SDR;
	link_parse(cable_speed_name(cable, word), &speed);
	return speed;
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

/* For any port except port 0 of a switch. */
static void make_port_info(const struct dump_node *n, const struct dump_port *p,
			   const struct device_values *v, bool keep_lids, uint8_t *info)
{
	struct link_speed speed = speed_of(p->speed);
	bool linked = p->peer != DUMP_NONE;

	memset(info, 0, 64);
	SET_FIELDS(info,
		   { IB_PORT_STATE_F, linked ? IB_PORT_INIT_S : IB_PORT_DOWN_S },
		   { IB_PORT_PHYS_STATE_F, linked ? IB_PHYS_LINK_UP : PHYS_POLLING },
		   { IB_PORT_LINK_DOWN_DEF_F, PHYS_POLLING },
		   { IB_PORT_NEIGHBOR_MTU_F, (uint32_t)v->mtu_cap },
		   { IB_PORT_MTU_CAP_F, (uint32_t)v->mtu_cap },
		   { IB_PORT_VL_CAP_F, (uint32_t)v->vl_cap }, { IB_PORT_OPER_VLS_F, (uint32_t)v->vl_cap },
		   { IB_PORT_VL_ARBITRATION_HIGH_CAP_F, (uint32_t)v->vlarb_high },
		   { IB_PORT_VL_ARBITRATION_LOW_CAP_F, (uint32_t)v->vlarb_low },
		   { IB_PORT_VL_STALL_COUNT_F, 7 });
	set_link(info, &speed);
	if (n->type == DUMP_SWITCH)
		return;
	SET_FIELDS(info,
		   { IB_PORT_LOCAL_PORT_F, p->num }, { IB_PORT_CAPMASK_F, 0x0040c048 },
		   { IB_PORT_GUID_CAP_F, 32 }, { IB_PORT_SUBN_TIMEOUT_F, 31 },
		   { IB_PORT_LID_F, keep_lids ? p->lid : 0u },
		   { IB_PORT_LMC_F, keep_lids ? p->lmc : 0u });
	mad_set_field64(info, 0, IB_PORT_GID_PREFIX_F, IB_DEFAULT_PREFIX);
}

static void make_port0_info(const struct dump_node *n, bool keep_lids, uint8_t *info)
{
	struct link_speed idle = speed_of((struct cable_speed){ 0 });

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
	set_link(info, &idle);
}

/* --- the discovery that is played --- */

struct play {
	const struct dump *d;
	struct fabric *f;
	uint32_t *node_of;	/* fabric node -> node record */
	uint32_t *index;	/* node record -> fabric node; FABRIC_NONE: not reached */
	unsigned self_num;	/* the port that the SM sends from */
	bool keep_lids;
	const struct device_kinds *kinds;	/* or NULL */
};

static struct device_values values_of(const struct play *p, const struct dump_node *n)
{
	struct device_values v = DEVICE_VALUES_UNKNOWN, assumed = device_values_assumed(n->type);
	uint32_t kind = device_kind_of(p->kinds, n->guid, n->type, n->desc);

	if (kind != UINT32_MAX)
		v = p->kinds->kinds.v[kind].v;
	device_values_fill(&v, &assumed);
	return v;
}

/* The reader's invariants guarantee that fabric_add_node() accepts the node. */
static void add_to_fabric(struct play *p, uint32_t node, unsigned local_port, const uint8_t *route,
			  unsigned hops)
{
	const struct dump_node *n = &p->d->nodes.v[node];
	struct device_values v = values_of(p, n);
	uint8_t node_info[40], switch_info[20];

	make_node_info(p->d, n, &v, local_port, node_info);
	make_switch_info(n, &v, switch_info);
	p->node_of[p->f->n_nodes] = node;
	p->index[node] = fabric_add_node(p->f, node_info, n->desc, switch_info, route, hops);
}

/* Adds the nodes that are one hop beyond a node of the fabric. */
static void visit_neighbours(struct play *p, uint32_t index)
{
	const struct dump_node *n = &p->d->nodes.v[p->node_of[index]];
	uint8_t route[IB_DR_HOPS_MAX];
	unsigned hops = p->f->nodes[index].hops;

	/* end nodes do not forward SMPs, and the SM sends only from its own port */
	if (hops == IB_DR_HOPS_MAX || (n->type != DUMP_SWITCH && index != 0))
		return;
	if (hops)
		memcpy(route, p->f->routes + p->f->nodes[index].route, hops);
	for (unsigned num = 1; num <= n->nports; num++) {
		uint32_t peer = p->d->ports[n->port0 + num].peer;
		const struct dump_port *far = peer == DUMP_NONE ? NULL : &p->d->ports[peer];

		if (!far || p->index[far->node] != FABRIC_NONE ||
		    (n->type != DUMP_SWITCH && num != p->self_num))
			continue;
		route[hops] = (uint8_t)num;
		add_to_fabric(p, far->node, far->num, route, hops + 1);
	}
}

static void add_ports(const struct play *p, uint32_t index)
{
	const struct dump_node *n = &p->d->nodes.v[p->node_of[index]];
	struct device_values v = values_of(p, n);
	uint8_t info[64];

	if (n->type == DUMP_SWITCH) {
		make_port0_info(n, p->keep_lids, info);
		fabric_set_port(p->f, index, 0, n->guid, info);
	}
	for (unsigned num = 1; num <= n->nports; num++) {
		const struct dump_port *port = &p->d->ports[n->port0 + num];

		make_port_info(n, port, &v, p->keep_lids, info);
		fabric_set_port(p->f, index, num, port_guid(p->d, n, num), info);
		if (port->speed.rate == RATE_FDR10)
			fabric_set_fdr10(p->f, p->f->nodes[index].port0 + num, true);
	}
}

static void add_links(const struct play *p)
{
	for (uint32_t i = 0; i < p->d->n_ports; i++) {
		const struct dump_port *a = &p->d->ports[i], *b = &p->d->ports[a->peer];

		/* fabric_link() refuses nodes that were not reached */
		if (a->peer != DUMP_NONE && i < a->peer)
			fabric_link(p->f, p->index[a->node], a->num, p->index[b->node], b->num);
	}
}

/* Predicts is_aggregation() of fabric.c, as far as a node's own lines tell. */
static bool looks_like_aggregation(const struct dump_node *n)
{
	return n->nports == 1 && ((n->vendor == IB_VENDOR_MELLANOX &&
				   n->device == IB_DEVICE_AGGREGATION) ||
				  strstr(n->desc, "Aggregation Node"));
}

/*
 * The first channel adapter that may be a host, else the first channel adapter; DUMP_NONE if there
 * is none.
 */
static uint32_t find_host(const struct dump *d)
{
	uint32_t first = DUMP_NONE;

	for (uint32_t i = 0; i < d->nodes.n; i++) {
		if (d->nodes.v[i].type != DUMP_CA)
			continue;
		if (!looks_like_aggregation(&d->nodes.v[i]))
			return i;
		if (first == DUMP_NONE)
			first = i;
	}
	return first;
}

static unsigned first_linked_port(const struct dump *d, const struct dump_node *n)
{
	unsigned num = 1;

	if (n->type == DUMP_SWITCH)
		return 0;
	while (num < n->nports && d->ports[n->port0 + num].peer == DUMP_NONE)
		num++;
	return num;
}

static void play_discovery(struct play *p, uint32_t sm)
{
	memset(p->index, 0xff, p->d->nodes.n * sizeof(*p->index));	/* FABRIC_NONE */
	p->self_num = first_linked_port(p->d, &p->d->nodes.v[sm]);
	add_to_fabric(p, sm, p->self_num, NULL, 0);
	for (uint32_t i = 0; i < p->f->n_nodes; i++)
		visit_neighbours(p, i);
	for (uint32_t i = 0; i < p->f->n_nodes; i++)
		add_ports(p, i);
	add_links(p);
}

struct fabric *fabric_of_dump(const struct dump *d, uint64_t sm_guid, bool keep_lids,
			      const struct device_kinds *kinds, struct findings *out)
{
	uint32_t sm = sm_guid ? map64_get(&d->node_by_guid, sm_guid) : find_host(d);
	struct play p = { .d = d, .keep_lids = keep_lids, .kinds = kinds };
	const char *path = d->files.v[0];
	struct buf why = { 0 };

	if (sm >= d->nodes.n) {
		if (sm_guid)
			findings_add(out, SEV_ERROR, path, (struct src_pos){ 0 },
				     "no node with GUID 0x%llx to put the SM on",
				     (unsigned long long)sm_guid);
		else
			findings_add(out, SEV_ERROR, path, (struct src_pos){ 0 },
				     "no channel adapter to put the SM on");
		return NULL;
	}
	p.f = fabric_new();
	p.node_of = xcalloc(d->nodes.n, sizeof(*p.node_of));
	p.index = xcalloc(d->nodes.n, sizeof(*p.index));
	play_discovery(&p, sm);
	/* A file must be sound: what discovery only warns of is an error here. */
	if (!fabric_finish(p.f, 0, p.self_num, &why) || why.n) {
		findings_add(out, SEV_ERROR, path, (struct src_pos){ 0 }, "%.*s",
			     (int)strcspn(why.s, "\n"), why.s);
		fabric_free(p.f);
		p.f = NULL;
	}
	buf_free(&why);
	free(p.node_of);
	free(p.index);
	return p.f;
}
