/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Stores what the readers read; model.h has the contracts. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/convert/model.h"

void converted_init(struct converted *c)
{
	*c = (struct converted){ .qos = -1, .allow_both = -1, .data_vls = 15 };
	for (int i = 0; i < OUT_CLASSES; i++)
		c->defaults[i].high_limit = -1;
}

static void free_rules(struct out_rules *rules)
{
	for (size_t i = 0; i < rules->n; i++) {
		struct out_rule *r = &rules->v[i];

		vec_free(&r->notes);
		vec_free(&r->source);
		vec_free(&r->destination);
		vec_free(&r->either);
		vec_free(&r->service_ids);
		vec_free(&r->qos_classes);
		vec_free(&r->tclasses);
		vec_free(&r->pkeys);
		vec_free(&r->sls);
		vec_free(&r->target_guids);
		vec_free(&r->tcp_ports);
	}
	vec_free(rules);
}

static void free_scopes(struct out_scopes *scopes)
{
	for (size_t i = 0; i < scopes->n; i++) {
		struct out_scope *s = &scopes->v[i];

		vec_free(&s->notes);
		vec_free(&s->groups);
		vec_free(&s->across);
		vec_free(&s->across_to);
		vec_free(&s->across_from);
		vec_free(&s->from);
		vec_free(&s->to);
		vec_free(&s->high);
		vec_free(&s->low);
	}
	vec_free(scopes);
}

static void free_groups_and_levels(struct converted *c)
{
	for (size_t i = 0; i < c->groups.n; i++) {
		vec_free(&c->groups.v[i].notes);
		vec_free(&c->groups.v[i].guids);
		vec_free(&c->groups.v[i].pkeys);
		vec_free(&c->groups.v[i].port_names);
		vec_free(&c->groups.v[i].partitions);
	}
	vec_free(&c->groups);
	for (size_t i = 0; i < c->levels.n; i++) {
		vec_free(&c->levels.v[i].notes);
		vec_free(&c->levels.v[i].path_bits);
		vec_free(&c->levels.v[i].pkeys);
	}
	vec_free(&c->levels);
}

void converted_free(struct converted *c)
{
	verdicts_free(&c->found);
	free_groups_and_levels(c);
	free_rules(&c->rules);
	free_rules(&c->ulp_rules);
	free_scopes(&c->sl2vl);
	free_scopes(&c->vlarb);
	for (int i = 0; i < OUT_CLASSES; i++) {
		vec_free(&c->defaults[i].notes);
		vec_free(&c->defaults[i].high);
		vec_free(&c->defaults[i].low);
	}
	for (size_t i = 0; i < c->partitions.n; i++) {
		vec_free(&c->partitions.v[i].notes);
		vec_free(&c->partitions.v[i].members);
		vec_free(&c->partitions.v[i].groups);
	}
	vec_free(&c->partitions);
	vec_free(&c->settings);
	vec_free(&c->sources);
	for (size_t i = 0; i < c->texts.n; i++)
		free(c->texts.v[i]);
	vec_free(&c->texts);
}

bool qos_is_off(const struct converted *c)
{
	return c->has_options && c->qos != 1 && !c->options.with_qos;
}

const char *keep(struct converted *c, const char *s, size_t n)
{
	/* not xstrndup(): an input may contain NUL, which is treated like any other character */
	char *copy = xmalloc(n + 1);

	memcpy(copy, s, n);
	copy[n] = '\0';
	for (size_t i = 0; i < n; i++)
		if (!copy[i])
			copy[i] = '?';
	return *vec_push(&c->texts) = copy;
}

static const char *keepv(struct converted *c, const char *fmt, va_list ap)
{
	struct buf b = { 0 };
	const char *s;

	buf_vprintf(&b, fmt, ap);
	s = keep(c, b.s ? b.s : "", b.n);
	buf_free(&b);
	return s;
}

const char *keepf(struct converted *c, const char *fmt, ...)
{
	va_list ap;
	const char *s;

	va_start(ap, fmt);
	s = keepv(c, fmt, ap);
	va_end(ap);
	return s;
}

void verdict(struct converted *c, struct notes *notes, enum verdict v, struct place at,
	     const char *fmt, ...)
{
	struct buf text = { 0 };
	va_list ap;

	if (c->found.count[v]++ >= (v == VERDICT_ERROR ? ERRORS_MAX : VERDICTS_MAX))
		return;
	va_start(ap, fmt);
	buf_vprintf(&text, fmt, ap);
	va_end(ap);
	buf_puts(&text, "");
	if (notes && v != VERDICT_SAME)
		*vec_push(notes) = keep(c, text.s, text.n);
	*vec_push(&c->found) = (struct judged){ v, at.pos, xstrdup(at.file), text.s };
}

void remark(struct converted *c, struct notes *notes, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	*vec_push(notes) = keepv(c, fmt, ap);
	va_end(ap);
}

const char *show(struct shown *out, const char *s, size_t n)
{
	size_t max = sizeof(out->s) - 4;
	bool cut = n > max;

	if (cut)	/* never cut inside a UTF-8 sequence */
		for (n = max; n > 0 && ((unsigned char)s[n] & 0xc0) == 0x80; n--)
			;
	snprintf(out->s, sizeof(out->s), "%.*s%s", (int)n, s, cut ? "..." : "");
	for (char *p = out->s; *p; p++)
		if ((unsigned char)*p < 0x20 || *p == 0x7f)
			*p = '?';
	return out->s;
}

void add_setting(struct converted *c, const char *line, struct place at)
{
	*vec_push(&c->settings) = (struct word){ line, at };
}

struct out_group *add_group(struct converted *c, struct place at)
{
	struct out_group *g = vec_push(&c->groups);

	*g = (struct out_group){ .at = at };
	return g;
}

struct out_level *add_level(struct converted *c, struct place at)
{
	struct out_level *l = vec_push(&c->levels);

	*l = (struct out_level){
		.at = at, .sl = -1, .mtu = -1, .rate = -1, .lifetime = -1, .tclass = -1,
	};
	return l;
}

struct out_rule *add_rule(struct out_rules *rules, struct place at)
{
	struct out_rule *r = vec_push(rules);

	*r = (struct out_rule){ .at = at, .simple_sl = -1 };
	return r;
}

struct out_scope *add_scope(struct out_scopes *scopes, struct place at)
{
	struct out_scope *s = vec_push(scopes);

	*s = (struct out_scope){ .at = at, .high_limit = -1 };
	return s;
}

void add_range(struct ranges *r, uint64_t lo, uint64_t hi)
{
	*vec_push(r) = (struct range){ lo, hi };
}

void add_word(struct words *w, const char *s, struct place at)
{
	*vec_push(w) = (struct word){ s, at };
}
