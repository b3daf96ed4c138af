/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes every call on an EVD with every wrong argument and in every state of the EVD. Checks the
 * status, and that nothing has changed.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "support/fixture_node.h"
#include "support/waiter.h"

static void ignore(it_evd_handle_t evd, void *argument)
{
    (void)evd;
    (void)argument;
}

/* ---- Handles --------------------------------------------------------------------------------- */

static it_event_t event;
static it_evd_param_t params;
static size_t count;

static it_status_t query(it_evd_handle_t evd)
{
    return it_evd_query(evd, IT_EVD_PARAM_ALL, &params);
}

static it_status_t modify(it_evd_handle_t evd)
{
    return it_evd_modify(evd, IT_EVD_PARAM_ENABLED, &params);
}

static it_status_t wait_one(it_evd_handle_t evd)
{
    return it_evd_wait(evd, 0, &event, NULL);
}

static it_status_t wait_n(it_evd_handle_t evd)
{
    return itx_evd_wait_n(evd, 0, 1, &event, &count, NULL);
}

static it_status_t dequeue(it_evd_handle_t evd)
{
    return it_evd_dequeue(evd, &event);
}

static it_status_t dequeue_n(it_evd_handle_t evd)
{
    return itx_evd_dequeue_n(evd, 1, &event, &count);
}

static it_status_t post(it_evd_handle_t evd)
{
    return it_evd_post_se(evd, NULL);
}

static it_status_t attach(it_evd_handle_t evd)
{
    return it_evd_callback_attach(evd, ignore, NULL);
}

static const struct call {
    const char *name;
    it_status_t (*run)(it_evd_handle_t evd);
} calls[] = {
    {"it_evd_query", query},
    {"it_evd_modify", modify},
    {"it_evd_wait", wait_one},
    {"itx_evd_wait_n", wait_n},
    {"it_evd_dequeue", dequeue},
    {"itx_evd_dequeue_n", dequeue_n},
    {"it_evd_post_se", post},
    {"it_evd_callback_attach", attach},
    {"it_evd_callback_detach", it_evd_callback_detach},
    {"it_evd_free", it_evd_free},
};

#define CALLS (sizeof(calls) / sizeof(calls[0]))

Test(api_events, handles, .init = node_init, .fini = node_fini)
{
    it_evd_handle_t stale_aevd = NULL;
    uint16_t port;
    void *bad[9];
    struct fx_buf buf = fx_node_buf(&node, 16);
    it_evd_handle_t stale = fx_evd(&node, IT_SOFTWARE_EVENT_STREAM, 4, 0);

    CHECK_OK(it_evd_callback_attach(stale, ignore, NULL));
    CHECK_OK(it_evd_free(stale));
    CHECK_OK(it_evd_create(node.ia, IT_AEVD_NOTIFICATION_EVENT_STREAM, (it_evd_flags_t)0, 0, 0,
                           NULL, &stale_aevd, NULL));
    CHECK_OK(it_evd_free(stale_aevd));
    bad[0] = NULL;
    bad[1] = node.ia;
    bad[2] = node.pz;
    bad[3] = fx_ep(&node, NULL);
    bad[4] = buf.lmr;
    bad[5] = fx_listen(&node, &port);
    bad[6] = stale;
    bad[7] = stale_aevd;
    bad[8] = (char *)node.pz + 1;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        for (size_t c = 0; c < CALLS; c++) {
            check_context(calls[c].name);
            EXPECT_STATUS(IT_ERR_INVALID_EVD, calls[c].run(bad[i]));
        }
    }
    check_context(NULL);
    EXPECT_STATUS(IT_ERR_INVALID_IA, itx_ia_set_event_base((it_ia_handle_t)(void *)node.recv_evd,
                                                           (struct event_base *)(void *)&node));
    check_done();
}

/* ---- Pointers, lengths, masks ---------------------------------------------------------------- */

Test(api_events, pointers_and_lengths, .init = node_init, .fini = node_fini)
{
    size_t n = 9;
    it_evd_handle_t soft = fx_evd(&node, IT_SOFTWARE_EVENT_STREAM, 4, 0);

    CHECK_OK(it_evd_post_se(soft, &node));
    EXPECT_STATUS(IT_ERR_FAULT, it_evd_wait(soft, 0, NULL, &n));
    EXPECT_STATUS(IT_ERR_FAULT, it_evd_dequeue(soft, NULL));
    EXPECT_STATUS(IT_ERR_FAULT, it_evd_query(soft, IT_EVD_PARAM_ALL, NULL));
    EXPECT_STATUS(IT_ERR_FAULT, it_evd_modify(soft, IT_EVD_PARAM_ENABLED, NULL));
    EXPECT_STATUS(IT_ERR_FAULT, it_evd_callback_attach(soft, NULL, &node));
    EXPECT_STATUS(IT_ERR_FAULT, itx_evd_dequeue_n(soft, 1, NULL, &n));
    EXPECT_STATUS(IT_ERR_FAULT, itx_evd_dequeue_n(soft, 1, &event, NULL));
    EXPECT_STATUS(IT_ERR_FAULT, itx_evd_wait_n(soft, 0, 1, NULL, &n, &n));
    EXPECT_STATUS(IT_ERR_FAULT, itx_evd_wait_n(soft, 0, 1, &event, NULL, &n));
    EXPECT_STATUS(IT_ERR_FAULT, itx_ia_set_event_base(node.ia, NULL));
    EXPECT_STATUS(IT_ERR_INVALID_LENGTH, itx_evd_dequeue_n(soft, 0, &event, &n));
    EXPECT_STATUS(IT_ERR_INVALID_LENGTH, itx_evd_wait_n(soft, 0, 0, &event, &n, &n));
    EXPECT_STATUS(IT_ERR_INVALID_MASK, it_evd_query(soft, (it_evd_param_mask_t)0x8000000, &params));
    EXPECT_STATUS(IT_ERR_INVALID_SOFT_EVD, it_evd_post_se(node.recv_evd, NULL));
    EXPECT_EQ(9, n);
    /* The event is still there. */
    CHECK_OK(it_evd_wait(soft, 0, &event, &n));
    EXPECT(event.sw.data == &node);
    EXPECT_EQ(0, n);
    check_done();
}

struct change {
    const char *text;
    unsigned mask;
    it_evd_param_t params;
    it_status_t simple; /* IT_ERR_... with an SEVD of size 8, threshold 2 and three events */
    it_status_t aggregate;
};

static const struct change changes[] = {
    {"nothing", 0, {0}, IT_SUCCESS, IT_SUCCESS},
    {"all", IT_EVD_PARAM_ALL, {0}, IT_ERR_INVALID_MASK, IT_ERR_INVALID_MASK},
    {"the IA", IT_EVD_PARAM_IA, {0}, IT_ERR_INVALID_MASK, IT_ERR_INVALID_MASK},
    {"the stream", IT_EVD_PARAM_EVENT_NUMBER, {0}, IT_ERR_INVALID_MASK, IT_ERR_INVALID_MASK},
    {"the descriptor", IT_EVD_PARAM_FD, {0}, IT_ERR_INVALID_MASK, IT_ERR_INVALID_MASK},
    {"whether bound", IT_EVD_PARAM_BOUND, {0}, IT_ERR_INVALID_MASK, IT_ERR_INVALID_MASK},
    {"the callback", IT_EVD_PARAM_CALLBACK, {0}, IT_ERR_INVALID_MASK, IT_ERR_INVALID_MASK},
    {"an unknown bit", 0x8000000, {0}, IT_ERR_INVALID_MASK, IT_ERR_INVALID_MASK},
    {"size 0", IT_EVD_PARAM_QUEUE_SIZE, {0}, IT_ERR_INVALID_QUEUE_SIZE, IT_ERR_INVALID_MASK},
    {"size below what is queued",
     IT_EVD_PARAM_QUEUE_SIZE,
     {.sevd_queue_size = 2},
     IT_ERR_INVALID_QUEUE_SIZE,
     IT_ERR_INVALID_MASK},
    {"size beyond reach",
     IT_EVD_PARAM_QUEUE_SIZE,
     {.sevd_queue_size = SIZE_MAX},
     IT_ERR_RESOURCE_QUEUE_SIZE,
     IT_ERR_INVALID_MASK},
    {"size below the threshold",
     IT_EVD_PARAM_QUEUE_SIZE | IT_EVD_PARAM_THRESHOLD,
     {.sevd_queue_size = 4, .sevd_threshold = 5},
     IT_ERR_INVALID_THRESHOLD,
     IT_ERR_INVALID_MASK},
    {"threshold beyond the size",
     IT_EVD_PARAM_THRESHOLD,
     {.sevd_threshold = 9},
     IT_ERR_INVALID_THRESHOLD,
     IT_ERR_INVALID_MASK},
    {"threshold", IT_EVD_PARAM_THRESHOLD, {.sevd_threshold = 8}, IT_SUCCESS, IT_ERR_INVALID_MASK},
    {"size",
     IT_EVD_PARAM_QUEUE_SIZE,
     {.sevd_queue_size = 3},
     IT_ERR_INVALID_THRESHOLD,
     IT_ERR_INVALID_MASK},
    {"both",
     IT_EVD_PARAM_QUEUE_SIZE | IT_EVD_PARAM_THRESHOLD,
     {.sevd_queue_size = 3, .sevd_threshold = 3},
     IT_SUCCESS,
     IT_ERR_INVALID_MASK},
    {"overflow",
     IT_EVD_PARAM_OVERFLOWED,
     {.evd_overflowed = IT_TRUE},
     IT_ERR_INVALID_EVD_STATE,
     IT_ERR_INVALID_EVD_STATE},
    {"no overflow", IT_EVD_PARAM_OVERFLOWED, {.evd_overflowed = IT_FALSE}, IT_SUCCESS, IT_SUCCESS},
    {"a flag of creation",
     IT_EVD_PARAM_FLAG,
     {.evd_flag = IT_EVD_CREATE_FD},
     IT_ERR_INVALID_FLAGS,
     IT_ERR_INVALID_FLAGS},
    {"an unknown flag",
     IT_EVD_PARAM_FLAG,
     {.evd_flag = (it_evd_flags_t)0x40},
     IT_ERR_INVALID_FLAGS,
     IT_ERR_INVALID_FLAGS},
    {"an overflow flag",
     IT_EVD_PARAM_FLAG,
     {.evd_flag = IT_EVD_OVERFLOW_AUTO_RESET},
     IT_SUCCESS,
     IT_SUCCESS},
    {"enabling", IT_EVD_PARAM_ENABLED, {.evd_enabled = IT_TRUE}, IT_SUCCESS, IT_SUCCESS},
    {"leaving no AEVD", IT_EVD_PARAM_AEVD_HANDLE, {0}, IT_SUCCESS, IT_ERR_INVALID_MASK},
};

static void same(const it_evd_param_t *before, it_evd_handle_t evd)
{
    it_evd_param_t now;

    CHECK_OK(it_evd_query(evd, IT_EVD_PARAM_ALL, &now));
    EXPECT(before->ia == now.ia && before->aevd == now.aevd && before->fd == now.fd);
    EXPECT_EQ(before->event_number, now.event_number);
    EXPECT_EQ(before->evd_flag, now.evd_flag);
    EXPECT_EQ(before->sevd_queue_size, now.sevd_queue_size);
    EXPECT_EQ(before->sevd_threshold, now.sevd_threshold);
    EXPECT_EQ(before->evd_enabled, now.evd_enabled);
    EXPECT_EQ(before->evd_overflowed, now.evd_overflowed);
    EXPECT_EQ(before->evd_bound, now.evd_bound);
    EXPECT_EQ(before->evd_callback, now.evd_callback);
}

static void change(it_evd_handle_t evd, const struct change *row, it_status_t want)
{
    it_evd_param_t before;
    it_status_t got;

    CHECK_OK(it_evd_query(evd, IT_EVD_PARAM_ALL, &before));
    check_context(row->text);
    got = it_evd_modify(evd, (it_evd_param_mask_t)row->mask, &row->params);
    EXPECT_STATUS(want, got);
    if (got != IT_SUCCESS)
        same(&before, evd);
}

Test(api_events, modify, .init = node_init, .fini = node_fini)
{
    it_evd_handle_t aevd = NULL;
    it_evd_handle_t soft = fx_evd(&node, IT_SOFTWARE_EVENT_STREAM, 8, 2);

    CHECK_OK(it_evd_create(node.ia, IT_AEVD_NOTIFICATION_EVENT_STREAM, (it_evd_flags_t)0, 0, 0,
                           NULL, &aevd, NULL));
    for (uintptr_t i = 0; i < 3; i++)
        CHECK_OK(it_evd_post_se(soft, (const void *)i));
    for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
        change(soft, &changes[i], changes[i].simple);
        change(aevd, &changes[i], changes[i].aggregate);
    }
    check_context(NULL);
    for (uintptr_t i = 0; i < 3; i++) {
        CHECK_OK(it_evd_dequeue(soft, &event));
        EXPECT(event.sw.data == (void *)i);
    }
    check_done();
}

Test(api_events, joining_an_aggregate)
{
    struct fx_node other;
    it_evd_handle_t soft;
    it_evd_handle_t with_fd = NULL;
    it_evd_handle_t aevd = NULL;
    it_evd_param_t join;
    int fd;

    memset(&join, 0, sizeof(join));
    fx_node_open(&node);
    fx_node_open(&other);
    soft = fx_evd(&node, IT_SOFTWARE_EVENT_STREAM, 8, 0);
    CHECK_OK(it_evd_create(node.ia, IT_SOFTWARE_EVENT_STREAM, IT_EVD_CREATE_FD, 8, 0, NULL,
                           &with_fd, &fd));
    CHECK_OK(it_evd_create(node.ia, IT_AEVD_NOTIFICATION_EVENT_STREAM, (it_evd_flags_t)0, 0, 0,
                           NULL, &aevd, NULL));
    join.aevd = node.recv_evd;
    EXPECT_STATUS(IT_ERR_INVALID_AEVD, it_evd_modify(soft, IT_EVD_PARAM_AEVD_HANDLE, &join));
    join.aevd = (it_evd_handle_t)(void *)node.pz;
    EXPECT_STATUS(IT_ERR_INVALID_AEVD, it_evd_modify(soft, IT_EVD_PARAM_AEVD_HANDLE, &join));
    join.aevd = aevd;
    EXPECT_STATUS(IT_ERR_INVALID_AEVD,
                  it_evd_modify(other.recv_evd, IT_EVD_PARAM_AEVD_HANDLE, &join));
    EXPECT_STATUS(IT_ERR_INVALID_EVD_STATE,
                  it_evd_modify(with_fd, IT_EVD_PARAM_AEVD_HANDLE, &join));
    CHECK_OK(it_evd_callback_attach(soft, ignore, NULL));
    EXPECT_STATUS(IT_ERR_INVALID_EVD_STATE, it_evd_modify(soft, IT_EVD_PARAM_AEVD_HANDLE, &join));
    CHECK_OK(it_evd_callback_detach(soft));
    EXPECT_OK(it_evd_modify(soft, IT_EVD_PARAM_AEVD_HANDLE, &join));
    EXPECT_OK(it_evd_modify(soft, IT_EVD_PARAM_AEVD_HANDLE, &join));
    EXPECT_STATUS(IT_ERR_EVD_BUSY, it_evd_free(aevd));
    EXPECT_STATUS(IT_ERR_INVALID_EVD_STATE, it_evd_callback_attach(soft, ignore, NULL));
    EXPECT_STATUS(IT_ERR_INVALID_EVD_STATE, it_evd_wait(soft, 0, &event, NULL));
    EXPECT_STATUS(IT_ERR_INVALID_EVD_STATE,
                  itx_evd_wait_n(soft, IT_TIMEOUT_INFINITE, 1, &event, &count, NULL));
    EXPECT_STATUS(IT_ERR_QUEUE_EMPTY, it_evd_dequeue(soft, &event));
    join.aevd = NULL;
    EXPECT_OK(it_evd_modify(soft, IT_EVD_PARAM_AEVD_HANDLE, &join));
    EXPECT_OK(it_evd_free(aevd));
    fx_node_close(&other);
    fx_node_close(&node);
    check_done();
}

/* ---- States ---------------------------------------------------------------------------------- */

Test(api_events, waiter_and_callback_exclude_each_other)
{
    struct waiter waiter;
    it_evd_handle_t soft;

    fx_node_open(&node);
    soft = fx_evd(&node, IT_SOFTWARE_EVENT_STREAM, 4, 0);
    waiter_start(&waiter, soft);
    EXPECT_STATUS(IT_ERR_EVD_WAIT, it_evd_callback_attach(soft, ignore, NULL));
    EXPECT_STATUS(IT_ERR_INVALID_EVD_STATE, it_evd_callback_detach(soft));
    EXPECT_STATUS(IT_ERR_QUEUE_EMPTY, it_evd_dequeue(soft, &event));
    CHECK_OK(it_evd_post_se(soft, NULL));
    waiter_ends(&waiter, IT_SUCCESS);

    CHECK_OK(it_evd_callback_attach(soft, ignore, NULL));
    EXPECT_STATUS(IT_ERR_CALLBACK_EXISTS, it_evd_callback_attach(soft, ignore, NULL));
    EXPECT_STATUS(IT_ERR_CALLBACK_EXISTS, it_evd_wait(soft, 0, &event, NULL));
    EXPECT_STATUS(IT_ERR_CALLBACK_EXISTS, it_evd_wait(soft, IT_TIMEOUT_INFINITE, &event, NULL));
    EXPECT_STATUS(IT_ERR_CALLBACK_EXISTS, itx_evd_wait_n(soft, 0, 1, &event, &count, NULL));
    EXPECT_STATUS(IT_ERR_QUEUE_EMPTY, it_evd_dequeue(soft, &event));
    EXPECT_STATUS(IT_ERR_QUEUE_EMPTY, itx_evd_dequeue_n(soft, 1, &event, &count));
    EXPECT_OK(it_evd_callback_detach(soft));
    EXPECT_STATUS(IT_ERR_INVALID_EVD_STATE, it_evd_callback_detach(soft));
    EXPECT_STATUS(IT_ERR_TIMEOUT_EXPIRED, it_evd_wait(soft, 0, &event, NULL));
    fx_node_close(&node);
    check_done();
}

Test(api_events, full_queue, .init = node_init, .fini = node_fini)
{
    it_evd_handle_t soft = fx_evd(&node, IT_SOFTWARE_EVENT_STREAM, 2, 0);

    CHECK_OK(it_evd_post_se(soft, NULL));
    CHECK_OK(it_evd_post_se(soft, NULL));
    EXPECT_STATUS(IT_ERR_EVD_QUEUE_FULL, it_evd_post_se(soft, NULL));
    CHECK_OK(it_evd_query(soft, IT_EVD_PARAM_OVERFLOWED, &params));
    EXPECT_EQ(IT_FALSE, params.evd_overflowed);
    fx_empty(node.aff_evd);
    CHECK_OK(it_evd_dequeue(soft, &event));
    EXPECT_OK(it_evd_post_se(soft, NULL));
    check_done();
}
