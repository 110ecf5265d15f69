/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The judges of `health`: each adds what it finds in its part of the input (health.h).
 *
 * health.c has the order in which they are asked; those of a published state only if there is one.
 */
#ifndef QOSD_CTL_COMMANDS_HEALTH_JUDGES_H
#define QOSD_CTL_COMMANDS_HEALTH_JUDGES_H

#include "ctl/commands/health_findings.h"

typedef void health_judge_fn(const struct health_input *in, struct health *h);

/* health_manager.c: this subnet manager and others */
health_judge_fn health_role, health_keys, health_up, health_discovery, health_store, health_history, health_sa;
/* health_listening.c: addresses of pages that cannot be had */
health_judge_fn health_listening;
/* health_devices.c */
health_judge_fn health_devices, health_excluded, health_implausible, health_floods;
/* True if the device permanently refuses Sets of the attribute. */
bool device_refuses(const struct health_input *in, uint32_t node, unsigned attr);
/* health_links.c */
health_judge_fn health_far_ends, health_ports, health_links, health_lmc, health_flaps;
/* health_errors.c: links with a counter over its limit, worst first */
health_judge_fn health_errors;
/*
 * health_optics.c: modules in linked ports with a value beyond an alarm threshold of theirs, then those beyond
 * a warning
 */
health_judge_fn health_optics;
/*
 * health_outages.c: nodes and links that went away too often, switches first, as hosts behind them go with them; what
 * is drained is left out, because somebody works on it
 */
health_judge_fn health_outages;
/*
 * health_missing.c: what is missing.  What is withdrawn, or was linked to it, is no trouble by itself: it says
 * why it is missing.
 */
health_judge_fn health_missing;
/* health_topology.c: how the fabric differs from what is expected */
health_judge_fn health_topology;
/* health_withdrawn.c: what is withdrawn, so that nobody forgets it, and drains that cannot be complete */
health_judge_fn health_withdrawn;
/* health_routes.c */
health_judge_fn health_routes, health_shape, health_unread_switches, health_table_sizes, health_fixed_routes;
/* health_inherited.c */
health_judge_fn health_inherited, health_congestion;
/* health_multicast.c */
health_judge_fn health_mlids, health_mlids_in_use, health_groups, health_broadcasts;
/* health_clients.c */
health_judge_fn health_registries, health_subscribers, health_mad_floods;
/* health_policy.c */
health_judge_fn health_policy;
/* health_traffic.c */
health_judge_fn health_shares, health_strays;

#endif
