/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests wrong values for every key of both files.
 *
 * A row holds a document with a ~ where the value of the key under test goes,
 * values that are fine there, and values that must be refused.  Each wrong
 * value must give exactly one error, at the line and column of the value, and
 * no policy.
 *
 * promise: O9
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf_test.h"
#include "lib/base/alloc.h"
#include "unit/run.h"

#define VALUES_MAX 20

struct row {
	const char *document;
	const char *good[VALUES_MAX], *bad[VALUES_MAX];
};

#define G "port-groups:\n  g:\n    "
#define L "qos-levels:\n  default:\n    sl: 0\n    "
#define R "match-rules:\n  - level: default\n    "
#define S "fabric-setup:\n  sl2vl:\n    - "
#define T "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]"
#define A "fabric-setup:\n  vlarb:\n    - "
#define D "fabric-setup:\n  defaults:\n    "
#define P "partitions:\n  Default:\n    "
#define C "traffic-classes:\n  - "

#define BAD_GUIDS { "x", "", "[]", "{}", "-1", "0x", "0xg", "1-", "5-4", "1-2-3", "01", "1 - 2", \
	"18446744073709551616", "[[1]]", "1.5", "true" }
#define BAD_PKEYS { "x", "", "[]", "{a: 1}", "0x8000", "0xffff", "0x7fff-0x8000", "2-1", "65536", \
	"-1" }
#define BAD_NAMES { "", "[]", "{}", "{g: 1}", "[[all]]", "\"\"", "nobody", "\"a\\x01\"" }
#define BAD_TEXT { "", "[]", "{}", "[x]", "\"a\\x1b[2J\"", "\"\\u2028\"" }
#define BAD_PORTS { "", "[]", "{}", "x", "255", "1-255", "3-2", "-1", "[[1]]", "\"**\"" }
#define BAD_ARB { "", "{}", "5", "\"1\"", "\"15:1\"", "\"0:256\"", "\"0:\"", "\":1\"", \
	"\"0:1:1\"", "\"-1:1\"", "[[\"0:1\"]]", "\"0 : 1\"" }
#define BAD_LIMIT { "", "[]", "{}", "256", "-1", "x", "40 KiB", "40KB", "1017KiB", "1.5KiB", \
	"2MiB", "18446744073709551615MiB", "Unlimited" }
#define BAD_TABLE { "", "[]", "{}", "0", "[0, 1]", \
	"[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0]" }
#define BAD_LIFETIME { "", "[]", "{}", "32", "-1", "x", "iba:32", "iba:0x", "iba:x", "1y", "1 y", \
	".5s", "1.s", "0x10s", "9000s", "1e3s", "infs", "nans" }
#define BAD_NUMBER "", "[]", "{}", "x", "-1", "1.5", "1-2", "0x", "010", "[1]", \
	"99999999999999999999"

static const struct row policy_rows[] = {
	{ "port-groups: ~\n", { "", "{}", "{g: {}}", "{g: }" }, { "[]", "x", "[g]" } },
	{ "port-groups: {g: ~}\n", { "", "{}" }, { "[]", "x", "5" } },
	{ G "description: ~\n", { "x", "5", "\"a b\"", "~ x" }, BAD_TEXT },
	{ G "port-guids: ~\n", { "1", "0xffffffffffffffff", "[1, 2-3]", "0-18446744073709551615" },
	  BAD_GUIDS },
	{ G "port-names: ~\n", { "a/P1", "[\"* x/P?\", b/P1]", "\"a/b*/*\"" },
	  { "", "[]", "{}", "a", "\"a*\"", "a/", "a/1", "a/p1", "/P1", "a/P", "a/Px", "\"\"",
	    "[[a/P1]]" } },
	{ G "pkeys: ~\n", { "0", "0x7fff", "[1, 2-3]", "\"7\"" }, BAD_PKEYS },
	{ G "partitions: ~\n", { "Default", "[Default]" }, BAD_NAMES },
	{ G "groups: ~\n", { "all", "[all]" },
	  { "", "[]", "{}", "[[all]]", "\"\"", "nobody", "g" } },
	{ G "node-types: ~\n", { "ca", "[switch, router]", "[ca, aggregation]", "all", "self" },
	  { "", "[]", "{}", "hca", "CA", "[[ca]]", "\"\"" } },

	{ "partitions: ~\n", { "", "{}" }, { "[]", "x" } },
	{ "partitions: {p: {pkey: ~}}\n", { "0x7fff", "32767", "1" },
	  { BAD_NUMBER, "0xffff", "0x8000", "0", "65536" } },
	{ P "pkey: 0x7fff\n    description: ~\n", { "x", "5" }, BAD_TEXT },
	{ P "pkey: 0x7fff\n    members: ~\n",
	  { "{all: full}", "all", "[all, self]", "{self: limited, 0x1: both, 0x2-0x3: full}",
	    "0x1", "0xffffffffffffffff", "[0x0-0xffffffffffffffff, 0x1]" },
	  { "", "[]", "{}", "nobody", "5", "[all, all]", "[[all]]", "[0x2-0x1]", "0x", "0x1-",
	    "0x10000000000000000", "\"\"" } },
	{ P "pkey: 0x7fff\n    members: {all: ~}\n", { "full", "limited", "both" },
	  { "", "[]", "{}", "Full", "none", "true", "[full]" } },
	{ P "pkey: 0x7fff\n    level: ~\n", { "default" }, BAD_NAMES },
	{ P "pkey: 0x7fff\n    ipoib: ~\n", { "true", "false", "{}", "{level: default}" },
	  { "", "[]", "x", "1", "yes" } },
	{ P "pkey: 0x7fff\n    ipoib: {level: ~}\n", { "default" }, BAD_NAMES },
	{ P "pkey: 0x7fff\n    ipoib: {scope: ~}\n", { "1", "14", "[2, 5]" },
	  { "", "[]", "{}", "x", "0", "15", "[[2]]" } },
	{ P "pkey: 0x7fff\n    ipoib: {q-key: ~}\n", { "1", "0xffffffff" },
	  { BAD_NUMBER, "0", "0x100000000" } },
	{ P "pkey: 0x7fff\n    ipoib: {flow-label: ~}\n", { "0", "0xfffff" }, { BAD_NUMBER, "0x100000" } },
	{ P "pkey: 0x7fff\n    groups: ~\n",
	  { "{mgid: \"ff12::1\"}", "[{mgid: \"ff12::1\"}, {mgid: \"ff05::2\"}]" },
	  { "", "[]", "ff12::1" } },
	{ P "pkey: 0x7fff\n    groups: {mgid: ~}\n",
	  { "\"ff02::1\"", "\"ff12:401b:ffff::16\"", "\"ff15:601b:ffff::ffff:ffff\"" },
	  { "", "[]", "{}", "5", "\"fe80::1\"", "\"ff22::1\"", "\"ff12:401b::16\"", "\"ff12::g\"" } },
	{ P "pkey: 0x7fff\n    groups: {mgid: \"ff12::1\", level: ~}\n", { "default" }, BAD_NAMES },
	{ P "pkey: 0x7fff\n    groups: {mgid: \"ff12::1\", q-key: ~}\n", { "0", "0xffffffff" },
	  { BAD_NUMBER, "0x100000000" } },
	{ P "pkey: 0x7fff\n    groups: {mgid: \"ff12::1\", flow-label: ~}\n", { "0", "0xfffff" },
	  { BAD_NUMBER, "0x100000" } },

	{ "qos-levels: ~\n", { "", "{}" }, { "[]", "x" } },
	{ "qos-levels: {a: {sl: ~}}\n", { "0", "15", "0xf" }, { BAD_NUMBER, "16", "0x10" } },
	{ L "description: ~\n", { "x" }, BAD_TEXT },
	{ L "mtu-limit: ~\n", { "256", "512", "1024", "2048", "4096", "iba:1", "iba:5", "0x100" },
	  { BAD_NUMBER, "0", "4", "1500", "8192", "iba:0", "iba:6", "IBA:4" } },
	{ L "rate-limit: ~\n", { "2.5", "10", "40", "4xQDR", "1xsdr", "12xEDR", "iba:2", "iba:24" },
	  { "", "[]", "{}", "x", "0", "41", "-10", "4x", "QDR", "4xABC", "iba:0", "iba:1", "iba:26",
	    "inf", "nan", "40Gb", "iba:99999999999" } },
	{ L "packet-lifetime: ~\n", { "0", "31", "iba:18", "1s", "4us", "500ms", "0.5s", "0x12" },
	  BAD_LIFETIME },
	{ L "path-bits: ~\n", { "0", "127" }, { BAD_NUMBER, "128" } },
	{ L "tclass: ~\n", { "0", "255" }, { BAD_NUMBER, "256" } },
	{ L "pkey: ~\n", { "0x7fff", "[1, 2-3]" }, BAD_PKEYS },

	{ "match-rules: ~\n", { "", "[]", "{level: default}", "[{level: default}]" },
	  { "x", "[x]", "[[]]" } },
	{ "match-rules: {level: ~}\n", { "default" }, BAD_NAMES },
	{ R "description: ~\n", { "x" }, BAD_TEXT },
	{ R "source: ~\n", { "all", "[all]" }, BAD_NAMES },
	{ R "destination: ~\n", { "all", "[all]" }, BAD_NAMES },
	{ R "either: ~\n", { "all", "[all]" }, BAD_NAMES },
	{ R "service-id: ~\n", { "0", "0x1-0xffffffffffffffff", "[1, 2-3]" }, BAD_GUIDS },
	{ R "qos-class: ~\n", { "0", "[1, 2-4095]" }, { "", "[]", "{}", "x", "4096", "0-4096" } },
	{ R "tclass: ~\n", { "0", "[1, 2-255]" }, { "", "[]", "{}", "x", "256", "0-256", "2-1" } },
	{ R "pkey: ~\n", { "0x7fff", "[1, 2-3]" }, BAD_PKEYS },
	{ R "sl: ~\n", { "0", "[1, 2-15]" }, { "", "[]", "{}", "x", "16", "0-16", "2-1" } },
	{ R "ulp: ~\n", { "ipoib", "sdp", "rds", "iser", "nfs-rdma", "nvme-of", "lustre",
			  "smb-direct" },
	  { "", "[]", "{}", "none", "IPoIB", "[iser]", "http", "srp" } },
	{ R "ulp: srp\n    service-id: ~\n", { "0", "[1, 2-3]" }, BAD_GUIDS },
	{ R "tcp-port: ~\n", { "0", "[1, 2-65535]" }, { "", "[]", "{}", "x", "65536", "2-1" } },
	{ R "target-guid: ~\n", { "1", "[1, 2-3]" }, BAD_GUIDS },

	{ "fabric-setup: ~\n", { "", "{}" }, { "[]", "x" } },
	{ "fabric-setup:\n  unsupported-vl: ~\n", { "drop", "fold" },
	  { "", "[]", "{}", "x", "Drop", "[fold]" } },
	{ "fabric-setup:\n  sl2vl: ~\n", { "", "[]", "{group: all, table: " T "}" },
	  { "x", "[x]", "[[]]" } },
	{ S "group: ~\n      table: " T "\n", { "all" }, BAD_NAMES },
	{ S "across: ~\n      table: " T "\n", { "all" }, BAD_NAMES },
	{ S "group: all\n      table: " T "\n      from: ~\n",
	  { "\"*\"", "0", "254", "[1, 2-3]", "[1, \"*\"]" }, BAD_PORTS },
	{ S "group: all\n      table: " T "\n      to: ~\n", { "\"*\"", "0", "[1, 2-3]" },
	  BAD_PORTS },
	{ S "group: all\n      table: ~\n", { T }, BAD_TABLE },
	{ S "group: all\n      table: [~, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]\n",
	  { "0", "15", "0xf" }, { "x", "-1", "1-2", "[]", "{}", "16", "0x10" } },
	{ "fabric-setup:\n  vlarb: ~\n", { "", "[]", "{group: all, high-limit: 1}" },
	  { "x", "[x]", "[[]]" } },
	{ A "group: ~\n      high-limit: 1\n", { "all" }, BAD_NAMES },
	{ A "across: ~\n      high-limit: 1\n", { "all" }, BAD_NAMES },
	{ A "group: all\n      high-limit: 1\n      to: ~\n", { "\"*\"", "0", "[1, 2-3]" },
	  BAD_PORTS },
	{ A "group: all\n      high: ~\n", { "[]", "\"0:1\"", "[\"14:255\", 0:0]" }, BAD_ARB },
	{ A "group: all\n      low: ~\n", { "[]", "\"0:1\"", "[\"14:255\", 0:0]" }, BAD_ARB },
	{ A "group: all\n      high-limit: ~\n",
	  { "0", "255", "unlimited", "40KiB", "1B", "1016KiB" }, BAD_LIMIT },
	{ "fabric-setup:\n  defaults: ~\n", { "", "{}", "{ca: {}}" }, { "[]", "x" } },
	{ D "ca: ~\n", { "", "{}" }, { "[]", "x" } },
	{ D "router: ~\n", { "", "{}" }, { "[]", "x" } },
	{ D "switch-port-0: ~\n", { "", "{}" }, { "[]", "x" } },
	{ D "switch: ~\n", { "", "{}" }, { "[]", "x" } },
	{ D "all: ~\n", { "", "{}" }, { "[]", "x" } },
	{ D "ca: {sl2vl: ~}\n", { T }, BAD_TABLE },
	{ D "ca: {vlarb-high: ~}\n", { "[]", "\"0:1\"" }, BAD_ARB },
	{ D "ca: {vlarb-low: ~}\n", { "[]", "\"0:1\"" }, BAD_ARB },
	{ D "ca: {high-limit: ~}\n", { "0", "255", "unlimited", "40KiB" }, BAD_LIMIT },
	{ D "ca: {max-vls: ~}\n", { "1", "15" }, { BAD_NUMBER, "0", "16" } },
	{ "traffic-classes: ~\n", { "[{level: default}]", "{level: default}",
				  "{except: all, classes: {level: default}}" },
	  { "", "[]", "x", "[x]", "[[]]" } },
	{ "traffic-classes:\n  classes: [{level: default}]\n  except: ~\n", { "all", "[all]" },
	  BAD_NAMES },
	{ "traffic-classes:\n  except: all\n  classes: ~\n", { "[{level: default}]" },
	  { "", "[]", "x", "[x]" } },
	{ C "level: ~\n", { "default", "[default]" }, BAD_NAMES },
	{ C "level: default\n    share: ~\n",
	  { "1", "100", "100%", "0.01", "12.5%", "33.33%", "1.50", "007%", "\"5%\"" },
	  { "", "[]", "{}", "x", "0", "0%", "0.00%", "100.01", "101%", "-1", ".5", "5.", "1.234%",
	    "5 %", "5%%", "0x5", "99999999999", "1e1", "[5]" } },
	{ C "level: default\n    priority: ~\n", { "high", "low" },
	  { "", "[]", "{}", "High", "1", "[high]" } },
	{ C "level: default\n    priority: high\n    high-limit: ~\n",
	  { "0", "255", "unlimited", "40KiB" }, BAD_LIMIT },
};

#define BAD_BOOL { "", "[]", "{}", "1", "yes", "True" }
#define BAD_U64 "", "[]", "{}", "x", "-1", "1.5", "0x", "18446744073709551616", "[1]"

static const struct row settings_rows[] = {
	{ "port-guid: ~\n", { "0", "0xffffffffffffffff" }, { BAD_U64 } },
	{ "subnet-prefix: ~\n", { "0xfe80000000000000", "1" },
	  { BAD_U64, "0", "0xff00000000000000" } },
	{ "prefix-routes: ~\n",
	  { "", "[]", "{prefix: 1, router: any}", "[{prefix: any, router: [1, 2]}]" },
	  { "x", "[x]", "[[]]", "{prefix: 1}", "{router: any}" } },
	{ "prefix-routes:\n  - prefix: 1\n    router: ~\n",
	  { "any", "1", "[1]", "0xffffffffffffffff" },
	  { "", "[]", "{}", "x", "-1", "0", "18446744073709551616", "[any]", "Any" } },
	{ "prefix-routes:\n  - prefix: 1\n    router: [1, ~]\n", { "2" }, { "1", "0x1", "[2]" } },
	{ "prefix-routes:\n  - router: any\n    prefix: ~\n", { "any", "1" },
	  { BAD_U64, "0", "Any", "0xff00000000000000" } },
	{ "lmc: ~\n", { "0", "7" }, { BAD_NUMBER, "8" } },
	{ "lmc-enhanced-port-0: ~\n", { "true", "false" }, BAD_BOOL },
	{ "subnet-timeout: ~\n", { "0", "31", "1s", "iba:18" }, BAD_LIFETIME },
	{ "packet-lifetime: ~\n", { "0", "31", "1s", "iba:18" }, BAD_LIFETIME },
	{ "hoq-lifetime: ~\n", { "0", "31", "1s", "iba:18" }, BAD_LIFETIME },
	{ "hoq-lifetime-end: ~\n", { "0", "31", "1s", "iba:18" }, BAD_LIFETIME },
	{ "vl-stall-count: ~\n", { "0", "7" }, { BAD_NUMBER, "8" } },
	{ "vl-stall-count-end: ~\n", { "0", "7" }, { BAD_NUMBER, "8" } },
	{ "local-phy-errors: ~\n", { "0", "15" }, { BAD_NUMBER, "16" } },
	{ "overrun-errors: ~\n", { "0", "15" }, { BAD_NUMBER, "16" } },
	{ "max-op-vls: ~\n", { "1", "2", "4", "8", "15" }, { BAD_NUMBER, "0", "3", "16" } },
	{ "link-width: ~\n", { "keep", "supported" }, { "", "[]", "{}", "4x", "[keep]", "Keep" } },
	{ "link-speed: ~\n", { "keep", "supported" }, { "", "[]", "{}", "QDR", "[keep]", "Keep" } },
	{ "partition-enforcement: ~\n", { "both", "in", "out", "off" },
	  { "", "[]", "{}", "none", "true", "[in]", "Both" } },
	{ "m-key: ~\n", { "0", "0xffffffffffffffff" }, { BAD_U64 } },
	{ "m-key-lease: ~\n", { "0", "65535", "60s", "60000ms", "10m", "10min", "2 hours" },
	  { BAD_NUMBER, "65536", "65536s", "500ms" } },
	{ "m-key-protect: ~\n", { "0", "3" }, { BAD_NUMBER, "4" } },
	{ "sm-key: ~\n", { "0", "0xffffffffffffffff" }, { BAD_U64 } },
	{ "priority: ~\n", { "0", "15" }, { BAD_NUMBER, "16" } },
	{ "poll-interval: ~\n", { "10", "500ms", "3600s", "0.01s" },
	  { BAD_NUMBER, "9", "9ms", "3601s", "10us" } },
	{ "poll-retries: ~\n", { "0", "100" }, { BAD_NUMBER, "101" } },
	{ "routing: ~\n", { "updn", "[minhop, updn]" },
	  { "", "[]", "{}", "ftree", "[updn, updn]", "[[updn]]", "\"\"" } },
	{ "smp-window: ~\n", { "1", "4096" }, { BAD_NUMBER, "0", "4097" } },
	{ "smp-window-device: ~\n", { "1", "64" }, { BAD_NUMBER, "0", "65" } },
	{ "smp-timeout: ~\n", { "1", "200ms", "60s" }, { BAD_NUMBER, "0", "60001", "61s", "1us" } },
	{ "smp-retries: ~\n", { "0", "20" }, { BAD_NUMBER, "21" } },
	{ "discovery-window: ~\n", { "1", "4096" }, { BAD_NUMBER, "0", "4097" } },
	{ "sweep-interval: ~\n", { "0", "86400", "10s", "1000ms", "30m", "24h" },
	  { BAD_NUMBER, "86401", "1ms", "86401s" } },
	{ "scrub-interval: ~\n", { "0", "2592000", "10s", "1000ms" },
	  { BAD_NUMBER, "2592001", "1ms", "2592001s" } },
	{ "flap-limit: ~\n", { "0", "32" }, { BAD_NUMBER, "33" } },
	{ "flap-window: ~\n", { "1", "86400", "10s" }, { BAD_NUMBER, "0", "86401", "1ms" } },
	{ "flap-hold: ~\n", { "1", "86400", "10s" }, { BAD_NUMBER, "0", "86401", "1ms" } },
	{ "outage-limit: ~\n", { "0", "31" }, { BAD_NUMBER, "32" } },
	{ "sa-requests-max: ~\n", { "1", "1000000" }, { BAD_NUMBER, "0", "1000001" } },
	{ "sa-requests-per-port: ~\n", { "1", "1000000" }, { BAD_NUMBER, "0", "1000001" } },
	{ "sa-transfers-max: ~\n", { "1", "65536" }, { BAD_NUMBER, "0", "65537" } },
	{ "sa-transfers-per-port: ~\n", { "1", "65536" }, { BAD_NUMBER, "0", "65537" } },
	{ "sa-long-requests-max: ~\n", { "1", "65536" }, { BAD_NUMBER, "0", "65537" } },
	{ "sa-long-requests-per-port: ~\n", { "1", "65536" }, { BAD_NUMBER, "0", "65537" } },
	{ "reports-max: ~\n", { "16", "512" }, { BAD_NUMBER, "15", "513" } },
	{ "reports-per-port: ~\n", { "1", "512" }, { BAD_NUMBER, "0", "513" } },
	{ "groups-max: ~\n", { "16", "262144" }, { BAD_NUMBER, "15", "262145" } },
	{ "groups-per-port: ~\n", { "1", "262144" }, { BAD_NUMBER, "0", "262145" } },
	{ "multicast-lids-max: ~\n", { "0", "16383" }, { BAD_NUMBER, "16384" } },
	{ "multicast-lids-per-port: ~\n", { "0", "16383" }, { BAD_NUMBER, "16384" } },
	{ "memberships-max: ~\n", { "16", "2097152" }, { BAD_NUMBER, "15", "2097153" } },
	{ "memberships-per-port: ~\n", { "1", "2097152" }, { BAD_NUMBER, "0", "2097153" } },
	{ "services-max: ~\n", { "16", "131072" }, { BAD_NUMBER, "15", "131073" } },
	{ "services-per-port: ~\n", { "1", "131072" }, { BAD_NUMBER, "0", "131073" } },
	{ "subscriptions-max: ~\n", { "16", "1048576" }, { BAD_NUMBER, "15", "1048577" } },
	{ "subscriptions-per-port: ~\n", { "1", "65535" }, { BAD_NUMBER, "0", "65536" } },
	{ "alias-guids-max: ~\n", { "16", "1048576" }, { BAD_NUMBER, "15", "1048577" } },
	{ "alias-guids-per-port: ~\n", { "1", "255" }, { BAD_NUMBER, "0", "256" } },
	{ "forget-after: ~\n", { "0", "31536000", "2s", "1d", "12h" },
	  { BAD_NUMBER, "31536001", "1ms", "366d" } },
	{ "partition-pkeys: ~\n", { "1", "0x10-0x7ffe" },
	  { "", "[]", "{}", "x", "-1", "1.5", "1-", "0", "0x7fff", "1-0x7fff", "5-4" } },
	{ "event-command: ~\n", { "/bin/true", "[/bin/true, -x, \"a b\", \"\\\"\"]" },
	  { "", "[]", "{}", "true", "[true]", "./x", "[[/bin/true]]" } },
	{ "event-command: [/bin/true, ~]\n", { "x", "5" }, { "[]", "{}", "[x]", "null" } },
	{ "event-kinds: ~\n", { "link", "[sm, device-silent]", "all" },
	  { "", "[]", "{}", "lin", "Link", "link-", "[[link]]", "5" } },
	{ "expected-topology: ~\n", { "none", "/etc/qosd/net.topo" }, { "", "[]", "{}", "net.topo" } },
	{ "node-name-map: ~\n", { "none", "/etc/infiniband-diags/ib-node-name-map" }, { "", "[]", "{}", "map" } },
	{ "history: ~\n", { "none", "/var/lib/qosd/history.db" }, { "", "[]", "{}", "history.db", "./x" } },
	{ "history-max: ~\n", { "1", "1048576" }, { BAD_NUMBER, "0", "1048577" } },
	{ "counters-interval: ~\n", { "0", "86400", "30s" }, { BAD_NUMBER, "86401", "1ms" } },
	{ "counters-reset: ~\n", { "true", "false" }, { "", "[]", "{}", "maybe" } },
	{ "report-listen: ~\n", { "127.0.0.1:9684", "\"[::1]:0\"", "0.0.0.0:65535" },
	  { "localhost:9684", "127.0.0.1", "127.0.0.1:65536" } },
	{ "errors-interval: ~\n", { "0", "86400", "180s" }, { BAD_NUMBER, "86401", "1ms" } },
	{ "errors-reset: ~\n", { "true", "false" }, { "", "[]", "{}", "maybe" } },
	{ "error-limits: ~\n", { "{}", "{symbol-errors: 0}", "{vl15-dropped: any, xmit-wait: 4294967294}" },
	  { "[]", "5" } },
	{ "error-limits: {symbol-errors: ~}\n", { "0", "any", "4294967294" },
	  { BAD_NUMBER, "4294967295", "none" } },
	{ "isolate-when: ~\n", { "{}", "{errors: {symbol-errors: 0, rcv-errors: any}, link-downs: 31, at-most: 64}" },
	  { "[]", "5" } },
	{ "isolate-when: {errors: ~}\n", { "{}", "{symbol-errors: 5}" }, { "[]", "5" } },
	{ "isolate-when: {link-downs: ~}\n", { "0", "31" }, { BAD_NUMBER, "32" } },
	{ "isolate-when: {at-most: ~}\n", { "1", "64" }, { BAD_NUMBER, "0", "65" } },
	{ "isolate-when: {for: ~}\n", { "0", "24h", "30d", "2592000" }, { BAD_NUMBER, "31d", "1ms" } },
	{ "metrics-listen: ~\n", { "127.0.0.1:9683", "\"[::1]:0\"", "0.0.0.0:65535" },
	  { "", "[]", "{}", "9683", "localhost:9683", "\"*:9683\"", "\":9683\"", "127.0.0.1", "\"::1:9683\"",
	    "127.0.0.1:65536", "[127.0.0.1:9683]" } },
	{ "ctl-read-group: ~\n", { "daemon", "0", "4294967294", "0x7d0" },
	  { "", "[]", "{}", "no-such-group", "4294967295", "-1", "1x", "[daemon]", "\"\"" } },
	{ "ctl-admin-group: ~\n", { "root", "12345" }, { "no-such-group", "Root", "[]" } },
	{ "ctl-gateway-group: ~\n", { "root", "12345" }, { "no-such-group", "Root", "[]" } },
	{ "sandbox: ~\n", { "on", "off", "strict" }, { "", "[]", "{}", "yes", "On", "1", "[on]" } },
	{ "log-level: ~\n", { "error", "warning", "info", "debug" },
	  { "", "[]", "{}", "verbose", "[info]", "Info", "3" } },
};

typedef bool parse_fn(const char *text, struct findings *found);

static bool policy_parses(const char *text, struct findings *found)
{
	struct policy *p = parse_policy(text, found);

	policy_free(p);
	return p != NULL;
}

static bool settings_parse(const char *text, struct findings *found)
{
	struct settings *s = parse_settings(text, found);

	settings_free(s);
	return s != NULL;
}

static char *with_value(const char *document, const char *value)
{
	const char *at = strchr(document, '~');

	return xasprintf("%.*s%s%s", (int)(at - document), document, value, at + 1);
}

static struct src_pos pos_in(const char *text, size_t offset)
{
	struct src_pos pos = { 1, 1 };

	for (size_t i = 0; i < offset; i++)
		pos = text[i] == '\n' ? (struct src_pos){ pos.line + 1, 1 }
				      : (struct src_pos){ pos.line, pos.col + 1 };
	return pos;
}

/* The position of the value; an empty value has the position of its key. */
static struct src_pos value_pos(const char *document, const char *value)
{
	size_t at = (size_t)(strchr(document, '~') - document);

	if (!*value)
		for (at -= 2; at > 0 && document[at - 1] != ' ' && document[at - 1] != '{' &&
		     document[at - 1] != '\n'; at--)
			;
	return pos_in(document, at);
}

/* There must be one error, which begins with `begin`, between two columns of a line. */
static void ck_one_error(const char *text, const struct findings *found, struct src_pos pos,
			 size_t width, const char *begin)
{
	struct buf b = { 0 };

	findings_text(found, &b);
	ck_assert_msg(found->count[SEV_ERROR] == 1, "%s--\n%s", text, b.s);
	ck_assert_msg(found->v[0].pos.line == pos.line && found->v[0].pos.col >= pos.col &&
		      found->v[0].pos.col <= pos.col + width,
		      "%s-- not at %u:%u:\n%s", text, pos.line, pos.col, b.s);
	ck_assert_msg(!strncmp(found->v[0].text, begin, strlen(begin)), "%s--\n%s", text, b.s);
	buf_free(&b);
}

static void try_bad(const struct row *row, parse_fn *parses, const char *value)
{
	struct findings found = { 0 };
	char *text = with_value(row->document, value);

	ck_assert_msg(!parses(text, &found), "accepted:\n%s", text);
	/* in a list, the error is at the item */
	ck_one_error(text, &found, value_pos(row->document, value),
		     *value == '[' ? strlen(value) - 1 : 0, "");
	findings_free(&found);
	free(text);
}

static void try_good(const struct row *row, parse_fn *parses, const char *value)
{
	struct findings found = { 0 };
	char *text = with_value(row->document, value);
	struct buf b = { 0 };
	bool good = parses(text, &found);

	findings_text(&found, &b);
	ck_assert_msg(good && found.count[SEV_ERROR] == 0, "refused:\n%s--\n%s", text, b.s);
	buf_free(&b);
	findings_free(&found);
	free(text);
}

/* Adds an unknown key, and repeats the last key, after the document's last line. */
static void try_neighbours(const struct row *row, parse_fn *parses)
{
	struct findings found = { 0 };
	char *text = with_value(row->document, row->good[0]), *wrong;
	const char *last = text + strlen(text) - 1;
	struct src_pos pos;
	int indent;

	while (last > text && last[-1] != '\n')
		last--;
	indent = (int)strspn(last, " -");
	pos = pos_in(text, strlen(text));
	pos.col = (uint32_t)indent + 1;

	wrong = xasprintf("%s%*szzz: 1\n", text, indent, "");
	ck_assert(!parses(wrong, &found));
	ck_one_error(wrong, &found, pos, 0, "unknown key 'zzz'");
	free(wrong);

	wrong = xasprintf("%s%*s%s", text, indent, "", last + indent);
	ck_assert(!parses(wrong, &found));
	ck_one_error(wrong, &found, pos, 0, "duplicate key");
	free(wrong);
	findings_free(&found);
	free(text);
}

static void try_row(const struct row *row, parse_fn *parses)
{
	for (size_t i = 0; i < VALUES_MAX && row->good[i]; i++)
		try_good(row, parses, row->good[i]);
	for (size_t i = 0; i < VALUES_MAX && row->bad[i]; i++)
		try_bad(row, parses, row->bad[i]);
	if (row->good[0])
		try_neighbours(row, parses);
}

START_TEST(policy_key)
{
	try_row(&policy_rows[_i], policy_parses);
}
END_TEST

START_TEST(settings_key)
{
	try_row(&settings_rows[_i], settings_parse);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("keys");
	TCase *t = tcase_create("keys");

	tcase_add_loop_test(t, policy_key, 0, ARRAY_SIZE(policy_rows));
	tcase_add_loop_test(t, settings_key, 0, ARRAY_SIZE(settings_rows));
	suite_add_tcase(s, t);
	return run_suite(s);
}
