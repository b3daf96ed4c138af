/* SPDX-License-Identifier: BSD-2-Clause */
/* Every cell of the endpoint's state machine, the connection events, and it_ep_reset. */
#include "unit/fixture_world.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(ual_ep_state, .init = world_init, .fini = world_fini);

/* A letter per state, in the order of their numbers. */
static const char letters[] = "U12PCNW";

/*
 * Next state by step: connect, accept, wait for a request, arrival, established, attempt failed,
 * disconnect, closed, broken, reset, flush. - is refused.
 */
static const char *const expected[] = {
    "1PW------UN", /* U: unconnected */
    "---2CNN---N", /* 1: active pending */
    "----CNN---N", /* 2: accept has arrived */
    "----CNN---N", /* P: passive pending */
    "------NNN-N", /* C: connected */
    "---------U-", /* N: nonoperational */
    "----CNN---N", /* W: waiting for the MPA Request */
};

Test(ual_ep_state, every_cell)
{
    struct ual_ep *ep = (struct ual_ep *)(void *)world.ep;

    cr_assert_eq(strlen(expected[0]), UAL_EP_STEPS);
    for (int state = 0; state < 7; state++) {
        for (int step = 0; step < UAL_EP_STEPS; step++) {
            char want = expected[state][step];
            it_ep_state_rc_t before = (it_ep_state_rc_t)99;
            bool moved;

            fake_ep_force(world.ep, (it_ep_state_rc_t)state);
            base_lock_take(&ep->lock);
            moved = ual_ep_step_locked(ep, (enum ual_ep_step)step, &before);
            base_lock_drop(&ep->lock);
            cr_assert_eq(moved, want != '-', "state %c step %d", letters[state], step);
            cr_assert_eq((int)before, state);
            cr_assert_eq(letters[ual_ep_state(ep)], moved ? want : letters[state],
                         "state %c step %d", letters[state], step);
        }
    }
}

Test(ual_ep_state, the_state_before_need_not_be_asked_for)
{
    struct ual_ep *ep = (struct ual_ep *)(void *)world.ep;

    base_lock_take(&ep->lock);
    cr_assert(ual_ep_step_locked(ep, UAL_EP_CONNECT, NULL));
    cr_assert_not(ual_ep_step_locked(ep, UAL_EP_CONNECT, NULL));
    base_lock_drop(&ep->lock);
}

Test(ual_ep_state, report_fills_the_event)
{
    unsigned char data[IT_MAX_PRIV_DATA + 10];
    struct ual_conn_news news = {
        .number = IT_CM_MSG_CONN_ESTABLISHED_EVENT,
        .cn_est_id = 1,
        .ird = 2,
        .ord = 3,
        .reject_code = IT_CN_REJ_TIMEOUT,
        .private_data = data,
        .private_length = sizeof(data),
    };
    struct ual_ep *ep = (struct ual_ep *)(void *)world.ep;
    it_event_t event;

    memset(data, 0x5a, sizeof(data));
    ep->dst_path.timeout = 44;
    ual_ep_report(ep, &news);
    cr_assert_eq(it_evd_dequeue(world.conn_evd, &event), IT_SUCCESS);
    cr_assert_eq(event.conn.event_number, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
    cr_assert_eq(event.conn.evd, world.conn_evd);
    cr_assert_eq(event.conn.ep, world.ep);
    cr_assert_eq(event.conn.cn_est_id, 1);
    cr_assert_eq(event.conn.rdma_read_ird, 2);
    cr_assert_eq(event.conn.rdma_read_ord, 3);
    cr_assert_eq(event.conn.dst_path.timeout, 44);
    cr_assert_eq(event.conn.reject_reason_code, IT_CN_REJ_TIMEOUT);
    cr_assert_eq(event.conn.private_data_present, IT_TRUE);
    cr_assert_eq(memcmp(event.conn.private_data, data, IT_MAX_PRIV_DATA), 0);

    news = (struct ual_conn_news){.number = IT_CM_MSG_CONN_BROKEN_EVENT};
    ual_ep_report(ep, &news);
    cr_assert_eq(it_evd_dequeue(world.conn_evd, &event), IT_SUCCESS);
    cr_assert_eq(event.conn.private_data_present, IT_FALSE);
    cr_assert_eq(event.conn.private_data[0], 0);
}

Test(ual_ep_state, reset_by_state)
{
    cr_assert_eq(it_ep_reset(NULL), IT_ERR_INVALID_EP);
    for (int state = 0; state < 7; state++) {
        it_status_t want = state == IT_EP_STATE_UNCONNECTED || state == IT_EP_STATE_NONOPERATIONAL
                               ? IT_SUCCESS
                               : IT_ERR_INVALID_EP_STATE;

        fake_ep_force(world.ep, (it_ep_state_rc_t)state);
        cr_assert_eq(it_ep_reset(world.ep), want, "state %d", state);
    }
    cr_assert_eq(fake.calls.ep_reset, 1);
    fake_ep_force(world.ep, IT_EP_STATE_NONOPERATIONAL);
    fake.answer = IT_ERR_EP_TIMEWAIT;
    cr_assert_eq(it_ep_reset(world.ep), IT_ERR_EP_TIMEWAIT);
    atomic_store(&((struct ual_ia *)(void *)world.ia)->evd.failed, true);
    cr_assert_eq(it_ep_reset(world.ep), IT_ERR_IA_CATASTROPHE);
}
