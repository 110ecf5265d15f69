/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Measures how many SMPs a simulator answers: sends directed-route NodeInfo Gets to the local node,
 * a window of them at a time, for some seconds.
 *
 *	umadpump [-w WINDOW] [-t SECONDS] [-r] [HOP]...
 *
 * Prints answers per second.  HOPs are the ports of the directed route; -r tells
 * how many ended without an answer, too.
 */
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/umad.h>
#include <infiniband/umad_sm.h>
#include <infiniband/umad_types.h>

#include "lib/base/clock.h"
#include "port.h"

#define TIMEOUT_MS 1000

struct message {
	struct ib_user_mad umad;
	struct umad_smp smp;
};

struct pump {
	struct own_port port;
	int agent;
	unsigned window, hops;
	uint8_t path[64];
	uint64_t sent, answered, lost;
};

static void send_one(struct pump *p)
{
	struct message m = {
		.smp = {
			.base_version = 1, .mgmt_class = UMAD_CLASS_SUBN_DIRECTED_ROUTE,
			.class_version = 1, .method = UMAD_METHOD_GET, .hop_cnt = (uint8_t)p->hops,
			.tid = htobe64(++p->sent & 0xffffffff), .attr_id = htobe16(UMAD_SM_ATTR_NODE_INFO),
			.dr_slid = 0xffff, .dr_dlid = 0xffff,
		},
	};

	memcpy(m.smp.initial_path, p->path, sizeof(m.smp.initial_path));
	umad_set_addr(&m, 0xffff, 0, 0, 0);
	if (umad_send(p->port.fd, p->agent, &m, sizeof(m.smp), TIMEOUT_MS, 0) < 0)
		die("send: %m");
}

static void receive_one(struct pump *p)
{
	struct message m;
	int length = sizeof(m.smp);

	if (umad_recv(p->port.fd, &m, &length, 2 * TIMEOUT_MS) < 0)
		die("receive: %m");
	if (umad_status(&m))
		p->lost++;
	else
		p->answered++;
}

int main(int argc, char **argv)
{
	struct pump p = { .window = 1 };
	double seconds = 2;
	bool tell_lost = false;
	int64_t begin, end;
	int c;

	while ((c = getopt(argc, argv, "w:t:r")) != -1)
		switch (c) {
		case 'w': p.window = (unsigned)atoi(optarg); break;
		case 't': seconds = atof(optarg); break;
		case 'r': tell_lost = true; break;
		default: return 2;
		}
	for (; optind < argc && p.hops < 63; optind++)
		p.path[++p.hops] = (uint8_t)atoi(argv[optind]);
	own_port_open(&p.port);
	p.agent = own_port_register(&p.port, UMAD_CLASS_SUBN_DIRECTED_ROUTE, 0, 0);
	begin = clock_mono_us();
	end = begin + (int64_t)(seconds * 1e6);
	for (unsigned i = 0; i < p.window; i++)
		send_one(&p);
	while (p.answered + p.lost < p.sent) {
		receive_one(&p);
		if (clock_mono_us() < end)
			send_one(&p);
	}
	printf("%.0f\n", (double)p.answered * 1e6 / (double)(clock_mono_us() - begin));
	if (tell_lost)
		printf("%llu lost\n", (unsigned long long)p.lost);
	own_port_close(&p.port);
	return 0;
}
