/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Compares the fabric with its expected topology; see expected_topology.h.
 *
 * The file of the accepted topology, and the text that standbys copy, has a line "accepted TIME UID", with the
 * time in realtime µs, and the lines of expected_print(); nothing else if none is accepted.  Whom the user
 * accepted it for follows UID, after a blank.
 */
#include "daemon/expected_topology.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/daemon.h"
#include "fabric/dump/dump.h"
#include "fabric/expected.h"
#include "lib/base/alloc.h"
#include "lib/base/clean.h"
#include "lib/base/clock.h"
#include "lib/base/file.h"
#include "lib/base/log.h"
#include "qosd/ctl.h"

/* What a user has accepted. */
struct loading {
	struct expected *x;		/* NULL: the first line has not been read */
	struct buf lines;		/* of x */
	int64_t since_us, uid;
	char *behalf;			/* whom that user accepted it for; NULL: nobody else */
};

struct expected_topology {
	struct qosd *q;
	struct ctl_topology shown;
	struct loading aside;		/* what is accepted, while a file says what is expected */
	char *behalf;			/* = shown.behalf, owned */
	/* lines of what was accepted, as on disk: to print them takes too long for the loop */
	struct buf lines;
	struct file_stamp stamp;	/* of the file as it was read last */
	bool was_read;
	size_t told[EXPECTED_KINDS];	/* numbers of the last event */
	uint64_t changes;		/* of what is accepted */
	struct subnet_state *next;	/* to be compared when the thread ends; NULL: none */
	bool outdated;			/* the settings name another file than the thread reads */
	/* the thread's: what it compares and what comes of it */
	struct work *work;
	char *path;			/* of the file; NULL: none */
	struct topology_check *check;
	struct expected *read;		/* from the file, if that was read; NULL with findings: an error */
	struct findings found;
	bool reads;
};

/* --- the accepted topology on disk --- */

static bool load_line(void *arg, const char *line)
{
	struct loading *l = arg;
	int end = 0;

	if (l->x) {
		buf_puts(&l->lines, line);
		buf_puts(&l->lines, "\n");
		return expected_line(l->x, line);
	}
	if (sscanf(line, "accepted %" SCNd64 " %" SCNd64 "%n", &l->since_us, &l->uid, &end) != 2 ||
	    (line[end] && (line[end] != ' ' || !line[end + 1] || strlen(line + end + 1) > CTL_BEHALF_MAX)))
		return false;
	if (line[end]) {
		l->behalf = xstrdup(line + end + 1);
		clean_text(l->behalf);
	}
	l->x = expected_new();
	return true;
}

static void loading_free(struct loading *l)
{
	expected_unref(l->x);
	buf_free(&l->lines);
	free(l->behalf);
	*l = (struct loading){ 0 };
}

/* Nobody has accepted what is expected now. */
static void forget_who(struct expected_topology *t)
{
	free(t->behalf);
	t->behalf = NULL;
	t->shown.behalf = NULL;
	t->shown.uid = -1;
}

/* Takes over the lines of what was accepted. */
static void take_lines(struct expected_topology *t, struct buf *lines)
{
	buf_free(&t->lines);
	t->lines = *lines;
	*lines = (struct buf){ 0 };
}

/* Takes what was loaded, which may be nothing. */
static void take_loaded(struct expected_topology *t, struct loading *l)
{
	forget_who(t);
	expected_unref(t->shown.expected);
	t->shown.expected = l->x;
	take_lines(t, &l->lines);
	t->shown.since_us = l->since_us;
	t->shown.uid = l->x ? l->uid : -1;
	t->shown.behalf = t->behalf = l->behalf;
	t->changes++;
}

static void put_aside(struct expected_topology *t, const struct loading *l)
{
	loading_free(&t->aside);
	t->aside = *l;
}

static void load_accepted(struct expected_topology *t)
{
	struct loading l = { 0 };

	if (!store_load_accepted(t->q->store, load_line, &l))
		loading_free(&l);
	else if (t->shown.file)
		put_aside(t, &l);
	else
		take_loaded(t, &l);
}

static void save_accepted(const struct expected_topology *t)
{
	struct buf b = { 0 };

	buf_puts(&b, "");
	expected_topology_print(t, &b);
	store_save_accepted(t->q->store, b.s);
	buf_free(&b);
}

/* --- comparing --- */

static void read_file(struct expected_topology *t)
{
	const struct dump_source from = { .path = t->path };
	struct file_stamp stamp = { 0 };
	struct dump *d;

	file_stamp(from.path, &stamp);
	t->reads = !t->was_read || !file_stamp_same(&stamp, &t->stamp);
	if (!t->reads)
		return;
	t->stamp = stamp;
	d = dump_read(&from, &t->found);
	if (!d)
		return;
	t->read = expected_of_dump(d);
	dump_release(d);
}

/* In the thread.  A file that has become unusable leaves the former topology as it is. */
static void compare(void *arg)
{
	struct expected_topology *t = arg;
	struct topology_check *c = t->check;

	if (t->path)
		read_file(t);
	if (t->read || c->expected)	/* reference counts are for the loop's thread */
		expected_compare(t->read ? t->read : c->expected, c->state->f, &c->findings);
}

static void compared(void *arg);

static void start(struct expected_topology *t, struct subnet_state *now)
{
	struct topology_check *c = xcalloc(1, sizeof(*c));

	c->refs = 1;
	c->state = state_ref(now);
	c->expected = t->shown.expected;
	if (c->expected)
		c->expected->refs++;
	t->check = c;
	t->path = xstrdup_or_null(t->shown.file);
	t->outdated = false;
	t->work = work_start(t->q->loop, compare, compared, t);
	if (!t->work) {		/* as many threads as there may be: after the next sweep */
		topology_check_unref(c);
		t->check = NULL;
		free(t->path);
		t->path = NULL;
	}
}

static void tell(struct expected_topology *t)
{
	const size_t *n = t->shown.check->findings.count;
	struct event e;
	size_t all = 0;

	if (!memcmp(n, t->told, sizeof(t->told)))
		return;
	memcpy(t->told, n, sizeof(t->told));
	for (unsigned k = 0; k < EXPECTED_KINDS; k++)
		all += n[k];
	event_make(&e, EVENT_TOPOLOGY_DIFFERS, all ? "the fabric differs from its expected topology: %zu miscabled, "
		   "%zu missing and %zu surplus links, %zu missing and %zu unknown nodes" :
		   "the fabric is as expected", n[EXPECTED_MISCABLED], n[EXPECTED_LINK_MISSING],
		   n[EXPECTED_LINK_SURPLUS], n[EXPECTED_NODE_MISSING], n[EXPECTED_NODE_UNKNOWN]);
	e.severity = all ? SEV_WARNING : SEV_INFO;
	event_number(&e, "miscabled", (int64_t)n[EXPECTED_MISCABLED]);
	event_number(&e, "links-missing", (int64_t)n[EXPECTED_LINK_MISSING]);
	event_number(&e, "links-surplus", (int64_t)n[EXPECTED_LINK_SURPLUS]);
	event_number(&e, "nodes-missing", (int64_t)n[EXPECTED_NODE_MISSING]);
	event_number(&e, "nodes-unknown", (int64_t)n[EXPECTED_NODE_UNKNOWN]);
	operator_events_add(t->q->operator_events, &e);
}

/* Takes what the thread read. */
static void take_file(struct expected_topology *t)
{
	t->was_read |= t->reads;
	if (!t->reads)
		return;
	t->shown.since_us = clock_real_us();
	findings_log(&t->found, "topology");
	findings_free(&t->shown.errors);
	t->shown.errors = t->found;
	t->found = (struct findings){ 0 };
	if (t->read) {
		expected_unref(t->shown.expected);
		t->shown.expected = t->read;
		expected_unref(t->check->expected);
		t->check->expected = t->read;
		t->read->refs++;
	}
	t->read = NULL;
}

/* What the thread read is not what counts any more. */
static void drop_file(struct expected_topology *t)
{
	expected_unref(t->read);
	t->read = NULL;
	findings_free(&t->found);
	topology_check_unref(t->check);
	t->check = NULL;
}

static void compared(void *arg)
{
	struct expected_topology *t = arg;
	struct subnet_state *next = t->next;

	work_end(t->work);
	t->work = NULL;
	free(t->path);
	t->path = NULL;
	if (t->outdated)
		drop_file(t);
	else
		take_file(t);
	topology_check_unref(t->shown.check);
	t->shown.check = NULL;
	/* not if another topology was accepted, or this daemon is no longer master */
	if (t->check && t->check->expected && t->check->expected == t->shown.expected && t->q->sa.state) {
		t->shown.check = t->check;
		t->check = NULL;
		tell(t);
	}
	topology_check_unref(t->check);
	t->check = NULL;
	t->next = NULL;
	if (next)
		start(t, next);
	state_unref(next);
}

void expected_topology_settled(struct expected_topology *t, struct subnet_state *now)
{
	state_unref(t->next);
	t->next = NULL;
	if (!now) {
		topology_check_unref(t->shown.check);
		t->shown.check = NULL;
		return;
	}
	if (!t->shown.file && !t->shown.expected)
		return;
	if (t->work)
		t->next = state_ref(now);
	else
		start(t, now);
}

/* --- accepting --- */

/* While a file says what is expected, nothing can be accepted; nor by a daemon that is no longer master. */
static bool may_accept(const struct expected_topology *t, struct buf *err)
{
	if (t->shown.file)
		buf_printf(err, "expected-topology of qosd.yaml names %s: change that file, or remove the setting",
			   t->shown.file);
	else if (!t->q->sa.state)
		buf_puts(err, "the subnet is not up");
	return !err->n;
}

bool expected_topology_accept(void *arg, struct expected *x, struct buf *lines, struct asker who, struct buf *err)
{
	struct qosd *q = arg;
	struct expected_topology *t = q->topology;
	struct event e;

	if (!may_accept(t, err)) {
		expected_unref(x);
		buf_free(lines);
		return false;
	}
	expected_unref(t->shown.expected);
	t->shown.expected = x;
	take_lines(t, lines);
	t->shown.since_us = clock_real_us();
	forget_who(t);
	t->shown.uid = who.uid;
	t->shown.behalf = t->behalf = xstrdup_or_null(who.behalf);
	t->changes++;
	sm_operator_changed(t->q->sm);
	save_accepted(t);
	topology_check_unref(t->shown.check);
	t->shown.check = NULL;
	event_make(&e, EVENT_TOPOLOGY_ACCEPTED, !x ? "no topology is expected any more" :
		   "the fabric as it is was accepted as the expected topology: %zu nodes", x ? x->nodes.n : 0);
	operator_events_add_asked(q->operator_events, "topology", &e, who);
	expected_topology_settled(t, q->sa.state);
	return true;
}

const struct ctl_topology *expected_topology_shown(const struct expected_topology *t)
{
	return &t->shown;
}

/* --- replication --- */

uint64_t expected_topology_changes(const struct expected_topology *t)
{
	return t->changes;
}

void expected_topology_print(const struct expected_topology *t, struct buf *b)
{
	if (t->shown.file || !t->shown.expected)
		return;
	buf_printf(b, "accepted %" PRId64 " %" PRId64 "%s%s\n", t->shown.since_us, t->shown.uid,
		   t->behalf ? " " : "", t->behalf ? t->behalf : "");
	buf_add(b, t->lines.s, t->lines.n);
}

bool expected_topology_inherit(struct expected_topology *t, char *text)
{
	struct loading l = { 0 };

	if (!store_each_line(text, load_line, &l)) {
		loading_free(&l);
		return false;
	}
	if (t->shown.file) {		/* which says what is expected here */
		put_aside(t, &l);
		return true;
	}
	take_loaded(t, &l);
	save_accepted(t);
	return true;
}

/* --- beginning and end --- */

struct expected_topology *expected_topology_new(struct qosd *q)
{
	struct expected_topology *t = xcalloc(1, sizeof(*t));

	t->q = q;
	t->shown.uid = -1;
	t->shown.file = q->settings->expected_topology;
	load_accepted(t);
	return t;
}

void expected_topology_other_file(struct expected_topology *t)
{
	struct loading accepted = { t->shown.expected, t->lines, t->shown.since_us, t->shown.uid, t->behalf };
	bool had_file = t->shown.file;

	topology_check_unref(t->shown.check);
	t->shown.check = NULL;
	findings_free(&t->shown.errors);
	t->shown.file = t->q->settings->expected_topology;
	t->was_read = false;
	t->outdated = true;
	t->changes++;
	t->behalf = NULL;
	t->lines = (struct buf){ 0 };
	if (!had_file)
		put_aside(t, &accepted);
	else
		loading_free(&accepted);
	t->shown.expected = NULL;
	forget_who(t);
	if (!t->shown.file) {
		take_loaded(t, &t->aside);
		t->aside = (struct loading){ 0 };
	}
	expected_topology_settled(t, t->q->sa.state);
}

void expected_topology_free(struct expected_topology *t)
{
	if (!t)
		return;
	work_end(t->work);
	free(t->path);
	loading_free(&t->aside);
	free(t->behalf);
	buf_free(&t->lines);
	expected_unref(t->read);
	topology_check_unref(t->check);
	topology_check_unref(t->shown.check);
	expected_unref(t->shown.expected);
	findings_free(&t->found);
	findings_free(&t->shown.errors);
	state_unref(t->next);
	free(t);
}
