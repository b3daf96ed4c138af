/* SPDX-License-Identifier: BSD-2-Clause */
/* An endpoint without EVDs: its completions and connection events block nothing. */
#include "udapl_kit.h"

#include "support/it_fixture.h"

#define MESSAGES 300 /* more than its queues hold */

static struct kit_side sides[2];
#define A (&sides[0])
#define B (&sides[1])

static DAT_EP_HANDLE quiet;

static void await_state(DAT_EP_STATE state)
{
    struct fx_patience patience = fx_patience_start("a state of the endpoint");

    while (kit_state(quiet) != state)
        fx_patience_check(&patience);
}

/* Waits until the queues are idle: all completions were taken. */
static void await_idle(void)
{
    struct fx_patience patience = fx_patience_start("idle queues");
    DAT_BOOLEAN recv_idle, request_idle;
    DAT_EP_STATE state;

    do {
        fx_patience_check(&patience);
        CHECK_DAT(dat_ep_get_status(quiet, &state, &recv_idle, &request_idle));
    } while (!recv_idle || !request_idle);
}

/* The answer does not wait for this Send, so a device may acknowledge many Sends late. */
static void send_quietly(DAT_LMR_TRIPLET *request, DAT_UINT64 i)
{
    struct fx_patience patience = fx_patience_start("room for a Send");
    DAT_RETURN result;

    while (result =
               dat_ep_post_send(A->ep, 1, request, kit_cookie(i), DAT_COMPLETION_SUPPRESS_FLAG),
           DAT_GET_TYPE(result) == DAT_INSUFFICIENT_RESOURCES)
        fx_patience_check(&patience);
    CHECK_DAT(result);
}

static void exchange(DAT_UINT64 i)
{
    DAT_LMR_TRIPLET request = kit_local(A, 0, 64), answer = kit_local(B, 0, 64);
    DAT_LMR_TRIPLET room[2] = {kit_local(A, 64, 64), kit_local(B, 64, 64)};

    CHECK_DAT(dat_ep_post_recv(quiet, 1, &room[1], kit_cookie(i), DAT_COMPLETION_DEFAULT_FLAG));
    CHECK_DAT(dat_ep_post_recv(A->ep, 1, &room[0], kit_cookie(i), DAT_COMPLETION_DEFAULT_FLAG));
    send_quietly(&request, i);
    CHECK_DAT(dat_ep_post_send(quiet, 1, &answer, kit_cookie(i), DAT_COMPLETION_DEFAULT_FLAG));
    (void)kit_completion(A->recv, DAT_DTO_RECEIVE, DAT_DTO_SUCCESS, i);
}

static void connect_quiet(void)
{
    DAT_CONN_QUAL port;
    DAT_PSP_HANDLE psp = kit_listen(B, DAT_PSP_CONSUMER_FLAG, &port);

    kit_connect(A, A->ep, port);
    CHECK_DAT(dat_cr_accept(kit_request(B), quiet, 0, NULL));
    (void)kit_next(A->connect, DAT_CONNECTION_EVENT_ESTABLISHED);
    CHECK_DAT(dat_psp_free(psp));
}

int main(void)
{
    kit_side_open(A);
    kit_side_open(B);
    CHECK_DAT(dat_ep_create(B->ia, B->pz, NULL, NULL, NULL, NULL, &quiet));
    connect_quiet();
    await_state(DAT_EP_STATE_CONNECTED);
    for (DAT_UINT64 i = 0; i < MESSAGES; i++) {
        exchange(i);
        if (i % 16 == 0)
            await_idle();
    }
    CHECK_DAT(dat_ep_disconnect(A->ep, DAT_CLOSE_ABRUPT_FLAG));
    (void)kit_next(A->connect, DAT_CONNECTION_EVENT_DISCONNECTED);
    await_state(DAT_EP_STATE_DISCONNECTED);
    CHECK_DAT(dat_ep_free(quiet));
    kit_side_close(A);
    kit_side_close(B);
    check_done();
    return 0;
}
