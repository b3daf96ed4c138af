/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * RDMA Reads with more segments than the adapter takes in one request, as on siw. The test limits
 * uiwarp like such an adapter and calls the provider's functions as the registry would.
 */
#include "connect/udapl_connect.h"
#include "endpoint/udapl_endpoint.h"
#include "event/udapl_event.h"
#include "ia/udapl_ia_calls.h"
#include "memory/udapl_memory.h"
#include "object/udapl_ia.h"
#include "support/check.h"
#include "support/time_limit.h"
#include "table/udapl_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIZE        4096
#define WAIT_MICROS ((DAT_TIMEOUT)time_limit_ms(20000) * 1000)

static struct side {
    DAT_EP_HANDLE ep;
    DAT_EVD_HANDLE completions, connect;
    DAT_LMR_HANDLE lmr;
    DAT_LMR_CONTEXT lmr_context;
    DAT_RMR_CONTEXT rmr_context;
    unsigned char buffer[SIZE];
} a, b;

static DAT_IA_HANDLE ia;
static DAT_PZ_HANDLE pz;
static DAT_EVD_HANDLE requests;

static void open_ia(void)
{
    struct udapl_provider *provider = calloc(1, sizeof(*provider));
    DAT_EVD_HANDLE async = DAT_EVD_ASYNC_EXISTS;
    char name[] = "split";

    CHECK(provider);
    snprintf(provider->info.ia_name, sizeof(provider->info.ia_name), "%s", name);
    snprintf(provider->interface, sizeof(provider->interface), "uiwarp:lo");
    provider->table = udapl_table;
    udapl_provider_add(provider);
    CHECK_EQ(DAT_SUCCESS, udapl_ia_open(name, 4, &async, &ia));
    ((struct udapl_ia *)ia)->features.max_rdma_read_segments = 2;
    CHECK_EQ(DAT_SUCCESS, udapl_pz_create(ia, &pz));
    CHECK_EQ(DAT_SUCCESS, udapl_evd_create(ia, 4, DAT_HANDLE_NULL, DAT_EVD_CR_FLAG, &requests));
}

static void make_side(struct side *side)
{
    DAT_EP_ATTR attr = {.max_rdma_read_iov = 5, .max_request_dtos = 4};
    DAT_REGION_DESCRIPTION region = {.for_va = side->buffer};

    CHECK_EQ(DAT_SUCCESS,
             udapl_evd_create(ia, 64, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG, &side->completions));
    CHECK_EQ(DAT_SUCCESS,
             udapl_evd_create(ia, 8, DAT_HANDLE_NULL, DAT_EVD_CONNECTION_FLAG, &side->connect));
    CHECK_EQ(DAT_SUCCESS, udapl_lmr_create(ia, DAT_MEM_TYPE_VIRTUAL, region, SIZE, pz,
                                           DAT_MEM_PRIV_ALL_FLAG, DAT_VA_TYPE_VA, &side->lmr,
                                           &side->lmr_context, &side->rmr_context, NULL, NULL));
    CHECK_EQ(DAT_SUCCESS, udapl_ep_create(ia, pz, side->completions, side->completions,
                                          side->connect, &attr, &side->ep));
}

static DAT_EVENT next_event(DAT_EVD_HANDLE evd)
{
    DAT_EVENT event;
    DAT_COUNT more;

    CHECK_EQ(DAT_SUCCESS, udapl_evd_wait(evd, WAIT_MICROS, 1, &event, &more));
    return event;
}

static void join(void)
{
    DAT_PSP_HANDLE psp;
    DAT_CONN_QUAL port;
    DAT_EVENT event;

    CHECK_EQ(DAT_SUCCESS, udapl_psp_create_any(ia, &port, requests, DAT_PSP_CONSUMER_FLAG, &psp));
    CHECK_EQ(DAT_SUCCESS,
             udapl_ep_connect(a.ep, (DAT_IA_ADDRESS_PTR) & ((struct udapl_ia *)ia)->address, port,
                              WAIT_MICROS, 0, NULL, DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG));
    event = next_event(requests);
    CHECK_EQ(DAT_SUCCESS,
             udapl_cr_accept(event.event_data.cr_arrival_event_data.cr_handle, b.ep, 0, NULL));
    CHECK_EQ(DAT_CONNECTION_EVENT_ESTABLISHED, next_event(a.connect).event_number);
    CHECK_EQ(DAT_CONNECTION_EVENT_ESTABLISHED, next_event(b.connect).event_number);
}

/* Reads into five segments of 100 octets, 50 octets apart. */
static DAT_RETURN read_five(DAT_UINT64 cookie, DAT_RMR_CONTEXT key, unsigned flags)
{
    DAT_RMR_TRIPLET from = {
        .virtual_address = (uintptr_t)b.buffer + 1000, .segment_length = 500, .rmr_context = key};
    DAT_LMR_TRIPLET into[5];

    for (size_t i = 0; i < 5; i++)
        into[i] = (DAT_LMR_TRIPLET){.virtual_address = (uintptr_t)a.buffer + i * 150,
                                    .segment_length = 100,
                                    .lmr_context = a.lmr_context};
    return udapl_ep_post_rdma_read(a.ep, 5, into, (DAT_DTO_COOKIE){.as_64 = cookie}, &from,
                                   (DAT_COMPLETION_FLAGS)flags);
}

static void await_read(DAT_UINT64 cookie, DAT_DTO_COMPLETION_STATUS status)
{
    DAT_EVENT event = next_event(a.completions);
    const DAT_DTO_COMPLETION_EVENT_DATA *done = &event.event_data.dto_completion_event_data;

    CHECK_EQ(DAT_DTO_COMPLETION_EVENT, event.event_number);
    CHECK_EQ(DAT_DTO_RDMA_READ, done->operation);
    CHECK_EQ(cookie, done->user_cookie.as_64);
    CHECK_EQ(status, done->status);
    CHECK(done->ep_handle == a.ep);
    if (status == DAT_DTO_SUCCESS)
        CHECK_EQ(500, done->transfered_length);
}

static void check_no_more(void)
{
    DAT_EVENT event;

    CHECK_EQ(DAT_QUEUE_EMPTY, DAT_GET_TYPE(udapl_evd_dequeue(a.completions, &event)));
}

static void check_content(void)
{
    for (size_t i = 0; i < 5; i++) {
        CHECK_EQ(0, memcmp(a.buffer + i * 150, b.buffer + 1000 + i * 100, 100));
        CHECK_EQ(0, a.buffer[i * 150 + 100]);
    }
}

/* Posts as many at once as the queue has places. Each completes once. */
static void check_reads(void)
{
    for (size_t i = 0; i < SIZE; i++)
        b.buffer[i] = (unsigned char)(i * 31 >> 2);
    for (DAT_UINT64 round = 0; round < 10; round++) {
        memset(a.buffer, 0, SIZE);
        CHECK_EQ(DAT_SUCCESS, read_five(10, b.rmr_context, DAT_COMPLETION_SUPPRESS_FLAG));
        CHECK_EQ(DAT_SUCCESS, read_five(11, b.rmr_context, DAT_COMPLETION_BARRIER_FENCE_FLAG));
        CHECK_EQ(DAT_SUCCESS, read_five(UINT64_MAX, b.rmr_context, DAT_COMPLETION_DEFAULT_FLAG));
        await_read(11, DAT_DTO_SUCCESS);
        await_read(UINT64_MAX, DAT_DTO_SUCCESS);
        check_no_more();
        check_content();
    }
}

/* The refused Read is reported once, and so is each request behind it. */
static void check_failure(void)
{
    CHECK_EQ(DAT_SUCCESS, read_five(20, b.rmr_context ^ 0x5500, DAT_COMPLETION_DEFAULT_FLAG));
    CHECK_EQ(DAT_SUCCESS, read_five(21, b.rmr_context, DAT_COMPLETION_SUPPRESS_FLAG));
    await_read(20, DAT_DTO_ERR_REMOTE_ACCESS);
    await_read(21, DAT_DTO_ERR_FLUSHED);
    CHECK_EQ(DAT_CONNECTION_EVENT_BROKEN, next_event(a.connect).event_number);
    check_no_more();
}

int main(void)
{
    open_ia();
    make_side(&a);
    make_side(&b);
    join();
    check_reads();
    check_failure();
    CHECK_EQ(DAT_SUCCESS, udapl_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG));
    udapl_provider_remove("split");
    return 0;
}
