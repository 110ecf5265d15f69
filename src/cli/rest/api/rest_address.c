/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See rest_address.h. */
#include "cli/rest/api/rest_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define V4_BITS 96	/* the prefix of IPv4 addresses */
static const uint8_t v4_prefix[12] = { [10] = 0xff, [11] = 0xff };

static bool is_v4(const struct rest_address *a)
{
	return !memcmp(a->b, v4_prefix, sizeof(v4_prefix));
}

static void set_v4(struct rest_address *a, const void *v4)
{
	memcpy(a->b, v4_prefix, sizeof(v4_prefix));
	memcpy(a->b + sizeof(v4_prefix), v4, 4);
}

bool rest_address_of(const struct sockaddr *addr, struct rest_address *out)
{
	*out = (struct rest_address){ 0 };
	if (addr && addr->sa_family == AF_INET)
		set_v4(out, &((const struct sockaddr_in *)(const void *)addr)->sin_addr);
	else if (addr && addr->sa_family == AF_INET6)
		memcpy(out->b, &((const struct sockaddr_in6 *)(const void *)addr)->sin6_addr, sizeof(out->b));
	else
		return false;
	return true;
}

bool rest_address_parse(const char *text, struct rest_address *out)
{
	struct in_addr v4;

	if (inet_pton(AF_INET, text, &v4) == 1) {
		set_v4(out, &v4);
		return true;
	}
	return inet_pton(AF_INET6, text, out->b) == 1;
}

const char *rest_address_text(const struct rest_address *a, char text[REST_ADDRESS_TEXT])
{
	if (is_v4(a))
		inet_ntop(AF_INET, a->b + sizeof(v4_prefix), text, REST_ADDRESS_TEXT);
	else
		inet_ntop(AF_INET6, a->b, text, REST_ADDRESS_TEXT);
	return text;
}

uint64_t rest_address_client(const struct rest_address *a)
{
	uint64_t id = 0;

	memcpy(&id, is_v4(a) ? a->b + 8 : a->b, sizeof(id));
	return id;
}

/* --- networks --- */

/* Whether the addresses agree in so many bits. */
static bool agree(const struct rest_address *a, const struct rest_address *b, unsigned bits)
{
	unsigned whole = bits / 8, rest = bits % 8;

	return !memcmp(a->b, b->b, whole) && (!rest || !((a->b[whole] ^ b->b[whole]) >> (8 - rest)));
}

static bool is_bare(const struct rest_network *n)
{
	for (unsigned i = n->bits; i < 128; i++)
		if (n->address.b[i / 8] >> (7 - i % 8) & 1)
			return false;
	return true;
}

bool rest_network_parse(const char *text, struct rest_network *out)
{
	char address[REST_ADDRESS_TEXT];
	size_t n = strcspn(text, "/"), digits = text[n] ? strspn(text + n + 1, "0123456789") : 0;
	unsigned long bits, most;

	if (n >= sizeof(address))
		return false;
	memcpy(address, text, n);
	address[n] = '\0';
	if (!rest_address_parse(address, &out->address) || (text[n] && (!digits || digits > 3 || text[n + 1 + digits])))
		return false;
	most = strchr(address, ':') ? 128 : 32;
	bits = digits ? strtoul(text + n + 1, NULL, 10) : most;
	if (bits > most)
		return false;
	out->bits = (uint8_t)(bits + (most == 32 ? V4_BITS : 0));
	return is_bare(out);
}

bool rest_network_has(const struct rest_network *v, size_t n, const struct rest_address *a)
{
	for (size_t i = 0; i < n; i++)
		if (agree(&v[i].address, a, v[i].bits))
			return true;
	return false;
}

/* --- proxies --- */

/* An address as proxies write it: "192.0.2.1", "192.0.2.1:443", "2001:db8::1", "[2001:db8::1]:443". */
static bool parse_forwarded(const char *text, size_t n, struct rest_address *out)
{
	char word[REST_ADDRESS_TEXT];
	char *colon;

	while (n && (*text == ' ' || *text == '\t')) {
		text++;
		n--;
	}
	while (n && (text[n - 1] == ' ' || text[n - 1] == '\t'))
		n--;
	if (n >= sizeof(word))
		return false;
	memcpy(word, text, n);
	word[n] = '\0';
	if (*word == '[') {
		word[strcspn(word, "]")] = '\0';
		return rest_address_parse(word + 1, out);
	}
	colon = strchr(word, ':');
	if (colon && !strchr(colon + 1, ':'))
		*colon = '\0';
	return rest_address_parse(word, out);
}

struct rest_address rest_forwarded_for(const struct rest_network *v, size_t n, const struct rest_address *peer,
				       const char *forwarded)
{
	struct rest_address at = *peer, next;
	size_t end = forwarded ? strlen(forwarded) : 0;

	while (end && rest_network_has(v, n, &at)) {
		size_t begin = end;

		while (begin && forwarded[begin - 1] != ',')
			begin--;
		if (!parse_forwarded(forwarded + begin, end - begin, &next))
			break;
		at = next;
		end = begin ? begin - 1 : 0;
	}
	return at;
}

bool rest_is_cross_site(const char *origin, const char *host)
{
	const char *at = origin ? strstr(origin, "://") : NULL;

	return origin && !(at && host && !strcasecmp(at + 3, host));
}
