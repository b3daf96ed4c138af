/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Processes that fork: a connection continues where it is first used, and its peer notices nothing.
 */
#include "sdp_kit.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct sdp_connection *pair[2];
static struct sdp_connection *busy[2];
static char octets[64];
static _Atomic bool stop;

static pid_t forks(void)
{
    pid_t child;

    sdp_before_fork();
    child = fork();
    CHECK(child >= 0);
    if (child == 0)
        sdp_after_fork_child();
    else
        sdp_after_fork_parent();
    return child;
}

static void await_child(pid_t child)
{
    int status;

    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void end_child(void)
{
    struct timespec deadline;

    (void)clock_gettime(CLOCK_MONOTONIC, &deadline);
    deadline.tv_sec += 10;
    CHECK(sdp_drain(&deadline));
    _exit(0);
}

/* Other threads of the parent continue in the middle of their calls. */
static void *echo(void *argument)
{
    char octet;

    (void)argument;
    while (sdp_kit_receive(busy[1], &octet, 1, 0) == 1)
        CHECK_EQ(1, sdp_kit_send(busy[1], &octet, 1, 0));
    return NULL;
}

static void *ask(void *argument)
{
    char octet = 0;

    (void)argument;
    while (!atomic_load(&stop)) {
        CHECK_EQ(1, sdp_kit_send(busy[0], &octet, 1, 0));
        CHECK_EQ(1, sdp_kit_receive(busy[0], &octet, 1, 0));
    }
    CHECK(sdp_shutdown(busy[0], SHUT_WR) == 0);
    return NULL;
}

/*
 * The child takes one end and the parent keeps the other, as in a server that forks for each
 * client.
 */
static void child_serves(void)
{
    pid_t child;

    sdp_kit_pair(pair, NULL);
    CHECK_EQ(5, sdp_kit_send(pair[0], "hello", 5, 0));
    CHECK_EQ(2, sdp_kit_receive(pair[1], octets, 2, 0));
    child = forks();
    if (child == 0) {
        /* The first three had arrived before. */
        CHECK_EQ(4, sdp_kit_receive(pair[1], octets, 4, MSG_WAITALL));
        CHECK(memcmp(octets, "llo!", 4) == 0);
        CHECK_EQ(5, sdp_kit_send(pair[1], "world", 5, 0));
        CHECK(sdp_close(pair[0], NULL) == 0);
        CHECK(sdp_close(pair[1], NULL) == 0);
        end_child();
    }
    CHECK_EQ(1, sdp_kit_send(pair[0], "!", 1, 0));
    CHECK(sdp_close(pair[1], NULL) == 0); /* the parent's copy */
    CHECK_EQ(5, sdp_kit_receive(pair[0], octets, 5, MSG_WAITALL));
    CHECK_EQ(0, sdp_kit_receive(pair[0], octets, 5, 0));
    CHECK(sdp_close(pair[0], NULL) == 0);
    await_child(child);
}

/* The child does something else and closes what it has. */
static void child_leaves(void)
{
    pid_t child;

    sdp_kit_pair(pair, NULL);
    CHECK_EQ(5, sdp_kit_send(pair[0], "hello", 5, 0));
    CHECK_EQ(5, sdp_kit_receive(pair[1], octets, 5, MSG_WAITALL));
    child = forks();
    if (child == 0)
        _exit(0);
    await_child(child);
    CHECK_EQ(5, sdp_kit_send(pair[1], "world", 5, 0));
    CHECK_EQ(5, sdp_kit_receive(pair[0], octets, 5, MSG_WAITALL));
    child = forks();
    if (child == 0) {
        CHECK_EQ(5, sdp_kit_send(pair[0], "again", 5, 0));
        end_child();
    }
    CHECK_EQ(5, sdp_kit_receive(pair[1], octets, 5, MSG_WAITALL));
    await_child(child);
    CHECK_EQ(-EBADF, sdp_kit_send(pair[0], "x", 1, 0));
    CHECK(sdp_close(pair[0], NULL) == 0 && sdp_close(pair[1], NULL) == 0);
}

static pid_t fork_idle(void)
{
    pid_t child = forks();

    if (child == 0) {
        (void)pause();
        _exit(0);
    }
    return child;
}

static void end_idle(pid_t child)
{
    CHECK(kill(child, SIGKILL) == 0);
    CHECK(waitpid(child, NULL, 0) == child);
}

/* The process forks before it knows that the connection exists. */
static void fork_early(void)
{
    pid_t child;

    sdp_kit_pair(pair, NULL);
    child = fork_idle();
    CHECK_EQ(1, sdp_kit_send(pair[0], "x", 1, 0));
    CHECK_EQ(1, sdp_kit_receive(pair[1], octets, 1, 0));
    end_idle(child);
    CHECK(sdp_close(pair[0], NULL) == 0 && sdp_close(pair[1], NULL) == 0);
}

static void fork_early_for_child(void)
{
    pid_t child;

    sdp_kit_pair(pair, NULL);
    child = forks();
    if (child == 0) {
        CHECK_EQ(1, sdp_kit_send(pair[0], "x", 1, 0));
        end_child();
    }
    CHECK_EQ(1, sdp_kit_receive(pair[1], octets, 1, 0));
    CHECK(sdp_close(pair[0], NULL) == 0 && sdp_close(pair[1], NULL) == 0);
    await_child(child);
}

static char many[65536];

/* Opens a pair and sends until nothing more is taken. Returns how many octets wait to be read. */
static size_t open_full(void)
{
    size_t sent = 0;
    ssize_t result;

    sdp_kit_pair(pair, NULL);
    CHECK_EQ(1, sdp_kit_send(pair[0], "x", 1, 0));
    CHECK_EQ(1, sdp_kit_receive(pair[1], octets, 1, 0));
    while ((result = sdp_kit_send(pair[0], many, sizeof(many), MSG_DONTWAIT)) > 0)
        sent += (size_t)result;
    CHECK_EQ(-EAGAIN, result);
    return sent;
}

/* Nobody uses the sending end again. */
static void octets_wait(void)
{
    size_t sent = open_full();
    size_t got = 0;
    ssize_t result;
    pid_t child;

    child = fork_idle();
    for (; got < sent; got += (size_t)result) {
        result = sdp_kit_receive(pair[1], many, sizeof(many), 0);
        CHECK(result > 0);
    }
    end_idle(child);
    CHECK_EQ(1, sdp_kit_send(pair[0], "x", 1, 0)); /* the parent has taken it over */
    CHECK_EQ(1, sdp_kit_receive(pair[1], many, 1, 0));
    CHECK(sdp_close(pair[0], NULL) == 0 && sdp_close(pair[1], NULL) == 0);
}

/* Both close it, and what was written arrives before the end. */
static void octets_are_left(void)
{
    size_t sent = open_full();
    size_t got = 0;
    ssize_t result;
    pid_t child;

    child = forks();
    CHECK(sdp_close(pair[0], NULL) == 0);
    if (child == 0) {
        CHECK(sdp_close(pair[1], NULL) == 0);
        end_child();
    }
    while ((result = sdp_kit_receive(pair[1], many, sizeof(many), 0)) > 0)
        got += (size_t)result;
    CHECK_EQ(0, result);
    CHECK_EQ(sent, got);
    CHECK(sdp_close(pair[1], NULL) == 0);
    await_child(child);
}

int main(void)
{
    pthread_t threads[2];

#if defined(__SANITIZE_THREAD__)
    puts("skipped: ThreadSanitizer allows no threads after a fork");
    return 77;
#endif
    sdp_kit_pair(busy, NULL);
    CHECK(pthread_create(&threads[0], NULL, echo, NULL) == 0);
    CHECK(pthread_create(&threads[1], NULL, ask, NULL) == 0);
    for (unsigned i = 0; i < 5; i++) {
        child_serves();
        child_leaves();
        octets_wait();
        octets_are_left();
        for (unsigned j = 0; j < 10; j++) {
            fork_early();
            fork_early_for_child();
        }
    }
    atomic_store(&stop, true);
    CHECK(pthread_join(threads[1], NULL) == 0);
    CHECK(pthread_join(threads[0], NULL) == 0);
    CHECK(sdp_close(busy[0], NULL) == 0 && sdp_close(busy[1], NULL) == 0);
    return 0;
}
