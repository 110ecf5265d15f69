/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* In place of libFuzzer: takes the files that are named and runs each of them once. */
#include <stdio.h>
#include <stdlib.h>

#include "fuzz.h"
#include "lib/base/alloc.h"

int main(int argc, char **argv)
{
	static uint8_t data[1 << 16];

	for (int i = 1; i < argc; i++) {
		FILE *f = fopen(argv[i], "rb");

		if (!f) {
			perror(argv[i]);
			return 1;
		}
		size_t n = fread(data, 1, sizeof(data), f);

		fclose(f);
		/* of its own size, so that a sanitizer sees reads beyond it */
		uint8_t *copy = xmemdup(data, n);

		LLVMFuzzerTestOneInput(copy, n);
		free(copy);
	}
	printf("%d inputs\n", argc - 1);
	return 0;
}
