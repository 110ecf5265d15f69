/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See client_certificate.h. */
#include "cli/rest/client_certificate.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <microhttpd.h>

#include "lib/base/alloc.h"
#include "lib/base/clean.h"

/* --- lists of revoked certificates --- */

struct revocations {
	gnutls_x509_crl_t *lists;
	unsigned n;
};

static gnutls_datum_t datum_of(const struct buf *b)
{
	return (gnutls_datum_t){ (unsigned char *)b->s, (unsigned)b->n };
}

/* Whether a list is out of date is judged when it counts. */
static bool lists_are_signed(struct revocations *x, gnutls_x509_crt_t *cas, unsigned n, struct buf *err)
{
	const unsigned by_time = GNUTLS_CERT_INVALID | GNUTLS_CERT_REVOCATION_DATA_SUPERSEDED |
				 GNUTLS_CERT_REVOCATION_DATA_ISSUED_IN_FUTURE;
	unsigned status;

	for (unsigned i = 0; i < x->n; i++)
		if (gnutls_x509_crl_verify(x->lists[i], cas, (int)n, 0, &status) || (status & ~by_time)) {
			buf_printf(err, "list %u is not signed by a CA of client-ca", i + 1);
			return false;
		}
	return true;
}

struct revocations *revocations_read(const struct buf *cas, const struct buf *lists, struct buf *err)
{
	struct revocations *x = xcalloc(1, sizeof(*x));
	gnutls_datum_t pem = datum_of(lists), ca_pem = datum_of(cas);
	gnutls_x509_crt_t *ca = NULL;
	unsigned n = 0;
	int error = gnutls_x509_crl_list_import2(&x->lists, &x->n, &pem, GNUTLS_X509_FMT_PEM, 0);

	if (error)
		x->n = 0;
	else
		error = gnutls_x509_crt_list_import2(&ca, &n, &ca_pem, GNUTLS_X509_FMT_PEM, 0);
	if (error)
		buf_puts(err, gnutls_strerror(error));
	if (error || !lists_are_signed(x, ca, n, err)) {
		revocations_free(x);
		x = NULL;
	}
	for (unsigned i = 0; i < n; i++)
		gnutls_x509_crt_deinit(ca[i]);
	gnutls_free(ca);
	return x;
}

void revocations_free(struct revocations *x)
{
	if (!x)
		return;
	for (unsigned i = 0; i < x->n; i++)
		gnutls_x509_crl_deinit(x->lists[i]);
	gnutls_free(x->lists);
	free(x);
}

/* A list need not say when there will be another. */
static bool is_old(gnutls_x509_crl_t list)
{
	time_t next = gnutls_x509_crl_get_next_update(list);

	return next != (time_t)-1 && next < time(NULL);
}

bool revocations_are_old(const struct revocations *x)
{
	bool old = false;

	for (unsigned i = 0; x && i < x->n; i++)
		old |= is_old(x->lists[i]);
	return old;
}

static bool is_issuers(gnutls_x509_crl_t list, gnutls_x509_crt_t crt)
{
	gnutls_datum_t of_list = { 0 }, of_crt = { 0 };
	bool same = !gnutls_x509_crl_get_raw_issuer_dn(list, &of_list) &&
		    !gnutls_x509_crt_get_raw_issuer_dn(crt, &of_crt) && of_list.size == of_crt.size &&
		    !memcmp(of_list.data, of_crt.data, of_crt.size);

	gnutls_free(of_list.data);
	gnutls_free(of_crt.data);
	return same;
}

/* Judges one certificate of a chain. */
static bool may_count(const struct revocations *x, const gnutls_datum_t *der, struct buf *why)
{
	gnutls_x509_crt_t crt;
	bool good;

	if (gnutls_x509_crt_init(&crt))
		return false;
	good = !gnutls_x509_crt_import(crt, der, GNUTLS_X509_FMT_DER);
	for (unsigned i = 0; good && i < x->n; i++)
		if (is_issuers(x->lists[i], crt) && is_old(x->lists[i])) {
			buf_puts(why, "the list of certificates that its issuer revoked is out of date");
			good = false;
		}
	if (good && gnutls_x509_crt_check_revocation(crt, x->lists, (int)x->n)) {
		buf_puts(why, "it was revoked");
		good = false;
	}
	gnutls_x509_crt_deinit(crt);
	return good;
}

static bool are_in_force(const struct revocations *x, const gnutls_datum_t *chain, unsigned n, struct buf *why)
{
	for (unsigned i = 0; x && i < n; i++)
		if (!may_count(x, &chain[i], why))
			return false;
	return true;
}

/* --- the certificate of a client --- */

/* The library has not verified anything: it asks for a certificate, and takes any. */
static bool is_valid(gnutls_session_t session, struct buf *why)
{
	gnutls_typed_vdata_st purpose = { GNUTLS_DT_KEY_PURPOSE_OID,
					  (unsigned char *)(uintptr_t)GNUTLS_KP_TLS_WWW_CLIENT, 0 };
	unsigned status = 0;
	gnutls_datum_t text;
	int error = gnutls_certificate_verify_peers(session, &purpose, 1, &status);

	if (error) {
		buf_puts(why, gnutls_strerror(error));
	} else if (status && !gnutls_certificate_verification_status_print(status, GNUTLS_CRT_X509, &text, 0)) {
		buf_puts(why, (const char *)text.data);
		gnutls_free(text.data);
	} else if (status) {
		buf_puts(why, "it is not valid");
	}
	while (why->n && why->s[why->n - 1] == ' ')
		why->s[--why->n] = '\0';
	return !error && !status;
}

static bool put_subject(const gnutls_datum_t *der, struct buf *subject, struct buf *why)
{
	gnutls_datum_t text = { 0 };
	gnutls_x509_crt_t crt;
	int error = gnutls_x509_crt_init(&crt);

	if (error) {
		buf_puts(why, gnutls_strerror(error));
		return false;
	}
	error = gnutls_x509_crt_import(crt, der, GNUTLS_X509_FMT_DER);
	if (!error)
		error = gnutls_x509_crt_get_dn3(crt, &text, 0);
	if (error) {
		buf_puts(why, gnutls_strerror(error));
	} else {
		clean_text((char *)text.data);
		buf_puts(subject, (const char *)text.data);
		gnutls_free(text.data);
	}
	gnutls_x509_crt_deinit(crt);
	return !error;
}

bool client_subject(struct MHD_Connection *c, const struct revocations *revoked, struct buf *subject, struct buf *why)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(c, MHD_CONNECTION_INFO_GNUTLS_SESSION);
	gnutls_session_t session = info ? info->tls_session : NULL;
	const gnutls_datum_t *list;
	unsigned n = 0;

	if (!session || gnutls_certificate_type_get2(session, GNUTLS_CTYPE_CLIENT) != GNUTLS_CRT_X509)
		return false;
	list = gnutls_certificate_get_peers(session, &n);
	return list && n && is_valid(session, why) && are_in_force(revoked, list, n, why) &&
	       put_subject(&list[0], subject, why);
}

bool client_ca_is_good(const struct buf *pem, struct buf *err)
{
	gnutls_datum_t data = datum_of(pem);
	gnutls_x509_crt_t *list = NULL;
	unsigned n = 0;
	int error = gnutls_x509_crt_list_import2(&list, &n, &data, GNUTLS_X509_FMT_PEM, 0);

	if (error)
		buf_puts(err, gnutls_strerror(error));
	for (unsigned i = 0; i < n && !error; i++)
		gnutls_x509_crt_deinit(list[i]);
	if (!error)
		gnutls_free(list);
	return !error;
}
