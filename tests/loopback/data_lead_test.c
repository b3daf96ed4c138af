/* SPDX-License-Identifier: BSD-2-Clause */
/* itx_ia_lead_begin, itx_ia_lead_end: a thread in its own poll does the work of an IA. */
#include <criterion/criterion.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "support/it_fixture.h"

#define ROUNDS 200u

static struct {
    struct fx_pair pair;
    struct fx_buf a, b;
} bed;

static void bed_open(void)
{
    fx_pair_open(&bed.pair);
    bed.a = fx_node_buf(&bed.pair.a, 64);
    bed.b = fx_node_buf(&bed.pair.b, 64);
}

static void bed_close(void)
{
    fx_pair_close(&bed.pair);
    check_done();
}

/* Begins to lead. The IA's thread may lead at this moment, so this repeats. */
static int begin(void)
{
    int fd = -1;

    FX_WAIT_WHILE(itx_ia_lead_begin(bed.pair.b.ia, &fd) == IT_ERR_WAITER_LIMIT, "the lead");
    CHECK(fd >= 0);
    return fd;
}

static void end(it_boolean_t work)
{
    CHECK_OK(itx_ia_lead_end(bed.pair.b.ia, work));
}

static void await_readable(int fd)
{
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN};

    CHECK_EQ(1, poll(&poll_fd, 1, -1));
}

static void send_one(void)
{
    fx_send(bed.pair.a_ep, &bed.a, 0, 8, 1, FX_SIGNAL);
    fx_done(bed.pair.a.request_evd, bed.pair.a_ep, IT_DTO_SEND_CMPL_EVENT, 1, IT_DTO_SUCCESS);
}

/* Leads until a message has come. */
static void *leads_once(void *unused)
{
    int fd;

    fx_recv(bed.pair.b_ep, &bed.b, 0, 8, 1);
    fd = begin();
    send_one();
    await_readable(fd);
    end(IT_TRUE);
    return unused;
}

/* ---- Callbacks ------------------------------------------------------------------------------ */

struct call {
    atomic_uint count;
    pthread_t thread;
    it_status_t answer;
};

static void note(it_evd_handle_t evd, void *argument)
{
    struct call *call = argument;
    it_event_t event;

    CHECK_OK(it_evd_dequeue(evd, &event));
    call->thread = pthread_self();
    call->answer = itx_ia_lead_end(bed.pair.b.ia, IT_TRUE);
    atomic_fetch_add(&call->count, 1);
}

Test(data_lead, a_callback_runs_in_the_thread_that_leads, .init = bed_open, .fini = bed_close)
{
    struct call call = {.count = 0};

    CHECK_OK(it_evd_callback_attach(bed.pair.b.recv_evd, note, &call));
    for (unsigned i = 0; i < ROUNDS; i++) {
        (void)leads_once(NULL);
        CHECK_EQ(i + 1, atomic_load(&call.count));
        CHECK(pthread_equal(pthread_self(), call.thread));
        CHECK_EQ(IT_ERR_INVALID_EVD_STATE, call.answer);
    }
    CHECK_OK(it_evd_callback_detach(bed.pair.b.recv_evd));
}

/* A callback on the IA's thread asks to lead, which is not supported. */
static void ask(it_evd_handle_t evd, void *argument)
{
    struct call *call = argument;
    it_event_t event;
    int fd;

    CHECK_OK(it_evd_dequeue(evd, &event));
    call->answer = itx_ia_lead_begin(bed.pair.b.ia, &fd);
    atomic_fetch_add(&call->count, 1);
}

Test(data_lead, without_a_leader_the_ia_s_thread_reads, .init = bed_open, .fini = bed_close)
{
    struct call call = {.count = 0};

    CHECK_OK(it_evd_callback_attach(bed.pair.b.recv_evd, ask, &call));
    (void)begin();
    end(IT_FALSE);
    fx_recv(bed.pair.b_ep, &bed.b, 0, 8, 1);
    send_one();
    FX_WAIT_WHILE(atomic_load(&call.count) == 0, "the callback");
    CHECK_EQ(IT_ERR_OP_NOT_SUPPORTED, call.answer);
    CHECK_OK(it_evd_callback_detach(bed.pair.b.recv_evd));
}

static uint64_t wakeups(void)
{
    struct itx_counters counters = {.size = sizeof(counters)};

    CHECK_OK(itx_ia_stats(bed.pair.b.ia, &counters));
    return counters.thread_wakeups;
}

struct late_call {
    atomic_uint count;
    uint64_t wakeups;
};

static void count_wakeups(it_evd_handle_t evd, void *argument)
{
    struct late_call *call = argument;
    it_event_t event;

    CHECK_OK(it_evd_dequeue(evd, &event));
    call->wakeups = wakeups();
    atomic_fetch_add(&call->count, 1);
}

/*
 * Returns how often at most the IA's thread looks before it reads, in place of a thread that has
 * led and does not come back. (It does not look if it had begun to watch the streams before.)
 */
static uint64_t most_looks(uint64_t enough)
{
    struct late_call call = {.count = 0};
    uint64_t most = 0;

    CHECK_OK(it_evd_callback_attach(bed.pair.b.recv_evd, count_wakeups, &call));
    for (unsigned i = 0; i < ROUNDS && most < enough; i++) {
        uint64_t before;

        (void)leads_once(NULL);
        FX_WAIT_WHILE(atomic_load(&call.count) == 2 * i, "the first callback");
        before = wakeups();
        fx_recv(bed.pair.b_ep, &bed.b, 0, 8, 1);
        send_one();
        FX_WAIT_WHILE(atomic_load(&call.count) == 2 * i + 1, "the second callback");
        most = call.wakeups - before > most ? call.wakeups - before : most;
    }
    CHECK_OK(it_evd_callback_detach(bed.pair.b.recv_evd));
    return most;
}

Test(data_lead, a_thread_that_has_led_is_expected_back, .init = bed_open, .fini = bed_close)
{
    CHECK(most_looks(8) >= 8);
}

static void *wants_to_lead(void *unused)
{
    int fd;

    CHECK_STATUS(IT_ERR_WAITER_LIMIT, itx_ia_lead_begin(bed.pair.b.ia, &fd));
    return unused;
}

/* Threads that sleep without leading depend on the one that leads. */
Test(data_lead, among_others_it_is_not, .init = bed_open, .fini = bed_close)
{
    pthread_t thread;

    (void)begin();
    CHECK_EQ(0, pthread_create(&thread, NULL, wants_to_lead, NULL));
    CHECK_EQ(0, pthread_join(thread, NULL));
    end(IT_FALSE);
    CHECK(most_looks(8) < 8);
}

/* ---- Two threads that run callbacks --------------------------------------------------------- */

/* A callback in a thread that leads, and one in the IA's thread that detaches it meanwhile. */
struct meeting {
    atomic_bool entered;  /* the first one runs */
    atomic_bool may_end;  /* and may return */
    atomic_bool left;     /* and does so */
    atomic_int detacher;  /* the other one's thread, once it runs */
    atomic_bool detached; /* its call has returned */
    bool had_left;        /* by then */
    it_status_t freed;    /* what the first one got for it_ia_free, */
    it_status_t answer;   /* and the other one for its call */
};

static void stays(it_evd_handle_t evd, void *argument)
{
    struct meeting *meeting = argument;
    it_event_t event;

    CHECK_OK(it_evd_dequeue(evd, &event));
    meeting->freed = it_ia_free(bed.pair.b.ia);
    atomic_store(&meeting->entered, true);
    FX_WAIT_WHILE(!atomic_load(&meeting->may_end), "the end of the callback");
    atomic_store(&meeting->left, true);
}

static void detaches(it_evd_handle_t evd, void *argument)
{
    struct meeting *meeting = argument;
    it_event_t event;

    CHECK_OK(it_evd_dequeue(evd, &event));
    atomic_store(&meeting->detacher, fx_thread_id());
    meeting->answer = it_evd_callback_detach(bed.pair.b.recv_evd);
    meeting->had_left = atomic_load(&meeting->left);
    atomic_store(&meeting->detached, true);
}

Test(data_lead, who_detaches_waits_for_a_callback_in_another_thread, .init = bed_open,
     .fini = bed_close)
{
    struct meeting meeting = {.had_left = false};
    it_evd_handle_t other = fx_evd(&bed.pair.b, IT_SOFTWARE_EVENT_STREAM, 1, IT_THRESHOLD_DISABLE);
    pthread_t leader;

    CHECK_OK(it_evd_callback_attach(bed.pair.b.recv_evd, stays, &meeting));
    CHECK_OK(it_evd_callback_attach(other, detaches, &meeting));
    CHECK_EQ(0, pthread_create(&leader, NULL, leads_once, NULL));
    FX_WAIT_WHILE(!atomic_load(&meeting.entered), "the first callback");
    CHECK_OK(it_evd_post_se(other, NULL));
    FX_WAIT_WHILE(atomic_load(&meeting.detacher) == 0, "the second callback");
    fx_thread_sleeps(atomic_load(&meeting.detacher));
    CHECK(!atomic_load(&meeting.detached));
    atomic_store(&meeting.may_end, true);
    FX_WAIT_WHILE(!atomic_load(&meeting.detached), "the call to detach");
    CHECK(meeting.had_left);
    CHECK_OK(meeting.answer);
    CHECK_EQ(IT_ERR_EVD_BUSY, meeting.freed);
    CHECK_EQ(0, pthread_join(leader, NULL));
    CHECK_OK(it_evd_free(other));
}

/* A callback that detaches itself, and whose EVD must not be freed. */
static void detaches_itself(it_evd_handle_t evd, void *argument)
{
    struct call *call = argument;
    it_event_t event;

    CHECK_OK(it_evd_dequeue(evd, &event));
    CHECK_EQ(IT_ERR_EVD_BUSY, it_evd_free(evd));
    call->answer = it_evd_callback_detach(evd);
    atomic_fetch_add(&call->count, 1);
}

Test(data_lead, a_callback_in_the_thread_that_leads_detaches_itself, .init = bed_open,
     .fini = bed_close)
{
    struct call call = {.count = 0};

    CHECK_OK(it_evd_callback_attach(bed.pair.b.recv_evd, detaches_itself, &call));
    (void)leads_once(NULL);
    CHECK_EQ(1, atomic_load(&call.count));
    CHECK_OK(call.answer);
    CHECK_STATUS(IT_ERR_INVALID_EVD_STATE, it_evd_callback_detach(bed.pair.b.recv_evd));
}

/* ---- Others --------------------------------------------------------------------------------- */

static void *waits(void *argument)
{
    int *id = argument;
    int fd;

    CHECK_STATUS(IT_ERR_WAITER_LIMIT, itx_ia_lead_begin(bed.pair.b.ia, &fd));
    atomic_store((_Atomic int *)id, fx_thread_id());
    (void)fx_wait(bed.pair.b.recv_evd);
    return NULL;
}

Test(data_lead, one_thread_leads_and_works_for_others, .init = bed_open, .fini = bed_close)
{
    pthread_t thread;
    _Atomic int id = 0;
    int fd = begin();

    fx_recv(bed.pair.b_ep, &bed.b, 0, 8, 1);
    CHECK_EQ(0, pthread_create(&thread, NULL, waits, &id));
    FX_WAIT_WHILE(atomic_load(&id) == 0, "the other thread");
    fx_thread_sleeps(id);
    send_one();
    await_readable(fd);
    end(IT_TRUE); /* this call has read it, or the other thread does */
    CHECK_EQ(0, pthread_join(thread, NULL));
}

struct sleeper {
    atomic_int id;
    atomic_bool over; /* the freeze begins */
};

/* Leads again if what is left of the connection's beginning has ended the sleep. */
static void *sleeps(void *argument)
{
    struct sleeper *sleeper = argument;
    int fd;

    while (!atomic_load(&sleeper->over))
        if (itx_ia_lead_begin(bed.pair.b.ia, &fd) == IT_SUCCESS) {
            atomic_store(&sleeper->id, fx_thread_id());
            await_readable(fd);
            end(IT_TRUE);
        }
    return NULL;
}

Test(data_lead, a_freeze_calls_the_leader_home, .init = bed_open, .fini = bed_close)
{
    struct sleeper sleeper = {.id = 0};
    pthread_t thread;

    CHECK_EQ(0, pthread_create(&thread, NULL, sleeps, &sleeper));
    FX_WAIT_WHILE(atomic_load(&sleeper.id) == 0, "the other thread");
    fx_thread_sleeps(atomic_load(&sleeper.id));
    atomic_store(&sleeper.over, true);
    CHECK_OK(itx_ia_freeze(bed.pair.b.ia));
    CHECK_EQ(0, pthread_join(thread, NULL));
    CHECK_OK(itx_ia_thaw(bed.pair.b.ia));
    CHECK_OK(itx_ep_claim(bed.pair.b_ep));
    fx_pair_ping(&bed.pair);
}
