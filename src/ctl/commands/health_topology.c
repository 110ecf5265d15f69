/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Judges how the fabric differs from the expected topology; see health_judges.h. */
#include "ctl/commands/cmd_topology.h"
#include "ctl/commands/health_judges.h"

static const enum health_finding by_kind[EXPECTED_KINDS] = {
	[EXPECTED_NODE_MISSING] = FOUND_TOPOLOGY_NODE_MISSING,
	[EXPECTED_NODE_UNKNOWN] = FOUND_TOPOLOGY_NODE_UNKNOWN,
	[EXPECTED_MISCABLED] = FOUND_TOPOLOGY_MISCABLED,
	[EXPECTED_LINK_MISSING] = FOUND_TOPOLOGY_LINK_MISSING,
	[EXPECTED_LINK_SURPLUS] = FOUND_TOPOLOGY_LINK_SURPLUS,
};

static void judge_check(const struct topology_check *c, struct health *h)
{
	size_t seen[EXPECTED_KINDS] = { 0 }, full = 0;

	for (size_t i = 0; i < c->findings.v.n && full < EXPECTED_KINDS; i++) {
		const struct expected_finding *y = &c->findings.v.v[i];

		if (seen[y->kind] == HEALTH_EACH)
			continue;
		full += ++seen[y->kind] == HEALTH_EACH;
		health_take(h, by_kind[y->kind], topology_finding_text(c, y));
	}
	for (unsigned k = 0; k < EXPECTED_KINDS; k++)
		health_rest(h, by_kind[k], c->findings.count[k]);
}

void health_topology(const struct health_input *in, struct health *h)
{
	const struct ctl_topology *t = in->topology;

	if (t && t->check)
		judge_check(t->check, h);
	if (t && t->errors.count[SEV_ERROR])
		health_add(h, FOUND_TOPOLOGY_UNREADABLE, "%s: %s", t->file, t->errors.v[0].text);
}
