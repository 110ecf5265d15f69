/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Answers what the manager itself is: its version, and how its subnet is protected. */
#include "cli/rest/api/rest_api.h"

#include "cli/rest/api/rest_ask.h"

/* Clients take the answer for "it runs, and I may", so it is asked for at the daemon. */
void rest_version(const struct rest_call *c, struct rest_answer *a)
{
	json_t *answer = rest_ask(c, "status", NULL, NULL, a);
	const json_t *status = json_object_get(answer, "result");

	if (!answer)
		return;
	a->body = json_pack("{s:s, s:s, s:s}", "ufm_release_version", rest_str(status, "version"),
			    "manager", "qosd", "state", rest_str(status, "state"));
	json_decref(answer);
}

/* Keys are secrets, which the daemon tells nobody. */
void rest_smconf(const struct rest_call *c, struct rest_answer *a)
{
	(void)c;
	rest_refuse(a, REST_NOT_IMPLEMENTED, "the keys of the subnet are told to nobody");
}
