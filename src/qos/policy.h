/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Holds the policy as the administrator wrote it (qosd-policy(5)), checked against no fabric.
 *
 * config/ fills it in and checks it for consistency; other code reads it, and nothing changes it after
 * loading.
 *
 * Every item keeps its place in the file, so that findings about a fabric can name file, line and column.
 */
#ifndef QOSD_QOS_POLICY_H
#define QOSD_QOS_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/findings.h"
#include "lib/iba/iba.h"

struct u64_range {
	uint64_t lo, hi;	/* both included */
	struct src_pos pos;
};
struct u64_ranges {
	struct u64_range *v;
	size_t n, cap;
};
static inline bool u64_ranges_have(const struct u64_ranges *r, uint64_t value)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->v[i].lo <= value && value <= r->v[i].hi)
			return true;
	return false;
}

/* A list of port numbers: `*`, values, ranges. */
struct port_list {
	bool all;		/* "*", or the key is missing */
	uint8_t bits[32];	/* bit n: port n (0..254) */
	struct src_pos pos;
	bool given;		/* the key was in the file */
};
static inline bool port_list_has(const struct port_list *l, unsigned num)
{
	return l->all || (l->bits[num >> 3] >> (num & 7) & 1);
}

struct policy_name {	/* a word of the file and its place */
	char *s;
	struct src_pos pos;
};
struct policy_names {
	struct policy_name *v;
	size_t n, cap;
};

/* NT_CA: channel adapters of hosts, without aggregation nodes. */
enum policy_node_type {
	NT_CA = 1, NT_SWITCH = 2, NT_ROUTER = 4, NT_AGGREGATION = 8, NT_ALL = 15, NT_SELF = 16,
};

/*
 * A group never contains itself, neither through groups nor through partitions (pkeys, partitions) whose
 * members are groups: that is an error at load.
 */
struct policy_group {
	char *name;
	struct src_pos pos;
	char *description;		/* NULL if none */
	struct u64_ranges port_guids;
	struct policy_names port_names;	/* "NodeDescription/Pn"; * and ? are wildcards */
	struct u64_ranges pkeys;	/* 15-bit */
	struct policy_names partitions;
	struct policy_names groups;	/* other groups */
	unsigned node_types;		/* enum policy_node_type, or-ed */
};

/*
 * Names that need no definition: "all", and no other, is a group of every end port.  "self" is not a
 * group, but may be a member of a partition.  No group may be named "self", or have a name that begins
 * with 0x.
 */

struct policy_level {
	char *name;
	struct src_pos pos;
	char *description;
	bool sl_given;			/* false: the SL plan of the traffic classes sets the SL */
	uint8_t sl;			/* 0..15; set in either case once the file is loaded */
	uint8_t mtu_limit;		/* MTU code, 0 = none */
	uint8_t rate_limit;		/* rate code, 0 = none */
	int16_t packet_lifetime;	/* IBA exponent 0..31, -1 = none */
	int16_t path_bits;		/* 0..127, -1 = none */
	int16_t tclass;			/* 0..255, -1 = none */
	struct u64_ranges pkeys;	/* 15-bit; empty = any */
	bool dynamic;			/* of dynamic partitions (policy_own_level()), not in the file */
};

/* What a dynamic partition has in place of its level's values. */
struct policy_own {
	bool has_sl;
	uint8_t sl;			/* 0..15 */
	uint8_t mtu_limit, rate_limit;	/* codes; 0: the level's */
};
static inline bool policy_own_any(const struct policy_own *own)
{
	return own->has_sl || own->mtu_limit || own->rate_limit;
}
static inline bool policy_own_same(const struct policy_own *a, const struct policy_own *b)
{
	return a->has_sl == b->has_sl && a->sl == b->sl && a->mtu_limit == b->mtu_limit &&
	       a->rate_limit == b->rate_limit;
}

enum policy_ulp {
	ULP_NONE, ULP_IPOIB, ULP_SDP, ULP_RDS, ULP_ISER, ULP_SRP,
	ULP_NFS_RDMA, ULP_NVME_OF, ULP_LUSTRE, ULP_SMB_DIRECT, ULP_COUNT
};

/*
 * A match rule: all given criteria must hold (AND), each list is an OR.  A criterion on a field that the
 * query lacks fails.  config/ turns `ulp`, `tcp-port` and `target-guid` into service_ids, pkeys and
 * dest_guids; the words stay for printing.
 */
struct policy_rule {
	struct src_pos pos;
	char *description;
	struct policy_names sources, destinations, either;	/* group names */
	struct u64_ranges service_ids;
	struct u64_ranges qos_classes;		/* 0..4095 */
	struct u64_ranges tclasses;		/* 0..255 */
	struct u64_ranges pkeys;		/* 15-bit */
	bool all_ipoib;				/* pkeys are those of all partitions with IPoIB */
	struct u64_ranges sls;			/* 0..15 */
	struct u64_ranges dest_guids;		/* port GUIDs */
	enum policy_ulp ulp;
	struct u64_ranges tcp_ports;		/* as in the file */
	struct policy_name level_name;
	uint32_t level;				/* index into levels */
};

/*
 * Membership of a port in a partition; MEMBER_BOTH: it holds the full and the limited P_Key (OpenSM's
 * "both").
 */
enum membership { MEMBER_NONE, MEMBER_LIMITED, MEMBER_FULL, MEMBER_BOTH };

/*
 * One line of `members`: a group, or ports by GUID; no two lines have the same subject.  Lines added at
 * run time (sa/registry/dynamic_partitions.h) may also name ports or types of node; they have no place in
 * the file.
 */
struct policy_member {
	struct src_pos pos;
	/* group name, "all" or "self"; s NULL if the member is given otherwise */
	struct policy_name group;
	char *port_name;		/* "NodeDescription/Pn" with globs, or NULL */
	unsigned node_types;		/* enum policy_node_type, or 0 */
	struct u64_range guids;		/* port GUIDs, if the member is given by none of these */
	enum membership membership;
	bool index0;			/* the P_Key comes first in the ports' tables; dynamic members only */
	bool dynamic;
};

/* A multicast group that exists without members, too. */
struct policy_mcast_group {
	uint8_t mgid[16];
	struct src_pos pos;
	struct policy_name level;	/* "" = the level of the partition's IPoIB group */
	uint32_t level_index;
	uint32_t qkey;			/* 0: IPOIB_QKEY for an IPoIB MGID */
	uint32_t flow_label;		/* 20 bits */
};

struct policy_partition {
	char *name;
	struct src_pos pos;
	char *description;		/* NULL if none */
	uint16_t pkey;			/* 15-bit, 1..0x7fff */
	struct policy_member *members;	/* if several name a port, the last one holds */
	size_t n_members;
	struct policy_name level;	/* for queries that no rule matches; "" = default level */
	uint32_t level_index;
	bool ipoib;			/* it has an IPoIB broadcast group */
	struct policy_name ipoib_level;	/* "" = the partition's level */
	uint32_t ipoib_level_index;
	uint16_t ipoib_scopes;		/* bit n: a broadcast group of scope n; 0: link-local only */
	uint32_t ipoib_qkey;		/* 0: IPOIB_QKEY */
	uint32_t ipoib_flow_label;
	struct policy_mcast_group *groups;	/* others than the broadcast groups; no two have one MGID */
	size_t n_groups;
	bool dynamic;			/* added at run time, not in the file */
	struct policy_own own;		/* applied already: level_index is a level with these values */
};

/* A traffic class (T-classes, B3): what some levels are to get of every link. */
struct policy_class {
	struct src_pos pos;
	struct policy_names level_names;	/* at least one */
	uint32_t *levels;		/* indexes of those levels */
	bool high;			/* priority: high */
	int32_t share;			/* 1/100 per cent, -1 = not given */
	int16_t high_limit;		/* 0..255, -1 = not given */
};

enum scope_kind { SCOPE_GROUP, SCOPE_ACROSS };

struct policy_sl2vl {
	struct src_pos pos;
	enum scope_kind kind;
	struct policy_name group;
	struct port_list from, to;
	struct src_pos table_pos;
	struct sl2vl table;
};

struct policy_vlarb {
	struct src_pos pos;
	enum scope_kind kind;
	struct policy_name group;
	struct port_list to;
	bool has_high, has_low;
	int16_t high_limit;		/* 0..255, -1 = not given */
	struct src_pos high_pos, low_pos;
	struct vlarb arb;
};

/* Classes of port that have defaults (T5); fabric-setup: defaults in the file. */
enum port_class { CLASS_CA, CLASS_ROUTER, CLASS_SWITCH_PORT0, CLASS_SWITCH, PORT_CLASS_COUNT };

struct policy_class_default {
	bool given;
	struct src_pos pos;
	bool has_sl2vl, has_high, has_low;
	struct src_pos sl2vl_pos, high_pos, low_pos;
	struct sl2vl sl2vl;
	struct vlarb arb;
	int16_t high_limit;		/* -1 = not given */
	uint8_t max_vls;		/* 1..15, 0 = not given */
};

enum unsupported_vl { UNSUPPORTED_VL_DROP, UNSUPPORTED_VL_FOLD };

struct policy {
	char *file;			/* as named on the command line; "(built-in)" if there is none */
	uint64_t checksum;		/* of the file's bytes */
	bool says_nothing;		/* the file is empty except for comments */
	bool ends_marked;		/* its last line is "...", YAML's end of a document */
	struct policy_group *groups;
	size_t n_groups;
	struct policy_level *levels;
	size_t n_levels;
	uint32_t default_level;		/* index; always valid */
	struct policy_rule *rules;
	size_t n_rules;
	struct policy_partition *partitions;	/* [0] is always the default partition (0x7fff) */
	size_t n_partitions;
	bool has_fabric_setup;
	enum unsupported_vl unsupported_vl;
	struct policy_class_default defaults[PORT_CLASS_COUNT];
	struct policy_sl2vl *sl2vl;
	size_t n_sl2vl;
	struct policy_vlarb *vlarb;
	size_t n_vlarb;
	/*
	 * traffic-classes.  They apply to every port except those of the groups in classes_except, to
	 * which fabric-setup may apply.
	 */
	struct policy_class *classes;
	size_t n_classes;
	struct policy_names classes_except;	/* group names */
	/* Class for SLs of no class: that of the level `default`, else the last low one, else the last. */
	uint32_t fallback_class;
	uint8_t class_of_sl[IB_SL_COUNT];	/* index into classes; set if there are any */
};

/* The policy without a policy file: one level `default`, SL 0; no tables. */
struct policy *policy_builtin(void);
/*
 * Adds what every policy has implicitly: the level `default` (SL 0) and the partition `Default` (0x7fff)
 * with its IPoIB group, each only if the policy has none.  Sets default_level and moves the default
 * partition to [0].
 */
void policy_add_implied(struct policy *p);
/* Adds the member `all: full`, which the default partition has unless the file says otherwise. */
void policy_add_everybody(struct policy_partition *part);
void policy_free(struct policy *p);	/* NULL is fine */
/*
 * Returns a policy like base with its own copy of the partitions and room for `more` of them.  It shares
 * everything else with base, which must outlive it.  Call policy_overlay_done() when the partitions are
 * complete: it updates `ulp: ipoib` rules.
 */
struct policy *policy_overlay(const struct policy *base, size_t more);
void policy_overlay_done(struct policy *p, const struct policy *base);
void policy_overlay_free(struct policy *p, const struct policy *base);
/*
 * The level of an overlay that is like `level`, one of base, but has own values; the overlay gets it if
 * it has none yet.  It follows base's levels and is named after level and values: "gold,sl=3,mtu=2048".
 * UINT32_MAX: the overlay has POLICY_OWN_LEVELS of them already.
 */
#define POLICY_OWN_LEVELS	256
uint32_t policy_own_level(struct policy *p, const struct policy *base, uint32_t level,
			  const struct policy_own *own);
/* The scopes of a partition's IPoIB broadcast groups, bit n for scope n; 0 without IPoIB. */
uint16_t policy_ipoib_scopes(const struct policy_partition *part);
/* The P_Keys of all partitions with IPoIB, in as few ranges as possible; without positions. */
struct u64_ranges policy_ipoib_pkeys(const struct policy *p);
void policy_member_free(struct policy_member *m);	/* frees what it points to, not m */
/* The file name that findings give for items added at run time. */
#define POLICY_DYNAMIC "(dynamic partitions)"
static inline const char *policy_file_of(const struct policy *p, bool dynamic)
{
	return dynamic ? POLICY_DYNAMIC : p->file;
}
static inline const char *policy_level_file(const struct policy *p, const struct policy_level *l)
{
	return policy_file_of(p, l->dynamic);
}
/* Returns the index, or UINT32_MAX. */
uint32_t policy_find_group(const struct policy *p, const char *name);
uint32_t policy_find_level(const struct policy *p, const char *name);
const char *policy_ulp_name(enum policy_ulp ulp);
enum policy_ulp policy_ulp_parse(const char *word);	/* ULP_NONE if unknown */
/* "ca", "router", "switch-port-0", "switch" */
const char *policy_class_name(enum port_class c);

/*
 * Whether qosd writes SL2VL and VLArb tables at all: if the policy has fabric-setup or traffic classes, or
 * any level uses an SL other than 0.  Otherwise the devices' power-on tables stay, and qosd offers only SL
 * 0.
 */
bool policy_manages_tables(const struct policy *p);

#endif
