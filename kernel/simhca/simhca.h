/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * simhca: Linux's driver of the HCAs of qosd-sim.
 *
 * The HCA's firmware is the simulator (qosd/sim_hca.h): it holds port states and tables, and its
 * agents answer MADs.  This driver has what a real HCA has in silicon beside these: queue pairs (SMI,
 * GSI, UD, RC), completion queues, memory regions, and the building and reading of packets.
 *
 * main.c    PCI device, registration, interrupts
 * ring.c    frames to and from the HCA
 * port.c    attributes of ports, their events, MADs for the HCA's agents
 * verbs.c   the small objects: protection domains, address handles, device attributes
 * mr.c      memory regions, scatter and gather
 * cq.c      completion queues
 * qp.c      queue pairs: their states, receive queues, multicast groups
 * packet.c  headers of packets: LRH, GRH, BTH
 * ud.c      datagrams, QP0 and QP1 included
 * rc.c      reliable connections: what both sides share, timers
 * rc_request.c, rc_response.c   the requester's and the responder's side of them
 *
 * Locks, in this order: cq->lock and dev->send_lock nest in qp->lock, qp->lock in dev->mcast_lock; all are
 * taken with interrupts off.  One work item reads all frames, so packets of the link are received one at a time;
 * multicast that is looped back is received by its sender's thread.
 */
#ifndef SIMHCA_H
#define SIMHCA_H

#include <linux/pci.h>
#if __has_include(<linux/unaligned.h>)	/* since Linux 6.12 */
#include <linux/unaligned.h>
#else
#include <asm/unaligned.h>
#endif
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <rdma/ib_mad.h>
#include <rdma/ib_pack.h>
#include <rdma/ib_smi.h>
#include <rdma/ib_verbs.h>

#include "qosd/sim_hca.h"

#define SIMHCA_SGE_MAX		32
#define SIMHCA_WR_MAX		16384
#define SIMHCA_PAYLOAD_MAX	4096
#define SIMHCA_HEADERS_MAX	(IB_LRH_BYTES + IB_GRH_BYTES + IB_BTH_BYTES + 28)
#define SIMHCA_FRAME_MAX	(SIMHCA_HEADERS_MAX + SIMHCA_PAYLOAD_MAX + 4)
#define SIMHCA_READS_MAX	16	/* RDMA reads under way at a queue pair, in each direction */
#define SIMHCA_MR_PAGES		512
#define SIMHCA_PSN_MASK		0xffffff
#define SIMHCA_LID_MULTICAST	0xc000
#define SIMHCA_LID_PERMISSIVE	0xffff
#define SIMHCA_QPN_MULTICAST	0xffffff
#define SIMHCA_ROOM_AFTER	1	/* jiffies until a full ring is looked at again */

/* Bytes of extended headers (9.3) */
#define SIMHCA_RETH_BYTES	16
#define SIMHCA_AETH_BYTES	4
#define SIMHCA_IMM_BYTES	4	/* immediate data, or IETH */

struct simhca_qp;

struct simhca_port {
	struct simhca_dev *dev;
	u8 num;
	/* What packets are made of, as it was read last; main copies are the HCA's. */
	u16 lid;
	u8 lmc;
	enum ib_port_state state;	/* as Linux was told */
	u64 gid_prefix;
	unsigned int n_pkeys, n_guids;
	u16 *pkeys;
	__be64 *guids;
	struct simhca_qp *special[2];	/* QP0, QP1 */
	unsigned long changed;		/* enum simhca_event bits that event_work has to tell of */
	struct delayed_work event_work;
};

struct simhca_dev {
	struct ib_device ibdev;
	struct pci_dev *pdev;
	void __iomem *registers;	/* ivshmem's */
	struct simhca_header *header;	/* the shared memory */
	struct simhca_ring *to_hca, *to_driver;
	u32 hca;			/* whose doorbell we ring */
	spinlock_t send_lock;		/* to_hca's writer */
	u32 written, read;		/* our counters of the rings; the HCA might change theirs */
	bool broken;			/* the HCA broke the protocol */
	struct simhca_port *ports;	/* [n_ports]; port n at n - 1 */
	bool tells;			/* Linux hears of ports' events */
	u32 n_ports;
	u32 vendor_id, device_id, revision;
	u16 pkey_cap;
	struct workqueue_struct *wq;
	struct work_struct receive_work;
	u8 *frame;			/* the frame that receive_work works on */
	struct xarray qps, mrs, calls;
	u32 next_qpn, next_mr, next_call;
	spinlock_t mcast_lock;
	struct list_head mcast;
};

struct simhca_pd {
	struct ib_pd ibpd;
};

struct simhca_ah {
	struct ib_ah ibah;
	struct rdma_ah_attr attr;
};

struct simhca_cq {
	struct ib_cq ibcq;
	struct simhca_dev *dev;
	spinlock_t lock;
	struct ib_wc *wc;		/* ring of `size` completions */
	u32 head, tail, size;
	bool armed, armed_solicited;
	struct work_struct work;
};

struct simhca_mr {
	struct ib_mr ibmr;
	u32 key;			/* in force; that of ibmr may be one that its user prepares */
	bool all;			/* any kernel address (get_dma_mr) */
	bool valid;			/* IB_WR_REG_MR was executed, and no invalidation since */
	int access;
	u32 n_pages, pages_max;
	u64 *pages;			/* kernel addresses, each of ibmr.page_size bytes */
};

struct simhca_recv {
	u64 wr_id;
	int num_sge;
	struct ib_sge sge[];		/* cap.max_recv_sge of them */
};

/* A send request of a reliable connection, from post_send() to its completion. */
struct simhca_send {
	u64 wr_id;
	enum ib_wr_opcode opcode;
	int flags;			/* IB_SEND_… */
	__be32 imm;
	u32 key;			/* rkey; of a registration or invalidation: the region's */
	u64 remote;
	struct simhca_mr *mr;		/* IB_WR_REG_MR, with its access */
	int access;
	u32 length;			/* bytes */
	u32 first_psn, last_psn;	/* set when its first packet is sent */
	u32 got;			/* RDMA read: bytes that have come */
	bool started;			/* has PSNs; a local operation: was executed */
	bool done;			/* RDMA read: all has come */
	int num_sge;
	struct ib_sge sge[];		/* cap.max_send_sge of them */
};

/*
 * The requester's side of a reliable connection (9.7.5).  Requests tail … next - 1 are sent and wait,
 * `next` is being sent, those up to head - 1 follow.  acked_psn <= psn <= sent_psn: the oldest packet
 * that is not acknowledged, the next to be sent, and the end of what was ever sent.
 */
struct simhca_requester {
	u8 *queue;			/* ring of send requests, `stride` bytes each */
	u32 head, tail, next, size, stride;
	u32 offset;			/* bytes of `next` that were sent */
	u32 acked_psn, psn, sent_psn;
	unsigned int retries, rnr_retries;	/* since something was acknowledged */
	struct delayed_work timer;
	unsigned long deadline;		/* jiffies at which the timer is due, if it runs */
	bool waits;			/* for the timer: after an RNR NAK, or for room in the ring */
	bool repeating;			/* a gap in read responses was answered by a new request */
};

struct simhca_read {			/* an RDMA read that is being answered */
	u32 psn, length, done, key;
	u64 address;
	bool again;			/* it was answered before, at least in part */
};

enum simhca_message { SIMHCA_BETWEEN, SIMHCA_IN_SEND, SIMHCA_IN_WRITE };

/* The responder's side (9.7.4). */
struct simhca_responder {
	u32 psn;			/* expected */
	u32 msn;
	bool established;		/* a request has come */
	bool nak_sent;			/* for the gap before psn */
	enum simhca_message message;	/* what the next packet goes on with */
	struct simhca_recv *recv;	/* the receive request of the SEND under way */
	enum ib_wc_status recv_status;	/* with which it ends if the connection does; 0: flushed */
	u32 offset;			/* bytes of it that have come */
	u64 address;			/* the RDMA write under way: where the next byte goes */
	u32 key, left;
	struct simhca_read reads[SIMHCA_READS_MAX];	/* ring */
	u32 read_head, read_tail;
	bool due;			/* an acknowledgement, once the reads before it are answered */
	u32 due_psn;
	u8 due_syndrome;
	bool refused;			/* it is a NAK that ends the connection */
	struct delayed_work work;	/* goes on with answers that found no room */
};

struct simhca_qp {
	struct ib_qp ibqp;
	struct simhca_dev *dev;
	spinlock_t lock;
	enum ib_qp_state state;
	struct ib_qp_cap cap;
	bool all_signaled, no_loopback;
	u8 port;
	u32 qkey;
	u16 pkey_index;
	u32 psn;			/* datagrams: of the next packet */
	/*
	 * Ring of receive requests, recv_stride bytes each.  It has one more than may wait: the one that
	 * was taken last stays as it is until the next is taken.
	 */
	u8 *recv_queue;
	u32 recv_head, recv_tail, recv_size, recv_stride;
	/* reliable connections */
	struct ib_qp_attr attr;		/* as modify_qp() left it */
	u8 *buffer;			/* payload of the packet that is being made */
	struct simhca_requester req;
	struct simhca_responder resp;
};

/* A packet's headers, decoded or to be made; see packet.c. */
struct simhca_packet {
	u8 sl;
	u16 dlid, slid;
	bool grh;
	u8 traffic_class, hop_limit;
	u32 flow_label;
	union ib_gid sgid, dgid;
	u8 opcode, pad;
	bool solicited, ack_req;
	u16 pkey;
	u32 qpn, psn;
	/* of a received packet: */
	const u8 *raw;			/* the whole of it */
	u32 raw_length;
	const u8 *grh_bytes;		/* NULL: none */
	const u8 *data;			/* behind the BTH: extended headers and payload without padding */
	u32 length;
};

static inline struct simhca_dev *to_dev(struct ib_device *d)
{
	return container_of(d, struct simhca_dev, ibdev);
}

static inline struct simhca_qp *to_qp(struct ib_qp *q)
{
	return container_of(q, struct simhca_qp, ibqp);
}

static inline struct simhca_cq *to_cq(struct ib_cq *c)
{
	return container_of(c, struct simhca_cq, ibcq);
}

static inline struct simhca_ah *to_ah(struct ib_ah *a)
{
	return container_of(a, struct simhca_ah, ibah);
}

static inline struct simhca_mr *to_mr(struct ib_mr *m)
{
	return container_of(m, struct simhca_mr, ibmr);
}

static inline struct simhca_port *port_of(struct simhca_dev *d, u32 num)
{
	return &d->ports[num - 1];
}

/* --- ring.c --- */

struct simhca_out {			/* a frame that is being written */
	struct simhca_dev *dev;
	unsigned long flags;
	u32 at, end;
};

/*
 * Begins a frame of `length` bytes and takes send_lock; false, without the lock, if the ring has no room
 * or the HCA is broken.  simhca_put() then fills it, and simhca_end() sends it and releases the lock.
 */
bool simhca_begin(struct simhca_dev *d, struct simhca_out *out, const struct simhca_frame *f);
void simhca_put(struct simhca_out *out, const void *data, u32 n);
void simhca_end(struct simhca_out *out);
/* A whole frame; false like simhca_begin(). */
bool simhca_send_frame(struct simhca_dev *d, const struct simhca_frame *f, const void *data);
/* Reads all frames and handles them. */
void simhca_receive(struct work_struct *work);
/* Says once what is wrong; from then on nothing is sent, received or waited for.  Linux hears of it. */
void simhca_break(struct simhca_dev *d, const char *why);

/* --- port.c --- */

void simhca_ports_prepare(struct simhca_dev *d);
/* Reads NodeInfo and all ports' tables, after SIMHCA_START.  0 or -errno. */
int simhca_ports_read(struct simhca_dev *d);
/* Whether Linux, which must know the device, hears of events; those that came before wait. */
void simhca_ports_tell(struct simhca_dev *d, bool tell);
void simhca_ports_free(struct simhca_dev *d);
/* Ends all waits for answers, and tells Linux that the device has failed. */
void simhca_ports_break(struct simhca_dev *d);
/* A whole frame; waits while the ring is full.  0, or -EIO. */
int simhca_send_patiently(struct simhca_dev *d, const struct simhca_frame *f, const void *data);
void simhca_take_answer(struct simhca_dev *d, const struct simhca_frame *f, const u8 *data);
void simhca_take_event(struct simhca_dev *d, const struct simhca_frame *f);
/* The P_Key at an index of the port's table; 0 beyond its end. */
u16 simhca_pkey(const struct simhca_port *p, unsigned int index);
/* Whether two P_Keys match (10.9.3): the same partition, and not two limited members. */
static inline bool simhca_pkeys_match(u16 a, u16 b)
{
	return ((a ^ b) & 0x7fff) == 0 && ((a | b) & 0x8000);
}
/*
 * Index of a P_Key that matches.  There is one, because the HCA has let the packet pass, unless the table has
 * just changed: 0 then.
 */
u16 simhca_pkey_index(const struct simhca_port *p, u16 pkey);
int simhca_process_mad(struct ib_device *ibdev, int flags, u32 port, const struct ib_wc *wc,
		       const struct ib_grh *grh, const struct ib_mad *in, struct ib_mad *out,
		       size_t *out_size, u16 *out_pkey);
int simhca_query_port(struct ib_device *ibdev, u32 port, struct ib_port_attr *a);
int simhca_modify_port(struct ib_device *ibdev, u32 port, int mask, struct ib_port_modify *m);
int simhca_port_immutable(struct ib_device *ibdev, u32 port, struct ib_port_immutable *im);
int simhca_query_gid(struct ib_device *ibdev, u32 port, int index, union ib_gid *gid);
int simhca_query_pkey(struct ib_device *ibdev, u32 port, u16 index, u16 *pkey);

/* --- verbs.c --- */

extern const struct ib_device_ops simhca_verbs_ops;

/* --- mr.c --- */

extern const struct ib_device_ops simhca_mr_ops;
/*
 * All of these know the regions of the queue pair's protection domain only.  simhca_mr_register() and
 * simhca_mr_invalidate() execute IB_WR_REG_MR and IB_WR_LOCAL_INV, the latter also for a SEND with invalidate.
 */
void simhca_mr_register(struct simhca_mr *mr, u32 key, int access);
bool simhca_mr_invalidate(struct simhca_qp *qp, u32 key);
/* Whether the key allows a peer that access (IB_ACCESS_REMOTE_… bits) to the bytes. */
bool simhca_mr_allows(struct simhca_qp *qp, u32 key, u64 address, u32 length, int access);
/* Copies to (write) or from a region; false: it is not there, or ends before. */
bool simhca_mr_copy(struct simhca_qp *qp, u32 key, u64 address, void *data, u32 length, bool write);
/* Copies n bytes from `offset` of what the list scatters; false if the list is too short or a key bad. */
bool simhca_gather(struct simhca_qp *qp, const struct ib_sge *sge, int num, u32 offset, void *to, u32 n);
bool simhca_scatter(struct simhca_qp *qp, const struct ib_sge *sge, int num, u32 offset,
		    const void *from, u32 n);
u32 simhca_sge_length(const struct ib_sge *sge, int num);

/* --- cq.c --- */

extern const struct ib_device_ops simhca_cq_ops;
void simhca_complete(struct simhca_cq *cq, const struct ib_wc *wc, bool solicited);

/* --- qp.c --- */

extern const struct ib_device_ops simhca_qp_ops;
/* The queue pair of that number at the port; NULL: none. */
struct simhca_qp *simhca_find_qp(struct simhca_dev *d, u32 port, u32 qpn);
/* The next receive request, taken off the queue; NULL: none.  Under qp->lock. */
struct simhca_recv *simhca_take_recv(struct simhca_qp *qp);
/* Puts the queue pair into the error state and flushes both queues (10.3.1).  Under qp->lock. */
void simhca_qp_error(struct simhca_qp *qp);
/* Hands a packet to each member of its group but one (0: to all).  Takes mcast_lock and their locks. */
void simhca_to_group(struct simhca_dev *d, u32 port, const struct simhca_packet *p, u32 but_qpn);

/* --- packet.c --- */

static inline bool simhca_is_multicast(const struct simhca_packet *p)
{
	return p->dlid >= SIMHCA_LID_MULTICAST && p->dlid != SIMHCA_LID_PERMISSIVE;
}

/* Fills in what an address vector says of a packet that leaves by its port. */
void simhca_address(struct simhca_dev *d, const struct rdma_ah_attr *ah, struct simhca_packet *p);
/* Bytes of LRH, GRH and BTH of a packet with that many bytes behind the BTH, written to out. */
u32 simhca_write_headers(const struct simhca_packet *p, u32 length, bool smi, u8 *out);
/* Decodes a packet; false: it is malformed. */
bool simhca_read_packet(const u8 *raw, u32 length, struct simhca_packet *p);
/* Begins a packet's frame with its headers; `length` as for simhca_write_headers(), without padding. */
bool simhca_begin_packet(struct simhca_dev *d, u32 port, struct simhca_packet *p, u32 length,
			 struct simhca_out *out);
void simhca_end_packet(struct simhca_out *out);
/* A packet from the HCA. */
void simhca_take_packet(struct simhca_dev *d, u32 port, const u8 *raw, u32 length);

/* --- ud.c --- */

int simhca_ud_send(struct simhca_qp *qp, const struct ib_send_wr *wr);
void simhca_ud_receive(struct simhca_qp *qp, const struct simhca_packet *p);

/* --- rc.c: what both sides use; all under qp->lock unless stated --- */

/* Classes of AETH syndromes, in its upper three bits, and codes of NAKs (9.7.5.2.8) */
enum { AETH_ACK = 0, AETH_RNR_NAK = 1, AETH_NAK = 3 };
enum { NAK_SEQUENCE, NAK_INVALID_REQUEST, NAK_REMOTE_ACCESS, NAK_REMOTE_OPERATION };
#define AETH_NO_CREDITS 0x1f

/* a - b as PSNs, between -2^23 and 2^23 - 1 (9.7.2). */
static inline s32 psn_after(u32 a, u32 b)
{
	return (s32)((a - b) << 8) >> 8;
}

static inline u32 psn_add(u32 psn, u32 n)
{
	return (psn + n) & SIMHCA_PSN_MASK;
}

int simhca_rc_init(struct simhca_qp *qp);	/* without lock, like the next */
void simhca_rc_free(struct simhca_qp *qp);
void simhca_rc_modified(struct simhca_qp *qp, int mask);
void simhca_rc_reset(struct simhca_qp *qp);
/* Takes the lock. */
void simhca_rc_receive(struct simhca_qp *qp, const struct simhca_packet *p);
u32 simhca_rc_mtu(const struct simhca_qp *qp);
/* Packets of a message of that length; at least 1. */
u32 simhca_rc_packets(const struct simhca_qp *qp, u32 length);
/* Sends a packet: extended headers, then payload.  False: there is no room.  A broken HCA loses it. */
bool simhca_rc_send(struct simhca_qp *qp, u8 opcode, u32 psn, bool ack_req, bool solicited,
		    const void *extended, u32 n_extended, const void *payload, u32 n);

/* --- rc_request.c; all under qp->lock, but for the timer --- */

/* Queues a request; 0 or -errno. */
int simhca_rc_post(struct simhca_qp *qp, const struct ib_send_wr *wr);
/* Sends what may be sent. */
void simhca_rc_transmit(struct simhca_qp *qp);
void simhca_rc_take_ack(struct simhca_qp *qp, const struct simhca_packet *p);
void simhca_rc_take_read_response(struct simhca_qp *qp, const struct simhca_packet *p);
void simhca_rc_timer(struct work_struct *work);
/* Completes all send requests as flushed, the oldest one with a status of its own. */
void simhca_rc_flush(struct simhca_qp *qp, enum ib_wc_status first);

/* --- rc_response.c; under qp->lock, but for the work --- */

/* True: it is the first one, and the queue pair's user is to be told that its peer sends. */
bool simhca_rc_take_request(struct simhca_qp *qp, const struct simhca_packet *p);
void simhca_rc_answer_reads(struct work_struct *work);

#endif
