/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Describes devices that discovery excludes, and why.  A device is identified by its place, the
 * port at the near end of the link that leads to it, as what it says of itself cannot be trusted.
 */
#ifndef QOSD_DISCOVERY_EXCLUDED_H
#define QOSD_DISCOVERY_EXCLUDED_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/buf.h"
#include "lib/base/map64.h"

enum excluded_why {
	EXCLUDED_NOT,		/* on a scan's list: two scans reported this GUID, so it does not change */
	/* judged by its NodeInfo alone, excluded_judge() */
	EXCLUDED_TYPE,		/* undefined NodeType */
	EXCLUDED_PORTS,		/* NumPorts is 0 or 255 */
	EXCLUDED_LOCAL_PORT,	/* LocalPortNum is 0 or above NumPorts */
	EXCLUDED_NO_GUID,		/* NodeGUID is 0 */
	/* judged by the path of the answer */
	EXCLUDED_FALSE_PORT,	/* a switch whose answer left by another port than LocalPortNum */
	/* judged by other devices' answers */
	/* another device with its GUID differs in type, NumPorts or port GUID */
	EXCLUDED_TWO_KINDS,
	EXCLUDED_TWO_PLACES,	/* the port that it claims to be is already linked elsewhere */
	/* another switch has its port GUID, and its node GUID is not near that */
	EXCLUDED_PORT_GUID,
	EXCLUDED_OUR_PORT,		/* it claims to be our own port */
	/* it answered something it was not asked; only that answer is dropped */
	EXCLUDED_ANSWER,
	/* the following stay excluded until they answer otherwise: excluded_stays() */
	EXCLUDED_GUID_CHANGES,	/* it reports another GUID each time */
	/* it has the GUID of a device elsewhere, all of whose links confirm that */
	EXCLUDED_IMPOSTOR,
	/*
	 * it claims the GUID of a device elsewhere whose port GUID is nearer to that GUID than its
	 * own
	 */
	EXCLUDED_CLAIMS,
	/* it claims an adapter's GUID, and answers by a port that the adapter lacks */
	EXCLUDED_NO_ADAPTER,
	/* its NodeInfo is another device's; not excluded, but known by known_as */
	EXCLUDED_TWIN,
	EXCLUDED_SWITCH,		/* a switch that claims another NodeType; treated as a switch */
	EXCLUDED_TOO_MANY,		/* more nodes or ports behind it than the limit */
	EXCLUDED_KILLS,		/* its answer killed the discovery process */
	EXCLUDED_HANGS,		/* its answer hung the discovery process */
	EXCLUDED_WHYS
};

struct disco_excluded {
	uint64_t near_guid;	/* GUID of the node at the near end of the link */
	uint64_t guid;		/* claimed by the device; 0: none */
	/* TWO_*, PORT_GUID, IMPOSTOR, CLAIMS, NO_ADAPTER, TWIN: place of the other device */
	uint64_t other_guid;
	uint64_t known_as;	/* TWIN: stand-in for the claimed GUID; 0: not a twin after all */
	uint32_t mod;		/* AttributeModifier and AttributeID of the request */
	uint16_t attr;
	uint8_t near_port, other_port;
	uint8_t why;		/* enum excluded_why */
	/*
	 * LocalPortNum and NumPorts; FALSE_PORT, NO_ADAPTER: b is the port that its answer left by
	 */
	uint8_t a, b;
	uint8_t data[64];	/* attribute data of the answer */
};

#define EXCLUDED_MAX 4096u		/* kept entries; a subnet with more is beyond help by exclusion */

static inline bool excluded_stays(const struct disco_excluded *x)
{
	return x->why >= EXCLUDED_GUID_CHANGES;
}

/* True if the device takes part in the subnet with its NodeInfo corrected in each scan. */
static inline bool excluded_is_corrected(const struct disco_excluded *x)
{
	return x->why == EXCLUDED_TWIN || x->why == EXCLUDED_SWITCH;
}

/* True if the device is excluded because it claims the node GUID of a device elsewhere. */
static inline bool excluded_claims(const struct disco_excluded *x)
{
	return x->why == EXCLUDED_IMPOSTOR || x->why == EXCLUDED_CLAIMS || x->why == EXCLUDED_NO_ADAPTER;
}

/* Hash of a place. */
static inline uint64_t excluded_place_key(uint64_t near_guid, unsigned near_port)
{
	return hash64(near_guid ^ (uint64_t)(near_port + 1) << 48);
}

/*
 * The stand-in for `guid`, for the device at that place: a locally administered GUID, followed by
 * 255 that are free for ports.
 */
static inline uint64_t excluded_stand_in(uint64_t guid, uint64_t near_guid, unsigned near_port)
{
	uint64_t hash = hash64(guid ^ excluded_place_key(near_guid, near_port));

	return (hash & ~(UINT64_C(3) << 56) & ~UINT64_C(0xff)) | UINT64_C(2) << 56;
}

/* NodeInfo (14.2.5.3): byte offsets. */
enum {
	NI_TYPE = 2, NI_PORTS = 3, NI_GUID = 12, NI_PORT_GUID = 20, NI_LOCAL_PORT = 36,
};

/*
 * Distance of a node GUID and a port GUID.  Vendors assign a device's port GUIDs next to its node
 * GUID: of two devices with one GUID, it more likely belongs to the one with the smaller distance.
 */
static inline uint64_t excluded_distance(uint64_t node_guid, uint64_t port_guid)
{
	return node_guid > port_guid ? node_guid - port_guid : port_guid - node_guid;
}

#define EXCLUDED_NEAR (1u << 16)	/* below this distance node GUID and port GUID are of one block */

/*
 * Finds what is wrong with a NodeInfo received over a link, regardless of other devices' answers.
 */
enum excluded_why excluded_judge(const uint8_t *node_info);
/* Fills guid, a, b and data of x from the NodeInfo. */
void excluded_describe(struct disco_excluded *x, const uint8_t *node_info);
/* True if the NodeInfo has the GUIDs that x was recorded with. */
bool excluded_says_the_same(const struct disco_excluded *x, const uint8_t *node_info);
/* Replaces the GUIDs in a NodeInfo by those that the device is known by. */
void excluded_rename(uint64_t known_as, uint8_t *node_info);
/*
 * Corrects a NodeInfo from the EXCLUDED_SWITCH device x: sets NodeType to switch, and the port GUID
 * to the first one reported, as a switch has one port GUID, but an adapter one for each port.
 * Returns false if the NodeInfo is another device's, or says switch already.
 */
bool excluded_put_type(const struct disco_excluded *x, uint8_t *node_info);
/*
 * Appends the reason as text that follows "the device at ...": "says LocalPortNum 254 with 1
 * ports".
 */
void excluded_text(const struct disco_excluded *x, struct buf *out);

#endif
