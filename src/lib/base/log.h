/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writes the log, with level, module and text, and never blocks its callers for long.
 *
 * The text begins with the name of the object:
 *
 *   log_warn("sweep", "%s: does not answer", name);
 *
 * Lines go to stderr.  Under the journal (JOURNAL_STREAM) they have the <N> prefix of sd-daemon(3),
 * else time and level in words.  May be called from any thread.
 *
 * Whatever reads the lines may stop: a pipe fills, syslogd or the journal hangs, a file's server is
 * gone.  After log_begin() a thread writes the lines.  A caller waits LOG_WAIT_US at most for its
 * line to be written, and does not wait while an earlier line is stuck.  The queue holds
 * LOG_LINES_MAX lines; further lines are dropped and counted, and the count is logged when lines
 * can be written again.
 */
#ifndef QOSD_LIB_BASE_LOG_H
#define QOSD_LIB_BASE_LOG_H

#include <stdbool.h>
#include <stdint.h>

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARNING, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };

/* Lines above this level are dropped.  Default LOG_LEVEL_INFO. */
void log_set_level(enum log_level level);
enum log_level log_get_level(void);

/* From now on, logs to syslog(3), for a daemon without a terminal. ident must stay valid. */
void log_to_syslog(const char *ident);

#define LOG_WAIT_US	1000
#define LOG_LINES_MAX	1024
/*
 * Starts the writer thread.  Call it after the last fork().  If the thread cannot be started,
 * callers go on writing their lines themselves.
 */
void log_begin(void);
#define LOG_END_MAX_US	10000000
/*
 * Waits for the queued lines to be written; drops those still queued after limit_us if nothing takes
 * them, and after LOG_END_MAX_US in any case: on a busy machine the thread may not have run yet.
 */
void log_end(int64_t limit_us);

void log_at(enum log_level level, const char *module, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#define log_error(module, ...) log_at(LOG_LEVEL_ERROR, module, __VA_ARGS__)
#define log_warn(module, ...)  log_at(LOG_LEVEL_WARNING, module, __VA_ARGS__)
#define log_info(module, ...)  log_at(LOG_LEVEL_INFO, module, __VA_ARGS__)
#define log_debug(module, ...) \
	do { \
		if (log_get_level() >= LOG_LEVEL_DEBUG) \
			log_at(LOG_LEVEL_DEBUG, module, __VA_ARGS__); \
	} while (0)

/*
 * Rate limit for messages that the fabric or a client can provoke: at most `burst` lines at once
 * and `per_second` on average (LOG_RATELIMIT: 70 in a minute).  The next line that passes says how
 * many were left out.  Zero-initialise all fields but the two rates.  Only one thread may use each
 * limit.
 */
struct log_ratelimit {
	unsigned burst, per_second;
	int64_t last_us;
	double tokens;
	unsigned long suppressed;
};
#define LOG_RATELIMIT { .burst = 10, .per_second = 1, .tokens = 10 }

void log_limited(struct log_ratelimit *rl, enum log_level level,
		 const char *module, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* The last error and warning lines logged, newest first, for `status`. */
#define LOG_RECENT 8
/* Calls fn for each line under the log's lock; fn must not log. */
void log_recent(void (*fn)(void *arg, int64_t realtime_us, enum log_level level,
			   const char *line), void *arg);

#endif
