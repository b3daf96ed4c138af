/* SPDX-License-Identifier: BSD-2-Clause */
/* The lock, the driver, and threads that wait for the driver: README.md. */
#include "connection/sdp_object.h"

#include <errno.h>

#define BATCH    16u
#define NS_PER_S 1000000000ll

/* ---- The lock ------------------------------------------------------------------------------- */

int sdp_enter(struct sdp_connection *connection)
{
    if (pthread_mutex_lock(&connection->lock) != 0)
        return EAGAIN;
    if (sdp_claim(connection))
        return 0;
    (void)pthread_mutex_unlock(&connection->lock);
    return EBADF;
}

/* Takes completions of own messages, for which the callback would wake the IA's thread. */
static void take_completions(struct sdp_connection *connection)
{
    while (connection->tx_done != connection->tx_signal && sdp_take_here(connection))
        sdp_push(connection);
}

void sdp_leave(struct sdp_connection *connection)
{
    sdp_push(connection);
    if (connection->quiet)
        take_completions(connection);
    (void)sdp_tell(connection);
    sdp_wake_waiters(connection);
    if (connection->quiet && !connection->driver) {
        connection->quiet = false;
        (void)itx_evd_arm(connection->evd, ITX_EVD_ARM_OFF);
    }
    (void)pthread_mutex_unlock(&connection->lock);
}

/* ---- The driver ----------------------------------------------------------------------------- */

static uint64_t microseconds_left(const struct timespec *deadline)
{
    struct timespec now;
    int64_t left;

    if (!deadline)
        return IT_TIMEOUT_INFINITE;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    left = (deadline->tv_sec - now.tv_sec) * NS_PER_S + deadline->tv_nsec - now.tv_nsec;
    return left > 0 ? (uint64_t)(left + 999) / 1000 : 0;
}

static int drive(struct sdp_connection *connection, uint64_t timeout)
{
    it_event_t events[BATCH];
    size_t count = 0;
    it_status_t status;

    connection->driver = true;
    /* The EVD may be waited for while its callback is disarmed. */
    sdp_be_quiet(connection);
    (void)pthread_mutex_unlock(&connection->lock);
    status = itx_evd_wait_n(connection->evd, timeout, BATCH, events, &count, NULL);
    (void)pthread_mutex_lock(&connection->lock);
    connection->driver = false;
    if (status != IT_SUCCESS)
        count = 0;
    for (size_t i = 0; i < count; i++)
        sdp_on_event(connection, &events[i]);
    sdp_push(connection);
    sdp_wake_waiters(connection);
    if (status == IT_ERR_TIMEOUT_EXPIRED)
        return EAGAIN;
    return status == IT_ERR_INTERRUPT ? EINTR : 0;
}

int sdp_wait(struct sdp_connection *connection, const struct timespec *deadline)
{
    uint64_t timeout = microseconds_left(deadline);
    int error;

    sdp_push(connection);
    /*
     * While the lock was released, another thread may have taken the event that the caller waits
     * for.
     */
    if (sdp_tell(connection))
        return connection->disturbed ? EBADF : 0;
    if (connection->disturbed)
        return EBADF;
    if (timeout == 0)
        return EAGAIN;
    if (connection->driver || connection->held)
        error = sdp_wait_turn(connection, deadline);
    else
        error = drive(connection, timeout);
    /* The process may have forked during the wait. */
    return sdp_claim(connection) && !connection->disturbed ? error : EBADF;
}

/* ---- Without a driver ----------------------------------------------------------------------- */

void sdp_callback(it_evd_handle_t evd, void *argument)
{
    struct sdp_connection *connection = argument;

    (void)evd;
    if (!sdp_lock_here(&connection->lock))
        return; /* the events are taken after the fork */
    (void)sdp_take_here(connection);
    sdp_leave(connection);
}

void sdp_disturb(struct sdp_connection *connection)
{
    if (pthread_mutex_lock(&connection->lock) != 0)
        return;
    connection->disturbed = true;
    if (!connection->foreign)
        (void)itx_evd_set_waitable(connection->evd, IT_FALSE);
    sdp_wake_waiters(connection);
    (void)pthread_mutex_unlock(&connection->lock);
}
