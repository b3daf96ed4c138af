/* SPDX-License-Identifier: BSD-2-Clause */
/* Objects of one context of a device are of no use to another context of it. */
#include "verbs_kit.h"

#include <errno.h>

enum {
    OCTETS = 64
};

static unsigned char memory[OCTETS];

struct context {
    struct ibv_context *context;
    struct ibv_pd *pd;
    struct ibv_cq *cq;
    struct ibv_mr *mr;
};

static void open_context(struct context *made)
{
    struct ibv_device **list = ibv_get_device_list(NULL);

    CHECK(list && list[0]);
    made->context = ibv_open_device(list[0]);
    CHECK(made->context != NULL);
    ibv_free_device_list(list);
    made->pd = ibv_alloc_pd(made->context);
    made->cq = ibv_create_cq(made->context, 8, NULL, NULL, 0);
    made->mr = ibv_reg_mr(made->pd, memory, OCTETS, IBV_ACCESS_LOCAL_WRITE);
    CHECK(made->pd && made->cq && made->mr);
}

static void close_context(const struct context *made)
{
    CHECK_EQ(0, ibv_dereg_mr(made->mr));
    CHECK_EQ(0, ibv_destroy_cq(made->cq));
    CHECK_EQ(0, ibv_dealloc_pd(made->pd));
    CHECK_EQ(0, ibv_close_device(made->context));
}

static struct ibv_qp *create(struct ibv_pd *pd, struct ibv_cq *sends, struct ibv_cq *receives)
{
    struct ibv_qp_init_attr init = {
        .send_cq = sends, .recv_cq = receives, .qp_type = IBV_QPT_RC, .cap = {4, 4, 1, 1, 0}};

    errno = 0;
    return ibv_create_qp(pd, &init);
}

static void foreign_queues(const struct context *own, const struct context *other)
{
    CHECK(create(own->pd, other->cq, own->cq) == NULL && errno == EINVAL);
    CHECK(create(own->pd, own->cq, other->cq) == NULL && errno == EINVAL);
}

/* Both are the first regions of their contexts. */
static void foreign_region(const struct context *own, const struct context *other)
{
    struct ibv_qp *qp = create(own->pd, own->cq, own->cq);
    struct ibv_sge sge = {(uintptr_t)memory, 8, other->mr->lkey};
    struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE};
    struct ibv_send_wr *bad;

    CHECK(qp != NULL);
    wr.wr.rdma.rkey = own->mr->rkey; /* which would be wrong, too */
    verbs_kit.context = own->context;
    verbs_kit_bring_up(qp, qp->qp_num);
    CHECK_EQ(0, ibv_post_send(qp, &wr, &bad));
    CHECK_EQ(IBV_WC_LOC_PROT_ERR, verbs_kit_completion(own->cq).status);
    CHECK_EQ(0, ibv_destroy_qp(qp));
}

int main(void)
{
    struct context first;
    struct context second;

    open_context(&first);
    open_context(&second);
    foreign_queues(&first, &second);
    foreign_region(&first, &second);
    foreign_region(&second, &first);
    close_context(&first);
    close_context(&second);
    check_done();
    return 0;
}
