/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads those speeds of links that PortInfo, as discovery reads it, does not show, as a step of a
 * sweep.
 *
 * The step walks over the ports once, and sends nothing for a port whose PortInfo shows all.
 *
 * Extended speeds.  A device may hide all LinkSpeedExt* fields from a Get without
 * SMSupportExtendedSpeeds, and show a link that runs at an extended speed as QDR.  No libibnetdisc
 * sets that bit.  So a port is read once more if its device claims extended speeds and its PortInfo
 * has none, unless the port was read or set with the bit since it was discovered.  Some devices,
 * older ones and simulated ones, claim extended speeds and have none: so two ports of each switch
 * are read first, as a job of their own.  If neither shows more with the bit than without, the
 * other ports of the switch are not read, nor are the CA ports at the far ends of its links: a link
 * runs at a speed that both of its ends have.
 *
 * FDR10.  PortInfo shows it as QDR; only ExtendedPortInfo, a vendor-specific attribute, tells the
 * difference.  It is asked once per link, at one end, and only if both ends may know the attribute,
 * the link runs at QDR, and it is not a link of the last sweep that stayed up since.  Devices of
 * the vendor that no public list names are asked, too.  A device that answers with a status, or not
 * at all, is not asked again.
 *
 * `link-speed: supported` enables FDR10 at both ends of links that run at QDR or less, so both ends
 * are asked then.  It takes effect when the link next trains.  This step sends the Set: no plan
 * contains it, and nothing depends on it.
 */
#include <string.h>

#include <infiniband/mad.h>
#include <infiniband/umad_sm.h>

#include "lib/base/bytes.h"
#include "lib/base/log.h"
#include "sm/sm_internal.h"
#include "sm/sweep/reading.h"

#define LINK_SPEED_ACTIVE_QDR 4
#define FDR10 1u		/* bit in all speed fields of ExtendedPortInfo */
#define CHANGE_SPEED 1u		/* bit of StateChangeEnable: LinkSpeedEnabled is valid */

#define VENDOR_BULL 0x00119f
#define VENDOR_ANY 0

/* Devices of the FDR10 generation and later; VENDOR_ANY: several vendors sell them. */
static const struct {
	uint32_t vendor;
	uint16_t first, last;
} kinds[] = {
	/* SwitchX, Switch-IB, Quantum; ConnectX-3 to ConnectX-6; BlueField */
	{ VENDOR_ANY, 0xc738, 0xc73b }, { VENDOR_ANY, 0xc839, 0xc839 },
	{ VENDOR_ANY, 0xcb20, 0xcb20 }, { VENDOR_ANY, 0xcf08, 0xcf09 },
	{ VENDOR_ANY, 0xd2f0, 0xd2f0 }, { VENDOR_ANY, 0x1003, 0x101b },
	{ VENDOR_ANY, 0xa2d2, 0xa2d2 },
	/* the same devices, sold by Bull */
	{ VENDOR_BULL, 0x1b02, 0x1b02 }, { VENDOR_BULL, 0x1b33, 0x1b33 },
	{ VENDOR_BULL, 0x1b40, 0x1b41 }, { VENDOR_BULL, 0x1b50, 0x1b50 },
	{ VENDOR_BULL, 0x1b60, 0x1b61 }, { VENDOR_BULL, 0x1b73, 0x1b73 },
	{ VENDOR_BULL, 0x1b83, 0x1b83 }, { VENDOR_BULL, 0x1b93, 0x1b94 },
	{ VENDOR_BULL, 0x1ba0, 0x1ba0 }, { VENDOR_BULL, 0x1bb4, 0x1bb5 },
	{ VENDOR_BULL, 0x1bc4, 0x1bc6 }, { VENDOR_BULL, 0x1bd0, 0x1bd5 },
	{ VENDOR_BULL, 0x1bf0, 0x1bf0 },
};

/* Mellanox ranges in no public list: adapters, BlueField and switches, some not released yet. */
static const struct device_range guesses[] = {
	{ 0x101c, 0x10ff }, { 0xa2d3, 0xa2ff }, { 0xcb21, 0xcfff }, { 0xd2f1, 0xd2ff },
};

/* --- extended speeds --- */

static bool hides_speeds(const struct fabric *f, uint32_t port)
{
	const struct fabric_port *p = &f->ports[port];
	const struct fabric_port *a = &f->ports[agent_port(f, p->node, p->num)];
	void *info = (void *)(uintptr_t)a->info;	/* libibmad only reads */
	unsigned supported = ib_ext_supported(p->info);

	if (!p->plain || !port_is_linked(f, port) || !(a->capmask & IB_CAP_EXT_SPEEDS))
		return false;
	if (!supported && !ib_ext_active(p->info))
		return true;
	return (a->capmask & IB_CAP_MASK2) && !(supported >> IB_EXT_GROUP_2) &&
	       (mad_get_field(info, 0, IB_PORT_CAPMASK2_F) & IB_CAP2_EXT_SPEEDS_2);
}

static bool ask_port_info(struct sm *sm, uint32_t node, unsigned num, struct smp *s)
{
	if (!hides_speeds(sm->sweep.f, sm->sweep.f->nodes[node].port0 + num) || !want_route(sm->sweep.f, node, num, s))
		return false;
	sweep_fill_smp(sm, s, SMP_GET, UMAD_SM_ATTR_PORT_INFO,
		       port_info_modifier(sm->sweep.f, node, num));
	return true;
}

/* Samples the first and the last port of a switch that hides its speeds; cookie: the port. */
static bool next_sample(void *arg, uint32_t node, struct smp *s, uint64_t *cookie)
{
	struct sm *sm = arg;
	struct node_work *w = &sm->sweep.work[node];
	const struct fabric_node *n = &sm->sweep.f->nodes[node];

	if (w->failed || !node_is_switch(n) || !sweep_touches(sm, node))
		return false;
	while (!w->speed_samples && w->cursor < n->nports)
		if (ask_port_info(sm, node, ++w->cursor, s)) {
			*cookie = n->port0 + w->cursor;
			w->speed_samples++;
			return true;
		}
	for (unsigned num = n->nports; w->speed_samples == 1 && num > w->cursor; num--)
		if (ask_port_info(sm, node, num, s)) {
			*cookie = n->port0 + num;
			w->speed_samples++;
			return true;
		}
	return false;
}

static void sample_done(void *arg, uint32_t node, const struct smp *s, uint64_t cookie, int status)
{
	struct sm *sm = arg;
	struct fabric_port *p = &sm->sweep.f->ports[cookie];

	if (status < 0) {
		sweep_smp_lost(sm, node, "reading extended speeds");
		return;
	}
	sweep_heard(sm, node);
	sm->sweep.work[node].speed_same += status ||
		(ib_ext_supported(s->data) == ib_ext_supported(p->info) &&
		 ib_ext_active(s->data) == ib_ext_active(p->info));
	if (!status)
		fabric_port_store(p, s->data);
}

/* The samples of the switch showed nothing new. */
static bool has_no_more(const struct sm *sm, uint32_t node)
{
	const struct node_work *w = &sm->sweep.work[node];

	return w->speed_samples && w->speed_samples == w->speed_same;
}

/* The port's node, or its far end, is a switch without extended speeds. */
static bool has_nothing_to_hide(const struct sm *sm, uint32_t port)
{
	const struct fabric *f = sm->sweep.f;
	uint32_t peer = f->ports[port].peer;

	return has_no_more(sm, f->ports[port].node) ||
	       (peer != FABRIC_NONE && !ib_ext_supported(f->ports[peer].info) &&
		has_no_more(sm, f->ports[peer].node));
}

/* --- FDR10 --- */

/* The node may know ExtendedPortInfo; *guessed: by a guess only. */
static bool find_kind(const struct fabric_node *n, bool *guessed)
{
	void *info = (void *)(uintptr_t)n->info;
	uint32_t vendor = mad_get_field(info, 0, IB_NODE_VENDORID_F);
	uint32_t device = mad_get_field(info, 0, IB_NODE_DEVID_F);

	*guessed = false;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if ((kinds[i].vendor == VENDOR_ANY || kinds[i].vendor == vendor) &&
		    device >= kinds[i].first && device <= kinds[i].last)
			return true;
	*guessed = true;
	return node_is_one_of(n, guesses, ARRAY_SIZE(guesses));
}

static bool node_may_know(const struct sm *sm, const struct fabric_node *n)
{
	bool guessed;

	return find_kind(n, &guessed) &&
		map64_get(&sm->known.no_ext_port_info, n->guid) == MAP64_NONE;
}

/* The same port in the fabric of the last sweep, or NULL. */
static const struct fabric_port *port_before(const struct sm *sm, uint32_t port)
{
	const struct fabric *old = sm->published ? sm->published->f : NULL;
	unsigned num = sm->sweep.f->ports[port].num;
	uint32_t node;

	if (!old)
		return NULL;
	node = map64_get(&old->node_by_guid, port_node(sm->sweep.f, port)->guid);
	if (node == MAP64_NONE || num > old->nodes[node].nports)
		return NULL;
	return fabric_port(old, node, num);
}

/* Takes the last sweep's result if the link never went down: it would be in Init again. */
static bool take_from_last(struct sm *sm, uint32_t port)
{
	struct fabric_port *p = &sm->sweep.f->ports[port];
	const struct fabric_port *a = port_before(sm, port), *b = port_before(sm, p->peer);

	if (!a || !b || a->peer == FABRIC_NONE ||
	    &sm->published->f->ports[a->peer] != b || a->state != IB_PORT_ACTIVE_S ||
	    b->state != IB_PORT_ACTIVE_S || p->state != IB_PORT_ACTIVE_S ||
	    sm->sweep.f->ports[p->peer].state != IB_PORT_ACTIVE_S)
		return false;
	fabric_set_fdr10(sm->sweep.f, port, a->fdr10);
	p->fdr10_enabled = a->fdr10_enabled;
	return true;
}

/* FDR10 should be enabled at the port, if both ends know it. */
static bool is_to_enable(const struct sm *sm, uint32_t port)
{
	return sm->settings->link_speed == LINK_SUPPORTED && sweep_is(sm)->writes &&
	       !sm->sweep.f->ports[port].fdr10_enabled;
}

static bool is_to_ask(struct sm *sm, uint32_t port)
{
	const struct fabric_port *p = &sm->sweep.f->ports[port];
	unsigned speed = mad_get_field((void *)(uintptr_t)p->info, 0, IB_PORT_LINK_SPEED_ACTIVE_F);
	bool known;

	if (!port_is_linked(sm->sweep.f, port) || ib_ext_active(p->info) ||
	    !node_may_know(sm, port_node(sm->sweep.f, port)) ||
	    !node_may_know(sm, port_node(sm->sweep.f, p->peer)))
		return false;
	known = take_from_last(sm, port);
	/* the end that discovery found first reports the speed */
	return (!known && speed == LINK_SPEED_ACTIVE_QDR && p->peer > port) ||
	       is_to_enable(sm, port);
}

static void take_fdr10(struct sm *sm, uint32_t port, const struct smp *s)
{
	struct node_work *w = &sm->sweep.work[sm->sweep.f->ports[port].node];
	void *data = (void *)(uintptr_t)s->data;

	sm->sweep.f->ports[port].fdr10_enabled =
		!(mad_get_field(data, 0, IB_MLNX_EXT_PORT_LINK_SPEED_SUPPORTED_F) & FDR10) ||
		(mad_get_field(data, 0, IB_MLNX_EXT_PORT_LINK_SPEED_ENABLED_F) & FDR10);
	if (mad_get_field(data, 0, IB_MLNX_EXT_PORT_LINK_SPEED_ACTIVE_F) & FDR10)
		fabric_set_fdr10(sm->sweep.f, port, true);
	if (s->method == SMP_GET && is_to_enable(sm, port)) {
		struct speed_set *x = vec_push(&w->speeds);

		x->num = sm->sweep.f->ports[port].num;
		memcpy(x->info, s->data, sizeof(x->info));
	}
}

/* --- the walk --- */

/* The upper half of a cookie; the lower one is the port. */
enum { PORT_INFO, EXT_PORT_INFO };
#define COOKIE(what, port) ((uint64_t)(what) << 32 | (port))

static bool next_set(struct sm *sm, uint32_t node, struct smp *s, uint64_t *cookie)
{
	struct node_work *w = &sm->sweep.work[node];
	const struct speed_set *x;

	while (w->speeds.n) {
		x = &w->speeds.v[--w->speeds.n];
		if (!want_route(sm->sweep.f, node, x->num, s))
			continue;
		sweep_fill_set(sm, node, s, IB_ATTR_MLNX_EXT_PORT_INFO, x->num);
		memcpy(s->data, x->info, sizeof(s->data));
		mad_set_field(s->data, 0, IB_MLNX_EXT_PORT_STATE_CHG_ENABLE_F, CHANGE_SPEED);
		mad_set_field(s->data, 0, IB_MLNX_EXT_PORT_LINK_SPEED_ENABLED_F, FDR10);
		*cookie = COOKIE(EXT_PORT_INFO, sm->sweep.f->nodes[node].port0 + x->num);
		return true;
	}
	return false;
}

/* Reads ports that hide their speeds; once all ports of a node are read, those that may run at FDR10. */
static bool next(void *arg, uint32_t node, struct smp *s, uint64_t *cookie)
{
	struct sm *sm = arg;
	struct node_work *w = &sm->sweep.work[node];
	const struct fabric_node *n = &sm->sweep.f->nodes[node];

	if (w->failed || !sweep_touches(sm, node))
		return false;
	while (w->cursor < n->nports) {
		unsigned num = ++w->cursor;

		if (has_nothing_to_hide(sm, n->port0 + num) || !ask_port_info(sm, node, num, s))
			continue;
		*cookie = COOKIE(PORT_INFO, n->port0 + num);
		w->hidden++;
		return true;
	}
	while (!w->hidden && w->cursor < 2u * n->nports) {
		unsigned num = ++w->cursor - n->nports;

		if (!is_to_ask(sm, n->port0 + num) || !want_route(sm->sweep.f, node, num, s))
			continue;
		sweep_fill_smp(sm, s, SMP_GET, IB_ATTR_MLNX_EXT_PORT_INFO, num);
		*cookie = COOKIE(EXT_PORT_INFO, n->port0 + num);
		return true;
	}
	return next_set(sm, node, s, cookie);
}

/* The device lacks the attribute or refuses the Set: it is left alone until this daemon ends. */
static void knows_not(struct sm *sm, uint32_t port, const struct smp *s, int status)
{
	bool guessed;

	if (status < 0 && find_kind(port_node(sm->sweep.f, port), &guessed) && !guessed) {
		sweep_smp_lost(sm, sm->sweep.f->ports[port].node, "reading ExtendedPortInfo");
		return;
	}
	map64_put(&sm->known.no_ext_port_info, port_node(sm->sweep.f, port)->guid, 1);
	if (s->method == SMP_SET)
		log_warn("sweep", "%s: cannot enable FDR10 (status 0x%04x)",
			 PORT_NAME(sm->sweep.f, port), (unsigned)status);
}

/* If a device does not answer with the bit, or for the attribute, its earlier answer stands. */
static void done(void *arg, uint32_t node, const struct smp *s, uint64_t cookie, int status)
{
	struct sm *sm = arg;
	struct node_work *w = &sm->sweep.work[node];
	uint32_t port = (uint32_t)cookie;

	if (status >= 0)
		sweep_heard(sm, node);
	if (cookie >> 32 == PORT_INFO) {
		w->hidden--;
		if (status < 0)
			sweep_smp_lost(sm, node, "reading extended speeds");
		else if (!status)
			fabric_port_store(&sm->sweep.f->ports[port], s->data);
	} else if (status) {
		knows_not(sm, port, s, status);
	} else {
		take_fdr10(sm, port, s);
	}
}

static void samples_finished(void *arg)
{
	static const struct smp_job_ops ops = { next, done, sweep_job_over };
	struct sm *sm = arg;

	for (uint32_t i = 0; i < sm->sweep.f->n_nodes; i++)
		sm->sweep.work[i].cursor = 0;
	sm->sweep.job = smp_job_start(sm->mad, sm->sweep.f->n_nodes, &ops, sm);
}

enum step_result speeds_start(struct sm *sm)
{
	static const struct smp_job_ops ops = { next_sample, sample_done, samples_finished };

	sm->sweep.job = smp_job_start(sm->mad, sm->sweep.f->n_nodes, &ops, sm);
	return RESULT_WAIT;
}
