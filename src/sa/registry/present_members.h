/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Compares the members that a request names with the fabric: replaces host names and Slurm host
 * lists by ports, and refuses members that the fabric does not have.
 */
#ifndef QOSD_SA_REGISTRY_PRESENT_MEMBERS_H
#define QOSD_SA_REGISTRY_PRESENT_MEMBERS_H

#include "lib/base/hostlist.h"
#include "sa/registry/dynamic_partitions.h"

#define HOST_PREFIX "host:"
#define ABSENT_TOLD 20	/* findings on absent members of one request; more are counted */

/*
 * Replaces the members of n changes, in place; `names` must be zeroed, gets the new texts, and is
 * freed with hostlist_free() after the changes.
 *
 * A word that is neither a group of the policy nor another form of `who` is a host: all end ports of
 * the adapters whose NodeDescription begins with that word.  Added, it stands for the ports that the
 * fabric has now; removed, for those members of the entry in x that name a port of the host.
 * HOST_PREFIX before a word says that it is a host, whatever groups the policy has.
 *
 * "gpu[1-4,7]" and "a,b" are lists of such words or, if a "/" follows, of port names.  A member that
 * x has already is left as it is, and so is one that dynamic_apply() refuses.
 *
 * Adds an error to out for each broken list and, unless absent_ok, for each GUID, name or host that
 * is added and is not in the fabric.  With absent_ok an absent host becomes patterns that match its
 * ports when it comes.
 * Returns how many members are absent.
 */
size_t dynamic_resolve(const struct dynamic_partitions *x, const struct policy *base,
		       const struct fabric *f, struct dynamic_change *changes, size_t n, bool absent_ok,
		       struct hostlist *names, struct findings *out);

#endif
