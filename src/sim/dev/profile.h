/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Profiles as the profile file has them, for the files that read it; others use device.h. */
#ifndef QOSD_SIM_DEV_PROFILE_H
#define QOSD_SIM_DEV_PROFILE_H

#include "lib/format/yaml_read.h"
#include "sim/dev/device.h"
#include "sim/dev/presets.h"

/* A profile that the file names: one of its own, or a preset. */
struct profile_choice {
	const struct own_profile *own;
	const char *preset;
};

struct own_profile {
	const char *name;		/* points into the tree */
	const struct node *map;		/* keys of the profile */
	struct profile_choice like;
};

struct profile_rule {
	struct src_pos pos;
	char *name;			/* glob of the NodeDescription, or NULL */
	char *guid;			/* glob of "0x%016x", or NULL */
	uint64_t guid_is;		/* a GUID without wildcards; 0: none */
	uint8_t type;			/* enum sim_node_type, or 0 */
	struct profile_choice profile;
};

struct profile_set {
	char *file;
	struct node *root;
	VEC(struct own_profile) own;	/* must be complete before anything points into it */
	VEC(struct profile_rule) rules;
	struct profile_choice fallback;
};

/* profile_keys.c: reads the keys of a profile into p and reports errors; skips "like". */
void profile_read_keys(struct reader *r, const struct node *map, struct sim_profile *p);
/* Sets the values that follow from others. */
void profile_complete(struct sim_profile *p);

#endif
