/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The thread that stores events, and the reader; history.h has the contracts.
 *
 * Waiting events are stored in one transaction, at most four times a second, so that a burst costs
 * few writes to the disk.  A batch that cannot be stored waits, and the database is opened again a
 * second later.  The lock is never held while SQLite works.
 */
#include "events/history/history.h"

#include <errno.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/alloc.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"

#define RETRY_US	1000000
#define BUSY_MS		2000	/* a reader is in the way */

struct item {
	int64_t when_us;
	const char *kind;
	char *json;
};

struct history {
	char *path;
	_Atomic uint64_t max_bytes;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct item *queue;		/* ring of HISTORY_QUEUE */
	size_t first, n;
	bool ending, ended;
	bool left;			/* the thread frees all of it */
	int64_t busy_since_us;		/* monotonic; 0: idle */
	struct history_state state;
	/* the thread's */
	sqlite3 *db;
	sqlite3_stmt *insert;
};

/* --- the database --- */

static void close_db(struct history *h)
{
	sqlite3_finalize(h->insert);
	sqlite3_close(h->db);
	h->insert = NULL;
	h->db = NULL;
}

static int run(struct history *h, const char *sql)
{
	return sqlite3_exec(h->db, sql, NULL, NULL, NULL);
}

/* The first number that a statement returns; -1: it fails. */
static int64_t number(struct history *h, const char *sql)
{
	sqlite3_stmt *s;
	int64_t value = -1;

	if (sqlite3_prepare_v2(h->db, sql, -1, &s, NULL) == SQLITE_OK && sqlite3_step(s) == SQLITE_ROW)
		value = sqlite3_column_int64(s, 0);
	sqlite3_finalize(s);
	return value;
}

static bool is_damage(int code)
{
	return code == SQLITE_CORRUPT || code == SQLITE_NOTADB;
}

/* Returns the error's code; the database is damaged, too, if it has another form than ours. */
static int open_db(struct history *h)
{
	static const char insert[] = "INSERT INTO events (time, kind, event) VALUES (?, ?, ?)";
	int code = sqlite3_open_v2(h->path, &h->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);

	if (code)
		return code;
	sqlite3_busy_timeout(h->db, BUSY_MS);
	code = run(h, "PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL;"
		   "PRAGMA synchronous = FULL; PRAGMA journal_size_limit = 4194304;"
		   "CREATE TABLE IF NOT EXISTS events (id INTEGER PRIMARY KEY AUTOINCREMENT,"
		   " time INTEGER NOT NULL, kind TEXT NOT NULL, event TEXT NOT NULL);"
		   "CREATE INDEX IF NOT EXISTS events_time ON events (time)");
	if (!code)
		code = sqlite3_prepare_v2(h->db, insert, -1, &h->insert, NULL);
	return code == SQLITE_ERROR ? SQLITE_CORRUPT : code;
}

static void move_aside(struct history *h)
{
	static const char *const parts[] = { "", "-wal", "-shm" };

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		char *from = xasprintf("%s%s", h->path, parts[i]);
		char *to = xasprintf("%s.damaged%s", h->path, parts[i]);

		if (rename(from, to) < 0 && errno != ENOENT)
			log_warn("history", "%s: cannot be renamed: %s", from, strerror(errno));
		free(from);
		free(to);
	}
	log_warn("history", "%s: is damaged; renamed to %s.damaged, and a new one begins", h->path,
		 h->path);
}

/* Removes a tenth of the events when the file is nearly as large as it may be. */
static int make_room(struct history *h)
{
	int64_t page = number(h, "PRAGMA page_size");
	int64_t used = number(h, "PRAGMA page_count") - number(h, "PRAGMA freelist_count");
	int code = SQLITE_OK;

	while (!code && page > 0 && (uint64_t)(used * page) > h->max_bytes - h->max_bytes / 8) {
		int64_t before = used;

		code = run(h, "DELETE FROM events WHERE id <= (SELECT min(id) + (max(id) - min(id)) / 10"
			   " FROM events); PRAGMA incremental_vacuum");
		used = number(h, "PRAGMA page_count") - number(h, "PRAGMA freelist_count");
		if (used >= before)
			break;
	}
	return code;
}

static int insert_all(struct history *h, const struct item *v, size_t n)
{
	int code = run(h, "BEGIN IMMEDIATE");

	for (size_t i = 0; !code && i < n; i++) {
		sqlite3_bind_int64(h->insert, 1, v[i].when_us);
		sqlite3_bind_text(h->insert, 2, v[i].kind, -1, SQLITE_STATIC);
		sqlite3_bind_text(h->insert, 3, v[i].json, -1, SQLITE_STATIC);
		code = sqlite3_step(h->insert);
		sqlite3_reset(h->insert);
		if (code == SQLITE_DONE)
			code = SQLITE_OK;
	}
	if (!code)
		code = run(h, "COMMIT");
	if (code)
		run(h, "ROLLBACK");
	return code;
}

/* Stores the batch; returns an error's code, with its text in why. */
static int store(struct history *h, const struct item *v, size_t n, char *why, size_t size)
{
	int code = h->db ? SQLITE_OK : open_db(h);

	if (!code)
		code = insert_all(h, v, n);
	if (!code)
		code = make_room(h);
	if (!code)
		return code;
	snprintf(why, size, "%s", h->db ? sqlite3_errmsg(h->db) : sqlite3_errstr(code));
	close_db(h);
	if (is_damage(code & 0xff))
		move_aside(h);
	return code;
}

/* --- the thread --- */

static void settle(struct history *h, size_t n, int code, const char *why)
{
	h->busy_since_us = 0;
	if (!code) {
		if (h->state.failing)
			log_info("history", "%s: is written again", h->path);
		h->state.failing = false;
		h->state.stored += n;
		for (size_t i = 0; i < n; i++)
			free(h->queue[(h->first + i) % HISTORY_QUEUE].json);
		h->first = (h->first + n) % HISTORY_QUEUE;
		h->n -= n;
		return;
	}
	if (!h->state.failing)
		log_warn("history", "%s: cannot be written: %s", h->path, why);
	h->state.failing = true;
	snprintf(h->state.why, sizeof(h->state.why), "%s", why);
}

static void wait_us(struct history *h, int64_t us)
{
	int64_t end = clock_mono_us() + us;

	while (!h->ending && clock_mono_us() < end)
		clock_cond_wait(&h->changed, &h->lock, end);
}

static void release(struct history *h)
{
	for (size_t i = 0; i < h->n; i++)
		free(h->queue[(h->first + i) % HISTORY_QUEUE].json);
	pthread_mutex_destroy(&h->lock);
	pthread_cond_destroy(&h->changed);
	free(h->queue);
	free(h->path);
	free(h);
}

static void *history_thread(void *arg)
{
	struct history *h = arg;
	struct item *batch = xcalloc(HISTORY_QUEUE, sizeof(*batch));
	char why[200];
	bool left;

	pthread_mutex_lock(&h->lock);
	for (;;) {
		size_t n;
		int code;

		while (!h->n && !h->ending)
			pthread_cond_wait(&h->changed, &h->lock);
		if (!h->n)
			break;
		wait_us(h, HISTORY_DELAY_US);
		n = h->n;
		for (size_t i = 0; i < n; i++)
			batch[i] = h->queue[(h->first + i) % HISTORY_QUEUE];
		h->busy_since_us = clock_mono_us();
		pthread_mutex_unlock(&h->lock);
		code = store(h, batch, n, why, sizeof(why));
		pthread_mutex_lock(&h->lock);
		settle(h, n, code, why);
		if (code && h->ending)
			break;
		if (code)
			wait_us(h, RETRY_US);
	}
	pthread_mutex_unlock(&h->lock);
	close_db(h);
	free(batch);
	pthread_mutex_lock(&h->lock);
	h->ended = true;
	left = h->left;
	pthread_cond_broadcast(&h->changed);
	pthread_mutex_unlock(&h->lock);
	if (left)
		release(h);
	return NULL;
}

struct history *history_new(const char *path, uint64_t max_bytes)
{
	struct history *h = xcalloc(1, sizeof(*h));

	h->path = xstrdup(path);
	h->max_bytes = max_bytes;
	h->queue = xcalloc(HISTORY_QUEUE, sizeof(*h->queue));
	pthread_mutex_init(&h->lock, NULL);
	clock_cond_init(&h->changed);
	if (pthread_create(&h->thread, NULL, history_thread, h) == 0)
		return h;
	log_error("history", "cannot start its thread: nothing is kept");
	release(h);
	return NULL;
}

void history_free(struct history *h)
{
	int64_t end = clock_mono_us() + HISTORY_END_US;
	bool ended;

	if (!h)
		return;
	pthread_mutex_lock(&h->lock);
	h->ending = true;
	pthread_cond_broadcast(&h->changed);
	while (!h->ended && clock_mono_us() < end)
		clock_cond_wait(&h->changed, &h->lock, end);
	ended = h->ended;
	if (h->n)
		log_warn("history", "%zu events are not stored", h->n);
	pthread_mutex_unlock(&h->lock);
	if (!ended) {
		pthread_detach(h->thread);	/* it keeps h until the process ends */
		return;
	}
	pthread_join(h->thread, NULL);
	release(h);
}

void history_leave(struct history *h)
{
	if (!h)
		return;
	pthread_mutex_lock(&h->lock);
	h->ending = h->left = true;
	pthread_cond_broadcast(&h->changed);
	pthread_detach(h->thread);
	pthread_mutex_unlock(&h->lock);
}

void history_set_max(struct history *h, uint64_t max_bytes)
{
	h->max_bytes = max_bytes;
}

void history_add(struct history *h, int64_t when_us, const char *kind, char *json)
{
	pthread_mutex_lock(&h->lock);
	if (h->n == HISTORY_QUEUE) {
		h->state.dropped++;
		free(json);
	} else {
		h->queue[(h->first + h->n++) % HISTORY_QUEUE] = (struct item){ when_us, kind, json };
		if (h->n == 1)
			pthread_cond_broadcast(&h->changed);
	}
	pthread_mutex_unlock(&h->lock);
}

struct history_state history_state(struct history *h)
{
	struct history_state s;

	pthread_mutex_lock(&h->lock);
	s = h->state;
	s.hangs = h->busy_since_us && clock_mono_us() - h->busy_since_us > HISTORY_HUNG_US;
	pthread_mutex_unlock(&h->lock);
	return s;
}

const char *history_path(const struct history *h)
{
	return h->path;
}

/* --- reading --- */

/* A database that the writer has just made has no table for a moment. */
static bool has_nothing(sqlite3 *db)
{
	sqlite3_stmt *s;
	bool is = sqlite3_prepare_v2(db, "SELECT 1 FROM sqlite_master LIMIT 1", -1, &s, NULL) == SQLITE_OK &&
		  sqlite3_step(s) == SQLITE_DONE;

	sqlite3_finalize(s);
	return is;
}

bool history_read(const char *path, int64_t from_us, int64_t until_us,
		  bool (*fn)(void *arg, const char *kind, const char *json), void *arg,
		  struct buf *err)
{
	static const char sql[] = "SELECT kind, event FROM events WHERE time >= ? AND time < ? ORDER BY id";
	sqlite3_stmt *s = NULL;
	sqlite3 *db = NULL;
	int code;

	if (access(path, F_OK) < 0 && errno == ENOENT)
		return true;
	code = sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL);
	if (!code) {
		sqlite3_busy_timeout(db, BUSY_MS);
		code = has_nothing(db) ? SQLITE_DONE : sqlite3_prepare_v2(db, sql, -1, &s, NULL);
	}
	if (!code) {
		sqlite3_bind_int64(s, 1, from_us);
		sqlite3_bind_int64(s, 2, until_us);
		while ((code = sqlite3_step(s)) == SQLITE_ROW) {
			const char *kind = (const char *)sqlite3_column_text(s, 0);
			const char *json = (const char *)sqlite3_column_text(s, 1);

			if (kind && json && !fn(arg, kind, json)) {
				code = SQLITE_DONE;
				break;
			}
		}
	}
	if (code != SQLITE_DONE)
		buf_printf(err, "%s: %s", path, db ? sqlite3_errmsg(db) : sqlite3_errstr(code));
	sqlite3_finalize(s);
	sqlite3_close(db);
	return code == SQLITE_DONE;
}
