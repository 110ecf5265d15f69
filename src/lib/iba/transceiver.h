/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Decodes the memory of transceivers and cables, and says which bytes of it to read.
 *
 * There are two maps: SFF-8636 (revision 2.11), of QSFP+ and QSFP28, and CMIS (revision 5.2), of OSFP, QSFP-DD and
 * later QSFP.  Both have 128 lower bytes and pages of 128 upper ones, and a byte that tells the maps apart.
 *
 * The bytes are read in ranges of at most TRANSCEIVER_RANGE, none of which cuts a field.  Ranges about what the module
 * is are read once, those about how it is each time, one of which has the serial number: another number is another
 * module, and everything is read again.
 *
 * Values are kept in the units of both maps.  A module compares them with thresholds of its own: four for each
 * quantity, of which alarms are further out than warnings.  Its flags are latched: they say that a value was beyond a
 * threshold since the flags were last read, by whomever, which clears them.  So they are kept apart from what is
 * beyond a threshold now.
 *
 * Pure.  The bytes are a module's, thus hostile: text is whatever the module has, and callers clean it.
 */
#ifndef QOSD_LIB_IBA_TRANSCEIVER_H
#define QOSD_LIB_IBA_TRANSCEIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRANSCEIVER_RANGE 28	/* what an SMP has room for (MCIA_BYTES) */
#define TRANSCEIVER_LANES 8

enum transceiver_map { TRANSCEIVER_UNREAD, TRANSCEIVER_SFF8636, TRANSCEIVER_CMIS, TRANSCEIVER_OTHER };

enum quantity {
	TEMPERATURE,	/* of the module, in 1/256 degrees Celsius */
	VOLTAGE,	/* its supply, in 0.1 mV */
	RX_POWER,	/* by lane, received, in 0.1 uW */
	TX_POWER,	/* by lane, sent, in 0.1 uW */
	TX_BIAS,	/* by lane, of the laser, in 2 uA */
	QUANTITIES
};

enum threshold { HIGH_ALARM, LOW_ALARM, HIGH_WARNING, LOW_WARNING, THRESHOLDS };

struct transceiver {
	enum transceiver_map map;
	uint8_t identifier;		/* SFF-8024, table 4-1 */
	bool flat;			/* has no pages but the first */
	bool identified;		/* the ranges that are read once were read */
	char vendor[17], part[17], revision[3], serial[17];	/* without blanks at the end */
	char date[9];			/* YYMMDD, and two characters of the vendor's */
	uint8_t connector;		/* SFF-8024, table 4-3 */
	uint8_t technology;		/* of the transmitter: codes 0 to 15 of both maps */
	uint8_t media;			/* CMIS: media type of the first application; SFF-8636: 0 */
	uint16_t length_dm;		/* of the cable, in decimetres; 0: it has connectors, or does not say */
	uint8_t lanes;			/* that the map has: 4 or 8 */
	uint8_t measured;		/* bits by quantity: those that the module measures */
	uint8_t limited;		/* bits by quantity: those with thresholds */
	int32_t value[QUANTITIES][TRANSCEIVER_LANES];	/* of the module: [0] */
	int32_t limit[QUANTITIES][THRESHOLDS];
	uint8_t bias_factor;		/* CMIS: 1, 2 or 4 */
	/* by lane, of the module: bit 0 */
	uint8_t latched[QUANTITIES][THRESHOLDS];	/* the module's flags as they were read */
	uint8_t beyond[QUANTITIES][THRESHOLDS];		/* the value is beyond the threshold */
};

struct transceiver_range {
	uint8_t page;
	uint8_t offset;		/* 0..127: lower bytes; else of the page */
	uint8_t size;
};

/*
 * The next range to read, by a count that begins at 0 for each reading and that the call advances; false at the end of
 * the reading.  The first range of an unread module tells its map; of a map that is not known there is no other.
 */
bool transceiver_next(const struct transceiver *t, unsigned *i, struct transceiver_range *r);
/*
 * Takes the bytes of a range; NULL: they cannot be read, which is no error of pages that are optional.  Returns true if
 * it turned out to be another module than before: it is unread then, and the reading begins anew.
 */
bool transceiver_take(struct transceiver *t, const struct transceiver_range *r, const uint8_t *bytes);
/* Ends a reading: sets `beyond` and `identified`. lanes: those that belong to the port; others are left out. */
void transceiver_end(struct transceiver *t, uint8_t lanes);

/* A passive copper cable, which measures nothing. */
bool transceiver_is_passive(const struct transceiver *t);
/* "QSFP28", "OSFP" …; "unknown". */
const char *transceiver_identifier(const struct transceiver *t);
/* "850 nm VCSEL", "copper" …; "unknown". */
const char *transceiver_technology(const struct transceiver *t);
/* "MPO 1x12", "LC", "none" …; "unknown". */
const char *transceiver_connector(const struct transceiver *t);
/* "temperature", "voltage", "rx-power", "tx-power", "tx-bias". */
const char *quantity_name(enum quantity q);
/* "high-alarm", "low-alarm", "high-warning", "low-warning". */
const char *threshold_name(enum threshold h);
/* Whether the quantity is measured by lane. */
static inline bool quantity_has_lanes(enum quantity q)
{
	return q >= RX_POWER;
}
static inline bool threshold_is_alarm(enum threshold h)
{
	return h <= LOW_ALARM;
}
/* Degrees Celsius, volts, milliwatts, milliamperes. */
double quantity_real(enum quantity q, int32_t value);
/* Milliwatts as dBm; -40, which is less than any receiver sees, for no light. */
double power_dbm(double mw);
/* The worst threshold that the values are beyond (alarms first), or THRESHOLDS; with its quantity. */
enum threshold transceiver_worst(const struct transceiver *t, enum quantity *q);

#endif
