/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What makes the fabric move: simulated time, timers, the queue of packets on
 * their way, chance, and the one struct that all parts share.
 *
 * One thread.  Nothing calls back into its caller: a packet is put into the
 * queue and taken out by sim_run(), in order.  So one seed and one client give
 * one history.  Time is handed in from outside (sim_run(now)); in tests it is
 * whatever the test says.
 */
#ifndef QOSD_SIM_NET_ENGINE_H
#define QOSD_SIM_NET_ENGINE_H

#include "sim/net/model.h"
#include "sim/net/stats.h"

/* A packet of management traffic: 256 bytes of MAD, and the headers that carry it. */
struct packet {
	uint32_t from;			/* end port that sent it (for statistics and drops) */
	uint32_t in_port;		/* by which it came into the node where it is; at first, from */
	uint32_t client;		/* of sim/host, 0: a device */
	uint16_t slid, dlid;
	uint32_t sqpn, dqpn;		/* 0 and 1 are what agents hear */
	uint32_t qkey;
	uint16_t pkey;			/* with membership bit */
	uint8_t sl;
	bool grh;
	uint8_t sgid[16], dgid[16];	/* if grh */
	uint8_t traffic_class, hop_limit;
	uint32_t flow_label;
	uint8_t mad[SIM_MAD_SIZE];
};

struct sim;

/* Who takes what arrives; set by the program when it puts the parts together. */
struct sim_hooks {
	/*
	 * A packet has arrived at an end port (sim/dev's devices_receive()): the agents
	 * of the device first, then host().
	 */
	void (*arrive)(struct sim *s, uint32_t port, struct packet *p);
	/* … and nobody in the device wants it (sim/host): agents of clients. */
	void (*host)(struct sim *s, uint32_t port, struct packet *p);
	/* A client opened or closed an end port's issm device (device_set_issm()). May be NULL. */
	void (*set_issm)(struct sim *s, uint32_t port, bool on);
	/*
	 * A packet's P_Key was refused at an end port, or at a switch's external port
	 * that enforces partitions (sim/dev's device_bad_pkey()).  May be NULL.
	 */
	void (*bad_pkey)(struct sim *s, uint32_t port, const struct packet *p);
	/* A packet's Q_Key was refused at an end port (sim/dev's device_bad_qkey()). May be NULL. */
	void (*bad_qkey)(struct sim *s, uint32_t port, const struct packet *p);
	/* An Armed port received a data packet, and so is to be Active (7.2.7). May be NULL. */
	void (*activate)(struct sim *s, uint32_t port);
	/*
	 * FAULT_FALSIFY: an answer that `port` sent is to tell something else (sim/dev's
	 * device_falsify()).  May be NULL.
	 */
	void (*falsify)(struct sim *s, uint32_t port, unsigned falsehood, struct packet *p);
	/*
	 * A command wants so much time to pass, and its answer to wait for that (sim/main).  False:
	 * nobody waits for this command.  May be NULL: time is handed in by somebody else.
	 */
	bool (*pass)(struct sim *s, int64_t us);
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
	void *devices, *hosts;		/* of sim/dev and sim/host */
	uint64_t *flooded, floods;	/* mcast.c: by switch, the last packet; packets */
	uint64_t rng;
	int64_t now_us;
	bool frozen;			/* by a fault: no packet moves, timers go on */
};

/* Takes over f; the hooks are to be set before anything is sent. */
struct sim *sim_new(struct sim_fabric *f, uint64_t seed);
void sim_free(struct sim *s);

/* Microseconds since the start, as of the last sim_run(). */
static inline int64_t sim_now(const struct sim *s)
{
	return s->now_us;
}
/* Uniform in 0 .. n - 1, n > 0. */
uint32_t sim_random(struct sim *s, uint32_t n);
/* True with that probability, 0.0 .. 1.0. */
bool sim_chance(struct sim *s, double probability);

/* fn(s, arg) once, delay_us from now; 0 is never a handle. Equal times: in order of calls. */
uint64_t sim_after(struct sim *s, int64_t delay_us, void (*fn)(struct sim *s, void *arg),
		   void *arg);
void sim_cancel(struct sim *s, uint64_t timer);	/* nothing if it fired, or is 0 */

/*
 * Lets time come to now_us: everything queued and every timer due, in order,
 * including what that brings up; each timer sees sim_now() as the time that it
 * was set to.  Returns how long until the next timer, -1: none.  Call it before
 * handing in anything from outside, too: delays count from sim_now().
 *
 * After SIM_TURN packets and timers it returns 0, with time where it has come to,
 * though more is due: what goes on for ever in no time must not keep the caller
 * from the rest of the world.
 */
#define SIM_TURN 200000
int64_t sim_run(struct sim *s, int64_t now_us);

#endif
