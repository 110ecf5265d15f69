/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Judges whether the pages of the settings are served, for `health`; see health_listening.h. */
#include "ctl/commands/health_listening.h"

void health_listening(const struct ctl_listening *v, size_t n, struct health *h)
{
	for (size_t i = 0; i < n; i++)
		if (v[i].why)
			*vec_push(&h->v) = (struct problem){
				SEV_WARNING, "not-listening", "free the address, or correct the setting in qosd.yaml(5); the daemon "
				"tries again each second", xasprintf("%s: nobody is served at %s: %s", v[i].setting, v[i].address,
								     v[i].why),
			};
}
