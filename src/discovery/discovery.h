/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Discovery by libibnetdisc, in a process of its own (the only user of that
 * library).
 *
 * ibnd_discover_fabric() blocks, reports a partial fabric as success, and under
 * the simulator's preload takes the SMI classes away from our own agents.  So
 * the daemon starts itself again under the name DISCO_ARGV0; that process
 * discovers, and streams what it saw over a pipe.  Whatever goes wrong there
 * is a failed scan here, nothing more.
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
	unsigned known_window;	/* more SMPs at a time have been lost; 0: none have been */
	uint64_t m_key;
	const struct disco_excluded *out;	/* excluded whatever they answer (copied); at most EXCLUDED_MAX */
	size_t n_out;
	bool without_library;		/* some device is known that libibnetdisc does not survive */
	unsigned ports_max;		/* of all nodes, that the subnet can have; 0: nothing is known */
	/*
	 * The subnet as it is known: of two switches with one port GUID the one that is in it stays.
	 * It is there until done() returns.  NULL: nothing is known.
	 */
	const struct fabric *known;
	/*
	 * The process locks itself up before it asks another device anything.  The filter may be too
	 * tight for the libraries of this machine: where it has refused a call, and no scan behind it
	 * has succeeded before, DISCO_SANDBOX tries once more without, and goes on without if that
	 * finds more.  DISCO_STRICT does not.
	 */
	enum disco_sandbox { DISCO_OPEN, DISCO_SANDBOX, DISCO_STRICT } sandbox;
};

/* What has become of the filter of system calls, of all scans of this process. */
enum disco_filter {
	DISCO_FILTER_GOOD,	/* or not needed yet, or switched off */
	DISCO_FILTER_LEFT,	/* it is too tight: scans go on without it */
	DISCO_FILTER_REFUSES,	/* it refused a call in the last scan, which does not count */
};

struct disco_result {
	struct fabric *f;	/* the receiver owns it; NULL: the scan failed */
	const char *error;	/* why, when f is NULL */
	bool own_port;		/* ... since our own port does not answer */
	uint32_t mads;		/* SMPs that discovery used */
	struct smp_window_learned learned;	/* ... and what they told of the fabric */
	/*
	 * What was excluded, also where the scan failed; until done() returns.  Those that
	 * excluded_stays() were believed in this scan, or failed it: the next is to exclude them.
	 */
	const struct disco_excluded *left;
	size_t n_left;
};

struct disco;

/* done is called once, in the loop; d is then over.  NULL with err set if it can't start. */
struct disco *disco_start(struct loop *l, const struct disco_request *r,
			  void (*done)(void *arg, const struct disco_result *res), void *arg,
			  struct buf *err);
/* Ends it without calling done. */
void disco_cancel(struct disco *d);

/* *call, unless the filter is good: the first call that it refused; for the loop's thread. */
enum disco_filter disco_filter(const char **call);

/* The other process: main() calls this when argv[0] is DISCO_ARGV0. */
int disco_helper_main(int argc, char **argv);

#endif
