/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Things by MGID, in order: found, added and removed at a cost that hardly grows with
 * their number, and looked at one after the other.
 */
#ifndef QOSD_SA_REGISTRY_MGIDS_H
#define QOSD_SA_REGISTRY_MGIDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mgids;

struct mgids *mgids_new(void);
void mgids_free(struct mgids *m);	/* not what is in it */
size_t mgids_count(const struct mgids *m);
/* NULL if there is none. */
void *mgids_find(const struct mgids *m, const uint8_t mgid[16]);
/* The MGID must not be there yet, and must be there. */
void mgids_add(struct mgids *m, const uint8_t mgid[16], void *thing);
void mgids_remove(struct mgids *m, const uint8_t mgid[16]);
/* 0 <= i < mgids_count(); cheap for the one next to that of the last call, either way. */
void *mgids_at(struct mgids *m, size_t i);
/* How many come before an MGID, whether that is there or not. */
size_t mgids_place(const struct mgids *m, const uint8_t mgid[16]);

#endif
