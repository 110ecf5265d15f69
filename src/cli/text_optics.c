/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Prints `optics` and `optics read` as text: a port, and lines for its module. */
#include "text.h"

static void optics_head(const json_t *answer)
{
	const json_t *r = json_object_get(answer, "result");

	if (!has(r, "read-ago"))
		printf("transceivers have not been read yet: 'qosd-ctl optics read' reads them\n");
}

static void put_lanes(const json_t *o, const char *key, const char *name, const char *unit)
{
	const json_t *list = json_object_get(o, key), *x;
	size_t i;

	if (!json_is_array(list))
		return;
	printf("  %-11s", name);
	json_array_foreach(list, i, x)
		printf(" %8.2f", json_real_value(x));
	printf(" %s\n", unit);
}

static void put_flags(const json_t *o, const char *key, const char *what)
{
	const json_t *list = json_object_get(o, key), *x, *lane;
	size_t i, j;

	json_array_foreach(list, i, x) {
		printf("  %s %s %s", what, str(x, "quantity"), str(x, "threshold"));
		if (has(x, "limit"))
			printf(" (%.4g)", real(x, "limit"));
		json_array_foreach(json_object_get(x, "lanes"), j, lane)
			printf("%s %lld", j ? "," : " in lane", (long long)json_integer_value(lane));
		putchar('\n');
	}
}

static bool optics_row(const json_t *o)
{
	printf("\n%s", str(o, "port"));
	if (has(o, "peer"))
		printf(" to %s", str(o, "peer"));
	if (!has(o, "kind")) {
		printf(": %s\n", str(o, "state"));
		return true;
	}
	printf("\n  %s, %s, %s, serial number %s", str(o, "kind"), str(o, "vendor"), str(o, "part"), str(o, "serial"));
	printf("\n  %s", str(o, "technology"));
	if (has(o, "length"))
		printf(", %.4g m", real(o, "length"));
	if (has(o, "temperature"))
		printf(", %.1f C", real(o, "temperature"));
	if (has(o, "voltage"))
		printf(", %.3f V", real(o, "voltage"));
	putchar('\n');
	put_lanes(o, "rx-power", "rx power", "dBm");
	put_lanes(o, "tx-power", "tx power", "dBm");
	put_lanes(o, "tx-bias", "tx bias", "mA");
	put_flags(o, "beyond", "BEYOND");
	put_flags(o, "latched", "since the last reading:");
	return true;
}

const struct output text_optics = { .head = optics_head, .row = optics_row };
const struct output text_optics_read = { .row = optics_row };
