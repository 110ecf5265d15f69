/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads all subnet management attributes of every device of a fabric:
 *
 *	dumptables [-w WINDOW]
 *
 * Prints a line per block of a table: GUID of the node, number of the port whose
 * it is (0: a switch's own), attribute, modifier and the 64 bytes, the last two in
 * hexadecimal; "status" and the MAD status where the device refuses.  A block
 * without an answer makes the exit status 1.
 *
 * It uses directed routes, so that it needs neither LIDs nor a manager.  GUIDInfo, P_Keys, SLtoVL
 * and VLArbitration of a CA belong to the port at which an SMP arrives, so each port is queried
 * over its own link.
 */
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/ibnetdisc.h>
#include <infiniband/mad.h>
#include <infiniband/umad.h>
#include <infiniband/umad_sm.h>
#include <infiniband/umad_types.h>

#include "lib/base/alloc.h"
#include "port.h"

#define TIMEOUT_MS 1000
#define RETRIES 3
#define DATA_SIZE 64

struct message {
	struct ib_user_mad umad;
	struct umad_smp smp;
};

struct path {
	uint8_t hops;
	uint8_t ports[IB_SUBNET_PATH_HOPS_MAX];
};

struct block {
	uint64_t guid;
	const struct path *path;
	unsigned port;			/* as printed */
	uint16_t attr;
	uint32_t mod;
	bool answered;
	uint16_t status;
	uint8_t data[DATA_SIZE];
};

struct dump {
	struct own_port port;
	int agent;
	unsigned window;
	VEC(struct block) blocks;
	VEC(struct path *) paths;
};

/* --- the window --- */

static void send_get(const struct dump *d, size_t i)
{
	const struct block *b = &d->blocks.v[i];
	struct message m = {
		.smp = {
			.base_version = 1, .mgmt_class = UMAD_CLASS_SUBN_DIRECTED_ROUTE,
			.class_version = 1, .method = UMAD_METHOD_GET, .hop_cnt = b->path->hops,
			.tid = htobe64(i + 1), .attr_id = htobe16(b->attr),
			.attr_mod = htobe32(b->mod), .dr_slid = 0xffff, .dr_dlid = 0xffff,
		},
	};

	memcpy(m.smp.initial_path, b->path->ports, sizeof(b->path->ports));
	umad_set_addr(&m, 0xffff, 0, 0, 0);
	if (umad_send(d->port.fd, d->agent, &m, sizeof(m.smp), TIMEOUT_MS, RETRIES) < 0)
		die("send: %m");
}

static void receive_one(struct dump *d)
{
	struct message m;
	int length = sizeof(m.smp);
	size_t i;

	if (umad_recv(d->port.fd, &m, &length, 2 * TIMEOUT_MS * (RETRIES + 1)) < 0)
		die("receive: %m");
	i = (be64toh(m.smp.tid) & UINT32_MAX) - 1;
	if (i >= d->blocks.n || umad_status(&m))
		return;
	d->blocks.v[i].answered = true;
	d->blocks.v[i].status = be16toh(m.smp.status) & 0x7fff;	/* without the D bit */
	memcpy(d->blocks.v[i].data, m.smp.data, DATA_SIZE);
}

static void read_blocks(struct dump *d)
{
	size_t sent = 0;

	for (size_t received = 0; received < d->blocks.n; received++) {
		for (; sent < d->blocks.n && sent < received + d->window; sent++)
			send_get(d, sent);
		receive_one(d);
	}
}

/* --- what there is to read --- */

static void want(struct dump *d, const ibnd_node_t *node, const struct path *path, unsigned port,
		 unsigned attr, uint32_t mod)
{
	*vec_push(&d->blocks) = (struct block) {
		.guid = node->guid, .path = path, .port = port, .attr = (uint16_t)attr, .mod = mod,
	};
}

static struct path *new_path(struct dump *d, const ib_dr_path_t *dr, int next)
{
	struct path *p = *vec_push(&d->paths) = xcalloc(1, sizeof(*p));

	p->hops = (uint8_t)dr->cnt;
	memcpy(p->ports, dr->p, sizeof(p->ports));
	if (next)
		p->ports[++p->hops] = (uint8_t)next;
	return p;
}

/* The route to the node, or into it over the link of one of its ports; NULL: there is none. */
static const struct path *path_to(struct dump *d, const ibnd_fabric_t *fabric, ibnd_node_t *node,
				  int port)
{
	const ibnd_port_t *far = port ? node->ports[port]->remoteport : NULL;

	if (!port)
		return new_path(d, &node->path_portid.drpath, 0);
	if (node == fabric->from_node && port == fabric->from_portnum)
		return new_path(d, &node->path_portid.drpath, 0);
	return far ? new_path(d, &far->node->path_portid.drpath, far->portnum) : NULL;
}

static void want_port_info(struct dump *d, const ibnd_node_t *node, const struct path *path,
			   unsigned port)
{
	want(d, node, path, port, UMAD_SM_ATTR_PORT_INFO, port);
	want(d, node, path, port, UMAD_SM_ATTR_MLNX_EXT_PORT_INFO, port);
}

static void want_pkeys(struct dump *d, const ibnd_node_t *node, const struct path *path,
		       unsigned port, unsigned entries)
{
	uint32_t high = node->type == IB_NODE_SWITCH ? port << 16 : 0;

	for (uint32_t i = 0; i * 32 < entries; i++)
		want(d, node, path, port, UMAD_SM_ATTR_PKEY_TABLE, high | i);
}

static void want_arbitration(struct dump *d, const ibnd_node_t *node, const struct path *path,
			     unsigned port)
{
	uint32_t low = node->type == IB_NODE_SWITCH ? port : 0;

	for (uint32_t part = 1; part <= 4; part++)
		want(d, node, path, port, UMAD_SM_ATTR_VL_ARB_TABLE, part << 16 | low);
}

static void want_end_port(struct dump *d, ibnd_node_t *node, const struct path *path, int port)
{
	uint32_t guids = 8;

	if (node->ports[port])
		guids = mad_get_field(node->ports[port]->info, 0, IB_PORT_GUID_CAP_F);
	for (uint32_t i = 0; i * 8 < guids; i++)
		want(d, node, path, (unsigned)port, UMAD_SM_ATTR_GUID_INFO, i);
	want_pkeys(d, node, path, (unsigned)port,
		   mad_get_field(node->info, 0, IB_NODE_PARTITION_CAP_F));
}

static void want_forwarding(struct dump *d, ibnd_node_t *node, const struct path *path)
{
	uint32_t top = mad_get_field(node->switchinfo, 0, IB_SW_LINEAR_FDB_TOP_F);
	uint32_t mcast = mad_get_field(node->switchinfo, 0, IB_SW_MCAST_FDB_CAP_F);

	for (uint32_t i = 0; i <= top / 64; i++)
		want(d, node, path, 0, UMAD_SM_ATTR_LINEAR_FT, i);
	for (uint32_t i = 0; i * 32 < mcast; i++)
		for (uint32_t position = 0; position * 16 <= (uint32_t)node->numports; position++)
			want(d, node, path, 0, UMAD_SM_ATTR_MCAST_FT, position << 28 | i);
}

static void want_switch(struct dump *d, const ibnd_fabric_t *fabric, ibnd_node_t *node)
{
	const struct path *path = path_to(d, fabric, node, 0);
	unsigned n = (unsigned)node->numports;

	want(d, node, path, 0, UMAD_SM_ATTR_NODE_DESC, 0);
	want(d, node, path, 0, UMAD_SM_ATTR_NODE_INFO, 0);
	want(d, node, path, 0, UMAD_SM_ATTR_SWITCH_INFO, 0);
	want_end_port(d, node, path, 0);
	for (unsigned port = 0; port <= n; port++) {
		want_port_info(d, node, path, port);
		if (port)
			want_pkeys(d, node, path, port, mad_get_field(node->switchinfo, 0,
						IB_SW_PARTITION_ENFORCE_CAP_F));
		want_arbitration(d, node, path, port);
		for (unsigned in = 0; in <= n; in++)
			want(d, node, path, port, UMAD_SM_ATTR_SLVL_TABLE, in << 8 | port);
	}
	want_forwarding(d, node, path);
}

static void want_adapter(struct dump *d, const ibnd_fabric_t *fabric, ibnd_node_t *node)
{
	for (int port = 1; port <= node->numports; port++) {
		const struct path *path = node->ports[port] ? path_to(d, fabric, node, port) : NULL;

		/* A port without a link is queried through another port. */
		want_port_info(d, node, path ? path : path_to(d, fabric, node, 0), (unsigned)port);
		if (!path)
			continue;
		want(d, node, path, (unsigned)port, UMAD_SM_ATTR_NODE_DESC, 0);
		want(d, node, path, (unsigned)port, UMAD_SM_ATTR_NODE_INFO, 0);
		want_end_port(d, node, path, port);
		want(d, node, path, (unsigned)port, UMAD_SM_ATTR_SLVL_TABLE, 0);
		want_arbitration(d, node, path, (unsigned)port);
	}
}

static void want_node(ibnd_node_t *node, void *arg)
{
	void **args = arg;

	if (node->type == IB_NODE_SWITCH)
		want_switch(args[0], args[1], node);
	else
		want_adapter(args[0], args[1], node);
}

/* --- the answers --- */

static const char *attribute_name(unsigned attr)
{
	switch (attr) {
	case UMAD_SM_ATTR_NODE_DESC: return "NodeDescription";
	case UMAD_SM_ATTR_NODE_INFO: return "NodeInfo";
	case UMAD_SM_ATTR_SWITCH_INFO: return "SwitchInfo";
	case UMAD_SM_ATTR_GUID_INFO: return "GUIDInfo";
	case UMAD_SM_ATTR_PORT_INFO: return "PortInfo";
	case UMAD_SM_ATTR_MLNX_EXT_PORT_INFO: return "ExtendedPortInfo";
	case UMAD_SM_ATTR_PKEY_TABLE: return "P_KeyTable";
	case UMAD_SM_ATTR_SLVL_TABLE: return "SLtoVL";
	case UMAD_SM_ATTR_VL_ARB_TABLE: return "VLArbitration";
	case UMAD_SM_ATTR_LINEAR_FT: return "LFT";
	default: return "MFT";
	}
}

static void print_block(const struct block *b)
{
	printf("%016llx %u %s %x ", (unsigned long long)b->guid, b->port, attribute_name(b->attr),
	       b->mod);
	if (!b->answered)
		printf("none");
	else if (b->status)
		printf("status %04x", b->status);
	else
		for (unsigned i = 0; i < DATA_SIZE; i++)
			printf("%02x", b->data[i]);
	putchar('\n');
}

int main(int argc, char **argv)
{
	struct dump d = { .window = 64 };
	struct ibnd_config config = { .timeout_ms = TIMEOUT_MS, .retries = RETRIES };
	ibnd_fabric_t *fabric;
	int c, status = 0;

	while ((c = getopt(argc, argv, "w:")) != -1) {
		if (c != 'w')
			return 2;
		d.window = (unsigned)atoi(optarg);
	}
	if (!d.window)
		return 2;
	fabric = ibnd_discover_fabric(NULL, 0, NULL, &config);
	if (!fabric)
		die("discover: %m");
	own_port_open(&d.port);
	d.agent = own_port_register(&d.port, UMAD_CLASS_SUBN_DIRECTED_ROUTE, 0, 0);
	ibnd_iter_nodes(fabric, want_node, (void *[]) { &d, fabric });
	read_blocks(&d);
	for (size_t i = 0; i < d.blocks.n; i++) {
		print_block(&d.blocks.v[i]);
		status |= !d.blocks.v[i].answered;
	}
	for (size_t i = 0; i < d.paths.n; i++)
		free(d.paths.v[i]);
	vec_free(&d.paths);
	vec_free(&d.blocks);
	own_port_close(&d.port);
	ibnd_destroy_fabric(fabric);
	return status;
}
