/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See forget.h. */
#include "sm/sweep/forget.h"

bool forget_gone(struct map64 *guids, const struct map64 *present)
{
	struct map64 kept;

	if (guids->n <= present->n + FORGET_SPARE)
		return false;
	map64_init(&kept, present->n);
	for (uint32_t i = 0; i <= guids->mask; i++) {
		const struct map64_slot *s = &guids->slots[i];

		if (s->value != MAP64_NONE && map64_get(present, s->key) != MAP64_NONE)
			map64_put(&kept, s->key, s->value);
	}
	map64_free(guids);
	*guids = kept;
	return true;
}
