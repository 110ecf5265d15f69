/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Judges the policy and settings in force, their files, and the policies of other managers; see health_judges.h. */
#include "ctl/commands/health_judges.h"

#include <inttypes.h>
#include <stdio.h>

static void put_finding(struct health_list *l, const struct finding *x)
{
	if (x->pos.line)
		health_list_add(l, "%s:%" PRIu32 ":%" PRIu32 ": %s", x->file, x->pos.line, x->pos.col, x->text);
	else
		health_list_add(l, "%s: %s", x->file, x->text);
}

/* Findings without a file concern the fabric, and other judges report them. */
static void judge_findings(const struct findings *f, struct health *h)
{
	struct health_list errors = { h, FOUND_POLICY_ERRORS, 0 };
	struct health_list warnings = { h, FOUND_POLICY_WARNINGS, 0 };

	for (size_t i = 0; f && i < f->n; i++) {
		const struct finding *x = &f->v[i];

		if (!x->file || !*x->file || x->severity == SEV_INFO)
			continue;
		put_finding(x->severity == SEV_ERROR ? &errors : &warnings, x);
	}
	health_list_end(&errors);
	health_list_end(&warnings);
}

/* Reports a policy that stands in for the file, which the start could not use. */
static void judge_stand_in(const struct health_input *in, struct health *h)
{
	const struct shared_policy *p = in->in_force;

	if (!p || !in->policy_wanted)
		return;
	if (p->source == POLICY_KEPT)
		health_add(h, FOUND_POLICY_LAST_GOOD, "the policy file was unusable at the start: the last "
			   "good policy is in force, checksum %016" PRIx64, p->p->checksum);
	else if (p->source == POLICY_BUILTIN)
		health_add(h, in->sm->rejected ? FOUND_NO_POLICY_BY_ERROR : FOUND_NO_POLICY, "the subnet has "
			   "no policy: there was no usable policy file at the start, nor a last good policy");
}

/* "the built-in policy" or "the policy with checksum 0123456789abcdef" */
static const char *policy_text(uint64_t checksum, char *text, size_t n)
{
	if (checksum == CTL_POLICY_BUILTIN)
		snprintf(text, n, "the built-in policy");
	else
		snprintf(text, n, "the policy with checksum %016" PRIx64, checksum);
	return text;
}

/* Reports other subnet managers with another policy, which a failover would bring into force. */
static void judge_peers(const struct health_input *in, struct health *h)
{
	struct health_list differ = { h, FOUND_POLICY_DIFFERS, 0 };
	const struct shared_policy *p = in->in_force;
	uint64_t ours = !p ? 0 : p->source == POLICY_BUILTIN ? CTL_POLICY_BUILTIN : p->p->checksum;
	char theirs_text[64], ours_text[64];

	for (size_t i = 0; ours && i < in->n_peers; i++) {
		const struct ctl_policy_peer *x = &in->peers[i];

		if (x->checksum && x->checksum != ours)
			health_list_add(&differ, "the %s 0x%016" PRIx64 " has %s, and this %s has %s: a "
					"failover changes the policy", x->is_master ? "master" : "standby",
					x->guid, policy_text(x->checksum, theirs_text, sizeof(theirs_text)),
					x->is_master ? "standby" : "master",
					policy_text(ours, ours_text, sizeof(ours_text)));
	}
	health_list_end(&differ);
}

/* Reports a policy of a client that is not what the file has.  A trial is reported anyway. */
static void judge_file(const struct health_input *in, struct health *h)
{
	const struct shared_policy *p = in->in_force;

	if (!p || p->source != POLICY_CLIENT || in->trial_left_us >= 0 || !in->on_disk.known)
		return;
	if (in->on_disk.missing)
		health_add(h, FOUND_POLICY_NOT_IN_FILE, "the policy in force was loaded from %s, and the "
			   "configured file cannot be read", p->p->file);
	else if (in->on_disk.checksum != p->p->checksum)
		health_add(h, FOUND_POLICY_NOT_IN_FILE, "the policy in force was loaded from %s, checksum "
			   "%016" PRIx64 ", and the configured file has another, checksum %016" PRIx64 ": a "
			   "restart changes the policy", p->p->file, p->p->checksum, in->on_disk.checksum);
}

/* The settings file, as the last reload found it. */
static void judge_settings(const struct health_input *in, struct health *h)
{
	struct buf names = { 0 };

	if (!in->settings)
		return;
	if (in->settings->refused)
		health_add(h, FOUND_SETTINGS_REFUSED, "the last reload was refused: %s",
			   in->settings->refused);
	for (size_t i = 0; i < in->settings->restart.n; i++)
		buf_printf(&names, "%s%s", i ? ", " : "", in->settings->restart.v[i]);
	if (names.n)
		health_add(h, FOUND_SETTINGS_NEED_RESTART, "the settings file changes %s, which needs a restart",
			   names.s);
	buf_free(&names);
}

void health_policy(const struct health_input *in, struct health *h)
{
	const struct findings *rejected = in->sm->rejected;

	judge_findings(in->sm->findings, h);
	if (rejected) {
		const struct finding *first = findings_first_error(rejected);

		health_add(h, FOUND_POLICY_REJECTED, "the last policy file has %zu error%s; the previous "
			   "policy stays in force%s%s", rejected->count[SEV_ERROR],
			   rejected->count[SEV_ERROR] == 1 ? "" : "s", first ? "; the first: " : "",
			   first ? first->text : "");
	}
	judge_stand_in(in, h);
	judge_file(in, h);
	judge_peers(in, h);
	judge_settings(in, h);
	if (in->trial_left_us >= 0)
		health_add(h, FOUND_POLICY_ON_TRIAL, "the policy in force will be reverted in %" PRId64 " s "
			   "unless it is confirmed", (in->trial_left_us + 999999) / 1000000);
}
