/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Holds the daemon's own settings (qosd.yaml, qosd.yaml(5)).
 *
 * config/ fills them, and the defaults are here.  The daemon changes some of its own in the loop's thread when the
 * file is read again (daemon/settings_reload.c); what other threads read is a copy that nobody changes.
 */
#ifndef QOSD_PLAN_SETTINGS_H
#define QOSD_PLAN_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/alloc.h"
#include "lib/base/findings.h"
#include "lib/base/log.h"
#include "lib/iba/port_errors.h"
#include "qos/arbiter/arbiter.h"

#define ENGINES_MAX 5

/* The routers for paths to another subnet. */
struct prefix_route {
	uint64_t prefix;		/* of the other subnet; 0: any that no earlier entry matches */
	VEC(uint64_t) routers;		/* port GUIDs; empty: all routers of the fabric */
};

/* A group of the operating system. */
struct ctl_group {
	char *name;			/* NULL: none */
	uint32_t gid;
	bool unknown;			/* the system has not supplied the gid yet */
	struct src_pos pos;		/* of the name */
};

/* The default SM_Key of qosd and OpenSM: everybody knows it. */
#define SM_KEY_KNOWN 1

struct settings {
	char *file;			/* "(built-in)" if none */

	/* policy */
	bool no_policy;			/* use the built-in policy and read no file */
	bool policy_marker;		/* refuse a policy file that does not end with "..." */
	bool policy_watch;		/* read the policy file again when it changes */
	bool warn_unnamed;		/* a finding for each host or router that no group names */

	/* port */
	uint64_t port_guid;		/* 0: the first active or initialised port */

	/* subnet */
	uint64_t subnet_prefix;		/* default fe80:0000:0000:0000 */
	VEC(struct prefix_route) prefix_routes;	/* the first that matches counts */
	uint8_t lmc;			/* 0..7 */
	bool lmc_enhanced_port0;	/* LMC also on enhanced switch port 0 */
	uint8_t subnet_timeout;		/* exponent, default 18 */
	uint8_t packet_lifetime;	/* switch LifeTimeValue, exponent, default 18 */
	uint8_t hoq_lifetime;		/* HOQLife towards switches, exponent, default 18 */
	uint8_t hoq_lifetime_end;	/* HOQLife towards CAs and routers, default 16 */
	uint8_t vl_stall_count;		/* default 7 */
	uint8_t vl_stall_count_end;	/* default 7 */
	uint8_t local_phy_errors, overrun_errors;	/* thresholds 0..15, default 8 */
	enum arb_model arbiter_model;	/* by which shares are predicted; default ARB_MODEL_IBA */
	uint8_t max_op_vls;		/* most data VLs to use: 1, 2, 4, 8, 15; default 15 */
	/* when Active links change; default _CHANGE */
	enum { ACTIVE_VLS_CHANGE, ACTIVE_VLS_WAIT } active_vls;
	enum { LINK_KEEP, LINK_SUPPORTED } link_width, link_speed;	/* default LINK_KEEP */
	/* Directions in which switches enforce partitions; the bits are ENFORCE_IN and ENFORCE_OUT. */
	enum partition_enforcement {
		ENFORCE_OFF, ENFORCE_IN, ENFORCE_OUT, ENFORCE_BOTH,
	} partition_enforcement;	/* default ENFORCE_BOTH */

	/* keys */
	uint64_t m_key;			/* default 0 */
	uint16_t m_key_lease;		/* seconds, 0 = never expires */
	uint8_t m_key_protect;		/* 0..3 */
	uint64_t sm_key;		/* default SM_KEY_KNOWN */

	/* election */
	uint8_t priority;		/* 0..15, default 0 */
	uint32_t poll_interval_ms;	/* of the master by a standby, default 200 */
	uint8_t poll_retries;		/* unanswered polls that are tolerated, default 3 */

	/* routing: names in order of preference, or SETTINGS_ENGINE_AUTO alone */
	char *engines[ENGINES_MAX + 1];	/* NULL-terminated; default updn, minhop */

	/* transport */
	uint16_t smp_window;		/* SMPs outstanding in the fabric, default 64 */
	uint8_t smp_window_device;	/* per device, default 4 */
	uint16_t smp_timeout_ms;	/* first try, doubled each time; default 200 */
	uint8_t smp_retries;		/* default 3 */
	uint16_t discovery_window;	/* SMPs of discovery outstanding, default 32 */

	/* sweeps */
	uint32_t sweep_interval_s;	/* light sweep, 0 = off; default 10 */
	uint32_t scrub_interval_s;	/* one pass over all tables, 0 = off; default 21600 */

	/* links that flap */
	uint32_t flap_limit;		/* times down in the window that are tolerated, 0 = any; default 5 */
	uint32_t flap_window_s;		/* default 60 */
	uint32_t flap_hold_s;		/* quiet time before routes use the link; default 60 */
	uint32_t outage_limit;		/* times in an hour that a node or link may go; 0: any; default 3 */

	/* SA */
	uint32_t sa_requests_max;	/* queued requests, beyond which BUSY is answered; default 32768 */
	uint32_t sa_requests_per_port;	/* the same for one port; default 8192 */
	uint32_t sa_transfers_max;	/* multi-MAD answers under way; default 256 */
	uint32_t sa_transfers_per_port;	/* default 16 */
	/* Multi-MAD requests under way, default 256 and 8; outstanding Reports, default 512 and 32. */
	uint32_t sa_long_requests_max, sa_long_requests_per_port;
	uint32_t reports_max, reports_per_port;

	/*
	 * Limits on what hosts register: of all ports together, and of one port
	 * (sa/registry/holdings.h).
	 */
	uint32_t groups_max, groups_per_port;		/* default 131072, 1024 */
	uint32_t mlids_max, mlids_per_port;		/* MLIDs of groups; 0: as switches allow */
	uint32_t memberships_max, memberships_per_port;	/* default 1048576, 16384 */
	uint32_t services_max, services_per_port;	/* default 16384, 1024 */
	uint32_t subscriptions_max, subscriptions_per_port;	/* default 65536, 256 */
	uint32_t aliases_max, aliases_per_port;		/* default 262144, 255 */
	uint32_t forget_after_s;	/* age of an absent port's registrations at removal; 0: never */

	/* Dynamic partitions: range of P_Keys for those that ask for none. */
	uint16_t pkey_lo, pkey_hi;	/* default 0x4000-0x7ffe */

	/* events */
	char **event_command;		/* NULL-terminated, [0] a path; NULL: no command */
	/* bit mask of event kinds that run it; UINT64_MAX, the default: all but records */
	uint64_t event_kinds;

	/* counters */
	uint32_t counters_interval_s;	/* how often to read all counters; 0, the default: never */
	bool counters_reset;		/* counters by SL and VL are reset when read; default false */
	uint32_t errors_interval_s;	/* how often to read error counters; 0: never; default 180 */
	uint32_t optics_interval_s;	/* how often to read transceivers; 0, the default: never */
	bool errors_reset;		/* error counters that are nearly full are reset; default true */
	uint32_t error_limits[PORT_ERRORS];	/* errors of a port in an hour (lib/iba/port_errors.h) */
	/* When links between switches are isolated by rule (daemon/isolation_rules.h). */
	struct isolate_when {
		uint32_t errors[PORT_ERRORS];	/* in an hour, tolerated; PORT_ERRORS_ANY, the default: any */
		uint32_t link_downs;		/* times down in an hour, tolerated; 0, the default: any */
		uint32_t at_most;		/* places isolated by rule at a time; default 3 */
		uint32_t for_s;			/* how long, at first; 0, the default: until it is released */
	} isolate_when;
	/* History of events: an absolute path, NULL: none, the default; MiB of the file at most. */
	char *expected_topology;	/* a topology file, or NULL */
	char *node_name_map;		/* an absolute path (fabric/name_map.h), or NULL, the default */
	char *history;
	uint32_t history_max_mib;	/* default 64 */
	/* metrics */
	char *metrics_listen;		/* "ADDRESS:PORT", ADDRESS in brackets if IPv6; NULL: off */
	char *report_listen;		/* the same, for the live report */

	/* Control socket: groups whose members may read, may do everything, may ask for others; default none. */
	struct ctl_group ctl_read_group, ctl_admin_group, ctl_gateway_group;

	/* Dropping of capabilities and system calls; default on. */
	enum sandbox_mode {
		SANDBOX_OFF, SANDBOX_ON,
		SANDBOX_STRICT,		/* the daemon does not run without the sandbox */
	} sandbox;

	/* log */
	enum log_level log_level;
};

/* The engines that `routing` may name; NULL-terminated. */
extern const char *const settings_engines[];
#define SETTINGS_ENGINE_AUTO "auto"	/* the best one; plan/routes/choose_engine.h */

struct settings *settings_default(void);
void settings_free(struct settings *s);	/* NULL is fine */
/*
 * A copy for a plan, which free() frees.  Of what it points to, only `file`, `engines` and `prefix_routes` may be
 * read: they belong to s, and no reload changes them.
 */
struct settings *settings_for_plan(const struct settings *s);

#endif
