/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Asks a master for the list of what it has for standbys (SA_ATTR_ESTATE), which any host can.
 *
 *	copycat [-k SM_KEY] [-p SM_KEY] MASTER-GUID
 *
 * -k: the key itself in the header; -p: a proof that we have it.  Prints "status=0xNNNN rows=N", rows
 * being the parts that it is told of, or "no answer".
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <infiniband/umad.h>
#include <infiniband/umad_sa.h>

#include "base/bytes.h"
#include "ib/sa.h"

/* a tool shares nothing with what it tests but this: the proof is the protocol */
#include "sm/proof.c"

#define GSI_QKEY	0x80010000u
#define TIMEOUT_MS	1000
#define MAD		256
enum { OFF_STATUS = 4, OFF_TID = 8, OFF_ATTR = 16, OFF_SM_KEY = 36 };

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "copycat: %s\n", what);
	exit(2);
}

/* Asks the SA for what a standby copies, and prints what it answers. */
static void ask(struct ib_user_mad *u, int fd, int agent)
{
	uint8_t *mad = umad_get_mad(u);
	struct sa_estate x;
	int len = MAD;

	if (umad_send(fd, agent, u, MAD, TIMEOUT_MS, 3) < 0 || umad_recv(fd, u, &len, 5 * TIMEOUT_MS) < 0 ||
	    umad_status(u)) {
		puts("no answer");
		return;
	}
	memcpy(&x, mad + SA_HDR_LEN, sizeof(x));
	printf("status=0x%04x rows=%u\n", get_be16(mad + OFF_STATUS),
	       get_be16(mad + OFF_STATUS) ? 0 : get_be32(x.n) / (unsigned)sizeof(struct sa_estate_row));
}

int main(int argc, char **argv)
{
	struct ib_user_mad *u = calloc(1, umad_size() + MAD);
	struct sa_estate x = { 0 };
	umad_port_t port;
	uint64_t key = 0, proof = 0;
	int opt, fd, agent;
	uint8_t *mad;

	while ((opt = getopt(argc, argv, "k:p:")) != -1) {
		if (opt == '?')
			die("usage: copycat [-k SM_KEY] [-p SM_KEY] MASTER-GUID");
		*(opt == 'k' ? &key : &proof) = strtoull(optarg, NULL, 0);
	}
	if (optind != argc - 1 || !u || umad_init() < 0 || umad_get_port(NULL, 0, &port) < 0)
		die("no port, or no GUID of a master");
	fd = umad_open_port(port.ca_name, port.portnum);
	agent = fd < 0 ? -1 : umad_register(fd, UMAD_CLASS_SUBN_ADM, UMAD_SA_CLASS_VERSION, 0, NULL);
	if (agent < 0)
		die("the port can't be opened");
	put_be32(x.part, SA_ESTATE_LIST);
	put_be64(x.nonce, 7);
	if (proof)
		proof_seal(&x, proof, PROOF_ESTATE_GET, be64toh(port.port_guid),
			   strtoull(argv[optind], NULL, 16));
	mad = umad_get_mad(u);
	mad[0] = 1;
	mad[1] = UMAD_CLASS_SUBN_ADM;
	mad[2] = UMAD_SA_CLASS_VERSION;
	mad[3] = UMAD_METHOD_GET;
	put_be64(mad + OFF_TID, 0x5eed);
	put_be16(mad + OFF_ATTR, SA_ATTR_ESTATE);
	put_be64(mad + OFF_SM_KEY, key);
	memcpy(mad + SA_HDR_LEN, &x, sizeof(x));
	umad_set_addr(u, (int)port.sm_lid, 1, 0, GSI_QKEY);
	ask(u, fd, agent);
	umad_release_port(&port);
	free(u);
	return 0;
}
