/* SPDX-License-Identifier: BSD-2-Clause */
/* ibv_bind_mw, for windows of type 1. */
#include "post/ofa_post.h"
#include "qp/ofa_qp.h"

#include <errno.h>

int ofa_bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind)
{
    struct ibv_send_wr *bad;
    struct ibv_send_wr wr = {
        .wr_id = bind->wr_id,
        .opcode = IBV_WR_BIND_MW,
        .send_flags = bind->send_flags,
        .bind_mw = {.mw = mw, .rkey = ibv_inc_rkey(mw->rkey), .bind_info = bind->bind_info}};

    if (mw->type != IBV_MW_TYPE_1)
        return EINVAL;
    return ofa_post_send(qp, &wr, &bad);
}
