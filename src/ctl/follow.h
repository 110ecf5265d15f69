/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Lists of replies that follow what happens, to notify when there is more to show. */
#ifndef QOSD_CTL_FOLLOW_H
#define QOSD_CTL_FOLLOW_H

#include "ctl/command.h"

/* A following reply; embedded in the generator of its rows. */
struct follower {
	struct follower *next, **at;	/* at: NULL unless in a list */
	struct reply *reply;
};

/* Makes the reply's rows appear as things happen; follow_tell(list) announces them. */
void follow(struct follower **list, struct follower *f, struct reply *r);
void unfollow(struct follower *f);
/* Notifies all replies of the list that they may have more rows. */
void follow_tell(struct follower *list);

#endif
