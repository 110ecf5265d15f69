/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <check.h>
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"
#include "lib/base/bytes.h"

uint32_t ca_c, ca_d;

/* --- the fabric --- */

static uint32_t add_ca(const char *name, uint64_t guid, uint32_t switch_port)
{
	struct sim_node_spec spec = {
		.type = SIM_CA, .nports = 1, .guid = guid, .sysimg_guid = guid, .id = name,
		.desc = name,
	};
	struct buf err = { 0 };
	uint32_t node = simfab_add_node(fabric, &spec, &err), port;

	ck_assert_msg(node != SIM_NONE, "%s", err.s);
	port = fabric->nodes[node].port0 + 1;
	ck_assert_msg(simfab_connect(fabric, port, switch_port, &err), "%s", err.s);
	return port;
}

static void add_cas(void)
{
	ca_c = add_ca("c", 0x500, sw1 + 4);
	ca_d = add_ca("d", 0x600, sw2 + 4);
}

void vm_setup(void)
{
	before_start = add_cas;
	default_setup();
	before_start = NULL;
	sim->hooks.driver = hca_receive;
	sim->hooks.bad_qkey = device_bad_qkey;
	hcas_start(sim);
}

void vm_teardown(void)
{
	hcas_stop(sim);
	fabric_teardown();
}

void turn_us(int64_t us)
{
	pass_us(us);
	hcas_end_turn(sim);
}

static void add_route(uint32_t sw, uint16_t lid, uint8_t out)
{
	fabric->switches[node_of(fabric, sw)->sw].lft[lid] = out;
}

static void set_by_agent(uint32_t port, unsigned num, void (*change)(uint8_t *info, unsigned v),
			 unsigned v)
{
	uint8_t data[SMP_DATA_SIZE] = { 0 };

	ck_assert_uint_eq(device_smp(sim, port, METHOD_GET, ATTR_PORT_INFO, num, data), STATUS_OK);
	set_low4(data + PI_SPEED_SUP_STATE, 0);
	set_high4(data + PI_PHYS_STATE_DOWN_DEFAULT, 0);
	change(data, v);
	ck_assert_uint_eq(device_smp(sim, port, METHOD_SET, ATTR_PORT_INFO, num, data), STATUS_OK);
}

static void change_lid(uint8_t *info, unsigned lid)
{
	put_be16(info + PI_LID, (uint16_t)lid);
	put_be16(info + PI_SM_LID, LID_A);
}

static void change_state(uint8_t *info, unsigned state)
{
	set_low4(info + PI_SPEED_SUP_STATE, state);
}

/* Makes a link Active by its ends' agents, whoever has the node. */
static void activate(uint32_t switch_port, uint32_t port, uint16_t lid)
{
	set_by_agent(port, 1, change_lid, lid);
	for (unsigned state = SIM_PORT_ARMED; state <= SIM_PORT_ACTIVE; state++) {
		set_by_agent(switch_port, fabric->ports[switch_port].num, change_state, state);
		set_by_agent(port, 1, change_state, state);
	}
}

/* bring_up() asks a and b over the network, which a driver would have to answer. */
void vm_bring_up(void)
{
	static const struct { uint16_t lid; uint8_t sw1, sw2; } routes[] = {
		{ LID_A, 1, 1 }, { LID_B, 2, 2 }, { LID_C, 4, 1 }, { LID_D, 2, 4 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(routes); i++) {
		add_route(sw1, routes[i].lid, routes[i].sw1);
		add_route(sw2, routes[i].lid, routes[i].sw2);
	}
	fabric->switches[node_of(fabric, sw1)->sw].lft_top = 63;
	fabric->switches[node_of(fabric, sw2)->sw].lft_top = 63;
	activate(sw1 + 1, ca_a, LID_A);
	activate(sw2 + 2, ca_b, LID_B);
	activate(sw1 + 4, ca_c, LID_C);
	activate(sw2 + 4, ca_d, LID_D);
	for (unsigned state = SIM_PORT_ARMED; state <= SIM_PORT_ACTIVE; state++) {
		set_by_agent(sw1 + 2, 2, change_state, state);
		set_by_agent(sw2 + 1, 1, change_state, state);
	}
	turn_us(0);
	n_heard = 0;
}

/* --- drivers --- */

static void rung(void *arg)
{
	((struct driver *)arg)->rung++;
}

void driver_attach(struct driver *d, uint32_t port)
{
	const struct hca_ops ops = { .ring = rung, .arg = d };
	struct buf err = { 0 };

	*d = (struct driver){ .node = fabric->ports[port].node };
	d->port = fabric->nodes[d->node].port0 + 1;
	ck_assert_msg(hca_possible(sim, d->node, &err), "%s", err.s);
	ck_assert_int_eq(posix_memalign(&d->memory, 4096, SIMHCA_MEMORY), 0);
	memset(d->memory, 0, SIMHCA_MEMORY);
	d->h = hca_attach(sim, d->node, d->memory, PEER, 99, &ops);
}

void driver_start(struct driver *d, uint32_t port)
{
	driver_attach(d, port);
	driver_send(d, SIMHCA_START, 0, NULL, 0);
	turn_us(20000);
	driver_forget(d);
}

void driver_detach(struct driver *d)
{
	if (d->h)
		hca_detach(d->h);
	free(d->memory);
	*d = (struct driver){ 0 };
}

struct simhca_ring *to_hca(const struct driver *d)
{
	return (void *)((char *)d->memory + SIMHCA_TO_HCA);
}

struct simhca_ring *to_driver(const struct driver *d)
{
	return (void *)((char *)d->memory + SIMHCA_TO_DRIVER);
}

const struct simhca_header *driver_header(const struct driver *d)
{
	return d->memory;
}

static void put_byte(struct driver *d, uint8_t byte)
{
	to_hca(d)->data[d->written++ % SIMHCA_RING_SIZE] = byte;
}

void driver_write(struct driver *d, uint8_t kind, uint8_t port, uint16_t flags, uint64_t id,
		  const void *data, uint32_t n)
{
	struct simhca_frame f = {
		.length = htole32(n), .kind = kind, .port = port, .flags = htole16(flags),
		.id = htole64(id),
	};

	for (unsigned i = 0; i < sizeof(f); i++)
		put_byte(d, ((const uint8_t *)&f)[i]);
	for (unsigned i = 0; i < n; i++)
		put_byte(d, ((const uint8_t *)data)[i]);
	while (d->written % 8)
		put_byte(d, 0);
	to_hca(d)->written = htole32(d->written);
}

void driver_ring(struct driver *d)
{
	hca_doorbell(d->h);
	turn_us(0);
}

void driver_send(struct driver *d, uint8_t kind, uint8_t port, const void *data, uint32_t n)
{
	driver_write(d, kind, port, 0, 0, data, n);
	driver_ring(d);
}

static void get_bytes(struct driver *d, void *to, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		((uint8_t *)to)[i] = to_driver(d)->data[d->read++ % SIMHCA_RING_SIZE];
}

bool driver_read(struct driver *d, struct frame *f)
{
	struct simhca_frame head;

	if (d->read == le32toh(to_driver(d)->written))
		return false;
	get_bytes(d, &head, sizeof(head));
	f->length = le32toh(head.length);
	f->kind = head.kind;
	f->port = head.port;
	f->flags = le16toh(head.flags);
	f->id = le64toh(head.id);
	ck_assert_uint_le(f->length, FRAME_MAX);
	get_bytes(d, f->data, f->length);
	d->read = (d->read + 7) & ~7u;
	to_driver(d)->read = htole32(d->read);
	return true;
}

bool driver_find(struct driver *d, uint8_t kind, struct frame *f)
{
	while (driver_read(d, f))
		if (f->kind == kind)
			return true;
	return false;
}

void driver_forget(struct driver *d)
{
	d->read = le32toh(to_driver(d)->written);
	to_driver(d)->read = htole32(d->read);
}

/* --- MADs --- */

void make_mad(uint8_t *mad, uint8_t mgmt_class, uint8_t method, uint16_t attr, uint32_t mod)
{
	memset(mad, 0, SIM_MAD_SIZE);
	mad[MAD_BASE_VERSION] = mad[MAD_CLASS_VERSION] = 1;
	mad[MAD_CLASS] = mgmt_class;
	mad[MAD_METHOD] = method;
	put_be16(mad + MAD_ATTR, attr);
	put_be32(mad + MAD_MOD, mod);
}

unsigned driver_ask(struct driver *d, uint16_t flags, bool by_cable, uint8_t *mad)
{
	static uint64_t id;
	static struct frame f;
	struct simhca_mad m = {
		.source_lid = by_cable ? htole16(LID_A) : 0, .source_qp = htole32(by_cable),
		.by_cable = by_cable,
	};

	memcpy(m.mad, mad, sizeof(m.mad));
	driver_write(d, SIMHCA_MAD, 1, flags, ++id, &m, sizeof(m));
	driver_ring(d);
	ck_assert(driver_find(d, SIMHCA_ANSWER, &f));
	ck_assert_uint_eq(f.id, id);
	ck_assert_uint_eq(f.port, 1);
	ck_assert_uint_eq(f.length, f.flags == SIMHCA_REPLY ? SIMHCA_MAD_SIZE : 0);
	memcpy(mad, f.data, f.length);
	return f.flags;
}

/* --- packets --- */

static uint8_t *put_grh(const struct raw_spec *r, unsigned behind, uint8_t *at)
{
	put_be32(at, 0x61234567);		/* IPVer 6, TClass 0x12, FlowLabel 0x34567 */
	put_be16(at + 4, (uint16_t)behind);
	at[6] = 0x1b;
	at[7] = 63;
	for (unsigned i = 0; i < 16; i++) {
		at[8 + i] = (uint8_t)(r->slid + i);
		at[24 + i] = (uint8_t)(r->dlid + i);
	}
	return at + 40;
}

unsigned make_raw(const struct raw_spec *r, uint8_t *raw)
{
	unsigned deth = r->opcode ? 0 : 8, behind = 12 + deth + r->n + 4;
	unsigned total = 8 + (r->grh ? 40 : 0) + behind;
	uint8_t *at = raw + 8;

	memset(raw, 0, total);
	raw[0] = r->dqpn ? 0 : 0xf0;
	raw[1] = (uint8_t)(r->sl << 4 | (r->grh ? 3 : 2));
	put_be16(raw + 2, r->dlid);
	put_be16(raw + 4, (uint16_t)(total / 4));
	put_be16(raw + 6, r->slid);
	if (r->grh)
		at = put_grh(r, behind, at);
	at[0] = r->opcode ? r->opcode : 0x64;
	at[1] = 0x40;
	put_be16(at + 2, r->pkey ? r->pkey : 0xffff);
	put_be32(at + 4, r->dqpn);
	if (deth) {
		put_be32(at + 12, r->qkey);
		put_be32(at + 16, r->sqpn);
	}
	at += 12 + deth;
	for (unsigned i = 0; i < r->n; i++)
		at[i] = r->payload ? ((const uint8_t *)r->payload)[i] : (uint8_t)i;
	return total - 4;
}

void driver_send_raw(struct driver *d, const struct raw_spec *r)
{
	uint8_t raw[FRAME_MAX];
	unsigned n = make_raw(r, raw);

	driver_send(d, SIMHCA_PACKET, 1, raw, n);
}
