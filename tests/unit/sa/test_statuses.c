/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests the status of every request: each attribute of the SA class in IBA (15.2.5, table
 * 192), including those that qosd does not serve, with each method, component, length and
 * header.
 *
 * The table has for each attribute the layout of its record and the methods that qosd
 * serves.  The tests derive the rest from IBA:
 *
 *	13.4.6.1	responses, Send, Trap and TrapRepress have no answer
 *	13.4.7		0x0004 class version, 0x0008 method, 0x000c method with this
 *			attribute, 0x001c a value that an attribute can't have
 *	15.2.5		the AttributeModifier has no meaning but for PortInfoRecord
 *	C15-0.1.5	an SM_Key that is neither 0 nor ours: no answer
 *	15.4.4		one record answers a Get: 0x0300 there is none, 0x0400 more
 *			than one; a table may be empty
 *	13.4.2, 15.2.1	what is reserved is ignored, in headers, records and ComponentMask
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "rig.h"
#include "unit/run.h"

enum { GET = 0x01, SET = 0x02, REPORT = 0x06, TABLE = 0x12, TRACE = 0x13, MULTI = 0x14,
       DELETE = 0x15 };
enum { OK = 0, VERSION = 0x0004, METHOD = 0x0008, COMBINATION = 0x000c, VALUE = 0x001c,
       INVALID = 0x0200, NONE = 0x0300, MANY = 0x0400, GID = 0x0500, COMPONENTS = 0x0600,
       DENIED = 0x0700, DROPPED = 0xffff };

static struct rig r;

/* --- complete requests --- */

#define SERVICE 0x1234567890ull
static const uint8_t broadcast[16] = { 0xff, 0x12, 0x40, 0x1b, 0xff, 0xff, 0, 0, 0, 0, 0, 0,
				       0xff, 0xff, 0xff, 0xff };

static void fill_path(uint8_t *record)
{
	struct sa_path_record *p = (void *)record;

	rig_gid(HOST_GUID(H1), p->sgid);
	rig_gid(HOST_GUID(H3), p->dgid);
}

static void fill_multipath(uint8_t *record)
{
	struct sa_multipath_record *m = (void *)record;

	m->sgid_count = m->dgid_count = 1;
	rig_gid(HOST_GUID(H1), record + 24);
	rig_gid(HOST_GUID(H3), record + 40);
}

static void fill_member(uint8_t *record)
{
	memcpy(record, broadcast, 16);
	rig_gid(HOST_GUID(H1), record + 16);
	record[48] = 0x21;		/* Scope, JoinState: a full member */
}

static void fill_service(uint8_t *record)
{
	struct sa_service_record *s = (void *)record;

	put_be64(s->id, SERVICE);
	rig_gid(HOST_GUID(H1), s->gid);
	put_be16(s->pkey, 0xffff);
	put_be32(s->lease, UINT32_MAX);
	strcpy((char *)s->name, "service");
}

static void fill_inform(uint8_t *record)
{
	struct sa_inform_info *i = (void *)record;

	put_be16(i->lid_first, 0xffff);
	i->generic = i->subscribe = 1;
	put_be16(i->type, 0xffff);
	put_be16(i->number, 64);
	put_be32(i->producer, 0xffffff);
}

static void fill_guids(uint8_t *record)
{
	put_be16(record, rig_lid(&r, H1));
}

/* --- the attributes --- */

struct served {
	uint8_t method;
	uint16_t nothing;		/* status of a record of zeros without any component */
	/* A complete request, or one of nothing; its mask; what of that can't be left out. */
	void (*fill)(uint8_t *record);
	uint64_t mask, needed;
};

#define READ(status) { { .method = GET, .nothing = status }, { .method = TABLE, .nothing = OK } }
#define X4(w) w w w w
#define X8(w) X4(w) X4(w)
#define PATH_COMPONENTS \
	"s8 s56 s128 s128 s16 s16 s1 r3 s20 s8 s8 s1 s7 s16 s12 s4 s2 s6 s2 s6 s2 s6 s8 r48"

/*
 * components: widths in bits, in the order of the ComponentMask.  A letter before it: r
 * reserved, e no criterion, s has rules of its own (its tests are those of its handler).
 */
static const struct attribute {
	const char *name;
	uint16_t id;
	size_t len;			/* least bytes of a request's record */
	const char *components;
	struct served served[5];
} attributes[] = {
	{ "ClassPortInfo", 0x01, 0, "", { { .method = GET, .nothing = OK } } },
	{ "Notice", 0x02, 0, "", { { 0 } } },
	{ "InformInfo", 0x03, 36, "s128 s16 s16 r16 s8 s8 s16 s16 s24 r3 s5 r8 s24",
	  { { SET, INVALID, fill_inform, 0, 0 } } },	/* nothing is unsubscribed */
	{ "NodeRecord", 0x11, 108, "16 r16 8 8 8 8 64 64 64 16 16 32 8 24 512", READ(MANY) },
	{ "PortInfoRecord", 0x12, 68,
	  "16 8 e8 64 64 16 16 32 16 16 8 8 8 8 4 4 4 4 2 r3 3 4 4 4 4 4 4 8 8 8 4 4 3 5 4 1 1 1 1 "
	  "16 16 16 8 1 r2 5 r3 5 4 4 16 r8 24 16 4 4 r3 5", READ(MANY) },
	{ "SLtoVLMappingTableRecord", 0x13, 16, "16 8 8 r32 " X8("4 ") X8("4 "), READ(MANY) },
	{ "SwitchInfoRecord", 0x14, 24,
	  "16 r16 16 16 16 16 8 8 8 5 1 2 16 16 1 1 1 1 1 r11 16", READ(MANY) },
	{ "LinearForwardingTableRecord", 0x15, 72, "16 16 r32 512", READ(MANY) },
	{ "RandomForwardingTableRecord", 0x16, 72, "16 16 r32 512", READ(NONE) },
	{ "MulticastForwardingTableRecord", 0x17, 72, "16 4 r3 9 r32 512", READ(MANY) },
	{ "SMInfoRecord", 0x18, 25, "16 r16 64 64 32 4 4", READ(OK) },
	{ "LinkRecord", 0x20, 6, "16 8 8 16", READ(MANY) },
	{ "GuidInfoRecord", 0x30, 72, "16 8 r8 r32 " X8("64 "),
	  { { .method = GET, .nothing = MANY }, { .method = TABLE, .nothing = OK },
	    { SET, COMPONENTS, fill_guids, 3, 3 }, { DELETE, COMPONENTS, fill_guids, 3, 3 } } },
	{ "ServiceRecord", 0x31, 176,
	  "64 128 16 r16 32 128 512 " X8("8 ") X8("8 ") X8("16 ") X4("32 ") "64 64",
	  { { .method = GET, .nothing = OK }, { .method = TABLE, .nothing = OK },
	    { SET, COMPONENTS, fill_service, SR_ID | SR_GID | SR_PKEY | SR_LEASE | SR_NAME,
	      SR_ID | SR_GID },
	    /* o15-0.2.2: P_Key and lease, too; without them, OpenSM's defaults apply */
	    { DELETE, COMPONENTS, fill_service, SR_ID | SR_GID | SR_PKEY, SR_ID | SR_GID } } },
	/* C15-0.2.9: to trusted requests only; the others are well-formed, and denied */
	{ "P_KeyTableRecord", 0x33, 72, "16 16 8 r24 512",
	  { { .method = GET, .nothing = DENIED }, { .method = TABLE, .nothing = DENIED } } },
	{ "PathRecord", 0x35, 64,
	  PATH_COMPONENTS,
	  { { GET, COMPONENTS, fill_path, PR_SGID | PR_DGID, PR_SGID | PR_DGID },
	    /* C15-0.1.19 wants SGID and NumbPath: saquery, ibacm and srp_daemon do not have both */
	    { TABLE, OK, fill_path, PR_SGID | PR_DGID, 0 } } },
	{ "VLArbitrationTableRecord", 0x36, 72, "16 8 8 r32 512", READ(MANY) },
	{ "MCMemberRecord", 0x38, 52,
	  "128 s128 32 16 s2 s6 8 16 s2 s6 s2 s6 4 20 8 4 s4 s1 r23",
	  { { .method = GET, .nothing = OK }, { .method = TABLE, .nothing = OK },
	    /* o15-0.1.9, o15-0.1.14; what makes a group is not needed to join one */
	    { SET, COMPONENTS, fill_member, 0x10003, 0x10003 },
	    { DELETE, COMPONENTS, fill_member, 0x10003, 0x10003 } } },
	/* the request is a PathRecord */
	{ "TraceRecord", 0x39, 64, PATH_COMPONENTS,
	  { { TRACE, COMPONENTS, fill_path, PR_SGID | PR_DGID, PR_SGID | PR_DGID } } },
	{ "MultiPathRecord", 0x3a, 24,
	  "s1 r3 s20 s8 s8 s1 s7 s16 s12 s4 s2 s6 s2 s6 s2 s6 s8 s2 r6 s8 s8 s56",
	  { { MULTI, COMPONENTS, fill_multipath, MPR_SGID_COUNT | MPR_DGID_COUNT,
	      MPR_SGID_COUNT | MPR_DGID_COUNT } } },
	{ "ServiceAssociationRecord", 0x3b, 0, "", { { 0 } } },
	{ "HierarchyInfoRecord", 0x3c, 0, "", { { 0 } } },
	{ "CableInfoRecord", 0x3d, 0, "", { { 0 } } },
	{ "PortInfoExtendedRecord", 0x3e, 0, "", { { 0 } } },
	{ "LinkSpeedWidthPairsTable", 0x21, 0, "", { { 0 } } },
	{ "InformInfoRecord", 0xf3, 60, "128 16 r48 128 16 16 r16 8 8 16 16 24 r3 5 r8 24", READ(OK) },
	{ "none", 0x00, 0, "", { { 0 } } },
	{ "SMInfo", 0x20 + 0xff00, 0, "", { { 0 } } },	/* of other classes, or undefined */
	{ "none", 0xffff, 0, "", { { 0 } } },
};

struct component {
	char kind;		/* 0: a criterion */
	unsigned offset, width;
};

/* Gets the components of an attribute; returns their number. */
static unsigned components_of(const struct attribute *a, struct component c[64])
{
	const char *s = a->components;
	unsigned n = 0, offset = 0;

	for (; *s; n++) {
		char *end;

		c[n].kind = *s >= 'a' ? *s++ : 0;
		c[n].offset = offset;
		c[n].width = (unsigned)strtoul(s, &end, 10);
		offset += c[n].width;
		s = end + strspn(end, " ");
	}
	ck_assert_msg(offset == a->len * 8, "%s: %u bits", a->name, offset);
	return n;
}

/* --- asking --- */

static const struct served *served_with(const struct attribute *a, uint8_t method)
{
	for (const struct served *s = a->served; s->method; s++)
		if (s->method == method)
			return s;
	return NULL;
}

/* Sends the request; returns the status, or DROPPED. */
static unsigned ask(void)
{
	uint8_t *copy = malloc(r.len + 1);	/* of its own, for the sanitizer */
	struct sa_request req = { .mad = copy, .len = r.len, .slid = r.slid, .qpn = r.qpn };
	bool answered;

	memcpy(copy, r.mad, r.len);
	answered = rig_answer(&r, &req);
	free(copy);
	ck_assert_uint_eq(answered, r.out.n > 0);
	ck_assert_uint_eq(r.sa.stats->requests, r.sa.stats->answered + r.sa.stats->dropped);
	return answered ? get_be16(r.out.s + 4) : DROPPED;
}

static void expect(unsigned status, unsigned want, const struct attribute *a, uint8_t method,
		   const char *what, uint64_t value)
{
	ck_assert_msg(status == want, "%s, method 0x%02x, %s 0x%llx: status 0x%04x, not 0x%04x",
		      a->name, method, what, (unsigned long long)value, status, want);
}

/* Makes a complete request, and what it changes or ends. */
static void complete(const struct attribute *a, const struct served *s)
{
	const struct served *set = served_with(a, SET);

	if (s->method == DELETE) {
		set->fill(rig_request(&r, SET, a->id, set->mask));
		ck_assert_uint_eq(ask(), OK);
	}
	uint8_t *record = rig_request(&r, s->method, a->id, s->mask);

	if (s->fill)
		s->fill(record);
}

static unsigned good(const struct served *s)
{
	return s->fill ? OK : s->nothing;
}

/* Each attribute with each method that it is served with. */
#define EACH_SERVED(a, s) \
	for (const struct attribute *a = attributes; a < attributes + ARRAY_SIZE(attributes); a++) \
		for (const struct served *s = a->served; s->method; s++)

static bool sm_info(void *arg, uint32_t i, struct sa_sm_info *out)
{
	(void)arg;
	*out = (struct sa_sm_info){ HOST_GUID(H1), 5, 3, 3 };
	return i == 0;
}

static uint32_t mft_blocks(void *arg)
{
	(void)arg;
	return 1;
}

static bool mft_block(void *arg, uint64_t guid, unsigned block, unsigned position,
		      uint8_t entries[64])
{
	(void)arg;
	(void)guid;
	memset(entries, 0, 64);
	return block == 0 && position == 0;
}

static void setup(void)
{
	rig_init(&r);
	r.policy->has_fabric_setup = true;	/* else there are no tables of QoS */
	rig_start(&r);
	r.sa.sm = (struct sa_sm_hooks){ sm_info, mft_blocks, mft_block, NULL };
	fill_service(rig_request(&r, SET, 0x31, 0x57));
	ck_assert_uint_eq(ask(), OK);
	fill_inform(rig_request(&r, SET, 0x03, 0));
	ck_assert_uint_eq(ask(), OK);
}

static void teardown(void)
{
	rig_end(&r);
}

/* --- methods --- */

static unsigned by_method(const struct attribute *a, uint8_t method)
{
	static const uint8_t of_class[] = { GET, SET, REPORT, TABLE, TRACE, MULTI, DELETE };
	const struct served *s = served_with(a, method);

	if (method & 0x80 || method == 0x03 || method == 0x05 || method == 0x07)
		return DROPPED;
	return s ? s->nothing : memchr(of_class, method, sizeof(of_class)) ? COMBINATION : METHOD;
}

/* promise: S6 */
START_TEST(methods)
{
	for (const struct attribute *a = attributes; a < attributes + ARRAY_SIZE(attributes); a++)
		for (unsigned method = 0; method < 256; method++) {
			rig_request(&r, (uint8_t)method, a->id, 0);
			expect(ask(), by_method(a, (uint8_t)method), a, (uint8_t)method,
			       "attribute", a->id);
		}
}
END_TEST

/* --- headers --- */

/* promise: S6 */
START_TEST(lengths)
{
	EACH_SERVED(a, s) {
		const size_t end = SA_HDR_LEN + a->len;
		const struct { size_t len; unsigned status; } cases[] = {
			{ 0, DROPPED }, { 23, DROPPED },	/* no header, no TransactionID */
			{ 24, INVALID }, { 55, INVALID }, { end - 1, INVALID },
			{ end, a->id == 0x3a ? INVALID : good(s) },	/* its GIDs follow */
			{ 256, good(s) },
			{ 257, a->id == 0x3a ? OK : INVALID }, { 2048, a->id == 0x3a ? OK : INVALID },
		};

		for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
			complete(a, s);
			r.len = cases[i].len;
			expect(ask(), cases[i].status, a, s->method, "length", r.len);
		}
	}
}
END_TEST

/* promise: S6 */
START_TEST(headers)
{
	static const struct { const char *what; unsigned at; uint64_t value; unsigned bytes, status; }
	cases[] = {
		{ "BaseVersion", 0, 0, 1, DROPPED }, { "BaseVersion", 0, 2, 1, DROPPED },
		{ "MgmtClass", 1, 0x01, 1, DROPPED }, { "MgmtClass", 1, 0x81, 1, DROPPED },
		{ "MgmtClass", 1, 0x04, 1, DROPPED }, { "MgmtClass", 1, 0x07, 1, DROPPED },
		{ "ClassVersion", 2, 0, 1, VERSION }, { "ClassVersion", 2, 1, 1, VERSION },
		{ "ClassVersion", 2, 3, 1, VERSION }, { "ClassVersion", 2, 0xff, 1, VERSION },
		{ "SM_Key", 36, SM_KEY + 1, 8, DROPPED }, { "SM_Key", 36, 1, 8, DROPPED },
		/* has no meaning in a request: ignored */
		{ "AttributeModifier", 20, 1, 4, OK }, { "AttributeModifier", 20, 1 << 30, 4, OK },
		{ "AttributeModifier", 20, UINT32_MAX, 4, OK },
		{ "Status", 4, 0x7fff, 2, OK }, { "ClassSpecific", 6, 0xffff, 2, OK },
		{ "reserved", 18, 0xffff, 2, OK }, { "AttributeOffset", 44, 0xffff, 2, OK },
		{ "reserved", 46, 0xffff, 2, OK },
		/* 13.6.2.1: of an RMPP header that is not active */
		{ "RMPPVersion", 24, 0xff, 1, OK }, { "RMPPType", 25, 0xff, 1, OK },
		{ "RMPPFlags", 26, 0xfe, 1, OK }, { "RMPPStatus", 27, 0xff, 1, OK },
		{ "SegmentNumber", 28, UINT32_MAX, 4, OK }, { "PayloadLength", 32, UINT32_MAX, 4, OK },
	};

	EACH_SERVED(a, s)
		for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
			uint8_t value[8];

			complete(a, s);
			put_be64(value, cases[i].value);
			memcpy(r.mad + cases[i].at, value + 8 - cases[i].bytes, cases[i].bytes);
			expect(ask(), cases[i].status ? cases[i].status : good(s), a, s->method,
			       cases[i].what, cases[i].value);
		}
}
END_TEST

/* C15-0.1.5: the right SM_Key permits denied requests, and changes nothing else. */
START_TEST(the_right_key)
{
	EACH_SERVED(a, s) {
		complete(a, s);
		put_be64(r.mad + 36, SM_KEY);
		expect(ask(), good(s) != DENIED ? good(s) : s->method == GET ? MANY : OK, a,
		       s->method, "SM_Key", SM_KEY);
	}
}
END_TEST

/* The one AttributeModifier that means anything: the subset match of PortInfoRecord (15.2.5.3). */
START_TEST(subset_match)
{
	EACH_SERVED(a, s) {
		complete(a, s);
		put_be32(r.mad + 20, 1u << 31);
		expect(ask(), good(s), a, s->method, "AttributeModifier", 1u << 31);
	}
}
END_TEST

/*
 * Before there is a subnet, and in standby, the SA does not answer, so that clients ask again, except
 * for requests that can never succeed.
 */
START_TEST(without_a_subnet)
{
	struct subnet_state *s = r.state;

	for (const struct attribute *a = attributes; a < attributes + ARRAY_SIZE(attributes); a++)
		for (unsigned method = 0; method < 256; method++) {
			r.sa.state = NULL;
			rig_request(&r, (uint8_t)method, a->id, 0);
			expect(ask(), served_with(a, (uint8_t)method) ? DROPPED : by_method(a, (uint8_t)method),
			       a, (uint8_t)method, "attribute", a->id);
		}
	r.sa.state = s;
}
END_TEST

/* --- components --- */

static uint8_t sample[256];	/* a record that there is */

static void flip(uint8_t *record, const struct component *c)
{
	for (unsigned bit = c->offset; bit < c->offset + c->width; bit++)
		record[bit / 8] ^= (uint8_t)(0x80 >> bit % 8);
}

static bool is_there(const struct attribute *a)
{
	unsigned n = rig_records(&r, a->len);

	for (unsigned i = 0; i < n; i++)
		if (!memcmp(rig_record(&r, i), sample, a->len))
			return true;
	return false;
}

/*
 * By these components, of which those in `wrong` do not have the sample's value: is it found
 * when it should be?  And a Get is answered by how many there are.
 */
static void look_for(const struct attribute *a, const struct component *c, uint64_t mask,
		     uint64_t wrong, bool trusted)
{
	uint8_t *record = rig_request(&r, TABLE, a->id, mask);
	bool differs = false;
	unsigned n;

	memcpy(record, sample, a->len);
	for (unsigned i = 0; i < 64; i++)
		if (wrong >> i & 1) {
			flip(record, &c[i]);
			differs |= mask >> i & 1 && !c[i].kind;
		}
	if (trusted)
		put_be64(r.mad + 36, SM_KEY);
	expect(ask(), OK, a, TABLE, "mask", mask);
	ck_assert_msg(is_there(a) == !differs, "%s, mask 0x%llx, wrong 0x%llx: %s", a->name,
		      (unsigned long long)mask, (unsigned long long)wrong,
		      differs ? "found" : "not found");
	n = rig_records(&r, a->len);
	r.mad[3] = GET;
	expect(ask(), n == 1 ? OK : n ? MANY : NONE, a, GET, "mask", mask);
}

static uint64_t of_kind(const struct component *c, unsigned n, char kind)
{
	uint64_t bits = 0;

	for (unsigned i = 0; i < n; i++)
		bits |= c[i].kind == kind ? 1ull << i : 0;
	return bits;
}

static void look_for_sample(const struct attribute *a, bool trusted)
{
	struct component c[64] = { { 0 } };
	unsigned n = components_of(a, c);
	uint64_t criteria = of_kind(c, n, 0), reserved = of_kind(c, n, 'r');
	uint64_t unused = n < 64 ? ~0ull << n : 0;

	for (unsigned i = 0; i < n; i++) {
		uint64_t one = 1ull << i;

		if (one & reserved)
			look_for(a, c, one, one, trusted);
		/* components outside the mask and reserved ones may have any value */
		else if (!(one & criteria))
			continue;
		look_for(a, c, one & ~reserved, reserved | (criteria & ~one), trusted);
		if (one & criteria)
			look_for(a, c, one, one, trusted);
		for (unsigned k = 0; k < i; k++)
			if (criteria >> k & one >> i) {
				look_for(a, c, one | 1ull << k, 0, trusted);
				look_for(a, c, one | 1ull << k, one, trusted);
				look_for(a, c, one | 1ull << k, 1ull << k, trusted);
			}
	}
	look_for(a, c, criteria, 0, trusted);
	look_for(a, c, criteria | reserved | unused, reserved, trusted);
}

/* promise: S6 */
START_TEST(components)
{
	const struct attribute *a = &attributes[_i];
	const struct served *s = served_with(a, TABLE);
	bool trusted = s && s->nothing == DENIED;
	struct component c[64];

	if (!s || s->fill || a->id == 0x16)
		return;
	ck_assert_uint_gt(components_of(a, c), 0);
	rig_request(&r, TABLE, a->id, 0);
	if (trusted)
		put_be64(r.mad + 36, SM_KEY);
	expect(ask(), OK, a, TABLE, "mask", 0);
	ck_assert_uint_gt(rig_records(&r, a->len), 0);
	memcpy(sample, rig_record(&r, 0), a->len);
	look_for_sample(a, trusted);
}
END_TEST

/* Required components of a Set, Delete, GetMulti or Get: one alone, pairs, and all but one. */
/* promise: S6 */
/* A Delete of a service whose mask has nothing of the RID takes the RID from its record. */
static bool by_record(const struct attribute *a, const struct served *s, uint64_t mask)
{
	return a->id == 0x31 && s->method == DELETE && !(mask & (SR_ID | SR_GID | SR_PKEY));
}

START_TEST(needed_components)
{
	EACH_SERVED(a, s) {
		struct component c[64];
		unsigned n;

		if (!s->needed)
			continue;
		n = components_of(a, c);
		for (unsigned i = 0; i < n; i++)
			for (unsigned k = 0; k <= i; k++) {
				uint64_t mask = 1ull << i | 1ull << k;

				/* half a ServiceID lacks the other half: the same status */
				complete(a, s);
				rig_set_mask(&r, mask);
				if ((mask & s->needed) == s->needed || by_record(a, s, mask))
					expect(ask(), OK, a, s->method, "mask", mask);
				/* with LID 0, which no port has, and MTU 0, which is invalid */
				else if (s->fill == fill_path && (mask & (PR_SLID | PR_DLID) ||
							   (k >= 16 && k + 1 == i && k % 2 == 0)))
					ck_assert_uint_ne(ask(), OK);
				else
					expect(ask(), COMPONENTS, a, s->method, "mask", mask);
				complete(a, s);
				rig_set_mask(&r, s->mask & ~mask);
				expect(ask(), mask & s->needed ? COMPONENTS : OK, a, s->method,
				       "mask", s->mask & ~mask);
			}
	}
}
END_TEST

/* Reserved bits of the record, and of the mask after the last component, change nothing. */
START_TEST(reserved_bits)
{
	EACH_SERVED(a, s) {
		struct component c[64];
		unsigned n = components_of(a, c);
		uint64_t mask = s->mask | of_kind(c, n, 'r') | (n < 64 ? ~0ull << n : 0);

		complete(a, s);
		rig_set_mask(&r, mask);
		for (unsigned i = 0; i < n; i++)
			if (c[i].kind == 'r')
				flip(r.mad + SA_HDR_LEN, &c[i]);
		expect(ask(), good(s), a, s->method, "mask", mask);
	}
}
END_TEST

/* --- values --- */

/* Complete requests except for the value of one component, which is in the mask. */
static const struct value {
	uint16_t attr;
	uint8_t method;
	unsigned component;
	uint64_t value;			/* in its lowest 64 bits, zeros above */
	uint16_t status;
} values[] = {
	/* InformInfo: bits of one value each (13.4.8.3); no port has a multicast LID */
	{ 0x03, SET, 4, 2, VALUE }, { 0x03, SET, 5, 2, VALUE }, { 0x03, SET, 1, 0, OK },
	{ 0x03, SET, 1, 0xc001, INVALID },
	{ 0x03, SET, 0, 0x999, GID },		/* of an unknown subnet */
	{ 0x03, SET, 7, 256, DENIED },		/* C15-0.2-1.16: M_Key violations */
	{ 0x03, SET, 5, 0, OK }, { 0x03, SET, 5, 0, INVALID },	/* o13-12: unsubscribed; and again */
	/* ServiceRecord: a GID that no port has; a P_Key that the requester does not have */
	{ 0x31, SET, 1, 0x999, GID }, { 0x31, SET, 2, 0x8123, INVALID },
	{ 0x31, DELETE, 0, 0x999, NONE }, { 0x31, DELETE, 2, 0x8123, INVALID },
	{ 0x31, GET, 0, 0x999, NONE }, { 0x31, TABLE, 0, 0x999, OK },
	/* PathRecord (15.2.5.16): ends that do not exist */
	{ 0x35, GET, 3, 0x999, GID }, { 0x35, GET, 2, 0x999, GID }, { 0x35, TABLE, 2, 0x999, GID },
	{ 0x35, GET, 5, 0x999, NONE }, { 0x35, GET, 4, 0x999, NONE }, { 0x35, TABLE, 4, 0x999, OK },
	{ 0x35, GET, 5, 0xc001, NONE }, { 0x35, GET, 4, 0xffff, NONE },
	{ 0x35, GET, 13, 0x8123, NONE }, { 0x35, TABLE, 13, 0x8123, OK },	/* nobody shares it */
	{ 0x35, GET, 0, 1, COMPONENTS }, { 0x35, GET, 1, 1, COMPONENTS },	/* half a ServiceID */
	{ 0x35, GET, 16, 3, OK }, { 0x35, GET, 17, 0, OK },	/* selector, value: no criterion alone */
	{ 0x35, GET, 12, 0, OK }, { 0x35, TABLE, 12, 0, OK }, { 0x35, GET, 22, 9, OK },
	/* TraceRecord: as a Get of that PathRecord, and nothing else is a path's trace */
	{ 0x39, TRACE, 3, 0x999, GID }, { 0x39, TRACE, 2, 0x999, GID },
	{ 0x39, TRACE, 5, 0x999, NONE }, { 0x39, TRACE, 4, 0x999, NONE },
	{ 0x39, TRACE, 13, 0x8123, NONE }, { 0x39, TRACE, 0, 1, COMPONENTS },
	{ 0x39, TRACE, 16, 3, OK }, { 0x39, TRACE, 12, 0, OK }, { 0x39, TRACE, 22, 9, OK },
	/* MCMemberRecord (15.2.5.17) */
	{ 0x38, SET, 16, 0, INVALID },		/* no membership at all */
	{ 0x38, SET, 1, 0x999, GID }, { 0x38, DELETE, 1, 0x999, GID },
	{ 0x38, SET, 0, 0x999, COMPONENTS },	/* o15-0.1.9: no group, nor what makes one */
	{ 0x38, SET, 2, 0x999, INVALID },	/* o15-0.1.10: not the group's Q_Key … */
	{ 0x38, SET, 3, 0xc999, INVALID }, { 0x38, SET, 7, 0x8123, INVALID },
	{ 0x38, SET, 17, 1, INVALID },		/* sent by itself, but on behalf of another port */
	{ 0x38, SET, 12, 9, OK },		/* IPoIB cannot know the SL, which the policy decides */
	{ 0x38, DELETE, 16, 2, INVALID },	/* o15-0.1.14: the requester is not such a member */
	{ 0x38, DELETE, 0, 0x999, INVALID },	/* … nor of a group that does not exist */
	{ 0x38, GET, 0, 0x999, NONE }, { 0x38, TABLE, 0, 0x999, OK },
	/* MultiPathRecord (15.2.5.20) */
	{ 0x3a, MULTI, 19, 0, INVALID }, { 0x3a, MULTI, 20, 0, INVALID },	/* no source */
	{ 0x3a, MULTI, 19, 200, INVALID },	/* more than came */
	{ 0x3a, MULTI, 20, 2, GID },		/* 0: a GID that no port has */
	{ 0x3a, MULTI, 6, 0x8123, OK }, { 0x3a, MULTI, 16, 1, COMPONENTS },
	{ 0x3a, MULTI, 17, 3, OK },		/* a reserved IndependenceSelector */
};

/* promise: S6 */
START_TEST(wrong_values)
{
	for (const struct value *v = values; v < values + ARRAY_SIZE(values); v++) {
		const struct attribute *a = attributes;
		struct component c[64];
		unsigned n;

		while (a->id != v->attr)
			a++;
		n = components_of(a, c);
		ck_assert_uint_lt(v->component, n);
		const struct served *s = served_with(a, v->method);
		const struct component *x = &c[v->component];

		complete(a, s);
		uint8_t *record = r.mad + SA_HDR_LEN;

		for (unsigned i = 0; i < x->width; i++) {
			unsigned bit = x->offset + x->width - 1 - i, mask = 0x80 >> bit % 8;

			record[bit / 8] &= (uint8_t)~mask;
			if (i < 64 && v->value >> i & 1)
				record[bit / 8] |= (uint8_t)mask;
		}
		rig_set_mask(&r, s->mask | 1ull << v->component);
		unsigned status = ask();
		ck_assert_msg(status == v->status, "%s, method 0x%02x, component %u = 0x%llx: "
			      "status 0x%04x, not 0x%04x", a->name, v->method, v->component,
			      (unsigned long long)v->value, status, v->status);
	}
}
END_TEST

/* --- what is counted --- */

/* All of these under the name of their own attribute, whatever the low bits of others are. */
START_TEST(counters)
{
	struct sa_stats *st = r.sa.stats;
	uint64_t paths = st->by_attr[0x35].requests, dropped = st->dropped, n = st->answered;

	for (unsigned high = 1; high < 256; high++) {
		rig_request(&r, GET, (uint16_t)(high << 8 | 0x35), 0);
		ck_assert_uint_eq(ask(), COMBINATION);
	}
	ck_assert_uint_eq(st->by_attr[0x35].requests, paths);
	ck_assert_uint_eq(st->by_attr[0].requests, 255);
	ck_assert_uint_eq(st->answered, n + 255);
	ck_assert_uint_eq(st->dropped, dropped);
}
END_TEST

static struct sa_job *begin_table(void)
{
	struct sa_request req = { .mad = r.mad, .len = r.len, .slid = r.slid };
	struct sa_job *j;

	rig_request(&r, TABLE, 0x12, 0);
	ck_assert_int_eq(sa_begin(&r.sa, &req, &r.out, &j), SA_LATER);
	return j;
}

/* An answer in progress is counted once, by its result, and releases its state. */
/* promise: S6 A91 */
START_TEST(answers_in_the_making)
{
	struct sa_stats *st = r.sa.stats;
	uint64_t n = st->requests, answered = st->answered, n_dropped;
	uint8_t data[SA_SEGMENT];
	size_t len;
	struct sa_job *j = begin_table();

	ck_assert_uint_eq(r.state->refs, 2);
	while (sa_job_read(j, 1, data, &len) != SA_READ_LAST)
		ck_assert_uint_eq(st->answered, answered);
	ck_assert_uint_eq(st->answered, answered + 1);
	sa_job_free(j);
	ck_assert_uint_eq(st->abandoned, 0);
	ck_assert_uint_eq(r.state->refs, 1);

	j = begin_table();		/* too many at once */
	sa_job_refuse(j, &r.out);
	sa_job_free(j);
	ck_assert_uint_eq(get_be16(r.out.s + 4), 1);
	ck_assert_uint_eq((uint8_t)r.out.s[3], TABLE | 0x80);
	ck_assert_uint_eq(r.out.n, MAD_LEN);
	ck_assert_uint_eq(st->busy, 1);
	ck_assert_uint_eq(st->abandoned, 0);

	j = begin_table();		/* the requester is gone, as is the subnet */
	ck_assert_int_eq(sa_job_read(j, 1000, data, &len), SA_READ_MORE);
	r.sa.state = NULL;
	ck_assert_int_eq(sa_job_read(j, 1000, data, &len), SA_READ_MORE);
	sa_job_free(j);
	r.sa.state = r.state;
	ck_assert_uint_eq(st->abandoned, 1);
	ck_assert_uint_eq(r.state->refs, 1);
	j = begin_table();		/* too many at once, without an answer */
	ck_assert(!sa_job_try(j, 1000, false, &r.out));
	ck_assert_uint_eq(sa_job_total(j), 0);	/* it was not computed completely for that */
	n_dropped = st->dropped;
	sa_job_refuse(j, NULL);
	sa_job_free(j);
	ck_assert_uint_eq(st->dropped, n_dropped + 1);
	j = begin_table();
	ck_assert(!sa_job_try(j, 1000, true, &r.out));
	ck_assert_uint_gt(sa_job_total(j), SA_SEGMENT);
	sa_job_refuse(j, NULL);
	sa_job_free(j);
	ck_assert_uint_eq(st->abandoned, 1);
	ck_assert_uint_eq(st->requests, n + 5);
	ck_assert_uint_eq(st->requests, st->answered + st->dropped + st->abandoned);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("statuses");
	TCase *c = tcase_create("statuses");

	tcase_set_timeout(c, 60);
	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_test(c, methods);
	tcase_add_test(c, lengths);
	tcase_add_test(c, headers);
	tcase_add_test(c, the_right_key);
	tcase_add_test(c, subset_match);
	tcase_add_test(c, without_a_subnet);
	tcase_add_loop_test(c, components, 0, ARRAY_SIZE(attributes));
	tcase_add_test(c, needed_components);
	tcase_add_test(c, reserved_bits);
	tcase_add_test(c, wrong_values);
	tcase_add_test(c, counters);
	tcase_add_test(c, answers_in_the_making);
	suite_add_tcase(s, c);
	return run_suite(s);
}
