/* SPDX-License-Identifier: BSD-2-Clause */
/* Protection zones, and calls that take any handle. */
#include "unit/fixture_world.h"

#include <criterion/criterion.h>

TestSuite(ual_pz, .init = world_init, .fini = world_fini);

Test(ual_pz, create_failures)
{
    it_pz_handle_t pz = NULL;

    cr_assert_eq(it_pz_create(NULL, &pz), IT_ERR_INVALID_IA);
    cr_assert_eq(it_pz_create((it_ia_handle_t)(void *)world.pz, &pz), IT_ERR_INVALID_IA);
    cr_assert_eq(it_pz_create(world.ia, NULL), IT_ERR_FAULT);
    fake.answer = IT_ERR_RESOURCES;
    cr_assert_eq(it_pz_create(world.ia, &pz), IT_ERR_RESOURCES);
    atomic_store(&((struct ual_ia *)(void *)world.ia)->evd.failed, true);
    cr_assert_eq(it_pz_create(world.ia, &pz), IT_ERR_IA_CATASTROPHE);
    cr_assert_null(pz);
}

Test(ual_pz, query)
{
    it_pz_param_t params = {.ia = NULL};

    cr_assert_eq(it_pz_query(NULL, IT_PZ_PARAM_ALL, &params), IT_ERR_INVALID_PZ);
    cr_assert_eq(it_pz_query(world.pz, IT_PZ_PARAM_ALL, NULL), IT_ERR_FAULT);
    cr_assert_eq(it_pz_query(world.pz, (it_pz_param_mask_t)4, &params), IT_ERR_INVALID_MASK);
    cr_assert_eq(it_pz_query(world.pz, (it_pz_param_mask_t)0, &params), IT_SUCCESS);
    cr_assert_null(params.ia);
    cr_assert_eq(it_pz_query(world.pz, IT_PZ_PARAM_IA, &params), IT_SUCCESS);
    cr_assert_eq(params.ia, world.ia);
    params.ia = NULL;
    cr_assert_eq(it_pz_query(world.pz, IT_PZ_PARAM_ALL, &params), IT_SUCCESS);
    cr_assert_eq(params.ia, world.ia);
}

Test(ual_pz, free_is_refused_while_there_are_children)
{
    it_pz_handle_t pz;

    cr_assert_eq(it_pz_free(world.pz), IT_ERR_PZ_BUSY);
    cr_assert_eq(it_lmr_free(world.lmr), IT_SUCCESS);
    cr_assert_eq(it_pz_free(world.pz), IT_ERR_PZ_BUSY);
    cr_assert_eq(it_ep_free(world.ep), IT_SUCCESS);
    cr_assert_eq(it_pz_free(world.pz), IT_SUCCESS);
    cr_assert_eq(it_pz_free(world.pz), IT_ERR_INVALID_PZ, "a stale handle");
    cr_assert_eq(it_pz_create(world.ia, &pz), IT_SUCCESS);
    cr_assert_eq(it_pz_free(pz), IT_SUCCESS);
}

TestSuite(ual_handle, .init = world_init, .fini = world_fini);

Test(ual_handle, type)
{
    it_handle_type_enum_t type;

    cr_assert_eq(it_get_handle_type(NULL, &type), IT_ERR_INVALID_HANDLE);
    cr_assert_eq(it_get_handle_type(world.memory + 1, &type), IT_ERR_INVALID_HANDLE);
    cr_assert_eq(it_get_handle_type(world.ia, NULL), IT_ERR_FAULT);
    cr_assert_eq(it_get_handle_type(world.ia, &type), IT_SUCCESS);
    cr_assert_eq(type, IT_HANDLE_TYPE_IA);
    cr_assert_eq(it_get_handle_type(world.pz, &type), IT_SUCCESS);
    cr_assert_eq(type, IT_HANDLE_TYPE_PZ);
    cr_assert_eq(it_get_handle_type(world.ep, &type), IT_SUCCESS);
    cr_assert_eq(type, IT_HANDLE_TYPE_EP);
    cr_assert_eq(it_get_handle_type(world.lmr, &type), IT_SUCCESS);
    cr_assert_eq(type, IT_HANDLE_TYPE_LMR);
    cr_assert_eq(it_get_handle_type(world.aevd, &type), IT_SUCCESS);
    cr_assert_eq(type, IT_HANDLE_TYPE_EVD);
    cr_assert_eq(it_ep_free(world.ep), IT_SUCCESS);
    cr_assert_eq(it_get_handle_type(world.ep, &type), IT_ERR_INVALID_HANDLE);
}

Test(ual_handle, context)
{
    it_context_t context = {.index = 5};

    cr_assert_eq(it_set_consumer_context(NULL, context), IT_ERR_INVALID_HANDLE);
    cr_assert_eq(it_get_consumer_context(NULL, &context), IT_ERR_INVALID_HANDLE);
    cr_assert_eq(it_get_consumer_context(world.ep, NULL), IT_ERR_FAULT);
    cr_assert_eq(it_get_consumer_context(world.ep, &context), IT_ERR_NO_CONTEXT);
    cr_assert_eq(context.index, 5);
    context.ptr = &world;
    cr_assert_eq(it_set_consumer_context(world.ep, context), IT_SUCCESS);
    context.ptr = NULL;
    cr_assert_eq(it_get_consumer_context(world.ep, &context), IT_SUCCESS);
    cr_assert_eq(context.ptr, &world);
    cr_assert_eq(it_get_consumer_context(world.pz, &context), IT_ERR_NO_CONTEXT);
}

Test(ual_handle, context_does_not_outlive_the_object)
{
    it_context_t context = {.index = 5};
    it_lmr_handle_t lmr;

    cr_assert_eq(it_set_consumer_context(world.lmr, context), IT_SUCCESS);
    cr_assert_eq(it_lmr_free(world.lmr), IT_SUCCESS);
    for (int i = 0; i < 40; i++) { /* until freed memory is used again */
        cr_assert_eq(it_lmr_create10(world.pz, world.memory, 1, IT_PRIV_LOCAL, IT_LMR_FLAG_NONE, 0,
                                     &lmr, NULL),
                     IT_SUCCESS);
        cr_assert_eq(it_get_consumer_context(lmr, &context), IT_ERR_NO_CONTEXT);
    }
}
