/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The program qosd-sim: see qosd-sim(1). */
#include <string.h>

#include "lib/base/alloc.h"
#include "program.h"

static const struct {
	const char *name;
	int (*start)(const struct options *o);
} kinds[] = {
	{ "run", run }, { "serve", serve }, { "attach", attach }, { "ctl", ctl }, { "check", ctl },
	{ "vm", vm },
};

int main(int argc, char **argv)
{
	struct options o;
	int status = options_parse(&o, argc, argv);

	for (size_t i = 0; status < 0 && i < ARRAY_SIZE(kinds); i++)
		if (!strcmp(o.kind, kinds[i].name))
			return kinds[i].start(&o);
	return status;
}
