/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads that wait while another thread is the driver. They use a futex, so that signals end the
 * wait.
 */
#include "connection/sdp_object.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

void sdp_wake_waiters(struct sdp_connection *connection)
{
    if (connection->waiters == 0)
        return;
    atomic_fetch_add(&connection->turn, 1);
    (void)syscall(SYS_futex, &connection->turn, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

int sdp_wait_turn(struct sdp_connection *connection, const struct timespec *deadline)
{
    uint32_t turn = atomic_load(&connection->turn);
    long result;
    int error;

    connection->waiters++;
    (void)pthread_mutex_unlock(&connection->lock);
    result = syscall(SYS_futex, &connection->turn, FUTEX_WAIT_BITSET_PRIVATE, turn, deadline, NULL,
                     FUTEX_BITSET_MATCH_ANY);
    error = result == 0 ? 0 : errno;
    (void)pthread_mutex_lock(&connection->lock);
    connection->waiters--;
    if (error == ETIMEDOUT)
        return EAGAIN;
    return error == EINTR ? EINTR : 0;
}

void sdp_be_quiet(struct sdp_connection *connection)
{
    if (connection->quiet)
        return;
    connection->quiet = true;
    (void)itx_evd_arm(connection->evd, ITX_EVD_ARM_NONE);
}
