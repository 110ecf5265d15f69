/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Decides who may make a request: passwords, tokens and certificates, and how many requests a user and how many
 * failures an address has.
 *
 * Passwords and tokens are stored only as hashes of crypt(3), which take long on purpose.  A keyed hash of each
 * secret that was right is remembered, so that only the first request of a client takes that long.  A secret
 * that is not remembered costs a token of its address's bucket, and only one is hashed at a time: guessing
 * cannot use up the machine.  Any thread may call.
 */
#ifndef QOSD_CLI_REST_GATE_H
#define QOSD_CLI_REST_GATE_H

#include "cli/rest/api/rest_settings.h"

#define REST_TRIES 10			/* of an address at once, */
#define REST_TRY_US 1000000		/* and one more after each such time */

struct rest_gate;
/* The settings must stay. */
struct rest_gate *rest_gate_new(const struct rest_settings *s);
void rest_gate_free(struct rest_gate *g);

/* What a request says about the user who makes it. */
struct rest_client {
	const char *authorization;	/* header; NULL: it has none */
	const char *subject;		/* of the client's certificate, if that is valid; NULL: none */
	const char *why;		/* what is wrong with its certificate; NULL: there is none, or nothing is */
	struct rest_address from;
};
/*
 * The user who makes a request at this base: the one whom the header names or, without a header and
 * at the base for certificates, the one whose certificate it is.  now_us is any monotonic time.  NULL
 * with 401 or 429 in a.
 */
const struct rest_user *rest_gate_admit(struct rest_gate *g, enum rest_base base, const struct rest_client *c,
					int64_t now_us, struct rest_answer *a);

/* Appends the hash of a password or token for the settings; false: the system cannot make one. */
bool rest_hash_secret(const char *secret, struct buf *out);
/* Appends a new token "NAME.SECRET" of 256 random bits. */
bool rest_new_token(const char *user, struct buf *out);
/* Decodes base64 without white space; false: it is not base64.  The text may have NULs. */
bool rest_decode_base64(const char *text, struct buf *out);

#endif
