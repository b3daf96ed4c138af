/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fork(2): while the process is copied, all locks are held and the IA rests. Devices cannot do
 * that: their connections stay with the parent, and the child opens an IA of its own when it needs
 * one.
 */
#include "guard/sdp_guard.h"
#include "connection/sdp_object.h"

#include <errno.h>

#define ATTEMPT_S 1

/* Waits until no thread is in a call on the connection, and keeps others from starting one. */
static void hold(struct sdp_connection *connection)
{
    (void)pthread_mutex_lock(&connection->lock);
    connection->held = true;
    (void)itx_evd_set_waitable(connection->evd, IT_FALSE);
    while (connection->driver || connection->telling)
        (void)sdp_wait_turn(connection, NULL);
    sdp_aim_before_fork(connection);
    if (!sdp_adapter_get()->device)
        sdp_owed_before_fork(connection);
}

/*
 * A connection that is being made can only stay with the parent. Both ends have agreed, so it is
 * made in a moment.
 */
static void await_attempt(struct sdp_connection *connection, const struct timespec *deadline)
{
    int error = 0;

    if (pthread_mutex_lock(&connection->lock) != 0)
        return;
    while (!connection->live && !connection->ended && !connection->lost && !connection->buried &&
           !connection->foreign && (error == 0 || error == EINTR))
        error = sdp_wait(connection, deadline);
    sdp_leave(connection);
}

static void await_attempts(void)
{
    struct timespec deadline;

    (void)clock_gettime(CLOCK_MONOTONIC, &deadline);
    deadline.tv_sec += ATTEMPT_S;
    /* The lock and the gate keep the list as it is. */
    for (struct sdp_connection *each = sdp_list_first; each; each = each->next)
        await_attempt(each, &deadline);
}

void sdp_before_fork(void)
{
    struct sdp_adapter *adapter = sdp_adapter_opened();

    sdp_lead_end(false);
    (void)pthread_rwlock_wrlock(&sdp_start_lock);
    (void)pthread_rwlock_wrlock(&sdp_fork_gate);
    if (adapter && !adapter->device)
        await_attempts();
    (void)pthread_mutex_lock(&sdp_list_lock);
    if (!adapter)
        return;
    for (struct sdp_connection *each = sdp_list_first; each; each = each->next)
        hold(each);
    if (!adapter->device)
        (void)itx_ia_freeze(adapter->ia);
}

static void leave_behind(struct sdp_connection *connection)
{
    connection->lost = true;
    connection->foreign = true;
    connection->waiters = 0;
    sdp_init_lock(&connection->lock);
}

/* It stays with the parent, even if the event that ends it has just been missed. */
static void settle_attempt(struct sdp_connection *connection, bool child)
{
    connection->lost = child;
    if (child)
        return;
    (void)itx_ep_claim(connection->ep);
    (void)sdp_take_here(connection);
    sdp_push(connection);
}

/* Returns true if it has unsent octets or messages for its peer. */
static bool go_on(struct sdp_connection *connection, bool child, bool frozen)
{
    bool needs_care;

    connection->held = false;
    if (frozen && !connection->live)
        settle_attempt(connection, child);
    else
        connection->frozen = connection->frozen || (frozen && !connection->ended);
    if (child) {
        connection->waiters = 0;
        sdp_aim_in_child(connection);
        sdp_init_lock(&connection->lock);
        /* The calls of other threads are the parent's. */
        if (connection->quiet)
            (void)itx_evd_arm(connection->evd, ITX_EVD_ARM_OFF);
        connection->quiet = false;
    }
    if (!connection->disturbed)
        (void)itx_evd_set_waitable(connection->evd, IT_TRUE);
    sdp_wake_waiters(connection);
    needs_care = sdp_owed_needs_care(connection);
    if (!child)
        (void)pthread_mutex_unlock(&connection->lock);
    return needs_care;
}

static void after_fork(bool child)
{
    struct sdp_adapter *adapter = sdp_adapter_opened();
    bool needs_care = false;

    if (adapter && adapter->device && child) {
        for (struct sdp_connection *each = sdp_list_first; each; each = each->next)
            leave_behind(each);
        sdp_list_first = NULL;
        sdp_adapter_forget();
    } else if (adapter) {
        if (!adapter->device)
            (void)itx_ia_thaw(adapter->ia);
        sdp_owed_forked(child);
        for (struct sdp_connection *each = sdp_list_first; each; each = each->next)
            needs_care = go_on(each, child, !adapter->device) || needs_care;
    }
    if (child) {
        sdp_guard_forget();
        (void)pthread_mutex_init(&sdp_list_lock, NULL);
        (void)pthread_rwlock_init(&sdp_fork_gate, NULL);
        (void)pthread_rwlock_init(&sdp_start_lock, NULL);
    } else {
        (void)pthread_mutex_unlock(&sdp_list_lock);
        (void)pthread_rwlock_unlock(&sdp_fork_gate);
        (void)pthread_rwlock_unlock(&sdp_start_lock);
    }
    if (needs_care)
        sdp_owed_care(child);
}

void sdp_after_fork_parent(void)
{
    after_fork(false);
}

void sdp_after_fork_child(void)
{
    after_fork(true);
}
