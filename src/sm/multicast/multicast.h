/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Private to multicast forwarding (multicast*.c): its work, and who does which part.
 *
 *   multicast.c         when: gathers changes, runs the parts in turn, tries again
 *   multicast_trees.c   what is wanted: a tree for each MLID with members
 *   multicast_tables.c  MFT blocks: what is wanted of them, what devices hold, writing
 *
 * All of it is of the loop's thread but the callbacks of the tables' job (mad/mad.h),
 * which write what blocks hold: who reads that holds the port (mad_hold()).
 */
#ifndef QOSD_SM_MULTICAST_MULTICAST_H
#define QOSD_SM_MULTICAST_MULTICAST_H

#include "routing/multicast/mcast_tree.h"
#include "sa/registry/groups.h"
#include "sm/sm_internal.h"

#define MLIDS_MAX	IB_MLIDS
#define MFT_BLOCK_MASK	0x1ffu		/* of an AttributeModifier (14.2.5.12); the position is above */

enum pass { PASS_READ, PASS_CLEAR, PASS_SET, PASSES };

struct mft_switch {
	uint64_t guid;
	bool used_before;	/* it forwarded before we came: read all that it has */
	bool doubt;		/* while blocks are forgotten */
	bool back;		/* … of one that answers */
	uint32_t target;	/* of the pass, plus 1; 0: none */
};

struct mft_block {
	uint32_t sw;		/* in work.switches */
	uint16_t block;
	uint8_t position;
	bool known;		/* `is` is what the device holds */
	bool unsure;		/* … or `send`: what was Set had no answer */
	bool answered;		/* … or was when it was asked last */
	bool asked;		/* … as it is frozen, before trees are made */
	bool failed;		/* not to be tried again in this pass over the trees */
	bool silent;		/* … since there was no answer: later */
	bool listed;		/* in work.pending */
	bool frozen;		/* the switch refuses it for good: nothing is written to it … */
	bool probe;		/* … but for one Set of what it holds */
	uint8_t is[64], want[64], send[64];
};

struct target {			/* a device of a job */
	uint32_t sw;		/* among the switches of the state */
	VEC(uint32_t) todo;	/* blocks */
};

struct mlid_tree {
	struct mcast_tree *t;
	uint32_t root;		/* switch */
	bool legal;		/* as far as the root could be chosen for it */
	bool absent;		/* some of its members are not there, or can't be reached */
	bool before;		/* t is of the state before this one */
	bool outdated;		/* … and its members changed since */
	bool reserved;		/* not made yet in this state: root is what it had */
};

/* An MFT block that its switch refuses for good: it stays as it is. */
struct frozen_block {
	uint32_t sw;		/* among the switches of the state */
	uint16_t block;
};

/* Trees that go round the same switches. */
struct closed_forest {
	bool *closed;		/* [switch] */
	struct mcast_forest *forest;
};

struct forests {
	struct mcast_forest *open;	/* of trees over all switches that forward multicast */
	VEC(struct closed_forest) others;
};

struct mcast_work {
	struct sm *sm;

	/* multicast.c */
	struct timer *gather, *retry;
	int64_t retry_us;
	bool again;
	/* tables are not written before the groups are on disk, up to this mark */
	struct wake *on_disk;
	struct timer *patience;
	uint64_t mark;
	bool waiting;			/* all trees are made, and only the disk is missing */
	int64_t write_by_us;		/* … no longer than until then; 0: nobody waits */
	uint32_t sharing_seen;
	uint64_t refused_seen;

	/* multicast_trees.c: of a published state that is held */
	struct subnet_state *state;
	struct forests forests;
	unsigned mlids_least;		/* MLIDs from there on are beyond some switch's table */
	VEC(struct frozen_block) frozen;
	uint32_t *load;			/* [switch]: trees that hang from it */
	struct mlid_tree trees[MLIDS_MAX];
	bool stale_tree[MLIDS_MAX];	/* to be made anew */
	VEC(uint16_t) remake;		/* … those */
	uint32_t n_trees;
	uint32_t trees_made, trees_moved;	/* in this state: anew, and taken over from the one before */
	bool adopting;			/* … and not all of them are made since it was published */
	uint32_t sweep_made, sweep_moved;	/* when they were, of the last state */
	uint64_t all_made;		/* since the start */
	/* While trees of the state before are taken over; else NULL. */
	struct subnet_state *before;
	struct forests forests_before;
	struct mcast_move *move;

	/* multicast_tables.c */
	struct smp_job *job;
	enum pass pass;
	VEC(struct mft_switch) switches;
	struct map64 switch_by_guid;
	VEC(struct mft_block) blocks;
	struct map64 by_key;
	VEC(uint32_t) pending;		/* blocks that may differ from what is wanted */
	VEC(struct target) targets;
	bool stuck[MLIDS_MAX];		/* a removal was not taken */
	bool try_again;			/* what had no answer, when they are written next */
	/* A switch refuses a block for good now, or takes it again, or holds something else in it. */
	bool frozen_changed;
	bool reading_frozen;		/* the job reads such blocks, before any tree is made */
	uint32_t mlid_top;
};

/* multicast.c: all passes over the tables are over; all: nothing is without an answer. */
void multicast_written(struct mcast_work *w, bool all);

/* multicast_trees.c */
/* Another state is published: trees are made of it from now on. */
void trees_adopt_state(struct mcast_work *w, struct subnet_state *s);
/* Changes of membership: into trees, or these are to be made anew. */
void trees_take_changes(struct mcast_work *w);
/* What switches refuse is not what it was: the trees concerned are to be made anew. */
void trees_refused(struct mcast_work *w);
/* As long as others can wait; false: there is more. */
bool trees_remake_some(struct mcast_work *w);
void trees_free(struct mcast_work *w);

/* multicast_tables.c */
void tables_init(struct mcast_work *w);
/* Wants what changed of an MLID's tree. */
void tables_take_tree(struct mcast_work *w, uint16_t mlid);
/* Nothing is wanted of any block: the trees are made anew. */
void tables_want_nothing(struct mcast_work *w);
/* What is wanted of blocks stays; those that are to be read again are pending. */
void tables_keep_wanted(struct mcast_work *w);
/*
 * By what a switch forwards an MLID (index: from 0xc000 on) in blocks that it refuses: fixed: the ports
 * of those blocks; held: which of them have their bit set, none where nobody knows.
 */
void tables_held(const struct mcast_work *w, const struct fabric_node *n, unsigned index,
		 uint64_t held[4], uint64_t fixed[4]);
/* True: blocks that are refused are being read, which ends in sm_mcast_changed().  No job runs. */
bool tables_read_frozen(struct mcast_work *w);
/* Reads and writes what is pending; ends in multicast_written().  No job runs. */
void tables_write(struct mcast_work *w);
/* The fabric of the sweep that ends: forgets what its devices may not hold any more. */
void tables_observed(struct mcast_work *w);
void tables_free(struct mcast_work *w);

#endif
