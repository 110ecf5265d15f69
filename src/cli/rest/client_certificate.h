/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads, with GnuTLS, the certificate by which a client of a TLS connection identifies itself. */
#ifndef QOSD_CLI_CLIENT_CERTIFICATE_H
#define QOSD_CLI_CLIENT_CERTIFICATE_H

#include <stdbool.h>

#include "lib/base/buf.h"

struct MHD_Connection;

/*
 * Lists of certificates that CAs have revoked (CRLs), in PEM.  NULL: err says what is wrong with them: each must
 * be signed by one of these CAs.  Any thread may use the result.
 */
struct revocations;
struct revocations *revocations_read(const struct buf *cas, const struct buf *lists, struct buf *err);
void revocations_free(struct revocations *x);	/* NULL is fine */
/* Whether a list should have been replaced by now, by what it says itself. */
bool revocations_are_old(const struct revocations *x);

/*
 * Appends the subject of the client's certificate, a Distinguished Name as RFC 4514 writes it, without
 * control characters.  Only a certificate that is valid now, for clients, issued by a CA that the server
 * was started with, and not revoked is accepted; false: there is none, and if the client has sent one that
 * is not accepted, why says what is wrong with it.  An issuer whose list should have been replaced by now
 * vouches for nobody.  revoked: NULL: there are no lists.
 */
bool client_subject(struct MHD_Connection *c, const struct revocations *revoked, struct buf *subject, struct buf *why);
/* Whether the text has certificates, in PEM, and no others than good ones; err says what is wrong. */
bool client_ca_is_good(const struct buf *pem, struct buf *err);

#endif
