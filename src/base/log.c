/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The log; see log.h.  One lock guards the ring of recent lines. */
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clean.h"
#include "base/clock.h"
#include "base/log.h"

#define LINE_MAX_LEN 1024

static const char *const level_names[] = { "error", "warning", "info", "debug" };
static const int level_priority[] = { LOG_ERR, LOG_WARNING, LOG_INFO, LOG_DEBUG };
static atomic_bool use_syslog;

static atomic_int current_level = LOG_LEVEL_INFO;
static pthread_mutex_t recent_lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
	int64_t when_us;
	enum log_level level;
	char line[LINE_MAX_LEN];
} recent[LOG_RECENT];
static unsigned recent_next;

void log_set_level(enum log_level level)
{
	current_level = (int)level;
}

enum log_level log_get_level(void)
{
	return (enum log_level)atomic_load_explicit(&current_level, memory_order_relaxed);
}

void log_to_syslog(const char *ident)
{
	openlog(ident, LOG_PID, LOG_DAEMON);
	use_syslog = true;
}

bool log_parse_level(const char *word, enum log_level *level)
{
	for (size_t i = 0; i < ARRAY_SIZE(level_names); i++)
		if (!strcmp(word, level_names[i])) {
			*level = (enum log_level)i;
			return true;
		}
	return false;
}

static void remember(enum log_level level, const char *line)
{
	pthread_mutex_lock(&recent_lock);
	recent[recent_next].when_us = clock_real_us();
	recent[recent_next].level = level;
	strcpy(recent[recent_next].line, line);
	recent_next = (recent_next + 1) % LOG_RECENT;
	pthread_mutex_unlock(&recent_lock);
}

static void emit(enum log_level level, const char *module, const char *text)
{
	char line[LINE_MAX_LEN], out[LINE_MAX_LEN + 64];
	static atomic_int journal = -1;

	if (journal < 0)
		journal = getenv("JOURNAL_STREAM") != NULL;
	snprintf(line, sizeof(line), "%s: %s", module, text);
	/* a name from the fabric must not forge lines or drive a terminal */
	clean_text(line);
	if (level <= LOG_LEVEL_WARNING)
		remember(level, line);

	if (use_syslog) {
		syslog(level_priority[level], "%s", line);
		return;
	}
	if (journal) {
		snprintf(out, sizeof(out), "<%d>%s\n", level_priority[level], line);
	} else {
		int64_t now = clock_real_us();
		time_t sec = (time_t)(now / 1000000);
		struct tm tm;
		char stamp[32];

		localtime_r(&sec, &tm);
		strftime(stamp, sizeof(stamp), "%F %T", &tm);
		snprintf(out, sizeof(out), "%s.%03d %s: %s\n", stamp,
			 (int)(now / 1000 % 1000), level_names[level], line);
	}
	/* one write, so that lines of two threads do not mix */
	ssize_t r = write(STDERR_FILENO, out, strlen(out));
	(void)r;	/* nowhere to report it */
}

static void log_va(enum log_level level, const char *module, const char *fmt, va_list ap)
{
	char text[LINE_MAX_LEN - 64];

	vsnprintf(text, sizeof(text), fmt, ap);
	emit(level, module, text);
}

void log_at(enum log_level level, const char *module, const char *fmt, ...)
{
	va_list ap;

	if (level > log_get_level())
		return;
	va_start(ap, fmt);
	log_va(level, module, fmt, ap);
	va_end(ap);
}

void log_limited(struct log_ratelimit *rl, enum log_level level,
		 const char *module, const char *fmt, ...)
{
	int64_t now = clock_mono_us();
	va_list ap;

	if (level > log_get_level())
		return;
	if (rl->last_us)
		rl->tokens += (double)(now - rl->last_us) * 1e-6 * rl->per_second;
	rl->last_us = now;
	if (rl->tokens > rl->burst)
		rl->tokens = rl->burst;
	if (rl->tokens < 1) {
		rl->suppressed++;
		return;
	}
	rl->tokens -= 1;
	if (rl->suppressed) {
		log_at(level, module, "%lu similar lines left out", rl->suppressed);
		rl->suppressed = 0;
	}
	va_start(ap, fmt);
	log_va(level, module, fmt, ap);
	va_end(ap);
}

void log_recent(void (*fn)(void *arg, int64_t realtime_us, enum log_level level,
			   const char *line), void *arg)
{
	pthread_mutex_lock(&recent_lock);
	for (unsigned k = 1; k <= LOG_RECENT; k++) {
		unsigned i = (recent_next + LOG_RECENT - k) % LOG_RECENT;

		if (recent[i].when_us)
			fn(arg, recent[i].when_us, recent[i].level, recent[i].line);
	}
	pthread_mutex_unlock(&recent_lock);
}
