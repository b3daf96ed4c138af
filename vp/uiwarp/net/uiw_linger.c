/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Streams that have ended and are being closed. The peer's octets must be read before the
 * descriptor is closed. If octets are unread, Linux sends a reset, and the peer may lose a
 * Terminate or a rejecting Reply. A peer that does not close its end keeps a descriptor in use
 * here. So the number of such streams is limited; when there are more, the oldest is closed, which
 * has had most of its time.
 */
#include "vp/uiwarp/net/uiw_linger.h"

#include "base/base_clock.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define LINGER_NS    (5 * BASE_NS_PER_S)
#define LINGER_READ  16384u /* octets dropped by one call */
#define LINGER_READS 16     /* calls per wake-up */

struct uiw_linger {
    struct evd_task task;
    struct base_link link;
    struct uiw_lingering *set;
    int fd;
    struct evd_io io;
    struct evd_timer timer;
    bool finished; /* the FIN was sent */
    size_t sent;
    size_t length;
    uint8_t tail[];
};

void uiw_reset_fd(int fd)
{
    /* Disconnects the socket with RST, also for other copies of the descriptor. */
    struct sockaddr nobody = {.sa_family = AF_UNSPEC};
    int cancel;

    /* connect and close are cancellation points: a thread cancelled there would keep its tokens. */
    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    if (connect(fd, &nobody, sizeof(nobody)) != 0) {
        struct linger hard = {.l_onoff = 1, .l_linger = 0};

        /* Otherwise the last close sends RST, and shutdown sends FIN now. */
        (void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
        (void)shutdown(fd, SHUT_RDWR);
    }
    (void)close(fd);
    (void)pthread_setcancelstate(cancel, NULL);
}

/* ---------------------------------------------------------------- on the loop thread */

static void linger_end(struct uiw_linger *linger, bool reset)
{
    evd_io_unwatch(&linger->io);
    evd_timer_stop(&linger->timer);
    base_list_remove(&linger->set->streams, &linger->link);
    linger->set->count--;
    if (reset) {
        uiw_reset_fd(linger->fd);
    } else {
        (void)shutdown(linger->fd, SHUT_RDWR); /* for other copies of the descriptor */
        (void)close(linger->fd);
    }
    free(linger);
}

/*
 * Returns 0 when all octets and the FIN were sent; EAGAIN: socket full; else the connection is
 * lost.
 */
static int linger_write(struct uiw_linger *linger)
{
    while (linger->sent < linger->length) {
        ssize_t sent = send(linger->fd, linger->tail + linger->sent, linger->length - linger->sent,
                            MSG_DONTWAIT | MSG_NOSIGNAL);

        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0)
            return errno == EWOULDBLOCK ? EAGAIN : errno;
        linger->sent += (size_t)sent;
    }
    if (!linger->finished && shutdown(linger->fd, SHUT_WR) != 0)
        return errno;
    linger->finished = true;
    return 0;
}

/* Returns EAGAIN when the peer may send more; else it has closed, or the connection is lost. */
static int linger_read(const struct uiw_linger *linger)
{
    uint8_t dropped[LINGER_READ];

    for (int i = 0; i < LINGER_READS; i++) {
        ssize_t got = recv(linger->fd, dropped, sizeof(dropped), MSG_DONTWAIT);

        if (got == 0)
            return ECONNRESET;
        if (got < 0 && errno != EINTR)
            return errno == EWOULDBLOCK ? EAGAIN : errno;
    }
    return EAGAIN;
}

static void linger_ready(void *argument, unsigned events);

static void linger_run(struct uiw_linger *linger)
{
    int written = linger_write(linger);
    int read = linger_read(linger);
    unsigned events = EVD_IO_READ | (written == EAGAIN ? (unsigned)EVD_IO_WRITE : 0u);

    /* After its FIN the peer can still read the octets that are left for it. */
    if ((written != 0 && written != EAGAIN) || (read != EAGAIN && written == 0)) {
        linger_end(linger, false);
        return;
    }
    if (read != EAGAIN)
        events = EVD_IO_WRITE;
    if (linger->io.active && linger->io.events == events)
        return;
    if (!evd_io_watch(&linger->io, linger->set->loop, linger->fd, events, linger_ready, linger))
        linger_end(linger, true);
}

static void linger_ready(void *argument, unsigned events)
{
    (void)events; /* both directions are tried */
    linger_run(argument);
}

static void linger_expired(void *argument)
{
    linger_end(argument, true);
}

/* Closes a stream early. The kernel still delivers the octets it has, if the peer sends no more. */
static void linger_cut(struct uiw_linger *linger)
{
    (void)linger_write(linger);
    (void)linger_read(linger);
    linger_end(linger, !linger->finished);
}

static void linger_begin(struct evd_task *task)
{
    struct uiw_linger *linger = (struct uiw_linger *)task; /* the first member */
    struct uiw_lingering *set = linger->set;

    if (set->count >= set->max)
        linger_cut(BASE_LIST_FIRST(&set->streams, struct uiw_linger, link));
    base_list_append(&set->streams, &linger->link);
    set->count++;
    if (evd_timer_start(&linger->timer, linger->set->loop, LINGER_NS, linger_expired, linger))
        linger_run(linger);
    else
        linger_end(linger, true);
}

void uiw_linger_close_all(struct uiw_lingering *set)
{
    BASE_LIST_EACH_REMOVABLE(struct uiw_linger, linger, &set->streams, link)
        linger_cut(linger);
}

/* ---------------------------------------------------------------- any thread */

void uiw_linger(struct uiw_lingering *set, int fd, const void *tail, size_t tail_length)
{
    struct uiw_linger *linger = calloc(1, sizeof(*linger) + tail_length);

    if (!linger) {
        uiw_reset_fd(fd);
        return;
    }
    linger->task.run = linger_begin;
    linger->set = set;
    linger->fd = fd;
    linger->length = tail_length;
    if (tail_length > 0)
        memcpy(linger->tail, tail, tail_length);
    if (evd_loop_is_current(set->loop))
        linger_begin(&linger->task);
    else
        (void)evd_loop_submit(set->loop, &linger->task); /* a new task is never queued already */
}
