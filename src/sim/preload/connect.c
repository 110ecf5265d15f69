/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Connects to the simulator; see qosd/sim.h.
 *
 * Each question has a connection of its own, because questions are rare.  So threads share nothing,
 * fork()ed children share nothing, and a daemon that closes all unknown descriptors loses nothing.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "preload.h"
#include "socket.h"

bool sim_wanted(void)
{
	return getenv(SIM_SOCKET_VAR) != NULL;
}

/* Prints the first error: programs that use libibumad say little about failures. */
static void complain(const struct sim_answer *a)
{
	static atomic_flag said = ATOMIC_FLAG_INIT;

	if (a->text[0] && !atomic_flag_test_and_set(&said))
		fprintf(stderr, "qosd-sim: %.*s\n", (int)sizeof(a->text), a->text);
}

int sim_connect(enum sim_purpose purpose, unsigned ca, unsigned port, struct sim_answer *a)
{
	const char *path = getenv(SIM_SOCKET_VAR), *nodes = getenv(SIM_NODE_VAR);
	int fd;

	if (!path)
		return -ENODEV;
	fd = sock_hello(path, purpose, nodes ? nodes : "", ca, port, a);
	if (fd >= 0)
		return fd;
	complain(a);
	return a->error ? fd : -ENODEV;
}

int sim_ask(const struct sim_ask *q, struct sim_answer *a)
{
	int fd = sim_connect(SIM_CONTROL, 0, 0, a), r;

	if (fd < 0)
		return fd;
	r = sock_ask(fd, q, sizeof(*q), a);
	close(fd);
	return r;
}
