// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Ports: attributes are asked of the HCA's agent; what packets need of them is kept here.
 *
 * An event makes the kept part be read again before Linux hears of it, so that a client that reacts at
 * once sends with the new LID, P_Key or GID.
 */
#include <linux/completion.h>

#include "simhca.h"

#define ANSWER_WITHIN (10 * HZ)
#define ATTR_DATA 64		/* offset of an SMP's data */
#define PKEYS_PER_BLOCK 32
#define GUIDS_PER_BLOCK 8

/* PortInfo (14.2.5.6), offsets of fields in its data */
enum {
	PI_GID_PREFIX = 8, PI_LID = 16, PI_SM_LID = 18, PI_CAPMASK = 20, PI_WIDTH_ACTIVE = 31,
	PI_STATE = 32, PI_PHYS_STATE = 33, PI_LMC = 34, PI_SPEED_ACTIVE = 35, PI_MTU_SM_SL = 36,
	PI_VL_CAP = 37, PI_MTU_CAP = 41, PI_PKEY_VIOLATIONS = 46, PI_QKEY_VIOLATIONS = 48,
	PI_GUID_CAP = 50, PI_SUBNET_TIMEOUT = 51, PI_CAPMASK2 = 60, PI_SPEED_EXT_ACTIVE = 62,
};

/* --- asking the HCA's agents --- */

struct call {
	struct completion done;
	u16 answer;			/* enum simhca_answer */
	u8 mad[SIMHCA_MAD_SIZE];
};

void simhca_take_answer(struct simhca_dev *d, const struct simhca_frame *f, const u8 *data)
{
	unsigned long flags;
	struct call *c;

	xa_lock_irqsave(&d->calls, flags);
	c = f->id <= U32_MAX ? __xa_erase(&d->calls, f->id) : NULL;
	if (c) {
		c->answer = f->flags;
		if (f->flags == SIMHCA_REPLY && f->length == SIMHCA_MAD_SIZE)
			memcpy(c->mad, data, SIMHCA_MAD_SIZE);
		else if (f->flags == SIMHCA_REPLY)
			c->answer = SIMHCA_CONSUMED;
		complete(&c->done);
	}
	xa_unlock_irqrestore(&d->calls, flags);
}

int simhca_send_patiently(struct simhca_dev *d, const struct simhca_frame *f, const void *data)
{
	unsigned long end = jiffies + ANSWER_WITHIN;

	while (!simhca_send_frame(d, f, data)) {
		if (READ_ONCE(d->broken) || time_after(jiffies, end))
			return -EIO;
		msleep(1);
	}
	return 0;
}

/* Ends a call without an answer. */
static void fail_calls(struct simhca_dev *d)
{
	unsigned long id, flags;
	struct call *c;

	xa_lock_irqsave(&d->calls, flags);
	xa_for_each(&d->calls, id, c) {
		__xa_erase(&d->calls, id);
		c->answer = SIMHCA_CONSUMED;
		complete(&c->done);
	}
	xa_unlock_irqrestore(&d->calls, flags);
}

/* Passes a MAD to the agents of a port.  Returns an enum simhca_answer, or -errno; may sleep. */
static int call_agent(struct simhca_dev *d, u8 port, u16 flags, const struct simhca_mad *m,
		      void *answer)
{
	struct simhca_frame f = {
		.kind = SIMHCA_MAD, .port = port, .flags = flags, .length = sizeof(*m),
	};
	struct call c;
	u32 id;
	int r;

	init_completion(&c.done);
	r = xa_alloc_cyclic_irq(&d->calls, &id, &c, xa_limit_32b, &d->next_call, GFP_KERNEL);
	if (r < 0)
		return r;
	f.id = id;
	if (simhca_send_patiently(d, &f, m) || !wait_for_completion_timeout(&c.done, ANSWER_WITHIN)) {
		if (xa_erase_irq(&d->calls, id) == &c)
			return -ETIMEDOUT;
		wait_for_completion(&c.done);	/* the answer has just come */
	}
	if (c.answer == SIMHCA_REPLY)
		memcpy(answer, c.mad, SIMHCA_MAD_SIZE);
	return c.answer;
}

/* Gets an attribute by our own agent, whatever the M_Key; data: 64 bytes. */
static int get_attribute(struct simhca_dev *d, u8 port, u16 attr, u32 mod, u8 *data)
{
	struct simhca_mad *m = kzalloc(sizeof(*m), GFP_KERNEL);
	struct ib_smp *smp;
	int r;

	if (!m)
		return -ENOMEM;
	smp = (struct ib_smp *)m->mad;
	smp->base_version = IB_MGMT_BASE_VERSION;
	smp->mgmt_class = IB_MGMT_CLASS_SUBN_LID_ROUTED;
	smp->class_version = 1;
	smp->method = IB_MGMT_METHOD_GET;
	smp->attr_id = cpu_to_be16(attr);
	smp->attr_mod = cpu_to_be32(mod);
	r = call_agent(d, port, SIMHCA_TRUSTED, m, m->mad);
	if (r == SIMHCA_REPLY && (smp->status & cpu_to_be16(0x7fff)))
		r = -EINVAL;
	if (r == SIMHCA_REPLY)
		memcpy(data, m->mad + ATTR_DATA, 64);
	kfree(m);
	return r == SIMHCA_REPLY ? 0 : r < 0 ? r : -EIO;
}

static int get_port_info(struct simhca_dev *d, u8 port, u8 *info)
{
	return get_attribute(d, port, be16_to_cpu(IB_SMP_ATTR_PORT_INFO), port, info);
}

/* --- what packets are made of --- */

static int read_pkeys(struct simhca_port *p)
{
	u8 data[64];

	for (unsigned int block = 0; block * PKEYS_PER_BLOCK < p->n_pkeys; block++) {
		int r = get_attribute(p->dev, p->num, be16_to_cpu(IB_SMP_ATTR_PKEY_TABLE), block, data);

		if (r)
			return r;
		for (unsigned int i = 0; i < PKEYS_PER_BLOCK; i++)
			if (block * PKEYS_PER_BLOCK + i < p->n_pkeys)
				WRITE_ONCE(p->pkeys[block * PKEYS_PER_BLOCK + i],
					   get_unaligned_be16(data + 2 * i));
	}
	return 0;
}

static int read_guids(struct simhca_port *p)
{
	u8 data[64];

	for (unsigned int block = 0; block * GUIDS_PER_BLOCK < p->n_guids; block++) {
		int r = get_attribute(p->dev, p->num, be16_to_cpu(IB_SMP_ATTR_GUID_INFO), block, data);

		if (r)
			return r;
		for (unsigned int i = 0; i < GUIDS_PER_BLOCK; i++)
			if (block * GUIDS_PER_BLOCK + i < p->n_guids)
				memcpy(&p->guids[block * GUIDS_PER_BLOCK + i], data + 8 * i, 8);
	}
	return 0;
}

static int refresh(struct simhca_port *p, unsigned long changed)
{
	u8 info[64];
	int r = get_port_info(p->dev, p->num, info);

	if (r)
		return r;
	p->gid_prefix = get_unaligned_be64(info + PI_GID_PREFIX);
	p->lid = get_unaligned_be16(info + PI_LID);
	p->lmc = info[PI_LMC] & 7;
	if (changed & SIMHCA_STATE_CHANGED)
		p->state = info[PI_STATE] & 15;
	if (changed & SIMHCA_PKEYS_CHANGED)
		r = read_pkeys(p);
	if (!r && (changed & SIMHCA_GIDS_CHANGED))
		r = read_guids(p);
	return r;
}

u16 simhca_pkey(const struct simhca_port *p, unsigned int index)
{
	return index < p->n_pkeys ? READ_ONCE(p->pkeys[index]) : 0;
}

u16 simhca_pkey_index(const struct simhca_port *p, u16 pkey)
{
	for (unsigned int i = 0; i < p->n_pkeys; i++) {
		if (simhca_pkeys_match(READ_ONCE(p->pkeys[i]), pkey))
			return i;
	}
	return 0;
}

/* --- events --- */

static void dispatch(struct simhca_port *p, enum ib_event_type type)
{
	struct ib_event e = { .device = &p->dev->ibdev, .event = type, .element.port_num = p->num };

	ib_dispatch_event(&e);
}

static void add_changes(struct simhca_port *p, unsigned long changed)
{
	unsigned long old;

	do
		old = READ_ONCE(p->changed);
	while (cmpxchg(&p->changed, old, old | changed) != old);
}

/* Not on the device's own queue, whose work it waits for. */
static void queue_events(struct simhca_port *p, unsigned long delay)
{
	queue_delayed_work(system_long_wq, &p->event_work, delay);
}

static void on_events(struct work_struct *work)
{
	struct simhca_port *p = container_of(work, struct simhca_port, event_work.work);
	enum ib_port_state before = p->state;
	unsigned long changed;

	if (!READ_ONCE(p->dev->tells) || READ_ONCE(p->dev->broken))
		return;
	changed = xchg(&p->changed, 0);
	if (!changed)
		return;
	if (refresh(p, changed)) {
		add_changes(p, changed);
		queue_events(p, HZ);
		return;
	}
	if (before == IB_PORT_ACTIVE && (changed & SIMHCA_STATE_CHANGED))
		dispatch(p, IB_EVENT_PORT_ERR);
	if (changed & SIMHCA_LID_CHANGED)
		dispatch(p, IB_EVENT_LID_CHANGE);
	if (changed & SIMHCA_SM_CHANGED)
		dispatch(p, IB_EVENT_SM_CHANGE);
	if (changed & SIMHCA_PKEYS_CHANGED)
		dispatch(p, IB_EVENT_PKEY_CHANGE);
	if (changed & SIMHCA_GIDS_CHANGED)
		dispatch(p, IB_EVENT_GID_CHANGE);
	if (p->state == IB_PORT_ACTIVE && (changed & SIMHCA_STATE_CHANGED))
		dispatch(p, IB_EVENT_PORT_ACTIVE);
	if (changed & SIMHCA_REREGISTER)
		dispatch(p, IB_EVENT_CLIENT_REREGISTER);
}

void simhca_take_event(struct simhca_dev *d, const struct simhca_frame *f)
{
	struct simhca_port *p = port_of(d, f->port);

	add_changes(p, f->flags);
	queue_events(p, 0);
}

void simhca_ports_break(struct simhca_dev *d)
{
	struct ib_event e = { .device = &d->ibdev, .event = IB_EVENT_DEVICE_FATAL };

	fail_calls(d);
	if (READ_ONCE(d->tells))
		ib_dispatch_event(&e);
}

/* --- start and end --- */

static int node_read(struct simhca_dev *d)
{
	u8 info[64];
	int r = get_attribute(d, 1, be16_to_cpu(IB_SMP_ATTR_NODE_INFO), 0, info);

	if (r)
		return r;
	d->pkey_cap = get_unaligned_be16(info + 28);
	d->device_id = get_unaligned_be16(info + 30);
	d->revision = get_unaligned_be32(info + 32);
	d->vendor_id = get_unaligned_be32(info + 36) & 0xffffff;
	r = get_attribute(d, 1, be16_to_cpu(IB_SMP_ATTR_NODE_DESC), 0, info);
	if (!r)
		memcpy(d->ibdev.node_desc, info, sizeof(info));
	return r;
}

static int port_read(struct simhca_dev *d, struct simhca_port *p)
{
	u8 info[64];
	int r = get_port_info(d, p->num, info);

	if (r)
		return r;
	p->n_pkeys = d->pkey_cap;
	p->n_guids = max_t(u8, info[PI_GUID_CAP], 1);
	p->pkeys = kcalloc(p->n_pkeys, sizeof(*p->pkeys), GFP_KERNEL);
	p->guids = kcalloc(p->n_guids, sizeof(*p->guids), GFP_KERNEL);
	if (!p->pkeys || !p->guids)
		return -ENOMEM;
	return refresh(p, SIMHCA_STATE_CHANGED | SIMHCA_PKEYS_CHANGED | SIMHCA_GIDS_CHANGED);
}

void simhca_ports_prepare(struct simhca_dev *d)
{
	for (u32 i = 0; i < d->n_ports; i++) {
		d->ports[i].dev = d;
		d->ports[i].num = i + 1;
		INIT_DELAYED_WORK(&d->ports[i].event_work, on_events);
	}
}

int simhca_ports_read(struct simhca_dev *d)
{
	int r = node_read(d);

	for (u32 i = 0; i < d->n_ports && !r; i++)
		r = port_read(d, &d->ports[i]);
	return r;
}

void simhca_ports_tell(struct simhca_dev *d, bool tell)
{
	WRITE_ONCE(d->tells, tell);
	for (u32 i = 0; i < d->n_ports; i++) {
		if (tell)
			queue_events(&d->ports[i], 0);
		else
			cancel_delayed_work_sync(&d->ports[i].event_work);
	}
}

void simhca_ports_free(struct simhca_dev *d)
{
	for (u32 i = 0; i < d->n_ports; i++) {
		cancel_delayed_work_sync(&d->ports[i].event_work);
		kfree(d->ports[i].pkeys);
		kfree(d->ports[i].guids);
	}
}

/* --- verbs --- */

int simhca_process_mad(struct ib_device *ibdev, int flags, u32 port, const struct ib_wc *wc,
		       const struct ib_grh *grh, const struct ib_mad *in, struct ib_mad *out,
		       size_t *out_size, u16 *out_pkey)
{
	struct simhca_dev *d = to_dev(ibdev);
	struct simhca_mad *m = kzalloc(sizeof(*m), GFP_KERNEL);
	int r;

	if (!m)
		return IB_MAD_RESULT_FAILURE;
	memcpy(m->mad, in, SIMHCA_MAD_SIZE);
	if (wc && grh) {	/* it came over the link; Linux's own SMPs have no GRH */
		m->source_qp = wc->src_qp;
		m->source_lid = wc->slid;
		m->sl = wc->sl;
		m->by_cable = 1;
		m->pkey = simhca_pkey(port_of(d, port), wc->pkey_index);
	}
	r = call_agent(d, port, flags & IB_MAD_IGNORE_MKEY ? SIMHCA_TRUSTED : 0, m, out);
	kfree(m);
	switch (r) {
	case SIMHCA_REPLY:
		return IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY;
	case SIMHCA_CONSUMED:
		return IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_CONSUMED;
	case SIMHCA_NOT_MINE:
		return IB_MAD_RESULT_SUCCESS;
	default:
		return IB_MAD_RESULT_FAILURE;
	}
}

int simhca_query_port(struct ib_device *ibdev, u32 port, struct ib_port_attr *a)
{
	struct simhca_dev *d = to_dev(ibdev);
	struct simhca_port *p = port_of(d, port);
	u8 info[64];
	int r = get_port_info(d, port, info);

	if (r)
		return r;
	a->subnet_prefix = get_unaligned_be64(info + PI_GID_PREFIX);
	a->lid = get_unaligned_be16(info + PI_LID);
	a->sm_lid = get_unaligned_be16(info + PI_SM_LID);
	a->port_cap_flags = get_unaligned_be32(info + PI_CAPMASK);
	a->port_cap_flags2 = get_unaligned_be16(info + PI_CAPMASK2);
	a->active_width = info[PI_WIDTH_ACTIVE];
	a->state = info[PI_STATE] & 15;
	a->phys_state = info[PI_PHYS_STATE] >> 4;
	a->lmc = info[PI_LMC] & 7;
	a->active_speed = info[PI_SPEED_ACTIVE] >> 4;
	if (info[PI_SPEED_EXT_ACTIVE] >> 4)
		a->active_speed = (info[PI_SPEED_EXT_ACTIVE] >> 4) << 4;	/* IB_SPEED_FDR … */
	a->active_mtu = info[PI_MTU_SM_SL] >> 4;
	a->sm_sl = info[PI_MTU_SM_SL] & 15;
	a->max_vl_num = info[PI_VL_CAP] >> 4;
	a->max_mtu = info[PI_MTU_CAP] & 15;
	a->bad_pkey_cntr = get_unaligned_be16(info + PI_PKEY_VIOLATIONS);
	a->qkey_viol_cntr = get_unaligned_be16(info + PI_QKEY_VIOLATIONS);
	a->subnet_timeout = info[PI_SUBNET_TIMEOUT] & 31;
	a->gid_tbl_len = p->n_guids;
	a->pkey_tbl_len = p->n_pkeys;
	a->max_msg_sz = 1u << 30;
	return 0;
}

int simhca_modify_port(struct ib_device *ibdev, u32 port, int mask, struct ib_port_modify *m)
{
	struct simhca_capabilities c = { m->set_port_cap_mask, m->clr_port_cap_mask };
	struct simhca_frame f = { .kind = SIMHCA_CAPABILITIES, .port = port, .length = sizeof(c) };

	if (!c.set && !c.clear)
		return 0;
	return simhca_send_patiently(to_dev(ibdev), &f, &c);
}

int simhca_port_immutable(struct ib_device *ibdev, u32 port, struct ib_port_immutable *im)
{
	const struct simhca_port *p = port_of(to_dev(ibdev), port);

	im->pkey_tbl_len = p->n_pkeys;
	im->gid_tbl_len = p->n_guids;
	im->core_cap_flags = RDMA_CORE_PORT_IBA_IB;
	im->max_mad_size = IB_MGMT_MAD_SIZE;
	return 0;
}

int simhca_query_gid(struct ib_device *ibdev, u32 port, int index, union ib_gid *gid)
{
	const struct simhca_port *p = port_of(to_dev(ibdev), port);

	if (index < 0 || index >= p->n_guids)
		return -EINVAL;
	gid->global.subnet_prefix = cpu_to_be64(p->gid_prefix);
	gid->global.interface_id = p->guids[index];
	return 0;
}

int simhca_query_pkey(struct ib_device *ibdev, u32 port, u16 index, u16 *pkey)
{
	const struct simhca_port *p = port_of(to_dev(ibdev), port);

	if (index >= p->n_pkeys)
		return -EINVAL;
	*pkey = simhca_pkey(p, index);
	return 0;
}
