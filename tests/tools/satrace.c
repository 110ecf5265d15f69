/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * satrace: asks the subnet administrator for the nodes on paths (TraceRecord), which no
 * standard client does.
 *
 *   satrace <ENDS
 *
 * A line of ENDS: SLID DLID.  Prints for each "trace SLID DLID STATUS", then a line for
 * each record: NodeType NodeID ChassisID EntryPort EntryPortID ExitPort ExitPortID GIDPrefix
 * IDGeneration.  Exit status 0: each was answered, 2: not, or by what is no such answer.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/base/alloc.h"
#include "lib/base/bytes.h"
#include "port.h"

#define ANSWER_MAX 65536
#define TIMEOUT_MS 10000

enum { OFF_METHOD = 3, OFF_STATUS = 4, OFF_TID = 12, OFF_ATTR = 16, OFF_ATTR_OFFSET = 44 };

static struct own_port port;
static uint8_t *umad;		/* an answer may be long */

/* The answer and its length. */
static const uint8_t *ask(unsigned slid, unsigned dlid, size_t *len)
{
	static uint32_t tid;
	const uint8_t *mad = umad_get_mad(umad);
	struct sa_mad m;
	struct sa_path_record *path = (void *)m.sa.data;
	int n = ANSWER_MAX;

	sa_fill(&m, UMAD_SA_METHOD_GET_TRACE_TABLE, UMAD_SA_ATTR_TRACE_REC, ++tid);
	m.sa.rmpp_hdr.rmpp_version = UMAD_RMPP_VERSION;
	m.sa.comp_mask = htobe64(PR_SLID | PR_DLID);
	put_be16(path->slid, (uint16_t)slid);
	put_be16(path->dlid, (uint16_t)dlid);
	sa_send(&port, &m, TIMEOUT_MS, 0);
	if (umad_recv(port.fd, umad, &n, TIMEOUT_MS) < 0 || umad_status(umad))
		die("from LID %u to %u: no answer", slid, dlid);
	if (get_be32(mad + OFF_TID) != tid || n < SA_HDR_LEN)
		die("from LID %u to %u: a wrong answer", slid, dlid);
	*len = (size_t)n;
	return mad;
}

static void print_record(const struct sa_trace_record *r)
{
	printf("%u 0x%016" PRIx64 " 0x%016" PRIx64 " %u 0x%016" PRIx64 " %u 0x%016" PRIx64
	       " 0x%016" PRIx64 " %u\n", r->node_type, get_be64(r->node_id),
	       get_be64(r->chassis_id), r->entry_port, get_be64(r->entry_port_id), r->exit_port,
	       get_be64(r->exit_port_id), get_be64(r->gid_prefix), get_be16(r->id_generation));
}

/* The kernel delivers as many bytes as PayloadLength says: all of them are records. */
static void trace(unsigned slid, unsigned dlid)
{
	size_t len, size;
	const uint8_t *mad = ask(slid, dlid, &len);
	unsigned status = get_be16(mad + OFF_STATUS);

	printf("trace %u %u 0x%04x\n", slid, dlid, status);
	if (mad[OFF_METHOD] != 0x92 || get_be16(mad + OFF_ATTR) != UMAD_SA_ATTR_TRACE_REC)
		die("method 0x%02x, attribute 0x%04x", mad[OFF_METHOD], get_be16(mad + OFF_ATTR));
	if (status)
		return;
	size = get_be16(mad + OFF_ATTR_OFFSET) * 8u;
	if (size != 48)
		die("records of %zu bytes", size);
	if ((len - SA_HDR_LEN) % size)
		die("%zu bytes of records", len - SA_HDR_LEN);
	for (size_t at = SA_HDR_LEN; at < len; at += size)
		print_record((const void *)(mad + at));
}

int main(void)
{
	unsigned slid, dlid;

	own_port_open_sa(&port, UMAD_RMPP_VERSION);	/* the kernel sends the ACKs */
	umad = xmalloc(umad_size() + ANSWER_MAX);
	while (scanf("%u %u", &slid, &dlid) == 2)
		trace(slid, dlid);
	own_port_close(&port);
	free(umad);
	return 0;
}
