/* SPDX-License-Identifier: BSD-2-Clause */
/* Processes that exit as soon as they have what was sent to them. It must count as delivered. */
#include "verbs_kit.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    PEERS = 8,
    POLLS = 10000,
    BYTES = 64
};

/* The data that each process sends to the other to connect. */
struct hello {
    uint32_t number;
};

struct peer {
    pid_t pid;
    int in;
    int out;
};

struct end {
    struct ibv_mr *mr;
    struct ibv_cq *cq;
    struct ibv_qp *qp;
};

static unsigned char memory[2 * BYTES];

static void open_end(struct end *end)
{
    struct ibv_qp_init_attr init = {.qp_type = IBV_QPT_RC, .sq_sig_all = 1, .cap = {4, 4, 1, 1, 0}};

    verbs_kit_open();
    end->mr = ibv_reg_mr(verbs_kit.pd, memory, sizeof(memory), IBV_ACCESS_LOCAL_WRITE);
    end->cq = ibv_create_cq(verbs_kit.context, 8, NULL, NULL, 0);
    init.send_cq = init.recv_cq = end->cq;
    end->qp = ibv_create_qp(verbs_kit.pd, &init);
    CHECK(end->mr && end->cq && end->qp);
}

static void close_end(struct end *end)
{
    CHECK_EQ(0, ibv_destroy_qp(end->qp));
    CHECK_EQ(0, ibv_destroy_cq(end->cq));
    CHECK_EQ(0, ibv_dereg_mr(end->mr));
    verbs_kit_close();
}

static void meet(const struct end *end, const struct peer *peer)
{
    struct hello mine = {end->qp->qp_num};
    struct hello other;

    CHECK_EQ(sizeof(mine), write(peer->out, &mine, sizeof(mine)));
    CHECK_EQ(sizeof(other), read(peer->in, &other, sizeof(other)));
    verbs_kit_bring_up(end->qp, other.number);
}

/* ---- The process that ends ------------------------------------------------------------------ */

static _Noreturn void live(const struct peer *parent)
{
    struct ibv_sge sge = {(uintptr_t)memory + BYTES, BYTES, 0};
    struct ibv_recv_wr wr = {.sg_list = &sge, .num_sge = 1};
    struct ibv_recv_wr *bad;
    struct ibv_wc wc;
    struct end end;

    open_end(&end);
    sge.lkey = end.mr->lkey;
    meet(&end, parent);
    CHECK_EQ(0, ibv_post_recv(end.qp, &wr, &bad));
    /* From here on the program's own polls read the socket, and no thread acknowledges at once. */
    for (int i = 0; i < POLLS; i++)
        CHECK_EQ(0, ibv_poll_cq(end.cq, 1, &wc));
    CHECK_EQ(1, write(parent->out, "", 1));
    CHECK_EQ(IBV_WC_SUCCESS, verbs_kit_completion(end.cq).status);
    check_done();
    _exit(0);
}

static void give_birth(struct peer *peer)
{
    int up[2];
    int down[2];

    CHECK_EQ(0, pipe(up));
    CHECK_EQ(0, pipe(down));
    *peer = (struct peer){.in = up[0], .out = down[1]};
    peer->pid = fork();
    CHECK(peer->pid >= 0);
    if (peer->pid == 0 && prctl(PR_SET_PDEATHSIG, SIGKILL) == 0)
        live(&(struct peer){.in = down[0], .out = up[1]});
}

/* ---- The other one -------------------------------------------------------------------------- */

static void post_send(const struct end *end)
{
    struct ibv_sge sge = {(uintptr_t)memory, BYTES, end->mr->lkey};
    struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND};
    struct ibv_send_wr *bad;

    CHECK_EQ(0, ibv_post_send(end->qp, &wr, &bad));
}

static void talk(const struct peer *peer)
{
    struct end end;
    char ready;
    int status;

    open_end(&end);
    meet(&end, peer);
    CHECK_EQ(1, read(peer->in, &ready, 1));
    post_send(&end);
    CHECK_EQ(IBV_WC_SUCCESS, verbs_kit_completion(end.cq).status);
    CHECK_EQ(peer->pid, waitpid(peer->pid, &status, 0));
    CHECK_EQ(0, status);
    close_end(&end);
}

int main(void)
{
    struct peer peers[PEERS];

    for (int i = 0; i < PEERS; i++)
        give_birth(&peers[i]);
    for (int i = 0; i < PEERS; i++)
        talk(&peers[i]);
    check_done();
    return 0;
}
