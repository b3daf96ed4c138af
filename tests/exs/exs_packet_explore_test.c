/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * All interleavings of a few packets: posts, cancels on both sides and the arrival of each message
 * in any order. Each packet that is sent must arrive once and in order in the receive with its
 * number, and nothing may be left waiting.
 */
#include "exs_explore.h"

#include "packet/exs_packet_in.h"
#include "packet/exs_packet_out.h"
#include "wire/exs_flow.h"

#include <stdio.h>
#include <string.h>

#define PACKETS  4u
#define RECEIVES 4u
#define CHANNEL  12u
#define NOBODY   0xffu

#define CANCEL 0x40u /* may be cancelled */
#define NONE   0x80u /* ends a script */

struct script {
    const char *name;
    uint8_t ring;
    uint8_t inline_max;
    uint8_t packets[PACKETS]; /* octets and flags */
    uint8_t receives[RECEIVES];
};

struct letter {
    struct exs_message head;
    uint8_t packet; /* DATA: its place in the script */
    uint8_t target; /* number of the receive that was written to */
};

struct channel {
    struct letter letters[CHANNEL];
    uint32_t count;
};

struct state {
    struct exs_packet_out out;
    struct exs_packet_in in;
    struct exs_packet_advert adverts[RECEIVES];
    struct exs_packet_receive receives[RECEIVES];
    struct exs_flow flow[2]; /* of the sender, of the receiver */
    struct channel to_receiver;
    struct channel to_sender;
    uint8_t ring[PACKETS]; /* packets that are stored */
    uint32_t stored;
    bool over[RECEIVES]; /* returned to the program */
    bool cancelled[RECEIVES];
    bool dropped[PACKETS]; /* cancelled before they were sent */
    uint32_t posted;       /* packets */
    uint32_t sent;         /* number of these that were sent or dropped */
    uint32_t receives_posted;
    uint32_t arrived;   /* packets that were delivered or dropped */
    uint32_t withdrawn; /* the chain to report; 0: none */
    bool withdraw;      /* is due */
    bool fin_sent;
};

static const struct script *script;

static void fix(void *world)
{
    struct state *state = world;

    state->out.adverts = state->adverts;
    state->in.receives = state->receives;
}

static void plain(void *world)
{
    struct state *state = world;

    state->out.adverts = NULL;
    state->in.receives = NULL;
}

static uint64_t octets_of(uint32_t packet)
{
    return script->packets[packet] & 0x0f;
}

/* ---- Channels ------------------------------------------------------------------------------- */

static void post(struct state *state, bool by_sender, struct letter *letter)
{
    struct channel *channel = by_sender ? &state->to_receiver : &state->to_sender;

    REQUIRE(channel->count < CHANNEL);
    letter->head.posted = exs_flow_send(&state->flow[by_sender ? 0 : 1]);
    letter->head.freed = by_sender ? 0 : exs_packet_in_tell(&state->in);
    channel->letters[channel->count++] = *letter;
    exs_flow_restock(&state->flow[by_sender ? 0 : 1]);
}

/* The message has taken a receive. */
static void spend(struct exs_flow *flow)
{
    if (exs_flow_spend(flow))
        exs_flow_restock(flow);
}

static void post_plain(struct state *state, bool by_sender, uint8_t type, uint32_t chain,
                       uint64_t count)
{
    struct letter letter;

    memset(&letter, 0, sizeof(letter));
    letter.head.type = type;
    letter.head.chain = chain;
    letter.head.count = count;
    post(state, by_sender, &letter);
}

static void take(struct channel *channel, struct letter *letter)
{
    *letter = channel->letters[0];
    channel->count--;
    memmove(&channel->letters[0], &channel->letters[1], channel->count * sizeof(*letter));
    memset(&channel->letters[channel->count], 0, sizeof(*letter));
}

static void credit(struct state *state, bool by_sender)
{
    struct exs_flow *flow = &state->flow[by_sender ? 0 : 1];
    bool ack = !by_sender && exs_packet_in_ack_due(&state->in) && exs_flow_room(flow) > 0;

    if (ack || exs_flow_credit_due(flow))
        post_plain(state, by_sender, EXS_MESSAGE_CREDIT, 0, 0);
}

/* ---- The sender ----------------------------------------------------------------------------- */

static void skip_dropped(struct state *state)
{
    while (state->sent < state->posted && state->dropped[state->sent])
        state->sent++;
}

static bool send_step(struct state *state)
{
    enum exs_packet_step step;
    struct exs_place place;
    struct letter letter;
    uint64_t length;

    skip_dropped(state);
    if (state->sent == state->posted || exs_flow_room(&state->flow[0]) == 0)
        return false;
    length = octets_of(state->sent);
    step = exs_packet_out_step(&state->out, length, length <= script->inline_max);
    if (step == EXS_PACKET_WAIT)
        return false;
    memset(&place, 0, sizeof(place));
    if (step == EXS_PACKET_NEED) {
        post_plain(state, true, EXS_MESSAGE_NEED, 0, state->out.next);
        exs_packet_out_sent(&state->out, step, 0, NULL);
        return true;
    }
    exs_packet_out_sent(&state->out, step, length, &place);
    memset(&letter, 0, sizeof(letter));
    letter.head.type = EXS_MESSAGE_DATA;
    letter.head.flags = (uint8_t)((step == EXS_PACKET_WRITE ? 0 : EXS_MESSAGE_INLINE) |
                                  (step == EXS_PACKET_RING ? 0 : EXS_MESSAGE_DIRECT));
    letter.head.count = length;
    letter.packet = (uint8_t)state->sent++;
    letter.target = step == EXS_PACKET_WRITE ? (uint8_t)place.stag : NOBODY;
    /* The Write may happen at once, so the memory must already be the sender's. */
    if (step == EXS_PACKET_WRITE)
        REQUIRE(!state->over[letter.target]);
    post(state, true, &letter);
    return true;
}

static bool all_posted(const struct state *state)
{
    return state->posted == PACKETS || (script->packets[state->posted] & NONE);
}

static void push_sender(struct state *state)
{
    if (state->withdrawn != 0 && exs_flow_room(&state->flow[0]) > 0) {
        post_plain(state, true, EXS_MESSAGE_WITHDRAWN, state->withdrawn, 0);
        state->withdrawn = 0;
    }
    while (send_step(state)) {
    }
    if (!state->fin_sent && state->sent == state->posted && all_posted(state) &&
        state->withdrawn == 0 && exs_flow_room(&state->flow[0]) > 0) {
        state->fin_sent = true;
        post_plain(state, true, EXS_MESSAGE_FIN, 0, 0);
    }
    credit(state, true);
}

static void to_sender(struct state *state)
{
    struct letter letter;

    take(&state->to_sender, &letter);
    REQUIRE(exs_flow_hear(&state->flow[0], letter.head.posted));
    REQUIRE(exs_packet_out_freed(&state->out, letter.head.freed));
    if (letter.head.type == EXS_MESSAGE_ADVERT)
        REQUIRE(exs_packet_out_advert(&state->out, &letter.head));
    else if (letter.head.type == EXS_MESSAGE_WITHDRAW) {
        REQUIRE(exs_packet_out_withdraw(&state->out, letter.head.chain));
        state->withdrawn = letter.head.chain;
    }
    spend(&state->flow[0]);
    push_sender(state);
}

/* ---- The receiver --------------------------------------------------------------------------- */

static size_t index_of(const struct exs_packet_receive *receive)
{
    return (size_t)(uintptr_t)receive->owner - 1;
}

static void give_back(struct state *state, const struct exs_packet_receive *receive)
{
    REQUIRE(!state->over[index_of(receive)]);
    state->over[index_of(receive)] = true;
}

/* The receive has this packet, which must be the next one that was sent. */
static void arrive(struct state *state, const struct exs_packet_receive *receive, uint8_t packet)
{
    while (state->arrived < packet && state->dropped[state->arrived])
        state->arrived++;
    REQUIRE(state->arrived == packet);
    state->arrived++;
    give_back(state, receive);
}

static void sweep(struct state *state)
{
    struct exs_packet_receive receive;

    if (exs_packet_in_is_advertised(&state->in) || state->in.withdrawing)
        return;
    for (uint32_t i = 0; i < state->in.count;) {
        receive = *exs_packet_in_at(&state->in, i);
        if (!state->cancelled[index_of(&receive)]) {
            i++;
            continue;
        }
        exs_packet_in_remove(&state->in, i);
        give_back(state, &receive);
    }
}

static void serve(struct state *state)
{
    struct exs_packet_receive receive;

    while (exs_packet_in_match(&state->in)) {
        uint8_t packet = state->ring[0];

        REQUIRE(state->stored > 0);
        state->stored--;
        memmove(&state->ring[0], &state->ring[1], sizeof(state->ring) - 1);
        exs_packet_in_take(&state->in, octets_of(packet), &receive);
        arrive(state, &receive, packet);
    }
    while (exs_packet_in_left(&state->in, &receive))
        give_back(state, &receive);
}

static void push_receiver(struct state *state)
{
    struct exs_packet_receive *receive;
    struct exs_flow *flow = &state->flow[1];
    struct letter letter;

    if (state->withdraw && exs_flow_room(flow) > 0) {
        state->withdraw = false;
        if (state->in.withdrawing)
            post_plain(state, false, EXS_MESSAGE_WITHDRAW, state->in.chain, 0);
    }
    while (exs_flow_room(flow) > 0) {
        memset(&letter, 0, sizeof(letter));
        receive = exs_packet_in_advertise(&state->in, &letter.head.count);
        if (!receive)
            break;
        letter.head.type = EXS_MESSAGE_ADVERT;
        letter.head.chain = state->in.chain;
        letter.head.place.length = receive->length;
        letter.head.place.stag = (uint32_t)index_of(receive);
        post(state, false, &letter);
    }
    credit(state, false);
}

static void got_data(struct state *state, const struct letter *letter)
{
    struct exs_packet_receive receive;
    enum exs_packet_fate fate;

    if (letter->head.flags & EXS_MESSAGE_DIRECT) {
        REQUIRE(exs_packet_in_direct(&state->in, &receive));
        REQUIRE(letter->target == NOBODY || letter->target == index_of(&receive));
        arrive(state, &receive, letter->packet);
        return;
    }
    fate = exs_packet_in_ring(&state->in, letter->head.count, &receive);
    REQUIRE(fate != EXS_PACKET_LIE);
    if (fate == EXS_PACKET_GIVE)
        arrive(state, &receive, letter->packet);
    else
        state->ring[state->stored++] = letter->packet;
}

static void to_receiver(struct state *state)
{
    struct letter letter;

    take(&state->to_receiver, &letter);
    REQUIRE(exs_flow_hear(&state->flow[1], letter.head.posted));
    if (letter.head.type == EXS_MESSAGE_DATA)
        got_data(state, &letter);
    else if (letter.head.type == EXS_MESSAGE_NEED)
        REQUIRE(exs_packet_in_need(&state->in, letter.head.count));
    else if (letter.head.type == EXS_MESSAGE_WITHDRAWN)
        REQUIRE(exs_packet_in_withdrawn(&state->in, letter.head.chain));
    else if (letter.head.type == EXS_MESSAGE_FIN)
        REQUIRE(exs_packet_in_end(&state->in));
    sweep(state);
    serve(state);
    spend(&state->flow[1]);
    push_receiver(state);
}

/* ---- Actions -------------------------------------------------------------------------------- */

static bool post_packet(struct state *state)
{
    if (all_posted(state))
        return false;
    state->posted++;
    push_sender(state);
    return true;
}

static bool post_receive(struct state *state)
{
    uint32_t index = state->receives_posted;

    if (index == RECEIVES || (script->receives[index] & NONE))
        return false;
    state->receives_posted++;
    exs_packet_in_post(&state->in, script->receives[index] & 0x0f, (void *)(uintptr_t)(index + 1));
    serve(state);
    push_receiver(state);
    return true;
}

static bool cancel_receive(struct state *state, size_t index)
{
    if (!(script->receives[index] & CANCEL) || index >= state->receives_posted ||
        state->over[index] || state->cancelled[index])
        return false;
    state->cancelled[index] = true;
    if (exs_packet_in_withdraw(&state->in))
        state->withdraw = true;
    sweep(state);
    serve(state);
    push_receiver(state);
    return true;
}

static bool cancel_packet(struct state *state, size_t index)
{
    if (!(script->packets[index] & CANCEL) || index >= state->posted || index < state->sent ||
        state->dropped[index])
        return false;
    state->dropped[index] = true;
    push_sender(state);
    return true;
}

static bool act(void *world, unsigned action)
{
    struct state *state = world;

    switch (action) {
    case 0:
        return post_packet(state);
    case 1:
        return post_receive(state);
    case 2:
        if (state->to_receiver.count == 0)
            return false;
        to_receiver(state);
        return true;
    case 3:
        if (state->to_sender.count == 0)
            return false;
        to_sender(state);
        return true;
    default:
        return action < 4 + RECEIVES ? cancel_receive(state, action - 4)
                                     : cancel_packet(state, action - 4 - RECEIVES);
    }
}

/* Checks the end: everything was posted and has arrived. */
static void over(const void *world)
{
    const struct state *state = world;

    REQUIRE(!state->withdraw && !state->in.withdrawing);
    REQUIRE(state->in.count == 0); /* each receive has a packet or the end */
    if (state->fin_sent)
        REQUIRE(state->in.ended);
    else
        REQUIRE(state->in.ring_written != state->in.ring_read ||
                exs_packet_in_is_needed(&state->in)); /* the receiver knows of the rest */
}

/* ---- Models --------------------------------------------------------------------------------- */

static const struct script scripts[] = {
    {"short", 14, 3, {1, 3, 0, 2}, {1, 4, 2, 0}},
    {"long", 14, 1, {4, 3, 5, 2}, {4, 2, 6, 5}},
    {"both", 10, 2, {1, 4, 2, 5}, {2, 1, 5, 3}},
    {"both, no ring", 0, 2, {1, 4, 2, 5}, {2, 1, 5, 3}},
    {"few receives", 8, 2, {1, 2, 4, 2}, {2, 2, NONE, NONE}},
    {"few receives, long packets", 14, 2, {1, 4, 5, 4}, {2, 4, NONE, NONE}},
    {"few receives, no ring", 0, 2, {1, 2, 4, 2}, {2, 4, NONE, NONE}},
    {"receives cancelled", 10, 2, {1, 4, 2, NONE}, {4 | CANCEL, 2 | CANCEL, 5, 1}},
    {"the same, no ring", 0, 2, {1, 4, NONE, NONE}, {4 | CANCEL, 2 | CANCEL, 5 | CANCEL, 1}},
    {"packets cancelled", 10, 2, {4 | CANCEL, 5 | CANCEL, 1 | CANCEL, 4}, {2, 5, 1, 3}},
    {"all cancelled", 8, 2, {4 | CANCEL, 1, 5 | CANCEL, NONE}, {5 | CANCEL, 1 | CANCEL, 4, NONE}},
};

static const struct explore_model model = {
    .size = sizeof(struct state),
    .actions = 4 + RECEIVES + PACKETS,
    .fix = fix,
    .plain = plain,
    .act = act,
    .over = over,
};

/* Chains and messages are counted from just below the wrap of 32 bits. */
static void move_to_wrap(struct state *state)
{
    for (unsigned side = 0; side < 2; side++) {
        struct exs_flow *flow = &state->flow[side];

        flow->posted -= 6;
        flow->told -= 6;
        flow->peer_posted -= 6;
        flow->sent -= 6;
    }
    state->out.chain = state->in.chain = UINT32_MAX;
}

int main(void)
{
    static struct state start;
    size_t states;

    for (size_t i = 0; i < 2 * (sizeof(scripts) / sizeof(scripts[0])); i++) {
        script = &scripts[i / 2];
        memset(&start, 0, sizeof(start));
        fix(&start);
        exs_packet_out_start(&start.out, script->ring, start.adverts, RECEIVES);
        exs_packet_in_start(&start.in, script->ring, script->inline_max + 1u, start.receives,
                            RECEIVES);
        exs_flow_start(&start.flow[0], 4, 2);
        exs_flow_start(&start.flow[1], 4, 2);
        if (i % 2)
            move_to_wrap(&start);
        states = explore(&model, &start, (size_t)1 << 22);
        printf("%s: %zu states\n", script->name, states);
        REQUIRE(states > 50);
    }
    return 0;
}
