/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The text exposition format of Prometheus, version 0.0.4: one metric after the other,
 * each with its HELP and TYPE, then its samples.
 */
#ifndef QOSD_CTL_PROM_H
#define QOSD_CTL_PROM_H

#include <stdint.h>

#include "lib/base/buf.h"

#define PROM_TYPE "text/plain; version=0.0.4; charset=utf-8"

struct prom {
	struct buf *out;
	const char *name;	/* of the metric whose samples follow */
};

enum prom_type { PROM_GAUGE, PROM_COUNTER, PROM_HISTOGRAM };
/* Begins a metric.  Counters are called ..._total; help is one line. */
void prom_metric(struct prom *p, const char *name, enum prom_type type, const char *help);
/*
 * A sample: pairs of label and value, both text, then NULL.  Values of labels may hold
 * anything; what is not UTF-8 loses its bytes beyond ASCII.
 */
void prom_sample(struct prom *p, double value, ...) __attribute__((sentinel));
/* The same with something behind the metric's name: "_bucket". */
void prom_sample_of(struct prom *p, const char *suffix, double value, ...)
	__attribute__((sentinel));
/* A metric of one sample without labels. */
void prom_single(struct prom *p, const char *name, enum prom_type type, const char *help,
		 double value);

#endif
