/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The STags of an IA: each is a random number of 32 bits, so nothing follows from any number of
 * others, neither those of neighbours nor the next one of the same entry.
 *
 * A map leads from an STag to its entry by one look: bits of the STag above the low 8 are its slot,
 * and only STags whose slot is free are handed out. So an STag may be exchanged for another one
 * with other low 8 bits, which a program chooses: uiw_stags_rename. With more STags the map grows,
 * and a slot's STag moves to one of two. At most half of the slots are in use, so at least 31 of
 * the 32 bits are fresh.
 *
 * Looking up takes no lock, nor does handing out and taking back, but for growth. A map that has
 * been outgrown stays, since another thread may be looking at it.
 */
#ifndef ITAPI_VP_UIWARP_MEMORY_UIW_STAG_H
#define ITAPI_VP_UIWARP_MEMORY_UIW_STAG_H

#include "base/base_lock.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* A slot: the STag above, the number of its entry below. 0: free. */
#define UIW_STAG_SHIFT  32
#define UIW_STAG_FROZEN UINT64_C(0x80000000) /* on its way to a larger map: not to be changed */
#define UIW_STAG_ENTRY  UINT64_C(0x7fffffff)
#define UIW_STAG_KEY    8 /* low bits of an STag that do not say where its slot is */

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

/* Any thread. A new STag of this entry (at most UIW_STAG_ENTRY). 0: no memory, or no random. */
uint32_t uiw_stags_draw(struct uiw_stags *stags, uint32_t entry);
/* One that was drawn for this entry opens nothing any more, and may come again. Any thread. */
void uiw_stags_forget(struct uiw_stags *stags, uint32_t stag, uint32_t entry);

/* The STag of this entry is `to` from now on, which differs in the low 8 bits. Any thread. */
void uiw_stags_rename(struct uiw_stags *stags, uint32_t from, uint32_t to, uint32_t entry);

static inline _Atomic uint64_t *uiw_stags_slot(struct uiw_stag_map *map, uint32_t stag)
{
    return &map->slots[stag >> UIW_STAG_KEY & map->mask];
}

/* The entry that this STag was drawn for. False: none. */
static inline bool uiw_stags_find(const struct uiw_stags *stags, uint32_t stag, uint32_t *entry)
{
    /* Pairs with the release in stags_grow_locked. */
    struct uiw_stag_map *map = atomic_load_explicit(&stags->map, memory_order_acquire);
    uint64_t slot = atomic_load_explicit(uiw_stags_slot(map, stag), memory_order_acquire);

    *entry = (uint32_t)(slot & UIW_STAG_ENTRY);
    return slot >> UIW_STAG_SHIFT == stag && stag != 0;
}

#endif
