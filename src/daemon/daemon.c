/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Opens and connects the parts of the daemon, runs the loop, and closes everything.
 *
 * sm/ and sa/ do not know each other: calls from one to the other go through this file and
 * sa_service.c.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/conf.h"
#include "daemon/daemon.h"
#include "daemon/systemd_notify.h"
#include "lib/base/alloc.h"
#include "lib/base/bounded.h"
#include "lib/base/log.h"
#include "lib/base/sandbox.h"
#include "sa/registry/alias.h"

/* Called by the registry when a client sets or deletes an alias. */
static void on_alias_changed(void *arg, const struct alias_change *c)
{
	struct qosd *q = arg;

	sm_alias_changed(q->sm, c->port, c->place);
	clients_alias(q->clients, c);
}

/* --- the end of a sweep --- */

static void print_summary(const struct sm_status *s)
{
	struct buf congestion = { 0 };

	printf("%s: %u nodes, %u switches, %u of %u ports active, %" PRIu64 " SMPs (%" PRIu64
	       " Sets) and %" PRIu64 " of discovery, %.3f s\n", sm_state_name(s->state), s->nodes,
	       s->switches, s->ports_active, s->ports_linked, s->last_smps, s->last_sets,
	       s->discovery_smps, s->last_sweep_seconds);
	if (s->failed_devices)
		printf("%u device%s not answer\n", s->failed_devices,
		       s->failed_devices == 1 ? " does" : "s do");
	if (s->sets_failed)
		printf("%u Set%s refused\n", s->sets_failed, s->sets_failed == 1 ? " was" : "s were");
	if (s->tables_replaced)
		printf("SL2VL or arbitration tables of another subnet manager dropped SL 0 on %u device%s "
		       "and were replaced\n", s->tables_replaced, s->tables_replaced == 1 ? "" : "s");
	if (s->adaptive_ended)
		printf("adaptive routing of another subnet manager was switched off at %u switch%s\n",
		       s->adaptive_ended, s->adaptive_ended == 1 ? "" : "es");
	if (s->adaptive_stays)
		printf("adaptive routing of another subnet manager stays on at %u switch%s\n",
		       s->adaptive_stays, s->adaptive_stays == 1 ? "" : "es");
	if (s->private_ended)
		printf("private linear tables of another subnet manager were switched off at %u switch%s\n",
		       s->private_ended, s->private_ended == 1 ? "" : "es");
	if (s->private_stays)
		printf("private linear tables of another subnet manager stay on at %u switch%s\n",
		       s->private_stays, s->private_stays == 1 ? "" : "es");
	if (sm_congestion_text(&s->congestion, &congestion))
		printf("%s\n", congestion.s);
	buf_free(&congestion);
}

/*
 * With --once, the summary waits for the devices' answers about congestion control, as long as
 * answers arrive.  Real devices answer within a millisecond.
 */
#define ONCE_TICK_US	10000
#define ONCE_TICKS	100	/* at most, in all */
#define ONCE_SILENT	10	/* at most, in a row without an answer */

static void end_once(void *arg)
{
	struct qosd *q = arg;
	struct sm_status s;

	sm_get_status(q->sm, &s);
	if (s.congestion.reading && q->once.ticks++ < ONCE_TICKS) {
		q->once.silent = s.congestion.answers == q->once.answers ? q->once.silent + 1 : 0;
		q->once.answers = s.congestion.answers;
		if (q->once.silent < ONCE_SILENT) {
			timer_set(q->once.timer, ONCE_TICK_US, 0);
			return;
		}
	}
	print_summary(&s);
	loop_stop(q->loop);
}

/* Tells the process that started the daemon its exit status. */
static void tell_starter(struct qosd *q, int status)
{
	const char byte = (char)status;

	if (q->ready_fd < 0)
		return;
	if (write(q->ready_fd, &byte, 1) != 1)
		log_debug("qosd", "no process waits for the end of the start");
	close(q->ready_fd);
	q->ready_fd = -1;
}

static void on_sweep_done(void *arg, bool complete)
{
	struct qosd *q = arg;
	struct sm_status s;
	char text[256];

	sm_get_status(q->sm, &s);
	snprintf(text, sizeof(text), "READY=1\nSTATUS=%s; %u of %u ports active",
		 sm_state_name(s.state), s.ports_active, s.ports_linked);
	notify(text);
	tell_starter(q, EXIT_OK);
	if (q->o->once) {
		q->status = complete && s.state == SM_MASTER ? EXIT_OK : EXIT_FAILED;
		timer_set(q->once.timer, 0, 0);
	}
}

static void on_master_alive(void *arg)
{
	struct qosd *q = arg;

	replica_ask(&q->replica);
}

static void on_fatal(void *arg, const char *why)
{
	struct qosd *q = arg;

	log_error("qosd", "%s", why);
	q->status = EXIT_FAILED;
	loop_stop(q->loop);
}

/* --- reporting events --- */

static void on_event(void *arg, const struct event *e)
{
	const struct qosd *q = arg;

	operator_events_add(q->operator_events, e);
}

static void policy_changed(void *arg, const struct policy_change *c)
{
	const struct qosd *q = arg;

	operator_events_policy(q->operator_events, c);
}

/* --- signals and commands --- */

static void on_term(void *arg)
{
	struct qosd *q = arg;

	log_info("qosd", "ending on request");
	notify("STOPPING=1");
	loop_stop(q->loop);
}

/* Runs each second.  It reports one flood at most, so that many floods do not fill the log. */
static void check(void *arg)
{
	struct qosd *q = arg;

	store_check(q->store);
	notify_again();
	notify_alive();
	reload_check(q);
	policy_watch_check(q);
	http_pages_check(q->pages);
	if (q->missing)
		missing_state_check(q->missing);
	if (q->mad)
		operator_events_flood(q->operator_events, q->mad, q->sa.state);
}

/* --- opening and closing --- */

/*
 * The absolute path of the policy file, for processes with another working directory; NULL: no
 * file is read.
 */
static char *policy_path(const struct qosd *q)
{
	char *here, *path;

	if (q->settings->no_policy)
		return NULL;
	if (*q->o->policy == '/')
		return xstrdup(q->o->policy);
	here = getcwd(NULL, 0);
	path = here ? xasprintf("%s/%s", here, q->o->policy) : xstrdup(q->o->policy);
	free(here);
	return path;
}

static struct shared_policy *load_files(struct qosd *q)
{
	struct findings sf = { 0 }, pf = { 0 };
	struct shared_policy *sp;

	q->settings = load_settings(q->o, &q->settings_reload.from_file, &sf);
	sp = load_first_policy(q->o, q->settings, &pf);
	findings_log(&sf, "settings");
	findings_free(&sf);
	if (pf.count[SEV_ERROR])
		findings_move(&q->refused_at_start, &pf);
	findings_free(&pf);
	return sp;
}

/*
 * Called in the sandbox: a look-up that is given up leaves a thread behind, which must have no
 * capability.
 */
static bool find_groups(const struct qosd *q)
{
	struct findings f = { 0 };
	bool found = conf_find_groups(q->settings, &f);

	findings_log(&f, "settings");
	findings_free(&f);
	return found;
}

struct error_settings error_watch_settings(const struct settings *s)
{
	struct error_settings set = { .interval_us = s->errors_interval_s * INT64_C(1000000), .reset = s->errors_reset,
				      .timeout_ms = s->smp_timeout_ms };

	memcpy(set.limits, s->error_limits, sizeof(set.limits));
	return set;
}

/* Gives the SM the names of nodes that the settings name a file for. */
static void name_nodes(struct qosd *q)
{
	struct findings found = { 0 };
	struct name_map *names;

	load_names(q->settings, &names, &found);
	findings_log(&found, "settings");
	findings_free(&found);
	sm_set_names(q->sm, names);
}

static bool route_to(void *arg, const struct fabric *f, uint32_t node, unsigned num, struct smp *s)
{
	const struct qosd *q = arg;

	return sm_route(q->sm, f, node, num, s);
}

/* --- start: each of these needs what the ones before it made --- */

static bool open_store_and_loop(struct qosd *q, struct buf *err)
{
	bool newer = false;

	q->store = store_open(q->o->state_dir, &newer, err);
	if (newer)
		q->status = EXIT_NEWER_STATE;
	if (!q->store)
		return false;
	q->loop = loop_new();
	if (!q->loop)
		buf_puts(err, "cannot create an event loop");
	return q->loop != NULL;
}

static void open_events(struct qosd *q)
{
	q->operator_events = operator_events_new(q->loop, q->settings, !q->o->once);
	if (!q->o->once)
		operator_events_keep(q->operator_events, q->settings);
	q->check = timer_new(q->loop, check, q);
	timer_set(q->check, STORE_CHECK_US, STORE_CHECK_US);
	q->once.timer = timer_new(q->loop, end_once, q);
}

static bool open_port(struct qosd *q, struct buf *err)
{
	const struct settings *s = q->settings;
	const struct mad_settings ms = {
		.port_guid = q->o->guid ? q->o->guid : s->port_guid,
		.smp_window = s->smp_window, .smp_window_device = s->smp_window_device,
		.timeout_ms = s->smp_timeout_ms, .retries = s->smp_retries,
		.sa_queue_max = s->sa_requests_max, .sa_queue_each = s->sa_requests_per_port,
		.sa_transfers_max = s->sa_transfers_max,
		.sa_transfers_each = s->sa_transfers_per_port,
		.sa_receives_max = s->sa_long_requests_max,
		.sa_receives_each = s->sa_long_requests_per_port,
		.closed_soon = q->o->once,
	};
	const struct mad_hooks mh = {
		.request = serve_request, .is_at_once = sa_is_path_get,
		.at_once = serve_quick_request, .holds = serve_holds, .holder = departed_holder,
		.may_hold = departed_may_hold, .has_more = departed_has_more, .dead = on_fatal, .arg = q,
	};

	serve_init(q);
	q->mad = mad_open(q->loop, &ms, &mh, err);
	if (!q->mad)
		return false;
	log_info("qosd", "port 0x%016" PRIx64 " (%s port %d)", mad_info(q->mad)->guid,
		 mad_info(q->mad)->ca, mad_info(q->mad)->port);
	return true;
}

/* What reads devices' counters and modules, and what rules make of it. */
static void open_watches(struct qosd *q)
{
	const struct settings *s = q->settings;
	const struct perf_hooks perf_hooks = { .event = on_event, .arg = q };
	const struct optics_hooks optics_hooks = { .route = route_to, .event = on_event, .arg = q };
	const struct error_settings errors = error_watch_settings(s);

	q->perf = perf_new(q->loop, q->mad, s->counters_interval_s, s->counters_reset,
			   s->smp_timeout_ms, &perf_hooks);
	q->errors = error_watch_new(q->loop, q->mad, &errors, &perf_hooks);
	q->optics = optics_watch_new(q->loop, q->mad, s->optics_interval_s * INT64_C(1000000), &optics_hooks);
	q->isolation_rules = isolation_rules_new(q);
}

static void open_sm(struct qosd *q, struct shared_policy *policy)
{
	const struct sm_hooks hooks = {
		.published = serve_published, .settled = serve_settled, .coming = serve_coming,
		.sweep_done = on_sweep_done, .event = on_event,
		.fatal = on_fatal, .master_alive = on_master_alive, .has_ours = replication_has_ours,
		.arg = q,
	};
	struct shared_policy *effective;

	load_dynamic(q);
	effective = effective_policy(q, policy);
	q->sm = sm_new(q->loop, q->mad, q->settings, effective, q->store, &hooks);
	shared_policy_unref(effective);
	name_nodes(q);
	load_withdrawals(q);
	sm_set_mcast(q->sm, q->sa.mcast);
	sm_set_aliases(q->sm, q->sa.alias);
}

/* What outlives the daemon: clients' registrations, what was in the subnet, and policies. */
static void open_records(struct qosd *q, struct shared_policy *policy)
{
	const struct policies_rules rules = { q->settings->no_policy, q->settings->policy_marker };
	struct policies_hooks ph = { .apply = apply_policy, .changed = policy_changed, .arg = q };
	struct clients_hooks ch = { .dropped = operator_events_dropped, .arg = q->operator_events };
	bool lost;

	q->clients = clients_new(q->loop, q->store, q->mad, &q->sa, &ch, &lost);
	/* aliases and groups are separate files, so remove memberships of aliases that were lost */
	mcast_check_aliases(q->sa.mcast, q->sa.alias);
	alias_watch(q->sa.alias, on_alias_changed, q);
	q->departed = departed_new(q);
	q->missing = missing_state_new(q);
	q->topology = expected_topology_new(q);
	if (lost)
		sm_registrations_lost(q->sm);
	replica_init(q);
	q->policies = policies_new(q->loop, q->store, policy, &rules, &ph);
	if (q->refused_at_start.count[SEV_ERROR]) {
		policies_refused(q->policies, CHANGE_START, q->o->policy, (struct asker){ .uid = -1 },
				 q->refused_at_start.count[SEV_ERROR]);
		sm_policy_rejected(q->sm, &q->refused_at_start);
	}
}

static bool open_control(struct qosd *q, struct buf *err)
{
	const struct settings *s = q->settings;
	struct ctl_env env = {
		.version = QOSD_VERSION, .sa = &q->sa, .arg = q, .sa_stats = serve_stats,
		.policy_path = q->policy_path,
		.policy_peer = replication_policy_peer, .policy_on_disk = reload_on_disk,
		.settings_reloaded = settings_reloaded, .listening = http_pages_at,
		.reload_read = reload_read, .reload_apply = reload_apply,
		.request_sweep = sm_request_sweep, .set_priority = sm_set_priority,
		.release_links = sm_release_links, .retrain_link = sm_retrain_link,
		.holdings_remove = departed_remove_port, .group_remove = departed_remove_group,
		.event = on_event,
		.missing_forget = missing_state_forget, .topology_accept = expected_topology_accept,
		.mft_next = sm_mft_next, .mft_entry = sm_mft_entry, .mft_trees = sm_mft_trees,
		.withdrawals = get_withdrawals, .isolated_until = isolated_until,
		.withdrawals_set = set_withdrawals,
		.dynamic = get_dynamic, .dynamic_set = set_dynamic,
		.dynamic_await = standbys_await, .dynamic_forget = standbys_forget,
		.pkey_lo = s->pkey_lo, .pkey_hi = s->pkey_hi,
		.read_group = s->ctl_read_group, .admin_group = s->ctl_admin_group,
		.gateway_group = s->ctl_gateway_group,
		.events = operator_events_ring(q->operator_events),
		.outages = operator_events_outages(q->operator_events),
		.history = operator_events_history(q->operator_events), .trace = q->sa.trace,
		.missing = missing_state_table(q->missing),
		.topology = expected_topology_shown(q->topology),
		.policies = q->policies, .sm = q->sm, .mad = q->mad, .perf = q->perf,
		.errors = q->errors, .optics = q->optics, .store = q->store,
	};

	q->pages = http_pages_new(q);
	q->ctl = ctl_new(q->loop, q->o->socket, &env, err);
	if (q->ctl && !q->o->once) {
		serve_metrics_page(q);
		serve_report_page(q);
	}
	return q->ctl != NULL;
}

static bool open_all(struct qosd *q, struct shared_policy *policy, struct buf *err)
{
	log_begin();
	if (!open_store_and_loop(q, err))
		return false;
	open_events(q);
	if (!open_port(q, err))
		return false;
	open_watches(q);
	open_sm(q, policy);
	open_records(q, policy);
	return open_control(q, err);
}

static void close_all(struct qosd *q)
{
	bounded_cancel();	/* ends waits for a file that hangs, which might last for ever */
	reload_end(q);
	policy_watch_end(q);
	http_pages_free(q->pages);
	q->pages = NULL;
	ctl_free(q->ctl);
	isolation_rules_free(q->isolation_rules);
	policies_free(q->policies);
	sm_free(q->sm);
	expected_topology_free(q->topology);
	missing_state_free(q->missing);
	departed_free(q->departed);
	clients_free(q->clients);
	perf_free(q->perf);
	error_watch_free(q->errors);
	optics_watch_free(q->optics);
	mad_close(q->mad);	/* also ends the thread that reads what is freed below */
	serve_free(q);
	operator_events_free(q->operator_events);
	replica_free(&q->replica);
	dynamic_free(q->dynamic);
	withdrawals_free(q->withdrawals);
	timer_free(q->check);
	timer_free(q->once.timer);
	sig_free(q->hup);
	sig_free(q->term);
	sig_free(q->intr);
	loop_free(q->loop);
	store_close(q->store);
	settings_reload_free(q);
	settings_free(q->settings);
	findings_free(&q->refused_at_start);
	free(q->policy_path);
}

/*
 * Goes into the background.  The first process waits until the start has succeeded or failed,
 * and exits with that status.  Returns in the second process only, with the end of the pipe to
 * report to.
 */
static int detach(void)
{
	int fd[2];
	char status = EXIT_FAILED;
	pid_t pid;

	if (pipe(fd) < 0)
		return -1;
	pid = fork();
	if (pid < 0)
		return -1;
	if (pid) {
		close(fd[1]);
		if (read(fd[0], &status, 1) != 1)
			status = EXIT_FAILED;
		_exit(status);
	}
	close(fd[0]);
	setsid();
	/* the working directory stays, because file names may be relative to it */
	return fd[1];
}

/* Detaches from the terminal; the log goes to syslog from here on. */
static void leave_terminal(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	log_to_syslog("qosd");
	if (null < 0)
		return;
	for (int fd = 0; fd <= 2; fd++)
		dup2(null, fd);
	close(null);
}

/*
 * Enters the sandbox.  Must be called with a single thread, before anything outside is opened.  A
 * daemon that cannot enter it manages the subnet nevertheless; false if the settings require
 * the sandbox.
 */
static bool lock_up(const struct settings *s)
{
	struct buf err = { 0 };
	bool locked = true;

	if (s->sandbox == SANDBOX_OFF) {
		log_info("sandbox", "off, as set in qosd.yaml");
		return true;
	}
	/* the event command runs as the daemon's user and must not see the daemon's keys */
	locked = sandbox_drop_privileges(&err) && sandbox_daemon(&err) &&
		 (!s->event_command || sandbox_hide_memory(&err));
	if (locked)
		log_info("sandbox", "no capabilities; system calls are %sfiltered",
			 sandbox_filters() ? "" : "not ");
	else
		log_warn("sandbox", "%s", err.s);
	buf_free(&err);
	return locked || s->sandbox != SANDBOX_STRICT;
}

#define LOG_END_US	300000	/* for writing the last lines of the log */

int daemon_run(const struct options *o)
{
	struct qosd q = { .o = o, .ready_fd = -1, .sa_lock = PRILOCK_INITIALIZER,
			  .reading = PTHREAD_MUTEX_INITIALIZER };
	struct shared_policy *policy;
	struct buf err = { 0 };

	if (o->verbose)
		log_set_level(LOG_LEVEL_DEBUG);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);	/* a file that gets too large is an ordinary error */
	signal(SIGHUP, SIG_IGN);	/* until there is a handler */
	umask(027);
	q.status = EXIT_FAILED;
	/*
	 * before a second thread exists, such as one that waits for a file or a group: fork()
	 * would not copy it
	 */
	if (!o->foreground && !o->once)
		q.ready_fd = detach();
	policy = load_files(&q);
	if (!policy || !q.settings) {
		log_error("qosd", "not started: %s", policy ? o->config : o->policy);
		shared_policy_unref(policy);
		settings_free(q.settings);
		findings_free(&q.refused_at_start);
		tell_starter(&q, EXIT_FAILED);
		return EXIT_FAILED;
	}
	q.policy_path = policy_path(&q);
	if (!o->verbose)
		log_set_level(q.settings->log_level);
	if (!lock_up(q.settings)) {
		log_error("qosd", "not started: 'sandbox' is strict, and the sandbox is not available");
	} else if (!find_groups(&q)) {
		log_error("qosd", "not started: %s", o->config);
	} else if (open_all(&q, policy, &err)) {
		q.status = EXIT_OK;
		if (q.ready_fd >= 0)
			leave_terminal();
		q.hup = sig_new(q.loop, SIGHUP, reload_on_hup, &q);
		q.term = sig_new(q.loop, SIGTERM, on_term, &q);
		q.intr = sig_new(q.loop, SIGINT, on_term, &q);
		sm_start(q.sm);
		loop_run(q.loop);
	} else {
		log_error("qosd", "not started: %s", err.s);
	}
	shared_policy_unref(policy);
	close_all(&q);
	log_end(LOG_END_US);
	/* last, because whoever waits may start another daemon on the same state folder and port */
	tell_starter(&q, q.status);
	buf_free(&err);
	return q.status;
}
