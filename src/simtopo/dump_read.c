/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Files, lines and statements of a dump, and what is said about the next node.
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
#include "simtopo/dump_reader.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_BYTES_MAX 2048
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

/* --- statements and files --- */

static void read_include(struct reader *r, const char *p, unsigned unused);

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
} statements[] = {
	{ "Switch", reader_node, SIM_SWITCH },
	{ "Ca", reader_node, SIM_CA },
	{ "Hca", reader_node, SIM_CA },
	{ "Rt", reader_node, SIM_ROUTER },
	{ "switchguid", read_guid, SIM_SWITCH },
	{ "switchguids", read_guid, SIM_SWITCH },
	{ "caguid", read_guid, SIM_CA },
	{ "hcaguids", read_guid, SIM_CA },
	{ "rtguid", read_guid, SIM_ROUTER },
	{ "vendid", read_vendor, 0 },
	{ "devid", read_device, 0 },
	{ "sysimgguid", read_sysimg, 0 },
	{ "width", read_mask, MASK_WIDTH },
	{ "speed", read_mask, MASK_SPEED },
	{ "extspeed", read_mask, MASK_EXT },
	{ "module", read_module, 0 },
	{ "include", read_include, 0 },
	{ "do", read_command, 0 },
	/* Headings and progress of ibnetdiscover -g, -s and -m; a switch of ibsim's own parser. */
	{ "Chassis", read_nothing, 0 },
	{ "Hostname", read_nothing, 0 },
	{ "Non", read_nothing, 0 },
	{ "DR", read_nothing, 0 },
	{ "Initiated", read_nothing, 0 },
	{ "Max", read_nothing, 0 },
	{ "pdebug", read_nothing, 0 },
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

/*
 * The next line without its end; false at the end of the file.  *n is its full
 * length, which may be more than fits; bytes that no text has stop the reader.
 */
static bool next_line(struct reader *r, FILE *in, char line[LINE_BYTES_MAX], size_t *n)
{
	int c;

	for (*n = 0; (c = getc_unlocked(in)) != EOF && c != '\n'; ++*n) {
		if ((c < ' ' && c != '\t' && c != '\r') || c == 0x7f) {
			r->pos.line++;
			fail(r, "byte 0x%02x: this is no text file", (unsigned)c);
			r->stop = true;
			return false;
		}
		if (*n < LINE_BYTES_MAX - 1)
			line[*n] = (char)c;
	}
	if (c == EOF && *n == 0)
		return false;
	r->pos.line++;
	if (*n && *n < LINE_BYTES_MAX && line[*n - 1] == '\r')
		--*n;
	line[*n < LINE_BYTES_MAX ? *n : LINE_BYTES_MAX - 1] = 0;
	return true;
}

static void read_lines(struct reader *r, FILE *in)
{
	char line[LINE_BYTES_MAX];
	size_t n;

	while (!r->stop && !dump_hopeless(r->d) && next_line(r, in, line, &n)) {
		if (n >= LINE_BYTES_MAX)
			fail(r, "the line is longer than %u bytes", LINE_BYTES_MAX - 1);
		else
			read_line(r, line);
	}
}

/* Reads a file in full; `from` is where it was named. Takes over path. */
static void read_file(struct reader *r, char *path, struct dump_pos from)
{
	struct dump_pos pos = { (uint32_t)r->d->files.n, 0 };
	FILE *in = fopen(path, "re");

	*vec_push(&r->d->files) = path;
	if (!in && from.line)
		dump_error(r->d, from, "%s: %s", path, strerror(errno));
	else if (!in)
		dump_error(r->d, pos, "%s", strerror(errno));
	if (!in)
		return;
	r->pos = pos;
	reader_no_node(r);
	read_lines(r, in);
	if (ferror(in))
		dump_error(r->d, pos, "%s", strerror(errno));
	fclose(in);
}

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
	read_file(r, beside(r->d->files.v[here.file], name, n), here);
	r->depth--;
	r->pos = here;
	reader_no_node(r);
}

void dump_read(struct dump *d, const char *path)
{
	struct reader r = {
		.d = d, .node = SIM_NONE,
		.guid_base = {
			[SIM_CA] = 0x100000, [SIM_SWITCH] = 0x200000, [SIM_ROUTER] = 0x300000,
		},
	};

	memcpy(r.guid_next, r.guid_base, sizeof(r.guid_next));
	read_file(&r, xstrdup(path), (struct dump_pos){ 0 });
	if (!d->n_err && d->nodes.n == 0)
		dump_error(d, (struct dump_pos){ 0 }, "no nodes in it");
}
