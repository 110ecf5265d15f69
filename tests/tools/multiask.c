/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Asks for the paths from some ports to others in one MultiPathRecord request of any length, by RMPP of the kernel in
 * both directions:
 *
 *	multiask SOURCES DESTINATIONS GUID...
 *
 * The first SOURCES of the port GUIDs are sources, the last DESTINATIONS of them destinations, at most 255 of each.
 * Prints "segments=N paths=N pairs=N": segments of the request, path records of the answer, and pairs of a source and
 * a destination that these have, 127 at most; or "status=0xNNNN".  Exit status 0: paths, 1: a status, 2: no answer.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/bytes.h"
#include "port.h"

/*
 * Linux repeats segments that are not acknowledged after 2 s, but only if the time-out of the request is longer
 * than that: with a shorter one it waits for months (send_next_seg() in mad_rmpp.c leaves an absolute time where
 * a delay belongs).
 */
#define TIMEOUT_MS 3000
#define RETRIES 20
#define SEGMENT 200		/* bytes of an SA MAD's data */
#define ANSWER_MAX (16u << 20)
enum { RMPP_DATA = 1, RMPP_ACTIVE = 1 };
enum { PATH_SIZE = 64, PATH_GIDS = 8 };	/* of a PathRecord, and where its DGID and SGID begin */

static unsigned count(const char *text)
{
	unsigned long n = strtoul(text, NULL, 0);

	if (n < 1 || n > 255)
		die("%s: not 1 to 255", text);
	return (unsigned)n;
}

static void fill_record(struct sa_multipath_record *r, char **guids, unsigned n_guids, unsigned sources,
			unsigned destinations)
{
	r->num_path = 127;	/* the most, of all pairs together */
	r->sgid_count = (uint8_t)sources;
	r->dgid_count = (uint8_t)destinations;
	for (unsigned i = 0; i < sources; i++)
		sa_put_gid(r->gids[i], strtoull(guids[i], NULL, 16));
	for (unsigned i = 0; i < destinations; i++)
		sa_put_gid(r->gids[sources + i], strtoull(guids[n_guids - destinations + i], NULL, 16));
}

/* The request, a MAD of any length behind an umad header; sets the length of the MAD.  The caller frees it. */
static struct sa_mad *make_request(char **guids, unsigned n_guids, unsigned sources, unsigned destinations, size_t *n)
{
	size_t data = sizeof(struct sa_multipath_record) + 16ul * (sources + destinations);
	struct sa_mad head, *m = calloc(1, sizeof(*m) + data);

	if (!m)
		die("out of memory");
	sa_fill(&head, UMAD_SA_METHOD_GET_MULTI, UMAD_SA_ATTR_MULTI_PATH_REC, 0x73);
	head.sa.rmpp_hdr.rmpp_version = UMAD_RMPP_VERSION;
	head.sa.rmpp_hdr.rmpp_type = RMPP_DATA;
	head.sa.rmpp_hdr.rmpp_rtime_flags = RMPP_ACTIVE;
	head.sa.comp_mask = htobe64(MPR_NUMB_PATH | MPR_SGID_COUNT | MPR_DGID_COUNT);
	memcpy(m, &head, sizeof(head));
	fill_record((struct sa_multipath_record *)(m->bytes + SA_HDR_LEN), guids, n_guids, sources, destinations);
	*n = SA_HDR_LEN + data;
	return m;
}

/* Receives the answer, which the caller frees; sets its length without the umad header. */
static struct sa_mad *receive(const struct own_port *port, size_t *n)
{
	struct sa_mad *m = calloc(1, sizeof(struct ib_user_mad) + ANSWER_MAX);
	int length = ANSWER_MAX;

	if (!m)
		die("out of memory");
	if (umad_recv(port->fd, m, &length, TIMEOUT_MS * (RETRIES + 1)) < 0 || umad_status(m))
		die("no answer");
	*n = (size_t)length;
	return m;
}

static int compare(const void *a, const void *b)
{
	return memcmp((const uint8_t *)a + PATH_GIDS, (const uint8_t *)b + PATH_GIDS, 32);
}

static unsigned count_pairs(uint8_t *paths, size_t n)
{
	unsigned pairs = 0;

	qsort(paths, n, PATH_SIZE, compare);
	for (size_t i = 0; i < n; i++)
		pairs += i == 0 || compare(paths + i * PATH_SIZE, paths + (i - 1) * PATH_SIZE) != 0;
	return pairs;
}

int main(int argc, char **argv)
{
	struct sa_mad *request, *answer;
	struct own_port port;
	size_t n, paths;
	unsigned sources, destinations, guids;

	if (argc < 4)
		die("usage: multiask SOURCES DESTINATIONS GUID...");
	sources = count(argv[1]);
	destinations = count(argv[2]);
	guids = (unsigned)argc - 3;
	if (sources > guids || destinations > guids)
		die("there are %u GUIDs", guids);
	request = make_request(argv + 3, guids, sources, destinations, &n);
	own_port_open_sa(&port, UMAD_RMPP_VERSION);
	umad_set_addr(request, port.sm_lid, 1, port.sm_sl, UMAD_QKEY);
	if (umad_send(port.fd, port.agent, request, (int)n, TIMEOUT_MS, RETRIES) < 0)
		die("can't send: %m");
	printf("segments=%zu ", (n - SA_HDR_LEN + SEGMENT - 1) / SEGMENT);
	answer = receive(&port, &n);
	own_port_close(&port);
	free(request);
	if (answer->sa.mad_hdr.status) {
		printf("status=0x%04x\n", be16toh(answer->sa.mad_hdr.status));
		free(answer);
		return 1;
	}
	paths = n > SA_HDR_LEN ? (n - SA_HDR_LEN) / PATH_SIZE : 0;
	printf("paths=%zu pairs=%u\n", paths, count_pairs(answer->bytes + SA_HDR_LEN, paths));
	free(answer);
	return 0;
}
