/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A topology as read, before it is known to make sense: nodes, the lines of their
 * ports, and names.  The readers (dump_reader.h) fill it line by line, dump_build.c resolves
 * names, holds both ends of each link against each other, and makes the fabric.
 */
#ifndef QOSD_SIM_TOPO_DUMP_H
#define QOSD_SIM_TOPO_DUMP_H

#include "sim/topo/speed.h"
#include "sim/topo/topo.h"

#define DUMP_NAME_MAX 64
#define DUMP_DESC_MAX 64

/* Where something was said, for messages. */
struct dump_pos {
	uint32_t file;		/* index of dump.files */
	uint32_t line;		/* 0: the file as a whole */
};

/*
 * What a name in quotes stands for.  Names are noted when first heard of, also
 * as the far end of a link, and filled in where they are defined.
 */
struct dump_name {
	char *text;
	uint32_t node;		/* index, or SIM_NONE while nobody defined it */
	uint8_t port;		/* an alias stands for this port of the node; 0: a node's name */
	uint32_t next;		/* other name with the same hash, or SIM_NONE */
};

struct dump_port {
	struct dump_pos pos;
	uint32_t node;
	uint32_t peer_name;
	uint8_t num, peer_num;
	uint8_t lmc;
	uint16_t lid;
	uint64_t guid, peer_guid;	/* 0: not said */
	struct link_speed speed;
	bool one_end;		/* the format lists a link at one end, or at both */
};

struct dump_node {
	struct dump_pos pos;
	uint32_t name;
	uint32_t n_ports;	/* its lines in dump.ports */
	/* Of single formats. */
	uint64_t first_guid;	/* dump_report.c: of the port that was listed first */
	uint8_t type, nports;
	bool enhanced_port0, base_port0;
	uint8_t lmc;
	uint16_t lid, device_id;
	uint32_t vendor_id;
	uint64_t guid, sysimg_guid;
	uint64_t port0_guid;		/* of a switch; 0: not said */
	char desc[DUMP_DESC_MAX + 1];
};

struct dump {
	const char *ibnl;		/* a directory of IBNL files that was named, or NULL */
	VEC(char *) files;
	VEC(struct dump_node) nodes;
	VEC(struct dump_port) ports;
	VEC(struct dump_name) names;
	struct map64 name_by_hash;	/* -> first of the names with the hash */
	struct map64 node_by_guid;
	uint32_t slots;			/* ports of all nodes, each with a port 0 */
	struct buf *err, *warn;
	unsigned n_err, n_warn;
};

/* --- dump.c --- */

#define DUMP_ERRORS_MAX 20
/* Beyond DUMP_ERRORS_MAX they are counted only. */
void dump_error(struct dump *d, struct dump_pos pos, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void dump_warn(struct dump *d, struct dump_pos pos, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* No use to read on. */
static inline bool dump_hopeless(const struct dump *d)
{
	return d->n_err > DUMP_ERRORS_MAX;
}
/* "path:line" of an earlier place; just "line N" if it is in the same file as `from`. */
const char *dump_place(const struct dump *d, struct dump_pos pos, struct dump_pos from,
		       char *out, size_t n);
#define DUMP_PLACE_MAX 128

/* The name's index, noted if it is new. */
uint32_t dump_name(struct dump *d, const char *text, size_t n);

/* --- dump_line.c: the words of a line; each moves *p behind what it took, or leaves it --- */

void take_space(const char **p);
bool take_char(const char **p, char c);
/* A decimal number up to max. */
bool take_number(const char **p, uint64_t max, uint64_t *out);
/* Hexadecimal with or without 0x, up to 64 bits. */
bool take_hex(const char **p, uint64_t *out);
/* As C has it: 0x for hexadecimal, else decimal. */
bool take_c_number(const char **p, uint64_t max, uint64_t *out);
/* "…" without quotes inside; *s is not terminated. */
bool take_quoted(const char **p, const char **s, size_t *n);
/* Exactly this word, and no letter or digit behind it. */
bool take_word(const char **p, const char *word);

/* Behind the '#' of a node's or a port's line. */
struct dump_remark {
	const char *before;	/* up to the description: "lid 16 lmc 1" */
	const char *desc;
	size_t n_desc;
	const char *after;	/* "base port 0 lid 6 lmc 0", "lid 3 4xSDR", … */
};
void dump_remark_split(const char *text, struct dump_remark *out);
/* The number behind a word like "lid" in text that ends at `end`, or 0. */
uint64_t remark_number(const char *text, const char *end, const char *word);

/* --- dump_read.c, dump_build.c --- */

/* Reads a file, and what it includes, into d. */
void dump_read(struct dump *d, const char *path);
/* False if d does not make sense; it says why. */
bool dump_build(struct dump *d, struct sim_fabric *f);

#endif
