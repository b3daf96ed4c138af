/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Handles of queues and registrations. A handle is a place in a table and a generation, so a stale
 * or invented one is refused, and no memory is looked at that might be gone. Who uses an object
 * counts in its slot: it ends only when nobody does.
 */
#ifndef ITAPI_ULP_EXS_HANDLE_EXS_HANDLE_H
#define ITAPI_ULP_EXS_HANDLE_EXS_HANDLE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#define EXS_HANDLE_CHUNKS 24

struct exs_slot {
    _Atomic uint64_t state; /* generation, odd while the handle is valid, and users: 32 bits each */
    void *object;           /* immutable while the handle is valid */
    uint32_t index;
    struct exs_slot *next_free;
};

/* Slots never move and are never freed: taking a handle needs no lock. */
struct exs_handles {
    pthread_mutex_t lock; /* guards free, used and the growth of chunks */
    _Atomic(struct exs_slot *) chunks[EXS_HANDLE_CHUNKS];
    struct exs_slot *free;
    uint32_t used;
};

#define EXS_HANDLES_INITIALIZER                                                                    \
    {                                                                                              \
        .lock = PTHREAD_MUTEX_INITIALIZER                                                          \
    }

/* A handle of this object, or 0: out of memory. The slot is told before the handle is valid. */
uintptr_t exs_handle_open(struct exs_handles *handles, void *object, struct exs_slot **opened);

/* The slot, with one user more, or NULL: there is no such handle. */
struct exs_slot *exs_handle_take(struct exs_handles *handles, uintptr_t handle);
void exs_handle_give(struct exs_slot *slot);
/* For a user of the slot that hands over to somebody else: one user more. */
void exs_handle_hold(struct exs_slot *slot);

/*
 * Both are for a caller who has taken the slot, and is the only user: otherwise EBUSY. Either way
 * the caller uses it no more. A locked handle is invalid to everybody, until it is unlocked.
 */
int exs_handle_close(struct exs_handles *handles, struct exs_slot *slot);
int exs_handle_lock(struct exs_slot *slot);
void exs_handle_unlock(struct exs_slot *slot);

/* In the child after fork: no handle is valid any more. */
void exs_handles_forget(struct exs_handles *handles);

#endif
