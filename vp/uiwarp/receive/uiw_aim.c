/* SPDX-License-Identifier: BSD-2-Clause */
#include "vp/uiwarp/receive/uiw_aim.h"

#include "ual/object/ual_ep_state.h"
#include "vp/uiwarp/queue/uiw_token.h"
#include "vp/uiwarp/receive/uiw_receive.h"

#include <string.h>

/* The rest of the message that arrives goes to its receive, and so does what has arrived. */
static void aim_give_back(struct uiw_ep *ep)
{
    struct uiw_aim aim = ep->rx.aim;
    const struct iw_segment start = {.opcode = IW_OP_SEND, .length = UINT32_MAX};
    uint32_t arrived = iw_rx_arrived(&ep->rx.iw);
    struct iovec iov[IW_RX_IOV_MAX];

    ep->rx.aim.current = false;
    if (ual_ep_state(ep->ual) != IT_EP_STATE_CONNECTED)
        return; /* the receive may be gone */
    for (uint32_t at = aim.skip; at < arrived;) {
        bool aimed;
        uint32_t part = uiw_aim_part(&aim, at, arrived, &aimed);
        unsigned count = 0;

        if (!aimed || uiw_place_map(ep, &start, at, &part, iov, &count) != IW_OK)
            return; /* without a map, the next segment finds the reason */
        for (unsigned i = 0; i < count; i++) {
            memcpy(iov[i].iov_base, uiw_aim_place(&aim, at), iov[i].iov_len);
            at += (uint32_t)iov[i].iov_len;
        }
        uiw_place_unmap(ep);
    }
}

it_status_t uiw_ep_aim(struct ual_ep *ual, const struct itx_aim *aim, it_length_t *used)
{
    struct uiw_ep *ep = uiw_ep_of(ual);

    if (atomic_load_explicit(&ep->claim, memory_order_acquire))
        return IT_ERR_INVALID_EP_STATE; /* frozen: the token is taken */
    uiw_reader_take(ep);
    if (ep->rx.aim.current)
        aim_give_back(ep);
    *used = ep->rx.aim.used;
    ep->rx.aim = (struct uiw_aim){0};
    if (aim)
        ep->rx.aim = (struct uiw_aim){.octets = aim->octets,
                                      .length = (uint32_t)aim->length,
                                      .skip = aim->skip,
                                      .least = aim->least,
                                      .mark = aim->mark};
    uiw_reader_drop(ep);
    return IT_SUCCESS;
}
