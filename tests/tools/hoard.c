/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Simulates a greedy host: registers everything that the subnet administrator accepts from it.
 *
 *	hoard [-g GROUPS] [-s SERVICES] [-e SUBSCRIPTIONS] [-a ALIAS-BLOCKS] [-p PORT-GUID]
 *	      [-r SEED] [-w WINDOW]
 *
 * So many requests of each kind, 0 if not said; -p: groups are joined on behalf of that port.
 * Groups have MTUs and rates by chance, so that few can share a multicast LID. Prints for each kind
 * a line "groups granted=N refused=N status=0xNNNN", the status being that of the last refusal.
 * Requests without an answer, or with BUSY, are repeated.
 */
#include <infiniband/umad_sa_mcm.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/base/bytes.h"
#include "lib/base/map64.h"
#include "port.h"

#define TIMEOUT_MS	2000
#define STATUS_BUSY	1
#define MCM(name)	UMAD_SA_MCM_COMP_MASK_##name
#define ATTR_GUIDINFO_RECORD 0x30

enum kind { GROUPS, SERVICES, SUBSCRIPTIONS, ALIASES, KINDS };
static const char *const names[KINDS] = { "groups", "services", "subscriptions", "aliases" };

static struct own_port port;

static struct {
	uint32_t n, granted, refused;
	unsigned status;
} kinds[KINDS];

static uint64_t member, seed = 1;

static void fill_group(struct umad_sa_packet *p, uint32_t n)
{
	static const uint8_t rates[] = { 2, 3, 5, 6 };
	struct umad_sa_mcmember_record *r = (void *)p->data;
	uint64_t random = hash64(seed + n);	/* the same when the request is repeated */

	p->comp_mask = htobe64(MCM(MGID) | MCM(PORT_GID) | MCM(JOIN_STATE) | MCM(QKEY) |
			       MCM(TCLASS) | MCM(PKEY) | MCM(FLOW_LABEL) | MCM(SL) |
			       MCM(MTU_SEL) | MCM(MTU) | MCM(RATE_SEL) | MCM(RATE));
	r->mgid[0] = 0xff;
	r->mgid[1] = 0x12;
	put_be16(r->mgid + 2, 0x1d1d);
	put_be64(r->mgid + 4, port.guid);
	put_be32(r->mgid + 12, n + 1);
	sa_put_gid(r->portgid, member ? member : port.guid);
	r->qkey = htobe32(0xb1b);
	r->pkey = htobe16(0xffff);
	r->mtu = (uint8_t)(2 << 6 | (1 + random % 4));
	r->rate = (uint8_t)(2 << 6 | rates[random / 4 % sizeof(rates)]);
	r->scope_state = 0x20 | 1;
}

static void fill_service(struct umad_sa_packet *p, uint32_t n)
{
	struct sa_service_record *r = (void *)p->data;

	p->comp_mask = htobe64(3);	/* ServiceID, ServiceGID; the lease does not expire */
	put_be64(r->id, port.guid << 20 | n);
	sa_put_gid(r->gid, port.guid);
}

static void fill_subscription(struct umad_sa_packet *p, uint32_t n)
{
	struct sa_inform_info *i = (void *)p->data;

	put_be16(i->lid_first, 0xffff);
	i->subscribe = 1;
	i->generic = 1;
	put_be16(i->type, 0xffff);
	put_be16(i->number, (uint16_t)(1000 + n));
	put_be32(i->producer, 0xffffff);
}

static void fill_aliases(struct umad_sa_packet *p, uint32_t n)
{
	struct sa_guidinfo_record *r = (void *)p->data;

	p->comp_mask = htobe64(n ? 0xff3 : 0xfe3);	/* LID, BlockNum, GUIDs; the first is the port's */
	put_be16(r->lid, port.lid);
	r->block = (uint8_t)n;
}

static void ask(enum kind kind, uint32_t n)
{
	static const struct {
		uint16_t attr;
		void (*fill)(struct umad_sa_packet *p, uint32_t n);
	} requests[KINDS] = {
		{ UMAD_SA_ATTR_MCMEMBER_REC, fill_group }, { UMAD_SA_ATTR_SERVICE_REC, fill_service },
		{ UMAD_ATTR_INFORM_INFO, fill_subscription }, { ATTR_GUIDINFO_RECORD, fill_aliases },
	};
	struct sa_mad m;

	sa_fill(&m, UMAD_METHOD_SET, requests[kind].attr, (uint64_t)kind << 24 | n);
	requests[kind].fill(&m.sa, n);
	sa_send(&port, &m, TIMEOUT_MS, 0);
}

/* Aliases that are refused are 0 in the answer. */
static void count_aliases(const struct umad_sa_packet *p)
{
	const struct sa_guidinfo_record *r = (const void *)p->data;

	for (unsigned i = !r->block; i < 8; i++)	/* the first of all is the port's own GUID */
		if (get_be64(r->guids[i]))
			kinds[ALIASES].granted++;
		else
			kinds[ALIASES].refused++;
}

/* Whether the answer is final. */
static bool take_answer(void)
{
	struct sa_mad m;
	enum kind kind;
	uint16_t status;

	if (sa_receive(&port, &m, 60000) < 0)
		die("no answer");
	status = be16toh(m.sa.mad_hdr.status);
	kind = be64toh(m.sa.mad_hdr.tid) >> 24 & 3;
	if (umad_status(&m) || status == STATUS_BUSY) {
		ask(kind, be64toh(m.sa.mad_hdr.tid) & 0xffffff);
		return false;
	}
	if (status) {
		kinds[kind].refused++;
		kinds[kind].status = status;
	} else if (kind == ALIASES) {
		count_aliases(&m.sa);
	} else {
		kinds[kind].granted++;
	}
	return true;
}

static void hoard(enum kind kind, uint32_t window)
{
	uint32_t sent = 0, done = 0;

	while (done < kinds[kind].n) {
		if (sent < kinds[kind].n && sent - done < window)
			ask(kind, sent++);
		else
			done += take_answer();
	}
	if (done)
		printf("%s granted=%u refused=%u status=0x%04x\n", names[kind], kinds[kind].granted,
		       kinds[kind].refused, kinds[kind].status);
}

int main(int argc, char **argv)
{
	uint32_t window = 64;
	int c;

	while ((c = getopt(argc, argv, "g:s:e:a:p:r:w:")) != -1)
		switch (c) {
		case 'g': kinds[GROUPS].n = (uint32_t)atoi(optarg); break;
		case 's': kinds[SERVICES].n = (uint32_t)atoi(optarg); break;
		case 'e': kinds[SUBSCRIPTIONS].n = (uint32_t)atoi(optarg); break;
		case 'a': kinds[ALIASES].n = (uint32_t)atoi(optarg); break;
		case 'p': member = strtoull(optarg, NULL, 16); break;
		case 'r': seed = strtoull(optarg, NULL, 0); break;
		case 'w': window = (uint32_t)atoi(optarg); break;
		default: return 2;
		}
	if (optind != argc || !window)
		return 2;
	own_port_open_sa(&port, 0);
	for (unsigned k = 0; k < KINDS; k++)
		hoard((enum kind)k, window);
	own_port_close(&port);
	return 0;
}
