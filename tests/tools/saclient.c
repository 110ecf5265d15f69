/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * saclient: registers services with a subnet administrator, subscribes to events, and receives
 * Reports.
 *
 *   saclient [-k SM_KEY] service get|set|delete [FIELD=VALUE ...]
 *   saclient [-k SM_KEY] subscribe|unsubscribe [FIELD=VALUE ...]
 *   saclient [-k SM_KEY] [-t SECONDS] [-d] [-c COUNT] listen [FIELD=VALUE ... [-- …]]
 *
 * Fields of a service: id, gid, pkey, lease, key (hex), name, data8.1 to data64.2.
 * Of a subscription: gid, lid (N or N-M), generic, subscribe, type, trap, qpn, resp,
 * producer; what is not named is what takes in most.  `listen` subscribes to each that
 * is given, prints "ready", then a line for each Report, and answers it unless it is
 * deaf (-d); it ends after COUNT Reports, or the time.
 *
 * Exit status 0: good, 1: an error status, which is printed, 2: no answer, no sense.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/alloc.h"
#include "lib/base/bytes.h"
#include "port.h"

enum { OFF_STATUS = 4, OFF_TID = 8, OFF_SM_KEY = 36 };

static uint64_t number(const char *text, unsigned bits)
{
	char *end;

	errno = 0;
	uint64_t v = strtoull(text, &end, 0);

	if (errno || end == text || *end || (bits < 64 && v >> bits))
		die("bad number '%s'", text);
	return v;
}

/* --- the port --- */

static struct {
	struct own_port port;
	struct sa_mad m;
	uint64_t sm_key;
	bool deaf;
	unsigned reports;
} io;

/* Only one program of a port receives Reports: the one that listens. */
static void open_port(bool listens)
{
	own_port_open(&io.port);
	io.port.agent = own_port_register(&io.port, UMAD_CLASS_SUBN_ADM, 0,
					  listens ? 1l << UMAD_METHOD_REPORT : 0);
}

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000ll + t.tv_nsec / 1000000;
}

static void print_gid(const char *name, const uint8_t *gid)
{
	char text[INET6_ADDRSTRLEN];

	printf(" %s=%s", name, inet_ntop(AF_INET6, gid, text, sizeof(text)));
}

static void take_report(const uint8_t *mad)
{
	const struct sa_notice *n = (const void *)(mad + SA_HDR_LEN);
	uint16_t trap = get_be16(n->number);
	struct own_port back = io.port;
	struct sa_mad answer = io.m;

	io.reports++;
	printf("%s=%u type=%u producer=%u lid=%u",
	       n->type & NOTICE_GENERIC ? "trap" : "device", trap, n->type & 0x7f,
	       (unsigned)n->producer[0] << 16 | get_be16(n->producer + 1),
	       get_be16(n->issuer_lid));
	print_gid("issuer", n->issuer_gid);
	if (n->type & NOTICE_GENERIC && trap >= 64 && trap <= 67)
		print_gid("gid", n->details + NOTICE_GID);
	printf(" tid=%08x\n", get_be32(mad + OFF_TID + 4));
	fflush(stdout);
	if (io.deaf)
		return;
	memset(&answer.umad, 0, sizeof(answer.umad));
	answer.sa.mad_hdr.method = UMAD_METHOD_REPORT_RESP;
	back.sm_lid = be16toh(io.m.umad.addr.lid);
	sa_send(&back, &answer, 0, 0);
}

/* The answer to the request, while Reports are received; NULL: none in time. */
static const uint8_t *receive(int timeout_ms, unsigned count)
{
	int64_t end = now_ms() + timeout_ms;

	for (;;) {
		int64_t left = end - now_ms();

		if (left <= 0 || (count && io.reports >= count) ||
		    sa_receive(&io.port, &io.m, (int)left) < 0 || umad_status(&io.m))
			return NULL;
		if (io.m.sa.mad_hdr.method != UMAD_METHOD_REPORT)
			return io.m.bytes;
		take_report(io.m.bytes);
	}
}

static const uint8_t *ask(uint8_t method, uint16_t attr, uint64_t mask, const void *data, size_t n)
{
	static uint32_t tid = 0x5a;
	const uint8_t *answer;
	struct sa_mad m;

	sa_fill(&m, method, attr, ++tid);
	put_be64(m.bytes + OFF_SM_KEY, io.sm_key);
	m.sa.comp_mask = htobe64(mask);
	memcpy(m.sa.data, data, n);
	sa_send(&io.port, &m, 3000, 0);
	answer = receive(3000, 0);
	if (!answer)
		die("no answer");
	return answer;
}

/* --- services --- */

static void read_hex(const char *text, uint8_t *bytes, size_t n)
{
	for (size_t i = 0; i < n && *text; i++, text += 2)
		if (sscanf(text, "%2hhx", &bytes[i]) != 1)
			die("bad bytes '%s'", text);
}

static void read_gid(const char *text, uint8_t *gid)
{
	if (inet_pton(AF_INET6, text, gid) != 1)
		die("bad GID '%s'", text);
}

/* dataWIDTH.N, N from 1 on */
static uint64_t put_data(struct sa_service_record *r, const char *name, const char *value)
{
	unsigned width, n, bit = SR_DATA_FIRST, at = 0;
	uint64_t v;

	if (sscanf(name, "data%u.%u", &width, &n) != 2)
		die("'%s' is no field", name);
	for (unsigned w = 8, k = 16; w < width; w *= 2, k /= 2) {
		bit += k;
		at += 16;
	}
	at += (n - 1) * width / 8;
	v = number(value, width);
	for (unsigned i = 0; i < width / 8; i++)
		r->data[at + i] = (uint8_t)(v >> (width - 8 - 8 * i));
	return 1ull << (bit + n - 1);
}

static uint64_t put_service(struct sa_service_record *r, const char *word)
{
	const char *value = strchr(word, '=');

	if (!value++)
		die("'%s' is not FIELD=VALUE", word);
	if (!strncmp(word, "id=", 3)) {
		put_be64(r->id, number(value, 64));
		return SR_ID;
	}
	if (!strncmp(word, "gid=", 4)) {
		read_gid(value, r->gid);
		return SR_GID;
	}
	if (!strncmp(word, "pkey=", 5)) {
		put_be16(r->pkey, (uint16_t)number(value, 16));
		return SR_PKEY;
	}
	if (!strncmp(word, "lease=", 6)) {
		put_be32(r->lease, (uint32_t)number(value, 32));
		return SR_LEASE;
	}
	if (!strncmp(word, "key=", 4)) {
		read_hex(value, r->key, sizeof(r->key));
		return SR_KEY;
	}
	if (!strncmp(word, "name=", 5)) {
		memcpy(r->name, value, strnlen(value, sizeof(r->name)));
		return SR_NAME;
	}
	return put_data(r, word, value);
}

static void print_hex(const char *name, const uint8_t *bytes, size_t n)
{
	printf(" %s=", name);
	for (size_t i = 0; i < n; i++)
		printf("%02x", bytes[i]);
}

static int service(char **argv)
{
	struct sa_service_record r = { 0 };
	const uint8_t *answer;
	uint64_t mask = 0;
	uint8_t method = !*argv ? 0 : !strcmp(*argv, "get") ? UMAD_METHOD_GET :
			 !strcmp(*argv, "set") ? UMAD_METHOD_SET :
			 !strcmp(*argv, "delete") ? UMAD_SA_METHOD_DELETE : 0;

	if (!method)
		die("service get, set or delete");
	while (*++argv)
		mask |= put_service(&r, *argv);
	answer = ask(method, UMAD_SA_ATTR_SERVICE_REC, mask, &r, sizeof(r));
	if (get_be16(answer + OFF_STATUS)) {
		printf("status=0x%04x\n", get_be16(answer + OFF_STATUS));
		return 1;
	}
	memcpy(&r, answer + SA_HDR_LEN, sizeof(r));
	printf("id=0x%" PRIx64, get_be64(r.id));
	print_gid("gid", r.gid);
	printf(" pkey=0x%x lease=%" PRIu32, get_be16(r.pkey), get_be32(r.lease));
	print_hex("key", r.key, sizeof(r.key));
	printf(" name=%.64s", (const char *)r.name);
	print_hex("data", r.data, sizeof(r.data));
	putchar('\n');
	return 0;
}

/* --- subscriptions --- */

static void put_wish(struct sa_inform_info *i, const char *word)
{
	const char *value = strchr(word, '=');
	unsigned first, last = 0;

	if (!value++)
		die("'%s' is not FIELD=VALUE", word);
	if (!strncmp(word, "gid=", 4)) {
		read_gid(value, i->gid);
	} else if (!strncmp(word, "lid=", 4)) {
		if (sscanf(value, "%u-%u", &first, &last) < 1)
			die("bad LIDs '%s'", value);
		put_be16(i->lid_first, (uint16_t)first);
		put_be16(i->lid_last, (uint16_t)last);
	} else if (!strncmp(word, "generic=", 8)) {
		i->generic = (uint8_t)number(value, 8);
	} else if (!strncmp(word, "subscribe=", 10)) {
		i->subscribe = (uint8_t)number(value, 8);
	} else if (!strncmp(word, "type=", 5)) {
		put_be16(i->type, (uint16_t)number(value, 16));
	} else if (!strncmp(word, "trap=", 5)) {
		put_be16(i->number, (uint16_t)number(value, 16));
	} else if (!strncmp(word, "qpn=", 4)) {
		put_be32(i->qpn_resp_time, (uint32_t)number(value, 24) << 8 | i->qpn_resp_time[3]);
	} else if (!strncmp(word, "resp=", 5)) {
		i->qpn_resp_time[3] = (uint8_t)number(value, 5);
	} else if (!strncmp(word, "producer=", 9)) {
		put_be32(i->producer, (uint32_t)number(value, 24));
	} else {
		die("'%s' is no field", word);
	}
}

/* Up to the end or "--", which is passed over; the status. */
static unsigned subscribe(char ***argv, bool on)
{
	struct sa_inform_info i = { .generic = 1, .subscribe = on };

	put_be16(i.lid_first, 0xffff);
	put_be16(i.type, 0xffff);
	put_be16(i.number, 0xffff);
	put_be32(i.producer, 0xffffff);
	for (; **argv && strcmp(**argv, "--"); ++*argv)
		put_wish(&i, **argv);
	if (**argv)
		++*argv;
	return get_be16(ask(UMAD_METHOD_SET, UMAD_ATTR_INFORM_INFO, 0, &i, sizeof(i)) + OFF_STATUS);
}

static int subscribe_all(char **argv, bool on)
{
	do {
		unsigned status = subscribe(&argv, on);

		if (status) {
			printf("status=0x%04x\n", status);
			return 1;
		}
	} while (*argv);
	return 0;
}

static int listen_to(char **argv, unsigned seconds, unsigned count)
{
	if (*argv && subscribe_all(argv, true))
		return 1;
	puts("ready");
	fflush(stdout);
	receive((int)seconds * 1000, count);
	return 0;
}

int main(int argc, char **argv)
{
	unsigned seconds = 60, count = 0;
	int c, status = 0;

	while ((c = getopt(argc, argv, "+k:t:dc:")) != -1)
		switch (c) {
		case 'k': io.sm_key = number(optarg, 64); break;
		case 't': seconds = (unsigned)number(optarg, 16); break;
		case 'd': io.deaf = true; break;
		case 'c': count = (unsigned)number(optarg, 16); break;
		default: exit(2);
		}
	argv += optind;
	if (!*argv)
		die("usage: saclient [-k SM_KEY] service|subscribe|unsubscribe|listen …");
	open_port(!strcmp(*argv, "listen"));
	if (!strcmp(*argv, "service"))
		status = service(argv + 1);
	else if (!strcmp(*argv, "subscribe") || !strcmp(*argv, "unsubscribe"))
		status = subscribe_all(argv + 1, **argv == 's');
	else if (!strcmp(*argv, "listen"))
		status = listen_to(argv + 1, seconds, count);
	else
		die("'%s': what?", *argv);
	own_port_close(&io.port);
	return status;
}
