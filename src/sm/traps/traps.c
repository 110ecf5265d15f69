/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Handles traps (14.4.10): answers and counts them, and has a sweep look at what they report.
 *
 * Each trap is answered (repress.c) and counted (trap_gate.c).  The next local sweep looks at the
 * node that the trap is about; a trap from an unknown port causes a full discovery.
 */
#include <inttypes.h>

#include <infiniband/umad_sm.h>

#include "lib/base/bytes.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "sm/devices/silent.h"
#include "sm/election/election.h"
#include "sm/keys/mkey.h"
#include "sm/sm_internal.h"

static struct log_ratelimit trap_log = LOG_RATELIMIT, flood_log = LOG_RATELIMIT;

/* The port in the published fabric; FABRIC_NONE: unknown. */
static uint32_t port_of_lid(const struct sm *sm, uint16_t lid)
{
	const struct subnet_state *s = sm->published;

	return s && lid && lid < IB_LID_MCAST_FIRST ? s->plan->port_by_lid[lid] : FABRIC_NONE;
}

/* Offsets in the Notice of trap 144 (14.2.5.1), whose details begin at byte 10. */
enum { NOTICE_LOCAL_CHANGES = 15, NOTICE_CAPMASK = 16, NOTICE_CHANGE_FLAGS = 20 };
/* In traps 129 to 131. */
enum { NOTICE_ABOUT_PORT = 14 };

/* Our port has the LID, before or after the running sweep. */
static bool is_our_lid(const struct sm *sm, const struct fabric *f, uint16_t lid)
{
	const struct plan *p = sm->sweep.f ? sm->sweep.plan : sm->published->plan;

	return lid == f->ports[f->self].lid || (p && lid == p->lid[f->self]);
}

/*
 * The trap only reports that a subnet manager on our own port started or stopped (IsSM), which the
 * running sweep, or the last one, has seen.  When a subnet manager starts or restarts, this trap
 * comes in the middle of its first sweep.
 */
static bool is_our_issm(const struct sm *sm, const struct mad_in *in, const uint8_t *notice)
{
	const struct fabric *f = sm->sweep.f ? sm->sweep.f : sm->published ? sm->published->f : NULL;

	return f && is_our_lid(sm, f, in->slid) &&
	       !notice[NOTICE_LOCAL_CHANGES] && !get_be16(notice + NOTICE_CHANGE_FLAGS) &&
	       !((get_be32(notice + NOTICE_CAPMASK) ^ f->ports[f->self].capmask) & ~IB_CAP_IS_SM);
}

/* The GUID of the port that a trap came from, by which the trap gate knows the source; 0: unknown. */
static uint64_t source_of(const struct sm *sm, uint16_t lid)
{
	const struct subnet_state *s = sm->published;
	uint32_t port = port_of_lid(sm, lid);

	return port == FABRIC_NONE ? 0 : s->f->ports[port].guid;
}

/*
 * What a trap asks for: a look after changes of link state, capability or description; a discovery
 * if its source is unknown.
 */
static unsigned trap_asks(bool generic, unsigned number, uint64_t source)
{
	if (!generic || (number != UMAD_SM_LINK_STATE_CHANGED_TRAP &&
			 number != UMAD_SM_LOCAL_CHANGES_TRAP &&
			 number != UMAD_SM_SYS_IMG_GUID_CHANGED_TRAP))
		return 0;
	/* the source is unknown, or its SystemImageGUID changed, which only a discovery reads */
	if (!source || number == UMAD_SM_SYS_IMG_GUID_CHANGED_TRAP)
		return TRAP_ALL;
	return number == UMAD_SM_LOCAL_CHANGES_TRAP ? TRAP_LOOK | TRAP_NAME : TRAP_LOOK;
}

static void look_soon(struct sm *sm, uint64_t source, unsigned asks)
{
	const struct fabric *f = sm->published ? sm->published->f : NULL;
	uint32_t port = f && source ? fabric_find_port(f, source) : FABRIC_NONE;

	if (port != FABRIC_NONE && asks & TRAP_NAME)
		sm->wishes.election |= f->ports[port].capmask & IB_CAP_IS_SM;
	if (port == FABRIC_NONE || asks & TRAP_ALL) {
		sm->wishes.trap_from_stranger = true;
	} else if (port_node(f, port)->silent && !silent_has_answered(sm, port_node(f, port)->guid)) {
		silent_ask(sm);	/* a sweep would not ask a silent node */
		if (!silent_told(sm, port_node(f, port)->guid))
			return;
	} else {
		sm_suspect(sm, &(struct suspect){ .guid = port_node(f, port)->guid,
						  .renamed = asks & TRAP_NAME });
	}
	wish_soon(sm);
}

static void arm_gate(struct sm *sm, int64_t now_us)
{
	int64_t next = trap_gate_next(sm->traps.gate, now_us);

	if (next == INT64_MAX)
		timer_stop(sm->traps.timer);
	else
		timer_set(sm->traps.timer, next - now_us, 0);
}

static uint32_t flood_port(const struct fabric *f, const struct trap_flood *flood)
{
	return f && flood->source ? fabric_find_port(f, flood->source) : FABRIC_NONE;
}

void sm_flood_text(const struct fabric *f, const struct trap_flood *flood, struct buf *out)
{
	uint32_t port = flood_port(f, flood);

	buf_puts(out, port == FABRIC_NONE ? "unknown ports, or too many ports at once" :
		      NODE_NAME(f, f->ports[port].node));
	if (flood->port)
		buf_printf(out, " port %u", flood->port);
	buf_printf(out, ": %" PRIu64 " traps in %.0f s, of which %" PRIu64 " were dropped",
		   flood->traps, (double)flood->us * 1e-6, flood->dropped);
}

static void tell_flood(struct sm *sm, const struct trap_flood *flood)
{
	const struct fabric *f = sm->published ? sm->published->f : NULL;
	uint32_t port = flood_port(f, flood);
	struct buf text = { 0 };
	struct event e;

	sm_flood_text(f, flood, &text);
	log_limited(&flood_log, LOG_LEVEL_WARNING, "trap", "%s", text.s);
	event_make(&e, EVENT_TRAP_FLOOD, "%s", text.s);
	if (port != FABRIC_NONE)
		event_guid(&e, "node", port_node(f, port)->guid);
	event_number(&e, "port", flood->port);
	event_number(&e, "traps", (int64_t)flood->traps);
	event_number(&e, "dropped", (int64_t)flood->dropped);
	event_number(&e, "microseconds", flood->us);
	sm_tell(sm, &e);
	buf_free(&text);
}

/* Serves sources whose buckets have room again, and reports floods. */
static void on_gate(void *arg)
{
	struct sm *sm = arg;
	int64_t now = clock_mono_us();
	struct trap_flood flood;
	uint64_t source;
	unsigned asks;

	while (trap_gate_due(sm->traps.gate, now, &source, &asks))
		look_soon(sm, source, asks);
	while (trap_gate_tell(sm->traps.gate, now, &flood))
		tell_flood(sm, &flood);
	arm_gate(sm, now);
}

/*
 * The port that a trap is about.  Traps 129 to 131 name one, which is not always on the node that
 * sent them.
 */
static unsigned port_of_trap(const uint8_t *notice, bool generic, unsigned number)
{
	return generic && number >= UMAD_SM_LINK_INTEGRITY_THRESHOLD_TRAP &&
	       number <= UMAD_SM_WATCHDOG_TIMER_EXPIRED_TRAP ? notice[NOTICE_ABOUT_PORT] : 0;
}

static bool on_trap(struct sm *sm, const struct mad_in *in)
{
	const uint8_t *notice = in->mad + 64;
	uint16_t number = get_be16(notice + 4);
	bool generic = notice[0] & 0x80;
	uint64_t source = source_of(sm, in->slid);
	unsigned asks = trap_asks(generic, number, source);
	int64_t now = clock_mono_us();

	if (sm->state != SM_MASTER)
		return true;
	repress(sm, in, port_of_lid(sm, in->slid));
	if (generic && number == UMAD_SM_LOCAL_CHANGES_TRAP && is_our_issm(sm, in, notice))
		asks = 0;
	/* whatever it reports, it stays out; its ports report that their links were taken down */
	if (asks && isolated_had_lid(sm, in->slid))
		return true;
	/*
	 * before a subnet is published no source is known, and the ports that come up send traps
	 * all at once
	 */
	if (sm->published && !trap_gate_take(sm->traps.gate, source, asks,
					     port_of_trap(notice, generic, number), now)) {
		arm_gate(sm, now);
		return false;
	}
	log_limited(&trap_log, LOG_LEVEL_INFO, "trap", "LID %u: %s %u", in->slid,
		    generic ? "trap" : "vendor trap", number);
	if (generic && number == UMAD_SM_BAD_MKEY_TRAP)
		mkey_violated(sm, port_of_lid(sm, in->slid), in->slid, notice);
	if (asks)
		look_soon(sm, source, asks);
	return true;
}

bool sm_receive(struct sm *sm, const struct mad_in *in)
{
	watch_smp(sm);
	if (in->len < 256)
		return true;
	if (in->mad[3] == UMAD_METHOD_TRAP)
		return get_be16(in->mad + 16) != UMAD_ATTR_NOTICE || on_trap(sm, in);
	election_receive(sm, in);
	return true;
}

bool sm_flood_at(const struct sm *sm, uint32_t i, struct trap_flood *out)
{
	return trap_gate_flood(sm->traps.gate, i, clock_mono_us(), out);
}

void traps_new(struct sm *sm)
{
	sm->traps.gate = trap_gate_new();
	sm->traps.timer = timer_new(sm->loop, on_gate, sm);
	repress_new(sm);
	watch_new(sm);
	flapping_new(sm);
}

void traps_free(struct sm *sm)
{
	timer_free(sm->traps.timer);
	trap_gate_free(sm->traps.gate);
	repress_free(sm);
	watch_free(sm);
	flapping_free(sm);
}
