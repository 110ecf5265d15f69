/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Answers `routes`: which engine's routes are in force, whether they connect everything, and how
 * good they are.
 */
#include "ctl/commands/cmd_routes.h"

#include <stdlib.h>

#include "ctl/command.h"
#include "lib/base/alloc.h"
#include "lib/base/clock.h"
#include "plan/routes/choose_engine.h"
#include "plan/routes/fabric_shape.h"

/* pause before the next unrequested measurement, in multiples of the last one's duration */
#define REST 50

struct measuring {
	struct gauges *gs;
	struct subnet_state *s;		/* a reference */
	struct gauged result;
};

struct gauges {
	struct loop *loop;
	struct gauged last;
	bool any;
	atomic_bool stop;
	struct measuring *under_way;	/* the background measurement and its thread, or NULL */
	struct work *work;
};

/* --- in a worker's thread --- */

static void name_port(const struct fabric *f, uint32_t port, char *out, unsigned n)
{
	if (port != FABRIC_NONE)
		fabric_port_name(f, port, out, n);
}

static void measure(void *arg)
{
	struct measuring *m = arg;
	const struct plan *p = m->s->plan;
	const struct route_request r = {
		.f = m->s->f, .lid = p->lid, .lmc = p->lmc_in_force ? p->lmc_in_force : p->lmc,
		.lid_top = p->lid_top, .order = p->order, .layers = p->layers,
	};
	struct gauge_options o = gauge_defaults;
	struct gauged *x = &m->result;
	int64_t start = clock_mono_us();

	o.stop = &m->gs->stop;
	gauge_measure(&r, p->lfts, &o, &x->g);
	x->compared = plan_shape_state(p) != SHAPE_SOUND;
	if (x->compared)
		gauge_plain(&r, &o, &x->plain);
	x->when_us = clock_mono_us();
	x->seconds = (double)(x->when_us - start) * 1e-6;
	name_port(r.f, x->g.hottest, x->hottest, sizeof(x->hottest));
	name_port(r.f, x->g.longer_from, x->from, sizeof(x->from));
	name_port(r.f, x->g.longer_to, x->to, sizeof(x->to));
}

/* --- in the loop's thread --- */

static struct measuring *measuring_new(struct gauges *gs, struct subnet_state *s)
{
	struct measuring *m = xcalloc(1, sizeof(*m));

	m->gs = gs;
	m->s = state_ref(s);
	m->result.generation = s->generation;
	return m;
}

static void measuring_free(void *arg)
{
	struct measuring *m = arg;

	state_unref(m->s);
	free(m);
}

/* Keeps a result; of two concurrent measurements the one of the newer state. */
static void keep(struct gauges *gs, const struct gauged *x)
{
	if (gs->any && gs->last.generation > x->generation)
		return;
	gs->last = *x;
	gs->any = true;
}

struct gauges *gauges_new(struct loop *l)
{
	struct gauges *gs = xcalloc(1, sizeof(*gs));

	gs->loop = l;
	atomic_init(&gs->stop, false);
	return gs;
}

void gauges_stop(struct gauges *gs)
{
	atomic_store(&gs->stop, true);
}

static void end_background(struct gauges *gs)
{
	work_end(gs->work);
	gs->work = NULL;
	if (gs->under_way)
		measuring_free(gs->under_way);
	gs->under_way = NULL;
}

void gauges_free(struct gauges *gs)
{
	if (!gs)
		return;
	gauges_stop(gs);
	end_background(gs);
	free(gs);
}

const struct gauged *gauges_last(const struct gauges *gs)
{
	return gs->any ? &gs->last : NULL;
}

static void on_measured(void *arg)
{
	struct gauges *gs = arg;

	keep(gs, &gs->under_way->result);
	end_background(gs);
}

static void measure_in_background(void *arg)
{
	struct gauges *gs = arg;

	measure(gs->under_way);
}

void gauges_refresh(struct gauges *gs, struct subnet_state *s)
{
	const struct gauged *last = gauges_last(gs);

	if (gs->work || !s->plan->lfts)
		return;
	if (last && (last->generation == s->generation ||
		     (double)(clock_mono_us() - last->when_us) * 1e-6 < REST * last->seconds))
		return;
	gs->under_way = measuring_new(gs, s);
	gs->work = work_start(gs->loop, measure_in_background, on_measured, gs);
	if (!gs->work)
		end_background(gs);
}

/* --- the command --- */

static json_t *json_name(const char *name)
{
	return *name ? json_text(name) : json_null();
}

static json_t *json_gauged(const struct gauged *x)
{
	const struct gauge *g = &x->g;
	json_t *o = json_pack("{s:f, s:I, s:I, s:I}", "seconds", x->seconds,
			      "end-ports", (json_int_t)g->ends, "pairs", (json_int_t)g->pairs,
			      "connected", (json_int_t)g->connected);

	json_object_update_new(o, json_pack(
		"{s:f, s:f, s:i, s:i, s:o, s:o}", "hops-ratio", g->ratio_mean,
		"hops-ratio-max", g->ratio_most, "hops-longer-max", (int)g->longer_most,
		"hops-max", (int)g->hops_most, "longest-detour-from", json_name(x->from),
		"longest-detour-to", json_name(x->to)));
	json_object_update_new(o, json_pack(
		"{s:I, s:I, s:f, s:o, s:f}", "cable-directions", (json_int_t)g->cables,
		"edge-forwarding-index", (json_int_t)g->efi, "routes-mean", g->efi_mean,
		"hottest", json_name(x->hottest), "all-to-all", g->all_to_all));
	json_object_update_new(o, json_pack(
		"{s:i, s:f, s:f}", "bisections", (int)g->bisections,
		"bisection-bandwidth", g->ebb, "bisection-bandwidth-least", g->ebb_least));
	json_object_update_new(o, json_pack(
		"{s:I, s:I, s:f, s:I, s:I}", "shifts", (json_int_t)g->shifts,
		"shifts-all", (json_int_t)g->shifts_all, "shift-load", g->shift_mean,
		"shift-load-max", (json_int_t)g->shift_worst,
		"shift-load-max-by", (json_int_t)g->shift_worst_k));
	json_object_update_new(o, json_pack(
		"{s:b, s:o, s:o, s:o, s:o}", "credit-loop", g->credit_loop,
		"layers", g->layers ? json_integer(g->layers) : json_null(),
		"vls", g->vls ? json_integer(g->vls) : json_null(),
		"vls-left", g->vls && g->layers ? json_integer(g->vls_left) : json_null(),
		"choices", g->choices > 0 ? json_real(g->choices) : json_null()));
	json_object_set_new(o, "plain", !x->compared ? json_null() : json_pack(
		"{s:f, s:I, s:f}", "bisection-bandwidth", x->plain.ebb, "edge-forwarding-index",
		(json_int_t)x->plain.efi, "routes-mean", x->plain.efi_mean));
	return o;
}

static json_t *json_lost(const struct route_report *v)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:I}", "hosts", (json_int_t)v->to_hosts.n,
			 "aggregation-nodes", (json_int_t)v->to_aggregation.n,
			 "switches", (json_int_t)v->to_switches.n,
			 "between-switches", (json_int_t)v->inner.n,
			 "switches-and-sm", (json_int_t)v->of_sm.n);
}

static json_t *json_shape(const struct plan *p)
{
	static const char *const states[] = {
		[SHAPE_SOUND] = "tree", [SHAPE_LACKS_LINKS] = "tree-without-links",
		[SHAPE_NO_TREE] = "no-tree", [SHAPE_COSTS] = "damaged-tree",
	};
	const struct route_shape *s = &p->shape;
	struct buf text = { 0 };
	json_t *o;

	plan_shape_text(p, &text);
	o = json_pack("{s:b, s:s, s:o, s:i, s:I, s:I, s:I, s:I, s:I}", "tree",
		      s->kind == SHAPE_TREE, "state", states[plan_shape_state(p)], "text",
		      json_text(text.s), "ranks", (int)s->n_ranks, "inner-with-hosts",
		      (json_int_t)s->hosts_above, "links-in-rank", (json_int_t)s->flat,
		      "pairs", (json_int_t)s->pairs, "pairs-without-path", (json_int_t)s->pathless,
		      "pairs-with-detour", (json_int_t)s->longer);
	buf_free(&text);
	return o;
}

json_t *json_choice_text(const struct plan *p)
{
	struct buf text = { 0 };
	json_t *o;

	plan_choice_text(p, &text);
	o = text.n ? json_text(text.s) : json_null();
	buf_free(&text);
	return o;
}

static json_t *json_try(const struct engine_try *t)
{
	return json_pack("{s:s, s:b, s:o, s:o, s:o, s:o}", "engine", t->engine->name, "taken", !t->why,
			 "why-not", t->why ? json_text(t->why) : json_null(),
			 "layers", t->layers ? json_integer(t->layers) : json_null(),
			 "bisection-bandwidth", t->measured ? json_real(t->ebb) : json_null(),
			 "edge-forwarding-index",
			 t->measured ? json_integer((json_int_t)t->efi) : json_null());
}

/* Null unless routing is auto. */
static json_t *json_choice(const struct plan *p)
{
	const struct engine_choice *c = plan_choice(p);
	json_t *tried;

	if (!c)
		return json_null();
	tried = json_array();
	for (unsigned i = 0; i < c->n_tried; i++)
		json_array_append_new(tried, json_try(&c->tried[i]));
	return json_pack("{s:o, s:o}", "text", json_choice_text(p), "tried", tried);
}

static void answer_routes(const struct subnet_state *s, const struct gauged *x, struct reply *r)
{
	const struct plan *p = s->plan;
	const struct route_report *v = &p->report;
	json_t *o = json_pack("{s:o, s:I, s:I, s:i, s:b, s:o}",
		"engine", p->engine ? json_text(p->engine) : json_null(),
		"ways", (json_int_t)v->pairs, "unreachable-ways", (json_int_t)v->unreachable,
		"hops-max", (int)v->max_hops, "credit-loop", v->credit_loop,
		"credit-loop-channels",
		v->credit_loop_text.n ? json_text(v->credit_loop_text.s) : json_null());

	json_object_set_new(o, "choice", json_choice(p));
	json_object_set_new(o, "lost", json_lost(v));
	json_object_set_new(o, "shape", json_shape(p));
	if (x)
		json_object_set_new(o, "gauge", json_gauged(x));
	reply_result(r, o);
}

static void answer_measured(void *arg, struct reply *r)
{
	struct measuring *m = arg;

	keep(m->gs, &m->result);
	answer_routes(m->s, &m->result, r);
}

void cmd_routes(const struct ctl_call *c, struct reply *r)
{
	static const struct job_ops ops = { measure, NULL, answer_measured, measuring_free };
	const struct gauged *last = gauges_last(c->view->gauges);

	if (arg_text(c, "over"))
		answer_routes_over(c, r);
	else if (!arg_flag(c, "gauge"))
		answer_routes(c->state, NULL, r);
	else if (!c->state->plan->lfts)
		reply_error(r, NULL, "this daemon has no routes");
	else if (last && last->generation == c->state->generation)
		answer_routes(c->state, last, r);
	else
		reply_later(r, c->view->jobs, &ops, measuring_new(c->view->gauges,
								  c->view->state));
}
