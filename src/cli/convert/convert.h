/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Converts other managers' files to a policy of qosd.  It reads OpenSM's qos-policy.conf (full and
 * simplified syntax), the qos_* options of opensm.conf, partitions.conf, prefix-routes.conf, and
 * the XML of the 2006 design.
 *
 * Each reader fills its part of one struct converted; a separate step writes that as commented
 * YAML.  Nothing is dropped silently: what has no equivalent, and what OpenSM does otherwise than
 * its file says, becomes a note with its place in the source, printed as a finding and as a comment
 * at its item.  Names that qosd does not accept are changed, with a note as well.
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
	const char *name;		/* name for findings */
	const char *text;		/* of any content; NULL if n is 0 */
	size_t n;
	enum convert_format format;	/* FORMAT_UNKNOWN: guess */
};

/*
 * Converts all inputs into one policy: at most one input of each format, and not both QOS_POLICY
 * and XML.  The result depends on nothing but the inputs.  Returns false, with errors in out and
 * nothing in yaml, if an input is not valid in its format.  Warnings and infos say what has no
 * equivalent.
 */
bool convert_to_policy(const struct convert_input *in, size_t n, struct buf *yaml,
		       struct findings *out);
/* Guesses by content; FORMAT_UNKNOWN if that is impossible. */
enum convert_format convert_guess(const char *text, size_t n);
const char *convert_format_name(enum convert_format f);	/* "qos-policy", "opensm-conf", … */
enum convert_format convert_format_parse(const char *word);

#endif
