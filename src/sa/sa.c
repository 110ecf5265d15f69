/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The SA's front: is it a request at all, who handles it, and the headers of
 * the answer (13.4, 13.6, 15.2).
 *
 * What is not answered: responses and what needs none; other classes and base
 * versions; and a request with an SM_Key that is neither 0 nor ours, which
 * C15-0.1.5 wants discarded.
 */
#include <infiniband/umad_sa.h>

#include "base/bytes.h"
#include "registry/mcast.h"
#include "sa/scan.h"

/* Offsets in the header: MAD, RMPP, SA (13.4.2, 13.6.2.1, 15.2.1.1) */
enum {
	OFF_BASE_VERSION = 0, OFF_CLASS = 1, OFF_CLASS_VERSION = 2, OFF_METHOD = 3,
	OFF_STATUS = 4, OFF_TID = 8, OFF_ATTR = 16, OFF_MOD = 20,
	OFF_RMPP_VERSION = 24, OFF_RMPP_TYPE = 25, OFF_RMPP_FLAGS = 26,
	OFF_RMPP_SEGMENT = 28, OFF_RMPP_LENGTH = 32,
	OFF_SM_KEY = 36, OFF_ATTR_OFFSET = 44, OFF_MASK = 48,
	MAD_HDR_LEN = 24,
};

enum { RMPP_DATA = 1, RMPP_ACTIVE = 1, RMPP_FIRST = 2, RMPP_LAST = 4 };
#define RMPP_NO_RESP_TIME (0x1f << 3)
#define RMPP_SA_HDR 20		/* SM_Key to ComponentMask: part of each segment's payload */

#define ANSWER_MAX (32u << 20)	/* bytes; a larger table is refused: NO_RESOURCES */

/* Send, Trap and TrapRepress want no answer (13.4.6.1). */
static bool method_has_response(uint8_t method)
{
	return !(method & UMAD_METHOD_RESP_MASK) && method != UMAD_METHOD_SEND &&
	       method != UMAD_METHOD_TRAP && method != UMAD_METHOD_TRAP_REPRESS;
}

/* --- the answer --- */

static bool is_table(uint8_t method)
{
	return method == UMAD_SA_METHOD_GET_TABLE || method == UMAD_SA_METHOD_GET_MULTI;
}

bool sa_add(struct sa_msg *m, const void *record, size_t size)
{
	static const uint8_t zeros[8];

	if (m->out->n + size > ANSWER_MAX) {
		m->budget = 0;
		return false;
	}
	buf_add(m->out, record, size);
	buf_add(m->out, zeros, -size % 8);
	m->records++;
	return is_table(m->method) || m->records < 2;
}

static void pad(struct buf *out)
{
	static const uint8_t zeros[MAD_LEN];

	if (out->n < MAD_LEN)
		buf_add(out, zeros, MAD_LEN - out->n);
}

/* The request's header as far as it came, zeros behind it. */
static void start_answer(const struct sa_request *req, struct buf *out)
{
	static const uint8_t zeros[SA_HDR_LEN];

	out->n = 0;
	buf_add(out, req->mad, MAD_HDR_LEN);
	buf_add(out, zeros, SA_HDR_LEN - MAD_HDR_LEN);
	if (req->len >= SA_HDR_LEN)
		memcpy(out->s + OFF_MASK, req->mad + OFF_MASK, 8);
}

/* GetResp answers a Set too; what was asked for MultiPathRecords gets PathRecords (o15-0.2.7). */
static void set_header(struct buf *out, uint8_t method, uint16_t attr, uint16_t status)
{
	uint8_t *h = (uint8_t *)out->s;

	h[OFF_CLASS_VERSION] = UMAD_SA_CLASS_VERSION;
	h[OFF_METHOD] = (method == UMAD_METHOD_SET ? UMAD_METHOD_GET : method) |
			UMAD_METHOD_RESP_MASK;
	put_be16(h + OFF_STATUS, status);
	if (attr == UMAD_SA_ATTR_MULTI_PATH_REC)
		put_be16(h + OFF_ATTR, UMAD_SA_ATTR_PATH_REC);
}

/*
 * For an answer that fits in one MAD this is the whole header; a longer one is
 * cut into segments by the transport, which then writes its own.
 */
static void set_rmpp(struct buf *out)
{
	uint8_t *h = (uint8_t *)out->s;
	bool one = out->n <= MAD_LEN;

	h[OFF_RMPP_VERSION] = UMAD_RMPP_VERSION;
	h[OFF_RMPP_TYPE] = RMPP_DATA;
	h[OFF_RMPP_FLAGS] = RMPP_NO_RESP_TIME | RMPP_ACTIVE | RMPP_FIRST | (one ? RMPP_LAST : 0);
	put_be32(h + OFF_RMPP_SEGMENT, 1);
	put_be32(h + OFF_RMPP_LENGTH, (uint32_t)(out->n - SA_HDR_LEN + RMPP_SA_HDR));
}

/* An error says again what was asked, as far as it fits. */
static void finish_error(const struct sa_request *req, uint8_t method, uint16_t attr,
			 uint16_t status, struct buf *out)
{
	size_t end = req->len < MAD_LEN ? req->len : MAD_LEN;

	out->n = SA_HDR_LEN;
	if (end > SA_HDR_LEN)
		buf_add(out, req->mad + SA_HDR_LEN, end - SA_HDR_LEN);
	pad(out);
	set_header(out, method, attr, status);
	if (attr == UMAD_ATTR_INFORM_INFO)	/* nobody has subscribed: o13-13.1.1 */
		out->s[SA_HDR_LEN + offsetof(struct sa_inform_info, subscribe)] = 0;
}

static void finish_records(const struct sa_msg *m)
{
	struct buf *out = m->out;

	if (m->records)
		put_be16(out->s + OFF_ATTR_OFFSET,
			 (uint16_t)((out->n - SA_HDR_LEN) / m->records / 8));
	if (is_table(m->method))
		set_rmpp(out);	/* its length says how many records there are */
	else
		pad(out);
	set_header(out, m->method, m->attr, IB_STATUS_OK);
}

/* --- a request --- */

/* False: to be dropped without a word. */
static bool is_request(const struct sa_request *req)
{
	return req->len >= MAD_HDR_LEN && req->mad[OFF_BASE_VERSION] == UMAD_BASE_VERSION &&
	       req->mad[OFF_CLASS] == UMAD_CLASS_SUBN_ADM &&
	       method_has_response(req->mad[OFF_METHOD]);
}

static bool sm_key_is_wrong(const struct sa *sa, const struct sa_request *req)
{
	uint64_t key = req->len >= SA_HDR_LEN ? get_be64(req->mad + OFF_SM_KEY) : 0;

	return key && key != sa->sm_key;
}

/* The node itself may ask with SLID 0, when its port has no LID yet or packets loop back. */
static uint32_t find_requester(const struct subnet_state *s, uint16_t slid)
{
	return slid ? sa_lid_port(s, slid) : s->f->self;
}

static void add_rows(struct sa_msg *m)
{
	uint8_t record[SA_RECORD_MAX];
	enum sa_step step;

	do
		step = m->rows->step(m->rows, record);
	while (step == SA_SKIP || (step == SA_ROW && sa_add(m, record, m->rows->size)));
}

static uint16_t handle(struct sa_msg *m, const struct sa_request *req)
{
	const struct sa_handler_entry *h = NULL;
	uint16_t status;

	if (req->mad[OFF_CLASS_VERSION] != UMAD_SA_CLASS_VERSION)
		return IB_STATUS_BAD_VERSION;
	if ((status = sa_find_handler(m->attr, m->method, &h)))
		return status;
	if (!m->s)
		return IB_STATUS_BUSY;
	if (req->len < SA_HDR_LEN || m->n < h->min_len)
		return IB_SA_REQ_INVALID;
	m->requester = find_requester(m->s, req->slid);
	if (m->requester == FABRIC_NONE)
		return IB_SA_REQ_INVALID;
	mcast_sync(m->sa->mcast, m->s);
	status = h->fn(m);
	if (!status && m->rows)
		add_rows(m);
	if (!status && !m->budget)
		return IB_SA_NO_RESOURCES;
	if (is_table(m->method))	/* an empty table is an answer */
		return status == IB_SA_NO_RECORDS ? IB_STATUS_OK : status;
	return status || m->records == 1 ? status :
	       m->records ? IB_SA_TOO_MANY_RECORDS : IB_SA_NO_RECORDS;
}

static void count_status(struct sa_stats *st, uint16_t status)
{
	if (status == IB_STATUS_BUSY)
		st->busy++;
	else if (status)
		st->errors[status >> 8 & 7]++;
}

bool sa_answer(struct sa *sa, const struct sa_request *req, struct buf *out)
{
	out->n = 0;
	sa->stats.requests++;
	if (!is_request(req) || sm_key_is_wrong(sa, req)) {
		sa->stats.dropped++;
		return false;
	}
	struct sa_msg m = {
		.sa = sa, .s = sa->state, .req = req, .out = out, .budget = SA_SEARCH_MAX,
		.method = req->mad[OFF_METHOD], .attr = get_be16(req->mad + OFF_ATTR),
		.mod = get_be32(req->mad + OFF_MOD),
	};

	start_answer(req, out);
	if (req->len >= SA_HDR_LEN) {
		m.mask = get_be64(req->mad + OFF_MASK);
		m.trusted = get_be64(req->mad + OFF_SM_KEY) != 0;
		m.data = req->mad + SA_HDR_LEN;
		m.n = req->len - SA_HDR_LEN;
	}
	uint16_t status = handle(&m, req);

	if (m.rows)
		m.rows->release(m.rows);
	sa->stats.by_attr[m.attr & 0xff]++;
	sa->stats.answered++;
	count_status(&sa->stats, status);
	if (status)
		finish_error(req, m.method, m.attr, status, out);
	else
		finish_records(&m);
	return true;
}

void sa_stats_add(struct sa_stats *a, const struct sa_stats *b)
{
	a->requests += b->requests;
	a->answered += b->answered;
	a->dropped += b->dropped;
	a->busy += b->busy;
	for (size_t i = 0; i < ARRAY_SIZE(a->by_attr); i++)
		a->by_attr[i] += b->by_attr[i];
	for (size_t i = 0; i < ARRAY_SIZE(a->errors); i++)
		a->errors[i] += b->errors[i];
}

bool sa_is_path_get(const uint8_t *mad, size_t len)
{
	return len == MAD_LEN && mad[OFF_CLASS] == UMAD_CLASS_SUBN_ADM &&
	       mad[OFF_METHOD] == UMAD_METHOD_GET &&
	       get_be16(mad + OFF_ATTR) == UMAD_SA_ATTR_PATH_REC;
}

bool sa_answer_busy(struct sa *sa, const struct sa_request *req, struct buf *out)
{
	out->n = 0;
	sa->stats.requests++;
	if (!is_request(req) || sm_key_is_wrong(sa, req)) {
		sa->stats.dropped++;
		return false;
	}
	start_answer(req, out);
	finish_error(req, req->mad[OFF_METHOD], get_be16(req->mad + OFF_ATTR), IB_STATUS_BUSY, out);
	sa->stats.answered++;
	sa->stats.busy++;
	return true;
}
