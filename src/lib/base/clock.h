/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The only file that reads clocks, apart from the loop's own timers. */
#ifndef QOSD_LIB_BASE_CLOCK_H
#define QOSD_LIB_BASE_CLOCK_H

#include <stdint.h>

int64_t clock_mono_us(void);	/* CLOCK_MONOTONIC, microseconds */
/* CLOCK_BOOTTIME, microseconds since the machine started; nobody can set this clock */
int64_t clock_boot_us(void);
/* CLOCK_REALTIME, which may jump: use it only to show people the time of an event */
int64_t clock_real_us(void);	/* microseconds since 1970 */

#endif
