/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Measures a fault and its end on fat trees: repairing the tables, and the rounds in which they are
 * written.
 *
 * CPU time of the thread, best of several runs, with the copy of the tables
 * apart; and instructions where the kernel counts them.
 */
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/alloc.h"
#include "routing/change/route_repair.h"
#include "routing/change/update_rounds.h"
#include "unit/routing/topo.h"

#define RUNS 5

static int counter = -1;

static void counter_open(void)
{
	struct perf_event_attr a = {
		.type = PERF_TYPE_HARDWARE, .size = sizeof(a),
		.config = PERF_COUNT_HW_INSTRUCTIONS, .exclude_kernel = 1, .exclude_hv = 1,
	};

	counter = (int)syscall(SYS_perf_event_open, &a, 0, -1, -1, 0);
}

static uint64_t instructions(void)
{
	uint64_t n = 0;

	return counter >= 0 && read(counter, &n, sizeof(n)) == sizeof(n) ? n : 0;
}

static double cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

struct cost {
	double ms, instructions;
};

static struct cost now(void)
{
	return (struct cost){ cpu_ms(), (double)instructions() };
}

/* The minimum of several measurements; best starts as zero. */
static void cost_since(struct cost *best, struct cost start)
{
	struct cost end = now();

	end.ms -= start.ms;
	end.instructions -= start.instructions;
	if (best->ms == 0 || end.ms < best->ms)
		*best = end;
}

struct bench {
	struct topo t;
	struct fat p;
	struct updn_order *o;
	struct channels *c;
	struct lfts *base;
	struct repair *rp;
	struct cost copy;
};

struct faults {
	VEC(struct link_end) v;
};

static void fail_link(const struct bench *b, struct faults *f, uint32_t node, unsigned num)
{
	*vec_push(&f->v) = (struct link_end){ b->t.f->nodes[node].sw, (uint8_t)num, false, false };
}

static void fail_switch(const struct bench *b, struct faults *f, uint32_t node)
{
	for (unsigned num = 1; num <= b->t.f->nodes[node].nports; num++)
		fail_link(b, f, node, num);
}

/* Repairs tables from the state where `before` is dead to that where `dead` is; returns the tables. */
static struct lfts *event(const struct bench *b, const char *what, const struct lfts *was,
			  const struct faults *before, const struct faults *dead)
{
	struct cost repair = { 0 }, order = { 0 };
	struct repaired r = { 0 };
	struct rounds s = { 0 };

	for (unsigned i = 0; i < RUNS; i++) {
		repaired_free(&r);
		rounds_free(&s);
		struct cost start = now();

		repair_run(b->rp, was, before->v.v, (uint32_t)before->v.n, dead->v.v,
			   (uint32_t)dead->v.n, &r);
		cost_since(&repair, start);
		start = now();
		rounds_make(&s, b->c, b->o, NULL, dead->v.v, (uint32_t)dead->v.n, was, r.next,
			    r.blocks, r.n_blocks);
		cost_since(&order, start);
	}
	printf("  %-26s %7.2f + %6.2f ms", what, repair.ms - b->copy.ms, order.ms);
	if (counter >= 0)
		printf(" (%.1f + %.1f M instructions)",
		       (repair.instructions - b->copy.instructions) / 1e6,
		       order.instructions / 1e6);
	printf(", %u LIDs, %u blocks, %u writes in %u rounds%s\n", r.n_lids, r.n_blocks,
	       s.n ? s.first[s.n] : 0, s.n, r.ok ? "" : ", REFUSED");
	struct lfts *next = r.next;

	r.next = NULL;
	repaired_free(&r);
	rounds_free(&s);
	return next;
}

/* A fault and its end, with other faults present. */
static void there_and_back(const struct bench *b, const char *what, const struct faults *others,
			   const struct faults *dead)
{
	struct faults none = { 0 };
	struct lfts *was = others ? event(b, "  (others)", b->base, &none, others) : NULL;
	char name[64];

	others = others ? others : &none;
	snprintf(name, sizeof(name), "%s goes", what);
	struct lfts *next = event(b, name, was ? was : b->base, others, dead);

	snprintf(name, sizeof(name), "%s is back", what);
	struct lfts *back = event(b, name, next, dead, others);

	if (memcmp(back->entries, (was ? was : b->base)->entries,
		   (size_t)back->n_switches * back->stride))
		printf("  THE TABLES ARE NOT AS THEY WERE\n");
	lfts_free(was);
	lfts_free(next);
	lfts_free(back);
}

static void whole_routing(const struct bench *b)
{
	struct lfts *other = topo_route(&b->t, &route_minhop);
	struct cost cost = { 0 }, start = now();
	struct rounds s;

	rounds_make(&s, b->c, NULL, NULL, NULL, 0, b->base, other, NULL, 0);
	cost_since(&cost, start);
	printf("  %-26s           %6.0f ms, %u writes (%u again) in %u rounds, %u dropped\n",
	       "updn to minhop", cost.ms, s.n ? s.first[s.n] : 0, s.again, s.n, s.dropped);
	rounds_free(&s);
	lfts_free(other);
}

static void events(const struct bench *b)
{
	const struct fat *p = &b->p;
	struct faults link = { 0 }, top = { 0 }, agg = { 0 }, spine = { 0 }, leaf = { 0 };
	struct faults more = { 0 };

	fail_link(b, &link, p->leaf[5], p->hosts + 3);
	there_and_back(b, "leaf-L2 link", NULL, &link);
	fail_link(b, &top, p->agg[3], p->leaves + 2);
	there_and_back(b, "L2-spine link", NULL, &top);
	fail_switch(b, &agg, p->agg[3]);
	there_and_back(b, "L2 switch", NULL, &agg);
	fail_switch(b, &spine, p->spine[3]);
	there_and_back(b, "spine", NULL, &spine);
	fail_switch(b, &leaf, p->leaf[5]);
	there_and_back(b, "leaf", NULL, &leaf);
	fail_switch(b, &more, p->agg[3]);
	fail_link(b, &more, p->leaf[p->leaves * 2], p->hosts + 1);
	there_and_back(b, "link while an L2 is away", &agg, &more);
	vec_free(&link.v);
	vec_free(&top.v);
	vec_free(&agg.v);
	vec_free(&spine.v);
	vec_free(&leaf.v);
	vec_free(&more.v);
}

static void bench(struct fat shape, bool keep_lost)
{
	struct bench b = { .p = shape };
	struct cost cost = { 0 }, start;

	fat_topo(&b.t, &b.p, 0);
	b.o = updn_order_new(b.t.f);
	b.t.r.order = b.o;
	b.base = topo_route(&b.t, &route_updn);
	start = now();
	b.c = channels_new(b.t.f, b.o);
	b.rp = repair_new(&b.t.r, b.c, b.o, b.base, keep_lost);
	cost_since(&cost, start);
	for (unsigned i = 0; i < RUNS; i++) {
		start = now();
		lfts_free(lfts_copy(b.base));
		cost_since(&b.copy, start);
	}
	printf("%u hosts, %u switches: %.1f ms to begin with, %.1f ms for a copy of the tables\n",
	       shape.pods * shape.leaves * shape.hosts, b.t.f->n_switches, cost.ms, b.copy.ms);
	printf("  repair + rounds; what is lost is %s\n", keep_lost ? "kept" : "dropped");
	events(&b);
	whole_routing(&b);
	repair_free(b.rp);
	channels_free(b.c);
	updn_order_free(b.o);
	lfts_free(b.base);
	topo_free(&b.t);
	fat_free(&b.p);
}

int main(void)
{
	static const struct fat shapes[] = {
		{ .pods = 16, .leaves = 8, .hosts = 8, .aggs = 8, .width = 1, .spines = 8 },
		{ .pods = 36, .leaves = 18, .hosts = 18, .aggs = 18, .width = 1, .spines = 18 },
	};

	counter_open();
	for (unsigned i = 0; i < ARRAY_SIZE(shapes); i++)
		for (unsigned keep_lost = 0; keep_lost < 2; keep_lost++)
			bench(shapes[i], keep_lost);
	if (counter >= 0)
		close(counter);
	return 0;
}
