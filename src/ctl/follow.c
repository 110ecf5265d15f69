/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Keeps lists of replies that follow what happens; follow.h has the contracts. */
#include "ctl/follow.h"

void follow(struct follower **list, struct follower *f, struct reply *r)
{
	f->reply = r;
	f->next = *list;
	f->at = list;
	if (f->next)
		f->next->at = &f->next;
	*list = f;
	reply_follow(r);
}

void unfollow(struct follower *f)
{
	if (!f->at)
		return;
	*f->at = f->next;
	if (f->next)
		f->next->at = f->at;
	f->at = NULL;
}

void follow_tell(struct follower *list)
{
	struct follower *next;

	for (struct follower *f = list; f; f = next) {
		next = f->next;
		reply_more(f->reply);
	}
}
