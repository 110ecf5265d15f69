/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Answers `counters`: what ports sent by SL and VL, compared with the promised shares.  The answer
 * comes when the measurement is done; its rows are made then.  Of a large fabric, the daemon first
 * reads which ports waited to send, and measures those (counters_choice.h).
 */
#include <stdlib.h>
#include <string.h>

#include "ctl/commands/counters_choice.h"
#include "lib/base/alloc.h"
#include "lib/base/time_parse.h"
#include "perf/perf.h"

#define FOR_MIN_S 0.01
#define FOR_MAX_S 60.0
#define WORST 10		/* ports shown by default when all are measured */
#define WORD 4			/* bytes per unit of the data counters */

struct counting {
	struct perf *perf;
	struct reply *reply;
	uint64_t worst;			/* number of ports to show; 0: all */
	bool done;
	json_t *rows;
	size_t next;
};

/* --- which ports --- */

static void of_node(const struct ctl_call *c, uint32_t node, uint32_t **ports, uint32_t *n)
{
	const struct fabric_node *x = &c->state->f->nodes[node];

	*ports = xcalloc(x->nports + 1u, sizeof(**ports));
	*n = 0;
	for (unsigned num = 1; num <= x->nports; num++)
		if (perf_can_measure(c->state, x->port0 + num))
			(*ports)[(*n)++] = x->port0 + num;
}

/* Returns false, with an error in the reply, if there are none; the caller frees the list in either case. */
static bool choose_ports(const struct ctl_call *c, uint32_t **ports, uint32_t *n, struct reply *r)
{
	const char *text = arg_text(c, "port");
	bool several;
	uint32_t node, port;

	*ports = NULL;
	if (!text) {
		*ports = perf_ports(c->state, n);
	} else if ((node = fabric_find_node(c->state->f, text, &several)) != FABRIC_NONE) {
		of_node(c, node, ports, n);
	} else if (several) {
		reply_error(r, NULL, "%s: several nodes have this name: give the GUID", text);
		return false;
	} else {
		port = arg_port(c, "port", r);
		if (port == FABRIC_NONE)
			return false;
		*ports = xcalloc(1, sizeof(**ports));
		**ports = port;
		*n = perf_can_measure(c->state, port);
	}
	if (*n)
		return true;
	reply_error(r, NULL, "%s: no Active link whose counters can be read",
		    text ? text : "counters");
	return false;
}

/* Microseconds; -1 with an error in the reply. */
static int64_t arg_for(const struct ctl_call *c, struct reply *r)
{
	const char *text = arg_text(c, "for");
	double s;

	if (!text)
		return PERF_US_DEFAULT;
	if (time_seconds_parse(text, &s) && s >= FOR_MIN_S && s <= FOR_MAX_S)
		return (int64_t)(s * 1e6);
	reply_error(r, NULL, "for: must be from %g to %g seconds, or a time with a unit (" TIME_UNITS ")", FOR_MIN_S,
		    FOR_MAX_S);
	return -1;
}

/* --- a port as JSON --- */

/* A device may count up to 64 bits; JSON integers end at 63. */
static json_t *json_units(uint64_t n, unsigned unit)
{
	return json_integer(n > INT64_MAX / unit ? INT64_MAX : (json_int_t)(n * unit));
}

static json_t *json_growth(struct pma_growth g, unsigned unit)
{
	return growth_is_some(g) ? json_units(g.n, unit) : json_null();
}

/* Why a number is missing or too low; null: it is exact. */
static json_t *json_doubt(struct pma_growth g)
{
	static const char *const words[] = {
		[GROWTH_AT_LEAST] = "at-least", [GROWTH_SATURATED] = "saturated",
		[GROWTH_RESET] = "reset", [GROWTH_ABSENT] = "not-told",
	};

	return g.is == GROWTH_KNOWN ? json_null() : json_string(words[g.is]);
}

static void add_growth(json_t *o, const char *name, const char *doubt, struct pma_growth g,
		       unsigned unit)
{
	json_object_set_new(o, name, json_growth(g, unit));
	json_object_set_new(o, doubt, json_doubt(g));
}

/* Names of the levels that have one of these SLs, in any layer. */
static json_t *levels_of(const struct plan *plan, uint16_t sls)
{
	return json_levels(plan->policy, sl_plan_levels(&plan->sls, sls));
}

static bool is_worth_a_line(const struct vl_use *l)
{
	return (growth_is_some(l->words) && l->words.n) || (growth_is_some(l->wait) && l->wait.n) ||
	       l->promised > 0;
}

static json_t *json_vl_uses(const struct plan *plan, const struct perf_port *x)
{
	json_t *rows = json_array();

	for (unsigned vl = 0; vl < ARB_VLS; vl++) {
		const struct vl_use *l = &x->vls[vl];
		json_t *o;

		if (!is_worth_a_line(l))
			continue;
		o = json_pack("{s:i, s:o, s:o, s:o, s:s}", "vl", vl, "levels", levels_of(plan, x->sls[vl]),
			      "got", l->got >= 0 ? json_real(l->got) : json_null(),
			      "promised", x->promises ? json_real(l->promised) : json_null(),
			      "verdict", verdict_name(l->verdict));
		add_growth(o, "bytes", "bytes-doubt", l->words, WORD);
		add_growth(o, "wait", "wait-doubt", l->wait, 1);
		json_array_append_new(rows, o);
	}
	return rows;
}

static json_t *json_sls(const struct plan *plan, const struct perf_port *x)
{
	json_t *rows = json_array();

	for (unsigned sl = 0; sl < IB_SL_COUNT; sl++) {
		json_t *o;

		if (x->sl[sl].is == GROWTH_ABSENT || (x->sl[sl].is == GROWTH_KNOWN && !x->sl[sl].n))
			continue;
		o = json_pack("{s:i, s:o}", "sl", sl, "levels", levels_of(plan, (uint16_t)(1u << sl)));
		add_growth(o, "bytes", "bytes-doubt", x->sl[sl], WORD);
		json_array_append_new(rows, o);
	}
	return rows;
}

/* Raw values in the devices' units, which other tools show as well. */
static json_t *json_values(const struct pma_values *v, enum pma_attr a, bool wait)
{
	static const char *const totals[] = {
		"xmit-data", "rcv-data", "xmit-packets", "rcv-packets", "xmit-wait",
	};
	json_t *o;

	if (a != PMA_TOTAL64 && a != PMA_TOTAL32) {
		o = json_array();
		for (unsigned i = 0; i < PMA_VLS; i++)
			json_array_append_new(o, json_integer(v->by_vl[i]));
		return o;
	}
	o = json_object();
	for (unsigned i = 0; i < PMA_TOTALS; i++)
		if (i != PMA_XMIT_WAIT)
			json_object_set_new(o, totals[i], json_units(v->total[i], 1));
		else if (a == PMA_TOTAL32)
			json_object_set_new(o, totals[i], wait ? json_units(v->total[i], 1) :
							  json_null());
	return o;
}

static void add_reads(json_t *o, const struct perf_port *x)
{
	static const char *const words[] = {
		[PMA_UNASKED] = "not asked", [PMA_LACKS] = "not supported", [PMA_SILENT] = "no answer",
		[PMA_BAD] = "bad answer",
	};
	const struct pma_values *caps = &x->before[PMA_CAPS];
	bool wait = caps->result == PMA_READ && pma_has_wait(caps->caps);
	json_t *reads = json_object(), *missing = json_object();

	for (enum pma_attr a = PMA_TOTAL64; a < PMA_ATTRS; a++) {
		const struct pma_values *v = &x->after[a];

		if (v->result == PMA_READ)
			json_object_set_new(reads, pma_attr_name(a), json_values(v, a, wait));
		else
			json_object_set_new(missing, pma_attr_name(a), json_string(words[v->result]));
	}
	json_object_set_new(o, "read", reads);
	json_object_set_new(o, "missing", missing);
}

static json_t *json_counted(const struct perf_report *r, const struct perf_port *x)
{
	const struct plan *plan = r->state->plan;
	enum pma_attr total = x->after[PMA_TOTAL64].result == PMA_READ ? PMA_TOTAL64 : PMA_TOTAL32;
	json_t *o = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "port", json_port(r->state, x->port),
			      "peer", json_port(r->state, r->state->f->ports[x->port].peer),
			      "seconds", x->us > 0 ? json_real((double)x->us * 1e-6) : json_null(),
			      "full", x->full >= 0 ? json_real(x->full) : json_null(),
			      "by", x->by < PMA_ATTRS ? json_string(pma_attr_name(x->by)) : json_null(),
			      "vls", json_vl_uses(plan, x));

	add_growth(o, "xmit-bytes", "xmit-doubt",
		   pma_total_growth(&x->before[total], &x->after[total], total, PMA_XMIT_DATA), WORD);
	add_growth(o, "rcv-bytes", "rcv-doubt",
		   pma_total_growth(&x->before[total], &x->after[total], total, PMA_RCV_DATA), WORD);
	json_object_set_new(o, "sls", json_sls(plan, x));
	json_object_set_new(o, "stray-sls", json_bits(x->stray_sls));
	json_object_set_new(o, "stray-vls", json_bits(x->stray_vls));
	add_reads(o, x);
	return o;
}

/* --- the worst --- */

/*
 * Sort key: the largest shortfall of the port's VLs; ports with a VL that is short come first, and those with data
 * on SLs that no level has before those with nothing to tell.
 */
static double lack_of(const struct perf_port *x)
{
	double most = x->stray_sls || x->stray_vls ? 0 : -1;

	for (unsigned vl = 0; vl < ARB_VLS; vl++) {
		const struct vl_use *l = &x->vls[vl];
		double lack = l->got < 0 ? -1 : l->promised - l->got;

		if (l->verdict == VERDICT_SHORT)
			lack += 2;
		else if (l->verdict != VERDICT_UNKNOWN)
			lack = -1;
		if (lack > most)
			most = lack;
	}
	return most;
}

static int by_lack(const void *a, const void *b)
{
	const struct perf_port *x = *(const struct perf_port *const *)a;
	const struct perf_port *y = *(const struct perf_port *const *)b;
	double lx = lack_of(x), ly = lack_of(y);

	if (lx != ly)
		return lx > ly ? -1 : 1;
	if (x->full != y->full)
		return x->full > y->full ? -1 : 1;
	return x->port < y->port ? -1 : 1;
}

static int by_port(const void *a, const void *b)
{
	const struct perf_port *x = *(const struct perf_port *const *)a;
	const struct perf_port *y = *(const struct perf_port *const *)b;

	return x->port < y->port ? -1 : 1;
}

static void on_measured(void *arg, const struct perf_report *r)
{
	struct counting *c = arg;
	const struct perf_port **order = xcalloc(r->n + 1u, sizeof(const struct perf_port *));

	for (uint32_t i = 0; i < r->n; i++)
		order[i] = &r->ports[i];
	qsort(order, r->n, sizeof(*order), c->worst ? by_lack : by_port);
	c->rows = json_array();
	for (uint32_t i = 0; i < r->n && (!c->worst || i < c->worst); i++)
		json_array_append_new(c->rows, json_counted(r, order[i]));
	free(order);
	c->done = true;
	c->reply->follows = false;	/* the reply ends after these rows */
	reply_more(c->reply);
}

/* --- the answer --- */

static json_t *next_row(void *rows)
{
	struct counting *c = rows;

	return c->done ? json_incref(json_array_get(c->rows, c->next++)) : NULL;
}

static void release(void *rows)
{
	struct counting *c = rows;

	perf_forget(c->perf, c);
	json_decref(c->rows);
	free(c);
}

/* What to measure. */
struct wish {
	struct perf *perf;
	struct subnet_state *s;		/* referenced */
	uint32_t *ports, n;		/* owned */
	uint64_t worst;			/* as in struct counting */
	int64_t us;
	bool reset;
	/* of a choice */
	struct error_watch *watch;
	void (*done)(void *job);
	void *job;
	struct buf err;			/* why the counters could not be read; empty: they were */
};

static void wish_free(void *arg)
{
	struct wish *w = arg;

	if (w->watch)
		error_watch_forget(w->watch, w);
	state_unref(w->s);
	free(w->ports);
	buf_free(&w->err);
	free(w);
}

/* Measures n of the ports, and answers; choice: what was chosen, or NULL. */
static void measure(const struct wish *w, const struct counters_choice *choice, struct reply *r)
{
	struct counting *x = xcalloc(1, sizeof(*x));
	const uint32_t *ports = choice ? choice->ports : w->ports;
	uint32_t n = choice ? choice->n : w->n;
	struct buf err = { 0 };

	*x = (struct counting){ .perf = w->perf, .reply = r, .worst = w->worst };
	if (!n) {
		x->rows = json_array();
		x->done = true;
	} else if (!perf_measure(w->perf, w->s, ports, n, w->us, w->reset, on_measured, x, &err)) {
		reply_error(r, NULL, "%s", err.s);
		buf_free(&err);
		free(x);
		return;
	}
	reply_result(r, json_pack("{s:i, s:i, s:o, s:b}", "asked", (int)n, "linked", (int)w->n, "unknown",
				  choice ? json_integer(choice->unknown) : json_null(), "reset", w->reset));
	reply_rows(r, "ports", next_row, release, x);
	if (n)
		reply_follow(r);
}

/* --- a choice of the ports of a large fabric --- */

static void find_ports(void *arg)
{
	struct wish *w = arg;

	w->ports = perf_ports(w->s, &w->n);
}

static void on_read(void *arg, uint32_t none)
{
	struct wish *w = arg;

	(void)none;
	w->done(w->job);
}

static void read_waits(void *arg, void (*done)(void *job), void *job)
{
	struct wish *w = arg;

	w->done = done;
	w->job = job;
	if (!error_watch_read(w->watch, on_read, w, &w->err))
		done(job);
}

static void choose_and_measure(void *arg, struct reply *r)
{
	const struct wish *w = arg;
	struct counters_choice choice;

	if (w->err.n) {
		reply_error(r, NULL, "%s", w->err.s);
		return;
	}
	counters_choose(w->watch, w->s, w->ports, w->n, &choice);
	measure(w, &choice, r);
	free(choice.ports);
}

static const struct job_ops choice_ops = {
	.work = find_ports, .then = read_waits, .answer = choose_and_measure, .release = wish_free,
};

/* Whether to measure only ports that waited: there are many, and a choice is possible and wanted. */
static bool is_to_choose(const struct ctl_call *c)
{
	uint32_t n = 0;

	if (arg_text(c, "port") || arg_flag(c, "all") || arg_flag(c, "reset") || !counters_can_choose(c->env))
		return false;
	for (uint32_t i = 0; i < c->state->f->n_ports && n <= COUNTERS_CHOSEN; i++)
		n += perf_can_measure(c->state, i);
	return n > COUNTERS_CHOSEN;
}

void cmd_counters(const struct ctl_call *c, struct reply *r)
{
	int64_t us = arg_for(c, r);
	struct wish *w;

	if (us < 0)
		return;
	if (!c->env->perf) {
		reply_error(r, NULL, "this daemon does not read counters");
		return;
	}
	w = xcalloc(1, sizeof(*w));
	*w = (struct wish){ .perf = c->env->perf, .s = state_ref(c->view->state), .us = us,
			    .reset = arg_flag(c, "reset") };
	if (!arg_number(c, "worst", &w->worst) && !arg_text(c, "port"))
		w->worst = WORST;
	if (is_to_choose(c)) {
		w->watch = c->env->errors;
		reply_later(r, c->view->jobs, &choice_ops, w);
		return;
	}
	if (choose_ports(c, &w->ports, &w->n, r))
		measure(w, NULL, r);
	wish_free(w);
}
