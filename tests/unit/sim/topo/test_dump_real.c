/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests dumps of real fabrics, from $QOSD_FABRICS: printing the loaded fabric must give
 * the contents of the file.
 *
 * promise: V4
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "helper.h"
#include "unit/run.h"

static bool find(const char *name, char path[512])
{
	const char *dir = getenv("QOSD_FABRICS");

	snprintf(path, 512, "%s/%s", dir ? dir : "", name);
	if (dir && access(path, R_OK) == 0)
		return true;
	printf("skipped: %s is not in $QOSD_FABRICS\n", name);
	return false;
}

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

typedef VEC(char *) lines_t;

/* Lines that are no comments, sorted, any white space as one blank. */
static lines_t lines_of(char *text)
{
	lines_t lines = { 0 };
	char *save = NULL;

	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		struct buf b = { 0 };
		char *save_word = NULL;

		if (*line == '#' || strncmp(line, "Non-Chassis", 11) == 0)
			continue;
		for (char *w = strtok_r(line, " \t", &save_word); w;
		     w = strtok_r(NULL, " \t", &save_word))
			buf_printf(&b, "%s ", w);
		*vec_push(&lines) = b.s;
	}
	if (lines.n)
		qsort(lines.v, lines.n, sizeof(*lines.v), compare_lines);
	return lines;
}

static char *slurp(const char *path)
{
	FILE *in = fopen(path, "r");
	struct buf b = { 0 };
	char chunk[4096];
	size_t n;

	ck_assert_ptr_nonnull(in);
	while ((n = fread(chunk, 1, sizeof(chunk), in)) > 0)
		buf_add(&b, chunk, n);
	fclose(in);
	return b.s;
}

/* Lines of the one that are not in the other. */
static unsigned missing(const lines_t *a, const lines_t *b)
{
	unsigned n = 0;

	for (size_t i = 0; i < a->n; i++) {
		if (!bsearch(&a->v[i], b->v, b->n, sizeof(*b->v), compare_lines)) {
			printf("only on one side: %s\n", a->v[i]);
			n++;
		}
	}
	return n;
}

static void free_lines(lines_t *lines)
{
	for (size_t i = 0; i < lines->n; i++)
		free(lines->v[i]);
	vec_free(lines);
}

static unsigned starting_with(const lines_t *lines, const char *prefix)
{
	unsigned n = 0;

	for (size_t i = 0; i < lines->n; i++)
		n += strncmp(lines->v[i], prefix, strlen(prefix)) == 0;
	return n;
}

/* Returns how many lines of the file are printed otherwise. */
static unsigned differences(const char *path, const struct sim_fabric *f)
{
	struct buf printed = { 0 };
	char *file = slurp(path);
	lines_t want, got;
	unsigned n;

	print_dump(f, &printed);
	want = lines_of(file);
	got = lines_of(printed.s);
	ck_assert_uint_eq(want.n, got.n);
	ck_assert_uint_eq(count_nodes(f, SIM_SWITCH), starting_with(&want, "Switch "));
	ck_assert_uint_eq(count_nodes(f, SIM_CA), starting_with(&want, "Ca "));
	ck_assert_uint_eq(2 * count_links(f), starting_with(&want, "["));
	n = missing(&want, &got);
	free_lines(&want);
	free_lines(&got);
	free(file);
	buf_free(&printed);
	return n;
}

START_TEST(psmn_comes_back_as_it_was)
{
	char path[512];
	struct outcome o;

	if (!find("psmn-x5.topo", path))
		return;
	o = good(load_file(path));
	ck_assert_uint_eq(o.f->n_nodes, 100);
	ck_assert_uint_eq(o.f->n_switches, 11);
	ck_assert_uint_eq(count_links(o.f), 159);
	ck_assert_uint_eq(differences(path, o.f), 0);
	ck_assert(is_connected(o.f));
	/* Order of the file, names with "#" in them, kinds of port 0. */
	ck_assert_uint_eq(o.f->nodes[0].guid, 0x0008f10500200b50);
	ck_assert_str_eq(o.f->nodes[0].id, "S-0008f10500200b50");
	ck_assert(o.f->nodes[0].enhanced_port0 && !o.f->nodes[0].base_port0);
	ck_assert_uint_eq(o.f->nodes[1].guid, 0x0002c90200417670);
	ck_assert(!o.f->nodes[1].enhanced_port0 && o.f->nodes[1].base_port0);
	ck_assert_str_eq(node_of(o.f, o.f->ports[1].peer)->desc, "Voltaire 4036 # 4036-8C5C");
	outcome_free(&o);
}
END_TEST

/* Two of its links are 4x by one end and 1x by the other. */
START_TEST(two_switches_have_slow_links)
{
	char path[512];
	struct outcome o;

	if (!find("two-switch-sdr.topo", path))
		return;
	o = load_file(path);
	ck_assert(o.ok);
	check_sound(o.f);
	ck_assert_ptr_nonnull(strstr(o.warn.s, ":15:1: warning: 4xSDR by this end, 1xSDR by line 26"));
	ck_assert_ptr_nonnull(strstr(o.warn.s, ":18:1: warning: 4xSDR by this end, 1xSDR by line 52"));
	ck_assert_uint_eq(o.f->n_nodes, 6);
	ck_assert_uint_eq(count_links(o.f), 7);
	ck_assert_uint_eq(differences(path, o.f), 2);
	ck_assert_uint_eq(port_of(o.f, "ISR9024 Voltaire", 10)->cable_width, SIM_WIDTH_1X);
	ck_assert_uint_eq(port_of(o.f, "ISR9024 Voltaire", 6)->cable_width, SIM_WIDTH_4X);
	ck_assert_uint_eq(port_of(o.f, "ISR9024 Voltaire", 6)->cable_speed, SIM_SPEED_SDR);
	ck_assert_uint_eq(port_of(o.f, "SW-6IB4 Voltaire", 0)->lid, 3);
	ck_assert_uint_eq(o.f->nodes[1].sysimg_guid, 0);
	ck_assert_uint_eq(o.f->nodes[5].guid, 0x0008f10403960558);
	ck_assert_uint_eq(o.f->ports[o.f->nodes[5].port0 + 1].lid, 10);
	ck_assert_uint_eq(o.f->ports[o.f->nodes[5].port0 + 2].lid, 14);
	ck_assert_uint_eq(o.f->ports[o.f->nodes[5].port0 + 2].lmc, 1);
	outcome_free(&o);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("sim/topo/dump_real");
	TCase *tc = tcase_create("real dumps");

	tcase_add_test(tc, psmn_comes_back_as_it_was);
	tcase_add_test(tc, two_switches_have_slow_links);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
