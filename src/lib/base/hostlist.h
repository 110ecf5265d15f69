/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Lists of host names as Slurm writes them: "gpu[01-04,07],login1" is gpu01, gpu02, gpu03, gpu04,
 * gpu07 and login1.
 *
 * A name may have several brackets, and text after them.  Numbers have as many digits as the first
 * of their range, so that leading zeros stay.
 */
#ifndef QOSD_LIB_BASE_HOSTLIST_H
#define QOSD_LIB_BASE_HOSTLIST_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/buf.h"

struct hostlist {
	char **v;
	size_t n, cap;
};

/* True if a text is more than one plain name: it has a comma or a bracket. */
bool hostlist_is_list(const char *text);
/*
 * Appends the names of a text, in its order and with repetitions, to a list that may be zeroed.
 * Returns false if the text is broken, if a name has more than 255 bytes, or if the list would have
 * more than `most` names; then err says why, and the list holds the names so far.
 */
bool hostlist_parse(const char *text, size_t most, struct hostlist *out, struct buf *err);
void hostlist_free(struct hostlist *l);

/* Appends a copy of a name. */
void hostlist_add(struct hostlist *l, const char *name);
/* Sorts by the text before the last number, then by that number's digits, then by its value. */
void hostlist_sort(struct hostlist *l);
/*
 * Sorts the names, which have neither brackets nor commas, and writes each once, in the form that
 * hostlist_parse() reads: "gpu[01-04,07],login1".
 */
void hostlist_put(struct hostlist *l, struct buf *out);

#endif
