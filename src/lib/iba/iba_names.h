/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Words for codes of MADs. */
#ifndef QOSD_LIB_IBA_IBA_NAMES_H
#define QOSD_LIB_IBA_IBA_NAMES_H

/* Attributes of the SM classes (14.2.5); NULL: there is none with that id. */
const char *ib_attr_name(unsigned attr);
/* The bits of a MAD status that all classes share (13.4.7). */
const char *ib_status_text(unsigned status);

#endif
