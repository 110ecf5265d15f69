/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ibdm's .topo files: systems, each with its cables to others, up to an empty line.
 *
 *	MTS2400 leaf1
 *		P1 -4x-5G-> MT23108 host1 P1
 *		P2 -> MT23108 host2 P1
 *
 * One end of a cable is enough, also for the system at the other one.  What a system
 * consists of is defined in ibdm's IBNL files; here only the types of a single chip are known
 * whose port n is called Pn.  Systems have the GUIDs that ibsim would count, by the order in
 * which they are first named.
 */
#include "simtopo/dump_reader.h"

#include <stdio.h>
#include <string.h>

struct system_type {
	unsigned type, nports;
	const char *const *names;
};

static const struct system_type system_types[] = {
	{ SIM_SWITCH, 8, (const char *const[]){ "MTS800", "Buffalo", NULL } },
	{ SIM_SWITCH, 24, (const char *const[]){ "MTS2400", "MTS2400-24", "Reindeer", NULL } },
	{ SIM_SWITCH, 36, (const char *const[]){ "MTS3600", "Shark", "IS4", "F464M", NULL } },
	{ SIM_CA, 1, (const char *const[]){ "MT25204", "MHGS18-XT", "Cheetah", NULL } },
	{ SIM_CA, 2, (const char *const[]){ "MT23108", "MTPB23108", "MHX-CE128-T", "MHX-CE256-T",
					    "MHX-CE512-T", "MHXL-CF128-T", "MHXL-CF256-T",
					    "MHXL-CF512-T", "Cougar", NULL } },
	{ SIM_CA, 2, (const char *const[]){ "MT25208", "MTLP25208", "MHEL-CF128-T",
					    "MHEL-CF256-T", "MHEL-CF512-T", "Lion", NULL } },
	{ SIM_CA, 2, (const char *const[]){ "MT25218", "MHEA28-XT", "LionMini", NULL } },
	{ SIM_CA, 2, (const char *const[]){ "MT25408", "MHEH28", "MHGH28", "Eagle", NULL } },
};

struct word {
	const char *s;
	size_t n;
};

static bool take_any(const char **p, struct word *w)
{
	take_space(p);
	w->s = *p;
	w->n = strcspn(*p, " \t");
	*p += w->n;
	return w->n > 0;
}

static bool word_is(struct word w, const char *text)
{
	return strlen(text) == w.n && memcmp(text, w.s, w.n) == 0;
}

/* --- systems --- */

/* Index among the types that are known; or as many as there are. */
static uint32_t find_type(struct word name)
{
	uint32_t i;

	for (i = 0; i < ARRAY_SIZE(system_types); i++)
		for (const char *const *n = system_types[i].names; *n; n++)
			if (word_is(name, *n))
				return i;
	return i;
}

static uint32_t make_system(struct reader *r, uint32_t type, struct word name)
{
	const struct system_type *t = &system_types[type];
	uint32_t index = (uint32_t)r->d->nodes.n;
	struct dump_node n = {
		.pos = r->pos, .type = (uint8_t)t->type, .nports = (uint8_t)t->nports,
		.model = type,
	};
	char text[DUMP_NAME_MAX + 1];

	snprintf(text, sizeof(text), "%.*s", (int)name.n, name.s);
	reader_set_desc(r, &n, text, name.n);
	n.sysimg_guid = reader_make_guid(r, t->type, t->nports);
	if (!reader_push_node(r, &n) || !reader_name_node(r, index, text, n.sysimg_guid))
		return SIM_NONE;
	return index;
}

/* The system of that name, which is there from when it is first named; or SIM_NONE. */
static uint32_t find_system(struct reader *r, struct word type, struct word name)
{
	uint32_t model = find_type(type), index, node;
	char place[DUMP_PLACE_MAX];

	if (model == ARRAY_SIZE(system_types)) {
		fail(r, "system type \"%.*s\" would need its IBNL file, and none are read",
		     (int)type.n, type.s);
		return SIM_NONE;
	}
	if (name.n > DUMP_NAME_MAX) {
		fail(r, "the name \"%.20s...\" is longer than %u characters", name.s,
		     DUMP_NAME_MAX);
		return SIM_NONE;
	}
	index = dump_name(r->d, name.s, name.n);
	node = r->d->names.v[index].node;
	if (node == SIM_NONE)
		return make_system(r, model, name);
	if (r->d->nodes.v[node].model == model)
		return node;
	fail(r, "system \"%.*s\" is of another type by %s", (int)name.n, name.s,
	     dump_place(r->d, r->d->nodes.v[node].pos, r->pos, place, sizeof(place)));
	return SIM_NONE;
}

/* "TYPE NAME"; false, with an error, if it is not, or nothing is known of the type. */
static bool parse_system(struct reader *r, struct word type, struct word name, const char *p)
{
	if (memchr(type.s, '/', type.n) || memchr(name.s, '/', name.n)) {
		fail(r, "\"/\" is for ports of systems");
		return false;
	}
	r->node = find_system(r, type, name);
	if (r->node == SIM_NONE)
		return false;
	take_space(&p);
	if (strncmp(p, "CFG:", 4) != 0)
		return reader_at_end(r, p);
	fail(r, "CFG: is about boards, which no system of a single chip has");
	return false;
}

static void read_system(struct reader *r, struct word type, struct word name, const char *p)
{
	r->skip_ports = !parse_system(r, type, name, p);
	if (r->skip_ports)
		r->node = SIM_NONE;
}

/* --- cables --- */

/* "-4x-5G->", or less; as ibdm has it, the rest is 4x and 2.5 Gb/s a lane. */
static bool parse_arrow(struct word arrow, struct link_speed *speed)
{
	struct word width = { "4x", 2 }, gbps = { "2.5", 3 };
	char wide[8];
	const char *p = arrow.s + 1;
	size_t n = strcspn(p, "->");

	if (n > 1 && n < sizeof(wide) && (p[n - 1] == 'x' || p[n - 1] == 'X')) {
		snprintf(wide, sizeof(wide), "%.*sx", (int)n - 1, p);
		width = (struct word){ wide, n };
		p += n + 1;
		n = strcspn(p, "->");
	}
	if (n > 1 && p[n - 1] == 'G') {
		gbps = (struct word){ p, n - 1 };
		p += n + 1;
	}
	return p + 1 == arrow.s + arrow.n && *p == '>' &&
	       link_speed_of_lanes(width.s, width.n, gbps.s, gbps.n, speed);
}

static bool is_arrow(struct word w)
{
	return w.n >= 2 && w.s[0] == '-' && w.s[w.n - 1] == '>' &&
	       (w.n == 2 || w.s[w.n - 2] == '-');
}

static bool parse_port(struct reader *r, uint32_t node, struct word w, uint8_t *num)
{
	const struct dump_node *n = &r->d->nodes.v[node];
	const char *p = w.s + 1;
	uint64_t v;

	if (*w.s == 'P' && take_number(&p, n->nports, &v) && v && p == w.s + w.n) {
		*num = (uint8_t)v;
		return true;
	}
	fail(r, "\"%s\" has no port \"%.*s\", it has P1 to P%u", n->desc, (int)w.n, w.s, n->nports);
	return false;
}

/* The line of a port, which counts for both ends, unless there is one from the other end. */
static void add_cable(struct reader *r, const struct dump_port *port)
{
	uint64_t place = (uint64_t)port->node << 8 | port->num;
	uint32_t same = map64_get(&r->places, place);
	struct dump_port *p = same == MAP64_NONE ? NULL : &r->d->ports.v[same];

	if (p && p->peer_name == port->peer_name && p->peer_num == port->peer_num) {
		p->speed = link_speed_slower(p->speed, port->speed);
		return;
	}
	if (!p)
		map64_put(&r->places, place, (uint32_t)r->d->ports.n);
	reader_add_port(r, port);
}

/* Behind the arrow: "TYPE NAME PORT" */
static void read_cable(struct reader *r, struct word name, struct word arrow, const char *p)
{
	struct dump_port port = { .pos = r->pos, .node = r->node, .one_end = true };
	struct word type, system, far;
	uint32_t peer;

	if (r->node == SIM_NONE) {
		if (!r->skip_ports)
			fail(r, "a cable without a system");
		return;
	}
	if (!parse_arrow(arrow, &port.speed)) {
		fail(r, "\"%.*s\" is no width and speed of a cable, as in -4x-5G->",
		     (int)arrow.n, arrow.s);
		return;
	}
	if (!take_any(&p, &type) || !take_any(&p, &system) || !take_any(&p, &far)) {
		fail(r, "a type, a system and a port are expected behind the arrow");
		return;
	}
	if (!reader_at_end(r, p) || !parse_port(r, r->node, name, &port.num))
		return;
	peer = find_system(r, type, system);
	if (peer == SIM_NONE || !parse_port(r, peer, far, &port.peer_num))
		return;
	port.peer_name = r->d->nodes.v[peer].name;
	add_cable(r, &port);
}

/* --- lines --- */

static void read_line(struct reader *r, const char *p)
{
	struct word first, second;

	take_space(&p);
	if (*p == '#')
		return;
	if (!take_any(&p, &first)) {
		reader_no_node(r);
		return;
	}
	if (!take_any(&p, &second))
		fail(r, "\"%.24s\" is neither a system nor a cable", first.s);
	else if (is_arrow(second))
		read_cable(r, first, second, p);
	else
		read_system(r, first, second, p);
}

/* Cables only: any two words could be a system. */
static bool recognise(const char *line)
{
	struct word first, second;

	return take_any(&line, &first) && take_any(&line, &second) && is_arrow(second);
}

const struct reader_format format_systems = { recognise, read_line, NULL };
