/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Random numbers for tools, which are the same for the same seed on every machine.
 */
#ifndef QOSD_TOOLS_CHANCE_H
#define QOSD_TOOLS_CHANCE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/map64.h"

static uint64_t state;	/* set from the seed */

/* 0 .. below - 1 */
static uint64_t rnd(uint64_t below)
{
	state += 0x9e3779b97f4a7c15ULL;
	return hash64(state) % below;
}

static bool chance(unsigned percent)
{
	return rnd(100) < percent;
}

#endif
