/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests what becomes of the lines of opensm.conf: a verdict for each, settings for qosd.yaml, and
 * tables.
 *
 * promise: O8
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/convert/opensm_options.h"
#include "lib/base/alloc.h"
#include "unit/cli/convert/converting.h"
#include "unit/run.h"

/* The options of OpenSM 3.3.24. */
static const char *const opensm[] = {
	"guid", "m_key", "sm_key", "sa_key", "subnet_prefix", "m_key_lease_period",
	"m_key_protection_level", "m_key_lookup", "sweep_interval", "max_wire_smps",
	"max_wire_smps2", "max_smps_timeout", "console", "console_port", "transaction_timeout",
	"transaction_retries", "long_transaction_timeout", "max_msg_fifo_timeout", "sm_priority",
	"lmc", "lmc_esp0", "max_op_vls", "force_link_speed", "force_link_speed_ext",
	"force_link_width", "fdr10", "reassign_lids", "ignore_other_sm", "single_thread",
	"disable_multicast", "subnet_timeout", "packet_life_time", "vl_stall_count",
	"leaf_vl_stall_count", "head_of_queue_lifetime", "leaf_head_of_queue_lifetime",
	"local_phy_errors_threshold", "overrun_errors_threshold", "use_mfttop",
	"sminfo_polling_timeout", "polling_retry_number", "force_heavy_sweep",
	"port_prof_ignore_file", "hop_weights_file", "dimn_ports_file",
	"port_search_ordering_file", "port_profile_switch_nodes", "sweep_on_trap",
	"routing_engine", "avoid_throttled_links", "connect_roots", "use_ucast_cache", "log_file",
	"log_max_size", "log_flags", "force_log_flush", "accum_log_file", "partition_config_file",
	"no_partition_enforcement", "part_enforce", "allow_both_pkeys", "keep_pkey_indexes",
	"sm_assigned_guid", "qos", "qos_policy_file", "suppress_sl2vl_mad_status_errors",
	"dump_files_dir", "lid_matrix_dump_file", "lfts_file", "root_guid_file", "cn_guid_file",
	"io_guid_file", "port_shifting", "scatter_ports", "max_reverse_hops", "ids_guid_file",
	"guid_routing_order_file", "guid_routing_order_no_scatter", "sa_db_file", "sa_db_dump",
	"torus_config", "do_mesh_analysis", "exit_on_fatal", "honor_guid2lid_file", "daemon",
	"sm_inactive", "babbling_port_policy", "drop_event_subscriptions",
	"ipoib_mcgroup_creation_validation", "mcgroup_join_validation",
	"use_original_extended_sa_rates_only", "max_rate_enum", "use_optimized_slvl",
	"fsync_high_avail_files", "perfmgr", "perfmgr_redir", "perfmgr_sweep_time_s",
	"perfmgr_max_outstanding_queries", "perfmgr_ignore_cas", "event_db_dump_file",
	"perfmgr_rm_nodes", "perfmgr_log_errors", "perfmgr_query_cpi", "perfmgr_xmit_wait_log",
	"perfmgr_xmit_wait_threshold", "event_plugin_name", "event_plugin_options",
	"node_name_map_name", "qos_max_vls", "qos_high_limit", "qos_vlarb_high", "qos_vlarb_low",
	"qos_sl2vl", "qos_ca_max_vls", "qos_ca_high_limit", "qos_ca_vlarb_high",
	"qos_ca_vlarb_low", "qos_ca_sl2vl", "qos_sw0_max_vls", "qos_sw0_high_limit",
	"qos_sw0_vlarb_high", "qos_sw0_vlarb_low", "qos_sw0_sl2vl", "qos_swe_max_vls",
	"qos_swe_high_limit", "qos_swe_vlarb_high", "qos_swe_vlarb_low", "qos_swe_sl2vl",
	"qos_rtr_max_vls", "qos_rtr_high_limit", "qos_rtr_vlarb_high", "qos_rtr_vlarb_low",
	"qos_rtr_sl2vl", "congestion_control", "cc_key", "cc_max_outstanding_mads",
	"cc_sw_cong_setting_control_map", "cc_sw_cong_setting_victim_mask",
	"cc_sw_cong_setting_credit_mask", "cc_sw_cong_setting_threshold",
	"cc_sw_cong_setting_packet_size", "cc_sw_cong_setting_credit_starvation_threshold",
	"cc_sw_cong_setting_credit_starvation_return_delay", "cc_sw_cong_setting_marking_rate",
	"cc_ca_cong_setting_port_control", "cc_ca_cong_setting_control_map",
	"cc_ca_cong_setting_ccti_timer", "cc_ca_cong_setting_ccti_increase",
	"cc_ca_cong_setting_trigger_threshold", "cc_ca_cong_setting_ccti_min", "cc_cct",
	"enable_quirks", "no_clients_rereg", "prefix_routes_file", "consolidate_ipv6_snm_req",
	"lash_start_vl", "sm_sl", "nue_max_num_vls", "nue_include_switches", "log_prefix",
	"per_module_logging_file", "quasi_ftree_indexing",
};

static const struct opensm_option *row_of(const char *name)
{
	for (size_t i = 0; i < opensm_options_n; i++)
		if (!strcmp(opensm_options[i].name, name))
			return &opensm_options[i];
	return NULL;
}

START_TEST(no_option_is_missing)
{
	for (size_t i = 0; i < ARRAY_SIZE(opensm); i++)
		ck_assert_msg(row_of(opensm[i]), "%s", opensm[i]);
}
END_TEST

/* Each option is in the table once, with all that its verdict needs. */
START_TEST(rows)
{
	for (size_t i = 0; i < opensm_options_n; i++) {
		const struct opensm_option *row = &opensm_options[i];

		ck_assert_msg(row_of(row->name) == row, "%s is there twice", row->name);
		ck_assert_msg(row->usual, "%s", row->name);
		switch (row->how) {
		case HOW_PLAIN: ck_assert_msg(row->text && *row->text, "%s", row->name); break;
		case HOW_SPECIAL: break;
		default: ck_assert_msg(row->key && row->lo < row->hi, "%s", row->name);
		}
	}
}
END_TEST

/* Any value of any option gets a verdict, in its line. */
START_TEST(a_verdict_for_each)
{
	static const char *const values[] = { "7", "(null)", "TRUE", "FALSE", "/a/file", "0:1" };
	size_t n = opensm_options_n;

	for (size_t k = 0; k < ARRAY_SIZE(values); k++) {
		struct buf text = { 0 };
		bool *judged = xcalloc(n + 1, sizeof(*judged));

		for (size_t i = 0; i < n; i++)
			buf_printf(&text, "%s %s\n", opensm_options[i].name, values[k]);
		options_given.with_qos = true;
		convert(FORMAT_OPENSM_CONF, text.s);
		for (size_t v = 0; v < made.verdicts.n; v++)
			judged[made.verdicts.v[v].pos.line] = true;
		for (size_t i = 0; i < n; i++)
			ck_assert_msg(judged[i + 1], "%s %s", opensm_options[i].name, values[k]);
		buf_free(&text);
		free(judged);
	}
}
END_TEST

/* A line of opensm.conf must get this verdict. */
static void check_line(const char *line, const char *what)
{
	struct buf full = { 0 };

	convert(FORMAT_OPENSM_CONF, line);
	ck_assert_msg(ok, "%s", said.s);
	buf_printf(&full, "f:1:%s%s", strncmp(line, "routing_engine", 14) ? "1: " : "", what);
	ck_has(said, full.s);
	buf_free(&full);
}

/* ... and this line of qosd.yaml, or none if it is NULL. */
static void check_setting(const char *line, const char *setting, const char *what)
{
	check_line(line, what);
	if (setting)
		ck_has(made.settings, setting);
	else
		ck_has(made.settings, "# Nothing in them needs a setting.\n");
}

START_TEST(settings)
{
	check_setting("lmc 2", "\nlmc: 2 # f:1\n", "same: lmc 2: qosd.yaml has 'lmc: 2'");
	check_setting("lmc 0x0", NULL, "same: lmc 0x0: OpenSM's default, and qosd's");
	check_setting("lmc 8", NULL, "not possible: lmc 8: lmc goes from 0 to 7");
	check_setting("lmc x", NULL, "not possible: lmc x: is not a number");
	check_setting("lmc 010", NULL, "not possible");
	check_setting("subnet_timeout 021", "\nsubnet-timeout: 17 #", "same");
	check_setting("guid 0x0002c90300000001", "\nport-guid: 0x0002c90300000001 #", "same");
	check_setting("lmc_esp0 TRUE", "\nlmc-enhanced-port-0: true #", "same");
	check_setting("lmc_esp0 true", NULL, "otherwise: lmc_esp0 true: left out, as only TRUE is true");
	check_setting("max_op_vls 3", "\nmax-op-vls: 4 #", "same");
	check_setting("max_op_vls 5", NULL, "same");
	check_setting("max_op_vls 9", NULL, "not possible: max_op_vls 9: 1 to 5 stand for");
	/* nobody chose OpenSM's defaults */
	check_setting("sminfo_polling_timeout 10000", NULL, "not needed: sminfo_polling_timeout 10000: "
		      "OpenSM's default; qosd has one of its own for poll-interval");
	check_setting("sminfo_polling_timeout 1000", "\npoll-interval: 1000 #", "same");
	check_setting("sminfo_polling_timeout 200", NULL, "same: sminfo_polling_timeout 200: qosd's default");
	check_setting("max_wire_smps 0", NULL, "not possible: max_wire_smps 0: smp-window goes from 1 to 4096");
	check_setting("m_key_lease_period 60", NULL, "not needed: m_key_lease_period 60: there is no M_Key");
	convert(FORMAT_OPENSM_CONF, "m_key_lease_period 60\nm_key 5\n");
	ck_has(made.settings, "\nm-key-lease: 60 # f:1\nm-key: 5 # f:2\n");
	check_line("sa_key 1", "same: sa_key 1: sm-key is the key of trusted clients as well");
	check_line("sa_key 2", "not possible: sa_key 2: qosd has one key");
	check_line("sa_key 2\nsm_key 2", "same: sa_key 2");
	convert(FORMAT_OPENSM_CONF, "lmc 1\nlmc 2\n");
	ck_has(said, "f:1:1: not needed: lmc 1: line 2 sets it again\n");
	ck_has(made.settings, "\nlmc: 2 # f:2\n");
	ck_has_not(made.settings, "lmc: 1");
}
END_TEST

START_TEST(verdicts)
{
	check_line("console off", "same: console off: OpenSM's default; nothing is in use");
	check_line("console local", "otherwise: console local: qosd-ctl(8) takes the place");
	check_line("hop_weights_file /a", "not possible: hop_weights_file /a: links have no weights");
	check_line("use_ucast_cache TRUE", "not needed: use_ucast_cache TRUE: qosd repairs routes");
	check_line("virt_enabled 2", "not possible: virt_enabled 2: ");
	check_line("cc_ca_cong_setting_ccti_timer 0 0", "same");
	check_line("cc_ca_cong_setting_ccti_timer 0 5", "not possible");
	check_line("qos_ca_max_vls 8", "not needed: qos_ca_max_vls 8: has no effect in OpenSM");
	check_line("frob 1", "not possible: frob: unknown option, ignored: neither OpenSM 3.3.24 nor the "
		   "vendor's manager is known to have it");
	check_line("lmc", "not possible: lmc: has no value");
	check_setting("part_enforce both", NULL, "same");
	check_setting("part_enforce out", "\npartition-enforcement: out # f:1\n", "same");
	check_setting("part_enforce off", "\npartition-enforcement: off #", "same");
	check_setting("part_enforce frob", NULL, "same");
	check_setting("no_partition_enforcement TRUE", "\npartition-enforcement: off #", "same");
	check_setting("no_partition_enforcement FALSE", NULL, "same");
	convert(FORMAT_OPENSM_CONF, "no_partition_enforcement TRUE\npart_enforce in\n");
	ck_has(made.settings, "\npartition-enforcement: off # f:1\n");
	ck_has_not(made.settings, ": in");
	check_line("sm_sl 0", "same: sm_sl 0: the SL of the level 'default'");
	check_line("sm_sl 3", "otherwise: sm_sl 3: packets to the subnet manager have the SL of the level "
		   "'default', which is 0");
	check_line("partition_config_file /p", "otherwise: partition_config_file /p: not converted");
	check_line("qos_policy_file /p", "not needed: qos_policy_file /p: qos is FALSE");
	check_line("qos_sw2sw_sl2vl 0", "not needed: qos_sw2sw_sl2vl: qos is FALSE");
	check_line("qos_sw2sw_sl2vl 0\nqos TRUE", "not possible: qos_sw2sw_sl2vl 0: ");
}
END_TEST

START_TEST(engines)
{
	check_setting("routing_engine (null)", NULL, "1: otherwise: routing_engine (null): OpenSM's default");
	check_setting("routing_engine updn", NULL,
		      "16: same: routing_engine updn: qosd has the engine updn\n");
	check_setting("routing_engine updn,no_fallback", "\nrouting: [updn] # f:1\n",
		      "21: same: routing_engine no_fallback");
	check_setting("routing_engine torus-2QoS, updn", "\nrouting: [grid, updn, minhop] #",
		      "16: otherwise: routing_engine torus-2QoS: qosd has the engine grid, which");
	check_setting("routing_engine file, dfsssp,lash", "\nrouting: [layered, minhop] #",
		      "16: not possible: routing_engine file: left out, as qosd does not read");
	check_setting("routing_engine frob", NULL,
		      "16: not possible: routing_engine frob: left out, as qosd has no such engine");
	check_setting("routing_engine auto", "\nrouting: auto #", "16: otherwise");
	check_setting("routing_engine ar_updn", NULL, "16: otherwise");
}
END_TEST

/* promise: O18 */
START_TEST(names_of_nodes)
{
	check_setting("node_name_map_name (null)", NULL, "same");
	check_setting("node_name_map_name /etc/opensm/ib-node-name-map",
		      "\nnode-name-map: /etc/opensm/ib-node-name-map # f:1\n",
		      "same: node_name_map_name /etc/opensm/ib-node-name-map: qosd.yaml has");
	check_setting("node_name_map_name map", NULL, "not possible");
	check_setting("node_name_map_name /x:y", NULL, "not possible");
}
END_TEST

START_TEST(tables)
{
	convert(FORMAT_OPENSM_CONF, "qos TRUE\nqos_swe_high_limit 6\nqos_ca_sl2vl 1,2\n"
		"qos_rtr_vlarb_low 15:1,1:257,2:0\nqos_sw0_max_vls 4\nnothing known\n");
	ck_assert_msg(ok, "%s", said.s);
	ck_has(yaml, "    switch:\n      high-limit: 6\n");
	ck_has(yaml, "    ca:\n      sl2vl: [1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]\n");
	ck_has(yaml, "    router:\n      vlarb-low: [\"0:1\", \"1:1\", \"2:0\"]\n");
	ck_has_not(yaml, "switch-port-0");
	ck_has(yaml, "    all:\n"
		     "      sl2vl: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 7]\n"
		     "      vlarb-high: [\"0:4\", \"1:0\", ");
	ck_has(said, "f:2:1: same: qos_swe_high_limit: in fabric-setup, defaults, switch\n");
	ck_has(said, "f:5:1: not needed: qos_sw0_max_vls 4: has no effect in OpenSM");
	ck_has(said, "f:6:1: not possible: nothing: unknown option");
}
END_TEST

static const char partitions[] = "Default=0x7fff, ipoib, sl=3 : ALL=full;";
static const char policy[] = "qos-ulps\ndefault: 5\nany, service-id 1: 2\nend-qos-ulps\n";

/* Converts the files above together with this opensm.conf, or with none if it is NULL. */
static void convert_three(const char *conf)
{
	const struct convert_input in[] = {
		{ "q", policy, sizeof(policy) - 1, FORMAT_UNKNOWN },
		{ "p", partitions, sizeof(partitions) - 1, FORMAT_UNKNOWN },
		{ "f", conf, conf ? strlen(conf) : 0, FORMAT_OPENSM_CONF },
	};

	convert_inputs(in, conf ? 3 : 2);
	ck_assert_msg(ok, "%s", said.s);
}

/* OpenSM 3.3.23 without `qos TRUE`: no tables, no policy, and SL 0 for partitions. */
START_TEST(qos_is_false)
{
	static const char *const off[] = { "qos_sl2vl 0,1\n", "qos_sl2vl 0,1\nqos FALSE\n",
					   "qos_sl2vl 0,1\nqos true\n" };

	for (size_t i = 0; i < ARRAY_SIZE(off); i++) {
		convert_three(off[i]);
		ck_has_not(yaml, "fabric-setup");
		ck_has_not(yaml, "match-rules");
		ck_has_not(yaml, "    sl: 5");
		ck_has_not(yaml, "    sl: 3");
		ck_has_not(yaml, "    level: ");
		ck_has(yaml, "    ipoib: {level: ipoib-sl-0-");
		ck_has(said, "f:1:1: not needed: qos_sl2vl: qos is FALSE: OpenSM writes no tables\n");
		ck_has(said, "not needed: sl=3: qos is FALSE: OpenSM gives the partition SL 0\n");
		for (int line = 1; line <= 4; line++) {
			char text[80];

			snprintf(text, sizeof(text), "q:%d:1: not needed: qos is FALSE: OpenSM does not", line);
			ck_has(said, text);
		}
	}
	ck_has(said, "f:2:1: same: qos true: neither has tables written");
	convert_three("lmc 1\n");
	ck_has(said, "f: same: qos is FALSE, as the option is not there");
	/* nothing at all is still a policy that qosd takes */
	convert(FORMAT_OPENSM_CONF, "lmc 1\n");
	ck_has(yaml, "qos-levels:\n");
	ck_has(yaml, "  default:\n    sl: 0\n");
}
END_TEST

START_TEST(qos_as_if_true)
{
	convert_three(NULL);
	ck_has(yaml, "    sl: 5\n");
	ck_has(yaml, "    level: sl-3\n");
	ck_has(said, "q: otherwise: converted as if opensm.conf had 'qos TRUE'");
	convert(FORMAT_PARTITIONS, partitions);
	ck_has(said, "f: otherwise: converted as if opensm.conf had 'qos TRUE'");
	convert(FORMAT_PARTITIONS, "Default=0x7fff : ALL=full;");
	ck_has_not(said, "as if");
	options_given.with_qos = true;
	convert_three("qos FALSE\nqos_sl2vl 0,1\n");
	ck_has(yaml, "    sl: 5\n");
	ck_has(yaml, "    level: sl-3\n");
	ck_has(yaml, "  - level: sl-2\n");
	ck_has(yaml, "      sl2vl: [0, 1, 0, 0,");
	ck_has(said, "f:1:1: otherwise: qos FALSE: converted as if it were TRUE, as --with-qos asks for");
	convert(FORMAT_OPENSM_CONF, "qos_sl2vl 0,1\n");
	ck_has(said, "f: otherwise: converted as if it had 'qos TRUE'");
	ck_has(yaml, "      sl2vl: [0, 1, 0, 0,");
}
END_TEST

/* How many levels the policy has that no file named. */
static size_t levels_added(const char *conf)
{
	size_t n = 0;

	convert(FORMAT_OPENSM_CONF, conf);
	ck_assert_msg(ok, "%s", said.s);
	for (const char *p = yaml.s; (p = strstr(p, "may choose this SL by themselves\n")); p++)
		n++;
	return n;
}

START_TEST(levels_of_tables)
{
	ck_assert_uint_eq(levels_added("qos TRUE\nqos_sl2vl 0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0\n"), 0);
	ck_has_not(said, "added levels");
	ck_assert_uint_eq(levels_added("qos TRUE\nqos_sl2vl 0,1,1,2,0,0,0,0,0,0,0,0,0,0,0,15\n"), 2);
	ck_has(yaml, "  sl-1:\n    sl: 1\n");
	ck_has(yaml, "  sl-3:\n    sl: 3\n");
	ck_has(said, "f:2:1: otherwise: added levels for the SLs that only the tables know, as programs may "
	       "choose them by themselves: sl-1, sl-3\n");
	/* a class of its own counts as well */
	ck_assert_uint_eq(levels_added("qos TRUE\nqos_sl2vl 0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0\n"
				       "qos_ca_sl2vl 0,0,0,0,0,0,0,0,0,3,0,0,0,0,0,0\n"), 1);
	ck_has(yaml, "  sl-9:\n");
	/* all VLs, as folded by the limit of links */
	ck_assert_uint_eq(levels_added("qos TRUE\n"), 14);
	ck_assert_uint_eq(levels_added("qos TRUE\nmax_op_vls 3\n"), 3);
	ck_assert_uint_eq(levels_added("qos FALSE\nqos_sl2vl 0,1,2,3,0,0,0,0,0,0,0,0,0,0,0,0\n"), 0);
	/* the default level has SL 5, the rule SL 2, the partition SL 3 */
	convert_three("qos TRUE\nqos_sl2vl 0,1,2,3,4,5,0,0,0,0,0,0,0,0,0,0\n");
	ck_has(said, "choose them by themselves: sl-0, sl-1, sl-4\n");
}
END_TEST

/* So many that they are only counted. */
START_TEST(too_many)
{
	struct buf text = { 0 };

	for (int i = 0; i < VERDICTS_MAX + 2; i++)
		buf_puts(&text, "lmc 0\n");
	convert(FORMAT_OPENSM_CONF, text.s);
	buf_free(&text);
	ck_assert_uint_eq(made.verdicts.count[VERDICT_NOT_NEEDED], VERDICTS_MAX + 1);
	/* the last line, about qos, and about queries that name an SL */
	ck_assert_uint_eq(made.verdicts.n, VERDICTS_MAX + 3);
	ck_has(yaml, "#   ... and 1 more\n");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("opensm_conf");
	TCase *tc = tcase_create("opensm_conf");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, no_option_is_missing);
	tcase_add_test(tc, rows);
	tcase_add_test(tc, a_verdict_for_each);
	tcase_add_test(tc, settings);
	tcase_add_test(tc, verdicts);
	tcase_add_test(tc, engines);
	tcase_add_test(tc, names_of_nodes);
	tcase_add_test(tc, tables);
	tcase_add_test(tc, qos_is_false);
	tcase_add_test(tc, qos_as_if_true);
	tcase_add_test(tc, levels_of_tables);
	tcase_add_test(tc, too_many);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
