/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tries every argument of the window calls with every wrong value: the call fails and has no
 * effect.
 */
#include <criterion/criterion.h>

#include "support/it_window.h"

#define ALL_FLAGS 0x7fu

/*
 * A pair, objects on its side a for the calls, and a second zone and a second IA for wrong
 * arguments.
 */
static struct {
    struct fx_pair pair;
    struct fx_buf region;  /* of pair.a.pz */
    struct fx_buf foreign; /* of .pz */
    it_pz_handle_t pz;
    it_rmr_handle_t rmr;     /* of pair.a.pz */
    it_rmr_handle_t other;   /* of .pz */
    it_rmr_handle_t distant; /* RMR of the other IA */
    it_rmr_handle_t stale;
    it_ep_handle_t idle; /* UNCONNECTED */
} bed;

static void bed_open(void)
{
    fx_pair_open(&bed.pair);
    CHECK_OK(it_pz_create(bed.pair.a.ia, &bed.pz));
    bed.region = fx_node_buf(&bed.pair.a, 1000);
    bed.foreign = fx_buf_make_as(bed.pz, 64, FX_PRIVS_ALL, IT_ADDR_MODE_ABSOLUTE);
    bed.rmr = fx_rmr(bed.pair.a.pz, IT_RMR_TYPE_WIDE);
    bed.other = fx_rmr(bed.pz, IT_RMR_TYPE_WIDE);
    bed.distant = fx_rmr(bed.pair.b.pz, IT_RMR_TYPE_WIDE);
    bed.stale = fx_rmr(bed.pair.a.pz, IT_RMR_TYPE_WIDE);
    CHECK_OK(it_rmr_free(bed.stale));
    bed.idle = fx_ep(&bed.pair.a, NULL);
}

static void bed_close(void)
{
    fx_empty(bed.pair.a.request_evd);
    CHECK(!fx_is_linked(bed.rmr));
    CHECK_OK(it_rmr_free(bed.rmr));
    CHECK_OK(it_rmr_free(bed.other));
    CHECK_OK(it_rmr_free(bed.distant));
    CHECK_OK(it_ep_free(bed.idle));
    fx_buf_free(&bed.foreign);
    fx_pair_close(&bed.pair);
    check_done();
}

TestSuite(rmr_args, .init = bed_open, .fini = bed_close);

/* The arguments of a link, right except for those that a test changes. */
struct link {
    it_rmr_handle_t rmr;
    it_lmr_handle_t lmr;
    unsigned char *addr;
    it_length_t length;
    int mode;
    int privs;
    it_ep_handle_t ep;
    int flags;
};

static struct link good_link(void)
{
    return (struct link){
        bed.rmr,        bed.region.lmr, bed.region.data, 1000, IT_ADDR_MODE_ABSOLUTE,
        IT_PRIV_REMOTE, bed.pair.a_ep,  FX_SIGNAL};
}

static it_status_t post_link(const struct link *link)
{
    it_rmr_context_t key = 77;
    it_status_t status =
        it_rmr_link(link->rmr, link->lmr, link->addr, link->length, (it_addr_mode_t)link->mode,
                    (it_mem_priv_t)link->privs, link->ep, 1, (it_dto_flags_t)link->flags, &key);

    EXPECT_EQ(status == IT_SUCCESS, key != 77);
    return status;
}

Test(rmr_args, create)
{
    it_rmr_handle_t rmr = NULL;
    it_pz_handle_t stale = NULL;

    CHECK_OK(it_pz_create(bed.pair.a.ia, &stale));
    CHECK_OK(it_pz_free(stale));
    EXPECT_STATUS(IT_ERR_INVALID_PZ, it_rmr_create10(NULL, &rmr));
    EXPECT_STATUS(IT_ERR_INVALID_PZ, it_rmr_create10(stale, &rmr));
    EXPECT_STATUS(IT_ERR_INVALID_PZ, it_rmr_create20(NULL, IT_RMR_TYPE_WIDE, &rmr));
    EXPECT_STATUS(IT_ERR_INVALID_PZ,
                  it_rmr_create20((void *)bed.pair.a.ia, IT_RMR_TYPE_WIDE, &rmr));
    EXPECT_STATUS(IT_ERR_FAULT, it_rmr_create10(bed.pz, NULL));
    EXPECT_STATUS(IT_ERR_FAULT, it_rmr_create20(bed.pz, IT_RMR_TYPE_WIDE, NULL));
    EXPECT_STATUS(IT_ERR_INVALID_RMR_TYPE, it_rmr_create20(bed.pz, (it_rmr_type_t)3, &rmr));
    EXPECT_STATUS(IT_ERR_INVALID_RMR_TYPE, it_rmr_create20(bed.pz, (it_rmr_type_t)-1, &rmr));
    EXPECT(rmr == NULL);
}

Test(rmr_args, query_and_free)
{
    it_rmr_param_t params;
    it_handle_type_enum_t type = IT_HANDLE_TYPE_IA;

    EXPECT_STATUS(IT_ERR_INVALID_RMR, it_rmr_query(NULL, IT_RMR_PARAM_ALL, &params));
    EXPECT_STATUS(IT_ERR_INVALID_RMR, it_rmr_query(bed.stale, IT_RMR_PARAM_ALL, &params));
    EXPECT_STATUS(IT_ERR_INVALID_RMR,
                  it_rmr_query((void *)bed.region.lmr, IT_RMR_PARAM_ALL, &params));
    EXPECT_STATUS(IT_ERR_FAULT, it_rmr_query(bed.rmr, IT_RMR_PARAM_ALL, NULL));
    EXPECT_STATUS(IT_ERR_INVALID_MASK, it_rmr_query(bed.rmr, (it_rmr_param_mask_t)0x800, &params));
    EXPECT_STATUS(IT_ERR_INVALID_RMR, it_rmr_free(NULL));
    EXPECT_STATUS(IT_ERR_INVALID_RMR, it_rmr_free(bed.stale));
    EXPECT_STATUS(IT_ERR_INVALID_RMR, it_rmr_free((void *)bed.region.lmr));
    EXPECT_OK(it_get_handle_type(bed.rmr, &type));
    EXPECT_EQ(IT_HANDLE_TYPE_RMR, type);
    EXPECT_STATUS(IT_ERR_INVALID_HANDLE, it_get_handle_type(bed.stale, &type));
}

Test(rmr_args, link_handles)
{
    struct link link;
    it_rmr_handle_t rmrs[5];
    it_lmr_handle_t stale_lmr = NULL;
    it_ep_handle_t stale_ep = fx_ep(&bed.pair.a, NULL);

    CHECK_OK(it_ep_free(stale_ep));
    CHECK_OK(it_lmr_create10(bed.pz, bed.region.data, 1, IT_PRIV_LOCAL, IT_LMR_FLAG_NONE, 0,
                             &stale_lmr, NULL));
    CHECK_OK(it_lmr_free(stale_lmr));
    rmrs[0] = NULL;
    rmrs[1] = bed.stale;
    rmrs[2] = (void *)bed.region.lmr;
    for (unsigned i = 0; i < 3; i++) {
        link = good_link();
        link.rmr = rmrs[i];
        EXPECT_STATUS(IT_ERR_INVALID_RMR, post_link(&link));
        EXPECT_STATUS(IT_ERR_INVALID_RMR, it_rmr_unlink(rmrs[i], bed.pair.a_ep, 1, FX_SIGNAL));
    }
    link = good_link();
    link.lmr = NULL;
    EXPECT_STATUS(IT_ERR_INVALID_LMR, post_link(&link));
    link.lmr = stale_lmr;
    EXPECT_STATUS(IT_ERR_INVALID_LMR, post_link(&link));
    link.lmr = (void *)bed.rmr;
    EXPECT_STATUS(IT_ERR_INVALID_LMR, post_link(&link));
    link = good_link();
    link.ep = NULL;
    EXPECT_STATUS(IT_ERR_INVALID_EP, post_link(&link));
    EXPECT_STATUS(IT_ERR_INVALID_EP, it_rmr_unlink(bed.rmr, NULL, 1, FX_SIGNAL));
    link.ep = stale_ep;
    EXPECT_STATUS(IT_ERR_INVALID_EP, post_link(&link));
    EXPECT_STATUS(IT_ERR_INVALID_EP, it_rmr_unlink(bed.rmr, stale_ep, 1, FX_SIGNAL));
    link.ep = (void *)bed.rmr;
    EXPECT_STATUS(IT_ERR_INVALID_EP, post_link(&link));
}

Test(rmr_args, link_zones)
{
    struct fx_buf distant = fx_node_buf(&bed.pair.b, 64);
    struct link link = good_link();

    link.rmr = bed.other;
    EXPECT_STATUS(IT_ERR_INVALID_PZ, post_link(&link));
    EXPECT_STATUS(IT_ERR_INVALID_PZ, it_rmr_unlink(bed.other, bed.pair.a_ep, 1, FX_SIGNAL));
    link.rmr = bed.distant;
    EXPECT_STATUS(IT_ERR_INVALID_PZ, post_link(&link));
    EXPECT_STATUS(IT_ERR_INVALID_PZ, it_rmr_unlink(bed.distant, bed.pair.a_ep, 1, FX_SIGNAL));
    link = good_link();
    link.lmr = bed.foreign.lmr;
    link.addr = bed.foreign.data;
    link.length = 64;
    EXPECT_STATUS(IT_ERR_INVALID_PZ, post_link(&link));
    link.lmr = distant.lmr;
    link.addr = distant.data;
    EXPECT_STATUS(IT_ERR_INVALID_PZ, post_link(&link));
    /* Window and region belong to one zone, the endpoint to another. */
    link.rmr = bed.other;
    link.lmr = bed.foreign.lmr;
    link.addr = bed.foreign.data;
    EXPECT_STATUS(IT_ERR_INVALID_PZ, post_link(&link));
}

Test(rmr_args, link_values)
{
    struct link link = good_link();

    EXPECT_STATUS(IT_ERR_FAULT,
                  it_rmr_link(bed.rmr, bed.region.lmr, bed.region.data, 8, IT_ADDR_MODE_ABSOLUTE,
                              IT_PRIV_REMOTE, bed.pair.a_ep, 1, FX_SIGNAL, NULL));
    EXPECT_STATUS(IT_ERR_FAULT, it_rmr_bind10(bed.rmr, bed.region.lmr, bed.region.data, 8,
                                              IT_PRIV_REMOTE, bed.pair.a_ep, 1, FX_SIGNAL, NULL));
    link.mode = 2;
    EXPECT_STATUS(IT_ERR_INVALID_ADDR_MODE, post_link(&link));
    link = good_link();
    link.length = 0;
    EXPECT_STATUS(IT_ERR_INVALID_LENGTH, post_link(&link));
    link.length = 1001;
    EXPECT_STATUS(IT_ERR_RANGE, post_link(&link));
    link.length = UINT64_MAX;
    EXPECT_STATUS(IT_ERR_RANGE, post_link(&link));
    link.addr++;
    EXPECT_STATUS(IT_ERR_RANGE, post_link(&link));
    link.length = 1000;
    EXPECT_STATUS(IT_ERR_RANGE, post_link(&link));
    link = good_link();
    link.addr--;
    EXPECT_STATUS(IT_ERR_RANGE, post_link(&link));
    link.addr = bed.region.data + 1000;
    link.length = 1;
    EXPECT_STATUS(IT_ERR_RANGE, post_link(&link));
    link.addr = NULL;
    EXPECT_STATUS(IT_ERR_RANGE, post_link(&link));
}

Test(rmr_args, link_rights)
{
    static const int bad[] = {0, IT_PRIV_LOCAL_READ, IT_PRIV_LOCAL, IT_PRIV_REMOTE_READ | 0x20,
                              IT_PRIV_REMOTE | IT_PRIV_LOCAL_WRITE};
    struct link link;
    struct fx_buf readable;
    struct fx_buf writable;
    struct fx_buf none;

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        link = good_link();
        link.privs = bad[i];
        EXPECT_STATUS(IT_ERR_INVALID_PRIVS, post_link(&link));
    }
    readable = fx_buf_make_as(bed.pair.a.pz, 64, IT_PRIV_LOCAL_READ, IT_ADDR_MODE_ABSOLUTE);
    writable = fx_buf_make_as(bed.pair.a.pz, 64, IT_PRIV_LOCAL_WRITE, IT_ADDR_MODE_ABSOLUTE);
    /* Remote rights of the region do not replace local ones. */
    none = fx_buf_make_as(bed.pair.a.pz, 64, IT_PRIV_REMOTE_READ, IT_ADDR_MODE_ABSOLUTE);
    link = good_link();
    link.length = 64;
    link.lmr = readable.lmr;
    link.addr = readable.data;
    EXPECT_STATUS(IT_ERR_ACCESS, post_link(&link));
    link.privs = IT_PRIV_REMOTE_WRITE;
    EXPECT_STATUS(IT_ERR_ACCESS, post_link(&link));
    link.lmr = writable.lmr;
    link.addr = writable.data;
    link.privs = IT_PRIV_REMOTE_READ;
    EXPECT_STATUS(IT_ERR_ACCESS, post_link(&link));
    link.lmr = none.lmr;
    link.addr = none.data;
    EXPECT_STATUS(IT_ERR_ACCESS, post_link(&link));
    /* No object is busy after all that. */
    fx_buf_free(&readable);
    fx_buf_free(&writable);
    fx_buf_free(&none);
}

/* An absolute window needs a region with addresses. Version 1.0 knows no other windows. */
Test(rmr_args, modes)
{
    it_rmr_context_t key = 0;
    struct fx_buf relative = fx_buf_make_as(bed.pair.a.pz, 64, FX_PRIVS_ALL, IT_ADDR_MODE_RELATIVE);
    struct link link = good_link();

    link.lmr = relative.lmr;
    link.addr = relative.data;
    link.length = 64;
    EXPECT_STATUS(IT_ERR_INVALID_ADDR_MODE, post_link(&link));
    EXPECT_STATUS(IT_ERR_INVALID_ADDR_MODE,
                  it_rmr_bind10(bed.rmr, relative.lmr, relative.data, 64, IT_PRIV_REMOTE,
                                bed.pair.a_ep, 1, FX_SIGNAL, &key));
    EXPECT_EQ(0, key);
    link.mode = IT_ADDR_MODE_RELATIVE;
    EXPECT_OK(post_link(&link));
    fx_done_len(bed.pair.a.request_evd, bed.pair.a_ep, IT_RMR_LINK_CMPL_EVENT, 1, 0);
    EXPECT_OK(it_rmr_bind10(bed.rmr, bed.region.lmr, bed.region.data, 64, IT_PRIV_REMOTE,
                            bed.pair.a_ep, 2, FX_SIGNAL, &key));
    fx_done_len(bed.pair.a.request_evd, bed.pair.a_ep, IT_RMR_BIND_CMPL_EVENT, 2, 0);
    EXPECT(key != 0);
    fx_unlinked(bed.pair.a.request_evd, bed.pair.a_ep, bed.rmr);
    fx_buf_free(&relative);
}

Test(rmr_args, flags)
{
    const unsigned link_flags =
        IT_COMPLETION_FLAG | IT_NOTIFY_FLAG | IT_BARRIER_FENCE_FLAG | IT_COALESCE_WR_FLAG;
    const unsigned unlink_flags = link_flags | IT_UNLINK_FENCE_FLAG;
    struct link link;

    for (unsigned bit = 1; bit <= 0x100; bit <<= 1) {
        bool legal = (bit & link_flags) != 0;

        link = good_link();
        link.flags = (int)((bit & ALL_FLAGS) | (legal ? IT_COMPLETION_FLAG : bit));
        EXPECT_STATUS(legal ? IT_SUCCESS : IT_ERR_INVALID_DTO_FLAGS, post_link(&link));
        if (legal)
            fx_done_len(bed.pair.a.request_evd, bed.pair.a_ep, IT_RMR_LINK_CMPL_EVENT, 1, 0);
        legal = (bit & unlink_flags) != 0;
        EXPECT_STATUS(legal ? IT_SUCCESS : IT_ERR_INVALID_DTO_FLAGS,
                      it_rmr_unlink(bed.rmr, bed.pair.a_ep, 2,
                                    (it_dto_flags_t)(bit | (legal ? IT_COMPLETION_FLAG : 0u))));
        if (legal)
            fx_done_len(bed.pair.a.request_evd, bed.pair.a_ep, IT_RMR_LINK_CMPL_EVENT, 2, 0);
    }
}

/*
 * Tests the states that an endpoint can have without a peer. Other tests have CONNECTED and those
 * after it.
 */
Test(rmr_args, state)
{
    it_rmr_triplet_t segment;
    struct fx_part part;
    struct link link = good_link();

    link.ep = bed.idle;
    EXPECT_STATUS(IT_ERR_INVALID_EP_STATE, post_link(&link));
    EXPECT_STATUS(IT_ERR_INVALID_EP_STATE, it_rmr_unlink(bed.rmr, bed.idle, 1, FX_SIGNAL));
    EXPECT_STATUS(IT_ERR_INVALID_EP_STATE,
                  it_post_send_and_unlink(bed.idle, NULL, 0, 1, FX_SIGNAL, 5));
    part = fx_whole(&bed.region);
    (void)fx_linked(bed.pair.a.request_evd, bed.pair.a_ep, bed.rmr, &part);
    segment = fx_rmr_seg(bed.rmr, &part, 0, 8);
    EXPECT_STATUS(IT_ERR_INVALID_EP_STATE,
                  it_post_rdma_read_to_rmr(bed.idle, &segment, 1, 1, FX_SIGNAL, 0, 5));
    fx_unlinked(bed.pair.a.request_evd, bed.pair.a_ep, bed.rmr);
}

static it_status_t read_to(const it_rmr_triplet_t *segments, size_t count, unsigned flags)
{
    return it_post_rdma_read_to_rmr(bed.pair.a_ep, segments, count, 1, (it_dto_flags_t)flags, 0, 1);
}

Test(rmr_args, read_to_rmr)
{
    it_rmr_triplet_t segments[9];
    struct fx_part part = fx_whole(&bed.region);

    (void)fx_linked(bed.pair.a.request_evd, bed.pair.a_ep, bed.rmr, &part);
    for (unsigned i = 0; i < 9; i++)
        segments[i] = fx_rmr_seg(bed.rmr, &part, 0, 8);
    EXPECT_STATUS(IT_ERR_INVALID_EP,
                  it_post_rdma_read_to_rmr(NULL, segments, 1, 1, FX_SIGNAL, 0, 1));
    EXPECT_STATUS(IT_ERR_INVALID_EP,
                  it_post_rdma_read_to_rmr((void *)bed.rmr, segments, 1, 1, FX_SIGNAL, 0, 1));
    EXPECT_STATUS(IT_ERR_FAULT, read_to(NULL, 1, FX_SIGNAL));
    EXPECT_STATUS(IT_ERR_INVALID_NUM_SEGMENTS, read_to(segments, 9, FX_SIGNAL));
    for (unsigned bit = 1; bit <= 0x100; bit <<= 1) {
        if ((bit & (IT_SOLICITED_WAIT_FLAG | IT_UNLINK_FENCE_FLAG)) || bit > ALL_FLAGS)
            EXPECT_STATUS(IT_ERR_INVALID_DTO_FLAGS, read_to(segments, 1, bit));
    }
    /* With two sinks it would be unclear which one to unlink. */
    EXPECT_STATUS(IT_ERR_INVALID_DTO_FLAGS, read_to(segments, 2, IT_UNLINK_LOCAL_SINK));
    EXPECT_STATUS(IT_ERR_INVALID_DTO_FLAGS, read_to(NULL, 0, IT_UNLINK_LOCAL_SINK));
    segments[0].length = (it_length_t)1 << 32;
    EXPECT_STATUS(IT_ERR_PAYLOAD_SIZE, read_to(segments, 1, FX_SIGNAL));
    segments[0].length = UINT64_MAX;
    EXPECT_STATUS(IT_ERR_PAYLOAD_SIZE, read_to(segments, 2, FX_SIGNAL));
    segments[0].length = 8;
    segments[1].rmr = NULL;
    EXPECT_STATUS(IT_ERR_INVALID_RMR, read_to(segments, 2, FX_SIGNAL));
    segments[1].rmr = bed.stale;
    EXPECT_STATUS(IT_ERR_INVALID_RMR, read_to(segments, 2, FX_SIGNAL));
    segments[1].rmr = (void *)bed.region.lmr;
    EXPECT_STATUS(IT_ERR_INVALID_RMR, read_to(segments, 2, FX_SIGNAL));
    segments[1].rmr = bed.distant;
    EXPECT_STATUS(IT_ERR_INVALID_RMR, read_to(segments, 2, FX_SIGNAL));
    segments[1].rmr = bed.other; /* never linked */
    EXPECT_STATUS(IT_ERR_INVALID_RMR, read_to(segments, 2, FX_SIGNAL));
    fx_unlinked(bed.pair.a.request_evd, bed.pair.a_ep, bed.rmr);
}

Test(rmr_args, send_and_unlink)
{
    it_lmr_triplet_t segments[9];

    for (unsigned i = 0; i < 9; i++)
        segments[i] = fx_seg(&bed.region, 0, 8);
    EXPECT_STATUS(IT_ERR_INVALID_EP, it_post_send_and_unlink(NULL, segments, 1, 1, FX_SIGNAL, 1));
    EXPECT_STATUS(IT_ERR_FAULT, it_post_send_and_unlink(bed.pair.a_ep, NULL, 1, 1, FX_SIGNAL, 1));
    EXPECT_STATUS(IT_ERR_INVALID_NUM_SEGMENTS,
                  it_post_send_and_unlink(bed.pair.a_ep, segments, 9, 1, FX_SIGNAL, 1));
    for (unsigned bit = 1; bit <= 0x100; bit <<= 1) {
        if ((bit & (IT_UNLINK_LOCAL_SINK | IT_UNLINK_FENCE_FLAG)) || bit > ALL_FLAGS)
            EXPECT_STATUS(
                IT_ERR_INVALID_DTO_FLAGS,
                it_post_send_and_unlink(bed.pair.a_ep, segments, 1, 1, (it_dto_flags_t)bit, 1));
    }
    segments[1].length = 64u << 20;
    EXPECT_STATUS(IT_ERR_PAYLOAD_SIZE,
                  it_post_send_and_unlink(bed.pair.a_ep, segments, 2, 1, FX_SIGNAL, 1));
    segments[1].lmr = NULL;
    EXPECT_STATUS(IT_ERR_INVALID_LMR,
                  it_post_send_and_unlink(bed.pair.a_ep, segments, 2, 1, FX_SIGNAL, 1));
}

/* On an ordinary Read the flag needs one sink, too. */
Test(rmr_args, unlink_local_sink)
{
    it_lmr_triplet_t segments[2];

    segments[0] = fx_seg(&bed.region, 0, 8);
    segments[1] = fx_seg(&bed.region, 8, 8);
    EXPECT_STATUS(IT_ERR_INVALID_DTO_FLAGS,
                  it_post_rdma_read(bed.pair.a_ep, segments, 2, 1, IT_UNLINK_LOCAL_SINK, 0, 1));
    EXPECT_STATUS(IT_ERR_INVALID_DTO_FLAGS,
                  it_post_rdma_read(bed.pair.a_ep, NULL, 0, 1, IT_UNLINK_LOCAL_SINK, 0, 1));
    EXPECT_STATUS(IT_ERR_INVALID_DTO_FLAGS,
                  it_post_rdma_write(bed.pair.a_ep, segments, 1, 1, IT_UNLINK_LOCAL_SINK, 0, 1));
    EXPECT(fx_lmr_is_linked(bed.region.lmr));
}

/* What the IA announces about windows. */
Test(rmr_args, announced)
{
    it_ia_info_t *info = NULL;

    CHECK_OK(it_ia_query(bed.pair.a.ia, &info));
    EXPECT_EQ(IT_RMR_TYPE_NARROW | IT_RMR_TYPE_WIDE, info->rmr_types_supported);
    EXPECT_EQ(IT_TRUE, info->narrow_rmr_unlink_support);
    EXPECT_EQ(IT_TRUE, info->wide_rmr_unlink_support);
    EXPECT_EQ(IT_TRUE, info->unlink_fence_support);
    EXPECT_EQ(IT_TRUE, info->post_send_unlink_remote_support);
    EXPECT_EQ(IT_TRUE, info->rdma_read_local_extensions);
    EXPECT_EQ(IT_FALSE, info->rdma_read_requires_remote_write);
    EXPECT_EQ(IT_FALSE, info->lmr_link_support);
    EXPECT_EQ(IT_FALSE, info->direct_lmr_handle_support);
    EXPECT(info->direct_lmr_handle == NULL);
    EXPECT_EQ(0, info->iobl_types_supported);
    it_ia_info_free(info);
}
