/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Turns requests into answers, without a socket.
 *
 * command_start() parses a request and runs its handler, which puts a head and, for tables, a
 * generator of rows into the reply.  reply_pull() then returns the answer line by line, as fast as
 * the caller takes it.  A reply with rows holds a reference to the published state that it shows,
 * if there is one.
 */
#ifndef QOSD_CTL_COMMAND_H
#define QOSD_CTL_COMMAND_H

#include "ctl/commands/cmd_routes.h"
#include "ctl/ctl.h"
#include "lib/format/json.h"
#include "qosd/commands.h"

struct ctl_peer {
	enum ctl_right right;
	int64_t gid;		/* -1: unknown */
	bool is_gateway;	/* it may ask for others */
	struct asker who;	/* the peer's user, and whom it says that it asks for */
};

#define CTL_LOSSY_MAX 16	/* most devices shown that lose SMPs */

/* Program state at the time of the request. */
struct ctl_view {
	struct subnet_state *state;	/* NULL: nothing published */
	struct sm_status sm;
	const struct mad_counts *mad;	/* NULL: no port open */
	struct ctl_peer peer;
	struct buf *file;		/* file sent with the request, which the handler may take; or NULL */
	struct jobs *jobs;
	struct gauges *gauges;		/* NULL only for metrics: omits routes */
	struct follower **tracers;	/* followers of the SA's trace; see follow.h */
	struct follower **watchers;	/* followers of events */
};

struct ctl_call {
	const struct ctl_env *env;
	const struct ctl_view *view;
	const struct subnet_state *state;	/* view->state; not NULL if the command table requires it */
	const json_t *args;			/* object, checked against the command's table */
};

struct reply {
	/*
	 * REPLY_WAITING: a job is working on the answer, and ready() is called when there is a
	 * head.  REPLY_FOLLOWING: there is no row now, and ready() is called when there may be one.
	 */
	enum { REPLY_HEAD, REPLY_ROWS, REPLY_DONE, REPLY_WAITING, REPLY_FOLLOWING } stage;
	struct job *job;
	bool denied;			/* the client lacks the right for its request */
	bool follows;			/* NULL from next() means: no row yet */
	/* set by whoever started the command if stage is WAITING or FOLLOWING */
	void (*ready)(void *arg);
	void *ready_arg;
	json_t *head;			/* owned */
	/* Generator of rows; NULL: no rows.  It returns NULL at the end. */
	json_t *(*next)(void *rows);
	void (*release)(void *rows);
	void *rows;
	struct buf *bytes;		/* of the generator; they follow the row that it returned last; or NULL */
	struct subnet_state *state;	/* referenced while there are rows; or NULL */
};

/*
 * Starts the answer to one request line of view->peer: n bytes, without the newline, of any
 * content.  Zeroes reply first; the caller ends it with reply_free().
 */
void command_start(const struct ctl_env *env, const struct ctl_view *view, const char *line,
		   size_t n, struct reply *reply);
/*
 * Tells whether a file of *bytes bytes follows a request line.  BODY_REFUSED: the reply says why
 * not.
 */
enum body { BODY_NONE, BODY_FOLLOWS, BODY_REFUSED };
enum body command_body(const struct ctl_env *env, const struct ctl_peer *peer, const char *line,
		       size_t n, size_t *bytes, struct reply *reply);
/* Makes a refusal, for input that is not a request. */
void reply_refuse(struct reply *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/*
 * Appends the next line of the answer, newline included, and the bytes that follow it.  Returns
 * false if the answer is complete, or if it follows and has no line now.
 */
bool reply_pull(struct reply *r, struct buf *out);
void reply_free(struct reply *r);

/* Answers `routes --over` (cmd_routes_over.c). */
void answer_routes_over(const struct ctl_call *c, struct reply *r);

/* --- for handlers: call one of the first two once, reply_rows() after reply_result() --- */

/* Sets the result and takes ownership of it; NULL: just ok. */
void reply_result(struct reply *r, json_t *result);
/*
 * Refuses with a reason.  Members of `more` (may be NULL; takes ownership) are added to the answer.
 */
void reply_error(struct reply *r, json_t *more, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/*
 * Adds rows, as elements of the array `name` of the result ("": the rows are the answer).  Takes
 * ownership of rows, which release() frees; the call's state stays valid until then.
 */
void reply_rows(struct reply *r, const char *name, json_t *(*next)(void *rows),
		void (*release)(void *rows), void *rows);

/* A piece of a file. */
struct file_piece {
	const char *file;	/* its name; the pieces of a file are consecutive */
	double done;		/* fraction of the file that is complete, 0 to 1; -1: unknown */
	struct buf text;	/* empty at first */
};
/*
 * Adds rows that are pieces of files, as ctl.h describes; next() fills in a piece and returns false
 * at the end.  Otherwise the same as reply_rows().
 */
void reply_files(const struct ctl_call *c, struct reply *r,
		 bool (*next)(void *rows, struct file_piece *piece), void (*release)(void *rows),
		 void *rows);

/*
 * Makes rows appear as things happen, until the client disconnects: next() returns NULL if there is
 * no row now, and the producer calls reply_more() when there is one.  Call after reply_rows().
 */
void reply_follow(struct reply *r);
void reply_more(struct reply *r);

/*
 * Defers the answer: work() runs in a thread of its own, then answer() in the loop's thread, which
 * calls one of the functions above on the reply, or on a reply that is discarded if the client has
 * gone; then release().  Refuses, and releases arg, if the maximum of jobs is running.
 *
 * then(), if not NULL, waits for something else between work() and answer(): it must call
 * done(job), as its last action or later, when the answer can be given.  Meanwhile the job does not
 * count as running; if the client disconnects, it is released at once.
 */
struct job_ops {
	void (*work)(void *arg);
	void (*then)(void *arg, void (*done)(void *job), void *job);	/* or NULL */
	void (*answer)(void *arg, struct reply *r);
	void (*release)(void *arg);
};
void reply_later(struct reply *r, struct jobs *jobs, const struct job_ops *ops, void *arg);
/*
 * The same for a request that changes something: it is not refused for others that run, and waits only for changes
 * that came before it.  If the client disconnects before work() has begun, nothing is done.
 */
void reply_change_later(struct reply *r, struct jobs *jobs, const struct job_ops *ops, void *arg);

/* The jobs of one control socket (job.c); jobs_free() waits for running ones. */
struct jobs *jobs_new(struct loop *l);
void jobs_free(struct jobs *jobs);	/* accepts NULL */
struct loop *jobs_loop(const struct jobs *jobs);
/* The reply is gone: discards the job's answer. */
void job_forget(struct job *job);	/* accepts NULL */

/* Arguments: the text or NULL; a number that was checked before, false if absent. */
const char *arg_text(const struct ctl_call *c, const char *name);
/* The i-th text of an argument that may be repeated; NULL: there are no more. */
#define CTL_LIST_MAX 256
const char *arg_text_at(const struct ctl_call *c, const char *name, size_t i);
bool arg_number(const struct ctl_call *c, const char *name, uint64_t *value);
bool arg_seconds(const struct ctl_call *c, const char *name, uint64_t *value);
/* False if absent. */
bool arg_flag(const struct ctl_call *c, const char *name);
/* Whether a text is absent or one of the words, which blanks separate; else false with an error in the reply. */
bool arg_is_one_of(const struct ctl_call *c, const char *name, const char *words, struct reply *r);
/*
 * The index of the level that the argument `level` names, LEVEL_ALL if absent; else false with an error in the
 * reply.
 */
#define LEVEL_ALL UINT32_MAX
bool arg_level(const struct ctl_call *c, uint32_t *level, struct reply *r);
/* The port that a text names, or FABRIC_NONE with *why set to what is wrong with it (else NULL). */
uint32_t find_port(const struct ctl_call *c, const char *text, const char **why);
/* Refuses a text because of `why`, as find_port() says, with the name that may be meant. */
void refuse_port(const struct ctl_call *c, const char *text, const char *why, struct reply *r);
/* The port that an argument names, or FABRIC_NONE with an error in the reply. */
uint32_t arg_port(const struct ctl_call *c, const char *name, struct reply *r);
/* Like arg_port(), for an end port that has a LID. */
uint32_t arg_end_port(const struct ctl_call *c, const char *name, struct reply *r);
uint32_t end_port(const struct ctl_call *c, const char *text, struct reply *r);
/*
 * Like end_port(), but returns FABRIC_NONE with *why set to what is wrong with the text (else
 * NULL).
 */
uint32_t find_end_port(const struct ctl_call *c, const char *text, const char **why);

/* --- JSON values --- */

json_t *json_vls(const struct sl2vl *map);	/* array of 16 */
json_t *json_findings(const struct findings *f);
/* Which engine was chosen for the plan's routes, and why; null unless routing is auto. */
json_t *json_choice_text(const struct plan *p);
const char *attr_name(unsigned attr);		/* of an attribute of the SM classes, below 0x40; or NULL */
json_t *json_sa_attr(unsigned attr);		/* of an attribute of the SA: its name, or 0xnnnn */
int sa_attr_by_name(const char *name);		/* -1: unknown name */
const char *sa_status_name(unsigned slot);	/* slot of sa/sa_stats.h */
/* The SA's counters, summed now; NULL: none. */
const struct sa_stats *sa_sums(const struct ctl_env *env);
json_t *json_uid(int64_t uid);			/* null for -1 */
json_t *json_behalf(const char *behalf);	/* whom a user asked for; null for NULL and "" */
/* "NodeDescription/Pn (0xguid)" */
json_t *json_port(const struct subnet_state *s, uint32_t port);
/* Names of the levels whose own SLs, those of layer 0, are in the mask. */
json_t *json_levels(const struct policy *p, uint16_t sls);
/* The numbers of the bits that are set. */
json_t *json_bits(uint16_t bits);
/* A rule's number, line, description and level. */
json_t *json_rule(const struct policy *p, uint32_t rule);
/* Identifies a policy in answers: file, checksum, loaded (null: not), source, uid. */
json_t *json_policy(const struct shared_policy *p);
/* {"file", "seconds-left", "back-to": a policy}, or null. */
json_t *json_trial(const struct policies *ps);

/*
 * The number of dynamic partitions, and whether the policy in force has them (in_force NULL: the
 * devices have none yet); null: none can be added.
 */
json_t *json_dynamic(const struct ctl_env *env, const struct shared_policy *in_force);

/*
 * Makes the event of a command that changes something, with the user who gave it.  fmt makes what was asked
 * for, "" if the command says it all.  Other handlers have events of their own.
 */
void tell_operator_command(const struct ctl_call *c, const char *command, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* --- handlers --- */

#define COMMAND(id, ...) void cmd_##id(const struct ctl_call *c, struct reply *r);
#define DAEMON_COMMAND COMMAND
#include "qosd/commands.def"

#endif
