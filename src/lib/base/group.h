/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Looks up the system's groups by name, with a time limit.
 *
 * The system may have to ask a directory service.  That service may not answer, for example because
 * it is reached through the very subnet that is not managed yet.
 */
#ifndef QOSD_LIB_BASE_GROUP_H
#define QOSD_LIB_BASE_GROUP_H

#include <stdint.h>

#define GROUP_SECONDS 5

/*
 * Returns 0, ENOENT (no such group), or the errno of the failed look-up.  May be called from any
 * thread, and may block for ever.
 */
int group_find(const char *name, uint32_t *gid);
/* Like group_find(), but waits GROUP_SECONDS at most; may also return an errno of bounded_run(). */
int group_find_soon(const char *name, uint32_t *gid);

#endif
