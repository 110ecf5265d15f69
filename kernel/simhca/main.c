// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The PCI device: finds the HCA behind QEMU's ivshmem, registers it with Linux, and takes it away again. */
#include <linux/io.h>
#include <linux/module.h>
#include <linux/random.h>

#include "simhca.h"

#define IVSHMEM_VENDOR 0x1af4
#define IVSHMEM_DEVICE 0x1110
#define REGISTERS_BAR 0
#define MEMORY_BAR 2

static irqreturn_t on_interrupt(int irq, void *arg)
{
	struct simhca_dev *d = arg;

	queue_work(d->wq, &d->receive_work);
	return IRQ_HANDLED;
}

static int map_memory(struct simhca_dev *d)
{
	struct pci_dev *pdev = d->pdev;
	u8 *memory;
	int r = pcim_iomap_regions(pdev, BIT(REGISTERS_BAR), KBUILD_MODNAME);

	if (r)
		return r;
	d->registers = pcim_iomap_table(pdev)[REGISTERS_BAR];
	if (pci_resource_len(pdev, MEMORY_BAR) < SIMHCA_MEMORY)
		return -ENODEV;
	memory = devm_memremap(&pdev->dev, pci_resource_start(pdev, MEMORY_BAR), SIMHCA_MEMORY, MEMREMAP_WB);
	if (IS_ERR(memory))
		return PTR_ERR(memory);
	d->header = (struct simhca_header *)memory;
	d->to_hca = (struct simhca_ring *)(memory + SIMHCA_TO_HCA);
	d->to_driver = (struct simhca_ring *)(memory + SIMHCA_TO_DRIVER);
	return 0;
}

/* Whether the memory is an HCA's; ivshmem devices serve others, too. */
static int read_header(struct simhca_dev *d)
{
	const struct simhca_header *h = d->header;

	if (h->magic != SIMHCA_MAGIC)
		return -ENODEV;
	if (h->version != SIMHCA_VERSION) {
		dev_err(&d->pdev->dev, "the HCA is of version %u, the driver of %u\n", h->version,
			SIMHCA_VERSION);
		return -ENODEV;
	}
	d->hca = h->hca;
	d->n_ports = READ_ONCE(h->n_ports);
	if (d->n_ports < 1 || d->n_ports > SIMHCA_PORTS_MAX)
		return -ENODEV;
	d->ports = devm_kcalloc(&d->pdev->dev, d->n_ports, sizeof(*d->ports), GFP_KERNEL);
	d->frame = devm_kmalloc(&d->pdev->dev, SIMHCA_FRAME_MAX, GFP_KERNEL);
	if (!d->ports || !d->frame)
		return -ENOMEM;
	simhca_ports_prepare(d);
	return 0;
}

static void power(struct simhca_dev *d, enum simhca_kind kind)
{
	struct simhca_frame f = { .kind = kind };

	if (simhca_send_patiently(d, &f, NULL))
		simhca_break(d, "it does not read");
}

static void init(struct simhca_dev *d, struct pci_dev *pdev)
{
	d->pdev = pdev;
	spin_lock_init(&d->send_lock);
	spin_lock_init(&d->mcast_lock);
	INIT_LIST_HEAD(&d->mcast);
	INIT_WORK(&d->receive_work, simhca_receive);
	d->next_call = get_random_u32();	/* an earlier driver may have asked, too */
	xa_init_flags(&d->qps, XA_FLAGS_ALLOC1);
	xa_init_flags(&d->mrs, XA_FLAGS_ALLOC1);
	xa_init_flags(&d->calls, XA_FLAGS_ALLOC1 | XA_FLAGS_LOCK_IRQ);
}

static int start(struct simhca_dev *d)
{
	struct pci_dev *pdev = d->pdev;
	int r = pci_alloc_irq_vectors(pdev, 1, 1, PCI_IRQ_MSIX);

	if (r < 0)
		return r;
	/* what an earlier driver left unread */
	d->written = READ_ONCE(d->to_hca->written);
	d->read = READ_ONCE(d->to_driver->written);
	virt_store_release(&d->to_driver->read, d->read);
	r = request_irq(pci_irq_vector(pdev, 0), on_interrupt, 0, KBUILD_MODNAME, d);
	if (r) {
		pci_free_irq_vectors(pdev);
		return r;
	}
	power(d, SIMHCA_START);
	return 0;
}

static void stop(struct simhca_dev *d)
{
	if (!d->broken)
		power(d, SIMHCA_STOP);
	free_irq(pci_irq_vector(d->pdev, 0), d);
	pci_free_irq_vectors(d->pdev);
	cancel_work_sync(&d->receive_work);
	simhca_ports_free(d);
}

static int register_device(struct simhca_dev *d)
{
	struct ib_device *ib = &d->ibdev;

	ib->node_type = RDMA_NODE_IB_CA;
	ib->phys_port_cnt = d->n_ports;
	ib->num_comp_vectors = 1;
	ib->node_guid = cpu_to_be64(d->header->node_guid);
	ib->dev.parent = &d->pdev->dev;
	ib_set_device_ops(ib, &simhca_verbs_ops);
	ib_set_device_ops(ib, &simhca_mr_ops);
	ib_set_device_ops(ib, &simhca_cq_ops);
	ib_set_device_ops(ib, &simhca_qp_ops);
	return ib_register_device(ib, "simhca%d", NULL);
}

static int run(struct simhca_dev *d)
{
	int r = start(d);

	if (r)
		return r;
	r = simhca_ports_read(d);
	if (!r)
		r = register_device(d);
	if (r)
		stop(d);
	else
		simhca_ports_tell(d, true);
	return r;
}

static int probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct simhca_dev *d;
	int r = pcim_enable_device(pdev);

	if (r)
		return r;
	pci_set_master(pdev);		/* MSI-X messages are writes of the device */
	d = ib_alloc_device(simhca_dev, ibdev);
	if (!d)
		return -ENOMEM;
	init(d, pdev);
	r = map_memory(d);
	if (!r)
		r = read_header(d);
	if (r)
		goto dealloc;
	d->wq = alloc_workqueue("simhca-%s", WQ_HIGHPRI | WQ_UNBOUND | WQ_MEM_RECLAIM, 0, pci_name(pdev));
	if (!d->wq) {
		r = -ENOMEM;
		goto dealloc;
	}
	r = run(d);
	if (r)
		goto destroy_wq;
	pci_set_drvdata(pdev, d);
	return 0;
destroy_wq:
	destroy_workqueue(d->wq);
dealloc:
	ib_dealloc_device(&d->ibdev);
	return r;
}

static void remove(struct pci_dev *pdev)
{
	struct simhca_dev *d = pci_get_drvdata(pdev);

	simhca_ports_tell(d, false);
	ib_unregister_device(&d->ibdev);
	stop(d);
	destroy_workqueue(d->wq);
	ib_dealloc_device(&d->ibdev);
}

/* The machine goes down: the link does, too, as with an adapter that loses its power. */
static void shutdown(struct pci_dev *pdev)
{
	struct simhca_dev *d = pci_get_drvdata(pdev);

	power(d, SIMHCA_STOP);
	d->broken = true;
}

static const struct pci_device_id ids[] = {
	{ PCI_DEVICE(IVSHMEM_VENDOR, IVSHMEM_DEVICE) },
	{ }
};
MODULE_DEVICE_TABLE(pci, ids);

static struct pci_driver simhca_driver = {
	.name = KBUILD_MODNAME,
	.id_table = ids,
	.probe = probe,
	.remove = remove,
	.shutdown = shutdown,
};
module_pci_driver(simhca_driver);

MODULE_LICENSE("Dual BSD/GPL");
MODULE_DESCRIPTION("HCA of qosd's fabric simulator");
