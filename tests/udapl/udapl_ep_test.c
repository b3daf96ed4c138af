/* SPDX-License-Identifier: BSD-2-Clause */
/* Endpoints without a connection: attributes, parts, modify, refused posts. */
#include "support/check.h"

#include <dat2/udat.h>

#include <stddef.h>
#include <string.h>

static DAT_IA_HANDLE ia;
static DAT_PZ_HANDLE pz, second_pz;
static char buffer[4096];

#define EXPECT_TYPE(type, call) EXPECT_EQ(type, DAT_GET_TYPE(call))

static DAT_EP_HANDLE create_ep(DAT_PZ_HANDLE zone, const DAT_EP_ATTR *attr)
{
    DAT_EP_HANDLE ep;

    CHECK_EQ(DAT_SUCCESS, dat_ep_create(ia, zone, NULL, NULL, NULL, attr, &ep));
    return ep;
}

static DAT_EP_STATE state_of(DAT_EP_HANDLE ep)
{
    DAT_BOOLEAN recv_idle, request_idle;
    DAT_EP_STATE state;

    CHECK_EQ(DAT_SUCCESS, dat_ep_get_status(ep, &state, &recv_idle, &request_idle));
    return state;
}

static void check_defaults(void)
{
    DAT_EP_HANDLE ep = create_ep(pz, NULL);
    DAT_EP_PARAM param;

    CHECK_EQ(DAT_SUCCESS, dat_ep_query(ep, DAT_EP_FIELD_ALL, &param));
    EXPECT_EQ(DAT_EP_STATE_UNCONNECTED, param.ep_state);
    EXPECT(param.ia_handle == ia && param.pz_handle == pz && !param.recv_evd_handle);
    EXPECT(param.local_ia_address_ptr && param.remote_ia_address_ptr);
    EXPECT(param.ep_attr.max_recv_dtos > 0 && param.ep_attr.max_request_dtos > 0 &&
           param.ep_attr.max_recv_iov > 0 && param.ep_attr.max_request_iov > 0 &&
           param.ep_attr.max_rdma_read_iov > 0 && param.ep_attr.max_rdma_write_iov > 0 &&
           param.ep_attr.max_message_size > 0 && param.ep_attr.max_rdma_read_in > 0);
    EXPECT_TYPE(DAT_INVALID_STATE, dat_pz_free(pz));
    CHECK_EQ(DAT_SUCCESS, dat_ep_free(ep));
    EXPECT_TYPE(DAT_INVALID_HANDLE, dat_ep_free(ep));
    EXPECT_TYPE(DAT_INVALID_HANDLE, dat_ep_query(ep, DAT_EP_FIELD_ALL, &param));
}

static DAT_RETURN try_attr(DAT_EP_ATTR attr)
{
    DAT_EP_HANDLE ep;
    DAT_RETURN result = dat_ep_create(ia, pz, NULL, NULL, NULL, &attr, &ep);

    if (result == DAT_SUCCESS)
        CHECK_EQ(DAT_SUCCESS, dat_ep_free(ep));
    return result;
}

static void check_attributes(void)
{
    EXPECT_EQ(DAT_SUCCESS, try_attr((DAT_EP_ATTR){.max_recv_dtos = 3, .max_request_dtos = 5}));
    EXPECT_TYPE(DAT_INVALID_PARAMETER, try_attr((DAT_EP_ATTR){.max_recv_dtos = -1}));
    EXPECT_TYPE(DAT_INVALID_PARAMETER, try_attr((DAT_EP_ATTR){.max_request_dtos = 1 << 30}));
    EXPECT_TYPE(DAT_INVALID_PARAMETER, try_attr((DAT_EP_ATTR){.max_request_iov = 10000}));
    EXPECT_TYPE(DAT_INVALID_PARAMETER, try_attr((DAT_EP_ATTR){.max_rdma_read_out = 100000}));
    EXPECT_TYPE(DAT_INVALID_PARAMETER, try_attr((DAT_EP_ATTR){.qos = DAT_QOS_PREMIUM}));
    EXPECT_TYPE(DAT_INVALID_PARAMETER,
                try_attr((DAT_EP_ATTR){.service_type = (DAT_SERVICE_TYPE)5}));
    EXPECT_TYPE(DAT_INVALID_PARAMETER,
                try_attr((DAT_EP_ATTR){.recv_completion_flags = DAT_COMPLETION_SUPPRESS_FLAG}));
}

static void check_handles(void)
{
    DAT_EP_HANDLE ep;

    EXPECT_TYPE(DAT_INVALID_HANDLE, dat_ep_create(ia, buffer, NULL, NULL, NULL, NULL, &ep));
    EXPECT_TYPE(DAT_INVALID_HANDLE, dat_ep_create(ia, pz, pz, NULL, NULL, NULL, &ep));
    EXPECT_TYPE(DAT_INVALID_HANDLE, dat_ep_create(ia, pz, NULL, buffer, NULL, NULL, &ep));
    EXPECT_TYPE(DAT_INVALID_HANDLE, dat_ep_create(ia, pz, NULL, NULL, buffer, NULL, &ep));
    EXPECT_TYPE(DAT_INVALID_HANDLE,
                dat_ep_create_with_srq(ia, pz, NULL, NULL, NULL, pz, NULL, &ep));
    EXPECT_TYPE(DAT_INVALID_PARAMETER, dat_ep_create(ia, pz, NULL, NULL, NULL, NULL, NULL));
}

/* An EP without a PZ is unconfigured. With a PZ it can be used, and the PZ can be changed. */
static void check_modify(void)
{
    DAT_EP_PARAM param = {.pz_handle = pz};
    DAT_EP_HANDLE ep = create_ep(DAT_HANDLE_NULL, NULL);

    EXPECT_EQ(DAT_EP_STATE_UNCONFIGURED_UNCONNECTED, state_of(ep));
    EXPECT_TYPE(DAT_INVALID_STATE, dat_ep_post_recv(ep, 0, NULL, (DAT_DTO_COOKIE){.as_64 = 1},
                                                    DAT_COMPLETION_DEFAULT_FLAG));
    CHECK_EQ(DAT_SUCCESS, dat_ep_modify(ep, DAT_EP_FIELD_PZ_HANDLE, &param));
    EXPECT_EQ(DAT_EP_STATE_UNCONNECTED, state_of(ep));
    EXPECT_TYPE(DAT_INVALID_STATE, dat_pz_free(pz));
    param.pz_handle = second_pz;
    param.ep_attr.max_recv_dtos = 7;
    CHECK_EQ(
        DAT_SUCCESS,
        dat_ep_modify(ep, DAT_EP_FIELD_PZ_HANDLE | DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS, &param));
    CHECK_EQ(DAT_SUCCESS, dat_ep_query(ep, DAT_EP_FIELD_ALL, &param));
    EXPECT(param.pz_handle == second_pz);
    EXPECT_EQ(7, param.ep_attr.max_recv_dtos);
    param.ep_attr.max_recv_dtos = -4;
    EXPECT_TYPE(DAT_INVALID_PARAMETER,
                dat_ep_modify(ep, DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS, &param));
    EXPECT_TYPE(DAT_INVALID_PARAMETER, dat_ep_modify(ep, DAT_EP_FIELD_EP_STATE, &param));
    EXPECT_TYPE(DAT_INVALID_PARAMETER, dat_ep_modify(ep, DAT_EP_FIELD_PZ_HANDLE, NULL));
    CHECK_EQ(DAT_SUCCESS, dat_ep_post_recv(ep, 0, NULL, (DAT_DTO_COOKIE){.as_64 = 1},
                                           DAT_COMPLETION_DEFAULT_FLAG));
    param.pz_handle = pz; /* refused, since the receive would be lost */
    EXPECT_TYPE(DAT_INVALID_STATE, dat_ep_modify(ep, DAT_EP_FIELD_PZ_HANDLE, &param));
    CHECK_EQ(DAT_SUCCESS, dat_ep_free(ep));
}

/* Each depth changes by itself, and the others stay. */
static void check_modify_depths(void)
{
    static const struct {
        DAT_EP_PARAM_MASK mask;
        size_t at; /* in DAT_EP_ATTR */
        DAT_COUNT value;
    } depths[] = {
        {DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS, offsetof(DAT_EP_ATTR, max_recv_dtos), 9},
        {DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_DTOS, offsetof(DAT_EP_ATTR, max_request_dtos), 11},
        {DAT_EP_FIELD_EP_ATTR_MAX_RECV_IOV, offsetof(DAT_EP_ATTR, max_recv_iov), 3},
        {DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_IOV, offsetof(DAT_EP_ATTR, max_request_iov), 2},
        {DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_IN, offsetof(DAT_EP_ATTR, max_rdma_read_in), 5},
        {DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_OUT, offsetof(DAT_EP_ATTR, max_rdma_read_out), 6},
        {DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_IOV, offsetof(DAT_EP_ATTR, max_rdma_read_iov), 2},
        {DAT_EP_FIELD_EP_ATTR_MAX_RDMA_WRITE_IOV, offsetof(DAT_EP_ATTR, max_rdma_write_iov), 2},
    };
    DAT_EP_HANDLE ep = create_ep(pz, NULL);
    DAT_EP_PARAM before, after;

    CHECK_EQ(DAT_SUCCESS, dat_ep_query(ep, DAT_EP_FIELD_ALL, &before));
    for (size_t i = 0; i < sizeof(depths) / sizeof(*depths); i++) {
        DAT_EP_PARAM param = {.pz_handle = NULL};
        DAT_COUNT got;

        memcpy((char *)&param.ep_attr + depths[i].at, &depths[i].value, sizeof(DAT_COUNT));
        CHECK_EQ(DAT_SUCCESS, dat_ep_modify(ep, depths[i].mask, &param));
        CHECK_EQ(DAT_SUCCESS, dat_ep_query(ep, DAT_EP_FIELD_ALL, &after));
        memcpy(&got, (char *)&after.ep_attr + depths[i].at, sizeof(got));
        EXPECT_EQ(depths[i].value, got);
        memcpy((char *)&before.ep_attr + depths[i].at, &got, sizeof(got));
        EXPECT_EQ(before.ep_attr.max_recv_dtos, after.ep_attr.max_recv_dtos);
        EXPECT_EQ(before.ep_attr.max_request_dtos, after.ep_attr.max_request_dtos);
        EXPECT_EQ(before.ep_attr.max_recv_iov, after.ep_attr.max_recv_iov);
        EXPECT_EQ(before.ep_attr.max_request_iov, after.ep_attr.max_request_iov);
        EXPECT_EQ(before.ep_attr.max_rdma_read_in, after.ep_attr.max_rdma_read_in);
        EXPECT_EQ(before.ep_attr.max_rdma_read_out, after.ep_attr.max_rdma_read_out);
    }
    CHECK_EQ(DAT_SUCCESS, dat_ep_free(ep));
}

/* What the kind of service, sizes and flags may be is checked as at creation. */
static void check_modify_attributes(void)
{
    static const DAT_EP_PARAM good = {
        .ep_attr = {.service_type = DAT_SERVICE_TYPE_RC, .qos = DAT_QOS_BEST_EFFORT}};
    DAT_EP_HANDLE ep = create_ep(pz, NULL);
    DAT_EP_PARAM param = good;

    CHECK_EQ(DAT_SUCCESS,
             dat_ep_modify(ep,
                           DAT_EP_FIELD_EP_ATTR_SERVICE_TYPE |
                               DAT_EP_FIELD_EP_ATTR_MAX_MESSAGE_SIZE |
                               DAT_EP_FIELD_EP_ATTR_MAX_RDMA_SIZE | DAT_EP_FIELD_EP_ATTR_QOS |
                               DAT_EP_FIELD_EP_ATTR_RECV_COMPLETION_FLAGS |
                               DAT_EP_FIELD_EP_ATTR_REQUEST_COMPLETION_FLAGS,
                           &param));
    param.ep_attr.service_type = (DAT_SERVICE_TYPE)5;
    EXPECT_TYPE(DAT_INVALID_PARAMETER,
                dat_ep_modify(ep, DAT_EP_FIELD_EP_ATTR_SERVICE_TYPE, &param));
    param.ep_attr.qos = DAT_QOS_PREMIUM;
    EXPECT_TYPE(DAT_INVALID_PARAMETER, dat_ep_modify(ep, DAT_EP_FIELD_EP_ATTR_QOS, &param));
    param.ep_attr.recv_completion_flags = DAT_COMPLETION_SUPPRESS_FLAG;
    EXPECT_TYPE(DAT_INVALID_PARAMETER,
                dat_ep_modify(ep, DAT_EP_FIELD_EP_ATTR_RECV_COMPLETION_FLAGS, &param));
    CHECK_EQ(DAT_SUCCESS, dat_ep_free(ep));
}

static void check_receives(DAT_EP_HANDLE ep, DAT_LMR_TRIPLET segment)
{
    const DAT_DTO_COOKIE cookie = {.as_64 = 5};
    DAT_LMR_TRIPLET bad = segment, empty = {.lmr_context = 99};
    DAT_COUNT allocated, span;
    DAT_BOOLEAN idle;

    CHECK_EQ(DAT_SUCCESS, dat_ep_get_status(ep, NULL, &idle, NULL));
    EXPECT_EQ(DAT_TRUE, idle);
    EXPECT_EQ(DAT_SUCCESS, dat_ep_post_recv(ep, 1, &segment, cookie, DAT_COMPLETION_DEFAULT_FLAG));
    EXPECT_EQ(DAT_SUCCESS, dat_ep_post_recv(ep, 1, &empty, cookie, DAT_COMPLETION_DEFAULT_FLAG));
    bad.lmr_context ^= 1u << 25;
    EXPECT_TYPE(DAT_PRIVILEGES_VIOLATION,
                dat_ep_post_recv(ep, 1, &bad, cookie, DAT_COMPLETION_DEFAULT_FLAG));
    EXPECT_TYPE(DAT_INVALID_PARAMETER,
                dat_ep_post_recv(ep, 1, NULL, cookie, DAT_COMPLETION_DEFAULT_FLAG));
    EXPECT_TYPE(DAT_INVALID_PARAMETER,
                dat_ep_post_recv(ep, -1, &segment, cookie, DAT_COMPLETION_DEFAULT_FLAG));
    EXPECT_TYPE(DAT_INVALID_PARAMETER,
                dat_ep_post_recv(ep, 1, &segment, cookie, DAT_COMPLETION_SUPPRESS_FLAG));
    CHECK_EQ(DAT_SUCCESS, dat_ep_get_status(ep, NULL, &idle, NULL));
    EXPECT_EQ(DAT_FALSE, idle);
    CHECK_EQ(DAT_SUCCESS, dat_ep_recv_query(ep, &allocated, &span));
    EXPECT_EQ(2, allocated);
    EXPECT(span >= allocated);
}

static void check_posts(void)
{
    DAT_REGION_DESCRIPTION region = {.for_va = buffer};
    DAT_LMR_TRIPLET segment = {.virtual_address = (uintptr_t)buffer, .segment_length = 100};
    DAT_RMR_TRIPLET remote = {.segment_length = 100};
    const DAT_DTO_COOKIE cookie = {.as_64 = 5};
    DAT_EP_HANDLE ep = create_ep(pz, NULL), foreign = create_ep(second_pz, NULL);
    DAT_LMR_HANDLE lmr;

    CHECK_EQ(DAT_SUCCESS, dat_lmr_create(ia, DAT_MEM_TYPE_VIRTUAL, region, sizeof(buffer), pz,
                                         DAT_MEM_PRIV_ALL_FLAG, DAT_VA_TYPE_VA, &lmr,
                                         &segment.lmr_context, NULL, NULL, NULL));
    check_receives(ep, segment);
    EXPECT_TYPE(DAT_PROTECTION_VIOLATION,
                dat_ep_post_recv(foreign, 1, &segment, cookie, DAT_COMPLETION_DEFAULT_FLAG));
    EXPECT_EQ(0x80070000u + DAT_INVALID_STATE_EP_UNCONNECTED,
              dat_ep_post_send(ep, 1, &segment, cookie, DAT_COMPLETION_DEFAULT_FLAG));
    EXPECT_TYPE(DAT_INVALID_STATE, dat_ep_post_rdma_write(ep, 1, &segment, cookie, &remote,
                                                          DAT_COMPLETION_DEFAULT_FLAG));
    EXPECT_TYPE(DAT_INVALID_STATE, dat_ep_post_rdma_read(ep, 1, &segment, cookie, &remote,
                                                         DAT_COMPLETION_DEFAULT_FLAG));
    EXPECT_TYPE(DAT_INVALID_PARAMETER,
                dat_ep_post_rdma_write(ep, 1, &segment, cookie, NULL, DAT_COMPLETION_DEFAULT_FLAG));
    remote.segment_length = 99;
    EXPECT_TYPE(DAT_LENGTH_ERROR, dat_ep_post_rdma_write(ep, 1, &segment, cookie, &remote,
                                                         DAT_COMPLETION_DEFAULT_FLAG));
    remote.segment_length = 101;
    EXPECT_TYPE(DAT_LENGTH_ERROR, dat_ep_post_rdma_read(ep, 1, &segment, cookie, &remote,
                                                        DAT_COMPLETION_DEFAULT_FLAG));
    CHECK_EQ(DAT_SUCCESS, dat_ep_free(ep));
    CHECK_EQ(DAT_SUCCESS, dat_ep_free(foreign));
    CHECK_EQ(DAT_SUCCESS, dat_lmr_free(lmr));
}

static void check_srq(void)
{
    DAT_SRQ_ATTR attr = {.max_recv_dtos = 16, .max_recv_iov = 2};
    DAT_SRQ_HANDLE srq;
    DAT_EP_HANDLE ep;

    CHECK_EQ(DAT_SUCCESS, dat_srq_create(ia, pz, &attr, &srq));
    EXPECT_TYPE(DAT_MODEL_NOT_SUPPORTED,
                dat_ep_create_with_srq(ia, second_pz, NULL, NULL, NULL, srq, NULL, &ep));
    CHECK_EQ(DAT_SUCCESS, dat_ep_create_with_srq(ia, pz, NULL, NULL, NULL, srq, NULL, &ep));
    EXPECT_TYPE(DAT_INVALID_STATE, dat_srq_free(srq));
    EXPECT_TYPE(DAT_INVALID_STATE, dat_ep_post_recv(ep, 0, NULL, (DAT_DTO_COOKIE){.as_64 = 1},
                                                    DAT_COMPLETION_DEFAULT_FLAG));
    EXPECT_EQ(DAT_SUCCESS, dat_srq_post_recv(srq, 0, NULL, (DAT_DTO_COOKIE){.as_64 = 1}));
    EXPECT_EQ(DAT_SUCCESS, dat_ep_set_watermark(ep, 4, 8));
    EXPECT_EQ(DAT_SUCCESS, dat_ep_set_watermark(ep, DAT_HW_DEFAULT, DAT_HW_DEFAULT));
    EXPECT_TYPE(DAT_INVALID_PARAMETER, dat_ep_set_watermark(ep, -7, 8));
    CHECK_EQ(DAT_SUCCESS, dat_ep_free(ep));
    CHECK_EQ(DAT_SUCCESS, dat_srq_free(srq));
}

int main(void)
{
    DAT_EVD_HANDLE async = DAT_EVD_ASYNC_EXISTS;
    char name[] = "itapi-lo";

    CHECK_EQ(DAT_SUCCESS, dat_ia_open(name, 8, &async, &ia));
    CHECK_EQ(DAT_SUCCESS, dat_pz_create(ia, &pz));
    CHECK_EQ(DAT_SUCCESS, dat_pz_create(ia, &second_pz));
    check_defaults();
    check_attributes();
    check_handles();
    check_modify();
    check_modify_depths();
    check_modify_attributes();
    check_posts();
    check_srq();
    (void)create_ep(pz, NULL); /* freed with the IA */
    EXPECT_EQ(DAT_SUCCESS, dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG));
    check_done();
    return 0;
}
