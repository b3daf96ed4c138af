/* SPDX-License-Identifier: BSD-2-Clause */
/* Event Dispatchers: waits, states, sizes, and an EVD that takes events of all kinds. */
#include "udapl_kit.h"

#include "support/it_fixture.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#define ALL_FLAGS ((DAT_EVD_FLAGS)(DAT_EVD_SOFTWARE_FLAG | DAT_EVD_DEFAULT_FLAG))
#define LONG      ((DAT_TIMEOUT)(FX_PATIENCE_MS * 1000))

static struct kit_side side;

static DAT_RETURN post(DAT_EVD_HANDLE evd, uintptr_t value)
{
    DAT_EVENT event = {.event_number = DAT_SOFTWARE_EVENT};

    event.event_data.software_event_data.pointer = (DAT_PVOID)value;
    return dat_evd_post_se(evd, &event);
}

static uintptr_t value_of(const DAT_EVENT *event)
{
    CHECK_EQ(DAT_SOFTWARE_EVENT, event->event_number);
    return (uintptr_t)event->event_data.software_event_data.pointer;
}

static void expect_value(DAT_EVD_HANDLE evd, uintptr_t value)
{
    DAT_EVENT event = kit_next(evd, DAT_SOFTWARE_EVENT);

    CHECK_EQ(value, value_of(&event));
}

static DAT_RETURN wait_for(DAT_EVD_HANDLE evd, DAT_TIMEOUT timeout, DAT_COUNT threshold,
                           DAT_COUNT *more)
{
    DAT_EVENT event;

    return dat_evd_wait(evd, timeout, threshold, &event, more);
}

static DAT_EVD_PARAM query(DAT_EVD_HANDLE evd)
{
    DAT_EVD_PARAM param;

    CHECK_DAT(dat_evd_query(evd, DAT_EVD_FIELD_ALL, &param));
    return param;
}

/* ---------------------------------------------------------------- a thread that waits */

struct waiter {
    pthread_t thread;
    DAT_EVD_HANDLE evd;
    DAT_COUNT threshold, more;
    DAT_EVENT event;
    DAT_RETURN result;
    _Atomic(int) id;
};

static void *waiter_main(void *argument)
{
    struct waiter *waiter = argument;

    atomic_store(&waiter->id, fx_thread_id());
    waiter->result = dat_evd_wait(waiter->evd, DAT_TIMEOUT_INFINITE, waiter->threshold,
                                  &waiter->event, &waiter->more);
    return NULL;
}

static void waiter_start(struct waiter *waiter, DAT_EVD_HANDLE evd, DAT_COUNT threshold)
{
    struct fx_patience patience = fx_patience_start("the waiter begins");

    memset(waiter, 0, sizeof(*waiter));
    waiter->evd = evd;
    waiter->threshold = threshold;
    CHECK_EQ(0, pthread_create(&waiter->thread, NULL, waiter_main, waiter));
    while (atomic_load(&waiter->id) == 0)
        fx_patience_check(&patience);
    fx_thread_sleeps(atomic_load(&waiter->id));
}

static DAT_RETURN waiter_end(struct waiter *waiter)
{
    CHECK_EQ(0, pthread_join(waiter->thread, NULL));
    return waiter->result;
}

/* ---------------------------------------------------------------- creation, arguments */

static void check_arguments(void)
{
    DAT_EVD_HANDLE evd = kit_evd(side.ia, 4, DAT_EVD_SOFTWARE_FLAG);
    DAT_EVENT event = {.event_number = DAT_SOFTWARE_EVENT};
    DAT_EVD_HANDLE made;
    DAT_EVD_PARAM param;
    DAT_COUNT more;

    EXPECT_TYPE(DAT_INVALID_PARAMETER,
                dat_evd_create(side.ia, 0, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG, &made));
    EXPECT_TYPE(DAT_INVALID_PARAMETER,
                dat_evd_create(side.ia, -1, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG, &made));
    EXPECT_TYPE(DAT_INVALID_HANDLE,
                dat_evd_create(side.ia, 4, (DAT_HANDLE)&more, DAT_EVD_DTO_FLAG, &made));
    EXPECT_TYPE(DAT_INVALID_PARAMETER,
                dat_evd_create(side.ia, 4, DAT_HANDLE_NULL, (DAT_EVD_FLAGS)0, &made));
    EXPECT_TYPE(DAT_INVALID_PARAMETER,
                dat_evd_create(side.ia, 4, DAT_HANDLE_NULL, (DAT_EVD_FLAGS)0x400, &made));
    EXPECT_TYPE(DAT_INVALID_PARAMETER,
                dat_evd_create(side.ia, 4, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG, NULL));
    EXPECT_TYPE(DAT_INVALID_PARAMETER, dat_evd_wait(evd, 0, 0, &event, &more));
    EXPECT_TYPE(DAT_INVALID_PARAMETER, dat_evd_wait(evd, 0, 5, &event, &more));
    EXPECT_TYPE(DAT_INVALID_PARAMETER, dat_evd_wait(evd, 0, 1, NULL, &more));
    EXPECT_TYPE(DAT_INVALID_PARAMETER, dat_evd_wait(evd, 0, 1, &event, NULL));
    EXPECT_TYPE(DAT_INVALID_PARAMETER, dat_evd_dequeue(evd, NULL));
    EXPECT_TYPE(DAT_INVALID_PARAMETER, dat_evd_query(evd, (DAT_EVD_PARAM_MASK)0x20, &param));
    EXPECT_TYPE(DAT_INVALID_PARAMETER, dat_evd_query(evd, DAT_EVD_FIELD_ALL, NULL));
    EXPECT_TYPE(DAT_INVALID_PARAMETER, dat_evd_resize(evd, 0));
    EXPECT_TYPE(DAT_INVALID_PARAMETER, dat_evd_post_se(evd, NULL));
    EXPECT_TYPE(DAT_INVALID_PARAMETER, post(side.recv, 1));
    event.event_number = DAT_DTO_COMPLETION_EVENT;
    EXPECT_TYPE(DAT_INVALID_PARAMETER, dat_evd_post_se(evd, &event));
    kit_is_empty(evd);
    CHECK_DAT(dat_evd_free(evd));
}

static void check_query(void)
{
    DAT_EVD_HANDLE evd = kit_evd(side.ia, 7, DAT_EVD_SOFTWARE_FLAG);
    DAT_EVD_PARAM param = query(evd);

    CHECK(param.ia_handle == side.ia);
    CHECK_EQ(7, param.evd_qlen);
    CHECK_EQ(DAT_EVD_SOFTWARE_FLAG, param.evd_flags);
    CHECK(param.cno_handle == DAT_HANDLE_NULL);
    CHECK(param.evd_state & DAT_EVD_STATE_ENABLED);
    CHECK(param.evd_state & DAT_EVD_STATE_WAITABLE);
    CHECK_DAT(dat_evd_disable(evd));
    CHECK_DAT(dat_evd_set_unwaitable(evd));
    param = query(evd);
    CHECK(param.evd_state & DAT_EVD_STATE_DISABLED);
    CHECK(param.evd_state & DAT_EVD_STATE_UNWAITABLE);
    CHECK(!(param.evd_state & DAT_EVD_STATE_ENABLED));
    CHECK(!(param.evd_state & DAT_EVD_STATE_WAITABLE));
    CHECK_DAT(dat_evd_enable(evd));
    CHECK_DAT(dat_evd_clear_unwaitable(evd));
    CHECK(query(evd).evd_state & DAT_EVD_STATE_ENABLED);
    CHECK(query(evd).evd_state & DAT_EVD_STATE_WAITABLE);
    CHECK_DAT(dat_evd_free(evd));
}

/* ---------------------------------------------------------------- waits */

static void check_software(void)
{
    DAT_EVD_HANDLE evd = kit_evd(side.ia, 3, DAT_EVD_SOFTWARE_FLAG);
    DAT_EVENT event;
    DAT_COUNT more = 99;

    for (uintptr_t k = 0; k < 3; k++)
        CHECK_DAT(post(evd, k));
    EXPECT_TYPE(DAT_QUEUE_FULL, post(evd, 3));
    for (uintptr_t k = 0; k < 3; k++) {
        CHECK_DAT(dat_evd_wait(evd, LONG, 1, &event, &more));
        CHECK_EQ(k, value_of(&event));
        CHECK_EQ(2 - k, more);
        CHECK(event.evd_handle == evd);
    }
    kit_is_empty(evd);
    EXPECT_TYPE(DAT_TIMEOUT_EXPIRED, wait_for(evd, 0, 1, &more));
    EXPECT_TYPE(DAT_TIMEOUT_EXPIRED, wait_for(evd, 1000, 1, &more));
    CHECK_EQ(0, more);
    CHECK_DAT(dat_evd_free(evd));
}

static void check_threshold(void)
{
    DAT_EVD_HANDLE evd = kit_evd(side.ia, 8, DAT_EVD_SOFTWARE_FLAG);
    struct waiter waiter;
    DAT_COUNT more = 99;

    CHECK_DAT(post(evd, 0));
    CHECK_DAT(post(evd, 1));
    EXPECT_TYPE(DAT_TIMEOUT_EXPIRED, wait_for(evd, 0, 3, &more));
    CHECK_EQ(2, more);
    EXPECT_TYPE(DAT_TIMEOUT_EXPIRED, wait_for(evd, 1000, 3, &more));
    waiter_start(&waiter, evd, 4);
    CHECK_DAT(post(evd, 2));
    fx_thread_sleeps(atomic_load(&waiter.id));
    CHECK_DAT(post(evd, 3));
    CHECK_DAT(waiter_end(&waiter));
    CHECK_EQ(0, value_of(&waiter.event));
    CHECK_EQ(3, waiter.more);
    /* The threshold was for that call only. */
    CHECK_DAT(wait_for(evd, 0, 1, &more));
    CHECK_DAT(wait_for(evd, 0, 1, &more));
    CHECK_DAT(wait_for(evd, 0, 1, &more));
    CHECK_EQ(0, more);
    CHECK_DAT(dat_evd_free(evd));
}

static void check_one_waiter(void)
{
    DAT_EVD_HANDLE evd = kit_evd(side.ia, 8, DAT_EVD_SOFTWARE_FLAG);
    struct waiter waiter;
    DAT_EVENT event;
    DAT_COUNT more;

    waiter_start(&waiter, evd, 1);
    EXPECT_TYPE(DAT_INVALID_STATE, wait_for(evd, 0, 1, &more));
    CHECK_DAT(post(evd, 1));
    CHECK_DAT(waiter_end(&waiter));
    EXPECT_TYPE(DAT_TIMEOUT_EXPIRED, wait_for(evd, 0, 1, &more));

    waiter_start(&waiter, evd, 1);
    CHECK_DAT(dat_evd_set_unwaitable(evd));
    EXPECT_TYPE(DAT_INVALID_STATE, waiter_end(&waiter));
    CHECK_DAT(post(evd, 2));
    EXPECT_TYPE(DAT_INVALID_STATE, wait_for(evd, 0, 1, &more));
    CHECK_DAT(dat_evd_dequeue(evd, &event));
    CHECK_EQ(2, value_of(&event));
    CHECK_DAT(dat_evd_clear_unwaitable(evd));
    EXPECT_TYPE(DAT_TIMEOUT_EXPIRED, wait_for(evd, 0, 1, &more));
    CHECK_DAT(dat_evd_free(evd));
}

static void check_free_while_waiting(void)
{
    DAT_EVD_HANDLE evd = kit_evd(side.ia, 8, DAT_EVD_SOFTWARE_FLAG);
    struct waiter waiter;

    waiter_start(&waiter, evd, 1);
    CHECK_DAT(dat_evd_free(evd));
    EXPECT_TYPE(DAT_ABORT, waiter_end(&waiter));
    EXPECT_TYPE(DAT_INVALID_STATE, dat_evd_free(side.recv)); /* the EP needs it */
    EXPECT_TYPE(DAT_INVALID_STATE, dat_evd_free(side.request));
    EXPECT_TYPE(DAT_INVALID_STATE, dat_evd_free(side.connect));
}

static void check_close_while_waiting(void)
{
    struct kit_side other;
    struct waiter waiter;

    kit_side_open(&other);
    waiter_start(&waiter, other.connect, 1);
    CHECK_DAT(dat_ia_close(other.ia, DAT_CLOSE_ABRUPT_FLAG));
    EXPECT_TYPE(DAT_ABORT, waiter_end(&waiter));
}

/* ---------------------------------------------------------------- sizes */

static void check_resize(void)
{
    DAT_EVD_HANDLE evd = kit_evd(side.ia, 4, DAT_EVD_SOFTWARE_FLAG);

    for (uintptr_t k = 0; k < 4; k++)
        CHECK_DAT(post(evd, k));
    EXPECT_TYPE(DAT_INVALID_STATE, dat_evd_resize(evd, 3));
    CHECK_EQ(4, query(evd).evd_qlen);
    CHECK_DAT(dat_evd_resize(evd, 100));
    CHECK_EQ(100, query(evd).evd_qlen);
    for (uintptr_t k = 4; k < 100; k++)
        CHECK_DAT(post(evd, k));
    for (uintptr_t k = 0; k < 100; k++)
        expect_value(evd, k);
    CHECK_DAT(dat_evd_resize(evd, 1));
    CHECK_DAT(dat_evd_free(evd));
}

#define LOAD 20000u

static void *post_all(void *argument)
{
    struct fx_patience patience = fx_patience_start("there is room");

    for (uintptr_t k = 0; k < LOAD; k++)
        while (post(argument, k) != DAT_SUCCESS)
            fx_patience_check(&patience);
    return NULL;
}

static _Atomic(bool) resizes;

static void *resize_all(void *argument)
{
    for (unsigned k = 0; atomic_load(&resizes); k++) {
        DAT_RETURN result = dat_evd_resize(argument, 8 + (DAT_COUNT)(k % 7) * 16);

        CHECK(result == DAT_SUCCESS || DAT_GET_TYPE(result) == DAT_INVALID_STATE);
    }
    return NULL;
}

/* One thread posts, one dequeues, one resizes. Each event comes once, in order. */
static void check_resize_under_load(void)
{
    DAT_EVD_HANDLE evd = kit_evd(side.ia, 64, DAT_EVD_SOFTWARE_FLAG);
    pthread_t poster, resizer;

    atomic_store(&resizes, true);
    CHECK_EQ(0, pthread_create(&resizer, NULL, resize_all, evd));
    CHECK_EQ(0, pthread_create(&poster, NULL, post_all, evd));
    for (uintptr_t k = 0; k < LOAD; k++)
        expect_value(evd, k);
    atomic_store(&resizes, false);
    CHECK_EQ(0, pthread_join(poster, NULL));
    CHECK_EQ(0, pthread_join(resizer, NULL));
    CHECK_DAT(dat_evd_free(evd));
}

/* ---------------------------------------------------------------- one EVD for everything */

#define MESSAGES 8u

static DAT_EP_HANDLE mixed_ep(const struct kit_side *one, DAT_EVD_HANDLE evd)
{
    struct kit_side mixed = *one;

    mixed.recv = mixed.request = mixed.connect = evd;
    return kit_ep(&mixed);
}

static void post_recv(DAT_EP_HANDLE ep, DAT_UINT64 cookie)
{
    CHECK_DAT(dat_ep_post_recv(ep, 0, NULL, kit_cookie(cookie), DAT_COMPLETION_DEFAULT_FLAG));
}

static void expect_done(DAT_EVD_HANDLE evd, DAT_DTO_COMPLETION_STATUS status, DAT_UINT64 cookie)
{
    DAT_EVENT event = kit_next(evd, DAT_DTO_COMPLETION_EVENT);
    const DAT_DTO_COMPLETION_EVENT_DATA *done = &event.event_data.dto_completion_event_data;

    CHECK_EQ(cookie, done->user_cookie.as_64);
    CHECK_EQ(status, done->status);
}

/* The passive end of a connection, from the request to the completions that its end flushes. */
static void check_mixed(void)
{
    DAT_EVD_HANDLE evd = kit_evd(side.ia, 64, ALL_FLAGS);
    DAT_EP_HANDLE ep = mixed_ep(&side, evd);
    struct kit_side other;
    DAT_CONN_QUAL qual;
    DAT_PSP_HANDLE psp;
    DAT_EVENT event;

    kit_side_open(&other);
    CHECK_DAT(dat_psp_create_any(side.ia, &qual, evd, DAT_PSP_CONSUMER_FLAG, &psp));
    kit_connect(&other, other.ep, qual);
    event = kit_next(evd, DAT_CONNECTION_REQUEST_EVENT);
    for (DAT_UINT64 k = 0; k < 2 * MESSAGES; k++)
        post_recv(ep, k);
    CHECK_DAT(dat_cr_accept(event.event_data.cr_arrival_event_data.cr_handle, ep, 0, NULL));
    (void)kit_next(other.connect, DAT_CONNECTION_EVENT_ESTABLISHED);
    (void)kit_next(evd, DAT_CONNECTION_EVENT_ESTABLISHED);
    CHECK_DAT(post(evd, 77));
    for (DAT_UINT64 k = 0; k < MESSAGES; k++)
        CHECK_DAT(dat_ep_post_send(other.ep, 0, NULL, kit_cookie(k), DAT_COMPLETION_DEFAULT_FLAG));
    for (DAT_UINT64 k = 0; k < MESSAGES; k++)
        (void)kit_done(other.request, kit_cookie(k));
    CHECK_DAT(dat_ep_disconnect(other.ep, DAT_CLOSE_ABRUPT_FLAG));
    (void)kit_next(other.connect, DAT_CONNECTION_EVENT_DISCONNECTED);

    expect_value(evd, 77);
    for (DAT_UINT64 k = 0; k < 2 * MESSAGES; k++)
        expect_done(evd, k < MESSAGES ? DAT_DTO_SUCCESS : DAT_DTO_ERR_FLUSHED, k);
    (void)kit_next(evd, DAT_CONNECTION_EVENT_DISCONNECTED);
    kit_is_empty(evd);
    CHECK_DAT(dat_psp_free(psp));
    CHECK_DAT(dat_ep_free(ep));
    CHECK_DAT(dat_evd_free(evd));
    kit_side_close(&other);
}

/* An event for a full EVD is an error of the IA. Devices keep completions below the EVD. */
static void check_overflow(void)
{
    struct kit_side one, other;
    DAT_EVENT event;

    kit_side_open(&one);
    kit_side_open(&other);
    CHECK_DAT(dat_evd_resize(one.recv, 1));
    kit_join(&one, &other);
    post_recv(one.ep, 1);
    post_recv(one.ep, 2);
    CHECK_DAT(dat_ep_disconnect(one.ep, DAT_CLOSE_ABRUPT_FLAG));
    if (kit_is_uiwarp(one.ia)) {
        event = kit_next(one.async, DAT_ASYNC_ERROR_EVD_OVERFLOW);
        CHECK(event.event_data.asynch_error_event_data.dat_handle == one.recv);
        CHECK_EQ(DAT_EVD_OVERFLOW_ERROR, event.event_data.asynch_error_event_data.reason);
        kit_is_empty(one.async);
    }
    expect_done(one.recv, DAT_DTO_ERR_FLUSHED, 1);
    (void)kit_next(other.connect, DAT_CONNECTION_EVENT_DISCONNECTED);
    kit_side_close(&other);
    kit_side_close(&one);
}

/* An IA opened without an EVD for its errors takes the first such EVD that is made. */
static void check_async_made_later(void)
{
    DAT_EVD_HANDLE async = DAT_EVD_ASYNC_EXISTS, recv, second;
    DAT_IA_HANDLE ia;
    char name[] = KIT_IA;

    CHECK_DAT(dat_ia_open(name, 8, &async, &ia));
    async = kit_evd(ia, 8, DAT_EVD_ASYNC_FLAG);
    second = kit_evd(ia, 8, ALL_FLAGS);
    recv = kit_evd(ia, 1, DAT_EVD_DTO_FLAG);
    CHECK_DAT(dat_evd_free(recv));
    kit_is_empty(async);
    kit_is_empty(second);
    EXPECT_TYPE(DAT_INVALID_STATE, dat_ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG));
    CHECK_DAT(dat_evd_free(second));
    CHECK_DAT(dat_evd_free(async));
    CHECK_DAT(dat_ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG));
}

/* Opens an IA whose errors go to the EVD of another IA. */
static void join_async(struct kit_side *one)
{
    char name[] = KIT_IA;

    one->async = side.async;
    CHECK_DAT(dat_ia_open(name, 8, &one->async, &one->ia));
    CHECK(one->async == side.async);
    CHECK_DAT(dat_pz_create(one->ia, &one->pz));
    one->request = kit_evd(one->ia, 64, DAT_EVD_DTO_FLAG);
    one->recv = kit_evd(one->ia, 1, DAT_EVD_DTO_FLAG);
    one->connect = kit_evd(one->ia, 8, DAT_EVD_CONNECTION_FLAG);
    one->ep = kit_ep(one);
}

static void check_async_shared(void)
{
    struct kit_side one, other;
    DAT_EVD_HANDLE bad = side.recv;
    DAT_IA_HANDLE ia;
    DAT_EVENT event;
    char name[] = KIT_IA;

    EXPECT_TYPE(DAT_INVALID_HANDLE, dat_ia_open(name, 8, &bad, &ia));
    join_async(&one);
    EXPECT_TYPE(DAT_INVALID_STATE, dat_evd_free(side.async));
    kit_side_open(&other);
    kit_join(&one, &other);
    post_recv(one.ep, 1);
    post_recv(one.ep, 2);
    CHECK_DAT(dat_ep_disconnect(one.ep, DAT_CLOSE_ABRUPT_FLAG));
    if (kit_is_uiwarp(one.ia)) {
        event = kit_next(side.async, DAT_ASYNC_ERROR_EVD_OVERFLOW);
        CHECK(event.event_data.asynch_error_event_data.dat_handle == one.recv);
    }
    (void)kit_next(other.connect, DAT_CONNECTION_EVENT_DISCONNECTED);
    CHECK_DAT(dat_ia_close(one.ia, DAT_CLOSE_ABRUPT_FLAG));
    kit_is_empty(side.async);
    /* The IA that has made the EVD may be closed first. */
    kit_side_close(&side);
    kit_side_open(&side);
    join_async(&one);
    kit_side_close(&side);
    CHECK_DAT(dat_ia_close(one.ia, DAT_CLOSE_ABRUPT_FLAG));
    kit_side_open(&side);
    kit_side_close(&other);
}

int main(void)
{
    kit_side_open(&side);
    check_arguments();
    check_query();
    check_software();
    check_threshold();
    check_one_waiter();
    check_free_while_waiting();
    check_close_while_waiting();
    check_resize();
    check_resize_under_load();
    check_mixed();
    check_overflow();
    check_async_made_later();
    check_async_shared();
    kit_side_close(&side);
    check_done();
    return 0;
}
