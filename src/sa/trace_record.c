/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Answers TraceRecord queries (15.2.5) with one record for each node of a path, in order.
 *
 * The request has the AttributeID TraceRecord, the only one for SubnAdmGetTraceTable, but
 * data and ComponentMask of a PathRecord.  IBA wants a complete PathRecord from an earlier
 * answer; qosd accepts what a Get of a PathRecord needs, and traces the path that the Get
 * would return, which is the first whatever NumbPath says.  NO_RECORDS if there is no path,
 * if the requester may not see it, or if it leads to a multicast group, which has many ends.
 * The answer is a SubnAdmGetTableResp.
 *
 * Clients can only compare IDs: equal IDs in two records with the same GIDPrefix and
 * IDGeneration are the same thing.  The IDs are GUIDs, which never change their meaning, so
 * that IDGeneration is constant: NodeGUID, SystemImageGUID (0 if there is none) and
 * PortGUID, which is the same for all ports of a switch; there EntryPort and ExitPort tell
 * ports apart.  The records name a node on the path whether or not the requester shares a
 * partition with it: IBA's rule is about the ends of the path (15.4.1.1).
 *
 * A packet that begins or ends at a switch enters or leaves it by port 0.  A CA or router
 * has no entry port at the source and no exit port at the destination: port number and ID
 * are 0.  The trace of a path to another subnet ends at the router.
 */
#include <stdlib.h>

#include "lib/base/alloc.h"
#include "lib/base/bytes.h"
#include "sa/handler.h"

#define ID_GENERATION 1		/* constant: see above */

static uint64_t port_id(const struct fabric *f, const struct fabric_node *n, unsigned num)
{
	return num || node_is_switch(n) ? f->ports[n->port0 + num].guid : 0;
}

static void fill(const struct subnet_state *s, const struct path_hop *hop,
		 struct sa_trace_record *r)
{
	const struct fabric_node *n = &s->f->nodes[hop->node];

	*r = (struct sa_trace_record){
		.node_type = n->type, .entry_port = hop->in, .exit_port = hop->out,
	};
	put_be64(r->gid_prefix, s->plan->settings->subnet_prefix);
	put_be16(r->id_generation, ID_GENERATION);
	put_be64(r->node_id, n->guid);
	put_be64(r->chassis_id, n->sysimg_guid);
	put_be64(r->entry_port_id, port_id(s->f, n, hop->in));
	put_be64(r->exit_port_id, port_id(s->f, n, hop->out));
}

uint16_t sa_trace_record(struct sa_msg *m)
{
	const struct subnet_state *s = m->s;
	struct sa_trace_record r;
	struct path_hop *hops;
	struct path_query q;
	struct path_answer a;
	uint16_t status = sa_the_path(m, &q, &a);
	unsigned n, max = s->f->n_switches + 2;		/* a route visits no node twice */

	if (status)
		return status;
	hops = xcalloc(max, sizeof(*hops));
	n = paths_walk(s->f, s->plan->lfts, s->plan->tables, q.src, a.dlid, q.dst, hops, max);
	for (unsigned i = 0; i < n; i++) {
		fill(s, &hops[i], &r);
		sa_add(m, &r, sizeof(r));
	}
	free(hops);
	return n ? IB_STATUS_OK : IB_SA_NO_RECORDS;
}
