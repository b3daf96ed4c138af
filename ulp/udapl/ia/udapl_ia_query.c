/* SPDX-License-Identifier: BSD-2-Clause */
/* dat_ia_query. All members are filled in, whatever the masks: programs rely on that. */
#include "ia/udapl_ia_calls.h"
#include "map/udapl_limit.h"
#include "object/udapl_evd.h"
#include "object/udapl_ia.h"
#include "object/udapl_lmr.h"

#include "itx_api.h"

#include <dat2/dat_ib_extensions.h>
#include <dat2/dat_iw_extensions.h>

#include <stdio.h>
#include <string.h>

/* For objects whose number is limited by memory or the adapter, not by an attribute of IT-API. */
#define MOST_OBJECTS (1 << UDAPL_LMR_PLACE_BITS)

static DAT_COUNT most_segments(const struct itx_features *features)
{
    size_t send = features->max_send_segments;
    size_t recv = features->max_recv_segments;

    return udapl_limit_segments(send < recv ? send : recv);
}

static DAT_COUNT extension_version(DAT_EXTENSION extension)
{
    switch (extension) {
    case DAT_EXTENSION_IB:
        return DAT_IB_EXTENSION_VERSION;
    case DAT_EXTENSION_IW:
        return DAT_IW_EXTENSION_VERSION;
    case DAT_EXTENSION_NONE:
        break;
    }
    return 0;
}

static void fill_identity(const struct udapl_ia *ia, DAT_IA_ATTR *attr)
{
    snprintf(attr->adapter_name, sizeof(attr->adapter_name), "%s", ia->provider->interface);
    snprintf(attr->vendor_name, sizeof(attr->vendor_name), "itapi");
    if (ia->info->transport_type == IT_IB_TRANSPORT)
        attr->hardware_version_major = ia->info->vendor.ib.revision;
    attr->firmware_version_major = ia->info->sw_major_version;
    attr->firmware_version_minor = ia->info->sw_minor_version;
    /* The consumer may only read it; the type of the member is not const. */
    attr->ia_address_ptr = (DAT_IA_ADDRESS_PTR)(uintptr_t)&ia->address;
    attr->extension_supported = ia->provider->extension;
    attr->extension_version = extension_version(ia->provider->extension);
}

static void fill_ia(const struct udapl_ia *ia, DAT_IA_ATTR *attr)
{
    const struct itx_features *most = &ia->features;

    memset(attr, 0, sizeof(*attr));
    fill_identity(ia, attr);
    attr->max_eps = attr->max_evds = attr->max_pzs = attr->max_rmrs = MOST_OBJECTS;
    attr->max_lmrs = MOST_OBJECTS;
    attr->max_dto_per_ep =
        udapl_limit_count(most->max_request_dtos < most->max_recv_dtos ? most->max_request_dtos
                                                                       : most->max_recv_dtos);
    attr->max_rdma_read_per_ep_in = attr->max_rdma_read_in = udapl_limit_count(most->max_ird);
    attr->max_rdma_read_per_ep_out = attr->max_rdma_read_out = udapl_limit_count(most->max_ord);
    attr->max_rdma_read_per_ep_in_guaranteed = attr->max_rdma_read_per_ep_out_guaranteed = DAT_TRUE;
    attr->max_evd_qlen = udapl_limit_count(most->max_evd_events);
    attr->max_iov_segments_per_dto = most_segments(most);
    attr->max_iov_segments_per_rdma_read = UDAPL_MOST_SEGMENTS;
    attr->max_iov_segments_per_rdma_write = udapl_limit_segments(most->max_rdma_write_segments);
    attr->max_lmr_block_size = udapl_limit_length(most->max_lmr_bytes);
    attr->max_lmr_virtual_address = attr->max_rmr_target_address = UINT64_MAX;
    attr->max_message_size = attr->max_rdma_size = udapl_limit_length(most->max_message_bytes);
    attr->max_srqs = ia->info->srq_support ? MOST_OBJECTS : 0;
    attr->max_ep_per_srq = attr->max_srqs;
    attr->max_recv_per_srq = udapl_limit_count(most->max_srq_dtos);
    attr->zb_supported = ia->info->addr_mode_relative_support ? DAT_TRUE : DAT_FALSE;
}

/*
 * dtest tests RDMA Reads and its ping-pong only if the first attribute is present. dtestsrq takes
 * the size of its messages from the second. The others belong to the IB extension; the atomics are
 * last, since an adapter may lack them.
 */
static DAT_NAMED_ATTR specific[] = {
    {"DAT_IB_RDMA_READ", "TRUE"},       {"DAT_IB_TRANSPORT_MTU", "4096"},
    {DAT_IB_ATTR_IMMED_DATA, "TRUE"},   {DAT_IB_ATTR_FETCH_AND_ADD, "TRUE"},
    {DAT_IB_ATTR_CMP_AND_SWAP, "TRUE"},
};

static DAT_COUNT count_specific(const struct udapl_ia *ia)
{
    if (ia->provider->extension != DAT_EXTENSION_IB || ia->features.immediate_bits < 32)
        return 2;
    return ia->info->atomic_support ? 5 : 3;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void fill_names(const struct udapl_ia *ia, DAT_PROVIDER_ATTR *attr)
{
    snprintf(attr->provider_name, sizeof(attr->provider_name), "itapi");
    attr->provider_version_major = ITX_VERSION_MAJOR;
    attr->provider_version_minor = ITX_VERSION_MINOR;
    /* The registry compares these members when the IA is closed. */
    attr->dapl_version_major = ia->provider->info.dapl_version_major;
    attr->dapl_version_minor = ia->provider->info.dapl_version_minor;
    attr->is_thread_safe = ia->provider->info.is_thread_safe;
    attr->num_provider_specific_attr = count_specific(ia);
    attr->provider_specific_attr = specific;
}

static void fill_features(const struct udapl_ia *ia, DAT_PROVIDER_ATTR *attr)
{
    attr->lmr_mem_types_supported =
        (DAT_MEM_TYPE)(DAT_MEM_TYPE_VIRTUAL | DAT_MEM_TYPE_LMR | DAT_MEM_TYPE_SHARED_VIRTUAL);
    attr->iov_ownership_on_return = DAT_IOV_CONSUMER;
    attr->dat_qos_supported = DAT_QOS_BEST_EFFORT;
    attr->completion_flags_supported =
        (DAT_COMPLETION_FLAGS)(DAT_COMPLETION_SUPPRESS_FLAG | DAT_COMPLETION_SOLICITED_WAIT_FLAG |
                               DAT_COMPLETION_UNSIGNALLED_FLAG | DAT_COMPLETION_BARRIER_FENCE_FLAG |
                               DAT_COMPLETION_EVD_THRESHOLD_FLAG);
    attr->supports_multipath = DAT_FALSE;
    attr->ep_creator = DAT_PSP_CREATES_EP_IFASKED;
    attr->pz_support = DAT_PZ_UNIQUE;
    attr->optimal_buffer_alignment = udapl_limit_alignment(ia->info->dto_alignment_hint);
    attr->srq_supported = ia->info->srq_support ? DAT_TRUE : DAT_FALSE;
    attr->srq_watermarks_supported = ia->info->srq_support ? 1 : 0;
    attr->srq_ep_pz_difference_supported = DAT_FALSE;
    attr->rdma_write_for_rdma_read_req =
        ia->info->rdma_read_requires_remote_write ? DAT_TRUE : DAT_FALSE;
    attr->rdma_read_lmr_rmr_context_exposure = attr->rdma_write_for_rdma_read_req;
    attr->rmr_scope_supported =
        ia->info->rmr_types_supported == (it_rmr_type_t)(IT_RMR_TYPE_NARROW | IT_RMR_TYPE_WIDE)
            ? DAT_RMR_SCOPE_ANY
        : ia->info->rmr_types_supported == IT_RMR_TYPE_NARROW ? DAT_RMR_SCOPE_EP
                                                              : DAT_RMR_SCOPE_PZ;
    attr->lmr_sync_req = attr->dto_async_return_guaranteed = DAT_FALSE;
    attr->is_signal_safe = attr->ha_supported = DAT_FALSE;
    attr->ha_loadbalancing = DAT_HA_LB_NONE;
}

/* Every stream may share an EVD with every other. The member is declared const. */
static void fill_merging(DAT_PROVIDER_ATTR *attr)
{
    DAT_BOOLEAN all[6][6];

    for (size_t i = 0; i < 36; i++)
        all[i / 6][i % 6] = DAT_TRUE;
    memcpy((char *)attr + offsetof(DAT_PROVIDER_ATTR, evd_stream_merging_supported), all,
           sizeof(all));
}

static void fill_provider(const struct udapl_ia *ia, DAT_PROVIDER_ATTR *attr)
{
    const it_ia_info_t *info = ia->info;

    memset((void *)attr, 0, sizeof(*attr));
    fill_names(ia, attr);
    fill_features(ia, attr);
    fill_merging(attr);
    attr->max_private_data_size = udapl_limit_count(
        least(info->connect_private_data_len,
              least(info->accept_private_data_len, info->reject_private_data_len)));
}

DAT_RETURN udapl_ia_query(DAT_IA_HANDLE ia_handle, DAT_EVD_HANDLE *async_evd,
                          DAT_IA_ATTR_MASK ia_mask, DAT_IA_ATTR *ia_attr,
                          DAT_PROVIDER_ATTR_MASK provider_mask, DAT_PROVIDER_ATTR *provider_attr)
{
    struct udapl_ia *ia = udapl_ia_from(ia_handle);

    if (!ia)
        return udapl_error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);
    if ((ia_mask & ~DAT_IA_FIELD_ALL) != 0)
        return udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
    if (ia_mask != 0 && !ia_attr)
        return udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG4);
    if ((provider_mask & ~DAT_PROVIDER_FIELD_ALL) != 0)
        return udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG5);
    if (provider_mask != 0 && !provider_attr)
        return udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG6);
    if (async_evd)
        *async_evd = ia->async_evd ? ia->async_evd : DAT_EVD_OUT_OF_SCOPE;
    if (ia_attr)
        fill_ia(ia, ia_attr);
    if (provider_attr)
        fill_provider(ia, provider_attr);
    return DAT_SUCCESS;
}
