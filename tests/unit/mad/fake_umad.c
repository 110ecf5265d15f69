/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Implements fake_umad.h: the functions of libibumad that mad/ uses. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fake_umad.h"
#include "lib/base/alloc.h"

void (*fake_on_send)(const struct ib_user_mad *umad, const struct umad_smp *smp, int len);
uint64_t fake_sa_methods[2];
int fake_agents, fake_refuse_class = -1, fake_open_error;
const char *fake_issm;
atomic_bool fake_gone;
uint16_t fake_lid;
uint32_t fake_qpn;

struct queued {
	struct queued *next;
	int len;
	struct ib_user_mad umad;
	uint8_t mad[];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t arrived = PTHREAD_COND_INITIALIZER;
static struct queued *first, **last = &first;

void fake_receive(const void *mad, int len, uint32_t status, uint32_t agent)
{
	struct queued *q = xcalloc(1, sizeof(*q) + (size_t)len);

	q->len = len;
	q->umad.status = status;
	q->umad.agent_id = agent;
	q->umad.addr.lid = htobe16(fake_lid);
	q->umad.addr.qpn = htobe32(fake_qpn);
	memcpy(q->mad, mad, (size_t)len);
	pthread_mutex_lock(&lock);
	*last = q;
	last = &q->next;
	pthread_cond_signal(&arrived);
	pthread_mutex_unlock(&lock);
}

void fake_answer(const struct umad_smp *smp, uint16_t status, const uint8_t *data)
{
	struct umad_smp a = *smp;

	a.method = UMAD_METHOD_GET_RESP;
	a.status = htobe16((uint16_t)(status | 0x8000));
	/* the kernel owns the upper half of the TID */
	a.tid = htobe64(be64toh(a.tid) | 0x1234567800000000ull);
	if (data)
		memcpy(a.data, data, sizeof(a.data));
	fake_receive(&a, sizeof(a), 0, 1);
}

void fake_timeout(const struct umad_smp *smp)
{
	fake_receive(smp, 24, ETIMEDOUT, 1);
}

#define WAIT_MS 10

int umad_recv(int fd, void *umad, int *length, int timeout_ms)
{
	struct timespec until;
	struct queued *q;
	int r = -EAGAIN;

	(void)fd;
	if (fake_gone)
		return -EIO;
	/* a signal, which ends a real wait, does not end the wait for a condition variable */
	if (timeout_ms > WAIT_MS)
		timeout_ms = WAIT_MS;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += timeout_ms * 1000000l;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_mutex_lock(&lock);
	while (!first && timeout_ms && r != -ETIMEDOUT)
		if (pthread_cond_timedwait(&arrived, &lock, &until) == ETIMEDOUT)
			r = -ETIMEDOUT;
	q = first;
	if (q && q->len > *length) {
		*length = q->len;
		r = -ENOSPC;
	} else if (q) {
		first = q->next;
		if (!first)
			last = &first;
		*length = q->len;
		memcpy(umad, &q->umad, sizeof(q->umad));
		memcpy((uint8_t *)umad + sizeof(q->umad), q->mad, (size_t)q->len);
		r = (int)q->umad.agent_id;
		free(q);
	}
	pthread_mutex_unlock(&lock);
	return r;
}

int umad_send(int fd, int agent, void *umad, int length, int timeout_ms, int retries)
{
	struct ib_user_mad *u = umad;

	(void)fd;
	u->agent_id = (uint32_t)agent;
	u->timeout_ms = (uint32_t)timeout_ms;
	u->retries = (uint32_t)retries;
	if (fake_on_send)
		fake_on_send(u, umad_get_mad(u), length);
	return 0;
}

int umad_init(void) { return 0; }
void *umad_get_mad(void *umad) { return (uint8_t *)umad + sizeof(struct ib_user_mad); }
size_t umad_size(void) { return sizeof(struct ib_user_mad); }

struct umad_device_node *umad_get_ca_device_list(void)
{
	struct umad_device_node *d = xcalloc(1, sizeof(*d));

	d->ca_name = "fake0";
	return d;
}

void umad_free_ca_device_list(struct umad_device_node *head)
{
	free(head);
}

int umad_get_ca(const char *name, umad_ca_t *ca)
{
	memset(ca, 0, sizeof(*ca));
	strcpy(ca->ca_name, name);
	for (int i = 1; i <= 2; i++) {
		ca->ports[i] = xcalloc(1, sizeof(umad_port_t));
		ca->ports[i]->portnum = i;
		ca->ports[i]->state = i == 1 ? 1 : 4;
		ca->ports[i]->port_guid = htobe64(0x500 + (unsigned)i);
		ca->ports[i]->base_lid = 7;
	}
	return 0;
}

int umad_release_ca(umad_ca_t *ca)
{
	for (int i = 0; i < UMAD_CA_MAX_PORTS; i++)
		free(ca->ports[i]);
	return 0;
}

int umad_open_port(const char *name, int port)
{
	(void)name;
	(void)port;
	return fake_open_error ? fake_open_error : 3;
}

int umad_close_port(int fd)
{
	(void)fd;
	return 0;
}

int umad_register(int fd, int mgmt_class, int version, uint8_t rmpp,
		  long mask[16 / sizeof(long)])
{
	(void)fd;
	(void)version;
	(void)rmpp;
	if (mgmt_class == 3)
		memcpy(fake_sa_methods, mask, sizeof(fake_sa_methods));
	if (mgmt_class == fake_refuse_class)
		return -EPERM;
	return ++fake_agents;
}

int umad_unregister(int fd, int agent)
{
	(void)fd;
	(void)agent;
	fake_agents--;
	return 0;
}

int umad_get_issm_path(const char *name, int port, char path[], int max)
{
	(void)name;
	(void)port;
	snprintf(path, (size_t)max, "%s", fake_issm ? fake_issm : "/dev/null");
	return 0;
}
