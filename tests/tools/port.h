/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What tools share that send MADs from the first port of their node, most of them to the subnet
 * administrator.  What cannot be done ends the program.
 */
#ifndef QOSD_TOOLS_PORT_H
#define QOSD_TOOLS_PORT_H

#include <stdint.h>

#include <infiniband/umad.h>
#include <infiniband/umad_sa.h>

#include "lib/iba/sa_records.h"

/* Ends the program with exit status 2 and a line on stderr, the program's name in front. */
__attribute__((format(printf, 1, 2))) _Noreturn void die(const char *fmt, ...);

struct own_port {
	int fd;
	int agent;		/* of the SA's class; -1: none */
	uint64_t guid;
	uint16_t lid;
	uint16_t sm_lid;	/* to which sa_send() sends; a program may set another */
	uint8_t sm_sl;
};

/* Opens the port, without any agent. */
void own_port_open(struct own_port *p);
/*
 * An agent of the class, by which the kernel handles RMPP of that version, 0: not at all.  methods:
 * those of requests that are to be received, a bit each (1 << UMAD_METHOD_...); 0: answers only.
 */
int own_port_register(const struct own_port *p, uint8_t class, uint8_t rmpp_version, long methods);
/* Opens it, with an agent of the SA's class. */
void own_port_open_sa(struct own_port *p, uint8_t rmpp_version);
/* Ends the agent of the SA's class, too. */
void own_port_close(struct own_port *p);

/* What umad_send() and umad_recv() take. */
struct sa_mad {
	struct ib_user_mad umad;
	union {
		struct umad_sa_packet sa;
		uint8_t bytes[MAD_LEN];
	};
};

/* A request, of which all but the header is 0.  The kernel has the upper half of tid for itself. */
void sa_fill(struct sa_mad *m, uint8_t method, uint16_t attr, uint64_t tid);
/* fe80::/64 and the GUID. */
void sa_put_gid(uint8_t gid[16], uint64_t guid);
/* To the SA at p->sm_lid.  timeout_ms: for an answer to each try; 0: none will come. */
void sa_send(const struct own_port *p, struct sa_mad *m, int timeout_ms, int retries);
/* Like umad_recv(), of a MAD of 256 bytes: negative if none came. */
int sa_receive(const struct own_port *p, struct sa_mad *m, int timeout_ms);

#endif
