/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two machines joined by a model of a stream and of a device, each step of which may fail. Whatever
 * the order of events: both machines end, they agree on the outcome, and no octet that the programs
 * send afterwards is lost.
 */
#include "tdi/agree/agree.h"
#include "support/test_row.h"

#include <criterion/criterion.h>

#include <string.h>

#define PIPE  4096u
#define PLAIN "plain again"

/* The failures that may occur in a run. */
struct faults {
    bool connection; /* listening, connecting */
    bool time;       /* one time limit of each side */
    bool second;     /* one more time limit, for the last frames */
    bool stream;
};

struct side {
    struct agree agree;
    uint8_t in[PIPE]; /* in transit to this side */
    size_t in_length;
    unsigned expired;
    bool listen, connect; /* ordered and not carried out yet */
    bool over;
};

struct model {
    struct faults faults;
    struct side initiator, responder;
    uint64_t random;
    bool cut;            /* the stream */
    bool requested;      /* a connection request is under way */
    bool accepted;       /* the responder has accepted */
    bool told_i, told_r; /* this side has been told that it is connected */
    bool dropped;        /* one side has dropped the connection, and the other sees it */
    uint8_t key_i[64], key_r[64];
};

static const struct agree_terms terms_i = {.kind = AGREE_ROCE,
                                           .family = 4,
                                           .address = {1},
                                           .token = "initiator's....",
                                           .private_length = 5,
                                           .private_data = "hello"};
static const struct agree_terms terms_r = {
    .kind = AGREE_ROCE, .family = 4, .address = {2}, .token = "responder's...."};

static unsigned chance(struct model *m, unsigned of)
{
    m->random ^= m->random << 13;
    m->random ^= m->random >> 7;
    m->random ^= m->random << 17;
    return (unsigned)(m->random >> 32) % of;
}

static struct side *other(struct model *m, struct side *side)
{
    return side == &m->initiator ? &m->responder : &m->initiator;
}

static void put(struct model *m, struct side *to, const void *octets, size_t length)
{
    if (m->cut)
        return;
    cr_assert(to->in_length + length <= PIPE);
    memcpy(to->in + to->in_length, octets, length);
    to->in_length += length;
}

static void carry_out(struct model *m, struct side *side, enum agree_order order)
{
    switch (order) {
    case AGREE_DO_LISTEN:
        side->listen = true;
        break;
    case AGREE_DO_CONNECT:
        (void)agree_key(&side->agree, m->key_i);
        side->connect = true;
        break;
    case AGREE_DO_ACCEPT:
        (void)agree_key(&side->agree, m->key_r);
        m->accepted = true;
        break;
    case AGREE_DO_DROP:
        side->listen = false;
        side->connect = false;
        m->dropped = true;
        break;
    case AGREE_DO_FINISH:
        cr_assert(!side->over);
        side->over = true;
        if (side->agree.outcome == AGREE_PLAIN)
            put(m, other(m, side), PLAIN, sizeof(PLAIN));
        break;
    case AGREE_DO_HURRY:
    case AGREE_DO_NOTHING:
        break;
    }
}

static void orders(struct model *m, struct side *side)
{
    enum agree_order order;

    while ((order = agree_next_order(&side->agree)) != AGREE_DO_NOTHING)
        carry_out(m, side, order);
}

/* ---- What can happen; true: it did */

static bool writes(struct model *m, struct side *side)
{
    size_t length;
    const uint8_t *octets = agree_output(&side->agree, &length);

    if (side->over || length == 0)
        return false;
    if (m->cut) {
        agree_stream_ended(&side->agree);
        return true;
    }
    length = 1 + chance(m, (unsigned)length);
    put(m, other(m, side), octets, length);
    agree_sent(&side->agree, length);
    return true;
}

static bool reads(struct model *m, struct side *side)
{
    size_t wanted = side->over ? 0 : agree_wanted(&side->agree);
    size_t shown;
    size_t taken;

    if (wanted == 0)
        return false;
    if (side->in_length < wanted) {
        if (!m->cut)
            return false;
        agree_stream_ended(&side->agree);
        return true;
    }
    shown = wanted + chance(m, (unsigned)(side->in_length - wanted) + 1);
    taken = agree_feed(&side->agree, side->in, shown);
    cr_assert(taken <= shown);
    side->in_length -= taken;
    memmove(side->in, side->in + taken, side->in_length);
    return true;
}

static bool listens(struct model *m, struct side *side)
{
    if (!side->listen || side->over)
        return false;
    side->listen = false;
    if (m->faults.connection && chance(m, 4) == 0)
        agree_give_up(&side->agree, AGREE_NO_RESOURCES);
    else
        agree_listening(&side->agree, 1);
    return true;
}

static bool connects(struct model *m, struct side *side)
{
    if (!side->connect || side->over)
        return false;
    side->connect = false;
    if (m->dropped || (m->faults.connection && chance(m, 4) == 0))
        agree_unconnected(&side->agree);
    else
        m->requested = true;
    return true;
}

static bool requested(struct model *m, struct side *side)
{
    uint8_t wrong[AGREE_KEY_FRAME] = {0};

    if (!m->requested || m->accepted || m->dropped || side->over)
        return false;
    if (chance(m, 3) == 0) {
        cr_assert(!agree_requested(&side->agree, wrong, sizeof(wrong)));
        return true;
    }
    m->requested = false;
    cr_assert(agree_requested(&side->agree, m->key_i, sizeof(m->key_i)));
    return true;
}

static bool established(struct model *m, struct side *side, bool *told)
{
    bool initiator = side == &m->initiator;

    if (!m->accepted || *told || m->dropped || side->over)
        return false;
    *told = true;
    if (m->faults.connection && chance(m, 6) == 0)
        agree_unconnected(&side->agree);
    else
        agree_connected(&side->agree, initiator ? m->key_r : NULL,
                        initiator ? sizeof(m->key_r) : 0);
    return true;
}

static bool loses(struct model *m, struct side *side)
{
    if (!m->dropped || side->over || side->agree.state == AGREE_WAIT_OFFER)
        return false;
    agree_unconnected(&side->agree);
    return chance(m, 2) == 0;
}

static bool expires(struct model *m, struct side *side)
{
    unsigned most = m->faults.second ? 2 : 1;

    if (!m->faults.time || side->over || side->expired >= most || chance(m, 40) != 0)
        return false;
    /* The program owns the stream again, so later octets are for the program. */
    if (side->agree.state == AGREE_WAIT_OFFER)
        return false;
    /* A limit that expires during the last exchange counts as the second limit. */
    if (!m->faults.second &&
        (side->agree.state == AGREE_WITHDRAW || side->agree.state == AGREE_CONFIRM ||
         side->agree.state == AGREE_DOUBT))
        return false;
    side->expired++;
    agree_expired(&side->agree);
    return true;
}

static bool happens(struct model *m, struct side *side, unsigned what)
{
    switch (what) {
    case 0:
        return writes(m, side);
    case 1:
        return reads(m, side);
    case 2:
        return listens(m, side);
    case 3:
        return connects(m, side);
    case 4:
        return side == &m->responder && requested(m, side);
    case 5:
        return established(m, side, side == &m->initiator ? &m->told_i : &m->told_r);
    case 6:
        return loses(m, side);
    case 7:
        return expires(m, side);
    default:
        if (m->faults.stream && !m->cut && chance(m, 100) == 0)
            m->cut = true;
        return false;
    }
}

/* ---- A run */

static void check_plain(const struct model *m, const struct side *side)
{
    size_t length = sizeof(PLAIN);

    if (m->faults.stream)
        return;
    cr_assert_eq(side->in_length, length, "%zu octets, the first %02x", side->in_length,
                 side->in[0]);
    cr_assert_arr_eq(side->in, (const uint8_t *)PLAIN, length);
}

static enum agree_outcome run(uint64_t seed, struct faults faults)
{
    static struct model m;
    struct side *sides[2] = {&m.initiator, &m.responder};
    unsigned idle = 0;

    memset(&m, 0, sizeof(m));
    m.faults = faults;
    m.random = seed * 0x9e3779b97f4a7c15u + 1;
    agree_init(&m.initiator.agree, true, &terms_i, 4, terms_r.address);
    agree_init(&m.responder.agree, false, &terms_r, 4, terms_i.address);
    while (!m.initiator.over || !m.responder.over) {
        struct side *side = sides[chance(&m, 2)];

        idle = happens(&m, side, chance(&m, 9)) ? 0 : idle + 1;
        orders(&m, side);
        if (idle >
            2000) { /* somebody waits for what cannot come any more: that is what limits are for */
            cr_assert(faults.second || faults.stream || faults.time, "seed %llu: hangs",
                      (unsigned long long)seed);
            agree_expired(&side->agree);
            orders(&m, side);
        }
    }
    if (!faults.second && !faults.stream) {
        cr_assert_eq(m.initiator.agree.outcome, m.responder.agree.outcome, "seed %llu: %d, %d",
                     (unsigned long long)seed, (int)m.initiator.agree.outcome,
                     (int)m.responder.agree.outcome);
        cr_assert_neq(m.initiator.agree.outcome, AGREE_LOST, "seed %llu", (unsigned long long)seed);
    }
    if (m.initiator.agree.outcome == AGREE_PLAIN && m.responder.agree.outcome == AGREE_PLAIN) {
        check_plain(&m, &m.initiator);
        check_plain(&m, &m.responder);
    }
    if (m.initiator.agree.outcome == AGREE_CONVERTED) /* the responder decides */
        cr_assert_eq(m.responder.agree.outcome, AGREE_CONVERTED);
    if (m.responder.agree.outcome == AGREE_CONVERTED)
        cr_assert(m.initiator.agree.outcome != AGREE_PLAIN || m.cut);
    return m.initiator.agree.outcome;
}

static void runs(struct faults faults, unsigned count, bool converted, bool plain)
{
    unsigned outcomes[4] = {0};

    for (uint64_t seed = 1; seed <= count; seed++)
        outcomes[run(seed, faults)]++;
    cr_assert_eq(outcomes[AGREE_CONVERTED] > 0, converted);
    cr_assert_eq(outcomes[AGREE_PLAIN] > 0, plain);
    if (!faults.second && !faults.stream)
        cr_assert_eq(outcomes[AGREE_LOST], 0);
}

TEST_ROW(agree_pair, nothing_fails, runs, (struct faults){0}, 2000, true, false);
TEST_ROW(agree_pair, connection_fails, runs, (struct faults){.connection = true}, 10000, true,
         true);
TEST_ROW(agree_pair, time_limits, runs, (struct faults){.connection = true, .time = true}, 10000,
         true, true);
TEST_ROW(agree_pair, both_time_limits, runs,
         (struct faults){.connection = true, .time = true, .second = true}, 10000, true, true);
TEST_ROW(agree_pair, stream_fails, runs,
         (struct faults){.connection = true, .time = true, .stream = true}, 10000, true, true);
