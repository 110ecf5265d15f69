/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Writes Prometheus's text format; prom.h has the contracts. */
#include "ctl/prom.h"

#include <math.h>
#include <stdarg.h>

#include "lib/format/json.h"

void prom_metric(struct prom *p, const char *name, enum prom_type type, const char *help)
{
	static const char *const types[] = { "gauge", "counter", "histogram" };

	p->name = name;
	buf_printf(p->out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, types[type]);
}

/* Writes a label value with \, " and newlines escaped. */
static void put_escaped(struct buf *out, const char *value)
{
	json_t *text = json_text(value);

	for (const char *s = json_string_value(text); *s; s++) {
		if (*s == '\n')
			buf_puts(out, "\\n");
		else if (*s == '\\' || *s == '"')
			buf_printf(out, "\\%c", *s);
		else
			buf_add(out, s, 1);
	}
	json_decref(text);
}

/* Prometheus has its own words for infinity and NaN. */
static void put_value(struct buf *out, double value)
{
	if (isfinite(value))
		buf_printf(out, " %.16g\n", value);
	else
		buf_puts(out, isnan(value) ? " NaN\n" : value > 0 ? " +Inf\n" : " -Inf\n");
}

static void sample(struct prom *p, const char *suffix, double value, va_list ap)
{
	const char *label;
	unsigned n = 0;

	buf_printf(p->out, "%s%s", p->name, suffix);
	while ((label = va_arg(ap, const char *))) {
		buf_printf(p->out, "%c%s=\"", n++ ? ',' : '{', label);
		put_escaped(p->out, va_arg(ap, const char *));
		buf_puts(p->out, "\"");
	}
	if (n)
		buf_puts(p->out, "}");
	put_value(p->out, value);
}

void prom_sample(struct prom *p, double value, ...)
{
	va_list ap;

	va_start(ap, value);
	sample(p, "", value, ap);
	va_end(ap);
}

void prom_sample_of(struct prom *p, const char *suffix, double value, ...)
{
	va_list ap;

	va_start(ap, value);
	sample(p, suffix, value, ap);
	va_end(ap);
}

void prom_single(struct prom *p, const char *name, enum prom_type type, const char *help,
		 double value)
{
	prom_metric(p, name, type, help);
	prom_sample(p, value, NULL);
}
