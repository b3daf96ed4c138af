/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory and data calls that dapltest does not make: windows, Sends that invalidate, Reads into a
 * window.
 */
#include "udapl_kit.h"

#include <string.h>

static struct kit_side near, far;

struct bound {
    DAT_RMR_HANDLE rmr;
    DAT_RMR_CONTEXT context;
};

/* Binds the window to octets of the side with a post on its EP. A length of 0 unbinds it. */
static void bind_window(const struct kit_side *side, struct bound *window, size_t offset,
                        size_t length, DAT_MEM_PRIV_FLAGS rights, DAT_COMPLETION_FLAGS flags)
{
    static DAT_UINT64 cookie = 700;
    DAT_LMR_TRIPLET triplet = kit_local(side, offset, length);
    DAT_RMR_BIND_COMPLETION_EVENT_DATA *done;
    DAT_EVENT event;

    CHECK_DAT(dat_rmr_bind(window->rmr, side->lmr, &triplet, rights, DAT_VA_TYPE_VA, side->ep,
                           kit_cookie(++cookie), flags, &window->context));
    event = kit_next(side->request, DAT_RMR_BIND_COMPLETION_EVENT);
    done = &event.event_data.rmr_completion_event_data;
    CHECK(done->rmr_handle == window->rmr);
    CHECK_EQ(DAT_RMR_BIND_SUCCESS, done->status);
    CHECK_EQ(cookie, done->user_cookie.as_64);
}

static DAT_RMR_TRIPLET window_of(const struct kit_side *side, const struct bound *window,
                                 size_t offset, size_t length)
{
    DAT_RMR_TRIPLET triplet = kit_remote(side, offset, length);

    triplet.rmr_context = window->context;
    return triplet;
}

static void check_window(DAT_RMR_HANDLE rmr)
{
    struct bound window = {.rmr = rmr};
    DAT_LMR_TRIPLET local = kit_local(&near, 0, 64);
    DAT_RMR_TRIPLET remote;
    DAT_RMR_PARAM param;

    bind_window(&far, &window, 4096, 128,
                DAT_MEM_PRIV_REMOTE_WRITE_FLAG | DAT_MEM_PRIV_REMOTE_READ_FLAG,
                DAT_COMPLETION_BARRIER_FENCE_FLAG);
    CHECK_DAT(dat_rmr_query(rmr, DAT_RMR_FIELD_ALL, &param));
    EXPECT_EQ(window.context, param.rmr_context);
    EXPECT_EQ(128, param.lmr_triplet.segment_length);
    EXPECT(param.ia_handle == far.ia && param.pz_handle == far.pz);
    EXPECT_TYPE(DAT_INVALID_STATE, dat_lmr_free(far.lmr));

    remote = window_of(&far, &window, 4096 + 32, 64);
    memset(near.buffer, 'w', 64);
    CHECK_DAT(dat_ep_post_rdma_write(near.ep, 1, &local, kit_cookie(1), &remote,
                                     DAT_COMPLETION_DEFAULT_FLAG));
    EXPECT_EQ(64, kit_done(near.request, kit_cookie(1)));
    memset(near.buffer, 0, 64);
    CHECK_DAT(dat_ep_post_rdma_read(near.ep, 1, &local, kit_cookie(2), &remote,
                                    DAT_COMPLETION_DEFAULT_FLAG));
    EXPECT_EQ(64, kit_done(near.request, kit_cookie(2)));
    EXPECT(near.buffer[0] == 'w' && near.buffer[63] == 'w');
    EXPECT(far.buffer[4096 + 31] == 0 && far.buffer[4096 + 32] == 'w' &&
           far.buffer[4096 + 96] == 0);
    bind_window(&far, &window, 0, 0, DAT_MEM_PRIV_NONE_FLAG, DAT_COMPLETION_BARRIER_FENCE_FLAG);
    memset(far.buffer + 4096, 0, 128);
    CHECK_DAT(dat_rmr_free(rmr));
    EXPECT_TYPE(DAT_INVALID_HANDLE, dat_rmr_free(rmr));
}

static void check_windows(void)
{
    DAT_RMR_HANDLE rmr;

    CHECK_DAT(dat_rmr_create(far.pz, &rmr));
    check_window(rmr);
    if (kit_has(far.ia, "window of one EP",
                kit_table(far.pz)->rmr_create_for_ep_func(far.pz, &rmr)))
        check_window(rmr);
}

static void check_send_with_invalidate(void)
{
    DAT_LMR_TRIPLET to = kit_local(&far, 0, 64), from = kit_local(&near, 0, 32);
    DAT_DTO_COMPLETION_EVENT_DATA *done;
    struct bound window;
    DAT_EVENT event;
    DAT_RETURN sent;

    if (!kit_has(far.ia, "window of one EP",
                 kit_table(far.pz)->rmr_create_for_ep_func(far.pz, &window.rmr)))
        return;
    bind_window(&far, &window, 0, 100, DAT_MEM_PRIV_REMOTE_WRITE_FLAG, DAT_COMPLETION_DEFAULT_FLAG);
    CHECK_DAT(dat_ep_post_recv(far.ep, 1, &to, kit_cookie(3), DAT_COMPLETION_DEFAULT_FLAG));
    sent = kit_table(near.ep)->ep_post_send_with_invalidate_func(
        near.ep, 1, &from, kit_cookie(4), DAT_COMPLETION_DEFAULT_FLAG, DAT_TRUE, window.context);
    if (!kit_has(near.ia, "Send with invalidate", sent)) {
        CHECK_DAT(dat_ep_post_send(near.ep, 1, &from, kit_cookie(4), DAT_COMPLETION_DEFAULT_FLAG));
        bind_window(&far, &window, 0, 0, DAT_MEM_PRIV_NONE_FLAG, DAT_COMPLETION_DEFAULT_FLAG);
        window.context = 0;
    }
    EXPECT_EQ(32, kit_done(near.request, kit_cookie(4)));
    event = kit_next(far.recv, DAT_DTO_COMPLETION_EVENT);
    done = &event.event_data.dto_completion_event_data;
    EXPECT_EQ(DAT_DTO_SUCCESS, done->status);
    EXPECT_EQ(sent == DAT_SUCCESS ? DAT_DTO_RECEIVE_WITH_INVALIDATE : DAT_DTO_RECEIVE,
              done->operation);
    EXPECT(sent != DAT_SUCCESS || done->rmr_context == window.context);
    CHECK_DAT(dat_rmr_free(window.rmr));
}

/* Without the invalidate flag it is an ordinary Send. */
static void check_send_without_invalidate(void)
{
    DAT_LMR_TRIPLET to = kit_local(&far, 0, 64), from = kit_local(&near, 0, 32);

    CHECK_DAT(dat_ep_post_recv(far.ep, 1, &to, kit_cookie(5), DAT_COMPLETION_DEFAULT_FLAG));
    CHECK_DAT(kit_table(near.ep)->ep_post_send_with_invalidate_func(
        near.ep, 1, &from, kit_cookie(6), DAT_COMPLETION_DEFAULT_FLAG, DAT_FALSE, 0));
    EXPECT_EQ(32, kit_done(near.request, kit_cookie(6)));
    EXPECT_EQ(32, kit_done(far.recv, kit_cookie(5)));
}

static void check_read_to_rmr(void)
{
    DAT_RMR_TRIPLET sink, source = kit_remote(&far, 1000, 50);
    struct bound window;
    DAT_RETURN posted;

    CHECK_DAT(dat_rmr_create(near.pz, &window.rmr));
    bind_window(&near, &window, 2000, 100,
                DAT_MEM_PRIV_REMOTE_WRITE_FLAG | DAT_MEM_PRIV_LOCAL_WRITE_FLAG,
                DAT_COMPLETION_DEFAULT_FLAG);
    sink = window_of(&near, &window, 2010, 50);
    memset(far.buffer + 1000, 'r', 50);
    posted = kit_table(near.ep)->ep_post_rdma_read_to_rmr_func(
        near.ep, &sink, kit_cookie(7), &source, DAT_COMPLETION_DEFAULT_FLAG);
    if (kit_has(near.ia, "Read to a window", posted)) {
        EXPECT_EQ(50, kit_done(near.request, kit_cookie(7)));
        EXPECT(near.buffer[2009] == 0 && near.buffer[2010] == 'r' && near.buffer[2059] == 'r' &&
               near.buffer[2060] == 0);
    }
    bind_window(&near, &window, 0, 0, DAT_MEM_PRIV_NONE_FLAG, DAT_COMPLETION_DEFAULT_FLAG);
    CHECK_DAT(dat_rmr_free(window.rmr));
}

static void check_sync(void)
{
    DAT_LMR_TRIPLET segments[2] = {kit_local(&near, 0, 100), kit_local(&near, 200, 100)};

    CHECK_DAT(dat_lmr_sync_rdma_read(near.ia, segments, 2));
    CHECK_DAT(dat_lmr_sync_rdma_write(near.ia, segments, 2));
    segments[1].lmr_context ^= 1u << 31;
    EXPECT(dat_lmr_sync_rdma_read(near.ia, segments, 2) != DAT_SUCCESS);
    EXPECT(dat_lmr_sync_rdma_write(near.ia, segments, 2) != DAT_SUCCESS);
}

/* Several LMRs share memory under the same 40-octet identifier. */
static void check_shared(void)
{
    DAT_REGION_DESCRIPTION region;
    char id[DAT_LMR_COOKIE_SIZE] = "one region";
    DAT_LMR_HANDLE lmr[2];
    DAT_LMR_CONTEXT local[2];
    DAT_RMR_CONTEXT remote[2];
    DAT_LMR_PARAM param;

    region.for_shared_memory.virtual_address = near.buffer;
    region.for_shared_memory.shared_memory_id = &id;
    for (int i = 0; i < 2; i++)
        CHECK_DAT(dat_lmr_create(near.ia, DAT_MEM_TYPE_SHARED_VIRTUAL, region, 4096, near.pz,
                                 DAT_MEM_PRIV_ALL_FLAG, DAT_VA_TYPE_VA, &lmr[i], &local[i],
                                 &remote[i], NULL, NULL));
    EXPECT(lmr[0] != lmr[1] && local[0] != local[1]);
    CHECK_DAT(dat_lmr_query(lmr[1], DAT_LMR_FIELD_ALL, &param));
    EXPECT_EQ(DAT_MEM_TYPE_SHARED_VIRTUAL, param.mem_type);
    CHECK_DAT(dat_lmr_free(lmr[0]));
    CHECK_DAT(dat_lmr_free(lmr[1]));
}

/* A peer that uses an unbound window loses its connection. */
static void check_unbound(void)
{
    DAT_LMR_TRIPLET local = kit_local(&near, 0, 8);
    struct bound window;
    DAT_RMR_TRIPLET remote;
    DAT_EVENT event;

    CHECK_DAT(dat_rmr_create(far.pz, &window.rmr));
    bind_window(&far, &window, 0, 64, DAT_MEM_PRIV_REMOTE_READ_FLAG, DAT_COMPLETION_DEFAULT_FLAG);
    remote = window_of(&far, &window, 0, 8);
    bind_window(&far, &window, 0, 0, DAT_MEM_PRIV_NONE_FLAG, DAT_COMPLETION_DEFAULT_FLAG);
    CHECK_DAT(dat_ep_post_rdma_read(near.ep, 1, &local, kit_cookie(8), &remote,
                                    DAT_COMPLETION_DEFAULT_FLAG));
    event = kit_next(near.request, DAT_DTO_COMPLETION_EVENT);
    EXPECT(event.event_data.dto_completion_event_data.status != DAT_DTO_SUCCESS);
    CHECK_DAT(dat_evd_wait(near.connect, DAT_TIMEOUT_INFINITE, 1, &event, &(DAT_COUNT){0}));
    EXPECT(event.event_number == DAT_CONNECTION_EVENT_BROKEN ||
           event.event_number == DAT_CONNECTION_EVENT_DISCONNECTED);
    CHECK_DAT(dat_evd_wait(far.connect, DAT_TIMEOUT_INFINITE, 1, &event, &(DAT_COUNT){0}));
    CHECK_DAT(dat_rmr_free(window.rmr));
}

int main(void)
{
    kit_side_open(&near);
    kit_side_open(&far);
    kit_join(&near, &far);
    check_windows();
    check_send_with_invalidate();
    check_send_without_invalidate();
    check_read_to_rmr();
    check_sync();
    check_shared();
    check_unbound();
    kit_side_close(&near);
    kit_side_close(&far);
    check_done();
    return 0;
}
