/* SPDX-License-Identifier: BSD-2-Clause */
/* A Connection Request, which waits for the consumer's answer. */
#ifndef ITAPI_ULP_UDAPL_OBJECT_UDAPL_CR_H
#define ITAPI_ULP_UDAPL_OBJECT_UDAPL_CR_H

#include "object/udapl_object.h"

#include "it_api.h"

#include <netinet/in.h>

struct udapl_ep;

struct udapl_cr {
    struct udapl_object object;
    it_cn_est_identifier_t it;
    DAT_CONN_QUAL conn_qual; /* of the peer's request */
    struct udapl_ep *ep;     /* chosen by the service point, or NULL */
    bool made_ep;            /* the provider has made .ep for this request */
    struct sockaddr_storage remote;
    DAT_PORT_QUAL remote_port;
    DAT_COUNT private_data_size;
    unsigned char private_data[IT_MAX_PRIV_DATA]; /* the consumer may write to it */
};

#endif
