/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Judges what is missing; see health_judges.h. */
#include <inttypes.h>
#include <stdlib.h>

#include "ctl/commands/health_judges.h"
#include "events/missing_move.h"
#include "sm/devices/withdrawals.h"

static const struct {
	enum health_finding missing, withdrawn;
} by_kind[MISSING_KINDS] = {
	[MISSING_SWITCH] = { FOUND_SWITCH_MISSING, FOUND_SWITCH_WITHDRAWN },
	[MISSING_HOST] = { FOUND_HOST_MISSING, FOUND_HOST_WITHDRAWN },
	[MISSING_MANAGER] = { FOUND_MANAGER_MISSING, FOUND_MANAGER_MISSING },	/* no place */
	[MISSING_LINK] = { FOUND_LINK_MISSING, FOUND_LINK_WITHDRAWN },
	[MISSING_HOST_LINK] = { FOUND_HOST_LINK_MISSING, FOUND_HOST_LINK_WITHDRAWN },
	[MISSING_RATE] = { FOUND_LINK_SLOWER, FOUND_RATE_WITHDRAWN },
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

/* A cable that was moved at both ends is no broken one. */
static void put_new(const struct missing_item *x, const struct missing_move *move, const struct fabric *f,
		    struct buf *out)
{
	char a[FABRIC_NAME_MAX], b[FABRIC_NAME_MAX];
	const char *where = x->kind == MISSING_LINK ? "between these switches" : "of this host", *text;
	json_t *time;

	if (move->port == FABRIC_NONE) {
		buf_printf(out, "; %u link%s %s %s missing, and %u came since: ", move->n_missing,
			   move->n_missing == 1 ? "" : "s", where, move->n_missing == 1 ? "is" : "are", move->n_new);
		buf_puts(out, move->n_missing == 1 || move->n_new == 1 ? "was a cable moved?" : "were cables moved?");
		return;
	}
	time = json_time(move->since_us);
	text = json_string_value(time);
	buf_printf(out, "; %s is linked to %s since %s%s: was the cable moved?",
		   fabric_port_name(f, move->port, a, sizeof(a)),
		   fabric_port_name(f, f->ports[move->port].peer, b, sizeof(b)), move->unwatched ? "before " : "",
		   text ? text : "an unknown time");
	json_decref(time);
}

/* What the ends of a missing link are linked to instead: nor is a cable in another port. */
static void put_linked_to(const struct missing_item *x, const struct fabric *f, struct buf *out)
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

static char *item_text_now(const struct missing_item *x, const struct missing_moves *moves, const struct fabric *f)
{
	struct missing_move move = missing_moves_of(moves, x);
	char *first = item_text(x);
	struct buf text = { 0 };

	buf_puts(&text, first);
	if (move.n_new)
		put_new(x, &move, f, &text);
	else
		put_linked_to(x, f, &text);
	free(first);
	return text.s;
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

static void add_item(const struct health_input *in, struct health *h, const struct missing_moves *moves,
		     const struct missing_item *x)
{
	const struct withdrawal *because = reason_of(in->sm->withdrawals, x);
	char *text = item_text_now(x, moves, in->state->f);

	if (!because) {
		health_take(h, by_kind[x->kind].missing, text);
		return;
	}
	health_add(h, by_kind[x->kind].withdrawn, "%s; %s is %s", text, because->name,
		   withdrawal_kind_name(because->kind));
	free(text);
}

void health_missing(const struct health_input *in, struct health *h)
{
	size_t n = 0, seen[MISSING_KINDS] = { 0 };
	struct missing_item **list = in->missing ? missing_list(in->missing, &n) : NULL;
	struct missing_moves *moves = missing_moves_new(in->missing, in->state->f);

	for (size_t i = 0; i < n; i++)
		if (seen[list[i]->kind]++ < HEALTH_EACH)
			add_item(in, h, moves, list[i]);
	for (unsigned k = 0; k < MISSING_KINDS; k++)
		health_rest(h, by_kind[k].missing, seen[k]);
	if (in->missing && missing_dropped(in->missing))
		health_add(h, FOUND_MISSING_NOT_KEPT, "%" PRIu64 " more nodes and links are missing than qosd "
			   "remembers", missing_dropped(in->missing));
	missing_moves_free(moves);
	missing_list_free(list, n);
}
