/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Width and speed of a link as files and users write them: "4xQDR", "2xHDR", "4xFDR10". */
#ifndef QOSD_FABRIC_DUMP_CABLE_SPEED_H
#define QOSD_FABRIC_DUMP_CABLE_SPEED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cable_rate {
	RATE_ANY, RATE_SDR, RATE_DDR, RATE_QDR, RATE_FDR10, RATE_FDR, RATE_EDR, RATE_HDR, RATE_NDR,
	RATE_XDR, CABLE_RATES
};

/* Ordered by bandwidth: the slower rate is the smaller value.  0: unknown. */
struct cable_speed {
	uint8_t lanes;		/* 0, 1, 2, 4, 8, 12 */
	uint8_t rate;		/* enum cable_rate */
};

#define CABLE_SPEEDS_TEXT \
	"1x, 2x, 4x, 8x or 12x, then SDR, DDR, QDR, FDR10, FDR, EDR, HDR, NDR or XDR, " \
	"as in 4xEDR"

/*
 * Returns false if the word is not a speed.  Question marks, which ibnetdiscover prints for a width
 * or speed it has no name for, parse as unknown.
 */
bool cable_speed_parse(const char *word, struct cable_speed *out);
/*
 * Parses a width ("4x") and the speed of one lane in Gb/s ("2.5", "14", "FDR10"), as subnet lists
 * and .topo files give them; "?", "??" and "UNKNOWN" parse as unknown.
 */
bool cable_speed_of_lanes(const char *width, const char *gbps, struct cable_speed *out);
/*
 * Speed from PortInfo's LinkWidthEnabled, LinkSpeedEnabled and LinkSpeedExtEnabled masks; 0:
 * unknown.
 */
struct cable_speed cable_speed_of_masks(unsigned widths, unsigned speeds, unsigned ext_speeds);
/* LinkWidth's bit for a number of lanes, or 0 if there is none. */
uint8_t cable_width_bit(unsigned lanes);
/* A width or rate that only one of the two knows is taken from that one. */
struct cable_speed cable_speed_slower(struct cable_speed a, struct cable_speed b);
/* True if a and b are both known and differ. */
bool cable_speed_contradict(struct cable_speed a, struct cable_speed b);
#define CABLE_SPEED_MAX 16
/* Returns out; "??" and "???" stand for an unknown width and speed. */
const char *cable_speed_name(struct cable_speed s, char out[CABLE_SPEED_MAX]);

#endif
