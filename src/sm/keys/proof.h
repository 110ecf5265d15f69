/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Lets one subnet manager prove to another that it has the SM_Key, without revealing it.
 *
 * IBA sends the key itself (14.2.5.13), so one of two managers that do not know each other would
 * have to tell its key to a stranger.  IBA leaves 43 bytes of SMInfo's data unused: there qosd puts
 * a nonce and a keyed hash of the nonce, both port GUIDs and the kind of MAD.  Other subnet
 * managers ignore these bytes.
 *
 * A proof holds for one pair of ports and one kind of MAD: its receiver cannot use it towards a
 * third manager.  Pure.
 */
#ifndef QOSD_SM_KEYS_PROOF_H
#define QOSD_SM_KEYS_PROOF_H

#include <stdbool.h>
#include <stdint.h>

/* The kind of MAD. */
enum { PROOF_GET = 1, PROOF_ANSWER = 2, PROOF_REPLICA_GET = 3, PROOF_REPLICA_ANSWER = 4,
       PROOF_CONTROL = 16 /* + the AttributeModifier, 1 to 5 */ };

/* Puts the proof into the 64 bytes of an SMInfo.  from, to: port GUIDs of sender and receiver. */
void proof_put(uint8_t data[64], uint64_t sm_key, uint32_t what, uint64_t from, uint64_t to,
	       uint64_t nonce);
bool proof_holds(const uint8_t data[64], uint64_t sm_key, uint32_t what, uint64_t from,
		 uint64_t to);
uint64_t proof_nonce(const uint8_t data[64]);

struct sa_replica;		/* lib/iba/sa_records.h */
/*
 * The same for messages by which a standby copies registrations (SA_ATTR_REPLICA).  The proof
 * covers the whole message, so nobody else can ask for the copy or answer with another one.  The
 * caller has put the nonce into the message.
 */
void proof_seal(struct sa_replica *x, uint64_t sm_key, uint32_t what, uint64_t from, uint64_t to);
bool proof_seal_holds(const struct sa_replica *x, uint64_t sm_key, uint32_t what, uint64_t from,
		      uint64_t to);

#endif
