/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records of requests that need more than the consumer's cookie until their completion is
 * delivered. For an RMR bind it is the RMR, for a split Read the total length. An RDMA Write with
 * an immediate has one only to be recognized. IT-API's cookie is then the address of the record.
 * Records are used in turn. A record with a reported completion is not reused before that is
 * delivered. A record whose success is not reported may be reused in its turn: its request has left
 * the queue by then.
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
    uint32_t generation; /* bind: of the RMR, to detect that it was freed */
    uint32_t length;     /* Read: octets of all parts */
    atomic_bool pending; /* its completion will be delivered */
    bool told;           /* the failure of a part was delivered */
};

struct udapl_records {
    _Atomic(uint32_t) turn;
    uint32_t count; /* a power of two */
    struct udapl_record *record;
};

/* Takes the next record; NULL if it is still pending, or if there are none. */
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

/* Returns a record after its completion was delivered, or its post has failed. */
static inline void udapl_record_return(struct udapl_record *record)
{
    atomic_store_explicit(&record->pending, false, memory_order_release);
}

/* Returns true if a cookie is the address of one of these records. */
static inline bool udapl_record_is(const struct udapl_records *records, uint64_t cookie)
{
    uint64_t offset = cookie - (uintptr_t)records->record;

    return offset < (uint64_t)records->count * sizeof(struct udapl_record);
}

#endif
