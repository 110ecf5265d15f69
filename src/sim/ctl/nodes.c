/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Commands on power, reboots, silence, names, keys and misbehaviour of nodes. */
#include "sim/ctl/command.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "sim/dev/device.h"

static bool power(struct call *c, bool on)
{
	uint32_t node;

	if (!get_node(c, c->word[0], &node))
		return false;
	device_power(c->s, node, on);
	return true;
}

bool cmd_node_off(struct call *c)
{
	return power(c, false);
}

bool cmd_node_on(struct call *c)
{
	return power(c, true);
}

static void power_on_later(struct sim *s, void *node)
{
	device_power(s, (uint32_t)(uintptr_t)node, true);
}

bool cmd_node_reboot(struct call *c)
{
	int64_t dark = 0;
	uint32_t node;

	if (!get_node(c, c->word[0], &node) || !get_time(c, "--for", option(c, "--for"), &dark))
		return false;
	if (dark == 0) {
		device_reset(c->s, node);
	} else {
		device_power(c->s, node, false);
		sim_after(c->s, dark, power_on_later, (void *)(uintptr_t)node);
	}
	return true;
}

static bool set_silent(struct call *c, bool silent, bool hangs)
{
	uint32_t node;

	if (!get_node(c, c->word[0], &node))
		return false;
	device_set_silent(c->s, node, silent, hangs);
	return true;
}

bool cmd_node_silent(struct call *c)
{
	return set_silent(c, true, false);
}

bool cmd_node_hang(struct call *c)
{
	return set_silent(c, true, true);
}

bool cmd_node_answer(struct call *c)
{
	return set_silent(c, false, false);
}

/* Parses a list of words, or "none", to bits; `what` names such a word in messages. */
static bool get_bits(struct call *c, const char *what, const char *list,
		     const char *const *names, unsigned (*by_name)(const char *name),
		     unsigned *bits)
{
	char *words = xstrdup(list), *next = words;
	bool good = true;

	*bits = 0;
	for (char *word; good && strcmp(list, "none") && (word = strsep(&next, ","));) {
		struct words known = { 0 };
		unsigned bit = by_name(word);

		*bits |= bit;
		if (bit)
			continue;
		for (const char *const *name = names; *name; name++)
			*vec_push(&known) = *name;
		good = refuse_word(c, what, word, &known);
	}
	free(words);
	return good;
}

bool cmd_node_lie(struct call *c)
{
	unsigned lies;
	uint32_t node;

	if (!get_node(c, c->word[0], &node) ||
	    !get_bits(c, "lie", c->word[1], lie_names(), lie_by_name, &lies))
		return false;
	device_set_lies(c->s, node, lies);
	return true;
}

bool cmd_node_refuse(struct call *c)
{
	unsigned refuses;
	uint64_t status = 0, times = 0;
	uint32_t node;

	if (!get_node(c, c->word[0], &node) ||
	    !get_bits(c, "attribute", c->word[1], refusal_names(), refusal_by_name, &refuses) ||
	    !get_number(c, "--status", option(c, "--status"), 0, UINT16_MAX, &status) ||
	    !get_number(c, "--times", option(c, "--times"), 1, UINT32_MAX, &times))
		return false;
	device_set_refuses(c->s, node, refuses, (uint16_t)status, (uint32_t)times);
	return true;
}

bool cmd_node_rename(struct call *c)
{
	uint32_t node;

	if (!get_node(c, c->word[0], &node))
		return false;
	if (strlen(c->word[1]) > 64)
		return refuse(c, "a NodeDescription has at most 64 bytes, this one has %zu",
			      strlen(c->word[1]));
	device_rename(c->s, node, c->word[1]);
	return true;
}

bool cmd_mkey(struct call *c)
{
	uint64_t key, protect = 1, lease = 0;
	uint32_t port;

	if (!get_port(c, c->word[0], &port) ||
	    !get_number(c, "KEY", c->word[1], 0, UINT64_MAX, &key) ||
	    !get_number(c, "--protect", option(c, "--protect"), 0, 3, &protect) ||
	    !get_number(c, "--lease", option(c, "--lease"), 0, UINT16_MAX, &lease))
		return false;
	device_set_mkey(c->s, sma_port(c->s->f, port), key, (unsigned)protect, (unsigned)lease);
	return true;
}
