/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Registers, changes, ends and lists services for ServiceRecord requests (15.2.5.14).
 *
 * A Set registers or changes a service, a Delete ends it; Get and GetTable list services.
 * sa/registry/services.h stores them.
 *
 * Only members of the partition of its ServiceP_Key see or change a service.  A service with
 * a ServiceKey can be changed only with that key or a secret SM_Key, and only a requester
 * with a secret SM_Key can read the ServiceKey.  A service without one can be changed by the port
 * that registered it, by the port that has its ServiceGID, or with a secret SM_Key; otherwise
 * any client could end the services of others.  If another port registered a service with a port's
 * GID, the port can change it without the ServiceKey.
 *
 * A port ends what it registered itself without the ServiceKey, too, as under OpenSM: a client that
 * ends a service with the record that a query returned cannot have the key, which no answer contains.
 */
#include <infiniband/umad_sa.h>

#include "lib/base/alloc.h"
#include "lib/base/bytes.h"
#include "sa/handler.h"
#include "sa/registry/services.h"

#define PKEY_DEFAULT (IB_PKEY_DEFAULT | IB_PKEY_FULL)	/* of a Set or Delete that has none */

#define D8(i)	{ SR_DATA_FIRST + (i), false, 896 + 8 * (i), 8 }
#define D16(i)	{ SR_DATA_FIRST + 16 + (i), false, 1024 + 16 * (i), 16 }
#define D32(i)	{ SR_DATA_FIRST + 24 + (i), false, 1152 + 32 * (i), 32 }
#define D64(i)	{ SR_DATA_FIRST + 28 + (i), false, 1280 + 64 * (i), 64 }

static const struct sa_field fields[] = {
	{ 0, false, 0, 64 },		/* ServiceID */
	{ 1, false, 64, 128 },		/* ServiceGID */
	{ 2, false, 192, 16 },		/* ServiceP_Key */
	{ 4, false, 224, 32 },		/* ServiceLease */
	{ 5, false, 256, 128 },		/* ServiceKey */
	{ 6, false, 384, 512 },		/* ServiceName */
	/* ServiceData8, 16, 32 and 64 */
	D8(0), D8(1), D8(2), D8(3), D8(4), D8(5), D8(6), D8(7),
	D8(8), D8(9), D8(10), D8(11), D8(12), D8(13), D8(14), D8(15),
	D16(0), D16(1), D16(2), D16(3), D16(4), D16(5), D16(6), D16(7),
	D32(0), D32(1), D32(2), D32(3),
	D64(0), D64(1),
};

static void make_record(const struct service *s, int64_t now_us, struct sa_service_record *r)
{
	memset(r, 0, sizeof(*r));
	put_be64(r->id, s->key.id);
	memcpy(r->gid, s->key.gid, sizeof(r->gid));
	put_be16(r->pkey, s->key.pkey);
	put_be32(r->lease, service_lease(s, now_us));
	memcpy(r->key, s->secret, sizeof(r->key));
	memcpy(r->name, s->name, sizeof(r->name));
	memcpy(r->data, s->data, sizeof(r->data));
}

static void hide_key(struct sa_service_record *r, bool privileged)
{
	if (!privileged)
		memset(r->key, 0, sizeof(r->key));
}

/* --- Get, GetTable --- */

struct service_rows {
	struct sa_rows rows;
	const struct services *db;
	const struct subnet_state *s;
	uint32_t requester;
	uint64_t mask;
	struct sa_service_record want;
	bool privileged, begun;
	int64_t now_us;
	struct service_key at;		/* key of the last service looked at, which may be gone */
};

static enum sa_step step(struct sa_rows *rows, void *record)
{
	struct service_rows *x = (struct service_rows *)(void *)rows;
	const struct service *s = services_from(x->db, &x->at, x->begun);
	struct sa_service_record *r = record;

	if (!s || (x->mask & SR_ID && s->key.id != get_be64(x->want.id)))
		return SA_END;
	x->at = s->key;
	x->begun = true;
	if (s->ends_us <= x->now_us ||
	    !port_is_member(x->s->plan->partitions, x->requester, s->key.pkey))
		return SA_SKIP;
	make_record(s, x->now_us, r);
	if (!sa_fields_match(fields, ARRAY_SIZE(fields), x->mask, &x->want, r, false))
		return SA_SKIP;
	hide_key(r, x->privileged);
	return SA_ROW;
}

uint16_t sa_service_get(struct sa_msg *m)
{
	struct service_rows *x = xcalloc(1, sizeof(*x));

	*x = (struct service_rows){
		.rows = { .size = sizeof(x->want), .step = step },
		.db = m->sa->services, .s = m->s, .requester = m->requester, .mask = m->mask,
		.privileged = m->privileged, .now_us = m->req->arrived_us,
	};
	memcpy(&x->want, m->data, sizeof(x->want));
	if (m->mask & SR_ID)
		x->at.id = get_be64(x->want.id);
	m->rows = &x->rows;
	return IB_STATUS_OK;
}

/* --- Set, Delete --- */

/*
 * The components of the record that count for a Set or Delete.  A Delete whose mask names no part
 * of the RID means the whole RID of its record: some clients delete the record that a query
 * returned as it is, and OpenSM never looks at the mask of a Delete.
 */
static uint64_t named_components(const struct sa_msg *m, const struct sa_service_record *r)
{
	uint64_t rid = SR_ID | SR_GID | SR_PKEY;

	return m->method == UMAD_SA_METHOD_DELETE && !(m->mask & rid) && !sa_gid_is_null(r->gid) ?
	       m->mask | rid : m->mask;
}

/* Reads the key of the service for a Set or Delete; the requester must be in its partition. */
static uint16_t read_key(const struct sa_msg *m, const struct sa_service_record *r,
			 struct service_key *key)
{
	uint64_t needed = SR_ID | SR_GID, named = named_components(m, r);

	if ((named & needed) != needed)
		return IB_SA_INSUFFICIENT_COMPONENTS;
	*key = (struct service_key){
		.id = get_be64(r->id), .pkey = named & SR_PKEY ? get_be16(r->pkey) : PKEY_DEFAULT,
	};
	memcpy(key->gid, r->gid, sizeof(key->gid));
	return port_is_member(m->s->plan->partitions, m->requester, key->pkey) ?
	       IB_STATUS_OK : IB_SA_REQ_INVALID;
}

/* Whether the ServiceGID names the requester. */
static bool is_in_its_name(const struct sa_msg *m, const struct service_key *key)
{
	uint32_t port;

	return key->gid[0] != 0xff && !sa_gid_port(m, key->gid, &port) && port == m->requester;
}

static bool may_change(const struct sa_msg *m, const struct sa_service_record *r,
		       const struct service *s)
{
	static const uint8_t none[16];
	const uint8_t *said = m->mask & SR_KEY ? r->key : none;
	bool is_source = s->source == m->s->f->ports[m->requester].guid &&
			 fabric_owns_guid(m->s->f, m->requester);

	if (m->privileged || (!is_source && is_in_its_name(m, &s->key)))
		return true;
	if (!memcmp(s->secret, none, sizeof(none)))
		return is_source;
	if (is_source && m->method == UMAD_SA_METHOD_DELETE && !(m->mask & SR_KEY))
		return true;
	return !memcmp(s->secret, said, sizeof(s->secret));
}

/*
 * Checks that the ServiceGID is a multicast GID, that of a port in the service's partition, or one
 * of another subnet.  The SA cannot tell who has the latter; it is in nobody's name here, so that
 * only its source may change such a service, or who knows its ServiceKey.  Prefix 0 belongs to the
 * reserved GID and the loopback GID, which no port has (4.1.1).
 */
static uint16_t check_gid(const struct sa_msg *m, const struct service_key *key)
{
	uint32_t port;
	uint16_t status;

	if (key->gid[0] == 0xff || (get_be64(key->gid) && !sa_is_our_prefix(m->s, get_be64(key->gid))))
		return IB_STATUS_OK;
	if ((status = sa_gid_port(m, key->gid, &port)))
		return status;
	return port_is_member(m->s->plan->partitions, port, key->pkey) ?
	       IB_STATUS_OK : IB_SA_REQ_INVALID;
}

/* Components that are not in the mask do not change; but without a lease, the service never expires. */
static void update(const struct sa_msg *m, const struct sa_service_record *r, struct service *s)
{
	uint32_t lease = m->mask & SR_LEASE ? get_be32(r->lease) : SERVICE_FOREVER;

	/* a port that changes the service by its ServiceKey does not become its source */
	if (!s->source || is_in_its_name(m, &s->key))
		s->source = m->s->f->ports[m->requester].guid;
	s->ends_us = lease == SERVICE_FOREVER ? SERVICE_NEVER :
		     m->req->arrived_us + lease * 1000000ll;
	if (m->mask & SR_KEY)
		memcpy(s->secret, r->key, sizeof(s->secret));
	if (m->mask & SR_NAME)
		memcpy(s->name, r->name, sizeof(s->name));
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		size_t at = fields[i].offset / 8 - offsetof(struct sa_service_record, data);

		if (fields[i].bit >= SR_DATA_FIRST && m->mask >> fields[i].bit & 1)
			memcpy(s->data + at, r->data + at, fields[i].width / 8);
	}
}

static void answer(struct sa_msg *m, const struct service *s)
{
	struct sa_service_record r;

	make_record(s, m->req->arrived_us, &r);
	hide_key(&r, m->privileged);
	sa_add(m, &r, sizeof(r));
}

uint16_t sa_service_set(struct sa_msg *m)
{
	struct sa_service_record r;
	struct service s = { 0 };
	uint16_t status;

	memcpy(&r, m->data, sizeof(r));
	if ((status = read_key(m, &r, &s.key)) || (status = check_gid(m, &s.key)))
		return status;
	const struct service *old = services_find(m->sa->services, &s.key);

	if (old && old->ends_us > m->req->arrived_us) {
		if (!may_change(m, &r, old))
			return IB_SA_REQ_DENIED;
		s = *old;
	}
	update(m, &r, &s);
	if (!services_room(m->sa->services, &s) || !services_put(m->sa->services, &s))
		return IB_SA_NO_RESOURCES;
	answer(m, &s);
	return IB_STATUS_OK;
}

/* The answer has the service as it was. */
uint16_t sa_service_delete(struct sa_msg *m)
{
	struct sa_service_record r;
	struct service_key key;
	uint16_t status;

	memcpy(&r, m->data, sizeof(r));
	if ((status = read_key(m, &r, &key)))
		return status;
	const struct service *s = services_find(m->sa->services, &key);

	if (!s || s->ends_us <= m->req->arrived_us)
		return IB_SA_NO_RECORDS;
	if (!may_change(m, &r, s))
		return IB_SA_REQ_DENIED;
	answer(m, s);
	services_remove(m->sa->services, &key);
	return IB_STATUS_OK;
}
