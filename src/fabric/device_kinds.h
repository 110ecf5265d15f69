/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Kinds of device: what a topology file does not say of its nodes, as the file of --devices states it
 * (config/read_devices.c fills it in), and as a discovered node shows it.
 *
 * The file has the form of qosd-sim's profiles, so that one file may serve both programs.
 */
#ifndef QOSD_FABRIC_DEVICE_KINDS_H
#define QOSD_FABRIC_DEVICE_KINDS_H

#include "fabric/fabric.h"
#include "lib/base/alloc.h"
#include "lib/base/findings.h"

/* Values of a node and all its external ports; DEVICE_UNKNOWN: not stated. */
#define DEVICE_UNKNOWN (-1)
struct device_values {
	int32_t vl_cap;			/* code of VLCap, 1..5 */
	int32_t vlarb_high, vlarb_low;	/* entries of the arbitration tables, 0..64 */
	int32_t mtu_cap;		/* MTU code, 1..5 */
	int32_t pkeys;			/* entries of an end port's P_Key table, 1..65535 */
	int32_t enforce_pkeys;		/* entries of an external switch port's, 0: none */
	int32_t lft, mft;		/* LinearFDBCap, MulticastFDBCap */
};
#define DEVICE_VALUES_UNKNOWN ((struct device_values){ -1, -1, -1, -1, -1, -1, -1, -1 })

struct device_kind {
	char *name;
	struct src_pos pos;
	struct device_values v;
};

/* Nodes of a kind: all criteria that it has must hold. */
struct device_rule {
	struct src_pos pos;
	char *name, *guid;	/* globs of NodeDescription and of "0x%016x", or NULL */
	uint64_t guid_is;	/* a node GUID without wildcards; 0: none */
	uint8_t type;		/* enum ib_node_type, 0: any */
	uint32_t kind;
};

struct device_kinds {
	char *file;
	VEC(struct device_kind) kinds;
	VEC(struct device_rule) rules;	/* the last one that matches decides */
};

void device_kinds_free(struct device_kinds *k);	/* NULL is fine */

/* The index of the kind of a node, UINT32_MAX: none; k may be NULL.  type: enum ib_node_type. */
uint32_t device_kind_of(const struct device_kinds *k, uint64_t node_guid, unsigned type,
			const char *desc);
/* Warns of rules that match no node. */
void device_kinds_check(const struct device_kinds *k, const struct fabric *f, struct findings *out);
/* What the nodes of a fabric from a topology file have, by kind, and what of it is assumed; k may be NULL. */
void device_kinds_print(const struct device_kinds *k, const struct fabric *f, struct buf *out);

/*
 * What a discovered node has: of a port with a link if there is one, as the ports of a device are
 * normally alike.  Values that make no sense are unknown.
 */
struct device_values device_values_of(const struct fabric *f, uint32_t node);
/* "{vl-cap: 4, mtu: 2048}": what is known, as the file has it. */
void device_values_put(const struct device_values *v, struct buf *out);

/* What stock ibsim's devices have, which is assumed of what no file states. */
struct device_values device_values_assumed(unsigned type);
/* Fills the unknown values of v from others. */
void device_values_fill(struct device_values *v, const struct device_values *others);

#endif
