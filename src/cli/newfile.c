/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Writes a file under a temporary name; newfile.h has the contracts. */
#include "newfile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/alloc.h"

bool complain(const char *name)
{
	fprintf(stderr, "qosd-ctl: %s: %s\n", name, strerror(errno));
	return false;
}

static void forget(struct new_file *n)
{
	free(n->name);
	free(n->now);
	*n = (struct new_file){ .f = NULL };
}

bool new_file_open(struct new_file *n, const char *name)
{
	struct stat st;
	bool there = lstat(name, &st) == 0;
	const char *now;

	*n = (struct new_file){ .name = xstrdup(name) };
	if (!there || S_ISREG(st.st_mode))
		n->now = xasprintf("%s.new", name);
	now = n->now ? n->now : n->name;
	n->f = fopen(now, "we");
	if (!n->f) {
		complain(name);
		forget(n);
		return false;
	}
	if (there && n->now)
		fchmod(fileno(n->f), st.st_mode & 07777);	/* keep the old mode, if permitted */
	return true;
}

bool new_file_close(struct new_file *n, bool complete)
{
	bool ok = !ferror(n->f);

	ok = fclose(n->f) == 0 && ok;
	if (ok && complete && n->now)
		ok = rename(n->now, n->name) == 0;
	if (!ok)
		complain(n->name);
	if (n->now && !(ok && complete))
		unlink(n->now);
	forget(n);
	return ok;
}
