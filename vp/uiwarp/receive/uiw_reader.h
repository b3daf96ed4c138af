/* SPDX-License-Identifier: BSD-2-Clause */
/* The reader: octets from the socket through the protocol code into memory. */
#ifndef ITAPI_VP_UIWARP_RECEIVE_UIW_READER_H
#define ITAPI_VP_UIWARP_RECEIVE_UIW_READER_H

#include "vp/uiwarp/queue/uiw_ep.h"

#include <unistd.h>

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

/* Before the first octet of a new stream; both tokens are held. */
void uiw_reader_begin(struct uiw_ep *ep, bool crc);

/*
 * The counter shows the FPDUs so far: uiw_silence.c and uiw_round.c tell by it that the peer
 * speaks.
 */
void uiw_reader_count_fpdus(struct uiw_ep *ep);

/*
 * Reads until there is no more, or enough for one turn, a shorter one if other streams wait for
 * theirs. Leaves the rest to the caller in ep->rx and *read.
 */
void uiw_reader_read(struct uiw_ep *ep, uint8_t *staging, bool shared, struct uiw_read *read);

#endif
