/* SPDX-License-Identifier: BSD-2-Clause */
#include "handle/exs_handle.h"

#include <errno.h>
#include <stdlib.h>

#define FIRST_CHUNK     64U /* slots of chunk 0; each other one doubles the table */
#define GENERATION_ONE  (UINT64_C(1) << 32)
#define USERS(state)    ((uint32_t)(state))
#define GENERATION(s)   ((uint32_t)((s) >> 32))
#define INDEX_BITS      24U
#define GENERATION_MASK ((UINT64_C(1) << (8 * sizeof(uintptr_t) - INDEX_BITS - 1)) - 1)

/* ---- Places --------------------------------------------------------------------------------- */

/* Chunk 0 has the slots below FIRST_CHUNK; chunk k has those from FIRST_CHUNK << (k - 1) on. */
static unsigned chunk_of(uint32_t index, uint32_t *place)
{
    unsigned chunk = 0;

    if (index >= FIRST_CHUNK) {
        chunk = 32U - (unsigned)__builtin_clz(index / FIRST_CHUNK);
        index -= FIRST_CHUNK << (chunk - 1);
    }
    *place = index;
    return chunk;
}

static uint32_t chunk_size(unsigned chunk)
{
    return chunk ? FIRST_CHUNK << (chunk - 1) : FIRST_CHUNK;
}

static struct exs_slot *slot_at(struct exs_handles *handles, uint32_t index)
{
    uint32_t place;
    unsigned chunk = chunk_of(index, &place);
    struct exs_slot *slots;

    if (chunk >= EXS_HANDLE_CHUNKS)
        return NULL;
    slots = atomic_load_explicit(&handles->chunks[chunk], memory_order_acquire);
    return slots ? &slots[place] : NULL;
}

static struct exs_slot *new_slot_locked(struct exs_handles *handles)
{
    struct exs_slot *slot = handles->free;
    uint32_t place;
    unsigned chunk;

    if (slot) {
        handles->free = slot->next_free;
        return slot;
    }
    if (handles->used >= UINT32_C(1) << INDEX_BITS)
        return NULL;
    chunk = chunk_of(handles->used, &place);
    if (place == 0) {
        slot = calloc(chunk_size(chunk), sizeof(*slot));
        if (!slot)
            return NULL;
        atomic_store_explicit(&handles->chunks[chunk], slot, memory_order_release);
    }
    slot = slot_at(handles, handles->used);
    slot->index = handles->used++;
    return slot;
}

/* ---- Handles -------------------------------------------------------------------------------- */

/* The handle is never 0 or all ones: its highest bit is 0, and the generation is odd. */
static uintptr_t number(uint32_t index, uint64_t state)
{
    return (uintptr_t)((GENERATION(state) & GENERATION_MASK) << INDEX_BITS) | index;
}

uintptr_t exs_handle_open(struct exs_handles *handles, void *object, struct exs_slot **opened)
{
    struct exs_slot *slot;
    uint64_t state;

    (void)pthread_mutex_lock(&handles->lock);
    slot = new_slot_locked(handles);
    (void)pthread_mutex_unlock(&handles->lock);
    if (!slot)
        return 0;
    slot->object = object;
    *opened = slot;
    /* Release: a thread that takes the handle sees the object. */
    state = atomic_fetch_add_explicit(&slot->state, GENERATION_ONE, memory_order_release);
    return number(slot->index, state + GENERATION_ONE);
}

static uint32_t index_of(uintptr_t handle)
{
    return (uint32_t)(handle & ((1U << INDEX_BITS) - 1));
}

static bool names(uintptr_t handle, uint64_t state)
{
    return (GENERATION(state) & 1) && number(index_of(handle), state) == handle;
}

bool exs_handle_is(struct exs_handles *handles, uintptr_t handle)
{
    const struct exs_slot *slot = slot_at(handles, index_of(handle));

    return slot && names(handle, atomic_load_explicit(&slot->state, memory_order_relaxed));
}

struct exs_slot *exs_handle_take(struct exs_handles *handles, uintptr_t handle)
{
    struct exs_slot *slot = slot_at(handles, index_of(handle));
    uint64_t state;

    if (!slot)
        return NULL;
    state = atomic_load_explicit(&slot->state, memory_order_relaxed);
    do {
        if (!names(handle, state))
            return NULL;
    } while (!atomic_compare_exchange_weak_explicit(&slot->state, &state, state + 1,
                                                    memory_order_acquire, memory_order_relaxed));
    return slot;
}

void exs_handle_give(struct exs_slot *slot)
{
    exs_handle_give_several(slot, 1);
}

void exs_handle_give_several(struct exs_slot *slot, uint32_t users)
{
    (void)atomic_fetch_sub_explicit(&slot->state, users, memory_order_release);
}

void exs_handle_hold(struct exs_slot *slot)
{
    (void)atomic_fetch_add_explicit(&slot->state, 1, memory_order_relaxed);
}

/*
 * Moves on to the next generation, in which the handle is invalid, if the caller is the only user.
 */
int exs_handle_lock(struct exs_slot *slot)
{
    uint64_t state = atomic_load_explicit(&slot->state, memory_order_relaxed);

    do {
        if (USERS(state) != 1) {
            exs_handle_give(slot);
            return EBUSY;
        }
    } while (!atomic_compare_exchange_weak_explicit(&slot->state, &state, state + GENERATION_ONE,
                                                    memory_order_acquire, memory_order_relaxed));
    return 0;
}

void exs_handle_unlock(struct exs_slot *slot)
{
    (void)atomic_fetch_sub_explicit(&slot->state, GENERATION_ONE + 1, memory_order_release);
}

int exs_handle_close(struct exs_handles *handles, struct exs_slot *slot)
{
    int error = exs_handle_lock(slot);

    if (error)
        return error;
    exs_handle_give(slot);
    (void)pthread_mutex_lock(&handles->lock);
    slot->next_free = handles->free;
    handles->free = slot;
    (void)pthread_mutex_unlock(&handles->lock);
    return 0;
}

void exs_handles_forget(struct exs_handles *handles)
{
    (void)pthread_mutex_init(&handles->lock, NULL);
    handles->free = NULL;
    for (uint32_t i = 0; i < handles->used; i++) {
        struct exs_slot *slot = slot_at(handles, i);
        uint64_t state = atomic_load_explicit(&slot->state, memory_order_relaxed);

        /* The next even generation: a slot in the middle of opening becomes free too. */
        state = (state | GENERATION_ONE) + GENERATION_ONE;
        atomic_store_explicit(&slot->state, state & ~UINT64_C(0xffffffff), memory_order_relaxed);
        slot->next_free = handles->free;
        handles->free = slot;
    }
}
