/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Judges what is missing, for `health`: see cmd_missing.h. */
#include <inttypes.h>
#include <stdlib.h>

#include "ctl/commands/cmd_missing.h"
#include "sm/devices/withdrawals.h"

static const struct {
	enum severity severity;
	const char *kind, *action, *more;
} by_kind[MISSING_KINDS] = {
	[MISSING_SWITCH] = { SEV_ERROR, "switch-missing",
		"bring the switch back, or say that it is gone for good: 'qosd-ctl forget SWITCH'",
		"switches are missing; see 'qosd-ctl missing'" },
	[MISSING_HOST] = { SEV_WARNING, "host-missing",
		"bring the host back, or say that it is gone for good: 'qosd-ctl forget HOST'",
		"hosts are missing; see 'qosd-ctl missing'" },
	[MISSING_MANAGER] = { SEV_WARNING, "manager-missing",
		"start it again, or say that it is gone for good: 'qosd-ctl forget GUID'",
		"subnet managers are missing; see 'qosd-ctl missing'" },
	[MISSING_LINK] = { SEV_WARNING, "link-missing",
		"check the cable and both ports, or say that the link is gone for good, as where a cable was "
		"moved on purpose: 'qosd-ctl forget PORT'",
		"links between switches are missing; see 'qosd-ctl missing'" },
	[MISSING_HOST_LINK] = { SEV_WARNING, "host-link-missing",
		"check the cable and both ports, or say that the link is gone for good: 'qosd-ctl forget PORT'",
		"links of hosts are missing; see 'qosd-ctl missing'" },
	[MISSING_RATE] = { SEV_WARNING, "link-slower",
		"check the cable and both connectors, 'qosd-ctl links retrain PORT' trains it again; or say "
		"that it is to stay so: 'qosd-ctl forget PORT'",
		"links are slower than they were; see 'qosd-ctl missing'" },
};

/* " since TIME", or that nobody saw it go. */
static char *since_text(const struct missing_item *x)
{
	json_t *time = json_time(x->since_us);
	const char *text = json_string_value(time);
	char *since = xasprintf(x->unwatched ? "went before %s, while no qosd was watching" :
				"is gone since %s", text ? text : "an unknown time");

	json_decref(time);
	return since;
}

/* What the ends of a missing link are linked to instead: a cable in another port is no broken one. */
static void put_moved(const struct missing_item *x, const struct fabric *f, struct buf *out)
{
	const struct missing_end *ends[] = { &x->a, &x->b };
	char name[FABRIC_NAME_MAX], end[MISSING_END_TEXT];
	bool any = false;

	for (unsigned i = 0; i < 2; i++) {
		uint32_t peer = missing_linked_to(x, ends[i], f);

		if (peer == FABRIC_NONE)
			continue;
		buf_printf(out, "%s %s is linked to %s now", any ? "," : ";",
			   missing_end_text(ends[i], end, sizeof(end)),
			   fabric_port_name(f, peer, name, sizeof(name)));
		any = true;
	}
	if (any && x->kind == MISSING_LINK)
		buf_puts(out, ": was the cable moved?");
}

static char *item_text(const struct missing_item *x)
{
	char a[MISSING_END_TEXT], b[MISSING_END_TEXT], *since = since_text(x), *text;
	struct missing_end node = x->a;

	node.num = 0;
	missing_end_text(&x->b, b, sizeof(b));
	if (x->kind == MISSING_RATE) {
		text = xasprintf("the link %s to %s runs at %s, and ran at %s before",
				 missing_end_text(&x->a, a, sizeof(a)), b, x->is, x->was);
	} else if (x->kind == MISSING_LINK || x->kind == MISSING_HOST_LINK) {
		text = xasprintf("the link %s to %s%s%s %s", missing_end_text(&x->a, a, sizeof(a)), b,
				 *x->was ? ", " : "", x->was, since);
	} else {
		text = xasprintf("%s %s%s%s", missing_end_text(&node, a, sizeof(a)), since,
				 x->b.guid ? "; it was at " : "", x->b.guid ? b : "");
	}
	free(since);
	return text;
}

static char *item_text_now(const struct missing_item *x, const struct fabric *f)
{
	char *first = item_text(x);
	struct buf text = { 0 };

	buf_puts(&text, first);
	put_moved(x, f, &text);
	free(first);
	return text.s;
}

static void add(struct health *h, enum missing_kind kind, char *text)
{
	*vec_push(&h->v) = (struct problem){ by_kind[kind].severity, by_kind[kind].kind,
					     by_kind[kind].action, text };
}

/* The withdrawn place that explains why nobody sees the item; NULL: nothing does. */
static const struct withdrawal *reason_of(const struct withdrawals *w, const struct missing_item *x)
{
	const struct missing_end *ends[] = { &x->a, &x->b };
	const struct withdrawal *found = NULL;

	for (size_t i = 0; w && !found && i < ARRAY_SIZE(ends); i++) {
		found = withdrawals_find(w, ends[i]->guid, ends[i]->num);
		if (!found)
			found = withdrawals_find(w, ends[i]->guid, 0);
	}
	return x->kind == MISSING_MANAGER ? NULL : found;
}

static void add_item(struct health *h, const struct withdrawals *w, const struct missing_item *x,
		     const struct fabric *f)
{
	const struct withdrawal *because = reason_of(w, x);
	char *text = item_text_now(x, f);

	if (!because) {
		add(h, x->kind, text);
		return;
	}
	*vec_push(&h->v) = (struct problem){
		SEV_INFO, by_kind[x->kind].kind, "'qosd-ctl release' takes what is withdrawn into service again",
		xasprintf("%s; %s is %s", text, because->name, withdrawal_kind_name(because->kind)) };
	free(text);
}

void health_missing(const struct missing *m, const struct fabric *f, const struct withdrawals *w, struct health *h)
{
	size_t n = 0, seen[MISSING_KINDS] = { 0 };
	struct missing_item **list = m ? missing_list(m, &n) : NULL;

	for (size_t i = 0; i < n; i++)
		if (seen[list[i]->kind]++ < HEALTH_EACH)
			add_item(h, w, list[i], f);
	for (unsigned k = 0; k < MISSING_KINDS; k++)
		health_rest(h, by_kind[k].severity, by_kind[k].kind, by_kind[k].action, seen[k], by_kind[k].more);
	if (m && missing_dropped(m))
		*vec_push(&h->v) = (struct problem){ SEV_WARNING, "missing-not-kept",
			"'qosd-ctl forget --all' makes room", xasprintf(
			"%" PRIu64 " more nodes and links are missing than qosd remembers", missing_dropped(m)) };
	missing_list_free(list, n);
}
