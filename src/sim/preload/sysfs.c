/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Provides the files of sysfs that umad programs read themselves, in the kernel's format.
 *
 * srp_daemon, for example, reads LIDs, GIDs and the names of devices.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "preload.h"

#define CONTENT_MAX 128

/* Parses a decimal number; false if the text is anything else. */
static bool number(const char *text, unsigned *n)
{
	char *end;
	unsigned long v = strtoul(text, &end, 10);

	*n = (unsigned)v;
	return *text >= '0' && *text <= '9' && !*end && v <= 0xffff;
}

/* Prints eight bytes as four groups of hex digits. */
static int print_guid(char *out, size_t n, const char *before, uint64_t guid)
{
	return snprintf(out, n, "%s%04x:%04x:%04x:%04x", before, (unsigned)(guid >> 48),
			(unsigned)(guid >> 32) & 0xffff, (unsigned)(guid >> 16) & 0xffff,
			(unsigned)guid & 0xffff);
}

/* infiniband_mad/umadN/FILE */
static bool umad_text(const char *device, const char *name, char *out)
{
	unsigned n, ca, port;

	if (strncmp(device, "umad", 4) != 0 || !number(device + 4, &n) ||
	    !umad_by_number(n, &ca, &port))
		return false;
	if (!strcmp(name, SYS_IB_MAD_DEV))
		snprintf(out, CONTENT_MAX, "sim%u", ca);
	else if (!strcmp(name, SYS_IB_MAD_PORT))
		snprintf(out, CONTENT_MAX, "%u", port);
	else
		return false;
	return true;
}

/* infiniband/DEVICE/FILE */
static bool ca_text(unsigned ca, const char *name, char *out)
{
	static const char *const types[] = { "", "CA", "switch", "router" };
	struct sim_answer a;

	if (ask_ca(ca, &a))
		return false;
	if (!strcmp(name, SYS_NODE_TYPE))
		snprintf(out, CONTENT_MAX, "%u: %s", a.ca.node_type, types[a.ca.node_type & 3]);
	else if (!strcmp(name, SYS_CA_NODE_GUID))
		print_guid(out, CONTENT_MAX, "", a.ca.node_guid);
	else if (!strcmp(name, SYS_CA_SYS_GUID))
		print_guid(out, CONTENT_MAX, "", a.ca.system_guid);
	else if (!strcmp(name, SYS_CA_FW_VERS))
		snprintf(out, CONTENT_MAX, "%s", a.ca.fw_ver);
	else if (!strcmp(name, SYS_CA_HW_VERS))
		snprintf(out, CONTENT_MAX, "%s", a.ca.hw_ver);
	else if (!strcmp(name, SYS_CA_TYPE))
		snprintf(out, CONTENT_MAX, "%s", a.ca.ca_type);
	else
		return false;
	return true;
}

/* infiniband/DEVICE/ports/PORT/FILE, for files that begin with a number */
static bool port_text(const struct sim_answer *a, const char *name, char *out)
{
	static const char *const states[] = { ": NOP", ": DOWN", ": INIT", ": ARMED", ": ACTIVE" };
	static const char *const phys[] = {
		"", ": Sleep", ": Polling", ": Disabled", ": PortConfigurationTraining",
		": LinkUp", ": LinkErrorRecovery", "",
	};
	const struct {
		const char *name;
		bool hex;
		unsigned value;
		const char *rest;
	} files[] = {
		{ SYS_PORT_LID, true, a->port.base_lid, "" },
		{ SYS_PORT_LMC, false, a->port.lmc, "" },
		{ SYS_PORT_SMLID, true, a->port.sm_lid, "" },
		{ SYS_PORT_SMSL, false, a->port.sm_sl, "" },
		{ SYS_PORT_CAPMASK, true, a->port.capmask, "" },
		{ SYS_PORT_RATE, false, a->port.rate, " Gb/sec" },
		/* not in Linux, where clients in the kernel get an event for each reregistration */
		{ "client_reregisters", false, a->port.reregisters, "" },
		{ SYS_PORT_STATE, false, a->port.state,
		  a->port.state < 5 ? states[a->port.state] : "" },
		{ SYS_PORT_PHY_STATE, false, a->port.phys_state, phys[a->port.phys_state & 7] },
	};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (!strcmp(name, files[i].name)) {
			snprintf(out, CONTENT_MAX, files[i].hex ? "0x%x%s" : "%u%s",
				 files[i].value, files[i].rest);
			return true;
		}
	return false;
}

/* the same for tables: pkeys/N, and gids/0, which has a prefix of its own */
static bool port_table_text(const struct sim_answer *a, const char *table, const char *entry,
			    char *out)
{
	unsigned i;
	int n;

	if (!number(entry, &i))
		return false;
	if (!strcmp(table, "pkeys") && i < a->port.n_pkeys) {
		snprintf(out, CONTENT_MAX, "0x%04x", a->port.pkeys[i]);
		return true;
	}
	if (strcmp(table, "gids") != 0 || i > 0)
		return false;
	n = print_guid(out, CONTENT_MAX, "", a->port.gid_prefix);
	print_guid(out + n, CONTENT_MAX - (size_t)n, ":", a->port.port_guid);
	return true;
}

/* Splits a path at its slashes; returns the number of words. */
static unsigned split(char *path, char *words[], unsigned max)
{
	unsigned n = 0;
	char *save;

	for (char *w = strtok_r(path, "/", &save); w && n < max; w = strtok_r(NULL, "/", &save))
		words[n++] = w;
	return n;
}

/* Writes the content of the file that the words after /sys/class name. */
static bool content(char *words[], unsigned n, char *out)
{
	struct sim_answer a;
	unsigned port;
	int ca;

	if (!strcmp(words[0], "infiniband_mad")) {
		if (n == 2 && !strcmp(words[1], IB_UMAD_ABI_FILE))
			return snprintf(out, CONTENT_MAX, "%d", IB_UMAD_ABI_VERSION) > 0;
		return n == 3 && umad_text(words[1], words[2], out);
	}
	ca = n >= 3 ? ca_by_name(words[1]) : -1;
	if (ca < 0)
		return false;
	if (n == 3)
		return ca_text((unsigned)ca, words[2], out);
	if (n < 5 || strcmp(words[2], SYS_CA_PORTS_DIR) != 0 || !number(words[3], &port) ||
	    ask_port((unsigned)ca, port, &a))
		return false;
	if (n == 5 && !strcmp(words[4], SYS_PORT_LINK_LAYER))
		return snprintf(out, CONTENT_MAX, "%s", link_layer(&a)) > 0;
	return n == 5 ? port_text(&a, words[4], out) : port_table_text(&a, words[4], words[5], out);
}

int sysfs_open(const char *path)
{
	char copy[256], text[CONTENT_MAX], *words[8];
	unsigned n;
	int fd;

	snprintf(copy, sizeof(copy), "%s", path);
	n = split(copy, words, 8);	/* "sys", "class", … */
	if (n < 4 || n > 8 || !content(words + 2, n - 2, text)) {
		errno = ENOENT;
		return -1;
	}
	fd = memfd_create("sysfs", MFD_CLOEXEC);
	if (fd < 0)
		return -1;
	dprintf(fd, "%s\n", text);
	lseek(fd, 0, SEEK_SET);
	return fd;
}
