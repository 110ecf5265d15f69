/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * See ipoib_groups.h.  The cost is that of reading the hosts' P_Key tables twice.
 */
#include "lib/base/alloc.h"
#include "lib/iba/units.h"
#include "plan/ipoib_groups.h"
#include "plan/partitions/pkey_members.h"
#include "plan/paths.h"

/* For a group whose level names none, as in RFC 4391 and other subnet managers. */
#define DEFAULT_MTU	2048
#define DEFAULT_RATE	100	/* tenths of Gb/s */

static uint8_t lesser_rate(uint8_t a, uint8_t b)
{
	return rate_compare(a, b) <= 0 ? a : b;
}

static uint8_t lesser_mtu(uint8_t a, uint8_t b)
{
	return a <= b ? a : b;
}

struct ipoib_limits level_ipoib_limits(const struct policy_level *l)
{
	return (struct ipoib_limits){
		.mtu = l->mtu_limit ? l->mtu_limit : (uint8_t)mtu_code(DEFAULT_MTU),
		.rate = l->rate_limit ? l->rate_limit : (uint8_t)rate_code(DEFAULT_RATE),
	};
}

static bool can_have(struct path_info port, struct ipoib_limits l)
{
	return port.mtu >= l.mtu && rate_compare(port.rate, l.rate) >= 0;
}

static void ask_named(struct ipoib_group *g, uint32_t port, struct path_info can)
{
	uint8_t mtu, rate;

	if (can_have(can, g->named))
		return;
	if (!g->lesser++)
		g->first_lesser = port;
	/* Lowers the group to what a host can do, but not below the defaults. */
	mtu = lesser_mtu(g->named.mtu, (uint8_t)mtu_code(DEFAULT_MTU));
	rate = lesser_rate(g->named.rate, (uint8_t)rate_code(DEFAULT_RATE));
	if (can.mtu > mtu)
		mtu = can.mtu;
	if (rate_compare(can.rate, rate) > 0)
		rate = can.rate;
	g->made.mtu = lesser_mtu(g->made.mtu, mtu);
	g->made.rate = lesser_rate(g->made.rate, rate);
}

static void ask_made(struct ipoib_group *g, uint32_t port, struct path_info can)
{
	if (!can_have(can, g->made) && !g->excluded++)
		g->first_excluded = port;
}

/* Calls fn once for each pair of a host and a partition that has a group and contains the host. */
static void each_member(struct partitions *p, const struct policy *policy, const struct fabric *f,
			void (*fn)(struct ipoib_group *g, uint32_t port, struct path_info can))
{
	for (uint32_t port = 0; port < f->n_ports; port++) {
		const struct pkey_table *t = &p->tables[p->table[port]];
		struct path_info can;

		if (!(port_is_host(f, port) && f->ports[port].peer != FABRIC_NONE))
			continue;
		can = paths_of_port(f, port);
		for (uint32_t i = 0; i < t->n_words; i++) {
			const struct pkey_word *w = &t->words[i];

			for (uint64_t bits = w->full | w->limited; bits; bits &= bits - 1) {
				uint32_t k = w->at * 64 + (uint32_t)__builtin_ctzll(bits);

				if (policy->partitions[k].ipoib)
					fn(&p->ipoib[k], port, can);
			}
		}
	}
}

void ipoib_groups(struct partitions *p, const struct policy *policy, const struct fabric *f)
{
	p->ipoib = xcalloc(p->n_partitions + 1u, sizeof(*p->ipoib));
	for (uint32_t k = 0; k < p->n_partitions; k++) {
		const struct policy_partition *part = &policy->partitions[k];
		struct ipoib_group *g = &p->ipoib[k];

		if (part->ipoib)
			g->named = level_ipoib_limits(&policy->levels[part->ipoib_level_index]);
		g->made = g->named;
		g->first_lesser = g->first_excluded = FABRIC_NONE;
	}
	each_member(p, policy, f, ask_named);
	each_member(p, policy, f, ask_made);
}
