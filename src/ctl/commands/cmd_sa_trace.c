/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Answers `sa-trace`: requests to the SA and its answers, as they happen.  This file filters out
 * what the client does not want to see: the SA has no filters.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/umad_sa.h>

#include "ctl/follow.h"
#include "lib/base/alloc.h"
#include "lib/base/bytes.h"
#include "lib/iba/iba.h"
#include "lib/iba/sa_records.h"
#include "sa/request_trace.h"

struct tracing {
	struct follower follower;
	const struct ctl_env *env;
	uint64_t next;			/* index of the next event */
	uint64_t lost;			/* lost events not reported yet */
	uint64_t left;			/* number of events still to show */
	bool limited;
	/* filter: */
	uint16_t lid;			/* client's LID; 0: any */
	int attr;			/* -1: any */
	bool errors;			/* only requests without a successful answer */
};

static const char *method_name(unsigned method)
{
	static const char *const names[] = {
		[0x01] = "Get", [0x02] = "Set", [0x06] = "Report", [0x12] = "GetTable",
		[0x13] = "GetTraceTable", [0x14] = "GetMulti", [0x15] = "Delete",
	};

	return method < ARRAY_SIZE(names) && names[method] ? names[method] : "?";
}

static json_t *json_gid(const uint8_t gid[16])
{
	return json_sprintf("%x:%x:%x:%x:%x:%x:%x:%x", get_be16(gid), get_be16(gid + 2),
			    get_be16(gid + 4), get_be16(gid + 6), get_be16(gid + 8),
			    get_be16(gid + 10), get_be16(gid + 12), get_be16(gid + 14));
}

/* The components of a PathRecord that the mask selects. */
static json_t *json_path_asked(const struct sa_path_record *r, uint64_t mask)
{
	json_t *o = json_object();
	uint16_t class_sl = get_be16(r->qos_class_sl);

	if (mask & (PR_SERVICE_ID_MSB | PR_SERVICE_ID_LSB))
		json_object_set_new(o, "service-id",
				    json_sprintf("0x%016" PRIx64, get_be64(r->service_id)));
	if (mask & PR_SGID)
		json_object_set_new(o, "sgid", json_gid(r->sgid));
	if (mask & PR_DGID)
		json_object_set_new(o, "dgid", json_gid(r->dgid));
	if (mask & PR_SLID)
		json_object_set_new(o, "slid", json_integer(get_be16(r->slid)));
	if (mask & PR_DLID)
		json_object_set_new(o, "dlid", json_integer(get_be16(r->dlid)));
	if (mask & PR_PKEY)
		json_object_set_new(o, "pkey", json_sprintf("0x%04x", get_be16(r->pkey)));
	if (mask & PR_QOS_CLASS)
		json_object_set_new(o, "qos-class", json_integer(class_sl >> 4));
	if (mask & PR_SL)
		json_object_set_new(o, "sl", json_integer(class_sl & 0xf));
	if (mask & PR_TCLASS)
		json_object_set_new(o, "tclass", json_integer(r->tclass));
	return o;
}

static json_t *json_path_answered(const struct sa_path_record *r)
{
	return json_pack("{s:i, s:i, s:i, s:o, s:i, s:i, s:i}",
			 "slid", get_be16(r->slid), "dlid", get_be16(r->dlid),
			 "sl", get_be16(r->qos_class_sl) & 0xf,
			 "pkey", json_sprintf("0x%04x", get_be16(r->pkey)),
			 "mtu", r->mtu & 0x3f, "rate", r->rate & 0x3f, "lifetime", r->life & 0x3f);
}

static json_t *json_event(const struct tracing *t, const struct sa_event *e)
{
	const struct subnet_state *s = t->env->sa ? t->env->sa->state : NULL;
	uint32_t port = s && e->slid <= IB_LID_UCAST_MAX ? s->plan->port_by_lid[e->slid] :
							    FABRIC_NONE;
	struct sa_path_record r;
	json_t *o = json_pack("{s:o, s:i, s:o, s:s, s:o, s:o, s:b, s:i, s:I, s:o}",
		"time", json_time_us(e->when_us), "lid", e->slid,
		"client", port != FABRIC_NONE ? json_port(s, port) : json_null(),
		"method", method_name(e->method), "attribute", json_sa_attr(e->attr),
		"mask", json_sprintf("0x%" PRIx64, e->mask), "dropped", e->dropped,
		"status", e->status, "records", (json_int_t)e->records,
		"us", e->us ? json_integer(e->us) : json_null());

	/* a query for paths, or for the nodes on one */
	if ((e->attr == UMAD_SA_ATTR_PATH_REC || e->attr == UMAD_SA_ATTR_TRACE_REC) &&
	    e->n_asked == sizeof(r)) {
		memcpy(&r, e->asked, sizeof(r));
		json_object_set_new(o, "asked", json_path_asked(&r, e->mask));
	}
	if ((e->attr == UMAD_SA_ATTR_PATH_REC || e->attr == UMAD_SA_ATTR_MULTI_PATH_REC) &&
	    e->n_answered == sizeof(r)) {
		memcpy(&r, e->answered, sizeof(r));
		json_object_set_new(o, "answered", json_path_answered(&r));
	}
	return o;
}

static bool is_wanted(const struct tracing *t, const struct sa_event *e)
{
	return (!t->lid || e->slid == t->lid) && (t->attr < 0 || e->attr == t->attr) &&
	       (!t->errors || e->dropped || e->status);
}

static json_t *next_event(void *rows)
{
	struct tracing *t = rows;
	struct sa_event e;
	uint64_t lost;

	if (t->limited && !t->left) {
		t->follower.reply->follows = false;
		return NULL;
	}
	while (sa_trace_get(t->env->trace, &t->next, &e, &lost)) {
		t->lost += lost;
		if (!is_wanted(t, &e))
			continue;
		json_t *o = json_event(t, &e);

		if (t->lost)
			json_object_set_new(o, "lost-before", json_integer((json_int_t)t->lost));
		t->lost = 0;
		t->left--;
		return o;
	}
	return NULL;
}

static void release_tracing(void *rows)
{
	struct tracing *t = rows;

	unfollow(&t->follower);
	sa_trace_watch(t->env->trace, false);
	free(t);
}

void cmd_sa_trace(const struct ctl_call *c, struct reply *r)
{
	const char *attr = arg_text(c, "attribute");
	uint32_t port = FABRIC_NONE;
	struct tracing *t;
	int id = -1;

	if (!c->env->trace) {
		reply_error(r, NULL, "this daemon has no subnet administrator");
		return;
	}
	if (attr && (id = sa_attr_by_name(attr)) < 0) {
		reply_error(r, NULL, "attribute: no such attribute: %s", attr);
		return;
	}
	if (arg_text(c, "client") && !c->state) {
		reply_error(r, NULL, "client: the subnet is not known yet");
		return;
	}
	if (arg_text(c, "client") && (port = arg_end_port(c, "client", r)) == FABRIC_NONE)
		return;
	t = xcalloc(1, sizeof(*t));
	t->env = c->env;
	t->next = sa_trace_end(c->env->trace);
	t->attr = id;
	t->errors = arg_flag(c, "errors");
	t->limited = arg_number(c, "count", &t->left);
	if (port != FABRIC_NONE)
		t->lid = c->state->plan->lid[port];
	sa_trace_watch(t->env->trace, true);
	reply_result(r, NULL);
	reply_rows(r, "", next_event, release_tracing, t);
	follow(c->view->tracers, &t->follower, r);
}
