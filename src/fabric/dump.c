/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Loads a topology in ibnetdiscover's text format.
 *
 * Two steps: the text becomes records of nodes and ports, checked against each
 * other; then a discovery is played on them, breadth first from the SM's node,
 * which feeds the fabric builder with the NodeInfo, PortInfo and SwitchInfo
 * that stock ibsim's devices would answer.  Nothing in the file is trusted.
 */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/mad.h>

#include "base/alloc.h"
#include "fabric/fabric.h"
#include "ib/units.h"

struct dump_port {
	char *remote_id;	/* owned */
	uint64_t guid, remote_guid;	/* 0: not given */
	uint32_t node, line;
	uint32_t peer;		/* index of the record of the other end */
	uint16_t lid;
	uint8_t num, remote_num, lmc;
	struct link_speed speed;
};

struct dump_node {
	char *id;		/* owned: what stands in quotes, "S-0008f10400410015" */
	char desc[65];
	uint64_t guid, sysimg_guid;
	uint32_t vendor, device, line;
	uint32_t port, n_ports;	/* its port records: ports.v[port .. port + n_ports - 1] */
	uint32_t index;		/* in the fabric, FABRIC_NONE: not (yet) reached */
	uint16_t lid;		/* of port 0 */
	uint8_t type, nports, lmc;
	bool enhanced_port0;
};

/* What the lines before a node's say about it. */
struct preamble {
	uint64_t guid, sysimg_guid;
	uint32_t vendor, device;
};

struct dump {
	const char *path;
	uint32_t line;
	struct buf *err;
	struct preamble next;
	VEC(struct dump_node) nodes;
	VEC(struct dump_port) ports;
	struct map64 by_id;	/* hash of the id -> node record */
	struct map64 by_guid;	/* node GUID -> node record */
	struct map64 by_port_guid;	/* of those given -> line */
	bool in_node;		/* port lines may follow */
};

__attribute__((format(printf, 3, 4)))
static bool fail_at(struct dump *d, uint32_t line, const char *fmt, ...)
{
	va_list ap;

	buf_printf(d->err, "%s:%u: ", d->path, line);
	va_start(ap, fmt);
	buf_vprintf(d->err, fmt, ap);
	va_end(ap);
	return false;
}

#define fail(d, ...) fail_at(d, (d)->line, __VA_ARGS__)

/* --- pieces of a line; each moves *s behind what it took --- */

static void skip_space(char **s)
{
	while (isspace((unsigned char)**s))
		++*s;
}

static bool take_char(char **s, char c)
{
	skip_space(s);
	if (**s != c)
		return false;
	++*s;
	return true;
}

static bool take_number(char **s, int base, uint64_t max, uint64_t *value)
{
	char *end;

	skip_space(s);
	if (!isxdigit((unsigned char)**s))	/* no sign */
		return false;
	errno = 0;
	*value = strtoull(*s, &end, base);
	if (end == *s || errno || *value > max)
		return false;
	*s = end;
	return true;
}

/* "text" in quotes; ends it with a NUL in place. */
static bool take_quoted(char **s, char **text)
{
	char *end;

	if (!take_char(s, '"') || !(end = strchr(*s, '"')))
		return false;
	*end = '\0';
	*text = *s;
	*s = end + 1;
	return true;
}

/* "[n]", and ibnetdiscover -g's "[ext n]" behind it, which says nothing new. */
static bool take_port_num(char **s, uint64_t *num)
{
	if (!take_char(s, '[') || !take_number(s, 10, IB_PORT_NUM_MAX, num) ||
	    *num == 0 || !take_char(s, ']'))
		return false;
	skip_space(s);
	if (!strncmp(*s, "[ext", 4)) {
		char *end = strchr(*s, ']');

		if (!end)
			return false;
		*s = end + 1;
	}
	return true;
}

/* "(guid)" if there is one; false if it is broken. */
static bool take_port_guid(char **s, uint64_t *guid)
{
	*guid = 0;
	return !take_char(s, '(') ||
	       (take_number(s, 16, UINT64_MAX, guid) && take_char(s, ')'));
}

/*
 * The comment behind a node or port: up to three parts, `head "text" tail`,
 * any of them empty.  The text may have quotes of its own.
 */
struct comment {
	char *head, *text, *tail;
};

static struct comment split_comment(char *s)
{
	static char none[1];
	struct comment c = { none, none, none };
	char *hash = strchr(s, '#'), *first, *last;

	if (!hash)
		return c;
	c.head = hash + 1;
	first = strchr(c.head, '"');
	last = strrchr(c.head, '"');
	if (first == last)
		return c;
	*first = *last = '\0';
	c.text = first + 1;
	c.tail = last + 1;
	return c;
}

/* Finds `key N` in text; leaves *value when there is none, false if N is broken. */
static bool find_value(char *text, const char *key, uint64_t max, uint64_t *value)
{
	char *s = strstr(text, key);

	if (!s)
		return true;
	s += strlen(key);
	return take_number(&s, 10, max, value);
}

static bool parse_lid_lmc(struct dump *d, char *text, uint16_t *lid, uint8_t *lmc)
{
	uint64_t l = 0, m = 0;

	if (!find_value(text, "lid ", IB_LID_UCAST_MAX, &l))
		return fail(d, "bad LID");
	if (!find_value(text, "lmc ", IB_LMC_MAX, &m))
		return fail(d, "bad LMC");
	*lid = (uint16_t)l;
	*lmc = (uint8_t)m;
	return true;
}

/* " lid 20 4xQDR": 4xSDR, ibsim's default, when nothing is said. */
static bool parse_speed(struct dump *d, char *tail, struct link_speed *speed)
{
	char *save, *word = NULL;

	link_parse("4xSDR", speed);
	skip_space(&tail);
	if (!strncmp(tail, "lid ", 4) && strtok_r(tail, " \t", &save) &&
	    strtok_r(NULL, " \t", &save))
		word = strtok_r(NULL, " \t", &save);
	if (word && !link_parse(word, speed))
		return fail(d, "unknown link speed '%s'", word);
	return true;
}

/* --- lines --- */

static uint32_t find_id(const struct dump *d, const char *id)
{
	uint32_t n = map64_get(&d->by_id, hash_bytes(id, strlen(id), 0));

	return n != MAP64_NONE && !strcmp(d->nodes.v[n].id, id) ? n : FABRIC_NONE;
}

/* From a line like switchguid=…, else as ibnetdiscover builds the id. */
static uint64_t node_guid(const struct dump *d, const char *id)
{
	char *end;
	uint64_t guid = d->next.guid;

	if (!guid && strlen(id) == 18 && id[1] == '-') {
		guid = strtoull(id + 2, &end, 16);
		if (*end)
			guid = 0;
	}
	return guid;
}

static bool add_node(struct dump *d, const struct dump_node *n, const char *id)
{
	uint64_t hash = hash_bytes(id, strlen(id), 0);
	uint32_t index = (uint32_t)d->nodes.n;

	if (!n->guid)
		return fail(d, "node \"%s\" has no GUID", id);
	if (map64_get(&d->by_id, hash) != MAP64_NONE)
		return fail(d, "node \"%s\" is there already", id);
	if (map64_get(&d->by_guid, n->guid) != MAP64_NONE)
		return fail(d, "node GUID 0x%llx is there already", (unsigned long long)n->guid);
	map64_put(&d->by_id, hash, index);
	map64_put(&d->by_guid, n->guid, index);
	*vec_push(&d->nodes) = *n;
	d->nodes.v[index].id = xstrdup(id);
	d->next = (struct preamble){ 0 };
	d->in_node = true;
	return true;
}

/* Switch	24 "S-…"		# "description" base port 0 lid 6 lmc 0 */
static bool parse_node(struct dump *d, char *s, uint8_t type)
{
	uint64_t nports;
	char *id;

	if (!take_number(&s, 10, IB_PORT_NUM_MAX, &nports) || nports == 0)
		return fail(d, "bad number of ports");
	if (!take_quoted(&s, &id) || !*id)
		return fail(d, "node without \"id\"");

	struct comment c = split_comment(s);
	struct dump_node n = {
		.guid = node_guid(d, id), .sysimg_guid = d->next.sysimg_guid,
		.vendor = d->next.vendor, .device = d->next.device, .line = d->line,
		.port = (uint32_t)d->ports.n, .index = FABRIC_NONE,
		.type = type, .nports = (uint8_t)nports,
		.enhanced_port0 = strstr(c.tail, "enhanced port 0"),
	};
	const char *desc = *c.text ? c.text : id;

	memcpy(n.desc, desc, strnlen(desc, sizeof(n.desc) - 1));
	return parse_lid_lmc(d, c.tail, &n.lid, &n.lmc) && add_node(d, &n, id);
}

/* [1](guid) 	"S-…"[2](guid)		# lid 16 lmc 1 "description" lid 3 4xSDR */
static bool parse_port(struct dump *d, char *s)
{
	struct dump_port p = { .line = d->line, .node = (uint32_t)d->nodes.n - 1 };
	uint64_t num, remote_num;
	char *id;

	if (!d->in_node)
		return fail(d, "port outside of a node");
	struct dump_node *n = &d->nodes.v[p.node];

	if (!take_port_num(&s, &num) || num > n->nports || !take_port_guid(&s, &p.guid))
		return fail(d, "bad port");
	if (!take_quoted(&s, &id) || !take_port_num(&s, &remote_num) ||
	    !take_port_guid(&s, &p.remote_guid))
		return fail(d, "bad remote port");
	p.num = (uint8_t)num;
	p.remote_num = (uint8_t)remote_num;
	for (uint32_t i = 0; i < n->n_ports; i++)
		if (d->ports.v[n->port + i].num == p.num)
			return fail(d, "port %u of \"%s\" is there already", p.num, n->id);

	if (p.guid && map64_put(&d->by_port_guid, p.guid, d->line) != MAP64_NONE)
		return fail(d, "port GUID 0x%llx is there already", (unsigned long long)p.guid);

	struct comment c = split_comment(s);

	if (!parse_lid_lmc(d, c.head, &p.lid, &p.lmc) || !parse_speed(d, c.tail, &p.speed))
		return false;
	p.remote_id = xstrdup(id);
	*vec_push(&d->ports) = p;
	n->n_ports++;
	return true;
}

/* vendid=0x2c9 and the like; the GUID lines repeat theirs in parentheses. */
static bool parse_assignment(struct dump *d, char *line, char *value)
{
	uint64_t v;

	*value++ = '\0';
	if (!take_number(&value, 16, UINT64_MAX, &v))
		return fail(d, "bad value of %s", line);
	if (!strcmp(line, "vendid"))
		d->next.vendor = (uint32_t)v & 0xffffff;
	else if (!strcmp(line, "devid"))
		d->next.device = (uint32_t)v & 0xffff;
	else if (!strcmp(line, "sysimgguid"))
		d->next.sysimg_guid = v;
	else if (!strcmp(line, "switchguid") || !strcmp(line, "caguid") ||
		 !strcmp(line, "rtguid"))
		d->next.guid = v;
	else
		return fail(d, "unknown line: not what ibnetdiscover prints");
	return true;
}

static bool parse_line(struct dump *d, char *line)
{
	char *equals;

	if (*line == '[')
		return parse_port(d, line);
	if (*line == '#')
		return true;
	d->in_node = false;
	if (!*line)
		return true;
	if (!strncmp(line, "Switch", 6) && isspace((unsigned char)line[6]))
		return parse_node(d, line + 6, IB_NODE_SWITCH_T);
	if (!strncmp(line, "Ca", 2) && isspace((unsigned char)line[2]))
		return parse_node(d, line + 2, IB_NODE_CA_T);
	if (!strncmp(line, "Rt", 2) && isspace((unsigned char)line[2]))
		return parse_node(d, line + 2, IB_NODE_ROUTER_T);
	if (!strncmp(line, "Chassis ", 8) || !strncmp(line, "Hostname: ", 10) ||
	    !strcmp(line, "Non-Chassis Nodes"))
		return true;
	if ((equals = strchr(line, '=')))
		return parse_assignment(d, line, equals);
	return fail(d, "unknown line: not what ibnetdiscover prints");
}

static bool read_lines(struct dump *d, FILE *file)
{
	char *line = NULL;
	size_t cap = 0;
	ssize_t n;
	bool ok = true;

	while (ok && (n = getline(&line, &cap, file)) >= 0) {
		d->line++;
		if (strlen(line) != (size_t)n) {
			ok = fail(d, "a NUL byte: not a text file");
			break;
		}
		while (n > 0 && isspace((unsigned char)line[n - 1]))
			line[--n] = '\0';
		ok = parse_line(d, line);
	}
	if (ok && ferror(file)) {
		buf_printf(d->err, "%s: %s", d->path, strerror(errno));
		ok = false;
	}
	free(line);
	return ok;
}

/* --- both ends of each link --- */

static uint32_t find_port_record(const struct dump *d, const struct dump_node *n, unsigned num)
{
	for (uint32_t i = n->port; i < n->port + n->n_ports; i++)
		if (d->ports.v[i].num == num)
			return i;
	return FABRIC_NONE;
}

static bool resolve_port(struct dump *d, uint32_t port)
{
	struct dump_port *p = &d->ports.v[port];
	uint32_t remote = find_id(d, p->remote_id);

	if (remote == FABRIC_NONE)
		return fail_at(d, p->line, "there is no node \"%s\"", p->remote_id);
	p->peer = find_port_record(d, &d->nodes.v[remote], p->remote_num);

	const struct dump_port *q = p->peer == FABRIC_NONE ? NULL : &d->ports.v[p->peer];

	if (p->peer == port)
		return fail_at(d, p->line, "the port is linked to itself");
	if (!q || q->remote_num != p->num || find_id(d, q->remote_id) != p->node)
		return fail_at(d, p->line, "port %u of \"%s\" does not list this link",
			       p->remote_num, p->remote_id);
	if (q->guid && p->remote_guid && q->guid != p->remote_guid)
		return fail_at(d, p->line, "port GUID 0x%llx, but line %u says 0x%llx",
			       (unsigned long long)p->remote_guid, q->line,
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
	for (uint32_t i = 0; i < d->ports.n; i++)
		if (!resolve_port(d, i))
			return false;
	for (uint32_t i = 0; i < d->ports.n; i++)
		use_slower(&d->ports.v[i].speed, &d->ports.v[d->ports.v[i].peer].speed);
	return true;
}

/* --- what ibsim's devices answer (14.2.5) --- */

#define PHYS_POLLING 2

struct field {
	enum MAD_FIELDS field;
	uint32_t value;
};

static void set_fields(uint8_t *attr, const struct field *fields, size_t n)
{
	for (size_t i = 0; i < n; i++)
		mad_set_field(attr, 0, fields[i].field, fields[i].value);
}
#define SET_FIELDS(attr, ...) do { \
		const struct field fields_[] = { __VA_ARGS__ }; \
		set_fields(attr, fields_, ARRAY_SIZE(fields_)); \
	} while (0)

static uint64_t port_guid(const struct dump_node *n, const struct dump_port *p, unsigned num)
{
	if (n->type == IB_NODE_SWITCH_T)
		return n->guid;
	return p && p->guid ? p->guid : n->guid + num;
}

static void make_node_info(const struct dump *d, const struct dump_node *n, unsigned local_port,
			   uint8_t *info)
{
	uint32_t port = find_port_record(d, n, local_port);
	const struct dump_port *p = port == FABRIC_NONE ? NULL : &d->ports.v[port];

	memset(info, 0, 40);
	SET_FIELDS(info,
		   { IB_NODE_BASE_VERS_F, 1 }, { IB_NODE_CLASS_VERS_F, 1 },
		   { IB_NODE_TYPE_F, n->type }, { IB_NODE_NPORTS_F, n->nports },
		   { IB_NODE_PARTITION_CAP_F, n->type == IB_NODE_SWITCH_T ? 8 : 64 },
		   { IB_NODE_DEVID_F, n->device }, { IB_NODE_REVISION_F, 0xa1 },
		   { IB_NODE_LOCAL_PORT_F, local_port }, { IB_NODE_VENDORID_F, n->vendor });
	mad_set_field64(info, 0, IB_NODE_GUID_F, n->guid);
	mad_set_field64(info, 0, IB_NODE_SYSTEM_GUID_F, n->sysimg_guid ? n->sysimg_guid : n->guid);
	mad_set_field64(info, 0, IB_NODE_PORT_GUID_F, port_guid(n, p, local_port));
}

static void make_switch_info(const struct dump_node *n, uint8_t *info)
{
	memset(info, 0, 20);
	SET_FIELDS(info,
		   { IB_SW_LINEAR_FDB_CAP_F, 48 * 1024 }, { IB_SW_MCAST_FDB_CAP_F, 1024 },
		   { IB_SW_STATE_CHANGE_F, 1 },
		   { IB_SW_PARTITION_ENFORCE_CAP_F, 64 },
		   /* unlike ibsim's: real switches can, and a dump does not say */
		   { IB_SW_PARTITION_ENF_INB_F, 1 }, { IB_SW_PARTITION_ENF_OUTB_F, 1 },
		   { IB_SW_FILTER_RAW_INB_F, 1 }, { IB_SW_FILTER_RAW_OUTB_F, 1 },
		   { IB_SW_ENHANCED_PORT0_F, n->enhanced_port0 });
}

static void set_link(uint8_t *info, const struct link_speed *l)
{
	SET_FIELDS(info,
		   { IB_PORT_LINK_WIDTH_SUPPORTED_F, 0x1f },
		   { IB_PORT_LINK_WIDTH_ENABLED_F, l->width | 1u },
		   { IB_PORT_LINK_WIDTH_ACTIVE_F, l->width },
		   { IB_PORT_LINK_SPEED_SUPPORTED_F, 7 },
		   { IB_PORT_LINK_SPEED_ENABLED_F, 7 }, { IB_PORT_LINK_SPEED_ACTIVE_F, l->speed });
	if (l->speed_ext)
		SET_FIELDS(info,
			   { IB_PORT_LINK_SPEED_EXT_SUPPORTED_F, 15 },
			   { IB_PORT_LINK_SPEED_EXT_ENABLED_F, 2u * l->speed_ext - 1 },
			   { IB_PORT_LINK_SPEED_EXT_ACTIVE_F, l->speed_ext });
}

/* Of any port but port 0 of a switch.  p: NULL if nothing is linked to it. */
static void make_port_info(const struct dump_node *n, const struct dump_port *p, unsigned num,
			   bool keep_lids, uint8_t *info)
{
	struct link_speed idle;

	memset(info, 0, 64);
	SET_FIELDS(info,
		   { IB_PORT_STATE_F, p ? IB_PORT_INIT_S : IB_PORT_DOWN_S },
		   { IB_PORT_PHYS_STATE_F, p ? IB_PHYS_LINK_UP : PHYS_POLLING },
		   { IB_PORT_LINK_DOWN_DEF_F, PHYS_POLLING },
		   { IB_PORT_NEIGHBOR_MTU_F, 4 }, { IB_PORT_MTU_CAP_F, 4 },
		   { IB_PORT_VL_CAP_F, 4 }, { IB_PORT_OPER_VLS_F, 4 },
		   { IB_PORT_VL_ARBITRATION_HIGH_CAP_F, 8 },
		   { IB_PORT_VL_ARBITRATION_LOW_CAP_F, 8 },
		   { IB_PORT_VL_STALL_COUNT_F, 7 });
	link_parse("4xSDR", &idle);
	set_link(info, p ? &p->speed : &idle);
	if (n->type == IB_NODE_SWITCH_T)
		return;
	SET_FIELDS(info,
		   { IB_PORT_LOCAL_PORT_F, num }, { IB_PORT_CAPMASK_F, 0x0040c048 },
		   { IB_PORT_GUID_CAP_F, 32 }, { IB_PORT_SUBN_TIMEOUT_F, 31 },
		   { IB_PORT_LID_F, p && keep_lids ? p->lid : 0u },
		   { IB_PORT_LMC_F, p && keep_lids ? p->lmc : 0u });
	mad_set_field64(info, 0, IB_PORT_GID_PREFIX_F, IB_DEFAULT_PREFIX);
}

static void make_port0_info(const struct dump_node *n, bool keep_lids, uint8_t *info)
{
	struct link_speed idle;

	memset(info, 0, 64);
	SET_FIELDS(info,
		   { IB_PORT_STATE_F, IB_PORT_ACTIVE_S }, { IB_PORT_PHYS_STATE_F, IB_PHYS_LINK_UP },
		   { IB_PORT_LINK_DOWN_DEF_F, PHYS_POLLING },
		   { IB_PORT_CAPMASK_F, 0x0000c048 }, { IB_PORT_NEIGHBOR_MTU_F, 1 },
		   { IB_PORT_MTU_CAP_F, 3 }, { IB_PORT_VL_CAP_F, 4 }, { IB_PORT_OPER_VLS_F, 4 },
		   { IB_PORT_VL_ARBITRATION_HIGH_CAP_F, 8 },
		   { IB_PORT_VL_ARBITRATION_LOW_CAP_F, 8 },
		   { IB_PORT_GUID_CAP_F, 1 }, { IB_PORT_SUBN_TIMEOUT_F, 31 },
		   { IB_PORT_LID_F, keep_lids ? n->lid : 0u },
		   { IB_PORT_LMC_F, keep_lids ? n->lmc : 0u });
	mad_set_field64(info, 0, IB_PORT_GID_PREFIX_F, IB_DEFAULT_PREFIX);
	link_parse("4xSDR", &idle);
	set_link(info, &idle);
}

/* --- the discovery that is played --- */

static bool add_to_fabric(struct dump *d, struct fabric *f, struct dump_node *n,
			  unsigned local_port, const uint8_t *route, unsigned hops)
{
	uint8_t node_info[40], switch_info[20];

	make_node_info(d, n, local_port, node_info);
	make_switch_info(n, switch_info);
	n->index = fabric_add_node(f, node_info, n->desc, switch_info, route, hops);
	return n->index != FABRIC_NONE || fail_at(d, n->line, "node \"%s\" makes no sense", n->id);
}

/* Adds what is one hop further than n.  order: fabric node -> node record. */
static bool visit_neighbours(struct dump *d, struct fabric *f, const struct dump_node *n,
			     unsigned self_num, uint32_t *order)
{
	uint8_t route[IB_DR_HOPS_MAX];
	unsigned hops = f->nodes[n->index].hops;

	/* end nodes pass nothing on, and the SM sends by its own port only */
	if (hops == IB_DR_HOPS_MAX || (n->type != IB_NODE_SWITCH_T && n->index != 0))
		return true;
	if (hops)
		memcpy(route, f->routes + f->nodes[n->index].route, hops);
	for (uint32_t i = n->port; i < n->port + n->n_ports; i++) {
		const struct dump_port *p = &d->ports.v[i], *q = &d->ports.v[p->peer];
		struct dump_node *far = &d->nodes.v[q->node];

		if (far->index != FABRIC_NONE ||
		    (n->type != IB_NODE_SWITCH_T && p->num != self_num))
			continue;
		route[hops] = p->num;
		order[f->n_nodes] = q->node;
		if (!add_to_fabric(d, f, far, q->num, route, hops + 1))
			return false;
	}
	return true;
}

static void add_ports(const struct dump *d, struct fabric *f, const struct dump_node *n,
		      bool keep_lids)
{
	uint8_t info[64];

	if (n->type == IB_NODE_SWITCH_T) {
		make_port0_info(n, keep_lids, info);
		fabric_set_port(f, n->index, 0, n->guid, info);
	}
	for (unsigned num = 1; num <= n->nports; num++) {
		uint32_t port = find_port_record(d, n, num);
		const struct dump_port *p = port == FABRIC_NONE ? NULL : &d->ports.v[port];

		make_port_info(n, p, num, keep_lids, info);
		fabric_set_port(f, n->index, num, port_guid(n, p, num), info);
		if (p && p->speed.fdr10)
			fabric_set_fdr10(f, f->nodes[n->index].port0 + num, true);
	}
}

static void add_links(const struct dump *d, struct fabric *f)
{
	for (uint32_t i = 0; i < d->ports.n; i++) {
		const struct dump_port *p = &d->ports.v[i], *q = &d->ports.v[p->peer];

		/* fabric_link() refuses what was not reached */
		if (i < p->peer)
			fabric_link(f, d->nodes.v[p->node].index, p->num,
				    d->nodes.v[q->node].index, q->num);
	}
}

static struct dump_node *find_sm_node(struct dump *d, uint64_t sm_guid)
{
	uint32_t n = sm_guid ? map64_get(&d->by_guid, sm_guid) : 0;

	while (!sm_guid && n < d->nodes.n && d->nodes.v[n].type != IB_NODE_CA_T)
		n++;
	if (n < d->nodes.n)
		return &d->nodes.v[n];
	if (sm_guid)
		fail(d, "no node with GUID 0x%llx to put the SM on", (unsigned long long)sm_guid);
	else
		fail(d, "no channel adapter to put the SM on");
	return NULL;
}

static unsigned first_linked_port(const struct dump *d, const struct dump_node *n)
{
	unsigned num = 1;

	if (n->type == IB_NODE_SWITCH_T)
		return 0;
	while (num < n->nports && find_port_record(d, n, num) == FABRIC_NONE)
		num++;
	return num;
}

/* Everything in the file must be sound: what discovery only warns of is an error here. */
static bool finish(struct dump *d, struct fabric *f, unsigned self_num)
{
	struct buf why = { 0 };
	bool ok = fabric_finish(f, 0, self_num, &why) && !why.n;

	if (!ok)
		buf_printf(d->err, "%s: %.*s", d->path, (int)strcspn(why.s, "\n"), why.s);
	buf_free(&why);
	return ok;
}

static bool play_discovery(struct dump *d, struct fabric *f, struct dump_node *sm, bool keep_lids)
{
	uint32_t *order = xcalloc(d->nodes.n, sizeof(*order));
	unsigned self_num = first_linked_port(d, sm);
	bool ok = add_to_fabric(d, f, sm, self_num, NULL, 0);

	order[0] = (uint32_t)(sm - d->nodes.v);
	for (uint32_t i = 0; ok && i < f->n_nodes; i++)
		ok = visit_neighbours(d, f, &d->nodes.v[order[i]], self_num, order);
	if (ok) {
		for (uint32_t i = 0; i < f->n_nodes; i++)
			add_ports(d, f, &d->nodes.v[order[i]], keep_lids);
		add_links(d, f);
		ok = finish(d, f, self_num);
	}
	free(order);
	return ok;
}

static void dump_free(struct dump *d)
{
	for (size_t i = 0; i < d->nodes.n; i++)
		free(d->nodes.v[i].id);
	for (size_t i = 0; i < d->ports.n; i++)
		free(d->ports.v[i].remote_id);
	vec_free(&d->nodes);
	vec_free(&d->ports);
	map64_free(&d->by_id);
	map64_free(&d->by_guid);
	map64_free(&d->by_port_guid);
}

struct fabric *fabric_load_dump(const char *path, uint64_t sm_guid, bool keep_lids,
				struct buf *err)
{
	struct dump d = { .path = path, .err = err };
	struct fabric *f = NULL;
	FILE *file = fopen(path, "r");

	if (!file) {
		buf_printf(err, "%s: %s", path, strerror(errno));
		return NULL;
	}
	if (read_lines(&d, file) && resolve_links(&d)) {
		struct dump_node *sm = find_sm_node(&d, sm_guid);

		f = fabric_new();
		if (!sm || !play_discovery(&d, f, sm, keep_lids)) {
			fabric_free(f);
			f = NULL;
		}
	}
	fclose(file);
	dump_free(&d);
	return f;
}
