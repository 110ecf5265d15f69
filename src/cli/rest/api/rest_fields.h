/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads the fields of bodies, queries and paths.  Readers return false with a status and a text in
 * the answer, which names the field and what is wrong with it.
 */
#ifndef QOSD_CLI_REST_FIELDS_H
#define QOSD_CLI_REST_FIELDS_H

#include "cli/rest/api/rest_api.h"
#include "lib/base/alloc.h"

#define REST_GUIDS_MAX 8192	/* in one request */

/* Whether the body is an object that has no other fields than `known`, which blanks separate. */
bool rest_only_fields(const struct rest_call *c, const char *known, struct rest_answer *a);

/* A P_Key of 1 to 0x7fff, hexadecimal with or without 0x; the membership bit is dropped. */
bool rest_read_pkey(const char *text, uint16_t *pkey, struct rest_answer *a);
/* The same from the field "pkey" of the body. */
bool rest_body_pkey(const struct rest_call *c, uint16_t *pkey, struct rest_answer *a);

struct rest_guids {
	uint64_t *v;
	size_t n, cap;
};
/* GUIDs of 16 hexadecimal digits, in either case, with or without colons or 0x; vec_free() by the caller. */
bool rest_read_guids(const char *comma_list, struct rest_guids *out, struct rest_answer *a);
/* The same from the field "guids" of the body, an array; it is an error if it is missing or empty. */
bool rest_body_guids(const struct rest_call *c, struct rest_guids *out, struct rest_answer *a);
bool rest_parse_guid(const char *text, uint64_t *guid);

/* A boolean field: 0 or 1, or `missing` if it is not there. */
bool rest_body_flag(const struct rest_call *c, const char *name, int missing, int *value, struct rest_answer *a);
/* Whether the query has name=true. */
bool rest_query_flag(const struct rest_call *c, const char *name);
const char *rest_query_text(const struct rest_call *c, const char *name);	/* NULL: it has none */

#endif
