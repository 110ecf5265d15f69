/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Shared by the files of this folder only: the state of reading, and what the readers of lines,
 * one for each format, have in common.
 *
 * A reader adds nodes, the lines of their ports, and names.  A name may be heard of as the far
 * end of a link before a line defines it.  When all lines are read, dump_links.c finds what the
 * names stand for, holds both ends of each link against each other, and makes the ports.
 */
#ifndef QOSD_FABRIC_DUMP_READER_H
#define QOSD_FABRIC_DUMP_READER_H

#include "fabric/dump/dump.h"

/* What a name in quotes stands for. */
struct dump_name {
	char *text;
	uint32_t node;		/* index, or DUMP_NONE while no line has defined it */
	uint8_t port;		/* an alias stands for this port of the node; 0: a node's name */
	uint32_t next;		/* other name with the same hash, or DUMP_NONE */
};

/* The line of a port: one end of a link. */
struct dump_line {
	struct dump_pos pos;
	uint32_t node;
	uint32_t peer_name;	/* DUMP_NONE: peer_node is known */
	uint32_t peer_node;
	uint8_t num, peer_num;
	uint8_t lmc;
	uint16_t lid;
	uint64_t guid, peer_guid;	/* 0: not said */
	struct cable_speed speed;
	bool one_end;		/* the format lists a link at one end only */
};

/* PortInfo's masks of widths and speeds that are enabled; 0: not said. */
struct link_masks {
	unsigned width, speed, ext;
};

#define DUMP_MODULE_MAX 20

struct reader;
struct ibdm;

struct reader_format {
	/* No other format has such a line, which has no space in front, and may be cut off at its end. */
	bool (*recognise)(char *line);
	/* A line without its end, which may be changed. */
	void (*read)(struct reader *r, char *line);
	void (*end)(struct reader *r);	/* when all lines are good; may be NULL */
};

extern const struct reader_format format_net;	/* ibnetdiscover, and ibsim's nets */
extern const struct reader_format format_list;	/* subnet lists of OpenSM and ibdiagnet */
extern const struct reader_format format_report;	/* ibnetdiscover -p */
extern const struct reader_format format_systems;	/* ibdm's .topo */

struct reader {
	struct dump *d;
	const struct dump_source *from;
	struct findings *out;
	unsigned n_err, n_warn;
	struct dump_pos pos;
	size_t bytes;			/* of all files */
	unsigned depth;			/* of files that include each other */
	bool stop;			/* no use to read on */
	const struct reader_format *format;
	VEC(struct dump_line) lines;
	VEC(struct dump_name) names;
	struct map64 name_by_hash;	/* -> the last of the names with the hash */
	uint32_t slots;			/* ports of all nodes, each with a port 0 */
	unsigned n_stray;		/* messages of programs; the first one: */
	struct dump_pos stray_pos;
	char stray[81];
	/* Of single formats. */
	struct map64 node_by_hint;	/* dump_report.c: what may be a node's GUID -> the node */
	VEC(uint64_t) first_guid;	/* dump_report.c: [node], of the port that was listed first */
	struct ibdm *systems;		/* dump_systems.c */
	/* Said about the next node. */
	uint64_t vendor, device, sysimg_guid;
	bool guid_said[DUMP_TYPES];
	/* GUIDs of nodes that name none: those that ibsim makes up. */
	uint64_t guid_base[DUMP_TYPES], guid_next[DUMP_TYPES];
	char module[DUMP_MODULE_MAX + 1];
	struct link_masks masks;	/* for all links that follow */
	uint32_t node;			/* whose ports follow, DUMP_NONE: nobody's */
	bool skip_ports;		/* its line was an error: nothing to say about its ports */
};

/* --- read_dump.c: messages, and files --- */

#define DUMP_ERRORS_MAX 20
/* Errors and warnings beyond DUMP_ERRORS_MAX are counted only.  Returns false. */
bool reader_error(struct reader *r, struct dump_pos pos, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void reader_warn(struct reader *r, struct dump_pos pos, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
#define fail(r, ...) reader_error(r, (r)->pos, __VA_ARGS__)
/* No use to look further. */
static inline bool reader_is_hopeless(const struct reader *r)
{
	return r->n_err > DUMP_ERRORS_MAX;
}
/* "path:line" of an earlier place; just "line N" if it is in the same file as `from`. */
#define DUMP_PLACE_MAX 128
const char *dump_place(const struct dump *d, struct dump_pos pos, struct dump_pos from,
		       char out[DUMP_PLACE_MAX]);
/* The index of a file that messages name. */
uint32_t reader_add_file(struct reader *r, const char *path);
/* Reads the lines of another file; a relative path is to that of this line. */
void reader_include(struct reader *r, const char *path);

/* --- dump_words.c: the words of a line; each passes white space, and moves *p behind what it
 * took, or leaves it there --- */

void take_space(char **p);
bool take_char(char **p, char c);
/* Exactly this text. */
bool take_text(char **p, const char *text);
/* Exactly this word, and no letter or digit behind it. */
bool take_word(char **p, const char *word);
/* Up to the next white space, and ended with a NUL in place; false: the line has ended. */
bool take_token(char **p, char **word);
/* Without a sign, up to max; hexadecimal ones may have a 0x in front. */
bool take_number(char **p, int base, uint64_t max, uint64_t *out);
/* As C has it: 0x for hexadecimal, else decimal. */
bool take_c_number(char **p, uint64_t max, uint64_t *out);
/* "…" without quotes inside, ended with a NUL in place. */
bool take_quoted(char **p, char **s);
/* One of a format's words for types of nodes, with what take_word() takes. */
struct type_word { const char *word; uint8_t type; };
bool take_type(char **p, const struct type_word *words, size_t n, uint8_t *type);
/* The line is a message that a program of the diagnostics writes to its standard error. */
bool is_stray(const char *line);

/* --- dump_nodes.c: names, nodes, and their ports --- */

/* The name's index, noted if it is new. */
uint32_t reader_name(struct reader *r, const char *text);
/* False, with an error, if the name stands for something already. */
bool reader_define_name(struct reader *r, uint32_t name, uint32_t node, unsigned port);
/* As they can be; with a warning and 0 if they cannot. */
uint16_t reader_lid(struct reader *r, uint64_t lid);
uint8_t reader_lmc(struct reader *r, uint64_t lmc);
/* The GUID that ibsim gives to the next node of this type and size that names none. */
uint64_t reader_make_guid(struct reader *r, unsigned type, unsigned nports);
/* "S-", "H-" or "R-" and the GUID, as ibnetdiscover names nodes; returns out. */
#define READER_ID_MAX 19
const char *reader_id(char out[READER_ID_MAX], unsigned type, uint64_t guid);
/*
 * Adds a node that has all but its name and GUID, as the last one; desc is cut, with a warning,
 * to what a NodeDescription holds.  False, with an error: the fabric has too many ports.
 */
bool reader_push_node(struct reader *r, const struct dump_node *n, const char *desc);
/* Gives it both; false, with an error, if either is there already, or the GUID is 0. */
bool reader_name_node(struct reader *r, uint32_t node, const char *name, uint64_t guid);
/* A node turns out to have as many ports; false, with an error: the fabric has too many. */
bool reader_grow_node(struct reader *r, uint32_t node, unsigned nports);
/* False, with an error, if the node has no such port. */
bool reader_has_port(struct reader *r, uint32_t node, unsigned num);
/* Adds the line of a port, at r->pos, to its node; an error if it has no room for it. */
void reader_add_line(struct reader *r, const struct dump_line *line);

/* --- dump_links.c --- */

/* Makes the ports when all is read; errors if it does not make sense. */
void reader_make_ports(struct reader *r);

#endif
