/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A hostile client of qosd-sim: sends many kinds of invalid messages on its socket, and disconnects
 * in the middle of messages.
 *
 *	simgarbage [ROUNDS]	on the socket in $QOSD_SIM_SOCKET
 *
 * It only sends; whether the simulator still serves others is for the caller to
 * see.  Exit status 0 if there was somebody to connect to all the time.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "qosd/sim.h"

enum { UMAD_HEADER = 64, FLOOD = 20000 };

static uint64_t state = 1;

static uint32_t chance(uint32_t n)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(state >> 33) % n;
}

static void fill(void *data, size_t n)
{
	for (size_t i = 0; i < n; i++)
		((uint8_t *)data)[i] = (uint8_t)chance(256);
}

static int dial(void)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	const char *path = getenv(SIM_SOCKET_VAR);
	int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);

	snprintf(a.sun_path, sizeof(a.sun_path), "%s", path ? path : "");
	if (connect(fd, (struct sockaddr *)&a, sizeof(a)) < 0) {
		perror("simgarbage: connect");
		exit(1);
	}
	return fd;
}

static void say(int fd, const void *data, size_t n)
{
	(void)!send(fd, data, n, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static struct sim_hello good_hello(enum sim_purpose purpose)
{
	return (struct sim_hello){
		.magic = SIM_MAGIC, .protocol = SIM_PROTOCOL, .purpose = purpose,
		.program = "simgarbage", .port = 1,
	};
}

/* Sends a valid hello, followed by invalid messages. */
static int greet(enum sim_purpose purpose, struct sim_answer *a)
{
	struct sim_hello h = good_hello(purpose);
	int fd = dial();

	say(fd, &h, sizeof(h));
	if (recv(fd, a, sizeof(*a), 0) != (ssize_t)sizeof(*a))
		a->error = EPIPE;
	return fd;
}

static void say_with_file(int fd, const void *data, size_t n, int file)
{
	struct iovec v = { .iov_base = (void *)(uintptr_t)data, .iov_len = n };
	union { struct cmsghdr h; char room[CMSG_SPACE(3 * sizeof(int))]; } control = { 0 };
	struct msghdr m = {
		.msg_iov = &v, .msg_iovlen = 1,
		.msg_control = &control, .msg_controllen = sizeof(control),
	};
	const int files[3] = { file, file, file };

	control.h = (struct cmsghdr){
		.cmsg_len = CMSG_LEN(sizeof(files)),
		.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS,
	};
	memcpy(CMSG_DATA(&control.h), files, sizeof(files));
	(void)!sendmsg(fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void pass_file(int fd, int file, uint64_t length, size_t n)
{
	struct sim_large l = { .magic = SIM_MAGIC, .length = length };

	say_with_file(fd, &l, n, file);
}

/* --- the ways --- */

static void no_hello(void)
{
	char junk[2 * sizeof(struct sim_hello)];
	int fd = dial();

	fill(junk, sizeof(junk));
	say(fd, junk, chance(2) ? sizeof(struct sim_hello) : chance(sizeof(junk)));
	close(fd);
}

static void odd_hello(void)
{
	struct sim_hello h = good_hello((enum sim_purpose)chance(8));
	int fd = dial();

	if (chance(2))
		h.protocol = chance(SIM_PROTOCOL);
	h.ca = chance(4) ? chance(3) : UINT32_MAX;
	h.port = chance(4) ? chance(3) : UINT32_MAX;
	if (chance(2))
		fill(h.nodes, sizeof(h.nodes));
	if (chance(2))
		fill(h.program, sizeof(h.program));
	for (unsigned i = chance(3); i < 3; i++)
		say(fd, &h, sizeof(h));
	close(fd);
}

static void odd_questions(void)
{
	struct sim_answer a;
	struct sim_ask q;
	int fd = greet(SIM_CONTROL, &a);

	for (int i = 0; i < 20; i++) {
		fill(&q, sizeof(q));
		q.question = chance(8);
		if (chance(2))
			q.ca = q.port = chance(2);
		q.file = chance(50);
		say(fd, &q, chance(10) ? sizeof(q) : sizeof(q) - 1);
	}
	close(fd);
}

static int open_agent(uint32_t *agent)
{
	struct sim_answer a, answer;
	int fd = greet(SIM_UMAD, &a), control = greet(SIM_CONTROL, &answer);
	struct sim_ask q = {
		.question = SIM_ASK_REGISTER, .file = a.file, .mgmt_class = 0x81, .class_version = 1,
		.rmpp_version = 0,
	};

	if (chance(3) == 0) {
		q.mgmt_class = 3;
		q.class_version = 2;
		q.rmpp_version = 1;
	}
	say(control, &q, sizeof(q));
	*agent = recv(control, &answer, sizeof(answer), 0) > 0 && !answer.error ? answer.agent : 0;
	close(control);
	return fd;
}

static void odd_mads(void)
{
	uint8_t m[UMAD_HEADER + 3000];
	uint32_t agent;
	int fd = open_agent(&agent);

	for (int i = 0; i < 200; i++) {
		fill(m, sizeof(m));
		memset(m + 4, 0, 12);
		m[8] = (uint8_t)chance(100);		/* timeout */
		memcpy(m, &agent, chance(10) ? sizeof(agent) : 0);
		m[UMAD_HEADER] = 1;
		m[UMAD_HEADER + 1] = chance(2) ? 0x81 : (uint8_t)chance(256);
		m[UMAD_HEADER + 2] = (uint8_t)(1 + chance(2));
		m[UMAD_HEADER + 3] = (uint8_t)chance(10);
		m[UMAD_HEADER + 17] = (uint8_t)chance(64);
		m[UMAD_HEADER + 16] = 0;
		m[UMAD_HEADER + 7] = (uint8_t)chance(4);
		say(fd, m, chance(10) ? UMAD_HEADER + 256 : 1 + chance(sizeof(m) - 1));
	}
	close(fd);
}

/* Sends many requests and reads nothing. */
static void flood(void)
{
	struct { uint8_t header[UMAD_HEADER], mad[256]; } m = { .mad = { 1, 0x81, 1, 1 } };
	uint32_t agent;
	int fd = open_agent(&agent);

	memcpy(m.header, &agent, sizeof(agent));
	m.mad[17] = 0x11;		/* NodeInfo */
	memset(m.mad + 32, 0xff, 4);
	for (uint32_t i = 0; i < FLOOD; i++) {
		memcpy(m.mad + 12, &i, sizeof(i));
		say(fd, &m, sizeof(m));
	}
	close(fd);
}

static void odd_files(void)
{
	int memory = memfd_create("garbage", MFD_ALLOW_SEALING), ends[2];
	uint32_t agent;
	int fd = open_agent(&agent);

	if (pipe(ends) < 0 || ftruncate(memory, 100000) < 0)
		exit(1);
	if (chance(2))
		fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW);
	switch (chance(5)) {
	case 0: pass_file(fd, ends[0], 50000, sizeof(struct sim_large)); break;
	case 1: pass_file(fd, memory, 1ull << chance(64), sizeof(struct sim_large)); break;
	case 2: pass_file(fd, memory, 50000, sizeof(struct sim_large)); break;
	case 3: pass_file(fd, memory, 100001, sizeof(struct sim_large)); break;
	case 4: pass_file(fd, memory, 50000, 1 + chance(sizeof(struct sim_large))); break;
	}
	close(memory);
	close(ends[0]);
	close(ends[1]);
	close(fd);
}

/* Asks for an HCA with no socket, with one whose other end is gone or silent, or with another file. */
static void odd_machine(void)
{
	struct sim_hello h = good_hello(SIM_HCA);
	int fd = dial(), ends[2], memory = memfd_create("garbage", 0);

	if (socketpair(AF_UNIX, chance(2) ? SOCK_STREAM : SOCK_DGRAM, 0, ends) < 0)
		exit(1);
	if (chance(2))
		strcpy(h.nodes, "no such node");
	switch (chance(4)) {
	case 0: say(fd, &h, sizeof(h)); break;
	case 1: say_with_file(fd, &h, sizeof(h), memory); break;
	case 2: close(ends[1]); say_with_file(fd, &h, sizeof(h), ends[0]); break;
	case 3: say_with_file(fd, &h, sizeof(h), ends[0]); break;
	}
	fill(&h, sizeof(h));
	say(ends[1], &h, sizeof(h));
	close(memory);
	close(ends[0]);
	close(ends[1]);
	close(fd);
}

static void odd_commands(void)
{
	static const char *const words[] = {
		"status", "link", "down", "show", "", "-j", "--at", "S-1", "lft", "fault", "\xff\xfe",
	};
	char text[4096];
	struct sim_answer a;
	size_t n = 0;
	int fd = greet(SIM_CTL, &a);

	for (unsigned i = chance(100); i > 0; i--) {
		strcpy(text + n, words[chance(sizeof(words) / sizeof(words[0]))]);
		n += strlen(text + n) + 1;
	}
	if (!chance(5))
		text[n++] = 'x';	/* not terminated */
	say(fd, text, n);
	if (chance(2))
		(void)!recv(fd, text, sizeof(text), 0);
	close(fd);
}

static void too_long(void)
{
	static char junk[100000];
	struct sim_answer a;
	int fd = greet((enum sim_purpose)(1 + chance(4)), &a);

	say(fd, junk, SIM_INLINE_MAX + chance(60000));
	say(fd, junk, 0);
	close(fd);
}

int main(int argc, char **argv)
{
	static void (*const ways[])(void) = {
		no_hello, odd_hello, odd_questions, odd_mads, flood, odd_files, odd_commands, too_long,
		odd_machine,
	};
	int rounds = argc > 1 ? atoi(argv[1]) : 100;

	for (int i = 0; i < rounds; i++)
		ways[(unsigned)i % (sizeof(ways) / sizeof(ways[0]))]();
	return 0;
}
