/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Converts other managers' files to a policy and settings of qosd.  It reads OpenSM's qos-policy.conf (full and
 * simplified syntax), the qos_* options of opensm.conf, partitions.conf, prefix-routes.conf, and
 * the XML of the 2006 design.
 *
 * Each reader fills its part of one struct converted; a separate step writes that as commented
 * YAML.  Nothing is dropped silently: each option, line and keyword gets a verdict with its place
 * in the source.  All but those that say "same" are comments in the policy, too, at their items.
 * Names that qosd does not accept are changed, with a verdict as well.
 */
#ifndef QOSD_CLI_CONVERT_CONVERT_H
#define QOSD_CLI_CONVERT_CONVERT_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/buf.h"
#include "lib/base/findings.h"

enum verdict {
	VERDICT_SAME,		/* qosd does the same */
	VERDICT_OTHERWISE,	/* qosd does it in another way */
	VERDICT_NOT_NEEDED,	/* qosd does not need it, or it had no effect */
	VERDICT_NOT_POSSIBLE,	/* something is lost */
	VERDICT_ERROR,		/* the input is not valid in its format */
	VERDICTS
};

/* A verdict on a place of the inputs. */
struct judged {
	enum verdict verdict;
	struct src_pos pos;	/* line 0: the input as a whole */
	char *file, *text;	/* owned */
};

struct verdicts {
	struct judged *v;
	size_t n, cap;
	size_t count[VERDICTS];	/* includes those that were not kept */
};

/* Beyond these numbers, errors and other verdicts are only counted. */
#define ERRORS_MAX	1000
#define VERDICTS_MAX	100000


enum convert_format {
	FORMAT_UNKNOWN, FORMAT_QOS_POLICY, FORMAT_OPENSM_CONF, FORMAT_PARTITIONS,
	FORMAT_PREFIX_ROUTES, FORMAT_XML, FORMATS
};

struct convert_input {
	const char *name;		/* name for findings */
	const char *text;		/* of any content; NULL if n is 0 */
	size_t n;
	enum convert_format format;	/* FORMAT_UNKNOWN: guess */
};

struct convert_options {
	bool with_qos;		/* as if opensm.conf had `qos TRUE` */
	bool settings_apart;	/* the policy does not list the settings as comments */
};

struct conversion {
	struct buf policy, settings;	/* policy.yaml and qosd.yaml; empty if there are errors */
	struct verdicts verdicts;	/* sorted by file and place */
};

/*
 * Converts all inputs into one policy and one file of settings: at most one input of each format,
 * and not both QOS_POLICY and XML.  The result depends on nothing but the arguments.  Returns
 * false, with errors among the verdicts, if an input is not valid in its format.  out must be
 * zeroed, and is freed with conversion_free() in any case.
 */
bool convert_all(const struct convert_input *in, size_t n, const struct convert_options *options,
		 struct conversion *out);
void conversion_free(struct conversion *c);
const char *verdict_name(enum verdict v);	/* "same", "otherwise", "not needed", … */
/* Appends `file:line:column: verdict: text`, without an end of line. */
void judged_format(const struct judged *j, struct buf *out);
void verdicts_free(struct verdicts *v);
/* Guesses by content; FORMAT_UNKNOWN if that is impossible. */
enum convert_format convert_guess(const char *text, size_t n);
const char *convert_format_name(enum convert_format f);	/* "qos-policy", "opensm-conf", … */
enum convert_format convert_format_parse(const char *word);

#endif
