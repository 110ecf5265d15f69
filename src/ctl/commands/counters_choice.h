/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Chooses which ports of a large fabric `counters` measures: those that waited to send.
 *
 * A measurement takes ten requests for each port.  A VL can be short only at a port that waited
 * (perf/judge.h), and the reading of error counters, one request for each port, tells which ports did.
 *
 * For the loop's thread only.
 */
#ifndef QOSD_CTL_COUNTERS_CHOICE_H
#define QOSD_CTL_COUNTERS_CHOICE_H

#include "ctl/command.h"
#include "perf/error_watch.h"

#define COUNTERS_CHOSEN 1000	/* most ports that are chosen; a fabric with no more is measured as a whole */

struct counters_choice {
	uint32_t *ports, n;	/* the chosen ones, those that waited most first; owned */
	uint32_t unknown;	/* ports of which it is not known whether they waited */
};

/* Whether the error counters tell enough to choose from: they were read before. */
bool counters_can_choose(const struct ctl_env *env);
/*
 * Chooses from n measurable ports of the state by the last reading; the caller frees c->ports.
 */
void counters_choose(const struct error_watch *w, const struct subnet_state *s, const uint32_t *ports,
		     uint32_t n, struct counters_choice *c);

#endif
