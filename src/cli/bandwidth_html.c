/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writes the page of `bandwidth --html FILE`, which needs no other files.
 *
 * It shows the share of each level on each kind of link as stacked bars, and the switches in rows
 * with their links, deviating ones in colour.  A FILE whose name ends in ".svg" gets one drawing
 * instead: the fabric, and below it the bars of the most frequent kinds of link.
 *
 * The output is well-formed XML, whatever the names on the fabric are.  The drawing of a large
 * fabric gets smaller, and omits first the names, then the tooltips of links that do not deviate;
 * only a small fabric shows each host.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "members.h"
#include "newfile.h"
#include "output.h"

#define KINDS_SHOWN 60
#define HOSTS_SHOWN 512		/* hosts of the whole fabric, each drawn */
#define TOOLTIPS_SHOWN 4000	/* bundles of links */
#define NAMES_SHOWN 24		/* switches in a row */
#define KIND_HEIGHT 50		/* a line of text, a bar and a thin one */
#define RANKS_MAX 16		/* rows; switches of higher rank share the last */
#define BAR_WIDTH 640.0
#define DRAWING_KINDS 3		/* kinds of link in a drawing */

static char *file_name;
static json_t *result, *switches;
static FILE *out;

/* --- text --- */

/*
 * Number of bytes at s of a character that XML does not allow: U+FFFE and U+FFFF, and most
 * controls; else 0.
 */
static size_t not_xml(const unsigned char *s)
{
	if (*s < 0x20 || *s == 0x7f)
		return 1;
	return s[0] == 0xef && s[1] == 0xbf && s[2] >= 0xbe ? 3 : 0;
}

static void put_text(const char *text)
{
	for (const unsigned char *s = (const unsigned char *)text; *s; s++) {
		size_t bad = not_xml(s);

		if (bad) {
			fputc('?', out);
			s += bad - 1;
		} else if (strchr("&<>\"'", *s)) {
			fprintf(out, "&#%d;", *s);
		} else {
			fputc(*s, out);
		}
	}
}

/* Prints at most `most` bytes of a name, and never part of a character. */
static void put_short(const char *name, size_t most)
{
	size_t n = strlen(name);
	char *text;

	if (n <= most) {
		put_text(name);
		return;
	}
	n = most;
	while (n > 0 && ((unsigned char)name[n] & 0xc0) == 0x80)
		n--;
	text = xstrndup(name, n);
	put_text(text);
	fputs("…", out);
	free(text);
}

/* A colour for the i-th level; colours repeat when they run out. */
static const char *colour(size_t i)
{
	static const char *const colours[] = {
		"#4e79a7", "#f28e2b", "#59a14f", "#b07aa1", "#edc948", "#76b7b2", "#ff9da7",
		"#9c755f", "#86bcb6", "#d4a6c8", "#8cd17d", "#d37295", "#a0cbe8", "#ffbe7d",
		"#499894", "#79706e",
	};

	return colours[i % ARRAY_SIZE(colours)];
}

static const char *deviation_colour(const json_t *bundle)
{
	const char *below = str(bundle, "below");

	return strcmp(below, "rate") == 0 ? "#d62728" : strcmp(below, "vls") == 0 ? "#e8710a" :
	       *below ? "#c9a400" : "#7f9db9";
}

/* --- bars --- */

/* A bar of the shares by one model of the arbiter. */
struct bar {
	const char *key;	/* member of a level with its share */
	double y, height;
	bool named;		/* levels are named in it */
};

static void put_share_title(const json_t *l)
{
	fputs("<title>", out);
	put_text(str(l, "level"));
	fprintf(out, ": SL %lld, VL %lld, %.1f%%, %.4g Gb/s of %.4g alone", num(l, "sl"),
		num(l, "vl"), real(l, "share") * 100, real(l, "gbps"), real(l, "ceiling"));
	if (has(l, "share-measured"))
		fprintf(out, ", %.1f%% by IBA's arbiter and %.1f%% as measured on hardware",
			real(l, "share-iba") * 100, real(l, "share-measured") * 100);
	if (has(l, "wait-us"))
		fprintf(out, ", waits %.4g us at most", real(l, "wait-us"));
	fputs("</title>", out);
}

/*
 * True if an earlier level has the same VL: levels on one VL share its part, so the VL is drawn
 * once, in the first level's colour.
 */
static bool vl_was_drawn(const json_t *levels, size_t i)
{
	for (size_t k = 0; k < i; k++) {
		const json_t *l = json_array_get(levels, k);

		if (has(l, "vl") && num(l, "vl") == num(json_array_get(levels, i), "vl"))
			return true;
	}
	return false;
}

static void put_segment(const json_t *l, size_t i, const struct bar *bar, double x, double width)
{
	const json_t *with = json_object_get(l, "shared-with");

	fprintf(out, "<g><rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"/>",
		x, bar->y, width, bar->height, colour(i));
	if (width > 44 && bar->named) {
		fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" class=\"in\">%.1f%%%s ",
			x + 4, bar->y + 14, real(l, bar->key) * 100, json_array_size(with) ? " *" : "");
		put_short(str(l, "level"), (size_t)((width - 44) / 8));
		fputs("</text>", out);
	}
	put_share_title(l);
	fputs("</g>\n", out);
}

static void put_bar(const json_t *levels, const struct bar *bar)
{
	double x = 0;

	for (size_t i = 0; i < json_array_size(levels); i++) {
		const json_t *l = json_array_get(levels, i);
		double width = real(l, bar->key) * BAR_WIDTH;

		if (!has(l, "vl") || !has(l, bar->key) || vl_was_drawn(levels, i))
			continue;
		put_segment(l, i, bar, x, width);
		x += width;
	}
	if (x == 0)
		fprintf(out, "<rect x=\"0\" y=\"%.1f\" width=\"%.1f\" height=\"20\" "
			"class=\"unknown\"/><text x=\"4\" y=\"%.1f\">shares not known</text>\n",
			bar->y, BAR_WIDTH, bar->y + 14);
}

static bool models_differ(const json_t *levels)
{
	const json_t *l;
	size_t i;

	json_array_foreach(levels, i, l)
		if (json_is_true(json_object_get(l, "models-differ")))
			return true;
	return false;
}

static void put_kind(const json_t *kind, size_t i)
{
	const json_t *levels = json_object_get(kind, "levels");
	bool measured = strcmp(str(result, "arbiter-model"), "measured") == 0;
	double y = (double)i * KIND_HEIGHT;

	fprintf(out, "<text x=\"0\" y=\"%.1f\">%lld %s ports, %g Gb/s, MTU %lld, %lld VLs, as ",
		y + 13, num(kind, "ports"), str(kind, "class"), real(kind, "rate"),
		num(kind, "mtu"), num(kind, "vls"));
	put_text(str(kind, "example"));
	fputs("</text>\n", out);
	put_bar(levels, &(struct bar){ "share", y + 18, 20, true });
	if (models_differ(levels))
		put_bar(levels, &(struct bar){ measured ? "share-iba" : "share-measured", y + 39, 5, false });
}

static void put_legend(const json_t *levels)
{
	fputs("<p>", out);
	for (size_t i = 0; i < json_array_size(levels); i++) {
		const json_t *l = json_array_get(levels, i);

		fprintf(out, "<span class=\"key\" style=\"background:%s\"></span> ", colour(i));
		put_text(str(l, "level"));
		fprintf(out, " (SL %lld) ", num(l, "sl"));
	}
	fputs("</p>\n<p>* several levels share the VL and its share.  A thin bar below another has the shares by the "
	      "other model of the arbiter (IBA's, or what was measured on hardware), where the two differ by "
	      "more than a tenth.</p>\n", out);
}

static void put_kinds(void)
{
	const json_t *kinds = json_object_get(result, "kinds");
	size_t n = json_array_size(kinds), shown = n < KINDS_SHOWN ? n : KINDS_SHOWN;

	fputs("<h2>Share of each level under full load</h2>\n", out);
	put_legend(json_object_get(json_array_get(kinds, 0), "levels"));
	fprintf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"1000\" height=\"%zu\">\n",
		shown * KIND_HEIGHT + 10);
	for (size_t i = 0; i < shown; i++)
		put_kind(json_array_get(kinds, i), i);
	fputs("</svg>\n", out);
	if (n > shown)
		fprintf(out, "<p>… and %zu rarer kinds of link.</p>\n", n - shown);
}

/* --- the fabric --- */

/* Positions: switches in rows by rank, hosts below. */
struct drawing {
	size_t n;			/* number of switches */
	size_t in_row[RANKS_MAX];
	unsigned rows;
	double pitch, width, height;
	double *x, *y;			/* [switch] */
	size_t hosts, bundles;
	bool names, tooltips, single_hosts;
};

static unsigned row_of(const json_t *sw)
{
	long long rank = has(sw, "rank") ? num(sw, "rank") : 0;

	return rank < RANKS_MAX ? (unsigned)rank : RANKS_MAX - 1;
}

static size_t count_switches(struct drawing *d)
{
	size_t widest = 1;

	d->n = json_array_size(switches);
	for (size_t i = 0; i < d->n; i++) {
		const json_t *sw = json_array_get(switches, i);
		unsigned row = row_of(sw);

		if (++d->in_row[row] > widest)
			widest = d->in_row[row];
		if (row >= d->rows)
			d->rows = row + 1;
		d->hosts += (size_t)num(sw, "hosts");
		d->bundles += json_array_size(json_object_get(sw, "links"));
	}
	return widest;
}

static void place_switches(struct drawing *d)
{
	size_t widest = count_switches(d), placed[RANKS_MAX] = { 0 };

	d->names = widest <= NAMES_SHOWN;
	d->tooltips = d->bundles <= TOOLTIPS_SHOWN;
	d->single_hosts = d->hosts <= HOSTS_SHOWN;
	d->pitch = d->names ? 130 : d->single_hosts ? 60 : 14;
	d->width = (double)widest * d->pitch + 20;
	d->height = (d->rows ? d->rows - 1 : 0) * 140 + 140;
	d->x = xcalloc(d->n + 1, sizeof(*d->x));
	d->y = xcalloc(d->n + 1, sizeof(*d->y));
	for (size_t i = 0; i < d->n; i++) {
		unsigned row = row_of(json_array_get(switches, i));
		double step = d->width / (double)d->in_row[row];

		d->x[i] = ((double)placed[row]++ + 0.5) * step;
		d->y[i] = (d->rows - 1 - row) * 140 + 30;
	}
}

static void put_bundle_title(const json_t *from, const json_t *b)
{
	const json_t *to = has(b, "to") ? json_array_get(switches, (size_t)num(b, "to")) : NULL;

	fputs("<title>", out);
	put_text(str(from, "name"));
	fputs(" - ", out);
	put_text(to ? str(to, "name") : "hosts");
	fprintf(out, ": %lld of %g Gb/s, %lld VLs, as ", num(b, "links"), real(b, "rate"),
		num(b, "vls"));
	put_text(str(b, "example"));
	if (has(b, "why")) {
		fputs(": ", out);
		put_text(str(b, "why"));
	}
	fputs("</title>", out);
}

/* Draws a line; a curve between switches of one row, as a line would cross those in between. */
static void put_line(const struct drawing *d, size_t from, size_t to)
{
	double x1 = d->x[from], y1 = d->y[from], x2 = d->x[to], y2 = d->y[to];

	if (y1 == y2)
		fprintf(out, "M%.1f %.1fQ%.1f %.1f %.1f %.1f", x1, y1, (x1 + x2) / 2, y1 - 50,
			x2, y2);
	else
		fprintf(out, "M%.1f %.1fL%.1f %.1f", x1, y1, x2, y2);
}

static bool bundle_ends(const struct drawing *d, const json_t *b, size_t *to)
{
	*to = (size_t)num(b, "to");
	return has(b, "to") && *to < d->n;
}

static void put_bundle(const struct drawing *d, size_t from, const json_t *b)
{
	bool odd = has(b, "why");
	size_t to;

	if (!bundle_ends(d, b, &to))
		return;
	fprintf(out, "<path class=\"l\" stroke=\"%s\" stroke-width=\"%s\" d=\"",
		deviation_colour(b), odd ? "3" : num(b, "links") > 1 ? "2" : "1");
	put_line(d, from, to);
	fputs("\">", out);
	put_bundle_title(json_array_get(switches, from), b);
	fputs("</path>\n", out);
}

/* Draws a switch's usual links in a large fabric: one path without tooltips. */
static void put_usual_links(const struct drawing *d, size_t from)
{
	const json_t *links = json_object_get(json_array_get(switches, from), "links");
	bool any = false;
	size_t to;

	for (size_t i = 0; i < json_array_size(links); i++) {
		const json_t *b = json_array_get(links, i);

		if (has(b, "why") || !bundle_ends(d, b, &to))
			continue;
		if (!any)
			fputs("<path class=\"l\" stroke=\"#7f9db9\" stroke-width=\"0.3\" d=\"",
			      out);
		any = true;
		put_line(d, from, to);
	}
	if (any)
		fputs("\"/>\n", out);
}

/* Draws usual or, if odd, deviating links; the latter later, so that they lie on top. */
static void put_links(const struct drawing *d, bool odd)
{
	for (size_t i = 0; i < d->n; i++) {
		const json_t *links = json_object_get(json_array_get(switches, i), "links");

		if (!odd && !d->tooltips) {
			put_usual_links(d, i);
			continue;
		}
		for (size_t k = 0; k < json_array_size(links); k++)
			if (has(json_array_get(links, k), "why") == odd)
				put_bundle(d, i, json_array_get(links, k));
	}
}

/* Draws a square for each host, in lines of eight, from *n on. */
static void put_hosts_one_by_one(const struct drawing *d, size_t sw, const json_t *b, size_t *n)
{
	double size = 6, left = d->x[sw] - 4 * size;

	fputs("<g>", out);
	for (long long i = 0; i < num(b, "links"); i++, (*n)++)
		fprintf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"5\" height=\"5\" fill=\"%s\"/>",
			left + (double)(*n % 8) * size, d->y[sw] + 16 + (double)(*n / 8) * size,
			deviation_colour(b));
	put_bundle_title(json_array_get(switches, sw), b);
	fputs("</g>\n", out);
}

/* Draws one bar for all hosts, its deviating part in colour. */
static void put_hosts_together(const struct drawing *d, size_t sw, const json_t *b, size_t *n)
{
	double width = d->pitch * 0.7, height = (double)num(b, "links");

	fprintf(out, "<g><rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"/>",
		d->x[sw] - width / 2, d->y[sw] + 12 + (double)*n, width, height,
		deviation_colour(b));
	*n += (size_t)height;
	put_bundle_title(json_array_get(switches, sw), b);
	fputs("</g>\n", out);
}

static void put_hosts(const struct drawing *d, size_t sw)
{
	const json_t *links = json_object_get(json_array_get(switches, sw), "host-links");
	size_t n = 0;

	for (size_t i = 0; i < json_array_size(links); i++) {
		const json_t *b = json_array_get(links, i);

		if (d->single_hosts)
			put_hosts_one_by_one(d, sw, b, &n);
		else
			put_hosts_together(d, sw, b, &n);
	}
}

static void put_switch(const struct drawing *d, size_t i)
{
	const json_t *sw = json_array_get(switches, i);
	double half = d->pitch * 0.45;

	fprintf(out, "<g><rect class=\"s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"20\"/>",
		d->x[i] - half, d->y[i] - 10, 2 * half);
	if (d->names) {
		fprintf(out, "<text class=\"n\" x=\"%.1f\" y=\"%.1f\">", d->x[i], d->y[i] + 3);
		put_short(str(sw, "name"), 20);
		fputs("</text>", out);
	}
	fputs("<title>", out);
	put_text(str(sw, "name"));
	fprintf(out, " (%s), %lld hosts</title></g>\n", str(sw, "guid"), num(sw, "hosts"));
	put_hosts(d, i);
}

static void put_drawing(const struct drawing *d)
{
	put_links(d, false);
	put_links(d, true);
	for (size_t i = 0; i < d->n; i++)
		put_switch(d, i);
}

static void put_fabric(void)
{
	struct drawing d = { 0 };

	place_switches(&d);
	fprintf(out, "<h2>The fabric</h2>\n<p>%zu switches, %zu links to hosts. "
		"<span class=\"key\" style=\"background:#7f9db9\"></span> as usual "
		"<span class=\"key\" style=\"background:#d62728\"></span> slower than usual "
		"<span class=\"key\" style=\"background:#e8710a\"></span> fewer VLs than usual "
		"<span class=\"key\" style=\"background:#c9a400\"></span> below what both ends "
		"can</p>\n", d.n, d.hosts);
	fprintf(out, "<div class=\"wide\"><svg xmlns=\"http://www.w3.org/2000/svg\" "
		"width=\"%.0f\" height=\"%.0f\">\n", d.width, d.height);
	put_drawing(&d);
	fputs("</svg></div>\n", out);
	free(d.x);
	free(d.y);
}

static void put_deviations(void)
{
	const json_t *odd = json_object_get(result, "deviations");

	if (json_array_size(odd) == 0)
		return;
	fputs("<h2>Links that deviate</h2>\n<table><tr><th>port</th><th>to</th>"
	      "<th>why</th></tr>\n", out);
	for (size_t i = 0; i < json_array_size(odd); i++) {
		const json_t *o = json_array_get(odd, i);

		fputs("<tr><td>", out);
		put_text(str(o, "port"));
		fputs("</td><td>", out);
		put_text(str(o, "peer"));
		fputs("</td><td>", out);
		put_text(str(o, "why"));
		fputs("</td></tr>\n", out);
	}
	fputs("</table>\n", out);
}

/* --- the page --- */

#define SVG_STYLE \
	"svg{font:12px sans-serif;color:#222}.in{fill:#111}.n{text-anchor:middle;font-size:10px}" \
	".s{fill:#eef2f6;stroke:#456}.l{fill:none}.unknown{fill:#ddd}"

static void put_page(void)
{
	fputs("<!DOCTYPE html>\n<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\"><head>"
	      "<meta charset=\"utf-8\"/><title>Bandwidth of the subnet</title><style>" SVG_STYLE
	      "body{font:12px sans-serif;color:#222}"
	      ".wide{overflow-x:auto}td,th{text-align:left;padding:1px 8px}"
	      ".key{display:inline-block;width:11px;height:11px;margin-left:8px}"
	      "</style></head>\n<body><h1>Bandwidth of the subnet</h1>\n", out);
	if (!json_is_true(json_object_get(result, "managed")))
		fputs("<p>The tables are not managed: devices keep their power-on tables, which qosd has "
		      "not read, so the shares are unknown.</p>\n", out);
	put_kinds();
	put_fabric();
	put_deviations();
	fputs("</body></html>\n", out);
}

/* Draws the levels with their colours, in a row that begins at y. */
static void put_drawing_legend(const json_t *levels, double y)
{
	double x = 0;

	for (size_t i = 0; i < json_array_size(levels); i++) {
		const json_t *l = json_array_get(levels, i);
		const char *name = str(l, "level");

		fprintf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"12\" height=\"12\" fill=\"%s\"/>"
			"<text x=\"%.1f\" y=\"%.1f\">", x, y, colour(i), x + 16, y + 11);
		put_short(name, 20);
		fprintf(out, " (SL %lld)</text>\n", num(l, "sl"));
		x += 90 + 7 * (double)(strlen(name) < 20 ? strlen(name) : 20);
	}
}

static void put_svg(void)
{
	const json_t *kinds = json_object_get(result, "kinds");
	size_t n = json_array_size(kinds), shown = n < DRAWING_KINDS ? n : DRAWING_KINDS;
	struct drawing d = { 0 };
	double width;

	place_switches(&d);
	width = d.width > BAR_WIDTH ? d.width : BAR_WIDTH;
	fprintf(out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"-10 -10 %.0f %.0f\" width=\"%.0f\" "
		"height=\"%.0f\">\n<style>" SVG_STYLE "</style>\n"
		"<rect x=\"-10\" y=\"-10\" width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
		width + 20, d.height + 50 + (double)shown * KIND_HEIGHT, width + 20,
		d.height + 50 + (double)shown * KIND_HEIGHT);
	put_drawing(&d);
	fprintf(out, "<g transform=\"translate(0 %.0f)\">\n", d.height);
	put_drawing_legend(json_object_get(json_array_get(kinds, 0), "levels"), 0);
	fputs("<g transform=\"translate(0 24)\">\n", out);
	for (size_t i = 0; i < shown; i++)
		put_kind(json_array_get(kinds, i), i);
	fputs("</g></g></svg>\n", out);
	free(d.x);
	free(d.y);
}

static bool is_drawing(const char *file)
{
	size_t n = strlen(file);

	return n > 4 && strcmp(file + n - 4, ".svg") == 0;
}

static bool write_page(void)
{
	struct new_file page;

	if (!new_file_open(&page, file_name))
		return false;
	out = page.f;
	if (is_drawing(file_name))
		put_svg();
	else
		put_page();
	return new_file_close(&page, true);
}

void html_output_begin(const char *file)
{
	file_name = xstrdup(file);
	switches = json_array();
}

static void html_head(const json_t *answer)
{
	result = json_incref(json_object_get(answer, "result"));
}

static bool html_row(const json_t *row)
{
	json_array_append(switches, (json_t *)(uintptr_t)row);
	return true;
}

static bool html_end(bool complete)
{
	bool ok = complete && write_page();

	json_decref(result);
	json_decref(switches);
	free(file_name);
	return ok;
}

const struct output html_output = { .head = html_head, .row = html_row, .end = html_end };
