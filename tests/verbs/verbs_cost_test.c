/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The program whose instructions verbs_cost.sh counts: rounds of usual posts whose completions are
 * taken in batches or one by one, and rounds of polls that find nothing. "full": the send queue has
 * one slot, so each post fills it, and each poll finds one completion.
 *
 * verbs_cost_test [write|read|send|full|look [ROUNDS [OCTETS [one]]]]
 */
#include "verbs/stub_node.h"

#include "vp/verbs/device/verbs_ep.h"

#include <stdlib.h>
#include <string.h>

#define BATCH 32u

static struct stub_node node;

static void take(it_evd_handle_t evd, bool one_by_one, it_event_type_t number)
{
    it_event_t events[BATCH];
    size_t count = 0;
    size_t more = 0;

    while (count < BATCH) {
        if (one_by_one)
            CHECK_OK(it_evd_dequeue(evd, &events[count++]));
        else
            CHECK_OK(itx_evd_dequeue_n(evd, BATCH - count, &events[count], &more));
        count += more;
    }
    for (size_t i = 0; i < BATCH; i++) {
        CHECK_EQ(number, events[i].event_number);
        CHECK_EQ(i, events[i].dto_cmpl.cookie);
        CHECK_EQ(IT_DTO_SUCCESS, events[i].dto_cmpl.dto_status);
    }
}

static void round_of_rdma(const it_lmr_triplet_t *segment, bool reads, bool one_by_one)
{
    it_rdma_addr_t to = fx_addr(&node.buf, NODE_MEMORY / 2);

    for (unsigned i = 0; i < BATCH; i++)
        CHECK_OK(reads ? it_post_rdma_read(node.a, segment, 1, i, FX_SIGNAL, to, node.buf.key)
                       : it_post_rdma_write(node.a, segment, 1, i, FX_SIGNAL, to, node.buf.key));
    take(node.fx.request_evd, one_by_one,
         reads ? IT_DTO_RDMA_READ_CMPL_EVENT : IT_DTO_RDMA_WRITE_CMPL_EVENT);
}

static void round_of_full(const it_lmr_triplet_t *segment)
{
    it_rdma_addr_t to = fx_addr(&node.buf, NODE_MEMORY / 2);
    it_event_t event;

    for (unsigned i = 0; i < BATCH; i++) {
        CHECK_OK(it_post_rdma_write(node.a, segment, 1, i, FX_SIGNAL, to, node.buf.key));
        CHECK_OK(it_evd_dequeue(node.fx.request_evd, &event));
        CHECK_EQ(i, event.dto_cmpl.cookie);
    }
}

static void round_of_sends(const it_lmr_triplet_t *segment, bool one_by_one)
{
    it_lmr_triplet_t into = fx_seg(&node.buf, NODE_MEMORY / 2, segment->length);

    for (unsigned i = 0; i < BATCH; i++)
        CHECK_OK(it_post_recv((it_handle_t)node.b, &into, 1, i, FX_SIGNAL));
    for (unsigned i = 0; i < BATCH; i++)
        CHECK_OK(it_post_send(node.a, segment, 1, i, FX_SIGNAL));
    take(node.fx.request_evd, one_by_one, IT_DTO_SEND_CMPL_EVENT);
    take(node.fx.recv_evd, one_by_one, IT_DTO_RC_RECV_CMPL_EVENT);
}

static void round_of_looks(void)
{
    it_event_t event;

    for (unsigned i = 0; i < BATCH; i++)
        CHECK_EQ(IT_ERR_QUEUE_EMPTY, it_evd_dequeue(node.fx.request_evd, &event));
}

int main(int argc, char **argv)
{
    const char *operation = argc > 1 ? argv[1] : "send";
    bool looks = strcmp(operation, "look") == 0;
    bool full = strcmp(operation, "full") == 0;
    /* EVDs of this size share one CQ. */
    const struct stub_shape shape = {
        .requests = full ? 1 : 128, .receives = 128, .events = looks ? 1024 : 0};
    unsigned long rounds = argc > 2 ? strtoul(argv[2], NULL, 10) : 10;
    size_t octets = argc > 3 ? strtoul(argv[3], NULL, 10) : 64;
    bool one_by_one = argc > 4;
    it_lmr_triplet_t segment;

    stub_start();
    stub_node_pair(&node, &shape);
    segment = fx_seg(&node.buf, 0, octets);
    for (unsigned long i = 0; i < rounds; i++) {
        if (looks)
            round_of_looks();
        else if (full)
            round_of_full(&segment);
        else if (strcmp(operation, "send") == 0)
            round_of_sends(&segment, one_by_one);
        else
            round_of_rdma(&segment, strcmp(operation, "read") == 0, one_by_one);
    }
    stub_node_close(&node);
    return EXIT_SUCCESS;
}
