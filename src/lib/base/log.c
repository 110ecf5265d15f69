/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Implements the log; see log.h.
 *
 * One lock guards the ring of recent lines, another the queue of the writer thread.  No thread
 * holds either while it writes a line.
 */
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/alloc.h"
#include "lib/base/clean.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"

#define LINE_MAX_LEN 1024
#define END_LOOK_US	20000		/* how often log_end() looks whether the reader is stuck */

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

/* --- writing --- */

/* May block for ever. */
static void write_line(enum log_level level, const char *line)
{
	ssize_t r;

	if (use_syslog) {
		syslog(level_priority[level], "%s", line);
		return;
	}
	/* one write() per line, so that lines of two threads do not mix */
	r = write(STDERR_FILENO, line, strlen(line));
	(void)r;	/* there is nowhere to report an error */
}

/* Formats a line for output: with time and level, or with the prefix that the journal expects. */
static void format_line(enum log_level level, const char *line, char *out, size_t n)
{
	static atomic_int journal = -1;

	if (journal < 0)
		journal = getenv("JOURNAL_STREAM") != NULL;
	if (use_syslog) {
		snprintf(out, n, "%s", line);
	} else if (journal) {
		snprintf(out, n, "<%d>%s\n", level_priority[level], line);
	} else {
		int64_t now = clock_real_us();
		time_t sec = (time_t)(now / 1000000);
		struct tm tm;
		char stamp[32];

		localtime_r(&sec, &tm);
		strftime(stamp, sizeof(stamp), "%F %T", &tm);
		snprintf(out, n, "%s.%03d %s: %s\n", stamp,
			 (int)(now / 1000 % 1000), level_names[level], line);
	}
}

/* --- writer thread --- */

struct waiting {
	struct waiting *next;
	enum log_level level;
	char line[];
};

static struct {
	pthread_mutex_t lock;
	pthread_cond_t more, done;
	pthread_t thread;
	bool begun;		/* the writer thread exists */
	bool stop, ended;
	bool stuck;		/* the last line took too long: callers no longer wait for their lines */
	struct waiting *first, **last;
	unsigned n;
	unsigned long handed, written, lost;
} queue = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* Call with the queue's lock held.  Returns the line's number, or 0 if the queue is full. */
static unsigned long enqueue(enum log_level level, const char *line)
{
	size_t n = strlen(line) + 1;
	struct waiting *w;

	if (queue.n >= LOG_LINES_MAX) {
		queue.lost++;
		return 0;
	}
	w = xmalloc(sizeof(*w) + n);
	w->next = NULL;
	w->level = level;
	memcpy(w->line, line, n);
	*queue.last = w;
	queue.last = &w->next;
	queue.n++;
	pthread_cond_signal(&queue.more);
	return ++queue.handed;
}

/* Call with the queue's lock held. */
static void wait_written(unsigned long number)
{
	int64_t end_us = clock_mono_us() + LOG_WAIT_US;

	while (queue.written < number && !queue.stuck && clock_mono_us() < end_us)
		clock_cond_wait(&queue.done, &queue.lock, end_us);
	if (queue.written < number)
		queue.stuck = true;
}

/* Queues a line for the writer thread.  False: there is no writer thread. */
static bool hand_over(enum log_level level, const char *line)
{
	unsigned long number;
	bool begun;

	pthread_mutex_lock(&queue.lock);
	begun = queue.begun;
	if (begun) {
		number = enqueue(level, line);
		if (number)
			wait_written(number);
	}
	pthread_mutex_unlock(&queue.lock);
	return begun;
}

/* Call with the queue's lock held; released while the line is written. */
static void write_first(void)
{
	struct waiting *w = queue.first;

	queue.first = w->next;
	if (!queue.first)
		queue.last = &queue.first;
	queue.n--;
	pthread_mutex_unlock(&queue.lock);
	write_line(w->level, w->line);
	free(w);
	pthread_mutex_lock(&queue.lock);
	queue.written++;
}

/* Call with the queue's lock held, when the queue is empty.  Logs how many lines were lost. */
static void say_lost(void)
{
	char line[128], out[LINE_MAX_LEN];
	unsigned long n = queue.lost;

	if (!n)
		return;
	queue.lost = 0;
	snprintf(line, sizeof(line), "log: lost %lu line%s: the log's reader did not keep up", n,
		 n == 1 ? "" : "s");
	format_line(LOG_LEVEL_WARNING, line, out, sizeof(out));
	enqueue(LOG_LEVEL_WARNING, out);
}

static void *log_thread(void *arg)
{
	(void)arg;
	pthread_mutex_lock(&queue.lock);
	while (queue.first || !queue.stop) {
		while (queue.first) {
			write_first();
			if (!queue.first)
				say_lost();
			if (!queue.first)
				queue.stuck = false;
			pthread_cond_broadcast(&queue.done);
		}
		if (!queue.stop)
			pthread_cond_wait(&queue.more, &queue.lock);
	}
	queue.ended = true;
	pthread_cond_broadcast(&queue.done);
	pthread_mutex_unlock(&queue.lock);
	return NULL;
}

void log_begin(void)
{
	int why;

	clock_cond_init(&queue.more);
	clock_cond_init(&queue.done);
	queue.last = &queue.first;
	queue.stop = queue.ended = queue.stuck = false;
	why = pthread_create(&queue.thread, NULL, log_thread, NULL);
	if (why)
		log_warn("log", "cannot start a thread to write log lines: %s", strerror(why));
	else
		queue.begun = true;
}

/* Whether stderr takes a line now: what is not written yet waits for the thread, not for a reader. */
static bool stderr_takes_lines(void)
{
	struct pollfd p = { .fd = STDERR_FILENO, .events = POLLOUT };

	return !use_syslog && poll(&p, 1, 0) > 0;
}

void log_end(int64_t limit_us)
{
	int64_t begun_us = clock_mono_us(), waited_us;
	bool ended;

	if (!queue.begun)
		return;
	pthread_mutex_lock(&queue.lock);
	queue.stop = true;
	pthread_cond_signal(&queue.more);
	while (!queue.ended) {
		waited_us = clock_mono_us() - begun_us;
		if (waited_us >= LOG_END_MAX_US || (waited_us >= limit_us && !stderr_takes_lines()))
			break;
		clock_cond_wait(&queue.done, &queue.lock, begun_us + waited_us + END_LOOK_US);
	}
	ended = queue.ended;
	queue.begun = !ended;	/* a stuck thread keeps the queue, though nobody will empty it */
	pthread_mutex_unlock(&queue.lock);
	if (ended)
		pthread_join(queue.thread, NULL);
	else
		pthread_detach(queue.thread);
}

/* --- lines --- */

static void emit(enum log_level level, const char *module, const char *text)
{
	char line[LINE_MAX_LEN], out[LINE_MAX_LEN + 64];

	snprintf(line, sizeof(line), "%s: %s", module, text);
	/* a name from the fabric must not forge lines or control a terminal */
	clean_text(line);
	if (level <= LOG_LEVEL_WARNING) {
		pthread_mutex_lock(&recent_lock);
		recent[recent_next].when_us = clock_real_us();
		recent[recent_next].level = level;
		strcpy(recent[recent_next].line, line);
		recent_next = (recent_next + 1) % LOG_RECENT;
		pthread_mutex_unlock(&recent_lock);
	}
	format_line(level, line, out, sizeof(out));
	if (!hand_over(level, out))
		write_line(level, out);
}

void log_at(enum log_level level, const char *module, const char *fmt, ...)
{
	va_list ap;
	char text[LINE_MAX_LEN - 64];

	if (level > log_get_level())
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	emit(level, module, text);
	va_end(ap);
}

void log_limited(struct log_ratelimit *rl, enum log_level level,
		 const char *module, const char *fmt, ...)
{
	int64_t now = clock_mono_us();
	char text[LINE_MAX_LEN - 64];
	va_list ap;
	int n;

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
	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	/* appended to the line: a line of its own would double the rate that the manual states */
	if (rl->suppressed && n >= 0 && (size_t)n < sizeof(text))
		snprintf(text + n, sizeof(text) - (size_t)n, " (%lu similar lines omitted)",
			 rl->suppressed);
	rl->suppressed = 0;
	emit(level, module, text);
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
