/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the files of store/ share: the folder, a file of lines. */
#ifndef QOSD_STORE_STORE_INTERNAL_H
#define QOSD_STORE_STORE_INTERNAL_H

#include "store/store.h"

/* --- the folder (state_files.c): one thread opens it and reads, then the writer's has it --- */

enum folder_kind {
	FOLDER_USE,		/* the folder as a whole, */
	FOLDER_SYNC,		/* … what is in it under which name */
	FOLDER_WRITE, FOLDER_READ,	/* a file */
};

struct folder;
/*
 * Makes it if it is missing, and locks it.  NULL with the reason in err: another qosd has
 * it, or it is something else than a folder.  One that can't be used is a problem, and is taken as soon as it can be.
 */
struct folder *folder_open(const char *dir, struct buf *err);
/* What is late is lost with it, and that is logged. */
void folder_close(struct folder *f);
/* Tries once more to write what is late, before it is closed. */
void folder_last_try(struct folder *f);

/*
 * Puts a whole file in place.  False: it is not there, and with retry it is tried again
 * until it is, or until there is a later one.
 */
bool folder_write(struct folder *f, const char *name, const char *text, size_t n, bool retry);
/* Writes what is late if it is time to; when (clock_mono_us()) it is again, or 0: nothing is. */
int64_t folder_retry(struct folder *f);
/* All of it.  False: there is none, or (*there) it is no good and was set aside. */
bool folder_read(struct folder *f, const char *name, struct buf *b, bool *there);
/*
 * Its first line, without the newline, in the n bytes at line.  False: there is none of less than
 * n bytes; nothing is set aside.
 */
bool folder_first_line(const struct folder *f, const char *name, char *line, size_t n);
const char *folder_dir(const struct folder *f);
/* Renames it; `why` begins the message. */
void folder_set_aside(struct folder *f, const char *name, const char *why);

/* An empty file to append to, or < 0. */
int folder_append_new(struct folder *f, const char *name);
/* All of it, on disk, or false: then the end of the file is not to be relied upon. */
bool folder_append(struct folder *f, const char *name, int fd, const char *text, size_t n);
/* From any thread. */
void folder_problems(struct folder *f, void (*fn)(void *arg, const struct store_problem *p),
		     void *arg);

/* --- files of lines (store.c) --- */

/*
 * The first line of a file is the title and the number of its format, and stays of that form
 * whatever comes: an older qosd has to recognize a file of a newer one.
 */
struct store_file {
	const char *name, *title;	/* the title ends with a blank */
	unsigned format;		/* the one that is written; this and those before are read */
};

/* Those that are not store.c's. */
extern const struct store_file groups_snapshot_file, groups_journal_file, known_file,
	services_file, subscriptions_file, aliases_file, gone_file;

void store_put_title(struct buf *b, const struct store_file *f);

/*
 * Calls line() for each; one for which it returns false damages the file.  digest, if not
 * NULL: of what is in the file.
 */
bool store_load_lines(struct store *s, const struct store_file *f,
		      bool (*line)(void *arg, const char *text), void *arg, uint64_t *digest);
void store_save_lines(struct store *s, const struct store_file *f, const char *lines);
/* Text begins with the title, and is taken over: no copy is made of it. */
void store_save_text(struct store *s, const struct store_file *f, struct buf *text);
/* Ends the text of a file, its title included, with the line that holds its digest; that. */
uint64_t store_seal(struct buf *b);

/* Calls line() for each line of text, which it cuts up; false: one is no good, or not ended. */
bool store_each_line(char *text, bool (*line)(void *arg, const char *text), void *arg);

/*
 * The loop's thread prints a line for each thing that ports hold.  With many of them printf() would take
 * most of that time, so digits are written by these: a blank and "0x" and at least so many hexadecimal
 * digits, up to 16; a blank and a decimal number.
 */
void store_put_0x(struct buf *b, uint64_t v, unsigned digits);
void store_put_number(struct buf *b, uint64_t v);

/* A blank and n bytes, two digits each. */
void store_put_hex(struct buf *b, const uint8_t *bytes, size_t n);
/* … where it goes on, or NULL, also of NULL. */
const char *store_get_hex(const char *text, uint8_t *bytes, size_t n);

/* NULL: nothing is kept. */
struct folder *store_folder(const struct store *s);
struct writer *store_writer(const struct store *s);

/* The multicast groups' part of the store (group_journal.c). */
struct groups_file *groups_file_new(struct store *s);
void groups_file_free(struct groups_file *gf);
struct groups_file *store_groups_file(const struct store *s);
/* Begins anew what could not be appended to, now and then. */
void groups_file_check(struct groups_file *gf);

#endif
