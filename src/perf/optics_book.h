/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Keeps what is known of the transceivers and cables in ports, and says what of it is beyond thresholds.
 *
 * There is an entry for each node that was asked, by GUID; one with another number of ports begins anew.  Nodes
 * that are not in the fabric any more are forgotten when a reading begins.  No side effects but on the book.
 */
#ifndef QOSD_PERF_OPTICS_BOOK_H
#define QOSD_PERF_OPTICS_BOOK_H

#include "fabric/fabric.h"
#include "lib/base/alloc.h"
#include "lib/base/buf.h"
#include "lib/base/map64.h"
#include "lib/iba/access_register.h"
#include "lib/iba/transceiver.h"

enum optics_result {
	OPTICS_UNREAD,
	OPTICS_READ,
	OPTICS_EMPTY,		/* there is no module */
	OPTICS_UNREADABLE,	/* the device cannot read it, or does not know its map */
	OPTICS_RESULTS
};
/* "unread", "read", "empty", "unreadable". */
const char *optics_result_name(enum optics_result r);

struct optics_port {
	enum optics_result result;	/* of the last time that the port was read */
	int64_t read_us;		/* monotonic */
	bool located;			/* `at` is known */
	struct port_lanes at;
	uint8_t mcia_status;		/* of OPTICS_UNREADABLE: enum mcia_status */
	struct transceiver t;		/* of OPTICS_READ */
};

struct optics_node {
	uint64_t guid;
	enum { NODE_ASKABLE, NODE_REFUSES, NODE_SILENT } is;
	uint8_t nports;
	uint8_t asked_local;		/* local ports of a switch that were asked for */
	uint8_t *local;			/* [nports + 1]: local port by port; 0: not known */
	struct optics_port **ports;	/* [nports + 1]; NULL: never read */
};

struct optics_book {
	struct map64 by_guid;		/* index into nodes */
	VEC(struct optics_node *) nodes;
};

/* The book must be zeroed before. */
void optics_book_init(struct optics_book *b);
void optics_book_free(struct optics_book *b);
void optics_book_clear(struct optics_book *b);
struct optics_node *optics_book_find(const struct optics_book *b, uint64_t guid);	/* NULL: there is none */
/* The same, or a new one. */
struct optics_node *optics_book_node(struct optics_book *b, const struct fabric_node *from);
/* Forgets nodes that are not in the fabric. */
void optics_book_prune(struct optics_book *b, const struct fabric *f);
/* Lets nodes that are not in the fabric be asked again when they are back. */
void optics_book_forgive_gone(struct optics_book *b, const struct fabric *f);
/* Lets a node be asked again, first for where its ports' modules are. */
void optics_node_ask_again(struct optics_node *n);
/* Whether the node has told where a module is, or what is in a port. */
bool optics_node_has_located(const struct optics_node *n);
bool optics_node_has_read(const struct optics_node *n);

/*
 * Appends what is beyond alarms, or with `warnings` also beyond warnings, and in which lanes: "temperature 76.5 C above
 * the high alarm of 75.0 C, rx-power -20.0 dBm in lane 3 below the low alarm of -13.5 dBm".
 */
void optics_put_beyond(const struct optics_port *p, bool warnings, struct buf *out);
/* Whether an alarm, or a warning, is raised. */
bool optics_is_alarmed(const struct optics_port *p);
bool optics_is_warned(const struct optics_port *p);

#endif
