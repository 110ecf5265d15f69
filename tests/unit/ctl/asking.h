/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Requests without a socket, and what is in their answers; for the tests of ctl. */
#ifndef QOSD_TEST_CTL_ASKING_H
#define QOSD_TEST_CTL_ASKING_H

#include "ctl/command.h"

/* Where answers that take a thread are waited for; else none may. */
void asking_in(struct loop *l);

/* The whole answer as text, to a client with that right, of user 1001 and group 1002. */
char *answer_text(const struct ctl_env *env, const struct ctl_view *view, enum ctl_right right,
		  const char *line);
/* To an administrator: the head; the rows, without the end line, as an array in *rows. */
json_t *answer_parts(const struct ctl_env *env, const struct ctl_view *view, const char *line,
		     json_t **rows);

/* Members that must be there. */
const char *str(const json_t *o, const char *key);
long long num(const json_t *o, const char *key);
double real(const json_t *o, const char *key);

#endif
