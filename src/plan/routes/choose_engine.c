/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See choose_engine.h. */
#include "plan/routes/choose_engine.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "plan/routes/base_routes.h"
#include "routing/gauge/gauge.h"

/* Bandwidths within this factor are equal: the difference is noise, and no reason to use another layer. */
#define NOISE 1.03

/* Limits on random bisections, and on the flows in all of them: a second for the largest fabrics. */
#define BISECTIONS 200u
#define FLOWS 2000000u

static const struct candidate {
	const struct route_engine *engine;
	bool for_trees;		/* best if the switches form a tree, and cheap in any fabric */
	bool in_layers;		/* uses as many layers as there are */
	bool stays_free;	/* see engine_stays_free() */
} candidates[] = {
	{ .engine = &route_updn, .for_trees = true, .stays_free = true },
	{ .engine = &route_grid, .stays_free = true },
	{ .engine = &route_dragonfly, .stays_free = true },
	{ .engine = &route_layered, .in_layers = true, .stays_free = true },
	{ .engine = &route_minhop },
};
_Static_assert(ARRAY_SIZE(candidates) <= CHOICE_ENGINES_MAX, "room for all candidates");

/* An engine's routes during the comparison. */
struct trial {
	const struct candidate *by;
	struct engine_try *told;
	struct lfts *lfts;		/* NULL: no routes; told->why has the reason */
	struct route_layers *layers;
	uint64_t lost;			/* lost routes that hosts, aggregation nodes or the SM need */
};

struct choosing {
	const struct route_request *r;
	const char *room;
	struct trial trials[ARRAY_SIZE(candidates)];
	unsigned n;
};

bool routing_is_auto(const struct settings *s)
{
	return s->engines[0] && !strcmp(s->engines[0], SETTINGS_ENGINE_AUTO);
}

bool engine_stays_free(const struct route_engine *e)
{
	for (size_t i = 0; i < ARRAY_SIZE(candidates); i++)
		if (candidates[i].engine == e)
			return candidates[i].stays_free;
	return false;
}

/* --- routes --- */

/* Discards the routes; takes ownership of why. */
static void give_up(struct trial *t, struct buf *why)
{
	lfts_free(t->lfts);
	route_layers_free(t->layers);
	t->lfts = NULL;
	t->layers = NULL;
	t->told->why = why->s ? why->s : xstrdup("cannot route this fabric");
	*why = (struct buf){ 0 };
}

static void run(struct choosing *c, struct trial *t)
{
	struct buf why = { 0 };

	t->lfts = lfts_new(c->r->f->n_switches, c->r->lid_top);
	if (!t->by->engine->run(c->r, t->lfts, &t->layers, &why)) {
		give_up(t, &why);
		return;
	}
	buf_free(&why);
	t->told->layers = t->layers ? t->layers->n_vl_sets : 1;
}

static struct route_request request_of(const struct choosing *c, const struct trial *t)
{
	struct route_request r = *c->r;

	r.layers = t->layers;
	return r;
}

/* False: the routes have a credit loop. */
static bool verify(struct choosing *c, struct trial *t)
{
	struct route_request r = request_of(c, t);
	struct route_report report;
	bool loop;

	route_verify(&r, t->lfts, &report);
	t->lost = report.to_hosts.n + report.to_aggregation.n + report.of_sm.n;
	loop = report.credit_loop;
	route_report_free(&report);
	return !loop;
}

static void try_engines(struct choosing *c)
{
	for (unsigned i = 0; i < c->n; i++) {
		struct trial *t = &c->trials[i];
		struct buf why = { 0 };

		run(c, t);
		if (!t->lfts || verify(c, t))
			continue;
		buf_puts(&why, "credit loop");
		give_up(t, &why);
	}
}

/* Drops engines that leave more routes unconnected than others do. */
static void drop_lossy(struct choosing *c)
{
	uint64_t least = UINT64_MAX;

	for (unsigned i = 0; i < c->n; i++)
		if (c->trials[i].lfts && c->trials[i].lost < least)
			least = c->trials[i].lost;
	for (unsigned i = 0; i < c->n; i++) {
		struct trial *t = &c->trials[i];
		struct buf why = { 0 };

		if (!t->lfts || t->lost == least)
			continue;
		buf_printf(&why, "leaves %" PRIu64 " route%s unconnected without need", t->lost - least,
			   t->lost - least == 1 ? "" : "s");
		give_up(t, &why);
	}
}

static void measure(struct choosing *c)
{
	const struct gauge_options o = { .bisections = BISECTIONS, .flows = FLOWS, .seed = 1 };
	struct gauge g;

	for (unsigned i = 0; i < c->n; i++) {
		struct trial *t = &c->trials[i];
		struct route_request r = request_of(c, t);

		if (!t->lfts)
			continue;
		gauge_measure(&r, t->lfts, &o, &g);
		t->told->measured = true;
		t->told->ebb = g.ebb;
		t->told->efi = g.efi;
	}
}

/* --- the choice --- */

static double best_bandwidth(const struct choosing *c)
{
	double best = 0;

	for (unsigned i = 0; i < c->n; i++)
		if (c->trials[i].lfts && c->trials[i].told->ebb > best)
			best = c->trials[i].told->ebb;
	return best;
}

/* Decides between two engines of equal bandwidth. */
static bool is_better(const struct trial *a, const struct trial *b)
{
	const struct engine_try *x = a->told, *y = b->told;

	if (a->by->stays_free != b->by->stays_free)
		return a->by->stays_free;
	return x->layers != y->layers ? x->layers < y->layers : x->efi < y->efi;
}

/* NULL: no engine is left. */
static struct trial *pick(struct choosing *c)
{
	double best = best_bandwidth(c);
	struct trial *taken = NULL;

	for (unsigned i = 0; i < c->n; i++) {
		struct trial *t = &c->trials[i];

		if (t->lfts && t->told->ebb * NOISE >= best &&
		    (!taken || is_better(t, taken)))
			taken = t;
	}
	return taken;
}

/* --- the reasons --- */

static void put_layers(const struct choosing *c, const struct trial *t, struct buf *out)
{
	unsigned n = t->told->layers, most = c->r->most_layers ? c->r->most_layers : 1;
	bool limited = t->by->in_layers && n >= most;

	if (n && t->layers && t->layers->link)
		buf_printf(out, " with %u layers on %u VL sets", t->layers->n, n);
	else if (n > 1 || (n && limited))
		buf_printf(out, " with %u layer%s", n, n == 1 ? "" : "s");
	if (n && limited)
		buf_printf(out, ", the maximum (%s)", c->room);
}

/* Why another engine was preferred. */
static void put_reason(const struct trial *trial, const struct trial *other, struct buf *out)
{
	const struct engine_try *t = trial->told, *taken = other->told;

	buf_printf(out, "%.3f", t->ebb);
	if (t->ebb * NOISE < taken->ebb)
		return;
	if (!trial->by->stays_free && other->by->stays_free)
		buf_puts(out, ", and faults could close a credit loop");
	else if (t->layers > taken->layers)
		buf_puts(out, t->ebb > taken->ebb ? ", not enough to justify its layers" :
			 ", with more layers");
	else if (t->efi > taken->efi)
		buf_printf(out, ", and %" PRIu64 " routes on the busiest cable", t->efi);
	else
		buf_puts(out, ", as good");
}

static void tell_reasons(struct choosing *c, const struct trial *taken)
{
	for (unsigned i = 0; i < c->n; i++) {
		struct trial *t = &c->trials[i];
		struct buf why = { 0 };

		if (t == taken || !t->lfts)
			continue;
		put_reason(t, taken, &why);
		t->told->why = why.s;
	}
}

/* "layered with 3 layers: effective bisection bandwidth 0.620, 30 routes …; updn: 0.550; …" */
static void tell_measured(struct choosing *c, const struct trial *taken, struct buf *out)
{
	buf_puts(out, taken->by->engine->name);
	put_layers(c, taken, out);
	buf_printf(out, ": effective bisection bandwidth %.3f, %" PRIu64 " routes on the busiest cable",
		   taken->told->ebb, taken->told->efi);
	for (unsigned i = 0; i < c->n; i++) {
		const struct trial *t = &c->trials[i];

		if (t == taken)
			continue;
		buf_printf(out, "; %s", t->by->engine->name);
		put_layers(c, t, out);
		buf_printf(out, ": %s", t->told->why);
	}
}

/* --- the whole --- */

/* The reason why only the engine for trees is tried; NULL: all are. */
static const char *no_trials(const struct route_request *r, const struct route_shape *s)
{
	if (s->kind == SHAPE_TREE)
		return "the switches form a tree";
	return r->f->n_switches > CHOICE_SWITCHES_MAX ? "the fabric is too large to try other "
			"engines" : NULL;
}

static void list_trials(struct choosing *c, struct engine_choice *choice, bool all)
{
	for (size_t i = 0; i < ARRAY_SIZE(candidates); i++) {
		struct trial *t = &c->trials[c->n];

		if (!all && !candidates[i].for_trees)
			continue;
		t->by = &candidates[i];
		t->told = &choice->tried[choice->n_tried++];
		t->told->engine = candidates[i].engine;
		c->n++;
	}
}

struct engine_choice *choose_engine(const struct route_request *r, const struct route_shape *s,
				    const char *room, struct lfts **out, struct route_layers **layers)
{
	struct engine_choice *choice = xcalloc(1, sizeof(*choice));
	struct choosing c = { .r = r, .room = room };
	const char *at_once = no_trials(r, s);
	struct buf text = { 0 };
	struct trial *taken;

	choice->tree = s->kind == SHAPE_TREE;
	list_trials(&c, choice, !at_once);
	if (at_once) {
		for (unsigned i = 0; i < c.n; i++)
			run(&c, &c.trials[i]);
	} else {
		try_engines(&c);
		drop_lossy(&c);
		measure(&c);
	}
	taken = pick(&c);
	buf_puts(&text, "routing auto: ");
	if (!taken) {
		buf_puts(&text, "no engine can route this fabric");
	} else if (at_once) {
		buf_printf(&text, "%s, as %s", taken->by->engine->name, at_once);
		if (!choice->tree)
			buf_printf(&text, ": %" PRIu32 " switches; the maximum is %d", r->f->n_switches,
				   CHOICE_SWITCHES_MAX);
	} else {
		tell_reasons(&c, taken);
		tell_measured(&c, taken, &text);
	}
	choice->text = text.s;
	choice->engine = taken ? taken->by->engine : NULL;
	*out = taken ? taken->lfts : lfts_new(r->f->n_switches, r->lid_top);
	*layers = taken ? taken->layers : NULL;
	for (unsigned i = 0; i < c.n; i++)
		if (&c.trials[i] != taken) {
			lfts_free(c.trials[i].lfts);
			route_layers_free(c.trials[i].layers);
		}
	return choice;
}

void engine_choice_free(struct engine_choice *c)
{
	if (!c)
		return;
	for (unsigned i = 0; i < c->n_tried; i++)
		free(c->tried[i].why);
	free(c->text);
	free(c);
}

const struct engine_choice *plan_choice(const struct plan *p)
{
	return p->now ? p->now->base->choice : NULL;
}

void plan_choice_text(const struct plan *p, struct buf *out)
{
	const struct engine_choice *c = plan_choice(p);

	if (!c)
		return;
	buf_puts(out, c->text);
	if (c->engine && p->engine && strcmp(c->engine->name, p->engine) != 0)
		buf_printf(out, "; since a fault, %s computes the routes because %s cannot avoid a credit "
			   "loop", p->engine, c->engine->name);
}
