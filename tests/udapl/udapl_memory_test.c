/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * PZs, LMRs, RMRs and S-RQs: queries, refused calls, and that no object is freed while it is used.
 */
#include "support/check.h"

#include <dat2/udat.h>

#include <string.h>

static DAT_IA_HANDLE ia, other_ia;
static DAT_PZ_HANDLE pz, other_pz;
static char buffer[8192];

#define EXPECT_TYPE(type, call) EXPECT_EQ(type, DAT_GET_TYPE(call))

static DAT_IA_HANDLE open_ia(void)
{
    DAT_EVD_HANDLE async = DAT_EVD_ASYNC_EXISTS;
    char name[] = "itapi-lo";
    DAT_IA_HANDLE opened;

    CHECK_EQ(DAT_SUCCESS, dat_ia_open(name, 8, &async, &opened));
    return opened;
}

static DAT_LMR_HANDLE create_lmr(DAT_MEM_TYPE type, DAT_REGION_DESCRIPTION region, DAT_VLEN length,
                                 DAT_LMR_CONTEXT *lmr_context, DAT_RMR_CONTEXT *rmr_context)
{
    DAT_LMR_HANDLE lmr;
    DAT_VLEN size;
    DAT_VADDR address;

    CHECK_EQ(DAT_SUCCESS,
             dat_lmr_create(ia, type, region, length, pz, DAT_MEM_PRIV_ALL_FLAG, DAT_VA_TYPE_VA,
                            &lmr, lmr_context, rmr_context, &size, &address));
    CHECK_EQ((uintptr_t)buffer, address);
    CHECK(size >= length);
    return lmr;
}

/* Each kind of memory. Each LMR has its own contexts. */
static void check_kinds(void)
{
    char id[DAT_LMR_COOKIE_SIZE] = "the same in each process";
    DAT_REGION_DESCRIPTION region = {.for_va = buffer};
    DAT_LMR_CONTEXT lmr_context[3];
    DAT_RMR_CONTEXT rmr_context[3];
    DAT_LMR_HANDLE lmr[3];
    DAT_LMR_PARAM param;

    lmr[0] =
        create_lmr(DAT_MEM_TYPE_VIRTUAL, region, sizeof(buffer), &lmr_context[0], &rmr_context[0]);
    region.for_lmr_handle = lmr[0];
    lmr[1] = create_lmr(DAT_MEM_TYPE_LMR, region, 100, &lmr_context[1], &rmr_context[1]);
    region.for_shared_memory.virtual_address = buffer;
    region.for_shared_memory.shared_memory_id = &id;
    lmr[2] = create_lmr(DAT_MEM_TYPE_SHARED_VIRTUAL, region, 64, &lmr_context[2], &rmr_context[2]);
    for (size_t i = 0; i < 3; i++) {
        EXPECT(lmr_context[i] != lmr_context[(i + 1) % 3] && lmr_context[i] != 0);
        EXPECT(rmr_context[i] != rmr_context[(i + 1) % 3]);
    }
    memset(id, 0, sizeof(id)); /* the provider has copied it */
    CHECK_EQ(DAT_SUCCESS, dat_lmr_query(lmr[2], DAT_LMR_FIELD_ALL, &param));
    EXPECT_EQ(0, strcmp(*param.region_desc.for_shared_memory.shared_memory_id,
                        "the same in each process"));
    EXPECT(param.ia_handle == ia && param.pz_handle == pz);
    EXPECT_EQ(64, param.length);
    EXPECT_EQ(lmr_context[2], param.lmr_context);
    EXPECT_EQ(rmr_context[2], param.rmr_context);
    EXPECT_EQ(DAT_MEM_TYPE_SHARED_VIRTUAL, param.mem_type);
    EXPECT_TYPE(DAT_INVALID_STATE, dat_pz_free(pz));
    for (size_t i = 0; i < 3; i++)
        CHECK_EQ(DAT_SUCCESS, dat_lmr_free(lmr[i]));
    EXPECT_TYPE(DAT_INVALID_HANDLE, dat_lmr_free(lmr[0])); /* stale */
}

static DAT_RETURN try_lmr(DAT_MEM_TYPE type, void *address, DAT_VLEN length, DAT_PZ_HANDLE zone,
                          unsigned privileges, unsigned va_type)
{
    DAT_REGION_DESCRIPTION region = {.for_va = address};
    DAT_LMR_HANDLE lmr;
    DAT_RETURN result =
        dat_lmr_create(ia, type, region, length, zone, (DAT_MEM_PRIV_FLAGS)privileges,
                       (DAT_VA_TYPE)va_type, &lmr, NULL, NULL, NULL, NULL);

    if (result == DAT_SUCCESS)
        CHECK_EQ(DAT_SUCCESS, dat_lmr_free(lmr));
    return result;
}

static void check_lmr_refusals(void)
{
    EXPECT_EQ(DAT_SUCCESS, try_lmr(DAT_MEM_TYPE_VIRTUAL, buffer, 10, pz, 0x11, 0));
    EXPECT_EQ(DAT_SUCCESS, try_lmr(DAT_MEM_TYPE_VIRTUAL, buffer, 10, pz, 0x33, DAT_VA_TYPE_ZB));
    EXPECT_TYPE(DAT_LENGTH_ERROR, try_lmr(DAT_MEM_TYPE_VIRTUAL, buffer, 0, pz, 0x11, 0));
    EXPECT_TYPE(DAT_INVALID_PARAMETER, try_lmr(DAT_MEM_TYPE_VIRTUAL, buffer, 10, pz, 0x400, 0));
    EXPECT_TYPE(DAT_INVALID_PARAMETER, try_lmr(DAT_MEM_TYPE_VIRTUAL, buffer, 10, pz, 0x11, 7));
    EXPECT_TYPE(DAT_INVALID_PARAMETER, try_lmr((DAT_MEM_TYPE)9, buffer, 10, pz, 0x11, 0));
    EXPECT_TYPE(DAT_INVALID_PARAMETER,
                try_lmr(DAT_MEM_TYPE_SHARED_VIRTUAL, buffer, 10, pz, 0x11, 0));
    EXPECT_TYPE(DAT_INVALID_HANDLE, try_lmr(DAT_MEM_TYPE_LMR, buffer, 10, pz, 0x11, 0));
    EXPECT_TYPE(DAT_INVALID_HANDLE, try_lmr(DAT_MEM_TYPE_VIRTUAL, buffer, 10, NULL, 0x11, 0));
    EXPECT_TYPE(DAT_INVALID_HANDLE, try_lmr(DAT_MEM_TYPE_VIRTUAL, buffer, 10, buffer, 0x11, 0));
    EXPECT_TYPE(DAT_INVALID_HANDLE, try_lmr(DAT_MEM_TYPE_VIRTUAL, buffer, 10, other_pz, 0x11, 0));
    EXPECT_TYPE(DAT_INVALID_HANDLE,
                try_lmr(DAT_MEM_TYPE_VIRTUAL, buffer, 10, (void *)(uintptr_t)~7ull, 0x11, 0));
}

static void check_sync(void)
{
    DAT_REGION_DESCRIPTION region = {.for_va = buffer};
    DAT_LMR_TRIPLET segments[2] = {{.segment_length = 0, .lmr_context = 77}};
    DAT_LMR_HANDLE lmr =
        create_lmr(DAT_MEM_TYPE_VIRTUAL, region, sizeof(buffer), &segments[1].lmr_context, NULL);

    segments[1].virtual_address = (uintptr_t)buffer;
    segments[1].segment_length = 100;
    EXPECT_EQ(DAT_SUCCESS, dat_lmr_sync_rdma_read(ia, segments, 2));
    EXPECT_EQ(DAT_SUCCESS, dat_lmr_sync_rdma_write(ia, segments, 2));
    EXPECT_TYPE(DAT_INVALID_PARAMETER, dat_lmr_sync_rdma_write(ia, NULL, 1));
    EXPECT_TYPE(DAT_INVALID_PARAMETER, dat_lmr_sync_rdma_write(other_ia, segments, 2));
    CHECK_EQ(DAT_SUCCESS, dat_lmr_free(lmr));
    EXPECT_TYPE(DAT_INVALID_PARAMETER, dat_lmr_sync_rdma_read(ia, segments, 2));
}

static void check_rmr(void)
{
    DAT_RMR_HANDLE rmr;
    DAT_RMR_PARAM param;

    EXPECT_TYPE(DAT_INVALID_PARAMETER, dat_rmr_create(pz, NULL));
    CHECK_EQ(DAT_SUCCESS, dat_rmr_create(pz, &rmr));
    CHECK_EQ(DAT_SUCCESS, dat_rmr_query(rmr, DAT_RMR_FIELD_ALL, &param));
    EXPECT(param.ia_handle == ia && param.pz_handle == pz);
    EXPECT_EQ(DAT_RMR_SCOPE_PZ, param.rmr_scope);
    EXPECT_EQ(0, param.lmr_triplet.segment_length);
    EXPECT_TYPE(DAT_INVALID_STATE, dat_pz_free(pz));
    EXPECT_TYPE(DAT_INVALID_PARAMETER, dat_rmr_query(rmr, DAT_RMR_FIELD_ALL, NULL));
    EXPECT_TYPE(DAT_INVALID_HANDLE, dat_lmr_free(rmr)); /* an object of another kind */
    CHECK_EQ(DAT_SUCCESS, dat_rmr_free(rmr));
    EXPECT_TYPE(DAT_INVALID_HANDLE, dat_rmr_free(rmr));
}

static void check_srq(void)
{
    DAT_SRQ_ATTR attr = {.max_recv_dtos = 16, .max_recv_iov = 2, .low_watermark = 4};
    DAT_SRQ_HANDLE srq;
    DAT_SRQ_PARAM param;

    CHECK_EQ(DAT_SUCCESS, dat_srq_create(ia, pz, &attr, &srq));
    EXPECT_EQ(DAT_SUCCESS, dat_srq_resize(srq, 32));
    for (int i = 0; i < 10; i++)
        EXPECT_EQ(DAT_SUCCESS, dat_srq_post_recv(srq, 0, NULL, (DAT_DTO_COOKIE){.as_64 = 1}));
    EXPECT_EQ(DAT_SUCCESS, dat_srq_set_lw(srq, 8));
    CHECK_EQ(DAT_SUCCESS, dat_srq_query(srq, DAT_SRQ_FIELD_ALL, &param));
    EXPECT(param.max_recv_dtos >= 32 && param.max_recv_iov >= 2);
    EXPECT_EQ(8, param.low_watermark);
    EXPECT(param.pz_handle == pz && param.ia_handle == ia);
    EXPECT_TYPE(DAT_INVALID_PARAMETER, dat_srq_resize(srq, 0));
    EXPECT_TYPE(DAT_INVALID_PARAMETER, dat_srq_set_lw(srq, -1));
    EXPECT_TYPE(DAT_INVALID_STATE, dat_pz_free(pz));
    CHECK_EQ(DAT_SUCCESS, dat_srq_free(srq));
    EXPECT_TYPE(DAT_INVALID_HANDLE, dat_srq_free(srq));
    attr.max_recv_dtos = 0;
    EXPECT_TYPE(DAT_INVALID_PARAMETER, dat_srq_create(ia, pz, &attr, &srq));
    EXPECT_TYPE(DAT_INVALID_PARAMETER, dat_srq_create(ia, pz, NULL, &srq));
}

int main(void)
{
    DAT_PZ_PARAM param;

    ia = open_ia();
    other_ia = open_ia();
    CHECK_EQ(DAT_SUCCESS, dat_pz_create(ia, &pz));
    CHECK_EQ(DAT_SUCCESS, dat_pz_create(other_ia, &other_pz));
    CHECK_EQ(DAT_SUCCESS, dat_pz_query(pz, DAT_PZ_FIELD_ALL, &param));
    EXPECT(param.ia_handle == ia);
    check_kinds();
    check_lmr_refusals();
    check_sync();
    check_rmr();
    check_srq();
    EXPECT_TYPE(DAT_INVALID_STATE, dat_ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG));
    CHECK_EQ(DAT_SUCCESS, dat_pz_free(pz));
    EXPECT_EQ(DAT_SUCCESS, dat_ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG));
    EXPECT_EQ(DAT_SUCCESS,
              dat_ia_close(other_ia, DAT_CLOSE_ABRUPT_FLAG)); /* its PZ is freed, too */
    check_done();
    return 0;
}
