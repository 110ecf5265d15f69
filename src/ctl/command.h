/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Requests to answers, without a socket.
 *
 * command_start() parses a request and runs its handler, which leaves a head
 * and, for tables, a generator of rows in the reply.  reply_pull() then gives
 * the answer line by line, as fast as the caller wants it.  A reply that has
 * rows holds a reference to the state that it shows, if there is one.
 */
#ifndef QOSD_CTL_COMMAND_H
#define QOSD_CTL_COMMAND_H

#include "ctl/commands/cmd_routes.h"
#include "ctl/ctl.h"
#include "lib/format/json.h"
#include "qosd/commands.h"

struct ctl_peer {
	enum ctl_right right;
	int64_t uid, gid;	/* -1: not known */
};

#define CTL_LOSSY_MAX 16	/* devices to which SMPs are lost, as shown */

/* What is known at the moment of the request. */
struct ctl_view {
	struct subnet_state *state;	/* NULL: no subnet published */
	struct sm_status sm;
	const struct mad_counts *mad;	/* NULL: no port open */
	struct ctl_peer peer;
	struct buf *file;		/* with the request, for the handler to take; or NULL */
	struct jobs *jobs;
	struct gauges *gauges;		/* may be NULL for metrics: none of the routes */
	struct follower **tracers;	/* of the SA; see follow.h */
	struct follower **watchers;	/* of events */
};

struct ctl_call {
	const struct ctl_env *env;
	const struct ctl_view *view;
	const struct subnet_state *state;	/* view->state; not NULL where the table says so */
	const json_t *args;			/* object, checked against the command's table */
};

struct reply {
	/*
	 * REPLY_WAITING: a job is at it, and ready() is called when there is a head.
	 * REPLY_FOLLOWING: there is no row for now; ready() is called when there may be.
	 */
	enum { REPLY_HEAD, REPLY_ROWS, REPLY_DONE, REPLY_WAITING, REPLY_FOLLOWING } stage;
	struct job *job;
	bool denied;			/* the client may not do what it asked for */
	bool follows;			/* that next() has no row means: not yet */
	void (*ready)(void *arg);	/* set by whoever started the command, if stage says so */
	void *ready_arg;
	json_t *head;			/* owned */
	/* Rows: NULL when there are none.  The generator returns NULL at its end. */
	json_t *(*next)(void *rows);
	void (*release)(void *rows);
	void *rows;
	struct subnet_state *state;	/* referenced while there are rows; NULL: there was none */
};

/*
 * Starts the answer to one request line (n bytes, without the newline;
 * anything) of view->peer.  reply is zeroed first and ended with reply_free().
 */
void command_start(const struct ctl_env *env, const struct ctl_view *view, const char *line,
		   size_t n, struct reply *reply);
/* Whether a file of *bytes bytes follows a request line.  BODY_REFUSED: the reply says why not. */
enum body { BODY_NONE, BODY_FOLLOWS, BODY_REFUSED };
enum body command_body(const struct ctl_env *env, const struct ctl_peer *peer, const char *line,
		       size_t n, size_t *bytes, struct reply *reply);
/* A reply that says no, for requests that are none. */
void reply_refuse(struct reply *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/*
 * Appends the next line of the answer, newline included; false when it was
 * complete already, or if it follows and there is no line for now.
 */
bool reply_pull(struct reply *r, struct buf *out);
void reply_free(struct reply *r);

/* --- for handlers: one of the first two once, reply_rows() after reply_result() --- */

/* The result; takes over the object (may be NULL: nothing to say but ok). */
void reply_result(struct reply *r, json_t *result);
/* No, and why.  Members of `more` (may be NULL; taken over) are added to the answer. */
void reply_error(struct reply *r, json_t *more, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/*
 * Rows follow, elements of the array `name` of the result ("": the rows are
 * the answer).  Takes over rows, which release() frees; the call's state stays
 * valid until then.
 */
void reply_rows(struct reply *r, const char *name, json_t *(*next)(void *rows),
		void (*release)(void *rows), void *rows);

/*
 * Rows come as things happen, until the client goes away: next() returns NULL
 * when there is none for now, and whoever makes them calls reply_more() when
 * there is one.  After reply_rows().
 */
void reply_follow(struct reply *r);
void reply_more(struct reply *r);

/*
 * The answer comes later: work() runs in a thread of its own, then answer() in
 * the loop's, which does one of the above to the reply, or to a reply that is
 * thrown away if the client is gone; then release().  Refuses, and releases arg, if
 * as many jobs as may be are running.
 *
 * Where there is something to be waited for, then() comes between the two: with done(job), the
 * last thing it does or later, the answer can be given.  Meanwhile the job is none of
 * those that are running; if the client goes away it is released at once.
 */
struct job_ops {
	void (*work)(void *arg);
	void (*then)(void *arg, void (*done)(void *job), void *job);	/* or NULL */
	void (*answer)(void *arg, struct reply *r);
	void (*release)(void *arg);
};
void reply_later(struct reply *r, struct jobs *jobs, const struct job_ops *ops, void *arg);

/* Those of one control socket (job.c); freeing waits for those that run. */
struct jobs *jobs_new(struct loop *l);
void jobs_free(struct jobs *jobs);	/* NULL is fine */
/* The reply is no more: nobody waits for the job. */
void job_forget(struct job *job);	/* NULL is fine */

/* Arguments: the text or NULL; a number that was checked already, false if not given. */
const char *arg_text(const struct ctl_call *c, const char *name);
bool arg_number(const struct ctl_call *c, const char *name, uint64_t *value);
/* False if not given. */
bool arg_flag(const struct ctl_call *c, const char *name);
/* The port that an argument names, or FABRIC_NONE and an error in the reply. */
uint32_t arg_port(const struct ctl_call *c, const char *name, struct reply *r);
/* The same, but it must be an end port that has a LID. */
uint32_t arg_end_port(const struct ctl_call *c, const char *name, struct reply *r);
uint32_t end_port(const struct ctl_call *c, const char *text, struct reply *r);
/* … or FABRIC_NONE, and *why says what is wrong with the text (else NULL). */
uint32_t find_end_port(const struct ctl_call *c, const char *text, const char **why);

/* --- JSON values --- */

json_t *json_vls(const struct sl2vl *map);	/* array of 16 */
json_t *json_findings(const struct findings *f);
/* Which engine was chosen for the plan's routes, and why; null unless routing is auto. */
json_t *json_choice_text(const struct plan *p);
const char *attr_name(unsigned attr);		/* of the SM classes, below 0x40; or NULL */
json_t *json_sa_attr(unsigned attr);		/* of the SA: its name, or 0xnnnn */
int sa_attr_by_name(const char *name);		/* -1: there is none */
const char *sa_status_name(unsigned slot);	/* of sa/sa_stats.h */
/* What the SA did: a sum, made now.  NULL: there is none. */
const struct sa_stats *sa_sums(const struct ctl_env *env);
json_t *json_uid(int64_t uid);			/* null where there is none */
/* "NodeDescription/Pn (0xguid)" */
json_t *json_port(const struct subnet_state *s, uint32_t port);
/* The names of the levels whose own SLs, those of layer 0, are among these. */
json_t *json_levels(const struct policy *p, uint16_t sls);
/* A rule by number, line, description and level. */
json_t *json_rule(const struct policy *p, uint32_t rule);
/* How a policy is called in answers: file, checksum, loaded (null: not), source, uid. */
json_t *json_policy(const struct shared_policy *p);
/* {"file", "seconds-left", "back-to": a policy}, or null. */
json_t *json_trial(const struct policies *ps);

/*
 * How many partitions were added at run time, and whether they are in force (by the
 * policy that is; NULL: none is on the devices yet); null: none can be added.
 */
json_t *json_dynamic(const struct ctl_env *env, const struct shared_policy *in_force);

/* --- handlers --- */

#define COMMAND(id, ...) void cmd_##id(const struct ctl_call *c, struct reply *r);
#define DAEMON_COMMAND COMMAND
#include "qosd/commands.def"

#endif
