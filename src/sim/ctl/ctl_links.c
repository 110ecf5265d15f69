/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Commands that unplug, plug, move, flap and degrade cables. */
#include "sim/ctl/command.h"

#include "lib/format/yaml_value.h"
#include "sim/dev/device.h"

#define FLAPS_MAX 1000

/* Whether the port that the first word names has a cable, plugged in or not. */
static bool has_cable(struct call *c)
{
	const struct sim_port *p = &c->f->ports[c->port];

	if (p->num == 0)
		return refuse(c, "'%s' does not name a port of the switch: give for example "
			 "'%s/P1'", c->word[0], c->word[0]);
	return p->peer != SIM_NONE || refuse(c, "no cable at '%s'", c->word[0]);
}

/* The node that the text names as a whole; SIM_NONE if it names a port. */
static uint32_t whole_node(const struct sim_fabric *f, const char *text)
{
	struct buf why = { 0 };
	uint32_t node = find_node_by_text(f, text, &why);
	uint64_t guid;

	buf_free(&why);
	/* a GUID other than the node's own is that of one of its ports */
	if (node != SIM_NONE && value_u64(text, &guid) && f->nodes[node].guid != guid)
		return SIM_NONE;
	return node;
}

static bool plug_all(struct call *c, uint32_t node, bool plugged)
{
	const struct sim_node *n = &c->f->nodes[node];
	bool some = false;

	for (uint32_t port = n->port0 + 1; port <= n->port0 + n->nports; port++) {
		some |= c->f->ports[port].peer != SIM_NONE;
		cable_plug(c->s, port, plugged);
	}
	return some || refuse(c, "no cable at '%s'", c->word[0]);
}

bool cmd_link_plug(struct call *c)
{
	uint32_t node = whole_node(c->f, c->word[0]);
	bool plugged = is_named(c, "up");

	if (node != SIM_NONE)
		return plug_all(c, node, plugged);
	if (!get_port(c, c->word[0], &c->port) || !has_cable(c))
		return false;
	cable_plug(c->s, c->port, plugged);
	return true;
}

bool cmd_link_connect(struct call *c)
{
	struct buf why = { 0 };
	uint32_t other;

	return get_port(c, c->word[1], &other) &&
	       (cable_move(c->s, c->port, other, &why) || refuse_for(c, &why));
}

/* The argument is the port number itself, so that nothing has to be freed. */
static void pull_later(struct sim *s, void *port)
{
	cable_plug(s, (uint32_t)(uintptr_t)port, false);
}

static void plug_later(struct sim *s, void *port)
{
	cable_plug(s, (uint32_t)(uintptr_t)port, true);
}

bool cmd_link_flap(struct call *c)
{
	uint64_t count = 1;
	int64_t interval = 1000000;
	void *arg = (void *)(uintptr_t)c->port;

	if (!has_cable(c) ||
	    !get_number(c, "--count", option(c, "--count"), 1, FLAPS_MAX, &count) ||
	    !get_time(c, "--interval", option(c, "--interval"), &interval))
		return false;
	cable_plug(c->s, c->port, false);
	sim_after(c->s, interval, plug_later, arg);
	for (int64_t i = 1; i < (int64_t)count; i++) {
		sim_after(c->s, 2 * i * interval, pull_later, arg);
		sim_after(c->s, (2 * i + 1) * interval, plug_later, arg);
	}
	return true;
}

bool cmd_link_degrade(struct call *c)
{
	uint8_t width, speed, ext;

	if (!has_cable(c))
		return false;
	if (!parse_link(c->word[1], &width, &speed, &ext))
		return refuse(c, "'%s' is neither a width or speed, such as 1x, SDR or 4xFDR, nor 'full'",
			      c->word[1]);
	cable_degrade(c->s, c->port, width, speed, ext);
	return true;
}
