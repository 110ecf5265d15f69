/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Outputs for an answer: text for people, JSON for programs, or files.
 *
 * head is called once with the answer's first object, row or bytes for each row, then end, with complete
 * false if the rest of the answer never arrived.  Each may be NULL.  They return false, with a
 * message printed, if the output cannot be written.
 */
#ifndef QOSD_CLI_OUTPUT_H
#define QOSD_CLI_OUTPUT_H

#include <jansson.h>
#include <stdbool.h>

struct output {
	const char *says;		/* line printed instead of head, or the titles of the rows */
	void (*head)(const json_t *answer);
	bool (*row)(const json_t *row);
	/* a row that n bytes follow, of an answer that is asked for raw (qosd/ctl.h) */
	bool (*bytes)(const json_t *row, const char *bytes, size_t n);
	bool (*end)(bool complete);
	bool raw_head, raw_rows;	/* leave control characters as they are */
};

/* qosd-ctl waits until the requested change is in force: then texts need not say when it will be. */
extern bool awaits_change;

extern const struct output json_output, json_lines_output;
/*
 * Prints to standard output like json_dumps(), but without control characters that a terminal
 * obeys.
 */
void put_json(const json_t *value, size_t flags);

/*
 * Text output by command; for `dump` and `export`, files in the directory that dump_files.c was
 * given.
 */
#define COMMAND(id, ...) extern const struct output text_##id;
#define CLIENT_COMMAND COMMAND
#include "qosd/commands.def"
/* Source and destination; a path on one line; hops of a route, as a table. */
void put_ends(const json_t *o);
void put_path(const json_t *path);	/* text_explain.c */
void put_hops(const json_t *hops);
/* Prints the shares by both models below SHARES_TITLES, with * where MODELS_DIFFER is to be said. */
#define SHARES_TITLES "   IBA  MEASURED"
#define MODELS_DIFFER "* IBA's arbiter and what was measured on hardware differ by more than a tenth\n"
void put_models(const json_t *o);
/* Prints an array of numbers below 32 as "1, 4-7". */
void put_numbers(const json_t *numbers);
/* Prints the findings that may accompany an error to stderr. */
void text_findings_of_error(const json_t *answer);

/* Sets the directory of the files; creates it if necessary. */
bool file_output_begin(const char *dir);

/*
 * `bandwidth` as an HTML page in a file of this name (bandwidth_html.c), which appears when it is
 * complete.
 */
extern const struct output html_output;
void html_output_begin(const char *file);

/* Sets the file of `report` (page_file.c), which appears when it is complete. */
void page_output_begin(const char *file);

/* Replaces control characters in all strings: names on a fabric can contain anything. */
void clean_strings(json_t *value);

#endif
