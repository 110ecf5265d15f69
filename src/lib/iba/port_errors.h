/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The error counters of a port, by the names that settings, answers and IBA give them.
 *
 * They are in the order of their bits in PortCounters.CounterSelect (16.1.3.5), but for the last
 * two, whose bits are in CounterSelect2.
 */
#ifndef QOSD_LIB_IBA_PORT_ERRORS_H
#define QOSD_LIB_IBA_PORT_ERRORS_H

#include <stdint.h>

enum port_error {
	ERR_SYMBOL, ERR_LINK_RECOVERY, ERR_LINK_DOWNED, ERR_RCV, ERR_RCV_REMOTE_PHYSICAL,
	ERR_RCV_SWITCH_RELAY, ERR_XMIT_DISCARD, ERR_XMIT_CONSTRAINT, ERR_RCV_CONSTRAINT,
	ERR_LOCAL_INTEGRITY, ERR_BUFFER_OVERRUN, ERR_VL15_DROPPED, ERR_XMIT_WAIT, ERR_QP1_DROPPED,
	PORT_ERRORS
};

/* A number of errors in an hour that no port exceeds. */
#define PORT_ERRORS_ANY UINT32_MAX

/* "symbol-errors": in settings, answers and metrics. */
const char *port_error_name(enum port_error e);
/* "SymbolErrorCounter": the name that IBA and perfquery use. */
const char *port_error_iba_name(enum port_error e);
/* Errors in an hour up to which a port is fine by default; PORT_ERRORS_ANY: any number. */
uint32_t port_error_limit(enum port_error e);

#endif
