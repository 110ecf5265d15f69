/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Checks the M_Key of requests to a port (14.2.4).
 *
 * With protection bits 0 and 1, everybody may read (1 hides the key itself); with 2 and 3, only
 * holders of the key.  A key of 0 protects nothing.  The first refusal starts the lease, and a
 * request with the right key stops it; when it runs out, the protection bits become 0.
 */
#include "sim/dev/dev_internal.h"

#define US_PER_S 1000000

unsigned mkey_protection(const struct sim_port *p)
{
	return p->info[PI_MKEY_PROTECT_LMC] >> 6;
}

void mkey_expire(struct sim *s, uint32_t port)
{
	struct sim_port *p = &s->f->ports[port];

	if (!p->mkey_lease_end || sim_now(s) < p->mkey_lease_end)
		return;
	p->mkey_lease_end = 0;
	p->info[PI_MKEY_PROTECT_LMC] &= 0x3f;
}

static void violation(struct sim *s, uint32_t port, const struct packet *p)
{
	struct sim_port *sp = &s->f->ports[port];
	uint16_t lease = get_be16(sp->info + PI_MKEY_LEASE);

	if (sp->mkey_violations < UINT16_MAX)
		put_be16(sp->info + PI_MKEY_VIOLATIONS, ++sp->mkey_violations);
	if (lease && !sp->mkey_lease_end)
		sp->mkey_lease_end = sim_now(s) + (int64_t)lease * US_PER_S;
	trap_bad_mkey(s, port, p);
}

bool mkey_check(struct sim *s, uint32_t port, const struct packet *p)
{
	struct sim_port *sp = &s->f->ports[port];
	uint64_t key = get_be64(sp->info + PI_MKEY);

	mkey_expire(s, port);
	if (key == 0 || get_be64(p->mad + SMP_MKEY) == key) {
		sp->mkey_lease_end = 0;
		return true;
	}
	if (p->mad[MAD_METHOD] == METHOD_GET && mkey_protection(sp) < 2)
		return true;
	violation(s, port, p);
	return false;
}

void device_set_mkey(struct sim *s, uint32_t port, uint64_t m_key, unsigned protect,
		     unsigned lease_s)
{
	uint32_t sma = sma_port(s->f, port);
	struct sim_port *p = &s->f->ports[sma];

	put_be64(p->info + PI_MKEY, m_key);
	put_be16(p->info + PI_MKEY_LEASE, (uint16_t)(lease_s > UINT16_MAX ? UINT16_MAX : lease_s));
	p->info[PI_MKEY_PROTECT_LMC] = (uint8_t)((p->info[PI_MKEY_PROTECT_LMC] & 0x3f) |
						 (protect & 3) << 6);
	p->mkey_lease_end = 0;
}
