/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Converts values of the model to JSON, and link widths and speeds to words and back. */
#include "sim/ctl/command.h"

#include <string.h>
#include <strings.h>

#include "sim/dev/presets.h"

static const struct { uint8_t bit; const char *text; } widths[] = {
	{ SIM_WIDTH_1X, "1x" }, { SIM_WIDTH_2X, "2x" }, { SIM_WIDTH_4X, "4x" },
	{ SIM_WIDTH_8X, "8x" }, { SIM_WIDTH_12X, "12x" },
};

json_t *json_hex(unsigned v)
{
	return json_sprintf("0x%04x", v);
}

json_t *json_seconds(int64_t us)
{
	return json_real((double)us / 1e6);
}

json_t *json_port(const struct sim_fabric *f, uint32_t port)
{
	char name[SIM_NAME_MAX];

	return port < f->n_ports ? json_text(sim_port_name(f, port, name, sizeof(name))) :
				   json_null();
}

json_t *json_state(const struct sim_port *p)
{
	static const char *const names[] = { "nop", "down", "init", "armed", "active" };

	return json_string(p->state < ARRAY_SIZE(names) ? names[p->state] : "?");
}

json_t *json_set16(uint16_t bits)
{
	json_t *array = json_array();

	for (int i = 0; i < 16; i++)
		if (bits >> i & 1)
			json_array_append_new(array, json_integer(i));
	return array;
}

/* --- links --- */

static const char *width_text(unsigned bit)
{
	for (size_t i = 0; i < ARRAY_SIZE(widths); i++)
		if (widths[i].bit == bit)
			return widths[i].text;
	return "?x";
}

/* If there is an extended speed, it takes precedence (14.2.5.6, LinkSpeedExtActive). */
static const char *speed_text(unsigned speed, unsigned ext)
{
	for (size_t i = 0; i < ARRAY_SIZE(link_speeds); i++)
		if (ext ? link_speeds[i].ext == ext : link_speeds[i].speed && link_speeds[i].speed == speed)
			return link_speeds[i].name;
	return "?";
}

json_t *json_link(const struct sim_fabric *f, uint32_t port)
{
	const struct sim_port *p = &f->ports[port];
	unsigned width = p->info[PI_WIDTH_ACTIVE], ext = ext_active(p->info);
	unsigned speed = high4(p->info + PI_SPEED_ACTIVE_ENABLED);

	if (p->num == 0 || !link_is_up(f, port))
		return json_null();
	if (!ext && speed == SIM_SPEED_QDR && p->cable_fdr10)
		return json_sprintf("%sFDR10", width_text(width));
	return json_sprintf("%s%s", width_text(width), speed_text(speed, ext));
}

/* Parses a width at the start of the text; returns the rest of the text. */
static const char *parse_width(const char *text, uint8_t *width)
{
	for (size_t i = 0; i < ARRAY_SIZE(widths); i++) {
		size_t n = strlen(widths[i].text);

		if (strncasecmp(text, widths[i].text, n) == 0) {
			*width = widths[i].bit;
			return text + n;
		}
	}
	return text;
}

bool parse_link(const char *text, uint8_t *width, uint8_t *speed, uint8_t *ext)
{
	const char *rest;

	*width = *speed = *ext = 0;
	if (strcmp(text, "full") == 0)
		return true;
	rest = parse_width(text, width);
	for (size_t i = LINK_SDR; i < ARRAY_SIZE(link_speeds); i++)
		if (i != LINK_FDR10 && strcasecmp(rest, link_speeds[i].name) == 0) {
			*speed = link_speeds[i].speed;
			*ext = link_speeds[i].ext;
			return true;
		}
	return rest != text && *rest == '\0';
}
