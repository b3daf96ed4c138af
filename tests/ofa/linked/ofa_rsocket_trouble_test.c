/* SPDX-License-Identifier: BSD-2-Clause */
/* rsockets: wrong use, peers that are no rsockets, and peers that lie. */
#include "rs_kit.h"

#include <arpa/inet.h>
#include <endian.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <rdma/rdma_verbs.h>
#include <string.h>
#include <unistd.h>

#define FAILS_WITH(error, call) CHECK((call) == -1 && errno == (error))

/* ---- Options -------------------------------------------------------------------------------- */

static void options(void)
{
    static const struct {
        int level, name, set, get;
    } rows[] = {
        {SOL_SOCKET, SO_REUSEADDR, 7, 1},        {SOL_SOCKET, SO_KEEPALIVE, 1, 1},
        {SOL_SOCKET, SO_OOBINLINE, 0, 0},        {SOL_SOCKET, SO_RCVBUF, 1 << 19, 1 << 20},
        {SOL_SOCKET, SO_SNDBUF, 1, 4096},        {SOL_SOCKET, SO_SNDBUF, INT32_MIN, 4096},
        {IPPROTO_TCP, TCP_NODELAY, 1, 1},        {IPPROTO_TCP, TCP_MAXSEG, 100, 4096},
        {IPPROTO_TCP, TCP_KEEPIDLE, 20, 20},     {IPPROTO_IPV6, IPV6_V6ONLY, 1, 1},
        {SOL_RDMA, RDMA_SQSIZE, 1 << 20, 16000}, {SOL_RDMA, RDMA_RQSIZE, 3, 16},
        {SOL_RDMA, RDMA_INLINE, 0, 0},           {SOL_RDMA, RDMA_IOMAPSIZE, 5, 5},
    };
    struct linger linger = {0, 0};
    socklen_t length = sizeof(linger);
    int rs = rsocket(AF_INET, SOCK_STREAM, 0);
    int value = 0;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        rs_kit_set(rs, rows[i].level, rows[i].name, rows[i].set);
        EXPECT_EQ(rows[i].get, rs_kit_get(rs, rows[i].level, rows[i].name));
    }
    CHECK_EQ(0, rsetsockopt(rs, SOL_SOCKET, SO_LINGER, &linger, length));
    linger.l_onoff = 1;
    CHECK_EQ(0, rgetsockopt(rs, SOL_SOCKET, SO_LINGER, &linger, &length));
    EXPECT_EQ(0, linger.l_onoff);
    FAILS_WITH(EINVAL, rsetsockopt(rs, IPPROTO_TCP, TCP_KEEPIDLE, &value, sizeof(value)));
    FAILS_WITH(EINVAL, rsetsockopt(rs, IPPROTO_TCP, TCP_NODELAY, &value, 1));
    FAILS_WITH(ENOTSUP, rsetsockopt(rs, IPPROTO_TCP, TCP_CORK, &value, sizeof(value)));
    FAILS_WITH(ENOTSUP, rgetsockopt(rs, SOL_SOCKET, SO_TYPE, &value, &length));
    FAILS_WITH(ENOTSUP, rfcntl(rs, F_GETFD));
    CHECK_EQ(0, rclose(rs));
}

/* ---- Wrong use ------------------------------------------------------------------------------ */

static void no_rsocket(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t length = sizeof(address);
    char byte;

    FAILS_WITH(ENOTSUP, rsocket(AF_UNIX, SOCK_STREAM, 0));
    FAILS_WITH(ENOTSUP, rsocket(AF_INET, SOCK_STREAM, IPPROTO_UDP));
    for (int fd = -1; fd < 1000; fd += 1000) {
        FAILS_WITH(EBADF, rbind(fd, (struct sockaddr *)&address, length));
        FAILS_WITH(EBADF, rlisten(fd, 1));
        FAILS_WITH(EBADF, raccept(fd, NULL, NULL));
        FAILS_WITH(EBADF, rconnect(fd, (struct sockaddr *)&address, length));
        FAILS_WITH(EBADF, rshutdown(fd, SHUT_RDWR));
        FAILS_WITH(EBADF, rsend(fd, &byte, 1, 0));
        FAILS_WITH(EBADF, rrecv(fd, &byte, 1, 0));
        FAILS_WITH(EBADF, rgetsockname(fd, (struct sockaddr *)&address, &length));
        FAILS_WITH(EBADF, riomap(fd, &byte, 1, PROT_WRITE, 0, 0));
        FAILS_WITH(EBADF, rfcntl(fd, F_GETFL));
        FAILS_WITH(EBADF, rclose(fd));
    }
}

static void not_connected(void)
{
    struct sockaddr_in address;
    socklen_t length = sizeof(address);
    int listener = rs_kit_listen(&address, NULL);
    int rs = rsocket(AF_INET, SOCK_STREAM, 0);
    char byte;

    FAILS_WITH(ENOTCONN, rsend(rs, &byte, 1, 0));
    FAILS_WITH(ENOTCONN, rrecv(rs, &byte, 1, 0));
    FAILS_WITH(ENOTCONN, rrecv(listener, &byte, 1, 0));
    FAILS_WITH(ENOTCONN, rshutdown(rs, SHUT_WR));
    FAILS_WITH(ENOTCONN, rgetpeername(rs, (struct sockaddr *)&address, &length));
    FAILS_WITH(EINVAL, riomap(rs, &byte, 1, PROT_WRITE, 0, 0));
    FAILS_WITH(EINVAL, raccept(rs, NULL, NULL));
    FAILS_WITH(EOPNOTSUPP, rconnect(listener, (struct sockaddr *)&address, length));
    FAILS_WITH(EINVAL, rconnect(rs, (struct sockaddr *)&address, 3));
    FAILS_WITH(EINVAL, rbind(listener, (struct sockaddr *)&address, length));
    CHECK_EQ(0, rfcntl(listener, F_SETFL, O_NONBLOCK));
    FAILS_WITH(EAGAIN, raccept(listener, NULL, NULL));
    CHECK_EQ(0, rclose(listener));
    FAILS_WITH(ECONNREFUSED, rconnect(rs, (struct sockaddr *)&address, length));
    CHECK_EQ(POLLERR, rs_kit_poll(rs, 0));
    CHECK_EQ(0, rclose(rs));
}

/* As librspreload asks for the family of an rsocket that could not connect, to go on with TCP. */
static void length_of_a_name(int domain, socklen_t whole)
{
    int rs = rsocket(domain, SOCK_STREAM, 0);
    struct sockaddr_storage name = {.ss_family = AF_UNSPEC};
    socklen_t length = 0;

    CHECK_EQ(0, rgetsockname(rs, NULL, &length));
    CHECK_EQ(whole, length);
    CHECK_EQ(0, rgetsockname(rs, (struct sockaddr *)&name, &length));
    CHECK_EQ(domain, name.ss_family);
    FAILS_WITH(EFAULT, rgetsockname(rs, NULL, &length));
    FAILS_WITH(EFAULT, rgetsockname(rs, (struct sockaddr *)&name, NULL));
    CHECK_EQ(0, rclose(rs));
}

/* ---- Peers that are none -------------------------------------------------------------------- */

enum {
    HELLO = 40,
    CREDITS = 16
};

struct stranger {
    struct rdma_event_channel *channel;
    struct rdma_cm_id *id;
    struct ibv_mr *mr;
    struct {
        uint64_t address;
        uint32_t key, length;
    } spans[2];
};

static void next_event(const struct stranger *stranger, enum rdma_cm_event_type type)
{
    struct rdma_cm_event *event;

    CHECK_EQ(0, rdma_get_cm_event(stranger->channel, &event));
    CHECK_EQ(type, event->event);
    CHECK_EQ(0, rdma_ack_cm_event(event));
}

/* Writes where the other end may be told to write. */
static void fill_target(struct stranger *stranger, unsigned char *hello)
{
    uint64_t address = htobe64((uintptr_t)stranger->spans);
    uint32_t key;

    stranger->mr = rdma_reg_write(stranger->id, stranger->spans, sizeof(stranger->spans));
    CHECK(stranger->mr != NULL);
    key = htobe32(stranger->mr->rkey);
    memcpy(hello + 8, &address, sizeof(address));
    memcpy(hello + 16, &key, sizeof(key));
}

static void connect_stranger(struct stranger *stranger, struct sockaddr_in *address,
                             unsigned char *hello, uint8_t length)
{
    struct rdma_conn_param param = {.private_data = hello,
                                    .private_data_len = length,
                                    .responder_resources = 1,
                                    .initiator_depth = 1,
                                    .rnr_retry_count = 7};
    struct ibv_qp_init_attr attr = {
        .cap = {.max_send_wr = 4,
                .max_recv_wr = 4,
                .max_send_sge = 1,
                .max_recv_sge = 1,
                .max_inline_data = 16},
        .qp_type = IBV_QPT_RC,
    };

    *stranger = (struct stranger){.channel = rdma_create_event_channel()};
    CHECK(stranger->channel != NULL);
    CHECK_EQ(0, rdma_create_id(stranger->channel, &stranger->id, NULL, RDMA_PS_TCP));
    CHECK_EQ(0, rdma_resolve_addr(stranger->id, NULL, (struct sockaddr *)address, 2000));
    next_event(stranger, RDMA_CM_EVENT_ADDR_RESOLVED);
    CHECK_EQ(0, rdma_resolve_route(stranger->id, 2000));
    next_event(stranger, RDMA_CM_EVENT_ROUTE_RESOLVED);
    CHECK_EQ(0, rdma_create_qp(stranger->id, NULL, &attr));
    if (hello)
        fill_target(stranger, hello);
    CHECK_EQ(0, rdma_connect(stranger->id, &param));
}

static void close_stranger(struct stranger *stranger)
{
    rdma_destroy_qp(stranger->id);
    if (stranger->mr)
        CHECK_EQ(0, rdma_dereg_mr(stranger->mr));
    CHECK_EQ(0, rdma_destroy_id(stranger->id));
    rdma_destroy_event_channel(stranger->channel);
}

static void fill_hello(unsigned char hello[HELLO])
{
    memset(hello, 0, HELLO);
    hello[0] = 1;
    hello[3] = CREDITS;
    hello[23] = 2; /* spans */
}

/* raccept ignores strangers and returns the first rsocket. */
static void strangers_do_not_matter(void)
{
    unsigned char hello[HELLO];
    struct sockaddr_in address;
    int listener = rs_kit_listen(&address, NULL);
    int tcp = socket(AF_INET, SOCK_STREAM, 0);
    int rs = rsocket(AF_INET, SOCK_STREAM, 0);
    struct stranger others[3];
    int accepted;

    CHECK_EQ(0, connect(tcp, (struct sockaddr *)&address, sizeof(address)));
    CHECK_EQ(5, write(tcp, "hello", 5));
    fill_hello(hello);
    connect_stranger(&others[0], &address, NULL, 0);
    hello[0] = 2;
    connect_stranger(&others[1], &address, hello, HELLO);
    hello[0] = 1;
    hello[1] = 1; /* other byte order */
    connect_stranger(&others[2], &address, hello, HELLO);
    CHECK_EQ(0, rfcntl(rs, F_SETFL, O_NONBLOCK));
    FAILS_WITH(EINPROGRESS, rconnect(rs, (struct sockaddr *)&address, sizeof(address)));
    accepted = raccept(listener, NULL, NULL);
    CHECK(accepted >= 0);
    CHECK_EQ(POLLOUT, rs_kit_poll(rs, POLLOUT));
    for (int i = 0; i < 3; i++) {
        next_event(&others[i], RDMA_CM_EVENT_REJECTED);
        close_stranger(&others[i]);
    }
    CHECK_EQ(0, rclose(rs));
    CHECK_EQ(0, rclose(accepted));
    CHECK_EQ(0, rclose(listener));
    close(tcp);
}

/* ---- Peers that lie ------------------------------------------------------------------------- */

static void lies(const void *message, uint32_t length)
{
    unsigned char hello[HELLO];
    unsigned char bytes[8];
    struct sockaddr_in address;
    struct stranger liar;
    int listener = rs_kit_listen(&address, NULL);
    int rs;

    fill_hello(hello);
    connect_stranger(&liar, &address, hello, HELLO);
    rs = raccept(listener, NULL, NULL);
    CHECK(rs >= 0);
    next_event(&liar, RDMA_CM_EVENT_ESTABLISHED);
    memcpy(bytes, message, length);
    CHECK_EQ(0, rdma_post_send(liar.id, NULL, bytes, length, NULL, IBV_SEND_INLINE));
    FAILS_WITH(ECONNRESET, rrecv(rs, bytes, sizeof(bytes), 0));
    CHECK_EQ(POLLIN | POLLERR, rs_kit_poll(rs, POLLIN));
    CHECK_EQ(0, rclose(rs));
    CHECK_EQ(0, rclose(listener));
    close_stranger(&liar);
}

/* A peer that states wrong memory harms only itself. */
static void peer_vanishes(void)
{
    unsigned char hello[HELLO];
    struct sockaddr_in address;
    struct stranger peer;
    int listener = rs_kit_listen(&address, NULL);
    int rs;
    char byte;

    fill_hello(hello);
    connect_stranger(&peer, &address, hello, HELLO);
    rs = raccept(listener, NULL, NULL);
    CHECK(rs >= 0);
    next_event(&peer, RDMA_CM_EVENT_ESTABLISHED);
    close_stranger(&peer);
    CHECK(rs_kit_poll(rs, POLLIN) & POLLERR);
    FAILS_WITH(ECONNRESET, rrecv(rs, &byte, 1, 0));
    CHECK_EQ(0, rclose(rs));
    CHECK_EQ(0, rclose(listener));
}

/* The peer posts no receives, so nothing ever completes. Closing does not wait for it. */
static void peer_takes_nothing(void)
{
    unsigned char hello[HELLO];
    struct sockaddr_in address;
    struct stranger peer;
    int listener = rs_kit_listen(&address, NULL);
    int rs;

    fill_hello(hello);
    connect_stranger(&peer, &address, hello, HELLO);
    rs = raccept(listener, NULL, NULL);
    CHECK(rs >= 0);
    next_event(&peer, RDMA_CM_EVENT_ESTABLISHED);
    FAILS_WITH(ETIMEDOUT, rshutdown(rs, SHUT_WR));
    CHECK_EQ(0, rclose(rs));
    CHECK_EQ(0, rclose(listener));
    close_stranger(&peer);
}

int main(void)
{
    const uint32_t too_much = (1u << 29) - 1;
    const uint32_t of_no_kind = 5u << 29;

    options();
    no_rsocket();
    not_connected();
    length_of_a_name(AF_INET, sizeof(struct sockaddr_in));
    length_of_a_name(AF_INET6, sizeof(struct sockaddr_in6));
    strangers_do_not_matter();
    lies(&too_much, sizeof(too_much));
    lies(&of_no_kind, sizeof(of_no_kind));
    lies("8 bytes.", 8);
    peer_vanishes();
    peer_takes_nothing();
    check_done();
    return 0;
}
