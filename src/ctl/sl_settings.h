/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How programs are told to use an SL without asking the subnet administrator.
 */
#ifndef QOSD_CTL_SL_SETTINGS_H
#define QOSD_CTL_SL_SETTINGS_H

#include <stddef.h>

struct sl_setting {
	const char *program;
	const char *before;	/* what the number of the SL follows: "NCCL_IB_SL=" */
};

/* In the order in which they are shown. */
extern const struct sl_setting sl_settings[];
extern const size_t n_sl_settings;

#endif
