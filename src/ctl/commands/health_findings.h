/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Adds findings to what `health` tells: one at a time, or a list of which the first ones are told.
 *
 * Every finding is a row of health_findings.def, which has its severity, kind and action.
 */
#ifndef QOSD_CTL_COMMANDS_HEALTH_FINDINGS_H
#define QOSD_CTL_COMMANDS_HEALTH_FINDINGS_H

#include "ctl/commands/health.h"
#include "lib/base/plural.h"

enum health_finding {
#define FINDING(id, ...) FOUND_##id,
#include "ctl/commands/health_findings.def"
	HEALTH_FINDINGS
};

/* Findings that are listed one by one; the rest are only counted. */
#define HEALTH_EACH 10

void health_add(struct health *h, enum health_finding found, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Takes over the text, which is not NULL. */
void health_take(struct health *h, enum health_finding found, char *text);
/* Adds "N more …" for those of n findings that are not listed, if there are any. */
void health_rest(struct health *h, enum health_finding found, size_t n);

/* A list of findings; n: how many, those included that are not listed. */
struct health_list {
	struct health *h;
	enum health_finding found;
	size_t n;
};
void health_list_add(struct health_list *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void health_list_take(struct health_list *l, char *text);	/* takes over the text, which is not NULL */
void health_list_end(struct health_list *l);			/* see health_rest() */

#endif
