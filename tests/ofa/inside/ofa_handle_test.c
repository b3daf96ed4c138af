/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An EP that is freed, of a queue pair or of a message to the peer's process: a new EP may get the
 * same handle while events of the old one are still queued. And a queue pair that cannot be
 * destroyed.
 */
#include "support/raw_peer.h"
#include "verbs_kit.h"

#include "link/ofa_greeting.h"
#include "object/ofa_object.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#define OTHERS 300 /* more than the EPs that are reused before, and than the numbers of a port */

/* ---- What happens when an EP is freed -------------------------------------------------------- */

it_status_t __real_it_ep_free(it_ep_handle_t ep);
it_status_t __wrap_it_ep_free(it_ep_handle_t ep);
it_status_t __real_it_ep_rc_create(it_pz_handle_t pz, it_evd_handle_t requests,
                                   it_evd_handle_t receives, it_evd_handle_t connection,
                                   it_ep_rc_creation_flags_t flags,
                                   const it_ep_attributes_t *attributes, it_ep_handle_t *ep);
it_status_t __wrap_it_ep_rc_create(it_pz_handle_t pz, it_evd_handle_t requests,
                                   it_evd_handle_t receives, it_evd_handle_t connection,
                                   it_ep_rc_creation_flags_t flags,
                                   const it_ep_attributes_t *attributes, it_ep_handle_t *ep);
int __real_pthread_mutex_lock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex);

static struct {
    atomic_bool asked;     /* another thread creates queue pairs once an EP is freed */
    unsigned int busy;     /* how often an EP is said to be busy */
    it_ep_handle_t handle; /* the one that was freed */
    struct ibv_cq *cq;
    pthread_t thread;
    atomic_bool begun;
    atomic_bool done; /* the other thread waits for this one, or has the handle */
    struct ibv_qp *qps[OTHERS];
    unsigned int count;
} freed;

static _Thread_local bool is_other; /* this is the other thread */

static struct ibv_qp *create(struct ibv_cq *cq)
{
    struct ibv_qp_init_attr attr = {
        .send_cq = cq,
        .recv_cq = cq,
        .qp_type = IBV_QPT_RC,
        .cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1}};
    struct ibv_qp *qp = ibv_create_qp(verbs_kit.pd, &attr);

    CHECK(qp != NULL);
    return qp;
}

/* Creates queue pairs until one has the handle. */
static void *take_handle(void *unused)
{
    struct ibv_qp *qp;

    is_other = true;
    do {
        CHECK(freed.count < OTHERS);
        qp = create(freed.cq);
        freed.qps[freed.count++] = qp;
    } while (ofa_qp_of(qp)->ep != freed.handle);
    atomic_store(&freed.done, true);
    return unused;
}

it_status_t __wrap_it_ep_free(it_ep_handle_t ep)
{
    it_status_t status;

    if (freed.busy > 0) {
        freed.busy--;
        return IT_ERR_EP_BUSY;
    }
    status = __real_it_ep_free(ep);
    if (!atomic_exchange(&freed.asked, false))
        return status;
    freed.handle = ep;
    CHECK_EQ(0, pthread_create(&freed.thread, NULL, take_handle, NULL));
    atomic_store(&freed.begun, true);
    while (!atomic_load(&freed.done))
        (void)sched_yield();
    return status;
}

int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex)
{
    if (!is_other)
        return __real_pthread_mutex_lock(mutex);
    if (pthread_mutex_trylock(mutex) == 0)
        return 0;
    atomic_store(&freed.done, true);
    return __real_pthread_mutex_lock(mutex);
}

/* From the next free of an EP on, the other thread tries to get its handle. */
static void let_other_take(struct ibv_cq *cq)
{
    freed.cq = cq;
    atomic_store(&freed.begun, false);
    atomic_store(&freed.done, false);
    atomic_store(&freed.asked, true);
}

static void join_other(void)
{
    while (!atomic_load(&freed.begun))
        (void)sched_yield();
    CHECK_EQ(0, pthread_join(freed.thread, NULL));
}

/* ---- A handle that is given again ------------------------------------------------------------ */

static unsigned char memory[64];

static void post_write(struct ibv_qp *qp, const struct ibv_mr *region)
{
    struct ibv_sge sge = {
        .addr = (uintptr_t)memory, .length = sizeof(memory), .lkey = region->lkey};
    struct ibv_send_wr wr = {.wr_id = 7,
                             .sg_list = &sge,
                             .num_sge = 1,
                             .opcode = IBV_WR_RDMA_WRITE,
                             .send_flags = IBV_SEND_SIGNALED,
                             .wr.rdma = {(uintptr_t)memory, region->rkey}};
    struct ibv_send_wr *bad;

    CHECK_EQ(0, ibv_post_send(qp, &wr, &bad));
}

/* Waits until the request has a completion, and leaves that in the CQ. */
static void await_end(const struct ibv_qp *qp)
{
    const struct ofa_qp *own = (const struct ofa_qp *)(const void *)qp;
    struct itx_ep_counters counters = {.size = sizeof(counters)};

    do {
        (void)sched_yield();
        CHECK_EQ(IT_SUCCESS, itx_ep_stats(own->send_ep, &counters));
    } while (counters.requests_ended == 0);
}

static void destroy_others(void)
{
    while (freed.count > 0)
        CHECK_EQ(0, ibv_destroy_qp(freed.qps[--freed.count]));
}

/* The completion of a queue pair that is destroyed is not that of the next one with its handle. */
static void handle_is_reused(void)
{
    struct ibv_mr *region = ibv_reg_mr(verbs_kit.pd, memory, sizeof(memory),
                                       IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
    struct ibv_cq *cq = ibv_create_cq(verbs_kit.context, 2 * OTHERS, NULL, NULL, 0);
    struct ibv_qp *from = create(cq);
    struct ibv_qp *to = create(cq);
    struct ibv_wc wc;

    CHECK(region != NULL);
    verbs_kit_bring_up(from, to->qp_num);
    verbs_kit_bring_up(to, from->qp_num);
    post_write(from, region);
    await_end(from);
    let_other_take(cq);
    CHECK_EQ(0, ibv_destroy_qp(from));
    join_other();
    CHECK_EQ(0, ibv_poll_cq(cq, 1, &wc));
    destroy_others();
    CHECK_EQ(0, ibv_destroy_qp(to));
    CHECK_EQ(0, ibv_destroy_cq(cq));
    CHECK_EQ(0, ibv_dereg_mr(region));
}

/* ---- A message that is accepted -------------------------------------------------------------- */

/* The EP of the last one. The program's thread makes some, the IA's thread others. */
static _Atomic(it_ep_handle_t) message;

it_status_t __wrap_it_ep_rc_create(it_pz_handle_t pz, it_evd_handle_t requests,
                                   it_evd_handle_t receives, it_evd_handle_t connection,
                                   it_ep_rc_creation_flags_t flags,
                                   const it_ep_attributes_t *attributes, it_ep_handle_t *ep)
{
    it_status_t status =
        __real_it_ep_rc_create(pz, requests, receives, connection, flags, attributes, ep);

    if (connection == ofa_context_of(verbs_kit.context)->knock_evd)
        atomic_store(&message, *ep);
    return status;
}

/*
 * Makes a queue pair whose peer would have to connect, since the port in its number is smaller, and
 * listens there. The queue pair sends a message to that port.
 */
static struct ibv_qp *knock(struct ibv_cq *cq, int *listener)
{
    struct ibv_qp *qp = create(cq);
    uint16_t port;

    *listener = raw_listen(&port);
    while (ntohs(port) >= qp->qp_num >> 8) {
        (void)close(*listener);
        *listener = raw_listen(&port);
    }
    verbs_kit_peer_is_local = true;
    verbs_kit_bring_up(qp, (uint32_t)ntohs(port) << 8);
    verbs_kit_peer_is_local = false;
    return qp;
}

/* The peer takes the message for a request. */
static void accept_message(struct raw_peer *peer)
{
    struct raw_mpa_frame frame;
    struct ofa_greeting greeting;
    RAW_BYTES(reply);

    CHECK_EQ(RAW_OK, raw_receive_mpa(peer, &frame));
    CHECK(frame.pd_len >= OFA_GREETING_BYTES);
    CHECK(ofa_greeting_decode(frame.pd + frame.pd_len - OFA_GREETING_BYTES, &greeting));
    CHECK_EQ(OFA_GREETING_KNOCK, greeting.kind);
    raw_mpa2(&reply, true, RAW_MPA_C | RAW_MPA_S, RAW_ENH_A | RAW_ENH_C);
    CHECK(raw_send(peer, &reply));
}

/* Waits until the EP has this state. The waiting thread makes progress itself. */
static void await_state(struct ibv_cq *cq, it_ep_handle_t ep, it_ep_state_rc_t state)
{
    it_ep_param_t param;
    it_event_t event;

    do {
        CHECK_EQ(IT_ERR_TIMEOUT_EXPIRED, it_evd_wait(ofa_cq_of(cq)->evd, 1000, &event, NULL));
        CHECK_EQ(IT_SUCCESS, it_ep_query(ep, IT_EP_PARAM_STATE, &param));
    } while (param.ep_state.rc != state);
}

/* Waits until the IA's thread has handled what is queued for it. */
static void await_callbacks(struct ibv_cq *cq)
{
    CHECK_EQ(0, ibv_destroy_qp(create(cq)));
}

/* A connection has two events. The second one does not end a queue pair with the same handle. */
static void message_is_accepted(void)
{
    struct ofa_context *context = ofa_context_of(verbs_kit.context);
    struct ibv_cq *cq = ibv_create_cq(verbs_kit.context, 2 * OTHERS, NULL, NULL, 0);
    struct raw_peer peer;
    it_ep_param_t param;
    int listener;
    struct ibv_qp *qp = knock(cq, &listener);

    raw_accept(&peer, listener);
    CHECK_EQ(0, pthread_mutex_lock(&context->lock)); /* the IA's thread waits at the first event */
    accept_message(&peer);
    await_state(cq, atomic_load(&message), IT_EP_STATE_CONNECTED);
    raw_close_with_reset(&peer);
    await_state(cq, atomic_load(&message), IT_EP_STATE_NONOPERATIONAL);
    let_other_take(cq);
    CHECK_EQ(0, pthread_mutex_unlock(&context->lock));
    join_other();
    await_callbacks(cq);
    CHECK_EQ(IT_SUCCESS, it_ep_query(freed.handle, IT_EP_PARAM_STATE, &param));
    destroy_others();
    CHECK_EQ(0, ibv_destroy_qp(qp));
    CHECK_EQ(0, ibv_destroy_cq(cq));
    (void)close(listener);
}

/* ---- A queue pair that cannot be destroyed --------------------------------------------------- */

static void create_others(struct ibv_cq *cq)
{
    while (freed.count < OTHERS)
        freed.qps[freed.count++] = create(cq);
}

static int compare(const void *a, const void *b)
{
    const struct ibv_qp *const *first = a;
    const struct ibv_qp *const *second = b;

    return ((*first)->qp_num > (*second)->qp_num) - ((*first)->qp_num < (*second)->qp_num);
}

static void check_numbers(const struct ibv_qp *qp)
{
    qsort(freed.qps, freed.count, sizeof(freed.qps[0]), compare);
    for (unsigned int i = 0; i < freed.count; i++) {
        CHECK(!qp || freed.qps[i]->qp_num != qp->qp_num);
        CHECK(i == 0 || freed.qps[i]->qp_num != freed.qps[i - 1]->qp_num);
    }
}

/* It keeps its number, and gives it away once. */
static void number_is_kept(void)
{
    struct ibv_cq *cq = ibv_create_cq(verbs_kit.context, 1, NULL, NULL, 0);
    struct ibv_qp *qp = create(cq);

    freed.busy = 2;
    CHECK_EQ(EBUSY, ibv_destroy_qp(qp));
    create_others(cq);
    check_numbers(qp);
    freed.busy = 2;
    CHECK_EQ(EBUSY, ibv_destroy_qp(qp));
    CHECK_EQ(0, ibv_destroy_qp(qp));
    destroy_others();
    create_others(cq);
    check_numbers(NULL);
    destroy_others();
    CHECK_EQ(0, ibv_destroy_cq(cq));
}

int main(void)
{
    verbs_kit_open();
    handle_is_reused();
    message_is_accepted();
    number_is_kept();
    verbs_kit_close();
    check_done();
    return 0;
}
