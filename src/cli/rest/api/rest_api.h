/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The REST interface that orchestrators speak to a subnet manager, as a function from requests to
 * answers: knows neither HTTP nor the control socket.
 *
 * A request is a method, a path and JSON values; the answer is a status of HTTP and a JSON value or
 * a text.  Handlers query the daemon by struct rest_daemon, whose answers are those of
 * include/qosd/ctl.h.
 */
#ifndef QOSD_CLI_REST_API_H
#define QOSD_CLI_REST_API_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/buf.h"

/* What a user may do; each includes those before it. */
enum rest_right { REST_READ, REST_PARTITIONS, REST_ALL };

/* Statuses of HTTP. */
enum {
	REST_OK = 200, REST_BAD = 400, REST_UNKNOWN_USER = 401, REST_FORBIDDEN = 403, REST_NOT_FOUND = 404,
	REST_BAD_METHOD = 405, REST_CONFLICT = 409, REST_TOO_LARGE = 413, REST_TOO_MANY = 429,
	REST_NO_DAEMON = 503,
};

struct rest_daemon {
	void *arg;
	/*
	 * Asks the daemon and returns the whole answer, which the caller frees: "ok", and "result"
	 * with all rows in it, or an array as "rows" where the rows are the result; or "error".
	 * Takes ownership of args (NULL: none) and of file (NULL: the command has none), which is
	 * sent as JSON.  NULL: the daemon does not answer, and err says why.
	 */
	json_t *(*ask)(void *arg, const char *command, json_t *args, json_t *file, struct buf *err);
	/*
	 * Changes of partitions look first at what there is.  Between these two no other request of
	 * the gateway changes anything.
	 */
	bool (*begin_change)(void *arg);	/* false: the others take too long */
	void (*end_change)(void *arg);
	/* Returns when the change with this number is in force, or after a time limit. */
	void (*await)(void *arg, int64_t change);
};

/* What the operator decided. */
struct rest_choices {
	bool absent_guids;	/* members that the fabric does not have (yet) are taken */
	/* index0 is done, is ignored, or is an error */
	enum { REST_INDEX0_SET, REST_INDEX0_IGNORE, REST_INDEX0_REFUSE } index0;
};

/* P_Keys that a user may change, without the membership bit. */
struct rest_pkeys {
	uint16_t lo, hi;
};

struct rest_call {
	const struct rest_daemon *daemon;
	const struct rest_choices *choices;
	const char *user;	/* name of the user who asks */
	struct rest_pkeys pkeys;
	const json_t *query;	/* object of strings: the query of the URL; null: no text in UTF-8 */
	json_t *body;		/* NULL: none */
	char *parts[2];		/* words of the path that the route has as {}; NULL: no such */
};

struct rest_answer {
	unsigned status;
	json_t *body;		/* owned; NULL: `text` is the answer */
	struct buf text;
};

/* Sets a status and a text; returns false, for callers that end so. */
bool rest_refuse(struct rest_answer *a, unsigned status, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void rest_answer_free(struct rest_answer *a);

struct rest_route {
	const char *method, *path;	/* path below the base; {} stands for a word */
	enum rest_right right;
	bool has_body;
	const char *query;		/* names that the query may have, with blanks between them */
	void (*handle)(const struct rest_call *c, struct rest_answer *a);
};
/*
 * The route of a request; path is decoded, begins below the base path and has no leading slash.
 * Words of {} are put into parts, which the caller frees.  NULL: there is none, and a is 404 or 405.
 */
const struct rest_route *rest_find_route(const char *method, const char *path, char *parts[2],
					 struct rest_answer *a);
/* Whether the query has nothing but what the route knows. */
bool rest_good_query(const struct rest_route *route, const json_t *query, struct rest_answer *a);
/*
 * Splits a URL's path into the base ("ufmRest" …), for which *base is its number in rest_bases, and
 * the rest, which is returned; NULL: no such base.
 */
enum rest_base { REST_BASE_PASSWORD, REST_BASE_CERTIFICATE, REST_BASE_TOKEN };
const char *rest_split_base(const char *url, enum rest_base *base);

/* --- handlers --- */

typedef void rest_handler(const struct rest_call *c, struct rest_answer *a);
rest_handler rest_version, rest_smconf;
rest_handler rest_pkeys_list, rest_pkeys_one;
rest_handler rest_pkeys_new, rest_pkeys_add, rest_pkeys_set, rest_pkeys_hosts, rest_pkeys_qos;
rest_handler rest_pkeys_remove_guids, rest_pkeys_delete, rest_pkeys_delete_guids, rest_pkeys_delete_hosts;
rest_handler rest_ports, rest_systems, rest_links, rest_unhealthy, rest_unhealthy_one, rest_unhealthy_set;

#endif
