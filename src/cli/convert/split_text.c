/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Splits text into words, lists and numbers; split_text.h has the contracts. */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "cli/convert/split_text.h"

struct cursor cursor_of(const struct convert_input *in)
{
	struct cursor c = {
		.s = in->text, .end = in->text + in->n, .at = { in->name, { 1, 1 } },
		.quotes = true,
	};

	if (in->n >= 3 && !memcmp(in->text, "\xef\xbb\xbf", 3))
		c.s += 3;
	return c;
}

void cursor_skip(struct cursor *c, size_t n)
{
	for (; n > 0 && c->s < c->end; n--, c->s++) {
		if (*c->s == '\n') {
			c->at.pos.line++;
			c->at.pos.col = 1;
		} else if (((unsigned char)*c->s & 0xc0) != 0x80) {
			c->at.pos.col++;
		}
	}
}

static bool is_blank(char ch)
{
	return ch == ' ' || ch == '\t' || ch == '\r';
}

void cursor_skip_blanks(struct cursor *c)
{
	while (c->s < c->end && is_blank(*c->s))
		cursor_skip(c, 1);
}

void cursor_skip_line(struct cursor *c)
{
	while (c->s < c->end && *c->s != '\n')
		cursor_skip(c, 1);
	cursor_skip(c, 1);
}

void cursor_skip_between(struct cursor *c)
{
	while (c->s < c->end) {
		if (c->quotes && *c->s == '#')
			while (c->s < c->end && *c->s != '\n')
				cursor_skip(c, 1);
		else if (is_blank(*c->s) || *c->s == '\n')
			cursor_skip(c, 1);
		else
			break;
	}
}

const char *peek_word(struct converted *c, const struct cursor *at, const char *ends)
{
	size_t n = 0;

	while (at->s + n < at->end && !is_blank(at->s[n]) && at->s[n] != '\n' &&
	       !strchr(ends, at->s[n]))
		n++;
	return keep(c, at->s, n);
}

const char *take_word(struct converted *c, struct cursor *at, const char *ends)
{
	const char *word = peek_word(c, at, ends);

	cursor_skip(at, strlen(word));
	cursor_skip_blanks(at);
	return word;
}

struct cursor cursor_part(struct cursor c, const char *to)
{
	c.end = to;
	cursor_skip_between(&c);
	while (c.end > c.s && (is_blank(c.end[-1]) || c.end[-1] == '\n'))
		c.end--;
	return c;
}

/* Length of a quoted text at the cursor, or 0 if there is none, or no closing quote. */
static size_t quoted(const struct cursor *c)
{
	const char *close;

	if (!c->quotes || *c->s != '"')
		return 0;
	close = memchr(c->s + 1, '"', (size_t)(c->end - c->s) - 1);
	return close ? (size_t)(close - c->s) + 1 : 0;
}

bool next_item(struct cursor *list, struct item *out)
{
	struct cursor start;

	cursor_skip_between(list);
	if (list->s >= list->end)
		return false;
	start = *list;
	*out = (struct item){ 0 };
	while (list->s < list->end && *list->s != ',') {
		size_t n = quoted(list);

		if (list->quotes && *list->s == '#') {
			cursor_skip_between(list);
			continue;
		}
		out->quoted |= n > 0;
		cursor_skip(list, n ? n : 1);
	}
	out->text = cursor_part(start, list->s);
	cursor_skip(list, 1);	/* the comma */
	return true;
}

const char *item_text(struct converted *c, struct cursor item)
{
	struct buf b = { 0 };
	const char *text;

	while (item.s < item.end) {
		size_t n = quoted(&item);

		if (n) {
			buf_add(&b, item.s + 1, n - 2);
			cursor_skip(&item, n);
		} else if ((item.quotes && *item.s == '#') || *item.s == '\n') {
			cursor_skip_between(&item);
			buf_puts(&b, " ");
		} else {
			buf_add(&b, *item.s == '\r' ? " " : item.s, 1);
			cursor_skip(&item, 1);
		}
	}
	while (b.n && is_blank(b.s[b.n - 1]))
		b.n--;
	text = keep(c, b.s ? b.s : "", b.n);
	buf_free(&b);
	return text;
}

static bool take_number(const char **s, uint64_t *v)
{
	unsigned base = 10;
	const char *p = *s;
	uint64_t x = 0;
	bool any = false;

	while (isspace((unsigned char)*p))
		p++;
	if (p[0] == '0' && (p[1] == 'x' || p[1] == 'X')) {
		base = 16;
		p += 2;
	} else if (*p == '0') {
		base = 8;
	}
	for (;; p++, any = true) {
		unsigned d = isdigit((unsigned char)*p) ? (unsigned)(*p - '0')
			   : isxdigit((unsigned char)*p) ? (unsigned)((*p | 0x20) - 'a') + 10 : 99;

		if (d >= base)
			break;
		if (__builtin_mul_overflow(x, base, &x) || __builtin_add_overflow(x, d, &x))
			return false;
	}
	while (isspace((unsigned char)*p))
		p++;
	*s = p;
	*v = x;
	return any;
}

bool parse_number(const char *s, uint64_t *v)
{
	return take_number(&s, v) && !*s;
}

/* Parses "a" or "a-b"; sets *swapped if the greater number comes first. */
static bool parse_range(const char *s, struct range *out, bool *swapped)
{
	uint64_t lo, hi;

	if (!take_number(&s, &lo))
		return false;
	hi = lo;
	if (*s == '-') {
		s++;
		if (!take_number(&s, &hi))
			return false;
	}
	*swapped = lo > hi;
	*out = lo > hi ? (struct range){ hi, lo } : (struct range){ lo, hi };
	return !*s;
}

bool read_ranges(struct converted *c, struct notes *notes, struct cursor list,
		 const struct limits *limits, struct ranges *out)
{
	struct item i;
	size_t items = 0;
	bool ok = true;

	for (struct cursor l = list; next_item(&l, &i); items++) {
		const char *text = item_text(c, i.text);
		struct range r;
		bool swapped;

		if (!parse_range(text, &r, &swapped)) {
			say_error(c, i.text.at, "'%s' is neither %s nor a range of them", SHOW(text),
				  limits->what);
			ok = false;
			continue;
		}
		if (swapped)
			verdict(c, notes, VERDICT_SAME, i.text.at,
			    "the range %s is reversed; swapped its ends, as OpenSM does", SHOW(text));
		if (r.hi > limits->max) {
			say_error(c, i.text.at, "%s is out of range: %s is at most %#" PRIx64,
				  SHOW(text), limits->what, limits->max);
			ok = false;
			continue;
		}
		add_range(out, r.lo, r.hi);
	}
	if (items == 0) {
		say_error(c, list.at, "expected %s, found nothing", limits->what);
		ok = false;
	}
	return ok;
}

bool read_number(struct converted *c, struct cursor text, uint64_t min, uint64_t max,
		 const char *what, uint64_t *out)
{
	const char *word = item_text(c, text);

	if (!parse_number(word, out))
		say_error(c, text.at, "%s: '%s' is not a number", what, SHOW(word));
	else if (*out < min || *out > max)
		say_error(c, text.at, "%s: %s is out of range (%" PRIu64 " to %" PRIu64 ")", what,
			  SHOW(word), min, max);
	else
		return true;
	return false;
}

void mask_pkeys(struct ranges *r)
{
	for (size_t i = 0; i < r->n; i++) {
		uint64_t lo = r->v[i].lo & 0x7fff, hi = r->v[i].hi & 0x7fff;

		r->v[i] = lo <= hi ? (struct range){ lo, hi } : (struct range){ hi, lo };
	}
}

/* Decodes the character at s; returns its length in bytes, or 0 if it is not UTF-8. */
static size_t decode(const unsigned char *s, uint32_t *out)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t n = s[0] < 0x80 ? 1 : s[0] >= 0xf0 && s[0] < 0xf8 ? 4 :
		   s[0] >= 0xe0 && s[0] < 0xf0 ? 3 : s[0] >= 0xc0 && s[0] < 0xe0 ? 2 : 0;
	uint32_t x = n == 1 ? s[0] : n ? s[0] & (0x7fu >> n) : 0;

	for (size_t i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		x = x << 6 | (s[i] & 0x3f);
	}
	*out = x;
	return n && x >= least[n] && x <= 0x10ffff && !(x >= 0xd800 && x < 0xe000) ? n : 0;
}

bool add_clean(struct buf *b, const char *s)
{
	const unsigned char *p = (const unsigned char *)s;
	bool same = true;

	while (*p) {
		uint32_t ch;
		size_t n = decode(p, &ch);
		unsigned char latin[2] = { (unsigned char)(0xc0 | *p >> 6),
					   (unsigned char)(0x80 | (*p & 0x3f)) };

		same &= n > 0;
		if (!n)
			ch = *p;
		if (ch < 0x20 || (ch >= 0x7f && ch < 0xa0) || ch == 0xfeff || ch == 0xfffe ||
		    ch == 0xffff || ch == 0x2028 || ch == 0x2029) {
			buf_puts(b, "?");
			same = false;
		} else if (n) {
			buf_add(b, p, n);
		} else {
			buf_add(b, latin, 2);
		}
		p += n ? n : 1;
	}
	return same;
}

/* --- templates --- */

/* Length of a name of letters, digits and '_' that begins with a letter. */
static size_t name_length(const char *s, const char *end)
{
	size_t n = 0;

	while (s + n < end && (isalnum((unsigned char)s[n]) || s[n] == '_'))
		n++;
	return n && isalpha((unsigned char)*s) ? n : 0;
}

/* Length of "${NAME}" or "@NAME@", in which no file of these formats has a use for; 0: neither. */
static size_t variable(const char *s, const char *end)
{
	bool braces = *s == '$';
	const char *name = braces ? s + 2 : s + 1;
	size_t n;

	if ((*s != '$' && *s != '@') || name >= end || (braces && s[1] != '{'))
		return 0;
	n = name_length(name, end);
	for (size_t i = 0; !braces && i < n; i++)
		if (islower((unsigned char)name[i]))
			return 0;	/* as in user@host@site */
	return n && name + n < end && name[n] == (braces ? '}' : '@') ? (size_t)(name + n + 1 - s) : 0;
}

/* Length of the place holder at s, at most to the end of the line; 0: none. */
static size_t place_holder(const char *s, const char *end)
{
	static const struct { const char *open, *close; } marks[] = {
		{ "{{", "}}" }, { "{%", "%}" }, { "<%", "%>" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(marks) && end - s >= 2; i++) {
		const char *close, *eol;

		if (memcmp(s, marks[i].open, 2))
			continue;
		eol = memchr(s, '\n', (size_t)(end - s));
		end = eol ? eol : end;
		close = memmem(s + 2, (size_t)(end - s) - 2, marks[i].close, 2);
		return close ? (size_t)(close + 2 - s) : (size_t)(end - s);
	}
	return variable(s, end);
}

/* The end of the comment at the cursor, or NULL if there is none. */
static const char *comment_end(const struct cursor *at, bool xml)
{
	size_t left = (size_t)(at->end - at->s);
	const char *end;

	if (!xml) {
		if (*at->s != '#')
			return NULL;
		end = memchr(at->s, '\n', left);
		return end ? end : at->end;
	}
	if (left < 4 || memcmp(at->s, "<!--", 4))
		return NULL;
	end = memmem(at->s, left, "-->", 3);
	return end ? end + 3 : at->end;
}

bool refuse_template(struct converted *c, const struct convert_input *in)
{
	for (struct cursor at = cursor_of(in); at.s < at.end; cursor_skip(&at, 1)) {
		const char *end = comment_end(&at, in->format == FORMAT_XML);
		size_t n;

		if (end)
			cursor_skip(&at, (size_t)(end - at.s));
		n = at.s < at.end ? place_holder(at.s, at.end) : 0;
		if (!n)
			continue;
		say_error(c, at.at, "'%s' is a place holder: this is a template that was not rendered; convert "
			  "what the other manager reads", show(&(struct shown){ "" }, at.s, n));
		return true;
	}
	return false;
}
