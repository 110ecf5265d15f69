/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Makes requests without a socket and reads their answers, for the tests of ctl. */
#ifndef QOSD_TEST_CTL_ASKING_H
#define QOSD_TEST_CTL_ASKING_H

#include "ctl/command.h"

/* The loop in which to wait for answers that take a thread; without one, no answer may take a thread. */
void asking_in(struct loop *l);

/* Returns the whole answer as text, to a client with this right, of user 1001 and group 1002. */
char *answer_text(const struct ctl_env *env, const struct ctl_view *view, enum ctl_right right,
		  const char *line);
/* Asks as an administrator and returns the head; *rows gets the rows as an array, without the end line. */
json_t *answer_parts(const struct ctl_env *env, const struct ctl_view *view, const char *line,
		     json_t **rows);

/* Return members of an object; the test fails if they are missing. */
const char *str(const json_t *o, const char *key);
long long num(const json_t *o, const char *key);
double real(const json_t *o, const char *key);

#endif
