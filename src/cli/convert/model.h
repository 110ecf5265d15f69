/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the readers of this layer fill, and the writer writes: a policy whose
 * items know where they come from and carry notes.
 *
 * Names are as they were written until resolve() has given every item a
 * name that qosd takes and has put it into every reference.  All text is owned
 * by struct converted and lives as long as it.
 */
#ifndef QOSD_CLI_CONVERT_MODEL_H
#define QOSD_CLI_CONVERT_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/convert/convert.h"
#include "lib/base/alloc.h"
#include "lib/base/findings.h"

/* A place in an input; inputs outlive all places. */
struct place {
	const char *file;
	struct src_pos pos;
};

struct notes { const char **v; size_t n, cap; };	/* comments at an item */

struct range { uint64_t lo, hi; };
struct ranges { struct range *v; size_t n, cap; };

struct word {
	const char *s;
	struct place at;
};
struct words { struct word *v; size_t n, cap; };

#define NODE_CA		1u
#define NODE_SWITCH	2u
#define NODE_ROUTER	4u
#define NODE_SELF	8u

struct out_group {
	struct place at;
	struct notes notes;
	const char *name, *description;		/* NULL if none */
	struct ranges guids, pkeys;
	struct words port_names, partitions;
	unsigned node_types;
	bool dropped;				/* only its notes are written */
};

struct out_level {
	struct place at;
	struct notes notes;
	const char *name, *description;
	int sl, mtu, rate, lifetime, tclass;	/* codes as IBA has them; -1: none */
	struct ranges path_bits;
	struct ranges pkeys;
	bool dropped;
};

struct out_rule {
	struct place at;
	struct notes notes;
	const char *description;
	const char *ulp;			/* NULL if none */
	struct words source, destination, either;
	struct ranges service_ids, qos_classes, tclasses, pkeys, target_guids, tcp_ports;
	struct word level;			/* s is NULL: simple_sl says it */
	int simple_sl;				/* -1: none */
};
struct out_rules { struct out_rule *v; size_t n, cap; };

/* Arbitration entries; vl 0..14, weight 0..255. */
struct arb_entry { uint8_t vl, weight; };
struct arb { struct arb_entry *v; size_t n, cap; bool given; };

struct sl2vl_table { uint8_t vl[16]; bool given; };

/* A scope of the source: an entry for each of its groups. */
struct out_scope {
	struct place at;
	struct notes notes;
	const char *description;
	struct words groups, across, across_to, across_from;
	bool from_all, to_all;
	struct ranges from, to;
	struct sl2vl_table table;
	struct arb high, low;
	int high_limit;				/* -1: none */
};
struct out_scopes { struct out_scope *v; size_t n, cap; };

/* In the order of class_names in write_yaml.c. */
enum out_class { OUT_ALL, OUT_CA, OUT_SWITCH0, OUT_SWITCH, OUT_ROUTER, OUT_CLASSES };

struct out_default {
	struct place at;			/* of the first option of the class */
	struct notes notes;
	bool given;
	struct sl2vl_table table;
	struct arb high, low;
	int high_limit;				/* -1: none */
};

enum out_membership { OUT_LIMITED, OUT_FULL, OUT_BOTH };

enum out_member_kind { MEMBER_OF_GROUP, MEMBER_ALL, MEMBER_SELF, MEMBER_GUID };

struct out_member {
	struct place at;
	enum out_member_kind kind;
	unsigned node_type;			/* of a MEMBER_OF_GROUP */
	const char *group;			/* its name, once resolved */
	uint64_t guid;
	enum out_membership membership;
};

struct out_partition {
	struct place at;
	struct notes notes;
	const char *name;
	uint16_t pkey;
	struct { struct out_member *v; size_t n, cap; } members;
	bool ipoib;
	int sl;					/* of its queries */
	int group_sl, mtu, rate, tclass;	/* of its broadcast group */
	const char *level, *ipoib_level;	/* names, once resolved; NULL: none */
};

struct converted {
	struct findings found;
	bool failed;			/* an error was said, whether or not it was kept */
	struct { char **v; size_t n, cap; } texts;
	struct { struct out_group *v; size_t n, cap; } groups;
	struct { struct out_level *v; size_t n, cap; } levels;
	struct out_rules rules, ulp_rules;	/* in this order in the policy */
	struct out_scopes sl2vl, vlarb;
	bool has_defaults;			/* of the qos_* options */
	struct out_default defaults[OUT_CLASSES];
	struct { struct out_partition *v; size_t n, cap; } partitions;
	struct { const char **v; size_t n, cap; } settings;	/* lines for qosd.yaml */

	struct { const char **v; size_t n, cap; } sources;	/* names of the policies read */
	bool has_policy, has_partitions, has_options, has_xml;
	bool setup_said;			/* that OpenSM applies no qos-setup */
	int qos;				/* the option: -1 not given */
	int allow_both;				/* allow_both_pkeys: -1 not given */
	struct word default_sl;			/* of qos-ulps; s is NULL if there is none */
	int default_sl_value;
};

void converted_init(struct converted *c);
void converted_free(struct converted *c);

/* --- text --- */

/* A copy that c owns. */
const char *keep(struct converted *c, const char *s, size_t n);
const char *keepf(struct converted *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Says something about the input: a finding, and unless `notes` is NULL a
 * comment where the item will be.
 */
void say(struct converted *c, struct notes *notes, enum severity severity, struct place at,
	 const char *fmt, ...) __attribute__((format(printf, 5, 6)));
#define say_error(c, at, ...) say(c, NULL, SEV_ERROR, at, __VA_ARGS__)
/* The same without a finding: only where the item will be. */
void remark(struct converted *c, struct notes *notes, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* A word for a message: cut, and without control characters. */
struct shown { char s[68]; };
const char *show(struct shown *out, const char *s, size_t n);
#define SHOW(s) show(&(struct shown){ "" }, s, strlen(s))

/* --- items, with everything set to "none" --- */
struct out_level *add_level(struct converted *c, struct place at);
struct out_rule *add_rule(struct out_rules *rules, struct place at);
struct out_scope *add_scope(struct out_scopes *scopes, struct place at);
struct out_group *add_group(struct converted *c, struct place at);

void add_range(struct ranges *r, uint64_t lo, uint64_t hi);
void add_word(struct words *w, const char *s, struct place at);

/* --- readers: each takes one input; errors are said --- */
void read_policy(struct converted *c, const struct convert_input *in);
void read_xml(struct converted *c, const struct convert_input *in);
void read_options(struct converted *c, const struct convert_input *in);
void read_partitions(struct converted *c, const struct convert_input *in);
void read_prefix_routes(struct converted *c, const struct convert_input *in);

/* --- after all of them --- */
void resolve(struct converted *c);
void write_policy(const struct converted *c, const struct convert_input *in, size_t n,
		  struct buf *yaml);

#endif
