/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * oracle: made-up policies in the syntax of OpenSM, and made-up path queries to
 * go with them, so that two subnet administrators can be asked the same.
 *
 *   oracle policy SEED PORTS       a qos-policy.conf
 *   oracle partitions SEED PORTS   the partitions.conf that belongs to it
 *   oracle ask SEED PORTS N [VALUES]
 *                                  N PathRecord Gets, a line for each answer
 *
 * PORTS is a file of lines "GUID LID NAME", of the end ports of CAs.  The same seed and ports give
 * the same text and the same queries.  Queries ask for what the made-up policy names; with VALUES, for
 * what the lines of that file name, "pkey N", "service-id N", "qos-class N" or "prefix N", for policies that
 * somebody else has made.  The policies use only features that both sides claim: no
 * undefined level, no P_Key without a partition, small ranges of GUIDs.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chance.h"
#include "lib/base/alloc.h"
#include "lib/base/bytes.h"
#include "lib/iba/iba.h"
#include "port.h"

#define WINDOW 32
#define TIMEOUT_MS 1000
#define RETRIES 5

struct port {
	uint64_t guid;
	uint16_t lid;
	char name[80];
};
static VEC(struct port) ports;

/* Values in rules, and their neighbours, from which queries are made. */
static VEC(uint64_t) service_ids, qos_classes, pkeys;
static uint64_t prefix = IB_DEFAULT_PREFIX;

static FILE *out;	/* the policy's text; NULL when only the values are wanted */

__attribute__((format(printf, 1, 2)))
static void say(const char *fmt, ...)
{
	va_list ap;

	if (!out)
		return;
	va_start(ap, fmt);
	vfprintf(out, fmt, ap);
	va_end(ap);
}

/* --- partitions --- */

/* all ports have 0x7fff; these P_Keys have members of their own. */
static const uint16_t partition_keys[] = { 0x0001, 0x1234, 0x7ffe };
static unsigned n_partitions;

static void make_partitions(void)
{
	n_partitions = (unsigned)rnd(ARRAY_SIZE(partition_keys) + 1);
	say("Default=0x7fff, ipoib : ALL=full;\n");
	for (unsigned i = 0; i < n_partitions; i++) {
		bool everybody = chance(30);

		say("part%u=0x%04x : ", i, partition_keys[i]);
		if (everybody)
			say("ALL=%s, ", chance(50) ? "limited" : "full");
		/* the first two ports are full members of all */
		for (size_t p = 0; p < ports.n; p++)
			if (p < 2 || chance(50))
				say("%s0x%016" PRIx64 "=%s", p ? ", " : "", ports.v[p].guid,
				    p < 2 || chance(60) ? "full" : "limited");
		say(";\n");
	}
	*vec_push(&pkeys) = IB_PKEY_DEFAULT;
	for (unsigned i = 0; i < n_partitions; i++)
		*vec_push(&pkeys) = partition_keys[i];
}

/* --- the policy --- */

static const struct port *some_port(void)
{
	return &ports.v[rnd(ports.n)];
}

static void make_group(unsigned n)
{
	static const char *const types[] = { "CA", "ALL", "SELF", "SWITCH", "ROUTER", "CA, SELF" };
	unsigned kinds = 1 + (unsigned)rnd(3);

	say("    port-group\n        name: group%u\n", n);
	for (unsigned k = 0; k < kinds; k++)
		switch (rnd(5)) {
		case 0:
			say("        node-type: %s\n", types[rnd(ARRAY_SIZE(types))]);
			break;
		case 1:
			/* OpenSM drops blanks that are not in quotes */
			say("        port-name: \"%s\"\n", some_port()->name);
			break;
		case 2:
			if (n_partitions && chance(50))
				say("        partition: part%u\n", (unsigned)rnd(n_partitions));
			else if (n_partitions)
				say("        pkey: 0x%04x\n", partition_keys[rnd(n_partitions)]);
			else
				say("        partition: Default\n");
			break;
		case 3: {
			uint64_t g = some_port()->guid;

			say("        port-guid: 0x%" PRIx64 "-0x%" PRIx64 "\n", g - rnd(20), g + rnd(20));
			break;
		}
		default:
			for (unsigned i = 0, m = 1 + (unsigned)rnd(6); i < m; i++)
				say("%s0x%" PRIx64 "%s", i ? ", " : "        port-guid: ",
				    some_port()->guid, i + 1 == m ? "\n" : "");
		}
	say("    end-port-group\n");
}

static void make_level(const char *name)
{
	static const unsigned rates[] = { 2, 3, 5, 6, 4, 7, 8, 9, 10 };

	say("    qos-level\n        name: %s\n        sl: %u\n", name, (unsigned)rnd(chance(90) ? 8 : 16));
	if (chance(30))
		say("        mtu-limit: %u\n", 1 + (unsigned)rnd(5));
	if (chance(30))
		say("        rate-limit: %u\n", rates[rnd(ARRAY_SIZE(rates))]);
	if (chance(30))
		say("        packet-life: %u\n", (unsigned)rnd(21));
	if (chance(15))
		say("        pkey: 0x%04" PRIx64 "\n", pkeys.v[rnd(pkeys.n)]);
	say("    end-qos-level\n");
}

/* A value or a range; queries use it and its neighbours. */
static void make_value(uint64_t v, uint64_t most)
{
	uint64_t end = chance(50) ? v : v + rnd(300);

	if (end > most)
		end = most;
	say("0x%" PRIx64, v);
	if (end > v)
		say("-0x%" PRIx64, end);
}

static uint64_t some_service_id(void)
{
	static const uint64_t bases[] = {
		0x10000, 0x10000 + 30000, 0x10600000 >> 4, 0x1060cbc, 0x10648ca, 0x10603db,
		22, 4719, 0x1000, 0x1000000000000001,
	};
	uint64_t v = bases[rnd(ARRAY_SIZE(bases))] + (chance(50) ? rnd(500) : 0);

	*vec_push(&service_ids) = v;
	*vec_push(&service_ids) = v + rnd(300);
	*vec_push(&service_ids) = v - 1;
	return v;
}

static uint64_t some_qos_class(void)
{
	uint64_t v = chance(80) ? rnd(16) : rnd(4096);

	*vec_push(&qos_classes) = v;
	*vec_push(&qos_classes) = v + 1 < 4096 ? v + 1 : 0;
	return v;
}

static void make_list(const char *key, uint64_t (*value)(void), uint64_t most)
{
	say("        %s: ", key);
	for (unsigned i = 0, n = 1 + (unsigned)rnd(3); i < n; i++) {
		if (i)
			say(", ");
		make_value(value(), most);
	}
	say("\n");
}

static void make_rule(unsigned n_groups, unsigned n_levels)
{
	unsigned criteria = 1 + (unsigned)rnd(31);

	say("    qos-match-rule\n");
	if (criteria & 1 && n_groups)
		say("        source: group%u\n", (unsigned)rnd(n_groups));
	if (criteria & 2 && n_groups)
		say("        destination: group%u%s\n", (unsigned)rnd(n_groups),
		    n_groups > 1 && chance(30) ? ", group0" : "");
	if (criteria & 4 && chance(60))
		make_list("service-id", some_service_id, UINT64_MAX);
	if (criteria & 8 && chance(60))
		make_list("qos-class", some_qos_class, 4095);
	if (criteria & 16 && chance(60))
		say("        pkey: 0x%04" PRIx64 "\n", pkeys.v[rnd(pkeys.n)]);
	if (rnd(n_levels + 1) == 0)
		say("        qos-level-name: DEFAULT\n");
	else
		say("        qos-level-name: level%u\n", (unsigned)rnd(n_levels));
	say("    end-qos-match-rule\n");
}

static void make_ulp(void)
{
	unsigned sl = (unsigned)rnd(8), port = chance(50) ? 3260 : (unsigned)rnd(65000);
	uint64_t guid = some_port()->guid;

	*vec_push(&service_ids) = 0x10000u + port;
	*vec_push(&service_ids) = 0x1060000u + port;
	*vec_push(&service_ids) = 0x1060cbc;
	*vec_push(&service_ids) = 0x10648ca;
	switch (rnd(12)) {
	case 0: say("    sdp : %u\n", sl); break;
	case 1: say("    sdp, port-num %u-%u : %u\n", port, port + 300, sl); break;
	case 2: say("    rds : %u\n", sl); break;
	case 3: say("    rds, port-num %u : %u\n", port, sl); break;
	case 4: say("    iser : %u\n", sl); break;
	case 5: say("    iser, port-num %u : %u\n", port, sl); break;
	case 6: say("    ipoib : %u\n", sl); break;
	case 7: say("    any, pkey 0x%04" PRIx64 " : %u\n", pkeys.v[rnd(pkeys.n)], sl); break;
	case 8: say("    srp, target-port-guid 0x%" PRIx64 " : %u\n", guid, sl); break;
	case 9: say("    any, target-port-guid 0x%" PRIx64 " : %u\n", guid, sl); break;
	case 10: say("    any, source-port-guid 0x%" PRIx64 " : %u\n", guid, sl); break;
	default:
		say("    any, service-id 0x%" PRIx64 " : %u\n", some_service_id(), sl);
	}
}

static void make_policy(void)
{
	unsigned n_groups = (unsigned)rnd(6), n_levels = 1 + (unsigned)rnd(6);
	unsigned n_rules = (unsigned)rnd(12), n_ulps = (unsigned)rnd(8);
	char name[16];

	if (n_groups) {
		say("port-groups\n");
		for (unsigned i = 0; i < n_groups; i++)
			make_group(i);
		say("end-port-groups\n");
	}
	say("qos-levels\n");
	make_level("DEFAULT");
	for (unsigned i = 0; i < n_levels; i++) {
		snprintf(name, sizeof(name), "level%u", i);
		make_level(name);
	}
	say("end-qos-levels\n");
	if (n_rules) {
		say("qos-match-rules\n");
		for (unsigned i = 0; i < n_rules; i++)
			make_rule(n_groups, n_levels);
		say("end-qos-match-rules\n");
	}
	if (n_ulps) {
		say("qos-ulps\n");
		for (unsigned i = 0; i < n_ulps; i++)
			make_ulp();
		say("end-qos-ulps\n");
	}
	if (!service_ids.n)
		*vec_push(&service_ids) = 22;
	if (!qos_classes.n)
		*vec_push(&qos_classes) = 3;
}

/* --- queries --- */

/* A query, and a word by which to find it. */
struct query {
	struct sa_path_record r;
	uint64_t mask;
	char text[256];
};

static void put_gid(uint8_t gid[16], uint64_t guid)
{
	put_be64(gid, prefix);
	put_be64(gid + 8, guid);
}

__attribute__((format(printf, 2, 3)))
static void note(struct query *q, const char *fmt, ...)
{
	size_t n = strlen(q->text);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(q->text + n, sizeof(q->text) - n, fmt, ap);
	va_end(ap);
}

static uint8_t select_code(struct query *q, const char *name, uint64_t bits, unsigned least, unsigned most)
{
	unsigned sel = (unsigned)rnd(4), code = least + (unsigned)rnd(most - least + 1);

	q->mask |= bits;
	note(q, " %s=%c%u", name, "><=~"[sel], code);
	return (uint8_t)(sel << 6 | code);
}

static void make_query(struct query *q)
{
	const struct port *src = some_port(), *dst = some_port();
	unsigned sl = 0, class = 0;

	memset(q, 0, sizeof(*q));
	if (chance(70)) {
		put_gid(q->r.sgid, src->guid);
		put_gid(q->r.dgid, dst->guid);
		q->mask |= PR_SGID | PR_DGID;
	} else {
		put_be16(q->r.slid, src->lid);
		put_be16(q->r.dlid, dst->lid);
		q->mask |= PR_SLID | PR_DLID;
	}
	note(q, "%u>%u", src->lid, dst->lid);
	q->r.num_path = 1;
	q->mask |= PR_NUMB_PATH;
	if (chance(50)) {
		uint64_t id = service_ids.v[rnd(service_ids.n)];

		put_be64(q->r.service_id, id);
		q->mask |= PR_SERVICE_ID_MSB | PR_SERVICE_ID_LSB;
		note(q, " service-id=0x%" PRIx64, id);
	}
	if (chance(40)) {
		class = (unsigned)qos_classes.v[rnd(qos_classes.n)];
		q->mask |= PR_QOS_CLASS;
		note(q, " qos-class=%u", class);
	}
	if (chance(15)) {
		sl = (unsigned)rnd(chance(80) ? 8 : 16);
		q->mask |= PR_SL;
		note(q, " sl=%u", sl);
	}
	put_be16(q->r.qos_class_sl, (uint16_t)(class << 4 | sl));
	if (chance(50)) {
		uint16_t pkey = (uint16_t)(chance(95) ? pkeys.v[rnd(pkeys.n)] : 1 + rnd(0x7ffe));

		if (chance(50))
			pkey |= IB_PKEY_FULL;
		put_be16(q->r.pkey, pkey);
		q->mask |= PR_PKEY;
		note(q, " pkey=0x%04x", pkey);
	}
	if (chance(15))
		q->r.mtu = select_code(q, "mtu", PR_MTU_SEL | PR_MTU, 1, 5);
	if (chance(15))
		q->r.rate = select_code(q, "rate", PR_RATE_SEL | PR_RATE, 2, 10);
	if (chance(15))
		q->r.life = select_code(q, "life", PR_LIFE_SEL | PR_LIFE, 0, 31);
	if (chance(30)) {
		q->r.num_path |= 0x80;
		q->mask |= PR_REVERSIBLE;
		note(q, " reversible");
	}
}

/* --- asking --- */

static struct own_port sa_port;

static void send_query(uint32_t i, const struct query *q)
{
	struct sa_mad m;

	sa_fill(&m, UMAD_METHOD_GET, UMAD_SA_ATTR_PATH_REC, i);
	m.sa.rmpp_hdr.rmpp_version = 1;
	m.sa.comp_mask = htobe64(q->mask);
	memcpy(m.sa.data, &q->r, sizeof(q->r));
	sa_send(&sa_port, &m, TIMEOUT_MS, RETRIES);
}

static char *answer_text(const uint8_t *mad)
{
	const struct sa_path_record *r = (const void *)(mad + SA_HDR_LEN);
	unsigned status = get_be16(mad + 4);

	if (status)
		return xasprintf("status=0x%04x", status);
	return xasprintf("sl=%u mtu=%u rate=%u life=%u pkey=0x%04x slid=%u dlid=%u reversible=%u",
			 get_be16(r->qos_class_sl) & 0xf, r->mtu & 0x3fu, r->rate & 0x3fu,
			 r->life & 0x3fu, get_be16(r->pkey), get_be16(r->slid), get_be16(r->dlid),
			 r->num_path >> 7);
}

static void ask(uint32_t n)
{
	struct query *queries = xcalloc(n, sizeof(*queries));
	char **answers = xcalloc(n, sizeof(*answers));
	uint32_t sent = 0, done = 0;

	own_port_open_sa(&sa_port, 0);
	for (uint32_t i = 0; i < n; i++)
		make_query(&queries[i]);
	while (done < n) {
		struct sa_mad m;

		for (; sent < n && sent - done < WINDOW; sent++)
			send_query(sent, &queries[sent]);
		if (sa_receive(&sa_port, &m, 2 * TIMEOUT_MS * (RETRIES + 1)) < 0)
			die("no answer");
		uint32_t i = (uint32_t)be64toh(m.sa.mad_hdr.tid);

		if (i >= n || answers[i])
			continue;
		answers[i] = umad_status(&m) ? xstrdup("none") : answer_text(m.bytes);
		done++;
	}
	for (uint32_t i = 0; i < n; i++)
		printf("%u %s -> %s\n", i, queries[i].text, answers[i]);
	for (uint32_t i = 0; i < n; i++)
		free(answers[i]);
	free(answers);
	free(queries);
}

/* --- the command line --- */

static void read_ports(const char *path)
{
	FILE *f = fopen(path, "r");
	struct port p;

	if (!f)
		die("%s: %m", path);
	while (fscanf(f, "%" SCNx64 " %" SCNu16 " %79[^\n]", &p.guid, &p.lid, p.name) == 3)
		*vec_push(&ports) = p;
	fclose(f);
	if (ports.n < 2)
		die("less than two ports");
}

/* Values in place of those that make_partitions() and make_policy() leave behind. */
static void read_values(const char *path)
{
	FILE *f = fopen(path, "r");
	char name[16], number[32];

	if (!f)
		die("%s: %m", path);
	while (fscanf(f, "%15s %31s", name, number) == 2) {
		uint64_t v = strtoull(number, NULL, 0);

		if (strcmp(name, "pkey") == 0)
			*vec_push(&pkeys) = v;
		else if (strcmp(name, "service-id") == 0)
			*vec_push(&service_ids) = v;
		else if (strcmp(name, "qos-class") == 0)
			*vec_push(&qos_classes) = v;
		else if (strcmp(name, "prefix") == 0)
			prefix = v;
		else
			die("%s: what is '%s'?", path, name);
	}
	fclose(f);
	if (!pkeys.n || !service_ids.n || !qos_classes.n)
		die("%s: a P_Key, a Service-ID and a QoS class are needed", path);
}

int main(int argc, char **argv)
{
	if (argc < 4)
		die("usage: oracle policy|partitions SEED PORTS | oracle ask SEED PORTS N [VALUES]");
	state = strtoull(argv[2], NULL, 0) << 32;
	read_ports(argv[3]);
	if (argc > 5) {
		read_values(argv[5]);
		ask((uint32_t)strtoul(argv[4], NULL, 0));
		return 0;
	}
	out = strcmp(argv[1], "partitions") == 0 ? stdout : NULL;
	make_partitions();
	out = strcmp(argv[1], "policy") == 0 ? stdout : NULL;
	make_policy();
	if (strcmp(argv[1], "ask") == 0)
		ask(argc > 4 ? (uint32_t)strtoul(argv[4], NULL, 0) : 1000);
	return 0;
}
