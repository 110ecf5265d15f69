/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Built-in generations of devices, with the values that their usual firmware shows.
 *
 * Capability bits of features that the simulator does not model (cable info, round trip latency,
 * hierarchy info, vendor classes) are left out: a manager that relied on them would get no answers.
 * Bits that follow from other values (extended speeds, CapabilityMask2, device management) are
 * added when a profile is made; see profile.c.
 */
#include <string.h>

#include "sim/dev/device.h"
#include "sim/dev/presets.h"

#define MELLANOX 0x0002c9
#define VOLTAIRE 0x0008f1
#define PATHSCALE 0x001175

#define RESP_TIME 16		/* 4.096 us * 2^16 = 0.27 s, as in common firmware */
#define VLS_2 2			/* codes of VLCap */
#define VLS_4 3
#define VLS_8 4
#define MTU_2048 4
#define MTU_4096 5

#define TO_DDR .speeds = SIM_SPEED_SDR | SIM_SPEED_DDR
#define TO_QDR .speeds = SIM_SPEED_SDR | SIM_SPEED_DDR | SIM_SPEED_QDR
#define TO_EXT(bits) TO_QDR, .fdr10 = true, .ext_speeds = (bits)
#define TO_FDR TO_EXT(SIM_EXT_FDR)
#define TO_EDR TO_EXT(SIM_EXT_FDR | SIM_EXT_EDR)
#define TO_HDR TO_EXT(SIM_EXT_FDR | SIM_EXT_EDR | SIM_EXT_HDR)
#define TO_NDR TO_EXT(SIM_EXT_FDR | SIM_EXT_EDR | SIM_EXT_HDR | SIM_EXT_NDR)
#define TO_XDR TO_EXT(SIM_EXT_FDR | SIM_EXT_EDR | SIM_EXT_HDR | SIM_EXT_NDR | SIM_EXT_XDR)

#define TO_4X .widths = SIM_WIDTH_1X | SIM_WIDTH_4X
#define TO_12X .widths = SIM_WIDTH_1X | SIM_WIDTH_4X | SIM_WIDTH_12X
#define SPLIT_4X .widths = SIM_WIDTH_1X | SIM_WIDTH_2X | SIM_WIDTH_4X

#define CAPS_ANY (CAP_TRAP | CAP_SL_MAPPING | CAP_SYSTEM_GUID | CAP_MASK_NOTICE | \
		  CAP_CLIENT_REREGISTER)
#define CAPS_LATER (CAPS_ANY | CAP_LOCAL_CHANGES)
/* Switches from InfiniScale IV on limit multicast forwarding by MulticastFDBTop. */
#define CAPS_SWITCH (CAPS_ANY | CAP_MCAST_FDB_TOP)
#define CAPS_SWITCH_LATER (CAPS_LATER | CAP_MCAST_FDB_TOP)

#define DEVICE(id, rev) .vendor_id = MELLANOX, .device_id = (id), .revision = (rev), \
	.resp_time = RESP_TIME, .lmc_cap = SIM_LMC_MAX
#define VLS(code, arb_entries) .vl_cap = (code), .vlarb_high = (arb_entries), \
	.vlarb_low = (arb_entries)

#define HCA(id) DEVICE(id, 0xb0)
#define MLX4 VLS(VLS_8, 8), .mtu_cap = MTU_4096, .pkey_cap = 128, .guid_cap = 128, TO_4X, \
	.capmask = CAPS_ANY | CAP_AUTO_MIGRATION | CAP_COMM_MGMT
#define MLX5 VLS(VLS_4, 16), .mtu_cap = MTU_4096, .pkey_cap = 128, .guid_cap = 32, \
	.congestion_control = true, .capmask = CAPS_LATER | CAP_COMM_MGMT

/* Devices whose registers can be read in band by what mstflint shows. */
#define REGISTERS .registers = true

#define SWITCH(id) DEVICE(id, 0xa1), \
	.pkey_cap = 8, .enforce_cap = 32, .guid_cap = 1, .lft_cap = 49152
#define SWITCH_X VLS(VLS_8, 16), .mtu_cap = MTU_4096, .mft_cap = 16383, \
	.enhanced_port0 = true, .optimized_sl2vl = true, .adaptive = true, \
	.congestion_control = true

/* What stock ibsim (0.10) shows for all devices, vendor classes included. */
#define IBSIM_NAME "ibsim"
#define IBSIM .name = IBSIM_NAME, .ibsim = true, .lmc_cap = SIM_LMC_MAX, VLS(VLS_8, 8), .mtu_cap = MTU_2048, TO_HDR, \
	.widths = SIM_WIDTH_1X | SIM_WIDTH_2X | SIM_WIDTH_4X | SIM_WIDTH_8X | SIM_WIDTH_12X
#define IBSIM_CA IBSIM, .vendor_id = MELLANOX, .device_id = 0x5a44, .revision = 0xa1, \
	.pkey_cap = 64, .guid_cap = 32, \
	.capmask = CAP_TRAP | CAP_SL_MAPPING | CAP_VENDOR_CLASS | CAP_MASK_NOTICE

struct preset {
	uint8_t type;
	struct sim_profile p;
};

/* Presets by type and generation; then ibsim's, which are for each type and never guessed. */
static const struct preset presets[] = {
	{ SIM_CA, { .name = "infinihost", HCA(0x6282), VLS(VLS_4, 8), .mtu_cap = MTU_2048,
		.pkey_cap = 64, .guid_cap = 32, TO_DDR, TO_4X,
		.capmask = CAPS_ANY | CAP_AUTO_MIGRATION | CAP_COMM_MGMT | CAP_LED } },
	{ SIM_CA, { .name = "connectx-2", HCA(0x673c), MLX4, TO_QDR } },
	{ SIM_CA, { .name = "connectx-3", HCA(0x1003), MLX4, TO_FDR,
		.congestion_control = true } },
	{ SIM_CA, { .name = "connect-ib", HCA(0x1011), MLX5, REGISTERS, TO_FDR, TO_4X } },
	{ SIM_CA, { .name = "connectx-4", HCA(0x1013), MLX5, REGISTERS, TO_EDR, TO_4X } },
	{ SIM_CA, { .name = "connectx-5", HCA(0x1017), MLX5, REGISTERS, TO_EDR, TO_4X } },
	{ SIM_CA, { .name = "connectx-6", HCA(0x101b), MLX5, REGISTERS, TO_HDR, SPLIT_4X } },
	{ SIM_CA, { .name = "connectx-7", HCA(0x1021), MLX5, REGISTERS, TO_NDR, SPLIT_4X } },
	{ SIM_CA, { .name = "connectx-8", HCA(0x1023), MLX5, REGISTERS, TO_XDR, SPLIT_4X } },

	/* values of the agent in the qib driver, with its default module parameters */
	{ SIM_CA, { .name = "true-scale", .true_scale = true, .vendor_id = PATHSCALE,
		.device_id = 0x7322, .revision = 0x20001, .resp_time = 3, VLS(VLS_2, 16),
		.mtu_cap = MTU_4096, .pkey_cap = 4, .guid_cap = 5, TO_QDR, TO_4X,
		.capmask = CAPS_LATER | CAP_AUTO_MIGRATION } },
	{ SIM_CA, { .name = "aggregation-node", HCA(SIM_AGGREGATION_NODE), MLX5, TO_NDR, SPLIT_4X } },

	{ SIM_SWITCH, { .name = "infiniscale-3", SWITCH(0xb924), VLS(VLS_8, 8),
		.mtu_cap = MTU_2048, .mft_cap = 1024, TO_DDR, TO_12X, .capmask = CAPS_ANY } },
	{ SIM_SWITCH, { .name = "is4", SWITCH(0xbd36), VLS(VLS_8, 8),
		.mtu_cap = MTU_4096, .mft_cap = 4096, TO_QDR, TO_12X, .capmask = CAPS_SWITCH } },
	{ SIM_SWITCH, { .name = "switchx", SWITCH(0xc738), SWITCH_X, TO_FDR, TO_4X,
		.capmask = CAPS_SWITCH } },
	{ SIM_SWITCH, { .name = "switch-ib", SWITCH(0xcb20), SWITCH_X, REGISTERS, TO_EDR, TO_4X,
		.capmask = CAPS_SWITCH } },
	{ SIM_SWITCH, { .name = "switch-ib-2", SWITCH(0xcf08), SWITCH_X, REGISTERS, TO_EDR, TO_4X,
		.capmask = CAPS_SWITCH } },
	{ SIM_SWITCH, { .name = "quantum", SWITCH(0xd2f0), SWITCH_X, REGISTERS, TO_HDR, SPLIT_4X,
		.capmask = CAPS_SWITCH_LATER } },
	{ SIM_SWITCH, { .name = "quantum-2", SWITCH(0xd2f2), SWITCH_X, REGISTERS, TO_NDR, SPLIT_4X,
		.capmask = CAPS_SWITCH_LATER } },

	{ SIM_SWITCH, { .name = "quantum-3", SWITCH(0xd2f4), SWITCH_X, REGISTERS, TO_XDR, SPLIT_4X,
		.capmask = CAPS_LATER } },

	{ SIM_ROUTER, { .name = "router", HCA(0xcb84), MLX5, TO_NDR, SPLIT_4X } },

	{ SIM_CA, { IBSIM_CA } },
	{ SIM_SWITCH, { IBSIM, .vendor_id = VOLTAIRE, .device_id = 0xa87c, .revision = 0xa1,
		.pkey_cap = 8, .enforce_cap = 64, .guid_cap = 1, .lft_cap = 30720, .mft_cap = 1024,
		.capmask = CAP_TRAP | CAP_SL_MAPPING } },
	{ SIM_ROUTER, { IBSIM_CA } },
};

#define GUESSED (ARRAY_SIZE(presets) - 3)

const char *preset_name(unsigned i)
{
	static const char *const others[] = { PRESET_AUTO, IBSIM_NAME };

	if (i < ARRAY_SIZE(others))
		return others[i];
	i -= ARRAY_SIZE(others);
	return i < GUESSED ? presets[i].p.name : NULL;
}

static const struct {
	uint16_t first, last;
	const char *preset;
} device_ids[] = {
	{ 0x5a44, 0x5a46, "infinihost" },	/* MT23108 */
	{ 0x6274, 0x6282, "infinihost" },	/* MT25204, MT25208: InfiniHost III */
	{ 0x6340, 0x6778, "connectx-2" },	/* MT25408 to MT26488: ConnectX and ConnectX-2 */
	{ 0x1003, 0x1010, "connectx-3" },	/* includes Pro */
	{ 0x1011, 0x1012, "connect-ib" },
	{ 0x1013, 0x1016, "connectx-4" },
	{ 0x1017, 0x101a, "connectx-5" },
	{ 0x101b, 0x1020, "connectx-6" },
	{ 0x1021, 0x1022, "connectx-7" },
	{ 0x1023, 0x1024, "connectx-8" },
	{ 0x7220, 0x7220, "true-scale" },	/* QLE7240 */
	{ 0x7322, 0x7322, "true-scale" },	/* QLE7340, QLE7342 */
	{ 0xa2d2, 0xa2d3, "connectx-5" },	/* BlueField */
	{ 0xa2d6, 0xa2d6, "connectx-6" },	/* BlueField-2 */
	{ 0xa2dc, 0xa2dc, "connectx-7" },	/* BlueField-3 */
	{ 0x5a05, 0x5a06, "infiniscale-3" },	/* Voltaire */
	{ 0xa87c, 0xa87c, "infiniscale-3" },	/* MT43132 */
	{ 0xb924, 0xb924, "infiniscale-3" },	/* MT47396 */
	{ 0x5a5a, 0x5a5a, "is4" },		/* Voltaire 4036 */
	{ 0xbd34, 0xbd36, "is4" },
	{ 0xc738, 0xc73b, "switchx" },
	{ 0xc839, 0xc839, "switchx" },
	{ 0xcb20, 0xcb20, "switch-ib" },
	{ 0xcf08, 0xcf08, "switch-ib-2" },
	{ SIM_AGGREGATION_NODE, SIM_AGGREGATION_NODE, "aggregation-node" },	/* SHARP, inside switches */
	{ 0xd2f0, 0xd2f0, "quantum" },
	{ 0xd2f2, 0xd2f2, "quantum-2" },
	{ 0xd2f4, 0xd2f4, "quantum-3" },
};

const struct link_speed_bits link_speeds[LINK_SPEEDS] = {
	[LINK_UNKNOWN] = { "unknown", 0, 0 },
	[LINK_SDR] = { "SDR", SIM_SPEED_SDR, 0 }, [LINK_DDR] = { "DDR", SIM_SPEED_DDR, 0 },
	[LINK_QDR] = { "QDR", SIM_SPEED_QDR, 0 }, [LINK_FDR10] = { "FDR10", 0, 0 },
	[LINK_FDR] = { "FDR", 0, SIM_EXT_FDR }, [LINK_EDR] = { "EDR", 0, SIM_EXT_EDR },
	[LINK_HDR] = { "HDR", 0, SIM_EXT_HDR }, [LINK_NDR] = { "NDR", 0, SIM_EXT_NDR },
	[LINK_XDR] = { "XDR", 0, SIM_EXT_XDR },
};

bool profile_runs(const struct sim_profile *p, enum link_speed speed)
{
	if (speed == LINK_FDR10)
		return p->fdr10;
	return speed == LINK_UNKNOWN || p->speeds & link_speeds[speed].speed ||
	       p->ext_speeds & link_speeds[speed].ext;
}

const struct sim_profile *preset_find(const char *name, uint8_t type)
{
	for (size_t i = 0; i < ARRAY_SIZE(presets); i++)
		if (presets[i].type == type && !strcmp(presets[i].p.name, name))
			return &presets[i].p;
	return NULL;
}

static const struct sim_profile *by_device_id(uint8_t type, uint16_t device_id)
{
	for (size_t i = 0; i < ARRAY_SIZE(device_ids); i++)
		if (device_id >= device_ids[i].first && device_id <= device_ids[i].last)
			return preset_find(device_ids[i].preset, type);
	return NULL;
}

static const struct sim_profile *by_speed(uint8_t type, enum link_speed fastest)
{
	for (size_t i = 0; i < GUESSED; i++)
		if (presets[i].type == type && profile_runs(&presets[i].p, fastest))
			return &presets[i].p;
	return NULL;
}

const struct sim_profile *preset_guess(uint8_t type, uint16_t device_id, enum link_speed fastest)
{
	const struct sim_profile *p = by_device_id(type, device_id);

	if (p && profile_runs(p, fastest))
		return p;
	if (fastest == LINK_UNKNOWN)
		fastest = LINK_HDR;
	return by_speed(type, fastest);
}
