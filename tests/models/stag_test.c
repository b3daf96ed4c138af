/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The same as handshakes_test.c for the map of STags: while it grows, other threads draw STags,
 * forget and rename them, and look for them. Memory, random numbers and the lock are stand-ins.
 */
#include "models/model.h"
#include "models/model_run.h"

#include <stdlib.h>
#include <string.h>

#undef MODEL_FILE
#define MODEL_FILE 1
#include "vp/uiwarp/memory/uiw_stag.h"

#include "base/base_random.h"

static uint32_t number_for(uint32_t entry);

#define base_lock_take(lock)        model_lock(&lock_word)
#define base_lock_drop(lock)        model_unlock(&lock_word)
#define base_lock_assert_held(lock) ((void)(lock))
#define base_random32(number)       (*(number) = number_for(entry), true)
#define calloc(count, size)         take_memory((count) * (size))
/* The octets of a larger map are written like any other memory. */
#undef atomic_init
#define atomic_init(at, value)                                                                     \
    model_store((at), sizeof(*(at)), (uint64_t)(value), memory_order_relaxed, 0)

#define MAPS       3u
#define SMALL_MASK 1u /* the map is full from two STags on, and grows from one on */

static union {
    struct uiw_stag_map map;
    unsigned char octets[sizeof(struct uiw_stag_map) + 8 * sizeof(uint64_t)];
} maps[MAPS];
static unsigned maps_taken;
static _Atomic uint32_t lock_word;
static struct uiw_stags all_stags;

static void *take_memory(size_t size)
{
    if (maps_taken == MAPS || size > sizeof(maps[0]))
        abort();
    return &maps[maps_taken++];
}

#undef MODEL_FILE
#define MODEL_FILE 2
#include "vp/uiwarp/memory/uiw_stag.c"

/* Slots of the small map, and of the one that replaces it. */
enum {
    OLD = 0x100, /* 1 and 1; in the map from the beginning */
    OLD_RENAMED = 0x105,
    GROWS = 0x200, /* 0 and 2; drawn by the thread that grows the map */
    OTHER = 0x400  /* 0 and 0; drawn by another thread */
};

enum {
    ENTRY_OLD = 7,
    ENTRY_GROWS,
    ENTRY_OTHER
};

static uint64_t memory; /* of the other thread's entry */

static uint32_t number_for(uint32_t entry)
{
    return entry == ENTRY_GROWS ? GROWS : OTHER;
}

static void begin_with(uint32_t used)
{
    struct uiw_stag_map *map = &maps[0].map;

    memset(maps, 0, sizeof(maps));
    maps_taken = 1;
    map->mask = SMALL_MASK;
    model_init(&lock_word, sizeof(lock_word), 0);
    model_init(&all_stags.map, sizeof(all_stags.map), (uint64_t)(uintptr_t)map);
    model_init(&all_stags.count, sizeof(all_stags.count), used);
    if (used > 0)
        model_init(uiw_stags_slot(map, OLD), sizeof(uint64_t), stags_slot(OLD, ENTRY_OLD));
    memory = 0;
}

static void begin(void)
{
    begin_with(1);
}

static void begin_empty(void)
{
    begin_with(0);
}

static void grow(void)
{
    MODEL_REQUIRE(uiw_stags_draw(&all_stags, ENTRY_GROWS) == GROWS);
}

/* What a slot of the newest map holds at the end. */
static uint64_t content(uint32_t stag)
{
    uint64_t slot;

    memcpy(&slot, uiw_stags_slot(&maps[maps_taken - 1].map, stag), sizeof(slot));
    return slot;
}

static void require_entries(uint32_t old, uint32_t other)
{
    MODEL_REQUIRE(maps_taken == 2);
    MODEL_REQUIRE(content(GROWS) == stags_slot(GROWS, ENTRY_GROWS));
    MODEL_REQUIRE(content(OLD) == (old != 0 ? stags_slot(old, ENTRY_OLD) : 0));
    MODEL_REQUIRE(content(OTHER) == (other != 0 ? stags_slot(other, ENTRY_OTHER) : 0));
}

/* ---- A thread looks for an STag that is in the map all the time ---- */

static void find_run(unsigned thread)
{
    uint32_t entry;

    if (thread == 0)
        grow();
    else
        MODEL_REQUIRE(uiw_stags_find(&all_stags, OLD, &entry) && entry == ENTRY_OLD);
}

static void find_end(void)
{
    require_entries(OLD, 0);
}

/* ---- The entry was made before its STag was drawn ---- */

static void draw_run(unsigned thread)
{
    uint32_t entry;

    if (thread == 0) {
        (void)model_use(&memory, 1);
        (void)uiw_stags_draw(&all_stags, ENTRY_OTHER);
    } else if (uiw_stags_find(&all_stags, OTHER, &entry)) {
        MODEL_REQUIRE(entry == ENTRY_OTHER && model_read(&memory) == 1);
    }
}

static void draw_end(void)
{
    MODEL_REQUIRE(maps_taken == 1 && content(OTHER) == stags_slot(OTHER, ENTRY_OTHER));
}

/* The thread that looks has copied the STag, unless the map was empty and did not grow. */
static void copy_run(unsigned thread)
{
    uint32_t entry;

    if (thread == 0) {
        draw_run(0);
        return;
    }
    stags_make_room(&all_stags);
    if (uiw_stags_find(&all_stags, OTHER, &entry))
        MODEL_REQUIRE(entry == ENTRY_OTHER && model_read(&memory) == 1);
}

static void copy_end(void)
{
    MODEL_REQUIRE(content(OTHER) == stags_slot(OTHER, ENTRY_OTHER));
}

/* ---- A change is copied, or waits for the larger map ---- */

static void enter_run(unsigned thread)
{
    if (thread == 0)
        grow();
    else
        MODEL_REQUIRE(stags_exchange(&all_stags, OTHER, 0, stags_slot(OTHER, ENTRY_OTHER)));
}

static void enter_end(void)
{
    require_entries(OLD, OTHER);
}

static void rename_run(unsigned thread)
{
    if (thread == 0)
        grow();
    else
        uiw_stags_rename(&all_stags, OLD, OLD_RENAMED, ENTRY_OLD);
}

static void rename_end(void)
{
    require_entries(OLD_RENAMED, 0);
}

static void forget_run(unsigned thread)
{
    if (thread == 0)
        grow();
    else
        uiw_stags_forget(&all_stags, OLD, ENTRY_OLD);
}

static void forget_end(void)
{
    if (maps_taken == 2)
        require_entries(0, 0);
    else
        MODEL_REQUIRE(content(OLD) == 0 && content(GROWS) == stags_slot(GROWS, ENTRY_GROWS));
    MODEL_REQUIRE(*(volatile uint32_t *)(void *)&all_stags.count == 1);
}

static const struct model models[] = {
    {"STag that is looked for while the map grows", 2, begin, find_run, find_end},
    {"STag that is drawn", 2, begin_empty, draw_run, draw_end},
    {"STag that is copied", 2, begin_empty, copy_run, copy_end},
    {"STag that is entered while the map grows", 2, begin, enter_run, enter_end},
    {"STag that is renamed while the map grows", 2, begin, rename_run, rename_end},
    {"STag that is forgotten while the map grows", 2, begin, forget_run, forget_end},
};

int main(void)
{
    /*
     * stags_make_room acquires the map for its size alone, which never changes: the model does not
     * see reads of plain members.
     */
    return model_run(models, sizeof(models) / sizeof(models[0]), 0, 1);
}
