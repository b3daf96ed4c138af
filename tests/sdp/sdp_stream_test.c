/* SPDX-License-Identifier: BSD-2-Clause */
/* Octets through connections within one process: sizes, flags, both directions, many parts. */
#include "sdp_kit.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static struct sdp_connection *pair[2];

static void close_pair(void)
{
    CHECK(sdp_close(pair[0], NULL) == 0 && sdp_close(pair[1], NULL) == 0);
}

/* ---- Streams -------------------------------------------------------------------------------- */

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

static void *receive_job(void *argument)
{
    const struct job *job = argument;

    sdp_kit_check_stream(job->connection, 0, job->count, job->each);
    return NULL;
}

/* Uses both directions at once with two threads at each end. */
static void stream(size_t count, size_t each_sent, size_t each_read,
                   const struct sdp_settings *settings)
{
    struct job jobs[4];
    pthread_t threads[4];

    sdp_kit_pair(pair, settings);
    for (unsigned i = 0; i < 4; i++) {
        jobs[i] = (struct job){pair[i % 2], count, i < 2 ? each_sent : each_read};
        CHECK(pthread_create(&threads[i], NULL, i < 2 ? send_job : receive_job, &jobs[i]) == 0);
    }
    for (unsigned i = 0; i < 4; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    close_pair();
}

static void streams_of_many_sizes(void)
{
    static const struct sdp_settings tiny = {.buffers = 4, .receive_size = 300};

    stream(1 << 24, 131072, 131072, NULL);
    stream(1 << 22, 1000, 65536, NULL);
    stream(1 << 22, 300000, 777, NULL);
    stream(20000, 1, 1, NULL);
    stream(1 << 20, 5000, 3000, &tiny);
}

/* ---- One direction, without waiting --------------------------------------------------------- */

static void nothing_waits_that_should_not(void)
{
    static unsigned char octets[1 << 20];
    size_t sent = 0;
    size_t got = 0;
    ssize_t count;

    sdp_kit_pair(pair, NULL);
    CHECK_EQ(-EAGAIN, sdp_kit_receive(pair[1], octets, 10, MSG_DONTWAIT));
    CHECK((sdp_events(pair[0]) & (POLLIN | POLLOUT)) == POLLOUT);
    while ((count = sdp_kit_send(pair[0], octets, sizeof(octets), MSG_DONTWAIT)) > 0)
        sent += (size_t)count;
    CHECK_EQ(-EAGAIN, count);
    CHECK(!(sdp_events(pair[0]) & POLLOUT));
    while (got < sent) {
        sdp_kit_await(pair[1], POLLIN);
        count = sdp_kit_receive(pair[1], octets, sizeof(octets), MSG_DONTWAIT);
        if (count > 0)
            got += (size_t)count;
    }
    CHECK_EQ(sent, got);
    CHECK_EQ(-EAGAIN, sdp_kit_receive(pair[1], octets, 1, MSG_DONTWAIT));
    sdp_kit_await(pair[0], POLLOUT);
    close_pair();
}

static void time_limits_end_calls(void)
{
    struct timespec deadline;
    char octet;
    const struct iovec part = {&octet, 1};

    sdp_kit_pair(pair, NULL);
    (void)clock_gettime(CLOCK_MONOTONIC, &deadline);
    CHECK_EQ(-EAGAIN, sdp_receive(pair[0], &part, 1, 0, &deadline));
    deadline.tv_sec += 0;
    deadline.tv_nsec += 5000000;
    if (deadline.tv_nsec >= 1000000000) {
        deadline.tv_nsec -= 1000000000;
        deadline.tv_sec++;
    }
    CHECK_EQ(-EAGAIN, sdp_receive(pair[0], &part, 1, 0, &deadline));
    close_pair();
}

/* ---- Flags ---------------------------------------------------------------------------------- */

static void peek_waitall_trunc(void)
{
    char octets[64];
    const struct iovec parts[3] = {{(void *)"abc", 3}, {(void *)"", 0}, {(void *)"defgh", 5}};
    char first[2];
    char second[20];
    const struct iovec in[2] = {{first, 2}, {second, 20}};

    sdp_kit_pair(pair, NULL);
    CHECK_EQ(8, sdp_send(pair[0], parts, 3, 0, NULL));
    CHECK_EQ(8, sdp_kit_receive(pair[1], octets, 8, MSG_PEEK | MSG_WAITALL));
    CHECK(memcmp(octets, "abcdefgh", 8) == 0);
    CHECK_EQ(8, sdp_unread(pair[1]));
    CHECK_EQ(8, sdp_receive(pair[1], in, 2, 0, NULL));
    CHECK(memcmp(first, "ab", 2) == 0 && memcmp(second, "cdefgh", 6) == 0);
    CHECK_EQ(3, sdp_kit_send(pair[0], "ijk", 3, 0));
    CHECK_EQ(3, sdp_kit_send(pair[0], "lmn", 3, 0));
    CHECK_EQ(6, sdp_kit_receive(pair[1], octets, 6, MSG_WAITALL));
    CHECK(memcmp(octets, "ijklmn", 6) == 0);
    CHECK_EQ(3, sdp_kit_send(pair[0], "opq", 3, 0));
    CHECK_EQ(2, sdp_kit_receive(pair[1], NULL, 2, MSG_TRUNC));
    CHECK_EQ(1, sdp_kit_receive(pair[1], octets, 64, 0));
    CHECK(octets[0] == 'q');
    CHECK_EQ(0, sdp_kit_receive(pair[1], octets, 0, 0));
    CHECK_EQ(0, sdp_kit_send(pair[0], octets, 0, 0));
    close_pair();
}

static void more_and_cork_gather(void)
{
    struct sdp_counters before;
    struct sdp_counters after;
    char octets[8];

    sdp_kit_pair(pair, NULL);
    CHECK_EQ(1, sdp_kit_send(pair[0], "a", 1, 0));
    CHECK_EQ(1, sdp_kit_receive(pair[1], octets, 8, 0));
    sdp_counters(pair[0], &before);
    CHECK_EQ(1, sdp_kit_send(pair[0], "b", 1, MSG_MORE));
    CHECK(sdp_set_option(pair[0], SDP_CORK, 1) == 0);
    CHECK_EQ(1, sdp_kit_send(pair[0], "c", 1, 0));
    CHECK_EQ(1, sdp_kit_send(pair[0], "d", 1, 0));
    sdp_counters(pair[0], &after);
    CHECK_EQ(before.sent, after.sent);
    CHECK(sdp_set_option(pair[0], SDP_CORK, 0) == 0);
    CHECK_EQ(3, sdp_kit_receive(pair[1], octets, 8, 0));
    CHECK(memcmp(octets, "bcd", 3) == 0);
    sdp_counters(pair[0], &after);
    CHECK_EQ(before.sent + 3, after.sent);
    close_pair();
}

/* ---- Urgent octets -------------------------------------------------------------------------- */

static void urgent_octet(bool in_line)
{
    char octets[16];

    sdp_kit_pair(pair, NULL);
    CHECK(sdp_set_option(pair[1], SDP_OOB_INLINE, in_line) == 0);
    CHECK_EQ(-EINVAL, sdp_kit_receive(pair[1], octets, 1, MSG_OOB));
    CHECK_EQ(4, sdp_kit_send(pair[0], "abcd", 4, 0));
    CHECK_EQ(3, sdp_kit_send(pair[0], "efX", 3, MSG_OOB));
    CHECK_EQ(2, sdp_kit_send(pair[0], "gh", 2, 0));
    sdp_kit_await(pair[1], POLLPRI | POLLIN);
    if (in_line)
        CHECK_EQ(-EINVAL, sdp_kit_receive(pair[1], octets, 1, MSG_OOB));
    else {
        CHECK_EQ(1, sdp_kit_receive(pair[1], octets, 1, MSG_OOB | MSG_PEEK));
        CHECK_EQ(1, sdp_kit_receive(pair[1], octets, 1, MSG_OOB));
        CHECK(octets[0] == 'X');
        CHECK_EQ(-EINVAL, sdp_kit_receive(pair[1], octets, 1, MSG_OOB));
        CHECK(!(sdp_events(pair[1]) & POLLPRI));
    }
    CHECK(!sdp_at_mark(pair[1]));
    CHECK_EQ(6, sdp_unread(pair[1]));
    CHECK_EQ(6, sdp_kit_receive(pair[1], octets, 16, 0)); /* reading stops at the mark */
    CHECK(memcmp(octets, "abcdef", 6) == 0);
    CHECK(sdp_at_mark(pair[1]));
    CHECK_EQ(in_line ? 3 : 2, sdp_kit_receive(pair[1], octets, in_line ? 3 : 2, MSG_WAITALL));
    CHECK(memcmp(octets, in_line ? "Xgh" : "gh", in_line ? 3 : 2) == 0);
    CHECK(!sdp_at_mark(pair[1]));
    close_pair();
}

int main(void)
{
    streams_of_many_sizes();
    nothing_waits_that_should_not();
    time_limits_end_calls();
    peek_waitall_trunc();
    more_and_cork_gather();
    urgent_octet(false);
    urgent_octet(true);
    return 0;
}
