// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The small objects of verbs: device attributes, protection domains, address handles. */
#include "simhca.h"

static int query_device(struct ib_device *ibdev, struct ib_device_attr *a, struct ib_udata *u)
{
	struct simhca_dev *d = to_dev(ibdev);

	memset(a, 0, sizeof(*a));
	a->fw_ver = SIMHCA_VERSION;
	a->sys_image_guid = cpu_to_be64(d->header->system_guid);
	a->vendor_id = d->vendor_id;
	a->vendor_part_id = d->device_id;
	a->hw_ver = d->revision;
	a->device_cap_flags = IB_DEVICE_CHANGE_PHY_PORT | IB_DEVICE_BAD_PKEY_CNTR |
			      IB_DEVICE_BAD_QKEY_CNTR | IB_DEVICE_PORT_ACTIVE_EVENT |
			      IB_DEVICE_SYS_IMAGE_GUID | IB_DEVICE_RC_RNR_NAK_GEN |
			      IB_DEVICE_MEM_MGT_EXTENSIONS;
	a->kernel_cap_flags = IBK_LOCAL_DMA_LKEY | IBK_BLOCK_MULTICAST_LOOPBACK;
	a->max_mr_size = U64_MAX;
	a->page_size_cap = PAGE_SIZE;
	a->max_fast_reg_page_list_len = SIMHCA_MR_PAGES;
	a->max_qp = 1 << 16;
	a->max_qp_wr = SIMHCA_WR_MAX;
	a->max_send_sge = SIMHCA_SGE_MAX;
	a->max_recv_sge = SIMHCA_SGE_MAX;
	a->max_sge_rd = SIMHCA_SGE_MAX;
	a->max_cq = 1 << 16;
	a->max_cqe = 1 << 16;
	a->max_mr = 1 << 16;
	a->max_pd = 1 << 16;
	a->max_ah = 1 << 16;
	a->max_qp_rd_atom = SIMHCA_READS_MAX;
	a->max_qp_init_rd_atom = SIMHCA_READS_MAX;
	a->max_res_rd_atom = SIMHCA_READS_MAX << 16;
	a->max_mcast_grp = 8192;
	a->max_mcast_qp_attach = 64;
	a->max_total_mcast_qp_attach = 8192 * 64;
	a->max_pkeys = d->pkey_cap;
	a->local_ca_ack_delay = 15;
	return 0;
}

static int modify_device(struct ib_device *ibdev, int mask, struct ib_device_modify *m)
{
	struct simhca_frame f = {
		.kind = SIMHCA_DESCRIPTION, .port = 0, .length = IB_DEVICE_NODE_DESC_MAX,
	};

	if (mask & ~IB_DEVICE_MODIFY_NODE_DESC)
		return -EOPNOTSUPP;
	if (simhca_send_patiently(to_dev(ibdev), &f, m->node_desc))
		return -EIO;
	memcpy(ibdev->node_desc, m->node_desc, IB_DEVICE_NODE_DESC_MAX);
	return 0;
}

static enum rdma_link_layer get_link_layer(struct ib_device *ibdev, u32 port)
{
	return IB_LINK_LAYER_INFINIBAND;
}

static void get_dev_fw_str(struct ib_device *ibdev, char *text)
{
	snprintf(text, IB_FW_VERSION_NAME_MAX, "qosd-sim %d", SIMHCA_VERSION);
}

/* What ibstat and rdma-core read of a device. */

static struct simhca_dev *dev_of(struct device *dev)
{
	return rdma_device_to_drv_device(dev, struct simhca_dev, ibdev);
}

static ssize_t hw_rev_show(struct device *dev, struct device_attribute *a, char *text)
{
	return sysfs_emit(text, "%x\n", dev_of(dev)->revision);
}
static DEVICE_ATTR_RO(hw_rev);

static ssize_t hca_type_show(struct device *dev, struct device_attribute *a, char *text)
{
	return sysfs_emit(text, "%u\n", dev_of(dev)->device_id);
}
static DEVICE_ATTR_RO(hca_type);

static struct attribute *attributes[] = {
	&dev_attr_hw_rev.attr,
	&dev_attr_hca_type.attr,
	NULL
};

static const struct attribute_group attribute_group = { .attrs = attributes };

static int alloc_pd(struct ib_pd *pd, struct ib_udata *u)
{
	return 0;
}

static int dealloc_pd(struct ib_pd *pd, struct ib_udata *u)
{
	return 0;
}

static int create_ah(struct ib_ah *ah, struct rdma_ah_init_attr *a, struct ib_udata *u)
{
	u32 port = rdma_ah_get_port_num(a->ah_attr);

	if (port < 1 || port > to_dev(ah->device)->n_ports)
		return -EINVAL;
	to_ah(ah)->attr = *a->ah_attr;
	to_ah(ah)->attr.grh.sgid_attr = NULL;	/* the caller's reference */
	return 0;
}

static int query_ah(struct ib_ah *ah, struct rdma_ah_attr *a)
{
	*a = to_ah(ah)->attr;
	return 0;
}

static int destroy_ah(struct ib_ah *ah, u32 flags)
{
	return 0;
}

const struct ib_device_ops simhca_verbs_ops = {
	.owner = THIS_MODULE,
	.driver_id = RDMA_DRIVER_UNKNOWN,
	.uverbs_abi_ver = 1,
	.device_group = &attribute_group,

	.query_device = query_device,
	.modify_device = modify_device,
	.get_link_layer = get_link_layer,
	.get_dev_fw_str = get_dev_fw_str,
	.alloc_pd = alloc_pd,
	.dealloc_pd = dealloc_pd,
	.create_ah = create_ah,
	.query_ah = query_ah,
	.destroy_ah = destroy_ah,

	.process_mad = simhca_process_mad,
	.query_port = simhca_query_port,
	.modify_port = simhca_modify_port,
	.get_port_immutable = simhca_port_immutable,
	.query_gid = simhca_query_gid,
	.query_pkey = simhca_query_pkey,

	INIT_RDMA_OBJ_SIZE(ib_pd, simhca_pd, ibpd),
	INIT_RDMA_OBJ_SIZE(ib_ah, simhca_ah, ibah),
};
