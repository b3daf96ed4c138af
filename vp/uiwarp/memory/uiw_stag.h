/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The STags of an IA. Each is a random number of 32 bits, so that a peer cannot derive one from
 * others, not even from earlier STags of the same entry.
 *
 * A map finds the entry of an STag in one access: the bits above the low 8 select the slot, and an
 * STag is drawn only if its slot is free. So a program may choose other low 8 bits for an STag, by
 * uiw_stags_rename. The map grows with the number of STags; the STag of a slot then moves to one of
 * two slots. At most half of the slots are in use, so an STag has at least 31 random bits.
 *
 * Looking up, drawing and freeing take no lock, except to grow. An outgrown map stays allocated,
 * since another thread may still be looking at it.
 */
#ifndef ITAPI_VP_UIWARP_MEMORY_UIW_STAG_H
#define ITAPI_VP_UIWARP_MEMORY_UIW_STAG_H

#include "base/base_lock.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* A slot: the STag in the upper half, the number of its entry in the lower. 0: free. */
#define UIW_STAG_SHIFT  32
#define UIW_STAG_FROZEN UINT64_C(0x80000000) /* being copied to a larger map; must not change */
#define UIW_STAG_ENTRY  UINT64_C(0x7fffffff)
#define UIW_STAG_KEY    8 /* low bits of an STag that do not select its slot */

struct uiw_stag_map {
    uint32_t mask; /* slots - 1; immutable */
    struct uiw_stag_map *outgrown;
    _Atomic uint64_t slots[];
};

struct uiw_stags {
    _Atomic(struct uiw_stag_map *) map;
    _Atomic uint32_t count; /* slots in use */
    struct base_lock lock;  /* held to grow */
};

bool uiw_stags_init(struct uiw_stags *stags);
void uiw_stags_fini(struct uiw_stags *stags);

/* Any thread. Draws an STag for this entry (<= UIW_STAG_ENTRY). 0: no memory or random numbers. */
uint32_t uiw_stags_draw(struct uiw_stags *stags, uint32_t entry);
/* Any thread. Frees an STag of this entry; it may be drawn again. */
void uiw_stags_forget(struct uiw_stags *stags, uint32_t stag, uint32_t entry);

/* Any thread. Replaces an STag of this entry by `to`, which differs only in the low 8 bits. */
void uiw_stags_rename(struct uiw_stags *stags, uint32_t from, uint32_t to, uint32_t entry);

static inline _Atomic uint64_t *uiw_stags_slot(struct uiw_stag_map *map, uint32_t stag)
{
    return &map->slots[stag >> UIW_STAG_KEY & map->mask];
}

/* Finds the entry that this STag was drawn for. Returns false if there is none. */
static inline bool uiw_stags_find(const struct uiw_stags *stags, uint32_t stag, uint32_t *entry)
{
    /* Pairs with the release in stags_grow_locked. */
    struct uiw_stag_map *map = atomic_load_explicit(&stags->map, memory_order_acquire);
    uint64_t slot = atomic_load_explicit(uiw_stags_slot(map, stag), memory_order_acquire);

    *entry = (uint32_t)(slot & UIW_STAG_ENTRY);
    return slot >> UIW_STAG_SHIFT == stag && stag != 0;
}

#endif
