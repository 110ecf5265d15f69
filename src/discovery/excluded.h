/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What discovery leaves out, and why: a device is named by its place, the port at the near end of
 * the link that leads to it, since what it says of itself is what is in doubt.
 */
#ifndef QOSD_DISCOVERY_EXCLUDED_H
#define QOSD_DISCOVERY_EXCLUDED_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/buf.h"
#include "lib/base/map64.h"

enum left_why {
	LEFT_NOT,		/* on a scan's list: the GUID was said in two scans, and so does not change */
	/* by its NodeInfo alone, left_judge() */
	LEFT_TYPE,		/* NodeType is none that there is */
	LEFT_PORTS,		/* NumPorts is 0 or 255 */
	LEFT_LOCAL_PORT,	/* LocalPortNum is no port of it */
	LEFT_NO_GUID,		/* NodeGUID is 0 */
	/* by the way of the answer */
	LEFT_FALSE_PORT,	/* a switch whose LocalPortNum is not the port that it answers by */
	/* by what others say */
	LEFT_TWO_KINDS,		/* another device has the GUID; its type, NumPorts or port GUID differs */
	LEFT_TWO_PLACES,	/* the port that it says it is has another link already */
	LEFT_PORT_GUID,		/* another switch has its port GUID, and its node GUID does not fit that */
	LEFT_OUR_PORT,		/* it says that it is our own port */
	LEFT_ANSWER,		/* the answer is to something else than was asked; only that is left out */
	/* below here it stays left out until it answers otherwise: leave_stays() */
	LEFT_GUID_CHANGES,	/* each time it has another GUID */
	LEFT_IMPOSTOR,		/* it has the GUID of a device elsewhere, whose links all confirm it */
	LEFT_CLAIMS,		/* ... whose port GUID is nearer to that GUID than its own is */
	LEFT_NO_ADAPTER,	/* ... an adapter elsewhere, and answers by a port that this one lacks */
	LEFT_TWIN,		/* ... as good as it: it is known by known_as, and not left out at all */
	LEFT_SWITCH,		/* a switch that claims another NodeType: it is treated as a switch, not left out */
	LEFT_TOO_MANY,		/* more is behind it than a subnet can have */
	LEFT_KILLS,		/* the discovering process died of its answer */
	LEFT_HANGS,		/* ... or did not come to an end with it */
	LEFT_WHYS
};

struct disco_left {
	uint64_t near_guid;	/* the node that the link comes from */
	uint64_t guid;		/* that the device claims; 0: none */
	/* TWO_*, PORT_GUID, IMPOSTOR, CLAIMS, NO_ADAPTER, TWIN: where the other one is */
	uint64_t other_guid;
	uint64_t known_as;	/* TWIN: what stands in for the GUID that it claims; 0: it is no twin after all */
	uint32_t mod;		/* what it was asked: attribute and modifier */
	uint16_t attr;
	uint8_t near_port, other_port;
	uint8_t why;		/* enum left_why */
	/* LocalPortNum and NumPorts; FALSE_PORT, NO_ADAPTER: and the port that it answers by */
	uint8_t a, b;
	uint8_t data[64];	/* what it answered */
};

#define LEFT_MAX 4096u		/* that are kept; a subnet with more of them is not to be saved so */

static inline bool left_stays(const struct disco_left *x)
{
	return x->why >= LEFT_GUID_CHANGES;
}

/* The device takes part in the subnet; each scan corrects its NodeInfo. */
static inline bool left_is_corrected(const struct disco_left *x)
{
	return x->why == LEFT_TWIN || x->why == LEFT_SWITCH;
}

/* It is left out for the sake of a device elsewhere, whose node GUID it claims. */
static inline bool left_claims(const struct disco_left *x)
{
	return x->why == LEFT_IMPOSTOR || x->why == LEFT_CLAIMS || x->why == LEFT_NO_ADAPTER;
}

/* Digest of a place. */
static inline uint64_t left_place_key(uint64_t near_guid, unsigned near_port)
{
	return hash64(near_guid ^ (uint64_t)(near_port + 1) << 48);
}

/*
 * The GUID that stands in for `guid`, for the device at that place.  It is of those that are administered
 * locally, and 255 behind it are free for ports.
 */
static inline uint64_t left_stand_in(uint64_t guid, uint64_t near_guid, unsigned near_port)
{
	uint64_t hash = hash64(guid ^ left_place_key(near_guid, near_port));

	return (hash & ~(UINT64_C(3) << 56) & ~UINT64_C(0xff)) | UINT64_C(2) << 56;
}

/* NodeInfo (14.2.5.3): places in its data. */
enum {
	NI_TYPE = 2, NI_PORTS = 3, NI_GUID = 12, NI_PORT_GUID = 20, NI_LOCAL_PORT = 36,
};

/*
 * A vendor takes the GUIDs of a device's ports from those next to its node GUID: of two devices with one
 * GUID it rather is that of the device whose two GUIDs are nearer to each other.
 */
static inline uint64_t left_distance(uint64_t node_guid, uint64_t port_guid)
{
	return node_guid > port_guid ? node_guid - port_guid : port_guid - node_guid;
}

#define LEFT_NEAR (1u << 16)	/* of a smaller distance: node GUID and port GUID are of one block */

/* What is wrong with a NodeInfo of a device that is reached by a link, whatever others say. */
enum left_why left_judge(const uint8_t *node_info);
/* Fills guid, a, b and data of x from the NodeInfo. */
void left_describe(struct disco_left *x, const uint8_t *node_info);
/* A NodeInfo of the device says that it is the one that it was put down for. */
bool left_says_the_same(const struct disco_left *x, const uint8_t *node_info);
/* ... and says by what GUIDs the device is known from here on. */
void left_rename(uint64_t known_as, uint8_t *node_info);
/*
 * Sets NodeType to switch in a NodeInfo that came from the LEFT_SWITCH device x, by any of its links, and the
 * port GUID to the one that it said first: a switch has one, an adapter one for each port.
 * False: the NodeInfo is another device's, or says switch already.
 */
bool left_put_type(const struct disco_left *x, uint8_t *node_info);
/* "says LocalPortNum 254 with 1 ports", as after "the device at ...". */
void left_text(const struct disco_left *x, struct buf *out);

#endif
