/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A thread that has waited for a set knows that a socket is readable, and has not read yet: whoever
 * else looks must find it readable, too.
 */
#include "hooks/sdp_hooks_kit.h"

#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define WAIT_MS 5000

static char buffer[100];

static void add_to(int set, int fd, uint32_t events, uint64_t data)
{
    struct epoll_event event = {.events = events, .data.u64 = data};

    SAY(epoll_ctl(set, EPOLL_CTL_ADD, fd, &event));
}

static void say_event(const char *what, int set, int limit_ms)
{
    struct epoll_event event = {0, {.u64 = 0}};
    int result = epoll_wait(set, &event, 1, limit_ms);

    sdp_hooks_note("%s: %d %#x %llu", what, result, event.events,
                   (unsigned long long)event.data.u64);
}

/* Opens a pair and a set; the set has told that the server's end is readable. */
static int open_readable(struct sdp_hooks_pair *pair)
{
    int set;

    sdp_hooks_open(pair);
    set = epoll_create1(EPOLL_CLOEXEC);
    add_to(set, pair->server, EPOLLIN, 5);
    SAY(send(pair->client, "abc", 3, 0));
    say_event("readable", set, WAIT_MS);
    return set;
}

static void *wait_for_set(void *argument)
{
    say_event("another thread", *(const int *)argument, WAIT_MS);
    return NULL;
}

static void another_thread(void)
{
    struct sdp_hooks_pair pair;
    int set = open_readable(&pair);
    pthread_t thread;

    (void)pthread_create(&thread, NULL, wait_for_set, &set);
    (void)pthread_join(thread, NULL);
    SAY(recv(pair.server, buffer, 2, 0));
    say_event("a part", set, WAIT_MS);
    SAY(recv(pair.server, buffer, 2, 0));
    say_event("nothing", set, 0);
    SAY(close(set));
    sdp_hooks_close(&pair);
}

static void other_sets(void)
{
    struct sdp_hooks_pair pair;
    int set = open_readable(&pair);
    int outer = epoll_create1(EPOLL_CLOEXEC);
    int second = epoll_create1(EPOLL_CLOEXEC);

    sdp_hooks_await("the set", set, POLLIN, POLLIN);
    add_to(outer, set, EPOLLIN, 6);
    say_event("the outer set", outer, WAIT_MS);
    sdp_hooks_await("the socket", pair.server, POLLIN, POLLIN);
    add_to(second, pair.server, EPOLLIN, 7);
    say_event("the second set", second, WAIT_MS);
    SAY(recv(pair.server, buffer, 3, 0));
    say_event("nothing", outer, 0);
    SAY(send(pair.client, "d", 1, 0));
    say_event("the second set", second, WAIT_MS);
    say_event("the set", set, WAIT_MS);
    SAY(close(outer));
    SAY(close(second));
    SAY(close(set));
    sdp_hooks_close(&pair);
}

static void *wait_for_outer(void *argument)
{
    const int *sets = argument;

    say_event("the outer set", sets[1], WAIT_MS);
    return NULL;
}

/* The octet comes while a thread waits for a set around the set. */
static void outer_set(void)
{
    struct sdp_hooks_pair pair;
    pthread_t threads[2];
    int sets[2];

    sdp_hooks_open(&pair);
    sets[0] = epoll_create1(EPOLL_CLOEXEC);
    sets[1] = epoll_create1(EPOLL_CLOEXEC);
    add_to(sets[0], pair.server, EPOLLIN, 5);
    add_to(sets[1], sets[0], EPOLLIN, 6);
    (void)pthread_create(&threads[0], NULL, wait_for_outer, sets);
    (void)!send(pair.client, "a", 1, 0);
    (void)pthread_join(threads[0], NULL);
    (void)pthread_create(&threads[1], NULL, wait_for_set, sets);
    (void)pthread_join(threads[1], NULL);
    SAY(close(sets[0]));
    SAY(close(sets[1]));
    sdp_hooks_close(&pair);
}

struct waiter {
    int set;
    int result;
};

static void *wait_silently(void *argument)
{
    struct waiter *waiter = argument;
    struct epoll_event event;

    waiter->result = epoll_wait(waiter->set, &event, 1, WAIT_MS);
    return NULL;
}

/* Two threads wait, for the set and for a set around it. Neither reads, so both must wake. */
static void two_threads(void)
{
    struct sdp_hooks_pair pair;
    struct waiter waiters[2];
    pthread_t threads[2];
    int woken = 0;

    sdp_hooks_open(&pair);
    waiters[0].set = epoll_create1(EPOLL_CLOEXEC);
    waiters[1].set = epoll_create1(EPOLL_CLOEXEC);
    add_to(waiters[0].set, pair.server, EPOLLIN, 5);
    add_to(waiters[1].set, waiters[0].set, EPOLLIN, 6);
    for (unsigned round = 0; round < 20; round++) {
        for (unsigned i = 0; i < 2; i++)
            (void)pthread_create(&threads[i], NULL, wait_silently, &waiters[i]);
        (void)!send(pair.client, "a", 1, 0);
        for (unsigned i = 0; i < 2; i++) {
            (void)pthread_join(threads[i], NULL);
            woken += waiters[i].result;
        }
        (void)!recv(pair.server, buffer, 1, 0);
    }
    sdp_hooks_note("%d", woken);
    SAY(close(waiters[0].set));
    SAY(close(waiters[1].set));
    sdp_hooks_close(&pair);
}

/* The number on which it was found readable goes away, and its description stays. */
static void duplicate(void)
{
    struct sdp_hooks_pair pair;
    int set = open_readable(&pair);
    int other = dup(pair.server);

    SAY(close(pair.server));
    say_event("the duplicate", set, WAIT_MS);
    SAY(recv(other, buffer, 3, 0));
    say_event("nothing", set, 0);
    SAY(close(other));
    SAY(close(set));
    SAY(close(pair.client));
    SAY(close(pair.listener));
}

static void closed(void)
{
    struct sdp_hooks_pair pair;
    struct sdp_hooks_pair next;
    int set = open_readable(&pair);

    sdp_hooks_close(&pair);
    say_event("nothing", set, 0);
    sdp_hooks_open(&next);
    add_to(set, next.server, EPOLLIN, 8);
    say_event("nothing", set, 0);
    SAY(send(next.client, "x", 1, 0));
    say_event("readable", set, WAIT_MS);
    SAY(close(set));
    sdp_hooks_close(&next);
}

/* The parent waits for the set, which is no use of the connection; then the child reads. */
static void forked(void)
{
    struct sdp_hooks_pair pair;
    int set = open_readable(&pair);
    int status = 0;
    int go[2];
    pid_t child;

    SAY(pipe(go));
    child = fork();
    if (child == 0) {
        struct epoll_event event;
        int found = read(go[0], buffer, 1) == 1 ? epoll_wait(set, &event, 1, WAIT_MS) : 0;

        _exit(10 * found + (int)recv(pair.server, buffer, sizeof(buffer), 0));
    }
    say_event("the parent", set, 0);
    (void)!write(go[1], "x", 1);
    (void)waitpid(child, &status, 0);
    sdp_hooks_note("child: %d", WEXITSTATUS(status));
    SAY(close(go[0]));
    SAY(close(go[1]));
    SAY(close(set));
    sdp_hooks_close(&pair);
}

/* One socket is reported once, whatever its events are. */
static void both_events(void)
{
    struct sdp_hooks_pair pair;
    struct epoll_event events[4] = {{0, {.u64 = 0}}};
    int count = 0;
    int set;

    sdp_hooks_open(&pair);
    set = epoll_create1(EPOLL_CLOEXEC);
    add_to(set, pair.server, EPOLLIN | EPOLLOUT, 5);
    SAY(send(pair.client, "a", 1, 0));
    while (!(events[0].events & EPOLLIN) && count >= 0)
        count = epoll_wait(set, events, 4, WAIT_MS);
    sdp_hooks_note("%d %#x", count, events[0].events);
    SAY(close(set));
    sdp_hooks_close(&pair);
}

/* More sockets are readable than the array has room for. */
static void little_room(void)
{
    struct sdp_hooks_pair pairs[3];
    struct epoll_event events[2];
    unsigned seen = 0;
    int set = epoll_create1(EPOLL_CLOEXEC);

    for (unsigned i = 0; i < 3; i++) {
        sdp_hooks_open(&pairs[i]);
        add_to(set, pairs[i].server, EPOLLIN, i);
    }
    for (unsigned i = 0; i < 3; i++)
        SAY(send(pairs[i].client, "a", 1, 0));
    /* The octets may need longer than the set, which is asked again at once. */
    while (seen != 7) {
        int count = epoll_wait(set, events, 2, WAIT_MS);

        if (count > 2 || count <= 0)
            sdp_hooks_note("%d events", count);
        for (int j = 0; j < count && j < 2; j++)
            seen |= 1u << events[j].data.u64;
    }
    sdp_hooks_note("%u", seen);
    SAY(close(set));
    for (unsigned i = 0; i < 3; i++)
        sdp_hooks_close(&pairs[i]);
}

/* The socket is in no set. */
static void polled(void)
{
    struct sdp_hooks_pair pair;

    sdp_hooks_open(&pair);
    SAY(send(pair.client, "abc", 3, 0));
    for (unsigned i = 0; i < 3; i++) {
        sdp_hooks_await("readable", pair.server, POLLIN, POLLIN);
        SAY(recv(pair.server, buffer, 1, 0));
    }
    sdp_hooks_await("nothing", pair.server, POLLIN, 0);
    sdp_hooks_close(&pair);
}

const struct sdp_hooks_named sdp_hooks_behind[] = {{"another_thread", another_thread},
                                                   {"other_sets", other_sets},
                                                   {"outer_set", outer_set},
                                                   {"two_threads", two_threads},
                                                   {"duplicate", duplicate},
                                                   {"closed", closed},
                                                   {"forked", forked},
                                                   {"both_events", both_events},
                                                   {"little_room", little_room},
                                                   {"polled", polled},
                                                   {NULL, NULL}};
