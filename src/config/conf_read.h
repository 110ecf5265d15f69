/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Readers for struct key of lib/format/yaml_read.h that know what a policy is made of. */
#ifndef QOSD_CONFIG_CONF_READ_H
#define QOSD_CONFIG_CONF_READ_H

#include "lib/format/yaml_read.h"
#include "qos/policy.h"

/* A partition's P_Key, 1..0x7fff without membership bit, or false with an error. */
bool read_pkey(struct reader *r, const struct node *n, uint16_t *pkey);
/* One value or range within min..max, or false with an error. */
bool read_u64_range(struct reader *r, const struct node *n, uint64_t min, uint64_t max,
		    struct u64_range *out);

read_fn read_lifetime;	/* IBA exponent, or a time rounded up to the next one */
read_fn read_name;	/* struct policy_name */
read_fn read_names;	/* struct policy_names: a name or a list */
read_fn read_ranges;	/* struct u64_ranges: values and ranges within min..max */
read_fn read_pkeys;	/* the same of P_Keys without membership bit */
read_fn read_ports;	/* struct port_list */
read_fn read_limit;	/* int16_t: a limit of high priority, in units of 4096 bytes, 0..255 */

#endif
