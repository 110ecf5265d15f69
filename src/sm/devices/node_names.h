/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * NodeDescriptions that may be false: each light sweep reads them again.
 *
 * A NodeDescription can be any text, so that no answer proves a false one.  What is read again is
 *  - that of devices that say what cannot be (implausible.h, exclusions.c), until NAME_SWEEPS light sweeps
 *    after they have ceased to;
 *  - those that are empty, or are no text: not UTF-8 (14.2.5.2), or with control characters; at most
 *    ASK_AGAIN_MAX of them in one light sweep.
 * Other devices are asked nothing.  Text that differs from the name that is known has a local sweep
 * read the name; an answer that is no text has no effect.
 */
#ifndef QOSD_SM_DEVICES_NODE_NAMES_H
#define QOSD_SM_DEVICES_NODE_NAMES_H

#include <stdbool.h>
#include <stdint.h>

struct sm;

#define NAME_SWEEPS 2

void names_new(struct sm *sm);
void names_free(struct sm *sm);
/* Nothing is published any more. */
void names_stop(struct sm *sm);

/* The device at that port of a node, or behind it, says what cannot be. */
void names_doubt(struct sm *sm, uint64_t guid, uint8_t num, bool behind);
/* With a light sweep: asks again. */
void names_ask(struct sm *sm);

/* Text of UTF-8 without control characters, and not empty. */
bool name_is_text(const char *name);

#endif
