/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See json.h. */
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include "lib/base/alloc.h"
#include "lib/format/json.h"

json_t *json_text(const char *s)
{
	json_t *j = json_string(s);
	char *copy;

	if (j)
		return j;
	copy = xstrdup(s);
	for (char *c = copy; *c; c++)
		if ((unsigned char)*c >= 0x80)
			*c = '?';
	j = json_string(copy);
	free(copy);
	return j;
}

json_t *json_guid(uint64_t guid)
{
	return json_sprintf("0x%016llx", (unsigned long long)guid);
}

/* Formats the time in UTC down to the second, without a zone; false if it cannot be represented. */
static bool put_second(int64_t realtime_us, char text[32])
{
	time_t t = realtime_us / 1000000;
	struct tm tm;

	return gmtime_r(&t, &tm) && strftime(text, 32, "%Y-%m-%dT%H:%M:%S", &tm);
}

json_t *json_time(int64_t realtime_us)
{
	char text[32];

	return put_second(realtime_us, text) ? json_sprintf("%sZ", text) : json_null();
}

json_t *json_time_us(int64_t realtime_us)
{
	char text[32];

	return put_second(realtime_us, text) ?
	       json_sprintf("%s.%06dZ", text, (int)(realtime_us % 1000000)) : json_null();
}
