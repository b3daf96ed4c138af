/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The bounded FIFO of a simple EVD: records of one size in a ring that is allocated once. The EVD's
 * lock guards it. Any thread may read .count without the lock, to learn whether taking the lock is
 * worthwhile.
 */
#ifndef ITAPI_EVD_QUEUE_EVD_QUEUE_H
#define ITAPI_EVD_QUEUE_EVD_QUEUE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The largest size of a queue. */
#define EVD_QUEUE_MAX ((size_t)1 << 20)

struct evd_queue {
    unsigned char *records;
    size_t record_size;
    size_t mask; /* records allocated (a power of two) less one */
    size_t size; /* records that fit, as the consumer asked */
    /* Sequence numbers, which never wrap. A record lies at (number & mask). */
    uint64_t head;        /* oldest event */
    uint64_t tail;        /* the next event */
    uint64_t notify_end;  /* 1 + number of the newest notification event */
    uint64_t failed_end;  /* 1 + number of the newest failed completion */
    _Atomic size_t count; /* tail - head */
};

/* Size: 1..EVD_QUEUE_MAX. Returns false if memory runs out. */
bool evd_queue_init(struct evd_queue *queue, size_t size, size_t record_size);
void evd_queue_destroy(struct evd_queue *queue);

/*
 * Moves all events of queue into the memory of fresh, which is empty and large enough, and leaves
 * the old memory in fresh.
 */
void evd_queue_move(struct evd_queue *queue, struct evd_queue *fresh);

static inline void *evd_queue_record(const struct evd_queue *queue, uint64_t number)
{
    return queue->records + ((size_t)number & queue->mask) * queue->record_size;
}

static inline size_t evd_queue_count(const struct evd_queue *queue)
{
    return (size_t)(queue->tail - queue->head);
}

/* Without the lock. */
static inline bool evd_queue_looks_empty(const struct evd_queue *queue)
{
    return atomic_load_explicit(&queue->count, memory_order_acquire) == 0;
}

static inline bool evd_queue_is_full(const struct evd_queue *queue)
{
    return evd_queue_count(queue) >= queue->size;
}

/* Adds a record, which the caller fills in. The queue must not be full. */
static inline void *evd_queue_add(struct evd_queue *queue, bool notify, bool failed)
{
    void *record = evd_queue_record(queue, queue->tail++);

    if (notify)
        queue->notify_end = queue->tail;
    if (failed)
        queue->failed_end = queue->tail;
    atomic_store_explicit(&queue->count, evd_queue_count(queue), memory_order_release);
    return record;
}

static inline const void *evd_queue_first(const struct evd_queue *queue)
{
    return evd_queue_record(queue, queue->head);
}

static inline void evd_queue_drop_first(struct evd_queue *queue)
{
    queue->head++;
    atomic_store_explicit(&queue->count, evd_queue_count(queue), memory_order_release);
}

static inline bool evd_queue_meets(const struct evd_queue *queue, size_t threshold)
{
    return evd_queue_count(queue) >= (threshold > 1 ? threshold : 1);
}

/*
 * Returns how many events a consumer can take, one after the other, each while the queue is ready.
 * The queue is ready for one of two reasons. It holds a failed completion: that lasts until the
 * newest of them is taken. Or it holds a notification event and meets the threshold: that lasts
 * until the newest notification event is taken, or the count falls below the threshold. The result
 * is 0 if the queue is not ready now.
 */
static inline size_t evd_queue_takeable(const struct evd_queue *queue, size_t threshold)
{
    uint64_t needed = threshold > 1 ? threshold : 1;
    uint64_t count = queue->tail - queue->head;
    /* How many events can be taken while each condition holds. */
    uint64_t threshold_lasts = count >= needed ? count - needed + 1 : 0;
    uint64_t notify_lasts = queue->notify_end > queue->head ? queue->notify_end - queue->head : 0;
    uint64_t failed_lasts = queue->failed_end > queue->head ? queue->failed_end - queue->head : 0;
    uint64_t both_last = notify_lasts < threshold_lasts ? notify_lasts : threshold_lasts;

    return (size_t)(failed_lasts > both_last ? failed_lasts : both_last);
}

#endif
