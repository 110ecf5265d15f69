/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads the report of `ibnetdiscover -p`: a line for each port, with what it is linked to,
 *
 *	CA     1  1 0xf452140300811201 4x FDR - SW     9  1 0xf45214030090a5e0 ( 'a' - 'sw' )
 *	SW     9  2 0xf45214030090a5e0 4x SDR                                    'sw'
 *
 * type, LID, port number, port GUID, width and speed; a node's ports from the last one down.
 * There are no node GUIDs and no numbers of ports.  So a node has as many ports as the last
 * one that is listed.  A switch is known by its GUID.  The GUID of any other node is taken to
 * be its port's less the port's number, which is how most are made: ports of which that and
 * the description are the same are of one node.  Where the GUID is another node's, it is
 * that of the node's first line.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "fabric/dump/read_dump.h"

struct end {
	uint64_t lid, num, guid;
	uint8_t type;
};

/* "CA     1  1 0xf452140300811201" */
static bool take_end(char **s, struct end *e)
{
	static const struct { const char *word; uint8_t type; } types[] = {
		{ "CA", IB_NODE_CA_T }, { "SW", IB_NODE_SWITCH_T }, { "RT", IB_NODE_ROUTER_T },
	};
	char *word;
	size_t i = 0;

	if (!line_take_word(s, &word))
		return false;
	while (i < ARRAY_SIZE(types) && strcmp(types[i].word, word))
		i++;
	if (i == ARRAY_SIZE(types))
		return false;
	e->type = types[i].type;
	return line_take_number(s, 10, IB_LID_UCAST_MAX, &e->lid) &&
	       line_take_number(s, 10, IB_PORT_NUM_MAX, &e->num) && e->num &&
	       line_take_number(s, 16, UINT64_MAX, &e->guid) && e->guid;
}

/*
 * The near node's description: of "( 'near' - 'far' )" with a link, else of "'near'".  NULL
 * if it is none of these.  Either may have quotes; what looks most like their border is.
 */
static char *take_desc(char *s, bool linked)
{
	static const char border[] = "' - '";
	char *end = linked ? strstr(s, border) : strrchr(s, '\'');

	if (linked && !line_take_char(&s, '('))
		return NULL;
	if (!line_take_char(&s, '\'') || !end || end < s)
		return NULL;
	if (linked ? strcmp(s + strlen(s) - 3, "' )") || end + 5 > s + strlen(s) - 3 : end[1])
		return NULL;
	*end = '\0';
	return s;
}

static uint32_t push_end_node(struct dump *d, const struct dump_node *n)
{
	uint32_t node = dump_push_node(d, n);

	if (map64_get(&d->by_hint, n->guid) == MAP64_NONE)
		map64_put(&d->by_hint, n->guid, node);
	return node;
}

/* The node of an adapter's or router's port; it gets its name when all lines are read. */
static uint32_t find_end_node(struct dump *d, const struct dump_node *like)
{
	uint32_t node = map64_get(&d->by_hint, like->guid);
	const struct dump_node *n = node == MAP64_NONE ? NULL : &d->nodes.v[node];

	if (n && n->type == like->type && !strcmp(n->desc, like->desc))
		return node;
	return push_end_node(d, like);
}

static bool find_switch(struct dump *d, const struct dump_node *like, uint32_t *node)
{
	char id[DUMP_ID_MAX];

	*node = dump_find_id(d, dump_id(id, like->type, like->guid));
	if (*node != FABRIC_NONE)
		return true;
	*node = (uint32_t)d->nodes.n;
	return dump_add_node(d, like, id);
}

static bool find_node(struct dump *d, const struct end *e, const char *desc, uint32_t *node)
{
	struct dump_node n = {
		.guid = e->guid, .pos = d->pos, .index = FABRIC_NONE, .type = e->type,
		.nports = (uint8_t)e->num, .first_guid = e->guid,
	};
	bool is_switch = n.type == IB_NODE_SWITCH_T;

	dump_set_desc(&n, desc, strlen(desc));
	if (is_switch)
		n.lid = (uint16_t)e->lid;
	else
		n.guid = e->guid - e->num;
	if (!is_switch)
		*node = find_end_node(d, &n);
	else if (!find_switch(d, &n, node))
		return false;
	if (d->nodes.v[*node].nports < e->num)
		d->nodes.v[*node].nports = (uint8_t)e->num;
	return true;
}

/* Which node is at the far end only the whole file tells, but for switches. */
static bool add_port(struct dump *d, uint32_t node, const struct end *near, const struct end *far,
		     const struct link_speed *speed)
{
	char id[DUMP_ID_MAX];
	struct dump_port p = {
		.pos = d->pos, .node = node, .num = (uint8_t)near->num, .speed = *speed,
		.remote_guid = far->guid, .remote_num = (uint8_t)far->num,
		.remote_node = FABRIC_NONE,
	};

	if (near->type != IB_NODE_SWITCH_T) {
		p.guid = near->guid;
		p.lid = (uint16_t)near->lid;
	}
	if (far->type == IB_NODE_SWITCH_T)
		p.remote_id = dump_id(id, far->type, far->guid);
	return dump_add_port(d, &p);
}

static bool read_line(struct dump *d, char *s)
{
	struct end near, far = { 0 };
	struct link_speed speed;
	char *width, *rate, *desc, word[32];
	uint32_t node;
	bool linked;

	line_skip_space(&s);
	if (!*s || *s == '#')
		return true;
	if (!take_end(&s, &near))
		return fail(d, "not the type, LID, number and GUID of a port");
	if (!line_take_word(&s, &width) || !line_take_word(&s, &rate))
		return fail(d, "a width and a speed are missing");
	if (snprintf(word, sizeof(word), "%s%s", width, rate) >= (int)sizeof(word) ||
	    !dump_parse_link(word, &speed))
		return fail(d, "unknown link speed '%s %s'", width, rate);
	linked = line_take_char(&s, '-');
	if (linked && !take_end(&s, &far))
		return fail(d, "not the type, LID, number and GUID of a remote port");
	desc = take_desc(s, linked);
	if (!desc)
		return fail(d, "descriptions in single quotes are missing");
	return find_node(d, &near, desc, &node) &&
	       (!linked || add_port(d, node, &near, &far, &speed));
}

/* Names of adapters and routers, which must not take a switch's GUID. */
static bool name_end_nodes(struct dump *d)
{
	char id[DUMP_ID_MAX];

	for (uint32_t i = 0; i < d->nodes.n; i++) {
		struct dump_node *n = &d->nodes.v[i];
		uint64_t guid = n->guid;

		if (n->id)
			continue;
		if (!guid || map64_get(&d->by_guid, guid) != MAP64_NONE)
			guid = n->first_guid;
		if (!dump_name_node(d, i, guid, dump_id(id, n->type, guid)))
			return false;
	}
	return true;
}

static bool find_remote_ends(struct dump *d)
{
	for (uint32_t i = 0; i < d->ports.n; i++) {
		struct dump_port *p = &d->ports.v[i];
		uint32_t remote;

		if (p->remote_id)
			continue;
		remote = map64_get(&d->by_port_guid, p->remote_guid);
		if (remote == MAP64_NONE)
			return dump_fail_at(d, p->pos, "there is no port 0x%llx",
					    (unsigned long long)p->remote_guid);
		p->remote_node = d->ports.v[remote].node;
	}
	return true;
}

static bool end(struct dump *d)
{
	return name_end_nodes(d) && find_remote_ends(d);
}

/* A type, a LID, a number, and a GUID. */
static bool recognise(const char *line)
{
	const char *s = line + 2;

	if ((strncmp(line, "CA ", 3) && strncmp(line, "SW ", 3) && strncmp(line, "RT ", 3) &&
	     strncmp(line, "?? ", 3)))
		return false;
	for (unsigned numbers = 0; numbers < 2; numbers++) {
		s += strspn(s, " ");
		if (!isdigit((unsigned char)*s))
			return false;
		s += strspn(s, "0123456789");
	}
	s += strspn(s, " ");
	return !strncmp(s, "0x", 2);
}

const struct dump_format dump_report = { recognise, read_line, end };
