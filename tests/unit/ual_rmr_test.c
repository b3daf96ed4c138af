/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How the access layer maps windows and changed regions to a provider, depending on what the
 * provider offers.
 */
#include "unit/fixture_world.h"

#include <criterion/criterion.h>
#include <string.h>

static void setup(void)
{
    fake_setup();
    fake.attributes.rmr_types = (it_rmr_type_t)(IT_RMR_TYPE_NARROW | IT_RMR_TYPE_WIDE);
    fake.attributes.narrow_unlink = IT_TRUE;
    fake.attributes.wide_unlink = IT_TRUE;
    fake_world_open(&world);
}

TestSuite(ual_rmr, .init = setup, .fini = world_fini);

static it_rmr_handle_t make(it_rmr_type_t type)
{
    it_rmr_handle_t rmr = NULL;

    cr_assert_eq(it_rmr_create20(world.pz, type, &rmr), IT_SUCCESS);
    return rmr;
}

static it_status_t link_as(it_rmr_handle_t rmr, int mode, int privs, it_rmr_context_t *key)
{
    return it_rmr_link(rmr, world.lmr, world.memory + 16, 32, (it_addr_mode_t)mode,
                       (it_mem_priv_t)privs, world.ep, 5, IT_COMPLETION_FLAG, key);
}

/* ---------------------------------------------------------------- create, free */

Test(ual_rmr, types_the_provider_offers)
{
    it_rmr_handle_t rmr = NULL;

    fake.attributes.rmr_types = IT_RMR_TYPE_WIDE;
    cr_assert_eq(it_rmr_create20(world.pz, IT_RMR_TYPE_NARROW, &rmr), IT_ERR_INVALID_RMR_TYPE);
    cr_assert_eq(it_rmr_create20(world.pz, IT_RMR_TYPE_WIDE, &rmr), IT_SUCCESS);
    cr_assert_eq(it_rmr_create10(world.pz, &rmr), IT_SUCCESS);
    fake.attributes.rmr_types = (it_rmr_type_t)0;
    cr_assert_eq(it_rmr_create20(world.pz, IT_RMR_TYPE_WIDE, &rmr), IT_ERR_INVALID_RMR_TYPE);
    cr_assert_eq(it_rmr_create10(world.pz, &rmr), IT_ERR_INVALID_RMR_TYPE);
    cr_assert_eq(fake.calls.rmr_create, 2);
}

Test(ual_rmr, a_failed_create_leaves_nothing)
{
    it_rmr_handle_t rmr = NULL;
    it_pz_handle_t pz;

    cr_assert_eq(it_pz_create(world.ia, &pz), IT_SUCCESS);
    fake.answer = IT_ERR_RESOURCES;
    cr_assert_eq(it_rmr_create10(pz, &rmr), IT_ERR_RESOURCES);
    fake.answer = IT_SUCCESS;
    cr_assert_null(rmr);
    cr_assert_eq(it_pz_free(pz), IT_SUCCESS);
}

Test(ual_rmr, free)
{
    it_rmr_handle_t rmr = make(IT_RMR_TYPE_NARROW);

    cr_assert_eq(it_pz_free(world.pz), IT_ERR_PZ_BUSY);
    cr_assert_eq(it_rmr_free(rmr), IT_SUCCESS);
    cr_assert_eq(it_rmr_free(rmr), IT_ERR_INVALID_RMR);
    cr_assert_eq(fake.calls.rmr_destroy, 1);
}

Test(ual_rmr, ia_free_takes_windows_before_regions)
{
    struct fake_world other;

    fake_world_open(&other);
    cr_assert_eq(it_rmr_create10(other.pz, &(it_rmr_handle_t){NULL}), IT_SUCCESS);
    fake_world_close(&other);
    cr_assert_str_eq(fake.closing, "ermpi");
}

Test(ual_rmr, query)
{
    it_rmr_handle_t rmr = make(IT_RMR_TYPE_DEFAULT);
    it_rmr_param_t params;

    memset(&params, 0xa5, sizeof(params));
    cr_assert_eq(it_rmr_query(rmr, IT_RMR_PARAM_ALL, &params), IT_SUCCESS);
    cr_assert_eq(params.type, IT_RMR_TYPE_WIDE, "the provider's choice");
    cr_assert_eq(params.bound, IT_FALSE);
    cr_assert_null(params.lmr);
    fake.rmr = (struct vp_rmr_state){(void *)world.lmr,     world.memory,        7,
                                     IT_ADDR_MODE_RELATIVE, IT_PRIV_REMOTE_READ, FAKE_KEY};
    cr_assert_eq(it_rmr_query(rmr, IT_RMR_PARAM_ALL, &params), IT_SUCCESS);
    cr_assert_eq(params.bound, IT_TRUE);
    cr_assert_eq(params.lmr, world.lmr);
    cr_assert_eq(params.addr, world.memory);
    cr_assert_eq(params.length, 7);
    cr_assert_eq(params.privs, IT_PRIV_REMOTE_READ);
    cr_assert_eq(params.rmr_context, FAKE_KEY);
    cr_assert_eq(params.addr_mode, IT_ADDR_MODE_RELATIVE);
}

/* ---------------------------------------------------------------- link, unlink */

Test(ual_rmr, link_reaches_the_provider)
{
    it_rmr_handle_t rmr = make(IT_RMR_TYPE_NARROW);
    it_rmr_context_t key = 0;

    cr_assert_eq(link_as(rmr, IT_ADDR_MODE_ABSOLUTE, IT_PRIV_REMOTE, &key), IT_SUCCESS);
    cr_assert_eq(fake.request.opcode, VP_RMR_LINK);
    cr_assert_eq(fake.request.cookie, 5);
    cr_assert_eq(fake.request.flags, IT_COMPLETION_FLAG);
    cr_assert_eq(fake.request.length, 0);
    cr_assert_eq(fake.link.rmr, (void *)rmr);
    cr_assert_eq(fake.link.lmr, (void *)world.lmr);
    cr_assert_eq(fake.link.addr, world.memory + 16);
    cr_assert_eq(fake.link.length, 32);
    cr_assert_eq(fake.link.privs, IT_PRIV_REMOTE);
    cr_assert_eq(fake.link.key, &key);
    cr_assert_eq(it_rmr_unlink(rmr, world.ep, 6, (it_dto_flags_t)0), IT_SUCCESS);
    cr_assert_eq(fake.request.opcode, VP_RMR_UNLINK);
    cr_assert_eq(fake.request.cookie, 6);
    cr_assert_eq(fake.link.rmr, (void *)rmr);
    fake.answer = IT_ERR_TOO_MANY_POSTS;
    cr_assert_eq(link_as(rmr, IT_ADDR_MODE_ABSOLUTE, IT_PRIV_REMOTE, &key), IT_ERR_TOO_MANY_POSTS);
    cr_assert_eq(it_rmr_unlink(rmr, world.ep, 6, (it_dto_flags_t)0), IT_ERR_TOO_MANY_POSTS);
}

Test(ual_rmr, features)
{
    it_rmr_handle_t rmr = make(IT_RMR_TYPE_WIDE);
    it_rmr_handle_t narrow = make(IT_RMR_TYPE_NARROW);
    it_rmr_context_t key = 0;

    cr_assert_eq(link_as(rmr, IT_ADDR_MODE_RELATIVE, IT_PRIV_REMOTE, &key),
                 IT_ERR_INVALID_ADDR_MODE);
    cr_assert_eq(link_as(rmr, IT_ADDR_MODE_ABSOLUTE, IT_PRIV_ATOMIC, &key), IT_ERR_INVALID_PRIVS);
    fake.attributes.atomics = IT_TRUE;
    fake.attributes.relative_addressing = IT_TRUE;
    cr_assert_eq(link_as(rmr, IT_ADDR_MODE_RELATIVE, IT_PRIV_ATOMIC, &key), IT_SUCCESS);
    cr_assert_eq(it_rmr_unlink(rmr, world.ep, 6, IT_UNLINK_FENCE_FLAG), IT_ERR_INVALID_DTO_FLAGS);
    fake.attributes.unlink_fence = IT_TRUE;
    cr_assert_eq(it_rmr_unlink(rmr, world.ep, 6, IT_UNLINK_FENCE_FLAG), IT_SUCCESS);
    fake.attributes.wide_unlink = IT_FALSE;
    cr_assert_eq(it_rmr_unlink(rmr, world.ep, 6, (it_dto_flags_t)0), IT_ERR_OP_NOT_SUPPORTED);
    cr_assert_eq(it_rmr_unlink(narrow, world.ep, 6, (it_dto_flags_t)0), IT_SUCCESS);
    fake.attributes.wide_unlink = IT_TRUE;
    fake.attributes.narrow_unlink = IT_FALSE;
    cr_assert_eq(it_rmr_unlink(rmr, world.ep, 6, (it_dto_flags_t)0), IT_SUCCESS);
    cr_assert_eq(it_rmr_unlink(narrow, world.ep, 6, (it_dto_flags_t)0), IT_ERR_OP_NOT_SUPPORTED);
}

Test(ual_rmr, an_unlinked_region_takes_no_windows)
{
    it_rmr_handle_t rmr = make(IT_RMR_TYPE_WIDE);
    it_rmr_context_t key = 0;
    it_lmr_param_t params;

    atomic_store(&((struct ual_lmr *)(void *)world.lmr)->linked, false);
    cr_assert_eq(link_as(rmr, IT_ADDR_MODE_ABSOLUTE, IT_PRIV_REMOTE, &key), IT_ERR_INVALID_LMR);
    cr_assert_eq(it_lmr_query(world.lmr, IT_LMR_PARAM_LINKED, &params), IT_SUCCESS);
    cr_assert_eq(params.linked, IT_FALSE);
}

Test(ual_rmr, posts_that_need_a_feature)
{
    it_rmr_triplet_t window = {.rmr = make(IT_RMR_TYPE_WIDE), .length = 4};
    it_lmr_triplet_t segment = {.lmr = world.lmr, .addr.abs = world.memory, .length = 4};
    const it_dto_flags_t sink = IT_UNLINK_LOCAL_SINK;

    cr_assert_eq(it_post_send_and_unlink(world.ep, NULL, 0, 1, (it_dto_flags_t)0, 9),
                 IT_ERR_OP_NOT_SUPPORTED);
    cr_assert_eq(it_post_rdma_read_to_rmr(world.ep, &window, 1, 1, (it_dto_flags_t)0, 8, 9),
                 IT_ERR_OP_NOT_SUPPORTED);
    cr_assert_eq(it_post_rdma_read(world.ep, &segment, 1, 1, sink, 8, 9), IT_ERR_INVALID_DTO_FLAGS);
    cr_assert_eq(fake.calls.post_request, 0);
    fake.attributes.send_unlink = IT_TRUE;
    fake.attributes.read_extensions = IT_TRUE;
    cr_assert_eq(it_post_send_and_unlink(world.ep, &segment, 1, 1, (it_dto_flags_t)0, 9),
                 IT_SUCCESS);
    cr_assert_eq(fake.request.opcode, VP_SEND_UNLINK);
    cr_assert_eq(fake.request.rmr_context, 9);
    cr_assert_eq(fake.request.length, 4);
    cr_assert_eq(it_post_rdma_read_to_rmr(world.ep, &window, 1, 1, sink, 8, 9), IT_SUCCESS);
    cr_assert_eq(fake.request.opcode, VP_RDMA_READ_TO_RMR);
    cr_assert_eq(fake.request.windows, &window);
    cr_assert_eq(fake.request.segment_count, 1);
    cr_assert_eq(fake.request.length, 4);
    cr_assert_eq(fake.request.rdma_addr, 8);
    cr_assert_eq(it_post_rdma_read(world.ep, &segment, 1, 1, sink, 8, 9), IT_SUCCESS);
    cr_assert_eq(fake.request.flags, IT_UNLINK_LOCAL_SINK);
}

/* ---------------------------------------------------------------- it_lmr_modify */

Test(ual_rmr, a_failed_modify_changes_nothing)
{
    it_lmr_param_t params = {.privs = IT_PRIV_LOCAL_READ};
    it_lmr_param_t now;
    it_pz_handle_t pz;

    cr_assert_eq(it_pz_create(world.ia, &pz), IT_SUCCESS);
    params.pz = pz;
    fake.answer = IT_ERR_RESOURCES;
    cr_assert_eq(it_lmr_modify(world.lmr,
                               (it_lmr_param_mask_t)(IT_LMR_PARAM_PZ | IT_LMR_PARAM_MEM_PRIV),
                               &params),
                 IT_ERR_RESOURCES);
    fake.answer = IT_SUCCESS;
    cr_assert_eq(it_lmr_query(world.lmr, IT_LMR_PARAM_ALL, &now), IT_SUCCESS);
    cr_assert_eq(now.pz, world.pz);
    cr_assert_eq(now.privs, IT_PRIV_LOCAL);
    cr_assert_eq(it_pz_free(pz), IT_SUCCESS);
    cr_assert_eq(it_lmr_free(world.lmr), IT_SUCCESS, "it is not claimed any more");
}

Test(ual_rmr, modify_while_windows_are_linked)
{
    it_lmr_param_t params = {.privs = IT_PRIV_LOCAL_READ};
    struct base_object *object = (struct base_object *)(void *)world.lmr;

    cr_assert(base_object_hold(object));
    cr_assert_eq(it_lmr_modify(world.lmr, IT_LMR_PARAM_MEM_PRIV, &params), IT_ERR_LMR_BUSY);
    base_object_release(object);
    cr_assert_eq(it_lmr_modify(world.lmr, IT_LMR_PARAM_MEM_PRIV, &params), IT_SUCCESS);
    cr_assert_eq(it_lmr_query(world.lmr, IT_LMR_PARAM_ALL, &params), IT_SUCCESS);
    cr_assert_eq(params.rmr_context, FAKE_KEY + 1);
    cr_assert_eq(params.privs, IT_PRIV_LOCAL_READ);
    params.privs = IT_PRIV_ALL;
    cr_assert_eq(it_lmr_modify(world.lmr, IT_LMR_PARAM_MEM_PRIV, &params), IT_ERR_INVALID_PRIVS,
                 "no atomics");
}

/* The provider knows such regions. Still only privileged consumers may use them. */
Test(ual_rmr, regions_without_memory)
{
    it_lmr_handle_t lmr = NULL;

    cr_assert_eq(it_lmr_create_unlinked(world.pz, 1, IT_LMR_FLAG_NONE, 0, &lmr),
                 IT_ERR_OP_NOT_SUPPORTED);
    fake.attributes.lmr_link = IT_TRUE;
    cr_assert_eq(it_lmr_create_unlinked(world.pz, 1, IT_LMR_FLAG_NONE, 0, &lmr),
                 IT_ERR_PRIV_OPS_UNAVAILABLE);
    cr_assert_null(lmr);
}

/* ---------------------------------------------------------------- a failed IA */

Test(ual_rmr, catastrophe)
{
    it_rmr_handle_t rmr = make(IT_RMR_TYPE_WIDE);
    it_rmr_context_t key = 0;
    it_lmr_param_t params = {.privs = IT_PRIV_LOCAL};
    it_lmr_triplet_t segment = {.lmr = world.lmr, .addr.abs = world.memory, .length = 4};

    atomic_store(&((struct ual_ia *)(void *)world.ia)->evd.failed, true);
    cr_assert_eq(it_rmr_create10(world.pz, &rmr), IT_ERR_IA_CATASTROPHE);
    cr_assert_eq(link_as(rmr, IT_ADDR_MODE_ABSOLUTE, IT_PRIV_REMOTE, &key), IT_ERR_IA_CATASTROPHE);
    cr_assert_eq(it_rmr_unlink(rmr, world.ep, 1, (it_dto_flags_t)0), IT_ERR_IA_CATASTROPHE);
    cr_assert_eq(it_post_send_and_unlink(world.ep, NULL, 0, 1, (it_dto_flags_t)0, 9),
                 IT_ERR_IA_CATASTROPHE);
    cr_assert_eq(it_post_rdma_read_to_rmr(world.ep, NULL, 0, 1, (it_dto_flags_t)0, 8, 9),
                 IT_ERR_IA_CATASTROPHE);
    cr_assert_eq(it_lmr_modify(world.lmr, IT_LMR_PARAM_MEM_PRIV, &params), IT_ERR_IA_CATASTROPHE);
    cr_assert_eq(it_lmr_flush_to_mem(&segment, 1), IT_ERR_IA_CATASTROPHE);
    cr_assert_eq(it_rmr_free(rmr), IT_SUCCESS);
}
