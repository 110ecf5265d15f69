/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Builds the simulated world from topology, profiles, devices, hosts and script. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/findings.h"
#include "program.h"
#include "sim/ctl/ctl.h"
#include "sim/dev/device.h"
#include "sim/hca/hca.h"
#include "sim/host/host.h"
#include "sim/topo/topo.h"

static void say(const struct buf *text)
{
	if (text->n)
		fprintf(stderr, "%s%s", text->s, text->s[text->n - 1] == '\n' ? "" : "\n");
}

#define FILE_MAX (64u << 20)	/* bytes of a profile file or script */

static bool read_file(const char *path, struct buf *out)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool ok = fd >= 0 && buf_read(out, fd, FILE_MAX);

	if (!ok)
		fprintf(stderr, "qosd-sim: %s: %s\n", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return ok;
}

static void say_findings(const struct findings *found)
{
	struct buf text = { 0 };

	for (size_t i = 0; i < found->n; i++) {
		findings_format(&found->v[i], &text);
		buf_puts(&text, "\n");
	}
	say(&text);
	buf_free(&text);
}

static struct sim_fabric *load_topology(const struct options *o)
{
	struct sim_fabric *f = simfab_new();
	struct findings found = { 0 };
	struct buf err = { 0 };
	bool ok = topo_is_generated(o->topology) ? topo_generate(o->topology, f, &err)
						 : topo_load(o->topology, o->ibnl, f, &found);

	say_findings(&found);
	say(&err);
	findings_free(&found);
	buf_free(&err);
	if (ok)
		return f;
	simfab_free(f);
	return NULL;
}

static bool apply_profiles(const struct options *o, struct sim_fabric *f)
{
	struct findings found = { 0 };
	struct profile_set *ps = NULL;
	struct buf text = { 0 };
	bool ok;

	if (!o->profiles || read_file(o->profiles, &text)) {
		ps = profiles_load(o->profiles, text.s, text.n, &found);
		findings_sort(&found);
		say_findings(&found);
	}
	ok = ps && (!o->preset || profiles_set_default(ps, o->preset));
	if (ps && !ok)
		fprintf(stderr, "qosd-sim: there is no preset %s; --help lists them\n", o->preset);
	if (ok)
		profiles_apply(ps, f);
	profiles_free(ps);
	findings_free(&found);
	buf_free(&text);
	return ok;
}

static bool load_script(const struct options *o, struct script **script)
{
	struct buf text = { 0 }, err = { 0 };

	*script = NULL;
	if (!o->script)
		return true;
	if (read_file(o->script, &text))
		*script = script_parse(o->script, text.s, text.n, &err);
	say(&err);
	buf_free(&text);
	buf_free(&err);
	return *script != NULL;
}

bool world_start(struct world *w, const struct options *o)
{
	struct sim_fabric *f = load_topology(o);

	*w = (struct world){ 0 };
	if (!f || !apply_profiles(o, f) || !load_script(o, &w->script)) {
		simfab_free(f);
		return false;
	}
	w->sim = sim_new(f, o->seed);
	w->sim->hooks = (struct sim_hooks){
		.arrive = devices_receive, .host = hosts_receive, .bad_pkey = device_bad_pkey,
		.bad_qkey = device_bad_qkey, .activate = device_activate,
		.set_issm = device_set_issm, .falsify = device_falsify, .driver = hca_receive,
	};
	devices_start(w->sim, o->keep_lids);
	hosts_start(w->sim);
	hcas_start(w->sim);
	if (w->script)
		script_start(w->script, w->sim);
	return true;
}

void world_stop(struct world *w)
{
	hcas_stop(w->sim);
	hosts_stop(w->sim);
	devices_stop(w->sim);
	sim_free(w->sim);
	script_free(w->script);
}
