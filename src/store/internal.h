/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the files of store/ share: a file of lines. */
#ifndef QOSD_STORE_INTERNAL_H
#define QOSD_STORE_INTERNAL_H

#include "store/store.h"

struct store_file {
	const char *name, *title;	/* the title ends with a newline */
};

/* Calls line() for each; one for which it returns false damages the file. */
bool store_load_lines(struct store *s, const struct store_file *f,
		      bool (*line)(void *arg, const char *text), void *arg);
bool store_save_lines(struct store *s, const struct store_file *f, const char *lines);

#endif
