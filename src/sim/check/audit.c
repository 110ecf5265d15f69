/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Runs all checks of an audit, collects their findings, and prints them. */
#include <stdio.h>
#include <stdlib.h>

#include "sim/check/check_net.h"

static const char *const kind_names[AUDIT_KINDS] = {
	[AUDIT_UNREACHABLE] = "unreachable",
	[AUDIT_LOOP] = "loop",
	[AUDIT_VL15] = "vl15",
	[AUDIT_CREDIT_LOOP] = "credit-loop",
	[AUDIT_LINK] = "link",
	[AUDIT_LID] = "lid",
	[AUDIT_TABLE] = "table",
	[AUDIT_MCAST] = "mcast",
};

const char *audit_kind_name(enum audit_kind k)
{
	return kind_names[k];
}

void audit_run(const struct sim_fabric *f, const struct audit_options *o, struct audit *out)
{
	struct run r = { .f = f, .o = o, .out = out };
	struct net n;

	*out = (struct audit){ 0 };
	r.sent = xcalloc(f->n_ports + 1u, sizeof(*r.sent));
	r.port_vls = xcalloc(f->n_ports + 1u, sizeof(*r.port_vls));
	net_init(&n, &r);
	check_links(&r);
	check_lids(&r);
	check_routes(&r, &n);
	check_vls(&r, &n);
	check_credit(&r, &n, false);
	check_tables(&r, &n);
	check_mcast(&r);
	if (!out->count[AUDIT_CREDIT_LOOP] && !out->count[AUDIT_MCAST]) {
		mcast_depend(&r, &n);
		check_credit(&r, &n, true);
	}
	net_free(&n);
	free(r.sent);
	free(r.port_vls);
}

void audit_free(struct audit *a)
{
	for (size_t i = 0; i < a->findings.n; i++)
		free(a->findings.v[i].text);
	vec_free(&a->findings);
}

bool audit_clean(const struct audit *a)
{
	for (unsigned k = 0; k < AUDIT_KINDS; k++)
		if (a->count[k])
			return false;
	return true;
}

void add_finding(struct run *r, enum audit_kind k, bool note, const char *fmt, ...)
{
	uint32_t *told = note ? &r->told_notes : &r->told[k];
	struct buf text = { 0 };
	va_list ap;

	++*(note ? &r->out->notes : &r->out->count[k]);
	if (*told == r->o->findings_max)
		return;
	++*told;
	va_start(ap, fmt);
	buf_vprintf(&text, fmt, ap);
	va_end(ap);
	*vec_push(&r->out->findings) = (struct audit_finding){ k, note, text.s };
}

struct port_text port_text(const struct sim_fabric *f, uint32_t port)
{
	struct port_text t = { "" };

	sim_port_name(f, port, t.s, sizeof(t.s));
	return t;
}

struct set_text set_text(uint16_t set)
{
	struct set_text t = { "none" };
	size_t n = 0;

	for (unsigned i = 0; i < 16; i++) {
		unsigned last = i;

		if (!(set >> i & 1))
			continue;
		while (set >> (last + 1) & 1)
			last++;
		n += (size_t)snprintf(t.s + n, sizeof(t.s) - n, n ? ",%u" : "%u", i);
		if (last > i)
			n += (size_t)snprintf(t.s + n, sizeof(t.s) - n, "-%u", last);
		i = last;
	}
	return t;
}

const char *state_text(uint8_t port_state)
{
	static const char *const names[] = { "NOP", "Down", "Init", "Armed", "Active" };

	return port_state < ARRAY_SIZE(names) ? names[port_state] : "in no known state";
}

/* --- printing --- */

static void print_summary(const struct audit *a, struct buf *out)
{
	buf_printf(out, "end ports         %u\n", a->end_ports);
	buf_printf(out, "links             %u, active %u\n", a->links, a->links_active);
	buf_printf(out, "SLs in use        %s%s: %s\n", set_text(a->sls).s,
		   a->by_pair ? ", each by its own pairs; SLs that connect all of them" :
				"; SLs that connect all", set_text(a->sls_connected).s);
	if (a->pairs_without_sl)
		buf_printf(out, "pairs without SL  %ju; not judged\n",
			   (uintmax_t)a->pairs_without_sl);
	if (a->sls_partial)
		buf_printf(out, "SLs of some paths %s; taken as not in use\n",
			   set_text(a->sls_partial).s);
	buf_printf(out, "paths             %ju, connected %ju\n", (uintmax_t)a->pairs,
		   (uintmax_t)a->connected);
	buf_printf(out, "switches passed   %.2f on average, %u at most\n", a->hops_mean,
		   a->hops_max);
	buf_printf(out, "VLs used          %s\n", set_text(a->vls_used).s);
	buf_printf(out, "multicast groups  %u\n", a->mcast_groups);
	buf_printf(out, "multicast members %ju\n", (uintmax_t)a->mcast_members);
}

/* Prints the faults of a kind, or (AUDIT_KINDS) the notes of all kinds. */
static void print_findings(const struct audit *a, enum audit_kind k, struct buf *out)
{
	bool notes = k == AUDIT_KINDS;
	uint64_t told = 0, count = notes ? a->notes : a->count[k];

	if (count == 0)
		return;
	buf_printf(out, "%s: %ju\n", notes ? "notes" : audit_kind_name(k), (uintmax_t)count);
	for (size_t i = 0; i < a->findings.n; i++) {
		const struct audit_finding *finding = &a->findings.v[i];

		if (finding->note != notes || (!notes && finding->kind != k))
			continue;
		buf_printf(out, "  %s%s%s\n", notes ? audit_kind_name(finding->kind) : "",
			   notes ? ": " : "", finding->text);
		told++;
	}
	if (told < count)
		buf_printf(out, "  and %ju more\n", (uintmax_t)(count - told));
}

void audit_print(const struct audit *a, struct buf *out)
{
	print_summary(a, out);
	if (audit_clean(a))
		buf_puts(out, "no faults\n");
	for (unsigned k = 0; k <= AUDIT_KINDS; k++)
		print_findings(a, (enum audit_kind)k, out);
}
