/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Prints text output for most commands.  Fixed-width columns come first, and names, which may be
 * long, last, so that rows can be printed as they arrive.
 */
#include <pwd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/buf.h"
#include "lib/base/clean.h"
#include "terminal.h"
#include "text.h"

#define STATUS_FINDINGS 5	/* shown by status; the JSON has all of them */

/* --- control characters --- */

static void clean_string(json_t *string)
{
	char *copy = strdup(json_string_value(string));

	if (copy && clean_text(copy))
		json_string_set(string, copy);
	free(copy);
}

void clean_strings(json_t *value)
{
	const char *key;
	json_t *v;
	size_t i;

	if (json_is_string(value))
		clean_string(value);
	else if (json_is_object(value))
		json_object_foreach(value, key, v)
			clean_strings(v);
	else
		json_array_foreach(value, i, v)
			clean_strings(v);
}

/* --- users --- */

void put_user(const json_t *o)
{
	const struct passwd *user = has(o, "uid") ? getpwuid((uid_t)num(o, "uid")) : NULL;

	if (has(o, "uid"))
		printf(" by user %lld", num(o, "uid"));
	if (user)
		printf(" (%s)", user->pw_name);
	if (*str(o, "on-behalf-of"))
		printf("%s on behalf of %s", has(o, "uid") ? "," : "", str(o, "on-behalf-of"));
}

/* --- findings --- */

void put_findings(const json_t *findings, size_t most, const char *indent, FILE *out)
{
	size_t n = json_array_size(findings);

	for (size_t i = 0; i < n && i < most; i++) {
		const json_t *f = json_array_get(findings, i);

		fputs(indent, out);
		if (*str(f, "file"))
			fprintf(out, "%s:", str(f, "file"));
		if (num(f, "line"))
			fprintf(out, "%lld:%lld:", num(f, "line"), num(f, "column"));
		fputs(*str(f, "file") || num(f, "line") ? " " : "", out);
		if (out == stdout)
			put_word(str(f, "severity"), 0);
		else
			fputs(str(f, "severity"), out);
		fprintf(out, ": %s\n", str(f, "text"));
	}
	if (n > most)
		fprintf(out, "%s… and %zu more\n", indent, n - most);
}

void text_findings_of_error(const json_t *answer)
{
	put_findings(json_object_get(answer, "findings"), SIZE_MAX, "", stderr);
}

/* --- status --- */

static void status_head(const json_t *s)
{
	const json_t *master = json_object_get(s, "master");
	long long others = num(s, "other-managers"), mismatches = num(s, "key-mismatches");

	printf(LABEL "%s, subnet %s", "state", str(s, "state"),
	       json_is_true(json_object_get(s, "subnet-up")) ? "up" : "not up");
	if (json_is_true(json_object_get(s, "sweeping")))
		printf(", sweeping: %s", str(s, "phase"));
	printf("\n" LABEL "%s, LID %lld, priority %lld\n", "port", str(s, "guid"),
	       num(s, "lid"), num(s, "priority"));
	if (!json_is_null(master) && strcmp(str(master, "guid"), str(s, "guid")) != 0)
		printf(LABEL "%s, priority %lld\n", "master", str(master, "guid"),
		       num(master, "priority"));
	if (!strcmp(str(s, "state"), "standby"))
		printf(LABEL "%s\n", "clients", json_is_true(json_object_get(s, "registrations-held")) ?
		       "replicated from the master" :
		       "would have to register again");
	if (others)
		printf(LABEL "%lld subnet manager%s %s another SM_Key\n", "other SMs", others, PLURAL_S(others),
		       PLURAL(others, "has", "have"));
	if (mismatches)
		printf(LABEL "%lld device%s %s another M_Key\n", "m-key", mismatches, PLURAL_S(mismatches),
		       PLURAL(mismatches, "has", "have"));
	printf(LABEL "%lld node%s, %lld of them switches; %lld of %lld linked ports active\n",
	       "fabric", num(s, "nodes"), PLURAL_S(num(s, "nodes")), num(s, "switches"),
	       num(s, "ports-active"), num(s, "ports-linked"));
}

static void status_sweeps(const json_t *s)
{
	long long devices = num(s, "failed-devices"), sets = num(s, "failed-sets");
	long long links = num(s, "unanswered-links"), values = num(s, "refused-values");

	printf(LABEL "%lld; the last one took %.3f s, %lld SMPs, %lld of them Sets; routing %s\n",
	       "sweeps", num(s, "sweeps"), real(s, "last-sweep-seconds"),
	       num(s, "last-sweep-smps"), num(s, "last-sweep-sets"),
	       has(s, "engine") ? str(s, "engine") : "none");
	if (has(s, "engine-choice"))
		printf(LABEL "%s\n", "", str(s, "engine-choice"));
	if (devices || sets)
		printf(LABEL "%lld device%s, %lld Set%s\n", "failed", devices, PLURAL_S(devices), sets,
		       PLURAL_S(sets));
	if (links)
		printf(LABEL "%lld link%s up, but %s not answer\n", "unanswered", links,
		       PLURAL(links, " is", "s are"), PLURAL(links, "its far end does", "their far ends do"));
	if (values)
		printf(LABEL "%lld value%s that devices do not accept\n", "refused", values, PLURAL_S(values));
}

static void status_smps(const json_t *smps)
{
	const char *attr;
	json_t *count;

	printf(LABEL "%lld sent, %lld by discovery, %lld Sets; %lld retries, %lld timeouts, "
	       "%lld with bad status\n", "SMPs", num(smps, "sent"), num(smps, "discovery"),
	       num(smps, "sets"), num(smps, "retries"), num(smps, "timeouts"),
	       num(smps, "bad-status"));
	json_object_foreach(json_object_get(smps, "by-attribute"), attr, count)
		printf(LABEL "%-28s %9lld Get %9lld Set\n", "", attr, num(count, "get"),
		       num(count, "set"));
}

/* Prints how many SMPs were lost, and how far windows have closed because of that. */
static void status_losses(const json_t *smps, const json_t *lossy)
{
	const json_t *window = json_object_get(smps, "window");

	if (!num(smps, "lost"))
		return;
	printf(LABEL "%lld SMPs; %lld of at most %lld may be outstanding", "lost",
	       num(smps, "lost"), num(window, "now"), num(window, "most"));
	if (has(window, "cut-to"))
		printf(", %lld after a loss", num(window, "cut-to"));
	printf("\n");
	for (size_t i = 0; i < json_array_size(lossy); i++) {
		const json_t *x = json_array_get(lossy, i);

		printf(LABEL "%lld to %s, window %lld\n", "", num(x, "lost"), str(x, "port"),
		       num(x, "window"));
	}
}

static void status_missing(const json_t *m)
{
	static const struct { const char *name, *one, *many; } kinds[] = {
		{ "switch", "switch", "switches" }, { "host", "host", "hosts" },
		{ "manager", "subnet manager", "subnet managers" },
		{ "link", "link between switches", "links between switches" },
		{ "host-link", "link of a host", "links of hosts" },
		{ "rate", "link slower than before", "links slower than before" },
	};
	const char *label = "missing";

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		long long n = num(m, kinds[i].name);

		if (!n)
			continue;
		printf(LABEL "%lld %s\n", label, n, PLURAL(n, kinds[i].one, kinds[i].many));
		label = "";
	}
}

static void status_topology(json_t *t)
{
	const char *kind;
	long long n = 0;
	json_t *count;

	if (!json_is_object(t))
		return;
	if (has(t, "file"))
		printf(LABEL "expected by %s", "topology", str(t, "file"));
	else
		printf(LABEL "accepted %s", "topology", str(t, "since"));
	put_user(t);
	json_object_foreach(json_object_get(t, "differences"), kind, count)
		n += json_integer_value(count);
	if (json_is_true(json_object_get(t, "compared")))
		printf("; %lld difference%s\n", n, PLURAL_S(n));
	else
		printf("; not compared with the fabric\n");
}

static void status_trees(const json_t *t)
{
	if (num(t, "trees"))
		printf(LABEL "%lld tree%s; the last sweep computed %lld and kept %lld\n", "multicast",
		       num(t, "trees"), PLURAL_S(num(t, "trees")), num(t, "last-sweep-made"),
		       num(t, "last-sweep-kept"));
}

static void status_sa(const json_t *sa)
{
	const char *name;
	json_t *count;

	printf(LABEL "%lld requests, %lld answered, %lld of them busy; %lld dropped\n", "SA",
	       num(sa, "requests"), num(sa, "answered"), num(sa, "busy"), num(sa, "dropped"));
	json_object_foreach(json_object_get(sa, "by-attribute"), name, count)
		printf(LABEL "%-28s %9lld\n", "", name, (long long)json_integer_value(count));
	json_object_foreach(json_object_get(sa, "errors"), name, count)
		printf(LABEL "status %-21s %9lld\n", "", name,
		       (long long)json_integer_value(count));
}

static void status_policy(const json_t *p)
{
	long long levels = num(p, "levels"), rules = num(p, "rules");
	long long entries = num(json_object_get(p, "dynamic"), "entries");
	long long members = num(json_object_get(p, "dynamic"), "members");

	put_policy(p);
	printf(LABEL "%lld level%s, %lld rule%s, checksum %s\n", "", levels, PLURAL_S(levels), rules,
	       PLURAL_S(rules), str(p, "checksum"));
	if (entries)
		printf(LABEL "%lld dynamic partition%s, with %lld member%s\n", "", entries, PLURAL_S(entries),
		       members, PLURAL_S(members));
	put_findings(json_object_get(p, "findings"), STATUS_FINDINGS, "             ", stdout);
	if (has(p, "rejected")) {
		printf(LABEL "the last file read was refused:\n", "");
		put_findings(json_object_get(p, "rejected"), STATUS_FINDINGS, "             ",
			     stdout);
	}
}

static void status_store(const json_t *store)
{
	const json_t *problems = json_object_get(store, "problems");

	for (size_t i = 0; i < json_array_size(problems); i++) {
		const json_t *p = json_array_get(problems, i);
		const char *file = str(p, "file");

		printf(LABEL "%s: %s, since %s\n", i == 0 ? "kept state" : "",
		       *file ? file : "the folder", str(p, "problem"), str(p, "since"));
	}
}

/* Pages that cannot be served. */
static void status_pages(const json_t *pages)
{
	const json_t *p;
	size_t i;

	json_array_foreach(pages, i, p)
		if (has(p, "problem"))
			printf(LABEL "%s: not listening since %s: %s\n", "page", str(p, "setting"), str(p, "since"),
			       str(p, "problem"));
}

static void status_log(const json_t *log)
{
	for (size_t i = 0; i < json_array_size(log); i++) {
		const json_t *line = json_array_get(log, i);

		printf(LABEL "%s %s: %s\n", i == 0 ? "log" : "", str(line, "time"),
		       str(line, "level"), str(line, "text"));
	}
}

static void print_status(const json_t *answer)
{
	const json_t *s = json_object_get(answer, "result");

	status_head(s);
	status_sweeps(s);
	status_smps(json_object_get(s, "smps"));
	status_losses(json_object_get(s, "smps"), json_object_get(s, "lossy-devices"));
	status_trees(json_object_get(s, "multicast-trees"));
	put_standbys(json_object_get(s, "standbys"));
	status_missing(json_object_get(s, "missing"));
	status_topology(json_object_get(s, "topology"));
	if (has(s, "sa"))
		status_sa(json_object_get(s, "sa"));
	if (has(s, "policy"))
		status_policy(json_object_get(s, "policy"));
	if (has(s, "state-folder"))
		status_store(json_object_get(s, "state-folder"));
	status_pages(json_object_get(s, "pages"));
	status_log(json_object_get(s, "log"));
}

/* --- nodes, ports --- */

static bool nodes_row(const json_t *n)
{
	char linked[32];

	snprintf(linked, sizeof(linked), "%lld/%lld", num(n, "ports-linked"), num(n, "ports"));
	printf("%-6s  %-18s  ", str(n, "type"), str(n, "guid"));
	put_num(n, "lid", 5);
	printf("  %6s  %4lld  %s\n", linked, num(n, "hops"), str(n, "description"));
	return true;
}

static bool ports_row(const json_t *p)
{
	put_word(str(p, "state"), 7);
	printf("  ");
	put_num(p, "lid", 5);
	printf("  %-8s  ", has(p, "link") ? str(p, "link") : "-");
	put_num(p, "mtu", 4);
	printf("  ");
	put_num(p, "vls", 3);
	printf("  %s", str(p, "name"));
	if (has(p, "peer"))
		printf(" -> %s", str(p, "peer"));
	printf("\n");
	return true;
}

/* --- route --- */

/* Prints a share of a link, and its bandwidth in Gb/s; "?" if unknown. */
static void put_share(const json_t *hop)
{
	if (has(hop, "share"))
		printf("%5.1f%%  %6.4g", real(hop, "share") * 100, real(hop, "gbps"));
	else
		printf("%6s  %6s", has(hop, "mtu") ? "?" : "-", has(hop, "mtu") ? "?" : "-");
}

static void put_model(const json_t *o, const char *key, int width)
{
	if (has(o, key))
		printf("%*.1f%%", width - 1, real(o, key) * 100);
	else
		printf("%*s", width, "-");
}

void put_models(const json_t *o)
{
	put_model(o, "share-iba", 6);
	printf("  ");
	put_model(o, "share-measured", 7);
	printf("%c", json_is_true(json_object_get(o, "models-differ")) ? '*' : ' ');
}

void put_numbers(const json_t *numbers)
{
	struct buf text = { 0 };
	unsigned bits = 0;

	for (size_t i = 0; i < json_array_size(numbers); i++)
		bits |= 1u << (json_integer_value(json_array_get(numbers, i)) & 31);
	buf_put_bits(&text, bits);
	printf("%s", text.s ? text.s : "");
	buf_free(&text);
}

void put_hops(const json_t *hops)
{
	bool differ = false;

	printf("%4s  %3s  %3s  %4s  %5s  %6s  %6s  " SHARES_TITLES "  %3s  %s\n", "HOP", "IN", "OUT",
	       "MTU", "RATE", "SHARE", "Gb/s", "VL", "NODE");
	for (size_t i = 0; i < json_array_size(hops); i++) {
		const json_t *h = json_array_get(hops, i);

		printf("%4zu  %3lld  %3lld  ", i, num(h, "in"), num(h, "out"));
		put_num(h, "mtu", 4);
		if (has(h, "rate"))
			printf("  %5g  ", real(h, "rate"));
		else
			printf("  %5s  ", "-");
		put_share(h);
		printf("  ");
		put_models(h);
		printf("  ");
		put_num(h, "vl", 3);
		printf("  %s (%s)\n", str(h, "node"), str(h, "guid"));
		differ = differ || json_is_true(json_object_get(h, "models-differ"));
	}
	if (differ)
		printf(MODELS_DIFFER);
}

void put_ends(const json_t *o)
{
	printf(LABEL "%s\n" LABEL "%s\n", "from", str(o, "source"), "to", str(o, "destination"));
}

static void print_route(const json_t *answer)
{
	const json_t *r = json_object_get(answer, "result");

	put_ends(r);
	printf(LABEL "%lld\n" LABEL "%lld\n\n", "LID", num(r, "dlid"), "SL", num(r, "sl"));
	put_hops(json_object_get(r, "hops"));
}

/* --- tables --- */

/* True if table b equals table a and is for the next in port. */
static bool continues(const json_t *a, const json_t *b)
{
	return num(b, "in") == num(a, "in") + 1 &&
	       json_equal(json_object_get(a, "vl"), json_object_get(b, "vl"));
}

/* Index of the last of the equal tables that begin at i. */
static size_t last_like(const json_t *tables, size_t i)
{
	size_t n = json_array_size(tables);

	while (i + 1 < n && continues(json_array_get(tables, i), json_array_get(tables, i + 1)))
		i++;
	return i;
}

/* Consecutive in ports with the same table share a line. */
static void put_maps(const json_t *tables)
{
	size_t n = json_array_size(tables);

	for (size_t i = 0, last; i < n; i = last + 1) {
		const json_t *first = json_array_get(tables, i), *vl;
		char in[32];
		size_t sl;

		last = last_like(tables, i);
		snprintf(in, sizeof(in), last == i ? "%lld" : "%lld-%lld", num(first, "in"),
			 num(json_array_get(tables, last), "in"));
		printf("%-9s", in);
		json_array_foreach(json_object_get(first, "vl"), sl, vl)
			printf(" %2lld", (long long)json_integer_value(vl));
		printf("\n");
	}
}

static bool put_unmanaged(const json_t *t)
{
	printf("%s", str(t, "port"));
	if (num(t, "vls"))
		printf(", %lld VLs", num(t, "vls"));
	printf("\n");
	if (json_is_true(json_object_get(t, "managed")))
		return false;
	printf("not written by qosd: the device keeps its own table\n");
	return true;
}

static void print_sl2vl(const json_t *answer)
{
	const json_t *t = json_object_get(answer, "result");

	if (put_unmanaged(t))
		return;
	printf("%-9s", "IN \\ SL");
	for (int sl = 0; sl < 16; sl++)
		printf(" %2d", sl);
	printf("\n");
	put_maps(json_object_get(t, "tables"));
}

static void put_arb(const char *label, const json_t *entries)
{
	printf(LABEL, label);
	for (size_t i = 0; i < json_array_size(entries); i++) {
		const json_t *e = json_array_get(entries, i);

		printf("%s%lld:%lld", i ? " " : "", num(e, "vl"), num(e, "weight"));
	}
	printf(json_array_size(entries) ? "\n" : "empty\n");
}

static void print_vlarb(const json_t *answer)
{
	const json_t *t = json_object_get(answer, "result");

	if (put_unmanaged(t))
		return;
	put_arb("high", json_object_get(t, "high"));
	put_arb("low", json_object_get(t, "low"));
	printf(LABEL "%lld\n", "high-limit", num(t, "high-limit"));
}

/* --- reload, sweep --- */

static void put_settings(const json_t *names, const char *title)
{
	if (!json_array_size(names))
		return;
	printf("%s: ", title);
	put_names(names);
	printf("\n");
}

static void print_reload(const json_t *answer)
{
	const json_t *result = json_object_get(answer, "result");

	put_accepted(result);
	printf("the policy was accepted\n");
	put_settings(json_object_get(result, "settings-applied"), "settings that are in force now");
	put_settings(json_object_get(result, "settings-need-restart"), "settings that need a restart");
	put_in_force_when(result);
}

static void put_step(const json_t *s)
{
	char took[32] = "";

	if (!json_is_null(json_object_get(s, "seconds")))
		snprintf(took, sizeof(took), "%.3f s", real(s, "seconds"));
	printf("%c %-12s %10s  %-10s  %s\n", json_is_true(json_object_get(s, "running")) ? '>' : ' ',
	       str(s, "step"), took, str(s, "phase"), str(s, "what"));
}

static void print_sweep_steps(const json_t *answer)
{
	const json_t *sweeps = json_object_get(json_object_get(answer, "result"), "sweeps");
	const json_t *sweep, *step;
	size_t i, k;

	json_array_foreach(sweeps, i, sweep) {
		printf("%s%s%s\n", i ? "\n" : "", str(sweep, "sweep"),
		       json_is_true(json_object_get(sweep, "running")) ? ": this one runs" :
		       json_is_true(json_object_get(sweep, "current")) ? ": the last one" : "");
		json_array_foreach(json_object_get(sweep, "steps"), k, step)
			put_step(step);
	}
}

static void print_links_release(const json_t *answer)
{
	const json_t *result = json_object_get(answer, "result");

	printf("links released: %lld\n", num(result, "released"));
}

/* With --count, the answer is a number without rows. */
static void print_titles(const json_t *answer, const char *titles)
{
	const json_t *result = json_object_get(answer, "result");

	if (has(result, "count"))
		printf("%lld\n", num(result, "count"));
	else
		puts(titles);
}

static void print_nodes(const json_t *answer)
{
	print_titles(answer, "TYPE    GUID                  LID  LINKED  HOPS  DESCRIPTION");
}

static void print_ports(const json_t *answer)
{
	print_titles(answer, "STATE      LID  LINK       MTU  VLS  PORT -> PEER");
}

const struct output text_status = { .head = print_status };
const struct output text_nodes = { .head = print_nodes, .row = nodes_row };
const struct output text_ports = { .head = print_ports, .row = ports_row };
const struct output text_route = { .head = print_route };
const struct output text_sl2vl = { .head = print_sl2vl };
const struct output text_vlarb = { .head = print_vlarb };
const struct output text_reload = { .head = print_reload };
const struct output text_sweep_steps = { .head = print_sweep_steps };
const struct output text_sweep = { .says = "sweep requested" };
const struct output text_links_release = { .head = print_links_release };
const struct output text_links_retrain = { .says = "the link is being retrained" };
const struct output text_priority = { .says = "priority set" };
