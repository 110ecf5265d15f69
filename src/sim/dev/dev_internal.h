/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Interfaces between the agents, ports, links and notices of sim/dev.
 *
 * Each agent takes a packet that arrived at an end port.  An agent that answers turns the packet
 * into the answer (headers included) and returns true; the caller sends it after the device's
 * response time.
 */
#ifndef QOSD_SIM_DEV_DEV_INTERNAL_H
#define QOSD_SIM_DEV_DEV_INTERNAL_H

#include "sim/dev/device.h"
#include "sim/net/fields.h"

/* --- the agents of the general services: pma.c, dm.c, cc.c, registers.c --- */

/*
 * True if the packet was a request to this agent; the packet is the answer now: wire_turn_round()
 * sets the headers, the agent sets method, status and data.  False: not for this agent.
 */
bool pma_receive(struct sim *s, uint32_t port, struct packet *p);
bool dm_receive(struct sim *s, uint32_t port, struct packet *p);
/* *answer: whether the packet is an answer now; false if the CC_Key made the agent drop it. */
bool cc_receive(struct sim *s, uint32_t port, struct packet *p, bool *answer);
bool registers_receive(struct sim *s, uint32_t port, struct packet *p);
/* Resets the port's congestion control. */
void congestion_forget(struct sim *s, uint32_t port);

/* --- state outside the model (device.c) --- */

struct notices;			/* notice.c */
struct memory;			/* lies.c */
struct congestion;		/* cc.c */
struct module;			/* module.c */

struct device_port {
	uint64_t train_timer;	/* kept at the link's end with the lower index; 0: not training */
	uint64_t credit_timer;	/* kept at the same end: runs while the ends' OperationalVLs differ */
	uint64_t command_timer;	/* timer of port_command_later() */
	uint8_t due_state, due_phys_state;
	struct notices *notices; /* for end ports; NULL until the first notice */
	uint8_t fdr10_supported, fdr10_enabled, fdr10_active;
	uint8_t led;		/* first byte of LedInfo */
	struct congestion *congestion;	/* NULL: as after a reset */
	struct module *module;		/* NULL: of the profile, and nobody looked at it */
};

struct devices {
	struct device_port *ports;
	uint64_t trap_tid;
	struct memory **memories;	/* [node]; NULL: remembers nothing */
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

/* Whether the CapabilityMask of the port whose SMA answers has the capability. */
static inline bool device_can(const struct sim_fabric *f, uint32_t port, uint32_t capability)
{
	return (get_be32(f->ports[sma_port(f, port)].info + PI_CAPMASK) & capability) != 0;
}

/* --- values after reset (poweron.c, poweron_ibsim.c) --- */

/*
 * Sets everything that a node holds to its values after a reset, which what a host has set outlives; its
 * links are down.  Allocates what is missing.
 */
void node_power_on_values(struct sim *s, uint32_t node);
/* Takes back what the host of a CA has set: NodeDescription, and bits of CapabilityMask.  Sends no traps. */
void node_forget_host(struct sim *s, uint32_t node);
/* Applies the differences of a profile with `ibsim`. */
void ibsim_node_values(struct sim *s, uint32_t node);
/* Whether port 0 is enhanced: by the topology if it says so, else by the profile. */
bool node_has_enhanced_port0(const struct sim_node *n);

/* --- ports (port.c) --- */

/* Decodes `info` into the port's other fields; calls the hook when an end port changed. */
void port_sync(struct sim *s, uint32_t port);
/* Sets PortState and PortPhysicalState to the values of the state machines. */
void port_set_state(struct sim *s, uint32_t port, uint8_t state, uint8_t phys_state);
/*
 * Whether SubnSet(PortInfo) may request this state of the link state machine (7.2.7); 0 requests
 * nothing.
 */
bool port_state_allowed(const struct sim_port *p, unsigned state);
void port_command(struct sim *s, uint32_t port, unsigned state, unsigned phys_state);
/* Does the same after the device has had time to answer. */
void port_command_later(struct sim *s, uint32_t port, unsigned state, unsigned phys_state);
/* Fills in the mask of the writable bits of PortInfo at this kind of port (14.2.5.6). */
void portinfo_writable(const struct sim_fabric *f, uint32_t port, uint8_t writable[SMP_DATA_SIZE]);

/* --- links (link.c) --- */

/* Brings the link up at once, if it can come up; for the start. */
void link_up_now(struct sim *s, uint32_t port);
/* Starts training; the link comes up, if it can, after LINK_TRAINING_US. */
void link_train(struct sim *s, uint32_t port);
/* After a Set: checks whether the ends of an Active link still have the same OperationalVLs. */
void link_watch_credits(struct sim *s, uint32_t port);
/*
 * Takes both ends down. by_set: a SubnSet at `port` caused it, and the switch does not report a
 * change there (14.2.5.4, PortStateChange).
 */
void link_down(struct sim *s, uint32_t port, bool by_set);

/* --- subnet management agent (sma*.c, mkey.c, lies.c) --- */

struct smp {
	struct sim *s;
	struct sim_node *node;
	uint32_t port;		/* port whose SMA answers: port 0 of a switch, or the port itself */
	uint8_t in_num;		/* number of the port by which the SMP came in */
	bool by_cable;		/* it came in over a cable */
	uint16_t attr;
	uint32_t mod;
	bool set;
	bool trusted;		/* PortInfo does not hide the M_Key from it */
	uint64_t mkey;		/* M_Key of the SMP */
	bool changed;		/* out: the Set changed something */
	uint8_t *data;		/* 64 bytes, in and out */
};

/* Handlers return the MAD status; on an error they change nothing. */
typedef unsigned smp_handler(struct smp *q);
smp_handler sma_node_description, sma_node_info, sma_led_info;
smp_handler sma_port_info, sma_extended_port_info;
smp_handler sma_switch_info, sma_linear_forwarding, sma_multicast_forwarding;
smp_handler sma_adaptive_routing_info, sma_private_lft_info;
/* Makes a switch forward by its linear table again. */
void adaptive_end(struct sim_switch *sw);
smp_handler sma_guid_info, sma_pkey_table, sma_sl_to_vl, sma_vl_arbitration;
smp_handler sma_notice;
smp_handler sma_config_space, sma_access_register;	/* registers.c */
smp_handler true_scale_port_info, true_scale_pkey_table;	/* true_scale.c */

/* Whether the packet is a request to a device, and not an answer or for a manager. */
bool sma_wants(const struct packet *p);
/*
 * True if the packet was for the SMA; *answer says whether it is an answer now.  trusted: no M_Key is
 * checked.
 */
bool sma_receive(struct sim *s, uint32_t port, struct packet *p, bool trusted, bool *answer);
/* The port that an attribute modifier denotes; SIM_NONE if there is none. */
uint32_t smp_port(const struct smp *q, unsigned num);
/* Copies n bytes; false if they were equal already. */
bool smp_store(void *to, const void *from, size_t n);
/* Answers with n bytes, and zeros after them.  Returns STATUS_OK. */
unsigned smp_answer(struct smp *q, const void *from, size_t n);
/* Copies the bits of the mask. */
static inline void copy_bits(uint8_t *to, uint8_t from, uint8_t mask)
{
	*to = (uint8_t)((*to & ~mask) | (from & mask));
}

/*
 * Whether the M_Key check (14.2.4) admits the request.  Runs the lease, counts violations, sends
 * traps.
 */
bool mkey_check(struct sim *s, uint32_t port, const struct packet *p);
/* M_KeyProtectBits. */
unsigned mkey_protection(const struct sim_port *p);
/* Ends the protection if the lease has run out. */
void mkey_expire(struct sim *s, uint32_t port);

static inline unsigned lies_of(const struct sim_node *n)
{
	return n->profile->lies | n->lies;
}
/* The status with which the device refuses this Set whatever its data; STATUS_OK if it does not. */
unsigned refusal_of(const struct smp *q);
/* Whether the device never answers such a packet. */
bool stays_unanswered(const struct sim *s, uint32_t port, const struct packet *p);
/* Runs a handler as a lying device does. */
unsigned lie_perform(struct smp *q, smp_handler *handler);
void lies_forget(struct sim *s, uint32_t node);

/* --- notices and traps (notice.c, traps.c) --- */

enum { NOTICE_URGENT = 1, NOTICE_SECURITY = 2, NOTICE_INFORMATIONAL = 4 };
/*
 * Queues a notice at an end port, and sends it as a trap until it is repressed. details: the 54
 * bytes of DataDetails.  If the same notice is already waiting, it is sent again at once, except
 * NOTICE_SECURITY, whose rate is limited.
 */
void notice_raise(struct sim *s, uint32_t port, unsigned type, unsigned trap,
		  const uint8_t details[NOTICE_DETAILS_SIZE]);
/* Handles SubnTrapRepress with that Notice. */
void notice_repress(struct sim *s, uint32_t port, const uint8_t *notice);
/* Drops all notices, sent or not, and frees the queue. */
void notices_drop(struct sim *s, uint32_t port);

void trap_link_state(struct sim *s, uint32_t node);				/* 128 */
void trap_local_change(struct sim *s, uint32_t port, unsigned change_flags);	/* 144 */
void trap_bad_mkey(struct sim *s, uint32_t port, const struct packet *p);	/* 256 */

#endif
