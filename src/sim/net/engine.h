/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The simulation engine, with simulated time, timers, packet queue, randomness and struct sim.
 *
 * It has one thread.  No function calls back into its caller: packets go into the queue, and
 * sim_run() takes them out in order.  So one seed and one client give one history.  The caller
 * passes the time to sim_run(); tests may pass any.
 */
#ifndef QOSD_SIM_NET_ENGINE_H
#define QOSD_SIM_NET_ENGINE_H

#include "sim/net/model.h"
#include "sim/net/stats.h"

/*
 * A packet that is not a management packet, as an HCA sent it (sim/hca): from LRH to payload, with
 * padding and without CRCs.  Immutable; all copies of a packet share it.
 */
struct packet_bytes {
	unsigned users;			/* the last one frees it */
	uint16_t payload;		/* bytes that count towards the MTU (7.7.8) */
	uint32_t n;
	uint8_t data[];
};

/* A packet: a MAD of 256 bytes, or other bytes, and the headers that carry it. */
struct packet {
	uint32_t from;			/* end port that sent it (for statistics and drops) */
	uint32_t in_port;		/* port by which it entered its current node; at first equal to
					 * `from` */
	uint32_t client;		/* number from sim/host; 0: a device */
	uint16_t slid, dlid;
	uint32_t sqpn, dqpn;		/* agents receive on QPs 0 and 1 */
	uint32_t qkey;
	uint16_t pkey;			/* P_Key with membership bit */
	uint8_t sl;
	bool grh;
	uint8_t sgid[16], dgid[16];	/* valid if grh */
	uint8_t traffic_class, hop_limit;
	uint32_t flow_label;
	uint8_t mad[SIM_MAD_SIZE];	/* zero if there are other bytes */
	struct packet_bytes *bytes;	/* NULL: a management packet */
};

struct sim;

/* Callbacks that connect the parts; the program sets them at the start. */
struct sim_hooks {
	/*
	 * A packet arrived at an end port (sim/dev's devices_receive()).  The device's agents come
	 * first, then host().
	 */
	void (*arrive)(struct sim *s, uint32_t port, struct packet *p);
	/* No agent of the device took the packet (sim/host): it is for clients' agents. */
	void (*host)(struct sim *s, uint32_t port, struct packet *p);
	/*
	 * A packet that has the P_Key arrived at an end port of a node with a driver (sim/hca's
	 * hca_receive()), which is the first to see it.  vl: the VL on the link.
	 */
	void (*driver)(struct sim *s, uint32_t port, const struct packet *p, uint8_t vl);
	/* A client opened or closed an end port's issm device (device_set_issm()). May be NULL. */
	void (*set_issm)(struct sim *s, uint32_t port, bool on);
	/*
	 * A packet's P_Key was refused at an end port, or at an external port of a switch that
	 * enforces partitions (sim/dev's device_bad_pkey()).  May be NULL.
	 */
	void (*bad_pkey)(struct sim *s, uint32_t port, const struct packet *p);
	/* A packet's Q_Key was refused at an end port (sim/dev's device_bad_qkey()). May be NULL. */
	void (*bad_qkey)(struct sim *s, uint32_t port, const struct packet *p);
	/* An Armed port received a data packet, and must become Active (7.2.7).  May be NULL. */
	void (*activate)(struct sim *s, uint32_t port);
	/*
	 * FAULT_FALSIFY: falsifies an answer that `port` sent (sim/dev's device_falsify()).  May be
	 * NULL.
	 */
	void (*falsify)(struct sim *s, uint32_t port, unsigned falsehood, struct packet *p);
	/*
	 * A command wants its answer delayed until `us` microseconds have passed (sim/main).
	 * Returns NULL, or why time cannot pass.  May be NULL: the caller controls time by itself.
	 */
	const char *(*pass)(struct sim *s, int64_t us);
	void *pass_arg;
};

struct sim_timers;	/* timers.c */
struct sim_queue;	/* queue.c */
struct sim_faults;	/* sim/net/fault.h */
struct sim_drops;	/* sim/net/wire.h */

struct sim {
	struct sim_fabric *f;
	struct sim_hooks hooks;
	struct sim_stats *stats;
	struct sim_faults *faults;
	struct sim_drops *drops;
	struct sim_queue *queue;
	struct sim_timers *timers;
	void *devices, *hosts, *hcas;	/* owned by sim/dev, sim/host and sim/hca */
	uint64_t *flooded, floods;	/* mcast.c: last packet by switch; number of packets */
	uint64_t rng;
	int64_t now_us;
	bool frozen;			/* set by a fault: packets stand still, timers run */
};

/* Takes over f.  The caller must set the hooks before anything is sent. */
struct sim *sim_new(struct sim_fabric *f, uint64_t seed);
void sim_free(struct sim *s);

/* Microseconds from the start to the time of the last sim_run(). */
static inline int64_t sim_now(const struct sim *s)
{
	return s->now_us;
}
/* A uniform random number in 0 .. n - 1, n > 0. */
uint32_t sim_random(struct sim *s, uint32_t n);
/* True with that probability, 0.0 .. 1.0. */
bool sim_chance(struct sim *s, double probability);

/*
 * Calls fn(s, arg) once, delay_us from now.  Returns a handle, which is never 0.  Timers of equal
 * time fire in the order of calls.
 */
uint64_t sim_after(struct sim *s, int64_t delay_us, void (*fn)(struct sim *s, void *arg),
		   void *arg);
void sim_cancel(struct sim *s, uint64_t timer);	/* no effect if it fired, or is 0 */

/*
 * Advances time to now_us: runs all queued packets and due timers in order, including those that
 * they cause.  Each timer sees its own time in sim_now().  Returns the time until the next timer;
 * -1 if there is none.  Call it before passing in anything from outside, too, since delays count
 * from sim_now().
 *
 * After SIM_TURN packets and timers it returns 0 early, with time where it has got to, so that an
 * endless activity at one instant cannot block the caller.
 */
#define SIM_TURN 200000
int64_t sim_run(struct sim *s, int64_t now_us);

#endif
