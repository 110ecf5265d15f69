/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Makes items for the table of what is missing (missing.h; private to its files). */
#ifndef QOSD_EVENTS_MISSING_ITEMS_H
#define QOSD_EVENTS_MISSING_ITEMS_H

#include "events/missing.h"

/* The name without control characters, as much as there is room for. */
void missing_set_name(struct missing_end *e, const char *name);
/* The item for the link of this port, of which the rate is that of the port. */
struct missing_item missing_item_of_link(const struct fabric *f, uint32_t port);
struct missing_item missing_item_of_node(const struct fabric *f, uint32_t node);

#endif
