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
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/umad.h>
#include <infiniband/umad_sa.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "ib/sa.h"

#define ANSWER_MAX 65536
#define TIMEOUT_MS 10000

enum { OFF_METHOD = 3, OFF_STATUS = 4, OFF_TID = 12, OFF_ATTR = 16, OFF_RMPP = 24,
       OFF_ATTR_OFFSET = 44, OFF_MASK = 48 };

static struct {
	int fd, agent, sm_lid;
	uint8_t *umad;
} io;

__attribute__((format(printf, 1, 2), noreturn))
static void die(const char *fmt, ...)
{
	va_list ap;

	fputs("satrace: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(2);
}

/* RMPP is the kernel's. */
static void open_port(void)
{
	umad_port_t port;

	if (umad_init() < 0 || umad_get_port(NULL, 0, &port) < 0 ||
	    (io.fd = umad_open_port(NULL, 0)) < 0 ||
	    (io.agent = umad_register(io.fd, UMAD_CLASS_SUBN_ADM, UMAD_SA_CLASS_VERSION,
				      UMAD_RMPP_VERSION, NULL)) < 0)
		die("can't open a port");
	io.sm_lid = (int)port.sm_lid;
	umad_release_port(&port);
	io.umad = xmalloc(umad_size() + ANSWER_MAX);
}

/* The answer and its length. */
static const uint8_t *ask(unsigned slid, unsigned dlid, size_t *len)
{
	static uint32_t tid;
	uint8_t *mad = umad_get_mad(io.umad);
	struct sa_path_record *path = (void *)(mad + SA_HDR_LEN);
	int n = ANSWER_MAX;

	memset(io.umad, 0, umad_size() + MAD_LEN);
	mad[0] = UMAD_BASE_VERSION;
	mad[1] = UMAD_CLASS_SUBN_ADM;
	mad[2] = UMAD_SA_CLASS_VERSION;
	mad[OFF_METHOD] = UMAD_SA_METHOD_GET_TRACE_TABLE;
	put_be32(mad + OFF_TID, ++tid);
	put_be16(mad + OFF_ATTR, UMAD_SA_ATTR_TRACE_REC);
	mad[OFF_RMPP] = UMAD_RMPP_VERSION;
	put_be64(mad + OFF_MASK, PR_SLID | PR_DLID);
	put_be16(path->slid, (uint16_t)slid);
	put_be16(path->dlid, (uint16_t)dlid);
	umad_set_addr(io.umad, io.sm_lid, 1, 0, UMAD_QKEY);
	if (umad_send(io.fd, io.agent, io.umad, MAD_LEN, TIMEOUT_MS, 0) < 0 ||
	    umad_recv(io.fd, io.umad, &n, TIMEOUT_MS) < 0 || umad_status(io.umad))
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

/* The kernel gives what PayloadLength says: all of it is records. */
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

	open_port();
	while (scanf("%u %u", &slid, &dlid) == 2)
		trace(slid, dlid);
	umad_unregister(io.fd, io.agent);
	umad_close_port(io.fd);
	free(io.umad);
	return 0;
}
