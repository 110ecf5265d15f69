/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the files of this layer share: a command on its way from words to an answer.
 *
 * A handler sees words and options that the table of commands allows, checks
 * their values by the get_…() functions, and leaves its answer as JSON.  People
 * get the same value as text (text.c), unless the handler left text of its own.
 */
#ifndef QOSD_SIM_CTL_COMMAND_H
#define QOSD_SIM_CTL_COMMAND_H

#include "lib/format/json.h"
#include "sim/ctl/ctl.h"

#define WORDS_MAX	24	/* of a command, behind its name */
#define OPTIONS_MAX	12

struct command;

struct call {
	struct sim *s;
	const struct command *cmd;
	unsigned n;			/* words; those that were not given are NULL */
	const char *word[WORDS_MAX];
	const char *opt[OPTIONS_MAX];	/* as in the table; "" without a value, NULL: not given */
	json_t *result;			/* NULL: nothing to say */
	struct buf text;		/* … in words of its own */
	struct buf err;
	bool found;			/* done, but the exit status is to be 1 */
};

/* Turns words into a call (zeroed by the caller, s not needed). False: the reason is in err. */
bool call_parse(struct call *c, int argc, char **argv);
void call_free(struct call *c);

/* --- for handlers (args.c) --- */

/* Says no, with the command's name before it; returns false. */
bool refuse(struct call *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The same with a reason that was found; frees it. */
bool refuse_for(struct call *c, struct buf *why);
struct words {
	const char **v;
	size_t n, cap;		/* by vec_push() */
};
/* "no WHAT 'word'", and the one of the known that was probably meant; frees known. */
bool refuse_word(struct call *c, const char *what, const char *word, struct words *known);
/* Value of an option, "" if it has none; NULL: not given. */
const char *option(const struct call *c, const char *name);

/*
 * Values from text.  They return false with the reason in err; `what` says what it
 * should be.  text NULL (an option that was not given) leaves *v as it is.
 */
bool get_number(struct call *c, const char *what, const char *text, uint64_t min, uint64_t max,
		uint64_t *v);
/* As parse_time(). */
bool get_time(struct call *c, const char *what, const char *text, int64_t *us);
/* "5%" or "5", as a probability. */
bool get_percent(struct call *c, const char *what, const char *text, double *v);
bool get_node(struct call *c, const char *text, uint32_t *node);
bool get_switch(struct call *c, const char *text, uint32_t *node);
bool get_port(struct call *c, const char *text, uint32_t *port);
/* The next element of "a,b,c" copied into out; false at the end. Too long ones are cut. */
bool next_element(const char **list, char *out, size_t size);

/* One Get or Set at the agent that answers for `port`; a bad status is a refusal. */
bool run_smp(struct call *c, uint32_t port, uint8_t method, uint16_t attr, uint32_t mod,
	     uint8_t data[64]);

/* "1.5", "1.5s", "2ms" or "500us" to microseconds; at most a year. */
bool parse_time(const char *text, int64_t *us);

/* --- values as JSON (values.c) --- */

json_t *json_hex(unsigned v);			/* "0x0015" */
json_t *json_seconds(int64_t us);
json_t *json_port(const struct sim_fabric *f, uint32_t port);	/* its name; SIM_NONE: null */
json_t *json_state(const struct sim_port *p);
json_t *json_link(const struct sim_fabric *f, uint32_t port);	/* "4xEDR"; null while it is down */
json_t *json_set16(uint16_t bits);		/* array of the numbers of bits */
/* "4xEDR", "4x" or "EDR": one bit each, 0 for what is not said; "full": none. */
bool parse_link(const char *text, uint8_t *width, uint8_t *speed, uint8_t *ext);

/* --- names of classes, methods and attributes (names.c) --- */

json_t *json_class(uint8_t mgmt_class);
json_t *json_method(uint8_t method);
json_t *json_attr(uint8_t mgmt_class, uint16_t attr);
bool get_class(struct call *c, const char *text, uint8_t *mgmt_class);
bool get_method(struct call *c, const char *text, uint8_t *method);
/* By name it says the class, too, if *mgmt_class is 0 and only that class has it. */
bool get_attr(struct call *c, const char *text, uint8_t *mgmt_class, uint16_t *attr);

/* Who sent the MADs of a table (traffic.c). */
json_t *json_client(const struct stat_table *t);

/* The answer for people: an array of objects is a table, an object lines or tables. */
void text_view(json_t *result, struct buf *out);
/* Lines of text with '?' for what could play tricks on a terminal. */
void text_clean(const char *s, struct buf *out);

/* --- handlers --- */

bool cmd_link_down(struct call *c);		/* ctl_links.c */
bool cmd_link_up(struct call *c);
bool cmd_link_connect(struct call *c);
bool cmd_link_flap(struct call *c);
bool cmd_link_degrade(struct call *c);
bool cmd_node_off(struct call *c);		/* nodes.c */
bool cmd_node_on(struct call *c);
bool cmd_node_reboot(struct call *c);
bool cmd_node_silent(struct call *c);
bool cmd_node_hang(struct call *c);
bool cmd_node_answer(struct call *c);
bool cmd_node_refuse(struct call *c);
bool cmd_node_lie(struct call *c);
bool cmd_node_rename(struct call *c);
bool cmd_adaptive(struct call *c);
bool cmd_private(struct call *c);
bool cmd_mkey(struct call *c);
bool cmd_trap(struct call *c);			/* trap.c */
bool cmd_fault_add(struct call *c);		/* faults.c */
bool cmd_fault_falsify(struct call *c);
bool cmd_fault_kinds(struct call *c);
bool cmd_fault_list(struct call *c);
bool cmd_fault_remove(struct call *c);
bool cmd_loss(struct call *c);
bool cmd_freeze(struct call *c);
bool cmd_thaw(struct call *c);
bool cmd_lft(struct call *c);			/* ctl_tables.c */
bool cmd_mft(struct call *c);
bool cmd_sl2vl(struct call *c);
bool cmd_vlarb(struct call *c);
bool cmd_pkey(struct call *c);
bool cmd_portinfo(struct call *c);		/* portinfo.c */
bool cmd_show_portinfo(struct call *c);
bool cmd_show_nodes(struct call *c);		/* inventory.c */
bool cmd_show_links(struct call *c);
bool cmd_show_port(struct call *c);
bool cmd_show_end_ports(struct call *c);
bool cmd_show_counters(struct call *c);
bool cmd_show_lft(struct call *c);		/* show.c */
bool cmd_show_mft(struct call *c);
bool cmd_show_sl2vl(struct call *c);
bool cmd_show_vlarb(struct call *c);
bool cmd_show_pkeys(struct call *c);
bool cmd_drops(struct call *c);			/* traffic.c */
bool cmd_stats(struct call *c);
bool cmd_traffic(struct call *c);		/* ctl_load.c */
bool cmd_path(struct call *c);			/* ctl_audit.c */
bool cmd_check(struct call *c);
bool cmd_status(struct call *c);		/* status.c */
bool cmd_pass(struct call *c);

#endif
