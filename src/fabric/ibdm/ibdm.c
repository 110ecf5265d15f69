/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads .topo files and makes their nodes and links.  Lines are only recorded as they are read: a
 * cable may name a system whose own line, which gives its boards after CFG:, comes later.
 */
#include "fabric/ibdm/ibnl.h"

#include <stdlib.h>
#include <string.h>

struct system {
	char *type, *cfg;		/* cfg NULL: not given */
	uint32_t line, cfg_line;
	uint32_t shape;			/* index of t->shapes */
	uint32_t first;			/* index of its first node */
};

struct cable {
	uint32_t system[2];
	char *type[2], *port[2];	/* type[0] is NULL: use the system's own type */
	uint32_t line;
	struct ibdm_speed speed;
};

struct ibdm {
	struct ibdm_report report;
	struct ibdm_library *library;
	struct ibdm_names names;	/* of systems */
	VEC(struct system) systems;
	VEC(struct cable) cables;
	uint32_t system;		/* the system whose cable lines follow, or MAP64_NONE */
	bool skip;			/* the system's line was an error: skip its cables silently */
	struct ibdm_names shape_names;	/* type and CFG: one shape per distinct pair */
	VEC(struct ibdm_system) shapes;
	VEC(struct ibdm_node) nodes;
	VEC(struct ibdm_link) links;
	struct map64 taken;		/* node << 8 | port -> link */
	struct ibdm_net net;
};

#define fail(t, line, ...) ibdm_fail(&(t)->report, NULL, line, __VA_ARGS__)

/* --- lines --- */

static bool is_arrow(const char *word, size_t n)
{
	return n >= 2 && word[0] == '-' && word[n - 1] == '>' && (n == 2 || word[n - 2] == '-');
}

bool ibdm_is_cable(const char *line)
{
	line += strspn(line, " \t");
	line += strcspn(line, " \t");
	line += strspn(line, " \t");
	return is_arrow(line, strcspn(line, " \t\r\n"));
}

/* Returns the system of that name, adding it on its first mention. */
static uint32_t note_system(struct ibdm *t, uint32_t line, const char *type, const char *name)
{
	uint32_t i = ibdm_find_name(&t->names, name);

	if (i != MAP64_NONE)
		return i;
	i = ibdm_add_name(&t->names, name);
	if (i == MAP64_NONE) {
		fail(t, line, "the name %s cannot be told from another", name);
		return i;
	}
	*vec_push(&t->systems) = (struct system){ .type = xstrdup(type), .line = line };
	return i;
}

static bool note_cfg(struct ibdm *t, uint32_t line, struct system *s, const char *cfg)
{
	if (s->cfg && strcmp(s->cfg, cfg))
		return fail(t, line, "CFG: is not what line %u says of this system", s->cfg_line);
	if (!s->cfg)
		s->cfg = xstrdup(cfg);
	s->cfg_line = line;
	return true;
}

/* "TYPE NAME", and optionally "CFG: leaf1=R" */
static bool read_system(struct ibdm *t, uint32_t line, const char *type, const char *name,
			const char *rest)
{
	if (strchr(type, '/') || strchr(name, '/'))
		return fail(t, line, "a type and a name of a system have no '/'");
	rest += strspn(rest, " \t");
	if (*rest && strncmp(rest, "CFG:", 4))
		return fail(t, line, "more than a type and a name of a system: '%.24s'", rest);
	t->system = note_system(t, line, type, name);
	if (t->system == MAP64_NONE)
		return false;
	if (strcmp(t->systems.v[t->system].type, type)) {
		struct cable c = { .system = { t->system, t->system }, .line = line };

		c.type[1] = xstrdup(type);	/* not a cable, but build compares its types, too */
		*vec_push(&t->cables) = c;
	}
	return !*rest || note_cfg(t, line, &t->systems.v[t->system], rest + 4);
}

/* "P1 -4x-5G-> TYPE NAME PORT" */
static bool read_cable(struct ibdm *t, uint32_t line, const char *port, const char *arrow,
		       const char *rest)
{
	char *w[3] = { NULL }, *more = NULL;
	struct cable c = { .line = line };
	bool ok = false;

	if (t->system == MAP64_NONE)
		return t->skip || fail(t, line, "a cable outside of a system");
	if (!ibdm_parse_speed(arrow, strlen(arrow) - 1, &c.speed))
		return fail(t, line, "unknown width or speed in '%s'", arrow);
	if (!ibdm_take_word(&rest, &w[0]) || !ibdm_take_word(&rest, &w[1]) ||
	    !ibdm_take_word(&rest, &w[2]) || ibdm_take_word(&rest, &more))
		fail(t, line, "a cable ends at a type, a system and a port");
	else if (strchr(w[0], '/') || strchr(w[1], '/'))
		fail(t, line, "a type and a name of a system have no '/'");
	else
		ok = (c.system[1] = note_system(t, line, w[0], w[1])) != MAP64_NONE;
	if (ok) {
		c.system[0] = t->system;
		c.port[0] = xstrdup(port);
		c.type[1] = xstrdup(w[0]);
		c.port[1] = xstrdup(w[2]);
		*vec_push(&t->cables) = c;
	}
	for (size_t i = 0; i < 3; i++)
		free(w[i]);
	free(more);
	return ok;
}

void ibdm_read_line(struct ibdm *t, uint32_t number, const char *s)
{
	char *first = NULL, *second = NULL;

	s += strspn(s, " \t\r");
	if (*s == '#')
		return;
	if (!ibdm_take_word(&s, &first)) {
		t->system = MAP64_NONE;
		t->skip = false;
	} else if (!ibdm_take_word(&s, &second)) {
		fail(t, number, "neither a system nor a cable: '%.24s'", first);
	} else if (is_arrow(second, strlen(second))) {
		read_cable(t, number, first, second, s);
	} else {
		t->skip = !read_system(t, number, first, second, s);
		if (t->skip)
			t->system = MAP64_NONE;
	}
	free(first);
	free(second);
}

/* --- systems --- */

/* Finds or makes the shape of a system; systems with the same type and CFG share one. */
static bool find_shape(struct ibdm *t, struct system *s)
{
	const char *cfg = s->cfg ? s->cfg : "";
	const struct ibdm_type *type = ibdm_find_type(t->library, s->type, s->line);
	struct ibdm_system shape;
	char *key;

	if (!type)
		return false;
	key = xasprintf("%s %s", s->type, cfg);
	s->shape = ibdm_find_name(&t->shape_names, key);
	if (s->shape == MAP64_NONE &&
	    ibdm_expand(type, s->type, cfg, s->cfg_line, &shape, &t->report)) {
		s->shape = ibdm_add_name(&t->shape_names, key);
		*vec_push(&t->shapes) = shape;
	} else if (s->shape == MAP64_NONE) {
		ibdm_free_system(&shape);
	}
	free(key);
	return s->shape != MAP64_NONE;
}

static bool add_node(struct ibdm *t, const struct system *s, const char *name,
		     const struct ibdm_system *shape, uint32_t i)
{
	struct ibdm_node n = shape->nodes.v[i];

	n.line = s->line;
	n.first = s->first;
	n.name = shape->single ? xstrdup(name)
			       : xasprintf("%s/%s", name, shape->node_names.v.v[i]);
	*vec_push(&t->nodes) = n;
	if (strlen(n.name) > IBDM_NAME_MAX)
		return fail(t, s->line, "the name %.40s... is longer than %d characters", n.name,
			    IBDM_NAME_MAX);
	return t->nodes.n <= IBDM_NODES_MAX ||
	       fail(t, s->line, "more than %d switches and adapters", IBDM_NODES_MAX);
}

static uint64_t key_of(uint32_t node, uint8_t num)
{
	return (uint64_t)node << 8 | num;
}

static void push_link(struct ibdm *t, const struct ibdm_link *l)
{
	for (size_t end = 0; end < 2; end++)
		map64_put(&t->taken, key_of(l->node[end], l->num[end]), (uint32_t)t->links.n);
	*vec_push(&t->links) = *l;
}

static bool make_system(struct ibdm *t, uint32_t index)
{
	struct system *s = &t->systems.v[index];
	const struct ibdm_system *shape;

	if (!find_shape(t, s))
		return false;
	shape = &t->shapes.v[s->shape];
	s->first = (uint32_t)t->nodes.n;
	for (uint32_t i = 0; i < shape->nodes.n; i++)
		if (!add_node(t, s, t->names.v.v[index], shape, i))
			return false;
	for (const struct ibdm_inner_link *l = shape->links.v; l < vec_end(&shape->links); l++) {
		struct ibdm_link link = {
			.node = { s->first + l->end[0].node, s->first + l->end[1].node },
			.num = { l->end[0].num, l->end[1].num }, .line = s->line,
			.speed = l->speed,
		};

		push_link(t, &link);
	}
	return true;
}

/* --- cables --- */

/* A cable line may use any of the names of the system's type. */
static bool check_type(struct ibdm *t, const struct cable *c)
{
	const struct system *s = &t->systems.v[c->system[1]];
	const struct ibdm_type *type;

	if (!strcmp(s->type, c->type[1]))
		return true;
	type = ibdm_find_type(t->library, c->type[1], c->line);
	if (!type)
		return false;
	return type == ibdm_find_type(t->library, s->type, s->line) ||
	       fail(t, c->line, "system %s is of type %s, but not by line %u",
		    t->names.v.v[c->system[1]], c->type[1], s->line);
}

static bool find_port(struct ibdm *t, const struct cable *c, size_t end, struct ibdm_link *link)
{
	const struct system *s = &t->systems.v[c->system[end]];
	const struct ibdm_system *shape = &t->shapes.v[s->shape];
	uint32_t i = ibdm_find_name(&shape->port_names, c->port[end]);

	if (i == MAP64_NONE && shape->ports.n)
		return fail(t, c->line, "system %s has no port %s, its ports are %s to %s",
			    t->names.v.v[c->system[end]], c->port[end], shape->port_names.v.v[0],
			    shape->port_names.v.v[shape->ports.n - 1]);
	if (i == MAP64_NONE)
		return fail(t, c->line, "system %s has no ports", t->names.v.v[c->system[end]]);
	link->node[end] = s->first + shape->ports.v[i].node;
	link->num[end] = shape->ports.v[i].num;
	return true;
}

static bool is_same(const struct ibdm_link *a, const struct ibdm_link *b)
{
	for (size_t i = 0; i < 2; i++)
		if (a->node[0] == b->node[i] && a->num[0] == b->num[i] &&
		    a->node[1] == b->node[!i] && a->num[1] == b->num[!i])
			return true;
	return false;
}

/* A cable that is listed again, from either end, is the same cable; the last line counts. */
static bool make_cable(struct ibdm *t, const struct cable *c)
{
	struct ibdm_link link = { .line = c->line, .speed = c->speed };

	if (!check_type(t, c))
		return false;
	if (!c->port[0])
		return true;
	if (!find_port(t, c, 0, &link) || !find_port(t, c, 1, &link))
		return false;
	if (key_of(link.node[0], link.num[0]) == key_of(link.node[1], link.num[1]))
		return fail(t, c->line, "the port is linked to itself");
	for (size_t end = 0; end < 2; end++) {
		uint32_t had = map64_get(&t->taken, key_of(link.node[end], link.num[end]));

		if (had == MAP64_NONE)
			continue;
		if (is_same(&t->links.v[had], &link)) {
			t->links.v[had].speed = link.speed;
			return true;
		}
		return fail(t, c->line, "port %s of %s is linked by line %u already", c->port[end],
			    t->names.v.v[c->system[end]], t->links.v[had].line);
	}
	push_link(t, &link);
	return true;
}

/* --- the whole --- */

const struct ibdm_net *ibdm_build(struct ibdm *t)
{
	bool ok = true;

	if (t->report.n)
		return NULL;
	for (uint32_t i = 0; ok && i < t->systems.n; i++)
		ok = make_system(t, i);
	for (size_t i = 0; ok && i < t->cables.n; i++)
		make_cable(t, &t->cables.v[i]);
	t->net = (struct ibdm_net){ t->nodes.v, t->nodes.n, t->links.v, t->links.n };
	return t->report.n ? NULL : &t->net;
}

struct ibdm *ibdm_new(const struct ibdm_files *files, ibdm_error_fn *error, void *arg)
{
	struct ibdm *t = xcalloc(1, sizeof(*t));

	t->report = (struct ibdm_report){ .error = error, .arg = arg };
	t->library = ibdm_library_new(files, &t->report);
	t->system = MAP64_NONE;
	return t;
}

void ibdm_free(struct ibdm *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->systems.n; i++) {
		free(t->systems.v[i].type);
		free(t->systems.v[i].cfg);
	}
	for (size_t i = 0; i < t->cables.n; i++)
		for (size_t end = 0; end < 2; end++) {
			free(t->cables.v[i].type[end]);
			free(t->cables.v[i].port[end]);
		}
	for (size_t i = 0; i < t->shapes.n; i++)
		ibdm_free_system(&t->shapes.v[i]);
	for (size_t i = 0; i < t->nodes.n; i++)
		free(t->nodes.v[i].name);
	vec_free(&t->systems);
	vec_free(&t->cables);
	vec_free(&t->shapes);
	vec_free(&t->nodes);
	vec_free(&t->links);
	ibdm_free_names(&t->names);
	ibdm_free_names(&t->shape_names);
	map64_free(&t->taken);
	ibdm_library_free(t->library);
	free(t);
}
