/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Keeps the policy in force, earlier ones, trials and the history; policy_trials.h has the
 * contracts.
 */
#include "ctl/policy_trials.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/clean.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "qosd/ctl.h"
#include "store/store.h"

#define NAME_MAX_BYTES	255	/* of a file name in the history */
#define SECOND_US	1000000

/* A policy, and the id of the change that put it in force. */
struct step {
	struct shared_policy *p;
	uint64_t change;
};

struct policies {
	struct store *store;
	struct policies_rules rules;
	struct policies_hooks hooks;
	struct step now;
	VEC(struct step) before;	/* latest last */
	struct timer *trial;
	int64_t trial_ends_us;		/* monotonic; 0: no trial */
	bool has_kept;
	uint64_t kept;			/* checksum of the last good policy on disk, if has_kept */
	VEC(struct policy_change) changes;	/* newest last */
	uint64_t last_id;
};

static const char *const kind_names[CHANGE_KINDS] = { "start", "reload", "load", "revert" };
static const char *const outcome_names[CHANGE_OUTCOMES] = {
	"applied", "on-trial", "confirmed", "timed-out", "reverted", "replaced", "lost", "refused",
};

const char *change_kind_name(enum change_kind k)
{
	return kind_names[k];
}

const char *change_outcome_name(enum change_outcome o)
{
	return outcome_names[o];
}

static unsigned find_word(const char *const *names, unsigned n, const char *word)
{
	unsigned i = 0;

	while (i < n && strcmp(names[i], word) != 0)
		i++;
	return i;
}

/* --- the history --- */

/*
 *	TIME CHECKSUM UID KIND OUTCOME ERRORS NAME
 *
 * The time is realtime in µs.  A tab and whom the user asked for may follow (from format 2 on).
 */
static void save(const struct policies *ps)
{
	struct buf b = { 0 };

	for (size_t i = 0; i < ps->changes.n; i++) {
		const struct policy_change *c = &ps->changes.v[i];

		buf_printf(&b, "%" PRId64 " %016" PRIx64 " %" PRId64 " %s %s %u %s%s%s\n", c->when_us,
			   c->checksum, c->uid, kind_names[c->kind], outcome_names[c->outcome],
			   c->errors, c->name, c->behalf ? "\t" : "", c->behalf ? c->behalf : "");
	}
	store_save_history(ps->store, b.n ? b.s : "");
	buf_free(&b);
}

/* Cleans a name: the file is line-based, and its readers use terminals. */
static char *clean_name(const char *name)
{
	char *copy = xstrndup(*name ? name : "?", NAME_MAX_BYTES);

	clean_text(copy);
	return copy;
}

static char *clean_behalf(const char *behalf)
{
	char *copy = behalf && *behalf ? xstrndup(behalf, CTL_BEHALF_MAX) : NULL;

	if (copy)
		clean_text(copy);
	return copy;
}

static void free_change(struct policy_change *c)
{
	free(c->name);
	free(c->behalf);
}

static struct policy_change *push_change(struct policies *ps)
{
	if (ps->changes.n == POLICY_CHANGES_MAX) {
		free_change(&ps->changes.v[0]);
		ps->changes.n--;
		memmove(ps->changes.v, ps->changes.v + 1, ps->changes.n * sizeof(*ps->changes.v));
	}
	return vec_push(&ps->changes);
}

static void tell(const struct policies *ps, const struct policy_change *c)
{
	if (ps->hooks.changed)
		ps->hooks.changed(ps->hooks.arg, c);
}

static uint64_t add_change(struct policies *ps, enum change_kind kind,
			   enum change_outcome outcome, const struct shared_policy *p, struct asker who)
{
	*push_change(ps) = (struct policy_change){
		.id = ++ps->last_id, .when_us = clock_real_us(), .uid = who.uid,
		.behalf = clean_behalf(who.behalf), .checksum = p->p->checksum, .kind = kind, .outcome = outcome,
		.name = clean_name(p->p->file),
	};
	tell(ps, &ps->changes.v[ps->changes.n - 1]);
	return ps->last_id;
}

/* Sets the outcome of a change, unless later ones have displaced its entry. */
static void set_outcome(struct policies *ps, uint64_t id, enum change_outcome outcome)
{
	for (size_t i = 0; i < ps->changes.n; i++)
		if (ps->changes.v[i].id == id) {
			ps->changes.v[i].outcome = outcome;
			tell(ps, &ps->changes.v[i]);
		}
}

static bool history_line(void *arg, const char *text)
{
	struct policies *ps = arg;
	struct policy_change c = { 0 };
	char kind[16], outcome[16], *name;
	const char *tab;
	int end = 0;

	if (sscanf(text, "%" SCNd64 " %" SCNx64 " %" SCNd64 " %15s %15s %" SCNu32 "%n", &c.when_us,
		   &c.checksum, &c.uid, kind, outcome, &c.errors, &end) != 6 ||
	    text[end] != ' ' || !text[end + 1])
		return false;
	c.kind = find_word(kind_names, CHANGE_KINDS, kind);
	c.outcome = find_word(outcome_names, CHANGE_OUTCOMES, outcome);
	if (c.kind == CHANGE_KINDS || c.outcome == CHANGE_OUTCOMES)
		return false;
	if (c.outcome == CHANGE_ON_TRIAL)
		c.outcome = CHANGE_LOST;
	tab = strchr(text + end + 1, '\t');
	c.behalf = clean_behalf(tab ? tab + 1 : NULL);
	name = xstrndup(text + end + 1, tab ? (size_t)(tab - text) - (size_t)end - 1 : NAME_MAX_BYTES);
	c.name = clean_name(name);	/* which may begin with spaces */
	free(name);
	*push_change(ps) = c;
	return true;
}

/* --- empty and truncated files --- */

static const struct src_pos nowhere;

static bool lacks_marker(const struct shared_policy *p)
{
	return p->source != POLICY_BUILTIN && !p->p->ends_marked;
}

bool policies_accept_by(const struct policies *ps, bool marker, const struct shared_policy *p,
			const char *name, struct findings *out)
{
	const struct shared_policy *now = ps->now.p;
	size_t errors = out->count[SEV_ERROR];

	if (!ps->rules.may_be_none && p->source == POLICY_BUILTIN && now->source != POLICY_BUILTIN)
		findings_add(out, SEV_ERROR, name, nowhere, "is missing, which would leave the subnet "
			     "without its policy; if that is intended, set 'policy: none' in qosd.yaml");
	else if (!ps->rules.may_be_none && p->source != POLICY_BUILTIN && p->p->says_nothing)
		findings_add(out, SEV_ERROR, name, nowhere, "is empty, perhaps truncated: loading it would "
			     "leave the subnet without its policy");
	else if (marker && lacks_marker(p))
		findings_add(out, SEV_ERROR, name, nowhere, "does not end with a line '...', which "
			     "'policy-end-marker' of qosd.yaml requires: it may be truncated");
	else if (now->p->ends_marked && lacks_marker(p))
		findings_add(out, SEV_ERROR, name, nowhere, "does not end with a line '...', as the policy "
			     "in force does: it may be truncated");
	return out->count[SEV_ERROR] == errors;
}

bool policies_accept(const struct policies *ps, const struct shared_policy *p, const char *name,
		     struct findings *out)
{
	return policies_accept_by(ps, ps->rules.marker, p, name, out);
}

void policies_set_marker(struct policies *ps, bool marker)
{
	ps->rules.marker = marker;
}

bool policies_may_start(const struct policies_rules *rules, const struct shared_policy *p,
			bool has_good, struct findings *out)
{
	if (p->source == POLICY_BUILTIN)
		return true;
	if (has_good && !rules->may_be_none && p->p->says_nothing) {
		findings_add(out, SEV_ERROR, p->p->file, nowhere, "is empty, perhaps truncated: starting "
			     "with it would leave the subnet without its policy");
		return false;
	}
	if (!rules->marker || p->p->ends_marked)
		return true;
	findings_add(out, SEV_ERROR, p->p->file, nowhere, "does not end with a line '...', which "
		     "'policy-end-marker' of qosd.yaml requires: it may be truncated");
	return false;
}

/* --- steps --- */

static void drop_step(struct policies *ps, size_t i)
{
	shared_policy_unref(ps->before.v[i].p);
	ps->before.n--;
	memmove(ps->before.v + i, ps->before.v + i + 1,
		(ps->before.n - i) * sizeof(*ps->before.v));
}

/* Makes the policy in force the previous one; forgets the oldest ones. */
static void step_forward(struct policies *ps)
{
	size_t bytes = 0;

	*vec_push(&ps->before) = ps->now;
	while (ps->before.n > POLICY_STEPS_MAX)
		drop_step(ps, 0);
	for (size_t i = 0; i < ps->before.n; i++)
		bytes += ps->before.v[i].p->text.n;
	while (ps->before.n > 1 && bytes > POLICY_STEPS_BYTES) {
		bytes -= ps->before.v[0].p->text.n;
		drop_step(ps, 0);
	}
}

/* Called before p is put in force for good: reloading the same file is not a step. */
static void make_room_for(struct policies *ps, const struct shared_policy *p)
{
	if (p->p->checksum != ps->now.p->p->checksum)
		step_forward(ps);
	else
		shared_policy_unref(ps->now.p);
}

/* Undoes the last step_forward(). */
static void drop_now(struct policies *ps)
{
	shared_policy_unref(ps->now.p);
	ps->now = ps->before.v[--ps->before.n];
}

static void end_trial(struct policies *ps)
{
	timer_stop(ps->trial);
	ps->trial_ends_us = 0;
}

/*
 * Keeps the policy in force on disk as the last good one.  Not one on trial, which may turn out to
 * be bad; nor none at all, by a file or by the settings, which must not displace one.
 */
static void keep(struct policies *ps)
{
	const struct shared_policy *p = ps->now.p;
	struct store_policy copy = { .when_us = clock_real_us(), .checksum = p->p->checksum };

	if (ps->trial_ends_us || p->source == POLICY_BUILTIN || p->source == POLICY_KEPT ||
	    p->p->says_nothing || (ps->has_kept && ps->kept == p->p->checksum))
		return;
	copy.name = clean_name(p->p->file);
	copy.text = p->text;		/* only lent */
	ps->has_kept = store_save_policy(ps->store, &copy);
	ps->kept = p->p->checksum;
	if (!ps->has_kept)
		log_warn("policy", "%s: not kept as the last good policy, because it has NUL bytes",
			 p->p->file);
	free(copy.name);
}

static void put_in_force(struct policies *ps, struct shared_policy *p, uint64_t change)
{
	ps->now = (struct step){ shared_policy_ref(p), change };
	p->change = change;
	save(ps);
	keep(ps);
	ps->hooks.apply(ps->hooks.arg, p);
}

static struct asker loader_of(const struct shared_policy *p)
{
	return (struct asker){ p->uid, p->behalf };
}

const char *policies_load(struct policies *ps, struct shared_policy *p, unsigned trial_s)
{
	struct buf by = { 0 };

	if (ps->trial_ends_us)
		return "a policy is on trial: confirm or revert it first";
	asker_text(loader_of(p), &by);
	log_info("policy", "%s: loaded, checksum %016" PRIx64 "%s%s", p->p->file, p->p->checksum,
		 trial_s ? ", on trial" : "", by.s);
	buf_free(&by);
	if (trial_s) {
		step_forward(ps);	/* even for the same policy: a trial needs a step to revert to */
		ps->trial_ends_us = clock_mono_us() + (int64_t)trial_s * SECOND_US;
		timer_set(ps->trial, (int64_t)trial_s * SECOND_US, 0);
	} else {
		make_room_for(ps, p);
	}
	put_in_force(ps, p, add_change(ps, CHANGE_LOAD, trial_s ? CHANGE_ON_TRIAL : CHANGE_APPLIED,
				       p, loader_of(p)));
	return NULL;
}

void policies_reload(struct policies *ps, struct shared_policy *p)
{
	log_info("policy", "%s: loaded, checksum %016" PRIx64, p->p->file, p->p->checksum);
	if (ps->trial_ends_us) {
		log_info("policy", "%s: the trial ends; the configured policy is in force",
			 ps->now.p->p->file);
		set_outcome(ps, ps->now.change, CHANGE_REPLACED);
		end_trial(ps);
		drop_now(ps);
	}
	make_room_for(ps, p);
	put_in_force(ps, p, add_change(ps, CHANGE_RELOAD, CHANGE_APPLIED, p, loader_of(p)));
}

void policies_refused(struct policies *ps, enum change_kind kind, const char *name, struct asker who,
		      size_t errors)
{
	*push_change(ps) = (struct policy_change){
		.id = ++ps->last_id, .when_us = clock_real_us(), .uid = who.uid,
		.behalf = clean_behalf(who.behalf), .kind = kind, .outcome = CHANGE_REFUSED, .name = clean_name(name),
		.errors = errors > UINT32_MAX ? UINT32_MAX : (uint32_t)errors,
	};
	tell(ps, &ps->changes.v[ps->changes.n - 1]);
	save(ps);
}

const char *policies_confirm(struct policies *ps)
{
	if (!ps->trial_ends_us)
		return "no policy is on trial";
	log_info("policy", "%s: confirmed", ps->now.p->p->file);
	end_trial(ps);
	set_outcome(ps, ps->now.change, CHANGE_CONFIRMED);
	save(ps);
	keep(ps);
	return NULL;
}

static void step_back(struct policies *ps, enum change_outcome outcome, struct asker who)
{
	struct step last = ps->before.v[ps->before.n - 1];

	log_info("policy", "%s: reverted, %s is in force again, checksum %016" PRIx64,
		 ps->now.p->p->file, last.p->p->file, last.p->p->checksum);
	end_trial(ps);
	set_outcome(ps, ps->now.change, outcome);
	shared_policy_unref(ps->now.p);
	ps->before.n--;
	put_in_force(ps, last.p, add_change(ps, CHANGE_REVERT, CHANGE_APPLIED, last.p, who));
	shared_policy_unref(last.p);	/* the reference of the steps */
}

const char *policies_revert(struct policies *ps, struct asker who)
{
	if (ps->before.n == 0)
		return "there is no earlier policy to revert to";
	step_back(ps, CHANGE_REVERTED, who);
	return NULL;
}

/* A trial always has a step to revert to: policies_load() made one. */
static void on_trial_over(void *arg)
{
	struct policies *ps = arg;

	log_warn("policy", "%s: not confirmed in time", ps->now.p->p->file);
	step_back(ps, CHANGE_TIMED_OUT, (struct asker){ .uid = -1 });
}

/* --- looking --- */

struct shared_policy *policies_in_force(const struct policies *ps)
{
	return ps->now.p;
}

uint64_t policies_number(const struct policies *ps)
{
	return ps->now.change;
}

const struct shared_policy *policies_before(const struct policies *ps)
{
	return ps->before.n ? ps->before.v[ps->before.n - 1].p : NULL;
}

bool policies_on_trial(const struct policies *ps, int64_t *left_us)
{
	int64_t left = ps->trial_ends_us - clock_mono_us();

	*left_us = left > 0 ? left : 0;
	return ps->trial_ends_us != 0;
}

const struct policy_change *policies_change(const struct policies *ps, size_t i)
{
	return i < ps->changes.n ? &ps->changes.v[ps->changes.n - 1 - i] : NULL;
}

/* --- beginning and end --- */

struct policies *policies_new(struct loop *l, struct store *store, struct shared_policy *first,
			      const struct policies_rules *rules, const struct policies_hooks *hooks)
{
	struct policies *ps = xcalloc(1, sizeof(*ps));
	struct store_policy kept;

	ps->store = store;
	ps->rules = *rules;
	ps->hooks = *hooks;
	ps->trial = timer_new(l, on_trial_over, ps);
	store_load_history(store, history_line, ps);
	ps->now.p = shared_policy_ref(first);
	ps->now.change = first->change = add_change(ps, CHANGE_START, CHANGE_APPLIED, first,
						    (struct asker){ .uid = -1 });
	save(ps);
	ps->has_kept = store_load_policy(store, &kept);
	ps->kept = kept.checksum;
	store_policy_free(&kept);
	keep(ps);
	return ps;
}

void policies_free(struct policies *ps)
{
	if (!ps)
		return;
	while (ps->before.n)
		drop_step(ps, ps->before.n - 1);
	vec_free(&ps->before);
	for (size_t i = 0; i < ps->changes.n; i++)
		free_change(&ps->changes.v[i]);
	vec_free(&ps->changes);
	shared_policy_unref(ps->now.p);
	timer_free(ps->trial);
	free(ps);
}
