/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Width and speed of a cable, as files and users write them: "4xQDR", "2xHDR", "4xFDR10". */
#ifndef QOSD_FABRIC_DUMP_CABLE_SPEED_H
#define QOSD_FABRIC_DUMP_CABLE_SPEED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cable_rate {
	RATE_ANY, RATE_SDR, RATE_DDR, RATE_QDR, RATE_FDR10, RATE_FDR, RATE_EDR, RATE_HDR, RATE_NDR,
	RATE_XDR, CABLE_RATES
};

/* Ordered by bandwidth, so that the slower is the smaller; 0: not said. */
struct cable_speed {
	uint8_t lanes;		/* 0, 1, 2, 4, 8, 12 */
	uint8_t rate;		/* enum cable_rate */
};

#define CABLE_SPEEDS_TEXT \
	"1x, 2x, 4x, 8x or 12x, then SDR, DDR, QDR, FDR10, FDR, EDR, HDR, NDR or XDR, " \
	"as in 4xEDR"

/*
 * False if the word is no speed.  Question marks, as ibnetdiscover prints for a width or a
 * speed that it has no name for, are "not said".
 */
bool cable_speed_parse(const char *word, struct cable_speed *out);
/*
 * From a width ("4x") and the speed of a lane in Gb/s ("2.5", "14", "FDR10"), as subnet lists and
 * .topo files have them; "?", "??" and "UNKNOWN" are not said.
 */
bool cable_speed_of_lanes(const char *width, const char *gbps, struct cable_speed *out);
/* From masks of enabled widths, speeds and extended speeds, as PortInfo has them; 0: not said. */
struct cable_speed cable_speed_of_masks(unsigned widths, unsigned speeds, unsigned ext_speeds);
/* LinkWidth's bit for a number of lanes; 0: there is none. */
uint8_t cable_width_bit(unsigned lanes);
/* What is said in one only is taken from that one. */
struct cable_speed cable_speed_slower(struct cable_speed a, struct cable_speed b);
/* Both say something, and it is not the same. */
bool cable_speed_contradict(struct cable_speed a, struct cable_speed b);
#define CABLE_SPEED_MAX 16
/* Returns out; "??" and "???" stand for what is not said. */
const char *cable_speed_name(struct cable_speed s, char out[CABLE_SPEED_MAX]);

#endif
