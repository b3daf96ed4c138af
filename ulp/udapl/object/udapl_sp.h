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
    DAT_CONN_QUAL conn_qual; /* PSP, RSP; constant, like what follows */
    struct udapl_evd *evd;   /* for the requests */
    DAT_PSP_FLAGS flags;     /* PSP */
    DAT_EP_ATTR attr;        /* PSP that creates EPs: their attributes */
    int socket;              /* SSP: the consumer's descriptor */
    uint32_t ep_generation;  /* SSP: of its EP, which may be freed at any time */
    /* Guarded by the IA's lock. */
    bool listens;          /* accepts requests; set before the listen point exists */
    it_listen_handle_t it; /* or NULL */
    struct udapl_ep *ep;   /* RSP: the reserved EP, or NULL; SSP: its EP */
    bool made_ep;          /* RSP: the provider has made .ep */
};

#endif
