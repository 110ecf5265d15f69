/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Requests on the control socket (libFuzzer's interface): a line, and the file that may
 * follow it.  The first byte's lowest bit says whether the client may change something.
 */
#include <stdlib.h>
#include <string.h>

#include "ctl/command.h"
#include "fuzz.h"
#include "lib/base/alloc.h"
#include "lib/base/log.h"
#include "store/store.h"
#include "subnet.h"

enum { ROWS_MAX = 10000 };

static struct loop *loop;
static struct dynamic_partitions *dynamic;

static struct shared_policy *reload_read(void *arg, struct settings *live, struct findings *out)
{
	(void)live;
	(void)arg;
	findings_add(out, SEV_ERROR, "policy", (struct src_pos){ 1, 1 }, "there is none");
	return NULL;
}

static bool reload_apply(void *arg, struct shared_policy *p, struct findings *found, struct asker who)
{
	(void)arg;
	(void)found;
	(void)who;
	return p != NULL;
}

static void apply(void *arg, struct shared_policy *p)
{
	(void)arg;
	(void)p;
}

static void sweep(struct sm *sm, const char *reason)
{
	(void)sm;
	(void)reason;
}

static const struct dynamic_partitions *get_dynamic(void *arg)
{
	(void)arg;
	return dynamic;
}

static bool set_dynamic(void *arg, struct dynamic_partitions *x, struct asker who, struct buf *err)
{
	(void)arg;
	(void)who;
	(void)err;
	dynamic_free(dynamic);
	dynamic = x;
	return true;
}

static void on_ready(void *arg)
{
	loop_stop(arg);
}

static void answer(const struct ctl_env *env, const struct ctl_view *view, const char *line,
		   size_t n)
{
	struct buf out = { 0 };
	struct reply r;

	command_start(env, view, line, n, &r);
	if (r.stage == REPLY_WAITING) {
		r.ready = on_ready;
		r.ready_arg = loop;
		loop_run(loop);
	}
	for (unsigned i = 0; i < ROWS_MAX && reply_pull(&r, &out); i++)
		if (!out.n || out.s[out.n - 1] != '\n')
			abort();
	reply_free(&r);
	buf_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sa sa = { .state = subnet_state() };
	struct policies_hooks hooks = { .apply = apply };
	struct ctl_env env = {
		.version = "0", .sa = &sa, .reload_read = reload_read,
		.reload_apply = reload_apply, .request_sweep = sweep, .dynamic = get_dynamic,
		.dynamic_set = set_dynamic, .pkey_lo = 1, .pkey_hi = 9,
	};
	struct buf file = { 0 }, err = { 0 };
	struct follower *tracers = NULL;
	struct ctl_view view = { .state = sa.state, .peer.who.uid = 1, .tracers = &tracers };
	struct store *store = store_open(NULL, NULL, &err);
	struct reply refusal;
	const char *line, *nl;
	size_t n, bytes;

	if (!size)
		goto out;
	if (!loop) {
		json_set_alloc_funcs(xmalloc, free);
		log_set_level(LOG_LEVEL_ERROR);
		loop = loop_new();
	}
	view.peer.right = data[0] & 1 ? CTL_ADMIN : data[0] & 2 ? CTL_NOTHING : CTL_READ;
	line = (const char *)data + 1;
	nl = memchr(line, '\n', size - 1);
	n = nl ? (size_t)(nl - line) : size - 1;
	if (nl)
		buf_add(&file, nl + 1, size - 2 - n);
	subnet_register(&sa);
	dynamic = dynamic_new();
	env.trace = sa.trace = sa_trace_new();
	env.policies = policies_new(loop, store, sa.state->policy,
				&(struct policies_rules){ 0 }, &hooks);
	view.jobs = jobs_new(loop);
	view.gauges = gauges_new(loop);
	view.sm.policy = sa.state->policy;
	switch (command_body(&env, &view.peer, line, n, &bytes, &refusal)) {
	case BODY_REFUSED:
		reply_free(&refusal);
		break;
	case BODY_FOLLOWS:
		view.file = &file;
		/* fall through */
	case BODY_NONE:
		answer(&env, &view, line, n);
	}
	jobs_free(view.jobs);
	gauges_free(view.gauges);
	policies_free(env.policies);
	sa_trace_free(sa.trace);
	dynamic_free(dynamic);
	subnet_forget(&sa);
out:
	buf_free(&file);
	store_close(store);
	return 0;
}
