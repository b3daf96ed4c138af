/* SPDX-License-Identifier: BSD-2-Clause */
#include "link/ofa_hand.h"

#include "link/ofa_early.h"
#include "link/ofa_greeting.h"
#include "link/ofa_knock.h"
#include "link/ofa_link.h"
#include "link/ofa_number.h"
#include "memory/ofa_adapter.h"
#include "port/ofa_gid.h"
#include "post/ofa_post.h"
#include "support/ofa_log.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

#define NUMBERS_BY_HAND (1024u << 8) /* ports below are not given to processes */
#define PSN_MASK        0xffffffu
#define ORD_AT_FIRST    16 /* of an end that is in RTR only: it has not been told yet */
#define TIMEOUT_LEAST   2000000u
#define FOR_EVER        (UINT64_C(3600) * 24 * 365 * 1000000)

static bool is_rts(const struct ofa_qp *qp)
{
    return atomic_load_explicit(&qp->state, memory_order_relaxed) == IBV_QPS_RTS;
}

static uint32_t ord_of(const struct ofa_qp *qp)
{
    return is_rts(qp) ? qp->attr.max_rd_atomic : ORD_AT_FIRST;
}

/* As long as InfiniBand would try, and 2 seconds at least. Microseconds. */
static uint64_t timeout_of(const struct ofa_qp *qp)
{
    uint64_t limit;

    if (qp->attr.timeout == 0)
        return FOR_EVER;
    limit = (UINT64_C(4096) << (qp->attr.timeout & 31)) / 1000 * 4 * (qp->attr.retry_cnt + 1u);
    return limit > TIMEOUT_LEAST ? limit : TIMEOUT_LEAST;
}

static void greet(const struct ofa_qp *qp, uint64_t nonce, bool knock,
                  unsigned char bytes[OFA_GREETING_BYTES])
{
    struct ofa_greeting greeting = {.knock = knock,
                                    .type = (uint8_t)qp->base.qp_type,
                                    .to_number = qp->attr.dest_qp_num,
                                    .from_number = qp->base.qp_num,
                                    .to_psn = qp->attr.rq_psn & PSN_MASK,
                                    .from_psn =
                                        is_rts(qp) ? qp->attr.sq_psn & PSN_MASK : OFA_PSN_UNKNOWN,
                                    .nonce = nonce};

    ofa_greeting_encode(&greeting, bytes);
}

/* Whether both ends mean each other. What an end cannot know yet is not compared. */
static bool matches(const struct ofa_qp *qp, const struct ofa_greeting *greeting)
{
    if (greeting->to_number != qp->base.qp_num || greeting->from_number != qp->attr.dest_qp_num ||
        greeting->type != (uint8_t)qp->base.qp_type)
        return false;
    if (greeting->from_psn != OFA_PSN_UNKNOWN && greeting->from_psn != (qp->attr.rq_psn & PSN_MASK))
        return false;
    return !is_rts(qp) || greeting->to_psn == (qp->attr.sq_psn & PSN_MASK);
}

/* ---- The end that connects ------------------------------------------------------------------ */

static bool connects(const struct ofa_qp *qp, const struct sockaddr_in6 *peer)
{
    struct ofa_gid table[OFA_MAX_GIDS];
    int count;

    if (qp->base.qp_num != qp->attr.dest_qp_num)
        return qp->base.qp_num < qp->attr.dest_qp_num;
    count = ofa_gid_table(qp->context->device, table);
    return qp->attr.ah_attr.grh.sgid_index < count &&
           memcmp(table[qp->attr.ah_attr.grh.sgid_index].gid.raw, &peer->sin6_addr, 16) < 0;
}

/* The link is CONNECTING, so nobody else touches the EP. 0 or errno. */
static int attempt(struct ofa_qp *qp, const struct sockaddr_in6 *peer)
{
    unsigned char bytes[OFA_GREETING_BYTES];
    struct ofa_call call = {.peer = (const struct sockaddr *)(const void *)peer,
                            .data = bytes,
                            .length = sizeof(bytes),
                            .timeout_us = timeout_of(qp)};
    int error = ofa_link_set_depths(qp, qp->attr.max_dest_rd_atomic, ord_of(qp));

    if (error != 0)
        return error;
    greet(qp, qp->link.nonce, false, bytes);
    return ofa_errno(ofa_link_attempt(qp->ep, &call));
}

/* False: somebody else has begun, or there is no nonce to be had. */
static bool begin_locked(struct ofa_qp *qp)
{
    uint64_t nonce;

    if (qp->link.state != OFA_LINK_IDLE ||
        getrandom(&nonce, sizeof(nonce), 0) != (ssize_t)sizeof(nonce))
        return false;
    qp->link.state = OFA_LINK_CONNECTING;
    qp->link.nonce = nonce | 1; /* 0 says that the peer has connected */
    return true;
}

static int connect_now(struct ofa_qp *qp, const struct sockaddr_in6 *peer)
{
    bool begun;
    int error;

    (void)pthread_mutex_lock(&qp->context->lock);
    begun = begin_locked(qp);
    (void)pthread_mutex_unlock(&qp->context->lock);
    if (!begun)
        return 0;
    error = attempt(qp, peer);
    if (error == 0)
        return 0;
    (void)pthread_mutex_lock(&qp->context->lock);
    if (qp->link.state == OFA_LINK_CONNECTING)
        qp->link.state = OFA_LINK_IDLE;
    (void)pthread_mutex_unlock(&qp->context->lock);
    return error;
}

/* On the IA's thread, so that nothing here waits for it. */
static void connect_locked(struct ofa_qp *qp)
{
    struct sockaddr_in6 peer;

    if (ofa_gid_address(qp->context->device, &qp->attr.ah_attr,
                        (uint16_t)(qp->attr.dest_qp_num >> 8), &peer) &&
        begin_locked(qp) && attempt(qp, &peer) != 0)
        qp->link.state = OFA_LINK_IDLE;
}

bool ofa_hand_agrees_locked(struct ofa_qp *qp, const it_connection_event_t *event)
{
    struct ofa_greeting answer;

    if (qp->link.nonce == 0)
        return true; /* compared when it was accepted */
    if (event->private_data_present && ofa_greeting_decode(event->private_data, &answer) &&
        answer.nonce == qp->link.nonce && matches(qp, &answer))
        return true;
    ofa_log("queue pair 0x%06x: the peer is another one than was meant", qp->base.qp_num);
    (void)it_ep_disconnect(qp->ep, NULL, 0);
    return false;
}

/* ---- The end that is connected to ----------------------------------------------------------- */

static it_status_t answer(struct ofa_qp *qp, it_cn_est_identifier_t request,
                          const struct ofa_greeting *greeting)
{
    unsigned char bytes[OFA_GREETING_BYTES];

    (void)ofa_link_set_depths(qp, qp->attr.max_dest_rd_atomic, ord_of(qp));
    greet(qp, greeting->nonce, false, bytes);
    return it_ep_accept(qp->ep, request, bytes, sizeof(bytes));
}

/* The peer sends, and this end is the one that connects: it has not come to RTS, and may never. */
static void take_knock_locked(struct ofa_qp *qp, const struct ofa_early *knock)
{
    int state = atomic_load_explicit(&qp->state, memory_order_relaxed);

    if (qp->link.state == OFA_LINK_IDLE && (state == IBV_QPS_RTR || state == IBV_QPS_RTS)) {
        if (matches(qp, &knock->greeting))
            connect_locked(qp);
        return;
    }
    /*
     * Its program has not got so far, or has yet to reset a queue pair that was connected before.
     */
    (void)ofa_early_put_locked(&qp->link.knocks, knock);
}

/*
 * The request that is to be rejected: this one, or one that it displaces; 0: none. On the IA's
 * thread, so that nothing here waits for it.
 */
static it_cn_est_identifier_t take_request_locked(struct ofa_context *context,
                                                  const it_conn_request_event_t *event)
{
    struct ofa_early early = {.source = event->source_addr};
    struct ofa_qp *qp;

    if (!event->private_data_present || !ofa_greeting_decode(event->private_data, &early.greeting))
        return event->cn_est_id;
    qp = ofa_number_find_locked(context, early.greeting.to_number);
    if (!qp || qp->by_cm)
        return event->cn_est_id;
    if (early.greeting.knock) {
        take_knock_locked(qp, &early);
        return event->cn_est_id; /* that is all that a knock wants */
    }
    early.request = event->cn_est_id;
    if (qp->link.state != OFA_LINK_AWAITED)
        return ofa_early_put_locked(&qp->link.requests, &early); /* as of a knock */
    if (!matches(qp, &early.greeting))
        return event->cn_est_id;
    qp->link.state = OFA_LINK_CONNECTING;
    if (answer(qp, event->cn_est_id, &early.greeting) != IT_SUCCESS)
        qp->link.state = OFA_LINK_AWAITED; /* that attempt is over */
    return 0;
}

void ofa_hand_request(struct ofa_context *context, const it_conn_request_event_t *event)
{
    it_cn_est_identifier_t rejected;

    (void)pthread_mutex_lock(&context->lock);
    rejected = take_request_locked(context, event);
    (void)pthread_mutex_unlock(&context->lock);
    if (rejected != 0) {
        ofa_log("a connection to no queue pair of ours is rejected");
        (void)it_reject(rejected, NULL, 0);
    }
}

/* Takes the request of the right peer, if it is here; if not, it is awaited from now on. */
static bool await(struct ofa_qp *qp, struct ofa_early *early)
{
    bool mine;

    (void)pthread_mutex_lock(&qp->context->lock);
    mine = ofa_early_take_locked(&qp->link.requests, qp, matches, early);
    if (qp->link.state == OFA_LINK_IDLE || qp->link.state == OFA_LINK_AWAITED)
        qp->link.state = mine ? OFA_LINK_CONNECTING : OFA_LINK_AWAITED;
    (void)pthread_mutex_unlock(&qp->context->lock);
    return mine;
}

/* A request whose peer has given up meanwhile does not stand in the way of another one. */
static void answer_now(struct ofa_qp *qp)
{
    struct ofa_early early;

    while (await(qp, &early) && answer(qp, early.request, &early.greeting) != IT_SUCCESS) {
        (void)pthread_mutex_lock(&qp->context->lock);
        if (qp->link.state == OFA_LINK_CONNECTING)
            qp->link.state = OFA_LINK_AWAITED;
        (void)pthread_mutex_unlock(&qp->context->lock);
    }
    ofa_early_drop(qp->context, &qp->link.requests);
}

/* ---- Both ----------------------------------------------------------------------------------- */

static enum ofa_link_state state_of(struct ofa_qp *qp)
{
    enum ofa_link_state state;

    (void)pthread_mutex_lock(&qp->context->lock);
    state = qp->link.state;
    (void)pthread_mutex_unlock(&qp->context->lock);
    return state;
}

/* An end that was accepted in RTR is told its depth of reads now. */
static void raise_ord(struct ofa_qp *qp)
{
    it_ep_attributes_t attributes;

    memset(&attributes, 0, sizeof(attributes));
    attributes.srv.rc.rdma_read_ord = qp->attr.max_rd_atomic;
    (void)it_ep_modify(qp->ep, IT_EP_PARAM_MAX_ORD, &attributes);
}

/* Whether the peer has asked this end to connect. */
static bool was_knocked(struct ofa_qp *qp)
{
    struct ofa_early knock;
    bool knocked;

    (void)pthread_mutex_lock(&qp->context->lock);
    knocked = ofa_early_take_locked(&qp->link.knocks, qp, matches, &knock);
    (void)pthread_mutex_unlock(&qp->context->lock);
    ofa_early_drop(qp->context, &qp->link.knocks);
    return knocked;
}

int ofa_hand_step(struct ofa_qp *qp)
{
    unsigned char bytes[OFA_GREETING_BYTES];
    struct sockaddr_in6 peer;

    if (qp->attr.dest_qp_num < NUMBERS_BY_HAND)
        return 0; /* rdma_init_qp_attr has given it: rdma_cm connects */
    if (state_of(qp) == OFA_LINK_CONNECTING || state_of(qp) == OFA_LINK_UP) {
        raise_ord(qp);
        return 0;
    }
    if (!ofa_gid_address(qp->context->device, &qp->attr.ah_attr,
                         (uint16_t)(qp->attr.dest_qp_num >> 8), &peer))
        return EINVAL;
    if (connects(qp, &peer))
        return is_rts(qp) || was_knocked(qp) ? connect_now(qp, &peer) : 0;
    answer_now(qp);
    if (!is_rts(qp) || state_of(qp) != OFA_LINK_AWAITED)
        return 0;
    greet(qp, 0, true, bytes);
    return ofa_knock(qp, &peer, bytes, sizeof(bytes), timeout_of(qp));
}

void ofa_hand_forget(struct ofa_qp *qp)
{
    ofa_early_drop(qp->context, &qp->link.requests);
    ofa_early_drop(qp->context, &qp->link.knocks);
}
