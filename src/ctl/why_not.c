/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Answers `explain --why-not`: every reason why a query gets no path, and the queries nearest to it
 * that do.  The SA's search finds the reasons (FAULT_*); this file says where they are, and by how
 * much the query fails.
 */
#include "ctl/commands/cmd_explain.h"

#include "lib/base/alloc.h"
#include "lib/iba/sa_records.h"
#include "lib/iba/units.h"

#define PKEYS_SHOWN 8	/* per port */
/* Pairs of LIDs to check for helpful queries: enough for all ways to omit fields, up to LMC 5. */
#define HELP_BUDGET (1u << 21)

/* A query without a path; a is what was tried first, which a Get would have returned. */
struct refusal {
	const struct subnet_state *s;
	const struct path_query *q;
	struct path_answer a;
	unsigned faults;
	const struct policy_level *level;
	struct route_limits route;	/* n 0: no route */
};

/* Adds a reason; takes the text of b and frees it. */
static void add_reason(json_t *reasons, const char *reason, struct buf *b)
{
	json_array_append_new(reasons, json_pack("{s:s, s:o}", "reason", reason,
						 "text", json_text(b->s)));
	buf_free(b);
}

static void put_port(struct buf *b, const struct subnet_state *s, uint32_t port)
{
	char name[FABRIC_NAME_MAX];

	buf_puts(b, fabric_port_name(s->f, port, name, sizeof(name)));
}

/* --- LIDs, P_Keys, the SL asked for --- */

static void put_lids(struct buf *b, const struct subnet_state *s, uint32_t port)
{
	unsigned base = s->plan->lid[port], last = base + plan_lids_of(s->plan, port) - 1;

	put_port(b, s, port);
	if (last == base)
		buf_printf(b, " has LID %u", base);
	else
		buf_printf(b, " has LIDs %u to %u", base, last);
}

static bool has_lid(const struct subnet_state *s, uint32_t port, unsigned lid)
{
	return lid >= s->plan->lid[port] &&
	       lid < s->plan->lid[port] + plan_lids_of(s->plan, port);
}

static void say_lid(const struct refusal *x, struct buf *b)
{
	bool first = has_lid(x->s, x->q->src, x->a.slid);
	bool second = has_lid(x->s, x->q->dst, x->a.dlid);

	if (!first) {
		put_lids(b, x->s, x->q->src);
		buf_printf(b, ", not %u", x->a.slid);
	}
	if (!second) {
		buf_puts(b, first ? "" : "; ");
		put_lids(b, x->s, x->q->dst);
		buf_printf(b, ", not %u", x->a.dlid);
	}
}

static void say_pkey(const struct refusal *x, struct buf *b)
{
	buf_printf(b, "the two ends do not share P_Key 0x%04x", x->q->pkey);
}

static void put_pkeys(struct buf *b, const struct subnet_state *s, uint32_t port)
{
	const struct pkey_table *t = port_pkeys(s->plan->partitions, port);
	uint32_t held = 0;

	put_port(b, s, port);
	buf_puts(b, t->n ? " has" : " has none");
	for (uint32_t i = 0; i < t->n; i++) {
		if (!t->keys[i])
			continue;
		if (held++ < PKEYS_SHOWN)
			buf_printf(b, "%s 0x%04x", held > 1 ? "," : "", t->keys[i]);
	}
	if (held > PKEYS_SHOWN)
		buf_printf(b, " and %u more", held - PKEYS_SHOWN);
}

/* Limited members (P_Key without the upper bit) cannot talk to each other. */
static void say_no_pkey(const struct refusal *x, struct buf *b)
{
	buf_puts(b, "the two ends share no P_Key of which one is a full member: ");
	put_pkeys(b, x->s, x->q->src);
	buf_puts(b, ", ");
	put_pkeys(b, x->s, x->q->dst);
}

static void say_level_pkey(const struct refusal *x, struct buf *b)
{
	buf_printf(b, "level %s is restricted to the P_Keys", x->level->name);
	for (size_t i = 0; i < x->level->pkeys.n; i++) {
		const struct u64_range *k = &x->level->pkeys.v[i];

		buf_printf(b, "%s 0x%04llx", i ? "," : "", (unsigned long long)k->lo);
		if (k->hi != k->lo)
			buf_printf(b, "-0x%04llx", (unsigned long long)k->hi);
	}
	buf_puts(b, ", none of which the two ends share");
}

static void say_path_bits(const struct refusal *x, struct buf *b)
{
	buf_printf(b, "level %s has path bits %d, which do not select LIDs %u to %u",
		   x->level->name, x->level->path_bits, x->a.slid, x->a.dlid);
}

static void say_sl_asked(const struct refusal *x, struct buf *b)
{
	buf_printf(b, "the query requests SL %u, but level %s has SL %u", x->q->sl, x->level->name,
		   x->a.sl);
	if (x->a.sl != x->level->sl)
		buf_printf(b, " in the layer of this route");
}

/* --- the route --- */

static void put_dead_end(struct buf *b, const struct subnet_state *s, const struct path_hop *h)
{
	const struct fabric_node *n = &s->f->nodes[h->node];
	char name[FABRIC_NAME_MAX];

	fabric_node_name(s->f, h->node, name, sizeof(name));
	if (!node_is_switch(n) && h->in == 0)
		buf_printf(b, "%s has no link", name);
	else if (!node_is_switch(n))
		buf_printf(b, "the route ends at another host, %s", name);
	else if (h->out == LFT_DROP)
		buf_printf(b, "the forwarding table of %s has no entry for it", name);
	else if (h->out == 0)
		buf_printf(b, "%s has it as its own", name);
	else
		buf_printf(b, "the forwarding table of %s leads to port %u, which has no link",
			   name, h->out);
}

static void put_no_route(struct buf *b, const struct subnet_state *s, uint32_t src,
			 uint32_t dst, uint16_t dlid)
{
	struct path_hop hops[PATH_HOPS_MAX];
	bool there;
	unsigned n = paths_follow(s->f, s->plan->lfts, s->plan->tables, src, dlid, dst, hops,
				  PATH_HOPS_MAX, &there);

	buf_printf(b, "there is no route to LID %u: ", dlid);
	if (n == PATH_HOPS_MAX)
		buf_puts(b, "the route goes in a cycle");
	else
		put_dead_end(b, s, &hops[n - 1]);
	if (n > 1 && n < PATH_HOPS_MAX)
		buf_printf(b, " (hop %u)", n - 1);
}

static void say_route(const struct refusal *x, struct buf *b)
{
	put_no_route(b, x->s, x->q->src, x->q->dst, x->a.dlid);
}

/* --- an SL that does not get through --- */

static void put_drop(struct buf *b, const struct subnet_state *s, const struct path_hop *h,
		     unsigned hop, unsigned sl)
{
	const struct sl2vl *map = h->map == TABLE_NONE ? NULL : &s->plan->tables->maps[h->map];
	char name[FABRIC_NAME_MAX];

	buf_printf(b, "SL %u is dropped at hop %u, %s, from port %u to port %u: ", sl, hop,
		   fabric_node_name(s->f, h->node, name, sizeof(name)), h->in, h->out);
	if (!map)
		buf_puts(b, "the device has no SL2VL table for these ports");
	else if (map->vl[sl] == IB_VL_DROP)
		buf_printf(b, "the SL2VL table maps it to VL %u", IB_VL_DROP);
	else
		buf_printf(b, "the SL2VL table maps it to VL %u, but the link has %u VLs",
			   map->vl[sl], ib_vls_from_code(qos_vls_in_force(s->plan->tables,
				s->f->nodes[h->node].port0 + h->out)));
}

/* Says where the route from src to dlid drops an SL; the caller knows that it does. */
static void put_where_dropped(struct buf *b, const struct subnet_state *s, uint32_t src,
			      uint32_t dst, uint16_t dlid, unsigned sl)
{
	struct path_hop hops[PATH_HOPS_MAX];
	unsigned n = paths_walk(s->f, s->plan->lfts, s->plan->tables, src, dlid, dst, hops,
				PATH_HOPS_MAX);

	if (!s->plan->tables->managed && sl) {
		buf_printf(b, "qosd does not manage the tables, as the policy uses SL 0 only: SL %u is not "
			   "offered", sl);
		return;
	}
	for (unsigned i = 0; i < n; i++)
		if (hop_vl(s, &hops[i], sl) == IB_VL_DROP) {
			put_drop(b, s, &hops[i], i, sl);
			return;
		}
	buf_printf(b, "SL %u is dropped on the route", sl);
}

static void say_sl_dropped(const struct refusal *x, struct buf *b)
{
	put_where_dropped(b, x->s, x->q->src, x->q->dst, x->a.dlid, x->a.sl);
	buf_printf(b, " (level %s)", x->level->name);
}

static void say_reversible(const struct refusal *x, struct buf *b)
{
	struct route_limits back;

	route_limits(x->s, x->q->dst, x->q->src, x->a.slid, &back);
	buf_puts(b, "the path is not reversible: on the way back ");
	if (back.n)
		put_where_dropped(b, x->s, x->q->dst, x->q->src, x->a.slid, x->a.sl);
	else
		put_no_route(b, x->s, x->q->dst, x->q->src, x->a.slid);
}

/* --- selectors that can't be met --- */

static const char *selector_words(unsigned selector)
{
	static const char *const words[] = { "more than", "less than", "exactly", "the most" };

	return words[selector & 3];
}

static void put_source(struct buf *b, const struct refusal *x, bool by_level, unsigned hop)
{
	if (by_level)
		buf_printf(b, "limit of level %s", x->level->name);
	else
		put_hop_name(b, x->s, &x->route, hop);
}

static void say_mtu(const struct refusal *x, struct buf *b)
{
	buf_printf(b, "the query requests an MTU of %s %u bytes, but the maximum is %u: ",
		   selector_words(x->q->mtu_sel), mtu_bytes(x->q->mtu), mtu_bytes(x->a.mtu));
	put_source(b, x, x->a.mtu == x->level->mtu_limit && x->a.mtu != x->route.mtu,
		   x->route.mtu_hop);
}

static void say_rate(const struct refusal *x, struct buf *b)
{
	char asked[32], most[32];

	buf_printf(b, "the query requests a rate of %s %s, but the maximum is %s: ",
		   selector_words(x->q->rate_sel), rate_text(x->q->rate, asked, sizeof(asked)),
		   rate_text(x->a.rate, most, sizeof(most)));
	put_source(b, x, x->a.rate == x->level->rate_limit &&
		   rate_compare(x->a.rate, x->route.rate) != 0, x->route.rate_hop);
}

static void say_lifetime(const struct refusal *x, struct buf *b)
{
	buf_printf(b, "the query requests a packet lifetime of %s %.3g s, but it is %.3g s: %s",
		   selector_words(x->q->life_sel), lifetime_seconds(x->q->life),
		   lifetime_seconds(x->a.life), x->q->src == x->q->dst ?
		   "packets do not leave the port" : x->level->packet_lifetime >= 0 ?
		   "of the level" : "subnet-timeout of qosd.yaml");
}

/* --- all reasons, in the order of the faults --- */

static const struct {
	unsigned fault;
	const char *name;
	void (*say)(const struct refusal *x, struct buf *b);
} sayings[] = {
	{ FAULT_LID, "lid", say_lid },
	{ FAULT_PKEY, "pkey", say_pkey },
	{ FAULT_NO_PKEY, "no-pkey", say_no_pkey },
	{ FAULT_LEVEL_PKEY, "level-pkey", say_level_pkey },
	{ FAULT_PATH_BITS, "path-bits", say_path_bits },
	{ FAULT_SL_ASKED, "sl-asked", say_sl_asked },
	{ FAULT_ROUTE, "no-route", say_route },
	{ FAULT_SL_DROPPED, "sl-dropped", say_sl_dropped },
	{ FAULT_MTU, "mtu", say_mtu },
	{ FAULT_RATE, "rate", say_rate },
	{ FAULT_LIFETIME, "lifetime", say_lifetime },
	{ FAULT_REVERSIBLE, "reversible", say_reversible },
};

static json_t *all_reasons(const struct refusal *x)
{
	json_t *reasons = json_array();

	for (size_t i = 0; i < ARRAY_SIZE(sayings); i++) {
		struct buf b = { 0 };

		if (!(x->faults & sayings[i].fault))
			continue;
		sayings[i].say(x, &b);
		add_reason(reasons, sayings[i].name, &b);
	}
	return reasons;
}

/* --- what would help --- */

/* The fields that the query sets, as a mask of bits 1 << i for query_fields[i]. */
static unsigned fields_given(const struct path_query *q)
{
	unsigned given = 0;

	for (unsigned i = 0; i < n_query_fields; i++)
		if (q->has & query_fields[i].bits)
			given |= 1u << i;
	return given;
}

static struct path_query query_without(const struct path_query *q, unsigned fields)
{
	struct path_query less = *q;

	for (unsigned i = 0; i < n_query_fields; i++)
		if (fields >> i & 1)
			less.has &= ~query_fields[i].bits;
	if (!(less.has & PR_SLID))
		less.slid = 0;
	if (!(less.has & PR_DLID))
		less.dlid = 0;
	return less;
}

/* Checks at most *budget pairs of LIDs, and subtracts them from *budget. */
static bool first_path(const struct subnet_state *s, const struct path_query *q,
		       uint32_t *budget, struct path_answer *a)
{
	struct path_search x;
	bool found;

	path_search_begin(&x, s, q, &q->src, 1, &q->dst, 1, 1, *budget);
	found = path_search_next(&x, a);
	*budget = x.budget;
	return found;
}

static json_t *one_help(const struct subnet_state *s, unsigned fields,
			const struct path_answer *a)
{
	json_t *without = json_array(), *help = json_pack("{s:o}", "without", without);

	for (unsigned i = 0; i < n_query_fields; i++)
		if (fields >> i & 1)
			json_array_append_new(without, json_string(query_fields[i].name));
	json_add_level(help, s, a);
	json_object_set_new(help, "path", json_path(a));
	return help;
}

/*
 * Finds every way to omit as few fields as possible: all combinations of one size are tried
 * together.
 */
static json_t *all_helps(const struct subnet_state *s, const struct path_query *q)
{
	unsigned given = fields_given(q), most = (unsigned)__builtin_popcount(given);
	uint32_t budget = HELP_BUDGET;
	json_t *helps = json_array();

	for (unsigned n = 1; n <= most && json_array_size(helps) == 0; n++)
		for (unsigned f = 1; f < 1u << n_query_fields; f++) {
			struct path_answer a;
			struct path_query less;

			if (f & ~given || (unsigned)__builtin_popcount(f) != n)
				continue;
			less = query_without(q, f);
			if (first_path(s, &less, &budget, &a))
				json_array_append_new(helps, one_help(s, f, &a));
		}
	return helps;
}

/* --- the answer --- */

static json_t *unknown_ends(const struct ctl_call *c, const struct asked_ends *ends)
{
	static const char *const names[] = { "src", "dst" };
	json_t *reasons = json_array();

	for (unsigned i = 0; i < 2; i++) {
		struct buf b = { 0 };

		if (!ends->unknown[i])
			continue;
		buf_printf(&b, "%s: %s", arg_text(c, names[i]), ends->unknown[i]);
		add_reason(reasons, i ? "destination" : "source", &b);
	}
	return reasons;
}

static json_t *end_or_null(const struct subnet_state *s, uint32_t port)
{
	return port == FABRIC_NONE ? json_null() : json_port(s, port);
}

static void judge(const struct subnet_state *s, const struct path_query *q, json_t *o)
{
	struct refusal x = { .s = s, .q = q };
	struct path_search search;
	struct path_answer best;
	uint32_t budget = SA_SEARCH_MAX;
	bool any = first_path(s, q, &budget, &best);

	path_search_begin(&search, s, q, &q->src, 1, &q->dst, 1, 1, 1);
	path_search_try(&search, &x.a, &x.faults);
	x.level = &s->plan->policy->levels[x.a.level];
	if (!(x.faults & FAULT_LID))
		route_limits(s, q->src, q->dst, x.a.dlid, &x.route);
	json_add_level(o, s, any ? &best : &x.a);
	json_object_set_new(o, "path", any ? json_path(&best) : json_null());
	json_object_set_new(o, "reasons", any ? json_array() : all_reasons(&x));
	json_object_set_new(o, "helps", any ? json_array() : all_helps(s, q));
}

void why_not(const struct ctl_call *c, const struct asked_ends *ends, const struct path_query *q,
	     struct reply *r)
{
	const struct subnet_state *s = c->state;
	json_t *o = json_pack("{s:o, s:o}", "source", end_or_null(s, ends->port[0]),
			      "destination", end_or_null(s, ends->port[1]));
	struct path_query both = *q;

	both.src = ends->port[0];
	both.dst = ends->port[1];
	if (both.src == FABRIC_NONE || both.dst == FABRIC_NONE) {
		json_object_set_new(o, "path", json_null());
		json_object_set_new(o, "reasons", unknown_ends(c, ends));
		json_object_set_new(o, "helps", json_array());
	} else {
		judge(s, &both, o);
	}
	reply_result(r, o);
}
