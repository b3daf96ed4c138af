/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared receive queues. Not offered yet. */
#include "it_api.h"

it_status_t it_srq_create(it_pz_handle_t pz_handle, size_t max_recv_segments, size_t max_recv_dtos,
                          it_srq_handle_t *srq_handle)
{
    (void)pz_handle;
    (void)max_recv_segments;
    (void)max_recv_dtos;
    (void)srq_handle;
    return IT_ERR_OP_NOT_SUPPORTED;
}

it_status_t it_srq_query(it_srq_handle_t srq_handle, it_srq_param_mask_t mask,
                         it_srq_param_t *params)
{
    (void)srq_handle;
    (void)mask;
    (void)params;
    return IT_ERR_OP_NOT_SUPPORTED;
}

it_status_t it_srq_modify(it_srq_handle_t srq_handle, it_srq_param_mask_t mask,
                          const it_srq_param_t *params)
{
    (void)srq_handle;
    (void)mask;
    (void)params;
    return IT_ERR_OP_NOT_SUPPORTED;
}

it_status_t it_srq_free(it_srq_handle_t srq_handle)
{
    (void)srq_handle;
    return IT_ERR_OP_NOT_SUPPORTED;
}
