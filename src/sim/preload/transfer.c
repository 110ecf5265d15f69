/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sends and receives on open umad ports; see qosd/sim.h.
 *
 * Return values and errno are those of libibumad over the kernel's umad device.  Requests that the
 * kernel would refuse at once are refused here as far as possible; errors that only the simulator
 * finds come back with a status.
 */
#include <poll.h>

#include "preload.h"
#include "socket.h"

#define MAD_MIN		36		/* common MAD and RMPP headers: least size of a write */
#define GONE_US		100000		/* pause, because some programs retry and log for ever */

_Static_assert(SIM_MESSAGE_MAX == sizeof(struct ib_user_mad) + 256, "one MAD is not large");

/* --- sending --- */

static bool may_send(int fd, uint32_t agent, int length)
{
	struct umad_file *f = umad_file_of(fd);

	return f && length >= MAD_MIN && agent < AGENTS_MAX &&
	       atomic_load_explicit(&f->agents, memory_order_relaxed) & 1u << agent;
}

/*
 * Waits for the simulator where the device would accept any number of messages at once but a socket
 * does not.  The simulator never stops reading.  False: it has ended.
 */
static bool may_retry(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLOUT };

	if (errno == EAGAIN)
		poll(&p, 1, -1);
	return errno == EAGAIN || errno == EINTR;
}

static bool send_plain(int fd, const void *umad, size_t n)
{
	while (send(fd, umad, n, MSG_NOSIGNAL) < 0)
		if (!may_retry(fd))
			return false;
	return true;
}

static bool send_large(int fd, const void *umad, size_t n)
{
	int memory = sock_memory_file(umad, n), r;

	if (memory < 0)
		return false;
	while ((r = sock_send_file(fd, memory, n, 0)) < 0 && may_retry(fd))
		;
	close(memory);
	return r == 0;
}

int umad_send(int fd, int agentid, void *umad, int length, int timeout_ms, int retries)
{
	struct ib_user_mad *u = umad;
	size_t n = sizeof(*u) + (size_t)length;

	errno = 0;
	u->agent_id = (uint32_t)agentid;
	u->timeout_ms = (uint32_t)timeout_ms;
	u->retries = (uint32_t)retries;
	if (!may_send(fd, u->agent_id, length)) {
		errno = EINVAL;
		return -EIO;
	}
	if (n > SIM_INLINE_MAX ? send_large(fd, umad, n) : send_plain(fd, umad, n))
		return 0;
	errno = EIO;		/* the simulator is gone */
	return -EIO;
}

/* --- receiving --- */

static int wait_readable(int fd, int timeout_ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	int n = poll(&p, 1, timeout_ms);

	if (n == 1)
		return 0;
	return n == 0 ? -ETIMEDOUT : -EIO;
}

static ssize_t read_memory(int memory, char *buf, size_t n)
{
	size_t done = 0;

	while (done < n) {
		ssize_t r = pread(memory, buf + done, n - done, (off_t)done);

		if (r == 0 || (r < 0 && errno != EINTR))
			return -EIO;
		done += r > 0 ? (size_t)r : 0;
	}
	return (ssize_t)n;
}

/* Maps the result of recv(); the simulator's end becomes an error. */
static ssize_t received(ssize_t n)
{
	if (n > 0)
		return n;
	return n < 0 && (errno == EAGAIN || errno == EINTR) ? -EAGAIN : -EIO;
}

/* Reads the announced large message if the buffer has room for it. */
static ssize_t read_large(struct umad_file *f, int fd, struct ib_user_mad *u, size_t room)
{
	union sock_control control;
	struct iovec v = { .iov_base = u, .iov_len = room };
	struct msghdr m = {
		.msg_iov = &v, .msg_iovlen = 1,
		.msg_control = &control, .msg_controllen = SOCK_CONTROL_SIZE,
	};
	size_t size = f->announced;
	ssize_t n;
	int memory;

	if (room < size) {
		u->length = (uint32_t)size;
		return -ENOSPC;
	}
	n = received(recvmsg(fd, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC));
	if (n < 0)
		return n;
	f->announced = 0;
	memory = sock_received_file(&m);
	if (memory < 0)
		return n;
	n = read_memory(memory, (char *)u, size);
	close(memory);
	return n;
}

/* Reads into a buffer that is too small for some MADs: a message that does not fit stays queued. */
static ssize_t read_small(int fd, void *buf, size_t room)
{
	char whole[SIM_MESSAGE_MAX];
	ssize_t n = received(recv(fd, whole, sizeof(whole), MSG_DONTWAIT | MSG_PEEK));

	if (n < 0)
		return n;
	if ((size_t)n > room)
		return -EINVAL;
	return received(recv(fd, buf, room, MSG_DONTWAIT));
}

/* Performs read() of the device: returns bytes, or a negative errno. */
static ssize_t read_file(struct umad_file *f, int fd, struct ib_user_mad *u, size_t room)
{
	ssize_t n = 0;

	pthread_mutex_lock(&f->reading);
	if (!f->announced) {
		if (room < SIM_MESSAGE_MAX)
			n = read_small(fd, u, room);
		else
			n = received(recv(fd, u, SIM_MESSAGE_MAX, MSG_DONTWAIT));
		if (n == SIM_MESSAGE_MAX && u->length > SIM_MESSAGE_MAX) {
			f->announced = u->length;
			wait_readable(fd, -1);		/* the rest is being sent */
		}
	}
	if (f->announced)
		n = read_large(f, fd, u, room);
	pthread_mutex_unlock(&f->reading);
	return n;
}

int umad_poll(int fd, int timeout_ms)
{
	return wait_readable(fd, timeout_ms);
}

int umad_recv(int fd, void *umad, int *length, int timeout_ms)
{
	struct ib_user_mad *u = umad;
	struct umad_file *f = umad_file_of(fd);
	ssize_t n;

	errno = 0;
	if (!umad || !length || *length < 0 || !f) {
		errno = EINVAL;
		return -EINVAL;
	}
	n = read_file(f, fd, u, sizeof(*u) + (size_t)*length);
	if (n == -EAGAIN && timeout_ms) {
		int r;

		errno = 0;
		r = wait_readable(fd, timeout_ms);
		if (r < 0) {
			if (!errno)
				errno = -r;
			return r;
		}
		n = read_file(f, fd, u, sizeof(*u) + (size_t)*length);
	}
	if (n < 0) {
		if (n == -ENOSPC)
			*length = (int)(u->length - sizeof(*u));
		else if (n == -EIO && timeout_ms)
			usleep(GONE_US);
		errno = (int)-n;
		return (int)n;
	}
	errno = 0;
	*length = n > (ssize_t)sizeof(*u) ? (int)((size_t)n - sizeof(*u)) : 0;
	return (int)u->agent_id;
}
