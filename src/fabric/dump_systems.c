/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads ibdm's .topo files: systems, each with its cables.  A cable need not be listed at
 * both of its ends, and what is only named at a far end is there, too:
 *
 *	MTS2400 leaf1
 *		P1 -4x-5G-> MT23108 host1 P1
 *		P2 -> MT23108 host2 P1
 *
 * What a type of system is made of ibdm knows by its IBNL files.  Those of one chip whose
 * ports are P1 to Pn are known here without such a file; any other type is an error.
 * A system's name is its description; GUIDs are those that ibsim would make up, in the order
 * in which systems are first named.
 */
#include <stdio.h>
#include <string.h>

#include "fabric/dump.h"

static const struct kind {
	const char *names;	/* each between spaces */
	uint8_t type, nports;
} kinds[] = {
	{ " Buffalo MTS800 ", IB_NODE_SWITCH_T, 8 },
	{ " Reindeer MTS2400 MTS2400-24 ", IB_NODE_SWITCH_T, 24 },
	{ " MTS3600 Shark IS4 F464M ", IB_NODE_SWITCH_T, 36 },
	{ " Cheetah MT25204 MHGS18-XT ", IB_NODE_CA_T, 1 },
	{ " Cougar MT23108 MTPB23108 MHX-CE128-T MHX-CE256-T MHX-CE512-T MHXL-CF128-T "
	  "MHXL-CF256-T MHXL-CF512-T ", IB_NODE_CA_T, 2 },
	{ " Lion MT25208 MTLP25208 MHEL-CF128-T MHEL-CF256-T MHEL-CF512-T ", IB_NODE_CA_T, 2 },
	{ " LionMini MT25218 MHEA28-XT ", IB_NODE_CA_T, 2 },
	{ " Eagle MT25408 MHEH28 MHGH28 ", IB_NODE_CA_T, 2 },
};

static const struct kind *find_kind(const char *type)
{
	char name[64];

	if (snprintf(name, sizeof(name), " %s ", type) >= (int)sizeof(name))
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (strstr(kinds[i].names, name))
			return &kinds[i];
	return NULL;
}

static bool add_system(struct dump *d, const struct kind *k, const char *name)
{
	struct dump_node n = {
		.guid = dump_make_guid(d, k->type, k->nports), .line = d->line,
		.index = FABRIC_NONE, .type = k->type, .nports = k->nports,
		.kind = (uint32_t)(k - kinds),
	};

	dump_set_desc(&n, name, strlen(name));
	return dump_add_node(d, &n, name);
}

/* The node of a system, which is made when it is first named. */
static bool find_system(struct dump *d, const char *type, const char *name, uint32_t *node)
{
	const struct kind *k = find_kind(type);

	if (!k)
		return fail(d, "system type %s is not known without its IBNL file, and no such "
			    "files are read", type);
	*node = dump_find_id(d, name);
	if (*node != FABRIC_NONE && d->nodes.v[*node].kind != k - kinds)
		return fail(d, "system %s is of type %s, but not by line %u", name, type,
			    d->nodes.v[*node].line);
	if (*node != FABRIC_NONE)
		return true;
	*node = (uint32_t)d->nodes.n;
	return add_system(d, k, name);
}

/* "P7" is port 7. */
static bool take_port(struct dump *d, uint32_t node, char *word, uint8_t *num)
{
	const struct dump_node *n = &d->nodes.v[node];
	char *s = word + 1;
	uint64_t v;

	if (word[0] != 'P' || !line_take_number(&s, 10, n->nports, &v) || !v || *s)
		return fail(d, "system %s has no port %s, only P1 to P%u", n->id, word, n->nports);
	*num = (uint8_t)v;
	return true;
}

/* --- cables --- */

/*
 * "->", "-4x->", "-5G->" and "-4x-5G->", X for x as well.  What is missing is 4x and 2.5 Gb/s, as
 * ibdm has it.
 */
static bool parse_arrow(char *arrow, struct link_speed *speed)
{
	char width[8] = "4x", gbps[8] = "2.5", *s = arrow + 1;
	size_t n = strcspn(s, "-");

	if (n && n < sizeof(width) && (s[n - 1] | 0x20) == 'x') {
		memcpy(width, s, n);
		width[n - 1] = 'x';
		width[n] = '\0';
		s += n + 1;
		n = strcspn(s, "-");
	}
	if (n && n < sizeof(gbps) && s[n - 1] == 'G') {
		memcpy(gbps, s, n - 1);
		gbps[n - 1] = '\0';
		s += n + 1;
	}
	return !strcmp(s, ">") && dump_parse_lanes(width, gbps, speed);
}

static bool looks_like_arrow(const char *word)
{
	size_t n = strlen(word);

	return n >= 2 && word[0] == '-' && word[n - 1] == '>' && (n == 2 || word[n - 2] == '-');
}

/* A cable that is listed again, from either end, is the same one. */
static bool is_again(const struct dump_port *p, const struct dump_port *q)
{
	return p && q && p->remote_node == q->node && p->remote_num == q->num &&
	       q->remote_node == p->node && q->remote_num == p->num;
}

static bool is_taken(struct dump *d, uint32_t node, unsigned num)
{
	const struct dump_port *p = dump_port_at(d, node, num);

	return p && !fail(d, "port P%u of %s has a cable by line %u already", num,
			  d->nodes.v[node].id, p->line);
}

static bool add_cable(struct dump *d, uint32_t a, uint8_t num_a, uint32_t b, uint8_t num_b,
		      const struct link_speed *speed)
{
	struct dump_port *again = dump_port_at(d, a, num_a);
	struct dump_port p = {
		.line = d->line, .node = a, .num = num_a, .remote_node = b, .remote_num = num_b,
		.speed = *speed,
	};
	struct dump_port q = p;

	q.node = b;
	q.num = num_b;
	q.remote_node = a;
	q.remote_num = num_a;
	if (is_again(again, dump_port_at(d, b, num_b))) {
		again->speed = *speed;
		return true;
	}
	if (a == b && num_a == num_b)
		return fail(d, "the port is linked to itself");
	return !is_taken(d, a, num_a) && !is_taken(d, b, num_b) && dump_add_port(d, &p) &&
	       dump_add_port(d, &q);
}

/* Behind the arrow: TYPE NAME PORT */
static bool read_cable(struct dump *d, char *port, char *arrow, char *rest)
{
	char *type, *name, *remote, *more;
	struct link_speed speed;
	uint32_t far;
	uint8_t num, remote_num;

	if (d->node == FABRIC_NONE)
		return fail(d, "a cable outside of a system");
	if (!parse_arrow(arrow, &speed))
		return fail(d, "unknown width or speed in '%s'", arrow);
	if (!line_take_word(&rest, &type) || !line_take_word(&rest, &name) ||
	    !line_take_word(&rest, &remote) || line_take_word(&rest, &more))
		return fail(d, "a cable ends at a type, a system and a port");
	return take_port(d, d->node, port, &num) && find_system(d, type, name, &far) &&
	       take_port(d, far, remote, &remote_num) &&
	       add_cable(d, d->node, num, far, remote_num, &speed);
}

/* --- lines --- */

/* "TYPE NAME"; which boards a system has does not matter to one of a single chip. */
static bool read_system(struct dump *d, char *type, char *name, char *rest)
{
	if (strchr(type, '/') || strchr(name, '/'))
		return fail(d, "a type and a name of a system have no '/'");
	line_skip_space(&rest);
	if (*rest && strncmp(rest, "CFG:", 4))
		return fail(d, "more than a type and a name of a system: '%s'", rest);
	return find_system(d, type, name, &d->node) &&
	       (!*rest || fail(d, "system type %s has no boards for CFG:", type));
}

static bool read_line(struct dump *d, char *s)
{
	char *first, *second;

	line_skip_space(&s);
	if (*s == '#')
		return true;
	if (!line_take_word(&s, &first)) {
		d->node = FABRIC_NONE;
		return true;
	}
	if (!line_take_word(&s, &second))
		return fail(d, "neither a system nor a cable: '%s'", first);
	return looks_like_arrow(second) ? read_cable(d, first, second, s)
					: read_system(d, first, second, s);
}

/* Only a cable, since the type and name of a system could be any two words. */
static bool recognise(const char *line)
{
	char copy[256], *s = copy, *first, *second;

	snprintf(copy, sizeof(copy), "%s", line);
	return line_take_word(&s, &first) && line_take_word(&s, &second) &&
	       looks_like_arrow(second);
}

const struct dump_format dump_systems = { recognise, read_line, NULL };
