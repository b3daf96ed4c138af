/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of undecided connection requests. */
#include "unit/fixture_world.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <string.h>

TestSuite(ual_request, .init = world_init, .fini = world_fini);

Test(ual_request, ids_are_new_and_never_0)
{
    it_cn_est_identifier_t last = 0;
    struct ual_request request;

    for (int i = 0; i < 1000; i++) {
        fake_request_arrives(&request, &world);
        cr_assert_gt(request.id, last);
        last = request.id;
        cr_assert_eq(ual_request_take(request.id, NULL, false), &request);
    }
    cr_assert_null(ual_request_take(0, NULL, false));
}

Test(ual_request, many_at_once_in_any_order)
{
    enum {
        COUNT = 1000
    };
    static struct ual_request requests[COUNT];

    for (int i = 0; i < COUNT; i++)
        fake_request_arrives(&requests[i], &world);
    for (int i = 0; i < COUNT; i += 2)
        cr_assert_eq(ual_request_take(requests[i].id, NULL, false), &requests[i]);
    for (int i = COUNT - 1; i >= 0; i--)
        cr_assert_eq(ual_request_take(requests[i].id, NULL, false), i % 2 ? &requests[i] : NULL);
}

Test(ual_request, only_one_gets_it)
{
    struct ual_ia *ia = (struct ual_ia *)(void *)world.ia;
    struct fake_world other;
    struct ual_request request;

    fake_world_open(&other);
    fake_request_arrives(&request, &world);
    cr_assert_eq(ual_request_ia(request.id, false), ia);
    cr_assert_null(ual_request_take(request.id, (struct ual_ia *)(void *)other.ia, false));
    cr_assert_eq(ual_request_take(request.id, ia, false), &request);
    cr_assert_null(ual_request_take(request.id, ia, false));
    cr_assert_null(ual_request_ia(request.id, false));
    cr_assert_not(ual_request_withdraw(&request));
    ual_request_put_back(&request, request.id);
    cr_assert(ual_request_withdraw(&request));
    cr_assert_null(ual_request_take(request.id, ia, false));
    fake_world_close(&other);
}

static void *take_all(void *argument)
{
    struct ual_request *requests = argument;
    uintptr_t taken = 0;

    for (int i = 0; i < 1000; i++)
        taken += ual_request_take(requests[i].id, NULL, false) != NULL;
    return (void *)taken;
}

Test(ual_request, of_racing_threads_one_wins)
{
    static struct ual_request requests[1000];
    pthread_t thread;
    uintptr_t mine;
    void *others;

    for (int i = 0; i < 1000; i++)
        fake_request_arrives(&requests[i], &world);
    cr_assert_eq(pthread_create(&thread, NULL, take_all, requests), 0);
    mine = (uintptr_t)take_all(requests);
    cr_assert_eq(pthread_join(thread, &others), 0);
    cr_assert_eq(mine + (uintptr_t)others, 1000);
}

Test(ual_request, announce_fills_the_event)
{
    unsigned char data[IT_MAX_PRIV_DATA + 1];
    struct ual_request request;
    it_event_t event;

    memset(data, 0x77, sizeof(data));
    fake_request_arrives(&request, &world);
    request.conn_qual.type = IT_IANA_PORT;
    request.source_addr.addr_type = IT_IPV6;
    request.peer_ird = 3;
    request.peer_ord = 4;
    request.private_data = data;
    request.private_length = sizeof(data);
    cr_assert(ual_request_announce(&request));
    cr_assert_eq(it_evd_dequeue(world.req_evd, &event), IT_SUCCESS);
    cr_assert_eq(event.conn_req.event_number, IT_CM_REQ_CONN_REQUEST_EVENT);
    cr_assert_eq(event.conn_req.evd, world.req_evd);
    cr_assert_eq(event.conn_req.cn_est_id, request.id);
    cr_assert_eq(event.conn_req.conn_qual.type, IT_IANA_PORT);
    cr_assert_eq(event.conn_req.source_addr.addr_type, IT_IPV6);
    cr_assert_eq(event.conn_req.spigot_id, FAKE_SPIGOT);
    cr_assert_eq(event.conn_req.max_message_size, 0);
    cr_assert_eq(event.conn_req.rdma_read_ird, 3);
    cr_assert_eq(event.conn_req.rdma_read_ord, 4);
    cr_assert_eq(event.conn_req.private_data_present, IT_TRUE);
    cr_assert_eq(memcmp(event.conn_req.private_data, data, IT_MAX_PRIV_DATA), 0);
    while (ual_request_announce(&request)) /* until the EVD is full */
        continue;
    cr_assert(ual_request_withdraw(&request));
}
