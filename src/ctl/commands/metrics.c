/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Prints the metrics; metrics.h has the contracts.  Names include their unit and never change; an
 * unknown value has no sample.
 */
#include "ctl/commands/metrics.h"

#include <dirent.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "ctl/command.h"
#include "ctl/commands/health_errors.h"
#include "ctl/commands/health_optics.h"
#include "ctl/commands/health_outages.h"
#include "ctl/prom.h"
#include "events/topology_events.h"
#include "lib/base/clock.h"
#include "plan/feasible/feasible.h"
#include "plan/routes/fabric_shape.h"
#include "sa/registry/groups.h"
#include "sa/registry/holdings.h"
#include "sa/registry/services.h"
#include "sa/registry/subscriptions.h"
#include "sm/devices/withdrawals.h"
#include "store/store.h"

#define US 1e-6

static void gauge(struct prom *p, const char *name, const char *help, double value)
{
	prom_single(p, name, PROM_GAUGE, help, value);
}

static void counter(struct prom *p, const char *name, const char *help, double value)
{
	prom_single(p, name, PROM_COUNTER, help, value);
}

/* --- fabric --- */

static void put_nodes(struct prom *p, const struct fabric *f)
{
	static const char *const types[] = { "aggregation", "ca", "switch", "router" };
	unsigned n[4] = { 0 };

	for (uint32_t i = 0; i < f->n_nodes; i++)
		n[f->nodes[i].aggregation ? 0 : f->nodes[i].type & 3]++;
	prom_metric(p, "qosd_fabric_nodes", PROM_GAUGE, "Nodes by type.");
	for (unsigned t = 0; t < 4; t++)
		prom_sample(p, n[t], "type", types[t], NULL);
}

static void put_ports(struct prom *p, const struct fabric *f)
{
	static const char *const states[] = { "none", "down", "init", "armed", "active" };
	unsigned n[ARRAY_SIZE(states)] = { 0 }, links = 0, duplicates = 0;
	uint32_t first;

	for (uint32_t i = 0; i < f->n_ports; i++) {
		const struct fabric_port *x = &f->ports[i];

		if (!x->present)
			continue;
		duplicates += port_is_duplicate(f, i, &first);
		if (!x->num)
			continue;
		n[x->state < ARRAY_SIZE(states) ? x->state : 0]++;
		links += x->peer != FABRIC_NONE && i < x->peer;
	}
	prom_metric(p, "qosd_fabric_ports", PROM_GAUGE,
		    "Ports by state, without port 0 of switches.");
	for (unsigned s = 1; s < ARRAY_SIZE(states); s++)
		prom_sample(p, n[s], "state", states[s], NULL);
	gauge(p, "qosd_fabric_links", "Links between two nodes of the subnet.", links);
	gauge(p, "qosd_fabric_links_unanswered",
	      "Links that are up and whose far end does not answer.",
	      f->unanswered);
	gauge(p, "qosd_fabric_duplicate_guids",
	      "Ports that have the GUID of another port.", duplicates);
}

static void put_faults(struct prom *p, const struct subnet_state *s)
{
	static const char *const kinds[] = {
		[FAULT_SILENT] = "silent", [FAULT_REFUSES] = "refuses", [FAULT_KEEPS] = "keeps",
		[FAULT_KEY_MISMATCH] = "key-mismatch",
	};
	unsigned n[ARRAY_SIZE(kinds)] = { 0 };

	for (uint32_t i = 0; i < s->n_faults; i++)
		if (!i || s->faults[i].node != s->faults[i - 1].node ||
		    s->faults[i].kind != s->faults[i - 1].kind)	/* count a device once */
			n[s->faults[i].kind]++;
	prom_metric(p, "qosd_fabric_faulty_devices", PROM_GAUGE,
		    "Devices with a fault in the last sweep: silent, refusing Sets, keeping "
		    "other values, or with an M_Key mismatch.");
	for (unsigned k = 0; k < ARRAY_SIZE(kinds); k++)
		prom_sample(p, n[k], "fault", kinds[k], NULL);
}

static void put_missing(struct prom *p, const struct missing *m)
{
	size_t n[MISSING_KINDS];

	missing_count(m, n);
	prom_metric(p, "qosd_fabric_missing", PROM_GAUGE,
		    "What the subnet had and lacks now, by kind; rate: links that are slower than they were.");
	for (unsigned k = 0; k < MISSING_KINDS; k++)
		prom_sample(p, (double)n[k], "kind", missing_kind_name((enum missing_kind)k), NULL);
}

static void put_topology(struct prom *p, const struct topology_check *c)
{
	prom_metric(p, "qosd_fabric_topology_differences", PROM_GAUGE,
		    "Differences from the expected topology, by kind.");
	for (unsigned k = 0; k < EXPECTED_KINDS; k++)
		prom_sample(p, (double)c->findings.count[k], "kind", expected_kind_name((enum expected_kind)k),
			    NULL);
}

static void put_fabric(struct prom *p, const struct subnet_state *s)
{
	const struct feasibility *v = s->plan->feasible;

	put_nodes(p, s->f);
	put_ports(p, s->f);
	put_faults(p, s);
	if (v)
		gauge(p, "qosd_fabric_links_deviating",
		      "Links that are slower or narrower than both ends allow, or than most "
		      "links of their kind.",
		      v->n_deviations);
}

/* --- counters --- */

static void put_stray(struct prom *p, const char *by, unsigned lane, double value)
{
	char text[4];

	snprintf(text, sizeof(text), "%u", lane);
	prom_sample(p, value, "by", by, "number", text, NULL);
}

/* Only those with data. */
static void put_strays(struct prom *p, const struct perf_summary *s)
{
	prom_metric(p, "qosd_stray_sent_bytes", PROM_GAUGE,
		    "Bytes that ports sent during the last measurement on an SL that no level has, or, of "
		    "devices that do not count by SL, on a VL that no level uses.");
	for (unsigned sl = 0; sl < IB_SL_COUNT; sl++)
		if (s->stray_sls[sl].ports)
			put_stray(p, "sl", sl, (double)s->stray_sls[sl].bytes);
	for (unsigned vl = 0; vl < ARB_VLS; vl++)
		if (s->stray_vls[vl].ports)
			put_stray(p, "vl", vl, (double)s->stray_vls[vl].bytes);
	prom_metric(p, "qosd_stray_ports", PROM_GAUGE, "Ports that sent them.");
	for (unsigned sl = 0; sl < IB_SL_COUNT; sl++)
		if (s->stray_sls[sl].ports)
			put_stray(p, "sl", sl, s->stray_sls[sl].ports);
	for (unsigned vl = 0; vl < ARB_VLS; vl++)
		if (s->stray_vls[vl].ports)
			put_stray(p, "vl", vl, s->stray_vls[vl].ports);
}

/* From the last measurement of all ports, by level: as many samples as the policy has levels. */
static void put_counters(struct prom *p, const struct perf_summary *s)
{
	gauge(p, "qosd_counters_measured_timestamp_seconds", "When the counters of all ports were last measured.",
	      (double)s->when_us * US);
	gauge(p, "qosd_counters_interval_seconds",
	      "Mean time between the two reads of a port in that measurement.",
	      s->seconds);
	prom_metric(p, "qosd_counters_ports", PROM_GAUGE,
		    "Ports of the last measurement, by result.");
	prom_sample(p, s->ports - s->silent - s->lacking, "result", "read", NULL);
	prom_sample(p, s->silent, "result", "silent", NULL);
	prom_sample(p, s->lacking, "result", "not-supported", NULL);
	prom_metric(p, "qosd_level_sent_bytes", PROM_GAUGE,
		    "Bytes of the level that all ports sent during the last measurement.");
	for (size_t i = 0; i < s->levels.n; i++)
		prom_sample(p, (double)s->levels.v[i].bytes, "level", s->levels.v[i].name, NULL);
	prom_metric(p, "qosd_level_judged_ports", PROM_GAUGE,
		    "Ports whose counters show whether the level got its share.");
	for (size_t i = 0; i < s->levels.n; i++)
		prom_sample(p, s->levels.v[i].judged, "level", s->levels.v[i].name, NULL);
	prom_metric(p, "qosd_level_short_ports", PROM_GAUGE,
		    "Ports where the level had packets waiting and got less than its share.");
	for (size_t i = 0; i < s->levels.n; i++)
		prom_sample(p, s->levels.v[i].short_of, "level", s->levels.v[i].name, NULL);
	prom_metric(p, "qosd_level_short_share_ratio", PROM_GAUGE,
		    "At the port where the level fell shortest: the share of the link that it "
		    "got, and the share promised.");
	for (size_t i = 0; i < s->levels.n; i++)
		if (s->levels.v[i].short_of) {
			prom_sample(p, s->levels.v[i].got, "level", s->levels.v[i].name, "share", "got", NULL);
			prom_sample(p, s->levels.v[i].promised, "level", s->levels.v[i].name, "share",
				    "promised", NULL);
		}
	put_strays(p, s);
}

/* --- subnet manager --- */

static void put_routes(struct prom *p, const struct plan *plan)
{
	const struct route_report *r = &plan->report;

	prom_metric(p, "qosd_routing_info", PROM_GAUGE,
		    "The routing engine whose routes are in force; always 1.");
	if (plan->engine)
		prom_sample(p, 1, "engine", plan->engine, NULL);
	gauge(p, "qosd_routing_routes",
	      "Routes from switches to LIDs that were verified.", (double)r->pairs);
	gauge(p, "qosd_routing_routes_broken", "Verified routes that do not reach their LID.",
	      (double)r->unreachable);
	prom_metric(p, "qosd_routing_lost_routes", PROM_GAUGE,
		    "Missing routes, by kind: between hosts or from hosts to the SM, to "
		    "aggregation nodes, to switches, between switches, between switches and "
		    "the SM.");
	prom_sample(p, (double)r->to_hosts.n, "kind", "hosts", NULL);
	prom_sample(p, (double)r->to_aggregation.n, "kind", "aggregation-nodes", NULL);
	prom_sample(p, (double)r->to_switches.n, "kind", "switches", NULL);
	prom_sample(p, (double)r->inner.n, "kind", "between-switches", NULL);
	prom_sample(p, (double)r->of_sm.n, "kind", "switches-and-sm", NULL);
	gauge(p, "qosd_routing_credit_loop",
	      "Whether the routes in force allow a credit loop.", r->credit_loop);
	gauge(p, "qosd_routing_hops_max", "Switches on the longest route.", r->max_hops);
	gauge(p, "qosd_routing_tree",
	      "Whether the switches form a tree.", plan->shape.kind == SHAPE_TREE);
	gauge(p, "qosd_routing_tree_damaged",
	      "Whether missing links lengthen routes between hosts or leave pairs without an "
	      "up/down path.",
	      plan_shape_state(plan) == SHAPE_COSTS);
	prom_metric(p, "qosd_plan_duration_seconds", PROM_GAUGE,
		    "Time to compute the plan in force, by part.");
	prom_sample(p, (double)plan->us_lids * US, "part", "lids", NULL);
	prom_sample(p, (double)plan->us_tables * US, "part", "tables", NULL);
	prom_sample(p, (double)plan->us_routes * US, "part", "routes", NULL);
	prom_sample(p, (double)plan->us_verdict * US, "part", "verdict", NULL);
	prom_sample(p, (double)plan->us_paths * US, "part", "paths", NULL);
	prom_sample(p, (double)plan->us_feasible * US, "part", "realizability", NULL);
}

/* The last measurement of routes, which may be of an earlier plan than that in force. */
static void put_gauged(struct prom *p, const struct gauged *x, const struct subnet_state *s)
{
	const struct gauge *g = &x->g;

	gauge(p, "qosd_routes_measured_current",
	      "Whether the qosd_routes_* figures describe the routes in force rather than "
	      "earlier ones.", x->generation == s->generation);
	gauge(p, "qosd_routes_measuring_seconds",
	      "Time that measuring the routes took.", x->seconds);
	gauge(p, "qosd_routes_pairs", "Ordered pairs of end ports.", (double)g->pairs);
	gauge(p, "qosd_routes_pairs_connected",
	      "Ordered pairs of end ports with a route.", (double)g->connected);
	if (!g->connected)
		return;
	gauge(p, "qosd_routes_hops_ratio",
	      "Switches on a route divided by the least possible number, mean.",
	      g->ratio_mean);
	gauge(p, "qosd_routes_hops_ratio_max",
	      "Switches on a route divided by the least possible number, maximum.",
	      g->ratio_most);
	gauge(p, "qosd_routes_edge_forwarding_index",
	      "Routes over the busiest direction of a cable.",
	      (double)g->efi);
	gauge(p, "qosd_routes_cable_routes_mean", "Routes over one direction of a cable, mean.",
	      g->efi_mean);
	gauge(p, "qosd_routes_all_to_all_ratio",
	      "Routes per capacity of the busiest cable, divided by a lower bound for any "
	      "routing.", g->all_to_all);
	gauge(p, "qosd_routes_bisection_bandwidth",
	      "Effective bisection bandwidth; 1 is full bandwidth.", g->ebb);
	if (x->compared)
		gauge(p, "qosd_routes_shortest_path_bisection_bandwidth",
		      "Effective bisection bandwidth of shortest paths that may deadlock, for "
		      "comparison where the switches form no tree.", x->plain.ebb);
	gauge(p, "qosd_routes_shift_load",
	      "Flows over the busiest cable under a shift pattern, mean.",
	      g->shift_mean);
	gauge(p, "qosd_routes_shift_load_max",
	      "Flows over the busiest cable under a shift pattern, maximum.",
	      g->shift_worst);
	if (g->layers)
		gauge(p, "qosd_routes_layers",
		      "Layers without a credit loop that the paths need, at most.",
		      g->layers);
}

static void put_sm(struct prom *p, const struct sm_status *s)
{
	prom_metric(p, "qosd_sm_state", PROM_GAUGE,
		    "State of the subnet manager: 1 for its present state, 0 for the others.");
	for (unsigned i = SM_NOT_ACTIVE; i <= SM_MASTER; i++)
		prom_sample(p, s->state == i, "state", sm_state_name((enum sm_state)i), NULL);
	gauge(p, "qosd_sm_priority", "Priority of the subnet manager.", s->priority);
	gauge(p, "qosd_subnet_up", "Whether every linked port is Active and completely configured.",
	      s->subnet_up);
	gauge(p, "qosd_m_key_mismatches",
	      "Devices whose M_Key is not this subnet's; on a standby, ports.", s->key_mismatches);
	counter(p, "qosd_m_key_violations_total",
		"M_Key violations that devices reported (trap 256).",
		(double)s->m_key_violations);
	counter(p, "qosd_sweeps_total", "Completed sweeps.", (double)s->sweeps);
	counter(p, "qosd_scrub_passes_total",
		"Completed scrub passes, each of which reads what all devices hold.",
		(double)s->scrub.passes);
	counter(p, "qosd_scrub_reads_total", "Attributes read by scrubbing.",
		(double)s->scrub.reads);
	counter(p, "qosd_scrub_repaired_total",
		"Attributes that scrubbing found overwritten by somebody else.",
		(double)s->scrub.repaired);
	gauge(p, "qosd_sweep_in_progress", "Whether a sweep is under way.", s->sweeping);
	gauge(p, "qosd_sweep_last_duration_seconds", "Duration of the last sweep.",
	      s->last_sweep_seconds);
	gauge(p, "qosd_sweep_last_smps", "SMPs of the last sweep, without those of discovery.",
	      (double)s->last_smps);
	gauge(p, "qosd_sweep_last_sets", "SubnSet SMPs of the last sweep.", (double)s->last_sets);
	gauge(p, "qosd_sweep_last_silent_devices", "Devices that did not answer in the last sweep.",
	      s->failed_devices);
	gauge(p, "qosd_sweep_last_refused_sets", "Sets that devices refused in the last sweep.",
	      s->sets_failed);
	gauge(p, "qosd_values_refused",
	      "Values that devices refuse and that are not sent to them again.",
	      (double)s->refused);
	counter(p, "qosd_discovery_smps_total", "SMPs of discovery.", (double)s->discovery_smps);
	counter(p, "qosd_discovery_smps_lost_total", "SMPs of discovery that were lost.",
		(double)s->discovery_lost);
	gauge(p, "qosd_multicast_trees", "Multicast trees, one for each multicast LID.", s->trees);
	counter(p, "qosd_multicast_trees_made_total", "Multicast trees computed, first or anew.",
		(double)s->trees_made);
	gauge(p, "qosd_sweep_last_trees_made",
	      "Multicast trees computed anew after the last sweep.",
	      s->trees_remade);
	gauge(p, "qosd_sweep_last_trees_kept",
	      "Multicast trees that the last sweep left unchanged.",
	      s->trees_kept);
}

/* The attribute's name, or 0x00nn. */
static const char *attribute(const char *name, unsigned id, char hex[8])
{
	snprintf(hex, 8, "0x%04x", id & 0xffff);
	return name ? name : hex;
}

static void put_flaps(struct prom *p, const struct sm *sm)
{
	unsigned flap = 0, held = 0;
	struct sm_flap x;

	for (uint32_t i = 0; sm_flap_at(sm, i, &x); i++) {
		flap++;
		held += x.is == FLAP_HELD;
	}
	gauge(p, "qosd_fabric_links_flapping", "Links that go down and up repeatedly.", flap);
	gauge(p, "qosd_fabric_links_held", "Flapping links that no route uses at present.", held);
}

static void put_withdrawn(struct prom *p, const struct sm_status *s)
{
	gauge(p, "qosd_fabric_places_drained", "Switches and links that are drained.",
	      (double)withdrawals_count(s->withdrawals, WITHDRAWAL_DRAINED));
	gauge(p, "qosd_fabric_places_isolated", "Ports, hosts and switches that are isolated.",
	      (double)withdrawals_count(s->withdrawals, WITHDRAWAL_ISOLATED));
}

static void put_mads(struct prom *p, const struct mad_counts *m, uint64_t traps_dropped)
{
	char hex[8];

	prom_metric(p, "qosd_smps_sent_total", PROM_COUNTER,
		    "SMPs sent, by attribute and method, without those of discovery.");
	for (unsigned a = 0; a < 0x40; a++) {
		const char *name = attribute(attr_name(a), a, hex);

		if (m->gets[a])
			prom_sample(p, (double)m->gets[a], "attribute", name, "method", "get", NULL);
		if (m->sets[a])
			prom_sample(p, (double)m->sets[a], "attribute", name, "method", "set", NULL);
	}
	counter(p, "qosd_smp_timeouts_total", "SMPs that no device answered after all retries.",
		(double)m->timeouts);
	counter(p, "qosd_smp_retries_total", "SMPs sent again.", (double)m->retries);
	counter(p, "qosd_smps_lost_total",
		"SMPs lost on the way to a device or back, without those of discovery.",
		(double)m->lost);
	gauge(p, "qosd_smp_window", "SMPs that may be outstanding at present.", m->window);
	gauge(p, "qosd_smp_window_max", "SMPs that may be outstanding according to the settings.",
	      m->window_most);
	if (m->window_cut_to)
		gauge(p, "qosd_smp_window_cut_to",
		      "The smallest window after a loss.", m->window_cut_to);
	counter(p, "qosd_smp_errors_total", "SMPs answered with an error status.",
		(double)m->bad_status);
	counter(p, "qosd_send_errors_total",
		"MADs that could not be sent.", (double)m->send_errors);
	counter(p, "qosd_traps_received_total", "Traps received.", (double)m->traps);
	counter(p, "qosd_traps_suppressed_total",
		"Traps not processed because their source sent too many.",
		(double)traps_dropped);
	counter(p, "qosd_mads_unknown_total",
		"MADs received for a class or method that qosd does not serve.",
		(double)m->unknown);
	counter(p, "qosd_mads_malformed_total", "Malformed MADs received.",
		(double)m->malformed);
	counter(p, "qosd_mads_unsolicited_total", "Answers received that match no request.",
		(double)m->unasked);
	prom_metric(p, "qosd_mads_dropped_total", PROM_COUNTER,
		    "MADs dropped because too many of their sender were waiting, by class.");
	prom_sample(p, (double)m->dropped_smps, "class", "smp", NULL);
	prom_sample(p, (double)m->dropped_rmpp, "class", "rmpp", NULL);
	prom_sample(p, (double)m->dropped_requests, "class", "sa", NULL);
	counter(p, "qosd_rmpp_answers_total", "RMPP answers sent.", (double)m->rmpp_streams);
	counter(p, "qosd_rmpp_segments_total", "RMPP segments sent.", (double)m->rmpp_segments);
	counter(p, "qosd_rmpp_segments_repeated_total", "RMPP segments sent again.",
		(double)m->rmpp_repeated);
	counter(p, "qosd_rmpp_aborted_total", "RMPP answers that were aborted.",
		(double)m->rmpp_aborted);
	counter(p, "qosd_rmpp_refused_total",
		"RMPP answers refused because too many were under way.",
		(double)m->rmpp_refused);
}

/* Only the devices that lost most, to bound the number of samples. */
static void put_lossy(struct prom *p, const struct sm *sm, const struct fabric *f)
{
	struct sm_lossy x[CTL_LOSSY_MAX];
	unsigned n = sm_lossy(sm, x, ARRAY_SIZE(x));
	char name[FABRIC_NAME_MAX], guid[20];

	prom_metric(p, "qosd_port_smps_lost", PROM_GAUGE,
		    "SMPs lost on the present path to an end port, for the ports that lost "
		    "most.");
	for (unsigned i = 0; i < n; i++) {
		snprintf(guid, sizeof(guid), "0x%016llx",
			 (unsigned long long)f->ports[x[i].port].guid);
		prom_sample(p, x[i].lost, "guid", guid, "port",
			    fabric_port_name(f, x[i].port, name, sizeof(name)), NULL);
	}
}

/* --- subnet administrator --- */

static const char *sa_attribute(unsigned slot, json_t **text)
{
	*text = json_sa_attr(sa_attr_of_slot(slot));
	return json_string_value(*text);
}

/* Makes one bucket per power of four: eight slots of the sums each, four in the first. */
static void put_times(struct prom *p, const char *name, const struct sa_attr_stats *a)
{
	uint64_t sum = 0;
	char le[32];

	for (unsigned slot = 0; slot < SA_TIME_SLOTS - 1; slot++) {
		sum += a->time[slot];
		if (slot % 8 != 3)
			continue;
		snprintf(le, sizeof(le), "%.9g", (double)sa_time_slot_end(slot) * US);
		prom_sample_of(p, "_bucket", (double)sum, "attribute", name, "le", le, NULL);
	}
	prom_sample_of(p, "_bucket", (double)a->timed, "attribute", name, "le", "+Inf", NULL);
	prom_sample_of(p, "_sum", (double)a->total_us / 1e6, "attribute", name, NULL);
	prom_sample_of(p, "_count", (double)a->timed, "attribute", name, NULL);
}

static void put_sa(struct prom *p, const struct sa_stats *sa)
{
	json_t *text;

	counter(p, "qosd_sa_requests_total", "Requests to the subnet administrator.",
		(double)sa->requests);
	counter(p, "qosd_sa_dropped_total", "Requests that get no answer.",
		(double)sa->dropped);
	counter(p, "qosd_sa_abandoned_total",
		"Requests whose sender left before the answer was ready.",
		(double)sa->abandoned);
	prom_metric(p, "qosd_sa_answers_total", PROM_COUNTER, "Answers, by attribute and status.");
	for (unsigned a = 0; a < ARRAY_SIZE(sa->by_attr); a++)
		for (unsigned i = 0; i < SA_STATUS_SLOTS; i++)
			if (sa->by_attr[a].status[i]) {
				prom_sample(p, (double)sa->by_attr[a].status[i], "attribute",
					    sa_attribute(a, &text), "status", sa_status_name(i), NULL);
				json_decref(text);
			}
	prom_metric(p, "qosd_sa_answer_seconds", PROM_HISTOGRAM,
		    "Time from arrival to answer; of PathRecord requests, one in eight is "
		    "timed.");
	for (unsigned a = 0; a < ARRAY_SIZE(sa->by_attr); a++)
		if (sa->by_attr[a].timed) {
			put_times(p, sa_attribute(a, &text), &sa->by_attr[a]);
			json_decref(text);
		}
}

static void put_holdings(struct prom *p, const struct holdings *h)
{
	prom_metric(p, "qosd_registrations", PROM_GAUGE, "Registrations that ports hold, by kind.");
	for (unsigned k = 0; k < HOLD_KINDS; k++)
		prom_sample(p, holdings_total(h, k), "kind", hold_kind_name(k), NULL);
	prom_metric(p, "qosd_registrations_max", PROM_GAUGE,
		    "Registrations that all ports together may hold, by kind.");
	for (unsigned k = 0; k < HOLD_KINDS; k++)
		prom_sample(p, holdings_bound(h, k).max, "kind", hold_kind_name(k), NULL);
	prom_metric(p, "qosd_registrations_refused_total", PROM_COUNTER,
		    "Registrations refused because a limit was reached, by kind.");
	for (unsigned k = 0; k < HOLD_KINDS; k++)
		prom_sample(p, (double)holdings_refused(h, k), "kind", hold_kind_name(k), NULL);
}

static void put_registered(struct prom *p, const struct sa *sa)
{
	struct mcast_usage u = mcast_usage(sa->mcast);
	size_t members = 0;

	for (size_t i = 0; i < mcast_count(sa->mcast); i++)
		members += mcast_at(sa->mcast, i)->members.n;
	gauge(p, "qosd_multicast_groups", "Multicast groups.", (double)mcast_count(sa->mcast));
	gauge(p, "qosd_multicast_members",
	      "Memberships of ports in multicast groups.", (double)members);
	gauge(p, "qosd_multicast_mlids", "Multicast LIDs in use.", u.mlids);
	gauge(p, "qosd_multicast_mlids_max",
	      "Multicast LIDs that every switch can forward.", u.limit);
	gauge(p, "qosd_multicast_groups_sharing",
	      "Groups that share the multicast LID of another group.", u.sharing);
	counter(p, "qosd_multicast_groups_refused_total",
		"Groups refused because no multicast LID was free.",
		(double)u.refused);
	if (sa->services)
		gauge(p, "qosd_services", "Registered services.",
		      (double)services_count(sa->services));
	if (sa->subscriptions)
		gauge(p, "qosd_subscriptions",
		      "Subscriptions to events of the fabric (InformInfo).",
		      (double)subscriptions_count(sa->subscriptions));
	if (sa->holdings)
		put_holdings(p, sa->holdings);
}

/* --- policy --- */

static void put_sls(struct prom *p, const struct feasibility *v)
{
	prom_metric(p, "qosd_sl_share_ratio", PROM_GAUGE,
		    "Share of the link that the SL gets while programs use all SLs, with or without a "
		    "level, on the kind of link where it gets least.");
	for (unsigned sl = 0; sl < IB_SL_COUNT; sl++) {
		uint32_t worst = v->sls[sl].worst;
		char text[4];

		snprintf(text, sizeof(text), "%u", sl);
		if (worst != UINT32_MAX)
			prom_sample(p, v->kinds[worst].sls[sl].share, "sl", text, NULL);
	}
}

static void put_levels(struct prom *p, const struct subnet_state *s)
{
	const struct feasibility *v = s->plan->feasible;
	const struct policy *policy = s->policy->p;

	if (!v)
		return;
	prom_metric(p, "qosd_level_guaranteed_bytes_per_second", PROM_GAUGE,
		    "What the level gets under full load on the kind of link where it gets "
		    "least.");
	for (size_t i = 0; i < policy->n_levels; i++) {
		uint32_t worst = v->levels[i].worst;

		if (worst != UINT32_MAX && !v->kinds[worst].levels[i].unknown)
			prom_sample(p, v->kinds[worst].levels[i].guaranteed * 1e9 / 8, "level",
				    policy->levels[i].name, NULL);
	}
	prom_metric(p, "qosd_level_unreachable_pairs", PROM_GAUGE,
		    "Ordered pairs of ports that the SL of the level does not connect.");
	for (size_t i = 0; i < policy->n_levels; i++)
		prom_sample(p, (double)v->levels[i].unreachable, "level", policy->levels[i].name, NULL);
	put_sls(p, v);
}

static void put_policy(struct prom *p, const struct ctl_env *env, const struct sm_status *sm)
{
	const struct shared_policy *x = sm->policy;
	static const struct findings none;
	const struct findings *f = sm->findings ? sm->findings : &none;
	char checksum[17];
	int64_t left;

	snprintf(checksum, sizeof(checksum), "%016llx", (unsigned long long)x->p->checksum);
	prom_metric(p, "qosd_policy_info", PROM_GAUGE, "The policy in force; always 1.");
	prom_sample(p, 1, "file", x->p->file, "checksum", checksum, NULL);
	if (x->loaded_us)
		gauge(p, "qosd_policy_loaded_timestamp_seconds", "When the policy was loaded.",
		      (double)x->loaded_us * US);
	gauge(p, "qosd_policy_levels", "QoS levels of the policy.", (double)x->p->n_levels);
	gauge(p, "qosd_policy_rules", "Match rules of the policy.", (double)x->p->n_rules);
	gauge(p, "qosd_partitions", "Partitions, dynamic ones included.",
	      (double)x->p->n_partitions);
	prom_metric(p, "qosd_policy_findings", PROM_GAUGE,
		    "Findings about the policy and the fabric, by severity.");
	for (unsigned s = SEV_ERROR; s <= SEV_INFO; s++)
		prom_sample(p, (double)f->count[s], "severity", severity_name((enum severity)s), NULL);
	gauge(p, "qosd_policy_rejected",
	      "Whether the last policy file was refused.", sm->rejected != NULL);
	if (env->policies)
		gauge(p, "qosd_policy_on_trial", "Whether the policy in force is on trial.",
		      policies_on_trial(env->policies, &left));
	if (env->dynamic) {
		const struct dynamic_partitions *r = env->dynamic(env->arg);

		gauge(p, "qosd_partitions_dynamic_entries",
		      "Dynamic partitions, and partitions of the policy with dynamic members.", (double)r->v.n);
		gauge(p, "qosd_partitions_dynamic_members", "Dynamic members of partitions.",
		      (double)r->n_members);
	}
}

/* --- the process --- */

static double count_descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	const struct dirent *e;
	unsigned n = 0;

	while (d && (e = readdir(d)))
		n += e->d_name[0] != '.';
	if (d)
		closedir(d);
	return n ? n - 1 : 0;		/* the descriptor of the folder itself */
}

static void put_process(struct prom *p)
{
	FILE *f = fopen("/proc/self/statm", "re");
	unsigned long long size, resident;
	struct rusage u;

	if (f && fscanf(f, "%llu %llu", &size, &resident) == 2)
		gauge(p, "process_resident_memory_bytes", "Resident memory.",
		      (double)resident * (double)sysconf(_SC_PAGESIZE));
	if (f)
		fclose(f);
	gauge(p, "process_open_fds", "Open file descriptors.", count_descriptors());
	if (getrusage(RUSAGE_SELF, &u) == 0)
		counter(p, "process_cpu_seconds_total", "User and system CPU time.",
			(double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
			(double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * US);
}

static void put_daemon(struct prom *p, const struct ctl_env *env)
{
	struct store_failures f;

	prom_metric(p, "qosd_info", PROM_GAUGE, "The version of the daemon; always 1.");
	prom_sample(p, 1, "version", env->version, NULL);
	if (env->events)
		counter(p, "qosd_events_total", "Events recorded since the start.",
			(double)events_next_id(env->events) - 1);
	if (env->store) {
		f = store_failures(env->store);
		counter(p, "qosd_store_failures_total", "Failed writes of state files.",
			(double)f.all);
		gauge(p, "qosd_store_failing_files", "State files whose last write failed.",
		      (double)f.now);
	}
	put_process(p);
}

void metrics_print(const struct ctl_env *env, const struct ctl_view *v, struct buf *out)
{
	const struct sa_stats *sums = sa_sums(env);
	struct prom p = { .out = out };

	put_daemon(&p, env);
	put_sm(&p, &v->sm);
	if (env->sm)
		put_flaps(&p, env->sm);
	if (v->sm.withdrawals)
		put_withdrawn(&p, &v->sm);
	if (v->mad)
		put_mads(&p, v->mad, v->sm.traps_dropped);
	if (v->state && env->sm)
		put_lossy(&p, env->sm, v->state->f);
	if (v->state) {
		put_fabric(&p, v->state);
		put_routes(&p, v->state->plan);
	}
	if (v->state && env->missing)
		put_missing(&p, env->missing);
	if (v->state && env->topology && env->topology->check)
		put_topology(&p, env->topology->check);
	if (v->state && v->gauges) {
		gauges_refresh(v->gauges, v->state);
		if (gauges_last(v->gauges))
			put_gauged(&p, gauges_last(v->gauges), v->state);
	}
	if (v->sm.policy)
		put_policy(&p, env, &v->sm);
	if (v->state)
		put_levels(&p, v->state);
	if (env->perf && perf_last(env->perf)->when_us)
		put_counters(&p, perf_last(env->perf));
	if (env->errors && v->state)
		metrics_errors(&p, env->errors, v->state, clock_mono_us());
	if (env->optics && v->state)
		metrics_optics(&p, env->optics, v->state);
	if (env->outages)
		metrics_outages(&p, env->outages, v->sm.withdrawals, clock_mono_us());
	if (env->sa && env->sa->mcast)
		put_registered(&p, env->sa);
	if (sums)
		put_sa(&p, sums);
}

void cmd_metrics(const struct ctl_call *c, struct reply *r)
{
	struct buf out = { 0 };

	metrics_print(c->env, c->view, &out);
	reply_result(r, json_pack("{s:o}", "text", json_text(out.s)));
	buf_free(&out);
}
