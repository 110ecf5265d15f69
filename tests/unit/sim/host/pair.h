/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Makes two CAs with two ports, whose ports 1 are cabled to each other, Active, with LIDs
 * 0x10 and 0x20 and LMC 2: a fabric that suffices for tests of hosts.  All packets that
 * arrive go to hosts_receive().
 */
#ifndef PAIR_H
#define PAIR_H

#include <check.h>
#include <infiniband/umad.h>

#include "lib/base/bytes.h"
#include "sim/host/host.h"
#include "sim/net/fault.h"

#define HEAD sizeof(struct ib_user_mad)

extern struct sim *s;
extern uint32_t left, right;		/* the two cabled ports */
/* Called for each packet that arrives, unless NULL; false drops the packet. */
extern bool (*look)(uint32_t port, struct packet *p);

void pair_setup(void);
void pair_teardown(void);
/* Runs the simulation for us microseconds. */
void run_us(int64_t us);
uint64_t drops(enum drop_reason why);

/* A message that a client received. */
struct got {
	uint8_t *umad;
	size_t n;
};

struct client {
	struct host_file *h;
	VEC(struct got) got;
	bool deaf;
};

void client_open(struct client *c, uint32_t port, uint32_t number);
void client_close(struct client *c);
/* Registers an agent for one method, or -1 for none. */
int client_register(struct client *c, uint8_t mgmt_class, int method);
int client_register_rmpp(struct client *c, uint8_t mgmt_class, int method, bool raw);
const struct ib_user_mad *got_head(const struct client *c, size_t i);
const uint8_t *got_mad(const struct client *c, size_t i);
size_t got_length(const struct client *c, size_t i);	/* of the MAD */
void got_forget(struct client *c);

/* A message to write: the umad header, then a MAD of n bytes, zeroed. */
struct message {
	struct ib_user_mad *head;
	uint8_t *mad;
	size_t n;
};

struct message message_new(size_t n, int agent, uint16_t dlid, uint8_t mgmt_class, uint8_t method,
			   uint64_t tid);
int message_write(struct client *c, const struct message *m);
/* Writes a message and frees it. */
int message_send(struct client *c, struct message m);
/* Makes the answer of n bytes to received message i, to its sender, with the request's data after 24 bytes. */
struct message message_answer(const struct client *c, size_t i, size_t n);

/* Runs the tests of a program, each between pair_setup() and pair_teardown(). */
int run_cases(const char *name, const TTest *const *tests, size_t n);

#endif
