/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Joins (or has leave) many ports to many multicast groups, as all hosts do when a
 * subnet manager has restarted: from one node, for each port by proxy.
 *
 *	joinstorm [-df] [-g GROUPS] [-m MEMBERS] [-w WINDOW] [-k KEY] [-s JOINSTATE]
 *		  [-p PART/PARTS] GUIDS
 *
 * GUIDS is a file of port GUIDs in hexadecimal, one a line.  The first group is the IPoIB broadcast
 * group of the default partition, which must be there; the others are made by whoever joins them
 * first. -m: the ports of the file are taken MEMBERS at a time, and each such set has GROUPS groups
 * that no other set joins.  Requests without an answer, or with BUSY, are repeated; -f: any answer
 * is final, as for Linux and for ibsim's mcast_storm. -p 1/4: the second quarter of the ports, for
 * several clients at once.  Prints one line of KEY=VALUE; exits 1 if any request was refused.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/umad_sa_mcm.h>

#include "lib/base/alloc.h"
#include "lib/base/bytes.h"
#include "lib/base/clock.h"
#include "port.h"

#define TIMEOUT_MS	1000
#define STATUS_BUSY	1
#define MCM(name)	UMAD_SA_MCM_COMP_MASK_##name
#define JOIN		(MCM(MGID) | MCM(PORT_GID) | MCM(JOIN_STATE))
#define CREATE		(JOIN | MCM(QKEY) | MCM(TCLASS) | MCM(PKEY) | MCM(FLOW_LABEL) | MCM(SL))

static struct {
	unsigned groups, members, window, part, parts;
	uint8_t join_state;
	uint64_t sm_key;
	bool leave, final;
} opt = { .groups = 1, .window = 64, .parts = 1, .join_state = 1 };

static VEC(uint64_t) guids;

static struct own_port port;

static uint64_t done, refused, again;
static unsigned last_status;

static void load_guids(const char *path)
{
	FILE *f = fopen(path, "r");
	uint64_t guid;

	if (!f)
		die("%s: %m", path);
	while (fscanf(f, "%" SCNx64, &guid) == 1)
		*vec_push(&guids) = guid;
	fclose(f);
	size_t first = guids.n * opt.part / opt.parts;

	guids.n = guids.n * (opt.part + 1) / opt.parts - first;
	memmove(guids.v, guids.v + first, guids.n * sizeof(*guids.v));
}

static void mgid_of(unsigned group, uint8_t mgid[16])
{
	static const uint8_t broadcast[16] = {
		0xff, 0x12, 0x40, 0x1b, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff,
	};

	memcpy(mgid, broadcast, 16);
	if (group) {
		put_be16(mgid + 2, 0x1c1b);
		put_be32(mgid + 12, group);
	}
}

/* The request of a number: port by port, for each all groups. */
static void ask(uint32_t n)
{
	struct sa_mad m;
	struct umad_sa_mcmember_record *r = (void *)m.sa.data;
	unsigned group = n % opt.groups;

	if (opt.members)
		group += 1 + n / opt.groups / opt.members * opt.groups;
	sa_fill(&m, opt.leave ? UMAD_SA_METHOD_DELETE : UMAD_METHOD_SET, UMAD_SA_ATTR_MCMEMBER_REC, n);
	put_be64(m.bytes + 36, opt.sm_key);
	m.sa.comp_mask = htobe64(group && !opt.leave ? CREATE : JOIN);
	mgid_of(group, r->mgid);
	sa_put_gid(r->portgid, guids.v[n / opt.groups]);
	r->qkey = htobe32(0xb1b);
	r->pkey = htobe16(0xffff);
	r->scope_state = 0x20 | opt.join_state;
	sa_send(&port, &m, TIMEOUT_MS, 0);
}

/* Waits for one; repeats requests without an answer or with BUSY. */
static void take_answer(void)
{
	struct sa_mad m;
	uint16_t status;

	if (sa_receive(&port, &m, 60000) < 0)
		die("no answer");
	status = be16toh(m.sa.mad_hdr.status);
	if (umad_status(&m) || (status == STATUS_BUSY && !opt.final)) {
		again++;
		ask((uint32_t)be64toh(m.sa.mad_hdr.tid));
		return;
	}
	done++;
	if (status) {
		refused++;
		last_status = status;
	}
}

int main(int argc, char **argv)
{
	uint64_t sent = 0, all;
	int64_t begin;
	int c;

	while ((c = getopt(argc, argv, "dfg:m:w:k:s:p:")) != -1)
		switch (c) {
		case 'd': opt.leave = true; break;
		case 'f': opt.final = true; break;
		case 'g': opt.groups = (unsigned)atoi(optarg); break;
		case 'm': opt.members = (unsigned)atoi(optarg); break;
		case 'w': opt.window = (unsigned)atoi(optarg); break;
		case 'k': opt.sm_key = strtoull(optarg, NULL, 0); break;
		case 's': opt.join_state = (uint8_t)atoi(optarg); break;
		case 'p':
			if (sscanf(optarg, "%u/%u", &opt.part, &opt.parts) != 2 ||
			    opt.part >= opt.parts)
				return 2;
			break;
		default: return 2;
		}
	if (optind + 1 != argc || !opt.groups || !opt.window)
		return 2;
	load_guids(argv[optind]);
	own_port_open_sa(&port, 0);
	all = (uint64_t)guids.n * opt.groups;
	begin = clock_mono_us();
	while (done < all) {
		if (sent < all && sent - done < opt.window)
			ask((uint32_t)sent++);
		else
			take_answer();
	}
	printf("requests=%" PRIu64 " refused=%" PRIu64 " last-status=%#06x again=%" PRIu64
	       " seconds=%.3f\n", done, refused, last_status, again,
	       (double)(clock_mono_us() - begin) / 1e6);
	own_port_close(&port);
	return refused != 0;
}
