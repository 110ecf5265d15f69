/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What transceivers and the devices that hold them answer (libFuzzer's interface): the TLVs of an answer, a port's lanes,
 * and the memory of a module, read twice.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "lib/base/alloc.h"
#include "lib/iba/access_register.h"
#include "lib/iba/transceiver.h"

#define RANGES_MAX 64	/* of a reading that begins anew some times */

/* The next n bytes of the input, zeros after its end, in memory of their size. */
static uint8_t *take(const uint8_t **data, size_t *size, size_t n)
{
	uint8_t *bytes = xcalloc(n, 1);
	size_t have = n < *size ? n : *size;

	memcpy(bytes, *data, have);
	*data += have;
	*size -= have;
	return bytes;
}

static void take_answer(const uint8_t **data, size_t *size)
{
	struct mcia m = { .size = MCIA_BYTES };
	uint8_t *answer = take(data, size, REGISTER_TLVS + REGISTER_SMP_ROOM);
	struct port_lanes lanes;

	register_answer(answer, 0, REGISTER_MCIA, REGISTER_SMP_ROOM);
	mcia_answer(answer + REGISTER_TLVS, &m);
	plib_answer(answer + REGISTER_TLVS, 1);
	pmlp_answer(answer + REGISTER_TLVS, 1, &lanes);
	free(answer);
}

static void read_module(struct transceiver *t, const uint8_t **data, size_t *size)
{
	struct transceiver_range r;
	unsigned i = 0, n = 0;

	while (n++ < RANGES_MAX && transceiver_next(t, &i, &r)) {
		uint8_t *bytes = take(data, size, r.size);

		if (r.size > TRANSCEIVER_RANGE || r.offset + r.size > 256)
			abort();
		if (transceiver_take(t, &r, bytes))
			i = 0;
		free(bytes);
	}
	transceiver_end(t, 0x0f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct transceiver t = { 0 };
	enum quantity q;

	take_answer(&data, &size);
	for (unsigned second = 0; second < 2; second++)
		read_module(&t, &data, &size);
	for (q = 0; q < QUANTITIES; q++)
		for (unsigned lane = 0; lane < TRANSCEIVER_LANES; lane++)
			power_dbm(quantity_real(q, t.value[q][lane]));
	if (transceiver_worst(&t, &q) < THRESHOLDS && !(t.measured >> q & 1))
		abort();
	if (!*transceiver_identifier(&t) || !*transceiver_technology(&t) || !*transceiver_connector(&t) ||
	    strlen(t.vendor) >= sizeof(t.vendor))
		abort();
	return 0;
}
