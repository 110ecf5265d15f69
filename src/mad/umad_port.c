/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Opens and closes the port: its agents, the issm device, and sending of answers. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <infiniband/umad_sa.h>

#include "lib/base/alloc.h"
#include "lib/base/bytes.h"
#include "lib/base/log.h"
#include "mad/choose_port.h"
#include "mad/rmpp/rmpp.h"
#include "mad/umad_port.h"

#define GSI_QKEY 0x80010000u

static void mask_set(long *mask, unsigned method)
{
	const unsigned bits = 8 * sizeof(long);
	mask[method / bits] |= (long)(1UL << (method % bits));
}

static bool is_of_smi(enum port_file file)
{
	return file == FILE_SMP_ANSWERS || file == FILE_SMPS;
}

static const struct {
	uint8_t mgmt_class, version;
	enum port_file file;
} agents[PORT_AGENTS] = {
	[AGENT_SMI]    = { UMAD_CLASS_SUBN_LID_ROUTED, 1, FILE_SMPS },
	[AGENT_ASK_DR] = { UMAD_CLASS_SUBN_DIRECTED_ROUTE, 1, FILE_SMP_ANSWERS },
	[AGENT_DR]     = { UMAD_CLASS_SUBN_DIRECTED_ROUTE, 1, FILE_SMPS },
	[AGENT_ASK_SA] = { UMAD_CLASS_SUBN_ADM, UMAD_SA_CLASS_VERSION, FILE_GMP_ANSWERS },
	[AGENT_SA]     = { UMAD_CLASS_SUBN_ADM, UMAD_SA_CLASS_VERSION, FILE_GMPS },
	[AGENT_PERF]   = { UMAD_CLASS_PERF_MGMT, 1, FILE_GMP_ANSWERS },
	[AGENT_CC]     = { CLASS_CONGESTION, 2, FILE_GMP_ANSWERS },
};

/*
 * Registers an agent that receives requests of these methods; without any, the agent only sends
 * requests and receives their answers.
 */
static bool register_agent(struct mad_port *m, enum port_agent a, const uint8_t *methods, size_t n,
			   struct buf *err)
{
	bool smi = is_of_smi(agents[a].file);
	long mask[16 / sizeof(long)] = { 0 };

	for (size_t i = 0; i < n; i++)
		mask_set(mask, methods[i]);
	errno = 0;
	/* RMPP version 0: mad/rmpp/ does RMPP, so that no answer is built as a whole */
	m->agent[a] = umad_register(m->file[agents[a].file], agents[a].mgmt_class,
				    agents[a].version, 0, mask);
	if (m->agent[a] >= 0)
		return true;
	m->no_qp = errno == EPROTONOSUPPORT;
	buf_printf(err, "%s port %d: cannot register for management class 0x%02x: %s",
		   smi ? m->info.ca : m->info.gsi_ca, smi ? m->info.port : m->info.gsi_port,
		   agents[a].mgmt_class, m->no_qp ? "the port does not have the class's queue pair"
					: "does another subnet manager run on this port?");
	return false;
}

#define METHODS 128	/* number of request methods */

/*
 * All methods that require an answer, even those that the class does not define: the kernel drops a
 * request that no agent registered for, but IBA has a status for it (13.4.7).  Reports are left to
 * subscribers on this node, since the kernel has room for only one.
 */
static size_t sa_methods(uint8_t methods[METHODS])
{
	size_t n = 0;

	for (uint8_t method = 0; method < METHODS; method++)
		if (method != UMAD_METHOD_SEND && method != UMAD_METHOD_TRAP &&
		    method != UMAD_METHOD_TRAP_REPRESS && method != UMAD_METHOD_REPORT)
			methods[n++] = method;
	return n;
}

static bool register_agents(struct mad_port *m, struct buf *err)
{
	static const uint8_t smi[] = { UMAD_METHOD_GET, UMAD_METHOD_SET, UMAD_METHOD_TRAP };
	static const uint8_t dr[] = { UMAD_METHOD_GET, UMAD_METHOD_SET };
	uint8_t sa[METHODS];
	size_t n_sa = sa_methods(sa);

	/*
	 * The SMI classes go first: traps may come at once.  Of two agents of a class, umad2sim
	 * delivers everything to the later one, so the agent that serves must come last.
	 */
	return register_agent(m, AGENT_SMI, smi, sizeof(smi), err) &&
	       register_agent(m, AGENT_ASK_DR, NULL, 0, err) &&
	       register_agent(m, AGENT_DR, dr, sizeof(dr), err) &&
	       register_agent(m, AGENT_ASK_SA, NULL, 0, err) &&
	       register_agent(m, AGENT_SA, sa, n_sa, err) &&
	       register_agent(m, AGENT_PERF, NULL, 0, err);
}

/* Congestion control is optional: a failure here is only logged. */
static void register_congestion(struct mad_port *m)
{
	struct buf why = { 0 };

	if (!register_agent(m, AGENT_CC, NULL, 0, &why))
		log_info("mad", "%s: congestion control is not checked", why.s);
	buf_free(&why);
}

/*
 * Says why a umad port could not be opened. libibumad returns -EIO whatever the kernel's error was,
 * so this checks the device file itself: umadN, next to the issmN whose path the library returns.
 */
static void say_cannot_open(const char *ca, int port, int error, struct buf *err)
{
	char path[256], *name;

	buf_printf(err, "%s port %d: cannot open: ", ca, port);
	if (umad_get_issm_path(ca, port, path, sizeof(path)) < 0 ||
	    !(name = strrchr(path, '/')) || strncmp(name, "/issm", 5)) {
		buf_puts(err, strerror(error));
		return;
	}
	memcpy(name, "/umad", 5);
	/* check with the effective rights, as open() does */
	if (faccessat(AT_FDCWD, path, R_OK | W_OK, AT_EACCESS) == 0)
		buf_printf(err, "%s: %s", path, strerror(error));
	else if (errno == EACCES || errno == EPERM)
		buf_printf(err, "%s: permission denied: user %u must be able to read and write it and "
			   "the issm device beside it (by a udev rule or by the device's group)",
			   path, (unsigned)geteuid());
	else
		buf_printf(err, "%s: %s", path, strerror(errno));
}

static int open_device(const char *ca, int port, struct buf *err)
{
	int fd = umad_open_port(ca, port);

	if (fd < 0)
		say_cannot_open(ca, port, -fd, err);
	return fd;
}

static bool has_two_devices(const struct mad_port_info *i)
{
	return strcmp(i->ca, i->gsi_ca) != 0 || i->port != i->gsi_port;
}

/* The first file that refers to the same umad port. */
static unsigned first_like(const struct mad_port *m, unsigned file)
{
	unsigned i = 0;

	while (m->file[i] != m->file[file])
		i++;
	return i;
}

bool port_file_is_own(const struct mad_port *m, unsigned file)
{
	return m->file[file] >= 0 && first_like(m, file) == file;
}

static void forget_devices(struct mad_port *m)
{
	for (unsigned i = 0; i < PORT_FILES; i++)
		m->file[i] = -1;
	for (unsigned i = 0; i < PORT_AGENTS; i++)
		m->agent[i] = -1;
}

static void close_devices(struct mad_port *m)
{
	for (unsigned i = PORT_AGENTS; i-- > 0;)
		if (m->agent[i] >= 0)
			umad_unregister(m->file[agents[i].file], m->agent[i]);
	for (unsigned i = PORT_FILES; i-- > 0;)
		if (port_file_is_own(m, i))
			umad_close_port(m->file[i]);
	forget_devices(m);
}

/*
 * Opens the port a second time, for answers alone; if that fails, answers share a file with
 * requests.
 */
static int open_again(const char *ca, int port, int file)
{
	struct buf why = { 0 };
	int again = open_device(ca, port, &why);

	if (again < 0) {
		log_info("mad", "%s: answers share a queue with requests", why.s);
		again = file;
	}
	buf_free(&why);
	return again;
}

static bool open_devices(struct mad_port *m, struct buf *err)
{
	const struct mad_port_info *i = &m->info;

	m->no_qp = false;
	m->file[FILE_SMPS] = open_device(i->ca, i->port, err);
	if (m->file[FILE_SMPS] < 0)
		return false;
	m->file[FILE_GMPS] = has_two_devices(i) ? open_device(i->gsi_ca, i->gsi_port, err) :
						  open_again(i->ca, i->port, m->file[FILE_SMPS]);
	if (m->file[FILE_GMPS] < 0)
		return false;
	m->file[FILE_SMP_ANSWERS] = open_again(i->ca, i->port, m->file[FILE_SMPS]);
	m->file[FILE_GMP_ANSWERS] = open_again(i->gsi_ca, i->gsi_port, m->file[FILE_GMPS]);
	if (!register_agents(m, err))
		return false;
	register_congestion(m);
	return true;
}

/* Opens the first port that can be managed.  Only here may the kernel reveal that a port has no SMI. */
static bool open_first(struct mad_port *m, uint64_t guid, struct buf *err)
{
	struct seen_ports ports = { 0 };
	struct buf why = { 0 }, no_qp = { 0 };
	struct seen_port *s;
	bool ok = false;

	ports_list(&ports);
	while (!ok && (s = port_choose(&ports, guid, &why))) {
		port_pair(&ports, s, &m->info);
		ok = open_devices(m, &why);
		if (ok)
			break;
		close_devices(m);
		s->passed_over = true;
		if (!m->no_qp)
			break;
		log_info("port", "%s port %d is skipped: %s", s->ca, s->num, why.s);
		buf_free(&no_qp);
		no_qp = why;
		why = (struct buf){ 0 };
	}
	if (!ok)
		buf_puts(err, no_qp.n ? no_qp.s : why.s);
	buf_free(&why);
	buf_free(&no_qp);
	vec_free(&ports.v);
	return ok;
}

struct mad_port *mad_open(struct loop *l, const struct mad_settings *s,
			  const struct mad_hooks *hooks, struct buf *err)
{
	struct mad_port *m = xcalloc(1, sizeof(*m));

	m->loop = l;
	pthread_mutex_init(&m->engine, NULL);
	m->hooks = *hooks;
	m->issm_fd = -1;
	forget_devices(m);
	m->sa_queue_max = s->sa_queue_max;
	m->sa_queue_each = s->sa_queue_each;
	m->closed_soon = s->closed_soon;
	if (umad_init() < 0) {
		buf_puts(err, "cannot use libibumad");
		goto fail;
	}
	if (!open_first(m, s->port_guid, err))
		goto fail;
	if (has_two_devices(&m->info))
		log_info("port", "general services of %s port %d are served at %s port %d",
			 m->info.ca, m->info.port, m->info.gsi_ca, m->info.gsi_port);
	m->intake = intake_new(s->sa_queue_max, s->sa_queue_each);
	m->txns = txn_table_new(m, s);
	m->sa = sa_side_new(m, s);
	m->requests = request_table_new(m);
	if (!rx_start(m, err))
		goto fail;
	return m;
fail:
	mad_close(m);
	return NULL;
}

void mad_close(struct mad_port *m)
{
	if (!m)
		return;
	mad_set_issm(m, false, NULL);
	rx_stop(m);
	sa_side_free(m->sa);
	txn_table_free(m->txns);
	request_table_free(m->requests);
	intake_free(m->intake);
	close_devices(m);
	free(m);
}

const struct mad_port_info *mad_info(const struct mad_port *m)
{
	return &m->info;
}

uint64_t mad_smps_arrived(struct mad_port *m)
{
	return atomic_load_explicit(&m->smps, memory_order_relaxed);
}

const struct mad_counts *mad_counts(struct mad_port *m)
{
	pthread_mutex_lock(&m->engine);
	m->shown = m->counts;
	txn_counts(m->txns, &m->shown);
	pthread_mutex_unlock(&m->engine);
	m->shown.sa_received = atomic_load(&m->sa_received);
	m->shown.sa_sent = atomic_load(&m->sa_sent);
	m->shown.send_errors += atomic_load(&m->send_errors);
	m->shown.traps = atomic_load(&m->traps);
	m->shown.unknown = atomic_load(&m->unknown);
	m->shown.malformed += atomic_load(&m->malformed);
	m->shown.unasked = atomic_load(&m->unasked);
	m->shown.dropped_smps = atomic_load(&m->dropped[INTAKE_SMP]);
	m->shown.dropped_rmpp = atomic_load(&m->dropped[INTAKE_RMPP]);
	m->shown.dropped_requests = atomic_load(&m->dropped[INTAKE_REQUEST]);
	m->shown.rmpp_streams = m->rmpp.streams;
	m->shown.rmpp_segments = m->rmpp.segments;
	m->shown.rmpp_repeated = m->rmpp.repeated;
	m->shown.rmpp_aborted = m->rmpp.aborted;
	m->shown.rmpp_refused = m->rmpp.refused;
	return &m->shown;
}

const char *mad_kind_name(enum mad_kind k)
{
	static const char *const names[MAD_KINDS] = {
		[MAD_KIND_TRAP] = "traps", [MAD_KIND_SMINFO_GET] = "SMInfo questions",
		[MAD_KIND_SMINFO_SET] = "SMInfo controls", [MAD_KIND_SMP] = "SMPs",
		[MAD_KIND_SA] = "SA requests beyond the queue's limit",
		[MAD_KIND_RMPP] = "RMPP segments beyond the queue's limit",
		[MAD_KIND_ANSWER] = "answers without a request",
		[MAD_KIND_UNKNOWN] = "MADs of classes or methods that are not served",
	};

	return names[k];
}

void mad_hold(struct mad_port *m)
{
	pthread_mutex_lock(&m->engine);
}

void mad_release(struct mad_port *m)
{
	pthread_mutex_unlock(&m->engine);
}

bool mad_set_issm(struct mad_port *m, bool on, struct buf *err)
{
	char path[256];

	if (!on) {
		if (m->issm_fd >= 0)
			close(m->issm_fd);
		m->issm_fd = -1;
		return true;
	}
	if (m->issm_fd >= 0)
		return true;
	if (umad_get_issm_path(m->info.ca, m->info.port, path, sizeof(path)) < 0) {
		buf_printf(err, "%s port %d: has no issm device", m->info.ca, m->info.port);
		return false;
	}
	m->issm_fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (m->issm_fd >= 0)
		return true;
	if (errno == EAGAIN)
		buf_printf(err, "%s is in use: another subnet manager runs on this port", path);
	else if (errno == EACCES || errno == EPERM)
		buf_printf(err, "%s: permission denied: user %u must be able to read and write it (by "
			   "a udev rule or by the device's group)", path, (unsigned)geteuid());
	else
		buf_printf(err, "%s: %s", path, strerror(errno));
	return false;
}

bool port_send(struct mad_port *m, enum port_file file, uint32_t agent, const ib_mad_addr_t *addr,
	       const uint8_t *mad, size_t len, unsigned timeout_ms)
{
	union {
		struct ib_user_mad umad;
		uint8_t raw[sizeof(struct ib_user_mad) + MAD_SIZE];
	} u;
	uint8_t *to = umad_get_mad(&u);

	memset(&u, 0, umad_size());
	u.umad.addr = *addr;
	u.umad.addr.qkey = addr->qpn ? htobe32(GSI_QKEY) : 0;
	memcpy(to, mad, len);
	memset(to + len, 0, MAD_SIZE - len);
	if (umad_send(m->file[file], (int)agent, &u, (int)len, (int)timeout_ms, 0) >= 0)
		return true;
	atomic_fetch_add_explicit(&m->send_errors, 1, memory_order_relaxed);
	return false;
}

struct mad_in *mad_in_copy(const struct mad_in *in)
{
	struct { struct mad_in in; struct ib_user_mad from; uint8_t mad[]; } *c;

	c = xmalloc(sizeof(*c) + in->len);
	c->in = *in;
	c->from = *(const struct ib_user_mad *)in->umad;
	memcpy(c->mad, in->mad, in->len);
	c->in.umad = &c->from;
	c->in.mad = c->mad;
	return &c->in;
}

bool mad_reply(struct mad_port *m, const struct mad_in *in, const uint8_t *mad, size_t len)
{
	const struct ib_user_mad *from = in->umad;
	bool sa = in->mgmt_class == UMAD_CLASS_SUBN_ADM;
	uint8_t whole[MAD_SIZE] = { 0 };

	if (len > MAD_SIZE)
		return false;
	memcpy(whole, mad, len);
	if (sa && rmpp_is_active(whole)) {
		sa_side_reply(m->sa, from, whole);
		return true;
	}
	if (!port_send(m, sa ? FILE_GMPS : FILE_SMPS, from->agent_id, &from->addr, whole, MAD_SIZE, 0))
		return false;
	if (sa)
		atomic_fetch_add_explicit(&m->sa_sent, 1, memory_order_relaxed);
	return true;
}
