/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Time and memory of the routing engines and of the verdict on fat trees.
 *
 * Each fabric is built and routed in a process of its own, so that the peak
 * memory is that of this fabric; what the run itself adds to the fabric and
 * the tables is printed apart.
 */
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "routing/multicast/mcast_tree.h"
#include "routing/shape.h"
#include "unit/build_tree.h"
#include "unit/routing/topo.h"

static double mib(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (double)u.ru_maxrss / 1024;
}

static void bench_engine(const struct topo *t, const struct route_engine *e)
{
	struct lfts *l = lfts_new(t->f->n_switches, t->r.lid_top);
	struct route_report report;
	struct route_layers *layers = NULL;
	struct buf why = { 0 };
	double before = mib(), peak;
	int64_t start = clock_mono_us(), routed;
	struct route_request r = t->r;

	e->run(&t->r, l, &layers, &why);
	routed = clock_mono_us();
	peak = mib();
	r.layers = layers;
	route_verify(&r, l, &report);
	printf("  %-7s %7.1f ms, +%.1f MiB; verify %7.1f ms, +%.1f MiB: %llu pairs, "
	       "%llu unreachable, %u hops at most, %s\n",
	       e->name, (double)(routed - start) / 1000, peak - before,
	       (double)(clock_mono_us() - routed) / 1000, mib() - peak,
	       (unsigned long long)report.pairs, (unsigned long long)report.unreachable,
	       report.max_hops, report.credit_loop ? "CREDIT LOOP" : "no credit loop");
	route_report_free(&report);
	route_layers_free(layers);
	buf_free(&why);
	lfts_free(l);
}

static void bench_mcast(const struct topo *t)
{
	uint32_t *members = xcalloc(t->f->n_ports, sizeof(*members)), n = 0;
	int64_t start = clock_mono_us(), ordered;

	for (uint32_t p = 0; p < t->f->n_ports; p++)
		if (port_is_end(t->f, p) && !node_is_switch(port_node(t->f, p)))
			members[n++] = p;
	struct updn_order *o = updn_order_new(t->f);

	ordered = clock_mono_us();
	struct mcast_forest *w = mcast_forest_new(o, NULL);
	struct mcast_tree *tree = build_tree(w, t->f->n_switches, members, n);

	printf("  order   %7.1f ms; tree of all hosts %.1f ms\n",
	       (double)(ordered - start) / 1000, (double)(clock_mono_us() - ordered) / 1000);
	struct route_shape whole, now;
	int64_t shaped;

	start = clock_mono_us();
	route_shape(o, &whole);
	shaped = clock_mono_us();
	route_shape_on(o, &whole, NULL, &now);
	printf("  shape   %7.1f ms; on what is left of it %.1f ms\n", (double)(shaped - start) / 1000,
	       (double)(clock_mono_us() - shaped) / 1000);
	mcast_tree_free(tree);
	mcast_forest_free(w);
	updn_order_free(o);
	free(members);
}

static void bench(struct fat shape, const struct route_engine *e)
{
	struct topo t;

	fat_topo(&t, &shape, 0);
	if (e == NULL) {
		bench_mcast(&t);
	} else {
		if (e == route_engines[0])
			printf("%u hosts, %u switches, %.1f MiB of tables, fabric %.1f MiB\n",
			       shape.pods * shape.leaves * shape.hosts, t.f->n_switches,
			       (double)t.f->n_switches * t.r.lid_top / 1048576, mib());
		bench_engine(&t, e);
	}
	topo_free(&t);
	fat_free(&shape);
}

int main(void)
{
	static const struct fat shapes[] = {
		{ .pods = 1, .leaves = 36, .hosts = 18, .aggs = 18, .width = 1 },
		{ .pods = 16, .leaves = 8, .hosts = 8, .aggs = 8, .width = 1, .spines = 8 },
		{ .pods = 36, .leaves = 18, .hosts = 18, .aggs = 18, .width = 1, .spines = 18 },
		{ .pods = 36, .leaves = 18, .hosts = 18, .aggs = 18, .width = 1, .spines = 18,
		  .aggregation = true },
		{ .pods = 48, .leaves = 24, .hosts = 24, .aggs = 24, .width = 1, .spines = 24 },
	};

	for (unsigned i = 0; i < ARRAY_SIZE(shapes); i++) {
		for (unsigned e = 0;; e++) {
			fflush(stdout);
			pid_t child = fork();

			if (child == 0) {
				bench(shapes[i], route_engines[e]);
				exit(0);
			}
			int status;

			if (child < 0 || waitpid(child, &status, 0) < 0 || status != 0)
				return 1;
			if (!route_engines[e])
				break;
		}
	}
	return 0;
}
