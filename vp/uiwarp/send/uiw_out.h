/* SPDX-License-Identifier: BSD-2-Clause */
/* Octets into the socket: one system call, and the rest of an FPDU that it took half of. Sender. */
#ifndef ITAPI_VP_UIWARP_SEND_UIW_OUT_H
#define ITAPI_VP_UIWARP_SEND_UIW_OUT_H

#include "vp/uiwarp/queue/uiw_ep.h"

enum uiw_out_state {
    UIW_OUT_MORE,
    UIW_OUT_IDLE,
    UIW_OUT_FULL,
    UIW_OUT_DEAD
};

/* A new stream begins, or the EP has none. */
void uiw_out_reset(struct uiw_ep *ep);

/*
 * blocked: the socket is full, or the budget used up, and the leader calls when the socket takes
 * octets. Armed on return, and level triggered: nothing is lost if the socket takes them already.
 */
void uiw_out_block(struct uiw_ep *ep, bool blocked);

/*
 * The stream is beyond sending. Reading goes on: the peer's last words, perhaps a Terminate, are
 * still there, and the reader sees the end of the stream.
 */
void uiw_out_kill(struct uiw_ep *ep);

/* Returns the octets taken, 0 if the socket is full, -1 if it is broken. */
ssize_t uiw_out_write(struct uiw_ep *ep, struct iovec *iov, unsigned count);

/*
 * The socket has taken `sent` of the first `end` octets of iov. The rest leaves from a copy, before
 * anything else, since its source may change or vanish. Without memory for the copy the stream is
 * dead (half an FPDU cannot be taken back), and the function returns false.
 */
bool uiw_out_keep(struct uiw_ep *ep, const struct iovec *iov, unsigned count, uint32_t end,
                  uint32_t sent);

/*
 * The whole FPDU, at most 128 octets without its CRC field, leaves before anything else: adds
 * markers and CRC. Returns false without memory.
 */
bool uiw_out_prepend_fpdu(struct uiw_ep *ep, const uint8_t *fpdu, size_t length);

/* Sends what leaves before anything else. MORE: nothing of it is left. */
enum uiw_out_state uiw_out_send_image(struct uiw_ep *ep);

#endif
