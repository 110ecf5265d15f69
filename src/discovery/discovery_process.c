/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Runs the discovery process: calls ibnd_discover_fabric() and writes the result as records of
 * stream.h.  The records go to standard output.  The library's messages go to standard error, whose
 * lines the daemon turns into log lines.
 *
 * The process enters its sandbox (sandbox.h) before it sends the first SMP to another device, and
 * so before it reads anything from one.  By then the library has opened all that it needs, however
 * often, and in whatever order, it has opened ports and asked its own device.
 */
#include <dlfcn.h>
#include <endian.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <signal.h>

#include <infiniband/ibnetdisc.h>
#include <infiniband/mad.h>
#include <infiniband/umad.h>
#include <infiniband/umad_sm.h>
#include <infiniband/umad_types.h>

#include "discovery/answer_guard.h"
#include "discovery/board.h"
#include "discovery/discovery.h"
#include "discovery/paced_smps.h"
#include "discovery/stream.h"
#include "discovery/fallback_scan.h"
#include "lib/base/alloc.h"
#include "lib/base/map64.h"
#include "lib/base/sandbox.h"

enum { MAD_CLASS = 1, MAD_HOP_COUNT = 7 };	/* byte offsets in a MAD */

static struct map64 index_by_guid;
static uint32_t n_nodes;

static void put(const void *rec, size_t n)
{
	if (fwrite(rec, n, 1, stdout) != 1)
		exit(1);	/* the daemon has closed the pipe */
}

static bool discovering;

static enum { FREE, TO_BE_LOCKED, LOCKED } lock;
static bool strict;
static bool has_left_home;	/* an SMP was sent to another device than our own */

static void lock_up(void)
{
	const char *variable = getenv("LD_PRELOAD");
	bool preloaded = variable && *variable;
	struct buf err = { 0 };

	lock = LOCKED;
	/* ibsim's library cancels a thread at exit, which would load libgcc_s then */
	if (preloaded && !dlopen("libgcc_s.so.1", RTLD_NOW))
		fprintf(stderr, "%s\n", dlerror());
	if (!sandbox_discovery(preloaded, &err)) {
		fprintf(stderr, "discovery %s: %s\n",
			strict ? "ends outside of its sandbox" : "goes on with all system calls",
			err.s);
		if (strict)
			exit(1);
	}
	buf_free(&err);
}

/* Finds the library's function that one of the wrappers below hides. */
static void *find_next(void *_Atomic *next, const char *name)
{
	void *found = atomic_load(next);

	if (!found) {
		found = dlsym(RTLD_NEXT, name);
		atomic_store(next, found);
	}
	return found;
}

/*
 * True if our own device answers the SMP: its directed route has no hops.  The library asks for its
 * own LID that way, before it opens the port by which it discovers.
 */
static bool stays_here(void *umad, int length)
{
	const uint8_t *mad = umad_get_mad(umad);

	return length > MAD_HOP_COUNT && mad[MAD_CLASS] == UMAD_CLASS_SUBN_DIRECTED_ROUTE &&
	       !mad[MAD_HOP_COUNT];
}

/* --- answers for the library --- */

#define STATUS_BAD_VALUE 0x1c

static struct guard *guard;
static struct board *board;

static void put_left(void *arg, const struct disco_excluded *x)
{
	struct stream_left r = { .type = STREAM_LEFT, .left = *x };

	(void)arg;
	put(&r, sizeof(r));
}

/*
 * Called before the library gets an answer: turns an unsafe answer into an error status of that
 * device.
 */
static void check_answer(const void *asked, void *umad, int length)
{
	uint8_t *mad = umad_get_mad(umad);
	struct umad_smp *smp = umad_get_mad(umad);
	const struct umad_smp *request = asked;
	struct disco_excluded x;

	switch (guard_answer(guard, asked, mad, length < 0 ? 0 : (unsigned)length, &x)) {
	case GUARD_FEED:
		board->fed = x;
		atomic_store(&board->feeding, x.near_guid != 0);
		return;
	case GUARD_FULL:
		put_left(NULL, &x);
		fflush(stdout);
		exit(BOARD_EXIT_FULL);
	case GUARD_REFUSE:
		put_left(NULL, &x);
		break;
	case GUARD_REPEATED:
		break;
	}
	smp->attr_id = request->attr_id;
	smp->attr_mod = request->attr_mod;
	smp->status = htobe16((be16toh(smp->status) & 0x8000) | STATUS_BAD_VALUE);
}

static void count_beat(void)
{
	atomic_store(&board->feeding, 0);
	atomic_fetch_add(&board->beats, 1);
}

/* A process that was started without the daemon's memory allocates its own. */
static void take_board(void)
{
	void *at = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE, MAP_SHARED, BOARD_FD, 0);

	board = at == MAP_FAILED ? xcalloc(1, sizeof(*board)) : at;
	guard = guard_new(board->out, board->n_out < EXCLUDED_MAX ? board->n_out : EXCLUDED_MAX,
			  board->ports_max ? board->ports_max : GUARD_PORTS_MAX);
}

static void bound_memory(void)
{
	const struct rlimit most = { BOARD_MEMORY, BOARD_MEMORY };

	/* sanitizers map terabytes */
	if (sandbox_filters() && setrlimit(RLIMIT_AS, &most) < 0)
		perror("RLIMIT_AS");
}

/*
 * These two wrap libibumad's functions of the same names, for libibnetdisc and libibmad.  They also
 * serve the daemon's own port, in the daemon process, where they must not enter the sandbox.
 */
int umad_send(int fd, int agentid, void *umad, int length, int timeout_ms, int retries)
{
	static void *_Atomic next;
	void *found = find_next(&next, "umad_send");
	int (*fn)(int, int, void *, int, int, int);
	int r;

	memcpy(&fn, &found, sizeof(fn));	/* ISO C cannot cast between object and function pointers */
	if (discovering && !has_left_home)
		has_left_home = !stays_here(umad, length);
	if (lock == TO_BE_LOCKED && has_left_home)
		lock_up();
	if (!discovering)
		return fn(fd, agentid, umad, length, timeout_ms, retries);
	r = paced_send(fn, fd, agentid, umad, length, timeout_ms, retries);
	if (r < 0)	/* this ends the scan, but the device whose answer came last is not to blame */
		atomic_store(&board->feeding, 0);
	return r;
}

int umad_recv(int fd, void *umad, int *length, int timeout_ms)
{
	static void *_Atomic next_recv, *_Atomic next_send;
	void *found = find_next(&next_recv, "umad_recv");
	paced_recv_fn *recv;
	paced_send_fn *send;

	memcpy(&recv, &found, sizeof(recv));
	if (!discovering)
		return recv(fd, umad, length, timeout_ms);
	found = find_next(&next_send, "umad_send");
	memcpy(&send, &found, sizeof(send));
	return paced_recv(send, recv, fd, umad, length, timeout_ms);
}

/*
 * Wraps libibmad's function of this name, also for libibnetdisc, with one difference.  At the end
 * of a discovery libibnetdisc groups the nodes into chassis, and looks each SystemImageGUID up in a
 * list of all others: with one per host, as HCAs have it, that takes half the time of discovering
 * 10,000 of them.  qosd does not use chassis, and the library leaves nodes without a
 * SystemImageGUID out of them.
 */
uint64_t mad_get_field64(void *buf, int base_offs, enum MAD_FIELDS field)
{
	uint64_t v;

	if (discovering && field == IB_NODE_SYSTEM_GUID_F)
		return 0;
	mad_decode_field((uint8_t *)buf + base_offs, field, &v);
	return v;
}

/*
 * Hides the vendor likewise: libibnetdisc sorts Voltaire switches into chassis by tables that their
 * port numbers may overrun, and a switch that is in no chassis fails the whole scan.
 */
uint32_t mad_get_field(void *buf, int base_offs, enum MAD_FIELDS field)
{
	uint32_t v;

	if (discovering && field == IB_NODE_VENDORID_F)
		return 0;
	mad_decode_field((uint8_t *)buf + base_offs, field, &v);
	return v;
}

/*
 * False for a node that the daemon would refuse: the process leaves it out, so that bad answers
 * cost only the device that gave them.
 */
static bool node_makes_sense(const ibnd_node_t *n)
{
	return n->guid && n->type >= IB_NODE_CA && n->type <= IB_NODE_ROUTER &&
	       n->numports >= 1 && n->numports <= IB_PORT_NUM_MAX &&
	       n->path_portid.drpath.cnt >= 0 && n->path_portid.drpath.cnt <= IB_DR_HOPS_MAX;
}

/*
 * True if the port answered PortInfo: the library makes an adapter's port from its NodeInfo
 * already.
 */
static bool has_answered(const ibnd_port_t *p)
{
	static const uint8_t nothing[sizeof(((struct stream_port *)0)->port_info)];

	return memcmp(p->info, nothing, sizeof(nothing));
}

static void put_node(ibnd_node_t *n)
{
	struct stream_node r = { .type = STREAM_NODE };
	int hops = n->path_portid.drpath.cnt;

	if (!node_makes_sense(n) || map64_get(&index_by_guid, n->guid) != MAP64_NONE)
		return;
	map64_put(&index_by_guid, n->guid, n_nodes++);
	r.is_switch = n->type == IB_NODE_SWITCH;
	r.hops = (uint8_t)hops;
	memcpy(r.node_info, n->info, sizeof(r.node_info));
	memcpy(r.switch_info, n->switchinfo, sizeof(r.switch_info));
	memcpy(r.desc, n->nodedesc, sizeof(r.desc));
	memcpy(r.route, n->path_portid.drpath.p + 1, (size_t)hops);
	put(&r, sizeof(r));
	for (int i = 0; i <= n->numports; i++) {
		ibnd_port_t *p = n->ports[i];
		struct stream_port s = { .type = STREAM_PORT };

		if (!p || !has_answered(p) || (i == 0 && n->type != IB_NODE_SWITCH))
			continue;
		s.num = (uint8_t)i;
		s.guid = p->guid;
		memcpy(s.port_info, p->info, sizeof(s.port_info));
		put(&s, sizeof(s));
	}
}

static void put_node_cb(ibnd_node_t *n, void *arg)
{
	if (n != arg)
		put_node(n);
}

static void put_links_cb(ibnd_node_t *n, void *arg)
{
	uint32_t a = map64_get(&index_by_guid, n->guid);

	(void)arg;
	for (int i = 1; i <= n->numports && a != MAP64_NONE; i++) {
		ibnd_port_t *p = n->ports[i], *q = p ? p->remoteport : NULL;
		struct stream_link l = { .type = STREAM_LINK };

		if (!q)
			continue;
		l.node_a = a;
		l.node_b = map64_get(&index_by_guid, q->node->guid);
		l.num_a = (uint8_t)p->portnum;
		l.num_b = (uint8_t)q->portnum;
		/* write each link once, from its lower end */
		if (l.node_b == MAP64_NONE || l.node_b < a ||
		    (l.node_b == a && q->portnum <= p->portnum))
			continue;
		put(&l, sizeof(l));
	}
}

/* Bound of outstanding SMPs to one device: so high that only the window limits them. */
#define WINDOW_DEVICE 255

/* True if the wrappers never saw the library's requests, so that the sandbox was not entered. */
static bool was_not_locked_up(bool found_others)
{
	if (lock != TO_BE_LOCKED || !found_others)
		return false;
	fprintf(stderr, "discovery was not sandboxed: its requests were not seen\n");
	return true;
}

/*
 * Both functions discover, and write all records except the end; a result other than 0 is the exit
 * status that says why not.
 */
static int discover_by_library(const char *ca, int port, struct ibnd_config *cfg,
			       struct stream_end *end)
{
	ibnd_fabric_t *f = ibnd_discover_fabric((char *)(uintptr_t)ca, port, NULL, cfg);

	count_beat();		/* the library has dealt with the last answer */
	if (f ? !f->from_node : !has_left_home)
		return BOARD_EXIT_OWN_PORT;
	if (!f)
		return 1;
	/* another version of the library? */
	if (was_not_locked_up(f->nodes && f->nodes->next) && strict)
		return 1;
	/* the SM's own node first: it becomes the fabric's node 0 */
	put_node(f->from_node);
	ibnd_iter_nodes(f, put_node_cb, f->from_node);
	ibnd_iter_nodes(f, put_links_cb, NULL);
	end->self_num = (uint8_t)f->from_portnum;
	end->mads = f->total_mads_used;
	return 0;
}

static int discover_by_ourselves(const char *ca, int port, const struct ibnd_config *cfg,
				 struct stream_end *end)
{
	const struct walk_config c = { ca, port, cfg->max_smps, cfg->timeout_ms, cfg->mkey };
	enum walk_end how = walk_fabric(&c, put, &end->self_num, &end->mads);

	count_beat();
	if (how == WALK_OWN_PORT)
		return BOARD_EXIT_OWN_PORT;
	return how == WALK_FAILED || (was_not_locked_up(has_left_home) && strict);
}

/*
 * argv: name, CA, port, window, timeout in ms, retries, enum disco_sandbox, window known, 1:
 * without the library
 */
int disco_helper_main(int argc, char **argv)
{
	struct ibnd_config cfg = { 0 };
	struct stream_end end = { .type = STREAM_END };
	const char *key = getenv(DISCO_KEY_VAR);
	int port, status;

	if (argc != 9) {
		fprintf(stderr, "%s is meant to be started by qosd only\n", argv[0]);
		return 2;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	bound_memory();
	take_board();
	port = atoi(argv[2]);
	cfg.max_smps = (unsigned)atoi(argv[3]);
	cfg.timeout_ms = (unsigned)atoi(argv[4]);
	cfg.retries = (unsigned)atoi(argv[5]);
	cfg.mkey = key ? strtoull(key, NULL, 16) : 0;
	/* steady: a scan waits for each dead end, and the library's own time-outs do not double */
	paced_start(&(struct smp_window_bounds){ cfg.max_smps, WINDOW_DEVICE, cfg.timeout_ms,
					   cfg.retries + 1, .steady = true },
		    (unsigned)atoi(argv[7]), check_answer, count_beat);
	lock = atoi(argv[6]) ? TO_BE_LOCKED : FREE;
	strict = atoi(argv[6]) == DISCO_STRICT;
	discovering = true;
	status = atoi(argv[8]) ? discover_by_ourselves(argv[1], port, &cfg, &end) :
		 discover_by_library(argv[1], port, &cfg, &end);
	if (status)
		return status;
	guard_finish(guard, put_left, NULL);
	end.learned = paced_learned();
	put(&end, sizeof(end));
	fflush(stdout);
	/* no cleanup: the process exits */
	return 0;
}
