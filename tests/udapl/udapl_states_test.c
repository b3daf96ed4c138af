/* SPDX-License-Identifier: BSD-2-Clause */
/* The states of an endpoint, the calls that are legal in them, and the tables of connections. */
#include "map/udapl_connection.h"
#include "map/udapl_ep_states.h"
#include "support/check.h"

#include <arpa/inet.h>
#include <string.h>

static DAT_EP_STATE state(bool configured, it_ep_state_rc_t it, enum udapl_ep_hold hold,
                          bool draining)
{
    struct udapl_ep_condition condition = {configured, it, hold, draining};

    return udapl_ep_state_of(&condition);
}

static void check_states(void)
{
    static const DAT_EP_STATE held[UDAPL_EP_HOLDS][2] = {
        {DAT_EP_STATE_UNCONFIGURED_UNCONNECTED, DAT_EP_STATE_UNCONNECTED},
        {DAT_EP_STATE_UNCONFIGURED_RESERVED, DAT_EP_STATE_RESERVED},
        {DAT_EP_STATE_UNCONFIGURED_PASSIVE, DAT_EP_STATE_PASSIVE_CONNECTION_PENDING},
        {DAT_EP_STATE_UNCONFIGURED_TENTATIVE, DAT_EP_STATE_TENTATIVE_CONNECTION_PENDING},
    };
    static const struct {
        it_ep_state_rc_t it;
        DAT_EP_STATE dat, draining;
    } rows[] = {
        {IT_EP_STATE_ACTIVE1_CONNECTION_PENDING, DAT_EP_STATE_ACTIVE_CONNECTION_PENDING,
         DAT_EP_STATE_ACTIVE_CONNECTION_PENDING},
        {IT_EP_STATE_ACTIVE2_CONNECTION_PENDING, DAT_EP_STATE_ACTIVE_CONNECTION_PENDING,
         DAT_EP_STATE_ACTIVE_CONNECTION_PENDING},
        {IT_EP_STATE_PASSIVE_CONNECTION_PENDING, DAT_EP_STATE_COMPLETION_PENDING,
         DAT_EP_STATE_COMPLETION_PENDING},
        {IT_EP_STATE_PASSIVE_WAIT_RDMA_TRANS_REQ, DAT_EP_STATE_COMPLETION_PENDING,
         DAT_EP_STATE_COMPLETION_PENDING},
        {IT_EP_STATE_CONNECTED, DAT_EP_STATE_CONNECTED, DAT_EP_STATE_DISCONNECT_PENDING},
        {IT_EP_STATE_NONOPERATIONAL, DAT_EP_STATE_DISCONNECTED, DAT_EP_STATE_DISCONNECTED},
    };

    for (unsigned hold = 0; hold < UDAPL_EP_HOLDS; hold++)
        for (unsigned configured = 0; configured < 2; configured++)
            EXPECT_EQ(held[hold][configured],
                      state(configured, IT_EP_STATE_UNCONNECTED, (enum udapl_ep_hold)hold, false));
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        EXPECT_EQ(rows[i].dat, state(true, rows[i].it, UDAPL_EP_FREE, false));
        EXPECT_EQ(rows[i].draining, state(true, rows[i].it, UDAPL_EP_FREE, true));
    }
}

/* One letter for each state, in order: refused, no operation, legal. */
static void check_calls(void)
{
    static const struct {
        enum udapl_ep_call call;
        const char *verdicts;
    } rows[] = {
        {UDAPL_CALL_CONNECT, "L--------------"},
        {UDAPL_CALL_RESERVE, "LL-------------"},
        {UDAPL_CALL_ACCEPT_HELD, "----L--L-------"},
        {UDAPL_CALL_DUPLICATE, "---------L---LL"},
        {UDAPL_CALL_DISCONNECT, "------L--LLnLLL"},
        {UDAPL_CALL_DISCONNECT_GRACEFULLY, "------L--LnnLLL"},
        {UDAPL_CALL_RESET, "nn---------L---"},
    };

    EXPECT_EQ(UDAPL_CALLS, sizeof(rows) / sizeof(*rows));
    EXPECT_EQ(UDAPL_EP_STATES, strlen(rows[0].verdicts));
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        for (unsigned at = 0; at < UDAPL_EP_STATES; at++)
            EXPECT_EQ("-nL"[udapl_ep_judge((DAT_EP_STATE)at, rows[i].call)], rows[i].verdicts[at]);
    EXPECT_EQ(UDAPL_REFUSED, udapl_ep_judge((DAT_EP_STATE)99, UDAPL_CALL_RESET));
}

static void check_events(void)
{
    static const struct {
        it_event_type_t event;
        it_conn_reject_code_t reason;
        int active, accepting;
    } rows[] = {
        {IT_CM_MSG_CONN_ESTABLISHED_EVENT, IT_CN_REJ_OTHER, 0x4001, 0x4001},
        {IT_CM_MSG_CONN_PEER_REJECT_EVENT, IT_CN_REJ_OTHER, 0x4002, 0x4004},
        {IT_CM_MSG_CONN_NONPEER_REJECT_EVENT, IT_CN_REJ_OTHER, 0x4003, 0x4004},
        {IT_CM_MSG_CONN_NONPEER_REJECT_EVENT, IT_CN_REJ_STALE_CONN, 0x4003, 0x4004},
        {IT_CM_MSG_CONN_NONPEER_REJECT_EVENT, IT_CN_REJ_BAD_ORD, 0x4003, 0x4004},
        {IT_CM_MSG_CONN_NONPEER_REJECT_EVENT, IT_CN_REJ_RESOURCES, 0x4003, 0x4004},
        {IT_CM_MSG_CONN_NONPEER_REJECT_EVENT, IT_CN_REJ_BAD_CONN_PARMS, 0x4003, 0x4004},
        {IT_CM_MSG_CONN_NONPEER_REJECT_EVENT, IT_CN_REJ_TIMEOUT, 0x4007, 0x4004},
        {IT_CM_MSG_CONN_NONPEER_REJECT_EVENT, IT_CN_REJ_BAD_PATH, 0x4008, 0x4004},
        {IT_CM_MSG_CONN_DISCONNECT_EVENT, IT_CN_REJ_OTHER, 0x4005, 0x4005},
        {IT_CM_MSG_CONN_BROKEN_EVENT, IT_CN_REJ_OTHER, 0x4006, 0x4006},
        {IT_CM_MSG_CONN_ACCEPT_ARRIVAL_EVENT, IT_CN_REJ_OTHER, 0, 0},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        EXPECT_EQ(rows[i].active, udapl_connection_number(rows[i].event, rows[i].reason, false));
        EXPECT_EQ(rows[i].accepting, udapl_connection_number(rows[i].event, rows[i].reason, true));
    }
}

static void check_qualifiers(void)
{
    it_conn_qual_t qual = udapl_passive_qual(45248);

    EXPECT_EQ(45248, udapl_conn_qual_of(&qual));
    qual.conn_qual.lr_port.remote = htons(1234);
    EXPECT_EQ(1234, udapl_port_qual_of(&qual));
    qual = udapl_active_qual(45248);
    EXPECT_EQ(45248, udapl_conn_qual_of(&qual));
    EXPECT_EQ(0, udapl_port_qual_of(&qual));
    EXPECT_EQ(false, udapl_is_port(0));
    EXPECT_EQ(true, udapl_is_port(65535));
    EXPECT_EQ(false, udapl_is_port(65536));
    /* A larger qualifier stands for its lower 16 bits. */
    EXPECT_EQ(true, udapl_is_port((DAT_CONN_QUAL)1 << 48 | 80));
    qual = udapl_active_qual((DAT_CONN_QUAL)1 << 48 | 80);
    EXPECT_EQ(80, udapl_conn_qual_of(&qual));
    EXPECT_EQ(1, udapl_timeout_of(1));
    EXPECT_EQ(IT_TIMEOUT_INFINITE, udapl_timeout_of(DAT_TIMEOUT_INFINITE));
}

static void check_addresses(void)
{
    struct sockaddr_in ipv4 = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(0x7f000001)};
    struct sockaddr_in6 ipv6 = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    struct sockaddr_in6 mapped = {.sin6_family = AF_INET6};
    struct sockaddr_storage back = {.ss_family = AF_UNSPEC};
    struct sockaddr unknown = {.sa_family = AF_UNIX};
    it_net_addr_t address;

    CHECK(udapl_address_of((const struct sockaddr *)&ipv4, &address));
    EXPECT_EQ(IT_IPV4, address.addr_type);
    udapl_sockaddr_of(&address, 80, &back);
    ipv4.sin_port = htons(80);
    EXPECT_EQ(0, memcmp(&ipv4, &back, sizeof(ipv4)));
    EXPECT_EQ(80, udapl_port_of(&back));
    CHECK(udapl_address_of((const struct sockaddr *)&ipv6, &address));
    EXPECT_EQ(IT_IPV6, address.addr_type);
    memset(&back, 0, sizeof(back));
    udapl_sockaddr_of(&address, 80, &back);
    EXPECT_EQ(80, udapl_port_of(&back));
    CHECK_EQ(1, inet_pton(AF_INET6, "::ffff:127.0.0.1", &mapped.sin6_addr));
    CHECK(udapl_address_of((const struct sockaddr *)&mapped, &address));
    EXPECT_EQ(IT_IPV4, address.addr_type);
    EXPECT_EQ(htonl(0x7f000001), address.addr.ipv4.s_addr);
    EXPECT_EQ(false, udapl_address_of(&unknown, &address));
}

int main(void)
{
    check_states();
    check_calls();
    check_events();
    check_qualifiers();
    check_addresses();
    check_done();
    return 0;
}
