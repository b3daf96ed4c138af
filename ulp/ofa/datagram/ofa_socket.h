/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The UDP socket of a port of numbers. Addresses of IPv4 are mapped ones, whatever the socket has.
 */
#ifndef ITAPI_ULP_OFA_DATAGRAM_OFA_SOCKET_H
#define ITAPI_ULP_OFA_DATAGRAM_OFA_SOCKET_H

#include "datagram/ofa_flow.h"
#include "datagram/ofa_wire.h"
#include "object/ofa_object.h"
#include "support/ofa_watch.h"

#include <sys/uio.h>

/* Between looks of a thread at what a program might move itself. */
#define OFA_SOCKET_PERIOD_NS UINT64_C(5000000)

/* One octet more than the greatest datagram: what is longer shows. */
#define OFA_PACKET_ROOM (OFA_WIRE_HEADER + OFA_WIRE_PAYLOAD + 1)

struct ofa_socket {
    struct ofa_socket *next; /* of the context */
    struct ofa_context *context;
    struct ofa_watch watch; /* with the descriptor */
    int family;
    uint16_t port;
    struct ofa_timer timer;
    uint32_t waiting_sends; /* this and what follows: with datagram_lock */
    struct ofa_qp *qps[OFA_NUMBERS_PER_PORT];
    struct ofa_flow flows[OFA_FLOWS];
    unsigned char packet[OFA_PACKET_ROOM];
};

/* The other end of a datagram, and the address of this end. */
struct ofa_path {
    struct in6_addr local; /* unspecified: whatever leads to the peer */
    struct in6_addr peer;
    uint16_t peer_port;
};

/* Binds it to the port. 0 or errno. */
int ofa_socket_bind(struct ofa_socket *socket, uint16_t port);

/* 0 or errno. */
int ofa_socket_send(const struct ofa_socket *socket, const struct ofa_path *path,
                    struct iovec *pieces, size_t count);

/* The octets of the next datagram, which is in "packet" then; -1: there is none. */
ssize_t ofa_socket_receive(struct ofa_socket *socket, struct ofa_path *path);

#endif /* ITAPI_ULP_OFA_DATAGRAM_OFA_SOCKET_H */
