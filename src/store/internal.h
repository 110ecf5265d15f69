/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the files of store/ share: a file of lines. */
#ifndef QOSD_STORE_INTERNAL_H
#define QOSD_STORE_INTERNAL_H

#include "store/store.h"

struct store_file {
	const char *name, *title;	/* the title ends with a newline */
};

/*
 * Calls line() for each; one for which it returns false damages the file.  digest, if not
 * NULL: of what is in the file.
 */
bool store_load_lines(struct store *s, const struct store_file *f,
		      bool (*line)(void *arg, const char *text), void *arg, uint64_t *digest);
bool store_save_lines(struct store *s, const struct store_file *f, const char *lines,
		      uint64_t *digest);

/* Calls line() for each line of text, which it cuts up; false: one is no good, or not ended. */
bool store_each_line(char *text, bool (*line)(void *arg, const char *text), void *arg);

/* A blank and n bytes, two digits each. */
void store_put_hex(struct buf *b, const uint8_t *bytes, size_t n);
/* … where it goes on, or NULL, also of NULL. */
const char *store_get_hex(const char *text, uint8_t *bytes, size_t n);

/* The folder, NULL: nothing is kept. */
const char *store_dir(const struct store *s);
/* A file's path, the caller's to free; without a folder there is none. */
char *store_path(const struct store *s, const char *name, const char *suffix);
bool store_read_whole(const char *path, struct buf *b);
bool store_write_all(int fd, const char *p, size_t n);
void store_sync_dir(const struct store *s);
void store_set_aside(const struct store *s, const char *name);

/* The multicast groups' part of the store (groups.c). */
struct groups_file *groups_file_new(struct store *s);
void groups_file_free(struct groups_file *gf);
struct groups_file *store_groups_file(const struct store *s);

#endif
