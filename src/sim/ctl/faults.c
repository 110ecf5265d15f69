/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Commands for fault rules, on packets and on answers of devices, and for freezing the fabric. */
#include "sim/ctl/command.h"

#include <string.h>

#include "sim/dev/device.h"
#include "sim/net/fault.h"

#define DELAY_US 1000	/* default delay */

static const char *const effects[] = {
	[FAULT_DROP] = "drop", [FAULT_DELAY] = "delay", [FAULT_DUPLICATE] = "duplicate",
	[FAULT_REORDER] = "reorder", [FAULT_CORRUPT] = "corrupt", [FAULT_DAMAGE] = "damage",
};

static const struct fault_rule any_packet = {
	.chance = 1, .left = UINT32_MAX, .node = SIM_NONE, .port = SIM_NONE, .spared = SIM_NONE,
};

static const char *effect_by_number(unsigned i)
{
	return i < ARRAY_SIZE(effects) ? effects[i] : NULL;
}

/* Parses a node or a port. */
static bool get_place(struct call *c, const char *text, struct fault_rule *r)
{
	struct buf why = { 0 };

	if (!text)
		return true;
	r->node = find_node_by_text(c->f, text, &why);
	buf_free(&why);
	return r->node != SIM_NONE || get_port(c, text, &r->port);
}

static bool get_packets(struct call *c, struct fault_rule *r)
{
	const char *class = option(c, "--class"), *method = option(c, "--method");
	const char *attr = option(c, "--attr");

	return (!class || get_class(c, class, &r->mgmt_class)) &&
	       (!method || get_method(c, method, &r->method)) &&
	       (!attr || get_attr(c, attr, &r->mgmt_class, &r->attr));
}

static bool get_delay(struct call *c, struct fault_rule *r)
{
	const char *text = option(c, "--for");

	if (r->effect == FAULT_DELAY || r->effect == FAULT_REORDER) {
		r->delay_us = DELAY_US;
		return get_time(c, "--for", text, &r->delay_us);
	}
	return !text || refuse(c, "--for applies to delay and reorder only");
}

/* Parses the share of nodes whose packets the rule applies to. */
static bool get_share(struct call *c, struct fault_rule *r)
{
	const char *text = option(c, "--share"), *spare = option(c, "--spare");
	uint32_t spared = SIM_NONE;
	uint64_t pick = 1;
	double share;

	if (!text)
		return (!spare && !option(c, "--pick")) ||
		       refuse(c, "--spare and --pick need --share");
	if (option(c, "--at"))
		return refuse(c, "--share and --at exclude each other");
	if (!get_percent(c, "--share", text, &share) ||
	    !get_number(c, "--pick", option(c, "--pick"), 0, UINT64_MAX, &pick) ||
	    (spare && !get_node(c, spare, &spared)))
		return false;
	fault_share(c->f, r, share, pick, spared);
	return true;
}

static bool add_rule(struct call *c, struct fault_rule *r)
{
	uint64_t count = UINT32_MAX;

	if (!get_share(c, r) ||
	    !get_percent(c, "--chance", option(c, "--chance"), &r->chance) ||
	    !get_number(c, "--count", option(c, "--count"), 1, UINT32_MAX - 1, &count))
		return false;
	r->left = (uint32_t)count;
	c->result = json_pack("{s:I}", "id", (json_int_t)fault_add(c->s, r));
	return true;
}

bool cmd_fault_add(struct call *c)
{
	struct fault_rule r = any_packet;
	unsigned effect;

	if (!get_word(c, "effect", c->word[0], effect_by_number, &effect))
		return false;
	r.effect = (enum fault_effect)effect;
	return get_packets(c, &r) && get_delay(c, &r) &&
	       get_place(c, option(c, "--at"), &r) && add_rule(c, &r);
}

bool cmd_fault_falsify(struct call *c)
{
	const char *at = option(c, "--at");
	struct fault_rule r = any_packet;

	if (!get_word(c, "falsehood", c->word[0], falsehood_name, &r.falsehood) ||
	    (at && !get_node(c, at, &r.node)))
		return false;
	r.effect = FAULT_FALSIFY;
	r.mgmt_class = CLASS_SM_LID;
	r.method = METHOD_GET_RESP;
	r.attr = falsehood_attr(r.falsehood);
	return add_rule(c, &r);
}

bool cmd_fault_kinds(struct call *c)
{
	const char *name;

	c->result = json_array();
	for (unsigned i = 0; (name = falsehood_name(i)); i++)
		json_array_append_new(c->result, json_pack(
			"{s:s, s:o}", "falsehood", name, "attribute", falsehood_attr(i) ?
			json_attr(CLASS_SM_LID, falsehood_attr(i)) : json_null()));
	return true;
}

static json_t *place(const struct sim_fabric *f, const struct fault_rule *r)
{
	if (r->port != SIM_NONE)
		return json_port(f, r->port);
	return r->node != SIM_NONE ? json_text(f->nodes[r->node].desc) : json_null();
}

/* The nodes of a rule's share. */
static json_t *nodes(const struct sim_fabric *f, const struct fault_rule *r)
{
	json_t *list;

	if (!r->below)
		return json_null();
	list = json_array();
	for (uint32_t i = 0; i < f->n_nodes; i++)
		if (fault_is_of(f, r, i))
			json_array_append_new(list, json_text(f->nodes[i].desc));
	return list;
}

static const char *effect_name(const struct fault_rule *r)
{
	return r->effect == FAULT_FALSIFY ? falsehood_name(r->falsehood) : effects[r->effect];
}

static json_t *describe(const struct sim_fabric *f, const struct fault_rule *r)
{
	bool waits = r->effect == FAULT_DELAY || r->effect == FAULT_REORDER;

	return json_pack("{s:I, s:s, s:f, s:o, s:o, s:o, s:o, s:o, s:I, s:o, s:o}",
			 "id", (json_int_t)r->id,
			 "effect", effect_name(r),
			 "chance", r->chance,
			 "class", r->mgmt_class ? json_class(r->mgmt_class) : json_null(),
			 "method", r->method ? json_method(r->method) : json_null(),
			 "attribute", r->attr ? json_attr(r->mgmt_class, r->attr) : json_null(),
			 "seconds", waits ? json_seconds(r->delay_us) : json_null(),
			 "left", r->left != UINT32_MAX ? json_integer(r->left) : json_null(),
			 "hits", (json_int_t)r->hits,
			 "at", place(f, r),
			 "nodes", nodes(f, r));
}

bool cmd_fault_list(struct call *c)
{
	c->result = json_array();
	for (size_t i = 0; i < c->s->faults->rules.n; i++)
		json_array_append_new(c->result, describe(c->f, &c->s->faults->rules.v[i]));
	return true;
}

bool cmd_fault_remove(struct call *c)
{
	uint64_t id = 0;

	if (strcmp(c->word[0], "all") != 0 &&
	    !get_number(c, "ID", c->word[0], 1, UINT32_MAX, &id))
		return false;
	return fault_remove(c->s, (uint32_t)id) || id == 0 ||
	       refuse(c, "no fault %s", c->word[0]);
}

/* Whether the rule is one that `loss` makes. */
static bool is_loss(const struct fault_rule *r)
{
	return r->effect == FAULT_DROP && r->mgmt_class == CLASS_SM_LID && !r->method &&
	       !r->attr && r->node == SIM_NONE && r->port == SIM_NONE && r->left == UINT32_MAX;
}

bool cmd_loss(struct call *c)
{
	struct fault_rule r = any_packet;

	if (!get_percent(c, "PERCENT", c->word[0], &r.chance))
		return false;
	for (size_t i = c->s->faults->rules.n; i-- > 0; )
		if (is_loss(&c->s->faults->rules.v[i]))
			fault_remove(c->s, c->s->faults->rules.v[i].id);
	r.effect = FAULT_DROP;
	r.mgmt_class = CLASS_SM_LID;
	if (r.chance > 0)
		fault_add(c->s, &r);
	return true;
}

bool cmd_freeze(struct call *c)
{
	c->s->frozen = is_named(c, "freeze");
	return true;
}
