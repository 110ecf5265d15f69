/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * MADs over one port: the only user of libibumad.  Where an adapter shows a device for
 * subnet management and another for the general services, the port is both.
 *
 * A receiver thread for each device blocks in umad_recv().  (The simulator's preload serves no
 * epoll; the thread is the same on real hardware.)  It keeps the window of SMPs
 * full by itself, and hands the rest to the loop's thread, by queues that are bounded in all and
 * for each sender (intake.h).
 *
 * SMPs are pulled, not pushed: a job has devices with work to do, and the
 * window asks it for the next SMP of a device when there is room, over the
 * fabric and for that device.  A slow device so keeps only its own window.
 */
#ifndef QOSD_MAD_MAD_H
#define QOSD_MAD_MAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/buf.h"
#include "lib/iba/smp_window.h"
#include "lib/loop/loop.h"

enum { SMP_GET = 1, SMP_SET = 2 };

/* status of a finished SMP: an IBA MAD status (0 = good), or nobody answered: */
enum { SMP_TIMEOUT = -1 };

struct smp {
	uint8_t method;			/* SMP_GET, SMP_SET */
	uint16_t attr;
	uint32_t mod;
	uint64_t m_key;
	uint8_t data[64];		/* to send; on completion what came back */
	const uint8_t *route;		/* directed route; of a job, to stay valid until completion */
	uint8_t hops;
	uint8_t last_hop;		/* one more port to leave by after route, 0 = none */
	bool once;			/* no second try: silence is an answer, too */
	bool brief;			/* others wait: few tries, and the last is not waited for long */
};

/*
 * A set of work for devices 0 .. n_devices - 1.  next() fills s and returns
 * true, or returns false when the device has nothing more for now.  done() is
 * called for each SMP, and next() for its device after it, so that it may add
 * work.  Both are called one at a time, mostly in the receiver's thread; they
 * must be short, and start nothing here.  finished() is called once, in the
 * loop's thread, when no device has work and nothing is outstanding.
 */
struct smp_job_ops {
	bool (*next)(void *arg, uint32_t device, struct smp *s, uint64_t *cookie);
	void (*done)(void *arg, uint32_t device, const struct smp *s, uint64_t cookie, int status);
	void (*finished)(void *arg);
};

struct mad_settings {
	uint64_t port_guid;	/* 0: first port that is up and can be managed */
	/* Bounds of what losses and round trips make of them (lib/iba/smp_window.h). */
	unsigned smp_window, smp_window_device;
	unsigned timeout_ms, retries;
	/*
	 * SA requests that may wait, in all and of one source; beyond, BUSY is answered.  Of those
	 * that are held as many, and beyond they are dropped: nobody can answer, so it is no overload.
	 */
	unsigned sa_queue_max, sa_queue_each;
	/* Answers that may be under way by RMPP, and requests, likewise. */
	unsigned sa_transfers_max, sa_transfers_each, sa_receives_max, sa_receives_each;
};

/* What is under way by RMPP: answers that are sent, requests that come. */
enum mad_under_way { MAD_ANSWERS, MAD_REQUESTS };

/* SMPs and MADs counted, for `status`. */
struct mad_counts {
	uint64_t gets[0x40], sets[0x40];	/* by attribute id below 0x40 */
	uint64_t other_smps;
	uint64_t smps, sets_total;
	uint64_t timeouts, retries, bad_status, send_errors;
	uint64_t lost;			/* SMPs that a device which lives did not answer: retried */
	/* SMPs that may be outstanding: now; by the settings; the least after a loss, 0: none was lost */
	unsigned window, window_most, window_cut_to;
	uint64_t sa_received, sa_sent, traps, unknown, malformed;
	uint64_t unasked;		/* answers to nothing that was asked */
	/* left out as too many waited: SMPs; segments; SA requests, most of them told so by BUSY */
	uint64_t dropped_smps, dropped_rmpp, dropped_requests;
	uint64_t rmpp_streams, rmpp_segments, rmpp_repeated, rmpp_aborted, rmpp_refused;
};

/* A request from the outside (SMInfo, traps, SA).  Valid during the callback. */
struct mad_in {
	const uint8_t *mad;
	size_t len;		/* as received; never more than what is there */
	uint16_t slid;		/* of the sender; IB_LID_PERMISSIVE for directed routes */
	uint8_t mgmt_class;
	const void *umad;	/* opaque: the address to answer to */
	int64_t arrived_us;	/* SA only: monotonic */
	bool overload;		/* SA only: too many requests wait, of all or of this source */
};

/* A copy that mad_reply() takes as it would take the request itself; free() it. */
struct mad_in *mad_in_copy(const struct mad_in *in);

struct mad_port_info {
	char ca[32];			/* the device with the subnet management interface */
	int port;
	char gsi_ca[32];		/* ... and with the general services; mostly the same */
	int gsi_port;
	uint64_t guid;
	uint16_t lid, sm_lid;
};

struct mad_port;

/* What a port may send too much of. */
enum mad_kind {
	MAD_KIND_TRAP, MAD_KIND_SMINFO_GET, MAD_KIND_SMINFO_SET,
	MAD_KIND_SMP,		/* any other */
	MAD_KIND_SA,		/* requests that are turned away */
	MAD_KIND_RMPP,		/* segments that are turned away */
	MAD_KIND_ANSWER,	/* to nothing that was asked */
	MAD_KIND_UNKNOWN,	/* of classes, or with methods, that nobody here knows */
	MAD_KINDS
};
/* "traps", ... for people and JSON */
const char *mad_kind_name(enum mad_kind k);

/* A port that sends too many MADs of a kind. */
struct mad_flood {
	uint16_t lid;			/* IB_LID_PERMISSIVE: they come by directed route */
	enum mad_kind kind;
	uint64_t received, dropped;	/* since it began */
	int64_t since_us, last_us;	/* monotonic */
};

/* Called in the loop's thread, but for at_once. */
struct mad_hooks {
	/* What others send; in->mad is good during the call only. */
	void (*request)(void *arg, const struct mad_in *in);
	/*
	 * Whether a request of the SA class that is one MAD is for at_once(), by its
	 * bytes; in the receiver's thread, as at_once(), which serves it.  Both
	 * may be NULL.  It saves the way through the loop, which costs more than most
	 * answers, and must not take long, for all other MADs wait.
	 */
	bool (*is_at_once)(const uint8_t *mad, size_t len);
	/*
	 * False: it can't be served now, and goes to the loop as any other.  With in->overload it is
	 * any request of the SA class, and is told so: BUSY.
	 */
	bool (*at_once)(void *arg, struct mad_port *m, const struct mad_in *in);
	/*
	 * Whether a request of the SA class can't be answered yet: then it is kept, as far
	 * as there is room, until mad_serve_held().  May be NULL.
	 */
	bool (*holds)(void *arg, const struct mad_in *in);
	/*
	 * Who answers for what is under way with a LID, whether that one may have one more (asked for
	 * a request that is refused otherwise), and that it has one more or fewer.  In the loop's
	 * thread.  All may be NULL: then only the settings bound it, by LID and QP.
	 */
	uint64_t (*holder)(void *arg, uint16_t lid);
	bool (*may_hold)(void *arg, enum mad_under_way what, uint64_t holder);
	void (*has_more)(void *arg, enum mad_under_way what, uint64_t holder, int more);
	/* The device is gone for good: the port must be opened anew. */
	void (*dead)(void *arg, const char *why);
	void *arg;
};

/*
 * Opens the port and its agents (classes 0x01, 0x81, 0x03, 0x04).  NULL, with the
 * reason in err, if there is no such port or it is taken.
 */
struct mad_port *mad_open(struct loop *l, const struct mad_settings *s,
			  const struct mad_hooks *hooks, struct buf *err);
void mad_close(struct mad_port *m);
const struct mad_port_info *mad_info(const struct mad_port *m);
/* SMPs of others that have arrived, whether they were served or not; from any thread. */
uint64_t mad_smps_arrived(struct mad_port *m);
/* A copy as of now, good until the next call; for the loop's thread. */
const struct mad_counts *mad_counts(struct mad_port *m);
/* A flood that was not told yet, each of them once; false: none.  For the loop's thread. */
bool mad_flood_tell(struct mad_port *m, struct mad_flood *out);
/* The floods that go on, i from 0; false: there are no more. */
bool mad_flood_at(struct mad_port *m, unsigned i, struct mad_flood *out);
/* Ends what is under way with a holder (struct mad_hooks), who is told so. */
void mad_end_under_way(struct mad_port *m, uint64_t holder);
/* Holds (or lets go) the issm device, so that the port says IsSM. */
bool mad_set_issm(struct mad_port *m, bool on, struct buf *err);

/*
 * Sets of SMPs are sent until that moment of clock_mono_us(), and from then on held back
 * until it is called again; INT64_MAX: always, as at first.  Any else goes out.
 */
void mad_permit_sets(struct mad_port *m, int64_t until_us);

/* What was found out of windows and round trips; what the discovery process found out. */
struct smp_window_learned mad_learned(struct mad_port *m);
void mad_learn(struct mad_port *m, const struct smp_window_learned *l);
/*
 * SMPs that were lost to the device at the end of s's route, and how many it may have outstanding
 * now.  False: none was lost.
 */
bool mad_losses(struct mad_port *m, const struct smp *s, uint32_t *lost, unsigned *window);

/* One job runs at a time per port; more are queued in order. Returns a handle. */
struct smp_job;
struct smp_job *smp_job_start(struct mad_port *m, uint32_t n_devices,
			      const struct smp_job_ops *ops, void *arg);
/* The same, before those that are queued, and before what the running one has not sent yet. */
struct smp_job *smp_job_start_first(struct mad_port *m, uint32_t n_devices,
				    const struct smp_job_ops *ops, void *arg);
/* Ends it at once: nothing more is called, what is outstanding is dropped. */
void smp_job_cancel(struct smp_job *j);
/* Between the two no next() and no done() is called: for looking at what they write. */
void mad_hold(struct mad_port *m);
void mad_release(struct mad_port *m);

/*
 * A single SMP beside any job; its route is copied.  fn, which may be NULL, is called in the loop's
 * thread.
 */
void smp_send(struct mad_port *m, const struct smp *s,
	      void (*fn)(void *arg, const struct smp *s, int status), void *arg);

/*
 * Sends an answer to `in`, from the loop's thread or from at_once: mad of at most
 * 256 bytes, header filled in by the caller (method, status, TID …).  One of RMPP (from
 * the loop's thread only) is sent again until it is acknowledged.
 */
bool mad_reply(struct mad_port *m, const struct mad_in *in, const uint8_t *mad, size_t len);

/*
 * Sends an SMP of the LID-routed class, 256 bytes, by the directed route of `route`, whose other
 * members count for nothing: one that is not answered, such as SubnTrapRepress().  In the loop's
 * thread.
 */
bool mad_send_routed(struct mad_port *m, const struct smp *route, const uint8_t *mad);

/* What holds() was true for is asked of it again.  In the loop's thread. */
void mad_serve_held(struct mad_port *m);

/* An answer of the SA class that is made while it is sent, in the loop's thread. */
enum mad_read { MAD_READ_MORE, MAD_READ_LAST, MAD_READ_LATER };
struct mad_source {
	/*
	 * The next 200 bytes behind the SA header; _LAST: *n of them, and no more
	 * to come.  _LATER: nothing yet, and it is asked again when others had their turn.
	 */
	enum mad_read (*read)(struct mad_source *s, uint8_t data[200], size_t *n);
	/* When something was read: the headers, and whether RMPP is to be used. */
	bool (*head)(struct mad_source *s, uint8_t head[56]);
	void (*release)(struct mad_source *s);
	size_t held;			/* bytes that it keeps in memory */
	size_t total;			/* bytes to be read in all; 0: nobody knows yet */
};
/* Whether mad_stream() of a small source can succeed now: asked before the answer is made. */
bool mad_may_stream(struct mad_port *m, const struct mad_in *in);
/* Counts a request that is turned away.  True: it may be answered BUSY; false: too many were. */
bool mad_turn_away(struct mad_port *m, const struct mad_in *in);
/*
 * Sends it all, and releases the source in the end.  False: too many are under way, of all
 * or of this source, or they hold too much; then it is still the caller's.
 */
bool mad_stream(struct mad_port *m, const struct mad_in *in, struct mad_source *source);
/* --- requests to others' QPs: Reports, Gets of the SA class; performance management, congestion control --- */

struct mad_address {
	uint16_t lid;
	uint32_t qpn;
	uint16_t pkey_index;		/* in our port's table */
	uint8_t sl;
};
/* Where a MAD came from. */
void mad_sender(const struct mad_in *in, struct mad_address *from);
/*
 * Sends one MAD of these classes, whose TransactionID is set here, again when there is no answer in
 * time, up to `tries` times in all.  fn is called once, in the loop's thread: with the
 * answer, or NULL if there is none.  False, and fn is not called: too many wait.
 */
/* The kernel let us register for the class; for congestion control it need not. */
bool mad_can_request(const struct mad_port *m, uint8_t mgmt_class);
bool mad_request(struct mad_port *m, const struct mad_address *to, const uint8_t mad[256],
		 unsigned timeout_ms, unsigned tries,
		 void (*fn)(void *arg, const uint8_t *mad, size_t len), void *arg);

#endif
