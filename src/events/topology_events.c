/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Compares two published states and makes events of the differences; see topology_events.h.
 *
 * Nodes correspond by GUID, ports by node and number: an index into one fabric means nothing in
 * another.
 */
#include "events/topology_events.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/mad.h>

#include "lib/base/alloc.h"
#include "lib/iba/iba_names.h"
#include "lib/iba/units.h"

/* One fabric in a comparison with the other. */
struct side {
	const struct fabric *f, *other;
	uint32_t *node;		/* [node of f]: the node in other, or FABRIC_NONE (equal to MAP64_NONE) */
	uint8_t *same;		/* [node of f]: known to be unchanged; NULL: none is */
};

struct telling {
	const struct subnet_state *old, *now;
	struct side then, here;		/* then: old against now, empty without old; here: now against old */
	const struct topology_listener *to;
	unsigned told;
	uint32_t nodes_left, links_left;	/* number of events beyond the limit */
};

char *port_link_text(const struct fabric_port *p, char text[LINK_TEXT])
{
	uint8_t info[sizeof(p->info)];

	memcpy(info, p->info, sizeof(info));	/* mad_get_field() takes no const */
	return link_text(mad_get_field(info, 0, IB_PORT_LINK_WIDTH_ACTIVE_F),
			 mad_get_field(info, 0, IB_PORT_LINK_SPEED_ACTIVE_F),
			 ib_ext_active(info), p->fdr10, text,
			 LINK_TEXT);
}

bool port_is_duplicate(const struct fabric *f, uint32_t port, uint32_t *first)
{
	if (!port_is_end(f, port) || !f->ports[port].guid)
		return false;
	*first = fabric_find_port(f, f->ports[port].guid);
	return *first != FABRIC_NONE && *first != port;
}

/* Whether another event fits the limit; if not, counts it. */
static bool may_tell(struct telling *t, uint32_t *left)
{
	if (t->told < TOPOLOGY_EVENTS_MAX) {
		t->told++;
		return true;
	}
	++*left;
	return false;
}

static void tell(const struct telling *t, const struct event *e)
{
	t->to->event(t->to->arg, e);
}

static void differs(const struct telling *t, const struct topology_difference *d)
{
	if (t->to->differs)
		t->to->differs(t->to->differs_arg, d);
}

/* --- nodes --- */

static void tell_node(struct telling *t, const struct fabric *f, uint32_t node, bool came)
{
	const struct fabric_node *n = &f->nodes[node];
	bool sw = node_is_switch(n);
	struct event e;

	differs(t, &(struct topology_difference){ .change = came ? NODE_CAME : NODE_WENT, .f = f,
						  .node = node });
	if (!may_tell(t, &t->nodes_left))
		return;
	event_make(&e, came ? (sw ? EVENT_SWITCH_CAME : EVENT_NODE_CAME) :
			      (sw ? EVENT_SWITCH_WENT : EVENT_NODE_WENT), "%s %s",
		   NODE_NAME(f, node), came ? "came" : "is gone");
	event_guid(&e, "node", n->guid);
	event_text(&e, "description", "%s", n->desc);
	event_text(&e, "type", "%s", fabric_type_name(n));
	tell(t, &e);
}

/* Reports the nodes that the other fabric lacks. */
static void tell_nodes(struct telling *t, const struct side *s, bool came)
{
	for (uint32_t i = 0; i < s->f->n_nodes; i++)
		if (s->node[i] == FABRIC_NONE)
			tell_node(t, s->f, i, came);
}

/* --- links --- */

/* The same port in the other fabric, or FABRIC_NONE. */
static uint32_t slot_in(const struct side *s, uint32_t port)
{
	const struct fabric_port *p = &s->f->ports[port];
	uint32_t node = s->node[p->node];

	if (node == FABRIC_NONE || p->num > s->other->nodes[node].nports)
		return FABRIC_NONE;
	return s->other->nodes[node].port0 + p->num;
}

static bool is_known(const struct side *s, uint32_t port)
{
	return s->node[s->f->ports[port].node] != FABRIC_NONE;
}

/* Whether the port has a link to the same port in both fabrics. */
static bool has_same_link(const struct side *s, uint32_t port)
{
	uint32_t there = slot_in(s, port);

	return there != FABRIC_NONE && s->other->ports[there].peer != FABRIC_NONE &&
	       slot_in(s, s->f->ports[port].peer) == s->other->ports[there].peer;
}

/* Whether a port of a CA or router has links to different ports in the two fabrics. */
static bool has_moved(const struct side *s, uint32_t port)
{
	uint32_t there;

	if (node_is_switch(port_node(s->f, port)))
		return false;
	there = slot_in(s, port);
	return there != FABRIC_NONE && s->other->ports[there].peer != FABRIC_NONE &&
	       !has_same_link(s, port);
}

static void add_ends(struct event *e, const struct fabric *f, uint32_t port)
{
	const char *const names[2][3] = { { "node", "port", "name" },
					  { "far-node", "far-port", "far-name" } };

	for (unsigned i = 0; i < 2; i++) {
		uint32_t end = i ? f->ports[port].peer : port;

		event_guid(e, names[i][0], port_node(f, end)->guid);
		event_number(e, names[i][1], f->ports[end].num);
		event_text(e, names[i][2], "%s", PORT_NAME(f, end));
	}
}

static void tell_link(struct telling *t, const struct fabric *f, uint32_t port, bool up)
{
	char link[LINK_TEXT];
	struct event e;

	differs(t, &(struct topology_difference){ .change = up ? LINK_CAME : LINK_WENT, .f = f,
						  .port = port });
	if (!may_tell(t, &t->links_left))
		return;
	event_make(&e, up ? EVENT_LINK_UP : EVENT_LINK_DOWN, "link %s to %s is %s",
		   PORT_NAME(f, port), PORT_NAME(f, f->ports[port].peer), up ? "up" : "down");
	add_ends(&e, f, port);
	event_text(&e, "link", "%s", port_link_text(&f->ports[port], link));
	tell(t, &e);
}

static void tell_if_changed(struct telling *t, uint32_t port)
{
	const struct fabric *f = t->now->f, *of = t->old->f;
	uint32_t before = slot_in(&t->here, port);
	char is[LINK_TEXT], was[LINK_TEXT];
	struct event e;

	port_link_text(&f->ports[port], is);
	port_link_text(&of->ports[before], was);
	if (strcmp(is, was) == 0)
		return;
	differs(t, &(struct topology_difference){ .change = LINK_CHANGED, .f = f, .port = port,
						  .before = of, .was = before });
	if (!may_tell(t, &t->links_left))
		return;
	event_make(&e, EVENT_LINK_CHANGED, "link %s to %s runs at %s (was %s)", PORT_NAME(f, port),
		   PORT_NAME(f, f->ports[port].peer), is, was);
	if (rate_compare(f->ports[port].rate, of->ports[before].rate) >= 0)
		e.severity = SEV_INFO;
	add_ends(&e, f, port);
	event_text(&e, "link", "%s", is);
	event_text(&e, "was", "%s", was);
	tell(t, &e);
}

static void tell_moved(struct telling *t, uint32_t port)
{
	const struct fabric *f = t->now->f, *of = t->old->f;
	uint32_t before = of->ports[slot_in(&t->here, port)].peer;
	const char *was = PORT_NAME(of, before);
	struct event e;

	differs(t, &(struct topology_difference){ .change = LINK_MOVED, .f = f, .port = port });
	if (!may_tell(t, &t->nodes_left))
		return;
	event_make(&e, EVENT_NODE_MOVED, "%s moved to %s (was at %s)", PORT_NAME(f, port),
		   PORT_NAME(f, f->ports[port].peer), was);
	add_ends(&e, f, port);
	event_text(&e, "was", "%s", was);
	tell(t, &e);
}

/* Reports a link that the other fabric lacks, if that has both nodes, and neither end moved. */
static void tell_link_if_other(struct telling *t, const struct side *s, uint32_t port, bool up)
{
	uint32_t far = s->f->ports[port].peer;

	if (!has_same_link(s, port) && is_known(s, port) && is_known(s, far) &&
	    !has_moved(s, port) && !has_moved(s, far))
		tell_link(t, s->f, port, up);
}

static uint32_t count_links(const struct fabric *f)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < f->n_ports; i++)
		n += f->ports[i].peer != FABRIC_NONE && i < f->ports[i].peer;
	return n;
}

struct ports {			/* as VEC() */
	uint32_t *v;
	size_t n, cap;
};

/* The lower ends of all links in order, without those of nodes known to be unchanged. */
static struct ports lower_ends(const struct side *s)
{
	struct ports list = { 0 };

	for (uint32_t node = 0; node < s->f->n_nodes; node++) {
		const struct fabric_node *n = &s->f->nodes[node];

		if (s->same && s->same[node])
			continue;
		for (uint32_t i = n->port0; i <= n->port0 + n->nports; i++)
			if (s->f->ports[i].peer != FABRIC_NONE && s->f->ports[i].peer > i)
				*vec_push(&list) = i;
	}
	return list;
}

/*
 * Finds the few changed links of a large fabric in one pass.  odd: their lower ends; returns the
 * number of links that connect the same ports in both fabrics.
 */
static uint32_t find_odd(const struct side *s, uint32_t **odd, uint32_t *n_odd)
{
	struct ports ends = lower_ends(s), list = { 0 };
	uint32_t same = 0;

	for (size_t i = 0; i < ends.n; i++) {
		const struct fabric_port *p = &s->f->ports[ends.v[i]], *q;

		if (has_same_link(s, ends.v[i])) {
			same++;
			q = &s->other->ports[slot_in(s, ends.v[i])];
			if (p->fdr10 == q->fdr10 && !memcmp(p->info, q->info, sizeof(p->info)))
				continue;
		}
		*vec_push(&list) = ends.v[i];
	}
	vec_free(&ends);
	*odd = list.v;
	*n_odd = (uint32_t)list.n;
	return same;
}

static int by_place(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Reports changed links in port order; a move is reported at the end that moved. */
static void tell_changed_links(struct telling *t, const uint32_t *odd, uint32_t n_odd)
{
	const struct fabric *f = t->now->f;
	uint32_t *end = xmalloc(2 * n_odd * sizeof(*end)), n = 0;

	for (uint32_t i = 0; i < n_odd; i++) {
		end[n++] = odd[i];
		end[n++] = f->ports[odd[i]].peer;
	}
	if (n)
		qsort(end, n, sizeof(*end), by_place);
	for (uint32_t i = 0; i < n; i++) {
		if (has_moved(&t->here, end[i]))
			tell_moved(t, end[i]);
		else if (end[i] < f->ports[end[i]].peer && has_same_link(&t->here, end[i]))
			tell_if_changed(t, end[i]);
	}
	free(end);
}

static void tell_links(struct telling *t)
{
	uint32_t *odd, n_odd, same = find_odd(&t->here, &odd, &n_odd);
	struct ports ends = { 0 };

	if (t->then.same || count_links(t->old->f) != same)
		ends = lower_ends(&t->then);
	for (size_t i = 0; i < ends.n; i++)
		tell_link_if_other(t, &t->then, ends.v[i], false);
	vec_free(&ends);
	for (uint32_t i = 0; i < n_odd; i++)
		tell_link_if_other(t, &t->here, odd[i], true);
	tell_changed_links(t, odd, n_odd);
	free(odd);
}

static void tell_rest(struct telling *t)
{
	struct event e;

	if (!t->nodes_left && !t->links_left)
		return;
	event_make(&e, EVENT_MORE_CHANGES, "… %" PRIu32 " more nodes and %" PRIu32 " more links changed at "
		   "once and are not listed", t->nodes_left, t->links_left);
	event_number(&e, "nodes", t->nodes_left);
	event_number(&e, "links", t->links_left);
	tell(t, &e);
}

/* --- faults --- */

static void tell_duplicates(struct telling *t)
{
	const struct fabric *f = t->now->f;

	for (uint32_t i = 0; f->n_nameless && i < f->n_ports; i++) {
		uint32_t first, before, other;
		struct event e;

		if (!port_is_duplicate(f, i, &first))
			continue;
		before = t->old ? slot_in(&t->here, i) : FABRIC_NONE;
		if (before != FABRIC_NONE && port_is_duplicate(t->old->f, before, &other))
			continue;
		event_make(&e, EVENT_DUPLICATE_GUID, "%s has the port GUID of %s", PORT_NAME(f, i),
			   PORT_NAME(f, first));
		event_guid(&e, "guid", f->ports[i].guid);
		event_guid(&e, "node", port_node(f, i)->guid);
		event_guid(&e, "far-node", port_node(f, first)->guid);
		tell(t, &e);
	}
}

static uint64_t fault_key(const struct subnet_state *s, const struct device_fault *x)
{
	return hash64(s->f->nodes[x->node].guid) + x->kind + ((uint64_t)x->attr << 8);
}

static void tell_fault(struct telling *t, const struct device_fault *x)
{
	static const enum event_kind as[] = {
		[FAULT_SILENT] = EVENT_DEVICE_SILENT, [FAULT_REFUSES] = EVENT_DEVICE_REFUSES,
		[FAULT_KEEPS] = EVENT_DEVICE_KEEPS, [FAULT_KEY_MISMATCH] = EVENT_DEVICE_KEY_MISMATCH,
	};
	const struct fabric *f = t->now->f;
	const char *name = NODE_NAME(f, x->node);
	struct event e;

	if (x->kind == FAULT_SILENT)
		event_make(&e, as[x->kind], "%s does not answer", name);
	else if (x->kind == FAULT_KEY_MISMATCH)
		event_make(&e, as[x->kind], "%s has an unknown M_Key", name);
	else if (x->kind == FAULT_REFUSES)
		event_make(&e, as[x->kind], "%s refuses %" PRIu32 " Sets of %s with status 0x%04x", name,
			   x->n, ib_attr_name(x->attr), x->status);
	else
		event_make(&e, as[x->kind], "%s keeps %" PRIu32 " values that differ from those set",
			   name, x->n);
	event_guid(&e, "node", f->nodes[x->node].guid);
	event_text(&e, "description", "%s", f->nodes[x->node].desc);
	event_number(&e, "values", x->n);
	tell(t, &e);
}

static void tell_recovered(struct telling *t, uint64_t guid)
{
	uint32_t node = map64_get(&t->now->f->node_by_guid, guid);
	struct event e;

	if (node == MAP64_NONE)
		return;		/* the node is gone, which was reported */
	event_make(&e, EVENT_DEVICE_RECOVERED, "%s works correctly again",
		   NODE_NAME(t->now->f, node));
	event_guid(&e, "node", guid);
	tell(t, &e);
}

static void tell_faults(struct telling *t)
{
	const struct subnet_state *old = t->old, *now = t->now;
	uint32_t n_old = old ? old->n_faults : 0, last = FABRIC_NONE;
	struct map64 before, faulty;

	map64_init(&before, n_old);
	map64_init(&faulty, now->n_faults);
	for (uint32_t i = 0; i < n_old; i++)
		map64_put(&before, fault_key(old, &old->faults[i]), 1);
	for (uint32_t i = 0; i < now->n_faults; i++) {
		map64_put(&faulty, now->f->nodes[now->faults[i].node].guid, 1);
		if (map64_get(&before, fault_key(now, &now->faults[i])) == MAP64_NONE &&
		    i < TOPOLOGY_EVENTS_MAX)
			tell_fault(t, &now->faults[i]);
	}
	for (uint32_t i = 0; i < n_old && i < TOPOLOGY_EVENTS_MAX; i++) {
		uint64_t guid = old->f->nodes[old->faults[i].node].guid;

		if (old->faults[i].node != last && map64_get(&faulty, guid) == MAP64_NONE)
			tell_recovered(t, guid);
		last = old->faults[i].node;
	}
	map64_free(&before);
	map64_free(&faulty);
}

/* --- policy --- */

/* The policy as loaded from its file, without dynamic partitions. */
static const struct shared_policy *file_policy(const struct subnet_state *s)
{
	return s->policy->base ? s->policy->base : s->policy;
}

static void tell_policy(struct telling *t)
{
	const struct shared_policy *p = file_policy(t->now);
	struct event e;

	if (t->old && file_policy(t->old) == p)
		return;
	event_make(&e, EVENT_POLICY_IN_FORCE, "all devices have policy %s", p->p->file);
	event_text(&e, "file", "%s", p->p->file);
	event_text(&e, "checksum", "%016" PRIx64, p->p->checksum);
	tell(t, &e);
}

static void side_init(struct side *s, const struct fabric *f, const struct fabric *other)
{
	uint32_t next = 0;

	*s = (struct side){ f, other, xmalloc(f->n_nodes * sizeof(*s->node)), NULL };
	for (uint32_t i = 0; i < f->n_nodes; i++) {
		uint64_t guid = f->nodes[i].guid;

		/* usually both fabrics have the same order */
		s->node[i] = next < other->n_nodes && other->nodes[next].guid == guid ? next :
			     map64_get(&other->node_by_guid, guid);
		if (s->node[i] != FABRIC_NONE)
			next = s->node[i] + 1;
	}
}

/* Copies into both sides which nodes the later state says are unchanged. */
static void take_same(struct telling *t)
{
	struct side *here = &t->here, *then = &t->then;

	if (!t->now->changed || t->now->since != t->old->generation)
		return;
	here->same = xmalloc(here->f->n_nodes);
	then->same = xcalloc(then->f->n_nodes, 1);
	for (uint32_t i = 0; i < here->f->n_nodes; i++) {
		here->same[i] = !t->now->changed[i] && here->node[i] != FABRIC_NONE;
		if (here->same[i])
			then->same[here->node[i]] = 1;
	}
}

static void side_free(struct side *s)
{
	free(s->node);
	free(s->same);
}

void topology_events(const struct subnet_state *old, const struct subnet_state *now,
		     const struct topology_listener *to)
{
	struct telling t = { .old = old, .now = now, .to = to };

	if (old) {
		side_init(&t.then, old->f, now->f);
		side_init(&t.here, now->f, old->f);
		take_same(&t);
		tell_nodes(&t, &t.then, false);
		tell_nodes(&t, &t.here, true);
		tell_links(&t);
		tell_rest(&t);
	}
	tell_duplicates(&t);
	tell_faults(&t);
	tell_policy(&t);
	side_free(&t.then);
	side_free(&t.here);
}

static void no_event(void *arg, const struct event *e)
{
	(void)arg;
	(void)e;
}

void topology_lacks(const struct fabric *known, const struct fabric *now,
		    void (*fn)(void *arg, const struct topology_difference *d), void *arg)
{
	const struct topology_listener to = { .event = no_event, .differs = fn, .differs_arg = arg };
	struct telling t = { .to = &to };
	struct ports ends;

	side_init(&t.then, known, now);
	tell_nodes(&t, &t.then, false);
	ends = lower_ends(&t.then);
	for (size_t i = 0; i < ends.n; i++)
		tell_link_if_other(&t, &t.then, ends.v[i], false);
	vec_free(&ends);
	side_free(&t.then);
}
