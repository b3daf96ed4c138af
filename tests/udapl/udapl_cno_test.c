/* SPDX-License-Identifier: BSD-2-Clause */
/* Consumer Notification Objects: waits, agents, descriptors. */
#include "udapl_kit.h"

#include "support/it_fixture.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#define LONG  ((DAT_TIMEOUT)(FX_PATIENCE_MS * 1000))
#define EVDS  4
#define ROUND 50u

static DAT_IA_HANDLE ia;
static DAT_EVD_HANDLE async;
static const DAT_OS_WAIT_PROXY_AGENT no_agent = {NULL, NULL};

static DAT_CNO_HANDLE make_cno(DAT_OS_WAIT_PROXY_AGENT agent)
{
    DAT_CNO_HANDLE cno;

    CHECK_DAT(dat_cno_create(ia, agent, &cno));
    return cno;
}

static DAT_EVD_HANDLE make_evd(DAT_CNO_HANDLE cno)
{
    DAT_EVD_HANDLE evd;

    CHECK_DAT(dat_evd_create(ia, 64, cno, DAT_EVD_SOFTWARE_FLAG, &evd));
    return evd;
}

static void post(DAT_EVD_HANDLE evd)
{
    DAT_EVENT event = {.event_number = DAT_SOFTWARE_EVENT};

    CHECK_DAT(dat_evd_post_se(evd, &event));
}

static void take(DAT_EVD_HANDLE evd)
{
    DAT_EVENT event;

    CHECK_DAT(dat_evd_dequeue(evd, &event));
}

static void expect_told(DAT_CNO_HANDLE cno, DAT_EVD_HANDLE evd)
{
    DAT_EVD_HANDLE told = DAT_HANDLE_NULL;

    CHECK_DAT(dat_cno_wait(cno, LONG, &told));
    CHECK(told == evd);
}

static void expect_quiet(DAT_CNO_HANDLE cno)
{
    DAT_EVD_HANDLE told = (DAT_EVD_HANDLE)&told;

    EXPECT_TYPE(DAT_QUEUE_EMPTY, dat_cno_wait(cno, 0, &told));
    CHECK(told == DAT_HANDLE_NULL);
}

/* ---------------------------------------------------------------- waits */

static void check_arguments(void)
{
    DAT_CNO_HANDLE cno = make_cno(no_agent);
    DAT_CNO_PARAM param;

    EXPECT_TYPE(DAT_INVALID_PARAMETER, dat_cno_create(ia, no_agent, NULL));
    EXPECT_TYPE(DAT_INVALID_PARAMETER, dat_cno_wait(cno, 0, NULL));
    EXPECT_TYPE(DAT_INVALID_PARAMETER, dat_cno_query(cno, DAT_CNO_FIELD_ALL, NULL));
    EXPECT_TYPE(DAT_INVALID_PARAMETER, dat_cno_query(cno, (DAT_CNO_PARAM_MASK)0x10, &param));
    CHECK_DAT(dat_cno_query(cno, DAT_CNO_FIELD_ALL, &param));
    CHECK(param.ia_handle == ia);
    CHECK_EQ(DAT_PROXY_TYPE_NONE, param.proxy_type);
    CHECK_DAT(dat_cno_free(cno));
}

/* The CNO reports the next event, however the last one was taken, and those that were left. */
static void check_told_again(void)
{
    DAT_CNO_HANDLE cno = make_cno(no_agent);
    DAT_EVD_HANDLE evd = make_evd(cno);

    expect_quiet(cno);
    for (unsigned k = 0; k < ROUND; k++) {
        post(evd);
        expect_told(cno, evd);
        if (k % 2)
            take(evd);
        else
            (void)kit_next(evd, DAT_SOFTWARE_EVENT);
    }
    expect_quiet(cno);
    post(evd);
    post(evd);
    post(evd);
    expect_told(cno, evd);
    take(evd);
    expect_told(cno, evd);
    (void)kit_next(evd, DAT_SOFTWARE_EVENT);
    expect_told(cno, evd);
    take(evd);
    expect_quiet(cno);
    EXPECT_TYPE(DAT_INVALID_STATE, dat_cno_free(cno));
    CHECK_DAT(dat_evd_free(evd));
    CHECK_DAT(dat_cno_free(cno));
}

static void check_several(void)
{
    DAT_CNO_HANDLE cno = make_cno(no_agent);
    DAT_EVD_HANDLE evds[EVDS];

    for (unsigned i = 0; i < EVDS; i++)
        evds[i] = make_evd(cno);
    for (unsigned k = 0; k < ROUND; k++) {
        post(evds[k % EVDS]);
        post(evds[(k + 1) % EVDS]);
        expect_told(cno, evds[k % EVDS]);
        expect_told(cno, evds[(k + 1) % EVDS]);
        expect_quiet(cno);
        take(evds[k % EVDS]);
        take(evds[(k + 1) % EVDS]);
    }
    for (unsigned i = 0; i < EVDS; i++)
        CHECK_DAT(dat_evd_free(evds[i]));
    CHECK_DAT(dat_cno_free(cno));
}

static void check_disable(void)
{
    DAT_CNO_HANDLE cno = make_cno(no_agent), other = make_cno(no_agent);
    DAT_EVD_HANDLE evd = make_evd(cno);
    DAT_EVD_PARAM param;

    CHECK_DAT(dat_evd_disable(evd));
    post(evd);
    expect_quiet(cno);
    (void)kit_next(evd, DAT_SOFTWARE_EVENT); /* the EVD can be waited on */
    post(evd);
    CHECK_DAT(dat_evd_enable(evd));
    expect_told(cno, evd);
    CHECK_DAT(dat_evd_modify_cno(evd, other));
    expect_quiet(cno);
    expect_told(other, evd);
    CHECK_DAT(dat_evd_query(evd, DAT_EVD_FIELD_ALL, &param));
    CHECK(param.cno_handle == other);
    CHECK_DAT(dat_cno_free(cno));
    CHECK_DAT(dat_evd_modify_cno(evd, DAT_HANDLE_NULL));
    CHECK_DAT(dat_cno_free(other));
    EXPECT_TYPE(DAT_INVALID_HANDLE, dat_evd_modify_cno(evd, other));
    take(evd);
    CHECK_DAT(dat_evd_free(evd));
}

struct waiter {
    pthread_t thread;
    DAT_CNO_HANDLE cno;
    DAT_EVD_HANDLE evd;
    DAT_RETURN result;
    _Atomic(int) id;
};

static void *wait_cno(void *argument)
{
    struct waiter *waiter = argument;

    atomic_store(&waiter->id, fx_thread_id());
    waiter->result = dat_cno_wait(waiter->cno, DAT_TIMEOUT_INFINITE, &waiter->evd);
    return NULL;
}

static void *wait_evd(void *argument)
{
    struct waiter *waiter = argument;
    DAT_EVENT event;
    DAT_COUNT more;

    atomic_store(&waiter->id, fx_thread_id());
    waiter->result = dat_evd_wait(waiter->evd, DAT_TIMEOUT_INFINITE, 1, &event, &more);
    return NULL;
}

static void waiter_start(struct waiter *waiter, void *(*run)(void *argument))
{
    struct fx_patience patience = fx_patience_start("the waiter begins");

    atomic_store(&waiter->id, 0);
    CHECK_EQ(0, pthread_create(&waiter->thread, NULL, run, waiter));
    while (atomic_load(&waiter->id) == 0)
        fx_patience_check(&patience);
    fx_thread_sleeps(atomic_load(&waiter->id));
}

/* A thread that waits on the EVD gets events before the CNO, which reports those that are left. */
static void check_waiters(void)
{
    struct waiter on_cno = {.cno = make_cno(no_agent)}, on_evd;
    DAT_EVD_HANDLE evd = make_evd(on_cno.cno);

    waiter_start(&on_cno, wait_cno);
    post(evd);
    CHECK_EQ(0, pthread_join(on_cno.thread, NULL));
    CHECK_DAT(on_cno.result);
    CHECK(on_cno.evd == evd);
    take(evd);

    on_evd.evd = evd;
    waiter_start(&on_evd, wait_evd);
    post(evd);
    CHECK_EQ(0, pthread_join(on_evd.thread, NULL));
    CHECK_DAT(on_evd.result);
    expect_quiet(on_cno.cno);
    post(evd);
    expect_told(on_cno.cno, evd);

    CHECK_DAT(dat_evd_free(evd));
    waiter_start(&on_cno, wait_cno);
    CHECK_DAT(dat_cno_free(on_cno.cno));
    CHECK_EQ(0, pthread_join(on_cno.thread, NULL));
    EXPECT_TYPE(DAT_ABORT, on_cno.result);
}

/* ---------------------------------------------------------------- agents */

static struct {
    _Atomic(unsigned) calls;
    _Atomic(uintptr_t) evd;
    bool takes;
} heard;

static void agent(DAT_PVOID instance, DAT_EVD_HANDLE evd)
{
    DAT_EVENT event;

    CHECK(instance == &heard);
    atomic_store(&heard.evd, (uintptr_t)evd);
    if (heard.takes)
        CHECK_DAT(dat_evd_dequeue(evd, &event));
    atomic_fetch_add(&heard.calls, 1);
}

static void await_calls(unsigned calls)
{
    struct fx_patience patience = fx_patience_start("the agent is called");

    while (atomic_load(&heard.calls) < calls)
        fx_patience_check(&patience);
    CHECK_EQ(calls, atomic_load(&heard.calls));
}

static void check_agent(bool takes)
{
    const DAT_OS_WAIT_PROXY_AGENT agents = {&heard, agent};
    DAT_CNO_HANDLE cno = make_cno(agents);
    DAT_EVD_HANDLE evd = make_evd(cno);
    DAT_CNO_PARAM param;

    heard.takes = takes;
    atomic_store(&heard.calls, 0);
    CHECK_DAT(dat_cno_query(cno, DAT_CNO_FIELD_ALL, &param));
    CHECK_EQ(DAT_PROXY_TYPE_AGENT, param.proxy_type);
    CHECK(param.proxy.agent.proxy_agent_func == agent);
    for (unsigned k = 1; k <= ROUND; k++) {
        post(evd);
        await_calls(k);
        CHECK_EQ((uintptr_t)evd, atomic_load(&heard.evd));
        if (!takes)
            take(evd);
    }
    kit_is_empty(evd);
    /* Without an agent a thread may wait; with one it may not. */
    CHECK_DAT(dat_cno_modify_agent(cno, no_agent));
    post(evd);
    expect_told(cno, evd);
    CHECK_EQ(ROUND, atomic_load(&heard.calls));
    take(evd);
    CHECK_DAT(dat_cno_modify_agent(cno, agents));
    post(evd);
    await_calls(ROUND + 1);
    CHECK_DAT(dat_evd_free(evd));
    CHECK_DAT(dat_cno_free(cno));
}

/* ---------------------------------------------------------------- descriptors */

static bool is_readable(DAT_FD fd, int milliseconds)
{
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN};

    return poll(&poll_fd, 1, milliseconds) == 1;
}

/* libdat2 does not export these two calls. */
static void check_descriptor(void)
{
    const DAT_PROVIDER *table = kit_table(async);
    DAT_CNO_HANDLE cno;
    DAT_EVD_HANDLE evd, told;
    DAT_CNO_PARAM param;
    DAT_FD fd;

    CHECK_DAT(table->cno_fd_create_func(kit_own(ia), &fd, &cno));
    EXPECT_TYPE(DAT_INVALID_PARAMETER, table->cno_fd_create_func(kit_own(ia), NULL, &cno));
    EXPECT_TYPE(DAT_INVALID_PARAMETER, table->cno_fd_create_func(kit_own(ia), &fd, NULL));
    EXPECT_TYPE(DAT_INVALID_STATE, dat_cno_modify_agent(cno, no_agent));
    CHECK_DAT(dat_cno_query(cno, DAT_CNO_FIELD_ALL, &param));
    CHECK_EQ(DAT_PROXY_TYPE_FD, param.proxy_type);
    CHECK_EQ(fd, param.proxy.fd);
    evd = make_evd(cno);
    CHECK(!is_readable(fd, 0));
    EXPECT_TYPE(DAT_QUEUE_EMPTY, table->cno_trigger_func(cno, &told));
    for (unsigned k = 0; k < ROUND; k++) {
        post(evd);
        CHECK(is_readable(fd, (int)FX_PATIENCE_MS));
        CHECK_DAT(table->cno_trigger_func(cno, &told));
        CHECK(told == evd);
        CHECK(!is_readable(fd, 0));
        take(evd);
    }
    CHECK(!is_readable(fd, 0));
    CHECK_DAT(dat_evd_free(evd));
    CHECK_DAT(dat_cno_free(cno));
}

/* ---------------------------------------------------------------- completions */

/* One CNO for the completions of both queues, as programs use it. */
static void check_completions(void)
{
    struct kit_side one, other;
    DAT_CNO_HANDLE cno;

    kit_side_open(&one);
    kit_side_open(&other);
    CHECK_DAT(dat_cno_create(one.ia, no_agent, &cno));
    CHECK_DAT(dat_evd_modify_cno(one.request, cno));
    CHECK_DAT(dat_evd_modify_cno(one.recv, cno));
    kit_join(&one, &other);
    for (unsigned k = 0; k < ROUND; k++) {
        DAT_DTO_COOKIE cookie = kit_cookie(k);
        DAT_COMPLETION_FLAGS usual = DAT_COMPLETION_DEFAULT_FLAG;

        CHECK_DAT(dat_ep_post_recv(one.ep, 0, NULL, cookie, usual));
        CHECK_DAT(dat_ep_post_send(other.ep, 0, NULL, cookie, usual));
        expect_told(cno, one.recv);
        (void)kit_done(one.recv, cookie);
        (void)kit_done(other.request, cookie);
        CHECK_DAT(dat_ep_post_recv(other.ep, 0, NULL, cookie, usual));
        CHECK_DAT(dat_ep_post_send(one.ep, 0, NULL, cookie, usual));
        expect_told(cno, one.request);
        (void)kit_done(one.request, cookie);
        (void)kit_done(other.recv, cookie);
    }
    kit_part(&one, &other);
    CHECK_DAT(dat_evd_modify_cno(one.request, DAT_HANDLE_NULL));
    CHECK_DAT(dat_evd_modify_cno(one.recv, DAT_HANDLE_NULL));
    CHECK_DAT(dat_cno_free(cno));
    kit_side_close(&other);
    kit_side_close(&one);
}

/* ---------------------------------------------------------------- an agent that disconnects */

#define READS 8

static struct kit_side reader, read_from;
static atomic_bool parted;

/* Runs on the IA's thread, which must also bring the answers. */
static void read_and_part(DAT_PVOID instance, DAT_EVD_HANDLE evd)
{
    (void)instance;
    for (DAT_UINT64 i = 0; i < READS; i++) {
        DAT_LMR_TRIPLET into = kit_local(&reader, 0, KIT_BUFFER);
        DAT_RMR_TRIPLET from = kit_remote(&read_from, 0, KIT_BUFFER);

        CHECK_DAT(dat_ep_post_rdma_read(reader.ep, 1, &into, kit_cookie(i), &from,
                                        DAT_COMPLETION_DEFAULT_FLAG));
    }
    CHECK_DAT(dat_ep_disconnect(reader.ep, DAT_CLOSE_GRACEFUL_FLAG));
    take(evd);
    atomic_store(&parted, true);
}

static void check_graceful_agent(void)
{
    const DAT_OS_WAIT_PROXY_AGENT agents = {NULL, read_and_part};
    struct fx_patience patience = fx_patience_start("the agent has disconnected");
    DAT_CNO_HANDLE cno;
    DAT_EVD_HANDLE evd;

    kit_side_open(&reader);
    kit_side_open(&read_from);
    kit_join(&reader, &read_from);
    CHECK_DAT(dat_cno_create(reader.ia, agents, &cno));
    CHECK_DAT(dat_evd_create(reader.ia, 1, cno, DAT_EVD_SOFTWARE_FLAG, &evd));
    post(evd);
    while (!atomic_load(&parted)) /* no call here may do the thread's work */
        fx_patience_check(&patience);
    for (DAT_UINT64 i = 0; i < READS; i++)
        CHECK_EQ(KIT_BUFFER, kit_done(reader.request, kit_cookie(i)));
    (void)kit_next(reader.connect, DAT_CONNECTION_EVENT_DISCONNECTED);
    (void)kit_next(read_from.connect, DAT_CONNECTION_EVENT_DISCONNECTED);
    CHECK_DAT(dat_evd_free(evd));
    CHECK_DAT(dat_cno_free(cno));
    kit_side_close(&read_from);
    kit_side_close(&reader);
}

int main(void)
{
    ia = kit_open(KIT_IA, &async);
    check_arguments();
    check_told_again();
    check_several();
    check_disable();
    check_waiters();
    check_agent(false);
    check_agent(true);
    check_descriptor();
    check_completions();
    check_graceful_agent();
    CHECK_DAT(dat_ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG));
    check_done();
    return 0;
}
