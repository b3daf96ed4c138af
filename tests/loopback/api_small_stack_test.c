/* SPDX-License-Identifier: BSD-2-Clause */
/* A program may make every call in a thread with a stack of 64 KiB: see docs/threads.md. */
#include <criterion/criterion.h>
#include <pthread.h>
#include <sys/socket.h>

#include "support/it_fixture.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define STACK ((size_t)1 << 20) /* frames with sanitizers are larger */
#else
#define STACK ((size_t)64 << 10)
#endif
#define LARGE ((size_t)4 << 20)

/* The longest ways: sends that fill the socket, from posts and from polls, with the log on. */
static void move_octets(struct fx_pair *pair)
{
    struct fx_buf a = fx_node_buf(&pair->a, LARGE);
    struct fx_buf b = fx_node_buf(&pair->b, LARGE);

    fx_fill(a.data, LARGE / 2, 1);
    for (unsigned i = 0; i < 8; i++) {
        fx_write(pair->a_ep, &a, 0, LARGE / 2, &b, 0, i, FX_SIGNAL);
        fx_read(pair->b_ep, &b, LARGE / 2, LARGE / 2, &a, 0, i, FX_SIGNAL);
    }
    for (unsigned i = 0; i < 8; i++) {
        fx_done_len(pair->a.request_evd, pair->a_ep, IT_DTO_RDMA_WRITE_CMPL_EVENT, i, LARGE / 2);
        fx_done_len(pair->b.request_evd, pair->b_ep, IT_DTO_RDMA_READ_CMPL_EVENT, i, LARGE / 2);
    }
    fx_check_same(a.data, b.data, LARGE / 2);
    fx_check_same(a.data, b.data + LARGE / 2, LARGE / 2);
    for (unsigned i = 0; i < 32; i++)
        fx_recv(pair->b_ep, &b, 0, 64, i);
    for (unsigned i = 0; i < 32; i++)
        fx_send(pair->a_ep, &a, 0, 64, i, FX_SIGNAL);
    for (unsigned i = 0; i < 32; i++) {
        CHECK_EQ(i, fx_wait(pair->b.recv_evd).dto_cmpl.cookie);
        CHECK_EQ(i, fx_wait(pair->a.request_evd).dto_cmpl.cookie);
    }
}

/* The peer refuses the Read, and both sides log that. */
static void break_it(struct fx_pair *pair)
{
    struct fx_buf a = fx_node_buf(&pair->a, 64);
    struct fx_buf b = fx_node_buf(&pair->b, 64);

    b.key ^= 0x100;
    fx_read(pair->a_ep, &a, 0, 64, &b, 0, 1, FX_SIGNAL);
    (void)fx_done(pair->a.request_evd, pair->a_ep, IT_DTO_RDMA_READ_CMPL_EVENT, 1,
                  IT_DTO_ERR_REMOTE_ACCESS);
    fx_conn(pair->a.conn_evd, pair->a_ep, IT_CM_MSG_CONN_BROKEN_EVENT);
    fx_conn(pair->b.conn_evd, pair->b_ep, IT_CM_MSG_CONN_BROKEN_EVENT);
}

static void *live(void *argument)
{
    it_interface_t names[4];
    size_t count = 4, total = 0;
    struct fx_pair pair;

    it_interface_list(names, &count, &total); /* loads the provider of devices */
    fx_pair_open(&pair);
    move_octets(&pair);
    break_it(&pair);
    fx_pair_rejoin(&pair);
    fx_pair_ping(&pair);
    fx_pair_close(&pair);
    return argument;
}

Test(api_small_stack, every_step)
{
    pthread_attr_t attr;
    pthread_t thread;

    CHECK_EQ(0, setenv("ITAPI_LOG", "debug", 1));
    CHECK_EQ(0, pthread_attr_init(&attr));
    CHECK_EQ(0, pthread_attr_setstacksize(&attr, STACK));
    CHECK_EQ(0, pthread_create(&thread, &attr, live, NULL));
    CHECK_EQ(0, pthread_join(thread, NULL));
    CHECK_EQ(0, pthread_attr_destroy(&attr));
    check_done();
}
