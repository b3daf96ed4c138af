/* SPDX-License-Identifier: BSD-2-Clause */
/* Octets into the socket: one system call, and the rest of an FPDU that it took half of. */
#ifndef ITAPI_VP_UIWARP_SEND_UIW_OUT_H
#define ITAPI_VP_UIWARP_SEND_UIW_OUT_H

#include "vp/uiwarp/queue/uiw_ep.h"

enum uiw_out_state {
    UIW_OUT_MORE,
    UIW_OUT_IDLE,
    UIW_OUT_FULL,
    UIW_OUT_DEAD
};

/* The socket is full, or no longer: the leader is to call us when it takes octets again. */
void uiw_out_block(struct uiw_ep *ep, bool blocked);

/* The stream is beyond sending. Reading goes on. */
void uiw_out_kill(struct uiw_ep *ep);
enum uiw_out_state uiw_out_send_image(struct uiw_ep *ep);
void uiw_out_reset(struct uiw_ep *ep);

/* Sender: octets to go before anything else. False without memory. */
bool uiw_out_prepend(struct uiw_ep *ep, const void *octets, size_t length);

/* The same for a whole FPDU without its CRC field, at most 128 octets: adds markers and CRC. */
bool uiw_out_prepend_fpdu(struct uiw_ep *ep, const uint8_t *fpdu, size_t length);

/* Octets taken, 0 when the socket is full, -1 when it is broken. Sender. */
ssize_t uiw_out_write(struct uiw_ep *ep, struct iovec *iov, unsigned count);

#endif
