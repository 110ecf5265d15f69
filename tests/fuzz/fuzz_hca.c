/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A hostile driver of an HCA (libFuzzer's interface), beside one that only reads, on a switch whose
 * ports are all Active.
 *
 * The input is steps, each a byte and what it needs: frames of any kind with any contents, bytes that
 * are no frames, counts out of thin air, time.  Whatever comes, the other driver's HCA keeps its power,
 * and reads whole frames only.
 */
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "lib/base/bytes.h"
#include "lib/base/log.h"
#include "sim/dev/device.h"
#include "sim/net/fields.h"
#include "sim/hca/hca.h"
#include "sim/hca/rings.h"
#include "sim/topo/topo.h"

enum step { FRAME, PACKET, BYTES, RING, WRITTEN, READ, TIME, READ_ALL, STEPS };

struct driver {
	struct hca *h;
	uint32_t node;
	_Alignas(8) char memory[SIMHCA_MEMORY];
	uint32_t written, read;
};

static struct sim *sim;
static struct driver bad, good;

/* --- the input --- */

struct input {
	const uint8_t *at, *end;
};

/* The next n bytes, zero beyond the input's end. */
static void take(struct input *in, void *to, size_t n)
{
	size_t left = (size_t)(in->end - in->at), have = n < left ? n : left;

	memcpy(to, in->at, have);
	memset((char *)to + have, 0, n - have);
	in->at += have;
}

static uint8_t take8(struct input *in)
{
	uint8_t v;

	take(in, &v, sizeof(v));
	return v;
}

static uint32_t take32(struct input *in)
{
	uint32_t v;

	take(in, &v, sizeof(v));
	return v;
}

/* --- the fabric --- */

static void ignore(struct sim *s, uint32_t port, struct packet *p)
{
	(void)s;
	(void)port;
	(void)p;
}

static void set_port(uint32_t port, unsigned num, uint16_t lid, unsigned state)
{
	uint8_t data[64];

	device_smp(sim, port, METHOD_GET, ATTR_PORT_INFO, num, data);
	if (lid)
		put_be16(data + PI_LID, lid);
	put_be16(data + PI_SM_LID, 2);
	set_low4(data + PI_SPEED_SUP_STATE, state);
	set_high4(data + PI_PHYS_STATE_DOWN_DEFAULT, 0);
	device_smp(sim, port, METHOD_SET, ATTR_PORT_INFO, num, data);
}

static void activate(uint32_t switch_port, uint32_t port, uint16_t lid)
{
	set_port(port, 1, lid, 0);
	for (unsigned state = SIM_PORT_ARMED; state <= SIM_PORT_ACTIVE; state++) {
		set_port(switch_port, sim->f->ports[switch_port].num, 0, state);
		set_port(port, 1, 0, state);
	}
}

static void no_ring(void *arg)
{
	(void)arg;
}

static void put_byte(struct driver *d, uint8_t byte)
{
	struct simhca_ring *r = (void *)(d->memory + SIMHCA_TO_HCA);

	r->data[d->written++ % SIMHCA_RING_SIZE] = byte;
	r->written = htole32(d->written);
}

static void put_frame(struct driver *d, const struct simhca_frame *f, const uint8_t *data, size_t n)
{
	for (size_t i = 0; i < sizeof(*f); i++)
		put_byte(d, ((const uint8_t *)f)[i]);
	for (size_t i = 0; i < n; i++)
		put_byte(d, data[i]);
	while (d->written % 8)
		put_byte(d, 0);
}

static void turn(int64_t us)
{
	sim_run(sim, sim_now(sim) + us);
	hcas_end_turn(sim);
}

static void attach(struct driver *d, uint32_t node)
{
	const struct hca_ops ops = { .ring = no_ring };
	const struct simhca_frame start = { .kind = SIMHCA_START };

	memset(d, 0, sizeof(*d));
	d->node = node;
	d->h = hca_attach(sim, node, d->memory, 0, 1, &ops);
	put_frame(d, &start, NULL, 0);
	hca_doorbell(d->h);
	turn(20000);
}

static void set_routes(uint32_t node)
{
	struct sim_switch *sw = &sim->f->switches[sim->f->nodes[node].sw];

	for (unsigned i = 1; i <= 2; i++)
		sw->lft[i] = (uint8_t)i;
	sw->lft_top = 2;
	sw->mft = xcalloc(sim->f->nodes[node].profile->mft_cap, sizeof(*sw->mft));
	sw->mft[0][0] = 6;
}

static void start(void)
{
	struct sim_fabric *f = simfab_new();
	struct findings found = { 0 };
	struct profile_set *ps = profiles_load(NULL, NULL, 0, &found);
	struct buf err = { 0 };

	if (!topo_generate("switch:4,hosts=2", f, &err) || !ps)
		abort();
	profiles_apply(ps, f);
	profiles_free(ps);
	findings_free(&found);
	sim = sim_new(f, 1);
	sim->hooks = (struct sim_hooks){
		.arrive = devices_receive, .host = ignore, .bad_pkey = device_bad_pkey,
		.bad_qkey = device_bad_qkey, .activate = device_activate, .driver = hca_receive,
	};
	devices_start(sim, false);
	hcas_start(sim);
	attach(&bad, 1);
	attach(&good, 2);
	set_routes(0);
	activate(f->nodes[0].port0 + 1, f->nodes[1].port0 + 1, 1);
	activate(f->nodes[0].port0 + 2, f->nodes[2].port0 + 1, 2);
}

static void stop(void)
{
	hcas_stop(sim);
	devices_stop(sim);
	sim_free(sim);
}

/* --- the steps --- */

static void write_frame(struct input *in)
{
	struct simhca_frame f = { .kind = take8(in), .port = take8(in), .flags = take8(in) & 3 };
	uint8_t data[1024] = { 0 };
	size_t n = take8(in);

	n = f.kind == SIMHCA_MAD && n ? sizeof(struct simhca_mad) : n;
	take(in, data, n);
	f.length = htole32((uint32_t)n);
	put_frame(&bad, &f, data, n);
}

/* A packet whose lengths are right; all else is the input's. */
static void write_packet(struct input *in)
{
	struct simhca_frame f = { .kind = SIMHCA_PACKET, .port = 1 };
	uint8_t raw[8 + 40 + 4096] = { 0 };
	size_t n = 28 + 4u * take8(in) * (1 + take8(in) % 4);

	take(in, raw, n < 340 ? n : 340);
	raw[0] = 0;
	raw[1] |= 2;
	put_be16(raw + 4, (uint16_t)(n / 4 + 1));
	if (raw[1] & 1)
		put_be16(raw + 8 + 4, (uint16_t)(n - 48 + 4));
	f.length = htole32((uint32_t)n);
	put_frame(&bad, &f, raw, n);
}

static void write_bytes(struct input *in)
{
	for (unsigned n = take8(in); n; n--)
		put_byte(&bad, take8(in));
}

/* Reads as a driver does; what is there must be whole frames. */
static void read_all(struct driver *d)
{
	struct simhca_ring *r = (void *)(d->memory + SIMHCA_TO_DRIVER);
	struct simhca_frame head;

	while (d->read != le32toh(r->written)) {
		uint32_t left = le32toh(r->written) - d->read;

		for (size_t i = 0; i < sizeof(head); i++)
			((uint8_t *)&head)[i] = r->data[(d->read + i) % SIMHCA_RING_SIZE];
		if (left < sizeof(head) || le32toh(head.length) > FRAME_MAX ||
		    sizeof(head) + le32toh(head.length) > left || head.port != 1)
			abort();
		d->read += (uint32_t)sizeof(head) + ((le32toh(head.length) + 7) & ~7u);
	}
	r->read = htole32(d->read);
}

static void take_step(struct input *in)
{
	struct simhca_ring *to_hca = (void *)(bad.memory + SIMHCA_TO_HCA);
	struct simhca_ring *to_driver = (void *)(bad.memory + SIMHCA_TO_DRIVER);

	switch ((enum step)(take8(in) % STEPS)) {
	case FRAME: write_frame(in); break;
	case PACKET: write_packet(in); break;
	case BYTES: write_bytes(in); break;
	case RING: hca_doorbell(bad.h); turn(0); break;
	case WRITTEN: to_hca->written = take32(in); bad.written = le32toh(to_hca->written); break;
	case READ: to_driver->read = take32(in); break;
	case TIME: turn(take8(in) * INT64_C(10000)); break;
	case READ_ALL: to_driver->read = to_driver->written; break;
	case STEPS: break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, data + size };

	log_set_level(LOG_LEVEL_ERROR);
	start();
	while (in.at < in.end)
		take_step(&in);
	hca_doorbell(bad.h);
	turn(0);
	read_all(&good);
	if (sim->f->nodes[good.node].off)
		abort();
	stop();
	return 0;
}
