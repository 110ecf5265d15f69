/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Builds small fabrics with tables like those of a subnet manager, written into the
 * model directly.
 */
#ifndef QOSD_TESTS_SIMCHECK_SMALL_H
#define QOSD_TESTS_SIMCHECK_SMALL_H

#include "sim/check/check.h"

/* Adds a switch.  Switches are S1, S2 …, hosts H1, H2 …, in the order of their creation. */
uint32_t add_switch(struct sim_fabric *f, unsigned nports);
uint32_t add_free_host(struct sim_fabric *f);
/* Adds a host with a cable to a port of another node. */
void add_host(struct sim_fabric *f, uint32_t node, unsigned num);
void cable(struct sim_fabric *f, uint32_t node_a, unsigned num_a, uint32_t node_b, unsigned num_b);

/* P1 leads to the next switch, P2 to the one before, hosts are on P3 and on. */
struct sim_fabric *make_ring(unsigned switches, unsigned hosts);
/*
 * S1 … are leaves: P1 … lead to hosts, the next ports to the spines; Pn of a spine leads
 * to leaf n.
 */
struct sim_fabric *make_tree(unsigned leaves, unsigned hosts, unsigned spines);

enum routes { SHORTEST, ALONG_TREE };	/* ALONG_TREE: over a spanning tree's links only */
/*
 * Sets LIDs (hosts with the LMC; switches first), Active links with so many VLs,
 * SL n on VL n modulo vls, LFTs, arbitration and P_Keys.
 */
void bring_up(struct sim_fabric *f, unsigned vls, unsigned lmc, enum routes way);

uint32_t port_named(const struct sim_fabric *f, const char *name);	/* "S1/P2" */
uint16_t lid_of(const struct sim_fabric *f, const char *name);
void set_lft(struct sim_fabric *f, const char *sw, uint16_t lid, uint8_t num);
void set_sl2vl(struct sim_fabric *f, uint32_t sw, unsigned in, unsigned out, unsigned sl,
	       uint8_t vl);
void set_host_sl2vl(struct sim_fabric *f, const char *host, unsigned sl, uint8_t vl);
/* Sets (or clears) the bit of a switch port in an MLID's entry. */
void set_mft(struct sim_fabric *f, const char *port, uint32_t mlid, bool on);

#endif
