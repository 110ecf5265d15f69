/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Manages files (open umad devices, each of one client at one end port) and the issm device. */
#include <errno.h>
#include <stdlib.h>

#include "sim/host/parts.h"

#define MS_US 1000

void hosts_start(struct sim *s)
{
	struct hosts *hs = xcalloc(1, sizeof(*hs));

	hs->s = s;
	hs->ports = xcalloc(s->f->n_ports, sizeof(struct host_port *));
	link_init(&hs->files);
	table_init(&hs->sends);
	table_init(&hs->receives);
	s->hosts = hs;
}

static void port_free(struct host_port *hp)
{
	if (!hp)
		return;
	vec_free(&hp->methods);
	free(hp);
}

void hosts_stop(struct sim *s)
{
	struct hosts *hs = hosts_of(s);

	if (!hs)
		return;
	while (!link_alone(&hs->files))
		host_close(container_of(hs->files.next, struct host_file, link));
	while (hs->spare) {
		struct txn *t = container_of(hs->spare, struct txn, node);

		hs->spare = hs->spare->next;
		free(t);
	}
	for (uint32_t i = 0; i < s->f->n_ports; i++)
		port_free(hs->ports[i]);
	free(hs->ports);
	table_free(&hs->sends);
	table_free(&hs->receives);
	vec_free(&hs->slots);
	free(hs);
	s->hosts = NULL;
}

void host_set_timer(const struct hosts *hs, uint64_t *timer, int64_t delay_us,
		    void (*fn)(struct sim *s, void *arg), void *arg)
{
	int64_t now = sim_now(hs->s), tick = (now + delay_us + MS_US - 1) / MS_US;

	if (tick <= now / MS_US)
		tick = now / MS_US + 1;
	sim_cancel(hs->s, *timer);
	*timer = sim_after(hs->s, tick * MS_US - now, fn, arg);
}

static struct host_port *port_get(struct hosts *hs, uint32_t port)
{
	if (!hs->ports[port]) {
		hs->ports[port] = xcalloc(1, sizeof(struct host_port));
		hs->ports[port]->port = port;
	}
	return hs->ports[port];
}

struct host_file *host_open(struct sim *s, uint32_t port, uint32_t client,
			    const struct host_file_ops *ops)
{
	struct hosts *hs = hosts_of(s);
	struct host_file *h = xcalloc(1, sizeof(*h));

	h->hosts = hs;
	h->port = port_get(hs, port);
	h->client = client;
	h->ops = *ops;
	link_append(&hs->files, &h->link);
	return h;
}

void host_close(struct host_file *h)
{
	for (unsigned i = 0; i < HOST_AGENTS_MAX; i++)
		if (h->agents[i])
			agent_free(h->agents[i]);
	link_remove(&h->link);
	free(h);
}

int host_issm_open(struct sim *s, uint32_t port)
{
	struct host_port *hp = port_get(hosts_of(s), port);

	if (hp->issm_open)
		return -EAGAIN;
	hp->issm_open = true;
	if (s->hooks.set_issm)
		s->hooks.set_issm(s, port, true);
	return 0;
}

void host_issm_close(struct sim *s, uint32_t port)
{
	struct host_port *hp = port_get(hosts_of(s), port);

	if (!hp->issm_open)
		return;
	hp->issm_open = false;
	if (s->hooks.set_issm)
		s->hooks.set_issm(s, port, false);
}
