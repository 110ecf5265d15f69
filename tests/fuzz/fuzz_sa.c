/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Feeds the SA with arbitrary requests (libFuzzer's interface).  The first byte
 * is the requester's LID, the rest the MAD as it would have been received.  Each is
 * answered as the daemon does it, by pieces, and as a whole, and both must be the same
 * where the request changes nothing.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "lib/base/alloc.h"
#include "sa/registry/groups.h"
#include "subnet.h"

enum { HEADERS = 56, STEPS = 7, METHOD = 3, SET = 2, DELETE = 0x15 };

/* The records of an answer that is made piece by piece; false: there is none. */
static bool pieces(struct sa *sa, const struct sa_request *req, struct buf *records)
{
	uint8_t data[SA_SEGMENT], head[HEADERS];
	struct buf out = { 0 };
	struct sa_job *job = NULL;
	enum sa_outcome how = sa_begin(sa, req, &out, &job);
	enum sa_read got;
	size_t n = 0;

	if (how == SA_LATER && !sa_job_try(job, STEPS, true, &out)) {
		do {
			got = sa_job_read(job, STEPS, data, &n);
			if (n > sizeof(data))
				abort();
			if (got != SA_READ_LATER)
				buf_add(records, data, n);
		} while (got != SA_READ_LAST);
		sa_job_head(job, head);
		sa_job_total(job);
		sa_job_held(job);
		buf_free(&out);
		buf_add(&out, head, sizeof(head));
		buf_add(&out, records->s ? records->s : "", records->n);
	}
	if (how == SA_LATER)
		sa_job_free(job);
	buf_free(records);
	*records = out;
	return how != SA_DROP;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sa sa = { .sm_key = 1, .state = subnet_state() };
	struct buf by_pieces = { 0 }, whole = { 0 };
	bool answered;

	if (size < 1)
		return 0;
	subnet_register(&sa);
	struct sa_request req = { .mad = data + 1, .len = size - 1, .slid = data[0] };

	answered = pieces(&sa, &req, &by_pieces);
	/* again, with what the first one may have changed */
	if (sa_answer(&sa, &req, &whole)) {
		if (whole.n < HEADERS)
			abort();
		if (req.mad[METHOD] != SET && req.mad[METHOD] != DELETE &&
		    (!answered || by_pieces.n < HEADERS))
			abort();
	}
	sa_answer_busy(&sa, &req, &whole);
	buf_free(&by_pieces);
	buf_free(&whole);
	subnet_forget(&sa);
	return 0;
}
