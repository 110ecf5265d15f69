/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Counts the change callbacks of a registry, for tests of registries that report nothing else. */
#ifndef QOSD_TEST_CHANGES_H
#define QOSD_TEST_CHANGES_H

static unsigned changes;

static void on_change(void *arg)
{
	(void)arg;
	changes++;
}

#endif
