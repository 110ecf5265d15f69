/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads which of the missing things an operator means; see missing_wanted.h. */
#include "events/missing_wanted.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/host_names.h"
#include "lib/base/alloc.h"
#include "lib/base/glob.h"

struct missing_wanted missing_wanted_read(const char *text)
{
	struct missing_wanted w = { .name = xstrdup(text) };
	char *slash = strrchr(w.name, '/'), *end;
	unsigned long num;

	if (slash && slash[1] == 'P' && isdigit((unsigned char)slash[2])) {
		num = strtoul(slash + 2, &end, 10);
		if (!*end && num && num <= IB_PORT_NUM_MAX) {
			w.num = (unsigned)num;
			*slash = '\0';
		}
	}
	if (!strncmp(w.name, "0x", 2)) {
		w.guid = strtoull(w.name, &end, 16);
		if (*end)
			w.guid = 0;
	}
	return w;
}

void missing_wanted_free(struct missing_wanted *w)
{
	free(w->name);
}

static bool name_matches(const char *name, const char *pattern)
{
	size_t host = fabric_host_length(name);
	char first[sizeof(((struct missing_end *)0)->name)];

	if (!*name)
		return false;
	memcpy(first, name, host);
	first[host] = '\0';
	return strcmp(name, pattern) == 0 || strcmp(first, pattern) == 0 ||
	       glob_match(pattern, strlen(pattern), name) || glob_match(pattern, strlen(pattern), first);
}

static bool end_matches(const struct missing_end *e, const struct missing_wanted *w)
{
	if (w->num && w->num != e->num)
		return false;
	return w->guid ? e->guid == w->guid || e->port_guid == w->guid : name_matches(e->name, w->name);
}

bool missing_is_wanted(const struct missing_item *x, const struct missing_wanted *w)
{
	if (!missing_is_link(x))	/* "/Pn" means a link */
		return !w->num && end_matches(&x->a, w);
	return end_matches(&x->a, w) || end_matches(&x->b, w);
}
