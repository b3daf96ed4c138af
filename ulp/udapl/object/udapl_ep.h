/* SPDX-License-Identifier: BSD-2-Clause */
/* An Endpoint. */
#ifndef ITAPI_ULP_UDAPL_OBJECT_UDAPL_EP_H
#define ITAPI_ULP_UDAPL_OBJECT_UDAPL_EP_H

#include "map/udapl_ep_states.h"
#include "object/udapl_object.h"
#include "object/udapl_pz.h"
#include "object/udapl_record.h"

#include "it_api.h"

#include <netinet/in.h>

struct udapl_evd;
struct udapl_srq;

/* The data of an EP's connection that IT-API does not keep; used by connect/ and deliver/. */
struct udapl_connection {
    _Atomic(enum udapl_ep_hold) hold;
    _Atomic(bool) draining;                /* dat_ep_disconnect waits for the last requests */
    _Atomic(bool) accepting;               /* the current or last connection was accepted */
    struct sockaddr_storage local, remote; /* for dat_ep_query */
    DAT_PORT_QUAL local_port, remote_port;
    unsigned char private_data[IT_MAX_PRIV_DATA]; /* of the last connection event */
};

/*
 * An EP, referenced by service points and connection requests. This struct is the consumer context
 * of its EP in IT-API.
 */
struct udapl_ep {
    struct udapl_object object;
    _Atomic(it_ep_handle_t) it;   /* NULL: unconfigured, without a PZ */
    it_dto_flags_t recv_flags;    /* for receives without flags */
    size_t read_segments;         /* maximum segments of a Read in the adapter */
    struct udapl_records records; /* records of requests */
    bool splits;                  /* Reads are split: the adapter takes fewer segments */
    bool immediates;              /* RDMA Writes with immediates are supported */
    bool extended;                /* ext=ib: completions may be events of the extension */
    struct udapl_pz *pz;          /* NULL: none, like what follows */
    struct udapl_evd *recv_evd, *request_evd, *connect_evd;
    struct udapl_srq *srq;
    it_evd_handle_t own_recv, own_request, own_connect; /* private ones, if there is no EVD */
    DAT_EP_ATTR attr;                                   /* in force */
    struct udapl_connection connection;
};

#endif
