/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a process has written before a fork, and what its peer has no room for yet, must be sent
 * even if no process uses the connection again. So a connection that owes something counts the
 * processes that hold it; the last one of them sends. If several hold it and none uses it, the
 * parent takes it over after a while, or else a child.
 */
#include "connection/sdp_object.h"

#include <signal.h>
#include <sys/mman.h>
#include <time.h>

/* Servers that fork for each client use the connection in the child by then. */
#define PARENT_CARES_NS 200000000
#define CHILD_CARES_NS  600000000

/* ---- Processes that hold a connection ------------------------------------------------------- */

static bool has_posted(const struct sdp_connection *connection)
{
    struct itx_ep_counters counters = {.size = sizeof(counters)};

    return itx_ep_stats(connection->ep, &counters) == IT_SUCCESS &&
           (uint32_t)counters.requests_posted != (uint32_t)counters.requests_ended;
}

static bool owes(const struct sdp_connection *connection)
{
    if (!connection->live || connection->ended || connection->failed || connection->lost)
        return false;
    return connection->tx_sent != connection->tx_filled ||
           (connection->finish && !connection->machine.sent_disconn) || has_posted(connection);
}

void sdp_owed_before_fork(struct sdp_connection *connection)
{
    void *shared;

    if (!connection->holders && owes(connection)) {
        shared = mmap(NULL, sizeof(*connection->holders), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (shared != MAP_FAILED) {
            connection->holders = shared;
            atomic_store(connection->holders, 1);
        }
    }
    if (connection->holders)
        (void)atomic_fetch_add(connection->holders, 1);
}

bool sdp_owed_leave(struct sdp_connection *connection)
{
    if (!connection->holders)
        return false;
    if (connection->left)
        return atomic_load(connection->holders) == 0;
    connection->left = true;
    return atomic_fetch_sub(connection->holders, 1) == 1;
}

void sdp_owed_forget(struct sdp_connection *connection)
{
    if (connection->holders)
        (void)munmap((void *)connection->holders, sizeof(*connection->holders));
    connection->holders = NULL;
}

bool sdp_claim(struct sdp_connection *connection)
{
    if (connection->lost)
        return false;
    if (!connection->frozen)
        return true;
    connection->frozen = false;
    connection->lost = itx_ep_claim(connection->ep) == IT_ERR_INVALID_EP_STATE;
    sdp_owed_forget(connection);
    connection->left = false;
    if (!connection->lost)
        (void)sdp_take_here(connection); /* what the callback has left, since the process forked */
    return !connection->lost;
}

/* ---- If nobody uses it ---------------------------------------------------------------------- */

bool sdp_owed_needs_care(const struct sdp_connection *connection)
{
    return connection->frozen && !connection->lost && !connection->left && connection->holders;
}

static atomic_uint forks;
static bool bequeathed; /* guarded by sdp_start_lock */

static void *care(void *fork_number)
{
    (void)pthread_mutex_lock(&sdp_list_lock);
    for (struct sdp_connection *each = sdp_list_first; each; each = each->next) {
        if (pthread_mutex_lock(&each->lock) != 0)
            continue;
        /* After another fork another thread has begun to wait. */
        if ((uintptr_t)fork_number == atomic_load(&forks) && sdp_owed_needs_care(each) &&
            sdp_claim(each))
            sdp_push(each);
        (void)pthread_mutex_unlock(&each->lock);
    }
    (void)pthread_mutex_unlock(&sdp_list_lock);
    return NULL;
}

static void *care_in_parent(void *fork_number)
{
    (void)nanosleep(&(struct timespec){.tv_nsec = PARENT_CARES_NS}, NULL);
    return care(fork_number);
}

static void *care_in_child(void *fork_number)
{
    (void)nanosleep(&(struct timespec){.tv_nsec = CHILD_CARES_NS}, NULL);
    return care(fork_number);
}

/* Called with the locks of a fork. */
void sdp_owed_forked(bool child)
{
    (void)atomic_fetch_add(&forks, 1);
    for (struct sdp_connection *each = sdp_list_first; each && bequeathed && !child;
         each = each->next)
        (void)sdp_owed_leave(each);
    bequeathed = false;
}

void sdp_owed_care(bool child)
{
    void *fork_number = (void *)(uintptr_t)atomic_load(&forks);
    pthread_t thread;
    sigset_t all;
    sigset_t mask;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &mask);
    if (pthread_create(&thread, NULL, child ? care_in_child : care_in_parent, fork_number) == 0)
        (void)pthread_detach(thread);
    (void)pthread_sigmask(SIG_SETMASK, &mask, NULL);
}

/* ---- The end of a process ------------------------------------------------------------------- */

bool sdp_bequeath(void)
{
    const struct sdp_adapter *adapter = sdp_adapter_opened();

    if (!adapter || adapter->device)
        return false;
    (void)pthread_rwlock_wrlock(&sdp_start_lock);
    bequeathed = true;
    (void)pthread_rwlock_unlock(&sdp_start_lock);
    return true;
}

void sdp_inherit(void)
{
    (void)pthread_mutex_lock(&sdp_list_lock);
    for (struct sdp_connection *each = sdp_list_first; each; each = each->next) {
        if (pthread_mutex_lock(&each->lock) != 0)
            continue;
        if (sdp_owed_needs_care(each) || each->unacknowledged)
            (void)sdp_claim(each);
        (void)pthread_mutex_unlock(&each->lock);
    }
    (void)pthread_mutex_unlock(&sdp_list_lock);
}
