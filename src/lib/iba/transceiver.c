/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The memory maps of transceivers, SFF-8636 and CMIS, as tables of ranges and decoders; see transceiver.h. */
#include "lib/iba/transceiver.h"

#include <math.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/bytes.h"

#define BIT(q) (1u << (q))
#define COPPER 0xa		/* from this technology on, in both maps */
#define OF_LANES (BIT(RX_POWER) | BIT(TX_POWER) | BIT(TX_BIAS))

#define NO_LIGHT_DBM (-40.0)

/* A decoder gets the bytes of its range, from its first on. */
typedef void decoder(struct transceiver *t, const uint8_t *b);

struct range {
	struct transceiver_range at;
	bool once;		/* read only of a module that is not identified */
	bool paged;		/* missing if the memory is flat */
	bool measuring;		/* left out of passive cables */
	decoder *decode;
};

/* Copies text without the blanks and zeros after it. */
static void take_text(char *to, const uint8_t *from, size_t n)
{
	while (n && (from[n - 1] == ' ' || from[n - 1] == 0))
		n--;
	memcpy(to, from, n);
	to[n] = 0;
}

static void take_limits(struct transceiver *t, enum quantity q, const uint8_t *b)
{
	for (enum threshold h = 0; h < THRESHOLDS; h++) {
		uint16_t raw = get_be16(b + 2 * (size_t)h);

		t->limit[q][h] = q == TEMPERATURE ? (int16_t)raw : raw;
		if (raw)
			t->limited |= BIT(q);
	}
}

static void take_lanes(struct transceiver *t, enum quantity q, const uint8_t *b)
{
	for (unsigned i = 0; i < t->lanes; i++)
		t->value[q][i] = get_be16(b + 2 * (size_t)i);
}

static void take_module(struct transceiver *t, const uint8_t *temperature, const uint8_t *voltage)
{
	t->value[TEMPERATURE][0] = (int16_t)get_be16(temperature);
	t->value[VOLTAGE][0] = get_be16(voltage);
}

/* --- the first range, of either map --- */

#define ID_QSFP		0x0c
#define ID_QSFP_PLUS	0x0d
#define ID_QSFP28	0x11
#define SFF_FLAT	0x04	/* of byte 2 */
#define CMIS_FLAT	0x80	/* of byte 2 */

static const struct name {
	uint8_t code;
	const char *name;
} identifiers[] = {
	{ 0x03, "SFP" }, { ID_QSFP, "QSFP" }, { ID_QSFP_PLUS, "QSFP+" }, { ID_QSFP28, "QSFP28" },
	{ 0x18, "QSFP-DD" }, { 0x19, "OSFP" }, { 0x1b, "DSFP" }, { 0x1e, "QSFP+ CMIS" }, { 0x1f, "SFP-DD CMIS" },
	{ 0x20, "SFP+ CMIS" }, { 0x21, "OSFP-XD" },
};

static enum transceiver_map map_of(uint8_t identifier)
{
	switch (identifier) {
	case ID_QSFP:
	case ID_QSFP_PLUS:
	case ID_QSFP28:
		return TRANSCEIVER_SFF8636;
	case 0x18:
	case 0x19:
	case 0x1b:
	case 0x1e:
	case 0x1f:
	case 0x20:
	case 0x21:
		return TRANSCEIVER_CMIS;
	default:
		return TRANSCEIVER_OTHER;
	}
}

/* Flags of SFF-8636: four bits for each value, high alarm first, that of the lower lane in the upper half. */
static void take_sff_flags(struct transceiver *t, enum quantity q, unsigned lane, uint8_t four)
{
	static const uint8_t bits[THRESHOLDS] = { 8, 4, 2, 1 };

	for (enum threshold h = 0; h < THRESHOLDS; h++)
		if (four & bits[h])
			t->latched[q][h] |= (uint8_t)(1u << lane);
}

static void take_sff_state(struct transceiver *t, const uint8_t *b)
{
	static const struct { enum quantity q; uint8_t at; } of_lanes[] = {
		{ RX_POWER, 9 }, { TX_BIAS, 11 }, { TX_POWER, 13 },
	};

	t->lanes = 4;
	t->flat = b[2] & SFF_FLAT;
	take_module(t, b + 22, b + 26);
	take_sff_flags(t, TEMPERATURE, 0, b[6] >> 4);
	take_sff_flags(t, VOLTAGE, 0, b[7] >> 4);
	for (size_t i = 0; i < ARRAY_SIZE(of_lanes); i++)
		for (unsigned lane = 0; lane < 4; lane++)
			take_sff_flags(t, of_lanes[i].q, lane,
				       b[of_lanes[i].at + lane / 2] >> (lane % 2 ? 0 : 4) & 0xf);
}

static void take_cmis_state(struct transceiver *t, const uint8_t *b)
{
	t->lanes = 8;
	t->flat = b[2] & CMIS_FLAT;
	if (!t->bias_factor)
		t->bias_factor = 1;
	take_module(t, b + 14, b + 16);
	for (enum threshold h = 0; h < THRESHOLDS; h++) {
		t->latched[TEMPERATURE][h] = b[9] >> h & 1;
		t->latched[VOLTAGE][h] = b[9] >> (4 + h) & 1;
	}
}

static void take_state(struct transceiver *t, const uint8_t *b)
{
	t->identifier = b[0];
	t->map = map_of(b[0]);
	if (t->map == TRANSCEIVER_SFF8636)
		take_sff_state(t, b);
	else if (t->map == TRANSCEIVER_CMIS)
		take_cmis_state(t, b);
}

/* --- SFF-8636 --- */


static void take_sff_serial(struct transceiver *t, const uint8_t *b)
{
	uint8_t monitors = b[220 - 196];

	take_text(t->serial, b, 16);
	take_text(t->date, b + 16, 8);
	/* revisions before 2.8 have no bits for temperature and voltage, which a module then has or shows as 0 */
	t->measured = (monitors & 0x20 || t->value[TEMPERATURE][0] ? BIT(TEMPERATURE) : 0) |
		      (monitors & 0x10 || t->value[VOLTAGE][0] ? BIT(VOLTAGE) : 0) |
		      BIT(RX_POWER) | (monitors & 0x04 ? BIT(TX_POWER) : 0) | BIT(TX_BIAS);
}

static void take_sff_kind(struct transceiver *t, const uint8_t *b)
{
	t->connector = b[130 - 128];
	t->technology = b[147 - 128] >> 4;
	/* of a cable; of others it is what they reach over OM4, in 2 m */
	t->length_dm = t->connector == 0x23 || t->technology >= COPPER ? (uint16_t)(b[146 - 128] * 10) : 0;
}

static void take_vendor(struct transceiver *t, const uint8_t *b)
{
	take_text(t->vendor, b, 16);
}

static void take_part(struct transceiver *t, const uint8_t *b)
{
	take_text(t->part, b, 16);
	take_text(t->revision, b + 16, 2);
}

static void take_sff_module_limits(struct transceiver *t, const uint8_t *b)
{
	take_limits(t, TEMPERATURE, b);
	take_limits(t, VOLTAGE, b + 16);
}

static void take_sff_lane_limits(struct transceiver *t, const uint8_t *b)
{
	take_limits(t, RX_POWER, b);
	take_limits(t, TX_BIAS, b + 8);
	take_limits(t, TX_POWER, b + 16);
}

static void take_sff_lanes(struct transceiver *t, const uint8_t *b)
{
	take_lanes(t, RX_POWER, b);
	take_lanes(t, TX_BIAS, b + 8);
	take_lanes(t, TX_POWER, b + 16);
}

static const struct range sff8636[] = {
	{ .at = { 0, 0, 28 }, .decode = take_state },
	{ .at = { 0, 196, 28 }, .decode = take_sff_serial },
	{ .at = { 0, 128, 20 }, .once = true, .decode = take_sff_kind },
	{ .at = { 0, 148, 20 }, .once = true, .decode = take_vendor },
	{ .at = { 0, 168, 18 }, .once = true, .decode = take_part },
	{ .at = { 3, 128, 24 }, .once = true, .paged = true, .measuring = true, .decode = take_sff_module_limits },
	{ .at = { 3, 176, 24 }, .once = true, .paged = true, .measuring = true, .decode = take_sff_lane_limits },
	{ .at = { 0, 34, 24 }, .measuring = true, .decode = take_sff_lanes },
};

/* --- CMIS --- */

static void take_cmis_serial(struct transceiver *t, const uint8_t *b)
{
	take_text(t->serial, b, 16);
	take_text(t->date, b + 16, 8);
}

static void take_cmis_kind(struct transceiver *t, const uint8_t *b)
{
	static const uint16_t decimetres[] = { 1, 10, 100, 1000 };

	t->length_dm = (uint16_t)((b[202 - 200] & 0x3f) * decimetres[b[202 - 200] >> 6]);
	t->connector = b[203 - 200];
	t->technology = b[212 - 200] & 0xf;
	t->measured = BIT(TEMPERATURE) | BIT(VOLTAGE);	/* of a flat memory, which has no page that says so */
}

static void take_cmis_media(struct transceiver *t, const uint8_t *b)
{
	t->media = b[0];
}

static void take_cmis_monitors(struct transceiver *t, const uint8_t *b)
{
	static const uint8_t factors[] = { 1, 2, 4, 1 };

	t->measured = (b[0] & 1 ? BIT(TEMPERATURE) : 0) | (b[0] & 2 ? BIT(VOLTAGE) : 0) |
		      (b[1] & 1 ? BIT(TX_BIAS) : 0) | (b[1] & 2 ? BIT(TX_POWER) : 0) |
		      (b[1] & 4 ? BIT(RX_POWER) : 0);
	t->bias_factor = factors[b[1] >> 3 & 3];
}

static void take_cmis_module_limits(struct transceiver *t, const uint8_t *b)
{
	take_limits(t, TEMPERATURE, b);
	take_limits(t, VOLTAGE, b + 8);
}

static void multiply_bias(const struct transceiver *t, int32_t *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		v[i] *= t->bias_factor;
}

static void take_cmis_lane_limits(struct transceiver *t, const uint8_t *b)
{
	take_limits(t, TX_POWER, b);
	take_limits(t, TX_BIAS, b + 8);
	take_limits(t, RX_POWER, b + 16);
	multiply_bias(t, t->limit[TX_BIAS], THRESHOLDS);
}

/* Flags of the lanes: a byte for each threshold, with a bit for each lane; bytes 139 to 152. */
static void take_cmis_flags(struct transceiver *t, const uint8_t *b)
{
	for (enum threshold h = 0; h < THRESHOLDS; h++) {
		t->latched[TX_POWER][h] = b[h];
		t->latched[TX_BIAS][h] = b[4 + h];
		t->latched[RX_POWER][h] = b[10 + h];
	}
}

static void take_cmis_tx_power(struct transceiver *t, const uint8_t *b)
{
	take_lanes(t, TX_POWER, b);
}

static void take_cmis_bias(struct transceiver *t, const uint8_t *b)
{
	take_lanes(t, TX_BIAS, b);
	multiply_bias(t, t->value[TX_BIAS], TRANSCEIVER_LANES);
}

static void take_cmis_rx_power(struct transceiver *t, const uint8_t *b)
{
	take_lanes(t, RX_POWER, b);
}

static const struct range cmis[] = {
	{ .at = { 0, 0, 28 }, .decode = take_state },
	{ .at = { 0, 166, 24 }, .decode = take_cmis_serial },
	{ .at = { 0, 129, 19 }, .once = true, .decode = take_vendor },
	{ .at = { 0, 148, 18 }, .once = true, .decode = take_part },
	{ .at = { 0, 200, 13 }, .once = true, .decode = take_cmis_kind },
	{ .at = { 0, 85, 1 }, .once = true, .decode = take_cmis_media },
	{ .at = { 1, 159, 2 }, .once = true, .paged = true, .decode = take_cmis_monitors },
	{ .at = { 2, 128, 16 }, .once = true, .paged = true, .measuring = true, .decode = take_cmis_module_limits },
	{ .at = { 2, 176, 24 }, .once = true, .paged = true, .measuring = true, .decode = take_cmis_lane_limits },
	{ .at = { 0x11, 139, 14 }, .paged = true, .measuring = true, .decode = take_cmis_flags },
	{ .at = { 0x11, 154, 16 }, .paged = true, .measuring = true, .decode = take_cmis_tx_power },
	{ .at = { 0x11, 170, 16 }, .paged = true, .measuring = true, .decode = take_cmis_bias },
	{ .at = { 0x11, 186, 16 }, .paged = true, .measuring = true, .decode = take_cmis_rx_power },
};

/* --- reading --- */

static const struct range *ranges_of(const struct transceiver *t, size_t *n)
{
	*n = t->map == TRANSCEIVER_CMIS ? ARRAY_SIZE(cmis) : t->map == TRANSCEIVER_SFF8636 ? ARRAY_SIZE(sff8636) : 1;
	return t->map == TRANSCEIVER_CMIS ? cmis : sff8636;	/* both begin with the same */
}

/* The first two codes of copper are cables without electronics. */
bool transceiver_is_passive(const struct transceiver *t)
{
	return t->technology == COPPER || t->technology == COPPER + 1;
}

static bool is_read(const struct transceiver *t, const struct range *r)
{
	return !(r->once && t->identified) && !(r->paged && t->flat) &&
	       !(r->measuring && transceiver_is_passive(t));
}

bool transceiver_next(const struct transceiver *t, unsigned *i, struct transceiver_range *r)
{
	size_t n;
	const struct range *v = ranges_of(t, &n);

	for (; *i < n; ++*i)
		if (is_read(t, &v[*i])) {
			*r = v[(*i)++].at;
			return true;
		}
	return false;
}

static const struct range *find_range(const struct transceiver *t, const struct transceiver_range *r)
{
	size_t n;
	const struct range *v = ranges_of(t, &n);

	for (size_t i = 0; i < n; i++)
		if (v[i].at.page == r->page && v[i].at.offset == r->offset)
			return &v[i];
	return NULL;
}

/* Forgets everything but what the first range has just shown. */
static void forget(struct transceiver *t)
{
	*t = (struct transceiver){ 0 };
}

bool transceiver_take(struct transceiver *t, const struct transceiver_range *r, const uint8_t *bytes)
{
	const struct range *x = find_range(t, r);
	char serial[sizeof(t->serial)];
	uint8_t identifier = t->identifier;

	if (!x || !bytes)
		return false;
	if (x->decode == take_state)
		memset(t->latched, 0, sizeof(t->latched));
	memcpy(serial, t->serial, sizeof(serial));
	x->decode(t, bytes);
	if (!t->identified || (t->identifier == identifier && strcmp(t->serial, serial) == 0))
		return false;
	forget(t);
	return true;
}

static bool is_beyond(int32_t value, int32_t limit, enum threshold h)
{
	return h == HIGH_ALARM || h == HIGH_WARNING ? value > limit : value < limit;
}

static void compare(struct transceiver *t, enum quantity q, uint8_t lanes)
{
	unsigned n = quantity_has_lanes(q) ? t->lanes : 1;

	for (enum threshold h = 0; h < THRESHOLDS; h++)
		for (unsigned i = 0; i < n; i++)
			if ((n == 1 || lanes >> i & 1) && is_beyond(t->value[q][i], t->limit[q][h], h))
				t->beyond[q][h] |= (uint8_t)(1u << i);
}

void transceiver_end(struct transceiver *t, uint8_t lanes)
{
	t->identified = t->map == TRANSCEIVER_SFF8636 || t->map == TRANSCEIVER_CMIS;
	if (t->technology >= COPPER || (t->map == TRANSCEIVER_CMIS && t->flat))
		t->measured &= (uint8_t)~OF_LANES;
	if (transceiver_is_passive(t) && !t->value[TEMPERATURE][0])
		t->measured = 0;
	memset(t->beyond, 0, sizeof(t->beyond));
	for (enum quantity q = 0; q < QUANTITIES; q++) {
		if (quantity_has_lanes(q))
			for (enum threshold h = 0; h < THRESHOLDS; h++)
				t->latched[q][h] &= lanes;
		if (t->measured & t->limited & BIT(q))
			compare(t, q, lanes);
	}
}

/* --- names and values --- */

static const struct name connectors[] = {
	{ 0x07, "LC" }, { 0x0b, "optical pigtail" }, { 0x0c, "MPO 1x12" }, { 0x0d, "MPO 2x16" },
	{ 0x20, "HSSDC II" }, { 0x21, "copper pigtail" }, { 0x22, "RJ45" }, { 0x23, "none" }, { 0x24, "MXC 2x16" },
	{ 0x25, "CS" }, { 0x26, "SN" }, { 0x27, "MPO 2x12" }, { 0x28, "MPO 1x16" },
};

static const struct name technologies[] = {
	{ 0, "850 nm VCSEL" }, { 1, "1310 nm VCSEL" }, { 2, "1550 nm VCSEL" }, { 3, "1310 nm FP" },
	{ 4, "1310 nm DFB" }, { 5, "1550 nm DFB" }, { 6, "1310 nm EML" }, { 7, "1550 nm EML" }, { 8, "other" },
	{ 9, "1490 nm DFB" }, { 0xa, "passive copper" }, { 0xb, "passive copper, equalized" },
	{ 0xc, "active copper" }, { 0xd, "active copper" }, { 0xe, "active copper" }, { 0xf, "active copper" },
};

static const char *find_name(const struct name *v, size_t n, uint8_t code)
{
	for (size_t i = 0; i < n; i++)
		if (v[i].code == code)
			return v[i].name;
	return "unknown";
}

const char *transceiver_identifier(const struct transceiver *t)
{
	return find_name(identifiers, ARRAY_SIZE(identifiers), t->identifier);
}

const char *transceiver_technology(const struct transceiver *t)
{
	return find_name(technologies, ARRAY_SIZE(technologies), t->technology);
}

const char *transceiver_connector(const struct transceiver *t)
{
	return find_name(connectors, ARRAY_SIZE(connectors), t->connector);
}

const char *quantity_name(enum quantity q)
{
	static const char *const names[QUANTITIES] = { "temperature", "voltage", "rx-power", "tx-power", "tx-bias" };

	return names[q];
}

const char *threshold_name(enum threshold h)
{
	static const char *const names[THRESHOLDS] = { "high-alarm", "low-alarm", "high-warning", "low-warning" };

	return names[h];
}

double quantity_real(enum quantity q, int32_t value)
{
	static const double units[QUANTITIES] = { 1.0 / 256, 1e-4, 1e-4, 1e-4, 2e-3 };

	return value * units[q];
}

double power_dbm(double mw)
{
	return mw > 1e-4 ? 10 * log10(mw) : NO_LIGHT_DBM;
}

enum threshold transceiver_worst(const struct transceiver *t, enum quantity *q)
{
	for (enum threshold h = 0; h < THRESHOLDS; h++)
		for (enum quantity i = 0; i < QUANTITIES; i++)
			if (t->beyond[i][h]) {
				*q = i;
				return h;
			}
	return THRESHOLDS;
}
