/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See rest_server.h. */
#include "cli/rest/rest_server.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <microhttpd.h>

#include "cli/rest/api/rest_gate.h"
#include "cli/rest/ask_daemon.h"
#include "cli/rest/client_certificate.h"
#include "cli/rest/connections.h"
#include "lib/base/clean.h"
#include "lib/base/clock.h"
#include "lib/base/file.h"
#include "lib/base/log.h"

#define LEAVE_TRIES 100
#define LEAVE_US 20000
#define PRIORITIES "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"

struct rest_server {
	struct MHD_Daemon *mhd;
	struct rest_settings *s;
	struct rest_gate *gate;
	struct daemon_link link;
	struct connections *connections;
	struct revocations *revoked;	/* NULL: no list was given */
	struct buf complaint;		/* of the library while it starts */
	bool started;
};

/* A request whose headers are good. */
struct request {
	const struct rest_user *user;
	const struct rest_route *route;
	char *parts[2];
	struct buf body;
	bool too_large;
};

/* --- answers --- */

static enum MHD_Result respond(struct MHD_Connection *c, const struct rest_answer *a)
{
	char *text = a->body ? json_dumps(a->body, JSON_COMPACT | JSON_ENCODE_ANY) :
			       xasprintf("%s\n", a->text.n ? a->text.s : "");
	struct MHD_Response *r = MHD_create_response_from_buffer(strlen(text), text, MHD_RESPMEM_MUST_FREE);
	enum MHD_Result done;

	if (!r)
		return MHD_NO;
	MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE,
				a->body ? "application/json" : "text/plain; charset=utf-8");
	MHD_add_response_header(r, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
	if (a->status == REST_UNKNOWN_USER)
		MHD_add_response_header(r, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Basic realm=\"qosd\"");
	if (a->status == REST_TOO_MANY || a->status == REST_NO_DAEMON)
		MHD_add_response_header(r, MHD_HTTP_HEADER_RETRY_AFTER, "1");
	done = MHD_queue_response(c, a->status, r);
	MHD_destroy_response(r);
	return done;
}

static const struct sockaddr *peer_of(struct MHD_Connection *c)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(c, MHD_CONNECTION_INFO_CLIENT_ADDRESS);

	return info ? info->client_addr : NULL;
}

/* A header may stand several times, which is the same as one with commas. */
static enum MHD_Result put_forwarded(void *arg, enum MHD_ValueKind kind, const char *key, const char *value)
{
	struct buf *all = arg;

	(void)kind;
	if (!strcasecmp(key, "X-Forwarded-For") && value)
		buf_printf(all, "%s%s", all->n ? "," : "", value);
	return MHD_YES;
}

/* Who asks: the peer, or whom a trusted proxy asks for. */
static struct rest_address address_of(const struct rest_server *x, struct MHD_Connection *c)
{
	struct rest_address peer;
	struct buf all = { 0 };

	rest_address_of(peer_of(c), &peer);
	if (x->s->proxies.n)
		MHD_get_connection_values(c, MHD_HEADER_KIND, put_forwarded, &all);
	peer = rest_forwarded_for(x->s->proxies.v, x->s->proxies.n, &peer, all.s);
	buf_free(&all);
	return peer;
}

static struct connection *connection_of(struct MHD_Connection *c)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info ? info->socket_context : NULL;
}

/* Logs what changed something or was refused for who asked. */
static void log_request(const struct rest_server *x, struct MHD_Connection *c, const struct rest_user *u,
			const char *method, const char *url, const struct rest_answer *a)
{
	static struct log_ratelimit limit = LOG_RATELIMIT;
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	const struct rest_address from = address_of(x, c);
	char address[REST_ADDRESS_TEXT], *path = xstrndup(url, 200);

	rest_address_text(&from, address);
	clean_text(path);
	if (u) {
		log_info("rest", "%s: user %s: %s %s: %u %s", address, u->name, method, path, a->status,
			 a->text.n ? a->text.s : "");
	} else {
		pthread_mutex_lock(&lock);
		log_limited(&limit, LOG_LEVEL_WARNING, "rest", "%s: %s %s: %u %s", address, method, path, a->status,
			    a->text.n ? a->text.s : "");
		pthread_mutex_unlock(&lock);
	}
	free(path);
}

/* --- requests --- */

static enum MHD_Result put_query(void *arg, enum MHD_ValueKind kind, const char *key, const char *value)
{
	json_t *text = json_string(value ? value : "");

	(void)kind;
	/* what is no UTF-8 must not look as if it were missing; a name that is none is refused as unknown */
	if (json_object_set_new(arg, key, text ? text : json_null()))
		json_object_set_new(arg, "?", json_null());
	return MHD_YES;
}

static bool body_is_too_large(struct MHD_Connection *c)
{
	const char *length = MHD_lookup_connection_value(c, MHD_HEADER_KIND, MHD_HTTP_HEADER_CONTENT_LENGTH);

	return length && strtoull(length, NULL, 10) > SERVER_BODY;
}

static bool refuse_large(struct rest_answer *a)
{
	return rest_refuse(a, REST_TOO_LARGE, "the body is larger than %u bytes", SERVER_BODY);
}

static const struct rest_user *find_user(struct rest_server *x, struct MHD_Connection *c, enum rest_base base,
					 struct rest_answer *a)
{
	struct buf subject = { 0 }, why = { 0 };
	struct rest_client client = {
		.authorization = MHD_lookup_connection_value(c, MHD_HEADER_KIND, MHD_HTTP_HEADER_AUTHORIZATION),
		.from = address_of(x, c),
	};
	const struct rest_user *u;

	if (x->s->client_ca) {
		client.subject = client_subject(c, x->revoked, &subject, &why) ? subject.s : NULL;
		client.why = why.n ? why.s : NULL;
	}
	u = rest_gate_admit(x->gate, base, &client, clock_mono_us(), a);
	buf_free(&subject);
	buf_free(&why);
	return u;
}

/* Judges a request by its headers.  NULL: a says what is wrong, and *user who asked, if that is known. */
static struct request *take_headers(struct rest_server *x, struct MHD_Connection *c, const char *url,
				    const char *method, const struct rest_user **user, struct rest_answer *a)
{
	const struct rest_route *route;
	enum rest_base base;
	const char *path = rest_split_base(url, &base);
	struct request *r;
	char *parts[2];

	if (!path) {
		rest_refuse(a, REST_NOT_FOUND, "there is no such resource: paths begin with /ufmRest or /ufmRestV3");
		return NULL;
	}
	if (rest_is_cross_site(MHD_lookup_connection_value(c, MHD_HEADER_KIND, MHD_HTTP_HEADER_ORIGIN),
			    MHD_lookup_connection_value(c, MHD_HEADER_KIND, MHD_HTTP_HEADER_HOST))) {
		rest_refuse(a, REST_FORBIDDEN, "Origin: the request comes from a page of another site");
		return NULL;
	}
	*user = find_user(x, c, base, a);
	if (!*user)
		return NULL;
	route = rest_find_route(method, path, parts, a);
	if (!route)
		return NULL;
	r = xcalloc(1, sizeof(*r));
	*r = (struct request){ .user = *user, .route = route, .parts = { parts[0], parts[1] } };
	if ((*user)->right >= route->right && !body_is_too_large(c))
		return r;
	if ((*user)->right < route->right)
		rest_refuse(a, REST_FORBIDDEN, "the user %s may not do that", (*user)->name);
	else
		refuse_large(a);
	free(parts[0]);
	free(parts[1]);
	free(r);
	return NULL;
}

static void run_route(struct rest_server *x, const struct request *r, const json_t *query, json_t *body,
		      struct rest_answer *a)
{
	struct daemon_asker asker = { &x->link, r->user->name };
	struct rest_daemon daemon = ask_daemon_for(&asker);
	struct rest_call call = {
		.daemon = &daemon, .choices = &x->s->choices, .user = r->user->name,
		.pkeys = r->user->pkeys, .query = query, .body = body,
		.parts = { r->parts[0], r->parts[1] },
	};

	if (rest_good_query(r->route, query, a))
		r->route->handle(&call, a);
}

static enum MHD_Result answer(struct rest_server *x, struct MHD_Connection *c, const struct request *r, const char *url,
			      const char *method)
{
	struct rest_answer a = { .status = REST_OK };
	json_t *query = json_object(), *body = NULL;
	enum MHD_Result done;
	json_error_t why;

	MHD_get_connection_values(c, MHD_GET_ARGUMENT_KIND, put_query, query);
	if (r->route->has_body && !r->too_large)
		body = json_loadb(r->body.n ? r->body.s : "", r->body.n, JSON_REJECT_DUPLICATES, &why);
	if (r->too_large)
		refuse_large(&a);
	else if (r->route->has_body && !body)
		rest_refuse(&a, REST_BAD, "the body is not JSON: line %d, column %d: %s", why.line, why.column,
			    why.text);
	else
		run_route(x, r, query, body, &a);
	if (r->route->right != REST_READ)
		log_request(x, c, r->user, method, url, &a);
	done = respond(c, &a);
	rest_answer_free(&a);
	json_decref(query);
	json_decref(body);
	return done;
}

/* The library calls this once for the headers, for each piece of the body, and at the end. */
static enum MHD_Result on_request(void *arg, struct MHD_Connection *c, const char *url, const char *method,
				  const char *version, const char *data, size_t *n_data, void **seen)
{
	struct rest_server *x = arg;
	struct request *r = *seen;
	const struct rest_user *user = NULL;
	struct rest_answer a = { 0 };
	enum MHD_Result done;

	(void)version;
	if (!r) {
		*seen = r = take_headers(x, c, url, method, &user, &a);
		if (r)
			return MHD_YES;
		log_request(x, c, user, method, url, &a);
		done = respond(c, &a);
		rest_answer_free(&a);
		return done;
	}
	if (!*n_data) {
		connection_client_is_due(x->connections, connection_of(c), false);
		done = answer(x, c, r, url, method);
		connection_client_is_due(x->connections, connection_of(c), true);
		return done;
	}
	r->too_large |= r->body.n + *n_data > SERVER_BODY;
	if (!r->too_large)
		buf_add(&r->body, data, *n_data);
	*n_data = 0;
	return MHD_YES;
}

static void on_completed(void *arg, struct MHD_Connection *c, void **seen, enum MHD_RequestTerminationCode how)
{
	struct rest_server *x = arg;
	struct request *r = *seen;

	(void)how;
	connection_client_is_due(x->connections, connection_of(c), true);
	if (!r)
		return;
	free(r->parts[0]);
	free(r->parts[1]);
	buf_free(&r->body);
	free(r);
	*seen = NULL;
}

static enum MHD_Result on_client(void *arg, const struct sockaddr *from, socklen_t n)
{
	struct rest_server *x = arg;

	(void)n;
	return connections_may_begin(x->connections, from) ? MHD_YES : MHD_NO;
}

static void on_connection(void *arg, struct MHD_Connection *c, void **context, enum MHD_ConnectionNotificationCode what)
{
	const union MHD_ConnectionInfo *fd = MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct rest_server *x = arg;

	if (what == MHD_CONNECTION_NOTIFY_STARTED)
		*context = fd ? connection_begin(x->connections, fd->connect_fd, peer_of(c)) : NULL;
	else
		connection_end(x->connections, *context);
}

/* --- start and end --- */

/* What the library says while it starts is the reason why it fails; later lines are about clients. */
static void on_complaint(void *arg, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));
static void on_complaint(void *arg, const char *fmt, va_list ap)
{
	struct rest_server *x = arg;
	struct buf text = { 0 };

	buf_vprintf(&text, fmt, ap);
	while (text.n && text.s[text.n - 1] == '\n')
		text.s[--text.n] = '\0';
	if (text.n) {
		clean_text(text.s);
		if (!x->started)
			buf_printf(&x->complaint, "%s%s", x->complaint.n ? "; " : "", text.s);
		else
			log_debug("http", "%s", text.s);
	}
	buf_free(&text);
}

/* NULL: without TLS.  An empty file is an error here: the library would take it for the wish to have no TLS. */
static bool read_pem(const char *path, struct buf *text, struct buf *err)
{
	struct buf why = { 0 };
	bool done = !path || file_read(path, REST_FILE_MAX, text, &why);

	if (done && path && !text->n) {
		buf_puts(&why, "the file is empty");
		done = false;
	}
	if (!done)
		buf_printf(err, "%s: %s", path, why.s);
	buf_free(&why);
	return done;
}

/* The files of the settings. */
struct pems {
	struct buf certificate, key, client_ca, client_crl;
};

/* NULL with a text in err: the lists are no good. */
static struct revocations *read_revoked(const struct rest_settings *s, const struct pems *p, struct buf *err)
{
	struct buf why = { 0 };
	struct revocations *x = revocations_read(&p->client_ca, &p->client_crl, &why);

	if (!x)
		buf_printf(err, "%s: %s", s->client_crl, why.s);
	else if (revocations_are_old(x))
		log_warn("rest",
			 "%s: a list of revoked certificates is out of date: those of its issuer are refused",
			 s->client_crl);
	buf_free(&why);
	return x;
}

static bool read_pems(struct rest_server *x, const struct rest_settings *s, struct pems *p, struct buf *err)
{
	struct buf why = { 0 };
	bool good = read_pem(s->certificate, &p->certificate, err) && read_pem(s->key, &p->key, err) &&
		    read_pem(s->client_ca, &p->client_ca, err) && read_pem(s->client_crl, &p->client_crl, err);

	if (good && s->client_ca && !client_ca_is_good(&p->client_ca, &why)) {
		buf_printf(err, "%s: %s", s->client_ca, why.s);
		good = false;
	}
	buf_free(&why);
	if (good && s->client_crl)
		x->revoked = read_revoked(s, p, err);
	return good && !s->client_crl == !x->revoked;
}

static void pems_free(struct pems *p)
{
	if (p->key.s)
		explicit_bzero(p->key.s, p->key.n);
	buf_free(&p->certificate);
	buf_free(&p->key);
	buf_free(&p->client_ca);
	buf_free(&p->client_crl);
}

struct options {
	struct MHD_OptionItem v[6];
	unsigned n;
};

static void put_option(struct options *o, enum MHD_OPTION option, intptr_t value, const char *text)
{
	o->v[o->n++] = (struct MHD_OptionItem){ option, value, (void *)(uintptr_t)text };
}

static struct MHD_Daemon *start(struct rest_server *x, int fd, const struct pems *p)
{
	unsigned flags = MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL |
			 MHD_USE_ERROR_LOG;
	struct options o = { 0 };

	flags |= x->s->certificate ? MHD_USE_TLS : 0;
	flags |= fd < 0 ? MHD_USE_NO_LISTEN_SOCKET : MHD_USE_ITC;
	if (fd >= 0)
		put_option(&o, MHD_OPTION_LISTEN_SOCKET, fd, NULL);
	if (x->s->certificate) {
		put_option(&o, MHD_OPTION_HTTPS_MEM_CERT, 0, p->certificate.s);
		put_option(&o, MHD_OPTION_HTTPS_MEM_KEY, 0, p->key.s);
		put_option(&o, MHD_OPTION_HTTPS_PRIORITIES, 0, PRIORITIES);
	}
	if (x->s->client_ca)
		put_option(&o, MHD_OPTION_HTTPS_MEM_TRUST, 0, p->client_ca.s);
	put_option(&o, MHD_OPTION_END, 0, NULL);
	return MHD_start_daemon(flags, 0, on_client, x, on_request, x,
				MHD_OPTION_EXTERNAL_LOGGER, on_complaint, x,
				MHD_OPTION_NOTIFY_COMPLETED, on_completed, x,
				MHD_OPTION_NOTIFY_CONNECTION, on_connection, x,
				MHD_OPTION_CONNECTION_LIMIT, (unsigned)SERVER_CLIENTS,
				MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)SERVER_SECONDS,
				MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)SERVER_MEMORY,
				MHD_OPTION_ARRAY, o.v,
				MHD_OPTION_END);
}

struct rest_server *rest_server_new(struct rest_settings *s, int fd, struct buf *err)
{
	struct rest_server *x = xcalloc(1, sizeof(*x));
	struct pems pems = { 0 };
	bool read = read_pems(x, s, &pems, err);

	x->s = s;
	daemon_link_init(&x->link, s->socket, s->wait_ms);
	x->gate = rest_gate_new(s);
	x->connections = connections_new(s, SERVER_CLIENTS, SERVER_CLIENTS_EACH);
	x->mhd = read ? start(x, fd, &pems) : NULL;
	pems_free(&pems);
	if (read && !x->mhd)
		buf_printf(err, "%s%scannot serve: %s", s->certificate ? s->certificate : "",
			   s->certificate ? ": " : "", x->complaint.n ? x->complaint.s : strerror(errno));
	x->started = true;
	if (x->mhd)
		return x;
	x->s = NULL;
	rest_server_free(x);
	return NULL;
}

int rest_server_leave(struct rest_server *x)
{
	return MHD_quiesce_daemon(x->mhd);
}

/* Requests in progress end, unless they take long; then the library cuts them off. */
static void wait_for_clients(struct rest_server *x)
{
	const union MHD_DaemonInfo *info;

	for (unsigned i = 0; i < LEAVE_TRIES; i++) {
		info = MHD_get_daemon_info(x->mhd, MHD_DAEMON_INFO_CURRENT_CONNECTIONS);
		if (!info || !info->num_connections)
			return;
		usleep(LEAVE_US);
	}
}

void rest_server_free(struct rest_server *x)
{
	if (!x)
		return;
	if (x->mhd) {
		wait_for_clients(x);
		MHD_stop_daemon(x->mhd);
	}
	connections_free(x->connections);
	revocations_free(x->revoked);
	rest_gate_free(x->gate);
	daemon_link_free(&x->link);
	rest_settings_free(x->s);
	buf_free(&x->complaint);
	free(x);
}

const struct rest_settings *rest_server_settings(const struct rest_server *x)
{
	return x->s;
}
