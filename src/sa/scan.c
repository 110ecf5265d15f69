/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Scans the candidates of a kind of record (scan.h), and matches fields by ComponentMask. */
#include "sa/scan.h"

#include <stdlib.h>

#include "lib/base/alloc.h"
#include "lib/base/bytes.h"

static bool field_matches(const struct sa_field *f, const uint8_t *want, const uint8_t *have,
			  bool subset)
{
	unsigned first = f->offset, end = first + f->width;

	for (unsigned byte = first / 8; byte * 8 < end; byte++) {
		unsigned bits = 0xff;

		if (byte * 8 < first)
			bits &= 0xffu >> (first - byte * 8);
		if (byte * 8 + 8 > end)
			bits &= 0xffu << (byte * 8 + 8 - end);
		unsigned differ = (subset ? want[byte] & ~(unsigned)have[byte] :
				   (unsigned)want[byte] ^ have[byte]) & bits;
		if (differ)
			return false;
	}
	return true;
}

bool sa_fields_match(const struct sa_field *fields, size_t n, uint64_t mask,
		     const void *want, const void *have, bool subset_match)
{
	for (size_t i = 0; i < n; i++)
		if (mask >> fields[i].bit & 1 &&
		    !field_matches(&fields[i], want, have, subset_match && fields[i].subset))
			return false;
	return true;
}

uint32_t sa_endport(const struct subnet_state *s, uint32_t port)
{
	const struct fabric_node *n = port_node(s->f, port);

	return node_is_switch(n) ? n->port0 : port;
}

uint16_t sa_endport_lid(const struct subnet_state *s, uint32_t port)
{
	return s->plan->lid[sa_endport(s, port)];
}

void sa_range_none(struct sa_scan *x, uint32_t port)
{
	(void)port;
	x->at = x->end = 0;
}

void sa_range_ports(struct sa_scan *x, uint32_t port)
{
	uint64_t first = 0, n = x->s->f->n_ports;

	if (port != FABRIC_NONE) {
		const struct fabric_node *node = port_node(x->s->f, port);

		first = port;
		n = node_is_switch(node) ? node->nports + 1u : 1;
	}
	x->at = first * x->kind->each;
	x->end = (first + n) * x->kind->each;
}

bool sa_leave_port(struct sa_scan *x, uint64_t at)
{
	x->at = (at / x->kind->each + 1) * x->kind->each;
	return false;
}

void sa_range_switches(struct sa_scan *x, uint32_t port, uint64_t each)
{
	uint64_t first = 0, n = x->s->f->n_switches;

	if (port != FABRIC_NONE) {
		first = port_node(x->s->f, port)->sw;
		n = first != FABRIC_NONE;
	}
	x->at = first * each;
	x->end = (first + n) * each;
}

bool sa_seek(struct sa_scan *x, uint64_t at, unsigned unit, unsigned n, unsigned k)
{
	uint64_t row = at / unit / n;
	unsigned is = (unsigned)(at / unit % n);

	if (is == k)
		return true;
	x->at = (is < k && k < n ? row * n + k : (row + 1) * n) * unit;
	return false;
}

bool sa_may_see(const struct subnet_state *s, uint32_t requester, uint32_t port)
{
	return requester == port || shared_pkey(s->plan->partitions, requester, port, 0);
}

/*
 * A requester that shares no partition with a port must not know of it (15.4.1.2).  The SM_Key
 * does not change that: it only opens fields and kinds of records that are hidden otherwise.
 */
static bool visible(const struct sa_scan *x, const uint32_t owner[2])
{
	return sa_may_see(x->s, x->requester, owner[0]) &&
	       (owner[1] == FABRIC_NONE || sa_may_see(x->s, x->requester, owner[1]));
}

static enum sa_step scan_step(struct sa_rows *rows, void *record)
{
	struct sa_scan *x = (struct sa_scan *)(void *)rows;
	const struct sa_kind *k = x->kind;
	uint64_t at = x->at++;
	uint32_t owner[2] = { FABRIC_NONE, FABRIC_NONE };

	if (at >= x->end)
		return SA_END;
	memset(record, 0, k->size);
	return k->make(x, at, record, owner) &&
	       sa_fields_match(k->fields, k->n_fields, x->mask, x->want, record, x->subset) &&
	       visible(x, owner) ? SA_ROW : SA_SKIP;
}

/*
 * The end port of a LID in the query; FABRIC_NONE if the query does not have the LID.
 * Replaces any LID of a port's LMC range by its base LID, which records have.
 * False: no port has that LID.
 */
static bool port_asked(struct sa_scan *x, unsigned bit, unsigned offset, uint32_t *port)
{
	*port = FABRIC_NONE;
	if (!sa_asks(x, bit))
		return true;
	*port = sa_lid_port(x->s, get_be16(x->want + offset));
	if (*port == FABRIC_NONE)
		return false;
	put_be16(x->want + offset, x->s->plan->lid[*port]);
	return true;
}

uint16_t sa_scan_for(struct sa_msg *m, const struct sa_kind *kind)
{
	struct sa_scan *x;
	uint32_t port;

	if (kind->trusted_only && !m->trusted)
		return IB_SA_REQ_DENIED;
	x = xcalloc(1, sizeof(*x));
	*x = (struct sa_scan){
		.rows = { .size = kind->size, .step = scan_step },
		.kind = kind, .s = m->s, .sm = &m->sa->sm, .alias = m->sa->alias,
		.mask = m->mask, .privileged = m->privileged,
		.subset = m->mod & SA_SUBSET_MATCH, .requester = m->requester,
		.to = FABRIC_NONE,
	};
	memcpy(x->want, m->data, kind->size);
	m->rows = &x->rows;
	if (port_asked(x, 0, 0, &port) &&
	    (!kind->to_bit || port_asked(x, kind->to_bit, kind->to_offset, &x->to)))
		kind->range(x, port);
	return IB_STATUS_OK;
}
