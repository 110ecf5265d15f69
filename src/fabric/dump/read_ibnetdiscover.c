/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads what ibnetdiscover prints, and ibsim's simpler form of it: nodes by any name and
 * without a GUID, which then is the one that ibsim gives them; links without a remote port,
 * which then is port 1; widths and speeds as masks; files that are included; modules, which are
 * part of the names of nodes, and aliases of ports.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/dump/read_dump.h"

/* --- pieces of a line --- */

/* "[n]", and ibnetdiscover -g's "[ext n]" behind it, which says nothing new. */
static bool take_port_num(char **s, uint64_t *num)
{
	if (!line_take_char(s, '[') || !line_take_number(s, 10, IB_PORT_NUM_MAX, num) ||
	    *num == 0 || !line_take_char(s, ']'))
		return false;
	line_skip_space(s);
	if (!strncmp(*s, "[ext", 4)) {
		char *end = strchr(*s, ']');

		if (!end)
			return false;
		*s = end + 1;
	}
	return true;
}

/* "(guid)" if there is one; false if it is broken. */
static bool take_port_guid(char **s, uint64_t *guid)
{
	*guid = 0;
	return !line_take_char(s, '(') ||
	       (line_take_number(s, 16, UINT64_MAX, guid) && line_take_char(s, ')'));
}

/*
 * The comment behind a node or port: up to three parts, `head "text" tail`,
 * any of them empty.  The text may have quotes of its own.
 */
struct comment {
	char *head, *text, *tail;
};

static struct comment split_comment(char *s)
{
	static char none[1];
	struct comment c = { none, none, none };
	char *hash = strchr(s, '#'), *first, *last;

	if (!hash)
		return c;
	c.head = hash + 1;
	first = strchr(c.head, '"');
	last = strrchr(c.head, '"');
	if (first == last)
		return c;
	*first = *last = '\0';
	c.text = first + 1;
	c.tail = last + 1;
	return c;
}

/* Finds `key N` in text; leaves *value when there is none, false if N is broken. */
static bool find_value(char *text, const char *key, uint64_t max, uint64_t *value)
{
	char *s = strstr(text, key);

	if (!s)
		return true;
	s += strlen(key);
	return line_take_number(&s, 10, max, value);
}

static bool parse_lid_lmc(struct dump *d, char *text, uint16_t *lid, uint8_t *lmc)
{
	uint64_t l = 0, m = 0;

	if (!find_value(text, "lid ", IB_LID_UCAST_MAX, &l))
		return fail(d, "bad LID");
	if (!find_value(text, "lmc ", IB_LMC_MAX, &m))
		return fail(d, "bad LMC");
	*lid = (uint16_t)l;
	*lmc = (uint8_t)m;
	return true;
}

/* --- widths and speeds --- */

/* Checks and stores one of PortInfo's masks, by its letter in ibsim's "w=2 s=4 e=1". */
static bool set_mask(struct dump *d, struct link_masks *m, char what, uint64_t value)
{
	switch (what) {
	case 'w':
		m->width = (uint8_t)value;
		return (value && value <= 31) || fail(d, "bad mask of widths");
	case 's':
		m->speed = value ? (uint8_t)value : 4;	/* as ibsim has it */
		return value <= 7 || fail(d, "bad mask of speeds");
	default:
		m->ext = (uint8_t)value;
		return value <= 15 || fail(d, "bad mask of extended speeds");
	}
}

/* The first bit of order that the mask has; the last one if it has none. */
static uint8_t best_bit(uint8_t mask, const uint8_t *order)
{
	while (order[1] && !(mask & *order))
		order++;
	return *order;
}

/* Where nothing is said a link runs 4xSDR, which is ibsim's default. */
static void use_masks(const struct link_masks *m, struct link_speed *speed)
{
	static const uint8_t widths[] = { 8, 4, 2, 16, 1, 0 };	/* 12x, 8x, 4x, 2x, 1x */
	static const uint8_t speeds[] = { 4, 2, 1, 0 }, ext[] = { 8, 4, 2, 1, 0 };

	link_parse("4xSDR", speed);
	if (m->width)
		speed->width = best_bit(m->width, widths);
	if (m->speed)
		speed->speed = best_bit(m->speed, speeds);
	if (m->ext) {
		speed->speed = 4;
		speed->speed_ext = best_bit(m->ext, ext);
	}
}

/* " lid 20 4xQDR", which wins over the masks */
static bool parse_speed(struct dump *d, char *tail, struct link_speed *speed)
{
	char *save, *word = NULL;

	line_skip_space(&tail);
	if (!strncmp(tail, "lid ", 4) && strtok_r(tail, " \t", &save) &&
	    strtok_r(NULL, " \t", &save))
		word = strtok_r(NULL, " \t", &save);
	if (word && !dump_parse_link(word, speed))
		return fail(d, "unknown link speed '%s'", word);
	return true;
}

/* --- names --- */

/*
 * The name as others know it, the caller's: a bare one belongs to the module, "m#name", and so
 * does an alias, "m@name".
 */
static char *full_name(const struct dump *d, const char *name)
{
	if (*name == '@')
		return xasprintf("%s%s", d->module, name);
	if (!*d->module || strpbrk(name, "#@"))
		return xstrdup(name);
	return xasprintf("%s#%s", d->module, name);
}

/* A name that is made known here. */
static bool is_plain(struct dump *d, const char *name)
{
	return !strpbrk(name, "#@") ||
	       fail(d, "\"%s\": '#' and '@' are for modules and aliases", name);
}

/* --- nodes --- */

/* By a line like switchguid=…, else as ibnetdiscover builds the id, else as ibsim counts. */
static uint64_t node_guid(struct dump *d, const char *id, unsigned type, unsigned nports)
{
	char *end;
	uint64_t guid = 0;

	if (!d->next.guid_said[type] && strlen(id) == 18 && id[1] == '-') {
		guid = strtoull(id + 2, &end, 16);
		if (*end)
			guid = 0;
	}
	return guid && guid != d->guid_next[type] ? guid : dump_make_guid(d, type, nports);
}

/* Switch	24 "S-…"		# "description" base port 0 lid 6 lmc 0 */
static bool parse_node(struct dump *d, char *s, uint8_t type)
{
	uint64_t nports;
	char *id;

	if (!line_take_number(&s, 10, IB_PORT_NUM_MAX, &nports) || nports == 0)
		return fail(d, "bad number of ports");
	if (!line_take_quoted(&s, &id) || !*id)
		return fail(d, "node without \"id\"");
	if (!is_plain(d, id))
		return false;

	char *name = full_name(d, id);
	struct comment c = split_comment(s);
	struct dump_node n = {
		.guid = node_guid(d, id, type, (unsigned)nports),
		.sysimg_guid = d->next.sysimg_guid,
		.vendor = d->next.vendor, .device = d->next.device, .pos = d->pos,
		.index = FABRIC_NONE, .type = type, .nports = (uint8_t)nports,
		.enhanced_port0 = strstr(c.tail, "enhanced port 0"),
	};
	const char *desc = *c.text ? c.text : name;
	bool ok;

	dump_set_desc(&n, desc, strlen(desc));
	ok = parse_lid_lmc(d, c.tail, &n.lid, &n.lmc) && dump_add_node(d, &n, name);
	free(name);
	if (!ok)
		return false;
	d->next = (struct preamble){ 0 };
	d->node = (uint32_t)d->nodes.n - 1;
	return true;
}

/* --- ports --- */

/* "w=2 s=4 e=1" behind a link; false if one is broken. */
static bool take_masks(struct dump *d, char **s, struct link_masks *m)
{
	for (line_skip_space(s); **s && strchr("wse", **s) && (*s)[1] == '='; line_skip_space(s)) {
		char what = **s;
		uint64_t value;

		*s += 2;
		if (!line_take_c_number(s, 255, &value))
			return fail(d, "bad value of %c", what);
		if (!set_mask(d, m, what, value))
			return false;
	}
	return true;
}

/* Behind the name of the remote node. */
static bool parse_port_of(struct dump *d, struct dump_port *p, char *s)
{
	struct link_masks masks = d->masks;
	uint64_t remote_num = 1;

	line_skip_space(&s);
	if ((*s == '[' && !take_port_num(&s, &remote_num)) || !take_port_guid(&s, &p->remote_guid))
		return fail(d, "bad remote port");
	p->remote_num = (uint8_t)remote_num;
	if (!take_masks(d, &s, &masks))
		return false;
	use_masks(&masks, &p->speed);

	struct comment c = split_comment(s);

	return parse_lid_lmc(d, c.head, &p->lid, &p->lmc) && parse_speed(d, c.tail, &p->speed) &&
	       dump_add_port(d, p);
}

/* [1](guid) 	"S-…"[2](guid)		# lid 16 lmc 1 "description" lid 3 4xSDR */
static bool parse_port(struct dump *d, char *s)
{
	struct dump_port p = { .pos = d->pos, .node = d->node };
	uint64_t num;
	char *peer;
	bool ok;

	if (d->node == FABRIC_NONE)
		return fail(d, "port outside of a node");
	if (!take_port_num(&s, &num) || num > d->nodes.v[d->node].nports ||
	    !take_port_guid(&s, &p.guid))
		return fail(d, "bad port");
	if (!line_take_quoted(&s, &peer))
		return fail(d, "bad remote port");
	p.num = (uint8_t)num;
	p.remote_id = full_name(d, peer);
	ok = parse_port_of(d, &p, s);
	free(p.remote_id);
	return ok;
}

/* @[3] "name" */
static bool parse_alias(struct dump *d, char *s)
{
	uint64_t num;
	char *name, *alias, *full;
	bool ok;

	if (d->node == FABRIC_NONE)
		return fail(d, "alias of a port outside of a node");
	if (!take_port_num(&s, &num) || num > d->nodes.v[d->node].nports ||
	    !line_take_quoted(&s, &name) || !*name)
		return fail(d, "bad alias of a port");
	if (!is_plain(d, name))
		return false;
	alias = xasprintf("@%s", name);
	full = full_name(d, alias);
	ok = dump_add_alias(d, d->node, (uint8_t)num, full);
	free(alias);
	free(full);
	return ok;
}

/* --- what is said about the next node, or all that follow --- */

/* "switchguid=0x…(…)", which repeats port 0's; the GUIDs of further nodes count on from it. */
static bool parse_guid(struct dump *d, const char *key, bool relative, char *value)
{
	static const struct { const char *key; uint8_t type; } keys[] = {
		{ "switchguid", IB_NODE_SWITCH_T }, { "switchguids", IB_NODE_SWITCH_T },
		{ "caguid", IB_NODE_CA_T }, { "hcaguids", IB_NODE_CA_T },
		{ "rtguid", IB_NODE_ROUTER_T },
	};
	size_t i = 0;
	uint64_t v;

	while (i < ARRAY_SIZE(keys) && strcmp(keys[i].key, key))
		i++;
	if (i == ARRAY_SIZE(keys))
		return fail(d, "unknown line: not what ibnetdiscover prints");
	if (!line_take_c_number(&value, UINT64_MAX, &v))
		return fail(d, "bad value of %s", key);
	if (relative)
		v += d->guid_base[keys[i].type];
	else
		d->guid_base[keys[i].type] = v;
	d->guid_next[keys[i].type] = v;
	d->next.guid_said[keys[i].type] = true;
	return true;
}

/* vendid=0x2c9 and the like. */
static bool parse_assignment(struct dump *d, char *key, char *value)
{
	static const char *const masks[] = { "width", "speed", "extspeed" };
	bool relative = *value == '+';
	uint64_t v;

	*value++ = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(masks); i++)
		if (!strcmp(key, masks[i]))
			return line_take_c_number(&value, 255, &v)
				? set_mask(d, &d->masks, key[0], v)
				: fail(d, "bad value of %s", key);
	if (relative || (strcmp(key, "vendid") && strcmp(key, "devid") &&
			 strcmp(key, "sysimgguid")))
		return parse_guid(d, key, relative, value);
	if (!line_take_c_number(&value, UINT64_MAX, &v))
		return fail(d, "bad value of %s", key);
	if (key[0] == 'v')
		d->next.vendor = (uint32_t)v & 0xffffff;
	else if (key[0] == 'd')
		d->next.device = (uint32_t)v & 0xffff;
	else
		d->next.sysimg_guid = v;
	return true;
}

/* --- lines --- */

static const struct { const char *word; uint8_t type; } node_words[] = {
	{ "Switch", IB_NODE_SWITCH_T }, { "Ca", IB_NODE_CA_T }, { "Hca", IB_NODE_CA_T },
	{ "Rt", IB_NODE_ROUTER_T },
};

/* The type of the node that the line begins, 0 if it begins none; *n: length of the word. */
static uint8_t node_line(const char *line, size_t *n)
{
	for (size_t i = 0; i < ARRAY_SIZE(node_words); i++) {
		*n = strlen(node_words[i].word);
		if (!strncmp(line, node_words[i].word, *n) && isspace((unsigned char)line[*n]))
			return node_words[i].type;
	}
	return 0;
}

/* Headings and progress of ibnetdiscover -g, -s and -m. */
static bool is_heading(const char *line)
{
	static const char *const heads[] = {
		"Chassis ", "Hostname: ", "Non-Chassis Nodes", "DR path ", "Initiated from ",
		"Max of ",
	};

	for (size_t i = 0; i < ARRAY_SIZE(heads); i++)
		if (!strncmp(line, heads[i], strlen(heads[i])))
			return true;
	return false;
}

/* --- statements of ibsim --- */

/* module="name" */
static bool parse_module(struct dump *d, char *s)
{
	char *name;

	line_take_char(&s, '=');
	if (!line_take_quoted(&s, &name) || strlen(name) > DUMP_MODULE_MAX)
		return fail(d, "module=\"NAME\" is expected, up to %d characters",
			    DUMP_MODULE_MAX);
	strcpy(d->module, name);
	return true;
}

/* include "file" */
static bool parse_include(struct dump *d, char *s)
{
	char *path;

	if (!line_take_quoted(&s, &path) || !*path)
		return fail(d, "include \"FILE\" is expected");
	if (!dump_include(d, &dump_net, path))
		return false;
	d->node = FABRIC_NONE;
	return true;
}

static bool parse_do(struct dump *d, char *s)
{
	(void)s;
	return fail(d, "\"do\" is a command of ibsim, and no part of a topology");
}

static const struct {
	const char *word;
	bool (*parse)(struct dump *d, char *s);
} statements[] = {
	{ "include", parse_include }, { "module", parse_module }, { "do", parse_do },
};

/* The index of the statement that the line is, or their number. */
static size_t find_statement(const char *line)
{
	size_t i = 0;

	for (; i < ARRAY_SIZE(statements); i++) {
		size_t n = strlen(statements[i].word);

		if (!strncmp(line, statements[i].word, n) && !isalnum((unsigned char)line[n]))
			break;
	}
	return i;
}

static bool read_line(struct dump *d, char *line)
{
	char *sign;
	size_t n;
	uint8_t type = node_line(line, &n);
	size_t statement = find_statement(line);

	if (*line == '[')
		return parse_port(d, line);
	if (*line == '#')
		return true;
	if (*line == '@')
		return parse_alias(d, line + 1);
	d->node = FABRIC_NONE;
	if (!*line || is_heading(line))
		return true;
	if (type)
		return parse_node(d, line + n, type);
	if (statement < ARRAY_SIZE(statements))
		return statements[statement].parse(d, line + strlen(statements[statement].word));
	if ((sign = strpbrk(line, "=+")))
		return parse_assignment(d, line, sign);
	return fail(d, "unknown line: not what ibnetdiscover prints");
}

static bool recognise(const char *line)
{
	static const char *const keys[] = {
		"vendid=", "devid=", "sysimgguid=", "switchguid", "caguid", "hcaguids", "rtguid",
		"width=", "speed=", "extspeed=", "module=", "include \"",
	};
	size_t n;

	if ((*line == '[' && isdigit((unsigned char)line[1])) || is_heading(line) ||
	    (node_line(line, &n) && isdigit((unsigned char)line[n + strspn(line + n, " \t")])))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (!strncmp(line, keys[i], strlen(keys[i])))
			return true;
	return false;
}

const struct dump_format dump_net = { recognise, read_line, NULL };
