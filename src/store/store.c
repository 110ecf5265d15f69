/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Prints the state to be kept as lines of text, and reads it again; see store.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/clock.h"
#include "lib/base/file.h"
#include "lib/base/log.h"
#include "store/store_internal.h"
#include "store/writer_thread.h"

#define SLOW_US		2000000		/* for one file: the write is stalled */
#define WAIT_US		1000000		/* longest wait for the disk */
#define NAME_LEN	64

#define TITLE_MAX	64		/* longest first line of a file */

static const struct store_file lids_file = { "lids", "qosd lids ", STORE_LIDS_FORMAT };
static const struct store_file refused_file = { "refused", "qosd refused ", STORE_REFUSED_FORMAT };
static const struct store_file pkeys_file = { "pkeys", "qosd pkeys ", STORE_PKEYS_FORMAT };
/* Other layers print and parse the lines of these files: ctl/, events/, sa/registry/ and sm/. */
static const struct store_file history = { "history", "qosd history ", STORE_HISTORY_FORMAT };
static const struct store_file partitions = {
	"partitions", "qosd partitions ", STORE_PARTITIONS_FORMAT,
};
static const struct store_file missing_file = {
	"missing", "qosd missing ", STORE_MISSING_FORMAT,
};
static const struct store_file withdrawn = { "withdrawn", "qosd withdrawn ", STORE_WITHDRAWN_FORMAT };
static const struct store_file accepted_file = {
	"accepted", "qosd accepted topology ", STORE_ACCEPTED_FORMAT,
};
static const struct store_file m_keys = { "m-keys", "qosd m-keys ", STORE_M_KEYS_FORMAT };

/* The text of the policy follows a line about it, as it is, with or without a newline at its end. */
static const struct store_file policy_file = { "policy", "qosd policy ", STORE_POLICY_FORMAT };

static const struct store_file *const all_files[] = {
	&lids_file, &pkeys_file, &refused_file, &known_file, &groups_snapshot_file,
	&groups_journal_file, &services_file, &subscriptions_file, &aliases_file, &gone_file, &partitions,
	&withdrawn, &m_keys, &history, &missing_file, &accepted_file, &policy_file,
};

struct store {
	struct folder *folder;	/* NULL: nothing is kept */
	struct writer *writer;	/* NULL: likewise */
	int64_t checked_us;	/* time of the last store_check() */
	int64_t seen_us;	/* for how long it has seen the writer at one file */
	bool slow;		/* the stall was logged */
	struct lid_map lids;
	struct refusals *refused;
	bool lids_dirty, refused_dirty, pkeys_dirty;
	struct groups_file *groups;
	char *partitions, *withdrawn;	/* lines last saved or loaded */
};

struct folder *store_folder(const struct store *s)
{
	return s->folder;
}

struct writer *store_writer(const struct store *s)
{
	return s->writer;
}

struct groups_file *store_groups_file(const struct store *s)
{
	return s->groups;
}

/* --- files with a title and a digest --- */

void store_put_title(struct buf *b, const struct store_file *f)
{
	buf_printf(b, "%s%u\n", f->title, f->format);
}

uint64_t store_seal(struct buf *b)
{
	uint64_t sum = hash_bytes(b->s, b->n, 0);

	buf_printf(b, "end %016" PRIx64 "\n", sum);
	return sum;
}

/* Hands over the text of a file without its last line. */
static void file_write(struct store *s, const struct store_file *f, struct buf *b)
{
	if (s->writer)
		writer_put(s->writer, f->name, b);
	buf_free(b);
}

/*
 * Returns the format number in a title line, and the text that follows in *rest; 0: it is not a
 * title of that file.
 */
static unsigned format_of(const struct store_file *f, const char *text, const char **rest)
{
	size_t n = strlen(f->title);
	unsigned format;
	int end = 0;

	if (strncmp(text, f->title, n) || text[n] < '1' || text[n] > '9' ||
	    sscanf(text + n, "%9u%n", &format, &end) != 1)
		return 0;
	*rest = text + n + end;
	return format;
}

/* Checks title and digest, and cuts both off. */
static bool unwrap(struct buf *b, const struct store_file *f, uint64_t *digest)
{
	const size_t end_len = strlen("end 0123456789abcdef\n");
	const char *rest;
	char expect[32];
	unsigned format;
	uint64_t sum;

	if (!b->n || strlen(b->s) != b->n)
		return false;
	format = format_of(f, b->s, &rest);
	if (!format || format > f->format || *rest++ != '\n' ||
	    (size_t)(b->s + b->n - rest) < end_len)
		return false;
	sum = hash_bytes(b->s, b->n - end_len, 0);
	if (digest)
		*digest = sum;
	snprintf(expect, sizeof(expect), "end %016" PRIx64 "\n", sum);
	if (memcmp(b->s + b->n - end_len, expect, end_len))
		return false;
	b->n -= end_len;
	b->s[b->n] = '\0';
	buf_consume(b, (size_t)(rest - b->s));
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
 * Calls line() for each line.  line() returns false for an invalid line, which damages the file
 * as a wrong digest does.  False if there was no good file.
 */
static bool read_lines(struct store *s, const struct store_file *f,
		      bool (*line)(void *arg, const char *text), void *arg, uint64_t *digest)
{
	struct buf b = { 0 };
	bool good = false, there;

	if (!s->folder || !folder_read(s->folder, f->name, &b, &there))
		goto out;
	good = unwrap(&b, f, digest) && store_each_line(b.s, line, arg);
	if (!good)
		folder_set_aside(s->folder, f->name, "damaged");
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

/* Takes a range of LIDs; false: part of it is taken already. */
static bool take_range(uint8_t *taken, uint32_t lid, uint32_t lmc)
{
	uint32_t end = lid + (lmc <= IB_LMC_MAX ? 1u << lmc : 1);

	for (uint32_t i = lid; i < end; i++)
		if (i > IB_LID_UCAST_MAX || taken[i])
			return false;
	memset(taken + lid, 1, end - lid);
	return true;
}

/* Drops departed ports whose LIDs another port has now: they cannot get these LIDs back. */
static void forget_lids(struct lid_map *m, const struct plan *p)
{
	struct lid_map next = { 0 };
	struct pkey_places places = { 0 };
	uint8_t *taken = xcalloc(IB_LID_UCAST_MAX + 1u, 1);

	lids_init(&next);
	map64_init(&places.by_guid, 64);
	for (uint32_t i = 0; i < p->f->n_ports; i++)
		if (p->lid[i] && take_range(taken, p->lid[i], p->lmc[i]) && fabric_owns_guid(p->f, i)) {
			map64_put(&next.by_guid, p->f->ports[i].guid, p->lid[i]);
			map64_put(&next.lmc_by_guid, p->f->ports[i].guid, p->lmc[i]);
		}
	for (uint32_t i = 0; i <= m->by_guid.mask; i++) {
		const struct map64_slot *e = &m->by_guid.slots[i];
		uint32_t lmc = e->value == MAP64_NONE ? 0 : map64_get(&m->lmc_by_guid, e->key);

		if (e->value == MAP64_NONE || map64_get(&next.by_guid, e->key) != MAP64_NONE ||
		    !take_range(taken, e->value, lmc))
			continue;
		map64_put(&next.by_guid, e->key, e->value);
		map64_put(&next.lmc_by_guid, e->key, lmc);
	}
	for (const struct pkey_row *row = m->pkeys.rows.v; row < vec_end(&m->pkeys.rows); row++)
		if (map64_get(&next.by_guid, row->guid) != MAP64_NONE)
			pkey_places_put(&places, row->guid, row->keys, row->n);
	map64_free(&m->by_guid);
	map64_free(&m->lmc_by_guid);
	pkey_places_free(&m->pkeys);
	m->by_guid = next.by_guid;
	m->lmc_by_guid = next.lmc_by_guid;
	m->pkeys = places;
	free(taken);
}

void store_save_lids(struct store *s, const struct plan *p)
{
	struct buf b = { 0 };

	for (uint32_t i = 0; i < p->f->n_ports; i++) {
		uint64_t guid = p->f->ports[i].guid;

		if (!p->lid[i] || !fabric_owns_guid(p->f, i))
			continue;
		s->lids_dirty |= map64_put(&s->lids.by_guid, guid, p->lid[i]) != p->lid[i];
		s->lids_dirty |= map64_put(&s->lids.lmc_by_guid, guid, p->lmc[i]) != p->lmc[i];
	}
	if (!s->lids_dirty)
		return;
	if (s->lids.by_guid.n > STORE_LIDS_MAX) {
		forget_lids(&s->lids, p);
		s->pkeys_dirty = true;
	}
	store_put_title(&b, &lids_file);
	store_print_lids(s, &b);
	file_write(s, &lids_file, &b);
	s->lids_dirty = false;
}

/* --- P_Key indexes: a GUID and the P_Key table from index 0 on --- */

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

void store_save_pkeys(struct store *s, const struct plan *p)
{
	struct buf b = { 0 };

	s->pkeys_dirty |= pkey_places_learn(&s->lids.pkeys, p->f, p->partitions);
	if (!s->pkeys_dirty)
		return;
	store_put_title(&b, &pkeys_file);
	store_print_pkeys(s, &b);
	file_write(s, &pkeys_file, &b);
	s->pkeys_dirty = false;
}

void store_found_pkeys(struct store *s, uint64_t guid, const uint16_t *keys, uint32_t n)
{
	s->pkeys_dirty |= pkey_places_found(&s->lids.pkeys, guid, keys, n);
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

/* --- values that devices refuse --- */

static bool refused_line(void *arg, const char *text)
{
	struct store *s = arg;
	struct refused_set r;
	int end = 0;

	if (sscanf(text, "0x%" SCNx64 " 0x%" SCNx16 " 0x%" SCNx32 " %" SCNx64 " %" SCNx64 "%n",
		   &r.guid, &r.attr, &r.mod, &r.want, &r.got, &end) != 5 || text[end])
		return false;
	refusals_put(s->refused, &r);
	return true;
}

void store_refused(struct store *s, uint64_t node_guid, uint16_t attr, uint32_t mod,
		   uint64_t want, uint64_t got)
{
	s->refused_dirty |= refusals_put(s->refused, &(struct refused_set){ node_guid, want, got, mod,
									attr });
}

void store_refused_by_status(struct store *s, uint64_t node_guid, uint16_t attr, uint32_t mod,
			     uint64_t want, uint16_t status)
{
	store_refused(s, node_guid, attr, mod, want, REFUSAL_STATUS | status);
}

void store_taken(struct store *s, uint64_t node_guid, uint16_t attr, uint32_t mod)
{
	s->refused_dirty |= refusals_drop(s->refused, node_guid, attr, mod);
}

void store_forget_refused(struct store *s, uint64_t node_guid)
{
	s->refused_dirty |= refusals_forget(s->refused, node_guid);
}

void store_prune_refused(struct store *s, bool (*is_there)(void *arg, uint64_t guid), void *arg)
{
	s->refused_dirty |= refusals_prune(s->refused, is_there, arg);
}

void store_probe_refused(struct store *s, bool on)
{
	refusals_probe(s->refused, on);
}

const struct refusals *store_refusals(const struct store *s)
{
	return s->refused;
}

void store_save_refused(struct store *s)
{
	const struct refused_set *r;
	struct buf b = { 0 };

	if (!s->refused_dirty)
		return;
	store_put_title(&b, &refused_file);
	for (size_t i = 0; (r = refusals_at(s->refused, i)); i++)
		buf_printf(&b, "0x%016" PRIx64 " 0x%x 0x%x %016" PRIx64 " %016" PRIx64 "\n",
			   r->guid, r->attr, r->mod, r->want, r->got);
	file_write(s, &refused_file, &b);
	s->refused_dirty = false;
}

/* --- files whose lines belong to other layers --- */

bool store_load_lines(struct store *s, const struct store_file *f,
		      bool (*line)(void *arg, const char *text), void *arg, uint64_t *digest)
{
	return read_lines(s, f, line, arg, digest);
}

void store_save_text(struct store *s, const struct store_file *f, struct buf *text)
{
	file_write(s, f, text);
}

void store_save_lines(struct store *s, const struct store_file *f, const char *lines)
{
	struct buf b = { 0 };

	store_put_title(&b, f);
	buf_puts(&b, lines);
	file_write(s, f, &b);
}

bool store_load_history(struct store *s, bool (*line)(void *arg, const char *text), void *arg)
{
	return store_load_lines(s, &history, line, arg, NULL);
}

void store_save_history(struct store *s, const char *lines)
{
	store_save_lines(s, &history, lines);
}

bool store_load_missing(struct store *s, bool (*line)(void *arg, const char *text), void *arg)
{
	return store_load_lines(s, &missing_file, line, arg, NULL);
}

void store_save_missing(struct store *s, const char *lines)
{
	store_save_lines(s, &missing_file, lines);
}

bool store_load_accepted(struct store *s, bool (*line)(void *arg, const char *text), void *arg)
{
	return store_load_lines(s, &accepted_file, line, arg, NULL);
}

void store_save_accepted(struct store *s, const char *lines)
{
	store_save_lines(s, &accepted_file, lines);
}

/* --- the last good policy --- */

#define POLICY_FILE_MAX	(64u << 20)	/* more than any policy has (CONF_FILE_MAX) */

void store_policy_free(struct store_policy *p)
{
	free(p->name);
	buf_free(&p->text);
	*p = (struct store_policy){ 0 };
}

/* Takes over the text of the file, title included, unless it is damaged. */
static bool take_policy(struct buf *b, struct store_policy *p)
{
	char *nl;
	int end = 0;

	*p = (struct store_policy){ 0 };
	if (!unwrap(b, &policy_file, NULL) || !(nl = strchr(b->s, '\n')))
		return false;
	*nl = '\0';
	if (sscanf(b->s, "%" SCNd64 " %16" SCNx64 "%n", &p->when_us, &p->checksum, &end) != 2 ||
	    b->s[end] != ' ' || !b->s[end + 1])
		return false;
	p->name = xstrdup(b->s + end + 1);
	buf_consume(b, (size_t)(nl + 1 - b->s));
	p->text = *b;
	*b = (struct buf){ 0 };
	return true;
}

bool store_load_policy(struct store *s, struct store_policy *p)
{
	struct buf b = { 0 };
	bool good = false, there;

	*p = (struct store_policy){ 0 };
	if (s->folder && folder_read(s->folder, policy_file.name, &b, &there)) {
		good = take_policy(&b, p);
		if (!good)
			folder_set_aside(s->folder, policy_file.name, "damaged");
	}
	buf_free(&b);
	return good;
}

bool store_peek_policy(const char *dir, struct store_policy *p)
{
	char *path = xasprintf("%s/%s", dir, policy_file.name);
	struct buf b = { 0 }, why = { 0 };
	bool good = file_read(path, POLICY_FILE_MAX, &b, &why);
	int error = errno;

	*p = (struct store_policy){ 0 };
	if (good) {
		good = take_policy(&b, p);
		error = EBADMSG;
	}
	buf_free(&b);
	buf_free(&why);
	free(path);
	errno = error;
	return good;
}

bool store_save_policy(struct store *s, const struct store_policy *p)
{
	struct buf b = { 0 };

	if (p->text.n && memchr(p->text.s, '\0', p->text.n))
		return false;
	store_put_title(&b, &policy_file);
	buf_printf(&b, "%" PRId64 " %016" PRIx64 " %s\n", p->when_us, p->checksum, p->name);
	buf_add(&b, p->text.s, p->text.n);
	file_write(s, &policy_file, &b);
	return true;
}

/*
 * Whether the disk hangs; if so, at which file and since when.  Time in which this process did
 * not run does not count, because the disk could not make progress for us either.
 */
static bool hangs(const struct store *s, char name[NAME_LEN], int64_t *us)
{
	*us = writer_busy_us(s->writer, name, NAME_LEN);
	return *us > SLOW_US && s->seen_us > SLOW_US;
}

struct noted {
	bool (*line)(void *arg, const char *text);
	void *arg;
	struct buf lines;
};

static bool note_line(void *arg, const char *text)
{
	struct noted *n = arg;

	buf_printf(&n->lines, "%s\n", text);
	return n->line(n->arg, text);
}

static bool load_noted(struct store *s, const struct store_file *f, char **lines,
		       bool (*line)(void *arg, const char *text), void *arg)
{
	struct noted n = { line, arg, { 0 } };
	bool good = store_load_lines(s, f, note_line, &n, NULL);

	free(*lines);
	*lines = good ? xstrdup_or_null(n.lines.s) : NULL;
	buf_free(&n.lines);
	return good;
}

/* Writes a file once, and waits for it; in_time false: it may still be written later. */
static bool save_now(struct store *s, const struct store_file *f, const char *lines, bool *in_time)
{
	struct buf b = { 0 };
	char name[NAME_LEN];
	int64_t us;
	bool ok;

	*in_time = true;
	if (!s->writer)
		return true;
	if (hangs(s, name, &us))
		return false;
	store_put_title(&b, f);
	buf_puts(&b, lines);
	store_seal(&b);
	ok = writer_put_now(s->writer, f->name, &b, WAIT_US, in_time);
	buf_free(&b);
	return ok;
}

static bool save_noted(struct store *s, const struct store_file *f, char **last, const char *lines)
{
	bool in_time, ok = save_now(s, f, lines, &in_time);

	if (ok) {
		free(*last);
		*last = xstrdup(lines);
	} else if (!in_time) {		/* the refused change must not be written later */
		store_save_lines(s, f, *last ? *last : "");
	}
	return ok;
}

bool store_load_partitions(struct store *s, bool (*line)(void *arg, const char *text), void *arg)
{
	return load_noted(s, &partitions, &s->partitions, line, arg);
}

bool store_save_partitions(struct store *s, const char *lines)
{
	return save_noted(s, &partitions, &s->partitions, lines);
}

bool store_load_withdrawn(struct store *s, bool (*line)(void *arg, const char *text), void *arg)
{
	return load_noted(s, &withdrawn, &s->withdrawn, line, arg);
}

bool store_save_withdrawn(struct store *s, const char *lines)
{
	return save_noted(s, &withdrawn, &s->withdrawn, lines);
}

bool store_load_m_keys(struct store *s, bool (*line)(void *arg, const char *text), void *arg)
{
	return store_load_lines(s, &m_keys, line, arg, NULL);
}

bool store_save_m_keys(struct store *s, const char *lines)
{
	bool in_time;

	return save_now(s, &m_keys, lines, &in_time);
}

/* --- the folder and its writer --- */

static void look_at_writer(struct store *s)
{
	char name[NAME_LEN];
	int64_t now = clock_mono_us(), passed = now - s->checked_us;
	int64_t busy = writer_busy_us(s->writer, name, sizeof(name));

	/* a longer pause is our own */
	if (busy <= passed)
		s->seen_us = 0;
	s->seen_us += passed < STORE_CHECK_US ? passed : STORE_CHECK_US;
	if (s->seen_us > busy)
		s->seen_us = busy;
	s->checked_us = now;
}

void store_check(struct store *s)
{
	char name[NAME_LEN];
	int64_t us;
	bool slow;

	if (!s->writer)
		return;
	groups_file_check(s->groups);
	look_at_writer(s);
	slow = hangs(s, name, &us);
	if (slow && !s->slow)
		log_error("store", "%s: write stalled for %.0f s: state is not being stored; everything "
			  "else goes on", name, (double)us * 1e-6);
	else if (!slow && s->slow)
		log_warn("store", "the disk accepts writes again");
	s->slow = slow;
}

uint64_t store_mark(const struct store *s)
{
	return s->writer ? writer_mark(s->writer) : 0;
}

bool store_is_past(const struct store *s, uint64_t mark)
{
	return !s->writer || writer_is_past(s->writer, mark);
}

bool store_wait(struct store *s)
{
	return !s->writer || writer_wait(s->writer, writer_mark(s->writer), WAIT_US);
}

void store_on_written(struct store *s, void (*fn)(void *arg), void *arg)
{
	if (s->writer)
		writer_on_done(s->writer, fn, arg);
}

void store_problems(struct store *s, void (*fn)(void *arg, const struct store_problem *p),
		    void *arg)
{
	char name[NAME_LEN], text[64];
	int64_t us;

	if (!s->folder)
		return;
	folder_problems(s->folder, fn, arg);
	if (!hangs(s, name, &us))
		return;
	snprintf(text, sizeof(text), "write stalled for %" PRId64 " s", us / 1000000);
	fn(arg, &(struct store_problem){ name, text, clock_real_us() - us });
}

static void count_problem(void *arg, const struct store_problem *p)
{
	struct store_failures *f = arg;

	if (!f->now++)
		snprintf(f->file, sizeof(f->file), "%s", *p->file ? p->file : "the folder itself");
}

struct store_failures store_failures(struct store *s)
{
	struct store_failures f = { .all = s->writer ? writer_failures(s->writer) : 0 };

	store_problems(s, count_problem, &f);
	return f;
}

/*
 * Whether a newer qosd wrote one of the files.  Its content is unknown and must neither be
 * overwritten nor be treated as missing.
 */
static bool is_newer(struct folder *folder, struct buf *err)
{
	char line[TITLE_MAX];
	const char *rest;

	for (size_t i = 0; i < ARRAY_SIZE(all_files); i++) {
		const struct store_file *f = all_files[i];
		unsigned format;

		if (!folder_first_line(folder, f->name, line, sizeof(line)))
			continue;
		format = format_of(f, line, &rest);
		if (format <= f->format || (*rest && *rest != ' '))
			continue;
		buf_printf(err, "%s/%s was written by a newer qosd: it has format %u, but this qosd reads "
			   "formats up to %u; nothing was changed", folder_dir(folder), f->name,
			   format, f->format);
		return true;
	}
	return false;
}

struct store *store_open(const char *dir, bool *newer, struct buf *err)
{
	struct store *s = xcalloc(1, sizeof(*s));
	bool is_new = false;

	lids_init(&s->lids);
	s->refused = refusals_new();
	s->groups = groups_file_new(s);
	if (!dir)
		return s;
	s->folder = folder_open(dir, err);
	if (s->folder)
		is_new = is_newer(s->folder, err);
	if (newer)
		*newer = is_new;
	if (!s->folder || is_new) {
		store_close(s);
		return NULL;
	}
	read_lines(s, &lids_file, lid_line, s, NULL);
	read_lines(s, &refused_file, refused_line, s, NULL);
	read_lines(s, &pkeys_file, pkeys_line, s, NULL);
	s->lids.fabric = store_load_known(s);
	s->writer = writer_new(s->folder);
	return s;
}

void store_close(struct store *s)
{
	if (!s)
		return;
	groups_file_free(s->groups);
	/* if the disk hangs, both stay with the thread that waits for it */
	if (writer_free(s->writer) && s->folder)
		folder_close(s->folder);
	lids_free(&s->lids);
	refusals_free(s->refused);
	free(s->partitions);
	free(s->withdrawn);
	free(s);
}
