/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Keeps the list of devices that discovery avoids: which, where, what they answered since, and
 * until when.
 *
 * The list also has devices that take part in the subnet with a corrected NodeInfo
 * (exclusions_rename()). An EXCLUDED_TWIN, whose GUID another device claims as well, gets a
 * substitute GUID.  An EXCLUDED_SWITCH gets the NodeType of a switch, whatever it claims.
 *
 * A scan or a probe reports what it excluded.  Most of that is judged anew each time.  A device
 * that was believed and should not have been, or that killed the discovery process, stays excluded
 * (excluded_stays()): the scan is repeated at once, with the device's place on the list that the
 * process gets.
 *
 * Each light sweep repeats, for each device on the list, the question that the device was asked
 * last.  A device is taken back when its answer would be accepted; if its GUID changed each time,
 * when the same GUID comes twice.  Nobody can judge what killed the process: such a device is tried
 * again when its answer changes, or when it has been excluded for some light sweeps, twice as many
 * each time.  A device that is taken back becomes a suspect, and a local sweep reads it; the next
 * discovery is the test.
 *
 * A device that does not answer and has its link down is gone.
 *
 * Of two devices with one GUID the one that was believed is asked, too: when it reports another
 * GUID or port than it did, and than it is known by, everything is discovered.  That may change
 * nothing, as its earlier answer may have been false as well; hence only once for each answer.  The
 * same happens when an excluded device reports the GUID of a third one: the GUID may be its own,
 * taken by the third.
 *
 * Everything except exclusions_ask() and exclusions_answered() is for the loop's thread; those two
 * touch only `asked`, which belongs to a light sweep while it runs.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/umad_sm.h>

#include "lib/base/alloc.h"
#include "lib/base/backoff.h"
#include "lib/base/bytes.h"
#include "lib/base/log.h"
#include "sm/devices/exclusions.h"
#include "sm/devices/node_names.h"
#include "sm/sm_internal.h"

#define ASKED_MAX	256u	/* devices asked in one light sweep */
#define REPEATS_MAX	32u	/* repeated scans in one sweep */
#define PORTS_MORE	(64u * 1024)
#define TRY_FIRST	1u	/* light sweeps */
#define TRY_MAX		360u

struct excluded_one {
	struct disco_excluded x;
	uint8_t last[64];	/* its answer to the last light sweep */
	bool has_last;
	bool met;		/* the scan that has just ended met it */
	bool untested;		/* a scan of this sweep added it */
	bool replaces;		/* leave_replacements_out() added it */
	/*
	 * Light sweeps until the device is tried again though its answer is unchanged; for IMPOSTOR
	 * see is_away().
	 */
	uint32_t wait;
};

struct asked {
	struct disco_excluded x;
	uint8_t data[64];
	bool answered;
	bool other;	/* the other device with the GUID was asked */
};

/* What the device at a place reports: a device that was believed, or one that is excluded. */
struct saying {
	uint64_t said;	/* digest of the GUID and port that it reported to the last light sweep; 0: none */
	bool changed;	/* the light sweep before got another digest */
	bool owed;	/* likewise the one before that: the same digest again is reported */
};

struct exclusions {
	VEC(struct excluded_one) v;
	/*
	 * Digest of a place -> index in v.  Each entry's place is a key.  A key that belongs to no
	 * entry any more, or that several places share, may have the index of another entry, or one
	 * beyond the end.
	 */
	struct map64 by_place;
	VEC(struct asked) asked;
	VEC(struct saying) sayings;
	struct map64 saying_at;	/* digest of a place and the kind -> index in sayings */
	VEC(struct disco_excluded) fresh;	/* new on the list, during exclusions_scanned() */
	struct map64 honest;	/* node GUIDs of switches that are no impostors, in this sweep */
	struct map64 waits;	/* by place: number of light sweeps of the device's last exclusion */
	/* For one sweep, once a device seems to report another GUID each time. */
	struct map64 said;		/* GUIDs of all devices that scans have met -> 1 */
	struct map64 corrected;		/* in this sweep: digests of places of exclusions_correct() -> 1 */
	/* doubtful GUIDs that were heard again: scans must not doubt them */
	VEC(struct disco_excluded) steady;
	struct map64 accused;	/* by GUID: neighbours that the node contradicts, by the last scan */
	size_t next;		/* index in v where the next light sweep begins */
	unsigned repeats;
	struct log_ratelimit limit;
};

struct exclusions *exclusions_new(void)
{
	struct exclusions *l = xcalloc(1, sizeof(*l));

	map64_init(&l->by_place, 4);
	map64_init(&l->saying_at, 4);
	map64_init(&l->honest, 4);
	map64_init(&l->waits, 4);
	map64_init(&l->said, 4);
	map64_init(&l->corrected, 4);
	map64_init(&l->accused, 4);
	l->limit = (struct log_ratelimit)LOG_RATELIMIT;
	return l;
}

void exclusions_free(struct exclusions *l)
{
	if (!l)
		return;
	vec_free(&l->v);
	vec_free(&l->asked);
	vec_free(&l->fresh);
	map64_free(&l->by_place);
	vec_free(&l->sayings);
	map64_free(&l->saying_at);
	map64_free(&l->honest);
	map64_free(&l->waits);
	map64_free(&l->said);
	map64_free(&l->corrected);
	vec_free(&l->steady);
	map64_free(&l->accused);
	free(l);
}

/* --- the list --- */

static bool is_at(const struct excluded_one *one, uint64_t near_guid, unsigned near_port)
{
	return one->x.near_guid == near_guid && one->x.near_port == near_port;
}

static struct excluded_one *find(const struct exclusions *l, uint64_t near_guid, unsigned near_port)
{
	uint32_t at = map64_get(&l->by_place, excluded_place_key(near_guid, near_port));

	if (at == MAP64_NONE)
		return NULL;
	if (at < l->v.n && is_at(&l->v.v[at], near_guid, near_port))
		return &l->v.v[at];
	for (size_t i = 0; i < l->v.n; i++)
		if (is_at(&l->v.v[i], near_guid, near_port))
			return &l->v.v[i];
	return NULL;
}

static void index_one(struct exclusions *l, size_t i)
{
	const struct disco_excluded *x = &l->v.v[i].x;

	map64_put(&l->by_place, excluded_place_key(x->near_guid, x->near_port), (uint32_t)i);
}

static void index_all(struct exclusions *l)
{
	map64_clear(&l->by_place);
	for (size_t i = 0; i < l->v.n; i++)
		index_one(l, i);
}

/* Appends an entry, which the caller fills before it calls index_one(). */
static struct excluded_one *add(struct exclusions *l)
{
	if (l->by_place.n >= 2 * EXCLUDED_MAX)
		index_all(l);
	return vec_push(&l->v);
}

/* Drops an entry; the last one takes its index. */
static void drop(struct exclusions *l, size_t i)
{
	l->v.v[i] = l->v.v[--l->v.n];
	if (i < l->v.n)
		index_one(l, i);
}

/* --- which device is to blame --- */

static uint32_t accusers(const struct exclusions *l, uint64_t guid)
{
	uint32_t n = map64_get(&l->accused, guid);

	return n == MAP64_NONE ? 0 : n;
}

/*
 * A switch that reports false LocalPortNums contradicts all of its neighbours, which contradict
 * nobody else.  So of the two ends of a link the one that more nodes contradict lies: here, the
 * near end.
 */
static bool near_end_lies(const struct exclusions *l, const struct disco_excluded *x)
{
	return x->why == EXCLUDED_TWO_PLACES && accusers(l, x->near_guid) > accusers(l, x->guid);
}

uint64_t exclusions_culprit(const struct sm *sm, const struct disco_excluded *x)
{
	const struct exclusions *l = sm->devices.exclusions;

	if (near_end_lies(l, x))
		return x->near_guid;
	if (x->why == EXCLUDED_TWO_PLACES)
		return accusers(l, x->guid) > 1 ? x->guid : 0;
	/* none, too, if the device has several GUIDs, or more than one device has this one */
	return x->why < EXCLUDED_TWO_KINDS || x->why == EXCLUDED_ANSWER || x->why == EXCLUDED_KILLS ||
	       x->why == EXCLUDED_HANGS ? x->guid : 0;
}

/* Counts by the scan that was taken. */
static void count_accusers(struct exclusions *l)
{
	struct map64 pairs;

	map64_clear(&l->accused);
	map64_init(&pairs, (uint32_t)l->v.n);
	for (size_t i = 0; i < l->v.n; i++) {
		const struct disco_excluded *x = &l->v.v[i].x;

		if (x->why == EXCLUDED_TWO_PLACES && x->guid != x->near_guid &&
		    map64_put(&pairs, hash64(x->guid ^ hash64(x->near_guid)), 1) == MAP64_NONE)
			map64_put(&l->accused, x->guid, accusers(l, x->guid) + 1);
	}
	map64_free(&pairs);
}

void exclusions_text(const struct sm *sm, const struct fabric *f, const struct disco_excluded *x,
		     struct buf *out)
{
	uint32_t node = f ? map64_get(&f->node_by_guid, x->near_guid) : MAP64_NONE;
	char name[FABRIC_NAME_MAX];

	if (node == MAP64_NONE || x->near_port > f->nodes[node].nports)
		snprintf(name, sizeof(name), "port %u of 0x%016" PRIx64, x->near_port, x->near_guid);
	else
		fabric_port_name(f, f->nodes[node].port0 + x->near_port, name, sizeof(name));
	if (near_end_lies(sm->devices.exclusions, x)) {
		buf_printf(out, "the device that has %s reports false LocalPortNums: behind that port is "
			   "port %u of node GUID 0x%016" PRIx64 ", which other devices report "
			   "elsewhere", name, x->a,
			   x->guid);
		return;
	}
	buf_printf(out, "the device at %s ", name);
	excluded_text(x, out);
}

/* Logs an exclusion, once for a place and a reason. */
static void say(struct sm *sm, const struct fabric *f, const struct disco_excluded *x)
{
	struct buf text = { 0 };

	exclusions_text(sm, f, x, &text);
	log_limited(&sm->devices.exclusions->limit, LOG_LEVEL_WARNING, "discovery", "%s%s", text.s,
		    excluded_is_corrected(x) ? "" : ": it is excluded");
	buf_free(&text);
}

static bool cannot_judge(const struct disco_excluded *x)
{
	return x->why == EXCLUDED_KILLS || x->why == EXCLUDED_HANGS || x->why == EXCLUDED_TOO_MANY;
}

/* For how long to exclude a device that nobody can judge. */
static uint32_t wait_of(struct exclusions *l, const struct disco_excluded *x)
{
	uint64_t key = hash64(x->near_guid + x->near_port);
	uint32_t last = map64_get(&l->waits, key);
	uint32_t wait = (uint32_t)backoff_next(last == MAP64_NONE ? 0 : last, TRY_FIRST, TRY_MAX);

	if (l->waits.n >= EXCLUDED_MAX)
		map64_clear(&l->waits);
	map64_put(&l->waits, key, wait);
	return wait;
}

/* True: the entry is new, or its reason has changed. */
static bool put(struct exclusions *l, const struct disco_excluded *x)
{
	struct excluded_one *one = find(l, x->near_guid, x->near_port);
	bool is_new = !one || one->x.why != x->why || x->why == EXCLUDED_TWIN;

	if (one) {
		one->met = true;
		if (one->x.why == EXCLUDED_TWIN && x->why == EXCLUDED_TWIN && one->x.known_as == x->known_as) {
			one->x.other_guid = x->other_guid;
			one->x.other_port = x->other_port;
			return false;
		}
		if (excluded_stays(&one->x) && (one->x.why != EXCLUDED_TWIN || x->why != EXCLUDED_TWIN))
			return false;	/* its answer at the time when it was added counts */
	} else {
		if (l->v.n >= EXCLUDED_MAX)
			return false;
		one = add(l);
	}
	*one = (struct excluded_one){ .x = *x, .met = true, .untested = true };
	index_one(l, (size_t)(one - l->v.v));
	if (cannot_judge(x))
		one->wait = wait_of(l, x);
	else if (excluded_claims(x) || x->why == EXCLUDED_TWIN)
		one->wait = TRY_MAX;
	return is_new;
}

bool exclusions_put(struct sm *sm, const struct fabric *f, const struct disco_excluded *x)
{
	if (!put(sm->devices.exclusions, x))
		return false;
	say(sm, f, x);
	return true;
}

bool exclusions_correct(struct sm *sm, const struct fabric *f, const struct disco_excluded *x)
{
	struct exclusions *l = sm->devices.exclusions;

	if (!exclusions_put(sm, f, x))
		return false;
	return map64_put(&l->corrected, excluded_place_key(x->near_guid, x->near_port), 1) == MAP64_NONE;
}

bool exclusions_may_repeat(struct sm *sm)
{
	return sm->devices.exclusions->repeats++ < REPEATS_MAX;
}

/*
 * A scan has shown that some devices are themselves the ones whose twins they were taken for: the
 * scan knew them by two GUIDs, so what it reports about other devices is worth nothing.
 */
static bool drop_false_twins(struct exclusions *l, const struct disco_result *res)
{
	bool any = false;

	for (size_t i = 0; i < res->n_left; i++) {
		const struct disco_excluded *x = &res->left[i];
		const struct excluded_one *one = x->why == EXCLUDED_TWIN && !x->known_as ?
					     find(l, x->near_guid, x->near_port) : NULL;
		uint64_t known_as = one ? one->x.known_as : 0;

		for (size_t k = l->v.n; k-- > 0 && known_as;)
			if (l->v.v[k].x.known_as == known_as) {
				drop(l, k);
				any = true;
			}
	}
	return any;
}

/* --- the result of a scan --- */

/* The port linked with a port of f; FABRIC_NONE: no link. */
static uint32_t port_behind(const struct fabric *f, uint64_t near_guid, unsigned num)
{
	uint32_t node = map64_get(&f->node_by_guid, near_guid);

	if (node == MAP64_NONE || num > f->nodes[node].nports)
		return FABRIC_NONE;
	return f->ports[f->nodes[node].port0 + num].peer;
}

static bool reaches(const struct fabric *f, uint64_t near_guid, unsigned num, uint64_t guid)
{
	uint32_t peer = port_behind(f, near_guid, num);

	return peer != FABRIC_NONE && port_node(f, peer)->guid == guid;
}

/*
 * Discovery believed the device and then took it for an impostor: a switch none of whose links both
 * ends confirm, or an adapter with the GUID of a switch.  But the published fabric has it there, as
 * it reports itself.
 */
static bool is_known(const struct exclusions *l, const struct fabric *f, const struct disco_excluded *x)
{
	const struct excluded_one *one = find(l, x->near_guid, x->near_port);
	uint32_t node = map64_get(&f->node_by_guid, x->guid);

	/* for devices on its list discovery reports only that it met them */
	return (!one || !excluded_stays(&one->x)) && reaches(f, x->near_guid, x->near_port, x->guid) &&
	       f->nodes[node].type == x->data[NI_TYPE] && f->nodes[node].nports == x->data[NI_PORTS];
}

/*
 * Two devices have one GUID: x is where the device was before, and the other place is not.  The
 * device at our own port stays, whatever it reports: all others are behind it.
 */
static bool is_older(const struct fabric *f, const struct disco_excluded *x)
{
	return x->other_guid && x->other_guid != port_node(f, f->self)->guid &&
	       reaches(f, x->near_guid, x->near_port, x->guid) &&
	       !reaches(f, x->other_guid, x->other_port, x->guid);
}

enum right {
	RIGHT_NOT,		/* or unknown */
	RIGHT_ALONE,		/* it stays, and no other device need be excluded instead */
	RIGHT_OTHER_LIES,
};

/* Whether a device that would be excluded for the sake of another with its GUID is the right one. */
static enum right is_right(const struct sm *sm, const struct disco_excluded *x)
{
	const struct fabric *f = sm->published ? sm->published->f : NULL;

	if (!f)
		return RIGHT_NOT;
	/* a device chooses the port GUID that it reports, so the published place counts for more */
	if (x->why == EXCLUDED_TWO_KINDS || x->why == EXCLUDED_TWO_PLACES || x->why == EXCLUDED_CLAIMS ||
	    x->why == EXCLUDED_NO_ADAPTER || x->why == EXCLUDED_TWIN)
		return is_older(f, x) ? RIGHT_OTHER_LIES : RIGHT_NOT;
	/* a device with another GUID each time does not have the GUID that it was known by */
	if (x->why == EXCLUDED_GUID_CHANGES)
		return reaches(f, x->near_guid, x->near_port, x->guid) ? RIGHT_ALONE : RIGHT_NOT;
	if (x->why != EXCLUDED_IMPOSTOR || !is_known(sm->devices.exclusions, f, x))
		return RIGHT_NOT;
	/* the devices for whose sake an adapter is doubted were refused; its other places are its own */
	return x->data[NI_TYPE] == IB_NODE_SWITCH_T && is_older(f, x) ? RIGHT_OTHER_LIES : RIGHT_ALONE;
}

/*
 * The other device, which discovery believed.  Of two adapters with the same answers that one is
 * then the twin.
 */
static struct disco_excluded other_of(const struct disco_excluded *x)
{
	struct disco_excluded twin = *x;

	if (x->why == EXCLUDED_TWIN && x->data[NI_TYPE] != IB_NODE_SWITCH_T) {
		twin.near_guid = x->other_guid;
		twin.near_port = x->other_port;
		twin.other_guid = x->near_guid;
		twin.other_port = x->near_port;
		twin.known_as = excluded_stand_in(x->guid, twin.near_guid, twin.near_port);
		return twin;
	}
	return (struct disco_excluded){ .near_guid = x->other_guid, .near_port = x->other_port,
				    .other_guid = x->near_guid, .other_port = x->near_port,
				    .guid = x->guid, .why = EXCLUDED_IMPOSTOR,
				    .attr = UMAD_SM_ATTR_NODE_INFO };
}

/*
 * The guard took the device, which is a switch, for an impostor.  An entry made by other_of() lacks
 * what the device answered.
 */
static bool is_doubted_switch(const struct disco_excluded *x)
{
	return x->why == EXCLUDED_IMPOSTOR && x->data[NI_TYPE] == IB_NODE_SWITCH_T;
}

/* Drops the entry: the device is no impostor, now or in later scans of this sweep. */
static void acquit(struct exclusions *l, size_t i)
{
	if (l->honest.n >= EXCLUDED_MAX)
		map64_clear(&l->honest);
	map64_put(&l->honest, l->v.v[i].x.guid, 1);
	drop(l, i);
}

/*
 * A switch none of whose links is confirmed, by whatever route it is reached, is what it reports:
 * the next scan should find what was excluded for its sake.
 */
static bool is_honest(struct exclusions *l, const struct disco_excluded *x, bool *again)
{
	const struct excluded_one *one = find(l, x->near_guid, x->near_port);

	if (x->why != EXCLUDED_IMPOSTOR)
		return false;
	if (map64_get(&l->honest, x->guid) != MAP64_NONE)
		return true;
	/* this place was refused because it is on the list: that says nothing about the others */
	if (one && excluded_stays(&one->x))
		return false;
	for (size_t i = 0; i < l->v.n; i++)
		if (is_doubted_switch(&l->v.v[i].x) && l->v.v[i].x.guid == x->guid &&
		    (l->v.v[i].x.near_guid != x->near_guid || l->v.v[i].x.near_port != x->near_port)) {
			acquit(l, i);
			*again = true;
			return true;
		}
	return false;
}

/*
 * A device seems to report another GUID each time, as two devices at the end of one cable may be
 * one. It does not if the next scan hears the same GUID again, wherever.
 */
static bool says_it_again(struct exclusions *l, const struct disco_excluded *x, bool *again)
{
	const struct excluded_one *one = find(l, x->near_guid, x->near_port);

	if (x->why != EXCLUDED_GUID_CHANGES || (one && excluded_stays(&one->x)) || l->steady.n >= EXCLUDED_MAX)
		return false;
	if (l->said.n && map64_get(&l->said, x->guid) == MAP64_NONE)
		return false;
	if (l->said.n)
		*vec_push(&l->steady) = (struct disco_excluded){ .guid = x->guid, .why = EXCLUDED_NOT };
	*again = true;
	return true;
}

/* After a scan with such devices: notes the GUIDs that the next scan may hear again. */
static void note_said(struct exclusions *l, const struct disco_result *res)
{
	bool any = l->said.n;

	for (size_t i = 0; i < res->n_left; i++)
		if (res->left[i].why == EXCLUDED_GUID_CHANGES) {
			map64_put(&l->said, res->left[i].guid, 1);
			any = true;
		}
	for (uint32_t i = 0; any && res->f && i < res->f->n_nodes; i++)
		map64_put(&l->said, res->f->nodes[i].guid, 1);
}

/*
 * A switch was excluded because another device seemed to have its GUID, and the scan right after
 * that met no such device: the GUID came from a neighbour that reports another GUID each time.
 */
static bool acquit_those_alone(struct exclusions *l, const struct fabric *f)
{
	bool any = false;

	for (size_t i = l->v.n; i-- > 0;) {
		const struct excluded_one *one = &l->v.v[i];

		if (!(is_doubted_switch(&one->x) || one->replaces) || !one->untested || !one->met ||
		    map64_get(&f->node_by_guid, one->x.guid) != MAP64_NONE)
			continue;
		acquit(l, i);
		any = true;
	}
	return any;
}

static bool is_in(const struct fabric *f, const struct fabric_node *n)
{
	return map64_get(&f->node_by_guid, n->guid) != MAP64_NONE;
}

/* The port that leads to the node on its directed route; FABRIC_NONE: it is our own node. */
static uint32_t near_port(const struct fabric *f, uint32_t node)
{
	const struct fabric_node *n = &f->nodes[node];

	return n->hops ? f->ports[n->port0 + n->local_port].peer : FABRIC_NONE;
}

/*
 * The node was found at a place where another one was before: its ports may belong to a device that
 * took its GUID.
 */
static bool is_displaced(const struct fabric *old, const struct fabric *f, uint32_t node)
{
	uint32_t near = near_port(f, node);

	return near != FABRIC_NONE && !reaches(old, port_node(f, near)->guid, f->ports[near].num,
					       f->nodes[node].guid);
}

/*
 * The switch that was behind a port of f is nowhere any more, and a switch that was known elsewhere
 * is behind the port.  x: the exclusion of the device behind the port.
 */
static bool replaces(const struct fabric *old, const struct fabric *f, uint32_t port,
		     struct disco_excluded *x)
{
	const struct fabric_port *p = &f->ports[port];
	const struct fabric_node *now = port_node(f, p->peer);
	uint32_t was = port_behind(old, port_node(f, port)->guid, p->num);
	uint32_t before = map64_get(&old->node_by_guid, now->guid), near;

	if (was == FABRIC_NONE || before == MAP64_NONE || !node_is_switch(now) ||
	    !node_is_switch(port_node(old, was)) || is_in(f, port_node(old, was)))
		return false;
	/* a host passes no SMPs on; the device at our own port stays */
	near = near_port(old, before);
	if (!node_is_switch(port_node(f, port)) ||
	    (now != port_node(f, port) && is_displaced(old, f, f->ports[port].node)) ||
	    near_port(old, old->ports[was].node) == old->self)
		return false;
	*x = (struct disco_excluded){ .near_guid = f->nodes[p->node].guid, .near_port = p->num,
				  .guid = now->guid, .why = EXCLUDED_IMPOSTOR,
				  .attr = UMAD_SM_ATTR_NODE_INFO };
	if (near != FABRIC_NONE) {
		x->other_guid = port_node(old, near)->guid;
		x->other_port = old->ports[near].num;
	}
	return true;
}

/*
 * In a running subnet, a switch that copies the whole NodeInfo of another one makes itself seem
 * gone, and the other one seem to have its links.  The next scan does not ask it.  If the other
 * switch was really moved, that scan finds it elsewhere, or by the links of its own ports
 * (acquit_replacements()).
 */
static bool leave_replacements_out(struct sm *sm, const struct fabric *f)
{
	const struct fabric *old = sm->published ? sm->published->f : NULL;
	struct exclusions *l = sm->devices.exclusions;
	struct disco_excluded x;
	bool any = false;

	for (uint32_t i = 0; old && i < f->n_ports; i++) {
		if (f->ports[i].peer == FABRIC_NONE || !replaces(old, f, i, &x) ||
		    map64_get(&l->honest, x.guid) != MAP64_NONE || !put(l, &x))
			continue;
		find(l, x.near_guid, x.near_port)->replaces = true;
		*vec_push(&l->fresh) = x;
		any = true;
	}
	return any;
}

/* A link to such a place, which was not asked, was found from its far end. */
static void acquit_replacements(struct exclusions *l, const struct fabric *f)
{
	for (size_t i = l->v.n; i-- > 0;) {
		const struct excluded_one *one = &l->v.v[i];

		if (one->replaces && one->untested &&
		    reaches(f, one->x.near_guid, one->x.near_port, one->x.guid))
			acquit(l, i);
	}
}

/*
 * The device with the substitute GUID is gone, or reports a GUID of its own: the substitute is free
 * again.
 */
static bool is_single(const struct excluded_one *one, const struct fabric *f)
{
	const struct disco_excluded *x = &one->x;

	if (x->why != EXCLUDED_TWIN)
		return false;
	return map64_get(&f->node_by_guid, x->guid) == MAP64_NONE &&
	       (one->untested || port_behind(f, x->other_guid, x->other_port) != FABRIC_NONE);
}

/* A scan does not ask a node by the link through which it found the node. */
static void meet_twins(struct exclusions *l, const struct fabric *f)
{
	for (size_t i = 0; i < l->v.n; i++)
		l->v.v[i].met |= l->v.v[i].x.why == EXCLUDED_TWIN &&
				 reaches(f, l->v.v[i].x.near_guid, l->v.v[i].x.near_port, l->v.v[i].x.known_as);
}

static bool drop_singles(struct exclusions *l, const struct fabric *f)
{
	bool any = false;

	for (size_t i = l->v.n; i-- > 0;)
		if (is_single(&l->v.v[i], f)) {
			drop(l, i);
			any = true;
		}
	return any;
}

/* After the scan that counts: devices that it did not meet are gone. */
static void forget_unmet(struct exclusions *l)
{
	size_t kept = 0;

	for (size_t i = 0; i < l->v.n; i++)
		if (l->v.v[i].met)
			l->v.v[kept++] = l->v.v[i];
	if (kept < l->v.n) {
		l->v.n = kept;
		index_all(l);
	}
}

bool exclusions_scanned(struct sm *sm, const struct disco_result *res)
{
	struct exclusions *l = sm->devices.exclusions;
	const struct fabric *f = res->f ? res->f : sm->published ? sm->published->f : NULL;
	bool again = false;

	for (size_t i = 0; i < l->v.n; i++)
		l->v.v[i].met = false;
	if (l->repeats < REPEATS_MAX && drop_false_twins(l, res)) {
		l->repeats++;
		return true;
	}
	for (size_t i = 0; i < res->n_left; i++) {
		const struct disco_excluded *x = &res->left[i];
		enum right right = is_right(sm, x);
		struct disco_excluded other;

		if (right == RIGHT_ALONE || (right == RIGHT_NOT && (is_honest(l, x, &again) ||
								    says_it_again(l, x, &again))))
			continue;
		if (right == RIGHT_OTHER_LIES) {
			other = other_of(x);
			x = &other;
		}
		if (put(l, x)) {
			again |= excluded_stays(x);
			*vec_push(&l->fresh) = *x;
		}
	}
	note_said(l, res);
	if (res->f)
		again |= leave_replacements_out(sm, res->f);
	/* if the list has grown, the fabric without the new entries is not known yet */
	if (res->f && !again) {
		acquit_replacements(l, res->f);
		again = acquit_those_alone(l, res->f);
		meet_twins(l, res->f);
		again |= drop_singles(l, res->f);
	}
	again &= l->repeats < REPEATS_MAX;
	l->repeats += again;
	if (res->f && !again)
		forget_unmet(l);
	count_accusers(l);
	for (size_t i = 0; i < l->fresh.n; i++)
		say(sm, f, &l->fresh.v[i]);
	l->fresh.n = 0;
	return again;
}

void exclusions_sweep(struct sm *sm)
{
	struct exclusions *l = sm->devices.exclusions;

	l->repeats = 0;
	map64_clear(&l->honest);
	map64_clear(&l->said);
	map64_clear(&l->corrected);
	l->steady.n = 0;
	for (size_t i = 0; i < l->v.n; i++)
		l->v.v[i].untested = false;
}

size_t exclusions_list(const struct sm *sm, struct disco_excluded *out)
{
	size_t n = 0;

	for (size_t i = 0; i < sm->devices.exclusions->v.n; i++)
		if (excluded_stays(&sm->devices.exclusions->v.v[i].x))
			out[n++] = sm->devices.exclusions->v.v[i].x;
	for (size_t i = 0; i < sm->devices.exclusions->steady.n && n < EXCLUDED_MAX; i++)
		out[n++] = sm->devices.exclusions->steady.v[i];
	return n;
}

/* Twice what the published fabric has, plus a margin. */
unsigned exclusions_ports_max(const struct sm *sm)
{
	return sm->published ? 2 * sm->published->f->n_ports + PORTS_MORE : 0;
}

void exclusions_forget(struct sm *sm)
{
	sm->devices.exclusions->v.n = 0;
	map64_clear(&sm->devices.exclusions->by_place);
	sm->devices.exclusions->sayings.n = 0;
	map64_clear(&sm->devices.exclusions->saying_at);
	map64_clear(&sm->devices.exclusions->honest);
	map64_clear(&sm->devices.exclusions->waits);
	map64_clear(&sm->devices.exclusions->said);
	sm->devices.exclusions->steady.n = 0;
}

/* --- queries --- */

const struct disco_excluded *exclusions_at(const struct sm *sm, size_t i)
{
	return i < sm->devices.exclusions->v.n ? &sm->devices.exclusions->v.v[i].x : NULL;
}

bool exclusions_is_behind(const struct sm *sm, uint64_t near_guid, unsigned near_port)
{
	const struct excluded_one *one = find(sm->devices.exclusions, near_guid, near_port);

	return one && !excluded_is_corrected(&one->x);
}

/* A light sweep does not see by which port a switch answers; that port has not changed. */
static bool says_true_port(const struct disco_excluded *x, const uint8_t *info)
{
	return get_be64(info + NI_GUID) != x->guid || info[NI_LOCAL_PORT] == x->b;
}

bool exclusions_holds(const struct sm *sm, uint64_t near_guid, unsigned near_port,
		      const uint8_t *node_info)
{
	const struct excluded_one *one = find(sm->devices.exclusions, near_guid, near_port);

	if (!one)
		return false;
	if (excluded_is_corrected(&one->x))
		return false;
	if (one->x.why == EXCLUDED_FALSE_PORT)
		return !says_true_port(&one->x, node_info);
	return excluded_stays(&one->x) || (one->x.attr == UMAD_SM_ATTR_NODE_INFO &&
					   !memcmp(one->x.data, node_info, 40));
}

void exclusions_rename(const struct sm *sm, const struct fabric *f, uint32_t port, uint8_t *node_info)
{
	const struct exclusions *l = sm->devices.exclusions;
	uint32_t peer = f->ports[port].peer;
	const struct excluded_one *one = find(l, port_node(f, port)->guid, f->ports[port].num);

	for (size_t i = 0; i < l->v.n; i++)
		if (l->v.v[i].x.why == EXCLUDED_SWITCH && excluded_put_type(&l->v.v[i].x, node_info))
			return;
	/* a place that no scan has met: a known link leads to the device */
	for (size_t i = 0; peer != FABRIC_NONE && i < l->v.n && !(one && one->x.why == EXCLUDED_TWIN); i++)
		if (l->v.v[i].x.why == EXCLUDED_TWIN && l->v.v[i].x.known_as == port_node(f, peer)->guid)
			one = &l->v.v[i];
	if (one && one->x.why == EXCLUDED_TWIN && excluded_says_the_same(&one->x, node_info))
		excluded_rename(one->x.known_as, node_info);
}

/* --- light sweeps --- */

bool exclusions_begin(struct sm *sm)
{
	struct exclusions *l = sm->devices.exclusions;

	l->asked.n = 0;
	for (size_t i = 0; i < l->v.n && i < ASKED_MAX; i++) {
		const struct disco_excluded *x = &l->v.v[l->next++ % l->v.n].x;

		*vec_push(&l->asked) = (struct asked){ .x = *x };
		if (x->other_guid && (x->why == EXCLUDED_TWO_KINDS || x->why == EXCLUDED_TWO_PLACES ||
				      x->why == EXCLUDED_TWIN))
			*vec_push(&l->asked) = (struct asked){ .x = *x, .other = true };
	}
	return l->asked.n;
}

bool exclusions_ask(struct sm *sm, const struct fabric *f, size_t i, struct smp *s)
{
	const struct exclusions *l = sm->devices.exclusions;
	const struct asked *a = &l->asked.v[i];
	const struct disco_excluded *x = &a->x;
	uint32_t node = map64_get(&f->node_by_guid, a->other ? x->other_guid : x->near_guid);
	uint8_t port = a->other ? x->other_port : x->near_port;

	*s = (struct smp){ 0 };
	if (node == MAP64_NONE || port > f->nodes[node].nports || !want_route(f, node, 0, s) ||
	    s->hops >= IB_DR_HOPS_MAX)
		return false;
	sweep_fill_smp(sm, s, SMP_GET, x->attr, x->mod);
	s->last_hop = port;
	s->once = true;
	return true;
}

size_t exclusions_asked(const struct sm *sm)
{
	return sm->devices.exclusions->asked.n;
}

void exclusions_answered(struct sm *sm, size_t i, const struct smp *s, int status)
{
	struct asked *a = &sm->devices.exclusions->asked.v[i];

	a->answered = !status;
	memcpy(a->data, s->data, sizeof(a->data));
}

static bool is_down(const struct fabric_port *p)
{
	return p->present && p->state == IB_PORT_DOWN_S;
}

/*
 * The device may be taken back: the port that its NodeInfo names has no link except to the place of
 * x.  A local sweep for another reason may have made that link.  If x was said to be linked
 * elsewhere (EXCLUDED_TWO_PLACES), the place must have no other link, as a local sweep asks nothing
 * behind a linked port.  If a port is down, its switch says so, and is believed more than a former
 * impostor.
 */
static bool is_free(const struct fabric *f, const struct disco_excluded *x, const uint8_t *info)
{
	uint32_t node = map64_get(&f->node_by_guid, get_be64(info + NI_GUID)), port, peer;
	uint32_t linked = port_behind(f, x->near_guid, x->near_port);

	if (node == MAP64_NONE)
		return x->why != EXCLUDED_TWO_PLACES || linked == FABRIC_NONE;
	if (f->nodes[node].type != info[NI_TYPE] || f->nodes[node].nports != info[NI_PORTS])
		return false;
	port = f->nodes[node].port0 + info[NI_LOCAL_PORT];
	peer = f->ports[port].peer;
	if (x->why == EXCLUDED_TWO_PLACES && linked != FABRIC_NONE && linked != port)
		return false;
	if (x->why == EXCLUDED_IMPOSTOR && node_is_switch(&f->nodes[node]) && is_down(&f->ports[port]))
		return false;
	return peer == FABRIC_NONE ||
	       (port_node(f, peer)->guid == x->near_guid && f->ports[peer].num == x->near_port);
}

/*
 * The device that has the GUID which an impostor claims is not at its place.  It may be restarting,
 * and must find its GUID free.
 */
static bool is_away(const struct fabric *f, const struct disco_excluded *x)
{
	uint32_t node = map64_get(&f->node_by_guid, x->other_guid);

	return x->other_guid && (node == MAP64_NONE || x->other_port > f->nodes[node].nports ||
				 f->ports[f->nodes[node].port0 + x->other_port].peer == FABRIC_NONE);
}

/* The NodeInfo has the port GUID of another device. */
static bool has_anothers_port_guid(const struct fabric *f, const uint8_t *info)
{
	uint32_t port = fabric_find_port(f, get_be64(info + NI_PORT_GUID));

	return port != FABRIC_NONE && port_node(f, port)->guid != get_be64(info + NI_GUID);
}

/* The device would be accepted now. */
static bool is_sane(const struct sm *sm, const struct excluded_one *one, const struct asked *a)
{
	const struct fabric *f = sm->published->f;
	const struct disco_excluded *x = &one->x;
	uint8_t info[sizeof(a->data)];

	if (cannot_judge(x))
		return !one->wait || memcmp(x->data, a->data, sizeof(x->data));
	if (x->why == EXCLUDED_TWIN)
		return !excluded_says_the_same(x, a->data);
	if (x->why == EXCLUDED_SWITCH)
		return !excluded_put_type(x, memcpy(info, a->data, sizeof(info)));
	if (x->attr != UMAD_SM_ATTR_NODE_INFO)
		return true;	/* answers to other questions do not get here */
	if (excluded_judge(a->data) || !is_free(f, x, a->data))
		return false;
	if (x->why == EXCLUDED_FALSE_PORT)
		return says_true_port(x, a->data);
	if (x->why == EXCLUDED_PORT_GUID)
		return !has_anothers_port_guid(f, a->data);
	if ((x->why == EXCLUDED_CLAIMS || x->why == EXCLUDED_NO_ADAPTER) && excluded_says_the_same(x, a->data))
		return is_away(f, x) && !one->wait;
	if (x->why == EXCLUDED_IMPOSTOR && get_be64(a->data + NI_GUID) == x->guid && is_away(f, x))
		return !one->wait;
	return x->why != EXCLUDED_GUID_CHANGES ||
	       (one->has_last && !memcmp(one->last, a->data, sizeof(one->last)));
}

/* left: the device as an excluded one; a place may have both kinds. */
static struct saying *saying_of(struct exclusions *l, uint64_t near_guid, unsigned near_port, bool left)
{
	uint64_t key = hash64(excluded_place_key(near_guid, near_port) + left);
	uint32_t at = map64_get(&l->saying_at, key);

	if (at != MAP64_NONE)
		return &l->sayings.v[at];
	if (l->sayings.n >= EXCLUDED_MAX) {
		l->sayings.n = 0;
		map64_clear(&l->saying_at);
	}
	map64_put(&l->saying_at, key, (uint32_t)l->sayings.n);
	*vec_push(&l->sayings) = (struct saying){ 0 };
	return &l->sayings.v[l->sayings.n - 1];
}

/*
 * Takes what the device at a place reports.  True: that is another GUID or port than before or, if
 * the device changes it each time, one that it has reported twice now.  first: the result for the
 * first report.
 */
static bool says_anew(struct saying *s, const uint8_t *info, bool first)
{
	uint64_t said = excluded_place_key(get_be64(info + NI_GUID), info[NI_LOCAL_PORT]);
	struct saying before = *s;
	bool changed = said != before.said;

	s->said = said;
	s->changed = changed && before.said;
	s->owed = changed && before.changed;
	if (!before.said)
		return first;
	return changed ? !before.changed : before.owed;
}

/*
 * The device that was believed reports a GUID or port that the published fabric does not have at
 * its place.
 */
static bool is_renamed(struct exclusions *l, const struct fabric *f, const struct asked *a)
{
	uint32_t known = port_behind(f, a->x.other_guid, a->x.other_port);
	struct saying *saying = saying_of(l, a->x.other_guid, a->x.other_port, false);
	bool anew = says_anew(saying, a->data, known != FABRIC_NONE);

	return anew && !(known != FABRIC_NONE &&
			 port_node(f, known)->guid == get_be64(a->data + NI_GUID) &&
			 f->ports[known].num == a->data[NI_LOCAL_PORT]);
}

/*
 * A device that is not accepted reports another GUID than the one for which it was excluded, and in
 * the published fabric that GUID belongs to a third device.
 */
static bool says_a_third(struct exclusions *l, const struct fabric *f, const struct asked *a)
{
	const struct disco_excluded *x = &a->x;
	uint64_t guid = get_be64(a->data + NI_GUID);
	struct saying *saying;

	if (cannot_judge(x) || x->attr != UMAD_SM_ATTR_NODE_INFO || x->why == EXCLUDED_GUID_CHANGES ||
	    excluded_judge(a->data))
		return false;
	saying = saying_of(l, x->near_guid, x->near_port, true);
	return says_anew(saying, a->data, guid != x->guid) && guid != x->guid &&
	       map64_get(&f->node_by_guid, guid) != MAP64_NONE;
}

/* By the published fabric no device can be at its place. */
static bool is_unplugged(const struct fabric *f, const struct disco_excluded *x)
{
	uint32_t node = map64_get(&f->node_by_guid, x->near_guid);

	return node == MAP64_NONE || x->near_port > f->nodes[node].nports ||
	       is_down(fabric_port(f, node, x->near_port));
}

/*
 * An entry whose device does not answer is dropped when its link is down: whatever is plugged in
 * there is judged anew.  A device must not profit from taking its link down and up again: one that
 * cannot be judged stays excluded for as long as otherwise, and a GUID is kept free for its owner,
 * while the owner is away, for TRY_MAX light sweeps.
 */
static bool is_over(const struct fabric *f, struct excluded_one *one)
{
	if (!is_unplugged(f, &one->x))
		return false;
	if (!one->wait || !(cannot_judge(&one->x) || one->x.why == EXCLUDED_TWIN ||
			    (excluded_claims(&one->x) && is_away(f, &one->x))))
		return true;
	one->wait--;
	return false;
}

enum exclusions_end exclusions_end(struct sm *sm)
{
	struct exclusions *l = sm->devices.exclusions;
	enum exclusions_end end = EXCLUSIONS_SAME;

	for (size_t i = 0; i < l->asked.n; i++) {
		const struct asked *a = &l->asked.v[i];
		struct excluded_one *one = find(l, a->x.near_guid, a->x.near_port);
		struct buf text = { 0 };

		if (a->other && a->answered && a->x.why != EXCLUDED_TWIN && is_renamed(l, sm->published->f, a))
			end = EXCLUSIONS_RENAMED;
		/* the device that kept the GUID was replaced by another one, or has another GUID */
		if (a->other && a->answered && a->x.why == EXCLUDED_TWIN && one &&
		    get_be64(a->data + NI_GUID) != a->x.guid) {
			drop(l, (size_t)(one - l->v.v));
			end = EXCLUSIONS_RENAMED;
		}
		if (!one || a->other)
			continue;
		if (!a->answered) {
			if (is_over(sm->published->f, one))
				drop(l, (size_t)(one - l->v.v));
			continue;
		}
		if (!is_sane(sm, one, a)) {
			memcpy(one->last, a->data, sizeof(one->last));
			one->has_last = true;
			one->wait -= one->wait > 0;
			if (one->x.why == EXCLUDED_TWIN ||
			    (excluded_claims(&one->x) && !is_away(sm->published->f, &one->x)))
				one->wait = TRY_MAX;
			if (!says_a_third(l, sm->published->f, a))
				continue;
			end = EXCLUSIONS_RENAMED;
			if (excluded_stays(&one->x))	/* else the scan judges it anew */
				drop(l, (size_t)(one - l->v.v));
			continue;
		}
		exclusions_text(sm, sm->published->f, &one->x, &text);
		if (excluded_is_corrected(&one->x))
			log_info("discovery", "%s: its answers have changed", text.s);
		else
			log_info("discovery", "%s: trying it again; it is readmitted if discovery "
					"succeeds", text.s);
		buf_free(&text);
		sm_suspect(sm, &(struct suspect){ .guid = one->x.near_guid, .ends = true });
		if (one->x.why == EXCLUDED_ANSWER && one->x.attr != UMAD_SM_ATTR_NODE_INFO)
			sm_suspect(sm, &(struct suspect){ .guid = one->x.guid, .whole = true });
		names_doubt(sm, one->x.near_guid, one->x.near_port, true);
		if (one->x.why == EXCLUDED_TWIN)
			end = EXCLUSIONS_RENAMED;
		drop(l, (size_t)(one - l->v.v));
		if (end == EXCLUSIONS_SAME)
			end = EXCLUSIONS_BACK;
	}
	l->asked.n = 0;
	return end;
}
