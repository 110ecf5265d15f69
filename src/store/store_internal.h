/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The internal interface of store/, to the state folder and to files of lines. */
#ifndef QOSD_STORE_STORE_INTERNAL_H
#define QOSD_STORE_STORE_INTERNAL_H

#include "store/store.h"

/*
 * --- the folder (state_files.c): one thread opens it and reads, then only the writer's thread
 * uses it ---
 */

enum folder_kind {
	FOLDER_USE,		/* the folder as a whole */
	FOLDER_SYNC,		/* the names in the folder */
	FOLDER_WRITE, FOLDER_READ,	/* a file */
};

struct folder;
/*
 * Makes the folder if it is missing, and locks it.  NULL with the reason in err: another qosd
 * has it, or it is not a folder.  An unusable folder is a problem, and is used as soon as it can
 * be.
 */
struct folder *folder_open(const char *dir, struct buf *err);
/* Files not written yet are lost, and that is logged. */
void folder_close(struct folder *f);
/* Tries once more to write what could not be written, before folder_close(). */
void folder_last_try(struct folder *f);

/*
 * Writes a whole file.  False: it is not in place, which is a problem of the file until it is
 * written.  With FOLDER_ONCE that is not so if only the folder is to blame: the caller has given
 * up.
 */
enum folder_again {
	FOLDER_ONCE,
	FOLDER_BY_CALLER,	/* the caller tries again */
	FOLDER_RETRY,		/* tried again until it is in place, or there is a later text for it */
};
bool folder_write(struct folder *f, const char *name, const char *text, size_t n,
		  enum folder_again again);
/*
 * How many times the disk has accepted a write after it had accepted none, or not that file's:
 * a reason for the caller to try at once.
 */
uint64_t folder_recoveries(const struct folder *f);
/*
 * Retries files not written yet, if it is time.  Returns the time of the next retry
 * (clock_mono_us()), or 0: all are written.
 */
int64_t folder_retry(struct folder *f);
/* Reads a whole file.  False: there is none, or (*there) it was bad and was set aside. */
bool folder_read(struct folder *f, const char *name, struct buf *b, bool *there);
/*
 * Reads the first line, without the newline, into the n bytes at line.  False: there is no line
 * shorter than n bytes; nothing is set aside.
 */
bool folder_first_line(const struct folder *f, const char *name, char *line, size_t n);
const char *folder_dir(const struct folder *f);
/* Renames a file; `why` begins the log message. */
void folder_set_aside(struct folder *f, const char *name, const char *why);

/* Opens an empty file for appending; < 0 on failure. */
int folder_append_new(struct folder *f, const char *name);
/* Appends and syncs the text; false: the end of the file is then undefined. */
bool folder_append(struct folder *f, const char *name, int fd, const char *text, size_t n);
/* Callable from any thread. */
void folder_problems(struct folder *f, void (*fn)(void *arg, const struct store_problem *p),
		     void *arg);

/* --- files of lines (store.c) --- */

/*
 * The first line of a file is the title and its format number.  It must keep that form in all
 * versions, because an older qosd has to recognize a newer file.
 */
struct store_file {
	const char *name, *title;	/* the title ends with a blank */
	unsigned format;		/* the one written; this and all earlier ones are read */
};

/* Files defined outside store.c. */
extern const struct store_file groups_snapshot_file, groups_journal_file, known_file,
	services_file, subscriptions_file, aliases_file, gone_file;

void store_put_title(struct buf *b, const struct store_file *f);

/*
 * Calls line() for each line; a line for which it returns false damages the file.  digest, if
 * not NULL: the digest of the file's text.
 */
bool store_load_lines(struct store *s, const struct store_file *f,
		      bool (*line)(void *arg, const char *text), void *arg, uint64_t *digest);
void store_save_lines(struct store *s, const struct store_file *f, const char *lines);
/* Text begins with the title, and is taken over without a copy. */
void store_save_text(struct store *s, const struct store_file *f, struct buf *text);
/*
 * Ends the text of a file, title included, with the line that has its digest; returns the
 * digest.
 */
uint64_t store_seal(struct buf *b);


/*
 * Number formatting for the loop's thread, which prints a line for each registration; with many
 * of them printf() would take most of the time.  store_put_0x() writes a blank, "0x" and at
 * least this many hexadecimal digits, up to 16; store_put_number() a blank and a decimal
 * number.
 */
void store_put_0x(struct buf *b, uint64_t v, unsigned digits);
void store_put_number(struct buf *b, uint64_t v);

/* Writes a blank and n bytes, two digits each. */
void store_put_hex(struct buf *b, const uint8_t *bytes, size_t n);
/*
 * Reads n bytes written by store_put_hex().  Returns where the text goes on, or NULL; text may
 * be NULL.
 */
const char *store_get_hex(const char *text, uint8_t *bytes, size_t n);

/* NULL: nothing is kept. */
struct folder *store_folder(const struct store *s);
struct writer *store_writer(const struct store *s);

/* Multicast groups on disk (group_journal.c). */
struct groups_file *groups_file_new(struct store *s);
void groups_file_free(struct groups_file *gf);
struct groups_file *store_groups_file(const struct store *s);
/* After a failed append, writes a new snapshot, with back-off. */
void groups_file_check(struct groups_file *gf);

#endif
