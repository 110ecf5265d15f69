/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How one subnet manager shows another that it has the SM_Key, without telling it.
 *
 * IBA has the key itself for that (14.2.5.13), so that of two managers that do not know each
 * other one would have to tell its key to a stranger.  SMInfo's data has 43 bytes that IBA leaves
 * unused: there a qosd puts a number that it uses once, and a keyed hash of that number, of
 * both port GUIDs and of what the MAD is.  Other subnet managers ignore these bytes.
 *
 * A proof holds for one pair of ports and one kind of MAD: whoever receives it can't use it
 * towards a third manager.  Pure.
 */
#ifndef QOSD_SM_KEYS_PROOF_H
#define QOSD_SM_KEYS_PROOF_H

#include <stdbool.h>
#include <stdint.h>

/* What the MAD is. */
enum { PROOF_GET = 1, PROOF_ANSWER = 2, PROOF_REPLICA_GET = 3, PROOF_REPLICA_ANSWER = 4,
       PROOF_CONTROL = 16 /* + the AttributeModifier, 1 to 5 */ };

/* Into the 64 bytes of an SMInfo: from the port with one GUID to the port with the other. */
void proof_put(uint8_t data[64], uint64_t sm_key, uint32_t what, uint64_t from, uint64_t to,
	       uint64_t nonce);
bool proof_holds(const uint8_t data[64], uint64_t sm_key, uint32_t what, uint64_t from,
		 uint64_t to);
uint64_t proof_nonce(const uint8_t data[64]);

struct sa_replica;		/* lib/iba/sa_records.h */
/*
 * The same for what a standby copies (SA_ATTR_REPLICA): a proof of the whole message, so that nobody
 * else can ask for it, or answer with something else.  The nonce is in there before.
 */
void proof_seal(struct sa_replica *x, uint64_t sm_key, uint32_t what, uint64_t from, uint64_t to);
bool proof_seal_holds(const struct sa_replica *x, uint64_t sm_key, uint32_t what, uint64_t from,
		      uint64_t to);

#endif
