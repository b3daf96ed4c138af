/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * transfer.h - one message of any kind in either direction over a wire, every octet of it compared,
 * and those before and behind it.
 */
#ifndef ITAPI_TESTS_INTEROP_TRANSFER_H
#define ITAPI_TESTS_INTEROP_TRANSFER_H

#include "interop/wire.h"

enum transfer_kind {
    TRANSFER_SEND_OUT, /* from us to the peer */
    TRANSFER_SEND_IN,
    TRANSFER_WRITE_OUT,
    TRANSFER_WRITE_IN,
    TRANSFER_READ_OUT, /* of the peer, from our memory */
    TRANSFER_READ_IN,
    TRANSFER_KINDS
};

const char *transfer_name(enum transfer_kind kind);
bool transfer_is_out(enum transfer_kind kind);

/* Octets before and behind the message that must not change. */
#define TRANSFER_MARGIN ((size_t)64)

/* Memory of both sides, for messages of at most this size. */
struct transfer {
    const struct wire *wire;
    struct fx_buf ours;
    struct peer_mem theirs;
    uint32_t next_seed;
};

void transfer_open(struct transfer *transfer, const struct wire *wire, size_t size);
void transfer_close(struct transfer *transfer);

/*
 * From here to there and back, nothing else being posted. Ends the test if a completion is not as
 * it must be, or an octet.
 */
void transfer_run(struct transfer *transfer, enum transfer_kind kind, size_t size);

/*
 * Its parts, so that something may happen in between: fill source and destination; post, at both
 * sides if need be, under this id; wait for the completions; compare. transfer_finish does the last
 * two.
 */
#define TRANSFER_ID 1u
void transfer_prepare(struct transfer *transfer, enum transfer_kind kind, size_t size);
void transfer_post(const struct transfer *transfer, enum transfer_kind kind, size_t size);
void transfer_finish(const struct transfer *transfer, enum transfer_kind kind, size_t size);
void transfer_check(const struct transfer *transfer, enum transfer_kind kind, size_t size);

#endif /* ITAPI_TESTS_INTEROP_TRANSFER_H */
