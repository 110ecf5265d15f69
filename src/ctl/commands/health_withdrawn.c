/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Judges what is withdrawn; see health_judges.h and health_withdrawn.h. */
#include "ctl/commands/health_withdrawn.h"

#include <inttypes.h>

#include "ctl/commands/health_judges.h"
#include "sm/devices/isolations.h"

static void put_since(const struct withdrawal *x, int64_t now_us, struct buf *text)
{
	int64_t minutes = (now_us / 1000000 - x->since_s) / 60;

	if (minutes >= 120)
		buf_printf(text, " for %" PRId64 " hours", minutes / 60);
	else if (minutes > 0)
		buf_printf(text, " for %" PRId64 " minute%s", minutes, minutes == 1 ? "" : "s");
	if (*x->reason)
		buf_printf(text, ": %s", x->reason);
}

static void judge_drained(const struct health_input *in, const struct withdrawal *x, struct health *h)
{
	struct drain_left left = { .done = true };
	struct buf text = { 0 };
	bool unknown = in->sm->withdrawals_unverified, in_part;

	if (in->state)
		left = withdrawal_left(x, in->state->f);
	in_part = !unknown && left.links && !left.done && in->sm->withdrawals_in_force == in->sm->withdrawals_change;
	buf_printf(&text, unknown ? "%s is to be drained" : "%s is drained%s", x->name, in_part ? " in part" : "");
	put_since(x, in->now_us, &text);
	if (unknown)
		buf_puts(&text, "; this subnet manager has just taken over and is checking whether it is");
	if (in_part && left.hosts)
		buf_printf(&text, "; %" PRIu32 " host%s no other way", left.hosts,
			   left.hosts == 1 ? " has" : "s have");
	else if (in_part)
		buf_printf(&text, "; %" PRIu32 " of %" PRIu32 " links are in use because there is no other "
			   "way", left.used, left.links);
	health_take(h, in_part ? FOUND_DRAINED_IN_PART : FOUND_DRAINED, text.s);
}

void put_isolated(const struct health_input *in, struct buf *text)
{
	size_t n = in->sm->cuts ? in->sm->cuts->v.n : 0;

	if (n)
		buf_printf(text, "; %zu link%s isolated, see 'qosd-ctl withdrawn'", n, n == 1 ? " is" : "s are");
}

static void put_user(const struct withdrawal *x, struct buf *text)
{
	if (x->uid == WITHDRAWN_BY_RULE)
		buf_puts(text, "isolate-when");
	else if (x->uid < 0)
		buf_puts(text, "an unknown user");
	else
		buf_printf(text, "user %" PRId64, x->uid);
}

/* Names an isolated link of the port's switch.  False: there is none. */
static bool put_isolated_at(const struct health_input *in, uint32_t port, struct buf *text)
{
	const struct fabric *f = in->state->f;
	uint32_t sw = port == FABRIC_NONE ? FABRIC_NONE : fabric_switch_of(f, port), node;
	struct withdrawal at = { 0 };
	const struct isolation_cut *cut;
	unsigned num = 0;
	char behind[FABRIC_NAME_MAX], name[FABRIC_NAME_MAX], id[WITHDRAWAL_ID_MAX];

	if (sw == FABRIC_NONE)
		return false;
	node = f->switches[sw].node;
	at.guid = f->nodes[node].guid;
	while ((cut = isolation_cuts_of(in->sm->cuts, &at, &num))) {
		const struct withdrawal *by = isolation_of_cut(in->sm->withdrawals, cut);

		if (!by || num > f->nodes[node].nports)
			continue;
		buf_printf(text, "; %s is behind the isolated link of %s, isolated by ",
			   fabric_port_name(f, port, behind, sizeof(behind)),
			   fabric_port_name(f, f->nodes[node].port0 + num, name, sizeof(name)));
		put_user(by, text);
		buf_printf(text, "%s%s; 'qosd-ctl release %s' ends that", *by->reason ? ": " : "", by->reason,
			   withdrawal_id(by, id));
		return true;
	}
	return false;
}

void put_isolated_near(const struct health_input *in, uint32_t a, uint32_t b, struct buf *text)
{
	if (in->sm->cuts && in->sm->withdrawals && !put_isolated_at(in, b, text))
		put_isolated_at(in, a, text);
	put_isolated(in, text);
}

static void judge_isolated(const struct health_input *in, const struct withdrawal *x, struct health *h)
{
	struct buf text = { 0 };
	bool pending = in->state && isolation_pending(x, in->state->f);

	buf_printf(&text, "%s is isolated%s", x->name, pending ? ", but still in use" : "");
	put_since(x, in->now_us, &text);
	health_take(h, FOUND_ISOLATED, text.s);
}

void health_withdrawn(const struct health_input *in, struct health *h)
{
	const struct withdrawals *w = in->sm->withdrawals;

	for (size_t i = 0; w && i < w->v.n && i < HEALTH_EACH; i++)
		if (w->v.v[i].kind == WITHDRAWAL_ISOLATED)
			judge_isolated(in, &w->v.v[i], h);
		else
			judge_drained(in, &w->v.v[i], h);
	if (w)
		health_rest(h, FOUND_MORE_WITHDRAWN, w->v.n);
}
