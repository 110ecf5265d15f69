/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Implements pair.h. */
#include <stdlib.h>

#include "pair.h"
#include "unit/run.h"

struct sim *s;
uint32_t left, right;
bool (*look)(uint32_t port, struct packet *p);

static void port_up(struct sim_port *p, uint16_t lid)
{
	p->state = SIM_PORT_ACTIVE;
	p->phys_state = SIM_PHYS_LINK_UP;
	p->op_vls = 1;
	p->lid = lid;
	p->lmc = 2;
	p->n_pkeys = 4;
	p->pkeys = xcalloc(4, sizeof(*p->pkeys));
	p->pkeys[0] = 0x7fff;
	p->pkeys[1] = 0x8001;
	p->pkeys[2] = 0xffff;
	p->n_guids = 2;
	p->guids = xcalloc(2, sizeof(*p->guids));
	p->guids[0] = p->guid;
	p->guids[1] = p->guid + 0x100;
	put_be64(p->info + 8, 0xfe80000000000000ULL);
}

static const struct sim_profile profile;	/* nothing special */

static uint32_t add_ca(struct sim_fabric *f, uint64_t guid, uint16_t lid)
{
	struct sim_node_spec spec = { .type = SIM_CA, .nports = 2, .guid = guid };
	struct buf err = { 0 };
	uint32_t node = simfab_add_node(f, &spec, &err);

	ck_assert_msg(node != SIM_NONE, "%s", err.s);
	f->nodes[node].profile = &profile;
	port_up(&f->ports[f->nodes[node].port0 + 1], lid);
	return f->nodes[node].port0 + 1;
}

static void arrive(struct sim *sim, uint32_t port, struct packet *p)
{
	if (!look || look(port, p))
		hosts_receive(sim, port, p);
}

void pair_setup(void)
{
	struct sim_fabric *f = simfab_new();
	struct buf err = { 0 };

	map64_init(&f->node_by_guid, 8);
	map64_init(&f->port_by_guid, 8);
	left = add_ca(f, 0x1000, 0x10);
	right = add_ca(f, 0x2000, 0x20);
	ck_assert(simfab_connect(f, left, right, &err));
	s = sim_new(f, 1);
	s->hooks.arrive = arrive;
	look = NULL;
	hosts_start(s);
}

void pair_teardown(void)
{
	hosts_stop(s);
	sim_free(s);
}

void run_us(int64_t us)
{
	sim_run(s, sim_now(s) + us);
}

uint64_t drops(enum drop_reason why)
{
	return s->drops->by_reason[why];
}

static bool deliver(void *arg, const void *umad, size_t n)
{
	struct client *c = arg;

	if (c->deaf)
		return false;
	*vec_push(&c->got) = (struct got){ xmemdup(umad, n), n };
	return true;
}

void client_open(struct client *c, uint32_t port, uint32_t number)
{
	struct host_file_ops ops = { deliver, c };

	*c = (struct client){ 0 };
	c->h = host_open(s, port, number, &ops);
}

void client_close(struct client *c)
{
	host_close(c->h);
	got_forget(c);
	vec_free(&c->got);
}

int client_register(struct client *c, uint8_t mgmt_class, int method)
{
	struct host_agent_request r = { .mgmt_class = mgmt_class, .class_version = 1 };

	if (mgmt_class == CLASS_SA)
		r.class_version = 2;
	if (method >= 0)
		r.method_mask[method / 64] = UINT64_C(1) << method % 64;
	return host_register(c->h, &r);
}

int client_register_rmpp(struct client *c, uint8_t mgmt_class, int method, bool raw)
{
	struct host_agent_request r = {
		.mgmt_class = mgmt_class,
		.class_version = mgmt_class == CLASS_SA ? 2 : 1,
		.rmpp_version = 1,
		.user_rmpp = raw,
		.oui = 0x001405,
	};

	if (method >= 0)
		r.method_mask[method / 64] = UINT64_C(1) << method % 64;
	return host_register(c->h, &r);
}

const struct ib_user_mad *got_head(const struct client *c, size_t i)
{
	ck_assert_uint_lt(i, c->got.n);
	return (const void *)c->got.v[i].umad;
}

const uint8_t *got_mad(const struct client *c, size_t i)
{
	ck_assert_uint_lt(i, c->got.n);
	return c->got.v[i].umad + HEAD;
}

size_t got_length(const struct client *c, size_t i)
{
	ck_assert_uint_lt(i, c->got.n);
	return c->got.v[i].n - HEAD;
}

void got_forget(struct client *c)
{
	for (size_t i = 0; i < c->got.n; i++)
		free(c->got.v[i].umad);
	c->got.n = 0;
}

struct message message_new(size_t n, int agent, uint16_t dlid, uint8_t mgmt_class, uint8_t method,
			   uint64_t tid)
{
	uint8_t *umad = xcalloc(1, HEAD + n);
	struct message m = { (struct ib_user_mad *)(void *)umad, umad + HEAD, n };

	m.head->agent_id = (uint32_t)agent;
	m.head->addr.lid = htobe16(dlid);
	m.head->addr.qpn = htobe32(mgmt_class != CLASS_SM_LID && mgmt_class != CLASS_SM_DR);
	m.head->addr.pkey_index = 2;
	m.mad[MAD_BASE_VERSION] = 1;
	m.mad[MAD_CLASS] = mgmt_class;
	m.mad[MAD_CLASS_VERSION] = mgmt_class == CLASS_SA ? 2 : 1;
	m.mad[MAD_METHOD] = method;
	put_be64(m.mad + MAD_TID, tid);
	return m;
}

int message_write(struct client *c, const struct message *m)
{
	return host_write(c->h, m->head, HEAD + m->n);
}

int message_send(struct client *c, struct message m)
{
	int err = message_write(c, &m);

	free(m.head);
	return err;
}

struct message message_answer(const struct client *c, size_t i, size_t n)
{
	const uint8_t *mad = got_mad(c, i);
	const struct ib_user_mad *head = got_head(c, i);
	struct message m = message_new(n, (int)head->agent_id, be16toh(head->addr.lid),
				       mad[MAD_CLASS], mad[MAD_METHOD] | MAD_METHOD_RESPONSE,
				       get_be64(mad + MAD_TID));

	m.head->addr = head->addr;
	memcpy(m.mad + MAD_ATTR, mad + MAD_ATTR, 8);
	return m;
}

int run_cases(const char *name, const TTest *const *tests, size_t n)
{
	Suite *suite = suite_create(name);
	TCase *tc = tcase_create(name);

	tcase_add_checked_fixture(tc, pair_setup, pair_teardown);
	tcase_set_timeout(tc, 60);
	for (size_t i = 0; i < n; i++)
		tcase_add_test(tc, tests[i]);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
