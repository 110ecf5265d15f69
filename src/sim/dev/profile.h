/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Profiles as the file has them, for the parts of their reader; device.h is for everybody else. */
#ifndef QOSD_SIM_DEV_PROFILE_H
#define QOSD_SIM_DEV_PROFILE_H

#include "lib/format/yaml_read.h"
#include "sim/dev/device.h"
#include "sim/dev/presets.h"

/* A name where the file asks for a profile: one of its own, or else a preset. */
struct profile_choice {
	const struct own_profile *own;
	const char *preset;
};

struct own_profile {
	const char *name;		/* of the tree */
	const struct node *map;		/* its keys */
	struct profile_choice like;
};

struct profile_rule {
	struct src_pos pos;
	char *name;			/* glob of the NodeDescription, or NULL */
	char *guid;			/* glob of "0x%016x", or NULL */
	uint64_t guid_is;		/* … or the very one, not 0 */
	uint8_t type;			/* enum sim_node_type, or 0 */
	struct profile_choice profile;
};

struct profile_set {
	char *file;
	struct node *root;
	VEC(struct own_profile) own;	/* complete before anybody points into it */
	VEC(struct profile_rule) rules;
	struct profile_choice fallback;
};

/* profile_keys.c: the keys of a profile into p, with errors; "like" is passed over. */
void profile_read_keys(struct reader *r, const struct node *map, struct sim_profile *p);
/* … and what follows from other values. */
void profile_complete(struct sim_profile *p);

#endif
