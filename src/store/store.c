/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The state folder; see store.h. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"
#include "store/internal.h"

#define FILE_MAX	(64u << 20)
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
	char *dir;		/* NULL: nothing is kept */
	int lock_fd;
	struct lid_map lids;
	struct refusals refused;
	bool lids_dirty, refused_dirty, pkeys_dirty;
	struct groups_file *groups;
	/* while a file that belongs to somebody else is */
	bool (*line)(void *arg, const char *text);
	void *line_arg;
	/* files that could not be written last time; a worker writes some of them */
	pthread_mutex_t failing_lock;
	VEC(const char *) failing;
	uint64_t failures;
};

const char *store_dir(const struct store *s)
{
	return s->dir;
}

struct groups_file *store_groups_file(const struct store *s)
{
	return s->groups;
}

/* --- files with a title and a digest --- */

char *store_path(const struct store *s, const char *name, const char *suffix)
{
	return xasprintf("%s/%s%s", s->dir, name, suffix);
}

bool store_write_all(int fd, const char *p, size_t n)
{
	while (n) {
		ssize_t r = write(fd, p, n);
		if (r < 0 && errno == EINTR)
			continue;
		if (r <= 0)
			return false;
		p += r;
		n -= (size_t)r;
	}
	return true;
}

void store_sync_dir(const struct store *s)
{
	int fd = open(s->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0) {
		fsync(fd);
		close(fd);
	}
}

/* What became of a file; its name is static. */
static void note_written(struct store *s, const char *name, bool ok)
{
	size_t i = 0;

	pthread_mutex_lock(&s->failing_lock);
	s->failures += !ok;
	while (i < s->failing.n && strcmp(s->failing.v[i], name))
		i++;
	if (ok && i < s->failing.n)
		s->failing.v[i] = s->failing.v[--s->failing.n];
	else if (!ok && i == s->failing.n)
		*vec_push(&s->failing) = name;
	pthread_mutex_unlock(&s->failing_lock);
}

struct store_failures store_failures(struct store *s)
{
	struct store_failures f;

	pthread_mutex_lock(&s->failing_lock);
	f = (struct store_failures){ s->failures, s->failing.n,
				     s->failing.n ? s->failing.v[0] : NULL };
	pthread_mutex_unlock(&s->failing_lock);
	return f;
}

/* Adds the digest line to b and puts it in place of the file; digest may be NULL. */
static bool file_write(struct store *s, const char *name, struct buf *b, uint64_t *digest)
{
	uint64_t sum = hash_bytes(b->s, b->n, 0);
	char *tmp, *path;
	bool ok = false;
	int fd;

	if (!s->dir)
		return true;
	if (digest)
		*digest = sum;
	buf_printf(b, "end %016" PRIx64 "\n", sum);
	tmp = store_path(s, name, ".new");
	path = store_path(s, name, "");
	fd = open(tmp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd >= 0) {
		ok = store_write_all(fd, b->s, b->n) && fsync(fd) == 0;
		ok = close(fd) == 0 && ok;
		ok = ok && rename(tmp, path) == 0;
	}
	if (ok)
		store_sync_dir(s);
	else
		log_error("store", "%s: cannot write: %s", path, strerror(errno));
	note_written(s, name, ok);
	free(tmp);
	free(path);
	return ok;
}

bool store_read_whole(const char *path, struct buf *b)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool ok = fd >= 0 && buf_read(b, fd, FILE_MAX);
	int why = errno;

	if (fd >= 0)
		close(fd);
	errno = why;
	return ok;
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

void store_set_aside(const struct store *s, const char *name)
{
	char *path = store_path(s, name, ""), *aside = store_path(s, name, ".damaged");

	if (rename(path, aside) == 0)
		log_error("store", "%s: damaged; set aside as %s", path, aside);
	else
		log_error("store", "%s: damaged, and cannot be set aside: %s", path,
			  strerror(errno));
	free(path);
	free(aside);
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
	char *path;
	bool good = false;

	if (!s->dir)
		return false;
	path = store_path(s, name, "");
	if (!store_read_whole(path, &b)) {
		if (errno != ENOENT)
			log_error("store", "%s: cannot read: %s", path, strerror(errno));
		goto out;
	}
	good = unwrap(&b, title, digest) && store_each_line(b.s, line, arg);
	if (!good)
		store_set_aside(s, name);
out:
	buf_free(&b);
	free(path);
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
	s->lids_dirty = !file_write(s, LIDS_FILE, &b, NULL);
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
	ok = file_write(s, PKEYS_FILE, &b, NULL);
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
	ok = file_write(s, REFUSED_FILE, &b, NULL);
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

bool store_save_lines(struct store *s, const struct store_file *f, const char *lines,
		      uint64_t *digest)
{
	struct buf b = { 0 };
	bool ok;

	buf_puts(&b, f->title);
	buf_puts(&b, lines);
	ok = file_write(s, f->name, &b, digest);
	buf_free(&b);
	return ok;
}

/* Those of the history of policies are policies/'s, those of partitions registry/'s. */
static const struct store_file history = { "history", "qosd history 1\n" };
static const struct store_file partitions = { "partitions", "qosd partitions 1\n" };

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
	return store_save_lines(s, &partitions, lines, NULL);
}

/* --- the folder --- */

static bool lock_dir(struct store *s, struct buf *err)
{
	char *path = store_path(s, "lock", "");
	bool ok = false;

	s->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (s->lock_fd < 0)
		buf_printf(err, "%s: %s", path, strerror(errno));
	else if (flock(s->lock_fd, LOCK_EX | LOCK_NB) < 0)
		buf_printf(err, "%s: another qosd uses this state folder", s->dir);
	else
		ok = true;
	free(path);
	return ok;
}

struct store *store_open(const char *dir, struct buf *err)
{
	struct store *s = xcalloc(1, sizeof(*s));

	s->lock_fd = -1;
	pthread_mutex_init(&s->failing_lock, NULL);
	lids_init(&s->lids);
	map64_init(&s->refused.by_key, 64);
	s->groups = groups_file_new(s);
	if (!dir)
		return s;
	s->dir = xstrdup(dir);
	if (mkdir(dir, 0700) < 0 && errno != EEXIST) {
		buf_printf(err, "state folder %s: %s", dir, strerror(errno));
		store_close(s);
		return NULL;
	}
	if (!lock_dir(s, err)) {
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
	if (s->lock_fd >= 0)
		close(s->lock_fd);
	lids_free(&s->lids);
	refusals_clear(&s->refused);
	pthread_mutex_destroy(&s->failing_lock);
	vec_free(&s->failing);
	free(s->dir);
	free(s);
}
