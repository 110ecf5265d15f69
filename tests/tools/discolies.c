/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A library to preload into qosd: simulates a device whose answers break libibnetdisc in spite of
 * all checks before the library sees them.
 *
 * The file DISCOLIES says which and how, in a line: "LIE GUID ...", node GUIDs in hexadecimal.  The
 * file is mapped, so that later changes reach a process that can no longer open files.
 *
 *   kill     the discovery process gets SIGSEGV when it decodes the NodeInfo of the device
 *   exit     it ends then, as a library does that sees no way on
 *   hang     it does not come back from it
 *   memory   it takes memory until there is none, and aborts
 *   endless  the first of the devices has a switch of 254 linked ports behind each of its own ports, which has one
 *            behind each, and so on, to the last hop
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <infiniband/mad.h>
#include <infiniband/umad.h>
#include <infiniband/umad_sm.h>

#include "lib/base/bytes.h"

#define LINE	4096
#define QUEUE	8192u
#define SMP	256

enum { HOPS = 7, ATTR = 16, MODIFIER = 20, DATA = 64, PATH = 128 };

static const volatile char *line;

__attribute__((constructor)) static void begin(void)
{
	const char *path = getenv("DISCOLIES");
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	void *at = fd >= 0 ? mmap(NULL, LINE, PROT_READ, MAP_SHARED, fd, 0) : MAP_FAILED;

	if (fd >= 0)
		close(fd);
	if (at != MAP_FAILED)
		line = at;
}

static int is_discovery(void)
{
	return strstr(program_invocation_short_name, "qosd-discovery") != NULL;
}

/* The GUIDs of the devices with that lie; NULL: another lie, or none. */
static const char *devices_of(const char *lie)
{
	static char copy[LINE];
	size_t n = strlen(lie);

	if (!line || !is_discovery())
		return NULL;
	for (int i = 0; i < LINE - 1; i++)
		copy[i] = line[i];
	return !strncmp(copy, lie, n) && copy[n] == ' ' ? copy + n : NULL;
}

/* The first of them; 0: no device has that lie. */
static uint64_t first_of(const char *lie)
{
	const char *guids = devices_of(lie);

	return guids ? strtoull(guids, NULL, 16) : 0;
}

static int tells(const char *lie, uint64_t guid)
{
	const char *at = devices_of(lie);
	char *end;

	for (uint64_t x; at && (x = strtoull(at, &end, 16)); at = end)
		if (x == guid)
			return 1;
	return 0;
}

/* --- what the library can't bear --- */

static void take_all_memory(void)
{
	for (;;) {
		char *p = malloc(1 << 20);

		if (!p)
			abort();
		memset(p, 1, 1 << 12);
	}
}

/* libibmad's function of the name, as libibnetdisc calls it for each new node. */
void mad_decode_field(uint8_t *buf, enum MAD_FIELDS field, void *val)
{
	static void (*next)(uint8_t *, enum MAD_FIELDS, void *);
	uint64_t guid;

	if (!next) {
		void *found = dlsym(RTLD_NEXT, "mad_decode_field");

		memcpy(&next, &found, sizeof(next));
	}
	next(buf, field, val);
	if (field != IB_NODE_GUID_F || !line)
		return;
	memcpy(&guid, val, sizeof(guid));
	if (tells("kill", guid))
		raise(SIGSEGV);
	if (tells("exit", guid))
		exit(255);
	while (tells("hang", guid))
		;
	if (tells("memory", guid))
		take_all_memory();
}

/* --- a fabric without end --- */

/* Answers that are made up, oldest first, from `out` to `in`. */
static struct { uint8_t umad[sizeof(struct ib_user_mad) + SMP]; } queue[QUEUE];
static unsigned in, out;
static uint8_t false_path[64];
static unsigned false_hops;	/* 0: its NodeInfo has not been seen */

static int is_behind(const uint8_t *mad)
{
	return false_hops && mad[HOPS] >= false_hops &&
	       !memcmp(mad + PATH + 1, false_path + 1, false_hops);
}

static void make_up(const void *umad)
{
	uint8_t *mad = umad_get_mad(queue[in % QUEUE].umad);
	static uint64_t guid = 0xbad0000000000000;

	memcpy(queue[in % QUEUE].umad, umad, sizeof(queue[0].umad));
	((struct ib_user_mad *)queue[in % QUEUE].umad)->status = 0;
	in++;
	mad[3] = UMAD_METHOD_GET_RESP;
	mad[4] = 0x80;
	mad[5] = 0;
	memset(mad + DATA, 0, 64);
	switch (get_be16(mad + ATTR)) {
	case UMAD_SM_ATTR_NODE_INFO:
		mad[DATA] = mad[DATA + 1] = 1;
		mad[DATA + 2] = 2;
		mad[DATA + 3] = 254;
		put_be64(mad + DATA + 12, ++guid);
		put_be64(mad + DATA + 20, guid);
		mad[DATA + 36] = 1;
		break;
	case UMAD_SM_ATTR_PORT_INFO:
		mad_set_field(mad, DATA, IB_PORT_STATE_F, get_be32(mad + MODIFIER) ? 2 : 4);
		mad_set_field(mad, DATA, IB_PORT_PHYS_STATE_F, 5);
		mad_set_field(mad, DATA, IB_PORT_LOCAL_PORT_F, 1);
		break;
	}
}

int umad_send(int fd, int agentid, void *umad, int length, int timeout_ms, int retries)
{
	void *found = dlsym(RTLD_NEXT, "umad_send");
	int (*next)(int, int, void *, int, int, int);

	memcpy(&next, &found, sizeof(next));
	if (first_of("endless") && length == SMP && in - out < QUEUE && is_behind(umad_get_mad(umad))) {
		make_up(umad);
		return 0;
	}
	return next(fd, agentid, umad, length, timeout_ms, retries);
}

int umad_recv(int fd, void *umad, int *length, int timeout_ms)
{
	void *found = dlsym(RTLD_NEXT, "umad_recv");
	int (*next)(int, void *, int *, int);
	uint64_t guid = first_of("endless");
	uint8_t *mad = umad_get_mad(umad);
	int agent;

	if (in != out) {
		memcpy(umad, queue[out++ % QUEUE].umad, sizeof(queue[0].umad));
		*length = SMP;
		return 0;
	}
	memcpy(&next, &found, sizeof(next));
	agent = next(fd, umad, length, timeout_ms);
	if (agent >= 0 && guid && !false_hops && get_be16(mad + ATTR) == UMAD_SM_ATTR_NODE_INFO &&
	    mad[HOPS] && get_be64(mad + DATA + 12) == guid) {
		false_hops = mad[HOPS];
		memcpy(false_path, mad + PATH, sizeof(false_path));
		mad[DATA + 2] = 2;
		mad[DATA + 3] = 254;
	}
	return agent;
}
