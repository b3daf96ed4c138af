/* SPDX-License-Identifier: BSD-2-Clause */
/* it_lmr_modify, explicit coherence, shared regions (also between processes), privileged calls. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/it_window.h"
#include "support/fixture_pair.h"

#define MODIFIABLE ((unsigned)IT_LMR_PARAM_PZ | (unsigned)IT_LMR_PARAM_MEM_PRIV)

static it_lmr_param_t params_of(it_lmr_handle_t lmr)
{
    it_lmr_param_t params;

    memset(&params, 0, sizeof(params));
    CHECK_OK(it_lmr_query(lmr, IT_LMR_PARAM_ALL, &params));
    return params;
}

/* ---- it_lmr_modify -------------------------------------------------------------------------- */

Test(lmr_modify, arguments)
{
    struct fx_node node;
    struct fx_node other;
    struct fx_buf buf;
    it_lmr_param_t params;
    it_lmr_param_t before;
    it_lmr_param_t after;
    it_pz_handle_t stale = NULL;

    fx_node_open(&node);
    fx_node_open(&other);
    buf = fx_buf_make(&node, 64);
    CHECK_OK(it_pz_create(node.ia, &stale));
    CHECK_OK(it_pz_free(stale));
    before = params_of(buf.lmr);
    params = before;
    EXPECT_STATUS(IT_ERR_INVALID_LMR, it_lmr_modify(NULL, IT_LMR_PARAM_PZ, &params));
    EXPECT_STATUS(IT_ERR_INVALID_LMR, it_lmr_modify((void *)node.pz, IT_LMR_PARAM_PZ, &params));
    EXPECT_STATUS(IT_ERR_FAULT, it_lmr_modify(buf.lmr, IT_LMR_PARAM_PZ, NULL));
    for (unsigned bit = 1; bit <= 0x8000; bit <<= 1) {
        if (!(bit & MODIFIABLE))
            EXPECT_STATUS(IT_ERR_INVALID_MASK,
                          it_lmr_modify(buf.lmr, (it_lmr_param_mask_t)(bit | MODIFIABLE), &params));
    }
    EXPECT_OK(it_lmr_modify(buf.lmr, (it_lmr_param_mask_t)0, &params));
    params.pz = NULL;
    EXPECT_STATUS(IT_ERR_INVALID_PZ, it_lmr_modify(buf.lmr, IT_LMR_PARAM_PZ, &params));
    params.pz = stale;
    EXPECT_STATUS(IT_ERR_INVALID_PZ, it_lmr_modify(buf.lmr, IT_LMR_PARAM_PZ, &params));
    params.pz = (void *)buf.lmr;
    EXPECT_STATUS(IT_ERR_INVALID_PZ, it_lmr_modify(buf.lmr, IT_LMR_PARAM_PZ, &params));
    params.pz = other.pz;
    EXPECT_STATUS(IT_ERR_INVALID_PZ,
                  it_lmr_modify(buf.lmr, (it_lmr_param_mask_t)MODIFIABLE, &params));
    params.pz = node.pz;
    params.privs = (it_mem_priv_t)0x20;
    EXPECT_STATUS(IT_ERR_INVALID_PRIVS, it_lmr_modify(buf.lmr, IT_LMR_PARAM_MEM_PRIV, &params));
    params.privs = (it_mem_priv_t)(IT_PRIV_REMOTE_WRITE | IT_PRIV_LOCAL_READ);
    EXPECT_STATUS(IT_ERR_INVALID_PRIVS,
                  it_lmr_modify(buf.lmr, (it_lmr_param_mask_t)MODIFIABLE, &params));
    after = params_of(buf.lmr);
    EXPECT(memcmp(&before, &after, sizeof(before)) == 0);
    EXPECT_OK(it_lmr_free(buf.lmr));
    EXPECT_STATUS(IT_ERR_INVALID_LMR, it_lmr_modify(buf.lmr, IT_LMR_PARAM_PZ, &before));
    buf.lmr = NULL;
    fx_buf_free(&buf);
    fx_node_close(&node);
    fx_node_close(&other);
    check_done();
}

Test(lmr_modify, pages_must_allow_it)
{
    size_t size = (size_t)sysconf(_SC_PAGESIZE);
    struct fx_node node;
    it_lmr_handle_t lmr = NULL;
    it_rmr_context_t key = 0;
    it_lmr_param_t params = {.privs = IT_PRIV_LOCAL};
    unsigned char *page = mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    CHECK(page != MAP_FAILED);
    fx_node_open(&node);
    CHECK_OK(it_lmr_create21(node.pz, page, NULL, size, IT_ADDR_MODE_ABSOLUTE, IT_PRIV_LOCAL_READ,
                             IT_LMR_FLAG_NONE, 0, &lmr, &key));
    CHECK_STATUS(IT_ERR_ACCESS, it_lmr_modify(lmr, IT_LMR_PARAM_MEM_PRIV, &params));
    CHECK_EQ(key, params_of(lmr).rmr_context);
    CHECK_EQ(0, mprotect(page, size, PROT_READ | PROT_WRITE));
    CHECK_OK(it_lmr_modify(lmr, IT_LMR_PARAM_MEM_PRIV, &params));
    CHECK_EQ(IT_PRIV_LOCAL, params_of(lmr).privs);
    fx_node_close(&node);
    CHECK_EQ(0, munmap(page, size));
}

static void write_refused(const struct fx_buf *from, const struct fx_buf *to)
{
    fx_write(pair.a_ep, from, 0, 8, to, 0, 1, FX_QUIET);
    fx_pair_mend(&pair);
    fx_drain(pair.a.request_evd);
}

static void write_granted(const struct fx_buf *from, const struct fx_buf *to)
{
    memset(to->data, 0, 8);
    fx_write(pair.a_ep, from, 0, 8, to, 0, 1, FX_QUIET);
    fx_pair_ping(&pair);
    CHECK(memcmp(from->data, to->data, 8) == 0);
}

static void change(struct fx_buf *region, it_mem_priv_t privs)
{
    it_lmr_param_t params = {.privs = privs};

    CHECK_OK(it_lmr_modify(
        region->lmr, (it_lmr_param_mask_t)(IT_LMR_PARAM_MEM_PRIV | ITX_LMR_KEEP_KEY), &params));
    params = params_of(region->lmr);
    CHECK_EQ(privs, params.privs);
    CHECK_EQ(region->key, params.rmr_context);
}

/* Rights change, but the key and posted receives stay. */
Test(lmr_modify, rights_of_a_key_that_stays, .init = pair_init, .fini = pair_fini)
{
    struct fx_buf local = fx_node_buf(&pair.a, 64);
    struct fx_buf region = fx_buf_make(&pair.b, 64);

    fx_fill(local.data, 64, 1);
    write_granted(&local, &region);
    fx_recv(pair.b_ep, &region, 0, 64, 7);
    change(&region, IT_PRIV_LOCAL);
    fx_send(pair.a_ep, &local, 0, 64, 1, FX_QUIET);
    fx_done_len(pair.b.recv_evd, pair.b_ep, IT_DTO_RC_RECV_CMPL_EVENT, 7, 64);
    fx_check_same(local.data, region.data, 64);
    write_refused(&local, &region);
    change(&region, FX_PRIVS_ALL);
    write_granted(&local, &region);
    /* Afterwards an ordinary change makes a new key, and the old one is invalid. */
    CHECK_OK(
        it_lmr_modify(region.lmr, IT_LMR_PARAM_MEM_PRIV, &(it_lmr_param_t){.privs = FX_PRIVS_ALL}));
    CHECK(region.key != params_of(region.lmr).rmr_context);
    write_refused(&local, &region);
    fx_buf_free(&region);
}

/* Rights change, and earlier keys become invalid. */
Test(lmr_modify, rights, .init = pair_init, .fini = pair_fini)
{
    it_lmr_param_t params = {.privs = IT_PRIV_LOCAL};
    struct fx_buf old;
    struct fx_buf local = fx_node_buf(&pair.a, 64);
    struct fx_buf region = fx_buf_make(&pair.b, 64);

    fx_fill(local.data, 64, 1);
    write_granted(&local, &region);
    old = region;
    CHECK_OK(it_lmr_modify(region.lmr, IT_LMR_PARAM_MEM_PRIV, &params));
    region.key = params_of(region.lmr).rmr_context;
    CHECK_EQ(IT_PRIV_LOCAL, params_of(region.lmr).privs);
    CHECK(region.key != old.key);
    write_refused(&local, &region);
    write_refused(&local, &old);
    params.privs = FX_PRIVS_ALL;
    CHECK_OK(it_lmr_modify(region.lmr, IT_LMR_PARAM_MEM_PRIV, &params));
    write_refused(&local, &old);
    write_refused(&local, &region);
    region.key = params_of(region.lmr).rmr_context;
    write_granted(&local, &region);
    /* Local rights change, too. */
    params.privs = IT_PRIV_LOCAL_WRITE;
    CHECK_OK(it_lmr_modify(region.lmr, IT_LMR_PARAM_MEM_PRIV, &params));
    fx_send(pair.b_ep, &region, 0, 8, 1, FX_SIGNAL);
    fx_done(pair.b.request_evd, pair.b_ep, IT_DTO_SEND_CMPL_EVENT, 1, IT_DTO_ERR_LOCAL_PROTECTION);
    fx_buf_free(&region);
}

Test(lmr_modify, zone, .init = pair_init, .fini = pair_fini)
{
    it_lmr_param_t params = {.privs = FX_PRIVS_ALL};
    it_pz_handle_t pz = NULL;
    struct fx_buf local = fx_node_buf(&pair.a, 64);
    struct fx_buf region = fx_buf_make(&pair.b, 64);

    fx_fill(local.data, 64, 1);
    CHECK_OK(it_pz_create(pair.b.ia, &pz));
    params.pz = pz;
    CHECK_OK(it_lmr_modify(region.lmr, IT_LMR_PARAM_PZ, &params));
    CHECK(params_of(region.lmr).pz == pz);
    CHECK_STATUS(IT_ERR_PZ_BUSY, it_pz_free(pz));
    region.key = params_of(region.lmr).rmr_context;
    write_refused(&local, &region);
    params.pz = pair.b.pz;
    CHECK_OK(it_lmr_modify(region.lmr, (it_lmr_param_mask_t)MODIFIABLE, &params));
    CHECK_OK(it_pz_free(pz));
    region.key = params_of(region.lmr).rmr_context;
    write_granted(&local, &region);
    fx_buf_free(&region);
}

/* ---- Coherence ------------------------------------------------------------------------------ */

static void sync_is(it_status_t want, const it_lmr_triplet_t *segments, size_t count)
{
    EXPECT_STATUS(want, it_lmr_flush_to_mem(segments, count));
    EXPECT_STATUS(want, it_lmr_refresh_from_mem(segments, count));
}

Test(lmr_modify, flush_and_refresh)
{
    struct fx_node node;
    struct fx_buf buf;
    struct fx_buf rel;
    it_lmr_triplet_t segments[2];

    fx_node_open(&node);
    buf = fx_buf_make(&node, 64);
    rel = fx_buf_make_as(node.pz, 64, FX_PRIVS_ALL, IT_ADDR_MODE_RELATIVE);
    segments[0] = fx_seg(&buf, 0, 64);
    segments[1] = fx_seg(&rel, 0, 64);
    sync_is(IT_SUCCESS, segments, 2);
    sync_is(IT_SUCCESS, segments, 0);
    sync_is(IT_SUCCESS, NULL, 0);
    sync_is(IT_ERR_FAULT, NULL, 1);
    sync_is(IT_ERR_INVALID_NUM_SEGMENTS, segments, SIZE_MAX);
    sync_is(IT_ERR_INVALID_NUM_SEGMENTS, segments, (size_t)1 << 30);
    segments[1] = fx_seg(&rel, 64, 0);
    sync_is(IT_SUCCESS, segments, 2);
    segments[1] = fx_seg(&rel, 1, 64);
    sync_is(IT_ERR_RANGE, segments, 2);
    segments[1].addr.rel = UINT64_MAX;
    segments[1].length = 2;
    sync_is(IT_ERR_RANGE, segments, 2);
    segments[1] = fx_seg(&buf, 0, UINT64_MAX);
    sync_is(IT_ERR_RANGE, segments, 2);
    segments[1].addr.abs = buf.data - 1;
    segments[1].length = 1;
    sync_is(IT_ERR_RANGE, segments, 2);
    segments[1].lmr = NULL;
    sync_is(IT_ERR_INVALID_LMR, segments, 2);
    segments[1].lmr = (void *)node.pz;
    sync_is(IT_ERR_INVALID_LMR, segments, 2);
    fx_buf_free(&buf);
    sync_is(IT_ERR_INVALID_LMR, segments, 1);
    fx_buf_free(&rel);
    fx_node_close(&node);
    check_done();
}

/* ---- Shared regions ------------------------------------------------------------------------- */

static it_lmr_handle_t share(const struct fx_node *node, void *memory, size_t size, uint32_t id,
                             it_mem_priv_t privs, it_rmr_context_t *key)
{
    it_lmr_handle_t lmr = NULL;

    CHECK_OK(it_lmr_create21(node->pz, memory, NULL, size, IT_ADDR_MODE_ABSOLUTE, privs,
                             IT_LMR_FLAG_SHARED, id, &lmr, key));
    return lmr;
}

/* Several regions on the same memory have their own keys and rights, and are freed one by one. */
Test(lmr_modify, shared_in_one_process, .init = pair_init, .fini = pair_fini)
{
    struct fx_buf one = {.size = 64};
    struct fx_buf two = {.size = 64};
    struct fx_buf local = fx_node_buf(&pair.a, 64);

    fx_fill(local.data, 64, 1);
    one.data = calloc(1, 64);
    CHECK(one.data != NULL);
    two.data = one.data;
    one.lmr = share(&pair.b, one.data, 64, 7, FX_PRIVS_ALL, &one.key);
    two.lmr = share(&pair.b, two.data, 64, 7, IT_PRIV_LOCAL, &two.key);
    CHECK(one.lmr != two.lmr && one.key != two.key);
    CHECK_EQ(7, params_of(one.lmr).shared_id);
    CHECK_EQ(IT_LMR_FLAG_SHARED, params_of(two.lmr).flags);
    write_granted(&local, &one);
    write_refused(&local, &two);
    CHECK_OK(it_lmr_free(two.lmr));
    write_granted(&local, &one);
    CHECK_OK(it_lmr_free(one.lmr));
    free(one.data);
}

/*
 * Two processes have mapped the same memory at different addresses. What a peer writes through the
 * region of one process can be read through the region of the other.
 */
struct board {
    uint16_t port;
    it_rmr_context_t key;
    it_rdma_addr_t address;
};

#define SHARED_SIZE 8192u

static void *map_shared(int fd)
{
    void *memory = mmap(NULL, SHARED_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    CHECK(memory != MAP_FAILED);
    return memory;
}

static void child_main(int fd, int to_parent, int from_parent)
{
    struct board board = {0};
    struct fx_node node;
    void *memory = map_shared(fd);
    it_ep_handle_t ep;
    char go;

    fx_node_open(&node);
    (void)share(&node, memory, SHARED_SIZE, 42, FX_PRIVS_ALL, &board.key);
    board.address = it_make_rdma_addr_absolute(memory);
    (void)fx_listen(&node, &board.port);
    CHECK(write(to_parent, &board, sizeof(board)) == (ssize_t)sizeof(board));
    ep = fx_ep(&node, NULL);
    CHECK_OK(it_ep_accept(ep, fx_request(&node, NULL), NULL, 0));
    fx_conn(node.conn_evd, ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
    /* The operations are one-sided: the library serves them while this process waits elsewhere. */
    CHECK(read(from_parent, &go, 1) == 1);
    CHECK(fx_is_filled(memory, 4096, 3));
    fx_node_close(&node);
    check_done();
    _exit(0);
}

Test(lmr_modify, shared_between_processes)
{
    int fd = memfd_create("shared", 0);
    int up[2];
    int down[2];
    int status = -1;
    struct board board;
    struct fx_node node;
    struct fx_buf local;
    struct fx_buf region = {.size = SHARED_SIZE};
    it_lmr_triplet_t segment;
    it_ep_handle_t ep;
    pid_t child;

    CHECK(fd >= 0 && ftruncate(fd, SHARED_SIZE) == 0 && pipe(up) == 0 && pipe(down) == 0);
    child = fork();
    CHECK(child >= 0);
    if (child == 0)
        child_main(fd, up[1], down[0]);
    CHECK(read(up[0], &board, sizeof(board)) == (ssize_t)sizeof(board));
    fx_node_open(&node);
    region.data = map_shared(fd);
    region.lmr = share(&node, region.data, SHARED_SIZE, 42, FX_PRIVS_ALL, &region.key);
    local = fx_node_buf(&node, 4096);
    fx_fill(local.data, 4096, 3);
    ep = fx_ep(&node, NULL);
    fx_connect(&node, ep, board.port);
    fx_conn(node.conn_evd, ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
    segment = fx_seg(&local, 0, 4096);
    CHECK_OK(it_post_rdma_write(ep, &segment, 1, 1, FX_SIGNAL, board.address, board.key));
    /*
     * A Read sees the Write posted before it. Its sink is this process's mapping of the same
     * memory.
     */
    segment = fx_seg(&region, 4096, 4096);
    CHECK_OK(it_post_rdma_read(ep, &segment, 1, 2, FX_SIGNAL, board.address, board.key));
    fx_done_len(node.request_evd, ep, IT_DTO_RDMA_WRITE_CMPL_EVENT, 1, 4096);
    fx_done_len(node.request_evd, ep, IT_DTO_RDMA_READ_CMPL_EVENT, 2, 4096);
    CHECK(fx_is_filled(region.data, 4096, 3));
    CHECK(memcmp(region.data, region.data + 4096, 4096) == 0);
    CHECK(write(down[1], "g", 1) == 1);
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK_OK(it_lmr_free(region.lmr));
    CHECK_EQ(0, munmap(region.data, SHARED_SIZE));
    fx_node_close(&node);
}

/* ---- For privileged programs ---------------------------------------------------------------- */

Test(lmr_modify, privileged_calls)
{
    struct fx_node node;
    struct fx_buf buf;
    it_ep_handle_t ep;
    it_lmr_handle_t lmr = NULL;
    it_io_addr_t io_addr = NULL;
    it_ep_attributes_t attr = fx_ep_attr();
    it_rmr_context_t key = 0;
    size_t mapped = 0;

    fx_node_open(&node);
    buf = fx_buf_make(&node, 64);
    ep = fx_ep(&node, NULL);
    EXPECT_STATUS(IT_ERR_INVALID_IA, it_mem_map(NULL, buf.data, 0, 64, &io_addr, &mapped));
    EXPECT_STATUS(IT_ERR_FAULT, it_mem_map(node.ia, buf.data, 0, 64, NULL, &mapped));
    EXPECT_STATUS(IT_ERR_FAULT, it_mem_map(node.ia, buf.data, 0, 64, &io_addr, NULL));
    EXPECT_STATUS(IT_ERR_PRIV_OPS_UNAVAILABLE,
                  it_mem_map(node.ia, buf.data, 0, 0, &io_addr, &mapped));
    EXPECT_STATUS(IT_ERR_PRIV_OPS_UNAVAILABLE, it_mem_map(node.ia, NULL, 0, 0, &io_addr, &mapped));
    EXPECT_STATUS(IT_ERR_PRIV_OPS_UNAVAILABLE,
                  it_mem_map(node.ia, buf.data, 0, 64, &io_addr, &mapped));
    EXPECT_STATUS(IT_ERR_INVALID_IA, it_mem_unmap((void *)node.pz, io_addr, 64));
    EXPECT_STATUS(IT_ERR_PRIV_OPS_UNAVAILABLE, it_mem_unmap(node.ia, io_addr, 64));
    EXPECT_STATUS(IT_ERR_INVALID_PZ, it_lmr_create_unlinked(NULL, 4, IT_LMR_FLAG_NONE, 0, &lmr));
    EXPECT_STATUS(IT_ERR_FAULT, it_lmr_create_unlinked(node.pz, 4, IT_LMR_FLAG_NONE, 0, NULL));
    EXPECT_STATUS(IT_ERR_INVALID_FLAGS,
                  it_lmr_create_unlinked(node.pz, 4, (it_lmr_flag_t)0x10, 0, &lmr));
    EXPECT_STATUS(IT_ERR_INVALID_IOBL,
                  it_lmr_create_unlinked(node.pz, 0, IT_LMR_FLAG_NONE, 0, &lmr));
    EXPECT_STATUS(IT_ERR_OP_NOT_SUPPORTED,
                  it_lmr_create_unlinked(node.pz, 4, IT_LMR_FLAG_NONE, 0, &lmr));
    EXPECT_STATUS(IT_ERR_INVALID_LMR,
                  it_lmr_link(buf.lmr, buf.data, NULL, 64, IT_ADDR_MODE_ABSOLUTE, IT_PRIV_LOCAL, ep,
                              1, FX_SIGNAL, &key));
    EXPECT_STATUS(IT_ERR_INVALID_EP, it_lmr_link(buf.lmr, buf.data, NULL, 64, IT_ADDR_MODE_ABSOLUTE,
                                                 IT_PRIV_LOCAL, NULL, 1, FX_SIGNAL, &key));
    EXPECT_STATUS(IT_ERR_INVALID_LMR, it_lmr_unlink(buf.lmr, ep, 1, FX_SIGNAL));
    EXPECT_STATUS(IT_ERR_INVALID_LMR, it_lmr_unlink(NULL, ep, 1, FX_SIGNAL));
    EXPECT_STATUS(IT_ERR_INVALID_EP, it_lmr_unlink(buf.lmr, NULL, 1, FX_SIGNAL));
    attr.priv_ops_enable = IT_TRUE;
    EXPECT_STATUS(IT_ERR_PRIV_OPS_UNAVAILABLE,
                  it_ep_rc_create(node.pz, node.request_evd, node.recv_evd, node.conn_evd,
                                  IT_EP_NO_FLAG, &attr, &ep));
    EXPECT(lmr == NULL && io_addr == NULL && mapped == 0 && key == 0);
    EXPECT(fx_lmr_is_linked(buf.lmr));
    fx_buf_free(&buf);
    fx_node_close(&node);
    check_done();
}
