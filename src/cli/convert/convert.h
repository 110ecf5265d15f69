/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Other managers' files to a policy of qosd: OpenSM's qos-policy.conf (full and
 * simplified syntax), the qos_* options of opensm.conf, partitions.conf,
 * prefix-routes.conf, and the XML of the 2006 design.
 *
 * Each reader fills its part of one struct converted; writing it as commented
 * YAML is a step of its own.  Nothing is dropped without a word: what has no
 * equivalent, and what OpenSM does otherwise than it says, becomes a note with
 * its place in the source, printed as a finding and as a comment where it
 * belongs.  Names that qosd would not take are changed, and that is noted, too.
 */
#ifndef QOSD_CLI_CONVERT_CONVERT_H
#define QOSD_CLI_CONVERT_CONVERT_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/buf.h"
#include "lib/base/findings.h"

enum convert_format {
	FORMAT_UNKNOWN, FORMAT_QOS_POLICY, FORMAT_OPENSM_CONF, FORMAT_PARTITIONS,
	FORMAT_PREFIX_ROUTES, FORMAT_XML,
};

struct convert_input {
	const char *name;		/* for findings */
	const char *text;		/* any bytes; NULL if n is 0 */
	size_t n;
	enum convert_format format;	/* UNKNOWN: told by what it holds */
};

/*
 * All inputs into one policy: at most one of each format, and one of QOS_POLICY
 * and XML.  The same inputs give the same policy, and nothing but them is read.
 * False, with errors in out, if any can't be read as what it is: then yaml
 * holds nothing.  Warnings and infos say what has no equivalent.
 */
bool convert_to_policy(const struct convert_input *in, size_t n, struct buf *yaml,
		       struct findings *out);
/* By content, or FORMAT_UNKNOWN. */
enum convert_format convert_guess(const char *text, size_t n);
const char *convert_format_name(enum convert_format f);	/* "qos-policy", "opensm-conf", … */
enum convert_format convert_format_parse(const char *word);

#endif
