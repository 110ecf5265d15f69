/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Statistics of sent MADs by class, method and attribute, in all and for each client.
 *
 * They include Sets that changed nothing, and the times of the first and last MAD.
 *
 * Clients cannot make the tables grow without limit: kinds of MADs beyond STAT_ROWS_MAX are counted
 * together in a last row of zeros, and of more than STAT_CLIENTS_MAX clients, those that were
 * silent longest are forgotten.
 */
#ifndef QOSD_SIM_NET_STATS_H
#define QOSD_SIM_NET_STATS_H

#include <stdint.h>

#include "lib/base/alloc.h"

#define STAT_ROWS_MAX		1024
#define STAT_CLIENTS_MAX	1024

struct stat_row {
	uint8_t mgmt_class, method;	/* class 0x81 counts as 0x01 */
	uint16_t attr;
	uint64_t n;
	uint64_t idle;			/* Sets that changed nothing */
	int64_t first_us, last_us;
};

struct stat_table {
	uint32_t client;		/* number from sim/host; 0: devices */
	char name[64];			/* "qosd[123] at NODE" */
	VEC(struct stat_row) rows;	/* in the order of their first MAD */
	uint64_t n;
	int64_t last_us;
	size_t recent;			/* row counted last; often it is the next one, too */
};

struct sim_stats {
	struct stat_table all;
	VEC(struct stat_table *) clients;
	size_t recent;			/* index of the client counted last */
};

struct sim_stats *stats_new(void);
void stats_free(struct sim_stats *st);
/* Sets all counts to zero; keeps the clients. */
void stats_reset(struct sim_stats *st);
/*
 * Counts a MAD of 256 bytes, request or answer.  Each RMPP segment counts, but ACK, STOP and ABORT
 * do not. wire_send() calls this.
 */
void stats_sent(struct sim_stats *st, uint32_t client, const uint8_t *mad, int64_t now_us);
/* Counts a client's Set, which was counted as sent already, as one that changed nothing. */
void stats_idle_set(struct sim_stats *st, uint32_t client, const uint8_t *mad);
/* Names a client. */
void stats_client(struct sim_stats *st, uint32_t client, const char *name);

#endif
