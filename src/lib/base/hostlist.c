/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads and writes lists of host names; hostlist.h has the contracts. */
#include "lib/base/hostlist.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"

#define DIGITS_MAX	9	/* of a number in brackets */
#define NAME_BYTES_MAX	255	/* of a name, as of one in DNS */
#define BRACKETS_MAX	8	/* of one name: expanding it takes a call for each */

struct parse {
	struct hostlist *out;
	size_t most;
	struct buf *err;
};

bool hostlist_is_list(const char *text)
{
	return strpbrk(text, ",[]") != NULL;
}

void hostlist_free(struct hostlist *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->v[i]);
	vec_free(l);
}

void hostlist_add(struct hostlist *l, const char *name)
{
	*vec_push(l) = xstrdup(name);
}

static bool add_name(struct parse *p, const char *name)
{
	if (!*name) {
		buf_puts(p->err, "a name is missing between commas or at an end");
		return false;
	}
	if (strlen(name) > NAME_BYTES_MAX) {
		buf_printf(p->err, "a name has more than %d bytes: %.40s…", NAME_BYTES_MAX, name);
		return false;
	}
	if (p->out->n >= p->most) {
		buf_printf(p->err, "there are more than %zu names", p->most);
		return false;
	}
	hostlist_add(p->out, name);
	return true;
}

/* Reads a number of n bytes. */
static bool read_number(const char *text, size_t n, unsigned long *value)
{
	*value = 0;
	for (size_t i = 0; i < n; i++) {
		if (text[i] < '0' || text[i] > '9')
			return false;
		*value = *value * 10 + (unsigned long)(text[i] - '0');
	}
	return n > 0 && n <= DIGITS_MAX;
}

/* Reads "7" or "01-04", n bytes. */
static bool read_range(const struct parse *p, const char *text, size_t n, unsigned long *lo,
		       unsigned long *hi, size_t *width)
{
	const char *dash = memchr(text, '-', n);

	*width = dash ? (size_t)(dash - text) : n;
	if (!read_number(text, *width, lo) ||
	    !(dash ? read_number(dash + 1, n - *width - 1, hi) : (*hi = *lo, true))) {
		buf_printf(p->err, "\"%.*s\" in brackets is neither a number nor a range of numbers",
			   n > 40 ? 40 : (int)n, text);
		return false;
	}
	if (*hi < *lo)
		buf_printf(p->err, "the range %.*s runs backwards", (int)n, text);
	return *hi >= *lo;
}

static bool add_element(struct parse *p, const char *head, const char *element, unsigned depth);

/* Adds head, each number of one range, and what the tail stands for. */
static bool add_range(struct parse *p, const char *head, const char *text, size_t n,
		      const char *tail, unsigned depth)
{
	unsigned long lo, hi;
	size_t width;
	bool good = read_range(p, text, n, &lo, &hi, &width);

	for (unsigned long k = lo; good && k <= hi; k++) {
		char *name = xasprintf("%s%0*lu", head, (int)width, k);

		good = add_element(p, name, tail, depth + 1);
		free(name);
	}
	return good;
}

/* Adds head and what an element without a comma outside of brackets stands for. */
static bool add_element(struct parse *p, const char *head, const char *element, unsigned depth)
{
	const char *open = strchr(element, '['), *close = open ? strchr(open, ']') : NULL;
	char *name;
	bool good;

	if (depth > BRACKETS_MAX) {
		buf_printf(p->err, "a name has more than %d brackets", BRACKETS_MAX);
		return false;
	}
	name = xasprintf("%s%.*s", head, (int)(open ? (size_t)(open - element) : strlen(element)),
			 element);
	good = open || add_name(p, name);
	for (const char *at = open ? open + 1 : NULL; good && at && at <= close;) {
		size_t n = strcspn(at, ",]");

		good = add_range(p, name, at, n, close + 1, depth);
		at += n + 1;
	}
	free(name);
	return good;
}

/* The length of the first element; SIZE_MAX: its brackets are broken. */
static size_t element_length(const struct parse *p, const char *text)
{
	bool inside = false;
	size_t n;

	for (n = 0; text[n] && (inside || text[n] != ','); n++) {
		if (text[n] == (inside ? '[' : ']')) {
			buf_puts(p->err, inside ? "there is a bracket within brackets" :
						  "a bracket is closed that was not opened");
			return SIZE_MAX;
		}
		inside ^= text[n] == '[' || text[n] == ']';
	}
	if (inside)
		buf_puts(p->err, "a bracket is not closed");
	return inside ? SIZE_MAX : n;
}

bool hostlist_parse(const char *text, size_t most, struct hostlist *out, struct buf *err)
{
	struct parse p = { out, most, err };

	for (;;) {
		size_t n = element_length(&p, text);
		char *element;
		bool good;

		if (n == SIZE_MAX)
			return false;
		element = xstrndup(text, n);
		good = add_element(&p, "", element, 0);
		free(element);
		if (!good || !text[n])
			return good;
		text += n + 1;
	}
}

/* --- writing --- */

/* A name is its head and the digits at its end, or all head. */
static size_t head_length(const char *name)
{
	size_t length = strlen(name), n = length;

	while (n > 0 && name[n - 1] >= '0' && name[n - 1] <= '9')
		n--;
	return length - n > DIGITS_MAX ? length : n;
}

static int compare_names(const void *pa, const void *pb)
{
	const char *a = *(char *const *)pa, *b = *(char *const *)pb;
	size_t na = head_length(a), nb = head_length(b), less = na < nb ? na : nb;
	int by_head = memcmp(a, b, less);

	if (by_head || na != nb)
		return by_head ? by_head : na < nb ? -1 : 1;
	na = strlen(a);
	nb = strlen(b);
	return na != nb ? (na < nb ? -1 : 1) : strcmp(a, b);
}

void hostlist_sort(struct hostlist *l)
{
	if (l->n > 0)
		qsort(l->v, l->n, sizeof(*l->v), compare_names);
}

/* True if two names can stand in the same brackets. */
static bool same_head(const char *a, const char *b)
{
	size_t n = head_length(a);

	return a[n] && head_length(b) == n && memcmp(a, b, n) == 0 && strlen(a) == strlen(b);
}

static unsigned long number_of(const char *name)
{
	return strtoul(name + head_length(name), NULL, 10);
}

/* The end of the run of consecutive numbers, or of equal names, that begins at i. */
static size_t run_end(const struct hostlist *l, size_t i, size_t end)
{
	while (++i < end && number_of(l->v[i]) <= number_of(l->v[i - 1]) + 1)
		;
	return i;
}

static void put_numbers(const struct hostlist *l, size_t i, size_t end, struct buf *out)
{
	for (size_t next; i < end; i = next) {
		next = run_end(l, i, end);
		buf_puts(out, l->v[i] + head_length(l->v[i]));
		if (strcmp(l->v[i], l->v[next - 1]) != 0)
			buf_printf(out, "-%s", l->v[next - 1] + head_length(l->v[next - 1]));
		if (next < end)
			buf_puts(out, ",");
	}
}

void hostlist_put(struct hostlist *l, struct buf *out)
{
	hostlist_sort(l);
	for (size_t i = 0, end; i < l->n; i = end) {
		const char *first = l->v[i];

		for (end = i + 1; end < l->n && (same_head(first, l->v[end]) ||
						 strcmp(first, l->v[end]) == 0);)
			end++;
		buf_puts(out, i ? "," : "");
		if (strcmp(first, l->v[end - 1]) == 0) {
			buf_puts(out, first);
			continue;
		}
		buf_printf(out, "%.*s[", (int)head_length(first), first);
		put_numbers(l, i, end, out);
		buf_puts(out, "]");
	}
}
