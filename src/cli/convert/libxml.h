/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Loads libxml2 when the first XML document is read.
 *
 * Debian's libxml2 brings ICU and the C++ library with it, which take half of the time that qosd-ctl needs
 * to start, and only `convert` of an XML policy needs them.  So qosd-ctl is not linked with libxml2.
 */
#ifndef QOSD_CLI_CONVERT_LIBXML_H
#define QOSD_CLI_CONVERT_LIBXML_H

#include <libxml/parser.h>
#include <libxml/tree.h>

/* The functions of libxml2 that are used: xmlNewParserCtxt() and so on. */
struct libxml {
	xmlParserCtxtPtr (*new_context)(void);
	xmlDocPtr (*read_memory)(xmlParserCtxtPtr context, const char *text, int n, const char *name,
				 const char *encoding, int options);
	void (*free_context)(xmlParserCtxtPtr context);
	xmlNodePtr (*root_element)(const xmlDoc *doc);
	void (*free_doc)(xmlDocPtr doc);
};

/* Loads the library at the first call, for as long as the program runs; NULL if that fails, see libxml_error(). */
const struct libxml *libxml_load(void);
/* Why libxml_load() has failed, in words of the loader; valid until it is called again. */
const char *libxml_error(void);

#endif
