/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Asks Linux's RDMA connection manager for the path to an IPv4 address, as rdma_resolve_addr() and
 * rdma_resolve_route() do:
 *
 *	cmroute [-t TOS] [-p PORT] ADDRESS...
 *
 * PORT (default 1) becomes the low 16 bits of the Service-ID 0x0000000001060000 (IBA annex A11), TOS,
 * if it is given, the QoS class.  Prints a line for each address: "ADDRESS slid=N dlid=N pkey=0x… sl=N
 * mtu=N rate=N lifetime=N" (codes of PathRecord), or "ADDRESS no address: ERROR" or "ADDRESS no route:
 * ERROR".
 *
 * librdmacm would want a device with verbs for programs, so this program speaks to the kernel itself.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rdma/rdma_user_cm.h>

#include "lib/base/bytes.h"

#define DEVICE "/dev/infiniband/rdma_cm"
#define TIMEOUT_MS 10000
#define QP_TYPE_RC 2

/* Events (rdma_cm_event_type), which no installed header of the kernel has */
enum { EVENT_ADDR_RESOLVED = 0, EVENT_ROUTE_RESOLVED = 2 };

/* PathRecord (15.2.5.16): offsets of bytes */
enum { PATH_DLID = 40, PATH_SLID = 42, PATH_PKEY = 50, PATH_SL = 52, PATH_MTU = 54, PATH_RATE, PATH_LIFETIME };

static int fd;

static void die(const char *what)
{
	fprintf(stderr, "cmroute: %s: %s\n", what, strerror(errno));
	exit(2);
}

/* Performs a command; false with errno. */
static bool command(uint32_t number, const void *in, size_t n, size_t n_out)
{
	struct rdma_ucm_cmd_hdr h = { .cmd = number, .in = (uint16_t)n, .out = (uint16_t)n_out };
	char message[sizeof(h) + 512];

	memcpy(message, &h, sizeof(h));
	memcpy(message + sizeof(h), in, n);
	return write(fd, message, sizeof(h) + n) >= 0;
}

static uint32_t create_id(void)
{
	struct rdma_ucm_create_id_resp answer = { 0 };
	struct rdma_ucm_create_id q = {
		.response = (uintptr_t)&answer, .ps = RDMA_PS_TCP, .qp_type = QP_TYPE_RC,
		.uid = 1,	/* there are no events for 0 */
	};

	if (!command(RDMA_USER_CM_CMD_CREATE_ID, &q, sizeof(q), sizeof(answer)))
		die("create id");
	return answer.id;
}

static void destroy_id(uint32_t id)
{
	struct rdma_ucm_destroy_id_resp answer;
	struct rdma_ucm_destroy_id q = { .response = (uintptr_t)&answer, .id = id };

	command(RDMA_USER_CM_CMD_DESTROY_ID, &q, sizeof(q), sizeof(answer));
}

static void set_tos(uint32_t id, uint8_t tos)
{
	struct rdma_ucm_set_option q = {
		.optval = (uintptr_t)&tos, .id = id, .level = RDMA_OPTION_ID,
		.optname = RDMA_OPTION_ID_TOS, .optlen = sizeof(tos),
	};

	if (!command(RDMA_USER_CM_CMD_SET_OPTION, &q, sizeof(q), 0))
		die("set TOS");
}

/* Waits for the id's next event, and returns 0 if it is `wanted`, else its error. */
static int await(uint32_t wanted)
{
	struct rdma_ucm_event_resp answer = { 0 };
	struct rdma_ucm_get_event q = { .response = (uintptr_t)&answer };

	if (!command(RDMA_USER_CM_CMD_GET_EVENT, &q, sizeof(q), sizeof(answer)))
		die("get event");
	if (answer.event == wanted)
		return 0;
	return answer.status ? abs((int)answer.status) : EPROTO;
}

static int resolve_address(uint32_t id, struct in_addr to, uint16_t port)
{
	struct rdma_ucm_resolve_ip q = { .id = id, .timeout_ms = TIMEOUT_MS };
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr = to, .sin_port = htons(port) };

	memcpy(&q.dst_addr, &a, sizeof(a));
	if (!command(RDMA_USER_CM_CMD_RESOLVE_IP, &q, sizeof(q), 0))
		return errno;
	return await(EVENT_ADDR_RESOLVED);
}

static int resolve_route(uint32_t id)
{
	struct rdma_ucm_resolve_route q = { .id = id, .timeout_ms = TIMEOUT_MS };

	if (!command(RDMA_USER_CM_CMD_RESOLVE_ROUTE, &q, sizeof(q), 0))
		return errno;
	return await(EVENT_ROUTE_RESOLVED);
}

static void print_path(uint32_t id, const char *to)
{
	size_t size = sizeof(struct rdma_ucm_query_path_resp) + sizeof(struct ib_path_rec_data);	/* one path */
	struct rdma_ucm_query_path_resp *answer = calloc(1, size);
	struct rdma_ucm_query q = {
		.response = (uintptr_t)answer, .id = id, .option = RDMA_USER_CM_QUERY_PATH,
	};
	const uint8_t *p;

	if (!answer)
		die("memory");
	p = (const uint8_t *)answer->path_data[0].path_rec;
	if (!command(RDMA_USER_CM_CMD_QUERY, &q, sizeof(q), size))
		die("query path");
	printf("%s slid=%u dlid=%u pkey=0x%04x sl=%u mtu=%u rate=%u lifetime=%u\n", to, get_be16(p + PATH_SLID),
	       get_be16(p + PATH_DLID), get_be16(p + PATH_PKEY), p[PATH_SL + 1] & 15, p[PATH_MTU] & 63,
	       p[PATH_RATE] & 63, p[PATH_LIFETIME] & 63);
	free(answer);
}

static void ask(const char *to, int tos, uint16_t port)
{
	struct in_addr a;
	uint32_t id;
	int error;

	if (inet_pton(AF_INET, to, &a) != 1) {
		errno = EINVAL;
		die(to);
	}
	id = create_id();
	if (tos >= 0)
		set_tos(id, (uint8_t)tos);
	if ((error = resolve_address(id, a, port)))
		printf("%s no address: %s\n", to, strerror(error));
	else if ((error = resolve_route(id)))
		printf("%s no route: %s\n", to, strerror(error));
	else
		print_path(id, to);
	destroy_id(id);
}

int main(int argc, char **argv)
{
	int opt, tos = -1, port = 1;

	while ((opt = getopt(argc, argv, "t:p:")) != -1) {
		switch (opt) {
		case 't': tos = atoi(optarg); break;
		case 'p': port = atoi(optarg); break;
		default: return 2;
		}
	}
	fd = open(DEVICE, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		die(DEVICE);
	for (; optind < argc; optind++)
		ask(argv[optind], tos, (uint16_t)port);
	return 0;
}
