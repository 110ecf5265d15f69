/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Loads libxml2; see libxml.h. */
#include "cli/convert/libxml.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

static char failure[256];

/* Sets *function, a pointer to a function, as POSIX describes it for dlsym(). */
static bool find(void *library, const char *name, void *function)
{
	void *symbol = dlsym(library, name);

	if (symbol)
		*(void **)function = symbol;
	return symbol;
}

static bool find_all(void *library, struct libxml *xml)
{
	return find(library, "xmlNewParserCtxt", &xml->new_context) &&
	       find(library, "xmlCtxtReadMemory", &xml->read_memory) &&
	       find(library, "xmlFreeParserCtxt", &xml->free_context) &&
	       find(library, "xmlDocGetRootElement", &xml->root_element) &&
	       find(library, "xmlFreeDoc", &xml->free_doc);
}

const struct libxml *libxml_load(void)
{
	static struct libxml xml;
	static bool loaded;
	void *library;

	if (loaded)
		return &xml;
	library = dlopen(XML_SONAME, RTLD_NOW);
	loaded = library && find_all(library, &xml);
	if (loaded)
		return &xml;
	snprintf(failure, sizeof(failure), "%s", dlerror());
	if (library)
		dlclose(library);
	return NULL;
}

const char *libxml_error(void)
{
	return failure;
}
