/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names and nodes of a dump; each name stands for one node, or one port of one. */
#include "sim/topo/dump_reader.h"

#include <stdio.h>
#include <string.h>

uint32_t reader_full_name(struct reader *r, const char *s, size_t n)
{
	char name[DUMP_MODULE_MAX + 1 + DUMP_NAME_MAX + 1];
	const char *between = memchr(s, '#', n) || memchr(s, '@', n) || !*r->module ? "" : "#";

	if (*s == '@' || *between)
		snprintf(name, sizeof(name), "%s%s%.*s", r->module, between, (int)n, s);
	else
		snprintf(name, sizeof(name), "%.*s", (int)n, s);
	return dump_name(r->d, name, strlen(name));
}

bool reader_take_name(struct reader *r, const char **p, const char **s, size_t *n)
{
	take_space(p);
	if (!take_quoted(p, s, n)) {
		fail(r, "a name in quotes is expected, not \"%.24s\"", *p);
		return false;
	}
	if (*n && *n <= DUMP_NAME_MAX)
		return true;
	if (*n)
		fail(r, "the name \"%.20s...\" is longer than %u characters", *s, DUMP_NAME_MAX);
	else
		fail(r, "a name is empty");
	return false;
}

bool reader_take_new_name(struct reader *r, const char **p, const char **s, size_t *n)
{
	if (!reader_take_name(r, p, s, n))
		return false;
	if (!memchr(*s, '#', *n) && !memchr(*s, '@', *n))
		return true;
	fail(r, "\"%.*s\": \"#\" and \"@\" are for modules and aliases", (int)*n, *s);
	return false;
}

bool reader_define_name(struct reader *r, uint32_t name, uint32_t node, unsigned port)
{
	struct dump_name *nm = &r->d->names.v[name];
	char place[DUMP_PLACE_MAX];

	if (nm->node != SIM_NONE) {
		fail(r, "\"%s\" is there twice, first at %s", nm->text,
		     dump_place(r->d, r->d->nodes.v[nm->node].pos, r->pos, place, sizeof(place)));
		return false;
	}
	nm->node = node;
	nm->port = (uint8_t)port;
	return true;
}

/* --- nodes --- */

/* The GUID in a name as ibnetdiscover makes them, "S-0002c90200417670", or 0. */
static uint64_t guid_in_name(const char *s, size_t n)
{
	uint64_t guid;
	const char *p = s + 2;

	if (n != 18 || !strchr("SHR", s[0]) || s[1] != '-' || !take_hex(&p, &guid) || p != s + 18)
		return 0;
	return guid;
}

uint64_t reader_make_guid(struct reader *r, unsigned type, unsigned nports)
{
	uint64_t guid = r->guid_next[type];

	r->guid_next[type] += type == SIM_SWITCH ? 1 : nports + 1;
	return guid;
}

const char *reader_id(char out[READER_ID_MAX], unsigned type, uint64_t guid)
{
	static const char letters[] = { [SIM_CA] = 'H', [SIM_SWITCH] = 'S', [SIM_ROUTER] = 'R' };

	snprintf(out, READER_ID_MAX, "%c-%016llx", letters[type], (unsigned long long)guid);
	return out;
}

/* False, with an error, if it cannot be, or another node has it. */
static bool guid_is_free(struct reader *r, uint64_t guid)
{
	uint32_t other = map64_get(&r->d->node_by_guid, guid);
	char place[DUMP_PLACE_MAX];

	if (!guid)
		fail(r, "0 is no GUID");
	else if (other != MAP64_NONE)
		fail(r, "GUID 0x%llx is there twice, first at %s", (unsigned long long)guid,
		     dump_place(r->d, r->d->nodes.v[other].pos, r->pos, place, sizeof(place)));
	return guid && other == MAP64_NONE;
}

/* False if the GUIDs that are said contradict each other, or are of another node. */
static bool choose_guid(struct reader *r, struct dump_node *n, const char *name, size_t n_name)
{
	uint64_t named = guid_in_name(name, n_name);
	uint64_t next = r->guid_next[n->type];

	if (r->guid_said[n->type] && named && named != next) {
		fail(r, "\"%.*s\" has GUID 0x%llx by the line before", (int)n_name, name,
		     (unsigned long long)next);
		return false;
	}
	n->guid = named && named != next ? named : reader_make_guid(r, n->type, n->nports);
	if (!guid_is_free(r, n->guid))
		return false;
	n->sysimg_guid = r->sysimg_guid;
	/* A dump leaves out a system image GUID of 0; ibsim's form has none to leave out. */
	if (!n->sysimg_guid && !named && !r->guid_said[n->type])
		n->sysimg_guid = n->guid;
	return true;
}

void reader_set_desc(struct reader *r, struct dump_node *n, const char *s, size_t len)
{
	if (len > DUMP_DESC_MAX) {
		len = DUMP_DESC_MAX;
		while (len && ((unsigned char)s[len] & 0xc0) == 0x80)
			len--;		/* not within a character */
		dump_warn(r->d, r->pos, "a NodeDescription has at most %u bytes: cut to \"%.*s\"",
			  DUMP_DESC_MAX, (int)len, s);
	}
	memcpy(n->desc, s, len);
	n->desc[len] = 0;
}

uint16_t reader_lid(struct reader *r, uint64_t lid)
{
	if (lid < SIM_LID_MCAST)
		return (uint16_t)lid;
	dump_warn(r->d, r->pos, "LID %llu is no unicast LID: taken as none",
		  (unsigned long long)lid);
	return 0;
}

uint8_t reader_lmc(struct reader *r, uint64_t lmc)
{
	if (lmc <= 7)
		return (uint8_t)lmc;
	dump_warn(r->d, r->pos, "LMC %llu is more than 7: taken as 0", (unsigned long long)lmc);
	return 0;
}

static void read_node_remark(struct reader *r, struct dump_node *n, const char *remark)
{
	struct dump_remark rk = { 0 };
	const char *end;

	if (remark)
		dump_remark_split(remark, &rk);
	if (rk.desc)
		reader_set_desc(r, n, rk.desc, rk.n_desc);
	else
		reader_set_desc(r, n, r->d->names.v[n->name].text,
				strlen(r->d->names.v[n->name].text));
	if (!remark || n->type != SIM_SWITCH)
		return;
	end = rk.after + strlen(rk.after);
	n->enhanced_port0 = strstr(rk.after, "enhanced port 0") != NULL;
	n->base_port0 = strstr(rk.after, "base port 0") != NULL;
	n->lid = reader_lid(r, remark_number(rk.after, end, "lid"));
	n->lmc = reader_lmc(r, remark_number(rk.after, end, "lmc"));
}

/* What was said about the next node is about this one, and no other. */
static void forget_ids(struct reader *r)
{
	r->vendor_id = r->device_id = r->sysimg_guid = r->port0_guid = 0;
	memset(r->guid_said, 0, sizeof(r->guid_said));
}

bool reader_more_ports(struct reader *r, unsigned more)
{
	r->d->slots += more;
	if (r->d->slots <= TOPO_PORTS_MAX)
		return true;
	fail(r, "the fabric has more than %u ports", TOPO_PORTS_MAX);
	r->stop = true;
	return false;
}

bool reader_push_node(struct reader *r, const struct dump_node *n)
{
	if (!reader_more_ports(r, n->nports + 1u))
		return false;
	*vec_push(&r->d->nodes) = *n;
	return true;
}

bool reader_name_node(struct reader *r, uint32_t node, const char *name, uint64_t guid)
{
	uint32_t index = dump_name(r->d, name, strlen(name));

	if (!guid_is_free(r, guid) || !reader_define_name(r, index, node, 0))
		return false;
	r->d->nodes.v[node].name = index;
	r->d->nodes.v[node].guid = guid;
	map64_put(&r->d->node_by_guid, guid, node);
	return true;
}

static bool add_node(struct reader *r, const char *p, unsigned type)
{
	struct dump_node n = {
		.pos = r->pos, .type = (uint8_t)type,
		.vendor_id = (uint32_t)r->vendor_id, .device_id = (uint16_t)r->device_id,
		.port0_guid = r->port0_guid,
	};
	uint32_t index = (uint32_t)r->d->nodes.n;
	const char *name;
	size_t n_name;
	uint64_t nports;

	take_space(&p);
	if (!take_number(&p, SIM_PORTS_MAX, &nports) || !nports) {
		fail(r, "a number of ports is expected, 1 to %u, not \"%.24s\"", SIM_PORTS_MAX, p);
		return false;
	}
	n.nports = (uint8_t)nports;
	if (!reader_take_new_name(r, &p, &name, &n_name) || !reader_at_end(r, p) ||
	    !reader_more_ports(r, n.nports + 1u))
		return false;
	n.name = reader_full_name(r, name, n_name);
	if (!choose_guid(r, &n, name, n_name) || !reader_define_name(r, n.name, index, 0))
		return false;
	take_space(&p);
	read_node_remark(r, &n, *p ? p + 1 : NULL);
	map64_put(&r->d->node_by_guid, n.guid, index);
	*vec_push(&r->d->nodes) = n;
	return true;
}

void reader_node(struct reader *r, const char *p, unsigned type)
{
	bool ok = add_node(r, p, type);

	r->node = ok ? (uint32_t)r->d->nodes.n - 1 : SIM_NONE;
	r->skip_ports = !ok;
	forget_ids(r);
}

