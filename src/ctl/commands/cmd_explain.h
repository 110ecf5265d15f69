/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Shared by the commands about paths and bandwidth: path queries, contention at a port, and both as
 * JSON.  The SA's rules are not repeated here: sa/ decides, and these commands report.
 */
#ifndef QOSD_CTL_COMMANDS_CMD_EXPLAIN_H
#define QOSD_CTL_COMMANDS_CMD_EXPLAIN_H

#include "ctl/command.h"
#include "plan/port_shares.h"

/* --- path_query.c --- */

/*
 * Reads the fields of a path query from arguments.  Returns false, with an error in the reply, if
 * one is invalid or the SA would refuse it.
 */
bool query_from_args(const struct ctl_call *c, struct path_query *q, struct reply *r);
/* The maximum of paths that the SA returns for q. */
uint32_t query_max_paths(const struct path_query *q);
/* The optional fields of a query, which why_not() tries to omit; `bits` of PR_*. */
struct query_field {
	const char *name;	/* name of the argument */
	uint64_t bits;
};
extern const struct query_field query_fields[];
extern const unsigned n_query_fields;

/* --- json_shares.c --- */

/*
 * Sets share-iba, share-measured and models-differ from the shares by both models, 0..1; null if unknown,
 * which is < 0.
 */
void json_add_models(json_t *o, double iba, double measured);
/* "iba" or "measured", as in qosd.yaml. */
const char *arb_model_name(enum arb_model model);
/*
 * Sets share, share-idle, gbps, high, starved and wait-us of a VL, and what json_add_models() sets; null if unknown.
 */
void json_add_share(json_t *o, const struct port_shares *p, unsigned vl);

struct sl_link;
/* What packets of an SL get on a kind of link while programs use all SLs. */
json_t *json_sl_link(const struct sl_link *l);

/* --- cmd_paths.c --- */

/* The hops from src to a LID of dst as far as the route leads, with the SL's VL at each. */
json_t *json_hops(const struct subnet_state *s, uint32_t src, uint32_t dst, uint16_t dlid,
		  unsigned sl);
/* The port that a hop leaves by, or FABRIC_NONE at the end. */
uint32_t hop_port(const struct fabric *f, const struct path_hop *hop);
/* The VL of an SL at a hop, IB_VL_DROP, or -1 if unknown. */
int hop_vl(const struct subnet_state *s, const struct path_hop *hop, unsigned sl);

/* --- own_sl.c --- */

/*
 * What becomes of packets on an SL that a program chose itself: the levels of that SL, the hops with
 * the share that its VL gets while it and the VLs of all levels are backlogged, and why.
 */
json_t *json_own_sl(const struct subnet_state *s, uint32_t src, uint32_t dst, uint16_t dlid,
		    unsigned sl);

/* --- cmd_explain.c --- */

/* Adds rule, level and level-by of an answer. */
void json_add_level(json_t *o, const struct subnet_state *s, const struct path_answer *a);
/* The fields of a path as JSON. */
json_t *json_path(const struct path_answer *a);
/* Which hop's link has the lowest MTU and which the lowest rate, as indexes into hops. */
struct route_limits {
	struct path_hop hops[PATH_HOPS_MAX];
	unsigned n;			/* 0: no route */
	unsigned mtu_hop, rate_hop;	/* n: no hop has a link */
	uint8_t mtu, rate;		/* of these links */
};
void route_limits(const struct subnet_state *s, uint32_t src, uint32_t dst, uint16_t dlid,
		  struct route_limits *out);
/* "hop 2, leaf one/P3 (0x…)" */
void put_hop_name(struct buf *b, const struct subnet_state *s, const struct route_limits *l,
		  unsigned hop);

/* --- fabric_links.c --- */

struct feasibility;
/*
 * Adds rows "switches", for a drawing: each switch with its rank (links to the nearest switch that
 * has hosts), its hosts, and its links to switches of later rows.  v is the plan's judgement, or
 * own, of which this takes ownership.
 */
void rows_of_links(struct reply *r, const struct subnet_state *s, const struct feasibility *v,
		   struct feasibility *own);

/* --- why_not.c --- */

/* The ends of a query, which may be unknown ports. */
struct asked_ends {
	uint32_t port[2];		/* source, destination; or FABRIC_NONE */
	const char *unknown[2];		/* NULL, or why the text names no end */
};
void why_not(const struct ctl_call *c, const struct asked_ends *ends, const struct path_query *q,
	     struct reply *r);

#endif
