/* SPDX-License-Identifier: BSD-2-Clause */
/* A Consumer Notification Object, referenced by EVDs. */
#ifndef ITAPI_ULP_UDAPL_OBJECT_UDAPL_CNO_H
#define ITAPI_ULP_UDAPL_OBJECT_UDAPL_CNO_H

#include "object/udapl_object.h"

#include "it_api.h"

struct udapl_cno {
    struct udapl_object object;
    it_evd_handle_t it; /* an AEVD that returns notifications; constant */
    bool has_fd;        /* constant, like the next */
    DAT_FD fd;
    _Atomic(uint32_t) waiters;     /* threads in dat_cno_wait */
    DAT_OS_WAIT_PROXY_AGENT agent; /* changes only while no callback is attached to .it */
};

#endif
