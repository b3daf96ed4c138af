/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * itx_api.h - the extensions of this library to IT-API 2.1: MPA settings, the two ends of a
 * connection, socket conversion with private data, the length of private data, EVDs of several
 * streams, many events per call, limits on polling and waiting, an IA on the program's own event
 * base, a time limit of shared receive queues, immediate values, one more atomic operation,
 * counters, and names for values. All names begin with itx_ or ITX_.
 *
 * Structs that may grow begin with a member "size". The caller sets it to the sizeof it was
 * compiled with; the library reads and writes no byte beyond that, so programs and libraries of
 * different versions work together. A size smaller than the first version of a struct is refused
 * with IT_ERR_INVALID_LENGTH; members that the caller does not know take their defaults.
 *
 * The conventions at the top of it_api.h apply here too.
 */
#ifndef ITAPI_INCLUDE_ITX_API_H
#define ITAPI_INCLUDE_ITX_API_H

#include "it_api.h"

#include <sys/socket.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ==============================================================================================
 * Version
 * ============================================================================================== */

/* Version of the header; itx_version() returns that of the library. */
#define ITX_VERSION_MAJOR  2
#define ITX_VERSION_MINOR  1
#define ITX_VERSION_PATCH  0
#define ITX_VERSION_STRING "2.1.0"

/**
 * Returns the version of the library in use, as "major.minor.patch".
 *
 * @return a constant string; never NULL, never to be freed
 *
 * Threads: any thread.
 * Source: extension of this library.
 */
const char *itx_version(void);

/* ==============================================================================================
 * MPA settings of an endpoint
 * ============================================================================================== */

/* Ready-to-receive messages with which an Initiator may open a peer-to-peer connection (RFC 6581).
 */
#define ITX_RTR_SEND  0x1u /* zero-length Send */
#define ITX_RTR_WRITE 0x2u /* zero-length RDMA Write */
#define ITX_RTR_READ  0x4u /* zero-length RDMA Read */

/* How an endpoint negotiates MPA. The defaults suit every standard peer. */
struct itx_mpa_params {
    size_t size;       /* sizeof(struct itx_mpa_params) as the caller knows it */
    uint32_t revision; /* 2: prefer revision 2 (default); 1: offer and accept revision 1 only */
    it_boolean_t crc;  /* ask for CRC32c on FPDUs; default IT_TRUE. The peer may insist on it */
    it_boolean_t peer_to_peer; /* revision 2: let the accepting side send first; default IT_TRUE */
    /*
     * ITX_RTR_ bits; default ITX_RTR_WRITE | ITX_RTR_READ. An Initiator offers these. The accepting
     * side chooses one of them: the Read before the Write, unless its rdma_read_ird is 0 and there
     * is another; the Send only if the Initiator offers nothing else. A Send consumes a receive.
     */
    uint32_t rtr_types;
    it_boolean_t request_markers; /* reserved: IT_FALSE. The library never asks for markers */
    /*
     * For the accepting side when the peer-to-peer model is not in use (the peer did not ask for
     * it, or speaks revision 1): microseconds; default ITX_RELEASE_US. Its requests wait for the
     * Initiator's first FPDU, as RFC 5044 7.1.2 demands. But an Initiator may wait for the
     * accepting side to speak first, as programs on Linux siw do; then both would wait for ever. So
     * the requests are sent once the Initiator has been silent for this time, and for at least four
     * round trips, since its TCP acknowledged the MPA Reply. Too short a time makes a conforming
     * Initiator close the connection. 0: never, for Initiators that treat an FPDU before their own
     * first one as an error. A converted socket ignores this value: both sides know which speaks
     * first.
     */
    uint64_t release_us;
    uint32_t own_peer; /* ITX_OWN_PEER_ bits to offer a peer that runs this library; default 0 */
    /*
     * ITX_OWN_PEER_HOLD: microseconds for which a Send of the peer may wait here for a receive;
     * IT_TIMEOUT_INFINITE: for ever.
     */
    uint64_t hold_us;
    /*
     * Microseconds for which it_ep_connect tries again when the peer's TCP refuses, as it does
     * before a server listens; default 0: one try. The time limit of the path still applies. For
     * programs whose server announces its port a moment before it listens on it.
     */
    uint64_t patience_us;
};

/*
 * Options that two ends of this library may agree on: docs/acknowledgement.md. Agreement needs
 * revision 2, the peer-to-peer model, and ITX_RTR_READ among the rtr_types of both; both must ask
 * for the option. Read depths of 0 become 1. A foreign peer does not notice the offer, and nothing
 * is agreed with it.
 *
 * ITX_OWN_PEER_ACKS: a Send or RDMA Write completes when the peer has placed it, a Send in a
 * receive. A Terminate of the peer fails the request that has caused it, with
 * IT_DTO_ERR_REMOTE_ACCESS, IT_DTO_ERR_RECEIVER_NOT_READY or IT_DTO_ERR_REMOTE_RESPONDER. A lost
 * connection fails the oldest request with IT_DTO_ERR_TRANSPORT.
 *
 * ITX_OWN_PEER_HOLD: a Send that finds no receive waits for one, for hold_us of the receiving side,
 * instead of ending the connection.
 *
 * ITX_OWN_PEER_IMM: a value below 2^32 of itx_post_send_imm consumes no receive of its own at the
 * peer: the completion of the data carries it.
 */
#define ITX_OWN_PEER_ACKS 0x1u
#define ITX_OWN_PEER_HOLD 0x2u
#define ITX_OWN_PEER_IMM  0x4u

/*
 * Memory limit in bytes of the Sends in a process that wait for a receive. Those of one endpoint
 * get at most half of what the others leave. One Send more ends its connection.
 */
#define ITX_HOLD_OCTETS ((uint64_t)128 << 20)

/* Default of itx_mpa_params.release_us. */
#define ITX_RELEASE_US 10000u

/* The result of MPA negotiation. */
struct itx_mpa_info {
    size_t size;               /* sizeof(struct itx_mpa_info) as the caller knows it */
    uint32_t revision;         /* MPA revision in use; 0 when no Request and Reply were exchanged */
    it_boolean_t initiator;    /* this side sent the MPA Request, or has that role */
    it_boolean_t crc;          /* FPDUs carry a valid CRC32c */
    it_boolean_t send_markers; /* the peer asks for markers in FPDUs sent to it */
    uint32_t rtr_type;         /* the one ITX_RTR_ bit agreed on; 0 = none */
    uint32_t ird;              /* own inbound read depth in force */
    uint32_t ord;              /* own outbound read depth in force */
    uint32_t peer_ird;         /* inbound read depth that the peer announced, or 0 */
    uint32_t peer_ord;         /* outbound read depth that the peer announced, or 0 */
    uint32_t
        max_ulpdu; /* largest DDP segment in one FPDU now, bytes; follows the TCP segment size */
    /*
     * ITX_OWN_PEER_ bits agreed on. 0 until the peer's first message has arrived: on an Initiator,
     * before a request of its own completes; on a Responder, before its own first request is sent.
     */
    uint32_t own_peer;
    /* 0x1LTCC: layer, error type and code of the Terminate received; 0: none. */
    uint32_t terminate;
};

/**
 * Sets how an RC endpoint negotiates MPA. Must precede it_ep_connect, it_ep_accept,
 * it_socket_convert or itx_socket_convert; the settings survive it_ep_reset.
 *
 * @param ep_handle  an RC endpoint in state UNCONNECTED
 * @param params     the settings; copied
 *
 * @retval IT_SUCCESS               the settings are in force
 * @retval IT_ERR_INVALID_EP        ep_handle does not name an endpoint
 * @retval IT_ERR_FAULT             params is NULL
 * @retval IT_ERR_INVALID_LENGTH    params->size is too small
 * @retval IT_ERR_INVALID_EP_ATTR   revision is neither 1 nor 2, rtr_types has an unknown bit or is
 *                                  0 while peer_to_peer is set, request_markers is set, or
 *                                  own_peer has an unknown bit
 * @retval IT_ERR_INVALID_EP_TYPE   a datagram endpoint
 * @retval IT_ERR_INVALID_EP_STATE  the endpoint is not UNCONNECTED
 * @retval IT_ERR_OP_NOT_SUPPORTED  the IA belongs to a device, which has its own settings
 *
 * Completion: none; the call is synchronous.
 * Threads: any thread.
 * Source: extension of this library; RFC 5044 (MPA), RFC 6581 (revision 2).
 */
it_status_t itx_ep_set_mpa_params(it_ep_handle_t ep_handle, const struct itx_mpa_params *params);

/**
 * Reads the MPA settings of an RC endpoint: the values asked for, not those that a peer agreed to
 * (see itx_ep_query_mpa). Legal in every state.
 *
 * @param ep_handle  an RC endpoint
 * @param params     the caller sets size and owns the memory; the other members are filled in
 *
 * @retval IT_SUCCESS               params is filled in
 * @retval IT_ERR_INVALID_EP        ep_handle does not name an endpoint
 * @retval IT_ERR_FAULT             params is NULL
 * @retval IT_ERR_INVALID_LENGTH    params->size is too small
 * @retval IT_ERR_INVALID_EP_TYPE   a datagram endpoint
 * @retval IT_ERR_OP_NOT_SUPPORTED  the IA belongs to a device
 *
 * Completion: none; the call is synchronous.
 * Threads: any thread.
 * Source: extension of this library.
 */
it_status_t itx_ep_get_mpa_params(it_ep_handle_t ep_handle, struct itx_mpa_params *params);

/**
 * Reads what an established RC endpoint and its peer agreed on.
 *
 * @param ep_handle  an RC endpoint that is CONNECTED, or was before it became NONOPERATIONAL
 * @param info       the caller sets size and owns the memory; the other members are filled in
 *
 * @retval IT_SUCCESS               info is filled in
 * @retval IT_ERR_INVALID_EP        ep_handle does not name an endpoint
 * @retval IT_ERR_FAULT             info is NULL
 * @retval IT_ERR_INVALID_LENGTH    info->size is too small
 * @retval IT_ERR_INVALID_EP_TYPE   a datagram endpoint
 * @retval IT_ERR_INVALID_EP_STATE  nothing has been negotiated
 * @retval IT_ERR_OP_NOT_SUPPORTED  the IA belongs to a device
 *
 * Completion: none; the call is synchronous.
 * Threads: any thread; the answer is a snapshot.
 * Source: extension of this library; RFC 5044, RFC 6581.
 */
it_status_t itx_ep_query_mpa(it_ep_handle_t ep_handle, struct itx_mpa_info *info);

#define ITX_HOLD_TRIES  7u          /* itx_ep_limit_hold: unlimited */
#define ITX_HOLD_TRY_US 1000000000u /* itx_ep_limit_hold: longest time of a try */

/**
 * Limits how long Sends wait for a receive where ITX_OWN_PEER_HOLD is agreed on, in the terms of
 * InfiniBand: each side sets how often its own Sends may be tried, and how long a try of the other
 * side's Sends takes. A Send waits as long as all its tries together take, but no longer than
 * hold_us. Then it fails with IT_DTO_ERR_RECEIVER_NOT_READY, and its connection ends. The limit
 * applies at once, also to Sends that are already waiting, and survives it_ep_reset. A peer learns
 * this side's number of tries only with ITX_OWN_PEER_ACKS; for other peers there is no such limit.
 *
 * @param ep_handle  an RC endpoint in any state
 * @param tries      of this endpoint's Sends: 0 to 6; ITX_HOLD_TRIES (the default): unlimited
 * @param try_us     of the peer's Sends: microseconds per try, at most ITX_HOLD_TRY_US
 *
 * @retval IT_SUCCESS              in force
 * @retval IT_ERR_INVALID_EP       ep_handle does not name an endpoint
 * @retval IT_ERR_INVALID_EP_TYPE  a datagram endpoint
 * @retval IT_ERR_OP_NOT_SUPPORTED the IA belongs to a device
 * @retval IT_ERR_RANGE            tries or try_us is too large
 *
 * Completion: none; the call is synchronous.
 * Threads: any thread.
 * Source: extension of this library; rnr_retry and min_rnr_timer of InfiniBand.
 */
it_status_t itx_ep_limit_hold(it_ep_handle_t ep_handle, uint32_t tries, uint64_t try_us);

/* ==============================================================================================
 * The two ends of a connection
 * ============================================================================================== */

/* The two ends of a connection: each a struct sockaddr_in or sockaddr_in6, with its port. */
struct itx_ep_addresses {
    size_t size;                    /* sizeof(struct itx_ep_addresses) as the caller knows it */
    struct sockaddr_storage local;  /* this end */
    struct sockaddr_storage remote; /* the peer's */
};

/**
 * Reads the addresses and ports of an RC endpoint's connection. The path in it_ep_query has no
 * ports, and on InfiniBand no IP addresses.
 *
 * @param ep_handle  an RC endpoint that is CONNECTED, or was before it became NONOPERATIONAL
 * @param addresses  the caller sets size and owns the memory; the other members are filled in
 *
 * @retval IT_SUCCESS               addresses is filled in
 * @retval IT_ERR_INVALID_EP        ep_handle does not name an endpoint
 * @retval IT_ERR_FAULT             addresses is NULL
 * @retval IT_ERR_INVALID_LENGTH    addresses->size is too small
 * @retval IT_ERR_INVALID_EP_TYPE   a datagram endpoint
 * @retval IT_ERR_OP_NOT_SUPPORTED  the provider does not support the query
 * @retval IT_ERR_INVALID_EP_STATE  the endpoint has had no connection since it was created or reset
 *
 * Completion: none; the call is synchronous.
 * Threads: any thread; the answer is a snapshot.
 * Source: extension of this library.
 */
it_status_t itx_ep_query_addresses(it_ep_handle_t ep_handle, struct itx_ep_addresses *addresses);

/**
 * Reads the addresses and ports of a connection request that is neither accepted nor rejected. So
 * the program learns which address the peer has connected to, if the listen point listens on all
 * addresses.
 *
 * @param cn_est_id  from the request event
 * @param addresses  the caller sets size and owns the memory; the other members are filled in
 *
 * @retval IT_SUCCESS               addresses is filled in
 * @retval IT_ERR_INVALID_CN_EST_ID no connection request is waiting under this id
 * @retval IT_ERR_FAULT             addresses is NULL
 * @retval IT_ERR_INVALID_LENGTH    addresses->size is too small
 * @retval IT_ERR_OP_NOT_SUPPORTED  the provider does not support the query
 *
 * Completion: none; the call is synchronous.
 * Threads: any thread, also a callback.
 * Source: extension of this library.
 */
it_status_t itx_request_query_addresses(it_cn_est_identifier_t cn_est_id,
                                        struct itx_ep_addresses *addresses);

/**
 * Sets an option of the TCP stream below a connected RC endpoint, as setsockopt(2) does. Only
 * options that do not affect how the library reads and writes are allowed: SO_KEEPALIVE,
 * SO_PRIORITY, SO_MARK, SO_REUSEADDR, SO_REUSEPORT, SO_BROADCAST and SO_DONTROUTE of SOL_SOCKET;
 * TCP_KEEPIDLE, TCP_KEEPINTVL, TCP_KEEPCNT, TCP_USER_TIMEOUT, TCP_CONGESTION, TCP_SYNCNT,
 * TCP_LINGER2, TCP_DEFER_ACCEPT and TCP_THIN_LINEAR_TIMEOUTS of IPPROTO_TCP; IP_TOS and IP_TTL of
 * IPPROTO_IP; IPV6_TCLASS and IPV6_UNICAST_HOPS of IPPROTO_IPV6. A connection that keep-alive or
 * the user timeout ends is broken: IT_CM_MSG_CONN_BROKEN_EVENT.
 *
 * @param ep_handle  an RC endpoint that is CONNECTED
 * @param level      as setsockopt
 * @param option     as setsockopt
 * @param value      as setsockopt; copied
 * @param length     bytes of value
 *
 * @retval IT_SUCCESS               in force
 * @retval IT_ERR_INVALID_EP        ep_handle does not name an endpoint
 * @retval IT_ERR_FAULT             value is NULL
 * @retval IT_ERR_INVALID_EP_TYPE   a datagram endpoint
 * @retval IT_ERR_OP_NOT_SUPPORTED  the IA belongs to a device, or the option is not allowed
 * @retval IT_ERR_INVALID_EP_STATE  the endpoint is not CONNECTED, or belongs to another process
 * @retval IT_ERR_RANGE             the system refuses the value
 *
 * Completion: none; the call is synchronous.
 * Threads: any thread, except in a callback of the IA's own EVDs.
 * Source: extension of this library; setsockopt(2).
 */
it_status_t itx_ep_set_stream_option(it_ep_handle_t ep_handle, int level, int option,
                                     const void *value, socklen_t length);

/**
 * Reads an option of the TCP stream below a connected RC endpoint, as getsockopt(2) does. Any
 * option may be read except SO_ERROR, which a read would clear.
 *
 * @param ep_handle  an RC endpoint that is CONNECTED
 * @param level      as getsockopt
 * @param option     as getsockopt
 * @param value      out: as getsockopt
 * @param length     in: size of value in bytes; out: bytes filled in
 *
 * @retval IT_SUCCESS               value and length are filled in
 * @retval IT_ERR_INVALID_EP        ep_handle does not name an endpoint
 * @retval IT_ERR_FAULT             value or length is NULL
 * @retval IT_ERR_INVALID_EP_TYPE   a datagram endpoint
 * @retval IT_ERR_OP_NOT_SUPPORTED  the IA belongs to a device, or SO_ERROR is asked for
 * @retval IT_ERR_INVALID_EP_STATE  the endpoint is not CONNECTED, or belongs to another process
 * @retval IT_ERR_RANGE             the system has no such option
 *
 * Completion: none; the call is synchronous.
 * Threads: any thread, except in a callback of the IA's own EVDs.
 * Source: extension of this library; getsockopt(2).
 */
it_status_t itx_ep_get_stream_option(it_ep_handle_t ep_handle, int level, int option, void *value,
                                     socklen_t *length);

/**
 * it_listen_create on one address of the IA instead of all. So two listen points can use the same
 * port on two addresses. The wildcard address of IPv4 or IPv6 means all addresses of that version.
 *
 * @param ia_handle      the IA
 * @param connect_evd    as it_listen_create
 * @param flags          as it_listen_create
 * @param address        struct sockaddr_in or sockaddr_in6; its port is ignored
 * @param conn_qual      as it_listen_create
 * @param listen_handle  out: the listen point, to be destroyed with it_listen_free
 *
 * @retval IT_SUCCESS                done
 * @retval IT_ERR_INVALID_IA         ia_handle does not name an open IA
 * @retval IT_ERR_OP_NOT_SUPPORTED   the IA belongs to a device
 * @retval IT_ERR_FAULT              address, conn_qual or listen_handle is NULL
 * @retval IT_ERR_INVALID_NETADDR    not an IP address, or not one of the IA
 * @retval IT_ERR_INVALID_CONN_EVD   as it_listen_create
 * @retval IT_ERR_AEVD_NOT_ALLOWED   as it_listen_create
 * @retval IT_ERR_INVALID_FLAGS      as it_listen_create
 * @retval IT_ERR_INVALID_CONN_QUAL  as it_listen_create
 * @retval IT_ERR_CONN_QUAL_BUSY     the port is in use there
 * @retval IT_ERR_NO_PERMISSION      a port reserved for privileged users
 * @retval IT_ERR_RESOURCES          memory or descriptors are used up
 * @retval IT_ERR_IA_CATASTROPHE     the IA has failed
 *
 * Completion: as it_listen_create.
 * Threads: any thread.
 * Source: extension of this library; rdma_bind_addr.
 */
it_status_t itx_listen_create_at(it_ia_handle_t ia_handle, it_evd_handle_t connect_evd,
                                 it_listen_flags_t flags, const struct sockaddr *address,
                                 it_conn_qual_t *conn_qual, it_listen_handle_t *listen_handle);

/* ==============================================================================================
 * Ends without events
 * ============================================================================================== */

/**
 * Moves an RC endpoint from any state to NONOPERATIONAL, from UNCONNECTED too. An established
 * connection ends as by it_ep_disconnect, and an attempt is given up. Posted work completes with
 * IT_DTO_ERR_FLUSHED before the call returns; so does work that is posted later. No connection
 * event or affiliated event reports this. In NONOPERATIONAL the call does nothing.
 *
 * @param ep_handle  an RC endpoint in any state
 *
 * @retval IT_SUCCESS              it is NONOPERATIONAL, and all posted work has completed
 * @retval IT_ERR_INVALID_EP       ep_handle does not name an endpoint
 * @retval IT_ERR_INVALID_EP_TYPE  a datagram endpoint
 * @retval IT_ERR_OP_NOT_SUPPORTED the IA belongs to a device
 * @retval IT_ERR_IA_CATASTROPHE   the IA has failed
 *
 * Completion: none for the call; IT_DTO_ERR_FLUSHED for each posted request and receive.
 * Threads: any thread. If another thread has found the end of the connection before, that may still
 * be reported, once.
 * Source: extension of this library; the state ERR of an InfiniBand queue pair.
 */
it_status_t itx_ep_flush(it_ep_handle_t ep_handle);

/**
 * Returns an RC endpoint to UNCONNECTED from any state, as itx_ep_flush and it_ep_reset would, but
 * posted work is dropped without completions. Completions and events that are already queued stay,
 * and completions keep their slots in the queues until they are dequeued. Once the call returns, no
 * further one of the earlier connection comes.
 *
 * @param ep_handle  an RC endpoint in any state
 *
 * @retval IT_SUCCESS              it is UNCONNECTED, and nothing is posted
 * @retval IT_ERR_INVALID_EP       ep_handle does not name an endpoint
 * @retval IT_ERR_INVALID_EP_STATE another thread has started to connect it
 * @retval IT_ERR_INVALID_EP_TYPE  a datagram endpoint
 * @retval IT_ERR_OP_NOT_SUPPORTED the IA belongs to a device
 * @retval IT_ERR_IA_CATASTROPHE   the IA has failed
 *
 * Completion: none.
 * Threads: any thread.
 * Source: extension of this library; the state RESET of an InfiniBand queue pair.
 */
it_status_t itx_ep_clear(it_ep_handle_t ep_handle);

/*
 * Affiliated event (.cause.ep): an endpoint with an S-RQ has become NONOPERATIONAL, and all
 * receives that it had taken from the S-RQ have completed. Raised only after itx_ep_tell_last_recv.
 */
#define ITX_ASYNC_AFF_EP_LAST_RECV ((it_event_type_t)0x04062)

/**
 * Makes an endpoint with an S-RQ raise ITX_ASYNC_AFF_EP_LAST_RECV each time it becomes
 * NONOPERATIONAL, for any reason; itx_ep_clear counts too. Endpoints without an S-RQ never raise
 * it.
 *
 * @param ep_handle  an RC endpoint in any state
 * @param tell       IT_TRUE: raise the event; IT_FALSE (the default): do not
 *
 * @retval IT_SUCCESS              in force
 * @retval IT_ERR_INVALID_EP       ep_handle does not name an endpoint
 * @retval IT_ERR_INVALID_EP_TYPE  a datagram endpoint
 * @retval IT_ERR_OP_NOT_SUPPORTED the IA belongs to a device
 *
 * Completion: none; the call is synchronous.
 * Threads: any thread.
 * Source: extension of this library; IBV_EVENT_QP_LAST_WQE_REACHED.
 */
it_status_t itx_ep_tell_last_recv(it_ep_handle_t ep_handle, it_boolean_t tell);

/* ==============================================================================================
 * Processes that fork
 * ============================================================================================== */

/*
 * An IA and its connections survive fork(2) if the program freezes the IA, forks, and thaws it in
 * each process that goes on using it. All objects then exist in both processes, and both can create
 * new ones. Listen points, and unfinished attempts, stay with the parent. The child has copies of
 * all registered memory as of the fork.
 *
 * An established connection continues in only one of the two processes: the one that claims it
 * first. In the other process it has then ended (IT_CM_MSG_CONN_DISCONNECT_EVENT); the peer notices
 * nothing. As long as the other process neither claims nor frees the connection, the peer also does
 * not notice if the process that has claimed it is killed.
 *
 * Without these calls an IA belongs to the parent alone: the child must not use it.
 */

/**
 * Prepares an IA for fork(2): stops its thread and its connections. Until itx_ia_thaw the IA
 * transfers nothing, peers wait, and no other call on it or its objects may be made or be under
 * way.
 *
 * @param ia_handle  the Interface Adapter
 *
 * @retval IT_SUCCESS               the process may fork
 * @retval IT_ERR_INVALID_IA        ia_handle does not name an open IA
 * @retval IT_ERR_EVD_BUSY          it is frozen already
 * @retval IT_ERR_OP_NOT_SUPPORTED  the IA belongs to a device, or runs on an event base of the
 *                                  program (itx_ia_set_event_base), or the call comes from a
 *                                  callback
 * @retval IT_ERR_RESOURCES         out of memory; nothing has changed
 * @retval IT_ERR_IA_CATASTROPHE    the IA has failed
 *
 * Completion: none; the call is synchronous.
 * Threads: any thread, while no other thread is in a call on the IA.
 * Source: extension of this library.
 */
it_status_t itx_ia_freeze(it_ia_handle_t ia_handle);

/**
 * Resumes a frozen IA, in the process that froze it or in its child. Connections that were
 * established stay frozen until itx_ep_claim, each for itself; requests posted on them wait. In the
 * child, the descriptors of EVDs keep their numbers but are its own from now on.
 *
 * @param ia_handle  the Interface Adapter; one that is not frozen is left alone
 *
 * @retval IT_SUCCESS         the IA has resumed
 * @retval IT_ERR_INVALID_IA  ia_handle does not name an open IA
 * @retval IT_ERR_RESOURCES   out of memory, descriptors or threads: this child can no longer use
 *                            or free the IA
 *
 * Completion: none; the call is synchronous.
 * Threads: any thread, while no other thread is in a call on the IA.
 * Source: extension of this library.
 */
it_status_t itx_ia_thaw(it_ia_handle_t ia_handle);

/**
 * Resumes a connection in this process, unless the other process has already claimed it. Of the
 * calls on an endpoint, it_ep_disconnect, it_ep_modify, itx_ep_flush and itx_ep_clear claim it
 * first; it_ep_free and it_ia_free leave it to the other process.
 *
 * @param ep_handle  an RC endpoint; one that is not frozen is left alone
 *
 * @retval IT_SUCCESS               the connection belongs to this process
 * @retval IT_ERR_INVALID_EP        ep_handle does not name an endpoint
 * @retval IT_ERR_INVALID_EP_TYPE   a datagram endpoint
 * @retval IT_ERR_INVALID_EP_STATE  the other process has claimed it; here it is about to end
 *
 * Completion: none; the call is synchronous.
 * Threads: any thread, after itx_ia_thaw.
 * Source: extension of this library.
 */
it_status_t itx_ep_claim(it_ep_handle_t ep_handle);

/* ==============================================================================================
 * Socket conversion
 * ============================================================================================== */

/* Arguments of itx_socket_convert. All buffers belong to the caller and are copied by the call. */
struct itx_convert_params {
    size_t size;                     /* sizeof(struct itx_convert_params) as the caller knows it */
    const unsigned char *msg;        /* last streaming message to send; NULL with msg_len 0 */
    size_t msg_len;                  /* bytes in msg */
    const unsigned char *early_data; /* bytes already read from the stream that belong to MPA */
    size_t early_len;                /* bytes in early_data */
    const unsigned char *private_data; /* for the MPA Request (Initiator) or Reply (Responder) */
    size_t private_data_length;        /* bytes in private_data */
    uint64_t timeout_us; /* limit for the MPA exchange, microseconds; 0 = 30 seconds */
};

/**
 * Turns a connected TCP socket into the RDMA connection of an endpoint, with more control than
 * it_socket_convert: private data, a time limit, and bytes that the program has already read from
 * the socket into a buffer of its own. Those bytes, all that follow the last streaming message, are
 * passed in early_data and are treated as the beginning of the MPA stream.
 *
 * flags decide the role: ITX_SC_INITIATOR or ITX_SC_RESPONDER if given; otherwise Responder when
 * there is a msg and Initiator when there is none. On success the library owns the stream and keeps
 * a descriptor of its own; the program may close sd but must not read or write it.
 *
 * @param sd         a connected TCP socket (IPv4 or IPv6) whose local address the IA owns
 * @param ep_handle  an RC endpoint in state UNCONNECTED
 * @param flags      it_sc_flags_t bits
 * @param params     further arguments; NULL means all of them empty. Not used after return
 *
 * @retval IT_SUCCESS                  conversion has begun; one event reports the outcome
 * @retval IT_ERR_INVALID_EP           ep_handle does not name an endpoint
 * @retval IT_ERR_FAULT                a buffer is NULL while its length is not 0
 * @retval IT_ERR_INVALID_FLAGS        unknown bit, both roles, or IT_SC_NO_REQ_REP on a device
 * @retval IT_ERR_INVALID_LENGTH       params->size is too small, or msg or early_data is longer
 *                                     than 65536 bytes
 * @retval IT_ERR_INVALID_PDATA_LENGTH private data is longer than the IA carries, or is given
 *                                     together with IT_SC_NO_REQ_REP
 * @retval IT_ERR_INVALID_EP_TYPE      a datagram endpoint
 * @retval IT_ERR_INVALID_CONVERSION   sd is not a connected TCP socket, or the IA does not own its
 *                                     local address
 * @retval IT_ERR_OP_NOT_SUPPORTED     the IA cannot convert sockets
 * @retval IT_ERR_INVALID_EP_STATE     the endpoint is not UNCONNECTED
 * @retval IT_ERR_RESOURCES            out of memory or descriptors
 * @retval IT_ERR_IA_CATASTROPHE       the IA has failed
 *
 * Completion: IT_CM_MSG_CONN_ESTABLISHED_EVENT, IT_CM_MSG_CONN_PEER_REJECT_EVENT or
 * IT_CM_MSG_CONN_NONPEER_REJECT_EVENT on the connect EVD. When the call itself fails, nothing was
 * sent and sd can be used as before.
 * Threads: any thread; no other thread may use sd during the call.
 * Source: extension of this library; RFC 5044 section 7 (startup), RFC 6581.
 */
it_status_t itx_socket_convert(int sd, it_ep_handle_t ep_handle, it_sc_flags_t flags,
                               const struct itx_convert_params *params);

/**
 * Hands a connected TCP socket over to a listen point, as if it had arrived at the listen point's
 * own port. The library reads the peer's MPA Request from it; a connection request event follows,
 * with private data and read depths, for it_ep_accept, it_reject or it_handoff. This is for a
 * program that serves other protocols on the same port: it peeks at the first octets (MSG_PEEK) and
 * leaves those of MPA in the socket. A listen point with ITX_LISTEN_SOCKETS has no port of its own;
 * its event has the local port of the stream as its qualifier.
 *
 * On success the library owns the stream and its options, and the program closes sd. The stream is
 * treated like one that arrives at a port: it is reset, and no event reports that, when a complete
 * Request does not arrive within 10 seconds, when its octets are no Request, when too many streams
 * wait (itx_ia_set_half_open_share), or when the listen point is freed.
 *
 * @param sd             a connected TCP socket (IPv4 or IPv6) whose local address the IA owns; no
 *                       octet of the Request has been read from it
 * @param listen_handle  the listen point
 *
 * @retval IT_SUCCESS                 the library owns the stream
 * @retval IT_ERR_INVALID_LISTEN      listen_handle does not name a listen point
 * @retval IT_ERR_INVALID_CONVERSION  sd is not a connected TCP socket, or the IA does not own its
 *                                    local address
 * @retval IT_ERR_OP_NOT_SUPPORTED    the IA belongs to a device
 * @retval IT_ERR_RESOURCES           out of memory or descriptors
 * @retval IT_ERR_IA_CATASTROPHE      the IA has failed
 *
 * Completion: IT_CM_REQ_CONN_REQUEST_EVENT on the connect EVD of the listen point. When the call
 * itself fails, sd can be used as before.
 * Threads: any thread; no other thread may use sd during the call.
 * Source: extension of this library; RFC 5044 section 7 (startup), RFC 6581.
 */
it_status_t itx_socket_request(int sd, it_listen_handle_t listen_handle);

/* ==============================================================================================
 * Events
 * ============================================================================================== */

/*
 * In .all_dto_cmpl.flags of any completion: its endpoint was freed while the completion was queued.
 * The handle in the event may be that of a newer endpoint.
 */
#define ITX_DTO_EP_FREED ((it_dto_ud_flags_t)0x20000000)

/* The streams of itx_evd_create_mixed; bits. */
typedef enum {
    ITX_STREAM_DTO = 0x01,         /* IT_DTO_EVENT_STREAM */
    ITX_STREAM_CM_REQ = 0x02,      /* IT_CM_REQ_EVENT_STREAM */
    ITX_STREAM_CM_MSG = 0x04,      /* IT_CM_MSG_EVENT_STREAM */
    ITX_STREAM_ASYNC_AFF = 0x08,   /* IT_ASYNC_AFF_EVENT_STREAM */
    ITX_STREAM_ASYNC_UNAFF = 0x10, /* IT_ASYNC_UNAFF_EVENT_STREAM */
    ITX_STREAM_SOFTWARE = 0x20     /* IT_SOFTWARE_EVENT_STREAM */
} itx_stream_t;

/* The event_number that it_evd_query gives for an EVD of several streams. */
#define ITX_MIXED_EVENT_STREAM ((it_event_type_t)0x30000)

/**
 * Creates a simple EVD that queues the events of several streams in the order of their arrival. (An
 * AEVD gives the events of one member in order, but not those of different members.) It may be used
 * wherever an EVD of one of its streams is required, for all of them at once. All calls on EVDs
 * work as on any other SEVD: it has one queue, one threshold, one descriptor or callback, and may
 * join an AEVD.
 *
 * On uiwarp an event arrives when the library learns of it. On a device, completions stay in a
 * queue of the device until the EVD is polled, so the order is weaker. All completions of an
 * endpoint's work, flushed ones included, come before the event that reports the end of its
 * connection (IT_CM_MSG_CONN_DISCONNECT_EVENT, IT_CM_MSG_CONN_BROKEN_EVENT). Every other event
 * comes after the completions that the device had when the event arrived. On both, work that is
 * posted after the end is flushed after that event.
 *
 * @param ia_handle    the IA
 * @param streams      ITX_STREAM_ bits, at least one
 * @param evd_flag     it_evd_flags_t bits, as for it_evd_create
 * @param queue_size   events that the EVD can hold, of all streams together; at least 1
 * @param threshold    notifications needed before a waiter is woken, at most queue_size;
 *                     IT_THRESHOLD_DISABLE: each one wakes. Every event that is no completion
 *                     is a notification
 * @param aevd_handle  an AEVD the new EVD joins, or a null handle
 * @param evd_handle   out: the EVD, to be destroyed with it_evd_free
 * @param fd           out, with IT_EVD_CREATE_FD only: as for it_evd_create; otherwise it may be
 *                     NULL
 *
 * @retval IT_SUCCESS                     done
 * @retval IT_ERR_INVALID_IA              ia_handle does not name an open IA
 * @retval IT_ERR_FAULT                   evd_handle is NULL
 * @retval IT_ERR_INVALID_EVD_TYPE        streams is 0 or has an unknown bit
 * @retval IT_ERR_INVALID_FLAGS           unknown bit, or IT_EVD_DEQUEUE_NOTIFICATIONS
 * @retval IT_ERR_INVALID_AEVD            aevd_handle does not name an AEVD of this IA
 * @retval IT_ERR_MISMATCH_FD             a descriptor is wanted but fd is NULL, or the EVD joins
 *                                        an AEVD
 * @retval IT_ERR_INVALID_QUEUE_SIZE      queue_size is 0
 * @retval IT_ERR_RESOURCE_QUEUE_SIZE     the IA cannot provide a queue this long
 * @retval IT_ERR_INVALID_THRESHOLD       threshold exceeds queue_size
 * @retval IT_ERR_ASYNC_AFF_EVD_EXISTS    the IA has its EVD for affiliated errors already
 * @retval IT_ERR_ASYNC_UNAFF_EVD_EXISTS  the IA has its EVD for unaffiliated errors already
 * @retval IT_ERR_RESOURCES               out of memory or descriptors
 * @retval IT_ERR_IA_CATASTROPHE          the IA has failed
 *
 * Completion: none; the call is synchronous.
 * Threads: any thread.
 * Source: extension of this library.
 */
it_status_t itx_evd_create_mixed(it_ia_handle_t ia_handle, uint32_t streams,
                                 it_evd_flags_t evd_flag, size_t queue_size, size_t threshold,
                                 it_evd_handle_t aevd_handle, it_evd_handle_t *evd_handle, int *fd);

/**
 * Returns the length of the private data in an event of connection management. The events of IT-API
 * only show whether there are any.
 *
 * @param event  an event of any kind as filled in by the library: the whole union, not one
 *               member of it
 *
 * @return octets of private_data that the peer has sent, at most IT_MAX_PRIV_DATA; 0 for none, for
 *         events that carry none, and for NULL
 *
 * Threads: any thread.
 * Source: extension of this library.
 */
size_t itx_event_private_data_length(const it_event_t *event);

/**
 * Takes several events from an EVD at once, oldest first, like as many calls of it_evd_dequeue, but
 * at lower cost. On an AEVD the ready members take turns, each with several events at a time.
 *
 * @param evd_handle   the EVD, simple or aggregate
 * @param max_events   length of the array, at least 1
 * @param events       out: the events; the rest of the array is left alone
 * @param event_count  out: number of events, at least 1
 *
 * @retval IT_SUCCESS             done
 * @retval IT_ERR_INVALID_EVD     evd_handle does not name an EVD
 * @retval IT_ERR_FAULT           events or event_count is NULL
 * @retval IT_ERR_INVALID_LENGTH  max_events is 0
 * @retval IT_ERR_QUEUE_EMPTY     there is no event
 * @retval IT_ERR_IA_CATASTROPHE  the IA has failed
 *
 * Completion: the call itself consumes the events.
 * Threads: any thread, callbacks included.
 * Source: extension of this library.
 */
it_status_t itx_evd_dequeue_n(it_evd_handle_t evd_handle, size_t max_events, it_event_t *events,
                              size_t *event_count);

/**
 * Waits like it_evd_wait, for the same condition, and then takes as many events as there are and
 * fit, like itx_evd_dequeue_n.
 *
 * @param evd_handle   the EVD, simple or aggregate
 * @param timeout      longest sleep, microseconds; 0 = do not sleep, IT_TIMEOUT_INFINITE = no
 *                     limit
 * @param max_events   length of the array, at least 1
 * @param events       out: the events; the rest of the array is left alone
 * @param event_count  out: number of events, at least 1
 * @param nmore        out: events still queued; with IT_ERR_TIMEOUT_EXPIRED those of an SEVD that
 *                     do not meet the condition; may be NULL
 *
 * @retval IT_SUCCESS                done
 * @retval IT_ERR_INVALID_EVD        evd_handle does not name an EVD
 * @retval IT_ERR_FAULT              events or event_count is NULL
 * @retval IT_ERR_INVALID_LENGTH     max_events is 0
 * @retval IT_ERR_INVALID_EVD_STATE  an SEVD that belongs to an AEVD: wait on the AEVD; or
 *                                   itx_evd_set_waitable forbids it
 * @retval IT_ERR_CALLBACK_EXISTS    a callback handles the events of this EVD (see itx_evd_arm)
 * @retval IT_ERR_WAITER_LIMIT       as many threads as possible are waiting here already
 * @retval IT_ERR_TIMEOUT_EXPIRED    nothing happened in time; with timeout 0, nothing has
 *                                   happened yet
 * @retval IT_ERR_INTERRUPT          a signal handler ran in this thread
 * @retval IT_ERR_ABORT              the EVD or its IA was freed during the sleep
 * @retval IT_ERR_IA_CATASTROPHE     the IA has failed
 *
 * Completion: the call itself consumes the events.
 * Threads: any thread; no event is given to two waiters. The call is no cancellation point: a
 * cancelled thread keeps waiting.
 * Source: extension of this library.
 */
it_status_t itx_evd_wait_n(it_evd_handle_t evd_handle, uint64_t timeout, size_t max_events,
                           it_event_t *events, size_t *event_count, size_t *nmore);

/**
 * itx_evd_dequeue_n with the name, the arguments and the results that other implementations of
 * IT-API have. Not part of the standard, in spite of its name.
 *
 * @param evd_handle    the EVD, simple or aggregate
 * @param deque_count   length of the array, at least 1
 * @param events        out: the events; the rest of the array is left alone
 * @param dequed_count  out: number of events; 0: there is none
 *
 * @retval IT_SUCCESS             done
 * @retval IT_ERR_INVALID_EVD     evd_handle does not name an EVD
 * @retval IT_ERR_FAULT           events or dequed_count is NULL
 * @retval IT_ERR_INVALID_LENGTH  deque_count is 0 or negative
 * @retval IT_ERR_IA_CATASTROPHE  the IA has failed
 *
 * Completion: the call itself consumes the events.
 * Threads: any thread, callbacks included.
 * Source: extension of other implementations.
 */
it_status_t it_evd_dequeue_n(it_evd_handle_t evd_handle, int deque_count, it_event_t *events,
                             int *dequed_count);

/**
 * itx_evd_wait_n for aggregate EVDs, with the name, the arguments and the results that other
 * implementations of IT-API have.
 *
 * @param evd_handle       an aggregate EVD
 * @param timeout          longest sleep, microseconds; 0 = do not sleep, IT_TIMEOUT_INFINITE = no
 *                         limit
 * @param max_event_count  length of the array, at least 1
 * @param events           out: the events; the rest of the array is left alone
 * @param events_count     out: number of events; 0: nothing happened in time; with timeout 0,
 *                         nothing has happened yet
 *
 * @retval IT_SUCCESS                done
 * @retval IT_ERR_INVALID_EVD        evd_handle does not name an EVD
 * @retval IT_ERR_INVALID_AEVD       it names a simple one
 * @retval IT_ERR_FAULT              events or events_count is NULL
 * @retval IT_ERR_INVALID_LENGTH     max_event_count is 0
 * @retval IT_ERR_INVALID_EVD_STATE  itx_evd_set_waitable forbids it
 * @retval IT_ERR_CALLBACK_EXISTS    a callback handles the events of this EVD
 * @retval IT_ERR_WAITER_LIMIT       as many threads as possible are waiting here already
 * @retval IT_ERR_INTERRUPT          a signal handler ran in this thread
 * @retval IT_ERR_ABORT              the EVD or its IA was freed during the sleep
 * @retval IT_ERR_IA_CATASTROPHE     the IA has failed
 *
 * Completion: the call itself consumes the events.
 * Threads: any thread; no event is given to two waiters. The call is no cancellation point: a
 * cancelled thread keeps waiting.
 * Source: extension of other implementations.
 */
it_status_t itx_aevd_wait(it_evd_handle_t evd_handle, uint64_t timeout, size_t max_event_count,
                          it_event_t *events, size_t *events_count);

/**
 * Allows or forbids threads to wait on an EVD; at first they may. While it is forbidden,
 * it_evd_wait, itx_evd_wait_n and itx_aevd_wait return IT_ERR_INVALID_EVD_STATE, at once also in
 * threads that are already waiting. Nothing else changes: events are queued, can be dequeued, and
 * are reported by descriptor, by callback and to an AEVD.
 *
 * @param evd_handle  the EVD, simple or aggregate
 * @param waitable    IT_FALSE: waits end and are refused; any other value: waits are allowed
 *
 * @retval IT_SUCCESS          in force
 * @retval IT_ERR_INVALID_EVD  evd_handle does not name an EVD
 *
 * Completion: none; the call is synchronous. It does not wait for the threads that it wakes. Works
 * on a failed IA.
 * Threads: any thread, callbacks included.
 * Source: extension of this library.
 */
it_status_t itx_evd_set_waitable(it_evd_handle_t evd_handle, it_boolean_t waitable);

/* What a simple EVD reports by descriptor, by callback and to its AEVD: see itx_evd_arm. */
typedef enum {
    /* Initial value: reports while the EVD is ready. Setting it notifies an AEVD once more. */
    ITX_EVD_ARM_OFF,
    ITX_EVD_ARM_NONE,         /* nothing, until it is armed */
    ITX_EVD_ARM_NOTIFICATION, /* the next notification event */
    ITX_EVD_ARM_ANY           /* the next event of any kind */
} itx_evd_arm_t;

/**
 * Makes a simple EVD report one event: the first one queued after this call, of any kind or a
 * notification event (IT_NOTIFY_FLAG, IT_SOLICITED_WAIT_FLAG of the sender, failures). Events that
 * are already queued are not reported: a program arms the EVD, then takes the queued events, then
 * waits. After the report the EVD must be armed again. An EVD armed for any event stays so if it is
 * then armed for a notification event.
 *
 * The EVD reports by its descriptor (IT_EVD_CREATE_FD), which stays readable until the EVD is armed
 * again, or by its callback, which runs once for each report. If it belongs to an AEVD with
 * IT_EVD_DEQUEUE_NOTIFICATIONS, it queues one IT_AEVD_NOTIFICATION_EVENT there for each event that
 * it was armed for; arming again does not remove them. Taking the EVD's events changes neither.
 * it_evd_wait on the EVD itself is not affected. If there is a callback, threads may wait unless
 * arm is ITX_EVD_ARM_OFF: so a program can leave events to the callback except while one of its
 * threads waits for them.
 *
 * @param evd_handle  the simple EVD
 * @param arm         what it reports from now on
 *
 * @retval IT_SUCCESS                in force
 * @retval IT_ERR_INVALID_EVD        evd_handle does not name an EVD
 * @retval IT_ERR_INVALID_EVD_TYPE   an AEVD
 * @retval IT_ERR_INVALID_EVD_STATE  its AEVD returns the events themselves
 * @retval IT_ERR_INVALID_FLAGS      arm has another value
 * @retval IT_ERR_OP_NOT_SUPPORTED   an EVD for completions of a device, unless arm is
 *                                   ITX_EVD_ARM_OFF or ITX_EVD_ARM_NONE
 *
 * Completion: none; the call is synchronous.
 * Threads: any thread, callbacks included.
 * Source: extension of this library; ibv_req_notify_cq.
 */
it_status_t itx_evd_arm(it_evd_handle_t evd_handle, itx_evd_arm_t arm);

/*
 * For itx_ia_set_spin: the library chooses the time, and adapts it to the program's earlier waits.
 */
#define ITX_SPIN_DEFAULT UINT64_MAX

/**
 * Limits how long a call that waits (it_evd_wait, itx_evd_wait_n, itx_aevd_wait) may poll before
 * its thread sleeps. Polling reacts sooner but uses processor time. The library polls only where
 * earlier waits were short, and by default for at most about 50 microseconds.
 *
 * The same limit applies to posts of a program that polls memory. If the program has repeatedly
 * posted as soon as the peer's answer arrived, a post polls for the next answer before it returns,
 * by default for at most about 100 microseconds. Programs with callbacks or descriptors are
 * excluded.
 *
 * @param ia_handle  the Interface Adapter; the limit applies to all its EVDs
 * @param spin_us    longest time, microseconds; 0: the thread sleeps at once if there is no event;
 *                   ITX_SPIN_DEFAULT: the initial value. At most 10,000, even if it is larger,
 *                   since a polling thread does not notice signals
 *
 * @retval IT_SUCCESS         in force for waits that begin from now on
 * @retval IT_ERR_INVALID_IA  ia_handle does not name an open IA
 *
 * Completion: none; the call is synchronous. Works on a failed IA.
 * Threads: any thread.
 * Source: extension of this library.
 */
it_status_t itx_ia_set_spin(it_ia_handle_t ia_handle, uint64_t spin_us);

/**
 * Limits how many streams of one source may wait at the listen points of an IA without having sent
 * their MPA Request. A source is an IPv4 address, the /64 of an IPv6 address, or a link-local
 * address. One stream more from the same source resets the one of its streams that has waited
 * longest; streams of other sources are not affected.
 *
 * All sources together may use half of the process's descriptors (RLIMIT_NOFILE when the IA was
 * created), at most 4096. One stream more resets the one that has waited longest of all. By default
 * one source may have half of that. A smaller share protects against floods from few addresses; a
 * larger one suits programs that open many connections at once from one host.
 * itx_counters.half_open_refused counts the streams that were reset.
 *
 * @param ia_handle  the Interface Adapter; the limit applies to all its listen points
 * @param streams    how many of one source may wait; 0: the default. Never more than all sources
 *                   together may have
 *
 * @retval IT_SUCCESS         in force for streams that come from now on
 * @retval IT_ERR_INVALID_IA  ia_handle does not name an open IA
 *
 * Completion: none; the call is synchronous. Works on a failed IA. No effect on a device, whose
 * driver listens.
 * Threads: any thread.
 * Source: extension of this library.
 */
it_status_t itx_ia_set_half_open_share(it_ia_handle_t ia_handle, size_t streams);

/**
 * Sets the niceness of the thread of an Interface Adapter. By default it is that of the thread that
 * created the IA. When the program's threads keep all processors busy, a favoured IA's thread
 * serves the one-sided operations of peers sooner: a niceness of -10 reduces the slowest thousandth
 * of RDMA Reads from milliseconds to fractions of one (docs/performance-notes.md). No other thread
 * of the program is affected.
 *
 * @param ia_handle  the Interface Adapter
 * @param niceness   -20 (most favoured) to 19
 *
 * @retval IT_SUCCESS               in force
 * @retval IT_ERR_INVALID_IA        ia_handle does not name an open IA
 * @retval IT_ERR_RANGE             niceness is below -20 or above 19
 * @retval IT_ERR_NO_PERMISSION     the process needs CAP_SYS_NICE, or a limit RLIMIT_NICE
 *                                  that allows it
 * @retval IT_ERR_OP_NOT_SUPPORTED  the IA has no thread: it runs on a base of the program
 *                                  (itx_ia_set_event_base)
 * @retval IT_ERR_RESOURCES         the kernel refuses for another reason
 *
 * Completion: none; the call is synchronous. Works on a failed IA.
 * Threads: any thread.
 * Source: extension of this library.
 */
it_status_t itx_ia_set_niceness(it_ia_handle_t ia_handle, int niceness);

/**
 * Makes the calling thread do the work of an IA's thread while it sleeps in a poll, select or epoll
 * of its own. Then no other thread must be woken for arriving data. The thread sleeps until *fd is
 * readable, or for any reason of its own, and then calls itx_ia_lead_end. In between it makes no
 * other call on the IA or its objects; other threads may make all calls.
 *
 * From the first call on, the IA's thread waits longer before it acts: it reads streams only when
 * no thread of the program has polled, waited or led for 8 milliseconds (one, if another thread has
 * wanted to lead meanwhile), even if EVDs have callbacks or descriptors. (Without this call it acts
 * sooner in that case, and competes with threads that read.)
 *
 * @param ia_handle  the Interface Adapter
 * @param fd         out: a descriptor of the IA, to be polled for reading and nothing else.
 *                   Every call of a process returns the same one
 *
 * @retval IT_SUCCESS               the thread leads, until itx_ia_lead_end
 * @retval IT_ERR_INVALID_IA        ia_handle does not name an open IA
 * @retval IT_ERR_FAULT             fd is NULL
 * @retval IT_ERR_WAITER_LIMIT      another thread leads or waits for events, and does the work
 * @retval IT_ERR_OP_NOT_SUPPORTED  the IA belongs to a device, which needs no such thread, or the
 *                                  calling thread is the IA's
 *
 * Completion: none; the call is synchronous and does not block.
 * Threads: any thread of the program, except in a callback.
 * Source: extension of this library.
 */
it_status_t itx_ia_lead_begin(it_ia_handle_t ia_handle, int *fd);

/**
 * Ends what itx_ia_lead_begin began. Callbacks of EVDs that become ready through this call run in
 * the calling thread before it returns. They may call what other callbacks may: see
 * it_evd_callback_attach.
 *
 * @param ia_handle  the Interface Adapter
 * @param work       IT_TRUE if the descriptor was readable: the call reads what has arrived.
 *                   IT_FALSE: it reads nothing
 *
 * @retval IT_SUCCESS                done
 * @retval IT_ERR_INVALID_IA         ia_handle does not name an open IA
 * @retval IT_ERR_INVALID_EVD_STATE  the calling thread does not lead this IA
 * @retval IT_ERR_OP_NOT_SUPPORTED   as above
 *
 * Completion: none; the call is synchronous and does not block.
 * Threads: the thread that called itx_ia_lead_begin.
 * Source: extension of this library.
 */
it_status_t itx_ia_lead_end(it_ia_handle_t ia_handle, it_boolean_t work);

/**
 * Posts a Send whose last segment is not filled yet: its octets are at another place, which need
 * not be registered. Octets that the socket takes at once are sent from there; the rest is copied
 * to the segment before the call returns. So the call saves a copy while the network keeps up with
 * the program, and the octets may change as soon as the call returns.
 *
 * Other threads of the library may read the octets during the call. If the octets change during the
 * call, the peer finds a wrong CRC, and the connection may break. If their memory is unmapped, the
 * thread that reads them gets a fault, or the connection breaks.
 *
 * @param ep_handle       the endpoint
 * @param local_segments  as for it_post_send. The call may write to the last one
 * @param num_segments    number of segments, at least 1
 * @param cookie          as for it_post_send
 * @param dto_flags       as for it_post_send, without IT_COALESCE_WR_FLAG: held posts before it are
 *                        sent, too
 * @param octets          as many octets as the last segment has
 * @param copied          out: how many of them were copied; may be NULL
 *
 * @retval IT_SUCCESS                   posted
 * @retval IT_ERR_INVALID_EP            ep_handle does not name a live endpoint for connections
 * @retval IT_ERR_INVALID_EP_TYPE       the endpoint is for datagrams
 * @retval IT_ERR_FAULT                 octets is NULL, or local_segments is
 * @retval IT_ERR_OP_NOT_SUPPORTED      the IA reads registered memory only
 * @retval IT_ERR_INVALID_NUM_SEGMENTS  no segment, or more than max_send_segments
 * @retval IT_ERR_INVALID_DTO_FLAGS     dto_flags has another flag
 * @retval IT_ERR_INVALID_LMR           a segment names no live LMR of this IA
 * @retval IT_ERR_PAYLOAD_SIZE          the segments have more than max_dto_payload_size octets
 * @retval IT_ERR_INVALID_EP_STATE      the endpoint is not connected, or is frozen (itx_ia_freeze)
 * @retval IT_ERR_TOO_MANY_POSTS        max_request_dtos requests are in use
 * @retval IT_ERR_IA_CATASTROPHE        the IA has failed
 *
 * Completion: as for it_post_send.
 * Threads: any thread.
 * Source: extension of this library.
 */
it_status_t itx_post_send_from(it_ep_handle_t ep_handle, const it_lmr_triplet_t *local_segments,
                               size_t num_segments, it_dto_cookie_t cookie,
                               it_dto_flags_t dto_flags, const void *octets, size_t *copied);

/** Memory in which the octets of the next long Sends of a peer are placed: itx_ep_aim. */
struct itx_aim {
    size_t size;          /* sizeof(struct itx_aim); set by the caller */
    void *octets;         /* need not be registered */
    it_length_t length;   /* of that memory */
    uint32_t skip;        /* octets at the beginning of each message that go to its receive */
    uint32_t least;       /* messages that begin with a segment of fewer octets are not aimed */
    it_dto_cookie_t mark; /* bits that are added to the cookies of aimed receives */
};

/**
 * Lets the next Sends of the peer arrive in memory that no receive names. A Send that begins while
 * the aim is set takes a receive as usual. Its first aim->skip octets go to the segments of the
 * receive. Those after them go to aim->octets as long as there is room, one message after another;
 * octets without room go to the segments of the receive, at their usual places. The cookie of its
 * completion has the bits of aim->mark. Its length is that of the whole message.
 *
 * The call ends an aim that was set before. If a part of a message has arrived, that part is copied
 * to its receive, and the rest goes there, too. After the call has returned, nothing is written to
 * the memory of the former aim.
 *
 * Any thread of the library may write to the memory while the aim is set. If it is unmapped, the
 * thread that writes gets a fault, or the connection breaks.
 *
 * @param ep_handle  the endpoint
 * @param aim        the new aim; NULL: none
 * @param used       out: octets that messages have at the former aim, of those that have completed.
 *                   Their completions may not have been dequeued yet. May be NULL
 *
 * @retval IT_SUCCESS               done
 * @retval IT_ERR_INVALID_EP        ep_handle does not name a live endpoint for connections
 * @retval IT_ERR_INVALID_EP_TYPE   the endpoint is for datagrams
 * @retval IT_ERR_FAULT             aim->octets is NULL
 * @retval IT_ERR_INVALID_LENGTH    aim->size is too small, or aim->length is 0 or above 2^31
 * @retval IT_ERR_INVALID_EP_STATE  the endpoint is frozen (itx_ia_freeze)
 * @retval IT_ERR_OP_NOT_SUPPORTED  the IA places Sends only in their receives
 *
 * Completion: none; the call is synchronous.
 * Threads: any thread, except in a callback.
 * Source: extension of this library.
 */
it_status_t itx_ep_aim(it_ep_handle_t ep_handle, const struct itx_aim *aim, it_length_t *used);

struct event_base; /* of libevent 2; programs that do not use this call need no libevent */

/**
 * Moves all work that an IA would do on a thread of its own (listening, connection startup, timers,
 * reading while no thread waits, callbacks of EVDs) to a libevent base of the program, in the
 * thread that runs that base. The IA's own thread ends, so a program with a single thread keeps a
 * single thread. The call is best made right after it_ia_create, but existing connections lose
 * nothing. A further call moves the IA to another base.
 *
 * The calling thread becomes the IA's thread: it must be the one that runs the base. While it does
 * something else, only its own calls do the IA's work: calls that block (it_evd_wait,
 * itx_evd_wait_n) and calls that poll (it_evd_dequeue on an empty EVD), on any EVD, do that work
 * for all IAs of this thread, without running other handlers of the base. The base and calls that
 * block run callbacks of EVDs; calls that poll never do.
 *
 * The base must outlive the IA. It may have been created with any options except
 * EVENT_BASE_FLAG_EPOLL_USE_CHANGELIST. The IA watches descriptors on it as long as the IA exists,
 * so event_base_dispatch does not return by itself; a program that is done calls
 * event_base_loopbreak or it_ia_free. Handlers of the base may call it_ia_free, but callbacks of
 * EVDs may not; another thread may call it only while this thread runs the base.
 *
 * @param ia_handle  the IA
 * @param base       the base; it still belongs to the program
 *
 * @retval IT_SUCCESS             done: the IA has no thread
 * @retval IT_ERR_INVALID_IA      ia_handle does not name an open IA
 * @retval IT_ERR_FAULT           base is NULL
 * @retval IT_ERR_EVD_BUSY        called from the callback of an EVD of this IA, or while another
 *                                thread makes the same call
 * @retval IT_ERR_RESOURCES       out of memory, or the base does not accept descriptors; the
 *                                IA stays where it was
 * @retval IT_ERR_IA_CATASTROPHE  the IA has failed
 *
 * Completion: none; the call is synchronous.
 * Threads: the thread that runs the base.
 * Source: extension of this library.
 */
it_status_t itx_ia_set_event_base(it_ia_handle_t ia_handle, struct event_base *base);

/* ==============================================================================================
 * Shared receive queues
 * ============================================================================================== */

/**
 * Sets how long a message may hold a receive of an S-RQ without progress. The first segment of a
 * message takes the receive from the queue. So a peer that begins a message and stops withholds
 * that receive from all other endpoints of the S-RQ. When the time is over the connection ends: the
 * peer gets a Terminate (RDMAP, remote operation, catastrophic for the stream) and the endpoint's
 * work is flushed, including this receive, with IT_DTO_ERR_FLUSHED. IT_ASYNC_AFF_EP_SRQ_ERROR and
 * IT_CM_MSG_CONN_BROKEN_EVENT follow. Other connections are not affected.
 *
 * The time starts again with every octet of the message. In total a message may take this time,
 * plus one second for each 4,000 octets that have arrived. The library checks eight times within
 * the limit, at least once a second, so a connection may end that much later. Messages that arrive
 * at once, and receives posted on an endpoint itself, are not affected.
 *
 * @param srq_handle  the S-RQ
 * @param timeout_us  microseconds; initially 30 seconds. Values below 1,000 count as 1,000;
 *                    IT_TIMEOUT_INFINITE: no limit
 *
 * @retval IT_SUCCESS               in force, also for messages in progress
 * @retval IT_ERR_INVALID_SRQ       srq_handle does not name an S-RQ
 * @retval IT_ERR_OP_NOT_SUPPORTED  the IA's provider sees whole messages only (devices)
 *
 * Completion: none; the call is synchronous.
 * Threads: any thread.
 * Source: extension of this library.
 */
it_status_t itx_srq_set_message_timeout(it_srq_handle_t srq_handle, uint64_t timeout_us);

/* ==============================================================================================
 * Memory in the terms of InfiniBand
 * ============================================================================================== */

/*
 * A wide RMR is a window of type 1 in InfiniBand's terms: peers may use it through every endpoint
 * of its PZ, and each link replaces the one before. A narrow RMR is a window of type 2: it belongs
 * to the connection of the endpoint on which it was linked, whose peer may invalidate it. Link,
 * unlink and invalidation need objects of one PZ. The LMR needs none of the remote rights, only the
 * local right that each of them requires.
 */

/**
 * Registers memory like it_lmr_create, in IT_ADDR_MODE_ABSOLUTE, but peers address it from base on:
 * base is the address of the first byte for them, and may be 0. Local segments still use the
 * addresses of the process. An absolute window on the region uses the addresses that peers use for
 * that part of it.
 *
 * @param pz_handle    the protection zone
 * @param addr         first byte
 * @param length       bytes, at least 1
 * @param base         address of the first byte for peers; host byte order
 * @param privs        rights, as it_lmr_create
 * @param flags        as it_lmr_create
 * @param lmr_handle   out: the region, to be destroyed with it_lmr_free
 * @param rmr_context  out: key for peers, host byte order; may be NULL
 *
 * @retval IT_SUCCESS                  done
 * @retval IT_ERR_INVALID_PZ           pz_handle does not name a protection zone
 * @retval IT_ERR_FAULT                lmr_handle is NULL, or not all of the range is mapped
 * @retval IT_ERR_ADDRESS              addr is IT_NO_ADDR
 * @retval IT_ERR_INVALID_LENGTH       length is 0
 * @retval IT_ERR_RESOURCE_LMR_LENGTH  longer than the IA allows
 * @retval IT_ERR_RANGE                base + length goes beyond 64 bits
 * @retval IT_ERR_INVALID_PRIVS        as it_lmr_create
 * @retval IT_ERR_INVALID_FLAGS        as it_lmr_create
 * @retval IT_ERR_ACCESS               the memory is mapped without a right that privs asks for
 * @retval IT_ERR_RESOURCES            memory or keys are used up
 * @retval IT_ERR_OP_NOT_SUPPORTED     the IA belongs to a device
 * @retval IT_ERR_IA_CATASTROPHE       the IA has failed
 *
 * Completion: none; the call is synchronous.
 * Threads: any thread.
 * Source: extension of this library; ibv_reg_mr_iova.
 */
it_status_t itx_lmr_create_at(it_pz_handle_t pz_handle, void *addr, it_length_t length,
                              it_rdma_addr_t base, it_mem_priv_t privs, it_lmr_flag_t flags,
                              it_lmr_handle_t *lmr_handle, it_rmr_context_t *rmr_context);

/*
 * A bit of the mask of it_lmr_modify, which keeps the keys, like ibv_rereg_mr. The new rights hold
 * at once for peers that have the key. Operations, including posted receives, may be using the
 * region; the call waits until requests in progress have ended. A key that was invalidated stays
 * invalid. Devices refuse the bit (IT_ERR_OP_NOT_SUPPORTED).
 */
#define ITX_LMR_KEEP_KEY ((it_lmr_param_mask_t)0x40000000)

/*
 * A flag of regions, for all calls that create one. The program promises not to change octets while
 * a peer reads them by RDMA Read. With CRC uiwarp then sends from the memory itself; without the
 * flag it sums and sends a copy. If the octets change in spite of the promise, the peer finds a
 * wrong CRC, and the connection ends. Devices ignore the flag.
 */
#define ITX_LMR_STEADY ((it_lmr_flag_t)0x40000000)

/*
 * A flag of regions, for all calls that create one. The program may change octets while its own
 * Send or RDMA Write sends them: the peer gets old or new ones, as with RDMA devices. With CRC
 * uiwarp then sums and sends a copy. Without the flag it sends from the memory itself; if octets
 * change, the peer may find a wrong CRC, and the connection ends. Devices ignore the flag.
 */
#define ITX_LMR_RESTLESS ((it_lmr_flag_t)0x20000000)

/**
 * Reserves a key for a window for as long as the window exists, together with all 256 keys that
 * differ only in the low 8 bits. The key opens nothing until itx_rmr_link_key is called; links by
 * it_rmr_link still get other keys.
 *
 * @param rmr_handle   the window
 * @param rmr_context  out: the key, host byte order; at first with low bits chosen by the
 *                     library, later the key that was linked last
 *
 * @retval IT_SUCCESS               done
 * @retval IT_ERR_INVALID_RMR       rmr_handle does not name a window
 * @retval IT_ERR_FAULT             rmr_context is NULL
 * @retval IT_ERR_RESOURCES         keys are used up
 * @retval IT_ERR_OP_NOT_SUPPORTED  the IA belongs to a device
 *
 * Completion: none; the call is synchronous.
 * Threads: any thread.
 * Source: extension of this library; ibv_mw.rkey after ibv_alloc_mw.
 */
it_status_t itx_rmr_key(it_rmr_handle_t rmr_handle, it_rmr_context_t *rmr_context);

/**
 * it_rmr_link with a key of the program's choice, which may differ from that of itx_rmr_key in the
 * low 8 bits. The key that opened the window before is no longer valid. A narrow window that is
 * linked already has to be unlinked first: otherwise the request fails with
 * IT_RMR_OPERATION_FAILED, as on InfiniBand.
 *
 * @param rmr_handle   the window, after itx_rmr_key
 * @param lmr_handle   the region, of the same PZ
 * @param addr         first byte of the window
 * @param length       bytes of the window, at least 1
 * @param addr_mode    as it_rmr_link
 * @param privs        rights of peers
 * @param ep_handle    the endpoint on whose send queue the request runs, of the same PZ
 * @param cookie       returned in the completion
 * @param dto_flags    as it_rmr_link
 * @param rmr_context  the key, host byte order
 *
 * @retval IT_SUCCESS                accepted; the outcome follows as an event
 * @retval IT_ERR_INVALID_RMR        rmr_handle does not name a window
 * @retval IT_ERR_INVALID_LMR        lmr_handle does not name a region with a valid key
 * @retval IT_ERR_INVALID_EP         ep_handle does not name an endpoint
 * @retval IT_ERR_INVALID_EP_TYPE    a datagram endpoint
 * @retval IT_ERR_INVALID_PZ         the three are not of one PZ
 * @retval IT_ERR_INVALID_DTO_FLAGS  a flag that does not exist or does not apply
 * @retval IT_ERR_INVALID_PRIVS      no right, or one that a window cannot give
 * @retval IT_ERR_INVALID_ADDR_MODE  as it_rmr_link
 * @retval IT_ERR_INVALID_LENGTH     length is 0
 * @retval IT_ERR_RANGE              the window is not within the region, or rmr_context is not one
 *                                   of its keys
 * @retval IT_ERR_ACCESS             the region lacks a local right that one of privs requires
 * @retval IT_ERR_INVALID_EP_STATE   the endpoint is neither CONNECTED nor NONOPERATIONAL
 * @retval IT_ERR_TOO_MANY_POSTS     the request queue is full
 * @retval IT_ERR_OP_NOT_SUPPORTED   the IA belongs to a device
 * @retval IT_ERR_IA_CATASTROPHE     the IA has failed
 *
 * Completion: IT_RMR_LINK_CMPL_EVENT on the request EVD, as for it_rmr_link.
 * Threads: any thread; the order in which calls return is the order of execution.
 * Source: extension of this library; ibv_bind_mw, IBV_WR_BIND_MW with ibv_inc_rkey.
 */
it_status_t itx_rmr_link_key(it_rmr_handle_t rmr_handle, it_lmr_handle_t lmr_handle, void *addr,
                             it_length_t length, it_addr_mode_t addr_mode, it_mem_priv_t privs,
                             it_ep_handle_t ep_handle, it_dto_cookie_t cookie,
                             it_dto_flags_t dto_flags, it_rmr_context_t rmr_context);

/**
 * Unlinks a window at once, without an endpoint. This is for a window whose connection is over:
 * that connection can run no request, and a linked narrow window keeps its endpoint from being
 * freed. When the call returns no byte moves through the window. A link that is posted and has not
 * run yet opens it again.
 *
 * @param rmr_handle  the window, linked or not
 *
 * @retval IT_SUCCESS               the window is not linked
 * @retval IT_ERR_INVALID_RMR       rmr_handle does not name a window
 * @retval IT_ERR_OP_NOT_SUPPORTED  the IA belongs to a device
 *
 * Completion: none; the call is synchronous.
 * Threads: any thread.
 * Source: extension of this library.
 */
it_status_t itx_rmr_reset(it_rmr_handle_t rmr_handle);

/**
 * Invalidates a key: that of a window, as it_rmr_unlink would, or that of an LMR. Peers can then no
 * longer access the LMR's memory, but local requests can still use it; it_lmr_modify gives the LMR
 * a new key. The request runs in its turn on the send queue. When it completes, no byte moves
 * through the key.
 *
 * @param ep_handle    a connected RC endpoint of the key's PZ; for a narrow window, the endpoint
 *                     of its connection
 * @param rmr_context  the key, host byte order
 * @param cookie       returned in the completion
 * @param dto_flags    COMPLETION, NOTIFY, BARRIER_FENCE, UNLINK_FENCE, COALESCE_WR
 *
 * @retval IT_SUCCESS                accepted; the outcome follows as an event
 * @retval IT_ERR_INVALID_EP         ep_handle does not name an endpoint
 * @retval IT_ERR_INVALID_EP_TYPE    a datagram endpoint
 * @retval IT_ERR_INVALID_DTO_FLAGS  a flag that does not exist or does not apply
 * @retval IT_ERR_INVALID_EP_STATE   the endpoint is neither CONNECTED nor NONOPERATIONAL
 * @retval IT_ERR_TOO_MANY_POSTS     the request queue is full
 * @retval IT_ERR_OP_NOT_SUPPORTED   the IA belongs to a device
 * @retval IT_ERR_IA_CATASTROPHE     the IA has failed
 *
 * Completion: IT_RMR_LINK_CMPL_EVENT on the request EVD. IT_RMR_OPERATION_FAILED, and the
 * connection breaks, if the key opens nothing, is of another PZ or of another connection, or is
 * that of an LMR with windows.
 * Threads: any thread; the order in which calls return is the order of execution.
 * Source: extension of this library; IBV_WR_LOCAL_INV.
 */
it_status_t itx_post_invalidate(it_ep_handle_t ep_handle, it_rmr_context_t rmr_context,
                                it_dto_cookie_t cookie, it_dto_flags_t dto_flags);

/* ==============================================================================================
 * Features beyond it_ia_info_t
 * ============================================================================================== */

/* Limits of an IA, and which extensions of the data path it has. */
struct itx_features {
    size_t size;                /* sizeof(struct itx_features) as the caller knows it */
    it_boolean_t atomic_swap;   /* itx_post_atomic_swap works */
    uint32_t immediate_bits;    /* of an immediate value: 64 on uiwarp; 0: not supported */
    uint32_t send_imm_receives; /* receives that itx_post_send_imm with data uses at the peer */
    /* The largest values that create calls accept; memory may run out before. */
    size_t max_request_dtos;        /* requests of an EP */
    size_t max_recv_dtos;           /* receives of an EP */
    size_t max_srq_dtos;            /* receives of an S-RQ; 0: no S-RQs */
    size_t max_send_segments;       /* of a Send */
    size_t max_recv_segments;       /* of a receive */
    size_t max_rdma_read_segments;  /* of an RDMA Read */
    size_t max_rdma_write_segments; /* of an RDMA Write */
    size_t max_evd_events;          /* queue of an EVD */
    uint64_t max_message_bytes;     /* of one request */
    uint64_t max_lmr_bytes;         /* of one LMR */
    uint32_t max_ird;               /* RDMA Reads and atomics of the peer at once */
    uint32_t max_ord;               /* the same, of this side */
};

/**
 * Reads which extensions of the data path an IA has, and its limits.
 *
 * @param ia_handle  the Interface Adapter
 * @param features   the caller sets size and owns the memory; the other members are filled in
 *
 * @retval IT_SUCCESS             features is filled in
 * @retval IT_ERR_INVALID_IA      ia_handle does not name an open IA
 * @retval IT_ERR_FAULT           features is NULL
 * @retval IT_ERR_INVALID_LENGTH  features->size is too small
 *
 * Completion: none; the call is synchronous. Works on a failed IA.
 * Threads: any thread.
 * Source: extension of this library.
 */
it_status_t itx_ia_query_features(it_ia_handle_t ia_handle, struct itx_features *features);

/* ==============================================================================================
 * Atomic swap
 * ============================================================================================== */

/**
 * Stores 8 bytes into a peer's memory and fetches the value that they replace, in one atomic step.
 * Otherwise the same as it_post_atomic: the peer's EP needs atomics_enable, its region
 * IT_PRIV_ATOMIC, and the operation counts towards the ORD. On iWARP it is sent as a compare and
 * swap that compares no bit, which every peer with RFC 7306 understands.
 *
 * @param ep_handle    a connected RC endpoint
 * @param value        the value to store
 * @param result       one segment of 8 bytes, aligned to 8, for the old value
 * @param cookie       returned in the completion
 * @param dto_flags    it_dto_flags_t bits: COMPLETION, NOTIFY, BARRIER_FENCE, COALESCE_WR
 * @param rdma_addr    the 8 bytes, in the terms of the peer's region, aligned to 8; host byte
 *                     order
 * @param rmr_context  the key of that region, host byte order
 *
 * @retval IT_SUCCESS                accepted; the outcome follows as an event
 * @retval IT_ERR_INVALID_EP         ep_handle does not name an endpoint
 * @retval IT_ERR_FAULT              result is NULL
 * @retval IT_ERR_INVALID_DTO_FLAGS  a flag that does not exist or does not apply
 * @retval IT_ERR_INVALID_LMR        result does not name a region
 * @retval IT_ERR_INVALID_LENGTH     result is not 8 bytes long
 * @retval IT_ERR_ADDRESS            rdma_addr or the result's address is not a multiple of 8
 * @retval IT_ERR_OP_NOT_SUPPORTED   itx_features.atomic_swap of the IA is IT_FALSE
 * @retval IT_ERR_INVALID_EP_STATE   the endpoint is neither CONNECTED nor NONOPERATIONAL
 * @retval IT_ERR_TOO_MANY_POSTS     the request queue is full
 * @retval IT_ERR_IA_CATASTROPHE     the IA has failed
 *
 * Completion: IT_DTO_CMP_SWAP_CMPL_EVENT on the request EVD.
 * Threads: any thread; the order in which calls return is the order on the wire.
 * Source: extension of this library; RFC 7306 (atomic operations).
 */
it_status_t itx_post_atomic_swap(it_ep_handle_t ep_handle, uint64_t value,
                                 const it_lmr_triplet_t *result, it_dto_cookie_t cookie,
                                 it_dto_flags_t dto_flags, it_rdma_addr_t rdma_addr,
                                 it_rmr_context_t rmr_context);

/* ==============================================================================================
 * Immediate values
 * ============================================================================================== */

/*
 * An immediate value is a number that travels with a Send or an RDMA Write and arrives in the
 * completion of a receive, whose buffer it does not touch. It has the same value on both sides,
 * whatever their byte orders.
 *
 * On iWARP it is the Immediate Data message of RFC 7306: 64 bits (8 octets in network order) in a
 * message of its own after the data, which consumes a receive of its own (unless ITX_OWN_PEER_IMM
 * is agreed on). Nothing on the wire shows whether a peer understands it; a peer that does not ends
 * the connection with a Terminate. So both programs have to agree, for example in their private
 * data, and then enable it with itx_ep_enable_immediate. An endpoint without that call treats such
 * a message as an unknown one.
 *
 * A program that is portable between transports uses values below 2^32, posts at least
 * itx_features.send_imm_receives receives for each Send with a value, and takes data
 * (transferred_length) and value (itx_event_immediate) from whichever completion has them.
 */

/**
 * Enables immediate values on an endpoint whose peer supports them: from now on they may be posted
 * and are accepted. Best called before the connection exists, since the peer's first message may
 * carry one. Survives it_ep_reset.
 *
 * @param ep_handle  an RC endpoint in any state
 * @param enable     IT_TRUE: enable; IT_FALSE (the default): disable
 *
 * @retval IT_SUCCESS               in force
 * @retval IT_ERR_INVALID_EP        ep_handle does not name an endpoint
 * @retval IT_ERR_OP_NOT_SUPPORTED  itx_features.immediate_bits of the IA is 0
 * @retval IT_ERR_IA_CATASTROPHE    the IA has failed
 *
 * Completion: none; the call is synchronous.
 * Threads: any thread.
 * Source: extension of this library; RFC 7306.
 */
it_status_t itx_ep_enable_immediate(it_ep_handle_t ep_handle, it_boolean_t enable);

/**
 * Sends a message and a value. On iWARP the peer gets two receive completions: first that of the
 * data, then that of the value, with transferred_length 0. Without data there is only the second.
 * With ITX_OWN_PEER_IMM one completion has both. IT_SOLICITED_WAIT_FLAG makes the completion with
 * the value a notification event.
 *
 * @param ep_handle       a connected RC endpoint for which immediate values are enabled
 * @param local_segments  the data to send; the array is copied, the data is read until completion
 * @param num_segments    number of segments, at most max_send_segments; 0 for no data
 * @param cookie          returned in the completion
 * @param dto_flags       as it_post_send
 * @param immediate       the value
 *
 * @retval IT_SUCCESS                   accepted; the outcome follows as an event
 * @retval IT_ERR_INVALID_EP            ep_handle does not name an endpoint
 * @retval IT_ERR_FAULT                 local_segments is NULL but num_segments is not 0
 * @retval IT_ERR_INVALID_DTO_FLAGS     a flag that does not exist or does not apply
 * @retval IT_ERR_INVALID_NUM_SEGMENTS  more than max_send_segments
 * @retval IT_ERR_INVALID_LMR           a segment does not name a region
 * @retval IT_ERR_PAYLOAD_SIZE          the segments add up to more than max_dto_payload_size, or
 *                                      immediate has more bits than the IA carries
 * @retval IT_ERR_OP_NOT_SUPPORTED      immediate values are not enabled for this endpoint
 * @retval IT_ERR_INVALID_EP_STATE      the endpoint is neither CONNECTED nor NONOPERATIONAL
 * @retval IT_ERR_TOO_MANY_POSTS        the request queue is full
 * @retval IT_ERR_IA_CATASTROPHE        the IA has failed
 *
 * Completion: one IT_DTO_SEND_CMPL_EVENT on the request EVD.
 * Threads: any thread; the order in which calls return is the order on the wire.
 * Source: extension of this library; RFC 5040 (Send), RFC 7306 (Immediate Data).
 */
it_status_t itx_post_send_imm(it_ep_handle_t ep_handle, const it_lmr_triplet_t *local_segments,
                              size_t num_segments, it_dto_cookie_t cookie, it_dto_flags_t dto_flags,
                              uint64_t immediate);

/**
 * Writes to a peer's memory and, once the data is in place, completes a receive of the peer with a
 * value. On iWARP the peer's completion has transferred_length 0.
 *
 * @param ep_handle       a connected RC endpoint for which immediate values are enabled
 * @param local_segments  the data to write; the array is copied, the data is read until completion
 * @param num_segments    number of segments, at most max_rdma_write_segments; 0: the value alone
 * @param cookie          returned in the completion
 * @param dto_flags       as it_post_rdma_write, and IT_SOLICITED_WAIT_FLAG
 * @param rdma_addr       destination, in the terms of the peer's region; host byte order
 * @param rmr_context     the key of that region, host byte order
 * @param immediate       the value
 *
 * @retval IT_SUCCESS                   accepted; the outcome follows as an event
 * @retval IT_ERR_INVALID_EP            ep_handle does not name an endpoint
 * @retval IT_ERR_FAULT                 local_segments is NULL but num_segments is not 0
 * @retval IT_ERR_INVALID_DTO_FLAGS     a flag that does not exist or does not apply
 * @retval IT_ERR_INVALID_NUM_SEGMENTS  more than max_rdma_write_segments
 * @retval IT_ERR_INVALID_LMR           a segment does not name a region
 * @retval IT_ERR_PAYLOAD_SIZE          the segments add up to more than the IA allows in a message,
 *                                      or immediate has more bits than it carries
 * @retval IT_ERR_OP_NOT_SUPPORTED      immediate values are not enabled for this endpoint
 * @retval IT_ERR_INVALID_EP_STATE      the endpoint is neither CONNECTED nor NONOPERATIONAL
 * @retval IT_ERR_TOO_MANY_POSTS        the request queue is full
 * @retval IT_ERR_IA_CATASTROPHE        the IA has failed
 *
 * Completion: one IT_DTO_RDMA_WRITE_CMPL_EVENT on the request EVD.
 * Threads: any thread; the order in which calls return is the order on the wire.
 * Source: extension of this library; RFC 5040 (RDMA Write), RFC 7306 (Immediate Data).
 */
it_status_t itx_post_rdma_write_imm(it_ep_handle_t ep_handle,
                                    const it_lmr_triplet_t *local_segments, size_t num_segments,
                                    it_dto_cookie_t cookie, it_dto_flags_t dto_flags,
                                    it_rdma_addr_t rdma_addr, it_rmr_context_t rmr_context,
                                    uint64_t immediate);

/**
 * Reads the immediate value of a completion.
 *
 * @param event  an event of any kind as filled in by the library
 * @param value  out: the value; left alone if there is none
 *
 * @return IT_TRUE for a successful receive completion that has a value; IT_FALSE for everything
 *         else, NULL arguments included
 *
 * Threads: any thread.
 * Source: extension of this library; RFC 7306.
 */
it_boolean_t itx_event_immediate(const it_event_t *event, uint64_t *value);

/* ==============================================================================================
 * Counters
 * ============================================================================================== */

/* Totals of one IA since it was created. They never go down and wrap at 2^64. */
struct itx_counters {
    size_t size;                    /* sizeof(struct itx_counters) as the caller knows it */
    uint64_t bytes_sent;            /* bytes written to TCP streams */
    uint64_t bytes_received;        /* bytes read from TCP streams */
    uint64_t fpdus_sent;            /* MPA FPDUs written */
    uint64_t fpdus_received;        /* MPA FPDUs read and accepted */
    uint64_t send_calls;            /* system calls that wrote to a stream */
    uint64_t receive_calls;         /* system calls that read from a stream */
    uint64_t crc_errors;            /* FPDUs with a wrong CRC */
    uint64_t protocol_errors;       /* other violations of MPA, DDP or RDMAP by a peer */
    uint64_t terminates_sent;       /* RDMAP Terminate messages sent */
    uint64_t terminates_received;   /* RDMAP Terminate messages received */
    uint64_t connections_accepted;  /* passive connections established */
    uint64_t connections_initiated; /* active connections established */
    uint64_t half_open_refused;     /* incoming streams reset because too many awaited MPA */
    uint64_t half_open_timeouts; /* incoming streams closed because no MPA Request came in time */
    uint64_t thread_wakeups;     /* times a library thread woke up */
    uint64_t send_retries;       /* times a socket was full and the rest had to wait */
    uint64_t leader_changes;     /* times another thread took over reading: see below */
    uint64_t nudges;             /* second ready-to-receive messages, to peers that stayed silent */
};

/*
 * An IA on a device counts only connections_accepted, connections_initiated and half_open_refused;
 * the other members stay 0, since the device moves the data and reports nothing about it.
 * leader_changes counts hand-overs between the IA's thread and threads of the program that poll or
 * wait, and from one waiting thread to another.
 */

/**
 * Reads the counters of an IA. The members are read one by one, so they need not all belong to the
 * same instant while traffic is running.
 *
 * @param ia_handle  the Interface Adapter
 * @param counters   the caller sets size and owns the memory; the other members are filled in
 *
 * @retval IT_SUCCESS             counters is filled in
 * @retval IT_ERR_INVALID_IA      ia_handle does not name an open IA
 * @retval IT_ERR_FAULT           counters is NULL
 * @retval IT_ERR_INVALID_LENGTH  counters->size is too small
 *
 * Completion: none; the call is synchronous. Works on a failed IA.
 * Threads: any thread; cheap enough for periodic sampling.
 * Source: extension of this library.
 */
it_status_t itx_ia_stats(it_ia_handle_t ia_handle, struct itx_counters *counters);

/*
 * Writes lines of a layer above the library, for the snapshot that ITAPI_STATS shows (it_trace),
 * to text, which has room octets (0: text may be NULL). Each line reads "KIND NAME=VALUE ..." and
 * ends with a line feed; a kind of the library itself (itapi, ia, ep, end) must not be used. A line
 * with a pair "id=..." has rates. Returns the length of all lines, as snprintf does; the snapshot
 * shows those that fit whole.
 */
typedef size_t (*itx_stats_source_t)(void *context, char *text, size_t room);

/**
 * Sets the function that adds lines to the snapshots of this IA. Without ITAPI_STATS it is never
 * called. The thread of an IA calls it and does nothing else until it returns. So it must not wait
 * for the thread of any IA, and must not call this function.
 *
 * @param ia_handle  the Interface Adapter
 * @param source     the function; NULL: none from now on. The one before is not called any more
 *                   when this call returns
 * @param context    given to each call
 *
 * @retval IT_SUCCESS         done
 * @retval IT_ERR_INVALID_IA  ia_handle does not name an open IA
 *
 * Completion: none; the call is synchronous, and waits for a snapshot that is being made.
 * Threads: any thread, but no source.
 * Source: extension of this library.
 */
it_status_t itx_ia_set_stats_source(it_ia_handle_t ia_handle, itx_stats_source_t source,
                                    void *context);

/*
 * Totals of one endpoint since it was created, over all its connections. They never go down. The
 * first four and the last wrap at 2^32, the others at 2^64. On a device only these five are
 * counted: the others are 0.
 */
struct itx_ep_counters {
    size_t size;                  /* sizeof(struct itx_ep_counters) as the caller knows it */
    uint64_t requests_posted;     /* requests that were accepted */
    uint64_t requests_done;       /* of these, the ones whose slot in the queue is free again */
    uint64_t receives_posted;     /* receives that were accepted; with an S-RQ: taken from it */
    uint64_t receives_done;       /* of these, the ones whose slot in the queue is free again */
    uint64_t bytes_sent;          /* bytes written to TCP streams */
    uint64_t bytes_received;      /* bytes read from TCP streams */
    uint64_t fpdus_sent;          /* MPA FPDUs written */
    uint64_t fpdus_received;      /* MPA FPDUs read and accepted */
    uint64_t send_calls;          /* system calls that wrote to a stream */
    uint64_t receive_calls;       /* system calls that read from a stream */
    uint64_t send_retries;        /* times the socket was full and the rest had to wait */
    uint64_t crc_errors;          /* FPDUs with a wrong CRC: each has ended a connection */
    uint64_t protocol_errors;     /* other violations of MPA, DDP or RDMAP by the peer */
    uint64_t terminates_sent;     /* RDMAP Terminate messages sent */
    uint64_t terminates_received; /* RDMAP Terminate messages received */
    uint64_t nudges;              /* second ready-to-receive messages */
    /*
     * Requests that have ended; their events may still be queued in the EVD. On a device the same
     * as requests_done, because the library learns of an end only when the CQ is polled.
     */
    uint64_t requests_ended;
};

/**
 * Reads the counters of an endpoint. The members are read one by one, so they need not all belong
 * to the same instant while traffic is running.
 *
 * @param ep_handle  the endpoint, in any state; also a datagram endpoint
 * @param counters   the caller sets size and owns the memory; the other members are filled in
 *
 * @retval IT_SUCCESS               counters is filled in
 * @retval IT_ERR_INVALID_EP        ep_handle does not name an endpoint
 * @retval IT_ERR_FAULT             counters is NULL
 * @retval IT_ERR_INVALID_LENGTH    counters->size is too small
 * @retval IT_ERR_OP_NOT_SUPPORTED  the provider has no counters of endpoints
 *
 * Completion: none; the call is synchronous. Works on a failed IA.
 * Threads: any thread; cheap enough for periodic sampling. On uiwarp it takes no lock of the data
 * path, on devices the locks of the work queues, each for a moment.
 * Source: extension of this library.
 */
it_status_t itx_ep_stats(it_ep_handle_t ep_handle, struct itx_ep_counters *counters);

/* ==============================================================================================
 * Providers
 * ============================================================================================== */

/* Reasons why a provider has no Interfaces, or none that a program can use. */
typedef enum {
    ITX_OBSTACLE_NONE,         /* none is known */
    ITX_OBSTACLE_MODULE,       /* its module is not installed, or was refused */
    ITX_OBSTACLE_LIBRARY,      /* a library that its module needs cannot be loaded */
    ITX_OBSTACLE_DEVICE,       /* there is no device, or it does not open */
    ITX_OBSTACLE_DRIVER,       /* a device has no driver for programs */
    ITX_OBSTACLE_NODE,         /* a file below /dev is missing */
    ITX_OBSTACLE_PERMISSION,   /* the program may not open a file below /dev, or the module */
    ITX_OBSTACLE_LOCKED_MEMORY /* the limit of locked memory is too low (RLIMIT_MEMLOCK) */
} itx_obstacle_t;

/* A provider, and what keeps its Interfaces from being used. */
struct itx_provider_info {
    size_t size;             /* sizeof(struct itx_provider_info) as the caller knows it */
    size_t interfaces;       /* number that it lists now */
    itx_obstacle_t obstacle; /* the first one found */
    char name[32];           /* "uiwarp", "verbs", or as configured; NUL-terminated */
    char detail[216];        /* one line of text about the obstacle; "": none */
};

/**
 * Reads what keeps a provider's Interfaces from being used, for programs that explain to their
 * users why it_interface_list lacks something. Each call checks again; it opens a device for a
 * moment and registers a little memory (256 KiB) with it.
 *
 * @param index  0, 1, ... in the order of it_interface_list; a module that could not be loaded
 *               comes last
 * @param info   the caller sets size and owns the memory; the other members are filled in
 *
 * @retval IT_SUCCESS             info is filled in
 * @retval IT_ERR_RANGE           index is not below the number of providers
 * @retval IT_ERR_FAULT           info is NULL
 * @retval IT_ERR_INVALID_LENGTH  info->size is too small
 *
 * Completion: none; the call is synchronous. It may take milliseconds.
 * Threads: any thread.
 * Source: extension of this library.
 */
it_status_t itx_provider_query(size_t index, struct itx_provider_info *info);

/* ==============================================================================================
 * Names of values
 * ============================================================================================== */

/**
 * Returns the name of a status code, e.g. "IT_ERR_INVALID_EP".
 *
 * @param status  any value
 *
 * @return a constant string, never to be freed; "unknown it_status_t" for a value without a name
 *
 * Threads: any thread.
 * Source: extension of this library.
 */
const char *itx_status_string(it_status_t status);

/**
 * Returns the name of a completion status, e.g. "IT_DTO_ERR_FLUSHED".
 *
 * @param status  any value
 *
 * @return a constant string, never to be freed; "unknown it_dto_status_t" for a value without a
 *         name
 *
 * Threads: any thread.
 * Source: extension of this library.
 */
const char *itx_dto_status_string(it_dto_status_t status);

/**
 * Returns the name of an event number or event stream, e.g. "IT_CM_MSG_CONN_ESTABLISHED_EVENT". If
 * several names have the value, it is that of version 2.1.
 *
 * @param event_number  any value
 *
 * @return a constant string, never to be freed; "unknown it_event_type_t" for a value without a
 *         name
 *
 * Threads: any thread.
 * Source: extension of this library.
 */
const char *itx_event_string(it_event_type_t event_number);

/**
 * Returns the name of the reason of IT_CM_MSG_CONN_NONPEER_REJECT_EVENT, e.g. "IT_CN_REJ_TIMEOUT".
 *
 * @param code  any value
 *
 * @return a constant string, never to be freed; "unknown it_conn_reject_code_t" for a value without
 *         a name
 *
 * Threads: any thread.
 * Source: extension of this library.
 */
const char *itx_reject_string(it_conn_reject_code_t code);

/**
 * Returns the name of an RC endpoint state, e.g. "IT_EP_STATE_CONNECTED".
 *
 * @param state  any value
 *
 * @return a constant string, never to be freed; "unknown it_ep_state_rc_t" for a value without a
 *         name
 *
 * Threads: any thread.
 * Source: extension of this library.
 */
const char *itx_ep_state_string(it_ep_state_rc_t state);

#ifdef __cplusplus
} /* extern "C" */

/* Overloads that take numbers for masks, like those of it_api_cxx.h. */
inline it_status_t itx_socket_convert(int sd, it_ep_handle_t ep_handle,
                                      itx_mask<it_sc_flags_t> flags,
                                      const struct itx_convert_params *params)
{
    return itx_socket_convert(sd, ep_handle, static_cast<it_sc_flags_t>(flags), params);
}

inline it_status_t itx_evd_create_mixed(it_ia_handle_t ia_handle, uint32_t streams,
                                        itx_mask<it_evd_flags_t> evd_flag, size_t queue_size,
                                        size_t threshold, it_evd_handle_t aevd_handle,
                                        it_evd_handle_t *evd_handle, int *fd)
{
    return itx_evd_create_mixed(ia_handle, streams, static_cast<it_evd_flags_t>(evd_flag),
                                queue_size, threshold, aevd_handle, evd_handle, fd);
}

inline it_status_t itx_lmr_create_at(it_pz_handle_t pz_handle, void *addr, it_length_t length,
                                     it_rdma_addr_t base, itx_mask<it_mem_priv_t> privs,
                                     itx_mask<it_lmr_flag_t> flags, it_lmr_handle_t *lmr_handle,
                                     it_rmr_context_t *rmr_context)
{
    return itx_lmr_create_at(pz_handle, addr, length, base, static_cast<it_mem_priv_t>(privs),
                             static_cast<it_lmr_flag_t>(flags), lmr_handle, rmr_context);
}

inline it_status_t itx_rmr_link_key(it_rmr_handle_t rmr_handle, it_lmr_handle_t lmr_handle,
                                    void *addr, it_length_t length, it_addr_mode_t addr_mode,
                                    itx_mask<it_mem_priv_t> privs, it_ep_handle_t ep_handle,
                                    it_dto_cookie_t cookie, itx_mask<it_dto_flags_t> dto_flags,
                                    it_rmr_context_t rmr_context)
{
    return itx_rmr_link_key(rmr_handle, lmr_handle, addr, length, addr_mode,
                            static_cast<it_mem_priv_t>(privs), ep_handle, cookie,
                            static_cast<it_dto_flags_t>(dto_flags), rmr_context);
}

inline it_status_t itx_post_invalidate(it_ep_handle_t ep_handle, it_rmr_context_t rmr_context,
                                       it_dto_cookie_t cookie, itx_mask<it_dto_flags_t> dto_flags)
{
    return itx_post_invalidate(ep_handle, rmr_context, cookie,
                               static_cast<it_dto_flags_t>(dto_flags));
}

inline it_status_t itx_post_atomic_swap(it_ep_handle_t ep_handle, uint64_t value,
                                        const it_lmr_triplet_t *result, it_dto_cookie_t cookie,
                                        itx_mask<it_dto_flags_t> dto_flags,
                                        it_rdma_addr_t rdma_addr, it_rmr_context_t rmr_context)
{
    return itx_post_atomic_swap(ep_handle, value, result, cookie,
                                static_cast<it_dto_flags_t>(dto_flags), rdma_addr, rmr_context);
}

inline it_status_t itx_post_send_imm(it_ep_handle_t ep_handle,
                                     const it_lmr_triplet_t *local_segments, size_t num_segments,
                                     it_dto_cookie_t cookie, itx_mask<it_dto_flags_t> dto_flags,
                                     uint64_t immediate)
{
    return itx_post_send_imm(ep_handle, local_segments, num_segments, cookie,
                             static_cast<it_dto_flags_t>(dto_flags), immediate);
}

inline it_status_t itx_post_rdma_write_imm(it_ep_handle_t ep_handle,
                                           const it_lmr_triplet_t *local_segments,
                                           size_t num_segments, it_dto_cookie_t cookie,
                                           itx_mask<it_dto_flags_t> dto_flags,
                                           it_rdma_addr_t rdma_addr, it_rmr_context_t rmr_context,
                                           uint64_t immediate)
{
    return itx_post_rdma_write_imm(ep_handle, local_segments, num_segments, cookie,
                                   static_cast<it_dto_flags_t>(dto_flags), rdma_addr, rmr_context,
                                   immediate);
}
#endif

#endif /* ITAPI_INCLUDE_ITX_API_H */
