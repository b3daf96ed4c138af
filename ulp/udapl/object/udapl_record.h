/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a request of an EP needs beside the consumer's cookie until its completion is delivered: an
 * RMR bind its RMR, a Read that was split into several the length of all, an RDMA Write with an
 * immediate no more than to be told from others. IT-API's cookie is the address of the record then.
 * Records are used in turn. One whose completion is due is not used again before; one whose success
 * is not reported is, since by then its queue has moved on.
 */
#ifndef ITAPI_ULP_UDAPL_OBJECT_UDAPL_RECORD_H
#define ITAPI_ULP_UDAPL_OBJECT_UDAPL_RECORD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct udapl_record {
    uint64_t cookie;
    void *rmr;           /* bind: the handle */
    uint32_t generation; /* bind: of the RMR, which may be freed and its memory another's */
    uint32_t length;     /* Read: octets of all parts */
    atomic_bool pending; /* its completion is due */
    bool told;           /* a part has failed, which was told */
};

struct udapl_records {
    _Atomic(uint32_t) turn;
    uint32_t count; /* a power of two */
    struct udapl_record *record;
};

/* The next record, or NULL if its completion is still due, or if there are none. */
static inline struct udapl_record *udapl_record_take(struct udapl_records *records, uint64_t cookie,
                                                     bool reported)
{
    uint32_t turn = atomic_fetch_add_explicit(&records->turn, 1, memory_order_relaxed);
    struct udapl_record *record;

    if (records->count == 0)
        return NULL;
    record = &records->record[turn & (records->count - 1)];
    /* Pairs with the release store of udapl_record_return. */
    if (atomic_load_explicit(&record->pending, memory_order_acquire))
        return NULL;
    record->cookie = cookie;
    record->told = false;
    atomic_store_explicit(&record->pending, reported, memory_order_relaxed);
    return record;
}

/* Its completion is delivered, or the post has failed. */
static inline void udapl_record_return(struct udapl_record *record)
{
    atomic_store_explicit(&record->pending, false, memory_order_release);
}

/* Whether a cookie is the address of one of these. */
static inline bool udapl_record_is(const struct udapl_records *records, uint64_t cookie)
{
    uint64_t offset = cookie - (uintptr_t)records->record;

    return offset < (uint64_t)records->count * sizeof(struct udapl_record);
}

#endif
