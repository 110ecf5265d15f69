/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Makes a simulated fabric from a topology file or by a generator.
 *
 * Both make only nodes and cables (sim/net/model.h); sim/dev decides what the devices are and hold
 * at power-on.  Nodes are in the order of the file.  The speed of a cable is written to both of its
 * ports: cable_width, and cable_speed, which is QDR with cable_ext for FDR and above, and QDR with
 * cable_fdr10 for FDR10. cable_speed is 0 only if the source states no speed.
 */
#ifndef QOSD_SIM_TOPO_TOPO_H
#define QOSD_SIM_TOPO_TOPO_H

#include "fabric/dump/cable_speed.h"
#include "lib/base/findings.h"
#include "sim/net/model.h"

/* Larger fabrics are refused: a wrong number in a file or a parameter must not use up all memory. */
#define TOPO_PORTS_MAX (1u << 20)

/*
 * Reads a topology file (fabric/dump/dump.h describes the formats) into a fabric without nodes.
 * ibnl: a directory to search first for IBNL files, or NULL.  It takes speeds and widths of links,
 * NodeDescriptions, vendor and device ids, port GUIDs, LIDs, and "base port 0"/"enhanced port 0" if
 * the file has them.  False, with the findings of dump_read(), if that fails; the fabric is then
 * unusable.
 */
bool topo_load(const char *path, const char *ibnl, struct sim_fabric *f, struct findings *out);

/*
 * Makes a fabric from "KIND:PARAMETER,OPTION=VALUE,…"; topo_generators_help lists the kinds.  The
 * same specification always makes the same fabric.  False, with the reason and the valid choices in
 * err; the fabric is then unchanged.
 */
bool topo_generate(const char *spec, struct sim_fabric *f, struct buf *err);
/*
 * Whether the word is for topo_generate() rather than a file name: letters, then a colon, and no
 * slash.
 */
bool topo_is_generated(const char *word);
/* The generators and their options, for the usage text. */
extern const char topo_generators_help[];

/* Bounds the speed of the port and its peer; leaves what s does not state unchanged. */
void cable_speed_apply(struct sim_fabric *f, uint32_t port, struct cable_speed s);

#endif
