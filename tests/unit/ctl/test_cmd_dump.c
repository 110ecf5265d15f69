/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests the dump files: they are equal to OpenSM's if the tables are, and ibdmchk
 * reads them.  (ibdmchk crashes at its end, even on OpenSM's own files, so its
 * output counts, not its exit status.)
 *
 * promise: O7
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctl/commands/cmd_dump.h"
#include "lib/base/alloc.h"
#include "subnet.h"
#include "unit/run.h"
#include "unit/temp.h"

/* The output of OpenSM 3.3.23 on the small subnet, assembled from its repeating parts. */
#define SW_NEAR " VenID:0008F1 DevID:5A06"
#define SW_FAR " VenID:000008F1 DevID:5A060000"
#define CA_NEAR " VenID:0002C9 DevID:673C"
#define CA_FAR " VenID:000002C9 DevID:673C0000"
#define LEAF1(ids, pn) "{ SW Ports:04 SystemGUID:0008f10400410010 NodeGUID:0008f10400410017" \
	" PortGUID:0008f10400410017" ids " Rev:000000A1 {leaf one} LID:0003 PN:" pn " } "
#define LEAF2(ids, pn) "{ SW Ports:04 SystemGUID:0008f10400420000 NodeGUID:0008f10400420005" \
	" PortGUID:0008f10400420005" ids " Rev:000000A1 {leaf two} LID:0002 PN:" pn " } "
#define NODE1(ids, pn) "{ CA-SM Ports:01 SystemGUID:0002c90300000013 NodeGUID:0002c90300000010" \
	" PortGUID:0002c90300000011" ids " Rev:000000A1 {node1 HCA-1} LID:0001 PN:" pn " } "
#define NODE2(ids, pn) "{ CA Ports:01 SystemGUID:0002c90300000023 NodeGUID:0002c90300000020" \
	" PortGUID:0002c90300000021" ids " Rev:000000A1 {node2 HCA-1} LID:0004 PN:" pn " } "
#define STORAGE1(ids, pn) "{ CA Ports:01 SystemGUID:0002c90300000039 NodeGUID:0002c90300000036" \
	" PortGUID:0002c90300000037" ids " Rev:000000A1 {storage1 HCA-1} LID:0005 PN:" pn " } "
#define LINK "PHY=4x LOG=ACT SPD=10\n"

static const char subnet_lst[] =
	LEAF2(SW_NEAR, "01") STORAGE1(CA_FAR, "01") LINK
	LEAF2(SW_NEAR, "03") LEAF1(SW_FAR, "03") LINK
	LEAF2(SW_NEAR, "04") LEAF1(SW_FAR, "04") LINK
	NODE1(CA_NEAR, "01") LEAF1(SW_FAR, "01") LINK
	LEAF1(SW_NEAR, "01") NODE1(CA_FAR, "01") LINK
	LEAF1(SW_NEAR, "02") NODE2(CA_FAR, "01") LINK
	LEAF1(SW_NEAR, "03") LEAF2(SW_FAR, "03") LINK
	LEAF1(SW_NEAR, "04") LEAF2(SW_FAR, "04") LINK
	NODE2(CA_NEAR, "01") LEAF1(SW_FAR, "02") LINK
	STORAGE1(CA_NEAR, "01") LEAF2(SW_FAR, "01") LINK;

static const char fdbs[] =
	"dump_ucast_routes: Switch 0x0008f10400420005\n"
	"LID    : Port : Hops : Optimal\n"
	"0x0001 : 003  : 02   : yes\n"
	"0x0002 : 000  : 00   : yes\n"
	"0x0003 : 003  : 01   : yes\n"
	"0x0004 : 004  : 02   : yes\n"
	"0x0005 : 001  : 01   : yes\n"
	"dump_ucast_routes: Switch 0x0008f10400410017\n"
	"LID    : Port : Hops : Optimal\n"
	"0x0001 : 001  : 01   : yes\n"
	"0x0002 : 004  : 01   : yes\n"
	"0x0003 : 000  : 00   : yes\n"
	"0x0004 : 002  : 01   : yes\n"
	"0x0005 : 003  : 02   : yes\n";

static const char sl2vl_of_a_leaf[] =
	"Switch 0x0008f10400420005, base LID 2, \"leaf two\"\n"
	"#in out : 0  1  2  3  4  5  6  7  8  9  10 11 12 13 14 15\n"
	"#--------------------------------------------------------\n"
	"0   1   : 0  1  2  3  4  5  6  7  0  1  2  3  4  5  6  7 \n";

static const char sl2vl_of_a_host[] =
	"Channel Adapter 0x0002c90300000011, base LID 1, \"node1 HCA-1\"\n"
	"#in out : 0  1  2  3  4  5  6  7  8  9  10 11 12 13 14 15\n"
	"#--------------------------------------------------------\n"
	"0   0   : 0  1  2  3  4  5  6  7  0  1  2  3  4  5  6  7 \n"
	"#--------------------------------------------------------\n"
	"\n";

/* --- reading a dump --- */

static struct ctl_env env;
static struct subnet_state *state;
static struct buf files[5];
static size_t largest_piece;

static unsigned file_number(const char *name)
{
	static const char *const names[] = { "opensm-subnet.lst", "opensm.fdbs", "opensm.mcfdbs",
					     "opensm-sl2vl.dump", "qosd-devices.yaml" };

	for (unsigned i = 0; i < ARRAY_SIZE(names); i++)
		if (strcmp(name, names[i]) == 0)
			return i;
	ck_abort_msg("unknown file %s", name);
	return 0;
}

/* Writes all dump files of the state to files[]. */
static void dump_all(void)
{
	struct dump *d = dump_new(state, &env);
	unsigned last = 0, seen = 0;
	struct buf piece = { 0 };
	const char *name;

	for (unsigned i = 0; i < ARRAY_SIZE(files); i++)
		buf_free(&files[i]);
	for (largest_piece = 0; dump_next(d, &name, &piece); buf_consume(&piece, piece.n)) {
		unsigned i = file_number(name);

		ck_assert_uint_ge(i, last);
		last = i;
		seen |= 1u << i;
		buf_add(&files[i], piece.n ? piece.s : "", piece.n);
		if (piece.n > largest_piece)
			largest_piece = piece.n;
	}
	ck_assert_uint_eq(seen, 31);
	buf_free(&piece);
	dump_free(d);
}

static const char *text_of(unsigned file)
{
	return files[file].s ? files[file].s : "";
}

static void setup(void)
{
	env = (struct ctl_env){ .version = "0" };
	state = test_subnet();
}

static void teardown(void)
{
	for (unsigned i = 0; i < 4; i++)
		buf_free(&files[i]);
	test_subnet_free(state);
}

static void set_lft(const char *switch_name, uint16_t lid, uint8_t port)
{
	for (uint32_t sw = 0; sw < state->f->n_switches; sw++)
		if (strcmp(state->f->nodes[state->f->switches[sw].node].desc, switch_name) == 0)
			state->plan->lfts->entries[(size_t)sw * state->plan->lfts->stride + lid] =
				port;
}

/* Takes OpenSM's choice between the two equal links. */
static void route_as_opensm_did(void)
{
	set_lft("leaf two", 1, 3);
	set_lft("leaf two", 3, 3);
	set_lft("leaf two", 4, 4);
	set_lft("leaf one", 2, 4);
	set_lft("leaf one", 5, 3);
}

/* Sets the hardware revision of all simulated devices, which the loader does not know. */
static void set_revision(void)
{
	for (uint32_t i = 0; i < state->f->n_nodes; i++)
		memcpy(state->f->nodes[i].info + 32, "\0\0\0\xa1", 4);
}

/* --- against OpenSM --- */

/* The texts must be equal; a failure names the first line that differs. */
static void same_text(const char *ours, const char *theirs)
{
	size_t i = 0, line = 0;

	for (; ours[i] && ours[i] == theirs[i]; i++)
		if (ours[i] == '\n')
			line = i + 1;
	ck_assert_msg(ours[i] == theirs[i], "%.*s\nis not\n%.*s", (int)strcspn(ours + line, "\n"),
		      ours + line, (int)strcspn(theirs + line, "\n"), theirs + line);
}

START_TEST(links_are_as_opensm_writes_them)
{
	set_revision();
	dump_all();
	same_text(text_of(0), subnet_lst);
}
END_TEST

START_TEST(routes_are_as_opensm_writes_them)
{
	route_as_opensm_did();
	dump_all();
	same_text(text_of(1), fdbs);
}
END_TEST

START_TEST(sl2vl_is_as_opensm_writes_it)
{
	dump_all();
	ck_assert_int_eq(strncmp(text_of(3), sl2vl_of_a_leaf, strlen(sl2vl_of_a_leaf)), 0);
	ck_assert_ptr_nonnull(strstr(text_of(3), sl2vl_of_a_host));
	/* a packet never leaves by its input port */
	ck_assert_ptr_null(strstr(text_of(3), "\n1   1   :"));
	/* nor by a port without link; only leaf one has a link on port 2 */
	ck_assert_ptr_null(strstr(strstr(text_of(3), "\n0   2   :") + 1, "\n0   2   :"));
}
END_TEST

START_TEST(names_are_printable)
{
	strcpy(state->f->nodes[0].desc, "a\nb\x1b\xff");
	dump_all();
	ck_assert_ptr_nonnull(strstr(text_of(0), "{a b  }"));
}
END_TEST

/* --- wrong routes --- */

START_TEST(bad_routes_are_told)
{
	set_lft("leaf two", 1, LFT_DROP);
	set_lft("leaf two", 4, 2);	/* no link there */
	set_lft("leaf one", 5, 3);
	set_lft("leaf two", 5, 3);	/* back and forth */
	dump_all();
	ck_assert_ptr_nonnull(strstr(text_of(1), "0x0001 : UNREACHABLE\n"));
	ck_assert_ptr_nonnull(strstr(text_of(1), "0x0004 : 002  : HOPS UNKNOWN\n"));
	ck_assert_ptr_nonnull(strstr(text_of(1), "0x0005 : 003  : HOPS UNKNOWN\n"));
}
END_TEST

START_TEST(long_ways_are_told)
{
	struct subnet_state *small = state;
	uint32_t host;
	bool ambiguous;

	/* a ring of three switches, one of which routes the wrong way round */
	state = test_subnet_large(3, 2);
	host = fabric_find_port_by_text(state->f, "host2-1/P1", &ambiguous);
	ck_assert_uint_ne(host, FABRIC_NONE);
	set_lft("sw0", state->plan->lid[host], 3);
	set_lft("sw1", state->plan->lid[host], 3);
	set_lft("sw2", state->plan->lid[host], 1);
	dump_all();
	ck_assert_ptr_nonnull(strstr(text_of(1),
				     " : 003  : 03   : No 2 hop path possible via port 2!\n"));
	test_subnet_free(state);
	state = small;
}
END_TEST

/* --- multicast --- */

static bool mft_next(const struct sm *sm, const struct subnet_state *s, uint32_t sw,
		     uint32_t *cursor, uint16_t *mlid, uint64_t ports[4])
{
	const char *name = s->f->nodes[s->f->switches[sw].node].desc;

	ck_assert_ptr_eq(sm, (const void *)&env);
	if (strcmp(name, "leaf one") != 0 || *cursor == 2)
		return false;
	*mlid = (uint16_t)(0xc000 + *cursor * 5);
	ports[0] = *cursor == 0 ? 0x13 : 8;
	ports[1] = ports[2] = 0;
	ports[3] = *cursor ? 1 : 0;
	(*cursor)++;
	return true;
}

START_TEST(multicast_entries_are_written)
{
	env.mft_next = mft_next;
	env.sm = (void *)&env;	/* which only mft_next() looks at */
	dump_all();
	ck_assert_str_eq(text_of(2),
			 "\nSwitch 0x0008f10400410017\nLID    : Out Port(s)\n"
			 "0xC000 : 0x000  0x001  0x004 \n"
			 "0xC005 : 0x003  0x0C0 \n");
}
END_TEST

START_TEST(no_multicast_is_an_empty_file)
{
	dump_all();
	ck_assert_str_eq(text_of(2), "");
}
END_TEST

/* --- sizes --- */

START_TEST(pieces_are_small)
{
	struct subnet_state *small = state;

	state = test_subnet_large(20, 33);
	dump_all();
	ck_assert_uint_gt(files[1].n, 20 * 640 * 20);
	ck_assert_uint_lt(largest_piece, 64 << 10);
	test_subnet_free(state);
	state = small;
}
END_TEST

/* --- ibdmchk --- */

static void write_file(const char *dir, const char *name, const struct buf *text)
{
	char *path = xasprintf("%s/%s", dir, name);
	FILE *f = fopen(path, "w");

	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite(text->n ? text->s : "", 1, text->n, f), text->n);
	fclose(f);
	free(path);
}

/* Returns the output of ibdmchk for the dumped state. */
static struct buf ibdmchk(void)
{
	char *dir = temp_directory(), line[4096];
	struct buf said = { 0 };
	char *command;
	FILE *f;

	write_file(dir, "opensm-subnet.lst", &files[0]);
	write_file(dir, "opensm.fdbs", &files[1]);
	write_file(dir, "opensm.mcfdbs", &files[2]);
	write_file(dir, "opensm-sl2vl.dump", &files[3]);
	command = xasprintf("exec 2>&1; cd %s && ibdmchk -s opensm-subnet.lst -f opensm.fdbs "
			    "-m opensm.mcfdbs -d opensm-sl2vl.dump", dir);
	f = popen(command, "r");
	while (fgets(line, sizeof(line), f))
		buf_puts(&said, line);
	pclose(f);
	free(command);
	temp_directory_remove(dir);
	return said;
}

/* Whether there is an ibdmchk; says so if not. */
static bool have_ibdmchk(void)
{
	if (system("command -v ibdmchk >/dev/null") == 0)
		return true;
	printf("SKIP: ibdmchk is not installed\n");
	return false;
}

static void check_with_ibdmchk(unsigned nodes, unsigned paths)
{
	char *defined = xasprintf("/%u systems/nodes", nodes);
	char *scanned = xasprintf("Scanned:%u CA to CA paths", paths);
	struct buf said;

	dump_all();
	said = ibdmchk();
	ck_assert_msg(strstr(said.s, defined) != NULL, "%s: %s", defined, said.s);
	ck_assert_msg(strstr(said.s, scanned) != NULL, "%s: %s", scanned, said.s);
	ck_assert_msg(strstr(said.s, "no credit loops found") != NULL, "%s", said.s);
	ck_assert_msg(!strstr(said.s, "-E-"), "%s", said.s);
	buf_free(&said);
	free(defined);
	free(scanned);
}

START_TEST(ibdmchk_accepts_the_small_subnet)
{
	if (have_ibdmchk())
		check_with_ibdmchk(5, 3 * 2);
}
END_TEST

START_TEST(ibdmchk_finds_a_broken_route)
{
	struct buf said;

	if (!have_ibdmchk())
		return;
	set_lft("leaf one", 5, LFT_DROP);
	dump_all();
	said = ibdmchk();
	ck_assert_msg(strstr(said.s, "-E-") != NULL, "%s", said.s);
	buf_free(&said);
}
END_TEST

START_TEST(ibdmchk_accepts_a_real_cluster)
{
	const char *dir = getenv("QOSD_FABRICS");
	char *path = xasprintf("%s/psmn-x5.topo", dir ? dir : "");
	struct subnet_state *small = state;

	if (access(path, R_OK) != 0) {
		printf("SKIP: there is no %s (QOSD_FABRICS)\n", path);
	} else if (have_ibdmchk()) {
		state = test_subnet_load(path, false, test_policy());
		check_with_ibdmchk(100, 89 * 88);
		test_subnet_free(state);
		state = small;
	}
	free(path);
}
END_TEST

static Suite *dump_suite(void)
{
	Suite *s = suite_create("ctl dump");
	TCase *t = tcase_create("all");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 60);
	tcase_add_test(t, links_are_as_opensm_writes_them);
	tcase_add_test(t, routes_are_as_opensm_writes_them);
	tcase_add_test(t, sl2vl_is_as_opensm_writes_it);
	tcase_add_test(t, names_are_printable);
	tcase_add_test(t, bad_routes_are_told);
	tcase_add_test(t, long_ways_are_told);
	tcase_add_test(t, multicast_entries_are_written);
	tcase_add_test(t, no_multicast_is_an_empty_file);
	tcase_add_test(t, pieces_are_small);
	tcase_add_test(t, ibdmchk_accepts_the_small_subnet);
	tcase_add_test(t, ibdmchk_finds_a_broken_route);
	tcase_add_test(t, ibdmchk_accepts_a_real_cluster);
	suite_add_tcase(s, t);
	return s;
}

int main(void)
{
	return run_suite(dump_suite());
}
