/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sets what a device holds after a reset.
 *
 * The values are IBA's initial ones where it specifies them (14.2.5), else those of common
 * firmware.
 *
 * SLtoVL maps all SLs to VL 0, which every port has.  IBA specifies no value, and with this one a
 * manager without QoS, which only lowers OperationalVLs, loses no SL.
 *
 * Tables are allocated at the first reset and keep their size, which depends only on the profile.
 */
#include <stdlib.h>

#include "sim/dev/dev_internal.h"

#define GID_PREFIX_DEFAULT 0xfe80000000000000ull
#define PKEY_DEFAULT	0xffff
#define LIFE_TIME	18	/* SwitchInfo.LifeTimeValue: 1 s */
#define SUBNET_TIMEOUT	18
#define VL_STALL_COUNT	7
#define HOQ_LIFE	16
#define ERRORS_MAX	0xf	/* LocalPhyErrors, OverrunErrors: thresholds */
#define VLARB_WEIGHT	64

static void node_info(struct sim_node *n)
{
	uint8_t *info = n->info;

	memset(info, 0, sizeof(n->info));
	info[NI_BASE_VERSION] = 1;
	info[NI_CLASS_VERSION] = 1;
	info[NI_TYPE] = n->type;
	info[NI_PORTS] = n->nports;
	put_be64(info + NI_SYSTEM_GUID, n->sysimg_guid);
	put_be64(info + NI_GUID, n->guid);
	put_be16(info + NI_PARTITION_CAP, n->profile->pkey_cap);
	put_be16(info + NI_DEVICE_ID, n->device_id);
	put_be32(info + NI_REVISION, n->profile->revision);
	put_be32(info + NI_LOCAL_PORT_VENDOR, n->vendor_id & 0xffffff);
}

bool node_has_enhanced_port0(const struct sim_node *n)
{
	return n->enhanced_port0 || (!n->base_port0 && n->profile->enhanced_port0);
}

static void switch_info(const struct sim_node *n, struct sim_switch *sw)
{
	const struct sim_profile *pr = n->profile;
	uint8_t *info = sw->info;

	memset(info, 0, sizeof(sw->info));
	put_be16(info + SI_LINEAR_CAP, pr->lft_cap);
	put_be16(info + SI_MULTICAST_CAP, pr->mft_cap);
	info[SI_DEFAULT_MCAST_PRIMARY] = info[SI_DEFAULT_MCAST_NOT_PRIMARY] = SIM_LFT_DROP;
	info[SI_LIFE_TIME_STATE_OPT] = (uint8_t)(LIFE_TIME << 3 | pr->optimized_sl2vl);
	put_be16(info + SI_ENFORCE_CAP, pr->enforce_cap);
	info[SI_FLAGS] = SI_FLAG_FILTER_RAW;
	if (pr->enforce_cap)
		info[SI_FLAGS] |= SI_FLAG_ENFORCE;
	if (node_has_enhanced_port0(n))
		info[SI_FLAGS] |= SI_FLAG_ENHANCED_PORT0;
	sw->lft_top = 0;
}

/* Fields of ports with a LID. */
static void end_port_info(const struct sim_profile *pr, uint8_t *info)
{
	put_be64(info + PI_GID_PREFIX, GID_PREFIX_DEFAULT);
	put_be32(info + PI_CAPMASK, pr->capmask);
	put_be16(info + PI_CAPMASK2, pr->capmask2);
	info[PI_GUID_CAP] = pr->guid_cap;
	info[PI_REREG_SUBNET_TIMEOUT] = SUBNET_TIMEOUT;
	info[PI_RESP_TIME] = pr->resp_time;
}

/* Widths and speeds.  Port 0 of a switch has no link, but shows them, too. */
static void link_info(const struct sim_profile *pr, uint8_t *info)
{
	info[PI_WIDTH_ENABLED] = info[PI_WIDTH_SUPPORTED] = pr->widths;
	info[PI_WIDTH_ACTIVE] = pr->widths & SIM_WIDTH_4X ? SIM_WIDTH_4X : SIM_WIDTH_1X;
	set_high4(info + PI_SPEED_SUP_STATE, pr->speeds);
	set_low4(info + PI_PHYS_STATE_DOWN_DEFAULT, SIM_PHYS_POLLING);
	info[PI_SPEED_ACTIVE_ENABLED] = (uint8_t)(SIM_SPEED_SDR << 4 | pr->speeds);
	set_low4(info + PI_EXT_ACTIVE_SUP, pr->ext_speeds);
	info[PI_EXT_ENABLED] = pr->ext_speeds & 0x0f;
	info[PI_EXT_2] = (uint8_t)((pr->ext_speeds >> SIM_EXT_GROUP_2) << 3 |
				   pr->ext_speeds >> SIM_EXT_GROUP_2);
	info[PI_PHY_OVERRUN_ERRORS] = ERRORS_MAX << 4 | ERRORS_MAX;
}

/* CapabilityMask with what a host has set, which lives on. */
static uint32_t keep_of_host(const struct sim_node *n, uint32_t before, uint32_t capmask)
{
	if (!n->driven)
		return capmask | (before & CAP_IS_SM);
	return (capmask & ~CAP_OF_HOST) | (before & CAP_OF_HOST);
}

static void port_info(const struct sim_fabric *f, uint32_t port)
{
	struct sim_port *p = &f->ports[port];
	const struct sim_node *n = node_of(f, port);
	const struct sim_profile *pr = n->profile;
	uint32_t before = get_be32(p->info + PI_CAPMASK);
	uint8_t *info = p->info;

	memset(info, 0, sizeof(p->info));
	info[PI_MTU_SM_SL] = (uint8_t)(pr->mtu_cap << 4);
	info[PI_VL_CAP_INIT_TYPE] = (uint8_t)(pr->vl_cap << 4);
	info[PI_INIT_REPLY_MTU_CAP] = pr->mtu_cap;
	info[PI_OP_VLS_ENFORCE] = (uint8_t)(pr->vl_cap << 4);
	link_info(pr, info);
	if (is_end_port(f, port)) {
		end_port_info(pr, info);
		put_be32(info + PI_CAPMASK, keep_of_host(n, before, pr->capmask));
	}
	if (p->num || node_has_enhanced_port0(n)) {
		info[PI_VLARB_HIGH_CAP] = pr->vlarb_high;
		info[PI_VLARB_LOW_CAP] = pr->vlarb_low;
	}
	if (p->num && is_switch(n))
		info[PI_VL_STALL_HOQ_LIFE] = VL_STALL_COUNT << 5 | HOQ_LIFE;
}

/* Gives all VLs equal weight, at low priority. */
static void fill_vlarb(struct sim_port *p, const struct sim_profile *pr)
{
	unsigned vls = vls_of_code(pr->vl_cap);

	memset(p->arb_high, 0, sizeof(p->arb_high));
	memset(p->arb_low, 0, sizeof(p->arb_low));
	for (unsigned i = 0; i < vls && i < pr->vlarb_low; i++) {
		p->arb_low[2 * i] = (uint8_t)i;
		p->arb_low[2 * i + 1] = VLARB_WEIGHT;
	}
}

static void fill_pkeys(const struct sim_fabric *f, uint32_t port)
{
	struct sim_port *p = &f->ports[port];
	const struct sim_profile *pr = node_of(f, port)->profile;

	p->n_pkeys = is_end_port(f, port) ? pr->pkey_cap : pr->enforce_cap;
	if (!p->n_pkeys)
		return;
	if (!p->pkeys)
		p->pkeys = xcalloc(p->n_pkeys, sizeof(*p->pkeys));
	memset(p->pkeys, 0, p->n_pkeys * sizeof(*p->pkeys));
	p->pkeys[0] = PKEY_DEFAULT;
}

static void fill_guids(const struct sim_fabric *f, uint32_t port)
{
	struct sim_port *p = &f->ports[port];

	p->n_guids = is_end_port(f, port) ? node_of(f, port)->profile->guid_cap : 0;
	if (!p->n_guids)
		return;
	if (!p->guids)
		p->guids = xcalloc(p->n_guids, sizeof(*p->guids));
	memset(p->guids, 0, p->n_guids * sizeof(*p->guids));
	p->guids[0] = p->guid;
}

static void port_values(struct sim *s, uint32_t port)
{
	struct sim_port *p = &s->f->ports[port];
	const struct sim_node *n = node_of(s->f, port);
	struct device_port *d = device_port(s, port);

	p->disabled = false;
	p->mkey_lease_end = 0;
	port_info(s->f, port);
	fill_pkeys(s->f, port);
	fill_guids(s->f, port);
	fill_vlarb(p, n->profile);
	if (!is_switch(n)) {
		if (!p->sl2vl)
			p->sl2vl = xmalloc(SL2VL_SIZE);
		memset(p->sl2vl, 0, SL2VL_SIZE);
	}
	if (p->counters)
		memset(p->counters, 0, sizeof(*p->counters));
	d->fdr10_supported = d->fdr10_enabled = n->profile->fdr10 ? XPI_FDR10 : 0;
	d->fdr10_active = 0;
	d->led = 0;
	congestion_forget(s, port);
	notices_drop(s, port);
}

static void switch_values(struct sim_node *n, struct sim_switch *sw)
{
	const struct sim_profile *pr = n->profile;
	size_t lft_size = (pr->lft_cap + 63u) & ~63u;
	size_t pairs = (n->nports + 1u) * (n->nports + 1u);

	switch_info(n, sw);
	if (!sw->lft)
		sw->lft = xmalloc(lft_size);
	memset(sw->lft, SIM_LFT_DROP, lft_size);
	free(sw->adaptive_lft);
	sw->adaptive_lft = NULL;
	free(sw->private_lft);
	sw->private_lft = NULL;
	sw->private_mode = 0;
	if (!sw->sl2vl)
		sw->sl2vl = xmalloc(pairs * SL2VL_SIZE);
	memset(sw->sl2vl, 0, pairs * SL2VL_SIZE);
	free(sw->mft);
	sw->mft = NULL;
}

void node_forget_host(struct sim *s, uint32_t node)
{
	struct sim_node *n = &s->f->nodes[node];

	memcpy(n->desc, n->given_desc, sizeof(n->desc));
	for (uint32_t port = n->port0 + 1; port <= n->port0 + n->nports; port++)
		put_be32(s->f->ports[port].info + PI_CAPMASK, n->profile->capmask);
}

void node_power_on_values(struct sim *s, uint32_t node)
{
	struct sim_node *n = &s->f->nodes[node];
	struct sim_switch *sw = switch_of(s->f, n);
	uint32_t first = first_port(n);

	if (!n->driven)
		memcpy(n->desc, n->given_desc, sizeof(n->desc));
	node_info(n);
	if (sw)
		switch_values(n, sw);
	for (uint32_t port = first; port <= n->port0 + n->nports; port++)
		port_values(s, port);
	if (n->profile->ibsim)
		ibsim_node_values(s, node);
	for (uint32_t port = first; port <= n->port0 + n->nports; port++) {
		bool port0 = port == n->port0;

		port_set_state(s, port, port0 ? SIM_PORT_ACTIVE : SIM_PORT_DOWN,
			       port0 ? SIM_PHYS_LINK_UP : SIM_PHYS_POLLING);
		port_sync(s, port);
	}
	lies_forget(s, node);
}
