/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pathquery: one query to the subnet administrator, with exactly the fields that are named, and one
 * line per record of the answer.  It sends what saquery cannot: a Get, MultiPathRecord, joining and
 * leaving multicast groups, aliases of ports. sm-key=KEY makes any request a trusted one.
 *
 * Exit status 0: answered, 1: answered with an error status, which is printed,
 * 2: no answer, or no sense in the arguments.
 *
 * The simulator has no RMPP, and its library delivers the first 224 bytes of a
 * MAD only: of a longer answer the records that are whole are printed.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/bytes.h"
#include "port.h"

enum { OFF_STATUS = 4, OFF_ATTR = 16, OFF_RMPP_LENGTH = 32, OFF_SM_KEY = 36, OFF_ATTR_OFFSET = 44 };
#define USABLE 224		/* bytes of an answer */
#define RMPP_SA_HDR 20		/* of the SA header, counted as payload */

/* A field of a record: its position in bits, and its bits of the component mask. */
struct field {
	const char *name;
	unsigned offset, width;	/* width 128: a GID */
	uint64_t mask;
};

static const struct field path_fields[] = {
	{ "service-id", 0, 64, PR_SERVICE_ID_MSB | PR_SERVICE_ID_LSB },
	{ "dgid", 64, 128, PR_DGID }, { "sgid", 192, 128, PR_SGID },
	{ "dlid", 320, 16, PR_DLID }, { "slid", 336, 16, PR_SLID },
	{ "raw", 352, 1, PR_RAW }, { "flow-label", 356, 20, PR_FLOW },
	{ "hop-limit", 376, 8, PR_HOP }, { "tclass", 384, 8, PR_TCLASS },
	{ "reversible", 392, 1, PR_REVERSIBLE }, { "numb-path", 393, 7, PR_NUMB_PATH },
	{ "pkey", 400, 16, PR_PKEY }, { "qos-class", 416, 12, PR_QOS_CLASS },
	{ "sl", 428, 4, PR_SL },
	{ "mtu-sel", 432, 2, PR_MTU_SEL }, { "mtu", 434, 6, PR_MTU },
	{ "rate-sel", 440, 2, PR_RATE_SEL }, { "rate", 442, 6, PR_RATE },
	{ "life-sel", 448, 2, PR_LIFE_SEL }, { "life", 450, 6, PR_LIFE },
	{ NULL, 0, 0, 0 },
};

/* sgid and dgid are not here: there may be several, at the end. */
static const struct field multipath_fields[] = {
	{ "raw", 0, 1, MPR_RAW }, { "flow-label", 4, 20, MPR_FLOW },
	{ "hop-limit", 24, 8, MPR_HOP }, { "tclass", 32, 8, MPR_TCLASS },
	{ "reversible", 40, 1, MPR_REVERSIBLE }, { "numb-path", 41, 7, MPR_NUMB_PATH },
	{ "pkey", 48, 16, MPR_PKEY }, { "qos-class", 64, 12, MPR_QOS_CLASS },
	{ "sl", 76, 4, MPR_SL },
	{ "mtu-sel", 80, 2, MPR_MTU_SEL }, { "mtu", 82, 6, MPR_MTU },
	{ "rate-sel", 88, 2, MPR_RATE_SEL }, { "rate", 90, 6, MPR_RATE },
	{ "life-sel", 96, 2, MPR_LIFE_SEL }, { "life", 98, 6, MPR_LIFE },
	{ "service-id-msb", 104, 8, MPR_SERVICE_ID_MSB },
	{ "sgid-count", 120, 8, MPR_SGID_COUNT }, { "dgid-count", 128, 8, MPR_DGID_COUNT },
	{ "service-id-lsb", 136, 56, MPR_SERVICE_ID_LSB },
	{ NULL, 0, 0, 0 },
};

/* Bits of the mask: 15.2.5.17. */
static const struct field member_fields[] = {
	{ "mgid", 0, 128, 1 << 0 }, { "port-gid", 128, 128, 1 << 1 },
	{ "qkey", 256, 32, 1 << 2 }, { "mlid", 288, 16, 1 << 3 },
	{ "mtu-sel", 304, 2, 1 << 4 }, { "mtu", 306, 6, 1 << 5 },
	{ "tclass", 312, 8, 1 << 6 }, { "pkey", 320, 16, 1 << 7 },
	{ "rate-sel", 336, 2, 1 << 8 }, { "rate", 338, 6, 1 << 9 },
	{ "life-sel", 344, 2, 1 << 10 }, { "life", 346, 6, 1 << 11 },
	{ "sl", 352, 4, 1 << 12 }, { "flow-label", 356, 20, 1 << 13 },
	{ "hop-limit", 376, 8, 1 << 14 }, { "scope", 384, 4, 1 << 15 },
	{ "join-state", 388, 4, 1 << 16 }, { "proxy-join", 392, 1, 1 << 17 },
	{ NULL, 0, 0, 0 },
};

static const struct field guidinfo_fields[] = {
	{ "lid", 0, 16, 1 << 0 }, { "block", 16, 8, 1 << 1 },
	{ "guid0", 64, 64, 1 << 4 }, { "guid1", 128, 64, 1 << 5 }, { "guid2", 192, 64, 1 << 6 },
	{ "guid3", 256, 64, 1 << 7 }, { "guid4", 320, 64, 1 << 8 }, { "guid5", 384, 64, 1 << 9 },
	{ "guid6", 448, 64, 1 << 10 }, { "guid7", 512, 64, 1 << 11 },
	{ NULL, 0, 0, 0 },
};

static const struct record {
	const char *name;
	uint16_t attr;
	const struct field *fields;
} records[] = {
	{ "path", UMAD_SA_ATTR_PATH_REC, path_fields },
	{ "multipath", UMAD_SA_ATTR_MULTI_PATH_REC, multipath_fields },
	{ "member", UMAD_SA_ATTR_MCMEMBER_REC, member_fields },
	{ "guidinfo", UMAD_SA_ATTR_GUID_INFO_REC, guidinfo_fields },
};

static const struct { const char *name; uint8_t method; } methods[] = {
	{ "get", UMAD_METHOD_GET }, { "table", UMAD_SA_METHOD_GET_TABLE },
	{ "multi", UMAD_SA_METHOD_GET_MULTI }, { "set", UMAD_METHOD_SET },
	{ "delete", UMAD_SA_METHOD_DELETE },
};

/* --- fields --- */

static void put_bits(uint8_t *data, unsigned offset, unsigned width, uint64_t value)
{
	for (unsigned i = 0; i < width; i++) {
		unsigned bit = offset + width - 1 - i;

		if (value >> i & 1)
			data[bit / 8] |= (uint8_t)(0x80 >> bit % 8);
	}
}

static uint64_t get_bits(const uint8_t *data, unsigned offset, unsigned width)
{
	uint64_t value = 0;

	for (unsigned bit = offset; bit < offset + width; bit++)
		value = value << 1 | (data[bit / 8] >> (7 - bit % 8) & 1);
	return value;
}

static uint64_t number(const char *text, unsigned width)
{
	char *end;

	errno = 0;
	uint64_t v = strtoull(text, &end, 0);

	if (errno || end == text || *end || (width < 64 && v >> width))
		die("bad number '%s'", text);
	return v;
}

static void read_gid(const char *text, uint8_t *gid)
{
	if (inet_pton(AF_INET6, text, gid) != 1)
		die("bad GID '%s'", text);
}

static const struct field *find_field(const struct field *f, const char *name, size_t n)
{
	for (; f->name; f++)
		if (strlen(f->name) == n && !memcmp(f->name, name, n))
			return f;
	return NULL;
}

/* --- the query --- */

struct query {
	uint8_t data[SA_DATA_LEN];
	uint64_t mask, sm_key;
	uint8_t gids[2][8][16];		/* of MultiPathRecord: sources, destinations */
	unsigned n_gids[2];
};

/* Handles fields that differ in MultiPathRecord; false: an ordinary field. */
static bool add_multipath(struct query *q, const char *name, const char *value)
{
	bool to = !strncmp(name, "dgid=", 5);

	if (to || !strncmp(name, "sgid=", 5)) {
		if (q->n_gids[to] == 8)
			die("too many GIDs");
		read_gid(value, q->gids[to][q->n_gids[to]++]);
		return true;
	}
	if (!strncmp(name, "service-id=", 11)) {
		uint64_t id = number(value, 64);

		put_bits(q->data, 104, 8, id >> 56);
		put_bits(q->data, 136, 56, id);
		q->mask |= MPR_SERVICE_ID_MSB | MPR_SERVICE_ID_LSB;
		return true;
	}
	return false;
}

static void add_field(struct query *q, const struct record *r, const char *word)
{
	const char *value = strchr(word, '=');

	if (!value++)
		die("'%s' is not FIELD=VALUE", word);
	if (r->attr == UMAD_SA_ATTR_MULTI_PATH_REC && add_multipath(q, word, value))
		return;
	if (!strncmp(word, "sm-key=", 7)) {
		q->sm_key = number(value, 64);
		return;
	}
	const struct field *f = find_field(r->fields, word, (size_t)(value - word - 1));

	if (!f)
		die("%s has no field as in '%s'", r->name, word);
	q->mask |= f->mask;
	if (f->width == 128)
		read_gid(value, q->data + f->offset / 8);
	else
		put_bits(q->data, f->offset, f->width, number(value, f->width));
}

static void finish_multipath(struct query *q)
{
	uint8_t *gid = q->data + sizeof(struct sa_multipath_record);

	if (q->n_gids[0] + q->n_gids[1] > (SA_DATA_LEN - sizeof(struct sa_multipath_record)) / 16)
		die("too many GIDs for one MAD");
	for (unsigned to = 0; to < 2; to++) {
		memcpy(gid, q->gids[to], q->n_gids[to] * 16);
		gid += q->n_gids[to] * 16;
		if (!q->n_gids[to])
			continue;
		put_bits(q->data, to ? 128 : 120, 8, q->n_gids[to]);
		q->mask |= to ? MPR_DGID_COUNT : MPR_SGID_COUNT;
	}
}

/* --- the answer --- */

static void print_record(const struct field *f, const uint8_t *data)
{
	char text[INET6_ADDRSTRLEN];

	for (const char *gap = ""; f->name; f++, gap = " ")
		if (f->width == 128)
			printf("%s%s=%s", gap, f->name,
			       inet_ntop(AF_INET6, data + f->offset / 8, text, sizeof(text)));
		else
			printf(f->width > 8 ? "%s%s=0x%" PRIx64 : "%s%s=%" PRIu64, gap, f->name,
			       get_bits(data, f->offset, f->width));
	putchar('\n');
}

/* As many records as the header says, if they fit. */
static unsigned count_records(const uint8_t *mad, bool table, unsigned size)
{
	if (!table)
		return 1;
	unsigned length = get_be32(mad + OFF_RMPP_LENGTH);
	unsigned n = size && length > RMPP_SA_HDR ? (length - RMPP_SA_HDR) / size : 0;

	return n * size > USABLE - SA_HDR_LEN ? (USABLE - SA_HDR_LEN) / size : n;
}

static int print_answer(const uint8_t *mad, bool table)
{
	unsigned status = get_be16(mad + OFF_STATUS), attr = get_be16(mad + OFF_ATTR);
	unsigned size = get_be16(mad + OFF_ATTR_OFFSET) * 8;

	if (status) {
		printf("status=0x%04x\n", status);
		return 1;
	}
	for (size_t r = 0; r < ARRAY_SIZE(records); r++)
		for (unsigned i = 0; records[r].attr == attr && i < count_records(mad, table, size); i++)
			print_record(records[r].fields, mad + SA_HDR_LEN + i * size);
	return 0;
}

/* --- on the wire --- */

static void ask(struct sa_mad *m, int timeout_ms)
{
	struct own_port port;

	own_port_open_sa(&port, 0);
	sa_send(&port, m, timeout_ms, 0);
	if (sa_receive(&port, m, timeout_ms) < 0 || umad_status(m))
		die("no answer");
	own_port_close(&port);
}

int main(int argc, char **argv)
{
	struct sa_mad m;
	uint8_t method = 0;
	const struct record *r = NULL;
	struct query q = { .mask = 0 };

	if (argc < 3)
		die("usage: pathquery get|table|multi|set|delete path|multipath|member|guidinfo "
		    "[FIELD=VALUE ...]");
	for (size_t i = 0; i < ARRAY_SIZE(methods); i++)
		if (!strcmp(argv[1], methods[i].name))
			method = methods[i].method;
	for (size_t i = 0; i < ARRAY_SIZE(records); i++)
		if (!strcmp(argv[2], records[i].name))
			r = &records[i];
	if (!method || !r)
		die("'%s %s' is no query", argv[1], argv[2]);
	for (int i = 3; i < argc; i++)
		add_field(&q, r, argv[i]);
	if (r->attr == UMAD_SA_ATTR_MULTI_PATH_REC)
		finish_multipath(&q);
	sa_fill(&m, method, r->attr, 0x71);
	m.sa.rmpp_hdr.rmpp_version = UMAD_RMPP_VERSION;
	m.sa.comp_mask = htobe64(q.mask);
	put_be64(m.bytes + OFF_SM_KEY, q.sm_key);
	memcpy(m.sa.data, q.data, SA_DATA_LEN);
	ask(&m, 3000);
	return print_answer(m.bytes, method == UMAD_SA_METHOD_GET_TABLE ||
				    method == UMAD_SA_METHOD_GET_MULTI);
}
