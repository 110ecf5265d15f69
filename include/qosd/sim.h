/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The protocol between the simulator and the library that replaces libibumad in its clients.
 *
 * It runs over a UNIX socket of type SOCK_SEQPACKET, in host byte order.  A client connects once
 * per purpose, states the purpose in its first message (struct sim_hello), and gets a struct
 * sim_answer:
 *
 *   SIM_CONTROL   questions (struct sim_ask), each answered by a struct sim_answer
 *   SIM_UMAD      an open umad port: from then on each message in either direction is what
 *                 read() and write() of the umad device would carry, except large ones
 *                 (below)
 *   SIM_ISSM      held while the port's issm device is open
 *   SIM_CLOCK     simulated time (qosd/sim_clock.h): with port SIM_CLOCK_PAGE, a struct
 *                 sim_large follows the answer with the memory file of the page; with the
 *                 number of a slot, each message is a byte that wakes the slot's thread
 *   SIM_HCA       gives a node, the only one of the hello, to a virtual machine: the hello passes
 *                 (SCM_RIGHTS) one end of a stream socket, whose other end is QEMU's character
 *                 device for ivshmem-doorbell.  The node is the machine's until that end closes;
 *                 this connection is of no more use after the answer
 *   SIM_CTL       a command for qosd-sim ctl: NUL-terminated words in one message,
 *                 the first of them "-j" if JSON is wanted; answered by messages of
 *                 'o' and text, and finally 'x' and the exit status as a byte
 *
 * Large umad messages: the simulator sends a message of more than SIM_MESSAGE_MAX bytes to a
 * client twice.  First it sends the first SIM_MESSAGE_MAX bytes, in which ib_user_mad.length
 * gives the total length, as a read() into too short a buffer would return them; then the whole
 * message.  So a reader learns the size while the rest keeps the descriptor readable.  In either
 * direction a message of more than SIM_INLINE_MAX bytes is sent as a struct sim_large with a
 * sealed memory file (SCM_RIGHTS) that holds it.
 */
#ifndef QOSD_SIM_H
#define QOSD_SIM_H

#include <stdint.h>

#define SIM_SOCKET_VAR	"QOSD_SIM_SOCKET"	/* environment: path of the socket */
#define SIM_NODE_VAR	"QOSD_SIM_NODE"		/* environment: the process's nodes, ';' between */
#define SIM_MAGIC	0x716f7364u
#define SIM_PROTOCOL	4
#define SIM_MESSAGE_MAX	320		/* umad header and MAD: fits any reader's buffer */
#define SIM_INLINE_MAX	32768
#define SIM_CAS_MAX	128		/* devices that a process can have: "sim0", "sim1", … */

enum sim_purpose { SIM_CONTROL = 1, SIM_UMAD, SIM_ISSM, SIM_CTL, SIM_CLOCK, SIM_HCA };
#define SIM_CLOCK_PAGE	UINT32_MAX

struct sim_hello {
	uint32_t magic, protocol, purpose;
	int32_t pid;
	char program[32];
	char nodes[4096];	/* the value of SIM_NODE_VAR; empty for SIM_CTL, SIM_CLOCK */
	uint32_t ca, port;	/* SIM_UMAD, SIM_ISSM: index of the device, port number */
};

enum sim_question {
	SIM_ASK_CAS = 1, SIM_ASK_CA, SIM_ASK_PORT, SIM_ASK_REGISTER, SIM_ASK_UNREGISTER,
};

struct sim_ask {
	uint32_t question;
	uint32_t ca, port;	/* SIM_ASK_CA, SIM_ASK_PORT */
	uint32_t file;		/* SIM_ASK_(UN)REGISTER: from the answer to SIM_UMAD's hello */
	uint32_t agent;		/* SIM_ASK_UNREGISTER */
	uint8_t mgmt_class, class_version, rmpp_version, user_rmpp;
	uint32_t oui;
	uint64_t method_mask[2];
};

/* The answer to the hello and to each question; the request decides which fields are valid. */
struct sim_answer {
	int32_t error;		/* 0 or a positive errno */
	char text[200];		/* reason for the error, for people */
	uint32_t file;		/* hello of SIM_UMAD */
	uint32_t agent;		/* SIM_ASK_REGISTER */
	uint32_t n_cas;		/* SIM_ASK_CAS */
	struct {		/* SIM_ASK_CA */
		uint64_t node_guid, system_guid;
		uint32_t node_type;
		uint32_t first_port, last_port;		/* a switch has port 0 alone */
		char fw_ver[20], hw_ver[20], ca_type[40];
	} ca;
	struct {		/* SIM_ASK_PORT */
		uint64_t port_guid, gid_prefix;
		uint32_t base_lid, lmc, sm_lid, sm_sl, state, phys_state, capmask;
		uint32_t rate;		/* Gb/s, rounded down as sysfs is read */
		uint32_t reregisters;	/* Sets with ClientReregister received so far */
		uint32_t ethernet;	/* 1: the link layer is Ethernet */
		uint32_t n_pkeys;
		uint16_t pkeys[256];
	} port;
};

struct sim_large {
	uint32_t magic;		/* SIM_MAGIC; no umad message begins with it (agent ids are below 32) */
	uint32_t reserved;
	uint64_t length;	/* bytes of the umad message, the file's size */
};

#endif
