/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Commands on power, reboots, silence, names, keys, traps and misbehaviour of nodes. */
#include "sim/ctl/command.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "sim/dev/device.h"

bool cmd_node_power(struct call *c)
{
	device_power(c->s, c->node, is_named(c, "on"));
	return true;
}

static void power_on_later(struct sim *s, void *node)
{
	device_power(s, (uint32_t)(uintptr_t)node, true);
}

bool cmd_node_reboot(struct call *c)
{
	int64_t dark = 0;

	if (!get_time(c, "--for", option(c, "--for"), &dark))
		return false;
	if (dark == 0) {
		device_reset(c->s, c->node);
	} else {
		device_power(c->s, c->node, false);
		sim_after(c->s, dark, power_on_later, (void *)(uintptr_t)c->node);
	}
	return true;
}

bool cmd_node_silent(struct call *c)
{
	device_set_silent(c->s, c->node, !is_named(c, "answer"), is_named(c, "hang"));
	return true;
}

/* Parses a list of words, or "none", to bits by their place; `what` names such a word in messages. */
static bool get_bits(struct call *c, const char *what, const char *list,
		     const char *(*names)(unsigned i), unsigned *bits)
{
	char *words = xstrdup(list), *next = words;
	bool good = true;

	*bits = 0;
	for (char *word; good && strcmp(list, "none") && (word = strsep(&next, ","));) {
		unsigned i = 0;

		good = get_word(c, what, word, names, &i);
		*bits |= 1u << i;
	}
	free(words);
	return good;
}

bool cmd_node_lie(struct call *c)
{
	unsigned lies;

	if (!get_bits(c, "lie", c->word[1], lie_name, &lies))
		return false;
	device_set_lies(c->s, c->node, lies);
	return true;
}

bool cmd_node_refuse(struct call *c)
{
	unsigned refuses;
	uint64_t status = 0, times = 0;

	if (!get_bits(c, "attribute", c->word[1], refusal_name, &refuses) ||
	    !get_number(c, "--status", option(c, "--status"), 0, UINT16_MAX, &status) ||
	    !get_number(c, "--times", option(c, "--times"), 1, UINT32_MAX, &times))
		return false;
	device_set_refuses(c->s, c->node, refuses, (uint16_t)status, (uint32_t)times);
	return true;
}

bool cmd_node_rename(struct call *c)
{
	if (strlen(c->word[1]) > 64)
		return refuse(c, "a NodeDescription has at most 64 bytes, this one has %zu",
			      strlen(c->word[1]));
	device_rename(c->s, c->node, c->word[1]);
	return true;
}

bool cmd_mkey(struct call *c)
{
	uint64_t key, protect = 1, lease = 0;

	if (!get_number(c, "KEY", c->word[1], 0, UINT64_MAX, &key) ||
	    !get_number(c, "--protect", option(c, "--protect"), 0, 3, &protect) ||
	    !get_number(c, "--lease", option(c, "--lease"), 0, UINT16_MAX, &lease))
		return false;
	device_set_mkey(c->s, sma_port(c->f, c->port), key, (unsigned)protect, (unsigned)lease);
	return true;
}

/*
 * Makes a device send a trap (14.2.5.1) by causing its event.  Link changes and packets with wrong keys
 * cause the other traps.
 */
bool cmd_trap(struct call *c)
{
	const struct sim_node *n = &c->f->nodes[c->node];
	uint64_t trap;

	if (!get_number(c, "NUMBER", c->word[1], 0, UINT16_MAX, &trap))
		return false;
	switch (trap) {
	case 129:
	case 130:
	case 131:
		return device_threshold(c->s, c->port, (unsigned)trap) ||
		       refuse(c, "'%s' cannot send it", c->word[0]);
	case 144:
		device_rename(c->s, c->node, n->desc);
		return true;
	case 145:
		device_set_system_guid(c->s, c->node, n->sysimg_guid + 1);
		return true;
	default:
		return refuse(c, "NUMBER must be 129, 130, 131, 144 or 145, not '%s'", c->word[1]);
	}
}
