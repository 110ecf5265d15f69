/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What `ibnetdiscover -p` prints: a line for each port.
 *
 *	CA     1  1 0xf452140300811201 4x FDR - SW     9  1 0xf45214030090a5e0 ( 'a' - 'sw' )
 *	SW     9  2 0xf45214030090a5e0 4x SDR                                    'sw'
 *
 * It has neither GUIDs of nodes nor how many ports they have.  A node has as many as its
 * last port that is listed.  A switch's ports have its GUID.  An adapter's or router's own is
 * taken to be that of each of its ports less the port's number; where another node has it,
 * it is the GUID of the port that is listed first.
 */
#include "sim/topo/dump_reader.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

struct report_end {
	unsigned type;
	uint64_t lid, num, guid;
};

/* "SW     9  1 0xf45214030090a5e0" */
static bool take_end(const char **p, struct report_end *e)
{
	static const struct { const char *word; unsigned type; } types[] = {
		{ "CA", SIM_CA }, { "SW", SIM_SWITCH }, { "RT", SIM_ROUTER },
	};
	size_t i = 0;

	take_space(p);
	while (i < ARRAY_SIZE(types) && !take_word(p, types[i].word))
		i++;
	if (i == ARRAY_SIZE(types))
		return false;
	e->type = types[i].type;
	take_space(p);
	if (!take_number(p, UINT16_MAX, &e->lid))
		return false;
	take_space(p);
	if (!take_number(p, SIM_PORTS_MAX, &e->num) || !e->num)
		return false;
	take_space(p);
	return take_hex(p, &e->guid) && e->guid;
}

/* "4x EDR" is a word like "4xEDR" in two parts. */
static bool take_speed(struct reader *r, const char **p, struct link_speed *speed)
{
	const char *width, *rate;
	char word[24];
	int n;

	take_space(p);
	width = *p;
	*p += strcspn(*p, " \t");
	n = (int)(*p - width);
	take_space(p);
	rate = *p;
	*p += strcspn(*p, " \t");
	n = snprintf(word, sizeof(word), "%.*s%.*s", n, width, (int)(*p - rate), rate);
	if (*p > rate && n < (int)sizeof(word) && link_speed_parse(word, (size_t)n, speed))
		return true;
	fail(r, "a width and a speed are expected, not \"%.24s\"", width);
	return false;
}

/*
 * The description of the port's own node, "( 'own' - 'other' )" or "'own'".  It ends at the
 * first "' - '", or, alone, at the last quote.
 */
static bool take_desc(struct reader *r, const char *p, bool linked, const char **desc, size_t *n)
{
	static const char between[] = "' - '", behind[] = "' )";
	const char *end, *at = p;
	size_t len;

	take_space(&p);
	if (linked && take_char(&p, '('))
		take_space(&p);
	len = strlen(p);
	while (len && isspace((unsigned char)p[len - 1]))
		len--;
	*desc = p + 1;
	end = linked ? strstr(p, between) : p + len - 1;
	if (len >= 2 && *p == '\'' && end && end > p &&
	    (linked ? len >= 3 && memcmp(p + len - 3, behind, 3) == 0 &&
			      end + sizeof(between) - 1 <= p + len - 3 : *end == '\'')) {
		*n = (size_t)(end - *desc);
		return true;
	}
	fail(r, "descriptions in single quotes are expected, not \"%.24s\"", at);
	return false;
}

/* --- nodes --- */

/* A new node; the rest of what is known comes from its further lines.  Or SIM_NONE. */
static uint32_t make_node(struct reader *r, const struct report_end *e, const char *desc, size_t n)
{
	uint32_t index = (uint32_t)r->d->nodes.n;
	struct dump_node node = {
		.pos = r->pos, .type = (uint8_t)e->type, .nports = (uint8_t)e->num,
		.name = SIM_NONE,
	};
	char id[READER_ID_MAX];

	reader_set_desc(r, &node, desc, n);
	if (e->type == SIM_SWITCH) {
		node.lid = reader_lid(r, e->lid);
		node.sysimg_guid = node.port0_guid = e->guid;
	} else {
		node.guid = e->guid - e->num;	/* settled when all lines are read */
		node.first_guid = e->guid;
	}
	if (!reader_push_node(r, &node))
		return SIM_NONE;
	if (e->type == SIM_SWITCH &&
	    !reader_name_node(r, index, reader_id(id, e->type, e->guid), e->guid))
		return SIM_NONE;
	return index;
}

static uint32_t switch_of(struct reader *r, const struct report_end *e, const char *desc, size_t n)
{
	uint32_t node = map64_get(&r->d->node_by_guid, e->guid);

	return node == MAP64_NONE ? make_node(r, e, desc, n) : node;
}

static uint32_t end_node_of(struct reader *r, const struct report_end *e, const char *desc,
			    size_t n)
{
	uint64_t guid = e->guid - e->num;
	uint32_t node = map64_get(&r->places, guid);
	const struct dump_node *nd = node == MAP64_NONE ? NULL : &r->d->nodes.v[node];
	size_t cut = n < DUMP_DESC_MAX ? n : DUMP_DESC_MAX;

	if (nd && nd->type == e->type && strncmp(nd->desc, desc, cut) == 0 && !nd->desc[cut])
		return node;
	node = make_node(r, e, desc, n);
	if (!nd && node != SIM_NONE)
		map64_put(&r->places, guid, node);
	return node;
}

/* A name that stands for one end port, by its GUID. */
static uint32_t port_name(struct reader *r, uint64_t guid)
{
	char name[24];
	int n = snprintf(name, sizeof(name), "0x%016llx", (unsigned long long)guid);

	return dump_name(r->d, name, (size_t)n);
}

static void add_port(struct reader *r, uint32_t node, const struct report_end *near,
		     const struct report_end *far, struct link_speed speed)
{
	struct dump_port port = {
		.pos = r->pos, .node = node, .num = (uint8_t)near->num,
		.peer_num = (uint8_t)far->num, .speed = speed,
	};
	char id[READER_ID_MAX];

	if (near->type != SIM_SWITCH) {
		port.guid = near->guid;
		port.lid = reader_lid(r, near->lid);
	}
	if (far->type == SIM_SWITCH)
		port.peer_name = dump_name(r->d, reader_id(id, SIM_SWITCH, far->guid),
					   READER_ID_MAX - 1);
	else
		port.peer_name = port_name(r, far->guid);
	r->d->nodes.v[node].n_ports++;
	*vec_push(&r->d->ports) = port;
}

static bool grow_node(struct reader *r, uint32_t node, unsigned nports)
{
	struct dump_node *n = &r->d->nodes.v[node];
	unsigned more = nports > n->nports ? nports - n->nports : 0;

	n->nports = (uint8_t)(n->nports + more);
	return reader_more_ports(r, more);
}

static void read_line(struct reader *r, const char *p)
{
	struct report_end near, far;
	struct link_speed speed;
	const char *desc;
	size_t n_desc;
	uint32_t node;
	bool linked;

	take_space(&p);
	if (!*p || *p == '#')
		return;
	if (!take_end(&p, &near)) {
		fail(r, "type, LID, number and GUID of a port are expected");
		return;
	}
	if (!take_speed(r, &p, &speed))
		return;
	take_space(&p);
	linked = take_char(&p, '-');
	if (linked && !take_end(&p, &far)) {
		fail(r, "type, LID, number and GUID of the far port are expected");
		return;
	}
	if (!take_desc(r, p, linked, &desc, &n_desc))
		return;
	node = (near.type == SIM_SWITCH ? switch_of : end_node_of)(r, &near, desc, n_desc);
	if (node != SIM_NONE && grow_node(r, node, (unsigned)near.num) && linked)
		add_port(r, node, &near, &far, speed);
}

/* --- when all is read --- */

static void name_end_node(struct reader *r, uint32_t node)
{
	struct dump_node *n = &r->d->nodes.v[node];
	uint64_t guid = n->guid;
	char id[READER_ID_MAX];

	r->pos = n->pos;
	if (!guid || map64_get(&r->d->node_by_guid, guid) != MAP64_NONE)
		guid = n->first_guid;
	n->sysimg_guid = guid;
	reader_name_node(r, node, reader_id(id, n->type, guid), guid);
}

static void name_end_nodes(struct reader *r)
{
	for (uint32_t i = 0; i < r->d->nodes.n && !dump_hopeless(r->d); i++)
		if (r->d->nodes.v[i].name == SIM_NONE)
			name_end_node(r, i);
}

static void end(struct reader *r)
{
	name_end_nodes(r);
	for (uint32_t i = 0; i < r->d->ports.n && !dump_hopeless(r->d); i++) {
		const struct dump_port *p = &r->d->ports.v[i];

		r->pos = p->pos;
		if (r->d->nodes.v[p->node].type != SIM_SWITCH)
			reader_define_name(r, port_name(r, p->guid), p->node, p->num);
	}
}

/* A type, and two numbers and a GUID behind it. */
static bool recognise(const char *line)
{
	const char *p = line;
	uint64_t n;

	if (!take_word(&p, "CA") && !take_word(&p, "SW") && !take_word(&p, "RT") &&
	    strncmp(p, "?? ", 3) != 0)
		return false;
	p = line + 2;
	for (unsigned i = 0; i < 2; i++) {
		take_space(&p);
		if (!take_number(&p, UINT32_MAX, &n))
			return false;
	}
	take_space(&p);
	return strncmp(p, "0x", 2) == 0;
}

const struct reader_format format_report = { recognise, read_line, end };
