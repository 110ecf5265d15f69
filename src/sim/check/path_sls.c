/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads the SLs that pairs use; see path_sls.h. */
#include "sim/check/path_sls.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "sim/net/wire.h"

#define SHOWN 40	/* characters of a bad line that an error quotes */

struct reading {
	struct path_sls *p;
	const struct sim_fabric *f;
	const char *name;
	unsigned line;
	uint32_t src;		/* source of the current lines; SIM_NONE before the first */
	struct buf *err;
};

/* The rest of a line. */
struct rest {
	const char *at, *end;
};

static bool fail(struct reading *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static bool fail(struct reading *r, const char *fmt, ...)
{
	va_list ap;

	buf_printf(r->err, "%s:%u: ", r->name, r->line);
	va_start(ap, fmt);
	buf_vprintf(r->err, fmt, ap);
	va_end(ap);
	return false;
}

static bool fail_at(struct reading *r, const struct rest *line, const char *what)
{
	size_t n = (size_t)(line->end - line->at);

	return fail(r, "'%.*s%s' %s", (int)(n < SHOWN ? n : SHOWN), line->at,
		    n > SHOWN ? "..." : "", what);
}

/* --- words of a line --- */

/* The text goes on behind a line with its newline, or ends with a NUL. */
static void skip_blanks(struct rest *l)
{
	l->at += strspn(l->at, " \t\r");
}

static bool take_word(struct rest *l, const char *word)
{
	size_t n = strlen(word);

	if ((size_t)(l->end - l->at) < n || memcmp(l->at, word, n) != 0)
		return false;
	l->at += n;
	return true;
}

/* False if there is no digit, or if the number does not fit in 64 bits. */
static bool take_number(struct rest *l, int base, uint64_t *v)
{
	char *end;

	/* neither a sign nor a second 0x */
	if (!(base == 16 ? isxdigit((unsigned char)*l->at) : isdigit((unsigned char)*l->at)) ||
	    l->at[1] == 'x' || l->at[1] == 'X')
		return false;
	errno = 0;
	*v = strtoull(l->at, &end, base);
	l->at = end;
	return !errno;
}

/* --- lines --- */

/*
 * Parses "Channel Adapter 0x0002c90300001001, base LID 3, "node001"" and ignores what follows the
 * GUID.
 */
static bool take_source(struct reading *r, struct rest l)
{
	static const char *const types[] = { "Channel Adapter", "Switch", "Router" };
	const struct rest line = l;
	bool known = false;
	uint64_t guid = 0;

	for (unsigned i = 0; i < ARRAY_SIZE(types) && !known; i++)
		known = take_word(&l, types[i]);
	skip_blanks(&l);
	if (!known || !take_word(&l, "0x") || !take_number(&l, 16, &guid) ||
	    (l.at < l.end && !strspn(l.at, ", \t\r")))
		return fail_at(r, &line,
			       "is neither a source, as 'Switch 0xGUID', nor '0xLID : SL'");
	r->src = map64_get(&r->f->port_by_guid, guid);
	if (r->src == SIM_NONE)
		return fail(r, "no end port has the GUID 0x%016llx", (unsigned long long)guid);
	if (!r->p->by_lid[r->src])
		r->p->by_lid[r->src] = xcalloc(r->p->lid_top + 1u, sizeof(uint16_t));
	return true;
}

static bool take_path(struct reading *r, struct rest l)
{
	const struct rest line = l;
	uint64_t lid = 0, sl = 0;
	bool good = take_word(&l, "0x") && take_number(&l, 16, &lid);

	skip_blanks(&l);
	good = good && take_word(&l, ":");
	skip_blanks(&l);
	good = good && take_number(&l, 10, &sl);
	skip_blanks(&l);
	if (!good || l.at < l.end)
		return fail_at(r, &line, "is not '0xLID : SL'");
	if (lid == 0 || lid >= SIM_LID_MCAST)
		return fail(r, "0x%llx is not a unicast LID", (unsigned long long)lid);
	if (sl > 15)
		return fail(r, "SL %llu is above 15", (unsigned long long)sl);
	if (r->src == SIM_NONE)
		return fail(r, "no source is named before this line");
	if (lid <= r->p->lid_top)
		r->p->by_lid[r->src][lid] |= 1u << sl;
	return true;
}

static bool take_line(struct reading *r, struct rest l)
{
	r->line++;
	skip_blanks(&l);
	if (l.at == l.end)
		return true;
	return *l.at == '0' ? take_path(r, l) : take_source(r, l);
}

static bool take_lines(struct reading *r, const char *text, size_t n)
{
	const char *end = text + n;

	while (text < end) {
		const char *eol = memchr(text, '\n', (size_t)(end - text));

		if (!take_line(r, (struct rest){ text, eol ? eol : end }))
			return false;
		text = eol ? eol + 1 : end;
	}
	r->line = r->line ? r->line : 1;
	return r->src != SIM_NONE || fail(r, "names no source");
}

static uint32_t highest_lid(const struct sim_fabric *f)
{
	uint32_t top = 0;

	for (uint32_t port = 0; port < f->n_ports; port++) {
		const struct sim_port *p = &f->ports[port];
		uint32_t last = p->lid + (1u << (p->lmc & 7)) - 1;

		if (is_end_port(f, port) && last < SIM_LID_MCAST && last > top)
			top = last;
	}
	return top;
}

bool path_sls_read(struct path_sls *p, const struct sim_fabric *f, const char *name,
		   const char *text, size_t n, struct buf *err)
{
	struct reading r = { .p = p, .f = f, .name = name, .src = SIM_NONE, .err = err };

	*p = (struct path_sls){ .n_ports = f->n_ports, .lid_top = highest_lid(f) };
	p->by_lid = xcalloc(f->n_ports + 1u, sizeof(*p->by_lid));
	if (take_lines(&r, text, n))
		return true;
	path_sls_free(p);
	return false;
}

void path_sls_free(struct path_sls *p)
{
	for (uint32_t port = 0; p->by_lid && port < p->n_ports; port++)
		free(p->by_lid[port]);
	free(p->by_lid);
	*p = (struct path_sls){ 0 };
}
