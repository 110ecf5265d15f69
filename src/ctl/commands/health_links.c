/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Judges ports and the links between them; see health_judges.h. */
#include "ctl/commands/health_judges.h"

#include <inttypes.h>

#include <infiniband/umad_sm.h>

#include "events/topology_events.h"
#include "plan/feasible/feasible.h"
#include "sm/sweep/want.h"

static bool is_excluded(const struct health_input *in, uint32_t port)
{
	for (size_t i = 0; i < in->n_left; i++)
		if (in->left[i].near == port)
			return true;
	return false;
}

void health_far_ends(const struct health_input *in, struct health *h)
{
	const struct subnet_state *s = in->state;
	size_t left = 0;
	struct health_list silent = { h, FOUND_NO_FAR_END, 0 };
	char name[FABRIC_NAME_MAX];

	for (uint32_t i = 0; i < s->f->n_ports; i++) {
		const struct fabric_port *p = &s->f->ports[i];

		if (!p->present || !p->num || p->state < IB_PORT_INIT_S || p->peer != FABRIC_NONE || p->isolated)
			continue;
		if (is_excluded(in, i))
			left++;
		else
			health_list_add(&silent, "%s has a link, but its far end does not answer",
					fabric_port_name(s->f, i, name, sizeof(name)));
	}
	health_list_end(&silent);
	if (s->f->unanswered > silent.n + left) {
		size_t n = s->f->unanswered - silent.n - left;

		health_add(h, FOUND_SILENT_SWITCH_PORTS, "%zu switch port%s %s not answer", n, PLURAL_S(n),
			   PLURAL(n, "does", "do"));
	}
}

/*
 * True if the port cannot become Active because its device, or the one at the other end, refuses
 * Sets, which is reported elsewhere.
 */
static bool port_is_refused(const struct health_input *in, uint32_t port)
{
	const struct fabric *f = in->state->f;

	return in->n_refused && (device_refuses(in, f->ports[port].node, UMAD_SM_ATTR_PORT_INFO) ||
				 device_refuses(in, f->ports[f->ports[port].peer].node,
						UMAD_SM_ATTR_PORT_INFO));
}

void health_ports(const struct health_input *in, struct health *h)
{
	const struct subnet_state *s = in->state;
	static const char *const states[] = { "in no state", "Down", "Init", "Armed", "Active" };
	struct health_list idle = { h, FOUND_PORT_NOT_ACTIVE, 0 };
	struct health_list twice = { h, FOUND_DUPLICATE_PORT, 0 };
	struct health_list nameless = { h, FOUND_NO_LID, 0 };
	char name[FABRIC_NAME_MAX], other[FABRIC_NAME_MAX];

	for (uint32_t i = 0; i < s->f->n_ports; i++) {
		const struct fabric_port *p = &s->f->ports[i];
		uint32_t first;

		fabric_port_name(s->f, i, name, sizeof(name));
		if (port_is_duplicate(s->f, i, &first))
			health_list_add(&twice, "%s has the port GUID of %s", name,
					fabric_port_name(s->f, first, other, sizeof(other)));
		else if (port_is_end(s->f, i) && p->state >= IB_PORT_INIT_S && !s->plan->lid[i])
			health_list_add(&nameless, "%s has no LID", name);
		if (port_is_linked(s->f, i) && p->state < IB_PORT_ACTIVE_S && !port_is_refused(in, i))
			health_list_add(&idle, "%s is %s", name, states[p->state]);
	}
	health_list_end(&idle);
	health_list_end(&twice);
	health_list_end(&nameless);
}

void health_links(const struct health_input *in, struct health *h)
{
	const struct subnet_state *s = in->state;
	const struct feasibility *v = s->plan->feasible;
	struct health_list slow = { h, FOUND_LINK_DEVIATES, 0 };
	char a[FABRIC_NAME_MAX], b[FABRIC_NAME_MAX];

	for (uint32_t i = 0; v && i < v->n_deviations; i++) {
		uint32_t port = v->deviations[i].port;

		health_list_add(&slow, "link %s to %s: %s", fabric_port_name(s->f, port, a, sizeof(a)),
				fabric_port_name(s->f, s->f->ports[port].peer, b, sizeof(b)),
				v->deviations[i].why);
	}
	health_list_end(&slow);
}

void health_lmc(const struct health_input *in, struct health *h)
{
	const struct subnet_state *s = in->state;
	struct health_list few = { h, FOUND_LMC_REFUSED, 0 };
	const struct plan *p = s->plan;
	char name[FABRIC_NAME_MAX];

	for (uint32_t i = 0; p->lmc_in_force && i < s->f->n_ports; i++)
		if (p->lid[i] && p->lmc_in_force[i] != p->lmc[i])
			health_list_add(&few, "%s keeps an LMC of %u instead of %u",
					fabric_port_name(s->f, i, name, sizeof(name)), p->lmc_in_force[i],
					p->lmc[i]);
	health_list_end(&few);
}

void health_flaps(const struct health_input *in, struct health *h)
{
	struct health_list flaps = { h, FOUND_LINK_FLAPPING, 0 };

	for (size_t i = 0; i < in->n_flaps; i++) {
		struct buf text = { 0 };

		sm_flap_text(in->state ? in->state->f : NULL, &in->flaps[i], &text);
		health_list_take(&flaps, text.s);
	}
	health_list_end(&flaps);
}
