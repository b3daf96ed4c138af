/* SPDX-License-Identifier: BSD-2-Clause */
/* The EP: its QP, its creation, change and end. */
#include "ual/verbs/verbs.h"

#include "ual/verbs/verbs_cm.h"

#include <string.h>

int vrb_qp_modify(struct vrb_ep *ep, struct ibv_qp_attr *attr, int mask)
{
    int error = ibv_modify_qp(ep->qp, attr, mask);

    if (error)
        vrb_log(VP_LOG_WARN, "%s: QP %u: state %d: %s", vrb_host->ia_name(ep->ia->ual),
                ep->qp->qp_num, (int)attr->qp_state, strerror(error));
    return error;
}

unsigned vrb_qp_access(const struct vrb_ep *ep)
{
    const it_rc_only_attributes_t *rc = &vrb_host->ep_attributes(ep->ual)->srv.rc;
    unsigned access = 0;

    if (rc->rdma_read_enable)
        access |= IBV_ACCESS_REMOTE_READ;
    if (rc->rdma_write_enable)
        access |= IBV_ACCESS_REMOTE_WRITE;
    if (rc->atomics_enable)
        access |= IBV_ACCESS_REMOTE_ATOMIC;
    return access;
}

void vrb_ep_open_locked(struct vrb_ep *ep)
{
    (void)ep;
}

void vrb_ep_break(struct vrb_ep *ep)
{
    (void)ep;
}

it_status_t vrb_ep_create(struct ual_ep *ual)
{
    (void)ual;
    return IT_ERR_OP_NOT_SUPPORTED;
}

void vrb_ep_destroy(struct ual_ep *ual)
{
    vrb_cm_ep_end(vrb_ep_of(ual));
}

void vrb_ep_halt(struct ual_ep *ual)
{
    (void)ual;
}

void vrb_ep_proceed(struct ual_ep *ual, it_ep_param_mask_t changed)
{
    (void)ual, (void)changed;
}

it_status_t vrb_ep_modify_locked(struct ual_ep *ual, it_ep_param_mask_t mask,
                                 it_ep_attributes_t *attr)
{
    (void)ual, (void)mask, (void)attr;
    return IT_ERR_OP_NOT_SUPPORTED;
}

it_status_t vrb_ep_reset(struct ual_ep *ual)
{
    (void)ual;
    return IT_ERR_OP_NOT_SUPPORTED;
}
