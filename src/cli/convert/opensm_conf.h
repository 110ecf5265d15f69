/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An option of opensm.conf, for those who read options: opensm_conf.c, which reads the file and
 * judges each line, and opensm_tables.c, which reads the options that make tables.
 */
#ifndef QOSD_CLI_CONVERT_OPENSM_CONF_H
#define QOSD_CLI_CONVERT_OPENSM_CONF_H

#include "cli/convert/split_text.h"

struct option {
	struct converted *c;
	const char *key, *value;
	struct place at;		/* place of the key */
	struct cursor text;		/* the value */
	bool again;			/* a later line sets it again */
};

/* Reads an option qos_*, with a verdict; returns false, without one, if it is not about tables. */
bool read_table_option(const struct option *o);
/*
 * Adds OpenSM's built-in tables for what no option gave, as they differ from qosd's; file is the
 * name of opensm.conf.
 */
void add_built_in_tables(struct converted *c, const char *file);

#endif
