/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads the keys of a profile, which qosd-sim(1) explains. */

#include "sim/dev/profile.h"

/* PortInfo codes count from 1, the index of a word from 0. */
static void read_code(struct reader *r, const struct node *n, const struct key *k, void *at)
{
	uint8_t index = UINT8_MAX;

	read_choice(r, n, k, &index);
	if (index != UINT8_MAX)
		*(uint8_t *)at = index + 1;
}

/* Reads a list of k->words as a mask, bit 0 for the first; the bits of k->min are required. */
static bool read_bits(struct reader *r, const struct node *n, const struct key *k, unsigned *bits)
{
	const struct key one = { .words = k->words, .size = 1 };
	size_t count;

	*bits = 0;
	for (const struct node *i = node_items(n, &count); i; i = i->next) {
		uint8_t index = UINT8_MAX;

		read_choice(r, i, &one, &index);
		if (index == UINT8_MAX)
			return false;
		*bits |= 1u << index;
	}
	if ((*bits & k->min) == k->min)
		return true;
	read_error(r, n->pos, "'%s' is missing: every port supports it", k->words[0]);
	return false;
}

/* Reads such a list into a field. */
static void read_mask(struct reader *r, const struct node *n, const struct key *k, void *at)
{
	unsigned bits;

	if (read_bits(r, n, k, &bits))
		read_store(at, k->size, bits);
}

static const char *const speed_words[] = {
	"sdr", "ddr", "qdr", "fdr", "edr", "hdr", "ndr", "fdr10", "xdr", "later", NULL
};
#define SPEED_BITS 0x07		/* split of speed_words: LinkSpeed, LinkSpeedExt, then FDR10, XDR and later */
#define EXT_SHIFT 3
#define EXT_BITS 0x0f
#define FDR10_BIT 0x80
#define XDR_BIT 0x100
#define LATER_BIT 0x200

static void read_speeds(struct reader *r, const struct node *n, const struct key *k, void *at)
{
	struct sim_profile *p = at;
	unsigned bits;

	if (!read_bits(r, n, k, &bits))
		return;
	p->speeds = bits & SPEED_BITS;
	p->ext_speeds = (bits >> EXT_SHIFT & EXT_BITS) | (bits & XDR_BIT ? SIM_EXT_XDR : 0) |
			(bits & LATER_BIT ? SIM_EXT_LATER : 0);
	p->fdr10 = bits & FDR10_BIT;
}

/* Reads a flag for the bits k->max of CapabilityMask. */
static void read_capability(struct reader *r, const struct node *n, const struct key *k, void *at)
{
	struct sim_profile *p = at;
	bool on = (p->capmask & k->max) == k->max;

	read_bool(r, n, k, &on);
	if (on)
		p->capmask |= (uint32_t)k->max;
	else
		p->capmask &= ~(uint32_t)k->max;
}

/* Skips "like", which is resolved elsewhere. */
static void read_nothing(struct reader *r, const struct node *n, const struct key *k, void *at)
{
	(void)r;
	(void)n;
	(void)k;
	(void)at;
}

static const char *const vl_words[] = { "1", "2", "4", "8", "15", NULL };
static const char *const mtu_words[] = { "256", "512", "1024", "2048", "4096", NULL };
static const char *const width_words[] = { "1x", "4x", "8x", "12x", "2x", NULL };
static const char *const module_words[] = { "auto", "none", "copper", "qsfp28", "osfp", NULL };
static const char *const refuses_words[] = {
	"port-info", "port-state", "mixed-port-info", "switch-info", "guid-info", "pkey-table",
	"sl2vl", "vlarb", "lft", "mft", "adaptive-routing", "pkey-table-0", NULL
};
static const char *const lie_words[] = {
	"keeps-tables", "keeps-portinfo", "wrong-status", "stale-get", "optimized",
	"refuses-tables", "keeps-multicast-top", "refuses-multicast-top", "local-port",
	"silent-port-0", "silent-pkeys", NULL
};

#define AT(member) FIELD(struct sim_profile, member)
#define MICROSECONDS .unit = 1e-6

static const struct key profile_keys[] = {
	{ "like", read_nothing, WHOLE },
	{ "vendor-id", read_uint, AT(vendor_id), .max = 0xffffff },
	{ "device-id", read_uint, AT(device_id), .max = UINT16_MAX },
	{ "revision", read_uint, AT(revision), .max = UINT32_MAX },

	{ "vl-cap", read_code, AT(vl_cap), .words = vl_words },
	{ "vlarb-high", read_uint, AT(vlarb_high), .max = 64 },
	{ "vlarb-low", read_uint, AT(vlarb_low), .max = 64 },
	{ "mtu", read_code, AT(mtu_cap), .words = mtu_words },
	{ "widths", read_mask, AT(widths), .words = width_words, .min = SIM_WIDTH_1X },
	{ "speeds", read_speeds, WHOLE, .words = speed_words, .min = SIM_SPEED_SDR },
	{ "pkeys", read_uint, AT(pkey_cap), .min = 1, .max = UINT16_MAX },
	{ "enforce-pkeys", read_uint, AT(enforce_cap), .max = UINT16_MAX },
	{ "guids", read_uint, AT(guid_cap), .min = 1, .max = UINT8_MAX },
	{ "adaptive-routing", read_bool, AT(adaptive) },
	{ "congestion-control", read_bool, AT(congestion_control) },
	{ "registers", read_bool, AT(registers) },
	{ "module", read_choice, AT(module), .words = module_words },
	{ "lmc", read_uint, AT(lmc_cap), .max = SIM_LMC_MAX },
	{ "refuses-lmc", read_bool, AT(refuses_lmc) },
	{ "lft", read_uint, AT(lft_cap), .min = 1, .max = SIM_LID_MCAST },
	{ "mft", read_uint, AT(mft_cap), .min = 1, .max = SIM_LID_PERMISSIVE - SIM_LID_MCAST },
	{ "hides-speeds", read_bool, AT(hides_speeds) },
	{ "extended-active", read_bool, AT(extended_active) },
	{ "enhanced-port0", read_bool, AT(enhanced_port0) },
	{ "optimized-sl2vl", read_bool, AT(optimized_sl2vl) },

	{ "traps", read_capability, WHOLE, .max = CAP_TRAP },
	{ "capability-notices", read_capability, WHOLE, .max = CAP_MASK_NOTICE },
	{ "other-notices", read_capability, WHOLE, .max = CAP_LOCAL_CHANGES },
	{ "multicast-fdb-top", read_capability, WHOLE, .max = CAP_MCAST_FDB_TOP },
	{ "sl-mapping", read_capability, WHOLE, .max = CAP_SL_MAPPING },
	{ "client-reregister", read_capability, WHOLE, .max = CAP_CLIENT_REREGISTER },
	{ "automatic-migration", read_capability, WHOLE, .max = CAP_AUTO_MIGRATION },
	{ "communication-management", read_capability, WHOLE, .max = CAP_COMM_MGMT },
	{ "system-image-guid", read_capability, WHOLE, .max = CAP_SYSTEM_GUID },
	{ "led-info", read_capability, WHOLE, .max = CAP_LED },

	{ "resp-time", read_uint, AT(resp_time), .max = 31 },
	{ "response", read_time, AT(response_us), .max = 60000000, MICROSECONDS },
	{ "jitter", read_time, AT(jitter_us), .max = 60000000, MICROSECONDS },
	{ "smp-time", read_time, AT(smp_time_us), .max = 60000000, MICROSECONDS },
	{ "smp-forward", read_time, AT(smp_forward_us), .max = 60000000, MICROSECONDS },
	{ "smp-queue", read_uint, AT(smp_queue), .max = UINT16_MAX },
	{ "silent", read_bool, AT(silent) },
	{ "lies", read_mask, AT(lies), .words = lie_words },
	{ "refuses", read_mask, AT(refuses), .words = refuses_words },
	{ "refuses-status", read_uint, AT(refuses_status), .max = UINT16_MAX },
	{ "plain-pma", read_bool, AT(plain_pma) },
	{ "narrow-pma", read_bool, AT(narrow_pma) },
	{ "smi-apart", read_bool, AT(smi_apart) },
	{ "smi-disabled", read_bool, AT(smi_disabled) },
	{ "ethernet", read_bool, AT(ethernet) },
	{ "no-lid-smps", read_bool, AT(no_lid_smps) },
	{ "srp-target", read_bool, AT(srp_target) },
	{ "ibsim-values", read_bool, AT(ibsim) },
	{ "true-scale", read_bool, AT(true_scale) },
};

const char *refusal_name(unsigned i)
{
	return refuses_words[i];
}

const char *lie_name(unsigned i)
{
	return lie_words[i];
}

void profile_read_keys(struct reader *r, const struct node *map, struct sim_profile *p)
{
	read_map(r, map, profile_keys, ARRAY_SIZE(profile_keys), p);
}

void profile_complete(struct sim_profile *p)
{
	p->capmask2 = (p->widths & SIM_WIDTH_2X ? CAP2_WIDTH_2X : 0) |
		      (p->ext_speeds & SIM_EXT_HDR ? CAP2_HDR : 0) |
		      (p->ext_speeds & SIM_EXT_NDR ? CAP2_NDR : 0) |
		      (p->ext_speeds >> SIM_EXT_GROUP_2 ? CAP2_EXT_SPEEDS_2 : 0) |
		      (p->ext_speeds & SIM_EXT_XDR ? CAP2_XDR : 0);
	p->capmask &= ~(uint32_t)(CAP_EXT_SPEEDS | CAP_MASK2 | CAP_DEVICE_MGMT);
	p->capmask |= (p->ext_speeds ? CAP_EXT_SPEEDS : 0) | (p->capmask2 ? CAP_MASK2 : 0) |
		      (p->srp_target ? CAP_DEVICE_MGMT : 0);
}
