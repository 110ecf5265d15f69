/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Keeps multicast trees and forwarding tables up to date with group membership (private to
 * multicast*.c).
 *
 *   multicast.c         when: gathers changes, runs the parts in turn, retries
 *   multicast_trees.c   trees: one for each MLID with members
 *   multicast_tables.c  MFT blocks: computes them, knows what devices hold, writes them
 *
 * Everything belongs to the loop's thread, except the callbacks of the tables' job (mad/mad.h),
 * which write the known contents of blocks.  Readers of those hold the port (mad_hold()).
 */
#ifndef QOSD_SM_MULTICAST_MULTICAST_H
#define QOSD_SM_MULTICAST_MULTICAST_H

#include "routing/multicast/mcast_tree.h"
#include "sa/registry/groups.h"
#include "sm/sm_internal.h"

#define MLIDS_MAX	IB_MLIDS
/* block number in an AttributeModifier (14.2.5.12); the position is above it */
#define MFT_BLOCK_MASK	0x1ffu

enum pass { PASS_READ, PASS_CLEAR, PASS_SET, PASSES };

struct mft_switch {
	uint64_t guid;
	bool used_before;	/* it forwarded multicast before we came: all its blocks must be read */
	bool doubt;		/* scratch, while blocks are forgotten: the switch's blocks are in doubt */
	bool back;		/* scratch: the doubt is about a switch that answers again */
	uint32_t target;	/* its index in the targets of this pass, plus 1; 0: not a target */
};

struct mft_block {
	uint32_t sw;		/* index in work.switches */
	uint16_t block;
	uint8_t position;
	bool known;		/* `is` is what the device holds */
	bool unsure;		/* the device holds `is` or `send`: a Set had no answer */
	bool answered;		/* the device answered the last time it was asked for the block */
	bool asked;		/* already read as a frozen block, before trees are made */
	bool failed;		/* not to be tried again in this pass over the trees */
	bool silent;		/* failed for want of an answer: retried later */
	bool listed;		/* in work.pending */
	bool frozen;		/* the switch refuses it for good: nothing is written to it, */
	bool probe;		/* except for one Set of what it holds, as a trial */
	uint8_t is[64], want[64], send[64];
};

struct target {			/* a device of a job */
	uint32_t sw;		/* index among the switches of the state */
	VEC(uint32_t) todo;	/* blocks to read or write */
};

struct mlid_tree {
	struct mcast_tree *t;
	uint32_t root;		/* index of the switch */
	bool legal;		/* the tree goes up, then down, as far as the choice of the root allowed */
	bool absent;		/* some members are missing or unreachable */
	bool before;		/* t belongs to the previous state */
	bool outdated;		/* t belongs to the previous state, and its members changed since */
	bool reserved;		/* not made yet in this state: root is the previous one's */
};

/* An MFT block that its switch refuses for good: its contents stay. */
struct frozen_block {
	uint32_t sw;		/* index among the switches of the state */
	uint16_t block;
};

/* Trees that avoid the same switches. */
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
	/* Tables are written only after the groups up to this mark are on disk. */
	struct wake *on_disk;
	struct timer *patience;
	uint64_t mark;
	bool waiting;			/* all trees are made; only the disk is awaited */
	int64_t write_by_us;		/* when to stop waiting for the disk; 0: not waiting */
	uint32_t sharing_seen;
	uint64_t refused_seen;

	/* multicast_trees.c: trees of a published state, to which work has a reference */
	struct subnet_state *state;
	struct forests forests;
	unsigned mlids_least;		/* the first MLID that is beyond some switch's table */
	VEC(struct frozen_block) frozen;
	uint32_t *load;			/* [switch]: number of trees rooted there */
	struct mlid_tree trees[MLIDS_MAX];
	bool stale_tree[MLIDS_MAX];	/* trees that must be made anew */
	VEC(uint16_t) remake;		/* MLIDs of those */
	uint32_t n_trees;
	uint32_t trees_made, trees_moved;	/* in this state: made anew, and taken over */
	bool adopting;			/* not all trees have been made since the state was published */
	uint32_t sweep_made, sweep_moved;	/* both for the last state that is complete */
	uint64_t all_made;		/* since the start */
	/* Used while trees of the previous state are taken over; else NULL. */
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
	VEC(uint32_t) pending;		/* blocks whose contents may differ from the planned ones */
	VEC(struct target) targets;
	bool stuck[MLIDS_MAX];		/* a Set that removes entries failed */
	bool try_again;			/* the next write retries blocks that had no answer */
	/* A switch began or ceased to refuse a block for good, or holds something else in such a block. */
	bool frozen_changed;
	bool reading_frozen;		/* the job reads frozen blocks, before any tree is made */
	uint32_t mlid_top;
};

/* multicast.c: all passes over the tables are over; all: every block had an answer. */
void multicast_written(struct mcast_work *w, bool all);

/* multicast_trees.c */
/* Adopts a newly published state: trees are made of it from now on. */
void trees_adopt_state(struct mcast_work *w, struct subnet_state *s);
/* Takes changes of membership: updates trees, or marks them to be made anew. */
void trees_take_changes(struct mcast_work *w);
/* Switches refuse other blocks than before: marks the affected trees to be made anew. */
void trees_refused(struct mcast_work *w);
/* Makes trees for as long as others can wait; false: some are left. */
bool trees_remake_some(struct mcast_work *w);
void trees_free(struct mcast_work *w);

/* multicast_tables.c */
void tables_init(struct mcast_work *w);
/* Updates the planned blocks from the changed tree of an MLID. */
void tables_take_tree(struct mcast_work *w, uint16_t mlid);
/* Empties all planned blocks, as the trees are made anew. */
void tables_want_nothing(struct mcast_work *w);
/* Keeps the planned blocks, and queues those that must be read again. */
void tables_keep_wanted(struct mcast_work *w);
/*
 * How a switch forwards an MLID (index: from 0xc000 on) in blocks that it refuses.  fixed: the
 * ports that those blocks cover; held: those of them whose bit is set; none where the contents are
 * unknown.
 */
void tables_held(const struct mcast_work *w, const struct fabric_node *n, unsigned index,
		 uint64_t held[4], uint64_t fixed[4]);
/*
 * True: refused blocks are being read, after which sm_mcast_changed() is called.  No job may be
 * running.
 */
bool tables_read_frozen(struct mcast_work *w);
/* Reads and writes pending blocks, then calls multicast_written().  No job may be running. */
void tables_write(struct mcast_work *w);
/* At the end of a sweep: forgets the known contents of blocks that its fabric puts in doubt. */
void tables_observed(struct mcast_work *w);
void tables_free(struct mcast_work *w);

#endif
