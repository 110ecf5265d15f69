/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Arbitrary bytes as a dump of ibnetdiscover (libFuzzer's interface), to both that read
 * such: the daemon's, for --check, whose fabric is planned for, and the simulator's.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "plan/plan.h"
#include "sim/topo/topo.h"
#include "unit/load_fabric.h"

enum { PORTS_PLANNED = 300 };

static void plan(const struct fabric *f)
{
	struct settings *settings = settings_default();
	struct policy *policy = policy_builtin();

	plan_free(plan_compute(f, policy, settings, NULL, NULL, NULL));
	policy_free(policy);
	settings_free(settings);
}

static void load(const char *path, bool keep_lids)
{
	struct buf err = { 0 };
	struct fabric *f = fabric_load(path, 0, keep_lids, &err);

	if (!f && !err.n)
		abort();
	if (f && f->n_ports <= PORTS_PLANNED)
		plan(f);
	fabric_free(f);
	buf_free(&err);
}

static void simulate(const char *path)
{
	struct sim_fabric *f = simfab_new();
	struct findings found = { 0 };

	if (!topo_load(path, NULL, f, &found) && !found.n)
		abort();
	simfab_free(f);
	findings_free(&found);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("dump", MFD_CLOEXEC);
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	/* what is included would be files of this machine */
	if (!memmem(data, size, "include", 7)) {
		load(path, false);
		load(path, true);
		simulate(path);
	}
	close(fd);
	return 0;
}
