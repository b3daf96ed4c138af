/* SPDX-License-Identifier: BSD-2-Clause */
/* Threads for what may block. The loop submits; the work is handed back to the loop. */
#ifndef ITAPI_ULP_ISER_UNIT_ISER_POOL_H
#define ITAPI_ULP_ISER_UNIT_ISER_POOL_H

#include <stdbool.h>

struct iser_pool;

struct iser_work {
    void (*run)(struct iser_work *work);  /* in a thread of the pool */
    void (*done)(struct iser_work *work); /* in the thread that calls iser_pool_reap */
    struct iser_work *next;
};

/* NULL without memory, threads or descriptors. */
struct iser_pool *iser_pool_new(unsigned threads);
/* All work has been reaped. */
void iser_pool_free(struct iser_pool *pool);

void iser_pool_submit(struct iser_pool *pool, struct iser_work *work);

/* Nothing is to be handed back, now or later. Threads: the one that submits and reaps. */
bool iser_pool_is_idle(const struct iser_pool *pool);

/* Readable while there is work to hand back. */
int iser_pool_fd(const struct iser_pool *pool);
/* Calls done for all that has been done. */
void iser_pool_reap(struct iser_pool *pool);

#endif
