/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See rest_settings.h. */
#include "cli/rest/api/rest_settings.h"

#include <crypt.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/net.h"
#include "lib/format/yaml_read.h"
#include "qosd/ctl.h"

#define PKEY_LAST 0x7ffeu	/* the default partition is left to the policy unless a user may change it */
#define WAIT_MAX_MS 60000
#define REQUEST_MAX_MS 3600000

static const struct src_pos nowhere;

/* --- users --- */

/* Weak methods are refused: they can be reversed by trying. */
static bool is_hash(struct reader *r, const struct node *n, const char *word)
{
	int verdict = crypt_checksalt(word);

	if (verdict == CRYPT_SALT_OK && *word == '$')
		return true;
	read_error(r, n->pos, verdict == CRYPT_SALT_METHOD_LEGACY || verdict == CRYPT_SALT_TOO_CHEAP ||
		   verdict == CRYPT_SALT_OK ?
		   "this hash is too weak: make one with qosd-rest --hash-password" :
		   "this is not a hash of a password: make one with qosd-rest --hash-password");
	return false;
}

static void read_hash(struct reader *r, const struct node *n, const struct key *k, void *at)
{
	const char *word = read_word(r, n, "a hash");

	(void)k;
	if (word && is_hash(r, n, word))
		*(char **)at = xstrdup(word);
}

static void read_tokens(struct reader *r, const struct node *n, const struct key *k, void *at)
{
	struct rest_user *u = at;

	(void)k;
	for (const struct node *x = read_items(r, n, "hashes of tokens"); x; x = x->next) {
		const char *word = read_word(r, x, "a hash");

		if (word && is_hash(r, x, word))
			*vec_push(&u->tokens) = xstrdup(word);
	}
}

static void read_subjects(struct reader *r, const struct node *n, const struct key *k, void *at)
{
	struct rest_user *u = at;

	(void)k;
	for (const struct node *x = read_items(r, n, "subjects of certificates"); x; x = x->next) {
		const char *text = read_word(r, x, "a subject");

		if (text && !strchr(text, '='))
			read_error(r, x->pos,
				   "'%s' is not a Distinguished Name, such as CN=name,O=organization",
				   EXCERPT(text));
		else if (text)
			*vec_push(&u->subjects) = xstrdup(text);
	}
}

static void read_pkeys(struct reader *r, const struct node *n, const struct key *k, void *at)
{
	struct rest_pkeys *p = at;
	uint64_t lo, hi;

	(void)k;
	if (read_range(r, n, 1, 0x7fff, &lo, &hi))
		*p = (struct rest_pkeys){ (uint16_t)lo, (uint16_t)hi };
}

static const char *const right_words[] = {
	[REST_READ] = "read", [REST_PARTITIONS] = "partitions", [REST_ALL] = "all", NULL
};

static const struct key user_keys[] = {
	{ "password", read_hash, FIELD(struct rest_user, password) },
	{ "tokens", read_tokens, WHOLE },
	{ "subjects", read_subjects, WHOLE },
	{ "right", read_choice, FIELD(struct rest_user, right), .words = right_words },
	{ "pkeys", read_pkeys, FIELD(struct rest_user, pkeys) },
};

static bool is_user_name(const char *s)
{
	size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_");

	return n && n <= 32 && !s[n];
}

static void read_users(struct reader *r, const struct node *n, const struct key *k, void *at)
{
	struct rest_settings *s = at;

	(void)k;
	if (!read_is_map(r, n))
		return;
	for (const struct node *name = n->child; name; name = name->next) {
		struct rest_user *u = vec_push(&s->users);

		*u = (struct rest_user){ .name = xstrdup(name->text), .pkeys = { 1, PKEY_LAST } };
		if (!is_user_name(name->text))
			read_error(r, name->pos, "'%s': a user's name has up to 32 letters, digits, - and _",
				   EXCERPT(name->text));
		if (read_map(r, name->value, user_keys, ARRAY_SIZE(user_keys), u) &&
		    !node_get(name->value, "password") && !node_get(name->value, "tokens") &&
		    !node_get(name->value, "subjects"))
			read_error(r, name->pos, "the user %s has no password, tokens or subjects",
				   EXCERPT(name->text));
	}
}

/* --- the rest --- */

static void read_address(struct reader *r, const struct node *n, const struct key *k, void *at)
{
	const char *word = read_word(r, n, "an address and a port");
	struct sockaddr_storage addr;

	(void)k;
	if (!word)
		return;
	if (!net_parse(word, &addr)) {
		read_error(r, n->pos, "'%s' is not ADDRESS:PORT, such as 0.0.0.0:443 or [::]:443", EXCERPT(word));
		return;
	}
	free(*(char **)at);
	*(char **)at = xstrdup(word);
}

static void read_proxies(struct reader *r, const struct node *n, const struct key *k, void *at)
{
	struct rest_settings *s = at;

	(void)k;
	for (const struct node *x = read_items(r, n, "addresses of proxies"); x; x = x->next) {
		const char *text = read_word(r, x, "an address or network");
		struct rest_network network;

		if (text && rest_network_parse(text, &network))
			*vec_push(&s->proxies) = network;
		else if (text)
			read_error(r, x->pos, "'%s' is neither an address nor a network, such as 192.0.2.1 or "
				   "2001:db8::/32", EXCERPT(text));
	}
}

/* The first word is for no, the second for yes. */
static void read_yes(struct reader *r, const struct node *n, const struct key *k, void *at)
{
	uint8_t yes = 0;

	read_choice(r, n, &(struct key){ .words = k->words, .size = sizeof(yes) }, &yes);
	*(bool *)at = yes;
}

static const char *const absent_words[] = { "refuse", "accept", NULL };
static const char *const index0_words[] = {
	[REST_INDEX0_SET] = "set", [REST_INDEX0_IGNORE] = "ignore", [REST_INDEX0_REFUSE] = "refuse", NULL
};

#define AT(member) FIELD(struct rest_settings, member)
static const struct key keys[] = {
	{ "listen", read_address, AT(listen) },
	{ "certificate", read_text, AT(certificate) },
	{ "key", read_text, AT(key) },
	{ "client-ca", read_text, AT(client_ca) },
	{ "client-crl", read_text, AT(client_crl) },
	{ "plain-http", read_bool, AT(plain_http) },
	{ "socket", read_text, AT(socket) },
	{ "absent-guids", read_yes, AT(choices.absent_guids), .words = absent_words },
	{ "index0", read_choice, AT(choices.index0), .words = index0_words },
	{ "wait", read_time, AT(wait_ms), .max = WAIT_MAX_MS, .unit = 1e-3 },
	{ "requests-per-second", read_uint, AT(requests_per_second), .min = 1, .max = 100000 },
	{ "request-timeout", read_time, AT(request_ms), .min = 100, .max = REQUEST_MAX_MS, .unit = 1e-3 },
	{ "trusted-proxies", read_proxies, WHOLE },
	{ "users", read_users, WHOLE, .required = true },
};

/* A certificate must belong to exactly one user, and can only be requested with TLS. */
static void check_subjects(const char *file, const struct rest_settings *s, struct findings *out)
{
	VEC(const char *) seen = { 0 };
	const struct rest_user *u;

	for (u = s->users.v; u < s->users.v + s->users.n; u++)
		for (size_t i = 0; i < u->subjects.n; i++) {
			for (size_t k = 0; k < seen.n; k++)
				if (!strcmp(seen.v[k], u->subjects.v[i]))
					findings_add(out, SEV_ERROR, file, nowhere,
						     "the subject %s is listed twice", seen.v[k]);
			*vec_push(&seen) = u->subjects.v[i];
		}
	if (seen.n && !s->client_ca)
		findings_add(out, SEV_ERROR, file, nowhere,
			     "subjects need client-ca, whose authorities issue their certificates");
	if (s->client_crl && !s->client_ca)
		findings_add(out, SEV_ERROR, file, nowhere,
			     "client-crl needs client-ca, whose authorities sign such lists");
	if (s->client_ca && !s->certificate)
		findings_add(out, SEV_ERROR, file, nowhere, "client-ca needs certificate and key");
	vec_free(&seen);
}

static void check_whole(const char *file, const struct rest_settings *s, struct findings *out)
{
	check_subjects(file, s, out);
	if (!s->certificate != !s->key)
		findings_add(out, SEV_ERROR, file, nowhere, "certificate and key must be given together");
	else if (!s->certificate && !s->plain_http)
		findings_add(out, SEV_ERROR, file, nowhere,
			     "certificate and key are missing; without TLS (`plain-http: true'), "
			     "passwords could be read on the way");
	else if (s->certificate && s->plain_http)
		findings_add(out, SEV_ERROR, file, nowhere, "plain-http contradicts certificate");
}

struct rest_settings *rest_settings_read(const char *file, const char *text, size_t n, struct findings *out)
{
	struct findings found = { 0 };
	struct reader r = { .file = file, .out = &found };
	struct rest_settings *s = xcalloc(1, sizeof(*s));
	struct node *root;

	s->listen = xstrdup("0.0.0.0:443");
	s->socket = xstrdup(QOSD_SOCKET);
	s->wait_ms = 10000;
	s->requests_per_second = 100;
	s->request_ms = 60000;
	if (yaml_tree_parse(file, text, n, &root, NULL, &found)) {
		if (root)
			read_map(&r, root, keys, ARRAY_SIZE(keys), s);
		else
			findings_add(&found, SEV_ERROR, file, nowhere, "the file is empty: users are missing");
		yaml_tree_free(root);
	}
	if (!found.count[SEV_ERROR])
		check_whole(file, s, &found);
	if (found.count[SEV_ERROR]) {
		rest_settings_free(s);
		s = NULL;
	}
	findings_sort(&found);
	findings_move(out, &found);
	return s;
}

void rest_settings_free(struct rest_settings *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->users.n; i++) {
		struct rest_user *u = &s->users.v[i];

		for (size_t k = 0; k < u->tokens.n; k++)
			free(u->tokens.v[k]);
		vec_free(&u->tokens);
		for (size_t k = 0; k < u->subjects.n; k++)
			free(u->subjects.v[k]);
		vec_free(&u->subjects);
		free(u->password);
		free(u->name);
	}
	vec_free(&s->users);
	vec_free(&s->proxies);
	free(s->listen);
	free(s->certificate);
	free(s->key);
	free(s->client_ca);
	free(s->client_crl);
	free(s->socket);
	free(s);
}
