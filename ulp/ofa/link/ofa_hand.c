/* SPDX-License-Identifier: BSD-2-Clause */
#include "link/ofa_hand.h"

#include "link/ofa_early.h"
#include "link/ofa_greeting.h"
#include "link/ofa_link.h"
#include "link/ofa_number.h"
#include "link/ofa_silence.h"
#include "memory/ofa_adapter.h"
#include "port/ofa_gid.h"
#include "post/ofa_post.h"
#include "support/ofa_log.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

#define NUMBERS_BY_HAND (1024u << 8) /* lower ports are never assigned */
#define PSN_MASK        0xffffffu
#define ORD_AT_FIRST    16 /* of an end in RTR, which does not know its ORD yet */
#define TIMEOUT_LEAST   2000000u
#define ASK_US          2000000u
#define FOR_EVER        (UINT64_C(3600) * 24 * 365 * 1000000)

static bool is_rts(const struct ofa_qp *qp)
{
    return atomic_load_explicit(&qp->state, memory_order_relaxed) == IBV_QPS_RTS;
}

static uint32_t ord_of(const struct ofa_qp *qp)
{
    return is_rts(qp) ? qp->attr.max_rd_atomic : ORD_AT_FIRST;
}

/* Returns the time that InfiniBand would retry, in microseconds; at least 2 seconds. */
static uint64_t timeout_of(const struct ofa_qp *qp)
{
    uint64_t limit;

    if (qp->attr.timeout == 0)
        return FOR_EVER;
    limit = (UINT64_C(4096) << (qp->attr.timeout & 31)) / 1000 * 4 * (qp->attr.retry_cnt + 1u);
    return limit > TIMEOUT_LEAST ? limit : TIMEOUT_LEAST;
}

static struct ofa_greeting greeting_of(const struct ofa_qp *qp, uint64_t nonce,
                                       enum ofa_greeting_kind kind)
{
    return (struct ofa_greeting){.kind = (uint8_t)kind,
                                 .type = (uint8_t)qp->base.qp_type,
                                 .to_number = qp->attr.dest_qp_num,
                                 .from_number = qp->base.qp_num,
                                 .to_psn = qp->attr.rq_psn & PSN_MASK,
                                 .from_psn =
                                     is_rts(qp) ? qp->attr.sq_psn & PSN_MASK : OFA_PSN_UNKNOWN,
                                 .nonce = nonce};
}

static void greet(const struct ofa_qp *qp, uint64_t nonce, enum ofa_greeting_kind kind,
                  unsigned char bytes[OFA_GREETING_BYTES])
{
    struct ofa_greeting greeting = greeting_of(qp, nonce, kind);

    ofa_greeting_encode(&greeting, bytes);
}

static bool address_of_peer(const struct ofa_qp *qp, struct sockaddr_in6 *peer)
{
    return ofa_gid_address(qp->context->device, &qp->attr.ah_attr,
                           (uint16_t)(qp->attr.dest_qp_num >> 8), peer);
}

/* Returns true if both ends name each other. Values that an end cannot know yet are ignored. */
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

/* Connects. The link is CONNECTING, so no other thread uses the EP. Returns 0 or errno. */
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
    greet(qp, qp->link.nonce, OFA_GREETING_CONNECT, bytes);
    ofa_link_be_patient(qp->send_ep);
    return ofa_errno(ofa_link_attempt(qp->send_ep, &call));
}

/* Steps to CONNECTING with a nonce. Returns false if the link is not IDLE, or without a nonce. */
static bool begin_locked(struct ofa_qp *qp)
{
    uint64_t nonce;

    if (qp->link.state != OFA_LINK_IDLE ||
        getrandom(&nonce, sizeof(nonce), 0) != (ssize_t)sizeof(nonce))
        return false;
    qp->link.state = OFA_LINK_CONNECTING;
    qp->link.nonce = nonce | 1; /* 0 means that the peer has connected */
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

/* Runs on the IA's thread, so that no call here waits for it. */
static void connect_locked(struct ofa_qp *qp)
{
    struct sockaddr_in6 peer;

    if (address_of_peer(qp, &peer) && begin_locked(qp) && attempt(qp, &peer) != 0)
        qp->link.state = OFA_LINK_IDLE;
}

bool ofa_hand_agrees_locked(struct ofa_qp *qp, const it_connection_event_t *event)
{
    struct ofa_greeting answer;

    if (qp->link.nonce == 0)
        return true; /* was compared when the request was accepted */
    if (event->private_data_present && ofa_greeting_decode(event->private_data, &answer) &&
        answer.nonce == qp->link.nonce && matches(qp, &answer))
        return true;
    ofa_log("queue pair 0x%06x: the peer is another one than was meant", qp->base.qp_num);
    (void)it_ep_disconnect(qp->send_ep, NULL, 0);
    return false;
}

/* Returns true if the question is about the current attempt. */
static bool is_about_attempt(const struct ofa_qp *qp, const struct ofa_greeting *question)
{
    return qp->link.state == OFA_LINK_CONNECTING && qp->link.nonce != 0 &&
           question->nonce == qp->link.nonce && question->from_number == qp->attr.dest_qp_num;
}

/* The peer is in RTS and asks this end to connect, even if this end never enters RTS. */
static void take_knock_locked(struct ofa_qp *qp, const struct ofa_early *knock)
{
    int state = atomic_load_explicit(&qp->state, memory_order_relaxed);

    if (qp->link.state == OFA_LINK_IDLE && (state == IBV_QPS_RTR || state == IBV_QPS_RTS)) {
        if (matches(qp, &knock->greeting))
            connect_locked(qp);
        return;
    }
    /*
     * The program has not moved the queue pair that far, or has not reset it yet.
     */
    (void)ofa_early_put_locked(&qp->link.knocks, knock);
}

/* ---- The end that is connected to ----------------------------------------------------------- */

static it_status_t answer(struct ofa_qp *qp, it_cn_est_identifier_t request,
                          const struct ofa_greeting *greeting)
{
    unsigned char bytes[OFA_GREETING_BYTES];

    (void)ofa_link_set_depths(qp, qp->attr.max_dest_rd_atomic, ord_of(qp));
    greet(qp, greeting->nonce, OFA_GREETING_CONNECT, bytes);
    return it_ep_accept(qp->ep, request, bytes, sizeof(bytes));
}

/*
 * Asks the peer's process about the request in link.asked. Returns false if that fails. Runs on the
 * IA's thread, or without a lock.
 */
static bool ask(struct ofa_qp *qp)
{
    struct ofa_greeting question = greeting_of(qp, qp->link.asked.greeting.nonce, OFA_GREETING_ASK);
    struct sockaddr_in6 peer;

    if (address_of_peer(qp, &peer) && ofa_knock(qp, &peer, &question, ASK_US) == 0)
        return true;
    ofa_log("queue pair 0x%06x: cannot send to its peer", qp->base.qp_num);
    return false;
}

static void begin_asking_locked(struct ofa_qp *qp, const struct ofa_early *early)
{
    qp->link.state = OFA_LINK_ASKING;
    qp->link.asked = *early;
}

/* Runs on the IA's thread. Returns the request that must be rejected; 0: none. */
static it_cn_est_identifier_t ask_locked(struct ofa_qp *qp, const struct ofa_early *early)
{
    begin_asking_locked(qp, early);
    if (ask(qp))
        return 0;
    qp->link.state = OFA_LINK_AWAITED;
    return early->request;
}

/* Handles the answer about link.asked. *rejected: the requests that must be rejected. */
static void decide_locked(struct ofa_qp *qp, const struct ofa_greeting *said,
                          struct ofa_early_list *rejected)
{
    struct ofa_early asked = qp->link.asked;
    struct ofa_early next;

    qp->link.state = OFA_LINK_CONNECTING;
    if (said && said->nonce == asked.greeting.nonce && matches(qp, said)) {
        *rejected = ofa_early_take_all_locked(&qp->link.requests);
        if (answer(qp, asked.request, &asked.greeting) == IT_SUCCESS)
            return;
    } else {
        rejected->items[rejected->count++] = asked;
    }
    qp->link.state = OFA_LINK_AWAITED;
    if (ofa_early_take_locked(&qp->link.requests, qp, matches, &next) && ask_locked(qp, &next) != 0)
        rejected->items[rejected->count++] = next;
}

void ofa_hand_knocked(struct ofa_context *context, const struct ofa_knock_answer *knocked)
{
    struct ofa_early_list rejected = {.count = 0};
    struct ofa_qp *qp;

    (void)pthread_mutex_lock(&context->lock);
    qp = ofa_number_find_locked(context, knocked->number);
    if (qp && qp->link.state == OFA_LINK_ASKING && knocked->asked &&
        qp->link.asked.greeting.nonce == knocked->nonce)
        decide_locked(qp, knocked->said, &rejected);
    /* No process listens there: held requests fail. */
    if (qp && qp->link.state == OFA_LINK_AWAITED && !knocked->asked && !knocked->reached)
        ofa_link_down_locked(qp, IBV_WC_RETRY_EXC_ERR);
    (void)pthread_mutex_unlock(&context->lock);
    ofa_early_reject(&rejected);
}

/* Takes a request that may be the peer's. If there is none, the link waits for one. */
static bool await(struct ofa_qp *qp)
{
    struct ofa_early early;
    bool here;

    (void)pthread_mutex_lock(&qp->context->lock);
    here = (qp->link.state == OFA_LINK_IDLE || qp->link.state == OFA_LINK_AWAITED) &&
           ofa_early_take_locked(&qp->link.requests, qp, matches, &early);
    if (here)
        begin_asking_locked(qp, &early);
    else if (qp->link.state == OFA_LINK_IDLE)
        qp->link.state = OFA_LINK_AWAITED;
    (void)pthread_mutex_unlock(&qp->context->lock);
    return here;
}

static void ask_about_early(struct ofa_qp *qp)
{
    while (await(qp) && !ask(qp)) {
        it_cn_est_identifier_t request;

        (void)pthread_mutex_lock(&qp->context->lock);
        request = qp->link.asked.request;
        qp->link.state = OFA_LINK_AWAITED;
        (void)pthread_mutex_unlock(&qp->context->lock);
        (void)it_reject(request, NULL, 0);
    }
}

/* ---- A queue pair that is its own peer ------------------------------------------------------- */

bool ofa_hand_is_own_peer(const struct ofa_qp *qp)
{
    struct ofa_gid table[OFA_MAX_GIDS];
    struct sockaddr_in6 peer;
    int count;

    if (qp->attr.dest_qp_num != qp->base.qp_num || !address_of_peer(qp, &peer))
        return false;
    count = ofa_gid_table(qp->context->device, table);
    for (int i = 0; i < count; i++)
        if (memcmp(table[i].gid.raw, &peer.sin6_addr, 16) == 0)
            return true;
    return false;
}

/* Returns true for the request of a queue pair that is its own peer. */
static bool is_own_request(const struct ofa_qp *qp, const struct ofa_greeting *greeting)
{
    return qp->send_ep != qp->ep && is_about_attempt(qp, greeting);
}

/* ---- Requests ------------------------------------------------------------------------------- */

/*
 * Handles a request. Returns the one that must be rejected: this one, or one that it displaces; 0:
 * none. *mine is set if it was a question and the answer is yes. Runs on the IA's thread, so that
 * no call here waits for it.
 */
static it_cn_est_identifier_t take_request_locked(struct ofa_context *context,
                                                  const it_conn_request_event_t *event,
                                                  struct ofa_qp **mine)
{
    struct ofa_early early = {.source = event->source_addr};
    struct ofa_qp *qp;

    if (!event->private_data_present || !ofa_greeting_decode(event->private_data, &early.greeting))
        return event->cn_est_id;
    qp = ofa_number_find_locked(context, early.greeting.to_number);
    if (!qp || qp->by_cm)
        return event->cn_est_id;
    if (early.greeting.kind == OFA_GREETING_ASK && is_about_attempt(qp, &early.greeting))
        *mine = qp;
    if (early.greeting.kind == OFA_GREETING_KNOCK)
        take_knock_locked(qp, &early);
    if (early.greeting.kind != OFA_GREETING_CONNECT)
        return event->cn_est_id;
    early.request = event->cn_est_id;
    if (is_own_request(qp, &early.greeting))
        return answer(qp, early.request, &early.greeting) == IT_SUCCESS ? 0 : early.request;
    if (qp->link.state != OFA_LINK_AWAITED)
        return ofa_early_put_locked(&qp->link.requests, &early); /* like a knock */
    return matches(qp, &early.greeting) ? ask_locked(qp, &early) : event->cn_est_id;
}

void ofa_hand_request(struct ofa_context *context, const it_conn_request_event_t *event)
{
    unsigned char bytes[OFA_GREETING_BYTES];
    it_cn_est_identifier_t rejected;
    struct ofa_qp *mine = NULL;

    (void)pthread_mutex_lock(&context->lock);
    rejected = take_request_locked(context, event, &mine);
    if (mine)
        greet(mine, mine->link.nonce, OFA_GREETING_ASK, bytes);
    (void)pthread_mutex_unlock(&context->lock);
    if (rejected != 0)
        (void)it_reject(rejected, mine ? bytes : NULL, mine ? sizeof(bytes) : 0);
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

/* Sets the ORD, which an end that was connected in RTR did not know then. */
static void raise_ord(struct ofa_qp *qp)
{
    it_ep_attributes_t attributes;

    memset(&attributes, 0, sizeof(attributes));
    attributes.srv.rc.rdma_read_ord = qp->attr.max_rd_atomic;
    (void)it_ep_modify(qp->ep, IT_EP_PARAM_MAX_ORD, &attributes);
}

/* Returns true if the peer has asked this end to connect. */
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

/* Sets how long requests wait for the connection. An unreliable queue pair never fails them. */
static void limit_patience(struct ofa_qp *qp)
{
    uint64_t timeout_us = timeout_of(qp);
    bool limited = qp->base.qp_type == IBV_QPT_RC && timeout_us != FOR_EVER;

    ofa_spin_take(&qp->post_lock);
    qp->patience_ns = limited ? timeout_us * 1000 : 0;
    ofa_spin_drop(&qp->post_lock);
}

int ofa_hand_step(struct ofa_qp *qp)
{
    struct ofa_greeting knock;
    struct sockaddr_in6 peer;

    if (qp->attr.dest_qp_num < NUMBERS_BY_HAND)
        return 0; /* from rdma_init_qp_attr: rdma_cm connects */
    if (is_rts(qp))
        limit_patience(qp);
    if (state_of(qp) == OFA_LINK_CONNECTING || state_of(qp) == OFA_LINK_UP) {
        raise_ord(qp);
        ofa_silence_watch(qp);
        return 0;
    }
    if (!address_of_peer(qp, &peer))
        return EINVAL;
    if (qp->send_ep != qp->ep)
        return is_rts(qp) ? connect_now(qp, &peer) : 0;
    if (connects(qp, &peer))
        return is_rts(qp) || was_knocked(qp) ? connect_now(qp, &peer) : 0;
    ask_about_early(qp);
    if (!is_rts(qp) || state_of(qp) != OFA_LINK_AWAITED)
        return 0;
    knock = greeting_of(qp, 0, OFA_GREETING_KNOCK);
    return ofa_knock(qp, &peer, &knock, timeout_of(qp));
}

void ofa_hand_stop_asking(struct ofa_qp *qp)
{
    it_cn_est_identifier_t asked = 0;

    (void)pthread_mutex_lock(&qp->context->lock);
    if (qp->link.state == OFA_LINK_ASKING) {
        asked = qp->link.asked.request;
        qp->link.state = OFA_LINK_DOWN;
    }
    (void)pthread_mutex_unlock(&qp->context->lock);
    if (asked != 0)
        (void)it_reject(asked, NULL, 0);
}

/*
 * Requests have waited too long: the peer's process is there, but its queue pair is not ready, or
 * has another connection. Runs on the thread of timers.
 */
static void give_up(struct ofa_timer *timer)
{
    struct ofa_qp *qp =
        (struct ofa_qp *)(void *)((char *)timer - offsetof(struct ofa_qp, patience));
    bool over;

    if (!ofa_hold_waits(qp))
        return;
    ofa_hand_stop_asking(qp);
    (void)pthread_mutex_lock(&qp->context->lock);
    over = qp->link.state != OFA_LINK_UP;
    if (over)
        ofa_link_down_locked(qp, IBV_WC_RETRY_EXC_ERR);
    (void)pthread_mutex_unlock(&qp->context->lock);
    if (over)
        (void)ofa_link_disconnect(&qp->base);
}

void ofa_hand_init(struct ofa_qp *qp)
{
    qp->patience.callback = give_up;
}

void ofa_hand_forget(struct ofa_qp *qp)
{
    ofa_timer_cancel(&qp->patience);
    ofa_hand_stop_asking(qp);
    ofa_early_drop(qp->context, &qp->link.requests);
    ofa_early_drop(qp->context, &qp->link.knocks);
}
