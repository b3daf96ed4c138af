/* SPDX-License-Identifier: BSD-2-Clause */
/* Large blocking calls, which are not copied: all exchanges, and all that ends them early. */
#include "sdp_kit.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define LARGE ((size_t)1 << 20)

static struct sdp_connection *pair[2];
static unsigned char octets[LARGE];

struct job {
    struct sdp_connection *connection;
    size_t count;
    size_t each;
};

static void *send_job(void *argument)
{
    const struct job *job = argument;

    sdp_kit_send_stream(job->connection, 0, job->count, job->each);
    return NULL;
}

static uint64_t zcopied(const struct sdp_connection *connection, bool sent)
{
    struct sdp_counters counters;

    sdp_counters((struct sdp_connection *)(uintptr_t)connection, &counters);
    return sent ? counters.zcopy_sent : counters.zcopy_received;
}

static void start(void)
{
    sdp_kit_pair(pair, NULL);
    for (unsigned i = 0; i < 2; i++) {
        sdp_watch(pair[i], SDP_WATCH_NOTHING);
        CHECK(sdp_set_option(pair[i], SDP_ZCOPY_FROM, 65536) == 0);
    }
}

static void end(void)
{
    CHECK(sdp_close(pair[0], NULL) == 0 && sdp_close(pair[1], NULL) == 0);
}

static void stream(size_t count, size_t each_sent, size_t each_read)
{
    struct job job;
    pthread_t thread;

    start();
    job = (struct job){pair[0], count, each_sent};
    CHECK(pthread_create(&thread, NULL, send_job, &job) == 0);
    sdp_kit_check_stream(pair[1], 0, count, each_read);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK_EQ(zcopied(pair[0], true), zcopied(pair[1], false));
    if (each_sent >= 65536 && each_read >= 65536)
        CHECK(zcopied(pair[0], true) > 0);
    end();
}

/* The receiver calls first: Write ZCopy. */
static void sink_is_written(void)
{
    struct job job;
    pthread_t thread;

    stream(LARGE, LARGE, LARGE);
    start();
    job = (struct job){pair[0], 3 * LARGE, LARGE};
    CHECK(pthread_create(&thread, NULL, send_job, &job) == 0);
    CHECK(sdp_kit_receive(pair[1], octets, LARGE, MSG_WAITALL) == LARGE);
    CHECK(sdp_kit_receive(pair[1], octets, LARGE, MSG_WAITALL) == LARGE);
    CHECK(sdp_kit_receive(pair[1], octets, LARGE, MSG_WAITALL) == LARGE);
    for (size_t i = 0; i < LARGE; i++)
        CHECK(octets[i] == sdp_kit_octet(2 * LARGE + i));
    CHECK(pthread_join(thread, NULL) == 0);
    end();
}

/*
 * The peer does not read, or reads small pieces, or does not wait: in the end the data is copied.
 */
static void refused_and_timed_out(void)
{
    struct job job;
    pthread_t thread;
    size_t got = 0;
    ssize_t count;

    stream(2 * LARGE, LARGE, 1000);
    start();
    job = (struct job){pair[0], LARGE, 200000};
    CHECK(pthread_create(&thread, NULL, send_job, &job) == 0);
    while (got < LARGE) {
        sdp_kit_await(pair[1], POLLIN);
        count = sdp_kit_receive(pair[1], octets, LARGE, MSG_DONTWAIT);
        CHECK(count != 0);
        if (count > 0)
            got += (size_t)count;
    }
    CHECK(pthread_join(thread, NULL) == 0);
    end();
}

/* Both send before either reads. Sends that fit into the buffers do not wait for ever. */
static void both_send_first(void)
{
    struct job jobs[2];
    pthread_t threads[2];

    start();
    for (unsigned i = 0; i < 2; i++) {
        jobs[i] = (struct job){pair[i], 200000, 200000};
        CHECK(pthread_create(&threads[i], NULL, send_job, &jobs[i]) == 0);
    }
    for (unsigned i = 0; i < 2; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    for (unsigned i = 0; i < 2; i++)
        sdp_kit_check_stream(pair[i], 0, 200000, 200000);
    end();
}

static struct timespec after_ms(long ms)
{
    struct timespec time;

    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    time.tv_nsec += ms * 1000000;
    time.tv_sec += time.tv_nsec / 1000000000;
    time.tv_nsec %= 1000000000;
    return time;
}

/*
 * A receive that ends early withdraws its SinkAvail. Nothing is written to its memory afterwards.
 */
static void receive_ends_early(void)
{
    const struct iovec part = {octets, LARGE};
    struct timespec deadline;

    start();
    /* From here on the mode is pipelined. */
    sdp_kit_send_stream(pair[0], 0, 70000, 70000);
    sdp_kit_check_stream(pair[1], 0, 70000, 70000);
    deadline = after_ms(5);
    CHECK_EQ(-EAGAIN, sdp_receive(pair[1], &part, 1, 0, &deadline));
    memset(octets, 0x55, LARGE);
    sdp_kit_send_stream(pair[0], 5, 1000, 1000);
    sdp_kit_check_stream(pair[1], 5, 1000, LARGE);
    for (size_t i = 0; i < LARGE; i++)
        CHECK(octets[i] == 0x55);
    end();
}

static void send_ends_early(void)
{
    const struct iovec part = {octets, LARGE};
    struct timespec deadline = after_ms(5);
    ssize_t sent;
    ssize_t rest;

    start();
    for (size_t i = 0; i < LARGE; i++)
        octets[i] = sdp_kit_octet(i);
    sent = sdp_send(pair[0], &part, 1, 0, &deadline);
    CHECK(sent == -EAGAIN || sent >= 0);
    rest = sent > 0 ? sent : 0;
    sdp_kit_send_stream(pair[0], (uint64_t)rest, 1000, 1000);
    sdp_kit_check_stream(pair[1], 0, (size_t)rest + 1000, LARGE);
    end();
}

/* Missing or partly missing memory is an error, and the connection continues. */
static void memory_is_not_there(void)
{
    unsigned char *memory = mmap(NULL, LARGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    CHECK(memory != MAP_FAILED);
    CHECK(munmap(memory + LARGE / 2, LARGE / 2) == 0);
    start();
    sdp_kit_send_stream(pair[0], 0, 1, 1);
    sdp_kit_check_stream(pair[1], 0, 1, 1);
    CHECK_EQ(-EFAULT, sdp_kit_send(pair[0], memory, LARGE, 0));
    sdp_kit_send_stream(pair[0], 0, 70000, 70000);
    sdp_kit_check_stream(pair[1], 0, 70000, 70000);
    CHECK_EQ(-EFAULT, sdp_kit_receive(pair[1], memory, LARGE, 0));
    sdp_kit_send_stream(pair[0], 0, 70000, 70000);
    sdp_kit_check_stream(pair[1], 0, 70000, 70000);
    CHECK(munmap(memory, LARGE / 2) == 0);
    end();
}

static void *send_memory(void *memory)
{
    CHECK_EQ(LARGE, sdp_kit_send(pair[0], memory, LARGE, 0));
    return NULL;
}

/* As a file that is mapped to be sent. */
static void read_only_memory(void)
{
    void *memory = mmap(NULL, LARGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_t thread;

    CHECK(memory != MAP_FAILED);
    start();
    CHECK(pthread_create(&thread, NULL, send_memory, memory) == 0);
    CHECK_EQ(LARGE, sdp_kit_receive(pair[1], octets, LARGE, MSG_WAITALL));
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(munmap(memory, LARGE) == 0);
    end();
}

/* An urgent octet in the middle of a stream of large sends. */
static void urgent_between(void)
{
    struct job job;
    pthread_t thread;

    start();
    job = (struct job){pair[0], LARGE, LARGE};
    CHECK(pthread_create(&thread, NULL, send_job, &job) == 0);
    sdp_kit_check_stream(pair[1], 0, LARGE, LARGE);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK_EQ(1, sdp_kit_send(pair[0], "!", 1, MSG_OOB));
    sdp_kit_await(pair[1], POLLPRI);
    CHECK_EQ(1, sdp_kit_receive(pair[1], octets, 1, MSG_OOB));
    CHECK(octets[0] == '!');
    CHECK(pthread_create(&thread, NULL, send_job, &job) == 0);
    sdp_kit_check_stream(pair[1], 0, LARGE, LARGE);
    CHECK(pthread_join(thread, NULL) == 0);
    end();
}

/* The peer closes while its octets are awaited or this side's are offered. */
static void *close_soon(void *argument)
{
    struct sdp_connection **connection = argument;
    const struct linger now = {.l_onoff = 1};

    (void)usleep(2000);
    CHECK(sdp_close(*connection, &now) == 0);
    return NULL;
}

static void peer_goes(bool sending)
{
    pthread_t thread;
    ssize_t result;

    start();
    sdp_kit_send_stream(pair[0], 0, 70000, 70000);
    sdp_kit_check_stream(pair[1], 0, 70000, 70000);
    CHECK(pthread_create(&thread, NULL, close_soon, &pair[sending ? 1 : 0]) == 0);
    if (sending) {
        do
            result = sdp_kit_send(pair[0], octets, LARGE, 0);
        while (result > 0);
        CHECK(result == -ECONNRESET || result == -EPIPE);
    } else
        CHECK_EQ(-ECONNRESET, sdp_kit_receive(pair[1], octets, LARGE, MSG_WAITALL));
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(sdp_close(pair[sending ? 0 : 1], NULL) == 0);
}

int main(void)
{
    stream(8 * LARGE, 131072, 131072);
    stream(8 * LARGE, LARGE, 131072);
    stream(8 * LARGE, 100000, LARGE);
    stream(2 * LARGE, 1000, LARGE);
    sink_is_written();
    refused_and_timed_out();
    both_send_first();
    receive_ends_early();
    send_ends_early();
    memory_is_not_there();
    read_only_memory();
    urgent_between();
    peer_goes(false);
    peer_goes(true);
    return 0;
}
