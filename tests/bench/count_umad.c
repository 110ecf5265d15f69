/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A library to preload before a simulator's: counts the SMPs that a program
 * sends, whoever wrote it, by method and attribute.
 *
 * When a process ends that has sent any, the file $COUNT_UMAD.PID holds
 *	hwm KIB			its largest resident set
 *	get|set ATTRIBUTE COUNT	for each that it sent
 * libumad2sim stands below libibumad, so that write() is what counts; its own
 * writes come by here too and are told apart by their file descriptors.  qosd-sim's
 * library stands in place of libibumad, and umad_send() counts.
 */
#include <dlfcn.h>
#include <endian.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <infiniband/umad.h>
#include <infiniband/umad_sm.h>

/* libumad2sim's file descriptors of umad devices. */
#define UMAD_FD_MIN	1024
#define UMAD_FD_MAX	2047

enum { GET, SET, METHODS };
static atomic_ulong counts[METHODS][1 << 16];
static ssize_t (*real_write)(int fd, const void *buf, size_t n);
static int (*real_send)(int fd, int agent, void *umad, int length, int timeout_ms, int retries);

static bool is_umad2sim(int fd)
{
	return fd >= UMAD_FD_MIN && fd <= UMAD_FD_MAX;
}

static void count(const struct umad_hdr *h)
{
	uint16_t attr = be16toh(h->attr_id);

	if (h->mgmt_class != UMAD_CLASS_SUBN_LID_ROUTED &&
	    h->mgmt_class != UMAD_CLASS_SUBN_DIRECTED_ROUTE)
		return;
	if (h->method == UMAD_METHOD_GET)
		atomic_fetch_add_explicit(&counts[GET][attr], 1, memory_order_relaxed);
	else if (h->method == UMAD_METHOD_SET)
		atomic_fetch_add_explicit(&counts[SET][attr], 1, memory_order_relaxed);
}

__attribute__((constructor))
static void find_real(void)
{
	void *next = dlsym(RTLD_NEXT, "write");

	memcpy(&real_write, &next, sizeof(next));	/* ISO C has no cast for this */
	next = dlsym(RTLD_NEXT, "umad_send");
	memcpy(&real_send, &next, sizeof(next));
}

ssize_t write(int fd, const void *buf, size_t n)
{
	/* libibumad writes its header and the MAD in one call */
	if (is_umad2sim(fd) && n >= sizeof(struct ib_user_mad) + sizeof(struct umad_hdr))
		count((const void *)((const char *)buf + sizeof(struct ib_user_mad)));
	if (!real_write)
		find_real();	/* another library's constructor ran first */
	return real_write(fd, buf, n);
}

int umad_send(int fd, int agent, void *umad, int length, int timeout_ms, int retries)
{
	if (!is_umad2sim(fd) && length >= (int)sizeof(struct umad_hdr))
		count(umad_get_mad(umad));
	return real_send(fd, agent, umad, length, timeout_ms, retries);
}

static const char *attr_name(uint16_t attr, char unnamed[8])
{
	switch (attr) {
	case UMAD_SM_ATTR_NODE_DESC: return "NodeDescription";
	case UMAD_SM_ATTR_NODE_INFO: return "NodeInfo";
	case UMAD_SM_ATTR_SWITCH_INFO: return "SwitchInfo";
	case UMAD_SM_ATTR_GUID_INFO: return "GUIDInfo";
	case UMAD_SM_ATTR_PORT_INFO: return "PortInfo";
	case UMAD_SM_ATTR_PKEY_TABLE: return "P_KeyTable";
	case UMAD_SM_ATTR_SLVL_TABLE: return "SLtoVLMapping";
	case UMAD_SM_ATTR_VL_ARB_TABLE: return "VLArbitration";
	case UMAD_SM_ATTR_LINEAR_FT: return "LinearFwdTable";
	case UMAD_SM_ATTR_MCAST_FT: return "MulticastFwdTable";
	case UMAD_SM_ATTR_SM_INFO: return "SMInfo";
	case 0xff90: return "ExtendedPortInfo";
	}
	snprintf(unnamed, 8, "0x%04x", attr);
	return unnamed;
}

static unsigned long peak_rss_kib(void)
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[256];
	unsigned long kib = 0;

	/* not getrusage(): that begins with what the process was before exec */
	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, "VmHWM:", 6))
			kib = strtoul(line + 6, NULL, 10);
	if (f)
		fclose(f);
	return kib;
}

__attribute__((destructor))
static void report(void)
{
	static const char *const methods[METHODS] = { "get", "set" };
	const char *prefix = getenv("COUNT_UMAD");
	char path[4096], unnamed[8];
	FILE *f = NULL;

	if (!prefix)
		return;
	snprintf(path, sizeof(path), "%s.%d", prefix, (int)getpid());
	for (unsigned m = 0; m < METHODS; m++)
		for (unsigned attr = 0; attr < 1 << 16; attr++) {
			if (!counts[m][attr])
				continue;
			if (!f && !(f = fopen(path, "w"))) {
				perror(path);
				return;
			}
			fprintf(f, "%s %s %lu\n", methods[m],
				attr_name((uint16_t)attr, unnamed), counts[m][attr]);
		}
	if (f) {
		fprintf(f, "hwm %lu\n", peak_rss_kib());
		fclose(f);
	}
}
