/* SPDX-License-Identifier: BSD-2-Clause */
/* Streams of rsockets: data, ends of directions, polling, mapped memory, datagrams. */
#include "rs_kit.h"

#include <fcntl.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/uio.h>

enum {
    STREAM = 3000000,
    PART = 20000,
    MANY = 100
};

/* ---- Data ----------------------------------------------------------------------------------- */

static void small(int rs)
{
    rs_kit_set(rs, SOL_SOCKET, SO_SNDBUF, 6000);
    rs_kit_set(rs, SOL_SOCKET, SO_RCVBUF, 5000);
    rs_kit_set(rs, SOL_RDMA, RDMA_SQSIZE, 16);
    rs_kit_set(rs, SOL_RDMA, RDMA_RQSIZE, 16);
}

/* Returns the length of the next call: any value between 1 and PART, in no order. */
static size_t next_length(uint64_t place)
{
    uint64_t length = 1 + place * 2654435761u % PART;

    return length < STREAM - place ? length : STREAM - place;
}

static void *send_all(void *arg)
{
    static __thread unsigned char bytes[PART];
    int rs = *(int *)arg;

    for (uint64_t place = 0; place < STREAM;) {
        size_t length = next_length(place);

        rs_kit_fill(bytes, length, place);
        CHECK_EQ(length, rsend(rs, bytes, length, 0));
        place += length;
    }
    return NULL;
}

static void *receive_all(void *arg)
{
    static __thread unsigned char bytes[PART];
    int rs = *(int *)arg;

    for (uint64_t place = 0; place < STREAM;) {
        ssize_t length = rrecv(rs, bytes, PART - next_length(place) / 2, 0);

        CHECK(length > 0);
        rs_kit_verify(bytes, (size_t)length, place);
        place += (size_t)length;
    }
    return NULL;
}

/* Two threads on each end wait for one CQ. */
static void both_directions_at_once(void (*options)(int rs))
{
    pthread_t threads[4];
    int ends[2];

    rs_kit_pair(ends, options);
    for (int i = 0; i < 4; i++)
        CHECK_EQ(0,
                 pthread_create(&threads[i], NULL, i < 2 ? send_all : receive_all, &ends[i & 1]));
    for (int i = 0; i < 4; i++)
        CHECK_EQ(0, pthread_join(threads[i], NULL));
    rs_kit_close(ends);
}

/* One thread serves both ends, each call taking as much as possible. */
static void without_waiting(void)
{
    static unsigned char bytes[PART];
    uint64_t sent = 0;
    uint64_t received = 0;
    int ends[2];

    rs_kit_pair(ends, small);
    CHECK_EQ(0, rfcntl(ends[0], F_SETFL, O_NONBLOCK));
    CHECK_EQ(O_NONBLOCK, rfcntl(ends[0], F_GETFL));
    CHECK(rrecv(ends[0], bytes, 1, 0) == -1 && errno == EAGAIN);
    while (received < STREAM) {
        struct pollfd fds[] = {{.fd = ends[0], .events = sent < STREAM ? POLLOUT : 0},
                               {.fd = ends[1], .events = POLLIN},
                               {.fd = -1, .events = POLLIN}};
        ssize_t length;

        CHECK(rpoll(fds, 3, 10000) > 0);
        CHECK_EQ(0, fds[2].revents);
        if (fds[0].revents) {
            rs_kit_fill(bytes, next_length(sent), sent);
            length = rsend(ends[0], bytes, next_length(sent), 0);
            CHECK(length > 0);
            sent += (size_t)length;
        }
        if (fds[1].revents) {
            length = rrecv(ends[1], bytes, PART, MSG_DONTWAIT);
            CHECK(length > 0);
            rs_kit_verify(bytes, (size_t)length, received);
            received += (size_t)length;
        }
    }
    rs_kit_close(ends);
}

/* More descriptors than rpoll has room for without the heap: only the ready ones are reported. */
static void many_descriptors(void)
{
    struct pollfd fds[MANY];
    int ends[2];

    rs_kit_pair(ends, NULL);
    for (int i = 0; i < MANY; i++)
        fds[i] = (struct pollfd){.fd = ends[i % 2], .events = POLLIN};
    CHECK_EQ(0, rpoll(fds, MANY, 0));
    CHECK_EQ(1, rsend(ends[0], "x", 1, 0));
    CHECK_EQ(MANY / 2, rpoll(fds, MANY, 10000));
    for (int i = 0; i < MANY; i++)
        CHECK_EQ(i % 2 ? POLLIN : 0, fds[i].revents);
    rs_kit_close(ends);
}

static void pieces_of_memory(void)
{
    unsigned char bytes[100];
    unsigned char into[100];
    struct iovec from[] = {{bytes, 10}, {NULL, 0}, {bytes + 10, 60}, {bytes + 70, 30}};
    struct iovec to[] = {{into, 33}, {into + 33, 67}};
    struct sockaddr_in name;
    struct sockaddr_in own;
    struct msghdr msg = {.msg_iov = to, .msg_iovlen = 2, .msg_name = &name, .msg_namelen = 16};
    socklen_t length = sizeof(own);
    int ends[2];

    rs_kit_pair(ends, NULL);
    rs_kit_fill(bytes, sizeof(bytes), 0);
    CHECK_EQ(100, rwritev(ends[0], from, 4));
    CHECK_EQ(20, rrecv(ends[1], into, 20, MSG_PEEK | MSG_WAITALL));
    rs_kit_verify(into, 20, 0);
    CHECK_EQ(100, rrecvmsg(ends[1], &msg, MSG_WAITALL));
    rs_kit_verify(into, 100, 0);
    CHECK_EQ(0, rgetsockname(ends[0], (struct sockaddr *)&own, &length));
    CHECK_EQ(own.sin_addr.s_addr, name.sin_addr.s_addr);
    CHECK_EQ(7, rwrite(ends[1], bytes, 7));
    CHECK_EQ(3, rread(ends[0], into, 3));
    to[0].iov_len = 4;
    CHECK_EQ(4, rreadv(ends[0], to, 1));
    rs_kit_verify(into, 4, 3);
    CHECK(rsendto(ends[0], bytes, 1, 0, (struct sockaddr *)&own, length) == -1 && errno == EISCONN);
    rs_kit_close(ends);
}

/* ---- Ends ----------------------------------------------------------------------------------- */

static void one_direction_ends(void)
{
    char text[8];
    int ends[2];

    rs_kit_pair(ends, NULL);
    CHECK_EQ(3, rsend(ends[0], "end", 3, 0));
    CHECK_EQ(0, rshutdown(ends[0], SHUT_WR));
    CHECK(rsend(ends[0], "x", 1, 0) == -1 && errno == ECONNRESET);
    CHECK_EQ(POLLIN, rs_kit_poll(ends[1], POLLIN));
    CHECK_EQ(3, rrecv(ends[1], text, sizeof(text), MSG_WAITALL));
    CHECK_EQ(0, rrecv(ends[1], text, sizeof(text), 0));
    CHECK_EQ(2, rsend(ends[1], "ok", 2, 0));
    CHECK_EQ(2, rrecv(ends[0], text, sizeof(text), 0));
    CHECK_EQ(0, rshutdown(ends[1], SHUT_WR));
    CHECK_EQ(0, rrecv(ends[0], text, sizeof(text), 0));
    CHECK(rs_kit_poll(ends[0], POLLIN) & POLLHUP);
    rs_kit_close(ends);
}

/* Data sent before the end is read before the end. */
static void peer_closes(void)
{
    char text[8];
    int ends[2];

    rs_kit_pair(ends, NULL);
    CHECK_EQ(4, rsend(ends[1], "last", 4, 0));
    CHECK_EQ(0, rclose(ends[1]));
    CHECK(rs_kit_poll(ends[0], POLLIN) & POLLIN);
    CHECK_EQ(4, rrecv(ends[0], text, sizeof(text), 0));
    CHECK_EQ(0, rrecv(ends[0], text, sizeof(text), 0));
    CHECK(rsend(ends[0], "x", 1, 0) == -1 && errno == ECONNRESET);
    CHECK_EQ(0, rclose(ends[0]));
}

/* This end looks for the first time when everything has arrived. */
static void peer_has_closed_already(void)
{
    struct sockaddr_in address;
    int listener = rs_kit_listen(&address, NULL);
    int client = rsocket(AF_INET, SOCK_STREAM, 0);
    char text[8];
    int rs;

    CHECK_EQ(0, rfcntl(client, F_SETFL, O_NONBLOCK));
    CHECK(rconnect(client, (struct sockaddr *)&address, sizeof(address)) == -1);
    CHECK_EQ(EINPROGRESS, errno);
    rs = raccept(listener, NULL, NULL);
    CHECK_EQ(0, rfcntl(client, F_SETFL, 0));
    CHECK_EQ(4, rsend(client, "last", 4, 0));
    CHECK_EQ(0, rclose(client));
    CHECK_EQ(4, rrecv(rs, text, sizeof(text), 0));
    CHECK_EQ(0, rrecv(rs, text, sizeof(text), 0));
    CHECK_EQ(0, rclose(rs));
    CHECK_EQ(0, rclose(listener));
}

/* ---- Waiting -------------------------------------------------------------------------------- */

static void *send_later(void *arg)
{
    CHECK_EQ(1, rsend(*(int *)arg, "x", 1, 0));
    return NULL;
}

static void *poll_for_one(void *arg)
{
    CHECK_EQ(POLLIN, rs_kit_poll(*(int *)arg, POLLIN));
    return NULL;
}

/* Polls a socket of the system and two rsockets; two threads sleep on the same one. */
static void sleeping(void)
{
    pthread_t threads[3];
    char text[4];
    fd_set reading;
    int ends[2];

    rs_kit_pair(ends, NULL);
    for (int i = 0; i < 2; i++)
        CHECK_EQ(0, pthread_create(&threads[i], NULL, poll_for_one, &ends[1]));
    CHECK_EQ(0, pthread_create(&threads[2], NULL, send_later, &ends[0]));
    for (int i = 0; i < 3; i++)
        CHECK_EQ(0, pthread_join(threads[i], NULL));
    FD_ZERO(&reading);
    FD_SET(ends[0], &reading);
    FD_SET(ends[1], &reading);
    CHECK_EQ(1, rselect((ends[0] > ends[1] ? ends[0] : ends[1]) + 1, &reading, NULL, NULL, NULL));
    CHECK(FD_ISSET(ends[1], &reading) && !FD_ISSET(ends[0], &reading));
    CHECK_EQ(1, rrecv(ends[1], text, sizeof(text), 0));
    rs_kit_close(ends);
}

/* ---- Mapped memory -------------------------------------------------------------------------- */

static void with_maps(int rs)
{
    rs_kit_set(rs, SOL_RDMA, RDMA_IOMAPSIZE, 2);
}

static void mapped_memory(void)
{
    static unsigned char into[100000];
    static unsigned char bytes[100000];
    char text[4];
    int ends[2];

    rs_kit_pair(ends, with_maps);
    CHECK_EQ(5000, riomap(ends[1], into, sizeof(into), PROT_WRITE, 0, 5000));
    CHECK((uintptr_t)text == (uintptr_t)riomap(ends[1], text, sizeof(text), PROT_WRITE, 0, -1));
    CHECK(riomap(ends[1], text, sizeof(text), PROT_WRITE, 0, 1) == -1 && errno == ENOMEM);
    CHECK_EQ(1, rsend(ends[1], "x", 1, 0)); /* also tells the peer of the mappings */
    CHECK_EQ(1, rrecv(ends[0], text, 1, 0));
    rs_kit_fill(bytes, sizeof(bytes), 0);
    CHECK_EQ(sizeof(bytes), riowrite(ends[0], bytes, sizeof(bytes), 5000, 0));
    CHECK(riowrite(ends[0], bytes, 1, 4999, 0) == (size_t)-1 && errno == EINVAL);
    CHECK_EQ(10, riowrite(ends[0], bytes, 20, 5000 + sizeof(bytes) - 10, 0));
    CHECK_EQ(sizeof(bytes), riowrite(ends[0], bytes, sizeof(bytes), 5000, 0));
    CHECK_EQ(1, rsend(ends[0], "x", 1, 0)); /* arrives after the written data */
    CHECK_EQ(1, rrecv(ends[1], text, 1, 0));
    rs_kit_verify(into, sizeof(into), 0);
    CHECK_EQ(0, riounmap(ends[1], into, sizeof(into)));
    CHECK(riounmap(ends[1], into, sizeof(into)) == -1 && errno == EINVAL);
    CHECK_EQ(0, riomap(ends[1], into, sizeof(into), PROT_WRITE, 0, 0));
    rs_kit_close(ends);
}

/* ---- Datagrams ------------------------------------------------------------------------------ */

static void datagrams(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr_in from;
    socklen_t length = sizeof(address);
    char text[8];
    int here = rsocket(AF_INET, SOCK_DGRAM, 0);
    int there = rsocket(AF_INET, SOCK_DGRAM, IPPROTO_UDP);

    CHECK(here >= 0 && there >= 0);
    CHECK_EQ(0, rbind(here, (struct sockaddr *)&address, length));
    CHECK_EQ(0, rgetsockname(here, (struct sockaddr *)&address, &length));
    CHECK_EQ(5, rsendto(there, "hello", 5, 0, (struct sockaddr *)&address, length));
    CHECK_EQ(POLLIN, rs_kit_poll(here, POLLIN));
    CHECK_EQ(5, rrecvfrom(here, text, sizeof(text), 0, (struct sockaddr *)&from, &length));
    CHECK_EQ(0, rconnect(here, (struct sockaddr *)&from, length));
    CHECK_EQ(2, rsend(here, "ok", 2, 0));
    CHECK_EQ(2, rrecv(there, text, sizeof(text), 0));
    CHECK_EQ(0, rclose(here));
    CHECK_EQ(0, rclose(there));
}

/*
 * A thread that waits for data sleeps until its time is over: the acknowledgement of what it has
 * sent does not wake it.
 */
static void acknowledgements_wake_nobody(void)
{
    struct rusage before;
    struct rusage after;
    int ends[2];

    rs_kit_pair(ends, NULL);
    CHECK_EQ(0, getrusage(RUSAGE_THREAD, &before));
    for (int i = 0; i < MANY; i++) {
        struct pollfd fd = {.fd = ends[0], .events = POLLIN};

        CHECK_EQ(1, rsend(ends[0], "1", 1, 0));
        CHECK_EQ(0, rpoll(&fd, 1, 5));
    }
    CHECK_EQ(0, getrusage(RUSAGE_THREAD, &after));
    CHECK(after.ru_nvcsw - before.ru_nvcsw < MANY + MANY / 4);
    rs_kit_close(ends);
}

int main(void)
{
    both_directions_at_once(NULL);
    both_directions_at_once(small);
    without_waiting();
    many_descriptors();
    pieces_of_memory();
    one_direction_ends();
    peer_closes();
    peer_has_closed_already();
    sleeping();
    acknowledgements_wake_nobody();
    mapped_memory();
    datagrams();
    check_done();
    return 0;
}
