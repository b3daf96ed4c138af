/* SPDX-License-Identifier: BSD-2-Clause */
#include "vp/uiwarp/memory/uiw_stag.h"

#include "base/base_random.h"

#include <sched.h>
#include <stdlib.h>

#define STAG_SLOTS_MIN 1024u
#define STAG_SLOTS_MAX (1u << (32 - UIW_STAG_KEY))
/* While half of the slots are free, all tries fail once in 2^64. */
#define STAG_TRIES 64u

static struct uiw_stag_map *stags_make(uint32_t slots)
{
    struct uiw_stag_map *map = calloc(1, sizeof(*map) + slots * sizeof(map->slots[0]));

    if (map)
        map->mask = slots - 1;
    return map;
}

bool uiw_stags_init(struct uiw_stags *stags)
{
    struct uiw_stag_map *map = stags_make(STAG_SLOTS_MIN);

    base_lock_init(&stags->lock);
    atomic_init(&stags->map, map);
    atomic_init(&stags->count, 0);
    return map != NULL;
}

void uiw_stags_fini(struct uiw_stags *stags)
{
    struct uiw_stag_map *map = atomic_load_explicit(&stags->map, memory_order_relaxed);

    while (map) {
        struct uiw_stag_map *outgrown = map->outgrown;

        free(map);
        map = outgrown;
    }
    atomic_store_explicit(&stags->map, NULL, memory_order_relaxed);
    base_lock_destroy(&stags->lock);
}

/* ---------------------------------------------------------------- growth */

/*
 * Replaces the map by one of twice the size. A concurrent change of a slot either happens before
 * the slot is frozen, and is copied, or finds it frozen and waits.
 */
static void stags_grow_locked(struct uiw_stags *stags, struct uiw_stag_map *map)
{
    struct uiw_stag_map *larger =
        map->mask < STAG_SLOTS_MAX - 1 ? stags_make(2 * (map->mask + 1)) : NULL;

    base_lock_assert_held(&stags->lock);
    if (!larger)
        return; /* the free slots last for a while */
    for (uint32_t i = 0; i <= map->mask; i++) {
        uint64_t slot =
            atomic_fetch_or_explicit(&map->slots[i], UIW_STAG_FROZEN, memory_order_acq_rel);

        if (slot != 0)
            atomic_init(uiw_stags_slot(larger, (uint32_t)(slot >> UIW_STAG_SHIFT)), slot);
    }
    larger->outgrown = map;
    atomic_store_explicit(&stags->map, larger, memory_order_release);
}

/* Doubles the slots when half of them are in use. */
static void stags_make_room(struct uiw_stags *stags)
{
    struct uiw_stag_map *map = atomic_load_explicit(&stags->map, memory_order_acquire);

    if (atomic_load_explicit(&stags->count, memory_order_relaxed) <= map->mask / 2)
        return;
    base_lock_take(&stags->lock);
    if (map == atomic_load_explicit(&stags->map, memory_order_relaxed))
        stags_grow_locked(stags, map);
    base_lock_drop(&stags->lock);
}

/* ---------------------------------------------------------------- drawing and freeing */

/* Replaces `from` by `to` in the STag's slot. Returns false if it does not hold `from`. */
static bool stags_exchange(struct uiw_stags *stags, uint32_t stag, uint64_t from, uint64_t to)
{
    for (;;) {
        struct uiw_stag_map *map = atomic_load_explicit(&stags->map, memory_order_acquire);
        uint64_t found = from;

        if (atomic_compare_exchange_strong_explicit(uiw_stags_slot(map, stag), &found, to,
                                                    memory_order_acq_rel, memory_order_relaxed))
            return true;
        if (!(found & UIW_STAG_FROZEN))
            return false;
        (void)sched_yield();
    }
}

static uint64_t stags_slot(uint32_t stag, uint32_t entry)
{
    return (uint64_t)stag << UIW_STAG_SHIFT | entry;
}

uint32_t uiw_stags_draw(struct uiw_stags *stags, uint32_t entry)
{
    uint32_t stag;

    stags_make_room(stags);
    for (unsigned i = 0; i < STAG_TRIES && base_random32(&stag); i++) {
        /* Never 0, not even with other low 8 bits, which a program may choose. */
        if (stag >> UIW_STAG_KEY == 0 || !stags_exchange(stags, stag, 0, stags_slot(stag, entry)))
            continue;
        (void)atomic_fetch_add_explicit(&stags->count, 1, memory_order_relaxed);
        return stag;
    }
    return 0;
}

void uiw_stags_forget(struct uiw_stags *stags, uint32_t stag, uint32_t entry)
{
    if (stag != 0 && stags_exchange(stags, stag, stags_slot(stag, entry), 0))
        (void)atomic_fetch_sub_explicit(&stags->count, 1, memory_order_relaxed);
}

void uiw_stags_rename(struct uiw_stags *stags, uint32_t from, uint32_t to, uint32_t entry)
{
    (void)stags_exchange(stags, from, stags_slot(from, entry), stags_slot(to, entry));
}
