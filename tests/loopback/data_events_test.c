/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Many EVDs of one IA at work together: one thread for each, all behind one aggregate, and
 * descriptors in poll and epoll, which wake for each message and for nothing else.
 */
#include <criterion/criterion.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "support/it_fixture.h"
#include "support/test_row.h"

#define ENDS     8u
#define MESSAGES 100u

/* Endpoints, each with its own receive EVD at b. */
struct fan {
    struct fx_node a;
    struct fx_node b;
    it_ep_handle_t from[ENDS];
    it_ep_handle_t to[ENDS];
    it_evd_handle_t evds[ENDS];
};

static void fan_open(struct fan *fan, it_evd_handle_t aevd)
{
    it_ep_attributes_t attr = fx_ep_attr();

    attr.max_recv_dtos = MESSAGES;
    for (unsigned i = 0; i < ENDS; i++) {
        CHECK_OK(it_evd_create(fan->b.ia, IT_DTO_EVENT_STREAM, (it_evd_flags_t)0, 2 * MESSAGES, 0,
                               aevd, &fan->evds[i], NULL));
        fan->from[i] = fx_ep(&fan->a, NULL);
        CHECK_OK(it_ep_rc_create(fan->b.pz, fan->b.request_evd, fan->evds[i], fan->b.conn_evd,
                                 IT_EP_REUSEADDR, &attr, &fan->to[i]));
        for (uint64_t m = 0; m < MESSAGES; m++)
            CHECK_OK(it_post_recv(fan->to[i], NULL, 0, m, FX_SIGNAL));
        fx_join(&fan->a, fan->from[i], &fan->b, fan->to[i]);
    }
}

/* Sends all messages, from the ends in random order. */
static void fan_send(struct fan *fan)
{
    unsigned sent[ENDS] = {0};
    unsigned left = ENDS * MESSAGES;
    uint32_t state = 5;

    while (left > 0) {
        unsigned i = fx_random(&state) % ENDS;
        it_status_t status;

        if (sent[i] == MESSAGES)
            continue;
        status = it_post_send(fan->from[i], NULL, 0, sent[i], FX_SIGNAL);
        if (status == IT_ERR_TOO_MANY_POSTS) {
            CHECK_EQ(IT_DTO_SUCCESS, fx_next(fan->a.request_evd).dto_cmpl.dto_status);
            continue;
        }
        CHECK_OK(status);
        sent[i]++;
        left--;
    }
}

static void fan_close(struct fan *fan)
{
    fx_node_close(&fan->a);
    fx_node_close(&fan->b);
}

/* ---- A thread for each EVD ------------------------------------------------------------------- */

struct taker {
    pthread_t thread;
    it_evd_handle_t evd;
    it_ep_handle_t ep;
};

static void *take(void *argument)
{
    struct taker *taker = argument;

    for (uint64_t m = 0; m < MESSAGES; m++) {
        it_event_t event = fx_wait(taker->evd);

        CHECK_EQ(IT_DTO_SUCCESS, event.dto_cmpl.dto_status);
        CHECK(event.dto_cmpl.ep == taker->ep);
        CHECK(event.dto_cmpl.evd == taker->evd);
        CHECK_EQ(m, event.dto_cmpl.cookie);
    }
    return NULL;
}

Test(data_events, a_thread_on_each_evd)
{
    struct taker takers[ENDS];
    struct fan fan;

    fx_node_open(&fan.a);
    fx_node_open(&fan.b);
    fan_open(&fan, NULL);
    for (unsigned i = 0; i < ENDS; i++) {
        takers[i].evd = fan.evds[i];
        takers[i].ep = fan.to[i];
        CHECK(pthread_create(&takers[i].thread, NULL, take, &takers[i]) == 0);
    }
    fan_send(&fan);
    for (unsigned i = 0; i < ENDS; i++)
        CHECK(pthread_join(takers[i].thread, NULL) == 0);
    fan_close(&fan);
}

/* ---- One aggregate for all ------------------------------------------------------------------- */

struct crowd {
    struct fan fan;
    it_evd_handle_t aevd;
    atomic_uint taken;
    atomic_uint next[ENDS]; /* cookie expected */
};

static void crowd_count(struct crowd *crowd, const it_event_t *event)
{
    CHECK_EQ(IT_DTO_SUCCESS, event->dto_cmpl.dto_status);
    for (unsigned i = 0; i < ENDS; i++) {
        if (event->dto_cmpl.evd == crowd->fan.evds[i]) {
            CHECK(event->dto_cmpl.ep == crowd->fan.to[i]);
            atomic_fetch_add(&crowd->next[i], 1);
        }
    }
    atomic_fetch_add(&crowd->taken, 1);
}

static void *crowd_take(void *argument)
{
    struct crowd *crowd = argument;
    it_event_t events[5];
    size_t count;

    while (atomic_load(&crowd->taken) < ENDS * MESSAGES) {
        it_status_t status = itx_evd_wait_n(crowd->aevd, 5000, 5, events, &count, NULL);

        if (status == IT_ERR_TIMEOUT_EXPIRED)
            continue;
        CHECK_OK(status);
        for (size_t i = 0; i < count; i++)
            crowd_count(crowd, &events[i]);
    }
    return NULL;
}

Test(data_events, threads_on_one_aggregate)
{
    struct crowd crowd;
    pthread_t threads[3];

    memset(&crowd, 0, sizeof(crowd));
    fx_node_open(&crowd.fan.a);
    fx_node_open(&crowd.fan.b);
    CHECK_OK(it_evd_create(crowd.fan.b.ia, IT_AEVD_NOTIFICATION_EVENT_STREAM, (it_evd_flags_t)0, 0,
                           0, NULL, &crowd.aevd, NULL));
    fan_open(&crowd.fan, crowd.aevd);
    for (unsigned i = 0; i < 3; i++)
        CHECK(pthread_create(&threads[i], NULL, crowd_take, &crowd) == 0);
    fan_send(&crowd.fan);
    for (unsigned i = 0; i < 3; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    for (unsigned i = 0; i < ENDS; i++)
        CHECK_EQ(MESSAGES, atomic_load(&crowd.next[i]));
    fan_close(&crowd.fan);
}

/* ---- Descriptors ----------------------------------------------------------------------------- */

struct watch {
    pthread_t thread;
    it_evd_handle_t evd;
    int fd;
    int set;           /* epoll, or -1: poll */
    unsigned triggers; /* EPOLLET or 0 */
    unsigned wanted;
    unsigned threshold;
    atomic_uint taken;
    unsigned wakes;
    unsigned empty_wakes;
};

static void watch_sleep(const struct watch *watch)
{
    struct pollfd poll_fd = {.fd = watch->fd, .events = POLLIN};
    struct epoll_event event;
    int ready = watch->set < 0 ? poll(&poll_fd, 1, FX_PATIENCE_MS)
                               : epoll_wait(watch->set, &event, 1, FX_PATIENCE_MS);

    CHECK_EQ(1, ready);
}

static void *watch_main(void *argument)
{
    struct watch *watch = argument;
    unsigned taken = 0;

    while (taken < watch->wanted) {
        unsigned before = taken;
        it_event_t event;

        watch_sleep(watch);
        watch->wakes++;
        while (it_evd_dequeue(watch->evd, &event) == IT_SUCCESS) {
            CHECK_EQ(IT_DTO_SUCCESS, event.dto_cmpl.dto_status);
            taken++;
            atomic_store(&watch->taken, taken);
        }
        if (taken == before)
            watch->empty_wakes++;
    }
    return NULL;
}

static void watch_start(struct watch *watch)
{
    struct epoll_event event = {.events = EPOLLIN | watch->triggers};

    atomic_init(&watch->taken, 0);
    if (watch->set >= 0) {
        watch->set = epoll_create1(EPOLL_CLOEXEC);
        CHECK(watch->set >= 0);
        CHECK(epoll_ctl(watch->set, EPOLL_CTL_ADD, watch->fd, &event) == 0);
    }
    CHECK(pthread_create(&watch->thread, NULL, watch_main, watch) == 0);
}

/* Sends as many messages as the threshold, and the next ones when those were taken. */
static void watch_one(int set, unsigned triggers, unsigned threshold)
{
    struct watch watch = {.set = set, .triggers = triggers, .threshold = threshold};
    it_ep_attributes_t attr = fx_ep_attr();
    struct fx_pair pair;
    unsigned step = threshold > 1 ? threshold : 1;

    watch.wanted = 20 * step;
    attr.max_recv_dtos = watch.wanted;
    memset(&pair, 0, sizeof(pair));
    fx_node_open(&pair.a);
    fx_node_open(&pair.b);
    CHECK_OK(it_evd_create(pair.b.ia, IT_DTO_EVENT_STREAM, IT_EVD_CREATE_FD, 512, threshold, NULL,
                           &pair.b.recv_evd, &watch.fd));
    watch.evd = pair.b.recv_evd;
    pair.a_ep = fx_ep(&pair.a, NULL);
    pair.b_ep = fx_ep(&pair.b, &attr);
    for (uint64_t i = 0; i < watch.wanted; i++)
        CHECK_OK(it_post_recv(pair.b_ep, NULL, 0, i, FX_SIGNAL));
    fx_join(&pair.a, pair.a_ep, &pair.b, pair.b_ep);
    watch_start(&watch);
    for (unsigned sent = 0; sent < watch.wanted;) {
        for (unsigned i = 0; i < step; i++, sent++) {
            CHECK_OK(it_post_send(pair.a_ep, NULL, 0, sent, FX_SIGNAL));
            fx_done(pair.a.request_evd, pair.a_ep, IT_DTO_SEND_CMPL_EVENT, sent, IT_DTO_SUCCESS);
        }
        FX_WAIT_WHILE(atomic_load(&watch.taken) < sent, "messages");
    }
    CHECK(pthread_join(watch.thread, NULL) == 0);
    CHECK_EQ(watch.wanted, atomic_load(&watch.taken));
    CHECK_EQ(0, watch.empty_wakes);
    CHECK(watch.wakes <= watch.wanted);
    if (watch.set >= 0)
        (void)close(watch.set);
    fx_pair_close(&pair);
}

TEST_ROW(data_events, descriptor_in_poll, watch_one, -1, 0, 0);
TEST_ROW(data_events, descriptor_in_epoll, watch_one, 0, 0, 0);
TEST_ROW(data_events, descriptor_in_epoll_edge_triggered, watch_one, 0, EPOLLET, 0);

Test(data_events, descriptor_with_threshold)
{
    watch_one(-1, 0, 3);
    watch_one(0, EPOLLET, 3);
}

/* Hundreds of events a second arrive on all members of an aggregate. The last one is not missed. */
static void watch_aggregate(int set, unsigned triggers)
{
    struct watch watch = {.set = set, .triggers = triggers, .wanted = ENDS * MESSAGES};
    struct fan fan;

    fx_node_open(&fan.a);
    fx_node_open(&fan.b);
    CHECK_OK(it_evd_create(fan.b.ia, IT_AEVD_NOTIFICATION_EVENT_STREAM, IT_EVD_CREATE_FD, 0, 0,
                           NULL, &watch.evd, &watch.fd));
    fan_open(&fan, watch.evd);
    watch_start(&watch);
    fan_send(&fan);
    CHECK(pthread_join(watch.thread, NULL) == 0);
    CHECK_EQ(watch.wanted, atomic_load(&watch.taken));
    if (watch.set >= 0)
        (void)close(watch.set);
    fan_close(&fan);
}

Test(data_events, descriptor_of_an_aggregate)
{
    watch_aggregate(-1, 0);
    watch_aggregate(0, 0);
    watch_aggregate(0, EPOLLET);
}
