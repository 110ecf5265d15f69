/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Implements asking.h. */
#include "asking.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static struct loop *loop;

void asking_in(struct loop *l)
{
	loop = l;
}

static void on_ready(void *arg)
{
	loop_stop(arg);
}

char *answer_text(const struct ctl_env *env, const struct ctl_view *view, enum ctl_right right,
		  const char *line)
{
	struct ctl_view seen = *view;
	struct buf out = { 0 };
	struct reply r;

	seen.peer = (struct ctl_peer){ right, 1002, right == CTL_ADMIN, { 1001, NULL } };
	command_start(env, &seen, line, strlen(line), &r);
	if (r.stage == REPLY_WAITING) {
		r.ready = on_ready;
		r.ready_arg = loop;
		loop_run(loop);
	}
	while (reply_pull(&r, &out))
		continue;
	reply_free(&r);
	return out.s;
}

json_t *answer_parts(const struct ctl_env *env, const struct ctl_view *view, const char *line,
		     json_t **rows)
{
	char *text = answer_text(env, view, CTL_ADMIN, line), *save = NULL;
	json_t *head = json_loads(strtok_r(text, "\n", &save), 0, NULL);
	bool ended = false;

	ck_assert_ptr_nonnull(head);
	*rows = json_array();
	for (char *l; (l = strtok_r(NULL, "\n", &save));) {
		json_t *row = json_loads(l, 0, NULL);

		ck_assert_msg(row && !ended, "%s", l);
		ended = json_object_get(row, "end") != NULL;
		if (ended)
			json_decref(row);
		else
			json_array_append_new(*rows, row);
	}
	ck_assert(ended == (json_object_get(head, "rows") != NULL));
	free(text);
	return head;
}

const char *str(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	ck_assert_msg(s != NULL, "no %s", key);
	return s;
}

long long num(const json_t *o, const char *key)
{
	ck_assert_msg(json_is_integer(json_object_get(o, key)), "no %s", key);
	return json_integer_value(json_object_get(o, key));
}

double real(const json_t *o, const char *key)
{
	ck_assert_msg(json_is_number(json_object_get(o, key)), "no %s", key);
	return json_number_value(json_object_get(o, key));
}
