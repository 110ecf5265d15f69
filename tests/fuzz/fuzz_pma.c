/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What performance management agents answer (libFuzzer's interface): two reads of a port, each
 * attribute's answer with a byte of its length before it, and what is made of them.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "lib/base/alloc.h"
#include "perf/perf_internal.h"
#include "subnet.h"

/* Takes an answer off the input; none is silence. */
static void take_answer(const uint8_t **data, size_t *size, enum pma_attr a, uint8_t port,
			struct pma_values *v)
{
	size_t n = *size ? (*data)[0] + 1u : 0;
	uint8_t *mad;

	if (*size)
		++*data, --*size;
	if (n > *size)
		n = *size;
	/* of its own size, so that a sanitizer sees reads beyond it */
	mad = n ? xmemdup(*data, n) : NULL;
	pma_answer(mad, n, a, port, v);
	free(mad);
	*data += n;
	*size -= n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct subnet_state *s = subnet_state();
	struct perf_port x = { .us = 1000000 };

	while (x.port < s->f->n_ports && !(s->f->ports[x.port].num &&
					   s->f->ports[x.port].peer != FABRIC_NONE))
		x.port++;
	if (x.port == s->f->n_ports)
		abort();
	for (unsigned second = 0; second < 2; second++)
		for (enum pma_attr a = PMA_CAPS; a < PMA_ATTRS; a++)
			take_answer(&data, &size, a, s->f->ports[x.port].num,
				    second ? &x.after[a] : &x.before[a]);
	perf_evaluate(s, &x);
	for (unsigned vl = 0; vl < ARB_VLS; vl++)
		if (x.vls[vl].got > 1 || (x.vls[vl].got < 0 && x.vls[vl].verdict == VERDICT_SHORT))
			abort();
	return 0;
}
