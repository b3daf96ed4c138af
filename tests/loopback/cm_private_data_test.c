/* SPDX-License-Identifier: BSD-2-Clause */
/* Private data of accept and reject, up to the maximum. */
#include <criterion/criterion.h>
#include <string.h>

#include "support/fixture_node.h"

Test(cm_private_data, arrives)
{
    static unsigned char data[IT_MAX_PRIV_DATA + 1];
    struct fx_node a;
    struct fx_node b;
    it_ep_handle_t a_ep;
    it_ep_handle_t b_ep;
    it_cn_est_identifier_t id;
    it_event_t event;
    uint16_t port = 0;

    fx_node_open(&a);
    fx_node_open(&b);
    a_ep = fx_ep(&a, NULL);
    b_ep = fx_ep(&b, NULL);
    fx_fill(data, sizeof(data), 3);
    (void)fx_listen(&b, &port);
    fx_connect(&a, a_ep, port);
    id = fx_request(&b, NULL);
    EXPECT_OK(it_ep_accept(b_ep, id, data, IT_MAX_PRIV_DATA));
    event = fx_conn(a.conn_evd, a_ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
    EXPECT_EQ(IT_TRUE, event.conn.private_data_present);
    EXPECT(memcmp(event.conn.private_data, data, IT_MAX_PRIV_DATA) == 0);
    event = fx_conn(b.conn_evd, b_ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
    EXPECT_EQ(IT_FALSE, event.conn.private_data_present);
    EXPECT_OK(it_ep_disconnect(a_ep, data, 0));
    fx_conn(a.conn_evd, a_ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
    EXPECT_OK(it_ep_reset(a_ep));
    fx_connect(&a, a_ep, port);
    EXPECT_OK(it_reject(fx_request(&b, NULL), data, IT_MAX_PRIV_DATA));
    event = fx_conn(a.conn_evd, a_ep, IT_CM_MSG_CONN_PEER_REJECT_EVENT);
    EXPECT_EQ(IT_TRUE, event.conn.private_data_present);
    EXPECT(memcmp(event.conn.private_data, data, IT_MAX_PRIV_DATA) == 0);
    EXPECT_EQ(IT_EP_STATE_NONOPERATIONAL, fx_ep_state(a_ep));
    fx_node_close(&a);
    fx_node_close(&b);
    check_done();
}
