/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The only place that reads a clock (the loop's own timers aside). */
#ifndef QOSD_LIB_BASE_CLOCK_H
#define QOSD_LIB_BASE_CLOCK_H

#include <stdint.h>

int64_t clock_mono_us(void);	/* CLOCK_MONOTONIC, microseconds */
/* CLOCK_BOOTTIME, microseconds: since the machine started, and nobody sets it */
int64_t clock_boot_us(void);
/* CLOCK_REALTIME, which may jump: to tell people when something was, for nothing else */
int64_t clock_real_us(void);	/* microseconds since 1970 */

#endif
