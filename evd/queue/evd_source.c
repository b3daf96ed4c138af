/* SPDX-License-Identifier: BSD-2-Clause */
/* Moving completions from a source to the EVD's own queue. */
#include "evd/queue/evd_object.h"

#define SOURCE_BATCH 8 /* records moved at once */

struct evd_source *evd_source_of(struct evd *evd)
{
    return atomic_load_explicit(&evd->source, memory_order_acquire);
}

size_t evd_source_move_locked(struct evd *evd)
{
    struct evd_source *source = atomic_load_explicit(&evd->source, memory_order_relaxed);
    struct evd_dto dtos[SOURCE_BATCH];
    size_t moved = 0;
    size_t asked, count;

    base_lock_assert_held(&evd->lock);
    if (!source)
        return 0;
    do {
        size_t used = evd_queue_count(&evd->queue);
        size_t room = evd->queue.size > used ? evd->queue.size - used : 0;

        asked = room < SOURCE_BATCH ? room : SOURCE_BATCH;
        count = asked > 0 ? source->ops->drain(source->context, dtos, asked) : 0;
        for (size_t i = 0; i < count; i++) {
            bool failed = dtos[i].status != IT_DTO_SUCCESS;
            struct evd_dto *record = evd_queue_add(&evd->queue, dtos[i].notify || failed, failed);

            *record = dtos[i];
        }
        moved += count;
    } while (count == asked && count > 0);
    source->held_back = asked == 0;
    /*
     * Without room in the queue, the source keeps what it has, and the queue cannot tell whether a
     * notification event is among it. So the newest event in the queue counts as one: a thread that
     * waits for a notification wakes, takes events, and so makes room for the next move.
     */
    if (source->held_back)
        evd->queue.notify_end = evd->queue.tail;
    return moved;
}

void evd_source_lock(struct evd *evd)
{
    base_lock_take(&evd->lock);
}

void evd_source_unlock(struct evd *evd)
{
    base_lock_drop(&evd->lock);
}

void *evd_source_get(struct evd *evd, const struct evd_source_ops *ops)
{
    const struct evd_source *source = evd_source_of(evd);

    return source && source->ops == ops ? source->context : NULL;
}
