/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Judges what is withdrawn for `health`; see health_withdrawn.h. */
#include "ctl/commands/health_withdrawn.h"

#include <inttypes.h>

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
		buf_puts(&text, "; this subnet manager has just taken over, and is looking whether it is");
	if (in_part && left.hosts)
		buf_printf(&text, "; %" PRIu32 " host%s no other way", left.hosts,
			   left.hosts == 1 ? " has" : "s have");
	else if (in_part)
		buf_printf(&text, "; %" PRIu32 " of %" PRIu32 " links are in use because there is no other "
			   "way", left.used, left.links);
	*vec_push(&h->v) = (struct problem){
		in_part ? SEV_WARNING : SEV_INFO, in_part ? "drained-in-part" : "drained",
		in_part ? "see 'qosd-ctl withdrawn'; what has no other way is cut off if the device or cable is "
			  "removed" :
			  "'qosd-ctl release' takes it into service again", text.s,
	};
}

void put_isolated(const struct health_input *in, struct buf *text)
{
	size_t n = in->sm->cuts ? in->sm->cuts->v.n : 0;

	if (n)
		buf_printf(text, "; %zu link%s isolated, see 'qosd-ctl withdrawn'", n, n == 1 ? " is" : "s are");
}

static void judge_isolated(const struct health_input *in, const struct withdrawal *x, struct health *h)
{
	struct buf text = { 0 };
	bool pending = in->state && isolation_pending(x, in->state->f);

	buf_printf(&text, "%s is isolated%s", x->name, pending ? ", but still in use" : "");
	put_since(x, in->now_us, &text);
	*vec_push(&h->v) = (struct problem){
		SEV_WARNING, "isolated",
		"once it is repaired, 'qosd-ctl release' takes it into service again; see 'qosd-ctl withdrawn'", text.s,
	};
}

void judge_withdrawn(const struct health_input *in, struct health *h)
{
	const struct withdrawals *w = in->sm->withdrawals;

	for (size_t i = 0; w && i < w->v.n && i < HEALTH_EACH; i++)
		if (w->v.v[i].kind == WITHDRAWAL_ISOLATED)
			judge_isolated(in, &w->v.v[i], h);
		else
			judge_drained(in, &w->v.v[i], h);
	if (w)
		health_rest(h, SEV_INFO, "drained", "see 'qosd-ctl withdrawn'", w->v.n, "places are withdrawn");
}
