/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What qosd makes of each option that opensm.conf may have: those of OpenSM 3.3.24, and those that
 * the vendor's subnet manager (MLNX_OFED, UFM) adds.
 */
#ifndef QOSD_CLI_CONVERT_OPENSM_OPTIONS_H
#define QOSD_CLI_CONVERT_OPENSM_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "cli/convert/convert.h"

/* What it means that an option has a value of `usual`, as the file that opensm -c writes has. */
enum usual_means {
	USUAL_OFF,	/* nothing is in use that could be lost */
	USUAL_ALIKE,	/* qosd does the same without a setting */
	USUAL_OWN,	/* nobody chose it, and qosd has a better default of its own */
	USUAL_JUDGED,	/* the same verdict as any other value */
};

enum option_how {
	HOW_PLAIN,	/* verdict and text say it */
	HOW_NUMBER,	/* becomes setting `key`, if it is within lo and hi */
	HOW_BOOLEAN,	/* becomes setting `key` */
	HOW_SPECIAL,	/* opensm_conf.c has a function for it */
};

struct opensm_option {
	const char *name;
	const char *usual;	/* default values, apart by blanks; "(null)" always is one */
	enum usual_means means;
	enum verdict verdict;	/* on any other value */
	enum option_how how;
	const char *key;	/* in qosd.yaml; NULL: none */
	const char *text;
	uint64_t lo, hi;	/* of HOW_NUMBER */
	uint64_t ours;		/* qosd's default of the key */
};

/* The options in an order for readers, and their number. */
extern const struct opensm_option opensm_options[];
extern const size_t opensm_options_n;

#endif
