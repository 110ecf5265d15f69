/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Loads a topology in ibnetdiscover's text format.
 *
 * Two steps: the text becomes records of nodes and ports, checked against each
 * other; then a discovery is played on them (dump_play.c).  Nothing in the file is
 * trusted.
 */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "fabric/dump.h"

#define DUMP_MAX	(256u << 20)	/* ten times what 100,000 ports take */

bool dump_fail_at(struct dump *d, uint32_t line, const char *fmt, ...)
{
	va_list ap;

	buf_printf(d->err, "%s:%u: ", d->path, line);
	va_start(ap, fmt);
	buf_vprintf(d->err, fmt, ap);
	va_end(ap);
	return false;
}

/* --- pieces of a line; each moves *s behind what it took --- */

static void skip_space(char **s)
{
	while (isspace((unsigned char)**s))
		++*s;
}

static bool take_char(char **s, char c)
{
	skip_space(s);
	if (**s != c)
		return false;
	++*s;
	return true;
}

static bool take_number(char **s, int base, uint64_t max, uint64_t *value)
{
	char *end;

	skip_space(s);
	if (!isxdigit((unsigned char)**s))	/* no sign */
		return false;
	errno = 0;
	*value = strtoull(*s, &end, base);
	if (end == *s || errno || *value > max)
		return false;
	*s = end;
	return true;
}

/* "text" in quotes; ends it with a NUL in place. */
static bool take_quoted(char **s, char **text)
{
	char *end;

	if (!take_char(s, '"') || !(end = strchr(*s, '"')))
		return false;
	*end = '\0';
	*text = *s;
	*s = end + 1;
	return true;
}

/* "[n]", and ibnetdiscover -g's "[ext n]" behind it, which says nothing new. */
static bool take_port_num(char **s, uint64_t *num)
{
	if (!take_char(s, '[') || !take_number(s, 10, IB_PORT_NUM_MAX, num) ||
	    *num == 0 || !take_char(s, ']'))
		return false;
	skip_space(s);
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
	return !take_char(s, '(') ||
	       (take_number(s, 16, UINT64_MAX, guid) && take_char(s, ')'));
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
	return take_number(&s, 10, max, value);
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

/*
 * Widths and speeds that ibnetdiscover has no word for are "??" and "???".  What is not
 * said is as when nothing is: 4x, and SDR, the least there is.
 */
static bool parse_unknown(const char *word, struct link_speed *speed)
{
	static const char *const endings[] = { "???", "??" };
	char known[16];
	size_t n = strlen(word);

	if (!strncmp(word, "??", 2)) {
		snprintf(known, sizeof(known), "4x%s", word + 2);
		return !strcmp(word + 2, "???") || link_parse(known, speed);
	}
	for (size_t i = 0; i < ARRAY_SIZE(endings); i++) {
		size_t end = strlen(endings[i]);

		if (n <= end || n - end > 3 || strcmp(word + n - end, endings[i]))
			continue;
		snprintf(known, sizeof(known), "%.*sSDR", (int)(n - end), word);
		if (link_parse(known, speed))
			return true;
	}
	return false;
}

/* " lid 20 4xQDR": 4xSDR, ibsim's default, when nothing is said. */
static bool parse_speed(struct dump *d, char *tail, struct link_speed *speed)
{
	char *save, *word = NULL;

	link_parse("4xSDR", speed);
	skip_space(&tail);
	if (!strncmp(tail, "lid ", 4) && strtok_r(tail, " \t", &save) &&
	    strtok_r(NULL, " \t", &save))
		word = strtok_r(NULL, " \t", &save);
	if (word && !link_parse(word, speed) && !parse_unknown(word, speed))
		return fail(d, "unknown link speed '%s'", word);
	return true;
}

/* --- lines --- */

static uint32_t find_id(const struct dump *d, const char *id)
{
	uint32_t n = map64_get(&d->by_id, hash_bytes(id, strlen(id), 0));

	return n != MAP64_NONE && !strcmp(d->nodes.v[n].id, id) ? n : FABRIC_NONE;
}

/* From a line like switchguid=…, else as ibnetdiscover builds the id. */
static uint64_t node_guid(const struct dump *d, const char *id)
{
	char *end;
	uint64_t guid = d->next.guid;

	if (!guid && strlen(id) == 18 && id[1] == '-') {
		guid = strtoull(id + 2, &end, 16);
		if (*end)
			guid = 0;
	}
	return guid;
}

static bool add_node(struct dump *d, const struct dump_node *n, const char *id)
{
	uint64_t hash = hash_bytes(id, strlen(id), 0);
	uint32_t index = (uint32_t)d->nodes.n;

	if (!n->guid)
		return fail(d, "node \"%s\" has no GUID", id);
	if (map64_get(&d->by_id, hash) != MAP64_NONE)
		return fail(d, "node \"%s\" is there already", id);
	if (map64_get(&d->by_guid, n->guid) != MAP64_NONE)
		return fail(d, "node GUID 0x%llx is there already", (unsigned long long)n->guid);
	map64_put(&d->by_id, hash, index);
	map64_put(&d->by_guid, n->guid, index);
	*vec_push(&d->nodes) = *n;
	d->nodes.v[index].id = xstrdup(id);
	d->next = (struct preamble){ 0 };
	d->in_node = true;
	return true;
}

/* Switch	24 "S-…"		# "description" base port 0 lid 6 lmc 0 */
static bool parse_node(struct dump *d, char *s, uint8_t type)
{
	uint64_t nports;
	char *id;

	if (!take_number(&s, 10, IB_PORT_NUM_MAX, &nports) || nports == 0)
		return fail(d, "bad number of ports");
	if (!take_quoted(&s, &id) || !*id)
		return fail(d, "node without \"id\"");

	struct comment c = split_comment(s);
	struct dump_node n = {
		.guid = node_guid(d, id), .sysimg_guid = d->next.sysimg_guid,
		.vendor = d->next.vendor, .device = d->next.device, .line = d->line,
		.port = (uint32_t)d->ports.n, .index = FABRIC_NONE,
		.type = type, .nports = (uint8_t)nports,
		.enhanced_port0 = strstr(c.tail, "enhanced port 0"),
	};
	const char *desc = *c.text ? c.text : id;

	memcpy(n.desc, desc, strnlen(desc, sizeof(n.desc) - 1));
	return parse_lid_lmc(d, c.tail, &n.lid, &n.lmc) && add_node(d, &n, id);
}

/* [1](guid) 	"S-…"[2](guid)		# lid 16 lmc 1 "description" lid 3 4xSDR */
static bool parse_port(struct dump *d, char *s)
{
	struct dump_port p = { .line = d->line, .node = (uint32_t)d->nodes.n - 1 };
	uint64_t num, remote_num;
	char *id;

	if (!d->in_node)
		return fail(d, "port outside of a node");
	struct dump_node *n = &d->nodes.v[p.node];

	if (!take_port_num(&s, &num) || num > n->nports || !take_port_guid(&s, &p.guid))
		return fail(d, "bad port");
	if (!take_quoted(&s, &id) || !take_port_num(&s, &remote_num) ||
	    !take_port_guid(&s, &p.remote_guid))
		return fail(d, "bad remote port");
	p.num = (uint8_t)num;
	p.remote_num = (uint8_t)remote_num;
	for (uint32_t i = 0; i < n->n_ports; i++)
		if (d->ports.v[n->port + i].num == p.num)
			return fail(d, "port %u of \"%s\" is there already", p.num, n->id);

	if (p.guid && map64_put(&d->by_port_guid, p.guid, d->line) != MAP64_NONE)
		return fail(d, "port GUID 0x%llx is there already", (unsigned long long)p.guid);

	struct comment c = split_comment(s);

	if (!parse_lid_lmc(d, c.head, &p.lid, &p.lmc) || !parse_speed(d, c.tail, &p.speed))
		return false;
	p.remote_id = xstrdup(id);
	*vec_push(&d->ports) = p;
	n->n_ports++;
	return true;
}

/* vendid=0x2c9 and the like; the GUID lines repeat theirs in parentheses. */
static bool parse_assignment(struct dump *d, char *line, char *value)
{
	uint64_t v;

	*value++ = '\0';
	if (!take_number(&value, 16, UINT64_MAX, &v))
		return fail(d, "bad value of %s", line);
	if (!strcmp(line, "vendid"))
		d->next.vendor = (uint32_t)v & 0xffffff;
	else if (!strcmp(line, "devid"))
		d->next.device = (uint32_t)v & 0xffff;
	else if (!strcmp(line, "sysimgguid"))
		d->next.sysimg_guid = v;
	else if (!strcmp(line, "switchguid") || !strcmp(line, "caguid") ||
		 !strcmp(line, "rtguid"))
		d->next.guid = v;
	else
		return fail(d, "unknown line: not what ibnetdiscover prints");
	return true;
}

static bool parse_line(struct dump *d, char *line)
{
	char *equals;

	if (*line == '[')
		return parse_port(d, line);
	if (*line == '#')
		return true;
	d->in_node = false;
	if (!*line)
		return true;
	if (!strncmp(line, "Switch", 6) && isspace((unsigned char)line[6]))
		return parse_node(d, line + 6, IB_NODE_SWITCH_T);
	if (!strncmp(line, "Ca", 2) && isspace((unsigned char)line[2]))
		return parse_node(d, line + 2, IB_NODE_CA_T);
	if (!strncmp(line, "Rt", 2) && isspace((unsigned char)line[2]))
		return parse_node(d, line + 2, IB_NODE_ROUTER_T);
	if (!strncmp(line, "Chassis ", 8) || !strncmp(line, "Hostname: ", 10) ||
	    !strcmp(line, "Non-Chassis Nodes"))
		return true;
	if ((equals = strchr(line, '=')))
		return parse_assignment(d, line, equals);
	return fail(d, "unknown line: not what ibnetdiscover prints");
}

/* Lines are ended in place. */
static bool read_lines(struct dump *d, struct buf *text)
{
	char *line = text->s, *end, *c;

	for (size_t left = text->n; left; left -= (size_t)(end - line), line = end) {
		d->line++;
		end = memchr(line, '\n', left);
		c = end ? end : line + left;	/* at the end there is room for a NUL */
		end = end ? end + 1 : c;
		while (c > line && isspace((unsigned char)c[-1]))
			c--;
		*c = '\0';
		if (strlen(line) != (size_t)(c - line))
			return fail(d, "a NUL byte: not a text file");
		if (!parse_line(d, line))
			return false;
	}
	return true;
}

/* --- both ends of each link --- */

uint32_t dump_find_port(const struct dump *d, const struct dump_node *n, unsigned num)
{
	for (uint32_t i = n->port; i < n->port + n->n_ports; i++)
		if (d->ports.v[i].num == num)
			return i;
	return FABRIC_NONE;
}

static bool resolve_port(struct dump *d, uint32_t port)
{
	struct dump_port *p = &d->ports.v[port];
	uint32_t remote = find_id(d, p->remote_id);

	if (remote == FABRIC_NONE)
		return dump_fail_at(d, p->line, "there is no node \"%s\"", p->remote_id);
	p->peer = dump_find_port(d, &d->nodes.v[remote], p->remote_num);

	const struct dump_port *q = p->peer == FABRIC_NONE ? NULL : &d->ports.v[p->peer];

	if (p->peer == port)
		return dump_fail_at(d, p->line, "the port is linked to itself");
	if (!q || q->remote_num != p->num || find_id(d, q->remote_id) != p->node)
		return dump_fail_at(d, p->line, "port %u of \"%s\" does not list this link",
			       p->remote_num, p->remote_id);
	if (q->guid && p->remote_guid && q->guid != p->remote_guid)
		return dump_fail_at(d, p->line, "port GUID 0x%llx, but line %u says 0x%llx",
			       (unsigned long long)p->remote_guid, q->line,
			       (unsigned long long)q->guid);
	return true;
}

/* What both ends can do, width and speed each on its own, is what the link runs at. */
static void use_slower(struct link_speed *a, struct link_speed *b)
{
	unsigned width_a = rate_from_link(a->width, 1, 0, false);
	unsigned width_b = rate_from_link(b->width, 1, 0, false);
	unsigned lane_a = rate_from_link(1, a->speed, a->speed_ext, a->fdr10);
	unsigned lane_b = rate_from_link(1, b->speed, b->speed_ext, b->fdr10);
	struct link_speed slower = rate_compare(lane_a, lane_b) <= 0 ? *a : *b;

	slower.width = rate_compare(width_a, width_b) <= 0 ? a->width : b->width;
	*a = *b = slower;
}

static bool resolve_links(struct dump *d)
{
	for (uint32_t i = 0; i < d->ports.n; i++)
		if (!resolve_port(d, i))
			return false;
	for (uint32_t i = 0; i < d->ports.n; i++)
		use_slower(&d->ports.v[i].speed, &d->ports.v[d->ports.v[i].peer].speed);
	return true;
}

static void dump_free(struct dump *d)
{
	for (size_t i = 0; i < d->nodes.n; i++)
		free(d->nodes.v[i].id);
	for (size_t i = 0; i < d->ports.n; i++)
		free(d->ports.v[i].remote_id);
	vec_free(&d->nodes);
	vec_free(&d->ports);
	map64_free(&d->by_id);
	map64_free(&d->by_guid);
	map64_free(&d->by_port_guid);
}

struct fabric *fabric_load_dump(const char *path, uint64_t sm_guid, bool keep_lids,
				struct buf *err)
{
	struct dump d = { .path = path, .err = err };
	struct fabric *f = NULL;
	struct buf text = { 0 }, why = { 0 };

	if (!file_read(path, DUMP_MAX, &text, &why))
		buf_printf(err, "%s: %s", path, why.s);
	else if (read_lines(&d, &text) && resolve_links(&d))
		f = dump_play(&d, sm_guid, keep_lids);
	buf_free(&text);
	buf_free(&why);
	dump_free(&d);
	return f;
}
