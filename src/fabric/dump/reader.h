/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Shared state of the readers of this folder, and the helpers that the format readers have in
 * common.
 *
 * A format reader adds nodes, port lines and names.  A link may name its far end before a line
 * defines that name.  When all lines are read, dump_links.c resolves the names, compares both ends
 * of each link, and makes the ports.
 */
#ifndef QOSD_FABRIC_DUMP_READER_H
#define QOSD_FABRIC_DUMP_READER_H

#include "fabric/dump/dump.h"

/* A name in quotes, and the node or port it stands for. */
struct dump_name {
	char *text;
	uint32_t node;		/* index, or DUMP_NONE while no line has defined it */
	uint8_t port;		/* the port of the node that an alias stands for; 0: a node's name */
	uint32_t next;		/* next name with the same hash, or DUMP_NONE */
};

/* The line of a port: one end of a link. */
struct dump_line {
	struct dump_pos pos;
	uint32_t node;
	uint32_t peer_name;	/* DUMP_NONE: use peer_node */
	uint32_t peer_node;
	uint8_t num, peer_num;
	uint8_t lmc;
	uint16_t lid;
	uint64_t guid, peer_guid;	/* 0: not given */
	struct cable_speed speed;
	bool one_end;		/* the format lists each link at one end only */
};

/* PortInfo's LinkWidthEnabled, LinkSpeedEnabled and LinkSpeedExtEnabled; 0: not given. */
struct link_masks {
	unsigned width, speed, ext;
};

#define DUMP_MODULE_MAX 20

struct reader;
struct ibdm;
struct dump_tables;

struct reader_format {
	/*
	 * True if no other format has such a line.  The line has no leading space, and may be
	 * truncated.
	 */
	bool (*recognise)(char *line);
	/* Reads a line without its line end; may modify it. */
	void (*read)(struct reader *r, char *line);
	void (*end)(struct reader *r);	/* called when all lines were read without error; may be NULL */
};

extern const struct reader_format format_net;	/* ibnetdiscover, and ibsim's net files */
extern const struct reader_format format_list;	/* subnet lists of OpenSM and ibdiagnet */
extern const struct reader_format format_report;	/* ibnetdiscover -p */
extern const struct reader_format format_systems;	/* ibdm's .topo */
extern const struct reader_format format_tables;	/* ibdiagnet2.db_csv */

struct reader {
	struct dump *d;
	const struct dump_source *from;
	struct findings *out;
	unsigned n_err, n_warn;
	struct dump_pos pos;
	size_t bytes;			/* of all files */
	unsigned depth;			/* nesting of included files */
	bool stop;			/* stop reading */
	const struct reader_format *format;
	VEC(struct dump_line) lines;
	VEC(struct dump_name) names;
	struct map64 name_by_hash;	/* -> the latest name with the hash */
	uint32_t slots;			/* port slots of all nodes, port 0 included */
	unsigned n_stray;		/* lines that programs wrote; the first one: */
	struct dump_pos stray_pos;
	char stray[81];
	/* Used by single formats: */
	struct map64 node_by_hint;	/* dump_report.c: presumed node GUID -> the node */
	VEC(uint64_t) first_guid;	/* dump_report.c: [node]: GUID of the port listed first */
	struct ibdm *systems;		/* dump_systems.c */
	struct dump_tables *tables;	/* dump_tables.c */
	/* From lines that apply to the next node: */
	uint64_t vendor, device, sysimg_guid;
	bool guid_said[DUMP_TYPES];
	/* For nodes without a GUID: made up as ibsim does. */
	uint64_t guid_base[DUMP_TYPES], guid_next[DUMP_TYPES];
	char module[DUMP_MODULE_MAX + 1];
	struct link_masks masks;	/* for all later links */
	uint32_t node;			/* the node whose port lines follow, or DUMP_NONE */
	bool skip_ports;		/* the node's line was an error: skip its ports silently */
};

/* --- read_dump.c: messages, and files --- */

#define DUMP_ERRORS_MAX 20
/*
 * Add a finding; errors and warnings beyond DUMP_ERRORS_MAX are only counted.  reader_error()
 * returns false.
 */
bool reader_error(struct reader *r, struct dump_pos pos, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void reader_warn(struct reader *r, struct dump_pos pos, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
#define fail(r, ...) reader_error(r, (r)->pos, __VA_ARGS__)
/* True once reading on cannot add a reported error. */
static inline bool reader_is_hopeless(const struct reader *r)
{
	return r->n_err > DUMP_ERRORS_MAX;
}
/* "path:line" of an earlier place, or "line N" if it is in the same file as `from`. */
#define DUMP_PLACE_MAX 128
const char *dump_place(const struct dump *d, struct dump_pos pos, struct dump_pos from,
		       char out[DUMP_PLACE_MAX]);
/* The same, in memory of the block in which the expression stands. */
#define DUMP_PLACE(d, pos, from) dump_place(d, pos, from, (char[DUMP_PLACE_MAX]){ "" })
/* Adds a file that messages can name; returns its index. */
uint32_t reader_add_file(struct reader *r, const char *path);
/* Reads the lines of another file; a relative path is relative to the current file. */
void reader_include(struct reader *r, const char *path);

/* --- dump_words.c: the words of a line; each passes white space, and moves *p behind what it
 * took, or leaves it there --- */

void take_space(char **p);
bool take_char(char **p, char c);
/* Takes exactly this text. */
bool take_text(char **p, const char *text);
/* Takes exactly this word, which no letter or digit may follow. */
bool take_word(char **p, const char *word);
/*
 * Takes text up to the next white space, and ends it with a NUL in place; false at the end of the
 * line.
 */
bool take_token(char **p, char **word);
/* Takes a number without a sign, up to max; a hexadecimal one may start with 0x. */
bool take_number(char **p, int base, uint64_t max, uint64_t *out);
/* Takes a number as C writes it: 0x for hexadecimal, else decimal. */
bool take_c_number(char **p, uint64_t max, uint64_t *out);
/* Takes "…" without quotes inside, and ends it with a NUL in place. */
bool take_quoted(char **p, char **s);
/* Takes one of a format's words for node types, as take_word() does. */
struct type_word { const char *word; uint8_t type; };
bool take_type(char **p, const struct type_word *words, size_t n, uint8_t *type);
/* True if the line is a message that an InfiniBand diagnostic program writes to standard error. */
bool is_stray(const char *line);

/* --- dump_nodes.c: names, nodes, and their ports --- */

/* Returns the name's index, adding the name if it is new. */
uint32_t reader_name(struct reader *r, const char *text);
/* Returns false, with an error, if the name is already defined. */
bool reader_define_name(struct reader *r, uint32_t name, uint32_t node, unsigned port);
/* Return the value, or 0 with a warning if it is out of range. */
uint16_t reader_lid(struct reader *r, uint64_t lid);
uint8_t reader_lmc(struct reader *r, uint64_t lmc);
/* The GUID that ibsim gives to the next node of this type and size that names none. */
uint64_t reader_make_guid(struct reader *r, unsigned type, unsigned nports);
/* Writes "S-", "H-" or "R-" and the GUID, as ibnetdiscover names nodes; returns out. */
#define READER_ID_MAX 19
const char *reader_id(char out[READER_ID_MAX], unsigned type, uint64_t guid);
/*
 * Appends a node that lacks only its name and GUID; truncates desc, with a warning, to the length
 * of a NodeDescription.  Returns false, with an error, if the fabric has too many ports.
 */
bool reader_push_node(struct reader *r, const struct dump_node *n, const char *desc);
/* Gives the node its name and GUID; false, with an error, if either is taken or the GUID is 0. */
bool reader_name_node(struct reader *r, uint32_t node, const char *name, uint64_t guid);
/*
 * Raises the node's number of ports to nports if it is lower; false, with an error, if the fabric
 * has too many ports.
 */
bool reader_grow_node(struct reader *r, uint32_t node, unsigned nports);
/* Returns false, with an error, if the node has no such port. */
bool reader_has_port(struct reader *r, uint32_t node, unsigned num);
/* Adds a port line, at r->pos, to its node; an error if the node has no such port. */
void reader_add_line(struct reader *r, const struct dump_line *line);

/* --- dump_tables.c --- */

void dump_tables_free(struct dump_tables *t);	/* NULL is fine */

/* --- dump_links.c --- */

/* Makes the ports when all lines are read; adds errors for links that do not fit together. */
void reader_make_ports(struct reader *r);

#endif
