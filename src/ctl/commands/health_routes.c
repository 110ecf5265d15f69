/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Judges routes, the shape of the fabric, and switches whose tables cannot have all routes; see health_judges.h. */
#include "ctl/commands/health_judges.h"

#include <inttypes.h>

#include "ctl/commands/health_withdrawn.h"
#include "plan/routes/choose_engine.h"
#include "plan/routes/fabric_shape.h"

/* what: noun phrase, as in "4 routes to aggregation nodes do not arrive" */
static void add_lost(const struct subnet_state *s, struct health *h, enum health_finding found,
		     const struct route_lost *l, const char *what)
{
	char a[FABRIC_NAME_MAX], b[FABRIC_NAME_MAX];

	if (l->n)
		health_add(h, found, "%" PRIu64 " route%s %s; for example %s to %s", l->n,
			   l->n == 1 ? "" : "s", what, fabric_port_name(s->f, l->src, a, sizeof(a)),
			   fabric_port_name(s->f, l->dst, b, sizeof(b)));
}

/*
 * Routes that do not arrive are an error if hosts need them or the subnet manager does: traps,
 * their answers and counter reads go by LID, whereas SMPs use directed routes.
 */
static void judge_lost_routes(const struct health_input *in, struct health *h)
{
	const struct subnet_state *s = in->state;
	const struct route_report *r = &s->plan->report;
	uint32_t src = r->to_hosts.n ? r->to_hosts.src : r->unreachable_src;
	uint32_t dst = r->to_hosts.n ? r->to_hosts.dst : r->unreachable_dst;
	char a[FABRIC_NAME_MAX], b[FABRIC_NAME_MAX];
	struct buf isolated = { 0 };

	/* other lost routes are reported elsewhere, as lft-too-small, routes-cut or device-refuses */
	if (r->to_hosts.n > s->plan->cut_hosts || r->loops) {
		put_isolated_near(in, src, dst, &isolated);
		health_add(h, FOUND_UNREACHABLE, "%" PRIu64 " of %" PRIu64 " routes from a switch to a LID do "
			   "not arrive, %" PRIu64 " of them to hosts, and %" PRIu64 " of them go in a cycle; "
			   "for example %s to %s%s", r->unreachable, r->pairs, r->to_hosts.n, r->loops,
			   fabric_port_name(s->f, src, a, sizeof(a)),
			   fabric_port_name(s->f, dst, b, sizeof(b)), isolated.n ? isolated.s : "");
		buf_free(&isolated);
	}
	if (plan_tells_inner(s->plan))
		add_lost(s, h, FOUND_UNMANAGED, &r->of_sm,
			 "between switches and the subnet manager do not arrive");
	if (plan_tells_rest(s->plan)) {
		add_lost(s, h, FOUND_AGGREGATION_UNREACHABLE, &r->to_aggregation,
			 "from hosts to aggregation nodes do not arrive");
		add_lost(s, h, FOUND_SWITCH_UNREACHABLE, &r->to_switches,
			 "from hosts to switches themselves do not arrive");
	}
	if (plan_tells_inner(s->plan))
		add_lost(s, h, FOUND_INNER_UNREACHABLE, &r->inner,
			 "from switches to other switches themselves do not arrive");
}

void health_routes(const struct health_input *in, struct health *h)
{
	const struct route_report *r = &in->state->plan->report;

	judge_lost_routes(in, h);
	if (r->credit_loop)
		health_add(h, FOUND_CREDIT_LOOP, "routes go in a cycle of channels: %s",
			   r->credit_loop_text.n ? r->credit_loop_text.s : "?");
}

/*
 * Reports whether the switches form a tree; the cost of missing links is known once routes were
 * measured.
 */
void health_shape(const struct health_input *in, struct health *h)
{
	const struct plan *p = in->state->plan;
	enum shape_state state = plan_shape_state(p);
	struct buf text = { 0 };

	if (state == SHAPE_SOUND)
		return;
	plan_shape_text(p, &text);
	if (in->gauged && in->gauged->compared && in->gauged->g.connected) {
		buf_puts(&text, "; ");
		gauge_print_cost(&in->gauged->g, &in->gauged->plain, &text);
	}
	if (plan_choice(p)) {
		buf_puts(&text, "; ");
		plan_choice_text(p, &text);
	}
	if (state == SHAPE_NO_TREE) {
		health_add(h, FOUND_NO_TREE, "%s", text.s);
	} else {
		put_isolated(in, &text);
		health_add(h, state == SHAPE_COSTS ? FOUND_TREE_COSTS : FOUND_TREE_DAMAGED, "%s", text.s);
	}
	buf_free(&text);
}

void health_unread_switches(const struct health_input *in, struct health *h)
{
	const struct subnet_state *s = in->state;
	struct health_list errors = { h, FOUND_NO_SWITCH_INFO, 0 };
	char name[FABRIC_NAME_MAX];

	for (uint32_t sw = 0; sw < s->f->n_switches; sw++)
		if (s->f->switches[sw].unread)
			health_list_add(&errors, "%s has not answered SwitchInfo: no route uses it until it "
					"does", fabric_node_name(s->f, s->f->switches[sw].node, name, sizeof(name)));
	health_list_end(&errors);
}

void health_table_sizes(const struct health_input *in, struct health *h)
{
	const struct findings *x = &in->state->plan->short_findings;
	struct health_list errors = { h, FOUND_LFT_LOSES, 0 };
	struct health_list warnings = { h, FOUND_LFT_TOO_SMALL, 0 };

	for (size_t i = 0; i < x->n; i++)
		health_list_add(x->v[i].severity == SEV_ERROR ? &errors : &warnings, "%s", x->v[i].text);
	health_list_end(&errors);
	health_list_end(&warnings);
}

/* Reports LIDs behind switches that do not accept routes to them. */
void health_fixed_routes(const struct health_input *in, struct health *h)
{
	const struct findings *cut = &in->state->plan->cut_findings;
	struct health_list errors = { h, FOUND_ROUTES_CUT, 0 };

	for (size_t i = 0; i < cut->n; i++)
		health_list_add(&errors, "%s", cut->v[i].text);
	health_list_end(&errors);
}
