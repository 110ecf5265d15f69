/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a fuzzer is: libFuzzer's interface, which replay.c has, too. */
#ifndef QOSD_FUZZ_H
#define QOSD_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
