/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Upper-layer protocols by name: what their path queries carry.
 *
 * A user of the RDMA CM asks with Service-ID (port space << 16) + port (IBA
 * annex A11); SDP has a port space of its own (annex A4).
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "conf/parts.h"

#define SDP_PORT_SPACE	0x0001ull
#define RDMA_PS_TCP	0x0106ull

/* What a name stands for; port_lo..port_hi unless `tcp-port` says otherwise. */
static const struct ulp {
	uint64_t port_space;	/* 0: no Service-ID is known */
	uint16_t port_lo, port_hi;
} ulps[ULP_COUNT] = {
	[ULP_NONE]	 = { RDMA_PS_TCP, 0, 0 },
	[ULP_SDP]	 = { SDP_PORT_SPACE, 0, 0xffff },
	[ULP_RDS]	 = { RDMA_PS_TCP, 18634, 18634 },
	[ULP_ISER]	 = { RDMA_PS_TCP, 3260, 3260 },
	[ULP_NFS_RDMA]	 = { RDMA_PS_TCP, 20049, 20049 },
	[ULP_NVME_OF]	 = { RDMA_PS_TCP, 4420, 4420 },
	[ULP_LUSTRE]	 = { RDMA_PS_TCP, 987, 987 },
	[ULP_SMB_DIRECT] = { RDMA_PS_TCP, 445, 445 },
};

static bool refuse_contradictions(struct reader *r, const struct node *n,
				  const struct policy_rule *rule)
{
	const struct node *service = node_get(n, "service-id"), *tcp = node_get(n, "tcp-port"),
			  *ulp = node_get(n, "ulp");

	if (service && ulp)
		read_error(r, service->pos, "'service-id' and 'ulp' exclude each other");
	else if (service && tcp)
		read_error(r, service->pos, "'service-id' and 'tcp-port' exclude each other");
	else if (tcp && rule->ulp != ULP_NONE && !ulps[rule->ulp].port_space)
		read_error(r, tcp->pos, "'tcp-port' has no meaning for %s",
			   policy_ulp_name(rule->ulp));
	else if (rule->ulp == ULP_SRP && !node_get(n, "target-guid"))
		read_error(r, ulp->pos, "srp is known by its target: 'target-guid' is missing");
	else
		return true;
	return false;
}

static void add_ports(struct policy_rule *rule, uint64_t space, uint64_t lo, uint64_t hi,
		      struct src_pos pos)
{
	*vec_push(&rule->service_ids) =
		(struct u64_range){ (space << 16) + lo, (space << 16) + hi, pos };
}

void ulp_expand(struct reader *r, const struct node *n, struct policy_rule *rule)
{
	const struct ulp *u = &ulps[rule->ulp];
	const struct node *word = node_get(n, "ulp");

	if (!refuse_contradictions(r, n, rule))
		return;
	if (rule->ulp == ULP_IPOIB && !node_get(n, "pkey"))
		*vec_push(&rule->pkeys) =
			(struct u64_range){ IB_PKEY_DEFAULT, IB_PKEY_DEFAULT, word->pos };
	for (size_t i = 0; i < rule->tcp_ports.n; i++)
		add_ports(rule, u->port_space, rule->tcp_ports.v[i].lo, rule->tcp_ports.v[i].hi,
			  rule->tcp_ports.v[i].pos);
	if (rule->ulp != ULP_NONE && u->port_space && rule->tcp_ports.n == 0)
		add_ports(rule, u->port_space, u->port_lo, u->port_hi, word->pos);
}
