/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads which of the missing things an operator means. */
#ifndef QOSD_EVENTS_MISSING_WANTED_H
#define QOSD_EVENTS_MISSING_WANTED_H

#include "events/missing.h"

/* What an operator wrote: text up to "/Pn", if it ends so, and n; a GUID, if it is one. */
struct missing_wanted {
	char *name;		/* owned */
	unsigned num;		/* 0: any */
	uint64_t guid;		/* 0: it is a name */
};

struct missing_wanted missing_wanted_read(const char *text);
void missing_wanted_free(struct missing_wanted *w);
/* Whether the text names this item: a node or manager, or an end of a link. */
bool missing_is_wanted(const struct missing_item *x, const struct missing_wanted *w);

#endif
