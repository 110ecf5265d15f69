/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Adds findings to what `health` tells; see health_findings.h. */
#include "ctl/commands/health_findings.h"

#include <stdarg.h>
#include <stdlib.h>

static const struct {
	enum severity severity;
	const char *kind, *action, *more;
} findings[HEALTH_FINDINGS] = {
#define FINDING(id, severity, kind, action, more) [FOUND_##id] = { SEV_##severity, kind, action, more },
#include "ctl/commands/health_findings.def"
};

void health_take(struct health *h, enum health_finding found, char *text)
{
	*vec_push(&h->v) = (struct problem){ findings[found].severity, findings[found].kind,
					     findings[found].action, text };
}

void health_add(struct health *h, enum health_finding found, const char *fmt, ...)
{
	struct buf text = { 0 };
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(&text, fmt, ap);
	va_end(ap);
	health_take(h, found, text.s);
}

void health_rest(struct health *h, enum health_finding found, size_t n)
{
	if (n > HEALTH_EACH)
		health_add(h, found, "%zu more %s", n - HEALTH_EACH, findings[found].more);
}

void health_list_add(struct health_list *l, const char *fmt, ...)
{
	struct buf text = { 0 };
	va_list ap;

	if (l->n++ >= HEALTH_EACH)
		return;
	va_start(ap, fmt);
	buf_vprintf(&text, fmt, ap);
	va_end(ap);
	health_take(l->h, l->found, text.s);
}

void health_list_take(struct health_list *l, char *text)
{
	if (l->n++ < HEALTH_EACH)
		health_take(l->h, l->found, text);
	else
		free(text);
}

void health_list_end(struct health_list *l)
{
	health_rest(l->h, l->found, l->n);
}
