/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Joins an IPoIB broadcast group as Linux does: as soon as the port is Active, and has the
 * P_Key; by one request that is repeated ten times, every 300 ms, while there is no answer;
 * and any status is final (IPoIB would complain and wait for seconds).
 *
 *	ipoibjoin [-p P_KEY] [-t SECONDS]
 *
 * Waits SECONDS for the port.  Prints "waiting", then one line: "status=S ms=N", the status
 * (or "none") and the time from the moment when it could ask.  Exit status 0: it is a member.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <infiniband/umad.h>
#include <infiniband/umad_sa.h>
#include <infiniband/umad_sa_mcm.h>

#include "base/bytes.h"
#include "base/clock.h"

#define MAD_SIZE	256
#define GSI_QKEY	0x80010000u
#define TIMEOUT_MS	300	/* of the kernel: 3 s in ten parts */
#define RETRIES		10
#define POLL_US		500
#define STATE_ACTIVE	4
#define MCM(name)	UMAD_SA_MCM_COMP_MASK_##name

static void die(const char *what)
{
	fprintf(stderr, "ipoibjoin: %s: %s\n", what, strerror(errno));
	exit(2);
}

static bool has_pkey(const umad_port_t *port, uint16_t pkey)
{
	for (unsigned i = 0; i < port->pkeys_size; i++)
		if ((port->pkeys[i] | 0x8000) == (pkey | 0x8000))
			return true;
	return false;
}

/* Returns when the port can ask; its SM's LID and its GUID. */
static uint16_t await_port(uint16_t pkey, int64_t end_us, uint64_t *guid)
{
	while (clock_mono_us() < end_us) {
		umad_port_t port;
		uint16_t sm_lid = 0;

		if (umad_get_port(NULL, 0, &port) < 0)
			die("port");
		if (port.state == STATE_ACTIVE && port.base_lid && has_pkey(&port, pkey))
			sm_lid = (uint16_t)port.sm_lid;
		*guid = be64toh(port.port_guid);
		umad_release_port(&port);
		if (sm_lid)
			return sm_lid;
		usleep(POLL_US);
	}
	printf("status=never ms=0\n");
	exit(1);
}

static void ask(int fd, int agent, uint16_t sm_lid, uint16_t pkey, uint64_t guid)
{
	_Alignas(8) uint8_t raw[sizeof(struct ib_user_mad) + MAD_SIZE] = { 0 };
	struct umad_sa_packet *p = umad_get_mad(raw);
	struct umad_sa_mcmember_record *r = (void *)p->data;

	p->mad_hdr.base_version = 1;
	p->mad_hdr.mgmt_class = UMAD_CLASS_SUBN_ADM;
	p->mad_hdr.class_version = UMAD_SA_CLASS_VERSION;
	p->mad_hdr.method = UMAD_METHOD_SET;
	p->mad_hdr.attr_id = htobe16(UMAD_SA_ATTR_MCMEMBER_REC);
	p->mad_hdr.tid = htobe64(1);
	p->comp_mask = htobe64(MCM(MGID) | MCM(PORT_GID) | MCM(PKEY) | MCM(JOIN_STATE));
	put_be32(r->mgid, 0xff12401b);
	put_be16(r->mgid + 4, pkey | 0x8000);
	put_be32(r->mgid + 12, 0xffffffff);
	put_be64(r->portgid, 0xfe80000000000000ULL);
	put_be64(r->portgid + 8, guid);
	r->pkey = htobe16(pkey | 0x8000);
	r->scope_state = 1;
	umad_set_addr(raw, sm_lid, 1, 0, (int)GSI_QKEY);
	if (umad_send(fd, agent, raw, MAD_SIZE, TIMEOUT_MS, RETRIES) < 0)
		die("send");
}

int main(int argc, char **argv)
{
	_Alignas(8) uint8_t raw[sizeof(struct ib_user_mad) + MAD_SIZE];
	const struct umad_sa_packet *p = umad_get_mad(raw);
	uint16_t pkey = 0xffff, sm_lid, status;
	int c, fd = -1, agent, length = MAD_SIZE;
	double seconds = 20;
	int64_t begin_us;
	uint64_t guid;

	while ((c = getopt(argc, argv, "p:t:")) != -1)
		switch (c) {
		case 'p': pkey = (uint16_t)strtoul(optarg, NULL, 0); break;
		case 't': seconds = atof(optarg); break;
		default: return 2;
		}
	if (umad_init() < 0 || (fd = umad_open_port(NULL, 0)) < 0)
		die("open");
	agent = umad_register(fd, UMAD_CLASS_SUBN_ADM, UMAD_SA_CLASS_VERSION, 0, NULL);
	if (agent < 0)
		die("register");
	printf("waiting\n");
	fflush(stdout);
	sm_lid = await_port(pkey, clock_mono_us() + (int64_t)(seconds * 1e6), &guid);
	begin_us = clock_mono_us();
	ask(fd, agent, sm_lid, pkey, guid);
	if (umad_recv(fd, raw, &length, 10000) < 0)
		die("receive");
	status = be16toh(p->mad_hdr.status);
	printf(umad_status(raw) ? "status=none" : "status=0x%04x", status);
	printf(" ms=%" PRId64 "\n", (clock_mono_us() - begin_us) / 1000);
	umad_close_port(fd);
	return umad_status(raw) || status;
}
