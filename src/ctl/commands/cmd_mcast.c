/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Answers `mcast`: the multicast groups, or one group's members and what each switch forwards.  The
 * latter also serves the groups that share an MLID.
 *
 * Groups may come and go between two rows: the cursor is the MGID, or the member, of the last row,
 * and the next row is the next one that exists.
 */
#include "ctl/commands/cmd_mcast.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/iba/units.h"

struct rows {
	const struct mcast_db *db;
	const struct subnet_state *s;
	bool begun, one;	/* one: only members of `mgid` */
	uint8_t mgid[16];	/* group of the last row, or whose members are listed */
	uint16_t mlid;
	struct mcast_gid gid;	/* member of the last row */
};

static json_t *json_mgid(const uint8_t mgid[16])
{
	char text[INET6_ADDRSTRLEN];

	return json_string(inet_ntop(AF_INET6, mgid, text, sizeof(text)));
}

static json_t *json_hex(unsigned value)
{
	char text[16];

	snprintf(text, sizeof(text), "0x%04x", value);
	return json_string(text);
}

/* The first group whose MGID is greater (with or_same: or equal), or NULL. */
static const struct mcast_group *group_after(const struct mcast_db *db, const uint8_t mgid[16],
					     bool or_same)
{
	size_t at = mcast_place(db, mgid);

	at += !or_same && mcast_find(db, mgid);
	return at < mcast_count(db) ? mcast_at(db, at) : NULL;
}

/* --- groups --- */

json_t *json_group(const struct mcast_db *db, const struct mcast_group *g)
{
	return json_pack("{s:o, s:o, s:o, s:i, s:f, s:i, s:i, s:I, s:i, s:i, s:i, s:I, s:b, s:b}",
			 "mgid", json_mgid(g->mgid), "mlid", json_hex(g->mlid),
			 "pkey", json_hex(g->pkey), "mtu", (int)mtu_bytes(g->mtu),
			 "rate", rate_tenths(g->rate) / 10.0, "lifetime", g->life,
			 "sl", g->sl, "qkey", (json_int_t)g->qkey, "tclass", g->tclass,
			 "flow-label", (int)g->flow_label, "hop-limit", g->hop_limit,
			 "members", (json_int_t)g->members.n, "permanent", g->permanent,
			 "shares-mlid", mcast_of_mlid(db, g->mlid)->sharer != NULL);
}

static json_t *next_group(void *arg)
{
	struct rows *rows = arg;
	const struct mcast_group *g = group_after(rows->db, rows->mgid, !rows->begun);

	if (!g)
		return NULL;
	rows->begun = true;
	memcpy(rows->mgid, g->mgid, sizeof(rows->mgid));
	return json_group(rows->db, g);
}

/* --- one group, or those of an MLID --- */

static json_t *json_join_state(unsigned state)
{
	static const char *const names[] = { "full", "non", "send-only-non", "send-only-full" };
	json_t *list = json_array();

	for (unsigned i = 0; i < ARRAY_SIZE(names); i++)
		if (state >> i & 1)
			json_array_append_new(list, json_string(names[i]));
	return list;
}

json_t *json_member(const struct subnet_state *s, const struct mcast_group *g, const struct mcast_member *m)
{
	uint32_t port = fabric_find_port(s->f, m->gid.port);

	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:b}", "mgid", json_mgid(g->mgid),
			 "guid", json_guid(m->gid.guid), "port-guid", json_guid(m->gid.port),
			 "port", port == FABRIC_NONE ? json_null() : json_port(s, port),
			 "join-state", json_join_state(m->join_state), "proxy", m->proxy);
}

/* The group whose members are listed now: the only one, or the next with the MLID. */
static const struct mcast_group *group_in_turn(const struct rows *rows, bool next)
{
	const struct mcast_group *g = group_after(rows->db, rows->mgid, !next);

	if (rows->one)
		return !next && g && !memcmp(g->mgid, rows->mgid, 16) ? g : NULL;
	while (g && g->mlid != rows->mlid)
		g = group_after(rows->db, g->mgid, false);
	return g;
}

static json_t *next_member(void *arg)
{
	struct rows *rows = arg;
	const struct mcast_group *g = group_in_turn(rows, false);
	const struct mcast_member *m = NULL;

	while (g && !(m = mcast_member_after(g, rows->gid))) {
		memcpy(rows->mgid, g->mgid, sizeof(rows->mgid));
		rows->gid = (struct mcast_gid){ 0 };
		g = group_in_turn(rows, true);
	}
	if (!g)
		return NULL;
	memcpy(rows->mgid, g->mgid, sizeof(rows->mgid));
	rows->gid = m->gid;
	return json_member(rows->s, g, m);
}

static json_t *json_ports(const uint64_t ports[4])
{
	json_t *list = json_array();

	for (unsigned i = 0; i < 256; i++)
		if (ports[i / 64] >> i % 64 & 1)
			json_array_append_new(list, json_integer(i));
	return list;
}

json_t *json_tree(const struct ctl_call *c, uint16_t mlid)
{
	const struct fabric *f = c->state->f;
	json_t *list = json_array();
	char name[FABRIC_NAME_MAX];
	uint64_t ports[4];

	for (uint32_t sw = 0; c->env->mft_entry && sw < f->n_switches; sw++) {
		uint32_t node = f->switches[sw].node;

		if (!c->env->mft_entry(c->env->sm, c->state, sw, mlid, ports))
			continue;
		json_array_append_new(list, json_pack("{s:o, s:o, s:o}",
			"switch", json_text(fabric_node_name(f, node, name, sizeof(name))),
			"guid", json_guid(f->nodes[node].guid), "ports", json_ports(ports)));
	}
	return list;
}

static const struct mcast_group *find_group(const struct mcast_db *db, const char *text, bool *one)
{
	uint8_t mgid[16];
	char *end;
	unsigned long mlid = strtoul(text, &end, 0);

	*one = inet_pton(AF_INET6, text, mgid) == 1;
	if (*one)
		return mcast_find(db, mgid);
	return *end || mlid > IB_LID_MCAST_LAST ? NULL : mcast_of_mlid(db, (uint16_t)mlid);
}

static void show_group(const struct ctl_call *c, struct rows *rows, const struct mcast_group *g,
		       struct reply *r)
{
	json_t *groups = json_array(), *result;

	rows->mlid = g->mlid;
	if (rows->one)
		memcpy(rows->mgid, g->mgid, sizeof(rows->mgid));
	for (; g; g = rows->one ? NULL : g->sharer)
		json_array_append_new(groups, json_group(rows->db, g));
	result = json_pack("{s:o, s:o, s:o}", "mlid", json_hex(rows->mlid), "groups", groups,
			   "tree", json_tree(c, rows->mlid));
	reply_result(r, result);
	reply_rows(r, "members", next_member, free, rows);
}

void cmd_mcast(const struct ctl_call *c, struct reply *r)
{
	const struct mcast_db *db = c->env->sa ? c->env->sa->mcast : NULL;
	const char *text = arg_text(c, "group");
	const struct mcast_group *g = NULL;
	struct mcast_usage u;
	struct rows *rows;
	bool one = false;

	if (!db) {
		reply_error(r, NULL, "this daemon has no multicast groups");
		return;
	}
	if (text && !(g = find_group(db, text, &one))) {
		reply_error(r, NULL, "%s: no group has this MGID or MLID", text);
		return;
	}
	rows = xcalloc(1, sizeof(*rows));
	*rows = (struct rows){ .db = db, .s = c->state, .one = one };
	if (g) {
		show_group(c, rows, g, r);
		return;
	}
	u = mcast_usage(db);
	reply_result(r, json_pack("{s:I, s:I, s:I, s:I}", "mlids", (json_int_t)u.mlids,
				  "mlids-limit", (json_int_t)u.limit,
				  "groups-sharing", (json_int_t)u.sharing,
				  "groups-refused", (json_int_t)u.refused));
	reply_rows(r, "groups", next_group, free, rows);
}
