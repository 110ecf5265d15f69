/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Addresses of clients: networks, what proxies say of whom they ask for, and from which site a request comes. */
#ifndef QOSD_CLI_REST_ADDRESS_H
#define QOSD_CLI_REST_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/* An IPv6 address; an IPv4 address is the one that is mapped to it (::ffff:0:0/96). */
struct rest_address {
	uint8_t b[16];
};
/* False: addr (NULL is fine) is of another family, and out is ::. */
bool rest_address_of(const struct sockaddr *addr, struct rest_address *out);
/* Parses a numeric address without a port. */
bool rest_address_parse(const char *text, struct rest_address *out);
#define REST_ADDRESS_TEXT 48
/* Writes it as people do, an IPv4 address in its own form, and returns text. */
const char *rest_address_text(const struct rest_address *a, char text[REST_ADDRESS_TEXT]);
/*
 * A number that stands for all addresses that one client may well have: an IPv4 address, or an IPv6
 * network of 64 bits.  Clients differ by chance only, so that keyed hashes of it serve as indexes.
 */
uint64_t rest_address_client(const struct rest_address *a);

struct rest_network {
	struct rest_address address;
	uint8_t bits;		/* of the IPv6 form */
};
/* Parses "10.0.0.0/8", "2001:db8::/32" or an address; false, too, if bits behind the prefix are set. */
bool rest_network_parse(const char *text, struct rest_network *out);
bool rest_network_has(const struct rest_network *v, size_t n, const struct rest_address *a);

/*
 * Who asks, if a peer is one of n trusted proxies: of the addresses in `forwarded` (X-Forwarded-For,
 * "client, proxy, …"; NULL: none), to which each proxy appends whom it was asked by, the last one that is
 * no trusted proxy.  Otherwise, and where that cannot be read, the peer itself.
 */
struct rest_address rest_forwarded_for(const struct rest_network *v, size_t n, const struct rest_address *peer,
				       const char *forwarded);

/*
 * Whether a browser makes the request for a page of another site: an Origin that is not that of the
 * Host.  Either may be NULL; programs send no Origin.
 */
bool rest_is_cross_site(const char *origin, const char *host);

#endif
