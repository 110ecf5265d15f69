/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * PortInfo (14.2.5.6) and the vendor's ExtendedPortInfo.
 *
 * A Set is merged into a copy by the writable bits of that kind of port, checked as a whole, and
 * only then stored: a refused Set changes nothing.  An unchanged field is never refused, so that a
 * manager can write back what it read.
 */
#include "sim/dev/dev_internal.h"

enum kind { END_PORT, EXTERNAL_PORT, ENHANCED_PORT0, BASE_PORT0, KINDS };

/* Writable fields: offset, number of bytes, and the bits of each byte at each kind of port. */
static const struct {
	uint8_t at, n, bits[KINDS];
} fields[] = {
	{ PI_MKEY, 20, { 0xff, 0, 0xff, 0xff } },	/* and GidPrefix, LID, MasterSMLID */
	{ PI_MKEY_LEASE, 2, { 0xff, 0, 0xff, 0xff } },
	{ PI_WIDTH_ENABLED, 1, { 0xff, 0xff, 0, 0 } },
	{ PI_PHYS_STATE_DOWN_DEFAULT, 1, { 0x0f, 0x0f, 0, 0 } },
	{ PI_MKEY_PROTECT_LMC, 1, { 0xc7, 0, 0xc7, 0xc0 } },
	{ PI_SPEED_ACTIVE_ENABLED, 1, { 0x0f, 0x0f, 0, 0 } },
	{ PI_MTU_SM_SL, 1, { 0xff, 0xf0, 0xff, 0x0f } },
	{ PI_VL_HIGH_LIMIT, 1, { 0xff, 0xff, 0xff, 0 } },
	{ PI_INIT_REPLY_MTU_CAP, 1, { 0xf0, 0, 0xf0, 0 } },
	{ PI_VL_STALL_HOQ_LIFE, 1, { 0xff, 0xff, 0, 0 } },
	{ PI_OP_VLS_ENFORCE, 1, { 0xf0, 0xff, 0xf0, 0 } },
	{ PI_MKEY_VIOLATIONS, 2, { 0xff, 0, 0xff, 0xff } },
	{ PI_PKEY_VIOLATIONS, 2, { 0xff, 0xff, 0xff, 0xff } },
	{ PI_QKEY_VIOLATIONS, 2, { 0xff, 0, 0xff, 0xff } },
	{ PI_REREG_SUBNET_TIMEOUT, 1, { PI_SUBNET_TIMEOUT, 0, PI_SUBNET_TIMEOUT, PI_SUBNET_TIMEOUT } },
	{ PI_PHY_OVERRUN_ERRORS, 1, { 0xff, 0xff, 0, 0 } },
	{ PI_EXT_2, 1, { PI_EXT_2_ENABLED, PI_EXT_2_ENABLED, 0, 0 } },
	{ PI_EXT_ENABLED, 1, { 0x1f, 0x1f, 0, 0 } },
};

void portinfo_writable(const struct sim_fabric *f, uint32_t port, uint8_t writable[SMP_DATA_SIZE])
{
	const struct sim_node *n = node_of(f, port);
	enum kind kind = !is_switch(n) ? END_PORT : f->ports[port].num ? EXTERNAL_PORT :
			 node_has_enhanced_port0(n) ? ENHANCED_PORT0 : BASE_PORT0;

	memset(writable, 0, SMP_DATA_SIZE);
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		memset(writable + fields[i].at, fields[i].bits[kind], fields[i].n);
}

/*
 * LinkSpeedExtEnabled and LinkSpeedExtEnabled2 are ignored in a Set unless SMSupportExtendedSpeeds
 * says that the manager knows them.
 */
static void resolve_ext(uint8_t *want, const uint8_t *now, uint32_t mod)
{
	uint8_t *ext = want + PI_EXT_ENABLED;
	unsigned second = want[PI_EXT_2] & PI_EXT_2_ENABLED;

	if (!(mod & PI_MOD_EXT_SPEEDS) || (*ext & 0x1f) == 0)
		*ext = now[PI_EXT_ENABLED];
	else if ((*ext & 0x1f) == 31)
		*ext = (uint8_t)low4(now + PI_EXT_ACTIVE_SUP);
	if (!(mod & PI_MOD_EXT_SPEEDS) || !second)
		second = now[PI_EXT_2] & PI_EXT_2_ENABLED;
	else if (second == PI_EXT_2_ALL)
		second = now[PI_EXT_2] >> 3 & 3;
	want[PI_EXT_2] = (uint8_t)second;
}

/* Replaces values with a special meaning: "no change", or "all that is supported". */
static void resolve(uint8_t *want, const uint8_t *now, uint32_t mod)
{
	unsigned speed = low4(want + PI_SPEED_ACTIVE_ENABLED);

	if (want[PI_WIDTH_ENABLED] == 0)
		want[PI_WIDTH_ENABLED] = now[PI_WIDTH_ENABLED];
	else if (want[PI_WIDTH_ENABLED] == 255)
		want[PI_WIDTH_ENABLED] = now[PI_WIDTH_SUPPORTED];
	if (speed == 0)
		set_low4(want + PI_SPEED_ACTIVE_ENABLED, low4(now + PI_SPEED_ACTIVE_ENABLED));
	else if (speed == 15)
		set_low4(want + PI_SPEED_ACTIVE_ENABLED, high4(now + PI_SPEED_SUP_STATE));
	resolve_ext(want, now, mod);
	if (low4(want + PI_PHYS_STATE_DOWN_DEFAULT) == 0)
		set_low4(want + PI_PHYS_STATE_DOWN_DEFAULT, low4(now + PI_PHYS_STATE_DOWN_DEFAULT));
	if (high4(want + PI_OP_VLS_ENFORCE) == 0)
		set_high4(want + PI_OP_VLS_ENFORCE, high4(now + PI_OP_VLS_ENFORCE));
	/* violation counters can be cleared, but not set */
	for (unsigned i = PI_MKEY_VIOLATIONS; i <= PI_QKEY_VIOLATIONS; i += 2)
		if (get_be16(want + i))
			memcpy(want + i, now + i, 2);
}

static bool is_unicast(unsigned lid)
{
	return lid > 0 && lid < SIM_LID_MCAST;
}

static bool lids_are_good(const uint8_t *new, const uint8_t *now)
{
	unsigned lid = get_be16(new + PI_LID), sm_lid = get_be16(new + PI_SM_LID);
	unsigned last_bits = (1u << (new[PI_MKEY_PROTECT_LMC] & 0x07)) - 1;

	if (lid != get_be16(now + PI_LID) && !is_unicast(lid))
		return false;
	if (lid & last_bits)
		return false;
	return sm_lid == get_be16(now + PI_SM_LID) || is_unicast(sm_lid);
}

/* A switch without enhanced port 0 has one LID (14.2.5.6). */
static unsigned highest_lmc(const struct smp *q)
{
	const struct sim_switch *sw = switch_of(q->s->f, q->node);
	unsigned cap = q->node->profile->lmc_cap;

	return sw && !q->node->profile->enhanced_port0 && !q->node->profile->ibsim ? 0 : cap;
}

/* Ignores an LMC that is too high; or returns false if the device refuses the whole Set. */
static bool limit_lmc(const struct smp *q, uint8_t *new, const uint8_t *now)
{
	uint8_t *at = new + PI_MKEY_PROTECT_LMC;

	if ((*at & 0x07) <= highest_lmc(q))
		return true;
	if (q->node->profile->refuses_lmc)
		return false;
	copy_bits(at, now[PI_MKEY_PROTECT_LMC], 0x07);
	return true;
}

static bool is_subset(unsigned enabled, unsigned supported)
{
	return (enabled & ~supported) == 0;
}

static bool rates_are_good(const uint8_t *new, const uint8_t *now)
{
	return is_subset(new[PI_WIDTH_ENABLED], now[PI_WIDTH_SUPPORTED]) &&
	       is_subset(low4(new + PI_SPEED_ACTIVE_ENABLED), high4(now + PI_SPEED_SUP_STATE)) &&
	       is_subset(ext_enabled(new), ext_supported(now));
}

static bool limits_are_good(const uint8_t *new)
{
	unsigned mtu = high4(new + PI_MTU_SM_SL);

	return mtu >= 1 && mtu <= low4(new + PI_INIT_REPLY_MTU_CAP) &&
	       high4(new + PI_OP_VLS_ENFORCE) <= high4(new + PI_VL_CAP_INIT_TYPE) &&
	       low4(new + PI_PHYS_STATE_DOWN_DEFAULT) <= SIM_PHYS_POLLING;
}

/* Whether the requested states are valid; 0 requests nothing. */
static bool command_is_good(const struct sim_port *p, unsigned state, unsigned phys_state)
{
	if (phys_state > SIM_PHYS_DISABLED)
		return false;
	if (phys_state != SIM_PHYS_NOP)
		return state <= SIM_PORT_DOWN;
	return port_state_allowed(p, state);
}

/* Removes bits that the device's capabilities do not include. */
static void mask_unsupported(const struct smp *q, uint32_t port, uint8_t *writable)
{
	const struct sim_switch *sw = switch_of(q->s->f, q->node);

	if (device_can(q->s->f, port, CAP_MCAST_PKEY_SUPPRESSION) && q->s->f->ports[port].guid)
		writable[PI_REREG_SUBNET_TIMEOUT] |= writable[PI_MKEY] ? 0x60 : 0;
	if (sw)		/* SwitchInfo has these four bits in the same order */
		writable[PI_OP_VLS_ENFORCE] &= (uint8_t)(0xf0 | sw->info[SI_FLAGS] >> 4);
}

static void merge(const struct smp *q, uint32_t port, const uint8_t *want, uint8_t *new)
{
	uint8_t writable[SMP_DATA_SIZE];

	portinfo_writable(q->s->f, port, writable);
	mask_unsupported(q, port, writable);
	memcpy(new, q->s->f->ports[port].info, SMP_DATA_SIZE);
	for (unsigned i = 0; i < SMP_DATA_SIZE; i++)
		copy_bits(&new[i], want[i], writable[i]);
}

static bool wants_reregister(const struct smp *q, uint32_t port)
{
	return (q->data[PI_REREG_SUBNET_TIMEOUT] & PI_CLIENT_REREGISTER) &&
	       is_end_port(q->s->f, port) && device_can(q->s->f, port, CAP_CLIENT_REREGISTER);
}

/*
 * Whether the Set takes down the link that its answer must take.  Such a Set is deferred, since
 * managers expect the answer: without it they would repeat the Set, and so take the link down, for
 * ever.
 */
static bool cuts_itself_off(const struct smp *q, const struct sim_port *p, unsigned state,
			    unsigned phys_state)
{
	bool down = state == SIM_PORT_DOWN && !q->node->profile->ibsim;	/* with ibsim's values, the link
									 * comes up again at once */

	return q->by_cable && q->in_num == p->num && (down || phys_state != SIM_PHYS_NOP);
}

static unsigned port_info_set(struct smp *q, uint32_t port)
{
	struct sim_port *p = &q->s->f->ports[port];
	bool has_link = p->num != 0;
	unsigned state = has_link ? low4(q->data + PI_SPEED_SUP_STATE) : SIM_PORT_NOP;
	unsigned phys_state = has_link ? high4(q->data + PI_PHYS_STATE_DOWN_DEFAULT) : SIM_PHYS_NOP;
	uint8_t new[SMP_DATA_SIZE];

	resolve(q->data, p->info, q->mod);
	merge(q, port, q->data, new);
	if (!command_is_good(p, state, phys_state) || !limit_lmc(q, new, p->info) || !lids_are_good(new, p->info) ||
	    !rates_are_good(new, p->info) || !limits_are_good(new))
		return STATUS_BAD_VALUE;
	q->changed = state || phys_state || wants_reregister(q, port);
	p->reregisters += wants_reregister(q, port);
	p->taken_down += p->state == SIM_PORT_ACTIVE && (state == SIM_PORT_DOWN || phys_state);
	if (smp_store(p->info, new, SMP_DATA_SIZE)) {
		q->changed = true;
		port_sync(q->s, port);
	}
	if (cuts_itself_off(q, p, state, phys_state))
		port_command_later(q->s, port, state, phys_state);
	else
		port_command(q->s, port, state, phys_state);
	link_watch_credits(q->s, port);
	return STATUS_OK;
}

/*
 * Hides extended speeds from a manager that does not claim to know them: it sees none, and QDR on a
 * link that runs at one.  CapabilityMask still announces them.
 */
static void hide_speeds(uint8_t *info)
{
	if (ext_active(info))
		set_high4(info + PI_SPEED_ACTIVE_ENABLED, SIM_SPEED_QDR);
	info[PI_EXT_ACTIVE_SUP] = info[PI_EXT_ENABLED] = info[PI_EXT_2] = 0;
}

static void port_info_get(struct smp *q, uint32_t port)
{
	const struct sim_port *p = &q->s->f->ports[port];

	memcpy(q->data, p->info, SMP_DATA_SIZE);
	if (q->node->profile->hides_speeds && !(q->mod & PI_MOD_EXT_SPEEDS))
		hide_speeds(q->data);
	q->data[PI_LOCAL_PORT] = q->in_num;
	if (!q->set && !q->trusted && mkey_protection(p) && get_be64(p->info + PI_MKEY) != q->mkey)
		put_be64(q->data + PI_MKEY, 0);
}

/* Any port of a CA may be used to read another port, but a port can only be set through itself. */
static bool may_reach(const struct smp *q, uint32_t port)
{
	return port != SIM_NONE && (!q->set || is_switch(q->node) || port == q->port);
}

unsigned sma_port_info(struct smp *q)
{
	uint32_t port = smp_port(q, q->mod & 0xff);
	bool reregister;
	unsigned status;

	if (!may_reach(q, port))
		return STATUS_BAD_VALUE;
	mkey_expire(q->s, port);
	reregister = q->set && wants_reregister(q, port);
	if (q->set) {
		status = port_info_set(q, port);
		if (status != STATUS_OK)
			return status;
	}
	port_info_get(q, port);
	if (reregister)		/* shown in the answer, but stored nowhere (o14-12.2.1) */
		q->data[PI_REREG_SUBNET_TIMEOUT] |= PI_CLIENT_REREGISTER;
	return STATUS_OK;
}

static unsigned extended_port_info_set(struct smp *q, struct device_port *d)
{
	if (!(q->data[XPI_STATE_CHANGE] & 1))
		return STATUS_OK;
	if (!is_subset(q->data[XPI_SPEED_ENABLED], d->fdr10_supported))
		return STATUS_BAD_VALUE;
	q->changed = smp_store(&d->fdr10_enabled, &q->data[XPI_SPEED_ENABLED], 1);
	return STATUS_OK;
}

/* LinkSpeedEnabled takes effect at the next training of the link.  Port 0 has no such fields. */
unsigned sma_extended_port_info(struct smp *q)
{
	uint32_t port = smp_port(q, q->mod & 0xff);
	struct device_port *d;
	unsigned status = STATUS_OK;
	bool has_link;

	if (!may_reach(q, port))
		return STATUS_BAD_VALUE;
	d = device_port(q->s, port);
	has_link = q->s->f->ports[port].num != 0;
	if (q->set && has_link)
		status = extended_port_info_set(q, d);
	if (status != STATUS_OK)
		return status;
	memset(q->data, 0, SMP_DATA_SIZE);
	if (has_link) {
		q->data[XPI_SPEED_SUPPORTED] = d->fdr10_supported;
		q->data[XPI_SPEED_ENABLED] = d->fdr10_enabled;
		q->data[XPI_SPEED_ACTIVE] = d->fdr10_active;
	}
	return STATUS_OK;
}
