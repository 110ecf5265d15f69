/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Runs `policy install`; policy_install.h has the contracts. */
#include "policy_install.h"

#include <stdio.h>

#include "answer.h"
#include "command_line.h"
#include "connection.h"
#include "install_file.h"
#include "members.h"
#include "output.h"
#include "text.h"

static bool is_ok(const json_t *answer)
{
	return json_is_true(json_object_get(answer, "ok"));
}

/* reloaded: the result of the reload */
static void put_installed(json_t *reloaded, const struct install *x)
{
	json_t *result;

	if (options.json) {
		result = json_pack("{s:s, s:s?}", "file", x->path, "before", x->before);
		json_object_update(result, reloaded);
		put_json(result, JSON_INDENT(2));
		printf("\n");
		json_decref(result);
		return;
	}
	put_accepted(reloaded);
	printf("installed %s; the policy was accepted\n", x->path);
	if (x->before)
		printf("the previous file is kept as %s\n", x->before);
	put_in_force_when(reloaded);
}

/*
 * Makes the daemon reload the installed file; undoes the installation if the daemon refuses it.
 * *result gets a reference to the result of the reload.
 */
static int apply_installed(const struct install *x, const json_t *args, json_t **result)
{
	json_t *force = json_object_get(args, "force");
	json_t *reload = force ? json_pack("{s:O}", "force", force) : json_object();
	json_t *answer = ask_once("reload", reload, NULL);
	int status = EXIT_NO_DAEMON;

	if (answer && is_ok(answer)) {
		clean_strings(answer);
		*result = json_incref(json_object_get(answer, "result"));
		put_installed(*result, x);
		status = EXIT_DONE;
	} else if (answer) {
		clean_strings(answer);
		status = refused(answer);
		if (install_undo(x))
			fprintf(stderr, "qosd-ctl: %s is unchanged\n", x->path);
	} else {
		fprintf(stderr, "qosd-ctl: installed %s, but the daemon may not have read it\n", x->path);
	}
	json_decref(answer);
	json_decref(reload);
	return status;
}

int policy_install(json_t *args, const struct buf *file, json_t **result)
{
	json_t *answer = ask_once("policy check", args, file);
	struct install x = { NULL, NULL };
	int status = EXIT_NO_DAEMON;

	if (answer && !is_ok(answer)) {
		clean_strings(answer);
		status = refused(answer);
	} else if (answer) {
		status = EXIT_REFUSED;
		if (install_file(&x, str(json_object_get(answer, "result"), "path"), file))
			status = apply_installed(&x, args, result);
		install_free(&x);
	}
	json_decref(answer);
	return status;
}
