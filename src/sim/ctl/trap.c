/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Command `trap`, which makes a device send a trap (14.2.5.1) by causing its event.
 *
 * Link changes and packets with wrong keys cause the other traps.
 */
#include "sim/ctl/command.h"

#include <string.h>

#include "sim/dev/device.h"

bool cmd_trap(struct call *c)
{
	const struct sim_node *n;
	uint64_t trap;
	uint32_t port, node;
	char desc[sizeof(n->desc)];

	if (!get_port(c, c->word[0], &port) ||
	    !get_number(c, "NUMBER", c->word[1], 0, UINT16_MAX, &trap))
		return false;
	node = c->s->f->ports[port].node;
	n = &c->s->f->nodes[node];
	switch (trap) {
	case 129:
	case 130:
	case 131:
		return device_threshold(c->s, port, (unsigned)trap) ||
		       refuse(c, "'%s' cannot send it", c->word[0]);
	case 144:
		memcpy(desc, n->desc, sizeof(desc));
		device_rename(c->s, node, desc);
		return true;
	case 145:
		device_set_system_guid(c->s, node, n->sysimg_guid + 1);
		return true;
	default:
		return refuse(c, "NUMBER must be 129, 130, 131, 144 or 145, not '%s'", c->word[1]);
	}
}
