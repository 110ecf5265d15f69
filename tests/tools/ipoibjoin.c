/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Joins an IPoIB broadcast group as Linux does: as soon as the port is Active, and has the
 * P_Key; by one request that is repeated ten times, every 300 ms, while there is no answer;
 * and any status is final (IPoIB would complain and wait for seconds).
 *
 *	ipoibjoin [-p P_KEY] [-t SECONDS] [-f]
 *
 * Waits SECONDS for the port.  Prints "waiting", then one line: "status=S ms=N", the status (or
 * "none") and the time since it could send the request.  Exit status 0: it is a member.
 *
 * With -f it goes on until it is ended, and joins again whenever the kernel would tell IPoIB of an
 * event: the port is Active again, has another LID, another SM, or is asked to have its clients
 * register again; after a failure it waits a second, as IPoIB does.  The line is then
 * "EVENT status=S ms=N", EVENT is one of start, active, lid, sm, reregister, again.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <infiniband/umad_sa_mcm.h>

#include "lib/base/bytes.h"
#include "lib/base/clock.h"
#include "port.h"

#define TIMEOUT_MS	300	/* as the kernel: 3 s in ten tries */
#define RETRIES		10
#define POLL_US		500
#define STATE_ACTIVE	4
#define MCM(name)	UMAD_SA_MCM_COMP_MASK_##name

static bool has_pkey(const umad_port_t *port, uint16_t pkey)
{
	for (unsigned i = 0; i < port->pkeys_size; i++)
		if ((port->pkeys[i] | 0x8000) == (pkey | 0x8000))
			return true;
	return false;
}

/* Events of the kernel. */
struct seen {
	bool can_ask;
	unsigned lid, sm_lid, reregisters;
	uint64_t guid;
};

/* A file of the simulator's sysfs; 0 where there is none. */
static unsigned read_reregisters(void)
{
	static char path[256];
	char text[32] = "";
	umad_port_t port;
	int fd;

	if (!path[0]) {
		if (umad_get_port(NULL, 0, &port) < 0)
			die("port");
		snprintf(path, sizeof(path), "/sys/class/infiniband/%s/ports/%d/client_reregisters",
			 port.ca_name, port.portnum);
		umad_release_port(&port);
	}
	fd = open(path, O_RDONLY);
	if (fd < 0)
		return 0;
	if (read(fd, text, sizeof(text) - 1) < 0)
		text[0] = 0;
	close(fd);
	return (unsigned)strtoul(text, NULL, 10);
}

static struct seen look(uint16_t pkey, bool follow)
{
	struct seen s = { 0 };
	umad_port_t port;

	/* before the LID of the SM: one Set changes both, and the old SM must not be queried */
	s.reregisters = follow ? read_reregisters() : 0;
	if (umad_get_port(NULL, 0, &port) < 0)
		die("port");
	s.can_ask = port.state == STATE_ACTIVE && port.base_lid && port.sm_lid &&
		    has_pkey(&port, pkey);
	s.lid = port.base_lid;
	s.sm_lid = port.sm_lid;
	s.guid = be64toh(port.port_guid);
	umad_release_port(&port);
	return s;
}

/* Returns when the port can send queries. */
static struct seen await_port(uint16_t pkey, int64_t end_us)
{
	while (clock_mono_us() < end_us) {
		struct seen s = look(pkey, false);

		if (s.can_ask)
			return s;
		usleep(POLL_US);
	}
	printf("status=never ms=0\n");
	exit(1);
}

static void ask(struct own_port *port, uint16_t pkey, const struct seen *s)
{
	struct sa_mad m;
	struct umad_sa_mcmember_record *r = (void *)m.sa.data;

	sa_fill(&m, UMAD_METHOD_SET, UMAD_SA_ATTR_MCMEMBER_REC, 1);
	m.sa.comp_mask = htobe64(MCM(MGID) | MCM(PORT_GID) | MCM(PKEY) | MCM(JOIN_STATE));
	put_be32(r->mgid, 0xff12401b);
	put_be16(r->mgid + 4, pkey | 0x8000);
	put_be32(r->mgid + 12, 0xffffffff);
	sa_put_gid(r->portgid, s->guid);
	r->pkey = htobe16(pkey | 0x8000);
	r->scope_state = 1;
	port->sm_lid = (uint16_t)s->sm_lid;
	sa_send(port, &m, TIMEOUT_MS, RETRIES);
}

/* Sends the join and prints the result; true: it is a member. */
static bool join(struct own_port *port, uint16_t pkey, const struct seen *s, const char *why)
{
	int64_t begin_us = clock_mono_us();
	struct sa_mad m;
	uint16_t status;

	ask(port, pkey, s);
	if (sa_receive(port, &m, 10000) < 0)
		die("no answer");
	status = be16toh(m.sa.mad_hdr.status);
	if (*why)
		printf("%s ", why);
	printf(umad_status(&m) ? "status=none" : "status=0x%04x", status);
	printf(" ms=%" PRId64 "\n", (clock_mono_us() - begin_us) / 1000);
	fflush(stdout);
	return !umad_status(&m) && !status;
}

/* The event that the kernel would report now, or NULL. */
static const char *event(const struct seen *was, const struct seen *is)
{
	if (!is->can_ask)
		return NULL;
	return !was->can_ask ? "active" : was->lid != is->lid ? "lid" :
	       was->reregisters != is->reregisters ? "reregister" :
	       was->sm_lid != is->sm_lid ? "sm" : NULL;
}

/* Until it is ended. */
_Noreturn static void follow(struct own_port *port, uint16_t pkey)
{
	struct seen was = { 0 }, is;
	bool started = false;
	int64_t again_us = INT64_MAX;

	for (;; usleep(4 * POLL_US)) {
		const char *why;

		is = look(pkey, true);
		why = event(&was, &is);
		if (!why && is.can_ask && clock_mono_us() >= again_us)
			why = "again";
		if (why)
			again_us = join(port, pkey, &is, started ? why : "start") ? INT64_MAX :
				   clock_mono_us() + 1000000;
		started |= why != NULL;
		was = is;
	}
}

int main(int argc, char **argv)
{
	uint16_t pkey = 0xffff;
	struct own_port port;
	int c;
	double seconds = 20;
	bool follows = false, joined;
	struct seen s;

	while ((c = getopt(argc, argv, "fp:t:")) != -1)
		switch (c) {
		case 'f': follows = true; break;
		case 'p': pkey = (uint16_t)strtoul(optarg, NULL, 0); break;
		case 't': seconds = atof(optarg); break;
		default: return 2;
		}
	own_port_open_sa(&port, 0);
	printf("waiting\n");
	fflush(stdout);
	if (follows)
		follow(&port, pkey);
	s = await_port(pkey, clock_mono_us() + (int64_t)(seconds * 1e6));
	joined = join(&port, pkey, &s, "");
	own_port_close(&port);
	return !joined;
}
