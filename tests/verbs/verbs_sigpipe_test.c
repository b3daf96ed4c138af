/* SPDX-License-Identifier: BSD-2-Clause */
/* The SIGPIPE that siw raises in a posting thread never reaches or changes the program. */
#include "verbs/fixture_stub.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <signal.h>

TestSuite(verbs_sigpipe, .init = stub_start);

static void open_siw(void)
{
    stub.like_siw = true;
    stub_node_pair(&n, &usual);
    stub.raises_sigpipe = true;
}

/* Posts a usual request and an unusual one. */
static void post_both(void)
{
    fx_recv(n.b, &n.buf, 1024, 128, 10);
    fx_send(n.a, &n.buf, 0, 64, 1, FX_SIGNAL);
    fx_write(n.a, &n.buf, 0, 64, &n.buf, 2048, 2, FX_SIGNAL | IT_BARRIER_FENCE_FLAG);
    fx_done_len(n.fx.recv_evd, n.b, IT_DTO_RC_RECV_CMPL_EVENT, 10, 64);
    fx_done_len(n.fx.request_evd, n.a, IT_DTO_SEND_CMPL_EVENT, 1, 64);
    fx_done_len(n.fx.request_evd, n.a, IT_DTO_RDMA_WRITE_CMPL_EVENT, 2, 64);
}

static bool is_blocked(void)
{
    sigset_t mask;

    CHECK(pthread_sigmask(SIG_SETMASK, NULL, &mask) == 0);
    return sigismember(&mask, SIGPIPE) == 1;
}

static bool is_pending(void)
{
    sigset_t pending;

    CHECK(sigpending(&pending) == 0);
    return sigismember(&pending, SIGPIPE) == 1;
}

static bool is_default(void)
{
    struct sigaction action;

    CHECK(sigaction(SIGPIPE, NULL, &action) == 0);
    return action.sa_handler == SIG_DFL;
}

/* The default action would end this process. */
Test(verbs_sigpipe, a_post_leaves_the_process_alone)
{
    CHECK(signal(SIGPIPE, SIG_DFL) != SIG_ERR);
    open_siw();
    CHECK(is_default());
    post_both();
    CHECK(stub.blocks_sigpipe);
    CHECK(is_default());
    CHECK(!is_blocked());
    CHECK(!is_pending());
    stub_node_close(&n);
    CHECK(is_default());
}

/* The signal mask and a pending signal belong to the program and stay. */
Test(verbs_sigpipe, a_signal_of_the_program_stays, .fini = stub_close)
{
    sigset_t only;

    CHECK(sigemptyset(&only) == 0 && sigaddset(&only, SIGPIPE) == 0);
    CHECK(pthread_sigmask(SIG_BLOCK, &only, NULL) == 0);
    open_siw();
    post_both();
    CHECK(is_blocked());
    CHECK(!is_pending());
    CHECK(raise(SIGPIPE) == 0);
    post_both();
    CHECK(is_blocked());
    CHECK(is_pending());
    stub.raises_sigpipe = false;
}

/* If the program ignores SIGPIPE, no call is made to keep it away. */
Test(verbs_sigpipe, ignored_signals_cost_nothing, .fini = stub_close)
{
    CHECK(signal(SIGPIPE, SIG_IGN) != SIG_ERR);
    open_siw();
    post_both();
    CHECK(!stub.blocks_sigpipe);
    CHECK(!is_pending());
    stub.raises_sigpipe = false;
}
