/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Converts arguments to a path query, with MTU, rate and lifetime as people write them.  A refused
 * query is not stored.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config/conf.h"
#include "ctl/commands/cmd_explain.h"
#include "lib/base/alloc.h"
#include "lib/base/time_parse.h"
#include "lib/iba/sa_records.h"
#include "lib/iba/units.h"

#define PR_SERVICE_ID (PR_SERVICE_ID_MSB | PR_SERVICE_ID_LSB)

/* Optional fields of a query; the most dispensable come first. */
const struct query_field query_fields[] = {
	{ "sl", PR_SL }, { "mtu", PR_MTU_SEL | PR_MTU }, { "rate", PR_RATE_SEL | PR_RATE },
	{ "lifetime", PR_LIFE_SEL | PR_LIFE }, { "reversible", PR_REVERSIBLE },
	{ "slid", PR_SLID }, { "dlid", PR_DLID }, { "pkey", PR_PKEY },
	{ "tclass", PR_TCLASS }, { "qos-class", PR_QOS_CLASS },
	{ "service-id", PR_SERVICE_ID },
};
const unsigned n_query_fields = ARRAY_SIZE(query_fields);

/* --- values and selectors (15.2.5.16) --- */

/* Parses a decimal number that is the whole text. */
static bool whole_number(const char *text, unsigned max, unsigned *value)
{
	char *end;
	unsigned long v;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	v = strtoul(text, &end, 10);
	*value = (unsigned)v;
	return *end == '\0' && !errno && v <= max;
}

static bool read_mtu(const char *text, unsigned *code)
{
	unsigned bytes;

	return whole_number(text, 4096, &bytes) && (*code = mtu_code(bytes));
}

static bool read_rate(const char *text, unsigned *code)
{
	return (*code = rate_parse_gbps(text)) || (*code = rate_parse_link(text));
}

/* Parses a time with its unit, or a plain exponent. */
static bool read_lifetime(const char *text, unsigned *code)
{
	double v;

	if (whole_number(text, 31, code))
		return true;
	if (!time_span_parse(text, &v))
		return false;
	*code = lifetime_code(v);
	return *code <= 31;
}

static const struct scale {
	const char *name;
	bool (*read)(const char *text, unsigned *code);
	unsigned least, most;	/* lowest and highest code */
	const char *example;
} scales[] = {
	{ "mtu", read_mtu, 1, 5, "2048" }, { "rate", read_rate, 1, 63, "40 or 4xQDR" },
	{ "lifetime", read_lifetime, 0, 31, "500ms or 18" },
};

static unsigned next_code(const struct scale *x, unsigned code, bool up)
{
	if (x->read == read_rate)
		return up ? rate_faster(code) : rate_slower(code);
	return up ? code + 1 : code - 1;	/* 0 - 1 wraps around beyond the maximum, too */
}

/* Parses SELECTOR:CODE, the values on the wire. */
static bool raw_selector(const char *text, uint8_t *sel, uint8_t *code)
{
	unsigned value;

	if (*text < '0' || *text > '3' || text[1] != ':' || !whole_number(text + 2, 63, &value))
		return false;
	*sel = (uint8_t)(*text - '0');
	*code = (uint8_t)value;
	return true;
}

static bool read_value(const struct scale *x, const char *text, unsigned *code)
{
	return strncmp(text, "iba:", 4) == 0 ? whole_number(text + 4, 63, code) :
					       x->read(text, code);
}

/* True for a time between two codes, which is rounded up to the longer one. */
static bool is_rounded(const struct scale *x, const char *text, unsigned code)
{
	double v;

	return x->read == read_lifetime && time_span_parse(text, &v) && lifetime_seconds(code) > v * (1 + 1e-9);
}

/*
 * There is no selector for >= and <=: they become > the code before and < the code after.  For a
 * rounded value, >= includes the value's code, and <= excludes it.
 */
static bool read_selector(const struct scale *x, const char *text, uint8_t *sel, uint8_t *code)
{
	static const struct { const char *word; uint8_t sel; int next; } prefixes[] = {
		{ ">=", SEL_GREATER, -1 }, { "<=", SEL_LESS, 1 }, { ">", SEL_GREATER, 0 },
		{ "<", SEL_LESS, 0 }, { "=", SEL_EXACT, 0 }, { "", SEL_EXACT, 0 },
	};
	unsigned value, i = 0;
	int next;

	if (raw_selector(text, sel, code))
		return true;
	if (strcmp(text, "best") == 0)
		return read_selector(x, "3:2", sel, code);
	while (strncmp(text, prefixes[i].word, strlen(prefixes[i].word)) != 0)
		i++;
	if (!read_value(x, text + strlen(prefixes[i].word), &value))
		return false;
	*sel = prefixes[i].sel;
	next = prefixes[i].next;
	if (*sel != SEL_EXACT && is_rounded(x, text + strlen(prefixes[i].word), value))
		next = *sel == SEL_GREATER ? -1 : 0;
	if (next) {
		unsigned beyond = next_code(x, value, next > 0);

		/* at least the minimum, or at most the maximum: any value */
		*sel = beyond < x->least || beyond > x->most ? SEL_BEST : *sel;
		value = *sel == SEL_BEST ? value : beyond;
	}
	*code = (uint8_t)value;
	return true;
}

static bool selector_arg(const struct ctl_call *c, const struct scale *x, struct path_query *q,
			 uint64_t bits, uint8_t *sel, uint8_t *code, struct reply *r)
{
	const char *text = arg_text(c, x->name);

	if (!text)
		return true;
	if (!read_selector(x, text, sel, code)) {
		reply_error(r, NULL, "%s: '%s' is invalid: give a value such as %s, optionally after >, "
			    ">=, < or <=, or best", x->name, text, x->example);
		return false;
	}
	q->has |= bits;
	return true;
}

/* --- the query --- */

static bool number_arg(const struct ctl_call *c, const char *name, struct path_query *q,
		       uint64_t bits, uint64_t *value)
{
	if (!arg_number(c, name, value))
		return false;
	q->has |= bits;
	return true;
}

static void plain_args(const struct ctl_call *c, struct path_query *q)
{
	uint64_t v;

	if (number_arg(c, "service-id", q, PR_SERVICE_ID, &v))
		q->service_id = v;
	if (number_arg(c, "qos-class", q, PR_QOS_CLASS, &v))
		q->qos_class = (uint16_t)v;
	if (number_arg(c, "pkey", q, PR_PKEY, &v))
		q->pkey = (uint16_t)v;
	if (number_arg(c, "tclass", q, PR_TCLASS, &v))
		q->tclass = (uint8_t)v;
	if (number_arg(c, "sl", q, PR_SL, &v))
		q->sl = (uint8_t)v;
	if (number_arg(c, "slid", q, PR_SLID, &v))
		q->slid = (uint16_t)v;
	if (number_arg(c, "dlid", q, PR_DLID, &v))
		q->dlid = (uint16_t)v;
	if (number_arg(c, "numb-path", q, PR_NUMB_PATH, &v))
		q->num_path = (uint8_t)v;
	if (arg_flag(c, "reversible")) {
		q->has |= PR_REVERSIBLE;
		q->reversible = true;
	}
}

/* --- a ULP, as in rules of the policy --- */

/*
 * IPoIB asks with the P_Key of its partition: the first with IPoIB that has both ends, or else the
 * first with IPoIB.
 */
static uint16_t ipoib_pkey(const struct ctl_call *c)
{
	const struct policy *p = c->state->plan->policy;
	const char *why;
	uint32_t src = find_end_port(c, arg_text(c, "src"), &why);
	uint32_t dst = find_end_port(c, arg_text(c, "dst"), &why);
	uint16_t first = 0;

	for (size_t i = 0; i < p->n_partitions; i++) {
		uint16_t pkey = p->partitions[i].pkey;

		if (!p->partitions[i].ipoib)
			continue;
		first = first ? first : pkey;
		if (src != FABRIC_NONE && dst != FABRIC_NONE &&
		    port_is_member(c->state->plan->partitions, src, pkey) &&
		    port_is_member(c->state->plan->partitions, dst, pkey))
			return pkey | IB_PKEY_FULL;
	}
	return first ? first | IB_PKEY_FULL : IB_PKEY_FULL | IB_PKEY_DEFAULT;
}

/* What is wrong with the ULP of a query, or NULL. */
static const char *wrong_ulp(enum policy_ulp ulp, bool with_port, const struct path_query *q)
{
	if (q->has & PR_SERVICE_ID && ulp != ULP_SRP)
		return "service-id excludes ulp, except for srp, and tcp-port";
	if (with_port && (ulp == ULP_IPOIB || ulp == ULP_SRP))
		return "ipoib and srp have no tcp-port";
	if (ulp == ULP_SRP && !(q->has & PR_SERVICE_ID))
		return "srp needs the service-id of the target: each target chooses its own";
	return NULL;
}

static bool ulp_args(const struct ctl_call *c, struct path_query *q, struct reply *r)
{
	const char *word = arg_text(c, "ulp"), *why;
	enum policy_ulp ulp = word ? policy_ulp_parse(word) : ULP_NONE;
	uint64_t port;
	bool with_port = arg_number(c, "tcp-port", &port);

	if (!word && !with_port)
		return true;
	why = word && ulp == ULP_NONE ? "it must be ipoib, sdp, rds, iser, srp, nfs-rdma, nvme-of, lustre "
					"or smb-direct" : wrong_ulp(ulp, with_port, q);
	if (why) {
		reply_error(r, NULL, "%s: %s", word ? "ulp" : "tcp-port", why);
		return false;
	}
	if (ulp == ULP_IPOIB && !(q->has & PR_PKEY)) {
		q->has |= PR_PKEY;
		q->pkey = ipoib_pkey(c);
	} else if (conf_ulp_service_id(ulp, with_port ? (int)port : -1, &q->service_id)) {
		q->has |= PR_SERVICE_ID;
	}
	return true;
}

bool query_from_args(const struct ctl_call *c, struct path_query *q, struct reply *r)
{
	*q = (struct path_query){ .src = FABRIC_NONE, .dst = FABRIC_NONE };
	plain_args(c, q);
	if (!ulp_args(c, q, r))
		return false;
	if (!selector_arg(c, &scales[0], q, PR_MTU_SEL | PR_MTU, &q->mtu_sel, &q->mtu, r) ||
	    !selector_arg(c, &scales[1], q, PR_RATE_SEL | PR_RATE, &q->rate_sel, &q->rate, r) ||
	    !selector_arg(c, &scales[2], q, PR_LIFE_SEL | PR_LIFE, &q->life_sel, &q->life, r))
		return false;
	if (sa_query_check(q) == IB_STATUS_OK)
		return true;
	reply_error(r, NULL, "the subnet administrator refuses the query: no such code of MTU, "
		    "rate or lifetime (status 0x%04x)", sa_query_check(q));
	return false;
}

uint32_t query_max_paths(const struct path_query *q)
{
	return q->has & PR_NUMB_PATH ? q->num_path : PATHS_PER_PAIR;
}
