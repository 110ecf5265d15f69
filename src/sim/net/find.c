/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds nodes and ports by the names that people use, and makes such names.
 *
 * A description may hold anything, even "/P1".  So a text is first tried as a node's whole name,
 * and only then as a node and a port.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/net/model.h"

static bool parse_guid(const char *text, uint64_t *guid)
{
	char *end;

	if (text[0] != '0' || (text[1] != 'x' && text[1] != 'X') ||
	    !isxdigit((unsigned char)text[2]))
		return false;
	*guid = strtoull(text, &end, 16);
	return *end == '\0' && end - text <= 18;
}

/* Number of nodes with that name; *node is the first. */
static unsigned nodes_called(const struct sim_fabric *f, const char *text, uint32_t *node)
{
	unsigned found = 0;

	for (uint32_t i = 0; i < f->n_nodes; i++) {
		const struct sim_node *n = &f->nodes[i];

		if (strcmp(n->desc, text) && strcmp(n->id, text))
			continue;
		if (!found++)
			*node = i;
	}
	return found;
}

/* Like nodes_called(), but also by GUID. */
static unsigned nodes_meant(const struct sim_fabric *f, const char *text, uint32_t *node)
{
	uint64_t guid;

	if (!*text)
		return 0;
	if (!parse_guid(text, &guid))
		return nodes_called(f, text, node);
	*node = map64_get(&f->node_by_guid, guid);
	if (*node == MAP64_NONE) {
		uint32_t port = map64_get(&f->port_by_guid, guid);

		if (port == MAP64_NONE)
			return nodes_called(f, text, node);
		*node = f->ports[port].node;
	}
	return 1;
}

/* The first node whose description begins with this word, as a host's does with its name; or NULL. */
static const char *name_with_word(const struct sim_fabric *f, const char *word)
{
	size_t n = strlen(word);

	for (uint32_t i = 0; n && i < f->n_nodes; i++)
		if (!strncmp(f->nodes[i].desc, word, n) && f->nodes[i].desc[n] == ' ')
			return f->nodes[i].desc;
	return NULL;
}

static void say_why_none(const struct sim_fabric *f, unsigned found, const char *text, struct buf *err)
{
	const char *meant = found ? NULL : name_with_word(f, text);

	if (found > 1)
		buf_printf(err, "%u nodes are named '%s': give the GUID", found, text);
	else
		buf_printf(err, "there is no node '%s'", text);
	if (meant)
		buf_printf(err, ": did you mean '%s'?", meant);
}

uint32_t find_node_by_text(const struct sim_fabric *f, const char *text, struct buf *err)
{
	uint32_t node = SIM_NONE;
	unsigned found = nodes_meant(f, text, &node);

	if (found == 1)
		return node;
	say_why_none(f, found, text, err);
	return SIM_NONE;
}

static uint32_t default_port(const struct sim_fabric *f, uint32_t node)
{
	const struct sim_node *n = &f->nodes[node];

	if (is_switch(n))
		return n->port0;
	for (uint32_t i = 1; i <= n->nports; i++)
		if (f->ports[n->port0 + i].peer != SIM_NONE)
			return n->port0 + i;
	return n->port0 + 1;
}

/* Splits "NODE/Pn" or "NODE[n]".  Returns the length of NODE; 0 if the text has neither form. */
static size_t split_port(const char *text, unsigned *num)
{
	size_t n = strlen(text), end = n;

	if (n && text[n - 1] == ']')
		end--;
	size_t digits = end;

	while (digits && isdigit((unsigned char)text[digits - 1]))
		digits--;
	if (digits == end || end - digits > 3)
		return 0;
	*num = (unsigned)atoi(text + digits);
	if (end < n)
		return digits >= 2 && text[digits - 1] == '[' ? digits - 1 : 0;
	return digits >= 3 && text[digits - 1] == 'P' && text[digits - 2] == '/' ? digits - 2 : 0;
}

static uint32_t port_of_node(const struct sim_fabric *f, uint32_t node, unsigned num,
			     struct buf *err)
{
	const struct sim_node *n = &f->nodes[node];

	if (num <= n->nports && (num || is_switch(n)))
		return n->port0 + num;
	buf_printf(err, "'%s' has no port %u", n->desc, num);
	return SIM_NONE;
}

uint32_t find_port_by_text(const struct sim_fabric *f, const char *text, struct buf *err)
{
	uint32_t node = SIM_NONE;
	uint64_t guid;
	unsigned num;

	if (parse_guid(text, &guid)) {
		uint32_t port = map64_get(&f->port_by_guid, guid);

		if (port != MAP64_NONE)
			return port;
	}
	unsigned found = nodes_meant(f, text, &node);
	size_t n = found ? 0 : split_port(text, &num);

	if (found == 1)
		return default_port(f, node);
	if (n == 0) {
		say_why_none(f, found, text, err);
		return SIM_NONE;
	}
	char *name = xstrndup(text, n);

	node = find_node_by_text(f, name, err);
	free(name);
	return node == SIM_NONE ? SIM_NONE : port_of_node(f, node, num, err);
}

char *sim_port_name(const struct sim_fabric *f, uint32_t port, char *out, unsigned size)
{
	const struct sim_node *n = node_of(f, port);

	if (*n->desc || *n->id)
		snprintf(out, size, "%s/P%u", *n->desc ? n->desc : n->id, f->ports[port].num);
	else
		snprintf(out, size, "0x%016jx/P%u", (uintmax_t)n->guid, f->ports[port].num);
	return out;
}
