/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Shared by the files of this folder: parsed IBNL files, their search paths, and expanded systems.
 * ibnl.c parses the files, ibnl_library.c finds them, and ibnl_expand.c expands systems to nodes
 * and links.
 *
 * An IBNL file has boards (SYSTEM) and, at its end, the system itself (TOPSYSTEM).  Each has parts:
 * nodes, and other boards of the file.  A part's port leads to another part of the same board, or
 * to a connector of the board:
 *
 *	SYSTEM LEAF,LEAF:4x
 *	NODE SW 8 MT43132 U1
 *		1 -> P1			connector P1 of the board
 *		5 -4x-5G-> U2 4		port 4 of node U2
 *
 *	TOPSYSTEM MTS9600,Gazelle
 *	SUBSYSTEM LEAF leaf1
 *		P1 -> L1/P1		connector of the system, for a cable
 */
#ifndef QOSD_FABRIC_IBDM_IBNL_H
#define QOSD_FABRIC_IBDM_IBNL_H

#include "fabric/ibdm/ibdm.h"
#include "lib/base/alloc.h"
#include "lib/base/buf.h"
#include "lib/base/map64.h"

struct ibdm_report {
	ibdm_error_fn *error;
	void *arg;
	unsigned n;
};

/* Reports an error; always returns false. */
__attribute__((format(printf, 4, 5)))
bool ibdm_fail(struct ibdm_report *r, const char *file, uint32_t line, const char *fmt, ...);

/* --- ibnl_words.c --- */

/* Takes text up to the next white space; false at the end of the line. */
bool ibdm_take_word(const char **s, char **word);	/* owned by the caller */
/* Parses "-", "-4x-", "-5G-" or "-4x-5G-"; the defaults are ibdm's, 4x and 2.5 Gb/s. */
bool ibdm_parse_speed(const char *s, size_t n, struct ibdm_speed *speed);
/* Parses a port number from 1 to max with nothing after it; 0 if it is none. */
uint8_t ibdm_port_number(const char *word, unsigned max);

/* A list of names, each once. */
struct ibdm_names {
	VEC(char *) v;
	struct map64 by_hash;
};
uint32_t ibdm_find_name(const struct ibdm_names *names, const char *name);	/* or MAP64_NONE */
/* Returns the new name's index, the number of names before it; MAP64_NONE if the name exists. */
uint32_t ibdm_add_name(struct ibdm_names *names, const char *name);
void ibdm_free_names(struct ibdm_names *names);

/* --- ibnl.c --- */

struct ibnl_link {
	char *port;
	char *part;		/* NULL: leads to a connector of the board */
	char *far;		/* port of that part, or the connector */
	struct ibdm_speed speed;
	uint32_t line;
};

struct ibnl_part {
	char *board;		/* NULL: a node */
	VEC(struct ibnl_link) links;
	uint32_t line;
	uint16_t device;
	uint8_t nports;
	bool is_switch;
};

struct ibnl_connector {
	uint32_t part, link;	/* the part, and the index of its link */
};

struct ibnl_board {
	uint32_t line;
	struct ibdm_names part_names;	/* index of parts */
	VEC(struct ibnl_part) parts;
	struct ibdm_names connector_names;
	VEC(struct ibnl_connector) connectors;
};

struct ibnl {
	char *path;
	struct ibdm_names board_names;	/* all boards but the last, which is the system */
	VEC(uint32_t) board_of_name;
	VEC(struct ibnl_board) boards;
};

#define IBNL_BYTES_MAX (4u << 20)	/* fifty times ibdm's largest file */

/* Parses the text, which is modified, into f, whose path is set.  Returns false with an error. */
bool ibnl_parse(struct ibnl *f, struct buf *text, struct ibdm_report *report);
void ibnl_free(struct ibnl *f);
/* Calls found with each name of a system that the text defines, without parsing it in full. */
void ibnl_list_systems(const struct buf *text, void (*found)(void *arg, const char *name),
		       void *arg);

/* --- ibnl_library.c: types of systems --- */

struct ibdm_type {
	struct ibnl *ibnl;	/* NULL: a single node with ports P1 to Pn */
	uint16_t device;
	uint8_t nports;
	bool is_switch;
};

struct ibdm_library;
struct ibdm_library *ibdm_library_new(const struct ibdm_files *files, struct ibdm_report *report);
/* All names of a type return the same type.  NULL, with an error at this line of the .topo file. */
const struct ibdm_type *ibdm_find_type(struct ibdm_library *l, const char *name, uint32_t line);
void ibdm_library_free(struct ibdm_library *l);

/* --- ibnl_expand.c --- */

struct ibdm_place {
	uint32_t node;
	uint8_t num;
};

struct ibdm_inner_link {
	struct ibdm_place end[2];
	struct ibdm_speed speed;
};

/* An expanded system type: its nodes, the links between them, and connectors for cables. */
struct ibdm_system {
	bool single;			/* the system is a single node */
	struct ibdm_names node_names;	/* within the system: "leaf1/U4" */
	VEC(struct ibdm_node) nodes;	/* name, line and first are not set */
	VEC(struct ibdm_inner_link) links;
	struct ibdm_names port_names;
	VEC(struct ibdm_place) ports;
};

/*
 * cfg: the text after "CFG:", or "".  Returns false with an error; errors in cfg are reported at
 * this line.
 */
bool ibdm_expand(const struct ibdm_type *type, const char *type_name, const char *cfg,
		 uint32_t line, struct ibdm_system *out, struct ibdm_report *report);
void ibdm_free_system(struct ibdm_system *s);

#endif
