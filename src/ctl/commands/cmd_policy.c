/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Answers `reload` and `policy check|load|confirm|revert|show|history`.  It turns requests into
 * calls of policy_trials.h, and results into JSON.  Threads parse files, as these may be long.
 */
#include "ctl/loading.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "config/conf.h"
#include "ctl/foresight.h"
#include "lib/base/alloc.h"
#include "lib/base/clock.h"
#include "qosd/ctl.h"

_Static_assert(CTL_BODY_MAX == CONF_FILE_MAX, "a client may send as much as a policy may have");

#define NOTHING_CHANGED "; nothing has changed"

/* --- parsing a file that a client sent --- */

bool loading_take(struct loading *l, const struct ctl_call *c, struct reply *r)
{
	const char *name = arg_text(c, "file");

	if (strlen(name) >= PATH_MAX) {
		reply_error(r, NULL, "file: the name is too long");
		return false;
	}
	l->name = xstrdup(name);
	l->who = asker_keep(c->view->peer.who);
	l->text = *c->view->file;
	*c->view->file = (struct buf){ 0 };
	return true;
}

void loading_parse(struct loading *l)
{
	struct policy *p = conf_parse_policy(l->name, l->text.n ? l->text.s : "", l->text.n,
					     &l->found);

	if (!p)
		return;
	l->policy = shared_policy_new(p);
	l->policy->source = POLICY_CLIENT;
	l->policy->uid = l->who.uid;
	l->policy->behalf = xstrdup_or_null(l->who.behalf);
	l->policy->text = l->text;
	l->text = (struct buf){ 0 };
	findings_copy(&l->policy->findings, &l->found);
}

void loading_refused(const struct loading *l, struct reply *r, const char *then)
{
	reply_error(r, json_pack("{s:o}", "findings", json_findings(&l->found)),
		    "the policy file was refused%s", then);
}

void loading_free(struct loading *l)
{
	free(l->name);
	kept_asker_free(&l->who);
	buf_free(&l->text);
	findings_free(&l->found);
	shared_policy_unref(l->policy);
}

/* --- load --- */

struct load {
	struct loading file;
	const struct ctl_env *env;
	struct foresight foresight;
	uint64_t trial_s;
	bool force;
};

static void load_work(void *arg)
{
	struct load *l = arg;

	loading_parse(&l->file);
	if (l->file.policy)
		foresight_judge(&l->foresight, l->file.policy->p);
}

/* What load and reload say of a policy that was accepted. */
static json_t *json_accepted(const struct ctl_env *env, const struct findings *found,
			     const struct foresight *x, const char *when)
{
	return json_pack("{s:o, s:o, s:o, s:o}", "findings", json_findings(found),
			 "fabric-findings", json_foresight(x),
			 "change", env->policies ?
			 json_integer((json_int_t)policies_number(env->policies)) : json_null(),
			 "in-force-when", when ? json_string(when) : json_null());
}

static void load_refused(struct load *l, const char *then, struct reply *r)
{
	const struct findings *found = &l->file.found;
	struct findings copy = { 0 };

	findings_log(found, "policy");
	policies_refused(l->env->policies, CHANGE_LOAD, l->file.name, asker_kept(&l->file.who),
			 found->count[SEV_ERROR]);
	findings_copy(&copy, found);
	if (l->env->sm)
		sm_policy_rejected(l->env->sm, &copy);
	findings_free(&copy);
	loading_refused(&l->file, r, then);
}

static void load_answer(void *arg, struct reply *r)
{
	struct load *l = arg;
	struct shared_policy *p = l->file.policy;
	const char *why, *when = in_force_when(l->env);
	json_t *result;

	if (!p || !policies_accept(l->env->policies, p, l->file.name, &l->file.found)) {
		load_refused(l, NOTHING_CHANGED, r);
		return;
	}
	if (foresight_refuses(&l->foresight, l->force, &l->file.found)) {
		load_refused(l, NOTHING_CHANGED FORESIGHT_FORCE, r);
		return;
	}
	p->loaded_us = clock_real_us();
	why = policies_load(l->env->policies, p, (unsigned)l->trial_s);
	if (why) {
		reply_error(r, NULL, "%s", why);
		return;
	}
	findings_log(&l->file.found, "policy");
	result = json_accepted(l->env, &l->file.found, &l->foresight, when);
	json_object_set_new(result, "policy", json_policy(p));
	json_object_set_new(result, "trial", json_trial(l->env->policies));
	reply_result(r, result);
}

static void load_release(void *arg)
{
	struct load *l = arg;

	loading_free(&l->file);
	foresight_free(&l->foresight);
	free(l);
}

static bool has_policies(const struct ctl_call *c, struct reply *r)
{
	if (!c->env->policies)
		reply_error(r, NULL, "this daemon has no policies");
	return c->env->policies != NULL;
}

void cmd_policy_load(const struct ctl_call *c, struct reply *r)
{
	static const struct job_ops ops = { load_work, NULL, load_answer, load_release };
	struct load *l;
	uint64_t trial_s = 0;

	if (!has_policies(c, r))
		return;
	arg_seconds(c, "confirm", &trial_s);
	l = xcalloc(1, sizeof(*l));
	l->env = c->env;
	l->trial_s = trial_s;
	l->force = arg_flag(c, "force");
	foresight_begin(&l->foresight, c);
	if (loading_take(&l->file, c, r))
		reply_later(r, c->view->jobs, &ops, l);
	else
		load_release(l);
}

/* --- check: before the configured file is replaced --- */

struct check {
	struct loading file;
	const struct ctl_env *env;
	struct foresight foresight;
	bool force;
};

static void check_work(void *arg)
{
	struct check *k = arg;

	loading_parse(&k->file);
	if (k->file.policy)
		foresight_judge(&k->foresight, k->file.policy->p);
}

static void check_answer(void *arg, struct reply *r)
{
	struct check *k = arg;

	if (!k->file.policy || !policies_accept(k->env->policies, k->file.policy, k->file.name,
						&k->file.found))
		loading_refused(&k->file, r, NOTHING_CHANGED);
	else if (foresight_refuses(&k->foresight, k->force, &k->file.found))
		loading_refused(&k->file, r, NOTHING_CHANGED FORESIGHT_FORCE);
	else
		reply_result(r, json_pack("{s:o, s:o}", "path", json_text(k->env->policy_path),
					  "findings", json_findings(&k->file.found)));
}

static void check_release(void *arg)
{
	struct check *k = arg;

	loading_free(&k->file);
	foresight_free(&k->foresight);
	free(k);
}

void cmd_policy_check(const struct ctl_call *c, struct reply *r)
{
	static const struct job_ops ops = { check_work, NULL, check_answer, check_release };
	struct check *k;

	if (!has_policies(c, r))
		return;
	if (!c->env->policy_path) {
		reply_error(r, NULL, "there is no policy file: qosd.yaml has 'policy: none'");
		return;
	}
	k = xcalloc(1, sizeof(*k));
	k->env = c->env;
	k->force = arg_flag(c, "force");
	foresight_begin(&k->foresight, c);
	if (loading_take(&k->file, c, r))
		reply_later(r, c->view->jobs, &ops, k);
	else
		check_release(k);
}

/* --- reload --- */

struct reload {
	const struct ctl_env *env;
	struct kept_asker who;
	struct findings found;
	struct foresight foresight;
	struct shared_policy *policy;	/* NULL: refused */
	bool force;
};

static void reload_work(void *arg)
{
	struct reload *l = arg;

	l->policy = l->env->reload_read(l->env->arg, foresight_settings(&l->foresight), &l->found);
	if (l->policy)
		foresight_judge(&l->foresight, l->policy->p);
}

static const struct ctl_settings_reload *settings_of(const struct ctl_env *env)
{
	return env->settings_reloaded ? env->settings_reloaded(env->arg) : NULL;
}

static bool settings_are_refused(const struct ctl_env *env)
{
	const struct ctl_settings_reload *x = settings_of(env);

	return x && x->refused;
}

static json_t *json_setting_names(const char *const *names, size_t n)
{
	json_t *list = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(list, json_string(names[i]));
	return list;
}

/* Adds what became of the settings. */
static json_t *json_reloaded(const struct reload *l, json_t *result)
{
	const struct ctl_settings_reload *x = settings_of(l->env);

	if (x) {
		json_object_set_new(result, "settings-applied", json_setting_names(x->applied.v, x->applied.n));
		json_object_set_new(result, "settings-need-restart",
				    json_setting_names(x->restart.v, x->restart.n));
	}
	return result;
}

static void reload_answer(void *arg, struct reply *r)
{
	struct reload *l = arg;
	const char *when = in_force_when(l->env);
	bool cut = foresight_refuses(&l->foresight, l->force, &l->found);

	if (cut) {
		shared_policy_unref(l->policy);
		l->policy = NULL;
	}
	if (l->env->reload_apply(l->env->arg, l->policy, &l->found, asker_kept(&l->who)))
		reply_result(r, json_reloaded(l, json_accepted(l->env, &l->found, &l->foresight, when)));
	else
		reply_error(r, json_pack("{s:o}", "findings", json_findings(&l->found)),
			    "%s was refused%s", settings_are_refused(l->env) ? "the settings file" : "the policy file",
			    cut ? NOTHING_CHANGED FORESIGHT_FORCE : NOTHING_CHANGED);
}

static void reload_release(void *arg)
{
	struct reload *l = arg;

	findings_free(&l->found);
	foresight_free(&l->foresight);
	shared_policy_unref(l->policy);
	kept_asker_free(&l->who);
	free(l);
}

void cmd_reload(const struct ctl_call *c, struct reply *r)
{
	static const struct job_ops ops = { reload_work, NULL, reload_answer, reload_release };
	struct reload *l = xcalloc(1, sizeof(*l));

	l->env = c->env;
	l->who = asker_keep(c->view->peer.who);
	l->force = arg_flag(c, "force");
	foresight_begin(&l->foresight, c);
	reply_later(r, c->view->jobs, &ops, l);
}

/* --- confirm, revert --- */

static json_t *json_policy_in_force(const struct ctl_call *c)
{
	return json_pack("{s:o}", "policy", json_policy(policies_in_force(c->env->policies)));
}

void cmd_policy_confirm(const struct ctl_call *c, struct reply *r)
{
	const char *why_not;

	if (!has_policies(c, r))
		return;
	why_not = policies_confirm(c->env->policies);
	if (why_not)
		reply_error(r, NULL, "%s", why_not);
	else
		reply_result(r, json_policy_in_force(c));
}

void cmd_policy_revert(const struct ctl_call *c, struct reply *r)
{
	const char *when = in_force_when(c->env), *why_not;
	json_t *result;

	if (!has_policies(c, r))
		return;
	why_not = policies_revert(c->env->policies, c->view->peer.who);
	if (why_not) {
		reply_error(r, NULL, "%s", why_not);
		return;
	}
	result = json_policy_in_force(c);
	json_object_set_new(result, "change", json_integer((json_int_t)policies_number(c->env->policies)));
	json_object_set_new(result, "in-force-when", when ? json_string(when) : json_null());
	reply_result(r, result);
}

/* --- show: line by line, as it may be long; a thread makes the normal form --- */

struct lines {
	const struct ctl_env *env;
	struct shared_policy *policy;
	bool as_normal;
	struct buf normal;
	size_t at;
};

static void lines_work(void *arg)
{
	struct lines *l = arg;

	if (l->as_normal)
		conf_print_policy(l->policy->p, &l->normal);
}

static json_t *next_line(void *rows)
{
	struct lines *l = rows;
	const struct buf *text = l->as_normal ? &l->normal : &l->policy->text;
	const char *start = text->s + l->at, *end;
	char *line;
	json_t *row;

	if (l->at >= text->n)
		return NULL;
	end = memchr(start, '\n', text->n - l->at);
	if (!end)
		end = text->s + text->n;
	line = xstrndup(start, (size_t)(end - start));
	l->at = (size_t)(end - text->s) + 1;
	row = json_pack("{s:o}", "line", json_text(line));
	free(line);
	return row;
}

static void lines_free(void *rows)
{
	struct lines *l = rows;

	shared_policy_unref(l->policy);
	buf_free(&l->normal);
	free(l);
}

static void lines_answer(void *arg, struct reply *r)
{
	struct lines *l = arg, *rows = xmalloc(sizeof(*rows));
	json_t *result = json_policy(l->policy);

	json_object_set_new(result, "normal", json_boolean(l->as_normal));
	json_object_set_new(result, "trial", json_trial(l->env->policies));
	reply_result(r, result);
	*rows = *l;
	l->policy = NULL;
	l->normal = (struct buf){ 0 };
	reply_rows(r, "text", next_line, lines_free, rows);
}

void cmd_policy_show(const struct ctl_call *c, struct reply *r)
{
	static const struct job_ops ops = { lines_work, NULL, lines_answer, lines_free };
	struct lines *l;

	if (!has_policies(c, r))
		return;
	l = xcalloc(1, sizeof(*l));
	l->env = c->env;
	l->policy = shared_policy_ref(policies_in_force(c->env->policies));
	l->as_normal = arg_flag(c, "normal") || !l->policy->text.n;
	reply_later(r, c->view->jobs, &ops, l);
}

/* --- history --- */

static json_t *change_object(const struct policy_change *x)
{
	bool refused = x->outcome == CHANGE_REFUSED;

	return json_pack("{s:o, s:s, s:s, s:o, s:o, s:o, s:o, s:o}",
			 "time", json_time(x->when_us), "change", change_kind_name(x->kind),
			 "outcome", change_outcome_name(x->outcome), "file", json_text(x->name),
			 "checksum", refused ? json_null() :
			 json_sprintf("%016llx", (unsigned long long)x->checksum),
			 "uid", json_uid(x->uid), "on-behalf-of", json_behalf(x->behalf),
			 "errors", refused ? json_integer(x->errors) : json_null());
}

void cmd_policy_history(const struct ctl_call *c, struct reply *r)
{
	const struct policy_change *x;
	json_t *list;

	if (!has_policies(c, r))
		return;
	list = json_array();
	for (size_t i = 0; (x = policies_change(c->env->policies, i)); i++)
		json_array_append_new(list, change_object(x));
	reply_result(r, json_pack("{s:o}", "history", list));
}

/* --- policies in other answers --- */

json_t *json_policy(const struct shared_policy *p)
{
	static const char *const sources[] = { "built-in", "file", "client", "last-good" };

	return json_pack("{s:o, s:o, s:o, s:s, s:o, s:o}",
			 "file", json_text(p->p->file),
			 "checksum", json_sprintf("%016llx", (unsigned long long)p->p->checksum),
			 "loaded", p->loaded_us ? json_time(p->loaded_us) : json_null(),
			 "source", sources[p->source],
			 "uid", json_uid(p->uid), "on-behalf-of", json_behalf(p->behalf));
}

json_t *json_trial(const struct policies *ps)
{
	int64_t left;

	if (!ps || !policies_on_trial(ps, &left))
		return json_null();
	return json_pack("{s:o, s:I, s:o}", "file", json_text(policies_in_force(ps)->p->file),
			 "seconds-left", (json_int_t)((left + 999999) / 1000000),
			 "back-to", json_policy(policies_before(ps)));
}
