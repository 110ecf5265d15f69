/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Shows the ceiling of a subnet administrator on libibumad: answers every PathRecord Get with the
 * same record, without reading the query, in one blocking loop.
 *
 * The fabric must be up, and this must run on the node where its subnet manager
 * ran; or with -n, where the simulator is not ibsim, on any, beside one that runs.
 * Prints "ready" when it serves; ends on a signal.
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <infiniband/umad.h>
#include <infiniband/umad_sa.h>
#include <infiniband/umad_sm.h>

#include "lib/iba/sa_records.h"

#define MAD_SIZE 256
#define RESPONSE 0x80

/* Opens the first port with what a subnet manager registers; -1 with a message. */
static int open_port(bool as_sm)
{
	static const struct { int mgmt_class, version; } agents[] = {
		/* the simulator sends traps as soon as issm is open: to 0x01 and 0x81 */
		{ UMAD_CLASS_SUBN_LID_ROUTED, 1 },
		{ UMAD_CLASS_SUBN_DIRECTED_ROUTE, 1 },
		{ UMAD_CLASS_SUBN_ADM, UMAD_SA_CLASS_VERSION },
	};
	long mask[16 / sizeof(long)] = { 1 << UMAD_METHOD_GET | 1 << UMAD_METHOD_TRAP };
	char issm[256];
	int fd;

	if (umad_init() < 0 || (fd = umad_open_port(NULL, 0)) < 0) {
		fprintf(stderr, "responder: no InfiniBand port\n");
		return -1;
	}
	for (size_t i = 0; i < sizeof(agents) / sizeof(agents[0]); i++)
		if (umad_register(fd, agents[i].mgmt_class, agents[i].version, 0, mask) < 0) {
			fprintf(stderr, "responder: cannot register for class 0x%02x\n",
				agents[i].mgmt_class);
			return -1;
		}
	if (!as_sm)
		return fd;
	/* never closed: the simulator routes requests to the process that holds it */
	if (umad_get_issm_path(NULL, 0, issm, sizeof(issm)) < 0 || open(issm, O_RDWR) < 0) {
		fprintf(stderr, "responder: %s: %s\n", issm, strerror(errno));
		return -1;
	}
	return fd;
}

static void fill_in(struct umad_sa_packet *p)
{
	struct sa_path_record *r = (void *)p->data;

	p->mad_hdr.method |= RESPONSE;
	p->mad_hdr.status = 0;
	p->attr_offset = htobe16(sizeof(*r) / 8);
	r->dlid[1] = r->slid[1] = 1;
	r->pkey[0] = r->pkey[1] = 0xff;
	r->num_path = 0x81;
	r->mtu = 0x84;
	r->rate = 0x87;
	r->life = 0x92;
}

static void serve(int fd)
{
	_Alignas(8) uint8_t raw[sizeof(struct ib_user_mad) + MAD_SIZE];
	struct umad_sa_packet *p = umad_get_mad(raw);

	for (;;) {
		int len = MAD_SIZE, agent = umad_recv(fd, raw, &len, -1);

		if (agent < 0 || len < MAD_SIZE || p->mad_hdr.mgmt_class != UMAD_CLASS_SUBN_ADM ||
		    p->mad_hdr.method != UMAD_METHOD_GET)
			continue;
		fill_in(p);
		umad_send(fd, agent, raw, MAD_SIZE, 0, 0);
	}
}

int main(int argc, char **argv)
{
	int fd = open_port(argc < 2 || strcmp(argv[1], "-n"));

	if (fd < 0)
		return 1;
	puts("ready");
	fflush(stdout);
	serve(fd);
}
