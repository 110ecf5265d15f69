/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The settings of the REST gateway and its users, and their YAML file, which qosd-rest.yaml(5) describes. */
#ifndef QOSD_CLI_REST_SETTINGS_H
#define QOSD_CLI_REST_SETTINGS_H

#include "cli/rest/api/rest_address.h"
#include "cli/rest/api/rest_api.h"
#include "lib/base/alloc.h"
#include "lib/base/findings.h"

#define REST_FILE_MAX (1u << 20)	/* bytes of the settings, and of a certificate or key */
#define REST_PASSWORD_MAX 256		/* bytes of a password or token */

struct rest_user {
	char *name;			/* letters, digits, - and _ */
	char *password;			/* hash by crypt(3); NULL: the user has none */
	VEC(char *) tokens;		/* hashes by crypt(3) of tokens NAME.SECRET */
	VEC(char *) subjects;		/* Distinguished Names of client certificates, as RFC 4514 writes them */
	enum rest_right right;
	struct rest_pkeys pkeys;	/* what REST_PARTITIONS extends to */
};

struct rest_settings {
	char *listen;			/* in net_parse()'s form */
	char *certificate, *key;	/* paths of PEM files; NULL: none */
	char *client_ca;		/* the same, of CAs whose certificates identify clients */
	char *client_crl;		/* and of lists of certificates that these have revoked; NULL: none */
	bool plain_http;
	char *socket;			/* of the daemon */
	struct rest_choices choices;
	uint32_t wait_ms;		/* for a change to be in force; 0: answer at once */
	uint32_t requests_per_second;	/* of each user */
	uint32_t request_ms;		/* for a request to arrive, and for its answer to leave */
	VEC(struct rest_network) proxies;	/* whose X-Forwarded-For is believed */
	VEC(struct rest_user) users;
};

/* Returns NULL, with errors in out, if anything is wrong.  The caller frees the result. */
struct rest_settings *rest_settings_read(const char *file, const char *text, size_t n, struct findings *out);
void rest_settings_free(struct rest_settings *s);	/* NULL is fine */

#endif
