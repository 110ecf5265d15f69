/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Implements `qosd-sim vm`, QEMU with HCAs of a fabric that is served.
 *
 * Each HCA is an ivshmem device of QEMU's, and QEMU's end of a socket to the simulator is its character
 * device; QEMU inherits these ends.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/base/alloc.h"
#include "program.h"

struct command {
	VEC(char *) words;
	unsigned n_hcas;
};

static void add_hca(struct command *c, int fd)
{
	*vec_push(&c->words) = xstrdup("-chardev");
	*vec_push(&c->words) = xasprintf("socket,id=hca%u,fd=%d", c->n_hcas, fd);
	*vec_push(&c->words) = xstrdup("-device");
	*vec_push(&c->words) = xasprintf("ivshmem-doorbell,chardev=hca%u,vectors=1", c->n_hcas);
	c->n_hcas++;
}

/* Asks for the node.  Returns QEMU's end of the socket, which exec keeps open, or -1. */
static int connect_hca(const char *path, const char *node)
{
	int ends[2], fd;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0) {
		perror("qosd-sim: socketpair");
		return -1;
	}
	fd = dial(path, SIM_HCA, node, ends[0]);
	close(ends[0]);
	if (fd >= 0) {
		close(fd);
		return ends[1];
	}
	close(ends[1]);
	return -1;
}

static bool connect_hcas(struct command *c, const char *path, const char *nodes)
{
	char *copy = xstrdup(nodes), *save, *node;
	bool ok = true;

	for (node = strtok_r(copy, ";", &save); node && ok; node = strtok_r(NULL, ";", &save)) {
		int fd = connect_hca(path, node);

		ok = fd >= 0;
		if (ok)
			add_hca(c, fd);
	}
	free(copy);
	return ok;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

int vm(const struct options *o)
{
	char *path = socket_path(o);
	struct command c = { 0 };

	/* the simulator's statistics name the program that asks, with its process id */
	program_invocation_short_name = (char *)(uintptr_t)base_name(o->words[0]);
	for (int i = 0; i < o->n_words; i++)
		*vec_push(&c.words) = xstrdup(o->words[i]);
	if (!connect_hcas(&c, path, o->nodes))
		return EXIT_FAILED;
	if (!c.n_hcas) {
		fprintf(stderr, "qosd-sim: missing: a node\n");
		return EXIT_USAGE;
	}
	*vec_push(&c.words) = NULL;
	return become(c.words.v);
}
