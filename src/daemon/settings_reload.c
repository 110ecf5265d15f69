/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads qosd.yaml again whenever the policy file is read again, and applies the settings that may change
 * while the daemon runs; which ones may is said by the table of config/read_settings.c.
 *
 * Everybody has a pointer to the one struct settings, so only settings that the loop's thread alone
 * reads may change.  Plans, which all threads read, have copies, so what they are made by may change, too: the
 * policy, which is always applied next, makes a new plan.  The rest stays as it was at the start, and is named
 * until the daemon is restarted or the file has the former values again.
 */
#include <string.h>

#include "config/conf.h"
#include "daemon/daemon.h"
#include "lib/base/log.h"

bool settings_read_again(struct qosd *q, struct settings *live, struct findings *out)
{
	bool from_file = q->settings_reload.from_file;
	struct settings *s = load_settings(q->o, &from_file, out), *before;
	struct name_map *names = NULL, *names_before;
	bool names_read = s && load_names(s, &names, out);

	if (s && live)		/* before others can take it */
		conf_copy_live_settings(s, live);

	pthread_mutex_lock(&q->settings_reload.lock);
	before = q->settings_reload.read;
	q->settings_reload.read = s;
	names_before = q->settings_reload.names;
	q->settings_reload.names = names;
	q->settings_reload.names_read = names_read;
	pthread_mutex_unlock(&q->settings_reload.lock);
	settings_free(before);
	name_map_unref(names_before);
	return s != NULL;
}

/* --- applying --- */

static void apply_log_level(struct qosd *q)
{
	if (!q->o->verbose)
		log_set_level(q->settings->log_level);
}

static void apply_end_marker(struct qosd *q)
{
	policies_set_marker(q->policies, q->settings->policy_marker);
}

static void apply_priority(struct qosd *q)
{
	sm_set_priority(q->sm, q->settings->priority);
}

static void apply_sweep_interval(struct qosd *q)
{
	sm_sweep_interval_changed(q->sm);
}

static void apply_scrub_interval(struct qosd *q)
{
	sm_scrub_interval_changed(q->sm);
}

static void apply_flap_rules(struct qosd *q)
{
	sm_flap_settings_changed(q->sm);
}

static void apply_error_settings(struct qosd *q)
{
	const struct error_settings set = error_watch_settings(q->settings);

	error_watch_change(q->errors, &set);
}

static void apply_optics_interval(struct qosd *q)
{
	optics_watch_set_interval(q->optics, q->settings->optics_interval_s * INT64_C(1000000));
}

static void apply_pkeys(struct qosd *q)
{
	ctl_set_pkeys(q->ctl, q->settings->pkey_lo, q->settings->pkey_hi);
}

static void apply_history(struct qosd *q)
{
	operator_events_keep(q->operator_events, q->settings);
	ctl_set_history(q->ctl, operator_events_history(q->operator_events));
}

static void apply_expected_topology(struct qosd *q)
{
	expected_topology_other_file(q->topology);
}

static void apply_event_command(struct qosd *q)
{
	operator_events_set_command(q->operator_events, q->loop, q->settings);
}

static void apply_outage_limit(struct qosd *q)
{
	operator_events_set_limit(q->operator_events, q->settings);
}

static void apply_isolate_when(struct qosd *q)
{
	operator_events_set_limit(q->operator_events, q->settings);
	isolation_rules_changed(q->isolation_rules);
}

static void apply_counters(struct qosd *q)
{
	perf_set_interval(q->perf, q->settings->counters_interval_s, q->settings->counters_reset);
}

static void apply_limits(struct qosd *q)
{
	departed_settings_changed(q->departed);
}

/* Live settings that somebody but a plan has a copy of; all others are looked up where they are used. */
static const struct {
	const char *name;
	void (*apply)(struct qosd *q);
} appliers[] = {
	{ "log-level", apply_log_level },
	{ "policy-end-marker", apply_end_marker },
	{ "priority", apply_priority },
	{ "sweep-interval", apply_sweep_interval },
	{ "scrub-interval", apply_scrub_interval },
	{ "flap-limit", apply_flap_rules },
	{ "flap-window", apply_flap_rules },
	{ "flap-hold", apply_flap_rules },
	{ "errors-interval", apply_error_settings },
	{ "errors-reset", apply_error_settings },
	{ "error-limits", apply_error_settings },
	{ "optics-interval", apply_optics_interval },
	{ "partition-pkeys", apply_pkeys },
	{ "history", apply_history },
	{ "history-max", apply_history },
	{ "metrics-listen", serve_metrics_page },
	{ "report-listen", serve_report_page },
	{ "expected-topology", apply_expected_topology },
	{ "event-command", apply_event_command },
	{ "event-kinds", apply_event_command },
	{ "outage-limit", apply_outage_limit },
	{ "isolate-when", apply_isolate_when },
	{ "counters-interval", apply_counters },
	{ "counters-reset", apply_counters },
	{ "groups-max", apply_limits },
	{ "groups-per-port", apply_limits },
	{ "memberships-max", apply_limits },
	{ "memberships-per-port", apply_limits },
	{ "services-max", apply_limits },
	{ "services-per-port", apply_limits },
	{ "subscriptions-max", apply_limits },
	{ "subscriptions-per-port", apply_limits },
	{ "alias-guids-max", apply_limits },
	{ "alias-guids-per-port", apply_limits },
	{ "forget-after", apply_limits },
};

static void note(void *arg, const char *name, bool live)
{
	struct ctl_settings_reload *x = arg;

	if (live)
		*vec_push(&x->applied) = name;
	else
		*vec_push(&x->restart) = name;
}

static void apply(struct qosd *q, const char *name)
{
	log_info("settings", "%s: the value in %s is in force now", name, q->o->config);
	for (size_t i = 0; i < ARRAY_SIZE(appliers); i++)
		if (strcmp(appliers[i].name, name) == 0)
			appliers[i].apply(q);
}

bool settings_end_marker(struct qosd *q)
{
	bool marker;

	pthread_mutex_lock(&q->settings_reload.lock);
	marker = (q->settings_reload.read ? q->settings_reload.read : q->settings)->policy_marker;
	pthread_mutex_unlock(&q->settings_reload.lock);
	return marker;
}

void settings_apply(struct qosd *q)
{
	struct ctl_settings_reload *x = &q->settings_reload.found;
	struct name_map *names;
	struct settings *s;
	bool names_read;

	pthread_mutex_lock(&q->settings_reload.lock);
	s = q->settings_reload.read;
	names = q->settings_reload.names;
	names_read = q->settings_reload.names_read;
	q->settings_reload.read = NULL;
	q->settings_reload.names = NULL;
	pthread_mutex_unlock(&q->settings_reload.lock);
	if (!s) {
		name_map_unref(names);
		return;
	}
	if (names_read)		/* a file that cannot be read leaves the former names */
		sm_set_names(q->sm, names);
	x->applied.n = x->restart.n = 0;
	free(x->refused);
	x->refused = NULL;
	conf_compare_settings(q->settings, s, note, x);
	conf_swap_live_settings(q->settings, s);
	for (size_t i = 0; i < x->applied.n; i++)
		apply(q, x->applied.v[i]);
	for (size_t i = 0; i < x->restart.n; i++)
		log_warn("settings", "%s: %s has another value, which needs a restart", x->restart.v[i],
			 q->o->config);
	settings_free(s);
}

bool settings_refused(struct qosd *q, const struct findings *found)
{
	const struct finding *first = findings_first_error(found);
	struct buf text = { 0 };

	if (!first || !first->file || strcmp(first->file, q->o->config) != 0)
		return false;
	findings_format(first, &text);
	free(q->settings_reload.found.refused);
	q->settings_reload.found.refused = text.s;
	log_error("settings", "%s: refused; the settings and the policy in force stay", q->o->config);
	return true;
}

const struct ctl_settings_reload *settings_reloaded(void *arg)
{
	const struct qosd *q = arg;

	return &q->settings_reload.found;
}

void settings_reload_free(struct qosd *q)
{
	settings_free(q->settings_reload.read);
	name_map_unref(q->settings_reload.names);
	vec_free(&q->settings_reload.found.applied);
	vec_free(&q->settings_reload.found.restart);
	free(q->settings_reload.found.refused);
}
