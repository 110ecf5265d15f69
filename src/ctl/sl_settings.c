/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The table of environment variables and options by which programs choose an SL; see sl_settings.h.
 *
 * A line is here only if the program's own documentation or source has it.  Programs that resolve a route
 * with the RDMA connection manager (Lustre's o2iblnd, NFS, iSER, NVMe over Fabrics, libfabric's verbs) have
 * none: the kernel asks the subnet administrator for them, and a type of service that they set
 * (RDMA_OPTION_ID_TOS) becomes the QoS-Class of the query, so rules of the policy decide.
 */
#include "ctl/sl_settings.h"

#include "lib/base/alloc.h"

const struct sl_setting sl_settings[] = {
	/* NVIDIA/nccl: user guide, environment variables; RCCL has the same */
	{ "NCCL, RCCL", "NCCL_IB_SL=" },
	/* openucx/ucx: `SL` of the configuration of its InfiniBand transports (ucx_info -cf) */
	{ "UCX (Open MPI, MPICH, NIXL)", "UCX_IB_SL=" },
	/* deepseek-ai/DeepEP: README, traffic isolation */
	{ "NVSHMEM (DeepEP)", "NVSHMEM_IB_SL=" },
	/* kvcache-ai/Mooncake: environment variables of the transfer engine */
	{ "Mooncake", "MC_IB_SL=" },
	/* MVAPICH2 2.3.7: user guide, QoS */
	{ "MVAPICH2", "MV2_DEFAULT_SERVICE_LEVEL=" },
	/* ofiwg/libfabric: provider psm3 */
	{ "PSM3 of libfabric", "PSM3_NIC_SL=" },
	/* open-mpi/ompi: component btl/openib, up to version 4 */
	{ "Open MPI, openib", "--mca btl_openib_ib_service_level " },
	/* linux-rdma/perftest: perftest(1), ib_write_bw and others */
	{ "perftest (ib_write_bw)", "--sl=" },
};
const size_t n_sl_settings = ARRAY_SIZE(sl_settings);
