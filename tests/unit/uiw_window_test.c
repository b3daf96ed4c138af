/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Windows and regions as peers see them, single links and unlinks without a stream, and spare
 * buffers.
 */
#include "vp/uiwarp/memory/uiw_memory.h"

#include <criterion/criterion.h>

#include "support/it_window.h"
#include "uiw_bed.h"

#define SIZE   4096u
#define OFFSET 1024u
#define LENGTH 512u

#define READ  IT_PRIV_REMOTE_READ
#define WRITE IT_PRIV_REMOTE_WRITE

static struct uiw_bed bed;
static struct uiw_mr_table *table;
static struct fx_buf buf;
static struct ual_lmr *lmr;
static struct uiw_stream_id elsewhere; /* another stream of the same PZ */

static void setup(void)
{
    uiw_bed_open(&bed, 64);
    table = &bed.ep->ia->memory.mrs;
    buf = fx_buf_make_as(bed.node.pz, SIZE, IT_PRIV_ALL, IT_ADDR_MODE_ABSOLUTE);
    lmr = (struct ual_lmr *)(void *)buf.lmr;
    bed.ep->id.number = 7;
    elsewhere = (struct uiw_stream_id){.pz = bed.ep->id.pz, .number = 8};
}

static void teardown(void)
{
    uiw_bed_close(&bed);
}

TestSuite(uiw_window, .init = setup, .fini = teardown);

static struct ual_rmr *make(it_rmr_type_t type)
{
    return (struct ual_rmr *)(void *)fx_rmr(bed.node.pz, type);
}

/* ---------------------------------------------------------------- requests */

static struct uiw_link *post(const struct vp_link *link, enum vp_opcode opcode)
{
    struct uiw_sqe *sqe = uiw_bed_post(&bed, opcode, FX_SIGNAL, 0);
    struct vp_request request = {.opcode = opcode, .link = link};

    base_lock_take(&bed.ual->lock);
    CHECK_OK(uiw_links_fill_locked(bed.ep, sqe, &request));
    base_lock_drop(&bed.ual->lock);
    return uiw_sqe_link(sqe);
}

/* Posts a link to the middle of the buffer. */
static struct uiw_link *post_link(struct ual_rmr *rmr, it_mem_priv_t privs, it_addr_mode_t mode,
                                  it_rmr_context_t *key)
{
    struct vp_link link = {.rmr = rmr,
                           .lmr = lmr,
                           .addr = buf.data + OFFSET,
                           .length = LENGTH,
                           .addr_mode = mode,
                           .privs = privs,
                           .key = key};

    return post(&link, VP_RMR_LINK);
}

static struct uiw_link *post_unlink(struct ual_rmr *rmr)
{
    struct vp_link link = {.rmr = rmr};

    return post(&link, VP_RMR_UNLINK);
}

static enum uiw_window_result run(struct uiw_link *link, bool may_wait)
{
    return uiw_window_run(table, &bed.ep->id, bed.ual, link, may_wait);
}

static it_rmr_context_t link_it(struct ual_rmr *rmr, it_mem_priv_t privs, it_addr_mode_t mode)
{
    it_rmr_context_t key = 0;

    cr_assert_eq(run(post_link(rmr, privs, mode, &key), true), UIW_WINDOW_DONE);
    cr_assert_neq(key, 0);
    return key;
}

static void unlink_it(struct ual_rmr *rmr)
{
    cr_assert_eq(run(post_unlink(rmr), true), UIW_WINDOW_DONE);
}

/* ---------------------------------------------------------------- as a peer */

static enum uiw_mr_verdict reach(it_rmr_context_t key, uint64_t to, uint64_t length,
                                 it_mem_priv_t right, const struct uiw_stream_id *by)
{
    struct uiw_mr *mr;
    uint8_t *addr;
    enum uiw_mr_verdict verdict =
        uiw_mr_pin_remote(table, (uint32_t)key, to, length, right, by, &mr, &addr);

    if (verdict == UIW_MR_OK) {
        cr_assert(addr >= buf.data && addr + length <= buf.data + SIZE);
        uiw_mr_unpin(mr);
    }
    return verdict;
}

static enum uiw_mr_verdict reach_any(it_rmr_context_t key)
{
    return reach(key, (uintptr_t)buf.data + OFFSET, 1, READ, &bed.ep->id);
}

Test(uiw_window, opens_a_part_to_its_stream)
{
    const uint64_t at = (uintptr_t)buf.data + OFFSET;
    it_rmr_context_t key = link_it(make(IT_RMR_TYPE_NARROW), READ, IT_ADDR_MODE_ABSOLUTE);

    cr_assert_eq(reach(key, at, LENGTH, READ, &bed.ep->id), UIW_MR_OK);
    cr_assert_eq(reach(key, at, LENGTH + 1, READ, &bed.ep->id), UIW_MR_BOUNDS);
    cr_assert_eq(reach(key, at - 1, 1, READ, &bed.ep->id), UIW_MR_BOUNDS);
    cr_assert_eq(reach(key, at, 1, WRITE, &bed.ep->id), UIW_MR_ACCESS);
    cr_assert_eq(reach(key, at, 1, READ, &elsewhere), UIW_MR_STREAM);
}

Test(uiw_window, opens_a_part_to_all_of_the_zone)
{
    it_rmr_context_t key = link_it(make(IT_RMR_TYPE_WIDE), WRITE, IT_ADDR_MODE_RELATIVE);

    cr_assert_eq(reach(key, 0, LENGTH, WRITE, &elsewhere), UIW_MR_OK);
    cr_assert_eq(reach(key, 1, LENGTH, WRITE, &elsewhere), UIW_MR_BOUNDS);
    elsewhere.pz = &elsewhere;
    cr_assert_eq(reach(key, 0, LENGTH, WRITE, &elsewhere), UIW_MR_STREAM);
}

Test(uiw_window, a_link_ends_the_one_before)
{
    struct ual_rmr *rmr = make(IT_RMR_TYPE_NARROW);
    it_rmr_context_t first = link_it(rmr, READ, IT_ADDR_MODE_ABSOLUTE);
    it_rmr_context_t second = link_it(rmr, READ, IT_ADDR_MODE_ABSOLUTE);

    cr_assert_eq(reach_any(first), UIW_MR_INVALID);
    cr_assert_eq(reach_any(second), UIW_MR_OK);
    CHECK_STATUS(IT_ERR_LMR_BUSY, it_lmr_free(buf.lmr));
    unlink_it(rmr);
    cr_assert_eq(reach_any(second), UIW_MR_INVALID);
    CHECK_OK(it_lmr_free(buf.lmr));
}

/* A link has no effect before its turn. */
Test(uiw_window, turns)
{
    struct ual_rmr *rmr = make(IT_RMR_TYPE_NARROW);
    it_rmr_context_t keys[2];
    struct uiw_link *links[2] = {post_link(rmr, READ, IT_ADDR_MODE_ABSOLUTE, &keys[0]),
                                 post_link(rmr, READ, IT_ADDR_MODE_ABSOLUTE, &keys[1])};

    for (unsigned i = 0; i < 2; i++) {
        cr_assert_eq(reach_any(keys[i]), UIW_MR_INVALID);
        cr_assert_eq(run(links[i], true), UIW_WINDOW_DONE);
        cr_assert_eq(reach_any(keys[i]), UIW_MR_OK);
    }
    cr_assert_eq(reach_any(keys[0]), UIW_MR_INVALID);
}

Test(uiw_window, waits_for_no_one_with_memory_in_hand)
{
    struct ual_rmr *rmr = make(IT_RMR_TYPE_NARROW);
    it_rmr_context_t key = link_it(rmr, READ, IT_ADDR_MODE_ABSOLUTE);
    struct uiw_mr *window = uiw_mr_pin(table, (uint32_t)key);
    struct uiw_link *unlink = post_unlink(rmr);

    cr_assert_eq(run(unlink, false), UIW_WINDOW_LATER, "an octet moves");
    cr_assert_eq(reach_any(key), UIW_MR_OK, "and nothing has changed");
    uiw_mr_unpin(window);
    uiw_mr_take(window);
    cr_assert_eq(run(unlink, false), UIW_WINDOW_LATER, "another thread changes it");
    uiw_mr_drop(window);
    cr_assert_eq(run(unlink, false), UIW_WINDOW_DONE);
    cr_assert_eq(reach_any(key), UIW_MR_INVALID);
}

/*
 * A window that is freed before its link's turn is unlinked. The link and the unlink then do
 * nothing and hold nothing.
 */
Test(uiw_window, a_window_that_is_gone)
{
    struct ual_rmr *rmr = make(IT_RMR_TYPE_NARROW);
    it_rmr_context_t key;
    struct uiw_link *link = post_link(rmr, READ, IT_ADDR_MODE_ABSOLUTE, &key);
    struct uiw_link *unlink = post_unlink(rmr);

    CHECK_OK(it_rmr_free((it_rmr_handle_t)(void *)rmr));
    cr_assert_eq(run(link, true), UIW_WINDOW_DONE);
    cr_assert_eq(run(unlink, true), UIW_WINDOW_DONE);
    cr_assert_null(uiw_mr_find(table, (uint32_t)key));
    CHECK_OK(it_lmr_free(buf.lmr));
}

/* Dropped links release the region and their keys. */
Test(uiw_window, links_are_dropped)
{
    struct ual_rmr *rmr = make(IT_RMR_TYPE_NARROW);
    it_rmr_context_t first = link_it(rmr, READ, IT_ADDR_MODE_ABSOLUTE);
    const struct uiw_mr *window = uiw_rmr_of(rmr)->mr;
    it_rmr_context_t second;

    uiw_sqe_at(bed.ep, 0)->started = true;
    (void)post_link(rmr, READ, IT_ADDR_MODE_ABSOLUTE, &second);
    cr_assert_eq(window->wanted, second);
    uiw_links_drop(bed.ep);
    cr_assert_eq(window->wanted, first);
    cr_assert_null(uiw_mr_find(table, (uint32_t)second));
    cr_assert_eq(reach_any(first), UIW_MR_OK);
    unlink_it(rmr);
    CHECK_OK(it_lmr_free(buf.lmr));
}

/* ---------------------------------------------------------------- Reads into windows */

static bool resolve(struct ual_rmr *rmr, uint64_t at, const struct uiw_stream_id *by,
                    struct uiw_segment *segment)
{
    const struct uiw_mr *window = uiw_rmr_of(rmr)->mr;

    *segment = (struct uiw_segment){.addr = (uint8_t *)(uintptr_t)at,
                                    .mr = uiw_rmr_of(rmr)->mr,
                                    .length = 8,
                                    .stag = window->serial};
    return uiw_window_resolve(by, segment);
}

Test(uiw_window, a_read_finds_the_memory_behind_it)
{
    struct ual_rmr *rmr = make(IT_RMR_TYPE_NARROW);
    struct uiw_segment segment;
    it_rmr_context_t key;

    cr_assert_not(resolve(rmr, 0, &bed.ep->id, &segment), "linked to nothing");
    key = link_it(rmr, WRITE, IT_ADDR_MODE_RELATIVE);
    cr_assert(resolve(rmr, 100, &bed.ep->id, &segment));
    cr_assert_eq(segment.addr, buf.data + OFFSET + 100);
    cr_assert_eq(segment.stag, key);
    cr_assert_not(resolve(rmr, 100, &elsewhere, &segment));
    (void)link_it(rmr, WRITE, IT_ADDR_MODE_ABSOLUTE);
    cr_assert(resolve(rmr, (uintptr_t)buf.data + OFFSET, &bed.ep->id, &segment));
    cr_assert_eq(segment.addr, buf.data + OFFSET);
    unlink_it(rmr);
    cr_assert_not(resolve(rmr, 0, &bed.ep->id, &segment));
}

Test(uiw_window, a_sink_is_unlinked)
{
    struct ual_rmr *rmr = make(IT_RMR_TYPE_NARROW);
    it_rmr_context_t key = link_it(rmr, WRITE, IT_ADDR_MODE_ABSOLUTE);
    struct uiw_segment sink = {.mr = uiw_rmr_of(rmr)->mr, .stag = (uint32_t)key};
    struct uiw_segment region = {.mr = uiw_lmr_of(lmr)->local, .stag = uiw_lmr_of(lmr)->local_stag};

    cr_assert_eq(uiw_sink_unlink(table, &sink, true), (it_handle_t)rmr);
    cr_assert_eq(reach_any(key), UIW_MR_INVALID);
    cr_assert_null(uiw_sink_unlink(table, &sink, true), "it is another one now");
    cr_assert_eq(reach_any(buf.key), UIW_MR_OK);
    cr_assert_eq(uiw_sink_unlink(table, &region, false), (it_handle_t)lmr);
    cr_assert_eq(reach_any(buf.key), UIW_MR_INVALID);
    cr_assert_neq(atomic_load(&region.mr->stag), 0, "our own requests still reach it");
}

/* ---------------------------------------------------------------- Send with Invalidate */

static enum iw_error invalidate(it_rmr_context_t key, const struct uiw_stream_id *by)
{
    it_handle_t handle = NULL;

    return uiw_region_invalidate(table, uiw_pz_of(bed.ual->pz), by, (uint32_t)key, &handle);
}

/* A peer may invalidate memory only if no other peer can access it. */
Test(uiw_window, invalidation)
{
    struct ual_rmr *narrow = make(IT_RMR_TYPE_NARROW);
    it_rmr_context_t key = link_it(narrow, READ, IT_ADDR_MODE_ABSOLUTE);
    it_rmr_context_t wide = link_it(make(IT_RMR_TYPE_WIDE), READ, IT_ADDR_MODE_ABSOLUTE);
    it_ep_handle_t other = fx_ep(&bed.node, NULL);

    cr_assert_eq(invalidate(key, &elsewhere), IW_ERR_RDMAP_CANNOT_INVALIDATE);
    cr_assert_eq(invalidate(key, &bed.ep->id), IW_OK);
    cr_assert_eq(reach_any(key), UIW_MR_INVALID);
    cr_assert_eq(invalidate(key, &bed.ep->id), IW_ERR_RDMAP_CANNOT_INVALIDATE);
    cr_assert_eq(invalidate(wide, &bed.ep->id), IW_ERR_RDMAP_CANNOT_INVALIDATE);
    CHECK_OK(it_ep_free(other));
    cr_assert_eq(invalidate(buf.key, &bed.ep->id), IW_ERR_RDMAP_CANNOT_INVALIDATE,
                 "a window stands on the region");
    cr_assert_eq(invalidate(wide, &bed.ep->id), IW_OK);
    cr_assert_eq(invalidate(buf.key, &bed.ep->id), IW_OK);
    cr_assert_eq(reach_any(buf.key), UIW_MR_INVALID);
}

/* A change of the rights changes the key. */
Test(uiw_window, a_region_that_is_modified)
{
    it_lmr_param_t params;

    CHECK_OK(it_lmr_modify(buf.lmr, IT_LMR_PARAM_MEM_PRIV, &(it_lmr_param_t){.privs = READ}));
    cr_assert_eq(reach_any(buf.key), UIW_MR_INVALID);
    CHECK_OK(it_lmr_query(buf.lmr, IT_LMR_PARAM_ALL, &params));
    cr_assert_eq(reach_any(params.rmr_context), UIW_MR_OK);
    cr_assert_eq(reach(params.rmr_context, (uintptr_t)buf.data, 1, WRITE, &bed.ep->id),
                 UIW_MR_ACCESS);
}

/* ---------------------------------------------------------------- spare buffers */

Test(uiw_window, spare_buffers_are_kept)
{
    struct uiw_memory *memory = &bed.ep->ia->memory;
    struct uiw_bounce *all[2 * UIW_BOUNCE_KEEP];
    struct uiw_bounce *again;
    bool found = false;

    for (unsigned i = 0; i < 2 * UIW_BOUNCE_KEEP; i++) {
        all[i] = uiw_bounce_get(memory);
        cr_assert_not_null(all[i]);
        cr_assert_eq((uintptr_t)all[i] % 64, 0);
        for (unsigned j = 0; j < i; j++)
            cr_assert_neq(all[i], all[j]);
    }
    for (unsigned i = 0; i < 2 * UIW_BOUNCE_KEEP; i++)
        uiw_bounce_put(memory, all[i]);
    again = uiw_bounce_get(memory);
    for (unsigned i = 0; i < UIW_BOUNCE_KEEP; i++)
        found |= again == all[i];
    cr_assert(found, "the first that came back were kept");
    uiw_bounce_put(memory, again);
}
