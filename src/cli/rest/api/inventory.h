/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Ports in the terms of the REST interface, and answers that are made row by row. */
#ifndef QOSD_CLI_REST_INVENTORY_H
#define QOSD_CLI_REST_INVENTORY_H

#include "cli/rest/api/rest_api.h"

/* A GUID without 0x. */
const char *rest_bare_guid(const char *guid);
/* A row of `ports` as an object of "resources/ports", which the caller frees. */
json_t *rest_json_port(const json_t *row);

/* What is told of a row of the daemon, or NULL: nothing. */
typedef json_t *rest_row(const struct rest_call *c, const json_t *row);
/* Makes the answer an array of what is told of the rows. */
void rest_answer_rows(const struct rest_call *c, const json_t *rows, rest_row *of_row, struct rest_answer *a);

#endif
