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

/* What the connection of an EP needs beyond the state that IT-API keeps; connect/ and deliver/. */
struct udapl_connection {
    _Atomic(enum udapl_ep_hold) hold;
    _Atomic(bool) draining;                /* dat_ep_disconnect waits for the last requests */
    _Atomic(bool) accepting;               /* on the passive side, this time or the last */
    struct sockaddr_storage local, remote; /* as ep_query tells them */
    DAT_PORT_QUAL local_port, remote_port;
    unsigned char private_data[IT_MAX_PRIV_DATA]; /* of the last event of the connection */
};

/*
 * Service points and connection requests refer to it. Its consumer context in IT-API is this
 * struct.
 */
struct udapl_ep {
    struct udapl_object object;
    _Atomic(it_ep_handle_t) it;   /* NULL: unconfigured, without PZ or attributes for one */
    it_dto_flags_t recv_flags;    /* of a receive without flags of its own */
    size_t read_segments;         /* of a Read of the adapter */
    struct udapl_records records; /* of requests that need one */
    bool splits;                  /* Reads: it takes more segments than the adapter */
    bool immediates;              /* it has RDMA Writes with one */
    bool extended;                /* by ext=ib: completions may be events of the extension */
    struct udapl_pz *pz;          /* this and what follows: NULL for none */
    struct udapl_evd *recv_evd, *request_evd, *connect_evd;
    struct udapl_srq *srq;
    it_evd_handle_t own_recv, own_request, own_connect; /* where there is no EVD */
    DAT_EP_ATTR attr;                                   /* in force */
    struct udapl_connection connection;
};

#endif
