/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Handles of queues and registrations. A handle is an index into a table and a generation. So a
 * stale or invented handle is refused, and no freed memory is accessed. Users of an object are
 * counted in its slot: the object ends only when there are none.
 */
#ifndef ITAPI_ULP_EXS_HANDLE_EXS_HANDLE_H
#define ITAPI_ULP_EXS_HANDLE_EXS_HANDLE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define EXS_HANDLE_CHUNKS 24

struct exs_slot {
    _Atomic uint64_t state; /* generation (odd: the handle is valid), user count: 32 bits each */
    void *object;           /* immutable while the handle is valid */
    uint32_t index;
    struct exs_slot *next_free;
};

/* Slots never move and are never freed, so taking a handle needs no lock. */
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

/*
 * Returns a handle of this object, or 0 if memory runs out. Sets *opened before the handle is
 * valid.
 */
uintptr_t exs_handle_open(struct exs_handles *handles, void *object, struct exs_slot **opened);

/* Returns the slot with one user more, or NULL if there is no such handle. */
struct exs_slot *exs_handle_take(struct exs_handles *handles, uintptr_t handle);
void exs_handle_give(struct exs_slot *slot);
void exs_handle_give_several(struct exs_slot *slot, uint32_t users);
/* Returns true if there is such a handle now. */
bool exs_handle_is(struct exs_handles *handles, uintptr_t handle);
/* For a user of the slot that passes it on: adds one user. */
void exs_handle_hold(struct exs_slot *slot);

/*
 * For a caller that has taken the slot and is its only user; otherwise they return EBUSY. In either
 * case the caller is no longer a user. A locked handle is invalid until it is unlocked.
 */
int exs_handle_close(struct exs_handles *handles, struct exs_slot *slot);
int exs_handle_lock(struct exs_slot *slot);
void exs_handle_unlock(struct exs_slot *slot);

/* In the child after fork: all handles become invalid. */
void exs_handles_forget(struct exs_handles *handles);

#endif
