/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Answers `isolate`, and shows isolated places in `withdrawn`.
 *
 * What would cut off hosts that are not named is refused without --force.  The manager's own port is
 * refused always: it would be no use to anybody (isolations.h).
 */
#include "ctl/commands/cmd_withdrawals.h"

#include <inttypes.h>

#include "ctl/commands/cmd_inventory.h"
#include "ctl/commands/withdraw_later.h"
#include "lib/base/alloc.h"

/* --- the list --- */

/* Adds the ends of a cut link that the fabric has.  True: packets may pass it still. */
static bool add_ends(json_t *list, const struct fabric *f, const struct isolation_cut *cut)
{
	bool at_work = false;

	for (unsigned end = 0; end < 2; end++) {
		uint32_t node = map64_get(&f->node_by_guid, cut->guid[end]);
		const struct fabric_port *p;
		char name[FABRIC_NAME_MAX];

		if (node == MAP64_NONE || cut->num[end] > f->nodes[node].nports)
			continue;
		p = fabric_port(f, node, cut->num[end]);
		fabric_port_name(f, f->nodes[node].port0 + p->num, name, sizeof(name));
		json_array_append_new(list, json_pack("{s:o, s:o, s:i, s:s}", "name", json_text(name),
						      "node", json_guid(cut->guid[end]), "port", (int)p->num,
						      "state", port_state_name(p->state)));
		at_work |= p->state >= IB_PORT_ARMED_S;
	}
	return at_work;
}

json_t *json_isolated(const struct withdrawal *x, const struct fabric *f, const struct isolation_cuts *cuts,
		      bool in_force)
{
	json_t *row = json_withdrawal(x), *ends = json_array();
	struct withdrawal_place at = withdrawal_place(x, f);
	bool at_work = isolation_pending(x, f);
	const struct isolation_cut *cut;
	uint32_t links = 0;
	unsigned num = 0;

	while (cuts && (cut = isolation_cuts_of(cuts, x, &num))) {
		at_work |= add_ends(ends, f, cut);
		links++;
	}
	json_object_set_new(row, "state", json_string(!in_force || at_work ? "isolating" :
						      !links && at.node == FABRIC_NONE ? "absent" : "isolated"));
	json_object_set_new(row, "links", json_integer(links));
	json_object_set_new(row, "ends", ends);
	return row;
}

/* --- the command --- */

static void put_hosts(const struct fabric *f, const struct isolation_loss *loss, struct buf *text)
{
	char name[FABRIC_NAME_MAX];

	for (uint32_t i = 0; i < loss->hosts && i < ISOLATION_SHOWN; i++)
		buf_printf(text, "%s%s", i ? ", " : " (", fabric_port_name(f, loss->first[i], name, sizeof(name)));
	if (loss->hosts)
		buf_puts(text, loss->hosts > ISOLATION_SHOWN ? ", ...)" : ")");
}

/* Whether the list may be put in force as the user asks. */
static bool is_allowed(const struct withdrawing *x, struct reply *r)
{
	const char *name = x->places->v.v[0].name, *more = x->places->v.n > 1 ? " and the others" : "";
	const struct isolation_loss *loss = &x->loss;
	struct buf text = { 0 };

	for (size_t i = 0; i < x->places->v.n; i++) {
		if (!isolation_is_own(&x->places->v.v[i], x->state->f))
			continue;
		reply_error(r, NULL, "%s: the subnet manager's own link is never isolated; let a standby "
			    "manage the subnet first", x->places->v.v[i].name);
		return false;
	}
	if ((!loss->hosts && !loss->switches) || x->force)
		return true;
	put_hosts(x->state->f, loss, &text);
	reply_error(r, NULL, "%s%s: this would cut off %" PRIu32 " other host%s%s and %" PRIu32 " other switch%s; "
		    "--force isolates it nevertheless", name, more, loss->hosts, loss->hosts == 1 ? "" : "s",
		    text.n ? text.s : "", loss->switches, loss->switches == 1 ? "" : "es");
	buf_free(&text);
	return false;
}

static json_t *json_loss(const struct fabric *f, const struct isolation_loss *loss, const struct withdrawals *places)
{
	json_t *rows = json_array(), *first = json_array();
	char name[FABRIC_NAME_MAX];

	for (uint32_t i = 0; i < loss->hosts && i < ISOLATION_SHOWN; i++)
		json_array_append_new(first, json_text(fabric_port_name(f, loss->first[i], name, sizeof(name))));
	for (size_t i = 0; i < places->v.n; i++) {
		json_t *row = json_isolated(&places->v.v[i], f, NULL, false);

		json_object_set_new(row, "hosts", json_integer(loss->hosts));
		json_object_set(row, "first-hosts", first);
		json_array_append_new(rows, row);
	}
	json_decref(first);
	return rows;
}

static void judge_loss(struct withdrawing *x)
{
	x->loss = isolations_loss(x->list, x->before, x->state->f);
	x->rows = json_loss(x->state->f, &x->loss, x->places);
}

void cmd_isolate(const struct ctl_call *c, struct reply *r)
{
	static const struct withdrawing_ops ops = { judge_loss, is_allowed };
	struct withdrawals *w = withdrawals_begin(c, r), *places = withdrawals_new();
	const char *text;
	struct withdrawal x;
	bool good = w && withdrawal_begin(c, WITHDRAWAL_ISOLATED, &x, r);

	for (size_t i = 0; good && (text = arg_text_at(c, "what", i)); i++)
		good = withdrawal_find_place(c, text, &x, r) && withdrawals_add(w, places, &x, r);
	if (good) {
		withdraw_later(c, w, places, &ops, r);
		return;
	}
	withdrawals_free(w);
	withdrawals_free(places);
}
