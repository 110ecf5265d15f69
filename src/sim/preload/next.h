/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Finds the functions that a preloaded library overrides. */
#ifndef QOSD_SIM_PRELOAD_NEXT_H
#define QOSD_SIM_PRELOAD_NEXT_H

#include <dlfcn.h>
#include <string.h>

/*
 * Stores the next library's function of that name in *fn, a pointer to a function pointer: ISO C
 * has no cast for this.
 */
static inline void find_next(const char *name, void *fn)
{
	void *p = dlsym(RTLD_NEXT, name);

	memcpy(fn, &p, sizeof(p));
}

#endif
