/* SPDX-License-Identifier: BSD-2-Clause */
#include "vp/verbs/cm/verbs_cm_answer.h"

#include "vp/verbs/device/verbs_sigpipe.h"

int verbs_cm_answer_accept(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
    struct verbs_sigpipe guard = verbs_sigpipe_block();
    int result = rdma_accept(id, param);

    verbs_sigpipe_restore(&guard);
    return result;
}

int verbs_cm_answer_reject(struct rdma_cm_id *id, const void *private_data, uint8_t length)
{
    struct verbs_sigpipe guard = verbs_sigpipe_block();
    int result = rdma_reject(id, private_data, length);

    verbs_sigpipe_restore(&guard);
    return result;
}
