/* SPDX-License-Identifier: BSD-2-Clause */
/* Connections of a process that forks continue in the process that uses them. */
#include "cm_kit.h"
#include "verbs_kit.h"

#include <rdma/rdma_verbs.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    LENGTH = 64
};

static struct {
    struct rdma_cm_id *listener;
    struct rdma_cm_id *a; /* the caller */
    struct rdma_cm_id *b;
    struct ibv_mr *mr;
    char bytes[4][LENGTH]; /* sent and received by a, by b */
} bed;

enum {
    A_SENDS,
    A_RECEIVES,
    B_SENDS,
    B_RECEIVES
};

static void bed_open(void)
{
    bed.listener = cm_kit_listen_at(2, 0);
    bed.a = cm_kit_call(2, rdma_get_src_port(bed.listener), "fork");
    bed.b = cm_kit_requested("fork");
    cm_kit_equip(bed.b);
    CHECK_EQ(0, rdma_accept(bed.b, NULL));
    CHECK(cm_kit_pass(cm_kit.server, RDMA_CM_EVENT_ESTABLISHED) == bed.b);
    CHECK(cm_kit_pass(cm_kit.client, RDMA_CM_EVENT_ESTABLISHED) == bed.a);
    memset(bed.bytes, 0, sizeof(bed.bytes));
    bed.mr = rdma_reg_msgs(bed.a, bed.bytes, sizeof(bed.bytes));
    CHECK(bed.mr);
}

static void bed_close(void)
{
    cm_kit_destroy(bed.a);
    cm_kit_destroy(bed.b);
    cm_kit_destroy(bed.listener);
    CHECK_EQ(0, rdma_dereg_mr(bed.mr));
    /* Ends the connections, so that the next test starts without any. */
    cm_kit_close();
    cm_kit_open();
}

static void receive(struct rdma_cm_id *id, int place)
{
    CHECK_EQ(0, rdma_post_recv(id, NULL, bed.bytes[place], LENGTH, bed.mr));
}

static void send_word(struct rdma_cm_id *id, int place, const char *word)
{
    (void)strcpy(bed.bytes[place], word);
    CHECK_EQ(0, rdma_post_send(id, NULL, bed.bytes[place], LENGTH, bed.mr, IBV_SEND_SIGNALED));
}

static void completes(struct ibv_cq *cq)
{
    struct ibv_wc wc;

    while (ibv_poll_cq(cq, 1, &wc) == 0) {
    }
    CHECK_EQ(IBV_WC_SUCCESS, wc.status);
}

static void ends_well(pid_t child)
{
    int status = -1;

    CHECK_EQ(child, waitpid(child, &status, 0));
    CHECK_EQ(0, status);
}

/* ---- Tests ---------------------------------------------------------------------------------- */

static void child_answers(void)
{
    completes(bed.b->recv_cq);
    CHECK(strcmp("ping", bed.bytes[B_RECEIVES]) == 0);
    send_word(bed.b, B_SENDS, "pong");
    completes(bed.b->send_cq);
    check_done();
    _exit(0);
}

/* The parent has posted the receive and continues with the other end. */
static void child_goes_on(void)
{
    pid_t child;

    bed_open();
    receive(bed.a, A_RECEIVES);
    receive(bed.b, B_RECEIVES);
    child = fork();
    if (child == 0)
        child_answers();
    send_word(bed.a, A_SENDS, "ping");
    completes(bed.a->send_cq);
    completes(bed.a->recv_cq);
    CHECK(strcmp("pong", bed.bytes[A_RECEIVES]) == 0);
    ends_well(child);
    CHECK(cm_kit_pass(cm_kit.client, RDMA_CM_EVENT_DISCONNECTED) == bed.a);
    CHECK_EQ(0, bed.bytes[B_RECEIVES][0]); /* the receive was in the child's copy of the memory */
    bed_close();
}

/*
 * After the fork the parent makes no call on end b before its message has arrived. The end stays
 * with the parent, since the child does not use it.
 */
static void parent_goes_on(void (*child_does)(void))
{
    pid_t child;

    bed_open();
    receive(bed.b, B_RECEIVES);
    child = fork();
    if (child == 0) {
        child_does();
        _exit(1);
    }
    send_word(bed.a, A_SENDS, "ping");
    completes(bed.a->send_cq);
    CHECK(strcmp("ping", bed.bytes[B_RECEIVES]) == 0);
    completes(bed.b->recv_cq);
    (void)kill(child, SIGKILL);
    CHECK_EQ(child, waitpid(child, NULL, 0));
    /* The same again, without a child. */
    receive(bed.b, B_RECEIVES);
    send_word(bed.a, A_SENDS, "again");
    completes(bed.a->send_cq);
    completes(bed.b->recv_cq);
    CHECK(strcmp("again", bed.bytes[B_RECEIVES]) == 0);
    bed_close();
}

static void runs_another_program(void)
{
    (void)execlp("sleep", "sleep", "60", (char *)NULL);
}

static void is_idle(void)
{
    (void)pause(); /* until the parent kills this process */
}

/* A child may use rdma_cm anew. It has devices, channels and listeners of its own. */
static void child_begins_anew(void)
{
    pid_t child = fork();

    if (child == 0) {
        bed_open();
        receive(bed.b, B_RECEIVES);
        send_word(bed.a, A_SENDS, "child");
        completes(bed.a->send_cq);
        completes(bed.b->recv_cq);
        CHECK(strcmp("child", bed.bytes[B_RECEIVES]) == 0);
        bed_close();
        check_done();
        _exit(0);
    }
    ends_well(child);
}

/* ---- Datagrams ------------------------------------------------------------------------------ */

enum {
    QKEY = 5,
    GRH = 40,
    DATAGRAMS = 8
};

struct datagram_end {
    struct ibv_cq *cq;
    struct ibv_qp *qp;
    struct ibv_mr *mr;
    struct ibv_ah *ah; /* to any end of this host */
    unsigned char room[GRH + LENGTH];
};

static void datagram_open(struct datagram_end *end)
{
    struct ibv_ah_attr where = {.is_global = 1, .port_num = 1};
    struct ibv_qp_init_attr init = {.qp_type = IBV_QPT_UD,
                                    .sq_sig_all = 1,
                                    .cap = {2 * DATAGRAMS, 2 * DATAGRAMS, 1, 1, LENGTH}};

    end->cq = ibv_create_cq(verbs_kit.context, 4 * DATAGRAMS, NULL, NULL, 0);
    end->mr = ibv_reg_mr(verbs_kit.pd, end->room, sizeof(end->room), IBV_ACCESS_LOCAL_WRITE);
    CHECK_EQ(0, ibv_query_gid(verbs_kit.context, 1, 0, &where.grh.dgid));
    end->ah = ibv_create_ah(verbs_kit.pd, &where);
    init.send_cq = init.recv_cq = end->cq;
    end->qp = ibv_create_qp(verbs_kit.pd, &init);
    CHECK(end->cq && end->mr && end->ah && end->qp);
    verbs_kit_bring_up_ud(end->qp, QKEY);
}

static void datagram_close(const struct datagram_end *end)
{
    CHECK_EQ(0, ibv_destroy_qp(end->qp));
    CHECK_EQ(0, ibv_destroy_ah(end->ah));
    CHECK_EQ(0, ibv_dereg_mr(end->mr));
    CHECK_EQ(0, ibv_destroy_cq(end->cq));
}

static void datagram_receive(struct datagram_end *end)
{
    struct ibv_sge sge = {(uintptr_t)end->room, sizeof(end->room), end->mr->lkey};
    struct ibv_recv_wr *bad;

    CHECK_EQ(0, ibv_post_recv(end->qp, &(struct ibv_recv_wr){.sg_list = &sge, .num_sge = 1}, &bad));
}

/* Sends an empty datagram with this immediate value. Completes at once. */
static void datagram_send(const struct datagram_end *end, const struct datagram_end *to,
                          uint32_t value)
{
    struct ibv_send_wr wr = {.opcode = IBV_WR_SEND_WITH_IMM, .imm_data = htonl(value)};
    struct ibv_send_wr *bad;

    wr.wr.ud.ah = end->ah;
    wr.wr.ud.remote_qpn = to->qp->qp_num;
    wr.wr.ud.remote_qkey = QKEY;
    CHECK_EQ(0, ibv_post_send(end->qp, &wr, &bad));
    CHECK_EQ(IBV_WC_SEND, verbs_kit_completion(end->cq).opcode);
}

/*
 * The queue pairs of the parent move nothing in the child, which may make others. Datagrams for the
 * parent wait in its socket meanwhile.
 */
static void child_of_datagrams(const struct datagram_end *a, const struct datagram_end *b)
{
    struct datagram_end own;
    struct ibv_wc wc;

    for (unsigned int i = 0; i < DATAGRAMS; i++)
        datagram_send(a, b, 1000);
    for (unsigned int i = 0; i < 1000; i++)
        CHECK_EQ(0, ibv_poll_cq(b->cq, 1, &wc));
    datagram_open(&own);
    CHECK(own.qp->qp_num >> 8 != a->qp->qp_num >> 8);
    datagram_receive(&own);
    datagram_send(&own, &own, 2000);
    CHECK_EQ(2000, ntohl(verbs_kit_completion(own.cq).imm_data));
    datagram_close(&own);
    datagram_close(b);
    check_done();
    _exit(0);
}

static void datagrams_stay_with_the_parent(void)
{
    struct datagram_end a;
    struct datagram_end b;
    pid_t child;

    verbs_kit_open();
    datagram_open(&a);
    datagram_open(&b);
    for (unsigned int i = 0; i < DATAGRAMS; i++)
        datagram_receive(&b);
    child = fork();
    if (child == 0)
        child_of_datagrams(&a, &b);
    for (uint32_t i = 0; i < DATAGRAMS / 2; i++)
        datagram_send(&a, &b, i);
    ends_well(child);
    for (uint32_t i = DATAGRAMS / 2; i < DATAGRAMS; i++)
        datagram_send(&a, &b, i);
    for (uint32_t i = 0; i < DATAGRAMS; i++)
        CHECK_EQ(i, ntohl(verbs_kit_completion(b.cq).imm_data));
    datagram_close(&a);
    datagram_close(&b);
    verbs_kit_close();
}

int main(void)
{
#ifdef __SANITIZE_THREAD__
    puts("skipped: ThreadSanitizer allows no threads after a fork");
    return 77;
#endif
    cm_kit_open();
    child_goes_on();
    child_begins_anew();
    parent_goes_on(runs_another_program);
    parent_goes_on(is_idle);
    child_goes_on();
    cm_kit_close();
    datagrams_stay_with_the_parent();
    check_done();
    return 0;
}
