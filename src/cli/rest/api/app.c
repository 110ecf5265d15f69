/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Answers what the manager itself is: its version, and how its subnet is protected. */
#include "cli/rest/api/rest_api.h"

#include "cli/rest/api/rest_ask.h"

/* Clients take this answer to mean that the manager runs and that they may use it, so the daemon is asked. */
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

/*
 * Keys are secrets, which the daemon tells nobody.  Clients want to see whether the subnet is
 * protected: they compare the keys with default values.
 */
#define NO_M_KEY "0x0000000000000000"
#define KNOWN_KEY "0x0000000000000001"
#define HIDDEN_KEY "0xffffffffffffffff"

void rest_smconf(const struct rest_call *c, struct rest_answer *a)
{
	json_t *answer = rest_ask(c, "status", NULL, NULL, a);
	const json_t *status = json_object_get(answer, "result");

	if (!answer)
		return;
	/* requests to the SA need no key, and one M_Key serves all ports */
	a->body = json_pack("{s:s, s:s, s:s, s:s, s:b}", "subnet_prefix", rest_str(status, "subnet-prefix"),
			    "m_key", json_is_true(json_object_get(status, "m-key-set")) ? HIDDEN_KEY : NO_M_KEY,
			    "sm_key", json_is_true(json_object_get(status, "sm-key-secret")) ? HIDDEN_KEY : KNOWN_KEY,
			    "sa_key", KNOWN_KEY, "m_key_per_port", 0);
	json_decref(answer);
}
