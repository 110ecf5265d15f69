/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See withdrawals.h.  The list is short: entries are searched by halving, and moved one by one. */
#include "sm/devices/withdrawals.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/clean.h"

static const char *const kinds[WITHDRAWAL_KINDS] = {
	[WITHDRAWAL_DRAINED] = "drained", [WITHDRAWAL_ISOLATED] = "isolated",
};

const char *withdrawal_kind_name(enum withdrawal_kind k)
{
	return kinds[k];
}

const char *withdrawal_id(const struct withdrawal *x, char out[WITHDRAWAL_ID_MAX])
{
	int n = snprintf(out, WITHDRAWAL_ID_MAX, "0x%016" PRIx64, x->guid);

	if (x->port)
		snprintf(out + n, WITHDRAWAL_ID_MAX - (size_t)n, "/P%u", x->port);
	return out;
}

struct withdrawals *withdrawals_new(void)
{
	return xcalloc(1, sizeof(struct withdrawals));
}

struct withdrawals *withdrawals_copy(const struct withdrawals *w)
{
	struct withdrawals *copy = withdrawals_new();

	for (size_t i = 0; i < w->v.n; i++)
		*vec_push(&copy->v) = w->v.v[i];
	return copy;
}

void withdrawals_free(struct withdrawals *w)
{
	if (!w)
		return;
	vec_free(&w->v);
	free(w);
}

/* The index of the first entry that is not before the place. */
static size_t place_of(const struct withdrawals *w, uint64_t guid, unsigned port)
{
	size_t lo = 0, hi = w->v.n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		const struct withdrawal *x = &w->v.v[mid];

		if (x->guid < guid || (x->guid == guid && x->port < port))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static bool is_at(const struct withdrawals *w, size_t i, uint64_t guid, unsigned port)
{
	return i < w->v.n && w->v.v[i].guid == guid && w->v.v[i].port == port;
}

const struct withdrawal *withdrawals_find(const struct withdrawals *w, uint64_t guid, unsigned port)
{
	size_t i = place_of(w, guid, port);

	return is_at(w, i, guid, port) ? &w->v.v[i] : NULL;
}

bool withdrawals_put(struct withdrawals *w, const struct withdrawal *x)
{
	size_t i = place_of(w, x->guid, x->port);

	if (!is_at(w, i, x->guid, x->port)) {
		if (w->v.n == WITHDRAWALS_MAX)
			return false;
		(void)vec_push(&w->v);
		memmove(&w->v.v[i + 1], &w->v.v[i], (w->v.n - 1 - i) * sizeof(*w->v.v));
	}
	w->v.v[i] = *x;
	clean_text(w->v.v[i].name);
	clean_text(w->v.v[i].reason);
	clean_text(w->v.v[i].behalf);
	return true;
}

bool withdrawals_remove(struct withdrawals *w, uint64_t guid, unsigned port)
{
	size_t i = place_of(w, guid, port);

	if (!is_at(w, i, guid, port))
		return false;
	memmove(&w->v.v[i], &w->v.v[i + 1], (--w->v.n - i) * sizeof(*w->v.v));
	return true;
}

size_t withdrawals_count(const struct withdrawals *w, enum withdrawal_kind k)
{
	size_t n = 0;

	for (size_t i = 0; i < w->v.n; i++)
		n += w->v.v[i].kind == k;
	return n;
}

/* --- lines --- */

void withdrawals_print(const struct withdrawals *w, struct buf *out)
{
	for (size_t i = 0; i < w->v.n; i++) {
		const struct withdrawal *x = &w->v.v[i];

		buf_printf(out, "%s 0x%016" PRIx64 " %u %" PRId64 " %" PRId64 "\t%s\t%s%s%s\n", kinds[x->kind],
			   x->guid, x->port, x->uid, x->since_s, x->name, x->reason, *x->behalf ? "\t" : "", x->behalf);
	}
}

/* Takes a text that ends with a tab or with the line, and sets *from behind it; NULL: at the end. */
static bool take_text(char *to, size_t size, const char **from)
{
	size_t n = strcspn(*from, "\t");

	if (n >= size)
		return false;
	memcpy(to, *from, n);
	to[n] = '\0';
	*from = (*from)[n] ? *from + n + 1 : NULL;
	return true;
}

/* "NAME\tREASON", and in format 2 "\tBEHALF" where somebody is named. */
static bool take_texts(struct withdrawal *x, const char *text)
{
	return take_text(x->name, sizeof(x->name), &text) && text &&
	       take_text(x->reason, sizeof(x->reason), &text) &&
	       (!text || (take_text(x->behalf, sizeof(x->behalf), &text) && *x->behalf && !text));
}

bool withdrawals_line(void *arg, const char *line)
{
	struct withdrawals *w = arg;
	struct withdrawal x = { 0 };
	char kind[16];
	unsigned port;
	int end = 0;

	if (sscanf(line, "%15s 0x%16" SCNx64 " %u %" SCNd64 " %" SCNd64 "%n", kind, &x.guid, &port, &x.uid,
		   &x.since_s, &end) != 5 || line[end] != '\t')
		return false;
	while (x.kind < WITHDRAWAL_KINDS && strcmp(kinds[x.kind], kind))
		x.kind++;
	if (x.kind == WITHDRAWAL_KINDS || !x.guid || port > 254 || x.uid < WITHDRAWN_BY_RULE || x.since_s < 0 ||
	    !take_texts(&x, line + end + 1) || withdrawals_find(w, x.guid, port))
		return false;
	x.port = (uint8_t)port;
	return withdrawals_put(w, &x);
}

/* --- on a fabric --- */

struct withdrawal_place withdrawal_place(const struct withdrawal *x, const struct fabric *f)
{
	uint32_t node = map64_get(&f->node_by_guid, x->guid);
	const struct fabric_node *n;

	if (node == MAP64_NONE || x->port > f->nodes[node].nports)
		return (struct withdrawal_place){ FABRIC_NONE, 1, 0 };
	n = &f->nodes[node];
	return (struct withdrawal_place){ node, n->port0 + (x->port ? x->port : 1),
					  n->port0 + (x->port ? x->port : n->nports) };
}

static uint32_t hosts_at(const struct fabric *f, uint32_t node)
{
	const struct fabric_node *n = &f->nodes[node];
	uint32_t hosts = 0;

	for (uint32_t i = n->port0 + 1; i <= n->port0 + n->nports; i++)
		hosts += f->ports[i].peer != FABRIC_NONE && port_is_host(f, f->ports[i].peer);
	return hosts;
}

bool withdrawals_next_drained(const struct withdrawals *w, const struct fabric *f, size_t *entry,
			      uint32_t *next, struct drained *out)
{
	for (; *entry < w->v.n; ++*entry, *next = 0) {
		const struct withdrawal *x = &w->v.v[*entry];
		struct withdrawal_place at = withdrawal_place(x, f);

		for (uint32_t i = at.first + *next; x->kind == WITHDRAWAL_DRAINED && at.node != FABRIC_NONE &&
						    i <= at.last; i++) {
			if (!link_joins_switches(f, i))
				continue;
			*next = i + 1 - at.first;
			*out = (struct drained){ i, !x->port, !x->port && hosts_at(f, at.node) };
			return true;
		}
	}
	return false;
}

/* Routes of others use the link of this port, which a drain covers. */
static bool is_used(const struct fabric *f, uint32_t port, bool whole)
{
	const struct fabric_port *p = &f->ports[port];

	return !(whole && f->ports[p->peer].drained == DRAINED_AWAY) && !p->held;
}

struct drain_left withdrawal_left(const struct withdrawal *x, const struct fabric *f)
{
	struct withdrawal_place at = withdrawal_place(x, f);
	struct drain_left left = { 0 };

	if (at.node == FABRIC_NONE)
		return left;
	for (uint32_t i = at.first; i <= at.last; i++)
		if (link_joins_switches(f, i)) {
			left.links++;
			left.used += is_used(f, i, !x->port);
		}
	if (!x->port && node_is_switch(&f->nodes[at.node]))
		left.hosts = hosts_at(f, at.node);
	left.done = !left.hosts && !left.used;
	return left;
}
