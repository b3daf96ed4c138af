/* SPDX-License-Identifier: BSD-2-Clause */
/* RMRs: bind, fences, unbind, invalidation by the peer, Reads into a window; zero-based regions. */
#include "udapl_kit.h"

#include <string.h>

static struct kit_side sides[2];
#define A (&sides[0])
#define B (&sides[1])

static bool zero_based; /* the adapter supports addresses from zero */

static void await_bind(struct kit_side *side, DAT_RMR_HANDLE rmr, DAT_UINT64 value)
{
    DAT_EVENT event = kit_any(side->request);
    const DAT_RMR_BIND_COMPLETION_EVENT_DATA *data = &event.event_data.rmr_completion_event_data;

    CHECK_EQ(DAT_RMR_BIND_COMPLETION_EVENT, event.event_number);
    CHECK(data->rmr_handle == rmr);
    CHECK_EQ(value, data->user_cookie.as_64);
    CHECK_EQ(DAT_RMR_BIND_SUCCESS, data->status);
}

static DAT_RMR_CONTEXT bind_window(struct kit_side *side, DAT_RMR_HANDLE rmr,
                                   DAT_LMR_TRIPLET segment, DAT_VA_TYPE va_type, DAT_UINT64 value)
{
    DAT_RMR_CONTEXT key = 0;

    CHECK_DAT(dat_rmr_bind(rmr, side->lmr, &segment, DAT_MEM_PRIV_ALL_FLAG, va_type, side->ep,
                           kit_cookie(value), DAT_COMPLETION_BARRIER_FENCE_FLAG, &key));
    await_bind(side, rmr, value);
    return key;
}

static void write_to(DAT_VADDR address, DAT_RMR_CONTEXT key, size_t length, unsigned seed)
{
    DAT_LMR_TRIPLET from = kit_local(A, 0, length);
    DAT_RMR_TRIPLET to = {
        .virtual_address = address, .segment_length = (DAT_SEG_LENGTH)length, .rmr_context = key};

    kit_fill(A, 0, length, seed);
    CHECK_DAT(
        dat_ep_post_rdma_write(A->ep, 1, &from, kit_cookie(1), &to, DAT_COMPLETION_DEFAULT_FLAG));
    kit_completion(A->request, DAT_DTO_RDMA_WRITE, DAT_DTO_SUCCESS, 1);
    /* The Send behind the Write shows that the Write has arrived. */
    CHECK_DAT(dat_ep_post_recv(B->ep, 0, NULL, kit_cookie(2), DAT_COMPLETION_DEFAULT_FLAG));
    CHECK_DAT(dat_ep_post_send(A->ep, 0, NULL, kit_cookie(3), DAT_COMPLETION_SUPPRESS_FLAG));
    kit_completion(B->recv, DAT_DTO_RECEIVE, DAT_DTO_SUCCESS, 2);
}

static void check_query(DAT_RMR_HANDLE rmr, DAT_RMR_CONTEXT key, DAT_SEG_LENGTH length)
{
    DAT_RMR_PARAM param;

    CHECK_DAT(dat_rmr_query(rmr, DAT_RMR_FIELD_ALL, &param));
    CHECK_EQ(key, param.rmr_context);
    CHECK_EQ(length, param.lmr_triplet.segment_length);
}

/*
 * Binds a window, binds it elsewhere with another key, and unbinds it. The region is busy as long.
 */
static void check_bind(void)
{
    DAT_LMR_TRIPLET nothing = {.segment_length = 0};
    DAT_RMR_CONTEXT first, second;
    DAT_RMR_HANDLE rmr;

    CHECK_DAT(dat_rmr_create(B->pz, &rmr));
    first = bind_window(B, rmr, kit_local(B, 1000, 500), DAT_VA_TYPE_VA, 10);
    write_to((uintptr_t)B->buffer + 1000, first, 500, 1);
    CHECK(kit_is_filled(B, 1000, 500, 1));
    check_query(rmr, first, 500);
    EXPECT_TYPE(DAT_INVALID_STATE, dat_lmr_free(B->lmr));
    second = bind_window(B, rmr, kit_local(B, 3000, 100),
                         zero_based ? DAT_VA_TYPE_ZB : DAT_VA_TYPE_VA, 11);
    CHECK(second != first);
    write_to(zero_based ? 20 : (uintptr_t)B->buffer + 3020, second, 80, 2);
    CHECK(kit_is_filled(B, 3020, 80, 2));
    if (!kit_has(B->ia, "fence of invalidation",
                 dat_rmr_bind(rmr, NULL, &nothing, DAT_MEM_PRIV_NONE_FLAG, DAT_VA_TYPE_VA, B->ep,
                              kit_cookie(12), DAT_COMPLETION_LMR_INVALIDATE_FENCE_FLAG, NULL)))
        CHECK_DAT(dat_rmr_bind(rmr, NULL, &nothing, DAT_MEM_PRIV_NONE_FLAG, DAT_VA_TYPE_VA, B->ep,
                               kit_cookie(12), DAT_COMPLETION_BARRIER_FENCE_FLAG, NULL));
    await_bind(B, rmr, 12);
    CHECK_DAT(dat_rmr_free(rmr));
}

static void post_bind(DAT_RMR_HANDLE rmr, DAT_UINT64 value, DAT_COMPLETION_FLAGS flags)
{
    DAT_LMR_TRIPLET segment = kit_local(B, 0, 100);
    DAT_RMR_CONTEXT key;

    CHECK_DAT(dat_rmr_bind(rmr, B->lmr, &segment, DAT_MEM_PRIV_REMOTE_WRITE_FLAG, DAT_VA_TYPE_VA,
                           B->ep, kit_cookie(value), flags, &key));
}

/* Each completion names its own bind. Suppressed binds have none. */
static void check_many_binds(void)
{
    DAT_RMR_HANDLE rmr;

    CHECK_DAT(dat_rmr_create(B->pz, &rmr));
    for (DAT_UINT64 i = 0; i < 20; i++)
        post_bind(rmr, i, DAT_COMPLETION_SUPPRESS_FLAG);
    for (DAT_UINT64 i = 0; i < 20; i++)
        post_bind(rmr, 100 + i, DAT_COMPLETION_DEFAULT_FLAG);
    for (DAT_UINT64 i = 0; i < 20; i++)
        await_bind(B, rmr, 100 + i);
    kit_is_empty(B->request);
    CHECK_DAT(dat_rmr_free(rmr));
}

/* The window's completion is taken when another RMR has its handle. It must not name that one. */
static void check_freed_window(void)
{
    DAT_RMR_HANDLE freed, rmr[256];
    const DAT_RMR_BIND_COMPLETION_EVENT_DATA *data;
    DAT_EVENT event;
    size_t count = 0;

    CHECK_DAT(dat_rmr_create(B->pz, &freed));
    post_bind(freed, 50, DAT_COMPLETION_DEFAULT_FLAG);
    kit_is_empty(B->recv); /* a poll that lets the bind execute */
    CHECK_DAT(dat_rmr_free(freed));
    do
        CHECK_DAT(dat_rmr_create(B->pz, &rmr[count]));
    while (rmr[count++] != freed && count < 256);
    CHECK(rmr[count - 1] == freed);
    event = kit_any(B->request);
    data = &event.event_data.rmr_completion_event_data;
    CHECK_EQ(DAT_RMR_BIND_COMPLETION_EVENT, event.event_number);
    CHECK_EQ(50, data->user_cookie.as_64);
    CHECK_EQ(DAT_RMR_BIND_SUCCESS, data->status);
    CHECK(data->rmr_handle == DAT_HANDLE_NULL);
    while (count > 0)
        CHECK_DAT(dat_rmr_free(rmr[--count]));
}

static DAT_RETURN try_bind(DAT_RMR_HANDLE rmr, DAT_LMR_HANDLE lmr, DAT_LMR_TRIPLET segment,
                           unsigned privileges, DAT_EP_HANDLE ep, unsigned flags)
{
    DAT_RMR_CONTEXT key;

    return dat_rmr_bind(rmr, lmr, &segment, (DAT_MEM_PRIV_FLAGS)privileges, DAT_VA_TYPE_VA, ep,
                        kit_cookie(5), (DAT_COMPLETION_FLAGS)flags, &key);
}

static void check_refusals(void)
{
    DAT_LMR_TRIPLET good = kit_local(B, 0, 100), long_one = kit_local(B, 0, KIT_BUFFER + 1);
    DAT_LMR_TRIPLET wrong = kit_local(A, 0, 100);
    DAT_RMR_HANDLE rmr;

    CHECK_DAT(dat_rmr_create(B->pz, &rmr));
    EXPECT_TYPE(DAT_INVALID_HANDLE, try_bind(rmr, B->pz, good, 0x22, B->ep, 0));
    EXPECT_TYPE(DAT_INVALID_HANDLE, try_bind(rmr, B->lmr, good, 0x22, B->lmr, 0));
    EXPECT_TYPE(DAT_INVALID_HANDLE, try_bind(B->lmr, B->lmr, good, 0x22, B->ep, 0));
    EXPECT_TYPE(DAT_INVALID_PARAMETER, try_bind(rmr, B->lmr, wrong, 0x22, B->ep, 0));
    EXPECT_TYPE(DAT_INVALID_PARAMETER, try_bind(rmr, B->lmr, good, 0x11, B->ep, 0));
    EXPECT_TYPE(DAT_INVALID_PARAMETER, try_bind(rmr, B->lmr, good, 0x2222, B->ep, 0));
    EXPECT_TYPE(DAT_INVALID_PARAMETER, try_bind(rmr, B->lmr, good, 0x22, B->ep, 0x800));
    EXPECT_TYPE(DAT_INVALID_PARAMETER, try_bind(rmr, B->lmr, long_one, 0x22, B->ep, 0));
    check_query(rmr, 0, 0);
    CHECK_DAT(dat_rmr_free(rmr));
}

/*
 * The peer's Send invalidates the window, and its completion names it. libdat2 does not export this
 * call.
 */
static void check_invalidate(void)
{
    DAT_LMR_TRIPLET segment = kit_local(A, 0, 8), room = kit_local(B, 0, 8);
    DAT_DTO_COMPLETION_EVENT_DATA done;
    DAT_RMR_CONTEXT key;
    DAT_RMR_HANDLE rmr;

    /* Devices invalidate only windows of an endpoint. */
    CHECK_DAT(kit_table(B->pz)->rmr_create_for_ep_func(B->pz, &rmr));
    key = bind_window(B, rmr, kit_local(B, 1000, 500), DAT_VA_TYPE_VA, 20);
    CHECK_DAT(dat_ep_post_recv(B->ep, 1, &room, kit_cookie(21), DAT_COMPLETION_DEFAULT_FLAG));
    CHECK_DAT(kit_table(A->ep)->ep_post_send_with_invalidate_func(
        A->ep, 1, &segment, kit_cookie(22), DAT_COMPLETION_SUPPRESS_FLAG, DAT_TRUE, key));
    done = kit_completion(B->recv, DAT_DTO_RECEIVE_WITH_INVALIDATE, DAT_DTO_SUCCESS, 21);
    CHECK_EQ(key, done.rmr_context);
    CHECK_DAT(dat_rmr_free(rmr));
}

static void check_read_to_window(void)
{
    DAT_RMR_TRIPLET from = kit_remote(B, 100, 200), into = {.segment_length = 200};
    DAT_RMR_HANDLE rmr;

    CHECK_DAT(dat_rmr_create(A->pz, &rmr));
    into.rmr_context = bind_window(A, rmr, kit_local(A, 4000, 300), DAT_VA_TYPE_VA, 30);
    into.virtual_address = (uintptr_t)A->buffer + 4000;
    kit_fill(B, 100, 200, 9);
    CHECK_DAT(kit_table(A->ep)->ep_post_rdma_read_to_rmr_func(A->ep, &into, kit_cookie(31), &from,
                                                              DAT_COMPLETION_DEFAULT_FLAG));
    kit_completion(A->request, DAT_DTO_RDMA_READ, DAT_DTO_SUCCESS, 31);
    CHECK(kit_is_filled(A, 4000, 200, 9));
    into.rmr_context ^= 0x100;
    EXPECT_TYPE(DAT_PRIVILEGES_VIOLATION,
                kit_table(A->ep)->ep_post_rdma_read_to_rmr_func(A->ep, &into, kit_cookie(31), &from,
                                                                DAT_COMPLETION_DEFAULT_FLAG));
    CHECK_DAT(dat_rmr_free(rmr));
}

/* A region that peers and local segments address by offset. */
static void check_zero_based(void)
{
    DAT_REGION_DESCRIPTION region = {.for_va = B->buffer + 8000};
    DAT_LMR_TRIPLET room = {.virtual_address = 10, .segment_length = 8};
    DAT_LMR_TRIPLET segment = kit_local(A, 0, 8);
    DAT_RMR_CONTEXT key;
    DAT_LMR_HANDLE lmr;

    CHECK_DAT(dat_lmr_create(B->ia, DAT_MEM_TYPE_VIRTUAL, region, 1000, B->pz,
                             DAT_MEM_PRIV_ALL_FLAG, DAT_VA_TYPE_ZB, &lmr, &room.lmr_context, &key,
                             NULL, NULL));
    write_to(50, key, 100, 4);
    CHECK(kit_is_filled(B, 8050, 100, 4));
    kit_fill(A, 0, 8, 5);
    CHECK_DAT(dat_ep_post_recv(B->ep, 1, &room, kit_cookie(40), DAT_COMPLETION_DEFAULT_FLAG));
    CHECK_DAT(dat_ep_post_send(A->ep, 1, &segment, kit_cookie(41), DAT_COMPLETION_SUPPRESS_FLAG));
    kit_completion(B->recv, DAT_DTO_RECEIVE, DAT_DTO_SUCCESS, 40);
    CHECK(kit_is_filled(B, 8010, 8, 5));
    CHECK_DAT(dat_lmr_free(lmr));
}

static bool has_zero_based(void)
{
    DAT_IA_ATTR attr;

    CHECK_DAT(dat_ia_query(B->ia, NULL, DAT_IA_FIELD_ALL, &attr, 0, NULL));
    return attr.zb_supported;
}

int main(void)
{
    DAT_RMR_HANDLE rmr;

    kit_side_open(A);
    kit_side_open(B);
    kit_ep_anew(A, NULL);
    kit_ep_anew(B, NULL);
    kit_join(A, B);
    zero_based = has_zero_based();
    if (kit_has(B->ia, "RMRs", dat_rmr_create(B->pz, &rmr))) {
        CHECK_DAT(dat_rmr_free(rmr));
        check_bind();
        check_many_binds();
        check_freed_window();
        check_refusals();
        check_invalidate();
    }
    if (zero_based) { /* the adapter has both features */
        check_read_to_window();
        check_zero_based();
    }
    kit_side_close(A);
    kit_side_close(B);
    check_done();
    return 0;
}
