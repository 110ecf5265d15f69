/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Takes a link down once, at an administrator's request, so that it trains anew.
 *
 * LinkWidthEnabled and LinkSpeed*Enabled take effect when a link trains, and a link below Active
 * takes new OperationalVLs without harm.  PortState Down at one end makes both ends train.  The
 * traps and the local sweep that follow are those of any link that came up.
 */
#include <inttypes.h>
#include <stdlib.h>

#include <infiniband/umad_sm.h>

#include "lib/base/alloc.h"
#include "lib/base/log.h"
#include "sm/keys/mkey.h"
#include "sm/sm_internal.h"

struct retrain {
	char *name;
};

static void done(void *arg, const struct smp *s, int status)
{
	struct retrain *x = arg;

	(void)s;
	if (status)
		log_warn("sm", "%s: cannot take the port down: it %s", x->name,
			 status < 0 ? "does not answer" : "refuses it");
	free(x->name);
	free(x);
}

bool sm_retrain_link(struct sm *sm, uint64_t guid, unsigned num, struct buf *err)
{
	const struct subnet_state *state = sm->published;
	const struct fabric *f = state ? state->f : NULL;
	uint32_t node = f ? map64_get(&f->node_by_guid, guid) : MAP64_NONE, port;
	char name[FABRIC_NAME_MAX];
	struct smp s = { 0 };
	struct retrain *x;

	if (sm->state != SM_MASTER || node == MAP64_NONE || num > f->nodes[node].nports) {
		buf_printf(err, "no such port");
		return false;
	}
	port = f->nodes[node].port0 + num;
	if (!port_is_linked(f, port)) {
		buf_printf(err, "%s has no link", fabric_port_name(f, port, name, sizeof(name)));
		return false;
	}
	port = link_near_end(f, port);
	fabric_port_name(f, port, name, sizeof(name));
	if (!want_route(f, f->ports[port].node, f->ports[port].num, &s)) {
		buf_printf(err, "%s is unreachable", name);
		return false;
	}
	struct want_env env = { .plan = state->plan, .sm_lid = state_own_lid(state),
				.m_key = mkey_ours(sm), .tables_written = true };

	sweep_fill_smp(sm, &s, SMP_SET, UMAD_SM_ATTR_PORT_INFO,
		       port_info_modifier(f, f->ports[port].node, f->ports[port].num));
	want_port_info(&env, port, IB_PORT_DOWN_S, s.data);
	log_info("sm", "%s: taking the link down to retrain it, as requested", name);
	x = xcalloc(1, sizeof(*x));
	x->name = xstrdup(name);
	smp_send(sm->mad, &s, done, x);
	return true;
}
