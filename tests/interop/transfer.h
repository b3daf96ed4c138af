/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * transfer.h - one message of any kind in either direction over a wire. Every octet of it is
 * compared, and those before and after it.
 */
#ifndef ITAPI_TESTS_INTEROP_TRANSFER_H
#define ITAPI_TESTS_INTEROP_TRANSFER_H

#include "interop/wire.h"

enum transfer_kind {
    TRANSFER_SEND_OUT, /* from the library to the peer */
    TRANSFER_SEND_IN,
    TRANSFER_WRITE_OUT,
    TRANSFER_WRITE_IN,
    TRANSFER_READ_OUT, /* a Read by the peer from the library's memory */
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
 * Moves one message while nothing else is posted. Ends the test if a completion or an octet is
 * wrong.
 */
void transfer_run(struct transfer *transfer, enum transfer_kind kind, size_t size);

/*
 * The steps of transfer_run, so that a test can act in between: fill source and destination; post
 * under this id, at both sides if needed; wait for the completions; compare.
 * transfer_finish does the last two.
 */
#define TRANSFER_ID 1u
void transfer_prepare(struct transfer *transfer, enum transfer_kind kind, size_t size);
void transfer_post(const struct transfer *transfer, enum transfer_kind kind, size_t size);
void transfer_finish(const struct transfer *transfer, enum transfer_kind kind, size_t size);
void transfer_check(const struct transfer *transfer, enum transfer_kind kind, size_t size);

#endif /* ITAPI_TESTS_INTEROP_TRANSFER_H */
