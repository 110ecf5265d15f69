/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests that compressed text is what it was, by the decoders of Python. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/format/deflate.h"
#include "unit/run.h"

/* Three lengths, as base64 pads each in another way. */
/* promise: W1 */
START_TEST(unpacks)
{
	static const char unpack[] = "python3 -c 'import base64, sys, zlib; "
		"sys.stdout.write(zlib.decompress(base64.b64decode(sys.stdin.read(), validate=True)).decode())' >";
	char name[] = "/tmp/qosd-deflate.XXXXXX", command[512];
	struct buf text = { 0 }, packed = { 0 }, back = { 0 };
	FILE *python, *f;
	int fd = mkstemp(name);

	for (int i = 0; i < 1000 * _i; i++)
		buf_printf(&text, "node %d, ", i * i);
	for (int i = 0; i < _i; i++)
		buf_puts(&text, "x");
	deflate_base64(text.n ? text.s : "", text.n, &packed);
	ck_assert_uint_eq(packed.n % 4, 0);
	ck_assert(text.n < 1000 || packed.n < text.n);
	snprintf(command, sizeof(command), "%s%s", unpack, name);
	python = popen(command, "w");
	ck_assert_ptr_nonnull(python);
	fwrite(packed.s, 1, packed.n, python);
	ck_assert_int_eq(pclose(python), 0);
	f = fdopen(fd, "r");
	ck_assert(buf_read(&back, fileno(f), 1 << 20));
	ck_assert_uint_eq(back.n, text.n);
	ck_assert(!text.n || memcmp(back.s, text.s, text.n) == 0);
	fclose(f);
	remove(name);
	buf_free(&text);
	buf_free(&packed);
	buf_free(&back);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("deflate");
	TCase *tc = tcase_create("deflate");

	tcase_add_loop_test(tc, unpacks, 0, 5);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
