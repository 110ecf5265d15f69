/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Width and speed of a link in words ("4xQDR", "2xHDR", "4xFDR10"), and as the
 * bounds that a cable puts on its two ports.
 */
#ifndef QOSD_SIM_TOPO_SPEED_H
#define QOSD_SIM_TOPO_SPEED_H

#include "sim/net/model.h"

enum link_rate {
	RATE_ANY, RATE_SDR, RATE_DDR, RATE_QDR, RATE_FDR10, RATE_FDR, RATE_EDR, RATE_HDR, RATE_NDR,
	RATE_XDR, RATE_UNKNOWN	/* a word that is none of these */
};

/* Ordered by bandwidth, so that the slower is the smaller; 0: not said. */
struct link_speed {
	uint8_t lanes;		/* 0, 1, 2, 4, 8, 12 */
	uint8_t rate;		/* enum link_rate */
};

#define LINK_SPEEDS_TEXT \
	"1x, 2x, 4x, 8x or 12x, then SDR, DDR, QDR, FDR10, FDR, EDR, HDR, NDR or XDR, " \
	"as in 4xEDR"

/*
 * False if the n bytes are no speed.  Question marks, as ibnetdiscover prints
 * for a link that it cannot read, are "not said".
 */
bool link_speed_parse(const char *text, size_t n, struct link_speed *out);
/*
 * From a width ("4x") and the speed of a lane in Gb/s ("2.5", "14", "FDR10"), as lists and
 * cables have them; "?", "??" and "UNKNOWN" are not said.
 */
bool link_speed_of_lanes(const char *width, size_t n_width, const char *gbps, size_t n_gbps,
			 struct link_speed *out);
/* From masks of enabled widths, speeds and extended speeds, as PortInfo has them; 0: not said. */
struct link_speed link_speed_of_masks(unsigned widths, unsigned speeds, unsigned ext_speeds);
/* What is said in one only is taken from that one. */
struct link_speed link_speed_slower(struct link_speed a, struct link_speed b);
/* Both say something, and it is not the same. */
bool link_speed_contradict(struct link_speed a, struct link_speed b);
const char *link_speed_name(struct link_speed s, char *out, size_t n);

/* Bounds the port and its peer; what is not said stays as it is. */
void link_speed_apply(struct sim_fabric *f, uint32_t port, struct link_speed s);

#endif
