/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The page of a report as it is built from share/report/ (scripts/report-page), and its parts.  The assembler
 * includes the file, since a string literal of this size is beyond what C compilers must accept.
 */
#include <string.h>

#include "ctl/report/report.h"

/* In the page, where the data goes, and around its Content-Security-Policy. */
#define DATA "@DATA@"
#define POLICY_BEGIN "http-equiv=\"Content-Security-Policy\" content=\""

__asm__(".section .rodata\n"
	".global report_html\n"
	"report_html:\n"
	".incbin \"" REPORT_HTML "\"\n"
	".byte 0\n"
	".global report_html_end\n"
	"report_html_end:\n"
	".byte 0\n"
	".previous\n");

extern const char report_html[], report_html_end[];

void report_page(const char **head, size_t *n_head, const char **tail, size_t *n_tail)
{
	const char *data = strstr(report_html, DATA);

	*head = report_html;
	*n_head = (size_t)(data - report_html);
	*tail = data + strlen(DATA);
	*n_tail = strlen(*tail);
}

const char *report_page_policy(void)
{
	static char policy[1024];
	const char *at = strstr(report_html, POLICY_BEGIN) + strlen(POLICY_BEGIN);
	size_t n = strcspn(at, "\"");

	if (!*policy && n < sizeof(policy))
		memcpy(policy, at, n);
	return policy;
}
