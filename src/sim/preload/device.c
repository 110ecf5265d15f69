/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Replaces libibumad's functions that read devices and ports from sysfs.
 *
 * Return values and the choice of a port follow libibumad (umad_get_ca(3) and others).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "preload.h"

static int ask(enum sim_question question, unsigned ca, unsigned port, struct sim_answer *a)
{
	struct sim_ask q = { .question = question, .ca = ca, .port = port };
	return sim_ask(&q, a);
}

static unsigned count_cas(void)
{
	struct sim_answer a;
	return ask(SIM_ASK_CAS, 0, 0, &a) ? 0 : a.n_cas;
}

int ask_ca(unsigned ca, struct sim_answer *a)
{
	return ask(SIM_ASK_CA, ca, 0, a);
}

int ask_port(unsigned ca, unsigned port, struct sim_answer *a)
{
	return ask(SIM_ASK_PORT, ca, port, a);
}

static void ca_name(unsigned ca, char name[UMAD_CA_NAME_LEN])
{
	snprintf(name, UMAD_CA_NAME_LEN, "sim%u", ca);
}

int ca_by_name(const char *name)
{
	char own[UMAD_CA_NAME_LEN];

	for (unsigned i = 0; i < SIM_CAS_MAX; i++) {
		ca_name(i, own);
		if (!strcmp(own, name))
			return i < count_cas() ? (int)i : -1;
	}
	return -1;
}

/* libibumad's arrays end before port 10, though a router may have more ports. */
static unsigned last_port(const struct sim_answer *ca)
{
	return ca->ca.last_port < UMAD_CA_MAX_PORTS ? ca->ca.last_port : UMAD_CA_MAX_PORTS - 1;
}

const char *link_layer(const struct sim_answer *port)
{
	return port->port.ethernet ? "Ethernet" : "InfiniBand";
}

/* How well a port suits a caller that names none. */
enum fitness { NO_PORT, DOWN_PORT, LINKED_PORT, ACTIVE_PORT };

static enum fitness fitness(const struct sim_answer *a, bool smi)
{
	enum { ACTIVE = 4, DISABLED = 3, LINK_UP = 5 };

	if (a->port.ethernet || (smi && a->port.capmask & SM_DISABLED))
		return NO_PORT;
	if (a->port.state == ACTIVE)
		return ACTIVE_PORT;
	if (a->port.phys_state == LINK_UP)
		return LINKED_PORT;
	return a->port.phys_state == DISABLED ? NO_PORT : DOWN_PORT;
}

/* The port of one device: portnum if it is not 0, else the fittest. */
static enum fitness fittest_port(unsigned ca, int portnum, bool smi, unsigned *port)
{
	struct sim_answer c, a;
	enum fitness best = NO_PORT;

	if (ask_ca(ca, &c))
		return NO_PORT;
	if (c.ca.last_port == 0) {	/* a switch has only port 0 */
		*port = 0;
		return ACTIVE_PORT;
	}
	for (unsigned i = c.ca.first_port; i <= last_port(&c); i++) {
		enum fitness f;

		if ((portnum && i != (unsigned)portnum) || ask_port(ca, i, &a))
			continue;
		f = fitness(&a, smi);
		if (f > best) {
			best = f;
			*port = i;
		}
	}
	return best;
}

int resolve_port(const char *name, int portnum, bool smi, unsigned *ca, unsigned *port)
{
	enum fitness best = NO_PORT;
	unsigned n, p = 0;

	if (name) {
		int i = ca_by_name(name);

		if (i < 0)
			return -ENODEV;
		*ca = (unsigned)i;
		*port = (unsigned)portnum;
		return portnum > 0 || fittest_port(*ca, 0, smi, port) ? 0 : -ENODEV;
	}
	n = count_cas();
	for (unsigned i = 0; i < n; i++) {
		enum fitness f = fittest_port(i, portnum, smi, &p);

		if (f > best) {
			best = f;
			*ca = i;
			*port = p;
		}
	}
	return best ? 0 : -ENODEV;
}

bool umad_by_number(unsigned number, unsigned *ca, unsigned *port)
{
	struct sim_answer c;
	unsigned n = count_cas();

	for (unsigned i = 0; i < n && !ask_ca(i, &c); i++) {
		unsigned ports = c.ca.last_port - c.ca.first_port + 1;

		if (number < ports) {
			*ca = i;
			*port = c.ca.first_port + number;
			return true;
		}
		number -= ports;
	}
	return false;
}

int number_of_umad(unsigned ca, unsigned port)
{
	unsigned c, p;

	for (int i = 0; umad_by_number((unsigned)i, &c, &p); i++)
		if (c == ca && p == port)
			return i;
	return -1;
}

/* --- libibumad's functions --- */

int umad_get_cas_names(char cas[][UMAD_CA_NAME_LEN], int max)
{
	int n = (int)count_cas();

	if (n > max)
		n = max;
	for (int i = 0; i < n; i++)
		ca_name((unsigned)i, cas[i]);
	return n;
}

static int fill_port(unsigned ca, unsigned portnum, umad_port_t *p)
{
	struct sim_answer a;

	if (ask_port(ca, portnum, &a))
		return -EIO;
	ca_name(ca, p->ca_name);
	p->portnum = (int)portnum;
	p->base_lid = a.port.base_lid;
	p->lmc = a.port.lmc;
	p->sm_lid = a.port.sm_lid;
	p->sm_sl = a.port.sm_sl;
	p->state = a.port.state;
	p->phys_state = a.port.phys_state;
	p->rate = a.port.rate;
	p->capmask = htobe32(a.port.capmask);
	p->gid_prefix = htobe64(a.port.gid_prefix);
	p->port_guid = htobe64(a.port.port_guid);
	snprintf(p->link_layer, sizeof(p->link_layer), "%s", link_layer(&a));
	p->pkeys_size = a.port.n_pkeys;
	p->pkeys = calloc(a.port.n_pkeys ? a.port.n_pkeys : 1, sizeof(*p->pkeys));
	if (!p->pkeys)
		return -EIO;
	memcpy(p->pkeys, a.port.pkeys, a.port.n_pkeys * sizeof(*p->pkeys));
	return 0;
}

int umad_get_port(const char *name, int portnum, umad_port_t *port)
{
	unsigned ca, p;
	int r = resolve_port(name, portnum, false, &ca, &p);

	return r ? r : fill_port(ca, p, port);
}

int umad_release_port(umad_port_t *port)
{
	if (!port)
		return -ENODEV;
	free(port->pkeys);
	port->pkeys = NULL;
	port->pkeys_size = 0;
	return 0;
}

static int fill_ca(unsigned number, umad_ca_t *ca)
{
	struct sim_answer a;
	int r = ask_ca(number, &a);

	if (r)
		return r;
	ca_name(number, ca->ca_name);
	ca->node_type = a.ca.node_type;
	ca->numports = (int)last_port(&a);
	snprintf(ca->fw_ver, sizeof(ca->fw_ver), "%s", a.ca.fw_ver);
	snprintf(ca->hw_ver, sizeof(ca->hw_ver), "%s", a.ca.hw_ver);
	snprintf(ca->ca_type, sizeof(ca->ca_type), "%s", a.ca.ca_type);
	ca->node_guid = htobe64(a.ca.node_guid);
	ca->system_guid = htobe64(a.ca.system_guid);
	memset(ca->ports, 0, sizeof(ca->ports));
	for (unsigned i = a.ca.first_port; i <= last_port(&a); i++) {
		ca->ports[i] = calloc(1, sizeof(*ca->ports[i]));
		r = ca->ports[i] ? fill_port(number, i, ca->ports[i]) : -ENOMEM;
		if (r) {
			umad_release_ca(ca);
			return r;
		}
	}
	return 0;
}

int umad_get_ca(const char *name, umad_ca_t *ca)
{
	unsigned number, port;
	int i;

	if (!name) {
		int r = resolve_port(NULL, 0, false, &number, &port);
		return r ? r : fill_ca(number, ca);
	}
	i = ca_by_name(name);
	return i < 0 ? -ENOENT : fill_ca((unsigned)i, ca);
}

int umad_release_ca(umad_ca_t *ca)
{
	if (!ca)
		return -ENODEV;
	for (int i = 0; i < UMAD_CA_MAX_PORTS; i++) {
		if (!ca->ports[i])
			continue;
		umad_release_port(ca->ports[i]);
		free(ca->ports[i]);
		ca->ports[i] = NULL;
	}
	return 0;
}

int umad_get_ca_portguids(const char *name, __be64 *portguids, int max)
{
	umad_ca_t ca;
	int n = 0;

	if (umad_get_ca(name, &ca) < 0)
		return name ? -1 : -ENODEV;
	if (portguids && ca.numports + 1 > max)
		n = -ENOMEM;
	else if (portguids)
		for (; n <= ca.numports; n++)
			portguids[n] = ca.ports[n] ? ca.ports[n]->port_guid : 0;
	umad_release_ca(&ca);
	return n;
}

int umad_get_issm_path(const char *name, int portnum, char path[], int max)
{
	unsigned ca, port;
	int number;

	if (resolve_port(name, portnum, false, &ca, &port))
		return -ENODEV;
	number = number_of_umad(ca, port);
	if (number < 0)
		return -EINVAL;
	snprintf(path, (size_t)max, UMAD_DIR "/issm%d", number);
	return 0;
}

/* Each device is one block of memory, as libibumad's umad_free_ca_device_list() expects. */
struct umad_device_node *umad_get_ca_device_list(void)
{
	struct umad_device_node *head = NULL;

	errno = 0;
	for (unsigned i = count_cas(); i-- > 0;) {
		struct umad_device_node *d = calloc(1, sizeof(*d) + UMAD_CA_NAME_LEN);

		if (!d) {
			umad_free_ca_device_list(head);
			errno = ENOMEM;
			return NULL;
		}
		ca_name(i, (char *)(d + 1));
		d->ca_name = (char *)(d + 1);
		d->next = head;
		head = d;
	}
	return head;
}

/* --- of newer versions: separate devices for subnet management and general services --- */

/* The first port of that kind with the GUID and a link. */
static bool find_part(uint64_t guid, bool smi, char name[UMAD_CA_NAME_LEN], uint32_t *num)
{
	struct sim_answer c, a;
	unsigned n = count_cas();

	for (unsigned i = 0; i < n && !ask_ca(i, &c); i++)
		for (unsigned p = c.ca.first_port; p <= last_port(&c); p++) {
			if (ask_port(i, p, &a) || a.port.port_guid != guid || a.port.ethernet ||
			    !(a.port.capmask & SM_DISABLED) != smi || a.port.state < 2)
				continue;
			ca_name(i, name);
			*num = p;
			return true;
		}
	return false;
}

struct umad_ca_pair_of_newer {
	char smi_name[UMAD_CA_NAME_LEN];
	uint32_t smi_port;
	char gsi_name[UMAD_CA_NAME_LEN];
	uint32_t gsi_port;
};

/* Added to libibumad in rdma-core 56.  With QOSD_SIM_NO_PAIRS in the environment, it finds no pair. */
int umad_get_smi_gsi_pair_by_ca_name(const char *name, uint8_t portnum,
				     struct umad_ca_pair_of_newer *pair, unsigned enforce_smi);
int umad_get_smi_gsi_pair_by_ca_name(const char *name, uint8_t portnum,
				     struct umad_ca_pair_of_newer *pair, unsigned enforce_smi)
{
	unsigned ca, port;
	struct sim_answer a;

	if (getenv("QOSD_SIM_NO_PAIRS") || resolve_port(name, portnum, enforce_smi, &ca, &port) ||
	    ask_port(ca, port, &a))
		return -ENODEV;
	memset(pair, 0, sizeof(*pair));
	if (!find_part(a.port.port_guid, true, pair->smi_name, &pair->smi_port)) {
		if (enforce_smi)
			return -ENODEV;
	} else if (!find_part(a.port.port_guid, false, pair->gsi_name, &pair->gsi_port)) {
		memcpy(pair->gsi_name, pair->smi_name, sizeof(pair->gsi_name));
		pair->gsi_port = pair->smi_port;
	}
	return 0;
}
