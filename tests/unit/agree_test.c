/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests each role with frames that the test writes. */
#include "tdi/agree/agree.h"

#include <criterion/criterion.h>

#include <string.h>

static const struct agree_terms ours = {
    .kind = AGREE_IWARP, .family = 4, .address = {10, 0, 0, 1}, .token = "our token......"};
static const struct agree_terms theirs = {.kind = AGREE_IWARP,
                                          .family = 4,
                                          .port = 4711,
                                          .address = {10, 0, 0, 2},
                                          .token = "their token....",
                                          .private_length = 3,
                                          .private_data = "ok!"};

struct side {
    struct agree agree;
    uint8_t
        out[4 * AGREE_FRAME_MAX]; /* octets that this side has sent and the test has not taken */
    size_t out_length;
    size_t fed; /* octets that this side was given and has not taken */
    uint8_t in[4 * AGREE_FRAME_MAX];
};

static void flush(struct side *side)
{
    size_t length;
    const uint8_t *octets = agree_output(&side->agree, &length);

    if (length == 0)
        return;
    memcpy(side->out + side->out_length, octets, length);
    side->out_length += length;
    agree_sent(&side->agree, length);
}

static void start(struct side *side, bool initiator)
{
    memset(side, 0, sizeof(*side));
    agree_init(&side->agree, initiator, &ours, 4, theirs.address);
    flush(side);
}

/* Feeds octet by octet, as a socket might deliver them. */
static void feed(struct side *side, const uint8_t *octets, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        size_t wanted = agree_wanted(&side->agree);

        side->in[side->fed++] = octets[i];
        if (wanted > 0 && side->fed >= wanted &&
            agree_feed(&side->agree, side->in, side->fed) == side->fed)
            side->fed = 0;
    }
    flush(side);
}

static void feed_terms(struct side *side, enum agree_type type, const struct agree_terms *terms)
{
    uint8_t octets[AGREE_OWN_MAX];

    feed(side, octets, agree_frame_encode_terms(type, terms, octets));
}

static void feed_empty(struct side *side, enum agree_type type)
{
    uint8_t octets[AGREE_OWN_MAX];

    feed(side, octets, agree_frame_encode_empty(type, octets));
}

static void feed_end(struct side *side, enum agree_type type, enum agree_reason reason)
{
    uint8_t octets[AGREE_OWN_MAX];

    feed(side, octets, agree_frame_encode_end(type, reason, octets));
}

/* Takes the next frame that this side has sent. */
static struct agree_frame said(struct side *side, enum agree_type type)
{
    struct agree_frame frame;
    size_t wanted;

    cr_assert_eq(agree_frame_find(side->out, side->out_length, &frame, &wanted), AGREE_WHOLE);
    cr_assert_eq(frame.type, type);
    cr_assert(!frame.malformed);
    side->out_length -= frame.length;
    memmove(side->out, side->out + frame.length, side->out_length);
    return frame;
}

static void said_last(struct side *side, enum agree_type type, enum agree_reason reason)
{
    cr_assert_eq(said(side, type).reason, reason);
    cr_assert_eq(side->out_length, 0);
}

static void does(struct side *side, enum agree_order order)
{
    cr_assert_eq(agree_next_order(&side->agree), order);
}

static void over(struct side *side, enum agree_outcome outcome, enum agree_reason reason,
                 bool by_peer)
{
    does(side, AGREE_DO_FINISH);
    does(side, AGREE_DO_NOTHING);
    cr_assert_eq(side->agree.outcome, outcome);
    cr_assert_eq(side->agree.reason, reason);
    cr_assert_eq(side->agree.by_peer, by_peer);
    cr_assert_eq(agree_wanted(&side->agree), 0);
}

static size_t key_of(const uint8_t token[AGREE_TOKEN], uint8_t key[64])
{
    memset(key, 0, 64); /* some devices pad private data */
    (void)agree_frame_encode_key(token, key);
    return 64;
}

static void connected(struct side *side)
{
    uint8_t key[64];
    size_t length = key_of(ours.token, key);

    agree_connected(&side->agree, key, length);
    flush(side);
}

/* ---- Steps on the way */

static void initiator_connects(struct side *side)
{
    start(side, true);
    (void)said(side, AGREE_OFFER);
    feed_terms(side, AGREE_ANSWER, &theirs);
    does(side, AGREE_DO_CONNECT);
}

static void initiator_ready(struct side *side)
{
    initiator_connects(side);
    connected(side);
    (void)said(side, AGREE_READY);
}

static void responder_answers(struct side *side)
{
    start(side, false);
    cr_assert_eq(side->out_length, 0);
    feed_terms(side, AGREE_OFFER, &theirs);
    does(side, AGREE_DO_LISTEN);
    agree_listening(&side->agree, 99);
    flush(side);
    cr_assert_eq(said(side, AGREE_ANSWER).terms.port, 99);
}

static void responder_accepts(struct side *side)
{
    uint8_t key[64];
    size_t length;

    responder_answers(side);
    length = key_of(ours.token, key);
    cr_assert(agree_requested(&side->agree, key, length));
    does(side, AGREE_DO_ACCEPT);
}

/* ---- All is well */

Test(agree, initiator)
{
    uint8_t key[AGREE_KEY_FRAME];
    struct agree_frame frame;
    struct side side;
    size_t wanted;

    initiator_connects(&side);
    cr_assert_eq(side.agree.peer.port, 4711);
    cr_assert_eq(side.agree.peer.private_length, 3);
    cr_assert_eq(agree_key(&side.agree, key), sizeof(key));
    cr_assert_eq(agree_frame_find(key, sizeof(key), &frame, &wanted), AGREE_WHOLE);
    cr_assert(agree_token_equal(frame.terms.token, theirs.token));
    connected(&side);
    (void)said(&side, AGREE_READY);
    does(&side, AGREE_DO_NOTHING);
    feed_empty(&side, AGREE_COMMIT);
    over(&side, AGREE_CONVERTED, AGREE_NO_REASON, false);
}

static void responder_done(struct side *side)
{
    (void)said(side, AGREE_COMMIT);
    over(side, AGREE_CONVERTED, AGREE_NO_REASON, false);
}

Test(agree, responder_in_both_orders)
{
    struct side side;

    responder_accepts(&side);
    feed_empty(&side, AGREE_READY);
    cr_assert_eq(side.out_length, 0);
    connected(&side);
    responder_done(&side);
    responder_accepts(&side);
    connected(&side);
    cr_assert_eq(side.out_length, 0);
    feed_empty(&side, AGREE_READY);
    responder_done(&side);
}

/* ---- Keys */

Test(agree, wrong_keys_are_refused_and_the_right_one_is_good_once)
{
    struct side side;
    uint8_t key[64];
    size_t length;

    start(&side, false);
    length = key_of(ours.token, key);
    cr_assert(
        !agree_requested(&side.agree, key, length)); /* the key has not been sent to anybody yet */
    responder_answers(&side);
    for (size_t bit = 0; bit < 8 * (size_t)AGREE_KEY_FRAME; bit++) {
        key[bit / 8] ^= (uint8_t)(1u << bit % 8);
        cr_assert(!agree_requested(&side.agree, key, length), "bit %zu", bit);
        key[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    for (size_t cut = 0; cut < AGREE_KEY_FRAME; cut++)
        cr_assert(!agree_requested(&side.agree, key, cut));
    agree_connected(&side.agree, NULL, 0); /* the connection has no key */
    cr_assert(!side.agree.connected);
    cr_assert(agree_requested(&side.agree, key, AGREE_KEY_FRAME));
    cr_assert(!agree_requested(&side.agree, key, AGREE_KEY_FRAME));
}

Test(agree, initiator_connected_to_somebody_else)
{
    struct side side;
    uint8_t key[64];

    initiator_connects(&side);
    agree_connected(&side.agree, key, key_of(theirs.token, key));
    flush(&side);
    said_last(&side, AGREE_ABORT, AGREE_NO_CONNECTION);
    does(&side, AGREE_DO_DROP);
    does(&side, AGREE_DO_HURRY);
    does(&side, AGREE_DO_NOTHING);
    feed_end(&side, AGREE_ABORT, AGREE_NO_REASON);
    over(&side, AGREE_PLAIN, AGREE_NO_CONNECTION, false);
}

/* ---- Refusals */

static void refuses(const struct agree_terms *offer, enum agree_reason reason)
{
    struct side side;

    start(&side, false);
    feed_terms(&side, AGREE_OFFER, offer);
    said_last(&side, AGREE_REFUSE, reason);
    does(&side, AGREE_DO_DROP);
    does(&side, AGREE_DO_HURRY);
    does(&side, AGREE_DO_NOTHING); /* not yet plain: the initiator's last frame is missing */
    feed_end(&side, AGREE_ABORT, AGREE_NO_REASON);
    over(&side, AGREE_PLAIN, reason, false);
}

Test(agree, offers_that_are_refused)
{
    struct agree_terms offer = theirs;

    offer.kind = AGREE_ROCE;
    refuses(&offer, AGREE_BAD_KIND);
    offer = theirs;
    offer.address[3] = 3;
    refuses(&offer, AGREE_BAD_ADDRESS);
    offer.family = 6;
    refuses(&offer, AGREE_BAD_ADDRESS);
}

Test(agree, offer_of_another_version_is_refused)
{
    uint8_t octets[AGREE_OWN_MAX];
    struct side side;
    size_t length;

    start(&side, false);
    length = agree_frame_encode_terms(AGREE_OFFER, &theirs, octets);
    octets[8] = 2;
    feed(&side, octets, length);
    said_last(&side, AGREE_REFUSE, AGREE_BAD_VERSION);
}

Test(agree, responder_cannot_listen)
{
    struct side side;

    start(&side, false);
    feed_terms(&side, AGREE_OFFER, &theirs);
    agree_give_up(&side.agree, AGREE_NO_RESOURCES);
    flush(&side);
    said_last(&side, AGREE_REFUSE, AGREE_NO_RESOURCES);
    does(&side, AGREE_DO_DROP); /* the order to listen no longer holds */
}

Test(agree, initiator_is_refused)
{
    struct side side;

    start(&side, true);
    (void)said(&side, AGREE_OFFER);
    feed_end(&side, AGREE_REFUSE, AGREE_BAD_KIND);
    said_last(&side, AGREE_ABORT,
              AGREE_NO_REASON); /* its last frame tells the responder where the frames end */
    cr_assert(side.agree.refused);
    does(&side, AGREE_DO_DROP);
    does(&side, AGREE_DO_HURRY);
    over(&side, AGREE_PLAIN, AGREE_BAD_KIND, true);
}

static void bad_answer(const struct agree_terms *answer, enum agree_reason reason)
{
    struct side side;

    start(&side, true);
    (void)said(&side, AGREE_OFFER);
    feed_terms(&side, AGREE_ANSWER, answer);
    said_last(&side, AGREE_ABORT, reason);
}

Test(agree, answers_that_are_not_followed)
{
    struct agree_terms answer = theirs;

    answer.address[0] = 11;
    bad_answer(&answer, AGREE_BAD_ADDRESS);
    answer = theirs;
    answer.port = 0;
    bad_answer(&answer, AGREE_BAD_PROTOCOL);
    answer = theirs;
    answer.kind = 77;
    bad_answer(&answer, AGREE_BAD_KIND);
}

/* ---- Out of turn */

static void aborts(struct side *side, enum agree_reason reason)
{
    said_last(side, AGREE_ABORT, reason);
    does(side, AGREE_DO_DROP);
    does(side, AGREE_DO_HURRY);
    does(side, AGREE_DO_NOTHING);
    feed_empty(side, AGREE_READY); /* skipped: it was in transit */
    does(side, AGREE_DO_NOTHING);
    feed_end(side, AGREE_ABORT, AGREE_BAD_KIND);
    over(side, AGREE_PLAIN, reason, false);
}

Test(agree, both_are_initiators)
{
    struct side side;

    start(&side, true);
    (void)said(&side, AGREE_OFFER);
    feed_terms(&side, AGREE_OFFER, &theirs);
    aborts(&side, AGREE_BAD_ROLE);
}

Test(agree, out_of_turn)
{
    struct side side;

    start(&side, false);
    feed_empty(&side, AGREE_COMMIT);
    aborts(&side, AGREE_BAD_PROTOCOL);
    responder_answers(&side);
    feed_terms(&side, AGREE_OFFER, &theirs);
    aborts(&side, AGREE_BAD_PROTOCOL);
    responder_answers(&side);
    feed_empty(&side, AGREE_READY);
    feed_empty(&side, AGREE_READY);
    aborts(&side, AGREE_BAD_PROTOCOL);
    initiator_connects(&side);
    feed_empty(&side, AGREE_COMMIT);
    aborts(&side, AGREE_BAD_PROTOCOL);
    initiator_connects(&side);
    feed_empty(&side, AGREE_KEY);
    aborts(&side, AGREE_BAD_PROTOCOL);
}

/* ---- Failures on the way */

Test(agree, connection_fails)
{
    struct side side;

    initiator_connects(&side);
    agree_unconnected(&side.agree);
    flush(&side);
    aborts(&side, AGREE_NO_CONNECTION);
    responder_accepts(&side);
    agree_unconnected(&side.agree);
    flush(&side);
    aborts(&side, AGREE_NO_CONNECTION);
}

Test(agree, peer_aborts)
{
    struct side side;

    responder_accepts(&side);
    feed_empty(&side, AGREE_READY);
    feed_end(&side, AGREE_ABORT, AGREE_NO_RESOURCES);
    said_last(&side, AGREE_ABORT, AGREE_NO_REASON);
    does(&side, AGREE_DO_DROP);
    does(&side, AGREE_DO_HURRY);
    over(&side, AGREE_PLAIN, AGREE_NO_RESOURCES, true);
    initiator_ready(&side);
    feed_end(&side, AGREE_ABORT, AGREE_TIMEOUT);
    said_last(&side, AGREE_ABORT, AGREE_NO_REASON);
}

/*
 * The outcome is not plain until the last frame has left: otherwise the program would write into
 * it.
 */
Test(agree, last_frame_leaves_first)
{
    struct side side;
    size_t length;

    start(&side, true);
    side.out_length = 0;
    agree_give_up(&side.agree, AGREE_NO_RESOURCES);
    does(&side, AGREE_DO_DROP);
    does(&side, AGREE_DO_HURRY);
    feed_end(&side, AGREE_ABORT, AGREE_NO_REASON); /* flushes afterwards */
    over(&side, AGREE_PLAIN, AGREE_NO_RESOURCES, false);

    start(&side, true);
    agree_give_up(&side.agree, AGREE_NO_RESOURCES);
    (void)agree_output(&side.agree, &length);
    for (; length > 1; length--)
        agree_sent(&side.agree, 1);
    side.agree.peer_ended = true;
    does(&side, AGREE_DO_DROP);
    does(&side, AGREE_DO_HURRY);
    does(&side, AGREE_DO_NOTHING);
    agree_sent(&side.agree, 1);
    over(&side, AGREE_PLAIN, AGREE_NO_RESOURCES, false);
}

Test(agree, responder_that_nobody_spoke_to_leaves_no_trace)
{
    struct side side;

    start(&side, false);
    feed(&side, (const uint8_t *)"\xc7IT", 3); /* looked at, not taken */
    agree_expired(&side.agree);
    flush(&side);
    cr_assert(side.out_length == 0 && side.fed == 3);
    does(&side, AGREE_DO_DROP);
    over(&side, AGREE_PLAIN, AGREE_TIMEOUT, false);
}

Test(agree, offer_that_never_left_is_taken_back)
{
    struct side side;
    size_t length;

    agree_init(&side.agree, true, &ours, 4, theirs.address);
    agree_expired(&side.agree);
    (void)agree_output(&side.agree, &length);
    cr_assert_eq(length, 0);
    does(&side, AGREE_DO_DROP);
    over(&side, AGREE_PLAIN, AGREE_TIMEOUT, false);
}

Test(agree, silence_after_the_last_frame)
{
    struct side side;

    responder_answers(&side);
    agree_expired(&side.agree);
    flush(&side);
    said_last(&side, AGREE_ABORT, AGREE_TIMEOUT);
    does(&side, AGREE_DO_DROP);
    does(&side, AGREE_DO_HURRY);
    does(&side, AGREE_DO_NOTHING);
    agree_expired(&side.agree);
    does(&side, AGREE_DO_DROP);
    over(&side, AGREE_LOST, AGREE_TIMEOUT, false);
}

/* ---- Doubt */

static void doubts(struct side *side)
{
    initiator_ready(side);
    agree_expired(&side->agree);
    flush(side);
    said_last(side, AGREE_ABORT, AGREE_TIMEOUT);
    does(side, AGREE_DO_HURRY); /* the connection stays */
    does(side, AGREE_DO_NOTHING);
}

Test(agree, doubt)
{
    struct side side;

    doubts(&side);
    feed_empty(&side, AGREE_COMMIT);
    over(&side, AGREE_CONVERTED, AGREE_NO_REASON, false);

    doubts(&side);
    feed_end(&side, AGREE_ABORT, AGREE_NO_REASON);
    cr_assert_eq(side.out_length, 0);
    does(&side, AGREE_DO_DROP);
    does(&side, AGREE_DO_HURRY);
    over(&side, AGREE_PLAIN, AGREE_TIMEOUT, false);

    doubts(&side);
    agree_expired(&side.agree);
    does(&side, AGREE_DO_DROP);
    over(&side, AGREE_LOST, AGREE_TIMEOUT, false);
}

/*
 * The responder may have committed, used the connection and closed it before the initiator reads
 * COMMIT.
 */
Test(agree, end_of_the_connection_does_not_overtake_commit)
{
    struct side side;

    initiator_ready(&side);
    agree_unconnected(&side.agree);
    cr_assert_eq(side.agree.state, AGREE_WAIT_COMMIT);
    feed_empty(&side, AGREE_COMMIT);
    over(&side, AGREE_CONVERTED, AGREE_NO_REASON, false);
}

Test(agree, commit_cannot_be_taken_back)
{
    struct side side;
    size_t length;

    responder_accepts(&side);
    feed_empty(&side, AGREE_READY);
    agree_connected(&side.agree, NULL, 0);
    agree_give_up(&side.agree, AGREE_NO_RESOURCES);
    cr_assert_eq(side.agree.state, AGREE_CONFIRM);
    cr_assert_eq(agree_wanted(&side.agree), 0);
    (void)agree_output(&side.agree, &length);
    cr_assert_eq(length, AGREE_HEADER);
    agree_sent(&side.agree, 5);
    does(&side, AGREE_DO_NOTHING);
    agree_stream_ended(&side.agree);
    does(&side, AGREE_DO_DROP);
    over(&side, AGREE_LOST, AGREE_NO_REASON, false);
}

/* ---- Streams that end, and what is no frame */

Test(agree, stream_ends)
{
    struct side side;

    start(&side, false);
    agree_stream_ended(&side.agree);
    does(&side, AGREE_DO_DROP);
    over(&side, AGREE_PLAIN, AGREE_NO_REASON, false);
    initiator_ready(&side);
    agree_stream_ended(&side.agree);
    does(&side, AGREE_DO_DROP);
    over(&side, AGREE_PLAIN, AGREE_NO_REASON, false);
}

Test(agree, plain_octets_of_the_peer_are_not_taken)
{
    struct side side;

    for (int initiator = 0; initiator < 2; initiator++) {
        start(&side, initiator);
        side.out_length = 0;
        cr_assert_eq(agree_feed(&side.agree, (const uint8_t *)"hello", 5), 0);
        flush(&side);
        cr_assert_eq(side.out_length, 0); /* the peer would not understand an answer */
        does(&side, AGREE_DO_DROP);
        over(&side, AGREE_PLAIN, AGREE_BAD_PROTOCOL, false);
    }
}

Test(agree, plain_octets_in_the_middle)
{
    struct side side;

    responder_answers(&side);
    cr_assert_eq(agree_feed(&side.agree, (const uint8_t *)"hello", 5), 0);
    flush(&side);
    said_last(&side, AGREE_ABORT, AGREE_BAD_PROTOCOL);
    does(&side, AGREE_DO_DROP);
    does(&side, AGREE_DO_HURRY);
    over(&side, AGREE_PLAIN, AGREE_BAD_PROTOCOL, false);
}
