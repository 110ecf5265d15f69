/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Answers `health`: gathers what the judges look at (health.h), and tells what they find. */
#include "ctl/commands/health.h"
#include "lib/base/clock.h"

/* The lists that the input points to. */
struct lists {
	VEC(struct sm_seen) others;
	VEC(struct sm_flap) flaps;
	VEC(struct sm_refused) refused;
	VEC(struct sm_exclusion) left;
	VEC(struct trap_flood) floods;
	VEC(struct mad_flood) mad_floods;
	VEC(struct ctl_policy_peer) peers;
	struct ctl_listening pages[CTL_LISTENING_MAX];
};

/* --- what is judged --- */

static void gather_devices(const struct ctl_call *c, struct sm *sm, struct lists *l)
{
	struct sm_exclusion one = { 0 };
	struct sm_refused refusal;
	struct trap_flood flood;
	struct sm_flap flap;
	struct sm_seen seen;
	size_t kind = 0;

	for (uint32_t i = 1; sm_seen_at(sm, i, &seen); i++)
		*vec_push(&l->others) = seen;
	for (uint32_t i = 0; sm_flood_at(sm, i, &flood); i++)
		*vec_push(&l->floods) = flood;
	for (uint32_t i = 0; sm_flap_at(sm, i, &flap); i++)
		*vec_push(&l->flaps) = flap;
	while (c->state && sm_refused_at(sm, c->state->f, &kind, &refusal))
		*vec_push(&l->refused) = refusal;
	while (sm_excluded(sm, l->left.n, &one)) {
		*vec_push(&l->left) = one;
		one = (struct sm_exclusion){ 0 };
	}
}

static void gather_sm(const struct ctl_call *c, struct lists *l, struct health_input *in)
{
	struct mad_flood flood;

	if (c->env->sm) {
		gather_devices(c, c->env->sm, l);
		in->implausible = implausible_list(c->env->sm, &in->n_implausible);
	}
	for (unsigned i = 0; c->env->mad && mad_flood_at(c->env->mad, i, &flood); i++)
		*vec_push(&l->mad_floods) = flood;
	in->others = l->others.v;
	in->n_others = l->others.n;
	in->flaps = l->flaps.v;
	in->n_flaps = l->flaps.n;
	in->refused = l->refused.v;
	in->n_refused = l->refused.n;
	in->left = l->left.v;
	in->n_left = l->left.n;
	in->floods = l->floods.v;
	in->n_floods = l->floods.n;
	in->mad_floods = l->mad_floods.v;
	in->n_mad_floods = l->mad_floods.n;
	if (c->state && c->view->gauges)
		in->gauged = gauges_last(c->view->gauges);
	if (in->gauged && in->gauged->generation != c->state->generation)
		in->gauged = NULL;
}

static void gather_policy(const struct ctl_env *env, struct lists *l, struct health_input *in)
{
	struct ctl_policy_peer peer;

	if (!env->policies || !policies_on_trial(env->policies, &in->trial_left_us))
		in->trial_left_us = -1;
	in->in_force = env->policies ? policies_in_force(env->policies) : NULL;
	in->policy_wanted = env->policy_path;
	if (env->policy_on_disk)
		in->on_disk = env->policy_on_disk(env->arg);
	if (env->settings_reloaded)
		in->settings = env->settings_reloaded(env->arg);
	for (unsigned i = 0; env->policy_peer && env->policy_peer(env->arg, i, &peer); i++)
		*vec_push(&l->peers) = peer;
	in->peers = l->peers.v;
	in->n_peers = l->peers.n;
}

/* What the daemon keeps and watches besides. */
static void gather_rest(const struct ctl_env *env, struct lists *l, struct health_input *in)
{
	in->sa = sa_sums(env);
	in->registered = env->sa;
	in->mcast = env->sa ? env->sa->mcast : NULL;
	if (env->store)
		in->store = store_failures(env->store);
	if (env->history)
		in->history = history_state(env->history);
	if (env->perf) {
		in->shorts = perf_findings(env->perf, &in->n_shorts);
		in->strays = perf_strays(env->perf, &in->n_strays);
	}
	in->errors = env->errors;
	in->optics = env->optics;
	in->outages = env->outages;
	in->missing = env->missing;
	in->topology = env->topology;
	in->pages = l->pages;
	while (env->listening && in->n_pages < CTL_LISTENING_MAX &&
	       env->listening(env->arg, (unsigned)in->n_pages, &l->pages[in->n_pages]))
		in->n_pages++;
	in->now_us = clock_real_us();
	in->now_mono_us = clock_mono_us();
}

static void lists_free(struct lists *l)
{
	for (size_t i = 0; i < l->left.n; i++)
		buf_free(&l->left.v[i].text);
	vec_free(&l->left);
	vec_free(&l->others);
	vec_free(&l->flaps);
	vec_free(&l->refused);
	vec_free(&l->floods);
	vec_free(&l->mad_floods);
	vec_free(&l->peers);
}

/* --- the answer --- */

static json_t *json_problems(const struct health *h)
{
	json_t *list = json_array();

	for (size_t i = 0; i < h->v.n; i++)
		json_array_append_new(list, json_pack("{s:s, s:s, s:o, s:s}",
			"severity", severity_name(h->v.v[i].severity), "kind", h->v.v[i].kind,
			"text", json_text(h->v.v[i].text), "action", h->v.v[i].action));
	return list;
}

static const char *verdict(const struct health *h)
{
	if (!h->v.n || h->v.v[0].severity == SEV_INFO)
		return "ok";
	return severity_name(h->v.v[0].severity);
}

void cmd_health(const struct ctl_call *c, struct reply *r)
{
	struct health_input in = { .sm = &c->view->sm, .state = c->state };
	struct lists lists = { 0 };
	struct health h = { 0 };

	gather_sm(c, &lists, &in);
	gather_policy(c->env, &lists, &in);
	gather_rest(c->env, &lists, &in);
	health_judge(&in, &h);
	reply_result(r, json_pack("{s:s, s:s, s:o}", "verdict", verdict(&h),
				  "state", sm_state_name(in.sm->state), "problems", json_problems(&h)));
	health_free(&h);
	lists_free(&lists);
}
