/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Judges whether the pages of the settings are served; see health_judges.h. */
#include "ctl/commands/health_judges.h"

void health_listening(const struct health_input *in, struct health *h)
{
	for (size_t i = 0; i < in->n_pages; i++)
		if (in->pages[i].why)
			health_add(h, FOUND_NOT_LISTENING, "%s: the daemon does not listen: %s",
				   in->pages[i].setting, in->pages[i].why);
}
