/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rawmad: sends any MAD to the subnet manager's port, or to another, and prints the status and the
 * data of the answer; or many random ones, to test that the receiver survives.
 *
 *   rawmad [-d LID] [-k PLACE] [-g GID] CLASS METHOD ATTRIBUTE MODIFIER [OFFSET:HEX ...]
 *   rawmad -n COUNT [-s SEED] CLASS
 *
 * OFFSET:HEX puts bytes at a place of the MAD; -k sends it by the P_Key that is there in
 * the port's table (0 if not given), -g with a GRH that has the GID for its destination.  Exit status 0: answered, 1: no
 * answer, 2: can't be done.  Of an answer the first 224 bytes are there under
 * the simulator.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/bytes.h"
#include "port.h"

enum { OFF_CLASS = 1, OFF_CLASS_VERSION = 2, OFF_METHOD = 3, OFF_STATUS = 4, OFF_TID = 8,
       OFF_ATTR = 16, OFF_MOD = 20, OFF_SMP_DATA = 64 };
enum { CLASS_SMI = 0x01, CLASS_SA = 0x03 };

static uint32_t number(const char *text)
{
	char *end;
	unsigned long v = strtoul(text, &end, 0);

	if (end == text || *end || v > UINT32_MAX)
		die("bad number '%s'", text);
	return (uint32_t)v;
}

/* --- the port --- */

static struct {
	struct own_port port;
	int agent;
	uint16_t dlid;
	int place;		/* index of the P_Key */
	uint8_t gid[16];	/* of a GRH; 0: none */
	uint8_t *umad;
} io;

static void open_port(uint8_t class, unsigned dlid)
{
	own_port_open(&io.port);
	io.agent = own_port_register(&io.port, class, 0, 0);
	io.dlid = (uint16_t)(dlid ? dlid : io.port.sm_lid);
	io.umad = calloc(1, umad_size() + MAD_LEN);
	if (!io.umad)
		die("out of memory");
}

static void close_port(void)
{
	umad_unregister(io.port.fd, io.agent);
	own_port_close(&io.port);
	free(io.umad);
}

static void send_mad(const uint8_t *mad, int timeout_ms)
{
	bool gsi = mad[OFF_CLASS] != CLASS_SMI;

	memset(io.umad, 0, umad_size());
	memcpy(umad_get_mad(io.umad), mad, MAD_LEN);
	umad_set_addr(io.umad, io.dlid, gsi, 0, gsi ? (int)0x80010000 : 0);
	umad_set_pkey(io.umad, io.place);
	if (get_be64(io.gid)) {
		ib_mad_addr_t *a = &((ib_user_mad_t *)io.umad)->addr;

		a->grh_present = 1;
		a->hop_limit = 64;
		memcpy(a->gid, io.gid, sizeof(a->gid));
	}
	if (umad_send(io.port.fd, io.agent, io.umad, MAD_LEN, timeout_ms, 0) < 0)
		die("can't send: %s", strerror(errno));
}

/* The next answer, or NULL. */
static const uint8_t *receive(int timeout_ms)
{
	int len = MAD_LEN;

	return umad_recv(io.port.fd, io.umad, &len, timeout_ms) < 0 || umad_status(io.umad) ? NULL :
	       umad_get_mad(io.umad);
}

/* --- one --- */

static void patch(uint8_t *mad, const char *text)
{
	char *end;
	unsigned long at = strtoul(text, &end, 0);
	unsigned byte;
	int used;

	if (end == text || *end++ != ':')
		die("'%s' is not OFFSET:HEX", text);
	for (; *end; end += used, at++) {
		if (at >= MAD_LEN || sscanf(end, "%2x%n", &byte, &used) != 1)
			die("bad bytes '%s'", text);
		mad[at] = (uint8_t)byte;
	}
}

static void fill_header(uint8_t *mad, uint8_t class, uint8_t method, uint16_t attr, uint32_t mod)
{
	mad[0] = 1;
	mad[OFF_CLASS] = class;
	mad[OFF_CLASS_VERSION] = class == CLASS_SA ? 2 : 1;
	mad[OFF_METHOD] = method;
	put_be64(mad + OFF_TID, 0x72);
	put_be16(mad + OFF_ATTR, attr);
	put_be32(mad + OFF_MOD, mod);
}

static int send_one(uint8_t class, char **argv, unsigned dlid)
{
	uint8_t mad[MAD_LEN] = { 0 };
	const uint8_t *answer;

	fill_header(mad, class, (uint8_t)number(argv[0]), (uint16_t)number(argv[1]), number(argv[2]));
	for (argv += 3; *argv; argv++)
		patch(mad, *argv);
	open_port(class, dlid);
	send_mad(mad, 1000);
	answer = receive(1500);
	if (answer) {
		printf("status=0x%04x ", get_be16(answer + OFF_STATUS) & 0x7fff);
		for (unsigned i = class == CLASS_SMI ? OFF_SMP_DATA : SA_HDR_LEN, n = 0; n < 64; n++)
			printf("%02x", answer[i + n]);
		putchar('\n');
	}
	close_port();
	return answer ? 0 : 1;
}

/* --- many --- */

static uint64_t seed = 1;

static uint32_t random_below(uint32_t n)
{
	uint64_t x = seed += 0x9e3779b97f4a7c15ULL;	/* splitmix64 */

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return (uint32_t)((x ^ x >> 31) % n);
}

/* Noise in a header that gets past the first check, most of the time. */
static void make_random(uint8_t *mad, uint8_t class)
{
	static const uint8_t sa_methods[] = { 0x01, 0x02, 0x03, 0x06, 0x12, 0x13, 0x14, 0x15, 0x81 };
	static const uint8_t sa_attrs[] = { 0x01, 0x02, 0x03, 0x11, 0x12, 0x20, 0x31, 0x35, 0x38, 0x3a };
	static const uint8_t smi_methods[] = { 0x01, 0x02, 0x05, 0x07, 0x81 };
	static const uint8_t smi_attrs[] = { 0x02, 0x20 };	/* the rest are the port's own values */
	bool sa = class == CLASS_SA;
	uint8_t method = sa ? sa_methods[random_below(sizeof(sa_methods))] :
			 smi_methods[random_below(sizeof(smi_methods))];
	uint8_t attr = sa ? sa_attrs[random_below(sizeof(sa_attrs))] :
		       smi_attrs[random_below(sizeof(smi_attrs))];
	/* some sparse, some dense */
	uint32_t density = 1 + random_below(8);

	for (unsigned i = 0; i < MAD_LEN; i++)
		mad[i] = random_below(density) ? 0 : (uint8_t)random_below(256);
	fill_header(mad, class, method, attr, random_below(3) ? 0 : random_below(UINT32_MAX));
	put_be64(mad + OFF_TID, 1 + random_below(UINT32_MAX));
	if (sa)
		memset(mad + 24, 0, 20);	/* RMPP and the SM_Key: else it is not looked at */
	if (!random_below(8))
		mad[random_below(8) ? random_below(MAD_LEN) : 0] ^= (uint8_t)(1 << random_below(8));
	mad[OFF_CLASS] = class;			/* or the simulator's library crashes */
}

static int send_many(uint8_t class, uint32_t count, unsigned dlid)
{
	uint8_t mad[MAD_LEN];
	unsigned answers = 0;

	open_port(class, dlid);
	for (uint32_t i = 0; i < count; i++) {
		make_random(mad, class);
		send_mad(mad, 100);
		while (receive(i % 8 == 7 ? 5 : 0))
			answers++;
	}
	/* the simulator's library can hang in exit() while answers still arrive */
	while (receive(300))
		answers++;
	printf("%u sent, %u answers\n", count, answers);
	close_port();
	return 0;
}

int main(int argc, char **argv)
{
	uint32_t count = 0;
	unsigned dlid = 0;
	int c;

	while ((c = getopt(argc, argv, "+d:k:g:n:s:")) != -1)
		switch (c) {
		case 'd': dlid = number(optarg); break;
		case 'k': io.place = (int)number(optarg); break;
		case 'g':
			if (inet_pton(AF_INET6, optarg, io.gid) != 1)
				die("'%s' is no GID", optarg);
			break;
		case 'n': count = number(optarg); break;
		case 's': seed = number(optarg); break;
		default: exit(2);
		}
	argv += optind;
	if (argc - optind < (count ? 1 : 4))
		die("usage: rawmad [-d LID] [-k PLACE] [-g GID] CLASS METHOD ATTRIBUTE MODIFIER "
		    "[OFFSET:HEX ...]\n"
		    "       rawmad -n COUNT [-s SEED] CLASS");
	uint8_t class = (uint8_t)number(argv[0]);

	return count ? send_many(class, count, dlid) : send_one(class, argv + 1, dlid);
}
