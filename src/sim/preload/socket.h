/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Socket functions that the library and the program share (see qosd/sim.h).
 *
 * They say hello and pass memory files.  They are inline, so that the library is a single file
 * without dependencies.
 */
#ifndef QOSD_SIM_PRELOAD_SOCKET_H
#define QOSD_SIM_PRELOAD_SOCKET_H

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "qosd/sim.h"

/* Room for one descriptor.  With its full, padded size a second would fit, and leak. */
union sock_control {
	struct cmsghdr h;
	char room[CMSG_SPACE(sizeof(int))];
};
#define SOCK_CONTROL_SIZE CMSG_LEN(sizeof(int))

/* Sends a message, and a file with it unless that is -1.  Returns -1 with errno, like sendmsg(). */
static inline int sock_send_with(int fd, const void *data, size_t n, int file, int flags)
{
	struct iovec v = { .iov_base = (void *)(uintptr_t)data, .iov_len = n };
	union sock_control control;
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1 };

	memset(&control, 0, sizeof(control));
	control.h.cmsg_len = SOCK_CONTROL_SIZE;
	control.h.cmsg_level = SOL_SOCKET;
	control.h.cmsg_type = SCM_RIGHTS;
	memcpy(CMSG_DATA(&control.h), &file, sizeof(file));
	if (file >= 0) {
		m.msg_control = &control;
		m.msg_controllen = SOCK_CONTROL_SIZE;
	}
	return sendmsg(fd, &m, flags | MSG_NOSIGNAL) < 0 ? -1 : 0;
}

/*
 * Sends one message, with a file unless that is -1, and receives one: returns 0, the answer's error, or
 * -ENODEV if the simulator is gone.
 */
static inline int sock_ask_with(int fd, const void *question, size_t n, int file,
				struct sim_answer *a)
{
	ssize_t got;

	while (sock_send_with(fd, question, n, file, 0) < 0)
		if (errno != EINTR)
			return -ENODEV;
	do
		got = recv(fd, a, sizeof(*a), 0);
	while (got < 0 && errno == EINTR);
	return got == (ssize_t)sizeof(*a) ? -a->error : -ENODEV;
}

static inline int sock_ask(int fd, const void *question, size_t n, struct sim_answer *a)
{
	return sock_ask_with(fd, question, n, -1, a);
}

/*
 * Connects and says hello.  Returns a close-on-exec descriptor, or a negative errno. nodes has the
 * format of SIM_NODE_VAR.  file: for SIM_HCA, else -1.  The answer's text is empty if no answer came.
 */
static inline int sock_hello_with(const char *path, enum sim_purpose purpose, const char *nodes,
				  unsigned ca, unsigned port, int file, struct sim_answer *a)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	struct sim_hello h = {
		.magic = SIM_MAGIC, .protocol = SIM_PROTOCOL, .purpose = purpose,
		.pid = getpid(), .ca = ca, .port = port,
	};
	int fd, r;

	memset(a, 0, sizeof(*a));
	if (strlen(path) >= sizeof(un.sun_path) || strlen(nodes) >= sizeof(h.nodes))
		return -ENAMETOOLONG;
	strcpy(un.sun_path, path);
	strcpy(h.nodes, nodes);
	snprintf(h.program, sizeof(h.program), "%s", program_invocation_short_name);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	while ((r = connect(fd, (struct sockaddr *)&un, sizeof(un))) < 0 && errno == EINTR)
		;
	r = r < 0 ? -errno : sock_ask_with(fd, &h, sizeof(h), file, a);
	if (!r)
		return fd;
	close(fd);
	return r;
}

static inline int sock_hello(const char *path, enum sim_purpose purpose, const char *nodes,
			     unsigned ca, unsigned port, struct sim_answer *a)
{
	return sock_hello_with(path, purpose, nodes, ca, port, -1, a);
}

/* Makes a sealed memory file with the data; -1 with errno. */
static inline int sock_memory_file(const void *data, size_t n)
{
	int fd = memfd_create("umad", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	for (size_t done = 0; fd >= 0 && done < n;) {
		ssize_t w = write(fd, (const char *)data + done, n - done);

		if (w < 0 && errno != EINTR) {
			close(fd);
			return -1;
		}
		done += w > 0 ? (size_t)w : 0;
	}
	if (fd >= 0)
		fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE);
	return fd;
}

/* Sends a memory file of n bytes.  Returns 0, or -1 with errno, like sendmsg(). */
static inline int sock_send_file(int fd, int memory, size_t n, int flags)
{
	struct sim_large l = { .magic = SIM_MAGIC, .length = n };

	return sock_send_with(fd, &l, sizeof(l), memory, flags);
}

/* The file received with a message; -1 if there is none. */
static inline int sock_received_file(struct msghdr *m)
{
	struct cmsghdr *c = m->msg_controllen ? CMSG_FIRSTHDR(m) : NULL;
	int fd;

	if (!c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
		return -1;
	memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	return fd;
}

#endif
