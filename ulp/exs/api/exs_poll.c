/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * exs_poll. Each socket has a watch while the call is outstanding. A change of a socket, the time
 * limit or a cancellation may end the call: the one that moves it from ARMED to OVER owns it and
 * ends it.
 */
#include "api/exs_poll.h"

#include "api/exs_call.h"
#include "socket/exs_socket_calls.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#define FDS_MAX   65536
#define NS_PER_S  UINT64_C(1000000000)
#define NS_PER_US UINT64_C(1000)

enum {
    BUILDING,
    CHANGED,
    ARMED,
    OVER
};

struct element {
    struct exs_watch watch;
    struct exs_polling *polling;
    struct exs_socket *socket; /* counted; NULL: the element is left out */
    short events;
};

struct exs_polling {
    struct exs_polling *next; /* in the list of ARMED calls */
    struct exs_call *call;
    exs_pollfd_t *fds;
    size_t count;
    _Atomic int state;
    struct element elements[];
};

/* Taken outside the sockets' locks; guards the list. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct exs_polling *pollings;

/* ---- Readiness ------------------------------------------------------------------------------ */

static short ready_now(const struct exs_socket *socket, short events)
{
    int ready = exs_socket_ready(socket) & events;

    if (socket->state == EXS_STATE_ENDED)
        ready |= EXS_POLLHUP | (socket->error ? EXS_POLLERR : 0);
    if (socket->state == EXS_STATE_OPEN)
        ready |= EXS_POLLHUP;
    return (short)ready;
}

/*
 * Returns true if the caller owns the call now. While a call is being built, its builder ends it.
 */
static bool hit(struct exs_polling *polling)
{
    int state = ARMED;

    if (atomic_compare_exchange_strong(&polling->state, &state, OVER))
        return true;
    if (state == BUILDING)
        (void)atomic_compare_exchange_strong(&polling->state, &state, CHANGED);
    return false;
}

/* Called with the socket's lock. Ending the call needs other locks, so it happens later. */
static void changed(struct exs_watch *watch)
{
    struct element *element = (struct element *)watch; /* its first member */

    if (element->socket->fd >= 0 && ready_now(element->socket, element->events) == 0)
        return;
    if (hit(element->polling))
        exs_socket_finish(element->socket, &element->polling->call->request, 0);
}

/* ---- The end -------------------------------------------------------------------------------- */

static void remove_watch(struct element *element)
{
    struct exs_watch **link = &element->socket->watches;

    while (*link != &element->watch)
        link = &(*link)->next;
    *link = element->watch.next;
}

/* Removes all watches; gets the number of ready elements, and EBADF if a socket was closed. */
static int collect(struct exs_polling *polling, int *ready)
{
    int error = 0;

    *ready = 0;
    for (size_t i = 0; i < polling->count; i++) {
        struct element *element = &polling->elements[i];

        if (!element->socket)
            continue;
        exs_socket_enter(element->socket);
        remove_watch(element);
        if (element->socket->fd != polling->fds[i].exs_fd)
            error = EBADF;
        else
            polling->fds[i].exs_revents = ready_now(element->socket, element->events);
        if (polling->fds[i].exs_revents)
            (*ready)++;
        exs_socket_leave(element->socket);
        exs_socket_put(element->socket);
    }
    return error;
}

static void delist(struct exs_polling *polling)
{
    struct exs_polling **link = &pollings;

    (void)pthread_mutex_lock(&lock);
    while (*link && *link != polling)
        link = &(*link)->next;
    if (*link)
        *link = polling->next;
    (void)pthread_mutex_unlock(&lock);
}

static void end(struct exs_polling *polling, int error)
{
    struct exs_call *call = polling->call;
    exs_evt_poll_t *result = &call->event.exs_evt_union.exs_evt_poll;
    int closed;

    delist(polling);
    closed = collect(polling, &result->exs_evt_count);
    free(polling);
    exs_call_end(call, error ? error : closed, 0, 0);
}

static void end_request(struct exs_request *request, int error, size_t moved, size_t lost)
{
    struct exs_call *call = request->context;

    (void)moved;
    (void)lost;
    end(call->polling, error);
}

/* Takes ownership of the first call in the list that matches; NULL: none does. */
static struct exs_polling *claim(bool (*match)(const struct exs_polling *, const void *),
                                 const void *key)
{
    struct exs_polling *polling;

    (void)pthread_mutex_lock(&lock);
    for (polling = pollings; polling; polling = polling->next)
        if (match(polling, key) && hit(polling))
            break;
    (void)pthread_mutex_unlock(&lock);
    return polling;
}

static bool has_serial(const struct exs_polling *polling, const void *serial)
{
    return polling->call->serial == *(const uint64_t *)serial;
}

static void end_serial(uint64_t serial, int error)
{
    struct exs_polling *polling = claim(has_serial, &serial);

    if (polling)
        end(polling, error);
}

static void expire(struct exs_socket *none, uint64_t serial)
{
    (void)none;
    end_serial(serial, 0);
}

static void cancel_call(struct exs_call *call)
{
    end_serial(call->serial, ECANCELED);
}

struct chosen {
    int fd;
    exs_ahandle_t ahandle;
};

static bool is_chosen(const struct exs_polling *polling, const void *key)
{
    const struct chosen *chosen = key;

    if (polling->call->event.exs_evt_ahandle != chosen->ahandle)
        return false;
    for (size_t i = 0; i < polling->count; i++)
        if (polling->fds[i].exs_fd == chosen->fd)
            return true;
    return false;
}

size_t exs_polls_cancel(int fd, exs_ahandle_t ahandle)
{
    const struct chosen chosen = {fd, ahandle};
    struct exs_polling *polling;
    size_t count;

    for (count = 0; (polling = claim(is_chosen, &chosen)) != NULL; count++)
        end(polling, ECANCELED);
    return count;
}

void exs_polls_forget(void)
{
    (void)pthread_mutex_init(&lock, NULL);
    pollings = NULL;
}

/* ---- The start ------------------------------------------------------------------------------ */

/*
 * Puts a watch on each socket. Returns EBADF if an element is not a socket. *ready is set to true
 * if a socket is already ready.
 */
static int watch_all(struct exs_polling *polling, bool *ready)
{
    for (size_t i = 0; i < polling->count; i++) {
        struct element *element = &polling->elements[i];
        struct exs_socket *socket;

        polling->fds[i].exs_revents = 0;
        if (polling->fds[i].exs_fd < 0)
            continue;
        socket = exs_socket_find(polling->fds[i].exs_fd);
        if (!socket)
            return EBADF;
        exs_socket_hold(socket);
        *element = (struct element){.watch = {.next = socket->watches, .changed = changed},
                                    .polling = polling,
                                    .socket = socket,
                                    .events = polling->fds[i].exs_events};
        socket->watches = &element->watch;
        if (socket->options.fd_flags & EXS_FD_BUSYPOLL)
            polling->call->wait = EXS_WAIT_BUSY_POLL;
        if (ready_now(socket, element->events))
            *ready = true;
        exs_socket_leave(socket);
    }
    return 0;
}

/*
 * Polls once without creating a call, for a caller that would wait. Returns how many are ready; 0
 * also if a descriptor is bad.
 */
static int ready_at_once(exs_pollfd_t *fds, size_t count)
{
    struct exs_socket *socket;
    int ready = 0;

    for (size_t i = 0; i < count; i++) {
        fds[i].exs_revents = 0;
        if (fds[i].exs_fd < 0)
            continue;
        socket = exs_socket_find(fds[i].exs_fd);
        if (!socket)
            return 0;
        fds[i].exs_revents = ready_now(socket, fds[i].exs_events);
        exs_socket_leave(socket);
        ready += fds[i].exs_revents != 0;
    }
    return ready;
}

static int set_limit(struct exs_call *call, const struct timeval *timeout)
{
    if (!timeout || (uint64_t)timeout->tv_sec >= INT32_MAX)
        return 0;
    call->timer =
        (struct exs_timer){.at_ns = exs_clock_ns() + (uint64_t)timeout->tv_sec * NS_PER_S +
                                    (uint64_t)timeout->tv_usec * NS_PER_US,
                           .fire = expire,
                           .serial = call->serial};
    return exs_timer_start(&call->timer);
}

static void enlist(struct exs_polling *polling)
{
    (void)pthread_mutex_lock(&lock);
    polling->next = pollings;
    pollings = polling;
    (void)pthread_mutex_unlock(&lock);
}

static int start_poll(struct exs_call *call, exs_pollfd_t *fds, size_t count,
                      const struct timeval *timeout)
{
    struct exs_polling *polling =
        calloc(1, sizeof(*polling) + count * sizeof(polling->elements[0]));
    bool ready = timeout && timeout->tv_sec == 0 && timeout->tv_usec == 0;
    int state = BUILDING;
    int unused;
    int error;

    if (!polling)
        return ENOMEM;
    polling->call = call;
    polling->fds = fds;
    polling->count = count;
    call->polling = polling;
    call->cancel = cancel_call;
    call->request.done = end_request;
    call->event.exs_evt_union.exs_evt_poll.exs_evt_fds = fds;
    enlist(polling);
    error = watch_all(polling, &ready);
    if (error == 0 && !ready)
        error = set_limit(call, timeout);
    if (error) {
        delist(polling);
        (void)collect(polling, &unused);
        free(polling);
    } else if (ready || !atomic_compare_exchange_strong(&polling->state, &state, ARMED)) {
        end(polling, 0);
    }
    return error;
}

int exs_poll(exs_pollfd_t *fds, int n, int flags, const struct timeval *timeout,
             exs_qhandle_t qhandle, exs_ahandle_t ahandle)
{
    const struct exs_start start = {EXS_EVT_POLL, -1, flags, qhandle, ahandle};
    int cancel = exs_api_enter();
    struct exs_call *call = NULL;
    int error = 0;
    int ready;

    if (n < 1 || n > FDS_MAX || flags & ~(EXS_BLOCK | EXS_TIMEOUT_ONCE) ||
        (timeout && (timeout->tv_sec < 0 || timeout->tv_usec < 0 || timeout->tv_usec >= 1000000)))
        error = EINVAL;
    else if (!fds)
        error = EFAULT;
    if (error == 0 && flags & EXS_BLOCK) {
        ready = ready_at_once(fds, (size_t)n);
        if (ready > 0) {
            (void)exs_api_leave(cancel, 0);
            return ready;
        }
    }
    if (error == 0)
        error = exs_call_new(&start, &call);
    if (error == 0) {
        error = start_poll(call, fds, (size_t)n, timeout);
        if (error)
            exs_call_drop(call);
    }
    return (int)exs_call_return(cancel, flags, call, error);
}
