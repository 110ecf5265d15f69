/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The SLs that each pair of ends uses, read from a file.
 *
 * A subnet manager gives them out in PathRecords, and no table in a device holds them, so the
 * auditor needs this file.
 */
#ifndef QOSD_SIM_CHECK_PATH_SLS_H
#define QOSD_SIM_CHECK_PATH_SLS_H

#include "sim/net/model.h"

struct path_sls {
	uint32_t n_ports;
	uint32_t lid_top;	/* the highest LID of an end port */
	uint16_t **by_lid;	/* [port][LID]: mask, bit n for SL n; NULL: the port is not in the file */
};

/*
 * Reads the text of an opensm-path-sls.dump, which `qosd-ctl dump` writes and ibdmchk reads.  For
 * each source it has a line with type and port GUID, followed by a line "0xLID : SL" for each
 * destination.  Several SLs of one pair add up, so that one text may hold the dumps of several
 * levels.  LIDs above those of all end ports are skipped.
 *
 * False, with "NAME:LINE: what is wrong" in err, if the text is malformed, names a port that the
 * fabric lacks, or names none. *p needs no path_sls_free() then.
 */
bool path_sls_read(struct path_sls *p, const struct sim_fabric *f, const char *name,
		   const char *text, size_t n, struct buf *err);
void path_sls_free(struct path_sls *p);

/* The SLs with which src sends to the LID; 0 if none is known. */
static inline uint16_t path_sls_of(const struct path_sls *p, uint32_t src, uint32_t lid)
{
	return p->by_lid[src] && lid <= p->lid_top ? p->by_lid[src][lid] : 0;
}

#endif
