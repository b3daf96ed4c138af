/* SPDX-License-Identifier: BSD-2-Clause */
/* Threads for work that may block. The loop submits work, and the pool returns it to the loop. */
#ifndef ITAPI_ULP_ISER_UNIT_ISER_POOL_H
#define ITAPI_ULP_ISER_UNIT_ISER_POOL_H

#include <stdbool.h>

struct iser_pool;

struct iser_work {
    void (*run)(struct iser_work *work);  /* in a thread of the pool */
    void (*done)(struct iser_work *work); /* in the thread that calls iser_pool_reap */
    struct iser_work *next;
};

/* Returns NULL if memory, threads or descriptors run out. */
struct iser_pool *iser_pool_new(unsigned threads);
/* Called when all work has been reaped. */
void iser_pool_free(struct iser_pool *pool);

void iser_pool_submit(struct iser_pool *pool, struct iser_work *work);

/* Returns true if no work is pending. Called by the thread that submits and reaps. */
bool iser_pool_is_idle(const struct iser_pool *pool);

/* Returns a descriptor that is readable while there is work to reap. */
int iser_pool_fd(const struct iser_pool *pool);
/* Calls done for all finished work. */
void iser_pool_reap(struct iser_pool *pool);

#endif
