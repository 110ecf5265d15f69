/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writes the text exposition format of Prometheus, version 0.0.4.  Each metric has its HELP and
 * TYPE, followed by its samples.
 */
#ifndef QOSD_CTL_PROM_H
#define QOSD_CTL_PROM_H

#include <stdint.h>

#include "lib/base/buf.h"

#define PROM_TYPE "text/plain; version=0.0.4; charset=utf-8"

struct prom {
	struct buf *out;
	const char *name;	/* metric that the next samples belong to */
};

enum prom_type { PROM_GAUGE, PROM_COUNTER, PROM_HISTOGRAM };
/* Begins a metric.  Names of counters end in _total; help is one line. */
void prom_metric(struct prom *p, const char *name, enum prom_type type, const char *help);
/*
 * Adds a sample: pairs of label and value, both text, then NULL.  Label values may hold anything;
 * text that is not UTF-8 loses its bytes beyond ASCII.
 */
void prom_sample(struct prom *p, double value, ...) __attribute__((sentinel));
/* Like prom_sample(), with a suffix to the metric's name: "_bucket". */
void prom_sample_of(struct prom *p, const char *suffix, double value, ...)
	__attribute__((sentinel));
/* Adds a metric with one sample and no labels. */
void prom_single(struct prom *p, const char *name, enum prom_type type, const char *help,
		 double value);

#endif
