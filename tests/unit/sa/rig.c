/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Implements rig.h: the small subnet and its SA. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/base/alloc.h"
#include "rig.h"
#include "unit/load_fabric.h"

static const char topology[] =
	"switchguid=0x2c90200000010(2c90200000010)\n"
	"Switch 8 \"S-0002c90200000010\" # \"leaf1\" enhanced port 0 lid 0 lmc 0\n"
	"[1] \"H-0002c90300000010\"[1](2c90300000011) # \"h1 HCA-1\" lid 0 4xQDR\n"
	"[2] \"H-0002c90300000020\"[1](2c90300000021) # \"h2 HCA-1\" lid 0 4xQDR\n"
	"[7] \"S-0002c90200000020\"[1] # \"spine\" lid 0 4xQDR\n"
	"[8] \"S-0002c90200000020\"[2] # \"spine\" lid 0 4xQDR\n"
	"\n"
	"switchguid=0x2c90200000020(2c90200000020)\n"
	"Switch 8 \"S-0002c90200000020\" # \"spine\" base port 0 lid 0 lmc 0\n"
	"[1] \"S-0002c90200000010\"[7] # \"leaf1\" lid 0 4xQDR\n"
	"[2] \"S-0002c90200000010\"[8] # \"leaf1\" lid 0 4xQDR\n"
	"[3] \"S-0002c90200000030\"[7] # \"leaf2\" lid 0 4xQDR\n"
	"\n"
	"switchguid=0x2c90200000030(2c90200000030)\n"
	"Switch 8 \"S-0002c90200000030\" # \"leaf2\" base port 0 lid 0 lmc 0\n"
	"[1] \"H-0002c90300000030\"[1](2c90300000031) # \"h3 HCA-1\" lid 0 4xSDR\n"
	"[2] \"H-0002c90300000040\"[1](2c90300000041) # \"h4 HCA-1\" lid 0 1xSDR\n"
	"[7] \"S-0002c90200000020\"[3] # \"spine\" lid 0 4xQDR\n";

static const char host_text[] =
	"\n"
	"caguid=0x2c903000000%d0\n"
	"Ca 1 \"H-0002c903000000%d0\" # \"h%d HCA-1\"\n"
	"[1](2c903000000%d1) \"S-0002c902000000%d0\"[%d] # lid 0 lmc 0 \"leaf%d\" lid 0 %s\n";

static struct fabric *load(void)
{
	char path[] = "/tmp/qosd-test-XXXXXX";
	int fd = mkstemp(path);
	FILE *file = fdopen(fd, "w");
	struct buf err = { 0 };

	ck_assert_ptr_nonnull(file);
	fputs(topology, file);
	for (int h = 1; h <= N_HOSTS; h++) {
		int leaf = h <= 2 ? 1 : 2;

		fprintf(file, host_text, h, h, h, h, leaf == 1 ? 1 : 3, leaf == 1 ? h : h - 2, leaf,
			h == 4 ? "1xSDR" : h == 3 ? "4xSDR" : "4xQDR");
	}
	fclose(file);
	struct fabric *f = fabric_load(path, 0, false, &err);
	unlink(path);
	ck_assert_msg(f != NULL, "%s", err.s);
	buf_free(&err);
	return f;
}

static void count_change(void *arg)
{
	((struct rig *)arg)->changes++;
}

void rig_init(struct rig *r)
{
	memset(r, 0, sizeof(*r));
	r->f = load();
	r->settings = settings_default();
	r->policy = policy_builtin();
	r->f->ports[rig_host(r, H4)].mtu_cap = 3;
	r->sa.sm_key = SM_KEY;
	r->sa.stats = sa_stats_new();
	r->sa.mcast = mcast_new(count_change, r);
	r->sa.alias = alias_new();
	r->sa.services = services_new(NULL, NULL);
	r->sa.subscriptions = subscriptions_new(NULL, NULL);
	r->sa.holdings = holdings_new();
	mcast_hold(r->sa.mcast, r->sa.holdings);
	alias_hold(r->sa.alias, r->sa.holdings);
	services_hold(r->sa.services, r->sa.holdings);
	subscriptions_hold(r->sa.subscriptions, r->sa.holdings);
}

void rig_start(struct rig *r)
{
	uint64_t generation = r->state ? r->state->generation + 1 : 1;

	if (r->state) {
		plan_free(r->state->plan);
		free(r->state);
	}
	r->state = xcalloc(1, sizeof(*r->state));
	r->state->refs = 1;
	r->state->generation = generation;
	r->state->f = r->f;
	r->state->plan = plan_compute(r->f, r->policy, r->settings, NULL, NULL, NULL);
	ck_assert_uint_eq(r->state->plan->findings.count[SEV_ERROR], 0);
	static struct shared_policy shared;
	shared.p = r->policy;
	r->state->policy = &shared;
	r->sa.state = r->state;
}

void rig_end(struct rig *r)
{
	if (r->state)
		plan_free(r->state->plan);
	free(r->state);
	mcast_free(r->sa.mcast);
	sa_stats_free(r->sa.stats);
	alias_free(r->sa.alias);
	services_free(r->sa.services);
	subscriptions_free(r->sa.subscriptions);
	holdings_free(r->sa.holdings);
	policy_free(r->policy);
	settings_free(r->settings);
	fabric_free(r->f);
	buf_free(&r->out);
}

uint32_t rig_host(const struct rig *r, enum host h)
{
	uint32_t port = fabric_find_port(r->f, HOST_GUID(h));

	ck_assert_uint_ne(port, FABRIC_NONE);
	return port;
}

uint16_t rig_lid(const struct rig *r, enum host h)
{
	return r->state->plan->lid[rig_host(r, h)];
}

void rig_gid(uint64_t guid, uint8_t gid[16])
{
	put_be64(gid, PREFIX);
	put_be64(gid + 8, guid);
}

struct policy_level *rig_level(struct rig *r, const char *name, uint8_t sl)
{
	struct policy *p = r->policy;

	p->levels = xrealloc(p->levels, p->n_levels + 1, sizeof(*p->levels));
	p->levels[p->n_levels] = (struct policy_level){
		.name = xstrdup(name), .sl = sl,
		.packet_lifetime = -1, .path_bits = -1, .tclass = -1,
	};
	return &p->levels[p->n_levels++];
}

struct policy_rule *rig_rule(struct rig *r, const char *level)
{
	struct policy *p = r->policy;

	p->rules = xrealloc(p->rules, p->n_rules + 1, sizeof(*p->rules));
	p->rules[p->n_rules] = (struct policy_rule){
		.level_name = { .s = xstrdup(level) }, .level = policy_find_level(p, level),
	};
	ck_assert_uint_ne(p->rules[p->n_rules].level, UINT32_MAX);
	return &p->rules[p->n_rules++];
}

struct policy_partition *rig_partition(struct rig *r, uint16_t pkey)
{
	struct policy *p = r->policy;

	p->partitions = xrealloc(p->partitions, p->n_partitions + 1, sizeof(*p->partitions));
	p->partitions[p->n_partitions] = (struct policy_partition){
		.name = xasprintf("p%u", pkey), .pkey = pkey,
	};
	return &p->partitions[p->n_partitions++];
}

void rig_member(struct policy_partition *part, enum host who, enum membership m)
{
	part->members = xrealloc(part->members, part->n_members + 1, sizeof(*part->members));
	part->members[part->n_members++] = (struct policy_member){
		.group.s = who == N_HOSTS ? xstrdup("all") : NULL,
		.guids = { .lo = HOST_GUID(who), .hi = HOST_GUID(who) }, .membership = m,
	};
}

void rig_range(struct u64_ranges *ranges, uint64_t lo, uint64_t hi)
{
	*vec_push(ranges) = (struct u64_range){ .lo = lo, .hi = hi };
}

void *rig_request(struct rig *r, uint8_t method, uint16_t attr, uint64_t mask)
{
	memset(r->mad, 0, sizeof(r->mad));
	r->mad[0] = 1;
	r->mad[1] = 3;
	r->mad[2] = 2;
	r->mad[3] = method;
	put_be64(r->mad + 8, 0x0123456789abcdefULL);
	put_be16(r->mad + 16, attr);
	rig_set_mask(r, mask);
	r->len = MAD_LEN;
	r->slid = r->state ? rig_lid(r, H1) : 1;
	r->qpn = 1;
	return r->mad + SA_HDR_LEN;
}

void rig_set_mask(struct rig *r, uint64_t mask)
{
	put_be64(r->mad + 48, mask);
}

/* What is true of every answer. */
static void check_answer(const struct rig *r)
{
	const uint8_t *a = (const uint8_t *)r->out.s;
	/* Set has the response of Get, GetTraceTable that of GetTable */
	uint8_t method = r->mad[3] == 0x02 ? 0x01 : r->mad[3] == 0x13 ? 0x12 : r->mad[3];

	ck_assert_uint_ge(r->out.n, SA_HDR_LEN);
	if (!(a[26] & 1))	/* not RMPP */
		ck_assert_uint_eq(r->out.n, MAD_LEN);
	ck_assert_uint_eq(a[0], 1);
	ck_assert_uint_eq(a[1], 3);
	ck_assert_uint_eq(a[2], 2);
	ck_assert_uint_eq(a[3], method | 0x80);
	ck_assert_int_eq(memcmp(a + 8, r->mad + 8, 8), 0);	/* TransactionID */
	ck_assert_uint_eq(get_be64(a + 36), 0);			/* SM_Key is never disclosed */
}

bool rig_answer(struct rig *r, const struct sa_request *req)
{
	if (r->sa.state)
		mcast_sync(r->sa.mcast, r->sa.state);	/* as every publisher of a state does */
	return sa_answer(&r->sa, req, &r->out);
}

unsigned rig_ask(struct rig *r)
{
	/* of its own, so that reading beyond len is noticed */
	uint8_t *copy = xmemdup(r->mad, r->len);
	struct sa_request req = { .mad = copy, .len = r->len, .slid = r->slid, .qpn = r->qpn,
				  .arrived_us = r->arrived_us };
	bool answered = rig_answer(r, &req);

	free(copy);
	ck_assert(answered);
	check_answer(r);
	return get_be16(r->out.s + 4);
}

unsigned rig_records(const struct rig *r, size_t size)
{
	const uint8_t *a = (const uint8_t *)r->out.s;
	size_t step = get_be16(a + 44) * 8u, bytes = r->out.n - SA_HDR_LEN;
	bool one = a[3] == 0x81 || a[3] == 0x95;

	ck_assert_uint_eq(get_be16(a + 4), 0);
	if (!one) {
		ck_assert_uint_eq(a[26] & 3, 3);		/* RMPP active, first segment */
		ck_assert_uint_eq(get_be32(a + 32), bytes + 20);	/* with the SA header */
	}
	if (!step) {
		ck_assert_uint_eq(bytes, 0);
		return 0;
	}
	ck_assert_uint_eq(step, (size + 7) / 8 * 8);
	if (one)
		return 1;
	ck_assert_uint_eq(bytes % step, 0);
	return (unsigned)(bytes / step);
}

const void *rig_record(const struct rig *r, unsigned i)
{
	return r->out.s + SA_HDR_LEN + i * get_be16(r->out.s + 44) * 8u;
}
