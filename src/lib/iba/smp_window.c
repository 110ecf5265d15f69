/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Implements the windows and time-outs of SMPs; see smp_window.h. */

#include "lib/iba/smp_window.h"

#define WINDOW_START	8u	/* SMPs; OpenSM sends 4 at a time by default */
#define WINDOW_MIN	2u
#define GROW_SLOWLY	8u	/* after a loss, windows' worth of answers before the window grows by one
				 * SMP */
#define GROW_US		50000	/* least time between two growths after a loss, for a loss shows no sooner */
#define GROW_US_MAX	10000000
#define REPEATS_MIN	4u	/* least number of repeats in each REPEATS_US, whatever the window */
#define REPEATS_US	25000
#define TRIES_BRIEF	3u
#define FLOOR_SHARE	8u	/* a time-out exceeds the round trip by at least bounds.timeout_ms / 8 */

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

static unsigned most(unsigned a, unsigned b)
{
	return a > b ? a : b;
}

void smp_window_init(struct smp_window *p, const struct smp_window_bounds *b)
{
	*p = (struct smp_window){ .bounds = *b };
	p->window = least(WINDOW_START, b->window);
	p->threshold = b->window;
	p->grow_us = GROW_US;
	p->cut_us = p->changed_us = p->repeats_us = INT64_MIN / 2;
}

void smp_window_free(struct smp_window *p)
{
	map64_free(&p->by_route);
	vec_free(&p->devices);
}

static uint64_t route_key(const uint8_t *route, unsigned hops, unsigned last_hop)
{
	return hash_bytes(route, hops, hash64((uint64_t)hops << 8 | last_hop));
}

const struct smp_window_device *smp_window_find(const struct smp_window *p, const uint8_t *route, unsigned hops,
						unsigned last_hop)
{
	uint32_t at = map64_get(&p->by_route, route_key(route, hops, last_hop));

	return at == MAP64_NONE ? NULL : &p->devices.v[at];
}

uint32_t smp_window_device(struct smp_window *p, const uint8_t *route, unsigned hops, unsigned last_hop,
			   uint32_t guess)
{
	uint64_t key = route_key(route, hops, last_hop);
	uint32_t at;

	if (guess != SMP_WINDOW_NO_DEVICE && p->devices.v[guess].route == key)
		return guess;
	at = map64_get(&p->by_route, key);
	if (at != MAP64_NONE)
		return at;
	if (p->devices.n >= SMP_WINDOW_DEVICES_MAX)	/* old routes fill the table: let two routes share an entry */
		return (uint32_t)(key % SMP_WINDOW_DEVICES_MAX);
	at = (uint32_t)p->devices.n;
	*vec_push(&p->devices) = (struct smp_window_device){
		.route = key, .window = (uint8_t)p->bounds.window_device, .cut_us = INT64_MIN / 2,
	};
	map64_put(&p->by_route, key, at);
	return at;
}

bool smp_window_has_room(const struct smp_window *p)
{
	return p->outstanding < p->window;
}

unsigned smp_window_device_window(const struct smp_window *p, uint32_t device)
{
	return p->devices.v[device].window;
}

/* --- time-outs --- */

static bool is_measured(const struct smp_window_device *d)
{
	return d->srtt_us || d->rttvar_us;
}

/* Time-out of the first try, in microseconds. */
static uint64_t first_timeout(const struct smp_window *p, const struct smp_window_device *d)
{
	uint64_t longest = p->bounds.timeout_ms * 1000ull, slack = longest / FLOOR_SHARE, us;

	if (slack < 4ull * p->rttvar_us)
		slack = 4ull * p->rttvar_us;
	if (is_measured(d)) {
		if (slack < 4ull * d->rttvar_us)
			slack = 4ull * d->rttvar_us;
		return d->srtt_us + slack;
	}
	us = p->slowest_us + slack;
	return p->slowest_us && us < longest ? us : longest;
}

static unsigned doubled_ms(uint64_t us, unsigned times)
{
	us <<= least(times, 16);
	if (us > SMP_WINDOW_TIMEOUT_MAX_MS * 1000ull)
		us = SMP_WINDOW_TIMEOUT_MAX_MS * 1000ull;
	return (unsigned)((us + 999) / 1000);
}

/* Total time that `tries` tries wait for a device, in ms. */
static unsigned ms_of_tries(const struct smp_window *p, unsigned tries)
{
	unsigned all = 0;

	for (unsigned try = 0; try < tries; try++)
		all += doubled_ms(p->bounds.timeout_ms * 1000ull, p->bounds.steady ? 0 : try);
	return all;
}

/* Time-out of x's current try, in ms; adds it to the time that x has waited. */
static unsigned timeout_ms(const struct smp_window *p, struct smp_window_smp *x)
{
	uint64_t first = first_timeout(p, &p->devices.v[x->device]);
	unsigned ms = doubled_ms(first, p->bounds.steady ? 0 : x->try), all;

	if (!smp_window_has_tries(x) && !x->brief) {
		all = ms_of_tries(p, x->tries);
		if (all > x->waited_ms)
			ms = most(ms, all - x->waited_ms);
	}
	x->waited_ms += ms;
	return ms;
}

/* RFC 6298, section 2 */
static void take_sample(struct smp_window *p, struct smp_window_device *d, int64_t took_us)
{
	uint32_t rtt = took_us < 1 ? 1 : took_us > UINT32_MAX / 8 ? UINT32_MAX / 8 : (uint32_t)took_us;
	uint32_t off;

	if (!is_measured(d)) {
		d->srtt_us = rtt;
		d->rttvar_us = rtt / 2;
		return;
	}
	off = rtt > d->srtt_us ? rtt - d->srtt_us : d->srtt_us - rtt;
	d->rttvar_us = (3 * d->rttvar_us + off) / 4;
	d->srtt_us = (7 * d->srtt_us + rtt) / 8;
	p->rttvar_us = (uint32_t)((15ull * p->rttvar_us + off) / 16);
}

/* --- windows --- */

/*
 * Unlike the share of a TCP flow, the room in ports does not change.  So a window that has been
 * growing slowly since its last cut is cut only a little, and a size that failed before is tried
 * more and more rarely.
 */
static void cut(struct smp_window *p, int64_t now_us)
{
	bool a_little = p->cut_from && p->window > p->threshold;
	unsigned to = a_little ? p->window - (p->window + 7) / 8 : p->window / 2;

	p->grow_us = p->window <= p->cut_from + 1 ? p->grow_us * 2 : GROW_US;
	if (p->grow_us > GROW_US_MAX)
		p->grow_us = GROW_US_MAX;
	p->cut_from = p->window;
	p->window = p->threshold = most(to, least(WINDOW_MIN, p->bounds.window));
	if (!p->least || p->window < p->least)
		p->least = p->window;
	p->answered = 0;
	p->cut_us = p->changed_us = now_us;
}

/* Records that the SMP sent at sent_us was lost although its device lives. */
static void lost(struct smp_window *p, struct smp_window_device *d, int64_t sent_us, int64_t now_us)
{
	p->lost++;
	if (d->lost < UINT32_MAX)
		d->lost++;
	/* SMPs that were in flight at the last cut carry no new information */
	if (sent_us > p->cut_us)
		cut(p, now_us);
	if (sent_us > d->cut_us) {
		d->window = (uint8_t)most(d->window / 2u, 1);
		d->answered = 0;
		d->cut_us = now_us;
	}
}

/*
 * Grows the windows after an answer.  `presses`: the window was well used; the answer says nothing
 * about a window that is not.
 */
static void grow(struct smp_window *p, struct smp_window_device *d, bool presses, int64_t now_us)
{
	if (presses && p->window < p->bounds.window) {
		if (p->window < p->threshold) {
			p->window++;
		} else if (++p->answered >= GROW_SLOWLY * p->window &&
			   now_us - p->changed_us >= p->grow_us) {
			p->window++;
			p->answered = 0;
			p->changed_us = now_us;
		}
	}
	if (d->window < p->bounds.window_device && ++d->answered >= GROW_SLOWLY * d->window) {
		d->window++;
		d->answered = 0;
	}
}

static void leave_window(struct smp_window *p, struct smp_window_smp *x)
{
	if (x->in_window)
		p->outstanding--;
	x->in_window = false;
}

/* --- life of an SMP --- */

/*
 * Whether the device has been silent for the full number of tries and for their full time.  The
 * time matters because a burst of losses is not silence.
 */
static bool is_given_up(const struct smp_window *p, const struct smp_window_device *d, int64_t now_us)
{
	return d->silent >= p->bounds.tries && !p->bounds.steady &&
	       now_us - d->silent_us >= ms_of_tries(p, p->bounds.tries) * 1000ll;
}

unsigned smp_window_begin(struct smp_window *p, struct smp_window_smp *x, uint32_t device, unsigned how,
			  int64_t now_us)
{
	unsigned tries = p->bounds.tries;

	/*
	 * a request with a single try is how the sender hears again from a device that has become
	 * slow
	 */
	if (!(how & SMP_WINDOW_ONCE) && is_given_up(p, &p->devices.v[device], now_us))
		how = SMP_WINDOW_ONCE | SMP_WINDOW_BRIEF;
	if (how & SMP_WINDOW_BRIEF)
		tries = least(tries, TRIES_BRIEF);
	if (how & SMP_WINDOW_ONCE)
		tries = 1;
	*x = (struct smp_window_smp){
		.device = device, .tries = (uint8_t)tries, .brief = how & SMP_WINDOW_BRIEF,
		.in_window = true, .sent_us = now_us,
	};
	p->outstanding++;
	x->presses = 2 * p->outstanding >= p->window;
	return timeout_ms(p, x);
}

static unsigned repeats_at_once(const struct smp_window *p)
{
	return most(REPEATS_MIN, p->window / 4);
}

bool smp_window_may_repeat(struct smp_window *p, int64_t now_us)
{
	if (now_us - p->repeats_us >= REPEATS_US) {
		p->repeats_us = now_us;
		p->repeats_left = repeats_at_once(p);
	}
	return p->repeats_left > 0;
}

unsigned smp_window_repeat(struct smp_window *p, struct smp_window_smp *x, int64_t now_us)
{
	if (p->repeats_left)
		p->repeats_left--;
	x->try++;
	x->sent_us = now_us;
	return timeout_ms(p, x);
}

void smp_window_timed_out(struct smp_window *p, struct smp_window_smp *x, int64_t now_us)
{
	struct smp_window_device *d = &p->devices.v[x->device];

	if (!x->try && !d->silent && is_measured(d))
		lost(p, d, x->sent_us, now_us);
	else if (!x->try) {
		x->suspect = true;
		x->lost_us = x->sent_us;
	} else {
		leave_window(p, x);
	}
	if (!d->silent)
		d->silent_us = x->sent_us;
	if (d->silent < UINT8_MAX)
		d->silent++;
}

void smp_window_answered(struct smp_window *p, struct smp_window_smp *x, int64_t now_us)
{
	struct smp_window_device *d = &p->devices.v[x->device];

	take_sample(p, d, now_us - x->sent_us);
	d->silent = 0;
	if (x->suspect)
		lost(p, d, x->lost_us, now_us);
	if (!x->try)
		grow(p, d, x->presses, now_us);
	else if (p->repeats_left < repeats_at_once(p))
		p->repeats_left++;	/* the fabric had room for the repeat */
	leave_window(p, x);
}

void smp_window_given_up(struct smp_window *p, struct smp_window_smp *x)
{
	leave_window(p, x);
}

/* --- transfer to another process --- */

struct smp_window_learned smp_window_learned(const struct smp_window *p)
{
	struct smp_window_learned l = {
		.window = (uint16_t)p->window, .lossy = p->lost > 0,
		.lost = p->lost > UINT32_MAX ? UINT32_MAX : (uint32_t)p->lost,
	};

	for (const struct smp_window_device *d = p->devices.v; d < vec_end(&p->devices); d++) {
		uint64_t us = d->srtt_us + 4ull * d->rttvar_us;

		if (us > l.slowest_us)
			l.slowest_us = us > UINT32_MAX ? UINT32_MAX : (uint32_t)us;
	}
	return l;
}

void smp_window_learn(struct smp_window *p, const struct smp_window_learned *l)
{
	unsigned window = least(most(l->window, 1), p->bounds.window);

	p->slowest_us = l->slowest_us;
	if (p->lost)
		return;
	if (l->lossy)
		p->window = p->threshold = window;
	else
		p->window = most(p->window, window);
}
