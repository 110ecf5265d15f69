/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Answers `who` for addresses: MGIDs, MLIDs, GIDs, and the IP addresses that IPoIB makes of them or them of.
 *
 * RFC 4391 maps an IP multicast address to an MGID by its P_Key and scope, of which the address says nothing: so the
 * groups with any are its groups.  The subnet manager knows no other IP addresses, since hosts resolve them by ARP and
 * neighbour discovery among themselves; but an interface identifier that was made of a port's GUID tells the port.
 */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/commands/cmd_mcast.h"
#include "lib/base/bytes.h"

#define GROUPS_SHOWN	8
#define MEMBERS_SHOWN	100	/* of a group */
/* RFC 4391, 4: signatures of IPoIB's MGIDs, and where the mapped address begins */
#define SIGNATURE_IPV4	0x401b
#define SIGNATURE_IPV6	0x601b
#define AT_SIGNATURE	2
#define AT_ADDRESS	6
#define UNIVERSAL	(UINT64_C(2) << 56)	/* RFC 4291: inverted in an interface identifier */

/* Which MGIDs a text stands for. */
struct wanted {
	bool any_pkey;		/* an IP address: mgid without P_Key, and with flags and scope as they may be */
	uint8_t mgid[16];
	uint8_t scope;		/* of an IPv6 address; 0: any */
	uint16_t mlid;		/* 0: an MGID or address */
};

/* --- what the text is --- */

static void map_ipv4(const uint8_t ip[4], struct wanted *w)
{
	*w = (struct wanted){ .any_pkey = true };
	put_be16(w->mgid + AT_SIGNATURE, SIGNATURE_IPV4);
	memcpy(w->mgid + 12, ip, 4);
	if (memcmp(ip, "\xff\xff\xff\xff", 4) != 0)
		w->mgid[12] &= 0x0f;		/* the lower 28 bits; the broadcast group has all 32 */
}

static void map_ipv6(const uint8_t ip[16], struct wanted *w)
{
	*w = (struct wanted){ .any_pkey = true, .scope = ip[1] & 0x0f };
	memcpy(w->mgid, ip, 16);
	put_be16(w->mgid + AT_SIGNATURE, SIGNATURE_IPV6);
}

static bool is_wanted(const struct mcast_group *g, const struct wanted *w)
{
	if (w->mlid)
		return g->mlid == w->mlid;
	if (!w->any_pkey)
		return memcmp(g->mgid, w->mgid, 16) == 0;
	return memcmp(g->mgid + AT_SIGNATURE, w->mgid + AT_SIGNATURE, 2) == 0 &&
	       memcmp(g->mgid + AT_ADDRESS, w->mgid + AT_ADDRESS, 16 - AT_ADDRESS) == 0 &&
	       (!w->scope || (g->mgid[1] & 0x0f) == w->scope);
}

/* An MLID, in hexadecimal or decimal, that is in use. */
static bool is_mlid(const struct mcast_db *db, const char *text, struct wanted *w)
{
	char *end;
	unsigned long mlid = strtoul(text, &end, 0);

	if (*text < '0' || *text > '9' || *end || mlid < IB_LID_MCAST_FIRST || mlid > IB_LID_MCAST_LAST ||
	    !mcast_of_mlid(db, (uint16_t)mlid))
		return false;
	*w = (struct wanted){ .mlid = (uint16_t)mlid };
	return true;
}

/* The port with a GID, or whose GUID became the interface identifier of an address. */
static uint32_t port_of_address(const struct fabric *f, const uint8_t ip[16])
{
	uint64_t id = get_be64(ip + 8);
	uint32_t port = fabric_find_port(f, id);

	return port == FABRIC_NONE ? fabric_find_port(f, id ^ UNIVERSAL) : port;
}

/* --- the groups --- */

static json_t *json_partition_of(const struct plan *plan, uint16_t pkey)
{
	uint32_t k = partition_of_pkey(plan->partitions, pkey);

	return k == UINT32_MAX ? json_null() : json_text(plan->policy->partitions[k].name);
}

static json_t *json_whole_group(const struct ctl_call *c, const struct mcast_db *db, const struct mcast_group *g)
{
	const struct plan *plan = c->state->plan;
	json_t *row = json_group(db, g), *members = json_array();
	const struct mcast_member *m = NULL;
	struct mcast_gid at = { 0 };

	while (json_array_size(members) < MEMBERS_SHOWN && (m = mcast_member_after(g, at))) {
		json_array_append_new(members, json_member(c->state, g, m));
		at = m->gid;
	}
	json_object_set_new(row, "partition", json_partition_of(plan, g->pkey));
	json_object_set_new(row, "levels", json_levels(plan->policy, (uint16_t)(1u << g->sl)));
	json_object_set_new(row, "more-members",
			    json_integer((json_int_t)(g->members.n - json_array_size(members))));
	json_object_set_new(row, "member-ports", members);
	json_object_set_new(row, "tree", json_tree(c, g->mlid));
	return row;
}

static void answer_groups(const struct ctl_call *c, const struct mcast_db *db, const char *text,
			  const struct wanted *w, struct reply *r)
{
	json_t *groups = json_array();
	json_int_t more = 0;

	for (size_t i = 0; i < mcast_count(db); i++) {
		const struct mcast_group *g = mcast_at(db, i);

		if (!is_wanted(g, w))
			continue;
		if (json_array_size(groups) < GROUPS_SHOWN)
			json_array_append_new(groups, json_whole_group(c, db, g));
		else
			more++;
	}
	if (json_array_size(groups)) {
		reply_result(r, json_pack("{s:[], s:i, s:o, s:I}", "nodes", "more", 0, "mcast-groups", groups,
					  "more-groups", more));
		return;
	}
	json_decref(groups);
	reply_error(r, json_pack("{s:i}", "absent", 1), w->any_pkey ?
		    "%s: no multicast group of IPoIB has this address: no host has joined it" :
		    "%s: no multicast group has this MGID", text);
}

bool answer_who_address(const struct ctl_call *c, const char *text, uint32_t *port, struct reply *r)
{
	const struct mcast_db *db = c->env->sa ? c->env->sa->mcast : NULL;
	struct wanted w = { 0 };
	uint8_t ip[16];

	*port = FABRIC_NONE;
	if (inet_pton(AF_INET, text, ip) == 1) {
		map_ipv4(ip, &w);
		if ((ip[0] & 0xf0) != 0xe0 && memcmp(ip, "\xff\xff\xff\xff", 4) != 0) {
			reply_error(r, NULL, "%s: the subnet manager knows no IPv4 addresses of hosts, which "
				    "resolve them by ARP: a host that has it among its neighbours shows its GID "
				    "with 'ip neigh'", text);
			return true;
		}
	} else if (inet_pton(AF_INET6, text, ip) == 1) {
		if (ip[0] != 0xff) {
			*port = port_of_address(c->state->f, ip);
			if (*port == FABRIC_NONE)
				reply_error(r, json_pack("{s:i}", "absent", 1), "%s: no port has this GID, nor a GUID "
					    "of which this address was made; the subnet manager knows no other IPv6 "
					    "addresses", text);
			return *port == FABRIC_NONE;
		}
		memcpy(w.mgid, ip, 16);
		if (!db || !mcast_find(db, ip)) {
			uint16_t signature = get_be16(ip + AT_SIGNATURE);

			if (signature != SIGNATURE_IPV4 && signature != SIGNATURE_IPV6)
				map_ipv6(ip, &w);
		}
	} else if (!db || !is_mlid(db, text, &w)) {
		return false;
	}
	if (db)
		answer_groups(c, db, text, &w, r);
	else
		reply_error(r, NULL, "this daemon has no multicast groups");
	return true;
}
