/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Builds and matches Notices (notice.h). */
#include "sa/notice.h"

#include <infiniband/umad_sm.h>

#include "lib/base/bytes.h"
#include "sa/handler.h"

enum { TYPE_SUBNET_MANAGEMENT = 3 };		/* 13.4.8.2 */
enum { PRODUCER_CLASS_MANAGER = 4 };
enum { NOTICE_TRIED_M_KEY = 14 };		/* offset in the details of trap 256 (14.2.5.1) */

static void put_issuer(const struct subnet_state *s, uint32_t port, uint16_t lid,
		       struct sa_notice *n)
{
	put_be16(n->issuer_lid, lid);
	put_be64(n->issuer_gid, s->plan->settings->subnet_prefix);
	put_be64(n->issuer_gid + 8, s->f->ports[port].guid);
}

void notice_of_gid(const struct subnet_state *s, uint16_t trap, const uint8_t gid[16],
		   struct sa_notice *n)
{
	*n = (struct sa_notice){
		.type = NOTICE_GENERIC | TYPE_SUBNET_MANAGEMENT,
		.producer = { 0, 0, PRODUCER_CLASS_MANAGER },
	};
	put_be16(n->number, trap);
	memcpy(n->details + NOTICE_GID, gid, 16);
	put_issuer(s, s->f->self, state_own_lid(s), n);
}

bool notice_of_trap(const struct subnet_state *s, const uint8_t smp_data[NOTICE_SMP_LEN],
		    uint16_t slid, struct sa_notice *n, uint32_t *port)
{
	memset(n, 0, sizeof(*n));
	memcpy(n, smp_data, NOTICE_SMP_LEN);
	if (!slid)		/* our own node, whose packets loop back */
		slid = state_own_lid(s);
	*port = sa_lid_port(s, slid);
	if (*port == FABRIC_NONE)
		return false;
	put_issuer(s, *port, slid, n);
	if (n->type & NOTICE_GENERIC && get_be16(n->number) == UMAD_SM_BAD_MKEY_TRAP)
		memset(n->details + NOTICE_TRIED_M_KEY, 0, 8);
	return true;
}

bool notice_is_of_manager(const uint8_t smp_data[NOTICE_SMP_LEN])
{
	struct sa_notice n = { 0 };
	uint16_t trap;

	memcpy(&n, smp_data, NOTICE_SMP_LEN);
	trap = get_be16(n.number);
	return n.type & NOTICE_GENERIC && trap >= UMAD_SM_GID_IN_SERVICE_TRAP &&
	       trap <= UMAD_SM_REPATH_TRAP;
}

bool notice_is_secret(const struct sa_notice *n)
{
	uint16_t trap = get_be16(n->number);

	return n->type & NOTICE_GENERIC && trap >= UMAD_SM_BAD_MKEY_TRAP &&
	       trap <= UMAD_SM_BAD_SWITCH_PKEY_TRAP;
}

static bool issuer_matches(const struct sa_notice *n, const struct inform *w)
{
	uint16_t lid = get_be16(n->issuer_lid);

	if (get_be64(w->gid) || get_be64(w->gid + 8))
		return !memcmp(w->gid, n->issuer_gid, sizeof(w->gid));
	return w->lid_first == INFORM_ALL_LIDS || (lid >= w->lid_first && lid <= w->lid_last);
}

bool notice_matches(const struct sa_notice *n, const struct inform *w)
{
	uint32_t producer = (uint32_t)n->producer[0] << 16 | get_be16(n->producer + 1);

	return w->generic == !!(n->type & NOTICE_GENERIC) &&
	       (w->type == INFORM_ALL_TYPES || w->type == (n->type & ~NOTICE_GENERIC)) &&
	       (w->number == INFORM_ALL_TRAPS || w->number == get_be16(n->number)) &&
	       (w->producer == INFORM_ALL_PRODUCERS || w->producer == producer) &&
	       issuer_matches(n, w);
}
