/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads the daemon's settings file, whose grammar qosd.yaml(5) describes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config/conf.h"
#include "config/conf_read.h"
#include "events/event.h"
#include "events/outages.h"
#include "lib/base/alloc.h"
#include "lib/base/group.h"
#include "lib/base/net.h"
#include "lib/iba/port_errors.h"

/*
 * Accepts an engine that is not in `used` yet, or "auto" if alone; false with an error otherwise.
 */
static bool is_engine(struct reader *r, const struct policy_name *name, const struct key *k,
		      char *const *used, bool alone)
{
	struct buf known = { 0 };
	int e = 0;

	if (!strcmp(name->s, SETTINGS_ENGINE_AUTO)) {
		if (!alone)
			read_error(r, name->pos, "'%s' must be the only entry: it selects the best of all "
					"engines",
				   name->s);
		return alone;
	}
	while (k->words[e] && strcmp(k->words[e], name->s))
		e++;
	if (!k->words[e]) {
		for (int i = 0; k->words[i]; i++)
			buf_printf(&known, "%s%s", i ? ", " : "", k->words[i]);
		read_error(r, name->pos,
			   "there is no routing engine '%s'; engines are %s, and " SETTINGS_ENGINE_AUTO " for "
			   "the best of them",
			   EXCERPT(name->s), known.s);
		buf_free(&known);
		return false;
	}
	for (; *used; used++)
		if (!strcmp(*used, name->s)) {
			read_error(r, name->pos, "'%s' is in the list twice", name->s);
			return false;
		}
	return true;
}

/* Reads engines in order of preference; they replace the default list. */
static void read_routing(struct reader *r, const struct node *n, const struct key *k, void *at)
{
	struct policy_names names = { 0 };
	struct settings *s = at;
	int used = 0;

	read_names(r, n, k, &names);
	for (int i = 0; s->engines[i]; i++) {
		free(s->engines[i]);
		s->engines[i] = NULL;
	}
	for (size_t i = 0; i < names.n; i++) {
		if (is_engine(r, &names.v[i], k, s->engines, names.n == 1) && used < ENGINES_MAX)
			s->engines[used++] = xstrdup(names.v[i].s);
		free(names.v[i].s);
	}
	vec_free(&names);
}

/* Reads a number of data VLs that OperationalVLs can encode. */
static void read_vls(struct reader *r, const struct node *n, const struct key *k, void *at)
{
	uint64_t v;

	(void)k;
	if (!read_number(r, n, 1, 15, &v))
		return;
	if (v == 1 || v == 2 || v == 4 || v == 8 || v == 15)
		*(uint8_t *)at = (uint8_t)v;
	else
		read_error(r, n->pos, "%u is not one of: 1, 2, 4, 8, 15", (unsigned)v);
}

/* Reads a link-local or site-local GID prefix; a multicast GID's is refused. */
static void read_prefix(struct reader *r, const struct node *n, const struct key *k, void *at)
{
	uint64_t v;

	(void)k;
	if (!read_number(r, n, 1, UINT64_MAX, &v))
		return;
	if (v >> 56 == 0xff)
		read_error(r, n->pos, "%s is a multicast prefix", EXCERPT(n->text));
	else
		*(uint64_t *)at = v;
}

/* Reads the P_Keys that the daemon may assign: any except the default partition's. */
static void read_pkey_pool(struct reader *r, const struct node *n, const struct key *k, void *at)
{
	struct settings *s = at;
	struct u64_range range;

	(void)k;
	if (!read_u64_range(r, n, 1, IB_PKEY_DEFAULT - 1, &range))
		return;
	s->pkey_lo = (uint16_t)range.lo;
	s->pkey_hi = (uint16_t)range.hi;
}

/* --- prefix routes --- */

static void read_route_prefix(struct reader *r, const struct node *n, const struct key *k, void *at)
{
	if (n->kind != NODE_SCALAR || n->null || strcmp(n->text, "any"))
		read_prefix(r, n, k, at);
}

/* Reads port GUIDs, or the word `any` alone: all routers of the fabric. */
static void read_routers(struct reader *r, const struct node *n, const struct key *k, void *at)
{
	struct prefix_route *route = at;
	const struct node *item;

	(void)k;
	if (n->kind == NODE_SCALAR && !n->null && !strcmp(n->text, "any"))
		return;
	for (item = read_items(r, n, "the GUIDs of routers' ports, or any"); item;
	     item = item->next) {
		uint64_t guid;
		bool twice = false;

		if (!read_number(r, item, 1, UINT64_MAX, &guid))
			continue;
		for (size_t i = 0; i < route->routers.n; i++)
			twice = twice || route->routers.v[i] == guid;
		if (twice)
			read_error(r, item->pos, "%s is in the list twice", EXCERPT(item->text));
		else
			*vec_push(&route->routers) = guid;
	}
}

static const struct key route_keys[] = {
	{ "prefix", read_route_prefix, FIELD(struct prefix_route, prefix), .required = true },
	{ "router", read_routers, WHOLE, .required = true },
};

/*
 * Refuses a second route to the same prefix, and any route after that for `any`: it would never be
 * taken.
 */
static void check_route(struct reader *r, const struct settings *s,
			const struct prefix_route *route, struct src_pos pos)
{
	for (size_t i = 0; i < s->prefix_routes.n; i++) {
		uint64_t before = s->prefix_routes.v[i].prefix;

		if (before && before != route->prefix)
			continue;
		read_error(r, pos, "never used: an earlier route has %s",
			   before ? "this prefix" : "any prefix");
		return;
	}
}

static void read_prefix_routes(struct reader *r, const struct node *n, const struct key *k,
			       void *at)
{
	struct settings *s = at;
	size_t count;

	(void)k;
	if (n->kind == NODE_SCALAR && !n->null) {
		read_error(r, n->pos, "expected a list of routes, found a word");
		return;
	}
	for (const struct node *item = node_items(n, &count); item; item = item->next) {
		struct prefix_route route = { 0 };
		size_t errors = r->out->count[SEV_ERROR];

		read_map(r, item, route_keys, ARRAY_SIZE(route_keys), &route);
		if (r->out->count[SEV_ERROR] > errors) {
			vec_free(&route.routers);
			continue;
		}
		check_route(r, s, &route, item->pos);
		*vec_push(&s->prefix_routes) = route;
	}
}

/* --- events and metrics --- */

/* Reads a path and its arguments, unchanged. */
static void read_command(struct reader *r, const struct node *n, const struct key *k, void *at)
{
	VEC(char *) words = { 0 };
	struct settings *s = at;
	bool good = true;

	(void)k;
	for (const struct node *i = read_items(r, n, "a path and arguments"); i; i = i->next) {
		const char *word = read_word(r, i, "a path or an argument");

		if (word && !words.n && *word != '/') {
			read_error(r, i->pos, "'%s' is not an absolute path", EXCERPT(word));
			word = NULL;
		}
		good = good && word;
		if (word)
			*vec_push(&words) = xstrdup(word);
	}
	if (good && words.n) {
		*vec_push(&words) = NULL;
		s->event_command = words.v;
		return;
	}
	for (size_t i = 0; i < words.n; i++)
		free(words.v[i]);
	vec_free(&words);
}

static void read_kinds(struct reader *r, const struct node *n, const struct key *k, void *at)
{
	uint64_t kinds = 0;

	(void)k;
	for (const struct node *i = read_items(r, n, "kinds of events"); i; i = i->next) {
		const char *word = read_word(r, i, "a kind of event");

		if (word && !event_kinds_add(&kinds, word))
			read_error(r, i->pos, "no such kind of event: '%s' (qosd-events(7) lists them)",
				   EXCERPT(word));
	}
	*(uint64_t *)at = kinds;
}

/* Reads an absolute path, or "none", which leaves no path. */
static void read_path(struct reader *r, const struct node *n, const struct key *k, void *at)
{
	const char *word = read_word(r, n, "a path or 'none'");

	(void)k;
	if (!word || strcmp(word, "none") == 0)
		return;
	if (*word == '/')
		*(char **)at = xstrdup(word);
	else
		read_error(r, n->pos, "'%s' is neither an absolute path nor 'none'", EXCERPT(word));
}

/* Reads ADDRESS:PORT; both are required, so that nobody listens on all addresses by mistake. */
static void read_listen(struct reader *r, const struct node *n, const struct key *k, void *at)
{
	const char *word = read_word(r, n, "an address and a port");
	struct sockaddr_storage addr;

	(void)k;
	if (!word)
		return;
	if (net_parse(word, &addr))
		*(char **)at = xstrdup(word);
	else
		read_error(r, n->pos, "'%s' is not ADDRESS:PORT, such as 127.0.0.1:9683 or [::1]:9683",
			   EXCERPT(word));
}

/* --- control socket --- */

/* Reads the name of a group, or a number, for which no name need exist. */
static void read_group(struct reader *r, const struct node *n, const struct key *k, void *at)
{
	const char *word = read_word(r, n, "the name or number of a group");
	struct ctl_group *group = at;
	uint64_t number;

	(void)k;
	if (!word)
		return;
	if (*word >= '0' && *word <= '9') {
		if (!read_number(r, n, 0, UINT32_MAX - 1, &number))
			return;
		group->gid = (uint32_t)number;
	} else {
		group->unknown = true;
		group->pos = n->pos;
	}
	group->name = xstrdup(word);
}

static void find_group(struct ctl_group *group, const char *file, struct findings *out)
{
	int error;

	if (!group->name || !group->unknown)
		return;
	error = group_find_soon(group->name, &group->gid);
	group->unknown = error;
	if (error == ENOENT)
		findings_add(out, SEV_ERROR, file, group->pos, "there is no group '%s' on this system",
			     EXCERPT(group->name));
	else if (error)
		/*
		 * the daemon starts all the same: the directory service may itself depend on the
		 * subnet
		 */
		findings_add(out, SEV_WARNING, file, group->pos, "the group '%s' cannot be looked up: %s; "
			     "it admits no clients until it can", EXCERPT(group->name),
			     strerror(error));
}

bool conf_find_groups(struct settings *s, struct findings *out)
{
	size_t errors = out->count[SEV_ERROR];

	find_group(&s->ctl_read_group, s->file, out);
	find_group(&s->ctl_admin_group, s->file, out);
	find_group(&s->ctl_gateway_group, s->file, out);
	return out->count[SEV_ERROR] == errors;
}

/* --- errors of ports --- */

/* Reads errors in an hour: a number, or "any". */
static void read_error_limit(struct reader *r, const struct node *n, const struct key *k, void *at)
{
	uint64_t v;

	(void)k;
	if (n->text && !strcmp(n->text, "any"))
		*(uint32_t *)at = PORT_ERRORS_ANY;
	else if (read_number(r, n, 0, PORT_ERRORS_ANY - 1, &v))
		*(uint32_t *)at = (uint32_t)v;
}

/* Reads a map of counters; those that it does not have keep their limit. */
static void read_error_limits(struct reader *r, const struct node *n, const struct key *k, void *at)
{
	struct key keys[PORT_ERRORS];

	(void)k;
	for (enum port_error e = 0; e < PORT_ERRORS; e++)
		keys[e] = (struct key){ .name = port_error_name(e), .read = read_error_limit,
					.offset = e * sizeof(uint32_t), .size = sizeof(uint32_t) };
	read_map(r, n, keys, PORT_ERRORS, at);
}

/* Reads the rules of isolate-when. */
static void read_isolate_when(struct reader *r, const struct node *n, const struct key *k, void *at)
{
#define OF_RULES(member) .offset = offsetof(struct isolate_when, member), \
	.size = sizeof(((struct isolate_when *)NULL)->member)
	static const struct key keys[] = {
		{ .name = "errors", .read = read_error_limits, OF_RULES(errors) },
		{ .name = "link-downs", .read = read_uint, OF_RULES(link_downs), .max = OUTAGE_LIMIT_MAX },
		{ .name = "at-most", .read = read_uint, OF_RULES(at_most), .min = 1, .max = 64 },
		{ .name = "for", .read = read_time, OF_RULES(for_s), .unit = 1, .max = 2592000 },
	};

	(void)k;
	read_map(r, n, keys, ARRAY_SIZE(keys), at);
}

static const char *const policy_words[] = { "file", "none", NULL };
static const char *const active_vls_words[] = { "change", "wait", NULL };
static const char *const arbiter_words[] = { "iba", "measured", NULL };
/* in the order of enum partition_enforcement */
static const char *const enforcement_words[] = { "off", "in", "out", "both", NULL };
static const char *const link_words[] = { "keep", "supported", NULL };
static const char *const sandbox_words[] = { "off", "on", "strict", NULL };
static const char *const log_words[] = { "error", "warning", "info", "debug", NULL };

#define AT(member) FIELD(struct settings, member)
#define MS .unit = 1e-3
#define SECONDS .unit = 1
/* A reload applies it (daemon/settings_reload.c); any other setting needs a restart. */
#define LIVE .live = true

static const struct key settings_keys[] = {
	{ "policy", read_choice, AT(no_policy), .words = policy_words },
	{ "policy-end-marker", read_bool, AT(policy_marker), LIVE },
	{ "policy-watch", read_bool, AT(policy_watch), LIVE },
	{ "warn-unnamed-nodes", read_bool, AT(warn_unnamed), LIVE },

	{ "port-guid", read_uint, AT(port_guid), .max = UINT64_MAX },

	{ "subnet-prefix", read_prefix, AT(subnet_prefix) },
	{ "prefix-routes", read_prefix_routes, WHOLE },
	{ "lmc", read_uint, AT(lmc), .max = IB_LMC_MAX },
	{ "lmc-enhanced-port-0", read_bool, AT(lmc_enhanced_port0) },
	{ "subnet-timeout", read_lifetime, AT(subnet_timeout), LIVE },
	{ "packet-lifetime", read_lifetime, AT(packet_lifetime), LIVE },
	{ "hoq-lifetime", read_lifetime, AT(hoq_lifetime), LIVE },
	{ "hoq-lifetime-end", read_lifetime, AT(hoq_lifetime_end), LIVE },
	{ "vl-stall-count", read_uint, AT(vl_stall_count), .max = 7, LIVE },
	{ "vl-stall-count-end", read_uint, AT(vl_stall_count_end), .max = 7, LIVE },
	{ "local-phy-errors", read_uint, AT(local_phy_errors), .max = 15, LIVE },
	{ "overrun-errors", read_uint, AT(overrun_errors), .max = 15, LIVE },
	{ "max-op-vls", read_vls, AT(max_op_vls), LIVE },
	{ "active-vls", read_choice, AT(active_vls), .words = active_vls_words, LIVE },
	{ "arbiter-model", read_choice, AT(arbiter_model), .words = arbiter_words, LIVE },
	{ "link-width", read_choice, AT(link_width), .words = link_words },
	{ "link-speed", read_choice, AT(link_speed), .words = link_words },
	{ "partition-enforcement", read_choice, AT(partition_enforcement), .words = enforcement_words, LIVE },

	{ "m-key", read_uint, AT(m_key), .max = UINT64_MAX },
	{ "m-key-lease", read_time, AT(m_key_lease), .max = UINT16_MAX, SECONDS },
	{ "m-key-protect", read_uint, AT(m_key_protect), .max = 3 },
	{ "sm-key", read_uint, AT(sm_key), .max = UINT64_MAX },

	{ "priority", read_uint, AT(priority), .max = 15, LIVE },
	{ "poll-interval", read_time, AT(poll_interval_ms), .min = 10, .max = 3600000, MS, LIVE },
	{ "poll-retries", read_uint, AT(poll_retries), .max = 100, LIVE },

	{ "routing", read_routing, WHOLE, .words = settings_engines },

	{ "smp-window", read_uint, AT(smp_window), .min = 1, .max = 4096 },
	{ "smp-window-device", read_uint, AT(smp_window_device), .min = 1, .max = 64 },
	{ "smp-timeout", read_time, AT(smp_timeout_ms), .min = 1, .max = 60000, MS },
	{ "smp-retries", read_uint, AT(smp_retries), .max = 20 },
	{ "discovery-window", read_uint, AT(discovery_window), .min = 1, .max = 4096, LIVE },

	{ "sweep-interval", read_time, AT(sweep_interval_s), .max = 86400, SECONDS, LIVE },
	{ "scrub-interval", read_time, AT(scrub_interval_s), .max = 2592000, SECONDS, LIVE },

	{ "flap-limit", read_uint, AT(flap_limit), .max = 32, LIVE },
	{ "flap-window", read_time, AT(flap_window_s), .min = 1, .max = 86400, SECONDS, LIVE },
	{ "flap-hold", read_time, AT(flap_hold_s), .min = 1, .max = 86400, SECONDS, LIVE },
	{ "outage-limit", read_uint, AT(outage_limit), .max = OUTAGE_LIMIT_MAX, LIVE },

	{ "sa-requests-max", read_uint, AT(sa_requests_max), .min = 1, .max = 1000000 },
	{ "sa-requests-per-port", read_uint, AT(sa_requests_per_port), .min = 1, .max = 1000000 },
	{ "sa-transfers-max", read_uint, AT(sa_transfers_max), .min = 1, .max = 65536 },
	{ "sa-transfers-per-port", read_uint, AT(sa_transfers_per_port), .min = 1, .max = 65536 },

	{ "sa-long-requests-max", read_uint, AT(sa_long_requests_max), .min = 1, .max = 65536 },
	{ "sa-long-requests-per-port", read_uint, AT(sa_long_requests_per_port), .min = 1, .max = 65536 },
	{ "reports-max", read_uint, AT(reports_max), .min = 16, .max = 512 },
	{ "reports-per-port", read_uint, AT(reports_per_port), .min = 1, .max = 512 },

	{ "groups-max", read_uint, AT(groups_max), .min = 16, .max = 262144, LIVE },
	{ "groups-per-port", read_uint, AT(groups_per_port), .min = 1, .max = 262144, LIVE },
	{ "multicast-lids-max", read_uint, AT(mlids_max), .max = 16383 },
	{ "multicast-lids-per-port", read_uint, AT(mlids_per_port), .max = 16383 },
	{ "memberships-max", read_uint, AT(memberships_max), .min = 16, .max = 2097152, LIVE },
	{ "memberships-per-port", read_uint, AT(memberships_per_port), .min = 1, .max = 2097152, LIVE },
	{ "services-max", read_uint, AT(services_max), .min = 16, .max = 131072, LIVE },
	{ "services-per-port", read_uint, AT(services_per_port), .min = 1, .max = 131072, LIVE },
	{ "subscriptions-max", read_uint, AT(subscriptions_max), .min = 16, .max = 1048576, LIVE },
	{ "subscriptions-per-port", read_uint, AT(subscriptions_per_port), .min = 1, .max = 65535, LIVE },
	{ "alias-guids-max", read_uint, AT(aliases_max), .min = 16, .max = 1048576, LIVE },
	{ "alias-guids-per-port", read_uint, AT(aliases_per_port), .min = 1, .max = 255, LIVE },
	{ "forget-after", read_time, AT(forget_after_s), .max = 31536000, SECONDS, LIVE },

	{ "partition-pkeys", read_pkey_pool, WHOLE, LIVE },

	{ "event-command", read_command, WHOLE, LIVE },
	{ "event-kinds", read_kinds, AT(event_kinds), LIVE },

	{ "expected-topology", read_path, AT(expected_topology), LIVE },
	{ "node-name-map", read_path, AT(node_name_map), LIVE },
	{ "history", read_path, AT(history), LIVE },
	{ "history-max", read_uint, AT(history_max_mib), .min = 1, .max = 1048576, LIVE },

	{ "counters-interval", read_time, AT(counters_interval_s), .max = 86400, SECONDS, LIVE },
	{ "counters-reset", read_bool, AT(counters_reset), LIVE },
	{ "optics-interval", read_time, AT(optics_interval_s), .max = 604800, SECONDS, LIVE },
	{ "errors-interval", read_time, AT(errors_interval_s), .max = 86400, SECONDS, LIVE },
	{ "errors-reset", read_bool, AT(errors_reset), LIVE },
	{ "error-limits", read_error_limits, AT(error_limits), LIVE },
	{ "isolate-when", read_isolate_when, AT(isolate_when), LIVE },
	{ "metrics-listen", read_listen, AT(metrics_listen), LIVE },
	{ "report-listen", read_listen, AT(report_listen), LIVE },

	{ "ctl-read-group", read_group, AT(ctl_read_group) },
	{ "ctl-admin-group", read_group, AT(ctl_admin_group) },
	{ "ctl-gateway-group", read_group, AT(ctl_gateway_group) },

	{ "sandbox", read_choice, AT(sandbox), .words = sandbox_words },

	{ "log-level", read_choice, AT(log_level), .words = log_words, LIVE },
};

/* --- what differs --- */

static const void *value_of(const struct settings *s, const struct key *k)
{
	return (const char *)s + k->offset;
}

static bool same_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool same_words(char *const *a, char *const *b)
{
	size_t i = 0;

	if (!a || !b)
		return a == b;
	while (a[i] && b[i] && strcmp(a[i], b[i]) == 0)
		i++;
	return !a[i] && !b[i];
}

static bool same_routes(const struct settings *a, const struct settings *b)
{
	bool same = a->prefix_routes.n == b->prefix_routes.n;

	for (size_t i = 0; same && i < a->prefix_routes.n; i++) {
		const struct prefix_route *x = &a->prefix_routes.v[i], *y = &b->prefix_routes.v[i];

		same = x->prefix == y->prefix && x->routers.n == y->routers.n &&
		       (!x->routers.n ||
			memcmp(x->routers.v, y->routers.v, x->routers.n * sizeof(*x->routers.v)) == 0);
	}
	return same;
}

static bool same_setting(const struct key *k, const struct settings *a, const struct settings *b)
{
	const void *x = value_of(a, k), *y = value_of(b, k);

	if (k->read == read_routing)
		return same_words(a->engines, b->engines);
	if (k->read == read_prefix_routes)
		return same_routes(a, b);
	if (k->read == read_pkey_pool)
		return a->pkey_lo == b->pkey_lo && a->pkey_hi == b->pkey_hi;
	if (k->read == read_command)
		return same_words(a->event_command, b->event_command);
	if (k->read == read_path || k->read == read_listen)
		return same_text(*(char *const *)x, *(char *const *)y);
	if (k->read == read_group)
		return same_text(((const struct ctl_group *)x)->name, ((const struct ctl_group *)y)->name);
	return memcmp(x, y, k->size) == 0;
}

void conf_compare_settings(const struct settings *a, const struct settings *b,
			   void (*differs)(void *arg, const char *name, bool live), void *arg)
{
	for (size_t i = 0; i < ARRAY_SIZE(settings_keys); i++)
		if (!same_setting(&settings_keys[i], a, b))
			differs(arg, settings_keys[i].name, settings_keys[i].live);
}

static void swap_bytes(char *a, char *b, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char c = a[i];

		a[i] = b[i];
		b[i] = c;
	}
}

void conf_swap_live_settings(struct settings *a, struct settings *b)
{
	for (size_t i = 0; i < ARRAY_SIZE(settings_keys); i++) {
		const struct key *k = &settings_keys[i];

		if (!k->live || same_setting(k, a, b))
			continue;	/* others may point to what is equal */
		if (k->read == read_command) {
			swap_bytes((char *)&a->event_command, (char *)&b->event_command, sizeof(a->event_command));
		} else if (k->read == read_pkey_pool) {
			swap_bytes((char *)&a->pkey_lo, (char *)&b->pkey_lo, sizeof(a->pkey_lo));
			swap_bytes((char *)&a->pkey_hi, (char *)&b->pkey_hi, sizeof(a->pkey_hi));
		} else {
			swap_bytes((char *)a + k->offset, (char *)b + k->offset, k->size);
		}
	}
}

void conf_copy_live_settings(const struct settings *from, struct settings *to)
{
	for (size_t i = 0; i < ARRAY_SIZE(settings_keys); i++) {
		const struct key *k = &settings_keys[i];

		if (k->live)	/* size 0: commands and P_Keys of partitions, which no plan is made by */
			memcpy((char *)to + k->offset, (const char *)from + k->offset, k->size);
	}
}

/* --- the file --- */

/* Two pages cannot be served at one address; with port 0, each gets a port of its own. */
static void check_pages(struct reader *r, const struct node *root, const struct settings *s)
{
	const struct node *key = root->child;

	if (!same_text(s->metrics_listen, s->report_listen) || !s->report_listen ||
	    !strcmp(strrchr(s->report_listen, ':'), ":0"))
		return;
	while (key && strcmp(key->text, "report-listen") != 0)
		key = key->next;
	if (key)
		read_error(r, key->value->pos, "metrics-listen has this address already: give another port");
}

struct settings *conf_read_settings(const char *name, const char *text, size_t n,
				    struct findings *out)
{
	struct findings found = { 0 };
	struct reader r = { .file = name, .out = &found };
	struct settings *s = settings_default();
	struct node *root;

	free(s->file);
	s->file = xstrdup(name);
	if (yaml_tree_parse(name, text, n, &root, NULL, &found) && root) {
		read_map(&r, root, settings_keys, ARRAY_SIZE(settings_keys), s);
		check_pages(&r, root, s);
		yaml_tree_free(root);
	}
	if (found.count[SEV_ERROR]) {
		settings_free(s);
		s = NULL;
	}
	findings_sort(&found);
	findings_move(out, &found);
	return s;
}
