/* SPDX-License-Identifier: BSD-2-Clause */
/* Shutdown, close, and connections that stay after their close. */
#include "connection/sdp_object.h"

#include <errno.h>
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
            drained = drained && is_drained(each);
        }
        (void)pthread_mutex_unlock(&each->lock);
    }
    (void)pthread_mutex_unlock(&sdp_list_lock);
    return drained;
}
