/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where a simulated fabric comes from: a file (load_topology.c), or a generator
 * (generate.c and a file per family).
 *
 * Both make nodes and cables only (sim/net/model.h); what the devices are and
 * hold at power-on is sim/dev's.  Nodes are in the order of the file.  How fast a
 * cable is, is written to both of its ports: cable_width, and cable_speed, which
 * is QDR with cable_ext for FDR and above, and QDR with cable_fdr10 for FDR10;
 * cable_speed is 0 only where nobody said anything.
 */
#ifndef QOSD_SIM_TOPO_TOPO_H
#define QOSD_SIM_TOPO_TOPO_H

#include "lib/base/findings.h"
#include "sim/net/model.h"

/* More is refused: a wrong number in a file or a parameter should not eat all memory. */
#define TOPO_PORTS_MAX (1u << 20)

/*
 * Reads a topology file, as fabric/dump/dump.h has them, into a fabric without nodes; ibnl: a directory
 * where IBNL files are looked for first, or NULL.  Speeds and widths of links, NodeDescriptions,
 * vendor and device ids, port GUIDs, LIDs, "base port 0"/"enhanced port 0" are taken from it as far
 * as it has them.  False with what dump_read() finds, and the fabric is of no use then.
 */
bool topo_load(const char *path, const char *ibnl, struct sim_fabric *f, struct findings *out);

/*
 * Makes a fabric from "KIND:PARAMETER,OPTION=VALUE,…" as topo_generators_help
 * lists them.  The same words make the same fabric.  False with the reason, and
 * what may be said, in err; the fabric is unchanged then.
 */
bool topo_generate(const char *spec, struct sim_fabric *f, struct buf *err);
/*
 * Whether the word is meant for topo_generate() rather than being a file's name:
 * letters, then a colon, and no slash.
 */
bool topo_is_generated(const char *word);
/* The generators and their options, for the usage text. */
extern const char topo_generators_help[];

#endif
