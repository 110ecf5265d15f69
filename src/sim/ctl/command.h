/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A command on its way from words to an answer, as the files of ctl/ share it.
 *
 * A handler gets the words and options that the table of commands allows, checks their values with
 * the get_…() functions, and leaves its answer as JSON.  Text output is made from the same value
 * (text.c), unless the handler provides text of its own.
 */
#ifndef QOSD_SIM_CTL_COMMAND_H
#define QOSD_SIM_CTL_COMMAND_H

#include "lib/format/json.h"
#include "sim/ctl/ctl.h"

#define WORDS_MAX	(3 * 128)	/* words of a command after its name: those of all flows of `traffic` */
#define OPTIONS_MAX	12

struct command;

struct call {
	struct sim *s;
	struct sim_fabric *f;		/* that of s */
	const struct command *cmd;
	uint32_t port, node;		/* what the first word names if the usage begins with PORT,
					 * NODE or SWITCH; else SIM_NONE */
	unsigned n;			/* number of words; missing ones are NULL */
	const char *word[WORDS_MAX];
	const char *opt[OPTIONS_MAX];	/* in the table's order; "" for an option without a value, NULL:
					 * not given */
	json_t *result;			/* NULL: no result */
	struct buf text;		/* the result in the handler's own words */
	struct buf err;
	bool found;			/* the command ran, but the exit status must be 1 */
};

/* Parses words into a call (zeroed by the caller; s is not needed).  False with the reason in err. */
bool call_parse(struct call *c, int argc, char **argv);
void call_free(struct call *c);

/* --- for handlers (args.c) --- */

/* Refuses with a message after the command's name; returns false. */
bool refuse(struct call *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The same with a reason from elsewhere; frees it. */
bool refuse_for(struct call *c, struct buf *why);
struct words {
	const char **v;
	size_t n, cap;		/* filled by vec_push() */
};
/* Refuses with "no WHAT 'word'" and the known word that was probably meant; frees known. */
bool refuse_word(struct call *c, const char *what, const char *word, struct words *known);
/* Whether the command's name ends with this word. */
bool is_named(const struct call *c, const char *word);
/* The value of an option; "" if it has none, NULL if it was not given. */
const char *option(const struct call *c, const char *name);

/*
 * Parse values from text.  They return false with the reason in err; `what` names the expected
 * value.  A NULL text (an option that was not given) leaves *v unchanged.
 */
bool get_number(struct call *c, const char *what, const char *text, uint64_t min, uint64_t max,
		uint64_t *v);
/* Accepts what parse_time() does. */
bool get_time(struct call *c, const char *what, const char *text, int64_t *us);
/* Parses "5%" or "5" as a probability. */
bool get_percent(struct call *c, const char *what, const char *text, double *v);
/* Finds a word by names(i), which returns NULL after the last; *v becomes its i. */
bool get_word(struct call *c, const char *what, const char *text, const char *(*names)(unsigned i),
	      unsigned *v);
bool get_node(struct call *c, const char *text, uint32_t *node);
bool get_port(struct call *c, const char *text, uint32_t *port);
/* Copies the next element of "a,b,c" to out, cut to its size; false at the end. */
bool next_element(const char **list, char *out, size_t size);

/* Performs a Get or Set at the agent that answers for `port`; an error status becomes a refusal. */
bool run_smp(struct call *c, uint32_t port, uint8_t method, uint16_t attr, uint32_t mod,
	     uint8_t data[64]);

/* Converts "1.5", "1.5s", "2ms" or "500us" to microseconds; at most a year. */
bool parse_time(const char *text, int64_t *us);

/* --- values as JSON (values.c) --- */

json_t *json_hex(unsigned v);			/* "0x0015" */
json_t *json_seconds(int64_t us);
json_t *json_port(const struct sim_fabric *f, uint32_t port);	/* name of the port; null for SIM_NONE */
json_t *json_state(const struct sim_port *p);
json_t *json_link(const struct sim_fabric *f, uint32_t port);	/* "4xEDR"; null while the link is down */
json_t *json_set16(uint16_t bits);		/* array of the numbers of the set bits */
/* Parses "4xEDR", "4x" or "EDR" into one bit each, 0 for what is missing; "full" sets no bit. */
bool parse_link(const char *text, uint8_t *width, uint8_t *speed, uint8_t *ext);

/* --- names of classes, methods and attributes (names.c) --- */

json_t *json_class(uint8_t mgmt_class);
json_t *json_method(uint8_t method);
json_t *json_attr(uint8_t mgmt_class, uint16_t attr);
bool get_class(struct call *c, const char *text, uint8_t *mgmt_class);
bool get_method(struct call *c, const char *text, uint8_t *method);
/* If *mgmt_class is 0 and text is a name that only one class has, also sets *mgmt_class. */
bool get_attr(struct call *c, const char *text, uint8_t *mgmt_class, uint16_t *attr);

/*
 * Formats the answer as text: an array of objects becomes a table, an object becomes lines or
 * tables.
 */
void text_view(json_t *result, struct buf *out);
/* Copies text with '?' for characters that could control a terminal. */
void text_clean(const char *s, struct buf *out);

/* --- handlers --- */

typedef bool handler(struct call *c);

/* ctl_links.c, nodes.c */
handler cmd_link_plug, cmd_link_connect, cmd_link_flap, cmd_link_degrade;
handler cmd_node_power, cmd_node_reboot, cmd_node_silent, cmd_node_refuse, cmd_node_lie;
handler cmd_node_rename, cmd_mkey, cmd_trap;
/* modules.c */
handler cmd_module, cmd_registers, cmd_show_module;
/* faults.c */
handler cmd_fault_add, cmd_fault_falsify, cmd_fault_kinds, cmd_fault_list, cmd_fault_remove;
handler cmd_loss, cmd_freeze;
/* ctl_tables.c, portinfo.c */
handler cmd_lft, cmd_adaptive, cmd_private, cmd_mft, cmd_sl2vl, cmd_vlarb, cmd_pkey;
handler cmd_portinfo, cmd_show_portinfo;
/* inventory.c, show.c */
handler cmd_show_nodes, cmd_show_links, cmd_show_port, cmd_show_end_ports, cmd_show_counters, cmd_count;
handler cmd_show_lft, cmd_show_mft, cmd_show_sl2vl, cmd_show_vlarb, cmd_show_pkeys;
/* ctl_load.c, ctl_audit.c, status.c */
handler cmd_drops, cmd_stats, cmd_traffic, cmd_path, cmd_check, cmd_status, cmd_pass;

#endif
