/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef ITAPI_ULP_UDAPL_OBJECT_UDAPL_SRQ_H
#define ITAPI_ULP_UDAPL_OBJECT_UDAPL_SRQ_H

#include "object/udapl_pz.h"

/* A Shared Receive Queue, referenced by EPs. */
struct udapl_srq {
    struct udapl_object object;
    it_srq_handle_t it;
    struct udapl_pz *pz;
    DAT_COUNT max_recv_iov;
};

#endif
