/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Arbitrary bytes as a dump of forwarding tables (libFuzzer's interface), of a small subnet; and
 * whatever tables come of it are measured.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "routing/gauge/gauge.h"
#include "routing/gauge/lft_dump.h"
#include "subnet.h"

/* The subnet's fabric with the LIDs that its plan has; made once. */
static const struct fabric *fabric(void)
{
	static struct fabric *f;
	const struct subnet_state *s = subnet_state();

	if (f)
		return f;
	f = fabric_clone(s->f);
	for (uint32_t i = 0; i < f->n_ports; i++) {
		f->ports[i].lid = s->plan->lid[i];
		f->ports[i].lmc = s->plan->lmc[i];
	}
	return f;
}

static void measure(const struct fabric *f, struct lfts *tables)
{
	struct gauge_options o = gauge_defaults;
	struct fabric_lids lids;
	struct gauge g;
	struct buf out = { 0 };

	o.bisections = 3;
	fabric_lids_init(&lids, f);
	gauge_measure(&lids.r, tables, &o, &g);
	gauge_print(&g, f, &out);
	if (g.connected > g.pairs || g.ebb < 0 || g.ebb > 1 || (g.layers == 1) == g.credit_loop)
		abort();
	buf_free(&out);
	fabric_lids_free(&lids);
	lfts_free(tables);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct fabric *f = fabric();
	struct lft_dump *d = lft_dump_new(f);
	struct lft_dump_left left;
	struct lfts *tables;
	struct buf why = { 0 };
	bool good = true;

	for (size_t at = 0; good && at < size; ) {
		const uint8_t *end = memchr(data + at, '\n', size - at);
		size_t n = end ? (size_t)(end - data) - at : size - at;
		char *line = malloc(n ? n : 1);	/* so that a sanitizer sees reads beyond it */

		memcpy(line, data + at, n);
		good = lft_dump_line(d, line, n, &why);
		free(line);
		at += n + 1;
	}
	tables = good ? lft_dump_end(d, &left, &why) : NULL;
	if (!good)
		lft_dump_free(d);
	if (!tables == !why.n)	/* a reason, and only where there is need of one */
		abort();
	if (tables)
		measure(f, tables);
	buf_free(&why);
	return 0;
}
