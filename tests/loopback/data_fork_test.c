/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * itx_ia_freeze, itx_ia_thaw, itx_ep_claim: either a child or its parent continues with a
 * connection of the parent, and the peer notices nothing. The peer's IA is in the parent, too; the
 * child leaves it alone.
 */
#include <criterion/criterion.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/it_fixture.h"

#define SIZE ((size_t)4 << 20)

static struct {
    struct fx_pair pair;
    struct fx_buf a, b;
} bed;

static void bed_open(void)
{
    fx_pair_open(&bed.pair);
    bed.a = fx_node_buf(&bed.pair.a, SIZE);
    bed.b = fx_node_buf(&bed.pair.b, SIZE);
    fx_fill(bed.a.data, SIZE, 3);
}

static void bed_close(void)
{
    fx_pair_close(&bed.pair);
    check_done();
}

/* Freezes b's IA, forks, and thaws the IA in both processes. */
static pid_t split(void)
{
    pid_t pid;

    CHECK_OK(itx_ia_freeze(bed.pair.b.ia));
    pid = fork();
    CHECK(pid >= 0);
    CHECK_OK(itx_ia_thaw(bed.pair.b.ia));
    return pid;
}

/* Ends the child. A failed check ends it with another status. */
static void child_done(void)
{
    check_done();
    _exit(0);
}

static void child_is_well(pid_t pid)
{
    int status = -1;

    CHECK_EQ(pid, waitpid(pid, &status, 0));
    CHECK_EQ(0, status);
}

/* Receives messages of this length and sends each back after posting the next receive. */
static void echo(size_t length, unsigned times)
{
    for (unsigned i = 0; i < times; i++) {
        fx_done_len(bed.pair.b.recv_evd, bed.pair.b_ep, IT_DTO_RC_RECV_CMPL_EVENT, 1, length);
        if (i + 1 < times)
            fx_recv(bed.pair.b_ep, &bed.b, 0, length, 1);
        fx_send(bed.pair.b_ep, &bed.b, 0, length, 2, FX_SIGNAL);
        fx_done(bed.pair.b.request_evd, bed.pair.b_ep, IT_DTO_SEND_CMPL_EVENT, 2, IT_DTO_SUCCESS);
    }
}

static void converse(size_t length, unsigned times)
{
    struct fx_buf back = fx_buf_make(&bed.pair.a, length);

    for (unsigned i = 0; i < times; i++) {
        memset(back.data, 0, length);
        fx_recv(bed.pair.a_ep, &back, 0, length, 4);
        fx_send(bed.pair.a_ep, &bed.a, i, length, 3, FX_SIGNAL);
        fx_done(bed.pair.a.request_evd, bed.pair.a_ep, IT_DTO_SEND_CMPL_EVENT, 3, IT_DTO_SUCCESS);
        fx_done_len(bed.pair.a.recv_evd, bed.pair.a_ep, IT_DTO_RC_RECV_CMPL_EVENT, 4, length);
        fx_check_same(bed.a.data + i, back.data, length);
    }
    fx_buf_free(&back);
}

/* Checks that the connection has ended for the process that has not claimed it. */
static void lost(void)
{
    CHECK_STATUS(IT_ERR_INVALID_EP_STATE, itx_ep_claim(bed.pair.b_ep));
    fx_conn(bed.pair.b.conn_evd, bed.pair.b_ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
    CHECK_EQ(IT_EP_STATE_NONOPERATIONAL, fx_ep_state(bed.pair.b_ep));
}

static void goes_on_in_the_child(size_t length, unsigned times)
{
    pid_t pid;

    fx_recv(bed.pair.b_ep, &bed.b, 0, length, 1); /* posted before the fork, so the child has it */
    pid = split();
    if (pid == 0) {
        CHECK_OK(itx_ep_claim(bed.pair.b_ep));
        echo(length, times);
        CHECK_OK(it_ep_disconnect(bed.pair.b_ep, NULL, 0));
        child_done();
    }
    converse(length, times);
    child_is_well(pid);
    lost(); /* closes the last copy of the socket */
    fx_conn(bed.pair.a.conn_evd, bed.pair.a_ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
    fx_drain(bed.pair.b.recv_evd);
    CHECK_OK(it_ep_reset(bed.pair.a_ep));
    CHECK_OK(it_ep_reset(bed.pair.b_ep));
    fx_join(&bed.pair.a, bed.pair.a_ep, &bed.pair.b, bed.pair.b_ep);
    fx_pair_ping(&bed.pair);
}

Test(data_fork, goes_on_in_the_child, .init = bed_open, .fini = bed_close)
{
    goes_on_in_the_child(64, 200);
    goes_on_in_the_child(SIZE - 1000, 3);
}

Test(data_fork, goes_on_in_the_parent, .init = bed_open, .fini = bed_close)
{
    int go[2];
    pid_t pid;

    CHECK(pipe(go) == 0);
    pid = split();
    if (pid == 0) {
        char octet;

        CHECK_EQ(1, read(go[0], &octet, 1));
        lost();
        child_done();
    }
    CHECK_OK(itx_ep_claim(bed.pair.b_ep));
    CHECK_OK(itx_ep_claim(bed.pair.b_ep)); /* a second claim does nothing */
    CHECK_EQ(1, write(go[1], "", 1));
    fx_pair_ping(&bed.pair);
    child_is_well(pid);
    fx_pair_ping(&bed.pair);
    (void)close(go[0]);
    (void)close(go[1]);
}

/* A child that does nothing, or executes another program, changes nothing. */
Test(data_fork, the_child_is_another_program, .init = bed_open, .fini = bed_close)
{
    for (unsigned i = 0; i < 5; i++) {
        pid_t pid;

        CHECK_OK(itx_ia_freeze(bed.pair.b.ia));
        pid = fork();
        CHECK(pid >= 0);
        if (pid == 0) {
            (void)execl("/bin/true", "true", (char *)NULL);
            _exit(1);
        }
        CHECK_OK(itx_ia_thaw(bed.pair.b.ia));
        CHECK_OK(itx_ep_claim(bed.pair.b_ep));
        fx_pair_ping(&bed.pair);
        child_is_well(pid);
        fx_pair_ping(&bed.pair);
    }
}

/* The fork happens in the middle of a message: the socket holds a part of it. */
Test(data_fork, in_the_middle_of_a_message, .init = bed_open, .fini = bed_close)
{
    pid_t pid;

    CHECK_OK(itx_ia_freeze(bed.pair.b.ia));
    fx_write(bed.pair.a_ep, &bed.a, 0, SIZE, &bed.b, 0, 1, FX_QUIET);
    CHECK_OK(it_post_send(bed.pair.a_ep, NULL, 0, 2, FX_SIGNAL));
    pid = fork();
    CHECK(pid >= 0);
    CHECK_OK(itx_ia_thaw(bed.pair.b.ia));
    if (pid == 0) {
        CHECK_OK(it_post_recv(bed.pair.b_ep, NULL, 0, 1, FX_SIGNAL));
        CHECK_OK(itx_ep_claim(bed.pair.b_ep));
        fx_done_len(bed.pair.b.recv_evd, bed.pair.b_ep, IT_DTO_RC_RECV_CMPL_EVENT, 1, 0);
        CHECK(fx_is_filled(bed.b.data, SIZE, 3));
        CHECK_OK(it_ep_disconnect(bed.pair.b_ep, NULL, 0));
        child_done();
    }
    fx_done(bed.pair.a.request_evd, bed.pair.a_ep, IT_DTO_SEND_CMPL_EVENT, 2, IT_DTO_SUCCESS);
    child_is_well(pid);
    CHECK(!fx_is_filled(bed.b.data, SIZE, 3)); /* the parent's memory is unchanged */
    lost();
    fx_conn(bed.pair.a.conn_evd, bed.pair.a_ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
}

/*
 * The child's thread serves Reads while its program sleeps. The child has descriptors of its own.
 */
Test(data_fork, one_sided_and_by_descriptor)
{
    it_evd_handle_t evd;
    it_ep_attributes_t attr = fx_ep_attr();
    it_event_t event;
    struct pollfd wait = {.events = POLLIN};
    pid_t pid;

    bed_open();
    CHECK_OK(it_evd_create(bed.pair.b.ia, IT_DTO_EVENT_STREAM, IT_EVD_CREATE_FD, 64, 1, NULL, &evd,
                           &wait.fd));
    CHECK_OK(it_ep_free(bed.pair.b_ep));
    fx_conn(bed.pair.a.conn_evd, bed.pair.a_ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
    CHECK_OK(it_ep_reset(bed.pair.a_ep));
    CHECK_OK(it_ep_rc_create(bed.pair.b.pz, evd, evd, bed.pair.b.conn_evd, IT_EP_NO_FLAG, &attr,
                             &bed.pair.b_ep));
    fx_join(&bed.pair.a, bed.pair.a_ep, &bed.pair.b, bed.pair.b_ep);
    fx_fill(bed.b.data, SIZE, 8);
    pid = split();
    if (pid == 0) {
        CHECK_OK(itx_ep_claim(bed.pair.b_ep));
        fx_recv(bed.pair.b_ep, &bed.b, 0, 64, 1);
        CHECK_EQ(1, poll(&wait, 1, (int)FX_PATIENCE_MS));
        CHECK_OK(it_evd_dequeue(evd, &event));
        CHECK_EQ(0, poll(&wait, 1, 0));
        CHECK_OK(it_ep_disconnect(bed.pair.b_ep, NULL, 0));
        child_done();
    }
    CHECK_EQ(0, poll(&wait, 1, 0));
    for (unsigned i = 0; i < 50; i++) {
        fx_read(bed.pair.a_ep, &bed.a, 0, 1000, &bed.b, i, 5, FX_SIGNAL);
        fx_done_len(bed.pair.a.request_evd, bed.pair.a_ep, IT_DTO_RDMA_READ_CMPL_EVENT, 5, 1000);
        fx_check_same(bed.b.data + i, bed.a.data, 1000);
    }
    fx_send(bed.pair.a_ep, &bed.a, 0, 64, 6, FX_QUIET);
    child_is_well(pid);
    CHECK_EQ(0, poll(&wait, 1, 0));
    CHECK_OK(it_ep_free(bed.pair.b_ep)); /* leaves it to the child, which has ended */
    fx_conn(bed.pair.a.conn_evd, bed.pair.a_ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
    CHECK_OK(it_evd_free(evd));
    bed.pair.b_ep = fx_ep(&bed.pair.b, &attr);
    bed_close();
}

/* Many connections go to either process, and both make new ones. */
Test(data_fork, some_here_some_there, .init = bed_open, .fini = bed_close)
{
    enum {
        MANY = 8
    };
    it_ep_attributes_t attr = fx_ep_attr();
    it_ep_handle_t a_ep[MANY];
    it_ep_handle_t b_ep[MANY];
    pid_t pid;

    for (unsigned i = 0; i < MANY; i++) {
        a_ep[i] = fx_ep(&bed.pair.a, &attr);
        b_ep[i] = fx_ep(&bed.pair.b, &attr);
        fx_join(&bed.pair.a, a_ep[i], &bed.pair.b, b_ep[i]);
        CHECK_OK(it_post_recv(a_ep[i], NULL, 0, i, FX_SIGNAL));
    }
    pid = split();
    for (unsigned i = 0; i < MANY; i++) {
        if ((i % 2 == 0) == (pid == 0)) {
            CHECK_OK(itx_ep_claim(b_ep[i]));
            CHECK_OK(it_post_send(b_ep[i], NULL, 0, i, FX_SIGNAL));
            fx_done(bed.pair.b.request_evd, b_ep[i], IT_DTO_SEND_CMPL_EVENT, i, IT_DTO_SUCCESS);
        }
    }
    if (pid == 0) {
        struct fx_node other;

        fx_node_open(&other); /* the child has both ends */
        fx_join(&bed.pair.b, fx_ep(&bed.pair.b, &attr), &other, fx_ep(&other, &attr));
        fx_node_close(&other);
        fx_node_close(&bed.pair.b);
        child_done();
    }
    for (unsigned i = 0; i < MANY; i++)
        (void)fx_next(bed.pair.a.recv_evd);
    fx_empty(bed.pair.a.recv_evd);
    child_is_well(pid);
    CHECK_OK(itx_ep_claim(bed.pair.b_ep));
    fx_pair_ping(&bed.pair);
    for (unsigned i = 0; i < MANY; i++) {
        CHECK_OK(it_ep_free(b_ep[i]));
        CHECK_OK(it_ep_free(a_ep[i]));
    }
    fx_drain(bed.pair.a.conn_evd);
}

static void freeze_inside(it_evd_handle_t evd, void *status)
{
    it_event_t event;

    (void)it_evd_dequeue(evd, &event);
    atomic_store((atomic_int *)status, (int)itx_ia_freeze(bed.pair.b.ia));
}

Test(data_fork, not_from_a_callback, .init = bed_open, .fini = bed_close)
{
    it_evd_handle_t evd = fx_evd(&bed.pair.b, IT_SOFTWARE_EVENT_STREAM, 4, 1);
    struct fx_patience patience = fx_patience_start("the callback");
    atomic_int status = -1;

    CHECK_OK(it_evd_callback_attach(evd, freeze_inside, &status));
    CHECK_OK(it_evd_post_se(evd, NULL));
    while (atomic_load(&status) == -1)
        fx_patience_check(&patience);
    CHECK_EQ(IT_ERR_OP_NOT_SUPPORTED, atomic_load(&status));
    CHECK_OK(it_evd_free(evd));
}

Test(data_fork, twice_frozen, .init = bed_open, .fini = bed_close)
{
    CHECK_OK(itx_ia_thaw(bed.pair.b.ia));
    CHECK_OK(itx_ia_freeze(bed.pair.b.ia));
    CHECK_STATUS(IT_ERR_EVD_BUSY, itx_ia_freeze(bed.pair.b.ia));
    CHECK_OK(itx_ia_thaw(bed.pair.b.ia));
    /* Posts wait for the claim. A disconnect is a claim, too. */
    CHECK_OK(it_post_send(bed.pair.b_ep, NULL, 0, 1, FX_SIGNAL));
    fx_empty(bed.pair.b.request_evd);
    CHECK_OK(it_post_recv(bed.pair.a_ep, NULL, 0, 2, FX_SIGNAL));
    CHECK_OK(itx_ep_claim(bed.pair.b_ep));
    fx_done(bed.pair.b.request_evd, bed.pair.b_ep, IT_DTO_SEND_CMPL_EVENT, 1, IT_DTO_SUCCESS);
    fx_done_len(bed.pair.a.recv_evd, bed.pair.a_ep, IT_DTO_RC_RECV_CMPL_EVENT, 2, 0);
    CHECK_OK(itx_ia_freeze(bed.pair.b.ia));
    CHECK_OK(itx_ia_thaw(bed.pair.b.ia));
    CHECK_OK(it_ep_disconnect(bed.pair.b_ep, NULL, 0));
    fx_conn(bed.pair.a.conn_evd, bed.pair.a_ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
    fx_conn(bed.pair.b.conn_evd, bed.pair.b_ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
}

/* ---- A child with an IA of its own ---------------------------------------------------------- */

#define FORKS 200

static void *make_evds(void *stopped)
{
    while (!atomic_load((atomic_bool *)stopped))
        CHECK_OK(it_evd_free(fx_evd(&bed.pair.b, IT_SOFTWARE_EVENT_STREAM, 4, 1)));
    return NULL;
}

/* Nothing may wait for a thread that the child does not have. */
static void run_short_child(void)
{
    struct fx_node node;

    CHECK_EQ(0, prctl(PR_SET_PDEATHSIG, SIGKILL)); /* the test's time limit ends this child, too */
    fx_node_open(&node);
    child_done();
}

Test(data_fork, while_threads_make_evds, .init = bed_open, .fini = bed_close)
{
    atomic_bool stopped = false;
    pthread_t threads[2];
    pid_t pid;

#ifdef __SANITIZE_ADDRESS__
    cr_skip_test("a lock of AddressSanitizer's allocator may be taken for ever in the child");
#endif
    for (size_t i = 0; i < 2; i++)
        CHECK_EQ(0, pthread_create(&threads[i], NULL, make_evds, &stopped));
    for (int i = 0; i < FORKS; i++) {
        pid = fork();
        CHECK(pid >= 0);
        if (pid == 0)
            run_short_child();
        child_is_well(pid);
    }
    atomic_store(&stopped, true);
    for (size_t i = 0; i < 2; i++)
        CHECK_EQ(0, pthread_join(threads[i], NULL));
}
