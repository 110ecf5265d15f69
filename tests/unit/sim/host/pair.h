/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Two CAs of two ports, port 1 of each cabled to the other's, Active, LIDs 0x10
 * and 0x20 with LMC 2: enough of a fabric for what a host does.  All that
 * arrives goes to hosts_receive().
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
/* For each packet that arrives; false: lost. NULL: nobody looks. */
extern bool (*look)(uint32_t port, struct packet *p);

void pair_setup(void);
void pair_teardown(void);
/* The simulation goes on for that time. */
void run_us(int64_t us);
uint64_t drops(enum drop_reason why);

/* What a client got. */
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
/* With one method, or -1 for none. */
int client_register(struct client *c, uint8_t mgmt_class, int method);
int client_register_rmpp(struct client *c, uint8_t mgmt_class, int method, bool raw);
const struct ib_user_mad *got_head(const struct client *c, size_t i);
const uint8_t *got_mad(const struct client *c, size_t i);
size_t got_length(const struct client *c, size_t i);	/* of the MAD */
void got_forget(struct client *c);

/* A message to be written: the umad header, then room for a MAD of n bytes, zero. */
struct message {
	struct ib_user_mad *head;
	uint8_t *mad;
	size_t n;
};

struct message message_new(size_t n, int agent, uint16_t dlid, uint8_t mgmt_class, uint8_t method,
			   uint64_t tid);
int message_write(struct client *c, const struct message *m);
/* … and frees it. */
int message_send(struct client *c, struct message m);
/* The answer to what a client got, n bytes, to where it came from, with its data after 24 bytes. */
struct message message_answer(const struct client *c, size_t i, size_t n);

/* The tests of a program, each between pair_setup() and pair_teardown(). */
int run_cases(const char *name, const TTest *const *tests, size_t n);

#endif
