/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests profile files: which profile nodes get, and errors in bad files.
 *
 * promise: V2
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/log.h"
#include "sim/dev/device.h"
#include "unit/run.h"

static struct sim_fabric *f;
static struct profile_set *ps;

static uint32_t add_node(uint8_t type, uint64_t guid, uint32_t vendor, uint16_t device,
			 const char *desc)
{
	struct sim_node_spec s = { .type = type, .nports = type == SIM_SWITCH ? 36 : 2,
				   .guid = guid, .vendor_id = vendor, .device_id = device,
				   .desc = desc };
	struct buf err = { 0 };
	uint32_t node = simfab_add_node(f, &s, &err);

	ck_assert_msg(node != SIM_NONE, "%s", err.s);
	return node;
}

/* A cable between port 1 of the two, as a topology describes it. */
static void connect(uint32_t a, uint32_t b, uint8_t width, uint8_t speed, uint8_t ext, bool fdr10)
{
	uint32_t ends[] = { f->nodes[a].port0 + 1, f->nodes[b].port0 + 1 };
	struct buf err = { 0 };

	ck_assert(simfab_connect(f, ends[0], ends[1], &err));
	for (int i = 0; i < 2; i++) {
		f->ports[ends[i]].cable_width = width;
		f->ports[ends[i]].cable_speed = speed;
		f->ports[ends[i]].cable_ext = ext;
		f->ports[ends[i]].cable_fdr10 = fdr10;
	}
}

static void setup(void)
{
	log_set_level(LOG_LEVEL_ERROR);
	f = simfab_new();
	ps = NULL;
}

static void teardown(void)
{
	profiles_free(ps);
	simfab_free(f);
}

static void load(const char *yaml)
{
	struct findings found = { 0 };

	ps = profiles_load("t.yaml", yaml, strlen(yaml), &found);
	for (size_t i = 0; i < found.n; i++)
		printf("%u:%u: %s\n", found.v[i].pos.line, found.v[i].pos.col, found.v[i].text);
	ck_assert_uint_eq(found.n, 0);
	ck_assert_ptr_nonnull(ps);
}

static const struct sim_profile *profile_of(uint32_t node)
{
	ck_assert_ptr_nonnull(f->nodes[node].profile);
	return f->nodes[node].profile;
}

/* The file is refused, and its first error is this one. */
static void ck_refused(const char *yaml, unsigned line, unsigned col, const char *text)
{
	struct findings found = { 0 };

	ck_assert_ptr_null(profiles_load("t.yaml", yaml, strlen(yaml), &found));
	ck_assert_uint_ge(found.n, 1);
	ck_assert_msg(strstr(found.v[0].text, text), "%s", found.v[0].text);
	ck_assert_str_eq(found.v[0].file, "t.yaml");
	ck_assert_msg(found.v[0].pos.line == line && found.v[0].pos.col == col, "%u:%u: %s",
		      found.v[0].pos.line, found.v[0].pos.col, found.v[0].text);
	findings_free(&found);
}

START_TEST(every_preset_is_sensible)
{
	for (unsigned k = 0; preset_name(k); k++) {
		struct findings found = { 0 };

		teardown();
		setup();
		add_node(SIM_CA, 1, 0, 0, "ca");
		add_node(SIM_SWITCH, 0x100, 0, 0, "sw");
		add_node(SIM_ROUTER, 0x200, 0, 0, "router");
		ps = profiles_load(NULL, NULL, 0, &found);
		ck_assert(profiles_set_default(ps, preset_name(k)));
		profiles_apply(ps, f);
		for (uint32_t i = 0; i < 3; i++) {
			const struct sim_profile *p = profile_of(i);

			ck_assert_msg(p->vl_cap >= 1 && p->vl_cap <= 5, "%s", p->name);
			ck_assert(p->mtu_cap >= 1 && p->mtu_cap <= 5);
			ck_assert(p->widths & SIM_WIDTH_1X && p->speeds & SIM_SPEED_SDR);
			ck_assert_uint_gt(p->pkey_cap, 0);
			ck_assert_uint_gt(p->guid_cap, 0);
			ck_assert_uint_eq(!!(p->capmask & 1u << 14), p->ext_speeds != 0);
			ck_assert_uint_eq(!!(p->capmask & 1u << 15), p->capmask2 != 0);
			ck_assert_uint_eq(!!(p->capmask2 & 1u << 5), !!(p->ext_speeds & SIM_EXT_HDR));
			if (f->nodes[i].type == SIM_SWITCH)
				ck_assert(p->lft_cap == (p->ibsim ? 30720 : 49152) && p->mft_cap >= 1024);
			ck_assert_uint_ne(f->nodes[i].vendor_id, 0);
			ck_assert_uint_ne(f->nodes[i].device_id, 0);
			/* a preset means the nodes of its type; others are as with auto */
			ck_assert_msg(strcmp(p->name, preset_name(k)) == 0 || strcmp(p->name, "router") == 0 ||
				      !strcmp(p->name, "connectx-6") || !strcmp(p->name, "quantum"),
				      "%s for %s", p->name, preset_name(k));
		}
	}
}
END_TEST

START_TEST(ibsim_is_as_stock)
{
	uint32_t ca = add_node(SIM_CA, 1, 0, 0, "ca"), sw = add_node(SIM_SWITCH, 9, 0, 0, "sw");

	load("default: ibsim");
	profiles_apply(ps, f);
	ck_assert(profile_of(ca)->ibsim && profile_of(sw)->ibsim);
	ck_assert_uint_eq(profile_of(ca)->capmask, 0x0050c048);
	ck_assert_uint_eq(profile_of(sw)->capmask, 0x0000c048);
	ck_assert_uint_eq(profile_of(ca)->capmask2, 0x0030);
	ck_assert_uint_eq(profile_of(ca)->vl_cap, 4);
	ck_assert_uint_eq(profile_of(ca)->mtu_cap, 4);
	ck_assert_uint_eq(f->nodes[sw].vendor_id, 0x8f1);
	ck_assert_uint_eq(f->nodes[sw].device_id, 0xa87c);
}
END_TEST

/* auto: device id first, if it can run the link; else by the link; else modern. */
START_TEST(auto_guesses)
{
	static const struct {
		uint8_t type;
		uint16_t device;
		uint8_t speed, ext;
		bool fdr10;
		const char *preset;
	} t[] = {
		{ SIM_CA, 0x5a44, SIM_SPEED_SDR, 0, false, "infinihost" },
		{ SIM_CA, 0x6732, SIM_SPEED_DDR, 0, false, "connectx-2" },
		{ SIM_CA, 0x1003, SIM_SPEED_SDR, 0, false, "connectx-3" },
		{ SIM_CA, 0x1003, 0, SIM_EXT_EDR, false, "connectx-4" },
		{ SIM_CA, 0x1021, 0, SIM_EXT_NDR, false, "connectx-7" },
		{ SIM_CA, 0x9999, SIM_SPEED_QDR, 0, false, "connectx-2" },
		{ SIM_CA, 0x9999, SIM_SPEED_QDR, 0, true, "connectx-3" },
		{ SIM_CA, 0x9999, 0, SIM_EXT_HDR, false, "connectx-6" },
		{ SIM_CA, 0x9999, 0, 0, false, "connectx-6" },
		{ SIM_CA, 0xbd36, SIM_SPEED_SDR, 0, false, "infinihost" },
		{ SIM_SWITCH, 0x5a5a, SIM_SPEED_QDR, 0, false, "is4" },
		{ SIM_SWITCH, 0xb924, SIM_SPEED_DDR, 0, false, "infiniscale-3" },
		{ SIM_SWITCH, 0xc738, 0, SIM_EXT_FDR, false, "switchx" },
		{ SIM_SWITCH, 0xcf08, 0, SIM_EXT_EDR, false, "switch-ib-2" },
		{ SIM_SWITCH, 0x9999, 0, SIM_EXT_NDR, false, "quantum-2" },
		{ SIM_SWITCH, 0x9999, 0, 0, false, "quantum" },
		{ SIM_ROUTER, 0x1021, 0, SIM_EXT_EDR, false, "router" },
	};
	const struct sim_profile *p;
	struct findings found = { 0 };
	uint32_t node, other;

	ps = profiles_load(NULL, NULL, 0, &found);
	for (size_t i = 0; i < ARRAY_SIZE(t); i++) {
		node = add_node(t[i].type, 0x1000 * (i + 1), 0x2c9, t[i].device, "n");
		other = add_node(SIM_CA, 0x1000 * (i + 1) + 0x100, 0x2c9, 0x1021, "o");
		connect(node, other, SIM_WIDTH_4X, t[i].speed, t[i].ext, t[i].fdr10);
	}
	profiles_apply(ps, f);
	for (size_t i = 0; i < ARRAY_SIZE(t); i++) {
		p = profile_of((uint32_t)(2 * i));
		ck_assert_msg(!strcmp(p->name, t[i].preset), "%zu: %s", i, p->name);
		ck_assert_uint_eq(f->nodes[2 * i].device_id, t[i].device);
	}
	ck_assert_uint_lt(f->profiles.n, 20);	/* shared */
}
END_TEST

START_TEST(auto_takes_the_width_of_the_topology)
{
	uint32_t a = add_node(SIM_CA, 0x10, 0x2c9, 0x1003, "a");
	uint32_t b = add_node(SIM_CA, 0x20, 0x2c9, 0x1003, "b");
	uint32_t c = add_node(SIM_CA, 0x30, 0x2c9, 0x1003, "c");

	connect(a, b, SIM_WIDTH_12X, SIM_SPEED_QDR, 0, false);
	load("nodes: [{name: b, profile: connectx-3}]");
	profiles_apply(ps, f);
	ck_assert_uint_eq(profile_of(a)->widths, SIM_WIDTH_1X | SIM_WIDTH_4X | SIM_WIDTH_12X);
	ck_assert_uint_eq(profile_of(b)->widths, SIM_WIDTH_1X | SIM_WIDTH_4X);
	ck_assert_uint_eq(profile_of(c)->widths, SIM_WIDTH_1X | SIM_WIDTH_4X);
}
END_TEST

START_TEST(last_rule_that_matches_wins)
{
	uint32_t n1 = add_node(SIM_CA, 0x0002c90300000010, 0x2c9, 0x1003, "node-1 HCA-1");
	uint32_t n2 = add_node(SIM_CA, 0x0002c90300000020, 0x2c9, 0x1003, "node-2 HCA-1");
	uint32_t n3 = add_node(SIM_CA, 0x0008f10300000030, 0x2c9, 0x1003, "node-3 HCA-1");
	uint32_t sw = add_node(SIM_SWITCH, 0x0002c90200000040, 0x2c9, 0xbd36, "spine");

	load("default: connectx-5\n"
	     "nodes:\n"
	     "  - {name: 'node-*', profile: connectx-2}\n"
	     "  - {guid: 0x0002c90300000020, profile: infinihost}\n"
	     "  - {guid: '0x0008f1*', type: ca, profile: connectx-7}\n"
	     "  - {guid: '0x0008f1*', type: switch, profile: quantum}\n"
	     "  - {name: 'NODE-1*', profile: ibsim}\n");
	profiles_apply(ps, f);
	ck_assert_str_eq(profile_of(n1)->name, "connectx-2");
	ck_assert_str_eq(profile_of(n2)->name, "infinihost");
	ck_assert_str_eq(profile_of(n3)->name, "connectx-7");
	ck_assert_str_eq(profile_of(sw)->name, "is4");	/* no switch's preset is the default */
}
END_TEST

START_TEST(every_key)
{
	uint32_t node = add_node(SIM_CA, 0x10, 0x2c9, 0x1003, "n");
	const struct sim_profile *p;

	load("profiles:\n"
	     "  all:\n"
	     "    like: connectx-3\n"
	     "    vendor-id: 0x123456\n"
	     "    device-id: 0x4321\n"
	     "    revision: 7\n"
	     "    vl-cap: 15\n"
	     "    vlarb-high: 32\n"
	     "    vlarb-low: 64\n"
	     "    mtu: 1024\n"
	     "    widths: [1x, 2x, 12x]\n"
	     "    speeds: [sdr, qdr, edr, ndr, fdr10]\n"
	     "    pkeys: 4\n"
	     "    enforce-pkeys: 5\n"
	     "    guids: 3\n"
	     "    lft: 1024\n"
	     "    mft: 512\n"
	     "    enhanced-port0: true\n"
	     "    optimized-sl2vl: true\n"
	     "    traps: false\n"
	     "    capability-notices: false\n"
	     "    other-notices: true\n"
	     "    sl-mapping: false\n"
	     "    client-reregister: false\n"
	     "    automatic-migration: false\n"
	     "    communication-management: false\n"
	     "    system-image-guid: false\n"
	     "    led-info: true\n"
	     "    resp-time: 20\n"
	     "    response: 20us\n"
	     "    jitter: 5us\n"
	     "    silent: true\n"
	     "    lies: [keeps-tables, stale-get]\n"
	     "    srp-target: true\n"
	     "    ibsim-values: true\n"
	     "default: all\n");
	profiles_apply(ps, f);
	p = profile_of(node);
	ck_assert_str_eq(p->name, "all");
	ck_assert_uint_eq(p->vendor_id, 0x123456);
	ck_assert_uint_eq(f->nodes[node].vendor_id, 0x123456);	/* said on purpose */
	ck_assert_uint_eq(f->nodes[node].device_id, 0x4321);
	ck_assert_uint_eq(p->revision, 7);
	ck_assert_uint_eq(p->vl_cap, 5);
	ck_assert_uint_eq(p->vlarb_high, 32);
	ck_assert_uint_eq(p->vlarb_low, 64);
	ck_assert_uint_eq(p->mtu_cap, 3);
	ck_assert_uint_eq(p->widths, SIM_WIDTH_1X | SIM_WIDTH_2X | SIM_WIDTH_12X);
	ck_assert_uint_eq(p->speeds, SIM_SPEED_SDR | SIM_SPEED_QDR);
	ck_assert_uint_eq(p->ext_speeds, SIM_EXT_EDR | SIM_EXT_NDR);
	ck_assert(p->fdr10);
	ck_assert_uint_eq(p->pkey_cap, 4);
	ck_assert_uint_eq(p->enforce_cap, 5);
	ck_assert_uint_eq(p->guid_cap, 3);
	ck_assert_uint_eq(p->lft_cap, 1024);
	ck_assert_uint_eq(p->mft_cap, 512);
	ck_assert(p->enhanced_port0 && p->optimized_sl2vl);
	/* LED, extended speeds, CapabilityMask2, device management, local changes */
	ck_assert_uint_eq(p->capmask, 1u << 9 | 1u << 14 | 1u << 15 | 1u << 19 | 1u << 26);
	ck_assert_uint_eq(p->capmask2, 1u << 4 | 1u << 10);
	ck_assert_uint_eq(p->resp_time, 20);
	ck_assert_uint_eq(p->response_us, 20);
	ck_assert_uint_eq(p->jitter_us, 5);
	ck_assert(p->silent && p->srp_target && p->ibsim);
	ck_assert_uint_eq(p->lies, LIE_KEEPS_TABLES | LIE_STALE_GET);
}
END_TEST

/* Without a preset at its end, a profile is the node's own preset with other values. */
START_TEST(like_auto_and_chains)
{
	uint32_t a = add_node(SIM_CA, 0x10, 0x2c9, 0x5a44, "a");
	uint32_t b = add_node(SIM_CA, 0x20, 0x2c9, 0x1017, "b");
	uint32_t s = add_node(SIM_SWITCH, 0x30, 0x2c9, 0xbd36, "s");

	load("profiles:\n"
	     "  slower: {like: slow, response: 5ms}\n"
	     "  slow: {response: 1ms, vlarb-low: 3}\n"
	     "default: slower\n");
	profiles_apply(ps, f);
	ck_assert_str_eq(profile_of(a)->name, "slower");
	ck_assert_uint_eq(profile_of(a)->pkey_cap, 64);
	ck_assert_uint_eq(profile_of(b)->pkey_cap, 128);
	ck_assert_uint_eq(profile_of(s)->mft_cap, 4096);
	for (uint32_t i = 0; i < 3; i++) {
		ck_assert_uint_eq(profile_of(i)->response_us, 5000);
		ck_assert_uint_eq(profile_of(i)->vlarb_low, 3);
	}
	ck_assert_uint_eq(f->nodes[b].device_id, 0x1017);
	ck_assert(!profiles_set_default(ps, "nonsense"));
	ck_assert(profiles_set_default(ps, "slow"));
	profiles_apply(ps, f);
	ck_assert_uint_eq(profile_of(a)->response_us, 1000);
}
END_TEST

static unsigned logged;
static char last_logged[512];

static void keep_line(void *arg, int64_t when, enum log_level level, const char *line)
{
	(void)arg;
	(void)when;
	if (level == LOG_LEVEL_WARNING && logged++ == 0)
		snprintf(last_logged, sizeof(last_logged), "%s", line);
}

START_TEST(warnings)
{
	uint32_t a = add_node(SIM_CA, 0x10, 0x2c9, 0x1021, "a");
	uint32_t b = add_node(SIM_CA, 0x20, 0x2c9, 0x1021, "b");

	connect(a, b, SIM_WIDTH_4X, 0, SIM_EXT_HDR, false);
	load("nodes:\n  - {name: a, profile: connectx-3}\n  - {name: nobody, profile: ibsim}\n");
	log_set_level(LOG_LEVEL_WARNING);
	profiles_apply(ps, f);
	log_recent(keep_line, NULL);
	ck_assert_uint_eq(logged, 2);
	ck_assert_msg(strstr(last_logged, "a: links run at HDR") != NULL, "%s", last_logged);
	ck_assert_ptr_nonnull(strstr(last_logged, "'connectx-3'"));
	ck_assert_uint_eq(profile_of(a)->ext_speeds, SIM_EXT_FDR);
}
END_TEST

START_TEST(bad_files)
{
	ck_refused("profile:\n  a: {}\n", 1, 1, "unknown key 'profile': did you mean 'profiles'?");
	ck_refused("profiles:\n  a: {vl-cpa: 8}\n", 2, 7, "did you mean 'vl-cap'?");
	ck_refused("profiles:\n  a: {vl-cap: 7}\n", 2, 15, "'7' is not one of: 1, 2, 4, 8, 15");
	ck_refused("profiles:\n  a: {mtu: 2k}\n", 2, 12, "'2k' is not one of: 256");
	ck_refused("profiles:\n  a: {vlarb-high: 65}\n", 2, 19, "65 is out of range (0 to 64)");
	ck_refused("profiles:\n  a: {pkeys: 0}\n", 2, 14, "out of range");
	ck_refused("profiles:\n  a: {lft: 49153}\n", 2, 12, "out of range (1 to 49152)");
	ck_refused("profiles:\n  a: {mft: 16384}\n", 2, 12, "out of range (1 to 16383)");
	ck_refused("profiles:\n  a: {widths: [4x, 3x]}\n", 2, 20, "'3x' is not one of");
	ck_refused("profiles:\n  a: {widths: 4x}\n", 2, 15, "'1x' is missing");
	ck_refused("profiles:\n  a: {speeds: [ndr]}\n", 2, 15, "'sdr' is missing");
	ck_refused("profiles:\n  a: {speeds: {}}\n", 2, 15, "expected a word, found a map");
	ck_refused("profiles:\n  a: {silent: yes}\n", 2, 15, "neither true nor false");
	ck_refused("profiles:\n  a: {response: 2mon}\n", 2, 17, "is not a time");
	ck_refused("profiles:\n  a: {response: 1.5us}\n", 2, 17, "not a multiple");
	ck_refused("profiles:\n  a: {lies: [never]}\n", 2, 14, "'never' is not one of");
	ck_refused("profiles: [a]\n", 1, 11, "expected a map, found a list");
	ck_refused("profiles:\n  a: 3\n", 2, 6, "expected a map");
	ck_refused("profiles:\n  quantum: {}\n", 2, 3, "is the name of a preset");
	ck_refused("profiles:\n  a: {like: conectx-3}\n", 2, 13, "did you mean 'connectx-3'?");
	ck_refused("profiles:\n  a: {like: a}\n", 2, 13, "'a' refers to itself through 'like'");
	ck_refused("profiles:\n  c: {like: a}\n  a: {like: b}\n  b: {like: a}\n", 3, 13,
		   "'a' refers to itself through 'like'");
	ck_refused("default: nothing\n", 1, 10, "no preset or profile 'nothing'");
	ck_refused("profiles: {slow: {}}\ndefault: solw\n", 2, 10, "did you mean 'slow'?");
	ck_refused("nodes:\n  - {profile: auto}\n", 2, 5, "one of name, guid, type");
	ck_refused("nodes:\n  - {name: a}\n", 2, 5, "'profile' is missing");
	ck_refused("nodes:\n  - {nmae: a, profile: auto}\n", 2, 6, "did you mean 'name'?");
	ck_refused("nodes:\n  - {guid: 0X2C9*, profile: auto}\n", 2, 12, "neither a GUID");
	ck_refused("nodes:\n  - {type: hca, profile: auto}\n", 2, 12, "'hca' is not one of");
	ck_refused("nodes:\n  - 7\n", 2, 5, "expected a map");
	ck_refused("nodes:\n  - {name: [a], profile: [b]}\n", 2, 12, "expected a text");
	ck_refused("- a\n", 1, 1, "expected a map");
	ck_refused("a: [\n", 2, 1, "");
}
END_TEST

START_TEST(all_errors_are_said)
{
	static const char text[] =
		"default: x\nprofiles:\n  a: {vl-cap: 3, mtu: 1}\nnodes:\n  - {name: a, profile: z}\n";
	struct findings found = { 0 };

	ck_assert_ptr_null(profiles_load("t.yaml", text, strlen(text), &found));
	ck_assert_uint_eq(found.n, 4);
	findings_free(&found);
}
END_TEST

START_TEST(empty_files)
{
	uint32_t ca = add_node(SIM_CA, 1, 0, 0, "");

	struct findings found = { 0 };

	ps = profiles_load("t.yaml", NULL, 0, &found);
	ck_assert_ptr_nonnull(ps);
	profiles_free(ps);
	load("");
	profiles_free(ps);
	load("profiles:\nnodes:\n");
	profiles_free(ps);
	load("nodes: []\nprofiles: {a: }\ndefault: a\n");
	profiles_apply(ps, f);
	ck_assert_str_eq(profile_of(ca)->name, "a");
}
END_TEST

START_TEST(very_many_profiles)
{
	struct findings found = { 0 };
	struct buf text = { 0 };

	buf_puts(&text, "profiles:\n  p0: {}\n");
	for (int i = 1; i < 1000; i++)
		buf_printf(&text, "  p%d: {like: p%d}\n", i, i - 1);
	ps = profiles_load("t.yaml", text.s, text.n, &found);
	ck_assert_ptr_nonnull(ps);
	add_node(SIM_CA, 1, 0, 0, "");
	ck_assert(profiles_set_default(ps, "p999"));
	profiles_apply(ps, f);
	ck_assert_str_eq(profile_of(0)->name, "p999");
	buf_puts(&text, "  more: {}\n");
	ck_assert_ptr_null(profiles_load("t.yaml", text.s, text.n, &found));
	ck_assert_ptr_nonnull(strstr(found.v[0].text, "more than 1000 profiles"));
	findings_free(&found);
	buf_free(&text);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("profile");
	TCase *t = tcase_create("profile");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, every_preset_is_sensible);
	tcase_add_test(t, ibsim_is_as_stock);
	tcase_add_test(t, auto_guesses);
	tcase_add_test(t, auto_takes_the_width_of_the_topology);
	tcase_add_test(t, last_rule_that_matches_wins);
	tcase_add_test(t, every_key);
	tcase_add_test(t, like_auto_and_chains);
	tcase_add_test(t, warnings);
	tcase_add_test(t, bad_files);
	tcase_add_test(t, all_errors_are_said);
	tcase_add_test(t, empty_files);
	tcase_add_test(t, very_many_profiles);
	suite_add_tcase(s, t);
	return run_suite(s);
}
