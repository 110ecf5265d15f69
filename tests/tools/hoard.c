/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One greedy host: registers all that the subnet administrator takes from it.
 *
 *	hoard [-g GROUPS] [-s SERVICES] [-e SUBSCRIPTIONS] [-a ALIAS-BLOCKS] [-p PORT-GUID]
 *	      [-r SEED] [-w WINDOW]
 *
 * So many requests of each kind, 0 if not said; -p: groups are joined on behalf of that port.
 * Groups have MTUs and rates by chance, so that few can share a multicast LID.  Prints for each kind
 * a line "groups granted=N refused=N status=0xNNNN", the status being that of the last refusal.
 * What had no answer, or found the SA busy, is asked again.
 */
#include <infiniband/umad.h>
#include <infiniband/umad_sa.h>
#include <infiniband/umad_sa_mcm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/map64.h"
#include "ib/sa.h"

#define GSI_QKEY	0x80010000u
#define TIMEOUT_MS	2000
#define MAD_SIZE	256
#define STATUS_BUSY	1
#define MCM(name)	UMAD_SA_MCM_COMP_MASK_##name
#define ATTR_GUIDINFO_RECORD 0x30

enum kind { GROUPS, SERVICES, SUBSCRIPTIONS, ALIASES, KINDS };
static const char *const names[KINDS] = { "groups", "services", "subscriptions", "aliases" };

static struct {
	int fd, agent;
	uint16_t lid, sm_lid;
	uint64_t guid;
} port;

static struct {
	uint32_t n, granted, refused;
	unsigned status;
} kinds[KINDS];

static uint64_t member, seed = 1;

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "hoard: %s\n", what);
	exit(2);
}

static void open_port(void)
{
	umad_port_t info;

	if (umad_init() < 0 || umad_get_port(NULL, 0, &info) < 0)
		die("no port");
	port.lid = (uint16_t)info.base_lid;
	port.sm_lid = (uint16_t)info.sm_lid;
	port.guid = be64toh(info.port_guid);
	umad_release_port(&info);
	port.fd = umad_open_port(NULL, 0);
	if (port.fd < 0)
		die("the port cannot be opened");
	port.agent = umad_register(port.fd, UMAD_CLASS_SUBN_ADM, UMAD_SA_CLASS_VERSION, 0, NULL);
	if (port.agent < 0)
		die("no agent");
}

static void put_gid(uint8_t gid[16], uint64_t guid)
{
	put_be64(gid, 0xfe80000000000000ULL);
	put_be64(gid + 8, guid);
}

static void fill_group(struct umad_sa_packet *p, uint32_t n)
{
	static const uint8_t rates[] = { 2, 3, 5, 6 };
	struct umad_sa_mcmember_record *r = (void *)p->data;
	uint64_t random = hash64(seed + n);	/* the same when it is asked again */

	p->mad_hdr.attr_id = htobe16(UMAD_SA_ATTR_MCMEMBER_REC);
	p->comp_mask = htobe64(MCM(MGID) | MCM(PORT_GID) | MCM(JOIN_STATE) | MCM(QKEY) |
			       MCM(TCLASS) | MCM(PKEY) | MCM(FLOW_LABEL) | MCM(SL) |
			       MCM(MTU_SEL) | MCM(MTU) | MCM(RATE_SEL) | MCM(RATE));
	r->mgid[0] = 0xff;
	r->mgid[1] = 0x12;
	put_be16(r->mgid + 2, 0x1d1d);
	put_be64(r->mgid + 4, port.guid);
	put_be32(r->mgid + 12, n + 1);
	put_gid(r->portgid, member ? member : port.guid);
	r->qkey = htobe32(0xb1b);
	r->pkey = htobe16(0xffff);
	r->mtu = (uint8_t)(2 << 6 | (1 + random % 4));
	r->rate = (uint8_t)(2 << 6 | rates[random / 4 % sizeof(rates)]);
	r->scope_state = 0x20 | 1;
}

static void fill_service(struct umad_sa_packet *p, uint32_t n)
{
	struct sa_service_record *r = (void *)p->data;

	p->mad_hdr.attr_id = htobe16(UMAD_SA_ATTR_SERVICE_REC);
	p->comp_mask = htobe64(3);	/* ServiceID, ServiceGID; the lease is for ever */
	put_be64(r->id, port.guid << 20 | n);
	put_gid(r->gid, port.guid);
}

static void fill_subscription(struct umad_sa_packet *p, uint32_t n)
{
	struct sa_inform_info *i = (void *)p->data;

	p->mad_hdr.attr_id = htobe16(UMAD_ATTR_INFORM_INFO);
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

	p->mad_hdr.attr_id = htobe16(ATTR_GUIDINFO_RECORD);
	p->comp_mask = htobe64(n ? 0xff3 : 0xfe3);	/* LID, BlockNum, GUIDs; the first is the port's */
	put_be16(r->lid, port.lid);
	r->block = (uint8_t)n;
}

static void ask(enum kind kind, uint32_t n)
{
	static void (*const fill[KINDS])(struct umad_sa_packet *p, uint32_t n) = {
		fill_group, fill_service, fill_subscription, fill_aliases,
	};
	_Alignas(8) uint8_t raw[sizeof(struct ib_user_mad) + MAD_SIZE] = { 0 };
	struct umad_sa_packet *p = umad_get_mad(raw);

	p->mad_hdr.base_version = 1;
	p->mad_hdr.mgmt_class = UMAD_CLASS_SUBN_ADM;
	p->mad_hdr.class_version = UMAD_SA_CLASS_VERSION;
	p->mad_hdr.method = UMAD_METHOD_SET;
	p->mad_hdr.tid = htobe64((uint64_t)kind << 24 | n);
	fill[kind](p, n);
	umad_set_addr(raw, port.sm_lid, 1, 0, (int)GSI_QKEY);
	if (umad_send(port.fd, port.agent, raw, MAD_SIZE, TIMEOUT_MS, 0) < 0)
		die("nothing can be sent");
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

/* Whether it was the last word on a request. */
static bool take_answer(void)
{
	_Alignas(8) uint8_t raw[sizeof(struct ib_user_mad) + MAD_SIZE];
	const struct umad_sa_packet *p = umad_get_mad(raw);
	int length = MAD_SIZE;
	enum kind kind;
	uint16_t status;

	if (umad_recv(port.fd, raw, &length, 60000) < 0)
		die("no answer");
	status = be16toh(p->mad_hdr.status);
	kind = be64toh(p->mad_hdr.tid) >> 24 & 3;
	if (umad_status(raw) || status == STATUS_BUSY) {
		ask(kind, be64toh(p->mad_hdr.tid) & 0xffffff);
		return false;
	}
	if (status) {
		kinds[kind].refused++;
		kinds[kind].status = status;
	} else if (kind == ALIASES) {
		count_aliases(p);
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
	open_port();
	for (unsigned k = 0; k < KINDS; k++)
		hoard((enum kind)k, window);
	umad_close_port(port.fd);
	return 0;
}
