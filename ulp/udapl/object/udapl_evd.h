/* SPDX-License-Identifier: BSD-2-Clause */
/* An Event Dispatcher. EPs, service points and the IA refer to it. */
#ifndef ITAPI_ULP_UDAPL_OBJECT_UDAPL_EVD_H
#define ITAPI_ULP_UDAPL_OBJECT_UDAPL_EVD_H

#include "object/udapl_object.h"

#include "it_api.h"

struct udapl_cno;

struct udapl_evd {
    struct udapl_object object;
    DAT_EVD_FLAGS flags;   /* the streams it was made for; constant */
    struct udapl_cno *cno; /* or NULL */
    it_evd_handle_t it;    /* what is dequeued from and waited for */
};

#endif
