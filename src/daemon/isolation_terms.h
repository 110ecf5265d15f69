/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How long rules isolate each link: `for` of isolate-when, and twice as long each time that a link is bad again within
 * the time after it was given back, at most ISOLATION_DOUBLINGS times.
 *
 * Pure; times are seconds since 1970, given by the caller.  What is kept here does not outlive the daemon: a link that
 * a restart finds isolated has the shortest term.
 */
#ifndef QOSD_DAEMON_ISOLATION_TERMS_H
#define QOSD_DAEMON_ISOLATION_TERMS_H

#include "lib/base/alloc.h"
#include "sm/devices/isolations.h"

#define ISOLATION_DOUBLINGS 5

/* A link that is, or was, isolated by rule. */
struct isolation_term {
	uint64_t guid[2];	/* its ends; the same twice if only one is known */
	uint8_t num[2];
	uint8_t doublings;
	int64_t back_s;		/* when it was given back; 0: it was not */
};

/* Zeroed: none. */
struct isolation_terms {
	VEC(struct isolation_term) v;	/* at most WITHDRAWALS_MAX, of which the first is the oldest */
};

/* The link is isolated by rule now; its term is for_s, or more. */
void isolation_terms_begin(struct isolation_terms *t, const struct isolation_cut *link, uint32_t for_s, int64_t now_s);
/* Its term is over, and it is given back. */
void isolation_terms_end(struct isolation_terms *t, const struct isolation_cut *link, int64_t now_s);
/* It was released by somebody, who knows better: it begins anew. */
void isolation_terms_forget(struct isolation_terms *t, const struct withdrawal *x);
/* When the isolation of an entry ends; 0: when somebody ends it, as where it is not by rule, or for_s is 0. */
int64_t isolation_terms_until(const struct isolation_terms *t, const struct withdrawal *x, uint32_t for_s);
void isolation_terms_free(struct isolation_terms *t);

#endif
