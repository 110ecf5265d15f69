/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * libqosd-sim.so: libibumad's place in a process that runs on a simulated node.
 *
 * Preloaded before libibumad, it defines those of its functions that would talk
 * to the kernel; what only reads or writes memory stays libibumad's.  The
 * descriptor of an open port is the socket to the simulator, so poll, select
 * and epoll work on it.
 */
#ifndef QOSD_SIM_PRELOAD_PRELOAD_H
#define QOSD_SIM_PRELOAD_PRELOAD_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include <infiniband/umad.h>

#include "qosd/sim.h"

#define UMAD_DIR	"/dev/infiniband"
#define SM_DISABLED	(1u << 10)	/* of CapabilityMask */

/* Programs have names like these, too. */
#pragma GCC visibility push(hidden)

/* --- connect.c: the simulator's socket --- */

/* Was this process started by qosd-sim? */
bool sim_wanted(void);
/* A connection for the purpose: a descriptor, or a negative errno (ENODEV: no simulator). */
int sim_connect(enum sim_purpose purpose, unsigned ca, unsigned port, struct sim_answer *a);
/* One question on a connection of its own: 0 or a negative errno. */
int sim_ask(const struct sim_ask *q, struct sim_answer *a);

/* --- device.c: which devices there are --- */

/* "sim0" … as its place among the nodes; -1: no such device. */
int ca_by_name(const char *name);
/* 0 or a negative errno. */
int ask_ca(unsigned ca, struct sim_answer *a);
int ask_port(unsigned ca, unsigned port, struct sim_answer *a);
/*
 * What libibumad does with names and ports that are left out (NULL, 0): the first
 * port that is Active, or else that has a link, or is not disabled.  smi: only ports with
 * subnet management.
 */
int resolve_port(const char *name, int portnum, bool smi, unsigned *ca, unsigned *port);
/* As sysfs has it. */
const char *link_layer(const struct sim_answer *port);
/* The number in "umad0", "issm0": ports of all devices in order. False: no such port. */
bool umad_by_number(unsigned number, unsigned *ca, unsigned *port);
/* … and back; -1. */
int number_of_umad(unsigned ca, unsigned port);

/* --- port.c: open umad ports --- */

#define AGENTS_MAX 32

struct umad_file {
	uint32_t number;		/* the simulator's */
	atomic_uint agents;		/* bit n: agent n is registered */
	pthread_mutex_t reading;
	size_t announced;		/* bytes of the large message that is next, or 0 */
};
/* NULL: no umad port was opened on that descriptor. */
struct umad_file *umad_file_of(int fd);

/* --- sysfs.c --- */

/* Opens what a file of /sys/class/infiniband{,_mad} would hold; -1 with errno. */
int sysfs_open(const char *path);

#pragma GCC visibility pop

#endif
