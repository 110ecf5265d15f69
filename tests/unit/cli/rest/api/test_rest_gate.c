/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests who is let in: settings with users, headers, and limits.
 *
 * promise: J4
 */
#include <string.h>

#include "cli/rest/api/rest_gate.h"
#include "unit/run.h"

#define S 1000000

static struct rest_settings *settings;
static struct rest_gate *gate;
static struct rest_answer a;
static char *token;
static const char *subject, *why;	/* of the client's certificate */

/* Settings with a user for each way in. */
static void setup(void)
{
	struct buf text = { 0 }, hash = { 0 }, secret = { 0 }, hash_of_token = { 0 };
	struct findings found = { 0 };

	ck_assert(rest_hash_secret("open:sesame", &hash));
	ck_assert(rest_new_token("bot", &secret) && rest_hash_secret(secret.s, &hash_of_token));
	buf_printf(&text, "certificate: c\nkey: k\nclient-ca: a\nrequests-per-second: 4\nusers:\n  ali: {password: \"%s\", right: all}\n"
		   "  bot: {tokens: [\"%s\"]}\n"
		   "  arm: {subjects: [\"CN=arm,O=Test\", CN=leg]}\n", hash.s, hash_of_token.s);
	settings = rest_settings_read("f", text.s, text.n, &found);
	ck_assert_msg(settings, "%s", found.n ? found.v[0].text : "");
	gate = rest_gate_new(settings);
	token = xstrdup(secret.s);
	buf_free(&text);
	buf_free(&hash);
	buf_free(&secret);
	buf_free(&hash_of_token);
	findings_free(&found);
}

static void teardown(void)
{
	rest_gate_free(gate);
	rest_settings_free(settings);
	rest_answer_free(&a);
	free(token);
}

static const char *admit(enum rest_base base, const char *header, const char *address, int64_t now_us)
{
	struct rest_address from;
	const struct rest_user *u;

	ck_assert(rest_address_parse(address, &from));
	rest_answer_free(&a);
	a = (struct rest_answer){ .status = REST_OK };
	u = rest_gate_admit(gate, base, &(struct rest_client){ .authorization = header, .subject = subject, .why = why,
			    .from = from }, now_us, &a);
	ck_assert(!u == (a.status != REST_OK));
	return u ? u->name : "";
}

#define ALI "Basic YWxpOm9wZW46c2VzYW1l"	/* ali:open:sesame */
#define GUESS "Basic YWxpOm9wZW4="		/* ali:open */

START_TEST(base64)
{
	static const char *const good[][2] = {
		{ "", "" }, { "YQ==", "a" }, { "YWI=", "ab" }, { "YWJj", "abc" }, { "Pz8/Pj4+", "?\?\?>>>" },
	};
	static const char *const bad[] = { "Y", "YQ", "YQ=", "Y===", "YQ==YQ==", "Y Q=", "YQ-=" };

	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		struct buf out = { 0 };

		ck_assert(rest_decode_base64(good[i][0], &out));
		ck_assert_str_eq(out.n ? out.s : "", good[i][1]);
		buf_free(&out);
	}
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct buf out = { 0 };

		ck_assert_msg(!rest_decode_base64(bad[i], &out), "%s", bad[i]);
		buf_free(&out);
	}
}
END_TEST

START_TEST(ways_in)
{
	char *bearer = xasprintf("Bearer %s", token), *basic = xasprintf("basic  %s", token);
	static const char *const bad[] = {
		NULL, "", "Basic", "Basic ", "Digest YWxpOm9wZW46c2VzYW1l", "Basic YWxp", "Basic !", "BasicYWxpOm9wZW46c2VzYW1l",
		"Basic YWxpOm9wZW46c2VzYW1lAA==",	/* a NUL behind it */
		"Basic Ym90Og==",			/* bot: without a password */
		"Basic Og==",
	};

	ck_assert_str_eq(admit(REST_BASE_PASSWORD, ALI, "10.0.0.1", S), "ali");
	ck_assert_str_eq(admit(REST_BASE_PASSWORD, ALI, "10.0.0.1", 2 * S), "ali");
	ck_assert_str_eq(admit(REST_BASE_TOKEN, bearer, "10.0.0.1", S), "bot");
	ck_assert_str_eq(admit(REST_BASE_TOKEN, basic, "10.0.0.1", S), "bot");
	/* each only at its base */
	ck_assert_str_eq(admit(REST_BASE_TOKEN, ALI, "10.0.0.1", S), "");
	ck_assert_str_eq(admit(REST_BASE_PASSWORD, bearer, "10.0.0.1", S), "");
	ck_assert_str_eq(admit(REST_BASE_CERTIFICATE, ALI, "10.0.0.1", S), "");
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		ck_assert_str_eq(admit(REST_BASE_PASSWORD, bad[i], "10.0.0.2", (int64_t)(i + 1) * 100 * S), "");
		ck_assert_int_eq(a.status, REST_UNKNOWN_USER);
	}
	bearer[strlen(bearer) - 1] ^= 1;
	ck_assert_str_eq(admit(REST_BASE_TOKEN, bearer, "10.0.0.1", S), "");
	ck_assert_int_eq(a.status, REST_UNKNOWN_USER);
	free(bearer);
	free(basic);
}
END_TEST

START_TEST(certificates)
{
	subject = "CN=leg";
	ck_assert_str_eq(admit(REST_BASE_CERTIFICATE, NULL, "10.0.0.1", S), "arm");
	ck_assert_str_eq(admit(REST_BASE_PASSWORD, NULL, "10.0.0.1", S), "arm");
	ck_assert_str_eq(admit(REST_BASE_TOKEN, NULL, "10.0.0.1", S), "arm");
	/* what the header says comes first, but where only certificates count */
	ck_assert_str_eq(admit(REST_BASE_PASSWORD, ALI, "10.0.0.1", S), "ali");
	ck_assert_str_eq(admit(REST_BASE_PASSWORD, GUESS, "10.0.0.1", S), "");
	ck_assert_str_eq(admit(REST_BASE_CERTIFICATE, ALI, "10.0.0.1", S), "arm");
	/* a user's limit is for all ways */
	ck_assert_str_eq(admit(REST_BASE_CERTIFICATE, NULL, "10.0.0.1", S), "");
	ck_assert_int_eq(a.status, REST_TOO_MANY);
	subject = "CN=arm";
	ck_assert_str_eq(admit(REST_BASE_CERTIFICATE, NULL, "10.0.0.1", 2 * S), "");
	ck_assert_int_eq(a.status, REST_UNKNOWN_USER);
	ck_assert_ptr_nonnull(strstr(a.text.s, "CN=arm belongs to no user"));
	subject = NULL;
	why = "it has expired";
	ck_assert_str_eq(admit(REST_BASE_CERTIFICATE, NULL, "10.0.0.1", 2 * S), "");
	ck_assert_ptr_nonnull(strstr(a.text.s, "it has expired"));
	ck_assert_str_eq(admit(REST_BASE_PASSWORD, ALI, "10.0.0.1", 2 * S), "ali");
	why = NULL;
	ck_assert_str_eq(admit(REST_BASE_CERTIFICATE, ALI, "10.0.0.1", 2 * S), "");
	ck_assert_int_eq(a.status, REST_UNKNOWN_USER);
}
END_TEST

START_TEST(guesses)
{
	for (int i = 0; i < REST_TRIES; i++) {
		admit(REST_BASE_PASSWORD, GUESS, "10.0.0.3", S);
		ck_assert_int_eq(a.status, REST_UNKNOWN_USER);
	}
	admit(REST_BASE_PASSWORD, ALI, "10.0.0.3", S);
	ck_assert_int_eq(a.status, REST_TOO_MANY);
	/* not from elsewhere, nor for those who are known; and a try comes back */
	ck_assert_str_eq(admit(REST_BASE_PASSWORD, ALI, "10.9.0.4", S), "ali");
	ck_assert_str_eq(admit(REST_BASE_PASSWORD, ALI, "10.0.0.3", S), "ali");
	admit(REST_BASE_PASSWORD, GUESS, "10.0.0.3", 2 * S);
	ck_assert_int_eq(a.status, REST_UNKNOWN_USER);
	admit(REST_BASE_PASSWORD, GUESS, "10.0.0.3", 2 * S);
	ck_assert_int_eq(a.status, REST_TOO_MANY);
}
END_TEST

START_TEST(requests_of_a_user)
{
	for (int i = 0; i < 4; i++)
		ck_assert_str_eq(admit(REST_BASE_PASSWORD, ALI, "10.0.0.5", S), "ali");
	admit(REST_BASE_PASSWORD, ALI, "10.0.0.5", S);
	ck_assert_int_eq(a.status, REST_TOO_MANY);
	ck_assert_str_eq(admit(REST_BASE_PASSWORD, ALI, "10.0.0.5", S + S / 4), "ali");
}
END_TEST

/* These settings must have this error. */
static void refuse(const char *text, const char *error)
{
	struct findings found = { 0 };
	bool said = false;

	ck_assert_msg(!rest_settings_read("f", text, strlen(text), &found), "%s", text);
	for (size_t i = 0; i < found.n; i++)
		said |= strstr(found.v[i].text, error) != NULL;
	ck_assert_msg(said, "%s: %s", text, found.n ? found.v[0].text : "");
	findings_free(&found);
}

START_TEST(wrong_settings)
{
	refuse("", "empty");
	refuse("plain-http: true", "'users' is missing");
	refuse("users: {}", "certificate and key are missing");
	refuse("users: {}\ncertificate: f", "must be given together");
	refuse("users: {}\ncertificate: f\nkey: g\nplain-http: true", "contradicts");
	refuse("users: {}\nplain-http: true\nlisten: 443", "ADDRESS:PORT");
	refuse("users: {}\nplain-http: true\nwait: 2h", "out of range");
	refuse("users: {}\nplain-http: true\nport: 443", "unknown key 'port'");
	refuse("plain-http: true\nusers: {a: {}}", "no password, tokens or subjects");
	refuse("certificate: c\nkey: k\nusers: {a: {subjects: [CN=a]}}", "subjects need client-ca");
	refuse("certificate: c\nkey: k\nclient-ca: d\nusers: {a: {subjects: [a]}}", "not a Distinguished Name");
	refuse("certificate: c\nkey: k\nclient-ca: d\nusers: {a: {subjects: [CN=a]}, b: {subjects: [CN=a]}}", "is listed twice");
	refuse("plain-http: true\nclient-ca: d\nusers: {}", "client-ca needs certificate");
	refuse("certificate: c\nkey: k\nclient-crl: d\nusers: {}", "client-crl needs client-ca");
	refuse("plain-http: true\nusers: {\"a b\": {}}", "letters, digits");
	refuse("plain-http: true\nusers: {a: {password: secret}}", "too weak");
	refuse("plain-http: true\nusers: {a: {password: \"$z$nothing\"}}", "not a hash");
	refuse("plain-http: true\nusers: {a: {password: aaaaaaaaaaaaa}}", "hash");
	refuse("plain-http: true\nusers: {a: {password: \"$1$aaaaaaaa$5XjpcmnpYvRkUO2kYSrAl1\"}}", "too weak");
	refuse("plain-http: true\nusers: {a: {pkeys: 0x8000, tokens: [\"x\"]}}", "out of range");
	refuse("plain-http: true\nusers: {a: {right: write}}", "write");
}
END_TEST

START_TEST(good_settings)
{
	static const char text[] = "listen: \"[::1]:8443\"\ncertificate: c\nkey: k\nabsent-guids: accept\nindex0: ignore\nwait: 2s\n"
		"socket: /s\nusers: {}\n";
	struct findings found = { 0 };
	struct rest_settings *s = rest_settings_read("f", text, strlen(text), &found);

	ck_assert_msg(s, "%s", found.n ? found.v[0].text : "");
	ck_assert_str_eq(s->listen, "[::1]:8443");
	ck_assert(s->choices.absent_guids && s->choices.index0 == REST_INDEX0_IGNORE);
	ck_assert_uint_eq(s->wait_ms, 2000);
	ck_assert_str_eq(s->socket, "/s");
	rest_settings_free(s);
	findings_free(&found);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("rest_gate");
	TCase *t = tcase_create("rest_gate");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, base64);
	tcase_add_test(t, ways_in);
	tcase_add_test(t, certificates);
	tcase_add_test(t, guesses);
	tcase_add_test(t, requests_of_a_user);
	tcase_add_test(t, wrong_settings);
	tcase_add_test(t, good_settings);
	suite_add_tcase(s, t);
	return run_suite(s);
}
