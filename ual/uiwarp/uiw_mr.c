/* SPDX-License-Identifier: BSD-2-Clause */
#include "ual/uiwarp/uiw_mr.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/*
 * An STag is an index and a key in 32 bits. The first entries, which are all that most programs
 * ever use, have keys of 16 bits: it takes 65536 uses of the same entry until an STag comes again.
 * Those beyond have the customary 8.
 */
#define MR_LONG_ENTRIES  32768u
#define MR_LONG_KEY      16u
#define MR_SHORT_ENTRIES (1u << 23)
#define MR_SHORT_KEY     8u
#define MR_SHORT         (1u << 31) /* the bit that tells them apart */
#define MR_ENTRIES       (MR_LONG_ENTRIES + MR_SHORT_ENTRIES)

_Static_assert(MR_ENTRIES == UIW_MR_CHUNK * UIW_MR_CHUNKS, "every index has a chunk");

static uint32_t mr_slot(uint32_t index, uint32_t key)
{
    if (index < MR_LONG_ENTRIES)
        return index << MR_LONG_KEY | (key & ((1u << MR_LONG_KEY) - 1));
    return MR_SHORT | (index - MR_LONG_ENTRIES) << MR_SHORT_KEY |
           (key & ((1u << MR_SHORT_KEY) - 1));
}

static uint32_t mr_index(uint32_t slot)
{
    if (!(slot & MR_SHORT))
        return slot >> MR_LONG_KEY;
    return MR_LONG_ENTRIES + ((slot & ~MR_SHORT) >> MR_SHORT_KEY);
}

/* One Feistel round function: any function will do for a bijection, this one mixes well. */
static uint32_t mr_mix(uint32_t half, uint32_t secret)
{
    uint32_t x = (half ^ secret) * UINT32_C(0x9e3779b1);

    x ^= x >> 15;
    x *= UINT32_C(0x85ebca6b);
    return x >> 16;
}

/* Slot to STag: a secret permutation, so that STags show neither pattern nor neighbours. */
static uint32_t mr_stag_from_slot(const struct uiw_mr_table *table, uint32_t slot)
{
    uint32_t left = slot >> 16;
    uint32_t right = slot & 0xffff;

    for (unsigned i = 0; i < 4; i++) {
        uint32_t next = left ^ mr_mix(right, table->secret[i]);

        left = right;
        right = next & 0xffff;
    }
    return left << 16 | right;
}

static uint32_t mr_slot_from_stag(const struct uiw_mr_table *table, uint32_t stag)
{
    uint32_t left = stag >> 16;
    uint32_t right = stag & 0xffff;

    for (unsigned i = 4; i-- > 0;) {
        uint32_t previous = right ^ mr_mix(left, table->secret[i]);

        right = left;
        left = previous & 0xffff;
    }
    return left << 16 | right;
}

bool uiw_mr_table_init(struct uiw_mr_table *table)
{
    memset(table, 0, sizeof(*table));
    base_lock_init(&table->lock);
    if (getrandom(table->secret, sizeof(table->secret), 0) != (ssize_t)sizeof(table->secret))
        return false;
    table->chunks = calloc(UIW_MR_CHUNKS, sizeof(table->chunks[0]));
    return table->chunks != NULL;
}

void uiw_mr_table_fini(struct uiw_mr_table *table)
{
    for (uint32_t i = 0; table->chunks && i * UIW_MR_CHUNK < table->used; i++)
        free(atomic_load_explicit(&table->chunks[i], memory_order_relaxed));
    free(table->chunks);
    table->chunks = NULL;
    base_lock_destroy(&table->lock);
}

/* ---------------------------------------------------------------- life of an entry */

/* A never used entry; allocates the chunk it is the first of. */
static struct uiw_mr *mr_grow_locked(struct uiw_mr_table *table)
{
    uint32_t index = table->used;
    struct uiw_mr *chunk;

    base_lock_assert_held(&table->lock);
    if (index == MR_ENTRIES)
        return NULL;
    if (index % UIW_MR_CHUNK == 0) {
        chunk = calloc(UIW_MR_CHUNK, sizeof(*chunk));
        if (!chunk)
            return NULL;
        /* Pairs with the acquire in uiw_mr_find. */
        atomic_store_explicit(&table->chunks[index / UIW_MR_CHUNK], chunk, memory_order_release);
    }
    table->used++;
    chunk = atomic_load_explicit(&table->chunks[index / UIW_MR_CHUNK], memory_order_relaxed);
    chunk[index % UIW_MR_CHUNK].index = index;
    return &chunk[index % UIW_MR_CHUNK];
}

/* Entries rest between two uses, so that their STags come again later still. */
static struct uiw_mr *mr_pick_locked(struct uiw_mr_table *table)
{
    struct uiw_mr *mr = table->resting < UIW_MR_REST ? mr_grow_locked(table) : NULL;

    if (mr || !table->oldest_free)
        return mr;
    mr = table->oldest_free;
    table->oldest_free = mr->next_free;
    if (!table->oldest_free)
        table->newest_free = NULL;
    table->resting--;
    return mr;
}

struct uiw_mr *uiw_mr_reserve(struct uiw_mr_table *table)
{
    struct uiw_mr *mr;

    base_lock_take(&table->lock);
    mr = mr_pick_locked(table);
    base_lock_drop(&table->lock);
    return mr;
}

void uiw_mr_release(struct uiw_mr_table *table, struct uiw_mr *mr)
{
    mr->serial++;
    atomic_store_explicit(&mr->wanted, 0, memory_order_relaxed);
    uiw_mr_drop(mr);
    base_lock_take(&table->lock);
    mr->next_free = NULL;
    if (table->newest_free)
        table->newest_free->next_free = mr;
    else
        table->oldest_free = mr;
    table->newest_free = mr;
    table->resting++;
    base_lock_drop(&table->lock);
}

uint32_t uiw_mr_new_stag(const struct uiw_mr_table *table, struct uiw_mr *mr)
{
    uint32_t stag;

    do { /* the one STag that would be 0 is left out */
        uint32_t key = atomic_fetch_add_explicit(&mr->key, 1, memory_order_relaxed) + 1;

        stag = mr_stag_from_slot(table, mr_slot(mr->index, key));
    } while (stag == 0);
    return stag;
}

struct uiw_mr *uiw_mr_register(struct uiw_mr_table *table, const struct uiw_region *region)
{
    struct uiw_mr *mr = uiw_mr_reserve(table);

    if (!mr)
        return NULL;
    uiw_mr_take(mr);
    uiw_mr_open(mr, region, uiw_mr_new_stag(table, mr));
    uiw_mr_drop(mr);
    return mr;
}

void uiw_mr_deregister(struct uiw_mr_table *table, struct uiw_mr *mr)
{
    uiw_mr_take(mr);
    (void)uiw_mr_close(mr, true);
    uiw_mr_release(table, mr);
}

void uiw_mr_open(struct uiw_mr *mr, const struct uiw_region *region, uint32_t stag)
{
    mr->region = *region;
    /* Publishes the region; pairs with the compare in uiw_mr_pin_entry. */
    atomic_store_explicit(&mr->stag, stag, memory_order_release);
}

bool uiw_mr_close(struct uiw_mr *mr, bool wait)
{
    uint32_t stag = atomic_load_explicit(&mr->stag, memory_order_relaxed);

    /* Store, then look at the pins; uiw_mr_pin_entry does pin, then look at the STag. */
    atomic_store_explicit(&mr->stag, 0, memory_order_seq_cst);
    while (atomic_load_explicit(&mr->pins, memory_order_seq_cst) != 0) {
        if (!wait) {
            atomic_store_explicit(&mr->stag, stag, memory_order_release);
            return false;
        }
        sched_yield();
    }
    return true;
}

/* ---------------------------------------------------------------- access */

struct uiw_mr *uiw_mr_find(const struct uiw_mr_table *table, uint32_t stag)
{
    uint32_t index = mr_index(mr_slot_from_stag(table, stag));
    struct uiw_mr *chunk =
        atomic_load_explicit(&table->chunks[index / UIW_MR_CHUNK], memory_order_acquire);

    return chunk && stag != 0 ? &chunk[index % UIW_MR_CHUNK] : NULL;
}

struct uiw_mr *uiw_mr_pin(const struct uiw_mr_table *table, uint32_t stag)
{
    struct uiw_mr *mr = uiw_mr_find(table, stag);

    return mr && uiw_mr_pin_entry(mr, stag) ? mr : NULL;
}

/* The one check of rights and bounds, for every kind of access by a peer. */
static enum uiw_mr_verdict mr_check_remote(const struct uiw_region *region, uint64_t to,
                                           uint64_t length, it_mem_priv_t right,
                                           const struct uiw_stream_id *by)
{
    if (region->pz != by->pz || (region->stream != 0 && region->stream != by->number))
        return UIW_MR_STREAM;
    if ((region->privs & right) != right)
        return UIW_MR_ACCESS;
    if (length > UINT64_MAX - to)
        return UIW_MR_WRAP;
    if (to < region->to_base || to - region->to_base > region->length ||
        length > region->length - (to - region->to_base))
        return UIW_MR_BOUNDS;
    return UIW_MR_OK;
}

enum uiw_mr_verdict uiw_mr_pin_remote(const struct uiw_mr_table *table, uint32_t stag, uint64_t to,
                                      uint64_t length, it_mem_priv_t right,
                                      const struct uiw_stream_id *by, struct uiw_mr **mr_out,
                                      uint8_t **addr_out)
{
    struct uiw_mr *mr = uiw_mr_pin(table, stag);
    enum uiw_mr_verdict verdict;

    if (!mr)
        return UIW_MR_INVALID;
    verdict = mr_check_remote(&mr->region, to, length, right, by);
    if (verdict != UIW_MR_OK) {
        uiw_mr_unpin(mr);
        return verdict;
    }
    *mr_out = mr;
    *addr_out = mr->region.addr + (to - mr->region.to_base);
    return UIW_MR_OK;
}

bool uiw_mr_pin_local(struct uiw_mr *mr, uint32_t stag, const uint8_t *addr, uint64_t length,
                      it_mem_priv_t right, const void *pz)
{
    const struct uiw_region *region = &mr->region;
    uint64_t offset;

    if (stag == 0 || !uiw_mr_pin_entry(mr, stag))
        return false;
    offset = (uintptr_t)addr - (uintptr_t)region->addr; /* wraps to a huge value below the base */
    if (region->pz == pz && (region->privs & right) == right && offset <= region->length &&
        length <= region->length - offset)
        return true;
    uiw_mr_unpin(mr);
    return false;
}

bool uiw_mr_may_invalidate(const struct uiw_mr *mr, uint32_t stag, const struct uiw_stream_id *by,
                           bool alone)
{
    const struct uiw_region *region = &mr->region;
    unsigned remote = (unsigned)IT_PRIV_REMOTE | (unsigned)IT_PRIV_ATOMIC;

    if (stag == 0 || atomic_load_explicit(&mr->stag, memory_order_relaxed) != stag)
        return false;
    if (region->pz != by->pz || !(region->privs & remote))
        return false;
    return region->stream ? region->stream == by->number : alone;
}
