/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Builds small hand-made fabrics and policies.  Everything that is added gets the next line as its position. */
#ifndef TESTS_QOS_HELPER_H
#define TESTS_QOS_HELPER_H

#include "fabric/fabric.h"
#include "qos/policy.h"

/* Capabilities of the ports of nodes that are added from now on. */
struct port_caps {
	unsigned vl_cap;		/* code 1..5 */
	unsigned high_cap, low_cap;
	bool no_sl_map;
	bool enhanced_port0;
	unsigned mtu;			/* code; 0: 2048 */
};
extern struct port_caps caps;
#define CAPS_DEFAULT ((struct port_caps){ .vl_cap = 4, .high_cap = 8, .low_cap = 8 })

/* Port GUIDs are the node's + port number; all of a switch's are the node's. */
uint32_t add_node(struct fabric *f, enum ib_node_type type, unsigned nports, uint64_t guid,
		  const char *desc);
void add_link(struct fabric *f, uint32_t a, unsigned num_a, uint32_t b, unsigned num_b);
/* Finishes the fabric; the SM is on port 1 of node 0. */
void finish(struct fabric *f);
uint32_t port_at(const struct fabric *f, uint32_t node, unsigned num);

struct policy *new_policy(void);
/* The position of what was added last. */
struct src_pos last_pos(void);
struct policy_group *add_group(struct policy *p, const char *name);
struct policy_rule *add_rule(struct policy *p);
struct policy_partition *add_partition(struct policy *p, const char *name, uint16_t pkey);
/* Adds members by group or, if that is NULL, by GUIDs. */
void add_member(struct policy_partition *part, const char *group, uint64_t lo, uint64_t hi);
void add_range(struct u64_ranges *r, uint64_t lo, uint64_t hi);
void add_word(struct policy_names *names, const char *word);
/* Sets a list from "*" or numbers separated by blanks, "1 2 5". */
void set_ports(struct port_list *l, const char *numbers);
struct policy_sl2vl *add_sl2vl(struct policy *p, enum scope_kind kind, const char *group,
			       const struct sl2vl *table);
struct policy_vlarb *add_vlarb(struct policy *p, enum scope_kind kind, const char *group);
/* Adds a level with this name and SL, and a class of this level alone, without limit. */
struct policy_class *add_class(struct policy *p, const char *level, uint8_t sl, bool high,
			       int32_t share);
/* Sets entries from a text like "0:64 1:32". */
void set_entries(struct vlarb_entry *e, uint8_t *n, const char *text);

/* The finding with this severity and all these words in its text; NULL if there is none. */
const struct finding *find(const struct findings *f, enum severity severity, const char *word,
			   const char *word2);

/* The number of findings that are not about weights. */
size_t but_weights(const struct findings *all);

#endif
