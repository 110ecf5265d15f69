/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads subnet lists, as OpenSM and qosd-ctl write them (opensm-subnet.lst), and ibdiagnet
 * (ibdiagnet.lst, ibdiagnet2.lst): a line for each port that has a link,
 *
 *	{ CA Ports:02 SystemGUID:… NodeGUID:… PortGUID:… VenID:0002C9 DevID:1013
 *	Rev:00000000 {description} LID:0001 PN:01 } { SW Ports:24 … PN:05 }
 *	PHY=4x LOG=ACT SPD=25
 *
 * with all numbers but the last in hexadecimal.  What they say of a port and of the node
 * that it leads to is complete but for LMCs.
 */
#include <stdlib.h>
#include <string.h>

#include "fabric/dump/read_dump.h"

struct end {
	uint64_t nports, sysimg_guid, guid, port_guid, vendor, device, revision, lid, num;
	char *desc;
	uint8_t type;
};

struct field {
	const char *name;
	size_t offset;
	uint64_t max;
};
#define FIELD(name, member, max) { name, offsetof(struct end, member), max }

static bool take_fields(struct dump *d, char **s, const struct field *fields, size_t n,
			struct end *e)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t *value = (uint64_t *)(void *)((char *)e + fields[i].offset);

		if (!line_take_text(s, fields[i].name) ||
		    !line_take_number(s, 16, fields[i].max, value))
			return fail(d, "%s is missing or out of range", fields[i].name);
	}
	return true;
}

/* "CA", "SW-SM": the master subnet manager is on a node that is marked so. */
static bool take_type(struct dump *d, char **s, uint8_t *type)
{
	static const struct { const char *word; uint8_t type; } types[] = {
		{ "CA", IB_NODE_CA_T }, { "SW", IB_NODE_SWITCH_T }, { "Rt", IB_NODE_ROUTER_T },
		{ "RT", IB_NODE_ROUTER_T },
	};
	char *word;

	if (!line_take_word(s, &word))
		return fail(d, "a type of node is missing");
	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		size_t n = strlen(types[i].word);

		*type = types[i].type;
		if (!strncmp(word, types[i].word, n) && (!word[n] || !strcmp(word + n, "-SM")))
			return true;
	}
	return fail(d, "unknown type of node '%s'", word);
}

/* "{description}", which may have braces of its own; ended with a NUL in place. */
static bool take_desc(struct dump *d, char **s, char **desc)
{
	char *end = line_take_char(s, '{') ? strstr(*s, "} LID:") : NULL;

	if (!end)
		return fail(d, "a description in braces is missing");
	*desc = *s;
	*end = '\0';
	*s = end + 1;
	return true;
}

static bool take_end(struct dump *d, char **s, struct end *e)
{
	static const struct field before[] = {
		FIELD("Ports:", nports, IB_PORT_NUM_MAX),
		FIELD("SystemGUID:", sysimg_guid, UINT64_MAX),
		FIELD("NodeGUID:", guid, UINT64_MAX), FIELD("PortGUID:", port_guid, UINT64_MAX),
		FIELD("VenID:", vendor, UINT32_MAX), FIELD("DevID:", device, UINT32_MAX),
		FIELD("Rev:", revision, UINT32_MAX),
	};
	static const struct field behind[] = {
		FIELD("LID:", lid, IB_LID_UCAST_MAX), FIELD("PN:", num, IB_PORT_NUM_MAX),
	};

	if (!line_take_char(s, '{'))
		return fail(d, "an end of the link is missing");
	return take_type(d, s, &e->type) && take_fields(d, s, before, ARRAY_SIZE(before), e) &&
	       take_desc(d, s, &e->desc) && take_fields(d, s, behind, ARRAY_SIZE(behind), e) &&
	       (line_take_char(s, '}') || fail(d, "'}' is missing behind PN:"));
}

/* OpenSM writes the far end's device id as the upper half of 32 bits. */
static uint32_t device_of(const struct end *e)
{
	return (uint32_t)(e->device > 0xffff ? e->device >> 16 : e->device);
}

static bool add_node(struct dump *d, const struct end *e)
{
	char id[DUMP_ID_MAX];
	struct dump_node n = {
		.guid = e->guid, .sysimg_guid = e->sysimg_guid,
		.vendor = (uint32_t)e->vendor & 0xffffff, .device = device_of(e), .pos = d->pos,
		.index = FABRIC_NONE, .type = e->type, .nports = (uint8_t)e->nports,
	};

	if (!n.nports)
		return fail(d, "a node without ports");
	dump_set_desc(&n, e->desc, strlen(e->desc));
	return dump_add_node(d, &n, dump_id(id, e->type, e->guid));
}

/* The record of an end's node, which is made when it is first mentioned. */
static bool find_node(struct dump *d, const struct end *e, uint32_t *node)
{
	struct dump_node *n;

	*node = map64_get(&d->by_guid, e->guid);
	if (*node == MAP64_NONE) {
		if (!add_node(d, e))
			return false;
		*node = (uint32_t)d->nodes.n - 1;
	}
	n = &d->nodes.v[*node];
	if (n->type != e->type || n->nports != e->nports)
		return fail(d, "node 0x%llx has another type or number of ports than by line %u",
			    (unsigned long long)e->guid, n->pos.line);
	if (n->type == IB_NODE_SWITCH_T)
		n->lid = (uint16_t)e->lid;
	return true;
}

/* "PHY=4x LOG=ACT SPD=25"; older lists do not say the speed, which is SDR then. */
static bool take_state(struct dump *d, char *s, struct link_speed *speed, bool *up)
{
	char *width, *state, *gbps = NULL;

	if (!line_take_text(&s, "PHY=") || !line_take_word(&s, &width))
		return fail(d, "PHY= is missing");
	if (!line_take_text(&s, "LOG=") || !line_take_word(&s, &state))
		return fail(d, "LOG= is missing");
	*up = !strcmp(state, "ACT") || !strcmp(state, "ARM") || !strcmp(state, "INI");
	if (!*up && strcmp(state, "DWN"))
		return fail(d, "unknown state of a link '%s'", state);
	if (line_take_text(&s, "SPD=") && !line_take_word(&s, &gbps))
		return fail(d, "SPD= without a speed");
	line_skip_space(&s);
	if (*s)
		return fail(d, "more than a link: '%s'", s);
	if (dump_parse_lanes(width, gbps ? gbps : "2.5", speed))
		return true;
	return fail(d, "unknown width or speed '%s', '%s'", width, gbps ? gbps : "2.5");
}

static bool read_line(struct dump *d, char *s)
{
	struct end near = { 0 }, far = { 0 };
	struct dump_port p = { .pos = d->pos };
	bool up = false;

	line_skip_space(&s);
	if (!*s || *s == '#')
		return true;
	if (!take_end(d, &s, &near) || !take_end(d, &s, &far) ||
	    !take_state(d, s, &p.speed, &up) || !find_node(d, &near, &p.node) ||
	    !find_node(d, &far, &p.remote_node))
		return false;
	if (!up)
		return true;
	p.num = (uint8_t)near.num;
	p.remote_num = (uint8_t)far.num;
	p.remote_guid = far.port_guid;
	if (near.type != IB_NODE_SWITCH_T) {
		p.guid = near.port_guid;
		p.lid = (uint16_t)near.lid;
	}
	return dump_add_port(d, &p);
}

static bool recognise(const char *line)
{
	return line[0] == '{' && strstr(line, " NodeGUID:");
}

const struct dump_format dump_list = { recognise, read_line, NULL };
