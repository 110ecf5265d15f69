/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Judges multicast groups and the LIDs that they have; see health_judges.h. */
#include "ctl/commands/health_judges.h"

#include <inttypes.h>

#include "lib/iba/units.h"
#include "sa/registry/groups.h"
#include "sa/registry/holdings.h"
#include "sm/sweep/want.h"

/* True if a member of the group is on a switch that does not forward the group's MLID. */
static bool group_is_cut(const struct subnet_state *s, const struct mcast_group *g)
{
	for (size_t i = 0; i < g->members.n; i++) {
		uint32_t port = fabric_find_port(s->f, g->members.v[i].gid.port);
		uint32_t sw = port == FABRIC_NONE ? FABRIC_NONE : fabric_switch_of(s->f, port);

		if (sw != FABRIC_NONE &&
		    g->mlid - IB_LID_MCAST_FIRST >= (int)fabric_switch_mlids(s->f, sw))
			return true;
	}
	return false;
}

/*
 * Groups that existed before a switch with a smaller table arrived keep their MLIDs: their trees
 * avoid the switch.
 */
void health_mlids(const struct health_input *in, struct health *h)
{
	const struct subnet_state *s = in->state;
	unsigned least = mcast_mlids(s), groups = 0;
	uint16_t example = 0;

	for (unsigned i = least; in->mcast && i < IB_MLIDS; i++)
		for (const struct mcast_group *g = mcast_of_mlid(in->mcast, (uint16_t)(IB_LID_MCAST_FIRST + i));
		     g; g = g->sharer) {
			if (!group_is_cut(s, g))
				continue;
			groups++;
			example = g->mlid;
		}
	if (groups)
		health_add(h, FOUND_MFT_TOO_SMALL,
			   "%u multicast group%s a LID that a member's switch "
			   "cannot forward, so the member is excluded; every switch forwards up to 0x%x; the "
			   "highest of these LIDs is 0x%x",
			   groups, PLURAL(groups, " has", "s have"), IB_LID_MCAST_FIRST + least - 1, example);
}

/* Once MLIDs are used up, groups share them, and hosts receive packets of other groups. */
void health_mlids_in_use(const struct health_input *in, struct health *h)
{
	struct mcast_usage u = in->mcast ? mcast_usage(in->mcast) : (struct mcast_usage){ 0 };
	const struct holdings *all = in->registered ? in->registered->holdings : NULL;
	struct hold_bound b = holdings_bound(all, HOLD_MLIDS);
	uint32_t held = holdings_total(all, HOLD_MLIDS);

	if (u.limit && (u.mlids >= u.limit - u.limit / 5 || (held && held >= b.max - b.max / 5)))
		health_add(h, FOUND_MLIDS_FILLING, "%" PRIu32 " multicast LIDs are in use; every switch can "
			   "forward %" PRIu32 "; %" PRIu32 " group%s the LID of another group", u.mlids,
			   u.limit, u.sharing, PLURAL(u.sharing, " shares", "s share"));
}

/*
 * Reports IPoIB groups whose parameters could be higher, were it not for members that joined
 * before.
 */
void health_groups(const struct health_input *in, struct health *h)
{
	struct health_list low = { h, FOUND_IPOIB_GROUP_LOW, 0 };
	const struct policy *p = in->state->policy->p;

	for (size_t i = 0; in->mcast && i < p->n_partitions; i++) {
		const struct mcast_group *g = mcast_kept_low(in->mcast, in->state, i);
		const struct ipoib_limits *made = &in->state->plan->partitions->ipoib[i].made;
		char has[24], could[24];

		if (g)
			health_list_add(&low, "partition %s: its IPoIB group keeps an MTU of %u and %s for "
					"its present members, but could have %u and %s",
					p->partitions[i].name, mtu_bytes(g->mtu),
					rate_text(g->rate, has, sizeof(has)), mtu_bytes(made->mtu),
					rate_text(made->rate, could, sizeof(could)));
	}
	health_list_end(&low);
}

/* Reports partitions that lack the IPoIB group that the policy wants: their hosts have no IP. */
void health_broadcasts(const struct health_input *in, struct health *h)
{
	struct health_list missing = { h, FOUND_IPOIB_GROUP_MISSING, 0 };
	const struct policy *p = in->state->policy->p;

	for (size_t i = 0; in->mcast && mcast_usage(in->mcast).limit && i < p->n_partitions; i++)
		if (mcast_lacks_broadcast(in->mcast, in->state, i))
			health_list_add(&missing, "partition %s has no IPoIB broadcast group: no multicast "
					"LID is free for it", p->partitions[i].name);
	health_list_end(&missing);
}
