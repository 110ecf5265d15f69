/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The columns of a report: arrays of numbers, whose i-th elements belong together, as they take less room than an
 * object for each row.
 */
#ifndef QOSD_CTL_REPORT_REPORT_COLUMNS_H
#define QOSD_CTL_REPORT_REPORT_COLUMNS_H

#include <jansson.h>
#include <stdbool.h>

#include "fabric/fabric.h"

struct column {
	const char *name;
	json_t *values;
};

static inline struct column column(const char *name)
{
	return (struct column){ name, json_array() };
}

static inline void put(const struct column *c, json_int_t value)
{
	json_array_append_new(c->values, json_integer(value));
}

/* Moves n columns into the object. */
static inline void set_columns(json_t *o, const struct column *c, size_t n)
{
	for (size_t i = 0; i < n; i++)
		json_object_set_new(o, c[i].name, c[i].values);
}

/* Whether the port is the end "a" of a link; links are in order of this end. */
static inline bool is_end_a(const struct fabric *f, uint32_t port)
{
	return f->ports[port].peer != FABRIC_NONE && f->ports[port].peer >= port;
}

#endif
