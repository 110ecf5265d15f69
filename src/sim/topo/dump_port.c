/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The lines of ports in a dump: a port, what it is connected to, how fast. */
#include "sim/topo/dump_reader.h"

#include <stdio.h>
#include <string.h>

/* "(8f10403961355)", which may be missing; false if it is broken. */
static bool take_port_guid(struct reader *r, const char **p, uint64_t *guid)
{
	take_space(p);
	if (!take_char(p, '(') || (take_hex(p, guid) && take_char(p, ')')))
		return true;
	fail(r, "a port GUID in hexadecimal and \")\" are expected behind \"(\"");
	return false;
}

/* "[ext 7]": the number on the chassis, which nobody needs. */
static void skip_ext(const char **p)
{
	const char *s = *p;
	uint64_t n;

	if (!take_char(&s, '[') || !take_word(&s, "ext"))
		return;
	take_space(&s);
	if (take_number(&s, UINT32_MAX, &n) && take_char(&s, ']'))
		*p = s;
}

static bool take_port_number(struct reader *r, const char **p, uint8_t *num)
{
	const char *s = *p;
	uint64_t n;

	if (!take_char(&s, '[') || !take_number(&s, UINT32_MAX, &n) || !take_char(&s, ']')) {
		fail(r, "a port number in brackets is expected, not \"%.24s\"", *p);
		return false;
	}
	if (!n || n > SIM_PORTS_MAX) {
		fail(r, "port %llu is out of range: 1 to %u", (unsigned long long)n, SIM_PORTS_MAX);
		return false;
	}
	*num = (uint8_t)n;
	*p = s;
	return true;
}

/* "w=2 s=4 e=1" behind a link */
static bool take_masks(struct reader *r, const char **p, struct link_masks *m)
{
	uint64_t value;

	for (take_space(p); **p && strchr("wse", **p) && (*p)[1] == '='; take_space(p)) {
		unsigned what = (unsigned char)**p;

		++*p;
		if (!reader_take_value(r, p, 255, &value) || !reader_set_mask(r, m, what, value))
			return false;
	}
	return true;
}

/* "lid 18 4xQDR", what else may follow is known otherwise */
static bool read_speed(struct reader *r, const char *p, struct link_speed *speed)
{
	struct link_speed said;
	uint64_t lid;
	size_t n;

	take_space(&p);
	if (!take_word(&p, "lid"))
		return true;
	take_space(&p);
	if (!take_number(&p, UINT32_MAX, &lid)) {
		fail(r, "a number is expected behind \"lid\", not \"%.24s\"", p);
		return false;
	}
	take_space(&p);
	n = strcspn(p, " \t");
	if (!n)
		return true;
	if (!link_speed_parse(p, n, &said)) {
		fail(r, "\"%.*s\" is no link speed: %s", n < 24 ? (int)n : 24, p, LINK_SPEEDS_TEXT);
		return false;
	}
	if (said.lanes)
		speed->lanes = said.lanes;
	if (said.rate)
		speed->rate = said.rate;
	return true;
}

static bool read_port_remark(struct reader *r, struct dump_port *port, const char *text)
{
	struct dump_remark rk;

	dump_remark_split(text, &rk);
	if (r->d->nodes.v[r->node].type != SIM_SWITCH && rk.desc) {
		port->lid = reader_lid(r, remark_number(rk.before, rk.desc, "lid"));
		port->lmc = reader_lmc(r, remark_number(rk.before, rk.desc, "lmc"));
	}
	return read_speed(r, rk.after, &port->speed);
}

/* "[1](guid)	"S-…"[6]	# …"; parts in the order of the line */
static bool parse_port(struct reader *r, const char *p, struct dump_port *port)
{
	struct link_masks m = r->masks;
	const char *name;
	size_t n_name;

	if (!take_port_number(r, &p, &port->num))
		return false;
	skip_ext(&p);
	if (!take_port_guid(r, &p, &port->guid) || !reader_take_name(r, &p, &name, &n_name))
		return false;
	port->peer_name = reader_full_name(r, name, n_name);
	port->peer_num = 1;
	if (*p == '[' && !take_port_number(r, &p, &port->peer_num))
		return false;
	skip_ext(&p);
	if (!take_port_guid(r, &p, &port->peer_guid) || !take_masks(r, &p, &m) ||
	    !reader_at_end(r, p))
		return false;
	port->speed = link_speed_of_masks(m.width, m.speed, m.ext);
	take_space(&p);
	return !*p || read_port_remark(r, port, p + 1);
}

static bool node_has_port(struct reader *r, uint32_t node, unsigned num)
{
	const struct dump_node *n = &r->d->nodes.v[node];

	if (num <= n->nports)
		return true;
	fail(r, "port %u is out of range: \"%s\" has %u", num, r->d->names.v[n->name].text,
	     n->nports);
	return false;
}

/* The node that a port's line is about; false if there is none, or it has no such port. */
static bool port_has_place(struct reader *r, const char *line, unsigned num)
{
	if (r->node != SIM_NONE)
		return node_has_port(r, r->node, num);
	if (!r->skip_ports)
		fail(r, "a port without a node: \"%.24s\"", line);
	return false;
}

void reader_add_port(struct reader *r, const struct dump_port *port)
{
	struct dump_node *n = &r->d->nodes.v[port->node];

	if (!node_has_port(r, port->node, port->num))
		return;
	if (n->n_ports == n->nports) {
		fail(r, "\"%s\" has %u ports, and this is one more", r->d->names.v[n->name].text,
		     n->nports);
		return;
	}
	n->n_ports++;
	*vec_push(&r->d->ports) = *port;
}

void reader_port(struct reader *r, const char *line)
{
	struct dump_port port = { .pos = r->pos, .node = r->node };

	if (port_has_place(r, line, 0) && parse_port(r, line, &port))
		reader_add_port(r, &port);
}

void reader_alias(struct reader *r, const char *line)
{
	char alias[1 + DUMP_NAME_MAX + 1];
	const char *s, *p = line + 1;
	size_t n;
	uint8_t num;

	if (!port_has_place(r, line, 0) || !take_port_number(r, &p, &num) ||
	    !port_has_place(r, line, num) || !reader_take_new_name(r, &p, &s, &n) ||
	    !reader_at_end(r, p))
		return;
	snprintf(alias, sizeof(alias), "@%.*s", (int)n, s);
	reader_define_name(r, reader_full_name(r, alias, strlen(alias)), r->node, num);
}

