/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * TraceRecord (15.2.5): the nodes that a packet visits on its path, in order, from the
 * node of its source to that of its destination, one record each.
 *
 * The request: AttributeID TraceRecord, the only attribute that SubnAdmGetTraceTable is
 * for, but its data and ComponentMask are a PathRecord's.  IBA wants that PathRecord
 * whole, as a query for it was answered; here it need be no more than a PathRecord Get
 * needs, and means the path that the Get would have: the first, and no matter how many
 * NumbPath says.  What has no path, or may not be seen, has no trace: NO_RECORDS,
 * and so for a multicast group, to which there is no one way.  The answer is
 * a SubnAdmGetTableResp.
 *
 * IDs are compared, and looked up nowhere: the same in two records with the same
 * GIDPrefix and IDGeneration is the same thing.  They are GUIDs, which never change their
 * meaning, nor does IDGeneration: NodeGUID, SystemImageGUID (0 if there is none) and
 * PortGUID, which is one for all ports of a switch, where EntryPort and ExitPort tell
 * them apart.  A node on the way is told of whether or not the requester shares a
 * partition with it: the rule is that of the path's ends (15.4.1.1).
 *
 * A packet enters and leaves a switch by its port 0 where it begins or ends there; a CA
 * or router that it begins in has no entry port, and one that it ends in no exit port:
 * number and ID are 0.  To another subnet, the router is the end.
 */
#include <stdlib.h>

#include "lib/base/alloc.h"
#include "lib/base/bytes.h"
#include "sa/handler.h"

#define ID_GENERATION 1		/* for ever: see above */

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
	unsigned n, max = s->f->n_switches + 2;		/* a route is in no cycle */

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
