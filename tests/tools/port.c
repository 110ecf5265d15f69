/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See port.h. */
#include "port.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/bytes.h"

void die(const char *fmt, ...)
{
	int error = errno;	/* for %m */
	va_list ap;

	fprintf(stderr, "%s: ", program_invocation_short_name);
	errno = error;
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(2);
}

void own_port_open(struct own_port *p)
{
	umad_port_t port;

	if (umad_init() < 0 || umad_get_port(NULL, 0, &port) < 0)
		die("there is no port");
	*p = (struct own_port){
		.agent = -1, .guid = be64toh(port.port_guid), .lid = (uint16_t)port.base_lid,
		.sm_lid = (uint16_t)port.sm_lid, .sm_sl = (uint8_t)port.sm_sl,
	};
	umad_release_port(&port);
	p->fd = umad_open_port(NULL, 0);
	if (p->fd < 0)
		die("can't open the port: %m");
}

int own_port_register(const struct own_port *p, uint8_t class, uint8_t rmpp_version, long methods)
{
	long mask[16 / sizeof(long)] = { methods };
	int version = class == UMAD_CLASS_SUBN_ADM ? UMAD_SA_CLASS_VERSION : 1;
	int agent = umad_register(p->fd, class, version, rmpp_version, methods ? mask : NULL);

	if (agent < 0)
		die("can't register for class 0x%02x: %m", class);
	return agent;
}

void own_port_open_sa(struct own_port *p, uint8_t rmpp_version)
{
	own_port_open(p);
	p->agent = own_port_register(p, UMAD_CLASS_SUBN_ADM, rmpp_version, 0);
}

void own_port_close(struct own_port *p)
{
	if (p->agent >= 0)
		umad_unregister(p->fd, p->agent);
	umad_close_port(p->fd);
}

void sa_fill(struct sa_mad *m, uint8_t method, uint16_t attr, uint64_t tid)
{
	memset(m, 0, sizeof(*m));
	m->sa.mad_hdr.base_version = UMAD_BASE_VERSION;
	m->sa.mad_hdr.mgmt_class = UMAD_CLASS_SUBN_ADM;
	m->sa.mad_hdr.class_version = UMAD_SA_CLASS_VERSION;
	m->sa.mad_hdr.method = method;
	m->sa.mad_hdr.attr_id = htobe16(attr);
	m->sa.mad_hdr.tid = htobe64(tid);
}

void sa_put_gid(uint8_t gid[16], uint64_t guid)
{
	put_be64(gid, 0xfe80000000000000ULL);
	put_be64(gid + 8, guid);
}

void sa_send(const struct own_port *p, struct sa_mad *m, int timeout_ms, int retries)
{
	umad_set_addr(m, p->sm_lid, 1, p->sm_sl, UMAD_QKEY);
	if (umad_send(p->fd, p->agent, m, MAD_LEN, timeout_ms, retries) < 0)
		die("can't send: %m");
}

int sa_receive(const struct own_port *p, struct sa_mad *m, int timeout_ms)
{
	int length = MAD_LEN;

	return umad_recv(p->fd, m, &length, timeout_ms);
}
