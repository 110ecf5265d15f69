/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the parts of sim/dev share: agents, ports, links, notices.
 *
 * Each agent takes a packet that arrived at an end port.  An agent that makes
 * an answer puts it into the packet itself (headers included) and returns true;
 * the caller sends it when the device's response time is over.
 */
#ifndef QOSD_SIM_DEV_DEV_INTERNAL_H
#define QOSD_SIM_DEV_DEV_INTERNAL_H

#include "sim/dev/device.h"
#include "sim/dev/fields.h"

/* --- the agents of the general services: pma.c, dm.c, cc.c --- */

/*
 * True if the packet was a request to this agent; it is its answer now: headers
 * by wire_turn_round(), method, status and data by the agent.  False: not for it.
 */
bool pma_receive(struct sim *s, uint32_t port, struct packet *p);
bool dm_receive(struct sim *s, uint32_t port, struct packet *p);
/* *answer: it is one now; false: a CC_Key let it be dropped. */
bool cc_receive(struct sim *s, uint32_t port, struct packet *p, bool *answer);
/* Congestion control of the port as after a reset. */
void congestion_forget(struct sim *s, uint32_t port);

/* --- state that the model does not have (device.c) --- */

struct notices;			/* notice.c */
struct memory;			/* lies.c */
struct congestion;		/* cc.c */

struct device_port {
	uint64_t train_timer;	/* of a link's end with the lower index; 0: not training */
	uint64_t credit_timer;	/* … of that end, too: since the ends' OperationalVLs differ */
	uint64_t command_timer;	/* port_command_later(): what is to be done then */
	uint8_t due_state, due_phys_state;
	struct notices *notices; /* end ports; NULL until the first */
	uint8_t fdr10_supported, fdr10_enabled, fdr10_active;
	uint8_t led;		/* LedInfo, its first byte */
	struct congestion *congestion;	/* cc.c; NULL: as after a reset */
};

struct devices {
	struct device_port *ports;
	uint64_t trap_tid;
	struct map64 memory_by_node;
	VEC(struct memory *) memories;
};

static inline struct devices *devices_of(const struct sim *s)
{
	return s->devices;
}

static inline struct device_port *device_port(const struct sim *s, uint32_t port)
{
	return &devices_of(s)->ports[port];
}

static inline uint32_t device_port_index(const struct sim *s, const struct device_port *d)
{
	return (uint32_t)(d - devices_of(s)->ports);
}

static inline struct sim_switch *switch_of(const struct sim_fabric *f, const struct sim_node *n)
{
	return n->sw == SIM_NONE ? NULL : &f->switches[n->sw];
}

/* CapabilityMask of the port whose SMA answers. */
static inline bool device_can(const struct sim_fabric *f, uint32_t port, uint32_t capability)
{
	return (get_be32(f->ports[sma_port(f, port)].info + PI_CAPMASK) & capability) != 0;
}

/* --- values after reset (poweron.c, poweron_ibsim.c) --- */

/* Everything that a node holds, as after a reset; its links are down. Allocates what is missing. */
void node_power_on_values(struct sim *s, uint32_t node);
/* The differences that a profile with `ibsim` makes. */
void ibsim_node_values(struct sim *s, uint32_t node);
/* As the topology says, or else the profile. */
bool node_has_enhanced_port0(const struct sim_node *n);

/* --- ports (port.c) --- */

/* Decodes info into the fields beside it; tells the hook when an end port changed. */
void port_sync(struct sim *s, uint32_t port);
/* PortState and PortPhysicalState as the state machines have them now. */
void port_set_state(struct sim *s, uint32_t port, uint8_t state, uint8_t phys_state);
/* What SubnSet(PortInfo) may ask of the link state machine (7.2.7); 0: nothing. */
bool port_state_allowed(const struct sim_port *p, unsigned state);
void port_command(struct sim *s, uint32_t port, unsigned state, unsigned phys_state);
/* When the device has answered. */
void port_command_later(struct sim *s, uint32_t port, unsigned state, unsigned phys_state);
/* Writable bits of PortInfo at this kind of port (14.2.5.6). */
const uint8_t *portinfo_writable(const struct sim_fabric *f, uint32_t port);

/* --- links (link.c) --- */

/* Trains the link at once, if it can come up: for the start. */
void link_up_now(struct sim *s, uint32_t port);
/* Starts training; the link comes up, if it can, after LINK_TRAINING_US. */
void link_train(struct sim *s, uint32_t port);
/* After a Set: do the ends of an Active link have the same OperationalVLs? */
void link_watch_credits(struct sim *s, uint32_t port);
/*
 * Both ends go down.  by_set: a SubnSet at `port` did it, which a switch does not
 * report there (14.2.5.4, PortStateChange).
 */
void link_down(struct sim *s, uint32_t port, bool by_set);

/* --- subnet management agent (sma*.c, mkey.c, lies.c) --- */

struct smp {
	struct sim *s;
	struct sim_node *node;
	uint32_t port;		/* whose SMA answers: port 0 of a switch, or the port itself */
	uint8_t in_num;		/* number of the port by which it came in … */
	bool by_cable;		/* … from outside */
	uint16_t attr;
	uint32_t mod;
	bool set;
	bool trusted;		/* nothing is hidden from it */
	uint64_t mkey;		/* that it came with */
	bool changed;		/* out: the Set changed something */
	uint8_t *data;		/* 64 bytes, in and out */
};

/* Handlers return the MAD status; when it is not 0, nothing has changed. */
typedef unsigned smp_handler(struct smp *q);
smp_handler sma_node_description, sma_node_info, sma_led_info;
smp_handler sma_port_info, sma_extended_port_info;
smp_handler sma_switch_info, sma_linear_forwarding, sma_multicast_forwarding;
smp_handler sma_adaptive_routing_info, sma_private_lft_info;
/* A switch forwards by its linear table again. */
void adaptive_end(struct sim_switch *sw);
smp_handler sma_guid_info, sma_pkey_table, sma_sl_to_vl, sma_vl_arbitration;
smp_handler sma_notice;
smp_handler true_scale_port_info, true_scale_pkey_table;	/* true_scale.c */

/* A request to devices, rather than to managers or an answer? */
bool sma_wants(const struct packet *p);
/* True if it was for the SMA; *answer says whether the packet is an answer now. */
bool sma_receive(struct sim *s, uint32_t port, struct packet *p, bool *answer);
/* The port that an attribute modifier means, SIM_NONE if there is none such. */
uint32_t smp_port(const struct smp *q, unsigned num);
/* Copies n bytes; false if they were the same. */
bool smp_store(void *to, const void *from, size_t n);

/* M_Key check (14.2.4): may the request be served? Runs the lease, counts, traps. */
bool mkey_check(struct sim *s, uint32_t port, const struct packet *p);
/* M_KeyProtectBits. */
unsigned mkey_protection(const struct sim_port *p);
/* A lease that has run out takes the protection away. */
void mkey_expire(struct sim *s, uint32_t port);

static inline unsigned lies_of(const struct sim_node *n)
{
	return n->profile->lies | n->lies;
}
/* The status by which the device refuses a Set whatever is in it; STATUS_OK: it does not. */
unsigned refusal_of(const struct smp *q);
/* The device never answers that. */
bool stays_unanswered(const struct sim *s, uint32_t port, const struct packet *p);
/* A handler as a device performs it that lies. */
unsigned lie_perform(struct smp *q, smp_handler *handler);
void lies_forget(struct sim *s, uint32_t node);
void lies_free(struct devices *d);

/* --- notices and traps (notice.c, traps.c) --- */

enum { NOTICE_URGENT = 1, NOTICE_SECURITY = 2, NOTICE_INFORMATIONAL = 4 };
/*
 * Puts a notice into the queue of an end port and sends it as a trap until it is
 * repressed.  details: the 54 bytes of DataDetails.  The same one again, while it
 * waits: sent again at once, but for NOTICE_SECURITY, whose rate is limited.
 */
void notice_raise(struct sim *s, uint32_t port, unsigned type, unsigned trap,
		  const uint8_t details[NOTICE_DETAILS_SIZE]);
/* SubnTrapRepress with that Notice. */
void notice_repress(struct sim *s, uint32_t port, const uint8_t *notice);
/* All of them, sent or not; frees the queue. */
void notices_drop(struct sim *s, uint32_t port);

void trap_link_state(struct sim *s, uint32_t node);				/* 128 */
void trap_local_change(struct sim *s, uint32_t port, unsigned change_flags);	/* 144 */
void trap_bad_mkey(struct sim *s, uint32_t port, const struct packet *p);	/* 256 */

#endif
