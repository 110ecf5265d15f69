/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Replaces libibumad in a process that runs on a simulated node (libqosd-sim.so).
 *
 * Preloaded before libibumad, it defines those of its functions that would talk to the kernel;
 * functions that only read or write memory remain libibumad's.  The descriptor of an open port is
 * the socket to the simulator, so that poll, select and epoll work on it.
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
#define SM_DISABLED	(1u << 10)	/* bit of CapabilityMask */

/* hidden, since programs may have functions of the same names */
#pragma GCC visibility push(hidden)

/* --- connect.c: the simulator's socket --- */

/* Whether qosd-sim started this process. */
bool sim_wanted(void);
/*
 * Opens a connection for the purpose.  Returns a descriptor, or a negative errno (ENODEV: no
 * simulator).
 */
int sim_connect(enum sim_purpose purpose, unsigned ca, unsigned port, struct sim_answer *a);
/* Asks one question on a connection of its own.  Returns 0 or a negative errno. */
int sim_ask(const struct sim_ask *q, struct sim_answer *a);

/* --- device.c: which devices there are --- */

/* Index of "sim0" … among the nodes; -1 if there is no such device. */
int ca_by_name(const char *name);
/* Return 0 or a negative errno. */
int ask_ca(unsigned ca, struct sim_answer *a);
int ask_port(unsigned ca, unsigned port, struct sim_answer *a);
/*
 * Resolves a name and port that may be left out (NULL, 0), as libibumad does: the first port that
 * is Active, else one that has a link, else one that is not disabled. smi: only ports with subnet
 * management.
 */
int resolve_port(const char *name, int portnum, bool smi, unsigned *ca, unsigned *port);
/* The link layer as sysfs names it. */
const char *link_layer(const struct sim_answer *port);
/*
 * Finds the port by the number in "umad0" or "issm0", which counts the ports of all devices in
 * order.  False if there is none.
 */
bool umad_by_number(unsigned number, unsigned *ca, unsigned *port);
/* The number of a port; -1 if there is none. */
int number_of_umad(unsigned ca, unsigned port);

/* --- port.c: open umad ports --- */

#define AGENTS_MAX 32

struct umad_file {
	uint32_t number;		/* number from the simulator */
	atomic_uint agents;		/* bit n: agent n is registered */
	pthread_mutex_t reading;
	size_t announced;		/* bytes of the large message that comes next, or 0 */
};
/* NULL if no umad port was opened on that descriptor. */
struct umad_file *umad_file_of(int fd);

/* --- sysfs.c --- */

/* Opens a descriptor with the content of a file of /sys/class/infiniband{,_mad}; -1 with errno. */
int sysfs_open(const char *path);

#pragma GCC visibility pop

#endif
