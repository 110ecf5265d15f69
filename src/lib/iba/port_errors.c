/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names the error counters of ports, and has the default limits; see port_errors.h. */
#include "lib/iba/port_errors.h"

/*
 * The limits are the thresholds that infiniband-diags proposes to ibqueryerrors in its file
 * error_thresholds, but for an hour instead of since somebody last cleared the counters, as a total
 * tells nothing about a fabric that has run for a year.  Two differ.  PortXmitWait counts waiting
 * on a link that is full, which is no error.  PortRcvSwitchRelayErrors grows in sound fabrics, too:
 * a switch counts each multicast packet there that comes back to the port which it came from.
 */
static const struct {
	const char *name, *iba;
	uint32_t limit;
} errors[PORT_ERRORS] = {
	[ERR_SYMBOL] = { "symbol-errors", "SymbolErrorCounter", 10 },
	[ERR_LINK_RECOVERY] = { "link-error-recoveries", "LinkErrorRecoveryCounter", 10 },
	[ERR_LINK_DOWNED] = { "link-downed", "LinkDownedCounter", 10 },
	[ERR_RCV] = { "rcv-errors", "PortRcvErrors", 10 },
	[ERR_RCV_REMOTE_PHYSICAL] = { "rcv-remote-physical-errors", "PortRcvRemotePhysicalErrors", 100 },
	[ERR_RCV_SWITCH_RELAY] = { "rcv-switch-relay-errors", "PortRcvSwitchRelayErrors",
				   PORT_ERRORS_ANY },
	[ERR_XMIT_DISCARD] = { "xmit-discards", "PortXmitDiscards", 100 },
	[ERR_XMIT_CONSTRAINT] = { "xmit-constraint-errors", "PortXmitConstraintErrors", 100 },
	[ERR_RCV_CONSTRAINT] = { "rcv-constraint-errors", "PortRcvConstraintErrors", 100 },
	[ERR_LOCAL_INTEGRITY] = { "local-link-integrity-errors", "LocalLinkIntegrityErrors", 10 },
	[ERR_BUFFER_OVERRUN] = { "buffer-overrun-errors", "ExcessiveBufferOverrunErrors", 10 },
	[ERR_VL15_DROPPED] = { "vl15-dropped", "VL15Dropped", 100 },
	[ERR_XMIT_WAIT] = { "xmit-wait", "PortXmitWait", PORT_ERRORS_ANY },
	[ERR_QP1_DROPPED] = { "qp1-dropped", "QP1Dropped", 100 },
};

const char *port_error_name(enum port_error e)
{
	return errors[e].name;
}

const char *port_error_iba_name(enum port_error e)
{
	return errors[e].iba;
}

uint32_t port_error_limit(enum port_error e)
{
	return errors[e].limit;
}
