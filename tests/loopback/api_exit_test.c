/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How processes and threads leave the library: a process ends with everything open, by exit or by
 * a signal, or executes another program, and a thread is cancelled while it waits.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/it_fixture.h"
#include "support/raw_peer.h"

#define SIZE ((size_t)1 << 20)

/* ---- A process that leaves ------------------------------------------------------------------- */

static void leave_by_exit(void)
{
    exit(0); /* with the handlers of atexit, while the IA's thread runs */
}

static void leave_by_signal(void)
{
    (void)raise(SIGKILL);
}

/* Accepts one connection, sends one message with posted receives behind it, and leaves. */
static void serve_and_leave(int port_pipe, void (*leave)(void))
{
    struct fx_node node;
    struct fx_buf buf;
    it_ep_handle_t ep;
    uint16_t port;

    fx_node_open(&node);
    ep = fx_ep(&node, NULL);
    buf = fx_buf_make(&node, SIZE);
    fx_fill(buf.data, SIZE, 7);
    (void)fx_listen(&node, &port);
    CHECK_EQ(sizeof(port), write(port_pipe, &port, sizeof(port)));
    CHECK_OK(it_ep_accept(ep, fx_request(&node, NULL), NULL, 0));
    fx_conn(node.conn_evd, ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
    fx_recv(ep, &buf, 0, SIZE, 1);
    fx_send(ep, &buf, 0, SIZE, 2, FX_SIGNAL);
    fx_done(node.request_evd, ep, IT_DTO_SEND_CMPL_EVENT, 2, IT_DTO_SUCCESS);
    leave();
}

/*
 * What the process has completed arrives whole. Then the connection ends once, and what is posted
 * here is flushed.
 */
static void peer_sees_the_end(void (*leave)(void), bool killed)
{
    struct fx_node node;
    struct fx_buf buf;
    it_ep_handle_t ep;
    uint16_t port;
    int ends[2];
    int status;
    pid_t pid;

    CHECK(pipe(ends) == 0);
    pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        serve_and_leave(ends[1], leave);
        _exit(1);
    }
    fx_node_open(&node);
    ep = fx_ep(&node, NULL);
    buf = fx_buf_make(&node, SIZE);
    fx_recv(ep, &buf, 0, SIZE, 3);
    fx_recv(ep, &buf, 0, 0, 4);
    CHECK_EQ(sizeof(port), read(ends[0], &port, sizeof(port)));
    fx_connect(&node, ep, port);
    fx_conn(node.conn_evd, ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
    fx_done_len(node.recv_evd, ep, IT_DTO_RC_RECV_CMPL_EVENT, 3, SIZE);
    CHECK(fx_is_filled(buf.data, SIZE, 7));
    fx_conn(node.conn_evd, ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
    fx_done(node.recv_evd, ep, IT_DTO_RC_RECV_CMPL_EVENT, 4, IT_DTO_ERR_FLUSHED);
    fx_empty(node.conn_evd);
    CHECK_EQ(pid, waitpid(pid, &status, 0));
    CHECK(killed ? WIFSIGNALED(status) : WIFEXITED(status) && WEXITSTATUS(status) == 0);
    fx_buf_free(&buf);
    CHECK_OK(it_ep_free(ep));
    fx_node_close(&node);
    (void)close(ends[0]);
    (void)close(ends[1]);
}

/* ---- A thread that is cancelled -------------------------------------------------------------- */

/* Sanitizers need the C library's calls, which are cancellation points (base_call.h). */
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

struct waiting {
    it_evd_handle_t evd;
    _Atomic int thread;
    it_status_t status;
    it_event_t event;
};

static void *wait_then_end(void *argument)
{
    struct waiting *waiting = argument;
    size_t count;

    atomic_store(&waiting->thread, fx_thread_id());
    waiting->status = it_evd_wait(waiting->evd, IT_TIMEOUT_INFINITE, &waiting->event, &count);
    pthread_testcancel();
    return NULL;
}

/* Cancels a thread that sleeps in it_evd_wait on this EVD. */
static pthread_t start_and_cancel(struct waiting *waiting, it_evd_handle_t evd)
{
    pthread_t thread;

    *waiting = (struct waiting){.evd = evd, .status = IT_ERR_INTERRUPT};
    CHECK_EQ(0, pthread_create(&thread, NULL, wait_then_end, waiting));
    FX_WAIT_WHILE(atomic_load(&waiting->thread) == 0, "the thread starts");
    fx_thread_sleeps(atomic_load(&waiting->thread));
    CHECK_EQ(0, pthread_cancel(thread));
    return thread;
}

static void ends_with_an_event(pthread_t thread, const struct waiting *waiting)
{
    void *result;

    CHECK_EQ(0, pthread_join(thread, &result));
    CHECK(result == PTHREAD_CANCELED);
    CHECK_EQ(IT_SUCCESS, waiting->status);
}

/*
 * A wait that sleeps is no cancellation point, so the thread keeps no token and loses no event. It
 * ends behind the call.
 */
static void cancelled_in_a_wait(void)
{
    struct fx_pair pair;
    struct waiting waiting;
    struct fx_buf buf;
    pthread_t thread;

    fx_pair_open(&pair);
    buf = fx_buf_make(&pair.b, 64);
    fx_recv(pair.b_ep, &buf, 0, 64, 5);
    thread = start_and_cancel(&waiting, pair.b.recv_evd);
    CHECK_OK(it_post_send(pair.a_ep, NULL, 0, 6, FX_SIGNAL));
    fx_done(pair.a.request_evd, pair.a_ep, IT_DTO_SEND_CMPL_EVENT, 6, IT_DTO_SUCCESS);
    ends_with_an_event(thread, &waiting);
    CHECK_EQ(5, waiting.event.all_dto_cmpl.cookie);
    fx_pair_ping(&pair);
    fx_buf_free(&buf);
    fx_pair_close(&pair);
}

/* Nor is it one while the thread resets a stream on which nothing can be sent any more. */
static void cancelled_at_the_end_of_a_stream(void)
{
    struct fx_node node;
    struct waiting waiting;
    struct raw_peer peer;
    it_ep_handle_t ep;
    pthread_t thread;
    int sd;

    fx_node_open(&node);
    ep = fx_ep(&node, NULL);
    raw_socket_pair(&peer, &sd);
    CHECK_OK(it_socket_convert(sd, ep, IT_SC_NO_REQ_REP, NULL, 0));
    fx_conn(node.conn_evd, ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
    thread = start_and_cancel(&waiting, node.conn_evd);
    CHECK_EQ(0, shutdown(sd, SHUT_WR)); /* stands for an error of the network */
    CHECK_OK(it_post_send(ep, NULL, 0, 1, FX_SIGNAL));
    ends_with_an_event(thread, &waiting);
    CHECK_EQ(IT_CM_MSG_CONN_BROKEN_EVENT, waiting.event.event_number);
    fx_done(node.request_evd, ep, IT_DTO_SEND_CMPL_EVENT, 1, IT_DTO_ERR_FLUSHED);
    CHECK_OK(it_ep_free(ep));
    raw_close(&peer);
    (void)close(sd);
    fx_node_close(&node);
}

#else

static void cancelled_in_a_wait(void)
{
}

static void cancelled_at_the_end_of_a_stream(void)
{
}

#endif

/* ---- A program that is executed ------------------------------------------------------------- */

/* None of the descriptors that a connection needs reaches another program. */
static void descriptors_are_closed_on_exec(void)
{
    struct fx_pair pair;
    int before[256];
    int flags;

    for (int fd = 0; fd < 256; fd++)
        before[fd] = fcntl(fd, F_GETFD);
    fx_pair_open(&pair);
    fx_pair_ping(&pair);
    for (int fd = 0; fd < 256; fd++) {
        flags = fcntl(fd, F_GETFD);
        CHECK(flags == before[fd] || (flags & FD_CLOEXEC) != 0);
    }
    fx_pair_close(&pair);
}

int main(void)
{
    peer_sees_the_end(leave_by_exit, false);
    peer_sees_the_end(leave_by_signal, true);
    descriptors_are_closed_on_exec();
    cancelled_in_a_wait();
    cancelled_at_the_end_of_a_stream();
    check_done();
    return 0;
}
