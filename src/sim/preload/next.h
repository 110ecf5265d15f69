/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Finds the functions that a preloaded library overrides. */
#ifndef QOSD_SIM_PRELOAD_NEXT_H
#define QOSD_SIM_PRELOAD_NEXT_H

#include <dlfcn.h>
#include <stdatomic.h>
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

/* Declares fn, the next library's function of that name, which is looked for once. */
#define NEXT_FUNCTION(type, fn, name) \
	static type *_Atomic found_##fn; \
	type *fn = atomic_load(&found_##fn); \
	if (!fn) { \
		find_next(name, &fn); \
		atomic_store(&found_##fn, fn); \
	}

#endif
