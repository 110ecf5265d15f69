/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Parses an IBNL file into boards, their parts, and what each port leads to.  It follows ibdm's own
 * parser, but treats a duplicate name, port or connector, which that parser ignores, as an error.
 */
#include "fabric/ibdm/ibnl.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct parser {
	struct ibnl *f;
	struct ibdm_report *report;
	uint32_t line;
	bool top;			/* the board being read is the system */
};

#define fail(p, ...) ibdm_fail((p)->report, (p)->f->path, (p)->line, __VA_ARGS__)

static struct ibnl_board *last_board(const struct parser *p)
{
	return p->f->boards.n ? &p->f->boards.v[p->f->boards.n - 1] : NULL;
}

/* Splits the line into words; true if there are exactly n. */
static bool split(const char *s, char **words, size_t n)
{
	size_t i = 0;
	char *more = NULL;
	bool ok;

	while (i < n && ibdm_take_word(&s, &words[i]))
		i++;
	ok = i == n && !ibdm_take_word(&s, &more);
	free(more);
	for (; !ok && i; i--)
		free(words[i - 1]);
	return ok;
}

static void free_words(char **words, size_t n)
{
	while (n)
		free(words[--n]);
}

/* --- boards --- */

static bool name_board(struct parser *p, const char *name)
{
	if (p->top)
		return true;
	if (ibdm_add_name(&p->f->board_names, name) == MAP64_NONE)
		return fail(p, "there are two boards \"%s\"", name);
	*vec_push(&p->f->board_of_name) = (uint32_t)p->f->boards.n - 1;
	return true;
}

/* Reads "LEAF,LEAF:4x": calls found with each name, and returns how many there are. */
static size_t each_name(const char *s, void (*found)(void *arg, const char *name), void *arg)
{
	size_t count = 0;

	while (*(s += strspn(s, ", \t\r"))) {
		size_t n = strcspn(s, ", \t\r");
		char *name = xstrndup(s, n);

		found(arg, name);
		free(name);
		s += n;
		count++;
	}
	return count;
}

static void found_board_name(void *arg, const char *name)
{
	name_board(arg, name);
}

static bool begin_board(struct parser *p, const char *names, bool top)
{
	unsigned errors = p->report->n;

	if (p->top)
		return fail(p, "nothing follows the parts of TOPSYSTEM");
	p->top = top;
	*vec_push(&p->f->boards) = (struct ibnl_board){ .line = p->line };
	if (!each_name(names, found_board_name, p))
		return fail(p, "a name is missing");
	return p->report->n == errors;
}

/* --- parts --- */

static bool add_part(struct parser *p, const char *name, const struct ibnl_part *part)
{
	struct ibnl_board *b = last_board(p);

	if (ibdm_add_name(&b->part_names, name) == MAP64_NONE)
		return fail(p, "there are two parts \"%s\" on this board", name);
	*vec_push(&b->parts) = *part;
	return true;
}

/* ibdm names devices after their device ids: MT47396 is 0xb924. */
static uint16_t device_of(const char *name)
{
	const char *digits = name[0] != 'M' ? "" : name[1] == 'T' ? name + 2 : name + 1;
	char *end;
	unsigned long v = isdigit((unsigned char)*digits) ? strtoul(digits, &end, 10) : 0;

	return v && !*end && v <= 0xffff ? (uint16_t)v : 0;
}

/* "NODE SW 24 MT47396 U1" */
static bool read_node(struct parser *p, const char *rest)
{
	char *w[4];
	struct ibnl_part part = { .line = p->line };
	bool ok;

	if (!split(rest, w, 4))
		return fail(p, "a node has a type, a number of ports, a device and a name");
	part.nports = ibdm_port_number(w[1], 254);
	part.device = device_of(w[2]);
	part.is_switch = !strcmp(w[0], "SW");
	if (!part.is_switch && strcmp(w[0], "CA") && strcmp(w[0], "HCA"))
		ok = fail(p, "unknown type of node '%s'", w[0]);
	else if (!part.nports)
		ok = fail(p, "a node has 1 to 254 ports, not %s", w[1]);
	else
		ok = add_part(p, w[3], &part);
	free_words(w, 4);
	return ok;
}

/* "SUBSYSTEM LEAF leaf1" */
static bool read_subsystem(struct parser *p, const char *rest)
{
	char *w[2];
	struct ibnl_part part = { .line = p->line };
	bool ok;

	if (!split(rest, w, 2))
		return fail(p, "a part that is a board has a type and a name");
	part.board = xstrdup(w[0]);
	ok = add_part(p, w[1], &part);
	if (!ok)
		free(part.board);
	free_words(w, 2);
	return ok;
}

/* --- links --- */

static void free_link(struct ibnl_link *l)
{
	free(l->port);
	free(l->part);
	free(l->far);
}

static bool is_number_of_port(struct parser *p, const struct ibnl_part *part, const char *port)
{
	if (part->board || ibdm_port_number(port, part->nports))
		return true;
	return fail(p, "port %s of a node with %u ports", port, part->nports);
}

/* Takes ownership of link's members. */
static bool add_link(struct parser *p, struct ibnl_link *link)
{
	struct ibnl_board *b = last_board(p);
	uint32_t part = (uint32_t)b->parts.n - 1;
	struct ibnl_connector c = { part, (uint32_t)b->parts.v[part].links.n };
	bool ok = is_number_of_port(p, &b->parts.v[part], link->port);

	if (ok && !link->part && ibdm_add_name(&b->connector_names, link->far) == MAP64_NONE)
		ok = fail(p, "there are two connectors \"%s\" on this board", link->far);
	if (!ok) {
		free_link(link);
		return false;
	}
	if (!link->part)
		*vec_push(&b->connectors) = c;
	*vec_push(&b->parts.v[part].links) = *link;
	return true;
}

/* Splits "PORT -4x-5G-" into port and speed; a node's port need not be separated from the speed. */
static bool parse_near(const struct ibnl_part *part, const char *s, size_t n,
		       struct ibnl_link *link)
{
	size_t port = part->board ? strcspn(s, " \t") : strspn(s, "0123456789");
	char *speed;
	size_t len = 0;
	bool ok;

	if (!port || port >= n)
		return false;
	speed = xcalloc(n + 1, 1);
	for (size_t i = port; i < n; i++)
		if (!strchr(" \t", s[i]))
			speed[len++] = s[i];
	ok = ibdm_parse_speed(speed, len, &link->speed);
	free(speed);
	if (ok)
		link->port = xstrndup(s, port);
	return ok;
}

/* "P1 -4x-5G-> spine2 P1", or "P1 -> L1/P1" to a connector */
static bool read_link(struct parser *p, const char *s, const char *arrow)
{
	const struct ibnl_board *b = last_board(p);
	const char *rest = arrow + 1;
	struct ibnl_link link = { .line = p->line };
	char *first = NULL, *second = NULL, *more = NULL;

	if (!b || !b->parts.n)
		return fail(p, "a port without a part that it is of");
	if (!parse_near(&b->parts.v[b->parts.n - 1], s, (size_t)(arrow - s), &link))
		return fail(p, "not a port, and a width and speed as in -4x-5G->");
	if (!ibdm_take_word(&rest, &first) ||
	    (ibdm_take_word(&rest, &second) && ibdm_take_word(&rest, &more))) {
		free(first);
		free(second);
		free(more);
		free_link(&link);
		return fail(p, "a port leads to a connector, or to a part and its port");
	}
	link.part = second ? first : NULL;
	link.far = second ? second : first;
	return add_link(p, &link);
}

/* --- lines --- */

/* Matches a whole word, or a keyword with a colon; moves *s past it. */
static bool is_word(const char **s, const char *word)
{
	size_t n = strlen(word);

	if (strncmp(*s, word, n) || (word[n - 1] != ':' && !isspace((unsigned char)(*s)[n])))
		return false;
	*s += n;
	return true;
}

static bool read_line(struct parser *p, const char *s)
{
	const char *arrow = strchr(s, '>');

	s += strspn(s, " \t");
	if (!*s || *s == '#')
		return true;
	if (is_word(&s, "SYSTEM"))
		return begin_board(p, s, false);
	if (is_word(&s, "TOPSYSTEM"))
		return begin_board(p, s, true);
	if (!p->f->boards.n)
		return fail(p, "SYSTEM or TOPSYSTEM is expected before all else");
	if (is_word(&s, "NODE"))
		return read_node(p, s);
	if (is_word(&s, "SUBSYSTEM"))
		return read_subsystem(p, s);
	if (arrow)
		return read_link(p, s, arrow);
	if (is_word(&s, "CFG:"))	/* follows SUBSYSTEM: ibdm reads it, and ignores it */
		return true;
	/* "spine1/U1=…": node attributes, which do not affect links. */
	if (p->top && !last_board(p)->parts.n && strchr(s, '='))
		return true;
	return fail(p, "neither a part nor what a port of one leads to: '%.24s'", s);
}

/* The next line, trimmed and ended in place; NULL at the end. */
static char *next_line(char **at, char *end)
{
	char *line = *at, *stop;

	if (line == end)
		return NULL;
	stop = memchr(line, '\n', (size_t)(end - line));
	*at = stop ? stop + 1 : end;
	if (!stop)
		stop = end;
	while (stop > line && isspace((unsigned char)stop[-1]))
		stop--;
	*stop = '\0';
	return line;
}

bool ibnl_parse(struct ibnl *f, struct buf *text, struct ibdm_report *report)
{
	struct parser p = { .f = f, .report = report };
	char *at = text->s, *line;

	if (text->n && memchr(text->s, '\0', text->n))
		return fail(&p, "a NUL byte: not a text file");
	while (text->n && (line = next_line(&at, text->s + text->n))) {
		p.line++;
		if (!read_line(&p, line))
			return false;
	}
	return p.top || fail(&p, "there is no TOPSYSTEM");
}

void ibnl_list_systems(const struct buf *text, void (*found)(void *arg, const char *name),
		       void *arg)
{
	const char *s = text->n ? text->s : "", *end = s + text->n;

	while (s < end) {
		const char *stop = memchr(s, '\n', (size_t)(end - s));
		char *line = xstrndup(s, (size_t)((stop ? stop : end) - s));
		const char *names = line + strspn(line, " \t");

		if (is_word(&names, "TOPSYSTEM"))
			each_name(names, found, arg);
		free(line);
		s = stop ? stop + 1 : end;
	}
}

/* --- the end --- */

static void free_board(struct ibnl_board *b)
{
	for (size_t i = 0; i < b->parts.n; i++) {
		for (size_t k = 0; k < b->parts.v[i].links.n; k++)
			free_link(&b->parts.v[i].links.v[k]);
		vec_free(&b->parts.v[i].links);
		free(b->parts.v[i].board);
	}
	vec_free(&b->parts);
	vec_free(&b->connectors);
	ibdm_free_names(&b->part_names);
	ibdm_free_names(&b->connector_names);
}

void ibnl_free(struct ibnl *f)
{
	for (size_t i = 0; i < f->boards.n; i++)
		free_board(&f->boards.v[i]);
	vec_free(&f->boards);
	vec_free(&f->board_of_name);
	ibdm_free_names(&f->board_names);
	free(f->path);
	*f = (struct ibnl){ 0 };
}
