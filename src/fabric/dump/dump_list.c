/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads subnet lists of OpenSM and qosd-ctl (opensm-subnet.lst) and ibdiagnet (ibdiagnet.lst,
 * ibdiagnet2.lst).  Each line describes one end of a link, and the far end.
 *
 *	{ CA Ports:02 SystemGUID:0002c90300a1b2c3 NodeGUID:0002c90300a1b2c0
 *	PortGUID:0002c90300a1b2c1 VenID:0002C9 DevID:1003 Rev:00000000 {desc} LID:0001 PN:01 }
 *	{ SW Ports:24 … LID:0009 PN:05 } PHY=4x LOG=ACT SPD=14
 */
#include <ctype.h>
#include <string.h>

#include "fabric/dump/reader.h"

enum number { PORTS, SYSTEM, NODE, PORT, VENDOR, DEVICE, REVISION, LID, NUM, NUMBERS };

static const struct { const char *name; uint64_t max; } numbers[NUMBERS] = {
	[PORTS] = { "Ports:", DUMP_NODE_PORTS_MAX }, [SYSTEM] = { "SystemGUID:", UINT64_MAX },
	[NODE] = { "NodeGUID:", UINT64_MAX }, [PORT] = { "PortGUID:", UINT64_MAX },
	[VENDOR] = { "VenID:", UINT32_MAX }, [DEVICE] = { "DevID:", UINT32_MAX },
	[REVISION] = { "Rev:", UINT32_MAX }, [LID] = { "LID:", UINT16_MAX },
	[NUM] = { "PN:", DUMP_NODE_PORTS_MAX },
};

struct list_end {
	uint64_t number[NUMBERS];
	char *desc;
	uint8_t type;
};

/* Returns false, with an error that quotes the text found instead. */
static bool expected(struct reader *r, char *p, const char *what)
{
	take_space(&p);
	return fail(r, "%s is expected, not \"%.24s\"", what, p);
}

/* Reads the numbers from..to, each after its name. */
static bool take_numbers(struct reader *r, char **p, unsigned from, unsigned to,
			 struct list_end *e)
{
	for (unsigned i = from; i <= to; i++) {
		char *at = *p;

		if (take_text(p, numbers[i].name) &&
		    take_number(p, 16, numbers[i].max, &e->number[i]))
			continue;
		take_space(&at);
		return fail(r, "%s and a number in hexadecimal up to %llx is expected, not "
			    "\"%.24s\"", numbers[i].name, (unsigned long long)numbers[i].max, at);
	}
	return true;
}

/* "CA" or "CA-SM": "-SM" marks the node of the master subnet manager. */
static bool take_node_type(struct reader *r, char **p, uint8_t *type)
{
	static const struct type_word types[] = {
		{ "CA", DUMP_CA }, { "SW", DUMP_SWITCH }, { "Rt", DUMP_ROUTER },
		{ "RT", DUMP_ROUTER },
	};
	char *s = *p;

	if (!take_type(&s, types, ARRAY_SIZE(types), type) ||
	    (*s == '-' && !take_word(&s, "-SM")) || *s != ' ')
		return expected(r, *p, "a type of node, CA, SW or Rt,");
	*p = s;
	return true;
}

/* A description may contain braces: it ends only where the LID follows. */
static bool take_desc(struct reader *r, char **p, struct list_end *e)
{
	char *s = *p, *end;

	if (!take_char(&s, '{') || !(end = strstr(s, "} LID:")))
		return expected(r, *p, "a description in braces");
	e->desc = s;
	*end = '\0';
	*p = end + 1;
	return true;
}

static bool take_end(struct reader *r, char **p, struct list_end *e)
{
	if (!take_char(p, '{'))
		return expected(r, *p, "an end of a link in braces");
	return take_node_type(r, p, &e->type) && take_numbers(r, p, PORTS, REVISION, e) &&
	       take_desc(r, p, e) && take_numbers(r, p, LID, NUM, e) &&
	       (take_char(p, '}') || expected(r, *p, "\"}\""));
}

/* --- nodes --- */

/* OpenSM writes the far end's device id in the upper half of 32 bits. */
static uint16_t device_of(const struct list_end *e)
{
	uint64_t id = e->number[DEVICE];

	return (uint16_t)(id > UINT16_MAX ? id >> 16 : id);
}

static uint32_t make_node(struct reader *r, const struct list_end *e)
{
	struct dump_node n = {
		.type = e->type, .nports = (uint8_t)e->number[PORTS],
		.vendor = (uint32_t)e->number[VENDOR] & 0xffffff, .device = device_of(e),
		.sysimg_guid = e->number[SYSTEM],
		.lid = e->type == DUMP_SWITCH ? reader_lid(r, e->number[LID]) : 0,
	};
	uint32_t node = (uint32_t)r->d->nodes.n;
	char id[READER_ID_MAX];

	if (n.nports ? reader_push_node(r, &n, e->desc) &&
		       reader_name_node(r, node, reader_id(id, e->type, e->number[NODE]),
					e->number[NODE])
		     : fail(r, "a node without ports"))
		return node;
	return DUMP_NONE;
}

/* Returns the node of a link end, adding it on its first mention; DUMP_NONE on error. */
static uint32_t end_node(struct reader *r, const struct list_end *e)
{
	uint32_t node = map64_get(&r->d->node_by_guid, e->number[NODE]);
	const struct dump_node *n;

	if (node == MAP64_NONE)
		return make_node(r, e);
	n = &r->d->nodes.v[node];
	if (n->type == e->type && n->nports == e->number[PORTS])
		return node;
	fail(r, "node 0x%llx has another type or number of ports than by %s",
	     (unsigned long long)n->guid, DUMP_PLACE(r->d, n->pos, r->pos));
	return DUMP_NONE;
}

/* --- links --- */

/* Reads "PHY=4x" and returns the word after the name; false, with an error, if it is missing. */
static bool take_value(struct reader *r, char **p, const char *name, char **word)
{
	char *s = *p;

	if (take_text(&s, name) && !isspace((unsigned char)*s) && take_token(&s, word)) {
		*p = s;
		return true;
	}
	take_space(p);
	return fail(r, "%sVALUE is expected, not \"%.24s\"", name, *p);
}

/* Reads width, state and speed; old lists have no speed, as all links were SDR. */
static bool take_state(struct reader *r, char *p, struct cable_speed *speed, bool *up)
{
	char *width, *state, sdr[] = "2.5", *gbps = sdr;

	if (!take_value(r, &p, "PHY=", &width) || !take_value(r, &p, "LOG=", &state))
		return false;
	take_space(&p);
	if (*p && !take_value(r, &p, "SPD=", &gbps))
		return false;
	*up = !strcmp(state, "ACT") || !strcmp(state, "ARM") || !strcmp(state, "INI");
	if (!*up && strcmp(state, "DWN"))
		return fail(r, "\"%s\" is no state of a link: ACT, ARM, INI or DWN", state);
	if (!cable_speed_of_lanes(width, gbps, speed))
		return fail(r, "\"%s\" and \"%s\" are no width and speed of a link", width, gbps);
	take_space(&p);
	return !*p || *p == '#' || fail(r, "\"%.24s\" is not understood here", p);
}

static void read_line(struct reader *r, char *p)
{
	struct list_end near, far;
	struct dump_line line = { .peer_name = DUMP_NONE };
	bool up;

	take_space(&p);
	if (!*p || *p == '#' || !take_end(r, &p, &near) || !take_end(r, &p, &far) ||
	    !take_state(r, p, &line.speed, &up))
		return;
	line.node = end_node(r, &near);
	line.peer_node = end_node(r, &far);
	if (line.node == DUMP_NONE || line.peer_node == DUMP_NONE || !up)
		return;
	line.num = (uint8_t)near.number[NUM];
	line.peer_num = (uint8_t)far.number[NUM];
	if (!line.num || !line.peer_num) {
		fail(r, "a link has no end at port 0");
		return;
	}
	if (near.type != DUMP_SWITCH) {
		line.guid = near.number[PORT];
		line.lid = reader_lid(r, near.number[LID]);
	}
	line.peer_guid = far.type == DUMP_SWITCH ? 0 : far.number[PORT];
	reader_add_line(r, &line);
}

static bool recognise(char *line)
{
	return *line == '{' && strstr(line, " NodeGUID:");
}

const struct reader_format format_list = { recognise, read_line, NULL };
