/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Receives an RMPP transfer (13.6) as Linux does.
 *
 * It stores segments in whatever order they come within the window.  It acknowledges the first
 * segment, the end of each window, the last segment, and each repeat of an acknowledged one.  It
 * says nothing of a missing segment: only the sender's time-out detects it.  A transfer ends 40 s
 * after its first segment, however fast the rest comes.
 *
 * A complete transfer is remembered for a while without its data, to acknowledge repeats from a
 * sender that missed an ACK.
 */
#include <stdlib.h>

#include "sim/host/parts.h"

#define WHOLE_US	40000000	/* limit of a transfer, from its first segment */
#define LINGER_US	10000000
#define LINGER_MAX	1024u		/* complete transfers remembered for an agent; beyond that the
					 * oldest are forgotten early */

struct rmpp_recv {
	struct node node;		/* in hosts.receives */
	struct link of_agent;
	uint64_t timer;			/* of host_set_timer() */
	struct host_agent *agent;
	struct packet first;		/* the packet of segment 1 */
	bool complete;			/* complete and delivered; umad is NULL then */
	uint8_t *umad;			/* umad header, then the message */
	size_t cap;
	uint32_t have;			/* all segments up to this one have arrived */
	uint64_t ahead;			/* bit n: segment have + 1 + n has arrived */
	uint32_t acked, window;		/* segment and window end of the last ACK */
	uint32_t last;			/* number of the last segment; 0: not seen yet */
	uint32_t last_length;		/* its PayloadLength */
	uint32_t answer_window;		/* window for the answer, granted by an ACK of segment 0 */
};

/* --- look-up --- */

static uint64_t receive_key(const uint8_t *mad, uint16_t lid)
{
	uint64_t rest = (uint64_t)lid << 16 | (uint64_t)mad[MAD_CLASS] << 8 | mad[MAD_METHOD];

	return hash64(get_be64(mad + MAD_TID) ^ hash64(rest));
}

static struct rmpp_recv *receive_find(const struct host_agent *a, const struct packet *p)
{
	struct node *n = table_find(&a->file->hosts->receives, receive_key(p->mad, p->slid));

	for (; n; n = node_next(n)) {
		struct rmpp_recv *r = container_of(n, struct rmpp_recv, node);
		const uint8_t *mad = r->first.mad;

		if (r->agent == a && r->first.slid == p->slid && r->first.sqpn == p->sqpn &&
		    !memcmp(mad + MAD_TID, p->mad + MAD_TID, 8) &&
		    mad[MAD_CLASS] == p->mad[MAD_CLASS] &&
		    mad[MAD_CLASS_VERSION] == p->mad[MAD_CLASS_VERSION] &&
		    mad[MAD_METHOD] == p->mad[MAD_METHOD])
			return r;
	}
	return NULL;
}

/* --- start and end --- */

static void drop_data(struct rmpp_recv *r)
{
	free(r->umad);
	r->umad = NULL;
	r->agent->file->port->bytes -= r->cap;
	r->cap = 0;
}

static void recv_free(struct rmpp_recv *r)
{
	struct hosts *hs = r->agent->file->hosts;

	drop_data(r);
	if (r->complete)
		r->agent->n_done--;
	sim_cancel(hs->s, r->timer);
	link_remove(&r->of_agent);
	table_remove(&hs->receives, &r->node);
	free(r);
}

void rmpp_recv_free_all(struct host_agent *a)
{
	while (!link_alone(&a->receives))
		recv_free(container_of(a->receives.next, struct rmpp_recv, of_agent));
	while (!link_alone(&a->done))
		recv_free(container_of(a->done.next, struct rmpp_recv, of_agent));
}

static void expired(struct sim *s, void *arg)
{
	struct rmpp_recv *r = arg;

	(void)s;
	r->timer = 0;
	if (!r->complete)
		rmpp_reply(r->agent->file, &r->first, RMPP_ABORT, RMPP_T2L, 0, 0);
	recv_free(r);
}

static void set_timer(struct rmpp_recv *r, int64_t delay_us)
{
	host_set_timer(r->agent->file->hosts, &r->timer, delay_us, expired, r);
}

/* Makes room for n bytes of message; false: too much for one message, or for the port. */
static bool reserve(struct rmpp_recv *r, size_t n)
{
	struct host_port *hp = r->agent->file->port;
	size_t cap = r->cap ? r->cap : 4096;

	if (n > HOST_MESSAGE_MAX + SIM_MAD_SIZE)
		return false;
	while (cap < UMAD_HEAD + n)
		cap *= 2;
	if (cap == r->cap)
		return true;
	if (hp->bytes + cap - r->cap > PORT_BYTES_MAX)
		return false;
	r->umad = xrealloc(r->umad, cap, 1);
	hp->bytes += cap - r->cap;
	r->cap = cap;
	return true;
}

static struct rmpp_recv *receive_new(struct host_agent *a, const struct packet *p)
{
	struct hosts *hs = a->file->hosts;
	struct rmpp_recv *r = xcalloc(1, sizeof(*r));

	r->agent = a;
	r->first = *p;
	r->window = 1;
	r->answer_window = 1;
	link_append(&a->receives, &r->of_agent);
	table_add(&hs->receives, &r->node, receive_key(p->mad, p->slid));
	set_timer(r, WHOLE_US);
	return r;
}

/* --- segments --- */

static void ack(struct rmpp_recv *r, const struct packet *p)
{
	r->acked = r->have;
	rmpp_reply(r->agent->file, p, RMPP_ACK, 0, r->have, r->window);
}

/* Stores the first segment with all its headers, and the data of other segments. */
static bool store(struct rmpp_recv *r, const struct packet *p, uint32_t segment)
{
	size_t size = segment_size(p->mad[MAD_CLASS]), head = SIM_MAD_SIZE - size;
	size_t at = head + (segment - 1) * size;

	if (!reserve(r, at + size))
		return false;
	memcpy(r->umad + UMAD_HEAD + at, p->mad + head, size);
	if (segment == 1)
		memcpy(r->umad + UMAD_HEAD, p->mad, head);
	return true;
}

static void linger(struct rmpp_recv *r)
{
	struct host_agent *a = r->agent;

	r->umad = NULL;
	drop_data(r);
	r->complete = true;
	set_timer(r, LINGER_US);
	link_remove(&r->of_agent);
	link_append(&a->done, &r->of_agent);
	if (++a->n_done > LINGER_MAX)
		recv_free(container_of(a->done.next, struct rmpp_recv, of_agent));
}

static void complete(struct rmpp_recv *r)
{
	unsigned size = segment_size(r->first.mad[MAD_CLASS]), head = SIM_MAD_SIZE - size;
	size_t length = head + (size_t)r->last * size - (RMPP_PAYLOAD - r->last_length);
	uint8_t *umad = r->umad;

	ack(r, &r->first);
	linger(r);
	agent_complete(r->agent, &r->first, umad, length);
	free(umad);
}

/* Marks the segment as received. */
static void advance(struct rmpp_recv *r, uint32_t segment)
{
	r->ahead |= UINT64_C(1) << (segment - r->have - 1);
	while (r->ahead & 1) {
		r->ahead >>= 1;
		r->have++;
	}
}

/* False: there is no room, and the transfer has ended. */
static bool add(struct rmpp_recv *r, const struct packet *p, uint32_t segment)
{
	if (!store(r, p, segment)) {
		rmpp_reply(r->agent->file, p, RMPP_STOP, RMPP_RESX, 0, 0);
		recv_free(r);
		return false;
	}
	if (p->mad[RMPP_FLAGS] & RMPP_LAST) {
		r->last = segment;
		r->last_length = get_be32(p->mad + RMPP_LENGTH);
	}
	advance(r, segment);
	return true;
}

/* Takes a segment after `have`, up to the window's end. */
static void take(struct rmpp_recv *r, const struct packet *p, uint32_t segment)
{
	bool again = r->ahead >> (segment - r->have - 1) & 1;

	if (!again && !add(r, p, segment))
		return;
	if (r->last && r->have >= r->last) {
		complete(r);
	} else if (r->have == r->window) {
		r->window += RMPP_WINDOW;
		ack(r, p);
	}
}

/* Checks a segment by itself.  Returns 0, or the status to abort with. */
static uint8_t check(const struct packet *p)
{
	const uint8_t *mad = p->mad;
	uint32_t length = get_be32(mad + RMPP_LENGTH);
	bool first = mad[RMPP_FLAGS] & RMPP_FIRST;

	if (mad[RMPP_STATUS])
		return RMPP_BAD_STATUS;
	if (first != (get_be32(mad + RMPP_SEGMENT) == 1))
		return RMPP_BAD_SEGMENT;
	if (mad[RMPP_FLAGS] & RMPP_LAST &&
	    (length > RMPP_PAYLOAD || length < class_data_offset(mad[MAD_CLASS]) - RMPP_HEAD))
		return RMPP_BAD_LENGTH;
	return 0;
}

void rmpp_recv_data(struct host_agent *a, const struct packet *p)
{
	uint32_t segment = get_be32(p->mad + RMPP_SEGMENT);
	uint8_t wrong = check(p);

	if (wrong) {
		rmpp_reply(a->file, p, RMPP_ABORT, wrong, 0, 0);
		return;
	}
	struct rmpp_recv *r = receive_find(a, p);

	if (!r && segment == 1)
		r = receive_new(a, p);
	if (!r || segment > r->window)
		return;
	if (segment <= r->acked || r->complete)
		ack(r, p);
	else if (segment > r->have)
		take(r, p, segment);
}

void rmpp_recv_abort(struct host_agent *a, const struct packet *p)
{
	struct rmpp_recv *r = receive_find(a, p);

	if (r && !r->complete)
		recv_free(r);
}

/* --- change of direction --- */

void rmpp_recv_direction_switch(struct host_agent *a, const struct packet *p, uint32_t window)
{
	struct rmpp_recv *r = receive_find(a, p);

	if (r && r->complete)
		r->answer_window = window;
}

uint32_t rmpp_recv_first_window(const struct host_agent *a, const struct packet *p)
{
	struct packet request;

	if (!(p->mad[MAD_METHOD] & MAD_METHOD_RESPONSE))
		return 1;
	request = *p;
	request.slid = p->dlid;
	request.sqpn = p->dqpn;
	request.mad[MAD_METHOD] ^= MAD_METHOD_RESPONSE;
	const struct rmpp_recv *r = receive_find(a, &request);

	return r ? r->answer_window : 1;
}
