/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds links that run below what their ends support or below most comparable links.
 *
 * A rate is compared with that of other links between devices of the same models, as generations
 * are often mixed, and with what both ends support and have enabled.  The latter counts only if
 * most of these links run at what their ends support: some devices claim every speed.  VLs and MTU
 * are compared among links between the same types of node, whatever the model: a policy applies to
 * all of them.
 *
 * Most means more than half; if there are fewer than three links, more than half of the whole
 * fabric's.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/mad.h>

#include "lib/base/alloc.h"
#include "lib/base/bytes.h"
#include "lib/base/map64.h"
#include "lib/iba/units.h"
#include "plan/feasible/feasible_parts.h"

#define RATES 32

/* Links that are compared with each other. */
struct peers {
	uint32_t n;
	uint32_t n_able;		/* links that run at what both ends support */
	uint32_t rates[RATES], vls[16], mtus[8];
	uint8_t rate, vl, mtu;		/* values of more than half of them; 0: none */
};

struct link {
	uint32_t port;
	uint32_t model, type;		/* index of its peers by model, and by type of node */
	uint8_t rate, able;		/* rate codes: present, and supported by both ends */
	uint8_t vls, mtu;
};

struct census {
	const struct fabric *f;
	VEC(struct link) links;
	VEC(struct peers) peers;
	struct map64 by_key;
	uint32_t n_able;		/* as in struct peers, for the whole fabric */
};

/* --- the rate that both ends support --- */

static unsigned field(const struct fabric_port *p, enum MAD_FIELDS name)
{
	uint8_t info[sizeof(p->info)];

	memcpy(info, p->info, sizeof(info));	/* the library takes no const */
	return mad_get_field(info, 0, name);
}

static unsigned common(const struct fabric_port *a, const struct fabric_port *b,
		       enum MAD_FIELDS supported, enum MAD_FIELDS enabled)
{
	return field(a, supported) & field(a, enabled) & field(b, supported) & field(b, enabled);
}

/* The first of the bits in this order. */
static unsigned greatest(unsigned bits, const uint8_t *order, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (bits & order[i])
			return order[i];
	return 0;
}

/* 0: the ends report nothing usable. */
static unsigned able_rate(const struct fabric_port *a, const struct fabric_port *b)
{
	static const uint8_t widths[] = { 8, 4, 2, 16, 1 }, speeds[] = { 4, 2, 1 };
	static const uint8_t ext_speeds[] = {
		IB_EXT_XDR, IB_EXT_NDR, IB_EXT_HDR, IB_EXT_EDR, IB_EXT_FDR,
	};
	unsigned width = common(a, b, IB_PORT_LINK_WIDTH_SUPPORTED_F, IB_PORT_LINK_WIDTH_ENABLED_F);
	unsigned speed = common(a, b, IB_PORT_LINK_SPEED_SUPPORTED_F, IB_PORT_LINK_SPEED_ENABLED_F);
	unsigned ext = ib_ext_supported(a->info) & ib_ext_enabled(a->info) &
		       ib_ext_supported(b->info) & ib_ext_enabled(b->info);

	return rate_from_link(greatest(width, widths, 5), greatest(speed & 7, speeds, 3),
			      greatest(ext, ext_speeds, ARRAY_SIZE(ext_speeds)), false);
}

/* --- groups of comparable links --- */

static uint64_t model_of(const struct fabric_node *n)
{
	/* NodeInfo: DeviceID at 30, VendorID in the last three bytes */
	return (uint64_t)n->type << 40 | (uint64_t)get_be16(n->info + 30) << 24 |
	       (get_be32(n->info + 36) & 0xffffff);
}

static uint32_t peers_of(struct census *c, uint64_t a, uint64_t b, uint64_t what)
{
	uint64_t key = hash64(hash64((a < b ? a : b) ^ what << 62) + (a < b ? b : a));
	uint32_t i = map64_get(&c->by_key, key);

	if (i == MAP64_NONE) {
		i = (uint32_t)c->peers.n;
		*vec_push(&c->peers) = (struct peers){ 0 };
		map64_put(&c->by_key, key, i);
	}
	return i;
}

static uint8_t lesser(uint8_t a, uint8_t b)
{
	return a < b ? a : b;
}

static void add_link(struct census *c, uint32_t port)
{
	const struct fabric *f = c->f;
	const struct fabric_port *a = &f->ports[port], *b = &f->ports[a->peer];
	const struct fabric_node *na = &f->nodes[a->node], *nb = &f->nodes[b->node];
	struct link l = {
		.port = port, .model = peers_of(c, model_of(na), model_of(nb), 0),
		.type = peers_of(c, na->type, nb->type, 1),
		.rate = rate_compare(a->rate, b->rate) < 0 ? a->rate : b->rate,
		.able = (uint8_t)able_rate(a, b),
		.vls = (uint8_t)ib_vls_from_code(lesser(a->vl_cap, b->vl_cap)),
		.mtu = lesser(a->mtu_cap, b->mtu_cap),
	};

	*vec_push(&c->links) = l;
	c->peers.v[l.model].n++;
	c->peers.v[l.model].rates[l.rate % RATES]++;
	c->peers.v[l.type].n++;
	c->peers.v[l.type].vls[l.vls % 16]++;
	c->peers.v[l.type].mtus[l.mtu % 8]++;
	if (rate_compare(l.rate, l.able) >= 0) {
		c->peers.v[l.model].n_able++;
		c->n_able++;
	}
}

static uint8_t majority(const uint32_t *count, unsigned n, uint32_t of)
{
	for (unsigned i = 0; i < n; i++)
		if (count[i] > of / 2)
			return (uint8_t)i;
	return 0;
}

static void take_census(struct census *c)
{
	const struct fabric *f = c->f;

	map64_init(&c->by_key, 64);
	for (uint32_t i = 0; i < f->n_ports; i++)
		if (f->ports[i].peer != FABRIC_NONE && i < f->ports[i].peer &&
		    !link_is_inner(f, i))
			add_link(c, i);
	for (struct peers *p = c->peers.v; p < vec_end(&c->peers); p++) {
		p->rate = majority(p->rates, RATES, p->n);
		p->vl = majority(p->vls, 16, p->n);
		p->mtu = majority(p->mtus, 8, p->n);
	}
}

/* --- links that deviate --- */

__attribute__((format(printf, 2, 3)))
static void because(struct deviation *d, const char *fmt, ...)
{
	size_t n = strlen(d->why);
	va_list ap;

	va_start(ap, fmt);
	if (n)
		n += (size_t)snprintf(d->why + n, sizeof(d->why) - n, "; ");
	if (n < sizeof(d->why))
		vsnprintf(d->why + n, sizeof(d->why) - n, fmt, ap);
	va_end(ap);
}

/* What the ends of such links claim to support can be believed. */
static bool able_counts(const struct census *c, const struct peers *p)
{
	return p->n < 3 ? c->n_able > c->links.n / 2 : p->n_able > p->n / 2;
}

static void check_rate(const struct census *c, const struct link *l, struct deviation *d)
{
	char runs[24], other[24];
	const struct fabric_port *p = &c->f->ports[l->port], *q = &c->f->ports[p->peer];

	if (p->rate_guessed || q->rate_guessed) {
		const struct fabric_port *x = p->rate_guessed ? p : q;

		because(d, "runs at an unknown width or speed (LinkWidthActive %u, LinkSpeedActive %u, "
			"extended speed %u), assumed to be %s",
			field(x, IB_PORT_LINK_WIDTH_ACTIVE_F), field(x, IB_PORT_LINK_SPEED_ACTIVE_F),
			ib_ext_active(x->info), rate_text(l->rate, runs, sizeof(runs)));
		return;
	}
	if (d->usual && rate_compare(l->rate, d->usual) < 0)
		because(d, "runs at %s, most links between such devices at %s",
			rate_text(l->rate, runs, sizeof(runs)),
			rate_text(d->usual, other, sizeof(other)));
	else if (rate_compare(l->rate, l->able) < 0 && able_counts(c, &c->peers.v[l->model]))
		because(d, "runs at %s, both ends support %s",
			rate_text(l->rate, runs, sizeof(runs)),
			rate_text(l->able, other, sizeof(other)));
}

static void check_link(struct judge *j, const struct census *c, const struct link *l)
{
	const struct peers *type = &c->peers.v[l->type];
	struct deviation d = {
		.port = l->port, .rate = l->rate, .usual = c->peers.v[l->model].rate,
		.vls = l->vls, .usual_vls = type->vl,
	};

	check_rate(c, l, &d);
	if (l->vls < type->vl)
		because(&d, "has %u data VL%s, most links of its kind %u", l->vls,
			l->vls == 1 ? "" : "s", type->vl);
	if (l->mtu < type->mtu)
		because(&d, "carries an MTU of %u, most links of its kind %u", mtu_bytes(l->mtu),
			mtu_bytes(type->mtu));
	if (!*d.why)
		return;
	struct feasibility *v = j->v;

	v->deviations = xrealloc(v->deviations, v->n_deviations + 1, sizeof(d));
	v->deviations[v->n_deviations++] = d;
}

/* Links that deviate alike are one finding, which names the first few. */
#define NAMED 3

static void report(struct judge *j)
{
	const struct feasibility *v = j->v;
	bool *said = xcalloc(v->n_deviations + 1, sizeof(*said));

	for (uint32_t i = 0; i < v->n_deviations; i++) {
		const struct deviation *d = &v->deviations[i];
		struct buf who = { 0 };
		unsigned n = 0;

		for (uint32_t k = i; !said[i] && k < v->n_deviations; k++) {
			if (strcmp(v->deviations[k].why, d->why))
				continue;
			if (k > i)
				said[k] = true;
			if (n++ >= NAMED)
				continue;
			uint32_t port = v->deviations[k].port, peer = j->p->f->ports[port].peer;

			buf_printf(&who, "%s%s", n > 1 ? ", " : "",
				   PORT_NAME(j->p->f, port));
			buf_printf(&who, " to %s", PORT_NAME(j->p->f, peer));
		}
		if (n > NAMED)
			buf_printf(&who, " and %u more", n - NAMED);
		if (n)
			findings_add(&j->v->findings, SEV_WARNING, "", (struct src_pos){ 0, 0 },
				     "%s %s: %s", n > 1 ? "links" : "link", who.s, d->why);
		buf_free(&who);
	}
	free(said);
}

void judge_deviations(struct judge *j)
{
	struct census c = { .f = j->p->f };

	take_census(&c);
	for (size_t i = 0; i < c.links.n; i++)
		check_link(j, &c, &c.links.v[i]);
	report(j);
	vec_free(&c.links);
	vec_free(&c.peers);
	map64_free(&c.by_key);
}
