/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads the options qos_* of opensm.conf, tables by class of port, and says which SLs they tell
 * apart.
 *
 * OpenSM takes the tables of a class from the options of that class, else from those that begin
 * with qos_ (here: the class `all`), else from its built-in ones.  Its built-in tables differ from
 * qosd's, so the converter writes them out.
 */
#include <inttypes.h>
#include <string.h>

#include "cli/convert/opensm_conf.h"

/* osm_base.h: OSM_DEFAULT_QOS_* */
#define BUILT_IN_HIGH	"0:4,1:0,2:0,3:0,4:0,5:0,6:0,7:0,8:0,9:0,10:0,11:0,12:0,13:0,14:0"
#define BUILT_IN_LOW	"0:0,1:4,2:4,3:4,4:4,5:4,6:4,7:4,8:4,9:4,10:4,11:4,12:4,13:4,14:4"
#define BUILT_IN_SL2VL	"0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,7"

/* Longer prefixes come before the one they begin with. */
static const struct { const char *prefix; enum out_class class; const char *name; } classes[] = {
	{ "qos_ca_", OUT_CA, "ca" }, { "qos_sw0_", OUT_SWITCH0, "switch-port-0" },
	{ "qos_swe_", OUT_SWITCH, "switch" }, { "qos_rtr_", OUT_ROUTER, "router" },
	{ "qos_", OUT_ALL, "all" },
};

static void read_high_limit(const struct option *o, struct out_default *d)
{
	uint64_t n;

	if (!read_number(o->c, o->text, 0, UINT32_MAX, o->key, &n))
		return;
	if (n > 255)
		verdict(o->c, &d->notes, VERDICT_OTHERWISE, o->at,
			"%s %" PRIu64 ": left out, as OpenSM ignores values above 255", o->key, n);
	else
		d->high_limit = (int)n;
}

static void read_arb(const struct option *o, struct out_default *d, struct arb *arb)
{
	struct item i;
	size_t n = 0;

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
			verdict(o->c, &d->notes, VERDICT_OTHERWISE, i.text.at,
				"%s: VL %u in place of %" PRIu64 ", as OpenSM takes VLs modulo 15",
				o->key, (unsigned)(vl % 15), vl);
		if (weight > 255)
			verdict(o->c, &d->notes, VERDICT_OTHERWISE, i.text.at,
				"%s: weight %u in place of %" PRIu64 ", as OpenSM takes weights modulo "
				"256", o->key, (unsigned)(weight & 255), weight);
		/* one without weight counts, too, where a table is too short for all */
		*vec_push(arb) = (struct arb_entry){ (uint8_t)(vl % 15), (uint8_t)(weight & 255) };
	}
	if (n > 64)
		say_error(o->c, o->text.at, "%s has %zu entries; the maximum is 64", o->key, n);
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
			verdict(o->c, &d->notes, VERDICT_OTHERWISE, i.text.at,
				"%s: VL %u in place of %" PRIu64 ", as OpenSM uses its lower 4 bits",
				o->key, (unsigned)(vl & 15), vl);
		if (n < 16)
			d->table.vl[n] = (uint8_t)(vl & 15);
	}
	if (n > 16)
		verdict(o->c, &d->notes, VERDICT_OTHERWISE, o->at,
			"%s: the first 16 of %zu entries, as OpenSM uses no more", o->key, n);
	if (n < 16)
		verdict(o->c, &d->notes, VERDICT_OTHERWISE, o->at,
			"%s: VL 0 for the SLs from %zu on, which have no entry, as in OpenSM", o->key,
			n);
}

/* OpenSM computes it, and no table, PortInfo or path depends on it. */
static void judge_max_vls(const struct option *o)
{
	verdict(o->c, NULL, VERDICT_NOT_NEEDED, o->at,
		"%s %s: has no effect in OpenSM, which computes it and uses it nowhere; max_op_vls "
		"limits VLs", o->key, SHOW(o->value));
}

static void judge_between_switches(const struct option *o)
{
	verdict(o->c, NULL, VERDICT_NOT_POSSIBLE, o->at,
		"%s %s: tables of the class 'switch' are for all ports of switches; write those of "
		"links between switches into fabric-setup by hand", o->key, SHOW(o->value));
}

bool read_table_option(const struct option *o)
{
	struct out_default *d;
	const char *what;
	size_t i = 0, before = o->c->found.n;

	while (i < ARRAY_SIZE(classes) &&
	       strncmp(o->key, classes[i].prefix, strlen(classes[i].prefix)))
		i++;
	if (i == ARRAY_SIZE(classes))
		return false;
	d = &o->c->defaults[classes[i].class];
	what = o->key + strlen(classes[i].prefix);
	if (strcmp(what, "high_limit") && strcmp(what, "vlarb_high") && strcmp(what, "vlarb_low") &&
	    strcmp(what, "sl2vl") && strcmp(what, "max_vls") && strncmp(what, "sw2sw_", 6))
		return false;
	if (!strcmp(o->value, "(null)") || !strcmp(o->value, "-1") ||
	    (!strcmp(what, "max_vls") && !strcmp(o->value, "0"))) {
		verdict(o->c, NULL, VERDICT_SAME, o->at, "%s %s: not set", o->key, o->value);
		return true;
	}
	if (!strcmp(what, "max_vls")) {
		judge_max_vls(o);
		return true;
	}
	if (qos_is_off(o->c)) {
		verdict(o->c, NULL, VERDICT_NOT_NEEDED, o->at,
			"%s: qos is FALSE: OpenSM writes no tables", o->key);
		return true;
	}
	if (!strncmp(what, "sw2sw_", 6)) {
		judge_between_switches(o);
		return true;
	}
	if (!strcmp(what, "high_limit"))
		read_high_limit(o, d);
	else if (!strcmp(what, "vlarb_high"))
		read_arb(o, d, &d->high);
	else if (!strcmp(what, "vlarb_low"))
		read_arb(o, d, &d->low);
	else
		read_sl2vl(o, d);
	if (o->c->found.n == before)
		verdict(o->c, NULL, VERDICT_SAME, o->at, "%s: in fabric-setup, defaults, %s", o->key,
			classes[i].name);
	if (!d->given)
		d->at = o->at;
	d->given = true;
	o->c->has_defaults = true;
	return true;
}

static struct cursor text_of(const char *s, struct place at)
{
	return (struct cursor){ s, s + strlen(s), at, false };
}

void add_built_in_tables(struct converted *c, const char *file)
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
	verdict(c, NULL, VERDICT_SAME, o.at,
		"VLs that a link does not have are folded, in all tables (unsupported-vl: fold)");
}

/* --- which SLs the tables tell apart --- */

/* The VL of an SL on ports of a class: OpenSM folds VLs that no link has. */
static unsigned vl_of(const struct converted *c, int class, unsigned sl)
{
	const struct out_default *d = &c->defaults[class];
	unsigned vl = d->table.given ? d->table.vl[sl] : c->defaults[OUT_ALL].table.vl[sl];

	return vl == 15 || c->data_vls == 15 ? vl : vl & (unsigned)(c->data_vls - 1);
}

static bool alike(const struct converted *c, unsigned a, unsigned b)
{
	for (int i = OUT_ALL; i < OUT_CLASSES; i++)
		if (vl_of(c, i, a) != vl_of(c, i, b))
			return false;
	return true;
}

/* No packet of the SL leaves a port of a class. */
static bool is_blocked(const struct converted *c, unsigned sl)
{
	for (int i = OUT_ALL; i < OUT_CLASSES; i++)
		if (vl_of(c, i, sl) == 15)
			return true;
	return false;
}

uint16_t sls_apart(const struct converted *c, uint16_t named)
{
	uint16_t apart = 0;

	for (unsigned sl = 0; c->defaults[OUT_ALL].table.given && sl < 16; sl++) {
		bool known = is_blocked(c, sl);

		for (unsigned other = 0; other < 16 && !known; other++)
			known = ((named | apart) >> other & 1) && alike(c, sl, other);
		if (!known)
			apart |= (uint16_t)(1u << sl);
	}
	return apart;
}
