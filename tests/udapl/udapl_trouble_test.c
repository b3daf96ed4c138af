/* SPDX-License-Identifier: BSD-2-Clause */
/* A killed peer, IAs closed with all objects in use, two opens of one name, a fork, 64 names. */
#include "udapl_kit.h"

#include "support/it_fixture.h"
#include "support/time_limit.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS 8
#define NAMES  64

/* Sends a message from one to the other. */
static void check_send(const struct kit_side *from, const struct kit_side *to)
{
    DAT_LMR_TRIPLET in = kit_local(to, 0, 32), out = kit_local(from, 64, 32);

    CHECK_DAT(dat_ep_post_recv(to->ep, 1, &in, kit_cookie(1), DAT_COMPLETION_DEFAULT_FLAG));
    CHECK_DAT(dat_ep_post_send(from->ep, 1, &out, kit_cookie(2), DAT_COMPLETION_DEFAULT_FLAG));
    EXPECT_EQ(32, kit_done(from->request, kit_cookie(2)));
    EXPECT_EQ(32, kit_done(to->recv, kit_cookie(1)));
}

/* Checks that this side has lost the connection: one event, and the receive is flushed. */
static void check_lost(const struct kit_side *side)
{
    DAT_EVENT event;
    DAT_COUNT more;

    do /* another EP of the side may end with it */
        CHECK_DAT(dat_evd_wait(side->connect, (DAT_TIMEOUT)time_limit_ms(20000) * 1000, 1, &event,
                               &more));
    while (event.event_data.connect_event_data.ep_handle != side->ep);
    EXPECT(event.event_number == DAT_CONNECTION_EVENT_DISCONNECTED ||
           event.event_number == DAT_CONNECTION_EVENT_BROKEN);
    event = kit_next(side->recv, DAT_DTO_COMPLETION_EVENT);
    EXPECT_EQ(DAT_DTO_ERR_FLUSHED, event.event_data.dto_completion_event_data.status);
    EXPECT_EQ(DAT_EP_STATE_DISCONNECTED, kit_state(side->ep));
}

static void post_one_receive(const struct kit_side *side)
{
    DAT_LMR_TRIPLET in = kit_local(side, 0, 32);

    CHECK_DAT(dat_ep_post_recv(side->ep, 1, &in, kit_cookie(9), DAT_COMPLETION_DEFAULT_FLAG));
}

/* ---------------------------------------------------------------- a peer that is killed */

/* The peer process: it listens, tells its qualifier, accepts, and waits. */
static void be_the_peer(int tell)
{
    struct kit_side side;
    DAT_CONN_QUAL qual;

    kit_side_open(&side);
    (void)kit_listen(&side, DAT_PSP_CONSUMER_FLAG, &qual);
    CHECK(write(tell, &qual, sizeof(qual)) == sizeof(qual));
    CHECK_DAT(dat_cr_accept(kit_request(&side), side.ep, 0, NULL));
    pause();
}

/* Forks the peer before this process has opened anything. */
static pid_t start_peer(int *told)
{
    int ends[2];
    pid_t peer;

    CHECK(pipe(ends) == 0);
    peer = fork();
    CHECK(peer >= 0);
    if (peer == 0) {
        be_the_peer(ends[1]);
        _exit(1);
    }
    close(ends[1]);
    *told = ends[0];
    return peer;
}

static void check_killed_peer(pid_t peer, int told)
{
    struct kit_side side, other;
    DAT_CONN_QUAL qual;

    kit_side_open(&side);
    kit_side_open(&other);
    CHECK(read(told, &qual, sizeof(qual)) == sizeof(qual));
    kit_connect(&side, side.ep, qual);
    (void)kit_next(side.connect, DAT_CONNECTION_EVENT_ESTABLISHED);
    post_one_receive(&side);
    CHECK(kill(peer, SIGKILL) == 0);
    check_lost(&side);
    CHECK(waitpid(peer, NULL, 0) == peer);
    close(told);
    /* The same EP can be used again. */
    CHECK_DAT(dat_ep_reset(side.ep));
    kit_join(&side, &other);
    check_send(&side, &other);
    kit_part(&side, &other);
    kit_side_close(&side);
    kit_side_close(&other);
}

/* ---------------------------------------------------------------- an IA closed abruptly */

struct waiter {
    DAT_HANDLE handle;
    _Atomic(int) id; /* id of the thread, set when it runs */
    DAT_RETURN got;
};

static void *wait_for_event(void *argument)
{
    struct waiter *waiter = argument;
    DAT_EVENT event;
    DAT_COUNT more;

    waiter->id = gettid();
    waiter->got = dat_evd_wait(waiter->handle, DAT_TIMEOUT_INFINITE, 1, &event, &more);
    return NULL;
}

static void *wait_for_cno(void *argument)
{
    struct waiter *waiter = argument;
    DAT_EVD_HANDLE evd;

    waiter->id = gettid();
    waiter->got = dat_cno_wait(waiter->handle, DAT_TIMEOUT_INFINITE, &evd);
    return NULL;
}

static void start_waiter(pthread_t *thread, void *(*wait)(void *), struct waiter *waiter)
{
    CHECK(pthread_create(thread, NULL, wait, waiter) == 0);
    while (waiter->id == 0)
        sched_yield();
    fx_thread_sleeps(waiter->id);
}

/* The IA is closed with requests, posts, a window, service points and waiting threads. */
static void check_abrupt_close(void)
{
    struct kit_side side, peer;
    struct waiter waiters[2] = {{.id = 0}};
    DAT_CONN_QUAL qual;
    DAT_EP_HANDLE caller;
    DAT_CNO_HANDLE cno;
    DAT_RMR_HANDLE rmr;
    pthread_t threads[2];

    kit_side_open(&side);
    kit_side_open(&peer);
    kit_join(&side, &peer);
    post_one_receive(&side);
    post_one_receive(&peer);
    CHECK_DAT(dat_rmr_create(side.pz, &rmr));
    CHECK_DAT(dat_cno_create(side.ia, DAT_OS_WAIT_PROXY_AGENT_NULL, &cno));
    CHECK_DAT(dat_evd_modify_cno(side.recv, cno));
    (void)kit_listen(&side, DAT_PSP_CONSUMER_FLAG, &qual);
    caller = kit_ep(&peer);
    kit_connect(&peer, caller, qual);
    (void)kit_request(&side); /* never answered */
    waiters[0].handle = side.async;
    waiters[1].handle = cno;
    start_waiter(&threads[0], wait_for_event, &waiters[0]);
    start_waiter(&threads[1], wait_for_cno, &waiters[1]);

    CHECK_DAT(dat_ia_close(side.ia, DAT_CLOSE_ABRUPT_FLAG));
    for (int i = 0; i < 2; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
        EXPECT(waiters[i].got != DAT_SUCCESS);
    }
    EXPECT_TYPE(DAT_INVALID_HANDLE, dat_ep_free(side.ep));
    free(side.buffer);
    check_lost(&peer);
    CHECK_DAT(dat_ep_free(caller));
    kit_side_close(&peer);
}

/* ---------------------------------------------------------------- the others */

/* The objects of one open are invalid in the other, and outlive it. */
static void check_two_opens(void)
{
    struct kit_side one, other;
    DAT_EP_HANDLE ep;

    kit_side_open(&one);
    kit_side_open(&other);
    CHECK(one.ia != other.ia);
    EXPECT_TYPE(DAT_INVALID_HANDLE,
                dat_ep_create(one.ia, other.pz, one.recv, one.request, one.connect, NULL, &ep));
    kit_join(&one, &other);
    check_send(&one, &other);
    kit_part(&one, &other);
    kit_side_close(&one);
    CHECK_DAT(dat_ep_reset(other.ep));
    kit_side_open(&one);
    kit_join(&other, &one);
    check_send(&other, &one);
    kit_part(&other, &one);
    kit_side_close(&one);
    kit_side_close(&other);
}

/* LeakSanitizer calls this. A child has its parent's memory, but not the threads that hold it. */
int __lsan_is_turned_off(void);
static bool is_child;
int __lsan_is_turned_off(void)
{
    return is_child;
}

/* A child that exits normally does not touch its parent's connection. */
static void check_fork(void)
{
    struct kit_side one, other;
    int status;
    pid_t child;

    kit_side_open(&one);
    kit_side_open(&other);
    kit_join(&one, &other);
    check_send(&one, &other);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        is_child = true;
        exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    for (int i = 0; i < ROUNDS; i++) {
        check_send(&one, &other);
        check_send(&other, &one);
    }
    kit_part(&one, &other);
    kit_side_close(&one);
    kit_side_close(&other);
}

static void check_many_names(void)
{
    DAT_EVD_HANDLE async[NAMES];
    DAT_IA_HANDLE ia[NAMES];
    DAT_PZ_HANDLE pz;
    char name[32];

    for (size_t i = 0; i < NAMES; i++) {
        snprintf(name, sizeof(name), "many-%zu", i);
        ia[i] = kit_open(name, &async[i]);
    }
    for (size_t i = 0; i < NAMES; i++) {
        size_t which = i * 37 % NAMES; /* each name once */

        CHECK_DAT(dat_pz_create(ia[which], &pz));
        EXPECT_TYPE(DAT_INVALID_STATE, dat_ia_close(ia[which], DAT_CLOSE_GRACEFUL_FLAG));
        CHECK_DAT(dat_pz_free(pz));
        CHECK_DAT(dat_ia_close(ia[which], DAT_CLOSE_GRACEFUL_FLAG));
    }
}

int main(void)
{
    int told;
    pid_t peer = start_peer(&told);

    check_killed_peer(peer, told);
    check_abrupt_close();
    check_two_opens();
    check_fork();
    check_many_names();
    check_done();
    return 0;
}
