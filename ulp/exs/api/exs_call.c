/* SPDX-License-Identifier: BSD-2-Clause */
#include "api/exs_call.h"

#include "socket/exs_socket_calls.h"
#include "transfer/exs_transfer.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

int exs_api_enter(void)
{
    int cancel;

    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    return cancel;
}

int exs_api_leave(int cancel, int error)
{
    (void)pthread_setcancelstate(cancel, NULL);
    if (error == 0)
        return 0;
    errno = error;
    return -1;
}

/* ---- Objects -------------------------------------------------------------------------------- */

#define NS_PER_S      UINT64_C(1000000000)
#define SILENCE_NS    (10 * NS_PER_S) /* of a peer that has to answer */
#define LONGEST_S     UINT64_C(86400)
#define SLOWEST       (UINT64_C(1024) * 1024) /* octets per second of a peer that transfers */
#define SPARES_MAX    64u
#define SERIALS_SHIFT 40 /* calls that an object can serve: 2 to this power */

/* Never shrinks: once there are as many as are outstanding at one time, no call needs the heap. */
static pthread_mutex_t pool_lock = PTHREAD_MUTEX_INITIALIZER; /* guards pool and objects */
static struct exs_call *pool;
static uint64_t objects; /* made so far */

/* Free objects of one thread, which need no lock. They go to the pool when the thread ends. */
struct spares {
    struct exs_call *first;
    unsigned count;
    bool known; /* the thread's end will be noticed */
};
static _Thread_local struct spares spares __attribute__((tls_model("initial-exec")));
static pthread_key_t spares_key;
static pthread_once_t spares_once = PTHREAD_ONCE_INIT;

static void __attribute__((cold)) give_to_pool(struct exs_call *call)
{
    (void)pthread_mutex_lock(&pool_lock);
    call->next_free = pool;
    pool = call;
    (void)pthread_mutex_unlock(&pool_lock);
}

/* An end of a call that follows in another destructor of the thread adds no spares. */
static void end_spares(void *argument)
{
    struct spares *ended = argument;
    struct exs_call *call;

    ended->count = SPARES_MAX;
    while ((call = ended->first) != NULL) {
        ended->first = call->next_free;
        give_to_pool(call);
    }
}

static void make_spares_key(void)
{
    (void)pthread_key_create(&spares_key, end_spares);
}

static void __attribute__((cold)) know_thread(void)
{
    (void)pthread_once(&spares_once, make_spares_key);
    spares.known = true;
    if (pthread_setspecific(spares_key, &spares) != 0)
        spares.count = SPARES_MAX;
}

static struct exs_call *__attribute__((cold)) take_from_pool(void)
{
    struct exs_call *call;
    uint64_t made;

    (void)pthread_mutex_lock(&pool_lock);
    call = pool;
    if (call)
        pool = call->next_free;
    made = objects += call ? 0 : 1;
    (void)pthread_mutex_unlock(&pool_lock);
    if (call)
        return call;
    call = calloc(1, sizeof(*call));
    if (call)
        call->serial = made << SERIALS_SHIFT;
    return call;
}

static struct exs_call *take_object(void)
{
    struct exs_call *call = spares.first;

    if (call) {
        spares.first = call->next_free;
        spares.count--;
    } else
        call = take_from_pool();
    if (call)
        call->serial++;
    return call;
}

static void give_object(struct exs_call *call)
{
    if (!spares.known)
        know_thread();
    if (spares.count >= SPARES_MAX) {
        give_to_pool(call);
        return;
    }
    call->next_free = spares.first;
    spares.first = call;
    spares.count++;
}

/* The spares of this thread are still its own. */
void exs_calls_forget(void)
{
    (void)pthread_mutex_init(&pool_lock, NULL);
    pool = NULL;
}

static bool has_serial(const struct exs_request *request, const void *serial)
{
    const struct exs_call *call = request->context;

    return call->serial == *(const uint64_t *)serial;
}

static void break_off(struct exs_socket *socket, uint64_t serial)
{
    if (!exs_socket_revisit(socket))
        return;
    exs_transfer_break(socket, has_serial, &serial);
    exs_socket_leave(socket);
}

/* Limits how long a call that has been cancelled waits for the peer. */
static void wait_for_peer(struct exs_request *request, uint64_t octets)
{
    struct exs_call *call = request->context;
    uint64_t seconds = octets / SLOWEST < LONGEST_S ? octets / SLOWEST : LONGEST_S;

    exs_timer_stop(&call->timer);
    call->timer = (struct exs_timer){.at_ns = exs_clock_ns() + SILENCE_NS + seconds * NS_PER_S,
                                     .fire = break_off,
                                     .socket = call->socket,
                                     .serial = call->serial};
    (void)exs_timer_start(&call->timer);
}

void exs_call_expire(struct exs_socket *socket, uint64_t serial, int error)
{
    if (!exs_socket_revisit(socket))
        return;
    (void)exs_socket_cancel(socket, has_serial, &serial, error);
    exs_socket_leave(socket);
}

/* With the descriptor an accept or a connect ends as well. */
static void cancel_on_socket(struct exs_call *call)
{
    struct exs_socket *socket = call->socket;

    if (socket) {
        exs_call_expire(socket, call->serial, ECANCELED);
        return;
    }
    socket = exs_socket_find(call->event.exs_evt_socket);
    if (!socket)
        return;
    (void)exs_socket_cancel(socket, has_serial, &call->serial, ECANCELED);
    exs_socket_leave(socket);
}

static void end_request(struct exs_request *request, int error, size_t moved, size_t lost)
{
    exs_call_end(request->context, error, moved, lost);
}

int exs_call_new(const struct exs_start *start, struct exs_call **new)
{
    struct exs_call *call = take_object();
    int error;

    if (!call)
        return ENOMEM;
    error = exs_completion_open(&call->completion, start->qhandle, start->flags);
    if (error) {
        give_object(call);
        return error;
    }
    call->request = (struct exs_request){
        .context = call, .done = end_request, .waits = wait_for_peer, .flags = start->flags};
    call->timer = (struct exs_timer){0};
    call->flags = start->flags;
    call->wait = EXS_WAIT_ADAPTIVE;
    call->started = false;
    call->socket = NULL;
    call->cancel = cancel_on_socket;
    call->finish = NULL;
    call->discard = NULL;
    call->pieces = NULL;
    call->piece_count = 0;
    call->copy = NULL;
    call->file = NULL;
    call->event = (exs_event_t){.exs_evt_type = start->type,
                                .exs_evt_socket = start->fd,
                                .exs_evt_ahandle = start->ahandle};
    *new = call;
    return 0;
}

static void release(struct exs_call *call)
{
    if (call->request.memory)
        exs_memory_give(call->request.memory);
    if (!call->pieces)
        return;
    for (size_t i = 0; i < call->piece_count; i++)
        if (call->pieces[i])
            exs_memory_give(call->pieces[i]);
    free(call->pieces);
    free(call->copy);
}

void exs_call_drop(struct exs_call *call)
{
    if (call->discard)
        call->discard(call);
    release(call);
    exs_completion_drop(&call->completion);
    give_object(call);
}

void exs_call_end(struct exs_call *call, int error, size_t moved, size_t lost)
{
    if (call->timer.fire)
        exs_timer_stop(&call->timer);
    call->event.exs_evt_errno = error;
    if (call->finish)
        call->finish(call, moved, lost);
    /* With the event the program may reuse its memory. */
    release(call);
    if (exs_completion_tell(&call->completion, &call->event))
        give_object(call);
}

/* ---- Waiting -------------------------------------------------------------------------------- */

static ssize_t result_of(const exs_event_t *event)
{
    switch (event->exs_evt_type) {
    case EXS_EVT_ACCEPT:
        return event->exs_evt_union.exs_evt_accept.exs_evt_new_socket;
    case EXS_EVT_SEND:
    case EXS_EVT_RECV:
    case EXS_EVT_SENDTIMEOUT:
    case EXS_EVT_RECVTIMEOUT:
        return (ssize_t)event->exs_evt_union.exs_evt_xfer.exs_evt_length;
    case EXS_EVT_SENDMSG:
    case EXS_EVT_RECVMSG:
        return (ssize_t)event->exs_evt_union.exs_evt_xfermsg.exs_evt_length;
    case EXS_EVT_SENDFILE:
        return (ssize_t)event->exs_evt_union.exs_evt_xferfile.exs_evt_length;
    case EXS_EVT_POLL:
        return event->exs_evt_union.exs_evt_poll.exs_evt_count;
    default:
        return 0;
    }
}

void exs_call_abandon(void *argument)
{
    const struct exs_wait wait = {
        .kind = EXS_WAIT_NOTIFY, .cancel = PTHREAD_CANCEL_DISABLE, .deadline_ns = EXS_TIME_NEVER};
    struct exs_call *call = argument;

    if (!call->cancel) {
        if (exs_completion_abandon(&call->completion))
            give_object(call);
        return;
    }
    /* The call's memory may be on the cancelled thread's stack. */
    call->cancel(call);
    exs_completion_await(&call->completion, &wait);
    /*
     * The accept was too late to be cancelled; its caller will never learn of the accepted socket.
     */
    if (call->event.exs_evt_type == EXS_EVT_ACCEPT && call->event.exs_evt_errno == 0)
        (void)exs_socket_close(call->request.accepted, true, NULL);
    give_object(call);
}

/* As on a socket with a limit, a call that has moved octets when its time is up does not fail. */
static bool has_failed(const exs_event_t *event)
{
    return event->exs_evt_errno != 0 &&
           (event->exs_evt_errno != ETIMEDOUT || result_of(event) == 0);
}

static ssize_t await(int cancel, struct exs_call *call)
{
    const struct exs_wait wait = {
        .kind = call->wait, .cancel = cancel, .deadline_ns = EXS_TIME_NEVER};
    exs_event_t event;

    pthread_cleanup_push(exs_call_abandon, call);
    exs_completion_await(&call->completion, &wait);
    pthread_cleanup_pop(0);
    event = call->completion.event;
    give_object(call);
    if (has_failed(&event))
        return exs_api_leave(cancel, event.exs_evt_errno);
    (void)exs_api_leave(cancel, 0);
    return result_of(&event);
}

ssize_t exs_call_return(int cancel, int flags, struct exs_call *call, int error)
{
    if (error == 0 && flags & EXS_BLOCK)
        return await(cancel, call);
    return exs_api_leave(cancel, error);
}
