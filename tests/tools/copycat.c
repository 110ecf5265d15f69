/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Asks a master for the list of its data for standbys (SA_ATTR_REPLICA), as any host can.
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

#include "lib/base/bytes.h"
#include "port.h"

/* the only code shared with the program under test: the proof is the protocol */
#include "sm/keys/proof.c"

#define TIMEOUT_MS	1000
enum { OFF_SM_KEY = 36 };

/* Asks the SA for the data that a standby copies, and prints the answer. */
static void ask(const struct own_port *port, struct sa_mad *m)
{
	struct sa_replica x;

	sa_send(port, m, TIMEOUT_MS, 3);
	if (sa_receive(port, m, 5 * TIMEOUT_MS) < 0 || umad_status(m)) {
		puts("no answer");
		return;
	}
	memcpy(&x, m->sa.data, sizeof(x));
	printf("status=0x%04x rows=%u\n", be16toh(m->sa.mad_hdr.status),
	       m->sa.mad_hdr.status ? 0 : get_be32(x.n) / (unsigned)sizeof(struct sa_replica_row));
}

int main(int argc, char **argv)
{
	struct sa_replica x = { 0 };
	struct own_port port;
	uint64_t key = 0, proof = 0;
	struct sa_mad m;
	int opt;

	while ((opt = getopt(argc, argv, "k:p:")) != -1) {
		if (opt == '?')
			die("usage: copycat [-k SM_KEY] [-p SM_KEY] MASTER-GUID");
		*(opt == 'k' ? &key : &proof) = strtoull(optarg, NULL, 0);
	}
	if (optind != argc - 1)
		die("no GUID of a master");
	own_port_open_sa(&port, 0);
	put_be32(x.part, SA_REPLICA_LIST);
	put_be64(x.nonce, 7);
	if (proof)
		proof_seal(&x, proof, PROOF_REPLICA_GET, port.guid,
			   strtoull(argv[optind], NULL, 16));
	sa_fill(&m, UMAD_METHOD_GET, SA_ATTR_REPLICA, 0x5eed);
	put_be64(m.bytes + OFF_SM_KEY, key);
	memcpy(m.sa.data, &x, sizeof(x));
	ask(&port, &m);
	own_port_close(&port);
	return 0;
}
