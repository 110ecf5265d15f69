/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Judges the subnet's health for `health`; health.h has the contracts. */
#include "ctl/commands/health.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/umad_sm.h>

#include "ctl/commands/cmd_missing.h"
#include "ctl/commands/cmd_topology.h"
#include "ctl/commands/health_errors.h"
#include "ctl/commands/health_listening.h"
#include "ctl/commands/health_optics.h"
#include "ctl/commands/health_outages.h"
#include "ctl/commands/health_withdrawn.h"
#include "events/topology_events.h"
#include "lib/base/clock.h"
#include "lib/iba/units.h"
#include "plan/feasible/feasible.h"
#include "plan/routes/choose_engine.h"
#include "plan/routes/fabric_shape.h"
#include "sa/registry/groups.h"
#include "sa/registry/holdings.h"
#include "sa/registry/subscriptions.h"
#include "sm/sweep/want.h"

/* A BUSY counts as current for so many windows of the SA's sums. */
#define BUSY_WINDOWS (60 / SA_CLIENTS_SECONDS)

/* Problems of one kind: the first ones are listed one by one. */
struct many {
	struct health *h;
	enum severity severity;
	const char *kind, *action, *what;	/* "%zu more <what>" */
	size_t n;
};

__attribute__((format(printf, 5, 6)))
static void add(struct health *h, enum severity severity, const char *kind, const char *action,
		const char *fmt, ...)
{
	struct buf text = { 0 };
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(&text, fmt, ap);
	va_end(ap);
	*vec_push(&h->v) = (struct problem){ severity, kind, action, text.s };
}

__attribute__((format(printf, 2, 3)))
static void add_one(struct many *m, const char *fmt, ...)
{
	struct buf text = { 0 };
	va_list ap;

	if (m->n++ >= HEALTH_EACH)
		return;
	va_start(ap, fmt);
	buf_vprintf(&text, fmt, ap);
	va_end(ap);
	*vec_push(&m->h->v) = (struct problem){ m->severity, m->kind, m->action, text.s };
}

void health_rest(struct health *h, enum severity severity, const char *kind, const char *action, size_t n,
		 const char *what)
{
	if (n > HEALTH_EACH)
		add(h, severity, kind, action, "%zu more %s", n - HEALTH_EACH, what);
}

static void add_rest(struct many *m)
{
	health_rest(m->h, m->severity, m->kind, m->action, m->n, m->what);
}

/* --- the master --- */

static void judge_role(const struct health_input *in, struct health *h)
{
	const struct sm_status *sm = in->sm;

	if (sm->state == SM_NOT_ACTIVE)
		add(h, SEV_ERROR, "not-active", "run 'qosd-ctl sweep' to make it active again",
		    sm->master_guid ? "the master disabled this subnet manager" :
		    "the master disabled this subnet manager and is gone: unless there is another standby, "
		    "no subnet manager is left");
	else if (sm->state == SM_STANDBY && !sm->master_guid)
		add(h, SEV_ERROR, "no-master", "check the other subnet managers of the subnet",
		    "this subnet manager is standby and knows of no master");
	else if (sm->state == SM_DISCOVERING)
		add(h, sm->sweeps || !sm->sweeping ? SEV_ERROR : SEV_WARNING, "no-master",
		    "wait for the end of the sweep; if it does not end, see 'qosd-ctl status' for the "
		    "latest log lines", "this subnet manager is not master yet (step: %s)",
		    sm->phase ? sm->phase : "idle");
	for (size_t i = 0; sm->state == SM_MASTER && i < in->n_others; i++)
		if (in->others[i].state == SM_NOT_ACTIVE)
			add(h, SEV_WARNING, "standby-not-active",
			    "run 'qosd-ctl sweep' there to make it active again, or restart it",
			    "the subnet manager 0x%016" PRIx64 ", priority %u, is not active: it will not "
			    "take over if this one fails", in->others[i].guid, in->others[i].priority);
		else if (in->others[i].state == SM_MASTER)
			add(h, SEV_ERROR, "two-masters",
			    "give all subnet managers of the subnet the same SM_Key and M_Key, and stop "
			    "the one that is not wanted",
			    "0x%016" PRIx64 " is master as well, with priority %u", in->others[i].guid,
			    in->others[i].priority);
}

static void judge_keys(const struct health_input *in, struct health *h)
{
	const struct sm_status *sm = in->sm;

	if (sm->state == SM_MASTER && sm->no_m_key)
		add(h, SEV_INFO, "no-m-key", "set the same m-key and a secret sm-key in qosd.yaml of all "
		    "subnet managers; qosd-security(7) explains what each key prevents",
		    "without an M_Key, any host can configure any device%s", sm->sm_key_known ?
		    ", and the SM_Key is the well-known default" : "");
	if (sm->state == SM_MASTER && sm->m_key_readable)
		add(h, SEV_INFO, "m-key-readable", "set m-key-protect in qosd.yaml to 1 or more",
		    "any host can read the M_Key of any device because devices do not protect it");
	if (sm->state != SM_MASTER && sm->key_mismatches)
		add(h, SEV_ERROR, "m-key", "set m-key in qosd.yaml to the master's",
		    "at least %" PRIu32 " ports have another M_Key than m-key of qosd.yaml: this standby "
		    "could not take them over", sm->key_mismatches);
}

static void judge_up(const struct health_input *in, struct health *h)
{
	const struct sm_status *sm = in->sm;

	if (sm->state != SM_MASTER || sm->subnet_up)
		return;
	if (!in->state)
		add(h, SEV_WARNING, "not-up", "wait for the end of the first sweep",
		    "the subnet is being brought up (%s)", sm->phase ? sm->phase : "idle");
	else
		add(h, SEV_ERROR, "not-up", "see the other entries; the next sweep tries again",
		    "the last sweep was incomplete: %" PRIu32 " of %" PRIu32 " linked ports are Active, %" PRIu32 " devices "
		    "do not answer, %" PRIu32 " Sets were refused",
		    sm->ports_active, sm->ports_linked, sm->failed_devices, sm->sets_failed);
}

/* --- devices and links --- */

/* True if the device permanently refuses Sets of the attribute. */
static bool refuses(const struct health_input *in, uint32_t node, unsigned attr)
{
	for (size_t i = 0; i < in->n_refused; i++)
		if (in->refused[i].node == node && in->refused[i].kind.attr == attr)
			return true;
	return false;
}

static void judge_refusals(const struct health_input *in, struct health *h)
{
	struct many refusals = { h, SEV_ERROR, "device-refuses",
				 "update the firmware, or remove from the policy what the device cannot "
				 "do; qosd tries again when the device restarts, and on 'qosd-ctl sweep'",
				 "attributes of devices", 0 };
	struct buf text = { 0 };

	for (size_t i = 0; i < in->n_refused; i++) {
		text.n = 0;
		sm_refused_text(in->state->f, &in->refused[i], &text);
		add_one(&refusals, "%s", text.s);
	}
	add_rest(&refusals);
	buf_free(&text);
}

static void judge_devices(const struct health_input *in, struct health *h)
{
	const struct subnet_state *s = in->state;
	struct many by_kind[] = {
		[FAULT_SILENT] = { h, SEV_ERROR, "device-silent",
			"check the device and its cable, then run 'qosd-ctl sweep'", "devices", 0 },
		[FAULT_KEY_MISMATCH] = { h, SEV_ERROR, "device-key-mismatch",
			"stop the subnet manager that set the key, then reset the device or wait until the "
			"key's lease expires; or set m-key in qosd.yaml to that key", "devices", 0 },
		[FAULT_KEEPS] = { h, SEV_WARNING, "device-keeps",
			"'qosd-ctl sl2vl' shows the device's values; update the firmware, or change the "
			"policy so that it does not need other values", "devices", 0 },
	};
	static const char *const says[] = {
		[FAULT_SILENT] = "does not answer", [FAULT_KEEPS] = "keeps other values than qosd set",
		[FAULT_KEY_MISMATCH] = "has an unknown M_Key and is not configured",
	};
	char name[FABRIC_NAME_MAX];

	for (uint32_t i = 0; i < s->n_faults; i++) {
		const struct device_fault *x = &s->faults[i];

		/* reported below, from current knowledge */
		if (x->kind == FAULT_REFUSES || (x->kind == FAULT_KEEPS &&
						 refuses(in, x->node, UMAD_SM_ATTR_SLVL_TABLE)))
			continue;
		fabric_node_name(s->f, x->node, name, sizeof(name));
		if (x->n)
			add_one(&by_kind[x->kind], "%s %s (%" PRIu32 ")", name, says[x->kind], x->n);
		else
			add_one(&by_kind[x->kind], "%s %s", name, says[x->kind]);
	}
	for (unsigned k = 0; k < ARRAY_SIZE(by_kind); k++)
		if (by_kind[k].h)
			add_rest(&by_kind[k]);
	judge_refusals(in, h);
	if (in->sm->refused)
		add(h, SEV_INFO, "values-kept", "none needed: qosd remembers these values and does not "
		    "write them again",
		    "devices keep %zu attribute values that differ from what qosd set", in->sm->refused);
}

/* Reports devices that discovery excludes; a switch that several links lead to is reported once. */
static void judge_excluded(const struct health_input *in, struct health *h)
{
	struct many left = { h, SEV_ERROR, "device-excluded",
			     "update the firmware, or replace the device; qosd readmits it as soon as its "
			     "answers are correct", "devices are excluded", 0 };
	struct many twins = { h, SEV_ERROR, "duplicate-guid",
			      "give one of the two devices another GUID, for example by a firmware update, "
			      "or remove it", "devices have the GUID of another device", 0 };
	struct many switches = { h, SEV_WARNING, "device-lies",
				 "check the firmware of the device; each light sweep queries it again",
				 "switches claim to be adapters", 0 };
	uint32_t *more = xcalloc(in->n_left + 1, sizeof(*more));
	struct map64 first;	/* GUID -> index in left */

	map64_init(&first, (uint32_t)in->n_left);
	for (size_t i = 0; i < in->n_left; i++) {
		const struct sm_exclusion *x = &in->left[i];
		uint64_t guid = x->known_as ? x->known_as : x->guid;
		uint32_t place = guid ? map64_get(&first, guid) : MAP64_NONE;

		if (place != MAP64_NONE)
			more[place]++;
		else if (guid)
			map64_put(&first, guid, (uint32_t)i);
		more[i] = place == MAP64_NONE ? 0 : MAP64_NONE;
	}
	for (size_t i = 0; i < in->n_left; i++)
		if (in->left[i].known_as && more[i] != MAP64_NONE)
			add_one(&twins, "%s", in->left[i].text.s);
		else if (in->left[i].is_switch)
			add_one(&switches, "%s", in->left[i].text.s);
		else if (!more[i])
			add_one(&left, "%s: it is excluded", in->left[i].text.s);
		else if (more[i] != MAP64_NONE)
			add_one(&left, "%s: it is excluded, as well as at %" PRIu32 " more of its links",
				in->left[i].text.s, more[i]);
	add_rest(&left);
	add_rest(&twins);
	add_rest(&switches);
	map64_free(&first);
	free(more);
}

static bool is_excluded(const struct health_input *in, uint32_t port)
{
	for (size_t i = 0; i < in->n_left; i++)
		if (in->left[i].near == port)
			return true;
	return false;
}

static void judge_far_ends(const struct health_input *in, struct health *h)
{
	const struct subnet_state *s = in->state;
	size_t left = 0;
	struct many silent = { h, SEV_WARNING, "no-far-end",
			       "check the device at the other end of the cable: its subnet management "
			       "agent is not running, or it has an unknown M_Key with protection bits 2 or "
			       "3", "links", 0 };
	char name[FABRIC_NAME_MAX];

	for (uint32_t i = 0; i < s->f->n_ports; i++) {
		const struct fabric_port *p = &s->f->ports[i];

		if (!p->present || !p->num || p->state < IB_PORT_INIT_S || p->peer != FABRIC_NONE || p->isolated)
			continue;
		if (is_excluded(in, i))
			left++;
		else
			add_one(&silent, "%s has a link, but its far end does not answer",
				fabric_port_name(s->f, i, name, sizeof(name)));
	}
	add_rest(&silent);
	if (s->f->unanswered > silent.n + left)
		add(h, SEV_WARNING, "no-far-end", "the log names the switches",
		    "%zu switch ports do not answer", s->f->unanswered - silent.n - left);
}

/*
 * True if the port cannot become Active because its device, or the one at the other end, refuses
 * Sets, which is reported elsewhere.
 */
static bool port_is_refused(const struct health_input *in, uint32_t port)
{
	const struct fabric *f = in->state->f;

	return in->n_refused && (refuses(in, f->ports[port].node, UMAD_SM_ATTR_PORT_INFO) ||
				 refuses(in, f->ports[f->ports[port].peer].node,
					 UMAD_SM_ATTR_PORT_INFO));
}

static void judge_ports(const struct health_input *in, struct health *h)
{
	const struct subnet_state *s = in->state;
	static const char *const states[] = { "in no state", "Down", "Init", "Armed", "Active" };
	struct many idle = { h, SEV_ERROR, "port-not-active",
			     "look for refused Sets in the log; 'qosd-ctl sweep' tries again", "ports", 0 };
	struct many twice = { h, SEV_ERROR, "duplicate-guid",
			      "give one of the two ports another GUID, or remove it: it is "
			      "unreachable", "ports",
			      0 };
	struct many nameless = { h, SEV_ERROR, "no-lid",
				 "lower lmc in qosd.yaml: a subnet has 49151 LIDs", "ports", 0 };
	char name[FABRIC_NAME_MAX], other[FABRIC_NAME_MAX];

	for (uint32_t i = 0; i < s->f->n_ports; i++) {
		const struct fabric_port *p = &s->f->ports[i];
		uint32_t first;

		fabric_port_name(s->f, i, name, sizeof(name));
		if (port_is_duplicate(s->f, i, &first))
			add_one(&twice, "%s has the port GUID of %s", name,
				fabric_port_name(s->f, first, other, sizeof(other)));
		else if (port_is_end(s->f, i) && p->state >= IB_PORT_INIT_S && !s->plan->lid[i])
			add_one(&nameless, "%s has no LID", name);
		if (port_is_linked(s->f, i) && p->state < IB_PORT_ACTIVE_S && !port_is_refused(in, i))
			add_one(&idle, "%s is %s", name, states[p->state]);
	}
	add_rest(&idle);
	add_rest(&twice);
	add_rest(&nameless);
}

static void judge_links(const struct subnet_state *s, struct health *h)
{
	const struct feasibility *v = s->plan->feasible;
	struct many slow = { h, SEV_WARNING, "link-deviates",
			     "check the cable and both connectors, then reset the link so that it trains "
			     "again",
			     "links", 0 };
	char a[FABRIC_NAME_MAX], b[FABRIC_NAME_MAX];

	for (uint32_t i = 0; v && i < v->n_deviations; i++) {
		uint32_t port = v->deviations[i].port;

		add_one(&slow, "link %s to %s: %s", fabric_port_name(s->f, port, a, sizeof(a)),
			fabric_port_name(s->f, s->f->ports[port].peer, b, sizeof(b)),
			v->deviations[i].why);
	}
	add_rest(&slow);
}

/* what: noun phrase, as in "4 routes to aggregation nodes do not arrive" */
static void add_lost(const struct subnet_state *s, struct health *h, enum severity severity,
		     const char *kind, const char *action, const struct route_lost *l,
		     const char *what)
{
	char a[FABRIC_NAME_MAX], b[FABRIC_NAME_MAX];

	if (l->n)
		add(h, severity, kind, action, "%" PRIu64 " route%s %s; for example %s to %s", l->n,
		    l->n == 1 ? "" : "s", what, fabric_port_name(s->f, l->src, a, sizeof(a)),
		    fabric_port_name(s->f, l->dst, b, sizeof(b)));
}

/*
 * Routes that do not arrive are an error if hosts need them or the subnet manager does: traps,
 * their answers and counter reads go by LID, whereas SMPs use directed routes.
 */
static void judge_lost_routes(const struct health_input *in, struct health *h)
{
	const struct subnet_state *s = in->state;
	const struct route_report *r = &s->plan->report;
	uint32_t src = r->to_hosts.n ? r->to_hosts.src : r->unreachable_src;
	uint32_t dst = r->to_hosts.n ? r->to_hosts.dst : r->unreachable_dst;
	char a[FABRIC_NAME_MAX], b[FABRIC_NAME_MAX];
	struct buf isolated = { 0 };

	/*
	 * other lost routes are reported elsewhere, as lft-too-small, routes-cut or device-refuses
	 */
	if (r->to_hosts.n > s->plan->cut_hosts || r->loops) {
		put_isolated_near(in, src, dst, &isolated);
		add(h, SEV_ERROR, "unreachable", "look for links that are down; 'qosd-ctl explain "
		    "--why-not' explains one pair", "%" PRIu64 " of %" PRIu64 " routes from a switch to a "
		    "LID do not arrive, %" PRIu64 " of them to hosts, and %" PRIu64 " of them go in a "
		    "cycle; for example %s to %s%s", r->unreachable, r->pairs, r->to_hosts.n, r->loops,
		    fabric_port_name(s->f, src, a, sizeof(a)), fabric_port_name(s->f, dst, b, sizeof(b)),
		    isolated.n ? isolated.s : "");
		buf_free(&isolated);
	}
	if (plan_tells_inner(s->plan))
		add_lost(s, h, SEV_ERROR, "unmanaged", "look for links that are down: traps of these "
			 "switches are lost, and their counters cannot be read", &r->of_sm,
			 "between switches and the subnet manager do not arrive");
	if (plan_tells_rest(s->plan)) {
		add_lost(s, h, SEV_WARNING, "aggregation-unreachable", "look for links that are down",
			 &r->to_aggregation, "from hosts to aggregation nodes do not arrive");
		add_lost(s, h, SEV_INFO, "switch-unreachable", "none needed unless tools on hosts query "
			 "switches by LID: these routes lead to port 0", &r->to_switches,
			 "from hosts to switches themselves do not arrive");
	}
	if (plan_tells_inner(s->plan))
		add_lost(s, h, SEV_INFO, "switch-unreachable", "none needed: hosts do not use these "
				"routes", &r->inner,
			 "from switches to other switches themselves do not arrive");
}

static void judge_routes(const struct health_input *in, struct health *h)
{
	const struct route_report *r = &in->state->plan->report;

	judge_lost_routes(in, h);
	if (r->credit_loop)
		add(h, SEV_WARNING, "credit-loop", "set routing in qosd.yaml to auto, or list updn first: "
		    "a cycle of packets that wait for each other can stop the fabric", "routes go in a cycle of channels: %s",
		    r->credit_loop_text.n ? r->credit_loop_text.s : "?");
}

/*
 * Reports whether the switches form a tree; the cost of missing links is known once routes were
 * measured.
 */
static void judge_shape(const struct health_input *in, struct health *h)
{
	static const char links[] = "look for links that are down; 'qosd-ctl events' shows since when";
	const struct plan *p = in->state->plan;
	enum shape_state state = plan_shape_state(p);
	struct buf text = { 0 };

	if (state == SHAPE_SOUND)
		return;
	plan_shape_text(p, &text);
	if (in->gauged && in->gauged->compared && in->gauged->g.connected) {
		buf_puts(&text, "; ");
		gauge_print_cost(&in->gauged->g, &in->gauged->plain, &text);
	}
	if (plan_choice(p)) {
		buf_puts(&text, "; ");
		plan_choice_text(p, &text);
	}
	if (state == SHAPE_NO_TREE) {
		add(h, SEV_INFO, "no-tree", "none needed if the fabric was built this way; 'qosd-ctl "
		    "routes --gauge' measures what routes without credit loops cost here", "%s", text.s);
	} else {
		put_isolated(in, &text);
		add(h, state == SHAPE_COSTS ? SEV_WARNING : SEV_INFO, "tree-damaged", links, "%s", text.s);
	}
	buf_free(&text);
}

static void judge_lmc(const struct subnet_state *s, struct health *h)
{
	struct many few = { h, SEV_WARNING, "lmc-refused",
			    "none needed if one path to these ports is enough; otherwise lower lmc in "
			    "qosd.yaml", "ports", 0 };
	const struct plan *p = s->plan;
	char name[FABRIC_NAME_MAX];

	for (uint32_t i = 0; p->lmc_in_force && i < s->f->n_ports; i++)
		if (p->lid[i] && p->lmc_in_force[i] != p->lmc[i])
			add_one(&few, "%s keeps an LMC of %u instead of %u",
				fabric_port_name(s->f, i, name, sizeof(name)), p->lmc_in_force[i],
				p->lmc[i]);
	add_rest(&few);
}

static void judge_unread_switches(const struct subnet_state *s, struct health *h)
{
	struct many errors = { h, SEV_ERROR, "no-switch-info",
			       "none needed unless it stays: each light sweep queries the switch again",
			       "switches", 0 };
	char name[FABRIC_NAME_MAX];

	for (uint32_t sw = 0; sw < s->f->n_switches; sw++)
		if (s->f->switches[sw].unread)
			add_one(&errors, "%s has not answered SwitchInfo: no route uses it until it does",
				fabric_node_name(s->f, s->f->switches[sw].node, name, sizeof(name)));
	add_rest(&errors);
}

static void judge_table_sizes(const struct subnet_state *s, struct health *h)
{
	const struct findings *x = &s->plan->short_findings;
	static const char action[] = "use fewer LIDs (lower lmc in qosd.yaml), or replace the switch";
	struct many errors = { h, SEV_ERROR, "lft-too-small", action, "errors", 0 };
	struct many warnings = { h, SEV_WARNING, "lft-too-small", action, "switches", 0 };

	for (size_t i = 0; i < x->n; i++)
		add_one(x->v[i].severity == SEV_ERROR ? &errors : &warnings, "%s", x->v[i].text);
	add_rest(&errors);
	add_rest(&warnings);
}

static void judge_discovery(const struct sm_status *sm, struct health *h)
{
	if (sm->discovery_filter == DISCO_FILTER_LEFT)
		add(h, SEV_WARNING, "discovery-unconfined", "report the system call as a bug in qosd: the "
		    "libraries of this machine need it", "discovery works only without its sandbox, which "
		    "refused system call %s", sm->discovery_call);
	else if (sm->discovery_filter == DISCO_FILTER_REFUSES)
		add(h, SEV_ERROR, "discovery-refused", "report the system call as a bug in qosd; the log "
		    "says which scan failed", "discovery failed after its sandbox refused system call %s",
		    sm->discovery_call);
}

/* Reports LIDs behind switches that do not accept routes to them. */
static void judge_fixed_routes(const struct subnet_state *s, struct health *h)
{
	struct many errors = { h, SEV_ERROR, "routes-cut", "replace the switches that device-refuses "
			       "and device-keeps name, or their firmware", "errors", 0 };

	for (size_t i = 0; i < s->plan->cut_findings.n; i++)
		add_one(&errors, "%s", s->plan->cut_findings.v[i].text);
	add_rest(&errors);
}

/* Reports what another subnet manager left behind. */
static void judge_inherited(const struct sm_status *sm, struct health *h)
{
	if (sm->adaptive_stays)
		add(h, SEV_ERROR, "adaptive-routing", "reboot the switches that the log names, or update "
		    "their firmware", "adaptive routing of another subnet manager stays on at %" PRIu32 " switches: "
		    "packets do not follow the routes of qosd", sm->adaptive_stays);
	if (sm->adaptive_ended)
		add(h, SEV_INFO, "adaptive-routing-ended", "none needed: packets follow the routes of qosd",
		    "adaptive routing of another subnet manager was switched off at %" PRIu32 " switches",
		    sm->adaptive_ended);
	if (sm->private_stays)
		add(h, SEV_ERROR, "private-tables", "reboot the switches that the log names, or update "
		    "their firmware", "private linear tables of another subnet manager stay on at %" PRIu32 " switches: "
		    "packets do not follow the routes of qosd", sm->private_stays);
	if (sm->private_ended)
		add(h, SEV_INFO, "private-tables-ended", "none needed: packets follow the routes of qosd",
		    "private linear tables of another subnet manager were switched off at %" PRIu32 " switches",
		    sm->private_ended);
	if (sm->tables_replaced)
		add(h, SEV_INFO, "tables-replaced", "none needed; or write a policy that manages the "
				"tables",
		    "SL2VL or arbitration tables of another subnet manager dropped or starved SL 0 on %" PRIu32 " devices "
		    "and were replaced", sm->tables_replaced);
}

/* Mask of the SLs that the policy's paths use. */
static unsigned policy_sls(const struct policy *p)
{
	unsigned sls = 0;

	for (size_t i = 0; i < p->n_levels; i++)
		sls |= 1u << p->levels[i].sl;
	return sls;
}

/*
 * Hosts should slow down on all SLs of the policy, or on none: otherwise some lose bandwidth to
 * others.
 */
static void judge_congestion(const struct health_input *in, struct health *h)
{
	const struct sm_congestion *c = &in->sm->congestion;
	unsigned told = policy_sls(in->state->plan->policy);
	unsigned spared = c->slowing && told & c->sls ? told & ~c->same_sls : 0;
	struct buf text = { 0 };

	if (sm_congestion_text(c, &text)) {
		if (spared) {
			buf_puts(&text, "; of the policy's SLs, not all ports slow down on ");
			sm_congestion_sls(spared, &text);
		}
		add(h, spared ? SEV_WARNING : SEV_INFO, "congestion-control",
		    "none needed if it is wanted: qosd leaves it as it is; otherwise switch it off with "
		    "the manager that set it up, or with ibccconfig, and run 'qosd-ctl sweep'", "%s", text.s);
	}
	if (c->hidden)
		add(h, SEV_INFO, "congestion-control-hidden", "check whether another manager set a CC_Key",
		    "%" PRIu32 " ports whose devices have congestion control do not answer queries for it: "
		    "a CC_Key may protect it", c->hidden);
	buf_free(&text);
}

/* True if a member of the group is on a switch that does not forward the group's MLID. */
static bool group_is_cut(const struct subnet_state *s, const struct mcast_group *g)
{
	for (size_t i = 0; i < g->members.n; i++) {
		uint32_t port = fabric_find_port(s->f, g->members.v[i].gid.port);
		uint32_t sw = port == FABRIC_NONE ? FABRIC_NONE : fabric_switch_of(s->f, port);

		if (sw != FABRIC_NONE &&
		    g->mlid - IB_LID_MCAST_FIRST >= (int)fabric_switch_mlids(s->f, sw))
			return true;
	}
	return false;
}

/*
 * Groups that existed before a switch with a smaller table arrived keep their MLIDs: their trees
 * avoid the switch.
 */
static void judge_mlids(const struct subnet_state *s, const struct mcast_db *db, struct health *h)
{
	unsigned least = mcast_mlids(s), groups = 0;
	uint16_t example = 0;

	for (unsigned i = least; db && i < IB_MLIDS; i++)
		for (const struct mcast_group *g = mcast_of_mlid(db, (uint16_t)(IB_LID_MCAST_FIRST + i)); g;
		     g = g->sharer) {
			if (!group_is_cut(s, g))
				continue;
			groups++;
			example = g->mlid;
		}
	if (groups)
		add(h, SEV_ERROR, "mft-too-small", "let the members leave and rejoin, so that the groups "
		    "get other LIDs; or replace the switch",
		    "%u multicast groups have LIDs that a member's switch cannot forward, so the member is "
		    "excluded; every switch forwards up to 0x%x; the highest of these LIDs is 0x%x", groups,
		    IB_LID_MCAST_FIRST + least - 1, example);
}

/* Appends the bounds that a port has reached; returns false if there are none. */
static bool is_at_bound(const struct holdings *all, const struct holding *h, struct buf *text)
{
	for (unsigned k = 0; k < HOLD_KINDS; k++) {
		struct hold_bound b = holdings_bound(all, k);

		/* a port beyond its MLIDs shares some, and requests under way end soon */
		if (k != HOLD_MLIDS && !hold_is_under_way(k) && h->n[k] && h->n[k] >= b.each)
			buf_printf(text, "%s%" PRIu32 " %s", text->n ? " and " : "", h->n[k],
				   hold_kind_text(k));
	}
	return text->n;
}

static void judge_holders(const struct health_input *in, const struct holdings *all,
			  struct health *h)
{
	struct many full = { h, SEV_WARNING, "port-at-bound", "see 'qosd-ctl holdings'; remove "
			     "registrations with 'qosd-ctl holdings remove PORT', or raise the limit for "
			     "each port in qosd.yaml", "ports", 0 };
	struct buf text = { 0 };
	char name[FABRIC_NAME_MAX];

	for (size_t i = 0; i < holdings_count(all); i++) {
		const struct holding *x = holdings_at(all, i);
		uint32_t port = in->state ? fabric_find_port(in->state->f, x->port) : FABRIC_NONE;

		text.n = 0;
		if (!is_at_bound(all, x, &text))
			continue;
		snprintf(name, sizeof(name), "0x%016" PRIx64, x->port);
		add_one(&full, "%s holds %s, the limit for one port: further ones are refused",
			port == FABRIC_NONE ? name :
			fabric_port_name(in->state->f, port, name, sizeof(name)), text.s);
	}
	add_rest(&full);
	buf_free(&text);
}

/*
 * Reports nearly full registries: their bounds keep clients from filling the memory, and requests
 * beyond are refused.
 */
static void judge_registries(const struct health_input *in, struct health *h)
{
	static const char action[] = "see 'qosd-ctl holdings'; remove registrations with 'qosd-ctl "
				     "holdings remove PORT', or raise the limit in qosd.yaml";
	const struct holdings *all = in->registered->holdings;

	for (unsigned k = 0; k < HOLD_KINDS; k++) {
		struct hold_bound b = holdings_bound(all, k);
		uint32_t n = holdings_total(all, k);

		/* large subnets always use up their MLIDs: groups share them then */
		if (k == HOLD_MLIDS || !b.max || n < b.max - b.max / 5)
			continue;
		if (n >= b.max)
			add(h, SEV_ERROR, "registry-full", action,
			    "ports hold %" PRIu32 " %s, the limit for all ports: further ones are refused",
			    n, hold_kind_text(k));
		else
			add(h, SEV_WARNING, "registry-filling", action,
			    "ports hold %" PRIu32 " %s; the limit for all ports is %" PRIu32, n,
			    hold_kind_text(k), b.max);
	}
	judge_holders(in, all, h);
}

#define SILENT_TOLD_US	(3600 * 1000000ll)	/* how long dropped subscribers are reported */

static void judge_subscribers(const struct health_input *in, struct health *h)
{
	struct many silent = { h, SEV_INFO, "subscriber-silent",
			       "check the subscribed program on the host: one that has exited does no "
			       "harm, one that hangs must subscribe again", "silent subscribers", 0 };
	struct silent_subscriber x;
	char name[FABRIC_NAME_MAX];

	for (size_t i = 0; subscriptions_silent_at(in->registered->subscriptions, &i, &x);) {
		uint32_t port = in->state ? fabric_find_port(in->state->f, x.guid) : FABRIC_NONE;
		int64_t us = in->now_us - x.since_us;

		if (x.dropped && us > SILENT_TOLD_US)
			continue;
		snprintf(name, sizeof(name), "0x%016" PRIx64, x.guid);
		add_one(&silent, "%s QP %" PRIu32 " has not answered Reports for %" PRId64 " s%s",
			port == FABRIC_NONE ? name :
			fabric_port_name(in->state->f, port, name, sizeof(name)), x.qpn,
			us > 0 ? us / 1000000 : 0,
			x.dropped ? ", and was unsubscribed" : "");
	}
	add_rest(&silent);
}

/* Once MLIDs are used up, groups share them, and hosts receive packets of other groups. */
static void judge_mlids_in_use(const struct health_input *in, struct health *h)
{
	struct mcast_usage u = in->mcast ? mcast_usage(in->mcast) : (struct mcast_usage){ 0 };
	const struct holdings *all = in->registered ? in->registered->holdings : NULL;
	struct hold_bound b = holdings_bound(all, HOLD_MLIDS);
	uint32_t held = holdings_total(all, HOLD_MLIDS);

	if (u.limit && (u.mlids >= u.limit - u.limit / 5 || (held && held >= b.max - b.max / 5)))
		add(h, SEV_WARNING, "mlids-filling", "see 'qosd-ctl holdings --by mlids'; when none is "
		    "free, groups share multicast LIDs, and hosts also receive packets of other groups",
		    "%" PRIu32 " multicast LIDs are in use; every switch can forward %" PRIu32 "; %" PRIu32 " groups "
		    "share the LID of another group", u.mlids, u.limit, u.sharing);
}

/*
 * The device that an entry is about, in the published fabric: its node's index or, if nothing is
 * known behind the port, the number of nodes plus the port's index.
 */
static uint64_t device_behind(const struct fabric *f, uint32_t port)
{
	uint32_t peer = f->ports[port].peer;

	return peer == FABRIC_NONE ? (uint64_t)f->n_nodes + port : f->ports[peer].node;
}

/* Returns false if the entry's port is not in the published fabric. */
static bool find_implausible(const struct fabric *f, const struct implausible_answer *x, uint64_t *device)
{
	uint32_t node = f ? map64_get(&f->node_by_guid, x->guid) : MAP64_NONE;

	if (node == MAP64_NONE || x->num > f->nodes[node].nports)
		return false;
	*device = x->behind ? device_behind(f, f->nodes[node].port0 + x->num) : node;
	return true;
}

/*
 * Reports each device once: by the reason for its exclusion, else by its first implausible answer.
 */
static void judge_implausible(const struct health_input *in, struct health *h)
{
	struct many implausible = { h, SEV_WARNING, "device-lies",
			      "check the device's firmware and the programs on it; each light sweep "
			      "queries it again", "devices with implausible answers", 0 };
	const struct fabric *f = in->state ? in->state->f : NULL;
	uint32_t *more = xcalloc(in->n_implausible + 1, sizeof(*more));
	struct map64 told;	/* device -> 1 + index of its entry; 0: excluded */
	uint64_t device;

	map64_init(&told, (uint32_t)(in->n_left + in->n_implausible));
	for (size_t i = 0; i < in->n_left && f; i++) {
		uint32_t node = map64_get(&f->node_by_guid, in->left[i].guid);

		if (node != MAP64_NONE)
			map64_put(&told, node, 0);
		else if (in->left[i].near != FABRIC_NONE)
			map64_put(&told, device_behind(f, in->left[i].near), 0);
	}
	for (size_t i = 0; i < in->n_implausible; i++) {
		uint32_t place;

		if (in->implausible[i].unsure) {
			more[i] = MAP64_NONE;
			continue;
		}
		if (!find_implausible(f, &in->implausible[i], &device))
			continue;
		place = map64_get(&told, device);
		if (place == MAP64_NONE)
			map64_put(&told, device, (uint32_t)i + 1);
		else if (place)
			more[place - 1]++;
		more[i] = place == MAP64_NONE ? more[i] : MAP64_NONE;
	}
	for (size_t i = 0; i < in->n_implausible; i++)
		if (!more[i])
			add_one(&implausible, "%s", in->implausible[i].text);
		else if (more[i] != MAP64_NONE)
			add_one(&implausible, "%s; %" PRIu32 " more of its answers are implausible",
				in->implausible[i].text, more[i]);
	add_rest(&implausible);
	map64_free(&told);
	free(more);
}

/* Adds one problem for each of n; put appends the text of the i-th. */
static void add_each(struct many *m, const struct health_input *in, size_t n,
		     void (*put)(const struct health_input *in, size_t i, struct buf *out))
{
	struct buf text = { 0 };

	for (size_t i = 0; i < n; i++) {
		text.n = 0;
		put(in, i, &text);
		add_one(m, "%s", text.s);
	}
	add_rest(m);
	buf_free(&text);
}

static void put_flood(const struct health_input *in, size_t i, struct buf *out)
{
	sm_flood_text(in->state ? in->state->f : NULL, &in->floods[i], out);
}

static void judge_floods(const struct health_input *in, struct health *h)
{
	struct many floods = { h, SEV_WARNING, "trap-flood",
			       "check the device and its cables; qosd still acts on its traps, at most "
			       "twice a second", "sources of too many traps", 0 };

	add_each(&floods, in, in->n_floods, put_flood);
}

void health_flood_text(const struct subnet_state *s, const struct mad_flood *flood,
		       struct buf *out)
{
	uint32_t port = s && flood->lid && flood->lid < IB_LID_MCAST_FIRST ?
			s->plan->port_by_lid[flood->lid] : FABRIC_NONE;
	double seconds = (double)(flood->last_us - flood->since_us) * 1e-6;
	char name[FABRIC_NAME_MAX];

	if (port != FABRIC_NONE)
		buf_printf(out, "%s (LID %u)", fabric_port_name(s->f, port, name, sizeof(name)),
			   flood->lid);
	else if (flood->lid == IB_LID_PERMISSIVE)
		buf_puts(out, "an unidentified port that uses directed routes");
	else
		buf_printf(out, "LID %u, which no port of the fabric has", flood->lid);
	buf_printf(out, " sends too many %s: %" PRIu64 " in %.0f s", mad_kind_name(flood->kind),
		   flood->received, seconds < 1 ? 1 : seconds);
	if (flood->dropped)
		buf_printf(out, ", of which %" PRIu64 " were dropped", flood->dropped);
}

static void put_mad_flood(const struct health_input *in, size_t i, struct buf *out)
{
	health_flood_text(in->state, &in->mad_floods[i], out);
}

static void judge_mad_floods(const struct health_input *in, struct health *h)
{
	struct many floods = { h, SEV_WARNING, "mad-flood",
			       "check the programs on the host; only its own requests are "
			       "delayed", "ports that send too many MADs", 0 };

	add_each(&floods, in, in->n_mad_floods, put_mad_flood);
}

static void put_flap(const struct health_input *in, size_t i, struct buf *out)
{
	sm_flap_text(in->state ? in->state->f : NULL, &in->flaps[i], out);
}

static void judge_flaps(const struct health_input *in, struct health *h)
{
	struct many flaps = { h, SEV_WARNING, "link-flapping",
			      "check the cable and both connectors; 'qosd-ctl links release' makes routes "
			      "use the link at once", "links that flap", 0 };

	add_each(&flaps, in, in->n_flaps, put_flap);
}

/* --- policy --- */

static void put_finding(struct many *m, const struct finding *x)
{
	if (x->pos.line)
		add_one(m, "%s:%" PRIu32 ":%" PRIu32 ": %s", x->file, x->pos.line, x->pos.col, x->text);
	else
		add_one(m, "%s: %s", x->file, x->text);
}

/* Findings without a file concern the fabric, and are reported above. */
static void judge_findings(const struct findings *f, struct health *h)
{
	static const char action[] = "change the policy, or the part of the fabric that cannot provide it; "
				     "'qosd-ctl plan' predicts the effect of a change";
	struct many errors = { h, SEV_ERROR, "policy", action, "errors", 0 };
	struct many warnings = { h, SEV_WARNING, "policy", action, "warnings", 0 };

	for (size_t i = 0; f && i < f->n; i++) {
		const struct finding *x = &f->v[i];

		if (!x->file || !*x->file || x->severity == SEV_INFO)
			continue;
		put_finding(x->severity == SEV_ERROR ? &errors : &warnings, x);
	}
	add_rest(&errors);
	add_rest(&warnings);
}

/* Reports a policy that stands in for the file, which the start could not use. */
static void judge_stand_in(const struct health_input *in, struct health *h)
{
	const struct shared_policy *p = in->in_force;

	if (!p || !in->policy_wanted)
		return;
	if (p->source == POLICY_KEPT)
		add(h, SEV_ERROR, "policy-last-good", "correct or restore the file and run 'qosd-ctl "
		    "reload'; 'qosd --check' shows all errors",
		    "the policy file was unusable at the start: the last good policy is in force, "
		    "checksum %016" PRIx64, p->p->checksum);
	else if (p->source == POLICY_BUILTIN)
		add(h, in->sm->rejected ? SEV_ERROR : SEV_WARNING, "no-policy", "provide a policy file and "
		    "run 'qosd-ctl reload', or set 'policy: none' in qosd.yaml",
		    "the subnet has no policy: there was no usable policy file at the start, nor a last "
		    "good policy");
}

/* "the built-in policy" or "the policy with checksum 0123456789abcdef" */
static const char *policy_text(uint64_t checksum, char *text, size_t n)
{
	if (checksum == CTL_POLICY_BUILTIN)
		snprintf(text, n, "the built-in policy");
	else
		snprintf(text, n, "the policy with checksum %016" PRIx64, checksum);
	return text;
}

/* Reports other subnet managers with another policy, which a failover would bring into force. */
static void judge_peers(const struct health_input *in, struct health *h)
{
	struct many differ = { h, SEV_WARNING, "policy-differs", "give all subnet managers the same policy "
			       "file and run 'qosd-ctl reload' at each of them", "standbys have another "
			       "policy", 0 };
	const struct shared_policy *p = in->in_force;
	uint64_t ours = !p ? 0 : p->source == POLICY_BUILTIN ? CTL_POLICY_BUILTIN : p->p->checksum;
	char theirs_text[64], ours_text[64];

	for (size_t i = 0; ours && i < in->n_peers; i++) {
		const struct ctl_policy_peer *x = &in->peers[i];

		if (x->checksum && x->checksum != ours)
			add_one(&differ, "the %s 0x%016" PRIx64 " has %s, and this %s has %s: a failover "
				"changes the policy", x->is_master ? "master" : "standby", x->guid,
				policy_text(x->checksum, theirs_text, sizeof(theirs_text)),
				x->is_master ? "standby" : "master",
				policy_text(ours, ours_text, sizeof(ours_text)));
	}
	add_rest(&differ);
}

/* Reports a policy of a client that is not what the file has.  A trial is reported anyway. */
static void judge_file(const struct health_input *in, struct health *h)
{
	const struct shared_policy *p = in->in_force;
	static const char action[] = "'qosd-ctl policy install' makes a policy the configured file, 'qosd-ctl "
				     "reload' brings the file into force";

	if (!p || p->source != POLICY_CLIENT || in->trial_left_us >= 0 || !in->on_disk.known)
		return;
	if (in->on_disk.missing)
		add(h, SEV_WARNING, "policy-not-in-file", action, "the policy in force was loaded from %s, "
		    "and the configured file cannot be read", p->p->file);
	else if (in->on_disk.checksum != p->p->checksum)
		add(h, SEV_WARNING, "policy-not-in-file", action, "the policy in force was loaded from %s, "
		    "checksum %016" PRIx64 ", and the configured file has another, checksum %016" PRIx64
		    ": a restart changes the policy", p->p->file, p->p->checksum, in->on_disk.checksum);
}

/* The settings file, as the last reload found it. */
static void judge_settings(const struct health_input *in, struct health *h)
{
	struct buf names = { 0 };

	if (!in->settings)
		return;
	if (in->settings->refused)
		add(h, SEV_ERROR, "settings-refused", "correct the file and run 'qosd-ctl reload'; until then, "
		    "qosd does not start again", "the last reload was refused: %s", in->settings->refused);
	for (size_t i = 0; i < in->settings->restart.n; i++)
		buf_printf(&names, "%s%s", i ? ", " : "", in->settings->restart.v[i]);
	if (names.n)
		add(h, SEV_WARNING, "settings-need-restart", "restart qosd, or take the change back and run "
		    "'qosd-ctl reload'", "the settings file has other values of %s than are in force, which need a restart",
		    names.s);
	buf_free(&names);
}

static void judge_policy(const struct health_input *in, struct health *h)
{
	const struct findings *rejected = in->sm->rejected;

	judge_findings(in->sm->findings, h);
	if (rejected) {
		const struct finding *first = findings_first_error(rejected);

		add(h, SEV_ERROR, "policy-rejected", "correct the file and run 'qosd-ctl reload'; 'qosd "
		    "--check' shows all errors",
		    "the last policy file has %zu error%s; the previous policy stays in force%s%s",
		    rejected->count[SEV_ERROR], rejected->count[SEV_ERROR] == 1 ? "" : "s", first ? "; the first: " : "", first ? first->text : "");
	}
	judge_stand_in(in, h);
	judge_file(in, h);
	judge_peers(in, h);
	judge_settings(in, h);
	if (in->trial_left_us >= 0)
		add(h, SEV_INFO, "policy-on-trial", "run 'qosd-ctl policy confirm' or 'qosd-ctl policy "
				"revert'",
		    "the policy in force will be reverted in %" PRId64 " s unless it is confirmed",
		    (in->trial_left_us + 999999) / 1000000);
}

/*
 * Reports IPoIB groups whose parameters could be higher, were it not for members that joined
 * before.
 */
static void judge_groups(const struct health_input *in, struct health *h)
{
	struct many low = { h, SEV_INFO, "ipoib-group-low",
			    "run 'qosd-ctl reload' to apply them; the members then join again", "groups", 0 };
	const struct policy *p = in->state->policy->p;

	for (size_t i = 0; in->mcast && i < p->n_partitions; i++) {
		const struct mcast_group *g = mcast_kept_low(in->mcast, in->state, i);
		const struct ipoib_limits *made = &in->state->plan->partitions->ipoib[i].made;
		char has[24], could[24];

		if (g)
			add_one(&low, "partition %s: its IPoIB group keeps an MTU of %u and %s for its "
				"present members, but could have %u and %s", p->partitions[i].name,
				mtu_bytes(g->mtu), rate_text(g->rate, has, sizeof(has)),
				mtu_bytes(made->mtu), rate_text(made->rate, could, sizeof(could)));
	}
	add_rest(&low);
}

/* Reports partitions that lack the IPoIB group that the policy wants: their hosts have no IP. */
static void judge_broadcasts(const struct health_input *in, struct health *h)
{
	struct many missing = { h, SEV_ERROR, "ipoib-group-missing", "'qosd-ctl mcast' shows the groups "
				"that use the multicast LIDs, 'qosd-ctl holdings' their ports; remove "
				"some, and qosd creates the group within a minute", "partitions", 0 };
	const struct policy *p = in->state->policy->p;

	for (size_t i = 0; in->mcast && mcast_usage(in->mcast).limit && i < p->n_partitions; i++)
		if (mcast_lacks_broadcast(in->mcast, in->state, i))
			add_one(&missing, "partition %s has no IPoIB broadcast group: no multicast LID "
				"is free for it", p->partitions[i].name);
	add_rest(&missing);
}

/* --- promised shares --- */

static void judge_shares(const struct health_input *in, struct health *h)
{
	struct many missed = { h, SEV_WARNING, "share-missed",
			       "run 'qosd-ctl counters PORT' to measure again, or 'qosd-ctl sweep' to "
			       "repair tables that another program changed; or other traffic uses the "
			       "VL", "VLs of ports", 0 };

	for (size_t i = 0; i < in->n_shorts; i++) {
		const struct perf_finding *x = &in->shorts[i];
		int64_t age_us = in->now_us - x->when_us;

		add_one(&missed, "%s: level %s got %.0f %% of %.0f %% promised while waiting, %" PRId64 " s ago",
			x->port, x->levels, x->got * 100, x->promised * 100,
			age_us > 0 ? age_us / 1000000 : 0);
	}
	add_rest(&missed);
}

/* One entry for all ports of an SL or VL, of which the first ten are named. */
static void judge_strays(const struct health_input *in, struct health *h)
{
	for (size_t i = 0, end; i < in->n_strays; i = end) {
		const struct perf_stray *x = &in->strays[i];
		struct buf ports = { 0 };
		uint64_t bytes = 0;

		for (end = i; end < in->n_strays && in->strays[end].by_vl == x->by_vl &&
			      in->strays[end].lane == x->lane; end++) {
			bytes += in->strays[end].bytes;
			if (end - i < HEALTH_EACH)
				buf_printf(&ports, "%s%s", end > i ? ", " : "", in->strays[end].port);
		}
		if (end - i > HEALTH_EACH)
			buf_printf(&ports, " and %zu more", end - i - HEALTH_EACH);
		add(h, SEV_INFO, "sl-without-level", "a program chose the SL: 'qosd-ctl sls' shows what it gets; "
		    "give a level of the policy this SL, or the program the SL of a level",
		    "%s %u carries data, but no level has it: %" PRIu64 " bytes when last measured, sent by %s",
		    x->by_vl ? "VL" : "SL", x->lane, bytes, ports.s);
		buf_free(&ports);
	}
}

/* --- the rest --- */

static void judge_sa(const struct health_input *in, struct health *h)
{
	const struct sa_stats *sa = in->sa;

	if (sa && sa->busy && sa->window - sa->busy_window <= BUSY_WINDOWS)
		add(h, SEV_WARNING, "sa-busy", "'qosd-ctl sa-stats' shows the busiest clients; see "
		    "sa-requests-max and sa-requests-per-port in qosd.yaml(5), and 'qosd-ctl export ibacm'",
		    "the subnet administrator answered requests with BUSY within the last minute; %" PRIu64 " of "
		    "%" PRIu64 " answers since the start", sa->busy, sa->answered);
}

static void judge_store(const struct health_input *in, struct health *h)
{
	if (in->store.now)
		add(h, SEV_ERROR, "store", "see 'qosd-ctl status'; free disk space, or correct the "
		    "folder's permissions: unwritten state is lost on a restart",
		    "%zu files of the state folder, among them %s, are not written in time or were "
		    "damaged", in->store.now,
		    in->store.file);
}

static void judge_history(const struct health_input *in, struct health *h)
{
	const struct history_state *s = &in->history;

	if (s->failing || s->hangs)
		add(h, SEV_WARNING, "history", "free disk space, or correct the path of history in "
		    "qosd.yaml(5) and its permissions",
		    "events are not kept on disk: %s; %" PRIu64 " were dropped",
		    s->hangs ? "the disk does not answer" : s->why, s->dropped);
	else if (s->dropped)
		add(h, SEV_INFO, "history", "a restart of qosd clears this",
		    "%" PRIu64 " events were not kept on disk, as too many were waiting", s->dropped);
}

static int by_severity(const void *a, const void *b)
{
	const struct problem *x = *(const struct problem *const *)a, *y = *(const struct problem *const *)b;

	if (x->severity != y->severity)
		return x->severity < y->severity ? -1 : 1;
	return x < y ? -1 : x > y;	/* keep the order in which they were found */
}

static void sort(struct health *h)
{
	const struct problem **order = xcalloc(h->v.n + 1, sizeof(const struct problem *));
	struct problem *sorted = xcalloc(h->v.n + 1, sizeof(*sorted));

	for (size_t i = 0; i < h->v.n; i++)
		order[i] = &h->v.v[i];
	qsort(order, h->v.n, sizeof(*order), by_severity);
	for (size_t i = 0; i < h->v.n; i++)
		sorted[i] = *order[i];
	if (h->v.n)
		memcpy(h->v.v, sorted, h->v.n * sizeof(*sorted));
	free(order);
	free(sorted);
}

void health_judge(const struct health_input *in, struct health *out)
{
	judge_role(in, out);
	judge_keys(in, out);
	judge_up(in, out);
	if (in->state) {
		judge_devices(in, out);
		judge_far_ends(in, out);
		judge_ports(in, out);
		judge_routes(in, out);
		judge_shape(in, out);
		judge_unread_switches(in->state, out);
		judge_table_sizes(in->state, out);
		judge_fixed_routes(in->state, out);
		judge_inherited(in->sm, out);
		judge_congestion(in, out);
		judge_lmc(in->state, out);
		judge_mlids(in->state, in->mcast, out);
		judge_mlids_in_use(in, out);
		judge_links(in->state, out);
		judge_groups(in, out);
		judge_broadcasts(in, out);
		judge_shares(in, out);
		judge_strays(in, out);
		health_missing(in->missing, in->state ? in->state->f : NULL, in->sm->withdrawals, out);
		health_topology(in->topology, out);
		if (in->errors)
			health_errors(in->errors, in->state, in->now_mono_us, out);
		if (in->optics)
			health_optics(in->optics, in->state, out);
	}
	judge_discovery(in->sm, out);
	judge_excluded(in, out);
	judge_floods(in, out);
	judge_mad_floods(in, out);
	judge_implausible(in, out);
	judge_flaps(in, out);
	judge_withdrawn(in, out);
	if (in->outages)
		health_outages(in->outages, in->sm->withdrawals, in->now_mono_us, out);
	judge_store(in, out);
	judge_history(in, out);
	health_listening(in->pages, in->n_pages, out);
	judge_policy(in, out);
	judge_sa(in, out);
	if (in->registered) {
		judge_registries(in, out);
		judge_subscribers(in, out);
	}
	sort(out);
}

void health_free(struct health *h)
{
	for (size_t i = 0; i < h->v.n; i++)
		free(h->v.v[i].text);
	vec_free(&h->v);
}

/* --- the command --- */

static json_t *json_problems(const struct health *h)
{
	json_t *list = json_array();

	for (size_t i = 0; i < h->v.n; i++)
		json_array_append_new(list, json_pack("{s:s, s:s, s:o, s:s}",
			"severity", severity_name(h->v.v[i].severity), "kind", h->v.v[i].kind,
			"text", json_text(h->v.v[i].text), "action", h->v.v[i].action));
	return list;
}

static const char *verdict(const struct health *h)
{
	if (!h->v.n || h->v.v[0].severity == SEV_INFO)
		return "ok";
	return severity_name(h->v.v[0].severity);
}

void cmd_health(const struct ctl_call *c, struct reply *r)
{
	struct health_input in = { .sm = &c->view->sm, .state = c->state, .sa = sa_sums(c->env),
				   .trial_left_us = -1 };
	VEC(struct sm_seen) others = { 0 };
	VEC(struct ctl_policy_peer) peers = { 0 };
	struct ctl_policy_peer peer;
	struct ctl_listening pages[CTL_LISTENING_MAX];
	VEC(struct trap_flood) floods = { 0 };
	VEC(struct mad_flood) mad_floods = { 0 };
	struct mad_flood mad_flood;
	VEC(struct sm_flap) flaps = { 0 };
	VEC(struct sm_refused) refused = { 0 };
	VEC(struct sm_exclusion) left = { 0 };
	struct sm_exclusion one = { 0 };
	struct trap_flood flood;
	struct sm_refused refusal;
	struct sm_flap flap;
	size_t kind = 0;
	struct health h = { 0 };
	struct sm_seen seen;

	if (c->state && c->view->gauges)
		in.gauged = gauges_last(c->view->gauges);
	if (in.gauged && in.gauged->generation != c->state->generation)
		in.gauged = NULL;
	in.mcast = c->env->sa ? c->env->sa->mcast : NULL;
	in.registered = c->env->sa;
	for (uint32_t i = 1; c->env->sm && sm_seen_at(c->env->sm, i, &seen); i++)
		*vec_push(&others) = seen;
	for (uint32_t i = 0; c->env->sm && sm_flood_at(c->env->sm, i, &flood); i++)
		*vec_push(&floods) = flood;
	if (c->env->sm)
		in.implausible = implausible_list(c->env->sm, &in.n_implausible);
	in.floods = floods.v;
	in.n_floods = floods.n;
	for (unsigned i = 0; c->env->mad && mad_flood_at(c->env->mad, i, &mad_flood); i++)
		*vec_push(&mad_floods) = mad_flood;
	in.mad_floods = mad_floods.v;
	in.n_mad_floods = mad_floods.n;
	for (uint32_t i = 0; c->env->sm && sm_flap_at(c->env->sm, i, &flap); i++)
		*vec_push(&flaps) = flap;
	while (c->env->sm && c->state && sm_refused_at(c->env->sm, c->state->f, &kind, &refusal))
		*vec_push(&refused) = refusal;
	while (c->env->sm && sm_excluded(c->env->sm, left.n, &one)) {
		*vec_push(&left) = one;
		one = (struct sm_exclusion){ 0 };
	}
	in.left = left.v;
	in.n_left = left.n;
	in.refused = refused.v;
	in.n_refused = refused.n;
	in.flaps = flaps.v;
	in.n_flaps = flaps.n;
	in.others = others.v;
	in.n_others = others.n;
	if (c->env->store)
		in.store = store_failures(c->env->store);
	if (c->env->history)
		in.history = history_state(c->env->history);
	if (c->env->policies && !policies_on_trial(c->env->policies, &in.trial_left_us))
		in.trial_left_us = -1;
	in.in_force = c->env->policies ? policies_in_force(c->env->policies) : NULL;
	in.policy_wanted = c->env->policy_path;
	if (c->env->policy_on_disk)
		in.on_disk = c->env->policy_on_disk(c->env->arg);
	if (c->env->settings_reloaded)
		in.settings = c->env->settings_reloaded(c->env->arg);
	for (unsigned i = 0; c->env->policy_peer && c->env->policy_peer(c->env->arg, i, &peer); i++)
		*vec_push(&peers) = peer;
	in.peers = peers.v;
	in.n_peers = peers.n;
	in.pages = pages;
	while (c->env->listening && in.n_pages < CTL_LISTENING_MAX &&
	       c->env->listening(c->env->arg, (unsigned)in.n_pages, &pages[in.n_pages]))
		in.n_pages++;
	in.missing = c->env->missing;
	in.topology = c->env->topology;
	in.now_us = clock_real_us();
	in.now_mono_us = clock_mono_us();
	if (c->env->perf) {
		in.shorts = perf_findings(c->env->perf, &in.n_shorts);
		in.strays = perf_strays(c->env->perf, &in.n_strays);
	}
	in.errors = c->env->errors;
	in.optics = c->env->optics;
	in.outages = c->env->outages;
	health_judge(&in, &h);
	reply_result(r, json_pack("{s:s, s:s, s:o}", "verdict", verdict(&h),
				  "state", sm_state_name(in.sm->state), "problems", json_problems(&h)));
	health_free(&h);
	vec_free(&others);
	vec_free(&peers);
	vec_free(&floods);
	vec_free(&mad_floods);
	vec_free(&flaps);
	vec_free(&refused);
	for (size_t i = 0; i < left.n; i++)
		buf_free(&left.v[i].text);
	vec_free(&left);
}
