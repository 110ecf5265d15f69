/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Converts IBA codes of MTU, rate and time to what people write, and back.
 *
 * A code of 0 means "none" or "unknown" everywhere.
 */
#ifndef QOSD_LIB_IBA_UNITS_H
#define QOSD_LIB_IBA_UNITS_H

#include <stdbool.h>
#include <stdint.h>

/* --- MTU: codes 1..5 = 256, 512, 1024, 2048, 4096 bytes (14.2.5.6) --- */
unsigned mtu_bytes(unsigned code);		/* 0 for an unknown code */
unsigned mtu_code(unsigned bytes);		/* exact; 0 if no code has that size */

/* --- rate: PathRecord.Rate codes 2..25 (15.2.5.16) --- */
/* In units of 0.1 Gb/s (25 = 2.5 Gb/s, 140 = 14 Gb/s); 0 for an unknown code. */
unsigned rate_tenths(unsigned code);
unsigned rate_code(unsigned tenths);		/* exact; 0 if there is no such code */
/* The code with the greatest rate that is at most `tenths`; 0 if none. */
unsigned rate_code_at_most(unsigned tenths);
/* <0, 0, >0 as rate a is slower, equal, faster than b: codes are not in order. */
int rate_compare(unsigned a, unsigned b);
/* The next slower / faster rate; 0 if there is none. */
unsigned rate_slower(unsigned code);
unsigned rate_faster(unsigned code);
/*
 * The data rate of a link in Gb/s: the rate left after encoding, packet headers included. 8b/10b up
 * to QDR leaves 0.8 of the rate.  FDR signals at 14.0625 Gbaud a lane, of which 64b/66b leaves
 * 64/66.  From EDR on, the nominal rate is the rate after encoding (25.78125 * 64/66 = 25). 0 for
 * an unknown code.  FDR10, which shares the codes of QDR, loses nothing of its nominal rate.
 */
double data_rate_gbps(unsigned rate_code);
double link_data_gbps(unsigned rate_code, bool fdr10);
/*
 * The rate code of a link from PortInfo: LinkWidthActive (1 = 1x, 2 = 4x, 4 = 8x, 8 = 12x, 16 =
 * 2x), LinkSpeedActive (1 SDR, 2 DDR, 4 QDR), LinkSpeedExtActive (1 FDR, 2 EDR, 4 HDR, 8 NDR, and
 * 32 XDR as ib_ext_active() returns them; used when not 0), and whether the link runs FDR10.  If no
 * code is exact, the fastest code below the link's rate; 0 if a value is none of these.
 */
unsigned rate_from_link(unsigned width, unsigned speed, unsigned speed_ext, bool fdr10);
/*
 * A rate code that a link which is up certainly reaches, even for unknown values; never 0.  A bit
 * above all known speeds stands for a newer speed, hence one at least as fast as the fastest known.
 * Of several bits, the least counts, as it does for the width.
 */
unsigned rate_at_least(unsigned width, unsigned speed, unsigned speed_ext, bool fdr10);
/* Parses "4xQDR" (case-insensitive) to a rate code; 0 if the word has another form. */
unsigned rate_parse_link(const char *word);
/*
 * Parses the same word to PortInfo's fields as above; false, and nothing stored, if the word has
 * another form.
 */
struct link_speed {
	uint8_t width, speed, speed_ext;
	bool fdr10;
};
bool link_parse(const char *word, struct link_speed *out);
/* Parses "2.5" or "40", in Gb/s, to a code; 0 if the word is not a number or no code has that rate. */
unsigned rate_parse_gbps(const char *word);
/* Writes "40 Gb/s" into buf of n bytes; returns buf. */
char *rate_text(unsigned code, char *buf, unsigned n);
/* Writes "4xQDR" from the fields as above; "?" for an unknown width or speed. */
char *link_text(unsigned width, unsigned speed, unsigned speed_ext, bool fdr10,
		char *buf, unsigned n);

/* --- packet lifetime: 4.096 us * 2^code, codes 0..31 (15.2.5.16) --- */
double lifetime_seconds(unsigned code);
/* The smallest code whose time is at least `seconds`; 32 if there is none. */
unsigned lifetime_code(double seconds);

#endif
