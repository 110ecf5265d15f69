/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See net.h. */
#include "lib/base/net.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Parses a port of 1 to 5 digits and nothing else. */
static bool parse_port(const char *text, in_port_t *port)
{
	size_t n = strspn(text, "0123456789");
	long v = n && n <= 5 && !text[n] ? strtol(text, NULL, 10) : -1;

	*port = htons((uint16_t)v);
	return v >= 0 && v <= UINT16_MAX;
}

bool net_parse(const char *text, struct sockaddr_storage *addr)
{
	const char *colon = strrchr(text, ':');
	struct sockaddr_in *v4 = (struct sockaddr_in *)addr;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)addr;
	char host[INET6_ADDRSTRLEN + 2];
	size_t n = colon ? (size_t)(colon - text) : 0;

	memset(addr, 0, sizeof(*addr));
	if (!n || n >= sizeof(host))
		return false;
	memcpy(host, text, n);
	host[n] = '\0';
	if (host[0] != '[') {
		v4->sin_family = AF_INET;
		return inet_pton(AF_INET, host, &v4->sin_addr) == 1 &&
		       parse_port(colon + 1, &v4->sin_port);
	}
	if (host[n - 1] != ']')
		return false;
	host[n - 1] = '\0';
	v6->sin6_family = AF_INET6;
	return inet_pton(AF_INET6, host + 1, &v6->sin6_addr) == 1 &&
	       parse_port(colon + 1, &v6->sin6_port);
}

int net_listen(const char *address, uint16_t *port, struct buf *err)
{
	struct sockaddr_storage addr;
	socklen_t n;
	int fd, one = 1;

	if (!net_parse(address, &addr)) {
		buf_printf(err, "%s is not an address", address);
		return -1;
	}
	n = addr.ss_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
	fd = socket(addr.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) == 0 &&
	    (addr.ss_family != AF_INET6 ||
	     setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof(one)) == 0) &&
	    bind(fd, (struct sockaddr *)&addr, n) == 0 && listen(fd, SOMAXCONN) == 0 &&
	    getsockname(fd, (struct sockaddr *)&addr, &n) == 0) {
		*port = ntohs(addr.ss_family == AF_INET ? ((struct sockaddr_in *)&addr)->sin_port :
			      ((struct sockaddr_in6 *)&addr)->sin6_port);
		return fd;
	}
	buf_printf(err, "%s: %s", address, strerror(errno));
	if (fd >= 0)
		close(fd);
	return -1;
}
