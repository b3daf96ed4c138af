/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes every call on an EP in every state in which an EP can be kept. Checks the result and the
 * state afterwards.
 */
#include "udapl_kit.h"

#include <stdio.h>

/* ---------------------------------------------------------------- states */

static struct kit_side near, far;

struct case_ep {
    DAT_EP_HANDLE ep, peer; /* the peer's EP, or DAT_HANDLE_NULL */
    DAT_PSP_HANDLE psp;
    DAT_RSP_HANDLE rsp;
    DAT_CR_HANDLE cr;
};

static DAT_CONN_QUAL free_qual(struct kit_side *side)
{
    DAT_CONN_QUAL qual;

    CHECK_DAT(dat_psp_free(kit_listen(side, DAT_PSP_CONSUMER_FLAG, &qual)));
    return qual;
}

static void enter_unconfigured(struct case_ep *made)
{
    CHECK_DAT(dat_ep_create(near.ia, DAT_HANDLE_NULL, DAT_HANDLE_NULL, DAT_HANDLE_NULL,
                            DAT_HANDLE_NULL, NULL, &made->ep));
}

static void enter_unconnected(struct case_ep *made)
{
    made->ep = kit_ep(&near);
}

static void enter_reserved(struct case_ep *made)
{
    made->ep = kit_ep(&near);
    CHECK_DAT(dat_rsp_create(near.ia, free_qual(&near), made->ep, near.cr, &made->rsp));
}

static void enter_passive(struct case_ep *made)
{
    DAT_CONN_QUAL qual = free_qual(&near);

    made->ep = kit_ep(&near);
    CHECK_DAT(dat_rsp_create(near.ia, qual, made->ep, near.cr, &made->rsp));
    made->peer = kit_ep(&far);
    kit_connect(&far, made->peer, qual);
    made->cr = kit_request(&near);
}

static void enter_tentative(struct case_ep *made)
{
    DAT_CR_PARAM request;
    DAT_CONN_QUAL qual;

    made->psp = kit_listen(&near, DAT_PSP_PROVIDER_FLAG, &qual);
    made->peer = kit_ep(&far);
    kit_connect(&far, made->peer, qual);
    made->cr = kit_request(&near);
    CHECK_DAT(dat_cr_query(made->cr, DAT_CR_FIELD_ALL, &request));
    made->ep = request.local_ep_handle;
    CHECK(made->ep);
}

static void enter_active(struct case_ep *made)
{
    DAT_CONN_QUAL qual;

    made->psp = kit_listen(&far, DAT_PSP_CONSUMER_FLAG, &qual);
    made->ep = kit_ep(&near);
    kit_connect(&near, made->ep, qual);
    made->cr = kit_request(&far);
}

static void enter_connected(struct case_ep *made)
{
    enter_active(made);
    made->peer = kit_ep(&far);
    CHECK_DAT(dat_cr_accept(made->cr, made->peer, 0, NULL));
    made->cr = DAT_HANDLE_NULL;
    (void)kit_next(far.connect, DAT_CONNECTION_EVENT_ESTABLISHED);
    (void)kit_next(near.connect, DAT_CONNECTION_EVENT_ESTABLISHED);
}

static void enter_disconnected(struct case_ep *made)
{
    enter_connected(made);
    CHECK_DAT(dat_ep_disconnect(made->ep, DAT_CLOSE_ABRUPT_FLAG));
    (void)kit_next(near.connect, DAT_CONNECTION_EVENT_DISCONNECTED);
    (void)kit_next(far.connect, DAT_CONNECTION_EVENT_DISCONNECTED);
}

enum {
    UNCONFIGURED,
    UNCONNECTED,
    RESERVED,
    PASSIVE,
    TENTATIVE,
    ACTIVE,
    CONNECTED,
    DISCONNECTED,
    STATES
};

static const struct {
    const char *name;
    void (*enter)(struct case_ep *made);
    DAT_EP_STATE state;
} states[STATES] = {
    [UNCONFIGURED] = {"UNCONFIGURED", enter_unconfigured, DAT_EP_STATE_UNCONFIGURED_UNCONNECTED},
    [UNCONNECTED] = {"UNCONNECTED", enter_unconnected, DAT_EP_STATE_UNCONNECTED},
    [RESERVED] = {"RESERVED", enter_reserved, DAT_EP_STATE_RESERVED},
    [PASSIVE] = {"PASSIVE", enter_passive, DAT_EP_STATE_PASSIVE_CONNECTION_PENDING},
    [TENTATIVE] = {"TENTATIVE", enter_tentative, DAT_EP_STATE_UNCONFIGURED_TENTATIVE},
    [ACTIVE] = {"ACTIVE", enter_active, DAT_EP_STATE_ACTIVE_CONNECTION_PENDING},
    [CONNECTED] = {"CONNECTED", enter_connected, DAT_EP_STATE_CONNECTED},
    [DISCONNECTED] = {"DISCONNECTED", enter_disconnected, DAT_EP_STATE_DISCONNECTED},
};

/* ---------------------------------------------------------------- calls */

static DAT_LMR_TRIPLET segment;
static DAT_RMR_TRIPLET target;
static DAT_RMR_HANDLE rmr;
static DAT_RMR_CONTEXT key;
static DAT_EP_HANDLE joined; /* CONNECTED throughout */

#define CALL(name, expression)                                                                     \
    static DAT_RETURN name(DAT_EP_HANDLE ep)                                                       \
    {                                                                                              \
        return expression;                                                                         \
    }
#define FLAGS DAT_COMPLETION_SUPPRESS_FLAG

CALL(query, dat_ep_query(ep, DAT_EP_FIELD_ALL, &(DAT_EP_PARAM){.ep_state = DAT_EP_STATE_CONNECTED}))
CALL(get_status, dat_ep_get_status(ep, &(DAT_EP_STATE){DAT_EP_STATE_CONNECTED}, NULL, NULL))
CALL(modify, dat_ep_modify(ep, DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS,
                           &(DAT_EP_PARAM){.ep_attr = {.max_recv_dtos = 5}}))
CALL(connect_it, dat_ep_connect(ep, (DAT_IA_ADDRESS_PTR)(void *)near.buffer, 7, 1000, 0, NULL,
                                DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG))
CALL(dup_connect, dat_ep_dup_connect(ep, joined, 1000, 0, NULL, DAT_QOS_BEST_EFFORT))
CALL(duplicate_of, dat_ep_dup_connect(near.ep, ep, 1000, 0, NULL, DAT_QOS_BEST_EFFORT))
CALL(reserve, dat_rsp_create(near.ia, 45251, ep, near.cr, &(DAT_RSP_HANDLE){NULL}))
CALL(post_send, dat_ep_post_send(ep, 1, &segment, kit_cookie(1), FLAGS))
CALL(post_write, dat_ep_post_rdma_write(ep, 1, &segment, kit_cookie(1), &target, FLAGS))
CALL(post_read, dat_ep_post_rdma_read(ep, 1, &segment, kit_cookie(1), &target, FLAGS))
CALL(post_recv, dat_ep_post_recv(ep, 1, &segment, kit_cookie(1), DAT_COMPLETION_DEFAULT_FLAG))
CALL(bind_window, dat_rmr_bind(rmr, near.lmr, &segment, DAT_MEM_PRIV_REMOTE_READ_FLAG,
                               DAT_VA_TYPE_VA, ep, kit_cookie(1), FLAGS, &key))
CALL(reset, dat_ep_reset(ep))
CALL(disconnect, dat_ep_disconnect(ep, DAT_CLOSE_ABRUPT_FLAG))
CALL(disconnect_gracefully, dat_ep_disconnect(ep, DAT_CLOSE_GRACEFUL_FLAG))
CALL(free_it, dat_ep_free(ep))

enum {
    OK = DAT_SUCCESS,
    NO = DAT_INVALID_STATE,
    ANY = -1 /* another test's */
};

/*
 * Results in the order of the states above. ANY: the call takes its time, so the state is not
 * checked.
 */
static const struct {
    const char *name;
    DAT_RETURN (*call)(DAT_EP_HANDLE ep);
    int want[STATES];
} calls[] = {
    {"query", query, {OK, OK, OK, OK, OK, OK, OK, OK}},
    {"get_status", get_status, {OK, OK, OK, OK, OK, OK, OK, OK}},
    {"modify", modify, {OK, OK, OK, OK, OK, NO, NO, NO}},
    {"connect", connect_it, {NO, ANY, NO, NO, NO, NO, NO, NO}},
    {"dup_connect", dup_connect, {NO, ANY, NO, NO, NO, NO, NO, NO}},
    {"duplicate_of", duplicate_of, {NO, NO, NO, NO, NO, NO, ANY, NO}},
    {"reserve", reserve, {ANY, ANY, NO, NO, NO, NO, NO, NO}},
    {"post_send", post_send, {NO, NO, NO, NO, NO, NO, OK, OK}},
    {"post_write", post_write, {NO, NO, NO, NO, NO, NO, OK, OK}},
    {"post_read", post_read, {NO, NO, NO, NO, NO, NO, OK, OK}},
    {"post_recv", post_recv, {NO, OK, OK, OK, NO, OK, OK, OK}},
    {"bind", bind_window, {NO, NO, NO, NO, NO, NO, OK, OK}},
    {"reset", reset, {OK, OK, NO, NO, NO, NO, NO, OK}},
    {"disconnect", disconnect, {NO, NO, NO, NO, NO, ANY, ANY, OK}},
    {"disconnect gracefully", disconnect_gracefully, {NO, NO, NO, NO, NO, ANY, ANY, OK}},
    {"free", free_it, {OK, OK, NO, NO, NO, OK, OK, OK}},
};

/* ---------------------------------------------------------------- a cell */

static void drain(DAT_EVD_HANDLE evd)
{
    DAT_EVENT event;

    while (dat_evd_dequeue(evd, &event) == DAT_SUCCESS) {
    }
}

/* Frees everything that was made. The call may have freed some of it. */
static void leave(struct case_ep *made, bool freed)
{
    DAT_EP_PARAM param;

    if (made->cr)
        CHECK_DAT(dat_cr_reject(made->cr, 0, NULL));
    if (made->psp)
        CHECK_DAT(dat_psp_free(made->psp));
    if (made->rsp)
        CHECK_DAT(dat_rsp_free(made->rsp));
    /* A tentative EP is freed with its request. */
    if (!freed && dat_ep_query(made->ep, DAT_EP_FIELD_ALL, &param) == DAT_SUCCESS)
        CHECK_DAT(dat_ep_free(made->ep));
    if (made->peer)
        CHECK_DAT(dat_ep_free(made->peer));
    drain(near.request);
    drain(near.recv);
    drain(near.connect);
    drain(far.connect);
}

static void check_cell(size_t call, int column)
{
    struct case_ep made = {DAT_HANDLE_NULL, DAT_HANDLE_NULL, DAT_HANDLE_NULL, DAT_HANDLE_NULL,
                           DAT_HANDLE_NULL};
    int want = calls[call].want[column];
    char context[64];
    DAT_RETURN got;

    if (want == ANY)
        return;
    snprintf(context, sizeof(context), "%s in %s", calls[call].name, states[column].name);
    check_context(context);
    states[column].enter(&made);
    EXPECT_EQ(states[column].state, kit_state(made.ep));
    got = calls[call].call(made.ep);
    EXPECT_TYPE((DAT_RETURN_TYPE)want, got);
    if (DAT_GET_TYPE(got) != DAT_SUCCESS)
        EXPECT_EQ(states[column].state, kit_state(made.ep));
    else if (calls[call].call == reset && column == DISCONNECTED)
        EXPECT_EQ(DAT_EP_STATE_UNCONNECTED, kit_state(made.ep));
    leave(&made, calls[call].call == free_it && got == DAT_SUCCESS);
    check_context(NULL);
}

int main(void)
{
    struct case_ep connected = {DAT_HANDLE_NULL, DAT_HANDLE_NULL, DAT_HANDLE_NULL, DAT_HANDLE_NULL,
                                DAT_HANDLE_NULL};

    kit_side_open(&near);
    kit_side_open(&far);
    segment = kit_local(&near, 0, 16);
    target = kit_remote(&far, 0, 16);
    CHECK_DAT(dat_rmr_create(near.pz, &rmr));
    enter_connected(&connected);
    joined = connected.ep;
    for (size_t call = 0; call < sizeof(calls) / sizeof(*calls); call++)
        for (int column = 0; column < STATES; column++)
            check_cell(call, column);
    leave(&connected, false);
    CHECK_DAT(dat_rmr_free(rmr));
    kit_side_close(&near);
    kit_side_close(&far);
    check_done();
    return 0;
}
