/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A bad client of the subnet administrator: asks for a table, makes the ACKs of
 * RMPP itself, and at some point makes no more.
 *
 *	rmppmute [-a ACKS] [-t SECONDS] ATTRIBUTE
 *	rmppmute -w MILLISECONDS [-t SECONDS] ATTRIBUTE
 *
 * ATTRIBUTE: a number, as 0x11 for NodeRecord.  Prints "silent" when it falls
 * silent, and in the end how many segments it got and why it ended: "aborted
 * STATUS" by the sender, or "time" after SECONDS.  Exit status 0: as meant,
 * 1: no answer, or all of the table came.
 *
 * With -w it is no worse than slow: it acknowledges as Linux does (the first segment,
 * the end of each window of 64, the last one, and what comes again), but each window
 * only after that time.  Prints how many segments came, and how many came again.  Exit status
 * 0: all of the table came.
 */
#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <infiniband/umad.h>
#include <infiniband/umad_sa.h>
#include <infiniband/umad_types.h>

#include "base/clock.h"

#define REQUEST_TIMEOUT_MS 20000
#define WINDOW 64u
enum { DATA = 1, ACK = 2, STOP = 3, ABORT = 4 };
enum { ACTIVE = 1, LAST = 4 };

struct message {
	struct ib_user_mad umad;
	struct umad_sa_packet sa;
};

struct mute {
	int fd, agent;
	uint16_t sm_lid;
	uint16_t attr;
	unsigned acks, segments;
	unsigned again;		/* of the segments: which were there */
	uint32_t have, acked;	/* all up to here are there; were acknowledged */
	int slow_ms;		/* < 0: mute, not slow */
};

static void die(const char *what)
{
	fprintf(stderr, "rmppmute: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void open_port(struct mute *m)
{
	umad_port_t port;

	if (umad_init() < 0 || umad_get_port(NULL, 0, &port) < 0)
		die("port");
	m->sm_lid = (uint16_t)port.sm_lid;
	umad_release_port(&port);
	m->fd = umad_open_port(NULL, 0);
	if (m->fd < 0)
		die("open");
	/* RMPP version 0: nobody does the ACKs for us. */
	m->agent = umad_register(m->fd, UMAD_CLASS_SUBN_ADM, UMAD_SA_CLASS_VERSION, 0, NULL);
	if (m->agent < 0)
		die("register");
}

static void send_to_sa(const struct mute *m, struct message *msg, int timeout_ms)
{
	msg->sa.mad_hdr.base_version = 1;
	msg->sa.mad_hdr.mgmt_class = UMAD_CLASS_SUBN_ADM;
	msg->sa.mad_hdr.class_version = UMAD_SA_CLASS_VERSION;
	msg->sa.mad_hdr.method = UMAD_SA_METHOD_GET_TABLE;
	msg->sa.mad_hdr.tid = htobe64(1);
	msg->sa.mad_hdr.attr_id = htobe16(m->attr);
	umad_set_addr(msg, m->sm_lid, 1, 0, UMAD_QKEY);
	if (umad_send(m->fd, m->agent, msg, sizeof(msg->sa), timeout_ms, 0) < 0)
		die("send");
}

/* All up to the segment is there; a window more may come. */
static void acknowledge(struct mute *m, uint32_t segment)
{
	struct message msg = {
		.sa.rmpp_hdr = {
			.rmpp_version = 1, .rmpp_type = ACK, .rmpp_rtime_flags = ACTIVE,
			.seg_num = htobe32(segment),
			.paylen_newwin = htobe32(segment + WINDOW),
		},
	};

	send_to_sa(m, &msg, 0);
}

/* False: that was the last one, or a plain answer. */
static bool take_data(struct mute *m, const struct umad_rmpp_hdr *h)
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

/* The same of a slow receiver; what is lost is no matter here. */
static bool take_slowly(struct mute *m, const struct umad_rmpp_hdr *h)
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

static void listen_until(struct mute *m, int64_t end_us)
{
	for (;;) {
		struct message msg;
		int length = sizeof(msg.sa), left_ms = (int)((end_us - clock_mono_us()) / 1000);

		if (left_ms <= 0 || umad_recv(m->fd, &msg, &length, left_ms) < 0)
			break;
		if (umad_status(&msg)) {
			errno = umad_status(&msg);
			die("no answer");
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
	struct mute m = { .slow_ms = -1 };
	struct message request = { .sa = { .comp_mask = 0 } };
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
	open_port(&m);
	send_to_sa(&m, &request, REQUEST_TIMEOUT_MS);
	listen_until(&m, clock_mono_us() + (int64_t)(seconds * 1e6));
	umad_close_port(m.fd);
	return 0;
}
