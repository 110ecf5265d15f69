/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A library to preload into a master, which then looks like a later qosd to its standbys: in its
 * list of parts (SA_ATTR_REPLICA), some parts have a future format, and there is an additional
 * part.
 *
 *   NEWER_PARTS	the numbers of these parts, separated by commas
 *   NEWER_MASTER, NEWER_STANDBY	port GUIDs of the two, of which the answer has a proof
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/umad.h>

#include "lib/base/bytes.h"
#include "lib/iba/sa_records.h"

/* one file: it includes the proof and its hash */
#include "lib/base/siphash.c"
#include "sm/keys/proof.c"

#define FORMAT 99
#define SM_KEY 1

static uint64_t guid_of(const char *name)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 16) : 0;
}

static bool is_newer(unsigned part)
{
	const char *p = getenv("NEWER_PARTS");

	for (; p && *p; p += strcspn(p, ",") + (strchr(p, ',') != NULL))
		if ((unsigned)atoi(p) == part)
			return true;
	return false;
}

static void make_newer(struct sa_replica *list)
{
	struct sa_replica_row row;
	uint32_t n = get_be32(list->n) / sizeof(row);

	for (uint32_t i = 0; i < n; i++)
		if (is_newer(i)) {
			memcpy(&row, list->data + i * sizeof(row), sizeof(row));
			put_be32(row.format, FORMAT);
			memcpy(list->data + i * sizeof(row), &row, sizeof(row));
		}
	if ((n + 1) * sizeof(row) > sizeof(list->data))
		return;
	memset(&row, 0xa5, sizeof(row));
	memcpy(list->data + n * sizeof(row), &row, sizeof(row));
	put_be32(list->n, (uint32_t)((n + 1) * sizeof(row)));
}

int umad_send(int fd, int agent, void *umad, int length, int timeout_ms, int retries)
{
	void *found = dlsym(RTLD_NEXT, "umad_send");
	int (*fn)(int, int, void *, int, int, int);
	uint8_t *mad = umad_get_mad(umad);
	struct sa_replica list;

	memcpy(&fn, &found, sizeof(fn));
	if (length >= SA_HDR_LEN + (int)sizeof(list) && mad[1] == 3 && mad[3] == 0x81 &&
	    get_be16(mad + 16) == SA_ATTR_REPLICA) {
		memcpy(&list, mad + SA_HDR_LEN, sizeof(list));
		if (get_be32(list.part) == SA_REPLICA_LIST)
			make_newer(&list);
		proof_seal(&list, SM_KEY, PROOF_REPLICA_ANSWER, guid_of("NEWER_MASTER"),
			   guid_of("NEWER_STANDBY"));
		memcpy(mad + SA_HDR_LEN, &list, sizeof(list));
	}
	return fn(fd, agent, umad, length, timeout_ms, retries);
}
