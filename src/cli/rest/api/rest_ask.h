/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Asks the daemon for handlers, and says its refusals in the terms of HTTP. */
#ifndef QOSD_CLI_REST_ASK_H
#define QOSD_CLI_REST_ASK_H

#include "cli/rest/api/rest_api.h"

/*
 * The answer to a command, which the caller frees.  NULL with a status and a text in a if the
 * daemon refuses or is not there.  args and file are as in struct rest_daemon.
 */
json_t *rest_ask(const struct rest_call *c, const char *command, json_t *args, json_t *file,
		 struct rest_answer *a);
/* The rows of a command whose answer is an array; otherwise as rest_ask(). */
json_t *rest_ask_rows(const struct rest_call *c, const char *command, json_t *args, struct rest_answer *a);
/* The rows of `ports`, of a node (NULL: all); none if there is no such node.  NULL: as rest_ask(). */
json_t *rest_ask_ports(const struct rest_call *c, const char *node, struct rest_answer *a);

/* The member `name`, a string; "" if there is none. */
const char *rest_str(const json_t *o, const char *name);
/* The GUID at the end of "NodeDescription/Pn (0xguid)", and the length of what is before; 0: none. */
uint64_t rest_port_guid(const char *port, size_t *name_length);

#endif
