/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Statements of ibnetdiscover's text and of ibsim's nets, and what they say about the next node.
 *
 *	vendid=0x2c9
 *	devid=0xbd36
 *	sysimgguid=0x2c90200417673
 *	switchguid=0x2c90200417670(2c90200417670)
 *	Switch	36 "S-0002c90200417670"		# "desc" base port 0 lid 18 lmc 0
 *	[1]	"H-78e7d10300229794"[1](78e7d10300229795)	# "desc" lid 23 4xQDR
 *
 *	caguid=0x78e7d10300229794
 *	Ca	1 "H-78e7d10300229794"		# "desc"
 *	[1](78e7d10300229795)	"S-0002c90200417670"[1]	# lid 23 lmc 0 "desc" lid 18 4xQDR
 *
 * ibsim knows more: GUIDs that count on from the last one, "caguid+0x10" from
 * the last base, width=, speed= and extspeed= for all that follow, options like
 * w=2 s=4 behind a link, module="m" that names nodes m#name, "@[n] "alias"" for a
 * port that others call "m@alias", and include "file".
 */
#include "sim/topo/dump_reader.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILES_MAX 1024
#define DEPTH_MAX 8

bool reader_at_end(struct reader *r, const char *p)
{
	take_space(&p);
	if (!*p || *p == '#')
		return true;
	fail(r, "\"%.24s\" is not understood here", p);
	return false;
}

/* --- what is said about the next node, or about all --- */

bool reader_take_value(struct reader *r, const char **p, uint64_t max, uint64_t *out)
{
	take_space(p);
	if (!take_char(p, '=')) {
		fail(r, "\"=\" is missing");
		return false;
	}
	take_space(p);
	if (take_c_number(p, max, out))
		return true;
	fail(r, "a number up to 0x%llx is expected, not \"%.24s\"", (unsigned long long)max, *p);
	return false;
}

static void read_id(struct reader *r, const char *p, uint64_t max, uint64_t *out)
{
	uint64_t n;

	reader_no_node(r);
	if (reader_take_value(r, &p, max, &n) && reader_at_end(r, p))
		*out = n;
}

static void read_vendor(struct reader *r, const char *p, unsigned unused)
{
	(void)unused;
	read_id(r, p, 0xffffff, &r->vendor_id);
}

static void read_device(struct reader *r, const char *p, unsigned unused)
{
	(void)unused;
	read_id(r, p, 0xffff, &r->device_id);
}

static void read_sysimg(struct reader *r, const char *p, unsigned unused)
{
	(void)unused;
	read_id(r, p, UINT64_MAX, &r->sysimg_guid);
}

/* "switchguid=0x…(port 0's)", "caguid=0x…", or relative to the last one: "caguid+0x10" */
static void read_guid(struct reader *r, const char *p, unsigned type)
{
	uint64_t guid, port0 = 0;

	reader_no_node(r);
	if (take_char(&p, '+')) {
		if (!take_c_number(&p, UINT64_MAX, &guid)) {
			fail(r, "a number is expected behind \"+\"");
			return;
		}
		guid += r->guid_base[type];
	} else if (reader_take_value(r, &p, UINT64_MAX, &guid)) {
		r->guid_base[type] = guid;
	} else {
		return;
	}
	if (take_char(&p, '(') && (!take_hex(&p, &port0) || !take_char(&p, ')'))) {
		fail(r, "a port GUID in hexadecimal and \")\" are expected behind \"(\"");
		return;
	}
	if (!reader_at_end(r, p))
		return;
	r->guid_next[type] = guid;
	r->guid_said[type] = true;
	r->port0_guid = port0;
}

bool reader_set_mask(struct reader *r, struct link_masks *m, unsigned what, uint64_t value)
{
	uint64_t max = what == MASK_WIDTH ? 31 : what == MASK_SPEED ? 7 : 15;

	if (value > max || (what == MASK_WIDTH && !value)) {
		fail(r, "%s mask %llu is out of range: %d to %llu",
		     what == MASK_WIDTH ? "width" : "speed", (unsigned long long)value,
		     what == MASK_WIDTH, (unsigned long long)max);
		return false;
	}
	switch (what) {
	case MASK_WIDTH: m->width = (unsigned)value; break;
	case MASK_SPEED: m->speed = value ? (unsigned)value : SIM_SPEED_QDR; break;
	default: m->ext = (unsigned)value;
	}
	return true;
}

static void read_mask(struct reader *r, const char *p, unsigned what)
{
	uint64_t value;

	if (reader_take_value(r, &p, 255, &value) && reader_at_end(r, p))
		reader_set_mask(r, &r->masks, what, value);
}

static void read_module(struct reader *r, const char *p, unsigned unused)
{
	const char *s;
	size_t n;

	(void)unused;
	take_space(&p);
	take_char(&p, '=');
	take_space(&p);
	if (!take_quoted(&p, &s, &n) || n > DUMP_MODULE_MAX)
		fail(r, "module=\"NAME\" is expected, up to %u characters", DUMP_MODULE_MAX);
	else if (reader_at_end(r, p))
		snprintf(r->module, sizeof(r->module), "%.*s", (int)n, s);
}

/* --- files that are included --- */

/* A relative name is relative to the file that names it. */
static char *beside(const char *path, const char *name, size_t n)
{
	const char *slash = *name == '/' ? NULL : strrchr(path, '/');

	return xasprintf("%.*s%.*s", slash ? (int)(slash + 1 - path) : 0, path, (int)n, name);
}

static void read_include(struct reader *r, const char *p, unsigned unused)
{
	struct dump_pos here = r->pos;
	const char *name;
	size_t n;

	(void)unused;
	take_space(&p);
	if (!take_quoted(&p, &name, &n) || !n) {
		fail(r, "include \"FILE\" is expected");
		return;
	}
	if (r->depth == DEPTH_MAX || r->d->files.n == FILES_MAX) {
		fail(r, "more than %u files, or %u within each other, are included", FILES_MAX,
		     DEPTH_MAX);
		r->stop = true;
		return;
	}
	r->depth++;
	reader_read_file(r, beside(r->d->files.v[here.file], name, n), here);
	r->depth--;
	r->pos = here;
	reader_no_node(r);
}

/* --- statements --- */

static void read_command(struct reader *r, const char *p, unsigned unused)
{
	(void)unused;
	dump_warn(r->d, r->pos, "ibsim's command \"%.24s\" is passed over", p);
}

static void read_nothing(struct reader *r, const char *p, unsigned unused)
{
	(void)r, (void)p, (void)unused;
}

static const struct {
	const char *word;
	void (*read)(struct reader *r, const char *p, unsigned arg);
	unsigned arg;
	bool common;	/* what other text may begin with, too */
} statements[] = {
	{ "Switch", reader_node, SIM_SWITCH, false },
	{ "Ca", reader_node, SIM_CA, false },
	{ "Hca", reader_node, SIM_CA, false },
	{ "Rt", reader_node, SIM_ROUTER, false },
	{ "switchguid", read_guid, SIM_SWITCH, false },
	{ "switchguids", read_guid, SIM_SWITCH, false },
	{ "caguid", read_guid, SIM_CA, false },
	{ "hcaguids", read_guid, SIM_CA, false },
	{ "rtguid", read_guid, SIM_ROUTER, false },
	{ "vendid", read_vendor, 0, false },
	{ "devid", read_device, 0, false },
	{ "sysimgguid", read_sysimg, 0, false },
	{ "width", read_mask, MASK_WIDTH, false },
	{ "speed", read_mask, MASK_SPEED, false },
	{ "extspeed", read_mask, MASK_EXT, false },
	{ "module", read_module, 0, false },
	{ "include", read_include, 0, false },
	{ "do", read_command, 0, true },
	/* Headings and progress of ibnetdiscover -g, -s and -m; a switch of ibsim's own parser. */
	{ "Chassis", read_nothing, 0, true },
	{ "Hostname", read_nothing, 0, true },
	{ "Non", read_nothing, 0, true },
	{ "DR", read_nothing, 0, true },
	{ "Initiated", read_nothing, 0, true },
	{ "Max", read_nothing, 0, true },
	{ "pdebug", read_nothing, 0, true },
};

static void read_line(struct reader *r, const char *line)
{
	take_space(&line);
	if (!*line || *line == '#')
		return;
	if (*line == '[') {
		reader_port(r, line);
		return;
	}
	if (*line == '@') {
		reader_alias(r, line);
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(statements); i++) {
		if (take_word(&line, statements[i].word)) {
			statements[i].read(r, line, statements[i].arg);
			return;
		}
	}
	fail(r, "\"%.24s\" is not understood", line);
}

static bool recognise(const char *line)
{
	if (*line == '[')
		return isdigit((unsigned char)line[1]);
	for (size_t i = 0; i < ARRAY_SIZE(statements); i++) {
		if (!take_word(&line, statements[i].word))
			continue;
		take_space(&line);
		return !statements[i].common && *line != ':';	/* not a list of ibnetdiscover -l */
	}
	return false;
}

const struct reader_format format_net = { recognise, read_line, NULL };
