/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A queue remembers the LMR of its last usual post. Nothing old may be used after the LMR was
 * freed, modified, or replaced by another one with the same handle. The device checks the keys.
 */
#include "support/test_row.h"
#include "verbs/fixture_stub.h"

#include <criterion/criterion.h>
#include <string.h>

/* The shorter one is sent inline. */
static const size_t lengths[] = {8, 1000};

#define LENGTHS    (sizeof(lengths) / sizeof(lengths[0]))
#define LONGEST    1000u
#define REUSES_MAX 100u

enum post {
    SEND,
    WRITE,
    READ,
    POSTS
};

static void start(void)
{
    stub_start();
    stub.checks_keys = true;
    stub_node_pair(&n, &usual);
}

static it_status_t post(enum post what, const it_lmr_triplet_t *segment, it_dto_cookie_t cookie)
{
    it_rdma_addr_t remote = fx_addr(&n.buf, 0);

    switch (what) {
    case SEND:
        return it_post_send(n.a, segment, 1, cookie, FX_SIGNAL);
    case WRITE:
        return it_post_rdma_write(n.a, segment, 1, cookie, FX_SIGNAL, remote, n.buf.key);
    default:
        return it_post_rdma_read(n.a, segment, 1, cookie, FX_SIGNAL, remote, n.buf.key);
    }
}

static it_event_type_t event_of(enum post what)
{
    static const it_event_type_t events[] = {IT_DTO_SEND_CMPL_EVENT, IT_DTO_RDMA_WRITE_CMPL_EVENT,
                                             IT_DTO_RDMA_READ_CMPL_EVENT};

    return events[what];
}

/* Moves data from or to this memory, and checks that no other memory changes. */
static void moves(enum post what, const struct fx_buf *memory, size_t length, uint32_t seed)
{
    it_lmr_triplet_t segment = fx_seg(memory, 0, length);

    memset(n.buf.data, 0, LONGEST);
    fx_fill(what == READ ? n.buf.data : memory->data, length, seed);
    if (what == SEND)
        fx_recv(n.b, &n.buf, 0, length, seed);
    CHECK_OK(post(what, &segment, seed));
    fx_done_len(n.fx.request_evd, n.a, event_of(what), seed, length);
    if (what == SEND)
        fx_done_len(n.fx.recv_evd, n.b, IT_DTO_RC_RECV_CMPL_EVENT, seed, length);
    CHECK(fx_is_filled(what == READ ? memory->data : n.buf.data, length, seed));
}

static void receives(const struct fx_buf *memory, size_t length, uint32_t seed)
{
    memset(memory->data, 0, length);
    fx_fill(n.buf.data, length, seed);
    fx_recv(n.b, memory, 0, length, seed);
    fx_send(n.a, &n.buf, 0, length, seed, FX_SIGNAL);
    fx_done_len(n.fx.recv_evd, n.b, IT_DTO_RC_RECV_CMPL_EVENT, seed, length);
    fx_done_len(n.fx.request_evd, n.a, IT_DTO_SEND_CMPL_EVENT, seed, length);
    CHECK(fx_is_filled(memory->data, length, seed));
}

/* Makes another LMR, on other memory, that gets the handle of a freed one. */
static struct fx_buf made_under(it_lmr_handle_t handle)
{
    struct fx_buf others[REUSES_MAX];
    struct fx_buf found;
    unsigned count = 0;

    do {
        CHECK(count < REUSES_MAX);
        others[count] = fx_buf_make(&n.fx, LONGEST);
    } while (others[count++].lmr != handle);
    found = others[--count];
    while (count > 0)
        fx_buf_free(&others[--count]);
    return found;
}

static void each_way(void (*test)(enum post what, size_t length))
{
    for (size_t i = 0; i < LENGTHS; i++)
        for (enum post what = 0; what < POSTS; what++) {
            start();
            test(what, lengths[i]);
            stub_node_close(&n);
        }
}

/* ---------------------------------------------------------------- freed, and another one made */

static void exchanged(enum post what, size_t length)
{
    struct fx_buf memory = fx_buf_make(&n.fx, LONGEST);

    for (uint32_t round = 0; round < 5; round++) {
        it_lmr_handle_t handle = memory.lmr;
        it_lmr_triplet_t stale = fx_seg(&memory, 0, length);
        struct fx_buf old = memory;

        moves(what, &memory, length, 2 * round);
        CHECK_OK(it_lmr_free(old.lmr));
        CHECK_STATUS(IT_ERR_INVALID_LMR, post(what, &stale, 0));
        memory = made_under(handle);
        moves(what, &memory, length, 2 * round + 1);
        free(old.data);
    }
    fx_buf_free(&memory);
}

TEST_ROW(verbs_lmr, another_one_under_the_same_handle, each_way, exchanged);

Test(verbs_lmr, receives_into_another_one_under_the_same_handle, .fini = stub_close)
{
    struct fx_buf memory;

    start();
    memory = fx_buf_make(&n.fx, LONGEST);
    for (uint32_t round = 0; round < 5; round++) {
        it_lmr_handle_t handle = memory.lmr;
        it_lmr_triplet_t stale = fx_seg(&memory, 0, 8);
        struct fx_buf old = memory;

        receives(&memory, LONGEST, 2 * round);
        CHECK_OK(it_lmr_free(old.lmr));
        CHECK_STATUS(IT_ERR_INVALID_LMR, it_post_recv((it_handle_t)n.b, &stale, 1, 0, FX_QUIET));
        memory = made_under(handle);
        receives(&memory, LONGEST, 2 * round + 1);
        free(old.data);
    }
    fx_buf_free(&memory);
}

/* ---------------------------------------------------------------- modified */

static void modify(const struct fx_buf *memory, it_lmr_param_mask_t mask, it_pz_handle_t pz,
                   it_mem_priv_t privs)
{
    it_lmr_param_t params;

    memset(&params, 0, sizeof(params));
    params.pz = pz;
    params.privs = privs;
    CHECK_OK(it_lmr_modify(memory->lmr, mask, &params));
}

/* After the change the device knows the memory by another key. */
static void modified(enum post what, size_t length)
{
    struct fx_buf memory = fx_buf_make(&n.fx, LONGEST);

    for (uint32_t round = 0; round < 4; round++) {
        moves(what, &memory, length, round);
        modify(&memory, IT_LMR_PARAM_MEM_PRIV, NULL, round % 2 == 0 ? IT_PRIV_LOCAL : FX_PRIVS_ALL);
    }
    fx_buf_free(&memory);
}

TEST_ROW(verbs_lmr, modified, each_way, modified);

Test(verbs_lmr, receives_into_a_modified_one, .fini = stub_close)
{
    struct fx_buf memory;

    start();
    memory = fx_buf_make(&n.fx, LONGEST);
    for (uint32_t round = 0; round < 4; round++) {
        receives(&memory, LONGEST, round);
        modify(&memory, IT_LMR_PARAM_MEM_PRIV, NULL, round % 2 == 0 ? IT_PRIV_LOCAL : FX_PRIVS_ALL);
    }
    fx_buf_free(&memory);
}

/* ---------------------------------------------------------------- of another PZ */

static void expect_refused(enum post what, const it_lmr_triplet_t *segment)
{
    memset(n.buf.data, 0, LONGEST);
    CHECK_OK(post(what, segment, 99));
    fx_done(n.fx.request_evd, n.a, event_of(what), 99, IT_DTO_ERR_LOCAL_PROTECTION);
    fx_ep_wait_state(n.a, IT_EP_STATE_NONOPERATIONAL);
    CHECK(fx_is_byte(n.buf.data, LONGEST, 0));
}

static void expect_protected(enum post what, const struct fx_buf *memory, size_t length)
{
    it_lmr_triplet_t segment = fx_seg(memory, 0, length);

    fx_fill(memory->data, length, 99);
    expect_refused(what, &segment);
    CHECK(fx_is_filled(memory->data, length, 99));
}

/* The last octet lies behind the region. The post is refused even if it copies the data itself. */
static void crossing(enum post what, size_t length)
{
    struct fx_buf memory = fx_buf_make(&n.fx, LONGEST);
    struct fx_buf inner = {.data = memory.data + 16, .size = LONGEST - 32};
    it_lmr_triplet_t segment;

    CHECK_OK(it_lmr_create21(n.fx.pz, inner.data, NULL, inner.size, IT_ADDR_MODE_ABSOLUTE,
                             FX_PRIVS_ALL, IT_LMR_FLAG_NONE, 0, &inner.lmr, &inner.key));
    length = length < inner.size ? length : inner.size;
    moves(what, &inner, length, 1);
    segment = fx_seg(&inner, inner.size - length + 1, length);
    expect_refused(what, &segment);
    CHECK_OK(it_lmr_free(inner.lmr));
    fx_buf_free(&memory);
}

TEST_ROW(verbs_lmr, crosses_the_end_of_its_region, each_way, crossing);

/*
 * An LMR of another zone is refused, even after posts with an LMR of the right zone on the same
 * memory.
 */
static void foreign(enum post what, size_t length)
{
    struct fx_buf memory = fx_buf_make(&n.fx, LONGEST);
    struct fx_buf other = memory;
    it_pz_handle_t pz;

    CHECK_OK(it_pz_create(n.fx.ia, &pz));
    moves(what, &memory, length, 1);
    CHECK_OK(it_lmr_create21(pz, other.data, NULL, other.size, IT_ADDR_MODE_ABSOLUTE, FX_PRIVS_ALL,
                             IT_LMR_FLAG_NONE, 0, &other.lmr, &other.key));
    expect_protected(what, &other, length);
    fx_buf_free(&memory);
}

TEST_ROW(verbs_lmr, of_another_zone, each_way, foreign);

/* The handle stays while the LMR moves to another zone and back. */
static void moved(enum post what, size_t length)
{
    struct fx_buf memory = fx_buf_make(&n.fx, LONGEST);
    it_pz_handle_t pz;

    CHECK_OK(it_pz_create(n.fx.ia, &pz));
    moves(what, &memory, length, 1);
    modify(&memory, IT_LMR_PARAM_PZ, pz, IT_PRIV_NONE);
    modify(&memory, IT_LMR_PARAM_PZ, n.fx.pz, IT_PRIV_NONE);
    moves(what, &memory, length, 2);
    modify(&memory, IT_LMR_PARAM_PZ, pz, IT_PRIV_NONE);
    expect_protected(what, &memory, length);
    fx_buf_free(&memory);
}

TEST_ROW(verbs_lmr, moved_to_another_zone, each_way, moved);

/* ---------------------------------------------------------------- none at all */

static void none(enum post what, size_t length)
{
    struct fx_buf memory = fx_buf_make(&n.fx, LONGEST);
    it_lmr_triplet_t segment = fx_seg(&memory, 0, length);
    void *const wrong[] = {NULL, n.a, n.fx.pz, n.fx.request_evd, n.fx.ia};

    moves(what, &memory, length, 1);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        segment.lmr = wrong[i];
        CHECK_STATUS(IT_ERR_INVALID_LMR, post(what, &segment, 0));
        CHECK_STATUS(IT_ERR_INVALID_LMR, it_post_recv((it_handle_t)n.b, &segment, 1, 0, FX_QUIET));
    }
    moves(what, &memory, length, 2);
    fx_empty(n.fx.request_evd);
    fx_buf_free(&memory);
}

TEST_ROW(verbs_lmr, other_objects, each_way, none);
