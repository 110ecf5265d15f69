/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The functions that a preloaded library stands before. */
#ifndef QOSD_SIM_PRELOAD_NEXT_H
#define QOSD_SIM_PRELOAD_NEXT_H

#include <dlfcn.h>
#include <string.h>

/* The next library's function of the name, into *fn, a pointer to one: ISO C has no cast for this. */
static inline void find_next(const char *name, void *fn)
{
	void *p = dlsym(RTLD_NEXT, name);

	memcpy(fn, &p, sizeof(p));
}

#endif
