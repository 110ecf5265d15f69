/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What was sent: MADs by class, method and attribute, for all and for each
 * client; Sets that changed nothing; when the first and the last was.
 *
 * What a client can make up has an end: kinds of MADs beyond STAT_ROWS_MAX are
 * counted together in a last row of zeros, and of more than STAT_CLIENTS_MAX
 * clients those that have been silent for longest are forgotten.
 */
#ifndef QOSD_SIM_NET_STATS_H
#define QOSD_SIM_NET_STATS_H

#include <stdint.h>

#include "lib/base/alloc.h"

#define STAT_ROWS_MAX		1024
#define STAT_CLIENTS_MAX	1024

struct stat_row {
	uint8_t mgmt_class, method;	/* class 0x81 is counted as 0x01 */
	uint16_t attr;
	uint64_t n;
	uint64_t idle;			/* Sets that changed nothing */
	int64_t first_us, last_us;
};

struct stat_table {
	uint32_t client;		/* sim/host's number; 0: devices */
	char name[64];			/* "qosd[123] at NODE" */
	VEC(struct stat_row) rows;	/* in the order of their first MAD */
	uint64_t n;
	int64_t last_us;
	size_t recent;			/* row that was counted last: often the next one, too */
};

struct sim_stats {
	struct stat_table all;
	VEC(struct stat_table *) clients;
	size_t recent;			/* … of clients */
};

struct sim_stats *stats_new(void);
void stats_free(struct sim_stats *st);
/* All counts to zero; clients stay known. */
void stats_reset(struct sim_stats *st);
/*
 * A MAD of 256 bytes was sent (requests and answers alike, each segment of RMPP, but
 * not what acknowledges or ends a transfer); wire_send() does this.
 */
void stats_sent(struct sim_stats *st, uint32_t client, const uint8_t *mad, int64_t now_us);
/* A Set that a client sent, and that is counted already, left everything as it was. */
void stats_idle_set(struct sim_stats *st, uint32_t client, const uint8_t *mad);
/* Gives a client its name. */
void stats_client(struct sim_stats *st, uint32_t client, const char *name);

#endif
