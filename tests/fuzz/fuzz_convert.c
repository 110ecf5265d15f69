/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Converts arbitrary bytes (libFuzzer's interface), as what they look like and
 * as each format.  What comes out must be what the policy's reader takes for
 * YAML: an error about names or values may be in it, one of syntax not.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/convert/convert.h"
#include "fuzz.h"
#include "lib/base/alloc.h"
#include "lib/format/yaml.h"

static void check_yaml(const struct buf *yaml)
{
	struct findings found = { 0 };
	struct node *root = NULL;

	if (!yaml_tree_parse("policy", yaml->s ? yaml->s : "", yaml->n, &root, NULL, &found) ||
	    found.count[SEV_ERROR]) {
		for (size_t i = 0; i < found.n; i++)
			fprintf(stderr, "%u:%u: %s\n", found.v[i].pos.line, found.v[i].pos.col,
				found.v[i].text);
		fprintf(stderr, "%s\n", yaml->s);
		abort();
	}
	yaml_tree_free(root);
	findings_free(&found);
}

static void convert(const uint8_t *data, size_t size, enum convert_format format)
{
	const struct convert_input in = {
		.name = "input", .text = (const char *)data, .n = size, .format = format,
	};
	for (int with_qos = 0; with_qos < 2; with_qos++) {
		const struct convert_options options = { .with_qos = with_qos };
		struct conversion c = { .policy = { 0 } };
		bool ok = convert_all(&in, 1, &options, &c);

		if (ok != (c.verdicts.count[VERDICT_ERROR] == 0) || (!ok && (c.policy.n || c.settings.n)))
			abort();
		if (ok) {
			check_yaml(&c.policy);
			check_yaml(&c.settings);
		}
		conversion_free(&c);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	for (enum convert_format f = FORMAT_UNKNOWN; f <= FORMAT_XML; f++)
		convert(data, size, f);
	return 0;
}
