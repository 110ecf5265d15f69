/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sets the daemon's settings to their defaults.
 */
#include <stdlib.h>

#include "lib/base/alloc.h"
#include "lib/iba/iba.h"
#include "lib/iba/port_errors.h"
#include "plan/settings.h"

const char *const settings_engines[] = { "updn", "grid", "dragonfly", "layered", "minhop", NULL };

struct settings *settings_default(void)
{
	struct settings *s = xmalloc(sizeof(*s));

	*s = (struct settings){
		.file = xstrdup("(built-in)"),
		.subnet_prefix = IB_DEFAULT_PREFIX,
		.subnet_timeout = 18,
		.packet_lifetime = 18,
		.hoq_lifetime = 18,
		.hoq_lifetime_end = 16,
		.vl_stall_count = 7,
		.vl_stall_count_end = 7,
		.local_phy_errors = 8,
		.overrun_errors = 8,
		.arbiter_model = ARB_MODEL_IBA,
		.max_op_vls = 15,
		.link_width = LINK_KEEP,
		.link_speed = LINK_KEEP,
		.partition_enforcement = ENFORCE_BOTH,
		.sm_key = SM_KEY_KNOWN,
		.poll_interval_ms = 200,
		.poll_retries = 3,
		.engines = { xstrdup("updn"), xstrdup("minhop") },
		.smp_window = 64,
		.smp_window_device = 4,
		.smp_timeout_ms = 200,
		.smp_retries = 3,
		.discovery_window = 32,
		.sweep_interval_s = 10,
		.scrub_interval_s = 21600,
		.flap_limit = 5,
		.flap_window_s = 60,
		.flap_hold_s = 60,
		.outage_limit = 3,
		.history_max_mib = 64,
		.errors_interval_s = 180,
		.errors_reset = true,
		.sa_requests_max = 32768,
		.sa_requests_per_port = 8192,
		.sa_transfers_max = 256,
		.sa_transfers_per_port = 16,
		.sa_long_requests_max = 256,
		.sa_long_requests_per_port = 8,
		.reports_max = 512,
		.reports_per_port = 32,
		.groups_max = 131072,
		.groups_per_port = 1024,
		.memberships_max = 1048576,
		.memberships_per_port = 16384,
		.services_max = 16384,
		.services_per_port = 1024,
		.subscriptions_max = 65536,
		.subscriptions_per_port = 256,
		.aliases_max = 262144,
		.aliases_per_port = 255,
		.forget_after_s = 86400,
		.pkey_lo = 0x4000, .pkey_hi = 0x7ffe,
		.event_kinds = UINT64_MAX,
		.sandbox = SANDBOX_ON,
		.log_level = LOG_LEVEL_INFO,
	};
	for (enum port_error e = 0; e < PORT_ERRORS; e++) {
		s->error_limits[e] = port_error_limit(e);
		s->isolate_when.errors[e] = PORT_ERRORS_ANY;
	}
	s->isolate_when.at_most = 3;
	return s;
}

struct settings *settings_for_plan(const struct settings *s)
{
	return xmemdup(s, sizeof(*s));
}

void settings_free(struct settings *s)
{
	if (!s)
		return;
	for (int i = 0; s->engines[i]; i++)
		free(s->engines[i]);
	for (size_t i = 0; i < s->prefix_routes.n; i++)
		vec_free(&s->prefix_routes.v[i].routers);
	vec_free(&s->prefix_routes);
	for (size_t i = 0; s->event_command && s->event_command[i]; i++)
		free(s->event_command[i]);
	free(s->event_command);
	free(s->history);
	free(s->expected_topology);
	free(s->node_name_map);
	free(s->metrics_listen);
	free(s->report_listen);
	free(s->ctl_read_group.name);
	free(s->ctl_admin_group.name);
	free(s->ctl_gateway_group.name);
	free(s->file);
	free(s);
}
