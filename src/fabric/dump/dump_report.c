/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads what `ibnetdiscover -p` prints: one line per port, each node's ports in descending order.
 *
 *	CA     1  1 0xf452140300811201 4x FDR - SW     9  1 0xf45214030090a5e0 ( 'a' - 'sw' )
 *	SW     9  2 0xf45214030090a5e0 4x SDR                                    'sw'
 *
 * The report gives neither node GUIDs nor port counts.  A node has as many ports as its highest
 * listed port.  A switch's ports carry its GUID.  For adapters and routers the node GUID is taken
 * to be the port GUID minus the port number, as most vendors assign them: ports with the same
 * result and the same description belong to one node.  If another node has that GUID, the node gets
 * the GUID of its first listed port.
 */
#include <stdio.h>
#include <string.h>

#include "fabric/dump/reader.h"

struct report_end {
	uint64_t lid, num, guid;
	uint8_t type;
};

/* "SW     9  1 0xf45214030090a5e0" */
static bool take_end(char **p, struct report_end *e)
{
	static const struct type_word types[] = {
		{ "CA", DUMP_CA }, { "SW", DUMP_SWITCH }, { "RT", DUMP_ROUTER },
	};

	return take_type(p, types, ARRAY_SIZE(types), &e->type) &&
	       take_number(p, 10, UINT16_MAX, &e->lid) &&
	       take_number(p, 10, DUMP_NODE_PORTS_MAX, &e->num) && e->num &&
	       take_number(p, 16, UINT64_MAX, &e->guid) && e->guid;
}

/* Reads "4x EDR", which is "4xEDR" in two words. */
static bool take_speed(struct reader *r, char **p, struct cable_speed *speed)
{
	char at[25], both[24], *width, *rate;

	take_space(p);
	snprintf(at, sizeof(at), "%s", *p);	/* take_token() ends words in place */
	if (take_token(p, &width) && take_token(p, &rate) &&
	    snprintf(both, sizeof(both), "%s%s", width, rate) < (int)sizeof(both) &&
	    cable_speed_parse(both, speed))
		return true;
	return fail(r, "a width and a speed are expected, not \"%s\"", at);
}

/*
 * The description of the port's own node, from "( 'own' - 'other' )" or "'own'".  It ends at the
 * first "' - '", or, alone, at the last quote.  NULL if there is none.
 */
static char *take_desc(char *p, bool linked)
{
	static const char border[] = "' - '", behind[] = "' )";
	char *end, *last;

	if (linked && !take_char(&p, '('))
		return NULL;
	if (!take_char(&p, '\''))
		return NULL;
	last = p + strlen(p) - (linked ? strlen(behind) : 1);
	end = linked ? strstr(p, border) : last;
	if (!end || end < p || strcmp(last, linked ? behind : "'") ||
	    (linked && end + strlen(border) > last))
		return NULL;
	*end = '\0';
	return p;
}

/* --- nodes --- */

/* Adds a node, which later lines complete.  Returns DUMP_NONE on error. */
static uint32_t make_node(struct reader *r, const struct report_end *e, const char *desc)
{
	uint32_t index = (uint32_t)r->d->nodes.n;
	bool is_switch = e->type == DUMP_SWITCH;
	struct dump_node node = {
		.type = e->type, .nports = (uint8_t)e->num,
		.lid = is_switch ? reader_lid(r, e->lid) : 0,
		/* for other types settled when all lines are read */
		.guid = is_switch ? e->guid : e->guid - e->num, .sysimg_guid = e->guid,
	};
	char id[READER_ID_MAX];

	if (!reader_push_node(r, &node, desc))
		return DUMP_NONE;
	*vec_push(&r->first_guid) = e->guid;
	if (is_switch && !reader_name_node(r, index, reader_id(id, e->type, e->guid), e->guid))
		return DUMP_NONE;
	return index;
}

static uint32_t switch_of(struct reader *r, const struct report_end *e, const char *desc)
{
	uint32_t node = map64_get(&r->d->node_by_guid, e->guid);

	return node == MAP64_NONE ? make_node(r, e, desc) : node;
}

static uint32_t end_node_of(struct reader *r, const struct report_end *e, const char *desc)
{
	uint64_t guid = e->guid - e->num;
	uint32_t node = map64_get(&r->node_by_hint, guid);
	const struct dump_node *n = node == MAP64_NONE ? NULL : &r->d->nodes.v[node];

	if (n && n->type == e->type && !strncmp(n->desc, desc, strlen(n->desc) + 1))
		return node;
	node = make_node(r, e, desc);
	if (!n && node != DUMP_NONE)
		map64_put(&r->node_by_hint, guid, node);
	return node;
}

/* A name that stands for one end port, by its GUID. */
static uint32_t port_name(struct reader *r, uint64_t guid)
{
	char name[24];

	snprintf(name, sizeof(name), "0x%016llx", (unsigned long long)guid);
	return reader_name(r, name);
}

static void read_line(struct reader *r, char *p)
{
	struct report_end near, far = { 0 };
	struct dump_line line = { 0 };
	char id[READER_ID_MAX], *desc, *at;
	bool linked;

	take_space(&p);
	if (!*p || *p == '#')
		return;
	if (!take_end(&p, &near)) {
		fail(r, "type, LID, number and GUID of a port are expected");
		return;
	}
	if (!take_speed(r, &p, &line.speed))
		return;
	linked = take_char(&p, '-');
	if (linked && !take_end(&p, &far)) {
		fail(r, "type, LID, number and GUID of the far port are expected");
		return;
	}
	at = p;
	desc = take_desc(p, linked);
	if (!desc) {
		fail(r, "descriptions in single quotes are expected, not \"%.24s\"", at);
		return;
	}
	line.node = (near.type == DUMP_SWITCH ? switch_of : end_node_of)(r, &near, desc);
	if (line.node == DUMP_NONE || !reader_grow_node(r, line.node, (unsigned)near.num) ||
	    !linked)
		return;
	line.num = (uint8_t)near.num;
	line.peer_num = (uint8_t)far.num;
	if (near.type != DUMP_SWITCH) {
		line.guid = near.guid;
		line.lid = reader_lid(r, near.lid);
	}
	/* only the whole file tells which CA or router owns the far end's GUID */
	line.peer_name = far.type == DUMP_SWITCH ? reader_name(r, reader_id(id, far.type, far.guid))
						 : port_name(r, far.guid);
	reader_add_line(r, &line);
}

/* --- when all is read --- */

static void name_end_node(struct reader *r, uint32_t node)
{
	struct dump_node *n = &r->d->nodes.v[node];
	uint64_t guid = n->guid;
	char id[READER_ID_MAX];

	r->pos = n->pos;
	if (!guid || map64_get(&r->d->node_by_guid, guid) != MAP64_NONE)
		guid = r->first_guid.v[node];
	n->sysimg_guid = guid;
	reader_name_node(r, node, reader_id(id, n->type, guid), guid);
}

static void end(struct reader *r)
{
	for (uint32_t i = 0; i < r->d->nodes.n && !reader_is_hopeless(r); i++)
		if (!r->d->nodes.v[i].name)
			name_end_node(r, i);
	for (uint32_t i = 0; i < r->lines.n && !reader_is_hopeless(r); i++) {
		const struct dump_line *p = &r->lines.v[i];

		r->pos = p->pos;
		if (r->d->nodes.v[p->node].type != DUMP_SWITCH)
			reader_define_name(r, port_name(r, p->guid), p->node, p->num);
	}
}

/* A line starts with a type, two numbers and a GUID. */
static bool recognise(char *p)
{
	uint64_t n;

	if (!take_word(&p, "CA") && !take_word(&p, "SW") && !take_word(&p, "RT") &&
	    !take_text(&p, "?? "))
		return false;
	return take_number(&p, 10, UINT32_MAX, &n) && take_number(&p, 10, UINT32_MAX, &n) &&
	       take_text(&p, "0x");
}

const struct reader_format format_report = { recognise, read_line, end };
