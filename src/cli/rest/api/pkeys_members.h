/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A partition as it was asked for, and which of its members a request means: members may have been
 * added by GUID or by host, and are removed by either.
 */
#ifndef QOSD_CLI_REST_MEMBERS_H
#define QOSD_CLI_REST_MEMBERS_H

#include "cli/rest/api/rest_fields.h"
#include "lib/base/hostlist.h"

struct rest_partition {
	uint16_t pkey;
	char *name;		/* owned; NULL: there is no such partition */
	bool whole;		/* false: it is the policy's, and members were added at most */
	bool ipoib;
	json_t *members;	/* owned; array of the lines that were added: "who", "membership" */
	json_t *fixed;		/* owned; those of the policy's file, which stay */
};

/* Finds what the daemon was asked for, in force yet or not.  False: the daemon refuses. */
bool rest_partition_find(const struct rest_call *c, uint16_t pkey, struct rest_partition *p, struct rest_answer *a);
void rest_partition_free(struct rest_partition *p);

#define REST_WHO_GUID 20
/* The daemon's normal form of a member by GUID: "0x%016x". */
void rest_who(uint64_t guid, char text[REST_WHO_GUID]);

/*
 * Each returns an array of those `who` of the partition that are to be removed, each once, which the
 * caller frees.  Ports that are no members are left out.  NULL with a status in a: the daemon refuses, or a port
 * would stay a member by a line that names others, too, or is the policy's.  The partition is
 * looked at anew if some of its lines must be compared with the fabric.
 */
json_t *rest_members_by_guid(const struct rest_call *c, struct rest_partition *p, const struct rest_guids *guids,
			     struct rest_answer *a);
json_t *rest_members_by_host(const struct rest_call *c, struct rest_partition *p, const struct hostlist *hosts,
			     struct rest_answer *a);
/* Those that are no key of the object. */
json_t *rest_members_but(const struct rest_partition *p, const json_t *stay);

/*
 * Appends the removal of members to the changes, if there are any, and takes ownership of them.
 * last_ends_it: the last member takes a partition along that is not the policy's.
 */
void rest_put_removal(const struct rest_partition *p, json_t *whos, bool last_ends_it, json_t *changes);

#endif
