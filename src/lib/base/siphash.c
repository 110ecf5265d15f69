/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See siphash.h. */
#include "lib/base/siphash.h"

#include <endian.h>
#include <string.h>

enum { ROUNDS_PER_WORD = 2, ROUNDS_AT_END = 4 };

static uint64_t rotate(uint64_t x, unsigned bits)
{
	return x << bits | x >> (64 - bits);
}

static void rounds(uint64_t v[4], unsigned n)
{
	while (n--) {
		v[0] += v[1];
		v[2] += v[3];
		v[1] = rotate(v[1], 13) ^ v[0];
		v[3] = rotate(v[3], 16) ^ v[2];
		v[0] = rotate(v[0], 32);
		v[2] += v[1];
		v[0] += v[3];
		v[1] = rotate(v[1], 17) ^ v[2];
		v[3] = rotate(v[3], 21) ^ v[0];
		v[2] = rotate(v[2], 32);
	}
}

static void absorb(uint64_t v[4], uint64_t word)
{
	v[3] ^= word;
	rounds(v, ROUNDS_PER_WORD);
	v[0] ^= word;
}

uint64_t siphash(const uint64_t key[2], const void *message, size_t n)
{
	uint64_t v[4] = {
		key[0] ^ 0x736f6d6570736575, key[1] ^ 0x646f72616e646f6d,
		key[0] ^ 0x6c7967656e657261, key[1] ^ 0x7465646279746573,
	};
	const uint8_t *p = message;
	uint64_t word;
	size_t left = n;

	for (; left >= 8; left -= 8, p += 8) {
		memcpy(&word, p, 8);
		absorb(v, le64toh(word));
	}
	word = 0;
	if (left)
		memcpy(&word, p, left);
	absorb(v, le64toh(word) | (uint64_t)n << 56);
	v[2] ^= 0xff;
	rounds(v, ROUNDS_AT_END);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}
