/* SPDX-License-Identifier: BSD-2-Clause */
/* A service point: public (PSP), reserved (RSP) or of a socket (SSP), by its type. */
#ifndef ITAPI_ULP_UDAPL_OBJECT_UDAPL_SP_H
#define ITAPI_ULP_UDAPL_OBJECT_UDAPL_SP_H

#include "object/udapl_object.h"

#include "it_api.h"

struct udapl_ep;
struct udapl_evd;

struct udapl_sp {
    struct udapl_object object;
    DAT_CONN_QUAL conn_qual; /* PSP, RSP; constant, as what follows */
    struct udapl_evd *evd;   /* for the requests */
    DAT_PSP_FLAGS flags;     /* PSP */
    DAT_EP_ATTR attr;        /* PSP that makes EPs: what they begin with */
    int socket;              /* SSP: as the consumer gave it */
    uint32_t ep_generation;  /* SSP: of its EP, which may be freed at any time */
    /* By the lock of the IA. */
    bool listens;          /* takes a request; from before there is a listen point */
    it_listen_handle_t it; /* or NULL */
    struct udapl_ep *ep;   /* RSP: the one that waits, or NULL; SSP: the one that it is for */
    bool made_ep;          /* RSP: the provider has made it */
};

#endif
