/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Chooses the port to manage the subnet through; see choose_port.h. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include <infiniband/umad.h>

#include "lib/base/bytes.h"
#include "lib/base/log.h"
#include "mad/choose_port.h"

#define STATE_INIT		2
#define CAP_SM_DISABLED		(1u << 10)	/* IsSMDisabled (14.2.5.6) */

/* --- available ports --- */

static bool is_infiniband(const umad_port_t *p)
{
	return !p->link_layer[0] || !strcmp(p->link_layer, "InfiniBand") ||
	       !strcmp(p->link_layer, "IB");
}

static void list_ca(struct seen_ports *out, const char *name)
{
	umad_ca_t ca;

	if (umad_get_ca(name, &ca) < 0)
		return;
	for (int i = 0; i < UMAD_CA_MAX_PORTS; i++) {
		const umad_port_t *p = ca.ports[i];
		struct seen_port *s;

		if (!p)
			continue;
		s = vec_push(&out->v);
		*s = (struct seen_port){
			.num = p->portnum, .guid = be64toh(p->port_guid),
			.lid = (uint16_t)p->base_lid, .sm_lid = (uint16_t)p->sm_lid,
			.state = p->state, .capmask = be32toh(p->capmask),
			.infiniband = is_infiniband(p),
		};
		snprintf(s->ca, sizeof(s->ca), "%s", ca.ca_name);
	}
	umad_release_ca(&ca);
}

void ports_list(struct seen_ports *out)
{
	struct umad_device_node *list = umad_get_ca_device_list();

	for (struct umad_device_node *d = list; d; d = d->next)
		list_ca(out, d->ca_name);
	umad_free_ca_device_list(list);
}

/* --- the choice --- */

/* Why a subnet manager cannot work through the port; NULL if no reason is known yet. */
static const char *unfit(const struct seen_port *p)
{
	if (!p->infiniband)
		return "its link layer is Ethernet";
	if (p->capmask & CAP_SM_DISABLED)
		return "it has no subnet management interface (IsSMDisabled), as is usual for SR-IOV "
				"functions";
	return NULL;
}

static bool is_its_gsi(const struct seen_port *gsi, const struct seen_port *smi)
{
	return gsi->infiniband && gsi->capmask & CAP_SM_DISABLED && gsi->guid == smi->guid;
}

/* Whether another device holds the SMI of this port; then its lack of one is not worth a message. */
static bool has_smi_elsewhere(const struct seen_ports *p, const struct seen_port *gsi)
{
	for (size_t i = 0; i < p->v.n; i++)
		if (!unfit(&p->v.v[i]) && is_its_gsi(gsi, &p->v.v[i]))
			return true;
	return false;
}

static struct seen_port *first_fit(struct seen_ports *p, uint64_t guid, unsigned state,
				   const struct seen_port **first_unfit)
{
	for (struct seen_port *s = p->v.v; s < vec_end(&p->v); s++) {
		/* a port without a GUID belongs to a broken adapter */
		if (!s->guid || s->passed_over || s->state < state || (guid && s->guid != guid))
			continue;
		if (!unfit(s))
			return s;
		if (has_smi_elsewhere(p, s))
			continue;
		if (!*first_unfit)
			*first_unfit = s;
		s->passed_over = true;
		if (!guid)
			log_info("port", "%s port %d is skipped: %s", s->ca, s->num, unfit(s));
	}
	return NULL;
}

struct seen_port *port_choose(struct seen_ports *p, uint64_t guid, struct buf *err)
{
	const struct seen_port *no = NULL;
	struct seen_port *s = first_fit(p, guid, STATE_INIT, &no);

	if (!s && guid)		/* a port that the user names need not have a link yet */
		s = first_fit(p, guid, 0, &no);
	if (s)
		return s;
	if (!p->v.n)
		buf_puts(err, "no InfiniBand device (is the ib_umad module loaded?)");
	else if (guid && no)
		buf_printf(err, "port 0x%016llx (%s port %d) cannot be managed: %s",
			   (unsigned long long)guid, no->ca, no->num, unfit(no));
	else if (guid)
		buf_printf(err, "no InfiniBand port with GUID 0x%016llx", (unsigned long long)guid);
	else if (no)
		buf_printf(err, "no port can be managed; %s port %d: %s", no->ca, no->num, unfit(no));
	else
		buf_puts(err, "no InfiniBand port is connected");
	return NULL;
}

/* --- SMI and GSI pair --- */

/* libibumad's struct umad_ca_pair, which older headers lack. */
struct pair {
	char smi_name[UMAD_CA_NAME_LEN];
	uint32_t smi_port;
	char gsi_name[UMAD_CA_NAME_LEN];
	uint32_t gsi_port;
};

typedef int pair_fn(const char *ca, uint8_t port, struct pair *pair, unsigned enforce_smi);

/* Asks libibumad of rdma-core 56 or later.  False: the function is missing, or has no answer. */
static bool ask_libibumad(const struct seen_port *smi, struct pair *pair)
{
	void *found = dlsym(RTLD_DEFAULT, "umad_get_smi_gsi_pair_by_ca_name");
	pair_fn *fn;

	memcpy(&fn, &found, sizeof(fn));	/* ISO C has no cast from an object to a function pointer */
	memset(pair, 0, sizeof(*pair));
	return found && fn(smi->ca, (uint8_t)smi->num, pair, 1) == 0 &&
	       !strncmp(pair->smi_name, smi->ca, sizeof(pair->smi_name));
}

static const struct seen_port *find_gsi(const struct seen_ports *p, const struct seen_port *smi)
{
	const struct seen_port *down = NULL;
	struct pair pair;

	if (ask_libibumad(smi, &pair))
		for (const struct seen_port *s = p->v.v; s < vec_end(&p->v); s++) {
			/* libibumad has been seen to pair with Ethernet ports */
			if ((uint32_t)s->num == pair.gsi_port && s->infiniband &&
			    !strncmp(s->ca, pair.gsi_name, sizeof(pair.gsi_name)))
				return s;
		}
	for (const struct seen_port *s = p->v.v; s < vec_end(&p->v); s++) {
		if (!is_its_gsi(s, smi))
			continue;
		if (s->state >= STATE_INIT)
			return s;
		if (!down)
			down = s;
	}
	return down ? down : smi;
}

void port_pair(const struct seen_ports *p, const struct seen_port *smi, struct mad_port_info *info)
{
	const struct seen_port *gsi = find_gsi(p, smi);

	*info = (struct mad_port_info){
		.port = smi->num, .gsi_port = gsi->num, .guid = smi->guid, .lid = gsi->lid,
		.sm_lid = gsi->sm_lid,
	};
	snprintf(info->ca, sizeof(info->ca), "%s", smi->ca);
	snprintf(info->gsi_ca, sizeof(info->gsi_ca), "%s", gsi->ca);
}
