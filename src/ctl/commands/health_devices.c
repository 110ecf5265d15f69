/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Judges devices that refuse, are silent, lie, or send too many traps; see health_judges.h. */
#include "ctl/commands/health_judges.h"

#include <inttypes.h>
#include <stdlib.h>

#include <infiniband/umad_sm.h>

bool device_refuses(const struct health_input *in, uint32_t node, unsigned attr)
{
	for (size_t i = 0; i < in->n_refused; i++)
		if (in->refused[i].node == node && in->refused[i].kind.attr == attr)
			return true;
	return false;
}

static void judge_refusals(const struct health_input *in, struct health *h)
{
	struct health_list refusals = { h, FOUND_DEVICE_REFUSES, 0 };

	for (size_t i = 0; i < in->n_refused; i++) {
		struct buf text = { 0 };

		sm_refused_text(in->state->f, &in->refused[i], &text);
		health_list_take(&refusals, text.s);
	}
	health_list_end(&refusals);
}

void health_devices(const struct health_input *in, struct health *h)
{
	const struct subnet_state *s = in->state;
	struct health_list by_kind[] = {
		[FAULT_SILENT] = { h, FOUND_DEVICE_SILENT, 0 },
		[FAULT_KEY_MISMATCH] = { h, FOUND_DEVICE_KEY_MISMATCH, 0 },
		[FAULT_KEEPS] = { h, FOUND_DEVICE_KEEPS, 0 },
	};
	static const char *const says[] = {
		[FAULT_SILENT] = "does not answer", [FAULT_KEEPS] = "keeps other values than qosd set",
		[FAULT_KEY_MISMATCH] = "has an unknown M_Key and is not configured",
	};
	char name[FABRIC_NAME_MAX];

	for (uint32_t i = 0; i < s->n_faults; i++) {
		const struct device_fault *x = &s->faults[i];

		/* reported below, from current knowledge */
		if (x->kind == FAULT_REFUSES || (x->kind == FAULT_KEEPS &&
						 device_refuses(in, x->node, UMAD_SM_ATTR_SLVL_TABLE)))
			continue;
		fabric_node_name(s->f, x->node, name, sizeof(name));
		if (x->n)
			health_list_add(&by_kind[x->kind], "%s %s (%" PRIu32 ")", name, says[x->kind], x->n);
		else
			health_list_add(&by_kind[x->kind], "%s %s", name, says[x->kind]);
	}
	for (unsigned k = 0; k < ARRAY_SIZE(by_kind); k++)
		if (by_kind[k].h)
			health_list_end(&by_kind[k]);
	judge_refusals(in, h);
	if (in->sm->refused)
		health_add(h, FOUND_VALUES_KEPT, "devices keep %zu attribute value%s that %s from what "
			   "qosd set", in->sm->refused, PLURAL_S(in->sm->refused),
			   PLURAL(in->sm->refused, "differs", "differ"));
}

/* Reports devices that discovery excludes; a switch that several links lead to is reported once. */
void health_excluded(const struct health_input *in, struct health *h)
{
	struct health_list left = { h, FOUND_DEVICE_EXCLUDED, 0 };
	struct health_list twins = { h, FOUND_DUPLICATE_NODE, 0 };
	struct health_list switches = { h, FOUND_FALSE_ADAPTER, 0 };
	uint32_t *more = xcalloc(in->n_left + 1, sizeof(*more));
	struct map64 first;	/* GUID -> index in left */

	map64_init(&first, (uint32_t)in->n_left);
	for (size_t i = 0; i < in->n_left; i++) {
		const struct sm_exclusion *x = &in->left[i];
		uint64_t guid = x->known_as ? x->known_as : x->guid;
		uint32_t place = guid ? map64_get(&first, guid) : MAP64_NONE;

		if (place != MAP64_NONE)
			more[place]++;
		else if (guid)
			map64_put(&first, guid, (uint32_t)i);
		more[i] = place == MAP64_NONE ? 0 : MAP64_NONE;
	}
	for (size_t i = 0; i < in->n_left; i++)
		if (in->left[i].known_as && more[i] != MAP64_NONE)
			health_list_add(&twins, "%s", in->left[i].text.s);
		else if (in->left[i].is_switch)
			health_list_add(&switches, "%s", in->left[i].text.s);
		else if (!more[i])
			health_list_add(&left, "%s: it is excluded", in->left[i].text.s);
		else if (more[i] != MAP64_NONE)
			health_list_add(&left, "%s: it is excluded, as well as at %" PRIu32 " more of its "
					"links", in->left[i].text.s, more[i]);
	health_list_end(&left);
	health_list_end(&twins);
	health_list_end(&switches);
	map64_free(&first);
	free(more);
}

/*
 * The device that an entry is about, in the published fabric: its node's index or, if nothing is
 * known behind the port, the number of nodes plus the port's index.
 */
static uint64_t device_behind(const struct fabric *f, uint32_t port)
{
	uint32_t peer = f->ports[port].peer;

	return peer == FABRIC_NONE ? (uint64_t)f->n_nodes + port : f->ports[peer].node;
}

/* Returns false if the entry's port is not in the published fabric. */
static bool find_implausible(const struct fabric *f, const struct implausible_answer *x, uint64_t *device)
{
	uint32_t node = f ? map64_get(&f->node_by_guid, x->guid) : MAP64_NONE;

	if (node == MAP64_NONE || x->num > f->nodes[node].nports)
		return false;
	*device = x->behind ? device_behind(f, f->nodes[node].port0 + x->num) : node;
	return true;
}

/*
 * Reports each device once: by the reason for its exclusion, else by its first implausible answer.
 */
void health_implausible(const struct health_input *in, struct health *h)
{
	struct health_list implausible = { h, FOUND_DEVICE_LIES, 0 };
	const struct fabric *f = in->state ? in->state->f : NULL;
	uint32_t *more = xcalloc(in->n_implausible + 1, sizeof(*more));
	struct map64 told;	/* device -> 1 + index of its entry; 0: excluded */
	uint64_t device;

	map64_init(&told, (uint32_t)(in->n_left + in->n_implausible));
	for (size_t i = 0; i < in->n_left && f; i++) {
		uint32_t node = map64_get(&f->node_by_guid, in->left[i].guid);

		if (node != MAP64_NONE)
			map64_put(&told, node, 0);
		else if (in->left[i].near != FABRIC_NONE)
			map64_put(&told, device_behind(f, in->left[i].near), 0);
	}
	for (size_t i = 0; i < in->n_implausible; i++) {
		uint32_t place;

		if (in->implausible[i].unsure) {
			more[i] = MAP64_NONE;
			continue;
		}
		if (!find_implausible(f, &in->implausible[i], &device))
			continue;
		place = map64_get(&told, device);
		if (place == MAP64_NONE)
			map64_put(&told, device, (uint32_t)i + 1);
		else if (place)
			more[place - 1]++;
		more[i] = place == MAP64_NONE ? more[i] : MAP64_NONE;
	}
	for (size_t i = 0; i < in->n_implausible; i++)
		if (!more[i])
			health_list_add(&implausible, "%s", in->implausible[i].text);
		else if (more[i] != MAP64_NONE)
			health_list_add(&implausible, "%s; %" PRIu32 " more of its answers are implausible",
					in->implausible[i].text, more[i]);
	health_list_end(&implausible);
	map64_free(&told);
	free(more);
}

void health_floods(const struct health_input *in, struct health *h)
{
	struct health_list floods = { h, FOUND_TRAP_FLOOD, 0 };

	for (size_t i = 0; i < in->n_floods; i++) {
		struct buf text = { 0 };

		sm_flood_text(in->state ? in->state->f : NULL, &in->floods[i], &text);
		health_list_take(&floods, text.s);
	}
	health_list_end(&floods);
}
