/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Connections end while both directions are busy: the peer is killed, the peer disconnects, or the
 * library disconnects. One event reports it, every request and receive of the library completes
 * once, and another connection continues.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "interop/link.h"
#include "interop/siw.h"
#include "interop/wire.h"

#define AREA     ((size_t)1 << 18)
#define REQUEST  (AREA / 2)
#define REQUESTS 48u /* 6 MiB: at this rate some are left when the connection ends */
#define MEGABITS 8u  /* an emulated processor can send this beside other work */
#define SOME     5u  /* one of them is a Read */
#define RECEIVES 5u

struct bed {
    struct wire wire;
    struct fx_buf ours;
    struct peer_mem theirs;
    unsigned posted, done;
    bool flushed; /* the last completion was flushed */
    bool named;   /* a completion was that of the Read that a Terminate names */
};

static void open_bed(struct bed *bed, const struct wire_setup *setup)
{
    memset(bed, 0, sizeof(*bed));
    wire_connect(&bed->wire, setup);
    wire_ping_from_there(&bed->wire, 8);
    bed->ours = fx_buf_make(bed->wire.node, AREA);
    bed->theirs = peer_mem_make(bed->wire.peer, AREA, NULL);
    for (unsigned i = 0; i < RECEIVES; i++)
        fx_recv(bed->wire.ep, &bed->ours, 0, 16, 1000 + i);
}

/* The peer writes 64 KiB at a time, for longer than the test lasts. */
static void start_peer(const struct bed *bed)
{
    peer_tell(bed->wire.peer,
              "burst %u write 100000 %u:0:65536 step=0 to=0x%" PRIx64 " rkey=0x%" PRIx64
              " id=1 depth=8 timeout=80000",
              bed->wire.conn, bed->theirs.id, fx_addr(&bed->ours, 0), bed->ours.key);
}

static void post(struct bed *bed)
{
    unsigned number = bed->posted++;

    if (number % 4 == 3)
        wire_read(&bed->wire, &bed->ours, AREA / 2, REQUEST, &bed->theirs, AREA / 2, number,
                  FX_SIGNAL);
    else
        wire_write(&bed->wire, &bed->ours, AREA / 2, REQUEST, &bed->theirs, AREA / 2, number,
                   FX_SIGNAL);
}

/*
 * Takes a completion. They come in the order of posting, first successful ones, then flushed ones.
 */
static void take(struct bed *bed, const it_event_t *event)
{
    CHECK_EQ(bed->done, event->dto_cmpl.cookie);
    bed->done++;
    if (event->dto_cmpl.dto_status != IT_DTO_SUCCESS) {
        /* One may be the Read that a Terminate names. */
        if (bed->named || event->dto_cmpl.dto_status != IT_DTO_ERR_REMOTE_ACCESS)
            CHECK_EQ(IT_DTO_ERR_FLUSHED, event->dto_cmpl.dto_status);
        else
            bed->named = true;
        bed->flushed = true;
    }
    CHECK(!bed->flushed || event->dto_cmpl.dto_status != IT_DTO_SUCCESS);
}

/* Keeps the queue full until so many requests of the library are complete. */
static void keep_busy(struct bed *bed, unsigned count)
{
    while (bed->done < count) {
        it_event_t event;

        while (bed->posted - bed->done < REQUESTS)
            post(bed);
        event = fx_next(bed->wire.node->request_evd);
        take(bed, &event);
        CHECK(!bed->flushed);
    }
    while (bed->posted - bed->done < REQUESTS)
        post(bed);
}

/* Keeps the queue full until the connection has ended, however long the peer takes. */
static void keep_busy_to_end(struct bed *bed, it_event_t *end)
{
    const struct fx_node *node = bed->wire.node;
    it_event_t event;

    while (it_evd_dequeue(node->conn_evd, end) != IT_SUCCESS) {
        if (it_evd_wait(node->request_evd, 10 * 1000, &event, NULL) != IT_SUCCESS)
            continue;
        take(bed, &event);
        if (!bed->flushed)
            post(bed);
    }
}

static void check_flushed(struct bed *bed)
{
    const struct fx_node *node = bed->wire.node;

    while (bed->done < bed->posted) {
        it_event_t event = fx_next(node->request_evd);

        take(bed, &event);
    }
    CHECK(bed->flushed);
    for (unsigned i = 0; i < RECEIVES; i++)
        fx_done(node->recv_evd, bed->wire.ep, IT_DTO_RC_RECV_CMPL_EVENT, 1000 + i,
                IT_DTO_ERR_FLUSHED);
}

/*
 * An end in the middle of a frame is a failure of the lower layer. At a boundary it may look
 * orderly. The kernel of a killed peer may destroy its memory before its connections; then siw
 * sends a Terminate.
 */
static void check_ended(struct bed *bed)
{
    const struct fx_node *node = bed->wire.node;
    it_event_t event;

    keep_busy_to_end(bed, &event);
    CHECK(event.conn.ep == bed->wire.ep);
    CHECK_EQ(IT_EP_STATE_NONOPERATIONAL, fx_ep_state(bed->wire.ep));
    if (event.event_number == IT_CM_MSG_CONN_BROKEN_EVENT) {
        event = fx_next(node->aff_evd);
        if (event.event_number != IT_ASYNC_AFF_EP_R_ACCESS_VIOLATION)
            CHECK_EQ(IT_ASYNC_AFF_EP_L_LLP_ERROR, event.event_number);
        CHECK(event.aff_async.cause.ep == bed->wire.ep);
    } else {
        CHECK_EQ(IT_CM_MSG_CONN_DISCONNECT_EVENT, event.event_number);
    }
    fx_empty(node->aff_evd);
}

static void check_posts_refused(const struct bed *bed)
{
    it_lmr_triplet_t segment = fx_seg(&bed->ours, 0, 16);

    CHECK_OK(it_post_send(bed->wire.ep, &segment, 1, 9999, FX_SIGNAL));
    fx_done(bed->wire.node->request_evd, bed->wire.ep, IT_DTO_SEND_CMPL_EVENT, 9999,
            IT_DTO_ERR_FLUSHED);
}

static void close_bed(struct bed *bed)
{
    fx_buf_free(&bed->ours);
    wire_close(&bed->wire);
}

/* ---- Ends ----------------------------------------------------------------------------------- */

static void peer_killed(enum wire_role role)
{
    struct wire_setup setup = {
        .place = place_named("veth"), .role = role, .peer_answer = "ird=4 ord=4"};
    struct bed bed;

    check_context(wire_name(&setup));
    open_bed(&bed, &setup);
    start_peer(&bed);
    keep_busy(&bed, SOME);
    peer_kill(bed.wire.peer);
    check_ended(&bed);
    check_flushed(&bed);
    check_posts_refused(&bed);
    close_bed(&bed);
    check_context(NULL);
}

/* The peer program does one thing at a time, so only the library is busy when it disconnects. */
static void peer_disconnects(struct wire *host, enum wire_role role)
{
    struct wire_setup setup = {
        .place = host->setup.place, .role = role, .beside = host, .peer_answer = "ird=4 ord=4"};
    struct bed bed;

    check_context(wire_name(&setup));
    open_bed(&bed, &setup);
    keep_busy(&bed, SOME);
    peer_tell(bed.wire.peer, "disconnect %u", bed.wire.conn);
    check_ended(&bed);
    check_flushed(&bed);
    check_posts_refused(&bed);
    peer_hear(bed.wire.peer, NULL);
    peer_ask(bed.wire.peer, NULL, "wait %u disconnected " PEER_WAIT, bed.wire.conn);
    peer_ask(bed.wire.peer, NULL, "free %u", bed.theirs.id);
    close_bed(&bed);
    wire_ping_from_here(host, 100);
    check_context(NULL);
}

/* The library disconnects: queued requests are not sent, and the peer is not told of a failure. */
static void we_disconnect(struct wire *host, enum wire_role role)
{
    struct wire_setup setup = {
        .place = host->setup.place, .role = role, .beside = host, .peer_answer = "ird=4 ord=4"};
    struct peer_answer answer;
    struct bed bed;

    check_context(wire_name(&setup));
    open_bed(&bed, &setup);
    start_peer(&bed);
    keep_busy(&bed, SOME);
    CHECK_OK(it_ep_disconnect(bed.wire.ep, NULL, 0));
    fx_conn(bed.wire.node->conn_evd, bed.wire.ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
    CHECK_EQ(IT_EP_STATE_NONOPERATIONAL, fx_ep_state(bed.wire.ep));
    fx_empty(bed.wire.node->aff_evd);
    check_flushed(&bed);
    check_posts_refused(&bed);
    peer_hear_error(bed.wire.peer, &answer, "completion");
    CHECK(strstr(answer.text, "ERR") != NULL);
    peer_ask(bed.wire.peer, NULL, "wait %u disconnected " PEER_WAIT, bed.wire.conn);
    peer_ask(bed.wire.peer, NULL, "free %u", bed.theirs.id);
    close_bed(&bed);
    wire_ping_from_here(host, 100);
    check_context(NULL);
}

int main(void)
{
    struct wire_setup setup = {.place = place_named("veth"), .role = WIRE_ACTIVE};
    struct wire host;

    siw_begin();
    if (!link_slow(MEGABITS)) {
        fprintf(stderr, "skipped: the kernel has no netem\n");
        return 77;
    }
    wire_connect(&host, &setup);
    for (int role = WIRE_ACTIVE; role <= WIRE_PASSIVE; role++) {
        peer_killed((enum wire_role)role);
        peer_disconnects(&host, (enum wire_role)role);
        we_disconnect(&host, (enum wire_role)role);
    }
    wire_part(&host);
    wire_close(&host);
    check_done();
    return 0;
}
