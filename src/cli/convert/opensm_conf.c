/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads the options of opensm.conf: tables by class of port, and settings for qosd.yaml.
 *
 * OpenSM takes the tables of a class from the options of that class, else from those that begin
 * with qos_ (here: the class `all`), else from its built-in ones.  Its built-in tables differ from
 * qosd's, so the converter writes them out.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "cli/convert/split_text.h"

/* osm_base.h: OSM_DEFAULT_QOS_* */
#define BUILT_IN_HIGH	"0:4"
#define BUILT_IN_LOW	"1:4,2:4,3:4,4:4,5:4,6:4,7:4,8:4,9:4,10:4,11:4,12:4,13:4,14:4"
#define BUILT_IN_SL2VL	"0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,7"

struct option {
	struct converted *c;
	const char *key, *value;
	struct place at;		/* place of the key */
	struct cursor text;		/* the value */
};

/* --- the qos_* options --- */

/* Longer prefixes come before the one they begin with. */
static const struct { const char *prefix; enum out_class class; } classes[] = {
	{ "qos_ca_", OUT_CA }, { "qos_sw0_", OUT_SWITCH0 }, { "qos_swe_", OUT_SWITCH },
	{ "qos_rtr_", OUT_ROUTER }, { "qos_", OUT_ALL },
};

static void read_max_vls(const struct option *o, struct out_default *d)
{
	uint64_t n;

	if (!read_number(o->c, o->text, 0, UINT32_MAX, o->key, &n))
		return;
	say(o->c, &d->notes, SEV_INFO, o->at,
	    "%s %" PRIu64 " has no effect in OpenSM; in qosd 'max-vls: %" PRIu64 "' would limit "
	    "the VLs in use", o->key, n, n < 1 || n > 15 ? 15 : n);
}

static void read_high_limit(const struct option *o, struct out_default *d)
{
	uint64_t n;

	if (!strcmp(o->value, "-1"))
		return;		/* the same as not given */
	if (!read_number(o->c, o->text, 0, UINT32_MAX, o->key, &n))
		return;
	if (n > 255)
		say(o->c, &d->notes, SEV_WARNING, o->at,
		    "%s %" PRIu64 ": OpenSM ignores values above 255", o->key, n);
	else
		d->high_limit = (int)n;
}

static void read_arb(const struct option *o, struct out_default *d, struct arb *arb)
{
	size_t zeros = 0, n = 0;
	struct item i;

	arb->n = 0;
	arb->given = true;
	for (struct cursor l = o->text; next_item(&l, &i); n++) {
		const char *text = item_text(o->c, i.text), *colon = strchr(text, ':');
		uint64_t vl, weight;

		if (!colon || !parse_number(keep(o->c, text, (size_t)(colon - text)), &vl) ||
		    !parse_number(colon + 1, &weight)) {
			say_error(o->c, i.text.at, "%s: '%s' is not VL:weight", o->key, SHOW(text));
			continue;
		}
		if (vl > 14)
			say(o->c, &d->notes, SEV_WARNING, i.text.at,
			    "%s: OpenSM takes VL %" PRIu64 " modulo 15, %u", o->key, vl,
			    (unsigned)(vl % 15));
		if (weight > 255)
			say(o->c, &d->notes, SEV_WARNING, i.text.at,
			    "%s: OpenSM takes weight %" PRIu64 " modulo 256, %u", o->key, weight,
			    (unsigned)(weight & 255));
		zeros += (weight & 255) == 0;
		if (weight & 255)
			*vec_push(arb) = (struct arb_entry){ (uint8_t)(vl % 15),
							     (uint8_t)(weight & 255) };
	}
	if (n > 64)
		say_error(o->c, o->text.at, "%s has %zu entries; the maximum is 64", o->key, n);
	if (zeros)
		say(o->c, &d->notes, SEV_INFO, o->at,
		    "%s: omitted the entries with weight 0 (%zu of %zu), which every device "
		    "skips", o->key, zeros, n);
}

static void read_sl2vl(const struct option *o, struct out_default *d)
{
	struct item i;
	size_t n = 0;

	d->table = (struct sl2vl_table){ .given = true };
	for (struct cursor l = o->text; next_item(&l, &i); n++) {
		uint64_t vl;

		if (!read_number(o->c, i.text, 0, UINT32_MAX, o->key, &vl))
			continue;
		if (vl > 15)
			say(o->c, &d->notes, SEV_WARNING, i.text.at,
			    "%s: %" PRIu64 " is not a VL; OpenSM uses %u of it", o->key, vl,
			    (unsigned)(vl & 15));
		if (n < 16)
			d->table.vl[n] = (uint8_t)(vl & 15);
	}
	if (n > 16)
		say(o->c, &d->notes, SEV_WARNING, o->at,
		    "%s has %zu entries; OpenSM uses the first 16", o->key, n);
	if (n < 16)
		say(o->c, &d->notes, SEV_WARNING, o->at,
		    "%s has %zu entries; OpenSM maps the SLs from %zu on to VL 0", o->key, n, n);
}

/* Returns false if the option does not concern tables. */
static bool read_table_option(const struct option *o)
{
	struct out_default *d;
	const char *what;
	size_t i = 0;

	while (i < ARRAY_SIZE(classes) &&
	       strncmp(o->key, classes[i].prefix, strlen(classes[i].prefix)))
		i++;
	if (i == ARRAY_SIZE(classes))
		return false;
	d = &o->c->defaults[classes[i].class];
	what = o->key + strlen(classes[i].prefix);
	if (!strcmp(what, "max_vls"))
		read_max_vls(o, d);
	else if (!strcmp(what, "high_limit"))
		read_high_limit(o, d);
	else if (!strcmp(what, "vlarb_high"))
		read_arb(o, d, &d->high);
	else if (!strcmp(what, "vlarb_low"))
		read_arb(o, d, &d->low);
	else if (!strcmp(what, "sl2vl"))
		read_sl2vl(o, d);
	else
		return false;
	if (!d->given)
		d->at = o->at;
	d->given = true;
	o->c->has_defaults = true;
	return true;
}

/* --- settings for qosd.yaml --- */

static const struct setting {
	const char *key, *qosd;		/* qosd NULL: only `note` explains it */
	const char *note;
} settings[] = {
	{ "guid", "port-guid", NULL },
	{ "m_key", "m-key", NULL },
	{ "m_key_lease_period", "m-key-lease", NULL },
	{ "m_key_protection_level", "m-key-protect", NULL },
	{ "sm_key", "sm-key", NULL },
	{ "sa_key", NULL, "qosd has one key, sm-key, for subnet managers and for trusted clients" },
	{ "subnet_prefix", "subnet-prefix", NULL },
	{ "lmc", "lmc", NULL },
	{ "lmc_esp0", "lmc-enhanced-port-0", NULL },
	{ "max_op_vls", "max-op-vls", NULL },
	{ "subnet_timeout", "subnet-timeout", NULL },
	{ "packet_life_time", "packet-lifetime", NULL },
	{ "head_of_queue_lifetime", "hoq-lifetime", NULL },
	{ "leaf_head_of_queue_lifetime", "hoq-lifetime-end", NULL },
	{ "vl_stall_count", "vl-stall-count", NULL },
	{ "leaf_vl_stall_count", "vl-stall-count-end", NULL },
	{ "local_phy_errors_threshold", "local-phy-errors", NULL },
	{ "overrun_errors_threshold", "overrun-errors", NULL },
	{ "sm_priority", "priority", NULL },
	{ "sminfo_polling_timeout", "poll-interval", NULL },
	{ "polling_retry_number", "poll-retries", NULL },
	{ "max_wire_smps", "smp-window", NULL },
	{ "transaction_timeout", "smp-timeout", NULL },
	{ "transaction_retries", "smp-retries", NULL },
	{ "sweep_interval", "sweep-interval", NULL },
	{ "sm_sl", NULL, "the subnet manager's own traffic uses the SL of the level 'default'" },
};

static bool is_boolean(const char *key)
{
	return !strcmp(key, "lmc_esp0");
}

/* max-op-vls is a number of VLs, max_op_vls a code. */
static const char *setting_value(const struct option *o)
{
	static const char *const vls[] = { NULL, "1", "2", "4", "8", "15" };
	uint64_t code;

	if (is_boolean(o->key))
		return strcasecmp(o->value, "TRUE") ? "false" : "true";
	if (!strcmp(o->key, "max_op_vls"))
		return parse_number(o->value, &code) && code >= 1 && code <= 5 ? vls[code] : NULL;
	return o->value;
}

static void add_setting(const struct option *o, const char *name, const char *value)
{
	const char *line = keepf(o->c, "%s: %s", name, value);

	say(o->c, NULL, SEV_INFO, o->at, "belongs to qosd.yaml: %s", SHOW(line));
	*vec_push(&o->c->settings) = line;
}

/*
 * Leaves out, with a note, engines that qosd does not have, as qosd refuses settings that name one.
 */
static bool read_engines(const struct option *o)
{
	const char *known = NULL;
	struct item i;

	for (struct cursor l = o->text; next_item(&l, &i);) {
		const char *engine = item_text(o->c, i.text);

		if (strcmp(engine, "updn") && strcmp(engine, "minhop"))
			say(o->c, NULL, SEV_WARNING, i.text.at,
			    "routing_engine: omitted '%s', which qosd does not have; see "
			    "qosd.yaml(5)", SHOW(engine));
		else
			known = known ? keepf(o->c, "%s, %s", known, engine) : engine;
	}
	if (known)
		add_setting(o, "routing", keepf(o->c, "[%s]", known));
	return true;
}

static bool read_setting(const struct option *o)
{
	const struct setting *s = settings;
	const char *value;

	if (!strcmp(o->key, "routing_engine"))
		return read_engines(o);
	while (s < settings + ARRAY_SIZE(settings) && strcmp(s->key, o->key))
		s++;
	if (s == settings + ARRAY_SIZE(settings))
		return false;
	value = s->qosd ? setting_value(o) : NULL;
	if (!s->qosd) {
		say(o->c, NULL, SEV_INFO, o->at, "%s: %s", o->key, s->note);
	} else if (!value) {
		say(o->c, NULL, SEV_WARNING, o->at, "%s: '%s' has no meaning", o->key,
		    SHOW(o->value));
	} else {
		add_setting(o, s->qosd, value);
	}
	return true;
}

static bool read_switch(const struct option *o)
{
	int on = !strcasecmp(o->value, "TRUE");

	if (!strcmp(o->key, "allow_both_pkeys")) {
		o->c->allow_both = on;
		return true;
	}
	if (strcmp(o->key, "qos"))
		return false;
	o->c->qos = on;
	if (!on)
		say(o->c, NULL, SEV_WARNING, o->at,
		    "qos FALSE: OpenSM ignores its QoS options, policy and SLs of partitions; qosd applies "
		    "what is converted here");
	return true;
}

/* --- the file --- */

/* The value is the rest of the line, without comment and quotes. */
static void read_line(struct converted *c, struct cursor *at, size_t *others)
{
	struct option o = { .c = c, .at = at->at };
	const char *end = memchr(at->s, '\n', (size_t)(at->end - at->s));
	const char *hash;
	size_t n = 0;

	if (!end)
		end = at->end;
	hash = memchr(at->s, '#', (size_t)(end - at->s));
	if (hash)
		end = hash;
	while (at->s + n < end && !strchr(" \t\r", at->s[n]))
		n++;
	o.key = keep(c, at->s, n);
	cursor_skip(at, n);
	o.text = cursor_part(*at, end);
	if (o.text.end - o.text.s >= 2 && *o.text.s == '"' && o.text.end[-1] == '"') {
		cursor_skip(&o.text, 1);
		o.text.end--;
	}
	o.text.quotes = false;
	o.value = item_text(c, o.text);
	if (!*o.value)
		say(c, NULL, SEV_WARNING, o.at, "%s has no value", SHOW(o.key));
	else if (strcmp(o.value, "(null)") && !read_table_option(&o) && !read_setting(&o) &&
		 !read_switch(&o))
		++*others;
}

static struct cursor text_of(const char *s, struct place at)
{
	return (struct cursor){ s, s + strlen(s), at, false };
}

/* Adds OpenSM's built-in tables for classes that have no options. */
static void add_built_in(struct converted *c, const char *file)
{
	struct out_default *d = &c->defaults[OUT_ALL];
	struct out_default scratch = { .high_limit = -1 };
	struct option o = { .c = c, .key = "", .at = { file, { 0, 0 } } };

	if (!d->high.given || !d->low.given || !d->table.given || d->high_limit < 0)
		remark(c, &d->notes, "options that are not in the file have OpenSM's defaults");
	if (!d->high.given) {
		o.text = text_of(BUILT_IN_HIGH, o.at);
		read_arb(&o, &scratch, &d->high);
	}
	if (!d->low.given) {
		o.text = text_of(BUILT_IN_LOW, o.at);
		read_arb(&o, &scratch, &d->low);
	}
	if (!d->table.given) {
		o.text = text_of(BUILT_IN_SL2VL, o.at);
		read_sl2vl(&o, d);
	}
	if (d->high_limit < 0)
		d->high_limit = 0;
	d->given = true;
	c->has_defaults = true;
	say(c, &d->notes, SEV_INFO, o.at,
	    "OpenSM folds VLs that a link does not have, also in arbitration entries; qosd omits such "
	    "entries");
}

void read_options(struct converted *c, const struct convert_input *in)
{
	struct cursor at = cursor_of(in);
	size_t others = 0;

	at.quotes = true;
	while (at.s < at.end) {
		cursor_skip_blanks(&at);
		if (at.s < at.end && *at.s != '\n' && *at.s != '#')
			read_line(c, &at, &others);
		cursor_skip_line(&at);
	}
	if (others)
		say(c, NULL, SEV_INFO, (struct place){ in->name, { 0, 0 } },
		    "%zu more options do not concern the policy or have no equivalent",
		    others);
	if (c->has_defaults || c->qos == 1)
		add_built_in(c, in->name);
	c->has_options = true;
}
