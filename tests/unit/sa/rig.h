/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Runs an SA on a small subnet, for tests: three switches in a row, hosts at both
 * ends, and requests made byte by byte.
 *
 *	h1, h2 -- leaf1 == spine -- leaf2 -- h3, h4
 *
 * The SM is on h1.  All links are 4xQDR (40 Gb/s) with MTU 2048, but for those
 * of h3 (10 Gb/s) and h4 (2.5 Gb/s, MTU 1024).  leaf1 has an enhanced port 0.
 */
#ifndef TEST_SA_RIG_H
#define TEST_SA_RIG_H

#include "lib/base/bytes.h"
#include "lib/iba/sa_records.h"
#include "sa/registry/alias.h"
#include "sa/registry/groups.h"
#include "sa/registry/holdings.h"
#include "sa/registry/services.h"
#include "sa/registry/subscriptions.h"
#include "sa/sa.h"

enum host { H1, H2, H3, H4, N_HOSTS };
#define HOST_GUID(i)	(0x0002c90300000011ULL + 0x10 * (uint64_t)(i))	/* port 1 */
#define SWITCH_GUID(i)	(0x0002c90200000010ULL + 0x10 * (uint64_t)(i))
#define PREFIX		0xfe80000000000000ULL
#define SM_KEY		0x1122334455667788ULL

struct rig {
	struct fabric *f;
	struct settings *settings;
	struct policy *policy;		/* change it before rig_start() */
	struct subnet_state *state;
	struct sa sa;
	struct buf out;
	unsigned changes;		/* calls of the multicast hook */

	/* the request */
	uint8_t mad[2048];
	size_t len;
	uint16_t slid;
	uint32_t qpn;
	int64_t arrived_us;
};

/* Makes fabric, settings and policy (the built-in one), which the test may change. */
void rig_init(struct rig *r);
/* Computes the plan and publishes it; a second call includes changes made meanwhile. */
void rig_start(struct rig *r);
void rig_end(struct rig *r);

uint32_t rig_host(const struct rig *r, enum host h);	/* port index */
uint16_t rig_lid(const struct rig *r, enum host h);	/* base LID */
void rig_gid(uint64_t guid, uint8_t gid[16]);

/* Add a level, or a rule that leads to one; the caller fills in the rest. */
struct policy_level *rig_level(struct rig *r, const char *name, uint8_t sl);
struct policy_rule *rig_rule(struct rig *r, const char *level);
/* Add a partition without members, and members; who = N_HOSTS: all hosts. */
struct policy_partition *rig_partition(struct rig *r, uint16_t pkey);
void rig_member(struct policy_partition *part, enum host who, enum membership m);
void rig_range(struct u64_ranges *ranges, uint64_t lo, uint64_t hi);

/* Makes a request of 256 bytes from h1; returns its data, zeroed. */
void *rig_request(struct rig *r, uint8_t method, uint16_t attr, uint64_t mask);
void rig_set_mask(struct rig *r, uint64_t mask);
/* Sends a request; the answer is in r->out.  Returns false if there is none. */
bool rig_answer(struct rig *r, const struct sa_request *req);
/* Sends the request and returns the status of the answer, which must come. */
unsigned rig_ask(struct rig *r);
/* Returns the number of records in the answer; checks AttributeOffset and length. */
unsigned rig_records(const struct rig *r, size_t size);
const void *rig_record(const struct rig *r, unsigned i);

#endif
