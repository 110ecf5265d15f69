/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "helper.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct outcome load_file(const char *path)
{
	struct outcome o = { .f = simfab_new() };
	struct findings found = { 0 };

	o.ok = topo_load(path, NULL, o.f, &found);
	for (size_t i = 0; i < found.n; i++) {
		struct buf *to = found.v[i].severity == SEV_ERROR ? &o.err : &o.warn;

		findings_format(&found.v[i], to);
		buf_puts(to, "\n");
	}
	findings_free(&found);
	return o;
}

struct outcome load_bytes(const char *bytes, size_t n)
{
	char path[64] = "/tmp/qosd-topo-XXXXXX";
	int fd = mkstemp(path);
	struct outcome o;

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, bytes, n), (ssize_t)n);
	close(fd);
	o = load_file(path);
	memcpy(o.path, path, sizeof(path));
	unlink(path);
	return o;
}

struct outcome load(const char *text)
{
	return load_bytes(text, strlen(text));
}

struct outcome generate(const char *spec)
{
	struct outcome o = { .f = simfab_new() };

	o.ok = topo_generate(spec, o.f, &o.err);
	return o;
}

void outcome_free(struct outcome *o)
{
	simfab_free(o->f);
	buf_free(&o->err);
	buf_free(&o->warn);
}

struct outcome good(struct outcome o)
{
	ck_assert_msg(o.ok && !o.err.n, "refused: %s", o.err.s ? o.err.s : "without a reason");
	ck_assert_msg(!o.warn.n, "warned: %s", o.warn.s);
	check_sound(o.f);
	return o;
}

void refused(struct outcome o, ...)
{
	va_list ap;
	const char *text;

	ck_assert(!o.ok);
	ck_assert_uint_gt(o.err.n, 0);
	ck_assert_int_eq(o.err.s[o.err.n - 1], '\n');
	ck_assert_uint_eq(o.f->n_nodes, 0);
	va_start(ap, o);
	while ((text = va_arg(ap, const char *)))
		ck_assert_msg(strstr(o.err.s, text), "\"%s\" is not in: %s", text, o.err.s);
	va_end(ap);
	outcome_free(&o);
}

/* --- looking at fabrics --- */

uint32_t count_nodes(const struct sim_fabric *f, int type)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < f->n_nodes; i++)
		n += f->nodes[i].type == type;
	return n;
}

uint32_t count_links(const struct sim_fabric *f)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < f->n_ports; i++)
		n += f->ports[i].peer != SIM_NONE && f->ports[i].peer > i;
	return n;
}

/* What is wrong with a port, or NULL. */
static const char *unsound(const struct sim_fabric *f, uint32_t i, struct map64 *guids)
{
	const struct sim_port *p = &f->ports[i], *q;

	if (f->nodes[p->node].port0 + p->num != i)
		return "is not where it should be";
	if (is_end_port(f, i) && (!p->guid || map64_put(guids, p->guid, i) != MAP64_NONE))
		return "has no GUID of its own";
	if (p->peer == SIM_NONE)
		return NULL;
	q = &f->ports[p->peer];
	if (q->peer != i || p->num == 0)
		return "has a cable with one end";
	if (p->cable_width != q->cable_width || p->cable_speed != q->cable_speed ||
	    p->cable_ext != q->cable_ext || p->cable_fdr10 != q->cable_fdr10)
		return "has another speed than its peer";
	return NULL;
}

/* One assertion for all: each is a message to the parent process. */
void check_sound(const struct sim_fabric *f)
{
	struct map64 guids;
	const char *what = NULL;
	uint32_t i;

	map64_init(&guids, f->n_ports);
	for (i = 0; i < f->n_ports && !what; i++)
		what = unsound(f, i, &guids);
	ck_assert_msg(!what, "port slot %u %s", i - 1, what);
	map64_free(&guids);
}

bool is_connected(const struct sim_fabric *f)
{
	uint32_t *queue = xcalloc(f->n_nodes, sizeof(*queue)), n = 0, on = 0;
	bool *seen = xcalloc(f->n_nodes, sizeof(*seen));

	for (uint32_t i = 0; i < f->n_nodes; i++)
		on += !f->nodes[i].off;
	for (uint32_t i = 0; i < f->n_nodes && !n; i++)
		if (!f->nodes[i].off)
			seen[queue[n++] = i] = true;
	for (uint32_t at = 0; at < n; at++) {
		const struct sim_node *nd = &f->nodes[queue[at]];

		for (uint32_t p = nd->port0; p <= nd->port0 + nd->nports; p++) {
			uint32_t peer = f->ports[p].peer;

			if (!link_is_up(f, p) || seen[f->ports[peer].node])
				continue;
			seen[f->ports[peer].node] = true;
			queue[n++] = f->ports[peer].node;
		}
	}
	free(queue);
	free(seen);
	return n == on;
}

const struct sim_port *port_of(const struct sim_fabric *f, const char *desc, unsigned num)
{
	for (uint32_t i = 0; i < f->n_nodes; i++) {
		if (strcmp(f->nodes[i].desc, desc) == 0) {
			ck_assert_uint_le(num, f->nodes[i].nports);
			return &f->ports[f->nodes[i].port0 + num];
		}
	}
	ck_abort_msg("no node %s", desc);
}

/* --- printing --- */

static const char *speed_words(const struct sim_port *p, char out[16])
{
	const char *speed = "???";

	switch (p->cable_speed) {
	case SIM_SPEED_SDR: speed = "SDR"; break;
	case SIM_SPEED_DDR: speed = "DDR"; break;
	case SIM_SPEED_QDR: speed = p->cable_fdr10 ? "FDR10" : "QDR"; break;
	}
	switch (p->cable_ext) {
	case SIM_EXT_FDR: speed = "FDR"; break;
	case SIM_EXT_EDR: speed = "EDR"; break;
	case SIM_EXT_HDR: speed = "HDR"; break;
	case SIM_EXT_NDR: speed = "NDR"; break;
	case SIM_EXT_XDR: speed = "XDR"; break;
	}
	snprintf(out, 16, "%s%s",
		 p->cable_width == SIM_WIDTH_12X ? "12x" : p->cable_width == SIM_WIDTH_8X ? "8x" :
		 p->cable_width == SIM_WIDTH_4X ? "4x" : p->cable_width == SIM_WIDTH_2X ? "2x" :
		 p->cable_width == SIM_WIDTH_1X ? "1x" : "??", speed);
	return out;
}

static unsigned lid_at(const struct sim_fabric *f, const struct sim_port *p)
{
	return is_switch(&f->nodes[p->node]) ? f->ports[f->nodes[p->node].port0].lid : p->lid;
}

static void print_port(const struct sim_fabric *f, const struct sim_port *p, struct buf *out)
{
	static const char letters[] = "?HSR";
	const struct sim_node *n = &f->nodes[p->node];
	const struct sim_port *q = &f->ports[p->peer];
	const struct sim_node *peer = &f->nodes[q->node];
	char speed[16];

	buf_printf(out, "[%u]", p->num);
	if (!is_switch(n))
		buf_printf(out, "(%jx) ", (uintmax_t)p->guid);
	buf_printf(out, "\t\"%c-%016jx\"[%u]", letters[peer->type], (uintmax_t)peer->guid, q->num);
	if (!is_switch(peer))
		buf_printf(out, "%s(%jx) ", is_switch(n) ? "" : " ", (uintmax_t)q->guid);
	buf_puts(out, "\t\t# ");
	if (!is_switch(n))
		buf_printf(out, "lid %u lmc %u ", p->lid, p->lmc);
	buf_printf(out, "\"%s\" lid %u %s\n", peer->desc, lid_at(f, q), speed_words(p, speed));
}

static void print_node(const struct sim_fabric *f, const struct sim_node *n, struct buf *out)
{
	static const char *const words[][3] = {
		[SIM_CA] = { "ca", "Ca", "H" }, [SIM_SWITCH] = { "switch", "Switch", "S" },
		[SIM_ROUTER] = { "rt", "Rt", "R" },
	};
	const char *const *w = words[n->type];

	buf_printf(out, "\nvendid=0x%x\ndevid=0x%x\n", n->vendor_id, n->device_id);
	if (n->sysimg_guid)
		buf_printf(out, "sysimgguid=0x%jx\n", (uintmax_t)n->sysimg_guid);
	buf_printf(out, "%sguid=0x%jx", w[0], (uintmax_t)n->guid);
	if (is_switch(n))
		buf_printf(out, "(%jx)", (uintmax_t)f->ports[n->port0].guid);
	buf_printf(out, "\n%s\t%u \"%s-%016jx\"\t\t# \"%s\"", w[1], n->nports, w[2],
		   (uintmax_t)n->guid, n->desc);
	if (is_switch(n))
		buf_printf(out, " %s port 0 lid %u lmc %u", n->enhanced_port0 ? "enhanced" : "base",
			   f->ports[n->port0].lid, f->ports[n->port0].lmc);
	buf_puts(out, "\n");
	for (uint32_t p = n->port0 + 1; p <= n->port0 + n->nports; p++)
		if (f->ports[p].peer != SIM_NONE)
			print_port(f, &f->ports[p], out);
}

void print_dump(const struct sim_fabric *f, struct buf *out)
{
	for (uint32_t i = 0; i < f->n_nodes; i++)
		print_node(f, &f->nodes[i], out);
}
