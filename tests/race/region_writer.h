/* SPDX-License-Identifier: BSD-2-Clause */
/* A thread of the active side of a pair that writes as fast as it can until a Write fails. */
#ifndef ITAPI_TESTS_RACE_REGION_WRITER_H
#define ITAPI_TESTS_RACE_REGION_WRITER_H

#include <pthread.h>
#include <stdatomic.h>

#include "support/it_fixture.h"

#define WRITER_SIZE (256u << 10)

struct writer {
    pthread_t thread;
    struct fx_pair *pair;
    const struct fx_buf *local; /* of WRITER_SIZE */
    it_rdma_addr_t address;
    it_rmr_context_t key;
    atomic_uint done;
};

void writer_start(struct writer *writer, struct fx_pair *pair, const struct fx_buf *local,
                  it_rdma_addr_t address, it_rmr_context_t key);
void writer_await(const struct writer *writer, unsigned done);

#endif
