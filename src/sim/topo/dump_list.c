/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Subnet lists: a line for each end of a link, with all that is known of it and of the far
 * end.
 *
 *	{ CA Ports:02 SystemGUID:0002c90300a1b2c3 NodeGUID:0002c90300a1b2c0
 *	PortGUID:0002c90300a1b2c1 VenID:0002C9 DevID:1003 Rev:00000000 {desc} LID:0001 PN:01 }
 *	{ SW Ports:24 … LID:0009 PN:05 } PHY=4x LOG=ACT SPD=14
 */
#include "sim/topo/dump_reader.h"

#include <stdio.h>
#include <string.h>

enum number { PORTS, SYSTEM, NODE, PORT, VENDOR, DEVICE, REVISION, LID, NUM, NUMBERS };

static const struct { const char *name; uint64_t max; } numbers[NUMBERS] = {
	[PORTS] = { "Ports:", SIM_PORTS_MAX }, [SYSTEM] = { "SystemGUID:", UINT64_MAX },
	[NODE] = { "NodeGUID:", UINT64_MAX }, [PORT] = { "PortGUID:", UINT64_MAX },
	[VENDOR] = { "VenID:", UINT32_MAX }, [DEVICE] = { "DevID:", UINT32_MAX },
	[REVISION] = { "Rev:", UINT32_MAX }, [LID] = { "LID:", UINT16_MAX },
	[NUM] = { "PN:", SIM_PORTS_MAX },
};

struct list_end {
	unsigned type;
	uint64_t number[NUMBERS];
	const char *desc;
	size_t n_desc;
};

static bool take_text(const char **p, const char *text)
{
	size_t n = strlen(text);

	take_space(p);
	if (strncmp(*p, text, n) != 0)
		return false;
	*p += n;
	return true;
}

/* Numbers from..to, each behind its name. */
static bool take_numbers(struct reader *r, const char **p, unsigned from, unsigned to,
			 struct list_end *e)
{
	for (unsigned i = from; i <= to; i++) {
		const char *at = *p;

		if (!take_text(p, numbers[i].name) || !take_hex(p, &e->number[i]) ||
		    e->number[i] > numbers[i].max) {
			take_space(&at);
			fail(r, "%s and a number in hexadecimal up to %llx is expected, not "
			     "\"%.24s\"", numbers[i].name, (unsigned long long)numbers[i].max, at);
			return false;
		}
	}
	return true;
}

static bool take_type(struct reader *r, const char **p, unsigned *type)
{
	static const struct { const char *word; unsigned type; } types[] = {
		{ "CA", SIM_CA }, { "SW", SIM_SWITCH }, { "Rt", SIM_ROUTER }, { "RT", SIM_ROUTER },
	};

	take_space(p);
	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		const char *s = *p;

		*type = types[i].type;
		if (!take_word(&s, types[i].word))
			continue;
		if (take_char(&s, '-') && !take_word(&s, "SM"))	/* where the master runs */
			break;
		if (*s != ' ')
			break;
		*p = s;
		return true;
	}
	fail(r, "a type of node is expected, CA, SW or Rt, not \"%.24s\"", *p);
	return false;
}

/* A description may have braces: it ends where the LID follows. */
static bool take_desc(struct reader *r, const char **p, struct list_end *e)
{
	const char *end;

	if (!take_text(p, "{") || !(end = strstr(*p, "} LID:"))) {
		fail(r, "a description in braces is expected, not \"%.24s\"", *p);
		return false;
	}
	e->desc = *p;
	e->n_desc = (size_t)(end - *p);
	*p = end + 1;
	return true;
}

static bool take_end(struct reader *r, const char **p, struct list_end *e)
{
	const char *at = *p;

	if (!take_text(p, "{")) {
		take_space(&at);
		fail(r, "an end of a link in braces is expected, not \"%.24s\"", at);
		return false;
	}
	if (!take_type(r, p, &e->type) || !take_numbers(r, p, PORTS, REVISION, e) ||
	    !take_desc(r, p, e) || !take_numbers(r, p, LID, NUM, e))
		return false;
	if (take_text(p, "}"))
		return true;
	fail(r, "\"}\" is expected, not \"%.24s\"", *p);
	return false;
}

/* --- nodes --- */

/* OpenSM has the far end's in the upper half of 32 bits. */
static uint16_t device_of(const struct list_end *e)
{
	uint64_t id = e->number[DEVICE];

	return (uint16_t)(id > UINT16_MAX ? id >> 16 : id);
}

static uint32_t make_node(struct reader *r, const struct list_end *e)
{
	struct dump_node n = {
		.pos = r->pos, .type = (uint8_t)e->type, .nports = (uint8_t)e->number[PORTS],
		.vendor_id = (uint32_t)e->number[VENDOR] & 0xffffff, .device_id = device_of(e),
		.sysimg_guid = e->number[SYSTEM],
	};
	uint32_t node = (uint32_t)r->d->nodes.n;
	char id[READER_ID_MAX];

	if (!n.nports) {
		fail(r, "a node without ports");
		return SIM_NONE;
	}
	reader_set_desc(r, &n, e->desc, e->n_desc);
	if (!reader_push_node(r, &n) ||
	    !reader_name_node(r, node, reader_id(id, e->type, e->number[NODE]), e->number[NODE]))
		return SIM_NONE;
	if (e->type == SIM_SWITCH) {
		r->d->nodes.v[node].lid = reader_lid(r, e->number[LID]);
		r->d->nodes.v[node].port0_guid = e->number[PORT];
	}
	return node;
}

/* The node of an end, which either end of a link may be the first to mention; or SIM_NONE. */
static uint32_t end_node(struct reader *r, const struct list_end *e)
{
	uint32_t node = map64_get(&r->d->node_by_guid, e->number[NODE]);
	const struct dump_node *n;
	char place[DUMP_PLACE_MAX];

	if (node == MAP64_NONE)
		return make_node(r, e);
	n = &r->d->nodes.v[node];
	if (n->type == e->type && n->nports == e->number[PORTS])
		return node;
	fail(r, "node 0x%llx has another type or number of ports than by %s",
	     (unsigned long long)n->guid, dump_place(r->d, n->pos, r->pos, place, sizeof(place)));
	return SIM_NONE;
}

/* --- links --- */

static bool is_one_of(const char *s, size_t n, const char *words)
{
	const char *at = words;
	size_t len;

	for (; *at; at += len + (at[len] == ' ')) {
		len = strcspn(at, " ");
		if (len == n && memcmp(at, s, n) == 0)
			return true;
	}
	return false;
}

/* "PHY=4x": the word behind the name; false, with an error, if it is missing. */
static bool take_value(struct reader *r, const char **p, const char *name, const char **s,
		       size_t *n)
{
	if (take_text(p, name)) {
		*s = *p;
		*n = strcspn(*p, " \t");
		*p += *n;
		if (*n)
			return true;
	}
	fail(r, "%sVALUE is expected, not \"%.24s\"", name, *p);
	return false;
}

/* Width, state and speed; old lists do not have the last one, for all links were SDR. */
static bool take_state(struct reader *r, const char **p, struct link_speed *speed, bool *up)
{
	const char *width, *state, *gbps = "2.5";
	size_t n_width, n_state, n_gbps = 3;

	if (!take_value(r, p, "PHY=", &width, &n_width) ||
	    !take_value(r, p, "LOG=", &state, &n_state))
		return false;
	take_space(p);
	if (**p && !take_value(r, p, "SPD=", &gbps, &n_gbps))
		return false;
	*up = is_one_of(state, n_state, "ACT ARM INI");
	if (!*up && !is_one_of(state, n_state, "DWN")) {
		fail(r, "\"%.*s\" is no state of a link: ACT, ARM, INI or DWN", (int)n_state,
		     state);
		return false;
	}
	if (link_speed_of_lanes(width, n_width, gbps, n_gbps, speed))
		return true;
	fail(r, "\"%.*s\" and \"%.*s\" are no width and speed of a link", (int)n_width, width,
	     (int)n_gbps, gbps);
	return false;
}

static void add_link(struct reader *r, const struct list_end *near, const struct list_end *far,
		     struct link_speed speed, bool up)
{
	struct dump_port port = {
		.pos = r->pos, .node = end_node(r, near), .num = (uint8_t)near->number[NUM],
		.peer_num = (uint8_t)far->number[NUM], .speed = speed,
	};
	uint32_t peer = end_node(r, far);

	if (port.node == SIM_NONE || peer == SIM_NONE || !up)
		return;
	if (!port.num || !port.peer_num) {
		fail(r, "a link has no end at port 0");
		return;
	}
	port.peer_name = r->d->nodes.v[peer].name;
	if (near->type != SIM_SWITCH) {
		port.guid = near->number[PORT];
		port.lid = reader_lid(r, near->number[LID]);
	}
	if (far->type != SIM_SWITCH)
		port.peer_guid = far->number[PORT];
	reader_add_port(r, &port);
}

static void read_line(struct reader *r, const char *p)
{
	struct list_end near, far;
	struct link_speed speed;
	bool up;

	take_space(&p);
	if (*p && *p != '#' && take_end(r, &p, &near) && take_end(r, &p, &far) &&
	    take_state(r, &p, &speed, &up) && reader_at_end(r, p))
		add_link(r, &near, &far, speed, up);
}

static bool recognise(const char *line)
{
	return *line == '{' && strstr(line, " NodeGUID:") != NULL;
}

const struct reader_format format_list = { recognise, read_line, NULL };
