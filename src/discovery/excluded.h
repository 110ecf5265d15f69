/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What discovery excludes, and why: a device is named by its place, the port at the near end of
 * the link that leads to it, since what it says of itself is what is in doubt.
 */
#ifndef QOSD_DISCOVERY_EXCLUDED_H
#define QOSD_DISCOVERY_EXCLUDED_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/buf.h"
#include "lib/base/map64.h"

enum excluded_why {
	EXCLUDED_NOT,		/* on a scan's list: the GUID was said in two scans, and so does not change */
	/* by its NodeInfo alone, excluded_judge() */
	EXCLUDED_TYPE,		/* NodeType is none that there is */
	EXCLUDED_PORTS,		/* NumPorts is 0 or 255 */
	EXCLUDED_LOCAL_PORT,	/* LocalPortNum is no port of it */
	EXCLUDED_NO_GUID,		/* NodeGUID is 0 */
	/* by the way of the answer */
	EXCLUDED_FALSE_PORT,	/* a switch whose LocalPortNum is not the port that it answers by */
	/* by what others say */
	EXCLUDED_TWO_KINDS,		/* another device has the GUID; its type, NumPorts or port GUID differs */
	EXCLUDED_TWO_PLACES,	/* the port that it says it is has another link already */
	EXCLUDED_PORT_GUID,		/* another switch has its port GUID, and its node GUID does not fit that */
	EXCLUDED_OUR_PORT,		/* it says that it is our own port */
	EXCLUDED_ANSWER,		/* the answer is to something else than was asked; only that is excluded */
	/* below here it stays excluded until it answers otherwise: excluded_stays() */
	EXCLUDED_GUID_CHANGES,	/* each time it has another GUID */
	EXCLUDED_IMPOSTOR,		/* it has the GUID of a device elsewhere, whose links all confirm it */
	EXCLUDED_CLAIMS,		/* ... whose port GUID is nearer to that GUID than its own is */
	EXCLUDED_NO_ADAPTER,	/* ... an adapter elsewhere, and answers by a port that this one lacks */
	EXCLUDED_TWIN,		/* ... as good as it: it is known by known_as, and not excluded at all */
	EXCLUDED_SWITCH,		/* a switch that claims another NodeType: it is treated as one */
	EXCLUDED_TOO_MANY,		/* more is behind it than a subnet can have */
	EXCLUDED_KILLS,		/* the discovery process died of its answer */
	EXCLUDED_HANGS,		/* ... or did not come to an end with it */
	EXCLUDED_WHYS
};

struct disco_excluded {
	uint64_t near_guid;	/* the node that the link comes from */
	uint64_t guid;		/* that the device claims; 0: none */
	/* TWO_*, PORT_GUID, IMPOSTOR, CLAIMS, NO_ADAPTER, TWIN: where the other one is */
	uint64_t other_guid;
	uint64_t known_as;	/* TWIN: what stands in for the GUID that it claims; 0: it is no twin after all */
	uint32_t mod;		/* what it was asked: attribute and modifier */
	uint16_t attr;
	uint8_t near_port, other_port;
	uint8_t why;		/* enum excluded_why */
	/* LocalPortNum and NumPorts; FALSE_PORT, NO_ADAPTER: and the port that it answers by */
	uint8_t a, b;
	uint8_t data[64];	/* what it answered */
};

#define EXCLUDED_MAX 4096u		/* that are kept; a subnet with more of them is not to be saved so */

static inline bool excluded_stays(const struct disco_excluded *x)
{
	return x->why >= EXCLUDED_GUID_CHANGES;
}

/* The device takes part in the subnet; each scan corrects its NodeInfo. */
static inline bool excluded_is_corrected(const struct disco_excluded *x)
{
	return x->why == EXCLUDED_TWIN || x->why == EXCLUDED_SWITCH;
}

/* It is excluded for the sake of a device elsewhere, whose node GUID it claims. */
static inline bool excluded_claims(const struct disco_excluded *x)
{
	return x->why == EXCLUDED_IMPOSTOR || x->why == EXCLUDED_CLAIMS || x->why == EXCLUDED_NO_ADAPTER;
}

/* Digest of a place. */
static inline uint64_t excluded_place_key(uint64_t near_guid, unsigned near_port)
{
	return hash64(near_guid ^ (uint64_t)(near_port + 1) << 48);
}

/*
 * The GUID that stands in for `guid`, for the device at that place.  It is of those that are administered
 * locally, and 255 behind it are free for ports.
 */
static inline uint64_t excluded_stand_in(uint64_t guid, uint64_t near_guid, unsigned near_port)
{
	uint64_t hash = hash64(guid ^ excluded_place_key(near_guid, near_port));

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
static inline uint64_t excluded_distance(uint64_t node_guid, uint64_t port_guid)
{
	return node_guid > port_guid ? node_guid - port_guid : port_guid - node_guid;
}

#define EXCLUDED_NEAR (1u << 16)	/* of a smaller distance: node GUID and port GUID are of one block */

/* What is wrong with a NodeInfo of a device that is reached by a link, whatever others say. */
enum excluded_why excluded_judge(const uint8_t *node_info);
/* Fills guid, a, b and data of x from the NodeInfo. */
void excluded_describe(struct disco_excluded *x, const uint8_t *node_info);
/* A NodeInfo of the device says that it is the one that it was put down for. */
bool excluded_says_the_same(const struct disco_excluded *x, const uint8_t *node_info);
/* ... and says by what GUIDs the device is known from here on. */
void excluded_rename(uint64_t known_as, uint8_t *node_info);
/*
 * Sets NodeType to switch in a NodeInfo that came from the EXCLUDED_SWITCH device x, by any of its links, and
 * the port GUID to the one that it said first: a switch has one, an adapter one for each port.
 * False: the NodeInfo is another device's, or says switch already.
 */
bool excluded_put_type(const struct disco_excluded *x, uint8_t *node_info);
/* "says LocalPortNum 254 with 1 ports", as after "the device at ...". */
void excluded_text(const struct disco_excluded *x, struct buf *out);

#endif
