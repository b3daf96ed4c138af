/* SPDX-License-Identifier: BSD-2-Clause */
/* Shutdown, close, and connections that stay after their close. */
#include "connection/sdp_object.h"

#include <errno.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <string.h>
#include <time.h>

static int64_t now_s(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec;
}

int sdp_shutdown(struct sdp_connection *connection, int how)
{
    int error = sdp_enter(connection);

    if (error != 0)
        return -error;
    (void)sdp_take(connection);
    if (connection->ended && !connection->vanished) {
        sdp_leave(connection);
        return -ENOTCONN;
    }
    if (how == SHUT_WR || how == SHUT_RDWR) {
        connection->no_sends = true;
        connection->finish = true;
    }
    if (how == SHUT_RD || how == SHUT_RDWR)
        connection->no_receives = true;
    sdp_leave(connection);
    return 0;
}

/* Returns true if all data has been sent, and DisConn if it is due. */
static bool is_drained(const struct sdp_connection *connection)
{
    return connection->ended || connection->failed || connection->lost || connection->frozen ||
           (connection->machine.sent_disconn && sdp_post_is_done(connection, connection->tx_end));
}

static void wait_drained(struct sdp_connection *connection, const struct timespec *deadline)
{
    int error = 0;

    sdp_push(connection);
    while (!is_drained(connection) && (error == 0 || error == EINTR)) {
        if (!sdp_take(connection))
            error = sdp_wait(connection, deadline);
        sdp_push(connection);
    }
}

static void linger_for(struct sdp_connection *connection, int seconds)
{
    struct timespec deadline;

    (void)clock_gettime(CLOCK_MONOTONIC, &deadline);
    deadline.tv_sec += seconds;
    connection->disturbed = false;
    (void)itx_evd_set_waitable(connection->evd, IT_TRUE);
    wait_drained(connection, &deadline);
}

int sdp_close(struct sdp_connection *connection, const struct linger *linger)
{
    bool lingers = linger && linger->l_onoff;

    if (pthread_mutex_lock(&connection->lock) != 0)
        return -EAGAIN;
    connection->notify.changed = NULL;
    while (connection->telling)
        (void)sdp_wait_turn(connection, NULL);
    if (connection->frozen && sdp_owed_leave(connection))
        (void)sdp_claim(connection); /* no other process has it */
    if (connection->frozen || connection->lost)
        connection->lost = true; /* the other process has it, or none needs it */
    else if (connection->unread > 0 || connection->machine.sources.count > 0 ||
             (lingers && linger->l_linger == 0))
        sdp_reset(connection);
    else {
        (void)sdp_take(connection);
        connection->finish = true;
        connection->no_sends = true;
        if (lingers)
            linger_for(connection, linger->l_linger);
        if (connection->unread > 0)
            sdp_reset(connection);
    }
    connection->expires = now_s() + SDP_ORPHAN_S;
    connection->detached = true;
    sdp_leave(connection);
    return 0;
}

/* ---- Others --------------------------------------------------------------------------------- */

void sdp_sweep(void)
{
    static _Atomic int64_t next_look;
    int64_t now = now_s();

    if (now < atomic_load(&next_look))
        return;
    atomic_store(&next_look, now + SDP_ORPHAN_S / 4);
    (void)pthread_mutex_lock(&sdp_list_lock);
    for (struct sdp_connection *each = sdp_list_first; each; each = each->next) {
        if (pthread_mutex_lock(&each->lock) != 0)
            continue;
        if (each->detached && !each->ended && now >= each->expires)
            sdp_fail(each, ETIMEDOUT);
        (void)pthread_mutex_unlock(&each->lock);
    }
    (void)pthread_mutex_unlock(&sdp_list_lock);
}

/* Returns false while the peer's kernel does not have all octets of the stream. */
static bool is_acknowledged(struct sdp_connection *connection)
{
    struct tcp_info info = {.tcpi_unacked = 0};
    socklen_t length = sizeof(info);
    bool over = !connection->live || connection->ended || connection->lost || connection->buried;

    if (over || sdp_adapter_get()->device)
        return true;
    (void)pthread_mutex_unlock(&connection->lock); /* the call may wait for the IA's thread */
    if (itx_ep_get_stream_option(connection->ep, IPPROTO_TCP, TCP_INFO, &info, &length) !=
        IT_SUCCESS)
        memset(&info, 0, sizeof(info));
    (void)pthread_mutex_lock(&connection->lock);
    return info.tcpi_unacked == 0 && info.tcpi_notsent_bytes == 0;
}

static bool is_before(const struct timespec *deadline)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return !deadline || now.tv_sec < deadline->tv_sec ||
           (now.tv_sec == deadline->tv_sec && now.tv_nsec < deadline->tv_nsec);
}

/*
 * The end of the process closes the stream. If messages of the peer have not been read by then, the
 * kernel resets it, and drops what the peer's does not have yet. No event tells that the peer's
 * kernel has an octet, so this function asks once a millisecond.
 */
static bool wait_acknowledged(struct sdp_connection *connection, const struct timespec *deadline)
{
    static const struct timespec pause = {.tv_nsec = 1000000};

    while ((connection->unacknowledged = !is_acknowledged(connection)) && is_before(deadline)) {
        (void)pthread_mutex_unlock(&connection->lock);
        (void)nanosleep(&pause, NULL);
        (void)pthread_mutex_lock(&connection->lock);
    }
    return !connection->unacknowledged;
}

bool sdp_drain(const struct timespec *deadline)
{
    bool drained = true;

    (void)pthread_mutex_lock(&sdp_list_lock);
    for (struct sdp_connection *each = sdp_list_first; each; each = each->next) {
        if (pthread_mutex_lock(&each->lock) != 0)
            continue;
        each->notify.changed = NULL;
        if (each->frozen && !each->lost && sdp_owed_leave(each))
            (void)sdp_claim(each);
        if (!each->frozen && !each->lost && !each->buried) {
            each->finish = true;
            wait_drained(each, deadline);
            drained = drained && is_drained(each) && wait_acknowledged(each, deadline);
        }
        (void)pthread_mutex_unlock(&each->lock);
    }
    (void)pthread_mutex_unlock(&sdp_list_lock);
    return drained;
}
