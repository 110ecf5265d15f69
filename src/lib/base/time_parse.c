/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads times.  Nothing here depends on the time zone or the locale of the machine; a field of the
 * text has as many digits as ISO 8601 gives it.
 */
#include "lib/base/time_parse.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#define SECOND 1000000ll
#define DAY (86400 * SECOND)
#define DIGITS "0123456789"

/* Takes exactly `digits` digits from *s. */
static bool take(const char **s, int digits, int *value)
{
	*value = 0;
	for (; digits; digits--, (*s)++) {
		if (**s < '0' || **s > '9')
			return false;
		*value = *value * 10 + (**s - '0');
	}
	return true;
}

static bool take_char(const char **s, char c)
{
	if (**s != c)
		return false;
	(*s)++;
	return true;
}

/* ".25": digits beyond microseconds are ignored. */
static bool take_fraction(const char **s, int64_t *us)
{
	int64_t unit = SECOND / 10;

	if (!take_char(s, '.'))
		return true;
	if (**s < '0' || **s > '9')
		return false;
	for (; **s >= '0' && **s <= '9'; (*s)++, unit /= 10)
		*us += (**s - '0') * unit;
	return true;
}

static bool take_offset(const char **s, int64_t *us)
{
	int sign = **s == '-' ? 1 : -1, hours, minutes;

	if (!**s || take_char(s, 'Z') || take_char(s, 'z'))
		return true;
	if (!take_char(s, '+') && !take_char(s, '-'))
		return false;
	if (!take(s, 2, &hours))
		return false;
	take_char(s, ':');
	if (!take(s, 2, &minutes) || hours > 14 || minutes > 59)
		return false;
	*us += sign * (hours * 3600 + minutes * 60) * SECOND;
	return true;
}

static bool parse_date(const char *s, int64_t *us)
{
	struct tm tm = { 0 }, made;
	int64_t part = 0;
	time_t seconds;

	if (!take(&s, 4, &tm.tm_year) || !take_char(&s, '-') || !take(&s, 2, &tm.tm_mon) ||
	    !take_char(&s, '-') || !take(&s, 2, &tm.tm_mday))
		return false;
	if (*s == 'T' || *s == 't' || *s == ' ') {
		s++;
		if (!take(&s, 2, &tm.tm_hour) || !take_char(&s, ':') || !take(&s, 2, &tm.tm_min))
			return false;
		if (take_char(&s, ':') && (!take(&s, 2, &tm.tm_sec) || !take_fraction(&s, &part)))
			return false;
		if (!take_offset(&s, &part))
			return false;
	}
	tm.tm_year -= 1900;
	tm.tm_mon--;
	made = tm;
	seconds = timegm(&made);
	/* timegm() carries over what is too large; such a date does not exist */
	if (*s || made.tm_mon != tm.tm_mon || made.tm_mday != tm.tm_mday ||
	    made.tm_hour != tm.tm_hour || made.tm_min != tm.tm_min || made.tm_sec != tm.tm_sec)
		return false;
	part += seconds * SECOND;
	if (part < 0)
		return false;
	*us = part;
	return true;
}

/* The seconds of a unit, which is n characters; 0: it is none. */
static double unit_seconds(const char *s, size_t n)
{
	static const struct {
		const char *name;
		double seconds;
	} units[] = {
		{ "us", 1e-6 }, { "ms", 1e-3 },
		{ "s", 1 }, { "sec", 1 }, { "secs", 1 }, { "second", 1 }, { "seconds", 1 },
		{ "m", 60 }, { "min", 60 }, { "mins", 60 }, { "minute", 60 }, { "minutes", 60 },
		{ "h", 3600 }, { "hour", 3600 }, { "hours", 3600 },
		{ "d", 86400 }, { "day", 86400 }, { "days", 86400 },
		{ "w", 604800 }, { "week", 604800 }, { "weeks", 604800 },
	};

	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (strlen(units[i].name) == n && strncasecmp(units[i].name, s, n) == 0)
			return units[i].seconds;
	return 0;
}

/* Takes digits and perhaps a fraction: strtod() alone would take signs, exponents, hexadecimal and infinities. */
static bool take_decimal(const char **s, double *value)
{
	size_t n = strspn(*s, DIGITS), fraction;

	if (n == 0)
		return false;
	if ((*s)[n] == '.') {
		fraction = strspn(*s + n + 1, DIGITS);
		if (fraction == 0)
			return false;
		n += 1 + fraction;
	}
	*value = strtod(*s, NULL);
	*s += n;
	return true;
}

/* Takes a number and its unit, and the blanks behind them. */
static bool take_span(const char **s, double *seconds)
{
	double count, unit;
	size_t n;

	if (!take_decimal(s, &count))
		return false;
	*s += strspn(*s, " ");
	n = strcspn(*s, " ");
	unit = unit_seconds(*s, n);
	*s += n;
	*s += strspn(*s, " ");
	*seconds = count * unit;
	return unit > 0;
}

bool time_span_parse(const char *text, double *seconds)
{
	double span;

	if (!take_span(&text, &span) || *text)
		return false;
	*seconds = span;
	return true;
}

bool time_seconds_parse(const char *text, double *seconds)
{
	const char *end = text;
	double count;

	if (!take_decimal(&end, &count) || *end)
		return time_span_parse(text, seconds);
	*seconds = count;
	return true;
}

static bool parse_ago(const char *s, int64_t now_us, int64_t *us)
{
	double seconds;

	if (!take_span(&s, &seconds) || (*s && strcasecmp(s, "ago")) || seconds * SECOND > (double)now_us)
		return false;
	*us = now_us - (int64_t)(seconds * SECOND);
	return true;
}

bool time_parse(const char *text, int64_t now_us, int64_t *us)
{
	int64_t today = now_us - now_us % DAY;

	if (!strcasecmp(text, "now"))
		*us = now_us;
	else if (!strcasecmp(text, "today"))
		*us = today;
	else if (!strcasecmp(text, "yesterday") && today >= DAY)
		*us = today - DAY;
	else
		return parse_date(text, us) || parse_ago(text, now_us, us);
	return true;
}
