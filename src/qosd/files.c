/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The two files and their defaults: a file that is missing at its default place
 * means the built-in values, one that was named must be there.
 */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "conf/conf.h"
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

int check_files(const struct options *o)
{
	struct findings f = { 0 };
	struct settings *s = load_settings(o, &f);
	struct shared_policy *p = load_policy(o, &f);
	bool good = s && p && !f.count[SEV_ERROR];

	print_findings(&f);
	if (p && o->verbose) {
		struct buf text = { 0 };

		conf_print_policy(p->p, &text);
		fputs(text.s ? text.s : "", stdout);
		buf_free(&text);
	}
	findings_free(&f);
	settings_free(s);
	shared_policy_unref(p);
	return good ? EXIT_OK : EXIT_FAILED;
}
