/* SPDX-License-Identifier: BSD-2-Clause */
#include "ual/uiwarp/uiw_mr.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define MR_INDEX_MAX (UIW_MR_CHUNK * UIW_MR_CHUNKS)

/* One Feistel round function: any function will do for a bijection, this one mixes well. */
static uint32_t mr_mix(uint32_t half, uint32_t secret)
{
    uint32_t x = (half ^ secret) * UINT32_C(0x9e3779b1);

    x ^= x >> 15;
    x *= UINT32_C(0x85ebca6b);
    return x >> 16;
}

/* (index, key) -> STag: a secret permutation, so that STags show neither pattern nor neighbours. */
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

/* A never used entry; allocates the chunk it is the first of. */
static struct uiw_mr *mr_grow_locked(struct uiw_mr_table *table)
{
    uint32_t index = table->used;
    struct uiw_mr *chunk;

    base_lock_assert_held(&table->lock);
    if (index == MR_INDEX_MAX)
        return NULL;
    if (index % UIW_MR_CHUNK == 0) {
        chunk = calloc(UIW_MR_CHUNK, sizeof(*chunk));
        if (!chunk)
            return NULL;
        /* Pairs with the acquire in mr_entry. */
        atomic_store_explicit(&table->chunks[index / UIW_MR_CHUNK], chunk, memory_order_release);
    }
    table->used++;
    chunk = atomic_load_explicit(&table->chunks[index / UIW_MR_CHUNK], memory_order_relaxed);
    chunk[index % UIW_MR_CHUNK].index = index;
    return &chunk[index % UIW_MR_CHUNK];
}

static struct uiw_mr *mr_take_locked(struct uiw_mr_table *table)
{
    struct uiw_mr *mr = table->oldest_free;

    if (!mr)
        return mr_grow_locked(table);
    table->oldest_free = mr->next_free;
    if (!table->oldest_free)
        table->newest_free = NULL;
    return mr;
}

struct uiw_mr *uiw_mr_register(struct uiw_mr_table *table, void *addr, uint64_t length,
                               uint64_t to_base, it_mem_priv_t privs, const void *pz,
                               it_handle_t handle)
{
    struct uiw_mr *mr;
    uint32_t stag = 0;

    base_lock_take(&table->lock);
    mr = mr_take_locked(table);
    /* The key changes with each use of the slot; the one STag that would be 0 is left out. */
    while (mr && stag == 0)
        stag = mr_stag_from_slot(table, mr->index << 8 | ++mr->key);
    base_lock_drop(&table->lock);
    if (!mr)
        return NULL;
    mr->addr = addr;
    mr->length = length;
    mr->to_base = to_base;
    mr->privs = privs;
    mr->pz = pz;
    mr->handle = handle;
    atomic_store_explicit(&mr->remote_closed, false, memory_order_relaxed);
    /* Publishes the members above; pairs with the compare in uiw_mr_pin. */
    atomic_store_explicit(&mr->stag, stag, memory_order_release);
    return mr;
}

void uiw_mr_deregister(struct uiw_mr_table *table, struct uiw_mr *mr)
{
    /* Store, then look at the pins; uiw_mr_pin does pin, then look at the STag. */
    atomic_store_explicit(&mr->stag, 0, memory_order_seq_cst);
    while (atomic_load_explicit(&mr->pins, memory_order_seq_cst) != 0)
        sched_yield();
    base_lock_take(&table->lock);
    mr->next_free = NULL;
    if (table->newest_free)
        table->newest_free->next_free = mr;
    else
        table->oldest_free = mr;
    table->newest_free = mr;
    base_lock_drop(&table->lock);
}

static struct uiw_mr *mr_entry(struct uiw_mr_table *table, uint32_t stag)
{
    uint32_t index = mr_slot_from_stag(table, stag) >> 8;
    struct uiw_mr *chunk =
        atomic_load_explicit(&table->chunks[index / UIW_MR_CHUNK], memory_order_acquire);

    return chunk ? &chunk[index % UIW_MR_CHUNK] : NULL;
}

struct uiw_mr *uiw_mr_pin(struct uiw_mr_table *table, uint32_t stag)
{
    struct uiw_mr *mr = mr_entry(table, stag);

    return mr && stag != 0 && uiw_mr_pin_entry(mr, stag) ? mr : NULL;
}

/* The one check of rights and bounds, for every kind of access by a peer. */
static enum uiw_mr_verdict mr_check_remote(const struct uiw_mr *mr, uint64_t to, uint64_t length,
                                           it_mem_priv_t right, const void *pz)
{
    if (atomic_load_explicit(&mr->remote_closed, memory_order_acquire))
        return UIW_MR_INVALID;
    if (mr->pz != pz)
        return UIW_MR_STREAM;
    if ((mr->privs & right) != right)
        return UIW_MR_ACCESS;
    if (length > UINT64_MAX - to)
        return UIW_MR_WRAP;
    if (to < mr->to_base || to - mr->to_base > mr->length ||
        length > mr->length - (to - mr->to_base))
        return UIW_MR_BOUNDS;
    return UIW_MR_OK;
}

enum uiw_mr_verdict uiw_mr_pin_remote(struct uiw_mr_table *table, uint32_t stag, uint64_t to,
                                      uint64_t length, it_mem_priv_t right, const void *pz,
                                      struct uiw_mr **mr_out, uint8_t **addr_out)
{
    struct uiw_mr *mr = uiw_mr_pin(table, stag);
    enum uiw_mr_verdict verdict;

    if (!mr)
        return UIW_MR_INVALID;
    verdict = mr_check_remote(mr, to, length, right, pz);
    if (verdict != UIW_MR_OK) {
        uiw_mr_unpin(mr);
        return verdict;
    }
    *mr_out = mr;
    *addr_out = mr->addr + (to - mr->to_base);
    return UIW_MR_OK;
}

bool uiw_mr_pin_local(struct uiw_mr *mr, uint32_t stag, const uint8_t *addr, uint64_t length,
                      it_mem_priv_t right, const void *pz)
{
    uint64_t offset;

    if (!uiw_mr_pin_entry(mr, stag))
        return false;
    offset = (uintptr_t)addr - (uintptr_t)mr->addr; /* wraps to a huge value below the base */
    if (mr->pz == pz && (mr->privs & right) == right && offset <= mr->length &&
        length <= mr->length - offset)
        return true;
    uiw_mr_unpin(mr);
    return false;
}

bool uiw_mr_invalidate(struct uiw_mr_table *table, uint32_t stag, const void *pz,
                       it_handle_t *handle_out)
{
    struct uiw_mr *mr = uiw_mr_pin(table, stag);
    bool closed = true;

    if (!mr)
        return false;
    if (mr->pz == pz)
        closed = atomic_exchange_explicit(&mr->remote_closed, true, memory_order_acq_rel);
    *handle_out = mr->handle;
    uiw_mr_unpin(mr);
    return !closed;
}
