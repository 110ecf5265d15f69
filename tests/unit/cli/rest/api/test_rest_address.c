/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests addresses of clients: networks, X-Forwarded-For of trusted proxies, and Origin.
 *
 * promise: J13
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#include "cli/rest/api/rest_address.h"
#include "lib/base/alloc.h"
#include "unit/run.h"

static struct rest_address parse(const char *text)
{
	struct rest_address a;

	ck_assert_msg(rest_address_parse(text, &a), "%s", text);
	return a;
}

START_TEST(addresses)
{
	struct sockaddr_in6 v6 = { .sin6_family = AF_INET6 };
	struct sockaddr_in v4 = { .sin_family = AF_INET };
	struct sockaddr other = { .sa_family = AF_UNIX };
	struct rest_address a = parse("192.0.2.1"), b;
	char text[REST_ADDRESS_TEXT];

	ck_assert_str_eq(rest_address_text(&a, text), "192.0.2.1");
	inet_pton(AF_INET, "192.0.2.1", &v4.sin_addr);
	ck_assert(rest_address_of((struct sockaddr *)&v4, &b) && !memcmp(&a, &b, sizeof(a)));
	/* as a socket for both families tells it */
	inet_pton(AF_INET6, "::ffff:192.0.2.1", &v6.sin6_addr);
	ck_assert(rest_address_of((struct sockaddr *)&v6, &b) && !memcmp(&a, &b, sizeof(a)));
	ck_assert(!rest_address_of(&other, &b) && !rest_address_of(NULL, &b));
	b = parse("192.0.2.2");
	ck_assert(rest_address_client(&a) != rest_address_client(&b));
	a = parse("2001:db8::1");
	b = parse("2001:db8::2:0:0:1");
	ck_assert_str_eq(rest_address_text(&a, text), "2001:db8::1");
	ck_assert(rest_address_client(&a) == rest_address_client(&b));
	b = parse("2001:db8:0:1::1");
	ck_assert(rest_address_client(&a) != rest_address_client(&b));
	ck_assert(!rest_address_parse("localhost", &a) && !rest_address_parse("1.2.3", &a) && !rest_address_parse("", &a));
}
END_TEST

START_TEST(networks)
{
	static const char *const bad[] = {
		"", "10.0.0.1/8", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/8x", "10.0.0.0/0008", "10.0.0/8", "2001:db8::/129", "2001:db8::1/32",
		"all", "10.0.0.0/-1",
	};
	static const struct {
		const char *network, *address;
		bool has;
	} rows[] = {
		{ "10.0.0.0/8", "10.255.0.1", true }, { "10.0.0.0/8", "11.0.0.1", false }, { "10.0.0.0/8", "::1", false },
		{ "192.0.2.128/25", "192.0.2.129", true }, { "192.0.2.128/25", "192.0.2.127", false },
		{ "192.0.2.1", "192.0.2.1", true }, { "192.0.2.1", "192.0.2.2", false }, { "0.0.0.0/0", "1.2.3.4", true },
		{ "0.0.0.0/0", "2001:db8::1", false }, { "2001:db8::/33", "2001:db8:7fff::1", true },
		{ "2001:db8::/33", "2001:db8:8000::1", false }, { "::1", "::1", true }, { "::/0", "1.2.3.4", true },
	};
	struct rest_network n;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		ck_assert_msg(!rest_network_parse(bad[i], &n), "%s", bad[i]);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct rest_address a = parse(rows[i].address);

		ck_assert_msg(rest_network_parse(rows[i].network, &n), "%s", rows[i].network);
		ck_assert_msg(rest_network_has(&n, 1, &a) == rows[i].has, "%s %s", rows[i].network, rows[i].address);
	}
}
END_TEST

START_TEST(proxies)
{
	static const struct {
		const char *peer, *forwarded, *is;
	} rows[] = {
		/* a client that is not a proxy is not believed */
		{ "192.0.2.9", "198.51.100.7", "192.0.2.9" }, { "10.0.0.1", NULL, "10.0.0.1" }, { "10.0.0.1", "", "10.0.0.1" },
		{ "10.0.0.1", "198.51.100.7", "198.51.100.7" }, { "::1", " 198.51.100.7 ", "198.51.100.7" },
		/* what a client claims stands before what the proxy saw */
		{ "10.0.0.1", "203.0.113.5, 198.51.100.7", "198.51.100.7" },
		{ "10.0.0.1", "203.0.113.5,198.51.100.7,\t10.0.0.2", "198.51.100.7" },
		{ "10.0.0.1", "10.0.0.3, 10.0.0.2", "10.0.0.3" },
		{ "10.0.0.1", "198.51.100.7:4711", "198.51.100.7" }, { "10.0.0.1", "[2001:db8::7]:4711", "2001:db8::7" },
		{ "10.0.0.1", "2001:db8::7", "2001:db8::7" },
		{ "10.0.0.1", "198.51.100.7, unknown", "10.0.0.1" }, { "10.0.0.1", "nonsense, 10.0.0.2", "10.0.0.2" },
		{ "10.0.0.1", ",", "10.0.0.1" }, { "10.0.0.1", "198.51.100.7,", "10.0.0.1" },
		{ "10.0.0.1", "1111111111111111111111111111111111111111111111111111111111111111", "10.0.0.1" },
	};
	struct rest_network trusted[2];
	char text[REST_ADDRESS_TEXT];

	ck_assert(rest_network_parse("10.0.0.0/8", &trusted[0]) && rest_network_parse("::1", &trusted[1]));
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct rest_address peer = parse(rows[i].peer), a = rest_forwarded_for(trusted, 2, &peer, rows[i].forwarded);

		ck_assert_msg(!strcmp(rest_address_text(&a, text), rows[i].is), "%s, %s: %s", rows[i].peer,
			      rows[i].forwarded ? rows[i].forwarded : "", text);
	}
}
END_TEST

START_TEST(origins)
{
	ck_assert(!rest_is_cross_site(NULL, "a.example") && !rest_is_cross_site("https://a.example", "a.example"));
	ck_assert(!rest_is_cross_site("https://A.example:8443", "a.Example:8443"));
	ck_assert(rest_is_cross_site("https://b.example", "a.example") && rest_is_cross_site("null", "a.example"));
	ck_assert(rest_is_cross_site("https://a.example.b.example", "a.example") && rest_is_cross_site("https://a.example", NULL));
	ck_assert(rest_is_cross_site("https://a.example:1", "a.example") && rest_is_cross_site("", "a.example"));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("rest_address");
	TCase *t = tcase_create("rest_address");

	tcase_add_test(t, addresses);
	tcase_add_test(t, networks);
	tcase_add_test(t, proxies);
	tcase_add_test(t, origins);
	suite_add_tcase(s, t);
	return run_suite(s);
}
