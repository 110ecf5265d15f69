/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Forwards directed route SMPs as the SMI of a node does (14.2.2).
 *
 * The path may have a LID-routed part before it (DrSLID is not permissive) and after it (DrDLID is
 * not permissive).  There switches forward the SMP by the DLID of its header, without their SMIs,
 * until it reaches the node with that LID.  An answer goes all the way back.  Hop pointers from
 * clients are hostile until checked.
 */
#include "lib/base/bytes.h"
#include "sim/net/transit.h"

/* A node as its SMI sees it. */
struct smi {
	const struct sim_fabric *f;
	const struct sim_node *node;
	uint32_t port;			/* port where the SMP came in or starts */
	bool starts;			/* the SMP starts at this node */
};

static enum drop_reason leave(const struct smi *i, struct transit *t, uint8_t num, struct way *w)
{
	bool good = is_switch(i->node) ? num && num <= i->node->nports
				       : i->starts && num == i->f->ports[i->port].num;

	*w = (struct way){ i->node->port0 + num, PLACE_EXIT };
	t->p.slid = t->p.dlid = SIM_LID_PERMISSIVE;
	return good ? DROP_NONE : DROP_BAD_PATH;
}

static enum drop_reason take(const struct smi *i, struct way *w)
{
	*w = (struct way){ is_switch(i->node) ? i->node->port0 : i->port, PLACE_END };
	return DROP_NONE;
}

/* The directed part ends: the SMP is for this node, or goes on by LID from its port 0. */
static enum drop_reason path_ends(const struct smi *i, struct transit *t, uint16_t dlid,
				  struct way *w)
{
	if (dlid == SIM_LID_PERMISSIVE)
		return take(i, w);
	if (!is_switch(i->node))
		return DROP_BAD_PATH;
	t->p.dlid = dlid;
	t->p.slid = i->f->ports[i->node->port0].lid;
	t->mark = SIM_NONE;
	return way_by_lid(i->f, i->node->port0, PLACE_START, dlid, w);
}

/* 14.2.2.2 */
static enum drop_reason request(const struct smi *i, struct transit *t, struct way *w)
{
	uint8_t *mad = t->p.mad, *ptr = &mad[MAD_DR_HOP_PTR];
	unsigned count = mad[MAD_DR_HOP_CNT];

	if (*ptr == count + 1)
		return take(i, w);
	if (*ptr > count || (i->starts && *ptr))
		return DROP_BAD_PATH;
	if (*ptr)
		mad[SMP_RET_PATH + *ptr] = i->f->ports[i->port].num;
	++*ptr;
	if (*ptr > count)
		return path_ends(i, t, get_be16(mad + SMP_DR_DLID), w);
	return leave(i, t, mad[SMP_INIT_PATH + *ptr], w);
}

/* 14.2.2.4 */
static enum drop_reason answer(const struct smi *i, struct transit *t, struct way *w)
{
	uint8_t *mad = t->p.mad, *ptr = &mad[MAD_DR_HOP_PTR];
	unsigned count = mad[MAD_DR_HOP_CNT];

	if (*ptr == 0)
		return take(i, w);
	if (*ptr > count + 1 || (i->starts && *ptr != count + 1))
		return DROP_BAD_PATH;
	--*ptr;
	if (*ptr == 0)
		return path_ends(i, t, get_be16(mad + SMP_DR_SLID), w);
	return leave(i, t, mad[SMP_RET_PATH + *ptr], w);
}

enum drop_reason way_by_path(const struct sim_fabric *f, struct transit *t, struct way *w)
{
	struct smi smi = { f, node_of(f, t->port), t->port, t->place == PLACE_START };
	const uint8_t *mad = t->p.mad;
	bool back = mad[MAD_STATUS] & (MAD_STATUS_DR_D >> 8);

	*w = (struct way){ t->port, PLACE_END };
	if (mad[MAD_DR_HOP_CNT] > SIM_HOPS_MAX)
		return DROP_BAD_PATH;
	if (smi.starts ? get_be16(mad + (back ? SMP_DR_DLID : SMP_DR_SLID)) != SIM_LID_PERMISSIVE
		       : t->p.dlid != SIM_LID_PERMISSIVE) {
		enum drop_reason why = way_by_lid(f, t->port, t->place, t->p.dlid, w);

		if (why || w->place == PLACE_EXIT)
			return why;
		smi.starts = false;
	} else {
		t->p.slid = t->p.dlid = SIM_LID_PERMISSIVE;
	}
	/*
	 * in IBA the SMI forwards SMPs and the SMA answers them; in many switches one processor's
	 * firmware does both
	 */
	if (smi.node->hangs && !smi.starts)
		return DROP_SILENT;
	return back ? answer(&smi, t, w) : request(&smi, t, w);
}
