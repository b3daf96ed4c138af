/* SPDX-License-Identifier: BSD-2-Clause */
#include "socket/sdp_interest.h"

#include "connection/sdp_connection.h"
#include "socket/sdp_forked.h"
#include "socket/sdp_region.h"
#include "socket/sdp_socket.h"
#include "socket/sdp_table.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define HOW (EPOLLET | EPOLLONESHOT | EPOLLWAKEUP | EPOLLEXCLUSIVE)

const char sdp_interest_wake_mark = 0;
static _Atomic int wake_fd = -1;

/* ---- The kernel's sets ---------------------------------------------------------------------- */

/* Returns true if a one-shot interest has not fired yet, which only the kernel knows. */
static bool is_armed(const struct sdp_interest *interest)
{
    char line[256];
    FILE *info;
    bool armed = true;
    int number;
    unsigned events;

    (void)snprintf(line, sizeof(line), "/proc/self/fdinfo/%d", interest->set);
    info = fopen(line, "re");
    if (!info)
        return true;
    while (fgets(line, sizeof(line), info))
        if (sscanf(line, "tfd: %d events: %x", &number, &events) == 2 && number == interest->number)
            armed = (events & ~(unsigned)HOW) != 0;
    (void)fclose(info);
    return armed;
}

static int in_kernel(const struct sdp_interest *interest, int operation, uint32_t events)
{
    struct epoll_event event = {.events = events, .data.u64 = interest->data};

    return epoll_ctl(interest->set, operation, interest->number, &event) < 0 ? -errno : 0;
}

static void withdraw(struct sdp_interest *interest)
{
    if (interest->in_kernel && interest->events & EPOLLONESHOT)
        interest->disarmed = !is_armed(interest);
    if (interest->in_kernel)
        (void)in_kernel(interest, EPOLL_CTL_DEL, 0);
    interest->in_kernel = false;
}

void sdp_interests_withdraw(struct sdp_socket *socket)
{
    for (unsigned i = 0; i < socket->interests_count; i++)
        withdraw(&socket->interests[i]);
}

void sdp_interests_restore(struct sdp_socket *socket)
{
    for (unsigned i = 0; i < socket->interests_count; i++) {
        struct sdp_interest *interest = &socket->interests[i];

        withdraw(interest);
        if (!interest->disarmed)
            interest->in_kernel = in_kernel(interest, EPOLL_CTL_ADD, interest->events) == 0;
    }
}

void sdp_interests_tell_writable(struct sdp_socket *socket)
{
    for (unsigned i = 0; i < socket->interests_count; i++) {
        struct sdp_interest *interest = &socket->interests[i];

        if (interest->in_kernel || interest->disarmed || !(interest->events & EPOLLOUT))
            continue;
        interest->in_kernel =
            in_kernel(interest, EPOLL_CTL_ADD, interest->events & (EPOLLOUT | HOW)) == 0;
    }
}

/* ---- Urgent data ---------------------------------------------------------------------------- */

static atomic_uint urgent_sockets;

/* Interests in EPOLLPRI alone are woken by EPOLLIN for that time. */
void sdp_interests_urgent(struct sdp_socket *socket, bool urgent)
{
    if (socket->urgent == urgent)
        return;
    socket->urgent = urgent;
    (void)(urgent ? atomic_fetch_add(&urgent_sockets, 1) : atomic_fetch_sub(&urgent_sockets, 1));
    for (unsigned i = 0; i < socket->interests_count; i++) {
        const struct sdp_interest *interest = &socket->interests[i];

        if (interest->in_kernel && (interest->events & (EPOLLPRI | EPOLLIN)) == EPOLLPRI &&
            !(interest->events & EPOLLONESHOT))
            (void)in_kernel(interest, EPOLL_CTL_MOD, interest->events | (urgent ? EPOLLIN : 0u));
    }
}

struct correction {
    int set;
    struct epoll_event *events;
    int count;
};

/* Corrects the kernel's events of an interest to those of the socket. */
static void correct(const struct sdp_interest *interest, unsigned now, struct correction *told)
{
    for (int i = 0; i < told->count; i++) {
        struct epoll_event *event = &told->events[i];

        if (event->data.u64 == interest->data && event->events & EPOLLIN)
            event->events = (event->events & ~(uint32_t)EPOLLIN) |
                            (now & interest->events & (EPOLLIN | EPOLLPRI));
    }
}

static void correct_all(struct sdp_socket *socket, int number, void *context)
{
    struct correction *told = context;
    unsigned now;

    (void)number;
    if (atomic_load(&socket->state) != SDP_CONVERTED || !socket->urgent)
        return;
    now = sdp_events(socket->connection);
    (void)pthread_mutex_lock(&socket->lock);
    for (unsigned i = 0; i < socket->interests_count; i++)
        if (socket->interests[i].set == told->set)
            correct(&socket->interests[i], now, told);
    (void)pthread_mutex_unlock(&socket->lock);
}

int sdp_interests_correct(int set, struct epoll_event *events, int count)
{
    struct correction told = {set, events, count};
    int kept = 0;

    if (atomic_load(&urgent_sockets) == 0)
        return count;
    sdp_table_lock();
    sdp_socket_each(correct_all, &told);
    sdp_table_unlock();
    for (int i = 0; i < count; i++)
        if (events[i].events != 0)
            events[kept++] = events[i];
    return kept;
}

/*
 * ---- Waiting threads ---------------------------------------------------------------------------
 */

static int wake_descriptor(void)
{
    int fd = atomic_load(&wake_fd);
    int made;

    if (fd >= 0)
        return fd;
    made = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (made >= 0 && atomic_compare_exchange_strong(&wake_fd, &fd, made))
        return made;
    if (made >= 0)
        (void)close(made);
    return fd;
}

/*
 * Edge-triggered: each write wakes one thread per set. A set that already has the descriptor keeps
 * it.
 */
void sdp_interests_wake(struct sdp_socket *socket)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLET,
                                .data.ptr = (void *)(uintptr_t)&sdp_interest_wake_mark};
    uint64_t one = 1;
    int fd = wake_descriptor();

    if (fd < 0)
        return;
    (void)pthread_mutex_lock(&socket->lock);
    for (unsigned i = 0; i < socket->interests_count; i++)
        (void)epoll_ctl(socket->interests[i].set, EPOLL_CTL_ADD, fd, &event);
    (void)pthread_mutex_unlock(&socket->lock);
    (void)!write(fd, &one, sizeof(one));
}

void sdp_interests_after_fork(void)
{
    int fd = atomic_exchange(&wake_fd, -1);

    if (fd >= 0)
        (void)close(fd);
}

/* ---- The program's calls -------------------------------------------------------------------- */

static struct sdp_interest *find(struct sdp_socket *socket, int set, int number)
{
    for (unsigned i = 0; i < socket->interests_count; i++)
        if (socket->interests[i].set == set && socket->interests[i].number == number)
            return &socket->interests[i];
    return NULL;
}

static void drop(struct sdp_socket *socket, struct sdp_interest *interest)
{
    *interest = socket->interests[--socket->interests_count];
}

static bool is_plain(const struct sdp_socket *socket, const struct sdp_interest *interest)
{
    return interest->in_kernel && !(interest->events & HOW) && !socket->urgent &&
           atomic_load(&socket->state) == SDP_CONVERTED && !sdp_forked_ever();
}

/*
 * Event loops remove an interest only to add it again with other events, before any thread waits.
 * So the last one that was removed stays in the kernel's set until then, and to add it again is one
 * call instead of two.
 */
static pthread_mutex_t removed_lock = PTHREAD_MUTEX_INITIALIZER; /* taken inside sdp_socket.lock */
static struct sdp_interest removed;                              /* guarded by removed_lock */
static atomic_bool some_removed;                                 /* changed with it */

static void finish_removal(void)
{
    if (!atomic_exchange(&some_removed, false))
        return;
    (void)in_kernel(&removed, EPOLL_CTL_DEL, 0);
}

void sdp_interests_settle(void)
{
    if (!atomic_load(&some_removed))
        return;
    (void)pthread_mutex_lock(&removed_lock);
    finish_removal();
    (void)pthread_mutex_unlock(&removed_lock);
}

/* A thread that begins to wait counts itself before it looks whether there is one. */
static int remove_later(const struct sdp_interest *interest)
{
    (void)pthread_mutex_lock(&removed_lock);
    finish_removal();
    removed = *interest;
    atomic_store(&some_removed, true);
    if (sdp_kick_sleepers() > 0)
        finish_removal();
    (void)pthread_mutex_unlock(&removed_lock);
    return 0;
}

/* Returns true if the kernel's set still has the interest. */
static bool take_back(const struct sdp_interest *interest)
{
    bool taken;

    if (!atomic_load(&some_removed))
        return false;
    (void)pthread_mutex_lock(&removed_lock);
    taken = removed.set == interest->set && removed.number == interest->number &&
            atomic_exchange(&some_removed, false);
    (void)pthread_mutex_unlock(&removed_lock);
    return taken;
}

static int add(struct sdp_socket *socket, int set, int number, const struct epoll_event *event)
{
    struct sdp_interest *interest = &socket->interests[socket->interests_count];
    int result;

    if (socket->interests_count == SDP_INTERESTS_MAX)
        return -ENOSPC;
    *interest = (struct sdp_interest){.set = set, .number = number, .data = event->data.u64};
    interest->events = event->events;
    if (event->events & HOW)
        sdp_interests_settle();
    /* The kernel checks it, too. */
    result =
        in_kernel(interest, take_back(interest) ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, event->events);
    if (result < 0)
        return result;
    interest->in_kernel = true;
    socket->interests_count++;
    if (atomic_load(&socket->state) == SDP_UNDECIDED)
        withdraw(interest);
    return 0;
}

static int modify(struct sdp_socket *socket, struct sdp_interest *interest,
                  const struct epoll_event *event)
{
    int result = 0;

    if (is_plain(socket, interest) && event->events == interest->events &&
        event->data.u64 == interest->data)
        return 0;
    interest->data = event->data.u64;
    if (atomic_load(&socket->state) == SDP_UNDECIDED)
        withdraw(interest);
    else
        result =
            in_kernel(interest, interest->in_kernel ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, event->events);
    if (result < 0)
        return result;
    interest->in_kernel = atomic_load(&socket->state) != SDP_UNDECIDED;
    interest->events = event->events;
    interest->disarmed = false;
    return 0;
}

/* Removes it from the kernel's set at once. */
static int remove_now(const struct sdp_interest *interest)
{
    return interest->in_kernel ? in_kernel(interest, EPOLL_CTL_DEL, 0) : 0;
}

/* Returns true if the kernel's set has the interest, which stays as it is. */
static bool is_there(const struct sdp_interest *interest)
{
    int result = in_kernel(interest, EPOLL_CTL_ADD, 0);

    if (result == 0)
        (void)in_kernel(interest, EPOLL_CTL_DEL, 0);
    return result == -EEXIST;
}

/*
 * After a fork another process may have changed the set, and only the kernel knows of that. So this
 * function checks the kernel's set before a call fails, and before the library reports an event of
 * the interest itself. Returns the present interest, or NULL.
 */
static struct sdp_interest *look_again(struct sdp_socket *socket, struct sdp_interest *interest,
                                       int set, int number)
{
    struct sdp_interest asked = {.set = set, .number = number, .in_kernel = true};

    if (!is_there(&asked)) {
        if (interest)
            drop(socket, interest);
        return NULL;
    }
    if (interest || socket->interests_count == SDP_INTERESTS_MAX)
        return interest;
    socket->interests[socket->interests_count] = asked; /* its events are about to change */
    return &socket->interests[socket->interests_count++];
}

static bool may_be_shared(const struct sdp_socket *socket)
{
    return sdp_forked_ever() && atomic_load(&socket->state) == SDP_CONVERTED;
}

void sdp_interest_set_made(int set)
{
    if (sdp_table_kind(set) != SDP_NUMBER_FREE)
        return;
    sdp_table_lock();
    (void)sdp_table_set(set, SDP_NUMBER_EPOLL, NULL);
    sdp_table_unlock();
}

int sdp_interest_change(struct sdp_socket *socket, int set, int operation, int number,
                        const struct epoll_event *event)
{
    struct sdp_interest *interest;
    int result = -EINVAL;

    sdp_interest_set_made(set);
    (void)pthread_mutex_lock(&socket->lock);
    interest = find(socket, set, number);
    if (may_be_shared(socket) && !interest == (operation != EPOLL_CTL_ADD))
        interest = look_again(socket, interest, set, number);
    if (operation == EPOLL_CTL_ADD)
        result = interest ? -EEXIST : event ? add(socket, set, number, event) : -EFAULT;
    else if (!interest)
        result = -ENOENT;
    else if (operation == EPOLL_CTL_MOD)
        result = event ? modify(socket, interest, event) : -EFAULT;
    else if (operation == EPOLL_CTL_DEL) {
        result = is_plain(socket, interest) ? remove_later(interest) : remove_now(interest);
        drop(socket, interest);
    }
    (void)pthread_mutex_unlock(&socket->lock);
    return result;
}

static void forget(struct sdp_socket *socket, int number, void *context)
{
    const int *set = context;

    (void)number;
    (void)pthread_mutex_lock(&socket->lock);
    for (unsigned i = socket->interests_count; i-- > 0;)
        if (socket->interests[i].set == *set)
            drop(socket, &socket->interests[i]);
    (void)pthread_mutex_unlock(&socket->lock);
}

void sdp_interests_forget(int set)
{
    sdp_interests_settle();
    sdp_socket_each(forget, &set);
}

const struct sdp_interest *sdp_interest_plain(const struct sdp_socket *socket, int set)
{
    const struct sdp_interest *interest = &socket->interests[0];

    return socket->interests_count == 1 && interest->set == set && interest->in_kernel &&
                   (interest->events & EPOLLIN) && !(interest->events & HOW) &&
                   (!sdp_forked_ever() || is_there(interest))
               ? interest
               : NULL;
}

bool sdp_interested(const struct sdp_socket *socket, int set)
{
    for (unsigned i = 0; i < socket->interests_count; i++)
        if (socket->interests[i].set == set)
            return true;
    return false;
}

bool sdp_interested_in_edges(const struct sdp_socket *socket)
{
    for (unsigned i = 0; i < socket->interests_count; i++)
        if (socket->interests[i].events & EPOLLET)
            return true;
    return false;
}
