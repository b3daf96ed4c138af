/* SPDX-License-Identifier: BSD-2-Clause */
#include "tdi/agree/agree.h"

#include <string.h>

/* ---------------------------------------------------------------- ends */

static void agree_order_add(struct agree *agree, enum agree_order order)
{
    agree->orders |= 1u << order;
}

static void agree_finish(struct agree *agree, enum agree_outcome outcome)
{
    agree->state = AGREE_OVER;
    agree->outcome = outcome;
    agree_order_add(agree, AGREE_DO_FINISH);
}

/* Withdraws orders that the caller has not fetched yet. */
static void agree_drop(struct agree *agree)
{
    agree->orders &= ~(1u << AGREE_DO_LISTEN | 1u << AGREE_DO_ACCEPT | 1u << AGREE_DO_CONNECT);
    agree_order_add(agree, AGREE_DO_DROP);
}

static bool agree_is_half_sent(const struct agree *agree)
{
    return agree->output_sent > 0;
}

/*
 * The stream is plain again when our last frame is sent and the peer's has come. Until then only
 * this protocol may use it.
 */
static void agree_check_withdrawn(struct agree *agree)
{
    if (agree->state == AGREE_WITHDRAW && agree->peer_ended && agree->output_length == 0)
        agree_finish(agree, AGREE_PLAIN);
}

static void agree_say_last(struct agree *agree, enum agree_type type, enum agree_reason reason)
{
    agree->output_length +=
        agree_frame_encode_end(type, reason, agree->output + agree->output_length);
}

static void agree_note(struct agree *agree, enum agree_reason reason, bool by_peer)
{
    if (agree->reason != AGREE_NO_REASON)
        return;
    agree->reason = reason;
    agree->by_peer = by_peer;
}

/* Sends this side's last frame. */
static void agree_withdraw(struct agree *agree, enum agree_reason reason, bool by_peer)
{
    enum agree_type type = agree->state == AGREE_PREPARE ? AGREE_REFUSE : AGREE_ABORT;

    agree_note(agree, reason, by_peer);
    agree_drop(agree);
    /* Neither side has sent a frame, so there is nothing to withdraw. */
    if (!agree->spoke && !agree->peer_spoke) {
        agree->output_length = 0;
        agree_finish(agree, AGREE_PLAIN);
        return;
    }
    /* In AGREE_DOUBT the last frame has been sent already. */
    if (agree->state != AGREE_DOUBT)
        agree_say_last(agree, type, by_peer ? AGREE_NO_REASON : reason);
    agree->state = AGREE_WITHDRAW;
    agree_order_add(agree, AGREE_DO_HURRY);
    agree_check_withdrawn(agree);
}

/* Returns true in states that this side cannot leave of its own will. */
static bool agree_is_said(const struct agree *agree)
{
    return agree->state == AGREE_CONFIRM || agree->state == AGREE_DOUBT ||
           agree->state == AGREE_WITHDRAW;
}

void agree_give_up(struct agree *agree, enum agree_reason reason)
{
    if (agree->state == AGREE_OVER || agree_is_said(agree))
        return;
    if (agree->state != AGREE_WAIT_COMMIT) {
        agree_withdraw(agree, reason, false);
        return;
    }
    /* The responder may have sent commit already, which then counts. */
    agree_note(agree, reason, false);
    agree_say_last(agree, AGREE_ABORT, reason);
    agree->state = AGREE_DOUBT;
    agree_order_add(agree, AGREE_DO_HURRY);
}

void agree_expired(struct agree *agree)
{
    if (!agree_is_said(agree)) {
        agree_give_up(agree, AGREE_TIMEOUT);
        return;
    }
    agree_note(agree, AGREE_TIMEOUT, false);
    agree_drop(agree);
    agree_finish(agree, AGREE_LOST);
}

void agree_stream_ended(struct agree *agree)
{
    bool lost = agree_is_half_sent(agree) || agree->state == AGREE_CONFIRM;

    if (agree->state == AGREE_OVER)
        return;
    agree_drop(agree);
    agree->output_length = 0;
    agree->output_sent = 0;
    agree_finish(agree, lost ? AGREE_LOST : AGREE_PLAIN);
}

/* ---------------------------------------------------------------- frames */

static void agree_confirm(struct agree *agree)
{
    if (agree->state != AGREE_WAIT_READY || !agree->connected || !agree->ready)
        return;
    agree->output_length +=
        agree_frame_encode_empty(AGREE_COMMIT, agree->output + agree->output_length);
    agree->state = AGREE_CONFIRM;
}

static bool agree_leads_to(const struct agree *agree, const struct agree_terms *terms)
{
    return terms->family == agree->peer_family &&
           memcmp(terms->address, agree->peer_address, AGREE_ADDRESS) == 0;
}

static void agree_take_offer(struct agree *agree, const struct agree_frame *frame)
{
    agree->state = AGREE_PREPARE; /* from here on agree_withdraw refuses */
    if (frame->version != AGREE_VERSION)
        agree_withdraw(agree, AGREE_BAD_VERSION, false);
    else if (frame->terms.kind != agree->own.kind)
        agree_withdraw(agree, AGREE_BAD_KIND, false);
    else if (!agree_leads_to(agree, &frame->terms))
        agree_withdraw(agree, AGREE_BAD_ADDRESS, false);
    else {
        agree->peer = frame->terms;
        agree_order_add(agree, AGREE_DO_LISTEN);
    }
}

static void agree_take_answer(struct agree *agree, const struct agree_frame *frame)
{
    if (frame->version != AGREE_VERSION)
        agree_withdraw(agree, AGREE_BAD_VERSION, false);
    else if (frame->terms.kind != agree->own.kind)
        agree_withdraw(agree, AGREE_BAD_KIND, false);
    else if (!agree_leads_to(agree, &frame->terms))
        agree_withdraw(agree, AGREE_BAD_ADDRESS, false);
    else if (frame->terms.port == 0)
        agree_withdraw(agree, AGREE_BAD_PROTOCOL, false);
    else {
        agree->peer = frame->terms;
        agree->state = AGREE_CONNECT;
        agree_order_add(agree, AGREE_DO_CONNECT);
    }
}

static void agree_take_last(struct agree *agree, const struct agree_frame *frame)
{
    agree->peer_ended = true;
    if (agree->state == AGREE_WITHDRAW) {
        agree_check_withdrawn(agree);
        return;
    }
    agree->refused = frame->type == AGREE_REFUSE && agree->state == AGREE_WAIT_ANSWER;
    agree_withdraw(agree, (enum agree_reason)frame->reason, true);
}

static void agree_take_out_of_turn(struct agree *agree, const struct agree_frame *frame)
{
    if (agree->initiator && frame->type == AGREE_OFFER)
        agree_give_up(agree, AGREE_BAD_ROLE);
    else if (frame->version != AGREE_VERSION)
        agree_give_up(agree, AGREE_BAD_VERSION);
    else
        agree_give_up(agree, AGREE_BAD_PROTOCOL);
}

static void agree_take(struct agree *agree, const struct agree_frame *frame)
{
    agree->peer_spoke = true;
    if (frame->type == AGREE_REFUSE || frame->type == AGREE_ABORT) {
        agree_take_last(agree, frame);
    } else if (agree->state == AGREE_WITHDRAW) {
        return;
    } else if (frame->malformed) {
        agree_give_up(agree, AGREE_BAD_PROTOCOL);
    } else if (frame->type == AGREE_OFFER && agree->state == AGREE_WAIT_OFFER) {
        agree_take_offer(agree, frame);
    } else if (frame->type == AGREE_ANSWER && agree->state == AGREE_WAIT_ANSWER) {
        agree_take_answer(agree, frame);
    } else if (frame->type == AGREE_READY && agree->state == AGREE_WAIT_READY && !agree->ready) {
        agree->ready = true;
        agree_confirm(agree);
    } else if (frame->type == AGREE_COMMIT &&
               (agree->state == AGREE_WAIT_COMMIT || agree->state == AGREE_DOUBT)) {
        agree->reason = AGREE_NO_REASON;
        agree_finish(agree, AGREE_CONVERTED);
    } else {
        agree_take_out_of_turn(agree, frame);
    }
}

/* The peer's octets are no frame, so no frame of it will follow. */
static void agree_take_strange(struct agree *agree)
{
    agree->peer_ended = true;
    if (agree->state == AGREE_WITHDRAW) {
        agree_check_withdrawn(agree);
    } else if (agree->peer_spoke) {
        agree_withdraw(agree, AGREE_BAD_PROTOCOL, false);
    } else {
        /* The peer does not know this protocol: send it no more frames. */
        agree_note(agree, AGREE_BAD_PROTOCOL, false);
        agree_stream_ended(agree);
    }
}

size_t agree_wanted(const struct agree *agree)
{
    return agree->state == AGREE_OVER || agree->state == AGREE_CONFIRM || agree->peer_ended
               ? 0
               : agree->wanted;
}

size_t agree_feed(struct agree *agree, const uint8_t *octets, size_t length)
{
    struct agree_frame frame;

    if (agree_wanted(agree) == 0)
        return 0;
    switch (agree_frame_find(octets, length, &frame, &agree->wanted)) {
    case AGREE_MORE:
        return 0;
    case AGREE_STRANGE:
        agree_take_strange(agree);
        return 0;
    case AGREE_WHOLE:
        break;
    }
    agree->wanted = 1;
    agree_take(agree, &frame);
    return frame.length;
}

const uint8_t *agree_output(const struct agree *agree, size_t *length)
{
    *length = agree->output_length - agree->output_sent;
    return agree->output + agree->output_sent;
}

void agree_sent(struct agree *agree, size_t length)
{
    agree->spoke = true;
    agree->output_sent += length;
    if (agree->output_sent < agree->output_length)
        return;
    agree->output_length = 0;
    agree->output_sent = 0;
    if (agree->state == AGREE_CONFIRM)
        agree_finish(agree, AGREE_CONVERTED);
    agree_check_withdrawn(agree);
}

/* ---------------------------------------------------------------- the RDMA connection */

size_t agree_key(const struct agree *agree, uint8_t *dst)
{
    return agree_frame_encode_key(agree->peer.token, dst);
}

static bool agree_key_is_right(const struct agree *agree, const uint8_t *octets, size_t length)
{
    struct agree_frame frame;
    size_t wanted;

    return length >= AGREE_KEY_FRAME &&
           agree_frame_find(octets, AGREE_KEY_FRAME, &frame, &wanted) == AGREE_WHOLE &&
           frame.type == AGREE_KEY && frame.version == AGREE_VERSION && !frame.malformed &&
           agree_token_equal(frame.terms.token, agree->own.token);
}

bool agree_requested(struct agree *agree, const uint8_t *private_data, size_t length)
{
    if (agree->state != AGREE_WAIT_READY || agree->key_used ||
        !agree_key_is_right(agree, private_data, length))
        return false;
    agree->key_used = true;
    agree_order_add(agree, AGREE_DO_ACCEPT);
    return true;
}

void agree_listening(struct agree *agree, uint16_t port)
{
    if (agree->state != AGREE_PREPARE)
        return;
    agree->own.port = port;
    agree->state = AGREE_WAIT_READY;
    agree->output_length +=
        agree_frame_encode_terms(AGREE_ANSWER, &agree->own, agree->output + agree->output_length);
}

void agree_connected(struct agree *agree, const uint8_t *private_data, size_t length)
{
    if (agree->state == AGREE_WAIT_READY && agree->key_used) {
        agree->connected = true;
        agree_confirm(agree);
    } else if (agree->state == AGREE_CONNECT && agree_key_is_right(agree, private_data, length)) {
        agree->output_length +=
            agree_frame_encode_empty(AGREE_READY, agree->output + agree->output_length);
        agree->state = AGREE_WAIT_COMMIT;
    } else if (agree->state == AGREE_CONNECT) {
        agree_give_up(agree, AGREE_NO_CONNECTION);
    }
}

void agree_unconnected(struct agree *agree)
{
    /* Once READY is sent, the responder decides. It sees the end of the connection, too. */
    if (agree->state != AGREE_WAIT_COMMIT)
        agree_give_up(agree, AGREE_NO_CONNECTION);
}

/* ---------------------------------------------------------------- beginning, orders */

void agree_init(struct agree *agree, bool initiator, const struct agree_terms *own,
                uint8_t peer_family, const uint8_t peer_address[AGREE_ADDRESS])
{
    memset(agree, 0, sizeof(*agree));
    agree->initiator = initiator;
    agree->own = *own;
    agree->own.port = 0;
    agree->peer_family = peer_family;
    memcpy(agree->peer_address, peer_address, AGREE_ADDRESS);
    agree->wanted = 1;
    agree->state = initiator ? AGREE_WAIT_ANSWER : AGREE_WAIT_OFFER;
    if (initiator)
        agree->output_length = agree_frame_encode_terms(AGREE_OFFER, &agree->own, agree->output);
}

enum agree_order agree_next_order(struct agree *agree)
{
    for (unsigned order = AGREE_DO_LISTEN; order <= AGREE_DO_FINISH; order++) {
        if (agree->orders & 1u << order) {
            agree->orders &= ~(1u << order);
            return (enum agree_order)order;
        }
    }
    return AGREE_DO_NOTHING;
}
