/* SPDX-License-Identifier: BSD-2-Clause */
#include "race/region_writer.h"

#include <string.h>

static void *writer_main(void *argument)
{
    struct writer *writer = argument;
    it_lmr_triplet_t segment = fx_seg(writer->local, 0, WRITER_SIZE);

    for (;;) {
        it_event_t event;

        memset(writer->local->data, (int)(atomic_load(&writer->done) & 0x3f) + 1, WRITER_SIZE);
        CHECK_OK(it_post_rdma_write(writer->pair->a_ep, &segment, 1, 1, FX_SIGNAL, writer->address,
                                    writer->key));
        event = fx_next(writer->pair->a.request_evd);
        if (event.dto_cmpl.dto_status != IT_DTO_SUCCESS)
            return NULL;
        atomic_fetch_add(&writer->done, 1);
    }
}

void writer_start(struct writer *writer, struct fx_pair *pair, const struct fx_buf *local,
                  it_rdma_addr_t address, it_rmr_context_t key)
{
    *writer = (struct writer){.pair = pair, .local = local, .address = address, .key = key};
    CHECK(pthread_create(&writer->thread, NULL, writer_main, writer) == 0);
}

void writer_await(const struct writer *writer, unsigned done)
{
    FX_WAIT_WHILE(atomic_load(&writer->done) < done, "writes");
}
