/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Expands a system into nodes and links.  It first builds the tree of parts, replacing each board
 * by its parts; CFG selects the variant of a board, or removes it.  Then it follows each link at
 * both ends through connectors down to ports of nodes.
 *
 * A connector that the chosen variant of a board lacks leads nowhere, and links to it are dropped:
 * a system lists the plugs of all its variants.
 */
#include "fabric/ibdm/ibnl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 16
#define STEPS_MAX 4000000	/* parts and links; a chassis of 648 ports has some 4,000 */

/* A part at its place in the tree.  The parts of a board are consecutive. */
struct piece {
	const struct ibnl_board *board;	/* NULL: a node, or a removed board */
	uint32_t pieces;		/* index of the board's first piece */
	uint32_t node;			/* MAP64_NONE: not a node */
};

struct expansion {
	const struct ibnl *f;
	struct ibdm_system *out;
	struct ibdm_report *report;
	struct ibdm_names changed;	/* paths of the parts that CFG changes, */
	VEC(char *) variants;		/* their new variants, */
	VEC(bool) used;			/* and whether such a part exists */
	uint32_t cfg_line;
	VEC(struct piece) pieces;
	struct map64 taken;		/* node << 8 | port -> link */
	unsigned steps;
};

static bool step(struct expansion *x, uint32_t line)
{
	if (x->steps++ < STEPS_MAX)
		return true;
	return ibdm_fail(x->report, x->f->path, line, "the system has too many parts");
}

/* --- CFG: which boards are there --- */

static bool add_change(struct expansion *x, char *word)
{
	char *sign = strchr(word, '=');

	if (!sign || sign == word || !sign[1])
		return ibdm_fail(x->report, NULL, x->cfg_line,
				 "CFG: has boards and their variants, as in leaf1=R, not '%s'",
				 word);
	*sign = '\0';
	if (ibdm_add_name(&x->changed, word) == MAP64_NONE)
		return ibdm_fail(x->report, NULL, x->cfg_line, "CFG: names board %s twice", word);
	*vec_push(&x->variants) = xstrdup(sign + 1);
	*vec_push(&x->used) = false;
	return true;
}

static bool parse_cfg(struct expansion *x, const char *cfg)
{
	bool ok = true;

	while (ok && *(cfg += strspn(cfg, ", \t\r"))) {
		size_t n = strcspn(cfg, ", \t\r");
		char *word = xstrndup(cfg, n);

		ok = add_change(x, word);
		free(word);
		cfg += n;
	}
	return ok;
}

static bool check_used(struct expansion *x, const char *type_name)
{
	for (size_t i = 0; i < x->used.n; i++)
		if (!x->used.v[i])
			return ibdm_fail(x->report, NULL, x->cfg_line,
					 "system type %s has no board %s", type_name,
					 x->changed.v.v[i]);
	return true;
}

/* --- the tree of parts --- */

/* Finds the board that a part stands for; *board is NULL if CFG removed it. */
static bool find_board(struct expansion *x, const struct ibnl_part *part, const char *path,
		       const struct ibnl_board **board)
{
	uint32_t change = ibdm_find_name(&x->changed, path), i;
	const char *variant = change == MAP64_NONE ? NULL : x->variants.v[change];
	char *name;

	*board = NULL;
	if (variant)
		x->used.v[change] = true;
	if (variant && (!strcmp(variant, "R") || !strcmp(variant, "X") ||
			!strcmp(variant, "Removed")))
		return true;
	name = variant ? xasprintf("%s:%s", part->board, variant) : xstrdup(part->board);
	i = ibdm_find_name(&x->f->board_names, name);
	if (i != MAP64_NONE)
		*board = &x->f->boards.v[x->f->board_of_name.v[i]];
	else if (variant)
		ibdm_fail(x->report, NULL, x->cfg_line, "there is no variant %s of board %s, which "
			  "%s is", variant, part->board, path);
	else
		ibdm_fail(x->report, x->f->path, part->line, "there is no board %s", name);
	free(name);
	return *board;
}

static bool add_node(struct expansion *x, const struct ibnl_part *part, const char *path,
		     uint32_t *node)
{
	*node = ibdm_add_name(&x->out->node_names, path);
	if (*node == MAP64_NONE)
		return ibdm_fail(x->report, x->f->path, part->line, "there are two nodes %s", path);
	if (*node == IBDM_NODES_MAX)
		return ibdm_fail(x->report, x->f->path, part->line,
				 "the system has more than %d nodes", IBDM_NODES_MAX);
	*vec_push(&x->out->nodes) = (struct ibdm_node){
		.device = part->device, .nports = part->nports, .is_switch = part->is_switch,
	};
	return true;
}

static bool place_parts(struct expansion *x, const struct ibnl_board *b, const char *prefix,
			unsigned depth, uint32_t *first);

static bool place_part(struct expansion *x, const struct ibnl_part *part, const char *path,
		       unsigned depth, struct piece *piece)
{
	*piece = (struct piece){ .node = MAP64_NONE };
	if (!step(x, part->line))
		return false;
	if (!part->board)
		return add_node(x, part, path, &piece->node);
	if (depth == DEPTH_MAX)
		return ibdm_fail(x->report, x->f->path, part->line,
				 "more than %d boards within each other", DEPTH_MAX);
	if (!find_board(x, part, path, &piece->board))
		return false;
	if (!piece->board)
		return true;

	char *prefix = xasprintf("%s/", path);
	bool ok = place_parts(x, piece->board, prefix, depth + 1, &piece->pieces);

	free(prefix);
	return ok;
}

static bool place_parts(struct expansion *x, const struct ibnl_board *b, const char *prefix,
			unsigned depth, uint32_t *first)
{
	bool ok = true;

	*first = (uint32_t)x->pieces.n;
	for (size_t i = 0; i < b->parts.n; i++)
		*vec_push(&x->pieces) = (struct piece){ .node = MAP64_NONE };
	for (uint32_t i = 0; ok && i < b->parts.n; i++) {
		char *path = xasprintf("%s%s", prefix, b->part_names.v.v[i]);
		struct piece piece;

		ok = place_part(x, &b->parts.v[i], path, depth, &piece);
		x->pieces.v[*first + i] = piece;	/* place_part() may have moved pieces */
		free(path);
	}
	return ok;
}

/* --- links --- */

enum followed { FOLLOWED, NOWHERE, BROKEN };

/* Follows a part's port through connectors to the port of a node. */
static enum followed follow(struct expansion *x, const struct piece *piece, const char *port,
			    uint32_t line, struct ibdm_place *to)
{
	while (piece->node == MAP64_NONE) {
		const struct ibnl_board *b = piece->board;
		uint32_t c = b ? ibdm_find_name(&b->connector_names, port) : MAP64_NONE;

		if (!step(x, line))
			return BROKEN;
		if (c == MAP64_NONE)
			return NOWHERE;
		port = b->parts.v[b->connectors.v[c].part].links.v[b->connectors.v[c].link].port;
		piece = &x->pieces.v[piece->pieces + b->connectors.v[c].part];
	}
	to->node = piece->node;
	to->num = ibdm_port_number(port, x->out->nodes.v[piece->node].nports);
	if (to->num)
		return FOLLOWED;
	ibdm_fail(x->report, x->f->path, line, "%s has no port %s, only 1 to %u",
		  x->out->node_names.v.v[piece->node], port, x->out->nodes.v[piece->node].nports);
	return BROKEN;
}

static uint64_t key_of(struct ibdm_place p)
{
	return (uint64_t)p.node << 8 | p.num;
}

static bool is_link(const struct ibdm_inner_link *l, struct ibdm_place a, struct ibdm_place b)
{
	uint64_t x = key_of(l->end[0]), y = key_of(l->end[1]);

	return (x == key_of(a) && y == key_of(b)) || (x == key_of(b) && y == key_of(a));
}

/* A link that is also listed at its other end is the same link. */
static bool add_link(struct expansion *x, const struct ibnl_link *l, struct ibdm_place a,
		     struct ibdm_place b)
{
	struct ibdm_place ends[] = { a, b };
	uint32_t index = (uint32_t)x->out->links.n;

	if (key_of(a) == key_of(b))
		return ibdm_fail(x->report, x->f->path, l->line, "the port leads to itself");
	for (size_t i = 0; i < 2; i++) {
		uint32_t had = map64_get(&x->taken, key_of(ends[i]));

		if (had == MAP64_NONE)
			continue;
		if (is_link(&x->out->links.v[had], a, b))
			return true;
		return ibdm_fail(x->report, x->f->path, l->line, "port %u of %s leads elsewhere "
				 "already", ends[i].num,
				 x->out->node_names.v.v[ends[i].node]);
	}
	map64_put(&x->taken, key_of(a), index);
	map64_put(&x->taken, key_of(b), index);
	*vec_push(&x->out->links) = (struct ibdm_inner_link){ { a, b }, l->speed };
	return true;
}

static bool connect_link(struct expansion *x, const struct ibnl_board *b, uint32_t first,
			 uint32_t part, const struct ibnl_link *l)
{
	struct ibdm_place near = { 0 }, far = { 0 };
	uint32_t other = ibdm_find_name(&b->part_names, l->part);
	enum followed at;

	if (!step(x, l->line))
		return false;
	if (other == MAP64_NONE)
		return ibdm_fail(x->report, x->f->path, l->line, "there is no part %s on this board",
				 l->part);
	at = follow(x, &x->pieces.v[first + part], l->port, l->line, &near);
	if (at == FOLLOWED)
		at = follow(x, &x->pieces.v[first + other], l->far, l->line, &far);
	return at == NOWHERE || (at == FOLLOWED && add_link(x, l, near, far));
}

/* Adds the links of a board, and of the boards on it. */
static bool connect_parts(struct expansion *x, const struct ibnl_board *b, uint32_t first)
{
	for (uint32_t i = 0; i < b->parts.n; i++) {
		const struct piece *piece = &x->pieces.v[first + i];

		for (size_t k = 0; k < b->parts.v[i].links.n; k++)
			if (b->parts.v[i].links.v[k].part &&
			    !connect_link(x, b, first, i, &b->parts.v[i].links.v[k]))
				return false;
		if (piece->board && !connect_parts(x, piece->board, piece->pieces))
			return false;
	}
	return true;
}

static bool add_ports(struct expansion *x, const struct ibnl_board *top, uint32_t first)
{
	for (uint32_t i = 0; i < top->connectors.n; i++) {
		const struct ibnl_connector *c = &top->connectors.v[i];
		const struct ibnl_link *l = &top->parts.v[c->part].links.v[c->link];
		struct ibdm_place place;
		enum followed at = follow(x, &x->pieces.v[first + c->part], l->port, l->line,
					  &place);

		if (at == BROKEN)
			return false;
		if (at == NOWHERE)
			continue;
		ibdm_add_name(&x->out->port_names, l->far);
		*vec_push(&x->out->ports) = place;
	}
	return true;
}

/* --- systems --- */

static void expand_known(const struct ibdm_type *type, struct ibdm_system *out)
{
	char port[8];

	ibdm_add_name(&out->node_names, "U1");
	*vec_push(&out->nodes) = (struct ibdm_node){
		.device = type->device, .nports = type->nports, .is_switch = type->is_switch,
	};
	for (uint8_t i = 1; i <= type->nports; i++) {
		snprintf(port, sizeof(port), "P%u", i);
		ibdm_add_name(&out->port_names, port);
		*vec_push(&out->ports) = (struct ibdm_place){ 0, i };
	}
	out->single = true;
}

static bool expand_file(struct expansion *x)
{
	const struct ibnl_board *top = &x->f->boards.v[x->f->boards.n - 1];
	uint32_t first;

	x->out->single = top->parts.n == 1 && !top->parts.v[0].board;
	return place_parts(x, top, "", 0, &first) && connect_parts(x, top, first) &&
	       add_ports(x, top, first);
}

bool ibdm_expand(const struct ibdm_type *type, const char *type_name, const char *cfg,
		 uint32_t line, struct ibdm_system *out, struct ibdm_report *report)
{
	struct expansion x = {
		.f = type->ibnl, .out = out, .report = report, .cfg_line = line,
	};
	bool ok = parse_cfg(&x, cfg);

	*out = (struct ibdm_system){ 0 };
	if (ok && type->ibnl)
		ok = expand_file(&x);
	else if (ok)
		expand_known(type, out);
	ok = ok && check_used(&x, type_name);
	for (size_t i = 0; i < x.variants.n; i++)
		free(x.variants.v[i]);
	vec_free(&x.variants);
	vec_free(&x.used);
	vec_free(&x.pieces);
	ibdm_free_names(&x.changed);
	map64_free(&x.taken);
	return ok;
}

void ibdm_free_system(struct ibdm_system *s)
{
	vec_free(&s->nodes);
	vec_free(&s->links);
	vec_free(&s->ports);
	ibdm_free_names(&s->node_names);
	ibdm_free_names(&s->port_names);
}
