/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Maps names of upper-layer protocols to what their path queries carry.
 *
 * An RDMA CM client queries with Service-ID (port space << 16) + port (IBA annex A11); SDP has a
 * port space of its own (annex A4), RDS a second port for IPv6.  IPoIB queries with its partition's
 * P_Key and no Service-ID (RFC 4391); an SRP initiator queries with the Service-ID of its I/O
 * controller, which each target chooses.
 */

#include "config/conf.h"
#include "config/conf_parts.h"
#include "lib/base/alloc.h"

#define SDP_PORT_SPACE	0x0001ull
#define RDMA_PS_TCP	0x0106ull

#define ULP_PORTS_MAX 2

/* Service-IDs of each ULP, unless `tcp-port` overrides the port. */
static const struct ulp {
	uint64_t port_space;	/* 0: Service-ID unknown */
	struct { uint16_t lo, hi; } ports[ULP_PORTS_MAX];	/* 0, 0 after the first: unused */
} ulps[ULP_COUNT] = {
	[ULP_NONE]	 = { RDMA_PS_TCP, {{ 0, 0 }} },
	[ULP_SDP]	 = { SDP_PORT_SPACE, {{ 0, 0xffff }} },
	[ULP_RDS]	 = { RDMA_PS_TCP, {{ 18634, 18634 }, { 16385, 16385 }} },
	[ULP_ISER]	 = { RDMA_PS_TCP, {{ 3260, 3260 }} },
	[ULP_NFS_RDMA]	 = { RDMA_PS_TCP, {{ 20049, 20049 }} },
	[ULP_NVME_OF]	 = { RDMA_PS_TCP, {{ 4420, 4420 }} },
	[ULP_LUSTRE]	 = { RDMA_PS_TCP, {{ 987, 987 }} },
	[ULP_SMB_DIRECT] = { RDMA_PS_TCP, {{ 445, 445 }} },
};

static bool refuse_contradictions(struct reader *r, const struct node *n,
				  const struct policy_rule *rule)
{
	const struct node *service = node_get(n, "service-id"), *tcp = node_get(n, "tcp-port"),
			  *ulp = node_get(n, "ulp");

	if (service && ulp && rule->ulp != ULP_SRP)
		read_error(r, service->pos, "'service-id' and 'ulp' exclude each other (except for srp)");
	else if (service && tcp)
		read_error(r, service->pos, "'service-id' and 'tcp-port' exclude each other");
	else if (tcp && rule->ulp != ULP_NONE && !ulps[rule->ulp].port_space)
		read_error(r, tcp->pos, "'tcp-port' has no meaning for %s",
			   policy_ulp_name(rule->ulp));
	else if (rule->ulp == ULP_SRP && !service && !node_get(n, "target-guid"))
		read_error(r, ulp->pos, "srp is identified by its target: 'target-guid' or 'service-id' is "
			   "missing");
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

bool conf_ulp_service_id(enum policy_ulp ulp, int port, uint64_t *service_id)
{
	const struct ulp *u = &ulps[ulp];

	if (!u->port_space || (ulp == ULP_NONE && port < 0))
		return false;
	*service_id = (u->port_space << 16) + (port < 0 ? u->ports[0].lo : (unsigned)port);
	return true;
}

void ulp_expand(struct reader *r, const struct node *n, struct policy_rule *rule)
{
	const struct ulp *u = &ulps[rule->ulp];
	const struct node *word = node_get(n, "ulp");

	if (!refuse_contradictions(r, n, rule))
		return;
	for (size_t i = 0; i < rule->tcp_ports.n; i++)
		add_ports(rule, u->port_space, rule->tcp_ports.v[i].lo, rule->tcp_ports.v[i].hi,
			  rule->tcp_ports.v[i].pos);
	if (rule->ulp == ULP_NONE || !u->port_space || rule->tcp_ports.n)
		return;
	for (int i = 0; i < ULP_PORTS_MAX && (i == 0 || u->ports[i].hi); i++)
		add_ports(rule, u->port_space, u->ports[i].lo, u->ports[i].hi, word->pos);
}

/* Limit of rules times partitions: otherwise a small file could use up all memory. */
#define IPOIB_RANGES_MAX (1u << 20)

void ulp_expand_ipoib(struct reader *r, struct policy *p)
{
	struct u64_ranges all = policy_ipoib_pkeys(p);
	size_t left = IPOIB_RANGES_MAX;

	for (size_t i = 0; i < p->n_rules; i++) {
		struct policy_rule *rule = &p->rules[i];

		if (rule->ulp != ULP_IPOIB || rule->pkeys.n)
			continue;
		rule->all_ipoib = true;
		if (!all.n)	/* the rule would then match any P_Key */
			read_error(r, rule->pos, "no partition has IPoIB: 'pkey' is missing");
		if (all.n > left) {
			read_error(r, rule->pos, "too many rules for the P_Keys of all partitions "
				   "with IPoIB (%zu ranges): 'pkey' is missing", all.n);
			break;
		}
		left -= all.n;
		for (size_t k = 0; k < all.n; k++)
			*vec_push(&rule->pkeys) =
				(struct u64_range){ all.v[k].lo, all.v[k].hi, rule->pos };
	}
	vec_free(&all);
}
