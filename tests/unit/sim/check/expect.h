/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Audits a fabric and compares the result with a test's expectation. */
#ifndef QOSD_TESTS_SIMCHECK_EXPECT_H
#define QOSD_TESTS_SIMCHECK_EXPECT_H

#include "small.h"

extern struct sim_fabric *the_fabric;
extern struct audit the_audit;

/*
 * Brings up leaves S1 to S3 with two hosts each (H1 and H2 at S1 …) and spines S4 and S5;
 * 4 VLs.  LIDs: switches 1 to 5, hosts 6 to 11.
 */
void tree_up(void);
void fabric_free(void);

void audit_all(uint16_t sls);
/* There must be n faults of this kind, and none of others except `also` (-1: none at all). */
void expect(enum audit_kind kind, uint64_t n, int also);
void expect_text(const char *part);
/* There must be no fault and one note. */
void expect_note(const char *part);
/* There must be no faults or notes, and so many pairs by SLs, all connected. */
void expect_clean(uint64_t pairs);

#endif
