/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Answers `report`: the page with its data, in pieces.  A job computes the data (ctl/report/), as that takes
 * up to seconds on a large fabric.
 */
#include <stdlib.h>
#include <string.h>

#include "ctl/command.h"
#include "ctl/report/report.h"
#include "lib/base/alloc.h"

#define PIECE 16384	/* bytes of the page in one row */

struct page {
	struct report *report;
	struct buf text;	/* the whole page */
	size_t next;		/* offset of the next piece */
};

static void make_page(void *arg)
{
	struct page *p = arg;
	const char *head, *tail;
	size_t n_head, n_tail;

	report_page(&head, &n_head, &tail, &n_tail);
	buf_add(&p->text, head, n_head);
	report_make(p->report, &p->text);
	buf_add(&p->text, tail, n_tail);
}

/* Does not end within a character of several bytes. */
static size_t piece_length(const struct page *p)
{
	size_t left = p->text.n - p->next, n = left < PIECE ? left : PIECE;

	while (n < left && ((unsigned char)p->text.s[p->next + n] & 0xc0) == 0x80)
		n--;
	return n;
}

static json_t *next_piece(void *rows)
{
	struct page *p = rows;
	size_t n = piece_length(p), at = p->next;

	if (n == 0)
		return NULL;
	p->next += n;
	return json_pack("{s:s%, s:f}", "text", p->text.s + at, n, "done",
			 (double)p->next / (double)p->text.n);
}

static void release_page(void *arg)
{
	struct page *p = arg;

	if (!p)
		return;
	if (p->report)
		report_free(p->report);
	buf_free(&p->text);
	free(p);
}

static void answer_page(void *arg, struct reply *r)
{
	struct page *p = arg, *rows = xcalloc(1, sizeof(*rows));

	rows->text = p->text;
	p->text = (struct buf){ 0 };
	reply_result(r, NULL);
	reply_rows(r, "", next_piece, release_page, rows);
}

void cmd_report(const struct ctl_call *c, struct reply *r)
{
	static const struct job_ops ops = { make_page, NULL, answer_page, release_page };
	struct page *p = xcalloc(1, sizeof(*p));

	p->report = report_new(c);
	reply_later(r, c->view->jobs, &ops, p);
}
