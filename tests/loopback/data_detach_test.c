/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A stream that is polled all the time leaves the library's poll set. It is back before anybody
 * relies on the set: a thread that sleeps, a program that stops polling, a stream that waits for
 * room in its socket. The test reads the content of the poll sets from /proc.
 */
#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "support/it_fixture.h"

#define ROUNDS 400u /* more than needed */
#define LARGE  ((size_t)4 << 20)

/* How often adding to a poll set fails for this thread. */
static _Thread_local unsigned refusals;

/* Whether this thread is that of an IA and watches the poll set, since nobody polls. */
static _Thread_local bool watches = true;

/* While .on is set, a thread of an IA that does not watch the poll set stays where it waits. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t over;
    bool on;
} hold = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false};

static void hold_threads(bool on)
{
    (void)pthread_mutex_lock(&hold.lock);
    hold.on = on;
    (void)pthread_cond_broadcast(&hold.over);
    (void)pthread_mutex_unlock(&hold.lock);
}

/* Replaces epoll_ctl of the C library. */
int epoll_ctl(int set, int operation, int fd, struct epoll_event *event)
{
    if (operation == EPOLL_CTL_ADD && refusals > 0) {
        refusals--;
        errno = ENOSPC;
        return -1;
    }
    if (operation == EPOLL_CTL_MOD && (event->events == 0 || event->events == EPOLLIN))
        watches = event->events != 0;
    return (int)syscall(SYS_epoll_ctl, set, operation, fd, event);
}

/* Replaces epoll_wait of the C library, which only the threads of the IAs call. */
int epoll_wait(int set, struct epoll_event *events, int size, int timeout)
{
    int count = (int)syscall(SYS_epoll_pwait, set, events, size, timeout, NULL, 8);
    int error = errno;

    (void)pthread_mutex_lock(&hold.lock);
    while (hold.on && !watches)
        (void)pthread_cond_wait(&hold.over, &hold.lock);
    (void)pthread_mutex_unlock(&hold.lock);
    errno = error;
    return count;
}

/* Counts the entries of all poll sets of this process. */
static size_t watched(void)
{
    DIR *folder = opendir("/proc/self/fdinfo");
    const struct dirent *entry;
    size_t count = 0;

    CHECK(folder != NULL);
    while ((entry = readdir(folder)) != NULL) {
        char path[300];
        char line[256];
        FILE *info;

        (void)snprintf(path, sizeof(path), "/proc/self/fdinfo/%s", entry->d_name);
        info = entry->d_name[0] == '.' ? NULL : fopen(path, "re");
        while (info && fgets(line, sizeof(line), info))
            count += strncmp(line, "tfd:", 4) == 0;
        if (info)
            (void)fclose(info);
    }
    (void)closedir(folder);
    return count;
}

static void watched_again(size_t count)
{
    FX_WAIT_WHILE(watched() != count, "the streams to be back in the poll sets");
}

/* Never sleeps. */
static void polled(it_evd_handle_t evd)
{
    it_event_t event;

    FX_WAIT_WHILE(it_evd_dequeue(evd, &event) == IT_ERR_QUEUE_EMPTY, "a completion");
    CHECK_EQ(IT_DTO_SUCCESS, event.dto_cmpl.dto_status);
}

static void ping_pong(struct fx_pair *pair, const struct fx_buf *a, const struct fx_buf *b)
{
    for (unsigned i = 0; i < ROUNDS; i++) {
        fx_recv(pair->b_ep, b, 0, 64, i);
        fx_send(pair->a_ep, a, 0, 64, i, (it_dto_flags_t)0);
        polled(pair->b.recv_evd);
        fx_recv(pair->a_ep, a, 0, 64, i);
        fx_send(pair->b_ep, b, 0, 64, i, (it_dto_flags_t)0);
        polled(pair->a.recv_evd);
    }
}

struct bed {
    struct fx_pair pair;
    struct fx_buf a, b;
    size_t watched;
};

static struct bed bed;

/*
 * Opens a pair whose streams have both left the poll sets. A thread that does not get a processor
 * for a millisecond loses the lead to that of the IA, so that one is held as soon as it follows.
 */
static void open_apart(void)
{
    struct fx_patience patience = fx_patience_start("both streams to leave the poll sets");

    fx_pair_open(&bed.pair);
    fx_pair_ping(&bed.pair); /* a stream that was read is in the poll set */
    bed.a = fx_node_buf(&bed.pair.a, LARGE);
    bed.b = fx_node_buf(&bed.pair.b, LARGE);
    bed.watched = watched();
    hold_threads(true);
    do {
        fx_patience_check(&patience);
        ping_pong(&bed.pair, &bed.a, &bed.b);
    } while (watched() != bed.watched - 2);
    hold_threads(false);
}

static void close_bed(void)
{
    fx_pair_close(&bed.pair);
    check_done();
}

struct sender {
    const struct bed *bed;
    int sleeper;
};

static void *send_to_sleeper(void *argument)
{
    const struct sender *sender = argument;

    fx_thread_sleeps(sender->sleeper);
    fx_send(sender->bed->pair.a_ep, &sender->bed->a, 0, 64, 2, FX_SIGNAL);
    return NULL;
}

Test(data_detach, who_sleeps_is_woken)
{
    struct sender sender = {.bed = &bed, .sleeper = fx_thread_id()};
    pthread_t thread;
    it_event_t event;

    open_apart();
    fx_recv(bed.pair.b_ep, &bed.b, 0, 64, 1);
    CHECK_EQ(0, pthread_create(&thread, NULL, send_to_sleeper, &sender));
    event = fx_wait(bed.pair.b.recv_evd);
    CHECK_EQ(1, event.dto_cmpl.cookie);
    CHECK_EQ(0, pthread_join(thread, NULL));
    fx_done(bed.pair.a.request_evd, bed.pair.a_ep, IT_DTO_SEND_CMPL_EVENT, 2, IT_DTO_SUCCESS);
    watched_again(bed.watched);
    close_bed();
}

/* The target's program has stopped polling, so the loop answers the Read. */
Test(data_detach, the_loop_takes_over, .init = open_apart, .fini = close_bed)
{
    fx_fill(bed.b.data, 4096, 7);
    fx_read(bed.pair.a_ep, &bed.a, 0, 4096, &bed.b, 0, 3, FX_SIGNAL);
    fx_done_len(bed.pair.a.request_evd, bed.pair.a_ep, IT_DTO_RDMA_READ_CMPL_EVENT, 3, 4096);
    CHECK(fx_is_filled(bed.a.data, 4096, 7));
    watched_again(bed.watched);
}

/* Both sides send more than the socket takes at once. */
Test(data_detach, full_sockets_are_watched, .init = open_apart, .fini = close_bed)
{
    fx_fill(bed.a.data, LARGE / 2, 5);
    fx_fill(bed.b.data + LARGE / 2, LARGE / 2, 6);
    fx_write(bed.pair.a_ep, &bed.a, 0, LARGE / 2, &bed.b, 0, 1, FX_SIGNAL);
    fx_write(bed.pair.b_ep, &bed.b, LARGE / 2, LARGE / 2, &bed.a, LARGE / 2, 2, FX_SIGNAL);
    fx_done(bed.pair.a.request_evd, bed.pair.a_ep, IT_DTO_RDMA_WRITE_CMPL_EVENT, 1, IT_DTO_SUCCESS);
    fx_done(bed.pair.b.request_evd, bed.pair.b_ep, IT_DTO_RDMA_WRITE_CMPL_EVENT, 2, IT_DTO_SUCCESS);
    fx_pair_ping(&bed.pair);
    CHECK(fx_is_filled(bed.b.data, LARGE / 2, 5));
    CHECK(fx_is_filled(bed.a.data + LARGE / 2, LARGE / 2, 6));
}

/*
 * If the socket cannot be watched, nobody would learn that it has room again, so the connection
 * ends.
 */
Test(data_detach, full_socket_that_cannot_be_watched, .init = open_apart, .fini = close_bed)
{
    it_event_t event;

    refusals = 1;
    fx_write(bed.pair.a_ep, &bed.a, 0, LARGE, &bed.b, 0, 1, FX_SIGNAL);
    while (refusals > 0) { /* a watching thread put it back before */
        fx_done(bed.pair.a.request_evd, bed.pair.a_ep, IT_DTO_RDMA_WRITE_CMPL_EVENT, 1,
                IT_DTO_SUCCESS);
        refusals = 0;
        ping_pong(&bed.pair, &bed.a, &bed.b);
        refusals = 1;
        fx_write(bed.pair.a_ep, &bed.a, 0, LARGE, &bed.b, 0, 1, FX_SIGNAL);
    }
    fx_conn(bed.pair.a.conn_evd, bed.pair.a_ep, IT_CM_MSG_CONN_BROKEN_EVENT);
    fx_conn(bed.pair.b.conn_evd, bed.pair.b_ep, IT_CM_MSG_CONN_BROKEN_EVENT);
    event = fx_next(bed.pair.a.request_evd);
    CHECK(event.dto_cmpl.dto_status != IT_DTO_SUCCESS);
}

/* The peer sees the end, although nobody polls here any more. */
Test(data_detach, the_end_is_noticed, .init = open_apart, .fini = close_bed)
{
    CHECK_OK(it_ep_disconnect(bed.pair.a_ep, NULL, 0));
    fx_conn(bed.pair.a.conn_evd, bed.pair.a_ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
    fx_conn(bed.pair.b.conn_evd, bed.pair.b_ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
}

/* The stream is freed while it and another stream of the same IA are out of the poll set. */
Test(data_detach, others_are_put_back_when_one_is_freed, .init = open_apart, .fini = close_bed)
{
    it_ep_handle_t a, b;

    a = fx_ep(&bed.pair.a, NULL);
    b = fx_ep(&bed.pair.b, NULL);
    fx_join(&bed.pair.a, a, &bed.pair.b, b);
    fx_recv(b, &bed.b, 0, 64, 1);
    fx_send(a, &bed.a, 0, 64, 1, (it_dto_flags_t)0);
    polled(bed.pair.b.recv_evd);
    ping_pong(&bed.pair, &bed.a, &bed.b);
    CHECK_OK(it_ep_free(a));
    fx_conn(bed.pair.b.conn_evd, b, IT_CM_MSG_CONN_DISCONNECT_EVENT);
    CHECK_OK(it_ep_free(b));
    watched_again(bed.watched);
    fx_pair_ping(&bed.pair);
}
