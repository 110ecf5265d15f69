/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sends and receives MADs over one port; the only user of libibumad.
 *
 * Where an adapter has one device for subnet management and another for the general services, the
 * port covers both.
 *
 * A receiver thread for each device blocks in umad_recv(). (The simulator's preload library does
 * not support epoll; real hardware uses the same threads.) The receiver thread itself keeps the
 * window of SMPs full.  It hands other MADs to the loop's thread through queues that are bounded in
 * all and for each sender (intake.h).
 *
 * SMPs are pulled, not pushed: a job has devices with work to do, and the window asks it for a
 * device's next SMP when there is room over the fabric and for that device.  So a slow device holds
 * up only its own window.
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

/* Status of a finished SMP: an IBA MAD status (0 = good), or this if nothing answered. */
enum { SMP_TIMEOUT = -1 };

struct smp {
	uint8_t method;			/* SMP_GET or SMP_SET */
	uint16_t attr;
	uint32_t mod;
	uint64_t m_key;
	uint8_t data[64];		/* data to send; on completion, the data received */
	const uint8_t *route;		/* directed route; for a job's SMP, must stay valid until
					 * completion */
	uint8_t hops;
	uint8_t last_hop;		/* one more exit port after the route; 0 = none */
	bool once;			/* no retry: the caller takes silence for an answer */
	bool tells_busy;		/* BUSY is a status like others, and no reason to try again */
	bool brief;			/* few tries, with a short last time-out, because others wait */
};

/*
 * Callbacks of a set of work for devices 0 .. n_devices - 1. next() fills s and returns true, or
 * returns false when the device has nothing to send for now.  After done() for an SMP, next() is
 * called for the same device, so that done() may add work.  Calls of both never overlap, and come
 * mostly from the receiver thread: they must be short, and must not start jobs or SMPs. finished()
 * is called once, in the loop's thread, when no device has work and nothing is outstanding.
 */
struct smp_job_ops {
	bool (*next)(void *arg, uint32_t device, struct smp *s, uint64_t *cookie);
	void (*done)(void *arg, uint32_t device, const struct smp *s, uint64_t cookie, int status);
	void (*finished)(void *arg);
};

struct mad_settings {
	uint64_t port_guid;	/* 0: the first port that is up and can be managed */
	/* bounds within which losses and round trips set the pace (lib/iba/smp_window.h) */
	unsigned smp_window, smp_window_device;
	unsigned timeout_ms, retries;
	/*
	 * Limits of waiting SA requests, in all and of one source.  Requests beyond them are
	 * answered with BUSY.  The same limits hold for held requests, but those beyond them are
	 * dropped: the SA cannot answer yet, which is not an overload.
	 */
	unsigned sa_queue_max, sa_queue_each;
	/* Limits of RMPP answers, then of RMPP requests under way, in all and of one source. */
	unsigned sa_transfers_max, sa_transfers_each, sa_receives_max, sa_receives_each;
	/* The port is closed within seconds: idle receivers look often whether they are to end. */
	bool closed_soon;
};

/* RMPP transfers under way: answers being sent, requests being received. */
enum mad_under_way { MAD_ANSWERS, MAD_REQUESTS };

/* Counters of SMPs and MADs, for `status`. */
struct mad_counts {
	uint64_t gets[0x40], sets[0x40];	/* by attribute id below 0x40 */
	uint64_t other_smps;
	uint64_t smps, sets_total;
	uint64_t timeouts, retries, bad_status, send_errors;
	uint64_t lost;			/* SMPs that a live device did not answer; they were retried */
	/* SMP window: current; greatest by the settings; least after a loss, 0 if none was lost */
	unsigned window, window_most, window_cut_to;
	uint64_t sa_received, sa_sent, traps, unknown, malformed;
	uint64_t unasked;		/* answers that match no request */
	/*
	 * dropped because too many waited: SMPs; RMPP MADs; SA requests, of which most were
	 * answered BUSY
	 */
	uint64_t dropped_smps, dropped_rmpp, dropped_requests;
	uint64_t rmpp_streams, rmpp_segments, rmpp_repeated, rmpp_aborted, rmpp_refused;
};

/* An incoming request (SMInfo, trap, SA).  Valid during the callback. */
struct mad_in {
	const uint8_t *mad;
	size_t len;		/* length as received; never more than `mad` holds */
	uint16_t slid;		/* LID of the sender; IB_LID_PERMISSIVE for directed routes */
	uint8_t mgmt_class;
	const void *umad;	/* opaque: the address to reply to */
	int64_t arrived_us;	/* SA only: time of arrival, monotonic */
	bool overload;		/* SA only: too many requests wait, in all or of this source */
};

/* Copies a request so that mad_reply() accepts the copy.  The caller frees it with free(). */
struct mad_in *mad_in_copy(const struct mad_in *in);

struct mad_port_info {
	char ca[32];			/* device with the subnet management interface */
	int port;
	char gsi_ca[32];		/* device with the general services; mostly the same */
	int gsi_port;
	uint64_t guid;
	uint16_t lid, sm_lid;
};

struct mad_port;

/* Kinds of MADs that a port may flood with. */
enum mad_kind {
	MAD_KIND_TRAP, MAD_KIND_SMINFO_GET, MAD_KIND_SMINFO_SET,
	MAD_KIND_SMP,		/* any other SMP */
	MAD_KIND_SA,		/* SA requests that were turned away */
	MAD_KIND_RMPP,		/* RMPP segments that were turned away */
	MAD_KIND_ANSWER,	/* answers that match no request */
	MAD_KIND_UNKNOWN,	/* MADs of an unknown class or method */
	MAD_KINDS
};
/* "traps" and so on, for text output and JSON */
const char *mad_kind_name(enum mad_kind k);

/* A port that sends too many MADs of a kind. */
struct mad_flood {
	uint16_t lid;			/* IB_LID_PERMISSIVE for MADs by directed route */
	enum mad_kind kind;
	uint64_t received, dropped;	/* MADs since the flood began */
	int64_t since_us, last_us;	/* monotonic */
};

/* Callbacks; all run in the loop's thread, except is_at_once and at_once. */
struct mad_hooks {
	/* An incoming request. in->mad is valid during the call only. */
	void (*request)(void *arg, const struct mad_in *in);
	/*
	 * Decides by its bytes whether a single-MAD SA request is for at_once().  Both run in the
	 * receiver thread, and both may be NULL.  They save the detour through the loop, which
	 * costs more than most answers.  They must be quick, since all other MADs wait.
	 */
	bool (*is_at_once)(const uint8_t *mad, size_t len);
	/*
	 * Serves a request.  False: it cannot be served now, and goes to the loop like any other.
	 * If in->overload is set, the request may be any of the SA class, and is answered with
	 * BUSY.
	 */
	bool (*at_once)(void *arg, struct mad_port *m, const struct mad_in *in);
	/*
	 * Whether an SA request cannot be answered yet: it is then held, if there is room, until
	 * mad_serve_held().  May be NULL.
	 */
	bool (*holds)(void *arg, const struct mad_in *in);
	/*
	 * Account for RMPP transfers. holder() returns the holder, who answers for the transfers of
	 * a LID; may_hold() tells whether the holder may have one more (asked when a request would
	 * be refused otherwise); has_more() adds `more`, which may be negative.  All run in the
	 * loop's thread.  All may be NULL: then only the settings bound transfers, by LID and QP.
	 */
	uint64_t (*holder)(void *arg, uint16_t lid);
	bool (*may_hold)(void *arg, enum mad_under_way what, uint64_t holder);
	void (*has_more)(void *arg, enum mad_under_way what, uint64_t holder, int more);
	/* The device is gone for good: the caller must open the port anew. */
	void (*dead)(void *arg, const char *why);
	void *arg;
};

/*
 * Opens the port and registers its agents (classes 0x01, 0x81, 0x03, 0x04).  NULL, with the reason
 * in err, if there is no such port or another manager has it.
 */
struct mad_port *mad_open(struct loop *l, const struct mad_settings *s,
			  const struct mad_hooks *hooks, struct buf *err);
void mad_close(struct mad_port *m);
const struct mad_port_info *mad_info(const struct mad_port *m);
/* Number of SMPs that arrived from others, whether served or not.  From any thread. */
uint64_t mad_smps_arrived(struct mad_port *m);
/* A copy of the current counters, valid until the next call.  For the loop's thread. */
const struct mad_counts *mad_counts(struct mad_port *m);
/* Returns each flood once, when it is new; false if there is no new one.  For the loop's thread. */
bool mad_flood_tell(struct mad_port *m, struct mad_flood *out);
/* Enumerates the current floods by i from 0; false at the end. */
bool mad_flood_at(struct mad_port *m, unsigned i, struct mad_flood *out);
/* Ends all RMPP transfers of a holder (struct mad_hooks), and reports that to has_more(). */
void mad_end_under_way(struct mad_port *m, uint64_t holder);
/* Opens or closes the issm device; while it is open, the port's CapabilityMask has IsSM. */
bool mad_set_issm(struct mad_port *m, bool on, struct buf *err);

/*
 * Permits Sets until that time of clock_mono_us().  Afterwards Sets are held back until the next
 * call; other SMPs still go out.  INT64_MAX, the initial value, permits them for ever.
 */
void mad_permit_sets(struct mad_port *m, int64_t until_us);

/*
 * Return what this process learned of windows and round trips, and take over what the discovery
 * process learned.
 */
struct smp_window_learned mad_learned(struct mad_port *m);
void mad_learn(struct mad_port *m, const struct smp_window_learned *l);
/*
 * Number of SMPs lost to the device at the end of s's route, and the number it may have outstanding
 * now.  False: none was lost.
 */
bool mad_losses(struct mad_port *m, const struct smp *s, uint32_t *lost, unsigned *window);

/* Starts a job and returns a handle.  A port runs one job at a time and queues the others in order. */
struct smp_job;
struct smp_job *smp_job_start(struct mad_port *m, uint32_t n_devices,
			      const struct smp_job_ops *ops, void *arg);
/* The same, but ahead of the queued jobs and of what the running job has not sent yet. */
struct smp_job *smp_job_start_first(struct mad_port *m, uint32_t n_devices,
				    const struct smp_job_ops *ops, void *arg);
/* Ends the job at once: no callback runs any more, and outstanding SMPs are dropped. */
void smp_job_cancel(struct smp_job *j);
/*
 * Between mad_hold() and mad_release() no next() or done() runs, so that the caller can read what
 * they write.
 */
void mad_hold(struct mad_port *m);
void mad_release(struct mad_port *m);

/*
 * Sends a single SMP beside any job; copies its route. fn, which may be NULL, runs in the loop's
 * thread.
 */
void smp_send(struct mad_port *m, const struct smp *s,
	      void (*fn)(void *arg, const struct smp *s, int status), void *arg);

/*
 * Answers `in`, from the loop's thread or from at_once().  The caller fills in the header (method,
 * status, TID …); mad has at most 256 bytes.  An RMPP answer is allowed only from the loop's
 * thread, and is repeated until it is acknowledged.
 */
bool mad_reply(struct mad_port *m, const struct mad_in *in, const uint8_t *mad, size_t len);

/*
 * Sends a LID-routed SMP of 256 bytes by the directed route of `route`, whose other members are
 * ignored.  For SMPs without an answer, such as SubnTrapRepress().  For the loop's thread.
 */
bool mad_send_routed(struct mad_port *m, const struct smp *route, const uint8_t *mad);

/* Asks holds() again about each request that it held.  For the loop's thread. */
void mad_serve_held(struct mad_port *m);

/* An SA answer that is produced while it is being sent, in the loop's thread. */
enum mad_read { MAD_READ_MORE, MAD_READ_LAST, MAD_READ_LATER };
struct mad_source {
	/*
	 * Reads the next 200 bytes after the SA header. _LAST: these are *n bytes, and the last.
	 * _LATER: no data yet; read() is called again when others have had their turn.
	 */
	enum mad_read (*read)(struct mad_source *s, uint8_t data[200], size_t *n);
	/* Makes the headers, after the first data was read.  Returns whether to use RMPP. */
	bool (*head)(struct mad_source *s, uint8_t head[56]);
	void (*release)(struct mad_source *s);
	size_t held;			/* bytes that the source keeps in memory */
	size_t total;			/* bytes to read in all; 0 if not known yet */
};
/* Whether mad_stream() of a small source can succeed now; to ask before making the answer. */
bool mad_may_stream(struct mad_port *m, const struct mad_in *in);
/* Counts a request that is turned away.  True: it may be answered with BUSY; false: too many were. */
bool mad_turn_away(struct mad_port *m, const struct mad_in *in);
/*
 * Sends the whole source, and then releases it.  False: too many answers are under way, in all or
 * of this source, or they hold too much memory; the caller still owns the source then.
 */
bool mad_stream(struct mad_port *m, const struct mad_in *in, struct mad_source *source);
/*
 * --- requests to QPs of other ports: SA Reports and Gets, performance management, congestion
 * control ---
 */

struct mad_address {
	uint16_t lid;
	uint32_t qpn;
	uint16_t pkey_index;		/* index in the P_Key table of qosd's port */
	uint8_t sl;
};
/* The address that a MAD came from. */
void mad_sender(const struct mad_in *in, struct mad_address *from);
/* Whether the kernel let qosd register for the class; it may refuse congestion control. */
bool mad_can_request(const struct mad_port *m, uint8_t mgmt_class);
/*
 * Sends one MAD of these classes and sets its TransactionID.  Repeats it after each time-out, up to
 * `tries` times in all. fn is called once, in the loop's thread: with the answer, or with NULL if
 * there is none.  False, without a call of fn: too many requests wait.
 */
bool mad_request(struct mad_port *m, const struct mad_address *to, const uint8_t mad[256],
		 unsigned timeout_ms, unsigned tries,
		 void (*fn)(void *arg, const uint8_t *mad, size_t len), void *arg);

#endif
