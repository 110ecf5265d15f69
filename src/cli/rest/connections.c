/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See connections.h. */
#include "cli/rest/connections.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "cli/rest/api/rest_address.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"

#define LOOK_US 200000	/* deadlines are looked at so often */

struct connection {
	bool used, cut;
	int fd;
	uint64_t client;
	int64_t due_us;		/* INT64_MAX: it is not the client who is due */
};

struct connections {
	const struct rest_settings *s;
	unsigned most, most_each;
	pthread_t thread;
	pthread_mutex_t lock;	/* of all that follows */
	pthread_cond_t ends;
	bool ending;
	struct connection v[];	/* [most] */
};

/* --- deadlines --- */

static void cut_due(struct connections *x)
{
	int64_t now = clock_mono_us();

	for (unsigned i = 0; i < x->most; i++) {
		struct connection *c = &x->v[i];

		if (!c->used || c->cut || c->due_us > now)
			continue;
		c->cut = true;
		log_debug("http", "a client takes too long: its connection ends");
		shutdown(c->fd, SHUT_RDWR);
	}
}

static void *watch(void *arg)
{
	struct connections *x = arg;
	struct timespec until;

	pthread_mutex_lock(&x->lock);
	while (!x->ending) {
		int64_t at = clock_mono_us() + LOOK_US;

		until = (struct timespec){ at / 1000000, at % 1000000 * 1000 };
		pthread_cond_timedwait(&x->ends, &x->lock, &until);
		cut_due(x);
	}
	pthread_mutex_unlock(&x->lock);
	return NULL;
}

/* --- begin and end --- */

struct connections *connections_new(const struct rest_settings *s, unsigned most, unsigned most_each)
{
	struct connections *x = xcalloc(1, sizeof(*x) + most * sizeof(x->v[0]));
	pthread_condattr_t attr;

	x->s = s;
	x->most = most;
	x->most_each = most_each;
	pthread_mutex_init(&x->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&x->ends, &attr);
	pthread_condattr_destroy(&attr);
	if (pthread_create(&x->thread, NULL, watch, x))
		abort();	/* as where memory runs out */
	return x;
}

void connections_free(struct connections *x)
{
	if (!x)
		return;
	pthread_mutex_lock(&x->lock);
	x->ending = true;
	pthread_cond_signal(&x->ends);
	pthread_mutex_unlock(&x->lock);
	pthread_join(x->thread, NULL);
	pthread_cond_destroy(&x->ends);
	pthread_mutex_destroy(&x->lock);
	free(x);
}

bool connections_may_begin(struct connections *x, const struct sockaddr *from)
{
	struct rest_address address;
	unsigned n = 0;

	rest_address_of(from, &address);
	if (rest_network_has(x->s->proxies.v, x->s->proxies.n, &address))
		return true;
	pthread_mutex_lock(&x->lock);
	for (unsigned i = 0; i < x->most; i++)
		n += x->v[i].used && x->v[i].client == rest_address_client(&address);
	pthread_mutex_unlock(&x->lock);
	return n < x->most_each;
}

struct connection *connection_begin(struct connections *x, int fd, const struct sockaddr *from)
{
	struct rest_address address;
	struct connection *c = NULL;

	rest_address_of(from, &address);
	pthread_mutex_lock(&x->lock);
	for (unsigned i = 0; i < x->most && !c; i++)
		if (!x->v[i].used)
			c = &x->v[i];
	if (c)
		*c = (struct connection){ true, false, fd, rest_address_client(&address),
					  clock_mono_us() + x->s->request_ms * INT64_C(1000) };
	pthread_mutex_unlock(&x->lock);
	return c;
}

void connection_end(struct connections *x, struct connection *c)
{
	pthread_mutex_lock(&x->lock);
	if (c)
		c->used = false;
	pthread_mutex_unlock(&x->lock);
}

void connection_client_is_due(struct connections *x, struct connection *c, bool due)
{
	pthread_mutex_lock(&x->lock);
	if (c)
		c->due_us = due ? clock_mono_us() + x->s->request_ms * INT64_C(1000) : INT64_MAX;
	pthread_mutex_unlock(&x->lock);
}
