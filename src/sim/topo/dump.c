/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the parts of the dump reader share: messages with their place, and names. */
#include "sim/topo/dump.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add_message(const struct dump *d, struct buf *to, unsigned n, struct dump_pos pos,
			const char *fmt, va_list ap)
{
	if (n > DUMP_ERRORS_MAX)
		return;
	if (pos.line)
		buf_printf(to, "%s:%u: ", d->files.v[pos.file], pos.line);
	else
		buf_printf(to, "%s: ", d->files.v[pos.file]);
	if (n == DUMP_ERRORS_MAX)
		buf_puts(to, "more like these");
	else
		buf_vprintf(to, fmt, ap);
	buf_puts(to, "\n");
}

void dump_error(struct dump *d, struct dump_pos pos, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add_message(d, d->err, d->n_err++, pos, fmt, ap);
	va_end(ap);
}

void dump_warn(struct dump *d, struct dump_pos pos, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add_message(d, d->warn, d->n_warn++, pos, fmt, ap);
	va_end(ap);
}

const char *dump_place(const struct dump *d, struct dump_pos pos, struct dump_pos from,
		       char *out, size_t n)
{
	if (pos.file == from.file)
		snprintf(out, n, "line %u", pos.line);
	else
		snprintf(out, n, "%s:%u", d->files.v[pos.file], pos.line);
	return out;
}

uint32_t dump_name(struct dump *d, const char *text, size_t n)
{
	uint64_t hash = hash_bytes(text, n, 0);
	uint32_t first = map64_get(&d->name_by_hash, hash);
	struct dump_name *name;

	for (uint32_t i = first; i != MAP64_NONE; i = d->names.v[i].next)
		if (strncmp(d->names.v[i].text, text, n) == 0 && !d->names.v[i].text[n])
			return i;
	name = vec_push(&d->names);
	*name = (struct dump_name){ xstrndup(text, n), SIM_NONE, 0, first };
	map64_put(&d->name_by_hash, hash, d->names.n - 1);
	return d->names.n - 1;
}

static void dump_free(struct dump *d)
{
	for (size_t i = 0; i < d->files.n; i++)
		free(d->files.v[i]);
	for (size_t i = 0; i < d->names.n; i++)
		free(d->names.v[i].text);
	vec_free(&d->files);
	vec_free(&d->nodes);
	vec_free(&d->ports);
	vec_free(&d->names);
	map64_free(&d->name_by_hash);
	map64_free(&d->node_by_guid);
}

bool topo_load_systems(const char *path, const char *ibnl, struct sim_fabric *f, struct buf *err,
		       struct buf *warn)
{
	struct dump d = { .ibnl = ibnl, .err = err, .warn = warn };
	bool ok;

	map64_init(&d.name_by_hash, 64);
	map64_init(&d.node_by_guid, 64);
	dump_read(&d, path);
	ok = !d.n_err && dump_build(&d, f);
	dump_free(&d);
	return ok;
}

bool topo_load(const char *path, struct sim_fabric *f, struct buf *err, struct buf *warn)
{
	return topo_load_systems(path, NULL, f, err, warn);
}
