/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See json.h. */
#include <stdlib.h>

#include "base/alloc.h"
#include "json/json.h"

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
