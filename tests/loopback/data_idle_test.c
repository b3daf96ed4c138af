/* SPDX-License-Identifier: BSD-2-Clause */
/* An IA with nothing to do does nothing, and counts what it does. */
#include <criterion/criterion.h>
#include <string.h>
#include <time.h>

#include "support/fixture_pair.h"

/*
 * Waits until the counter at this offset has this value: counters may lag behind events a little.
 */
static void await(const struct fx_node *node, size_t member, uint64_t want)
{
    struct fx_patience patience = fx_patience_start("a counter");
    uint64_t got;

    do {
        struct itx_counters now = fx_counters(node);

        memcpy(&got, (const unsigned char *)&now + member, sizeof(got));
        CHECK(got <= want);
        fx_patience_check(&patience);
    } while (got != want);
}

#define AWAIT(node, member, want) await((node), offsetof(struct itx_counters, member), (want))

static void nap(long ms)
{
    struct timespec time = {ms / 1000, ms % 1000 * 1000000};

    (void)nanosleep(&time, NULL);
}

/* With connections, a listener and posted receives, but without traffic, no thread wakes. */
Test(data_idle, no_wakeups, .init = pair_init, .fini = pair_fini)
{
    uint16_t port;
    unsigned quiet = 0;

    (void)fx_listen(&pair.b, &port);
    for (uint64_t i = 0; i < 10; i++)
        CHECK_OK(it_post_recv(pair.b_ep, NULL, 0, i, FX_SIGNAL));
    CHECK_OK(it_post_recv(pair.a_ep, NULL, 0, 0, FX_SIGNAL));
    CHECK_OK(it_post_send(pair.a_ep, NULL, 0, 1, FX_SIGNAL));
    fx_done_len(pair.b.recv_evd, pair.b_ep, IT_DTO_RC_RECV_CMPL_EVENT, 0, 0);
    fx_done_len(pair.a.request_evd, pair.a_ep, IT_DTO_SEND_CMPL_EVENT, 1, 0);
    /* The IAs may need a moment to settle. Then two reads 100 ms apart find no difference. */
    for (unsigned i = 0; i < 10 && quiet < 2; i++) {
        uint64_t a = fx_counters(&pair.a).thread_wakeups;
        uint64_t b = fx_counters(&pair.b).thread_wakeups;

        nap(100);
        if (fx_counters(&pair.a).thread_wakeups == a && fx_counters(&pair.b).thread_wakeups == b)
            quiet++;
        else
            quiet = 0;
    }
    CHECK(quiet >= 2);
}

Test(data_idle, counters, .init = pair_init, .fini = pair_fini)
{
    struct fx_buf a;
    struct fx_buf b;
    struct itx_counters before_a;
    struct itx_counters before_b;
    struct itx_counters after_a;
    struct itx_counters after_b;

    a = fx_node_buf(&pair.a, 100000);
    b = fx_node_buf(&pair.b, 100000);
    AWAIT(&pair.a, connections_initiated, 1);
    AWAIT(&pair.b, connections_accepted, 1);
    fx_pair_ping(&pair); /* completes the start of the connection */
    before_a = fx_counters(&pair.a);
    before_b = fx_counters(&pair.b);
    CHECK_EQ(0, before_a.connections_accepted);
    CHECK_OK(it_post_recv(pair.b_ep, NULL, 0, 1, FX_SIGNAL));
    fx_write(pair.a_ep, &a, 0, a.size, &b, 0, 2, FX_QUIET);
    CHECK_OK(it_post_send(pair.a_ep, NULL, 0, 3, FX_SIGNAL));
    fx_done_len(pair.b.recv_evd, pair.b_ep, IT_DTO_RC_RECV_CMPL_EVENT, 1, 0);
    fx_done_len(pair.a.request_evd, pair.a_ep, IT_DTO_SEND_CMPL_EVENT, 3, 0);
    after_a = fx_counters(&pair.a);
    AWAIT(&pair.b, bytes_received,
          before_b.bytes_received + after_a.bytes_sent - before_a.bytes_sent);
    AWAIT(&pair.b, fpdus_received,
          before_b.fpdus_received + after_a.fpdus_sent - before_a.fpdus_sent);
    after_b = fx_counters(&pair.b);
    CHECK(after_a.bytes_sent - before_a.bytes_sent > 100000);
    CHECK(after_a.fpdus_sent - before_a.fpdus_sent >= 3);
    CHECK(after_a.send_calls > before_a.send_calls);
    CHECK(after_b.receive_calls > before_b.receive_calls);
    CHECK_EQ(0, after_a.crc_errors + after_a.protocol_errors + after_a.terminates_sent +
                    after_a.terminates_received);
    /* An access violation makes one Terminate, sent by b and received by a. */
    CHECK_OK(it_post_rdma_read(pair.a_ep, &(it_lmr_triplet_t){a.lmr, {a.data}, 8}, 1, 4, FX_SIGNAL,
                               0, 0));
    fx_conn(pair.a.conn_evd, pair.a_ep, IT_CM_MSG_CONN_BROKEN_EVENT);
    fx_conn(pair.b.conn_evd, pair.b_ep, IT_CM_MSG_CONN_BROKEN_EVENT);
    AWAIT(&pair.b, terminates_sent, 1);
    AWAIT(&pair.a, terminates_received, 1);
    AWAIT(&pair.b, protocol_errors, 1);
}
