/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests what requests of the REST interface become: routes, the questions to a daemon that answers
 * as each test wants, and the answers.
 *
 * promise: J2 J3
 */
#include <stdio.h>
#include <string.h>

#include "cli/rest/api/rest_api.h"
#include "cli/rest/api/rest_ask.h"
#include "cli/rest/api/rest_fields.h"
#include "lib/base/alloc.h"
#include "unit/run.h"

/* --- a daemon --- */

struct daemon {
	const char *partition;	/* answer to `partition show` */
	const char *ports;	/* rows of `ports` */
	const char *change;	/* answer to `partition change` */
	const char *withdrawn;	/* answer to `withdrawn` */
	const char *isolate;	/* answer to `isolate` */
	struct buf asked;	/* commands, each with arguments and file, in lines */
	int depth;		/* of begin_change() */
	bool crowded;		/* there are always other changes */
	int64_t awaited;
};

static struct daemon d;

static void note(const char *command, const json_t *args, const json_t *file)
{
	char *a = json_dumps(args ? args : file, JSON_COMPACT | JSON_SORT_KEYS), *f = NULL;

	if (file)
		f = json_dumps(file, JSON_COMPACT | JSON_SORT_KEYS);
	buf_printf(&d.asked, "%s%s%s%s%s\n", command, a ? " " : "", a ? a : "", f ? " " : "", f ? f : "");
	free(a);
	free(f);
}

static json_t *ask(void *arg, const char *command, json_t *args, json_t *file, struct buf *err)
{
	const char *text = !strcmp(command, "ports") ? d.ports : !strcmp(command, "partition change") ? d.change :
			   !strcmp(command, "withdrawn") ? d.withdrawn :
			   !strcmp(command, "isolate") && d.isolate ? d.isolate : d.partition;
	json_t *answer = text ? json_loads(text, 0, NULL) : NULL;

	ck_assert_ptr_eq(arg, &d);
	ck_assert(!text || answer);
	note(command, args, file);
	/* all changes are made with others kept off */
	if (file)
		ck_assert_int_eq(d.depth, 1);
	if (!text)
		buf_puts(err, "gone");
	json_decref(args);
	json_decref(file);
	return answer;
}

static bool begin_change(void *arg)
{
	ck_assert_ptr_eq(arg, &d);
	if (d.crowded)
		return false;
	ck_assert_int_eq(d.depth++, 0);
	return true;
}

static void end_change(void *arg)
{
	ck_assert_ptr_eq(arg, &d);
	ck_assert_int_eq(d.depth--, 1);
}

static void await(void *arg, int64_t change)
{
	ck_assert_ptr_eq(arg, &d);
	ck_assert_int_eq(d.depth, 0);
	d.awaited = change;
}

/* --- requests --- */

static struct rest_choices choices;
static struct rest_pkeys pkeys = { 1, 0x7ffe };
static struct rest_answer a;

static void setup(void)
{
	memset(&d, 0, sizeof(d));
	d.change = "{\"ok\": true, \"result\": {\"changed\": 1, \"change\": 7}}";
}

static void teardown(void)
{
	rest_answer_free(&a);
	memset(&a, 0, sizeof(a));
	buf_free(&d.asked);
}

static void request(const char *method, const char *path, const char *query, const char *body)
{
	struct rest_daemon daemon = { &d, ask, begin_change, end_change, await };
	struct rest_call c = { .daemon = &daemon, .choices = &choices, .user = "ali", .pkeys = pkeys };
	const struct rest_route *route;

	rest_answer_free(&a);
	a = (struct rest_answer){ .status = REST_OK };
	buf_free(&d.asked);
	d.awaited = 0;
	route = rest_find_route(method, path, c.parts, &a);
	if (!route)
		return;
	c.query = query ? json_loads(query, 0, NULL) : NULL;
	c.body = body ? json_loads(body, 0, NULL) : NULL;
	ck_assert(!body || c.body);
	if (rest_good_query(route, c.query, &a))
		route->handle(&c, &a);
	ck_assert_int_eq(d.depth, 0);
	ck_assert_msg(!a.body == (a.status != REST_OK), "status %u, %s", a.status, a.text.s);
	json_decref((json_t *)(uintptr_t)c.query);
	json_decref(c.body);
	free(c.parts[0]);
	free(c.parts[1]);
}

static void expect_refusal(unsigned status, const char *text)
{
	ck_assert_msg(a.status == status && a.text.n && strstr(a.text.s, text), "%u %s", a.status, a.text.n ? a.text.s : "");
}

static void expect_asked(const char *text)
{
	ck_assert_str_eq(d.asked.n ? d.asked.s : "", text);
}

static void expect_body(const char *text)
{
	char *got = json_dumps(a.body, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY);

	ck_assert_msg(got && !strcmp(got, text), "%u %s %s", a.status, got ? got : "", a.text.n ? a.text.s : "");
	free(got);
}

#define NONE "{\"ok\": true, \"result\": {\"partitions\": []}}"
#define SHOW "partition show {\"pkey\":66,\"requested\":true}\n"
#define CHANGE "partition change {\"absent-ok\":false,\"file\":\"(REST)\"} {\"changes\":["
#define G1 "0002c90300000001"
#define G2 "0002c90300000002"
/* What was added to a partition of its own, and to one of the policy. */
#define OWN(members) "{\"ok\": true, \"result\": {\"partitions\": [{\"partition\": \"job\", \"pkey\": 66, \"ipoib\": true, " \
	"\"source\": \"dynamic\", \"members\": [" members "]}]}}"
#define POLICYS(members) "{\"ok\": true, \"result\": {\"partitions\": [{\"partition\": \"job\", \"pkey\": 66, \"ipoib\": true, " \
	"\"source\": \"policy+dynamic\", \"members\": [" members "]}]}}"
/* What is asked for if lines must be compared with the fabric, and a line then. */
#define LOOK "partition show {\"member-ports\":true,\"pkey\":66,\"requested\":true}\n"
#define ASK1 "ports {\"node\":\"node1\"}\n"
#define LINE(who, source, ports) "{\"who\": \"" who "\", \"membership\": \"full\", \"source\": \"" source "\", \"ports\": [" ports "]}"
#define GUID1 "\"0x" G1 "\""
#define GUID2 "\"0x" G2 "\""
#define WHO(who) "{\"who\": \"" who "\", \"membership\": \"full\"}"

/* --- tests --- */

START_TEST(routes)
{
	struct rest_answer r = { 0 };
	enum rest_base base;
	char *parts[2];

	ck_assert_str_eq(rest_split_base("/ufmRest/a/b", &base), "a/b");
	ck_assert_int_eq(base, REST_BASE_PASSWORD);
	ck_assert_str_eq(rest_split_base("/ufmRestV3/a", &base), "a");
	ck_assert_int_eq(base, REST_BASE_TOKEN);
	ck_assert_ptr_null(rest_split_base("/ufmRestV4/a", &base));
	ck_assert_ptr_null(rest_split_base("/", &base));

	ck_assert_ptr_nonnull(rest_find_route("DELETE", "resources/pkeys/0x42/guids/a,b", parts, &r));
	ck_assert_str_eq(parts[0], "0x42");
	ck_assert_str_eq(parts[1], "a,b");
	free(parts[0]);
	free(parts[1]);
	/* a word of the table comes before {} */
	ck_assert_ptr_nonnull(rest_find_route("POST", "resources/pkeys/hosts", parts, &r));
	ck_assert_ptr_null(parts[0]);
	ck_assert_ptr_nonnull(rest_find_route("GET", "resources/pkeys/", parts, &r));
	ck_assert_ptr_null(rest_find_route("GET", "resources/pkeys//", parts, &r));
	ck_assert_int_eq(r.status, REST_NOT_FOUND);
	ck_assert_ptr_null(rest_find_route("GET", "resources/pkeys/0x1/guids/", parts, &r));
	ck_assert_int_eq(r.status, REST_NOT_FOUND);
	ck_assert_ptr_null(rest_find_route("PUT", "resources/pkeys/0x1", parts, &r));
	ck_assert_int_eq(r.status, REST_BAD_METHOD);
	ck_assert_ptr_null(rest_find_route("GET", "", parts, &r));
	rest_answer_free(&r);
}
END_TEST

START_TEST(fields)
{
	struct rest_guids guids = { 0 };
	struct rest_answer r = { 0 };
	uint64_t guid;
	uint16_t pkey;

	ck_assert(rest_read_pkey("0x8042", &pkey, &r) && pkey == 0x42);
	ck_assert(rest_read_pkey("7fFf", &pkey, &r) && pkey == 0x7fff);
	ck_assert(!rest_read_pkey("0x", &pkey, &r) && !rest_read_pkey("", &pkey, &r));
	ck_assert(!rest_read_pkey("0x8000", &pkey, &r) && !rest_read_pkey("0x1 ", &pkey, &r));
	ck_assert(!rest_read_pkey("-1", &pkey, &r) && !rest_read_pkey("0x00042", &pkey, &r));

	ck_assert(rest_parse_guid("00:02:C9:03:00:00:00:0a", &guid) && guid == 0x2c9030000000aULL);
	ck_assert(rest_parse_guid("0x0002c9030000000A", &guid) && guid == 0x2c9030000000aULL);
	ck_assert(!rest_parse_guid("0000000000000000", &guid) && !rest_parse_guid("2c9030000000a", &guid));
	ck_assert(!rest_parse_guid("0002c9030000000a0", &guid) && !rest_parse_guid("0002c9030000000g", &guid));
	ck_assert(!rest_parse_guid(":0002c9030000000a", &guid) && !rest_parse_guid("0002c9030000000a:", &guid));
	ck_assert(!rest_parse_guid("", &guid));

	ck_assert(rest_read_guids(G1 "," G2, &guids, &r) && guids.n == 2 && guids.v[1] == 0x2c90300000002ULL);
	ck_assert(!rest_read_guids(G1 ",", &guids, &r) && r.status == REST_BAD);
	ck_assert(!rest_read_guids(",", &guids, &r));
	for (size_t i = guids.n; i < REST_GUIDS_MAX; i++)
		ck_assert(rest_read_guids(G1, &guids, &r));
	ck_assert(!rest_read_guids(G1, &guids, &r) && r.status == REST_TOO_LARGE);
	vec_free(&guids);
	rest_answer_free(&r);
}
END_TEST

START_TEST(adding)
{
	d.partition = NONE;
	request("POST", "resources/pkeys", NULL, "{\"pkey\": \"0x8042\", \"guids\": [\"" G1 "\"]}");
	expect_body("{}");
	expect_asked(SHOW CHANGE "{\"add\":\"api_pkey_0x42\",\"ipoib\":true,\"members\":{\"0x" G1 "\":\"full\"},\"pkey\":66}]}\n");
	ck_assert_int_eq(d.awaited, 7);

	/* the properties of what is there stay */
	d.partition = OWN(WHO("0x" G2));
	request("POST", "resources/pkeys", NULL, "{\"pkey\": \"0x42\", \"ip_over_ib\": \"True\", \"membership\": \"limited\", "
		"\"guids\": [\"" G1 "\"]}");
	expect_asked(SHOW CHANGE "{\"add\":\"job\",\"members\":{\"0x" G1 "\":\"limited\"},\"pkey\":66}]}\n");
	request("POST", "resources/pkeys", NULL, "{\"pkey\": \"0x42\", \"ip_over_ib\": false, \"guids\": [\"" G1 "\"]}");
	expect_refusal(REST_CONFLICT, "ip_over_ib");
	expect_asked(SHOW);

	/* a name is that of a new partition, or the one that is there */
	request("POST", "resources/pkeys", NULL, "{\"pkey\": \"0x42\", \"guids\": [\"" G1 "\"], \"partition_name\": \"job\"}");
	expect_asked(SHOW CHANGE "{\"add\":\"job\",\"members\":{\"0x" G1 "\":\"full\"},\"pkey\":66}]}\n");
	request("PUT", "resources/pkeys", NULL, "{\"pkey\": \"0x42\", \"guids\": [\"" G1 "\"], \"partition_name\": \"other\"}");
	expect_refusal(REST_CONFLICT, "partition_name: the P_Key 0x42 is that of the partition job");
	expect_asked(SHOW);
	d.partition = NONE;
	request("POST", "resources/pkeys", NULL, "{\"pkey\": \"0x42\", \"guids\": [\"" G1 "\"], \"partition_name\": \"tenant\"}");
	expect_asked(SHOW CHANGE "{\"add\":\"tenant\",\"ipoib\":true,\"members\":{\"0x" G1 "\":\"full\"},\"pkey\":66}]}\n");
	request("POST", "resources/pkeys/add", NULL, "{\"pkey\": \"0x42\", \"partition_name\": \"api_pkey_0x43\"}");
	expect_refusal(REST_BAD, "api_pkey_0x42 only");
	expect_asked("");
	request("POST", "resources/pkeys/add", NULL, "{\"pkey\": \"0x42\", \"partition_name\": \"api_pkey_0x42\"}");
	expect_body("{}");
	request("POST", "resources/pkeys/add", NULL, "{\"pkey\": \"0x42\", \"membership\": 1}");
	expect_refusal(REST_BAD, "membership must be");
	d.partition = OWN(WHO("0x" G2));

	/* one membership for each */
	request("POST", "resources/pkeys", NULL, "{\"pkey\": \"0x42\", \"guids\": [\"" G1 "\", \"" G2 "\"], "
		"\"memberships\": [\"full\", \"limited\"]}");
	expect_asked(SHOW CHANGE "{\"add\":\"job\",\"members\":{\"0x" G1 "\":\"full\",\"0x" G2 "\":\"limited\"},\"pkey\":66}]}\n");
	request("POST", "resources/pkeys", NULL, "{\"pkey\": \"0x42\", \"guids\": [\"" G1 "\", \"" G2 "\"], "
		"\"memberships\": [\"full\"]}");
	expect_refusal(REST_BAD, "memberships");
	expect_asked("");

	/* index 0 is that of the members of this request; the plugin of Kubernetes always wants it */
	request("POST", "resources/pkeys", NULL, "{\"pkey\": \"0x42\", \"index0\": true, \"guids\": [\"" G1 "\", \"" G2 "\"], "
		"\"memberships\": [\"full\", \"limited\"]}");
	expect_asked(SHOW CHANGE "{\"add\":\"job\",\"members\":{\"0x" G1 "\":\"full@0\",\"0x" G2 "\":\"limited@0\"},\"pkey\":66}]}\n");
	request("POST", "resources/pkeys/hosts", NULL, "{\"pkey\": \"0x42\", \"index0\": true, \"hosts_names\": \"node1\"}");
	expect_asked(SHOW CHANGE "{\"add\":\"job\",\"members\":{\"host:node1\":\"full@0\"},\"pkey\":66}]}\n");
	choices.index0 = REST_INDEX0_REFUSE;
	request("POST", "resources/pkeys", NULL, "{\"pkey\": \"0x42\", \"index0\": true, \"guids\": [\"" G1 "\"]}");
	expect_refusal(REST_FORBIDDEN, "index0");
	expect_asked("");
	choices = (struct rest_choices){ .absent_guids = true, .index0 = REST_INDEX0_IGNORE };
	request("POST", "resources/pkeys", NULL, "{\"pkey\": \"0x42\", \"index0\": true, \"guids\": [\"" G1 "\"]}");
	expect_asked(SHOW "partition change {\"absent-ok\":true,\"file\":\"(REST)\"} {\"changes\":[{\"add\":\"job\",\"members\":"
		     "{\"0x" G1 "\":\"full\"},\"pkey\":66}]}\n");
	choices = (struct rest_choices){ 0 };
}
END_TEST

START_TEST(values)
{
	static const char *const bad[][2] = {
		{ "\"service_level\": 16", "service_level must be a number from 0 to 15" }, { "\"service_level\": -1", "service_level" },
		{ "\"service_level\": 1.5", "service_level" }, { "\"service_level\": \"1\"", "service_level" },
		{ "\"service_level\": null", "service_level" }, { "\"service_level\": 1e99", "service_level" },
		{ "\"mtu_limit\": 2048", "mtu_limit must be 2 or 4" }, { "\"mtu_limit\": 1", "mtu_limit" },
		{ "\"mtu_limit\": true", "mtu_limit" }, { "\"rate_limit\": 2", "rate_limit must be one of 2.5, 5, 10" },
		{ "\"rate_limit\": 400", "rate_limit" }, { "\"rate_limit\": [10]", "rate_limit" }, { "\"rate_limit\": 0", "rate_limit" },
	};
	static const double rates[] = { 2.5, 10, 30, 5, 20, 40, 60, 80, 120, 14, 56, 112, 168, 25, 100, 200, 300 };
#define TELL "partition show {\"pkey\":66}\n"
#define TOLD(mtu, rate) "{\"ok\": true, \"result\": {\"partitions\": [{\"partition\": \"job\", \"pkey\": 66, \"source\": " \
	"\"dynamic\", \"ipoib\": true, \"path-sl\": 1, \"path-mtu\": " mtu ", \"path-rate\": " rate ", \"members\": []}]}}"
	static const struct {
		const char *is, *body, *asked;
	} again[] = {
		{ TOLD("null", "null"), "{\"pkey\": \"0x42\", \"mtu_limit\": 4, \"service_level\": 1, \"rate_limit\": 300}", SHOW TELL },
		{ TOLD("2048", "2.5"), "{\"pkey\": \"0x42\", \"mtu_limit\": 2, \"service_level\": 1, \"rate_limit\": 2.5}", SHOW TELL },
		{ TOLD("null", "null"), "{\"pkey\": \"0x42\", \"mtu_limit\": 4, \"service_level\": 3, \"rate_limit\": 300}",
		  SHOW TELL CHANGE "{\"set\":\"job\",\"sl\":3}]}\n" },
		{ TOLD("null", "null"), "{\"pkey\": \"0x42\", \"mtu_limit\": 4, \"service_level\": 1, \"rate_limit\": 100}",
		  SHOW TELL CHANGE "{\"mtu\":4096,\"rate\":100.0,\"set\":\"job\",\"sl\":1}]}\n" },
		{ TOLD("2048", "null"), "{\"pkey\": \"0x42\", \"mtu_limit\": 4, \"service_level\": 1, \"rate_limit\": 300}",
		  SHOW TELL CHANGE "{\"mtu\":4096,\"rate\":300.0,\"set\":\"job\",\"sl\":1}]}\n" },
		{ TOLD("null", "null"), "{\"pkey\": \"0x42\", \"mtu_limit\": 4}", SHOW CHANGE "{\"mtu\":4096,\"set\":\"job\"}]}\n" },
	};
	char body[200], asked[300];

	/* a new partition is made with them, one that is there gets them */
	d.partition = NONE;
	request("POST", "resources/pkeys/add", NULL, "{\"pkey\": \"0x42\", \"mtu_limit\": 4, \"service_level\": 0, \"rate_limit\": 300, "
		"\"index0\": true}");
	expect_asked(SHOW CHANGE "{\"add\":\"api_pkey_0x42\",\"ipoib\":true,\"mtu\":4096,\"pkey\":66,\"rate\":300.0,\"sl\":0}]}\n");
	request("POST", "resources/pkeys/hosts", NULL, "{\"pkey\": \"0x42\", \"service_level\": 3, \"hosts_names\": \"node1\"}");
	expect_asked(SHOW CHANGE "{\"add\":\"api_pkey_0x42\",\"ipoib\":true,\"members\":{\"host:node1\":\"full\"},\"pkey\":66,\"sl\":3}]}\n");
	d.partition = OWN(WHO("0x" G1));
	request("PUT", "resources/pkeys", NULL, "{\"pkey\": \"0x42\", \"guids\": [\"" G1 "\"], \"rate_limit\": 2.5}");
	expect_asked(SHOW CHANGE "{\"rate\":2.5,\"set\":\"job\"},{\"add\":\"job\",\"members\":{\"0x" G1 "\":\"full\"},\"pkey\":66}]}\n");
	request("PUT", "resources/pkeys/qos_conf", NULL, "{\"pkey\": \"0x8042\", \"mtu_limit\": 2, \"service_level\": 15}");
	expect_body("{}");
	expect_asked(SHOW CHANGE "{\"mtu\":2048,\"set\":\"job\",\"sl\":15}]}\n");
	ck_assert_int_eq(d.awaited, 7);
	for (size_t i = 0; i < ARRAY_SIZE(rates); i++) {
		snprintf(body, sizeof(body), "{\"pkey\": \"0x42\", \"rate_limit\": %g}", rates[i]);
		snprintf(asked, sizeof(asked), SHOW CHANGE "{\"rate\":%.1f,\"set\":\"job\"}]}\n", rates[i]);
		request("POST", "resources/pkeys/qos_conf", NULL, body);
		expect_asked(asked);
	}

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		snprintf(body, sizeof(body), "{\"pkey\": \"0x42\", %s}", bad[i][0]);
		request("PUT", "resources/pkeys/qos_conf", NULL, body);
		expect_refusal(REST_BAD, bad[i][1]);
		request("POST", "resources/pkeys/add", NULL, body);
		expect_refusal(REST_BAD, bad[i][1]);
		expect_asked("");
	}
	request("PUT", "resources/pkeys/qos_conf", NULL, "{\"pkey\": \"0x42\"}");
	expect_refusal(REST_BAD, "some of: mtu_limit service_level rate_limit");
	d.partition = POLICYS("");
	request("PUT", "resources/pkeys/qos_conf", NULL, "{\"pkey\": \"0x42\", \"service_level\": 1}");
	expect_refusal(REST_CONFLICT, "the policy file defines");
	request("POST", "resources/pkeys", NULL, "{\"pkey\": \"0x42\", \"guids\": [\"" G1 "\"], \"service_level\": 1}");
	expect_refusal(REST_CONFLICT, "the policy file defines");
	d.partition = NONE;
	request("PUT", "resources/pkeys/qos_conf", NULL, "{\"pkey\": \"0x42\", \"service_level\": 1}");
	expect_refusal(REST_NOT_FOUND, "0x42");
	expect_asked(SHOW);

	/*
	 * values that are written back as they were read stay the level's, and those that stand for
	 * no limit set none
	 */
	for (size_t i = 0; i < ARRAY_SIZE(again); i++) {
		d.partition = again[i].is;
		request("PUT", "resources/pkeys/qos_conf", NULL, again[i].body);
		expect_body("{}");
		expect_asked(again[i].asked);
	}

	/* what paths get; the greatest values stand for none */
	d.partition = "{\"ok\": true, \"result\": {\"partitions\": [{\"partition\": \"a\", \"pkey\": 66, \"ipoib\": true, \"path-sl\": 3, "
		      "\"path-mtu\": 2048, \"path-rate\": 2.5}, {\"partition\": \"b\", \"pkey\": 67, \"ipoib\": true, \"path-sl\": 0, "
		      "\"path-mtu\": null, \"path-rate\": null}, {\"partition\": \"c\", \"pkey\": 68, \"ipoib\": true}]}}";
	request("GET", "resources/pkeys", "{\"qos_conf\": \"true\"}", NULL);
	expect_body("{\"0x42\":{\"ip_over_ib\":true,\"partition\":\"a\",\"qos_conf\":{\"mtu_limit\":2,\"rate_limit\":2.5,\"service_level\":3}},"
		    "\"0x43\":{\"ip_over_ib\":true,\"partition\":\"b\",\"qos_conf\":{\"mtu_limit\":4,\"rate_limit\":300,\"service_level\":0}},"
		    "\"0x44\":{\"ip_over_ib\":true,\"partition\":\"c\"}}");
}
END_TEST

START_TEST(setting)
{
	/* the partition stays though all its members go */
	d.partition = OWN(WHO("0x" G1) "," WHO("node1 HCA-1/P1"));
	request("PUT", "resources/pkeys", NULL, "{\"pkey\": \"0x42\", \"guids\": [\"" G2 "\"]}");
	expect_asked(SHOW CHANGE "{\"members\":[\"0x" G1 "\",\"node1 HCA-1/P1\"],\"remove\":\"job\"},"
		     "{\"add\":\"job\",\"members\":{\"0x" G2 "\":\"full\"},\"pkey\":66}]}\n");
	/* members that stay are not touched */
	request("PUT", "resources/pkeys", NULL, "{\"pkey\": \"0x42\", \"guids\": [\"" G1 "\"]}");
	expect_asked(SHOW CHANGE "{\"members\":[\"node1 HCA-1/P1\"],\"remove\":\"job\"},"
		     "{\"add\":\"job\",\"members\":{\"0x" G1 "\":\"full\"},\"pkey\":66}]}\n");
}
END_TEST

#define PORT1 "{\"guid\": \"0x" G1 "\", \"port\": 1, \"name\": \"node1 HCA-1/P1 (0x" G1 ")\", \"state\": \"active\", " \
	"\"node\": \"0x0002c90300000000\", \"type\": \"ca\", \"lid\": 5, \"link\": \"4xEDR\", \"mtu\": 4096, \"peer\": " \
	"\"sw(1)/P3 (0x" G2 ")\"}"

START_TEST(removing)
{
	d.partition = OWN(WHO("0x" G1) "," WHO("0x" G2));
	request("POST", "actions/remove_guids_from_pkey", NULL, "{\"pkey\": \"0x42\", \"guids\": [\"" G1 "\", \"" G1 "\"]}");
	expect_asked(SHOW CHANGE "{\"members\":[\"0x" G1 "\"],\"remove\":\"job\"}]}\n");
	/* with the last members the partition goes, but not that of the policy */
	request("DELETE", "resources/pkeys/0x42/guids/" G1 "," G2, NULL, NULL);
	expect_asked(SHOW CHANGE "{\"remove\":\"job\"}]}\n");
	d.partition = POLICYS(WHO("0x" G1));
	request("DELETE", "resources/pkeys/0x42/guids/" G1, NULL, NULL);
	expect_asked(SHOW CHANGE "{\"members\":[\"0x" G1 "\"],\"remove\":\"job\"}]}\n");

	/* a name twice is one member: the other one stays, and the partition with it */
	d.partition = OWN(WHO("node1 HCA-1/P1") "," WHO("node2 HCA-1/P1"));
	request("DELETE", "resources/pkeys/0x42/hosts/node1,node1", NULL, NULL);
	expect_asked(SHOW CHANGE "{\"members\":[\"node1 HCA-1/P1\"],\"remove\":\"job\"}]}\n");
	d.partition = OWN(LINE("node1 HCA-1/P1", "dynamic", GUID1) "," LINE("0x" G2, "dynamic", GUID2));
	request("POST", "actions/remove_guids_from_pkey", NULL, "{\"pkey\": \"0x42\", \"guids\": [\"" G1 "\", \"" G1 "\"]}");
	expect_asked(SHOW LOOK CHANGE "{\"members\":[\"node1 HCA-1/P1\"],\"remove\":\"job\"}]}\n");

	/* by GUID what was added by name, and the other way round */
	d.partition = OWN(WHO("0x" G1) "," WHO("0x" G2));
	d.ports = "{\"ok\": true, \"rows\": [" PORT1 "]}";
	request("DELETE", "resources/pkeys/0x42/hosts/node1,node1", NULL, NULL);
	expect_asked(SHOW ASK1 ASK1 CHANGE "{\"members\":[\"0x" G1 "\"],\"remove\":\"job\"}]}\n");
	/* the daemon takes 5 for a LID, which is no host's name */
	request("DELETE", "resources/pkeys/0x42/hosts/5", NULL, NULL);
	expect_asked(SHOW "ports {\"node\":\"5\"}\n");
	expect_body("{}");
	/* both at once */
	d.partition = OWN(LINE("0x" G1, "dynamic", GUID1) "," LINE("node1 HCA-1/P1", "dynamic", GUID1) ","
			  LINE("0x" G2, "dynamic", GUID2));
	request("DELETE", "resources/pkeys/0x42/guids/" G1, NULL, NULL);
	expect_asked(SHOW LOOK CHANGE "{\"members\":[\"0x" G1 "\",\"node1 HCA-1/P1\"],\"remove\":\"job\"}]}\n");
	request("DELETE", "resources/pkeys/0x42/hosts/node1", NULL, NULL);
	expect_asked(SHOW ASK1 CHANGE "{\"members\":[\"0x" G1 "\",\"node1 HCA-1/P1\"],\"remove\":\"job\"}]}\n");
	/* a host that was absent when it was added */
	d.partition = OWN(LINE("node1/P*", "dynamic", "") "," LINE("node1 */P*", "dynamic", GUID1) "," LINE("0x" G2, "dynamic", GUID2));
	request("DELETE", "resources/pkeys/0x42/guids/" G1, NULL, NULL);
	expect_asked(SHOW LOOK CHANGE "{\"members\":[\"node1/P*\",\"node1 */P*\"],\"remove\":\"job\"}]}\n");
	d.partition = OWN(LINE("node1/P*", "dynamic", "") "," LINE("node1 */P*", "dynamic", GUID1));
	request("DELETE", "resources/pkeys/0x42/hosts/node1", NULL, NULL);
	expect_asked(SHOW CHANGE "{\"remove\":\"job\"}]}\n");

	/* what is no member needs no change */
	d.ports = "{\"ok\": false, \"error\": \"no such node\", \"absent\": 1}";
	request("DELETE", "resources/pkeys/0x42/hosts/node3", NULL, NULL);
	expect_body("{}");
	d.partition = NONE;
	request("POST", "actions/remove_guids_from_pkey", NULL, "{\"pkey\": \"0x42\", \"guids\": [\"" G1 "\"]}");
	expect_body("{}");
	expect_asked(SHOW);
	request("DELETE", "resources/pkeys/0x42/guids/" G1, NULL, NULL);
	expect_refusal(REST_NOT_FOUND, "0x42");
}
END_TEST

/* A port that would stay a member by another line is never said to be removed. */
START_TEST(members_that_stay)
{
	static const char *const lines[] = {
		LINE("0x" G1, "policy", GUID1), LINE("node1 HCA-1/P1", "policy", GUID1), LINE("racks", "policy", GUID1 "," GUID2),
		LINE("all", "dynamic", GUID1 "," GUID2), LINE("0x" G1 "-0x" G2, "dynamic", GUID1 "," GUID2),
		LINE("node*/P1", "dynamic", GUID1), LINE("node1 */P*", "dynamic", GUID1 "," GUID2),
	};

	d.ports = "{\"ok\": true, \"rows\": [" PORT1 "]}";
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		char *text = xasprintf(POLICYS("%s,%s"), WHO("0x" G1), lines[i]);

		d.partition = text;
		request("DELETE", "resources/pkeys/0x42/guids/" G1, NULL, NULL);
		expect_refusal(REST_CONFLICT, "is a member by the");
		ck_assert_ptr_null(strstr(d.asked.s, "change"));
		if (i < ARRAY_SIZE(lines) - 1) {	/* all ports of the host go */
			request("DELETE", "resources/pkeys/0x42/hosts/node1", NULL, NULL);
			expect_refusal(REST_CONFLICT, "is a member by the");
		}
		free(text);
	}
	/* other ports than that */
	d.partition = POLICYS(WHO("0x" G1) "," LINE("racks", "policy", GUID2) "," LINE("0x" G2, "policy", GUID2));
	request("DELETE", "resources/pkeys/0x42/guids/" G1, NULL, NULL);
	expect_asked(SHOW LOOK CHANGE "{\"members\":[\"0x" G1 "\"],\"remove\":\"job\"}]}\n");
	/* the policy's lines are not what was added */
	d.partition = POLICYS(LINE("0x" G2, "policy", GUID2));
	request("DELETE", "resources/pkeys/0x42", NULL, NULL);
	expect_refusal(REST_CONFLICT, "policy");
	/* where a host's ports are cannot be asked for */
	d.partition = OWN(WHO("0x" G1));
	d.ports = "{\"ok\": false, \"error\": \"this is not the master\"}";
	request("DELETE", "resources/pkeys/0x42/hosts/node1", NULL, NULL);
	expect_refusal(REST_NO_DAEMON, "not the master");
	expect_asked(SHOW ASK1);
}
END_TEST

START_TEST(whole_partitions)
{
	d.partition = NONE;
	request("POST", "resources/pkeys/add", NULL, "{\"pkey\": \"0x42\", \"partition_name\": \"tenant\", \"ip_over_ib\": false}");
	expect_asked(SHOW CHANGE "{\"add\":\"tenant\",\"ipoib\":false,\"pkey\":66}]}\n");
	request("DELETE", "resources/pkeys/0x42", NULL, NULL);
	expect_refusal(REST_NOT_FOUND, "0x42");
	d.partition = OWN("");
	request("POST", "resources/pkeys/add", NULL, "{\"pkey\": \"0x42\"}");
	expect_refusal(REST_CONFLICT, "job");
	request("DELETE", "resources/pkeys/0x42", NULL, NULL);
	expect_asked(SHOW CHANGE "{\"remove\":\"job\"}]}\n");
	d.partition = POLICYS("");
	request("DELETE", "resources/pkeys/0x42", NULL, NULL);
	expect_refusal(REST_CONFLICT, "policy");

	pkeys = (struct rest_pkeys){ 0x43, 0x50 };
	request("DELETE", "resources/pkeys/0x42", NULL, NULL);
	expect_refusal(REST_FORBIDDEN, "0x43 to 0x50");
	expect_asked("");
	pkeys = (struct rest_pkeys){ 1, 0x7ffe };
}
END_TEST

START_TEST(hosts)
{
	static const char *const bad[] = { "*", "all", "node1,", "type:ca", "a/P1", "node1 HCA-1", "node[1", "0x1-0x2,b/c" };

	d.partition = NONE;
	request("POST", "resources/pkeys/hosts", NULL, "{\"pkey\": \"0x42\", \"hosts_names\": \"node[1-2],all\"}");
	expect_asked(SHOW CHANGE "{\"add\":\"api_pkey_0x42\",\"ipoib\":true,\"members\":{\"host:all\":\"full\",\"host:node1\":"
		     "\"full\",\"host:node2\":\"full\"},\"pkey\":66}]}\n");
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		char body[100];

		if (!strcmp(bad[i], "all"))
			continue;
		snprintf(body, sizeof(body), "{\"pkey\": \"0x42\", \"hosts_names\": \"%s\"}", bad[i]);
		request("POST", "resources/pkeys/hosts", NULL, body);
		expect_refusal(REST_BAD, "hosts_names");
		expect_asked("");
	}
	request("POST", "resources/pkeys/hosts", NULL, "{\"pkey\": \"0x42\", \"hosts_names\": [\"node1\"]}");
	expect_refusal(REST_BAD, "hosts_names must be a string");
	request("POST", "resources/pkeys/hosts", NULL, "{\"pkey\": \"0x42\", \"hosts_names\": \"n[1-99999]\"}");
	expect_refusal(REST_BAD, "hosts_names");
}
END_TEST

START_TEST(refusals_of_the_daemon)
{
	static const char body[] = "{\"pkey\": \"0x42\", \"guids\": [\"" G1 "\"]}";

	d.partition = NONE;
	d.change = "{\"ok\": false, \"error\": \"refused\", \"absent\": 1, \"findings\": [{\"severity\": \"error\", \"text\": "
		   "\"no such port\"}, {\"severity\": \"info\", \"text\": \"aside\"}]}";
	request("POST", "resources/pkeys", NULL, body);
	expect_refusal(REST_NOT_FOUND, "no such port");
	ck_assert_ptr_null(strstr(a.text.s, "aside"));
	ck_assert_int_eq(d.awaited, 0);
	d.change = "{\"ok\": false, \"error\": \"refused\", \"absent\": 0, \"findings\": [{\"severity\": \"error\", \"text\": "
		   "\"too many members\"}]}";
	request("POST", "resources/pkeys", NULL, body);
	expect_refusal(REST_BAD, "too many members");
	d.change = "{\"ok\": false, \"error\": \"refused\", \"absent\": 0, \"findings\": [{\"severity\": \"error\", \"file\": "
		   "\"(dynamic partitions)\", \"text\": \"both want index 0\"}]}";
	request("POST", "resources/pkeys", NULL, body);
	expect_refusal(REST_CONFLICT, "both want index 0");
	d.change = "{\"ok\": false, \"error\": \"another subnet manager has become master\"}";
	request("POST", "resources/pkeys", NULL, body);
	expect_refusal(REST_NO_DAEMON, "another subnet manager");
	d.change = NULL;
	request("POST", "resources/pkeys", NULL, body);
	expect_refusal(REST_NO_DAEMON, "gone");
	d.partition = NULL;
	request("GET", "resources/pkeys", NULL, NULL);
	expect_refusal(REST_NO_DAEMON, "gone");
	d.crowded = true;
	request("POST", "resources/pkeys", NULL, body);
	expect_refusal(REST_NO_DAEMON, "other changes of partitions take too long");
	request("DELETE", "resources/pkeys/0x42/guids/" G1, NULL, NULL);
	expect_refusal(REST_NO_DAEMON, "other changes");
	expect_asked("");
}
END_TEST

START_TEST(wrong_bodies)
{
	static const char *const bad[][2] = {
		{ "[]", "JSON object" }, { "{\"Pkey\": 1}", "unknown field \"Pkey\"" }, { "{}", "pkey is missing" },
		{ "{\"pkey\": 66}", "pkey must be a string" }, { "{\"pkey\": \"0x42\"}", "guids must be an array" },
		{ "{\"pkey\": \"0x42\", \"guids\": \"" G1 "\"}", "guids must be an array" },
		{ "{\"pkey\": \"0x42\", \"guids\": [1]}", "guids: entry 1" },
		{ "{\"pkey\": \"0x42\", \"guids\": [\"" G1 "\"], \"index0\": 1}", "index0 must be" },
		{ "{\"pkey\": \"0x42\", \"guids\": [\"" G1 "\"], \"membership\": 1}", "membership must be" },
		{ "{\"pkey\": \"0x42\", \"guids\": [\"" G1 "\"], \"partition_name\": 1}", "partition_name must be" },
		{ "{\"pkey\": \"0x42\", \"guids\": [\"" G1 "\"], \"memberships\": \"full\"}", "memberships must be" },
		{ "{\"pkey\": \"0x42\", \"guids\": [\"" G1 "\"], \"ip_over_ib\": \"yes\"}", "ip_over_ib must be" },
	};

	d.partition = NONE;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		request("POST", "resources/pkeys", NULL, bad[i][0]);
		expect_refusal(REST_BAD, bad[i][1]);
		ck_assert_ptr_null(d.asked.n > strlen(SHOW) ? d.asked.s : NULL);
	}
}
END_TEST

START_TEST(listing)
{
	d.partition = "{\"ok\": true, \"result\": {\"partitions\": ["
		"{\"partition\": \"job\", \"pkey\": 66, \"ipoib\": true, \"ports\": [{\"port\": \"a (b) c/P1 (0x" G1 ")\", \"membership\": "
		"\"both\", \"places\": [{\"index\": 0, \"pkey\": 66}]}], \"members\": [" WHO("0x" G1) ",{\"who\": \"0x" G2 "\", \"membership\": \"full\", \"index0\": true}]},"
		"{\"partition\": \"Default\", \"pkey\": 32767, \"ipoib\": false, \"ports\": [{\"port\": \"n/P1 (0x" G1 ")\", "
		"\"membership\": \"limited\"}], \"members\": [{\"who\": \"all\", "
		"\"membership\": \"limited\"}]}]}}";
	request("GET", "resources/pkeys", "{\"guids_data\": \"true\"}", NULL);
	expect_asked("partition show\n");
	expect_body("{\"0x42\":{\"guids\":[{\"guid\":\"" G1 "\",\"index0\":true,\"membership\":\"full\"},"
		    "{\"guid\":\"" G2 "\",\"index0\":true,\"membership\":\"full\"}],\"ip_over_ib\":true,\"partition\":\"job\"},"
		    "\"0x7fff\":{\"guids\":[],\"ip_over_ib\":false,\"membership\":\"limited\",\"partition\":\"Default\"}}");
	request("GET", "resources/pkeys", NULL, NULL);
	expect_asked("partitions\n");
	d.partition = NONE;
	request("GET", "resources/pkeys/0x42", NULL, NULL);
	expect_asked("partition show {\"pkey\":66}\n");
	expect_body("{}");
}
END_TEST

START_TEST(inventory)
{
	d.ports = "{\"ok\": true, \"rows\": [" PORT1 ", {\"guid\": \"0x" G2 "\", \"port\": 0, \"name\": \"sw(1)/P0 (0x" G2 ")\", "
		  "\"state\": \"active\", \"type\": \"switch\", \"node\": \"0x" G2 "\"}]}";
	request("GET", "resources/ports", NULL, NULL);
	expect_body("[{\"active_speed\":\"4xEDR\",\"dname\":\"HCA-1/1\",\"guid\":\"" G1 "\",\"lid\":5,\"logical_state\":\"Active\","
		    "\"mtu\":4096,\"name\":\"" G1 "_1\",\"node_description\":\"node1 HCA-1\",\"number\":1,"
		    "\"peer_node_description\":\"sw(1)\",\"physical_state\":\"Link Up\",\"systemID\":\"0002c90300000000\","
		    "\"system_name\":\"node1\"}]");
	request("GET", "resources/ports", "{\"sys_type\": \"Switch\"}", NULL);
	expect_body("[]");
	request("GET", "resources/links", "{\"system\": \"node1\"}", NULL);
	expect_asked("ports {\"node\":\"node1\"}\n");
	expect_body("[{\"destination_guid\":\"" G2 "\",\"destination_port\":\"3\",\"destination_port_node_description\":\"sw(1)\","
		    "\"severity\":\"Info\",\"source_guid\":\"" G1 "\",\"source_port\":\"1\",\"source_port_node_description\":"
		    "\"node1 HCA-1\",\"width\":\"4xEDR\"}]");
	d.ports = "{\"ok\": false, \"error\": \"no such node\", \"absent\": 1}";
	request("GET", "resources/links", "{\"system\": \"nosuch\"}", NULL);
	expect_body("[]");
	d.ports = "{\"ok\": false, \"error\": \"this is not the master\"}";
	request("GET", "resources/links", "{\"system\": \"node1\"}", NULL);
	expect_refusal(REST_NO_DAEMON, "not the master");
	request("GET", "resources/links", "{\"system\": null}", NULL);
	expect_refusal(REST_BAD, "system: the value is not UTF-8");
	request("GET", "resources/links", "{\"sytem\": \"node1\"}", NULL);
	expect_refusal(REST_BAD, "unknown query \"sytem\"; queries are: system");
	request("GET", "app/smconf", "{\"a\": \"b\"}", NULL);
	expect_refusal(REST_BAD, "unknown query \"a\"; there are none here");
	expect_asked("");
	d.partition = "{\"ok\": true, \"rows\": [{\"guid\": \"0x" G2 "\", \"type\": \"switch\", \"description\": \"a switch\"}]}";
	request("GET", "resources/systems", NULL, NULL);
	expect_body("[{\"description\":\"a switch\",\"guid\":\"" G2 "\",\"name\":\"a switch\",\"system_guid\":\"" G2 "\","
		    "\"system_name\":\"a switch\",\"type\":\"switch\"}]");
}
END_TEST

#define SWITCH_PORT(number, peer, more) "{\"guid\": \"0x" G2 "\", \"port\": " number ", \"name\": \"sw(1)/P" number " (0x" G2 ")\", " \
	"\"node\": \"0x" G2 "\", \"type\": \"switch\", \"state\": \"active\"" peer more "}"
#define OTHER "0002c90300000003"
#define OTHER_PORT "{\"guid\": \"0x" OTHER "\", \"port\": 4, \"name\": \"sw2/P4 (0x" OTHER ")\", \"node\": \"0x" OTHER "\", \"type\": " \
	"\"switch\", \"state\": \"active\", \"link\": \"4xEDR\", \"mtu\": 4096, \"peer\": \"sw(1)/P5 (0x" G2 ")\", \"held\": true}"
#define TO_OTHER ", \"link\": \"4xEDR\", \"mtu\": 4096, \"peer\": \"sw2/P4 (0x" OTHER ")\""
#define PLACES(places) "{\"ok\": true, \"result\": {\"places\": [" places "]}}"
#define PLACE(node, port, kind) "{\"kind\": \"" kind "\", \"name\": \"a place\", \"node\": \"0x" node "\", \"port\": " port \
	", \"since\": \"2026-11-28T20:00:00Z\", \"reason\": \"a fan\"}"
#define LOOKED "withdrawn\nports\n"

static void expect_unhealthy(const char *text)
{
	struct buf list = { 0 };
	const json_t *x;
	size_t i;

	request("GET", "app/unhealthy_ports", NULL, NULL);
	expect_asked(LOOKED);
	json_array_foreach(a.body, i, x)
		buf_printf(&list, "%s %s %s %s; ", rest_str(x, "name"), rest_str(x, "Condition"), rest_str(x, "Action"),
			   rest_str(x, "PeerGUID"));
	ck_assert_str_eq(list.n ? list.s : "", text);
	buf_free(&list);
}

/* Asks for all that is in the list to be taken into service, which must come to the commands of `text`. */
static void expect_round_trip(const char *text)
{
	json_t *names = json_array(), *x;
	char *body, *asked;
	size_t i;

	request("GET", "app/unhealthy_ports", NULL, NULL);
	json_array_foreach(a.body, i, x)
		json_array_append(names, json_object_get(x, "name"));
	x = json_pack("{s:s, s:o}", "ports_policy", "HEALTHY", "ports", names);
	body = json_dumps(x, 0);
	asked = xasprintf(LOOKED "%s", text);
	request("PUT", "app/unhealthy_ports", NULL, body);
	expect_asked(asked);
	expect_body("{}");
	free(asked);
	free(body);
	json_decref(x);
}

START_TEST(unhealthy)
{
	d.partition = "{\"ok\": true, \"result\": {}}";
	d.ports = "{\"ok\": true, \"rows\": [" PORT1 "," SWITCH_PORT("0", "", ", \"lid\": 9") "," SWITCH_PORT("3", "", "") ","
		  SWITCH_PORT("5", TO_OTHER, ", \"held\": true") "," OTHER_PORT "]}";
	d.withdrawn = PLACES("");
	expect_unhealthy(G2 "_5 FLAPPING held " OTHER "; " OTHER "_4 FLAPPING held " G2 "; ");
	request("GET", "resources/unhealthy_ports/" OTHER "_4", NULL, NULL);
	expect_body("{\"Action\":\"held\",\"Condition\":\"FLAPPING\",\"PeerGUID\":\"" G2 "\",\"PeerLID\":\"9\",\"PeerNode\":\"sw(1)\","
		    "\"PeerPort\":\"sw(1)/5\",\"PeerPortDname\":\"5\",\"PeerPortNumber\":5,\"Reason\":\"\",\"State\":\"Warning\","
		    "\"StatusTime\":\"\",\"UnhealthyGUID\":\"" OTHER "\",\"UnhealthyNode\":\"sw2\",\"UnhealthyPort\":\"sw2/4\","
		    "\"UnhealthyPortDname\":\"4\",\"UnhealthyPortNumber\":4,\"name\":\"" OTHER "_4\"}");
	request("GET", "app/unhealthy_ports/" G2 "_3", NULL, NULL);
	expect_refusal(REST_NOT_FOUND, "is not unhealthy");
	/* what somebody withdrew, at either end, with its node, or without any port in the fabric */
	d.withdrawn = PLACES(PLACE(OTHER, "4", "drained") "," PLACE("0002c900000000aa", "2", "isolated"));
	expect_unhealthy(G2 "_5 MANUAL drained " OTHER "; " OTHER "_4 MANUAL drained " G2 "; 0002c900000000aa_2 MANUAL isolated ; ");
	d.withdrawn = PLACES(PLACE(G2, "null", "isolated"));
	expect_unhealthy(G2 "_3 MANUAL isolated ; " G2 "_5 MANUAL isolated " OTHER "; " OTHER "_4 MANUAL isolated " G2 "; "
			 G2 "_0 MANUAL isolated ; ");
	expect_round_trip("release {\"what\":[\"0x" G2 "\"]}\n");
	/* a device that is absent, a switch or a host */
	d.withdrawn = PLACES(PLACE("0002c900000000aa", "null", "isolated") "," PLACE("0002c900000000ac", "7", "isolated"));
	expect_round_trip("links release {\"port\":\"0x" G2 "/P5\"}\nlinks release {\"port\":\"0x" OTHER "/P4\"}\n"
			  "release {\"what\":[\"0x0002c900000000aa\",\"0x0002c900000000ac/P7\"]}\n");
	/* whom the operator asked for */
	d.withdrawn = PLACES("{\"kind\": \"isolated\", \"node\": \"0x" OTHER "\", \"port\": 4, \"reason\": \"unhealthy by REST\", "
			     "\"on-behalf-of\": \"ali\"}");
	request("GET", "app/unhealthy_ports/" OTHER "_4", NULL, NULL);
	ck_assert_str_eq(rest_str(a.body, "Reason"), "unhealthy by REST (says ali)");
	/* an isolated host is not in the fabric, and is known by its port's GUID; the other end of its link is out of use */
	d.withdrawn = PLACES("{\"kind\": \"isolated\", \"name\": \"node7 HCA-1/P1 (0x0002c900000000ab)\", \"node\": \"0x0002c900000000aa\", "
			     "\"port\": 1, \"ends\": [{\"name\": \"sw(1)/P3 (0x" G2 ")\", \"node\": \"0x" G2 "\", \"port\": 3}]}");
	expect_unhealthy(G2 "_3 MANUAL isolated ; " G2 "_5 FLAPPING held " OTHER "; " OTHER "_4 FLAPPING held " G2 "; "
			 "0002c900000000ab_1 MANUAL isolated " G2 "; ");
	request("PUT", "app/unhealthy_ports", NULL, "{\"ports_policy\": \"HEALTHY\", \"ports\": [\"0002c900000000ab_1\"]}");
	expect_asked(LOOKED "release {\"what\":[\"0x0002c900000000aa/P1\"]}\n");
	expect_round_trip("links release {\"port\":\"0x" G2 "/P5\"}\nlinks release {\"port\":\"0x" OTHER "/P4\"}\n"
			  "release {\"what\":[\"0x0002c900000000aa/P1\"]}\n");
	request("PUT", "app/unhealthy_ports", NULL, "{\"ports_policy\": \"HEALTHY\", \"ports\": [\"" G2 "_3\", \"0002c900000000ab_1\"]}");
	expect_asked(LOOKED "release {\"what\":[\"0x0002c900000000aa/P1\"]}\n");
	d.withdrawn = PLACES(PLACE(OTHER, "4", "drained"));
	request("PUT", "app/unhealthy_ports", NULL, "{\"ports_policy\": \"HEALTHY\", \"ports\": [\"" G2 "_5\"]}");
	expect_asked(LOOKED "release {\"what\":[\"0x" OTHER "/P4\"]}\n");
	d.withdrawn = PLACES(PLACE(OTHER, "null", "drained"));
	request("PUT", "app/unhealthy_ports", NULL, "{\"ports_policy\": \"HEALTHY\", \"ports\": [\"" G2 "_5\"]}");
	expect_refusal(REST_CONFLICT, "0x" G2 "/P5 is out of use with the device 0x" OTHER);
	request("PUT", "app/unhealthy_ports", NULL, "{\"ports_policy\": \"HEALTHY\", \"ports\": [\"" G2 "_5\"], \"devices\": [\"" OTHER "\"]}");
	expect_asked(LOOKED "release {\"what\":[\"0x" OTHER "\"]}\n");
	/* the links of a drained switch to its hosts are in use */
	d.withdrawn = PLACES(PLACE(G2, "null", "drained"));
	expect_unhealthy(G2 "_5 MANUAL drained " OTHER "; " OTHER "_4 MANUAL drained " G2 "; " G2 "_0 MANUAL drained ; ");
	expect_round_trip("release {\"what\":[\"0x" G2 "\"]}\n");
	d.withdrawn = "{\"ok\": false, \"error\": \"this is not the master\"}";
	request("GET", "app/unhealthy_ports", NULL, NULL);
	expect_refusal(REST_NO_DAEMON, "not the master");
}
END_TEST

START_TEST(changing_health)
{
	static const char *const bad[][2] = {
		{ "[]", "JSON object" }, { "{\"ports\": []}", "ports_policy must be" },
		{ "{\"ports_policy\": \"HEALTHY\"}", "must have ports or devices" },
		{ "{\"ports_policy\": \"HEALTHY\", \"ports\": \"x\"}", "ports must be an array" },
		{ "{\"ports_policy\": \"HEALTHY\", \"ports\": [1]}", "is no port such as" },
		{ "{\"ports_policy\": \"HEALTHY\", \"ports\": [\"" G2 "\"]}", "is no port such as" },
		{ "{\"ports_policy\": \"HEALTHY\", \"ports\": [\"" G2 "_\"]}", "is no port such as" },
		{ "{\"ports_policy\": \"HEALTHY\", \"ports\": [\"" G2 "_255\"]}", "is no port such as" },
		{ "{\"ports_policy\": \"HEALTHY\", \"ports\": [\"" G2 "_5x\"]}", "is no port such as" },
		{ "{\"ports_policy\": \"HEALTHY\", \"devices\": [\"" G2 "_5\"]}", "is no GUID of a device" },
		{ "{\"ports_policy\": \"UNHEALTHY\", \"ports\": [\"" G2 "_5\"], \"action\": \"no_discover\"}", "action must be" },
	};

	d.ports = "{\"ok\": true, \"rows\": [" PORT1 "," SWITCH_PORT("5", TO_OTHER, ", \"held\": true") "]}";
	d.withdrawn = PLACES(PLACE(OTHER, "4", "drained") "," PLACE("0002c900000000aa", "null", "isolated"));
	d.partition = "{\"ok\": true, \"result\": {\"state\": \"master\"}}";
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		request("PUT", "app/unhealthy_ports", NULL, bad[i][0]);
		expect_refusal(REST_BAD, bad[i][1]);
	}
	request("PUT", "app/unhealthy_ports", NULL, "{\"ports_policy\": \"HEALTHY\", \"ports\": [\"" G2 "_6\"]}");
	expect_refusal(REST_NOT_FOUND, "there is no port " G2 "_6");
	expect_asked(LOOKED);
	request("PUT", "app/unhealthy_ports", NULL, "{\"ports_policy\": \"HEALTHY\", \"devices\": [\"0002c900000000bb\"]}");
	expect_refusal(REST_NOT_FOUND, "there is no device");

	/* a port's GUID need not be its node's; what is withdrawn and what flaps are released by commands of their own */
	request("PUT", "app/unhealthy_ports", NULL, "{\"ports_policy\": \"HEALTHY\", \"devices\": [\"0002c900000000aa\"], \"ports\": [\""
		OTHER "_4\", \"" G2 "_5\", \"" G1 "_1\"]}");
	expect_body("{}");
	expect_asked(LOOKED "links release {\"port\":\"0x" G2 "/P5\"}\nlinks release {\"port\":\"0x0002c90300000000/P1\"}\n"
		     "release {\"what\":[\"0x" OTHER "/P4\",\"0x0002c900000000aa\"]}\n");

	request("PUT", "app/unhealthy_ports", NULL, "{\"ports_policy\": \"UNHEALTHY\", \"action\": \"isolate\", \"ports\": [\"" G1 "_1\"], "
		"\"devices\": [\"" G2 "\"]}");
	expect_body("{}");
	expect_asked(LOOKED "isolate {\"force\":false,\"reason\":\"unhealthy by REST\",\"what\":[\"0x0002c90300000000/P1\",\"0x" G2 "\"]}\n");
	request("PUT", "app/unhealthy_ports", "{\"force_set\": \"true\"}", "{\"ports_policy\": \"UNHEALTHY\", \"ports\": [\"" G1 "_1\"]}");
	expect_asked(LOOKED "isolate {\"force\":true,\"reason\":\"unhealthy by REST\",\"what\":[\"0x0002c90300000000/P1\"]}\n");

	/* what the master refuses is a matter of the request, not of time */
	d.isolate = "{\"ok\": false, \"error\": \"this would cut off 2 other hosts\"}";
	request("PUT", "app/unhealthy_ports", NULL, "{\"ports_policy\": \"UNHEALTHY\", \"ports\": [\"" G1 "_1\"]}");
	expect_refusal(REST_CONFLICT, "this would cut off 2 other hosts");
	d.partition = "{\"ok\": true, \"result\": {\"state\": \"standby\"}}";
	request("PUT", "app/unhealthy_ports", NULL, "{\"ports_policy\": \"UNHEALTHY\", \"ports\": [\"" G1 "_1\"]}");
	expect_refusal(REST_NO_DAEMON, "this would cut off 2 other hosts");
}
END_TEST

START_TEST(protection)
{
	d.partition = "{\"ok\": true, \"result\": {\"subnet-prefix\": \"0xfec0000000000001\", \"m-key-set\": true, "
		      "\"sm-key-secret\": true}}";
	request("GET", "app/smconf", NULL, NULL);
	expect_body("{\"m_key\":\"0xffffffffffffffff\",\"m_key_per_port\":false,\"sa_key\":\"0x0000000000000001\","
		    "\"sm_key\":\"0xffffffffffffffff\",\"subnet_prefix\":\"0xfec0000000000001\"}");
	d.partition = "{\"ok\": true, \"result\": {\"version\": \"1.2\", \"state\": \"standby\"}}";
	request("GET", "app/ufm_version", NULL, NULL);
	expect_body("{\"manager\":\"qosd\",\"state\":\"standby\",\"ufm_release_version\":\"1.2\"}");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("rest_api");
	TCase *t = tcase_create("rest_api");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, routes);
	tcase_add_test(t, fields);
	tcase_add_test(t, adding);
	tcase_add_test(t, values);
	tcase_add_test(t, setting);
	tcase_add_test(t, removing);
	tcase_add_test(t, members_that_stay);
	tcase_add_test(t, whole_partitions);
	tcase_add_test(t, hosts);
	tcase_add_test(t, refusals_of_the_daemon);
	tcase_add_test(t, wrong_bodies);
	tcase_add_test(t, listing);
	tcase_add_test(t, inventory);
	tcase_add_test(t, unhealthy);
	tcase_add_test(t, changing_health);
	tcase_add_test(t, protection);
	suite_add_tcase(s, t);
	return run_suite(s);
}
