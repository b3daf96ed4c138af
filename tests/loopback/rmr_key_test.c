/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory as in InfiniBand: regions at addresses of the program's choice, windows with keys of its
 * choice, and keys that it invalidates.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "support/it_window.h"

#define SIZE  ((size_t)4096)
#define PRIVS ((it_mem_priv_t)(IT_PRIV_REMOTE_READ | IT_PRIV_REMOTE_WRITE))

/* The memory is b's. a is the peer. */
static struct {
    struct fx_pair pair;
    struct fx_buf local;  /* a's */
    struct fx_buf region; /* b's, without remote rights */
} bed;

static void bed_open(void)
{
    fx_pair_open(&bed.pair);
    bed.local = fx_node_buf(&bed.pair.a, SIZE);
    bed.region = fx_buf_make_as(bed.pair.b.pz, SIZE, IT_PRIV_LOCAL, IT_ADDR_MODE_ABSOLUTE);
    fx_fill(bed.region.data, SIZE, 5);
}

static void bed_close(void)
{
    fx_buf_free(&bed.region);
    fx_pair_close(&bed.pair);
    check_done();
}

static it_status_t read_by(it_rdma_addr_t address, it_rmr_context_t key, size_t length)
{
    it_lmr_triplet_t segment = fx_seg(&bed.local, 0, length);

    return it_post_rdma_read(bed.pair.a_ep, &segment, 1, 7, FX_SIGNAL, address, key);
}

/* Checks that a peer that reads there gets the octets of this memory. */
static void reads(it_rdma_addr_t address, it_rmr_context_t key, const void *memory, size_t length)
{
    memset(bed.local.data, 0, SIZE);
    CHECK_OK(read_by(address, key, length));
    fx_done_len(bed.pair.a.request_evd, bed.pair.a_ep, IT_DTO_RDMA_READ_CMPL_EVENT, 7, length);
    fx_check_same(memory, bed.local.data, length);
}

static void mend(void)
{
    fx_pair_mend(&bed.pair);
    fx_drain(bed.pair.a.aff_evd);
    fx_drain(bed.pair.b.aff_evd);
    fx_drain(bed.pair.a.request_evd);
    fx_drain(bed.pair.b.request_evd);
}

static void read_refused(it_rdma_addr_t address, it_rmr_context_t key, size_t length)
{
    CHECK_OK(read_by(address, key, length));
    fx_done(bed.pair.a.request_evd, bed.pair.a_ep, IT_DTO_RDMA_READ_CMPL_EVENT, 7,
            IT_DTO_ERR_REMOTE_ACCESS);
    mend();
}

static it_rdma_addr_t place(size_t offset)
{
    return (it_rdma_addr_t)(uintptr_t)(bed.region.data + offset);
}

static it_rmr_context_t key_of(it_rmr_handle_t rmr)
{
    it_rmr_context_t key = 0;

    CHECK_OK(itx_rmr_key(rmr, &key));
    return key;
}

static void link_done(it_dto_status_t status)
{
    it_event_t event = fx_next(bed.pair.b.request_evd);

    CHECK_EQ(IT_RMR_LINK_CMPL_EVENT, event.event_number);
    CHECK_EQ(status, event.dto_cmpl.dto_status);
}

static it_status_t link_by(it_rmr_handle_t rmr, it_rmr_context_t key)
{
    return itx_rmr_link_key(rmr, bed.region.lmr, bed.region.data, SIZE, IT_ADDR_MODE_ABSOLUTE,
                            PRIVS, bed.pair.b_ep, 3, FX_SIGNAL, key);
}

static void linked_by(it_rmr_handle_t rmr, it_rmr_context_t key)
{
    CHECK_OK(link_by(rmr, key));
    link_done(IT_DTO_SUCCESS);
}

/* ---- Addresses ------------------------------------------------------------------------------ */

static void region_at(it_rdma_addr_t base)
{
    unsigned char *data = bed.region.data;
    it_lmr_handle_t lmr;
    it_rmr_context_t key;
    it_lmr_param_t params;

    CHECK_OK(itx_lmr_create_at(bed.pair.b.pz, data, SIZE, base, IT_PRIV_ALL, IT_LMR_FLAG_NONE, &lmr,
                               &key));
    reads(base, key, data, SIZE);
    reads(base + 100, key, data + 100, 200);
    /* Local segments use the process's addresses. */
    CHECK_OK(it_post_recv(bed.pair.b_ep,
                          &(it_lmr_triplet_t){.lmr = lmr, .addr.abs = data + 8, .length = 16}, 1, 1,
                          FX_SIGNAL));
    fx_fill(bed.local.data, 16, 9);
    fx_send(bed.pair.a_ep, &bed.local, 0, 16, 2, FX_QUIET);
    fx_done_len(bed.pair.b.recv_evd, bed.pair.b_ep, IT_DTO_RC_RECV_CMPL_EVENT, 1, 16);
    CHECK(fx_is_filled(data + 8, 16, 9));
    /* The base address stays when the rights change. */
    params.privs = (it_mem_priv_t)(IT_PRIV_LOCAL | IT_PRIV_REMOTE_READ);
    CHECK_OK(it_lmr_modify(lmr, IT_LMR_PARAM_MEM_PRIV, &params));
    CHECK_OK(it_lmr_query(lmr, IT_LMR_PARAM_RMR_CONTEXT, &params));
    key = params.rmr_context;
    reads(base + 1, key, data + 1, SIZE - 1);
    if (base > 0)
        read_refused(base - 1, key, 2);
    read_refused(base + 1, key, SIZE);
    CHECK_OK(it_lmr_free(lmr));
}

Test(rmr_key, regions_at_any_address, .init = bed_open, .fini = bed_close)
{
    region_at(0);
    region_at(0x1000);
    region_at(place(0));
    region_at(place(64));
    region_at(UINT64_MAX - SIZE);
}

Test(rmr_key, beyond_the_last_address, .init = bed_open, .fini = bed_close)
{
    it_lmr_handle_t lmr;

    CHECK_STATUS(IT_ERR_RANGE,
                 itx_lmr_create_at(bed.pair.b.pz, bed.region.data, SIZE, UINT64_MAX - SIZE + 1,
                                   IT_PRIV_ALL, IT_LMR_FLAG_NONE, &lmr, NULL));
}

/* A window has the addresses of its part of the region, or begins at 0. */
static void window_at(it_rdma_addr_t base, it_addr_mode_t mode, it_rdma_addr_t found)
{
    unsigned char *data = bed.region.data;
    it_rmr_handle_t rmr = fx_rmr(bed.pair.b.pz, IT_RMR_TYPE_WIDE);
    it_lmr_handle_t lmr;
    it_rmr_context_t key;
    it_rmr_param_t params;

    CHECK_OK(itx_lmr_create_at(bed.pair.b.pz, data, SIZE, base, IT_PRIV_LOCAL, IT_LMR_FLAG_NONE,
                               &lmr, NULL));
    CHECK_OK(
        it_rmr_link(rmr, lmr, data + 256, 512, mode, PRIVS, bed.pair.b_ep, 1, FX_SIGNAL, &key));
    link_done(IT_DTO_SUCCESS);
    CHECK_OK(it_rmr_query(rmr, IT_RMR_PARAM_ADDR_MODE, &params));
    CHECK_EQ(mode, params.addr_mode);
    reads(found, key, data + 256, 512);
    read_refused(found + 1, key, 512);
    CHECK_OK(it_rmr_free(rmr));
    CHECK_OK(it_lmr_free(lmr));
}

Test(rmr_key, windows_on_them, .init = bed_open, .fini = bed_close)
{
    window_at(0, IT_ADDR_MODE_ABSOLUTE, 256);
    window_at(1000, IT_ADDR_MODE_ABSOLUTE, 1256);
    window_at(UINT64_MAX - SIZE, IT_ADDR_MODE_RELATIVE, 0);
    window_at(UINT64_MAX - SIZE, IT_ADDR_MODE_ABSOLUTE, UINT64_MAX - SIZE + 256);
}

/* ---- Keys ----------------------------------------------------------------------------------- */

static void keys_of(it_rmr_type_t type)
{
    it_rmr_handle_t rmr = fx_rmr(bed.pair.b.pz, type);
    it_rmr_context_t key = key_of(rmr);
    it_rmr_context_t base = key & ~(it_rmr_context_t)0xff;

    CHECK(key >> 8 != 0);
    CHECK_EQ(key, key_of(rmr));
    for (unsigned low = 0; low < 256; low++) {
        linked_by(rmr, base | low);
        reads(place(0), base | low, bed.region.data, 64);
        CHECK_EQ(base | low, key_of(rmr));
        if (type == IT_RMR_TYPE_NARROW)
            fx_unlinked(bed.pair.b.request_evd, bed.pair.b_ep, rmr);
    }
    /* Only the last key works, and none after an unlink. */
    read_refused(place(0), base | 0x10, 64);
    linked_by(rmr, base | 0x20);
    fx_unlinked(bed.pair.b.request_evd, bed.pair.b_ep, rmr);
    read_refused(place(0), base | 0x20, 64);
    linked_by(rmr, base | 0x20); /* the same again */
    reads(place(0), base | 0x20, bed.region.data, 64);
    CHECK_STATUS(IT_ERR_RANGE, link_by(rmr, base + 0x100));
    CHECK_STATUS(IT_ERR_RANGE, link_by(rmr, 0));
    CHECK_STATUS(IT_ERR_RANGE, link_by(rmr, base | 0x20 | (it_rmr_context_t)1 << 32));
    CHECK_OK(it_rmr_free(rmr));
}

/* A narrow window that is linked stays as it is. */
Test(rmr_key, narrow_and_linked_twice, .init = bed_open, .fini = bed_close)
{
    it_rmr_handle_t rmr = fx_rmr(bed.pair.b.pz, IT_RMR_TYPE_NARROW);
    it_rmr_context_t key = key_of(rmr);

    linked_by(rmr, key);
    CHECK_OK(link_by(rmr, key ^ 1));
    link_done((it_dto_status_t)IT_RMR_OPERATION_FAILED);
    mend();
    linked_by(rmr, key ^ 1); /* by the next connection */
    reads(place(0), key ^ 1, bed.region.data, 64);
    CHECK_OK(it_rmr_free(rmr));
}

Test(rmr_key, a_key_of_ones_choice, .init = bed_open, .fini = bed_close)
{
    keys_of(IT_RMR_TYPE_NARROW);
    keys_of(IT_RMR_TYPE_WIDE);
}

/* Links with keys of the library's choice and of the program's choice alternate. */
Test(rmr_key, both_kinds_of_links, .init = bed_open, .fini = bed_close)
{
    it_rmr_handle_t rmr = fx_rmr(bed.pair.b.pz, IT_RMR_TYPE_WIDE);
    const struct fx_part part = fx_whole(&bed.region);
    it_rmr_context_t drawn = fx_linked(bed.pair.b.request_evd, bed.pair.b_ep, rmr, &part);
    it_rmr_context_t own;

    CHECK_STATUS(IT_ERR_RANGE, link_by(rmr, drawn)); /* itx_rmr_key comes first */
    own = key_of(rmr);
    CHECK(own >> 8 != drawn >> 8);
    reads(place(0), drawn, bed.region.data, 64);
    linked_by(rmr, own ^ 1);
    reads(place(0), own ^ 1, bed.region.data, 64);
    drawn = fx_linked(bed.pair.b.request_evd, bed.pair.b_ep, rmr, &part);
    reads(place(0), drawn, bed.region.data, 64);
    read_refused(place(0), own ^ 1, 64);
    CHECK_OK(it_rmr_free(rmr));
}

/* More windows than the map of keys begins with: all keys still work after the map has grown. */
Test(rmr_key, many_windows, .init = bed_open, .fini = bed_close)
{
    enum {
        MANY = 3000
    };
    static it_rmr_handle_t rmr[MANY];
    static it_rmr_context_t key[MANY];

    for (unsigned i = 0; i < MANY; i++) {
        rmr[i] = fx_rmr(bed.pair.b.pz, IT_RMR_TYPE_WIDE);
        key[i] = key_of(rmr[i]) ^ (i & 0xff);
        linked_by(rmr[i], key[i]);
    }
    for (unsigned i = 0; i < MANY; i += 100) {
        reads(place(0), key[i], bed.region.data, 8);
        linked_by(rmr[i], key[i] ^ 0x55);
        reads(place(0), key[i] ^ 0x55, bed.region.data, 8);
    }
    for (unsigned i = 0; i < MANY; i++)
        CHECK_OK(it_rmr_free(rmr[i]));
}

/* ---- Taking keys back ----------------------------------------------------------------------- */

static void invalidated(it_rmr_context_t key, it_dto_status_t status)
{
    CHECK_OK(itx_post_invalidate(bed.pair.b_ep, key, 4, FX_SIGNAL));
    link_done(status);
}

static void window_is_taken_back(it_rmr_type_t type)
{
    it_rmr_handle_t rmr = fx_rmr(bed.pair.b.pz, type);
    it_rmr_context_t key = key_of(rmr);

    linked_by(rmr, key);
    reads(place(0), key, bed.region.data, 64);
    invalidated(key, IT_DTO_SUCCESS);
    CHECK(!fx_is_linked(rmr));
    read_refused(place(0), key, 64);
    linked_by(rmr, key ^ 1);
    reads(place(0), key ^ 1, bed.region.data, 64);
    CHECK_OK(it_rmr_free(rmr));
}

Test(rmr_key, invalidated_windows, .init = bed_open, .fini = bed_close)
{
    window_is_taken_back(IT_RMR_TYPE_NARROW);
    window_is_taken_back(IT_RMR_TYPE_WIDE);
}

/* Peers lose access to the region. Local requests do not. */
Test(rmr_key, an_invalidated_region, .init = bed_open, .fini = bed_close)
{
    struct fx_buf open = fx_node_buf(&bed.pair.b, 64);
    it_rdma_addr_t address = fx_addr(&open, 0);

    reads(address, open.key, open.data, 64);
    invalidated(open.key, IT_DTO_SUCCESS);
    CHECK(!fx_lmr_is_linked(open.lmr));
    fx_recv(bed.pair.b_ep, &open, 0, 64, 1);
    fx_send(bed.pair.a_ep, &bed.local, 0, 64, 2, FX_QUIET);
    fx_done_len(bed.pair.b.recv_evd, bed.pair.b_ep, IT_DTO_RC_RECV_CMPL_EVENT, 1, 64);
    read_refused(address, open.key, 64);
}

/* Resets the window without an endpoint: the one that linked it may be freed by then. */
static void is_reset(it_rmr_type_t type)
{
    it_rmr_handle_t rmr = fx_rmr(bed.pair.b.pz, type);
    it_rmr_context_t key = key_of(rmr);
    it_ep_attributes_t attr = fx_ep_attr();

    CHECK_OK(itx_rmr_reset(rmr));
    linked_by(rmr, key);
    reads(place(0), key, bed.region.data, 64);
    CHECK_OK(itx_rmr_reset(rmr));
    CHECK(!fx_is_linked(rmr));
    read_refused(place(0), key, 64);
    linked_by(rmr, key);
    if (type == IT_RMR_TYPE_NARROW)
        CHECK_STATUS(IT_ERR_EP_BUSY, it_ep_free(bed.pair.b_ep));
    CHECK_STATUS(IT_ERR_LMR_BUSY, it_lmr_free(bed.region.lmr));
    CHECK_OK(itx_rmr_reset(rmr));
    CHECK_OK(it_ep_free(bed.pair.b_ep));
    fx_conn(bed.pair.a.conn_evd, bed.pair.a_ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
    CHECK_OK(it_ep_reset(bed.pair.a_ep));
    bed.pair.b_ep = fx_ep(&bed.pair.b, &attr);
    fx_join(&bed.pair.a, bed.pair.a_ep, &bed.pair.b, bed.pair.b_ep);
    CHECK_OK(it_rmr_free(rmr));
}

Test(rmr_key, reset_windows, .init = bed_open, .fini = bed_close)
{
    is_reset(IT_RMR_TYPE_NARROW);
    is_reset(IT_RMR_TYPE_WIDE);
}

static void refuses(it_rmr_context_t key)
{
    invalidated(key, (it_dto_status_t)IT_RMR_OPERATION_FAILED);
    mend();
}

Test(rmr_key, what_cannot_be_taken_back, .init = bed_open, .fini = bed_close)
{
    it_rmr_handle_t rmr = fx_rmr(bed.pair.b.pz, IT_RMR_TYPE_NARROW);
    it_rmr_context_t key = key_of(rmr);
    it_pz_handle_t pz;
    struct fx_buf elsewhere;

    refuses(0);
    refuses(key); /* not linked */
    refuses(key | (it_rmr_context_t)1 << 40);
    linked_by(rmr, key);
    refuses(key ^ 1);
    /* The connection over which it was linked has ended, so no peer may use it. */
    refuses(key);
    CHECK_OK(it_rmr_free(rmr));
    CHECK_OK(it_pz_create(bed.pair.b.ia, &pz));
    elsewhere = fx_buf_make_as(pz, 64, FX_PRIVS_ALL, IT_ADDR_MODE_ABSOLUTE);
    refuses(elsewhere.key);
    fx_buf_free(&elsewhere);
    CHECK_OK(it_pz_free(pz));
    /* Now the region has a window. */
    elsewhere = fx_buf_make(&bed.pair.b, 64);
    rmr = fx_rmr(bed.pair.b.pz, IT_RMR_TYPE_WIDE);
    (void)fx_linked(bed.pair.b.request_evd, bed.pair.b_ep, rmr,
                    &(struct fx_part){&elsewhere, 0, 64, IT_ADDR_MODE_ABSOLUTE, PRIVS});
    refuses(elsewhere.key);
    CHECK_OK(it_rmr_free(rmr));
    fx_buf_free(&elsewhere);
}
