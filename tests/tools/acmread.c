/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * acmread PROVIDER OPTIONS GUID LID [NAME|GID|LID...]: loads ibacm's own provider
 * (libibacmp.so), has it preload its cache as on a host whose port has this GUID
 * and LID, and asks it for the paths to the destinations.  OPTIONS is an
 * ibacm_opts.cfg.
 *
 * One line for each: "DEST dgid=… dlid=… sl=… mtu=… rate=…", or "DEST status=N"
 * if the cache has no path.  Lines that the provider logs as errors go to stderr.
 *
 * The provider needs ibacm's core and an HCA: this program has the parts of both that it calls.
 */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <endian.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <infiniband/acm_prov.h>

#define PREFIX 0xfe80000000000000ULL
#define PKEY 0xffff

/* Types of addresses between core and provider, which no installed header has. */
enum { ACM_ADDRESS_NAME = 1, ACM_ADDRESS_GID = 4, ACM_ADDRESS_LID = 5 };

static const char *options_file, *asked;
static union ibv_gid own_gid;
static uint16_t own_lid;

static void die(const char *what, const char *why)
{
	fprintf(stderr, "acmread: %s: %s\n", what, why);
	exit(2);
}

/* --- the core --- */

struct pending {
	struct acm_sa_mad mad;
	void (*handler)(struct acm_sa_mad *mad);
};
static struct pending *join;

void acm_write(int level, const char *format, ...)
{
	va_list ap;

	if (level || !strstr(format, "ERROR"))
		return;
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
}

void acm_format_name(int level, char *name, size_t size, uint8_t type, const uint8_t *addr,
		     size_t n)
{
	(void)level;
	(void)type;
	(void)addr;
	(void)n;
	if (size)
		*name = '\0';
}

int ib_any_gid(union ibv_gid *gid)
{
	return !(gid->global.subnet_prefix | gid->global.interface_id);
}

uint8_t acm_gid_index(struct acm_port *port, union ibv_gid *gid)
{
	(void)port;
	(void)gid;
	return 0;
}

int acm_get_gid(struct acm_port *port, int index, union ibv_gid *gid)
{
	(void)port;
	*gid = own_gid;
	return index;
}

int acm_if_get_sgid(char *name, union ibv_gid *gid);
int acm_if_get_sgid(char *name, union ibv_gid *gid)
{
	(void)name;
	*gid = own_gid;
	return 0;
}

__be64 acm_path_comp_mask(struct ibv_path_record *path)
{
	(void)path;
	return 0;
}

int acm_resolve_response(uint64_t id, struct acm_msg *msg)
{
	const struct ibv_path_record *p = &msg->resolve_data[0].info.path;
	char gid[INET6_ADDRSTRLEN];

	(void)id;
	if (msg->hdr.status) {
		printf("%s status=%u\n", asked, msg->hdr.status);
		return 0;
	}
	printf("%s dgid=%s dlid=%u sl=%u mtu=%u rate=%u\n", asked,
	       inet_ntop(AF_INET6, &p->dgid, gid, sizeof(gid)), be16toh(p->dlid),
	       be16toh(p->qosclass_sl) & 0xf, p->mtu & 0x3f, p->rate & 0x3f);
	return 0;
}

int acm_query_response(uint64_t id, struct acm_msg *msg)
{
	(void)id;
	(void)msg;
	return 0;
}

enum ibv_rate acm_get_rate(uint8_t width, uint8_t speed)
{
	(void)width;
	(void)speed;
	return IBV_RATE_40_GBPS;
}

enum ibv_mtu acm_convert_mtu(int mtu)
{
	(void)mtu;
	return IBV_MTU_2048;
}

enum ibv_rate acm_convert_rate(int rate)
{
	(void)rate;
	return IBV_RATE_10_GBPS;
}

struct acm_sa_mad *acm_alloc_sa_mad(const struct acm_endpoint *endpoint, void *context,
				    void (*handler)(struct acm_sa_mad *))
{
	struct pending *p = calloc(1, sizeof(*p));

	(void)endpoint;
	if (!p)
		die("memory", "none");
	p->mad.context = context;
	p->handler = handler;
	return &p->mad;
}

void acm_free_sa_mad(struct acm_sa_mad *mad)
{
	free(mad);
}

/* The join of the provider's own group is answered later; no other request is sent. */
int acm_send_sa_mad(struct acm_sa_mad *mad)
{
	struct pending *p = (struct pending *)(void *)mad;

	if (be16toh(mad->sa_mad.mad_hdr.attr_id) != UMAD_SA_ATTR_MCMEMBER_REC)
		return -1;
	join = p;
	return 0;
}

const char *acm_get_opts_file(void)
{
	return options_file;
}

void acm_increment_counter(int type)
{
	(void)type;
}

/* --- the HCA --- */

#undef ibv_query_port
#undef ibv_reg_mr

static struct ibv_device device = { .name = "acm0" };
static int no_poll(struct ibv_cq *cq, int n, struct ibv_wc *wc)
{
	(void)cq;
	(void)n;
	(void)wc;
	return 0;
}

static int no_notify(struct ibv_cq *cq, int solicited)
{
	(void)cq;
	(void)solicited;
	return 0;
}

static int no_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	(void)qp;
	(void)wr;
	(void)bad;
	return 0;
}

static int no_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	(void)qp;
	(void)wr;
	(void)bad;
	return 0;
}

static struct ibv_context verbs = {
	.device = &device,
	.ops = { .poll_cq = no_poll, .req_notify_cq = no_notify, .post_recv = no_recv,
		 .post_send = no_send },
};

struct ibv_context *ibv_open_device(struct ibv_device *d)
{
	return d == &device ? &verbs : NULL;
}

int ibv_query_device(struct ibv_context *c, struct ibv_device_attr *attr)
{
	(void)c;
	memset(attr, 0, sizeof(*attr));
	attr->phys_port_cnt = 1;
	return 0;
}

int ibv_query_port(struct ibv_context *c, uint8_t port, struct _compat_ibv_port_attr *attr)
{
	struct ibv_port_attr *a = (struct ibv_port_attr *)(void *)attr;

	(void)c;
	(void)port;
	a->lid = own_lid;
	a->lmc = 0;
	a->sm_lid = 1;
	a->sm_sl = 0;
	a->active_mtu = IBV_MTU_2048;
	a->active_width = 2;
	a->active_speed = 4;
	a->subnet_timeout = 18;
	a->pkey_tbl_len = 1;
	return 0;
}

int ibv_query_pkey(struct ibv_context *c, uint8_t port, int index, __be16 *pkey)
{
	(void)c;
	(void)port;
	*pkey = htobe16(PKEY);
	return index;
}

int ibv_get_pkey_index(struct ibv_context *c, uint8_t port, __be16 pkey)
{
	(void)c;
	(void)port;
	(void)pkey;
	return 0;
}

struct ibv_pd *ibv_alloc_pd(struct ibv_context *c)
{
	static struct ibv_pd pd;

	pd.context = c;
	return &pd;
}

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *c)
{
	static struct ibv_comp_channel channel;

	channel.context = c;
	return &channel;
}

struct ibv_cq *ibv_create_cq(struct ibv_context *c, int cqe, void *context,
			     struct ibv_comp_channel *channel, int vector)
{
	static struct ibv_cq cq;

	(void)cqe;
	(void)vector;
	cq.context = c;
	cq.cq_context = context;
	cq.channel = channel;
	return &cq;
}

int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **context)
{
	(void)channel;
	(void)cq;
	(void)context;
	for (;;)
		pause();	/* nothing is ever received */
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	static struct ibv_qp qp;

	(void)attr;
	qp.context = pd->context;
	qp.qp_num = 2;
	return &qp;
}

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	(void)qp;
	(void)attr;
	(void)mask;
	return 0;
}

struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access)
{
	static struct ibv_mr mr;

	(void)access;
	mr.context = pd->context;
	mr.addr = addr;
	mr.length = length;
	return &mr;
}

struct ibv_ah *ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	static struct ibv_ah ah;

	(void)attr;
	ah.context = pd->context;
	return &ah;
}

int ibv_attach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
	(void)qp;
	(void)gid;
	(void)lid;
	return 0;
}

/* --- what it is asked --- */

static void set_dest(struct acm_ep_addr_data *d, const char *text)
{
	char *end;
	unsigned long lid = strtoul(text, &end, 0);

	memset(d, 0, sizeof(*d));
	d->flags = ACM_EP_FLAG_DEST | ACM_FLAGS_NODELAY;
	if (*end == '\0') {
		d->type = ACM_ADDRESS_LID;
		d->info.addr[0] = (uint8_t)(lid >> 8);
		d->info.addr[1] = (uint8_t)lid;
	} else if (inet_pton(AF_INET6, text, d->info.addr) == 1) {
		d->type = ACM_ADDRESS_GID;
	} else {
		d->type = ACM_ADDRESS_NAME;
		strncpy((char *)d->info.name, text, ACM_MAX_ADDRESS);
	}
}

static void ask(struct acm_provider *p, void *address, const char *dest)
{
	struct acm_msg msg = { .hdr = { .version = ACM_VERSION, .opcode = ACM_OP_RESOLVE } };

	asked = dest;
	msg.hdr.src_index = 0;
	msg.hdr.dst_index = 1;
	msg.resolve_data[0].type = ACM_ADDRESS_GID;
	msg.resolve_data[0].flags = ACM_EP_FLAG_SOURCE;
	memcpy(msg.resolve_data[0].info.addr, &own_gid, sizeof(own_gid));
	set_dest(&msg.resolve_data[1], dest);
	if (p->resolve(address, &msg, 1))
		die(dest, "not asked");
}

/* Calls the provider's functions in the order of ibacm. */
static void *open_address(struct acm_provider *p)
{
	static struct acm_device dev = { .verbs = &verbs };
	static struct acm_port port = { .dev = &dev, .port_num = 1 };
	static struct acm_endpoint endpoint = { .port = &port, .pkey = PKEY };
	static char id[] = "here";
	static struct acm_address address = { .endpoint = &endpoint, .id_string = id,
					      .type = ACM_ADDRESS_NAME };
	void *dev_context = NULL, *port_context = NULL, *ep_context = NULL, *context = NULL;

	dev.dev_guid = own_gid.global.interface_id;
	strcpy((char *)address.info.name, "acmread");
	if (p->open_device(&dev, &dev_context) || p->open_port(&port, dev_context, &port_context) ||
	    p->open_endpoint(&endpoint, port_context, &ep_context) || !join)
		die("the provider", "the endpoint can't be opened");
	join->handler(&join->mad);
	if (p->add_address(&address, ep_context, &context))
		die("the provider", "no address");
	return context;
}

int main(int argc, char **argv)
{
	int (*query)(struct acm_provider **p, uint32_t *version);
	struct acm_provider *provider = NULL;
	void *address, *library;

	if (argc < 5)
		die("usage", "acmread PROVIDER OPTIONS GUID LID [NAME|GID|LID...]");
	options_file = argv[2];
	own_gid.global.subnet_prefix = htobe64(PREFIX);
	own_gid.global.interface_id = htobe64(strtoull(argv[3], NULL, 16));
	own_lid = (uint16_t)strtoul(argv[4], NULL, 0);
	library = dlopen(argv[1], RTLD_NOW);
	if (!library)
		die(argv[1], dlerror());
	*(void **)&query = dlsym(library, "provider_query");
	if (!query || query(&provider, NULL))
		die(argv[1], "no provider");
	address = open_address(provider);
	for (int i = 5; i < argc; i++)
		ask(provider, address, argv[i]);
	fflush(stdout);
	_exit(0);	/* its threads wait forever */
}
