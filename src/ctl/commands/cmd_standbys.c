/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Answers `standbys`: the other subnet managers of the subnet, as their master sees them, and how far
 * those that are qosd have copied what it has.
 */
#include "ctl/commands/cmd_standbys.h"


static json_t *json_age(int64_t us)
{
	return us == CTL_AGE_UNKNOWN ? json_null() : json_real((double)us * 1e-6);
}

/* What the standby at this port states of itself; false: it does not ask us, or it did so long ago. */
static bool find_peer(const struct ctl_env *env, uint64_t guid, struct ctl_policy_peer *peer)
{
	for (unsigned i = 0; env->policy_peer && env->policy_peer(env->arg, i, peer); i++)
		if (peer->guid == guid && !peer->is_master)
			return true;
	*peer = (struct ctl_policy_peer){ .heard_us = CTL_AGE_UNKNOWN, .copied_us = CTL_AGE_UNKNOWN };
	return false;
}

static json_t *json_same_policy(const struct ctl_env *env, uint64_t checksum)
{
	const struct shared_policy *p = env->policies ? policies_in_force(env->policies) : NULL;

	if (!p || !checksum)
		return json_null();
	return json_boolean(checksum == (p->source == POLICY_BUILTIN ? CTL_POLICY_BUILTIN : p->p->checksum));
}

static json_t *json_standby(const struct ctl_env *env, const struct subnet_state *s, const struct sm_seen *x)
{
	uint32_t port = s ? fabric_find_port(s->f, x->guid) : FABRIC_NONE;
	struct ctl_policy_peer peer;

	find_peer(env, x->guid, &peer);
	return json_pack("{s:o, s:o, s:i, s:s, s:o, s:o, s:o}", "guid", json_guid(x->guid),
			 "name", port == FABRIC_NONE ? json_null() : json_port(s, port),
			 "priority", x->priority, "state", sm_state_name(x->state),
			 "same-policy", json_same_policy(env, peer.checksum),
			 "heard-ago", json_age(peer.heard_us), "copy-age", json_age(peer.copied_us));
}

json_t *json_standbys(const struct ctl_env *env, const struct ctl_view *v)
{
	json_t *list = json_array();
	struct sm_seen x;

	if (v->sm.state == SM_MASTER)
		for (uint32_t i = 1; env->sm && sm_seen_at(env->sm, i, &x); i++)
			json_array_append_new(list, json_standby(env, v->state, &x));
	return list;
}

void cmd_standbys(const struct ctl_call *c, struct reply *r)
{
	reply_result(r, json_pack("{s:o}", "standbys", json_standbys(c->env, c->view)));
}
