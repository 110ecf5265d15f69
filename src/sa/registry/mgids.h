/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Maps MGIDs to pointers, sorted by MGID.  Look-up, insertion and removal cost little more
 * the more there are.
 */
#ifndef QOSD_SA_REGISTRY_MGIDS_H
#define QOSD_SA_REGISTRY_MGIDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mgids;

struct mgids *mgids_new(void);
void mgids_free(struct mgids *m);	/* does not free the things */
size_t mgids_count(const struct mgids *m);
/* NULL if there is none. */
void *mgids_find(const struct mgids *m, const uint8_t mgid[16]);
/* Add an MGID that is not in the map; remove an MGID that is. */
void mgids_add(struct mgids *m, const uint8_t mgid[16], void *thing);
void mgids_remove(struct mgids *m, const uint8_t mgid[16]);
/* 0 <= i < mgids_count(); cheap if i is next to that of the last call, before or after. */
void *mgids_at(struct mgids *m, size_t i);
/* The number of lower MGIDs; mgid need not be there. */
size_t mgids_place(const struct mgids *m, const uint8_t mgid[16]);

#endif
