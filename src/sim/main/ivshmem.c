/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Connects HCAs (sim/hca) to virtual machines, as the server of QEMU's ivshmem devices.
 *
 * The protocol is version 0 of QEMU's docs/specs/ivshmem-spec: each message is a number of 8 bytes,
 * little-endian, to QEMU only, with at most one file.  QEMU and this program are the two peers, each
 * with one interrupt vector, which is an eventfd.  QEMU is gone when its end of the socket closes.
 */
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>

#include "lib/base/alloc.h"
#include "qosd/sim_hca.h"
#include "server.h"
#include "sim/hca/hca.h"
#include "sim/preload/socket.h"

#define IVSHMEM_VERSION 0
enum { MEMORY = -1, PEER_HCA = 0, PEER_VM = 1 };

struct ivshmem {
	struct server *server;
	struct ivshmem *next;
	struct hca *hca;
	void *memory;			/* NULL: not mapped */
	int socket, memory_file;
	int to_vm, to_hca;		/* eventfds: each peer's doorbell */
	struct io *socket_io, *doorbell_io;
};

static void ivshmem_free(struct ivshmem *v)
{
	if (v->hca)
		hca_detach(v->hca);
	io_free(v->socket_io);
	io_free(v->doorbell_io);
	if (v->memory)
		munmap(v->memory, SIMHCA_MEMORY);
	close_fd(v->socket);
	close_fd(v->memory_file);
	close_fd(v->to_vm);
	close_fd(v->to_hca);
	free(v);
}

static void unlist(struct ivshmem *v)
{
	struct ivshmem **at = &v->server->ivshmems;

	while (*at != v)
		at = &(*at)->next;
	*at = v->next;
}

void ivshmem_stop(struct server *sv)
{
	while (sv->ivshmems) {
		struct ivshmem *v = sv->ivshmems;

		unlist(v);
		ivshmem_free(v);
	}
}

/* --- events --- */

/* QEMU sends nothing, so that anything to read, but for data that it should not send, is the end. */
static void on_socket(void *arg, int events)
{
	struct ivshmem *v = arg;
	struct server *sv = v->server;
	char data[64];
	ssize_t n = recv(v->socket, data, sizeof(data), MSG_DONTWAIT);

	(void)events;
	if (n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR)))
		return;
	sv->passing.events++;
	server_catch_up(sv);
	unlist(v);
	ivshmem_free(v);
	server_turn(sv);
}

static void on_doorbell(void *arg, int events)
{
	struct ivshmem *v = arg;
	uint64_t times;

	(void)events;
	if (read(v->to_hca, &times, sizeof(times)) < 0)
		return;
	v->server->passing.events++;
	server_catch_up(v->server);
	hca_doorbell(v->hca);
	server_turn(v->server);
}

/* For hca_ops.ring: the write can only fail if the counter is about to overflow, and then it is set. */
static void ring(void *arg)
{
	const struct ivshmem *v = arg;
	uint64_t once = 1;

	if (write(v->to_vm, &once, sizeof(once)) < 0)
		return;
}

/* --- start --- */

static bool tell(const struct ivshmem *v, int64_t number, int file)
{
	uint64_t message = htole64((uint64_t)number);

	return sock_send_with(v->socket, &message, sizeof(message), file, MSG_DONTWAIT) == 0;
}

static bool introduce(const struct ivshmem *v)
{
	return tell(v, IVSHMEM_VERSION, -1) && tell(v, PEER_VM, -1) &&
	       tell(v, MEMORY, v->memory_file) && tell(v, PEER_HCA, v->to_hca) &&
	       tell(v, PEER_VM, v->to_vm);
}

/* The seals keep QEMU from shrinking the file under our feet. */
static bool make_memory(struct ivshmem *v)
{
	v->memory = shared_memory("simhca", SIMHCA_MEMORY, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL,
				  &v->memory_file);
	return v->memory != NULL;
}

static bool make_doorbells(struct ivshmem *v)
{
	v->to_vm = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	v->to_hca = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return v->to_vm >= 0 && v->to_hca >= 0;
}

static uint32_t statistics_number(struct server *sv, uint32_t node, const char *who)
{
	char name[sizeof(((struct stat_table *)0)->name)];
	uint32_t number = ++sv->files;

	snprintf(name, sizeof(name), "%s at %.*s", who,
		 (int)(sizeof(name) - sizeof(" at ") - strlen(who)),
		 sv->sim->f->nodes[node].given_desc);
	stats_client(sv->sim->stats, number, name);
	return number;
}

int ivshmem_open(struct server *sv, uint32_t node, int socket, const char *who)
{
	struct ivshmem *v = xcalloc(1, sizeof(*v));
	struct hca_ops ops = { .ring = ring, .arg = v };

	v->server = sv;
	v->memory_file = v->to_vm = v->to_hca = -1;
	v->socket = fcntl(socket, F_DUPFD_CLOEXEC, 0);
	if (v->socket < 0 || !make_memory(v) || !make_doorbells(v) || !introduce(v)) {
		int error = errno;

		ivshmem_free(v);
		return error;
	}
	v->hca = hca_attach(sv->sim, node, v->memory, PEER_HCA, statistics_number(sv, node, who),
			    &ops);
	v->socket_io = io_new(sv->loop, v->socket, on_socket, v);
	v->doorbell_io = io_new(sv->loop, v->to_hca, on_doorbell, v);
	io_set(v->socket_io, LOOP_READ);
	io_set(v->doorbell_io, LOOP_READ);
	v->next = sv->ivshmems;
	sv->ivshmems = v;
	return 0;
}
