/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Judges what is missing, for `health`: see cmd_missing.h. */
#include <inttypes.h>

#include "ctl/commands/cmd_missing.h"

static const struct {
	enum severity severity;
	const char *kind, *action, *more;
} by_kind[MISSING_KINDS] = {
	[MISSING_SWITCH] = { SEV_ERROR, "switch-missing",
		"bring the switch back, or say that it is gone for good: 'qosd-ctl forget SWITCH'",
		"switches are missing" },
	[MISSING_HOST] = { SEV_WARNING, "host-missing",
		"bring the host back, or say that it is gone for good: 'qosd-ctl forget HOST'",
		"hosts are missing" },
	[MISSING_MANAGER] = { SEV_WARNING, "manager-missing",
		"start it again, or say that it is gone for good: 'qosd-ctl forget GUID'",
		"subnet managers are missing" },
	[MISSING_LINK] = { SEV_WARNING, "link-missing",
		"check the cable and both ports, or say that the link is gone for good: 'qosd-ctl forget PORT'",
		"links between switches are missing" },
	[MISSING_HOST_LINK] = { SEV_WARNING, "host-link-missing",
		"check the cable and both ports, or say that the link is gone for good: 'qosd-ctl forget PORT'",
		"links of hosts are missing" },
	[MISSING_RATE] = { SEV_WARNING, "link-slower",
		"check the cable and both connectors, 'qosd-ctl links retrain PORT' trains it again; or say "
		"that it is to stay so: 'qosd-ctl forget PORT'",
		"links are slower than they were" },
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

static void add(struct health *h, enum missing_kind kind, char *text)
{
	*vec_push(&h->v) = (struct problem){ by_kind[kind].severity, by_kind[kind].kind,
					     by_kind[kind].action, text };
}

void health_missing(const struct missing *m, struct health *h)
{
	size_t n = 0, seen[MISSING_KINDS] = { 0 };
	struct missing_item **list = m ? missing_list(m, &n) : NULL;

	for (size_t i = 0; i < n; i++)
		if (seen[list[i]->kind]++ < HEALTH_EACH)
			add(h, list[i]->kind, item_text(list[i]));
	for (unsigned k = 0; k < MISSING_KINDS; k++)
		if (seen[k] > HEALTH_EACH)
			add(h, (enum missing_kind)k, xasprintf("%zu more %s; see 'qosd-ctl missing'",
							       seen[k] - HEALTH_EACH, by_kind[k].more));
	if (m && missing_dropped(m))
		*vec_push(&h->v) = (struct problem){ SEV_WARNING, "missing-not-kept",
			"'qosd-ctl forget --all' makes room", xasprintf(
			"%" PRIu64 " more nodes and links are missing than qosd remembers", missing_dropped(m)) };
	missing_list_free(list, n);
}
