/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Replies that follow what happens: who is to be told that there is more. */
#ifndef QOSD_CTL_FOLLOW_H
#define QOSD_CTL_FOLLOW_H

#include "ctl/command.h"

/* One that follows; part of what makes its rows. */
struct follower {
	struct follower *next, **at;	/* at: NULL while in no list */
	struct reply *reply;
};

/* The reply's rows come as things happen, and list is where that is told. */
void follow(struct follower **list, struct follower *f, struct reply *r);
void unfollow(struct follower *f);
/* There may be more rows for all of the list. */
void follow_tell(struct follower *list);

#endif
