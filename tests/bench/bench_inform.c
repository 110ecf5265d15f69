/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Measures subscriptions to events of all LIDs (LIDRangeBegin 0xFFFF), as the SRP initiators and
 * IPoIB interfaces of a whole cluster make them: CPU time of the SA for each subscription, from the
 * bytes of the request to those of the answer, and for each Report of one event that all of them
 * get.
 *
 *	bench_inform [TOPOLOGY [SUBSCRIBERS]]	examples/cluster.topo; one for each host at most
 *
 * For comparison the same with a range of all unicast LIDs, named one by one (0x0001 to 0xBFFF),
 * and with a range of 64, which are looked at when the subscription is made.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/bench.h"
#include "lib/base/alloc.h"
#include "lib/base/bytes.h"
#include "lib/iba/sa_records.h"
#include "sa/registry/groups.h"
#include "sa/registry/subscriptions.h"
#include "sa/reports.h"
#include "sa/sa.h"

#define ATTR_INFORM_INFO 0x03

static VEC(uint32_t) ports;

/* New groups (trap 66) in a range of LIDs; last 0: all. */
static void make_request(uint8_t *mad, uint16_t first, uint16_t last)
{
	struct sa_inform_info *i = (void *)(mad + SA_HDR_LEN);

	memset(mad, 0, MAD_LEN);
	memcpy(mad, "\1\3\2\2", 4);
	put_be16(mad + 16, ATTR_INFORM_INFO);
	put_be16(i->lid_first, first);
	put_be16(i->lid_last, last);
	i->generic = i->subscribe = 1;
	put_be16(i->type, 0xffff);
	put_be16(i->number, 66);
	put_be32(i->producer, 0xffffff);
	put_be32(i->qpn_resp_time, 18);
}

static void subscribe(struct sa *sa, const char *what, uint16_t first, uint16_t last)
{
	const struct subnet_state *s = sa->state;
	double all = 0, worst = 0;
	unsigned refused = 0;
	struct buf out = { 0 };
	uint8_t mad[MAD_LEN];

	for (size_t i = 0; i < ports.n; i++) {
		struct sa_request req = { .mad = mad, .len = MAD_LEN, .qpn = 1,
					  .slid = s->plan->lid[ports.v[i]] };
		double took = cpu_us();

		make_request(mad, first, last);
		sa_answer(sa, &req, &out);
		took = cpu_us() - took;
		all += took;
		worst = took > worst ? took : worst;
		refused += get_be16(out.s + 4) != 0;
	}
	printf("%-32s %9.2f us each, %7.0f us at most, %u of %zu refused\n", what,
	       all / (double)ports.n, worst, refused, ports.n);
	buf_free(&out);
}

/* --- one event --- */

static struct {
	unsigned ids[REPORTS_OUTSTANDING], n;
	bool woken;
} sent;

static bool send_report(void *arg, const struct report *r)
{
	(void)arg;
	sent.ids[sent.n++] = r->id;
	return true;
}

static void wake(void *arg)
{
	(void)arg;
	sent.woken = true;
}

static void one_event(struct sa *sa)
{
	static const struct reports_hooks hooks = { .send = send_report, .wake = wake };
	struct reports *r = reports_new(sa->subscriptions, &hooks);
	const uint8_t mgid[16] = { 0xff, 0x12 };
	double start, all = 0, worst = 0, took;

	reports_publish(r, sa->state);
	start = cpu_us();
	reports_group(r, mgid, 0xffff, true);
	do {
		double turn = cpu_us();

		sent.woken = false;
		reports_work(r);
		took = cpu_us() - turn;
		worst = took > worst ? took : worst;
		while (sent.n)
			reports_answered(r, sent.ids[--sent.n], true);
	} while (sent.woken || reports_counts(r)->answered < subscriptions_count(sa->subscriptions));
	all = cpu_us() - start;
	printf("%-32s %9.2f us each, %7.0f us in one turn at most, %.1f ms for %llu Reports\n",
	       "a Report of one event", all / (double)reports_counts(r)->sent, worst, all * 1e-3,
	       (unsigned long long)reports_counts(r)->sent);
	reports_free(r);
}

int main(int argc, char **argv)
{
	struct subnet_state *s;
	struct sa sa;

	s = state_of_dump(argc > 1 ? argv[1] : "examples/cluster.topo");
	sa = (struct sa){ .state = s, .sm_key = 1, .mcast = mcast_new(NULL, NULL),
			  .subscriptions = subscriptions_new(NULL, NULL) };
	for (uint32_t port = 0; port < s->f->n_ports; port++)
		if (s->plan->lid[port] && s->f->nodes[s->f->ports[port].node].sw == FABRIC_NONE &&
		    (argc < 3 || ports.n < strtoul(argv[2], NULL, 0)))
			*vec_push(&ports) = port;
	printf("%zu hosts subscribe\n", ports.n);
	subscribe(&sa, "all LIDs (0xFFFF)", INFORM_ALL_LIDS, 0);
	one_event(&sa);
	subscribe(&sa, "LIDs 0x0001 to 0xBFFF", 1, IB_LID_UCAST_MAX);
	subscribe(&sa, "LIDs 1 to 64", 1, 64);
	mcast_free(sa.mcast);
	subscriptions_free(sa.subscriptions);
	return 0;
}
