/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Multicast groups and members on disk, as a snapshot ("groups") and a journal of changes
 * ("groups.journal").
 *
 * The snapshot is a file like the others.  Because of the journal, a join costs what it
 * changes, not what there is.
 *
 * The journal's first line names the snapshot that it continues, by digest.  A journal of
 * another snapshot is an orphan and is ignored.  Each line ends with a digest of the line and
 * all lines before it.  An incomplete last line was being written when its writer or the power
 * failed, and is dropped.  Any other error sets the journal aside: the lines before the error
 * count, and clients must join again.
 *
 * Fields that the first version did not have are at the end of a line, and only where they say
 * anything: the TClass that a group's creator asked for, if it differs; the port of a member
 * that joined with an alias.  Format 2 adds, after the word "by", a group's holder and the port
 * that asked for a proxy join.
 *
 * The first save of a run writes a snapshot.  When the journal outgrows it, the next save
 * writes another one, so that on average each change is written only a few times.  A failed
 * append leads to a new snapshot, too, since the end of the journal is then unknown; until it
 * is in place, the last snapshot and its journal stay.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/backoff.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/base/map64.h"
#include "lib/iba/iba.h"
#include "sa/registry/groups.h"
#include "store/store_internal.h"
#include "store/writer_thread.h"

#define JOURNAL		"groups.journal"
#define JOURNAL_TITLE	"qosd groups journal"
#define JOURNAL_MIN	(64u << 10)	/* a journal of fewer bytes is never too long */
#define END_US		1000000
#define RETRY_US	1000000
#define RETRY_MAX_US	(64 * 1000000ll)
#define CHECK_LEN	17		/* a blank and the digest at the end of a line */

const struct store_file groups_snapshot_file = { "groups", "qosd groups ", STORE_GROUPS_FORMAT };
const struct store_file groups_journal_file = {
	JOURNAL, "qosd groups journal ", STORE_GROUPS_FORMAT,
};

struct groups_file {
	struct store *s;
	const struct mcast_db *db;	/* registry whose changes are in pending */
	bool begun;			/* there is a journal; if not, the next save writes a snapshot */
	size_t size, size_max;		/* bytes of the journal, and their limit */
	uint64_t of, check;		/* digests of the snapshot and of the last line */
	struct buf pending;		/* lines not handed over yet */
	int64_t again_us, wait_us;	/* after a failure: when to write a snapshot, back-off */
	uint64_t recoveries;		/* writer_recoveries() when one was written last */
	/* used while a file is read */
	struct mcast_db *into;
	struct mcast_group *group;
};

struct groups_file *groups_file_new(struct store *s)
{
	struct groups_file *gf = xcalloc(1, sizeof(*gf));

	gf->s = s;
	return gf;
}

static void journal_forget(struct groups_file *gf)
{
	gf->begun = false;
	gf->size = 0;
	buf_free(&gf->pending);
}

void groups_file_free(struct groups_file *gf)
{
	if (!gf)
		return;
	journal_forget(gf);
	free(gf);
}

/* --- lines --- */

/* Writes the port to which an entry is charged; 0: not known. */
static void put_by(struct buf *b, uint64_t port)
{
	if (!port)
		return;
	buf_puts(b, " by");
	store_put_0x(b, port, 16);
}

static void put_group(struct buf *b, const struct mcast_group *g)
{
	buf_puts(b, "group");
	store_put_hex(b, g->mgid, sizeof(g->mgid));
	store_put_0x(b, g->mlid, 1);
	store_put_0x(b, g->pkey, 1);
	store_put_0x(b, g->qkey, 1);
	store_put_number(b, g->sl);
	store_put_number(b, g->mtu);
	store_put_number(b, g->rate);
	store_put_number(b, g->life);
	store_put_number(b, g->tclass);
	store_put_number(b, g->flow_label);
	store_put_number(b, g->hop_limit);
	if (g->tclass_asked != g->tclass)
		store_put_number(b, g->tclass_asked);
	put_by(b, g->holder);
}

static void put_root(struct buf *b, uint16_t mlid, uint64_t guid)
{
	buf_puts(b, "root");
	store_put_0x(b, mlid, 1);
	store_put_0x(b, guid, 16);
}

static void put_member(struct buf *b, const struct mcast_member *m)
{
	store_put_0x(b, m->gid.guid, 16);
	store_put_number(b, m->join_state);
	store_put_number(b, m->proxy);
	if (m->gid.guid != m->gid.port)
		store_put_0x(b, m->gid.port, 16);
	put_by(b, m->asked_by);
}

/* Returns the text after a line's first word, if it is that word; otherwise NULL. */
static const char *after_word(const char *text, const char *word)
{
	size_t n = strlen(word);

	return strncmp(text, word, n) ? NULL : text + n;
}

/* Parses the end of a line: nothing, or the port to which the entry is charged. */
static bool get_by(const char *text, uint64_t *port)
{
	int end = 0;

	*port = 0;
	return !*text || (sscanf(text, " by 0x%" SCNx64 "%n", port, &end) == 1 && !text[end]);
}

static bool get_group(const char *text, struct mcast_group *g)
{
	int end = 0, more = 0;

	text = store_get_hex(after_word(text, "group"), g->mgid, sizeof(g->mgid));
	if (!text ||
	    sscanf(text, " 0x%" SCNx16 " 0x%" SCNx16 " 0x%" SCNx32 " %" SCNu8 " %" SCNu8
		   " %" SCNu8 " %" SCNu8 " %" SCNu8 " %" SCNu32 " %" SCNu8 "%n",
		   &g->mlid, &g->pkey, &g->qkey, &g->sl, &g->mtu, &g->rate, &g->life,
		   &g->tclass, &g->flow_label, &g->hop_limit, &end) != 10)
		return false;
	g->tclass_asked = g->tclass;
	if (sscanf(text + end, " %" SCNu8 "%n", &g->tclass_asked, &more) == 1)
		end += more;
	return get_by(text + end, &g->holder) && g->mlid >= IB_LID_MCAST_FIRST &&
	       g->mlid <= IB_LID_MCAST_LAST;
}

static bool get_root(const char *text, uint16_t *mlid, uint64_t *guid)
{
	int end = 0;

	return sscanf(text, "root 0x%" SCNx16 " 0x%" SCNx64 "%n", mlid, guid, &end) == 2 &&
	       !text[end];
}

/*
 * Parses the text after the word "member" or, in the journal, after the group; false if text is
 * NULL.
 */
static bool get_member(const char *text, struct mcast_member *m)
{
	unsigned proxy;
	int end = 0, more = 0;

	if (!text || sscanf(text, " 0x%" SCNx64 " %" SCNu8 " %u%n", &m->gid.guid, &m->join_state,
			    &proxy, &end) != 3 || m->join_state > 15)
		return false;
	m->proxy = proxy != 0;
	m->gid.port = m->gid.guid;
	if (sscanf(text + end, " 0x%" SCNx64 "%n", &m->gid.port, &more) == 1)
		end += more;
	return get_by(text + end, &m->asked_by) && (m->proxy || !m->asked_by);
}

/* --- the snapshot --- */

static bool snapshot_line(void *arg, const char *text)
{
	struct groups_file *gf = arg;
	struct mcast_group g = { 0 };
	struct mcast_member m;
	uint16_t mlid;
	uint64_t guid;

	switch (*text) {
	case 'g':
		gf->group = get_group(text, &g) ? mcast_restore(gf->into, &g) : NULL;
		return gf->group != NULL;
	case 'r':	/* root of an MLID; a group with that MLID precedes it */
		if (!get_root(text, &mlid, &guid) || !mcast_of_mlid(gf->into, mlid))
			return false;
		mcast_set_root(gf->into, mlid, guid);
		return true;
	default:
		if (!gf->group || !get_member(after_word(text, "member"), &m) || !m.join_state)
			return false;
		if (m.asked_by)
			mcast_join_by(gf->into, gf->group, m.gid, m.join_state, m.asked_by);
		else
			mcast_join(gf->into, gf->group, m.gid, m.join_state, m.proxy);
		return true;
	}
}

void store_print_groups(const struct mcast_db *db, struct buf *b)
{
	for (size_t i = 0; i < mcast_count(db); i++) {
		const struct mcast_group *g = mcast_at(db, i);

		put_group(b, g);
		buf_puts(b, "\n");
		if (!g->sharer && mcast_root(db, g->mlid)) {
			put_root(b, g->mlid, mcast_root(db, g->mlid));
			buf_puts(b, "\n");
		}
		for (size_t k = 0; k < g->members.n; k++) {
			buf_puts(b, "member");
			put_member(b, &g->members.v[k]);
			buf_puts(b, "\n");
		}
	}
}

bool store_take_groups(struct mcast_db *db, char *text)
{
	struct groups_file gf = { .into = db };

	return store_each_line(text, snapshot_line, &gf);
}

static void begin_anew(struct groups_file *gf)
{
	struct buf b = { 0 };

	journal_forget(gf);
	store_put_title(&b, &groups_snapshot_file);
	store_print_groups(gf->db, &b);
	gf->size_max = b.n > JOURNAL_MIN ? b.n : JOURNAL_MIN;
	gf->of = store_seal(&b);
	writer_begin(store_writer(gf->s), groups_snapshot_file.name, &b, JOURNAL);
	gf->begun = true;
}

/* --- the journal --- */

/* Ends the line of b that begins at `from` with its digest. */
static void end_line(struct buf *b, size_t from, uint64_t *check)
{
	*check = hash_bytes(b->s + from, b->n - from, *check);
	buf_printf(b, " %016" PRIx64 "\n", *check);
}

static void put_title(struct buf *b, uint64_t of, uint64_t *check)
{
	size_t from = b->n;

	buf_printf(b, JOURNAL_TITLE " %u of %016" PRIx64, STORE_GROUPS_FORMAT, of);
	*check = 0;
	end_line(b, from, check);
}

static void put_change(struct buf *b, const struct mcast_event *e)
{
	switch (e->kind) {
	case MCAST_GROUP:
		put_group(b, e->group);
		break;
	case MCAST_ROOT:
		put_root(b, e->group->mlid, e->root);
		break;
	case MCAST_GONE:
		buf_puts(b, "gone");
		store_put_hex(b, e->group->mgid, sizeof(e->group->mgid));
		break;
	case MCAST_MEMBER:
		buf_puts(b, "member");
		store_put_hex(b, e->group->mgid, sizeof(e->group->mgid));
		put_member(b, &e->member);
		break;
	}
}

/* Adds a change of the registry to pending. */
static void on_event(void *arg, const struct mcast_event *e)
{
	struct groups_file *gf = arg;
	struct buf *b = &gf->pending;
	size_t from;

	/* a snapshot will contain the change, or the journal is already longer than one */
	if (!gf->begun || gf->size + b->n > gf->size_max)
		return;
	if (!gf->size && !b->n)
		put_title(b, gf->of, &gf->check);
	from = b->n;
	put_change(b, e);
	end_line(b, from, &gf->check);
}

void store_print_group_change(const struct mcast_event *e, struct buf *b)
{
	put_change(b, e);
	buf_puts(b, "\n");
}

static bool journal_line(struct mcast_db *db, const char *text)
{
	struct mcast_group g = { 0 };
	struct mcast_event e = { .group = &g };

	switch (*text) {
	case 'g':
		if (text[1] != 'o') {
			e.kind = MCAST_GROUP;
			return get_group(text, &g) && mcast_redo(db, &e);
		}
		e.kind = MCAST_GONE;
		text = store_get_hex(after_word(text, "gone"), g.mgid, sizeof(g.mgid));
		return text && !*text && mcast_redo(db, &e);
	case 'r':
		e.kind = MCAST_ROOT;
		return get_root(text, &g.mlid, &e.root) && mcast_redo(db, &e);
	default:
		e.kind = MCAST_MEMBER;
		text = store_get_hex(after_word(text, "member"), g.mgid, sizeof(g.mgid));
		return get_member(text, &e.member) && mcast_redo(db, &e);
	}
}

bool store_take_group_change(struct mcast_db *db, const char *line)
{
	return journal_line(db, line);
}

/* Checks the line that ends at nl, and cuts its digest off. */
static bool unwrap_line(char *line, char *nl, uint64_t *check)
{
	char expect[CHECK_LEN + 1];
	size_t n = (size_t)(nl - line);

	if (n < CHECK_LEN)
		return false;
	n -= CHECK_LEN;
	*check = hash_bytes(line, n, *check);
	snprintf(expect, sizeof(expect), " %016" PRIx64, *check);
	if (memcmp(line + n, expect, CHECK_LEN))
		return false;
	line[n] = '\0';
	return true;
}

/*
 * Parses the first line, of this or an earlier format; *of: digest of the snapshot that the
 * journal continues.
 */
static bool get_title(const char *line, uint64_t *of)
{
	const char *text = after_word(line, JOURNAL_TITLE);
	unsigned format;
	int end = 0;

	return text && sscanf(text, " %u of %" SCNx64 "%n", &format, of, &end) == 2 &&
	       !text[end] && format && format <= STORE_GROUPS_FORMAT;
}

/* Applies the journal's changes; false: it is damaged. */
static bool journal_redo(struct mcast_db *db, struct buf *b, uint64_t of)
{
	uint64_t check = 0, said;
	char *line = b->s, *nl;

	for (; b->n && (nl = memchr(line, '\n', (size_t)(b->s + b->n - line))); line = nl + 1) {
		if (!unwrap_line(line, nl, &check))
			return false;
		if (line != b->s) {
			if (!journal_line(db, line))
				return false;
		} else if (!get_title(line, &said) || said != of) {
			/* the journal continues an earlier snapshot: ignore all of it */
			return after_word(line, JOURNAL_TITLE) != NULL;
		}
	}
	/* may be zeros, which a power failure leaves for bytes that were not synced */
	if (b->n && line < b->s + b->n)
		log_info("store", JOURNAL ": dropped an incomplete last line");
	return true;
}

static bool journal_load(struct groups_file *gf, struct mcast_db *db, uint64_t of)
{
	struct folder *f = store_folder(gf->s);
	struct buf b = { 0 };
	bool good = true, there;

	if (!folder_read(f, JOURNAL, &b, &there)) {
		good = !there;
	} else if (!journal_redo(db, &b, of)) {
		folder_set_aside(f, JOURNAL, "damaged");
		good = false;
	}
	buf_free(&b);
	return good;
}

/* --- both --- */

bool store_load_groups(struct store *s, struct mcast_db *db)
{
	struct groups_file *gf = store_groups_file(s);
	uint64_t of;
	bool good;

	gf->into = db;
	gf->group = NULL;
	good = store_load_lines(s, &groups_snapshot_file, snapshot_line, gf, &of) && journal_load(gf, db, of);
	gf->into = NULL;
	journal_forget(gf);
	gf->db = db;
	mcast_keep(db, on_event, gf);
	return good;
}

void store_save_groups(struct store *s, const struct mcast_db *db)
{
	struct groups_file *gf = store_groups_file(s);
	struct writer *w = store_writer(s);

	if (!w)
		return;
	if (!gf->begun || gf->db != db || gf->size + gf->pending.n > gf->size_max) {
		gf->db = db;
		begin_anew(gf);
	} else if (gf->pending.n) {
		gf->size += gf->pending.n;
		writer_append(w, JOURNAL, &gf->pending);
	}
}

void store_end_groups(struct store *s, const struct mcast_db *db)
{
	struct groups_file *gf = store_groups_file(s);
	struct writer *w = store_writer(s);

	if (!w)
		return;
	/* an append in progress may still fail */
	writer_wait(w, writer_mark(w), writer_hangs(w) ? 0 : END_US);
	if (gf->begun && gf->db == db && writer_append_failed(w))
		begin_anew(gf);
	else if (mcast_dirty(db))
		store_save_groups(s, db);
}

/* Writes a snapshot after a failed append, whose changes are in no file until then. */
void groups_file_check(struct groups_file *gf)
{
	struct writer *w = store_writer(gf->s);
	uint64_t recoveries = writer_recoveries(w);
	int64_t now_us = clock_mono_us();

	if (!gf->begun || !writer_append_failed(w)) {
		gf->wait_us = 0;
		return;
	}
	if (gf->wait_us && now_us < gf->again_us && recoveries == gf->recoveries)
		return;
	gf->recoveries = recoveries;
	gf->wait_us = backoff_next(gf->wait_us, RETRY_US, RETRY_MAX_US);
	gf->again_us = now_us + gf->wait_us;
	begin_anew(gf);
}
