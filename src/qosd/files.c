/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The two files and their defaults: a file that is missing at its default place
 * means the built-in values, one that was named must be there.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "conf/conf.h"
#include "fabric/fabric.h"
#include "plan/feasible.h"
#include "qosd/qosd.h"

static bool missing_by_default(const char *path, bool named)
{
	return !named && access(path, F_OK) < 0 && errno == ENOENT;
}

struct settings *load_settings(const struct options *o, struct findings *out)
{
	if (missing_by_default(o->config, o->config_named)) {
		log_info("qosd", "%s is missing: built-in settings", o->config);
		return settings_default();
	}
	return conf_load_settings(o->config, out);
}

static struct shared_policy *read_policy(const char *path, struct findings *out)
{
	struct shared_policy *sp;
	struct buf text = { 0 };
	struct policy *p = NULL;

	if (conf_read_file(path, &text, out))
		p = conf_parse_policy(path, text.n ? text.s : "", text.n, out);
	if (!p) {
		buf_free(&text);
		return NULL;
	}
	sp = shared_policy_new(p);
	sp->source = POLICY_FILE;
	sp->text = text;
	findings_copy(&sp->findings, out);
	return sp;
}

struct shared_policy *load_policy(const struct options *o, struct findings *out)
{
	struct shared_policy *sp;

	if (missing_by_default(o->policy, o->policy_named)) {
		log_info("qosd", "%s is missing: built-in policy", o->policy);
		sp = shared_policy_new(policy_builtin());
	} else {
		sp = read_policy(o->policy, out);
	}
	if (sp)
		sp->loaded_us = clock_real_us();
	return sp;
}

void print_findings(const struct findings *f)
{
	for (size_t i = 0; i < f->n; i++) {
		struct buf line = { 0 };

		findings_format(&f->v[i], &line);
		puts(line.s);
		buf_free(&line);
	}
	size_t total = f->count[SEV_ERROR] + f->count[SEV_WARNING] + f->count[SEV_INFO];
	if (total > f->n)
		printf("%zu more findings are not shown\n", total - f->n);
}

static void print_buf(struct buf *text)
{
	fputs(text->s ? text->s : "", stdout);
	buf_free(text);
}

/* The loader's `path:line: text`, or `path: text`, as a finding. */
static void add_load_error(struct findings *out, const char *path, const char *text)
{
	struct src_pos pos = { 0, 0 };
	size_t n = strlen(path);
	char *end;

	if (!strncmp(text, path, n) && text[n] == ':') {
		text += n + 1;
		pos.line = (uint32_t)strtoul(text, &end, 10);
		if (end != text && *end == ':') {
			pos.col = 1;
			text = end + 1;
		}
		text += strspn(text, " ");
	}
	findings_add(out, SEV_ERROR, path, pos, "%s", text);
}

/* The GUID of the node that the daemon would run on; 0: the first host will do. */
static uint64_t node_of_port(const struct fabric *f, uint64_t guid)
{
	uint32_t port = guid ? fabric_find_port(f, guid) : FABRIC_NONE;

	return port == FABRIC_NONE ? 0 : port_node(f, port)->guid;
}

/*
 * The dump, with the SM on the node that -g or, if it is there, the settings
 * name.  NULL and a finding if the file or the port is no good.
 */
static struct fabric *load_fabric(const struct options *o, const struct settings *s,
				  struct findings *out)
{
	struct buf err = { 0 };
	struct fabric *f = fabric_load_dump(o->topology, 0, true, &err);

	if (f && (o->guid || s->port_guid)) {
		uint64_t node = node_of_port(f, o->guid ? o->guid : s->port_guid);

		if (node || o->guid) {
			fabric_free(f);
			f = node ? fabric_load_dump(o->topology, node, true, &err) : NULL;
		}
		if (!node && o->guid)
			buf_printf(&err, "%s: port 0x%016" PRIx64 " is not in this fabric",
				   o->topology, o->guid);
	}
	if (!f)
		add_load_error(out, o->topology, err.s);
	buf_free(&err);
	return f;
}

/* What comes of the policy on the fabric; the report goes to `report`. */
static void check_topology(const struct options *o, const struct policy *p,
			   const struct settings *s, struct findings *out, struct buf *report)
{
	struct fabric *f = load_fabric(o, s, out);
	struct plan *plan;

	if (!f)
		return;
	plan = plan_compute(f, p, s, NULL, NULL, NULL);
	plan_judge(plan, NULL);
	findings_copy(out, &plan->findings);
	findings_copy(out, &plan->feasible->findings);
	feasible_print(plan->feasible, plan, report);
	plan_free(plan);
	fabric_free(f);
}

int check_files(const struct options *o)
{
	struct findings f = { 0 };
	struct buf normal = { 0 }, report = { 0 };
	struct settings *s = load_settings(o, &f);
	struct shared_policy *p = load_policy(o, &f);
	bool good;

	if (s && p && o->topology)
		check_topology(o, p->p, s, &f, &report);
	good = s && p && !f.count[SEV_ERROR];
	print_findings(&f);
	if (p && o->verbose)
		conf_print_policy(p->p, &normal);
	print_buf(&normal);
	print_buf(&report);
	findings_free(&f);
	settings_free(s);
	shared_policy_unref(p);
	return good ? EXIT_OK : EXIT_FAILED;
}
