/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The state of reading a dump, and what the readers of its statements share.
 * A dump is read line by line; each line is a statement of its own: ids that are
 * about the next node, a node, or a port of the last node.
 */
#ifndef QOSD_SIMTOPO_DUMP_READER_H
#define QOSD_SIMTOPO_DUMP_READER_H

#include "simtopo/dump.h"

#define DUMP_MODULE_MAX 20

struct link_masks {
	unsigned width, speed, ext;	/* as PortInfo has them; 0: not said */
};

struct reader {
	struct dump *d;
	struct dump_pos pos;
	unsigned depth;			/* of files that include each other */
	bool stop;			/* no use to read on */
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
/* "Switch	36 "S-…"	# …" behind the first word */
void reader_node(struct reader *r, const char *p, unsigned type);
/* Nothing is about a node any more: a port's line would be an error. */
static inline void reader_no_node(struct reader *r)
{
	r->node = SIM_NONE;
	r->skip_ports = false;
}

/* --- dump_port.c --- */

/* "[1](guid)	"S-…"[6]	# …" */
void reader_port(struct reader *r, const char *line);
/* "@[3] "name"": others link to this port by "module@name" */
void reader_alias(struct reader *r, const char *line);

#endif
