/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds the end ports of a path by LID, GID or alias, and the router to another subnet.
 *
 * The prefix routes of the settings say which routers lead to which subnet prefix.
 */
#include "lib/base/bytes.h"
#include "sa/handler.h"
#include "sa/registry/alias.h"
#include "sa/registry/holdings.h"
#include "sa/scan.h"

uint32_t sa_lid_port(const struct subnet_state *s, uint16_t lid)
{
	return lid <= IB_LID_UCAST_MAX ? s->plan->port_by_lid[lid] : FABRIC_NONE;
}

uint32_t sa_requester(const struct subnet_state *s, uint16_t slid)
{
	return slid ? sa_lid_port(s, slid) : s->f->self;
}

uint64_t sa_port_holder(const struct subnet_state *s, uint32_t port)
{
	uint32_t end = sa_endport(s, port);
	uint64_t guid = s->f->ports[end].guid;

	return fabric_owns_guid(s->f, end) && guid && !holder_is_lid(guid) ? guid :
	       holder_of_lid(s->plan->lid[end]);
}

uint64_t sa_lid_holder(const struct subnet_state *s, uint16_t lid)
{
	uint32_t port = s ? sa_requester(s, lid) : FABRIC_NONE;

	return port == FABRIC_NONE ? holder_of_lid(lid) : sa_port_holder(s, port);
}

/* --- GIDs --- */

bool sa_is_our_prefix(const struct subnet_state *s, uint64_t prefix)
{
	return prefix == s->plan->settings->subnet_prefix || prefix == IB_DEFAULT_PREFIX;
}

bool sa_gid_is_null(const uint8_t gid[16])
{
	return !get_be64(gid) && !get_be64(gid + 8);
}

uint16_t sa_gid_port(const struct sa_msg *m, const uint8_t gid[16], uint32_t *port)
{
	const struct subnet_state *s = m->s;
	uint64_t guid = get_be64(gid + 8);

	if (!sa_is_our_prefix(s, get_be64(gid)))
		return IB_SA_INVALID_GID;
	*port = fabric_find_port(s->f, guid);
	/* only here an alias becomes a port; a port with the GUID as its own precedes */
	if (*port == FABRIC_NONE && alias_count(m->sa->alias))
		*port = fabric_find_port(s->f, alias_owner(m->sa->alias, guid));
	return *port != FABRIC_NONE && s->plan->lid[*port] ? IB_STATUS_OK : IB_SA_INVALID_GID;
}

/* The port of a GID, of a LID, or of both, if they are given. */
static uint16_t find_end(const struct sa_msg *m, const uint8_t *gid, bool has_lid, uint16_t lid,
			 uint32_t *port, uint64_t *guid)
{
	uint32_t by_lid = has_lid ? sa_lid_port(m->s, lid) : FABRIC_NONE;

	*port = by_lid;
	if (gid) {
		uint16_t status = sa_gid_port(m, gid, port);

		if (status)
			return status;
		*guid = get_be64(gid + 8);
	}
	if (has_lid && by_lid == FABRIC_NONE)
		return IB_SA_NO_RECORDS;
	return has_lid && by_lid != *port ? IB_SA_REQ_INVALID : IB_STATUS_OK;
}

uint16_t sa_find_source(const struct sa_msg *m, const uint8_t *gid, struct path_query *q)
{
	return find_end(m, gid, q->has & PR_SLID, q->slid, &q->src, &q->src_guid);
}

/* --- other subnets --- */

/* The first prefix route that matches; OpenSM also uses the first. */
static const struct prefix_route *find_route(const struct settings *s, uint64_t prefix)
{
	for (size_t i = 0; i < s->prefix_routes.n; i++)
		if (!s->prefix_routes.v[i].prefix || s->prefix_routes.v[i].prefix == prefix)
			return &s->prefix_routes.v[i];
	return NULL;
}

uint16_t sa_find_destination(const struct sa_msg *m, const uint8_t *gid, struct path_query *q)
{
	uint64_t prefix = gid ? get_be64(gid) : 0;

	/* prefix 0 belongs to the reserved GID and the loopback GID (4.1.1) */
	if (!gid || sa_is_our_prefix(m->s, prefix) || !prefix || gid[0] == 0xff)
		return find_end(m, gid, q->has & PR_DLID, q->dlid, &q->dst, &q->dst_guid);
	if (!find_route(m->s->plan->settings, prefix))
		return IB_SA_INVALID_GID;
	if (q->has & PR_DLID && sa_lid_port(m->s, q->dlid) == FABRIC_NONE)
		return IB_SA_NO_RECORDS;
	q->dst_prefix = prefix;
	q->dst_guid = get_be64(gid + 8);
	return IB_STATUS_OK;
}

static bool router_will_do(const struct subnet_state *s, const struct path_query *q, uint32_t port)
{
	const struct plan *p = s->plan;
	uint16_t lid = q->dlid ? q->dlid : p->lid[port];

	if (!p->lid[port] || port_node(s->f, port)->type != IB_NODE_ROUTER_T ||
	    sa_lid_port(s, lid) != port)
		return false;
	return shared_pkey(p->partitions, q->src, port, q->has & PR_PKEY ? q->pkey : 0) &&
	       paths_between(p->paths, s->f, p->lfts, p->tables, q->src, port, lid).mtu;
}

/*
 * The rank of a router for a pair of ends.  The usable router with the highest rank serves
 * the pair (rendezvous hashing).  So routers share the load, answers stay the same, and only
 * the pairs of a router that goes away move to others.
 */
static uint64_t rank(const struct subnet_state *s, const struct path_query *q, uint64_t router)
{
	uint64_t h = hash64(s->f->ports[q->src].guid ^ hash64(q->dst_prefix));

	return hash64(router ^ hash64(q->dst_guid ^ h));
}

uint32_t sa_choose_router(const struct subnet_state *s, const struct path_query *q)
{
	const struct prefix_route *route = find_route(s->plan->settings, q->dst_prefix);
	size_t n = route->routers.n ? route->routers.n : s->plan->n_routers;
	uint32_t best = FABRIC_NONE;
	uint64_t best_rank = 0;

	for (size_t i = 0; i < n; i++) {
		uint32_t port = route->routers.n ? fabric_find_port(s->f, route->routers.v[i]) :
						   s->plan->routers[i];

		if (port == FABRIC_NONE || !router_will_do(s, q, port))
			continue;
		uint64_t r = rank(s, q, s->f->ports[port].guid);

		if (best == FABRIC_NONE || r > best_rank) {
			best = port;
			best_rank = r;
		}
	}
	return best;
}

/* --- which paths a requester may see --- */

bool sa_may_see_path(const struct subnet_state *s, uint32_t requester, const struct path_query *q)
{
	/* own paths need no check: the ends share a P_Key or there is no path, except for raw packets */
	if ((requester == q->src || requester == q->dst) && !(q->has & PR_RAW && q->raw))
		return true;
	return sa_may_see(s, requester, q->src) && sa_may_see(s, requester, q->dst);
}
