/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The composition root: opens what there is to open, connects the subnet
 * manager, the subnet administrator and the control socket, and runs the loop.
 *
 * sm/ and sa/ do not know each other: a new published state goes from the one
 * to the other here, and changes of multicast groups go back.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <systemd/sd-daemon.h>

#include <infiniband/umad_sa.h>
#include <infiniband/umad_types.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "ctl/ctl.h"
#include "ctl/prom.h"
#include "http/http.h"
#include "loop/loop.h"
#include "mad/mad.h"
#include "registry/alias.h"
#include "registry/mcast.h"
#include "registry/partitions.h"
#include "policies/policies.h"
#include "qosd/clients.h"
#include "qosd/life.h"
#include "qosd/qosd.h"
#include "sa/sa.h"
#include "sm/sm.h"
#include "store/store.h"

/* A SIGHUP: the file is read in a thread of its own. */
struct hup {
	struct work *work;	/* NULL: none is on its way */
	bool again;		/* one came meanwhile */
	struct findings found;
	struct shared_policy *policy;
};

struct qosd {
	const struct options *o;
	struct settings *settings;
	struct loop *loop;
	struct store *store;
	struct mad_port *mad;
	struct sm *sm;
	struct policies *policies;
	/*
	 * Two faces of one SA: `sa` in the loop's thread, `quick` in the receiver's
	 * for PathRecord Gets.  They share the state, the groups and the aliases,
	 * which only the loop's thread changes, under the lock; `quick` reads under it.
	 */
	struct sa sa, quick;
	struct buf quick_answer;
	pthread_mutex_t sa_lock;
	struct sa_stats *sa_stats;	/* the sum, when it is asked for */
	struct clients *clients;
	struct life *life;
	struct ctl *ctl;
	struct http *http;
	struct run_time *run_time;	/* partitions that were added */
	struct sig *hup, *term, *intr;
	struct hup reload;
	pthread_mutex_t reading;	/* of the policy file */
	uint64_t reads, applied;	/* the last one's number; that of the one in force */
	struct buf answer;
	int ready_fd;		/* where the process that started us waits, or -1 */
	int status;
};

/* --- the port's side --- */

/* An answer of the SA that is made while it is sent. */
#define TRY_STEPS 128		/* of search, at once */
#define READ_STEPS 512		/* in a turn */
struct answer {
	struct mad_source source;	/* first */
	struct sa_job *job;
};

static enum mad_read answer_read(struct mad_source *s, uint8_t data[200], size_t *n)
{
	static const enum mad_read as[] = {
		[SA_READ_MORE] = MAD_READ_MORE, [SA_READ_LAST] = MAD_READ_LAST,
		[SA_READ_LATER] = MAD_READ_LATER,
	};

	return as[sa_job_read(((struct answer *)s)->job, READ_STEPS, data, n)];
}

static bool answer_head(struct mad_source *s, uint8_t head[56])
{
	return sa_job_head(((const struct answer *)s)->job, head);
}

static void answer_release(struct mad_source *s)
{
	sa_job_free(((struct answer *)s)->job);
	free(s);
}

/* True: q->answer has what is to be sent at once. */
static bool answer_later(struct qosd *q, const struct mad_in *in, struct sa_job *job)
{
	struct answer *a;

	if (sa_job_try(job, TRY_STEPS, &q->answer)) {
		sa_job_free(job);
		return true;
	}
	a = xcalloc(1, sizeof(*a));
	a->source = (struct mad_source){
		.read = answer_read, .head = answer_head, .release = answer_release,
		.held = sa_job_held(job), .total = sa_job_total(job),
	};
	a->job = job;
	if (mad_stream(q->mad, in, &a->source))
		return false;
	sa_job_refuse(job, &q->answer);
	answer_release(&a->source);
	return true;
}

static void on_request(void *arg, const struct mad_in *in)
{
	struct qosd *q = arg;
	struct sa_request req = { .mad = in->mad, .len = in->len, .slid = in->slid,
				  .arrived_us = in->arrived_us };
	struct sa_job *job = NULL;
	bool send, writes;

	if (in->mgmt_class != UMAD_CLASS_SUBN_ADM) {
		if (q->sm)
			sm_receive(q->sm, in);
		if (q->clients)
			clients_smp(q->clients, in);
		return;
	}
	clients_request(in, &req);
	writes = in->len > 3 && (in->mad[3] == UMAD_METHOD_SET || in->mad[3] == UMAD_SA_METHOD_DELETE);
	if (writes)
		pthread_mutex_lock(&q->sa_lock);
	send = in->overload ? sa_answer_busy(&q->sa, &req, &q->answer) :
			      sa_begin(&q->sa, &req, &q->answer, &job) == SA_WHOLE;
	if (writes)
		pthread_mutex_unlock(&q->sa_lock);
	if (job)
		send = answer_later(q, in, job);
	if (send)
		mad_reply(q->mad, in, (const uint8_t *)q->answer.s, q->answer.n);
}

/* In the receiver's thread. */
static void on_quick_request(void *arg, struct mad_port *m, const struct mad_in *in)
{
	struct qosd *q = arg;
	struct sa_request req = { .mad = in->mad, .len = in->len, .slid = in->slid,
				  .arrived_us = in->arrived_us };
	bool send;

	pthread_mutex_lock(&q->sa_lock);
	send = in->overload ? sa_answer_busy(&q->quick, &req, &q->quick_answer) :
			      sa_answer(&q->quick, &req, &q->quick_answer);
	pthread_mutex_unlock(&q->sa_lock);
	if (send)
		mad_reply(m, in, (const uint8_t *)q->quick_answer.s, q->quick_answer.n);
}

static void on_published(void *arg, struct subnet_state *s)
{
	struct qosd *q = arg;
	struct subnet_state *old = q->sa.state;
	struct leavers leavers = { 0 };

	pthread_mutex_lock(&q->sa_lock);
	q->sa.state = q->quick.state = s ? state_ref(s) : NULL;
	if (s)
		mcast_sync(q->sa.mcast, s);
	pthread_mutex_unlock(&q->sa_lock);
	if (s)
		run_time_leavers(q->sa.mcast, s, &leavers);
	if (leavers.n) {
		pthread_mutex_lock(&q->sa_lock);
		run_time_leave(q->sa.mcast, &leavers);
		pthread_mutex_unlock(&q->sa_lock);
	}
	vec_free(&leavers);
	if (q->clients)
		clients_publish(q->clients, s);
	life_published(q->life, old, s, mad_counts(q->mad));
	state_unref(old);
}

static const struct sa_stats *sa_stats(void *arg)
{
	struct qosd *q = arg;
	int64_t now = clock_mono_us();

	pthread_mutex_lock(&q->sa_lock);
	sa_stats_turn(q->sa.stats, now);
	sa_stats_turn(q->quick.stats, now);
	*q->sa_stats = *q->sa.stats;
	sa_stats_add(q->sa_stats, q->quick.stats);
	pthread_mutex_unlock(&q->sa_lock);
	return q->sa_stats;
}

static void on_event(void *arg, const struct event *e)
{
	const struct qosd *q = arg;

	life_event(q->life, e);
}

/* --- what the SA asks the SM for --- */

static bool sa_sm_info(void *arg, uint32_t i, struct sa_sm_info *out)
{
	struct qosd *q = arg;
	struct sm_seen s;

	if (!sm_seen_at(q->sm, i, &s))
		return false;
	*out = (struct sa_sm_info){ s.guid, s.act_count, s.priority, (uint8_t)s.state };
	return true;
}

static uint32_t sa_mft_blocks(void *arg)
{
	struct qosd *q = arg;

	return sm_mft_blocks(q->sm);
}

static bool sa_mft_block(void *arg, uint64_t guid, unsigned block, unsigned position,
			 uint8_t entries[64])
{
	struct qosd *q = arg;

	return sm_mft_block(q->sm, guid, block, position, entries);
}

static void on_mcast_changed(void *arg)
{
	struct qosd *q = arg;

	sm_mcast_changed(q->sm);
}

static void on_alias_changed(void *arg, const struct alias_change *c)
{
	struct qosd *q = arg;

	sm_alias_changed(q->sm, c->port, c->place);
	clients_alias(q->clients, c);
}

/* --- the end of a sweep --- */

static void print_summary(const struct sm_status *s)
{
	printf("%s: %u nodes, %u switches, %u of %u ports active, %" PRIu64 " SMPs (%" PRIu64
	       " Sets) and %" PRIu64 " of discovery, %.3f s\n", sm_state_name(s->state), s->nodes,
	       s->switches, s->ports_active, s->ports_linked, s->last_smps, s->last_sets,
	       s->discovery_smps, s->last_sweep_seconds);
	if (s->failed_devices)
		printf("%u devices do not answer\n", s->failed_devices);
	if (s->sets_failed)
		printf("%u Sets were refused\n", s->sets_failed);
}

static void tell_starter(struct qosd *q)
{
	const char good = EXIT_OK;

	if (q->ready_fd < 0)
		return;
	if (write(q->ready_fd, &good, 1) != 1)
		log_debug("qosd", "nobody waits for the start to be over");
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
	sd_notify(0, text);
	tell_starter(q);
	if (q->o->once) {
		print_summary(&s);
		q->status = complete && s.state == SM_MASTER ? EXIT_OK : EXIT_FAILED;
		loop_stop(q->loop);
	}
}

static void on_fatal(void *arg, const char *why)
{
	struct qosd *q = arg;

	log_error("qosd", "%s", why);
	q->status = EXIT_FAILED;
	loop_stop(q->loop);
}

/* --- reload and end --- */

/* With what was added at run time; what of that is not in force is said. */
static struct shared_policy *effective_policy(const struct qosd *q, struct shared_policy *p)
{
	struct shared_policy *s = run_time_policy(q->run_time, p);

	for (size_t i = p->findings.n; i < s->findings.n; i++)
		log_warn("partitions", "%s", s->findings.v[i].text);
	return s;
}

static void apply_policy(void *arg, struct shared_policy *p)
{
	struct qosd *q = arg;
	struct shared_policy *effective = effective_policy(q, p);

	sm_set_policy(q->sm, effective);
	shared_policy_unref(effective);
}

static void policy_changed(void *arg, const struct policy_change *c)
{
	const struct qosd *q = arg;

	life_policy(q->life, c);
}

static const struct run_time *get_run_time(void *arg)
{
	struct qosd *q = arg;

	return q->run_time;
}

static bool save_run_time(struct qosd *q, const struct run_time *x)
{
	struct buf lines = { 0 };
	bool saved;

	run_time_print(x, &lines);
	saved = store_save_partitions(q->store, lines.n ? lines.s : "");
	buf_free(&lines);
	return saved;
}

static bool set_run_time(void *arg, struct run_time *x, int64_t uid, struct buf *err)
{
	struct qosd *q = arg;

	if (!save_run_time(q, x)) {
		buf_puts(err, "it can't be kept in the state folder");
		run_time_free(x);
		return false;
	}
	log_info("partitions", "changed by user %" PRId64 ": %zu entries, %zu members", uid, x->v.n,
		 x->n_members);
	run_time_free(q->run_time);
	q->run_time = x;
	life_partitions(q->life, x, uid);
	apply_policy(q, policies_in_force(q->policies));
	return true;
}

static void load_run_time(struct qosd *q)
{
	q->run_time = run_time_new();
	if (!store_load_partitions(q->store, run_time_line, q->run_time)) {
		run_time_free(q->run_time);	/* all of it or nothing */
		q->run_time = run_time_new();
	}
	q->run_time->change = q->run_time->v.n > 0;
}

/* In any thread.  Of several that read at a time, the last to begin is the one that counts. */
static struct shared_policy *reload_read(void *arg, struct findings *out)
{
	struct qosd *q = arg;
	struct shared_policy *p;

	pthread_mutex_lock(&q->reading);
	p = load_policy(q->o, out);
	if (p)
		p->nth_read = ++q->reads;
	pthread_mutex_unlock(&q->reading);
	return p;
}

static void reload_apply(void *arg, struct shared_policy *p, const struct findings *found,
			 int64_t uid)
{
	struct qosd *q = arg;
	struct findings copy = { 0 };

	findings_log(found, "policy");
	if (!p) {
		log_error("policy", "%s: refused; the policy in force stays", q->o->policy);
		policies_refused(q->policies, CHANGE_RELOAD, q->o->policy, uid,
				 found->count[SEV_ERROR]);
		findings_copy(&copy, found);
		sm_policy_rejected(q->sm, &copy);
		return;
	}
	if (p->nth_read < q->applied)
		return;		/* the file was read again since, and that is in force */
	q->applied = p->nth_read;
	p->uid = uid;
	policies_reload(q->policies, p);
}

static void hup_read(void *arg)
{
	struct qosd *q = arg;

	q->reload.policy = reload_read(q, &q->reload.found);
}

static void hup_end(struct hup *h)
{
	work_end(h->work);
	shared_policy_unref(h->policy);
	findings_free(&h->found);
	*h = (struct hup){ 0 };
}

static void on_hup(void *arg);

static void hup_done(void *arg)
{
	struct qosd *q = arg;
	bool again = q->reload.again;

	reload_apply(q, q->reload.policy, &q->reload.found, -1);
	hup_end(&q->reload);
	sd_notify(0, "READY=1");
	if (again)
		on_hup(q);
}

static void on_hup(void *arg)
{
	struct qosd *q = arg;

	if (q->reload.work) {
		q->reload.again = true;
		return;
	}
	sd_notify(0, "RELOADING=1");
	q->reload.work = work_start(q->loop, hup_read, hup_done, q);
	if (!q->reload.work) {
		log_error("policy", "not reloaded: %s", strerror(errno));
		sd_notify(0, "READY=1");
	}
}

static void on_term(void *arg)
{
	struct qosd *q = arg;

	log_info("qosd", "told to end");
	sd_notify(0, "STOPPING=1");
	loop_stop(q->loop);
}

static void request_sweep(void *arg)
{
	struct qosd *q = arg;

	sm_request_sweep(q->sm, "asked for");
}

static bool mft_next(void *arg, const struct subnet_state *s, uint32_t sw, uint32_t *cursor,
		     struct ctl_mft_row *row)
{
	struct qosd *q = arg;

	return sm_mft_next(q->sm, s, sw, cursor, &row->mlid, row->ports);
}

static bool mft_entry(void *arg, const struct subnet_state *s, uint32_t sw, uint16_t mlid,
		      uint64_t ports[4])
{
	struct qosd *q = arg;

	return sm_mft_entry(q->sm, s, sw, mlid, ports);
}

static void print_metrics(void *arg, struct buf *out)
{
	const struct qosd *q = arg;

	ctl_metrics(q->ctl, out);
}

/* Without them the subnet is managed nevertheless. */
static void open_metrics(struct qosd *q)
{
	struct http_page page = { .path = "/metrics", .type = PROM_TYPE, .make = print_metrics,
				  .arg = q };
	struct buf err = { 0 };

	q->http = http_new(q->loop, q->settings->metrics_listen, &page, &err);
	if (q->http)
		log_info("metrics", "to be had at %s, port %u", q->settings->metrics_listen,
			 http_port(q->http));
	else
		log_error("metrics", "not to be had: %s", err.s);
	buf_free(&err);
}

/* --- putting together --- */

static struct shared_policy *load_files(struct qosd *q)
{
	struct findings sf = { 0 }, pf = { 0 };
	struct shared_policy *sp;

	q->settings = load_settings(q->o, &sf);
	sp = load_policy(q->o, &pf);
	findings_log(&sf, "settings");
	findings_log(&pf, "policy");
	findings_free(&sf);
	findings_free(&pf);
	return sp;
}

static bool open_all(struct qosd *q, struct shared_policy *policy, struct buf *err)
{
	const struct settings *s = q->settings;
	struct mad_settings ms = {
		.port_guid = q->o->guid ? q->o->guid : s->port_guid,
		.smp_window = s->smp_window, .smp_window_device = s->smp_window_device,
		.timeout_ms = s->smp_timeout_ms, .retries = s->smp_retries,
		.sa_queue_max = s->sa_requests_max, .sa_queue_each = s->sa_requests_per_port,
		.sa_transfers_max = s->sa_transfers_max,
		.sa_transfers_each = s->sa_transfers_per_port,
	};
	struct mad_hooks mh = {
		.request = on_request, .is_at_once = sa_is_path_get,
		.at_once = on_quick_request, .dead = on_fatal, .arg = q,
	};
	struct sm_hooks hooks = {
		.published = on_published, .sweep_done = on_sweep_done, .event = on_event,
		.fatal = on_fatal, .arg = q,
	};
	struct policies_hooks ph = { .apply = apply_policy, .changed = policy_changed, .arg = q };
	struct clients_hooks ch = { .dropped = life_dropped };
	struct ctl_env env = {
		.version = QOSD_VERSION, .sa = &q->sa, .arg = q, .sa_stats = sa_stats,
		.reload_read = reload_read, .reload_apply = reload_apply, .sweep = request_sweep,
		.mft_next = mft_next, .mft_entry = mft_entry,
		.run_time = get_run_time, .run_time_set = set_run_time,
		.pkey_lo = s->pkey_lo, .pkey_hi = s->pkey_hi,
	};
	struct shared_policy *effective;
	bool lost;

	q->store = store_open(q->o->state_dir, err);
	if (!q->store)
		return false;
	q->loop = loop_new();
	if (!q->loop) {
		buf_puts(err, "no event loop");
		return false;
	}
	q->life = life_new(q->loop, s, !q->o->once);
	env.events = life_events(q->life);
	ch.arg = q->life;
	q->sa.sm_key = q->quick.sm_key = s->sm_key;
	/* not for `quick`: these are for the loop's thread */
	q->sa.sm = (struct sa_sm_hooks){ sa_sm_info, sa_mft_blocks, sa_mft_block, q };
	q->sa.mcast = q->quick.mcast = mcast_new(on_mcast_changed, q);
	q->sa.alias = q->quick.alias = alias_new();
	q->sa.stats = sa_stats_new();
	q->quick.stats = sa_stats_new();
	q->sa_stats = sa_stats_new();
	env.trace = q->sa.trace = q->quick.trace = sa_trace_new();
	q->mad = mad_open(q->loop, &ms, &mh, err);
	if (!q->mad)
		return false;
	log_info("qosd", "port 0x%016" PRIx64 " (%s port %d)", mad_info(q->mad)->guid,
		 mad_info(q->mad)->ca, mad_info(q->mad)->port);
	load_run_time(q);
	effective = effective_policy(q, policy);
	q->sm = sm_new(q->loop, q->mad, s, effective, q->store, &hooks);
	shared_policy_unref(effective);
	sm_set_mcast(q->sm, q->sa.mcast);
	sm_set_aliases(q->sm, q->sa.alias);
	q->clients = clients_new(q->loop, q->store, q->mad, &q->sa, &ch, &lost);
	alias_watch(q->sa.alias, on_alias_changed, q);
	if (lost)
		sm_registrations_lost(q->sm);
	q->policies = policies_new(q->loop, q->store, policy, &ph);
	env.policies = q->policies;
	env.sm = q->sm;
	env.mad = q->mad;
	env.store = q->store;
	q->ctl = ctl_new(q->loop, q->o->socket, &env, err);
	if (q->ctl && s->metrics_listen && !q->o->once)
		open_metrics(q);
	return q->ctl != NULL;
}

static void close_all(struct qosd *q)
{
	hup_end(&q->reload);
	http_free(q->http);
	ctl_free(q->ctl);
	policies_free(q->policies);
	sm_free(q->sm);
	clients_free(q->clients);
	mad_close(q->mad);	/* and with it the thread that reads what is freed now */
	state_unref(q->sa.state);
	mcast_free(q->sa.mcast);
	alias_free(q->sa.alias);
	life_free(q->life);
	sa_trace_free(q->sa.trace);
	sa_stats_free(q->sa.stats);
	sa_stats_free(q->quick.stats);
	sa_stats_free(q->sa_stats);
	run_time_free(q->run_time);
	sig_free(q->hup);
	sig_free(q->term);
	sig_free(q->intr);
	loop_free(q->loop);
	store_close(q->store);
	settings_free(q->settings);
	buf_free(&q->answer);
	buf_free(&q->quick_answer);
}

/*
 * Goes into the background.  The first process waits until the start is over
 * one way or the other, so that its exit status tells.  Returns in the second
 * one only, with the end of the pipe to report to.
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
	/* it stays in its folder: the files may be named relative to it */
	return fd[1];
}

/* From here on there is nobody to read the terminal. */
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

int daemon_run(const struct options *o)
{
	struct qosd q = { .o = o, .ready_fd = -1, .sa_lock = PTHREAD_MUTEX_INITIALIZER,
			  .reading = PTHREAD_MUTEX_INITIALIZER };
	struct shared_policy *policy;
	struct buf err = { 0 };

	if (o->verbose)
		log_set_level(LOG_LEVEL_DEBUG);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGHUP, SIG_IGN);	/* until there is somebody to reload */
	umask(027);
	policy = load_files(&q);
	if (!policy || !q.settings) {
		log_error("qosd", "not started: %s", policy ? o->config : o->policy);
		shared_policy_unref(policy);
		settings_free(q.settings);
		return EXIT_FAILED;
	}
	if (!o->verbose)
		log_set_level(q.settings->log_level);
	if (!o->foreground && !o->once)
		q.ready_fd = detach();
	if (open_all(&q, policy, &err)) {
		if (q.ready_fd >= 0)
			leave_terminal();
		q.hup = sig_new(q.loop, SIGHUP, on_hup, &q);
		q.term = sig_new(q.loop, SIGTERM, on_term, &q);
		q.intr = sig_new(q.loop, SIGINT, on_term, &q);
		sm_start(q.sm);
		loop_run(q.loop);
	} else {
		log_error("qosd", "not started: %s", err.s);
		q.status = EXIT_FAILED;
	}
	shared_policy_unref(policy);
	close_all(&q);
	buf_free(&err);
	return q.status;
}
