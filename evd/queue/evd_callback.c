/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The runs of a callback. A run is a task of the IA's loop. The thread that sees the EVD become
 * ready submits it. It starts with no lock or token held and may call anything. No thread submits
 * another run while one goes on; the run looks at the EVD again at its end.
 */
#include "evd/queue/evd_object.h"

#include "base/base_futex.h"

#include <limits.h>
#include <stdlib.h>

/* ---------------------------------------------------------------- submitting */

bool evd_callback_is_due_locked(const struct evd *evd)
{
    const struct evd_callback *callback = evd->callback;

    base_lock_assert_held(&evd->lock);
    return callback && !evd->callback_runs &&
           atomic_load_explicit(&callback->state, memory_order_relaxed) == EVD_CALLBACK_IDLE &&
           evd_tells_locked(evd) && !atomic_load_explicit(&evd->ia->failed, memory_order_relaxed);
}

struct evd_callback *evd_callback_claim_locked(struct evd *evd)
{
    if (!evd_callback_is_due_locked(evd))
        return NULL;
    atomic_store_explicit(&evd->callback->state, EVD_CALLBACK_QUEUED, memory_order_release);
    return evd->callback;
}

static _Thread_local struct evd_callback_runs *gathered;

void evd_callback_submit(struct evd *evd, struct evd_callback *callback)
{
    if (gathered && gathered->loop == evd->ia->loop)
        base_list_append(&gathered->list, &callback->task.pending);
    else
        (void)evd_loop_submit(evd->ia->loop, &callback->task); /* only the claimant submits */
}

void evd_callback_gather(struct evd_callback_runs *runs, const struct evd_loop *loop)
{
    *runs = (struct evd_callback_runs){.loop = loop};
    gathered = runs;
}

void evd_callback_run_gathered(struct evd_callback_runs *runs)
{
    struct base_link *link;

    gathered = NULL;
    while ((link = base_list_take(&runs->list)))
        evd_callback_run(BASE_LIST_ITEM(link, struct evd_task, pending));
}

/* ---------------------------------------------------------------- running */

/* Returns false when the callback is detached, or another thread has taken the events. */
static bool callback_begin(struct evd_callback *callback)
{
    struct evd *evd = callback->evd;
    bool runs;

    base_lock_take(&evd->lock);
    runs = evd->callback == callback && evd_tells_locked(evd);
    if (runs && evd->arm != ITX_EVD_ARM_OFF)
        evd->fired--; /* one run for each event it was armed for */
    evd->callback_runs = runs;
    base_lock_drop(&evd->lock);
    return runs;
}

/* The EVD may be gone afterwards. */
static void callback_end(struct evd_callback *callback)
{
    struct evd *evd = callback->evd;
    struct evd_loop *loop = evd->ia->loop;
    struct evd_callback *again;
    bool attached;
    bool awaited;

    base_lock_take(&evd->lock);
    attached = evd->callback == callback;
    if (attached)
        atomic_store_explicit(&callback->state, EVD_CALLBACK_IDLE, memory_order_relaxed);
    evd->callback_runs = false;
    atomic_fetch_add_explicit(&evd->callback_ends, 1, memory_order_relaxed);
    again = evd_callback_claim_locked(evd);
    awaited = evd->callback_awaited != 0;
    base_lock_drop(&evd->lock);

    if (!attached)
        free(callback);
    if (again)
        (void)evd_loop_submit(loop, &again->task);
    /* EVDs come from a pool: the word is mapped even if the EVD is freed by now. */
    if (awaited)
        base_futex_wake(&evd->callback_ends, INT_MAX);
}

/*
 * The runs that the calling thread is inside, the innermost first. The loop's thread is not the
 * only one that runs callbacks (evd_callback_gather).
 */
struct callback_frame {
    const struct evd *evd;
    const struct callback_frame *outer;
};
static _Thread_local const struct callback_frame *callback_innermost;

static void callback_call(const struct evd_callback *callback)
{
    const struct evd_ia *ia = callback->evd->ia;
    const struct callback_frame frame = {callback->evd, callback_innermost};

    callback_innermost = &frame;
    callback->function(evd_handle(callback->evd), callback->argument);
    callback_innermost = frame.outer;
    if (ia->progress && ia->progress->flush)
        ia->progress->flush(ia->progress_context);
}

void evd_callback_run(struct evd_task *task)
{
    struct evd_callback *callback = (struct evd_callback *)task;
    int queued = EVD_CALLBACK_QUEUED;

    if (!atomic_compare_exchange_strong_explicit(&callback->state, &queued, EVD_CALLBACK_RUNNING,
                                                 memory_order_acq_rel, memory_order_acquire)) {
        free(callback);
        return;
    }
    if (callback_begin(callback))
        callback_call(callback);
    callback_end(callback);
}

/* ---------------------------------------------------------------- detaching */

bool evd_callback_is_caller(const struct evd *evd)
{
    const struct callback_frame *frame = callback_innermost;

    while (frame && frame->evd != evd)
        frame = frame->outer;
    return frame != NULL;
}

bool evd_callback_is_inside(const struct evd_ia *ia)
{
    const struct callback_frame *frame = callback_innermost;

    while (frame && frame->evd->ia != ia)
        frame = frame->outer;
    return frame != NULL;
}

/* Detaches the callback. Returns the state it had, or IDLE. */
static int callback_take_locked(struct evd *evd)
{
    struct evd_callback *callback = evd->callback;
    int state;

    base_lock_assert_held(&evd->lock);
    if (!callback)
        return EVD_CALLBACK_IDLE;
    evd->callback = NULL;
    evd_rely_no_more(evd);
    /* In QUEUED and RUNNING the run frees the record. */
    state = EVD_CALLBACK_QUEUED;
    if (!atomic_compare_exchange_strong_explicit(&callback->state, &state, EVD_CALLBACK_DETACHED,
                                                 memory_order_acq_rel, memory_order_acquire) &&
        state == EVD_CALLBACK_IDLE)
        free(callback);
    return state;
}

static void callback_await_end(struct evd *evd, uint32_t ends)
{
    while (atomic_load_explicit(&evd->callback_ends, memory_order_acquire) == ends)
        base_futex_wait(&evd->callback_ends, ends);
    base_lock_take(&evd->lock);
    evd->callback_awaited--;
    base_lock_drop(&evd->lock);
}

bool evd_callback_stop(struct evd *evd)
{
    bool had;
    bool await;
    uint32_t ends;

    base_lock_take(&evd->lock);
    had = evd->callback != NULL;
    await = callback_take_locked(evd) == EVD_CALLBACK_RUNNING || evd->callback_runs;
    await = await && !evd_callback_is_caller(evd);
    if (await)
        evd->callback_awaited++;
    ends = atomic_load_explicit(&evd->callback_ends, memory_order_relaxed);
    base_lock_drop(&evd->lock);
    if (await)
        callback_await_end(evd, ends);
    return had;
}
