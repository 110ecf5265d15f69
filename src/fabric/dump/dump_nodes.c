/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Collects names, nodes and port lines; each name stands for one node, or for one port of a node.
 */
#include <stdio.h>
#include <string.h>

#include "fabric/dump/reader.h"

/* --- names --- */

uint32_t reader_name(struct reader *r, const char *text)
{
	uint64_t hash = hash_bytes(text, strlen(text), 0);
	uint32_t last = map64_get(&r->name_by_hash, hash);

	for (uint32_t i = last; i != MAP64_NONE; i = r->names.v[i].next)
		if (!strcmp(r->names.v[i].text, text))
			return i;
	*vec_push(&r->names) = (struct dump_name){ xstrdup(text), DUMP_NONE, 0, last };
	map64_put(&r->name_by_hash, hash, (uint32_t)r->names.n - 1);
	return (uint32_t)r->names.n - 1;
}

bool reader_define_name(struct reader *r, uint32_t name, uint32_t node, unsigned port)
{
	struct dump_name *nm = &r->names.v[name];

	if (nm->node != DUMP_NONE)
		return fail(r, "\"%s\" is there twice, first at %s", nm->text,
			    DUMP_PLACE(r->d, r->d->nodes.v[nm->node].pos, r->pos));
	nm->node = node;
	nm->port = (uint8_t)port;
	return true;
}

/* --- nodes --- */

uint64_t reader_make_guid(struct reader *r, unsigned type, unsigned nports)
{
	uint64_t guid = r->guid_next[type];

	r->guid_next[type] += type == DUMP_SWITCH ? 1 : nports + 1;
	return guid;
}

const char *reader_id(char out[READER_ID_MAX], unsigned type, uint64_t guid)
{
	static const char letters[] = "?HSR";

	snprintf(out, READER_ID_MAX, "%c-%016llx", letters[type], (unsigned long long)guid);
	return out;
}

uint16_t reader_lid(struct reader *r, uint64_t lid)
{
	if (lid < 0xc000)
		return (uint16_t)lid;
	reader_warn(r, r->pos, "LID %llu is no unicast LID: taken as none",
		    (unsigned long long)lid);
	return 0;
}

uint8_t reader_lmc(struct reader *r, uint64_t lmc)
{
	if (lmc <= 7)
		return (uint8_t)lmc;
	reader_warn(r, r->pos, "LMC %llu is more than 7: taken as 0", (unsigned long long)lmc);
	return 0;
}

static void set_desc(struct reader *r, struct dump_node *n, const char *desc)
{
	size_t len = strlen(desc);

	if (len > DUMP_DESC_MAX) {
		len = DUMP_DESC_MAX;
		while (len && ((unsigned char)desc[len] & 0xc0) == 0x80)
			len--;		/* not inside a character */
		reader_warn(r, r->pos, "a NodeDescription has at most %u bytes: cut to \"%.*s\"",
			    DUMP_DESC_MAX, (int)len, desc);
	}
	memcpy(n->desc, desc, len);
	n->desc[len] = '\0';
}

static bool add_slots(struct reader *r, unsigned more)
{
	r->slots += more;
	r->stop = r->slots > DUMP_PORTS_MAX;
	return !r->stop || fail(r, "the fabric has more than %u ports", DUMP_PORTS_MAX);
}

bool reader_push_node(struct reader *r, const struct dump_node *n, const char *desc)
{
	struct dump_node *added;

	if (!add_slots(r, n->nports + 1u))
		return false;
	added = vec_push(&r->d->nodes);
	*added = *n;
	added->pos = r->pos;
	set_desc(r, added, desc);
	return true;
}

bool reader_name_node(struct reader *r, uint32_t node, const char *name, uint64_t guid)
{
	uint32_t other = map64_get(&r->d->node_by_guid, guid);
	struct dump_node *n = &r->d->nodes.v[node];

	if (!guid)
		return fail(r, "node \"%s\": 0 is no GUID", name);
	if (other != MAP64_NONE)
		return fail(r, "GUID 0x%llx is there twice, first at %s", (unsigned long long)guid,
			    DUMP_PLACE(r->d, r->d->nodes.v[other].pos, r->pos));
	if (!reader_define_name(r, reader_name(r, name), node, 0))
		return false;
	n->name = xstrdup(name);
	n->guid = guid;
	map64_put(&r->d->node_by_guid, guid, node);
	return true;
}

bool reader_grow_node(struct reader *r, uint32_t node, unsigned nports)
{
	struct dump_node *n = &r->d->nodes.v[node];
	unsigned more = nports > n->nports ? nports - n->nports : 0;

	n->nports = (uint8_t)(n->nports + more);
	return add_slots(r, more);
}

/* --- lines of ports --- */

bool reader_has_port(struct reader *r, uint32_t node, unsigned num)
{
	const struct dump_node *n = &r->d->nodes.v[node];

	return num <= n->nports ||
	       fail(r, "port %u is out of range: \"%s\" has %u", num, n->name, n->nports);
}

void reader_add_line(struct reader *r, const struct dump_line *line)
{
	struct dump_line *added;

	if (!reader_has_port(r, line->node, line->num))
		return;
	added = vec_push(&r->lines);
	*added = *line;
	added->pos = r->pos;
}
