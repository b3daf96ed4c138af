/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared receive queues: those of UD queue pairs draw in the order of posting and raise events.
 * Others get receives before there is a queue pair, and are told of their last one in ERR. One that
 * cannot be created decides nothing.
 */
#include "verbs_kit.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/resource.h>

enum {
    QKEY = 99,
    GRH = 40,
    BYTES = 8,
    PLACE = GRH + BYTES,
    DEPTH = 4
};

static struct ibv_mr *mr;
static struct ibv_cq *sends;
static struct ibv_cq *receives;
static unsigned char memory[(DEPTH + 1) * PLACE]; /* the last place is for sends */

static struct ibv_srq *create_srq(void)
{
    struct ibv_srq_init_attr init = {.attr = {.max_wr = DEPTH, .max_sge = 1}};
    struct ibv_srq *srq = ibv_create_srq(verbs_kit.pd, &init);

    CHECK(srq != NULL);
    return srq;
}

static struct ibv_qp *create_qp(enum ibv_qp_type type, struct ibv_srq *srq)
{
    struct ibv_qp_init_attr init = {.qp_type = type,
                                    .srq = srq,
                                    .send_cq = sends,
                                    .recv_cq = receives,
                                    .sq_sig_all = 1,
                                    .cap = {DEPTH, 0, 1, 1, 0}};

    return ibv_create_qp(verbs_kit.pd, &init);
}

/* Returns 0 or an errno. */
static int post(struct ibv_srq *srq, unsigned int place)
{
    struct ibv_sge sge = {(uintptr_t)memory + (size_t)place * PLACE, PLACE, mr->lkey};
    struct ibv_recv_wr wr = {.wr_id = place, .sg_list = &sge, .num_sge = 1};
    struct ibv_recv_wr *bad = NULL;
    int error = ibv_post_srq_recv(srq, &wr, &bad);

    CHECK(error == 0 || bad == &wr);
    return error;
}

static void post_send(struct ibv_qp *qp, struct ibv_ah *ah, uint32_t to, unsigned char value)
{
    struct ibv_sge sge = {(uintptr_t)memory + (size_t)DEPTH * PLACE, BYTES, mr->lkey};
    struct ibv_send_wr *bad;
    struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND};

    if (ah) {
        wr.wr.ud.ah = ah;
        wr.wr.ud.remote_qpn = to;
        wr.wr.ud.remote_qkey = QKEY;
    }
    memset(memory + (size_t)DEPTH * PLACE, value, BYTES);
    CHECK_EQ(0, ibv_post_send(qp, &wr, &bad));
    CHECK_EQ(IBV_WC_SUCCESS, verbs_kit_completion(sends).status);
}

/* Takes the next receive, which must be this one and have this value at offset `behind`. */
static void expect(const struct ibv_qp *qp, unsigned int place, size_t behind, unsigned char value)
{
    struct ibv_wc wc = verbs_kit_completion(receives);

    CHECK_EQ(IBV_WC_SUCCESS, wc.status);
    CHECK_EQ(IBV_WC_RECV, wc.opcode);
    CHECK_EQ(place, wc.wr_id);
    CHECK_EQ(qp->qp_num, wc.qp_num);
    CHECK_EQ(behind + BYTES, wc.byte_len);
    CHECK_EQ(value, memory[place * PLACE + behind]);
}

static bool has_event(void)
{
    struct pollfd fd = {.fd = verbs_kit.context->async_fd, .events = POLLIN};

    return poll(&fd, 1, 0) == 1;
}

static struct ibv_async_event event(void)
{
    struct ibv_async_event event;

    CHECK_EQ(0, ibv_get_async_event(verbs_kit.context, &event));
    ibv_ack_async_event(&event);
    return event;
}

/* ---- Datagrams ------------------------------------------------------------------------------ */

static void limit(struct ibv_srq *srq, struct ibv_qp *from, struct ibv_ah *ah,
                  const struct ibv_qp *to)
{
    struct ibv_srq_attr attr = {.srq_limit = DEPTH - 1};
    struct ibv_async_event told;

    CHECK_EQ(0, ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT));
    post_send(from, ah, to->qp_num, 1);
    expect(to, 0, GRH, 1);
    CHECK(!has_event());
    post_send(from, ah, to->qp_num, 2);
    expect(to, 1, GRH, 2);
    told = event();
    CHECK_EQ(IBV_EVENT_SRQ_LIMIT_REACHED, told.event_type);
    CHECK(told.element.srq == srq);
    post_send(from, ah, to->qp_num, 3);
    expect(to, 2, GRH, 3);
    CHECK(!has_event());
    CHECK_EQ(0, ibv_query_srq(srq, &attr));
    CHECK_EQ(DEPTH, attr.max_wr);
}

/* One queue pair fails. The receives also belong to the others. */
static void failure(struct ibv_srq *srq, struct ibv_qp *failing)
{
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};
    struct ibv_async_event told;
    struct ibv_wc wc;

    CHECK_EQ(0, ibv_modify_qp(failing, &attr, IBV_QP_STATE));
    CHECK_EQ(0, ibv_modify_qp(failing, &attr, IBV_QP_STATE));
    told = event();
    CHECK_EQ(IBV_EVENT_QP_LAST_WQE_REACHED, told.event_type);
    CHECK(told.element.qp == failing);
    CHECK(!has_event());
    CHECK_EQ(0, ibv_poll_cq(receives, 1, &wc));
    CHECK_EQ(0, post(srq, 1));
}

static void datagrams(void)
{
    struct ibv_ah_attr vector = {.is_global = 1, .port_num = 1};
    struct ibv_srq_attr size = {.max_wr = DEPTH / 2};
    struct ibv_srq *srq = create_srq();
    struct ibv_qp *ends[2];
    struct ibv_ah *ah;

    CHECK_EQ(0, ibv_query_gid(verbs_kit.context, 1, 0, &vector.grh.dgid));
    ah = ibv_create_ah(verbs_kit.pd, &vector);
    CHECK(ah != NULL);
    CHECK_EQ(0, post(srq, 0)); /* there is no queue pair yet */
    CHECK_EQ(0, post(srq, 1));
    for (int i = 0; i < 2; i++) {
        ends[i] = create_qp(IBV_QPT_UD, srq);
        CHECK(ends[i] != NULL);
        verbs_kit_bring_up_ud(ends[i], QKEY);
    }
    errno = 0;
    CHECK(create_qp(IBV_QPT_RC, srq) == NULL && errno == EOPNOTSUPP);
    CHECK_EQ(0, post(srq, 2));
    CHECK_EQ(0, post(srq, 3));
    CHECK_EQ(ENOMEM, post(srq, 3));
    CHECK_EQ(EINVAL, ibv_modify_srq(srq, &size, IBV_SRQ_MAX_WR));
    limit(srq, ends[0], ah, ends[1]);
    failure(srq, ends[1]);
    CHECK_EQ(0, ibv_modify_srq(srq, &size, IBV_SRQ_MAX_WR));
    CHECK_EQ(ENOMEM, post(srq, 2));
    post_send(ends[0], ah, ends[1]->qp_num, 4); /* lost */
    post_send(ends[0], ah, ends[0]->qp_num, 5);
    expect(ends[0], 3, GRH, 5);
    post_send(ends[0], ah, ends[0]->qp_num, 6);
    expect(ends[0], 1, GRH, 6);
    CHECK_EQ(EBUSY, ibv_destroy_srq(srq));
    for (int i = 0; i < 2; i++)
        CHECK_EQ(0, ibv_destroy_qp(ends[i]));
    CHECK_EQ(0, ibv_destroy_ah(ah));
    CHECK_EQ(0, ibv_destroy_srq(srq));
}

/* ---- Connections ---------------------------------------------------------------------------- */

static void connections(void)
{
    struct ibv_srq_attr attr = {.srq_limit = 1};
    struct ibv_srq *srq = create_srq();
    struct ibv_qp *qp;

    CHECK_EQ(0, post(srq, 0));
    CHECK_EQ(0, post(srq, 1));
    CHECK_EQ(0, ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT));
    CHECK(!has_event());
    qp = create_qp(IBV_QPT_RC, srq);
    CHECK(qp != NULL);
    errno = 0;
    CHECK(create_qp(IBV_QPT_UD, srq) == NULL && errno == EOPNOTSUPP);
    verbs_kit_bring_up(qp, qp->qp_num);
    post_send(qp, NULL, 0, 7);
    expect(qp, 0, 0, 7);
    post_send(qp, NULL, 0, 8);
    expect(qp, 1, 0, 8);
    CHECK_EQ(IBV_EVENT_SRQ_LIMIT_REACHED, event().event_type);
    CHECK_EQ(0, ibv_destroy_qp(qp));
    CHECK_EQ(0, ibv_destroy_srq(srq));
}

static enum ibv_qp_state state_of(struct ibv_qp *qp)
{
    struct ibv_qp_init_attr init;
    struct ibv_qp_attr attr;

    CHECK_EQ(0, ibv_query_qp(qp, &attr, IBV_QP_STATE, &init));
    return attr.qp_state;
}

/* Posts a Send to a peer that is gone. The queue pair stays as it is until this Send fails. */
static void send_in_vain(struct ibv_qp *qp)
{
    struct ibv_sge sge = {(uintptr_t)memory, BYTES, mr->lkey};
    struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND};
    struct ibv_send_wr *bad;
    struct ibv_wc wc;

    CHECK_EQ(0, ibv_post_send(qp, &wr, &bad));
    while (ibv_poll_cq(sends, 1, &wc) == 0)
        CHECK(!has_event() || state_of(qp) == IBV_QPS_ERR);
    CHECK_EQ(IBV_WC_RETRY_EXC_ERR, wc.status);
}

/*
 * The event of the last receive comes when the queue pair enters ERR, and not when its peer does,
 * which a queue pair of InfiniBand does not notice. One that is reset has no such event.
 */
static void last_receive(void)
{
    struct ibv_qp_attr error = {.qp_state = IBV_QPS_ERR};
    struct ibv_qp_attr reset = {.qp_state = IBV_QPS_RESET};
    struct ibv_srq *srq = create_srq();
    struct ibv_qp *qp = create_qp(IBV_QPT_RC, srq);
    struct ibv_qp *peer = create_qp(IBV_QPT_RC, NULL);
    uint8_t timeout = verbs_kit_timeout;
    struct ibv_async_event told;

    CHECK(qp && peer);
    CHECK_EQ(0, post(srq, 0));
    verbs_kit_bring_up(qp, peer->qp_num);
    verbs_kit_bring_up(peer, qp->qp_num);
    post_send(peer, NULL, 0, 9);
    expect(qp, 0, 0, 9);
    CHECK_EQ(0, ibv_modify_qp(qp, &reset, IBV_QP_STATE));
    CHECK_EQ(0, ibv_modify_qp(peer, &reset, IBV_QP_STATE));
    CHECK(!has_event());
    verbs_kit_timeout = 12; /* 17 ms, eight times */
    verbs_kit_bring_up(qp, peer->qp_num);
    verbs_kit_timeout = timeout;
    verbs_kit_bring_up(peer, qp->qp_num);
    CHECK_EQ(0, post(srq, 0));
    post_send(peer, NULL, 0, 9);
    expect(qp, 0, 0, 9);
    CHECK_EQ(0, ibv_modify_qp(peer, &error, IBV_QP_STATE));
    send_in_vain(qp);
    told = event();
    CHECK_EQ(IBV_EVENT_QP_LAST_WQE_REACHED, told.event_type);
    CHECK(told.element.qp == qp);
    CHECK_EQ(0, ibv_destroy_qp(qp));
    CHECK_EQ(0, ibv_destroy_qp(peer));
    CHECK(!has_event());
    CHECK_EQ(0, ibv_destroy_srq(srq));
}

/* ---- A queue pair that is not created ------------------------------------------------------- */

/*
 * Returns an S-RQ for which no queue pair could be created, for lack of descriptors: the first
 * queue pair of a process needs one for its number.
 */
static struct ibv_srq *tried_in_vain(enum ibv_qp_type type)
{
    struct ibv_srq *srq = create_srq();
    struct rlimit limit;
    struct rlimit none;

    CHECK_EQ(0, post(srq, 0));
    CHECK_EQ(0, getrlimit(RLIMIT_NOFILE, &limit));
    none = (struct rlimit){.rlim_cur = 0, .rlim_max = limit.rlim_max};
    CHECK_EQ(0, setrlimit(RLIMIT_NOFILE, &none));
    CHECK(create_qp(type, srq) == NULL);
    CHECK_EQ(0, setrlimit(RLIMIT_NOFILE, &limit));
    return srq;
}

/* The S-RQ takes queue pairs of this type, with all its receives. */
static void takes(struct ibv_srq *srq, enum ibv_qp_type type)
{
    struct ibv_qp *qp;

    for (unsigned int i = 1; i < DEPTH; i++)
        CHECK_EQ(0, post(srq, i));
    CHECK_EQ(ENOMEM, post(srq, 0));
    qp = create_qp(type, srq);
    CHECK(qp != NULL);
    CHECK_EQ(ENOMEM, post(srq, 0));
    CHECK_EQ(0, ibv_destroy_qp(qp));
    CHECK_EQ(0, ibv_destroy_srq(srq));
}

static void in_vain(void)
{
    struct ibv_srq *connections = tried_in_vain(IBV_QPT_RC);
    struct ibv_srq *datagrams = tried_in_vain(IBV_QPT_UD);

    takes(connections, IBV_QPT_UD);
    takes(datagrams, IBV_QPT_RC);
}

int main(void)
{
    verbs_kit_open();
    mr = ibv_reg_mr(verbs_kit.pd, memory, sizeof(memory), IBV_ACCESS_LOCAL_WRITE);
    sends = ibv_create_cq(verbs_kit.context, DEPTH, NULL, NULL, 0);
    receives = ibv_create_cq(verbs_kit.context, DEPTH, NULL, NULL, 0);
    CHECK(mr && sends && receives);
    in_vain();
    datagrams();
    connections();
    last_receive();
    CHECK_EQ(0, ibv_destroy_cq(sends));
    CHECK_EQ(0, ibv_destroy_cq(receives));
    CHECK_EQ(0, ibv_dereg_mr(mr));
    verbs_kit_close();
    check_done();
    return 0;
}
