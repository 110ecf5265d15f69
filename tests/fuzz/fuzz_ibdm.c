/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Arbitrary bytes as a .topo file of ibdm and, behind a line "%%", an IBNL file of its types of
 * systems (libFuzzer's interface).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fabric/ibdm/ibdm.h"
#include "fuzz.h"
#include "lib/base/alloc.h"

static char dir[] = "/tmp/qosd-fuzz-XXXXXX", ibnl[64];

static void remove_files(void)
{
	unlink(ibnl);
	rmdir(dir);
}

static void put_ibnl(const char *text, size_t n)
{
	FILE *f;

	if (!*ibnl) {
		if (!mkdtemp(dir))
			abort();
		snprintf(ibnl, sizeof(ibnl), "%s/a.ibnl", dir);
		atexit(remove_files);
	}
	f = fopen(ibnl, "w");
	if (!f || fwrite(text, 1, n, f) != n || fclose(f))
		abort();
}

static void count_error(void *arg, const char *file, uint32_t line, const char *text)
{
	(void)file, (void)line;
	if (!*text)
		abort();
	++*(unsigned *)arg;
}

/* No port twice, and none that its node does not have. */
static void check_net(const struct ibdm_net *net)
{
	for (size_t i = 0; i < net->n_links; i++)
		for (size_t end = 0; end < 2; end++) {
			const struct ibdm_link *l = &net->links[i];

			if (l->node[end] >= net->n_nodes || !l->num[end] ||
			    l->num[end] > net->nodes[l->node[end]].nports)
				abort();
		}
	for (size_t i = 0; i < net->n_nodes; i++)
		if (strlen(net->nodes[i].name) > IBDM_NAME_MAX || net->nodes[i].first > i)
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = xstrndup((const char *)data, size), *cut = strstr(text, "\n%%\n"), *line, *at;
	struct ibdm_files files = { .topo = "/nonexistent/x.topo", .ibnl = dir };
	unsigned errors = 0;
	uint32_t number = 0;
	struct ibdm *t;
	const struct ibdm_net *net;

	put_ibnl(cut ? cut + 4 : "", cut ? strlen(cut + 4) : 0);
	if (cut)
		*cut = '\0';
	t = ibdm_new(&files, count_error, &errors);
	for (at = text; (line = strsep(&at, "\n"));)
		ibdm_read_line(t, ++number, line);
	net = ibdm_build(t);
	if (!net != !!errors)
		abort();
	if (net)
		check_net(net);
	ibdm_free(t);
	free(text);
	return 0;
}
