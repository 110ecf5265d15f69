/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Loads qosd.yaml and the policy file, and checks them for --check.
 *
 * A settings file that is missing at its default place means built-in values; one that is named on
 * the command line must exist.  A policy file that is missing or has an error at the start is no
 * reason to leave the subnet without a manager, nor without its policy: the last good policy takes
 * its place, or else the built-in one.  Bad settings are one, because a manager with other keys or
 * another priority than meant may take a subnet that is not its own.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "config/conf.h"
#include "ctl/policy_trials.h"
#include "daemon/qosd.h"
#include "fabric/device_kinds.h"
#include "fabric/dump/dump.h"
#include "fabric/fabric.h"
#include "lib/base/clock.h"
#include "lib/base/file.h"
#include "lib/base/log.h"
#include "plan/feasible/feasible.h"
#include "plan/routes/choose_engine.h"
#include "plan/routes/fabric_shape.h"
#include "routing/gauge/gauge.h"
#include "routing/gauge/lft_dump.h"
#include "store/store.h"

/*
 * Reads a file.  False: out has an error, or *missing: the file is not there and was not named,
 * so the built-in values apply.
 */
static bool read_named(const char *path, bool named, struct buf *text, bool *missing,
		       struct findings *out)
{
	struct findings found = { 0 };
	bool done = conf_read_file(path, text, &found);

	*missing = !done && !named && errno == ENOENT;
	if (*missing)
		findings_free(&found);
	else
		findings_move(out, &found);
	return done;
}

struct settings *load_settings(const struct options *o, bool *from_file, struct findings *out)
{
	struct settings *s = NULL;
	struct buf text = { 0 };
	bool missing, read = read_named(o->config, o->config_named, &text, &missing, out);

	if ((read || missing) && !text.n && *from_file) {
		findings_add(out, SEV_ERROR, o->config, (struct src_pos){ 0 },
			     "is %s; it had settings when the daemon started", missing ? "missing" : "empty");
	} else if (read) {
		*from_file = text.n != 0;
		s = conf_read_settings(o->config, text.n ? text.s : "", text.n, out);
	} else if (missing) {
		log_info("qosd", "%s is missing: using built-in settings", o->config);
		s = settings_default();
	}
	buf_free(&text);
	return s;
}

bool load_names(const struct settings *s, struct name_map **names, struct findings *out)
{
	struct buf text = { 0 }, why = { 0 };
	bool done;

	*names = NULL;
	if (!s->node_name_map)
		return true;
	done = file_read(s->node_name_map, CONF_FILE_MAX, &text, &why);
	if (done)
		*names = name_map_parse(text.n ? text.s : "", text.n, s->node_name_map, out);
	else
		findings_add(out, SEV_WARNING, s->node_name_map, (struct src_pos){ 0 }, "%s; see node-name-map",
			     why.s);
	buf_free(&text);
	buf_free(&why);
	return done;
}

/* Takes ownership of the text. */
static struct shared_policy *parse_policy(const char *path, struct buf *text, struct findings *out)
{
	struct policy *p = conf_parse_policy(path, text->n ? text->s : "", text->n, out);
	struct shared_policy *sp;

	if (!p) {
		buf_free(text);
		return NULL;
	}
	sp = shared_policy_new(p);
	sp->source = POLICY_FILE;
	sp->text = *text;
	findings_copy(&sp->findings, out);
	return sp;
}

struct shared_policy *load_policy(const struct options *o, const struct settings *s,
				  struct findings *out)
{
	struct shared_policy *sp = NULL;
	struct buf text = { 0 };
	bool missing = false;

	if (s && s->no_policy) {
		log_info("qosd", "using the built-in policy, as set in qosd.yaml");
		sp = shared_policy_new(policy_builtin());
	} else if (read_named(o->policy, o->policy_named, &text, &missing, out)) {
		sp = parse_policy(o->policy, &text, out);
	} else if (missing) {
		log_info("qosd", "%s is missing: using the built-in policy", o->policy);
		sp = shared_policy_new(policy_builtin());
	}
	if (sp)
		sp->loaded_us = clock_real_us();
	return sp;
}

/*
 * Loads the policy for a start; NULL: out has an error.  The last good policy may be unknown
 * (NULL).
 */
static struct shared_policy *load_start_policy(const struct options *o, const struct settings *s,
					       const struct store_policy *good, struct findings *out)
{
	const struct policies_rules rules = { s && s->no_policy, s && s->policy_marker };
	struct shared_policy *sp = load_policy(o, s, out);

	if (sp && sp->source == POLICY_BUILTIN && !rules.may_be_none && good)
		findings_add(out, SEV_ERROR, o->policy, (struct src_pos){ 0 }, "is missing; if the subnet "
			     "is to have no policy, set 'policy: none' in qosd.yaml");
	else if (sp && policies_may_start(&rules, sp, good, out))
		return sp;
	shared_policy_unref(sp);
	return NULL;
}

/* "2026-11-27 09:30:00 UTC, checksum 0123456789abcdef" */
static const char *good_text(const struct store_policy *good, char *text, size_t n)
{
	time_t seconds = (time_t)(good->when_us / 1000000);
	struct tm tm = { 0 };
	char when[32];

	gmtime_r(&seconds, &tm);
	strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S UTC", &tm);
	snprintf(text, n, "%s, checksum %016" PRIx64, when, good->checksum);
	return text;
}

/* Parses the last good policy; NULL, and a line in the log, if this qosd refuses it. */
static struct shared_policy *parse_good(struct store_policy *good)
{
	struct findings found = { 0 };
	struct shared_policy *sp = parse_policy(good->name, &good->text, &found);

	good->text = (struct buf){ 0 };
	if (sp) {
		sp->source = POLICY_KEPT;
		sp->loaded_us = good->when_us;
	} else {
		findings_log(&found, "policy");
		log_error("policy", "the last good policy cannot be used");
	}
	findings_free(&found);
	return sp;
}

struct shared_policy *load_first_policy(const struct options *o, const struct settings *s,
					struct findings *out)
{
	struct store_policy good;
	bool known = store_peek_policy(o->state_dir, &good);
	struct shared_policy *sp = load_start_policy(o, s, known ? &good : NULL, out);
	char text[80];

	if (!known && errno == EBADMSG)
		log_error("policy", "the last good policy in %s is damaged", o->state_dir);
	findings_log(out, "policy");
	if (!sp && s && !o->once) {
		sp = known ? parse_good(&good) : NULL;
		if (sp)
			log_error("policy", "%s: refused; using the last good policy, of %s", o->policy,
				  good_text(&good, text, sizeof(text)));
	}
	if (!sp && s && !o->once) {
		log_error("policy", "%s: refused; no good policy is known: using the built-in policy",
			  o->policy);
		sp = shared_policy_new(policy_builtin());
		sp->loaded_us = clock_real_us();
	}
	store_policy_free(&good);
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

/* The GUID of the node that the daemon would run on; 0: the first host. */
static uint64_t node_of_port(const struct fabric *f, uint64_t guid)
{
	uint32_t port = guid ? fabric_find_port(f, guid) : FABRIC_NONE;

	return port == FABRIC_NONE ? 0 : port_node(f, port)->guid;
}

/* Reads the file of --devices; NULL without one, or with an error in out. */
static struct device_kinds *load_devices(const struct options *o, struct findings *out)
{
	struct buf text = { 0 };
	struct device_kinds *k = NULL;

	if (o->devices && conf_read_file(o->devices, &text, out))
		k = conf_read_devices(o->devices, text.n ? text.s : "", text.n, out);
	buf_free(&text);
	return k;
}

/*
 * Loads the dump, with the SM on the node that -g names or, if the port is in it, the settings.
 * NULL and a finding if the file is invalid or the port is missing.
 */
static struct fabric *load_fabric(const struct options *o, const struct settings *s,
				  const struct device_kinds *kinds, struct findings *out)
{
	struct dump_source from = { .path = o->topology, .ibnl = o->ibnl };
	struct dump *d = dump_read(&from, out);
	struct fabric *f = d ? fabric_of_dump(d, 0, true, kinds, out) : NULL;

	if (f && (o->guid || s->port_guid)) {
		uint64_t node = node_of_port(f, o->guid ? o->guid : s->port_guid);

		if (node || o->guid) {
			fabric_free(f);
			f = node ? fabric_of_dump(d, node, true, kinds, out) : NULL;
		}
		if (!node && o->guid)
			findings_add(out, SEV_ERROR, o->topology, (struct src_pos){ 0 },
				     "port 0x%016" PRIx64 " is not in this fabric", o->guid);
	}
	dump_release(d);
	return f;
}

/*
 * Reads a file of forwarding tables line by line, since it may have gigabytes.  False: out has
 * an error.
 */
static bool read_tables(const char *path, FILE *file, struct lft_dump *d, struct findings *out)
{
	struct src_pos pos = { 0, 1 };
	struct buf why = { 0 };
	char *line = NULL;
	size_t cap = 0;
	ssize_t n;
	bool good = true;

	while (good && (n = getline(&line, &cap, file)) >= 0) {
		pos.line++;
		good = lft_dump_line(d, line, (size_t)n, &why);
	}
	if (!good)
		findings_add(out, SEV_ERROR, path, pos, "%s", why.s);
	else if (ferror(file))
		findings_add(out, SEV_ERROR, path, (struct src_pos){ 0 }, "%s", strerror(errno));
	good = good && !ferror(file);
	buf_free(&why);
	free(line);
	return good;
}

static void add_left(const struct fabric *f, const char *path, const struct lft_dump_left *left,
		     struct findings *out)
{
	const struct src_pos nowhere = { 0, 0 };

	if (left->strange)
		findings_add(out, SEV_WARNING, path, nowhere, "ignored %" PRIu32 " table%s of switches "
			     "that are not in the topology", left->strange,
			     left->strange == 1 ? "" : "s");
	if (left->without)
		findings_add(out, SEV_WARNING, path, nowhere, "no table for %" PRIu32 " switch%s of the "
			     "topology, for example %s: assuming that they drop all packets", left->without,
			     left->without == 1 ? "" : "es", NODE_NAME(f, left->example));
}

/* Loads the forwarding tables of a file, for the LIDs of the topology; NULL: out has an error. */
static struct lfts *load_tables(const struct fabric *f, const char *path, struct findings *out)
{
	FILE *file = fopen(path, "re");
	struct lft_dump *d;
	struct lft_dump_left left;
	struct lfts *tables;
	struct buf why = { 0 };

	if (!file) {
		findings_add(out, SEV_ERROR, path, (struct src_pos){ 0 }, "%s", strerror(errno));
		return NULL;
	}
	d = lft_dump_new(f);
	if (!read_tables(path, file, d, out)) {
		lft_dump_free(d);
		fclose(file);
		return NULL;
	}
	fclose(file);
	tables = lft_dump_end(d, &left, &why);
	if (tables)
		add_left(f, path, &left, out);
	else
		findings_add(out, SEV_ERROR, path, (struct src_pos){ 0 }, "%s", why.s);
	buf_free(&why);
	return tables;
}

static void report_gauge(const struct route_request *r, const struct lfts *tables, const char *whose,
			 bool compare, struct buf *report)
{
	struct gauge g, plain;

	gauge_measure(r, tables, &gauge_defaults, &g);
	buf_printf(report, "\nRoutes of %s\n", whose);
	gauge_print(&g, r->f, report);
	if (!compare || !g.connected)
		return;
	gauge_plain(r, &gauge_defaults, &plain);
	buf_puts(report, "  cost of not being a tree: ");
	gauge_print_cost(&g, &plain, report);
	buf_puts(report, "\n");
}

/* Adds a line that begins with a capital; adds nothing if put() gives no text. */
static void report_line(const struct plan *p, void (*put)(const struct plan *, struct buf *),
			struct buf *report)
{
	size_t at = report->n;

	put(p, report);
	if (report->n == at)
		return;
	report->s[at] = (char)toupper((unsigned char)report->s[at]);
	buf_puts(report, "\n");
}

/* Reports how good the routes of the plan are, and those of a file, if one was named. */
static void check_routes(const struct options *o, const struct plan *p, struct findings *out,
			 struct buf *report)
{
	const struct route_request r = { .f = p->f, .lid = p->lid, .lmc = p->lmc,
					 .lid_top = p->lid_top, .order = p->order,
					 .layers = p->layers };
	struct fabric_lids lids;
	struct lfts *tables;

	buf_puts(report, "\n");
	report_line(p, plan_shape_text, report);
	report_line(p, plan_choice_text, report);
	if (p->engine && strcmp(p->engine, "none") != 0)
		report_gauge(&r, p->lfts, p->engine, p->shape.kind != SHAPE_TREE, report);
	if (!o->lfts || !(tables = load_tables(p->f, o->lfts, out)))
		return;
	fabric_lids_init(&lids, p->f);
	report_gauge(&lids.r, tables, o->lfts, false, report);
	fabric_lids_free(&lids);
	lfts_free(tables);
}

/* Computes the plan of the policy for the fabric; writes the report to `report`. */
static void check_topology(const struct options *o, const struct policy *p,
			   const struct settings *s, struct findings *out, struct buf *report)
{
	struct device_kinds *kinds = load_devices(o, out);
	struct fabric *f = o->devices && !kinds ? NULL : load_fabric(o, s, kinds, out);
	struct plan *plan;

	if (!f) {
		device_kinds_free(kinds);
		return;
	}
	device_kinds_check(kinds, f, out);
	plan = plan_compute(f, p, s, NULL, NULL, NULL);
	plan_judge(plan, NULL);
	findings_copy(out, &plan->findings);
	findings_copy(out, &plan->feasible->findings);
	feasible_print(plan->feasible, plan, report);
	device_kinds_print(kinds, f, report);
	check_routes(o, plan, out, report);
	plan_free(plan);
	fabric_free(f);
	device_kinds_free(kinds);
}

/* Says what a start would do without the policy file, which is missing. */
static void say_start(const struct options *o, const struct store_policy *good, int error)
{
	char text[80];

	printf("%s is missing: ", o->policy);
	if (good)
		printf("a start would use the last good policy, of %s (%s)\n",
		       good_text(good, text, sizeof(text)), good->name);
	else if (error == ENOENT)
		printf("a start would use the built-in policy, because %s has no last good policy\n",
		       o->state_dir);
	else
		printf("a start would use the last good policy in %s if it has one, which cannot be read: "
		       "%s\n", o->state_dir, error == EBADMSG ? "it is damaged" : strerror(error));
}

int check_files(const struct options *o)
{
	struct findings f = { 0 };
	struct buf normal = { 0 }, report = { 0 };
	bool from_file = false;
	struct settings *s = load_settings(o, &from_file, &f);
	bool found = s && conf_find_groups(s, &f);
	struct store_policy last;
	bool known = store_peek_policy(o->state_dir, &last);
	int error = errno;
	struct name_map *names;
	struct shared_policy *p = load_start_policy(o, s, known ? &last : NULL, &f);
	bool good;

	if (s) {
		load_names(s, &names, &f);
		name_map_unref(names);
	}
	if (s && p && o->topology)
		check_topology(o, p->p, s, &f, &report);
	good = found && p && !f.count[SEV_ERROR];
	print_findings(&f);
	if (s && !s->no_policy && access(o->policy, F_OK) < 0 && errno == ENOENT)
		say_start(o, known ? &last : NULL, error);
	store_policy_free(&last);
	if (p && o->verbose)
		conf_print_policy(p->p, &normal);
	print_buf(&normal);
	print_buf(&report);
	findings_free(&f);
	settings_free(s);
	shared_policy_unref(p);
	return good ? EXIT_OK : EXIT_FAILED;
}
