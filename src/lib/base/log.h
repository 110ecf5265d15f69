/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The log: a level, a module token, and the object's name first in the text.
 *
 *   log_warn("sweep", "%s: does not answer", name);
 *
 * Lines go to stderr; under the journal (JOURNAL_STREAM) with the <N> prefix
 * that sd-daemon(3) gives, else with time and level in words.  May be called
 * from any thread.
 *
 * Whoever reads the lines may stop doing so: a pipe fills, syslogd or the journal hangs, a file is
 * on a server that is gone.  After log_begin() lines go to a thread that writes them, and
 * whoever logs waits LOG_WAIT_US at most for a line to be there, and not at all while an earlier
 * one is not.  LOG_LINES_MAX lines wait; what comes then is counted, and the count is logged when
 * lines are taken again.
 */
#ifndef QOSD_LIB_BASE_LOG_H
#define QOSD_LIB_BASE_LOG_H

#include <stdbool.h>
#include <stdint.h>

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARNING, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };

/* Lines above this level are dropped.  Default LOG_LEVEL_INFO. */
void log_set_level(enum log_level level);
enum log_level log_get_level(void);

/* From now on to syslog(3), for a daemon without a terminal. ident must stay valid. */
void log_to_syslog(const char *ident);

#define LOG_WAIT_US	1000
#define LOG_LINES_MAX	1024
/* Behind the last fork().  Without a thread for it lines are written as before. */
void log_begin(void);
/* Waits for the lines to be written, for limit_us at most; what is left then is lost. */
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
 * Whatever the fabric or a client can provoke goes through one of these: at
 * most `burst` lines at once and `per_second` on average, 70 in a minute by LOG_RATELIMIT; how
 * many were left out is said in the next line that passes.  Zero-initialise all
 * but the two rates.  One thread each.
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

/* The last error and warning lines logged, newest first: for `status`. */
#define LOG_RECENT 8
/* Calls fn for each under the log's lock; fn must not log. */
void log_recent(void (*fn)(void *arg, int64_t realtime_us, enum log_level level,
			   const char *line), void *arg);

#endif
