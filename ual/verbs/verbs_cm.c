/* SPDX-License-Identifier: BSD-2-Clause */
/* Connection management: not there yet. */
#include "ual/verbs/verbs_cm.h"

it_status_t vrb_cm_open(struct vrb_ia *ia)
{
    (void)ia;
    return IT_SUCCESS;
}

void vrb_cm_close(struct vrb_ia *ia)
{
    (void)ia;
}

void vrb_cm_ep_end(struct vrb_ep *ep)
{
    (void)ep;
}

void vrb_cm_ep_forget(struct vrb_ep *ep)
{
    (void)ep;
}

void vrb_cm_ep_failed(struct vrb_ep *ep)
{
    (void)ep;
}

void vrb_cm_ep_heard(struct vrb_ep *ep)
{
    (void)ep;
}

it_status_t vrb_paths(struct ual_ia *ual, size_t spigot_id, const it_net_addr_t *to,
                      size_t capacity, it_path_t *paths, size_t *total)
{
    (void)ual, (void)spigot_id, (void)to, (void)capacity, (void)paths;
    *total = 0;
    return IT_SUCCESS;
}

void vrb_counters(struct ual_ia *ual, struct itx_counters *counters)
{
    (void)ual, (void)counters;
}

it_status_t vrb_listen_start(struct ual_listen *listen)
{
    (void)listen;
    return IT_ERR_OP_NOT_SUPPORTED;
}

void vrb_listen_stop(struct ual_listen *listen)
{
    (void)listen;
}

it_status_t vrb_connect(struct ual_ep *ual, const it_path_t *path, const it_conn_qual_t *qual,
                        it_cn_est_flags_t flags, const void *private_data, size_t length)
{
    (void)ual, (void)path, (void)qual, (void)flags, (void)private_data, (void)length;
    return IT_ERR_OP_NOT_SUPPORTED;
}

it_status_t vrb_accept(struct ual_ep *ual, struct ual_request *request, const void *private_data,
                       size_t length)
{
    (void)ual, (void)request, (void)private_data, (void)length;
    return IT_ERR_OP_NOT_SUPPORTED;
}

it_status_t vrb_reject(struct ual_request *request, const void *private_data, size_t length)
{
    (void)request, (void)private_data, (void)length;
    return IT_ERR_OP_NOT_SUPPORTED;
}

it_status_t vrb_handoff(struct ual_request *request, const it_conn_qual_t *qual, size_t spigot_id)
{
    (void)request, (void)qual, (void)spigot_id;
    return IT_ERR_OP_NOT_SUPPORTED;
}

it_status_t vrb_disconnect(struct ual_ep *ual)
{
    (void)ual;
    return IT_ERR_OP_NOT_SUPPORTED;
}

it_status_t vrb_convert(struct ual_ep *ual, const struct vp_convert *convert)
{
    (void)ual, (void)convert;
    return IT_ERR_OP_NOT_SUPPORTED;
}
