/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Implements the page of simulated time without system calls; see clock_page.h. */
#include "sim/clock/clock_page.h"

int64_t clock_page_now(const struct sim_clock *c, int64_t mono_ns)
{
	return sim_clock_ns(atomic_load(&c->word), mono_ns);
}

void clock_page_stop(struct sim_clock *c, struct machine_time (*read)(void))
{
	int64_t word = atomic_exchange(&c->word, SIM_CLOCK_CHANGES);
	struct machine_time m = read();

	/* before the word: a reader that sees time stopped reads these values */
	for (int i = 0; i < SIM_CLOCK_KINDS; i++)
		atomic_store(&c->ahead_ns[i], m.ns[i] - m.ns[SIM_CLOCK_MONO]);
	atomic_store(&c->word, sim_clock_word(true, sim_clock_ns(word, m.ns[SIM_CLOCK_MONO])));
}

void clock_page_move(struct sim_clock *c, int64_t at_ns)
{
	int64_t word = atomic_load(&c->word);

	if (sim_clock_stands(word) && at_ns > word >> 1)
		atomic_store(&c->word, sim_clock_word(true, at_ns));
}

void clock_page_date(struct sim_clock *c, int64_t at_ns, int64_t real_ns)
{
	atomic_store(&c->ahead_ns[SIM_CLOCK_REAL], real_ns - at_ns);
	atomic_store(&c->ahead_ns[SIM_CLOCK_BOOT], 0);
	atomic_store(&c->word, sim_clock_word(true, at_ns));
}

void clock_page_go(struct sim_clock *c, int64_t mono_ns)
{
	if (sim_clock_stands(atomic_load(&c->word)))
		atomic_store(&c->word, sim_clock_word(false, clock_page_now(c, mono_ns) - mono_ns));
}

int clock_page_first(const struct sim_clock *c, const int64_t *woken, int64_t *deadline_ns)
{
	int first = -1;

	for (int i = 0; i < (int)atomic_load(&c->n_slots); i++) {
		int64_t end_ns;

		if (!atomic_load_explicit(&c->slots[i].pid, memory_order_relaxed))
			continue;
		end_ns = atomic_load(&c->slots[i].deadline_ns);
		if (!end_ns || end_ns == woken[i] || (first >= 0 && end_ns >= *deadline_ns))
			continue;
		first = i;
		*deadline_ns = end_ns;
	}
	return first;
}

void clock_page_forget(struct sim_clock *c, int32_t pid)
{
	for (int i = 0; i < (int)atomic_load(&c->n_slots); i++)
		if (atomic_load(&c->slots[i].pid) == pid) {
			atomic_store(&c->slots[i].deadline_ns, 0);
			atomic_store(&c->slots[i].pid, 0);
		}
}
