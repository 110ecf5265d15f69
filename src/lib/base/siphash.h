/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * SipHash-2-4 (Aumasson and Bernstein, 2012), a keyed hash.
 *
 * Nobody can compute the key from hashes, or the hash of another message without the key.
 */
#ifndef QOSD_LIB_BASE_SIPHASH_H
#define QOSD_LIB_BASE_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

/* Hashes n bytes under a key of 128 bits, given as two little-endian halves. */
uint64_t siphash(const uint64_t key[2], const void *message, size_t n);

#endif
