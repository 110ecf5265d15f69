/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Applies fault rules to packets: the list of rules, and the effects. */
#include <stdlib.h>
#include <string.h>

#include "lib/base/bytes.h"
#include "sim/net/fault.h"
#include "sim/net/transit.h"

uint32_t fault_add(struct sim *s, const struct fault_rule *r)
{
	struct fault_rule *added = vec_push(&s->faults->rules);

	*added = *r;
	added->hits = 0;
	added->id = ++s->faults->next_id;
	return added->id;
}

static void remove_at(struct sim_faults *faults, size_t i)
{
	faults->rules.n--;
	memmove(&faults->rules.v[i], &faults->rules.v[i + 1],
		(faults->rules.n - i) * sizeof(*faults->rules.v));
}

bool fault_remove(struct sim *s, uint32_t id)
{
	struct sim_faults *faults = s->faults;
	size_t n = faults->rules.n;

	if (id == 0)
		faults->rules.n = 0;
	for (size_t i = 0; i < faults->rules.n; i++)
		if (faults->rules.v[i].id == id)
			remove_at(faults, i);
	return faults->rules.n < n;
}

static bool is_its_kind(const struct fault_rule *r, const uint8_t *mad)
{
	uint8_t class = mad[MAD_CLASS];

	if (r->mgmt_class && r->mgmt_class != class &&
	    !(r->mgmt_class == CLASS_SM_LID && class == CLASS_SM_DR))
		return false;
	return (!r->method || r->method == mad[MAD_METHOD]) &&
	       (!r->attr || r->attr == get_be16(mad + MAD_ATTR));
}

static int by_rank(const void *pa, const void *pb)
{
	const uint64_t *a = pa, *b = pb;

	return *a < *b ? -1 : *a > *b;
}

void fault_share(const struct sim_fabric *f, struct fault_rule *r, double share, uint64_t seed,
		 uint32_t spared)
{
	uint64_t *ranks = xcalloc(f->n_nodes, sizeof(*ranks));
	uint32_t n = 0, wanted;

	for (uint32_t i = 0; i < f->n_nodes; i++)
		if (i != spared)
			ranks[n++] = fault_rank(seed, f->nodes[i].guid);
	qsort(ranks, n, sizeof(*ranks), by_rank);
	wanted = (uint32_t)(share * n + 0.5);
	wanted = wanted ? wanted : 1;
	r->among = seed;
	r->spared = spared;
	r->below = wanted < n ? ranks[wanted] : UINT64_MAX;
	free(ranks);
}

bool fault_is_of(const struct sim_fabric *f, const struct fault_rule *r, uint32_t node)
{
	return !r->below || (node != r->spared &&
			     fault_rank(r->among, f->nodes[node].guid) < r->below);
}

static bool is_answer_of_sma(const uint8_t *mad)
{
	return mad[MAD_METHOD] == METHOD_GET_RESP && class_is_smp(mad[MAD_CLASS]);
}

static bool is_its_place(const struct fault_rule *r, const struct sim_fabric *f,
			 const struct transit *t)
{
	if (r->node != SIM_NONE && r->node != f->ports[t->port].node)
		return false;
	if (r->effect == FAULT_DAMAGE)
		return t->place == PLACE_ENTRY &&
		       (r->port == SIM_NONE || r->port == t->port) &&
		       (!r->below || fault_is_of(f, r, f->ports[t->port].node));
	if (r->effect == FAULT_FALSIFY && (t->place != PLACE_START || !is_answer_of_sma(t->p.mad)))
		return false;
	if (r->below && (t->place != PLACE_START || !fault_is_of(f, r, f->ports[t->port].node)))
		return false;
	if (r->port != SIM_NONE)
		return r->port == t->port;
	if (r->node != SIM_NONE && t->place == PLACE_ENTRY)
		return true;
	return t->place == PLACE_START;
}

/* Finds the rule that takes effect; returns a copy, since this hit may use the rule up. */
static bool meets_fault(struct sim *s, const struct transit *t, struct fault_rule *met)
{
	for (size_t i = 0; i < s->faults->rules.n; i++) {
		struct fault_rule *r = &s->faults->rules.v[i];

		if (!is_its_kind(r, t->p.mad) || !is_its_place(r, s->f, t) ||
		    !sim_chance(s, r->chance))
			continue;
		r->hits++;
		*met = *r;
		if (r->left != UINT32_MAX && r->left-- <= 1)
			remove_at(s->faults, i);
		return true;
	}
	return false;
}

static void go_on(struct sim *s, void *transit)
{
	queue_put(s->queue, transit);
}

static void reorder(struct sim *s, struct transit *t, int64_t most_us)
{
	if (most_us > UINT32_MAX)
		most_us = UINT32_MAX;
	if (most_us > 0)
		sim_after(s, 1 + sim_random(s, (uint32_t)most_us), go_on, t);
	else
		queue_put(s->queue, t);
}

static void duplicate(struct sim *s, const struct transit *t)
{
	struct transit *copy = transit_copy(s->queue, t);

	if (copy)
		queue_put(s->queue, copy);
}

/* Flips bits beyond the header; an odd number, so that they cannot all cancel out. */
static void corrupt(struct sim *s, uint8_t *mad)
{
	for (unsigned n = 1 + 2 * sim_random(s, 4); n; n--)
		mad[SMP_MKEY + sim_random(s, SIM_MAD_SIZE - SMP_MKEY)] ^= 1 << sim_random(s, 8);
}

/* The receiver loses other packets than MADs, whose ICRC would not fit. */
static bool corrupt_packet(struct sim *s, struct transit *t)
{
	if (t->p.bytes)
		return transit_drop(s, t, DROP_FAULT);
	corrupt(s, t->p.mad);
	return true;
}

/*
 * What bit errors on the cable do: the symbols are invalid, so the packet's CRC does not fit either
 * (PortRcvErrors).
 */
static void damage(struct sim *s, struct transit *t)
{
	struct sim_counters *c = port_counters(&s->f->ports[t->port]);

	c->symbol_errors++;
	c->rcv_errors++;
	drop_note(s, t->port, &t->p, DROP_FAULT);
	transit_free(s->queue, t);
}

bool faults_let_pass(struct sim *s, struct transit *t)
{
	struct fault_rule r;

	t->faults_met = true;
	if (!meets_fault(s, t, &r))
		return true;
	switch (r.effect) {
	case FAULT_DROP:
		return transit_drop(s, t, DROP_FAULT);
	case FAULT_DELAY:
		sim_after(s, r.delay_us, go_on, t);
		return false;
	case FAULT_REORDER:
		reorder(s, t, r.delay_us);
		return false;
	case FAULT_DUPLICATE:
		duplicate(s, t);
		break;
	case FAULT_CORRUPT:
		return corrupt_packet(s, t);
	case FAULT_DAMAGE:
		damage(s, t);
		return false;
	case FAULT_FALSIFY:
		if (s->hooks.falsify)
			s->hooks.falsify(s, t->port, r.falsehood, &t->p);
		break;
	}
	return true;
}
