/* SPDX-License-Identifier: BSD-2-Clause */
/* Settings made before the first data call, at which a connection may become SDP, hold after it. */
#include "hooks/sdp_hooks_kit.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

static char buffer[1 << 16];

static void await_event(const char *what, int set, uint32_t wanted)
{
    struct epoll_event event = {0, {.u64 = 0}};

    for (int i = 0; i < 100; i++) {
        int result = epoll_wait(set, &event, 1, 100);

        if (result > 0 && (event.events & wanted) == wanted)
            break;
    }
    sdp_hooks_note("%s: %#x %llx", what, event.events & wanted, (unsigned long long)event.data.u64);
}

/* As event loops do: the socket is non-blocking and in the set before it is connected. */
static void interests(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t length = sizeof(address);
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    int client = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    int set = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLET,
                                .data.u64 = 0xfedcba9876543210};
    int server;

    SAY(bind(listener, (struct sockaddr *)&address, length));
    SAY(listen(listener, 4));
    SAY(getsockname(listener, (struct sockaddr *)&address, &length));
    SAY(epoll_ctl(set, EPOLL_CTL_ADD, client, &event));
    SAY(connect(client, (struct sockaddr *)&address, length));
    server = accept(listener, NULL, NULL);
    await_event("connected", set, EPOLLOUT);
    SAY(write(client, "abc", 3));
    SAY(recv(server, buffer, 3, MSG_WAITALL));
    SAY(write(server, "abc", 3));
    await_event("answer", set, EPOLLIN);
    event.events = EPOLLIN;
    event.data.u64 = 5;
    SAY(epoll_ctl(set, EPOLL_CTL_ADD, client, &event));
    SAY(epoll_ctl(set, EPOLL_CTL_MOD, client, &event));
    await_event("modified", set, EPOLLIN);
    SAY(epoll_ctl(set, EPOLL_CTL_DEL, client, NULL));
    SAY(close(client));
    SAY(close(server));
    SAY(close(set));
    SAY(close(listener));
}

static void numbers(void)
{
    struct sdp_hooks_pair pair;
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = 11};
    int set = epoll_create1(0);
    int other;
    int third;

    sdp_hooks_open(&pair);
    other = dup(pair.server);
    third = fcntl(pair.server, F_DUPFD, 100);
    SAY(third);
    SAY(epoll_ctl(set, EPOLL_CTL_ADD, other, &event));
    SAY(write(pair.client, "abcd", 4));
    SAY(recv(pair.server, buffer, 1, 0));
    SAY(recv(other, buffer, 1, 0));
    SAY(close(pair.server));
    SAY(recv(third, buffer, 1, 0));
    await_event("other", set, EPOLLIN);
    SAY(dup2(third, pair.server));
    SAY(close(third));
    SAY(close(other));
    SAY(recv(pair.server, buffer, 1, 0));
    SAY(fcntl(other, F_GETFD));
    SAY(close(set));
    sdp_hooks_close(&pair);
}

static void close_on_exec(void)
{
    struct sdp_hooks_pair pair;

    sdp_hooks_open(&pair);
    SAY(fcntl(pair.server, F_SETFD, 0));
    SAY(write(pair.client, "a", 1));
    SAY(read(pair.server, buffer, 1));
    SAY(fcntl(pair.server, F_GETFD));
    SAY(fcntl(pair.client, F_GETFD));
    SAY(fcntl(pair.client, F_GETFL));
    sdp_hooks_close(&pair);
}

static volatile sig_atomic_t told_fd = -1;

static void on_io(int signal, siginfo_t *info, void *context)
{
    (void)signal;
    (void)context;
    told_fd = info->si_fd;
}

static void async(void)
{
    struct sdp_hooks_pair pair;
    struct sigaction action = {.sa_sigaction = on_io, .sa_flags = SA_SIGINFO | SA_RESTART};

    sdp_hooks_open(&pair);
    (void)sigaction(SIGRTMIN + 3, &action, NULL);
    SAY(fcntl(pair.server, F_SETOWN, getpid()));
    SAY(fcntl(pair.server, F_SETSIG, SIGRTMIN + 3));
    SAY(fcntl(pair.server, F_SETFL, O_ASYNC | O_NONBLOCK));
    SAY(write(pair.server, "b", 1));
    SAY(recv(pair.client, buffer, 1, MSG_WAITALL));
    SAY(fcntl(pair.server, F_GETFL));
    SAY(fcntl(pair.server, F_GETOWN) == getpid());
    SAY(fcntl(pair.server, F_GETSIG) == SIGRTMIN + 3);
    told_fd = -1;
    SAY(write(pair.client, "a", 1));
    for (int i = 0; i < 5000 && told_fd < 0; i++)
        (void)usleep(1000);
    sdp_hooks_note("%d", told_fd == pair.server);
    SAY(read(pair.server, buffer, 10));
    sdp_hooks_close(&pair);
}

static void settings(void)
{
    struct sdp_hooks_pair pair;
    struct timeval limit = {0, 20000};
    int value = 1;
    socklen_t length = sizeof(value);

    sdp_hooks_open(&pair);
    SAY(setsockopt(pair.server, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)));
    SAY(setsockopt(pair.server, SOL_SOCKET, SO_OOBINLINE, &value, sizeof(value)));
    SAY(recv(pair.server, buffer, 1, 0));
    SAY(send(pair.client, "!", 1, MSG_OOB));
    sdp_hooks_await("inline", pair.server, POLLIN, POLLIN);
    SAY(recv(pair.server, buffer, 10, 0));
    SAY(getsockopt(pair.server, SOL_SOCKET, SO_OOBINLINE, &value, &length));
    sdp_hooks_note("%d", value);
    sdp_hooks_close(&pair);
}

/* ---- Threads that wait already -------------------------------------------------------------- */

struct waiting {
    int fd;
    long result;
    uint64_t data;
    atomic_int started;
};

static void *wait_in_epoll(void *argument)
{
    struct waiting *waiting = argument;
    struct epoll_event event = {0, {.u64 = 0}};

    atomic_store(&waiting->started, 1);
    waiting->result = epoll_wait(waiting->fd, &event, 1, 10000);
    waiting->data = event.data.u64;
    return NULL;
}

static void *wait_in_poll(void *argument)
{
    struct waiting *waiting = argument;
    struct pollfd polls = {.fd = waiting->fd, .events = POLLIN};

    atomic_store(&waiting->started, 1);
    waiting->result = poll(&polls, 1, 10000);
    return NULL;
}

static void *wait_in_read(void *argument)
{
    struct waiting *waiting = argument;
    char octet;

    atomic_store(&waiting->started, 1);
    waiting->result = read(waiting->fd, &octet, 1);
    return NULL;
}

static void with_thread(void *(*run)(void *argument), bool adds)
{
    struct sdp_hooks_pair pair;
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = 77};
    struct waiting waiting = {.result = -1};
    int set = epoll_create1(0);
    pthread_t thread;

    sdp_hooks_open(&pair);
    waiting.fd = adds ? set : pair.server;
    (void)pthread_create(&thread, NULL, run, &waiting);
    while (!atomic_load(&waiting.started))
        (void)usleep(1000);
    (void)usleep(20000); /* the thread most likely sleeps now; the result must be the same if not */
    if (adds)
        SAY(epoll_ctl(set, EPOLL_CTL_ADD, pair.server, &event));
    SAY(write(pair.server, "b", 1));
    SAY(recv(pair.client, buffer, 1, MSG_WAITALL));
    SAY(write(pair.client, "a", 1));
    (void)pthread_join(thread, NULL);
    sdp_hooks_note("%ld %llu", waiting.result, (unsigned long long)waiting.data);
    (void)close(set);
    sdp_hooks_close(&pair);
}

static void thread_in_epoll(void)
{
    with_thread(wait_in_epoll, true);
}

static void thread_in_poll(void)
{
    with_thread(wait_in_poll, false);
}

static void thread_in_read(void)
{
    with_thread(wait_in_read, false);
}

const struct sdp_hooks_named sdp_hooks_carry[] = {{"interests", interests},
                                                  {"numbers", numbers},
                                                  {"close_on_exec", close_on_exec},
                                                  {"async", async},
                                                  {"settings", settings},
                                                  {"thread_in_epoll", thread_in_epoll},
                                                  {"thread_in_poll", thread_in_poll},
                                                  {"thread_in_read", thread_in_read},
                                                  {NULL, NULL}};
