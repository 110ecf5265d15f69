/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Simulates what a kernel does for its umad users.
 *
 * These are open ports, agents, transaction ids, time-outs and retries, RMPP (13.6), and the issm
 * device.
 *
 * A file is one open umad port of one client.  Messages in both directions have the form of read()
 * and write() of a umad device: struct ib_user_mad followed by the MAD, which may have any length
 * with RMPP.  The caller takes them to the client: struct host_file_ops.
 */
#ifndef QOSD_SIM_HOST_HOST_H
#define QOSD_SIM_HOST_HOST_H

#include <stddef.h>

#include "sim/net/engine.h"

#define HOST_AGENTS_MAX 32		/* agents per file, as in the kernel */
#define HOST_MESSAGE_MAX (256u << 20)	/* the largest RMPP message, bytes */

struct host_file;

struct host_file_ops {
	/*
	 * Takes a message to the client: umad header and MAD, n bytes in all.  It is valid during
	 * the call, which must not call back into sim/host.  False: the client does not keep up,
	 * and the message is lost (DROP_QUEUE).
	 */
	bool (*deliver)(void *arg, const void *umad, size_t n);
	void *arg;
};

void hosts_start(struct sim *s);
void hosts_stop(struct sim *s);

/* Opens the umad device of an end port.  `client` is the number for statistics.  Copies ops. */
struct host_file *host_open(struct sim *s, uint32_t port, uint32_t client,
			    const struct host_file_ops *ops);
/* Closes the file: ends all its agents and transactions, and drops what is under way to it. */
void host_close(struct host_file *h);

struct host_agent_request {
	uint8_t mgmt_class;		/* 0: only sends requests (from QP1) and receives their answers */
	uint8_t class_version, rmpp_version;
	bool user_rmpp;			/* UMAD_USER_RMPP: the client does RMPP, and gets raw segments */
	uint32_t oui;			/* for vendor classes 0x30..0x4f */
	uint64_t method_mask[2];	/* bit n % 64 of [n / 64]: receives requests of method n */
};
/*
 * Returns the agent's id (0..31), or a negative errno like the kernel's: EINVAL for a request that
 * is taken or out of range, ENOMEM when no id is left.
 */
int host_register(struct host_file *h, const struct host_agent_request *r);
int host_unregister(struct host_file *h, uint32_t agent);	/* 0 or -errno */

/*
 * Performs a write() to the device: umad header and MAD.  Returns 0 or a negative errno: EINVAL,
 * and EIO for an unknown agent, as the kernel does; ENOMEM if too much is under way.  Nothing is
 * delivered before sim_run() goes on.
 */
int host_write(struct host_file *h, const void *umad, size_t n);

/* Opens a port's issm device, which has one holder at a time: 0, or -EAGAIN. */
int host_issm_open(struct sim *s, uint32_t port);
void host_issm_close(struct sim *s, uint32_t port);

/* Finds the packet's agent, reassembles messages, matches answers to requests.  For sim_hooks.host. */
void hosts_receive(struct sim *s, uint32_t port, struct packet *p);

#endif
