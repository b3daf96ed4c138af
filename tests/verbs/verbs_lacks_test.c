/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Features that the provider lacks: it announces that, returns the documented status, and changes
 * nothing.
 */
#include "support/it_window.h"
#include "verbs/fixture_stub.h"

#include <criterion/criterion.h>
#include <string.h>

static void start(void)
{
    stub_start();
    stub.has_windows = true;
}

TestSuite(verbs_lacks, .init = start);

static it_ep_param_t ep_params(it_ep_handle_t ep)
{
    it_ep_param_t params;

    memset(&params, 0, sizeof(params));
    CHECK_OK(it_ep_query(ep, IT_EP_PARAM_ALL, &params));
    return params;
}

static void refused_by_ep(it_ep_handle_t ep, it_ep_param_mask_t mask,
                          const it_ep_attributes_t *attr, it_status_t status)
{
    it_ep_param_t before = ep_params(ep), after;

    CHECK_STATUS(status, it_ep_modify(ep, mask, attr));
    after = ep_params(ep);
    CHECK(memcmp(&before, &after, sizeof(before)) == 0);
}

Test(verbs_lacks, work_queues_that_change, .init = stub_pair, .fini = stub_close)
{
    const it_ep_param_mask_t masks[] = {IT_EP_PARAM_MAX_REQ_DTO, IT_EP_PARAM_MAX_RECV_DTO,
                                        IT_EP_PARAM_MAX_REQ_DTO | IT_EP_PARAM_MAX_RECV_DTO |
                                            IT_EP_PARAM_MAX_PAYLOAD};
    it_ep_attributes_t attr = fx_ep_attr();
    it_ia_info_t *info;
    size_t objects;

    CHECK_OK(it_ia_query(n.fx.ia, &info));
    CHECK_EQ(IT_FALSE, info->ep_work_queues_resizable);
    it_ia_info_free(info);
    objects = stub_objects();
    attr.max_dto_payload_size = 1000;
    for (size_t i = 0; i < sizeof(masks) / sizeof(masks[0]); i++) {
        for (size_t depth = 8; depth <= 32; depth += 24) {
            attr.max_request_dtos = attr.max_recv_dtos = depth;
            refused_by_ep(n.a, masks[i], &attr, IT_ERR_OP_NOT_SUPPORTED);
        }
    }
    CHECK_EQ(objects, stub_objects());
}

static it_srq_param_t srq_params(it_srq_handle_t srq)
{
    it_srq_param_t params;

    memset(&params, 0, sizeof(params));
    CHECK_OK(it_srq_query(srq, IT_SRQ_PARAM_ALL, &params));
    return params;
}

/* A low watermark in the same call is not set either. */
Test(verbs_lacks, srqs_that_change, .fini = stub_close)
{
    const it_srq_param_mask_t both =
        (it_srq_param_mask_t)(IT_SRQ_PARAM_MAX_RECV_DTO | IT_SRQ_PARAM_LOW_WATERMARK);
    it_srq_param_t before, after, wanted = {.low_watermark = 2};
    it_srq_handle_t srq;
    it_ia_info_t *info;

    stub_node_open(&n, &usual);
    CHECK_OK(it_ia_query(n.fx.ia, &info));
    CHECK_EQ(IT_FALSE, info->srq_resizable);
    it_ia_info_free(info);
    srq = fx_srq(&n.fx, 1, 8);
    before = srq_params(srq);
    CHECK_EQ(8, before.max_recv_dtos);
    for (size_t depth = 4; depth <= 16; depth += 4) {
        wanted.max_recv_dtos = depth;
        CHECK_STATUS(IT_ERR_OP_NOT_SUPPORTED,
                     it_srq_modify(srq, IT_SRQ_PARAM_MAX_RECV_DTO, &wanted));
        CHECK_STATUS(IT_ERR_OP_NOT_SUPPORTED, it_srq_modify(srq, both, &wanted));
    }
    after = srq_params(srq);
    CHECK(memcmp(&before, &after, sizeof(before)) == 0);
    CHECK_OK(it_srq_modify(srq, IT_SRQ_PARAM_LOW_WATERMARK, &wanted));
    CHECK_STATUS(IT_ERR_OP_NOT_SUPPORTED, itx_srq_set_message_timeout(srq, 1000));
    CHECK_STATUS(IT_ERR_INVALID_SRQ, itx_srq_set_message_timeout(NULL, 1000));
}

Test(verbs_lacks, high_watermarks, .init = stub_open, .fini = stub_close)
{
    it_ep_attributes_t attr = fx_ep_attr();
    it_ep_handle_t ep, none = NULL;
    it_srq_handle_t srq;
    it_ia_info_t *info;
    size_t objects;

    CHECK_OK(it_ia_query(n.fx.ia, &info));
    CHECK_EQ(IT_FALSE, info->soft_hi_watermark_support);
    CHECK_EQ(IT_FALSE, info->hard_hi_watermark_support);
    it_ia_info_free(info);
    srq = fx_srq(&n.fx, 1, 8);
    attr.max_request_dtos = 16;
    ep = fx_srq_ep(&n.fx, srq, &attr);
    objects = stub_objects();
    attr.srv.rc.srq = srq;
    attr.max_recv_dtos = 0;
    attr.srv.rc.soft_hi_watermark = 4;
    CHECK_STATUS(IT_ERR_SOFT_HI_WATERMARK, it_ep_rc_create(n.fx.pz, n.fx.request_evd, n.fx.recv_evd,
                                                           n.fx.conn_evd, IT_EP_SRQ, &attr, &none));
    refused_by_ep(ep, IT_EP_PARAM_SOFT_HI_WATERMARK, &attr, IT_ERR_SOFT_HI_WATERMARK);
    attr.srv.rc.soft_hi_watermark = 0;
    attr.srv.rc.hard_hi_watermark = 4;
    CHECK_STATUS(IT_ERR_HARD_HI_WATERMARK, it_ep_rc_create(n.fx.pz, n.fx.request_evd, n.fx.recv_evd,
                                                           n.fx.conn_evd, IT_EP_SRQ, &attr, &none));
    refused_by_ep(ep, IT_EP_PARAM_HARD_HI_WATERMARK, &attr, IT_ERR_HARD_HI_WATERMARK);
    CHECK(none == NULL);
    CHECK_EQ(objects, stub_objects());
}

Test(verbs_lacks, relative_addresses, .init = stub_pair, .fini = stub_close)
{
    struct fx_part part;
    it_rmr_context_t key = 77;
    it_lmr_handle_t lmr = NULL;
    it_rmr_handle_t rmr;
    it_ia_info_t *info;
    size_t objects;

    CHECK_OK(it_ia_query(n.fx.ia, &info));
    CHECK_EQ(IT_FALSE, info->addr_mode_relative_support);
    it_ia_info_free(info);
    rmr = fx_rmr(n.fx.pz, IT_RMR_TYPE_NARROW);
    objects = stub_objects();
    CHECK_STATUS(IT_ERR_INVALID_ADDR_MODE,
                 it_lmr_create20(n.fx.pz, n.buf.data, 64, IT_ADDR_MODE_RELATIVE, FX_PRIVS_ALL,
                                 IT_LMR_FLAG_NONE, 0, &lmr, &key));
    part = fx_whole(&n.buf);
    CHECK_STATUS(IT_ERR_INVALID_ADDR_MODE,
                 it_rmr_link(rmr, n.buf.lmr, n.buf.data, part.length, IT_ADDR_MODE_RELATIVE,
                             part.privs, n.a, 1, FX_SIGNAL, &key));
    CHECK(lmr == NULL && key == 77);
    CHECK(!fx_is_linked(rmr));
    fx_empty(n.fx.request_evd);
    CHECK_EQ(objects, stub_objects());
}

Test(verbs_lacks, reads_into_rmrs, .init = stub_pair, .fini = stub_close)
{
    it_rmr_triplet_t segment;
    it_rmr_handle_t rmr;
    struct fx_part part;
    it_ia_info_t *info;
    it_rmr_context_t key;

    CHECK_OK(it_ia_query(n.fx.ia, &info));
    CHECK_EQ(IT_FALSE, info->rdma_read_local_extensions);
    it_ia_info_free(info);
    part = fx_whole(&n.buf);
    rmr = fx_rmr(n.fx.pz, IT_RMR_TYPE_NARROW);
    key = fx_linked(n.fx.request_evd, n.a, rmr, &part);
    segment = fx_rmr_seg(rmr, &part, 0, 64);
    CHECK_STATUS(IT_ERR_OP_NOT_SUPPORTED,
                 it_post_rdma_read_to_rmr(n.a, &segment, 1, 2, FX_SIGNAL, fx_part_addr(&part, 128),
                                          n.buf.key));
    fx_empty(n.fx.request_evd);
    CHECK(fx_is_linked(rmr));
    CHECK(key != 0);
    fx_write(n.b, &n.buf, 0, 8, &n.buf, 64, 3, FX_SIGNAL); /* the connection still works */
    fx_done(n.fx.request_evd, n.b, IT_DTO_RDMA_WRITE_CMPL_EVENT, 3, IT_DTO_SUCCESS);
}
