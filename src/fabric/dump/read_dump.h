/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Shared by dump*.c only: the records of nodes and ports that a file becomes, and the
 * readers that make them, one for each format.
 *
 * read_dump.c tells the format by the lines themselves, hands each line to its reader, and
 * holds the records against each other.  dump_play.c plays a discovery on them.
 */
#ifndef QOSD_FABRIC_DUMP_READ_DUMP_H
#define QOSD_FABRIC_DUMP_READ_DUMP_H

#include "fabric/fabric.h"
#include "lib/base/alloc.h"
#include "lib/iba/units.h"

/* Where something was said. */
struct dump_pos {
	uint32_t file;		/* index of the dump's files */
	uint32_t line;
};

struct dump_port {
	struct dump_pos pos;
	char *remote_id;	/* owned; NULL: remote_node is known */
	uint64_t guid, remote_guid;	/* 0: not given */
	uint32_t node;
	uint32_t remote_node;
	uint32_t peer;		/* index of the record of the other end */
	uint16_t lid;
	uint8_t num, remote_num, lmc;
	struct link_speed speed;
};

struct dump_node {
	char *id;		/* owned: what stands in quotes, "S-0008f10400410015" */
	char desc[65];
	uint64_t guid, sysimg_guid;
	struct dump_pos pos;
	uint32_t vendor, device;
	/* Its port records: ports.v[port .. port + n_ports - 1], by number, when all is read. */
	uint32_t port, n_ports;
	uint32_t index;		/* in the fabric, FABRIC_NONE: not (yet) reached */
	uint16_t lid;		/* of port 0 */
	uint8_t type, nports, lmc;
	/* Of single readers. */
	uint64_t first_guid;	/* read_port_report.c: of the port of its first line */
	bool enhanced_port0;
};

#define DUMP_TYPES (IB_NODE_ROUTER_T + 1)

/* What ibnetdiscover's lines before a node's say about it. */
struct preamble {
	uint64_t sysimg_guid;
	uint32_t vendor, device;
	bool guid_said[DUMP_TYPES];
};

#define DUMP_MODULE_MAX 20

/* "@[3] "x"" of ibsim: others link to that port by "module@x". */
struct dump_alias {
	char *name;		/* owned */
	uint32_t node;
	uint8_t num;
};

/* PortInfo's masks of widths and speeds that are enabled; 0: not said. */
struct link_masks {
	uint8_t width, speed, ext;
};

struct ibdm;

struct dump {
	const char *path;
	const char *ibnl;	/* a directory of IBNL files that was named, or NULL */
	VEC(char *) files;	/* that one, and those that it includes */
	struct dump_pos pos;
	size_t bytes;		/* of all files */
	struct buf *err;
	VEC(struct dump_node) nodes;
	VEC(struct dump_port) ports;
	struct map64 by_id;	/* hash of the id -> node record */
	struct map64 by_guid;	/* node GUID -> node record */
	struct map64 by_port_guid;	/* of those given -> port record, until all are read */
	struct map64 by_place;	/* node record and port number -> port record, likewise */
	struct map64 by_hint;	/* read_port_report.c: what may be a node's GUID -> node record */
	/* GUIDs of nodes without one, by type, so that they are those that ibsim makes up. */
	uint64_t guid_base[DUMP_TYPES], guid_next[DUMP_TYPES];
	/* Messages of programs among the lines. */
	uint32_t n_stray;
	struct dump_pos stray_pos;
	char stray[81];
	/* The readers' own. */
	struct preamble next;
	char module[DUMP_MODULE_MAX + 1];	/* of ibsim: what the names of nodes begin with */
	VEC(struct dump_alias) aliases;
	struct map64 alias_by_name;	/* hash of the name -> alias */
	unsigned depth;			/* of files that include each other */
	struct ibdm *systems;	/* read_ibdm.c */
	struct link_masks masks;	/* for all links that follow */
	uint32_t node;		/* whose ports follow, FABRIC_NONE: nobody's */
};

/* --- a format --- */

struct dump_format {
	/* No other format has such a line.  It may have been cut off at the end. */
	bool (*recognise)(const char *line);
	/* A line without its end, which may be changed; false: d->err says why. */
	bool (*read)(struct dump *d, char *line);
	/* When all are read, if not NULL. */
	bool (*end)(struct dump *d);
};

extern const struct dump_format dump_net;	/* ibnetdiscover, and ibsim's simpler form */
extern const struct dump_format dump_list;	/* subnet lists of OpenSM and ibdiagnet */
extern const struct dump_format dump_report;	/* ibnetdiscover -p */
extern const struct dump_format dump_systems;	/* ibdm's .topo */

/* --- read_dump.c: records --- */

/* "FILE:LINE: …" to d->err; returns false. */
__attribute__((format(printf, 3, 4)))
bool dump_fail_at(struct dump *d, struct dump_pos pos, const char *fmt, ...);
#define fail(d, ...) dump_fail_at(d, (d)->pos, __VA_ARGS__)

/*
 * Adds a node, which is the last one of d->nodes then.  False, with an error, if its id or
 * GUID is there already, or the GUID is 0.
 */
bool dump_add_node(struct dump *d, const struct dump_node *n, const char *id);
/* The same in two steps, for nodes whose id and GUID only the whole file tells. */
uint32_t dump_push_node(struct dump *d, const struct dump_node *n);
bool dump_name_node(struct dump *d, uint32_t node, uint64_t guid, const char *id);
/* Reads the lines of another file by the same format; a relative path is to that of this line. */
bool dump_include(struct dump *d, const struct dump_format *format, const char *path);
/* Others may link to the port by this name; false, with an error, if it is there already. */
bool dump_add_alias(struct dump *d, uint32_t node, uint8_t num, const char *name);
/* By id; FABRIC_NONE: there is none. */
uint32_t dump_find_id(const struct dump *d, const char *id);
/* The GUID that ibsim gives to the next node of this type and size that names none. */
uint64_t dump_make_guid(struct dump *d, unsigned type, unsigned nports);
void dump_set_desc(struct dump_node *n, const char *text, size_t len);
/* "S-", "H-" or "R-" and the GUID, as ibnetdiscover names nodes; returns out. */
#define DUMP_ID_MAX 19
char *dump_id(char out[DUMP_ID_MAX], unsigned type, uint64_t guid);
/* Adds a port, with a copy of remote_id; false, with an error, if there is no room for it. */
bool dump_add_port(struct dump *d, const struct dump_port *p);
/* The record of a port while the file is being read; NULL: there is none. */
struct dump_port *dump_port_at(struct dump *d, uint32_t node, unsigned num);
/* Index of the record of a node's port when all is read; FABRIC_NONE: there is none. */
uint32_t dump_find_port(const struct dump *d, const struct dump_node *n, unsigned num);

/* --- dump_words.c: pieces of a line; each moves *s behind what it took --- */

void line_skip_space(char **s);
bool line_take_char(char **s, char c);
/* Exactly this text. */
bool line_take_text(char **s, const char *text);
bool line_take_number(char **s, int base, uint64_t max, uint64_t *value);
/* 0x for hexadecimal, else decimal. */
bool line_take_c_number(char **s, uint64_t max, uint64_t *value);
/* "text" in quotes; ends it with a NUL in place. */
bool line_take_quoted(char **s, char **text);
/* What is up to the next white space, ended with a NUL in place; false: the line has ended. */
bool line_take_word(char **s, char **word);
/* "4xQDR"; "??" and "???" for what is not known. */
bool dump_parse_link(const char *word, struct link_speed *speed);
/* From a width ("4x") and the speed of a lane in Gb/s ("25", "FDR10"), as lists have them. */
bool dump_parse_lanes(const char *width, const char *gbps, struct link_speed *speed);
/* The line is a message that a program of the diagnostics writes to its standard error. */
bool dump_is_stray(const char *line);

/* --- dump_play.c --- */

/*
 * The fabric that a discovery would find from the SM's node: the one with
 * that GUID, or the first channel adapter of a host if it is 0.  The records are sound, their links
 * resolved.  NULL: d->err says why.
 */
struct fabric *dump_play(struct dump *d, uint64_t sm_guid, bool keep_lids);

#endif
