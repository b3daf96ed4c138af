/* SPDX-License-Identifier: BSD-2-Clause */
/* Service points, connection requests, connecting and disconnecting: both ends in one process. */
#include "udapl_kit.h"

#include <arpa/inet.h>
#include <string.h>
#include <unistd.h>

static struct kit_side active, passive;

static void open_sides(void)
{
    kit_side_open(&active);
    kit_side_open(&passive);
}

static void close_sides(void)
{
    kit_side_close(&active);
    kit_side_close(&passive);
}

static DAT_RETURN connect_with(DAT_EP_HANDLE ep, DAT_CONN_QUAL qual, DAT_TIMEOUT timeout,
                               DAT_COUNT size, void *data)
{
    DAT_IA_ATTR attr;

    CHECK_DAT(dat_ia_query(active.ia, NULL, DAT_IA_FIELD_ALL, &attr, 0, NULL));
    return dat_ep_connect(ep, attr.ia_address_ptr, qual, timeout, size, data, DAT_QOS_BEST_EFFORT,
                          DAT_CONNECT_DEFAULT_FLAG);
}

static DAT_CR_PARAM ask(DAT_CR_HANDLE cr)
{
    DAT_CR_PARAM param;

    CHECK_DAT(dat_cr_query(cr, DAT_CR_FIELD_ALL, &param));
    return param;
}

static DAT_EP_PARAM ask_ep(DAT_EP_HANDLE ep)
{
    DAT_EP_PARAM param;

    CHECK_DAT(dat_ep_query(ep, DAT_EP_FIELD_ALL, &param));
    return param;
}

static void reset_both(void)
{
    CHECK_DAT(dat_ep_reset(active.ep));
    CHECK_DAT(dat_ep_reset(passive.ep));
    EXPECT_EQ(DAT_EP_STATE_UNCONNECTED, kit_state(active.ep));
    EXPECT_EQ(DAT_EP_STATE_UNCONNECTED, kit_state(passive.ep));
}

/* ---- Private data and addresses ------------------------------------------------------------- */

static void fill(unsigned char *data, size_t size)
{
    for (size_t i = 0; i < size; i++)
        data[i] = (unsigned char)(i + 1);
}

static void check_address(const DAT_SOCK_ADDR *told)
{
    const struct sockaddr_in *address = (const void *)told;
    const struct sockaddr_in *own;
    DAT_IA_ATTR attr;

    CHECK_DAT(dat_ia_query(passive.ia, NULL, DAT_IA_FIELD_ALL, &attr, 0, NULL));
    own = (const void *)attr.ia_address_ptr;
    EXPECT_EQ(AF_INET, address->sin_family);
    EXPECT_EQ(own->sin_addr.s_addr, address->sin_addr.s_addr);
}

static void check_addresses(DAT_CONN_QUAL qual)
{
    DAT_EP_PARAM one = ask_ep(active.ep);
    DAT_EP_PARAM other = ask_ep(passive.ep);

    EXPECT_EQ(qual, one.remote_port_qual);
    EXPECT_EQ(qual, other.local_port_qual);
    CHECK(one.local_port_qual != 0);
    EXPECT_EQ(one.local_port_qual, other.remote_port_qual);
    check_address(one.local_ia_address_ptr);
    check_address(one.remote_ia_address_ptr);
    check_address(other.local_ia_address_ptr);
    check_address(other.remote_ia_address_ptr);
}

/* The consumer changes the octets of the request in place, as dtest does. */
static void private_data_both_ways(void)
{
    DAT_CONNECTION_EVENT_DATA *established;
    DAT_CR_ARRIVAL_EVENT_DATA *arrival;
    unsigned char data[48], *octets;
    DAT_CR_PARAM request;
    DAT_CONN_QUAL qual;
    DAT_PSP_HANDLE psp;
    DAT_EVENT event;

    open_sides();
    psp = kit_listen(&passive, DAT_PSP_CONSUMER_FLAG, &qual);
    fill(data, sizeof(data));
    CHECK_DAT(connect_with(active.ep, qual, DAT_TIMEOUT_INFINITE, sizeof(data), data));
    event = kit_next(passive.cr, DAT_CONNECTION_REQUEST_EVENT);
    arrival = &event.event_data.cr_arrival_event_data;
    CHECK(arrival->sp_handle.psp_handle == psp);
    EXPECT_EQ(qual, arrival->conn_qual);
    EXPECT_EQ(AF_INET, arrival->local_ia_address_ptr->sa_family);
    request = ask(arrival->cr_handle);
    EXPECT_EQ(48, request.private_data_size);
    EXPECT_EQ(0, memcmp(data, request.private_data, sizeof(data)));
    CHECK(request.local_ep_handle == DAT_HANDLE_NULL && request.remote_port_qual != 0);
    octets = request.private_data;
    for (size_t i = 0; i < sizeof(data); i++)
        octets[i]++;
    /* dtest passes the mask of another call. */
    CHECK_DAT(dat_cr_query(arrival->cr_handle, (DAT_CR_PARAM_MASK)DAT_CSP_FIELD_ALL, &request));
    CHECK(request.private_data == octets);
    CHECK_DAT(dat_cr_accept(arrival->cr_handle, passive.ep, 48, request.private_data));
    EXPECT_TYPE(DAT_INVALID_HANDLE, dat_cr_query(arrival->cr_handle, DAT_CR_FIELD_ALL, &request));
    event = kit_next(active.connect, DAT_CONNECTION_EVENT_ESTABLISHED);
    established = &event.event_data.connect_event_data;
    CHECK(established->ep_handle == active.ep);
    EXPECT_EQ(48, established->private_data_size);
    for (size_t i = 0; i < sizeof(data); i++)
        data[i]++;
    EXPECT_EQ(0, memcmp(data, established->private_data, sizeof(data)));
    event = kit_next(passive.connect, DAT_CONNECTION_EVENT_ESTABLISHED);
    EXPECT_EQ(0, event.event_data.connect_event_data.private_data_size);
    check_addresses(qual);
    kit_part(&active, &passive);
    CHECK_DAT(dat_psp_free(psp));
    close_sides();
}

/* ---- Attempts that fail --------------------------------------------------------------------- */

static void rejected_by_the_peer(void)
{
    const DAT_CONNECTION_EVENT_DATA *rejected;
    DAT_CONN_QUAL qual;
    DAT_PSP_HANDLE psp;
    DAT_EVENT event;

    open_sides();
    psp = kit_listen(&passive, DAT_PSP_CONSUMER_FLAG, &qual);
    kit_connect(&active, active.ep, qual);
    EXPECT_EQ(DAT_EP_STATE_ACTIVE_CONNECTION_PENDING, kit_state(active.ep));
    CHECK_DAT(dat_cr_reject(kit_request(&passive), 3, "no!"));
    event = kit_next(active.connect, DAT_CONNECTION_EVENT_PEER_REJECTED);
    rejected = &event.event_data.connect_event_data;
    EXPECT_EQ(3, rejected->private_data_size);
    EXPECT_EQ(0, memcmp("no!", rejected->private_data, 3));
    EXPECT_EQ(DAT_EP_STATE_DISCONNECTED, kit_state(active.ep));
    CHECK_DAT(dat_ep_disconnect(active.ep, DAT_CLOSE_ABRUPT_FLAG));
    kit_is_empty(active.connect);
    CHECK_DAT(dat_ep_reset(active.ep));
    CHECK_DAT(dat_psp_free(psp));
    kit_join(&active, &passive);
    kit_part(&active, &passive);
    close_sides();
}

static void nobody_listens(void)
{
    open_sides();
    kit_connect(&active, active.ep, 1);
    (void)kit_next(active.connect, DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
    EXPECT_EQ(DAT_EP_STATE_DISCONNECTED, kit_state(active.ep));
    close_sides();
}

/* Nobody answers. The request is then invalid. */
static void timed_out(void)
{
    DAT_CONN_QUAL qual;
    DAT_PSP_HANDLE psp;
    DAT_CR_HANDLE cr;

    open_sides();
    psp = kit_listen(&passive, DAT_PSP_CONSUMER_FLAG, &qual);
    CHECK_DAT(connect_with(active.ep, qual, 100000, 0, NULL));
    cr = kit_request(&passive);
    (void)kit_next(active.connect, DAT_CONNECTION_EVENT_TIMED_OUT);
    EXPECT_EQ(DAT_EP_STATE_DISCONNECTED, kit_state(active.ep));
    if (kit_is_uiwarp(passive.ia)) {
        EXPECT_TYPE(DAT_INVALID_HANDLE, dat_cr_accept(cr, passive.ep, 0, NULL));
        EXPECT_EQ(DAT_EP_STATE_UNCONNECTED, kit_state(passive.ep));
    } else { /* siw cannot withdraw a request */
        CHECK_DAT(dat_cr_reject(cr, 0, NULL));
    }
    EXPECT_TYPE(DAT_INVALID_HANDLE, dat_cr_reject(cr, 0, NULL));
    CHECK_DAT(dat_psp_free(psp));
    close_sides();
}

static void bad_arguments(void)
{
    struct sockaddr_in far = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(0xcb007101)};
    struct sockaddr local = {.sa_family = AF_UNIX};
    DAT_SOCK_ADDR *ia = NULL;
    char data[1024] = {0};
    DAT_IA_ATTR attr;

    open_sides();
    CHECK_DAT(dat_ia_query(active.ia, NULL, DAT_IA_FIELD_ALL, &attr, 0, NULL));
    ia = attr.ia_address_ptr;
#define CONNECT(address, qual, timeout, size, data, qos, flags)                                    \
    dat_ep_connect(active.ep, address, qual, timeout, size, data, qos, (DAT_CONNECT_FLAGS)(flags))
    EXPECT_TYPE(DAT_INVALID_PARAMETER, CONNECT(NULL, 80, 1, 0, NULL, DAT_QOS_BEST_EFFORT, 0));
    EXPECT_TYPE(DAT_INVALID_PARAMETER, CONNECT(ia, 0, 1, 0, NULL, DAT_QOS_BEST_EFFORT, 0));
    EXPECT_TYPE(DAT_INVALID_PARAMETER, CONNECT(ia, 65536, 1, 0, NULL, DAT_QOS_BEST_EFFORT, 0));
    EXPECT_TYPE(DAT_INVALID_PARAMETER, CONNECT(ia, 80, 0, 0, NULL, DAT_QOS_BEST_EFFORT, 0));
    EXPECT_TYPE(DAT_INVALID_PARAMETER, CONNECT(ia, 80, 1, -1, data, DAT_QOS_BEST_EFFORT, 0));
    EXPECT_TYPE(DAT_INVALID_PARAMETER, CONNECT(ia, 80, 1, 1024, data, DAT_QOS_BEST_EFFORT, 0));
    EXPECT_TYPE(DAT_INVALID_PARAMETER, CONNECT(ia, 80, 1, 1, NULL, DAT_QOS_BEST_EFFORT, 0));
    EXPECT_TYPE(DAT_INVALID_PARAMETER, CONNECT(ia, 80, 1, 0, NULL, DAT_QOS_BEST_EFFORT, 4));
    EXPECT_TYPE(DAT_MODEL_NOT_SUPPORTED, CONNECT(ia, 80, 1, 0, NULL, DAT_QOS_PREMIUM, 0));
    EXPECT_TYPE(DAT_MODEL_NOT_SUPPORTED, CONNECT(ia, 80, 1, 0, NULL, DAT_QOS_BEST_EFFORT,
                                                 DAT_CONNECT_MULTIPATH_REQUIRED_FLAG));
    EXPECT_TYPE(DAT_INVALID_ADDRESS, CONNECT(&local, 80, 1, 0, NULL, DAT_QOS_BEST_EFFORT, 0));
    if (kit_is_uiwarp(active.ia))
        EXPECT_TYPE(DAT_INVALID_ADDRESS,
                    CONNECT((DAT_SOCK_ADDR *)&far, 80, 1, 0, NULL, DAT_QOS_BEST_EFFORT, 0));
    EXPECT_TYPE(DAT_INVALID_PARAMETER, dat_ep_disconnect(active.ep, (DAT_CLOSE_FLAGS)7));
    EXPECT_EQ(DAT_EP_STATE_UNCONNECTED, kit_state(active.ep));
    kit_is_empty(active.connect);
    close_sides();
}

/* ---- States --------------------------------------------------------------------------------- */

static void calls_in_the_wrong_state(void)
{
    open_sides();
    EXPECT_TYPE(DAT_INVALID_STATE, dat_ep_disconnect(active.ep, DAT_CLOSE_ABRUPT_FLAG));
    CHECK_DAT(dat_ep_reset(active.ep)); /* no effect */
    kit_join(&active, &passive);
    EXPECT_EQ(DAT_EP_STATE_CONNECTED, kit_state(active.ep));
    EXPECT_EQ(DAT_EP_STATE_CONNECTED, kit_state(passive.ep));
    EXPECT_TYPE(DAT_INVALID_STATE, connect_with(active.ep, 80, 1000000, 0, NULL));
    EXPECT_TYPE(DAT_INVALID_STATE, dat_ep_reset(active.ep));
    kit_part(&active, &passive);
    EXPECT_EQ(DAT_EP_STATE_DISCONNECTED, kit_state(active.ep));
    CHECK_DAT(dat_ep_disconnect(active.ep, DAT_CLOSE_GRACEFUL_FLAG));
    CHECK_DAT(dat_ep_disconnect(passive.ep, DAT_CLOSE_ABRUPT_FLAG));
    kit_is_empty(active.connect);
    kit_is_empty(passive.connect);
    EXPECT_TYPE(DAT_INVALID_STATE, connect_with(active.ep, 80, 1000000, 0, NULL));
    reset_both();
    kit_join(&passive, &active); /* with exchanged roles */
    kit_part(&passive, &active);
    close_sides();
}

/* Disconnecting an attempt raises one event. */
static void attempt_given_up(void)
{
    DAT_CONN_QUAL qual;
    DAT_PSP_HANDLE psp;

    open_sides();
    psp = kit_listen(&passive, DAT_PSP_CONSUMER_FLAG, &qual);
    kit_connect(&active, active.ep, qual);
    CHECK_DAT(dat_ep_disconnect(active.ep, DAT_CLOSE_GRACEFUL_FLAG));
    (void)kit_next(active.connect, DAT_CONNECTION_EVENT_DISCONNECTED);
    kit_is_empty(active.connect);
    CHECK_DAT(dat_psp_free(psp));
    close_sides();
}

/* An EP can be used again at once. The events of consecutive connections arrive in order. */
static void many_times(void)
{
    DAT_CONN_QUAL qual;
    DAT_PSP_HANDLE psp;

    open_sides();
    psp = kit_listen(&passive, DAT_PSP_CONSUMER_FLAG, &qual);
    for (unsigned i = 0; i < 200; i++) {
        struct kit_side *first = i % 2 ? &active : &passive;

        kit_connect(&active, active.ep, qual);
        CHECK_DAT(dat_cr_accept(kit_request(&passive), passive.ep, 0, NULL));
        (void)kit_next(passive.connect, DAT_CONNECTION_EVENT_ESTABLISHED);
        (void)kit_next(active.connect, DAT_CONNECTION_EVENT_ESTABLISHED);
        kit_part(first, first == &active ? &passive : &active);
        reset_both();
    }
    CHECK_DAT(dat_psp_free(psp));
    close_sides();
}

/* ---- Service points ------------------------------------------------------------------------- */

/* A qualifier larger than a port is still reported unchanged by queries and in requests. */
static void greater_qualifiers(void)
{
    DAT_CONN_QUAL qual;
    DAT_PSP_HANDLE psp;
    DAT_PSP_PARAM param;
    DAT_EVENT event;

    open_sides();
    CHECK_DAT(dat_psp_free(kit_listen(&passive, DAT_PSP_CONSUMER_FLAG, &qual)));
    qual += (DAT_CONN_QUAL)0xaff << 16;
    CHECK_DAT(dat_psp_create(passive.ia, qual, passive.cr, DAT_PSP_CONSUMER_FLAG, &psp));
    CHECK_DAT(dat_psp_query(psp, DAT_PSP_FIELD_ALL, &param));
    EXPECT_EQ(qual, param.conn_qual);
    kit_connect(&active, active.ep, qual);
    event = kit_next(passive.cr, DAT_CONNECTION_REQUEST_EVENT);
    EXPECT_EQ(qual, event.event_data.cr_arrival_event_data.conn_qual);
    EXPECT(event.event_data.cr_arrival_event_data.sp_handle.psp_handle == psp);
    CHECK_DAT(dat_cr_reject(event.event_data.cr_arrival_event_data.cr_handle, 0, NULL));
    (void)kit_next(active.connect, DAT_CONNECTION_EVENT_PEER_REJECTED);
    CHECK_DAT(dat_psp_free(psp));
    close_sides();
}

static void public_points(void)
{
    DAT_PSP_HANDLE psp, second;
    DAT_PSP_PARAM param;
    DAT_CONN_QUAL qual;

    open_sides();
    psp = kit_listen(&passive, DAT_PSP_CONSUMER_FLAG, &qual);
    CHECK(qual > 0 && qual < 65536);
    CHECK_DAT(dat_psp_query(psp, DAT_PSP_FIELD_ALL, &param));
    CHECK(param.evd_handle == passive.cr && param.ia_handle == passive.ia);
    EXPECT_EQ(qual, param.conn_qual);
    EXPECT_EQ(DAT_PSP_CONSUMER_FLAG, param.psp_flags);
#define CREATE(qual, evd, flags)                                                                   \
    dat_psp_create(active.ia, qual, evd, (DAT_PSP_FLAGS)(flags), &second)
    EXPECT_TYPE(DAT_CONN_QUAL_IN_USE, CREATE(qual, active.cr, 0));
    EXPECT_TYPE(DAT_INVALID_PARAMETER, CREATE(0, active.cr, 0));
    EXPECT_TYPE(DAT_INVALID_PARAMETER, CREATE(65536, active.cr, 0));
    EXPECT_TYPE(DAT_INVALID_PARAMETER, CREATE(qual, active.cr, 2));
    EXPECT_TYPE(DAT_INVALID_HANDLE, CREATE(qual, active.connect, 0));
    EXPECT_TYPE(DAT_INVALID_HANDLE, CREATE(qual, passive.cr, 0));
    EXPECT_TYPE(DAT_INVALID_HANDLE, CREATE(qual, DAT_HANDLE_NULL, 0));
    EXPECT_TYPE(DAT_INVALID_PARAMETER,
                dat_psp_create(active.ia, qual, active.cr, (DAT_PSP_FLAGS)0, NULL));
    EXPECT_TYPE(DAT_INVALID_STATE, dat_evd_free(passive.cr));
    CHECK_DAT(dat_psp_free(psp));
    EXPECT_TYPE(DAT_INVALID_HANDLE, dat_psp_query(psp, DAT_PSP_FIELD_ALL, &param));
    EXPECT_TYPE(DAT_INVALID_HANDLE, dat_psp_free(psp));
    CHECK_DAT(CREATE(qual, active.cr, 0)); /* free again */
    CHECK_DAT(dat_psp_free(second));
    close_sides();
}

/* Returns a qualifier above the ephemeral ports. Each process gets a different one. */
static DAT_CONN_QUAL free_qual(void)
{
    static unsigned used;

    return 61000 + ((unsigned)getpid() * 16 + used++) % 4500;
}

static void reserved_point(void)
{
    DAT_CONN_QUAL qual;
    DAT_EP_HANDLE late;
    DAT_RSP_PARAM param;
    DAT_RSP_HANDLE rsp, second;
    DAT_EVENT event;
    DAT_CR_HANDLE cr;

    open_sides();
    late = kit_ep(&active);
    qual = free_qual();
    CHECK_DAT(dat_rsp_create(passive.ia, qual, passive.ep, passive.cr, &rsp));
    EXPECT_EQ(DAT_EP_STATE_RESERVED, kit_state(passive.ep));
    EXPECT_TYPE(DAT_INVALID_STATE, dat_ep_free(passive.ep));
    EXPECT_TYPE(DAT_INVALID_STATE,
                dat_rsp_create(passive.ia, qual, passive.ep, passive.cr, &second));
    CHECK_DAT(dat_rsp_query(rsp, DAT_RSP_FIELD_ALL, &param));
    CHECK(param.ep_handle == passive.ep && param.evd_handle == passive.cr);
    EXPECT_EQ(qual, param.conn_qual);
    kit_connect(&active, active.ep, qual);
    event = kit_next(passive.cr, DAT_CONNECTION_REQUEST_EVENT);
    cr = event.event_data.cr_arrival_event_data.cr_handle;
    CHECK(event.event_data.cr_arrival_event_data.sp_handle.rsp_handle == rsp);
    CHECK(ask(cr).local_ep_handle == passive.ep);
    EXPECT_EQ(DAT_EP_STATE_PASSIVE_CONNECTION_PENDING, kit_state(passive.ep));
    EXPECT_TYPE(DAT_INVALID_STATE, dat_ep_free(passive.ep));
    EXPECT_TYPE(DAT_INVALID_STATE, dat_ep_disconnect(passive.ep, DAT_CLOSE_ABRUPT_FLAG));
    /* A reserved point takes one request only. */
    kit_connect(&active, late, qual);
    (void)kit_next(active.connect, DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
    CHECK_DAT(dat_cr_accept(cr, DAT_HANDLE_NULL, 0, NULL));
    (void)kit_next(passive.connect, DAT_CONNECTION_EVENT_ESTABLISHED);
    (void)kit_next(active.connect, DAT_CONNECTION_EVENT_ESTABLISHED);
    CHECK_DAT(dat_rsp_free(rsp));
    EXPECT_EQ(DAT_EP_STATE_CONNECTED, kit_state(passive.ep));
    EXPECT_TYPE(DAT_INVALID_HANDLE, dat_rsp_free(rsp));
    kit_part(&active, &passive);
    CHECK_DAT(dat_ep_free(late));
    close_sides();
}

/* The consumer has the EP back after a rejection, and after its RSP is freed. */
static void reserved_point_without_success(void)
{
    DAT_CONN_QUAL qual;
    DAT_RSP_HANDLE rsp;

    open_sides();
    qual = free_qual();
    CHECK_DAT(dat_rsp_create(passive.ia, qual, passive.ep, passive.cr, &rsp));
    kit_connect(&active, active.ep, qual);
    CHECK_DAT(dat_cr_reject(kit_request(&passive), 0, NULL));
    (void)kit_next(active.connect, DAT_CONNECTION_EVENT_PEER_REJECTED);
    EXPECT_EQ(DAT_EP_STATE_UNCONNECTED, kit_state(passive.ep));
    CHECK_DAT(dat_rsp_free(rsp));
    CHECK_DAT(dat_rsp_create(passive.ia, qual, passive.ep, passive.cr, &rsp));
    CHECK_DAT(dat_rsp_free(rsp));
    EXPECT_EQ(DAT_EP_STATE_UNCONNECTED, kit_state(passive.ep));
    EXPECT_TYPE(DAT_INVALID_PARAMETER,
                dat_rsp_create(passive.ia, 65536, passive.ep, passive.cr, &rsp));
    EXPECT_TYPE(DAT_INVALID_HANDLE, dat_rsp_create(passive.ia, qual, active.ep, passive.cr, &rsp));
    EXPECT_TYPE(DAT_INVALID_HANDLE,
                dat_rsp_create(passive.ia, qual, passive.ep, passive.recv, &rsp));
    close_sides();
}

/* Gives an EP that the provider has made the attributes that it needs. */
static void configure(DAT_EP_HANDLE ep)
{
    DAT_EP_PARAM param;

    memset(&param, 0, sizeof(param));
    param.pz_handle = passive.pz;
    param.recv_evd_handle = passive.recv;
    param.request_evd_handle = passive.request;
    param.connect_evd_handle = passive.connect;
    CHECK_DAT(dat_ep_modify(ep,
                            DAT_EP_FIELD_PZ_HANDLE | DAT_EP_FIELD_RECV_EVD_HANDLE |
                                DAT_EP_FIELD_REQUEST_EVD_HANDLE | DAT_EP_FIELD_CONNECT_EVD_HANDLE,
                            &param));
}

static void endpoints_of_the_provider(void)
{
    DAT_CONN_QUAL qual;
    DAT_EP_HANDLE made;
    DAT_EP_STATE state;
    DAT_PSP_HANDLE psp;
    DAT_CR_HANDLE cr;
    DAT_EVENT event;

    open_sides();
    psp = kit_listen(&passive, DAT_PSP_PROVIDER_FLAG, &qual);
    kit_connect(&active, active.ep, qual);
    cr = kit_request(&passive);
    made = ask(cr).local_ep_handle;
    CHECK(made != DAT_HANDLE_NULL);
    EXPECT_EQ(DAT_EP_STATE_UNCONFIGURED_TENTATIVE, kit_state(made));
    EXPECT_EQ(4, ask_ep(made).ep_attr.max_rdma_read_in);
    EXPECT_TYPE(DAT_INVALID_STATE, dat_ep_free(made));
    EXPECT_TYPE(DAT_INVALID_STATE, dat_cr_accept(cr, DAT_HANDLE_NULL, 0, NULL));
    EXPECT_TYPE(DAT_INVALID_HANDLE, dat_cr_accept(cr, passive.ep, 0, NULL));
    configure(made);
    EXPECT_EQ(DAT_EP_STATE_TENTATIVE_CONNECTION_PENDING, kit_state(made));
    CHECK_DAT(dat_cr_accept(cr, DAT_HANDLE_NULL, 0, NULL));
    event = kit_next(passive.connect, DAT_CONNECTION_EVENT_ESTABLISHED);
    CHECK(event.event_data.connect_event_data.ep_handle == made);
    (void)kit_next(active.connect, DAT_CONNECTION_EVENT_ESTABLISHED);
    CHECK_DAT(dat_ep_free(made));
    event = kit_next(active.connect, DAT_CONNECTION_EVENT_DISCONNECTED);
    CHECK_DAT(dat_ep_reset(active.ep));

    kit_connect(&active, active.ep, qual);
    cr = kit_request(&passive);
    made = ask(cr).local_ep_handle;
    CHECK_DAT(dat_cr_reject(cr, 0, NULL));
    EXPECT_TYPE(DAT_INVALID_HANDLE, dat_ep_get_status(made, &state, NULL, NULL));
    (void)kit_next(active.connect, DAT_CONNECTION_EVENT_PEER_REJECTED);
    CHECK_DAT(dat_psp_free(psp));
    close_sides();
}

/* The provider also makes the EP of a reserved point, if it gets none. */
static void reserved_point_of_the_provider(void)
{
    DAT_CONN_QUAL qual;
    DAT_RSP_PARAM param;
    DAT_RSP_HANDLE rsp;
    DAT_EP_STATE state;
    DAT_CR_HANDLE cr;

    open_sides();
    qual = free_qual();
    CHECK_DAT(dat_rsp_create(passive.ia, qual, DAT_HANDLE_NULL, passive.cr, &rsp));
    CHECK_DAT(dat_rsp_query(rsp, DAT_RSP_FIELD_ALL, &param));
    EXPECT_EQ(DAT_EP_STATE_UNCONFIGURED_RESERVED, kit_state(param.ep_handle));
    CHECK_DAT(dat_rsp_free(rsp));
    EXPECT_TYPE(DAT_INVALID_HANDLE, dat_ep_get_status(param.ep_handle, &state, NULL, NULL));

    CHECK_DAT(dat_rsp_create(passive.ia, qual, DAT_HANDLE_NULL, passive.cr, &rsp));
    CHECK_DAT(dat_rsp_query(rsp, DAT_RSP_FIELD_ALL, &param));
    kit_connect(&active, active.ep, qual);
    cr = kit_request(&passive);
    CHECK(ask(cr).local_ep_handle == param.ep_handle);
    EXPECT_EQ(DAT_EP_STATE_UNCONFIGURED_PASSIVE, kit_state(param.ep_handle));
    configure(param.ep_handle);
    EXPECT_EQ(DAT_EP_STATE_PASSIVE_CONNECTION_PENDING, kit_state(param.ep_handle));
    CHECK_DAT(dat_cr_accept(cr, DAT_HANDLE_NULL, 0, NULL));
    (void)kit_next(passive.connect, DAT_CONNECTION_EVENT_ESTABLISHED);
    (void)kit_next(active.connect, DAT_CONNECTION_EVENT_ESTABLISHED);
    CHECK_DAT(dat_rsp_free(rsp));
    CHECK_DAT(dat_ep_free(param.ep_handle));
    (void)kit_next(active.connect, DAT_CONNECTION_EVENT_DISCONNECTED);
    close_sides();
}

/* A request in the EVD can be accepted after its point is freed. */
static void request_outlives_its_point(void)
{
    DAT_CR_ARRIVAL_EVENT_DATA *arrival;
    DAT_EP_HANDLE second;
    DAT_CONN_QUAL quals[2];
    DAT_PSP_HANDLE psps[2];
    DAT_COUNT more;
    DAT_EVENT event;
    bool first;

    open_sides();
    second = kit_ep(&active);
    for (unsigned i = 0; i < 2; i++) {
        psps[i] = kit_listen(&passive, DAT_PSP_CONSUMER_FLAG, &quals[i]);
        kit_connect(&active, i == 0 ? active.ep : second, quals[i]);
    }
    CHECK_DAT(dat_evd_wait(passive.cr, DAT_TIMEOUT_INFINITE, 2, &event, &more));
    EXPECT_EQ(1, more);
    arrival = &event.event_data.cr_arrival_event_data;
    first = arrival->conn_qual == quals[0];
    CHECK_DAT(dat_cr_reject(arrival->cr_handle, 0, NULL));
    (void)kit_next(active.connect, DAT_CONNECTION_EVENT_PEER_REJECTED);
    CHECK_DAT(dat_psp_free(psps[first]));
    event = kit_next(passive.cr, DAT_CONNECTION_REQUEST_EVENT);
    CHECK(arrival->sp_handle.psp_handle == DAT_HANDLE_NULL);
    EXPECT_EQ(quals[first], arrival->conn_qual);
    CHECK_DAT(dat_cr_accept(arrival->cr_handle, passive.ep, 0, NULL));
    (void)kit_next(passive.connect, DAT_CONNECTION_EVENT_ESTABLISHED);
    (void)kit_next(active.connect, DAT_CONNECTION_EVENT_ESTABLISHED);
    CHECK_DAT(dat_psp_free(psps[!first]));
    CHECK_DAT(dat_ep_free(second));
    CHECK_DAT(dat_ep_free(active.ep));
    (void)kit_next(passive.connect, DAT_CONNECTION_EVENT_DISCONNECTED);
    active.ep = kit_ep(&active);
    close_sides();
}

static void handed_off(void)
{
    unsigned char data[5] = {1, 2, 3, 4, 5};
    DAT_CONN_QUAL first, second, nobody;
    DAT_PSP_HANDLE one, other;
    DAT_CR_PARAM request;
    DAT_CR_HANDLE cr;
    DAT_EVENT event;

    open_sides();
    nobody = free_qual();
    one = kit_listen(&passive, DAT_PSP_CONSUMER_FLAG, &first);
    other = kit_listen(&passive, DAT_PSP_CONSUMER_FLAG, &second);
    CHECK_DAT(connect_with(active.ep, first, DAT_TIMEOUT_INFINITE, sizeof(data), data));
    cr = kit_request(&passive);
    EXPECT_TYPE(DAT_INVALID_PARAMETER, dat_cr_handoff(cr, nobody));
    EXPECT_TYPE(DAT_INVALID_PARAMETER, dat_cr_handoff(cr, 1 << 16));
    CHECK_DAT(dat_cr_handoff(cr, second));
    EXPECT_TYPE(DAT_INVALID_HANDLE, dat_cr_handoff(cr, second));
    event = kit_next(passive.cr, DAT_CONNECTION_REQUEST_EVENT);
    CHECK(event.event_data.cr_arrival_event_data.sp_handle.psp_handle == other);
    cr = event.event_data.cr_arrival_event_data.cr_handle;
    request = ask(cr);
    EXPECT_EQ(5, request.private_data_size);
    EXPECT_EQ(0, memcmp(data, request.private_data, sizeof(data)));
    CHECK_DAT(dat_cr_accept(cr, passive.ep, 0, NULL));
    (void)kit_next(passive.connect, DAT_CONNECTION_EVENT_ESTABLISHED);
    (void)kit_next(active.connect, DAT_CONNECTION_EVENT_ESTABLISHED);
    kit_part(&active, &passive);
    CHECK_DAT(dat_psp_free(one));
    CHECK_DAT(dat_psp_free(other));
    close_sides();
}

static void duplicated(void)
{
    DAT_EP_HANDLE twin, twins_peer;
    DAT_CONN_QUAL qual;
    DAT_PSP_HANDLE psp;

    open_sides();
    psp = kit_listen(&passive, DAT_PSP_CONSUMER_FLAG, &qual);
    twin = kit_ep(&active);
    twins_peer = kit_ep(&passive);
    EXPECT_TYPE(DAT_INVALID_STATE, dat_ep_dup_connect(twin, active.ep, DAT_TIMEOUT_INFINITE, 0,
                                                      NULL, DAT_QOS_BEST_EFFORT));
    kit_connect(&active, active.ep, qual);
    CHECK_DAT(dat_cr_accept(kit_request(&passive), passive.ep, 0, NULL));
    (void)kit_next(passive.connect, DAT_CONNECTION_EVENT_ESTABLISHED);
    (void)kit_next(active.connect, DAT_CONNECTION_EVENT_ESTABLISHED);
    CHECK_DAT(
        dat_ep_dup_connect(twin, active.ep, DAT_TIMEOUT_INFINITE, 2, "hi", DAT_QOS_BEST_EFFORT));
    CHECK_DAT(dat_cr_accept(kit_request(&passive), twins_peer, 0, NULL));
    (void)kit_next(passive.connect, DAT_CONNECTION_EVENT_ESTABLISHED);
    (void)kit_next(active.connect, DAT_CONNECTION_EVENT_ESTABLISHED);
    EXPECT_EQ(qual, ask_ep(twin).remote_port_qual);
    CHECK_DAT(dat_ep_free(twin));
    (void)kit_next(passive.connect, DAT_CONNECTION_EVENT_DISCONNECTED);
    CHECK_DAT(dat_ep_free(twins_peer));
    kit_part(&active, &passive);
    CHECK_DAT(dat_psp_free(psp));
    close_sides();
}

/* ---- The end of a connection ---------------------------------------------------------------- */

/* Requests posted before the disconnect reach the peer, though nobody has taken a completion. */
static void graceful_end(void)
{
    enum {
        MESSAGES = 8
    };
    DAT_LMR_TRIPLET segment;

    open_sides();
    kit_join(&active, &passive);
    for (unsigned i = 0; i < MESSAGES; i++) {
        segment = kit_local(&passive, i * 4096, 4096);
        CHECK_DAT(
            dat_ep_post_recv(passive.ep, 1, &segment, kit_cookie(i), DAT_COMPLETION_DEFAULT_FLAG));
    }
    for (unsigned i = 0; i < MESSAGES; i++) {
        segment = kit_local(&active, i * 4096, 4096);
        CHECK_DAT(
            dat_ep_post_send(active.ep, 1, &segment, kit_cookie(i), DAT_COMPLETION_DEFAULT_FLAG));
    }
    CHECK_DAT(dat_ep_disconnect(active.ep, DAT_CLOSE_GRACEFUL_FLAG));
    (void)kit_next(active.connect, DAT_CONNECTION_EVENT_DISCONNECTED);
    (void)kit_next(passive.connect, DAT_CONNECTION_EVENT_DISCONNECTED);
    for (unsigned i = 0; i < MESSAGES; i++) {
        (void)kit_done(active.request, kit_cookie(i));
        EXPECT_EQ(4096, kit_done(passive.recv, kit_cookie(i)));
    }
    close_sides();
}

static void not_offered(void)
{
    const DAT_PROVIDER *provider;
    DAT_IA_ATTR attr;

    open_sides();
    provider = kit_table(active.ep);
    CHECK_DAT(dat_ia_query(active.ia, NULL, DAT_IA_FIELD_ALL, &attr, 0, NULL));
    EXPECT_TYPE(DAT_MODEL_NOT_SUPPORTED,
                DAT_EP_COMMON_CONNECT(active.ep, attr.ia_address_ptr, 1000000, 0, NULL));
    EXPECT_TYPE(
        DAT_MODEL_NOT_SUPPORTED,
        provider->csp_create_func(kit_own(active.ia), NULL, attr.ia_address_ptr, active.cr, NULL));
    EXPECT_TYPE(DAT_INVALID_HANDLE,
                provider->csp_create_func(active.ep, NULL, attr.ia_address_ptr, active.cr, NULL));
    EXPECT_TYPE(DAT_INVALID_HANDLE, provider->csp_query_func(active.ep, DAT_CSP_FIELD_ALL, NULL));
    EXPECT_TYPE(DAT_INVALID_HANDLE, provider->csp_free_func(DAT_HANDLE_NULL));
    close_sides();
}

int main(void)
{
    private_data_both_ways();
    rejected_by_the_peer();
    nobody_listens();
    timed_out();
    bad_arguments();
    calls_in_the_wrong_state();
    attempt_given_up();
    many_times();
    greater_qualifiers();
    public_points();
    reserved_point();
    reserved_point_without_success();
    endpoints_of_the_provider();
    reserved_point_of_the_provider();
    request_outlives_its_point();
    handed_off();
    duplicated();
    graceful_end();
    not_offered();
    check_done();
    return 0;
}
