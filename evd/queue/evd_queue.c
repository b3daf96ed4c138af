/* SPDX-License-Identifier: BSD-2-Clause */
#include "evd/queue/evd_queue.h"

#include <stdlib.h>
#include <string.h>

bool evd_queue_init(struct evd_queue *queue, size_t size, size_t record_size)
{
    size_t allocated = 1;

    while (allocated < size)
        allocated *= 2;
    memset(queue, 0, sizeof(*queue));
    queue->records = malloc(allocated * record_size);
    if (!queue->records)
        return false;
    queue->record_size = record_size;
    queue->mask = allocated - 1;
    queue->size = size;
    return true;
}

void evd_queue_destroy(struct evd_queue *queue)
{
    free(queue->records);
    queue->records = NULL;
}

void evd_queue_move(struct evd_queue *queue, struct evd_queue *fresh)
{
    unsigned char *records = queue->records;

    for (uint64_t number = queue->head; number != queue->tail; number++)
        memcpy(evd_queue_record(fresh, number), evd_queue_record(queue, number),
               queue->record_size);
    /* The sequence numbers, and so .count, do not change. */
    queue->records = fresh->records;
    queue->mask = fresh->mask;
    queue->size = fresh->size;
    fresh->records = records;
}
