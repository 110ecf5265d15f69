/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sastatus: sends the subnet administrator one request after the other and compares the answers
 * with the expected ones.
 *
 *   sastatus <CASES
 *
 * A case is a line: EXPECTED METHOD ATTRIBUTE MODIFIER [OFFSET:HEX ...], the last ones
 * bytes at a place of the MAD.  EXPECTED is the answer's status as 0x0000, "none" for
 * no answer at all, "ack" or "abort:STATUS" for what RMPP says to a segment.
 *
 * Prints each line that is answered differently, and in the end how often there was
 * what: "0x000c 17".  "stopped" is how many tables of several segments were begun, and
 * stopped at the first one.  Exit status 0: all as expected, 1: not, 2: can't be done.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/bytes.h"
#include "lib/base/clock.h"
#include "port.h"

#define ANSWER_US 5000000
#define SILENCE_US 500000	/* after all requests without an answer were sent */
#define LINE_MAX_LEN 1024
#define TALLY_MAX 64

enum { OFF_METHOD = 3, OFF_STATUS = 4, OFF_TID = 12, OFF_ATTR = 16, OFF_MOD = 20 };
enum { OFF_RMPP_VERSION = 24, OFF_RMPP_TYPE, OFF_RMPP_FLAGS, OFF_RMPP_STATUS,
       OFF_SEGMENT = 28, OFF_WINDOW = 32 };
enum { DATA = 1, ACK = 2, STOP = 3, ABORT = 4, ACTIVE = 1, LAST = 4 };

static struct own_port port;

static struct {
	char what[16];
	unsigned n;
} tally[TALLY_MAX];
static bool differs;

static void count(const char *what)
{
	unsigned i = 0;

	while (i < TALLY_MAX && tally[i].n && strcmp(tally[i].what, what) != 0)
		i++;
	if (i == TALLY_MAX)
		die("too many kinds of answers");
	snprintf(tally[i].what, sizeof(tally[i].what), "%s", what);
	tally[i].n++;
}

/* --- asking --- */

/* A kernel delivers answers only to requests with a time-out. */
static void send_mad(const uint8_t *mad, int timeout_ms)
{
	struct sa_mad m = { .bytes = { 0 } };

	memcpy(m.bytes, mad, MAD_LEN);
	sa_send(&port, &m, timeout_ms, 0);
}

/* To an answer by RMPP: that was it, or no more of it. */
static void end_transfer(const uint8_t *mad)
{
	bool last = mad[OFF_RMPP_FLAGS] & LAST;
	uint8_t back[MAD_LEN] = { 0 };

	memcpy(back, mad, 56);
	back[OFF_METHOD] &= 0x7f;
	back[OFF_RMPP_TYPE] = last ? ACK : STOP;
	back[OFF_RMPP_FLAGS] = ACTIVE;
	back[OFF_RMPP_STATUS] = !last;
	put_be32(back + OFF_WINDOW, last ? get_be32(mad + OFF_SEGMENT) + 1 : 0);
	send_mad(back, 0);
	if (!last)
		count("stopped");
}

/* The response to a transaction, in the notation of cases; false: none. */
static bool receive(uint32_t tid, int64_t end_us, char what[16])
{
	for (;;) {
		struct sa_mad m;
		int64_t left_us = end_us - clock_mono_us();
		int r = left_us <= 0 ? -ETIMEDOUT : sa_receive(&port, &m, (int)(left_us / 1000 + 1));

		if (r == -ETIMEDOUT)
			return false;
		if (r < 0)
			die("can't receive: %s", strerror(-r));
		if (umad_status(&m) || (tid && get_be32(m.bytes + OFF_TID) != tid))
			continue;	/* repeated, before it was stopped */
		bool rmpp = m.bytes[OFF_RMPP_FLAGS] & ACTIVE;

		if (rmpp && m.bytes[OFF_RMPP_TYPE] == DATA)
			end_transfer(m.bytes);
		if (rmpp && m.bytes[OFF_RMPP_TYPE] == ACK)
			snprintf(what, 16, "ack");
		else if (rmpp && m.bytes[OFF_RMPP_TYPE] != DATA)
			snprintf(what, 16, "abort:%u", m.bytes[OFF_RMPP_STATUS]);
		else
			snprintf(what, 16, "0x%04x", get_be16(m.bytes + OFF_STATUS));
		return true;
	}
}

/* --- a case --- */

static uint32_t number(const char *text)
{
	char *end;
	unsigned long v = text ? strtoul(text, &end, 0) : 0;

	if (!text || end == text || *end || v > UINT32_MAX)
		die("'%s' is no number", text ? text : "");
	return (uint32_t)v;
}

static void patch(uint8_t *mad, const char *text)
{
	char *end;
	unsigned long at = strtoul(text, &end, 0);
	unsigned byte;

	if (end == text || *end++ != ':')
		die("'%s' is not OFFSET:HEX", text);
	for (; *end; end += 2, at++) {
		if (at >= MAD_LEN || sscanf(end, "%2x", &byte) != 1 || !end[1])
			die("bad bytes '%s'", text);
		mad[at] = (uint8_t)byte;
	}
}

static void make(uint8_t *mad, char *text, uint32_t tid)
{
	char *save, *word;

	memset(mad, 0, MAD_LEN);
	mad[0] = 1;
	mad[1] = 3;
	mad[2] = 2;
	mad[OFF_METHOD] = (uint8_t)number(strtok_r(text, " \n", &save));
	put_be32(mad + OFF_TID, tid);
	put_be16(mad + OFF_ATTR, (uint16_t)number(strtok_r(NULL, " \n", &save)));
	put_be32(mad + OFF_MOD, number(strtok_r(NULL, " \n", &save)));
	while ((word = strtok_r(NULL, " \n", &save)))
		patch(mad, word);
}

/* Requests without an answer wait together, at the end. */
static void run(const char *line, uint32_t tid)
{
	uint8_t mad[MAD_LEN];
	char want[16], got[16], text[LINE_MAX_LEN];
	int used;

	if (sscanf(line, "%15s%n", want, &used) != 1)
		die("an empty line");
	snprintf(text, sizeof(text), "%s", line + used);
	make(mad, text, tid);
	send_mad(mad, mad[OFF_METHOD] & 0x80 ? 0 : ANSWER_US / 1000);
	if (!strcmp(want, "none")) {
		count(want);
		return;
	}
	if (!receive(tid, clock_mono_us() + ANSWER_US, got))
		strcpy(got, "none");
	count(got);
	if (strcmp(got, want) != 0) {
		printf("%s, not %s", got, line);
		differs = true;
	}
}

int main(void)
{
	char line[LINE_MAX_LEN], got[16];
	uint32_t tid = 0;

	own_port_open_sa(&port, 0);	/* the kernel does not send the ACKs */
	while (fgets(line, sizeof(line), stdin))
		run(line, ++tid);
	for (int64_t end = clock_mono_us() + SILENCE_US; receive(0, end, got);)
		if (strncmp(got, "0x", 2) != 0 || strcmp(got, "0x0000") != 0) {
			printf("%s, not none\n", got);
			differs = true;
		}
	for (unsigned i = 0; i < TALLY_MAX && tally[i].n; i++)
		printf("%s %u\n", tally[i].what, tally[i].n);
	own_port_close(&port);
	return differs;
}
