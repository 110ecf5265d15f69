/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The state of reading a file, and what the readers of its lines share.  There is
 * a reader for each format.
 */
#ifndef QOSD_SIM_TOPO_DUMP_READER_H
#define QOSD_SIM_TOPO_DUMP_READER_H

#include "sim/topo/dump.h"

#define DUMP_MODULE_MAX 20

struct link_masks {
	unsigned width, speed, ext;	/* as PortInfo has them; 0: not said */
};

struct reader;
struct ibdm;

struct reader_format {
	/* No other format has such a line, which has no space in front. */
	bool (*recognise)(const char *line);
	void (*read)(struct reader *r, const char *line);
	void (*end)(struct reader *r);	/* when all lines are good; may be NULL */
};

/* dump_net.c: ibnetdiscover, and ibsim's nets */
extern const struct reader_format format_net;
/* dump_list.c: subnet lists of OpenSM and ibdiagnet */
extern const struct reader_format format_list;
/* dump_report.c: ibnetdiscover -p */
extern const struct reader_format format_report;
/* dump_systems.c: ibdm's .topo */
extern const struct reader_format format_systems;

struct waiting_line {
	char *text;
	struct dump_pos pos;
};

struct reader {
	struct dump *d;
	struct dump_pos pos;
	unsigned depth;			/* of files that include each other */
	bool stop;			/* no use to read on */
	const struct reader_format *format;	/* NULL: not known yet, these lines wait */
	VEC(struct waiting_line) waiting;
	unsigned n_stray;		/* messages of programs; the first one: */
	struct dump_pos stray_pos;
	char stray[81];
	/* Of single formats: a node's port -> its line; what may be a node's GUID -> the node. */
	struct map64 places;
	struct ibdm *systems;		/* dump_systems.c, and the file that it reads */
	uint32_t systems_file;
	/* Said about the next node. */
	uint64_t vendor_id, device_id, sysimg_guid, port0_guid;
	bool guid_said[SIM_ROUTER + 1];
	/* GUIDs of nodes that name none: ibsim's, so that both make the same fabric. */
	uint64_t guid_base[SIM_ROUTER + 1], guid_next[SIM_ROUTER + 1];
	char module[DUMP_MODULE_MAX + 1];
	struct link_masks masks;
	uint32_t node;			/* whose ports follow, SIM_NONE: nobody's */
	bool skip_ports;		/* its line was an error: nothing to say about its ports */
};

#define fail(r, ...) dump_error((r)->d, (r)->pos, __VA_ARGS__)

/* --- dump_read.c --- */

/* Reads a file in full; `from` is where it was named.  Takes over path. */
void reader_read_file(struct reader *r, char *path, struct dump_pos from);

/* --- dump_stray.c --- */

/* The line is a message that a program of the diagnostics writes to its standard error. */
bool reader_is_stray(const char *line);

/* --- dump_net.c --- */

/* True at the end of the line, or at a remark; else an error. */
bool reader_at_end(struct reader *r, const char *p);
/* "= 0x12" up to max; else an error. */
bool reader_take_value(struct reader *r, const char **p, uint64_t max, uint64_t *out);
enum { MASK_WIDTH = 'w', MASK_SPEED = 's', MASK_EXT = 'e' };
bool reader_set_mask(struct reader *r, struct link_masks *m, unsigned what, uint64_t value);

/* --- dump_node.c: names and nodes --- */

/* A name in quotes; an error if there is none, or it is too long. */
bool reader_take_name(struct reader *r, const char **p, const char **s, size_t *n);
/* … that is made known here, so without the characters that modules and aliases need. */
bool reader_take_new_name(struct reader *r, const char **p, const char **s, size_t *n);
/* The name as others know it: a bare name belongs to the module. */
uint32_t reader_full_name(struct reader *r, const char *s, size_t n);
/* False, with an error, if the name stands for something already. */
bool reader_define_name(struct reader *r, uint32_t name, uint32_t node, unsigned port);
/* As they can be; with a warning and 0 if they cannot. */
uint16_t reader_lid(struct reader *r, uint64_t lid);
uint8_t reader_lmc(struct reader *r, uint64_t lmc);
/* The GUID that ibsim gives to the next node of this type and size that names none. */
uint64_t reader_make_guid(struct reader *r, unsigned type, unsigned nports);
/* Cut, with a warning, to what a NodeDescription holds. */
void reader_set_desc(struct reader *r, struct dump_node *n, const char *s, size_t len);
/* "S-", "H-" or "R-" and the GUID, as ibnetdiscover names nodes; returns out. */
#define READER_ID_MAX 19
const char *reader_id(char out[READER_ID_MAX], unsigned type, uint64_t guid);
/*
 * Adds a node that has all but its name and GUID, as the last one; no line is about it.
 * False, with an error: the fabric has too many ports.
 */
bool reader_push_node(struct reader *r, const struct dump_node *n);
/* Gives it both; false, with an error, if either is there already, or the GUID is 0. */
bool reader_name_node(struct reader *r, uint32_t node, const char *name, uint64_t guid);
/* Counts the ports of a node that turns out to have more; false, with an error: too many. */
bool reader_more_ports(struct reader *r, unsigned more);
/* "Switch	36 "S-…"	# …" behind the first word */
void reader_node(struct reader *r, const char *p, unsigned type);
/* Nothing is about a node any more: a port's line would be an error. */
static inline void reader_no_node(struct reader *r)
{
	r->node = SIM_NONE;
	r->skip_ports = false;
}

/* --- dump_port.c --- */

/* Adds a port to its node; an error if it has no room for it. */
void reader_add_port(struct reader *r, const struct dump_port *port);
/* "[1](guid)	"S-…"[6]	# …" */
void reader_port(struct reader *r, const char *line);
/* "@[3] "name"": others link to this port by "module@name" */
void reader_alias(struct reader *r, const char *line);

#endif
