/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls of rdma_cm that are not supported. */
#include "cm/ofa_cm.h"
#include "support/ofa_log.h"

#include <errno.h>
#include <string.h>

int rdma_join_multicast(struct rdma_cm_id *id, struct sockaddr *addr, void *context)
{
    (void)id;
    (void)addr;
    (void)context;
    return cm_result(ofa_absent(__func__, EOPNOTSUPP));
}

int rdma_join_multicast_ex(struct rdma_cm_id *id, struct rdma_cm_join_mc_attr_ex *attr,
                           void *context)
{
    (void)id;
    (void)attr;
    (void)context;
    return cm_result(ofa_absent(__func__, EOPNOTSUPP));
}

int rdma_leave_multicast(struct rdma_cm_id *id, struct sockaddr *addr)
{
    (void)id;
    (void)addr;
    return cm_result(EADDRNOTAVAIL); /* no group was ever joined */
}

/* ECE, connection options of vendors: there are none. */
int rdma_set_local_ece(struct rdma_cm_id *id, struct ibv_ece *ece)
{
    return cm_result(!ece || id->qp ? EINVAL : 0);
}

int rdma_get_remote_ece(struct rdma_cm_id *id, struct ibv_ece *ece)
{
    if (!ece || id->qp)
        return cm_result(EINVAL);
    memset(ece, 0, sizeof(*ece));
    return 0;
}

int rdma_reject_ece(struct rdma_cm_id *id, const void *private_data, uint8_t length)
{
    return rdma_reject(id, private_data, length);
}
