/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * forgesm: sends SMInfo with any claims, as any host can.
 *
 *   forgesm [OPTION ...] send	one MAD; prints the answer: "none", or "status=0x0000
 *				guid=0x... key=0x... state=2 priority=0"
 *   forgesm [OPTION ...] be	is a subnet manager on its port: says IsSM, answers SMInfo, and
 *				prints each request: "get key=0x...", "set 1 key=0x..."
 *   forgesm [OPTION ...] storm	MADs of both kinds with claims made up, for -T seconds at -R a
 *				second; prints how many were sent and answered, and how many
 *				answers had the SM_Key of -x; half of them say that of -k
 *
 *   -r PORT,PORT...	directed route, from the own port on
 *   -L LID		... or by LID; storm takes both
 *   -c CONTROL		AttributeModifier of a Set: 1 HANDOVER, 2 ACKNOWLEDGE, 3 DISABLE, 4 STANDBY,
 *			5 DISCOVER; 0, as it is without -c: a Get
 *   -g GUID -s STATE -p PRIORITY -k SM_KEY	what the SMInfo says
 *   -m M_KEY		in the header
 *   -S SEED
 *
 * Exit status 0: done, 2: can't be done.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <infiniband/umad.h>
#include <infiniband/umad_sm.h>

#include "lib/base/bytes.h"
#include "lib/base/clock.h"
#include "port.h"

enum { OFF_STATUS = 4, OFF_HOP_COUNT = 7, OFF_TID = 8, OFF_ATTR = 16, OFF_MOD = 20, OFF_M_KEY = 24,
       OFF_DR_LIDS = 32, OFF_DATA = 64, OFF_PATH = 128 };
enum { INFO_KEY = 8, INFO_COUNT = 16, INFO_STATE = 20 };	/* in the data */
enum { MAD = 256, PERMISSIVE = 0xffff };

struct claim {
	uint64_t guid, key, m_key;
	uint32_t control;
	uint8_t state, priority;
};

static struct {
	struct own_port port;
	int lid_agent, route_agent;
	uint8_t route[64];
	uint8_t hops;
	uint16_t lid;
	struct claim claim;
	uint64_t secret;
	unsigned seconds, rate;
	struct ib_user_mad *umad;
} io = { .claim = { .state = 3 }, .seconds = 1, .rate = 500 };

static volatile sig_atomic_t ends;
static uint64_t seed = 1;

static uint64_t number(const char *text)
{
	char *end;
	uint64_t v = strtoull(text, &end, 0);

	if (end == text || *end)
		die("bad number '%s'", text);
	return v;
}

static void read_route(char *text)
{
	for (char *p = strtok(text, ","); p; p = strtok(NULL, ",")) {
		if (io.hops == sizeof(io.route) - 1)
			die("the route is too long");
		io.route[++io.hops] = (uint8_t)number(p);
	}
}

/* --- the port --- */

static uint8_t *mad(void)
{
	return umad_get_mad(io.umad);
}

/* serves: requests of others are delivered to us. */
static void open_port(bool serves)
{
	long methods = serves ? 1l << UMAD_METHOD_GET | 1l << UMAD_METHOD_SET : 0;

	own_port_open(&io.port);
	io.lid_agent = own_port_register(&io.port, UMAD_CLASS_SUBN_LID_ROUTED, 0, methods);
	io.route_agent = own_port_register(&io.port, UMAD_CLASS_SUBN_DIRECTED_ROUTE, 0, methods);
	io.umad = calloc(1, umad_size() + MAD);
	if (!io.umad)
		die("out of memory");
}

static void put_info(uint8_t *data, const struct claim *c)
{
	put_be64(data, c->guid);
	put_be64(data + INFO_KEY, c->key);
	put_be32(data + INFO_COUNT, 1);
	data[INFO_STATE] = (uint8_t)(c->priority << 4 | c->state);
}

static void send_claim(const struct claim *c, bool by_lid, uint32_t tid, int timeout_ms)
{
	uint8_t *m = mad();

	memset(io.umad, 0, umad_size() + MAD);
	m[0] = m[2] = 1;
	m[1] = by_lid ? UMAD_CLASS_SUBN_LID_ROUTED : UMAD_CLASS_SUBN_DIRECTED_ROUTE;
	m[3] = c->control ? UMAD_METHOD_SET : UMAD_METHOD_GET;
	put_be64(m + OFF_TID, tid);
	put_be16(m + OFF_ATTR, UMAD_SM_ATTR_SM_INFO);
	put_be32(m + OFF_MOD, c->control);
	put_be64(m + OFF_M_KEY, c->m_key);
	if (!by_lid) {
		m[OFF_HOP_COUNT] = io.hops;
		put_be32(m + OFF_DR_LIDS, UINT32_MAX);
		memcpy(m + OFF_PATH, io.route, sizeof(io.route));
	}
	put_info(m + OFF_DATA, c);
	umad_set_addr(io.umad, by_lid ? io.lid : PERMISSIVE, 0, 0, 0);
	if (umad_send(io.port.fd, by_lid ? io.lid_agent : io.route_agent, io.umad, MAD, timeout_ms, 0) < 0)
		die("can't send: %m");
}

/* False: nothing arrived in time. */
static bool receive(int timeout_ms)
{
	int len = MAD;

	return umad_recv(io.port.fd, io.umad, &len, timeout_ms) >= 0;
}

/* --- what it does --- */

static int send_one(void)
{
	open_port(false);
	send_claim(&io.claim, io.lid, 0x7a, 1500);
	if (!receive(3000) || umad_status(io.umad)) {
		puts("none");
		return 0;
	}
	const uint8_t *d = mad() + OFF_DATA;

	printf("status=0x%04x guid=0x%016" PRIx64 " key=0x%016" PRIx64 " state=%u priority=%u\n",
	       get_be16(mad() + OFF_STATUS) & 0x7fff, get_be64(d), get_be64(d + INFO_KEY),
	       d[INFO_STATE] & 0xf, d[INFO_STATE] >> 4);
	return 0;
}

static void on_end(int sig)
{
	(void)sig;
	ends = 1;
}

static void answer(void)
{
	uint8_t *m = mad();
	bool directed = m[1] == UMAD_CLASS_SUBN_DIRECTED_ROUTE;

	if (m[3] == UMAD_METHOD_SET)
		printf("set %u key=0x%016" PRIx64 "\n", get_be32(m + OFF_MOD),
		       get_be64(m + OFF_DATA + INFO_KEY));
	else
		printf("get key=0x%016" PRIx64 "\n", get_be64(m + OFF_DATA + INFO_KEY));
	fflush(stdout);
	m[3] = UMAD_METHOD_GET_RESP;
	put_be16(m + OFF_STATUS, directed ? 0x8000 : 0);
	memset(m + OFF_DATA, 0, 64);
	put_info(m + OFF_DATA, &io.claim);
	umad_send(io.port.fd, directed ? io.route_agent : io.lid_agent, io.umad, MAD, 0, 0);
}

static int be(void)
{
	struct sigaction a = { .sa_handler = on_end };
	char path[256];
	int issm;

	sigaction(SIGTERM, &a, NULL);
	open_port(true);
	if (umad_get_issm_path(NULL, 0, path, sizeof(path)) < 0 || (issm = open(path, O_RDWR)) < 0)
		die("can't say IsSM: %m");
	puts("ready");
	fflush(stdout);
	while (!ends)
		if (receive(100) && !umad_status(io.umad) && !(mad()[3] & 0x80) &&
		    get_be16(mad() + OFF_ATTR) == UMAD_SM_ATTR_SM_INFO)
			answer();
	close(issm);
	return 0;
}

static uint32_t random_below(uint32_t n)
{
	uint64_t x = seed += 0x9e3779b97f4a7c15ULL;	/* splitmix64 */

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return (uint32_t)((x ^ x >> 31) % n);
}

/* A claim of a sender that does not know the keys, or knows the SM_Key of -k. */
static struct claim made_up(void)
{
	return (struct claim){
		.guid = random_below(4) ? io.claim.guid : random_below(1000),
		.key = io.claim.key && random_below(2) ? io.claim.key : random_below(3) ? random_below(3) : random_below(UINT32_MAX),
		.m_key = random_below(3) ? 0 : random_below(UINT32_MAX),
		.control = random_below(7), .state = (uint8_t)random_below(16),
		.priority = (uint8_t)random_below(16),
	};
}

static int storm(void)
{
	int64_t begin, now;
	unsigned sent = 0, answers = 0, told = 0;

	open_port(false);
	begin = now = clock_mono_us();
	while (now - begin < io.seconds * 1000000ll) {
		struct claim c = made_up();

		if (sent < (now - begin) * io.rate / 1000000 + 1) {
			send_claim(&c, io.lid && random_below(2), ++sent, 100);
			continue;
		}
		while (receive(1))
			if (!umad_status(io.umad)) {
				answers++;
				told += get_be64(mad() + OFF_DATA + INFO_KEY) == io.secret;
			}
		now = clock_mono_us();
	}
	printf("sent %u answers %u told %u\n", sent, answers, told);
	return 0;
}

int main(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "+r:L:c:g:s:p:k:m:x:T:R:S:")) != -1)
		switch (c) {
		case 'r': read_route(optarg); break;
		case 'L': io.lid = (uint16_t)number(optarg); break;
		case 'c': io.claim.control = (uint32_t)number(optarg); break;
		case 'g': io.claim.guid = number(optarg); break;
		case 's': io.claim.state = (uint8_t)number(optarg); break;
		case 'p': io.claim.priority = (uint8_t)number(optarg); break;
		case 'k': io.claim.key = number(optarg); break;
		case 'm': io.claim.m_key = number(optarg); break;
		case 'x': io.secret = number(optarg); break;
		case 'T': io.seconds = (unsigned)number(optarg); break;
		case 'R': io.rate = (unsigned)number(optarg); break;
		case 'S': seed = number(optarg); break;
		default: exit(2);
		}
	if (optind + 1 == argc && !strcmp(argv[optind], "send"))
		return send_one();
	if (optind + 1 == argc && !strcmp(argv[optind], "be"))
		return be();
	if (optind + 1 == argc && !strcmp(argv[optind], "storm"))
		return storm();
	fputs("usage: forgesm [OPTION ...] send|be|storm\n", stderr);
	return 2;
}
