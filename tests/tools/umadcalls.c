/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Whether libibumad's functions do under a simulator what they do over the
 * kernel's umad device: values returned, errno, descriptors.
 *
 * To be run on two nodes ("sim0" and "sim1") of a fabric that is configured.  Prints what is wrong;
 * exit status 0 if nothing is.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <infiniband/umad.h>
#include <infiniband/umad_sm.h>
#include <infiniband/umad_types.h>

enum { MAD = 256, VENDOR_CLASS = 0x32, VENDOR_HEADER = 40 };
#define QKEY_GSI 0x80010000u

static unsigned wrong;

static bool expect_(bool ok, int line, const char *what, long got)
{
	if (!ok) {
		fprintf(stderr, "umadcalls:%d: %s: got %ld, errno %d (%s)\n", line, what, got, errno,
			strerror(errno));
		wrong++;
	}
	return ok;
}
#define EXPECT(expression, wanted) \
	do { \
		long got_ = (long)(expression); \
		expect_(got_ == (long)(wanted), __LINE__, #expression " is not " #wanted, got_); \
	} while (0)
#define EXPECT_TRUE(expression) expect_(expression, __LINE__, #expression, 0)

struct message {
	struct ib_user_mad umad;
	uint8_t mad[MAD];
};

/* --- devices --- */

static void check_devices(void)
{
	char names[8][UMAD_CA_NAME_LEN];
	struct umad_device_node *list;
	umad_ca_t ca;
	umad_port_t port;
	__be64 guids[4];

	EXPECT(umad_init(), 0);
	EXPECT(umad_get_cas_names(names, 8), 2);
	EXPECT(umad_get_cas_names(names, 1), 1);
	EXPECT(strcmp(names[0], "sim0"), 0);
	EXPECT(umad_get_ca("sim1", &ca), 0);
	EXPECT(strcmp(ca.ca_name, "sim1"), 0);
	EXPECT_TRUE(ca.numports >= 1 && ca.ports[1] && !ca.ports[0] && ca.node_guid);
	EXPECT(ca.ports[1]->state, 4);
	EXPECT(strcmp(ca.ports[1]->link_layer, "InfiniBand"), 0);
	EXPECT(umad_get_ca_portguids("sim1", guids, 4), ca.numports + 1);
	EXPECT(guids[1] == ca.ports[1]->port_guid, 1);
	EXPECT(umad_get_ca_portguids("sim1", guids, 1), -ENOMEM);
	EXPECT(umad_release_ca(&ca), 0);
	EXPECT(umad_get_ca("sim2", &ca), -ENOENT);
	EXPECT_TRUE(umad_get_ca("nothing", &ca) < 0);
	EXPECT(umad_get_port("sim0", 1, &port), 0);
	EXPECT_TRUE(port.base_lid && port.sm_lid && port.rate && port.pkeys_size);
	EXPECT(port.pkeys[0], 0xffff);
	EXPECT(be64toh(port.gid_prefix) == 0xfe80000000000000, 1);
	EXPECT(umad_release_port(&port), 0);
	EXPECT_TRUE(umad_get_port("sim0", 9, &port) < 0);
	EXPECT(umad_get_port(NULL, 0, &port), 0);
	EXPECT(port.portnum, 1);
	umad_release_port(&port);
	list = umad_get_ca_device_list();
	EXPECT_TRUE(list && list->next && !list->next->next && !strcmp(list->next->ca_name, "sim1"));
	umad_free_ca_device_list(list);
}

static void check_issm(void)
{
	char path[64], text[64];
	int fd, second, n;

	EXPECT(umad_get_issm_path("sim1", 1, path, sizeof(path)), 0);
	fd = open(path, O_RDWR | O_NONBLOCK);
	EXPECT_TRUE(fd >= 0);
	second = open(path, O_RDWR | O_NONBLOCK);
	EXPECT(second, -1);
	EXPECT(errno, EAGAIN);
	close(fd);
	fd = open(path, O_RDWR | O_NONBLOCK);
	EXPECT_TRUE(fd >= 0);
	close(fd);
	fd = open("/sys/class/infiniband_mad/umad1/ibdev", O_RDONLY);
	n = (int)read(fd, text, sizeof(text));
	EXPECT_TRUE(n == 5 && !memcmp(text, "sim1\n", 5));
	close(fd);
	EXPECT(open("/sys/class/infiniband/sim1/ports/1/nothing", O_RDONLY), -1);
	EXPECT(errno, ENOENT);
}

/* --- agents --- */

static void check_agents(void)
{
	struct umad_reg_attr attr = { .mgmt_class = 0x04, .mgmt_class_version = 1 };
	long set[16 / sizeof(long)] = { 1L << UMAD_METHOD_GET };
	uint8_t oui[3] = { 0, 0x14, 5 };
	uint32_t id;
	int fd = umad_open_port("sim0", 1), a, b;

	EXPECT_TRUE(fd >= 0);
	EXPECT(umad_get_fd(fd), fd);
	a = umad_register(fd, UMAD_CLASS_SUBN_ADM, 2, 0, set);
	EXPECT_TRUE(a >= 0);
	EXPECT(umad_register(fd, UMAD_CLASS_SUBN_ADM, 2, 0, set), -EPERM);
	b = umad_register(fd, UMAD_CLASS_SUBN_ADM, 2, 0, NULL);
	EXPECT_TRUE(b >= 0 && b != a);
	EXPECT(umad_unregister(fd, a), 0);
	EXPECT(umad_unregister(fd, a), -1);
	EXPECT(errno, EINVAL);
	EXPECT(umad_register(fd, UMAD_CLASS_SUBN_ADM, 2, 0, set), a);
	EXPECT(umad_register_oui(fd, 0x04, 0, oui, NULL), -EINVAL);
	EXPECT_TRUE(umad_register_oui(fd, 0x35, 0, oui, set) >= 0);
	EXPECT(umad_register2(fd, &attr, &id), 0);
	EXPECT(umad_register2(fd, NULL, &id), EINVAL);
	attr.flags = 0x80;
	EXPECT(umad_register2(fd, &attr, &id), EINVAL);
	EXPECT(attr.flags, UMAD_USER_RMPP);
	umad_close_port(fd);
	EXPECT_TRUE(umad_open_port("sim7", 1) < 0);
	EXPECT_TRUE(umad_open_port("sim0", 99) < 0);
}

/* --- one MAD there and back --- */

static void put_node_info(struct message *m, uint64_t tid)
{
	const struct umad_smp smp = {
		.base_version = 1, .mgmt_class = UMAD_CLASS_SUBN_DIRECTED_ROUTE, .class_version = 1,
		.method = UMAD_METHOD_GET, .tid = htobe64(tid),
		.attr_id = htobe16(UMAD_SM_ATTR_NODE_INFO), .dr_slid = 0xffff, .dr_dlid = 0xffff,
	};

	memset(m, 0, sizeof(*m));
	memcpy(m->mad, &smp, sizeof(smp));
	umad_set_addr(m, 0xffff, 0, 0, 0);
}

static void check_readiness(int fd)
{
	struct epoll_event e = { .events = EPOLLIN };
	int ep = epoll_create1(0);
	fd_set set;
	struct timeval t = { .tv_sec = 1 };

	EXPECT(epoll_ctl(ep, EPOLL_CTL_ADD, fd, &e), 0);
	EXPECT(epoll_wait(ep, &e, 1, 1000), 1);
	close(ep);
	FD_ZERO(&set);
	FD_SET(fd, &set);
	EXPECT(select(fd + 1, &set, NULL, NULL, &t), 1);
	EXPECT(umad_poll(fd, 1000), 0);
}

static void check_messages(void)
{
	struct message m;
	int fd = umad_open_port("sim0", 1), length = MAD, small = 100;
	int agent = umad_register(fd, UMAD_CLASS_SUBN_DIRECTED_ROUTE, 1, 0, NULL);

	EXPECT_TRUE(fd >= 0 && agent >= 0);
	EXPECT(umad_size(), sizeof(struct ib_user_mad));
	EXPECT(umad_poll(fd, 10), -ETIMEDOUT);
	EXPECT(umad_recv(fd, &m, &length, 10), -ETIMEDOUT);
	EXPECT(errno, ETIMEDOUT);
	EXPECT(umad_recv(fd, &m, &length, 0), -EAGAIN);
	EXPECT(errno, EAGAIN);
	EXPECT(umad_recv(fd, NULL, &length, 0), -EINVAL);
	put_node_info(&m, 0x1234);
	EXPECT(umad_send(fd, agent + 1, &m, MAD, 1000, 0), -EIO);
	EXPECT(errno, EINVAL);
	EXPECT(umad_send(fd, agent, &m, 20, 1000, 0), -EIO);
	EXPECT(umad_send(fd, agent, &m, MAD, 1000, 0), 0);
	check_readiness(fd);
	EXPECT(umad_recv(fd, &m, &small, 1000), -EINVAL);	/* and it stays */
	length = MAD;
	EXPECT(umad_recv(fd, &m, &length, 1000), agent);
	EXPECT(length, MAD);
	EXPECT(umad_status(&m), 0);
	EXPECT(m.mad[3], 0x81);
	EXPECT(be64toh(*(const uint64_t *)(const void *)(m.mad + 8)) & 0xffffffff, 0x1234);
	/* a path that leads nowhere: the kernel gives up and reports it */
	put_node_info(&m, 0x1235);
	m.mad[7] = 2;
	m.mad[128 + 1] = 1;
	m.mad[128 + 2] = 200;
	EXPECT(umad_send(fd, agent, &m, MAD, 50, 1), 0);
	EXPECT(umad_recv(fd, &m, &length, 1000), agent);
	EXPECT(umad_status(&m), ETIMEDOUT);
	EXPECT(umad_close_port(fd), 0);
}

/* --- large messages, from sim0 to sim1 --- */

static void send_large(int fd, int agent, unsigned lid, size_t length, uint8_t fill)
{
	struct ib_user_mad *u = calloc(1, sizeof(*u) + length);
	uint8_t *mad = umad_get_mad(u);

	memset(mad + VENDOR_HEADER, fill, length - VENDOR_HEADER);
	mad[0] = 1;
	mad[1] = VENDOR_CLASS;
	mad[2] = 1;
	mad[3] = UMAD_METHOD_SEND;
	mad[15] = fill;			/* transaction */
	mad[24] = UMAD_RMPP_VERSION;
	mad[26] = UMAD_RMPP_FLAG_ACTIVE;
	mad[38] = 0x14;
	mad[39] = 5;			/* OUI */
	umad_set_addr(u, (int)lid, 1, 0, (int)QKEY_GSI);
	EXPECT(umad_send(fd, agent, u, (int)length, 5000, 3), 0);
	free(u);
}

static void receive_large(int fd, int agent, size_t length, uint8_t fill)
{
	struct message first;
	struct ib_user_mad *u;
	const uint8_t *mad;
	int n = MAD, r = umad_recv(fd, &first, &n, 10000);
	size_t same = VENDOR_HEADER;

	EXPECT(r, length > MAD ? -ENOSPC : agent);
	EXPECT(n, length);
	if (r != -ENOSPC || n != (int)length)
		return;
	n = MAD;
	EXPECT(umad_recv(fd, &first, &n, 0), -ENOSPC);	/* it stays */
	EXPECT(umad_poll(fd, 0), 0);
	n = (int)length;
	u = calloc(1, sizeof(*u) + length);
	mad = umad_get_mad(u);
	EXPECT(umad_recv(fd, u, &n, 0), agent);
	EXPECT(n, length);
	while (same < length && mad[same] == fill)
		same++;
	EXPECT(same, length);
	free(u);
}

static void check_large(void)
{
	static const size_t lengths[] = { MAD, 2 * MAD, 4000, 32704, 32768, 40000, 5000000 };
	long mask[16 / sizeof(long)] = { 1L << UMAD_METHOD_SEND };
	uint8_t oui[3] = { 0, 0x14, 5 };
	int from = umad_open_port("sim0", 1), to = umad_open_port("sim1", 1), a, b;
	umad_port_t port;
	struct message ack;
	int n = MAD;

	umad_get_port("sim1", 1, &port);
	a = umad_register_oui(from, VENDOR_CLASS, UMAD_RMPP_VERSION, oui, NULL);
	b = umad_register_oui(to, VENDOR_CLASS, UMAD_RMPP_VERSION, oui, mask);
	EXPECT_TRUE(a >= 0 && b >= 0);
	for (unsigned i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		send_large(from, a, port.base_lid, lengths[i], (uint8_t)(i + 1));
		receive_large(to, b, lengths[i], (uint8_t)(i + 1));
	}
	EXPECT_TRUE(umad_recv(from, &ack, &n, 100) < 0 || umad_status(&ack) != 0);
	umad_release_port(&port);
	umad_close_port(from);
	umad_close_port(to);
}

/* --- threads and processes on one descriptor --- */

enum { THREADS = 4, EACH = 2000 };
static int shared_fd, shared_agent;

static void *exchange(void *arg)
{
	struct message m;

	for (int i = 0; i < EACH; i++) {
		int length = MAD;

		put_node_info(&m, (uint64_t)(uintptr_t)arg * EACH + (uint64_t)i);
		EXPECT(umad_send(shared_fd, shared_agent, &m, MAD, 1000, 0), 0);
		while (umad_recv(shared_fd, &m, &length, 1000) < 0)
			if (!EXPECT_TRUE(errno == EAGAIN))
				return NULL;
		EXPECT(umad_status(&m), 0);
	}
	return NULL;
}

static void check_sharing(void)
{
	pthread_t t[THREADS];
	int status = 1;
	pid_t pid;

	shared_fd = umad_open_port(NULL, 0);
	shared_agent = umad_register(shared_fd, UMAD_CLASS_SUBN_DIRECTED_ROUTE, 1, 0, NULL);
	EXPECT_TRUE(shared_fd >= 0 && shared_agent >= 0);
	for (uintptr_t i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, exchange, (void *)i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	EXPECT(umad_poll(shared_fd, 0), -ETIMEDOUT);
	pid = fork();
	if (pid == 0) {
		wrong = 0;
		exchange(NULL);
		_exit(wrong != 0);
	}
	waitpid(pid, &status, 0);
	EXPECT(status, 0);
	umad_close_port(shared_fd);
}

int main(void)
{
	check_devices();
	check_issm();
	check_agents();
	check_messages();
	check_large();
	check_sharing();
	return wrong != 0;
}
