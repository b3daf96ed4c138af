/* SPDX-License-Identifier: BSD-2-Clause */
/* Adding and taking events, and the life of a queue. */
#include "queue/exs_queue_object.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define DEPTH_MAX (1 << 24)

static struct exs_handles queues = EXS_HANDLES_INITIALIZER;

/* ---- Handles -------------------------------------------------------------------------------- */

struct exs_queue *exs_queue_take(exs_qhandle_t handle)
{
    struct exs_slot *slot = exs_handle_take(&queues, (uintptr_t)handle);

    return slot ? slot->object : NULL;
}

bool exs_queue_is(exs_qhandle_t handle)
{
    return exs_handle_is(&queues, (uintptr_t)handle);
}

void exs_queue_give(struct exs_queue *queue)
{
    exs_handle_give(queue->slot);
}

void exs_queue_give_caught(struct exs_queue *queue, size_t caught)
{
    if (caught > 0)
        (void)atomic_fetch_sub_explicit(&queue->taken, caught, memory_order_relaxed);
    exs_handle_give_several(queue->slot, 1 + (uint32_t)caught);
}

static void destroy(struct exs_queue *queue)
{
    if (queue->fd >= 0)
        (void)close(queue->fd);
    free(queue->events);
    free(queue);
}

int exs_queue_create(int depth, exs_qhandle_t *handle)
{
    struct exs_queue *queue;
    uintptr_t number;

    if (depth < 1 || depth > DEPTH_MAX)
        return EINVAL;
    queue = calloc(1, sizeof(*queue));
    if (!queue)
        return ENOMEM;
    *queue = (struct exs_queue){.depth = depth, .fd = -1, .wait = EXS_WAIT_ADAPTIVE};
    if (exs_queue_grow_locked(queue, (size_t)depth) != 0 ||
        (number = exs_handle_open(&queues, queue, &queue->slot)) == 0) {
        destroy(queue);
        return ENOMEM;
    }
    *handle = (exs_qhandle_t)number;
    return 0;
}

int exs_queue_delete(exs_qhandle_t handle)
{
    struct exs_queue *queue = exs_queue_take(handle);
    int error;

    if (!queue)
        return EINVAL;
    error = exs_handle_close(&queues, queue->slot);
    if (error)
        return error;
    /* The thread that posted last has released the queue, but may still be about to unlock it. */
    exs_lock_take(&queue->lock);
    exs_lock_drop(&queue->lock);
    destroy(queue);
    return 0;
}

void exs_queues_forget(void)
{
    exs_handles_forget(&queues);
}

/* ---- The ring ------------------------------------------------------------------------------- */

int exs_queue_grow_locked(struct exs_queue *queue, size_t need)
{
    size_t room = queue->room ? queue->room : 16;
    exs_event_t *events;
    size_t tail;

    if (need <= queue->room)
        return 0;
    while (room < need)
        room *= 2;
    events = malloc(room * sizeof(*events));
    if (!events)
        return ENOMEM;
    tail = queue->room - queue->first;
    if (tail > queue->count)
        tail = queue->count;
    if (queue->count > 0) {
        memcpy(events, queue->events + queue->first, tail * sizeof(*events));
        memcpy(events + tail, queue->events, (queue->count - tail) * sizeof(*events));
    }
    free(queue->events);
    queue->events = events;
    queue->room = room;
    queue->first = 0;
    return 0;
}

static void set_count_locked(struct exs_queue *queue, size_t count)
{
    const uint64_t one = 1;
    uint64_t value;

    /* Written and read in turn, so the eventfd never overflows or blocks. */
    if (queue->fd >= 0 && count > 0 && queue->count == 0)
        (void)!write(queue->fd, &one, sizeof(one));
    if (queue->fd >= 0 && count == 0 && queue->count > 0)
        (void)!read(queue->fd, &value, sizeof(value));
    queue->count = count;
    atomic_store_explicit(&queue->ready, count, memory_order_relaxed);
}

size_t exs_queue_pop_locked(struct exs_queue *queue, exs_event_t *events, size_t count)
{
    if (count > queue->count)
        count = queue->count;
    for (size_t i = 0; i < count; i++) {
        events[i] = queue->events[queue->first];
        queue->first = queue->first + 1 < queue->room ? queue->first + 1 : 0;
    }
    if (count > 0) {
        (void)atomic_fetch_sub_explicit(&queue->taken, count, memory_order_relaxed);
        set_count_locked(queue, queue->count - count);
        exs_queue_wake_locked(queue);
    }
    return count;
}

void exs_queue_wake_locked(struct exs_queue *queue)
{
    for (struct exs_waiter **link = &queue->waiters; *link; link = &(*link)->next) {
        struct exs_waiter *waiter = *link;

        if (waiter->need > queue->count)
            continue;
        *link = waiter->next;
        waiter->listed = false;
        exs_sleeper_wake(&waiter->sleeper);
        return;
    }
}

/* ---- Posting -------------------------------------------------------------------------------- */

int exs_queue_promise(exs_qhandle_t handle, struct exs_queue **promised)
{
    struct exs_queue *queue = exs_queue_take(handle);
    size_t need;
    int error = 0;

    if (!queue)
        return EINVAL;
    need = atomic_fetch_add_explicit(&queue->taken, 1, memory_order_relaxed) + 1;
    if (need > atomic_load_explicit(&queue->room, memory_order_relaxed)) {
        exs_lock_take(&queue->lock);
        error = exs_queue_grow_locked(queue, need);
        exs_lock_drop(&queue->lock);
    }
    if (error == 0)
        *promised = queue;
    else
        exs_queue_release(queue);
    return error;
}

static _Thread_local struct exs_catch *catching __attribute__((tls_model("initial-exec")));

void exs_queue_catch(struct exs_catch *caught)
{
    catching = caught;
}

/*
 * The caller is also the thread that takes events from this queue. If events of the same socket
 * were queued before, this thread sees them, since it has held the socket's lock since.
 */
static bool catch_event(struct exs_queue *queue, const exs_event_t *event)
{
    if (!catching || catching->queue != queue || catching->count == catching->room ||
        atomic_load_explicit(&queue->ready, memory_order_relaxed) > 0 ||
        atomic_load_explicit(&queue->signals, memory_order_relaxed))
        return false;
    catching->events[catching->count++] = *event;
    return true;
}

void exs_queue_post(struct exs_queue *queue, const exs_event_t *event)
{
    exs_signal_t signal = {.exs_sig_enable = EXS_SIG_DISABLE};
    size_t last;

    if (catch_event(queue, event))
        return;
    exs_lock_take(&queue->lock);
    last = queue->first + queue->count;
    queue->events[last < queue->room ? last : last - queue->room] = *event;
    if (queue->count == 0)
        signal = queue->signal;
    set_count_locked(queue, queue->count + 1);
    exs_queue_wake_locked(queue);
    /* Released first: the thread that takes the event may delete the queue. */
    exs_queue_give(queue);
    exs_lock_drop(&queue->lock);
    if (signal.exs_sig_enable == EXS_SIG_ENABLE)
        (void)sigqueue(getpid(), signal.exs_sig_signo,
                       (union sigval){.sival_ptr = signal.exs_sig_value});
}

void exs_queue_release(struct exs_queue *queue)
{
    (void)atomic_fetch_sub_explicit(&queue->taken, 1, memory_order_relaxed);
    exs_queue_give(queue);
}

/* ---- Attributes ----------------------------------------------------------------------------- */

static int open_fd_locked(struct exs_queue *queue)
{
    const uint64_t one = 1;

    if (queue->fd >= 0)
        return 0;
    queue->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (queue->fd < 0)
        return errno;
    if (queue->count > 0)
        (void)!write(queue->fd, &one, sizeof(one));
    return 0;
}

int exs_queue_fd(exs_qhandle_t handle, int *fd)
{
    struct exs_queue *queue = exs_queue_take(handle);
    int error;

    if (!queue)
        return EINVAL;
    exs_lock_take(&queue->lock);
    error = open_fd_locked(queue);
    *fd = queue->fd;
    exs_lock_drop(&queue->lock);
    exs_queue_give(queue);
    return error;
}

int exs_queue_set_depth(exs_qhandle_t handle, int depth)
{
    struct exs_queue *queue;
    int error = 0;

    if (depth < 1 || depth > DEPTH_MAX || !(queue = exs_queue_take(handle)))
        return EINVAL;
    exs_lock_take(&queue->lock);
    error = exs_queue_grow_locked(queue, (size_t)depth);
    if (error == 0)
        queue->depth = depth;
    exs_lock_drop(&queue->lock);
    exs_queue_give(queue);
    return error;
}

int exs_queue_set_wait(exs_qhandle_t handle, int wait)
{
    struct exs_queue *queue;

    if ((wait != EXS_WAIT_ADAPTIVE && wait != EXS_WAIT_BUSY_POLL && wait != EXS_WAIT_NOTIFY) ||
        !(queue = exs_queue_take(handle)))
        return EINVAL;
    atomic_store_explicit(&queue->wait, wait, memory_order_relaxed);
    exs_queue_give(queue);
    return 0;
}

int exs_queue_set_signal(exs_qhandle_t handle, const exs_signal_t *signal)
{
    bool on = signal->exs_sig_enable == EXS_SIG_ENABLE;
    struct exs_queue *queue;

    if ((!on && signal->exs_sig_enable != EXS_SIG_DISABLE) ||
        (on && (signal->exs_sig_signo < 1 || signal->exs_sig_signo > SIGRTMAX)) ||
        !(queue = exs_queue_take(handle)))
        return EINVAL;
    exs_lock_take(&queue->lock);
    queue->signal = *signal;
    atomic_store_explicit(&queue->signals, on, memory_order_relaxed);
    exs_lock_drop(&queue->lock);
    exs_queue_give(queue);
    return 0;
}

int exs_queue_status(exs_qhandle_t handle, int attribute, void *value)
{
    struct exs_queue *queue = exs_queue_take(handle);
    int error = 0;

    if (!queue)
        return EINVAL;
    exs_lock_take(&queue->lock);
    switch (attribute) {
    case EXS_QATTR_DEPTH:
        *(int *)value = queue->depth;
        break;
    case EXS_QATTR_EVENTS:
        *(int *)value = (int)queue->count;
        break;
    case EXS_QATTR_SIGNAL:
        *(exs_signal_t *)value = queue->signal;
        break;
    case EXS_QATTR_WAIT:
        *(int *)value = atomic_load_explicit(&queue->wait, memory_order_relaxed);
        break;
    default:
        error = EINVAL;
    }
    exs_lock_drop(&queue->lock);
    exs_queue_give(queue);
    return error;
}
