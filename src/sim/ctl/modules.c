/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Commands on transceivers and cables in ports, and on the registers that describe them. */
#include "sim/ctl/command.h"

#include <stdlib.h>
#include <string.h>

#include "sim/dev/device.h"
#include "sim/dev/module.h"

#define TIMES_MAX UINT32_MAX

static bool is_kind(const char *word, enum module_kind *kind)
{
	for (unsigned i = 0; module_kind_name(i); i++)
		if (strcmp(module_kind_name(i), word) == 0) {
			*kind = (enum module_kind)i;
			return true;
		}
	return false;
}

static bool get_lane(struct call *c, unsigned *lane)
{
	uint64_t n = 0;

	*lane = MODULE_LANES;		/* all */
	if (!get_number(c, "LANE", c->word[3], 1, MODULE_LANES, &n))
		return false;
	if (n)
		*lane = (unsigned)n - 1;
	return true;
}

bool cmd_module(struct call *c)
{
	enum module_kind kind;
	unsigned value, lane;
	double number;
	char *end;

	if (is_kind(c->word[1], &kind)) {
		if (c->n > 2)
			return refuse(c, "no NUMBER follows a KIND");
		module_replace(c->s, c->port, kind);
		return true;
	}
	if (!get_word(c, "kind or value", c->word[1], module_value_name, &value) || !get_lane(c, &lane))
		return false;
	if (!c->word[2])
		return refuse(c, "NUMBER is missing");
	number = strtod(c->word[2], &end);
	if (end == c->word[2] || *end)
		return refuse(c, "NUMBER must be a number, not '%s'", c->word[2]);
	if (module_in(c->s, c->port) == MODULE_NONE)
		return refuse(c, "there is no module in '%s'", c->word[0]);
	return module_set(c->s, c->port, (enum module_value)value, lane, number) ||
	       refuse(c, "a module cannot show %s", c->word[2]);
}

bool cmd_registers(struct call *c)
{
	uint64_t status, times = TIMES_MAX;

	if (!get_number(c, "STATUS", c->word[1], 0, 127, &status) ||
	    !get_number(c, "--times", option(c, "--times"), 1, TIMES_MAX, &times))
		return false;
	c->f->nodes[c->node].register_status = (uint8_t)status;
	c->f->nodes[c->node].register_denials = status ? (uint32_t)times : 0;
	return true;
}

static json_t *json_values(struct call *c, enum module_value v, unsigned n)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < n; i++)
		json_array_append_new(list, json_real(module_get(c->s, c->port, v, i)));
	return list;
}

bool cmd_show_module(struct call *c)
{
	enum module_kind kind = module_in(c->s, c->port);

	c->result = json_pack("{s:o, s:s}", "port", json_port(c->f, c->port), "module", module_kind_name(kind));
	if (kind == MODULE_NONE || kind == MODULE_COPPER)
		return true;
	for (enum module_value v = 0; v < MODULE_VALUES; v++)
		json_object_set_new(c->result, module_value_name(v),
				    json_values(c, v, v < MODULE_RX_POWER ? 1 : module_lanes(kind)));
	return true;
}
