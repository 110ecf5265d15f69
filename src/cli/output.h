/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What becomes of an answer: text for people, JSON for programs, or files.
 *
 * head is called once with the answer's first object, row for each row, then
 * end, with complete false if the rest of the answer never came.  row and end
 * may be NULL.  They return false, with a message printed, when the output
 * can't be written.
 */
#ifndef QOSD_CLI_OUTPUT_H
#define QOSD_CLI_OUTPUT_H

#include <jansson.h>
#include <stdbool.h>

struct output {
	void (*head)(const json_t *answer);
	bool (*row)(const json_t *row);
	bool (*end)(bool complete);
	bool raw_head, raw_rows;	/* control characters in it are left as they are */
};

extern const struct output json_output, json_lines_output;
/* To standard output, as json_dumps() writes it, but with nothing that a terminal obeys. */
void put_json(const json_t *value, size_t flags);

/* Text, by command (text.c). */
extern const struct output text_status, text_nodes, text_ports, text_route, text_sl2vl,
			   text_vlarb, text_reload, text_sweep, text_links_release,
			   text_links_retrain,
			   text_priority;
extern const struct output text_services, text_subscriptions;	/* text_clients.c */
extern const struct output text_routes;		/* text_routes.c */
extern const struct output text_explain;	/* text_explain.c */
extern const struct output text_bandwidth;	/* text_bandwidth.c */
extern const struct output text_counters;	/* text_counters.c */
extern const struct output text_mcast;		/* text_mcast.c */
extern const struct output text_holdings, text_taken, text_removed;	/* text_holdings.c */
/* Source and destination; a path in a line; hops of a route, as a table. */
void put_ends(const json_t *o);
void put_path(const json_t *path);	/* text_explain.c */
void put_hops(const json_t *hops);
/* … and those of policies (text_policy.c). */
extern const struct output text_plan, text_policy_load, text_policy_confirm, text_policy_revert,
			   text_policy_show, text_policy_history;
extern const struct output text_events;		/* text_events.c */
extern const struct output text_health, text_metrics;	/* text_health.c */
extern const struct output text_sa_stats, text_sa_trace;	/* text_sa.c */
/* … and of partitions (text_partition.c). */
extern const struct output text_partition_change, text_partitions, text_partition_show;
/* The findings that may come with an error, to stderr. */
void text_findings_of_error(const json_t *answer);

/* The files of `dump`, in dir, which is made if need be (dump_files.c). */
extern const struct output file_output;
bool file_output_begin(const char *dir);

/*
 * `bandwidth` as a page of HTML in a file of this name (bandwidth_html.c), which is there
 * when it is complete.
 */
extern const struct output html_output;
void html_output_begin(const char *file);

/* Replaces control characters in all strings: names on a fabric can be anything. */
void clean_strings(json_t *value);

#endif
