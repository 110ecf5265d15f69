/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads ibnetdiscover's output and ibsim's net files.
 *
 *	vendid=0x2c9
 *	devid=0xbd36
 *	sysimgguid=0x2c90200417673
 *	switchguid=0x2c90200417670(2c90200417670)
 *	Switch	36 "S-0002c90200417670"		# "desc" base port 0 lid 18 lmc 0
 *	[1]	"H-78e7d10300229794"[1](78e7d10300229795)	# "desc" lid 23 4xQDR
 *
 *	caguid=0x78e7d10300229794
 *	Ca	1 "H-78e7d10300229794"		# "desc"
 *	[1](78e7d10300229795)	"S-0002c90200417670"[1]	# lid 23 lmc 0 "desc" lid 18 4xQDR
 *
 * ibsim's form adds: nodes with any name and no GUID; GUIDs that count up from the last one, or
 * "caguid+0x10" relative to the last base; links without a remote port, meaning port 1; width=,
 * speed= and extspeed= for all later links, and options like w=2 s=4 after a link; module="m",
 * which makes node names m#name; "@[n] "alias"" for a port that other modules call "m@alias"; and
 * include "file".
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/dump/reader.h"

/* Expects the end of the line or a remark; warns of other words and skips them. */
static void pass_rest(struct reader *r, const char *p)
{
	p += strspn(p, " \t");
	if (*p && *p != '#')
		reader_warn(r, r->pos, "\"%.24s\" is not understood here, and passed over", p);
}

/* Reads "= 0x12" up to max; false, with an error, otherwise. */
static bool take_value(struct reader *r, char **p, uint64_t max, uint64_t *out)
{
	if (!take_char(p, '='))
		return fail(r, "\"=\" is missing");
	if (take_c_number(p, max, out))
		return true;
	take_space(p);
	return fail(r, "a number up to 0x%llx is expected, not \"%.24s\"", (unsigned long long)max,
		    *p);
}

/* --- names --- */

/* Reads a name in quotes; false, with an error, if there is none. */
static bool take_name(struct reader *r, char **p, char **name)
{
	take_space(p);
	if (!take_quoted(p, name))
		return fail(r, "a name in quotes is expected, not \"%.24s\"", *p);
	return **name || fail(r, "a name is empty");
}

/*
 * Reads a name that the line defines: it cannot contain "#" or "@", which modules and aliases use.
 */
static bool take_new_name(struct reader *r, char **p, char **name)
{
	return take_name(r, p, name) &&
	       (!strpbrk(*name, "#@") ||
		fail(r, "\"%s\": \"#\" and \"@\" are for modules and aliases", *name));
}

/* The name with its module, for plain names and aliases; the caller owns it. */
static char *full_name(const struct reader *r, const char *name)
{
	if (*name == '@')
		return xasprintf("%s%s", r->module, name);
	if (!*r->module || strpbrk(name, "#@"))
		return xstrdup(name);
	return xasprintf("%s#%s", r->module, name);
}

static uint32_t index_of_name(struct reader *r, const char *name)
{
	char *full = full_name(r, name);
	uint32_t index = reader_name(r, full);

	free(full);
	return index;
}

/* --- remarks behind the '#' of a node's or a port's line --- */

/* Returns where a description without quotes ends. */
static char *end_of_bare(char *text)
{
	static const char *const behind[] = { " enhanced port ", " base port ", " lid ", " lmc " };
	char *end = text + strlen(text);

	for (size_t i = 0; i < ARRAY_SIZE(behind); i++) {
		char *at = strstr(text, behind[i]);

		if (at && at < end)
			end = at;
	}
	return end;
}

struct remark {
	char *before;		/* "lid 16 lmc 1" */
	const char *desc;	/* NULL: none */
	char *after;		/* "base port 0 lid 6 lmc 0", "lid 3 4xSDR", … */
	char bare[DUMP_DESC_MAX + 2];
};

/*
 * A NodeDescription may contain quotes: it extends from the first quote to the last.  Old files
 * have no quotes.
 */
static void split_remark(char *text, struct remark *out)
{
	char *first, *last;

	text = strchrnul(text, '#');
	text += *text == '#';
	*out = (struct remark){ .before = text + strlen(text), .after = text + strlen(text) };
	first = strchr(text, '"');
	last = strrchr(text, '"');
	if (last > first) {
		*first = *last = '\0';
		*out = (struct remark){ .before = text, .desc = first + 1, .after = last + 1 };
		return;
	}
	take_space(&text);
	if (!strncmp(text, "lid ", 4)) {
		out->before = text;
		return;
	}
	out->after = end_of_bare(text);
	snprintf(out->bare, sizeof(out->bare), "%.*s", (int)(out->after - text), text);
	for (size_t n = strlen(out->bare); n && isspace((unsigned char)out->bare[n - 1]); n--)
		out->bare[n - 1] = '\0';
	out->desc = *out->bare ? out->bare : NULL;
}

/* The number after a word like "lid", or 0. */
static uint64_t number_of(struct reader *r, char *text, const char *word)
{
	uint64_t n = 0;

	for (take_space(&text); *text; take_space(&text)) {
		if (take_word(&text, word)) {
			take_space(&text);
			if (take_number(&text, 10, UINT32_MAX, &n))
				return n;
			reader_warn(r, r->pos, "a number is expected behind \"%s\", not \"%.24s\"",
				    word, text);
			return 0;
		}
		text += strcspn(text, " \t\r");
	}
	return 0;
}

/* --- nodes --- */

/* The GUID in a name that ibnetdiscover made, "S-0002c90200417670", or 0. */
static uint64_t guid_in_name(char *name)
{
	uint64_t guid;
	char *p = name + 2;

	if (strlen(name) != 18 || name[1] != '-' || !take_number(&p, 16, UINT64_MAX, &guid) || *p)
		return 0;
	return guid;
}

/*
 * The GUID comes from a line like switchguid=…, else from a name that ibnetdiscover made, else from
 * ibsim's counting.
 */
static uint64_t choose_guid(struct reader *r, char *name, unsigned type, unsigned nports)
{
	uint64_t named = guid_in_name(name), next = r->guid_next[type];

	if (!named || named == next)
		return reader_make_guid(r, type, nports);
	if (!r->guid_said[type])
		return named;
	reader_warn(r, r->pos, "\"%s\" has GUID 0x%llx by the line before, which is taken", name,
		    (unsigned long long)next);
	return reader_make_guid(r, type, nports);
}

static bool add_node(struct reader *r, char *p, unsigned type)
{
	struct dump_node n = {
		.type = (uint8_t)type, .vendor = (uint32_t)r->vendor, .device = (uint16_t)r->device,
		.sysimg_guid = r->sysimg_guid,
	};
	uint32_t index = (uint32_t)r->d->nodes.n;
	char *name, *full;
	struct remark rk;
	uint64_t nports, guid;
	bool ok;

	take_space(&p);
	if (!take_number(&p, 10, DUMP_NODE_PORTS_MAX, &nports) || !nports)
		return fail(r, "a number of ports is expected, 1 to %u, not \"%.24s\"",
			    DUMP_NODE_PORTS_MAX, p);
	if (!take_new_name(r, &p, &name))
		return false;
	pass_rest(r, p);
	split_remark(p, &rk);
	n.nports = (uint8_t)nports;
	guid = choose_guid(r, name, type, n.nports);
	/* A dump omits a system image GUID of 0; ibsim's form never has one */
	if (!n.sysimg_guid && !guid_in_name(name) && !r->guid_said[type])
		n.sysimg_guid = guid;
	if (type == DUMP_SWITCH) {
		n.enhanced_port0 = strstr(rk.after, "enhanced port 0");
		n.base_port0 = strstr(rk.after, "base port 0");
		n.lid = reader_lid(r, number_of(r, rk.after, "lid"));
		n.lmc = reader_lmc(r, number_of(r, rk.after, "lmc"));
	}
	full = full_name(r, name);
	ok = reader_push_node(r, &n, rk.desc ? rk.desc : full) &&
	     reader_name_node(r, index, full, guid);
	free(full);
	return ok;
}

/* Ends the current node: a port line before the next node is an error. */
static void end_node(struct reader *r)
{
	r->node = DUMP_NONE;
	r->skip_ports = false;
}

/*
 * Reads "Switch   36 "S-…"        # …" after its first word; uses up the lines that applied to the
 * next node.
 */
static void read_node(struct reader *r, char *p, unsigned type)
{
	bool ok = add_node(r, p, type);

	r->node = ok ? (uint32_t)r->d->nodes.n - 1 : DUMP_NONE;
	r->skip_ports = !ok;
	r->vendor = r->device = r->sysimg_guid = 0;
	memset(r->guid_said, 0, sizeof(r->guid_said));
}

/* --- ports --- */

/* Reads "(8f10403961355)", which is optional; false, with an error, if it is malformed. */
static bool take_port_guid(struct reader *r, char **p, uint64_t *guid)
{
	return !take_char(p, '(') ||
	       (take_number(p, 16, UINT64_MAX, guid) && take_char(p, ')')) ||
	       fail(r, "a port GUID in hexadecimal and \")\" are expected behind \"(\"");
}

/* Reads "[7]" and ignores the chassis port number that may follow, "[ext 7]". */
static bool take_port_number(struct reader *r, char **p, uint8_t *num)
{
	char *s = *p;
	uint64_t n;

	if (!take_char(&s, '[') || !take_number(&s, 10, UINT32_MAX, &n) || !take_char(&s, ']')) {
		take_space(p);
		return fail(r, "a port number in brackets is expected, not \"%.24s\"", *p);
	}
	if (!n || n > DUMP_NODE_PORTS_MAX)
		return fail(r, "port %llu is out of range: 1 to %u", (unsigned long long)n,
			    DUMP_NODE_PORTS_MAX);
	*num = (uint8_t)n;
	*p = s;
	if (take_text(&s, "[ext") && (s = strchr(s, ']')))
		*p = s + 1;
	return true;
}

static bool set_mask(struct reader *r, struct link_masks *m, unsigned what, uint64_t value)
{
	static const struct { char what; unsigned min, max; } bounds[] = {
		{ 'w', 1, 31 }, { 's', 0, 7 }, { 'e', 0, 15 },
	};
	unsigned *masks[] = { &m->width, &m->speed, &m->ext };
	size_t i = 0;

	while (bounds[i].what != (char)what)
		i++;
	if (value < bounds[i].min || value > bounds[i].max)
		return fail(r, "%s mask %llu is out of range: %u to %u", i ? "speed" : "width",
			    (unsigned long long)value, bounds[i].min, bounds[i].max);
	*masks[i] = what == 's' && !value ? 4 : (unsigned)value;	/* as ibsim does */
	return true;
}

/* "w=2 s=4 e=1" after a link */
static bool take_masks(struct reader *r, char **p, struct link_masks *m)
{
	uint64_t value;

	for (take_space(p); **p && strchr("wse", **p) && (*p)[1] == '='; take_space(p)) {
		unsigned what = (unsigned char)**p;

		++*p;
		if (!take_value(r, p, 255, &value) || !set_mask(r, m, what, value))
			return false;
	}
	return true;
}

/* Reads "lid 18 4xQDR", which overrides the masks; ignores what else may follow. */
static bool read_speed(struct reader *r, char *p, struct cable_speed *speed)
{
	struct cable_speed said;
	char *word;

	if (!take_word(&p, "lid"))
		return true;
	take_space(&p);
	if (!isdigit((unsigned char)*p))
		reader_warn(r, r->pos, "a number is expected behind \"lid\", not \"%.24s\"", p);
	if (!take_token(&p, &word) || !take_token(&p, &word))
		return true;
	if (!cable_speed_parse(word, &said))
		return fail(r, "\"%.24s\" is no link speed: %s", word, CABLE_SPEEDS_TEXT);
	if (said.lanes)
		speed->lanes = said.lanes;
	if (said.rate)
		speed->rate = said.rate;
	return true;
}

/* Returns false, with an error, if no node line precedes this port line. */
static bool has_node(struct reader *r, const char *line)
{
	return r->node != DUMP_NONE ||
	       (!r->skip_ports && fail(r, "a port without a node: \"%.24s\"", line));
}

/* Reads "[1](guid)	"S-…"[6]	# …". */
static void read_port(struct reader *r, char *p)
{
	struct dump_line line = { .node = r->node, .peer_num = 1 };
	struct link_masks m = r->masks;
	struct remark rk;
	char *name;

	if (!has_node(r, p) || !take_port_number(r, &p, &line.num) ||
	    !take_port_guid(r, &p, &line.guid) || !take_name(r, &p, &name))
		return;
	line.peer_name = index_of_name(r, name);
	take_space(&p);
	if ((*p == '[' && !take_port_number(r, &p, &line.peer_num)) ||
	    !take_port_guid(r, &p, &line.peer_guid) || !take_masks(r, &p, &m))
		return;
	pass_rest(r, p);
	split_remark(p, &rk);
	line.speed = cable_speed_of_masks(m.width, m.speed, m.ext);
	if (r->d->nodes.v[r->node].type != DUMP_SWITCH) {
		line.lid = reader_lid(r, number_of(r, rk.before, "lid"));
		line.lmc = reader_lmc(r, number_of(r, rk.before, "lmc"));
	}
	if (read_speed(r, rk.after, &line.speed))
		reader_add_line(r, &line);
}

/* "@[3] "name"": others link to this port by "module@name" */
static void read_alias(struct reader *r, char *line)
{
	char *name, *alias, *p = line + 1;
	uint8_t num;

	if (!has_node(r, line) || !take_port_number(r, &p, &num) ||
	    !reader_has_port(r, r->node, num) || !take_new_name(r, &p, &name))
		return;
	pass_rest(r, p);
	alias = xasprintf("@%s", name);
	reader_define_name(r, index_of_name(r, alias), r->node, num);
	free(alias);
}

/* --- what is said about the next node, or about all --- */

enum id { VENDOR, DEVICE, SYSTEM_IMAGE };

static void read_id(struct reader *r, char *p, unsigned id)
{
	static const uint64_t max[] = {
		[VENDOR] = 0xffffff, [DEVICE] = 0xffff, [SYSTEM_IMAGE] = UINT64_MAX,
	};
	uint64_t *const to[] = {
		[VENDOR] = &r->vendor, [DEVICE] = &r->device, [SYSTEM_IMAGE] = &r->sysimg_guid,
	};
	uint64_t n;

	end_node(r);
	if (take_value(r, &p, max[id], &n)) {
		*to[id] = n;
		pass_rest(r, p);
	}
}

/* "switchguid=0x…(port 0's)", "caguid=0x…", or relative to the last base: "caguid+0x10" */
static void read_guid(struct reader *r, char *p, unsigned type)
{
	uint64_t guid, port0;

	end_node(r);
	if (take_char(&p, '+')) {
		if (!take_c_number(&p, UINT64_MAX, &guid)) {
			fail(r, "a number is expected behind \"+\"");
			return;
		}
		guid += r->guid_base[type];
	} else if (take_value(r, &p, UINT64_MAX, &guid)) {
		r->guid_base[type] = guid;
	} else {
		return;
	}
	if (!take_port_guid(r, &p, &port0))	/* the switch's own GUID */
		return;
	pass_rest(r, p);
	r->guid_next[type] = guid;
	r->guid_said[type] = true;
}

static void read_mask(struct reader *r, char *p, unsigned what)
{
	uint64_t value;

	if (take_value(r, &p, 255, &value)) {
		pass_rest(r, p);
		set_mask(r, &r->masks, what, value);
	}
}

static void read_module(struct reader *r, char *p, unsigned unused)
{
	char *name;

	(void)unused;
	take_char(&p, '=');
	if (!take_quoted(&p, &name) || strlen(name) > DUMP_MODULE_MAX) {
		fail(r, "module=\"NAME\" is expected, up to %u characters", DUMP_MODULE_MAX);
		return;
	}
	pass_rest(r, p);
	strcpy(r->module, name);
}

static void read_include(struct reader *r, char *p, unsigned unused)
{
	char *name;

	(void)unused;
	if (!take_quoted(&p, &name) || !*name) {
		fail(r, "include \"FILE\" is expected");
		return;
	}
	end_node(r);
	reader_include(r, name);
	end_node(r);
}

static void read_command(struct reader *r, char *p, unsigned unused)
{
	(void)unused;
	reader_warn(r, r->pos, "ibsim's command \"%.24s\" is passed over", p);
}

static void read_nothing(struct reader *r, char *p, unsigned unused)
{
	(void)r, (void)p, (void)unused;
}

/* --- statements --- */

static const struct statement {
	const char *word;
	void (*read)(struct reader *r, char *p, unsigned arg);
	unsigned arg;
	bool common;	/* other text may begin with this word, too */
} statements[] = {
	{ "Switch", read_node, DUMP_SWITCH, false },
	{ "Ca", read_node, DUMP_CA, false },
	{ "Hca", read_node, DUMP_CA, false },
	{ "Rt", read_node, DUMP_ROUTER, false },
	{ "switchguid", read_guid, DUMP_SWITCH, false },
	{ "switchguids", read_guid, DUMP_SWITCH, false },
	{ "caguid", read_guid, DUMP_CA, false },
	{ "hcaguids", read_guid, DUMP_CA, false },
	{ "rtguid", read_guid, DUMP_ROUTER, false },
	{ "vendid", read_id, VENDOR, false },
	{ "devid", read_id, DEVICE, false },
	{ "sysimgguid", read_id, SYSTEM_IMAGE, false },
	{ "width", read_mask, 'w', false },
	{ "speed", read_mask, 's', false },
	{ "extspeed", read_mask, 'e', false },
	{ "module", read_module, 0, false },
	{ "include", read_include, 0, false },
	{ "do", read_command, 0, true },
	/* Headings and progress of ibnetdiscover -g, -s and -m; a keyword of ibsim's own parser. */
	{ "Chassis", read_nothing, 0, true },
	{ "Hostname", read_nothing, 0, true },
	{ "Non", read_nothing, 0, true },
	{ "DR", read_nothing, 0, true },
	{ "Initiated", read_nothing, 0, true },
	{ "Max", read_nothing, 0, true },
	{ "pdebug", read_nothing, 0, true },
};

/* Finds the line's statement and moves *p past its keyword; NULL: not a statement. */
static const struct statement *take_statement(char **p)
{
	for (size_t i = 0; i < ARRAY_SIZE(statements); i++)
		if (take_word(p, statements[i].word))
			return &statements[i];
	return NULL;
}

static void read_line(struct reader *r, char *line)
{
	const struct statement *s;

	take_space(&line);
	if (!*line || *line == '#')
		return;
	if (*line == '[')
		read_port(r, line);
	else if (*line == '@')
		read_alias(r, line);
	else if ((s = take_statement(&line)))
		s->read(r, line, s->arg);
	else
		fail(r, "\"%.24s\" is not understood", line);
}

static bool recognise(char *line)
{
	const struct statement *s;

	if (*line == '[')
		return isdigit((unsigned char)line[1]);
	s = take_statement(&line);
	take_space(&line);
	return s && !s->common && *line != ':';	/* not a list of ibnetdiscover -l */
}

const struct reader_format format_net = { recognise, read_line, NULL };
