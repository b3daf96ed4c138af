/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The UDP socket of a port of numbers. Here IPv4 addresses are always IPv4-mapped.
 */
#ifndef ITAPI_ULP_OFA_DATAGRAM_OFA_SOCKET_H
#define ITAPI_ULP_OFA_DATAGRAM_OFA_SOCKET_H

#include "datagram/ofa_flow.h"
#include "datagram/ofa_wire.h"
#include "object/ofa_object.h"
#include "support/ofa_watch.h"

#include <sys/uio.h>

/* The interval at which a thread makes progress that a polling program would make itself. */
#define OFA_SOCKET_PERIOD_NS UINT64_C(5000000)

/* One octet more than the largest datagram, to detect longer ones. */
#define OFA_PACKET_ROOM (OFA_WIRE_HEADER + OFA_WIRE_PAYLOAD + 1)

struct ofa_socket {
    struct ofa_socket *next; /* in the context's list */
    struct ofa_context *context;
    struct ofa_watch watch; /* has the descriptor */
    int family;
    uint16_t port;
    struct ofa_timer timer;
    uint32_t waiting_sends; /* guarded by datagram_lock, like what follows */
    struct ofa_qp *qps[OFA_NUMBERS_PER_PORT];
    struct ofa_flow flows[OFA_FLOWS];
    unsigned char packet[OFA_PACKET_ROOM];
};

/* The other end of a datagram, and the address of this end. */
struct ofa_path {
    struct in6_addr local; /* unspecified: chosen by the route */
    struct in6_addr peer;
    uint16_t peer_port;
};

/* Binds it to the port. Returns 0 or errno. */
int ofa_socket_bind(struct ofa_socket *socket, uint16_t port);

/* Returns 0 or errno. */
int ofa_socket_send(const struct ofa_socket *socket, const struct ofa_path *path,
                    struct iovec *pieces, size_t count);

/* Reads the next datagram into .packet. Returns its length; -1: there is none. */
ssize_t ofa_socket_receive(struct ofa_socket *socket, struct ofa_path *path);

#endif /* ITAPI_ULP_OFA_DATAGRAM_OFA_SOCKET_H */
