/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Opening and closing the umad port: choice of the port, the three agents, the
 * issm device, and answers to requests.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <infiniband/umad_sa.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/log.h"
#include "ib/ib.h"
#include "mad/port.h"
#include "mad/rmpp.h"

#define CAS_MAX 32
#define GSI_QKEY 0x80010000u
#define UMAD_STATE_INIT 2

/* Whether port p is (the first candidate for) the one that is wanted. */
static bool port_wanted(const umad_port_t *p, uint64_t guid)
{
	if (p->link_layer[0] && strcmp(p->link_layer, "InfiniBand") &&
	    strcmp(p->link_layer, "IB"))
		return false;
	if (guid)
		return be64toh(p->port_guid) == guid;
	return p->state >= UMAD_STATE_INIT;
}

static bool find_in_ca(const char *name, uint64_t guid, struct mad_port_info *info)
{
	umad_ca_t ca;
	bool found = false;

	if (umad_get_ca(name, &ca) < 0)
		return false;
	for (int i = 0; i < UMAD_CA_MAX_PORTS && !found; i++) {
		const umad_port_t *p = ca.ports[i];

		if (!p || !port_wanted(p, guid))
			continue;
		snprintf(info->ca, sizeof(info->ca), "%s", ca.ca_name);
		info->port = p->portnum;
		info->guid = be64toh(p->port_guid);
		info->lid = (uint16_t)p->base_lid;
		info->sm_lid = (uint16_t)p->sm_lid;
		found = true;
	}
	umad_release_ca(&ca);
	return found;
}

static bool find_port(uint64_t guid, struct mad_port_info *info, struct buf *err)
{
	char names[CAS_MAX][UMAD_CA_NAME_LEN];
	int n = umad_get_cas_names(names, CAS_MAX);

	for (int i = 0; i < n; i++)
		if (find_in_ca(names[i], guid, info))
			return true;
	if (n <= 0)
		buf_puts(err, "no InfiniBand device (is the ib_umad module loaded?)");
	else if (guid)
		buf_printf(err, "no InfiniBand port with GUID 0x%016llx", (unsigned long long)guid);
	else
		buf_puts(err, "no InfiniBand port is connected");
	return false;
}

static void mask_set(long *mask, unsigned method)
{
	const unsigned bits = 8 * sizeof(long);
	mask[method / bits] |= (long)(1UL << (method % bits));
}

static int register_agent(struct mad_port *m, int mgmt_class, int version, uint8_t rmpp,
			  const uint8_t *methods, size_t n, struct buf *err)
{
	long mask[16 / sizeof(long)] = { 0 };
	int agent;

	for (size_t i = 0; i < n; i++)
		mask_set(mask, methods[i]);
	agent = umad_register(m->fd, mgmt_class, version, rmpp, mask);
	if (agent < 0)
		buf_printf(err, "%s port %d: cannot register for management class 0x%02x: "
			   "does another subnet manager run on this port?",
			   m->info.ca, m->info.port, mgmt_class);
	return agent;
}

#define METHODS 128	/* of requests */

/*
 * All that wants an answer, what the class does not have, too: whom no agent wants to
 * hear the kernel drops, and IBA has a status for that (13.4.7).  Reports are
 * left to those who subscribe on this node, of whom the kernel has room for one.
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

	/* both SMI classes before anything else: traps may come at once */
	m->agent_smi = register_agent(m, UMAD_CLASS_SUBN_LID_ROUTED, 1, 0, smi, sizeof(smi), err);
	if (m->agent_smi < 0)
		return false;
	m->agent_dr = register_agent(m, UMAD_CLASS_SUBN_DIRECTED_ROUTE, 1, 0, dr, sizeof(dr), err);
	if (m->agent_dr < 0)
		return false;
	/* RMPP version 0: it is ours to do (transfer.c), so that no answer is built whole */
	m->agent_sa = register_agent(m, UMAD_CLASS_SUBN_ADM, UMAD_SA_CLASS_VERSION, 0,
				     sa, n_sa, err);
	if (m->agent_sa < 0)
		return false;
	/* no methods: answers to what we ask of others' agents, and nothing else */
	m->agent_perf = register_agent(m, UMAD_CLASS_PERF_MGMT, 1, 0, NULL, 0, err);
	return m->agent_perf >= 0;
}

struct mad_port *mad_open(struct loop *l, const struct mad_settings *s,
			  const struct mad_hooks *hooks, struct buf *err)
{
	struct mad_port *m = xcalloc(1, sizeof(*m));

	m->loop = l;
	pthread_mutex_init(&m->lock, NULL);
	pthread_mutex_init(&m->engine, NULL);
	m->hooks = *hooks;
	m->fd = m->issm_fd = -1;
	m->agent_smi = m->agent_dr = m->agent_sa = m->agent_perf = -1;
	m->sa_queue_max = s->sa_queue_max;
	m->sa_queue_each = s->sa_queue_each;
	if (umad_init() < 0) {
		buf_puts(err, "cannot use libibumad");
		goto fail;
	}
	if (!find_port(s->port_guid, &m->info, err))
		goto fail;
	m->fd = umad_open_port(m->info.ca, m->info.port);
	if (m->fd < 0) {
		buf_printf(err, "%s port %d: cannot open: %s (may user %u read and write its "
			   "/dev/infiniband/umad*?)", m->info.ca, m->info.port, strerror(-m->fd),
			   (unsigned)geteuid());
		goto fail;
	}
	if (!register_agents(m, err))
		goto fail;
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
	if (m->agent_perf >= 0)
		umad_unregister(m->fd, m->agent_perf);
	if (m->agent_sa >= 0)
		umad_unregister(m->fd, m->agent_sa);
	if (m->agent_dr >= 0)
		umad_unregister(m->fd, m->agent_dr);
	if (m->agent_smi >= 0)
		umad_unregister(m->fd, m->agent_smi);
	if (m->fd >= 0)
		umad_close_port(m->fd);
	free(m);
}

const struct mad_port_info *mad_info(const struct mad_port *m)
{
	return &m->info;
}

const struct mad_counts *mad_counts(struct mad_port *m)
{
	pthread_mutex_lock(&m->engine);
	m->shown = m->counts;
	pthread_mutex_unlock(&m->engine);
	m->shown.sa_received = atomic_load(&m->sa_received);
	m->shown.sa_sent = atomic_load(&m->sa_sent);
	m->shown.send_errors += atomic_load(&m->send_errors);
	m->shown.rmpp_streams = m->rmpp.streams;
	m->shown.rmpp_segments = m->rmpp.segments;
	m->shown.rmpp_repeated = m->rmpp.repeated;
	m->shown.rmpp_aborted = m->rmpp.aborted;
	m->shown.rmpp_refused = m->rmpp.refused;
	return &m->shown;
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
		buf_printf(err, "%s is held: another subnet manager runs on this port", path);
	else
		buf_printf(err, "%s: %s", path, strerror(errno));
	return false;
}

bool port_send(struct mad_port *m, uint32_t agent, const ib_mad_addr_t *addr, const uint8_t *mad,
	       size_t len, unsigned timeout_ms)
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
	if (umad_send(m->fd, (int)agent, &u, (int)len, (int)timeout_ms, 0) >= 0)
		return true;
	atomic_fetch_add_explicit(&m->send_errors, 1, memory_order_relaxed);
	return false;
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
	if (!port_send(m, from->agent_id, &from->addr, whole, MAD_SIZE, 0))
		return false;
	if (sa)
		atomic_fetch_add_explicit(&m->sa_sent, 1, memory_order_relaxed);
	return true;
}
