/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * SL, MTU and rate of a partition in the terms of the REST interface: service_level, mtu_limit in
 * KiB, rate_limit in Gb/s.
 */
#ifndef QOSD_CLI_REST_QOS_H
#define QOSD_CLI_REST_QOS_H

#include "cli/rest/api/rest_api.h"

#define REST_QOS_FIELDS "mtu_limit service_level rate_limit"

/*
 * The values that the body gives, as keys of a change for the daemon: "sl", "mtu", "rate".  An object
 * that the caller frees, empty if there are none; NULL with a status and a text in a if one is not
 * among those that the interface knows.
 */
json_t *rest_read_qos(const struct rest_call *c, struct rest_answer *a);

/*
 * The values that paths in a partition get, from its row of `partition show`; the caller frees them.
 * Where nothing limits MTU or rate, the greatest value of the interface stands.  NULL: the
 * partition is not in force, and has none.
 */
json_t *rest_qos_of(const json_t *row);
/*
 * Removes from the values of rest_read_qos() what only gives back the values of rest_qos_of(), or NULL: MTU and
 * rate if both are as told, and then the SL, too.  Clients that change one value write the others as they read
 * them, and what stands for no limit must not become one.
 */
void rest_drop_told(json_t *own, const json_t *told);

#endif
