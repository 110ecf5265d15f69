/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How often a registry told of a change, for tests of those that tell nothing else. */
#ifndef QOSD_TEST_CHANGES_H
#define QOSD_TEST_CHANGES_H

static unsigned changes;

static void on_change(void *arg)
{
	(void)arg;
	changes++;
}

#endif
