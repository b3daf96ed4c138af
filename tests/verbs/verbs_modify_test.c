/* SPDX-License-Identifier: BSD-2-Clause */
/* it_ep_modify: what reaches the QP, and what a QP cannot change. */
#include "verbs/fixture_stub.h"

#include <criterion/criterion.h>
#include <errno.h>

static void start(void)
{
    stub_start();
    stub_pair();
}

TestSuite(verbs_modify, .init = start, .fini = stub_close);

static it_ep_attributes_t attributes(void)
{
    it_ep_param_t param;

    CHECK_OK(it_ep_query(n.a, IT_EP_PARAM_ALL, &param));
    return param.attr;
}

static it_status_t modify(unsigned mask, const it_ep_attributes_t *attr)
{
    return it_ep_modify(n.a, (it_ep_param_mask_t)mask, attr);
}

/* Only the rights that are named change. */
static void rights_change(void)
{
    it_ep_attributes_t attr = attributes();

    attr.srv.rc.rdma_read_enable = attr.srv.rc.rdma_write_enable = attr.srv.rc.atomics_enable =
        IT_FALSE;
    CHECK_OK(modify(IT_EP_PARAM_RDMA_RD_ENABLE, &attr));
    CHECK_EQ(IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC, stub_access(stub_qp(n.a)));
    CHECK_OK(modify(IT_EP_PARAM_RDMA_WR_ENABLE, &attr));
    CHECK_EQ(IBV_ACCESS_REMOTE_ATOMIC, stub_access(stub_qp(n.a)));
    CHECK_OK(modify(IT_EP_PARAM_ATOMICS_ENABLE, &attr));
    CHECK_EQ(0, stub_access(stub_qp(n.a)));
    attr.srv.rc.rdma_read_enable = IT_TRUE;
    CHECK_OK(modify(IT_EP_PARAM_RDMA_RD_ENABLE, &attr));
    CHECK_EQ(IBV_ACCESS_REMOTE_READ, stub_access(stub_qp(n.a)));
}

Test(verbs_modify, rights_of_a_connection)
{
    rights_change();
}

Test(verbs_modify, rights_without_a_connection)
{
    stub_disconnected(n.a);
    CHECK_OK(it_ep_reset(n.a));
    rights_change();
}

/* Three-way: the consumer has been asked. The QP gets the rights with its next state. */
Test(verbs_modify, rights_while_the_connection_is_made)
{
    it_ep_attributes_t attr;
    unsigned before;

    n.a = stub_node_ep(&n, &usual);
    stub_attempt(n.a, stub_node_ep(&n, &usual));
    stub_arrived(n.a);
    before = stub_access(stub_qp(n.a));
    attr = attributes();
    attr.srv.rc.rdma_read_enable = IT_FALSE;
    stub.modify_error = EINVAL;
    CHECK_OK(modify(IT_EP_PARAM_RDMA_RD_ENABLE, &attr));
    stub.modify_error = 0;
    CHECK_EQ(before, stub_access(stub_qp(n.a)));
    CHECK_EQ(IT_FALSE, attributes().srv.rc.rdma_read_enable);
}

Test(verbs_modify, rights_that_the_device_refuses)
{
    it_ep_attributes_t attr = attributes();

    attr.srv.rc.rdma_read_enable = IT_FALSE;
    stub.modify_error = ENOMEM;
    CHECK_STATUS(IT_ERR_RESOURCES, modify(IT_EP_PARAM_RDMA_RD_ENABLE, &attr));
    stub.modify_error = 0;
    CHECK_EQ(IT_TRUE, attributes().srv.rc.rdma_read_enable);
}

/* The QP was made with so many; fewer are no change for it. */
Test(verbs_modify, segments)
{
    static const unsigned masks[] = {IT_EP_PARAM_MAX_SEND_SEG, IT_EP_PARAM_MAX_RECV_SEG,
                                     IT_EP_PARAM_MAX_RDMA_READ_SEG, IT_EP_PARAM_MAX_RDMA_WRITE_SEG};

    stub_disconnected(n.a);
    CHECK_OK(it_ep_reset(n.a));
    for (size_t i = 0; i < sizeof(masks) / sizeof(masks[0]); i++) {
        it_ep_attributes_t attr = attributes();
        size_t *members[] = {&attr.max_send_segments, &attr.max_recv_segments,
                             &attr.srv.rc.max_rdma_read_segments,
                             &attr.srv.rc.max_rdma_write_segments};

        *members[i] = 1;
        CHECK_OK(modify(masks[i], &attr));
    }
}

/* The QP was made with two of each. */
Test(verbs_modify, more_segments)
{
    static const unsigned masks[] = {IT_EP_PARAM_MAX_SEND_SEG, IT_EP_PARAM_MAX_RECV_SEG,
                                     IT_EP_PARAM_MAX_RDMA_READ_SEG, IT_EP_PARAM_MAX_RDMA_WRITE_SEG};
    it_ep_attributes_t attr = fx_ep_attr();
    size_t *members[] = {&attr.max_send_segments, &attr.max_recv_segments,
                         &attr.srv.rc.max_rdma_read_segments, &attr.srv.rc.max_rdma_write_segments};
    it_ep_handle_t ep;

    for (size_t i = 0; i < sizeof(masks) / sizeof(masks[0]); i++)
        *members[i] = 2;
    ep = fx_ep(&n.fx, &attr);
    for (size_t i = 0; i < sizeof(masks) / sizeof(masks[0]); i++) {
        *members[i] = 3;
        CHECK_STATUS(IT_ERR_OP_NOT_SUPPORTED,
                     it_ep_modify(ep, (it_ep_param_mask_t)masks[i], &attr));
        *members[i] = 2;
        CHECK_OK(it_ep_modify(ep, (it_ep_param_mask_t)masks[i], &attr));
    }
    CHECK_OK(it_ep_free(ep));
}

/* The peer knows how many Reads there may be at once. */
Test(verbs_modify, reads_at_once)
{
    it_ep_attributes_t attr = attributes();

    CHECK_OK(modify(IT_EP_PARAM_MAX_ORD, &attr));
    attr.srv.rc.rdma_read_ord--;
    CHECK(modify(IT_EP_PARAM_MAX_ORD, &attr) != IT_SUCCESS);
    stub_disconnected(n.a);
    CHECK_OK(it_ep_reset(n.a));
    CHECK_OK(modify(IT_EP_PARAM_MAX_ORD, &attr));
}

/* A shorter payload holds for the posts that follow. */
Test(verbs_modify, payload)
{
    it_ep_attributes_t attr = attributes();
    it_lmr_triplet_t segment = fx_seg(&n.buf, 0, 64);

    attr.max_dto_payload_size = 63;
    CHECK_STATUS(IT_ERR_INVALID_EP_STATE, modify(IT_EP_PARAM_MAX_PAYLOAD, &attr));
    stub_disconnected(n.a);
    CHECK_OK(it_ep_reset(n.a));
    CHECK_OK(modify(IT_EP_PARAM_MAX_PAYLOAD, &attr));
    stub_disconnected(n.b);
    CHECK_OK(it_ep_reset(n.b));
    stub_connect(n.a, n.b);
    fx_recv(n.b, &n.buf, 128, 64, 2);
    fx_send(n.a, &n.buf, 0, 63, 1, FX_SIGNAL);
    fx_done(n.fx.request_evd, n.a, IT_DTO_SEND_CMPL_EVENT, 1, IT_DTO_SUCCESS);
    CHECK(it_post_send(n.a, &segment, 1, 1, FX_SIGNAL) != IT_SUCCESS); /* a memory known by now */
}
