/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The nodes and links of a report, in columns: the i-th element of each array is of the i-th node or link.
 *
 * Links are in order of their lower port slot, which is their end "a".  Columns that end in "-a" and "-b" are
 * of the port at that end, which sends towards the other.
 */
#include <stdlib.h>

#include "ctl/report/report.h"
#include "ctl/report/report_columns.h"
#include "lib/base/alloc.h"
#include "lib/iba/units.h"
#include "routing/gauge/gauge.h"
#include "routing/places.h"

/* --- nodes --- */

static json_t *json_shape_of(const struct route_places *p)
{
	static const char *const kinds[] = {
		[PLACES_RANKS] = "ranks", [PLACES_GRID] = "grid", [PLACES_DRAGONFLY] = "dragonfly",
	};
	json_t *lengths = json_array(), *rings = json_array();

	for (unsigned d = 0; d < p->n_dims; d++) {
		json_array_append_new(lengths, json_integer(p->length[d]));
		json_array_append_new(rings, json_boolean(p->ring[d]));
	}
	return json_pack("{s:s, s:o, s:o}", "kind", kinds[p->kind], "lengths", lengths, "rings", rings);
}

/* "at" has all coordinates of the first switch, then those of the next; -1: it has no place. */
static json_t *json_switches(const struct fabric *f, const struct route_places *p)
{
	struct column c[] = { column("node"), column("at") };
	json_t *o = json_object();

	for (uint32_t sw = 0; sw < f->n_switches; sw++) {
		put(&c[0], f->switches[sw].node);
		for (unsigned d = 0; d < p->n_dims; d++) {
			uint16_t at = p->at[sw * p->n_dims + d];

			put(&c[1], at == PLACES_NOWHERE ? -1 : at);
		}
	}
	set_columns(o, c, ARRAY_SIZE(c));
	return o;
}

void report_nodes(json_t *out, const struct subnet_state *s)
{
	const struct fabric *f = s->f;
	json_t *names = json_array(), *guids = json_array(), *lids = json_array();
	struct buf types = { 0 };
	struct route_places p;
	json_int_t ends = 0;

	for (uint32_t i = 0; i < f->n_nodes; i++) {
		const struct fabric_node *n = &f->nodes[i];

		json_array_append_new(names, json_text(fabric_node_desc(f, n)));
		json_array_append_new(guids, json_sprintf("%llx", (unsigned long long)n->guid));
		buf_add(&types, fabric_type_name(n), 1);
		for (unsigned num = 0; num <= n->nports; num++)
			ends += port_is_host(f, n->port0 + num);
	}
	for (uint32_t i = 0; i < f->n_nodes; i++) {
		const struct fabric_node *n = &f->nodes[i];
		unsigned num = node_is_switch(n) ? 0 : 1;

		while (num && num < n->nports && !s->plan->lid[n->port0 + num])
			num++;
		json_array_append_new(lids, json_integer(s->plan->lid[n->port0 + num]));
	}
	json_object_set_new(out, "nodes", json_pack("{s:o, s:o, s:o, s:o}", "name", names, "guid", guids,
						    "type", json_text(types.s ? types.s : ""), "lid", lids));
	route_places(f, s->plan->order, &p);
	json_object_set_new(out, "shape", json_shape_of(&p));
	json_object_set_new(out, "switches", json_switches(f, &p));
	json_object_set_new(out, "ends", json_integer(ends));
	route_places_free(&p);
	buf_free(&types);
}

/* --- links --- */

static uint32_t *loads_of(const struct subnet_state *s)
{
	const struct plan *p = s->plan;
	const struct route_request r = {
		.f = s->f, .lid = p->lid, .lmc = p->lmc_in_force ? p->lmc_in_force : p->lmc,
		.lid_top = p->lid_top, .order = p->order, .layers = p->layers,
	};
	uint32_t *routes = xcalloc(s->f->n_ports + 1u, sizeof(*routes));

	if (p->lfts)
		gauge_loads(&r, p->lfts, routes);
	return routes;
}

static json_int_t kind_of(const struct feasibility *v, uint32_t port)
{
	return v->kind_of_port[port] == UINT16_MAX ? -1 : v->kind_of_port[port];
}

/* Text by the number of a link: why it deviates. */
static json_t *json_why(const struct feasibility *v, const uint32_t *link_of_port)
{
	json_t *why = json_object();
	char number[16];

	for (uint32_t i = 0; i < v->n_deviations; i++) {
		const struct deviation *d = &v->deviations[i];

		snprintf(number, sizeof(number), "%u", link_of_port[d->port]);
		json_object_set_new(why, number, json_text(d->why));
	}
	return why;
}

enum { A, A_PORT, B, B_PORT, RATE, VLS, STATE, HELD, ROUTES_A, ROUTES_B, KIND_A, KIND_B };

/* "rate" is in tenths of a Gb/s. */
static void put_link(const struct column *c, const struct subnet_state *s, const struct feasibility *v,
		     const uint32_t *routes, uint32_t port)
{
	const struct fabric_port *a = &s->f->ports[port], *b = &s->f->ports[a->peer];

	put(&c[A], a->node);
	put(&c[A_PORT], a->num);
	put(&c[B], b->node);
	put(&c[B_PORT], b->num);
	put(&c[RATE], rate_tenths(paths_of_port(s->f, port).rate));
	put(&c[VLS], ib_vls_from_code(s->plan->tables->op_vls[port]));
	put(&c[STATE], a->state);
	put(&c[HELD], a->held);
	put(&c[ROUTES_A], routes[port]);
	put(&c[ROUTES_B], routes[a->peer]);
	put(&c[KIND_A], kind_of(v, port));
	put(&c[KIND_B], kind_of(v, a->peer));
}

void report_links(json_t *out, const struct subnet_state *s, const struct feasibility *v)
{
	const struct column c[] = {
		[A] = column("a"), [A_PORT] = column("port-a"), [B] = column("b"), [B_PORT] = column("port-b"),
		[RATE] = column("rate"), [VLS] = column("vls"), [STATE] = column("state"),
		[HELD] = column("held"), [ROUTES_A] = column("routes-a"), [ROUTES_B] = column("routes-b"),
		[KIND_A] = column("kind-a"), [KIND_B] = column("kind-b"),
	};
	uint32_t *routes = loads_of(s), *link_of_port = xcalloc(s->f->n_ports + 1u, sizeof(*link_of_port));
	uint32_t n = 0;
	json_t *links = json_object();

	for (uint32_t port = 0; port < s->f->n_ports; port++) {
		if (!is_end_a(s->f, port))
			continue;
		link_of_port[port] = link_of_port[s->f->ports[port].peer] = n++;
		put_link(c, s, v, routes, port);
	}
	set_columns(links, c, ARRAY_SIZE(c));
	json_object_set_new(links, "why", json_why(v, link_of_port));
	json_object_set_new(out, "links", links);
	free(routes);
	free(link_of_port);
}
