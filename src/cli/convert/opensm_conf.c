/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads opensm.conf and judges each of its lines: opensm_options.c says what becomes of most
 * options, functions in this file say it of those that depend on more than their value.
 *
 * `opensm -c` writes a file with all options, so that a value of it is no wish of anybody's if it
 * is OpenSM's default.  Only other values become settings of qosd.yaml.
 */
#include <inttypes.h>
#include <string.h>

#include "cli/convert/opensm_conf.h"
#include "cli/convert/opensm_options.h"
#include "lib/base/map64.h"

/* The lines of the file, and indexes of their keys. */
struct reader {
	struct converted *c;
	struct { struct option *v; size_t n, cap; } lines;
	struct map64 last;	/* key -> its last line */
	struct map64 known;	/* name -> row of opensm_options */
};

static uint64_t hash_of(const char *s)
{
	return hash_bytes(s, strlen(s), 0);
}

/* A value that stands for a file or a list that is not there. */
static bool is_null(const char *value)
{
	return !strcmp(value, "(null)");
}

/* OpenSM takes anything but TRUE for FALSE. */
static bool is_true(const struct option *o)
{
	return !strcmp(o->value, "TRUE");
}

static const char *value_of(const struct reader *r, const char *key)
{
	uint32_t i = map64_get(&r->last, hash_of(key));

	return i == MAP64_NONE ? NULL : r->lines.v[i].value;
}

/* Says "key value: …". */
#define judge(o, v, fmt, ...) \
	verdict((o)->c, NULL, v, (o)->at, "%s %s: " fmt, (o)->key, SHOW((o)->value), ##__VA_ARGS__)

/* --- settings of qosd.yaml --- */

static void become(const struct option *o, const char *key, const char *value)
{
	const char *line = keepf(o->c, "%s: %s", key, value);

	add_setting(o->c, line, o->at);
	judge(o, VERDICT_SAME, "qosd.yaml has '%s'", SHOW(line));
}

/* In the notation of the source; YAML's octal numbers differ from C's. */
static const char *number_text(const struct option *o, uint64_t n)
{
	return strncmp(o->value, "0x", 2) ? keepf(o->c, "%" PRIu64, n) : o->value;
}

static void judge_number(const struct option *o, const struct opensm_option *row)
{
	uint64_t n;

	if (!parse_number(o->value, &n))
		judge(o, VERDICT_NOT_POSSIBLE, "is not a number");
	else if (n == row->ours)
		judge(o, VERDICT_SAME, "qosd's default of %s", row->key);
	else if (n < row->lo || n > row->hi)
		judge(o, VERDICT_NOT_POSSIBLE, "%s goes from %" PRIu64 " to %" PRIu64 "; left at its "
		      "default", row->key, row->lo, row->hi);
	else
		become(o, row->key, number_text(o, n));
}

/* --- options by rows --- */

static bool is_word(const char *list, const char *value)
{
	size_t n = strlen(value);
	uint64_t a, b;
	bool number = parse_number(value, &a);

	for (const char *p = list; *p; p += strspn(p, " ")) {
		size_t len = strcspn(p, " ");
		char word[80] = "";

		if (len < sizeof(word))
			memcpy(word, p, len);
		if ((len == n && !strncmp(p, value, n)) || (number && parse_number(word, &b) && a == b))
			return true;
		p += len;
	}
	return false;
}

/* Two numbers apart by a blank, as in "0 0": each must be usual. */
static bool is_usual(const struct opensm_option *row, const char *value)
{
	size_t n = strcspn(value, " \t");
	char first[80] = "";

	if (is_null(value) || is_word(row->usual, value))
		return true;
	if (!value[n] || n >= sizeof(first))
		return false;
	memcpy(first, value, n);
	return is_word(row->usual, first) && is_usual(row, value + n + strspn(value + n, " \t"));
}

static bool is_boolean(const struct opensm_option *row)
{
	return !strncmp(row->usual, "TRUE", 4) || !strncmp(row->usual, "FALSE", 5);
}

static void judge_usual(const struct option *o, const struct opensm_option *row)
{
	switch (row->means) {
	case USUAL_OFF:
		judge(o, VERDICT_SAME, "OpenSM's default; nothing is in use");
		break;
	case USUAL_ALIKE:
		judge(o, VERDICT_SAME, "OpenSM's default, and qosd's");
		break;
	default:
		judge(o, VERDICT_NOT_NEEDED, "OpenSM's default; qosd has one of its own for %s", row->key);
	}
}

static void judge_row(const struct option *o, const struct opensm_option *row, bool has_m_key)
{
	if (row->means != USUAL_JUDGED && is_usual(row, o->value))
		judge_usual(o, row);
	else if (is_boolean(row) && !is_true(o) && strcmp(o->value, "FALSE"))
		judge(o, VERDICT_OTHERWISE, "left out, as only TRUE is true and only FALSE is clearly "
		      "false; OpenSM takes it for FALSE");
	else if (!strncmp(row->name, "m_key_", 6) && row->how == HOW_NUMBER && !has_m_key)
		judge(o, VERDICT_NOT_NEEDED, "there is no M_Key");
	else if (row->how == HOW_NUMBER)
		judge_number(o, row);
	else if (row->how == HOW_BOOLEAN)
		become(o, row->key, is_true(o) ? "true" : "false");
	else
		judge(o, row->verdict, "%s", row->text);
}

/* --- options that need more than their value --- */

static void judge_qos(const struct option *o)
{
	o->c->qos = is_true(o);
	if (is_true(o))
		judge(o, VERDICT_SAME, "tables, policy and SLs of partitions are converted");
	else if (o->c->options.with_qos)
		judge(o, VERDICT_OTHERWISE, "converted as if it were TRUE, as --with-qos asks for");
	else
		judge(o, VERDICT_SAME, "neither has tables written or an SL but 0; QoS options, policy and "
		      "SLs of partitions have no effect");
}

static void judge_allow_both(const struct option *o)
{
	o->c->allow_both = is_true(o);
	judge(o, VERDICT_SAME, "members that are 'both' %s",
	      is_true(o) ? "stay so" : "become full");
}

/* no_partition_enforcement is an older option, which OpenSM lets win. */
static void judge_enforcement(const struct reader *r, const struct option *o)
{
	const char *none = value_of(r, "no_partition_enforcement");
	const char *where = is_true(o) ? "off" : "both";

	if (!strcmp(o->key, "part_enforce")) {
		if (none && !strcmp(none, "TRUE")) {
			judge(o, VERDICT_NOT_NEEDED, "no_partition_enforcement TRUE wins");
			return;
		}
		where = o->value;
		if (strcmp(where, "in") && strcmp(where, "out") && strcmp(where, "off"))
			where = "both";		/* as OpenSM takes any other word */
	}
	if (strcmp(where, "both"))
		become(o, "partition-enforcement", where);
	else
		judge(o, VERDICT_SAME, "switches enforce partitions in both directions");
}

/* max-op-vls is a number of VLs, max_op_vls a code. */
static void judge_max_op_vls(const struct option *o)
{
	static const int vls[] = { 0, 1, 2, 4, 8, 15 };
	uint64_t code;

	if (!parse_number(o->value, &code) || code < 1 || code > 5) {
		judge(o, VERDICT_NOT_POSSIBLE, "1 to 5 stand for 1, 2, 4, 8 and 15 VLs");
		return;
	}
	o->c->data_vls = vls[code];
	if (code == 5)
		judge(o, VERDICT_SAME, "OpenSM's default, and qosd's");
	else
		become(o, "max-op-vls", keepf(o->c, "%d", vls[code]));
}

/* resolve() compares it with the level `default`. */
static void note_sm_sl(const struct option *o)
{
	o->c->sm_sl = (struct word){ o->value, o->at };
}

static void judge_sa_key(const struct reader *r, const struct option *o)
{
	const char *sm_key = value_of(r, "sm_key");
	uint64_t sa, sm = 1;

	if (sm_key && !parse_number(sm_key, &sm))
		sm = 0;
	if (parse_number(o->value, &sa) && sa == sm)
		judge(o, VERDICT_SAME, "sm-key is the key of trusted clients as well");
	else
		judge(o, VERDICT_NOT_POSSIBLE, "qosd has one key, sm-key, for managers and for trusted clients");
}

static void judge_file(const struct option *o, enum convert_format format)
{
	if (is_null(o->value))
		judge(o, VERDICT_SAME, "not set");
	else if (format == FORMAT_QOS_POLICY && qos_is_off(o->c))
		judge(o, VERDICT_NOT_NEEDED, "qos is FALSE: OpenSM does not read it");
	else if (o->c->names[format])
		judge(o, VERDICT_SAME, "converted from %s", o->c->names[format]);
	else
		judge(o, VERDICT_OTHERWISE, "not converted, as it is not among the files; if there is such a "
		      "file, name it as well");
}

/* --- routing engines --- */

/* What comes nearest to an engine of OpenSM or of the vendor's manager; NULL: nothing does. */
static const struct engine { const char *name, *ours, *text; } engines[] = {
	{ "minhop", "minhop", NULL },
	{ "updn", "updn", NULL },
	{ "dnup", "updn", "which finds the order of the switches by itself" },
	{ "ftree", "updn", "which routes a fat tree by its levels" },
	{ "pqft", "updn", "which routes a fat tree by its levels" },
	{ "dor", "grid", "which needs two sets of VLs, and several SLs per level, in rings" },
	{ "kdor-hc", "grid", "which routes hypercubes as well" },
	{ "torus-2QoS", "grid", "which needs two sets of VLs, and several SLs per level, in rings" },
	{ "lash", "layered", "which has layers, each with SLs and VLs of its own" },
	{ "dfsssp", "layered", "which has layers, each with SLs and VLs of its own" },
	{ "nue", "layered", "which has layers, each with SLs and VLs of its own" },
	{ "sssp", "minhop", "which has shortest paths as well" },
	{ "dfp", "dragonfly", "without adaptive routing" },
	{ "dfp2", "dragonfly", "without adaptive routing" },
	{ "ar_updn", "updn", "without adaptive routing" },
	{ "ar_ftree", "updn", "without adaptive routing" },
	{ "ar_minhop", "minhop", "without adaptive routing" },
	{ "ar_dor", "grid", "without adaptive routing" },
	{ "ar_torus", "grid", "without adaptive routing" },
	{ "auto", "auto", "which compares the engines of qosd on the fabric" },
	{ "file", NULL, "qosd does not read routes from files" },
	{ "chain", NULL, "one engine routes the whole fabric" },
	{ "none", NULL, "qosd always routes" },
};

struct engine_list {
	const char *text;	/* "updn, minhop"; NULL: none yet */
	const char *named[5];
	size_t n;
	bool automatic, no_fallback;
};

static void add_engine(struct converted *c, struct engine_list *list, const char *name)
{
	if (!strcmp(name, "auto")) {
		list->automatic = true;
		return;
	}
	for (size_t i = 0; i < list->n; i++)
		if (!strcmp(list->named[i], name))
			return;
	list->named[list->n++] = name;
	list->text = list->text ? keepf(c, "%s, %s", list->text, name) : name;
}

static void judge_engine(const struct option *o, struct place at, const char *name,
			 struct engine_list *list)
{
	const struct engine *e = engines;

	if (!strcmp(name, "no_fallback")) {
		list->no_fallback = true;
		verdict(o->c, NULL, VERDICT_SAME, at, "routing_engine no_fallback: no other engine follows");
		return;
	}
	while (e < engines + ARRAY_SIZE(engines) && strcmp(e->name, name))
		e++;
	if (e == engines + ARRAY_SIZE(engines)) {
		verdict(o->c, NULL, VERDICT_NOT_POSSIBLE, at,
			"routing_engine %s: left out, as qosd has no such engine; see qosd.yaml(5)", SHOW(name));
	} else if (!e->ours) {
		verdict(o->c, NULL, VERDICT_NOT_POSSIBLE, at, "routing_engine %s: left out, as %s", name,
			e->text);
	} else {
		verdict(o->c, NULL, e->text ? VERDICT_OTHERWISE : VERDICT_SAME, at,
			"routing_engine %s: qosd has the engine %s%s%s", name, e->ours, e->text ? ", " : "",
			e->text ? e->text : "");
		add_engine(o->c, list, e->ours);
	}
}

/* OpenSM takes minhop when no engine of the list can route, unless no_fallback is in it. */
static void judge_engines(const struct option *o)
{
	struct engine_list list = { 0 };
	struct item i;

	if (is_null(o->value)) {
		judge(o, VERDICT_OTHERWISE, "OpenSM's default is minhop, whose paths may have credit loops; "
		      "qosd's is updn, then minhop");
		return;
	}
	for (struct cursor l = o->text; next_item(&l, &i);)
		judge_engine(o, i.text.at, item_text(o->c, i.text), &list);
	if (list.automatic) {
		add_setting(o->c, "routing: auto", o->at);
		return;
	}
	if (!list.text)
		return;
	if (!list.no_fallback)
		add_engine(o->c, &list, "minhop");
	if (strcmp(list.text, "updn, minhop"))		/* qosd's default */
		add_setting(o->c, keepf(o->c, "routing: [%s]", list.text), o->at);
}

/* --- names of nodes --- */

static void judge_name_map(const struct option *o)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+";

	if (is_null(o->value))
		judge(o, VERDICT_SAME, "nodes have their NodeDescriptions");
	else if (*o->value == '/' && strspn(o->value, plain) == strlen(o->value))
		become(o, "node-name-map", o->value);
	else
		judge(o, VERDICT_NOT_POSSIBLE, "node-name-map of qosd.yaml takes an absolute path");
}

/* --- the file --- */

static void judge_special(const struct reader *r, const struct option *o)
{
	if (!strcmp(o->key, "allow_both_pkeys"))
		judge_allow_both(o);
	else if (!strcmp(o->key, "part_enforce") || !strcmp(o->key, "no_partition_enforcement"))
		judge_enforcement(r, o);
	else if (!strcmp(o->key, "max_op_vls"))
		judge_max_op_vls(o);
	else if (!strcmp(o->key, "sm_sl"))
		note_sm_sl(o);
	else if (!strcmp(o->key, "sa_key"))
		judge_sa_key(r, o);
	else if (!strcmp(o->key, "partition_config_file"))
		judge_file(o, FORMAT_PARTITIONS);
	else if (!strcmp(o->key, "qos_policy_file"))
		judge_file(o, FORMAT_QOS_POLICY);
	else if (!strcmp(o->key, "prefix_routes_file"))
		judge_file(o, FORMAT_PREFIX_ROUTES);
	else if (!strcmp(o->key, "routing_engine"))
		judge_engines(o);
	else if (!strcmp(o->key, "node_name_map_name"))
		judge_name_map(o);
	else
		read_table_option(o);
}

static void judge_line(const struct reader *r, const struct option *o)
{
	uint32_t row = map64_get(&r->known, hash_of(o->key));
	const char *m_key = value_of(r, "m_key");
	uint64_t n;

	if (!strcmp(o->key, "qos") && !o->again)
		return;		/* was judged first */
	if (row == MAP64_NONE)
		verdict(o->c, NULL, VERDICT_NOT_POSSIBLE, o->at,
			"%s: unknown option, ignored: neither OpenSM 3.3.24 nor the vendor's manager is known "
			"to have it", SHOW(o->key));
	else if (o->again)
		judge(o, VERDICT_NOT_NEEDED, "line %u sets it again",
		      r->lines.v[map64_get(&r->last, hash_of(o->key))].at.pos.line);
	else if (!*o->value)
		verdict(o->c, NULL, VERDICT_NOT_POSSIBLE, o->at, "%s: has no value", o->key);
	else if (opensm_options[row].how == HOW_SPECIAL)
		judge_special(r, o);
	else
		judge_row(o, &opensm_options[row], m_key && parse_number(m_key, &n) && n);
}

/* The value is the rest of the line, without comment and quotes. */
static void read_line(struct reader *r, struct cursor *at)
{
	struct option o = { .c = r->c, .at = at->at };
	const char *end = memchr(at->s, '\n', (size_t)(at->end - at->s));
	const char *hash;
	uint32_t before;
	size_t n = 0;

	if (!end)
		end = at->end;
	hash = memchr(at->s, '#', (size_t)(end - at->s));
	if (hash)
		end = hash;
	while (at->s + n < end && !strchr(" \t\r", at->s[n]))
		n++;
	o.key = keep(r->c, at->s, n);
	cursor_skip(at, n);
	o.text = cursor_part(*at, end);
	if (o.text.end - o.text.s >= 2 && *o.text.s == o.text.end[-1] && strchr("\"'", *o.text.s)) {
		cursor_skip(&o.text, 1);
		o.text.end--;
	}
	o.text.quotes = false;
	o.value = item_text(r->c, o.text);
	before = map64_put(&r->last, hash_of(o.key), (uint32_t)r->lines.n);
	if (before != MAP64_NONE)
		r->lines.v[before].again = true;
	*vec_push(&r->lines) = o;
}

static void read_lines(struct reader *r, const struct convert_input *in)
{
	struct cursor at = cursor_of(in);

	at.quotes = true;
	while (at.s < at.end) {
		cursor_skip_blanks(&at);
		if (at.s < at.end && *at.s != '\n' && *at.s != '#')
			read_line(r, &at);
		cursor_skip_line(&at);
	}
}

void read_options(struct converted *c, const struct convert_input *in)
{
	struct reader r = { .c = c };
	uint32_t qos;

	c->has_options = true;
	map64_init(&r.last, 64);
	map64_init(&r.known, (uint32_t)opensm_options_n);
	for (size_t i = 0; i < opensm_options_n; i++)
		map64_put(&r.known, hash_of(opensm_options[i].name), (uint32_t)i);
	read_lines(&r, in);
	qos = map64_get(&r.last, hash_of("qos"));
	if (qos != MAP64_NONE)		/* others depend on it */
		judge_qos(&r.lines.v[qos]);
	for (size_t i = 0; i < r.lines.n; i++)
		judge_line(&r, &r.lines.v[i]);
	if (!qos_is_off(c))
		add_built_in_tables(c, in->name);
	vec_free(&r.lines);
	map64_free(&r.last);
	map64_free(&r.known);
}
