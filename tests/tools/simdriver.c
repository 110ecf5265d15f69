/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Plays QEMU and the drivers of HCAs (qosd/sim_hca.h) for `qosd-sim vm`:
 *
 *	qosd-sim vm NODE[;NODE]... -- simdriver
 *
 * It starts the HCAs, has their agents answer SMPs and MADs to QP 1 as Linux does, and prints what else
 * happens, one line each:
 *
 *	hca N: GUID PORTS			at the start
 *	state N PORT STATE			PortState has changed
 *	lid N PORT LID				after a change of anything at the port
 *	packet N SLID DLID QP BYTES		a datagram of so many bytes of payload
 *
 * Commands come on standard input, whose end is the machine's:
 *
 *	send N DLID QP BYTES			sends a datagram from port 1
 *	start N, stop N				powers the HCA
 *	break N					writes what no driver may
 */
#include <endian.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/base/bytes.h"
#include "qosd/sim_hca.h"

enum { LRH = 8, BTH = 12, DETH = 8, HEADERS = LRH + BTH + DETH, ICRC = 4 };
enum { HCAS_MAX = 8, CALLS = 512, PACKET_MAX = 8192 };
enum { CLASS_LID = 0x01, CLASS_DR = 0x81, GET = 1, PORT_INFO = 0x15 };
enum { HOP_PTR = 6, HOP_CNT = 7, RET_PATH = 192, SMP_DATA = 64, PI_LID = 16 };
#define PERMISSIVE 0xffff
#define QPN_MASK 0xffffffu

/* A request to the agents that waits for its answer. */
struct call {
	uint64_t id;		/* 0: none */
	uint8_t port;
	uint32_t n;		/* of the packet that asked; 0: it is our own */
	uint8_t packet[HEADERS + SIMHCA_MAD_SIZE];
};

static struct hca {
	unsigned index;
	int socket, to_hca, from_hca;
	struct simhca_header *header;
	struct simhca_ring *out, *in;
	uint16_t lid;		/* of port 1 */
	struct call calls[CALLS];
	uint64_t last_id;
} hcas[HCAS_MAX];
static unsigned n_hcas;

static void die(const char *what)
{
	fprintf(stderr, "simdriver: %s\n", what);
	exit(1);
}

/* --- frames --- */

static void put(struct simhca_ring *r, uint32_t *at, const void *data, size_t n)
{
	for (size_t i = 0; i < n; i++)
		r->data[(*at)++ % SIMHCA_RING_SIZE] = ((const uint8_t *)data)[i];
}

static void send_frame(struct hca *h, uint8_t kind, uint8_t port, uint16_t flags, uint64_t id,
		       const void *data, size_t n)
{
	struct simhca_frame f = {
		.length = htole32((uint32_t)n), .kind = kind, .port = port, .flags = htole16(flags),
		.id = htole64(id),
	};
	uint32_t at = le32toh(h->out->written), read;
	uint64_t once = 1;

	read = le32toh(__atomic_load_n(&h->out->read, __ATOMIC_ACQUIRE));
	if (SIMHCA_RING_SIZE - (at - read) < sizeof(f) + n + 8)
		die("the ring to the HCA is full");
	put(h->out, &at, &f, sizeof(f));
	put(h->out, &at, data, n);
	at = (at + 7) & ~7u;
	__atomic_store_n(&h->out->written, htole32(at), __ATOMIC_RELEASE);
	if (write(h->to_hca, &once, sizeof(once)) < 0)
		die("cannot ring the HCA");
}

static void get(const struct simhca_ring *r, uint32_t *at, void *data, size_t n)
{
	for (size_t i = 0; i < n; i++)
		((uint8_t *)data)[i] = r->data[(*at)++ % SIMHCA_RING_SIZE];
}

/* --- the agents --- */

static void call_agent(struct hca *h, uint8_t port, uint16_t flags, const struct simhca_mad *m,
		       const uint8_t *packet, size_t n)
{
	struct call *c = &h->calls[++h->last_id % CALLS];

	c->id = h->last_id;
	c->port = port;
	c->n = (uint32_t)n;
	memcpy(c->packet, packet, n);
	send_frame(h, SIMHCA_MAD, port, flags, c->id, m, sizeof(*m));
}

static void ask_portinfo(struct hca *h, uint8_t port)
{
	struct simhca_mad m = { .mad = { 1, CLASS_LID, 1, GET, [17] = PORT_INFO, [23] = port } };

	call_agent(h, port, SIMHCA_TRUSTED, &m, (const uint8_t *)"", 0);
}

/* The packet that brought a request carries the answer back. */
static void send_answer(struct hca *h, const struct call *c, const uint8_t *answer)
{
	uint8_t packet[sizeof(c->packet)];
	uint8_t *bth = packet + LRH, *mad = packet + HEADERS;
	uint32_t qpn = get_be32(c->packet + LRH + 4) & QPN_MASK;

	memcpy(packet, c->packet, sizeof(packet));
	if (get_be16(packet + 2) != PERMISSIVE) {
		memcpy(packet + 2, c->packet + 6, 2);
		memcpy(packet + 6, c->packet + 2, 2);
	}
	put_be32(bth + 4, get_be32(c->packet + LRH + BTH + 4) & QPN_MASK);
	put_be32(bth + BTH + 4, qpn);
	memcpy(mad, answer, SIMHCA_MAD_SIZE);
	if (mad[1] == CLASS_DR)
		mad[HOP_PTR]--;
	send_frame(h, SIMHCA_PACKET, c->port, 0, 0, packet, sizeof(packet));
}

static void take_answer(struct hca *h, uint64_t id, unsigned verdict, const uint8_t *mad)
{
	struct call *c = &h->calls[id % CALLS];

	if (c->id != id)
		return;
	c->id = 0;
	if (verdict != SIMHCA_REPLY)
		return;
	if (c->n) {
		send_answer(h, c, mad);
		return;
	}
	if (c->port == 1)
		h->lid = get_be16(mad + SMP_DATA + PI_LID);
	printf("lid %u %u %u\n", h->index, c->port, get_be16(mad + SMP_DATA + PI_LID));
}

/* --- packets --- */

/* A packet to QP 0 or 1: hands requests to the agents, with the directed route as Linux's SMI leaves it. */
static void take_mad(struct hca *h, uint8_t port, uint8_t *packet)
{
	uint8_t *mad = packet + HEADERS;
	struct simhca_mad m = {
		.source_qp = htole32(get_be32(packet + LRH + BTH + 4) & QPN_MASK),
		.source_lid = htole16(get_be16(packet + 6)), .pkey = htole16(get_be16(packet + LRH + 2)),
		.sl = packet[1] >> 4, .by_cable = 1,
	};

	if (mad[1] == CLASS_DR && !(mad[4] & 0x80)) {
		if (mad[HOP_PTR] != mad[HOP_CNT])
			return;
		mad[RET_PATH + mad[HOP_PTR]++] = port;
	}
	memcpy(m.mad, mad, sizeof(m.mad));
	call_agent(h, port, 0, &m, packet, HEADERS + SIMHCA_MAD_SIZE);
}

static void take_packet(struct hca *h, uint8_t port, uint8_t *packet, size_t n)
{
	uint32_t qpn;

	if (n < HEADERS || (packet[1] & 3) != 2)
		return;
	qpn = get_be32(packet + LRH + 4) & QPN_MASK;
	if (qpn <= 1 && n == HEADERS + SIMHCA_MAD_SIZE)
		take_mad(h, port, packet);
	else
		printf("packet %u %u %u %u %zu\n", h->index, get_be16(packet + 6),
		       get_be16(packet + 2), qpn, n - HEADERS);
}

static void send_datagram(struct hca *h, unsigned dlid, unsigned qpn, unsigned n)
{
	uint8_t packet[PACKET_MAX] = { 0, 2 };

	if (n > sizeof(packet) - HEADERS || n % 4)
		die("no datagram can have that length");
	put_be16(packet + 2, (uint16_t)dlid);
	put_be16(packet + 4, (uint16_t)((HEADERS + n + ICRC) / 4));
	put_be16(packet + 6, h->lid);
	packet[LRH] = 0x64;
	put_be16(packet + LRH + 2, 0xffff);
	put_be32(packet + LRH + 4, qpn);
	put_be32(packet + LRH + BTH + 4, 2);
	send_frame(h, SIMHCA_PACKET, 1, 0, 0, packet, HEADERS + n);
}

/* --- what happens --- */

static void take_frame(struct hca *h, const struct simhca_frame *f, uint8_t *data, size_t n)
{
	switch (f->kind) {
	case SIMHCA_PACKET:
		take_packet(h, f->port, data, n);
		break;
	case SIMHCA_ANSWER:
		take_answer(h, le64toh(f->id), le16toh(f->flags), data);
		break;
	case SIMHCA_EVENT:
		if (le16toh(f->flags) & SIMHCA_STATE_CHANGED)
			printf("state %u %u %u\n", h->index, f->port, data[0]);
		ask_portinfo(h, f->port);
		break;
	}
}

static void read_ring(struct hca *h)
{
	uint8_t data[PACKET_MAX + 8];
	struct simhca_frame f;
	uint64_t times;
	uint32_t at = le32toh(h->in->read), n;

	if (read(h->from_hca, &times, sizeof(times)) < 0 && errno != EAGAIN)
		die("cannot read the doorbell");
	while (at != le32toh(__atomic_load_n(&h->in->written, __ATOMIC_ACQUIRE))) {
		get(h->in, &at, &f, sizeof(f));
		n = le32toh(f.length);
		if (n > PACKET_MAX)
			die("a frame is too long");
		get(h->in, &at, data, n);
		at = (at + 7) & ~7u;
		__atomic_store_n(&h->in->read, htole32(at), __ATOMIC_RELEASE);
		take_frame(h, &f, data, n);
	}
}

static void obey(const char *line)
{
	unsigned index, dlid, qpn, n;
	char word[16];

	if (sscanf(line, "%15s %u", word, &index) != 2 || index >= n_hcas)
		die("no such command");
	if (sscanf(line, "send %*u %u %u %u", &dlid, &qpn, &n) == 3)
		send_datagram(&hcas[index], dlid, qpn, n);
	else if (!strcmp(word, "start"))
		send_frame(&hcas[index], SIMHCA_START, 0, 0, 0, "", 0);
	else if (!strcmp(word, "stop"))
		send_frame(&hcas[index], SIMHCA_STOP, 0, 0, 0, "", 0);
	else if (!strcmp(word, "break"))
		send_frame(&hcas[index], 99, 0, 0, 0, "", 0);
	else
		die("no such command");
}

static void run(void)
{
	struct pollfd fds[2 * HCAS_MAX + 1];
	char line[256];

	for (;;) {
		fds[0] = (struct pollfd){ .fd = STDIN_FILENO, .events = POLLIN };
		for (unsigned i = 0; i < n_hcas; i++) {
			fds[2 * i + 1] = (struct pollfd){ .fd = hcas[i].from_hca, .events = POLLIN };
			fds[2 * i + 2] = (struct pollfd){ .fd = hcas[i].socket, .events = POLLIN };
		}
		if (poll(fds, 2 * n_hcas + 1, -1) < 0)
			die("poll");
		for (unsigned i = 0; i < n_hcas; i++) {
			if (fds[2 * i + 1].revents)
				read_ring(&hcas[i]);
			if (fds[2 * i + 2].revents)
				die("the simulator is gone");
		}
		if (!fds[0].revents)
			continue;
		if (!fgets(line, sizeof(line), stdin))
			return;
		obey(line);
	}
}

/* --- QEMU's part --- */

/* One message of the ivshmem server; *file: the file passed with it, or -1. */
static int64_t hear(int socket, int *file)
{
	union { struct cmsghdr h; char room[CMSG_SPACE(sizeof(int))]; } control;
	uint64_t number;
	struct iovec v = { .iov_base = &number, .iov_len = sizeof(number) };
	struct msghdr m = {
		.msg_iov = &v, .msg_iovlen = 1, .msg_control = &control,
		.msg_controllen = sizeof(control),
	};

	*file = -1;
	if (recvmsg(socket, &m, MSG_WAITALL) != sizeof(number))
		die("the server's messages end early");
	if (m.msg_controllen)
		memcpy(file, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(*file));
	return (int64_t)le64toh(number);
}

static void open_hca(int socket)
{
	struct hca *h = &hcas[n_hcas];
	int64_t own, peer;
	int file;
	char *memory;

	h->index = n_hcas++;
	h->socket = socket;
	if (hear(socket, &file) != 0 || file >= 0)
		die("not version 0 of the protocol");
	own = hear(socket, &file);
	if (hear(socket, &file) != -1 || file < 0)
		die("there is no memory");
	memory = mmap(NULL, SIMHCA_MEMORY, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (memory == MAP_FAILED)
		die("the memory cannot be mapped");
	peer = hear(socket, &h->to_hca);
	if (hear(socket, &h->from_hca) != own || h->to_hca < 0 || h->from_hca < 0)
		die("there are no doorbells");
	h->header = (void *)memory;
	h->out = (void *)(memory + SIMHCA_TO_HCA);
	h->in = (void *)(memory + SIMHCA_TO_DRIVER);
	if (le64toh(h->header->magic) != SIMHCA_MAGIC || le32toh(h->header->hca) != peer || peer == own)
		die("the header is wrong");
	printf("hca %u: %016llx %u\n", h->index, (unsigned long long)le64toh(h->header->node_guid),
	       le32toh(h->header->n_ports));
	send_frame(h, SIMHCA_START, 0, 0, 0, "", 0);
}

int main(int argc, char **argv)
{
	int fd;

	setvbuf(stdout, NULL, _IOLBF, 0);
	setvbuf(stdin, NULL, _IONBF, 0);	/* so that poll() knows of each line */
	for (int i = 1; i < argc; i++) {
		const char *at = strstr(argv[i], "fd=");

		if (!strncmp(argv[i], "socket,id=hca", 13) && at && sscanf(at, "fd=%d", &fd) == 1 &&
		    n_hcas < HCAS_MAX)
			open_hca(fd);
	}
	if (!n_hcas)
		die("it is for `qosd-sim vm NODE -- simdriver'");
	run();
	return 0;
}
