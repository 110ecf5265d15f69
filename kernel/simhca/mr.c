// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Memory regions of the kernel's own users, and copies to and from what scatter lists name.
 *
 * The device has no DMA address space of its own (ib_register_device() without one), so a "DMA address" is
 * a kernel pointer, and local_dma_lkey, 0, means just that.  A key is a region's number in the upper 24
 * bits and a part that its user changes (ib_update_fast_reg_key()).  Users of the kernel do not free a
 * region while a queue pair uses it.
 */
#include "simhca.h"

static struct simhca_mr *find(const struct simhca_qp *qp, u32 key)
{
	struct simhca_mr *mr = xa_load(&qp->dev->mrs, key >> 8);

	if (!mr || mr->key != key || mr->ibmr.pd != qp->ibqp.pd)
		return NULL;
	return mr->all || READ_ONCE(mr->valid) ? mr : NULL;
}

static struct simhca_mr *new_mr(struct simhca_dev *d, u32 pages)
{
	struct simhca_mr *mr = kzalloc(sizeof(*mr), GFP_KERNEL);
	u32 number;

	if (!mr)
		return NULL;
	mr->pages_max = pages;
	mr->pages = kvcalloc(max(pages, 1u), sizeof(*mr->pages), GFP_KERNEL);
	if (!mr->pages || xa_alloc_cyclic(&d->mrs, &number, mr, XA_LIMIT(1, 0xffffff), &d->next_mr,
					  GFP_KERNEL) < 0) {
		kvfree(mr->pages);
		kfree(mr);
		return NULL;
	}
	mr->key = mr->ibmr.lkey = mr->ibmr.rkey = number << 8;
	return mr;
}

static struct ib_mr *get_dma_mr(struct ib_pd *pd, int access)
{
	struct simhca_mr *mr = new_mr(to_dev(pd->device), 0);

	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->all = true;
	mr->access = access;
	return &mr->ibmr;
}

static struct ib_mr *alloc_mr(struct ib_pd *pd, enum ib_mr_type type, u32 pages)
{
	struct simhca_mr *mr;

	if (type != IB_MR_TYPE_MEM_REG || pages > SIMHCA_MR_PAGES)
		return ERR_PTR(-EINVAL);
	mr = new_mr(to_dev(pd->device), pages);
	return mr ? &mr->ibmr : ERR_PTR(-ENOMEM);
}

static int dereg_mr(struct ib_mr *ibmr, struct ib_udata *u)
{
	struct simhca_mr *mr = to_mr(ibmr);

	xa_erase(&to_dev(ibmr->device)->mrs, ibmr->lkey >> 8);
	synchronize_rcu();
	kvfree(mr->pages);
	kfree(mr);
	return 0;
}

static struct ib_mr *reg_user_mr(struct ib_pd *pd, u64 start, u64 length, u64 address, int access,
				 struct ib_udata *u)
{
	return ERR_PTR(-EOPNOTSUPP);	/* there are no verbs for programs */
}

static int set_page(struct ib_mr *ibmr, u64 address)
{
	struct simhca_mr *mr = to_mr(ibmr);

	if (mr->n_pages == mr->pages_max)
		return -ENOMEM;
	mr->pages[mr->n_pages++] = address;
	return 0;
}

static int map_mr_sg(struct ib_mr *ibmr, struct scatterlist *sg, int n, unsigned int *offset)
{
	to_mr(ibmr)->n_pages = 0;
	return ib_sg_to_pages(ibmr, sg, n, offset, set_page);
}

void simhca_mr_register(struct simhca_mr *mr, u32 key, int access)
{
	mr->key = mr->ibmr.lkey = mr->ibmr.rkey = key;
	mr->access = access;
	WRITE_ONCE(mr->valid, true);
}

bool simhca_mr_invalidate(struct simhca_qp *qp, u32 key)
{
	struct simhca_mr *mr = find(qp, key);

	if (!mr || mr->all)
		return false;
	WRITE_ONCE(mr->valid, false);
	return true;
}

bool simhca_mr_allows(struct simhca_qp *qp, u32 key, u64 address, u32 length, int access)
{
	struct simhca_mr *mr;
	bool ok;

	rcu_read_lock();
	mr = find(qp, key);
	ok = mr && (mr->access & access) == access;
	if (ok && !mr->all)
		ok = address >= mr->ibmr.iova && length <= mr->ibmr.length &&
		     address - mr->ibmr.iova <= mr->ibmr.length - length;
	rcu_read_unlock();
	return ok;
}

/* Where a byte of the region is, and how many follow it without a gap. */
static void *locate(const struct simhca_mr *mr, u64 address, u32 *run)
{
	u64 size = mr->ibmr.page_size, first, at;

	if (mr->all)
		return (void *)(uintptr_t)address;
	first = mr->ibmr.iova & ~(size - 1);
	at = address - first;
	if (at / size >= mr->n_pages)
		return NULL;
	*run = min_t(u64, *run, size - at % size);
	return (void *)(uintptr_t)(mr->pages[at / size] + at % size);
}

static bool copy_region(const struct simhca_mr *mr, u64 address, u8 *data, u32 length, bool write)
{
	while (length) {
		u32 run = length;
		void *at = locate(mr, address, &run);

		if (!at)
			return false;
		if (write)
			memcpy(at, data, run);
		else
			memcpy(data, at, run);
		address += run;
		data += run;
		length -= run;
	}
	return true;
}

bool simhca_mr_copy(struct simhca_qp *qp, u32 key, u64 address, void *data, u32 length, bool write)
{
	struct simhca_mr *mr;
	bool ok;

	rcu_read_lock();
	mr = find(qp, key);
	ok = mr && copy_region(mr, address, data, length, write);
	rcu_read_unlock();
	return ok;
}

/* --- scatter and gather --- */

static bool copy_element(struct simhca_qp *qp, const struct ib_sge *s, u32 offset, void *data, u32 n,
			 bool write)
{
	void *at = (void *)(uintptr_t)(s->addr + offset);

	if (s->lkey != qp->dev->ibdev.local_dma_lkey)
		return simhca_mr_copy(qp, s->lkey, s->addr + offset, data, n, write);
	if (write)
		memcpy(at, data, n);
	else
		memcpy(data, at, n);
	return true;
}

static bool copy_list(struct simhca_qp *qp, const struct ib_sge *sge, int num, u32 offset, u8 *data,
		      u32 n, bool write)
{
	for (int i = 0; i < num && n; i++) {
		u32 run;

		if (offset >= sge[i].length) {
			offset -= sge[i].length;
			continue;
		}
		run = min(n, sge[i].length - offset);
		if (!copy_element(qp, &sge[i], offset, data, run, write))
			return false;
		offset = 0;
		data += run;
		n -= run;
	}
	return n == 0;
}

bool simhca_gather(struct simhca_qp *qp, const struct ib_sge *sge, int num, u32 offset, void *to, u32 n)
{
	return copy_list(qp, sge, num, offset, to, n, false);
}

bool simhca_scatter(struct simhca_qp *qp, const struct ib_sge *sge, int num, u32 offset,
		    const void *from, u32 n)
{
	return copy_list(qp, sge, num, offset, (void *)from, n, true);
}

u32 simhca_sge_length(const struct ib_sge *sge, int num)
{
	u32 n = 0;

	for (int i = 0; i < num; i++)
		n += sge[i].length;
	return n;
}

const struct ib_device_ops simhca_mr_ops = {
	.get_dma_mr = get_dma_mr,
	.alloc_mr = alloc_mr,
	.dereg_mr = dereg_mr,
	.map_mr_sg = map_mr_sg,
	.reg_user_mr = reg_user_mr,
};
