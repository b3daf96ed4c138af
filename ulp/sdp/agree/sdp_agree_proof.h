/* SPDX-License-Identifier: BSD-2-Clause */
/* What the kernel knows of a TCP socket and of its other end. */
#ifndef ITAPI_ULP_SDP_AGREE_SDP_AGREE_PROOF_H
#define ITAPI_ULP_SDP_AGREE_SDP_AGREE_PROOF_H

#include "agree/sdp_agree_message.h"

enum sdp_stream_state {
    SDP_STREAM_OPENING, /* not connected yet */
    SDP_STREAM_VIRGIN,  /* established, and no octet has been sent or received */
    SDP_STREAM_USED     /* any other state */
};
enum sdp_stream_state sdp_stream_state(int fd, int64_t *round_trip_us);

/*
 * Returns true if `other` is the established server's end of the connection whose client's end is
 * `own`.
 */
bool sdp_is_other_end(int other, int own, const struct sdp_tuple *tuple);

/*
 * Gets the user that owns the established server's end on this host. Returns false if the kernel
 * does not report it.
 */
bool sdp_other_end_owner(const struct sdp_tuple *tuple, uint32_t *user);

#endif /* ITAPI_ULP_SDP_AGREE_SDP_AGREE_PROOF_H */
