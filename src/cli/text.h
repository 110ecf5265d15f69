/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shared by the files of text output, beside members.h. */
#ifndef QOSD_CLI_TEXT_H
#define QOSD_CLI_TEXT_H

#include <stdio.h>

#include "lib/base/plural.h"
#include "members.h"
#include "output.h"

/* Prints at most `most` findings, one per line. */
void put_findings(const json_t *findings, size_t most, const char *indent, FILE *out);
/* Prints the findings on a policy that was accepted: those on the file, then those on the fabric. */
void put_accepted(const json_t *result);
/* Prints " by user 1000 (name), on behalf of other", as far as the object has uid and on-behalf-of. */
void put_user(const json_t *o);
/* Says when a change that was accepted will be in force; nothing if qosd-ctl waits for it. */
void put_in_force_when(const json_t *result);
/* Prints the standbys in `status` (text_standbys.c). */
void put_standbys(const json_t *list);
/* Prints where a policy came from, and whether it is on trial (text_policy.c). */
void put_policy(const json_t *policy);

#endif
