/* SPDX-License-Identifier: BSD-2-Clause */
/* The two tokens of an EP. The holder of one is its reader or its sender: docs/locking.md. */
#ifndef ITAPI_VP_UIWARP_QUEUE_UIW_TOKEN_H
#define ITAPI_VP_UIWARP_QUEUE_UIW_TOKEN_H

#include "vp/uiwarp/queue/uiw_ep.h"

#include <sched.h>

/* ---------------------------------------------------------------- reader */

static inline bool uiw_reader_try(struct uiw_ep *ep)
{
    return !atomic_load_explicit(&ep->rx.token, memory_order_relaxed) &&
           !atomic_exchange_explicit(&ep->rx.token, true, memory_order_acquire);
}

/* Spins: a holder makes a bounded number of non-blocking system calls. */
static inline void uiw_reader_take(struct uiw_ep *ep)
{
    while (!uiw_reader_try(ep))
        sched_yield();
}

static inline void uiw_reader_drop(struct uiw_ep *ep)
{
    atomic_store_explicit(&ep->rx.token, false, memory_order_release);
}

/* ---------------------------------------------------------------- sender */

static inline bool uiw_token_try(struct uiw_ep *ep)
{
    int expected = UIW_TOKEN_FREE;

    return atomic_compare_exchange_strong_explicit(&ep->tx.token, &expected, UIW_TOKEN_HELD,
                                                   memory_order_acquire, memory_order_relaxed);
}

/*
 * Returns true if the caller has the token. Otherwise it marks the token, and the holder looks at
 * the queues again before it drops it; it then sees what was published before this call. This needs
 * a read-modify-write even if the mark is set already, so that the holder's exchange synchronizes
 * with every marker.
 */
static inline bool uiw_token_try_or_mark(struct uiw_ep *ep)
{
    int seen = UIW_TOKEN_FREE;

    for (;;) {
        int wanted = seen == UIW_TOKEN_FREE ? UIW_TOKEN_HELD : UIW_TOKEN_AGAIN;

        if (atomic_compare_exchange_weak_explicit(&ep->tx.token, &seen, wanted,
                                                  memory_order_acq_rel, memory_order_relaxed))
            return wanted == UIW_TOKEN_HELD;
    }
}

static inline void uiw_token_wait(struct uiw_ep *ep)
{
    int expected = UIW_TOKEN_FREE;

    while (!atomic_compare_exchange_weak_explicit(&ep->tx.token, &expected, UIW_TOKEN_HELD,
                                                  memory_order_acquire, memory_order_relaxed)) {
        expected = UIW_TOKEN_FREE;
        sched_yield();
    }
}

static inline void uiw_token_drop(struct uiw_ep *ep)
{
    /* Clears a mark as well: the caller knows that a thread will look again. */
    (void)atomic_exchange_explicit(&ep->tx.token, UIW_TOKEN_FREE, memory_order_acq_rel);
}

/* Returns false if the token was marked: the caller keeps it and looks again. */
static inline bool uiw_token_drop_unless_marked(struct uiw_ep *ep)
{
    int expected = UIW_TOKEN_HELD;

    if (atomic_compare_exchange_strong_explicit(&ep->tx.token, &expected, UIW_TOKEN_FREE,
                                                memory_order_release, memory_order_relaxed))
        return true;
    (void)atomic_exchange_explicit(&ep->tx.token, UIW_TOKEN_HELD, memory_order_acq_rel);
    return false;
}

#endif
