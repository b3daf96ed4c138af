/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Acknowledgements: which requests they complete, which request a Terminate is about, and how they
 * are sent.
 */
#include <criterion/criterion.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "unit/uiw_bed.h"
#include "unit/uiw_stream.h"
#include "tdi/iwarp/iw_wire.h"
#include "evd/deliver/evd_deliver.h"
#include "vp/uiwarp/receive/uiw_hold.h"
#include "vp/uiwarp/receive/uiw_own_place.h"
#include "vp/uiwarp/send/uiw_send.h"

/* ---- Requests of ours ------------------------------------------------------------------------ */

static struct uiw_bed bed;

static void bed_open(void)
{
    uiw_bed_open(&bed, 16);
    bed.ep->own.agreed = IW_OWN_ACKS;
}

static void bed_close(void)
{
    uiw_bed_close(&bed);
    check_done();
}

static struct uiw_sqe *sent(enum vp_opcode opcode, uint64_t cookie)
{
    struct uiw_sqe *sqe = uiw_bed_post(&bed, opcode, FX_SIGNAL, cookie);

    sqe->started = true;
    sqe->done = UIW_DONE_SENT;
    return sqe;
}

static void heard(uint64_t messages)
{
    const struct iw_segment ack = {.to = iw_own_ack(messages, 0)};

    uiw_own_heard(bed.ep, &ack);
    if (bed.ep->rx.wake_request)
        evd_wake(bed.ual->request_evd);
    bed.ep->rx.wake_request = false;
}

static void completes(uint64_t cookie)
{
    it_event_t event = fx_next(bed.node.request_evd);

    CHECK_EQ(cookie, event.dto_cmpl.cookie);
    CHECK_EQ(IT_DTO_SUCCESS, event.dto_cmpl.dto_status);
}

static void oldest_is(uint32_t want)
{
    uint32_t index = 0;
    bool found;

    base_lock_take(&bed.ual->lock);
    found = uiw_own_oldest_locked(bed.ep, &index);
    base_lock_drop(&bed.ual->lock);
    CHECK(found);
    CHECK_EQ(want, index);
}

Test(uiw_own, each_message_counts, .init = bed_open, .fini = bed_close)
{
    (void)sent(VP_SEND, 1);
    sent(VP_RDMA_WRITE, 2)->has_immediate = true; /* two messages */
    (void)sent(VP_SEND_UNLINK, 3);
    oldest_is(0);
    heard(2);
    completes(1);
    fx_empty(bed.node.request_evd);
    oldest_is(1);
    heard(3);
    completes(2);
    oldest_is(2);
    heard(4);
    completes(3);
}

/* An immediate value without data is one message. */
Test(uiw_own, values_alone, .init = bed_open, .fini = bed_close)
{
    struct uiw_sqe *sqe = sent(VP_SEND, 1);

    sqe->has_immediate = true;
    sqe->length = 0;
    (void)sent(VP_SEND, 2);
    heard(1);
    completes(1);
    fx_empty(bed.node.request_evd);
    heard(2);
    completes(2);
}

/*
 * A request behind an open Read waits, even if it is acknowledged. The Read itself is no message.
 */
Test(uiw_own, behind_a_read, .init = bed_open, .fini = bed_close)
{
    struct uiw_sqe *read = uiw_bed_post(&bed, VP_RDMA_READ, FX_SIGNAL, 1);

    (void)sent(VP_SEND, 2);
    (void)sent(VP_SEND, 3);
    heard(1);
    heard(1);
    heard(0);
    fx_empty(bed.node.request_evd);
    oldest_is(2);
    read->done = UIW_DONE;
    uiw_bed_complete(&bed);
    completes(1);
    completes(2);
    fx_empty(bed.node.request_evd);
    heard(2);
    completes(3);
}

/*
 * The peer's acknowledgement arrives before the sending thread has marked the request as sent. Its
 * completion does not wait for that: the peer's answer may follow. Reads and requests that have not
 * been offered to the socket wait.
 */
Test(uiw_own, acknowledged_before_it_is_marked, .init = bed_open, .fini = bed_close)
{
    (void)uiw_bed_post(&bed, VP_SEND, FX_SIGNAL, 1);
    (void)uiw_bed_post(&bed, VP_RDMA_READ, FX_SIGNAL, 2);
    (void)uiw_bed_post(&bed, VP_SEND, FX_SIGNAL, 3);
    bed.ep->sent_is = UIW_DONE_SENT;
    heard(1);
    fx_empty(bed.node.request_evd);
    atomic_store(&bed.ep->tx.offered, 2);
    heard(2);
    completes(1);
    fx_empty(bed.node.request_evd);
}

/* The slot of such a request may have been posted again when the sender comes to mark it. */
Test(uiw_own, a_slot_in_use_again_is_not_marked, .init = bed_open, .fini = bed_close)
{
    struct uiw_sqe *sqe = uiw_bed_post(&bed, VP_SEND, FX_SIGNAL, 1);

    bed.ep->sent_is = UIW_DONE_SENT;
    atomic_store(&bed.ep->tx.offered, 1);
    heard(1);
    completes(1);
    base_lock_take(&bed.ual->lock);
    uiw_sq_mark_sent_locked(bed.ep, sqe, 0);
    base_lock_drop(&bed.ual->lock);
    CHECK_EQ(UIW_DONE_NOT, sqe->done);
}

/* A peer acknowledges what was offered to the socket but has not left: the stream fails. */
Test(uiw_own, acknowledged_before_it_has_left, .init = bed_open, .fini = bed_close)
{
    (void)uiw_bed_post(&bed, VP_SEND, FX_SIGNAL, 1);
    bed.ep->sent_is = UIW_DONE_SENT;
    CHECK(uiw_out_take_back(bed.ep));
    atomic_store(&bed.ep->tx.offered, 1);
    CHECK(uiw_out_take_back(bed.ep));
    CHECK_EQ(0, atomic_load(&bed.ep->tx.offered));
    atomic_store(&bed.ep->tx.offered, 1);
    heard(1);
    completes(1);
    CHECK(!uiw_out_take_back(bed.ep));
    CHECK(uiw_has_failed(bed.ep));
    CHECK(atomic_load(&bed.ep->tx.dead));
    uiw_out_reset(bed.ep);
}

/*
 * The peer has closed the stream. Octets that TCP has delivered have reached it, unless the peer
 * has said that it takes nothing more, or that a Send waits for a receive there.
 */
static void conclude(uint64_t words, bool unread, bool completes_it)
{
    const struct iw_segment ack = {.to = iw_own_ack(0, 0) | words};
    int ends[2];

    bed_open();
    CHECK_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
    bed.ep->fd = ends[0];
    if (unread)
        CHECK_EQ(1, send(ends[0], "", 1, 0));
    (void)sent(VP_SEND, 1);
    (void)uiw_bed_post(&bed, VP_SEND, FX_SIGNAL, 2); /* this one was not sent */
    uiw_own_heard(bed.ep, &ack);
    uiw_own_conclude(bed.ep);
    uiw_bed_complete(&bed);
    if (completes_it)
        completes(1);
    fx_empty(bed.node.request_evd);
    bed.ep->fd = -1;
    (void)close(ends[0]);
    (void)close(ends[1]);
    bed_close();
}

Test(uiw_own, the_peer_has_gone)
{
    conclude(0, false, true);
    conclude(0, true, false);
    conclude(IW_OWN_LAST, false, false);
    conclude(IW_OWN_WAITS, false, false);
}

/* With a foreign peer a request is done when it has been sent. */
Test(uiw_own, nothing_is_agreed, .init = bed_open, .fini = bed_close)
{
    (void)sent(VP_SEND, 1);
    (void)sent(VP_RDMA_WRITE, 2);
    uiw_own_agree(bed.ep, 0);
    evd_wake(bed.ual->request_evd);
    completes(1);
    completes(2);
    CHECK_EQ(UIW_DONE, bed.ep->sent_is);
}

/* ---- Messages of the peer -------------------------------------------------------------------- */

static struct uiw_stream stream;

static void send_all(void)
{
    unsigned budget = 32;

    uiw_sender_run(stream.ep, true, &budget);
}

/* Checks that the octets of the acknowledgement with this number arrive, without CRC. */
static void acknowledgement_arrives(uint8_t messages)
{
    const uint8_t want[] = {0, 14, 0xc1, 0x40, 0x69, 0x74,     0x61, 1, 0x69, 0x74,
                            0, 0,  0,    0,    0,    messages, 0,    0, 0,    0};
    uint8_t got[sizeof(want)];

    CHECK_EQ(sizeof(got), recv(stream.peer, got, sizeof(got), MSG_WAITALL));
    fx_check_same(want, got, sizeof(want));
}

static void stream_open(void)
{
    uiw_stream_open(&stream, false, 1442);
    stream.ep->own.agreed = IW_OWN_ACKS;
}

static void stream_close(void)
{
    uiw_stream_close(&stream);
    check_done();
}

/*
 * An answer leaves behind the acknowledgement of what it answers: the peer's request completes
 * before the answer arrives.
 */
Test(uiw_own, an_acknowledgement_leaves_before_requests, .init = stream_open, .fini = stream_close)
{
    uiw_own_took(stream.ep, 3);
    uiw_own_took(stream.ep, 2);
    uiw_stream_post(&stream, VP_SEND, 0, 0, 10, 0, 0);
    send_all();
    acknowledgement_arrives(5);
    CHECK(!atomic_load(&stream.ep->own.ack_is_due));
}

/* The batch is being built when the message arrives and is answered. */
Test(uiw_own, a_batch_acknowledges_before_an_answer, .init = stream_open, .fini = stream_close)
{
    static struct uiw_batch batch;
    static const uint8_t opcodes[] = {IW_OP_SEND, IW_OP_WRITE, IW_OP_SEND};
    unsigned offset = 0;

    uiw_stream_post(&stream, VP_SEND, 0, 0, 0, 0, 0);
    uiw_batch_begin(&batch, &stream.ep->tx.cursor);
    uiw_batch_fill(stream.ep, &batch);
    uiw_own_took(stream.ep, 1);
    uiw_stream_post(&stream, VP_SEND, 0, 0, 0, 0, 0);
    uiw_batch_fill(stream.ep, &batch);
    CHECK_EQ(3, batch.fpdu_count);
    CHECK_EQ(batch.fpdus[0].wire_length, batch.before_ack);
    for (unsigned i = 0; i < 3; i++) {
        CHECK_EQ(opcodes[i], batch.scratch[offset + 3] & 0xf);
        offset += batch.fpdus[i].wire_length;
    }
    uiw_batch_end(stream.ep, &batch);
}

/* A Write of 100 FPDUs takes several calls. */
Test(uiw_own, an_acknowledgement_is_not_put_off, .init = stream_open, .fini = stream_close)
{
    uiw_own_took(stream.ep, 1);
    uiw_stream_post(&stream, VP_RDMA_WRITE, 0, 0, 100 * (1442 - 14), uiw_stream_stag(&stream), 0);
    send_all();
    acknowledgement_arrives(1);
    CHECK(!atomic_load(&stream.ep->own.ack_is_due));
}

/* The socket is full, so the acknowledgement is sent later, with the number at that time. */
Test(uiw_own, an_acknowledgement_waits_for_room, .init = stream_open, .fini = stream_close)
{
    static char octets[65536];
    ssize_t got;

    while (send(stream.ep->fd, octets, sizeof(octets), MSG_DONTWAIT) > 0) {
    }
    while (send(stream.ep->fd, octets, 1, MSG_DONTWAIT) > 0) {
    }
    uiw_own_took(stream.ep, 1);
    send_all();
    CHECK(atomic_load(&stream.ep->own.ack_is_due));
    uiw_own_took(stream.ep, 1);
    do
        got = recv(stream.peer, octets, sizeof(octets), MSG_DONTWAIT);
    while (got > 0);
    send_all();
    acknowledgement_arrives(2);
    CHECK(!atomic_load(&stream.ep->own.ack_is_due));
}

/* ---- Messages that wait for a receive -------------------------------------------------------- */

static enum iw_error arrives(const uint8_t *fpdu, size_t length)
{
    uint8_t whole[128];

    memcpy(whole, fpdu, length);
    return iw_rx_consume(&stream.ep->rx.iw, whole,
                         length + iw_encode_trailer(whole + length, 0, 0));
}

/* The peer's Read greets, so both sides let Sends wait. */
static void greet(void)
{
    const struct iw_read_request request = {
        .sink_stag = 1,
        .source_stag = 1,
        .source_to = iw_own_greeting(IW_OWN_ACKS | IW_OWN_HOLD),
    };
    uint8_t fpdu[64];
    size_t length = iw_encode_untagged(fpdu, IW_OP_READ_REQUEST, true, 0, IW_QN_READ_REQUEST, 1, 0,
                                       IW_READ_REQUEST_HEADER);

    stream.ep->own.wanted = IW_OWN_ACKS | IW_OWN_HOLD;
    stream.ep->rx.iw.ops = &uiw_own_greet_ops;
    CHECK_EQ(IW_OK, arrives(fpdu, length + iw_encode_read_request(fpdu + length, &request)));
    CHECK_EQ(IW_OWN_ACKS | IW_OWN_HOLD, stream.ep->own.agreed);
}

static void message_arrives(uint32_t msn, const char text[4])
{
    uint8_t fpdu[64];
    size_t length = iw_encode_untagged(fpdu, IW_OP_SEND, true, 0, IW_QN_SEND, msn, 0, 4);

    memcpy(fpdu + length, text, 4);
    CHECK_EQ(IW_OK, arrives(fpdu, length + 4));
}

static uint64_t counted_at_completion;

enum evd_push_result __real_evd_push_dto(struct evd *evd, const struct evd_dto *dto);
enum evd_push_result __wrap_evd_push_dto(struct evd *evd, const struct evd_dto *dto);

enum evd_push_result __wrap_evd_push_dto(struct evd *evd, const struct evd_dto *dto)
{
    if (stream.ep && dto->event_number == IT_DTO_RC_RECV_CMPL_EVENT)
        counted_at_completion = atomic_load(&stream.ep->own.due);
    return __real_evd_push_dto(evd, dto);
}

/* Another thread may answer as soon as the receive completes. */
Test(uiw_own, a_message_counts_before_it_completes, .init = stream_open, .fini = stream_close)
{
    greet();
    uiw_stream_post_recv(&stream, 0, 64);
    message_arrives(1, "1st.");
    CHECK_EQ(1, counted_at_completion);
    message_arrives(2, "2nd.");
    uiw_stream_post_recv(&stream, 100, 64);
    CHECK_EQ(IW_OK, uiw_hold_drain(stream.ep));
    CHECK_EQ(2, counted_at_completion);
}

/* A receive that is posted meanwhile belongs to the message that waits, not to the next one. */
Test(uiw_own, a_waiting_message_goes_first, .init = stream_open, .fini = stream_close)
{
    greet();
    message_arrives(1, "1st.");
    fx_empty(stream.node.recv_evd);
    uiw_stream_post_recv(&stream, 0, 64);
    uiw_stream_post_recv(&stream, 100, 64);
    message_arrives(2, "2nd.");
    uiw_stream_done(stream.node.recv_evd, 1, IT_DTO_SUCCESS);
    uiw_stream_done(stream.node.recv_evd, 2, IT_DTO_SUCCESS);
    fx_check_same("1st.", stream.buf.data, 4);
    fx_check_same("2nd.", stream.buf.data + 100, 4);
}
