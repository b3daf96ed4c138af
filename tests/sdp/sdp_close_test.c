/* SPDX-License-Identifier: BSD-2-Clause */
/* How connections end, and what calls return then: the same as on TCP. */
#include "sdp_kit.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct sdp_connection *pair[2];
static char octets[1 << 16];

static void half_close(unsigned side)
{
    struct sdp_connection *first;
    struct sdp_connection *second;

    sdp_kit_pair(pair, NULL);
    first = pair[side];
    second = pair[1 - side];
    CHECK_EQ(5, sdp_kit_send(first, "hello", 5, 0));
    CHECK(sdp_shutdown(first, SHUT_WR) == 0);
    CHECK_EQ(-EPIPE, sdp_kit_send(first, "x", 1, 0));
    CHECK_EQ(5, sdp_kit_receive(second, octets, 5, MSG_WAITALL));
    CHECK_EQ(0, sdp_kit_receive(second, octets, 5, 0));
    CHECK_EQ(0, sdp_kit_receive(second, octets, 5, MSG_DONTWAIT));
    CHECK((sdp_events(second) & (POLLIN | POLLRDHUP | POLLOUT | POLLHUP)) ==
          (POLLIN | POLLRDHUP | POLLOUT));
    /* The other direction still works. */
    sdp_kit_check_stream(first, 0, 0, 1);
    CHECK_EQ(5, sdp_kit_send(second, "world", 5, 0));
    CHECK_EQ(5, sdp_kit_receive(first, octets, 64, 0));
    CHECK(sdp_shutdown(second, SHUT_WR) == 0);
    CHECK_EQ(0, sdp_kit_receive(first, octets, 5, 0));
    sdp_kit_await(first, POLLHUP | POLLIN | POLLRDHUP | POLLOUT);
    sdp_kit_await(second, POLLHUP);
    CHECK_EQ(0, sdp_error(first));
    CHECK_EQ(0, sdp_error(second));
    CHECK(sdp_close(first, NULL) == 0 && sdp_close(second, NULL) == 0);
}

/* More than fits into the buffers is read after the close. */
static void what_was_sent_arrives(void)
{
    sdp_kit_pair(pair, NULL);
    sdp_kit_send_stream(pair[0], 0, 400000, 100000);
    CHECK(sdp_close(pair[0], NULL) == 0);
    sdp_kit_check_stream(pair[1], 0, 400000, 65536);
    CHECK_EQ(0, sdp_kit_receive(pair[1], octets, 5, 0));
    CHECK(sdp_close(pair[1], NULL) == 0);
}

static void reset_is_told(void (*end)(struct sdp_connection *))
{
    sdp_kit_pair(pair, NULL);
    CHECK_EQ(5, sdp_kit_send(pair[0], "hello", 5, 0));
    sdp_kit_await(pair[1], POLLIN);
    end(pair[1]);
    CHECK_EQ(-ECONNRESET, sdp_kit_receive(pair[0], octets, 5, 0));
    CHECK_EQ(0, sdp_kit_receive(pair[0], octets, 5, 0)); /* told once */
    CHECK_EQ(-EPIPE, sdp_kit_send(pair[0], octets, 5, 0));
    CHECK(sdp_close(pair[0], NULL) == 0);
}

/* The other end's greeting has not even arrived: only then it can be told. */
static void early_reset(unsigned side)
{
    static const enum sdp_role roles[] = {SDP_ACTIVE, SDP_PASSIVE};
    const struct linger linger = {.l_onoff = 1};
    int fds[2];

    sdp_kit_tcp(fds);
    CHECK(sdp_connection_start(fds[side], roles[side], NULL, NULL, &pair[side]) == 0);
    CHECK(sdp_close(pair[side], &linger) == 0);
    CHECK(sdp_connection_start(fds[1 - side], roles[1 - side], NULL, NULL, &pair[1 - side]) == 0);
    CHECK_EQ(-ECONNRESET, sdp_kit_receive(pair[1 - side], octets, 5, 0));
    CHECK(sdp_close(pair[1 - side], NULL) == 0);
}

static void close_unread(struct sdp_connection *connection)
{
    CHECK(sdp_close(connection, NULL) == 0);
}

static void close_linger_0(struct sdp_connection *connection)
{
    const struct linger linger = {.l_onoff = 1};

    CHECK_EQ(5, sdp_kit_receive(connection, octets, 5, 0));
    CHECK(sdp_close(connection, &linger) == 0);
}

/* The socket was closed with nothing unread. Data arrives afterwards. */
static void data_for_nobody(void)
{
    sdp_kit_pair(pair, NULL);
    CHECK_EQ(5, sdp_kit_send(pair[0], "hello", 5, 0));
    CHECK_EQ(5, sdp_kit_receive(pair[1], octets, 5, 0));
    CHECK(sdp_close(pair[1], NULL) == 0);
    CHECK_EQ(0, sdp_kit_receive(pair[0], octets, 5, 0));
    CHECK_EQ(5, sdp_kit_send(pair[0], "hello", 5, 0));
    sdp_kit_await(pair[0], POLLHUP);
    CHECK_EQ(-EPIPE, sdp_kit_send(pair[0], "hello", 5, 0));
    CHECK(sdp_close(pair[0], NULL) == 0);
}

static void linger_waits(void)
{
    const struct linger linger = {.l_onoff = 1, .l_linger = 100};

    sdp_kit_pair(pair, NULL);
    sdp_kit_send_stream(pair[0], 0, 100000, 100000);
    CHECK(sdp_close(pair[0], &linger) == 0);
    sdp_kit_check_stream(pair[1], 0, 100000, 65536);
    CHECK(sdp_close(pair[1], NULL) == 0);
}

static void shutdown_of_reading(void)
{
    sdp_kit_pair(pair, NULL);
    CHECK(sdp_shutdown(pair[1], SHUT_RD) == 0);
    CHECK_EQ(0, sdp_kit_receive(pair[1], octets, 5, 0));
    CHECK_EQ(5, sdp_kit_send(pair[1], "hello", 5, 0));
    CHECK_EQ(5, sdp_kit_receive(pair[0], octets, 5, MSG_WAITALL));
    CHECK(sdp_close(pair[0], NULL) == 0 && sdp_close(pair[1], NULL) == 0);
}

/* ---- Other threads, signals ----------------------------------------------------------------- */

static void *blocked(void *argument)
{
    (void)argument;
    CHECK_EQ(-EBADF, sdp_kit_receive(pair[1], octets, 5, 0));
    return NULL;
}

static void close_by_another_thread(void)
{
    pthread_t threads[3];

    sdp_kit_pair(pair, NULL);
    for (unsigned i = 0; i < 3; i++)
        CHECK(pthread_create(&threads[i], NULL, blocked, NULL) == 0);
    (void)usleep(1000 * (unsigned)(rand() % 5));
    sdp_disturb(pair[1]);
    for (unsigned i = 0; i < 3; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(sdp_close(pair[1], NULL) == 0);
    CHECK_EQ(0, sdp_kit_receive(pair[0], octets, 5, 0));
    CHECK(sdp_close(pair[0], NULL) == 0);
}

static volatile sig_atomic_t signals;

static void on_signal(int number)
{
    (void)number;
    signals = 1;
}

/* Sends signals repeatedly, since one may come before the sleep. */
static void *disturb(void *argument)
{
    const pthread_t *target = argument;

    for (unsigned i = 0; i < 20; i++) {
        (void)usleep(1000);
        (void)pthread_kill(*target, SIGUSR1);
    }
    return NULL;
}

static void signals_end_calls(void)
{
    const struct sigaction action = {.sa_handler = on_signal};
    struct timespec deadline;
    const struct iovec part = {octets, 1};
    pthread_t self = pthread_self();
    pthread_t thread;
    ssize_t result;

    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    sdp_kit_pair(pair, NULL);
    (void)clock_gettime(CLOCK_MONOTONIC, &deadline);
    deadline.tv_sec += 100;
    CHECK(pthread_create(&thread, NULL, disturb, &self) == 0);
    result = sdp_receive(pair[0], &part, 1, 0, &deadline);
    CHECK_EQ(-EINTR, result);
    CHECK(signals);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(sdp_close(pair[0], NULL) == 0 && sdp_close(pair[1], NULL) == 0);
}

/* ---- Processes ------------------------------------------------------------------------------ */

#define PEERS 3u

static struct peer {
    pid_t process;
    int fd;
    int told; /* it says here that it has answered */
} peers[PEERS];

/* Answers once. */
static void be_the_peer(int fd, int tell)
{
    CHECK(sdp_connection_start(fd, SDP_PASSIVE, NULL, NULL, &pair[1]) == 0);
    CHECK_EQ(5, sdp_kit_receive(pair[1], octets, 5, MSG_WAITALL));
    CHECK_EQ(5, sdp_kit_send(pair[1], "hello", 5, 0));
    CHECK(write(tell, "x", 1) == 1);
    (void)pause();
    _exit(0);
}

/* All are forked before the library has a thread. */
static void peers_start(void)
{
    for (unsigned i = 0; i < PEERS; i++) {
        int fds[2], pipes[2];

        sdp_kit_tcp(fds);
        CHECK(pipe(pipes) == 0);
        peers[i] = (struct peer){.process = fork(), .fd = fds[0], .told = pipes[0]};
        CHECK(peers[i].process >= 0);
        if (peers[i].process == 0) {
            for (unsigned k = 0; k <= i; k++)
                (void)close(peers[k].fd);
            be_the_peer(fds[1], pipes[1]);
        }
        (void)close(fds[1]);
        (void)close(pipes[1]);
    }
}

static void peer_greet(const struct peer *peer)
{
    CHECK(sdp_connection_start(peer->fd, SDP_ACTIVE, NULL, NULL, &pair[0]) == 0);
    CHECK_EQ(5, sdp_kit_send(pair[0], "hello", 5, 0));
    CHECK(read(peer->told, octets, 1) == 1);
    (void)close(peer->told);
    CHECK_EQ(5, sdp_kit_receive(pair[0], octets, 5, MSG_WAITALL));
}

static void peer_end(const struct peer *peer)
{
    CHECK(kill(peer->process, SIGKILL) == 0);
    CHECK(waitpid(peer->process, NULL, 0) == peer->process);
}

/* The other end is killed: this end gets the end of the stream or a reset, but does not hang. */
static void peer_is_killed(const struct peer *peer)
{
    peer_greet(peer);
    peer_end(peer);
    CHECK_EQ(0, sdp_kit_receive(pair[0], octets, 5, 0));
    CHECK((sdp_events(pair[0]) & (POLLIN | POLLRDHUP | POLLOUT | POLLHUP | POLLERR)) ==
          (POLLIN | POLLRDHUP | POLLOUT));
    /* As on TCP, the first octets find out that nobody is there. */
    CHECK_EQ(5, sdp_kit_send(pair[0], octets, 5, 0));
    CHECK((sdp_events(pair[0]) & (POLLHUP | POLLERR)) == (POLLHUP | POLLERR));
    CHECK_EQ(-EPIPE, sdp_kit_send(pair[0], octets, 5, 0));
    CHECK(sdp_close(pair[0], NULL) == 0);
}

/*
 * The other end is stopped, and all buffers are full: nobody waits for it but for as long as the
 * program says.
 */
static void peer_is_stopped(const struct peer *peer, const struct linger *linger)
{
    ssize_t sent = 1;

    peer_greet(peer);
    CHECK(kill(peer->process, SIGSTOP) == 0);
    CHECK(waitpid(peer->process, NULL, WUNTRACED) == peer->process);
    while (sent > 0)
        sent = sdp_kit_send(pair[0], octets, sizeof(octets), MSG_DONTWAIT);
    CHECK_EQ(-EAGAIN, sent);
    CHECK_EQ(-EAGAIN, sdp_kit_receive(pair[0], octets, 5, MSG_DONTWAIT));
    CHECK(sdp_shutdown(pair[0], SHUT_WR) == 0);
    CHECK_EQ(-EPIPE, sdp_kit_send(pair[0], octets, 5, 0));
    (void)sdp_close(pair[0], linger);
    peer_end(peer);
}

static void many_connections(unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        const struct linger linger = {.l_onoff = i % 3 == 0};

        sdp_kit_pair(pair, NULL);
        if (i % 2)
            CHECK_EQ(5, sdp_kit_send(pair[0], "hello", 5, 0));
        CHECK(sdp_close(pair[i % 2], &linger) == 0 && sdp_close(pair[1 - i % 2], NULL) == 0);
    }
}

static unsigned descriptors(void)
{
    unsigned count = 0;

    for (int fd = 0; fd < 1024; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

/*
 * Both ends were closed in order: the connections are freed, though data and credits were in
 * transit.
 */
static void nothing_is_left(void)
{
    unsigned before;

    sdp_kit_pair(pair, NULL);
    sdp_kit_send_stream(pair[0], 0, 1, 1);
    sdp_kit_check_stream(pair[1], 0, 1, 1);
    before = descriptors() - 2; /* each end has one descriptor */
    CHECK(sdp_close(pair[0], NULL) == 0 && sdp_close(pair[1], NULL) == 0);
    for (unsigned i = 0; i < 20; i++) {
        sdp_kit_pair(pair, NULL);
        sdp_kit_send_stream(pair[0], 0, 300000, 100000);
        CHECK(sdp_shutdown(pair[i % 2], SHUT_WR) == 0);
        sdp_kit_check_stream(pair[1], 0, 300000, 100000);
        CHECK(sdp_close(pair[0], NULL) == 0 && sdp_close(pair[1], NULL) == 0);
    }
    while (descriptors() > before)
        (void)usleep(1000);
}

int main(void)
{
    const struct linger one_second = {.l_onoff = 1, .l_linger = 1};

    peers_start();
    peer_is_killed(&peers[0]);
    peer_is_stopped(&peers[1], NULL);
    peer_is_stopped(&peers[2], &one_second);
    half_close(0);
    half_close(1);
    what_was_sent_arrives();
    reset_is_told(close_unread);
    reset_is_told(close_linger_0);
    early_reset(0);
    early_reset(1);
    data_for_nobody();
    linger_waits();
    shutdown_of_reading();
    close_by_another_thread();
    signals_end_calls();
    nothing_is_left();
    many_connections(getenv("ITAPI_SDP_LONG") ? 2000 : 100);
    return 0;
}
