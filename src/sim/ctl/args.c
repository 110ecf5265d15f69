/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Parses and checks the words of commands. */
#include "sim/ctl/command.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/time_parse.h"
#include "lib/format/yaml_value.h"
#include "sim/dev/device.h"

#define YEAR_S (366.0 * 86400)

bool refuse_word(struct call *c, const char *what, const char *word, struct words *known)
{
	const char *near = value_nearest(word, known->v, known->n);

	refuse(c, "no %s '%s'", what, word);
	if (near)
		buf_printf(&c->err, ": did you mean '%s'?", near);
	vec_free(known);
	return false;
}

bool get_word(struct call *c, const char *what, const char *text, const char *(*names)(unsigned i),
	      unsigned *v)
{
	struct words known = { 0 };
	const char *name;

	for (unsigned i = 0; (name = names(i)); i++) {
		*vec_push(&known) = name;
		if (strcmp(name, text) != 0)
			continue;
		vec_free(&known);
		*v = i;
		return true;
	}
	return refuse_word(c, what, text, &known);
}

/* --- numbers --- */

bool get_number(struct call *c, const char *what, const char *text, uint64_t min, uint64_t max,
		uint64_t *v)
{
	if (!text || (value_u64(text, v) && *v >= min && *v <= max))
		return true;
	if (max == UINT64_MAX)
		return refuse(c, "%s must be a number, not '%s'", what, text);
	return refuse(c, "%s must be a number from %llu to %llu, not '%s'", what,
		      (unsigned long long)min, (unsigned long long)max, text);
}

/* Parses the first n bytes as a decimal fraction: seconds without their unit. */
static bool decimal(const char *text, size_t n, double *v)
{
	char seconds[40];

	if (n >= sizeof(seconds) - 1)
		return false;
	snprintf(seconds, sizeof(seconds), "%.*ss", (int)n, text);
	return time_span_parse(seconds, v);
}

bool parse_time(const char *text, int64_t *us)
{
	double s;

	if (!time_seconds_parse(text, &s) || s > YEAR_S)
		return false;
	*us = llround(s * 1e6);
	return true;
}

bool get_time(struct call *c, const char *what, const char *text, int64_t *us)
{
	return !text || parse_time(text, us) ||
	       refuse(c, "%s must be seconds, or a time with a unit (" TIME_UNITS "), not '%s'", what, text);
}

bool get_percent(struct call *c, const char *what, const char *text, double *v)
{
	size_t n;

	if (!text)
		return true;
	n = strcspn(text, "%");
	if (decimal(text, n, v) && *v <= 100 && (!text[n] || !text[n + 1])) {
		*v /= 100;
		return true;
	}
	return refuse(c, "%s must be from 0%% to 100%%, not '%s'", what, text);
}

bool next_element(const char **list, char *out, size_t size)
{
	size_t n = strcspn(*list, ",");

	if (**list == '\0')
		return false;
	snprintf(out, size, "%.*s", (int)(n < size ? n : size), *list);
	*list += n + ((*list)[n] == ',');
	return true;
}

/* --- nodes and ports --- */

bool refuse_for(struct call *c, struct buf *why)
{
	refuse(c, "%s", why->s);
	buf_free(why);
	return false;
}

bool get_node(struct call *c, const char *text, uint32_t *node)
{
	struct buf why = { 0 };

	*node = find_node_by_text(c->f, text, &why);
	return *node != SIM_NONE || refuse_for(c, &why);
}

bool get_port(struct call *c, const char *text, uint32_t *port)
{
	struct buf why = { 0 };

	*port = find_port_by_text(c->f, text, &why);
	return *port != SIM_NONE || refuse_for(c, &why);
}

bool run_smp(struct call *c, uint32_t port, uint8_t method, uint16_t attr, uint32_t mod,
	     uint8_t data[64])
{
	unsigned status = device_smp(c->s, sma_port(c->f, port), method, attr, mod, data);

	return status == STATUS_OK ||
	       refuse(c, "the device answers status 0x%02x to a %s with modifier 0x%x", status,
		      method == METHOD_GET ? "Get" : "Set", mod);
}
