/* SPDX-License-Identifier: BSD-2-Clause */
/* One run of the receiver, as iw_rx_fuzz.c and iw_rx_cuts.c make it. */
#ifndef ITAPI_TESTS_FUZZ_IW_RX_RUN_H
#define ITAPI_TESTS_FUZZ_IW_RX_RUN_H

#include "tdi/iwarp/iw_rx.h"

#include "vectors/iw_model.h"

enum {
    IW_RX_RUN_CRC = 1,
    IW_RX_RUN_CRC_AS_IT_COMES = 2,
    IW_RX_RUN_READ = 4
};

struct iw_rx_run {
    struct iw_model model;
    struct iw_rx rx;
};

static inline void iw_rx_run_start(struct iw_rx_run *run, unsigned flags)
{
    struct iw_model *model = &run->model;

    iw_model_init(model, 300, 3);
    model->regions[0].rights |= IW_MODEL_ATOMIC;
    model->atomics = 2;
    model->atomic_id = 0x01010101;
    model->ird = 2;
    if (flags & IW_RX_RUN_READ)
        iw_model_post_read(model, 0xaabbcc01, 0x7f0000001000, 260);
    iw_rx_init(&run->rx, iw_model_ops(), model, flags & IW_RX_RUN_CRC);
}

static inline void iw_rx_run_finish(struct iw_rx_run *run, enum iw_error error)
{
    iw_model_end(&run->model, &run->rx, error);
    if (!iw_model_intact(&run->model))
        abort();
}

/* Feeds pieces of up to `longest` octets; some of the payload directly if `direct`. */
void iw_rx_run_cut(struct iw_rx_run *run, unsigned flags, const uint8_t *stream, size_t length,
                   size_t longest, bool direct);

#endif
