/* SPDX-License-Identifier: BSD-2-Clause */
/* Actions of a connection startup: their less usual outcome, what the peer gets, it_handoff. */
#include "uiw_conn_bed.h"

#include <criterion/criterion.h>
#include <event2/event.h>

/* A task or a call that comes after the end finds nothing to do. */
Test(uiw_conn, takes_no_event_when_it_is_over)
{
    struct bed bed;

    other_begin(&bed, &uiw_connect_role, UIW_CONN_REQUEST, UIW_ON_CANCEL);
    fire(&bed, UIW_ON_CANCEL);
    for (int event = 0; event < UIW_ON_EVENTS; event++)
        uiw_conn_step(bed.conn, (enum uiw_conn_event)event);
    other_judge(&bed, UIW_CONN_OVER, QUIET, ENDS);
}

/* The second attempt uses revision 1. When it fails too, the startup is over. */
Test(uiw_conn, retries_once)
{
    struct bed bed;

    other_begin(&bed, &uiw_connect_role, UIW_CONN_WAIT_REPLY, UIW_ON_LOST);
    bed_end(&bed, ECONNRESET);
    EXPECT_EQ(UIW_CONN_CONNECTING, bed_state(&bed));
    EXPECT_EQ(1, bed.conn->mpa.config.revision);
    EXPECT_EQ(0, bed.conn->error);
    script.end = 0;
    script.sent = 0;
    bed_give_room(&bed, ALL);
    EXPECT_EQ(UIW_CONN_WAIT_REPLY, bed_state(&bed));
    EXPECT_EQ(1, script.out[17]); /* the revision */
    bed_end(&bed, -1);
    other_judge(&bed, UIW_CONN_OVER, OTHER, RESET); /* of the first stream */
}

Test(uiw_conn, turns_away_what_is_too_much)
{
    struct bed bed;

    other_begin(&bed, &uiw_accept_role, UIW_CONN_READ_REQUEST, UIW_ON_DONE);
    bed.ia->cm.undecided_max = 0;
    bed_feed_rest(&bed);
    EXPECT_EQ(1, bed.ia->cm.half_open_refused);
    other_judge(&bed, UIW_CONN_OVER, QUIET, RESET);
}

Test(uiw_conn, turns_away_what_cannot_be_announced)
{
    it_evd_handle_t evd;
    struct bed bed;

    other_begin(&bed, &uiw_accept_role, UIW_CONN_READ_REQUEST, UIW_ON_DONE);
    evd = fx_evd(&bed.node, IT_CM_REQ_EVENT_STREAM, 1, IT_THRESHOLD_DISABLE);
    bed.conn->request.connect_evd = (struct evd *)(void *)evd;
    while (ual_request_announce_unless_full(&bed.conn->request)) {
    }
    bed_feed_rest(&bed);
    other_judge(&bed, UIW_CONN_OVER, QUIET, RESET);
}

/* The responder resets the stream. Such an initiator tries again with revision 1. */
Test(uiw_conn, refuses_a_revision_that_the_ep_does_not_take)
{
    struct itx_mpa_params params;
    struct bed bed;

    other_begin(&bed, &uiw_accept_role, UIW_CONN_WAIT_REQUEST, UIW_ON_ACCEPT);
    params = fx_mpa(bed.ep);
    params.revision = 1;
    CHECK_OK(itx_ep_set_mpa_params(bed.ep, &params));
    raw_mpa2(&bed.frame, false, RAW_MPA_C, RAW_ENH_A | RAW_ENH_C);
    bed_feed(&bed, bed.frame.data, bed.frame.len);
    EXPECT_EQ(UIW_CONN_ANNOUNCED, bed_state(&bed));
    bed_accept(&bed);
    bed_pump_until(&bed, UIW_CONN_OVER);
    other_judge(&bed, UIW_CONN_OVER, BAD_PARMS, RESET);
}

/* The call that had taken the request puts it back. */
Test(uiw_conn, takes_back_the_request_of_a_peer_that_has_gone)
{
    struct bed bed;

    other_begin(&bed, &uiw_accept_role, UIW_CONN_GONE, UIW_ON_EXPIRED);
    EXPECT_STATUS(IT_ERR_INVALID_CN_EST_ID, uiw_reject(&bed.conn->request, NULL, 0));
    EXPECT_STATUS(IT_ERR_INVALID_CN_EST_ID, uiw_accept(bed_ep(&bed), &bed.conn->request, NULL, 0));
    bed_expire(&bed);
    EXPECT_EQ(UIW_CONN_GONE, bed_state(&bed));
    bed_put_back(&bed);
    bed_expire(&bed);
    other_judge(&bed, UIW_CONN_OVER, QUIET, RESET);
}

/* The request is announced, but it cannot be accepted. */
Test(uiw_conn, nothing_may_follow_a_request)
{
    struct bed bed;

    other_begin(&bed, &uiw_accept_role, UIW_CONN_READ_REQUEST, UIW_ON_DONE);
    raw_add(&bed.frame, "x", 1);
    bed_feed_rest(&bed);
    EXPECT_EQ(UIW_CONN_ANNOUNCED, bed_state(&bed));
    bed_take(&bed);
    EXPECT_STATUS(IT_ERR_INVALID_CN_EST_ID, uiw_accept(bed_ep(&bed), &bed.conn->request, NULL, 0));
    bed_put_back(&bed);
    bed_expire(&bed);
    other_judge(&bed, UIW_CONN_OVER, QUIET, RESET);
}

/* ---------------------------------------------------------------- what the peer gets */

Test(uiw_conn, rejects_with_the_octets_of_the_program)
{
    struct bed bed;

    other_begin(&bed, &uiw_accept_role, UIW_CONN_ANNOUNCED, UIW_ON_REJECT);
    fire(&bed, UIW_ON_REJECT);
    raw_reset(&bed.frame);
    raw_mpa(&bed.frame, true, RAW_MPA_C | RAW_MPA_R, 1, "no", 2);
    CHECK_EQ(bed.frame.len, script.sent);
    EXPECT(memcmp(bed.frame.data, script.out, script.sent) == 0);
    other_judge(&bed, UIW_CONN_OVER, QUIET, ENDS);
}

Test(uiw_conn, refuses_with_a_reply)
{
    struct bed bed;

    other_begin(&bed, &uiw_responder_role, UIW_CONN_READ_REQUEST, UIW_ON_REFUSE);
    script.sent = 0;
    fire(&bed, UIW_ON_REFUSE);
    raw_reset(&bed.frame);
    raw_mpa(&bed.frame, true, RAW_MPA_R, 2, NULL, 0);
    CHECK_EQ(bed.frame.len, script.sent);
    EXPECT(memcmp(bed.frame.data, script.out, script.sent) == 0);
    other_judge(&bed, UIW_CONN_OVER, BAD_PARMS, ENDS);
}

/* The Terminate names an LLP error of MPA: no matching RTR (RFC 6581 8.2). */
Test(uiw_conn, terminates_what_it_cannot_take)
{
    static const char terminate[] = "0016 4147 00000000 00000002 00000001 00000000 20070000";
    RAW_BYTES(want);
    struct bed bed;

    other_begin(&bed, &uiw_connect_role, UIW_CONN_READ_REPLY, UIW_ON_TERMINATE);
    script.sent = 0;
    fire(&bed, UIW_ON_TERMINATE);
    raw_add_hex(&want, terminate);
    CHECK(script.sent >= want.len);
    EXPECT(memcmp(want.data, script.out, want.len) == 0);
    other_judge(&bed, UIW_CONN_OVER, BAD_PARMS, ENDS);
}

/* The program has read the Reply, so the socket has no octet of it. */
Test(uiw_conn, takes_octets_that_were_read_before)
{
    RAW_BYTES(reply);
    struct vp_convert convert = {.initiator = true};
    struct bed bed;

    bed_open(&bed, &uiw_initiator_role);
    memset(&script, 0, sizeof(script));
    script.on = true;
    script.room = ALL;
    bed.ep = fx_ep(&bed.node, NULL);
    raw_mpa1(&reply, true, RAW_MPA_C);
    bed.own = begin_stream(&bed);
    convert.fd = dup(bed.own);
    convert.early = reply.data;
    convert.early_length = reply.len;
    CHECK_OK(uiw_convert(bed_ep(&bed), &convert));
    EXPECT_EQ(NULL, uiw_ep_of(bed_ep(&bed))->conn);
    script.on = false;
    check_report(&bed, UP);
    CHECK_OK(it_ep_free(bed.ep));
    (void)close(bed.own);
    (void)close(bed.peer);
    bed_close(&bed);
}

/* ---------------------------------------------------------------- it_handoff */

Test(uiw_conn, hands_a_request_to_another_listen_point)
{
    it_conn_qual_t qual = {.type = IT_IANA_PORT};
    it_evd_handle_t evd;
    it_listen_handle_t listen;
    it_cn_est_identifier_t id;
    it_event_t event;
    struct bed bed;

    other_begin(&bed, &uiw_accept_role, UIW_CONN_ANNOUNCED, UIW_ON_ACCEPT);
    id = bed.conn->request.id;
    evd = fx_evd(&bed.node, IT_CM_REQ_EVENT_STREAM, 8, IT_THRESHOLD_DISABLE);
    CHECK_OK(it_listen_create(bed.node.ia, bed.node.spigot, evd, IT_LISTEN_SUPPRESS_IRD_ORD, &qual,
                              &listen));
    bed_take(&bed);
    EXPECT_STATUS(IT_ERR_INVALID_SPIGOT, uiw_handoff(&bed.conn->request, &qual, 2));
    qual.conn_qual.port ^= htons(1);
    EXPECT_STATUS(IT_ERR_INVALID_CONN_QUAL, uiw_handoff(&bed.conn->request, &qual, 1));
    qual.conn_qual.port ^= htons(1);
    EXPECT_OK(uiw_handoff(&bed.conn->request, &qual, 1));
    bed.taken = false;
    EXPECT(bed.conn->mpa.config.suppress_depths);
    event = fx_next(evd);
    EXPECT_EQ(IT_CM_REQ_CONN_REQUEST_EVENT, event.event_number);
    EXPECT(event.conn_req.cn_est_id == bed.conn->request.id && bed.conn->request.id != id);
    EXPECT_EQ(UIW_CONN_ANNOUNCED, bed_state(&bed));
    bed_accept(&bed);
    bed_pump_until(&bed, UIW_CONN_REPLY);
    bed_give_room(&bed, ALL);
    other_judge(&bed, UIW_CONN_OVER, UP, STAYS);
}

Test(uiw_conn, hands_over_no_request_of_a_peer_that_has_gone)
{
    it_conn_qual_t qual = {.type = IT_IANA_PORT};
    struct bed bed;

    other_begin(&bed, &uiw_accept_role, UIW_CONN_GONE, UIW_ON_EXPIRED);
    EXPECT_STATUS(IT_ERR_INVALID_CN_EST_ID, uiw_handoff(&bed.conn->request, &qual, 1));
    EXPECT_EQ(UIW_CONN_GONE, bed_state(&bed));
    other_judge(&bed, UIW_CONN_GONE, QUIET, STAYS);
}
