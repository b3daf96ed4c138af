/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * All interleavings of small streams: posts, cancels and the arrival of each message in any order.
 * Octet n of the stream has the value n. Each octet must arrive once and in order, in memory that
 * the sender may write, and nothing may be left waiting.
 */
#include "exs_explore.h"

#include "stream/exs_stream_in.h"
#include "stream/exs_stream_out.h"
#include "wire/exs_flow.h"

#include <stdio.h>
#include <string.h>

#define SENDS    4u
#define RECEIVES 4u
#define OCTETS   8u  /* of a receive, a ring or a message */
#define CHANNEL  12u /* messages in transit in one direction */

#define WAITALL 0x10u
#define PEEK    0x20u
#define CANCEL  0x40u /* may be cancelled */

/* What the two programs do. */
struct script {
    const char *name;
    uint8_t ring;
    uint8_t inline_max;
    uint8_t ask_min;
    uint8_t advert_min;
    bool nagle;
    uint8_t sends[SENDS];
    uint8_t receives[RECEIVES]; /* octets and flags */
};

struct letter {
    struct exs_message head;
    uint8_t octets[OCTETS];
    uint8_t target; /* DIRECT: number of the receive that was written to */
    uint32_t more;  /* ADVERT: further receives */
    struct exs_place places[RECEIVES];
    uint8_t flags[RECEIVES];
};

struct channel {
    struct letter letters[CHANNEL];
    uint32_t count;
};

struct state {
    struct exs_stream_out out;
    struct exs_stream_in in;
    struct exs_advert adverts[RECEIVES];
    struct exs_receive receives[RECEIVES];
    struct exs_flow flow[2]; /* of the sender, of the receiver */
    struct channel to_receiver;
    struct channel to_sender;
    uint8_t ring[OCTETS];
    uint8_t memory[RECEIVES][OCTETS];
    bool over[RECEIVES]; /* returned to the program */
    bool cancelled[RECEIVES];
    uint32_t sends; /* posted */
    uint32_t receives_posted;
    uint32_t waiting;   /* octets that are posted and not sent */
    uint32_t withdrawn; /* the chain to report; 0: none */
    bool withdraw;      /* is due */
    bool fin_sent;
    uint64_t delivered;
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

/* ---- Channels ------------------------------------------------------------------------------- */

static void post(struct state *state, bool by_sender, struct letter *letter)
{
    struct channel *channel = by_sender ? &state->to_receiver : &state->to_sender;

    REQUIRE(channel->count < CHANNEL);
    letter->head.posted = exs_flow_send(&state->flow[by_sender ? 0 : 1]);
    letter->head.freed = by_sender ? 0 : exs_stream_in_tell(&state->in);
    channel->letters[channel->count++] = *letter;
    exs_flow_restock(&state->flow[by_sender ? 0 : 1]);
}

/* The message has taken a receive. */
static void spend(struct exs_flow *flow)
{
    if (exs_flow_spend(flow))
        exs_flow_restock(flow);
}

static void post_plain(struct state *state, bool by_sender, uint8_t type, uint32_t chain)
{
    struct letter letter;

    memset(&letter, 0, sizeof(letter));
    letter.head.type = type;
    letter.head.chain = chain;
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
    bool ack = !by_sender && exs_stream_in_ack_due(&state->in) && exs_flow_room(flow) > 0;

    if (ack || exs_flow_credit_due(flow))
        post_plain(state, by_sender, EXS_MESSAGE_CREDIT, 0);
}

/* ---- The sender ----------------------------------------------------------------------------- */

/* A Write may happen at once, so the memory must already be the sender's. */
static void write_octets(struct state *state, const struct exs_step *step, struct letter *letter)
{
    uint64_t first = state->out.sent - step->count;
    uint64_t place;

    for (uint64_t i = 0; i < step->count; i++) {
        if (step->kind == EXS_STEP_DIRECT) {
            letter->target = (uint8_t)step->place.stag;
            place = step->place.addr + i;
            REQUIRE(!state->over[letter->target]);
            REQUIRE(place < OCTETS);
            state->memory[letter->target][place] = (uint8_t)(first + i);
        } else {
            place = state->out.ring_sent - step->count + i;
            REQUIRE(place < state->in.ring_read + script->ring);
            REQUIRE(step->offset + i < script->ring);
            state->ring[step->offset + i] = (uint8_t)(first + i);
        }
    }
}

static bool send_step(struct state *state, bool idle)
{
    struct letter letter;
    struct exs_step step;

    if (state->waiting == 0 || exs_flow_room(&state->flow[0]) == 0)
        return false;
    if (script->nagle && state->waiting < script->inline_max &&
        exs_flow_answer_comes(&state->flow[0]))
        return false;
    exs_stream_out_step(&state->out, state->waiting, script->inline_max, &step);
    if (step.kind == EXS_STEP_WAIT || (step.kind == EXS_STEP_ASK && !idle))
        return false;
    memset(&letter, 0, sizeof(letter));
    if (step.kind == EXS_STEP_ASK) {
        exs_stream_out_asked(&state->out);
        post_plain(state, true, EXS_MESSAGE_ASK, 0);
        return true;
    }
    letter.head.type = EXS_MESSAGE_DATA;
    letter.head.flags = step.kind == EXS_STEP_DIRECT ? EXS_MESSAGE_DIRECT : 0;
    letter.head.chain = step.chain;
    letter.head.count = step.count;
    state->waiting -= (uint32_t)step.count;
    if (step.in_line) {
        letter.head.flags |= EXS_MESSAGE_INLINE;
        REQUIRE(step.count <= script->inline_max);
        for (uint64_t i = 0; i < step.count; i++)
            letter.octets[i] = (uint8_t)(state->out.sent - step.count + i);
    } else
        write_octets(state, &step, &letter);
    post(state, true, &letter);
    return true;
}

static void push_sender(struct state *state, bool idle)
{
    if (state->withdrawn != 0 && exs_flow_room(&state->flow[0]) > 0) {
        post_plain(state, true, EXS_MESSAGE_WITHDRAWN, state->withdrawn);
        state->withdrawn = 0;
    }
    while (send_step(state, idle)) {
    }
    if (!state->fin_sent && state->waiting == 0 && state->withdrawn == 0 &&
        (state->sends == SENDS || script->sends[state->sends] == 0) &&
        exs_flow_room(&state->flow[0]) > 0) {
        state->fin_sent = true;
        post_plain(state, true, EXS_MESSAGE_FIN, 0);
    }
    credit(state, true);
}

static void to_sender(struct state *state)
{
    struct letter letter;

    take(&state->to_sender, &letter);
    REQUIRE(exs_flow_hear(&state->flow[0], letter.head.posted));
    REQUIRE(exs_stream_out_freed(&state->out, letter.head.freed));
    if (letter.head.type == EXS_MESSAGE_ADVERT)
        for (uint32_t i = 0; i <= letter.more; i++) {
            letter.head.place = letter.places[i];
            letter.head.flags = letter.flags[i];
            REQUIRE(exs_stream_out_advert(&state->out, &letter.head));
        }
    else if (letter.head.type == EXS_MESSAGE_NONE)
        exs_stream_out_none(&state->out);
    else if (letter.head.type == EXS_MESSAGE_WITHDRAW) {
        REQUIRE(exs_stream_out_withdraw(&state->out, letter.head.chain));
        state->withdrawn = letter.head.chain;
    }
    spend(&state->flow[0]);
    push_sender(state, false);
}

/* ---- The receiver --------------------------------------------------------------------------- */

static size_t index_of(const struct exs_receive *receive)
{
    return (size_t)(uintptr_t)receive->owner - 1;
}

/* Checks that the receive has the next octets of the stream. */
static void give_back(struct state *state, const struct exs_receive *receive)
{
    size_t index = index_of(receive);

    REQUIRE(!state->over[index]);
    state->over[index] = true;
    for (uint64_t i = 0; i < receive->filled; i++)
        REQUIRE(state->memory[index][i] == state->delivered + i);
    if (!receive->peek)
        state->delivered += receive->filled;
}

static void complete(struct state *state)
{
    struct exs_receive receive;

    while (exs_stream_in_complete(&state->in, &receive))
        give_back(state, &receive);
}

static void sweep(struct state *state)
{
    struct exs_receive receive;

    if (state->in.withdrawing)
        return;
    for (uint32_t i = state->in.advertised; i < state->in.count;) {
        receive = *exs_stream_in_at(&state->in, i);
        if (!state->cancelled[index_of(&receive)]) {
            i++;
            continue;
        }
        exs_stream_in_remove(&state->in, i);
        give_back(state, &receive);
    }
}

static void serve(struct state *state)
{
    struct exs_take part;

    complete(state);
    while (exs_stream_in_take(&state->in, &part)) {
        for (uint64_t i = 0; i < part.count; i++)
            state->memory[index_of(part.receive)][part.to + i] =
                state->ring[(part.position + i) % script->ring];
        complete(state);
    }
}

static void advertise(struct state *state)
{
    const struct exs_receive *next;
    struct letter letter;
    uint64_t seq = 0;
    uint32_t count;

    memset(&letter, 0, sizeof(letter));
    letter.head.type = EXS_MESSAGE_ADVERT;
    for (count = 0; (next = exs_stream_in_next_advert(&state->in)) != NULL; count++) {
        letter.flags[count] = next->waitall ? EXS_MESSAGE_WAITALL : 0;
        letter.places[count].addr = next->filled;
        letter.places[count].length = next->length - next->filled;
        letter.places[count].stag = (uint32_t)index_of(next);
        exs_stream_in_advertise(&state->in, count == 0 ? &letter.head.count : &seq);
    }
    letter.more = count - 1;
    letter.head.chain = state->in.chain;
    post(state, false, &letter);
}

/* idle: the program has had its chance to receive. */
static void push_receiver(struct state *state, bool idle)
{
    struct exs_flow *flow = &state->flow[1];

    if (state->withdraw && exs_flow_room(flow) > 0) {
        state->withdraw = false;
        if (state->in.withdrawing)
            post_plain(state, false, EXS_MESSAGE_WITHDRAW, state->in.chain);
    }
    if (exs_flow_room(flow) > 0 && exs_stream_in_adverts_due(&state->in) &&
        (idle || !exs_stream_in_expects(&state->in))) {
        exs_flow_restock(flow);
        advertise(state);
    }
    credit(state, false);
}

static void got_data(struct state *state, const struct letter *letter)
{
    struct exs_receive *receive;
    uint64_t at = state->in.ring_written;
    uint64_t to;

    if (!(letter->head.flags & EXS_MESSAGE_DIRECT)) {
        REQUIRE(exs_stream_in_ring(&state->in, letter->head.count,
                                   (letter->head.flags & EXS_MESSAGE_INLINE) != 0));
        for (uint64_t i = 0; (letter->head.flags & EXS_MESSAGE_INLINE) && i < letter->head.count;
             i++)
            state->ring[(at + i) % script->ring] = letter->octets[i];
        sweep(state);
        serve(state);
        return;
    }
    receive = exs_stream_in_direct(&state->in, letter->head.chain, letter->head.count,
                                   (letter->head.flags & EXS_MESSAGE_INLINE) != 0, &to);
    REQUIRE(receive != NULL);
    if (letter->head.flags & EXS_MESSAGE_INLINE)
        memcpy(&state->memory[index_of(receive)][to], letter->octets, letter->head.count);
    else
        REQUIRE(index_of(receive) == letter->target);
    complete(state);
}

static void to_receiver(struct state *state)
{
    struct letter letter;

    take(&state->to_receiver, &letter);
    REQUIRE(exs_flow_hear(&state->flow[1], letter.head.posted));
    if (letter.head.type == EXS_MESSAGE_DATA)
        got_data(state, &letter);
    else if (letter.head.type == EXS_MESSAGE_ASK)
        REQUIRE(exs_stream_in_ask(&state->in));
    else if (letter.head.type == EXS_MESSAGE_WITHDRAWN) {
        REQUIRE(exs_stream_in_withdrawn(&state->in, letter.head.chain));
        sweep(state);
        serve(state);
    } else if (letter.head.type == EXS_MESSAGE_FIN) {
        REQUIRE(exs_stream_in_end(&state->in));
        sweep(state);
        serve(state);
    }
    spend(&state->flow[1]);
    push_receiver(state, false);
}

/* ---- Actions -------------------------------------------------------------------------------- */

static bool post_send(struct state *state)
{
    if (state->sends == SENDS || script->sends[state->sends] == 0)
        return false;
    state->waiting += script->sends[state->sends++];
    push_sender(state, false);
    return true;
}

static bool post_receive(struct state *state)
{
    uint32_t index = state->receives_posted;
    struct exs_receive receive;

    if (index == RECEIVES || script->receives[index] == 0)
        return false;
    memset(&receive, 0, sizeof(receive));
    receive.length = script->receives[index] & 0x0f;
    receive.waitall = (script->receives[index] & WAITALL) != 0;
    receive.peek = (script->receives[index] & PEEK) != 0;
    receive.owner = (void *)(uintptr_t)(index + 1);
    state->receives_posted++;
    exs_stream_in_post(&state->in, &receive);
    serve(state);
    push_receiver(state, false);
    return true;
}

/*
 * Pushes the sender without new posts, which may happen at any time. Returns true if it has asked
 * the receiver.
 */
static bool ask(struct state *state)
{
    uint32_t before = state->to_receiver.count;

    push_sender(state, true);
    return state->to_receiver.count > before;
}

/*
 * The receiver has no other work. Returns true if that changes anything: an ADVERT that has waited
 * for more receives is sent, or ASK gets its answer.
 */
static bool settle(struct state *state)
{
    uint32_t before = state->to_sender.count;
    uint32_t level = state->in.level;
    bool asked = state->in.asked;

    push_receiver(state, true);
    if (state->in.asked && exs_flow_room(&state->flow[1]) > 0 && exs_stream_in_none_due(&state->in))
        post_plain(state, false, EXS_MESSAGE_NONE, 0);
    exs_stream_in_settle(&state->in);
    return state->in.level != level || state->in.asked != asked || state->to_sender.count > before;
}

static bool cancel(struct state *state, size_t index)
{
    if (!(script->receives[index] & CANCEL) || index >= state->receives_posted ||
        state->over[index] || state->cancelled[index])
        return false;
    state->cancelled[index] = true;
    if (exs_stream_in_withdraw(&state->in))
        state->withdraw = true;
    sweep(state);
    serve(state);
    sweep(state);
    push_receiver(state, false);
    return true;
}

static bool act(void *world, unsigned action)
{
    struct state *state = world;

    switch (action) {
    case 0:
        return post_send(state);
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
    case 4:
        return ask(state);
    case 5:
        return settle(state);
    default:
        return cancel(state, action - 6);
    }
}

/* Checks the end: everything was posted and has arrived. */
static void over(const void *world)
{
    const struct state *state = world;
    uint64_t unread = state->in.ring_written - state->in.ring_read;

    REQUIRE(!state->withdraw && !state->in.withdrawing);
    /* Without a ring the receiver knows of the rest, and with one there is always an answer. */
    REQUIRE(state->in.asked == (script->ring == 0 && !state->fin_sent));
    if (!state->fin_sent) {
        /* The program has not posted enough receives. */
        REQUIRE(state->in.count == 0 && unread == script->ring);
        return;
    }
    REQUIRE(state->in.ended && state->in.count == 0 && state->waiting == 0);
    REQUIRE(state->delivered + unread == state->out.sent);
}

/* ---- Models --------------------------------------------------------------------------------- */

static const struct script scripts[] = {
    {"direct only", 0, 1, 9, 0, false, {3, 2, 3}, {4, 2, 4, 4}},
    {"fewer receives than before", 0, 1, 9, 0, false, {1, 1, 1, 2}, {1, 1, 1, 4}},
    {"ring only", 4, 1, 9, 9, false, {3, 2, 3}, {4, 1, 4, 4}},
    {"both", 4, 1, 9, 2, false, {3, 2, 3}, {2, 4, 1, 4}},
    {"both, asking", 4, 1, 2, 2, false, {3, 2, 3, 2}, {4, 4, 1, 4}},
    {"waiting for all", 4, 1, 2, 2, false, {3, 2, 3, 1}, {4 | WAITALL, 3 | WAITALL, 4, 4}},
    {"all inline", 4, 4, 9, 2, true, {1, 2, 1, 1}, {3, 1, 2 | WAITALL, 4}},
    {"small ring", 1, 0, 2, 1, false, {2, 2, 1}, {1, 2, 2 | WAITALL, 4}},
    {"peeking", 2, 1, 2, 2, false, {2, 1, 2}, {2 | PEEK, 2, 1 | PEEK, 4}},
    {"peeking for all", 2, 1, 9, 2, false, {1, 1, 2}, {2 | PEEK | WAITALL, 2, 2 | PEEK, 4}},
    {"cancelling", 4, 1, 2, 2, false, {3, 2, 2}, {4 | CANCEL, 2, 3 | WAITALL | CANCEL, 4}},
    {"cancelling without a ring",
     0,
     1,
     9,
     0,
     false,
     {2, 2},
     {2 | CANCEL, 3 | WAITALL | CANCEL, 2 | CANCEL, 4}},
    {"cancelling inline", 2, 2, 9, 1, true, {1, 2, 1}, {2 | CANCEL, 2 | WAITALL | CANCEL, 1, 4}},
};

static const struct explore_model model = {
    .size = sizeof(struct state),
    .actions = 6 + RECEIVES,
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
    state->out.closed = UINT32_MAX - 1;
    state->in.chain = UINT32_MAX;
}

/* A peer of an earlier release, without a ring, answers each ASK with NONE: it is asked once. */
static void ask_once(void)
{
    static struct exs_advert adverts[RECEIVES];
    struct exs_stream_out out = {.ring_size = 0};
    struct exs_step step;

    exs_stream_out_start(&out, 0, true, 1, adverts, RECEIVES);
    exs_stream_out_step(&out, 1, 1, &step);
    REQUIRE(step.kind == EXS_STEP_ASK);
    exs_stream_out_asked(&out);
    exs_stream_out_none(&out);
    exs_stream_out_step(&out, 1, 1, &step);
    REQUIRE(step.kind == EXS_STEP_WAIT);
}

int main(void)
{
    static struct state start;
    size_t states;

    ask_once();
    for (size_t i = 0; i < 2 * (sizeof(scripts) / sizeof(scripts[0])); i++) {
        script = &scripts[i / 2];
        memset(&start, 0, sizeof(start));
        fix(&start);
        exs_stream_out_start(&start.out, script->ring, true, script->ask_min, start.adverts,
                             RECEIVES);
        exs_stream_in_start(&start.in, script->ring, script->advert_min, start.receives, RECEIVES);
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
