/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Transceivers in ports, and their memory; see module.h. */
#include "sim/dev/module.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim/dev/dev_internal.h"

enum { HIGH_ALARM, LOW_ALARM, HIGH_WARNING, LOW_WARNING, LIMITS };

struct module {
	enum module_kind kind;			/* MODULE_AUTO: the profile's */
	uint32_t replaced;			/* how many modules were in the port before */
	uint16_t value[MODULE_VALUES][MODULE_LANES];	/* in units of the maps, the temperature with sign */
	uint8_t latched[MODULE_VALUES][LIMITS];	/* bit by lane */
};

static const double units[MODULE_VALUES] = { 1.0 / 256, 1e-4, 1e-4, 1e-4, 2e-3 };

/* Values of a module that is well, and its thresholds. */
static const double usual[MODULE_VALUES] = { 41.5, 3.29, 0.9, 1.05, 6.8 };
static const double limits[MODULE_VALUES][LIMITS] = {
	{ 75, -5, 70, 0 }, { 3.63, 2.97, 3.465, 3.135 }, { 2.1878, 0.0447, 1.7378, 0.1122 },
	{ 3.4674, 0.0562, 1.7378, 0.1412 }, { 15, 2, 12, 3 },
};

static const char *const kind_names[] = { "auto", "none", "copper", "qsfp28", "osfp", NULL };
static const char *const value_names[] = { "temperature", "voltage", "rx-power", "tx-power", "bias", NULL };

const char *module_kind_name(unsigned i)
{
	return kind_names[i];
}

const char *module_value_name(unsigned i)
{
	return value_names[i];
}

unsigned module_lanes(enum module_kind kind)
{
	return kind == MODULE_OSFP ? 8 : 4;
}

static bool has_lanes(enum module_value v)
{
	return v >= MODULE_RX_POWER;
}

/* --- what is in the port --- */

enum module_kind module_in(const struct sim *s, uint32_t port)
{
	const struct sim_port *p = &s->f->ports[port];
	const struct sim_profile *profile = node_of(s->f, port)->profile;
	const struct module *m = device_port(s, port)->module;
	enum module_kind kind = m && m->kind != MODULE_AUTO ? m->kind : (enum module_kind)profile->module;

	if (p->peer == SIM_NONE || p->unplugged || !p->num)
		return MODULE_NONE;
	if (kind != MODULE_AUTO)
		return kind;
	return profile->ext_speeds & SIM_EXT_NDR ? MODULE_OSFP : MODULE_QSFP28;
}

static uint16_t to_units(enum module_value v, double value)
{
	return (uint16_t)lround(value / units[v]);
}

static struct module *module_of(struct sim *s, uint32_t port)
{
	struct device_port *d = device_port(s, port);

	if (d->module)
		return d->module;
	d->module = xcalloc(1, sizeof(*d->module));
	for (enum module_value v = 0; v < MODULE_VALUES; v++)
		for (unsigned i = 0; i < MODULE_LANES; i++)
			d->module->value[v][i] = to_units(v, usual[v]);
	return d->module;
}

void module_forget(struct sim *s, uint32_t port)
{
	free(device_port(s, port)->module);
	device_port(s, port)->module = NULL;
}

void module_replace(struct sim *s, uint32_t port, enum module_kind kind)
{
	uint32_t replaced = module_of(s, port)->replaced + 1;

	module_forget(s, port);
	module_of(s, port)->kind = kind;
	module_of(s, port)->replaced = replaced;
}

/* --- values and flags --- */

/* Nothing is received over a link whose far end does not send. */
static double value_now(struct sim *s, uint32_t port, enum module_value v, unsigned lane)
{
	uint16_t raw = module_of(s, port)->value[v][lane];
	uint32_t peer = s->f->ports[port].peer;

	if (v == MODULE_RX_POWER && (peer == SIM_NONE || node_of(s->f, peer)->off || s->f->ports[peer].disabled))
		return 0;
	return v == MODULE_TEMPERATURE ? (int16_t)raw * units[v] : raw * units[v];
}

double module_get(struct sim *s, uint32_t port, enum module_value v, unsigned lane)
{
	return value_now(s, port, v, lane);
}

static bool is_beyond(double value, enum module_value v, unsigned limit)
{
	return limit == HIGH_ALARM || limit == HIGH_WARNING ? value > limits[v][limit] : value < limits[v][limit];
}

static void latch(struct sim *s, uint32_t port)
{
	struct module *m = module_of(s, port);

	for (enum module_value v = 0; v < MODULE_VALUES; v++)
		for (unsigned i = 0; i < (has_lanes(v) ? module_lanes(module_in(s, port)) : 1); i++)
			for (unsigned l = 0; l < LIMITS; l++)
				if (is_beyond(value_now(s, port, v, i), v, l))
					m->latched[v][l] |= (uint8_t)(1u << i);
}

bool module_set(struct sim *s, uint32_t port, enum module_value v, unsigned lane, double value)
{
	struct module *m = module_of(s, port);
	double raw = value / units[v];

	if (v == MODULE_TEMPERATURE ? raw < INT16_MIN || raw > INT16_MAX : raw < 0 || raw > UINT16_MAX)
		return false;
	for (unsigned i = 0; i < MODULE_LANES; i++)
		if (lane == MODULE_LANES || lane == i)
			m->value[v][i] = to_units(v, value);
	latch(s, port);
	return true;
}

/* --- the memory --- */

static void put_text(uint8_t *to, const char *text, size_t n)
{
	size_t len = strlen(text);

	memset(to, ' ', n);
	memcpy(to, text, len < n ? len : n);
}

static void put_value(struct sim *s, uint32_t port, enum module_value v, unsigned lane, uint8_t *to)
{
	put_be16(to, to_units(v, value_now(s, port, v, lane)));
}

static void put_lanes(struct sim *s, uint32_t port, enum module_value v, unsigned n, uint8_t *to)
{
	for (unsigned i = 0; i < n; i++)
		put_value(s, port, v, i, to + 2 * (size_t)i);
}

static void put_limits(enum module_value v, uint8_t *to)
{
	for (unsigned l = 0; l < LIMITS; l++)
		put_be16(to + 2 * (size_t)l, to_units(v, limits[v][l]));
}

static void put_serial(struct sim *s, uint32_t port, uint8_t *to)
{
	const struct sim_port *p = &s->f->ports[port];
	const struct module *m = module_of(s, port);
	char serial[64];

	/* both ends of a cable have the number of the cable */
	snprintf(serial, sizeof(serial), "QS%08u%02u", p->peer < port ? p->peer : port, m->replaced % 100);
	put_text(to, serial, 16);
	put_text(to + 16, "240131", 8);
}

static void put_maker(uint8_t *vendor, uint8_t *part, const char *name)
{
	put_text(vendor, "QOSD-SIM", 16);
	put_text(part, name, 16);
	put_text(part + 16, "A1", 2);
}

static void put_sff_flags(const struct module *m, enum module_value v, unsigned lane, uint8_t *to)
{
	unsigned shift = has_lanes(v) && lane % 2 ? 0 : 4;

	for (unsigned l = 0; l < LIMITS; l++)
		if (m->latched[v][l] >> lane & 1)
			to[lane / 2] |= (uint8_t)(8u >> l << shift);
}

/* SFF-8636: lower bytes, and upper ones of pages 0 and 3. */
static void fill_sff(struct sim *s, uint32_t port, bool copper, unsigned page, uint8_t b[256])
{
	const struct module *m = module_of(s, port);

	b[0] = b[128] = 0x11;
	b[1] = 0x08;
	b[2] = copper ? 0x04 : 0;		/* flat memory */
	if (page == 0) {
		b[130] = 0x23;			/* no connector: a cable */
		b[140] = 0xff;			/* more than 25.4 Gb/s for each lane, as byte 222 says */
		b[146] = 5;			/* m */
		b[147] = copper ? 0xa0 : 0x00;
		put_maker(b + 148, b + 168, copper ? "SIM-COPPER" : "SIM-AOC");
		b[164] = 0x1f;			/* SDR to EDR */
		put_serial(s, port, b + 196);
		b[220] = copper ? 0 : 0x3c;
		b[222] = 103;
	}
	if (copper)
		return;
	put_value(s, port, MODULE_TEMPERATURE, 0, b + 22);
	put_value(s, port, MODULE_VOLTAGE, 0, b + 26);
	put_lanes(s, port, MODULE_RX_POWER, 4, b + 34);
	put_lanes(s, port, MODULE_BIAS, 4, b + 42);
	put_lanes(s, port, MODULE_TX_POWER, 4, b + 50);
	put_sff_flags(m, MODULE_TEMPERATURE, 0, b + 6);
	put_sff_flags(m, MODULE_VOLTAGE, 0, b + 7);
	for (unsigned i = 0; i < 4; i++) {
		put_sff_flags(m, MODULE_RX_POWER, i, b + 9);
		put_sff_flags(m, MODULE_BIAS, i, b + 11);
		put_sff_flags(m, MODULE_TX_POWER, i, b + 13);
	}
	if (page == 3) {
		put_limits(MODULE_TEMPERATURE, b + 128);
		put_limits(MODULE_VOLTAGE, b + 144);
		put_limits(MODULE_RX_POWER, b + 176);
		put_limits(MODULE_BIAS, b + 184);
		put_limits(MODULE_TX_POWER, b + 192);
	}
}

static void put_cmis_lanes(struct sim *s, uint32_t port, uint8_t b[256])
{
	const struct module *m = module_of(s, port);

	for (unsigned l = 0; l < LIMITS; l++) {
		b[139 + l] = m->latched[MODULE_TX_POWER][l];
		b[143 + l] = m->latched[MODULE_BIAS][l];
		b[149 + l] = m->latched[MODULE_RX_POWER][l];
	}
	put_lanes(s, port, MODULE_TX_POWER, 8, b + 154);
	put_lanes(s, port, MODULE_BIAS, 8, b + 170);
	put_lanes(s, port, MODULE_RX_POWER, 8, b + 186);
}

/* CMIS: lower bytes, and upper ones of pages 0 to 2 and 11h. */
static void fill_cmis(struct sim *s, uint32_t port, unsigned page, uint8_t b[256])
{
	const struct module *m = module_of(s, port);

	b[0] = 0x19;
	b[1] = 0x50;
	b[3] = 3 << 1;				/* ready */
	for (unsigned l = 0; l < LIMITS; l++)
		b[9] |= (uint8_t)((m->latched[MODULE_TEMPERATURE][l] & 1) << l |
				  (m->latched[MODULE_VOLTAGE][l] & 1) << (l + 4));
	put_value(s, port, MODULE_TEMPERATURE, 0, b + 14);
	put_value(s, port, MODULE_VOLTAGE, 0, b + 16);
	b[85] = 1;				/* multi-mode optics */
	switch (page) {
	case 0:
		b[128] = 0x19;
		put_maker(b + 129, b + 148, "SIM-OSFP");
		put_serial(s, port, b + 166);
		b[202] = 0x40 | 30;		/* 30 m */
		b[203] = 0x28;			/* MPO */
		break;
	case 1:
		b[159] = 3;
		b[160] = 7;
		break;
	case 2:
		put_limits(MODULE_TEMPERATURE, b + 128);
		put_limits(MODULE_VOLTAGE, b + 136);
		put_limits(MODULE_TX_POWER, b + 176);
		put_limits(MODULE_BIAS, b + 184);
		put_limits(MODULE_RX_POWER, b + 192);
		break;
	case 0x11:
		put_cmis_lanes(s, port, b);
		break;
	}
}

static bool has_page(enum module_kind kind, unsigned page)
{
	if (kind == MODULE_OSFP)
		return page <= 2 || page == 0x11;
	return page == 0 || (page == 3 && kind == MODULE_QSFP28);
}

static bool overlaps(unsigned offset, unsigned n, unsigned first, unsigned last)
{
	return offset <= last && offset + n > first;
}

/* Clears the flags of the values whose bytes were read. */
static void clear_read(struct module *m, enum module_kind kind, unsigned page, unsigned offset, unsigned n)
{
	bool module, lanes;

	if (kind == MODULE_OSFP) {
		module = overlaps(offset, n, 9, 9);
		lanes = page == 0x11 && overlaps(offset, n, 139, 152);
	} else {
		module = overlaps(offset, n, 6, 7);
		lanes = overlaps(offset, n, 9, 14);
	}
	for (enum module_value v = 0; v < MODULE_VALUES; v++)
		if (has_lanes(v) ? lanes : module)
			memset(m->latched[v], 0, sizeof(m->latched[v]));
}

bool module_read(struct sim *s, uint32_t port, unsigned page, unsigned offset, unsigned n, uint8_t *out)
{
	enum module_kind kind = module_in(s, port);
	uint8_t b[256] = { 0 };

	if (offset + n > sizeof(b) || (offset + n > 128 && !has_page(kind, page)))
		return false;
	latch(s, port);
	if (kind == MODULE_OSFP)
		fill_cmis(s, port, page, b);
	else
		fill_sff(s, port, kind == MODULE_COPPER, page, b);
	memcpy(out, b + offset, n);
	clear_read(module_of(s, port), kind, page, offset, n);
	latch(s, port);
	return true;
}
