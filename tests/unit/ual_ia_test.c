/* SPDX-License-Identifier: BSD-2-Clause */
/* it_ia_create, it_ia_query, it_ia_free, itx_ia_stats. */
#include "unit/fake_provider.h"
#include "ual/providers/ual_providers.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

TestSuite(ual_ia, .init = fake_setup);

Test(ual_ia, create_checks_its_arguments)
{
    char endless[IT_INTERFACE_NAME_SIZE];
    it_ia_handle_t ia = NULL;

    memset(endless, 'x', sizeof(endless));
    cr_assert_eq(it_ia_create(FAKE_NAME, 2, 1, NULL), IT_ERR_FAULT);
    cr_assert_eq(it_ia_create(NULL, 2, 1, &ia), IT_ERR_INVALID_NAME);
    cr_assert_eq(it_ia_create("", 2, 1, &ia), IT_ERR_INVALID_NAME);
    cr_assert_eq(it_ia_create("nobody", 2, 1, &ia), IT_ERR_INVALID_NAME);
    cr_assert_eq(it_ia_create(endless, 2, 1, &ia), IT_ERR_INVALID_NAME);
    cr_assert_eq(it_ia_create(FAKE_NAME, 0, 0, &ia), IT_ERR_INVALID_MAJOR_VERSION);
    cr_assert_eq(it_ia_create(FAKE_NAME, 3, 0, &ia), IT_ERR_INVALID_MAJOR_VERSION);
    cr_assert_eq(it_ia_create(FAKE_NAME, 1, 1, &ia), IT_ERR_INVALID_MINOR_VERSION);
    cr_assert_eq(it_ia_create(FAKE_NAME, 2, 2, &ia), IT_ERR_INVALID_MINOR_VERSION);
    cr_assert_null(ia);
    cr_assert_eq(fake.calls.ia_open, 0);
}

Test(ual_ia, create_accepts_each_version)
{
    static const uint32_t versions[][2] = {{1, 0}, {2, 0}, {2, 1}};

    for (size_t i = 0; i < 3; i++) {
        it_ia_handle_t ia;

        cr_assert_eq(it_ia_create(FAKE_NAME, versions[i][0], versions[i][1], &ia), IT_SUCCESS);
        cr_assert_eq(it_ia_free(ia), IT_SUCCESS);
    }
}

Test(ual_ia, create_passes_on_the_failure_of_the_provider)
{
    it_ia_handle_t ia = NULL;

    fake.answer = IT_ERR_NO_PERMISSION;
    cr_assert_eq(it_ia_create(FAKE_NAME, 2, 1, &ia), IT_ERR_NO_PERMISSION);
    cr_assert_null(ia);
    cr_assert_eq(fake.calls.ia_close, 0);
}

static bool poor_has_interface(const char *name)
{
    return strcmp(name, "poor0") == 0;
}

/* A provider may lack the calls of S-RQs and RMRs only if it does not announce them. */
Test(ual_ia, what_is_announced_can_be_called)
{
    static struct vp_provider poor;
    it_ia_handle_t ia = NULL;
    it_pz_handle_t pz;
    it_srq_handle_t srq;
    it_rmr_handle_t rmr;

    poor = fake_provider;
    poor.name = "poor";
    poor.has_interface = poor_has_interface;
    poor.srq_create = NULL;
    poor.rmr_create = NULL;
    cr_assert(vp_register(&poor));
    fake.attributes.srq = IT_FALSE;
    fake.attributes.rmr_types = IT_RMR_TYPE_WIDE;
    cr_assert_eq(it_ia_create("poor0", 2, 1, &ia), IT_ERR_RESOURCES);
    fake.attributes.srq = IT_TRUE;
    fake.attributes.rmr_types = (it_rmr_type_t)0;
    cr_assert_eq(it_ia_create("poor0", 2, 1, &ia), IT_ERR_RESOURCES);
    cr_assert_null(ia);
    cr_assert(fake.calls.ia_open == 2 && fake.calls.ia_close == 2);
    fake.attributes.srq = IT_FALSE;
    cr_assert_eq(it_ia_create("poor0", 2, 1, &ia), IT_SUCCESS);
    cr_assert_eq(it_pz_create(ia, &pz), IT_SUCCESS);
    cr_assert_eq(it_srq_create(pz, 1, 1, &srq), IT_ERR_SRQ_NOT_SUPPORTED);
    cr_assert_eq(it_rmr_create10(pz, &rmr), IT_ERR_INVALID_RMR_TYPE);
    cr_assert_eq(it_ia_free(ia), IT_SUCCESS);
}

Test(ual_ia, every_ia_is_its_own)
{
    it_ia_handle_t one, two;

    cr_assert_eq(it_ia_create(FAKE_NAME, 2, 1, &one), IT_SUCCESS);
    cr_assert_eq(it_ia_create(FAKE_NAME, 2, 1, &two), IT_SUCCESS);
    cr_assert_neq(one, two);
    cr_assert_eq(it_ia_free(one), IT_SUCCESS);
    cr_assert_eq(it_ia_free(two), IT_SUCCESS);
}

Test(ual_ia, query_tells_limits_names_and_evds)
{
    struct fake_world world;
    it_evd_handle_t affiliated;
    it_ia_info_t *info;

    fake_world_open(&world);
    cr_assert_eq(it_evd_create(world.ia, IT_ASYNC_AFF_EVENT_STREAM, (it_evd_flags_t)0, 4, 0, NULL,
                               &affiliated, NULL),
                 IT_SUCCESS);
    cr_assert_eq(it_ia_query(world.ia, &info), IT_SUCCESS);
    cr_assert_str_eq(info->ia_name, FAKE_NAME);
    cr_assert_eq(info->api_major_version, 2);
    cr_assert_eq(info->api_minor_version, 1);
    cr_assert_eq(info->transport_type, IT_IWARP_TCP_TRANSPORT);
    cr_assert_eq(info->affiliated_err_evd, affiliated);
    cr_assert_null(info->unaffiliated_err_evd);
    cr_assert_eq(info->private_data_support, IT_TRUE);
    cr_assert_eq(info->connect_private_data_len, 16);
    cr_assert_eq(info->accept_private_data_len, 17);
    cr_assert_eq(info->reject_private_data_len, 18);
    cr_assert_eq(info->disconnect_private_data_len, 0);
    cr_assert_eq(info->num_spigots, 1);
    cr_assert_eq(info->spigot_info[0].spigot_id, FAKE_SPIGOT);
    cr_assert_eq(info->spigot_info[0].net_addr[1].addr_type, IT_IPV6);
    it_ia_info_free(info);
    it_ia_info_free(NULL);
    fake_world_close(&world);
}

Test(ual_ia, query_failures)
{
    struct fake_world world;
    it_ia_info_t *info = NULL;

    fake_world_open(&world);
    cr_assert_eq(it_ia_query(NULL, &info), IT_ERR_INVALID_IA);
    cr_assert_eq(it_ia_query((it_ia_handle_t)(void *)world.pz, &info), IT_ERR_INVALID_IA);
    cr_assert_eq(it_ia_query(world.ia, NULL), IT_ERR_FAULT);
    fake.answer = IT_ERR_RESOURCES;
    cr_assert_eq(it_ia_query(world.ia, &info), IT_ERR_RESOURCES);
    atomic_store(&((struct ual_ia *)(void *)world.ia)->evd.failed, true);
    cr_assert_eq(it_ia_query(world.ia, &info), IT_ERR_IA_CATASTROPHE);
    cr_assert_null(info);
    fake_world_close(&world); /* works on a failed IA */
}

Test(ual_ia, free_closes_everything_in_order)
{
    struct fake_world world;
    it_conn_qual_t qual;
    it_listen_handle_t listen;
    struct ual_request request;

    fake_world_open(&world);
    cr_assert_eq(
        it_listen_create(world.ia, FAKE_SPIGOT, world.req_evd, IT_LISTEN_NO_FLAG, &qual, &listen),
        IT_SUCCESS);
    fake_request_arrives(&request, &world);
    cr_assert_eq(it_ia_free(world.ia), IT_SUCCESS);
    cr_assert_str_eq(fake.closing, "lempi");
    cr_assert_eq(fake.calls.reject, 1);
    cr_assert_null(ual_request_ia(request.id, false));
    cr_assert_eq(it_ia_free(world.ia), IT_ERR_INVALID_IA, "a stale handle");
    cr_assert_eq(it_pz_free(world.pz), IT_ERR_INVALID_PZ);
    cr_assert_eq(it_lmr_free(world.lmr), IT_ERR_INVALID_LMR);
    cr_assert_eq(it_ep_free(world.ep), IT_ERR_INVALID_EP);
    cr_assert_eq(it_listen_free(listen), IT_ERR_INVALID_LISTEN);
    cr_assert_eq(it_evd_free(world.dto_evd), IT_ERR_INVALID_EVD);
    cr_assert_eq(it_ia_free(NULL), IT_ERR_INVALID_IA);
}

Test(ual_ia, free_leaves_a_request_that_cannot_be_refused_to_the_provider)
{
    struct fake_world world;
    struct ual_request request;

    fake_world_open(&world);
    fake_request_arrives(&request, &world);
    fake.answer = IT_ERR_RESOURCES;
    cr_assert_eq(it_ia_free(world.ia), IT_SUCCESS);
    cr_assert(ual_request_withdraw(&request));
}

Test(ual_ia, free_leaves_other_ias_alone)
{
    struct fake_world one, two;
    struct ual_request of_one, of_two;

    fake_world_open(&one);
    fake_world_open(&two);
    fake_request_arrives(&of_one, &one);
    fake_request_arrives(&of_two, &two);
    fake_world_close(&one);
    cr_assert_eq(fake.calls.reject, 1);
    cr_assert_eq(ual_request_ia(of_two.id, false), (struct ual_ia *)(void *)two.ia);
    cr_assert_eq(it_ep_free(two.ep), IT_SUCCESS);
    fake_world_close(&two);
}

static void *wait_for_ever(void *argument)
{
    it_event_t event;

    return (void *)(uintptr_t)it_evd_wait((it_evd_handle_t)argument, IT_TIMEOUT_INFINITE, &event,
                                          NULL);
}

Test(ual_ia, free_ends_waits_with_abort)
{
    struct fake_world world;
    pthread_t thread;
    void *result;

    fake_world_open(&world);
    cr_assert_eq(pthread_create(&thread, NULL, wait_for_ever, world.conn_evd), 0);
    /* The thread may sleep, be about to sleep, or not have started. All three must work. */
    fake_world_close(&world);
    cr_assert_eq(pthread_join(thread, &result), 0);
    cr_assert((uintptr_t)result == IT_ERR_ABORT || (uintptr_t)result == IT_ERR_INVALID_EVD);
}

Test(ual_ia, counters_respect_the_size_the_caller_knows)
{
    struct fake_world world;
    struct {
        struct itx_counters counters;
        uint64_t behind;
    } larger = {.counters.size = sizeof(larger), .behind = 7};

    fake_world_open(&world);
    cr_assert_eq(itx_ia_stats(NULL, &larger.counters), IT_ERR_INVALID_IA);
    cr_assert_eq(itx_ia_stats(world.ia, NULL), IT_ERR_FAULT);
    cr_assert_eq(itx_ia_stats(world.ia, &larger.counters), IT_SUCCESS);
    cr_assert_eq(larger.counters.size, sizeof(larger));
    cr_assert_eq(larger.counters.bytes_sent, 11);
    cr_assert_eq(larger.counters.thread_wakeups, 22);
    cr_assert_eq(larger.behind, 7);
    larger.counters.size =
        offsetof(struct itx_counters, send_retries) - 1; /* smaller than the first version */
    cr_assert_eq(itx_ia_stats(world.ia, &larger.counters), IT_ERR_INVALID_LENGTH);
    larger.counters.size = sizeof(struct itx_counters);
    atomic_store(&((struct ual_ia *)(void *)world.ia)->evd.failed, true);
    cr_assert_eq(itx_ia_stats(world.ia, &larger.counters), IT_SUCCESS);
    fake_world_close(&world);
}
