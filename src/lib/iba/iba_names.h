/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names the codes in MADs. */
#ifndef QOSD_LIB_IBA_IBA_NAMES_H
#define QOSD_LIB_IBA_IBA_NAMES_H

/* The name of an attribute of the SM classes (14.2.5); NULL if there is none with that id. */
const char *ib_attr_name(unsigned attr);
/* Text for the bits of a MAD status that all classes share (13.4.7). */
const char *ib_status_text(unsigned status);

#endif
