/* SPDX-License-Identifier: BSD-2-Clause */
/* A service point: public (PSP), reserved (RSP), common (CSP) or of a socket (SSP), by its type. */
#ifndef ITAPI_ULP_UDAPL_OBJECT_UDAPL_SP_H
#define ITAPI_ULP_UDAPL_OBJECT_UDAPL_SP_H

#include "object/udapl_object.h"

#include "it_api.h"

struct udapl_ep;
struct udapl_evd;

struct udapl_sp {
    struct udapl_object object;
    it_listen_handle_t it;
    DAT_CONN_QUAL conn_qual;
    struct udapl_evd *evd; /* for the requests */
    struct udapl_ep *ep;   /* RSP: the one that waits */
    DAT_PSP_FLAGS flags;   /* PSP */
};

#endif
