/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Commands that change tables behind the subnet manager's back.
 *
 * They get and set the block that has the entry, like an SMP, but without M_Key, loss or counting.
 */
#include "sim/ctl/command.h"

#include <string.h>

#include "lib/base/bytes.h"
#include "sim/net/fields.h"

/* --- forwarding --- */

bool cmd_lft(struct call *c)
{
	uint64_t lid, out = SIM_LFT_DROP;
	uint8_t block[64];
	uint32_t port0 = c->f->nodes[c->node].port0;

	if (!get_number(c, "LID", c->word[1], 1, SIM_LID_MCAST - 1, &lid))
		return false;
	if (strcmp(c->word[2], "drop") != 0 &&
	    !get_number(c, "PORT", c->word[2], 0, SIM_LFT_DROP, &out))
		return false;
	if (!run_smp(c, port0, METHOD_GET, ATTR_LINEAR_FORWARDING, (uint32_t)lid / 64, block))
		return false;
	block[lid % 64] = (uint8_t)out;
	return run_smp(c, port0, METHOD_SET, ATTR_LINEAR_FORWARDING, (uint32_t)lid / 64, block);
}

/*
 * Switches a table on or off that replaces the linear one, by the second word, and sets the entry that
 * [LID PORT] give.
 */
static bool set_instead(struct call *c, uint16_t attr, bool locked, uint8_t *const *table)
{
	const struct sim_node *n = &c->f->nodes[c->node];
	uint8_t info[64] = { locked, 0, 0, strcmp(c->word[1], "off") != 0 };
	uint64_t lid = 0, out = SIM_LFT_DROP;

	if (!run_smp(c, n->port0, METHOD_SET, attr, 0, info))
		return false;
	if (c->n < 4)
		return true;
	if (!get_number(c, "LID", c->word[2], 1, SIM_LID_MCAST - 1, &lid) ||
	    !get_number(c, "PORT", c->word[3], 0, SIM_LFT_DROP, &out))
		return false;
	if (*table && lid < n->profile->lft_cap)
		(*table)[lid] = (uint8_t)out;
	return true;
}

static bool is_on_or_off(const struct call *c)
{
	return strcmp(c->word[1], "on") == 0 || strcmp(c->word[1], "off") == 0;
}

bool cmd_adaptive(struct call *c)
{
	bool locked = strcmp(c->word[1], "locked") == 0;

	if (!locked && !is_on_or_off(c))
		return refuse(c, "'%s' is not one of on, locked, off", c->word[1]);
	return set_instead(c, ATTR_ADAPTIVE_ROUTING_INFO, locked,
			   &c->f->switches[c->f->nodes[c->node].sw].adaptive_lft);
}

bool cmd_private(struct call *c)
{
	if (!is_on_or_off(c))
		return refuse(c, "'%s' is neither on nor off", c->word[1]);
	return set_instead(c, ATTR_PRIVATE_LFT_INFO, false,
			   &c->f->switches[c->f->nodes[c->node].sw].private_lft);
}

/* Parses "3,17" or "none" to bits of ports up to max. */
static bool get_ports(struct call *c, const char *list, unsigned max, uint64_t bits[4])
{
	char word[8];
	uint64_t n;

	memset(bits, 0, 4 * sizeof(*bits));
	if (strcmp(list, "none") == 0)
		return true;
	while (next_element(&list, word, sizeof(word))) {
		if (!get_number(c, "PORT", word, 0, max, &n))
			return false;
		bits[n / 64] |= 1ULL << n % 64;
	}
	return true;
}

/* An MFT block has 32 MLIDs and 16 ports, so an entry is spread over blocks (14.2.5.12). */
bool cmd_mft(struct call *c)
{
	const struct sim_node *node = &c->f->nodes[c->node];
	uint64_t mlid, bits[4];
	uint32_t mod;
	uint8_t block[64];

	if (!get_number(c, "MLID", c->word[1], SIM_LID_MCAST, SIM_LID_PERMISSIVE - 1, &mlid) ||
	    !get_ports(c, c->word[2], node->nports, bits))
		return false;
	for (unsigned position = 0; position * 16 <= node->nports; position++) {
		mod = position << 28 | (uint32_t)(mlid - SIM_LID_MCAST) / 32;
		if (!run_smp(c, node->port0, METHOD_GET, ATTR_MULTICAST_FORWARDING, mod, block))
			return false;
		put_be16(block + mlid % 32 * 2,
			 (uint16_t)(bits[position / 4] >> position % 4 * 16));
		if (!run_smp(c, node->port0, METHOD_SET, ATTR_MULTICAST_FORWARDING, mod, block))
			return false;
	}
	return true;
}

/* --- SL to VL --- */

/* Parses 16 VLs into the 8 bytes of the attribute. */
static bool get_vls(struct call *c, const char *list, uint8_t data[64])
{
	const char *rest = list;
	char word[8];
	uint64_t vl;
	unsigned sl = 0;

	memset(data, 0, 64);
	for (; sl < 16 && next_element(&rest, word, sizeof(word)); sl++) {
		if (!get_number(c, "a VL", word, 0, 15, &vl))
			return false;
		data[sl / 2] |= (uint8_t)(vl << (sl % 2 ? 0 : 4));
	}
	return (sl == 16 && !*rest) || refuse(c, "there must be 16 VLs, not '%s'", list);
}

/* Parses "all" or the number of a switch port.  Other nodes have one table a port. */
static bool get_range(struct call *c, const char *what, const char *text,
		      const struct sim_node *node, uint64_t *first, uint64_t *last)
{
	*first = 0;
	*last = is_switch(node) ? node->nports : 0;
	if (strcmp(text, "all") == 0)
		return true;
	if (!get_number(c, what, text, 0, node->nports, first))
		return false;
	*last = *first;
	return true;
}

bool cmd_sl2vl(struct call *c)
{
	uint64_t in, in_first, in_last, out, out_first, out_last;
	const struct sim_node *node = &c->f->nodes[c->node];
	uint8_t data[64], copy[64];

	if (!get_range(c, "IN", c->word[1], node, &in_first, &in_last) ||
	    !get_range(c, "OUT", c->word[2], node, &out_first, &out_last) ||
	    !get_vls(c, c->word[3], data))
		return false;
	for (in = in_first; in <= in_last; in++)
		for (out = out_first; out <= out_last; out++) {
			memcpy(copy, data, sizeof(copy));
			if (!run_smp(c, c->port, METHOD_SET, ATTR_SL_TO_VL, (uint32_t)(in << 8 | out),
				     copy))
				return false;
		}
	return true;
}

/* --- VL arbitration --- */

struct arbitration {
	uint8_t entries[128];
	unsigned n;
};

static bool get_entry(struct call *c, char *word, uint8_t entry[2])
{
	char *weight = strchr(word, ':');
	uint64_t vl, w;

	if (!weight)
		return refuse(c, "'%s' is not VL:WEIGHT", word);
	*weight++ = '\0';
	if (!get_number(c, "a VL", word, 0, 15, &vl) ||
	    !get_number(c, "a weight", weight, 0, 255, &w))
		return false;
	entry[0] = (uint8_t)vl;
	entry[1] = (uint8_t)w;
	return true;
}

static bool get_entries(struct call *c, const char *list, unsigned max, struct arbitration *a)
{
	char word[16];

	while (next_element(&list, word, sizeof(word))) {
		if (a->n == max)
			return refuse(c, "the table has only %u entries", max);
		if (!get_entry(c, word, a->entries + 2 * a->n++))
			return false;
	}
	return true;
}

/* Each table has two blocks of 32 entries; the second exists only if the table is longer (14.2.5.9). */
bool cmd_vlarb(struct call *c)
{
	const struct sim_port *p = &c->f->ports[c->port];
	bool high = strcmp(c->word[1], "high") == 0;
	struct arbitration a = { .n = 0 };
	uint8_t block[64];
	uint32_t mod;
	unsigned max;

	if (!high && strcmp(c->word[1], "low") != 0)
		return refuse(c, "'%s' is neither high nor low", c->word[1]);
	max = p->info[high ? PI_VLARB_HIGH_CAP : PI_VLARB_LOW_CAP];
if (max > 64)
		max = 64;
	if (!get_entries(c, c->word[2], max, &a))
		return false;
	for (unsigned i = 0; i * 32 < max; i++) {
		mod = (high ? 3 : 1) + i;
		memcpy(block, a.entries + 64 * i, 64);
		if (!run_smp(c, c->port, METHOD_SET, ATTR_VL_ARBITRATION, mod << 16 | p->num, block))
return false;
	}
	return true;
}

/* --- P_Keys --- */

bool cmd_pkey(struct call *c)
{
	uint64_t index, pkey;
	uint8_t block[64];
	uint32_t mod;
	const struct sim_port *p = &c->f->ports[c->port];

	if (p->n_pkeys == 0)
		return refuse(c, "'%s' has no P_Key table", c->word[0]);
	if (!get_number(c, "INDEX", c->word[1], 0, p->n_pkeys - 1u, &index) ||
	    !get_number(c, "P_KEY", c->word[2], 0, UINT16_MAX, &pkey))
		return false;
	mod = (uint32_t)index / 32 |
	      (is_switch(node_of(c->f, c->port)) ? (uint32_t)p->num << 16 : 0);
	if (!run_smp(c, c->port, METHOD_GET, ATTR_PKEY_TABLE, mod, block))
		return false;
	put_be16(block + index % 32 * 2, (uint16_t)pkey);
	return run_smp(c, c->port, METHOD_SET, ATTR_PKEY_TABLE, mod, block);
}
