/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Judges this subnet manager and those beside it, its disk and the load of its SA; see health_judges.h. */
#include "ctl/commands/health_judges.h"

#include <inttypes.h>

/* A BUSY counts as current for so many windows of the SA's sums. */
#define BUSY_WINDOWS (60 / SA_CLIENTS_SECONDS)

void health_role(const struct health_input *in, struct health *h)
{
	const struct sm_status *sm = in->sm;

	if (sm->state == SM_NOT_ACTIVE)
		health_add(h, FOUND_NOT_ACTIVE, sm->master_guid ? "the master disabled this subnet manager" :
			   "the master disabled this subnet manager and is gone: unless there is another "
			   "standby, no subnet manager is left");
	else if (sm->state == SM_STANDBY && !sm->master_guid)
		health_add(h, FOUND_NO_MASTER, "this subnet manager is standby and knows of no master");
	else if (sm->state == SM_DISCOVERING)
		health_add(h, sm->sweeps || !sm->sweeping ? FOUND_NOT_MASTER : FOUND_NOT_MASTER_YET,
			   "this subnet manager is not master yet (step: %s)", sm->phase ? sm->phase : "idle");
	for (size_t i = 0; sm->state == SM_MASTER && i < in->n_others; i++)
		if (in->others[i].state == SM_NOT_ACTIVE)
			health_add(h, FOUND_STANDBY_NOT_ACTIVE,
				   "the subnet manager 0x%016" PRIx64 ", priority %u, is not active: it will "
				   "not take over if this one fails", in->others[i].guid,
				   in->others[i].priority);
		else if (in->others[i].state == SM_MASTER)
			health_add(h, FOUND_TWO_MASTERS, "0x%016" PRIx64 " is master as well, with priority %u",
				   in->others[i].guid, in->others[i].priority);
}

void health_keys(const struct health_input *in, struct health *h)
{
	const struct sm_status *sm = in->sm;

	if (sm->state == SM_MASTER && sm->no_m_key)
		health_add(h, FOUND_NO_M_KEY, "without an M_Key, any host can configure any device%s",
			   sm->sm_key_known ? ", and the SM_Key is the well-known default" : "");
	if (sm->state == SM_MASTER && sm->m_key_readable)
		health_add(h, FOUND_M_KEY_READABLE, "any host can read the M_Key of any device because "
			   "devices do not protect it");
	if (sm->state != SM_MASTER && sm->key_mismatches)
		health_add(h, FOUND_OTHER_M_KEY, "at least %" PRIu32 " port%s %s another M_Key than m-key of "
			   "qosd.yaml: this standby could not take %s over", sm->key_mismatches,
			   PLURAL_S(sm->key_mismatches), PLURAL(sm->key_mismatches, "has", "have"),
			   PLURAL(sm->key_mismatches, "it", "them"));
}

void health_up(const struct health_input *in, struct health *h)
{
	const struct sm_status *sm = in->sm;

	if (sm->state != SM_MASTER || sm->subnet_up)
		return;
	if (!in->state)
		health_add(h, FOUND_COMING_UP, "the subnet is being brought up (%s)",
			   sm->phase ? sm->phase : "idle");
	else
		health_add(h, FOUND_NOT_UP, "the last sweep was incomplete: %" PRIu32 " of %" PRIu32 " linked "
			   "port%s %s Active, %" PRIu32 " device%s %s not answer, %" PRIu32 " Set%s %s refused",
			   sm->ports_active, sm->ports_linked, PLURAL_S(sm->ports_linked),
			   PLURAL(sm->ports_active, "is", "are"), sm->failed_devices, PLURAL_S(sm->failed_devices),
			   PLURAL(sm->failed_devices, "does", "do"), sm->sets_failed, PLURAL_S(sm->sets_failed),
			   PLURAL(sm->sets_failed, "was", "were"));
}

void health_discovery(const struct health_input *in, struct health *h)
{
	const struct sm_status *sm = in->sm;

	if (sm->discovery_filter == DISCO_FILTER_LEFT)
		health_add(h, FOUND_DISCOVERY_UNCONFINED, "discovery works only without its sandbox, which "
			   "refused system call %s", sm->discovery_call);
	else if (sm->discovery_filter == DISCO_FILTER_REFUSES)
		health_add(h, FOUND_DISCOVERY_REFUSED, "discovery failed after its sandbox refused system "
			   "call %s", sm->discovery_call);
}

void health_store(const struct health_input *in, struct health *h)
{
	if (in->store.now)
		health_add(h, FOUND_STORE, in->store.now == 1 ?
			   "%zu file of the state folder, %s, is not written in time or was damaged" :
			   "%zu files of the state folder, among them %s, are not written in time or were damaged",
			   in->store.now, in->store.file);
}

void health_history(const struct health_input *in, struct health *h)
{
	const struct history_state *s = &in->history;

	if (s->failing || s->hangs)
		health_add(h, FOUND_HISTORY_FAILS, "events are not kept on disk: %s; %" PRIu64 " %s dropped",
			   s->hangs ? "the disk does not answer" : s->why, s->dropped,
			   PLURAL(s->dropped, "was", "were"));
	else if (s->dropped)
		health_add(h, FOUND_HISTORY_DROPPED, "%" PRIu64 " event%s not kept on disk, because too many "
			   "were waiting", s->dropped, PLURAL(s->dropped, " was", "s were"));
}

void health_sa(const struct health_input *in, struct health *h)
{
	const struct sa_stats *sa = in->sa;

	if (sa && sa->busy && sa->window - sa->busy_window <= BUSY_WINDOWS)
		health_add(h, FOUND_SA_BUSY, "the subnet administrator answered requests with BUSY within the "
			   "last minute; %" PRIu64 " of %" PRIu64 " answers since the start", sa->busy,
			   sa->answered);
}
