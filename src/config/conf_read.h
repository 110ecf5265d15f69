/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Readers of policy values for struct key of lib/format/yaml_read.h. */
#ifndef QOSD_CONFIG_CONF_READ_H
#define QOSD_CONFIG_CONF_READ_H

#include "lib/format/yaml_read.h"
#include "qos/policy.h"

/* Reads a partition's P_Key, 1..0x7fff without membership bit; false with an error otherwise. */
bool read_pkey(struct reader *r, const struct node *n, uint16_t *pkey);
/* Reads one value or range within min..max; false with an error otherwise. */
bool read_u64_range(struct reader *r, const struct node *n, uint64_t min, uint64_t max,
		    struct u64_range *out);

read_fn read_lifetime;	/* IBA exponent, or a time that is rounded up to the next exponent */
read_fn read_name;	/* struct policy_name */
read_fn read_names;	/* struct policy_names: one name or a list */
read_fn read_ranges;	/* struct u64_ranges: values and ranges within min..max */
read_fn read_pkeys;	/* struct u64_ranges: P_Keys without membership bit */
read_fn read_ports;	/* struct port_list */
read_fn read_limit;	/* int16_t: a Limit of High-Priority, in units of 4096 bytes, 0..255 */

#endif
