/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See keyring.h. */
#include "sm/keys/keyring.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

unsigned keyring_find(const struct keyring *r, uint64_t key)
{
	unsigned i = 0;

	while (i < r->n && r->keys[i] != key)
		i++;
	return i;
}

void keyring_put_first(struct keyring *r, uint64_t key)
{
	unsigned at = keyring_find(r, key);

	if (at == r->n && r->n < KEYRING_MAX)
		r->n++;
	if (at == KEYRING_MAX)
		at--;
	memmove(r->keys + 1, r->keys, at * sizeof(*r->keys));
	r->keys[0] = key;
}

bool keyring_take_line(struct keyring *r, const char *line)
{
	uint64_t key;
	int end = 0;

	if (sscanf(line, "0x%16" SCNx64 "%n", &key, &end) != 1 || line[end] ||
	    r->n == KEYRING_MAX || keyring_find(r, key) < r->n)
		return false;
	r->keys[r->n++] = key;
	return true;
}

void keyring_print(const struct keyring *r, struct buf *b)
{
	for (unsigned i = 0; i < r->n; i++)
		buf_printf(b, "0x%016" PRIx64 "\n", r->keys[i]);
}
