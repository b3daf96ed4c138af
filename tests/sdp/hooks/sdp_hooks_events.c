/* SPDX-License-Identifier: BSD-2-Clause */
/* poll, select and epoll, in all their forms. */
#include "hooks/sdp_hooks_kit.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <unistd.h>

#define ALL (POLLIN | POLLOUT | POLLPRI | POLLRDHUP)

static char buffer[1 << 16];

static void fill(int fd)
{
    int flags = fcntl(fd, F_GETFL);

    (void)fcntl(fd, F_SETFL, flags | O_NONBLOCK);
    while (write(fd, buffer, sizeof(buffer)) > 0)
        ;
    (void)fcntl(fd, F_SETFL, flags);
}

/* Reads until the other end may write and no octets have come for a while. */
static void drain(int fd, int other)
{
    struct pollfd polls[2] = {{.fd = fd, .events = POLLIN}, {.fd = other, .events = POLLOUT}};

    while (poll(&polls[0], 1, 50) > 0 || poll(&polls[1], 1, 0) == 0)
        (void)!recv(fd, buffer, sizeof(buffer), MSG_DONTWAIT);
}

/* All states of readable and writable. */
static void states(void)
{
    struct sdp_hooks_pair pair;

    sdp_hooks_open(&pair);
    sdp_hooks_await("nothing", pair.server, ALL, POLLOUT);
    SAY(send(pair.client, "a", 1, 0));
    sdp_hooks_await("both", pair.server, ALL, POLLIN | POLLOUT);
    fill(pair.server);
    sdp_hooks_await("read", pair.server, ALL, POLLIN);
    SAY(recv(pair.server, buffer, 1, 0));
    sdp_hooks_await("none", pair.server, ALL, 0);
    drain(pair.client, pair.server);
    sdp_hooks_await("write", pair.server, ALL, POLLOUT);
    SAY(shutdown(pair.client, SHUT_WR));
    sdp_hooks_await("end", pair.server, ALL, POLLRDHUP);
    SAY(shutdown(pair.server, SHUT_WR));
    sdp_hooks_await("over", pair.server, ALL, POLLHUP);
    sdp_hooks_close(&pair);
}

static void say_sets(int result, fd_set *sets, int fd)
{
    sdp_hooks_note("%d: %d %d %d", result, FD_ISSET(fd, &sets[0]) != 0, FD_ISSET(fd, &sets[1]) != 0,
                   FD_ISSET(fd, &sets[2]) != 0);
}

static void fill_sets(fd_set *sets, int fd)
{
    for (int i = 0; i < 3; i++) {
        FD_ZERO(&sets[i]);
        FD_SET(fd, &sets[i]);
    }
}

static void selects(void)
{
    struct sdp_hooks_pair pair;
    struct timeval limit = {0, 10000};
    struct timespec short_limit = {0, 10000000};
    fd_set sets[3];

    sdp_hooks_open(&pair);
    fill_sets(sets, pair.server);
    say_sets(select(pair.server + 1, &sets[0], &sets[1], &sets[2], NULL), sets, pair.server);
    fill_sets(sets, pair.server);
    say_sets(select(pair.server + 1, &sets[0], NULL, NULL, &limit), sets, pair.server);
    sdp_hooks_note("%ld %ld", (long)limit.tv_sec, (long)limit.tv_usec);
    SAY(send(pair.client, "a", 1, 0));
    sdp_hooks_await("readable", pair.server, POLLIN, POLLIN);
    fill_sets(sets, pair.server);
    say_sets(pselect(pair.server + 1, &sets[0], &sets[1], &sets[2], &short_limit, NULL), sets,
             pair.server);
    SAY(close(pair.server));
    fill_sets(sets, pair.server);
    SAY(select(pair.server + 1, &sets[0], NULL, NULL, &limit));
    SAY(close(pair.client));
    SAY(close(pair.listener));
}

/* Waits a while for one event. If none is to come, reports that at once. */
static void say_event(const char *what, int set, int limit_ms)
{
    struct epoll_event event = {0, {.u64 = 0}};
    int result = epoll_wait(set, &event, 1, limit_ms);

    sdp_hooks_note("%s: %d %#x %llx", what, result, event.events,
                   (unsigned long long)event.data.u64);
}

static int open_set(int fd, uint32_t events, uint64_t data)
{
    struct epoll_event event = {.events = events, .data.u64 = data};
    int set = epoll_create1(EPOLL_CLOEXEC);

    sdp_hooks_say("add", epoll_ctl(set, EPOLL_CTL_ADD, fd, &event));
    return set;
}

static void level(void)
{
    struct sdp_hooks_pair pair;
    int set;

    sdp_hooks_open(&pair);
    set = open_set(pair.server, EPOLLIN, 0x1234567890abcdef);
    say_event("nothing", set, 0);
    SAY(send(pair.client, "ab", 2, 0));
    say_event("readable", set, 5000);
    say_event("still", set, 0);
    SAY(recv(pair.server, buffer, 1, 0));
    say_event("still", set, 0);
    SAY(recv(pair.server, buffer, 1, 0));
    say_event("nothing", set, 0);
    SAY(shutdown(pair.client, SHUT_WR));
    say_event("end", set, 5000);
    SAY(close(set));
    sdp_hooks_close(&pair);
}

static void edge(void)
{
    struct sdp_hooks_pair pair;
    int set;

    sdp_hooks_open(&pair);
    SAY(send(pair.client, "ab", 2, 0));
    SAY(recv(pair.server, buffer, 2, MSG_WAITALL));
    set = open_set(pair.server, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, 7);
    say_event("writable", set, 5000);
    say_event("nothing", set, 0);
    SAY(send(pair.client, "abcd", 4, 0));
    say_event("readable", set, 5000);
    say_event("nothing", set, 0);
    SAY(recv(pair.server, buffer, 1, 0));
    say_event("nothing", set, 0);
    SAY(send(pair.client, "ab", 2, 0));
    say_event("more", set, 5000);
    SAY(recv(pair.server, buffer, 5, MSG_WAITALL));
    say_event("nothing", set, 0);
    SAY(shutdown(pair.client, SHUT_WR));
    say_event("end", set, 5000);
    say_event("nothing", set, 0);
    SAY(close(set));
    sdp_hooks_close(&pair);
}

#define STREAM_OCTETS (8l << 20)

static void *read_stream(void *argument)
{
    static char into[30000];
    const int *fd = argument;
    long total = 0;

    while (total < STREAM_OCTETS) {
        ssize_t got = read(*fd, into, sizeof(into));

        if (got <= 0)
            break;
        total += got;
    }
    return NULL;
}

/* Every edge is reported: a writer that waits for one is never left asleep. */
static void edge_writer(void)
{
    struct sdp_hooks_pair pair;
    struct epoll_event event;
    pthread_t thread;
    long total = 0;
    int late = 0;
    int set;

    sdp_hooks_open(&pair);
    SAY(fcntl(pair.client, F_SETFL, O_NONBLOCK));
    set = open_set(pair.client, EPOLLOUT | EPOLLET, 1);
    (void)pthread_create(&thread, NULL, read_stream, &pair.server);
    while (total < STREAM_OCTETS && late == 0) {
        long left = STREAM_OCTETS - total;
        ssize_t sent =
            write(pair.client, buffer, left < (long)sizeof(buffer) ? (size_t)left : sizeof(buffer));

        if (sent > 0)
            total += sent;
        else
            late += epoll_wait(set, &event, 1, 15000) != 1;
    }
    sdp_hooks_note("%ld %d", total, late);
    (void)pthread_join(thread, NULL);
    SAY(close(set));
    sdp_hooks_close(&pair);
}

static void one_shot(void)
{
    struct sdp_hooks_pair pair;
    struct epoll_event again = {.events = EPOLLIN | EPOLLONESHOT, .data.u64 = 9};
    int set;

    sdp_hooks_open(&pair);
    set = open_set(pair.server, EPOLLIN | EPOLLONESHOT, 8);
    SAY(send(pair.client, "ab", 2, 0));
    say_event("readable", set, 5000);
    say_event("disarmed", set, 0);
    SAY(epoll_ctl(set, EPOLL_CTL_MOD, pair.server, &again));
    say_event("again", set, 5000);
    SAY(send(pair.client, "ab", 2, 0));
    say_event("disarmed", set, 0);
    SAY(epoll_ctl(set, EPOLL_CTL_DEL, pair.server, NULL));
    SAY(epoll_ctl(set, EPOLL_CTL_DEL, pair.server, NULL));
    SAY(epoll_ctl(set, EPOLL_CTL_MOD, pair.server, &again));
    SAY(epoll_ctl(set, EPOLL_CTL_ADD, pair.server, &again));
    SAY(epoll_ctl(set, EPOLL_CTL_ADD, pair.server, &again));
    SAY(epoll_ctl(pair.client, EPOLL_CTL_ADD, pair.server, &again));
    SAY(epoll_ctl(set, 77, pair.server, &again));
    SAY(close(set));
    sdp_hooks_close(&pair);
}

static void urgent_event(void)
{
    struct sdp_hooks_pair pair;
    struct epoll_event event = {0, {.u64 = 0}};
    int both;
    int alone;

    sdp_hooks_open(&pair);
    both = open_set(pair.server, EPOLLIN | EPOLLPRI, 21);
    alone = open_set(pair.server, EPOLLPRI, 22);
    SAY(send(pair.client, "a", 1, 0));
    say_event("data", both, 5000);
    say_event("none", alone, 0);
    SAY(send(pair.client, "!", 1, MSG_OOB));
    say_event("urgent", alone, 5000);
    say_event("both", both, 5000);
    SAY(recv(pair.server, buffer, 10, 0));
    say_event("urgent", alone, 0);
    say_event("urgent", both, 0);
    SAY(recv(pair.server, buffer, 10, MSG_OOB));
    SAY(epoll_wait(alone, &event, 1, 0));
    SAY(epoll_wait(both, &event, 1, 0));
    SAY(close(both));
    SAY(close(alone));
    sdp_hooks_close(&pair);
}

static void many(void)
{
    struct sdp_hooks_pair pairs[20];
    struct pollfd polls[40];
    int ready = 0;

    for (int i = 0; i < 20; i++) {
        sdp_hooks_open(&pairs[i]);
        polls[2 * i] = (struct pollfd){.fd = pairs[i].server, .events = POLLIN};
        polls[2 * i + 1] = (struct pollfd){.fd = i % 3 ? -1 : pairs[i].client, .events = POLLOUT};
        if (i % 2)
            (void)!write(pairs[i].client, "x", 1);
    }
    sdp_hooks_await("last", pairs[19].server, POLLIN, POLLIN);
    SAY(poll(polls, 40, 1000));
    for (int i = 0; i < 40; i++)
        ready = ready * 3 % 1000003 + polls[i].revents;
    sdp_hooks_note("%d", ready);
    for (int i = 0; i < 20; i++)
        sdp_hooks_close(&pairs[i]);
}

/* A listening socket, a pipe and a socket of the program are in one set. */
static void mixed(void)
{
    struct sdp_hooks_pair pair;
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = 2};
    int channel[2];
    int set;

    sdp_hooks_open(&pair);
    SAY(pipe(channel));
    set = open_set(pair.listener, EPOLLIN, 1);
    SAY(epoll_ctl(set, EPOLL_CTL_ADD, channel[0], &event));
    event.data.u64 = 3;
    SAY(epoll_ctl(set, EPOLL_CTL_ADD, pair.client, &event));
    SAY(write(channel[1], "x", 1));
    say_event("pipe", set, 5000);
    SAY(read(channel[0], buffer, 1));
    SAY(write(pair.server, "x", 1));
    say_event("socket", set, 5000);
    SAY(close(pair.client));
    say_event("nothing", set, 0);
    SAY(close(set));
    SAY(close(pair.server));
    SAY(close(pair.listener));
}

const struct sdp_hooks_named sdp_hooks_events[] = {{"states", states},
                                                   {"selects", selects},
                                                   {"level", level},
                                                   {"edge", edge},
                                                   {"edge_writer", edge_writer},
                                                   {"one_shot", one_shot},
                                                   {"urgent_event", urgent_event},
                                                   {"many", many},
                                                   {"mixed", mixed},
                                                   {NULL, NULL}};
