/* SPDX-License-Identifier: BSD-2-Clause */
/* Counters of an EP, which equal those of its IA. */
#include <criterion/criterion.h>
#include <string.h>

#include "support/fixture_node.h"
#include "support/fixture_pair.h"

static struct itx_ep_counters ep_counters(it_ep_handle_t ep)
{
    struct itx_ep_counters now;

    memset(&now, 0, sizeof(now));
    now.size = sizeof(now);
    CHECK_OK(itx_ep_stats(ep, &now));
    return now;
}

static struct itx_counters ia_counters(it_ia_handle_t ia)
{
    struct itx_counters now;

    memset(&now, 0, sizeof(now));
    now.size = sizeof(now);
    CHECK_OK(itx_ia_stats(ia, &now));
    return now;
}

/* Waits for a counter's value: counters may lag behind events a little. */
static void await(it_ep_handle_t ep, size_t member, uint64_t want)
{
    struct fx_patience patience = fx_patience_start("a counter");
    uint64_t got;

    do {
        struct itx_ep_counters now = ep_counters(ep);

        memcpy(&got, (const unsigned char *)&now + member, sizeof(got));
        CHECK(got <= want);
        fx_patience_check(&patience);
    } while (got != want);
}

#define AWAIT(ep, member, want) await((ep), offsetof(struct itx_ep_counters, member), (want))

static void check_sums(it_ia_handle_t ia, const struct itx_ep_counters *sum)
{
    struct itx_counters now = ia_counters(ia);

    CHECK_EQ(sum->bytes_sent, now.bytes_sent);
    CHECK_EQ(sum->bytes_received, now.bytes_received);
    CHECK_EQ(sum->fpdus_sent, now.fpdus_sent);
    CHECK_EQ(sum->fpdus_received, now.fpdus_received);
    CHECK_EQ(sum->send_calls, now.send_calls);
    CHECK_EQ(sum->send_retries, now.send_retries);
    CHECK_EQ(sum->crc_errors, now.crc_errors);
    CHECK_EQ(sum->protocol_errors, now.protocol_errors);
    CHECK_EQ(sum->terminates_sent, now.terminates_sent);
    CHECK_EQ(sum->terminates_received, now.terminates_received);
    CHECK_EQ(sum->nudges, now.nudges);
}

/* Waits until the sums agree: the octets of the last FPDU may be counted before the FPDU. */
static struct itx_ep_counters await_sums(it_ia_handle_t ia, it_ep_handle_t ep)
{
    struct fx_patience patience = fx_patience_start("the sums of the IA");
    struct itx_ep_counters now;

    do {
        fx_patience_check(&patience);
        now = ep_counters(ep);
    } while (now.fpdus_received != ia_counters(ia).fpdus_received);
    return now;
}

Test(data_counters, of_an_endpoint_and_its_ia, .init = pair_init)
{
    struct fx_buf a;
    struct fx_buf b;
    struct itx_ep_counters before;
    struct itx_ep_counters after;

    a = fx_buf_make(&pair.a, 100000);
    b = fx_buf_make(&pair.b, 100000);
    fx_pair_ping(&pair);
    before = ep_counters(pair.a_ep);
    CHECK_EQ(before.requests_posted, before.requests_done);
    CHECK_EQ(before.receives_posted, before.receives_done);
    for (uint64_t i = 0; i < 5; i++)
        fx_recv(pair.b_ep, &b, 0, 100, i);
    for (uint64_t i = 0; i < 3; i++) {
        fx_send(pair.a_ep, &a, 0, 100, i, FX_SIGNAL);
        fx_done(pair.a.request_evd, pair.a_ep, IT_DTO_SEND_CMPL_EVENT, i, IT_DTO_SUCCESS);
        fx_done_len(pair.b.recv_evd, pair.b_ep, IT_DTO_RC_RECV_CMPL_EVENT, i, 100);
    }
    after = ep_counters(pair.a_ep);
    CHECK_EQ(before.requests_posted + 3, after.requests_posted);
    CHECK_EQ(before.requests_done + 3, after.requests_done);
    CHECK_EQ(before.requests_ended + 3, after.requests_ended);
    CHECK_EQ(before.fpdus_sent + 3, after.fpdus_sent);
    CHECK(after.bytes_sent - before.bytes_sent >= 300 &&
          after.bytes_sent - before.bytes_sent < 600);
    CHECK_EQ(0, after.terminates_sent + after.terminates_received + after.protocol_errors +
                    after.crc_errors + after.nudges - before.nudges);
    AWAIT(pair.b_ep, bytes_received, ep_counters(pair.a_ep).bytes_sent);
    after = await_sums(pair.b.ia, pair.b_ep);
    CHECK_EQ(2, after.receives_posted - after.receives_done);
    check_sums(pair.b.ia, &after);
    /* An access violation makes one Terminate, sent by b and received by a. */
    CHECK_OK(it_post_rdma_read(pair.a_ep, &(it_lmr_triplet_t){a.lmr, {a.data}, 8}, 1, 4, FX_SIGNAL,
                               0, 0));
    fx_conn(pair.a.conn_evd, pair.a_ep, IT_CM_MSG_CONN_BROKEN_EVENT);
    fx_conn(pair.b.conn_evd, pair.b_ep, IT_CM_MSG_CONN_BROKEN_EVENT);
    AWAIT(pair.b_ep, terminates_sent, 1);
    AWAIT(pair.b_ep, protocol_errors, 1);
    AWAIT(pair.a_ep, terminates_received, 1);
    /* The counts of a freed EP stay in those of its IA. */
    before = ep_counters(pair.b_ep);
    check_sums(pair.b.ia, &before);
    CHECK_OK(it_ep_free(pair.b_ep));
    pair.b_ep = NULL;
    check_sums(pair.b.ia, &before);
    fx_buf_free(&a);
    fx_buf_free(&b);
    CHECK_OK(it_ia_free(pair.a.ia));
    CHECK_OK(it_ia_free(pair.b.ia));
}

/* Sends more than both sockets hold. At the other side only the loop reads. */
Test(data_counters, of_a_full_socket, .init = pair_init, .fini = pair_fini)
{
    struct fx_buf a;
    struct fx_buf b;
    struct fx_patience patience = fx_patience_start("a full socket");
    uint64_t done = 0;
    uint64_t posted = 0;

    a = fx_node_buf(&pair.a, 32u << 20);
    b = fx_node_buf(&pair.b, 32u << 20);
    do {
        fx_write(pair.a_ep, &a, 0, a.size, &b, 0, posted++, FX_SIGNAL);
        while (done < posted) {
            fx_done(pair.a.request_evd, pair.a_ep, IT_DTO_RDMA_WRITE_CMPL_EVENT, done++,
                    IT_DTO_SUCCESS);
        }
        fx_patience_check(&patience);
    } while (ep_counters(pair.a_ep).send_retries == 0);
    CHECK(ep_counters(pair.a_ep).send_calls > ep_counters(pair.a_ep).send_retries);
    CHECK(ia_counters(pair.a.ia).send_retries > 0);
    CHECK(ia_counters(pair.a.ia).leader_changes > 0);
}

Test(data_counters, of_a_caller_who_knows_less_or_more, .init = node_init, .fini = node_fini)
{
    it_ep_attributes_t attr = fx_ep_attr();
    struct {
        struct itx_ep_counters counters;
        uint64_t behind;
    } larger = {.counters.size = sizeof(larger), .behind = 7};
    it_ep_handle_t ep;

    ep = fx_ep(&node, &attr);
    CHECK_OK(itx_ep_stats(ep, &larger.counters));
    CHECK_EQ(sizeof(larger), larger.counters.size);
    CHECK_EQ(7, larger.behind);
    CHECK_EQ(0, larger.counters.requests_posted);
    larger.counters.size = offsetof(struct itx_ep_counters, requests_ended) - 1;
    CHECK_STATUS(IT_ERR_INVALID_LENGTH, itx_ep_stats(ep, &larger.counters));
    CHECK_STATUS(IT_ERR_FAULT, itx_ep_stats(ep, NULL));
    CHECK_STATUS(IT_ERR_INVALID_EP, itx_ep_stats((it_ep_handle_t)node.pz, &larger.counters));
    CHECK_OK(it_ep_free(ep));
    CHECK_STATUS(IT_ERR_INVALID_EP, itx_ep_stats(ep, &larger.counters));
}

Test(data_counters, limits_of_the_ia_are_those_in_force, .fini = node_fini)
{
    struct itx_features features;
    it_ep_attributes_t attr = fx_ep_attr();
    it_ep_handle_t ep = NULL;

    memset(&features, 0, sizeof(features));
    features.size = sizeof(features);
    fx_node_open(&node);
    CHECK_OK(itx_ia_query_features(node.ia, &features));
    attr.max_request_dtos = features.max_request_dtos;
    attr.max_send_segments = features.max_send_segments;
    ep = fx_ep(&node, &attr);
    CHECK_OK(it_ep_free(ep));
    attr.max_request_dtos = features.max_request_dtos + 1;
    CHECK_STATUS(IT_ERR_RESOURCE_REQ_DTO,
                 it_ep_rc_create(node.pz, node.request_evd, node.recv_evd, node.conn_evd,
                                 IT_EP_NO_FLAG, &attr, &ep));
    attr.max_request_dtos = 1;
    attr.max_send_segments = features.max_send_segments + 1;
    CHECK_STATUS(IT_ERR_RESOURCE_SSEG, it_ep_rc_create(node.pz, node.request_evd, node.recv_evd,
                                                       node.conn_evd, IT_EP_NO_FLAG, &attr, &ep));
    CHECK(features.max_recv_dtos > 0 && features.max_srq_dtos > 0 && features.max_ird > 0);
}
