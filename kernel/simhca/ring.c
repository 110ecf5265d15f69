// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Frames to and from the HCA through shared memory. */
#include <linux/log2.h>

#include "simhca.h"

#define FRAMES_AT_ONCE 256
#define DOORBELL 12		/* ivshmem's register: peer << 16 | vector */

static u32 padded(u32 length)
{
	return ALIGN(length, 8);
}

void simhca_break(struct simhca_dev *d, const char *why)
{
	if (xchg(&d->broken, true))
		return;
	dev_err(&d->pdev->dev, "%s: the HCA is given up\n", why);
	simhca_ports_break(d);
}

static void ring_doorbell(struct simhca_dev *d)
{
	iowrite32(d->hca << 16, d->registers + DOORBELL);
}

/* --- writing --- */

static void copy_in(struct simhca_ring *r, u32 at, const void *data, u32 n)
{
	u32 from = at % SIMHCA_RING_SIZE, first = min(n, SIMHCA_RING_SIZE - from);

	memcpy(r->data + from, data, first);
	memcpy(r->data, data + first, n - first);
}

bool simhca_begin(struct simhca_dev *d, struct simhca_out *out, const struct simhca_frame *f)
{
	u32 need = sizeof(*f) + padded(f->length);

	spin_lock_irqsave(&d->send_lock, out->flags);
	if (d->broken || SIMHCA_RING_SIZE - (d->written - READ_ONCE(d->to_hca->read)) < need) {
		spin_unlock_irqrestore(&d->send_lock, out->flags);
		return false;
	}
	virt_mb();		/* the room was read before it is written to */
	out->dev = d;
	out->at = d->written;
	out->end = d->written + need;
	simhca_put(out, f, sizeof(*f));
	return true;
}

void simhca_put(struct simhca_out *out, const void *data, u32 n)
{
	copy_in(out->dev->to_hca, out->at, data, n);
	out->at += n;
}

void simhca_end(struct simhca_out *out)
{
	struct simhca_dev *d = out->dev;

	d->written = out->end;
	virt_store_release(&d->to_hca->written, out->end);
	spin_unlock_irqrestore(&d->send_lock, out->flags);
	ring_doorbell(d);
}

bool simhca_send_frame(struct simhca_dev *d, const struct simhca_frame *f, const void *data)
{
	struct simhca_out out;

	if (!simhca_begin(d, &out, f))
		return false;
	simhca_put(&out, data, f->length);
	simhca_end(&out);
	return true;
}

/* --- reading --- */

static void copy_out(const struct simhca_ring *r, u32 at, void *to, u32 n)
{
	u32 from = at % SIMHCA_RING_SIZE, first = min(n, SIMHCA_RING_SIZE - from);

	memcpy(to, r->data + from, first);
	memcpy(to + first, r->data, n - first);
}

static void take_frame(struct simhca_dev *d, const struct simhca_frame *f)
{
	if (f->port < 1 || f->port > d->n_ports)
		return;
	switch (f->kind) {
	case SIMHCA_PACKET:
		simhca_take_packet(d, f->port, d->frame, f->length);
		break;
	case SIMHCA_ANSWER:
		simhca_take_answer(d, f, d->frame);
		break;
	case SIMHCA_EVENT:
		simhca_take_event(d, f);
		break;
	}
}

/* Copies the next frame out of the ring; false: there is none, or the HCA is broken. */
static bool next_frame(struct simhca_dev *d, struct simhca_frame *f)
{
	struct simhca_ring *r = d->to_driver;
	u32 read = d->read, n = virt_load_acquire(&r->written) - read;

	if (d->broken || n == 0)
		return false;
	if (n > SIMHCA_RING_SIZE || n < sizeof(*f)) {
		simhca_break(d, "the ring's counters are wrong");
		return false;
	}
	copy_out(r, read, f, sizeof(*f));
	if (f->length > SIMHCA_FRAME_MAX || sizeof(*f) + padded(f->length) > n) {
		simhca_break(d, "a frame is too long");
		return false;
	}
	copy_out(r, read + sizeof(*f), d->frame, f->length);
	d->read += sizeof(*f) + padded(f->length);
	virt_store_release(&r->read, d->read);
	if (n > SIMHCA_RING_SIZE / 2)
		ring_doorbell(d);	/* the HCA may wait for room */
	return true;
}

void simhca_receive(struct work_struct *work)
{
	struct simhca_dev *d = container_of(work, struct simhca_dev, receive_work);
	struct simhca_frame f;

	for (int i = 0; i < FRAMES_AT_ONCE; i++) {
		if (!next_frame(d, &f))
			return;
		take_frame(d, &f);
	}
	queue_work(d->wq, work);	/* others want the processor, too */
}
