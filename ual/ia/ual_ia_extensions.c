/* SPDX-License-Identifier: BSD-2-Clause */
/* itx_ia_stats, itx_ia_query_features, itx_ia_set_half_open_share. */
#include "ual/object/ual_extension.h"
#include "ual/object/ual_provider.h"

#define UAL_COUNTERS_MIN UAL_SIZE_UP_TO(struct itx_counters, thread_wakeups) /* first version */

it_status_t itx_ia_stats(it_ia_handle_t ia_handle, struct itx_counters *counters)
{
    struct ual_ia *ia = ual_ia_from(ia_handle);
    struct itx_counters own = {.size = sizeof(own)};
    it_status_t status;

    if (!ia)
        return base_refuse_handle(IT_ERR_INVALID_IA, __func__, ia_handle);
    status = ual_extension_check(__func__, "counters", counters, UAL_COUNTERS_MIN);
    if (status != IT_SUCCESS)
        return status;
    ia->provider->counters(ia, &own);
    ual_extension_write(counters, counters->size, &own, sizeof(own));
    return IT_SUCCESS;
}

#define UAL_FEATURES_MIN                                                                           \
    UAL_SIZE_UP_TO(struct itx_features, send_imm_receives) /* the first version */

it_status_t itx_ia_query_features(it_ia_handle_t ia_handle, struct itx_features *features)
{
    struct ual_ia *ia = ual_ia_from(ia_handle);
    struct itx_features own = {.size = sizeof(own)};
    const struct vp_attributes *attributes;
    it_status_t status;

    if (!ia)
        return base_refuse_handle(IT_ERR_INVALID_IA, __func__, ia_handle);
    status = ual_extension_check(__func__, "features", features, UAL_FEATURES_MIN);
    if (status != IT_SUCCESS)
        return status;
    attributes = ia->provider->ia_attributes(ia);
    own.atomic_swap = attributes->atomic_swap;
    own.immediate_bits = attributes->immediate_bits;
    own.send_imm_receives = attributes->send_imm_receives;
    own.max_request_dtos = attributes->max_request_dtos;
    own.max_recv_dtos = attributes->max_recv_dtos;
    own.max_srq_dtos = attributes->srq ? attributes->max_srq_dtos : 0;
    own.max_send_segments = attributes->max_send_segments;
    own.max_recv_segments = attributes->max_recv_segments;
    own.max_rdma_read_segments = attributes->max_read_segments;
    own.max_rdma_write_segments = attributes->max_write_segments;
    own.max_evd_events = attributes->max_evd_queue;
    own.max_message_bytes = attributes->max_message;
    own.max_lmr_bytes = attributes->max_lmr_length;
    own.max_ird = attributes->max_ird;
    own.max_ord = attributes->max_ord;
    ual_extension_write(features, features->size, &own, sizeof(own));
    return IT_SUCCESS;
}

it_status_t itx_ia_set_half_open_share(it_ia_handle_t ia_handle, size_t streams)
{
    struct ual_ia *ia = ual_ia_from(ia_handle);

    if (!ia)
        return base_refuse_handle(IT_ERR_INVALID_IA, __func__, ia_handle);
    atomic_store_explicit(&ia->half_open_share, streams, memory_order_relaxed);
    return IT_SUCCESS;
}
