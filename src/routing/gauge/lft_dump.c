/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Parses dumps of forwarding tables; see lft_dump.h. */
#include "routing/gauge/lft_dump.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"

#define LINE_MAX_BYTES 1024

struct lft_dump {
	const struct fabric *f;
	struct fabric_lids lids;
	uint32_t *owner;	/* [LID]: port or FABRIC_NONE */
	struct lfts *tables;
	bool *has_table;	/* [switch] */
	uint32_t sw;		/* switch of the current table; FABRIC_NONE: the table is skipped */
	bool in_table;
	uint32_t strange;
};

void fabric_lids_init(struct fabric_lids *x, const struct fabric *f)
{
	*x = (struct fabric_lids){ 0 };
	x->lid = xcalloc(f->n_ports, sizeof(*x->lid));
	x->lmc = xcalloc(f->n_ports, 1);
	x->r = (struct route_request){ .f = f, .lid = x->lid, .lmc = x->lmc };
	for (uint32_t p = 0; p < f->n_ports; p++) {
		const struct fabric_port *port = &f->ports[p];
		uint32_t last = port->lid + (1u << (port->lmc & 7)) - 1;

		if (!port_is_end(f, p) || !port->lid || last > IB_LID_UCAST_MAX)
			continue;
		x->lid[p] = port->lid;
		x->lmc[p] = port->lmc & 7;
		if (last > x->r.lid_top)
			x->r.lid_top = (uint16_t)last;
	}
}

void fabric_lids_free(struct fabric_lids *x)
{
	free(x->lid);
	free(x->lmc);
}

struct lft_dump *lft_dump_new(const struct fabric *f)
{
	struct lft_dump *d = xcalloc(1, sizeof(*d));

	d->f = f;
	fabric_lids_init(&d->lids, f);
	d->tables = lfts_new(f->n_switches, d->lids.r.lid_top);
	d->has_table = xcalloc(f->n_switches, sizeof(*d->has_table));
	d->owner = xmalloc((d->lids.r.lid_top + 1u) * sizeof(*d->owner));
	for (uint32_t lid = 0; lid <= d->lids.r.lid_top; lid++)
		d->owner[lid] = FABRIC_NONE;
	for (uint32_t p = 0; p < f->n_ports; p++)
		for (uint32_t k = 0; d->lids.lid[p] && k < 1u << d->lids.lmc[p]; k++)
			d->owner[d->lids.lid[p] + k] = p;
	return d;
}

void lft_dump_free(struct lft_dump *d)
{
	if (!d)
		return;
	fabric_lids_free(&d->lids);
	lfts_free(d->tables);
	free(d->has_table);
	free(d->owner);
	free(d);
}

/* Reads the 64-bit number that follows a word of the text; false: there is none. */
static bool guid_behind(const char *text, const char *word, uint64_t *guid)
{
	const char *at = strstr(text, word);
	char *end;

	if (!at || strncmp(at + strlen(word), "0x", 2) != 0)
		return false;
	*guid = strtoull(at + strlen(word), &end, 16);
	return end > at + strlen(word) + 2 && (size_t)(end - at) <= strlen(word) + 18;
}

static bool begin_table(struct lft_dump *d, const char *line, struct buf *why)
{
	uint32_t node;
	uint64_t guid;

	d->in_table = true;
	d->sw = FABRIC_NONE;
	if (!guid_behind(line, " guid ", &guid)) {
		buf_puts(why, "a table without the GUID of its switch");
		return false;
	}
	node = map64_get(&d->f->node_by_guid, guid);
	if (node == MAP64_NONE) {
		d->strange++;
		return true;
	}
	if (!node_is_switch(&d->f->nodes[node])) {
		buf_printf(why, "0x%016" PRIx64 " is not a switch", guid);
		return false;
	}
	d->sw = d->f->nodes[node].sw;
	if (d->has_table[d->sw]) {
		buf_printf(why, "a second table of switch 0x%016" PRIx64, guid);
		return false;
	}
	d->has_table[d->sw] = true;
	return true;
}

/* Whether the port that a line names for the LID has it in the fabric. */
static bool same_owner(const struct lft_dump *d, const char *rest, uint32_t lid, struct buf *why)
{
	uint32_t port = d->owner[lid];
	uint64_t guid;

	if (!guid_behind(rest, " portguid ", &guid) && !guid_behind(rest, "(portguid ", &guid))
		return true;
	if (d->f->ports[port].guid == guid)
		return true;
	buf_printf(why, "LID %" PRIu32 " belongs to port 0x%016" PRIx64 " here, but to %s in the topology: "
		   "the two files are from different times", lid, guid, PORT_NAME(d->f, port));
	return false;
}

static bool add_entry(struct lft_dump *d, const char *line, struct buf *why)
{
	const struct fabric_node *node;
	unsigned long lid, port;
	char *end, *at;

	lid = strtoul(line, &end, 16);
	if (end == line || *end != ' ' || lid > IB_LID_UCAST_MAX) {
		buf_puts(why, "the line does not begin with a unicast LID");
		return false;
	}
	at = end + strspn(end, " ");
	port = strtoul(at, &end, 10);
	if (*at < '0' || *at > '9' || (*end && *end != ' ') || port > 255) {
		buf_puts(why, "no port number after the LID");
		return false;
	}
	if (!d->in_table) {
		buf_puts(why, "an entry before the first table");
		return false;
	}
	if (d->sw == FABRIC_NONE || lid > d->lids.r.lid_top || d->owner[lid] == FABRIC_NONE)
		return true;
	node = &d->f->nodes[d->f->switches[d->sw].node];
	if (port > node->nports && port != LFT_DROP) {
		buf_printf(why, "port %lu of a switch that has %u", port, node->nports);
		return false;
	}
	if (!same_owner(d, end, (uint32_t)lid, why))
		return false;
	d->tables->entries[(size_t)d->sw * d->tables->stride + lid] = (uint8_t)port;
	return true;
}

/* Whether a line is part of a table's heading or gives the number of its entries. */
static bool is_decoration(const char *line)
{
	size_t digits = strspn(line, "0123456789");

	if (digits)
		return !strncmp(line + digits, " lids dumped", 12) ||
		       !strncmp(line + digits, " valid lids dumped", 18);
	return !*line || *line == '#' || !strncmp(line, "Lid ", 4) || !strncmp(line, "Port ", 5);
}

bool lft_dump_line(struct lft_dump *d, const char *line, size_t n, struct buf *why)
{
	char text[LINE_MAX_BYTES];

	while (n > 0 && (*line == ' ' || *line == '\t')) {
		line++;
		n--;
	}
	while (n > 0 && strchr("\r\n\t ", line[n - 1]) && line[n - 1])
		n--;
	if (n >= sizeof(text) || memchr(line, '\0', n)) {
		buf_puts(why, "not a line of a dump of forwarding tables");
		return false;
	}
	memcpy(text, line, n);
	text[n] = '\0';
	if (!strncmp(text, "Unicast lids ", 13))
		return begin_table(d, text, why);
	if (!strncmp(text, "0x", 2))
		return add_entry(d, text, why);
	if (is_decoration(text))
		return true;
	buf_puts(why, strncmp(text, "Multicast ", 10) ?
		 "not a line of a dump of forwarding tables" :
		 "a multicast forwarding table: only unicast tables are measured");
	return false;
}

struct lfts *lft_dump_end(struct lft_dump *d, struct lft_dump_left *left, struct buf *why)
{
	struct lfts *tables = NULL;

	*left = (struct lft_dump_left){ .strange = d->strange, .example = FABRIC_NONE };
	for (uint32_t sw = d->f->n_switches; sw-- > 0; )
		if (!d->has_table[sw]) {
			left->without++;
			left->example = d->f->switches[sw].node;
		}
	if (left->without == d->f->n_switches) {
		buf_puts(why, left->strange ? "all tables belong to switches that are not in the topology" :
					      "it has no table");
	} else if (!d->lids.r.lid_top) {
		buf_puts(why, "the ports of the topology have no LIDs");
	} else {
		tables = d->tables;
		d->tables = NULL;
	}
	lft_dump_free(d);
	return tables;
}
