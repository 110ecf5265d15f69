/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Remembers what isolated switches hold; see isolated_tables.h. */
#include "sm/devices/isolated_tables.h"

#include <infiniband/umad_sm.h>

#include "plan/routes/base_routes.h"

struct digest {
	const struct plan *p;
	uint32_t node;
	bool routes;		/* of the forwarding table, not of the others */
	uint64_t sum;
};

static void add_item(void *arg, item_t item)
{
	struct digest *d = arg;
	enum item_kind kind = ITEM_KIND(item);
	struct item_want want;

	if (kind == ITEM_PKEY || (kind == ITEM_LFT) != d->routes)
		return;
	want_item(d->p, d->node, item, &want);
	d->sum = hash64(hash_bytes(want.data, want.len, d->sum) ^ item);
}

/* Not MAP64_NONE. */
static uint32_t digest_of(const struct plan *p, uint32_t node, bool routes)
{
	struct digest d = { p, node, routes, 1 };
	uint32_t sum;

	want_items(p, node, add_item, &d);
	sum = (uint32_t)(d.sum >> 32);
	return sum == MAP64_NONE ? 0 : sum;
}

static bool has_fault(const struct subnet_state *s, uint32_t node)
{
	for (uint32_t i = 0; i < s->n_faults; i++)
		if (s->faults[i].node == node)
			return true;
	return false;
}

static bool refuses(const struct refusals *refused, uint64_t guid)
{
	static const uint16_t attrs[] = {
		UMAD_SM_ATTR_LINEAR_FT, UMAD_SM_ATTR_SLVL_TABLE, UMAD_SM_ATTR_VL_ARB_TABLE,
	};

	for (unsigned i = 0; i < ARRAY_SIZE(attrs); i++)
		if (refusals_kind(refused, guid, attrs[i]))
			return true;
	return false;
}

static void put(struct map64 *m, uint64_t guid, uint32_t digest)
{
	if (!m->slots)
		map64_init(m, 0);
	map64_put(m, guid, digest);
}

void isolated_tables_digest(struct isolated_digests *d, const struct plan *before, const struct fabric *f)
{
	for (uint32_t i = 0; i < before->f->n_switches; i++) {
		uint32_t node = before->f->switches[i].node;

		if (map64_get(&f->node_by_guid, before->f->nodes[node].guid) == MAP64_NONE)
			*vec_push(d) = (struct isolated_digest){ node, digest_of(before, node, false),
								 digest_of(before, node, true) };
	}
}

void isolated_tables_note(struct isolated_tables *x, const struct isolated_digests *d, const struct subnet_state *s,
			  const struct map64 *doubtful, const struct refusals *refused)
{
	for (const struct isolated_digest *e = d->v; e < vec_end(d); e++) {
		uint64_t guid = s->f->nodes[e->node].guid;

		if (map64_get(doubtful, guid) != MAP64_NONE || has_fault(s, e->node) || refuses(refused, guid))
			continue;
		put(&x->qos, guid, e->qos);
		if (!s->plan->now || !s->plan->now->stale.n)	/* all of it was written */
			put(&x->routes, guid, e->routes);
	}
}

bool isolated_tables_are(const struct isolated_tables *x, const struct plan *p, uint32_t node, enum item_kind kind)
{
	bool routes = kind == ITEM_LFT;
	const struct map64 *m = routes ? &x->routes : &x->qos;
	uint32_t before = m->slots ? map64_get(m, p->f->nodes[node].guid) : MAP64_NONE;

	return before != MAP64_NONE && before == digest_of(p, node, routes);
}

static void forget(struct map64 *m, const struct fabric *f)
{
	struct map64 kept;

	if (!m->slots)
		return;
	map64_init(&kept, 0);
	for (uint32_t i = 0; i <= m->mask; i++)
		if (m->slots[i].value != MAP64_NONE && map64_get(&f->node_by_guid, m->slots[i].key) == MAP64_NONE)
			map64_put(&kept, m->slots[i].key, m->slots[i].value);
	map64_free(m);
	*m = kept;
}

void isolated_tables_forget(struct isolated_tables *x, const struct fabric *f)
{
	forget(&x->qos, f);
	forget(&x->routes, f);
}

void isolated_tables_free(struct isolated_tables *x)
{
	if (x->qos.slots)
		map64_free(&x->qos);
	if (x->routes.slots)
		map64_free(&x->routes);
	*x = (struct isolated_tables){ 0 };
}
