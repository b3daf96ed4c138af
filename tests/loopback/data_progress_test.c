/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One-sided operations are served while the target's program makes no calls; many connections at
 * once; a peer process that is killed.
 */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/fixture_pair.h"
#include "support/test_row.h"
#include "support/fixture_node.h"

#define TARGET_SIZE (1u << 20)

/* Memory that both processes share, for flow control without the library. */
struct shared {
    atomic_bool ready; /* the target is connected and computes */
    atomic_bool stop;
    uint16_t port;
    atomic_bool listening;
    uint64_t address;
    uint64_t key;
    uint64_t peer_address;
    uint64_t peer_key;
    atomic_ullong computed;
};

static struct shared *shared_make(void)
{
    struct shared *shared =
        mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    CHECK(shared != MAP_FAILED);
    return shared;
}

static void await(atomic_bool *flag, const char *what)
{
    FX_WAIT_WHILE(!atomic_load(flag), what);
}

/* The target connects and then only computes. */
static _Noreturn void target_main(struct shared *shared)
{
    struct fx_buf buf;
    it_ep_handle_t ep;

    fx_node_open(&node);
    ep = fx_ep(&node, NULL);
    buf = fx_buf_make(&node, TARGET_SIZE);
    fx_fill(buf.data, buf.size, 1);
    shared->address = fx_addr(&buf, 0);
    shared->key = buf.key;
    (void)fx_listen(&node, &shared->port);
    atomic_store(&shared->listening, true);
    CHECK_OK(it_ep_accept(ep, fx_request(&node, NULL), NULL, 0));
    fx_conn(node.conn_evd, ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
    atomic_store(&shared->ready, true);
    while (!atomic_load(&shared->stop))
        atomic_fetch_add(&shared->computed, 1);
    /* The peer's last Write is in place. */
    CHECK(fx_is_filled(buf.data, buf.size, 20));
    _exit(0);
}

static pid_t start(void (*child)(struct shared *), struct shared *shared)
{
    pid_t pid = fork();

    CHECK(pid >= 0);
    if (pid == 0) {
        child(shared);
        _exit(0);
    }
    return pid;
}

static void target_child(struct shared *shared)
{
    target_main(shared);
}

static void exits_well(pid_t pid)
{
    int status = 0;

    CHECK(waitpid(pid, &status, 0) == pid);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

Test(data_progress, target_process_computes)
{
    struct shared *shared = shared_make();
    pid_t pid = start(target_child, shared);
    struct fx_buf remote = {.mode = IT_ADDR_MODE_RELATIVE};
    struct fx_buf local;
    it_ep_handle_t ep;
    it_lmr_triplet_t segment;

    fx_node_open(&node);
    ep = fx_ep(&node, NULL);
    local = fx_node_buf(&node, TARGET_SIZE);
    await(&shared->listening, "listener");
    fx_connect(&node, ep, shared->port);
    fx_conn(node.conn_evd, ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
    await(&shared->ready, "target");
    remote.key = shared->key;
    segment = fx_seg(&local, 0, local.size);
    CHECK_OK(it_post_rdma_read(ep, &segment, 1, 1, FX_SIGNAL, shared->address,
                               (it_rmr_context_t)remote.key));
    fx_done_len(node.request_evd, ep, IT_DTO_RDMA_READ_CMPL_EVENT, 1, local.size);
    CHECK(fx_is_filled(local.data, local.size, 1));
    for (uint32_t i = 2; i <= 20; i++) {
        fx_fill(local.data, local.size, i);
        CHECK_OK(it_post_rdma_write(ep, &segment, 1, i, FX_QUIET, shared->address, shared->key));
        CHECK_OK(it_post_rdma_read(ep, NULL, 0, i, FX_SIGNAL, 0, 0));
        fx_done_len(node.request_evd, ep, IT_DTO_RDMA_READ_CMPL_EVENT, i, 0);
    }
    atomic_store(&shared->stop, true);
    exits_well(pid);
    fx_node_close(&node);
    (void)munmap(shared, sizeof(*shared));
}

/* In one process: no call touches the target's IA. */
Test(data_progress, target_ia_is_not_called, .init = pair_init, .fini = pair_fini)
{
    struct fx_buf local;
    struct fx_buf remote;

    local = fx_node_buf(&pair.a, 1u << 20);
    remote = fx_node_buf(&pair.b, 1u << 20);
    for (uint32_t i = 0; i < 20; i++) {
        fx_fill(local.data, local.size, i);
        fx_write(pair.a_ep, &local, 0, local.size, &remote, 0, i, FX_QUIET);
        fx_read(pair.a_ep, &local, 0, 100, &remote, 0, i, FX_SIGNAL);
        fx_done_len(pair.a.request_evd, pair.a_ep, IT_DTO_RDMA_READ_CMPL_EVENT, i, 100);
        CHECK(fx_is_filled(remote.data, remote.size, i));
    }
}

/* A consumer that only later looks at the EVD's queue finds the completion of a Read. */
Test(data_progress, requester_sleeps_elsewhere, .init = pair_init, .fini = pair_fini)
{
    struct fx_buf sink;
    struct fx_buf source;

    sink = fx_node_buf(&pair.a, 1u << 20);
    source = fx_node_buf(&pair.b, 1u << 20);
    memset(source.data, 0x5a, source.size);
    fx_read(pair.a_ep, &sink, 0, sink.size, &source, 0, 1, FX_SIGNAL);
    /* The test makes no call of the library until the last octet has arrived. */
    FX_WAIT_WHILE(*(volatile unsigned char *)&sink.data[sink.size - 1] != 0x5a,
                  "data without a call");
    fx_done_len(pair.a.request_evd, pair.a_ep, IT_DTO_RDMA_READ_CMPL_EVENT, 1, sink.size);
    CHECK(fx_is_byte(sink.data, sink.size, 0x5a));
}

#define MANY 32u

/* 32 connections between the same two IAs, all with traffic at once. */
Test(data_progress, many_connections)
{
    struct fx_node a;
    struct fx_node b;
    it_ep_handle_t a_ep[MANY];
    it_ep_handle_t b_ep[MANY];
    struct fx_buf out;
    struct fx_buf in;
    const size_t slice = 5000;
    bool seen[MANY] = {false};

    fx_node_open(&a);
    fx_node_open(&b);
    out = fx_node_buf(&a, MANY * slice);
    in = fx_node_buf(&b, MANY * slice);
    fx_fill(out.data, out.size, 8);
    for (size_t i = 0; i < MANY; i++) {
        a_ep[i] = fx_ep(&a, NULL);
        b_ep[i] = fx_ep(&b, NULL);
        fx_join(&a, a_ep[i], &b, b_ep[i]);
    }
    for (unsigned round = 0; round < 10; round++) {
        memset(in.data, 0, in.size);
        memset(seen, 0, sizeof(seen));
        for (size_t i = 0; i < MANY; i++)
            fx_recv(b_ep[i], &in, i * slice, slice, i);
        for (size_t i = 0; i < MANY; i++)
            fx_send(a_ep[i], &out, i * slice, slice, i, FX_SIGNAL);
        for (size_t i = 0; i < MANY; i++) {
            it_event_t event = fx_next(b.recv_evd);

            CHECK_EQ(IT_DTO_SUCCESS, event.dto_cmpl.dto_status);
            CHECK_EQ(slice, event.dto_cmpl.transferred_length);
            CHECK(event.dto_cmpl.cookie < MANY && !seen[event.dto_cmpl.cookie]);
            CHECK(event.dto_cmpl.ep == b_ep[event.dto_cmpl.cookie]);
            seen[event.dto_cmpl.cookie] = true;
        }
        for (size_t i = 0; i < MANY; i++)
            CHECK_EQ(IT_DTO_SUCCESS, fx_next(a.request_evd).dto_cmpl.dto_status);
        fx_check_same(out.data, in.data, out.size);
    }
    fx_node_close(&a);
    fx_node_close(&b);
}

/* Both ends of a connection are on the same IA. */
Test(data_progress, both_ends_on_one_ia, .init = node_init, .fini = node_fini)
{
    struct fx_buf out;
    struct fx_buf in;
    it_ep_handle_t one;
    it_ep_handle_t two;

    one = fx_ep(&node, NULL);
    two = fx_ep(&node, NULL);
    fx_join(&node, one, &node, two);
    out = fx_node_buf(&node, 300000);
    in = fx_node_buf(&node, 300000);
    fx_fill(out.data, out.size, 8);
    fx_recv(two, &in, 0, in.size, 1);
    fx_send(one, &out, 0, out.size, 2, FX_SIGNAL);
    fx_done_len(node.recv_evd, two, IT_DTO_RC_RECV_CMPL_EVENT, 1, out.size);
    fx_check_same(out.data, in.data, out.size);
    fx_done_len(node.request_evd, one, IT_DTO_SEND_CMPL_EVENT, 2, out.size);
}

/* A peer that writes until it is killed. */
static void writer_child(struct shared *shared)
{
    struct fx_buf buf;
    it_ep_handle_t ep;
    it_lmr_triplet_t segment;

    await(&shared->listening, "listener");
    fx_node_open(&node);
    ep = fx_ep(&node, NULL);
    buf = fx_buf_make(&node, TARGET_SIZE);
    memset(buf.data, 0x77, buf.size);
    fx_connect(&node, ep, shared->port);
    fx_conn(node.conn_evd, ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
    segment = fx_seg(&buf, 0, buf.size);
    for (uint64_t i = 0;; i++) {
        CHECK_OK(it_post_rdma_write(ep, &segment, 1, i, FX_SIGNAL, shared->address, shared->key));
        fx_done_len(node.request_evd, ep, IT_DTO_RDMA_WRITE_CMPL_EVENT, i, buf.size);
        atomic_store(&shared->ready, true);
    }
}

/* A peer that is connected and does nothing. */
static void idle_child(struct shared *shared)
{
    struct fx_buf buf;
    it_ep_handle_t ep;

    await(&shared->listening, "listener");
    fx_node_open(&node);
    ep = fx_ep(&node, NULL);
    buf = fx_buf_make(&node, TARGET_SIZE);
    shared->peer_address = fx_addr(&buf, 0);
    shared->peer_key = buf.key;
    fx_connect(&node, ep, shared->port);
    fx_conn(node.conn_evd, ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
    atomic_store(&shared->ready, true);
    for (;;)
        (void)pause();
}

/* The peer is killed, if `writing` during traffic from this side. */
static void killed(void (*child)(struct shared *), bool writing)
{
    struct shared *shared = shared_make();
    pid_t pid = start(child, shared);
    struct fx_buf buf;
    it_ep_handle_t ep;
    it_event_t event;
    it_lmr_triplet_t segment;
    int status = 0;

    fx_node_open(&node);
    ep = fx_ep(&node, NULL);
    buf = fx_node_buf(&node, TARGET_SIZE);
    shared->address = fx_addr(&buf, 0);
    shared->key = buf.key;
    for (uint64_t i = 0; i < 8; i++)
        CHECK_OK(it_post_recv(ep, NULL, 0, i, FX_SIGNAL));
    (void)fx_listen(&node, &shared->port);
    atomic_store(&shared->listening, true);
    CHECK_OK(it_ep_accept(ep, fx_request(&node, NULL), NULL, 0));
    fx_conn(node.conn_evd, ep, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
    await(&shared->ready, "peer");
    if (writing) {
        /* The peer will never read all of this. */
        segment = fx_seg(&buf, 0, buf.size);
        for (uint64_t i = 0; i < 60; i++)
            CHECK_OK(it_post_rdma_write(ep, &segment, 1, 100 + i, FX_QUIET, shared->peer_address,
                                        shared->peer_key));
    }
    CHECK(kill(pid, SIGKILL) == 0);
    CHECK(waitpid(pid, &status, 0) == pid);
    event = fx_wait(node.conn_evd);
    CHECK(event.event_number == IT_CM_MSG_CONN_BROKEN_EVENT ||
          event.event_number == IT_CM_MSG_CONN_DISCONNECT_EVENT);
    CHECK_EQ(IT_EP_STATE_NONOPERATIONAL, fx_ep_state(ep));
    for (uint64_t i = 0; i < 8; i++)
        fx_done(node.recv_evd, ep, IT_DTO_RC_RECV_CMPL_EVENT, i, IT_DTO_ERR_FLUSHED);
    CHECK_STATUS(IT_ERR_INVALID_EP_STATE, it_ep_disconnect(ep, NULL, 0));
    fx_empty(node.conn_evd);
    /* Requests that were sent leave no event. The others failed, in order. */
    for (uint64_t last = 0; it_evd_dequeue(node.request_evd, &event) == IT_SUCCESS;) {
        CHECK(writing && event.dto_cmpl.cookie > last);
        CHECK(event.dto_cmpl.dto_status == IT_DTO_ERR_FLUSHED ||
              (last == 0 && event.dto_cmpl.dto_status == IT_DTO_ERR_TRANSPORT));
        last = event.dto_cmpl.cookie;
    }
    fx_node_close(&node);
    (void)munmap(shared, sizeof(*shared));
}

TEST_ROW(data_progress, idle_peer_is_killed, killed, idle_child, false);
TEST_ROW(data_progress, writing_peer_is_killed, killed, writer_child, false);

/* Writing to a dead peer must raise no signal: it would kill this test. */
Test(data_progress, peer_is_killed_while_written_to)
{
    (void)signal(SIGPIPE, SIG_DFL);
    killed(idle_child, true);
}
