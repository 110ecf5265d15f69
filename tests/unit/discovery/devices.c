/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Implements devices.h. */
#include <check.h>
#include <errno.h>
#include <string.h>

#include <infiniband/mad.h>
#include <infiniband/umad.h>
#include <infiniband/umad_sm.h>

#include "devices.h"
#include "discovery/answer_guard.h"
#include "discovery/fallback_scan.h"
#include "lib/base/alloc.h"
#include "lib/base/bytes.h"

enum {
	METHOD = 3, STATUS = 4, HOPS = 7, ATTR = 16, MODIFIER = 20, DATA = 64, PATH = 128, BACK = 192,
	SIZE = 256
};
#define WINDOW 6u		/* requests under way */

const char *const lie_names[LIES] = {
	"truth", "node-guid-other", "node-guid-chosen", "node-guid-random", "both-guids-random",
	"both-guids-fit", "port-guid-other", "port-guid-random", "other-node", "local-port-other",
};

struct device devices[DEVICES_MAX];
unsigned n_devices;

static uint64_t random_state;

void devices_seed(uint64_t seed)
{
	random_state = seed * 7919 + 1;
}

/* An xorshift generator, which gives the same numbers on every machine. */
uint32_t devices_random(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (uint32_t)(random_state >> 16);
}

/* --- fabrics --- */

static unsigned add_device(unsigned type)
{
	struct device *d = &devices[n_devices];

	*d = (struct device){ .type = type, .ports = type == DEVICE_CA ? 1 : DEVICE_PORTS };
	d->guid = (type == DEVICE_CA ? 0x100000 : 0x200000) + 0x100 * n_devices;
	d->port_guid = d->guid + (type == DEVICE_CA);
	for (unsigned i = 0; i <= DEVICE_PORTS; i++)
		d->peer[i].device = -1;
	return n_devices++;
}

static void cable(unsigned a, unsigned port_a, unsigned b, unsigned port_b)
{
	devices[a].peer[port_a].device = (int)b;
	devices[a].peer[port_a].port = port_b;
	devices[b].peer[port_b].device = (int)a;
	devices[b].peer[port_b].port = port_a;
}

/* Ports of switches: 1 and 2 to hosts, 3 to the east, 4 to the west, 5 to the north, 6 to the south. */
static void grid(unsigned w, unsigned h, bool wraps, unsigned hosts)
{
	unsigned first;

	n_devices = 0;
	for (unsigned i = 0; i < w * h * hosts; i++)
		add_device(DEVICE_CA);
	first = n_devices;
	for (unsigned i = 0; i < w * h; i++)
		add_device(DEVICE_SWITCH);
	for (unsigned i = 0; i < w * h * hosts; i++)
		cable(i, 1, first + i / hosts, 1 + i % hosts);
	for (unsigned y = 0; y < h; y++)
		for (unsigned x = 0; x < w; x++) {
			unsigned at = first + y * w + x;

			if ((wraps && w > 2) || x + 1 < w)
				cable(at, 3, first + y * w + (x + 1) % w, 4);
			if ((wraps && h > 2) || y + 1 < h)
				cable(at, 5, first + (y + 1) % h * w + x, 6);
		}
}

static void tree(unsigned leaves, unsigned spines, unsigned hosts)
{
	n_devices = 0;
	for (unsigned i = 0; i < leaves * hosts; i++)
		add_device(DEVICE_CA);
	for (unsigned i = 0; i < leaves + spines; i++)
		add_device(DEVICE_SWITCH);
	for (unsigned i = 0; i < leaves * hosts; i++)
		cable(i, 1, leaves * hosts + i / hosts, 1 + i % hosts);
	for (unsigned l = 0; l < leaves; l++)
		for (unsigned s = 0; s < spines; s++)
			cable(leaves * hosts + l, 1 + hosts + s, leaves * (hosts + 1) + s, 1 + l);
}

static void mesh(void)
{
	grid(3, 3, false, 1);
}

static void torus(void)
{
	grid(3, 3, true, 1);
}

static void ring(void)
{
	grid(5, 1, true, 2);
}

static void clos(void)
{
	tree(4, 2, 3);
}

const struct devices_fabric devices_fabrics[DEVICES_FABRICS] = {
	{ "mesh", mesh }, { "torus", torus }, { "ring", ring }, { "clos", clos },
};

/* --- answers of devices --- */

static void put_node_info(const struct device *d, unsigned local, uint8_t *data)
{
	const struct device *victim = &devices[d->victim];
	const struct device *as = d->lie == WHOLE ? victim : d;
	uint64_t guid = as->guid, port_guid = as->port_guid;

	if (d->lie == NODE_GUID || d->lie == NODE_GUID_CHOSEN)
		guid = victim->guid;
	if (d->lie == NODE_GUID_CHOSEN)
		port_guid = guid;
	if (d->lie == PORT_GUID)
		port_guid = victim->port_guid;
	if (d->lie == NODE_GUID_RANDOM || d->lie == BOTH_GUIDS_RANDOM || d->lie == BOTH_GUIDS_FIT)
		guid = (uint64_t)devices_random() << 32 | 1;
	if (d->lie == BOTH_GUIDS_FIT)
		port_guid = guid + 1;
	if (d->lie == BOTH_GUIDS_RANDOM || d->lie == PORT_GUID_RANDOM)
		port_guid = (uint64_t)devices_random() << 32 | 1;
	if (d->lie == LOCAL_PORT)
		local = 1 + local % d->ports;
	if (local > as->ports)
		local = as->ports;
	data[0] = data[1] = 1;
	data[NI_TYPE] = (uint8_t)as->type;
	data[NI_PORTS] = (uint8_t)as->ports;
	data[NI_LOCAL_PORT] = (uint8_t)local;
	put_be64(data + NI_GUID, guid);
	put_be64(data + NI_PORT_GUID, port_guid);
}

static void put_port_info(const struct device *d, unsigned num, unsigned local, uint8_t *data)
{
	bool up = !num || d->peer[num].device >= 0;

	mad_set_field(data, 0, IB_PORT_LOCAL_PORT_F, local);
	mad_set_field(data, 0, IB_PORT_STATE_F, up ? IB_PORT_INIT_S : IB_PORT_DOWN_S);
	mad_set_field(data, 0, IB_PORT_PHYS_STATE_F, up ? IB_PHYS_LINK_UP : 2);
	mad_set_field(data, 0, IB_PORT_LINK_WIDTH_ACTIVE_F, 2);
	mad_set_field(data, 0, IB_PORT_LINK_SPEED_ACTIVE_F, 4);
	mad_set_field(data, 0, IB_PORT_MTU_CAP_F, 4);
	mad_set_field(data, 0, IB_PORT_VL_CAP_F, 4);
	mad_set_field(data, 0, IB_PORT_OPER_VLS_F, 4);
}

int devices_follow(const uint8_t *path, unsigned hops, unsigned *local)
{
	int at = 0;

	*local = 1;
	for (unsigned i = 0; i < hops; i++) {
		const struct device *d = &devices[at];

		if ((i && d->type != DEVICE_SWITCH) || path[i] > d->ports || d->peer[path[i]].device < 0)
			return -1;
		*local = d->peer[path[i]].port;
		at = d->peer[path[i]].device;
	}
	return at;
}

/* --- libibumad for the walk --- */

struct pending {
	bool lost;
	uint8_t mad[SIZE];
};

static struct guard *guard;
static bool full;	/* the process ends */
static struct stream_reader *reader;
static VEC(struct pending) pending;

int __wrap_umad_init(void);
int __wrap_umad_open_port(const char *ca, int port);
int __wrap_umad_register(int fd, int class, int version, uint8_t rmpp, long mask[16 / sizeof(long)]);
int __wrap_umad_send(int fd, int agent, void *umad, int length, int timeout_ms, int retries);
int __wrap_umad_recv(int fd, void *umad, int *length, int timeout_ms);

int __wrap_umad_init(void)
{
	return 0;
}

int __wrap_umad_open_port(const char *ca, int port)
{
	(void)ca;
	return port;
}

int __wrap_umad_register(int fd, int class, int version, uint8_t rmpp, long mask[16 / sizeof(long)])
{
	(void)fd, (void)class, (void)version, (void)rmpp, (void)mask;
	return 0;
}

static void answer(const uint8_t *asked, struct pending *p)
{
	unsigned local, hops = asked[HOPS], attr = get_be16(asked + ATTR);
	int at = devices_follow(asked + PATH + 1, hops, &local);
	uint8_t *data = p->mad + DATA;
	struct disco_excluded x;

	memcpy(p->mad, asked, SIZE);
	p->lost = at < 0 || full;
	if (p->lost)
		return;
	p->mad[METHOD] = UMAD_METHOD_GET_RESP;
	p->mad[STATUS] = 0x80;
	p->mad[BACK + hops] = (uint8_t)local;
	switch (attr) {
	case UMAD_SM_ATTR_NODE_INFO:
		put_node_info(&devices[at], local, data);
		break;
	case UMAD_SM_ATTR_PORT_INFO:
		put_port_info(&devices[at], get_be32(asked + MODIFIER), local, data);
		break;
	case UMAD_SM_ATTR_SWITCH_INFO:
		mad_set_field(data, 0, IB_SW_LINEAR_FDB_CAP_F, 0xbfff);
		break;
	}
	switch (guard_answer(guard, asked, p->mad, SIZE, &x)) {
	case GUARD_REFUSE:
		reader_take_left(reader, &x);
		/* fall through */
	case GUARD_REPEATED:
		put_be16(p->mad + STATUS, 0x801c);
		break;
	case GUARD_FULL:
		reader_take_left(reader, &x);
		full = p->lost = true;
		break;
	case GUARD_FEED:
		break;
	}
}

int __wrap_umad_send(int fd, int agent, void *umad, int length, int timeout_ms, int retries)
{
	(void)fd, (void)agent, (void)length, (void)timeout_ms, (void)retries;
	memcpy(vec_push(&pending)->mad, umad_get_mad(umad), SIZE);
	return 0;
}

/* Returns the answer to a random outstanding request. */
int __wrap_umad_recv(int fd, void *umad, int *length, int timeout_ms)
{
	size_t i = devices_random() % pending.n;
	struct pending p;

	(void)fd, (void)timeout_ms;
	answer(pending.v[i].mad, &p);
	for (; i + 1 < pending.n; i++)
		pending.v[i] = pending.v[i + 1];
	pending.n--;
	memset(umad, 0, umad_size());
	((struct ib_user_mad *)umad)->status = p.lost ? ETIMEDOUT : 0;
	memcpy(umad_get_mad(umad), p.mad, SIZE);
	*length = SIZE;
	return 0;
}

/* --- a scan --- */

static void put_record(const void *record, size_t n)
{
	if (!full)
		ck_assert_uint_eq(reader_take(reader, record, n), n);
}

static void put_left(void *arg, const struct disco_excluded *x)
{
	(void)arg;
	reader_take_left(reader, x);
}

bool devices_scan(const struct disco_excluded *out, unsigned n_out, const struct fabric *known,
		  struct stream_reader *r)
{
	const struct walk_config c = { "model", 1, WINDOW, 100, 0 };
	struct stream_end end = { .type = STREAM_END };

	guard = guard_new(out, n_out, GUARD_PORTS_MAX);
	reader = r;
	full = false;
	reader_start(r);
	r->known = known;
	ck_assert_int_eq(walk_fabric(&c, put_record, &end.self_num, &end.mads), WALK_GOOD);
	if (!full) {
		guard_finish(guard, put_left, NULL);
		put_record(&end, sizeof(end));
		ck_assert(r->whole);
	}
	guard_free(guard);
	return !full;
}

void devices_free(void)
{
	vec_free(&pending);
}
