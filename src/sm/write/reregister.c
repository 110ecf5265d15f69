/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Asks single ports to have their clients register again (PortInfo.ClientReregister, 14.4.11).
 * This is for ports whose registrations an administrator removed, and for members of an IPoIB group whose
 * partition got another SL, MTU or rate.
 *
 * The Set carries the published values, so none may be sent while a sweep writes others.
 *
 * Invariant: sm->clients.to_register holds the GUIDs of the ports that wait for the sweep to end,
 * and is empty while there is no sweep.
 */
#include <inttypes.h>
#include <stdlib.h>

#include <infiniband/mad.h>
#include <infiniband/umad_sm.h>

#include "lib/base/alloc.h"
#include "lib/base/log.h"
#include "sm/keys/mkey.h"
#include "sm/sm_internal.h"
#include "sm/write/write.h"

static void done(void *arg, const struct smp *s, int status)
{
	uint64_t *guid = arg;

	(void)s;
	if (status)
		log_warn("sm", "0x%016" PRIx64 ": cannot ask its clients to register again: the port %s",
			 *guid, status < 0 ? "does not answer" : "refuses it");
	free(guid);
}

/* The port can be asked now.  One that is not Active is asked when it comes up. */
static bool can_be_asked(const struct fabric *f, uint32_t port)
{
	const struct fabric_port *p = &f->ports[port];

	return port_is_end(f, port) && p->capmask & IB_CAP_CLIENT_REREG &&
	       (!p->num || p->state == IB_PORT_ACTIVE_S);
}

static void ask(struct sm *sm, uint64_t guid)
{
	const struct subnet_state *state = sm->published;
	const struct fabric *f = state->f;
	uint32_t port = fabric_find_port(f, guid);
	struct want_env env = { .plan = state->plan, .sm_lid = state_own_lid(state),
				.m_key = mkey_ours(sm), .as_found = true };
	struct smp s = { 0 };
	uint32_t node;

	if (port == FABRIC_NONE || !can_be_asked(f, port))
		return;
	node = f->ports[port].node;
	if (mkey_is_mismatched(sm, f, node) || !want_route(f, node, f->ports[port].num, &s))
		return;
	sweep_fill_smp(sm, &s, SMP_SET, UMAD_SM_ATTR_PORT_INFO,
		       port_info_modifier(f, node, f->ports[port].num));
	want_port_info(&env, port, IB_PORT_NOP, s.data);
	mad_set_field(s.data, 0, IB_PORT_CLIENT_REREG_F, 1);
	smp_send(sm->mad, &s, done, xmemdup(&guid, sizeof(guid)));
}

void reregister_after_sweep(struct sm *sm)
{
	for (size_t i = 0; i < sm->clients.to_register.n; i++)
		if (sm->state == SM_MASTER && sm->published)
			ask(sm, sm->clients.to_register.v[i]);
	sm->clients.to_register.n = 0;
}

void sm_have_register(struct sm *sm, uint64_t guid)
{
	*vec_push(&sm->clients.to_register) = guid;
	if (!sweep_runs(sm))
		reregister_after_sweep(sm);
}
