/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See group.h. */
#include "lib/base/group.h"

#include <errno.h>
#include <grp.h>
#include <stdlib.h>

#include "lib/base/alloc.h"
#include "lib/base/bounded.h"

#define ENTRY_MAX (16u << 20)	/* bytes; a group may have very many members */

struct finding_group {
	char *name;
	uint32_t gid;
	int error;
};

int group_find(const char *name, uint32_t *gid)
{
	struct group g, *found = NULL;
	size_t size = 1024;
	char *room = NULL;
	int error;

	do {
		size *= 2;
		room = xrealloc(room, size, 1);
		error = getgrnam_r(name, &g, room, size, &found);
	} while (error == ERANGE && size < ENTRY_MAX);
	if (found)
		*gid = g.gr_gid;
	free(room);
	/* getgrnam_r(3): each of these may mean that the group does not exist */
	if (error == ESRCH || error == EBADF || error == EPERM)
		error = ENOENT;
	return found ? 0 : error ? error : ENOENT;
}

static void run(void *arg)
{
	struct finding_group *f = arg;

	f->error = group_find(f->name, &f->gid);
}

static void drop(void *arg)
{
	struct finding_group *f = arg;

	free(f->name);
	free(f);
}

int group_find_soon(const char *name, uint32_t *gid)
{
	struct finding_group *f = xcalloc(1, sizeof(*f));
	int error;

	f->name = xstrdup(name);
	if (!bounded_run(run, drop, f, GROUP_SECONDS * INT64_C(1000000)))
		return errno;
	error = f->error;
	if (!error)
		*gid = f->gid;
	drop(f);
	return error;
}
