/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Registers umad agents, and finds the agent that a MAD is for.
 *
 * An answer goes to the agent whose number is in the upper half of its transaction id.  Any other
 * MAD goes to the one agent of the port that registered for its class, version and method (and OUI,
 * for vendor classes 0x30..0x4f).
 */
#include <errno.h>
#include <stdlib.h>

#include "sim/host/parts.h"

/* The kernel's limits: the first class and version that are out of range. */
#define CLASSES_END	0x50
#define VERSIONS_END	0x83
#define SLOTS_MAX	0xffffu

static bool request_is_valid(const struct host_agent_request *r)
{
	if (r->rmpp_version > 1 || r->oui > 0xffffff)
		return false;
	if (r->mgmt_class == 0)		/* an agent that only sends requests */
		return !r->user_rmpp;
	if (r->class_version >= VERSIONS_END)
		return false;
	if (r->mgmt_class >= CLASSES_END && r->mgmt_class != CLASS_SM_DR)
		return false;
	if (class_is_vendor2(r->mgmt_class) && r->oui == 0)
		return false;
	return !r->rmpp_version || class_has_rmpp(r->mgmt_class);
}

/* --- methods --- */

static struct methods *methods_find(const struct host_port *hp, uint8_t mgmt_class,
				    uint8_t version, uint32_t oui)
{
	for (size_t i = 0; i < hp->methods.n; i++) {
		struct methods *m = hp->methods.v[i];

		if (m->mgmt_class == mgmt_class && m->version == version && m->oui == oui)
			return m;
	}
	return NULL;
}

static bool wants(const struct host_agent_request *r, unsigned method)
{
	return r->method_mask[method / 64] >> method % 64 & 1;
}

static bool methods_conflict(const struct methods *m, const struct host_agent_request *r)
{
	for (unsigned i = 0; m && i < ARRAY_SIZE(m->agent); i++)
		if (m->agent[i] && wants(r, i))
			return true;
	return false;
}

static void methods_take(struct host_port *hp, struct methods *m, struct host_agent *a,
			 const struct host_agent_request *r)
{
	if (!r->method_mask[0] && !r->method_mask[1])
		return;
	if (!m) {
		m = xcalloc(1, sizeof(*m));
		m->mgmt_class = a->mgmt_class;
		m->version = a->version;
		m->oui = a->oui;
		*vec_push(&hp->methods) = m;
	}
	for (unsigned i = 0; i < ARRAY_SIZE(m->agent); i++)
		if (wants(r, i)) {
			m->agent[i] = a;
			m->n++;
		}
}

static void methods_drop(struct host_port *hp, const struct host_agent *a)
{
	for (size_t i = 0; i < hp->methods.n; i++) {
		struct methods *m = hp->methods.v[i];

		for (unsigned j = 0; j < ARRAY_SIZE(m->agent); j++)
			if (m->agent[j] == a) {
				m->agent[j] = NULL;
				m->n--;
			}
		if (m->n == 0) {
			free(m);
			hp->methods.v[i--] = hp->methods.v[--hp->methods.n];
		}
	}
}

/* --- numbers --- */

/* A number for the agent that no agent has or had recently: 24 bits, never 0. 0 if none is left. */
static uint32_t hi_tid_take(struct hosts *hs, struct host_agent *a)
{
	size_t i = 0;

	while (i < hs->slots.n && hs->slots.v[i].agent)
		i++;
	if (i == SLOTS_MAX)
		return 0;
	if (i == hs->slots.n)
		*vec_push(&hs->slots) = (struct agent_slot){ 0 };
	hs->slots.v[i].agent = a;
	return (hs->slots.v[i].uses++ & 0xff) << 16 | (uint32_t)(i + 1);
}

static struct host_agent *agent_by_hi_tid(const struct hosts *hs, uint32_t hi_tid)
{
	uint32_t i = (hi_tid & 0xffff) - 1;
	struct host_agent *a = i < hs->slots.n ? hs->slots.v[i].agent : NULL;

	return a && a->hi_tid == hi_tid ? a : NULL;
}

/* --- start and end --- */

static int free_id(const struct host_file *h)
{
	for (int i = 0; i < HOST_AGENTS_MAX; i++)
		if (!h->agents[i])
			return i;
	return -ENOMEM;
}

static struct host_agent *agent_new(struct host_file *h, const struct host_agent_request *r)
{
	struct host_agent *a = xcalloc(1, sizeof(*a));

	a->file = h;
	a->mgmt_class = r->mgmt_class;
	a->version = r->class_version;
	a->oui = class_is_vendor2(r->mgmt_class) ? r->oui : 0;
	a->qp = !class_is_smp(r->mgmt_class);
	a->rmpp = r->rmpp_version && !r->user_rmpp;
	link_init(&a->sends);
	link_init(&a->receives);
	link_init(&a->done);
	return a;
}

int host_register(struct host_file *h, const struct host_agent_request *r)
{
	int id = free_id(h);

	if (id < 0)
		return id;
	if (!request_is_valid(r))
		return -EINVAL;

	struct host_agent *a = agent_new(h, r);
	struct methods *m = methods_find(h->port, a->mgmt_class, a->version, a->oui);

	a->id = (uint32_t)id;
	if (a->mgmt_class && methods_conflict(m, r)) {
		free(a);
		return -EINVAL;
	}
	a->hi_tid = hi_tid_take(h->hosts, a);
	if (!a->hi_tid) {
		free(a);
		return -ENOMEM;
	}
	if (a->mgmt_class)
		methods_take(h->port, m, a, r);
	h->agents[id] = a;
	return id;
}

void agent_free(struct host_agent *a)
{
	struct hosts *hs = a->file->hosts;

	while (!link_alone(&a->sends))
		txn_free(container_of(a->sends.next, struct txn, of_agent));
	rmpp_recv_free_all(a);
	methods_drop(a->file->port, a);
	hs->slots.v[(a->hi_tid & 0xffff) - 1].agent = NULL;
	a->file->agents[a->id] = NULL;
	free(a);
}

int host_unregister(struct host_file *h, uint32_t agent)
{
	if (agent >= HOST_AGENTS_MAX || !h->agents[agent])
		return -EINVAL;
	agent_free(h->agents[agent]);
	return 0;
}

/* --- look-up --- */

/* A reserved byte and the OUI follow the RMPP header. */
static uint32_t mad_oui(const uint8_t *mad)
{
	return class_is_vendor2(mad[MAD_CLASS]) ? get_be32(mad + RMPP_HEAD) & 0xffffff : 0;
}

struct host_agent *agent_for(const struct hosts *hs, uint32_t port, const uint8_t *mad)
{
	const struct host_port *hp = hs->ports[port];

	if (!hp)
		return NULL;
	if (mad_is_answer(mad)) {
		struct host_agent *a = agent_by_hi_tid(hs, get_be32(mad + MAD_TID));

		return a && a->file->port == hp ? a : NULL;
	}
	const struct methods *m = methods_find(hp, mad[MAD_CLASS], mad[MAD_CLASS_VERSION],
					       mad_oui(mad));
	return m ? m->agent[mad[MAD_METHOD] & 0x7f] : NULL;
}
