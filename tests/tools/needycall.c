/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A library to be preloaded to qosd: libibumad as it might be one day, which makes a system call for
 * each answer that discovery has no leave for.  Without it, it receives nothing.
 */
#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <infiniband/umad.h>

int umad_recv(int fd, void *umad, int *length, int timeout_ms)
{
	void *found = dlsym(RTLD_NEXT, "umad_recv");
	int (*fn)(int, void *, int *, int);
	int s = socket(AF_INET, SOCK_DGRAM, 0);

	if (s < 0)
		return -errno;
	close(s);
	memcpy(&fn, &found, sizeof(fn));
	return fn(fd, umad, length, timeout_ms);
}
