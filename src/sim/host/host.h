/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a kernel does for its umad users: open ports, agents, transaction ids,
 * timeouts and retries, RMPP (13.6), the issm device.
 *
 * A file is one open umad port of one client.  Messages in and out have the form
 * that read() and write() of a umad device have: struct ib_user_mad and the MAD
 * behind it, of any length where RMPP is in play.  How they get to the client
 * is the caller's: struct host_file_ops.
 */
#ifndef QOSD_SIM_HOST_HOST_H
#define QOSD_SIM_HOST_HOST_H

#include <stddef.h>

#include "sim/net/engine.h"

#define HOST_AGENTS_MAX 32		/* as the kernel: agents per file */
#define HOST_MESSAGE_MAX (256u << 20)	/* the largest RMPP message, bytes */

struct host_file;

struct host_file_ops {
	/*
	 * A message for the client: umad header and MAD, n bytes in all; good during
	 * the call, which must not call back into simhost.  False: the client does not
	 * keep up, and the message is lost (DROP_QUEUE).
	 */
	bool (*deliver)(void *arg, const void *umad, size_t n);
	void *arg;
};

void hosts_start(struct sim *s);
void hosts_stop(struct sim *s);

/* Opens the umad device of an end port. client: the number for statistics. ops are copied. */
struct host_file *host_open(struct sim *s, uint32_t port, uint32_t client,
			    const struct host_file_ops *ops);
/* Ends all its agents and transactions; what is under way to it is dropped. */
void host_close(struct host_file *h);

struct host_agent_request {
	uint8_t mgmt_class;		/* 0: only asks (by QP1), and hears answers */
	uint8_t class_version, rmpp_version;
	bool user_rmpp;			/* UMAD_USER_RMPP: RMPP segments go raw */
	uint32_t oui;			/* vendor classes 0x30..0x4f */
	uint64_t method_mask[2];	/* bit n of [n / 64]: requests of method n come here */
};
/*
 * The agent's id (0..31), or a negative errno as the kernel has it: EINVAL taken or out of
 * range, ENOMEM no more ids.
 */
int host_register(struct host_file *h, const struct host_agent_request *r);
int host_unregister(struct host_file *h, uint32_t agent);	/* 0 or -errno */

/*
 * A write() to the device: umad header and MAD.  0, or a negative errno: EINVAL,
 * and EIO for an agent that is not there, as the kernel has them; ENOMEM if too
 * much is under way.  Nothing is delivered before sim_run() goes on.
 */
int host_write(struct host_file *h, const void *umad, size_t n);

/* One holder of a port's issm device at a time: 0, or -EAGAIN. */
int host_issm_open(struct sim *s, uint32_t port);
void host_issm_close(struct sim *s, uint32_t port);

/* For sim_hooks.host: finds the agent, reassembles, matches answers to requests. */
void hosts_receive(struct sim *s, uint32_t port, struct packet *p);

#endif
