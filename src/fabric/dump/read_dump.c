/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Loads a topology from a file, in any of the formats of read_dump.h.
 *
 * Two steps: the text becomes records of nodes and ports, checked against each
 * other; then a discovery is played on them (dump_play.c).  Nothing in the file is
 * trusted.
 */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/dump/read_dump.h"
#include "fabric/ibdm/ibdm.h"
#include "lib/base/alloc.h"
#include "lib/base/clean.h"
#include "lib/base/file.h"

#define DUMP_MAX	(256u << 20)	/* ten times what 100,000 ports take */
#define LINE_LOOKED_AT	256		/* bytes of a line that tell the format */

bool dump_fail_at(struct dump *d, struct dump_pos pos, const char *fmt, ...)
{
	va_list ap;

	buf_printf(d->err, "%s:%u: ", d->files.v[pos.file], pos.line);
	va_start(ap, fmt);
	buf_vprintf(d->err, fmt, ap);
	va_end(ap);
	return false;
}

/* --- records --- */

uint32_t dump_find_id(const struct dump *d, const char *id)
{
	uint32_t n = map64_get(&d->by_id, hash_bytes(id, strlen(id), 0));

	return n != MAP64_NONE && !strcmp(d->nodes.v[n].id, id) ? n : FABRIC_NONE;
}

uint64_t dump_make_guid(struct dump *d, unsigned type, unsigned nports)
{
	uint64_t guid = d->guid_next[type];

	d->guid_next[type] += type == IB_NODE_SWITCH_T ? 1 : nports + 1;
	return guid;
}

void dump_set_desc(struct dump_node *n, const char *text, size_t len)
{
	memset(n->desc, 0, sizeof(n->desc));
	memcpy(n->desc, text, len < sizeof(n->desc) ? len : sizeof(n->desc) - 1);
}

char *dump_id(char out[DUMP_ID_MAX], unsigned type, uint64_t guid)
{
	static const char letters[DUMP_TYPES] = {
		[IB_NODE_CA_T] = 'H', [IB_NODE_SWITCH_T] = 'S', [IB_NODE_ROUTER_T] = 'R',
	};

	snprintf(out, DUMP_ID_MAX, "%c-%016llx", letters[type], (unsigned long long)guid);
	return out;
}

uint32_t dump_push_node(struct dump *d, const struct dump_node *n)
{
	uint32_t index = (uint32_t)d->nodes.n;

	*vec_push(&d->nodes) = *n;
	return index;
}

bool dump_name_node(struct dump *d, uint32_t node, uint64_t guid, const char *id)
{
	uint64_t hash = hash_bytes(id, strlen(id), 0);
	struct dump_node *n = &d->nodes.v[node];

	if (!guid)
		return dump_fail_at(d, n->pos, "node \"%s\" has no GUID", id);
	if (map64_get(&d->by_id, hash) != MAP64_NONE)
		return dump_fail_at(d, n->pos, "node \"%s\" is there already", id);
	if (map64_get(&d->by_guid, guid) != MAP64_NONE)
		return dump_fail_at(d, n->pos, "node GUID 0x%llx is there already",
				    (unsigned long long)guid);
	map64_put(&d->by_id, hash, node);
	map64_put(&d->by_guid, guid, node);
	n->id = xstrdup(id);
	n->guid = guid;
	return true;
}

bool dump_add_node(struct dump *d, const struct dump_node *n, const char *id)
{
	return dump_name_node(d, dump_push_node(d, n), n->guid, id);
}

static uint64_t place_of(uint32_t node, unsigned num)
{
	return (uint64_t)node << 8 | num;
}

struct dump_port *dump_port_at(struct dump *d, uint32_t node, unsigned num)
{
	uint32_t i = map64_get(&d->by_place, place_of(node, num));

	return i == MAP64_NONE ? NULL : &d->ports.v[i];
}

bool dump_add_port(struct dump *d, const struct dump_port *p)
{
	struct dump_node *n = &d->nodes.v[p->node];
	uint32_t index = (uint32_t)d->ports.n;
	struct dump_port *added;

	if (!p->num || p->num > n->nports)
		return fail(d, "port %u of \"%s\" cannot be, it has %u", p->num, n->id,
			    n->nports);
	if (p->guid && map64_put(&d->by_port_guid, p->guid, index) != MAP64_NONE)
		return fail(d, "port GUID 0x%llx is there already", (unsigned long long)p->guid);
	if (dump_port_at(d, p->node, p->num))
		return fail(d, "port %u of \"%s\" is there already", p->num, n->id);
	map64_put(&d->by_place, place_of(p->node, p->num), index);
	added = vec_push(&d->ports);
	*added = *p;
	if (p->remote_id)
		added->remote_id = xstrdup(p->remote_id);
	n->n_ports++;
	return true;
}

bool dump_add_alias(struct dump *d, uint32_t node, uint8_t num, const char *name)
{
	uint64_t hash = hash_bytes(name, strlen(name), 0);
	uint32_t index = (uint32_t)d->aliases.n;

	if (map64_get(&d->alias_by_name, hash) != MAP64_NONE)
		return fail(d, "alias \"%s\" is there already", name);
	map64_put(&d->alias_by_name, hash, index);
	*vec_push(&d->aliases) = (struct dump_alias){ xstrdup(name), node, num };
	return true;
}

/* --- lines, and the format that they are in --- */

static const struct dump_format *const formats[] = {
	&dump_net, &dump_list, &dump_report, &dump_systems,
};

static bool says_nothing(const char *line)
{
	line += strspn(line, " \t\r\v\f");
	return !*line || *line == '#' || dump_is_stray(line);
}

/* The format of the first line that only one has; NULL: *line is the first that says anything. */
static const struct dump_format *recognise(const struct buf *text, uint32_t *line)
{
	const char *s = text->s;
	size_t left = text->n;
	char head[LINE_LOOKED_AT];

	*line = 0;
	for (uint32_t number = 1; left; number++) {
		const char *stop = memchr(s, '\n', left);
		size_t n = stop ? (size_t)(stop - s) : left;
		size_t taken = stop ? n + 1 : n;

		n = n < sizeof(head) ? n : sizeof(head) - 1;
		memcpy(head, s, n);
		head[n] = '\0';
		s += taken;
		left -= taken;
		if (says_nothing(head))
			continue;
		if (!*line)
			*line = number;
		for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
			if (formats[i]->recognise(head))
				return formats[i];
	}
	return NULL;
}

static void note_stray(struct dump *d, const char *line)
{
	if (d->n_stray++)
		return;
	d->stray_pos = d->pos;
	snprintf(d->stray, sizeof(d->stray), "%s", line);
	clean_text(d->stray);
}

static bool read_line(struct dump *d, const struct dump_format *format, char *line)
{
	if (!dump_is_stray(line))
		return format->read(d, line);
	note_stray(d, line);
	return true;
}

/* Lines are ended in place. */
static bool read_lines(struct dump *d, const struct dump_format *format, struct buf *text)
{
	char *line = text->s, *end, *c;

	for (size_t left = text->n; left; left -= (size_t)(end - line), line = end) {
		d->pos.line++;
		end = memchr(line, '\n', left);
		c = end ? end : line + left;	/* at the end there is room for a NUL */
		end = end ? end + 1 : c;
		while (c > line && isspace((unsigned char)c[-1]))
			c--;
		*c = '\0';
		if (strlen(line) != (size_t)(c - line))
			return fail(d, "a NUL byte: not a text file");
		if (!read_line(d, format, line))
			return false;
	}
	return true;
}

/* --- files that are included --- */

#define FILES_MAX	1024
#define DEPTH_MAX	8

static char *beside(const char *path, const char *name)
{
	const char *slash = *name == '/' ? NULL : strrchr(path, '/');

	return xasprintf("%.*s%s", slash ? (int)(slash + 1 - path) : 0, path, name);
}

static bool read_included(struct dump *d, const struct dump_format *format, const char *path)
{
	struct buf text = { 0 }, why = { 0 };
	bool ok = file_read(path, DUMP_MAX - d->bytes, &text, &why);

	d->bytes += text.n;
	if (!ok)
		fail(d, "%s: %s", path, why.s);
	d->pos = (struct dump_pos){ (uint32_t)d->files.n - 1, 0 };
	ok = ok && read_lines(d, format, &text);
	buf_free(&text);
	buf_free(&why);
	return ok;
}

bool dump_include(struct dump *d, const struct dump_format *format, const char *path)
{
	struct dump_pos here = d->pos;
	bool ok;

	if (d->depth == DEPTH_MAX || d->files.n == FILES_MAX)
		return fail(d, "more than %d files, or %d within each other, are included",
			    FILES_MAX, DEPTH_MAX);
	d->depth++;
	*vec_push(&d->files) = beside(d->files.v[here.file], path);
	ok = read_included(d, format, d->files.v[d->files.n - 1]);
	d->depth--;
	d->pos = here;
	return ok;
}

static bool read_text(struct dump *d, struct buf *text)
{
	struct dump_pos pos = { 0 };
	const struct dump_format *format = recognise(text, &pos.line);

	d->bytes = text->n;
	if (!format && pos.line)
		return dump_fail_at(d, pos,
				    "unknown line: this is no topology in a format that is read");
	if (!format)
		format = &dump_net;
	return read_lines(d, format, text) && (!format->end || format->end(d));
}

static void say_stray(const struct dump *d, struct buf *warn)
{
	if (!d->n_stray || !warn)
		return;
	if (d->n_stray == 1)
		buf_printf(warn, "%s:%u: a program's message, which is ignored: %s\n",
			   d->files.v[d->stray_pos.file], d->stray_pos.line, d->stray);
	else
		buf_printf(warn, "%s:%u: the first of %u messages of programs, which are ignored: "
			   "%s\n", d->files.v[d->stray_pos.file], d->stray_pos.line, d->n_stray, d->stray);
}

/* --- both ends of each link --- */

/*
 * Puts the records of each node side by side, by port number: whatever the order in the file,
 * a discovery meets the same nodes in the same order.
 */
static void gather_ports(struct dump *d)
{
	struct dump_port *sorted = xcalloc(d->ports.n + 1, sizeof(*sorted));
	uint32_t n = 0;

	for (uint32_t i = 0; i < d->nodes.n; i++) {
		struct dump_node *node = &d->nodes.v[i];

		node->port = n;
		for (unsigned num = 1; n < node->port + node->n_ports; num++) {
			const struct dump_port *p = dump_port_at(d, i, num);

			if (p)
				sorted[n++] = *p;
		}
	}
	free(d->ports.v);
	d->ports.v = sorted;
	d->ports.cap = d->ports.n + 1;
}

uint32_t dump_find_port(const struct dump *d, const struct dump_node *n, unsigned num)
{
	for (uint32_t i = n->port; i < n->port + n->n_ports; i++)
		if (d->ports.v[i].num == num)
			return i;
	return FABRIC_NONE;
}

/* Which node a link leads to; FABRIC_NONE: there is none of that id. */
static uint32_t remote_of(const struct dump *d, const struct dump_port *p)
{
	return p->remote_id ? dump_find_id(d, p->remote_id) : p->remote_node;
}

static struct dump_alias *find_alias(const struct dump *d, const char *name)
{
	uint32_t i = map64_get(&d->alias_by_name, hash_bytes(name, strlen(name), 0));

	return i != MAP64_NONE && !strcmp(d->aliases.v[i].name, name) ? &d->aliases.v[i] : NULL;
}

/*
 * A link to an alias leads to the port that it stands for.  ibsim lists such a link at this end
 * only.
 */
static bool resolve_alias(struct dump *d, uint32_t port)
{
	struct dump_port *p = &d->ports.v[port], far;
	const struct dump_alias *to = p->remote_id ? find_alias(d, p->remote_id) : NULL;

	if (!to)
		return true;
	free(p->remote_id);
	p->remote_id = NULL;
	p->remote_node = to->node;
	p->remote_num = to->num;
	if (dump_port_at(d, to->node, to->num))
		return true;
	far = (struct dump_port){
		.pos = p->pos, .guid = p->remote_guid, .remote_guid = p->guid, .node = to->node,
		.num = to->num, .remote_node = p->node, .remote_num = p->num, .speed = p->speed,
	};
	d->pos = p->pos;
	return dump_add_port(d, &far);
}

static bool resolve_port(struct dump *d, uint32_t port)
{
	struct dump_port *p = &d->ports.v[port];
	uint32_t remote = remote_of(d, p);

	if (remote == FABRIC_NONE)
		return dump_fail_at(d, p->pos, "there is no node \"%s\"", p->remote_id);
	p->peer = dump_find_port(d, &d->nodes.v[remote], p->remote_num);

	const struct dump_port *q = p->peer == FABRIC_NONE ? NULL : &d->ports.v[p->peer];

	if (p->peer == port)
		return dump_fail_at(d, p->pos, "the port is linked to itself");
	if (!q || q->remote_num != p->num || remote_of(d, q) != p->node)
		return dump_fail_at(d, p->pos, "port %u of \"%s\" does not list this link",
				    p->remote_num, d->nodes.v[remote].id);
	if (q->guid && p->remote_guid && q->guid != p->remote_guid)
		return dump_fail_at(d, p->pos, "port GUID 0x%llx, but line %u says 0x%llx",
				    (unsigned long long)p->remote_guid, q->pos.line,
				    (unsigned long long)q->guid);
	return true;
}

/* What both ends can do, width and speed each on its own, is what the link runs at. */
static void use_slower(struct link_speed *a, struct link_speed *b)
{
	unsigned width_a = rate_from_link(a->width, 1, 0, false);
	unsigned width_b = rate_from_link(b->width, 1, 0, false);
	unsigned lane_a = rate_from_link(1, a->speed, a->speed_ext, a->fdr10);
	unsigned lane_b = rate_from_link(1, b->speed, b->speed_ext, b->fdr10);
	struct link_speed slower = rate_compare(lane_a, lane_b) <= 0 ? *a : *b;

	slower.width = rate_compare(width_a, width_b) <= 0 ? a->width : b->width;
	*a = *b = slower;
}

static bool resolve_links(struct dump *d)
{
	for (uint32_t i = 0, n = (uint32_t)d->ports.n; i < n; i++)
		if (!resolve_alias(d, i))
			return false;
	gather_ports(d);
	for (uint32_t i = 0; i < d->ports.n; i++)
		if (!resolve_port(d, i))
			return false;
	for (uint32_t i = 0; i < d->ports.n; i++)
		use_slower(&d->ports.v[i].speed, &d->ports.v[d->ports.v[i].peer].speed);
	return true;
}

static void dump_start(struct dump *d)
{
	d->guid_base[IB_NODE_CA_T] = 0x100000;
	d->guid_base[IB_NODE_SWITCH_T] = 0x200000;
	d->guid_base[IB_NODE_ROUTER_T] = 0x300000;
	memcpy(d->guid_next, d->guid_base, sizeof(d->guid_next));
	d->node = FABRIC_NONE;
}

static void dump_free(struct dump *d)
{
	for (size_t i = 0; i < d->nodes.n; i++)
		free(d->nodes.v[i].id);
	for (size_t i = 0; i < d->ports.n; i++)
		free(d->ports.v[i].remote_id);
	for (size_t i = 0; i < d->files.n; i++)
		free(d->files.v[i]);
	for (size_t i = 0; i < d->aliases.n; i++)
		free(d->aliases.v[i].name);
	vec_free(&d->files);
	vec_free(&d->aliases);
	map64_free(&d->alias_by_name);
	vec_free(&d->nodes);
	vec_free(&d->ports);
	map64_free(&d->by_id);
	map64_free(&d->by_guid);
	map64_free(&d->by_port_guid);
	map64_free(&d->by_place);
	map64_free(&d->by_hint);
	ibdm_free(d->systems);
}

struct fabric *fabric_load_systems(const char *path, const char *ibnl, uint64_t sm_guid,
				   bool keep_lids, struct buf *err, struct buf *warn)
{
	struct dump d = { .path = path, .ibnl = ibnl, .err = err };
	struct fabric *f = NULL;
	struct buf text = { 0 }, why = { 0 };

	dump_start(&d);
	*vec_push(&d.files) = xstrdup(path);
	if (!file_read(path, DUMP_MAX, &text, &why))
		buf_printf(err, "%s: %s", path, why.s);
	else if (read_text(&d, &text) && resolve_links(&d))
		f = dump_play(&d, sm_guid, keep_lids);
	say_stray(&d, warn);
	buf_free(&text);
	buf_free(&why);
	dump_free(&d);
	return f;
}

struct fabric *fabric_load(const char *path, uint64_t sm_guid, bool keep_lids,
			   struct buf *err, struct buf *warn)
{
	return fabric_load_systems(path, NULL, sm_guid, keep_lids, err, warn);
}
