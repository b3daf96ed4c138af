/* SPDX-License-Identifier: BSD-2-Clause */
/* Implements the functions of libibverbs that the provider calls. */
#include "verbs/stub_private.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STUB_QUEUE    4096u /* entries of each queue */
#define STUB_SEGMENTS 32
#define STUB_HEADER   40u /* in front of a datagram */

struct stub_cq {
    struct ibv_cq cq;
    struct ibv_wc *ring;
    uint32_t head, tail, size;
    bool armed;
    bool failures_only;
};

struct stub_work {
    uint64_t wr_id;
    enum ibv_wr_opcode opcode;
    unsigned flags;
    uint32_t key; /* the peer's key, or the key to invalidate */
    uint64_t remote;
    struct stub_bind bind;
    uint64_t operand, compare;
    uint32_t imm;
    int count;
    struct ibv_sge sges[STUB_SEGMENTS];
};

struct stub_queue {
    struct stub_work *work;
    uint32_t head, tail;
};

struct stub_srq {
    struct ibv_srq srq;
    struct stub_queue rq;
    uint32_t limit;
};

struct stub_qp {
    struct ibv_qp qp;
    struct stub_qp *peer;
    struct stub_queue sq, own_rq;
    struct stub_queue *rq; /* its own RQ, or that of an S-RQ */
    bool held;
    enum ibv_wc_status failure;
    struct stub_posted posted;
    unsigned ord;
    unsigned access;
    uint32_t key;
};

struct stub_settings stub;

static pthread_mutex_t stub_lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic size_t stub_count;
_Atomic uint32_t stub_numbers;

size_t stub_objects(void)
{
    return atomic_load(&stub_count);
}

void *stub_new(size_t size)
{
    void *object = calloc(1, size);

    if (object)
        atomic_fetch_add(&stub_count, 1);
    return object;
}

int stub_delete(void *object)
{
    atomic_fetch_sub(&stub_count, 1);
    free(object);
    return 0;
}

/* ---------------------------------------------------------------- completions */

static void stub_complete(struct ibv_cq *ibv_cq, const struct ibv_wc *wc)
{
    struct stub_cq *cq = (struct stub_cq *)ibv_cq;

    if (cq->tail - cq->head >= cq->size)
        abort(); /* the provider promises that this cannot happen */
    cq->ring[cq->tail++ % cq->size] = *wc;
    if (cq->armed && (!cq->failures_only || wc->status != IBV_WC_SUCCESS)) {
        cq->armed = false;
        if (write(cq->cq.channel->refcnt, &ibv_cq, sizeof(ibv_cq)) != (ssize_t)sizeof(ibv_cq))
            abort();
    }
}

static _Atomic unsigned stub_look_count;

unsigned stub_looks(void)
{
    return atomic_load(&stub_look_count);
}

static int stub_poll_cq(struct ibv_cq *ibv_cq, int count, struct ibv_wc *wc)
{
    struct stub_cq *cq = (struct stub_cq *)ibv_cq;
    int found = 0;

    atomic_fetch_add(&stub_look_count, 1);
    pthread_mutex_lock(&stub_lock);
    while (found < count && cq->head != cq->tail)
        wc[found++] = cq->ring[cq->head++ % cq->size];
    pthread_mutex_unlock(&stub_lock);
    return found;
}

static _Thread_local unsigned stub_arm_count;
static _Atomic unsigned stub_all_arm_count;

unsigned stub_arms(void)
{
    return stub_arm_count;
}

unsigned stub_all_arms(void)
{
    return atomic_load(&stub_all_arm_count);
}

static struct stub_qp *stub_released_at_arm;
static void stub_run(struct stub_qp *qp);

static int stub_req_notify_cq(struct ibv_cq *ibv_cq, int solicited_only)
{
    struct stub_cq *cq = (struct stub_cq *)ibv_cq;

    stub_arm_count++;
    atomic_fetch_add(&stub_all_arm_count, 1);
    pthread_mutex_lock(&stub_lock);
    if (stub_released_at_arm) {
        stub_released_at_arm->held = false;
        stub_run(stub_released_at_arm);
        stub_released_at_arm = NULL;
    }
    /* siw obeys the last call. Other devices obey the call that asks for more. */
    cq->failures_only = solicited_only && (stub.like_siw || !cq->armed || cq->failures_only);
    cq->armed = true;
    pthread_mutex_unlock(&stub_lock);
    return 0;
}

/* ---------------------------------------------------------------- executing */

static bool stub_may_use(const struct ibv_qp *qp, const struct stub_work *work)
{
    for (int i = 0; i < work->count; i++)
        if (!stub_is_memory(qp->pd, &work->sges[i]))
            return false;
    return true;
}

static void stub_copy_out(const struct stub_work *work, unsigned char *to)
{
    for (int i = 0; i < work->count; i++) {
        memcpy(to, (void *)(uintptr_t)work->sges[i].addr, work->sges[i].length);
        to += work->sges[i].length;
    }
}

static uint32_t stub_copy_in(const struct stub_work *work, const unsigned char *from,
                             uint32_t length)
{
    uint32_t left = length;

    for (int i = 0; i < work->count && left > 0; i++) {
        uint32_t part = work->sges[i].length < left ? work->sges[i].length : left;

        memcpy((void *)(uintptr_t)work->sges[i].addr, from, part);
        from += part;
        left -= part;
    }
    return left;
}

static uint32_t stub_length(const struct stub_work *work)
{
    uint32_t length = 0;

    for (int i = 0; i < work->count; i++)
        length += work->sges[i].length;
    return length;
}

static void stub_check_limit(struct ibv_srq *ibv_srq)
{
    struct stub_srq *srq = (struct stub_srq *)ibv_srq;
    struct ibv_async_event event;

    if (!srq || srq->rq.tail - srq->rq.head >= srq->limit)
        return;
    srq->limit = 0;
    memset(&event, 0, sizeof(event));
    event.event_type = IBV_EVENT_SRQ_LIMIT_REACHED;
    event.element.srq = ibv_srq;
    stub_write_async(&event);
}

static enum ibv_wc_status stub_send(struct stub_qp *qp, const struct stub_work *work)
{
    static unsigned char room[1 << 20];
    struct stub_queue *rq = qp->peer->rq;
    const struct stub_work *recv = &rq->work[rq->head % STUB_QUEUE];
    uint32_t length = stub_length(work);
    uint32_t header = qp->qp.qp_type == IBV_QPT_UD ? STUB_HEADER : 0;
    struct ibv_wc wc = {
        .opcode = IBV_WC_RECV, .qp_num = qp->peer->qp.qp_num, .src_qp = qp->qp.qp_num};

    if (rq->head == rq->tail)
        return IBV_WC_RNR_RETRY_EXC_ERR;
    memset(room, 0, header);
    stub_copy_out(work, room + header);
    length += header;
    wc.wr_id = recv->wr_id;
    wc.byte_len = length;
    if (stub.checks_keys && !stub_may_use(&qp->peer->qp, recv))
        wc.status = IBV_WC_LOC_PROT_ERR;
    else if (stub_copy_in(recv, room, length) > 0)
        wc.status = IBV_WC_LOC_LEN_ERR;
    if (work->opcode == IBV_WR_SEND_WITH_IMM) {
        wc.wc_flags = IBV_WC_WITH_IMM;
        wc.imm_data = work->imm;
    }
    rq->head++;
    stub_check_limit(qp->peer->qp.srq);
    stub_complete(qp->peer->qp.recv_cq, &wc);
    return wc.status == IBV_WC_SUCCESS ? IBV_WC_SUCCESS : IBV_WC_REM_INV_REQ_ERR;
}

static void stub_atomic(const struct stub_work *work)
{
    uint64_t *word = (uint64_t *)(uintptr_t)work->remote;
    uint64_t old = *word;

    if (work->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD)
        *word += work->compare;
    else if (old == work->compare)
        *word = work->operand;
    (void)stub_copy_in(work, (const unsigned char *)&old, sizeof(old));
}

static bool stub_is_allowed(const struct stub_qp *qp, const struct stub_work *work)
{
    uint32_t length = stub_length(work);

    if (!stub.has_windows || length == 0)
        return true;
    return stub_is_open(&qp->peer->qp, work->key, work->remote, length,
                        work->opcode == IBV_WR_RDMA_WRITE  ? IBV_ACCESS_REMOTE_WRITE
                        : work->opcode == IBV_WR_RDMA_READ ? IBV_ACCESS_REMOTE_READ
                                                           : IBV_ACCESS_REMOTE_ATOMIC);
}

static enum ibv_wc_status stub_use_peer(struct stub_qp *qp, const struct stub_work *work)
{
    if (!stub_is_allowed(qp, work))
        return IBV_WC_REM_ACCESS_ERR;
    if (work->opcode == IBV_WR_RDMA_WRITE)
        stub_copy_out(work, (unsigned char *)(uintptr_t)work->remote);
    else if (work->opcode == IBV_WR_RDMA_READ)
        (void)stub_copy_in(work, (const unsigned char *)(uintptr_t)work->remote, stub_length(work));
    else
        stub_atomic(work);
    return IBV_WC_SUCCESS;
}

static enum ibv_wc_status stub_execute(struct stub_qp *qp, const struct stub_work *work)
{
    switch ((unsigned)work->opcode) {
    case IBV_WR_BIND_MW:
        return stub_bind(&qp->qp, &work->bind);
    case IBV_WR_LOCAL_INV:
        return stub_invalidate(&qp->qp, work->key);
    case IBV_WR_RDMA_WRITE:
    case IBV_WR_RDMA_READ:
    case IBV_WR_ATOMIC_FETCH_AND_ADD:
    case IBV_WR_ATOMIC_CMP_AND_SWP:
        return stub_use_peer(qp, work);
    default:
        return stub_send(qp, work);
    }
}

static void stub_flush_queue(struct stub_queue *queue, struct ibv_cq *cq, uint32_t number)
{
    for (; queue->head != queue->tail; queue->head++) {
        struct ibv_wc wc = {
            .wr_id = queue->work[queue->head % STUB_QUEUE].wr_id,
            .status = IBV_WC_WR_FLUSH_ERR,
            .qp_num = number,
        };

        stub_complete(cq, &wc);
    }
}

static void stub_flush_all(struct stub_qp *qp)
{
    stub_flush_queue(&qp->sq, qp->qp.send_cq, qp->qp.qp_num);
    stub_flush_queue(&qp->own_rq, qp->qp.recv_cq, qp->qp.qp_num);
}

static void stub_set_error(struct stub_qp *qp)
{
    qp->qp.state = IBV_QPS_ERR;
    if (!stub.lazy_flush)
        stub_flush_all(qp);
}

static void stub_run(struct stub_qp *qp)
{
    struct ibv_wc late[16]; /* completions of Reads, which others overtake as on siw */
    unsigned late_count = 0;

    while (qp->qp.state == IBV_QPS_RTS && !qp->held && qp->sq.head != qp->sq.tail) {
        const struct stub_work *work = &qp->sq.work[qp->sq.head++ % STUB_QUEUE];
        struct ibv_wc wc = {.wr_id = work->wr_id, .qp_num = qp->qp.qp_num};

        wc.status = qp->failure;
        qp->failure = IBV_WC_SUCCESS;
        if (wc.status == IBV_WC_SUCCESS && stub.checks_keys && !(work->flags & IBV_SEND_INLINE) &&
            !stub_may_use(&qp->qp, work))
            wc.status = IBV_WC_LOC_PROT_ERR;
        if (wc.status == IBV_WC_SUCCESS)
            wc.status = stub_execute(qp, work);
        if (stub.like_siw && work->opcode == IBV_WR_RDMA_READ && late_count < 16)
            late[late_count++] = wc;
        else if (wc.status != IBV_WC_SUCCESS || (work->flags & IBV_SEND_SIGNALED))
            stub_complete(qp->qp.send_cq, &wc);
        if (wc.status != IBV_WC_SUCCESS)
            stub_set_error(qp);
    }
    for (unsigned i = 0; i < late_count; i++)
        stub_complete(qp->qp.send_cq, &late[i]);
}

static void stub_take_segments(struct stub_work *work, const struct ibv_sge *sges, int count)
{
    work->count = count;
    if (count > 0) /* the marker has no segments */
        memcpy(work->sges, sges, (size_t)count * sizeof(*sges));
}

static void stub_take_request(struct stub_work *work, const struct ibv_send_wr *wr)
{
    work->wr_id = wr->wr_id;
    work->opcode = wr->opcode;
    work->flags = wr->send_flags;
    work->imm = wr->imm_data;
    stub_take_segments(work, wr->sg_list, wr->num_sge);
    work->remote = wr->wr.rdma.remote_addr;
    work->key = wr->wr.rdma.rkey;
    if (wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD || wr->opcode == IBV_WR_ATOMIC_CMP_AND_SWP) {
        work->remote = wr->wr.atomic.remote_addr;
        work->key = wr->wr.atomic.rkey;
        work->compare = wr->wr.atomic.compare_add;
        work->operand = wr->wr.atomic.swap;
    } else if (wr->opcode == IBV_WR_LOCAL_INV) {
        work->key = wr->invalidate_rkey;
    } else if (wr->opcode == IBV_WR_BIND_MW) {
        work->bind = (struct stub_bind){.mw = wr->bind_mw.mw,
                                        .from_key = wr->bind_mw.mw->rkey,
                                        .to_key = wr->bind_mw.rkey,
                                        .info = wr->bind_mw.bind_info};
    }
}

/* Returns the first of these requests that is refused, or NULL. */
static struct ibv_send_wr *stub_refused(struct ibv_send_wr *wr)
{
    while (wr && (!stub.refuse_bind || wr->opcode != IBV_WR_BIND_MW))
        wr = wr->next;
    return wr;
}

static void stub_note(struct stub_posted *posted, const struct ibv_send_wr *wr)
{
    posted->flags = (unsigned)wr->send_flags;
    posted->empty_writes += wr->opcode == IBV_WR_RDMA_WRITE && wr->num_sge == 0;
}

static int stub_post_send(struct ibv_qp *ibv_qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
    struct stub_qp *qp = (struct stub_qp *)ibv_qp;
    struct ibv_send_wr *refused = stub_refused(wr);

    if (stub.raises_sigpipe) {
        sigset_t mask;

        (void)pthread_sigmask(SIG_SETMASK, NULL, &mask);
        stub.blocks_sigpipe = sigismember(&mask, SIGPIPE) == 1;
        (void)raise(SIGPIPE);
    }
    *bad = refused;
    if (stub.refuse_post) {
        *bad = wr;
        return stub.refuse_post;
    }
    if (refused && (!stub.takes_half || refused == wr)) {
        *bad = wr;
        return stub.refuse_bind;
    }
    pthread_mutex_lock(&stub_lock);
    if (ibv_qp->state == IBV_QPS_ERR && stub.like_siw) {
        pthread_mutex_unlock(&stub_lock);
        return 0; /* such a request never completes */
    }
    for (; wr != refused; wr = wr->next) {
        stub_note(&qp->posted, wr);
        stub_take_request(&qp->sq.work[qp->sq.tail++ % STUB_QUEUE], wr);
    }
    if (ibv_qp->state == IBV_QPS_ERR && !stub.lazy_flush)
        stub_flush_all(qp);
    stub_run(qp);
    pthread_mutex_unlock(&stub_lock);
    return refused ? stub.refuse_bind : 0;
}

/* Binds a type 1 window: the device chooses the key. */
static int stub_bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind)
{
    uint32_t key = ibv_inc_rkey(mw->rkey);
    struct ibv_send_wr wr = {
        .wr_id = bind->wr_id,
        .opcode = IBV_WR_BIND_MW,
        .send_flags = (unsigned)bind->send_flags,
        .bind_mw = {.mw = mw, .rkey = key, .bind_info = bind->bind_info},
    };
    struct ibv_send_wr *bad;
    int error = stub_post_send(qp, &wr, &bad);

    if (error == 0)
        mw->rkey = key;
    return error;
}

static int stub_post_recv(struct ibv_qp *ibv_qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
    struct stub_qp *qp = (struct stub_qp *)ibv_qp;
    struct stub_work *work;

    (void)bad;
    if (stub.refuse_post)
        return stub.refuse_post;
    if (stub.like_siw && wr->num_sge == 0)
        return EINVAL;
    pthread_mutex_lock(&stub_lock);
    /* As on rxe, nothing processes the request if the QP has failed. */
    if (ibv_qp->state != IBV_QPS_ERR) {
        work = &qp->own_rq.work[qp->own_rq.tail++ % STUB_QUEUE];
        work->wr_id = wr->wr_id;
        stub_take_segments(work, wr->sg_list, wr->num_sge);
    }
    pthread_mutex_unlock(&stub_lock);
    return 0;
}

static int stub_post_srq_recv(struct ibv_srq *ibv_srq, struct ibv_recv_wr *wr,
                              struct ibv_recv_wr **bad)
{
    struct stub_srq *srq = (struct stub_srq *)ibv_srq;
    struct stub_work *work;

    (void)bad;
    pthread_mutex_lock(&stub_lock);
    work = &srq->rq.work[srq->rq.tail++ % STUB_QUEUE];
    work->wr_id = wr->wr_id;
    stub_take_segments(work, wr->sg_list, wr->num_sge);
    pthread_mutex_unlock(&stub_lock);
    return 0;
}

void stub_fill_ops(struct ibv_context_ops *ops)
{
    ops->alloc_mw = stub_alloc_mw;
    ops->bind_mw = stub_bind_mw;
    ops->dealloc_mw = stub_dealloc_mw;
    ops->poll_cq = stub_poll_cq;
    ops->req_notify_cq = stub_req_notify_cq;
    ops->post_send = stub_post_send;
    ops->post_recv = stub_post_recv;
    ops->post_srq_recv = stub_post_srq_recv;
}

/* ---------------------------------------------------------------- what tests do */

void stub_hold(struct ibv_qp *qp, bool hold)
{
    pthread_mutex_lock(&stub_lock);
    ((struct stub_qp *)qp)->held = hold;
    stub_run((struct stub_qp *)qp);
    pthread_mutex_unlock(&stub_lock);
}

void stub_release_at_arm(struct ibv_qp *qp)
{
    pthread_mutex_lock(&stub_lock);
    stub_released_at_arm = (struct stub_qp *)qp;
    pthread_mutex_unlock(&stub_lock);
}

struct stub_posted stub_posted(struct ibv_qp *qp)
{
    struct stub_posted posted;

    pthread_mutex_lock(&stub_lock);
    posted = ((struct stub_qp *)qp)->posted;
    pthread_mutex_unlock(&stub_lock);
    return posted;
}

unsigned stub_access(struct ibv_qp *qp)
{
    return ((struct stub_qp *)qp)->access;
}

uint32_t stub_key(struct ibv_qp *qp)
{
    return ((struct stub_qp *)qp)->key;
}

unsigned stub_ord(struct ibv_qp *qp)
{
    unsigned ord;

    pthread_mutex_lock(&stub_lock);
    ord = ((struct stub_qp *)qp)->ord;
    pthread_mutex_unlock(&stub_lock);
    return ord;
}

void stub_flush(struct ibv_qp *qp)
{
    pthread_mutex_lock(&stub_lock);
    stub_flush_all((struct stub_qp *)qp);
    pthread_mutex_unlock(&stub_lock);
}

void stub_fail_next(struct ibv_qp *qp, enum ibv_wc_status status)
{
    pthread_mutex_lock(&stub_lock);
    ((struct stub_qp *)qp)->failure = status;
    pthread_mutex_unlock(&stub_lock);
}

void stub_join(struct ibv_qp *a, struct ibv_qp *b)
{
    pthread_mutex_lock(&stub_lock);
    ((struct stub_qp *)a)->peer = (struct stub_qp *)b;
    ((struct stub_qp *)b)->peer = (struct stub_qp *)a;
    a->state = IBV_QPS_RTS;
    b->state = IBV_QPS_RTS;
    pthread_mutex_unlock(&stub_lock);
}

/* ---------------------------------------------------------------- CQs */

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context)
{
    struct ibv_comp_channel *channel = stub_new(sizeof(*channel));
    int ends[2];

    if (!channel || pipe2(ends, O_CLOEXEC) != 0)
        abort();
    channel->context = context;
    channel->fd = ends[0];
    channel->refcnt = ends[1]; /* this end is written */
    return channel;
}

int ibv_destroy_comp_channel(struct ibv_comp_channel *channel)
{
    close(channel->fd);
    close(channel->refcnt);
    return stub_delete(channel);
}

struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context,
                             struct ibv_comp_channel *channel, int vector)
{
    struct stub_cq *cq;

    (void)vector;
    if (stub.max_cqe && cqe > stub.max_cqe) {
        errno = EINVAL;
        return NULL;
    }
    cq = stub_new(sizeof(*cq));
    if (!cq)
        return NULL;
    cq->cq.context = context;
    cq->cq.channel = channel;
    cq->cq.cq_context = cq_context;
    cq->cq.cqe = cqe;
    cq->size = (uint32_t)cqe;
    cq->ring = calloc(cq->size, sizeof(*cq->ring));
    return &cq->cq;
}

int ibv_destroy_cq(struct ibv_cq *cq)
{
    free(((struct stub_cq *)cq)->ring);
    return stub_delete(cq);
}

int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **cq_context)
{
    if (read(channel->fd, cq, sizeof(*cq)) != (ssize_t)sizeof(*cq))
        return -1;
    *cq_context = (*cq)->cq_context;
    return 0;
}

void ibv_ack_cq_events(struct ibv_cq *cq, unsigned int count)
{
    (void)cq, (void)count;
}

/* ---------------------------------------------------------------- QPs */

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *init)
{
    struct stub_qp *qp;

    if (stub.refuse_qps > 0) {
        stub.refuse_qps--;
        errno = ENOMEM;
        return NULL;
    }
    qp = stub_new(sizeof(*qp));
    if (!qp)
        return NULL;
    qp->sq.work = calloc(STUB_QUEUE, sizeof(*qp->sq.work));
    qp->own_rq.work = calloc(STUB_QUEUE, sizeof(*qp->own_rq.work));
    qp->rq = init->srq ? &((struct stub_srq *)init->srq)->rq : &qp->own_rq;
    qp->qp.context = pd->context;
    qp->qp.qp_context = init->qp_context;
    qp->qp.pd = pd;
    qp->qp.send_cq = init->send_cq;
    qp->qp.recv_cq = init->recv_cq;
    qp->qp.qp_num = atomic_fetch_add(&stub_numbers, 1) + 1;
    qp->qp.qp_type = init->qp_type;
    qp->qp.srq = init->srq;
    return &qp->qp;
}

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
    if (stub.modify_error)
        return stub.modify_error;
    pthread_mutex_lock(&stub_lock);
    if (mask & IBV_QP_STATE)
        qp->state = attr->qp_state;
    if (mask & IBV_QP_ACCESS_FLAGS)
        ((struct stub_qp *)qp)->access = attr->qp_access_flags;
    if (mask & IBV_QP_QKEY)
        ((struct stub_qp *)qp)->key = attr->qkey;
    if (mask & IBV_QP_MAX_QP_RD_ATOMIC)
        ((struct stub_qp *)qp)->ord = attr->max_rd_atomic;
    if ((mask & IBV_QP_STATE) && attr->qp_state == IBV_QPS_ERR)
        stub_set_error((struct stub_qp *)qp);
    pthread_mutex_unlock(&stub_lock);
    if (stub.tells_late && qp->state == IBV_QPS_ERR)
        stub_raise(IBV_EVENT_QP_FATAL, qp, 0);
    return 0;
}

int ibv_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
                 struct ibv_qp_init_attr *init)
{
    (void)mask, (void)init;
    pthread_mutex_lock(&stub_lock);
    attr->qp_state = qp->state;
    pthread_mutex_unlock(&stub_lock);
    return 0;
}

static struct ibv_ah_attr stub_last_address;

struct ibv_ah_attr stub_address(void)
{
    return stub_last_address;
}

struct ibv_ah *ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
    struct ibv_ah *ah;

    errno = stub.address_error;
    if (stub.address_error)
        return NULL;
    stub_last_address = *attr;
    ah = stub_new(sizeof(*ah));
    if (ah)
        ah->pd = pd;
    return ah;
}

int ibv_destroy_ah(struct ibv_ah *ah)
{
    return stub_delete(ah);
}

int ibv_destroy_qp(struct ibv_qp *ibv_qp)
{
    struct stub_qp *qp = (struct stub_qp *)ibv_qp;

    if (stub.destroys_qp)
        stub.destroys_qp();
    if (stub_is_windowed(NULL, ibv_qp))
        return EBUSY;
    pthread_mutex_lock(&stub_lock);
    if (qp->peer)
        qp->peer->peer = NULL;
    pthread_mutex_unlock(&stub_lock);
    free(qp->sq.work);
    free(qp->own_rq.work);
    return stub_delete(qp);
}

/* ---------------------------------------------------------------- S-RQs */

struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *init)
{
    struct stub_srq *srq = stub_new(sizeof(*srq));

    if (!srq)
        return NULL;
    srq->srq.context = pd->context;
    srq->srq.srq_context = init->srq_context;
    srq->srq.pd = pd;
    srq->rq.work = calloc(STUB_QUEUE, sizeof(*srq->rq.work));
    return &srq->srq;
}

int ibv_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr, int mask)
{
    (void)mask;
    pthread_mutex_lock(&stub_lock);
    ((struct stub_srq *)srq)->limit = attr->srq_limit;
    pthread_mutex_unlock(&stub_lock);
    return 0;
}

int ibv_destroy_srq(struct ibv_srq *srq)
{
    free(((struct stub_srq *)srq)->rq.work);
    return stub_delete(srq);
}

const char *ibv_event_type_str(enum ibv_event_type event)
{
    (void)event;
    return "event";
}

const char *ibv_wc_status_str(enum ibv_wc_status status)
{
    (void)status;
    return "as told by the test";
}
