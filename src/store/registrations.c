/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Stores services, subscriptions, alias GUIDs and departed ports, one per line.
 *
 * The file of services says when it was written: in which boot of the machine, and how long
 * after its start.  The realtime clock does not serve, because it may jump.  After a reboot only
 * the time since that boot is known to have passed: a lease may last too long, but is never cut
 * short.
 *
 * The file of aliases has the number of assigned GUIDs, rounded up: GUIDs that were assigned
 * after it was written and forgotten in a crash are not assigned again.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "sa/registry/alias.h"
#include "sa/registry/holdings.h"
#include "sa/registry/services.h"
#include "sa/registry/subscriptions.h"
#include "store/store_internal.h"

const struct store_file services_file = { "services", "qosd services ", STORE_SERVICES_FORMAT };
const struct store_file subscriptions_file = {
	"subscriptions", "qosd subscriptions ", STORE_SUBSCRIPTIONS_FORMAT,
};
const struct store_file aliases_file = { "aliases", "qosd aliases ", STORE_ALIASES_FORMAT };
const struct store_file gone_file = { "gone", "qosd gone ", STORE_GONE_FORMAT };
#define ASSIGNED_AHEAD 65536u

#define HEX_MAX 19		/* " 0x" and 16 digits */
#define DECIMAL_MAX 21
#define SERVICE_LINE	420u		/* most bytes of a line, except with a very long lease */
#define SUBSCRIPTION_LINE 160u	/* most bytes of a line */

void store_put_0x(struct buf *b, uint64_t v, unsigned digits)
{
	char text[HEX_MAX], *at = text + sizeof(text);

	for (unsigned i = 0; i < digits || v; i++, v >>= 4)
		*--at = "0123456789abcdef"[v & 0xf];
	*--at = 'x';
	*--at = '0';
	*--at = ' ';
	buf_add(b, at, (size_t)(text + sizeof(text) - at));
}

void store_put_number(struct buf *b, uint64_t v)
{
	char text[DECIMAL_MAX], *at = text + sizeof(text);

	do {
		*--at = (char)('0' + v % 10);
		v /= 10;
	} while (v);
	*--at = ' ';
	buf_add(b, at, (size_t)(text + sizeof(text) - at));
}

void store_put_hex(struct buf *b, const uint8_t *bytes, size_t n)
{
	static const char digits[] = "0123456789abcdef";
	char text[64];
	unsigned at = 0;

	buf_puts(b, " ");
	for (size_t i = 0; i < n; i++) {
		text[at++] = digits[bytes[i] >> 4];
		text[at++] = digits[bytes[i] & 0xf];
		if (at == sizeof(text) || i + 1 == n) {
			buf_add(b, text, at);
			at = 0;
		}
	}
}

static int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

const char *store_get_hex(const char *text, uint8_t *bytes, size_t n)
{
	if (!text || *text++ != ' ')
		return NULL;
	for (size_t i = 0; i < n; i++, text += 2) {
		int high = hex_digit(text[0]), low = high < 0 ? -1 : hex_digit(text[1]);

		if (low < 0)
			return NULL;
		bytes[i] = (uint8_t)(high << 4 | low);
	}
	return text;
}

/* --- services --- */

#define BOOT_ID_LEN	36		/* a UUID as text */

struct reading {
	struct services *db;
	int64_t now_us, passed_us;	/* time since the file was written; < 0: not known yet */
	bool fresh;			/* the text was just printed, whatever its clock says */
};

/* The boot id of the machine; "-" if it is not available. */
static void get_boot_id(char id[BOOT_ID_LEN + 1])
{
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);

	memset(id, 0, BOOT_ID_LEN + 1);
	if (fd < 0 || read(fd, id, BOOT_ID_LEN) != BOOT_ID_LEN)
		strcpy(id, "-");
	if (fd >= 0)
		close(fd);
}

/* States the lease as of now_us, when the first line was printed. */
static void put_service(struct buf *b, const struct service *x, int64_t now_us)
{
	buf_printf(b, "service 0x%016" PRIx64 " 0x%04x 0x%016" PRIx64 " %" PRId64,
		   x->key.id, x->key.pkey, x->source,
		   x->ends_us == SERVICE_NEVER ? SERVICE_NEVER :
		   x->ends_us < now_us ? 0 : x->ends_us - now_us);
	store_put_hex(b, x->key.gid, sizeof(x->key.gid));
	store_put_hex(b, x->secret, sizeof(x->secret));
	store_put_hex(b, x->name, sizeof(x->name));
	store_put_hex(b, x->data, sizeof(x->data));
	buf_puts(b, "\n");
}

bool store_print_some_services(const struct services *db, struct service_place *at, size_t n,
			       struct buf *b)
{
	char boot[BOOT_ID_LEN + 1];
	const struct service *x;
	size_t printed = 0;

	if (!at->now_us) {
		get_boot_id(boot);
		buf_printf(b, "written %s %" PRId64 "\n", boot, clock_boot_us());
		at->now_us = clock_mono_us();
	}
	for (; printed < n && (x = services_from(db, &at->key, at->begun)); printed++) {
		put_service(b, x, at->now_us);
		at->key = x->key;
		at->begun = true;
	}
	return printed >= n;
}

void store_print_services(const struct services *db, struct buf *b)
{
	struct service_place at = { 0 };

	store_print_some_services(db, &at, SIZE_MAX, b);
}

void store_begin_services(const struct services *db, struct buf *text)
{
	buf_reserve(text, services_count(db) * SERVICE_LINE);
	store_put_title(text, &services_file);
}

void store_save_printed_services(struct store *s, struct buf *text)
{
	store_save_text(s, &services_file, text);
}

void store_save_services(struct store *s, const struct services *db)
{
	struct buf b = { 0 };

	store_begin_services(db, &b);
	store_print_services(db, &b);
	store_save_printed_services(s, &b);
}

static bool written_line(struct reading *r, const char *text)
{
	char boot[BOOT_ID_LEN + 1], now[BOOT_ID_LEN + 1];
	int64_t written, now_us = clock_boot_us();
	int end = 0;

	if (sscanf(text, "written %36s %" SCNd64 "%n", boot, &written, &end) != 2 || text[end] ||
	    written < INT64_MIN / 2)
		return false;
	get_boot_id(now);
	r->passed_us = now_us;
	if (!strcmp(boot, now) && *now != '-')
		r->passed_us = written < now_us ? now_us - written : 0;
	if (r->fresh)
		r->passed_us = 0;
	return true;
}

static bool service_line(void *arg, const char *text)
{
	struct reading *r = arg;
	struct service x = { 0 };
	int64_t left_us;
	int end = 0;

	if (r->passed_us < 0)
		return written_line(r, text);
	if (sscanf(text, "service 0x%" SCNx64 " 0x%" SCNx16 " 0x%" SCNx64 " %" SCNd64 "%n",
		   &x.key.id, &x.key.pkey, &x.source, &left_us, &end) != 4 || left_us < 0)
		return false;
	text = store_get_hex(text + end, x.key.gid, sizeof(x.key.gid));
	text = store_get_hex(text, x.secret, sizeof(x.secret));
	text = store_get_hex(text, x.name, sizeof(x.name));
	text = store_get_hex(text, x.data, sizeof(x.data));
	if (!text || *text || services_find(r->db, &x.key))
		return false;
	if (left_us == SERVICE_NEVER)
		x.ends_us = SERVICE_NEVER;
	else if (left_us <= (int64_t)SERVICE_FOREVER * 1000000)
		x.ends_us = r->now_us + left_us - r->passed_us;
	else
		return false;
	return x.ends_us <= r->now_us || services_put(r->db, &x);
}

bool store_load_services(struct store *s, struct services *db)
{
	struct reading r = { .db = db, .now_us = clock_mono_us(), .passed_us = -1 };

	return store_load_lines(s, &services_file, service_line, &r, NULL);
}

bool store_take_services(struct services *db, char *text)
{
	struct reading r = { .db = db, .now_us = clock_mono_us(), .passed_us = -1, .fresh = true };

	return store_each_line(text, service_line, &r);
}

/* --- subscriptions --- */

static void put_subscription(struct buf *b, const struct subscriber *who,
			     const struct subscription *x)
{
	const struct inform *w = &x->what;

	buf_puts(b, "subscription");
	store_put_0x(b, who->guid, 16);
	store_put_number(b, who->qpn);
	store_put_number(b, x->number);
	store_put_number(b, x->resp_time);
	store_put_0x(b, x->pkey, 4);
	store_put_number(b, x->trusted);
	store_put_number(b, w->lid_first);
	store_put_number(b, w->lid_last);
	store_put_number(b, w->generic);
	store_put_number(b, w->type);
	store_put_number(b, w->number);
	store_put_number(b, w->producer);
	store_put_hex(b, w->gid, sizeof(w->gid));
	buf_puts(b, "\n");
}

bool store_print_some_subscriptions(const struct subscriptions *db, struct subscriber_place *at,
				    size_t n, struct buf *b)
{
	const struct subscriber *who;
	size_t printed = 0;

	while (printed < n && (who = subscriber_from(db, at->guid, at->qpn, at->begun))) {
		for (size_t i = 0; i < who->list.n; i++)
			put_subscription(b, who, &who->list.v[i]);
		printed += who->list.n;
		*at = (struct subscriber_place){ who->guid, who->qpn, true };
	}
	return printed >= n;
}

void store_print_subscriptions(const struct subscriptions *db, struct buf *b)
{
	struct subscriber_place at = { 0 };

	store_print_some_subscriptions(db, &at, SIZE_MAX, b);
}

void store_begin_subscriptions(const struct subscriptions *db, struct buf *text)
{
	buf_reserve(text, subscriptions_count(db) * SUBSCRIPTION_LINE);
	store_put_title(text, &subscriptions_file);
}

void store_save_printed_subscriptions(struct store *s, struct buf *text)
{
	store_save_text(s, &subscriptions_file, text);
}

void store_save_subscriptions(struct store *s, const struct subscriptions *db)
{
	struct buf b = { 0 };

	store_begin_subscriptions(db, &b);
	store_print_subscriptions(db, &b);
	store_save_printed_subscriptions(s, &b);
}

static bool subscription_line(void *arg, const char *text)
{
	struct subscriptions *db = arg;
	struct subscription x = { 0 };
	struct inform *w = &x.what;
	unsigned trusted, generic;
	uint64_t guid;
	uint32_t qpn;
	int end = 0;

	if (sscanf(text, "subscription 0x%" SCNx64 " %" SCNu32 " %" SCNu16 " %" SCNu8 " 0x%" SCNx16
		   " %u %" SCNu16 " %" SCNu16 " %u %" SCNu16 " %" SCNu16 " %" SCNu32 "%n",
		   &guid, &qpn, &x.number, &x.resp_time, &x.pkey, &trusted, &w->lid_first,
		   &w->lid_last, &generic, &w->type, &w->number, &w->producer, &end) != 12 ||
	    x.resp_time > 31 || trusted > 1 || generic > 1 || x.number == SUBSCRIPTION_ANY)
		return false;
	x.trusted = trusted;
	w->generic = generic;
	text = store_get_hex(text + end, w->gid, sizeof(w->gid));
	return text && !*text && !subscription_find(subscriber_find(db, guid, qpn), w) &&
	       subscriptions_add(db, guid, qpn, &x);
}

bool store_load_subscriptions(struct store *s, struct subscriptions *db)
{
	return store_load_lines(s, &subscriptions_file, subscription_line, db, NULL);
}

bool store_take_subscriptions(struct subscriptions *db, char *text)
{
	return store_each_line(text, subscription_line, db);
}

/* --- aliases --- */

void store_print_aliases(const struct alias_db *db, struct buf *b)
{
	uint32_t assigned = alias_assigned(db);
	unsigned blocks;
	uint64_t port, alias;

	if (assigned)
		assigned = assigned < UINT32_MAX - ASSIGNED_AHEAD ? assigned + ASSIGNED_AHEAD :
			   UINT32_MAX;
	buf_printf(b, "assigned %" PRIu32 "\n", assigned);
	for (size_t i = 0; alias_port(db, i, &port, &blocks); i++)
		for (unsigned place = 1; place < blocks * ALIAS_BLOCK; place++)
			if ((alias = alias_at(db, port, place)))
				buf_printf(b, "alias 0x%016" PRIx64 " %u 0x%016" PRIx64 "\n", port,
					   place, alias);
}

void store_save_aliases(struct store *s, const struct alias_db *db)
{
	struct buf b = { 0 };

	store_print_aliases(db, &b);
	store_save_lines(s, &aliases_file, b.s);
	buf_free(&b);
}

static bool alias_line(void *arg, const char *text)
{
	struct alias_db *db = arg;
	uint64_t port, alias;
	uint32_t assigned;
	unsigned place;
	int end = 0;

	if (sscanf(text, "assigned %" SCNu32 "%n", &assigned, &end) == 1 && !text[end]) {
		alias_set_assigned(db, assigned);
		return true;
	}
	return sscanf(text, "alias 0x%" SCNx64 " %u 0x%" SCNx64 "%n", &port, &place, &alias,
		      &end) == 3 && !text[end] && port && alias &&
	       alias_put(db, port, place, alias);
}

bool store_load_aliases(struct store *s, struct alias_db *db)
{
	return store_load_lines(s, &aliases_file, alias_line, db, NULL);
}

bool store_take_aliases(struct alias_db *db, char *text)
{
	return store_each_line(text, alias_line, db);
}

/* --- departed ports --- */

struct reading_gone {
	struct holdings *h;
	bool begun;
	int64_t ago_us;		/* subtracted from times of the clock of that boot */
};

void store_save_gone(struct store *s, const struct holdings *h)
{
	char boot[BOOT_ID_LEN + 1];
	struct buf b = { 0 };

	get_boot_id(boot);
	buf_printf(&b, "written %s %" PRId64 "\n", boot, clock_boot_us());
	for (size_t i = 0; i < holdings_count(h); i++)
		if (holdings_at(h, i)->gone_us)
			buf_printf(&b, "gone 0x%016" PRIx64 " %" PRId64 "\n", holdings_at(h, i)->port,
				   holdings_at(h, i)->gone_us);
	store_save_lines(s, &gone_file, b.s);
	buf_free(&b);
}

/* After a reboot the clock is another one: only the time up to the writing of the file counts. */
static bool gone_written(struct reading_gone *r, const char *text)
{
	char boot[BOOT_ID_LEN + 1], now[BOOT_ID_LEN + 1];
	int64_t written;
	int end = 0;

	if (sscanf(text, "written %36s %" SCNd64 "%n", boot, &written, &end) != 2 || text[end] ||
	    written < 0 || written > INT64_MAX / 2)
		return false;
	get_boot_id(now);
	r->begun = true;
	if (strcmp(boot, now) || *now == '-' || written > clock_boot_us())
		r->ago_us = written - clock_boot_us();
	return true;
}

static bool gone_line(void *arg, const char *text)
{
	struct reading_gone *r = arg;
	int64_t since_us;
	uint64_t guid;
	int end = 0;

	if (!r->begun)
		return gone_written(r, text);
	if (sscanf(text, "gone 0x%" SCNx64 " %" SCNd64 "%n", &guid, &since_us, &end) != 2 ||
	    text[end] || since_us > INT64_MAX / 2 || since_us < INT64_MIN / 2)
		return false;
	since_us -= r->ago_us;
	holdings_set_gone(r->h, guid, since_us ? since_us : -1);
	return true;
}

bool store_load_gone(struct store *s, struct holdings *h)
{
	struct reading_gone r = { .h = h };

	return store_load_lines(s, &gone_file, gone_line, &r, NULL);
}
