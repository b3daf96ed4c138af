/* SPDX-License-Identifier: BSD-2-Clause */
#include "ual/object/ual_ep_state.h"

#include "base/base_log.h"
#include "evd/deliver/evd_deliver.h"
#include "evd/evd_private_data.h"

#include <string.h>

#define UAL_EP_STATES ((unsigned)IT_EP_STATE_PASSIVE_WAIT_RDMA_TRANS_REQ + 1)

enum ual_ep_cell {
    UAL_EP_NO, /* 0, so that a step that the table does not name is illegal */
    /* The others are the next state plus one. */
    UAL_EP_TO_U = IT_EP_STATE_UNCONNECTED + 1,
    UAL_EP_TO_A1 = IT_EP_STATE_ACTIVE1_CONNECTION_PENDING + 1,
    UAL_EP_TO_A2 = IT_EP_STATE_ACTIVE2_CONNECTION_PENDING + 1,
    UAL_EP_TO_P = IT_EP_STATE_PASSIVE_CONNECTION_PENDING + 1,
    UAL_EP_TO_C = IT_EP_STATE_CONNECTED + 1,
    UAL_EP_TO_N = IT_EP_STATE_NONOPERATIONAL + 1,
    UAL_EP_TO_W = IT_EP_STATE_PASSIVE_WAIT_RDMA_TRANS_REQ + 1
};

static const unsigned char ual_ep_table[UAL_EP_STATES][UAL_EP_STEPS] = {
    [IT_EP_STATE_UNCONNECTED] =
        {
            [UAL_EP_CONNECT] = UAL_EP_TO_A1,
            [UAL_EP_ACCEPT] = UAL_EP_TO_P,
            [UAL_EP_WAIT_REQUEST] = UAL_EP_TO_W,
            [UAL_EP_RESET] = UAL_EP_TO_U,
            [UAL_EP_FLUSH] = UAL_EP_TO_N,
        },
    [IT_EP_STATE_ACTIVE1_CONNECTION_PENDING] =
        {
            [UAL_EP_ARRIVAL] = UAL_EP_TO_A2,
            [UAL_EP_ESTABLISHED] = UAL_EP_TO_C,
            [UAL_EP_ATTEMPT_FAILED] = UAL_EP_TO_N,
            [UAL_EP_DISCONNECT] = UAL_EP_TO_N,
            [UAL_EP_FLUSH] = UAL_EP_TO_N,
        },
    [IT_EP_STATE_ACTIVE2_CONNECTION_PENDING] =
        {
            [UAL_EP_ESTABLISHED] = UAL_EP_TO_C,
            [UAL_EP_ATTEMPT_FAILED] = UAL_EP_TO_N,
            [UAL_EP_DISCONNECT] = UAL_EP_TO_N,
            [UAL_EP_FLUSH] = UAL_EP_TO_N,
        },
    [IT_EP_STATE_PASSIVE_CONNECTION_PENDING] =
        {
            [UAL_EP_ESTABLISHED] = UAL_EP_TO_C,
            [UAL_EP_ATTEMPT_FAILED] = UAL_EP_TO_N,
            [UAL_EP_DISCONNECT] = UAL_EP_TO_N,
            [UAL_EP_FLUSH] = UAL_EP_TO_N,
        },
    [IT_EP_STATE_CONNECTED] =
        {
            [UAL_EP_DISCONNECT] = UAL_EP_TO_N,
            [UAL_EP_FLUSH] = UAL_EP_TO_N,
            [UAL_EP_CLOSED] = UAL_EP_TO_N,
            [UAL_EP_BROKEN] = UAL_EP_TO_N,
        },
    [IT_EP_STATE_NONOPERATIONAL] =
        {
            [UAL_EP_RESET] = UAL_EP_TO_U,
        },
    [IT_EP_STATE_PASSIVE_WAIT_RDMA_TRANS_REQ] =
        {
            [UAL_EP_ESTABLISHED] = UAL_EP_TO_C,
            [UAL_EP_ATTEMPT_FAILED] = UAL_EP_TO_N,
            [UAL_EP_DISCONNECT] = UAL_EP_TO_N,
            [UAL_EP_FLUSH] = UAL_EP_TO_N,
        },
};

static const char *ual_ep_ud_name(it_ep_state_ud_t state)
{
    return state == IT_EP_STATE_UD_OPERATIONAL ? "IT_EP_STATE_UD_OPERATIONAL"
                                               : "IT_EP_STATE_UD_NONOPERATIONAL";
}

const char *ual_ep_state_name(const struct ual_ep *ep)
{
    return ep->datagrams ? ual_ep_ud_name(ual_ep_ud_state(ep))
                         : itx_ep_state_string(ual_ep_state(ep));
}

it_status_t ual_ep_refuse_state(const char *call, const struct ual_ep *ep_handle)
{
    return base_refuse(IT_ERR_INVALID_EP_STATE, call, "ep_handle %p in %s", (const void *)ep_handle,
                       ual_ep_state_name(ep_handle));
}

bool ual_ep_step_locked(struct ual_ep *ep, enum ual_ep_step step, it_ep_state_rc_t *before)
{
    it_ep_state_rc_t state = ual_ep_state(ep);
    unsigned cell = ual_ep_table[state][step];

    base_lock_assert_held(&ep->lock);
    if (before)
        *before = state;
    if (cell == UAL_EP_NO)
        return false;
    /* Pairs with ual_ep_state: a thread that sees the state sees what was prepared for it. */
    atomic_store_explicit(&ep->state, (int)cell - 1, memory_order_release);
    base_log(BASE_LOG_INFO, "ep %p: %s to %s", (void *)ep, itx_ep_state_string(state),
             itx_ep_state_string((it_ep_state_rc_t)(cell - 1)));
    return true;
}

bool ual_ep_set_ud_state_locked(struct ual_ep *ep, it_ep_state_ud_t state)
{
    it_ep_state_ud_t before = ual_ep_ud_state(ep);

    base_lock_assert_held(&ep->lock);
    if (before == state)
        return false;
    atomic_store_explicit(&ep->state, (int)state, memory_order_release);
    base_log(BASE_LOG_INFO, "ep %p: %s to %s", (void *)ep, ual_ep_ud_name(before),
             ual_ep_ud_name(state));
    return true;
}

void ual_ep_report(struct ual_ep *ep, const struct ual_conn_news *news)
{
    it_event_t event;
    it_connection_event_t *conn = &event.conn;

    memset(&event, 0, sizeof(event));
    conn->event_number = news->number;
    conn->cn_est_id = news->cn_est_id;
    conn->ep = ual_ep_handle(ep);
    conn->rdma_read_ird = news->ird;
    conn->rdma_read_ord = news->ord;
    conn->reject_reason_code = news->reject_code;
    evd_private_data_put(&event, conn->private_data, &conn->private_data_present,
                         news->private_data, news->private_length);
    base_lock_take(&ep->lock);
    conn->dst_path = ep->dst_path;
    base_lock_drop(&ep->lock);
    if (!evd_deliver(ep->connect_evd, &event))
        evd_raise_affiliated_ep(&ual_ia_of(&ep->object)->evd, IT_ASYNC_AFF_EP_REQ_DROPPED,
                                ual_ep_handle(ep));
}
