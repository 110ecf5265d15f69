/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is kept, as lines, and read again; see store.h. */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "store/internal.h"

#define LIDS_FILE	"lids"
#define LIDS_TITLE	"qosd lids 1\n"
#define REFUSED_FILE	"refused"
#define REFUSED_TITLE	"qosd refused 1\n"
#define PKEYS_FILE	"pkeys"
#define PKEYS_TITLE	"qosd pkeys 1\n"

struct refusal {
	uint64_t guid, want, got;
	uint32_t mod;
	uint16_t attr;
};

struct refusals {
	VEC(struct refusal) list;
	struct map64 by_key;
};

struct store {
	struct folder *folder;	/* NULL: nothing is kept */
	struct lid_map lids;
	struct refusals refused;
	bool lids_dirty, refused_dirty, pkeys_dirty;
	struct groups_file *groups;
	atomic_ullong failures;		/* of writes; a worker writes some files */
};

struct folder *store_folder(const struct store *s)
{
	return s->folder;
}

struct groups_file *store_groups_file(const struct store *s)
{
	return s->groups;
}

/* --- files with a title and a digest --- */

/* Adds the digest line to b and puts it in place of the file; digest may be NULL. */
static bool file_write(struct store *s, const char *name, struct buf *b, uint64_t *digest,
		       bool retry)
{
	uint64_t sum = hash_bytes(b->s, b->n, 0);

	if (!s->folder)
		return true;
	if (digest)
		*digest = sum;
	buf_printf(b, "end %016" PRIx64 "\n", sum);
	if (folder_write(s->folder, name, b->s, b->n, retry))
		return true;
	atomic_fetch_add(&s->failures, 1);
	return false;
}

/* Checks title and digest, and cuts both off. */
static bool unwrap(struct buf *b, const char *title, uint64_t *digest)
{
	const size_t end_len = strlen("end 0123456789abcdef\n"), title_len = strlen(title);
	char expect[32];
	uint64_t sum;

	if (b->n < title_len + end_len || memcmp(b->s, title, title_len))
		return false;
	sum = hash_bytes(b->s, b->n - end_len, 0);
	if (digest)
		*digest = sum;
	snprintf(expect, sizeof(expect), "end %016" PRIx64 "\n", sum);
	if (memcmp(b->s + b->n - end_len, expect, end_len))
		return false;
	b->n -= end_len;
	b->s[b->n] = '\0';
	buf_consume(b, title_len);
	return true;
}

bool store_each_line(char *text, bool (*line)(void *arg, const char *text), void *arg)
{
	for (char *nl; *text; text = nl + 1) {
		nl = strchr(text, '\n');
		if (!nl)
			return false;
		*nl = '\0';
		if (!line(arg, text))
			return false;
	}
	return true;
}

/*
 * Calls line() for each line; it returns false for one that makes no sense,
 * which damages the file as a wrong digest does.  False if there was no good file.
 */
static bool file_read(struct store *s, const char *name, const char *title,
		      bool (*line)(void *arg, const char *text), void *arg, uint64_t *digest)
{
	struct buf b = { 0 };
	bool good = false, there;

	if (!s->folder || !folder_read(s->folder, name, &b, &there))
		goto out;
	good = unwrap(&b, title, digest) && strlen(b.s) == b.n && store_each_line(b.s, line, arg);
	if (!good)
		folder_set_aside(s->folder, name, "damaged");
out:
	buf_free(&b);
	return good;
}

/* --- LIDs --- */

static bool lid_line(void *arg, const char *text)
{
	struct store *s = arg;
	uint64_t guid;
	unsigned lid, lmc;
	int end = 0;

	if (sscanf(text, "0x%" SCNx64 " %u %u%n", &guid, &lid, &lmc, &end) != 3 || text[end] ||
	    !lid || lid > IB_LID_UCAST_MAX || lmc > IB_LMC_MAX)
		return false;
	map64_put(&s->lids.by_guid, guid, lid);
	map64_put(&s->lids.lmc_by_guid, guid, lmc);
	return true;
}

struct lid_map *store_lids(struct store *s)
{
	return &s->lids;
}

void store_print_lids(const struct store *s, struct buf *b)
{
	for (uint32_t i = 0; i <= s->lids.by_guid.mask; i++) {
		const struct map64_slot *e = &s->lids.by_guid.slots[i];

		if (e->value != MAP64_NONE)
			buf_printf(b, "0x%016" PRIx64 " %u %u\n", e->key, e->value,
				   map64_get(&s->lids.lmc_by_guid, e->key));
	}
}

static void lids_init(struct lid_map *m)
{
	map64_init(&m->by_guid, 64);
	map64_init(&m->lmc_by_guid, 64);
}

static void lids_free(struct lid_map *m)
{
	map64_free(&m->by_guid);
	map64_free(&m->lmc_by_guid);
	pkey_places_free(&m->pkeys);
	fabric_free(m->fabric);
}

bool store_save_lids(struct store *s, const struct plan *p)
{
	struct buf b = { 0 };

	for (uint32_t i = 0; i < p->f->n_ports; i++) {
		uint64_t guid = p->f->ports[i].guid;

		if (!p->lid[i])
			continue;
		s->lids_dirty |= map64_put(&s->lids.by_guid, guid, p->lid[i]) != p->lid[i];
		s->lids_dirty |= map64_put(&s->lids.lmc_by_guid, guid, p->lmc[i]) != p->lmc[i];
	}
	if (!s->lids_dirty)
		return true;
	buf_puts(&b, LIDS_TITLE);
	store_print_lids(s, &b);
	s->lids_dirty = !file_write(s, LIDS_FILE, &b, NULL, true);
	buf_free(&b);
	return !s->lids_dirty;
}

/* --- places of P_Keys: a GUID and the table, from place 0 on --- */

static bool pkeys_line(void *arg, const char *text)
{
	struct store *s = arg;
	VEC(uint16_t) keys = { 0 };
	uint64_t guid;
	unsigned key;
	int end = 0;
	bool good = sscanf(text, "0x%" SCNx64 "%n", &guid, &end) == 1 && end;

	for (text += end; good && *text; text += end) {
		end = 0;
		good = *text == ' ' && sscanf(text, " %4x%n", &key, &end) == 1 && end &&
		       keys.n <= UINT16_MAX;
		if (good)
			*vec_push(&keys) = (uint16_t)key;
	}
	if (good)
		pkey_places_put(&s->lids.pkeys, guid, keys.v, (uint32_t)keys.n);
	vec_free(&keys);
	return good;
}

void store_print_pkeys(const struct store *s, struct buf *b)
{
	for (size_t i = 0; i < s->lids.pkeys.rows.n; i++) {
		const struct pkey_row *row = &s->lids.pkeys.rows.v[i];

		buf_printf(b, "0x%016" PRIx64, row->guid);
		for (uint32_t k = 0; k < row->n; k++)
			buf_printf(b, " %x", row->keys[k]);
		buf_puts(b, "\n");
	}
}

bool store_save_pkeys(struct store *s, const struct plan *p)
{
	struct buf b = { 0 };
	bool ok;

	s->pkeys_dirty |= pkey_places_learn(&s->lids.pkeys, p->f, p->partitions);
	if (!s->pkeys_dirty)
		return true;
	buf_puts(&b, PKEYS_TITLE);
	store_print_pkeys(s, &b);
	ok = file_write(s, PKEYS_FILE, &b, NULL, true);
	s->pkeys_dirty = !ok;
	buf_free(&b);
	return ok;
}

bool store_take_lids(struct store *s, char *lids, char *pkeys)
{
	struct store next = { 0 };

	lids_init(&next.lids);
	if (!store_each_line(lids, lid_line, &next) || !store_each_line(pkeys, pkeys_line, &next)) {
		lids_free(&next.lids);
		return false;
	}
	lids_free(&s->lids);
	s->lids = next.lids;
	s->lids_dirty = s->pkeys_dirty = true;
	return true;
}

/* --- what devices do not take --- */

static uint64_t refusal_key(uint64_t guid, uint16_t attr, uint32_t mod)
{
	return hash64(guid ^ hash64((uint64_t)attr << 32 | mod));
}

static void refusal_put(struct refusals *all, const struct refusal *r)
{
	uint64_t key = refusal_key(r->guid, r->attr, r->mod);
	uint32_t i = map64_get(&all->by_key, key);

	if (i == MAP64_NONE) {
		i = (uint32_t)all->list.n;
		*vec_push(&all->list) = *r;
		map64_put(&all->by_key, key, i);
	} else {
		all->list.v[i] = *r;
	}
}

static bool refused_line(void *arg, const char *text)
{
	struct store *s = arg;
	struct refusal r;
	int end = 0;

	if (sscanf(text, "0x%" SCNx64 " 0x%" SCNx16 " 0x%" SCNx32 " %" SCNx64 " %" SCNx64 "%n",
		   &r.guid, &r.attr, &r.mod, &r.want, &r.got, &end) != 5 || text[end])
		return false;
	refusal_put(&s->refused, &r);
	return true;
}

void store_refused(struct store *s, uint64_t node_guid, uint16_t attr, uint32_t mod,
		   uint64_t want, uint64_t got)
{
	if (refusals_have(&s->refused, node_guid, attr, mod, want, got))
		return;
	refusal_put(&s->refused, &(struct refusal){ node_guid, want, got, mod, attr });
	s->refused_dirty = true;
}

bool refusals_have(const struct refusals *all, uint64_t node_guid, uint16_t attr, uint32_t mod,
		   uint64_t want, uint64_t got)
{
	uint32_t i = map64_get(&all->by_key, refusal_key(node_guid, attr, mod));

	return i != MAP64_NONE && all->list.v[i].guid == node_guid &&
	       all->list.v[i].want == want && all->list.v[i].got == got;
}

const struct refusals *store_refusals(const struct store *s)
{
	return &s->refused;
}

struct refusals *refusals_copy(const struct refusals *all)
{
	struct refusals *copy = xcalloc(1, sizeof(*copy));

	map64_clone(&copy->by_key, &all->by_key);
	if (all->list.n)
		copy->list.v = xmemdup(all->list.v, all->list.n * sizeof(*all->list.v));
	copy->list.n = copy->list.cap = all->list.n;
	return copy;
}

static void refusals_clear(struct refusals *all)
{
	map64_free(&all->by_key);
	vec_free(&all->list);
}

void refusals_free(struct refusals *all)
{
	if (!all)
		return;
	refusals_clear(all);
	free(all);
}

size_t store_refused_count(const struct store *s)
{
	return s->refused.list.n;
}

bool store_save_refused(struct store *s)
{
	struct buf b = { 0 };
	bool ok;

	if (!s->refused_dirty)
		return true;
	buf_puts(&b, REFUSED_TITLE);
	for (size_t i = 0; i < s->refused.list.n; i++) {
		const struct refusal *r = &s->refused.list.v[i];

		buf_printf(&b, "0x%016" PRIx64 " 0x%x 0x%x %016" PRIx64 " %016" PRIx64 "\n",
			   r->guid, r->attr, r->mod, r->want, r->got);
	}
	ok = file_write(s, REFUSED_FILE, &b, NULL, true);
	s->refused_dirty = !ok;
	buf_free(&b);
	return ok;
}

/* --- files whose lines are somebody else's --- */

bool store_load_lines(struct store *s, const struct store_file *f,
		      bool (*line)(void *arg, const char *text), void *arg, uint64_t *digest)
{
	return file_read(s, f->name, f->title, line, arg, digest);
}

static bool save_lines(struct store *s, const struct store_file *f, const char *lines,
		       uint64_t *digest, bool retry)
{
	struct buf b = { 0 };
	bool ok;

	buf_puts(&b, f->title);
	buf_puts(&b, lines);
	ok = file_write(s, f->name, &b, digest, retry);
	buf_free(&b);
	return ok;
}

bool store_save_lines(struct store *s, const struct store_file *f, const char *lines,
		      uint64_t *digest)
{
	return save_lines(s, f, lines, digest, true);
}

/* Those of the history of policies are policies/'s, those of partitions registry/'s,
 * those of M_Keys sm/'s. */
static const struct store_file history = { "history", "qosd history 1\n" };
static const struct store_file partitions = { "partitions", "qosd partitions 1\n" };
static const struct store_file m_keys = { "m-keys", "qosd m-keys 1\n" };

bool store_load_history(struct store *s, bool (*line)(void *arg, const char *text), void *arg)
{
	return store_load_lines(s, &history, line, arg, NULL);
}

bool store_save_history(struct store *s, const char *lines)
{
	return store_save_lines(s, &history, lines, NULL);
}

bool store_load_partitions(struct store *s, bool (*line)(void *arg, const char *text), void *arg)
{
	return store_load_lines(s, &partitions, line, arg, NULL);
}

bool store_save_partitions(struct store *s, const char *lines)
{
	return save_lines(s, &partitions, lines, NULL, false);
}

bool store_load_m_keys(struct store *s, bool (*line)(void *arg, const char *text), void *arg)
{
	return store_load_lines(s, &m_keys, line, arg, NULL);
}

bool store_save_m_keys(struct store *s, const char *lines)
{
	return save_lines(s, &m_keys, lines, NULL, false);
}

/* --- the folder --- */

void store_retry(struct store *s)
{
	if (s->folder)
		folder_retry(s->folder);
}

void store_problems(struct store *s, void (*fn)(void *arg, const struct store_problem *p),
		    void *arg)
{
	if (s->folder)
		folder_problems(s->folder, fn, arg);
}

static void count_problem(void *arg, const struct store_problem *p)
{
	struct store_failures *f = arg;

	if (!f->now++)
		snprintf(f->file, sizeof(f->file), "%s", *p->file ? p->file : "the folder itself");
}

struct store_failures store_failures(struct store *s)
{
	struct store_failures f = { .all = atomic_load(&s->failures) };

	store_problems(s, count_problem, &f);
	return f;
}

struct store *store_open(const char *dir, struct buf *err)
{
	struct store *s = xcalloc(1, sizeof(*s));

	lids_init(&s->lids);
	map64_init(&s->refused.by_key, 64);
	s->groups = groups_file_new(s);
	if (!dir)
		return s;
	s->folder = folder_open(dir, err);
	if (!s->folder) {
		store_close(s);
		return NULL;
	}
	file_read(s, LIDS_FILE, LIDS_TITLE, lid_line, s, NULL);
	file_read(s, REFUSED_FILE, REFUSED_TITLE, refused_line, s, NULL);
	file_read(s, PKEYS_FILE, PKEYS_TITLE, pkeys_line, s, NULL);
	s->lids.fabric = store_load_known(s);
	return s;
}

void store_close(struct store *s)
{
	if (!s)
		return;
	groups_file_free(s->groups);
	if (s->folder)
		folder_close(s->folder);
	lids_free(&s->lids);
	refusals_clear(&s->refused);
	free(s);
}
