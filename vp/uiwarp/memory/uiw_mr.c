/* SPDX-License-Identifier: BSD-2-Clause */
#include "vp/uiwarp/memory/uiw_mr.h"

#include "base/base_random.h"

#include <stdlib.h>
#include <string.h>

#define MR_ENTRIES (UIW_MR_CHUNK * UIW_MR_CHUNKS)

_Static_assert(MR_ENTRIES - 1 <= UIW_STAG_ENTRY, "every index fits beside an STag");

bool uiw_mr_table_init(struct uiw_mr_table *table)
{
    uint32_t any;

    memset(table, 0, sizeof(*table));
    /* Without random numbers there are no STags, so opening the IA fails. */
    if (!base_random32(&any))
        return false;
    base_lock_init(&table->lock);
    table->chunks = calloc(UIW_MR_CHUNKS, sizeof(table->chunks[0]));
    if (uiw_stags_init(&table->stags) && table->chunks)
        return true;
    uiw_mr_table_fini(table);
    return false;
}

void uiw_mr_table_fini(struct uiw_mr_table *table)
{
    for (uint32_t i = 0; table->chunks && i * UIW_MR_CHUNK < table->used; i++)
        free(atomic_load_explicit(&table->chunks[i], memory_order_relaxed));
    free(table->chunks);
    table->chunks = NULL;
    uiw_stags_fini(&table->stags);
    base_lock_destroy(&table->lock);
}

/* ---------------------------------------------------------------- life of an entry */

/* Returns an entry that was never used. Allocates a chunk if the entry is its first. */
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

struct uiw_mr *uiw_mr_reserve(struct uiw_mr_table *table)
{
    struct uiw_mr *mr;

    base_lock_take(&table->lock);
    mr = table->free;
    if (mr)
        table->free = mr->next_free;
    else
        mr = mr_grow_locked(table);
    base_lock_drop(&table->lock);
    return mr;
}

void uiw_mr_release(struct uiw_mr_table *table, struct uiw_mr *mr)
{
    uint32_t kept = atomic_exchange_explicit(&mr->kept, 0, memory_order_relaxed);

    uiw_stags_forget(&table->stags, kept, mr->index);
    mr->serial++;
    atomic_store_explicit(&mr->wanted, 0, memory_order_relaxed);
    uiw_mr_drop(mr);
    base_lock_take(&table->lock);
    mr->next_free = table->free;
    table->free = mr;
    base_lock_drop(&table->lock);
}

uint32_t uiw_mr_new_stag(struct uiw_mr_table *table, const struct uiw_mr *mr)
{
    return uiw_stags_draw(&table->stags, mr->index);
}

void uiw_mr_forget_stag(struct uiw_mr_table *table, const struct uiw_mr *mr, uint32_t stag)
{
    if (!uiw_mr_is_kept(mr, stag))
        uiw_stags_forget(&table->stags, stag, mr->index);
}

uint32_t uiw_mr_keep_stag(struct uiw_mr_table *table, struct uiw_mr *mr)
{
    uint32_t kept = atomic_load_explicit(&mr->kept, memory_order_relaxed);

    if (kept == 0) {
        kept = uiw_stags_draw(&table->stags, mr->index);
        atomic_store_explicit(&mr->kept, kept, memory_order_relaxed);
    }
    return kept;
}

struct uiw_mr *uiw_mr_register(struct uiw_mr_table *table, const struct uiw_region *region)
{
    struct uiw_mr *mr = uiw_mr_reserve(table);
    uint32_t stag;

    if (!mr)
        return NULL;
    uiw_mr_take(mr);
    stag = uiw_mr_new_stag(table, mr);
    if (stag == 0) {
        uiw_mr_release(table, mr);
        return NULL;
    }
    uiw_mr_open(mr, region, stag);
    uiw_mr_drop(mr);
    return mr;
}

void uiw_mr_deregister(struct uiw_mr_table *table, struct uiw_mr *mr)
{
    uiw_mr_take(mr);
    (void)uiw_mr_close(table, mr, true);
    uiw_mr_release(table, mr);
}

void uiw_mr_open(struct uiw_mr *mr, const struct uiw_region *region, uint32_t stag)
{
    mr->region = *region;
    /* Publishes the region; pairs with the compare in uiw_mr_pin_entry. */
    atomic_store_explicit(&mr->stag, stag, memory_order_release);
}

void uiw_mr_open_kept(struct uiw_mr_table *table, struct uiw_mr *mr,
                      const struct uiw_region *region, uint32_t stag)
{
    if (uiw_mr_is_kept(mr, stag)) {
        uiw_stags_rename(&table->stags, atomic_load_explicit(&mr->kept, memory_order_relaxed), stag,
                         mr->index);
        atomic_store_explicit(&mr->kept, stag, memory_order_relaxed);
    }
    uiw_mr_open(mr, region, stag);
}

/* Clears the STag. Returns false while the entry is still pinned. */
static bool mr_try_shut(struct uiw_mr *mr)
{
    /* Stores, then looks at the pins; uiw_mr_pin_entry pins, then looks at the STag. */
    atomic_store_explicit(&mr->stag, 0, memory_order_seq_cst);
    return atomic_load_explicit(&mr->pins, memory_order_seq_cst) == 0;
}

uint32_t uiw_mr_shut(struct uiw_mr *mr)
{
    uint32_t stag = atomic_load_explicit(&mr->stag, memory_order_relaxed);

    while (!mr_try_shut(mr))
        sched_yield();
    return stag;
}

bool uiw_mr_close(struct uiw_mr_table *table, struct uiw_mr *mr, bool wait)
{
    uint32_t stag = atomic_load_explicit(&mr->stag, memory_order_relaxed);

    if (wait) {
        (void)uiw_mr_shut(mr);
    } else if (!mr_try_shut(mr)) {
        atomic_store_explicit(&mr->stag, stag, memory_order_release);
        return false;
    }
    uiw_mr_forget_stag(table, mr, stag);
    return true;
}

/* ---------------------------------------------------------------- access */

struct uiw_mr *uiw_mr_find(const struct uiw_mr_table *table, uint32_t stag)
{
    uint32_t index;
    struct uiw_mr *chunk;

    if (!uiw_stags_find(&table->stags, stag, &index))
        return NULL;
    chunk = atomic_load_explicit(&table->chunks[index / UIW_MR_CHUNK], memory_order_acquire);
    return &chunk[index % UIW_MR_CHUNK];
}

struct uiw_mr *uiw_mr_pin(const struct uiw_mr_table *table, uint32_t stag)
{
    struct uiw_mr *mr = uiw_mr_find(table, stag);

    return mr && uiw_mr_pin_entry(mr, stag) ? mr : NULL;
}

/* Checks rights and bounds of every access by a peer. */
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
