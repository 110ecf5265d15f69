/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Answers `status`: one object with the state of the daemon and its subnet.  Programs read it:
 * members may be added, but never renamed.
 */
#include <strings.h>

#include "ctl/command.h"
#include "ctl/commands/cmd_missing.h"
#include "ctl/commands/cmd_standbys.h"
#include "ctl/commands/cmd_topology.h"
#include "lib/iba/iba_names.h"
#include "sm/devices/withdrawals.h"

const char *attr_name(unsigned attr)
{
	return ib_attr_name(attr);
}

/* SA attributes (15.2.5). */
static const char *const sa_attr_names[0x100] = {
	[0x01] = "ClassPortInfo", [0x02] = "Notice", [0x03] = "InformInfo",
	[0x11] = "NodeRecord", [0x12] = "PortInfoRecord",
	[0x13] = "SLtoVLMappingTableRecord", [0x14] = "SwitchInfoRecord",
	[0x15] = "LinearForwardingTableRecord", [0x17] = "MulticastForwardingTableRecord",
	[0x18] = "SMInfoRecord", [0x20] = "LinkRecord", [0x30] = "GuidInfoRecord",
	[0x31] = "ServiceRecord", [0x33] = "P_KeyTableRecord", [0x35] = "PathRecord",
	[0x36] = "VLArbitrationTableRecord", [0x38] = "MCMemberRecord",
	[0x39] = "TraceRecord", [0x3a] = "MultiPathRecord",
	[0xf3] = "InformInfoRecord",
};

json_t *json_sa_attr(unsigned attr)
{
	const char *name = attr < ARRAY_SIZE(sa_attr_names) ? sa_attr_names[attr] : NULL;

	return name ? json_string(name) : json_sprintf("0x%04x", attr);
}

int sa_attr_by_name(const char *name)
{
	for (unsigned a = 0; a < ARRAY_SIZE(sa_attr_names); a++)
		if (sa_attr_names[a] && strcasecmp(sa_attr_names[a], name) == 0)
			return (int)a;
	return -1;
}

/* Sets a member by the attribute's name, or by 0x00nn if it has no name here. */
static void set_by_attr(json_t *object, const char *name, unsigned attr, json_t *value)
{
	char hex[8];

	snprintf(hex, sizeof(hex), "0x%04x", attr & 0xffff);
	json_object_set_new(object, name ? name : hex, value);
}

static json_t *smps_by_attr(const struct mad_counts *m)
{
	json_t *by_attr = json_object();

	for (unsigned a = 0; a < 0x40; a++)
		if (m->gets[a] || m->sets[a])
			set_by_attr(by_attr, attr_name(a), a, json_pack("{s:I, s:I}",
				"get", (json_int_t)m->gets[a], "set", (json_int_t)m->sets[a]));
	return by_attr;
}

static json_t *status_window(const struct mad_counts *m)
{
	return json_pack("{s:i, s:i, s:o}", "now", (int)m->window, "most", (int)m->window_most,
			 "cut-to", m->window_cut_to ? json_integer(m->window_cut_to) : json_null());
}

/* The devices to which most SMPs were lost. */
static json_t *status_lossy(const struct sm *sm, const struct subnet_state *published)
{
	struct sm_lossy x[CTL_LOSSY_MAX];
	unsigned n = sm && published ? sm_lossy(sm, x, ARRAY_SIZE(x)) : 0;
	json_t *list = json_array();
	char name[FABRIC_NAME_MAX];

	for (unsigned i = 0; i < n; i++)
		json_array_append_new(list, json_pack("{s:o, s:o, s:I, s:i}",
			"guid", json_guid(published->f->ports[x[i].port].guid),
			"port", json_text(fabric_port_name(published->f, x[i].port, name,
							   sizeof(name))),
			"lost", (json_int_t)x[i].lost, "window", (int)x[i].window));
	return list;
}

/* SMP counters; the discovery process reports only how many it sent, and how many were lost. */
static json_t *status_smps(const struct mad_counts *m, const struct sm_status *s)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:o, s:o, s:I, s:I, s:I, s:I, s:I}",
			 "sent", (json_int_t)(m->smps + s->discovery_smps),
			 "sets", (json_int_t)m->sets_total,
			 "discovery", (json_int_t)s->discovery_smps,
			 "lost", (json_int_t)(m->lost + s->discovery_lost),
			 "window", status_window(m),
			 "by-attribute", smps_by_attr(m),
			 "other", (json_int_t)m->other_smps,
			 "timeouts", (json_int_t)m->timeouts,
			 "retries", (json_int_t)m->retries,
			 "bad-status", (json_int_t)m->bad_status,
			 "send-errors", (json_int_t)m->send_errors);
}

static json_t *status_mads(const struct mad_counts *m)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:{s:I, s:I, s:I}, "
			 "s:{s:I, s:I, s:I, s:I, s:I}}",
			 "sa-received", (json_int_t)m->sa_received,
			 "sa-sent", (json_int_t)m->sa_sent,
			 "traps", (json_int_t)m->traps,
			 "unknown", (json_int_t)m->unknown,
			 "malformed", (json_int_t)m->malformed,
			 "unasked", (json_int_t)m->unasked,
			 "dropped",
			 "smps", (json_int_t)m->dropped_smps,
			 "segments", (json_int_t)m->dropped_rmpp,
			 "requests", (json_int_t)m->dropped_requests,
			 "rmpp",
			 "answers", (json_int_t)m->rmpp_streams,
			 "segments", (json_int_t)m->rmpp_segments,
			 "repeated", (json_int_t)m->rmpp_repeated,
			 "aborted", (json_int_t)m->rmpp_aborted,
			 "refused", (json_int_t)m->rmpp_refused);
}

static json_t *status_sa(const struct sa_stats *sa, unsigned watchers)
{
	uint64_t errors[SA_STATUS_SLOTS] = { 0 };
	json_t *by_attr = json_object(), *by_error = json_object();

	for (unsigned a = 0; a < ARRAY_SIZE(sa->by_attr); a++) {
		if (!sa->by_attr[a].requests)
			continue;
		set_by_attr(by_attr, a < ARRAY_SIZE(sa_attr_names) ? sa_attr_names[a] : NULL,
			    sa_attr_of_slot(a),
			    json_integer((json_int_t)sa->by_attr[a].requests));
		for (unsigned i = 1; i < SA_STATUS_SLOTS; i++)
			errors[i] += sa->by_attr[a].status[i];
	}
	for (unsigned i = 1; i < SA_STATUS_SLOTS; i++)
		if (errors[i])
			json_object_set_new(by_error, sa_status_name(i),
					    json_integer((json_int_t)errors[i]));
	return json_pack("{s:i, s:I, s:I, s:I, s:I, s:o, s:o}",
			 "watchers", (int)watchers,
			 "requests", (json_int_t)sa->requests,
			 "answered", (json_int_t)sa->answered,
			 "dropped", (json_int_t)sa->dropped,
			 "busy", (json_int_t)sa->busy,
			 "by-attribute", by_attr, "errors", by_error);
}

static json_t *status_policy(const struct sm_status *s, const struct ctl_env *env)
{
	const struct policy *p = s->policy->p;
	static const struct findings none;
	json_t *policy = json_policy(s->policy), *more;

	more = json_pack("{s:o, s:o, s:o, s:o, s:i, s:i, s:o, s:o}",
			 "trial", json_trial(env->policies),
			 "dynamic", json_dynamic(env, s->in_force),
			 "change", env->policies ?
			 json_integer((json_int_t)policies_number(env->policies)) : json_null(),
			 "change-in-force", s->change_in_force ?
			 json_integer((json_int_t)s->change_in_force) : json_null(),
			 "levels", (int)p->n_levels, "rules", (int)p->n_rules,
			 "findings", json_findings(s->findings ? s->findings : &none),
			 "rejected", s->rejected ? json_findings(s->rejected) : json_null());
	json_object_update(policy, more);
	json_decref(more);
	return policy;
}

static json_t *status_master(const struct sm_status *s)
{
	if (!s->master_guid)
		return json_null();
	return json_pack("{s:o, s:i}", "guid", json_guid(s->master_guid),
			 "priority", s->master_priority);
}

static void add_log_line(void *arg, int64_t realtime_us, enum log_level level, const char *line)
{
	json_array_append_new(arg, json_pack("{s:o, s:s, s:o}", "time", json_time(realtime_us),
		"level", level == LOG_LEVEL_ERROR ? "error" : "warning",
		"text", json_text(line)));
}

static json_t *status_log(void)
{
	json_t *log = json_array();

	log_recent(add_log_line, log);
	return log;
}

static void add_problem(void *arg, const struct store_problem *p)
{
	json_array_append_new(arg, json_pack("{s:o, s:o, s:o}", "file", json_text(p->file),
		"problem", json_text(p->text), "since", json_time(p->since_us)));
}

static json_t *status_store(struct store *store)
{
	json_t *problems = json_array();

	store_problems(store, add_problem, problems);
	return json_pack("{s:o}", "problems", problems);
}

static json_t *status_subnet(const struct sm_status *s)
{
	return json_pack("{s:s, s:b, s:b, s:s, s:o, s:i, s:i, s:o, s:b, s:I, s:I, s:I, s:I, s:I, s:I}",
			 "state", sm_state_name(s->state),
			 "subnet-up", s->subnet_up,
			 "sweeping", s->sweeping,
			 "phase", s->phase ? s->phase : "idle",
			 "guid", json_guid(s->guid),
			 "lid", s->lid,
			 "priority", s->priority,
			 "master", status_master(s),
			 "registrations-held", s->registrations_held,
			 "other-managers", (json_int_t)s->other_managers,
			 "key-mismatches", (json_int_t)s->key_mismatches,
			 "nodes", (json_int_t)s->nodes,
			 "switches", (json_int_t)s->switches,
			 "ports-active", (json_int_t)s->ports_active,
			 "ports-linked", (json_int_t)s->ports_linked);
}

/* Whether keys protect the subnet; never the keys. */
static json_t *status_protection(const struct ctl_view *v)
{
	return json_pack("{s:b, s:b, s:o}", "m-key-set", !v->sm.no_m_key, "sm-key-secret", !v->sm.sm_key_known,
			 "subnet-prefix", v->state ? json_guid(v->state->plan->settings->subnet_prefix) : json_null());
}

static json_t *status_sweeps(const struct sm_status *s)
{
	return json_pack("{s:I, s:f, s:I, s:I, s:I, s:I, s:I, s:I, s:s?}",
			 "sweeps", (json_int_t)s->sweeps,
			 "last-sweep-seconds", s->last_sweep_seconds,
			 "last-sweep-smps", (json_int_t)s->last_smps,
			 "last-sweep-sets", (json_int_t)s->last_sets,
			 "failed-devices", (json_int_t)s->failed_devices,
			 "failed-sets", (json_int_t)s->sets_failed,
			 "unanswered-links", (json_int_t)s->unanswered,
			 "refused-values", (json_int_t)s->refused,
			 "engine", s->engine);
}

static json_t *status_trees(const struct sm_status *s)
{
	return json_pack("{s:b, s:i, s:i, s:i, s:I}", "pending", s->trees_pending,
			 "trees", (int)s->trees,
			 "last-sweep-made", (int)s->trees_remade,
			 "last-sweep-kept", (int)s->trees_kept,
			 "made", (json_int_t)s->trees_made);
}

static json_t *status_withdrawn(const struct sm_status *s)
{
	size_t drained = s->withdrawals ? withdrawals_count(s->withdrawals, WITHDRAWAL_DRAINED) : 0;

	size_t isolated = s->withdrawals ? withdrawals_count(s->withdrawals, WITHDRAWAL_ISOLATED) : 0;

	return json_pack("{s:I, s:I, s:I, s:I}", "drained", (json_int_t)drained,
			 "isolated", (json_int_t)isolated,
			 "change", (json_int_t)s->withdrawals_change,
			 "change-in-force", (json_int_t)s->withdrawals_in_force);
}

/* The pages that the settings want. */
static json_t *status_pages(const struct ctl_env *env)
{
	json_t *list = json_array();
	struct ctl_listening x;

	for (unsigned i = 0; env->listening && env->listening(env->arg, i, &x); i++)
		if (x.address)
			json_array_append_new(list, json_pack("{s:s, s:o, s:o, s:o, s:o}", "setting", x.setting,
				"address", json_text(x.address), "port", x.port ? json_integer(x.port) : json_null(),
				"problem", x.why ? json_text(x.why) : json_null(),
				"since", x.why ? json_time(x.since_us) : json_null()));
	return list;
}

void cmd_status(const struct ctl_call *c, struct reply *r)
{
	static const struct mad_counts no_counts;
	const struct ctl_view *v = c->view;
	const struct sa_stats *sums = sa_sums(c->env);
	const struct mad_counts *m = v->mad ? v->mad : &no_counts;
	json_t *status = status_subnet(&v->sm);
	json_t *sweeps = status_sweeps(&v->sm), *protection = status_protection(v);

	json_object_update(status, protection);
	json_decref(protection);
	json_object_update(status, sweeps);
	json_decref(sweeps);
	json_object_set_new(status, "engine-choice",
			    v->state ? json_choice_text(v->state->plan) : json_null());
	json_object_set_new(status, "standbys", json_standbys(c->env, v));
	json_object_set_new(status, "topology", json_topology(c->env->topology));
	json_object_set_new(status, "missing", json_missing_counts(c->env->missing));
	json_object_set_new(status, "smps", status_smps(m, &v->sm));
	json_object_set_new(status, "lossy-devices", status_lossy(c->env->sm, v->state));
	json_object_set_new(status, "multicast-trees", status_trees(&v->sm));
	json_object_set_new(status, "withdrawn", status_withdrawn(&v->sm));
	json_object_set_new(status, "mads", status_mads(m));
	json_object_set_new(status, "sa", sums ? status_sa(sums, sa_trace_watchers(c->env->trace)) :
						  json_null());
	json_object_set_new(status, "policy",
			    v->sm.policy ? status_policy(&v->sm, c->env) : json_null());
	json_object_set_new(status, "state-folder",
			    c->env->store ? status_store(c->env->store) : json_null());
	json_object_set_new(status, "pages", status_pages(c->env));
	json_object_set_new(status, "log", status_log());
	json_object_set_new(status, "version", json_text(c->env->version));
	reply_result(r, status);
}

/* --- sweep steps --- */

static json_t *json_step(const struct sm_sweep_step *s)
{
	return json_pack("{s:s, s:s, s:s, s:b, s:i, s:o}", "step", s->name, "phase", s->phase,
			 "what", s->what, "running", s->runs, "begun", (int)s->runs_so_far, "seconds",
			 s->runs_so_far ? json_real((double)s->took_us * 1e-6) : json_null());
}

void cmd_sweep_steps(const struct ctl_call *c, struct reply *r)
{
	json_t *sweeps = json_array();
	struct sm_sweep_step s;

	for (unsigned kind = 0; sm_sweep_step(c->env->sm, kind, 0, &s); kind++) {
		json_t *steps = json_array();

		for (unsigned i = 0; sm_sweep_step(c->env->sm, kind, i, &s); i++)
			json_array_append_new(steps, json_step(&s));
		json_array_append_new(sweeps, json_pack("{s:s, s:b, s:b, s:o}", "sweep", s.kind,
			"current", s.current, "running", s.current && c->view->sm.sweeping,
			"steps", steps));
	}
	reply_result(r, json_pack("{s:o}", "sweeps", sweeps));
}
