/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Opens umad ports and registers their agents.
 *
 * Return values and errno are those of libibumad over the kernel's umad device.  A struct umad_file
 * is made when its descriptor is first used for a port, and stays for the next port with that
 * number, so that look-ups need no lock.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "preload.h"

#define OPENIB_OUI	0x001405u	/* libibumad's default */

enum { BLOCK = 1024, BLOCKS = 1024 };
static struct umad_file *_Atomic *_Atomic blocks[BLOCKS];
static pthread_mutex_t blocks_lock = PTHREAD_MUTEX_INITIALIZER;

struct umad_file *umad_file_of(int fd)
{
	struct umad_file *_Atomic *b;

	if (fd < 0 || fd >= BLOCK * BLOCKS)
		return NULL;
	b = atomic_load_explicit(&blocks[fd / BLOCK], memory_order_acquire);
	return b ? atomic_load_explicit(&b[fd % BLOCK], memory_order_acquire) : NULL;
}

static struct umad_file *make_file(int fd)
{
	struct umad_file *_Atomic *b;
	struct umad_file *f = NULL;

	if (fd >= BLOCK * BLOCKS)
		return NULL;
	pthread_mutex_lock(&blocks_lock);
	b = atomic_load(&blocks[fd / BLOCK]);
	if (!b) {
		b = calloc(BLOCK, sizeof(*b));
		atomic_store(&blocks[fd / BLOCK], b);
	}
	if (b) {
		f = atomic_load(&b[fd % BLOCK]);
		if (!f) {
			f = calloc(1, sizeof(*f));
			if (f)
				pthread_mutex_init(&f->reading, NULL);
			atomic_store(&b[fd % BLOCK], f);
		}
	}
	pthread_mutex_unlock(&blocks_lock);
	return f;
}

/* After fork(): no thread is left to release locks that other threads held. */
static void unlock_all(void)
{
	pthread_mutex_init(&blocks_lock, NULL);
	for (int i = 0; i < BLOCK * BLOCKS; i += BLOCK) {
		if (!atomic_load(&blocks[i / BLOCK]))
			continue;
		for (int fd = i; fd < i + BLOCK; fd++)
			if (umad_file_of(fd))
				pthread_mutex_init(&umad_file_of(fd)->reading, NULL);
	}
}

__attribute__((constructor)) static void watch_forks(void)
{
	pthread_atfork(NULL, NULL, unlock_all);
}

int umad_init(void)
{
	return 0;
}

int umad_done(void)
{
	return 0;
}

static int open_port(const char *name, int portnum, bool smi)
{
	struct sim_answer a;
	struct umad_file *f;
	unsigned ca, port;
	int fd, flags;

	if (resolve_port(name, portnum, smi, &ca, &port))
		return -ENODEV;
	fd = sim_connect(SIM_UMAD, ca, port, &a);
	if (fd < 0)
		return fd == -EINVAL ? fd : -EIO;
	/* like the device's descriptor: non-blocking, and not closed by exec */
	flags = fcntl(fd, F_GETFL);
	f = make_file(fd);
	if (!f || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0 || fcntl(fd, F_SETFD, 0) < 0) {
		close(fd);
		return -EIO;
	}
	f->number = a.file;
	f->announced = 0;
	atomic_store(&f->agents, 0);
	return fd;
}

int umad_open_port(const char *name, int portnum)
{
	return open_port(name, portnum, false);
}

/* In newer versions of libibumad: opens a port with subnet management. */
int umad_open_smi_port(const char *name, int portnum);
int umad_open_smi_port(const char *name, int portnum)
{
	return open_port(name, portnum, true);
}

int umad_close_port(int fd)
{
	close(fd);
	return 0;
}

int umad_get_fd(int fd)
{
	return fd;
}

/* --- messages: libibumad's own functions might assume the kernel's old format --- */

size_t umad_size(void)
{
	return sizeof(struct ib_user_mad);
}

void *umad_get_mad(void *umad)
{
	return ((struct ib_user_mad *)umad)->data;
}

int umad_set_pkey(void *umad, int pkey_index)
{
	((struct ib_user_mad *)umad)->addr.pkey_index = (uint16_t)pkey_index;
	return 0;
}

int umad_get_pkey(void *umad)
{
	return ((struct ib_user_mad *)umad)->addr.pkey_index;
}

/* --- agents --- */

/* Returns the agent's id, or a negative errno. */
static int register_agent(int fd, struct sim_ask *q)
{
	struct umad_file *f = umad_file_of(fd);
	struct sim_answer a;
	int r;

	if (!f)
		return -EBADF;
	q->question = SIM_ASK_REGISTER;
	q->file = f->number;
	r = sim_ask(q, &a);
	if (r)
		return r;
	atomic_fetch_or(&f->agents, 1u << (a.agent % AGENTS_MAX));
	return (int)a.agent;
}

static int register_or_eperm(int fd, struct sim_ask *q, const long *mask)
{
	int r;

	if (mask)
		memcpy(q->method_mask, mask, sizeof(q->method_mask));
	r = register_agent(fd, q);
	if (r >= 0)
		return r;
	errno = -r;
	return -EPERM;
}

int umad_register(int fd, int mgmt_class, int mgmt_version, uint8_t rmpp_version,
		  long method_mask[16 / sizeof(long)])
{
	struct sim_ask q = {
		.mgmt_class = (uint8_t)mgmt_class, .class_version = (uint8_t)mgmt_version,
		.rmpp_version = rmpp_version, .oui = OPENIB_OUI,
	};
	return register_or_eperm(fd, &q, method_mask);
}

static bool has_oui(unsigned mgmt_class)
{
	return mgmt_class >= 0x30 && mgmt_class <= 0x4f;
}

int umad_register_oui(int fd, int mgmt_class, uint8_t rmpp_version, uint8_t oui[3],
		      long method_mask[16 / sizeof(long)])
{
	struct sim_ask q = {
		.mgmt_class = (uint8_t)mgmt_class, .class_version = 1,
		.rmpp_version = rmpp_version,
	};

	if (mgmt_class < 0 || !has_oui((unsigned)mgmt_class))
		return -EINVAL;
	q.oui = (uint32_t)oui[0] << 16 | (uint32_t)oui[1] << 8 | oui[2];
	return register_or_eperm(fd, &q, method_mask);
}

int umad_register2(int fd, struct umad_reg_attr *attr, uint32_t *agent_id)
{
	struct sim_ask q;
	int r;

	if (!attr || !agent_id)
		return EINVAL;
	if (has_oui(attr->mgmt_class) && (!(attr->oui & 0xffffff) || attr->oui >> 24))
		return EINVAL;
	if (attr->flags & ~(uint32_t)UMAD_USER_RMPP) {
		attr->flags = UMAD_USER_RMPP;	/* reports the supported flags */
		return EINVAL;
	}
	q = (struct sim_ask){
		.mgmt_class = attr->mgmt_class, .class_version = attr->mgmt_class_version,
		.rmpp_version = attr->rmpp_version, .oui = attr->oui,
		.user_rmpp = attr->flags & UMAD_USER_RMPP,
		.method_mask = { attr->method_mask[0], attr->method_mask[1] },
	};
	r = register_agent(fd, &q);
	if (r < 0)
		return -r;
	*agent_id = (uint32_t)r;
	return 0;
}

int umad_unregister(int fd, int agentid)
{
	struct umad_file *f = umad_file_of(fd);
	struct sim_ask q = { .question = SIM_ASK_UNREGISTER, .agent = (uint32_t)agentid };
	struct sim_answer a;
	int r;

	if (!f) {
		errno = EBADF;
		return -1;
	}
	q.file = f->number;
	r = sim_ask(&q, &a);
	if (r) {
		errno = -r;
		return -1;
	}
	atomic_fetch_and(&f->agents, ~(1u << (agentid % AGENTS_MAX)));
	return 0;
}
