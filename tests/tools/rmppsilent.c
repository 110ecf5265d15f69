/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Simulates a bad client of the subnet administrator: asks for a table, sends RMPP's ACKs itself,
 * and stops sending them at some point.
 *
 *	rmppsilent [-a ACKS] [-t SECONDS] ATTRIBUTE
 *	rmppsilent -w MILLISECONDS [-t SECONDS] ATTRIBUTE
 *
 * ATTRIBUTE: a number, as 0x11 for NodeRecord.  Prints "silent" when it falls
 * silent, and in the end how many segments it got and why it ended: "aborted
 * STATUS" by the sender, or "time" after SECONDS.  Exit status 0: as meant,
 * 1: no answer, or all of the table came.
 *
 * With -w it is only slow: it acknowledges as Linux does (the first segment, the end of each window
 * of 64, the last one, and what comes again), but each window only after that time.  Prints how many
 * segments came, and how many came again.  Exit status 0: all of the table came.
 */
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "port.h"

#define WINDOW 64u
enum { DATA = 1, ACK = 2, STOP = 3, ABORT = 4 };
enum { ACTIVE = 1, LAST = 4 };

struct asker {
	struct own_port port;
	uint16_t attr;
	unsigned acks, segments;
	unsigned again;		/* by segment: whether it has arrived */
	uint32_t have, acked;	/* all segments up to here have arrived; were acknowledged */
	int slow_ms;		/* < 0: silent, not slow */
};

/* Acknowledges all segments up to this one, and allows another window. */
static void acknowledge(struct asker *m, uint32_t segment)
{
	struct sa_mad ack;

	sa_fill(&ack, UMAD_SA_METHOD_GET_TABLE, m->attr, 1);
	ack.sa.rmpp_hdr = (struct umad_rmpp_hdr){
		.rmpp_version = 1, .rmpp_type = ACK, .rmpp_rtime_flags = ACTIVE,
		.seg_num = htobe32(segment),
		.paylen_newwin = htobe32(segment + WINDOW),
	};
	sa_send(&m->port, &ack, 0, 0);
}

/* False: that was the last one, or a plain answer. */
static bool take_data(struct asker *m, const struct umad_rmpp_hdr *h)
{
	uint32_t segment = be32toh(h->seg_num);

	m->segments++;
	if (!(h->rmpp_rtime_flags & ACTIVE) || h->rmpp_rtime_flags & LAST)
		return false;
	if (segment % WINDOW == 1 && m->acks) {	/* 1, 65, 129 …: the end of a window */
		acknowledge(m, segment);
		m->acks--;
	} else if (segment % WINDOW == 1) {
		printf("silent\n");
		fflush(stdout);
	}
	return true;
}

/* The same for a slow receiver; losses do not matter here. */
static bool take_slowly(struct asker *m, const struct umad_rmpp_hdr *h)
{
	uint32_t segment = be32toh(h->seg_num);
	bool last = h->rmpp_rtime_flags & LAST;

	m->segments++;
	if (segment == m->have + 1)
		m->have = segment;
	else
		m->again++;
	if (segment <= m->acked || segment == 1) {
		acknowledge(m, m->acked = m->have);
	} else if (segment == m->have && (last || segment % WINDOW == 1)) {
		usleep((useconds_t)m->slow_ms * 1000);
		acknowledge(m, m->acked = segment);
	}
	return !last;
}

static void listen_until(struct asker *m, int64_t end_us)
{
	for (;;) {
		struct sa_mad msg;
		int left_ms = (int)((end_us - clock_mono_us()) / 1000);

		if (left_ms <= 0 || sa_receive(&m->port, &msg, left_ms) < 0)
			break;
		if (umad_status(&msg)) {
			fprintf(stderr, "rmppsilent: no answer\n");
			exit(1);
		}
		if (msg.sa.rmpp_hdr.rmpp_type == ABORT) {
			printf("%u segments, aborted %u\n", m->segments, msg.sa.rmpp_hdr.rmpp_status);
			return;
		}
		if (msg.sa.rmpp_hdr.rmpp_type == DATA && m->slow_ms >= 0) {
			if (take_slowly(m, &msg.sa.rmpp_hdr))
				continue;
			printf("%u segments, %u again, complete\n", m->segments, m->again);
			return;
		}
		if (msg.sa.rmpp_hdr.rmpp_type == DATA && !take_data(m, &msg.sa.rmpp_hdr)) {
			printf("%u segments, complete\n", m->segments);
			exit(1);
		}
	}
	printf("%u segments, time\n", m->segments);
	if (!m->segments || m->slow_ms >= 0)
		exit(1);
}

int main(int argc, char **argv)
{
	struct asker m = { .slow_ms = -1 };
	struct sa_mad request;
	double seconds = 10;
	int c;

	while ((c = getopt(argc, argv, "a:t:w:")) != -1)
		switch (c) {
		case 'a': m.acks = (unsigned)atoi(optarg); break;
		case 'w': m.slow_ms = atoi(optarg); break;
		case 't': seconds = atof(optarg); break;
		default: return 2;
		}
	if (optind + 1 != argc)
		return 2;
	m.attr = (uint16_t)strtoul(argv[optind], NULL, 0);
	own_port_open_sa(&m.port, 0);	/* the kernel does not send the ACKs */
	sa_fill(&request, UMAD_SA_METHOD_GET_TABLE, m.attr, 1);
	sa_send(&m.port, &request, (int)(seconds * 1000), 0);
	listen_until(&m, clock_mono_us() + (int64_t)(seconds * 1e6));
	own_port_close(&m.port);
	return 0;
}
