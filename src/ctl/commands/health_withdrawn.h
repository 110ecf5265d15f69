/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What other judges of `health` say about what is isolated. */
#ifndef QOSD_CTL_COMMANDS_HEALTH_WITHDRAWN_H
#define QOSD_CTL_COMMANDS_HEALTH_WITHDRAWN_H

#include "ctl/commands/health.h"

/* Appends "; 2 links are isolated", if any are, where that may be the reason for what else is wrong. */
void put_isolated(const struct health_input *in, struct buf *text);

/*
 * The same, and if a switch of one of two ports has an isolated link: which, whose isolation that is, and how to end
 * it.
 */
void put_isolated_near(const struct health_input *in, uint32_t a, uint32_t b, struct buf *text);

#endif
