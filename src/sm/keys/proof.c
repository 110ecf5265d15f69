/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See proof.h. */
#include "sm/keys/proof.h"

#include <string.h>

#include "lib/base/bytes.h"
#include "lib/base/siphash.h"
#include "lib/iba/sa_records.h"

enum { OFF_NONCE = 40, OFF_HASH = 48 };		/* offsets in SMInfo's data */

static uint64_t hash(uint64_t sm_key, uint32_t what, uint64_t from, uint64_t to, uint64_t nonce)
{
	const uint64_t key[2] = { sm_key, 0x716f736420534d20 };	/* any constant */
	uint8_t message[28];

	put_be32(message, what);
	put_be64(message + 4, from);
	put_be64(message + 12, to);
	put_be64(message + 20, nonce);
	return siphash(key, message, sizeof(message));
}

void proof_put(uint8_t data[64], uint64_t sm_key, uint32_t what, uint64_t from, uint64_t to,
	       uint64_t nonce)
{
	put_be64(data + OFF_NONCE, nonce);
	put_be64(data + OFF_HASH, hash(sm_key, what, from, to, nonce));
}

bool proof_holds(const uint8_t data[64], uint64_t sm_key, uint32_t what, uint64_t from, uint64_t to)
{
	return get_be64(data + OFF_HASH) == hash(sm_key, what, from, to, proof_nonce(data));
}

uint64_t proof_nonce(const uint8_t data[64])
{
	return get_be64(data + OFF_NONCE);
}

static uint64_t seal_of(const struct sa_replica *x, uint64_t sm_key, uint32_t what, uint64_t from,
			uint64_t to)
{
	const uint64_t key[2] = { sm_key, 0x716f736420534d20 };
	uint8_t message[20 + sizeof(*x)];
	struct sa_replica bare = *x;

	memset(bare.proof, 0, sizeof(bare.proof));
	put_be32(message, what);
	put_be64(message + 4, from);
	put_be64(message + 12, to);
	memcpy(message + 20, &bare, sizeof(bare));
	return siphash(key, message, sizeof(message));
}

void proof_seal(struct sa_replica *x, uint64_t sm_key, uint32_t what, uint64_t from, uint64_t to)
{
	put_be64(x->proof, seal_of(x, sm_key, what, from, to));
}

bool proof_seal_holds(const struct sa_replica *x, uint64_t sm_key, uint32_t what, uint64_t from,
		      uint64_t to)
{
	return get_be64(x->proof) == seal_of(x, sm_key, what, from, to);
}
