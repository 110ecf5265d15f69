/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Commands `check` and `path`, which print the auditor's verdict and the path of one packet. */
#include "sim/ctl/command.h"

#include "lib/base/file.h"
#include "sim/check/check.h"

#define FINDINGS_EACH 10	/* findings shown of each kind, unless --max says otherwise */
#define PATH_SLS_MAX ((size_t)1 << 30)	/* bytes; about 9000 end ports */

/* --- path --- */

static bool get_end(struct call *c, const char *text, uint32_t *port)
{
	if (!get_port(c, text, port))
		return false;
	if (!is_end_port(c->f, *port))
		return refuse(c, "'%s' is a switch's external port: no path ends there", text);
	return c->f->ports[*port].lid || refuse(c, "'%s' has no LID", text);
}

static json_t *hops_of(const struct sim_fabric *f, const struct audit_path *p)
{
	json_t *rows = json_array();

	for (size_t i = 0; i < p->hops.n; i++)
		json_array_append_new(rows, json_pack(
			"{s:o, s:o, s:i}", "from", json_port(f, p->hops.v[i].from),
			"to", json_port(f, p->hops.v[i].to), "vl", p->hops.v[i].vl));
	return rows;
}

bool cmd_path(struct call *c)
{
	uint64_t sl = 0, bytes = 0;
	uint32_t src, dst;
	struct audit_path path;
	unsigned dlid;

	if (!get_end(c, c->word[0], &src) || !get_end(c, c->word[1], &dst) ||
	    !get_number(c, "SL", c->word[2], 0, 15, &sl) ||
	    !get_number(c, "BYTES", c->word[3], 0, 4096, &bytes))
		return false;
	dlid = c->f->ports[dst].lid;
	audit_path(c->f, src, dlid, (unsigned)sl, (unsigned)bytes, &path);
	audit_path_print(c->f, &path, &c->text);
	c->result = json_pack("{s:o, s:o, s:i, s:i, s:o, s:o}",
			      "source", json_port(c->f, src),
			      "destination", json_port(c->f, dst), "dlid", dlid, "sl", (int)sl,
			      "hops", hops_of(c->f, &path),
			      "lost", path.lost ? json_text(path.lost) : json_null());
	audit_path_free(&path);
	return true;
}

/* --- check --- */

static bool get_sls(struct call *c, const char *list, uint16_t *sls)
{
	char word[8];
	uint64_t sl;

	while (list && next_element(&list, word, sizeof(word))) {
		if (!get_number(c, "--sl", word, 0, 15, &sl))
			return false;
		*sls |= (uint16_t)(1 << sl);
	}
	return true;
}

/* Reads the file into p; without a file, leaves p unchanged. */
static bool get_path_sls(struct call *c, const char *file, struct path_sls *p)
{
	struct buf text = { 0 }, why = { 0 };
	bool good = true;

	if (!file)
		return true;
	if (!file_read(file, PATH_SLS_MAX, &text, &why))
		good = refuse(c, "%s: %s", file, why.s);
	else if (!path_sls_read(p, c->f, file, text.n ? text.s : "", text.n, &why))
		good = refuse(c, "%s", why.s);
	buf_free(&text);
	buf_free(&why);
	return good;
}

static json_t *counts(const struct audit *a)
{
	json_t *o = json_object();

	for (int k = 0; k < AUDIT_KINDS; k++)
		json_object_set_new(o, audit_kind_name((enum audit_kind)k),
				    json_integer((json_int_t)a->count[k]));
	return o;
}

static json_t *findings(const struct audit *a)
{
	json_t *rows = json_array();

	for (size_t i = 0; i < a->findings.n; i++)
		json_array_append_new(rows, json_pack(
			"{s:s, s:s, s:o}", "kind", audit_kind_name(a->findings.v[i].kind),
			"severity", a->findings.v[i].note ? "note" : "fault",
			"text", json_text(a->findings.v[i].text)));
	return rows;
}

static json_t *verdict(const struct audit *a)
{
	return json_pack("{s:b, s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:b, s:I, s:o, s:o, s:o, s:o, s:I, "
			 "s:I, s:o, s:I, s:o}",
			 "clean", audit_clean(a),
			 "end-ports", (json_int_t)a->end_ports,
			 "links", (json_int_t)a->links,
			 "links-active", (json_int_t)a->links_active,
			 "pairs", (json_int_t)a->pairs,
			 "connected", (json_int_t)a->connected,
			 "hops-max", (json_int_t)a->hops_max,
			 "hops-mean", a->hops_mean,
			 "sls-by-pair", a->by_pair,
			 "pairs-without-sl", (json_int_t)a->pairs_without_sl,
			 "sls", json_set16(a->sls),
			 "sls-connected", json_set16(a->sls_connected),
			 "sls-partial", json_set16(a->sls_partial),
			 "vls", json_set16(a->vls_used),
			 "multicast-groups", (json_int_t)a->mcast_groups,
			 "multicast-members", (json_int_t)a->mcast_members,
			 "count", counts(a),
			 "notes", (json_int_t)a->notes,
			 "findings", findings(a));
}

bool cmd_check(struct call *c)
{
	struct audit_options o = { .switches = option(c, "--switches") };
	const char *file = option(c, "--path-sls");
	struct path_sls path_sls = { 0 };
	uint64_t max = FINDINGS_EACH;
	struct audit a;

	if (!get_sls(c, option(c, "--sl"), &o.sls) ||
	    !get_number(c, "--max", option(c, "--max"), 0, UINT32_MAX, &max) ||
	    !get_path_sls(c, file, &path_sls))
		return false;
	o.findings_max = (unsigned)max;
	o.path_sls = file ? &path_sls : NULL;
	audit_run(c->f, &o, &a);
	path_sls_free(&path_sls);
	audit_print(&a, &c->text);
	c->result = verdict(&a);
	c->found = !audit_clean(&a);
	audit_free(&a);
	return true;
}
