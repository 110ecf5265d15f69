/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Checks requests against the command table (include/qosd/commands.def), and drives replies.  A
 * handler sees only arguments that the table has, of the type that it says.
 */
#include "ctl/command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/host_names.h"
#include "lib/base/alloc.h"
#include "lib/base/time_parse.h"
#include "qosd/commands.h"
#include "qosd/ctl.h"

static const struct ctl_command commands[] = {
#define COMMAND(id, ...) CTL_COMMAND(__VA_ARGS__),
#define DAEMON_COMMAND COMMAND
#include "qosd/commands.def"
};

static void (*const handlers[])(const struct ctl_call *c, struct reply *r) = {
#define COMMAND(id, ...) cmd_##id,
#define DAEMON_COMMAND COMMAND
#include "qosd/commands.def"
};

/* --- commands that change something --- */

void tell_operator_command(const struct ctl_call *c, const char *command, const char *fmt, ...)
{
	char what[EVENT_VALUE];
	struct event e;
	va_list ap;

	if (!c->env->event)
		return;
	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	event_make(&e, EVENT_OPERATOR_COMMAND, "%s%s%s", command, *what ? ": " : "", what);
	event_text(&e, "command", "%s", command);
	if (*what)
		event_text(&e, "what", "%s", what);
	event_asker(&e, c->view->peer.who);
	c->env->event(c->env->arg, &e);
}

void cmd_sweep(const struct ctl_call *c, struct reply *r)
{
	tell_operator_command(c, "sweep", "%s", "");
	c->env->request_sweep(c->env->sm, "asked for");
	reply_result(r, NULL);
}

/* Releases a port's held link, or all held links. */
void cmd_links_release(const struct ctl_call *c, struct reply *r)
{
	const struct fabric *f = c->state->f;
	uint32_t port = FABRIC_NONE;
	unsigned n;

	if (arg_text(c, "port")) {
		port = arg_port(c, "port", r);
		if (port == FABRIC_NONE)
			return;
	}
	n = c->env->release_links(c->env->sm, port == FABRIC_NONE ? 0 : port_node(f, port)->guid,
				  port == FABRIC_NONE ? 0 : f->ports[port].num);
	tell_operator_command(c, "links release", "%s, links released: %u",
			      arg_text(c, "port") ? arg_text(c, "port") : "all", n);
	reply_result(r, json_pack("{s:i}", "released", (int)n));
}

void cmd_links_retrain(const struct ctl_call *c, struct reply *r)
{
	const struct fabric *f = c->state->f;
	uint32_t port = arg_port(c, "port", r);
	struct buf err = { 0 };

	if (port == FABRIC_NONE)
		return;
	if (c->env->retrain_link(c->env->sm, port_node(f, port)->guid, f->ports[port].num, &err)) {
		tell_operator_command(c, "links retrain", "%s", arg_text(c, "port"));
		reply_result(r, NULL);
	} else {
		reply_error(r, NULL, "%s", err.s);
	}
	buf_free(&err);
}

void cmd_priority(const struct ctl_call *c, struct reply *r)
{
	uint64_t priority = 0;

	arg_number(c, "priority", &priority);
	c->env->set_priority(c->env->sm, (uint8_t)priority);
	tell_operator_command(c, "priority", "%u", (unsigned)priority);
	reply_result(r, NULL);
}

/* --- arguments --- */

/* Parses a JSON integer, or a string: decimal, or hexadecimal after 0x; without sign. */
static bool number_value(const json_t *j, uint64_t *value)
{
	const char *s = json_string_value(j);
	bool hex;
	char *end;

	if (json_is_integer(j)) {
		*value = (uint64_t)json_integer_value(j);
		return json_integer_value(j) >= 0;
	}
	if (!s || *s < '0' || *s > '9')
		return false;
	hex = s[0] == '0' && (s[1] == 'x' || s[1] == 'X');
	errno = 0;
	*value = strtoull(s, &end, hex ? 16 : 10);
	return *end == '\0' && errno == 0;
}

/* The same, or a string with a unit of time that makes whole seconds. */
static bool seconds_value(const json_t *j, uint64_t *value)
{
	const char *s = json_string_value(j);
	double seconds;

	if (number_value(j, value))
		return true;
	if (!s || !time_span_parse(s, &seconds) || seconds > UINT32_MAX ||
	    seconds != (double)(uint64_t)seconds)
		return false;
	*value = (uint64_t)seconds;
	return true;
}

static const struct ctl_arg *find_arg(const struct ctl_command *cmd, const char *name)
{
	for (const struct ctl_arg *a = cmd->args; a->name; a++)
		if (a->of != ARG_OF_CLIENT && strcmp(a->name, name) == 0)
			return a;
	return NULL;
}

static bool is_list_of_texts(const json_t *value)
{
	size_t n = json_array_size(value);

	for (size_t i = 0; i < n; i++)
		if (!json_is_string(json_array_get(value, i)))
			return false;
	return n && n <= CTL_LIST_MAX;
}

static bool check_arg(const struct ctl_arg *a, const json_t *value, struct reply *r)
{
	uint64_t n;

	if (a->type == ARG_FLAG) {
		if (json_is_boolean(value))
			return true;
		reply_error(r, NULL, "%s: must be true or false", a->name);
		return false;
	}
	if (a->type == ARG_TEXT) {
		if (a->repeats ? is_list_of_texts(value) : json_is_string(value))
			return true;
		if (a->repeats) {
			reply_error(r, NULL, "%s: must be a list of 1 to %u strings", a->name, CTL_LIST_MAX);
			return false;
		}
		reply_error(r, NULL, "%s: must be a string", a->name);
		return false;
	}
	if ((a->type == ARG_SECONDS ? seconds_value(value, &n) : number_value(value, &n)) && n >= a->min && n <= a->max)
		return true;
	reply_error(r, NULL, a->type == ARG_SECONDS ?
		    "%s: must be %llu to %llu seconds, or a time with a unit (" TIME_UNITS ")" :
		    "%s: must be a number from %llu to %llu", a->name,
		    (unsigned long long)a->min, (unsigned long long)a->max);
	return false;
}

static bool check_args(const struct ctl_command *cmd, json_t *args, struct reply *r)
{
	const char *name;
	json_t *value;

	json_object_foreach(args, name, value) {
		const struct ctl_arg *a = find_arg(cmd, name);

		if (!a) {
			reply_error(r, NULL, "%s: no such argument: %s", cmd->name, name);
			return false;
		}
		if (!check_arg(a, value, r))
			return false;
	}
	for (const struct ctl_arg *a = cmd->args; a->name; a++)
		if (a->required && a->of != ARG_OF_CLIENT && !json_object_get(args, a->name)) {
			reply_error(r, NULL, "%s: %s%s is missing", cmd->name, a->operand ? "" : "--", a->name);
			return false;
		}
	return true;
}

const char *arg_text(const struct ctl_call *c, const char *name)
{
	return json_string_value(json_object_get(c->args, name));
}

const char *arg_text_at(const struct ctl_call *c, const char *name, size_t i)
{
	return json_string_value(json_array_get(json_object_get(c->args, name), i));
}

bool arg_number(const struct ctl_call *c, const char *name, uint64_t *value)
{
	const json_t *j = json_object_get(c->args, name);

	return j && number_value(j, value);
}

bool arg_seconds(const struct ctl_call *c, const char *name, uint64_t *value)
{
	const json_t *j = json_object_get(c->args, name);

	return j && seconds_value(j, value);
}

bool arg_flag(const struct ctl_call *c, const char *name)
{
	return json_is_true(json_object_get(c->args, name));
}

bool arg_is_one_of(const struct ctl_call *c, const char *name, const char *words, struct reply *r)
{
	const char *text = arg_text(c, name);
	size_t n = text ? strlen(text) : 0;

	for (const char *w = words; text && *w; w += strspn(w, " ")) {
		size_t length = strcspn(w, " ");

		if (length == n && memcmp(w, text, n) == 0)
			return true;
		w += length;
	}
	if (text)
		reply_error(r, NULL, "%s: '%s' is none of: %s", name, text, words);
	return !text;
}

bool arg_level(const struct ctl_call *c, uint32_t *level, struct reply *r)
{
	const char *name = arg_text(c, "level");

	*level = name ? policy_find_level(c->state->plan->policy, name) : LEVEL_ALL;
	if (!name || *level != UINT32_MAX)
		return true;
	reply_error(r, NULL, "%s: the policy has no such level", name);
	return false;
}

static const char no_such_port[] = "no such port: give NodeDescription/Pn, a host or node with one "
				   "end port, a GUID or a LID, see 'qosd-ctl ports'";

uint32_t find_port(const struct ctl_call *c, const char *text, const char **why)
{
	bool ambiguous = false;
	uint32_t port = fabric_find_port_by_text(c->state->f, text, &ambiguous);

	if (port == FABRIC_NONE && !ambiguous)
		port = fabric_find_port_by_host(c->state->f, text, &ambiguous);
	*why = ambiguous ? "several ports have this name: give NodeDescription/Pn or the GUID" :
	       port == FABRIC_NONE ? no_such_port : NULL;
	return port;
}

void refuse_port(const struct ctl_call *c, const char *text, const char *why,
			struct reply *r)
{
	struct buf meant = { 0 };

	if (why == no_such_port && fabric_put_meant(c->state->f, text, &meant))
		reply_error(r, NULL, "%s: no such port (did you mean \"%s\"?)", text, meant.s);
	else
		reply_error(r, NULL, "%s: %s", text, why);
	buf_free(&meant);
}

uint32_t find_end_port(const struct ctl_call *c, const char *text, const char **why)
{
	uint32_t port = find_port(c, text, why);

	if (*why)
		return FABRIC_NONE;
	if (!port_is_end(c->state->f, port))
		*why = "a switch's external port has no path of its own";
	else if (c->state->plan->lid[port] == 0)
		*why = "the port has no LID";
	return *why ? FABRIC_NONE : port;
}

uint32_t arg_port(const struct ctl_call *c, const char *name, struct reply *r)
{
	const char *text = arg_text(c, name), *why;
	uint32_t port = find_port(c, text, &why);

	if (why)
		refuse_port(c, text, why, r);
	return port;
}

uint32_t end_port(const struct ctl_call *c, const char *text, struct reply *r)
{
	const char *why;
	uint32_t port = find_end_port(c, text, &why);

	if (why)
		refuse_port(c, text, why, r);
	return port;
}

uint32_t arg_end_port(const struct ctl_call *c, const char *name, struct reply *r)
{
	return end_port(c, arg_text(c, name), r);
}

/* --- requests --- */

static const struct ctl_command *find_command(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		if (strcmp(commands[i].name, name) == 0)
			return &commands[i];
	return NULL;
}

/* Appends which groups' members have the right, besides root and the daemon's user. */
static void put_groups(const struct ctl_env *env, enum ctl_right right, struct buf *out)
{
	const char *reads = right == CTL_READ ? env->read_group.name : NULL;
	const char *admin = env->admin_group.name;

	if (!env->read_group.name && !admin)
		buf_puts(out, "the socket's group, ");
	else if (reads && admin)
		buf_printf(out, "the group %s or %s, ", reads, admin);
	else if (reads || admin)
		buf_printf(out, "the group %s, ", reads ? reads : admin);
	buf_puts(out, "root or the daemon's user");
}

static bool may_run(const struct ctl_env *env, const struct ctl_peer *peer,
		    const struct ctl_command *cmd, struct reply *r)
{
	struct buf who = { 0 }, wanted = { 0 };

	if (cmd->takes != CTL_NOTHING && peer->right >= cmd->takes)
		return true;
	if (peer->who.uid >= 0)
		buf_printf(&who, "uid %lld, gid %lld", (long long)peer->who.uid, (long long)peer->gid);
	put_groups(env, cmd->takes, &wanted);
	reply_error(r, NULL, "%s: not permitted to %s: this needs %s", cmd->name,
		    who.n ? who.s : "unknown user", wanted.s);
	r->denied = true;
	buf_free(&who);
	buf_free(&wanted);
	return false;
}

static void run_command(const struct ctl_command *cmd, const struct ctl_call *call, json_t *args,
			struct reply *r)
{
	if (!may_run(call->env, &call->view->peer, cmd, r))
		return;
	if (cmd->takes_file && !call->view->file)
		reply_error(r, NULL, "%s: the request has no file", cmd->name);
	else if (cmd->needs_state && !call->state)
		reply_error(r, NULL, "the subnet is not up yet (the subnet manager is %s)",
			    sm_state_name(call->view->sm.state));
	else if (check_args(cmd, args, r))
		handlers[cmd - commands](call, r);
}

/* Reads for whom a gateway asks.  The name is recorded beside the gateway's user, whom it does not hide. */
static bool read_behalf(const struct ctl_env *env, const json_t *request, struct ctl_peer *peer, struct reply *r)
{
	const json_t *v = json_object_get(request, "on-behalf-of");

	peer->who.behalf = json_string_value(v);
	if (!v)
		return true;
	if (!peer->who.behalf || !*peer->who.behalf || strlen(peer->who.behalf) > CTL_BEHALF_MAX) {
		reply_error(r, NULL, "on-behalf-of: must be a string of 1 to %d bytes", CTL_BEHALF_MAX);
		return false;
	}
	if (peer->is_gateway)
		return true;
	if (env->gateway_group.name)
		reply_error(r, NULL, "on-behalf-of: uid %lld may not ask for others: this needs the group %s, root or "
			    "the daemon's user", (long long)peer->who.uid, env->gateway_group.name);
	else
		reply_error(r, NULL, "on-behalf-of: only administrators may ask for others");
	r->denied = true;
	return false;
}

static void dispatch(const struct ctl_env *env, const struct ctl_view *asked,
		     const json_t *request, struct reply *r)
{
	const char *name = json_string_value(json_object_get(request, "command"));
	json_t *args = json_object_get(request, "args");
	struct ctl_view view = *asked;
	const struct ctl_command *cmd;

	if (!read_behalf(env, request, &view.peer, r))
		return;
	if (!name)
		reply_error(r, NULL, "the request has no command");
	else if (!(cmd = find_command(name)))
		reply_error(r, NULL, "no such command: %s", name);
	else if (args && !json_is_object(args))
		reply_error(r, NULL, "args must be an object");
	else
		run_command(cmd, &(struct ctl_call){ env, &view, view.state, args }, args, r);
}

static enum body check_body(const struct ctl_env *env, const struct ctl_peer *peer,
			    const json_t *request, size_t *bytes, struct reply *r)
{
	const char *name = json_string_value(json_object_get(request, "command"));
	const json_t *body = json_object_get(request, "body");
	const struct ctl_command *cmd = name ? find_command(name) : NULL;
	uint64_t n;

	if (!body)
		return BODY_NONE;
	if (!cmd || !cmd->takes_file) {
		reply_error(r, NULL, "this request takes no file");
		return BODY_REFUSED;
	}
	if (!may_run(env, peer, cmd, r))
		return BODY_REFUSED;
	if (!number_value(body, &n) || n > CTL_BODY_MAX) {
		reply_error(r, NULL, "body: must be a size in bytes from 0 to %u", CTL_BODY_MAX);
		return BODY_REFUSED;
	}
	*bytes = n;
	return BODY_FOLLOWS;
}

enum body command_body(const struct ctl_env *env, const struct ctl_peer *peer, const char *line,
		       size_t n, size_t *bytes, struct reply *r)
{
	json_t *request = json_loadb(line, n, JSON_REJECT_DUPLICATES, NULL);
	enum body body;

	memset(r, 0, sizeof(*r));
	body = check_body(env, peer, request, bytes, r);
	json_decref(request);
	return body;
}

void command_start(const struct ctl_env *env, const struct ctl_view *view, const char *line,
		   size_t n, struct reply *r)
{
	json_error_t why;
	json_t *request = json_loadb(line, n, JSON_REJECT_DUPLICATES, &why);

	memset(r, 0, sizeof(*r));
	if (request)
		dispatch(env, view, request, r);
	else
		reply_error(r, NULL, "the request is not JSON: %s", why.text);
	/* a reply that follows shows later rows only: it need not hold this state */
	if (r->next && view->state && !r->follows)
		r->state = state_ref(view->state);
	json_decref(request);
}

/* --- replies --- */

void reply_result(struct reply *r, json_t *result)
{
	r->head = json_pack("{s:b}", "ok", 1);
	if (result)
		json_object_set_new(r->head, "result", result);
}

static void reply_verror(struct reply *r, const char *fmt, va_list ap)
{
	struct buf text = { 0 };

	buf_vprintf(&text, fmt, ap);
	r->head = json_pack("{s:b, s:o}", "ok", 0, "error", json_text(text.s));
	buf_free(&text);
}

void reply_error(struct reply *r, json_t *more, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	reply_verror(r, fmt, ap);
	va_end(ap);
	if (more)
		json_object_update(r->head, more);
	json_decref(more);
}

void reply_refuse(struct reply *r, const char *fmt, ...)
{
	va_list ap;

	memset(r, 0, sizeof(*r));
	va_start(ap, fmt);
	reply_verror(r, fmt, ap);
	va_end(ap);
}

void reply_rows(struct reply *r, const char *name, json_t *(*next)(void *rows),
		void (*release)(void *rows), void *rows)
{
	json_object_set_new(r->head, "rows", json_string(name));
	r->next = next;
	r->release = release;
	r->rows = rows;
}

/* The rows of reply_files(). */
struct file_rows {
	struct reply *reply;
	bool raw;
	bool (*next)(void *rows, struct file_piece *piece);
	void (*release)(void *rows);
	void *rows;
	struct file_piece piece;
};

static json_t *next_file_row(void *arg)
{
	struct file_rows *x = arg;
	struct file_piece *p = &x->piece;
	json_t *row;

	p->done = -1;
	buf_consume(&p->text, p->text.n);
	if (!x->next(x->rows, p))
		return NULL;
	row = json_pack("{s:s}", "file", p->file);
	if (p->done >= 0)
		json_object_set_new(row, "done", json_real(p->done));
	if (x->raw) {
		json_object_set_new(row, "bytes", json_integer((json_int_t)p->text.n));
		x->reply->bytes = &p->text;
	} else {
		json_object_set_new(row, "text", json_string(p->text.s ? p->text.s : ""));
	}
	return row;
}

static void release_file_rows(void *arg)
{
	struct file_rows *x = arg;

	x->release(x->rows);
	buf_free(&x->piece.text);
	free(x);
}

void reply_files(const struct ctl_call *c, struct reply *r,
		 bool (*next)(void *rows, struct file_piece *piece), void (*release)(void *rows),
		 void *rows)
{
	struct file_rows *x = xcalloc(1, sizeof(*x));

	*x = (struct file_rows){
		.reply = r, .raw = arg_flag(c, "raw"), .next = next, .release = release, .rows = rows,
	};
	reply_rows(r, "", next_file_row, release_file_rows, x);
}

void reply_follow(struct reply *r)
{
	r->follows = true;
}

void reply_more(struct reply *r)
{
	if (r->stage == REPLY_FOLLOWING)
		r->ready(r->ready_arg);
}

static int add_text(const char *text, size_t n, void *out)
{
	buf_add(out, text, n);
	return 0;
}

static void add_line(struct buf *out, json_t *line)
{
	json_dump_callback(line, add_text, out, JSON_COMPACT | JSON_REAL_PRECISION(10));
	buf_puts(out, "\n");
	json_decref(line);
}

bool reply_pull(struct reply *r, struct buf *out)
{
	json_t *row;

	switch (r->stage) {
	case REPLY_HEAD:
		add_line(out, r->head);
		r->head = NULL;
		r->stage = r->next ? REPLY_ROWS : REPLY_DONE;
		return true;
	case REPLY_FOLLOWING:
	case REPLY_ROWS:
		row = r->next(r->rows);
		r->stage = !row && r->follows ? REPLY_FOLLOWING : REPLY_ROWS;
		if (r->stage == REPLY_FOLLOWING)
			return false;
		if (!row)
			r->stage = REPLY_DONE;
		add_line(out, row ? row : json_pack("{s:b}", "end", 1));
		if (r->bytes && r->bytes->n)
			buf_add(out, r->bytes->s, r->bytes->n);
		r->bytes = NULL;
		return true;
	case REPLY_WAITING:
	case REPLY_DONE:
		break;
	}
	return false;
}

void reply_free(struct reply *r)
{
	json_decref(r->head);
	job_forget(r->job);
	if (r->release)
		r->release(r->rows);
	state_unref(r->state);
	memset(r, 0, sizeof(*r));
}

/* --- JSON values --- */

json_t *json_uid(int64_t uid)
{
	return uid < 0 ? json_null() : json_integer(uid);
}

json_t *json_behalf(const char *behalf)
{
	return behalf && *behalf ? json_text(behalf) : json_null();
}

json_t *json_port(const struct subnet_state *s, uint32_t port)
{
	char name[FABRIC_NAME_MAX];

	return json_text(fabric_port_name(s->f, port, name, sizeof(name)));
}

json_t *json_levels(const struct policy *p, uint16_t sls)
{
	json_t *names = json_array();

	for (size_t i = 0; i < p->n_levels; i++)
		if (sls >> p->levels[i].sl & 1)
			json_array_append_new(names, json_text(p->levels[i].name));
	return names;
}

json_t *json_bits(uint16_t bits)
{
	json_t *numbers = json_array();

	for (unsigned i = 0; bits >> i; i++)
		if (bits >> i & 1)
			json_array_append_new(numbers, json_integer(i));
	return numbers;
}

json_t *json_rule(const struct policy *p, uint32_t rule)
{
	const struct policy_rule *x = &p->rules[rule];

	return json_pack("{s:i, s:i, s:o, s:o}", "rule", (int)rule + 1, "line", (int)x->pos.line,
			 "description", x->description ? json_text(x->description) : json_null(),
			 "level", json_text(p->levels[x->level].name));
}

json_t *json_vls(const struct sl2vl *map)
{
	json_t *vls = json_array();

	for (unsigned sl = 0; sl < IB_SL_COUNT; sl++)
		json_array_append_new(vls, json_integer(map->vl[sl]));
	return vls;
}

json_t *json_findings(const struct findings *f)
{
	json_t *list = json_array();

	for (size_t i = 0; i < f->n; i++) {
		const struct finding *x = &f->v[i];

		json_array_append_new(list, json_pack("{s:s, s:o, s:i, s:i, s:o}",
			"severity", severity_name(x->severity),
			"file", x->file ? json_text(x->file) : json_null(),
			"line", (int)x->pos.line, "column", (int)x->pos.col,
			"text", json_text(x->text)));
	}
	return list;
}
