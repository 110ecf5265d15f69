/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Checks each SA request, calls its handler and writes the headers of the answer (13.4, 13.6, 15.2).
 *
 * It gives no answer to responses and to methods that have no response, to other classes and
 * base versions, and to a request with an SM_Key that is neither 0 nor ours, which C15-0.1.5
 * wants discarded.
 */
#include <limits.h>
#include <stdlib.h>

#include <infiniband/umad_sa.h>

#include "lib/base/alloc.h"
#include "lib/base/bytes.h"
#include "lib/base/clock.h"
#include "sa/registry/groups.h"
#include "sa/request_trace.h"
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
#define RMPP_SA_HDR 20		/* bytes from SM_Key to ComponentMask: part of each segment's payload */

#define ANSWER_MAX (32u << 20)	/* most bytes of records from sa_add(); beyond: NO_RESOURCES */

/* Send, Trap and TrapRepress have no response (13.4.6.1). */
static bool method_has_response(uint8_t method)
{
	return !(method & UMAD_METHOD_RESP_MASK) && method != UMAD_METHOD_SEND &&
	       method != UMAD_METHOD_TRAP && method != UMAD_METHOD_TRAP_REPRESS;
}

/* --- the answer --- */

static bool is_table(uint8_t method)
{
	return method == UMAD_SA_METHOD_GET_TABLE || method == UMAD_SA_METHOD_GET_TRACE_TABLE ||
	       method == UMAD_SA_METHOD_GET_MULTI;
}

static void add_zeros(struct buf *out, size_t n)
{
	static const uint8_t zeros[MAD_LEN];

	buf_add(out, zeros, n);
}

/* In a table each record begins at a multiple of 8 bytes. */
static void add_record(struct buf *out, const void *record, size_t size)
{
	buf_add(out, record, size);
	add_zeros(out, -size % 8);
}

bool sa_add(struct sa_msg *m, const void *record, size_t size)
{
	if (m->out->n + size > ANSWER_MAX) {
		m->budget = 0;
		return false;
	}
	add_record(m->out, record, size);
	m->records++;
	return is_table(m->method) || m->records < 2;
}

static void pad(struct buf *out)
{
	if (out->n < MAD_LEN)
		add_zeros(out, MAD_LEN - out->n);
}

/* Copies MAD header and ComponentMask of the request, and fills the other headers with zeros. */
static void start_answer(const struct sa_request *req, struct buf *out)
{
	out->n = 0;
	buf_add(out, req->mad, MAD_HDR_LEN);
	add_zeros(out, SA_HDR_LEN - MAD_HDR_LEN);
	if (req->len >= SA_HDR_LEN)
		memcpy(out->s + OFF_MASK, req->mad + OFF_MASK, 8);
}

/* IBA has no SetResp and no GetTraceTableResp: it uses GetResp and GetTableResp instead. */
static uint8_t response_to(uint8_t method)
{
	if (method == UMAD_METHOD_SET)
		method = UMAD_METHOD_GET;
	if (method == UMAD_SA_METHOD_GET_TRACE_TABLE)
		method = UMAD_SA_METHOD_GET_TABLE;
	return method | UMAD_METHOD_RESP_MASK;
}

/* The answer to a query for MultiPathRecords has PathRecords (o15-0.2.7). */
static void set_header(struct buf *out, uint8_t method, uint16_t attr, uint16_t status)
{
	uint8_t *h = (uint8_t *)out->s;

	h[OFF_CLASS_VERSION] = UMAD_SA_CLASS_VERSION;
	h[OFF_METHOD] = response_to(method);
	put_be16(h + OFF_STATUS, status);
	if (attr == UMAD_SA_ATTR_MULTI_PATH_REC)
		put_be16(h + OFF_ATTR, UMAD_SA_ATTR_PATH_REC);
}

/*
 * For an answer that fits in one MAD this is the whole RMPP header.  The transport cuts a
 * longer answer into segments and writes their headers.
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

/* An error repeats the request's record, as far as it fits. */
static void finish_error(const struct sa_request *req, uint8_t method, uint16_t attr,
			 uint16_t status, struct buf *out)
{
	size_t end = req->len < MAD_LEN ? req->len : MAD_LEN;

	out->n = SA_HDR_LEN;
	if (end > SA_HDR_LEN)
		buf_add(out, req->mad + SA_HDR_LEN, end - SA_HDR_LEN);
	pad(out);
	set_header(out, method, attr, status);
	if (attr == UMAD_ATTR_INFORM_INFO)	/* not subscribed: o13-13.1.1 */
		out->s[SA_HDR_LEN + offsetof(struct sa_inform_info, subscribe)] = 0;
}

/* Completes the headers of an answer with n bytes of records. */
static void finish_head(struct buf *out, uint8_t method, uint16_t attr, uint32_t records, size_t n)
{
	if (records)
		put_be16(out->s + OFF_ATTR_OFFSET, (uint16_t)(n / records / 8));
	set_header(out, method, attr, IB_STATUS_OK);
}

static void finish_records(struct buf *out, uint8_t method, uint16_t attr, uint32_t records)
{
	finish_head(out, method, attr, records, out->n - SA_HDR_LEN);
	if (is_table(method))
		set_rmpp(out);	/* its length tells the number of records */
	else
		pad(out);
}

/* --- a request --- */

/* False: the SA must drop the MAD without an answer. */
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

/* Registries know ports by GUID: a port with a duplicate GUID must not change what the other registered. */
static bool changes_anything(uint8_t method)
{
	return method == UMAD_METHOD_SET || method == UMAD_SA_METHOD_DELETE;
}

/* The status of a Get that found so many records. */
static uint16_t single_status(uint32_t records)
{
	return records == 1 ? IB_STATUS_OK : records ? IB_SA_TOO_MANY_RECORDS : IB_SA_NO_RECORDS;
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
		return IB_STATUS_BUSY;	/* only SA_ATTR_REPLICA of another SM gets here: see sa_waits() */
	/* only a MultiPathRecord, with its GIDs, can be longer than one MAD */
	if (req->len < SA_HDR_LEN || m->n < h->min_len ||
	    (m->n > SA_DATA_LEN && m->attr != UMAD_SA_ATTR_MULTI_PATH_REC))
		return IB_SA_REQ_INVALID;
	/* no check of AttributeModifier: clients leave garbage in it, and OpenSM ignores it, too */
	m->requester = sa_requester(m->s, req->slid);
	if (m->requester == FABRIC_NONE || (changes_anything(m->method) &&
					    !fabric_owns_guid(m->s->f, m->requester)))
		return IB_SA_REQ_INVALID;
	status = h->kind ? sa_scan_for(m, h->kind) : h->fn(m);
	if (!status && !m->budget)
		return IB_SA_NO_RESOURCES;
	/* an empty table is a valid answer, but not an empty trace: then there is no path */
	if (is_table(m->method) && m->method != UMAD_SA_METHOD_GET_TRACE_TABLE)
		return status == IB_SA_NO_RECORDS ? IB_STATUS_OK : status;
	return status || m->rows || is_table(m->method) ? status : single_status(m->records);
}

/* --- statistics and trace of answered requests --- */

static uint8_t keep(uint8_t *to, const uint8_t *data, size_t n)
{
	n = n < TRACE_RECORD ? n : TRACE_RECORD;
	memcpy(to, data, n);
	return (uint8_t)n;
}

/* Adds an event to the request trace. */
static void trace(const struct sa *sa, const struct sa_request *req, const struct sa_event *e,
		  int64_t us)
{
	struct sa_event copy = *e;

	copy.when_us = clock_real_us();
	copy.slid = req->slid;
	copy.method = req->mad[OFF_METHOD];
	copy.attr = get_be16(req->mad + OFF_ATTR);
	copy.us = us < 0 ? 0 : (uint32_t)us;
	if (req->len > SA_HDR_LEN) {
		copy.mask = get_be64(req->mad + OFF_MASK);
		copy.n_asked = keep(copy.asked, req->mad + SA_HDR_LEN, req->len - SA_HDR_LEN);
	}
	sa_trace_add(sa->trace, &copy);
}

/* A PathRecord costs little more than reading the clock, so only one in eight is timed. */
#define TIMED_MASK 7

static void answered(struct sa *sa, const struct sa_request *req, uint16_t status,
		     uint32_t records, const uint8_t *first, size_t n)
{
	bool traced = sa_trace_active(sa->trace);
	uint16_t attr = get_be16(req->mad + OFF_ATTR);
	int64_t us = -1;

	if (req->arrived_us && (traced || attr != UMAD_SA_ATTR_PATH_REC ||
				!(sa->timer++ & TIMED_MASK)))
		us = clock_mono_us() - req->arrived_us;
	if (sa->stats)
		sa_stats_answer(sa->stats, attr, status, us);
	if (traced) {
		struct sa_event e = { .status = status, .records = records };

		if (records)
			e.n_answered = keep(e.answered, first, n);
		trace(sa, req, &e, us);
	}
}

/* Counts a request and checks whether it gets an answer.  False: drop it. */
static bool admitted(struct sa *sa, const struct sa_request *req)
{
	static const struct sa_event dropped = { .dropped = true };

	if (sa->stats)
		sa_stats_request(sa->stats, req->slid, req->arrived_us);
	if (is_request(req) && !sm_key_is_wrong(sa, req))
		return true;
	if (sa->stats)
		sa->stats->dropped++;
	if (sa_trace_active(sa->trace) && req->len >= MAD_HDR_LEN)
		trace(sa, req, &dropped, -1);
	return false;
}

/* --- requests that cannot be answered yet --- */

static bool has_bit(const uint64_t *bits, unsigned i)
{
	return bits[i / 64] >> i % 64 & 1;
}

/* Whether the request names a P_Key that is coming. */
static bool names_coming_pkey(const struct sa_coming *c, const struct sa_request *req)
{
	uint64_t mask = get_be64(req->mad + OFF_MASK);
	const struct sa_pkey_place *p = sa_pkey_place(get_be16(req->mad + OFF_ATTR));
	const uint8_t *record = req->mad + SA_HDR_LEN;

	if (!p || req->len < SA_HDR_LEN + p->offset + 2u)
		return false;
	if (mask >> p->bit & 1)
		return has_bit(c->pkeys, get_be16(record + p->offset) & 0x7fff);
	/* the MGID of an IPoIB group contains the P_Key (RFC 4391, section 4) */
	return p->mgid && record[0] == 0xff &&
	       (get_be16(record + 2) == 0x401b || get_be16(record + 2) == 0x601b) &&
	       has_bit(c->pkeys, get_be16(record + 4) & 0x7fff);
}

bool sa_waits(const struct sa *sa, const struct sa_request *req)
{
	const struct sa_handler_entry *h;
	uint16_t attr;

	if ((sa->state && !sa->coming) || !is_request(req) || sm_key_is_wrong(sa, req) ||
	    req->mad[OFF_CLASS_VERSION] != UMAD_SA_CLASS_VERSION)
		return false;
	attr = get_be16(req->mad + OFF_ATTR);
	if (attr == SA_ATTR_REPLICA || sa_find_handler(attr, req->mad[OFF_METHOD], &h))
		return false;
	return !sa->state || has_bit(sa->coming->lids, req->slid) ||
	       (has_bit(sa->coming->members, req->slid) && req->len > SA_HDR_LEN && names_coming_pkey(sa->coming, req));
}

/* --- answers in the making --- */

/*
 * The records of an answer in the making: either rows makes them while they are read, or all are
 * made already.  A Get makes at most two records, to know whether there is exactly one.
 */
struct sa_job {
	struct sa *sa;
	struct subnet_state *s;		/* reference to the state that rows uses, or NULL */
	struct sa_rows *rows;		/* NULL: all records are made */
	uint8_t method;
	uint16_t attr;
	struct buf data;		/* the headers, then records; unread from `at` on */
	size_t at;
	bool begun;			/* the first read was done: the headers are complete */
	bool told;			/* the outcome is counted: all was read, or the job was refused */
	uint32_t records;
	uint8_t first[TRACE_RECORD], n_first;	/* start of the records, for the request trace */
	uint8_t request[MAD_LEN];	/* the request, which an error repeats */
	struct sa_request req;
};

static void end_rows(struct sa_job *j)
{
	free(j->rows);
	j->rows = NULL;
}

void sa_job_free(struct sa_job *j)
{
	if (!j->told && j->sa->stats)
		j->sa->stats->abandoned++;
	end_rows(j);
	state_unref(j->s);
	buf_free(&j->data);
	free(j);
}

/* Makes records until a table has more than n unread bytes or all are made; false: out of steps. */
static bool fill(struct sa_job *j, size_t n, unsigned steps)
{
	uint8_t record[SA_ROW_MAX];

	while (j->rows && (is_table(j->method) ? j->data.n - j->at <= n : j->records < 2)) {
		if (!steps--)
			return false;
		switch (j->rows->step(j->rows, record)) {
		case SA_ROW:
			add_record(&j->data, record, j->rows->size);
			j->records++;
			break;
		case SA_SKIP:
			break;
		case SA_END:
			end_rows(j);
			break;
		}
	}
	return true;
}

/* All records are made: builds the answer of one MAD, or of a table of any length. */
static void finish_whole(struct sa_job *j, struct buf *out)
{
	uint16_t status = is_table(j->method) ? IB_STATUS_OK : single_status(j->records);

	start_answer(&j->req, out);
	if (status) {
		finish_error(&j->req, j->method, j->attr, status, out);
	} else {
		buf_add(out, j->data.s + SA_HDR_LEN, j->data.n - SA_HDR_LEN);
		finish_records(out, j->method, j->attr, j->records);
	}
	j->told = true;
	answered(j->sa, &j->req, status, status ? 0 : j->records,
		 (uint8_t *)out->s + SA_HDR_LEN, out->n - SA_HDR_LEN);
}

enum sa_read sa_job_read(struct sa_job *j, unsigned steps, uint8_t data[SA_SEGMENT], size_t *n)
{
	struct buf whole = { 0 };

	if (!fill(j, SA_SEGMENT, steps))
		return SA_READ_LATER;
	if (!is_table(j->method)) {
		finish_whole(j, &whole);
		memcpy(j->data.s, whole.s, SA_HDR_LEN);
		memcpy(data, whole.s + SA_HDR_LEN, SA_SEGMENT);
		buf_free(&whole);
		*n = SA_SEGMENT;
		return SA_READ_LAST;
	}
	if (!j->begun) {
		j->begun = true;
		j->n_first = keep(j->first, (uint8_t *)j->data.s + SA_HDR_LEN,
				  j->data.n - SA_HDR_LEN);
		finish_head(&j->data, j->method, j->attr, j->records, j->data.n - SA_HDR_LEN);
	}
	*n = j->data.n - j->at < SA_SEGMENT ? j->data.n - j->at : SA_SEGMENT;
	memcpy(data, j->data.s + j->at, *n);
	j->at += *n;
	if (j->at == j->data.n && !j->rows) {
		j->told = true;
		answered(j->sa, &j->req, IB_STATUS_OK, j->records, j->first, j->n_first);
		return SA_READ_LAST;
	}
	if (j->rows) {		/* drop what was read, except the headers */
		memmove(j->data.s + SA_HDR_LEN, j->data.s + j->at, j->data.n - j->at);
		j->data.n -= j->at - SA_HDR_LEN;
		j->at = SA_HDR_LEN;
	}
	return SA_READ_MORE;
}

bool sa_job_head(const struct sa_job *j, uint8_t head[SA_HDR_LEN])
{
	memcpy(head, j->data.s, SA_HDR_LEN);
	return is_table(j->method);
}

size_t sa_job_held(const struct sa_job *j)
{
	return sizeof(*j) + j->data.cap;
}

size_t sa_job_total(const struct sa_job *j)
{
	return j->rows ? 0 : j->data.n - SA_HDR_LEN;
}

void sa_job_refuse(struct sa_job *j, struct buf *out)
{
	if (!out) {
		j->told = true;
		if (j->sa->stats)
			j->sa->stats->dropped++;
		return;
	}
	start_answer(&j->req, out);
	finish_error(&j->req, j->method, j->attr, IB_STATUS_BUSY, out);
	j->told = true;
	answered(j->sa, &j->req, IB_STATUS_BUSY, 0, NULL, 0);
	if (j->sa->stats)
		sa_stats_busy(j->sa->stats);
}

static struct sa_job *job_new(struct sa_msg *m, const struct sa_request *req, struct buf *out)
{
	struct sa_job *j = xcalloc(1, sizeof(*j));

	j->sa = m->sa;
	j->rows = m->rows;
	j->method = m->method;
	j->attr = m->attr;
	j->records = m->records;
	j->at = SA_HDR_LEN;
	j->req = *req;
	j->req.len = req->len < MAD_LEN ? req->len : MAD_LEN;
	memcpy(j->request, req->mad, j->req.len);
	j->req.mad = j->request;
	if (m->rows) {
		buf_add(&j->data, out->s, SA_HDR_LEN);
	} else {
		j->data = *out;
		*out = (struct buf){ 0 };
	}
	return j;
}

static enum sa_outcome begin(struct sa *sa, const struct sa_request *req, struct buf *out,
			     struct sa_job **job)
{
	out->n = 0;
	*job = NULL;
	if (!admitted(sa, req))
		return SA_DROP;
	if (sa_waits(sa, req)) {
		if (sa->stats)
			sa->stats->dropped++;
		return SA_DROP;
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
		m.privileged = get_be64(req->mad + OFF_SM_KEY) > SM_KEY_KNOWN;
		m.data = req->mad + SA_HDR_LEN;
		m.n = req->len - SA_HDR_LEN;
	}
	uint16_t status = handle(&m, req);

	if (status) {
		free(m.rows);
		m.rows = NULL;
	}
	if (!status && (m.rows || out->n > MAD_LEN)) {
		*job = job_new(&m, req, out);
		return SA_LATER;
	}
	if (status)
		finish_error(req, m.method, m.attr, status, out);
	else
		finish_records(out, m.method, m.attr, m.records);
	answered(sa, req, status, status ? 0 : m.records, (uint8_t *)out->s + SA_HDR_LEN,
		 out->n - SA_HDR_LEN);
	return SA_WHOLE;
}

enum sa_outcome sa_begin(struct sa *sa, const struct sa_request *req, struct buf *out,
			 struct sa_job **job)
{
	enum sa_outcome o = begin(sa, req, out, job);

	if (*job && sa->state)
		(*job)->s = state_ref(sa->state);
	return o;
}

#define AHEAD_BYTES 8192

bool sa_job_try(struct sa_job *j, unsigned steps, bool ahead, struct buf *out)
{
	if (!fill(j, ahead ? AHEAD_BYTES : SA_SEGMENT, steps) ||
	    (is_table(j->method) && (j->rows || j->data.n > MAD_LEN)))
		return false;
	finish_whole(j, out);
	return true;
}

bool sa_answer(struct sa *sa, const struct sa_request *req, struct buf *out)
{
	struct sa_job *job;
	enum sa_outcome o = begin(sa, req, out, &job);	/* needs no reference to the state */

	if (o != SA_LATER)
		return o == SA_WHOLE;
	while (!fill(job, SIZE_MAX, UINT_MAX))
		;
	finish_whole(job, out);
	sa_job_free(job);
	return true;
}

bool sa_is_path_get(const uint8_t *mad, size_t len)
{
	return len == MAD_LEN && mad[OFF_CLASS] == UMAD_CLASS_SUBN_ADM &&
	       !(mad[OFF_RMPP_FLAGS] & RMPP_ACTIVE) && mad[OFF_METHOD] == UMAD_METHOD_GET &&
	       get_be16(mad + OFF_ATTR) == UMAD_SA_ATTR_PATH_REC;
}

bool sa_answer_busy(struct sa *sa, const struct sa_request *req, struct buf *out)
{
	out->n = 0;
	if (!admitted(sa, req))
		return false;
	start_answer(req, out);
	finish_error(req, req->mad[OFF_METHOD], get_be16(req->mad + OFF_ATTR), IB_STATUS_BUSY, out);
	answered(sa, req, IB_STATUS_BUSY, 0, NULL, 0);
	if (sa->stats)
		sa_stats_busy(sa->stats);
	return true;
}
