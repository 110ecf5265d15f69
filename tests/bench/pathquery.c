/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Asks the subnet administrator for paths between random pairs of ports as
 * fast as it answers, with a fixed number of Gets outstanding.
 *
 * Prints one line of KEY=VALUE: queries answered, seconds, rate, CPU of the
 * server per query in us (all of its threads; the share spent in user mode),
 * latencies in us, and what went wrong.  The first WARM_UP_US do not count.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/alloc.h"
#include "lib/base/bytes.h"
#include "lib/base/clock.h"
#include "lib/base/map64.h"
#include "tools/port.h"

#define WINDOW_MAX	1024
#define WARM_UP_US	300000
#define LOST_MS		3000	/* without any answer for this time, all are lost */
#define LATENCY_MAX	2000000	/* us; longer latencies count as this one */
#define ANY_SL		16

static struct {
	unsigned window, seconds, sl, pause_us;
	uint64_t service_first, service_last;
	bool by_lid;
	uint16_t dlid;
	const char *histogram;
	pid_t server;
} opt = { .window = 64, .seconds = 3, .sl = ANY_SL };

/* The ports of the fabric; LIDs only with -l. */
static VEC(uint64_t) guids;
static uint16_t *lids;

static struct own_port port;

/* A query under way.  Its TID is the generation and the slot's number. */
static struct slot {
	uint32_t generation;
	bool used;
	uint32_t dst;		/* index in guids */
	int64_t sent_us;
} slots[WINDOW_MAX];

static struct {
	uint64_t answers, refused, wrong_sl, lost, late;
	uint64_t sum_us;
	uint32_t longest_us;
	uint32_t latency[LATENCY_MAX + 1];	/* how many took so many us */
} seen;

static uint64_t rnd(uint64_t below)
{
	static uint64_t state = 1;

	state += 0x9e3779b97f4a7c15ULL;
	return hash64(state) % below;
}

/* --- the port --- */

static void open_port(void)
{
	own_port_open_sa(&port, 0);
	if (opt.dlid)
		port.sm_lid = opt.dlid;
	if (!port.sm_lid)
		die("the port has no SM yet");
}

/* A Get of the path between two ports, by number in guids. */
static void fill_query(struct umad_sa_packet *p, uint32_t src, uint32_t dst)
{
	struct sa_path_record *r = (void *)p->data;
	uint64_t mask = PR_NUMB_PATH;

	r->num_path = 1;
	if (lids) {
		mask |= PR_SLID | PR_DLID;
		put_be16(r->slid, lids[src]);
		put_be16(r->dlid, lids[dst]);
	} else {
		mask |= PR_SGID | PR_DGID;
		sa_put_gid(r->sgid, guids.v[src]);
		sa_put_gid(r->dgid, guids.v[dst]);
	}
	if (opt.service_last) {
		mask |= PR_SERVICE_ID_MSB | PR_SERVICE_ID_LSB;
		put_be64(r->service_id, opt.service_first +
			 rnd(opt.service_last - opt.service_first + 1));
	}
	p->comp_mask = htobe64(mask);
}

static void ask(uint32_t i, uint32_t src, uint32_t dst)
{
	struct slot *s = &slots[i];
	struct sa_mad m;

	/* the upper half belongs to the kernel (and the simulator) */
	sa_fill(&m, UMAD_METHOD_GET, UMAD_SA_ATTR_PATH_REC,
		(uint64_t)(++s->generation % (UINT32_MAX / WINDOW_MAX)) * WINDOW_MAX + i);
	fill_query(&m.sa, src, dst);
	s->used = true;
	s->dst = dst;
	s->sent_us = clock_mono_us();
	/* a kernel and qosd-sim deliver an answer only to a pending request */
	sa_send(&port, &m, 2 * LOST_MS, 0);
}

/*
 * The next answer: its slot, with status and record; -1 if it was to a query
 * given up, or too short; -2 if none came for LOST_MS.
 */
static int next_answer(uint16_t *status, struct sa_path_record *r)
{
	struct sa_mad m;
	int len = MAD_LEN, got = umad_recv(port.fd, &m, &len, LOST_MS);

	if (got == -ETIMEDOUT)
		return -2;
	if (got < 0)
		die("receiving failed");
	if (len < (int)(offsetof(struct umad_sa_packet, data) + sizeof(*r)))
		return -1;
	uint32_t tid = (uint32_t)be64toh(m.sa.mad_hdr.tid);
	struct slot *s = &slots[tid % WINDOW_MAX];

	if (!s->used || tid / WINDOW_MAX != s->generation % (UINT32_MAX / WINDOW_MAX))
		return -1;
	s->used = false;
	*status = umad_status(&m) ? UINT16_MAX : be16toh(m.sa.mad_hdr.status);
	memcpy(r, m.sa.data, sizeof(*r));
	return (int)(tid % WINDOW_MAX);
}

/* --- the server's CPU time --- */

static int64_t cpu_ns(void)
{
	clockid_t clock;
	struct timespec t;

	if (!opt.server)
		return 0;
	if (clock_getcpuclockid(opt.server, &clock) || clock_gettime(clock, &t))
		die("the server is gone");
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

struct ticks { unsigned long user, system; };

static struct ticks cpu_ticks(void)
{
	struct ticks t = { 0, 0 };
	char path[64], line[1024];
	const char *rest;
	FILE *f;

	if (!opt.server)
		return t;
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)opt.server);
	f = fopen(path, "r");
	/* the name, in brackets, may hold anything */
	if (!f || !fgets(line, sizeof(line), f) || !(rest = strrchr(line, ')')) ||
	    sscanf(rest, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu",
		   &t.user, &t.system) != 2)
		die("the server is gone");
	fclose(f);
	return t;
}

/* --- the measurement --- */

static void ask_random(uint32_t i)
{
	uint32_t src = (uint32_t)rnd(guids.n), dst = (uint32_t)rnd(guids.n - 1);

	ask(i, src, dst + (dst >= src));
}

static void give_up(void)
{
	for (unsigned i = 0; i < opt.window; i++)
		if (slots[i].used) {
			seen.lost++;
			ask_random(i);
		}
}

static void take(unsigned slot, uint16_t status, const struct sa_path_record *r)
{
	int64_t us = clock_mono_us() - slots[slot].sent_us;

	if (us > LATENCY_MAX)
		us = LATENCY_MAX;
	seen.answers++;
	seen.sum_us += (uint64_t)us;
	seen.latency[us]++;
	if ((uint32_t)us > seen.longest_us)
		seen.longest_us = (uint32_t)us;
	if (status)
		seen.refused++;
	else if (opt.sl != ANY_SL && (r->qos_class_sl[1] & 0xf) != opt.sl)
		seen.wrong_sl++;
}

/* Takes answers and sends new queries until the time is over. */
static void pump_until(int64_t end_us)
{
	struct sa_path_record r;
	uint16_t status;

	while (clock_mono_us() < end_us) {
		int slot = next_answer(&status, &r);

		if (slot >= 0) {
			take((unsigned)slot, status, &r);
			if (opt.pause_us)
				usleep(opt.pause_us);
			ask_random((uint32_t)slot);
		} else if (slot == -1) {
			seen.late++;
		} else {
			give_up();
		}
	}
}

/* All LIDs, each from the path of a port to itself. */
static void find_lids(void)
{
	uint16_t *found = xcalloc(guids.n, sizeof(*found)), status;
	uint32_t asked = 0, done = 0;
	struct sa_path_record r;

	for (; asked < guids.n && asked < opt.window; asked++)
		ask(asked, asked, asked);
	while (done < guids.n) {
		int slot = next_answer(&status, &r);

		if (slot < 0 || status)
			die("cannot find out the LIDs");
		found[slots[slot].dst] = get_be16(r.dlid);
		done++;
		if (asked < guids.n) {
			ask((uint32_t)slot, asked, asked);
			asked++;
		}
	}
	lids = found;
}

static uint32_t percentile(double of_100)
{
	uint64_t want = (uint64_t)((double)seen.answers * of_100 / 100), sum = 0;

	for (uint32_t us = 0; us < LATENCY_MAX; us++) {
		sum += seen.latency[us];
		if (sum > want)
			return us;
	}
	return LATENCY_MAX;
}

static void print(double seconds, double cpu_us, struct ticks a, struct ticks b)
{
	double n = (double)(seen.answers ? seen.answers : 1);
	double user = (double)(b.user - a.user), system = (double)(b.system - a.system);

	printf("queries=%" PRIu64 " seconds=%.3f rate=%.0f", seen.answers, seconds,
	       (double)seen.answers / seconds);
	if (opt.server)
		printf(" cpu_us=%.3f user_us=%.3f", cpu_us / n,
		       user + system > 0 ? cpu_us / n * user / (user + system) : 0);
	printf(" mean_us=%.1f p50_us=%u p99_us=%u max_us=%u refused=%" PRIu64
	       " wrong_sl=%" PRIu64 " lost=%" PRIu64 " late=%" PRIu64 "\n",
	       (double)seen.sum_us / n, percentile(50), percentile(99), seen.longest_us,
	       seen.refused, seen.wrong_sl, seen.lost, seen.late);
}

/* Prints raw values for a script that combines several clients. */
static void print_histogram(void)
{
	FILE *f = fopen(opt.histogram, "w");

	if (!f)
		die("%m");
	for (uint32_t us = 0; us <= seen.longest_us; us++)
		if (seen.latency[us])
			fprintf(f, "%u %u\n", us, seen.latency[us]);
	fclose(f);
}

/* Memory that was never touched stays so: there may be hundreds of us. */
static void forget_seen(void)
{
	memset(seen.latency, 0, (seen.longest_us + 1) * sizeof(*seen.latency));
	seen.answers = seen.refused = seen.wrong_sl = seen.lost = seen.late = seen.sum_us = 0;
	seen.longest_us = 0;
}

static void measure(void)
{
	/* so that not all clients pause at the same time */
	if (opt.pause_us)
		usleep((useconds_t)(hash64((uint64_t)getpid()) % opt.pause_us));
	for (unsigned i = 0; i < opt.window; i++)
		ask_random(i);
	pump_until(clock_mono_us() + WARM_UP_US);
	forget_seen();

	struct ticks ticks = cpu_ticks();
	int64_t cpu = cpu_ns(), start = clock_mono_us();

	pump_until(start + opt.seconds * 1000000LL);
	print((double)(clock_mono_us() - start) / 1e6, (double)(cpu_ns() - cpu) / 1e3,
	      ticks, cpu_ticks());
	if (opt.histogram)
		print_histogram();
}

/* Pending answers must not reach the simulator's library while it ends. */
static void drain(void)
{
	struct sa_path_record r;
	uint16_t status;

	for (unsigned i = 0; i < opt.window; i++)
		while (slots[i].used)
			if (next_answer(&status, &r) == -2)
				return;
}

/* --- command line --- */

static void usage(void)
{
	fputs("usage: pathquery [-w WINDOW] [-t SECONDS] [-p SERVER-PID] [-s SERVICE-ID[-LAST]]\n"
	      "                 [-e EXPECTED-SL] [-l] [-i PAUSE-US] [-d LID]\n"
	      "                 [-H FILE] GUIDS\n"
	      "GUIDS holds a port GUID in each line; -l asks by LID instead of GID; -i waits\n"
	      "after each answer; -d asks another LID than the subnet manager's; -H writes lines\n"
	      "of latency in us and number\n", stderr);
	exit(2);
}

static uint64_t number(const char *s, int base, uint64_t min, uint64_t max, char **rest)
{
	char *end;
	uint64_t v = strtoull(s, &end, base);

	if (end == s || v < min || v > max || (rest ? *end && *end != '-' : *end))
		usage();
	if (rest)
		*rest = end;
	return v;
}

static void parse_service(const char *s)
{
	char *rest;

	opt.service_first = opt.service_last = number(s, 0, 1, UINT64_MAX - 1, &rest);
	if (*rest)
		opt.service_last = number(rest + 1, 0, opt.service_first, UINT64_MAX - 1, NULL);
}

static void read_guids(const char *path)
{
	FILE *f = fopen(path, "r");
	uint64_t guid;

	if (!f)
		die("%m");
	while (fscanf(f, "%" SCNx64, &guid) == 1)
		*vec_push(&guids) = guid;
	if (!feof(f) || guids.n < 2)
		die("not a list of at least two GUIDs");
	fclose(f);
}

int main(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "w:t:p:s:e:li:d:H:")) != -1) {
		switch (c) {
		case 'w': opt.window = (unsigned)number(optarg, 10, 1, WINDOW_MAX, NULL); break;
		case 't': opt.seconds = (unsigned)number(optarg, 10, 1, 3600, NULL); break;
		case 'p': opt.server = (pid_t)number(optarg, 10, 1, INT32_MAX, NULL); break;
		case 's': parse_service(optarg); break;
		case 'e': opt.sl = (unsigned)number(optarg, 10, 0, 15, NULL); break;
		case 'i': opt.pause_us = (unsigned)number(optarg, 10, 1, 999999, NULL); break;
		case 'd': opt.dlid = (uint16_t)number(optarg, 10, 1, 0xbfff, NULL); break;
		case 'H': opt.histogram = optarg; break;
		case 'l': opt.by_lid = true; break;
		default: usage();
		}
	}
	if (optind != argc - 1)
		usage();
	read_guids(argv[optind]);
	open_port();
	if (opt.by_lid)
		find_lids();
	measure();
	drain();
	return 0;
}
