/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Translates between the bytes of a packet and struct packet; see raw.h. */
#include "sim/hca/raw.h"

#include "lib/base/bytes.h"

/* Sizes of headers, in bytes. */
enum { LRH = 8, GRH = 40, BTH = 12, DETH = 8, ICRC = 4 };

/* LRH (7.7) */
enum { LRH_VL_LVER = 0, LRH_SL_LNH = 1, LRH_DLID = 2, LRH_PKT_LEN = 4, LRH_SLID = 6 };
enum { LNH_LOCAL = 2, LNH_GLOBAL = 3 };
#define PKT_LEN_MASK 0x7ff

/* GRH (8.3) */
enum { GRH_PAY_LEN = 4, GRH_NEXT = 6, GRH_HOP_LIMIT = 7, GRH_SGID = 8, GRH_DGID = 24 };
#define GRH_VERSION 6
#define NEXT_IS_BTH 0x1b

/* BTH (9.2), DETH (9.3.3) */
enum { BTH_OPCODE = 0, BTH_PAD_TVER = 1, BTH_PKEY = 2, BTH_DQPN = 4 };
enum { DETH_QKEY = 0, DETH_SQPN = 4 };
#define QPN_MASK 0xffffff
#define BTH_MIG_REQ 0x40
#define UD_SEND_ONLY 0x64
#define UD_SEND_ONLY_IMMEDIATE 0x65

/* --- reading --- */

/* Where the parts of a packet are. */
struct parts {
	const uint8_t *lrh, *grh, *bth, *rest, *end;	/* grh: NULL if there is none */
};

static const char *read_lrh(const uint8_t *raw, size_t n, struct parts *at, struct packet *p)
{
	unsigned lnh = raw[LRH_SL_LNH] & 3;

	if (raw[LRH_VL_LVER] & 15)
		return "a packet has an LVer other than 0";
	if (lnh != LNH_LOCAL && lnh != LNH_GLOBAL)
		return "a packet's LNH is not that of IBA transport";
	at->lrh = raw;
	at->grh = lnh == LNH_GLOBAL ? raw + LRH : NULL;
	at->bth = raw + LRH + (at->grh ? GRH : 0);
	at->rest = at->bth + BTH;
	at->end = raw + n;
	p->sl = raw[LRH_SL_LNH] >> 4;
	p->dlid = get_be16(raw + LRH_DLID);
	p->slid = get_be16(raw + LRH_SLID);
	return at->rest > at->end ? "a packet ends within its headers" : NULL;
}

static const char *read_grh(const uint8_t *grh, struct packet *p)
{
	uint32_t first = get_be32(grh);

	if (first >> 28 != GRH_VERSION || grh[GRH_NEXT] != NEXT_IS_BTH)
		return "a packet's GRH is not one of IBA transport";
	p->grh = true;
	p->traffic_class = (uint8_t)(first >> 20);
	p->flow_label = first & 0xfffff;
	p->hop_limit = grh[GRH_HOP_LIMIT];
	memcpy(p->sgid, grh + GRH_SGID, 16);
	memcpy(p->dgid, grh + GRH_DGID, 16);
	return NULL;
}

static bool is_datagram(const uint8_t *bth)
{
	return bth[BTH_OPCODE] == UD_SEND_ONLY || bth[BTH_OPCODE] == UD_SEND_ONLY_IMMEDIATE;
}

static const char *read_transport(struct parts *at, struct packet *p)
{
	if (at->bth[BTH_PAD_TVER] & 15)
		return "a packet has a TVer other than 0";
	p->pkey = get_be16(at->bth + BTH_PKEY);
	p->dqpn = get_be32(at->bth + BTH_DQPN) & QPN_MASK;
	if (!is_datagram(at->bth))
		return NULL;
	if (at->end - at->rest < DETH)
		return "a packet ends within its headers";
	p->qkey = get_be32(at->rest + DETH_QKEY);
	p->sqpn = get_be32(at->rest + DETH_SQPN) & QPN_MASK;
	return NULL;
}

static const char *read_headers(const uint8_t *raw, size_t n, struct parts *at, struct packet *p)
{
	const char *wrong = n < LRH ? "a packet ends within its headers" : NULL;

	*p = (struct packet){ 0 };
	if (!wrong)
		wrong = read_lrh(raw, n, at, p);
	if (!wrong && at->grh)
		wrong = read_grh(at->grh, p);
	return wrong ? wrong : read_transport(at, p);
}

const char *raw_read_headers(const uint8_t *raw, size_t n, struct packet *p)
{
	struct parts at;

	return read_headers(raw, n, &at, p);
}

bool raw_is_datagram(const uint8_t *raw)
{
	return is_datagram(raw + LRH + ((raw[LRH_SL_LNH] & 3) == LNH_GLOBAL ? GRH : 0));
}

static const char *check_lengths(const struct parts *at)
{
	size_t n = (size_t)(at->end - at->lrh);

	if (n > RAW_MAX || n + ICRC != 4u * (get_be16(at->lrh + LRH_PKT_LEN) & PKT_LEN_MASK))
		return "a packet's PktLen is wrong";
	if (at->grh && (size_t)(at->end - at->bth) + ICRC != get_be16(at->grh + GRH_PAY_LEN))
		return "a packet's PayLen is wrong";
	return NULL;
}

/* Bytes of the extended headers of an operation of RC, UC, RD or XRC (table 38). */
static const uint8_t operation_headers[32] = {
	[0x03] = 4, [0x05] = 4,				/* SEND with immediate data */
	[0x06] = 16, [0x09] = 4, [0x0a] = 16, [0x0b] = 20,	/* RDMA WRITE */
	[0x0c] = 16, [0x0d] = 4, [0x0f] = 4, [0x10] = 4,	/* RDMA READ: request, responses */
	[0x11] = 4, [0x12] = 12, [0x13] = 28, [0x14] = 28,	/* acknowledges; atomic operations */
	[0x16] = 4, [0x17] = 4,				/* SEND with invalidate */
};

enum { TRANSPORT_RD = 2, TRANSPORT_UD = 3, TRANSPORT_XRC = 5 };
enum { RDETH = 4, XRCETH = 4, IMMEDIATE = 4 };

static unsigned extended_headers(uint8_t opcode)
{
	unsigned n = operation_headers[opcode & 31];

	switch (opcode >> 5) {
	case TRANSPORT_UD:
		return opcode == UD_SEND_ONLY_IMMEDIATE ? DETH + IMMEDIATE : DETH;
	case TRANSPORT_RD:
		return n + RDETH + DETH;
	case TRANSPORT_XRC:
		return n + XRCETH;
	default:
		return n;
	}
}

/* The bytes that NeighborMTU limits.  A packet that is shorter than its headers has none. */
static uint16_t payload_of(const struct parts *at)
{
	size_t rest = (size_t)(at->end - at->rest), headers = extended_headers(at->bth[BTH_OPCODE]);

	return (uint16_t)(rest > headers ? rest - headers : 0);
}

static bool is_mad(const struct parts *at, const struct packet *p)
{
	return p->dqpn <= 1 && at->bth[BTH_OPCODE] == UD_SEND_ONLY &&
	       !(at->bth[BTH_PAD_TVER] >> 4 & 3) && payload_of(at) == SIM_MAD_SIZE;
}

const char *raw_read(const uint8_t *raw, size_t n, struct packet *p)
{
	struct parts at;
	const char *wrong = read_headers(raw, n, &at, p);

	if (!wrong)
		wrong = check_lengths(&at);
	if (wrong)
		return wrong;
	if (is_mad(&at, p))
		memcpy(p->mad, at.rest + DETH, SIM_MAD_SIZE);
	else
		p->bytes = packet_bytes_new(raw, (uint32_t)n, payload_of(&at));
	return NULL;
}

/* --- writing --- */

static uint8_t *write_lrh(const struct packet *p, uint8_t vl, uint8_t *out)
{
	unsigned n = LRH + (p->grh ? GRH : 0) + BTH + DETH + SIM_MAD_SIZE + ICRC;

	out[LRH_VL_LVER] = (uint8_t)(vl << 4);
	out[LRH_SL_LNH] = (uint8_t)(p->sl << 4 | (p->grh ? LNH_GLOBAL : LNH_LOCAL));
	put_be16(out + LRH_DLID, p->dlid);
	put_be16(out + LRH_PKT_LEN, (uint16_t)(n / 4));
	put_be16(out + LRH_SLID, p->slid);
	return out + LRH;
}

static uint8_t *write_grh(const struct packet *p, uint8_t *out)
{
	put_be32(out, (uint32_t)GRH_VERSION << 28 | (uint32_t)p->traffic_class << 20 |
		 (p->flow_label & 0xfffff));
	put_be16(out + GRH_PAY_LEN, BTH + DETH + SIM_MAD_SIZE + ICRC);
	out[GRH_NEXT] = NEXT_IS_BTH;
	out[GRH_HOP_LIMIT] = p->hop_limit;
	memcpy(out + GRH_SGID, p->sgid, 16);
	memcpy(out + GRH_DGID, p->dgid, 16);
	return out + GRH;
}

static uint8_t *write_transport(const struct packet *p, uint8_t *out)
{
	memset(out, 0, BTH + DETH);
	out[BTH_OPCODE] = UD_SEND_ONLY;
	out[BTH_PAD_TVER] = BTH_MIG_REQ;
	put_be16(out + BTH_PKEY, p->pkey);
	put_be32(out + BTH_DQPN, p->dqpn & QPN_MASK);
	put_be32(out + BTH + DETH_QKEY, p->qkey);
	put_be32(out + BTH + DETH_SQPN, p->sqpn & QPN_MASK);
	return out + BTH + DETH;
}

static size_t write_bytes(const struct packet_bytes *b, uint8_t vl, uint8_t *out)
{
	memcpy(out, b->data, b->n);
	out[LRH_VL_LVER] = (uint8_t)(vl << 4);
	return b->n;
}

size_t raw_write(const struct packet *p, uint8_t vl, uint8_t *out)
{
	uint8_t *at = out;

	if (p->dqpn == 0)
		vl = SIM_SMP_VL;
	if (p->bytes)
		return write_bytes(p->bytes, vl, out);
	at = write_lrh(p, vl, at);
	if (p->grh)
		at = write_grh(p, at);
	at = write_transport(p, at);
	memcpy(at, p->mad, SIM_MAD_SIZE);
	return (size_t)(at - out) + SIM_MAD_SIZE;
}
