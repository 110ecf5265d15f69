/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Runs discovery by libibnetdisc in a process of its own (the only user of that library).
 *
 * ibnd_discover_fabric() blocks, reports a partial fabric as success, and under the simulator's
 * preload takes the SMI classes away from our own agents.  So the daemon executes itself again
 * under the name DISCO_ARGV0; that process discovers the fabric, and streams it over a pipe.  Any
 * failure of that process is just a failed scan in the daemon.
 */
#ifndef QOSD_DISCOVERY_DISCOVERY_H
#define QOSD_DISCOVERY_DISCOVERY_H

#include "discovery/excluded.h"
#include "fabric/fabric.h"
#include "lib/iba/smp_window.h"
#include "lib/loop/loop.h"

#define DISCO_ARGV0 "qosd-discovery"

struct disco_request {
	const char *ca;
	int port;
	unsigned window, timeout_ms, retries;
	unsigned known_window;	/* window above which SMPs have been lost; 0: none lost */
	uint64_t m_key;
	const struct disco_excluded *out;	/* places to exclude (copied); at most EXCLUDED_MAX */
	size_t n_out;
	/* use our own walk: libibnetdisc does not survive some device's answers */
	bool without_library;
	unsigned ports_max;		/* limit of all nodes' ports together; 0: unknown */
	/*
	 * The subnet as known so far: if two switches have one port GUID, the one in it stays.
	 * Must exist until done() returns.  NULL: unknown.
	 */
	const struct fabric *known;
	/*
	 * The process enters its sandbox before it sends an SMP to another device.  The system call
	 * filter may be too tight for this machine's libraries: if it refused a call, and no
	 * filtered scan has succeeded before, DISCO_SANDBOX repeats the scan without the filter,
	 * and drops the filter if that scan finds more.  DISCO_STRICT does not.
	 */
	enum disco_sandbox { DISCO_OPEN, DISCO_SANDBOX, DISCO_STRICT } sandbox;
};

/* State of the system call filter, over all scans of this process. */
enum disco_filter {
	DISCO_FILTER_GOOD,	/* fits, or not needed yet, or switched off */
	DISCO_FILTER_LEFT,	/* too tight: scans run without it */
	DISCO_FILTER_REFUSES,	/* refused a call in the last scan, which made that scan invalid */
};

struct disco_result {
	struct fabric *f;	/* owned by the receiver; NULL: the scan failed */
	const char *error;	/* reason, if f is NULL */
	bool own_port;		/* the reason is that our own port did not answer */
	uint32_t mads;		/* number of SMPs sent */
	struct smp_window_learned learned;	/* what they revealed about the fabric's pace */
	/*
	 * The excluded devices, also of a failed scan; valid until done() returns.  The scan
	 * believed those that excluded_stays(), or they failed it: the next scan has to exclude
	 * them.
	 */
	const struct disco_excluded *left;
	size_t n_left;
};

struct disco;

/*
 * Starts a scan.  Calls done once, in the loop; d is freed then.  Returns NULL with err set if the
 * scan cannot start.
 */
struct disco *disco_start(struct loop *l, const struct disco_request *r,
			  void (*done)(void *arg, const struct disco_result *res), void *arg,
			  struct buf *err);
/* Ends a scan without calling done. */
void disco_cancel(struct disco *d);

/*
 * State of the filter; *call: the first call that it refused, unless it is good.  Loop thread only.
 */
enum disco_filter disco_filter(const char **call);

/* Entry point of the discovery process: main() calls this when argv[0] is DISCO_ARGV0. */
int disco_helper_main(int argc, char **argv);

#endif
