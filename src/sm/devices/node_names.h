/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads again, with each light sweep, NodeDescriptions that may be false.
 *
 * A NodeDescription can be any text, so no answer proves that one is false.  Read again are
 *  - those of devices that give impossible answers (implausible.h, exclusions.c), until NAME_SWEEPS
 *    light sweeps after the last such answer;
 *  - those that are empty or are no text: not UTF-8 (14.2.5.2), or with control characters; at most
 *    ASK_AGAIN_MAX of them in one light sweep.
 * Other devices are not asked.  If the text differs from the known name, a local sweep reads the
 * name; an answer that is no text has no effect.
 */
#ifndef QOSD_SM_DEVICES_NODE_NAMES_H
#define QOSD_SM_DEVICES_NODE_NAMES_H

#include <stdbool.h>
#include <stdint.h>

struct sm;

#define NAME_SWEEPS 2

void names_new(struct sm *sm);
void names_free(struct sm *sm);
/* Called when nothing is published any more. */
void names_stop(struct sm *sm);

/* The device at that port of a node, or behind the port, gave an impossible answer. */
void names_doubt(struct sm *sm, uint64_t guid, uint8_t num, bool behind);
/* Asks again, as part of a light sweep. */
void names_ask(struct sm *sm);

/* The name is UTF-8 without control characters, and not empty. */
bool name_is_text(const char *name);

#endif
