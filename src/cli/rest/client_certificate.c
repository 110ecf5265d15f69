/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See client_certificate.h. */
#include "cli/rest/client_certificate.h"

#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <microhttpd.h>

#include "lib/base/clean.h"

/* The library has not verified anything: it asks for a certificate, and takes any. */
static bool is_valid(gnutls_session_t session, struct buf *why)
{
	gnutls_typed_vdata_st purpose = { GNUTLS_DT_KEY_PURPOSE_OID, (unsigned char *)(uintptr_t)GNUTLS_KP_TLS_WWW_CLIENT, 0 };
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

bool client_subject(struct MHD_Connection *c, struct buf *subject, struct buf *why)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(c, MHD_CONNECTION_INFO_GNUTLS_SESSION);
	gnutls_session_t session = info ? info->tls_session : NULL;
	const gnutls_datum_t *list;
	unsigned n = 0;

	if (!session || gnutls_certificate_type_get2(session, GNUTLS_CTYPE_CLIENT) != GNUTLS_CRT_X509)
		return false;
	list = gnutls_certificate_get_peers(session, &n);
	return list && n && is_valid(session, why) && put_subject(&list[0], subject, why);
}

bool client_ca_is_good(const struct buf *pem, struct buf *err)
{
	gnutls_datum_t data = { (unsigned char *)pem->s, (unsigned)pem->n };
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
