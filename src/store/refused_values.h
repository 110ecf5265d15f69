/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Values that devices refuse, by device, attribute and AttributeModifier.
 *
 * A device refuses a Set by value if it confirms the Set but keeps another value, and by status
 * if it answers with an error each time.  This is plain data: nothing is sent or written here.
 *
 * There is one refusal for each AttributeModifier of a device's attribute: that of the value
 * set last.  Beyond REFUSALS_MAX the oldest refusals are dropped.
 *
 * A kind sums up the refusals of one attribute of one device.  It is firm by status if the
 * device has accepted no value of that attribute since; another value need not be tried several
 * times then.
 */
#ifndef QOSD_STORE_REFUSED_VALUES_H
#define QOSD_STORE_REFUSED_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REFUSALS_MAX 65536

struct refused_set {
	uint64_t guid;		/* of the node */
	uint64_t want;		/* digest of the value set */
	uint64_t got;		/* digest of the value that the device has, or refusal_status() */
	uint32_t mod;		/* AttributeModifier; the caller uses bits that IBA leaves free */
	uint16_t attr;
};

/* In `got`: the device answers with this MAD status (0: it confirms the Set). */
#define REFUSAL_STATUS	0xfffffffffff00000ull
static inline bool refusal_by_status(const struct refused_set *r)
{
	return (r->got & REFUSAL_STATUS) == REFUSAL_STATUS;
}

struct refused_kind {
	uint64_t guid;
	uint16_t attr;
	uint16_t status;	/* the last status, if any refusal is by status */
	bool firm;
	uint32_t by_status, by_value;
	uint32_t of_ports;	/* of both sorts, those with a port in bits 31-16 of mod */
};

struct refusals;
struct refusals *refusals_new(void);
struct refusals *refusals_copy(const struct refusals *all);
void refusals_free(struct refusals *all);	/* NULL is fine */

/* Records a refusal.  False: it was known. */
bool refusals_put(struct refusals *all, const struct refused_set *r);
/* The device accepted a value or has it.  False: no refusal was known. */
bool refusals_drop(struct refusals *all, uint64_t guid, uint16_t attr, uint32_t mod);
/* Drops the refusals by status of a device that restarted.  False: there were none. */
bool refusals_forget(struct refusals *all, uint64_t guid);
/*
 * Drops the refusals by status of nodes that are absent; also those by value, if more than half
 * of REFUSALS_MAX are in use.  False: there were none.
 */
bool refusals_prune(struct refusals *all, bool (*is_there)(void *arg, uint64_t guid), void *arg);

/* While on, values refused by status count as not refused, so that each is tried once more. */
void refusals_probe(struct refusals *all, bool on);
/*
 * Whether the device refuses `want`: it answers with an error, or has `got` afterwards.  False
 * if all is NULL.
 */
bool refusals_have(const struct refusals *all, uint64_t guid, uint16_t attr, uint32_t mod,
		   uint64_t want, uint64_t got);
/*
 * Whether the device refuses `want` by status.  refusals_know_status() also says so while
 * refusals_probe() is on.
 */
bool refusals_know_status(const struct refusals *all, uint64_t guid, uint16_t attr, uint32_t mod,
			  uint64_t want);
bool refusals_have_status(const struct refusals *all, uint64_t guid, uint16_t attr, uint32_t mod,
			  uint64_t want);
/* The refusal of one AttributeModifier; NULL: none is known.  Valid until the refusals change. */
const struct refused_set *refusals_find(const struct refusals *all, uint64_t guid, uint16_t attr,
					uint32_t mod);
/* The kind of a device's attribute; NULL: no refusal is known. */
const struct refused_kind *refusals_kind(const struct refusals *all, uint64_t guid, uint16_t attr);

/*
 * The i-th kind or refusal, from 0; NULL: no more.  Kinds without refusals are included, with
 * zeros.
 */
const struct refused_kind *refusals_kind_at(const struct refusals *all, size_t i);
const struct refused_set *refusals_at(const struct refusals *all, size_t i);
/* Number of refusals by value. */
size_t refusals_by_value(const struct refusals *all);

#endif
