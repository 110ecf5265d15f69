/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Nodes: without power, restarted, mute, called otherwise; and what somebody
 * else does to them or they say by themselves.
 */
#include "simctl/command.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "simdev/device.h"

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

static bool mute(struct call *c, bool silent)
{
	uint32_t node;

	if (!get_node(c, c->word[0], &node))
		return false;
	device_set_silent(c->s, node, silent);
	return true;
}

bool cmd_node_silent(struct call *c)
{
	return mute(c, true);
}

bool cmd_node_answer(struct call *c)
{
	return mute(c, false);
}

static bool refuse_lie(struct call *c, const char *word)
{
	struct words known = { 0 };

	for (const char *const *name = lie_names(); *name; name++)
		*vec_push(&known) = *name;
	return refuse_word(c, "lie", word, &known);
}

bool cmd_node_lie(struct call *c)
{
	unsigned lies = 0, bit;
	char *words, *next;
	uint32_t node;
	bool good = true;

	if (!get_node(c, c->word[0], &node))
		return false;
	words = xstrdup(c->word[1]);
	next = words;
	for (char *word; good && strcmp(words, "none") && (word = strsep(&next, ","));) {
		bit = lie_by_name(word);
		good = bit || refuse_lie(c, word);
		lies |= bit;
	}
	free(words);
	if (good)
		device_set_lies(c->s, node, lies);
	return good;
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
