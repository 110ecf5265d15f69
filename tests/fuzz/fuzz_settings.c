/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Arbitrary bytes as qosd.yaml (libFuzzer's interface). */
#include <stdlib.h>

#include "config/conf.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct findings found = { 0 };
	struct settings *s = conf_read_settings("settings", (const char *)data, size, &found);

	if (!s != (found.count[SEV_ERROR] > 0))
		abort();
	settings_free(s);
	findings_free(&found);
	return 0;
}
