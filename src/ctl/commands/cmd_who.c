/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Answers `who`: all that qosd knows of a node, in one place: ports and neighbours, partitions, groups and
 * rules of the policy, multicast groups, and the last events that name it.
 */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/commands/cmd_inventory.h"
#include "ctl/commands/cmd_mcast.h"
#include "events/event_json.h"
#include "lib/base/alloc.h"
#include "sa/handler.h"
#include "sa/registry/groups.h"

#define NODES_SHOWN 8
#define RULES_SHOWN 20
#define MULTICAST_SHOWN 20
#define EVENTS_SHOWN 8

/* --- one port --- */

static json_t *json_partitions_of(const struct plan *plan, uint32_t port)
{
	const struct pkey_table *keys = port_pkeys(plan->partitions, port);
	json_t *rows = json_array();

	for (uint32_t i = 0; i < keys->n; i++) {
		uint32_t k = keys->keys[i] ? partition_of_pkey(plan->partitions, keys->keys[i]) : UINT32_MAX;
		const struct policy_partition *part;

		if (k == UINT32_MAX)
			continue;
		part = &plan->policy->partitions[k];
		json_array_append_new(rows, json_pack("{s:o, s:i, s:s, s:o}", "name", json_text(part->name),
			"pkey", part->pkey, "membership", keys->keys[i] & 0x8000 ? "full" : "limited",
			"level", json_text(plan->policy->levels[part->level_index].name)));
	}
	return rows;
}

static json_t *json_groups_of(const struct plan *plan, uint32_t port)
{
	const struct policy *p = plan->policy;
	json_t *names = json_array();

	for (uint32_t i = 0; i < p->n_groups; i++)
		if (group_has(plan->groups, i, port))
			json_array_append_new(names, json_text(p->groups[i].name));
	return names;
}

/* Rules that name a group of the port at either end; those without groups are for everybody. */
static json_t *json_rules_of(const struct plan *plan, uint32_t port, json_int_t *more)
{
	const struct policy *p = plan->policy;
	json_t *rows = json_array();

	for (uint32_t i = 0; i < p->n_rules; i++) {
		const struct policy_rule *rule = &p->rules[i];

		if (!groups_any_has(plan->groups, p, &rule->sources, port) &&
		    !groups_any_has(plan->groups, p, &rule->destinations, port) &&
		    !groups_any_has(plan->groups, p, &rule->either, port))
			continue;
		if (json_array_size(rows) < RULES_SHOWN)
			json_array_append_new(rows, json_rule(p, i));
		else
			++*more;
	}
	return rows;
}

/* MGIDs of the groups that the port is a member of. */
static json_t *json_multicast_of(const struct mcast_db *db, uint64_t guid, json_int_t *more)
{
	json_t *rows = json_array();

	for (size_t i = 0; db && i < mcast_count(db); i++) {
		const struct mcast_group *g = mcast_at(db, i);
		char text[INET6_ADDRSTRLEN];
		size_t n;

		if (!mcast_members_of_port(g, guid, &n))
			continue;
		if (json_array_size(rows) < MULTICAST_SHOWN)
			json_array_append_new(rows, json_string(inet_ntop(AF_INET6, g->mgid, text, sizeof(text))));
		else
			++*more;
	}
	return rows;
}

/* What only an end port has: it is who takes part. */
static void add_end(json_t *row, const struct ctl_call *c, uint32_t port)
{
	const struct plan *plan = c->state->plan;
	const struct sa *sa = c->env->sa;
	json_int_t rules = 0, mcast = 0;

	json_object_set_new(row, "partitions", json_partitions_of(plan, port));
	json_object_set_new(row, "groups", json_groups_of(plan, port));
	json_object_set_new(row, "rules", json_rules_of(plan, port, &rules));
	json_object_set_new(row, "more-rules", json_integer(rules));
	json_object_set_new(row, "multicast", json_multicast_of(sa ? sa->mcast : NULL,
								c->state->f->ports[port].guid, &mcast));
	json_object_set_new(row, "more-multicast", json_integer(mcast));
}

/* --- the node --- */

static bool names_node(const struct event *e, const struct fabric *f, const struct fabric_node *n)
{
	const char *name = fabric_node_desc(f, n);
	char guid[24];

	snprintf(guid, sizeof(guid), "0x%016llx", (unsigned long long)n->guid);
	return strstr(e->text, guid) || (*name && strstr(e->text, name)) || (*n->desc && strstr(e->text, n->desc));
}

/* The last events that name the node. */
static json_t *json_events_of(const struct events *es, const struct fabric *f, const struct fabric_node *n)
{
	const struct event *e, *last[EVENTS_SHOWN];
	json_t *rows = json_array();
	uint64_t next = es ? events_oldest_id(es) : 0, lost = 0;
	size_t found = 0;

	while (es && (e = events_get(es, &next, EVENT_ALL_KINDS, &lost)))
		if (names_node(e, f, n))
			last[found++ % EVENTS_SHOWN] = e;
	for (size_t i = found > EVENTS_SHOWN ? found - EVENTS_SHOWN : 0; i < found; i++)
		json_array_append_new(rows, event_json(es, last[i % EVENTS_SHOWN]));
	return rows;
}

static json_t *json_node(const struct ctl_call *c, uint32_t node)
{
	const struct fabric *f = c->state->f;
	const struct fabric_node *n = &f->nodes[node];
	json_t *ports = json_array(), *row;

	for (unsigned p = 0; p <= n->nports; p++) {
		uint32_t slot = n->port0 + p;

		if (!f->ports[slot].present)
			continue;
		row = json_port_row(c->state, slot);
		if (port_is_end(f, slot))
			add_end(row, c, slot);
		json_array_append_new(ports, row);
	}
	return json_pack("{s:o, s:o, s:o, s:s, s:i, s:b, s:o, s:o}", "description",
			 json_text(fabric_node_desc(f, n)), "node-description", json_text(n->desc),
			 "guid", json_guid(n->guid), "type", fabric_type_name(n), "hops", n->hops,
			 "self", f->ports[f->self].node == node, "ports", ports,
			 "events", json_events_of(c->env->events, f, n));
}

void cmd_who(const struct ctl_call *c, struct reply *r)
{
	json_t *nodes;
	json_int_t more = 0;
	uint32_t port;
	bool *selected;

	if (answer_who_address(c, arg_text(c, "node"), &port, r))
		return;
	if (port != FABRIC_NONE) {
		selected = xcalloc(c->state->f->n_nodes, sizeof(*selected));
		selected[c->state->f->ports[port].node] = true;
	} else {
		selected = select_nodes(c, r);
	}
	nodes = json_array();
	for (uint32_t i = 0; selected && i < c->state->f->n_nodes; i++) {
		if (!selected[i])
			continue;
		if (json_array_size(nodes) < NODES_SHOWN)
			json_array_append_new(nodes, json_node(c, i));
		else
			more++;
	}
	if (selected)
		reply_result(r, json_pack("{s:o, s:I, s:[], s:i}", "nodes", nodes, "more", more, "mcast-groups",
					  "more-groups", 0));
	else
		json_decref(nodes);
	free(selected);
}
