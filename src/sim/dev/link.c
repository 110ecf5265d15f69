/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Negotiates width and speed of links, trains them, and takes them down.
 *
 * Both ends change state at the same time.  A link that is up in the model (link_is_up()) is Down
 * in PortState until it is trained.  It stays Down if the ends have no width or no speed in common.
 */
#include "sim/dev/dev_internal.h"

/*
 * Real links take from milliseconds to seconds to train.  This is long enough for a manager to see
 * the port Down, and too short to make tests wait.
 */
#define LINK_TRAINING_US 10000

/* Speeds as bits in order: SDR, DDR, QDR of LinkSpeed, then FDR10, then those of LinkSpeedExt. */
enum { RATE_FDR10 = 1 << 3, RATE_EXT_SHIFT = 4 };

struct rate {
	uint8_t width;		/* LinkWidthActive */
	unsigned speed;		/* one bit */
};

static unsigned top_bit(unsigned v)
{
	return v ? 1u << (31 - __builtin_clz(v)) : 0;
}

static unsigned speeds_enabled(const struct sim *s, uint32_t port)
{
	const uint8_t *info = s->f->ports[port].info;

	return low4(info + PI_SPEED_ACTIVE_ENABLED) |
	       (device_port(s, port)->fdr10_enabled ? RATE_FDR10 : 0) |
	       ext_enabled(info) << RATE_EXT_SHIFT;
}

/* All speeds up to the cable's limit. */
static unsigned cable_speeds(const struct sim_port *p)
{
	unsigned bound = p->cable_ext ? (unsigned)p->cable_ext << RATE_EXT_SHIFT :
			 p->cable_fdr10 ? RATE_FDR10 : p->cable_speed;

	return bound ? 2 * top_bit(bound) - 1 : ~0u;
}

static uint8_t best_width(uint8_t common, uint8_t bound)
{
	static const uint8_t widest_first[] = {
		SIM_WIDTH_12X, SIM_WIDTH_8X, SIM_WIDTH_4X, SIM_WIDTH_2X, SIM_WIDTH_1X,
	};
	bool allowed = bound == 0;

	for (size_t i = 0; i < ARRAY_SIZE(widest_first); i++) {
		allowed |= widest_first[i] == bound;
		if (allowed && (common & widest_first[i]))
			return widest_first[i];
	}
	return 0;
}

/* False if the ends have no width or no speed in common. */
static bool negotiate(const struct sim *s, uint32_t port, struct rate *r)
{
	const struct sim_port *p = &s->f->ports[port], *q = &s->f->ports[p->peer];

	r->width = best_width(p->info[PI_WIDTH_ENABLED] & q->info[PI_WIDTH_ENABLED],
			      p->cable_width);
	r->speed = top_bit(speeds_enabled(s, port) & speeds_enabled(s, p->peer) & cable_speeds(p));
	return r->width && r->speed;
}

static void set_rate(struct sim *s, uint32_t port, struct rate r)
{
	uint8_t *info = s->f->ports[port].info;
	unsigned ext = r.speed >> RATE_EXT_SHIFT, active = SIM_SPEED_QDR;

	info[PI_WIDTH_ACTIVE] = r.width;
	if (r.speed <= SIM_SPEED_QDR)
		active = r.speed;
	else if (ext && node_of(s->f, port)->profile->extended_active)
		active = 0;
	set_high4(info + PI_SPEED_ACTIVE_ENABLED, active);
	set_ext_active(info, ext);
	device_port(s, port)->fdr10_active = r.speed == RATE_FDR10 ? XPI_FDR10 : 0;
}

/*
 * Sets PortStateChange and sends trap 128; not for a change that a SubnSet at this port made
 * (14.2.5.4).
 */
static void report_change(struct sim *s, uint32_t port)
{
	struct sim_switch *sw = switch_of(s->f, node_of(s->f, port));

	if (!sw || node_of(s->f, port)->off)
		return;
	sw->info[SI_LIFE_TIME_STATE_OPT] |= SI_STATE_CHANGE;
	trap_link_state(s, sw->node);
}

static void end_up(struct sim *s, uint32_t port, struct rate r)
{
	set_rate(s, port, r);
	port_set_state(s, port, SIM_PORT_INIT, SIM_PHYS_LINK_UP);
	report_change(s, port);
}

void link_up_now(struct sim *s, uint32_t port)
{
	const struct sim_port *p = &s->f->ports[port];
	struct rate r;

	if (p->state != SIM_PORT_DOWN || !link_is_up(s->f, port) || !negotiate(s, port, &r))
		return;
	end_up(s, port, r);
	end_up(s, p->peer, r);
}

static struct device_port *training_end(const struct sim *s, uint32_t port)
{
	uint32_t peer = s->f->ports[port].peer;

	return device_port(s, peer < port ? peer : port);
}

static void trained(struct sim *s, void *arg)
{
	struct device_port *d = arg;

	d->train_timer = 0;
	link_up_now(s, device_port_index(s, d));
}

void link_train(struct sim *s, uint32_t port)
{
	struct device_port *d;

	if (!link_is_up(s->f, port))
		return;
	d = training_end(s, port);
	sim_cancel(s, d->train_timer);
	d->train_timer = sim_after(s, LINK_TRAINING_US, trained, d);
}

/*
 * A port gets no flow control for a VL that the other end lacks.  Its watchdog (7.9.4) then
 * retrains the link.  Devices do that within about a millisecond; here it takes longer, so that a
 * manager which waits for a processor does not trigger it.  It is counted once.
 */
#define CREDIT_WATCHDOG_US 300000

static bool lacks_credits(const struct sim_fabric *f, uint32_t port)
{
	const struct sim_port *p = &f->ports[port];

	return link_is_up(f, port) && p->state == SIM_PORT_ACTIVE &&
	       f->ports[p->peer].state == SIM_PORT_ACTIVE && p->op_vls != f->ports[p->peer].op_vls;
}

static void watchdog_bites(struct sim *s, void *arg)
{
	struct device_port *d = arg;
	uint32_t port = device_port_index(s, d);

	d->credit_timer = 0;
	if (!lacks_credits(s->f, port))
		return;
	port_counters(&s->f->ports[port])->link_recovers++;
	port_counters(&s->f->ports[s->f->ports[port].peer])->link_recovers++;
}

void link_watch_credits(struct sim *s, uint32_t port)
{
	struct device_port *d;

	if (s->f->ports[port].peer == SIM_NONE)
		return;
	d = training_end(s, port);
	if (!lacks_credits(s->f, port)) {
		sim_cancel(s, d->credit_timer);
		d->credit_timer = 0;
	} else if (!d->credit_timer) {
		d->credit_timer = sim_after(s, CREDIT_WATCHDOG_US, watchdog_bites, d);
	}
}

static void end_down(struct sim *s, uint32_t port, bool report)
{
	struct sim_port *p = &s->f->ports[port];
	unsigned sleep = low4(p->info + PI_PHYS_STATE_DOWN_DEFAULT) == SIM_PHYS_SLEEP;
	bool was_up = p->state != SIM_PORT_DOWN;

	port_set_state(s, port, SIM_PORT_DOWN, p->disabled ? SIM_PHYS_DISABLED :
					       sleep ? SIM_PHYS_SLEEP : SIM_PHYS_POLLING);
	if (was_up && report) {
		port_counters(p)->link_downed++;
		report_change(s, port);
	}
}

void link_down(struct sim *s, uint32_t port, bool by_set)
{
	uint32_t peer = s->f->ports[port].peer;

	end_down(s, port, !by_set);
	if (peer == SIM_NONE)
		return;
	end_down(s, peer, true);
	sim_cancel(s, training_end(s, port)->train_timer);
	training_end(s, port)->train_timer = 0;
}

void cable_plug(struct sim *s, uint32_t port, bool plugged)
{
	struct sim_port *p = &s->f->ports[port];

	if (p->peer == SIM_NONE || p->unplugged == !plugged)
		return;
	p->unplugged = s->f->ports[p->peer].unplugged = !plugged;
	link_down(s, port, false);
	link_train(s, port);
}

/* No timer of a former cable can still run: link_down() cancelled it when the cable was unplugged. */
bool cable_move(struct sim *s, uint32_t port_a, uint32_t port_b, struct buf *err)
{
	if (!simfab_reconnect(s->f, port_a, port_b, err))
		return false;
	link_train(s, port_a);
	return true;
}

static void bound_cable(struct sim_port *p, uint8_t width, uint8_t speed, uint8_t ext)
{
	p->cable_width = width;
	p->cable_speed = speed;
	p->cable_ext = ext;
	p->cable_fdr10 = false;
}

void cable_degrade(struct sim *s, uint32_t port, uint8_t width, uint8_t speed, uint8_t ext)
{
	struct sim_port *p = &s->f->ports[port];

	if (p->peer == SIM_NONE)
		return;
	bound_cable(p, width, speed, ext);
	bound_cable(&s->f->ports[p->peer], width, speed, ext);
	link_down(s, port, false);
	link_train(s, port);
}
