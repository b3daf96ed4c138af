/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls whose octets pass between the program's memory and the socket without another copy: what
 * ends them early, and what comes between.
 */
#include "sdp_kit.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CALL  ((size_t)131072)
#define LARGE ((size_t)4 << 20)
#define SHORT ((size_t)1 << 20) /* for scenes that repeat */

static struct sdp_connection *pair[2];
static unsigned char octets[2 * CALL];

static void start(bool crc, bool direct)
{
    const struct sdp_settings settings = {.crc_off = !crc, .zcopy_off = !direct};

    sdp_kit_pair(pair, &settings);
    for (unsigned i = 0; i < 2; i++)
        sdp_watch(pair[i], SDP_WATCH_NOTHING);
}

static void end(void)
{
    CHECK(sdp_close(pair[0], NULL) == 0 && sdp_close(pair[1], NULL) == 0);
}

static struct sdp_counters counters_of(unsigned end)
{
    struct sdp_counters counters;

    sdp_counters(pair[end], &counters);
    return counters;
}

struct job {
    uint64_t from;
    size_t count;
    size_t each;
};

static void *send_job(void *argument)
{
    const struct job *job = argument;

    sdp_kit_send_stream(pair[0], job->from, job->count, job->each);
    return NULL;
}

/* Sends all as one message. */
static void *send_urgent(void *unused)
{
    unsigned char message[20001];

    (void)unused;
    for (size_t at = 0; at < sizeof(message) - 1; at++)
        message[at] = sdp_kit_octet(at);
    message[sizeof(message) - 1] = '!';
    CHECK_EQ(sizeof(message), sdp_kit_send(pair[0], message, sizeof(message), MSG_OOB));
    return NULL;
}

/* ---- Streams -------------------------------------------------------------------------------- */

static void stream(bool crc, bool direct, size_t each_sent, size_t each_read)
{
    struct job job = {0, SHORT, each_sent};
    pthread_t thread;

    start(crc, direct);
    CHECK(pthread_create(&thread, NULL, send_job, &job) == 0);
    sdp_kit_check_stream(pair[1], 0, SHORT, each_read);
    CHECK(pthread_join(thread, NULL) == 0);
    if (!direct)
        CHECK(counters_of(0).direct_sent == 0 && counters_of(1).direct_received == 0);
    else if (each_sent >= CALL)
        CHECK(counters_of(0).direct_sent > 0);
    CHECK_EQ(SHORT, counters_of(0).sent);
    CHECK_EQ(SHORT, counters_of(1).received);
    end();
}

static void streams(void)
{
    static const size_t sizes[] = {1000, 16384, 50001, CALL, 300000};

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        for (size_t j = 0; j < sizeof(sizes) / sizeof(sizes[0]); j++)
            stream((i + j) % 2 != 0, true, sizes[i], sizes[j]);
    stream(true, false, CALL, CALL);
}

/* A call that waits gets the octets into its own memory. */
static void waiting_call(void)
{
    struct job job = {0, CALL, CALL};
    pthread_t thread;

    start(true, true);
    sdp_kit_send_stream(pair[0], 7, 1, 1);
    sdp_kit_check_stream(pair[1], 7, 1, 1);
    for (unsigned i = 0; i < 20 || counters_of(1).direct_received == 0; i++) {
        CHECK(pthread_create(&thread, NULL, send_job, &job) == 0);
        CHECK_EQ(CALL, sdp_kit_receive(pair[1], octets, CALL, MSG_WAITALL));
        for (size_t at = 0; at < CALL; at++)
            CHECK(octets[at] == sdp_kit_octet(at));
        CHECK(pthread_join(thread, NULL) == 0);
    }
    end();
}

/* Octets of earlier and later messages keep their order around urgent ones, and around peeks. */
static void order(void)
{
    static unsigned char peeked[CALL];

    start(true, true);
    sdp_kit_send_stream(pair[0], 0, 50000, 50000);
    sdp_kit_send_stream(pair[0], 50000, 1000, 1000);
    CHECK_EQ(1, sdp_kit_send(pair[0], "!", 1, MSG_OOB));
    sdp_kit_send_stream(pair[0], 51000, 50000, 50000);
    sdp_kit_await(pair[1], POLLPRI);
    CHECK_EQ(51000, sdp_kit_receive(pair[1], peeked, 51000, MSG_PEEK | MSG_WAITALL));
    sdp_kit_check_stream(pair[1], 0, 51000, CALL);
    sdp_kit_check_stream(pair[1], 51000, 50000, CALL);
    for (size_t i = 0; i < 51000; i++)
        CHECK(peeked[i] == sdp_kit_octet(i));
    end();
}

/* A long message that ends with an urgent octet arrives while a call waits. */
static void urgent_message(void)
{
    pthread_t thread;
    struct job job = {0, 50000, 50000};
    unsigned char urgent = 0;

    start(true, true);
    for (unsigned i = 0; i < 20; i++) {
        CHECK(pthread_create(&thread, NULL, send_job, &job) == 0);
        CHECK_EQ(50000, sdp_kit_receive(pair[1], octets, 50000, MSG_WAITALL));
        CHECK(pthread_join(thread, NULL) == 0);
        CHECK(pthread_create(&thread, NULL, send_urgent, NULL) == 0);
        CHECK_EQ(20000, sdp_kit_receive(pair[1], octets, CALL, 0));
        for (size_t at = 0; at < 20000; at++)
            CHECK(octets[at] == sdp_kit_octet(at));
        CHECK_EQ(1, sdp_kit_receive(pair[1], &urgent, 1, MSG_OOB));
        CHECK(urgent == '!');
        CHECK(pthread_join(thread, NULL) == 0);
    }
    end();
}

/* ---- Early ends ----------------------------------------------------------------------------- */

static void ignore(int number)
{
    (void)number;
}

static _Atomic bool returned;

/* Reads all it can get until a signal ends the wait for more; then the rest. */
static void *interrupted(void *argument)
{
    const struct iovec part = {octets, sizeof(octets)};
    ssize_t got;

    (void)argument;
    got = sdp_receive(pair[1], &part, 1, MSG_WAITALL, NULL);
    returned = true;
    CHECK(got == -EINTR || (got > 0 && (size_t)got <= CALL));
    for (ssize_t i = 0; i < got; i++)
        CHECK(octets[i] == sdp_kit_octet((uint64_t)i));
    if (got < 0)
        got = 0;
    memset(octets, 0x33, sizeof(octets));
    sdp_kit_check_stream(pair[1], (uint64_t)got, SHORT - (size_t)got, 30000);
    for (size_t i = 0; i < sizeof(octets); i++)
        CHECK(octets[i] == 0x33); /* nothing arrives there any more */
    return NULL;
}

static void signals(void)
{
    const struct sigaction action = {.sa_handler = ignore};
    const struct timespec pause = {.tv_nsec = 1000000};
    pthread_t thread;

    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    for (unsigned i = 0; i < 10; i++) {
        start(i % 2 != 0, true);
        returned = false;
        CHECK(pthread_create(&thread, NULL, interrupted, NULL) == 0);
        sdp_kit_send_stream(pair[0], 0, i * 13000, 13000);
        while (!returned) {
            CHECK(pthread_kill(thread, SIGUSR1) == 0);
            (void)nanosleep(&pause, NULL);
        }
        sdp_kit_send_stream(pair[0], i * 13000, SHORT - i * 13000, 70000);
        CHECK(pthread_join(thread, NULL) == 0);
        end();
    }
}

/* Another thread closes, or the peer is gone, while the call waits. */
static void *waits_in_vain(void *want)
{
    CHECK_EQ(*(const ssize_t *)want, sdp_kit_receive(pair[1], octets, CALL, 0));
    return NULL;
}

static void closed(void)
{
    const struct linger now = {.l_onoff = 1};
    const ssize_t wants[] = {-EBADF, -ECONNRESET};
    pthread_t thread;

    for (unsigned i = 0; i < 2; i++) {
        start(true, true);
        sdp_kit_send_stream(pair[0], 0, 1, 1);
        sdp_kit_check_stream(pair[1], 0, 1, 1);
        CHECK(pthread_create(&thread, NULL, waits_in_vain, (void *)(uintptr_t)&wants[i]) == 0);
        if (i == 0)
            sdp_disturb(pair[1]);
        else
            CHECK(sdp_close(pair[0], &now) == 0);
        CHECK(pthread_join(thread, NULL) == 0);
        CHECK(sdp_close(pair[1], NULL) == 0);
        if (i == 0)
            CHECK(sdp_close(pair[0], NULL) == 0);
    }
}

/* ---- fork ----------------------------------------------------------------------------------- */

static void *reads_all(void *unused)
{
    (void)unused;
    sdp_kit_check_stream(pair[1], 0, LARGE, CALL);
    return NULL;
}

/* The process forks while one thread waits for octets and they arrive. */
static void forks(void)
{
    struct job job = {0, LARGE, 50000};
    pthread_t threads[2];
    int status;

    start(true, true);
    CHECK(pthread_create(&threads[0], NULL, reads_all, NULL) == 0);
    CHECK(pthread_create(&threads[1], NULL, send_job, &job) == 0);
    for (unsigned i = 0; i < 10; i++) {
        pid_t child;

        sdp_before_fork();
        child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            sdp_after_fork_child();
            _exit(0);
        }
        sdp_after_fork_parent();
        for (unsigned j = 0; j < 2; j++)
            (void)sdp_events(pair[j]); /* this process goes on with it */
        CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status));
    }
    CHECK(pthread_join(threads[0], NULL) == 0 && pthread_join(threads[1], NULL) == 0);
    end();
}

int main(void)
{
    streams();
    waiting_call();
    order();
    urgent_message();
    signals();
    closed();
    forks();
    return 0;
}
