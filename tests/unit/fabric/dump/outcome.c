/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "outcome.h"

#include <check.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unit/temp.h"

struct outcome load_file(const char *path)
{
	struct dump_source from = { .path = path };
	struct findings found = { 0 };
	struct outcome o = { .d = dump_read(&from, &found) };

	for (size_t i = 0; i < found.n; i++) {
		const struct finding *f = &found.v[i];
		struct buf *to = f->severity == SEV_ERROR ? &o.err : &o.warn;

		if (f->pos.line)
			buf_printf(to, "%s:%u: %s\n", f->file, f->pos.line, f->text);
		else
			buf_printf(to, "%s: %s\n", f->file, f->text);
	}
	findings_free(&found);
	return o;
}

struct outcome load_bytes(const char *bytes, size_t n)
{
	char *path = temp_file(bytes, n);
	struct outcome o = load_file(path);

	snprintf(o.path, sizeof(o.path), "%s", path);
	unlink(path);
	free(path);
	return o;
}

struct outcome load(const char *text)
{
	return load_bytes(text, strlen(text));
}

void outcome_free(struct outcome *o)
{
	dump_release(o->d);
	buf_free(&o->err);
	buf_free(&o->warn);
}

struct outcome good(struct outcome o)
{
	ck_assert_msg(o.d && !o.err.n, "refused: %s", o.err.s ? o.err.s : "without a reason");
	ck_assert_msg(!o.warn.n, "warned: %s", o.warn.s);
	check_sound(o.d);
	return o;
}

void refused(struct outcome o, ...)
{
	va_list ap;
	const char *text;

	ck_assert_ptr_null(o.d);
	ck_assert_uint_gt(o.err.n, 0);
	va_start(ap, o);
	while ((text = va_arg(ap, const char *)))
		ck_assert_msg(strstr(o.err.s, text), "\"%s\" is not in: %s", text, o.err.s);
	va_end(ap);
	outcome_free(&o);
}

void refused_at(const char *text, const char *want)
{
	struct outcome o = load(text);
	char where[512];

	snprintf(where, sizeof(where), "%s%s", o.path, want);
	refused(o, where, NULL);
}

/* --- looking at records --- */

uint32_t count_links(const struct dump *d)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < d->n_ports; i++)
		n += d->ports[i].peer != DUMP_NONE && d->ports[i].peer > i;
	return n;
}

/* Returns the fault of a port, or NULL. */
static const char *unsound(const struct dump *d, uint32_t i, struct map64 *guids)
{
	const struct dump_port *p = &d->ports[i], *q;
	const struct dump_node *n = &d->nodes.v[p->node];

	if (n->port0 + p->num != i || p->num > n->nports)
		return "is not where it should be";
	if ((n->type == DUMP_SWITCH) == !p->num &&
	    (!p->guid || map64_put(guids, p->guid, i) != MAP64_NONE))
		return "has no GUID of its own";
	if (p->peer == DUMP_NONE)
		return NULL;
	q = &d->ports[p->peer];
	if (q->peer != i || p->peer == i || p->num == 0)
		return "has a cable with one end";
	if (p->speed.lanes != q->speed.lanes || p->speed.rate != q->speed.rate)
		return "has another speed than its peer";
	return NULL;
}

/* One assertion for all ports, because each assertion sends a message to the parent process. */
void check_sound(const struct dump *d)
{
	struct map64 guids = { 0 };
	const char *what = NULL;
	uint32_t i;

	ck_assert_uint_gt(d->nodes.n, 0);
	for (i = 0; i < d->n_ports && !what; i++)
		what = unsound(d, i, &guids);
	ck_assert_msg(!what, "port %u %s", i - 1, what);
	map64_free(&guids);
}

const struct dump_node *node_of(const struct dump *d, const char *desc)
{
	for (uint32_t i = 0; i < d->nodes.n; i++)
		if (strcmp(d->nodes.v[i].desc, desc) == 0)
			return &d->nodes.v[i];
	ck_abort_msg("no node %s", desc);
}

const struct dump_port *port_of(const struct dump *d, const char *desc, unsigned num)
{
	const struct dump_node *n = node_of(d, desc);

	ck_assert_uint_le(num, n->nports);
	return &d->ports[n->port0 + num];
}

void connected(const struct dump *d, const char *a, unsigned num_a, const char *b, unsigned num_b)
{
	const struct dump_port *p = port_of(d, a, num_a), *q = port_of(d, b, num_b);

	ck_assert_msg(p->peer != DUMP_NONE && &d->ports[p->peer] == q, "%s/P%u to %s/P%u", a, num_a,
		      b, num_b);
}

void runs_at(const struct dump_port *p, const char *word)
{
	char name[CABLE_SPEED_MAX];

	ck_assert_str_eq(cable_speed_name(p->speed, name), word);
}
