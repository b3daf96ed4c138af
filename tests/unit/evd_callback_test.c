/* SPDX-License-Identifier: BSD-2-Clause */
/* Callbacks of EVDs: when they run, how often, and what may be done from inside. */
#include "evd/queue/evd.h"
#include "unit/fixture_evd.h"
#include "support/test_row.h"

#include <criterion/criterion.h>

#include <poll.h>
#include <semaphore.h>

TestSuite(evd_callback, .init = fixture_init, .fini = fixture_fini);

/* What a callback is told to do and what it has seen. */
struct probe {
    it_evd_handle_t evd; /* the EVD that the callback got */
    _Atomic unsigned runs;
    _Atomic unsigned taken;
    _Atomic unsigned inside;
    unsigned take; /* events per run; 0: all */
    bool holds;    /* posts .entered, then waits for .go */
    sem_t entered;
    sem_t go;
    it_status_t status;
    it_status_t (*act)(struct probe *probe); /* called first in the first run */
    struct probe *other;
};

static void probe_init(struct probe *probe)
{
    memset(probe, 0, sizeof(*probe));
    cr_assert_eq(sem_init(&probe->entered, 0, 0), 0);
    cr_assert_eq(sem_init(&probe->go, 0, 0), 0);
}

static void probe_run(it_evd_handle_t evd, void *argument)
{
    struct probe *probe = argument;
    it_event_t event;

    cr_assert_eq(atomic_fetch_add(&probe->inside, 1), 0);
    cr_assert(evd_loop_is_current(fixture.ia.loop));
    probe->evd = evd;
    if (probe->act && atomic_load(&probe->runs) == 0)
        probe->status = probe->act(probe);
    for (unsigned i = 0;
         (i < probe->take || probe->take == 0) && it_evd_dequeue(evd, &event) == IT_SUCCESS; i++)
        atomic_fetch_add(&probe->taken, 1);
    if (probe->holds) {
        sem_post(&probe->entered);
        sem_wait(&probe->go);
    }
    atomic_fetch_sub(&probe->inside, 1);
    atomic_fetch_add(&probe->runs, 1);
}

static void attach(it_evd_handle_t evd, struct probe *probe)
{
    cr_assert_eq(it_evd_callback_attach(evd, probe_run, probe), IT_SUCCESS);
}

static void await(_Atomic unsigned *counter, unsigned value)
{
    while (atomic_load(counter) < value)
        sched_yield();
    cr_assert_eq(atomic_load(counter), value);
}

static void nothing(void *argument)
{
    (void)argument;
}

/* Returns when the loop has finished its tasks, including those that a run submits. */
static void settle(void)
{
    for (int i = 0; i < 3; i++)
        evd_loop_call(fixture.ia.loop, nothing, NULL);
}

static it_evd_handle_t make(it_event_type_t stream, size_t threshold)
{
    return fixture_evd(&fixture, stream, 16, threshold, 0, NULL);
}

/* ---------------------------------------------------------------- arguments and state */

/* Events of connections may come a little later where a consumer polls: it reads them. */
Test(evd_callback, the_loop_is_relied_on_for_completions)
{
    static const struct {
        it_event_type_t stream;
        unsigned reliant;
    } rows[] = {{IT_DTO_EVENT_STREAM, 1},
                {IT_AEVD_NOTIFICATION_EVENT_STREAM, 1},
                {IT_CM_REQ_EVENT_STREAM, 0},
                {IT_CM_MSG_EVENT_STREAM, 0},
                {IT_ASYNC_AFF_EVENT_STREAM, 0}};

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        size_t size = rows[i].stream == IT_AEVD_NOTIFICATION_EVENT_STREAM ? 0 : 16;
        struct probe probe;
        int fd;
        it_evd_handle_t evd = fixture_evd(&fixture, rows[i].stream, size, 0, IT_EVD_CREATE_FD, &fd);

        probe_init(&probe);
        cr_assert_eq(atomic_load(&fixture.ia.reliant), rows[i].reliant);
        attach(evd, &probe);
        cr_assert_eq(atomic_load(&fixture.ia.reliant), 2 * rows[i].reliant);
        cr_assert_eq(it_evd_free(evd), IT_SUCCESS);
        cr_assert_eq(atomic_load(&fixture.ia.reliant), 0);
    }
}

Test(evd_callback, arguments)
{
    it_evd_handle_t evd = make(IT_SOFTWARE_EVENT_STREAM, 0);
    it_evd_handle_t aevd = fixture_aevd(&fixture, 0, NULL);
    it_evd_handle_t member = fixture_member(&fixture, aevd, IT_SOFTWARE_EVENT_STREAM, 0);
    struct fixture_waiter waiter;
    it_evd_param_t params;
    struct probe probe;

    probe_init(&probe);
    cr_assert_eq(it_evd_callback_attach(NULL, probe_run, NULL), IT_ERR_INVALID_EVD);
    cr_assert_eq(it_evd_callback_attach(evd, NULL, NULL), IT_ERR_FAULT);
    cr_assert_eq(it_evd_callback_detach(NULL), IT_ERR_INVALID_EVD);
    cr_assert_eq(it_evd_callback_detach(evd), IT_ERR_INVALID_EVD_STATE);
    cr_assert_eq(it_evd_callback_attach(member, probe_run, &probe), IT_ERR_INVALID_EVD_STATE);

    fixture_waiter_start(&waiter, evd, IT_TIMEOUT_INFINITE);
    fixture_await_sleepers(evd, 1);
    cr_assert_eq(it_evd_callback_attach(evd, probe_run, &probe), IT_ERR_EVD_WAIT);
    cr_assert_eq(fixture_post(evd, 1), IT_SUCCESS);
    cr_assert_eq(fixture_waiter_join(&waiter), IT_SUCCESS);

    attach(evd, &probe);
    cr_assert_eq(it_evd_callback_attach(evd, probe_run, &probe), IT_ERR_CALLBACK_EXISTS);
    cr_assert_eq(it_evd_query(evd, IT_EVD_PARAM_CALLBACK, &params), IT_SUCCESS);
    cr_assert_eq(params.evd_callback, IT_TRUE);
    cr_assert_eq(it_evd_callback_detach(evd), IT_SUCCESS);
    cr_assert_eq(it_evd_callback_detach(evd), IT_ERR_INVALID_EVD_STATE);
    cr_assert_eq(it_evd_query(evd, IT_EVD_PARAM_CALLBACK, &params), IT_SUCCESS);
    cr_assert_eq(params.evd_callback, IT_FALSE);
    cr_assert_eq(atomic_load(&fixture.ia.reliant), 0);

    atomic_store(&fixture.ia.failed, true);
    cr_assert_eq(it_evd_callback_attach(evd, probe_run, &probe), IT_ERR_IA_CATASTROPHE);
    atomic_store(&fixture.ia.failed, false);
    cr_assert_eq(it_evd_free(evd), IT_SUCCESS);
    cr_assert_eq(it_evd_callback_attach(evd, probe_run, NULL), IT_ERR_INVALID_EVD);
    cr_assert_eq(it_evd_callback_detach(evd), IT_ERR_INVALID_EVD);
}

/* ---------------------------------------------------------------- when it runs */

Test(evd_callback, runs_for_an_event_and_at_once_when_there_is_one)
{
    it_evd_handle_t evd = make(IT_SOFTWARE_EVENT_STREAM, 0);
    struct probe probe;

    probe_init(&probe);
    cr_assert_eq(fixture_post(evd, 1), IT_SUCCESS);
    attach(evd, &probe);
    await(&probe.runs, 1);
    cr_assert_eq(probe.evd, evd);
    cr_assert_eq(atomic_load(&probe.taken), 1);
    for (unsigned i = 2; i < 100; i++) {
        cr_assert_eq(fixture_post(evd, i), IT_SUCCESS);
        await(&probe.runs, i);
        cr_assert_eq(atomic_load(&probe.taken), i);
    }
    settle();
    cr_assert_eq(atomic_load(&probe.runs), 99);
}

Test(evd_callback, threshold_and_notification_events_as_for_a_waiter)
{
    it_evd_handle_t evd = make(IT_DTO_EVENT_STREAM, 3);
    struct probe probe;

    probe_init(&probe);
    cr_assert_eq(fixture_push_dto(evd, 1, true), EVD_PUSHED);
    attach(evd, &probe);
    cr_assert_eq(fixture_push_dto(evd, 2, false), EVD_PUSHED);
    settle();
    cr_assert_eq(atomic_load(&probe.runs), 0);
    cr_assert_eq(fixture_push_dto(evd, 3, false), EVD_PUSHED_WAKE);
    await(&probe.runs, 1);
    cr_assert_eq(atomic_load(&probe.taken), 3);
    /* Reaching the threshold alone does not start the callback. */
    for (uint64_t i = 4; i < 8; i++)
        cr_assert_eq(fixture_push_dto(evd, i, false), EVD_PUSHED);
    settle();
    cr_assert_eq(atomic_load(&probe.runs), 1);
    cr_assert_eq(fixture_push_dto(evd, 8, true), EVD_PUSHED_WAKE);
    await(&probe.runs, 2);
    cr_assert_eq(atomic_load(&probe.taken), 8);
    /* A failed completion starts it below the threshold. */
    cr_assert_eq(fixture_push_failed(evd, 9), EVD_PUSHED_WAKE);
    await(&probe.runs, 3);
    cr_assert_eq(atomic_load(&probe.taken), 9);
}

Test(evd_callback, disabled_evd_runs_nothing)
{
    it_evd_handle_t evd = make(IT_SOFTWARE_EVENT_STREAM, 0);
    it_evd_param_t params = {.evd_enabled = IT_FALSE};
    struct probe probe;

    probe_init(&probe);
    cr_assert_eq(it_evd_modify(evd, IT_EVD_PARAM_ENABLED, &params), IT_SUCCESS);
    attach(evd, &probe);
    cr_assert_eq(fixture_post(evd, 1), IT_SUCCESS);
    settle();
    cr_assert_eq(atomic_load(&probe.runs), 0);
    params.evd_enabled = IT_TRUE;
    cr_assert_eq(it_evd_modify(evd, IT_EVD_PARAM_ENABLED, &params), IT_SUCCESS);
    await(&probe.runs, 1);
}

Test(evd_callback, runs_again_as_long_as_the_evd_is_ready)
{
    it_evd_handle_t evd = make(IT_SOFTWARE_EVENT_STREAM, 0);
    struct probe probe;

    probe_init(&probe);
    probe.take = 1;
    for (uintptr_t i = 0; i < 10; i++)
        cr_assert_eq(fixture_post(evd, i), IT_SUCCESS);
    attach(evd, &probe);
    await(&probe.runs, 10);
    settle();
    cr_assert_eq(atomic_load(&probe.runs), 10);
    cr_assert_eq(atomic_load(&probe.taken), 10);
}

Test(evd_callback, event_that_comes_during_a_run_is_not_lost)
{
    it_evd_handle_t evd = make(IT_SOFTWARE_EVENT_STREAM, 0);
    struct probe probe;

    probe_init(&probe);
    probe.holds = true;
    attach(evd, &probe);
    for (unsigned i = 1; i < 50; i++) {
        cr_assert_eq(fixture_post(evd, i), IT_SUCCESS);
        /* The next event comes when the callback has found the EVD empty but has not returned. */
        sem_wait(&probe.entered);
        cr_assert_eq(fixture_post(evd, i), IT_SUCCESS);
        sem_post(&probe.go);
        sem_wait(&probe.entered);
        sem_post(&probe.go);
        await(&probe.runs, 2 * i);
        cr_assert_eq(atomic_load(&probe.taken), 2 * i);
    }
}

/* Keeps the loop busy. */
struct holder {
    struct evd_task task;
    sem_t entered;
    sem_t go;
};

static void hold_run(struct evd_task *task)
{
    struct holder *holder = (struct holder *)task;

    sem_post(&holder->entered);
    sem_wait(&holder->go);
}

static void holder_start(struct holder *holder)
{
    memset(holder, 0, sizeof(*holder));
    holder->task.run = hold_run;
    cr_assert_eq(sem_init(&holder->entered, 0, 0), 0);
    cr_assert_eq(sem_init(&holder->go, 0, 0), 0);
    cr_assert(evd_loop_submit(fixture.ia.loop, &holder->task));
    sem_wait(&holder->entered);
}

Test(evd_callback, nothing_to_say_when_somebody_was_faster)
{
    it_evd_handle_t evd = make(IT_SOFTWARE_EVENT_STREAM, 0);
    struct holder holder;
    struct probe probe;
    it_event_t event;

    probe_init(&probe);
    attach(evd, &probe);
    holder_start(&holder);
    cr_assert_eq(fixture_post(evd, 1), IT_SUCCESS);
    cr_assert_eq(it_evd_dequeue(evd, &event), IT_SUCCESS);
    sem_post(&holder.go);
    settle();
    cr_assert_eq(atomic_load(&probe.runs), 0);
    cr_assert_eq(fixture_post(evd, 2), IT_SUCCESS);
    await(&probe.runs, 1);
}

Test(evd_callback, aggregate)
{
    it_evd_handle_t aevd = fixture_aevd(&fixture, 0, NULL);
    it_evd_handle_t one = fixture_member(&fixture, aevd, IT_SOFTWARE_EVENT_STREAM, 0);
    it_evd_handle_t two = fixture_member(&fixture, aevd, IT_DTO_EVENT_STREAM, 2);
    struct probe probe;

    probe_init(&probe);
    attach(aevd, &probe);
    cr_assert_eq(fixture_post(one, 1), IT_SUCCESS);
    await(&probe.runs, 1);
    cr_assert_eq(atomic_load(&probe.taken), 1);
    (void)fixture_push_dto(two, 1, true);
    settle();
    cr_assert_eq(atomic_load(&probe.runs), 1);
    (void)fixture_push_dto(two, 2, true);
    await(&probe.runs, 2);
    cr_assert_eq(atomic_load(&probe.taken), 2); /* the run left the member below its threshold */
    cr_assert_eq(it_evd_callback_detach(aevd), IT_SUCCESS);
}

static void take_records(it_evd_handle_t aevd, void *argument)
{
    struct probe *probe = argument;
    it_event_t event;
    it_event_t taken;

    while (it_evd_dequeue(aevd, &event) == IT_SUCCESS) {
        cr_assert_eq(event.event_number, IT_AEVD_NOTIFICATION_EVENT);
        while (it_evd_dequeue(event.aevd_notify.sevd, &taken) == IT_SUCCESS)
            atomic_fetch_add(&probe->taken, 1);
    }
    atomic_fetch_add(&probe->runs, 1);
}

Test(evd_callback, aggregate_with_records)
{
    it_evd_handle_t aevd = fixture_aevd(&fixture, IT_EVD_DEQUEUE_NOTIFICATIONS, NULL);
    it_evd_handle_t members[2];
    struct probe probe;

    probe_init(&probe);
    for (int i = 0; i < 2; i++)
        members[i] = fixture_member(&fixture, aevd, IT_SOFTWARE_EVENT_STREAM, 0);
    cr_assert_eq(it_evd_callback_attach(aevd, take_records, &probe), IT_SUCCESS);
    for (unsigned i = 0; i < 200; i++) {
        cr_assert_eq(fixture_post(members[i % 2], i), IT_SUCCESS);
        if (i % 3 == 0)
            await(&probe.taken, i + 1);
    }
    await(&probe.taken, 200);
    cr_assert_eq(it_evd_callback_detach(aevd), IT_SUCCESS);
}

Test(evd_callback, descriptor_and_callback_together)
{
    int fd;
    it_evd_handle_t evd =
        fixture_evd(&fixture, IT_SOFTWARE_EVENT_STREAM, 4, 0, IT_EVD_CREATE_FD, &fd);
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
    struct holder holder;
    struct probe probe;

    probe_init(&probe);
    attach(evd, &probe);
    holder_start(&holder);
    cr_assert_eq(fixture_post(evd, 1), IT_SUCCESS);
    cr_assert_eq(poll(&poll_fd, 1, 0), 1);
    sem_post(&holder.go);
    await(&probe.runs, 1);
    cr_assert_eq(poll(&poll_fd, 1, 0), 0);
}

/* ---------------------------------------------------------------- fairness */

static it_evd_handle_t endless;
static _Atomic bool endless_over;
static _Atomic unsigned flushes;

static void push_endlessly(void *context)
{
    (void)context;
    if (!atomic_load(&endless_over))
        (void)fixture_push_dto(endless, 1, true);
}

static void count_flush(void *context)
{
    (void)context;
    atomic_fetch_add(&flushes, 1);
}

static const struct evd_progress_ops endless_ops = {.poll = push_endlessly, .flush = count_flush};

/* Polling keeps finding events. Still each run ends, and other callbacks run. */
Test(evd_callback, endless_stream_lets_others_run)
{
    it_evd_handle_t other = make(IT_SOFTWARE_EVENT_STREAM, 0);
    struct probe endless_probe;
    struct probe other_probe;

    probe_init(&endless_probe);
    probe_init(&other_probe);
    endless = make(IT_DTO_EVENT_STREAM, 0);
    fixture.ia.progress = &endless_ops;
    attach(endless, &endless_probe);
    attach(other, &other_probe);
    (void)fixture_push_dto(endless, 1, true);
    for (unsigned i = 1; i <= 5; i++) {
        cr_assert_eq(fixture_post(other, i), IT_SUCCESS);
        await(&other_probe.taken, i);
    }
    cr_assert_gt(atomic_load(&endless_probe.runs), 1);
    atomic_store(&endless_over, true);
    cr_assert_eq(it_evd_callback_detach(endless), IT_SUCCESS);
    cr_assert_eq(it_evd_callback_detach(other), IT_SUCCESS);
    /* Requests that a run has posted and deferred are sent at the end of the run. */
    cr_assert_eq(atomic_load(&flushes),
                 atomic_load(&endless_probe.runs) + atomic_load(&other_probe.runs));
}

/* ---------------------------------------------------------------- detaching, freeing */

struct ender {
    pthread_t thread;
    it_evd_handle_t evd;
    struct probe *probe;
    bool frees;
    _Atomic bool done;
};

static void *ender_main(void *argument)
{
    struct ender *ender = argument;

    if (ender->frees)
        cr_assert_eq(it_evd_free(ender->evd), IT_SUCCESS);
    else
        cr_assert_eq(it_evd_callback_detach(ender->evd), IT_SUCCESS);
    cr_assert_eq(atomic_load(&ender->probe->inside), 0);
    cr_assert_eq(atomic_load(&ender->probe->runs), 1);
    atomic_store(&ender->done, true);
    return NULL;
}

static void end_during_a_run(bool frees)
{
    it_evd_handle_t evd = make(IT_SOFTWARE_EVENT_STREAM, 0);
    struct evd *internal = evd_from_handle(evd);
    struct ender ender = {.evd = evd, .frees = frees};
    struct probe probe;
    bool awaited = false;

    probe_init(&probe);
    probe.holds = true;
    ender.probe = &probe;
    attach(evd, &probe);
    cr_assert_eq(fixture_post(evd, 1), IT_SUCCESS);
    sem_wait(&probe.entered);
    cr_assert_eq(pthread_create(&ender.thread, NULL, ender_main, &ender), 0);
    while (!awaited) {
        base_lock_take(&internal->lock);
        awaited = internal->callback_awaited == 1;
        base_lock_drop(&internal->lock);
        sched_yield();
    }
    cr_assert_not(atomic_load(&ender.done));
    sem_post(&probe.go);
    pthread_join(ender.thread, NULL);
    cr_assert(atomic_load(&ender.done));
}

TEST_ROW(evd_callback, detach_waits_for_the_run, end_during_a_run, false);
TEST_ROW(evd_callback, free_waits_for_the_run, end_during_a_run, true);

static it_status_t detach_itself(struct probe *probe)
{
    it_event_t event;

    cr_assert_eq(it_evd_callback_detach(probe->evd), IT_SUCCESS);
    cr_assert_eq(it_evd_wait(probe->evd, 0, &event, NULL), IT_SUCCESS);
    return it_evd_callback_detach(probe->evd);
}

Test(evd_callback, detaches_itself)
{
    it_evd_handle_t evd = make(IT_SOFTWARE_EVENT_STREAM, 0);
    struct probe probe;

    probe_init(&probe);
    probe.act = detach_itself;
    attach(evd, &probe);
    cr_assert_eq(fixture_post(evd, 1), IT_SUCCESS);
    await(&probe.runs, 1);
    cr_assert_eq(probe.status, IT_ERR_INVALID_EVD_STATE);
    cr_assert_eq(fixture_post(evd, 2), IT_SUCCESS);
    settle();
    cr_assert_eq(atomic_load(&probe.runs), 1);
}

static it_status_t replace_itself(struct probe *probe)
{
    cr_assert_eq(it_evd_callback_detach(probe->evd), IT_SUCCESS);
    return it_evd_callback_attach(probe->evd, probe_run, probe->other);
}

/* The new callback runs after the one that it replaces, not inside it. */
Test(evd_callback, replaces_itself)
{
    it_evd_handle_t evd = make(IT_SOFTWARE_EVENT_STREAM, 0);
    struct probe first;
    struct probe second;

    probe_init(&first);
    probe_init(&second);
    first.act = replace_itself;
    first.other = &second;
    first.take = 1;
    cr_assert_eq(fixture_post(evd, 1), IT_SUCCESS);
    cr_assert_eq(fixture_post(evd, 2), IT_SUCCESS);
    attach(evd, &first);
    await(&second.runs, 1);
    cr_assert_eq(first.status, IT_SUCCESS);
    cr_assert_eq(atomic_load(&first.runs), 1);
    cr_assert_eq(atomic_load(&first.taken), 1);
    cr_assert_eq(atomic_load(&second.taken), 1);
}

static it_status_t free_own(struct probe *probe)
{
    return it_evd_free(probe->evd);
}

Test(evd_callback, cannot_free_its_own_evd)
{
    it_evd_handle_t evd = make(IT_SOFTWARE_EVENT_STREAM, 0);
    struct probe probe;

    probe_init(&probe);
    probe.act = free_own;
    attach(evd, &probe);
    cr_assert_eq(fixture_post(evd, 1), IT_SUCCESS);
    await(&probe.runs, 1);
    cr_assert_eq(probe.status, IT_ERR_EVD_BUSY);
    cr_assert_eq(it_evd_free(evd), IT_SUCCESS);
}

static it_status_t free_other(struct probe *probe)
{
    return it_evd_free(probe->other->evd);
}

/* The other EVD's callback is queued to run when that EVD is freed. */
Test(evd_callback, frees_another_evd_whose_callback_is_due)
{
    it_evd_handle_t one = make(IT_SOFTWARE_EVENT_STREAM, 0);
    it_evd_handle_t two = make(IT_SOFTWARE_EVENT_STREAM, 0);
    struct holder holder;
    struct probe first;
    struct probe second;

    probe_init(&first);
    probe_init(&second);
    first.act = free_other;
    first.other = &second;
    second.evd = two;
    attach(one, &first);
    attach(two, &second);
    holder_start(&holder);
    cr_assert_eq(fixture_post(one, 1), IT_SUCCESS);
    cr_assert_eq(fixture_post(two, 1), IT_SUCCESS);
    sem_post(&holder.go);
    await(&first.runs, 1);
    settle();
    cr_assert_eq(first.status, IT_SUCCESS);
    cr_assert_eq(atomic_load(&second.runs), 0);
    cr_assert_eq(it_evd_dequeue(two, &(it_event_t){0}), IT_ERR_INVALID_EVD);
}

/* ---------------------------------------------------------------- waiting inside */

static it_status_t wait_for_other(struct probe *probe)
{
    it_event_t event;

    cr_assert_eq(it_evd_wait(probe->evd, IT_TIMEOUT_INFINITE, &event, NULL),
                 IT_ERR_CALLBACK_EXISTS);
    return it_evd_wait(probe->other->evd, IT_TIMEOUT_INFINITE, &event, NULL);
}

static it_status_t answer(struct probe *probe)
{
    return fixture_post(probe->other->evd, 7);
}

/* The first callback waits for an event that another EVD's callback posts on the same thread. */
Test(evd_callback, may_wait_while_other_callbacks_run)
{
    it_evd_handle_t answers = make(IT_SOFTWARE_EVENT_STREAM, 0);
    struct probe target;
    struct probe asker;
    struct probe answerer;
    struct holder holder;
    it_evd_handle_t ask = make(IT_SOFTWARE_EVENT_STREAM, 0);
    it_evd_handle_t reply = make(IT_SOFTWARE_EVENT_STREAM, 0);

    probe_init(&target);
    probe_init(&asker);
    probe_init(&answerer);
    target.evd = answers;
    asker.act = wait_for_other;
    asker.other = &target;
    answerer.act = answer;
    answerer.other = &target;
    attach(ask, &asker);
    attach(reply, &answerer);
    holder_start(&holder);
    cr_assert_eq(fixture_post(ask, 1), IT_SUCCESS);
    cr_assert_eq(fixture_post(reply, 1), IT_SUCCESS);
    sem_post(&holder.go);
    await(&asker.runs, 1);
    cr_assert_eq(asker.status, IT_SUCCESS);
    cr_assert_eq(answerer.status, IT_SUCCESS);
    cr_assert_eq(atomic_load(&answerer.runs), 1);
}

static it_status_t wait_shortly(struct probe *probe)
{
    it_event_t event;

    return it_evd_wait(probe->other->evd, 2000, &event, NULL);
}

Test(evd_callback, wait_inside_times_out)
{
    it_evd_handle_t evd = make(IT_SOFTWARE_EVENT_STREAM, 0);
    struct probe target;
    struct probe probe;

    probe_init(&target);
    probe_init(&probe);
    target.evd = make(IT_SOFTWARE_EVENT_STREAM, 0);
    probe.act = wait_shortly;
    probe.other = &target;
    attach(evd, &probe);
    cr_assert_eq(fixture_post(evd, 1), IT_SUCCESS);
    await(&probe.runs, 1);
    cr_assert_eq(probe.status, IT_ERR_TIMEOUT_EXPIRED);
}

static it_status_t wait_for_ever(struct probe *probe)
{
    it_event_t event;

    sem_post(&probe->entered);
    return it_evd_wait(probe->other->evd, IT_TIMEOUT_INFINITE, &event, NULL);
}

/* ---------------------------------------------------------------- the IA ends or fails */

Test(evd_callback, closing_ia_ends_waits_and_callbacks)
{
    it_evd_handle_t evd = make(IT_SOFTWARE_EVENT_STREAM, 0);
    struct fixture_waiter waiter;
    struct probe target;
    struct probe probe;

    probe_init(&target);
    probe_init(&probe);
    target.evd = make(IT_SOFTWARE_EVENT_STREAM, 0);
    probe.act = wait_for_ever;
    probe.other = &target;
    attach(evd, &probe);
    cr_assert_eq(fixture_post(evd, 1), IT_SUCCESS);
    sem_wait(&probe.entered);
    fixture_waiter_start(&waiter, target.evd, IT_TIMEOUT_INFINITE);
    fixture_await_sleepers(target.evd, 1);
    evd_ia_stop(&fixture.ia);
    cr_assert_eq(atomic_load(&probe.runs), 1);
    cr_assert_eq(probe.status, IT_ERR_ABORT);
    cr_assert_eq(fixture_waiter_join(&waiter), IT_ERR_ABORT);
    cr_assert_eq(atomic_load(&fixture.ia.reliant), 0);
    cr_assert_eq(it_evd_callback_attach(evd, probe_run, &probe), IT_ERR_INVALID_EVD);
}

Test(evd_callback, failed_ia_wakes_who_waits)
{
    int fd;
    it_evd_handle_t evd = make(IT_SOFTWARE_EVENT_STREAM, 0);
    it_evd_handle_t aevd = fixture_aevd(&fixture, IT_EVD_CREATE_FD, &fd);
    it_evd_handle_t called = make(IT_SOFTWARE_EVENT_STREAM, 0);
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
    struct fixture_waiter waiters[3];
    struct probe probe;
    it_event_t event;

    probe_init(&probe);
    attach(called, &probe);
    fixture_waiter_start(&waiters[0], evd, IT_TIMEOUT_INFINITE);
    fixture_waiter_start(&waiters[1], evd, IT_TIMEOUT_INFINITE);
    fixture_waiter_start(&waiters[2], aevd, IT_TIMEOUT_INFINITE);
    fixture_await_sleepers(evd, 2);
    fixture_await_sleepers(aevd, 1);
    cr_assert_eq(poll(&poll_fd, 1, 0), 0);
    evd_ia_fail(&fixture.ia);
    for (int i = 0; i < 3; i++)
        cr_assert_eq(fixture_waiter_join(&waiters[i]), IT_ERR_IA_CATASTROPHE);
    cr_assert_eq(poll(&poll_fd, 1, 0), 1);
    cr_assert_eq(it_evd_dequeue(aevd, &event), IT_ERR_IA_CATASTROPHE);
    settle();
    cr_assert_eq(atomic_load(&probe.runs), 0);
    cr_assert_eq(it_evd_callback_detach(called), IT_SUCCESS);
    cr_assert_eq(it_evd_free(evd), IT_SUCCESS);
}
