/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See scan.h. */
#include "sa/scan.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/bytes.h"

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

void sa_range_ports(struct sa_scan *x, uint32_t port)
{
	x->at = 0;
	x->end = x->s->f->n_ports;
	if (port == FABRIC_NONE)
		return;
	x->at = port;
	x->end = port + 1;
	if (node_is_switch(port_node(x->s->f, port)))
		x->end += port_node(x->s->f, port)->nports;
}

bool sa_may_see(const struct subnet_state *s, uint32_t requester, uint32_t port)
{
	return requester == port || shared_pkey(s->plan->partitions, requester, port, 0);
}

static enum sa_step scan_step(struct sa_rows *rows, void *record)
{
	struct sa_scan *x = (struct sa_scan *)(void *)rows;
	const struct sa_kind *k = x->kind;
	uint64_t at = x->at++;
	uint32_t owner;

	if (at >= x->end)
		return SA_END;
	memset(record, 0, k->size);
	return k->make(x, at, record, &owner) &&
	       sa_fields_match(k->fields, k->n_fields, x->mask, x->want, record, x->subset) &&
	       sa_may_see(x->s, x->requester, owner) ? SA_ROW : SA_SKIP;
}

static void scan_release(struct sa_rows *rows)
{
	free(rows);
}

uint16_t sa_scan_for(struct sa_msg *m, const struct sa_kind *kind)
{
	struct sa_scan *x = xcalloc(1, sizeof(*x));
	uint32_t port = FABRIC_NONE;

	*x = (struct sa_scan){
		.rows = { .size = kind->size, .step = scan_step, .release = scan_release },
		.kind = kind, .s = m->s, .mask = m->mask, .trusted = m->trusted,
		.subset = m->mod & kind->subset_modifier, .requester = m->requester,
	};
	memcpy(x->want, m->data, kind->size);
	m->rows = &x->rows;
	if (m->mask & 1) {
		port = sa_lid_port(m->s, get_be16(x->want));
		if (port == FABRIC_NONE)
			return IB_STATUS_OK;	/* nobody has it: no candidates */
		/* any LID of a port's LMC range asks for its base LID, which the record has */
		put_be16(x->want, m->s->plan->lid[port]);
	}
	kind->range(x, port);
	return IB_STATUS_OK;
}
