/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The policy that the readers of this folder fill and the writer writes.  Its items know their
 * place in the source, and carry notes.
 *
 * Names are spelled as in the source until resolve() has given every item a name that qosd accepts,
 * and has put it into every reference.  struct converted owns all text.
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

struct notes { const char **v; size_t n, cap; };	/* comments on an item */

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
	const char *name, *description;		/* NULL: none */
	struct ranges guids, pkeys;
	struct words port_names, partitions;
	unsigned node_types;
	bool dropped;				/* write only its notes */
};

struct out_level {
	struct place at;
	struct notes notes;
	const char *name, *description;
	int sl, mtu, rate, lifetime, tclass;	/* IBA's codes; -1: none */
	struct ranges path_bits;
	struct ranges pkeys;
	bool dropped;
};

struct out_rule {
	struct place at;
	struct notes notes;
	const char *description;
	const char *ulp;			/* NULL: none */
	struct words source, destination, either;
	struct ranges service_ids, qos_classes, tclasses, pkeys, sls, target_guids, tcp_ports;
	struct word level;			/* s NULL: use simple_sl */
	int simple_sl;				/* -1: none */
};
struct out_rules { struct out_rule *v; size_t n, cap; };

/* VL arbitration entries; vl 0..14, weight 0..255. */
struct arb_entry { uint8_t vl, weight; };
struct arb { struct arb_entry *v; size_t n, cap; bool given; };

struct sl2vl_table { uint8_t vl[16]; bool given; };

/* A scope of the source, written as one entry for each of its groups. */
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
	struct place at;			/* of the first option for the class */
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
	unsigned node_type;			/* of MEMBER_OF_GROUP */
	const char *group;			/* name of the group, after resolve() */
	uint64_t guid;
	enum out_membership membership;
};

struct out_mgroup {
	struct place at;
	uint8_t mgid[16];
	int sl, mtu, rate, tclass;		/* tclass -1: none */
	bool own_sl;				/* its line names the SL */
	uint32_t qkey, flow_label;
	const char *level;			/* name, after resolve() */
};
struct out_mgroups { struct out_mgroup *v; size_t n, cap; };

struct out_partition {
	struct place at;
	struct notes notes;
	const char *name;
	uint16_t pkey;
	struct { struct out_member *v; size_t n, cap; } members;
	int sl;					/* for its path queries */
	struct out_mgroups groups;		/* no two with one MGID, also in other partitions */
	const char *level;			/* name, after resolve(); NULL: none */
};

struct converted {
	struct verdicts found;
	struct { char **v; size_t n, cap; } texts;
	struct { struct out_group *v; size_t n, cap; } groups;
	struct { struct out_level *v; size_t n, cap; } levels;
	struct out_rules rules, ulp_rules;	/* ulp_rules follow rules in the policy */
	struct out_scopes sl2vl, vlarb;
	bool has_defaults;			/* from qos_* options */
	struct out_default defaults[OUT_CLASSES];
	struct { struct out_partition *v; size_t n, cap; } partitions;
	struct { struct word *v; size_t n, cap; } settings;	/* lines for qosd.yaml */

	struct { const char **v; size_t n, cap; } sources;	/* names of the policies that were read */
	bool has_policy, has_partitions, has_options, has_xml;
	bool setup_said;			/* a finding said that OpenSM ignores qos-setup */
	struct convert_options options;
	const char *names[FORMATS];		/* of the inputs, by format; NULL: none */
	int qos;				/* the option `qos`; -1: not given */
	int data_vls;				/* that max_op_vls leaves: 1 to 15 */
	struct word sm_sl;			/* the option; s NULL: not given */
	int allow_both;				/* allow_both_pkeys; -1: not given */
	struct word default_sl;			/* of qos-ulps; s NULL: none */
	int default_sl_value;
};

void converted_init(struct converted *c);
void converted_free(struct converted *c);

/* True if OpenSM ignores its QoS options, the policy, and the SLs of partitions. */
bool qos_is_off(const struct converted *c);

/* --- text --- */

/* Copies text; c owns the copy. */
const char *keep(struct converted *c, const char *s, size_t n);
const char *keepf(struct converted *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Adds a verdict on a place of the input and, unless `notes` is NULL or the verdict is "same", a
 * comment on the item.
 */
void verdict(struct converted *c, struct notes *notes, enum verdict v, struct place at,
	     const char *fmt, ...) __attribute__((format(printf, 5, 6)));
#define say_error(c, at, ...) verdict(c, NULL, VERDICT_ERROR, at, __VA_ARGS__)
/* Adds only a comment on the item. */
void remark(struct converted *c, struct notes *notes, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* A word for a message: truncated, without control characters. */
struct shown { char s[68]; };
const char *show(struct shown *out, const char *s, size_t n);
#define SHOW(s) show(&(struct shown){ "" }, s, strlen(s))

/* Adds a line for qosd.yaml that comes from a place of the input. */
void add_setting(struct converted *c, const char *line, struct place at);

/* --- new items, all fields set to "none" --- */
struct out_level *add_level(struct converted *c, struct place at);
struct out_rule *add_rule(struct out_rules *rules, struct place at);
struct out_scope *add_scope(struct out_scopes *scopes, struct place at);
struct out_group *add_group(struct converted *c, struct place at);

void add_range(struct ranges *r, uint64_t lo, uint64_t hi);
void add_word(struct words *w, const char *s, struct place at);

/* --- readers: each reads one input, and reports errors as findings --- */
void read_policy(struct converted *c, const struct convert_input *in);
void read_xml(struct converted *c, const struct convert_input *in);
void read_options(struct converted *c, const struct convert_input *in);
void read_partitions(struct converted *c, const struct convert_input *in);
void read_prefix_routes(struct converted *c, const struct convert_input *in);

/* --- called after all readers --- */
void resolve(struct converted *c);
/*
 * The SLs, as bits, that the tables treat otherwise than each SL in `named` and than each lower SL
 * in the result.
 */
uint16_t sls_apart(const struct converted *c, uint16_t named);
void write_policy(const struct converted *c, const struct convert_input *in, size_t n,
		  struct buf *yaml);
/* Writes qosd.yaml. */
void write_settings(const struct converted *c, const struct convert_input *in, size_t n,
		    struct buf *yaml);

#endif
