/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See rest_ask.h. */
#include "cli/rest/api/rest_ask.h"

#include <stdlib.h>
#include <string.h>

/* Appends the texts of errors.  Returns whether all of them are of partitions or the policy, not of the request. */
static bool put_findings(const json_t *answer, struct buf *out)
{
	bool contradiction = true;
	const json_t *x;
	size_t i;

	json_array_foreach(json_object_get(answer, "findings"), i, x) {
		if (strcmp(rest_str(x, "severity"), "error"))
			continue;
		buf_printf(out, "%s%s", out->n ? "; " : "", rest_str(x, "text"));
		contradiction &= json_is_string(json_object_get(x, "file"));
	}
	return contradiction;
}

/*
 * A refusal with findings is about what the client wants: in itself, or beside what else is wanted.
 * Any other is about the state that the daemon is in, which passes.
 */
static void pass_refusal(const json_t *answer, struct rest_answer *a)
{
	struct buf text = { 0 };
	bool contradiction = put_findings(answer, &text);
	const char *why;

	why = text.n ? text.s : rest_str(answer, "error");
	if (json_integer_value(json_object_get(answer, "absent")) > 0)
		rest_refuse(a, REST_NOT_FOUND, "%s", why);
	else if (text.n)
		rest_refuse(a, contradiction ? REST_CONFLICT : REST_BAD, "%s", why);
	else
		rest_refuse(a, REST_NO_DAEMON, "%s", why);
	buf_free(&text);
}

json_t *rest_ask(const struct rest_call *c, const char *command, json_t *args, json_t *file,
		 struct rest_answer *a)
{
	struct buf err = { 0 };
	json_t *answer = c->daemon->ask(c->daemon->arg, command, args, file, &err);

	if (!answer)
		rest_refuse(a, REST_NO_DAEMON, "%s", err.n ? err.s : "the subnet manager does not answer");
	buf_free(&err);
	if (!answer || json_is_true(json_object_get(answer, "ok")))
		return answer;
	pass_refusal(answer, a);
	json_decref(answer);
	return NULL;
}

json_t *rest_ask_rows(const struct rest_call *c, const char *command, json_t *args, struct rest_answer *a)
{
	json_t *answer = rest_ask(c, command, args, NULL, a), *rows;

	if (!answer)
		return NULL;
	rows = json_incref(json_object_get(answer, "rows"));
	json_decref(answer);
	return rows ? rows : json_array();
}

json_t *rest_ask_ports(const struct rest_call *c, const char *node, struct rest_answer *a)
{
	json_t *rows = rest_ask_rows(c, "ports", node ? json_pack("{s:s}", "node", node) : NULL, a);

	if (rows || !node || a->status != REST_NOT_FOUND)
		return rows;
	rest_answer_free(a);
	*a = (struct rest_answer){ .status = REST_OK };
	return json_array();
}

const char *rest_str(const json_t *o, const char *name)
{
	const char *s = json_string_value(json_object_get(o, name));

	return s ? s : "";
}

uint64_t rest_port_guid(const char *port, size_t *name_length)
{
	const char *at = strrchr(port, '(');

	if (!at || at == port || strncmp(at, "(0x", 3))
		return 0;
	*name_length = (size_t)(at - port) - 1;
	return strtoull(at + 1, NULL, 16);
}
