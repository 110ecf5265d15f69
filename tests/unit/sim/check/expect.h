/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One fabric, its audit, and what a test expects of it. */
#ifndef QOSD_TESTS_SIMCHECK_EXPECT_H
#define QOSD_TESTS_SIMCHECK_EXPECT_H

#include "small.h"

extern struct sim_fabric *the_fabric;
extern struct audit the_audit;

/*
 * Leaves S1 to S3 with two hosts each (H1 and H2 at S1 …) and spines S4 and S5;
 * 4 VLs.  LIDs: switches 1 to 5, hosts 6 to 11.
 */
void tree_up(void);
void fabric_free(void);

void audit_all(uint16_t sls);
/* So many of a kind, and none of any other but `also` (-1: none at all). */
void expect(enum audit_kind kind, uint64_t n, int also);
void expect_text(const char *part);
/* No fault, and one note. */
void expect_note(const char *part);
/* Neither faults nor notes, and so many pairs by SLs, all connected. */
void expect_clean(uint64_t pairs);

#endif
