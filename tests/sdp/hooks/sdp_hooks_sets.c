/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Event loops add, change and remove interests all the time. Not every such call reaches the
 * kernel's set, and nobody notices.
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

static int change(int set, int operation, int fd, uint32_t events, uint64_t data)
{
    struct epoll_event event = {.events = events, .data.u64 = data};

    return epoll_ctl(set, operation, fd, &event);
}

static void say_event(const char *what, int set, int limit_ms)
{
    struct epoll_event event = {0, {.u64 = 0}};
    int result = epoll_wait(set, &event, 1, limit_ms);

    sdp_hooks_note("%s: %d %#x %llu", what, result, event.events,
                   (unsigned long long)event.data.u64);
}

/* Opens a pair and a set with the server's end, which becomes readable. */
static int open_set(struct sdp_hooks_pair *pair)
{
    int set;

    sdp_hooks_open(pair);
    set = epoll_create1(EPOLL_CLOEXEC);
    SAY(change(set, EPOLL_CTL_ADD, pair->server, EPOLLIN, 5));
    SAY(send(pair->client, "abc", 3, 0));
    say_event("readable", set, WAIT_MS);
    return set;
}

static void end_set(struct sdp_hooks_pair *pair, int set)
{
    SAY(close(set));
    sdp_hooks_close(pair);
}

static void changed_interest(void)
{
    struct sdp_hooks_pair pair;
    int set = open_set(&pair);

    SAY(change(set, EPOLL_CTL_MOD, pair.server, EPOLLIN, 5));
    say_event("the same", set, WAIT_MS);
    SAY(change(set, EPOLL_CTL_MOD, pair.server, EPOLLIN, 6));
    say_event("other data", set, WAIT_MS);
    SAY(change(set, EPOLL_CTL_MOD, pair.server, EPOLLOUT, 6));
    say_event("other events", set, WAIT_MS);
    SAY(change(set, EPOLL_CTL_MOD, pair.server, EPOLLRDHUP, 6));
    say_event("nothing", set, 0);
    SAY(change(set, EPOLL_CTL_MOD, pair.server, EPOLLIN | EPOLLET, 7));
    say_event("an edge", set, WAIT_MS);
    say_event("no edge", set, 0);
    SAY(change(set, EPOLL_CTL_MOD, pair.server, EPOLLIN | EPOLLET, 7));
    say_event("an edge again", set, WAIT_MS);
    end_set(&pair, set);
}

static void removed_interest(void)
{
    struct sdp_hooks_pair pair;
    int set = open_set(&pair);

    SAY(change(set, EPOLL_CTL_DEL, pair.server, 0, 0));
    SAY(change(set, EPOLL_CTL_DEL, pair.server, 0, 0));
    SAY(change(set, EPOLL_CTL_MOD, pair.server, EPOLLIN, 5));
    say_event("nothing", set, 0);
    SAY(change(set, EPOLL_CTL_ADD, pair.server, EPOLLIN, 6));
    SAY(change(set, EPOLL_CTL_ADD, pair.server, EPOLLIN, 7));
    say_event("added", set, WAIT_MS);
    SAY(change(set, EPOLL_CTL_DEL, pair.server, 0, 0));
    SAY(change(set, EPOLL_CTL_ADD, pair.server, EPOLLIN | EPOLLOUT, 8));
    say_event("added at once", set, WAIT_MS);
    SAY(change(set, EPOLL_CTL_DEL, pair.server, 0, 0));
    SAY(change(set, EPOLL_CTL_ADD, pair.server, EPOLLIN | EPOLLET | EPOLLEXCLUSIVE, 9));
    say_event("for one alone", set, WAIT_MS);
    SAY(change(set, EPOLL_CTL_DEL, pair.server, 0, 0));
    SAY(change(set, EPOLL_CTL_ADD, pair.server, EPOLLIN | EPOLLONESHOT, 10));
    say_event("one shot", set, WAIT_MS);
    say_event("nothing", set, 0);
    SAY(recv(pair.server, buffer, 3, 0));
    SAY(change(set, EPOLL_CTL_DEL, pair.server, 0, 0));
    SAY(change(set, EPOLL_CTL_ADD, pair.server, EPOLLIN, 11));
    say_event("nothing", set, 0);
    SAY(send(pair.client, "d", 1, 0));
    say_event("readable", set, WAIT_MS);
    end_set(&pair, set);
}

/* What was removed last is another one's. */
static void removed_two(void)
{
    struct sdp_hooks_pair pairs[2];
    int set = open_set(&pairs[0]);
    int other = open_set(&pairs[1]);

    SAY(change(set, EPOLL_CTL_ADD, pairs[1].server, EPOLLIN, 6));
    SAY(change(set, EPOLL_CTL_DEL, pairs[0].server, 0, 0));
    SAY(change(set, EPOLL_CTL_DEL, pairs[1].server, 0, 0));
    SAY(change(set, EPOLL_CTL_ADD, pairs[0].server, EPOLLIN, 7));
    say_event("the first", set, WAIT_MS);
    SAY(recv(pairs[0].server, buffer, 3, 0));
    say_event("nothing", set, 0);
    SAY(change(other, EPOLL_CTL_DEL, pairs[1].server, 0, 0));
    SAY(change(set, EPOLL_CTL_ADD, pairs[1].server, EPOLLIN, 8));
    say_event("in the other set", other, 0);
    say_event("the second", set, WAIT_MS);
    SAY(close(other));
    end_set(&pairs[0], set);
    sdp_hooks_close(&pairs[1]);
}

/* The numbers of a removed socket and of its set get other files. */
static void removed_and_closed(void)
{
    struct sdp_hooks_pair pair;
    struct sdp_hooks_pair next;
    int set = open_set(&pair);
    int kept = dup(pair.server);
    int set_kept = dup(set);

    SAY(change(set, EPOLL_CTL_DEL, pair.server, 0, 0));
    SAY(close(pair.server));
    say_event("nothing", set, 0);
    sdp_hooks_open(&next);
    SAY(dup2(next.server, pair.server) == pair.server);
    SAY(change(set, EPOLL_CTL_ADD, pair.server, EPOLLIN, 6));
    say_event("nothing", set, 0);
    SAY(send(next.client, "x", 1, 0));
    say_event("the new file", set, WAIT_MS);
    SAY(change(set, EPOLL_CTL_DEL, pair.server, 0, 0));
    SAY(close(set));
    sdp_hooks_await("the set's duplicate", set_kept, POLLIN, 0);
    SAY(dup2(set_kept, set) == set);
    SAY(change(set, EPOLL_CTL_ADD, pair.server, EPOLLIN, 7));
    say_event("the set's number", set, WAIT_MS);
    SAY(close(set_kept));
    SAY(close(kept));
    sdp_hooks_close(&next);
    end_set(&pair, set);
}

static _Atomic pid_t waiting;

static void *wait_in_vain(void *argument)
{
    waiting = gettid();
    say_event("a thread", *(const int *)argument, 300);
    return NULL;
}

static void *wait_for_event(void *argument)
{
    waiting = gettid();
    say_event("a thread", *(const int *)argument, WAIT_MS);
    return NULL;
}

static void start_waiting(pthread_t *thread, void *(*wait)(void *), int *set)
{
    waiting = 0;
    (void)pthread_create(thread, NULL, wait, set);
    sdp_hooks_await_asleep(&waiting);
}

/* While a thread waits, each change counts at once. */
static void removed_while_waiting(void)
{
    struct sdp_hooks_pair pair;
    int set = open_set(&pair);
    pthread_t thread;

    SAY(recv(pair.server, buffer, 3, 0));
    start_waiting(&thread, wait_in_vain, &set);
    (void)change(set, EPOLL_CTL_DEL, pair.server, 0, 0);
    (void)!send(pair.client, "d", 1, 0);
    (void)pthread_join(thread, NULL);
    start_waiting(&thread, wait_for_event, &set);
    (void)change(set, EPOLL_CTL_ADD, pair.server, EPOLLIN, 6);
    (void)pthread_join(thread, NULL);
    (void)change(set, EPOLL_CTL_DEL, pair.server, 0, 0);
    (void)pthread_create(&thread, NULL, wait_in_vain, &set);
    (void)pthread_join(thread, NULL);
    end_set(&pair, set);
}

static void removed_before_others_look(void)
{
    struct sdp_hooks_pair pair;
    int set = open_set(&pair);
    struct epoll_event event;
    int status = 0;
    pid_t child;

    SAY(change(set, EPOLL_CTL_DEL, pair.server, 0, 0));
    sdp_hooks_await("polled", set, POLLIN, 0);
    SAY(change(set, EPOLL_CTL_ADD, pair.server, EPOLLIN, 6));
    sdp_hooks_await("polled", set, POLLIN, POLLIN);
    SAY(change(set, EPOLL_CTL_DEL, pair.server, 0, 0));
    child = fork();
    if (child == 0)
        _exit(epoll_wait(set, &event, 1, 0));
    (void)waitpid(child, &status, 0);
    sdp_hooks_note("a child: %d", WEXITSTATUS(status));
    SAY(change(set, EPOLL_CTL_ADD, pair.server, EPOLLIN, 7));
    say_event("after the fork", set, WAIT_MS);
    SAY(change(set, EPOLL_CTL_DEL, pair.server, 0, 0));
    child = fork();
    if (child == 0)
        _exit(epoll_wait(set, &event, 1, 0));
    (void)waitpid(child, &status, 0);
    sdp_hooks_note("another child: %d", WEXITSTATUS(status));
    end_set(&pair, set);
}

/* ---- Sets that parent and child share -------------------------------------------------------- */

/*
 * Forks a child that changes the interest in the server once the parent has used it, and ends. So
 * the connection stays with the parent.
 */
static void change_in_child(const struct sdp_hooks_pair *pair, int set, int operation,
                            uint64_t data)
{
    char octet = 0;
    int status = 0;
    int told[2];
    pid_t child;

    SAY(pipe(told));
    child = fork();
    if (child == 0) {
        (void)!read(told[0], &octet, 1);
        _exit(change(set, operation, pair->server, EPOLLIN, data) == 0 ? 0 : errno);
    }
    SAY(send(pair->server, "u", 1, 0));
    SAY(write(told[1], &octet, 1));
    (void)waitpid(child, &status, 0);
    sdp_hooks_note("a child has changed it: %s", strerror(WEXITSTATUS(status)));
    SAY(close(told[0]) | close(told[1]));
}

static void removed_by_child(void)
{
    struct sdp_hooks_pair pair;
    int set = open_set(&pair);

    SAY(recv(pair.server, buffer, 3, 0));
    change_in_child(&pair, set, EPOLL_CTL_DEL, 0);
    SAY(send(pair.client, "d", 1, 0));
    say_event("nothing", set, 50);
    SAY(change(set, EPOLL_CTL_MOD, pair.server, EPOLLIN, 6));
    SAY(change(set, EPOLL_CTL_DEL, pair.server, 0, 0));
    SAY(change(set, EPOLL_CTL_ADD, pair.server, EPOLLIN, 7));
    say_event("added", set, WAIT_MS);
    change_in_child(&pair, set, EPOLL_CTL_DEL, 0);
    SAY(change(set, EPOLL_CTL_ADD, pair.server, EPOLLIN, 8));
    SAY(change(set, EPOLL_CTL_ADD, pair.server, EPOLLIN, 9));
    say_event("added again", set, WAIT_MS);
    end_set(&pair, set);
}

static void added_by_child(void)
{
    struct sdp_hooks_pair pair;
    int set = open_set(&pair);

    SAY(change(set, EPOLL_CTL_DEL, pair.server, 0, 0));
    change_in_child(&pair, set, EPOLL_CTL_ADD, 6);
    say_event("the child's", set, WAIT_MS);
    SAY(change(set, EPOLL_CTL_ADD, pair.server, EPOLLIN, 7));
    SAY(change(set, EPOLL_CTL_MOD, pair.server, EPOLLIN, 8));
    say_event("modified", set, WAIT_MS);
    change_in_child(&pair, set, EPOLL_CTL_MOD, 9);
    say_event("modified by a child", set, WAIT_MS);
    SAY(change(set, EPOLL_CTL_DEL, pair.server, 0, 0));
    say_event("nothing", set, 0);
    end_set(&pair, set);
}

/* A child that may not use the connection does not change what its parent sees. */
static void polled_by_child(void)
{
    struct sdp_hooks_pair pair;
    struct pollfd polls;
    char octet = 0;
    int set = open_set(&pair);
    int told[2];
    pid_t child;

    SAY(pipe(told));
    child = fork();
    if (child == 0) {
        polls = (struct pollfd){.fd = pair.server, .events = POLLIN};
        _exit(read(told[0], &octet, 1) != 1 || poll(&polls, 1, WAIT_MS) != 1);
    }
    SAY(recv(pair.server, buffer, 3, 0));
    SAY(send(pair.client, "d", 1, 0));
    say_event("readable", set, WAIT_MS);
    SAY(write(told[1], &octet, 1));
    SAY(waitpid(child, NULL, 0) == child);
    say_event("still readable", set, WAIT_MS);
    SAY(recv(pair.server, buffer, 3, 0));
    say_event("nothing", set, 0);
    SAY(close(told[0]) | close(told[1]));
    end_set(&pair, set);
}

/* The child has forked before the parent removes the interest. */
static void removed_by_parent(void)
{
    struct sdp_hooks_pair pair;
    struct epoll_event event;
    int set = open_set(&pair);
    int status = 0;
    int told[2];
    char octet = 0;
    pid_t child;

    SAY(pipe(told));
    child = fork();
    if (child == 0)
        _exit(read(told[0], &octet, 1) == 1 ? epoll_wait(set, &event, 1, 0) : 9);
    SAY(change(set, EPOLL_CTL_DEL, pair.server, 0, 0));
    SAY(write(told[1], &octet, 1));
    (void)waitpid(child, &status, 0);
    sdp_hooks_note("the child: %d", WEXITSTATUS(status));
    SAY(close(told[0]) | close(told[1]));
    end_set(&pair, set);
}

const struct sdp_hooks_named sdp_hooks_sets[] = {
    {"changed_interest", changed_interest},
    {"removed_interest", removed_interest},
    {"removed_two", removed_two},
    {"removed_and_closed", removed_and_closed},
    {"removed_while_waiting", removed_while_waiting},
    {"removed_before_others_look", removed_before_others_look},
    {"removed_by_child", removed_by_child},
    {"added_by_child", added_by_child},
    {"polled_by_child", polled_by_child},
    {"removed_by_parent", removed_by_parent},
    {NULL, NULL}};
