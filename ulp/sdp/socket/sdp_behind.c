/* SPDX-License-Identifier: BSD-2-Clause */
#include "socket/sdp_behind.h"

#include "socket/sdp_interest.h"
#include "socket/sdp_region.h"
#include "socket/sdp_socket.h"
#include "socket/sdp_swap.h"

#include <poll.h>
#include <stddef.h>

#define BEHIND_MAX 1024u

static pthread_mutex_t catching = PTHREAD_MUTEX_INITIALIZER; /* taken before all others */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;     /* taken inside sdp_socket.lock */
static struct sdp_socket *behind[BEHIND_MAX]; /* guarded by lock; their memory is never freed */
static atomic_uint behind_count;              /* changed with lock */
static __thread struct sdp_harvest *harvest __attribute__((tls_model("initial-exec")));

void sdp_behind_harvest(struct sdp_harvest *wanted)
{
    harvest = wanted;
}

/* Returns true if the socket has become readable, and nothing else has changed. */
static bool is_only_readable(const struct sdp_socket *socket, unsigned events)
{
    const unsigned all = POLLIN | POLLOUT | POLLPRI | POLLRDHUP | POLLHUP | POLLERR;

    return (events & POLLIN) && ((events ^ socket->face.shown) & all) == POLLIN &&
           !socket->wants_news && !socket->urgent;
}

/*
 * Notes that the face is behind, unless another thread may sleep. That thread has entered its call
 * before, and is counted, or it waits for the lock and catches up.
 */
static bool note(struct sdp_socket *socket)
{
    bool noted;

    (void)pthread_mutex_lock(&lock);
    noted = sdp_kick_sleepers() == 1 && behind_count < BEHIND_MAX;
    if (noted)
        behind[behind_count++] = socket;
    (void)pthread_mutex_unlock(&lock);
    return noted;
}

bool sdp_behind_may_be(struct sdp_socket *socket, unsigned events)
{
    const struct sdp_interest *interest = NULL;

    if (!harvest || !is_only_readable(socket, events))
        return false;
    if (socket->behind)
        return true; /* since another message of the same harvest */
    if (harvest->set < 0 && socket->interests_count > 0)
        return false;
    if (harvest->set >= 0) {
        interest = sdp_interest_plain(socket, harvest->set);
        if (!interest || harvest->count == harvest->room)
            return false;
    }
    if (!note(socket))
        return false;
    socket->behind = true;
    if (interest)
        harvest->events[harvest->count++] =
            (struct epoll_event){.events = events & interest->events, .data.u64 = interest->data};
    return true;
}

static struct sdp_socket *take(void)
{
    struct sdp_socket *socket = NULL;

    (void)pthread_mutex_lock(&lock);
    if (behind_count > 0)
        socket = behind[--behind_count];
    (void)pthread_mutex_unlock(&lock);
    return socket;
}

static void catch_up(struct sdp_socket *socket)
{
    if (!sdp_socket_refer(socket))
        return; /* it has ended */
    (void)pthread_mutex_lock(&socket->lock);
    socket->behind = false;
    (void)pthread_mutex_unlock(&socket->lock);
    /* The memory may be another socket's by now. */
    if (atomic_load(&socket->state) == SDP_CONVERTED)
        (void)sdp_swap_show(socket);
    sdp_socket_release(socket);
}

void sdp_behind_catch_up(void)
{
    struct sdp_socket *socket;

    if (atomic_load(&behind_count) == 0)
        return;
    (void)pthread_mutex_lock(&catching);
    while ((socket = take()))
        catch_up(socket);
    (void)pthread_mutex_unlock(&catching);
}

/* ---- fork ----------------------------------------------------------------------------------- */

void sdp_behind_before_fork(void)
{
    sdp_behind_catch_up();
    (void)pthread_mutex_lock(&catching);
}

/*
 * Sockets that another thread has noted since are behind in both processes. No thread has had
 * `lock`: it is taken inside `changed`, which the fork waits for, or inside `catching`.
 */
void sdp_behind_after_fork(bool child)
{
    if (child)
        (void)pthread_mutex_init(&catching, NULL);
    else
        (void)pthread_mutex_unlock(&catching);
}
