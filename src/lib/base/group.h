/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Groups of the system by name.  The system may have to ask a directory service, which may not
 * answer, for one because it is to be reached through the very subnet that is yet to be managed.
 */
#ifndef QOSD_LIB_BASE_GROUP_H
#define QOSD_LIB_BASE_GROUP_H

#include <stdint.h>

#define GROUP_SECONDS 5

/*
 * 0, ENOENT (there is no such group), or the errno that keeps the system from telling.  May be
 * called from any thread, and may take for ever.
 */
int group_find(const char *name, uint32_t *gid);
/* The same, but waits GROUP_SECONDS at most: else an errno of bounded_run(). */
int group_find_soon(const char *name, uint32_t *gid);

#endif
