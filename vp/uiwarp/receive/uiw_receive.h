/* SPDX-License-Identifier: BSD-2-Clause */
/* Passes octets from the socket through the protocol code into memory. All by the reader. */
#ifndef ITAPI_VP_UIWARP_RECEIVE_UIW_RECEIVE_H
#define ITAPI_VP_UIWARP_RECEIVE_UIW_RECEIVE_H

#include "vp/uiwarp/queue/uiw_ep.h"

#include <unistd.h>

/* ---- uiw_place.c, uiw_atomic.c: place segments in memory and complete requests ---- */

extern const struct iw_rx_ops uiw_place_ops; /* context: struct uiw_ep */

/* Functions of uiw_place_ops, for tables that replace some of them. */
enum iw_error uiw_place_check(void *context, const struct iw_segment *segment);
enum iw_error uiw_place_map(void *context, const struct iw_segment *segment, uint32_t offset,
                            uint32_t *length, struct iovec *iov, unsigned *count);
void uiw_place_unmap(void *context);
enum iw_error uiw_place_whole(void *context, const struct iw_segment *segment,
                              const uint8_t *payload);
bool uiw_place_take(void *context, const uint8_t *payload, uint32_t length, bool solicited);
enum iw_error uiw_place_done(void *context, const struct iw_segment *segment);
enum iw_error uiw_place_read_request(void *context, const struct iw_read_request *request);
enum iw_error uiw_place_atomic_request(void *context, const struct iw_atomic_request *request);
enum iw_error uiw_place_atomic_response(void *context, const struct iw_atomic_response *response);
enum iw_error uiw_place_immediate(void *context, uint64_t value, bool solicited);
void uiw_place_terminate(void *context, const struct iw_terminate *terminate);

/*
 * uiw_atomic.c. Reader. Executes the operation if it is allowed, atomically for all threads of this
 * host, and stores the former value in *original.
 */
enum iw_error uiw_atomic_execute(struct uiw_ep *ep, const struct iw_atomic_request *request,
                                 uint64_t *original);

/* ---------------------------------------------------------------- uiw_reader.c */

#define UIW_LARGE_PATH_ULPDU 16384u

enum uiw_read_state {
    UIW_READ_MORE,
    UIW_READ_DRAINED,
    UIW_READ_CLOSED,
    UIW_READ_LOST,
    UIW_READ_REFUSED
};

struct uiw_read {
    enum uiw_read_state state;
    enum iw_error error; /* with REFUSED */
    int lost;            /* with LOST: errno */
    size_t octets;
};

/* Called before the first octet of a new stream, with both tokens. */
void uiw_reader_begin(struct uiw_ep *ep, bool crc);

/*
 * Updates the counter of received FPDUs, by which uiw_silence.c and uiw_round.c know that the peer
 * has sent something.
 */
void uiw_reader_count_fpdus(struct uiw_ep *ep);

/*
 * Reads until the socket is empty or the turn is over. shared: other streams wait, so the turn is
 * shorter. The caller acts on the result, which is in *read and ep->rx.
 */
void uiw_reader_read(struct uiw_ep *ep, uint8_t *staging, bool shared, struct uiw_read *read);

/* Returns true if the stream is within a message, also between two of its FPDUs. */
bool uiw_reader_is_unfinished(const struct uiw_ep *ep);

#endif
