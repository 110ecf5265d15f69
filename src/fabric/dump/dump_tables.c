/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads the tables that ibdiagnet writes (ibdiagnet2.db_csv): nodes, what their ports have, and
 * links.  Other tables of the file are passed over, and so are columns that are not needed.
 *
 *	START_NODES
 *	NodeDesc,NumPorts,NodeType,ClassVersion,BaseVersion,SystemImageGUID,NodeGUID,PortGUID, …
 *	"leaf01",36,2,1,1,0x0002c90300a1b2c0,0x0002c90300a1b2c0,0x0002c90300a1b2c0, …
 *	END_NODES
 *
 * Columns are found by their titles, as versions of ibdiagnet differ in them.  Ports and links are
 * kept until the end, because they may come before the nodes.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "fabric/dump/reader.h"

#define FIELDS_MAX	256
#define FDR10		(1u << 16)	/* of LinkSpeedActv */
#define EXT_SHIFT	8		/* LinkSpeedExtActive within it */

enum table { NODES, PORTS, LINKS, TABLES, NO_TABLE = TABLES };
enum { COLUMNS_MAX = 7 };

struct column {
	const char *title;
	bool optional;
	uint64_t max;		/* of a number; 0: a text */
};

enum { N_DESC, N_PORTS, N_TYPE, N_GUID, N_SYSTEM, N_VENDOR, N_DEVICE };
enum { P_NODE, P_NUM, P_GUID, P_LID, P_LMC, P_WIDTH, P_SPEED };
enum { L_NODE1, L_NUM1, L_NODE2, L_NUM2 };

static const struct {
	const char *name;
	struct column columns[COLUMNS_MAX];
} tables[TABLES] = {
	[NODES] = { "NODES", {
		[N_DESC] = { "NodeDesc", false, 0 }, [N_PORTS] = { "NumPorts", false, DUMP_NODE_PORTS_MAX },
		[N_TYPE] = { "NodeType", false, DUMP_ROUTER }, [N_GUID] = { "NodeGUID", false, UINT64_MAX },
		[N_SYSTEM] = { "SystemImageGUID", true, UINT64_MAX },
		[N_VENDOR] = { "VendorID", true, 0xffffff }, [N_DEVICE] = { "DeviceID", true, UINT16_MAX } } },
	[PORTS] = { "PORTS", {
		[P_NODE] = { "NodeGuid", false, UINT64_MAX }, [P_NUM] = { "PortNum", false, DUMP_NODE_PORTS_MAX },
		[P_GUID] = { "PortGuid", true, UINT64_MAX }, [P_LID] = { "LID", true, UINT16_MAX },
		[P_LMC] = { "LMC", true, UINT8_MAX }, [P_WIDTH] = { "LinkWidthActv", true, UINT32_MAX },
		[P_SPEED] = { "LinkSpeedActv", true, UINT32_MAX } } },
	[LINKS] = { "LINKS", {
		[L_NODE1] = { "NodeGuid1", false, UINT64_MAX }, [L_NUM1] = { "PortNum1", false, DUMP_NODE_PORTS_MAX },
		[L_NODE2] = { "NodeGuid2", false, UINT64_MAX },
		[L_NUM2] = { "PortNum2", false, DUMP_NODE_PORTS_MAX } } },
};

struct row {
	struct dump_pos pos;
	uint64_t v[COLUMNS_MAX];
};

struct dump_tables {
	enum table table;	/* of the lines that follow */
	bool titled;		/* its titles were read */
	unsigned field[COLUMNS_MAX];	/* of each column; FIELDS_MAX: there is none */
	VEC(struct row) rows[TABLES];	/* of ports and links */
	struct map64 port_by_place;	/* (node, number) -> row of ports */
};

void dump_tables_free(struct dump_tables *t)
{
	if (!t)
		return;
	for (unsigned i = 0; i < TABLES; i++)
		vec_free(&t->rows[i]);
	map64_free(&t->port_by_place);
	free(t);
}

/* --- lines --- */

/*
 * Splits a line at its commas, in place; one in quotes ends at a quote before a comma, because ibdiagnet
 * prints descriptions as they are.  Returns the number of fields, FIELDS_MAX at most.
 */
static unsigned split(char *p, char *field[FIELDS_MAX])
{
	unsigned n = 0;

	while (p && n < FIELDS_MAX) {
		char *end = NULL;

		if (*p == '"') {
			end = strstr(++p, "\",");
			if (!end && *p && p[strlen(p) - 1] == '"')
				p[strlen(p) - 1] = '\0';
			if (end)
				*end++ = '\0';
		} else {
			end = strchr(p, ',');
		}
		field[n++] = p;
		if (end)
			*end++ = '\0';
		p = end;
	}
	return n;
}

static void read_titles(struct reader *r, char *line)
{
	struct dump_tables *t = r->tables;
	char *field[FIELDS_MAX];
	unsigned n = split(line, field);

	t->titled = true;
	for (unsigned c = 0; c < COLUMNS_MAX && tables[t->table].columns[c].title; c++) {
		const struct column *x = &tables[t->table].columns[c];

		t->field[c] = 0;
		while (t->field[c] < n && strcasecmp(field[t->field[c]], x->title))
			t->field[c]++;
		if (t->field[c] < n)
			continue;
		t->field[c] = FIELDS_MAX;
		if (!x->optional)
			fail(r, "the table %s has no column \"%s\"", tables[t->table].name, x->title);
	}
}

/* Reads the columns of a row, of a text into *desc; false, with an error, if one is wrong. */
static bool take_row(struct reader *r, char *line, struct row *row, char **desc)
{
	const struct dump_tables *t = r->tables;
	char *field[FIELDS_MAX];
	unsigned n = split(line, field);

	*row = (struct row){ .pos = r->pos };
	for (unsigned c = 0; c < COLUMNS_MAX && tables[t->table].columns[c].title; c++) {
		const struct column *x = &tables[t->table].columns[c];
		char *p;

		if (t->field[c] == FIELDS_MAX)
			continue;
		if (t->field[c] >= n)
			return fail(r, "the row ends before its column \"%s\"", x->title);
		p = field[t->field[c]];
		if (!x->max) {
			*desc = p;
		} else if (!take_c_number(&p, x->max, &row->v[c]) || *p) {
			row->v[c] = 0;		/* "N/A" */
			if (!x->optional)
				return fail(r, "%s: a number up to %llu is expected, not \"%.24s\"", x->title,
					    (unsigned long long)x->max, field[t->field[c]]);
		}
	}
	return true;
}

static void read_node(struct reader *r, const struct row *row, const char *desc)
{
	struct dump_node n = {
		.type = (uint8_t)row->v[N_TYPE], .nports = (uint8_t)row->v[N_PORTS],
		.vendor = (uint32_t)row->v[N_VENDOR], .device = (uint16_t)row->v[N_DEVICE],
		.sysimg_guid = row->v[N_SYSTEM],
	};
	uint32_t node = (uint32_t)r->d->nodes.n;
	char id[READER_ID_MAX];

	if (!n.type || !n.nports)
		fail(r, n.type ? "a node without ports" : "0 is no type of node");
	else if (reader_push_node(r, &n, desc))
		reader_name_node(r, node, reader_id(id, n.type, row->v[N_GUID]), row->v[N_GUID]);
}

/* The table that a line "START_NODES" begins. */
static enum table table_of(const char *line)
{
	for (unsigned i = 0; i < TABLES; i++)
		if (!strcmp(line, tables[i].name))
			return (enum table)i;
	return NO_TABLE;
}

static void read_line(struct reader *r, char *line)
{
	struct dump_tables *t = r->tables;
	struct row row;
	char *desc = NULL;

	if (!t) {
		t = r->tables = xcalloc(1, sizeof(*t));
		t->table = NO_TABLE;
	}
	if (take_text(&line, "START_")) {
		t->table = table_of(line);
		t->titled = false;
	} else if (!strncmp(line, "END_", 4)) {
		t->table = NO_TABLE;
	} else if (t->table == NO_TABLE || !*line) {
		return;
	} else if (!t->titled) {
		read_titles(r, line);
	} else if (!r->n_err && take_row(r, line, &row, &desc)) {
		if (t->table == NODES)
			read_node(r, &row, desc);
		else
			*vec_push(&t->rows[t->table]) = row;
	}
}

/* --- when all are read --- */

static uint64_t place(uint32_t node, uint64_t num)
{
	return (uint64_t)node << 8 | num;
}

/* Switches have their LID at port 0. */
static void take_port(struct reader *r, uint32_t i)
{
	const struct row *row = &r->tables->rows[PORTS].v[i];
	uint32_t node = map64_get(&r->d->node_by_guid, row->v[P_NODE]);

	r->pos = row->pos;
	if (node == MAP64_NONE) {
		fail(r, "there is no node 0x%llx", (unsigned long long)row->v[P_NODE]);
		return;
	}
	map64_put(&r->tables->port_by_place, place(node, row->v[P_NUM]), i);
	if (row->v[P_NUM] || r->d->nodes.v[node].type != DUMP_SWITCH)
		return;
	r->d->nodes.v[node].lid = reader_lid(r, row->v[P_LID]);
	r->d->nodes.v[node].lmc = reader_lmc(r, row->v[P_LMC]);
}

static const struct row *port_row(const struct reader *r, uint32_t node, uint64_t num)
{
	uint32_t i = map64_get(&r->tables->port_by_place, place(node, num));

	return i == MAP64_NONE ? NULL : &r->tables->rows[PORTS].v[i];
}

static struct cable_speed speed_of(const struct row *port)
{
	unsigned speed = (unsigned)port->v[P_SPEED];
	struct cable_speed s = cable_speed_of_masks((unsigned)port->v[P_WIDTH], speed & 0x7,
						    speed >> EXT_SHIFT & 0xf);

	if (speed & FDR10)
		s.rate = RATE_FDR10;
	return s;
}

/* One end of a link. */
static void add_end(struct reader *r, uint32_t node, uint64_t num, uint32_t peer, uint64_t peer_num)
{
	const struct row *near = port_row(r, node, num);
	struct dump_line line = { .node = node, .num = (uint8_t)num, .peer_name = DUMP_NONE,
				  .peer_node = peer, .peer_num = (uint8_t)peer_num };

	if (near) {
		line.speed = speed_of(near);
		if (r->d->nodes.v[node].type != DUMP_SWITCH) {
			line.guid = near->v[P_GUID];
			line.lid = reader_lid(r, near->v[P_LID]);
			line.lmc = reader_lmc(r, near->v[P_LMC]);
		}
	}
	reader_add_line(r, &line);
}

static void add_link(struct reader *r, const struct row *row)
{
	uint32_t a = map64_get(&r->d->node_by_guid, row->v[L_NODE1]);
	uint32_t b = map64_get(&r->d->node_by_guid, row->v[L_NODE2]);

	r->pos = row->pos;
	if (a == MAP64_NONE || b == MAP64_NONE) {
		fail(r, "there is no node 0x%llx", (unsigned long long)row->v[a == MAP64_NONE ? L_NODE1 : L_NODE2]);
	} else if (!row->v[L_NUM1] || !row->v[L_NUM2]) {
		fail(r, "a link has no end at port 0");
	} else {
		add_end(r, a, row->v[L_NUM1], b, row->v[L_NUM2]);
		add_end(r, b, row->v[L_NUM2], a, row->v[L_NUM1]);
	}
}

static void end(struct reader *r)
{
	const struct dump_tables *t = r->tables;

	for (uint32_t i = 0; t && i < t->rows[PORTS].n; i++)
		take_port(r, i);
	for (size_t i = 0; t && i < t->rows[LINKS].n; i++)
		add_link(r, &t->rows[LINKS].v[i]);
}

static bool recognise(char *line)
{
	return !strncmp(line, "START_", 6);
}

const struct reader_format format_tables = { recognise, read_line, end };
