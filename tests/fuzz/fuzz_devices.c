/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Arbitrary bytes as the file of --devices (libFuzzer's interface). */
#include <stdlib.h>

#include "config/conf.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct findings found = { 0 };
	struct device_kinds *k = conf_read_devices("devices", (const char *)data, size, &found);

	if (!k != (found.count[SEV_ERROR] > 0))
		abort();
	for (size_t i = 0; k && i < k->rules.n; i++)
		if (k->rules.v[i].kind >= k->kinds.n)
			abort();
	device_kind_of(k, 0x2c90300000001, 1, "node001 HCA-1");
	device_kinds_free(k);
	findings_free(&found);
	return 0;
}
