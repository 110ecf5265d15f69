/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Prints `services` and `subscriptions` as text. */
#include "text.h"

static bool services_row(const json_t *s)
{
	char lease[24] = "for ever";

	if (has(s, "lease"))
		snprintf(lease, sizeof(lease), "%lld s", num(s, "lease"));
	printf("%-18s  0x%04llx  %10s  %-39s  %s\n", str(s, "service-id"), num(s, "pkey"), lease,
	       str(s, "gid"), str(s, "name"));
	return true;
}

/* A number, or "all". */
static const char *or_all(const json_t *o, const char *member, char *text, size_t size)
{
	if (!has(o, member))
		return "all";
	snprintf(text, size, "%lld", num(o, member));
	return text;
}

static const char *issuers(const json_t *s, char *text, size_t size)
{
	const json_t *lids = json_object_get(s, "lids");
	long long first = json_integer_value(json_array_get(lids, 0));
	long long last = json_integer_value(json_array_get(lids, 1));

	if (has(s, "gid"))
		return str(s, "gid");
	if (!has(s, "lids"))
		return "all";
	snprintf(text, size, first == last ? "LID %lld" : "LID %lld-%lld", first, last);
	return text;
}

/* Marks vendor-specific traps, whose number is a device id. */
static bool subscriptions_row(const json_t *s)
{
	bool generic = json_is_true(json_object_get(s, "generic"));
	char trap[24], type[24], producer[24], from[64], shown[32];

	snprintf(shown, sizeof(shown), "%s%s", generic ? "" : "v ",
		 or_all(s, generic ? "trap" : "device", trap, sizeof(trap)));
	printf("%-8lld  %-6s  %5s  %-8s  %4lld  %-12s  %s\n", num(s, "qpn"), shown,
	       or_all(s, "type", type, sizeof(type)),
	       or_all(s, generic ? "producer" : "vendor", producer, sizeof(producer)),
	       num(s, "enum"), issuers(s, from, sizeof(from)), str(s, "port"));
	return true;
}

const struct output text_services = {
	.says = "SERVICE-ID          P_KEY        LEASE  GID                                      NAME",
	.row = services_row,
};
const struct output text_subscriptions = {
	.says = "QP        TRAP     TYPE  PRODUCER  ENUM  FROM          PORT",
	.row = subscriptions_row,
};
